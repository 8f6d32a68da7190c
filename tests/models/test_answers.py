"""What models answer, through the public interface with labels: queries, rows, the most likely states, draws."""

from __future__ import annotations

import itertools
import math
import pickle
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.inference_cases import Oracle

import suffice as sf
from suffice.inference import inquiry
from suffice.inference.inquiry import Given

STATES: dict[str, list[Any]] = {
    "season": ["dry", "wet", "cold"],
    "rain": [False, True],
    "sprinkler": ["off", "on"],
    "grass": ["no", "damp", "yes"],
    "slips": [0, 1, 2],
    "moon": ["new", "full"],
}
TABLES: dict[str, Any] = {
    "season": [0.5, 0.3, 0.2],
    "rain": [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]],
    "sprinkler": [[0.3, 0.7], [0.8, 0.2], [1.0, 0.0]],
    "grass": [[[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]], [[0.1, 0.2, 0.7], [0.0, 0.05, 0.95]]],
    "slips": [[0.95, 0.05, 0.0], [0.7, 0.2, 0.1], [0.5, 0.3, 0.2]],
    "moon": [0.5, 0.5],
}
GARDEN = sf.DAG("season -> rain; season -> sprinkler; rain -> grass <- sprinkler; grass -> slips; moon")


@pytest.fixture
def garden() -> sf.BayesianNetwork:
    return sf.BayesianNetwork(GARDEN, TABLES, schema=STATES)


@pytest.fixture
def field_of(garden: sf.BayesianNetwork) -> sf.MarkovNetwork:
    return as_field(garden)


@pytest.fixture
def restored() -> Iterator[None]:
    before = sf.config().memory
    yield
    sf.config(memory=before)


def as_field(network: sf.BayesianNetwork, factor: float = 1.0) -> sf.MarkovNetwork:
    """The same tables as factors, all multiplied by something."""
    tables = [(network.cpd(node).family.scope, network.cpd(node).table.values * factor) for node in network.variables]
    return sf.MarkovNetwork(tables, schema=network.schema)


def codes(evidence: dict[str, Any]) -> Given:
    names = list(STATES)
    hard = {names.index(name): STATES[name].index(seen) for name, seen in evidence.items() if not is_soft(seen)}
    soft = {}
    for name, seen in evidence.items():
        if is_soft(seen):
            weights = seen if isinstance(seen, dict) else dict.fromkeys(seen, 1.0)
            soft[names.index(name)] = np.array([weights.get(label, 0.0) for label in STATES[name]])
    return Given(hard, soft)


def is_soft(seen: object) -> bool:
    return isinstance(seen, dict | list)


def oracle(model: Any, evidence: dict[str, Any]) -> Oracle:
    assert list(model.schema) == list(STATES)
    return Oracle(model._product(), codes(evidence))


def expected(model: Any, targets: Any, evidence: dict[str, Any]) -> Any:
    return oracle(model, evidence).marginal([list(STATES).index(name) for name in targets])


EVIDENCE: list[dict[str, Any]] = [
    {},
    {"grass": "yes"},
    {"rain": True, "slips": 1},
    {"season": ["dry", "cold"]},
    {"grass": {"no": 0.1, "damp": 2, "yes": 5}},
    {"grass": {"yes": 1.0}, "moon": "full"},
    {"slips": 2, "sprinkler": {"on": 0.25, "off": 1}},
]
TARGETS = [["season"], ["grass", "rain"], ["rain", "grass"], ["slips", "season"], ["moon", "season", "slips"]]


# One table ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evidence", EVIDENCE, ids=str)
@pytest.mark.parametrize("as_markov", [False, True])
def test_query_is_the_conditional_distribution(
    garden: sf.BayesianNetwork, evidence: dict[str, Any], as_markov: bool
) -> None:
    """The first answers are by elimination, later ones from a calibrated tree; targets in and out of one clique."""
    model = as_field(garden, 1e3) if as_markov else garden
    for turn in range(inquiry.PATIENCE + 2):
        for names in TARGETS:
            wanted = [name for name in names if name not in codes(evidence).hard and name not in hard_names(evidence)]
            answer = model.query(wanted, given=evidence)
            assert answer.names == tuple(wanted), turn
            assert answer.name == "p"
            np.testing.assert_allclose(answer.values, expected(model, wanted, evidence), rtol=1e-11, atol=1e-13)


def hard_names(evidence: dict[str, Any]) -> set[str]:
    return {name for name, seen in evidence.items() if not is_soft(seen)}


def test_axes_come_in_the_order_asked_for(garden: sf.BayesianNetwork) -> None:
    for _ in range(inquiry.PATIENCE + 1):
        first = garden.query(["grass", "season", "rain"])
        second = garden.query(("rain", "grass", "season"))
        assert first.values.shape == (3, 3, 2)
        np.testing.assert_allclose(first.values.transpose(2, 0, 1), second.values, rtol=1e-12)


def test_labels_may_be_bools_and_whole_numbers(garden: sf.BayesianNetwork) -> None:
    reference = garden.query("season", given={"rain": True, "slips": 1}).values
    for rain, slips in [(np.True_, np.int64(1)), ("true", "1"), (True, 1.0)]:
        answer = garden.query("season", given={"rain": rain, "slips": slips})
        np.testing.assert_allclose(answer.values, reference, rtol=1e-12)
    assert garden.query("rain")[{"rain": True}] == pytest.approx(0.5 * 0.1 + 0.3 * 0.6 + 0.2 * 0.3, rel=1e-12)


def test_one_of_several_states(garden: sf.BayesianNetwork) -> None:
    reference = expected(garden, ["rain"], {"season": ["dry", "cold"]})
    for seen in (["dry", "cold"], ("cold", "dry"), {"dry", "cold"}, frozenset({"cold", "dry"}), {"dry": 3, "cold": 3}):
        np.testing.assert_allclose(garden.query("rain", given={"season": seen}).values, reference, rtol=1e-12)


def test_soft_evidence_may_be_on_the_target(garden: sf.BayesianNetwork) -> None:
    for _ in range(inquiry.PATIENCE + 1):
        answer = garden.query("moon", given={"moon": {"new": 3, "full": 1}})
        np.testing.assert_allclose(answer.values, [0.75, 0.25], rtol=1e-12)


def test_evidence_in_every_possible_order_gives_the_same(garden: sf.BayesianNetwork) -> None:
    seen = {"rain": True, "grass": "damp", "slips": 1}
    answers = [garden.query("season", given=dict(order)).values for order in itertools.permutations(seen.items())]
    for answer in answers:
        np.testing.assert_allclose(answer, answers[0], rtol=1e-12)


def test_marginal_is_a_query_without_evidence(garden: sf.BayesianNetwork) -> None:
    table = garden.marginal(["slips", "moon"])
    np.testing.assert_allclose(table.values, expected(garden, ["slips", "moon"], {}), rtol=1e-12)


def test_answers_are_read_only_and_their_own(garden: sf.BayesianNetwork) -> None:
    for _ in range(inquiry.PATIENCE + 1):
        answer = garden.query("season")
        before = answer.values.tolist()
        with pytest.raises(ValueError, match="read-only"):
            answer.values[0] = 2
        garden.query("season", given={"slips": 2})
        assert answer.values.tolist() == before


@pytest.mark.parametrize(
    ("targets", "evidence", "error", "complaint"),
    [
        ("reign", {}, sf.UnknownNameError, "no variable 'reign'.*Did you mean 'rain'"),
        (["rain", "gras"], {}, sf.UnknownNameError, "no variable 'gras'.*Did you mean 'grass'"),
        ("rain", {"seasons": "dry"}, sf.UnknownNameError, "no variable 'seasons'.*Did you mean 'season'"),
        ("rain", {"season": "colt"}, sf.UnknownNameError, "'season' has no state 'colt'.*Did you mean 'cold'"),
        ("rain", {"season": ["dry", "hot"]}, sf.UnknownNameError, "'season' has no state 'hot'"),
        ("rain", {"season": {"hot": 1}}, sf.UnknownNameError, "'season' has no state 'hot'"),
        ("rain", {"slips": 3}, sf.UnknownNameError, "'slips' has no state 3"),
        ("rain", {"season": None}, sf.SufficeError, "season"),
        ("rain", {"rain": True}, sf.ArgumentError, "'rain' is asked for and given"),
        (["rain", "rain"], {}, sf.ArgumentError, "name a variable twice"),
        (7, {}, sf.ArgumentError, "name or a list of names.*Got 7"),
        ({"rain": True}, {}, sf.ArgumentError, "name or a list of names"),
        ("rain", "wet", sf.ArgumentError, "given"),
        ("rain", [("season", "dry")], sf.ArgumentError, "given"),
        ("rain", {"season": {}}, sf.ArgumentError, "'season' leaves no state possible"),
        ("rain", {"season": []}, sf.ArgumentError, "'season' leaves no state possible"),
        ("rain", {"season": {"dry": 0, "wet": 0}}, sf.ArgumentError, "leaves no state possible.*'dry'"),
        ("rain", {"season": {"dry": -1}}, sf.ArgumentError, "'season'.*not negative.*Got -1 for 'dry'"),
        ("rain", {"season": {"dry": math.inf}}, sf.ArgumentError, "'season'.*Got inf"),
        ("rain", {"season": {"dry": math.nan}}, sf.ArgumentError, "'season'.*Got nan"),
        ("rain", {"season": {"dry": "much"}}, sf.ArgumentError, "'season'.*Got 'much'"),
    ],
)
def test_mistakes_are_explained(
    garden: sf.BayesianNetwork, targets: Any, evidence: Any, error: type[Exception], complaint: str
) -> None:
    for _ in range(inquiry.PATIENCE + 1):
        with pytest.raises(error, match=complaint):
            garden.query(targets, given=evidence)


def test_intervals_are_for_fits(garden: sf.BayesianNetwork) -> None:
    with pytest.raises(sf.ArgumentError, match=r"no interval.*fit\.query"):
        garden.query("rain", interval=0.95)


@pytest.mark.parametrize("as_markov", [False, True])
def test_impossible_evidence_names_the_piece(garden: sf.BayesianNetwork, as_markov: bool) -> None:
    model = as_field(garden) if as_markov else garden
    calls: list[Any] = [
        lambda given: model.query("moon", given=given),
        model.marginals,
        model.map,
        model.entropy,
        lambda given: model.sample(3, given=given, seed=1),
    ]
    for _ in range(2):
        for call in calls:
            with pytest.raises(sf.ModelError, match="sprinkler='on' together with season='cold' the probability zero"):
                call({"season": "cold", "sprinkler": "on", "rain": True})
            with pytest.raises(sf.ModelError, match=r"impossible.*season='cold'.*soft evidence on sprinkler"):
                call({"season": "cold", "sprinkler": ["on"]})
    assert model.log_evidence({"season": "cold", "sprinkler": "on"}) == -math.inf


def test_evidence_that_is_impossible_by_itself() -> None:
    model = sf.BayesianNetwork(
        sf.DAG("A; B"), {"A": [1.0, 0.0], "B": [0.5, 0.5]}, schema={"A": ["x", "y"], "B": ["u", "v"]}
    )
    with pytest.raises(sf.ModelError, match="A='y' by itself the probability zero"):
        model.query("B", given={"A": "y"})


def test_tables_that_leave_nothing_possible() -> None:
    model = sf.MarkovNetwork([(("A",), [0.0, 0.0])], schema={"A": ["x", "y"], "B": ["u", "v"]})
    for call in (lambda: model.query("B"), model.marginals, model.map, model.entropy, lambda: model.sample(2)):
        with pytest.raises(sf.ModelError, match="probability zero to everything"):
            call()
    assert model.log_z == -math.inf


# Unknown rows -------------------------------------------------------------------------------------------------


@pytest.fixture
def partly_known() -> sf.BayesianNetwork:
    """B is unknown when A is 'z', which occurs with weight but never with B."""
    data = {"A": ["x", "x", "y"], "B": ["u", "v", "v"], "C": ["k", "l", "l"]}
    schema = {"A": sf.categorical(["x", "y", "z"])}
    return sf.fit(sf.DAG("A -> B; A -> C"), data, schema=schema, unseen_parents="nan").model


def test_unknown_rows_only_matter_where_they_enter(partly_known: sf.BayesianNetwork) -> None:
    model = partly_known
    np.testing.assert_allclose(model.query("A").values, [2 / 3, 1 / 3, 0])
    for _ in range(inquiry.PATIENCE + 1):
        np.testing.assert_allclose(model.query("B", given={"A": "x"}).values, [0.5, 0.5])
        np.testing.assert_allclose(model.query("A").values, [2 / 3, 1 / 3, 0])
        for call in (
            lambda: model.query("B"),
            lambda: model.query("A", given={"C": "k"}),
            lambda: model.query_rows("A", {"B": ["u"]}),
            model.marginals,
            model.map,
            model.entropy,
            lambda: model.log_evidence({"B": "u"}),
            lambda: model.sample(2, given={"B": "u"}),
            lambda: model.kl(model),
        ):
            with pytest.raises(sf.ModelError, match=r"unknown rows \(NaN\).*unseen_parents='uniform'"):
                call()
    assert set(model.marginals({"A": "y"})) == {"B", "C"}


# Rows ---------------------------------------------------------------------------------------------------------


def evidence_rows() -> dict[str, list[Any]]:
    return {
        "grass": ["yes", None, "damp", "yes", "no", None, "yes"],
        "rain": [True, None, False, True, None, False, None],
        "slips": [2, None, None, 2, 0, 1, 1],
    }


@pytest.mark.parametrize("as_markov", [False, True])
@pytest.mark.parametrize("targets", [["season"], ["season", "sprinkler"], ["sprinkler", "season"], ["season", "moon"]])
def test_rows_are_answered_like_single_queries(garden: sf.BayesianNetwork, as_markov: bool, targets: list[str]) -> None:
    model = as_field(garden, 7.0) if as_markov else garden
    columns = evidence_rows()
    found = model.query_rows(targets, columns)
    assert len(found) == 7
    for row in range(7):
        seen = {name: values[row] for name, values in columns.items() if values[row] is not None}
        np.testing.assert_allclose(found.values[row], model.query(targets, given=seen).values, rtol=1e-11)
        assert found.log_evidence[row] == pytest.approx(model.log_evidence(seen), abs=1e-11)
    assert np.array_equal(found.values[0], found.values[3])


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, dict])
def test_rows_may_come_in_any_frame(garden: sf.BayesianNetwork, kind: Any) -> None:
    found = garden.query_rows("season", kind(evidence_rows()))
    reference = garden.query_rows("season", evidence_rows())
    np.testing.assert_array_equal(found.values, reference.values)
    np.testing.assert_array_equal(found.log_evidence, reference.log_evidence)


def test_columns_of_targets_are_ignored(garden: sf.BayesianNetwork) -> None:
    found = garden.query_rows("season", {"season": ["dry", "cold"], "grass": ["yes", "yes"]})
    assert np.array_equal(found.values[0], found.values[1])
    np.testing.assert_allclose(found.values[0], garden.query("season", given={"grass": "yes"}).values, rtol=1e-12)


def test_impossible_rows_are_nan(garden: sf.BayesianNetwork) -> None:
    rows = {"season": ["cold", "dry"], "sprinkler": ["on", "on"]}
    for targets in ("grass", ["grass", "moon"]):
        found = garden.query_rows(targets, rows)
        assert np.isnan(found.values[0]).all()
        assert found.log_evidence[0] == -math.inf
        assert np.isfinite(found.values[1]).all()


def test_mistakes_in_rows_are_explained(garden: sf.BayesianNetwork) -> None:
    with pytest.raises(sf.ArgumentError, match=r"'weather'.*no variables of the model.*'season'"):
        garden.query_rows("season", {"weather": ["x"], "grass": ["yes"]})
    with pytest.raises(sf.ArgumentError, match="no column of evidence"):
        garden.query_rows("season", {"season": ["dry"]})
    with pytest.raises(sf.SufficeError, match=r"'grass'.*'soaked'"):
        garden.query_rows("season", {"grass": ["soaked"]})
    with pytest.raises(sf.UnknownNameError, match="Did you mean 'season'"):
        garden.query_rows("sesaon", {"grass": ["yes"]})


def test_many_rows_with_threads(garden: sf.BayesianNetwork) -> None:
    """More rows than one thread takes at a time; the answers do not depend on the number of threads."""
    drawn = garden.sample(3000, seed=4, backend="pandas")
    columns = {name: drawn[name].tolist() for name in ("rain", "grass", "slips", "moon")}
    before = sf.config().threads
    try:
        answers = []
        for threads in (1, 3):
            sf.config(threads=threads)
            answers.append(garden.query_rows(["season", "sprinkler"], columns).values)
    finally:
        sf.config(threads=before)
    assert np.array_equal(answers[0], answers[1])
    for row in (0, 1234, 2999):
        seen = {name: values[row] for name, values in columns.items()}
        single = garden.query(["season", "sprinkler"], given=seen).values
        np.testing.assert_allclose(answers[0][row], single, rtol=1e-11)


def test_row_answers_as_frame_and_text(garden: sf.BayesianNetwork) -> None:
    found = garden.query_rows(["rain", "moon"], {"grass": ["yes"] * 25})
    assert found.columns[:2] == ["rain=False, moon=new", "rain=False, moon=full"]
    frame = found.to_frame("pandas")
    assert frame.shape == (25, 4)
    np.testing.assert_array_equal(frame.to_numpy(), found.to_numpy().reshape(25, 4))
    assert "5 more rows" in str(found)
    assert "<table" in found._repr_html_()
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 0


# The whole ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evidence", EVIDENCE, ids=str)
@pytest.mark.parametrize("as_markov", [False, True])
def test_whole_answers(garden: sf.BayesianNetwork, evidence: dict[str, Any], as_markov: bool) -> None:
    model = as_field(garden, 1e3) if as_markov else garden
    known = oracle(model, evidence)
    found = model.marginals(evidence)
    assert list(found) == [name for name in STATES if name not in hard_names(evidence)]
    for name, table in found.items():
        np.testing.assert_allclose(table.values, expected(model, [name], evidence), rtol=1e-11, atol=1e-13)
    log_z = 6 * math.log(1e3) if as_markov else 0
    assert model.log_z == pytest.approx(log_z, rel=1e-12)
    assert model.log_evidence(evidence) == pytest.approx(known.log_z - log_z, abs=1e-11)
    assert model.entropy(evidence) == pytest.approx(known.entropy, abs=1e-11)
    best = model.map(evidence)
    states = {list(STATES).index(name): STATES[name].index(label) for name, label in best.items()}
    assert known.score(states) == pytest.approx(known.best, abs=1e-11)
    assert best.log_posterior == pytest.approx(known.best - known.log_z, abs=1e-11)
    names = list(STATES)
    ties = {names[v]: tuple(STATES[names[v]][code] for code in tied) for v, tied in known.tied.items()}
    assert best.ties == ties
    row = {**{name: [seen] for name, seen in evidence.items() if not is_soft(seen)}}
    row |= {name: [label] for name, label in best.items()}
    likelihoods = [
        seen[best[name]] for name, seen in evidence.items() if isinstance(seen, dict)
    ]  # of soft evidence, they are part of what is known
    assert best.log_prob == pytest.approx(float(model.log_prob(row)[0] + np.log(likelihoods).sum()), abs=1e-11)
    assert best.log_posterior == pytest.approx(best.log_prob - model.log_evidence(evidence), abs=1e-11)


def test_everything_given(garden: sf.BayesianNetwork) -> None:
    seen = {"season": "dry", "rain": False, "sprinkler": "on", "grass": "yes", "slips": 0, "moon": "new"}
    assert garden.marginals(seen) == {}
    assert garden.entropy(seen) == 0
    best = garden.map(seen)
    assert dict(best) == {}
    assert best.log_posterior == pytest.approx(0, abs=1e-12)
    # grass is 'yes' with 0.5 given no rain and the sprinkler on; slips is 0 with 0.5 given that
    log_p = math.log(0.5 * 0.9 * 0.7 * 0.5 * 0.5 * 0.5)
    assert best.log_prob == pytest.approx(log_p, abs=1e-12)
    assert garden.log_evidence(seen) == pytest.approx(log_p, abs=1e-12)
    assert len(garden.sample(3, given=seen, seed=1)) == 3


def test_map_says_what_is_as_likely(garden: sf.BayesianNetwork) -> None:
    best = garden.map({"slips": 0})
    assert best.ties == {"moon": ("new", "full")}
    assert "as likely in other assignments" in str(best)
    assert len(best) == 5
    with pytest.raises(sf.UnknownNameError, match="Did you mean 'moon'"):
        best["mon"]


def test_evidence_adds_up(garden: sf.BayesianNetwork) -> None:
    """log p(a, b) = log p(a) + log p(b | a), and soft evidence of ones says nothing."""
    joint = garden.log_evidence({"grass": "yes", "season": "wet"})
    given_season = garden.query("grass", given={"season": "wet"})[{"grass": "yes"}]
    assert joint == pytest.approx(garden.log_evidence({"season": "wet"}) + math.log(given_season), abs=1e-12)
    assert garden.log_evidence({"season": dict.fromkeys(STATES["season"], 1)}) == pytest.approx(0, abs=1e-12)
    assert garden.log_evidence({"season": dict.fromkeys(STATES["season"], 5)}) == pytest.approx(math.log(5))
    assert garden.log_evidence() == pytest.approx(0, abs=1e-12)


# Divergence ---------------------------------------------------------------------------------------------------


def altered(garden: sf.BayesianNetwork, **tables: Any) -> sf.BayesianNetwork:
    return sf.BayesianNetwork(GARDEN, {**TABLES, **tables}, schema=STATES)


def test_divergence(garden: sf.BayesianNetwork) -> None:
    assert garden.kl(garden) == 0
    assert garden.kl(as_field(garden, 3.0)) == pytest.approx(0, abs=1e-12)
    assert as_field(garden, 3.0).kl(garden) == pytest.approx(0, abs=1e-12)
    other = altered(garden, moon=[0.25, 0.75])
    assert garden.kl(other) == pytest.approx(0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75), abs=1e-12)
    positive = altered(garden, sprinkler=[[0.3, 0.7], [0.8, 0.2], [0.9, 0.1]])
    assert garden.kl(positive) == pytest.approx(0.2 * math.log(1 / 0.9), abs=1e-12)
    assert positive.kl(garden) == math.inf


def test_divergence_between_graphs(garden: sf.BayesianNetwork) -> None:
    """From a network to the product of its marginals: the sum of the marginals' entropies less its own."""
    marginals = garden.marginals()
    apart = sf.BayesianNetwork(
        sf.DAG(list(reversed(STATES))), {name: table.values for name, table in marginals.items()}, schema=STATES
    )
    entropies = sum(-float((t.values * np.log(t.values)).sum()) for t in marginals.values())
    assert garden.kl(apart) == pytest.approx(entropies - garden.entropy(), abs=1e-12)


def test_divergence_needs_the_same_variables(garden: sf.BayesianNetwork) -> None:
    other = sf.MarkovNetwork([], schema={"season": ["dry", "wet", "cold"]})
    with pytest.raises(sf.ModelError, match=r"different variables.*'grass'"):
        garden.kl(other)
    states = {**STATES, "moon": ["full", "new"]}
    with pytest.raises(sf.ModelError, match="different states of 'moon'"):
        garden.kl(sf.BayesianNetwork(GARDEN, TABLES, schema=states))
    with pytest.raises(sf.ArgumentError, match="another discrete model"):
        garden.kl("garden")  # type: ignore[arg-type]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_divergence_is_not_negative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    schema = {"A": ["x", "y"], "B": ["u", "v", "w"], "C": ["k", "l"]}
    first, second = (
        sf.MarkovNetwork(
            [(("A", "B"), rng.uniform(0.1, 1, (2, 3))), (("C", "B"), rng.uniform(0.1, 1, (2, 3)))], schema=schema
        )
        for _ in range(2)
    )
    p = first.query(["A", "B", "C"]).values
    q = second.query(["A", "B", "C"]).values
    assert first.kl(second) == pytest.approx(float((p * np.log(p / q)).sum()), abs=1e-12)
    assert first.kl(second) >= 0


# Draws --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evidence", [e for e in EVIDENCE if e], ids=str)
@pytest.mark.parametrize("as_markov", [False, True])
def test_draws_given_evidence_have_its_frequencies(
    garden: sf.BayesianNetwork, evidence: dict[str, Any], as_markov: bool
) -> None:
    model = as_field(garden) if as_markov else garden
    n = 20_000
    frame = model.sample(n, given=evidence, seed=11, backend="pandas")
    assert list(frame.columns) == list(STATES)
    for name in hard_names(evidence):
        assert set(frame[name]) == {evidence[name]}
    free = [name for name in STATES if name not in hard_names(evidence)]
    p = expected(model, free, evidence)
    places = np.stack([[STATES[name].index(label) for label in frame[name]] for name in free])
    counts = np.bincount(np.ravel_multi_index(tuple(places), p.shape), minlength=p.size)
    wanted = n * p.reshape(-1)
    assert not counts[wanted == 0].any()
    often = wanted >= 5
    counts, wanted = np.append(counts[often], counts[~often].sum()), np.append(wanted[often], wanted[~often].sum())
    counts, wanted = counts[wanted > 0], wanted[wanted > 0]
    assert scipy.stats.chi2.sf(float(((counts - wanted) ** 2 / wanted).sum()), len(wanted) - 1) > 1e-4


@pytest.mark.parametrize("as_markov", [False, True])
def test_draws_depend_on_the_seed_alone(garden: sf.BayesianNetwork, as_markov: bool) -> None:
    model = as_field(garden) if as_markov else garden
    for evidence in (None, {"grass": "yes"}):
        many = model.sample(70_000, given=evidence, seed=5, backend="pandas")
        again = model.sample(70_000, given=evidence, seed=5, backend="pandas")
        few = model.sample(66_000, given=evidence, seed=5, backend="pandas")
        other = model.sample(70_000, given=evidence, seed=6, backend="pandas")
        assert many.equals(again)
        assert many.iloc[:66_000].equals(few)
        assert not many.equals(other)
    assert len(model.sample(0, given={"grass": "yes"}, seed=1)) == 0


def test_draws_without_evidence_are_those_of_the_field(field_of: sf.MarkovNetwork) -> None:
    frame = field_of.sample(20_000, seed=2, backend="pandas")
    share = (frame["season"] == "dry").mean()
    assert abs(share - 0.5) < 4 * math.sqrt(0.25 / 20_000)


# Refusals -----------------------------------------------------------------------------------------------------


def crowd(n: int, states: int = 2) -> sf.MarkovNetwork:
    """Every variable tied to every other: one clique of all."""
    names = [f"person{i}" for i in range(n)]
    table = np.ones((states, states)) + np.eye(states)
    pairs = [(pair, table) for pair in itertools.combinations(names, 2)]
    return sf.MarkovNetwork(pairs, schema={name: [f"s{i}" for i in range(states)] for name in names})


REFUSED: dict[str, Any] = {
    "query": lambda model: model.query("person0"),
    "query_rows": lambda model: model.query_rows("person0", {"person1": ["s0"]}),
    "marginals": lambda model: model.marginals(),
    "map": lambda model: model.map(),
    "log_z": lambda model: model.log_z,
    "log_evidence": lambda model: model.log_evidence({"person0": "s1"}),
    "entropy": lambda model: model.entropy(),
    "kl": lambda model: model.kl(model),
    "sample": lambda model: model.sample(3, seed=1),
    "sample given": lambda model: model.sample(3, given={"person0": "s1"}, seed=1),
}


@pytest.mark.parametrize("call", REFUSED)
@pytest.mark.usefixtures("restored")
def test_tables_that_do_not_fit_are_refused_before_they_are_made(call: str) -> None:
    model = crowd(24)
    sf.config(memory="1MB")
    REFUSED["query"](crowd(3))  # whatever is loaded for the first answer is not counted
    tracemalloc.start()
    try:
        with pytest.raises(sf.ModelError) as refused:
            REFUSED[call](model)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    said = str(refused.value)
    assert "width 2" in said
    assert f"{2**24:,}" in said or f"{2**23:,}" in said or f"{2**22:,}" in said
    assert "'person" in said
    assert "sf.config(memory='1GB')" in said
    assert "1 MB" in said
    assert peak < 8e6


@pytest.mark.usefixtures("restored")
def test_more_memory_or_more_evidence_helps() -> None:
    model = crowd(16)
    sf.config(memory="100KB")
    with pytest.raises(sf.ModelError, match="Observe some of these variables"):
        model.query("person0")
    assert model.complexity().memory > 100_000 > model.complexity({f"person{i}": "s0" for i in range(1, 9)}).memory
    model.query("person0", given={f"person{i}": "s0" for i in range(1, 9)})
    sf.config(memory="10MB")
    np.testing.assert_allclose(model.query("person0").values, [0.5, 0.5], rtol=1e-10)


def test_complexity_allocates_nothing() -> None:
    model = crowd(40)
    found = model.complexity()
    assert found.width == 39
    assert found.cells == found.largest_cells == 2**40
    assert found.memory >= 8 * 2**40
    assert set(found.largest) == set(model.variables)
    assert found.n_cliques == 1
    assert "39" in str(found)


# Large tables with default rows -------------------------------------------------------------------------------


def wide_fit(n_parents: int) -> sf.BayesianNetwork:
    """A child with many parents, whose table holds only the rows that were seen."""
    rng = np.random.default_rng(0)
    data = {f"p{i}": rng.integers(0, 4, 40) for i in range(n_parents)}
    data["child"] = rng.integers(0, 2, 40)
    dag = sf.DAG("; ".join(f"p{i} -> child" for i in range(n_parents)))
    return sf.fit(dag, data, unseen_parents="uniform").model


def test_tables_with_default_rows_are_answered() -> None:
    model = wide_fit(6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.stats.counts.DENSE_CELLS", 0)
        thin = wide_fit(6)
    assert thin.cpd("child").configurations is not None
    for _ in range(inquiry.PATIENCE + 1):
        seen = {"child": 1, "p0": 2}
        reference = model.query(["p3", "p1"], given=seen).values
        np.testing.assert_allclose(thin.query(["p3", "p1"], given=seen).values, reference, rtol=1e-10)
        np.testing.assert_allclose(thin.query("child").values, model.query("child").values, rtol=1e-10)


@pytest.mark.usefixtures("restored")
def test_tables_with_default_rows_that_are_too_large_are_refused() -> None:
    model = wide_fit(14)
    assert model.cpd("child").configurations is not None
    sf.config(memory="10MB")
    with pytest.raises(sf.ModelError, match=r"'child' has 536,870,912 cells.*10 MB may be used"):
        model.query("child")


# Models as values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_markov", [False, True])
def test_models_stay_what_they_are(garden: sf.BayesianNetwork, as_markov: bool) -> None:
    model = as_field(garden) if as_markov else garden
    before, size = model.to_dict(), len(pickle.dumps(model))
    first = model.query("season", given={"grass": "yes"}).values
    evidence: dict[str, Any] = {"grass": {"yes": 0.5, "no": 1.0}, "season": ["dry", "wet"]}
    kept = {name: (dict(seen) if isinstance(seen, dict) else list(seen)) for name, seen in evidence.items()}
    for _ in range(inquiry.PATIENCE + 2):
        model.query("rain", given=evidence)
        model.marginals(evidence)
        model.map(evidence)
        model.entropy()
        model.query_rows("rain", {"grass": ["yes"]})
        model.sample(10, given=evidence, seed=1)
        model.kl(model)
    assert evidence == kept
    assert str(model.to_dict()) == str(before)
    written = pickle.dumps(model)
    assert len(written) < 2 * size + 1000
    again = pickle.loads(written)
    np.testing.assert_array_equal(again.query("season", given={"grass": "yes"}).values, first)
    np.testing.assert_allclose(model.query("season", given={"grass": "yes"}).values, first, rtol=1e-12)


def test_marginal_map_may_differ_from_joint_map():
    tables = {"A": [0.4, 0.6], "B": [[1, 0], [0.5, 0.5]]}
    model = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema={"A": [0, 1], "B": [0, 1]})
    assert model.query("A").argmax() == {"A": 1}
    assert (model.map()["A"], model.map()["B"]) == (0, 0)
    assert model.query(["A", "B"]).argmax() == {"A": 0, "B": 0}
    assert model.query("A", given={"B": 0}).argmax() == {"A": 0}
    assert dict(model.map(targets="A")) == dict(model.map(targets=["A"])) == {"A": 1}
    assert model.map(targets="A").log_prob == pytest.approx(math.log(0.6))
    assert dict(model.map({"B": 0}, targets="A")) == {"A": 0}
    assert model.map({"B": 0}, targets="A").log_posterior == pytest.approx(math.log(4 / 7))
    assert model.map(targets=["B", "A"]) == model.map()


@pytest.mark.parametrize("seen", [{}, {"grass": "yes"}, {"grass": ["damp", "yes"]}, {"rain": {True: 0.3, False: 0.1}}])
@pytest.mark.parametrize("targets", [["season"], ["slips", "moon"], ["sprinkler", "rain", "slips"]])
def test_marginal_map_is_the_largest_cell_of_the_table_of_the_targets(
    garden: sf.BayesianNetwork, seen: dict[str, Any], targets: list[str]
) -> None:
    for model in (garden, as_field(garden, 3.0)):
        table, best = model.query(targets, seen), model.map(seen, targets=targets)
        assert list(best) == targets
        found = table.values[tuple(STATES[name].index(best[name]) for name in targets)]
        assert found == pytest.approx(table.values.max(), rel=1e-12)
        assert best.log_posterior == pytest.approx(math.log(found), rel=1e-9)
        assert best.log_prob == pytest.approx(math.log(found) + model.log_evidence(seen), rel=1e-9)
        tied = np.argwhere(table.values >= table.values.max() * (1 - 1e-9))
        states = {name: tuple(STATES[name][code] for code in np.unique(tied[:, k])) for k, name in enumerate(targets)}
        assert best.ties == {name: labels for name, labels in states.items() if len(labels) > 1}


def test_marginal_map_of_more_targets_than_a_table_has_axes() -> None:
    names = [f"{kind}{step}" for step in range(60) for kind in "hx"]
    edges = [f"h{step} -> x{step}" for step in range(60)] + [f"h{step} -> h{step + 1}" for step in range(59)]
    rows = [[0.9, 0.1], [0.2, 0.8]]
    model = sf.BayesianNetwork(
        sf.DAG("; ".join(edges)),
        dict.fromkeys(names, rows) | {"h0": [0.5, 0.5]},
        schema={key: ["a", "b"] for key in names},
    )
    best = model.map({"x0": "b"}, targets=[f"h{step}" for step in range(1, 60)])
    assert set(best.values()) == {"a"}
    assert best.log_prob == pytest.approx(model.log_evidence({"x0": "b", **best}), rel=1e-12)


def test_marginal_map_refuses_what_it_cannot_answer_before_memory_is_spent(restored: None) -> None:
    names = ["root", *(f"x{number}" for number in range(40))]
    star = sf.DAG("; ".join(f"root -> {name}" for name in names[1:]))
    tables = {name: [[0.9, 0.1], [0.2, 0.8]] for name in names[1:]} | {"root": [0.5, 0.5]}
    model = sf.BayesianNetwork(star, tables, schema={key: [0, 1] for key in names})
    assert model.map()["root"] == 0
    tracemalloc.start()
    with pytest.raises(sf.ModelError, match="has width 40"):  # the root's sum joins all the others
        model.map(targets=names[1:])
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()
    with pytest.raises(sf.ArgumentError, match="asked for and given"):
        model.map({"x0": 1}, targets=["x0"])
    with pytest.raises(sf.UnknownNameError, match="no variable 'y'"):
        model.map(targets="y")
    with pytest.raises(sf.ArgumentError, match="No target was named"):
        model.map(targets=[])
    impossible = sf.BayesianNetwork(sf.DAG("A -> B; C"), {"A": [1, 0], "B": [[1, 0], [0, 1]], "C": [0.5, 0.5]},
                                    schema={key: [0, 1] for key in "ABC"})  # fmt: skip
    with pytest.raises(sf.ModelError, match="impossible"):
        impossible.map({"B": 1}, targets="C")
