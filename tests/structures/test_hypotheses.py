"""Hypotheses: finite sets of outcomes, named."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.errors import StructureError, SufficeError, UnknownNameError
from suffice.structures.structure import Structure

spaces = st.dictionaries(
    st.text(min_size=1, max_size=5), st.lists(st.integers(-9, 9), min_size=1, max_size=6), min_size=1, max_size=4
)


@given(spaces)
def test_outcomes_are_distinct_and_sorted_and_the_variable_knows_them_all(sets):
    hypotheses = sf.Hypotheses(sets, over="n")
    assert hypotheses.names == tuple(sets)
    for name, outcomes in sets.items():
        assert hypotheses.outcomes(name) == tuple(sorted(set(outcomes)))
    assert hypotheses.variable == sf.Variable("n", tuple(sorted({x for s in sets.values() for x in s})), True)
    assert hypotheses.columns == ("n",)
    assert hypotheses.declared["n"].states == hypotheses.variable.states


@given(spaces)
def test_hypotheses_round_trip_through_json_and_pickle(sets):
    hypotheses = sf.Hypotheses(sets, over="n")
    assert sf.Hypotheses.from_dict(json.loads(json.dumps(hypotheses.to_dict()))) == hypotheses
    assert pickle.loads(pickle.dumps(hypotheses)) == hypotheses
    assert hash(sf.Hypotheses(sets, over="n")) == hash(hypotheses)


def test_order_and_repetition_of_outcomes_do_not_matter():
    assert sf.Hypotheses({"a": [2, 1, 2]}) == sf.Hypotheses({"a": (1, 2)}) == sf.Hypotheses({"a": {1, 2}})
    assert sf.Hypotheses({"a": [1]}) != sf.Hypotheses({"a": [1]}, over="y")


def test_outcomes_may_be_a_numpy_array():
    assert sf.Hypotheses({"even": np.arange(0, 6, 2)}) == sf.Hypotheses({"even": [0, 2, 4]})


def test_collecting_counts_every_known_outcome():
    statistics = sf.collect(sf.Hypotheses({"a": ["x", "y"], "b": ["z"]}, over="n"), {"n": ["y", "y"]})
    assert statistics[sf.Count(("n",))].values.tolist() == [0, 2, 0]


@pytest.mark.parametrize(
    ("sets", "message"),
    [({}, "no hypotheses"), ({"a": []}, "'a' has no outcomes"), ({"a": "xyz"}, "'a' must be a set of outcomes")],
)
def test_what_is_no_hypothesis_is_refused(sets, message):
    with pytest.raises(StructureError, match=message):
        sf.Hypotheses(sets)


@pytest.mark.parametrize("sets", [{"a": [1, "x"]}, {"a": [None]}, {"a": [[1]]}, {"a": 5}, {"a": [1], "b": ["x"]}])
def test_outcomes_that_are_no_labels_or_mixed_are_an_error_of_ours_at_once(sets):
    with pytest.raises(SufficeError):
        sf.Hypotheses(sets)


def test_unknown_hypothesis_is_answered_with_those_that_exist():
    with pytest.raises(UnknownNameError, match=r"no hypothesis 'evn'.*\['even', 'odd'\].*Did you mean 'even'"):
        sf.Hypotheses({"even": [2], "odd": [1]}).outcomes("evn")


def test_text_shows_names_sizes_and_outcomes():
    hypotheses = sf.Hypotheses({"even": [2, 4], "odd": [1]}, over="n")
    assert "even" in str(hypotheses)
    assert "[2, 4]" in str(hypotheses)
    assert repr(hypotheses) == "Hypotheses(['even', 'odd'], over='n')"
    assert isinstance(hypotheses, Structure)
    assert hypotheses.continuous == frozenset()


# Distributions ------------------------------------------------------------------------------------------------

FAIR, BENT = {"heads": 0.5, "tails": 0.5}, {"tails": 0.25, "heads": 0.75}


def test_probabilities_are_kept_with_their_outcomes():
    coins = sf.Hypotheses({"fair": FAIR, "bent": BENT, "two heads": ["heads"]}, over="toss")
    assert coins.outcomes("bent") == ("heads", "tails")
    assert coins.probabilities == ((0.5, 0.5), (0.75, 0.25), None)
    assert coins.distribution("bent") == {"heads": 0.75, "tails": 0.25}
    assert coins.distribution("two heads") == {"heads": 1.0}
    assert "heads: 0.75" in str(coins)
    assert coins != sf.Hypotheses({"fair": list(FAIR), "bent": list(BENT), "two heads": ["heads"]}, over="toss")


def test_distributions_round_trip_and_sets_keep_their_form():
    coins = sf.Hypotheses({"fair": {1: 0.5, 2: 0.5}, "one": [1]})
    assert sf.Hypotheses.from_dict(json.loads(json.dumps(coins.to_dict()))) == coins
    assert pickle.loads(pickle.dumps(coins)) == coins
    assert coins.to_dict()["sets"] == [["fair", [1, 2], [0.5, 0.5]], ["one", [1]]]


def test_distributions_round_trip_through_files(tmp_path):
    coins = sf.Hypotheses({"fair": FAIR, "bent": BENT, "two heads": ["heads"]}, over="toss")
    fit = sf.fit(coins, {"toss": ["heads", "heads"]}, prior="uniform")
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json")
    assert again.structure == coins
    assert dict(again.posterior) == dict(fit.posterior)
    assert again.model.table.values.tolist() == fit.model.table.values.tolist()


def test_a_structure_file_may_have_distributions(tmp_path):
    (tmp_path / "coins.toml").write_text(
        'type = "Hypotheses"\nover = "toss"\n[sets]\nfair = {heads = 0.5, tails = 0.5}\nsure = ["heads"]\n'
    )
    from suffice.io.structure_file import read_structure

    assert read_structure(str(tmp_path / "coins.toml")) == sf.Hypotheses({"fair": FAIR, "sure": ["heads"]}, over="toss")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({1: 0.5, 2: 0.4}, r"sum to one. They sum to 0.9"),
        ({1: 0.5, 2: 0.5 + 2e-9}, "must sum to one"),
        ({1: 1.5, 2: -0.5}, r"the probability of 2 must be a number of at least 0. Got -0.5"),
        ({1: float("nan"), 2: 1.0}, "the probability of 1"),
        ({1: float("inf")}, "the probability of 1"),
        ({1: None, 2: None}, "the probability of 1"),
        ({1: True}, "the probability of 1"),
        ({1: 10**400}, "the probability of 1"),
        ({}, "has no outcomes"),
    ],
)
def test_what_is_no_distribution_is_refused(given, message):
    with pytest.raises(StructureError, match=f"Hypothesis 'h'.*{message}"):
        sf.Hypotheses({"h": given, "other": [1]})


def test_probabilities_may_be_numpy_numbers_and_rounded():
    third = {np.int64(k): np.float64(0.3333333333) for k in range(2)} | {2: 0.3333333334}
    assert sf.Hypotheses({"h": third}).distribution("h") == {0: 0.3333333333, 1: 0.3333333333, 2: 0.3333333334}
