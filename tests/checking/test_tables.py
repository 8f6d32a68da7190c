"""G² against cells written out, drawn tables against all tables, and published numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.checking import twins

import suffice as sf
from suffice.checking import tables
from suffice.stats import counts as counts_file
from suffice.stats.needs import Count

CELLS = st.integers(0, 3)


@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 4), min_size=1, max_size=60), st.booleans())
def test_g2_and_df_are_those_of_cells_written_out(rows: list[tuple[str, ...]], sparse: bool) -> None:
    columns = {name: [row[i] for row in rows] for i, name in enumerate("WXYZ")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts_file, "DENSE_CELLS", 1 if sparse else 1 << 20)
        counts = sf.collect(sf.Cliques("W:X:Y:Z"), columns)[Count(tuple("WXYZ"))]
        table = tables.strata(counts, "Y", "W")
    g2, df = twins.g2([(row[2], row[0], row[1], row[3]) for row in rows])
    assert tables.deviance(table) == pytest.approx(g2, abs=1e-9)
    assert tables.degrees(table) == df


def test_states_that_a_stratum_lacks_take_degrees_of_freedom_away() -> None:
    table = np.array([[[5, 7], [3, 0]], [[4, 6], [8, 0]]])  # in the second stratum the column variable is constant
    assert tables.degrees(table) == 1
    assert tables.degrees(np.array([[[5], [0], [3]], [[4], [0], [8]], [[0], [0], [0]]])) == 1


@given(st.lists(CELLS, min_size=12, max_size=12), st.integers(0, 10))
def test_drawn_tables_have_the_margins_of_every_stratum(cells: list[int], seed: int) -> None:
    table = np.array(cells).reshape(2, 3, 2)
    drawn = tables.drawn_tables(table, 7, np.random.default_rng(seed))
    assert drawn.shape == (7, 2, 3, 2)
    assert (drawn >= 0).all()
    assert (drawn.sum(axis=1) == table.sum(axis=0)).all()
    assert (drawn.sum(axis=2) == table.sum(axis=1)).all()


@pytest.mark.parametrize("cells", [[[3, 2], [1, 4]], [[0, 6], [5, 2]], [[2, 9], [7, 1]], [[1, 1], [1, 1]]])
def test_drawn_p_is_that_of_all_tables(cells: list[list[int]]) -> None:
    table = np.array(cells)[:, :, None]
    found = [tables.outcome_in(table, np.random.default_rng(seed)) for seed in range(60)]
    assert all(one.by == "G², drawn" for one in found)
    exact = twins.exact_p(cells)
    assert np.mean([one.p_value for one in found]) == pytest.approx(exact, rel=0.15)


def test_draws_stop_early_unless_the_table_is_far_out() -> None:
    near, far = np.array([[3, 2], [2, 3]])[:, :, None], np.array([[30, 0], [1, 30]])[:, :, None]
    assert tables.outcome_in(near, np.random.default_rng(0)).n_draws < 200
    found = tables.outcome_in(far, np.random.default_rng(0))
    assert found.n_draws == 0  # no expected count is small here
    sparse = tables.outcome_in(np.array([[30, 0, 1], [1, 30, 0]])[:, :, None], np.random.default_rng(0))
    assert sparse.n_draws == tables.MOST_DRAWS
    assert (
        1e-18 < sparse.p_value < 1e-14
    )  # beyond what draws alone could tell: 31 of 4.65e17 tables are the table itself


def test_counts_that_are_no_whole_numbers_are_said_to_be_rough() -> None:
    found = tables.outcome_in(np.array([[0.5, 2.5], [1.5, 0.25]])[:, :, None], np.random.default_rng(0))
    assert (found.by, found.is_rough, found.n_draws) == ("G²", True, 0)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "model", "pair"),
    [
        ("UCBAdmissions", "AD_GD", ("Admit", "Gender")),
        ("AgrestiACM", "AM_CM", ("alcohol", "cigarette")),
    ],
)
def test_conditional_independence_is_that_of_loglin(
    name: str, model: str, pair: tuple[str, str], data_folder: Path
) -> None:
    """R 4.2.2, stats::loglin: G² and df of the model without the two interactions of the pair."""
    entry = json.loads((data_folder / "loglinear_reference" / f"{name}.json").read_text())
    held = entry["counts"]
    table = np.array(held["values_fortran_order"]).reshape(held["dim"], order="F")
    data = sf.Contingency(table, dict(zip(held["names"], held["levels"], strict=True)))
    models = {frozenset(map(frozenset, one["generators"])): one for one in entry["models"].values()}
    other = next(axis for axis in held["names"] if axis not in pair)
    wanted = models[frozenset(frozenset({end, other}) for end in pair)]
    found = sf.check(sf.Cliques([(pair[0], other), (pair[1], other)]), data, bootstrap=0)
    (test,) = found.tests
    assert {test.first, test.second} == set(pair)
    assert test.statistic == pytest.approx(wanted["G2"], rel=1e-9)
    assert test.df == wanted["df"]
    assert test.given == (other,)
    assert not found.ok
