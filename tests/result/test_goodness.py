"""G², X², expected counts and residuals against their definitions, on tables with and without zeros."""

# ruff: noqa: SIM300 (G2 and X2 are names of statistics, not constants)

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import suffice as sf
from suffice.result.goodness import goodness

STATES = {"A": ["x", "y"], "B": ["u", "v", "w"], "C": ["no", "yes"]}
MODELS = ("A + B + C", "A:B + C", "A:B + B:C", "A:B + B:C + A:C", "A:B:C")


def table_of(counts: Any) -> sf.Contingency:
    return sf.Contingency(np.array(counts).reshape(2, 3, 2), STATES)


counts_with_zeros = st.lists(st.integers(0, 6), min_size=12, max_size=12).filter(any)
positive_counts = st.lists(st.integers(1, 60), min_size=12, max_size=12)


def fitted(model: str, counts: Any, **options: Any) -> sf.Fit:
    return sf.fit(sf.Cliques(model), table_of(counts), **{"tol": 1e-10, "max_iter": 20_000, **options})


def joint(fit: sf.Fit) -> np.ndarray:
    return fit.n * np.asarray(fit.model.query(list(STATES)).values)


def naive(m: np.ndarray, expected: np.ndarray) -> tuple[float, float]:
    """Take G² and X² cell by cell."""
    g2 = x2 = 0.0
    for seen, wanted in zip(m.flat, expected.flat, strict=True):
        g2 += 2 * seen * math.log(seen / wanted) if seen else 0.0
        x2 += (seen - wanted) ** 2 / wanted if seen or wanted else 0.0
    return g2, x2


@pytest.mark.parametrize("model", MODELS)
@given(counts=counts_with_zeros, scale=st.sampled_from([1, 0.37]))
def test_statistics_are_sums_over_cells(model: str, counts: list[int], scale: float) -> None:
    m = np.array(counts).reshape(2, 3, 2) * scale
    fit = fitted(model, m)
    g2, x2 = naive(m, joint(fit))
    assert fit.goodness.G2 == pytest.approx(g2, abs=1e-8)
    assert fit.goodness.X2 == pytest.approx(x2, rel=1e-6, abs=1e-8)
    assert fit.goodness.df == 11 - fit.n_free
    assert fit.goodness.n_possible == int((joint(fit) > 0).sum())


@pytest.mark.parametrize("model", MODELS)
@given(counts=counts_with_zeros)
def test_degrees_of_freedom_are_those_of_the_possible_cells(model: str, counts: list[int]) -> None:
    """By the rank of the design on the cells that the fit leaves."""
    fit = fitted(model, counts)
    possible = joint(fit).reshape(-1) > 0
    cells = list(itertools.product(range(2), range(3), range(2)))
    design = []
    for clique in sf.Cliques(model).cliques:
        axes = ["ABC".index(name) for name in clique]
        margins = sorted({tuple(cell[axis] for axis in axes) for cell in cells})
        design += [[tuple(cell[axis] for axis in axes) == margin for cell in cells] for margin in margins]
    rank = np.linalg.matrix_rank(np.array(design, float)[:, possible])
    assert fit.goodness.df_adjusted == possible.sum() - rank
    if fit.certificate.exists == "yes":
        assert fit.goodness.df_adjusted == fit.goodness.df
    if fit.goodness.df_adjusted:
        assert fit.goodness.p_value == pytest.approx(stats.chi2.sf(fit.goodness.G2, fit.goodness.df_adjusted))
        assert fit.goodness.p_value_X2 == pytest.approx(stats.chi2.sf(fit.goodness.X2, fit.goodness.df_adjusted))


def test_boundary_is_said_beside_the_nominal_degrees() -> None:
    # Haberman's example: two opposite corners are empty, and no interaction of all three
    fit = sf.fit(
        sf.Cliques("A:B + B:C + A:C"),
        sf.Contingency([[[0, 3], [4, 5]], [[6, 2], [7, 0]]], {"A": [0, 1], "B": [0, 1], "C": [0, 1]}),
    )
    assert (fit.goodness.df, fit.goodness.df_adjusted, fit.goodness.n_possible) == (1, 0, 6)
    assert fit.goodness.G2 == pytest.approx(0, abs=1e-6)
    assert fit.goodness.p_value == 1
    assert "boundary" in str(fit.goodness)
    assert "on 1 df (0 for the 6 cells that the zeros leave), p = 1" in str(fit)


def test_cells_ruled_out_beforehand_are_no_degrees_of_freedom() -> None:
    """Quasi-independence off the diagonal of a 4 × 4 table: 12 cells, 1 + 3 + 3 parameters."""
    states = {"A": list("pqrs"), "B": list("pqrs")}
    off = 1.0 - np.eye(4)
    fit = sf.fit(sf.Cliques("A + B"), sf.Contingency(off, states))
    ruled = sf.MarkovNetwork([*fit.model.factors, (("A", "B"), off)], schema=states)
    found = dataclasses.replace(fit, model=ruled).goodness
    assert (found.df, found.df_adjusted, found.n_possible) == (9, 5, 12)
    assert found.G2 == pytest.approx(0, abs=1e-9)
    assert found.p_value == pytest.approx(1)


def test_uncounted_parameters_leave_the_degrees_unknown() -> None:
    fit = fitted("A:B + B:C", [0, 0, *range(1, 11)])
    found = dataclasses.replace(fit, n_free_adjusted=fit.n_free).goodness
    assert found.df_adjusted is None
    assert math.isnan(found.p_value)
    assert "-" in str(found).splitlines()[2]


def test_undecided_existence_is_said() -> None:
    fit = fitted("A:B + C", range(1, 13))
    undecided = dataclasses.replace(fit, certificate=dataclasses.replace(fit.certificate, exists="undecided"))
    assert "undecided" in str(undecided.goodness)


def test_saturated_models_fit_exactly() -> None:
    fit = fitted("A:B:C", range(1, 13))
    assert (fit.goodness.df, fit.goodness.p_value, fit.goodness.p_value_X2) == (0, 1, 1)
    assert "on 0 df, p = 1" in str(fit)


def test_order_of_axes_does_not_matter() -> None:
    m = np.arange(1, 13).reshape(2, 3, 2)
    first = fitted("A:B + C", m).goodness
    second = fitted("C + B:A", m).goodness
    assert second.G2 == pytest.approx(first.G2, abs=1e-10)
    assert second.X2 == pytest.approx(first.X2, abs=1e-10)


def test_counts_may_come_from_elsewhere_in_another_order() -> None:
    m = np.arange(1, 13).reshape(2, 3, 2)
    fit = fitted("A:B + C", m)
    turned = sf.Contingency(m[:, ::-1].transpose(2, 0, 1), {"C": STATES["C"], "A": STATES["A"], "B": STATES["B"][::-1]})
    whole = sf.collect(sf.Cliques([("C", "A", "B")]), turned)
    assert goodness(fit, whole) == fit.goodness
    assert np.array_equal(fit.expected(statistics=whole)["observed"].values, m)


def test_under_a_prior_the_statistics_are_no_tests() -> None:
    for prior in (sf.BDeu(5), sf.Gaussian(0.5)):
        fit = fitted("A:B + B:C + A:C", range(1, 13), prior=prior)
        g2, x2 = naive(np.arange(1, 13).reshape(2, 3, 2), joint(fit))
        assert fit.goodness.G2 == pytest.approx(g2, rel=1e-9)
        assert fit.goodness.X2 == pytest.approx(x2, rel=1e-9)
        assert "not the likelihood-ratio statistic" in str(fit.goodness)
        assert ", p " not in str(fit).split("✓")[0]


# Large tables -------------------------------------------------------------------------------------------------

NAMES = [f"v{n:02}" for n in range(30)]


def long_fit() -> tuple[sf.Fit, dict[str, Any]]:
    rng = np.random.default_rng(7)
    data = {name: rng.integers(0, 2, 50).astype(str) for name in NAMES}
    cliques = sf.Cliques([*itertools.pairwise(NAMES), (NAMES[0], NAMES[3])])
    return sf.fit(cliques, data), data


def test_huge_tables_are_compared_by_the_rows_that_occur() -> None:
    fit, data = long_fit()
    with pytest.raises(sf.StatisticsError, match=r"30 variables were not collected.*Collect them"):
        _ = fit.goodness
    assert "G²" not in str(fit)
    whole = sf.collect(sf.Cliques([fit.structure.variables]), data)
    found = goodness(fit, whole)
    distinct = {tuple(data[name][row] for name in NAMES) for row in range(50)}
    assert len(distinct) == 50
    assert found.G2 == pytest.approx(2 * (50 * math.log(1 / 50) - fit.log_likelihood), rel=1e-9)
    p = np.exp(fit.model.log_prob(data))
    assert found.X2 == pytest.approx(((1 - 50 * p) ** 2 / (50 * p)).sum() + 50 - (50 * p).sum(), rel=1e-9)
    assert found.df == 2**30 - 1 - fit.n_free
    assert "fewer rows than cells" in str(found)


def test_large_tables_are_not_listed() -> None:
    fit, data = long_fit()
    with pytest.raises(sf.ArgumentError, match="1,073,741,824 cells"):
        fit.expected(statistics=sf.collect(sf.Cliques([fit.structure.variables]), data))


def test_statistics_of_another_kind_are_refused() -> None:
    fit, _ = long_fit()
    with pytest.raises(sf.ArgumentError, match="'statistics'"):
        goodness(fit, 3)  # type: ignore[arg-type]


def test_fits_without_cells_have_their_own_measure_or_none() -> None:
    data = {"x": [1.0, 2, 4, 7, 5], "y": [1.0, 3, 3, 6, 4], "z": [0.0, 2, 1, 1, 4]}
    small, large = sf.fit(sf.GaussianMarkov("x:y + y:z"), data), sf.fit(sf.GaussianMarkov("x:y:z"), data)
    assert small.goodness.G2 == pytest.approx(2 * (large.log_likelihood - small.log_likelihood), rel=1e-9)
    assert (small.goodness.df, small.goodness.X2) == (1, None)
    assert "X²" not in str(small.goodness)
    directed = sf.fit(sf.DAG("A -> B"), {"A": [0, 1], "B": [0, 1]})
    with pytest.raises(sf.ArgumentError, match=r"sf\.DAG"):
        _ = directed.goodness
    with pytest.raises(sf.ArgumentError, match=r"sf\.DAG"):
        directed.expected()


# Residuals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@given(counts=counts_with_zeros)
def test_squares_of_residuals_add_up(model: str, counts: list[int]) -> None:
    fit = fitted(model, counts)
    cells = fit.expected()
    assert cells["observed"].values.reshape(-1).tolist() == counts
    np.testing.assert_allclose(cells["expected"].values, joint(fit), atol=1e-9)
    assert (cells["pearson"].values ** 2).sum() == pytest.approx(fit.goodness.X2, rel=1e-6, abs=1e-8)
    assert (cells["deviance"].values ** 2).sum() == pytest.approx(fit.goodness.G2, rel=1e-6, abs=1e-6)


def hat_matrix(model: str, expected: np.ndarray) -> np.ndarray:
    """Take the leverages of the Poisson regression from its weighted design, dummies and all."""
    cells = list(itertools.product(range(2), range(3), range(2)))
    design = []
    for clique in sf.Cliques(model).cliques:
        axes = ["ABC".index(name) for name in clique]
        margins = sorted({tuple(cell[axis] for axis in axes) for cell in cells})
        design += [[float(tuple(cell[axis] for axis in axes) == margin) for cell in cells] for margin in margins]
    x = np.sqrt(expected.reshape(-1))[:, None] * np.array(design).T
    return x @ np.linalg.pinv(x, rcond=1e-9)


@pytest.mark.parametrize("model", MODELS[:-1])
@given(counts=positive_counts)
def test_adjusted_residuals_divide_by_the_leverage(model: str, counts: list[int]) -> None:
    fit = fitted(model, counts)
    cells = fit.expected("adjusted")
    left = 1 - np.diag(hat_matrix(model, cells["expected"].values)).reshape(2, 3, 2)
    pearson = fit.expected("pearson")["pearson"].values
    np.testing.assert_allclose(cells["adjusted"].values, pearson / np.sqrt(left), rtol=1e-6, atol=1e-7)


def test_adjusted_residuals_of_cells_without_freedom_are_unknown() -> None:
    assert np.isnan(fitted("A:B:C", range(1, 13)).expected("adjusted")["adjusted"].values).all()
    counts = [0, 0, 3, 4, 5, 6, 2, 2, 4, 3, 3, 5]
    cells = fitted("A:B + B:C", counts).expected("adjusted")
    unknown = np.isnan(cells["adjusted"].values)
    assert unknown[0, 0].all()  # the margin of A and B is zero there
    assert unknown[1, 0].all()  # so that the other row of that B is fitted exactly
    assert not unknown[:, 1:].any()


def test_adjusted_residuals_are_of_maximum_likelihood() -> None:
    with pytest.raises(sf.ArgumentError, match="prior"):
        fitted("A:B + C", range(1, 13), prior=sf.BDeu(1)).expected("adjusted")


def test_adjusted_residuals_need_a_matrix_of_moderate_size() -> None:
    names = list("ABCDEFGH")
    rng = np.random.default_rng(1)
    data = {name: rng.integers(0, 5, 100) for name in names}
    schema = {name: sf.categorical(range(5)) for name in names}
    fit = sf.fit(sf.Cliques([tuple(names[:3]), *((name,) for name in names[3:])]), data, schema=schema)
    with pytest.raises(sf.ArgumentError, match=r"390,625 cells by 144 free parameters"):
        fit.expected("adjusted")


def test_expected_tables_print_and_make_frames() -> None:
    fit = fitted("A:B + C", range(1, 13))
    cells = fit.expected(["adjusted", "pearson"])
    assert list(cells.columns) == ["observed", "expected", "adjusted", "pearson"]
    assert str(cells).splitlines()[0].split() == ["A", "B", "C", "observed", "expected", "adjusted", "pearson"]
    frame = cells.to_frame("pandas")
    assert frame.columns.tolist() == ["A", "B", "C", "observed", "expected", "adjusted", "pearson"]
    assert frame["observed"].tolist() == list(range(1, 13))
    assert list(fit.expected(None).columns) == ["observed", "expected"]
    with pytest.raises(sf.UnknownNameError, match="no column 'deviance'"):
        cells["deviance"]
    for wrong in (3, "x", ["pearson", 3]):
        with pytest.raises(sf.ArgumentError, match="'residuals'"):
            fit.expected(wrong)


def test_long_tables_are_cut_in_print_only() -> None:
    rng = np.random.default_rng(2)
    fit = sf.fit(sf.Cliques("a + b"), {"a": rng.permutation(20), "b": rng.permutation(20)})
    assert "… 340 more rows" in str(fit.expected())
    assert len(fit.expected().to_frame("pandas")) == 400


def test_summary_shows_statistics_and_cliques() -> None:
    counts = [0, 0, *range(30, 40)]
    page, printed = fitted("A:B + B:C + A:C", counts)._repr_html_(), str(fitted("A:B + B:C", counts))
    assert "G²" in page
    assert '<th style="text-align:left">clique</th>' in page
    assert "clique  cells  zeros" in printed
    assert "A:B         6      1" in printed
