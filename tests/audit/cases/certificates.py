"""Wrong models that a certificate must refuse, and what it must say about existence."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.audit.cases import Case
from tests.audit.family import certify_as_claimed, fits_kept

import suffice as sf
from suffice.families.proof import certify
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD

N = 200


def claimed(fit: Callable[[], Any]) -> tuple[Any, Any]:
    """Run a fit, and return it with the claim that its certificate examined."""
    with fits_kept() as held:
        found = fit()
    return found, held[-1][0]


def judge(claim: Any, wrong: Any) -> tuple[bool, bool]:
    """Say whether the correct model is certified, and whether the wrong one is, with its own log-likelihood claimed."""
    return certify(claim).ok, certify_as_claimed(claim, wrong).ok


def network(model: Any, **changed: Any) -> sf.BayesianNetwork:
    """Return a network with some of its distributions replaced."""
    return sf.BayesianNetwork(model.dag, {name: changed.get(name, model.cpd(name)) for name in model.variables})


def table(model: Any, node: str, values: Any) -> sf.BayesianNetwork:
    """Return a network with another table at one node."""
    return network(model, **{node: TabularCPD(model.cpd(node).family, np.asarray(values, float))})


def regression(model: Any, node: str, **changed: Any) -> sf.BayesianNetwork:
    """Return a network with other parameters of one regression."""
    cpd = model.cpd(node)
    new = {name: changed.get(name, getattr(cpd, name)) for name in ("intercept", "coefficients", "variance")}
    return network(model, **{node: LinearGaussianCPD(cpd.family, **new)})


def rare_state(factor: float) -> Callable[[], Any]:
    def run() -> Any:
        fit, claim = claimed(lambda: sf.fit(sf.DAG("A"), {"A": ["x", "y", "z"]}, weights=[1e10, 9, 2e9]))
        values = fit.model.cpd("A").values * [1, factor, 1]
        return judge(claim, table(fit.model, "A", values / values.sum()))

    return run


def impossible_state() -> Any:
    fit, claim = claimed(lambda: sf.fit(sf.DAG("A"), {"A": ["x", "y"]}, weights=[1e9, 1]))
    return judge(claim, table(fit.model, "A", [[1.0, 0.0]]))


def rare_row_by_em() -> Any:
    data = {"A": ["a", "a", "b", "b", "a", None], "B": ["u", "v", "u", "v", None, "u"]}
    weights = [5e8, 4e8, 1, 8, 1e6, 1]
    fit, claim = claimed(lambda: sf.fit(sf.DAG("A -> B"), data, weights=weights, missing="em", seed=0))
    values = np.array(fit.model.cpd("B").values)
    values[1] = values[1][::-1]
    return judge(claim, table(fit.model, "B", values))


def incomplete() -> dict[str, Any]:
    draws = np.random.default_rng(0)
    data: dict[str, Any] = {"a": ["p" if u < 0.5 else "q" for u in draws.random(N)]}
    data |= {"x": draws.normal(size=N), "y": draws.normal(size=N)}
    data["a"][3] = None
    return data


def tied_nodes_by_em() -> Any:
    structure = sf.DAG(["a", "x", "y"], tie=[("x", "y")])
    fit, claim = claimed(lambda: sf.fit(structure, incomplete(), missing="em", seed=0))
    cpd = fit.model.cpd("y")
    return judge(claim, regression(fit.model, "y", intercept=cpd.intercept + 0.5, variance=cpd.variance * 3))


def fixed_by_em() -> tuple[Any, Any]:
    given = {"y": {"intercept": 0.0, "sd": 1.0}, "a": [0.5, 0.5]}
    structure = sf.DAG(["a", "x", "y"])
    return claimed(lambda: sf.fit(structure, incomplete(), missing="em", seed=0, fixed=given))


def fixed_regression_by_em() -> Any:
    fit, claim = fixed_by_em()
    return judge(claim, regression(fit.model, "y", intercept=[2.0], variance=[9.0]))


def fixed_table_by_em() -> Any:
    fit, claim = fixed_by_em()
    return judge(claim, table(fit.model, "a", [[0.9, 0.1]]))


def tied_variance_by_em() -> Any:
    draws = np.random.default_rng(1)
    x = np.concatenate([draws.normal(size=100), 3 + draws.normal(size=100)])
    data = {"A": ["p"] * 100 + ["q"] * 100, "x": [None, *x[1:]]}
    structure = sf.DAG("A -> x", kinds={"x": {"tied": "variance"}})
    fit, claim = claimed(lambda: sf.fit(structure, data, missing="em", seed=0))
    cpd = fit.model.cpd("x")
    squares = [((part - mean) ** 2).sum() for part, mean in zip((x[1:100], x[100:]), cpd.intercept, strict=True)]
    first = 1.5 * cpd.variance[0]
    return judge(claim, regression(fit.model, "x", variance=[first, squares[1] / (199 - squares[0] / first)]))


def distant_mean() -> Any:
    y = 1e6 + 0.01 * np.random.default_rng(0).normal(size=1000)
    prior = sf.NormalInverseGamma(2.0, 1e-4, mean=1e6)
    fit, claim = claimed(lambda: sf.fit(sf.DAG("y"), {"y": y}, prior=prior))
    cpd = fit.model.cpd("y")
    return judge(claim, regression(fit.model, "y", intercept=cpd.intercept + cpd.sd))


def rare_class() -> Any:
    inputs, classes = np.array([[0.0], [1.0]] * 3), list("aabbcc")
    weights = np.array([5e8, 4e8, 6e8, 5e8, 2, 3.0])
    _, claim = claimed(lambda: sf.SoftmaxRegression(tol=1e-8).fit(inputs, classes, sample_weight=weights))
    intercept = np.array(claim.model.intercept)
    intercept[2] += 0.7
    return judge(claim, dataclasses.replace(claim.model, intercept=intercept, information=None))


def units_of_a_graph() -> Any:
    draws = np.random.default_rng(0)
    graphs = [sf.Graph.grid(draws.normal(size=(2, 2)).tolist(), directed=False) for _ in range(6)]
    labels = [[["i", "p"][int(u)] for u in draws.random(4) < 0.5] for _ in graphs]
    _, claim = claimed(lambda: sf.GraphCRF(c2=0.5, tol=1e-8).fit(graphs, labels))
    model = claim.model
    weights = np.array(model.weights)
    weights[0] += 0.5
    changed = dataclasses.replace(model, weights=weights, information=None, units=np.array(model.units) * 1e9)
    return judge(claim, changed)


def quasi_separation() -> Any:
    rows = """0 1 0, 1 0 -2, -1 0 1, 1 1 0, 1 -1 0, 0 -1 -1, 0 1 -1, -1 -1 1, -1 -2 -1, 0 1 0, 1 1 2, -2 -1 -1, 1 0 0,
    0 -1 -1, 2 0 -1, -1 0 0, -1 1 1, 1 -2 -2, -1 1 -1, -2 1 -2"""
    inputs = np.array([[float(word) for word in row.split()] for row in rows.split(",")])
    classes = ["ab"[int(c)] for c in "10111000001010100000"]
    names = ["x0", "x1", "x2"]
    features = [sf.indicator(C="b"), *(sf.product(name, sf.indicator(C="b")) for name in names)]
    schema = {**dict.fromkeys(names, sf.continuous()), "C": ["a", "b"]}
    data = {**dict(zip(names, inputs.T, strict=True)), "C": classes}
    fit = sf.fit(sf.Features(features, given=names), data, schema=schema, max_iter=5000)
    return fit.certificate.exists, sf.SoftmaxRegression().fit(inputs, classes).fit_.certificate.exists


def nearly_collinear() -> Any:
    draws = np.random.default_rng([1, 4242])
    z = draws.normal(size=300)
    data = {"x": z, "z": z + 1e-6 * draws.normal(size=300), "y": z + draws.normal(size=300)}
    data["w"] = draws.normal(size=300)
    return sf.fit(sf.GaussianMarkov("x:z + z:y + y:w + w:x"), data).certificate.exists != "no"


REFUSED = (True, False)
"""The correct model is certified, the wrong one is not."""
CASES = (
    Case("certificate: probability of a rare state doubled", rare_state(2.0), REFUSED),
    Case("certificate: probability of a rare state times 0.1", rare_state(0.1), REFUSED),
    Case("certificate: probability zero of an observed state", impossible_state, REFUSED),
    Case("certificate of EM: rare row of a table reversed", rare_row_by_em, REFUSED),
    Case("certificate of EM: tied regression changed", tied_nodes_by_em, REFUSED),
    Case("certificate of EM: fixed regression changed", fixed_regression_by_em, REFUSED),
    Case("certificate of EM: fixed table changed", fixed_table_by_em, REFUSED),
    Case("certificate of EM: tied variance divided in two", tied_variance_by_em, REFUSED),
    Case("certificate: posterior mean far from zero", distant_mean, REFUSED),
    Case("certificate: intercept of a rare class", rare_class, REFUSED),
    Case("certificate: units of a graph CRF", units_of_a_graph, REFUSED),
    Case("existence: quasi-separation of conditional features", quasi_separation, ("no", "no")),
    Case("existence: nearly collinear normal variables", nearly_collinear, True),
)
