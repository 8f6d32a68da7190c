"""The proof of undirected models that were learnt from rows with gaps: right ones pass, damaged ones do not."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.certify.claim import Claim
from suffice.certify.observed_undirected import measured_cliques
from suffice.families.proof import certify
from suffice.opening import open_source
from suffice.progress import Watch

CYCLE = sf.Cliques("a:b + b:c + c:d + a:d")
ISING = sf.Ising("a:b + b:c + a:c")
NAMES = "abcd"


def data(n: int = 80, share: float = 0.2, names: Any = NAMES) -> dict[str, list[str | None]]:
    chance = np.random.default_rng(0)
    rows: dict[str, list[str | None]] = {name: [] for name in names}
    for _ in range(n):
        value = int(chance.random() < 0.5)
        for name in names:
            value = value if chance.random() < 0.4 else int(chance.random() < 0.5)
            rows[name].append(None if chance.random() < share else "nv"[value])
    return rows


def claim_of(fit: sf.Fit, rows: Any) -> Claim:
    structure = fit.structure
    statistics = sf.collect(structure, rows, missing="em")
    source = open_source(structure, rows, Watch(), missing="em")
    return Claim(
        structure=structure, model=fit.model, statistics=statistics, log_likelihood=fit.log_likelihood,
        point=fit.point, prior=fit.prior, source=source.settled(statistics.schema), incomplete=True, method="em",
        trace=fit.trace, starts=fit.starts,
    )  # fmt: skip


def moved_factor(model: Any) -> sf.MarkovNetwork:
    first, *others = model.factors
    values = np.array(first.values)
    values.reshape(-1)[0] *= 1.001
    return sf.MarkovNetwork([(first.names, values), *others], schema=model.schema)


def moved_weights(fit: sf.Fit) -> sf.LogLinear:
    weights = np.array(fit.model.weights.to_numpy())
    weights[0] += 1e-4
    return sf.LogLinear(fit.structure, weights, schema=fit.model.schema)


PRIORS = [None, sf.Gaussian(0.7), sf.Laplace(0.3), sf.BDeu(5)]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_cliques_are_proven_and_damage_is_found(prior: Any) -> None:
    rows = data()
    fit = sf.fit(CYCLE, rows, missing="em", prior=prior)
    claim = claim_of(fit, rows)
    assert certify(claim).ok
    damaged = certify(replace(claim, model=moved_factor(fit.model)))
    assert not damaged.ok
    assert damaged.gradient_norm > 1e-6
    assert "the margin of" in damaged.worst
    assert not certify(replace(claim, log_likelihood=fit.log_likelihood + 0.01)).ok


@pytest.mark.parametrize("prior", PRIORS[:3], ids=str)
def test_weights_are_proven_and_damage_is_found(prior: Any) -> None:
    rows = data()
    fit = sf.fit(ISING, rows, missing="em", prior=prior)
    claim = claim_of(fit, rows)
    assert certify(claim).ok
    damaged = certify(replace(claim, model=moved_weights(fit)))
    assert not damaged.ok
    assert "the feature" in damaged.worst


def test_a_prior_that_was_not_used_is_found() -> None:
    rows = data()
    for structure in (CYCLE, ISING):
        claim = claim_of(sf.fit(structure, rows, missing="em"), rows)
        assert not certify(replace(claim, prior=sf.Gaussian(1.0), point="map")).ok


def test_a_fit_of_complete_cases_is_no_maximum_of_the_observed_likelihood() -> None:
    rows = data()
    for structure in (CYCLE, ISING):
        right = sf.fit(structure, rows, missing="em")
        wrong = sf.fit(structure, rows, missing="drop")
        assert not certify(replace(claim_of(right, rows), model=wrong.model)).ok


def test_impossible_rows_and_zeros_that_should_not_be_are_named() -> None:
    rows = {"a": ["n", "v", None, "n"], "b": ["n", None, "v", "n"]}
    fit = sf.fit(sf.Cliques("a:b"), rows, missing="em")
    claim = claim_of(fit, rows)
    none = sf.MarkovNetwork([(("a", "b"), [[0.0, 0.5], [0.25, 0.25]])], schema=fit.model.schema)
    found = measured_cliques(replace(claim, model=none))
    assert found.residual == math.inf
    assert "2 rows that the potentials rule out" in found.worst
    # EM would stay where v, n is ruled out, though every gap of a margin is small beside what it keeps away.
    stuck = sf.MarkovNetwork([(("a", "b"), [[2 / 3, 1 / 6], [0.0, 1 / 6]])], schema=fit.model.schema)
    assert "the likelihood rises with it" in measured_cliques(replace(claim, model=stuck)).worst


def test_a_support_that_the_rows_do_not_ask_for_is_refused() -> None:
    rows = data(names="abc")
    structure = sf.Cliques("a:b + b:c + a:c")
    fit = sf.fit(structure, rows, missing="em")
    support = np.ones((2, 2, 2))
    support[0, 0, 0] = 0
    factors = [*fit.model.factors, (("a", "b", "c"), support)]
    cheat = sf.MarkovNetwork(factors, schema=fit.model.schema, properties={"base": 1})
    assert measured_cliques(replace(claim_of(fit, rows), model=cheat)).residual == math.inf


def test_wide_tables_go_along_a_tree() -> None:
    names = [f"x{i}" for i in range(18)]
    edges = [(names[i], names[j]) for i in range(18) for j in (i - 1, i - 3) if j >= 0]
    rows = data(300, 0.1, names)
    for structure in (sf.Cliques(edges), sf.Ising(edges)):
        fit = sf.fit(structure, rows, missing="em")
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.certificate.log_likelihood_gap < 1e-10
