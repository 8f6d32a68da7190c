"""Sequences, however they come, are the windows that a slow and obvious twin writes down."""

from __future__ import annotations

import datetime
import gzip
import lzma
import re
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data import held_symbols, sequence_text
from suffice.data.sequence_lists import byte_codes
from suffice.data.sequences import open_windows
from suffice.data.windows import START, WindowTable, lagged, window_names

SYMBOLS = st.lists(st.text("abc", max_size=6), max_size=6)


def naive_windows(sequences: list[list[Any]], order: int, pad: bool) -> list[tuple[Any, ...]]:
    """Write down every position with its predecessors."""
    rows = []
    for sequence in sequences:
        padded = [START] * order + list(sequence)
        for t in range(len(sequence)):
            if pad or t >= order:
                rows.append(tuple(padded[t : t + order + 1]))
    return rows


def labelled(table: WindowTable) -> list[tuple[Any, ...]]:
    """Return the rows of a table of windows, labels in final order of states, as `naive_windows` writes them."""
    rows: list[tuple[Any, ...]] = []
    blocks = list(table.blocks())
    settled = table.settled()
    for block in blocks:
        assert block.start == len(rows)
        columns = []
        for variable in block.schema.variables:
            values = block.columns[variable.name]
            assert len(values) == block.n_rows
            final = settled.schema[variable.name]
            if not variable.is_discrete:
                columns.append(values.tolist())
            elif variable.name in settled.recoding:
                columns.append([final.labels[settled.recoding[variable.name][code]] for code in values.tolist()])
            else:
                columns.append([final.labels[code] for code in values.tolist()])
        rows += list(zip(*columns, strict=True))
    return rows


def as_text(rows: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    return [tuple(map(str, row)) for row in rows]


class TestWindows:
    @given(SYMBOLS, st.integers(0, 3), st.booleans(), st.integers(1, 5))
    def test_are_those_of_the_twin_however_blocks_are_cut(
        self, sequences: list[str], order: int, pad: bool, block_rows: int
    ) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(held_symbols, "BLOCK_ROWS", block_rows)
            table = open_windows(sequences, None, order, pad=pad)
            assert as_text(labelled(table)) == naive_windows([list(s) for s in sequences], order, pad)
            assert table.n_expected == sum(block.n_rows for block in table.blocks())

    @given(st.lists(st.lists(st.floats(-9, 9), max_size=5), max_size=4), st.integers(0, 3), st.integers(1, 4))
    def test_of_numbers(self, sequences: list[list[float]], order: int, block_rows: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(held_symbols, "BLOCK_ROWS", block_rows)
            table = open_windows([np.array(s, float) for s in sequences], ["y"], order, pad=False, continuous=True)
            assert labelled(table) == naive_windows(sequences, order, False)

    def test_of_vectors_have_all_variables_at_every_lag(self) -> None:
        one, two = np.arange(8.0).reshape(4, 2), 10 + np.arange(4.0).reshape(2, 2)
        table = open_windows([one, two], None, 1, pad=False, continuous=True)
        assert tuple(table.schema) == window_names(["x1", "x2"], 1) == ("x1[-1]", "x2[-1]", "x1", "x2")
        assert labelled(table) == [(0, 1, 2, 3), (2, 3, 4, 5), (4, 5, 6, 7), (10, 11, 12, 13)]

    def test_carry_the_weight_of_their_sequence(self) -> None:
        table = open_windows(["ab", "", "cab"], None, 1, pad=True, weights=[2, 5, 0.5])
        (block,) = table.blocks()
        assert block.weights is not None
        assert block.weights.tolist() == [2, 2, 0.5, 0.5, 0.5]
        (block,) = open_windows(["ab", "", "cab"], None, 1, pad=False, weights=[2, 5, 3]).blocks()
        assert block.weights is not None
        assert block.weights.tolist() == [2, 3, 3]
        assert block.weights.dtype.kind == "i"

    def test_with_many_states_need_wider_codes(self) -> None:
        table = open_windows([list(range(127))], None, 1, pad=True)
        (block,) = table.blocks()
        assert block.columns["x[-1]"].tolist() == list(range(127))
        assert block.columns["x"].tolist() == list(range(127))

    def test_leave_what_they_are_given_alone(self) -> None:
        data = np.array([[0, 1, 1], [1, 0, 1]], np.uint8)
        before = data.copy()
        sf.fit(sf.MarkovChain(2), data, unseen_parents="uniform")
        np.testing.assert_array_equal(data, before)


class TestLists:
    @pytest.mark.parametrize(
        "data",
        [
            ["abba", "ab"],
            [b"abba", b"ab"],
            [["a", "b", "b", "a"], ["a", "b"]],
            (("a", "b", "b", "a"), ("a", "b")),
            [np.array(["a", "b", "b", "a"]), np.array(["a", "b"])],
            [pd.Series(["a", "b", "b", "a"]), pd.Series(["a", "b"])],
        ],
        ids=["text", "bytes", "lists", "tuples", "arrays", "series"],
    )
    def test_of_every_kind_are_the_same_sequences(self, data: Any) -> None:
        assert list(sf.Sequences(data)) == [["a", "b", "b", "a"], ["a", "b"]]

    @pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, "S1", "U1", object])
    def test_rows_of_an_array_are_sequences(self, dtype: Any) -> None:
        data = np.array([[0, 1, 1], [2, 0, 1]]).astype(dtype)
        kind = int if np.dtype(dtype).kind in "iuO" else str
        assert list(sf.Sequences(data)) == [[kind(v) for v in row] for row in ([0, 1, 1], [2, 0, 1])]

    def test_an_array_of_one_axis_is_one_sequence_of_labels(self) -> None:
        assert list(sf.Sequences(np.array(["dry", "wet", "dry"]))) == [["dry", "wet", "dry"]]

    def test_characters_beyond_ascii(self) -> None:
        assert list(sf.Sequences(["añ", "😀a"])) == [["a", "ñ"], ["😀", "a"]]

    @given(st.lists(st.integers(0, 255), max_size=40))
    def test_bytes_become_places_in_their_alphabet(self, values: list[int]) -> None:
        codes, alphabet = byte_codes(np.array(values, np.uint8))
        assert alphabet == sorted(set(values))
        assert [alphabet[code] for code in codes.tolist()] == values

    @given(st.lists(st.integers(0, 255), max_size=40), st.integers(0, 5))
    def test_bytes_that_come_late_are_found_as_well(self, values: list[int], first: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("suffice.data.sequence_lists.FIRST", first)
            codes, alphabet = byte_codes(np.array(values, np.uint8))
        assert [alphabet[code] for code in codes.tolist()] == values

    def test_many_whole_numbers_are_states_without_a_word(self) -> None:
        fit = sf.fit(sf.MarkovChain(1), [list(range(60)) * 2])
        assert fit.model.variable.n_states == 60


class TestLongTables:
    LONG: ClassVar[dict[str, list[Any]]] = {
        "site": ["q", "p", "q", "p", "q"],
        "day": [3, 2, 1, 1, 2],
        "rain": ["a", "b", "c", "d", "e"],
        "other": [0.5] * 5,
    }
    SORTED: ClassVar[list[list[str]]] = [["c", "e", "a"], ["d", "b"]]

    def written(self, kind: str, folder: Path) -> Any:
        frame = pd.DataFrame(self.LONG)
        if kind == "csv":
            frame.to_csv(folder / "t.csv", index=False)
            return str(folder / "t.csv")
        if kind == "parquet":
            frame.to_parquet(folder / "t.parquet")
            return folder / "t.parquet"
        return {"dict": self.LONG, "pandas": frame, "polars": pl.DataFrame(self.LONG)}[kind]

    @pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "csv", "parquet"])
    def test_are_sorted_within_sequences_in_order_of_appearance(self, kind: str, tmp_path: Path) -> None:
        data = self.written(kind, tmp_path)
        assert list(sf.Sequences(data, variable="rain", id="site", time="day")) == self.SORTED
        assert list(sf.Sequences(data, variable="rain", id="site")) == [["a", "c", "e"], ["b", "d"]]
        assert list(sf.Sequences(data, variable="rain")) == [["a", "b", "c", "d", "e"]]

    @pytest.mark.parametrize(
        "day",
        [
            [10.5, 9.5, 8.5, 8.0, 9.0],
            ["2020-10-01", "2020-09-02", "2020-08-01", "2020-08-01", "2020-09-01"],
            [datetime.date(2020, m, 1) for m in (10, 9, 8, 8, 9)],
            [datetime.datetime(2020, m, 1, 12) for m in (10, 9, 8, 8, 9)],
        ],
        ids=["numbers", "text", "dates", "times"],
    )
    def test_times_may_be_numbers_dates_or_sortable_text(self, day: list[Any], tmp_path: Path) -> None:
        frame = pd.DataFrame({**self.LONG, "day": day})
        assert list(sf.Sequences(frame, variable="rain", id="site", time="day")) == self.SORTED
        frame.to_csv(tmp_path / "t.csv", index=False)
        assert list(sf.Sequences(tmp_path / "t.csv", variable="rain", id="site", time="day")) == self.SORTED

    def test_steps_of_different_length_are_noted(self) -> None:
        data = {"day": [1, 2, 4, 5], "rain": ["a", "b", "a", "b"]}
        fit = sf.fit(sf.MarkovChain(1, variable="rain", time="day"), data)
        assert any("1 step of 3 are longer than 1" in str(note) for note in fit.notes)
        even = sf.fit(sf.MarkovChain(1, variable="rain", time="day"), {**data, "day": [2, 4, 6, 8]})
        assert not any("longer" in str(note) for note in even.notes)

    def test_categories_keep_their_order_and_their_empty_states(self) -> None:
        column = pd.Categorical(["b", "a", "b"], ["c", "b", "a"])
        fit = sf.fit(sf.MarkovChain(0), pd.DataFrame({"rain": column}))
        assert fit.model.variable.labels == ("c", "b", "a")

    def test_a_time_twice_says_which(self) -> None:
        with pytest.raises(sf.DataError, match=r"the time 3 of sequence 'q' occurs more than once"):
            list(sf.Sequences({**self.LONG, "day": [3, 2, 3, 1, 2]}, variable="rain", id="site", time="day"))


def reference_letters(text: str) -> str:
    """Normalise as the reference does."""
    return re.sub(r"[^a-z]+", " ", text.lower()).strip()


class TestText:
    @given(
        st.text("aB-é \n\r😀", max_size=30),
        st.integers(1, 7),
        st.sampled_from(["characters", "words", "lines"]),
        st.booleans(),
    )
    def test_is_what_a_whole_reading_gives_however_it_is_cut(
        self, text: str, piece: int, level: str, letters: bool
    ) -> None:
        plain = text.replace("\r\n", "\n").replace("\r", "\n") if level == "lines" else text
        if level == "words":
            said = re.findall("[a-z]+", text.lower()) if letters else text.split()
            expected = [said] if said else []
        else:
            parts = plain.split("\n") if level == "lines" else [plain]
            expected = [list(reference_letters(part) if letters else part) for part in parts]
            expected = [part for part in expected if part]
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
            patch.setattr(sequence_text, "PIECE_BYTES", piece)
            path = Path(folder) / "t.txt"
            path.write_bytes(text.encode())
            sequences = sf.Sequences(text=path, level=level, letters=letters)
            assert list(sequences) == expected
            for order in (0, 2):
                table = open_windows(sequences, None, order, pad=True)
                assert labelled(table) == naive_windows(expected, order, True)

    def test_compressed_files_and_a_mark_at_the_beginning(self, tmp_path: Path) -> None:
        content = b"\xef\xbb\xbfab\xc3\xa9"
        for name, packed in (
            ("a.txt", content),
            ("a.txt.gz", gzip.compress(content)),
            ("a.xz", lzma.compress(content)),
        ):
            (tmp_path / name).write_bytes(packed)
            assert list(sf.Sequences(text=tmp_path / name)) == [["a", "b", "é"]]

    def test_states_are_sorted_in_the_end_and_a_second_pass_agrees(self, tmp_path: Path) -> None:
        path = tmp_path / "t.txt"
        path.write_text("cabbage, baggage")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sequence_text, "PIECE_BYTES", 3)
            fit = sf.fit(sf.MarkovChain(1), str(path), certify="data")
        assert fit.model.variable.labels == tuple(" ,abceg")
        assert fit.certificate.ok
        assert fit.certificate.data_gap == 0
        whole = sf.fit(sf.MarkovChain(1), ["cabbage, baggage"])
        assert fit.log_likelihood == whole.log_likelihood
        assert (
            fit.statistics[sf.Count(("x[-1]", "x"))].table().tolist()
            == whole.statistics[sf.Count(("x[-1]", "x"))].table().tolist()
        )

    def test_an_empty_file_is_nothing_to_learn_from(self, tmp_path: Path) -> None:
        (tmp_path / "t.txt").write_text("")
        with pytest.raises(sf.DataError, match="nothing to learn from"):
            sf.fit(sf.MarkovChain(1), tmp_path / "t.txt")


def test_lag_names() -> None:
    assert [lagged("x", steps) for steps in (0, 1, 2)] == ["x", "x[-1]", "x[-2]"]


def test_representations_say_what_is_read() -> None:
    assert repr(sf.Sequences(text="a.txt", letters=True)) == "Sequences(text='a.txt', level='characters', letters=True)"
    assert repr(sf.Sequences(["ab"], variable="y")) == "Sequences(['ab'], variable=['y'])"
