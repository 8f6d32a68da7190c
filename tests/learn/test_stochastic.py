"""Stochastic maximum likelihood: it finds the exact estimate within the Monte-Carlo error that it states."""

from __future__ import annotations

import itertools
import math
import signal
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import suffice as sf
from suffice.inference.clique_family import Layout
from suffice.inference.feature_family import cells_of
from suffice.inference.gibbs import Gibbs
from suffice.learn import stochastic
from suffice.learn.stochastic import _largest, _strides

Floats = NDArray[np.float64]
WORDS = ["abab", "abba", "aaab", "cabb", "bbca", "abca", "ccab", "acbb", "baba", "aabc", "abcc", "bcab"]
LETTERS = ["c1", "c2", "c3", "c4"]


def chain(n: int) -> list[tuple[str, str]]:
    return [(f"x{v}", f"x{v + 1}") for v in range(n - 1)]


def everybody(n: int) -> list[tuple[str, str]]:
    return list(itertools.combinations([f"x{v}" for v in range(n)], 2))


def noise(n: int, n_states: int, rows: int, seed: int) -> dict[str, Any]:
    """Return rows whose neighbours often agree."""
    draw = np.random.default_rng(seed)
    codes = draw.integers(0, n_states, (rows, n))
    for v in range(1, n):
        codes[:, v] = np.where(draw.random(rows) < 0.4, codes[:, v - 1], codes[:, v])
    return {f"x{v}": codes[:, v] for v in range(n)}


CASES: dict[str, tuple[Any, Any]] = {
    "a chain of spins": (sf.Ising(chain(6)), noise(6, 2, 2000, 1)),
    "all pairs of units": (sf.Boltzmann([f"x{v}" for v in range(5)]), noise(5, 2, 500, 2)),
    "three colours": (sf.Potts(chain(4), tie="couplings"), noise(4, 3, 1000, 3)),
    "windows with shared weights": (
        sf.Features([sf.windows(["a", "b", "ab", "bb", "aba"], over=LETTERS)]),
        {name: [word[place] for word in WORDS] for place, name in enumerate(LETTERS)},
    ),
    "one feature": (sf.Features([sf.indicator(x0=1)]), noise(1, 2, 50, 4)),
    "a real-valued feature": (sf.Features([sf.product("x0", "x1"), sf.product("x1")]), noise(2, 4, 300, 5)),
}


def stated_error(fit: sf.Fit) -> float:
    """Return the Monte-Carlo error that the notes tell, in units of a feature's range."""
    note = next(note.text for note in fit.notes if "Monte-Carlo error of the expectations" in note.text)
    return float(note.split("about ")[1].split(" ")[0])


def said(fit: sf.Fit) -> str:
    return " ".join(note.text for note in fit.notes)


def values(fit: sf.Fit) -> tuple[Floats, Floats]:
    """Return the features of every configuration by their rules, and the units of their errors."""
    schema, names = fit.model.schema, fit.structure.variables
    codes = np.array(list(itertools.product(*(range(schema[name].n_states) for name in names))))
    columns = {name: codes[:, place] for place, name in enumerate(names)}
    features = fit.structure.resolved(schema)
    ranges = [[float(np.ptp(term.at(columns))) for term in feature.terms] for feature in features]
    units = np.array([sum(each) / math.sqrt(len(each)) for each in ranges])
    return np.column_stack([feature.at(columns) for feature in features]), units


def gaps(fit: sf.Fit, exact: sf.Fit) -> Floats:
    """Return the distances of the true expectations of two fits, in the units of errors."""
    f, unit = values(fit)
    means = []
    for weights in (fit.model.weights.to_numpy(), exact.model.weights.to_numpy()):
        scores = f @ weights
        p = np.exp(scores - scores.max())
        means.append(p @ f / p.sum())
    return np.asarray(np.abs(means[0] - means[1]) / unit)


@cache
def fitted(name: str, seed: int = 1) -> tuple[sf.Fit, sf.Fit]:
    structure, data = CASES[name]
    return sf.fit(structure, data, method="stochastic", seed=seed), sf.fit(structure, data, method="newton")


# Against the exact estimate -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_expectations_are_exact_within_the_error_stated(name: str) -> None:
    fit, exact = fitted(name)
    assert fit.certificate.ok, fit.certificate.verdict
    assert stated_error(fit) <= 7.05e-4
    assert gaps(fit, exact).max() < 4.5 * stated_error(fit)
    assert -0.5 < fit.log_likelihood - exact.log_likelihood <= 1e-9
    assert fit.n_free == exact.n_free


def test_the_error_stated_is_neither_too_small_nor_too_large() -> None:
    """Few steps of few chains: errors are large, and the gaps to the exact estimate are as large as they say."""
    structure, data = CASES["all pairs of units"]
    exact = sf.fit(structure, data, method="newton")
    ratios = []
    for seed in range(12):
        fit = sf.fit(structure, data, method="stochastic", seed=seed, max_iter=140, options={"chains": 64})
        ratios.append(gaps(fit, exact).max() / stated_error(fit))
    assert max(ratios) < 4.5
    assert 0.7 < float(np.mean(ratios)) < 3  # the largest of 15 correlated gaps, the error being the largest of 15


def test_errors_fall_with_the_samples() -> None:
    structure, data = CASES["a chain of spins"]
    errors = [
        stated_error(sf.fit(structure, data, method="stochastic", seed=1, max_iter=n, options={"error": 1e-9}))
        for n in (60, 180)
    ]
    assert 1.4 < errors[0] / errors[1] < 3  # √(160 / 40) = 2


def test_rare_features_and_few_rows_do_not_drive_weights_away() -> None:
    """More weights than rows: the rows' covariance is singular, and steps along its null vectors must stay small."""
    draw = np.random.default_rng(0)
    data = {f"x{v}": (draw.random(40) < 0.3).astype(int) for v in range(9)}
    fit = sf.fit(sf.Ising(everybody(9)), data, method="stochastic", seed=1, prior=sf.Gaussian(1.0))
    exact = sf.fit(sf.Ising(everybody(9)), data, method="newton", prior=sf.Gaussian(1.0))
    assert len(fit.model.weights) == 45
    assert fit.certificate.ok, fit.certificate.verdict
    assert np.abs(fit.model.weights.to_numpy() - exact.model.weights.to_numpy()).max() < 0.05


def test_a_gaussian_prior_gives_the_posterior_mode() -> None:
    structure, data = CASES["all pairs of units"]
    prior = sf.Gaussian(0.1, main=1.0)
    fit = sf.fit(structure, data, method="stochastic", seed=1, prior=prior)
    exact = sf.fit(structure, data, method="newton", prior=prior)
    plain = sf.fit(structure, data, method="newton")
    assert fit.point == "map"
    assert fit.certificate.ok, fit.certificate.verdict
    assert gaps(fit, exact).max() < 4.5 * stated_error(fit)
    assert gaps(plain, exact).max() > 10 * stated_error(fit)


def test_rows_with_weights_count_as_often() -> None:
    structure, data = CASES["a chain of spins"]
    weights = np.random.default_rng(3).integers(0, 4, 2000)
    fit = sf.fit(structure, data, weights=weights, method="stochastic", seed=1)
    exact = sf.fit(structure, data, weights=weights, method="newton")
    assert gaps(fit, exact).max() < 4.5 * stated_error(fit)


def test_a_start_of_ones_own_is_left_behind() -> None:
    structure, data = CASES["all pairs of units"]
    _, exact = fitted("all pairs of units")
    far = dict.fromkeys(exact.model.weights, -1.0)
    fit = sf.fit(structure, data, method="stochastic", seed=1, init=far)
    assert fit.certificate.ok, fit.certificate.verdict
    assert gaps(fit, exact).max() < 4.5 * stated_error(fit)


# Randomness ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"batch": 50}, {"start": "data", "sweeps": 2}], ids=str)
def test_a_seed_gives_the_same_bits_whatever_the_threads(options: dict[str, Any]) -> None:
    structure, data = CASES["a chain of spins"]
    before, found = sf.config(), []
    try:
        for threads in (1, 2, 5):
            sf.config(threads=threads)
            fit = sf.fit(structure, data, method="stochastic", seed=7, max_iter=60, options=options)
            found.append((fit.model.weights.to_numpy().tobytes(), fit.certificate, fit.notes))
    finally:
        sf.config(threads=before.threads)
    assert found[0] == found[1] == found[2]
    other = sf.fit(structure, data, method="stochastic", seed=8, max_iter=60, options=options)
    assert other.model.weights.to_numpy().tobytes() != found[0][0]


def test_without_a_seed_every_fit_is_another() -> None:
    structure, data = CASES["one feature"]
    fits = [sf.fit(structure, data, method="stochastic", max_iter=40) for _ in range(2)]
    assert fits[0].model.weights["x0=1"] != fits[1].model.weights["x0=1"]


def test_minibatches_find_the_same_estimate_with_a_larger_error() -> None:
    structure, data = CASES["a chain of spins"]
    whole, exact = fitted("a chain of spins")
    fit = sf.fit(structure, data, method="stochastic", seed=1, options={"batch": 200, "error": 2e-3})
    assert "ended before" not in said(fit)
    assert stated_error(fit) > 2 * stated_error(whole)
    assert gaps(fit, exact).max() < 4.5 * stated_error(fit)


def test_contrastive_divergence_is_biased_and_its_certificate_tells() -> None:
    """One weight for couplings that differ: one sweep from the data does not reach what the model would do."""
    draw = np.random.default_rng(4)
    codes = draw.integers(0, 2, (3000, 6))
    for v, flipped in enumerate((0.02, 0.02, 0.02, 0.6), 1):
        codes[:, v] = codes[:, v - 1] ^ (draw.random(3000) < flipped)
    data = {f"x{v}": codes[:, v] for v in range(6)}
    structure = sf.Ising(everybody(6), tie="both")
    one, twenty, persistent = (
        sf.fit(structure, data, method="stochastic", seed=1, options={"error": 2e-3, **options})
        for options in ({"start": "data", "sweeps": 1}, {"start": "data", "sweeps": 20}, {})
    )
    assert "1 sweep of 1,024 chains started at the data" in said(one)
    assert not one.certificate.ok
    certificate: Any = one.certificate
    assert certificate.z > 3 * certificate.z_limit
    assert twenty.certificate.ok, twenty.certificate.verdict
    assert persistent.certificate.ok, persistent.certificate.verdict


# The boundary -------------------------------------------------------------------------------------------------


def test_features_that_never_occur_run_away_and_the_rest_is_found() -> None:
    data = {"x0": [0, 0, 1, 1, 0, 0, 1, 0], "x1": [0, 0, 0, 0, 0, 1, 0, 1], "x2": [0, 1, 1, 1, 0, 1, 0, 0]}
    structure = sf.Boltzmann(["x0", "x1", "x2"])
    fit = sf.fit(structure, data, method="stochastic", seed=1)
    exact = sf.fit(structure, data, method="newton")
    assert fit.model.weights["x0:x1"] == -math.inf
    assert fit.certificate.exists == "no"
    assert fit.certificate.ok, fit.certificate.verdict
    assert "x0:x1" in said(fit)
    both = [network.query(["x0", "x1"]).values for network in (fit.model, exact.model)]
    assert both[0][1, 1] == 0
    assert np.abs(both[0] - both[1]).max() < 4.5 * stated_error(fit)
    assert fit.log_likelihood == pytest.approx(exact.log_likelihood, abs=0.01)


# When to stop -------------------------------------------------------------------------------------------------


def test_few_steps_are_said_to_be_few() -> None:
    structure, data = CASES["a chain of spins"]
    some = sf.fit(structure, data, method="stochastic", seed=1, max_iter=50)
    assert "ended before the error asked for, 0.0007" in said(some)
    assert "50 steps" in said(some)
    few = sf.fit(structure, data, method="stochastic", seed=1, max_iter=5)
    assert "5 steps of 10 sweeps of 1,024 persistent chains: too few to average" in said(few)
    assert "inf" not in said(few)


class Interrupting:
    """Presses Ctrl-C after some stochastic steps."""

    def __init__(self, after: int) -> None:
        self.after, self.label = after, ""

    def begin(self, label: str, total: float | None, unit: str) -> None:
        self.label = label

    def update(self, done: float, info: str) -> None:
        if self.label == "stochastic steps" and done == self.after:
            signal.raise_signal(signal.SIGINT)

    def end(self) -> None:
        pass


@pytest.mark.parametrize("after", [3, 130])
def test_ctrl_c_returns_the_average_so_far_marked(after: int) -> None:
    structure, data = CASES["a chain of spins"]
    fit = sf.fit(structure, data, method="stochastic", seed=1, progress=Interrupting(after))
    stopped = sf.fit(structure, data, method="stochastic", seed=1, max_iter=after)
    assert not fit.certificate.ok
    assert "interrupted" in fit.certificate.verdict
    assert fit.model.weights.to_numpy().tobytes() == stopped.model.weights.to_numpy().tobytes()
    assert f"{after} steps" in said(fit)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"chains": 1}, "'chains' option must be a whole number, at least 2"),
        ({"sweeps": 0}, "'sweeps' option must be a whole number, at least 1"),
        ({"sweeps": 2.5}, "Got 2.5"),
        ({"batch": 0}, "'batch' option must be a whole number, at least 1"),
        ({"step": -1}, "'step' option must be a positive number. Got -1"),
        ({"delay": "soon"}, "'delay' option must be a number. Got 'soon'"),
        ({"error": math.inf}, "'error' option must be a positive number. Got inf"),
        ({"start": "random"}, "'persistent' or 'data'. Got 'random'"),
        ({"chain": 5}, "no option 'chain'"),
    ],
    ids=str,
)
def test_options_are_checked(options: dict[str, Any], says: str) -> None:
    structure, data = CASES["a chain of spins"]
    with pytest.raises(sf.ArgumentError, match=says.replace("(", r"\(")):
        sf.fit(structure, data, method="stochastic", options=options)


def test_what_it_cannot_do_is_refused_with_a_remedy() -> None:
    data = CASES["a chain of spins"][1]
    inputs = sf.Features([sf.indicator(x0=1, x1=1)], given=["x1"])
    with pytest.raises(sf.EstimationError, match=r"without inputs\. Use 'lbfgs'"):
        sf.fit(inputs, data, method="stochastic")
    with pytest.raises(sf.EstimationError, match=r"'pseudo_likelihood' or sf\.Gaussian"):
        sf.fit(sf.Ising(chain(6)), data, method="stochastic", prior=sf.Laplace(1.0))


# Wide graphs --------------------------------------------------------------------------------------------------


@cache
def lattice(side: int) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """Return the edges of a lattice of spins that closes on itself, and rows drawn from it: one coupling, one field."""
    spins = [[f"s{row}_{column}" for column in range(side)] for row in range(side)]
    edges = [(spins[r][c], spins[(r + 1) % side][c]) for r in range(side) for c in range(side)]
    edges += [(spins[r][c], spins[r][(c + 1) % side]) for r in range(side) for c in range(side)]
    names = sf.Ising(edges).variables
    place = {name: number for number, name in enumerate(names)}
    pairs = [(place[a], place[b]) for a, b in edges]
    field = [0.05 * np.array([-1.0, 1.0])] * len(names)
    theta = np.concatenate([*[0.15 * np.array([1.0, -1.0, -1.0, 1.0])] * len(pairs), *field])
    chains = Gibbs((2,) * len(names), [*pairs, *((v,) for v in range(len(names)))], theta)
    states = chains.start(1500, 3)
    chains.run(states, 200, 3)
    return edges, {name: states[:, v] for v, name in enumerate(names)}


def test_exact_methods_refuse_wide_graphs_and_name_the_others() -> None:
    units = [f"x{v}" for v in range(40)]
    data = {name: np.random.default_rng(v).integers(0, 2, 200) for v, name in enumerate(units)}
    for method in ("auto", "lbfgs", "newton", "gis"):
        with pytest.raises(sf.SufficeError, match="too wide") as caught:
            sf.fit(sf.Boltzmann(units), data, method=method)
        assert "method='pseudo_likelihood'" in str(caught.value)
        assert "method='stochastic'" in str(caught.value)


@pytest.mark.parametrize("side", [9, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["pseudo_likelihood", "stochastic"])
def test_wide_lattices_are_fitted_without_exact_expectations(method: str, side: int) -> None:
    edges, data = lattice(side)
    options = {"sweeps": 3, "error": 2e-3} if method == "stochastic" else None
    fit = sf.fit(sf.Ising(edges, tie="both"), data, method=method, seed=1, options=options)
    assert fit.certificate.ok, fit.certificate.verdict
    # 162 couplings × 1500 rows: standard errors are about 0.002.
    assert fit.model.weights["coupling"] == pytest.approx(0.15, abs=0.01)
    assert fit.model.weights["field"] == pytest.approx(0.05, abs=0.01)
    if method == "stochastic":
        assert "ended before" not in said(fit)
        assert math.isnan(fit.log_likelihood)


@pytest.mark.parametrize(
    ("side", "most"), [(10, 200), pytest.param(19, stochastic.MOST_METRIC, marks=pytest.mark.slow)]
)
def test_weights_too_many_for_a_covariance_still_get_there(
    side: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A weight for every field and edge: more than a covariance is made for, so that steps are scaled by a diagonal."""
    monkeypatch.setattr(stochastic, "MOST_METRIC", most)
    edges, data = lattice(side)
    fit = sf.fit(sf.Ising(edges), data, method="stochastic", seed=1, max_iter=250,
                 options={"sweeps": 5, "error": 2e-3}, prior=sf.Gaussian(0.5))  # fmt: skip
    assert len(fit.model.weights) == 3 * side**2 > most
    assert "ended before" not in said(fit)
    assert fit.certificate.gradient_norm < 0.02
    assert np.abs(fit.model.weights.to_numpy()).max() < 1


def test_auto_never_takes_it() -> None:
    assert fitted("all pairs of units")[0].method == "stochastic"
    structure, data = CASES["all pairs of units"]
    assert sf.fit(structure, data).method != "stochastic"
    assert sf.fit(structure, data, prior=sf.Gaussian(1.0)).method != "stochastic"


def test_memory_that_is_too_small_is_told_before_the_work() -> None:
    structure, data = CASES["a chain of spins"]
    before = sf.config()
    try:
        sf.config(memory="1MB")
        with pytest.raises(sf.ModelError, match="Use fewer chains"):
            sf.fit(structure, data, method="stochastic", options={"chains": 1_000_000})
    finally:
        sf.config(memory=before.memory)


# Parts --------------------------------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=40)
def test_cells_by_strides_are_those_of_the_tables(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    places = st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=3, unique=True)
    scopes = data.draw(st.lists(places, min_size=1, max_size=4))
    layout = Layout(tuple(sizes), tuple(map(tuple, scopes)))
    codes = np.array([[data.draw(st.integers(0, size - 1)) for size in sizes] for _ in range(3)])
    found = _strides(layout) @ codes.T + layout.starts[:-1, None]
    assert found.T.tolist() == cells_of(layout, list(codes.T)).tolist()


@given(st.integers(2, 8), st.integers(0, 1000))
@settings(max_examples=30)
def test_the_largest_eigenvalue_is_found_from_below(n: int, seed: int) -> None:
    from scipy.sparse import csr_array

    draw = np.random.default_rng(seed)
    values = draw.normal(size=(50, n)) @ draw.normal(size=(n, n))
    variance = values.var(axis=0)
    exact = float(np.linalg.eigvalsh(np.cov(values.T, ddof=0) / np.sqrt(np.outer(variance, variance)))[-1])
    assert 0.9 * exact <= _largest(csr_array(values), variance) <= exact * (1 + 1e-9)
