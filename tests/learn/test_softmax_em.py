"""EM with softmax nodes that rows lack together with all that depends on them: such rows tell of the rest alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.certify import observed_mixed
from suffice.certify.claim import Claim
from suffice.families.proof import certify
from suffice.opening import open_source
from suffice.progress import Watch

RNG = np.random.default_rng(5)
N = 80
A = RNG.choice(["a", "b"], N)
X = (RNG.normal(size=N) + (A == "b")).round(3)
S = np.where(X + RNG.normal(size=N) > 0.5, "hi", "lo")
WHOLE: dict[str, Any] = {
    "A": A,
    "x": X,
    "s": S,
    "t": np.where(RNG.random(N) < 0.2, "p", np.where(S == "hi", "q", "r")),
    "z": (RNG.normal(size=N) + 2 * (S == "hi")).round(3),
}
LEAF = sf.DAG("A -> x; x -> s")
BELOW = sf.DAG("A -> x; x -> s; s -> t; s -> z")


def with_gaps(*patterns: tuple[str, ...]) -> dict[str, list[Any]]:
    """Remove the columns of one pattern after the other from every third row."""
    rows = {name: [value.item() for value in column] for name, column in WHOLE.items()}
    for place, row in enumerate(range(0, N, 3)):
        for name in patterns[place % len(patterns)]:
            rows[name][row] = None
    return rows


def kept(data: dict[str, list[Any]], *names: str) -> dict[str, list[Any]]:
    """Return the rows that have some columns, and these alone."""
    rows = [row for row in range(N) if all(data[name][row] is not None for name in names)]
    return {name: [data[name][row] for row in rows] for name in names}


def test_a_leaf_that_rows_lack_is_learnt_from_the_others() -> None:
    data = with_gaps(("s",))
    fit = sf.fit(LEAF, data, missing="em")
    assert fit.certificate.ok, fit.certificate.verdict
    above = sf.fit(sf.DAG("A -> x"), data)
    alone = sf.fit(sf.DAG("x -> s"), kept(data, "x", "s"))
    assert fit.log_likelihood == pytest.approx(above.log_likelihood + alone.local["s"])
    assert fit.certificate.log_likelihood == pytest.approx(fit.log_likelihood)
    np.testing.assert_allclose(fit.model.cpd("s").coefficients, alone.model.cpd("s").coefficients, atol=1e-6)
    np.testing.assert_allclose(fit.model.cpd("x").intercept, above.model.cpd("x").intercept)


def test_all_below_it_may_be_missing_with_it() -> None:
    data = with_gaps(("s", "t", "z"), ("s", "t", "z", "A"), ("t",))
    fit = sf.fit(BELOW, data, missing="em")
    assert fit.certificate.ok, fit.certificate.verdict
    rest = sf.fit(sf.DAG("A -> x"), data, missing="em")
    below = sum(
        sf.fit(sf.DAG({child: [parent], parent: []}), kept(data, parent, child)).local[child]
        for parent, child in (("x", "s"), ("s", "t"), ("s", "z"))
    )
    assert fit.log_likelihood == pytest.approx(rest.log_likelihood + below)


def test_its_parents_may_be_missing_with_it() -> None:
    data = with_gaps(("x", "s"), ("A", "x", "s"), ("s",))
    fit = sf.fit(LEAF, data, missing="em")
    assert fit.certificate.ok, fit.certificate.verdict
    rest = sf.fit(sf.DAG("A -> x"), data, missing="em")
    alone = sf.fit(sf.DAG("x -> s"), kept(data, "x", "s"))
    assert fit.log_likelihood == pytest.approx(rest.log_likelihood + alone.local["s"])


def test_many_configurations_are_certified_by_inference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed_mixed, "MOST", 1)
    fit = sf.fit(BELOW, with_gaps(("s", "t", "z", "A"), ("A",)), missing="em")
    assert fit.certificate.ok, fit.certificate.verdict


def test_a_wrong_softmax_is_not_certified() -> None:
    data = with_gaps(("s",))
    fit = sf.fit(LEAF, data, missing="em")
    cpds = {node: fit.model.cpd(node) for node in LEAF.nodes}
    cpds["s"] = replace(cpds["s"], intercept=cpds["s"].intercept + np.array([0.0, 0.3]))
    model = sf.BayesianNetwork(LEAF, cpds)
    source = open_source(LEAF, data, Watch(), missing="em").settled(fit.statistics.schema)
    statistics = sf.collect(LEAF, data, missing="em")
    for wrong in (False, True):
        log_likelihood = math.fsum((model if wrong else fit.model).log_prob(data, missing="marginalise"))
        claim = Claim(
            LEAF, model if wrong else fit.model, statistics, log_likelihood, source=source, incomplete=True, method="em"
        )
        assert certify(claim).ok is not wrong


@pytest.mark.parametrize("pattern", [("x",), ("s",)])
def test_what_has_no_finite_statistics_is_refused_still(pattern: tuple[str, ...]) -> None:
    dag = LEAF if pattern == ("x",) else BELOW
    with pytest.raises(sf.EstimationError, match="'s' is a softmax of continuous parents"):
        sf.fit(dag, with_gaps(pattern), missing="em")
