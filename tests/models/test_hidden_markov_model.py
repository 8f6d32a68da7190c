"""Hidden Markov models: what sequences are worth, their states, drawn sequences, tables, prints and files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.models.hidden_twin import paths_of, some_model

import suffice as sf

CHAIN = sf.MarkovChain(latent={"z": 2}, variable="x")
MODEL = sf.HiddenMarkovModel.of(
    CHAIN, {"x": ["a", "b"]}, [0.6, 0.4], [[0.9, 0.1], [0.3, 0.7]], {"x": [[0.8, 0.2], [0.1, 0.9]]}
)


@pytest.mark.parametrize("seed", range(4))
def test_answers_equal_sums_over_all_paths(seed: int) -> None:
    model = some_model(seed, k=2 + seed % 2)
    x = [["a", None, "c", "b"], ["b"], ["c", "c", None]]
    y = [[0.5, 1.5, None, -2.5], [None], [None, 0.25, None]]
    data = {
        "id": [s for s, own in enumerate(x) for _ in own],
        "x": [value for own in x for value in own],
        "y": [value for own in y for value in own],
    }
    sequences = sf.Sequences(data, variable=["x", "y"], id="id")
    worth, states, marginals = model.log_prob(sequences), model.decode(sequences), model.marginals(sequences)
    assert [len(own) for own in states] == [4, 1, 3]
    for s in range(3):
        twin = paths_of(model, {"x": x[s], "y": y[s]})
        assert worth[s] == pytest.approx(twin.log_prob, rel=1e-12)
        assert states[s].tolist() == twin.best()
        np.testing.assert_allclose(marginals[s], twin.posteriors(), atol=1e-12)


def test_tables_have_labels() -> None:
    model = some_model(1)
    assert MODEL.initial[{"z": 1}] == 0.4
    assert MODEL.transitions[{"z[-1]": 1, "z": 0}] == 0.3
    assert MODEL.emissions["x"][{"z": 0, "x": "b"}] == 0.2
    assert model.emissions["y"][{"z": 1, "y": "mean"}] == model.emission("y").intercept[1]
    assert model.variables == ("x", "y")
    assert model.n_free == 1 + 2 + 4 + 4
    assert MODEL.n_free == 1 + 2 + 2


def test_lists_texts_and_arrays_are_sequences() -> None:
    wanted = MODEL.log_prob(["ab", "b"])
    np.testing.assert_array_equal(MODEL.log_prob([["a", "b"], ["b"]]), wanted)
    np.testing.assert_array_equal(MODEL.log_prob([b"ab", b"b"]), wanted)
    np.testing.assert_array_equal(MODEL.log_prob({"x": ["a", "b"]}), wanted[:1])
    np.testing.assert_array_equal(MODEL.log_prob([np.array(["a", "b"]), np.array(["b"])]), wanted)


def test_empty_sequences_have_probability_one_and_no_states() -> None:
    assert MODEL.log_prob(["", "a", ""]).tolist()[::2] == [0.0, 0.0]
    assert [len(own) for own in MODEL.decode(["", "a", ""])] == [0, 1, 0]
    assert [own.shape for own in MODEL.marginals(["", "a"])] == [(0, 2), (1, 2)]
    assert MODEL.log_prob([]).shape == (0,)


def test_impossible_sequences_are_worth_minus_infinity() -> None:
    sure = sf.HiddenMarkovModel.of(CHAIN, {"x": ["a", "b"]}, [1, 0], np.eye(2), {"x": [[1, 0], [0, 1]]})
    assert sure.log_prob(["aa", "ab"]).tolist() == [0.0, -math.inf]
    assert sure.log_likelihood(["aa", "ab"]) == -math.inf
    assert np.isnan(sure.marginals(["ab"])[0]).all()


def test_unknown_symbols_are_named() -> None:
    with pytest.raises(sf.DataError, match=r"sequence 2, position 1: state 'q' is not one of \['a', 'b'\]"):
        MODEL.log_prob(["ab", "qa"])


def test_drawn_sequences_follow_the_tables_and_depend_on_the_seed() -> None:
    model = some_model(3)
    drawn, states = model.sample_with_states(300, 40, seed=5)
    table = model.open(drawn)
    columns = next(table.blocks()).columns
    flat = states.reshape(-1)
    for state in range(2):
        here = flat == state
        np.testing.assert_allclose(
            np.bincount(columns["x"][here], minlength=3) / here.sum(), model.emission("x").values[state], atol=0.03
        )
        assert columns["y"][here].mean() == pytest.approx(model.emission("y").intercept[state], abs=0.1)
        after = np.bincount(states[:, 1:][states[:, :-1] == state], minlength=2)
        np.testing.assert_allclose(after / after.sum(), model.step.values[state], atol=0.03)
    assert MODEL.sample(2, 9, seed=1).texts() == MODEL.sample(2, 9, seed=1).texts()
    assert MODEL.sample(2, 9, seed=1).texts() != MODEL.sample(2, 9, seed=2).texts()
    assert MODEL.sample(2, 9, seed=1).texts() == MODEL.sample(5, 9, seed=1).texts()[:2]
    assert MODEL.log_prob(MODEL.sample(0, 4)).shape == (0,)


def test_model_is_printed() -> None:
    assert repr(MODEL) == "HiddenMarkovModel('z', 2 states, ['x'])"
    assert str(MODEL).splitlines()[:4] == ["p(z)", "z       p", "-  ------", "0  0.6000"]
    assert "p(x | z)" in str(MODEL)
    assert MODEL._repr_html_().count("<table") == 3


@pytest.mark.parametrize("seed", range(2))
def test_file_gives_the_same_model_back(seed: int, tmp_path: Path) -> None:
    model = some_model(seed, normal=bool(seed))
    sf.write(model, tmp_path / "model.json")
    back = sf.read(tmp_path / "model.json")
    assert back.structure == model.structure
    for mine, theirs in zip(model.tables, back.tables, strict=True):
        assert theirs.family == mine.family
        for name in ("values", "intercept", "variance"):
            if hasattr(mine, name):
                np.testing.assert_array_equal(getattr(theirs, name), getattr(mine, name))


def test_numbers_that_are_no_model_are_refused() -> None:
    states = {"x": ["a", "b"]}
    with pytest.raises(sf.ModelError, match="not a distribution"):
        sf.HiddenMarkovModel.of(CHAIN, states, [0.6, 0.5], np.eye(2), {"x": np.eye(2)})
    with pytest.raises(sf.ArgumentError, match=r"sf\.MarkovChain\(latent=…\)"):
        sf.HiddenMarkovModel.of(sf.MarkovChain(1), states, [0.6, 0.4], np.eye(2), {"x": np.eye(2)})
    with pytest.raises(sf.ArgumentError, match="Column 'x' needs an entry"):
        sf.HiddenMarkovModel.of(CHAIN, {}, [0.6, 0.4], np.eye(2), {})
    with pytest.raises(sf.UnknownNameError, match="no column 'u'"):
        MODEL.emission("u")
    with pytest.raises(sf.ModelError, match="of other variables"):
        sf.HiddenMarkovModel(sf.MarkovChain(latent={"z": 3}), MODEL.start, MODEL.step, MODEL.shows)
