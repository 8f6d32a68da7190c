"""Text in columns: the same sentences as by reading one line after the other, from every kind of file."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data import column_text
from suffice.data.column_text import BLANKS, OTHER_BLANKS, ColumnText, read_columns

FIELD = st.text(st.sampled_from("ab#é\u3000\u00a0-"), min_size=1, max_size=3)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
TEXT = b"the D\ncat N\n\nsleep V\n"


def naive(lines: list[str], separator: str | None, comment: str | None) -> list[list[tuple[int, list[str]]]]:
    """Sentences of line numbers and fields, one line after the other."""
    sentences: list[list[tuple[int, list[str]]]] = [[]]
    for number, line in enumerate(lines, 1):
        if comment is not None and line.startswith(comment):
            continue
        if separator is not None:
            fields = line.split(separator) if line.strip() else []
        else:
            fields = [field for field in line.replace("\t", " ").split(" ") if field]
        if fields:
            sentences[-1].append((number, fields))
        elif sentences[-1]:
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def sentences(text: ColumnText) -> list[list[tuple[int, list[str]]]]:
    rows = list(
        zip(text.line_numbers.tolist(), map(list, zip(*text.columns, strict=True)), strict=True) if text.columns else []
    )
    return [rows[low:high] for low, high in zip(text.offsets, text.offsets[1:], strict=False)]


@given(
    data=st.data(),
    width=st.integers(1, 3),
    separator=st.sampled_from([None, "\t", "|"]),
    comment=st.sampled_from([None, "#"]),
    end=ENDS,
    last=st.booleans(),
    mark=st.booleans(),
    piece=st.sampled_from([0, 1, 3, 1000]),
)
def test_columns_are_read_as_line_after_line(
    data: Any,
    width: int,
    separator: str | None,
    comment: str | None,
    end: str,
    last: bool,
    mark: bool,
    piece: int,
    tmp_path_factory: Any,
) -> None:
    field = FIELD if separator is None else st.one_of(FIELD, FIELD, st.just(""))
    between = st.sampled_from([" ", "\t", " \t "]) if separator is None else st.just(separator)
    token = st.lists(field, min_size=width, max_size=width).flatmap(
        lambda fields: between.map(lambda by: by.join(fields))
    )
    lines = data.draw(st.lists(st.one_of(token, token, st.sampled_from(["", " ", "\t", "#"])), max_size=8))
    # A single word between other separators is a column of its own, and as odd as any other number of columns.
    lines = [line for line in lines if line != "#" or comment or width == 1]
    if separator is not None:
        lines = [line for line in lines if line.strip() or not line]
    expected = naive(lines, separator, comment)
    path = tmp_path_factory.mktemp("columns") / "text.txt"
    whole = ("\ufeff" if mark else "") + end.join(lines) + (end if last else "")
    path.write_bytes(whole.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_text, "PIECE_CHARACTERS", piece)
        patch.setattr(column_text, "PIECE_LINES", piece + 1)
        assert sentences(read_columns(str(path), separator=separator, comment=comment)) == expected
        assert sentences(read_columns(lines, separator=separator, comment=comment)) == expected
        ended = (line + "\n" for line in lines)
        assert sentences(read_columns(ended, separator=separator, comment=comment)) == expected


def test_blanks_that_tokens_may_hold_are_all_the_blanks_there_are() -> None:
    blanks = {chr(point) for point in range(0x110000) if chr(point).isspace()} - set("\n\r")
    assert set(OTHER_BLANKS) == {blank for blank in blanks if not BLANKS.fullmatch(blank)}


@pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".BZ2", bz2.compress), (".xz", lzma.compress)]
)
def test_packed_files_are_unpacked_by_their_ending(ending: str, pack: Any, tmp_path: Path) -> None:
    path = tmp_path / f"text.txt{ending}"
    path.write_bytes(pack(TEXT))
    text = read_columns(path)
    assert text.columns == (["the", "cat", "sleep"], ["D", "N", "V"])
    assert text.sentences(0) == [["the", "cat"], ["sleep"]]
    assert (text.n_sentences, text.n_tokens) == (2, 3)
    assert text.line_numbers.tolist() == [1, 2, 4]


def test_equal_texts_are_held_once() -> None:
    text = read_columns(["the D", "cat N", "", "the D"])
    assert text.columns[0][0] is text.columns[0][2]


def test_a_ragged_line_far_down_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_text, "PIECE_LINES", 2)
    with pytest.raises(sf.DataError, match="line 6: found 1 column, where line 2 has 2"):
        read_columns(["# no token", "the D", "# nor this", "cat N", "", "sleep"], comment="#")


def test_an_open_file_is_an_iterable_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT)
    with path.open(encoding="utf-8") as file:
        assert read_columns(file).sentences(1) == [["D", "N"], ["V"]]


@pytest.mark.parametrize("lines", [[], [""], ["", " ", ""], ["\ufeff"]])
def test_without_tokens_there_are_no_sentences(lines: list[str]) -> None:
    text = read_columns(lines)
    assert text.columns == ()
    assert text.offsets.tolist() == [0]
    assert (text.n_sentences, text.n_tokens) == (0, 0)


def test_an_empty_file_has_no_sentences(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    assert read_columns(tmp_path / "empty.txt").n_sentences == 0


def test_docstart_is_a_token_like_others() -> None:
    assert read_columns(["-DOCSTART- O", "", "the D"]).sentences(0) == [["-DOCSTART-"], ["the"]]


def test_a_separator_keeps_empty_columns() -> None:
    assert read_columns(["the\t\tD", "cat\tx\t"], separator="\t").columns == (["the", "cat"], ["", "x"], ["D", ""])


def test_comments_do_not_end_a_sentence() -> None:
    text = read_columns(["# 1", "the D", "# a remark of five words", "cat N"], comment="#")
    assert text.sentences(0) == [["the", "cat"]]
    assert text.line_numbers.tolist() == [2, 4]


def test_a_blank_inside_a_japanese_token_stays() -> None:
    assert read_columns(["\u3000 B", "10\u202f000 I"]).columns == (["\u3000", "10\u202f000"], ["B", "I"])


def test_other_encodings_are_read_by_name(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes("été N\n".encode("latin-1"))
    assert read_columns(tmp_path / "text.txt", encoding="latin-1").columns[0] == ["été"]
    with pytest.raises(sf.DataError, match=r"line 1: the text is not utf-8 .*encoding='latin-1'"):
        read_columns(tmp_path / "text.txt")


def test_a_ragged_line_is_named_with_both_numbers(tmp_path: Path) -> None:
    path = tmp_path / "ragged.txt"
    path.write_text("the D\n\n\ncat N x\nsleep\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match=r"ragged.txt', line 4: found 3 columns, where line 1 has 2"):
        read_columns(path)
    with pytest.raises(sf.DataError, match=r"^The text, line 2: found 1 column, where line 1 has 2"):
        read_columns(["the D", "cat"])


@pytest.mark.data
def test_the_training_file_of_conll_2000(data_folder: Path) -> None:
    text = read_columns(data_folder / "seq_conll2000" / "train.txt.xz")
    assert (text.n_sentences, text.n_tokens, len(text.columns)) == (8936, 211727, 3)  # as its task's page has it
    assert len(set(text.columns[2])) == 22
    assert np.diff(text.offsets).min() > 0
