"""Standard errors of fits to incomplete rows, against second derivatives of brute-force likelihoods."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.certify.test_observed import gappy

import suffice as sf

Floats = NDArray[np.float64]


def second_derivatives(function: Callable[[Floats], float], point: Floats, step: float = 2e-3) -> Floats:
    """Return the second derivatives of a function by central differences, extrapolated once."""

    def by(h: float) -> Floats:
        steps, n = np.eye(len(point)) * h, len(point)
        found = np.zeros((n, n))
        for i, j in itertools.combinations_with_replacement(range(n), 2):
            corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
            values = [a * b * function(point + a * steps[i] + b * steps[j]) for a, b in corners]
            found[i, j] = found[j, i] = math.fsum(values) / (4 * h * h)
        return found

    return np.asarray((4 * by(step) - by(2 * step)) / 3)


def observed_log_likelihood(dag: sf.DAG, tables: dict[str, Floats], data: dict[str, list[Any]]) -> float:
    """Return Σ log p of what was seen, from the whole joint table; all variables have the states n and y."""
    names = list(dag.nodes)
    joint = np.ones([2] * len(names))
    for name in names:
        scope = [names.index(other) for other in (*dag.parents[name], name)]
        order = sorted(range(len(scope)), key=scope.__getitem__)
        shape = [2 if axis in scope else 1 for axis in range(len(names))]
        joint = joint * tables[name].transpose(order).reshape(shape)
    total = 0.0
    for row in zip(*(data.get(name, [None] * len(data["A"])) for name in names), strict=True):
        total += math.log(joint[tuple(slice(None) if value is None else "ny".index(value) for value in row)].sum())
    return total


def by_log_odds(dag: sf.DAG, fit: sf.Fit, data: dict[str, list[Any]]) -> dict[tuple[str, int], float]:
    """Return the standard error of every row of every table, all log-odds being free."""
    rows = [(name, row) for name in dag.nodes for row in range(2 ** len(dag.parents[name]))]
    p = np.array([fit.model.cpd(name).values[row, 1] for name, row in rows])

    def value(odds: Floats) -> float:
        y = 1 / (1 + np.exp(-odds))
        tables = {name: np.zeros((*[2] * len(dag.parents[name]), 2)) for name in dag.nodes}
        for (name, row), share in zip(rows, y.tolist(), strict=True):
            tables[name].reshape(-1, 2)[row] = 1 - share, share
        return observed_log_likelihood(dag, tables, data)

    covariance = np.linalg.inv(-second_derivatives(value, np.log(p / (1 - p))))
    return dict(zip(rows, (np.sqrt(np.diag(covariance)) * p * (1 - p)).tolist(), strict=True))


def of_classes(n: int = 600) -> dict[str, list[Any]]:
    """Return rows of four variables from two classes, which none of them tells for certain."""
    chance = np.random.default_rng(4)
    hidden = chance.random(n) < 0.4
    return {
        name: [None if chance.random() < 0.1 else "ny"[int(chance.random() < (0.8 if h else 0.25))] for h in hidden]
        for name in "ABCD"
    }


@pytest.mark.parametrize(
    ("dag", "data"),
    [
        (sf.DAG("A -> B; B -> C; A -> C"), gappy(400)),
        (sf.DAG("A; B; C"), gappy(400)),
        (sf.DAG("H -> A; H -> B; H -> C; H -> D", latent={"H": 2}), of_classes()),
    ],
    ids=["chain", "apart", "latent"],
)
def test_errors_are_from_the_second_derivatives_of_the_observed_likelihood(dag: sf.DAG, data: dict[str, Any]) -> None:
    fit = sf.fit(dag, data, missing="em", seed=3, tol=1e-10)
    found, wanted = fit.standard_errors(data), by_log_odds(dag, fit, data)
    assert set(found.nodes) == {node for node, _ in wanted}
    assert len(found.nodes) == 2 * len(wanted)
    for line, (node, name) in enumerate(zip(found.nodes, found.parameters, strict=True)):
        row = sum(other == node for other in found.nodes[:line]) // 2
        assert found.se[line] == pytest.approx(wanted[node, row], rel=1e-5), (node, name)
        assert found.lower[line] < found.estimate[line] < found.upper[line]


def test_complete_rows_have_the_errors_of_a_multinomial() -> None:
    data = {name: [value or "n" for value in values] for name, values in gappy().items()}
    fit = sf.fit(sf.DAG("A -> B; A -> C"), data, missing="em")
    found = fit.standard_errors(data)
    assert set(found.nodes) == {"A", "B", "C"}
    for line, (node, above, name) in enumerate(zip(found.nodes, found.given, found.parameters, strict=True)):
        inside = [row for row in range(300) if not above or above == f"A={data['A'][row]!r}"]
        p = sum(data[node][row] == name for row in inside) / len(inside)
        assert found.estimate[line] == pytest.approx(p, abs=1e-9)
        assert found.se[line] == pytest.approx(math.sqrt(p * (1 - p) / len(inside)), rel=1e-6)


def test_gaps_widen_errors() -> None:
    data = gappy(300, 0.3)
    whole = gappy(300, 0.0)
    dag = sf.DAG("A -> B")
    with_gaps = sf.fit(dag, data, missing="em").standard_errors(data).se
    without = sf.fit(dag, whole, missing="em").standard_errors(whole).se
    assert (with_gaps > without).all()


def test_a_normal_variable_has_closed_forms() -> None:
    chance = np.random.default_rng(5)
    values = [None if chance.random() < 0.3 else float(v) for v in chance.normal(50, 3, 200)]
    seen = np.array([v for v in values if v is not None])
    for structure in (sf.Normal("x"), sf.DAG("x")):
        found = sf.fit(structure, {"x": values}, missing="em").standard_errors({"x": values})
        variance = seen.var()
        np.testing.assert_allclose(found.estimate, [seen.mean(), variance], rtol=1e-8)
        np.testing.assert_allclose(
            found.se, [math.sqrt(variance / len(seen)), variance * math.sqrt(2 / len(seen))], rtol=1e-6
        )
        half = 1.959963984540054 * np.array(found.se)
        assert found.upper[0] == pytest.approx(seen.mean() + half[0])
        assert found.upper[1] == pytest.approx(variance * math.exp(half[1] / variance))


def normal_rows(n: int = 150) -> tuple[dict[str, list[Any]], Floats]:
    chance = np.random.default_rng(2)
    x = chance.normal(5, 2, n)
    y = 1 + 0.5 * x + chance.normal(0, 1, n)
    z = y - 0.3 * x + chance.normal(0, 0.5, n)
    rows = np.where(chance.random((n, 3)) < 0.2, np.nan, np.column_stack([x, y, z]))
    return {name: [None if np.isnan(v) else float(v) for v in rows[:, at]] for at, name in enumerate("xyz")}, rows


def normal_log_likelihood(rows: Floats, mean: Floats, covariance: Floats) -> float:
    total = 0.0
    for row in rows:
        seen = np.flatnonzero(~np.isnan(row))
        apart, inner = row[seen] - mean[seen], covariance[np.ix_(seen, seen)]
        total -= 0.5 * float(len(seen) * math.log(2 * math.pi) + np.linalg.slogdet(inner)[1])
        total -= 0.5 * float(apart @ np.linalg.solve(inner, apart))
    return total


def test_errors_of_a_normal_distribution_are_from_the_second_derivatives() -> None:
    data, rows = normal_rows()
    fit = sf.fit(sf.MultivariateNormal(["x", "y", "z"]), data, missing="em", tol=1e-10)
    upper = np.triu_indices(3)

    def value(point: Floats) -> float:
        covariance = np.zeros((3, 3))
        covariance[upper] = point[3:]
        return normal_log_likelihood(rows, point[:3], covariance + np.triu(covariance, 1).T)

    found = fit.standard_errors(data)
    np.testing.assert_allclose(found.estimate, [*fit.model.mean, *fit.model.covariance[upper]])
    wanted = np.linalg.inv(-second_derivatives(value, found.estimate))
    np.testing.assert_allclose(found.covariance, wanted, rtol=1e-3, atol=1e-5)


def test_errors_of_regressions_are_from_the_second_derivatives() -> None:
    data, rows = normal_rows()
    fit = sf.fit(sf.DAG("x -> y; x -> z; y -> z"), data, missing="em", tol=1e-10)
    found = fit.standard_errors(data)

    def value(point: Floats) -> float:
        slopes = np.array([[0, 0, 0], [point[3], 0, 0], [point[6], point[7], 0]])
        inverse = np.linalg.inv(np.eye(3) - slopes)
        covariance = inverse @ np.diag(point[[1, 4, 8]]) @ inverse.T
        return normal_log_likelihood(rows, inverse @ point[[0, 2, 5]], covariance)

    assert value(found.estimate) == pytest.approx(fit.log_likelihood, rel=1e-10)
    wanted = np.linalg.inv(-second_derivatives(value, found.estimate))
    np.testing.assert_allclose(found.se, np.sqrt(np.diag(wanted)), rtol=1e-4)


def test_what_the_data_do_not_determine_has_no_error() -> None:
    data = gappy()
    dag = sf.DAG("H -> A; H -> B", latent={"H": 3})
    found = sf.fit(dag, data, missing="em", seed=1).standard_errors(data)
    assert np.isnan(found.se).all()
    assert any("the information is singular" in remark for remark in found.remarks)


def test_estimates_on_the_boundary_have_no_error_and_say_so() -> None:
    data = {"A": ["n"] * 6 + ["y"] * 5 + [None], "B": ["n"] * 6 + ["n", "y", "y", "y", None, "y"]}
    found = sf.fit(sf.DAG("A -> B"), data, missing="em").standard_errors(data)
    assert np.isnan(found.se).tolist() == [False, False, True, True, False, False]
    assert found.remarks == ("2 numbers without a standard error: zero or one, on the boundary",)
    assert "-" in str(found)


def test_given_rows_have_no_error() -> None:
    data = gappy()
    fit = sf.fit(sf.DAG("A -> B"), data, missing="em", fixed={"B": {"n": [0.5, 0.5]}})
    found = fit.standard_errors(data)
    assert np.isnan(found.se).tolist() == [False, False, True, True, False, False]
    assert "2 numbers without a standard error: given" in found.remarks


def test_pseudo_counts_narrow_errors() -> None:
    data = gappy()
    dag = sf.DAG("A -> B; B -> C")
    plain = sf.fit(dag, data, missing="em").standard_errors(data)
    found = sf.fit(dag, data, missing="em", prior=sf.BDeu(500)).standard_errors(data)
    assert (found.se < plain.se).all()
    assert "Laplace's approximation" in found.remarks[0]


def test_tied_tables_have_one_set_of_errors() -> None:
    data = gappy()
    dag = sf.DAG("A -> B; A -> C", tie=[("B", "C")])
    tied = sf.fit(dag, data, missing="em").standard_errors(data)
    alone = sf.fit(sf.DAG("A -> B; A -> C"), data, missing="em").standard_errors(data)
    assert tied.nodes == ("A", "A", "B", "B", "B", "B")
    assert (tied.se[2:] < alone.se[2:6]).all()


def test_a_frame_has_a_row_a_parameter() -> None:
    data = gappy()
    frame = sf.fit(sf.DAG("A -> B"), data, missing="em").standard_errors(data, level=0.9).to_frame("pandas")
    assert list(frame.columns) == ["node", "given", "parameter", "estimate", "se", "lower", "upper"]
    assert len(frame) == 6


def test_other_data_and_complete_fits_are_refused() -> None:
    data = gappy()
    fit = sf.fit(sf.DAG("A -> B"), data, missing="em")
    with pytest.raises(sf.ArgumentError, match="must be the data of the fit"):
        fit.standard_errors(gappy(seed=1))
    whole = {name: [value or "n" for value in values] for name, values in data.items()}
    with pytest.raises(sf.ArgumentError, match="those of fits to incomplete rows"):
        sf.fit(sf.DAG("A -> B"), whole).standard_errors(whole)


def test_too_many_parameters_are_refused_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.result.observed_errors.MAX_FREE", 2)
    data = gappy()
    fit = sf.fit(sf.DAG("A -> B"), data, missing="em")
    with pytest.raises(sf.ArgumentError, match=r"3 free parameters, and standard errors .* up to 2"):
        fit.standard_errors(data)


def test_regressions_under_discrete_parents_have_closed_forms_for_complete_rows() -> None:
    chance = np.random.default_rng(8)
    groups = ["u"] * 40 + ["v"] * 60
    x = chance.normal(3, 1, 100)
    data = {"A": groups, "x": x.tolist(), "y": (x + chance.normal(0, 1, 100)).tolist()}
    found = sf.fit(sf.DAG("A -> x; x -> y; A -> y"), data, missing="em").standard_errors(data)
    named = {key: line for line, key in enumerate(zip(found.nodes, found.given, found.parameters, strict=True))}
    for label, rows in (("u", slice(0, 40)), ("v", slice(40, 100))):
        n, above = rows.stop - rows.start, f"A={label!r}"
        design = np.column_stack([np.ones(n), x[rows]])
        y = np.array(data["y"][rows])
        squares = float(((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum())
        wanted = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * squares / n)
        assert found.se[named["y", above, "(intercept)"]] == pytest.approx(wanted[0], rel=1e-6)
        assert found.se[named["y", above, "x"]] == pytest.approx(wanted[1], rel=1e-6)
        assert found.se[named["x", above, "(intercept)"]] == pytest.approx(x[rows].std() / math.sqrt(n), rel=1e-6)


def test_a_variance_that_configurations_share_is_told_once() -> None:
    chance = np.random.default_rng(9)
    groups = ["u"] * 50 + ["v"] * 70
    x = np.where(np.array(groups) == "u", 1.0, 5.0) + chance.normal(0, 2, 120)
    dag = sf.DAG("A -> x", kinds={"x": {"tied": "variance"}})
    data = {"A": [None if chance.random() < 0.1 else group for group in groups], "x": x.tolist()}
    found = sf.fit(dag, data, missing="em").standard_errors(data)
    assert found.parameters[2:] == ("(intercept)", "(variance)", "(intercept)")
    assert found.given[3] == "all configurations"
    assert (found.se > 0).all()
