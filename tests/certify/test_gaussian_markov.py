"""The certificate of a Gaussian Markov random field: what it measures, and that it catches what is wrong."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.certify.claim import Claim
from suffice.certify.gaussian_markov import _separators
from suffice.data.table import open_table
from suffice.families.proof import certify
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment
from suffice.stats.source import BlockSource
from suffice.stats.statistics import Statistics

CHAIN, RING = sf.GaussianMarkov("A:B + B:C + D"), sf.GaussianMarkov("A:B + B:C + C:D + D:A")
NAMES = ("A", "B", "C", "D")


def table(seed: int = 0, n: int = 25) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 4)) + rng.normal(size=(n, 1)) + [0, 5, -100, 1e4]
    return dict(zip(NAMES, rows.T, strict=True))


def claim_of(fit: sf.Fit, **changes) -> Claim:
    claim = Claim(
        fit.structure, fit.model, fit.statistics, fit.log_likelihood, point=fit.point, prior=fit.prior,
        posterior=fit.posterior,
    )  # fmt: skip
    return dataclasses.replace(claim, **changes)


def with_precision(model: sf.JointNormal, a: int, b: int, factor: float = 1.0, added: float = 0.0) -> sf.JointNormal:
    precision = np.array(model.precision)
    precision[a, b] = precision[b, a] = precision[a, b] * factor + added
    return sf.JointNormal(model.names, model.mean, precision=precision)


FITS = {
    "closed form": lambda: sf.fit(CHAIN, table()),
    "newton": lambda: sf.fit(RING, table()),
    "ipf": lambda: sf.fit(RING, table(), method="ipf"),
    "mean": lambda: sf.fit(CHAIN, table(), prior=sf.HyperInverseWishart(4, 2.0, mean=1.0, mean_weight=0.5)),
    "map": lambda: sf.fit(CHAIN, table(), prior=sf.HyperInverseWishart(4, 2.0), point="map"),
}


@pytest.mark.parametrize("name", FITS)
def test_true_claims_are_certified(name: str) -> None:
    certificate = FITS[name]().certificate
    assert certificate.ok, certificate.verdict
    assert certificate.exists == "yes"
    assert (certificate.moment_gap is None) == (name in ("mean", "map"))


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 1), (1, 2), (3, 3)])
def test_a_changed_entry_is_found(name: str, a: int, b: int) -> None:
    fit = FITS[name]()
    found = certify(claim_of(fit, model=with_precision(fit.model, a, b, 1 + 1e-5)))
    assert not found.ok
    assert found.gradient_norm > 1e-8


@pytest.mark.parametrize("name", FITS)
def test_a_number_without_an_edge_is_found(name: str) -> None:
    fit = FITS[name]()
    found = certify(claim_of(fit, model=with_precision(fit.model, 0, 2, added=1e-9)))
    assert not found.ok
    assert found.gradient_norm == math.inf
    assert "A - C, which has no edge" in found.worst


@pytest.mark.parametrize("name", FITS)
def test_a_changed_mean_is_found(name: str) -> None:
    fit = FITS[name]()
    moved = sf.JointNormal(NAMES, fit.model.mean + np.array([0, 0, 1e-4, 0]), precision=fit.model.precision)
    found = certify(claim_of(fit, model=moved))
    assert not found.ok
    assert found.worst == "the mean of C"


@pytest.mark.parametrize("name", FITS)
def test_a_changed_likelihood_is_found(name: str) -> None:
    fit = FITS[name]()
    found = certify(claim_of(fit, log_likelihood=fit.log_likelihood * (1 + 1e-6)))
    assert not found.ok
    assert "log-likelihood" in found.verdict


def test_other_variables_are_found() -> None:
    fit = FITS["closed form"]()
    renamed = sf.JointNormal(("A", "B", "C", "E"), fit.model.mean, precision=fit.model.precision)
    found = certify(claim_of(fit, model=renamed))
    assert not found.ok
    assert "variables" in found.worst


def test_mean_and_mode_are_not_mistaken_for_each_other() -> None:
    mean, mode = FITS["mean"](), FITS["map"]()
    assert not certify(claim_of(mean, point="map")).ok
    assert not certify(claim_of(mode, point="mean")).ok
    assert not certify(claim_of(mode, point="mle", prior=None)).ok


def log_posterior(fit: sf.Fit, rows: np.ndarray, model: sf.JointNormal) -> float:
    """Return log p(rows | μ, K) + log p(μ, K), but for constants: row by row, the prior's density written out."""
    prior, precision = fit.prior, np.array(model.precision)
    log_det = np.linalg.slogdet(precision)[1]
    off = rows - np.array(model.mean)
    found = len(rows) / 2 * log_det - sum(row @ precision @ row for row in off) / 2
    p = len(precision)
    power = (prior.dof + p + 1) / 2 if isinstance(prior, sf.NormalInverseWishart) else (prior.dof - 2) / 2
    found += power * log_det - prior.scale * np.trace(precision) / 2
    if prior.mean is not None:
        off = np.array(model.mean) - prior.mean
        found += log_det / 2 - prior.mean_weight / 2 * off @ precision @ off
    return float(found)


COMPLETE, NORMAL = sf.GaussianMarkov("A:B + B:C + A:C"), sf.MultivariateNormal(["A", "B", "C"])


@pytest.mark.parametrize(
    ("structure", "prior"),
    [
        (COMPLETE, sf.HyperInverseWishart(6.0, 2.0)),
        (COMPLETE, sf.HyperInverseWishart(6.0, 2.0, mean=1.0, mean_weight=2.5)),
        (NORMAL, sf.NormalInverseWishart(1.0, 2.5, 6.0, 2.0)),
    ],
)
def test_the_decrement_is_what_the_posterior_density_loses(structure: Any, prior: Any) -> None:
    rows = np.random.default_rng(3).normal(size=(5, 3)) @ [[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]]
    fit = sf.fit(structure, dict(zip("ABC", rows.T, strict=True)), prior=prior, point="map")
    best = log_posterior(fit, rows, fit.model)
    shifted = sf.JointNormal(fit.model.names, fit.model.mean + 1e-3, precision=fit.model.precision)
    for moved in (shifted, with_precision(fit.model, 0, 0, 1.001), with_precision(fit.model, 0, 1, 1.001)):
        found = certify(claim_of(fit, model=moved)).decrement
        assert found == pytest.approx(best - log_posterior(fit, rows, moved), rel=0.01)


def test_existence_is_judged_without_the_model() -> None:
    fit = FITS["newton"]()
    bad = sf.JointNormal(NAMES, fit.model.mean, precision=np.eye(4))

    def exists(data: dict[str, np.ndarray]) -> str:
        return certify(claim_of(fit, model=bad, statistics=sf.collect(RING, data))).exists

    assert exists(table()) == "yes"
    assert exists({name: column[:3] for name, column in table().items()}) == "undecided"
    assert exists({**table(), "B": table()["A"]}) == "no"
    assert exists({**table(), "B": np.ones(25)}) == "no"


@given(seed=st.integers(0, 10**4))
def test_separators_of_a_chordal_graph_balance_the_cliques(seed: int) -> None:
    """Every variable is in one clique more than separators, and every edge too."""
    rng = np.random.default_rng(seed)
    cliques: list[list[int]] = [[0]]
    for node in range(1, 8):  # joining a new node to part of a clique keeps a graph chordal
        home = cliques[rng.integers(len(cliques))]
        near = [other for other in home if rng.random() < 0.6]
        if set(near) == set(home):
            home.append(node)
        else:
            cliques.append([*near, node])
    separators = _separators(cliques)
    for a in range(8):
        for b in range(a + 1):
            inside = sum({a, b} <= set(clique) for clique in cliques)
            assert inside - sum({a, b} <= set(separator) for separator in separators) == (inside > 0)


# A second count of the data -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, np.arange(25) % 3, np.linspace(0, 2, 25)])
def test_a_second_count_agrees(weights) -> None:
    fit = sf.fit(RING, table(), weights=weights, certify="data")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.data_gap < 1e-12


def test_a_second_count_agrees_in_a_stream(tmp_path) -> None:
    import pandas as pd

    pd.DataFrame(table(n=300)).to_csv(tmp_path / "t.csv", index=False)
    fit = sf.fit(RING, tmp_path / "t.csv", certify="data")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.data_gap < 1e-12


def test_large_offsets_pass_the_second_count() -> None:
    data = {name: column + 1e8 for name, column in table(n=1000).items()}
    fit = sf.fit(CHAIN, data, certify="data")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.data_gap < 1e-10


def tampered(statistics: Statistics, need: Moment, name: str, where: tuple[int, ...], factor: float) -> Statistics:
    arrays = {key: np.array(array) for key, array in statistics[need].to_arrays().items()}
    arrays[name][where] *= factor
    if name == "scatter":
        arrays[name][where[::-1]] = arrays[name][where]
    moments: Moments = statistics[need]
    return dataclasses.replace(statistics, items_={need: Moments(moments.variables, moments.by, **arrays)})


@pytest.mark.parametrize(
    ("name", "where", "column"),
    [("scatter", (2, 2), "'C'"), ("scatter", (1, 3), "'D'"), ("mean", (1,), "'B'"), ("weight", (), "A × B × C × D")],
)
def test_a_second_count_finds_what_is_wrong(name: str, where: tuple[int, ...], column: str) -> None:
    need = Moment(NAMES)
    statistics = tampered(sf.collect(CHAIN, table()), need, name, where, 1 + 1e-6)
    fit = sf.estimate(CHAIN, statistics, data=table(), certify="data")
    assert not fit.certificate.ok
    assert fit.certificate.data_gap > 1e-9
    assert column in fit.certificate.verdict


def test_a_second_count_covers_configurations() -> None:
    from suffice.certify.recount import recount_gap

    rng = np.random.default_rng(2)
    data = {"x": rng.normal(size=50) + 1e6, "y": rng.random(50), "G": rng.choice(["u", "v", "w"], 50)}
    source = BlockSource(open_table(data, ("x", "y", "G")), block_rows=7)
    need = Moment(("x", "y"), ("G",))
    statistics = source.gather([need])
    assert recount_gap(source, statistics)[0] < 1e-12
    arrays = {key: np.array(array) for key, array in statistics[need].to_arrays().items()}
    arrays["scatter"][1, 1, 1] *= 1.001
    wrong = Moments(statistics[need].variables, statistics[need].by, **arrays)
    gap, where = recount_gap(source, dataclasses.replace(statistics, items_={need: wrong}))
    assert gap == pytest.approx(0.001, rel=0.01)
    assert where == "the moments of 'y'"


@pytest.mark.parametrize(("name", "where"), [("scatter", (0, 1)), ("scatter", (1, 1)), ("mean", (0,)), ("weight", ())])
def test_moments_that_are_not_numbers_fail_the_second_count(name: str, where: tuple[int, ...]) -> None:
    from suffice.certify.recount import recount_gap

    data = {"x": [0.5, 1.0, 4.0], "y": [1.0, 0.0, 2.0]}
    source, need = BlockSource(open_table(data, ("x", "y"))), Moment(("x", "y"))
    gap, said = recount_gap(source, tampered(source.gather([need]), need, name, where, np.nan))
    assert gap == np.inf
    assert said.startswith("the moments of ")


def test_a_constant_column_passes_the_second_count() -> None:
    from suffice.certify.recount import recount_gap

    source = BlockSource(open_table({"x": [0.1] * 30, "y": [0.0] * 30}, ("x", "y")))
    assert recount_gap(source, source.gather([Moment(("x", "y"))]))[0] < 1e-12
