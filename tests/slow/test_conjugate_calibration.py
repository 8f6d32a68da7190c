"""Simulation-based calibration of conjugate posteriors: ranks of the truth among posterior draws are uniform.

Parameters are drawn from the prior, data from the parameters, and draws from the posterior (Talts et al., 2018,
"Validating Bayesian inference algorithms with simulation-based calibration").
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.cpds import NodeFamily
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.regression_posterior import RegressionPosterior
from suffice.stats.moments import Moments

pytestmark = pytest.mark.slow

REPLICATES, DRAWS, BINS = 2000, 99, 20
FAMILY_WISE = 0.001
Truth, Draws = dict[str, float], dict[str, np.ndarray]


def regression_draws(posterior: RegressionPosterior, seed: int) -> Draws:
    """Return draws of every parameter, and of the line's height away from the data."""
    drawn = posterior.draws(DRAWS, seed=seed)
    found: Draws = {}
    for row in range(len(posterior.weight)):
        found |= {f"intercept {row}": drawn.intercept[:, row], f"variance {row}": drawn.variance[:, row]}
        for j in range(drawn.coefficients.shape[2]):
            found[f"slope {j} {row}"] = drawn.coefficients[:, row, j]
        found[f"height {row}"] = drawn.intercept[:, row] + drawn.coefficients[:, row].sum(axis=1) * 2.0
    return found


def regression_truth(intercept: np.ndarray, slopes: np.ndarray, variance: np.ndarray) -> Truth:
    found: Truth = {}
    for row in range(len(variance)):
        found |= {f"intercept {row}": float(intercept[row]), f"variance {row}": float(variance[row])}
        found |= {f"slope {j} {row}": float(slope) for j, slope in enumerate(slopes[row])}
        found[f"height {row}"] = float(intercept[row] + slopes[row].sum() * 2.0)
    return found


Y, X0, X1, D = Variable("y"), Variable("x0"), Variable("x1"), Variable("d", ("no", "yes"))
PRECISION = np.array([[1.5, 0.5, 0.0], [0.5, 2.0, -0.4], [0.0, -0.4, 1.0]])
MEAN = np.array([1.0, -0.5, 2.0])


def regressions(rng: np.random.Generator, discrete: tuple[Variable, ...]) -> tuple[Truth, Any]:
    """Draw regressions on two parents, one for each state of a third, and return their posterior."""
    n_rows, n = 2 if discrete else 1, 8
    variance = 3.0 / rng.standard_gamma(2.5, n_rows)
    root = np.linalg.cholesky(np.linalg.inv(PRECISION))
    beta = MEAN + np.sqrt(variance)[:, None] * (rng.normal(size=(n_rows, 3)) @ root.T)
    parts = []
    for row in range(n_rows):
        x = rng.normal((0.5, 1.0), 1.0, size=(n, 2))
        y = beta[row, 0] + x @ beta[row, 1:] + np.sqrt(variance[row]) * rng.normal(size=n)
        parts.append(Moments.of_rows((X0, X1, Y), np.column_stack([x, y])))
    arrays = [np.stack([getattr(part, name) for part in parts]) for name in ("weight", "mean", "rest", "scatter")]
    statistic = Moments((X0, X1, Y), discrete, *arrays) if discrete else parts[0]
    prior = sf.NormalInverseGamma(2.5, 3.0, mean={"y": MEAN}, precision={"y": PRECISION})
    posterior = prior.posterior("linear_gaussian", NodeFamily(Y, (*discrete, X0, X1)), statistic)
    return regression_truth(beta[:, 0], beta[:, 1:], variance), posterior


def plain_regression(rng: np.random.Generator) -> tuple[Truth, Any]:
    return regressions(rng, ())


def regression_by_state(rng: np.random.Generator) -> tuple[Truth, Any]:
    return regressions(rng, (D,))


DAG = sf.DAG("u -> v; u -> w; v -> w")
SCALE = np.array([[2.0, 0.6, 0.2], [0.6, 1.5, -0.3], [0.2, -0.3, 1.0]])
CENTRE = np.array([1.0, -1.0, 0.5])
NOTHING: dict[str, list[float]] = {name: [] for name in DAG.nodes}
BGE = sf.BGe(1.5, 6, mean=dict(zip(DAG.nodes, CENTRE.tolist(), strict=True)), scale=SCALE).bound(
    DAG, sf.collect(DAG, NOTHING, schema={name: sf.continuous() for name in DAG.nodes})
)


def equivalent(rng: np.random.Generator, node: str) -> tuple[Truth, Any]:
    """Draw mean and covariance of all variables, and return the regression of one node that follows from them."""
    covariance = stats.invwishart(6, SCALE).rvs(random_state=rng)
    mean = rng.multivariate_normal(CENTRE, covariance / 1.5)
    rows = rng.multivariate_normal(mean, covariance, size=7)
    parents = DAG.parents[node]
    places, child = [DAG.nodes.index(parent) for parent in parents], DAG.nodes.index(node)
    slopes = np.linalg.solve(covariance[np.ix_(places, places)], covariance[places, child])
    variance = covariance[child, child] - covariance[places, child] @ slopes
    truth = regression_truth(np.array([mean[child] - mean[places] @ slopes]), slopes[None], np.array([variance]))
    family = NodeFamily(Variable(node), tuple(map(Variable, parents)))
    statistic = Moments.of_rows((*family.parents, family.child), rows[:, [*places, child]])
    return truth, BGE.posterior("linear_gaussian", family, statistic)


def equivalent_with_one_parent(rng: np.random.Generator) -> tuple[Truth, Any]:
    return equivalent(rng, "v")


def equivalent_with_two_parents(rng: np.random.Generator) -> tuple[Truth, Any]:
    return equivalent(rng, "w")


A, B = Variable("a", ("x", "y")), Variable("b", ("u", "v", "w"))
ALPHA = np.array([[0.8, 1.5, 3.0], [2.0, 0.6, 1.0]])


def table(rng: np.random.Generator) -> tuple[Truth, Any]:
    theta = np.array([rng.dirichlet(alpha) for alpha in ALPHA])
    counts = sf.Counts.dense((A, B), np.array([rng.multinomial(n, p) for n, p in zip((12, 3), theta, strict=True)]))
    posterior = sf.Dirichlet({"b": ALPHA}).posterior("tabular", NodeFamily(B, (A,)), counts)
    return {f"{row} {state}": float(theta[row, state]) for row in range(2) for state in range(3)}, posterior


def table_draws(posterior: DirichletRows, seed: int) -> Draws:
    drawn = posterior.draws(DRAWS, seed=seed)
    return {f"{row} {state}": drawn[:, row, state] for row in range(2) for state in range(3)}


def draws_of(posterior: Any, seed: int) -> Draws:
    return table_draws(posterior, seed) if isinstance(posterior, DirichletRows) else regression_draws(posterior, seed)


CASES = [plain_regression, regression_by_state, equivalent_with_one_parent, equivalent_with_two_parents, table]
N_QUANTITIES = 5 + 10 + 4 + 5 + 6


@functools.cache
def simulated(case: Callable[..., Any]) -> list[tuple[Truth, Any]]:
    """Return the truth and its posterior, again and again."""
    rng = np.random.default_rng(20261116)
    return [case(rng) for _ in range(REPLICATES)]


def p_values(case: Callable[..., Any], change: Callable[[Any], Any] = lambda posterior: posterior) -> dict[str, float]:
    """Return, by quantity, the p-value of uniform ranks."""
    ranks: dict[str, list[int]] = {}
    for replicate, (truth, posterior) in enumerate(simulated(case)):
        for name, drawn in draws_of(change(posterior), replicate).items():
            ranks.setdefault(name, []).append(int((drawn < truth[name]).sum()))
    return {
        name: float(stats.chisquare(np.bincount(np.array(found) * BINS // (DRAWS + 1), minlength=BINS)).pvalue)
        for name, found in ranks.items()
    }


@pytest.mark.parametrize("case", CASES)
def test_ranks_of_the_truth_are_uniform(case: Callable[..., Any]) -> None:
    found = p_values(case)
    assert found
    for name, p in found.items():
        assert p > FAMILY_WISE / N_QUANTITIES, name


def test_all_quantities_are_counted() -> None:
    rng = np.random.default_rng(1)
    assert sum(len(case(rng)[0]) for case in CASES) == N_QUANTITIES


def wider_coefficients(posterior: Any) -> Any:
    """Make the standard deviations of all coefficients a fifth larger, given σ."""
    return replace(posterior, spread=1.2 * posterior.spread, weight=posterior.weight / 1.44)


def larger_variances(posterior: Any) -> Any:
    return replace(posterior, scale=1.2 * posterior.scale)


def wider_tables(posterior: Any) -> Any:
    return replace(posterior, concentration=posterior.concentration / 1.44)


@pytest.mark.parametrize(
    ("case", "change", "quantity"),
    [
        (plain_regression, wider_coefficients, "slope"),
        (plain_regression, larger_variances, "variance"),
        (regression_by_state, larger_variances, "variance"),
        (equivalent_with_two_parents, wider_coefficients, "slope"),
        (equivalent_with_two_parents, larger_variances, "variance"),
        (table, wider_tables, ""),
    ],
)
def test_a_scale_that_is_off_by_a_fifth_is_found(case: Any, change: Any, quantity: str) -> None:
    found = p_values(case, change)
    assert min(p for name, p in found.items() if name.startswith(quantity)) < FAMILY_WISE / N_QUANTITIES
