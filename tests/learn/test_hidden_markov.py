"""Learning hidden Markov models: ascent, restarts, gaps, priors, and what is refused."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.hidden_twin import paths_of, some_model

import suffice as sf
from suffice.data.hidden_sequences import open_hidden
from suffice.learn import hidden_markov
from suffice.learn.method import Problem
from suffice.stats.available import CheckedSource

CHAIN = sf.MarkovChain(latent={"z": 2}, variable="x")
TEXTS = ["abbaab", "bbb", "aab", "a", ""]


def drawn(seed: int, n: int = 12, length: int = 40) -> tuple[sf.HiddenMarkovModel, sf.Sequences]:
    model = some_model(seed)
    return model, model.sample(n, length, seed=seed)


def with_gaps(sequences: sf.Sequences, seed: int) -> dict[str, Any]:
    """Return drawn sequences as a long table of which values are missing."""
    columns = next(open_hidden(sequences, None).blocks()).columns
    rng, n = np.random.default_rng(seed), len(columns["x"])
    x = np.array(["a", "b", "c"], object)[columns["x"]]
    x[rng.random(n) < 0.15] = None
    y = columns["y"].copy()
    y[rng.random(n) < 0.15] = np.nan
    return {"id": np.repeat(np.arange(len(columns.offsets) - 1), np.diff(columns.offsets)), "x": x.tolist(), "y": y}


# What EM promises ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("memory", [0, 8])
def test_objective_never_falls_and_the_end_is_certified(seed: int, memory: int) -> None:
    model, sequences = drawn(seed)
    fit = sf.fit(model.structure, sequences, seed=seed, restarts=1, options={"memory": memory}, max_iter=5000)
    values = [step.objective for step in fit.trace]
    assert all(after >= before - 1e-11 * abs(before) for before, after in itertools.pairwise(values))
    if memory:  # plain steps may become too small to tell before the end
        assert fit.certificate.ok, fit.certificate.verdict
    assert fit.log_likelihood == pytest.approx(fit.model.log_likelihood(sequences), rel=1e-12)
    assert fit.method == "em"
    assert fit.n_free == fit.model.n_free == 11


def test_the_best_of_several_starts_is_at_least_as_likely_as_the_truth() -> None:
    model, sequences = drawn(1, n=20)
    fit = sf.fit(model.structure, sequences, seed=3)
    assert len(fit.starts) == 5
    assert fit.log_likelihood == pytest.approx(max(start.objective for start in fit.starts), rel=1e-12)
    assert fit.log_likelihood >= model.log_likelihood(sequences)
    assert fit.n == 20 * 40


def test_restarts_are_reproducible_and_depend_on_the_seed() -> None:
    _, sequences = drawn(2, n=4, length=15)
    chain = some_model(2).structure
    one, same, other = (sf.fit(chain, sequences, seed=seed, restarts=3) for seed in (7, 7, 8))
    assert one.starts == same.starts
    np.testing.assert_array_equal(one.model.step.values, same.model.step.values)
    assert one.starts != other.starts


def test_expected_statistics_equal_sums_over_all_paths() -> None:
    model = some_model(5)
    data = with_gaps(model.sample(5, 5, seed=2), 1)
    source = CheckedSource(open_hidden(sf.Sequences(data, variable=["x", "y"], id="id"), None, missing="em"))
    chain = model.structure
    statistics = source.gather(hidden_markov.needs(chain, source.schema))
    expectation = hidden_markov.HiddenExpectation(Problem(chain, statistics, source=source))
    log_likelihood, vector = expectation.at(model)
    found = expectation.statistics(vector)
    first, pairs, shown, total = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 3)), 0.0
    moments = np.zeros((2, 3))
    for s in range(5):
        x = data["x"][5 * s : 5 * s + 5]
        y = [None if np.isnan(value) else float(value) for value in data["y"][5 * s : 5 * s + 5]]
        twin = paths_of(model, {"x": x, "y": y})
        own = twin.posteriors()
        total, first, pairs = total + twin.log_prob, first + own[0], pairs + twin.pairs()
        for t in range(5):
            if x[t] is not None:
                shown[:, "abc".index(x[t])] += own[t]
            if y[t] is not None:
                moments += own[t][:, None] * np.array([1.0, y[t], y[t] ** 2])
    assert log_likelihood == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(found[sf.Count(("z",))].table(), first, rtol=1e-10)
    np.testing.assert_allclose(found[sf.Count(("z[-1]", "z"))].table(), pairs, rtol=1e-10)
    np.testing.assert_allclose(found[sf.Count(("z", "x"))].table(), shown, rtol=1e-10)
    held = found[sf.Moment(("y",), ("z",))]
    np.testing.assert_allclose(held.weight, moments[:, 0], rtol=1e-10)
    np.testing.assert_allclose(held.mean[:, 0], moments[:, 1] / moments[:, 0], rtol=1e-10)
    wanted = moments[:, 2] - moments[:, 1] ** 2 / moments[:, 0]
    np.testing.assert_allclose(held.scatter[:, 0, 0], wanted, rtol=1e-9)


# Special cases -------------------------------------------------------------------------------------------------


def test_one_state_is_independent_symbols() -> None:
    fit = sf.fit(sf.MarkovChain(latent={"z": 1}, variable="x"), TEXTS)
    wanted = sf.fit(sf.MarkovChain(0, variable="x"), TEXTS)
    assert fit.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-12)
    assert fit.n_free == wanted.n_free == 1


def test_states_that_show_themselves_are_a_markov_chain() -> None:
    init = sf.HiddenMarkovModel.of(
        CHAIN, {"x": ["a", "b"]}, [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], {"x": [[1, 0], [0, 1]]}
    )
    fit, wanted = sf.fit(CHAIN, TEXTS, init=init), sf.fit(sf.MarkovChain(1, variable="x"), TEXTS)
    assert fit.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(fit.model.step.values, wanted.model.transitions.values, atol=1e-12)
    assert [start.name for start in fit.starts] == ["given"]


def test_an_unrolled_network_with_tied_tables_is_as_likely() -> None:
    _, sequences = drawn(6, n=60, length=3)
    texts = sf.Sequences.of_codes(
        next(open_hidden(sequences, None).blocks()).columns["x"].reshape(60, 3).copy(), some_model(6).schema["x"]
    ).texts()
    rows = {f"x{t + 1}": [text[t] for text in texts] for t in range(3)}
    dag = sf.DAG(
        "z1 -> z2 -> z3; z1 -> x1; z2 -> x2; z3 -> x3",
        latent={"z1": 2, "z2": 2, "z3": 2},
        tie=[["z2", "z3"], ["x1", "x2", "x3"]],
    )
    states = sf.categorical(["a", "b", "c"])
    network = sf.fit(dag, rows, seed=0, restarts=8, schema=dict.fromkeys(rows, states), max_iter=5000)
    chain = sf.fit(CHAIN, texts, seed=0, restarts=8, schema={"x": states}, max_iter=5000)
    assert chain.log_likelihood == pytest.approx(network.log_likelihood, abs=1e-5)
    assert chain.n_free == network.n_free


def test_sequences_of_one_position_have_no_transitions() -> None:
    fit = sf.fit(CHAIN, ["a", "b", "b", ""], seed=1, restarts=1)
    assert fit.log_likelihood == pytest.approx(sf.fit(sf.MarkovChain(0), ["abb"]).log_likelihood, rel=1e-9)
    assert np.isnan(fit.model.step.values).all()
    assert any("never left" in note.text for note in fit.notes)
    filled = sf.fit(CHAIN, ["a", "b", "b"], seed=1, restarts=1, unseen_parents="uniform")
    assert (filled.model.step.values == 0.5).all()


def test_weights_count_sequences_as_often() -> None:
    init = some_model(1, normal=False)
    chain = init.structure
    once = sf.fit(chain, ["abca", "bb", "cab"], weights=[3, 1, 2], init=init, max_iter=5000)
    often = sf.fit(chain, ["abca"] * 3 + ["bb"] + ["cab"] * 2, init=init, max_iter=5000)
    assert once.log_likelihood == pytest.approx(often.log_likelihood, rel=1e-10)
    assert once.n == often.n == 4 * 3 + 2 + 3 * 2


def test_states_that_nothing_tells_apart_stay_alike() -> None:
    same = sf.HiddenMarkovModel.of(CHAIN, {"x": ["a", "b"]}, [0.5, 0.5], np.full((2, 2), 0.5), {"x": [[0.3, 0.7]] * 2})
    fit = sf.fit(CHAIN, TEXTS, init=same)
    assert fit.log_likelihood == pytest.approx(sf.fit(sf.MarkovChain(0), TEXTS).log_likelihood, rel=1e-9)


# Data ----------------------------------------------------------------------------------------------------------


def test_missing_values_are_not_observed() -> None:
    _, sequences = drawn(4)
    data = with_gaps(sequences, 4)
    chain = sf.MarkovChain(latent={"z": 2}, variable=["x", "y"], id="id")
    fit = sf.fit(chain, data, missing="em", seed=1, restarts=2, max_iter=5000)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.log_likelihood == pytest.approx(fit.model.log_likelihood(data), rel=1e-12)
    n_missing = sum(value is None for value in data["x"])
    assert any(f"x: {n_missing} of 480 values are missing" in note.text for note in fit.notes)
    with pytest.raises(sf.DataError, match=r"the value is missing .*missing='em'"):
        sf.fit(chain, data)
    with pytest.raises(sf.ArgumentError, match="neighbours"):
        sf.fit(chain, data, missing="drop")


def test_a_sequence_that_shows_nothing_changes_nothing() -> None:
    init = some_model(1, normal=False)
    kept = sf.fit(init.structure, [list("abca"), list("bb")], init=init, missing="em", max_iter=5000)
    more = sf.fit(init.structure, [list("abca"), [None], list("bb")], init=init, missing="em", max_iter=5000)
    assert more.log_likelihood == pytest.approx(kept.log_likelihood, abs=1e-6)


def test_text_files_are_sequences(tmp_path: Path) -> None:
    (tmp_path / "rhyme.txt").write_text("abba\nab\n\nbab\n")
    chain = sf.MarkovChain(latent={"z": 2}, level="lines")
    fit = sf.fit(chain, tmp_path / "rhyme.txt", seed=2, restarts=1)
    wanted = sf.fit(sf.MarkovChain(latent={"z": 2}), ["abba", "ab", "bab"], seed=2, restarts=1)
    assert fit.log_likelihood == wanted.log_likelihood
    assert fit.model.variables == ("x",)


def test_numbers_have_normal_distributions_unless_declared() -> None:
    data = [np.array([0.1, 0.2, 5.1, 5.3, 0.15]), np.array([5.2, 4.9, 0.05])]
    chain = sf.MarkovChain(latent={"z": 2}, variable="level")
    fit = sf.fit(chain, data, seed=0)
    assert sorted(fit.model.emission("level").intercept.round(3).tolist()) == [0.125, 5.125]
    whole = sf.fit(chain, [[1, 2, 1], [2, 2]], seed=0, restarts=1)
    assert whole.model.emission("level").family.child.states == (1, 2)
    declared = sf.fit(chain, [[1, 2, 1, 4], [2, 7]], seed=0, restarts=1, schema={"level": sf.continuous()})
    assert not declared.model.emission("level").family.child.is_discrete


def test_collected_statistics_are_estimated_from_with_the_data() -> None:
    statistics = sf.collect(CHAIN, TEXTS)
    fit = sf.estimate(CHAIN, statistics, data=TEXTS, seed=4, restarts=2)
    assert fit.log_likelihood == sf.fit(CHAIN, TEXTS, seed=4, restarts=2).log_likelihood
    with pytest.raises(sf.ArgumentError, match="needs the data itself"):
        sf.estimate(CHAIN, statistics)


# Priors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", ["mean", "map"])
@pytest.mark.parametrize("prior", [sf.Dirichlet(2.0), sf.K2(), sf.BDeu(8)])
def test_a_prior_is_on_all_tables_alike(point: str, prior: Any) -> None:
    if point == "map" and isinstance(prior, sf.BDeu):
        pytest.skip("pseudo-counts of less than one have no mode")
    model, sequences = drawn(3, n=6)
    fit = sf.fit(model.structure, sequences, prior=prior, point=point, seed=1, restarts=1, max_iter=5000)
    assert fit.certificate.ok, fit.certificate.verdict
    values = [step.objective for step in fit.trace]
    assert all(after >= before - 1e-11 * abs(before) for before, after in itertools.pairwise(values))
    assert fit.point == point
    assert any("normal distributions have none" in note.text for note in fit.notes)


def test_flat_prior_at_its_mode_is_maximum_likelihood() -> None:
    init = some_model(2, normal=False)
    texts = init.sample(10, 30, seed=1)
    under, plain = (sf.fit(init.structure, texts, init=init, max_iter=5000, **how) for how in FLAT)
    assert under.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-10)


FLAT: list[dict[str, Any]] = [{"prior": sf.K2(), "point": "map"}, {}]


# What is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": 2, "latent": {"z": 2}}, "latent column 'z' must be of order 1. Got the order 2"),
        ({"latent": {"z": 2, "u": 2}}, "must be one column with its number of states"),
        ({"latent": {"z": 0}}, "needs its number of states, at least 1"),
        ({"latent": 3}, "must be one column with its number of states"),
        ({"latent": {"x": 2}, "variable": "x"}, "'x' is a column of the data"),
        ({"latent": {"z": 2}, "variable": ["z[-1]"]}, "is a column of the data"),
        ({"latent": {"z": 2}, "variable": ["x", "x"]}, "each once"),
        ({"latent": {"z": 2}, "variable": []}, "must be a name, or several names"),
    ],
)
def test_structures_that_are_none_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(sf.StructureError, match=message.replace("[", r"\[")):
        sf.MarkovChain(**settings)


def test_several_names_are_for_hidden_chains() -> None:
    with pytest.raises(sf.SufficeError):
        sf.MarkovChain(1, variable=["x", "y"])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"method": "closed_form"}, "'z' is latent, and the closed form needs every symbol observed"),
        ({"init": 3}, "must be a model to begin at"),
        ({"init": some_model(1)}, "of other columns"),
        ({"init": some_model(1, normal=False)}, "states of 'x' are others"),
        ({"options": {"start": "available"}}, "Nothing is observed of 'z'"),
        ({"prior": sf.NormalInverseGamma(2, 1.0)}, "same for all rows"),
        ({"fixed": {"x": [0.5, 0.5]}}, "'fixed' argument must be left out"),
        ({"missing": "available"}, "missing='available'"),
    ],
)
def test_fits_that_cannot_be_are_refused(how: dict[str, Any], message: str) -> None:
    with pytest.raises(sf.SufficeError, match=message):
        sf.fit(CHAIN, TEXTS, **how)


def test_a_chain_that_is_observed_has_no_em_and_no_gaps() -> None:
    with pytest.raises(sf.EstimationError, match="it is for chains with a latent column"):
        sf.fit(sf.MarkovChain(1), TEXTS, method="em")
    with pytest.raises(sf.ArgumentError, match="whose chain is hidden"):
        sf.fit(sf.MarkovChain(1), TEXTS, missing="em")


def test_a_model_to_begin_at_that_rules_sequences_out_is_refused() -> None:
    sure = sf.HiddenMarkovModel.of(CHAIN, {"x": ["a", "b"]}, [1, 0], np.eye(2), {"x": [[1, 0], [0, 1]]})
    with pytest.raises(sf.EstimationError, match="Sequence 2 is impossible"):
        sf.fit(CHAIN, ["aa", "ab"], init=sure)


def test_a_state_expected_at_less_than_one_position_has_a_distribution() -> None:
    values = [0.0, 1.0, 0.4, 0.2]
    alike = {"x": {"mean": [0.0, 0.0], "sd": 1.0}}
    start = sf.HiddenMarkovModel.of(CHAIN, {"x": None}, [0.9, 0.1], [[0.9, 0.1]] * 2, alike)
    (cpd,) = sf.fit(CHAIN, [values], init=start, max_iter=1).model.shows
    np.testing.assert_allclose(cpd.intercept, np.mean(values))
    np.testing.assert_allclose(cpd.variance, np.var(values))


def test_a_state_that_runs_onto_one_value_is_named() -> None:
    with pytest.raises(sf.EstimationError, match=r"State \d of 'z' runs onto the one value"):
        sf.fit(sf.MarkovChain(latent={"z": 2}), [[0.0, 1.5, 2.5, 100.25], [0.5, 1.0]], seed=0, max_iter=5000)


@pytest.mark.parametrize("values", [[1.5, 1.5, 1.5], [None, None]])
def test_columns_that_say_nothing_are_named(values: list[Any]) -> None:
    with pytest.raises(sf.EstimationError, match=r"Column 'x' (is the same everywhere|has no value)"):
        sf.fit(CHAIN, [values], missing="em", schema={"x": sf.continuous()})
    with pytest.raises(sf.SchemaError, match="No row has a value of 'x'"):
        sf.fit(CHAIN, [[None, None]], missing="em")


def test_structure_is_printed_and_written() -> None:
    chain = sf.MarkovChain(latent={"z": 2}, variable=["x", "y"], id="id")
    assert str(chain) == "p(z | z[-1]) p(x | z) p(y | z)"
    assert repr(chain) == "MarkovChain(order=1, variable=['x', 'y'], id='id', latent={'z': 2})"
    assert sf.MarkovChain.from_dict(chain.to_dict()) == chain == sf.MarkovChain(**chain.__dict__)
    assert hash(chain) == hash(sf.MarkovChain(latent={"z": 2}, variable=("x", "y"), id="id"))
    assert "latent" not in sf.MarkovChain(1).to_dict()
