"""Statistics of blocks with gaps: every need from the rows that have its columns, and nothing else changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.data.block import Block
from suffice.data.matrix import MatrixColumns, MatrixTable
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.stats.available import CheckedSource, GatherAvailable, columns_with_gaps, complete_in
from suffice.stats.needs import Count, Moment
from suffice.stats.statistics import collect_block

SCHEMA = Schema((Variable("A", (0, 1, 2)), Variable("B", (0, 1)), Variable("x"), Variable("z")))
NEEDS = (Count(("B",)), Count(("A", "B")), Count(("B", "A")), Moment(("x",), ("B",)), Moment(("x", "z"), ("A",)))
ROWS = st.lists(
    st.tuples(
        st.integers(-1, 2),
        st.integers(-1, 1),
        st.integers(-3, 3) | st.just(np.nan),
        st.integers(-3, 3) | st.just(np.nan),
        st.integers(0, 3),
    ),
    max_size=12,
)


def block_of(rows: list[Any], weighted: bool = True) -> Block:
    cells = [list(cell) for cell in zip(*rows, strict=True)] if rows else [[]] * 5
    columns = {name: np.array(cells[j], np.int8 if j < 2 else float) for j, name in enumerate(SCHEMA)}
    return Block(SCHEMA, columns, np.array(cells[4], int) if weighted else None, len(rows))


def kept(row: Any, need: Any) -> bool:
    """Whether a row has all columns of a need, by looking at each of its cells."""
    places = [list(SCHEMA).index(name) for name in need.columns]
    return all(row[place] == row[place] and not (place < 2 and row[place] < 0) for place in places)


@settings(max_examples=80, deadline=None)
@given(ROWS, st.booleans())
def test_each_need_sees_the_rows_that_have_its_columns(rows: list[Any], weighted: bool) -> None:
    found = GatherAvailable(NEEDS)(block_of(rows, weighted))
    assert set(found) == set(NEEDS)
    for need in NEEDS:
        mine = collect_block([need], block_of([row for row in rows if kept(row, need)], weighted))[need]
        for name, array in mine.to_arrays().items():
            np.testing.assert_allclose(found[need].to_arrays()[name], array, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_gaps_are_found_by_column(rows: list[Any]) -> None:
    block = block_of(rows)
    wanted = {name for name in SCHEMA if any(not kept(row, Moment((name,))) for row in rows)}
    assert columns_with_gaps(block, SCHEMA) == wanted
    assert columns_with_gaps(block, ["x"]) == wanted & {"x"}


def test_gaps_of_a_matrix_are_found_in_it_and_beside_it() -> None:
    x, codes = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, -1], np.int8)
    clean = Block(SCHEMA, MatrixColumns(x, ("x", "z"), {"B": codes}), None, 2)
    assert columns_with_gaps(clean, ["x", "z", "B"]) == {"B"}
    holed = Block(SCHEMA, MatrixColumns(np.array([[1.0, np.nan]]), ("x", "z"), {"B": codes[:1]}), None, 1)
    assert columns_with_gaps(holed, ["x", "z", "B"]) == {"z"}


def test_infinities_of_both_signs_are_no_gaps() -> None:
    block = Block(SCHEMA, {"x": np.array([np.inf, -np.inf])}, None, 2)
    assert columns_with_gaps(block, ["x"]) == frozenset()


def test_complete_block_is_handed_on_as_it_is() -> None:
    block = block_of([(0, 1, 1.0, 2.0, 1)])
    assert complete_in(block, ("A", "x")) is block
    cut = complete_in(block_of([(0, 1, 1.0, 2.0, 1), (-1, 0, 5.0, np.nan, 2)]), ("A", "x"))
    assert (cut.n_rows, cut.n_dropped, list(cut.columns), cut.weight) == (1, 1, ["A", "x"], 1.0)


def test_weight_is_that_of_all_rows_and_rows_are_checked() -> None:
    matrix = np.array([[1.0], [np.nan], [3.0]])
    table = MatrixTable(matrix, (Variable("x"),))
    seen: list[int] = []
    source = CheckedSource(table, check=lambda block: seen.append(block.n_rows))
    statistics = source.gather([Moment(("x",))])
    assert (statistics.weight, statistics.n_dropped, float(statistics[Moment(("x",))].weight)) == (3.0, 0, 2.0)
    assert seen == [3]
    again = source.settled(statistics.schema)
    assert isinstance(again, CheckedSource)
    assert float(again.gather([Moment(("x",))])[Moment(("x",))].weight) == 2.0
    assert seen == [3, 3]


def test_other_structures_refuse_to_learn_from_what_there_is() -> None:
    data = {"A": ["x", None], "B": ["u", "v"]}
    for call in (sf.fit, sf.collect):
        with pytest.raises(sf.ArgumentError, match=r"missing='available'.*Cliques.*missing='drop'"):
            call(sf.Cliques("A:B"), data, missing="available")


SEQUENCES = {
    "chain": (sf.MarkovChain(1), [["a", None, "b", "a"]], "Fill gaps in, give them a state of their own, or cut"),
    "numbers": (sf.Autoregression(1), [[0.5, None, 2.5, 1.0, 3.5]], "Fill gaps in, or cut the sequences"),
    "hidden chain": (sf.MarkovChain(latent={"s": 2}), [["a", None, "b", "a"]], "Pass missing='em'"),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_are_told_remedies_that_sequences_have(name: str) -> None:
    structure, data, remedy = SEQUENCES[name]
    for missing in ("available", "drop") if "hidden" in name else ("available", "drop", "em", "error"):
        with pytest.raises(sf.SufficeError) as raised:
            sf.fit(structure, data, missing=missing)
        said = str(raised.value)
        assert ("Pass missing='drop'" in said, "state of" in said) == (False, name == "chain")
        assert remedy in said or missing in ("em", "error")
    if name == "chain":
        assert sf.fit(structure, [["a", "unknown", "b", "a"]], unseen_parents="uniform").n == 4
        assert sf.fit(structure, [["a"], ["b", "a"]], unseen_parents="uniform").n == 3
    elif name == "numbers":
        assert sf.fit(structure, [[0.5], [2.5, 1.0, 3.5]], prior=sf.NormalInverseGamma(2, 1.0)).n == 2
    else:
        assert sf.fit(structure, data, missing="em", seed=0).certificate.ok


@pytest.mark.parametrize(
    ("structure", "em"),
    [
        (sf.Cliques("A:B"), True),
        (sf.Features([sf.indicator(A="x", B="u")]), True),
        (sf.Features([sf.indicator(A="x", B="u")], given=["B"]), False),
    ],
)
def test_em_is_proposed_where_it_exists(structure: Any, em: bool) -> None:
    data = {"A": ["x", None, "x", "y", "y"], "B": ["u", "v", "v", "u", "v"]}
    with pytest.raises(sf.ArgumentError) as raised:
        sf.fit(structure, data, missing="available")
    assert ("Pass missing='em'" in str(raised.value)) is em
    assert "missing='drop'" in str(raised.value)
    assert sf.fit(structure, data, missing="em" if em else "drop").certificate.ok
