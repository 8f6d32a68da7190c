"""Slow test: a Boltzmann machine on the 16 variables of nltcs, against sums over all 65,536 configurations."""

from __future__ import annotations

import lzma
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import suffice as sf
from suffice.learn.method import Problem
from suffice.learn.pseudo_likelihood import PseudoSetting

pytestmark = [pytest.mark.slow, pytest.mark.data]

Floats = NDArray[np.float64]
NAMES = tuple(f"x{v}" for v in range(16))
PAIRS = np.triu_indices(16, 1)
STRUCTURE, SCHEMA = sf.Boltzmann(NAMES), {name: [0, 1] for name in NAMES}
ROWS, REPLICATES, SHARES = 16_181, 200, 4


@cache
def configurations() -> Floats:
    """Return the features of all configurations: the units, then their products; shape (65536, 136)."""
    units = ((np.arange(1 << 16)[:, None] >> np.arange(16)) & 1).astype(np.float64)
    return np.hstack([units, units[:, PAIRS[0]] * units[:, PAIRS[1]]])


@cache
def brute_force(path: Path) -> Floats:
    """Return the weights at which all 136 expectations are the data's, by damped Newton steps on the whole table."""
    f, wanted = configurations(), features_of(read(path)).mean(axis=0)
    w = np.zeros(f.shape[1])
    for _ in range(100):
        p = joint(w)
        slope = p @ f - wanted
        if np.abs(slope).max() < 1e-13:
            return w
        hessian = f.T @ (p[:, None] * f) - np.outer(p @ f, p @ f)
        step = np.linalg.solve(hessian, slope)
        w = w - step / max(1.0, float(np.sqrt(step @ slope)))
    raise AssertionError("Newton's steps have not converged")


def joint(weights: Floats) -> Floats:
    scores = configurations() @ weights
    p = np.exp(scores - scores.max())
    return np.asarray(p / p.sum())


def features_of(rows: NDArray[Any]) -> Floats:
    units = rows.astype(np.float64)
    return np.hstack([units, units[:, PAIRS[0]] * units[:, PAIRS[1]]])


def in_order(model: Any) -> Floats:
    """Return the weights of a model as those of `configurations`."""
    couplings = [model.weights[f"x{a}:x{b}"] for a, b in zip(*PAIRS, strict=True)]
    return np.array([*(model.weights[name] for name in NAMES), *couplings])


def read(path: Path) -> NDArray[np.uint8]:
    lines = lzma.decompress(path.read_bytes()).split()
    return np.frombuffer(b"".join(lines), np.uint8).reshape(len(lines), -1) - ord("0")


def table(rows: NDArray[Any]) -> dict[str, Any]:
    return {name: rows[:, v] for v, name in enumerate(NAMES)}


@pytest.fixture
def path(data_folder: Path) -> Path:
    return data_folder / "debd" / "nltcs.train.txt.xz"


def test_the_data_are_those_of_the_literature(path: Path) -> None:
    rows = read(path)
    assert rows.shape == (ROWS, 16)
    assert set(np.unique(rows).tolist()) == {0, 1}


@pytest.mark.parametrize("method", ["lbfgs", "newton"])
def test_exact_fits_find_the_weights_of_brute_force(path: Path, method: str) -> None:
    rows = read(path)
    fit = sf.fit(STRUCTURE, table(rows), method=method)
    assert fit.certificate.ok
    assert fit.certificate.exists == "yes"
    assert fit.certificate.moment_gap is not None
    assert fit.certificate.moment_gap < 1e-8
    weights, best = in_order(fit.model), brute_force(path)
    p = joint(weights)
    assert np.abs(p @ configurations() - features_of(rows).mean(axis=0)).max() < 1e-8
    # Weights of rare pairs are known less well than expectations: 1e-8 divided by a variance of 1e-3 or so.
    assert np.abs(weights - best).max() < 1e-4
    assert np.abs(p - joint(best)).max() < 1e-8
    for a, b in ((0, 1), (3, 12), (14, 15)):
        both = float(fit.model.query([f"x{a}", f"x{b}"]).values[1, 1])
        assert both == pytest.approx(float((rows[:, a] & rows[:, b]).mean()), abs=1e-8)
    scores = configurations() @ best
    log_z = float(np.logaddexp.reduce(scores))
    assert fit.log_likelihood == pytest.approx(float((features_of(rows) @ best).sum()) - ROWS * log_z, rel=1e-10)


# Pseudo-likelihood --------------------------------------------------------------------------------------------


def intervals(share: int, truth: Floats) -> tuple[Floats, Floats]:
    """Return estimates and standard errors of some of the replicates; shape (replicates, 136)."""
    sf.config(threads=1)
    p, f = joint(truth), configurations()
    found = []
    for replicate in range(share, REPLICATES, SHARES):
        rows = f[np.random.default_rng([2026, replicate]).choice(len(p), ROWS, p=p), :16].astype(np.uint8)
        table_of_weights = sf.fit(STRUCTURE, table(rows), method="pseudo_likelihood", schema=SCHEMA).weights()
        place = {name: number for number, name in enumerate(table_of_weights.names)}
        order = [*(place[name] for name in NAMES), *(place[f"x{a}:x{b}"] for a, b in zip(*PAIRS, strict=True))]
        found.append((table_of_weights.estimate[order], np.sqrt(table_of_weights.covariance.diagonal())[order]))
    return np.array([e for e, _ in found]), np.array([s for _, s in found])


def test_sandwich_intervals_hold_the_true_weights_in_95_percent_of_samples(path: Path) -> None:
    truth = brute_force(path)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        parts = list(pool.map(intervals, range(SHARES), [truth] * SHARES))
    estimates, errors = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    assert estimates.shape == (REPLICATES, 136)
    z = (estimates - truth) / errors
    covered = (np.abs(z) < 1.959964).mean(axis=0)
    print(f"coverage {covered.mean():.4f}, from {covered.min():.3f} to {covered.max():.3f}")
    assert 0.93 <= covered.mean() <= 0.97
    # Of a single weight, 200 replicates tell its coverage within 0.0154: four such errors either way.
    assert covered.min() > 0.95 - 4 * 0.0154 - 0.01
    assert abs(z.std() - 1) < 0.03


def test_errors_without_the_sandwich_would_not_do(path: Path) -> None:
    """A test of the test above: H⁻¹ takes the conditional likelihoods of a row to be independent."""
    rows = read(path)
    fit = sf.fit(STRUCTURE, table(rows), method="pseudo_likelihood")
    family: Any = PseudoSetting.of(Problem(fit.structure, fit.statistics)).family
    weights = np.array(fit.model.weights.to_numpy())
    naive = np.sqrt(np.linalg.inv(family.sensitivity(weights)).diagonal())
    honest = np.sqrt(family.sandwich(weights).diagonal())
    assert np.allclose(honest, np.sqrt(fit.weights().covariance.diagonal()), rtol=1e-6)
    assert np.median(honest / naive) > 1.2


# Persistent chains --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_persistent_chains_match_every_moment(path: Path, seed: int) -> None:
    rows = read(path)
    wanted = features_of(rows).mean(axis=0)
    fit = sf.fit(STRUCTURE, table(rows), method="stochastic", seed=seed)
    certificate: Any = fit.certificate
    assert certificate.ok, certificate.verdict
    assert certificate.monte_carlo_error < 0.002
    assert certificate.z < 4.5
    # The expectations themselves, of which the certificate knew estimates only.
    expected = joint(in_order(fit.model)) @ configurations()
    error = next(float(note.text.split("about ")[1].split(" ")[0]) for note in fit.notes if "Monte-Carlo" in note.text)
    assert error < 0.002
    assert np.abs(expected - wanted).max() < 4.5 * error
    # The likelihood that 136 weights win by fitting their own noise is 68: far less than that is lost.
    exact = sf.fit(STRUCTURE, table(rows), method="newton")
    assert 0 <= exact.log_likelihood - fit.log_likelihood < 68 / 4
    assert np.abs((in_order(fit.model) - in_order(exact.model)) / exact_errors(path)).max() < 1


@cache
def exact_errors(path: Path) -> Floats:
    """Return the standard errors of maximum likelihood, from the whole table."""
    f, p = configurations(), joint(brute_force(path))
    hessian = f.T @ (p[:, None] * f) - np.outer(p @ f, p @ f)
    return np.asarray(np.sqrt(np.linalg.inv(hessian).diagonal() / ROWS))
