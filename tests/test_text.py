"""Plain text and HTML: columns line up, nothing is injected, and numbers do not lie."""

from __future__ import annotations

import html
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import ArgumentError, UnknownNameError, listing, require_choice, suggestion
from suffice.text import fixed, html_table, number, pad, plain_table, plural, probability, shorten, width

cells = st.text(max_size=50)


# Tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("é", 1), ("😀", 2), ("ｆ", 2), ("कु", 1)],
)
def test_width_is_the_columns_on_a_terminal(text, columns):
    assert width(text) == columns


@given(cells, st.integers(0, 60), st.sampled_from("<>"))
def test_padding_fills_to_the_width_and_keeps_the_text(text, size, align):
    padded = pad(text, size, align)
    assert width(padded) == max(size, width(text))
    assert padded.strip(" ") == text.strip(" ")
    assert padded.startswith(text) if align == "<" else padded.endswith(text)


@given(cells, st.integers(1, 40))
def test_shortened_text_is_printable_and_within_the_limit(text, limit):
    short = shorten(text, limit)
    assert short.isprintable()
    assert len(short) <= limit


@given(st.text(st.characters(categories=["L", "N"]), max_size=40))
def test_short_printable_text_is_left_alone(text):
    assert shorten(text) == text


def test_control_characters_are_made_visible():
    assert shorten("a\nb\t\x1b[31m\u202e") == "a\\nb\\t\\x1b[31m\\u202e"
    assert shorten("x" * 41) == "x" * 39 + "…"


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=5)))
def test_columns_line_up_under_the_rule(rows):
    header, *body = rows
    lines = plain_table(header, body, ">" * len(header)).split("\n")
    assert len(lines) == len(rows) + 1
    rule = lines[1]
    assert set(rule) <= {"-", " "}
    for line, row in zip([lines[0], *lines[2:]], rows, strict=True):
        if shorten(row[-1]).rstrip():  # blanks at the end of a line are cut
            trailing = width(shorten(row[-1])) - width(shorten(row[-1]).rstrip())
            assert width(line) + trailing == width(rule)


def test_table_aligns_left_and_right():
    assert plain_table(["n", "x"], [["aa", "1"], ["b", "22"]], "<>") == "n    x\n--  --\naa   1\nb   22"


@given(st.lists(st.lists(cells, min_size=2, max_size=2), max_size=4), cells)
def test_html_holds_every_cell_escaped_and_nothing_else(rows, caption):
    shown = html_table(["<h>", "&"], rows, "<>", caption)
    for row in rows:
        for cell in row:
            assert f">{html.escape(cell)}</td>" in shown
    assert shown.count("<td") == 2 * len(rows)
    assert shown.count("<tr>") == 1 + len(rows)
    assert ("<caption>" in shown) is bool(caption)
    assert "&lt;h&gt;" in shown


# Numbers ------------------------------------------------------------------------------------------------------


@given(st.integers(-(10**14), 10**14))
def test_whole_numbers_are_written_whole(value):
    assert number(float(value)) == str(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_written_number_is_close_to_the_number(value):
    assert float(number(value)) == pytest.approx(value, rel=1e-5)


def test_special_numbers_are_written():
    assert [number(x) for x in (math.nan, math.inf, -math.inf, None)] == ["nan", "inf", "-inf", "-"]
    assert number(0.123456789, 3) == "0.123"


@given(st.floats(0, 1))
def test_probability_shows_zero_and_one_only_where_they_are(value):
    shown = probability(value)
    assert (shown in ("0", "0.0000")) == (value == 0)
    assert (shown in ("1", "1.0000")) == (value == 1)
    if shown[0] not in "<>":
        assert abs(float(shown) - value) <= 0.00005 + 1e-12


def test_fixed_decimals_have_thousands_separators():
    assert [fixed(x) for x in (-23832.12845, None, 0.5)] == ["-23,832.1285", "-", "0.5000"]
    assert fixed(1234.5, 1) == "1,234.5"


@pytest.mark.parametrize(
    ("count", "noun", "shown"),
    [
        (0, "row", "0 rows"),
        (1, "row", "1 row"),
        (1.0, "row", "1 row"),
        (5000, "row", "5,000 rows"),
        (1.5, "row", "1.5 rows"),
        (2, "family", "2 families"),
        (2, "day", "2 days"),
    ],
)
def test_nouns_agree_with_their_count(count, noun, shown):
    assert plural(count, noun) == shown


# Errors -------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(), max_size=20), st.integers(1, 20))
def test_listing_shows_the_first_items_and_counts_the_others(items, limit):
    shown = listing(items, limit)
    if len(items) <= limit:
        assert eval(shown) == items
    else:
        head, rest = shown.split("… ")
        assert eval(head + "]") == items[:limit]
        assert rest == f"{len(items) - limit} more]"


def test_suggestion_is_made_only_for_close_names():
    assert suggestion("smokng", ["smoking", "age"]) == " Did you mean 'smoking'?"
    assert suggestion("zzz", ["smoking", "age"]) == ""


def test_choice_is_checked_with_all_words_listed():
    require_choice("missing", "drop", ("error", "drop"))
    with pytest.raises(ArgumentError, match=r"'missing' argument must be one of \['error', 'drop'\]. Got 'em' instead"):
        require_choice("missing", "em", ("error", "drop"))


def test_unknown_name_prints_its_message_without_quotes():
    assert str(UnknownNameError("no 'x'")) == "no 'x'"
    assert isinstance(UnknownNameError("no"), KeyError)
