"""Models that sample by Gibbs chains: frames, evidence, settings, and models too wide to be exact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats

import suffice as sf
from suffice.models import sampling
from suffice.settings import settings

YES_NO = ["yes", "no"]


@pytest.fixture(autouse=True)
def _same_settings() -> Iterator[None]:
    before = settings()
    yield
    sf.config(threads=before.threads, memory=before.memory)


@pytest.fixture
def network() -> sf.BayesianNetwork:
    tables = {
        "rain": [0.2, 0.8],
        "sprinkler": [0.1, 0.9],
        "wet": [[[0.99, 0.01], [0.9, 0.1]], [[0.8, 0.2], [0.05, 0.95]]],
        "floor": [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]],
    }
    schema = {"rain": YES_NO, "sprinkler": YES_NO, "wet": YES_NO, "floor": ["soaked", "damp", "dry"]}
    return sf.BayesianNetwork(sf.DAG("rain -> wet <- sprinkler; wet -> floor"), tables, schema=schema)


def grid(side: int, table: Any = ((2.0, 1.0), (1.0, 2.0))) -> sf.MarkovNetwork:
    names = [[f"x{r}_{c}" for c in range(side)] for r in range(side)]
    pairs = [(names[r][c], names[r][c + 1]) for r in range(side) for c in range(side - 1)]
    pairs += [(names[r][c], names[r + 1][c]) for r in range(side - 1) for c in range(side)]
    return sf.MarkovNetwork([(pair, table) for pair in pairs], schema={name: YES_NO for row in names for name in row})


EVIDENCE = [
    None,
    {"floor": "dry"},
    {"floor": ["dry", "damp"]},
    {"floor": {"soaked": 0.9, "dry": 0.2}},
    {"wet": "yes", "sprinkler": "no", "floor": ["damp"]},
]


@pytest.mark.parametrize("given", EVIDENCE, ids=str)
@pytest.mark.parametrize("undirected", [False, True])
def test_rows_follow_the_exact_distribution(network: sf.BayesianNetwork, given: Any, undirected: bool) -> None:
    """8192 chains of one row each: independent rows, hence a plain χ² test; ten of them, each at 1e-4."""
    model = network.to_markov_network() if undirected else network
    rows = model.sample(8192, method="gibbs", given=given, seed=3, chains=8192, burn_in=60, thin=1)
    asked = [name for name in model.variables if not given or isinstance(given.get(name, []), list | dict)]
    expected = model.query(asked, given).values
    assert list(rows.columns) == list(model.variables)
    counts = np.zeros(expected.shape)
    np.add.at(counts, tuple(rows[name].cat.codes.to_numpy() for name in asked), 1)
    possible = expected > 0
    assert counts[~possible].sum() == 0
    assert stats.chisquare(counts[possible], 8192 * expected[possible]).pvalue > 1e-4
    for name, seen in (given or {}).items():
        if isinstance(seen, str):
            assert set(rows[name]) == {seen}


def test_a_seed_gives_the_same_rows_whatever_the_threads() -> None:
    model = grid(5)
    frames = []
    for threads in (1, 2):
        sf.config(threads=threads)
        frames.append(model.sample(300, method="gibbs", seed=9, chains=150, burn_in=5))
    assert frames[0].equals(frames[1])
    assert not frames[0].equals(model.sample(300, method="gibbs", seed=10, chains=150, burn_in=5))
    assert not model.sample(300, method="gibbs").equals(model.sample(300, method="gibbs"))


@pytest.mark.parametrize("chains", [1, 3, 64, 100])
def test_blocks_change_nothing(chains: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = grid(3)
    whole = model.sample(70, method="gibbs", seed=9, chains=chains, burn_in=5)
    monkeypatch.setattr(sampling, "BLOCK_CODES", 9 * 10)
    blocks = list(model.sample_blocks(70, method="gibbs", seed=9, chains=chains, burn_in=5))
    assert [block.start for block in blocks] == list(np.cumsum([0, *(block.n_rows for block in blocks)])[:-1])
    assert sum(block.n_rows for block in blocks) == len(whole) == 70
    assert len(blocks) > 1 or chains == 100
    for name in model.variables:
        codes = np.concatenate([block.columns[name] for block in blocks])
        assert (codes == whole[name].cat.codes.to_numpy()).all()


def test_thinning_skips_sweeps_and_burning_in_moves_on() -> None:
    model = grid(3)
    every = model.sample(40, method="gibbs", seed=2, chains=4, burn_in=0, thin=1)
    second = model.sample(20, method="gibbs", seed=2, chains=4, burn_in=0, thin=2)
    later = model.sample(20, method="gibbs", seed=2, chains=4, burn_in=5, thin=1)
    turns = [every.iloc[4 * sweep : 4 * sweep + 4] for sweep in range(10)]
    assert second.to_numpy().tolist() == np.concatenate(turns[1::2]).tolist()
    assert later.to_numpy().tolist() == np.concatenate(turns[5:]).tolist()


def test_the_usual_settings() -> None:
    model = grid(2)
    usual = model.sample(200, method="gibbs", seed=2)
    assert usual.equals(model.sample(200, method="gibbs", seed=2, chains=64, burn_in=1000, thin=10))
    few = model.sample(5, method="gibbs", seed=2)
    assert few.equals(model.sample(5, method="gibbs", seed=2, chains=5))
    nothing = model.sample(0, method="gibbs", seed=2)
    assert nothing.shape == (0, 4)
    assert nothing["x0_0"].cat.categories.tolist() == YES_NO


def test_exact_rows_are_as_before(network: sf.BayesianNetwork) -> None:
    assert network.sample(9, seed=1).equals(network.sample(9, seed=1, method="exact"))


def test_a_grid_that_is_too_wide_to_be_exact() -> None:
    sf.config(memory="100MB")
    model = grid(40)
    given = {f"x{r}_0": "yes" for r in range(40)}
    with pytest.raises(sf.ModelError, match="Exact inference would need"):
        model.sample(10, seed=1, given=given)
    rows = model.sample(256, method="gibbs", seed=1, given=given, burn_in=200)
    share = (rows == "yes").mean().to_numpy().reshape(40, 40)
    assert (share[:, 0] == 1).all()
    assert share[:, 1].mean() > 0.6
    assert abs(share[:, 20:].mean() - 0.5) < 0.1


def test_zeros_are_never_drawn() -> None:
    model = grid(4, ((0.0, 1.0), (1.0, 1.0)))
    rows = (model.sample(2000, method="gibbs", seed=1) == "yes").to_numpy().reshape(-1, 4, 4)
    assert not (rows[:, 1:] & rows[:, :-1]).any()
    assert not (rows[:, :, 1:] & rows[:, :, :-1]).any()
    assert rows.any()


def test_chains_that_zeros_would_divide_are_refused() -> None:
    model = sf.fit(sf.Ising("A:B"), {"A": [0, 0, 1, 1, 1], "B": [0, 0, 1, 1, 1]}).model
    with pytest.raises(sf.ModelError, match=r"'A', 'B' would have to change together.*method='exact'.*prior"):
        model.sample_blocks(4000, method="gibbs", seed=1)
    assert set(model.sample(50, method="gibbs", seed=1, given={"A": 1})["B"]) == {1}
    assert abs(model.sample(4000, seed=1)["A"].astype(int).mean() - 0.6) < 0.04


def test_zeros_with_a_way_round_leave_the_right_shares() -> None:
    """3 states in a row, neighbours at most one apart: a model of zeros that chains can go round."""
    near = [[3.0, 1.0, 0.0], [1.0, 1.0, 2.0], [0.0, 2.0, 5.0]]
    model = sf.MarkovNetwork([(("A", "B"), near), (("B", "C"), near)], schema={name: [0, 1, 2] for name in "ABC"})
    rows = model.sample(8192, method="gibbs", seed=1, chains=8192, burn_in=100, thin=1)
    expected = model.query(["A", "B", "C"]).values
    counts = np.zeros(expected.shape)
    np.add.at(counts, tuple(rows[name].cat.codes.to_numpy() for name in "ABC"), 1)
    possible = expected > 0
    assert counts[~possible].sum() == 0
    assert stats.chisquare(counts[possible], 8192 * expected[possible]).pvalue > 1e-4


def test_a_mixture_of_hypotheses() -> None:
    space = sf.Hypotheses({"even": [2, 4], "odd": [1, 3]}, over="n")
    model = sf.fit(space, {"n": [2, 2, 4]}).model
    assert set(model.sample(200, method="gibbs", seed=1)["n"]) == {2, 4}


@pytest.mark.parametrize("name", ["burn_in", "thin", "chains"])
def test_settings_of_chains_are_refused_by_exact_draws(network: sf.BayesianNetwork, name: str) -> None:
    unwanted: dict[str, Any] = {name: 5}
    with pytest.raises(sf.ArgumentError, match=rf"The '{name}' argument is for Gibbs sampling.*method='gibbs'"):
        network.sample(3, **unwanted)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"thin": 0}, "'thin' argument must be a whole number, at least 1"),
        ({"chains": 0}, "'chains' argument must be a whole number, at least 1"),
        ({"burn_in": -1}, "'burn_in' argument must be a whole number, at least 0"),
        ({"burn_in": 0.5}, "'burn_in' argument"),
        ({"n": -1}, "number of rows"),
        ({"seed": -1}, "'seed' argument"),
        ({"method": "metropolis"}, r"'method' argument must be one of \['exact', 'gibbs'\]"),
    ],
    ids=str,
)
def test_bad_settings_fail_before_the_first_row(network: sf.BayesianNetwork, settings: Any, says: str) -> None:
    with pytest.raises(sf.ArgumentError, match=says):
        network.sample_blocks(**{"n": 3, "method": "gibbs", **settings})


def test_impossible_evidence_and_unknown_numbers_are_refused() -> None:
    either = {"A": [0.5, 0.5], "B": [[1, 0], [0, 1]]}
    model = sf.BayesianNetwork(sf.DAG("A -> B"), either, schema={"A": YES_NO, "B": YES_NO})
    with pytest.raises(sf.ModelError, match="No state of positive probability"):
        model.sample_blocks(3, method="gibbs", given={"A": "yes", "B": "no"})
    hidden = sf.fit(sf.DAG("A -> B"), {"A": ["x"], "B": ["u"]}, schema={"A": ["x", "y"]}, unseen_parents="nan").model
    with pytest.raises(sf.ModelError, match="unknown rows"):
        hidden.sample_blocks(3, method="gibbs")
    known = hidden.sample(20, method="gibbs", given={"A": "x"}, seed=1)
    assert set(known["B"]) == {"u"}
