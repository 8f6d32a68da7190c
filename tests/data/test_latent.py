"""Latent variables as columns in which every value is missing."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.data.latent import LatentTable
from suffice.data.table import open_table
from suffice.stats.source import BlockSource


def table(n: int = 5) -> LatentTable:
    data = {"A": ["u", "v"] * n, "x": np.arange(2.0 * n)}
    return LatentTable.of(open_table(data, ("A", "x")), {"H": 3, "G": 2})


def test_adds_columns_of_missing_codes() -> None:
    (block,) = table().blocks()
    assert list(block.schema) == ["A", "x", "H", "G"]
    assert block.schema["H"].states == (0, 1, 2)
    for name in "HG":
        assert block.columns[name].tolist() == [-1] * 10
    assert block.columns["A"].tolist() == [0, 1] * 5


def test_keeps_what_the_table_says() -> None:
    held = table()
    assert held.n_expected == 10
    assert held.description == held.table.description
    assert held.settled().remarks == held.table.settled().remarks
    assert list(held.settled().schema) == ["A", "x", "H", "G"]


def test_is_read_again_against_a_schema() -> None:
    again = table().with_schema(table().settled().schema)
    assert again.schema == table().schema


@pytest.mark.parametrize("size", [1, 3, 100])
def test_is_cut_like_any_table(size: int) -> None:
    source = BlockSource(table(), block_rows=size)
    parts = list(source.each(lambda block: (block.n_rows, set(block.columns["H"].tolist()))))
    assert sum(n for n, _ in parts) == 10
    assert all(codes == {-1} for _, codes in parts)
