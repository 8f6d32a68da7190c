"""Scores of tags: spans as conlleval reads them, counts by type and by tag, a slow twin, printing."""

from __future__ import annotations

import html
import json
import lzma
import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import DATA

import suffice as sf
from suffice.result.tag_scores import TagScore, spans, tag_scores
from suffice.text import visible

# Worked by hand from the rules of conlleval: for every pair of neighbours of one type, whether a span ends between
# them. Rows are the first tag, columns the second.
LETTERS = "BIESO"
SAME_TYPE = {
    "B": {"B": True, "I": False, "E": False, "S": True, "O": True},
    "I": {"B": True, "I": False, "E": False, "S": True, "O": True},
    "E": {"B": True, "I": True, "E": True, "S": True, "O": True},
    "S": {"B": True, "I": True, "E": True, "S": True, "O": True},
}


def tagged(letter: str, kind: str) -> str:
    return letter if letter == "O" else f"{letter}-{kind}"


@pytest.mark.parametrize("second", LETTERS)
@pytest.mark.parametrize("first", "BIES")
def test_borders_between_neighbours_of_one_type(first: str, second: str) -> None:
    found = spans([tagged(first, "X"), tagged(second, "X")])
    if not SAME_TYPE[first][second]:
        assert found == [("X", 0, 1)]
    elif second == "O":
        assert found == [("X", 0, 0)]
    else:
        assert found == [("X", 0, 0), ("X", 1, 1)]


@pytest.mark.parametrize("second", "BIES")
@pytest.mark.parametrize("first", "BIES")
def test_another_type_always_begins_a_span(first: str, second: str) -> None:
    assert spans([f"{first}-X", f"{second}-Y"]) == [("X", 0, 0), ("Y", 1, 1)]


@pytest.mark.parametrize("letter", "BIES")
def test_whatever_follows_the_outside_begins_a_span(letter: str) -> None:
    assert spans(["O", f"{letter}-X"]) == [("X", 1, 1)]


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ([], []),
        (["O", "O"], []),
        # New York City's mayor met Ann Lee; the same three spans in every scheme.
        (["B-L", "I-L", "I-L", "O", "O", "B-P", "B-P"], [("L", 0, 2), ("P", 5, 5), ("P", 6, 6)]),  # IOB2
        (["I-L", "I-L", "I-L", "O", "O", "I-P", "B-P"], [("L", 0, 2), ("P", 5, 5), ("P", 6, 6)]),  # IOB1
        (["B-L", "I-L", "E-L", "O", "O", "S-P", "S-P"], [("L", 0, 2), ("P", 5, 5), ("P", 6, 6)]),  # IOBES
        (["B-L", "I-L", "L-L", "O", "O", "U-P", "U-P"], [("L", 0, 2), ("P", 5, 5), ("P", 6, 6)]),  # BILOU
        (["I-L", "I-L", "I-L", "O", "O", "E-P", "I-P"], [("L", 0, 2), ("P", 5, 5), ("P", 6, 6)]),  # IOE1
        (["B-NP", "I-VP", "I-VP", "I-NP"], [("NP", 0, 0), ("VP", 1, 2), ("NP", 3, 3)]),
        (["B-A-B", "I-A-B", "I-A"], [("A-B", 0, 1), ("A", 2, 2)]),  # the first hyphen parts letter and type
        (["B", "I", "O", "I", "B"], [("", 0, 1), ("", 3, 3), ("", 4, 4)]),
        (["B-I", "I-I", "I-B"], [("I", 0, 1), ("B", 2, 2)]),
    ],
)
def test_spans_of_tags(tags: list[str], found: list[tuple[str, int, int]]) -> None:
    assert spans(tags) == found
    assert spans(iter(tags)) == found
    assert spans(np.array(tags, dtype=str)) == found


@pytest.mark.parametrize(("scheme", "letter"), [("iob1", "E"), ("iob2", "S"), ("iobes", "L"), ("bilou", "E")])
def test_a_scheme_refuses_letters_of_another(scheme: str, letter: str) -> None:
    assert spans(["O", f"{letter}-X"]) == [("X", 1, 1)]
    with pytest.raises(sf.DataError, match=f"Sequence 1 of 'tags': tag 2 is '{letter}-X'"):
        spans(["O", f"{letter}-X"], scheme)
    assert spans(["B-X", "I-X"], scheme) == [("X", 0, 1)]


# Against a slow twin ------------------------------------------------------------------------------------------


def parted(tag: str) -> tuple[str, str]:
    letter, _, kind = tag.partition("-")
    return letter.translate(str.maketrans("LU", "ES")), kind


def ends(before: str, tag: str) -> bool:
    """Say whether a span ends between two tags, as the script's list of cases has it."""
    (a, s), (b, t) = parted(before), parted(tag)
    listed = {"BB", "BS", "BO", "IB", "IS", "IO", "EE", "EI", "EO", "EB", "ES", "SE", "SI", "SO", "SB", "SS"}
    return a + b in listed or (a != "O" and s != t)


def begins(before: str, tag: str) -> bool:
    (a, s), (b, t) = parted(before), parted(tag)
    listed = {"BB", "IB", "SB", "EB", "OB", "OI", "EI", "SI", "EE", "SE", "OE", "BS", "IS", "SS", "ES", "OS"}
    return a + b in listed or (b != "O" and s != t)


def naive_spans(tags: list[str]) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    first, before = -1, "O"
    for place, tag in enumerate([*tags, "O"]):
        if first >= 0 and ends(before, tag):
            found.append((parted(before)[1], first, place - 1))
            first = -1
        if begins(before, tag):
            first = place
        before = tag
    return found


TAGS = st.sampled_from(["O", *(f"{letter}-{kind}" for letter in "BIESLU" for kind in ("X", "Y", "")), "B", "I"])
LABELLED = st.lists(st.lists(st.tuples(TAGS, TAGS), max_size=8), max_size=5)


def columns(pairs: list[list[tuple[Any, Any]]]) -> tuple[list[list[Any]], list[list[Any]]]:
    return [[a for a, _ in row] for row in pairs], [[b for _, b in row] for row in pairs]


@given(st.lists(TAGS, max_size=12))
def test_spans_are_those_of_the_slow_twin(tags: list[str]) -> None:
    assert spans(tags) == naive_spans(tags)


@given(LABELLED)
def test_counts_are_those_of_the_slow_twin(pairs: list[list[tuple[str, str]]]) -> None:
    true, found = columns(pairs)
    scores = tag_scores(true, found)
    of = [{(i, *span) for i, row in enumerate(rows) for span in naive_spans(row)} for rows in (true, found)]
    kinds = [Counter(span[1] for span in chosen) for chosen in (of[0], of[1], of[0] & of[1])]
    assert {kind: (s.n_true, s.n_found, s.n_right) for kind, s in scores.by_type.items()} == {
        kind: tuple(counts[kind] for counts in kinds) for kind in sorted(kinds[0] | kinds[1])
    }
    assert scores.spans == TagScore(len(of[0]), len(of[1]), len(of[0] & of[1]))
    flat = [pair for row in pairs for pair in row]
    for tag, score in scores.by_tag.items():
        assert score.n_true == sum(a == tag for a, _ in flat)
        assert score.n_found == sum(b == tag for _, b in flat)
        assert score.n_right == sum(a == b == tag for a, b in flat)
    assert set(scores.by_tag) == {tag for pair in flat for tag in pair}
    assert (scores.n_tokens, scores.n_tokens_right) == (len(flat), sum(a == b for a, b in flat))
    assert (scores.n_sequences, scores.n_sequences_right) == (
        len(pairs),
        sum(a == b for a, b in zip(true, found, strict=True)),
    )


@given(LABELLED, st.integers(0, 5))
def test_scores_of_parts_add(pairs: list[list[tuple[str, str]]], cut: int) -> None:
    whole = tag_scores(*columns(pairs))
    parts = tag_scores(*columns(pairs[:cut])) + tag_scores(*columns(pairs[cut:]))
    assert parts.to_dict() == whole.to_dict()
    assert list(parts.by_tag) == list(whole.by_tag)


@given(LABELLED)
def test_what_is_compared_with_itself_is_right(pairs: list[list[tuple[str, str]]]) -> None:
    true, _ = columns(pairs)
    scores = tag_scores(true, true)
    assert scores.spans.n_true == scores.spans.n_found == scores.spans.n_right
    assert scores.f1 == (1.0 if scores.spans.n_true else 0.0)
    assert scores.accuracy == (1.0 if scores.n_tokens else 0.0)


@given(LABELLED)
def test_swapping_the_sides_swaps_precision_and_recall(pairs: list[list[tuple[str, str]]]) -> None:
    true, found = columns(pairs)
    one, other = tag_scores(true, found), tag_scores(found, true)
    assert (one.precision, one.recall, one.f1) == (other.recall, other.precision, other.f1)


# Worked by hand -----------------------------------------------------------------------------------------------

TRUE = [["B-NP", "I-NP", "O", "B-VP", "B-NP"], ["B-PP", "B-NP"], []]
FOUND = [["B-NP", "I-NP", "I-NP", "I-VP", "I-NP"], ["O", "B-NP"], []]


def test_scores_worked_by_hand() -> None:
    scores = tag_scores(TRUE, FOUND)
    # True: NP 0–1, VP 3, NP 4; PP 0, NP 1. Found: NP 0–2, VP 3, NP 4; NP 1. Right: VP 3, NP 4, NP 1.
    assert scores.spans == TagScore(5, 4, 3)
    assert scores.by_type["NP"] == TagScore(3, 3, 2)
    assert scores.by_type["VP"] == TagScore(1, 1, 1)
    assert scores.by_type["PP"] == TagScore(1, 0, 0)
    assert (scores.precision, scores.recall) == (0.75, 0.6)
    assert scores.f1 == pytest.approx(2 * 0.75 * 0.6 / 1.35)
    assert scores.by_tag["I-NP"] == TagScore(1, 3, 1)
    assert scores.by_tag["I-NP"].support == 1
    assert scores.accuracy == 3 / 7
    assert (scores.n_sequences, scores.n_sequences_right) == (3, 1)  # the empty one has no error
    assert scores.sequence_accuracy == 1 / 3


def test_nothing_to_divide_by_is_zero_and_said() -> None:
    scores = tag_scores(TRUE, FOUND)
    assert scores.by_type["PP"].precision == scores.by_type["PP"].recall == scores.by_type["PP"].f1 == 0.0
    assert "never found, so that the precision stands at 0: ['PP']" in str(scores)
    assert "never found, so that the precision stands at 0: ['PP']" in html.unescape(scores._repr_html_())
    assert "never true, so that the recall stands at 0: ['I-VP']" in str(scores.by_tag)
    nothing = tag_scores([], [])
    assert (nothing.accuracy, nothing.precision, nothing.recall, nothing.f1) == (0.0,) * 4
    for said in ("0.0000, as there are no tokens", "0.0000, as no span was found", "0.0000, as no span is true"):
        assert said in str(nothing)
        assert said not in str(scores)
    outside = tag_scores([["O"]], [["O"]])
    assert (outside.accuracy, outside.f1) == (1.0, 0.0)


def test_spans_do_not_cross_sequences() -> None:
    joined, apart = tag_scores([["B-X", "I-X"]], [["B-X", "I-X"]]), tag_scores([["B-X"], ["I-X"]], [["B-X"], ["I-X"]])
    assert (joined.spans.n_true, apart.spans.n_true) == (1, 2)


# Forms --------------------------------------------------------------------------------------------------------


def test_without_a_scheme_tags_are_only_tags() -> None:
    scores = tag_scores([[10, 2, 2], [2]], [[10, 2, 10], [2]], scheme="none")
    assert list(scores.by_tag) == [2, 10]
    assert scores.by_tag[10] == TagScore(1, 2, 1)
    assert len(scores.by_type) == 0
    assert math.isnan(scores.f1)
    assert "f1" not in scores.to_dict()
    assert "Tokens by tag" in str(scores)
    assert "spans" not in str(scores)
    words = tag_scores([["NP", "VP"]], [["NP", "NP"]], scheme="none")
    assert list(words.to_frame("pandas")["tag"]) == ["NP", "VP"]


def test_sequences_may_be_of_any_kind() -> None:
    told = tag_scores(TRUE, FOUND).to_dict()
    kinds: list[Any] = [tuple, lambda rows: pd.Series(list(rows)), lambda rows: (iter(row) for row in rows)]
    kinds.append(lambda rows: [np.array(row, dtype=str) for row in rows])
    kinds.append(lambda rows: [[np.str_(tag) for tag in row] for row in rows])
    for kind in kinds:
        assert tag_scores(kind(TRUE), kind(FOUND)).to_dict() == told


def test_data_and_frames() -> None:
    scores = tag_scores(TRUE, FOUND)
    told = json.loads(json.dumps(scores.to_dict(), allow_nan=False))
    assert told["by_type"]["NP"] == {
        "n_true": 3, "n_found": 3, "n_right": 2, "precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3,
    }  # fmt: skip
    assert (told["n_true"], told["f1"], told["by_tag"]["O"]["n_found"]) == (5, scores.f1, 1)
    frame = scores.to_frame("pandas")
    assert list(frame.columns) == ["type", "n_true", "n_found", "n_right", "precision", "recall", "f1"]
    assert frame["n_true"].tolist() == [3, 1, 1]
    assert scores.by_tag.to_frame("polars").shape == (6, 7)


def test_tables_are_mappings_and_print() -> None:
    scores = tag_scores(TRUE, FOUND)
    assert "XP" not in scores.by_type
    assert scores.by_type.get("XP") is None
    assert list(scores.by_type) == ["NP", "PP", "VP"]
    assert str(scores).splitlines()[:4] == [
        "sequences  3, without an error 1",
        "tokens     7, right 3",
        "accuracy   0.4286",
        "spans      true 5, found 4, right 3",
    ]
    assert "(no type)  " in str(tag_scores([["B", "I"]], [["B", "B"]]))
    assert "<b>" not in tag_scores([["B-<b>"]], [["B-<b>"]])._repr_html_()
    assert visible(str(scores.by_tag)).count("B-NP") == 1
    assert scores.by_tag._repr_html_().startswith("<table>")


def test_scores_of_different_schemes_do_not_add() -> None:
    with pytest.raises(sf.ArgumentError, match="'conll' and 'none'"):
        tag_scores(TRUE, FOUND) + tag_scores(TRUE, FOUND, scheme="none")


# CoNLL-2000 ---------------------------------------------------------------------------------------------------


def sentences(n: int) -> list[list[list[str]]]:
    """Return the first sentences of CoNLL-2000's test file; a token is its word, part of speech and tag."""
    text = lzma.decompress((DATA / "seq_conll2000" / "test.txt.xz").read_bytes()).decode()
    return [[line.split() for line in block.splitlines()] for block in text.strip().split("\n\n")[:n]]


def best_tags(weights: dict[str, Any], parts: list[str]) -> list[str]:
    """Return the tags of the largest total weight, by the plainest Viterbi algorithm."""
    states, steps = weights["state_features"], weights["transitions"]
    labels = sorted({key.split("\t")[1] for key in states})
    table: list[dict[str, tuple[float, list[str]]]] = []
    for place in range(len(parts)):
        names = [f"pos[{by}]={parts[place + by]}" for by in (-1, 0, 1) if 0 <= place + by < len(parts)]
        names += ["__BOS__"] * (place == 0) + ["__EOS__"] * (place == len(parts) - 1)
        row = {}
        for label in labels:
            own = sum(states.get(f"{name}\t{label}", 0.0) for name in names)
            before = (
                [(s + steps.get(f"{old}\t{label}", 0.0), path) for old, (s, path) in table[-1].items()] if table else []
            )
            score, path = max(before, default=(0.0, []))
            row[label] = score + own, [*path, label]
        table.append(row)
    return max(table[-1].values())[1]


@pytest.mark.data
def test_scores_of_the_reference_tagger() -> None:
    # python-crfsuite 0.9.12 on the first 200 sentences of the test file: its tags are those of its weights.
    told = json.loads((DATA / "crf_reference" / "conll2000_crfsuite.json").read_text())["results"]["tiny_pos_200"]
    rows = sentences(told["n_test"])
    found = [best_tags(told, [part for _, part, _ in row]) for row in rows]
    assert found[:3] == [example["tag"] for example in told["examples_test_first3"]]
    scores = tag_scores([[tag for _, _, tag in row] for row in rows], found, scheme="iob2")
    assert scores.accuracy == pytest.approx(told["token_acc"], abs=1e-12)
    assert scores.precision == pytest.approx(told["precision"], abs=1e-12)
    assert scores.recall == pytest.approx(told["recall"], abs=1e-12)
    assert scores.f1 == pytest.approx(told["F1"], abs=1e-12)


@pytest.mark.data
def test_spans_of_the_test_file_are_as_many_as_published() -> None:
    # Reports of conlleval on this file begin: processed 47377 tokens with 23852 phrases.
    tags = [[tag for _, _, tag in row] for row in sentences(10_000)]
    scores = tag_scores(tags, tags)
    assert (scores.n_tokens, scores.spans.n_true) == (47_377, 23_852)
    assert scores.by_type["NP"].n_true == 12_422
