"""Templates of windows: what they make of columns all at once is what they make of one position after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data import attribute_names
from suffice.data.attributes import Attributes, Vocabulary, bucket, offsets_of
from suffice.data.column_text import read_columns
from suffice.data.label_codes import read_labels
from suffice.data.window_templates import TUTORIAL, Templates

WORD = st.sampled_from(["a", "b", "a/b", "_B-1", "{}", "%x[0,0]"])
MACRO = st.builds("%x[{},{}]".format, st.integers(-3, 3), st.integers(0, 1))
TEXT = st.sampled_from(["", "/", ":", "{0}", "x"])
LINE = st.builds(
    lambda letter, parts: letter + "".join(parts),
    st.sampled_from(["U", "U0:", "U1:", "B", "B0:"]),
    st.lists(st.one_of(MACRO, MACRO, TEXT), max_size=4),
)


def naive_word(columns: list[list[list[str]]], sequence: int, t: int, macro: Any, boundary: str) -> str | None:
    row, column = int(macro[1]), int(macro[2])
    words = columns[column][sequence]
    if 0 <= t + row < len(words):
        return words[t + row]
    if boundary == "omit":
        return None
    return f"_B{t + row}" if t + row < 0 else f"_B+{t + row - len(words) + 1}"


def naive(
    lines: list[str], columns: list[list[list[str]]], boundary: str, ends: bool
) -> tuple[list[list[str]], list[list[str]]]:
    """The names of attributes of each position and of each step, one position after the other."""
    states, steps = [], []
    for sequence, words in enumerate(columns[0]):
        for t in range(len(words)):
            made: dict[str, list[str]] = {"U": [], "B": []}
            for line in lines:
                macros = list(re.finditer(r"%x\[(-?\d+),(\d+)\]", line))
                found = [naive_word(columns, sequence, t, macro, boundary) for macro in macros]
                if None in found or (line[0] == "B" and (not macros or t == 0)):
                    continue
                pieces = re.split(r"%x\[-?\d+,\d+\]", line)
                made[line[0]].append(pieces[0] + "".join(f"{a}{b}" for a, b in zip(found, pieces[1:], strict=True)))
            if ends:
                made["U"] += ["__BOS__"] * (t == 0) + ["__EOS__"] * (t == len(words) - 1)
            states.append(made["U"])
            steps.append(made["B"])
    return states, steps


def said(rows: Attributes, vocabulary: Vocabulary) -> list[list[str]]:
    names = [vocabulary.name(code) for code in rows.codes]
    assert rows.values is None
    assert rows.n_attributes == len(vocabulary)
    return [names[low:high] for low, high in zip(rows.starts, rows.starts[1:], strict=False)]


def drawn_columns(data: Any) -> tuple[list[list[list[str]]], list[list[str]], np.ndarray]:
    lengths = data.draw(st.lists(st.integers(0, 4), max_size=4))
    columns = [[data.draw(st.lists(WORD, min_size=n, max_size=n)) for n in lengths] for _ in range(2)]
    return columns, [[word for words in column for word in words] for column in columns], offsets_of(lengths)


@given(
    data=st.data(),
    lines=st.lists(LINE, min_size=1, max_size=5),
    boundary=st.sampled_from(["mark", "omit"]),
    ends=st.booleans(),
    dense=st.sampled_from([0, 4]),
)
def test_expansion_is_that_of_one_position_after_the_other(
    data: Any, lines: list[str], boundary: str, ends: bool, dense: int
) -> None:
    columns, flat, offsets = drawn_columns(data)
    states, steps = naive(lines, columns, boundary, ends)
    templates = Templates.parse("\n".join(lines), boundary=boundary, ends=ends)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attribute_names, "DENSE", dense)
        made = templates.expand(flat, offsets)
    assert said(made.states, made.vocabulary) == states
    assert list(made.vocabulary.names) == list(dict.fromkeys(name for row in states for name in row))
    assert made.n_unknown == 0
    if any(line[0] == "B" and "%" in line for line in lines):
        assert made.steps is not None
        assert made.step_vocabulary is not None
        assert said(made.steps, made.step_vocabulary) == steps
        assert list(made.step_vocabulary.names) == list(dict.fromkeys(name for row in steps for name in row))
    else:
        assert made.steps is None
        assert made.step_vocabulary is None


@given(data=st.data(), lines=st.lists(LINE, min_size=1, max_size=4), n_buckets=st.integers(1, 5))
def test_known_and_hashed_names_are_those_of_one_position_after_the_other(
    data: Any, lines: list[str], n_buckets: int
) -> None:
    columns, flat, offsets = drawn_columns(data)
    states, steps = naive(lines, columns, "mark", False)
    templates = Templates.parse("\n".join(lines))
    names = list(dict.fromkeys(name for row in states + steps for name in row))
    known = Vocabulary(tuple(name for name in names if data.draw(st.booleans())))
    made = templates.expand(flat, offsets, known, known)
    assert said(made.states, known) == [[name for name in row if name in known.names] for row in states]
    n_unknown = sum(name not in known.names for row in states + steps for name in row)
    if made.steps is not None:
        assert said(made.steps, known) == [[name for name in row if name in known.names] for row in steps]
    assert made.n_unknown == n_unknown
    hashed = templates.expand(flat, offsets, n_buckets=n_buckets)
    assert said(hashed.states, hashed.vocabulary) == [[f"#{bucket(name, n_buckets)}" for name in row] for row in states]


def test_marks_count_from_the_ends_as_in_crfpp() -> None:
    templates = Templates.parse("U:%x[-2,0]|%x[2,0]")
    made = templates.expand([["a", "b", "c"]], np.array([0, 2, 3]))
    assert said(made.states, made.vocabulary) == [["U:_B-2|_B+1"], ["U:_B-1|_B+2"], ["U:_B-2|_B+2"]]


def test_ends_are_marked_once_each_even_where_they_meet() -> None:
    made = Templates.parse("B", ends=True).expand([["a", "b", "c"]], np.array([0, 2, 3]))
    assert said(made.states, made.vocabulary) == [["__BOS__"], ["__EOS__"], ["__BOS__", "__EOS__"]]


def test_a_line_without_macros_holds_everywhere() -> None:
    made = Templates.parse("U00\nB00").expand([["a", "b"]], np.array([0, 2]), None)
    assert said(made.states, made.vocabulary) == [["U00"], ["U00"]]
    assert made.steps is None


def test_comments_blank_lines_and_line_ends_are_passed_over() -> None:
    templates = Templates.parse("\ufeff# Unigrams\r\n\r\nU0:%x[ -1 , 0 ]\r\n  # more\r\n\r\nB\r\n")
    assert [template.macros for template in templates.states] == [((-1, 0),)]
    assert templates.steps == ()


def test_templates_are_equal_when_they_were_written_alike() -> None:
    assert Templates.parse("U0:%x[0,0]", ends=True) == Templates("U0:%x[0,0]", "mark", True)
    assert Templates.parse("U0:%x[0,0]") != Templates.parse("U0:%x[0,0]", boundary="omit")


def test_a_text_without_tokens_expands_to_nothing() -> None:
    text = read_columns([])
    made = Templates.parse(TUTORIAL + "B1:%x[0,3]", ends=True).expand(text.columns, text.offsets)
    assert made.states.n_rows == len(made.vocabulary) == 0
    assert made.steps is not None
    assert made.steps.n_rows == 0


def test_one_template_may_make_the_attribute_of_another() -> None:
    made = Templates.parse("U:%x[-1,0]\nU:%x[1,0]", boundary="omit").expand([["a", "b", "a"]], np.array([0, 3]))
    assert made.vocabulary.names == ("U:b", "U:a")
    assert made.states.matrix().toarray().tolist() == [[1, 0], [0, 2], [1, 0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("U0:%x[0,0]\n\nV1:%x[0,0]", r"line 3: 'V1:%x\[0,0\]' begins with neither U nor B"),
        ("U0:%y[0,0]", r"line 1: '%y\[0,0\]' is no macro. Macros are %x\[row,column\]"),
        ("U0:%x[0,0]/100%", "line 1: '%' is no macro"),
        ("U0:%x[0]", r"line 1: '%x\[0\]' is no macro"),
        ("U0:%x[0,-1]", r"line 1: '%x\[0,-1\]' is no macro"),
        ("U0:%x[-1001,0]", "line 1: a macro looks 1,001 rows away, where 1,000 is the most"),
        ("# only this", "no line that makes attributes"),
        (None, "must be a text, such as"),
    ],
)
def test_faults_of_templates_name_the_line(text: Any, words: str) -> None:
    with pytest.raises(sf.ArgumentError, match=words):
        Templates.parse(text)


def test_a_column_that_is_not_there_is_named_with_its_template() -> None:
    with pytest.raises(sf.DataError, match=r"'B1:%x\[0,2\]' asks for column 2, but there are 2 columns"):
        Templates.parse("U0:%x[0,0]\nB1:%x[0,2]").expand([["a"], ["b"]], np.array([0, 1]))


def test_columns_have_one_entry_a_position() -> None:
    with pytest.raises(sf.DataError, match="Column 1 has 1 entry, but the sequences have 2 positions"):
        Templates.parse("U0:%x[0,0]").expand([["a", "b"], ["b"]], np.array([0, 2]))


@pytest.mark.slow
@pytest.mark.data
def test_the_tutorial_makes_the_weights_of_crfsuite(data_folder: Path) -> None:
    """CRFsuite reports 453,094 weights, of which 22² are transitions, for its tutorial's features of CoNLL-2000."""
    text = read_columns(data_folder / "seq_conll2000" / "train.txt.xz")
    labels = read_labels(text.sentences(2), text.offsets)
    made = Templates.parse(TUTORIAL, boundary="omit", ends=True).expand(text.columns[:2], text.offsets)
    at = np.repeat(np.arange(text.n_tokens), np.diff(made.states.starts))
    pairs = np.unique(made.states.codes * np.int64(labels.label.n_states) + labels.codes[at])
    assert len(pairs) == 453_094 - 22**2
    assert len(made.vocabulary) == 335_674
