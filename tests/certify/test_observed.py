"""Certificates of fits to incomplete rows: what is measured equals brute force, and what is false is noticed."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.certify.claim import Claim
from suffice.certify.observed_discrete import ExaminedNetwork, _close_rows, measured
from suffice.certify.observed_rows import ObservedCodes, ObservedRows
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.families.proof import certify
from suffice.learn.method import Start, Step
from suffice.models.cpds.tabular import TabularCPD, whole_values
from suffice.stats.available import CheckedSource

Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Case:
    """A network, and rows with gaps."""

    model: sf.BayesianNetwork
    rows: Rows

    @property
    def data(self) -> dict[str, list[Any]]:
        return {name: [row[name] for row in self.rows] for name in self.model.variables}


@st.composite
def cases(draw: Any, most: int = 5, zeros: bool = True) -> Case:
    """Draw a network of a few variables, with zeros in its tables, and rows that lack some values."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    names = "ABCDEFG"[: draw(st.integers(1, most))]
    parents = {name: [other for other in names[:at] if chance.random() < 0.5] for at, name in enumerate(names)}
    states = {name: [f"{name}{state}" for state in range(chance.integers(1, 4))] for name in names}
    tables = {}
    for name in names:
        table = chance.gamma(1.0, size=[len(states[other]) for other in (*parents[name], name)]) + 0.05
        if zeros and len(states[name]) > 1 and chance.random() < 0.3:
            table[..., 0] = 0.0
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    model = sf.BayesianNetwork(sf.DAG(parents), tables, schema=states)
    share = draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    drawn = model.sample(draw(st.integers(1, 25)), seed=int(chance.integers(1 << 30)))
    rows = [
        {name: None if chance.random() < share else drawn[name][row] for name in names} for row in range(len(drawn))
    ]
    return Case(model, rows)


def completions(model: sf.BayesianNetwork, row: dict[str, Any]) -> list[tuple[dict[str, int], float]]:
    """Return every way to fill in a row, in codes, with its probability: a plain product of table entries."""
    schema, found = model.schema, []
    options = [range(schema[n].n_states) if row[n] is None else [schema[n].code(row[n])] for n in model.variables]
    for codes in itertools.product(*options):
        cell, p = dict(zip(model.variables, codes, strict=True)), 1.0
        for name in model.variables:
            p *= float(whole_values(model.cpd(name))[tuple(cell[v] for v in model.cpd(name).family.scope)])
        found.append((cell, p))
    return found


def brute(model: sf.BayesianNetwork, rows: Rows, weights: Any = None) -> tuple[float, dict[str, Any]]:
    """Return the observed log-likelihood, and the expected counts of every family, one completion after another."""
    total = 0.0
    counts = {name: np.zeros(whole_values(model.cpd(name)).shape) for name in model.variables}
    for row, weight in zip(rows, weights or [1.0] * len(rows), strict=True):
        ways = completions(model, row)
        p = math.fsum(share for _, share in ways)
        total += weight * math.log(p)
        for cell, share in ways:
            for name, table in counts.items():
                table[tuple(cell[v] for v in model.cpd(name).family.scope)] += weight * share / p
    return total, counts


def claim_of(model: sf.BayesianNetwork, data: Any, weights: Any = None, **changes: Any) -> Claim:
    """Return the claim that a model is the fit to rows with gaps."""
    dag = changes.get("structure", model.dag)
    table = open_table(data, dag.columns, schema=model.schema.select(dag.columns), missing=KEEP, weights=weights)
    source = CheckedSource(table)
    statistics = dataclasses.replace(source.gather(()), schema=model.schema)
    claim = Claim(dag, model, statistics, math.nan, source=source, incomplete=True, method="em")
    return dataclasses.replace(claim, **changes)


def claimed(fit: sf.Fit, data: Any, **changes: Any) -> Claim:
    """Return what a fit by EM claims, with changes."""
    told = {
        "structure": fit.structure,
        "log_likelihood": fit.log_likelihood,
        "point": fit.point,
        "prior": fit.prior,
        "trace": fit.trace,
        "starts": fit.starts,
    }
    return claim_of(changes.pop("model", fit.model), data, **{**told, **changes})


def moved(model: sf.BayesianNetwork, node: str, row: int, by: float) -> sf.BayesianNetwork:
    """Return the model with a little probability moved to the last state of one row."""
    cpd = model.cpd(node)
    values = np.array(cpd.values)
    values[row] *= 1 - by
    values[row, -1] += by
    return sf.BayesianNetwork(
        model.dag, {**{n: model.cpd(n) for n in model.variables}, node: TabularCPD(cpd.family, values)}
    )


CHAIN = sf.DAG("A -> B; B -> C; A -> C")


def gappy(n: int = 300, share: float = 0.25, seed: int = 0) -> dict[str, list[Any]]:
    """Return rows of three variables, some values missing."""
    chance = np.random.default_rng(seed)
    a = chance.random(n) < 0.4
    b = chance.random(n) < np.where(a, 0.8, 0.3)
    c = chance.random(n) < np.where(a & b, 0.75, 0.35)
    return {
        name: [None if chance.random() < share else "ny"[int(value)] for value in values]
        for name, values in {"A": a, "B": b, "C": c}.items()
    }


# What is measured ---------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(cases())
def test_log_likelihood_and_gradient_are_those_of_brute_force(case: Case) -> None:
    log_likelihood, counts = brute(case.model, case.rows)
    examined = ExaminedNetwork(claim_of(case.model, case.data))
    assert examined.found.log_likelihood == pytest.approx(log_likelihood, rel=1e-12, abs=1e-12)
    worst = 0.0
    for name, table in counts.items():
        np.testing.assert_allclose(examined.table(examined.found.counts, name), table, atol=1e-11)
        gaps = table - table.sum(axis=-1, keepdims=True) * whole_values(case.model.cpd(name))
        worst = max(worst, float(np.abs(gaps).max()) / len(case.rows))
    found = measured(claim_of(case.model, case.data))
    assert found.residual >= worst - 1e-12
    if all((whole_values(cpd) > 0).all() for cpd in case.model.cpds):
        assert found.residual == pytest.approx(worst, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(cases(), st.integers(0, 1 << 30))
def test_every_way_of_inference_finds_the_same(case: Case, seed: int) -> None:
    examined = ExaminedNetwork(claim_of(case.model, case.data))
    network, values = examined.network, examined.values
    rows = ObservedCodes(np.array([[-1 if row[v.name] is None else v.code(row[v.name]) for v in examined.variables]
                          for row in case.rows], np.int32),
                np.random.default_rng(seed).random(len(case.rows)))  # fmt: skip
    found = []
    for way in (ObservedRows._by_joint, ObservedRows._by_tree, ObservedRows._one_by_one):
        counts = np.zeros(len(values))
        found.append((way(network, values, rows, counts), counts))
    joint, *others = found
    assert len(others) == 2
    for log_p, counts in others:
        np.testing.assert_allclose(log_p, joint[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(counts, joint[1], atol=1e-11)


def test_rows_too_far_apart_for_linear_space_are_done_again_in_logarithms() -> None:
    names = [f"X{i}" for i in range(9)]
    rare = 1e-60
    tables = {"H": [0.5, 0.5]} | {name: [[1 - rare, rare], [0.5, 0.5]] for name in names}
    dag = sf.DAG({"H": [], **{name: ["H"] for name in names}})
    model = sf.BayesianNetwork(dag, tables, schema={name: ["n", "y"] for name in ["H", *names]})
    examined = ExaminedNetwork(claim_of(model, {name: [None if name == "H" else "y"] for name in ["H", *names]}))
    rows = ObservedCodes(np.array([[-1, *[1] * 9]], np.int32), np.ones(1))
    counts, again = np.zeros(len(examined.values)), np.zeros(len(examined.values))
    log_p = examined.network._by_tree(examined.values, rows, counts)
    assert log_p[0] == pytest.approx(math.log(0.5 * 0.5**9), rel=1e-12)
    assert examined.network._by_joint(examined.values, rows, again)[0] == pytest.approx(log_p[0], rel=1e-12)
    np.testing.assert_allclose(counts, again, atol=1e-12)


def test_digits_of_rows_too_far_apart_are_not_lost() -> None:
    # Y leaves only the state of H whose share, about 1e-320, has few digits as a float.
    tables = {
        "H": [1 - 1e-160, 1e-160],
        "X": [[0.0, 1.0], [1 - 3e-161, 3e-161]],
        "Y": [[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]],
    }
    dag = sf.DAG("H -> X; H -> Y; X -> Y")
    model = sf.BayesianNetwork(dag, tables, schema={name: ["n", "y"] for name in tables})
    examined = ExaminedNetwork(claim_of(model, {"H": [None], "X": ["y"], "Y": ["y"]}))
    rows = ObservedCodes(np.array([[-1, 1, 1]], np.int32), np.ones(1))
    for way in (ObservedRows._by_joint, ObservedRows._by_tree, ObservedRows._one_by_one):
        counts = np.zeros(len(examined.values))
        log_p = way(examined.network, examined.values, rows, counts)
        assert log_p[0] == pytest.approx(math.log(1e-160) + math.log(3e-161), rel=1e-13)
        np.testing.assert_allclose(examined.table(counts, "H"), [0, 1], atol=1e-12)


def test_results_do_not_depend_on_threads_or_blocks() -> None:
    data, model = gappy(4000), sf.fit(CHAIN, gappy(4000), missing="em").model
    claim = claim_of(model, data)
    assert claim.source is not None
    whole = measured(claim)
    parts = measured(dataclasses.replace(claim, source=dataclasses.replace(claim.source, block_rows=97)))
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-13)
    assert parts.residual == pytest.approx(whole.residual, abs=1e-12)


# What is certified --------------------------------------------------------------------------------------------

WAYS: list[dict[str, Any]] = [
    {},
    {"prior": sf.BDeu(5)},
    {"prior": sf.Dirichlet(2.0), "point": "map"},
    {"fixed": {"B": {"n": [0.5, 0.5]}}},
]


@pytest.mark.parametrize("way", WAYS)
def test_a_fit_is_certified_and_one_that_is_a_little_off_is_not(way: dict[str, Any]) -> None:
    data = gappy()
    fit = sf.fit(CHAIN, data, missing="em", **way)
    assert fit.certificate.ok, fit.certificate.verdict
    for node, row in [("A", 0), ("B", 1), ("C", 0), ("C", 3)]:
        model = moved(fit.model, node, row, 1e-4)
        own = measured(claimed(fit, data, model=model, fixed=way.get("fixed", {}))).log_likelihood
        found = certify(claimed(fit, data, model=model, log_likelihood=own, fixed=way.get("fixed", {})))
        assert not found.ok
        assert f"node {node!r}" in found.worst


def test_the_claim_names_the_objective() -> None:
    data = gappy()
    said = [sf.fit(CHAIN, data, missing="em", **way).certificate.claim for way in WAYS[:3]]
    assert said[0].startswith("maximum of the observed likelihood (")
    assert said[1].startswith("maximum of the penalised observed likelihood, ℓ + Σ α log θ (")
    assert said[2].startswith("maximum of the penalised observed likelihood, ℓ + log prior (")
    assert all("not proven global" in words for words in said)


def test_a_wrong_log_likelihood_is_noticed() -> None:
    data = gappy()
    fit = sf.fit(CHAIN, data, missing="em")
    found = certify(claimed(fit, data, log_likelihood=fit.log_likelihood * (1 + 1e-6)))
    assert not found.ok
    assert "the log-likelihood, recomputed, differs" in found.verdict


def test_other_data_are_noticed() -> None:
    fit = sf.fit(CHAIN, gappy(), missing="em")
    assert not certify(claimed(fit, gappy(seed=1))).ok


def test_a_trace_that_falls_is_noticed() -> None:
    data = gappy()
    fit = sf.fit(CHAIN, data, missing="em")
    top = fit.log_likelihood
    steps = (Step(1, top - 5), Step(2, top), Step(3, top - 1e-3), Step(4, top))
    found = certify(claimed(fit, data, trace=steps))
    assert not found.ok
    assert found.descent == pytest.approx(1e-3 / abs(top - 5), rel=1e-6)
    assert "a step lowered the objective" in found.verdict


def test_given_rows_that_were_changed_are_noticed() -> None:
    data = gappy()
    fit = sf.fit(CHAIN, data, missing="em", fixed={"B": {"n": [0.5, 0.5]}})
    found = certify(claimed(fit, data, fixed={"B": {"n": [0.5 + 1e-9, 0.5 - 1e-9]}}))
    assert not found.ok
    assert "a given row was changed" in found.worst


def test_tied_nodes_are_judged_together() -> None:
    data = gappy()
    dag = sf.DAG("A -> B; A -> C", tie=[("B", "C")])
    fit = sf.fit(dag, data, missing="em", schema={name: ["n", "y"] for name in "ABC"})
    assert fit.certificate.ok
    assert not certify(claimed(fit, data, model=moved(fit.model, "C", 0, 1e-4))).ok


def test_noisy_or_nodes_are_judged_by_their_strengths() -> None:
    data = gappy(600)
    dag = sf.DAG("A -> C; B -> C", kinds={"C": "noisy_or"})
    fit = sf.fit(dag, data, missing="em")
    assert fit.certificate.ok, fit.certificate.verdict
    cpd = fit.model.cpd("C")
    for leak, by in ((1e-4, [0.0, 0.0]), (0.0, [1e-4, 0.0]), (0.0, [0.0, -1e-4])):
        off = dataclasses.replace(cpd, leak=cpd.leak + leak, strengths=cpd.strengths + by)
        model = sf.BayesianNetwork(dag, {"A": fit.model.cpd("A"), "B": fit.model.cpd("B"), "C": off})
        assert "node 'C', the strength of" in certify(claimed(fit, data, model=model)).worst


def test_slopes_of_noisy_or_strengths_are_those_of_the_likelihood() -> None:
    """Slopes are per row, to −log(1 − strength), of every state of a parent but the first."""
    chance = np.random.default_rng(5)
    a, b = chance.integers(0, 3, 400), chance.integers(0, 2, 400)
    c = chance.random(400) < 1 - 0.6 ** (a == 1) * 0.3 ** (a == 2) * 0.7**b
    states = {"A": np.array(["l", "m", "h"])[a], "B": b, "C": np.array(["n", "y"])[c.astype(int)]}
    data = {
        name: [None if chance.random() < 0.2 else value for value in values.tolist()] for name, values in states.items()
    }
    dag = sf.DAG("A -> C; B -> C", kinds={"C": {"kind": "noisy_or", "leak": False}})
    fit = sf.fit(dag, {name: values.tolist() for name, values in states.items()}, schema={"A": ["l", "m", "h"]})
    cpd, h, names = fit.model.cpd("C"), 1e-6, ("A='m'", "A='h'", "B=1")

    def moved_by(step: np.ndarray[Any, Any]) -> sf.BayesianNetwork:
        off = dataclasses.replace(cpd, strengths=1 - (1 - cpd.strengths) * np.exp(-step))
        return sf.BayesianNetwork(dag, {"A": fit.model.cpd("A"), "B": fit.model.cpd("B"), "C": off})

    def height(step: np.ndarray[Any, Any]) -> float:
        return float(moved_by(step).log_prob(data, missing="marginalise").sum())

    seen = set()
    for _ in range(12):
        step = chance.uniform(0.0, 0.5, 3)
        slopes = np.array([height(step + h * unit) - height(step - h * unit) for unit in np.eye(3)]) / (2 * h * 400)
        largest = int(np.argmax(np.abs(slopes)))
        found = measured(claim_of(moved_by(step), data))
        assert found.worst == f"node 'C', the strength of {names[largest]}"
        assert found.residual == pytest.approx(abs(slopes[largest]), rel=1e-4)
        seen.add(names[largest])
    assert seen >= {"A='m'", "B=1"}


def test_rows_of_a_table_that_are_close_are_found_whatever_their_order() -> None:
    chance = np.random.default_rng(2)
    kept = chance.dirichlet(np.ones(3), size=40)
    which = np.concatenate([np.arange(40), chance.integers(0, 30, 20)])
    chance.shuffle(which)
    wanted = [np.flatnonzero(which == one).tolist() for one in dict.fromkeys(which.tolist())]
    found = [group.tolist() for group in _close_rows(kept[which])]
    assert found == [group for group in wanted if len(group) > 1]


def test_a_zero_with_which_the_likelihood_would_rise_is_noticed() -> None:
    """EM never leaves a probability of zero, whatever the data say."""
    data = gappy()
    fit = sf.fit(sf.DAG("A -> B"), data, missing="em")
    b = fit.model.cpd("B")

    def with_a_probability_of(p: float) -> sf.BayesianNetwork:
        moved_to = TabularCPD(b.family, np.array([[p, 1.0 - p], b.values[1]]))
        return sf.BayesianNetwork(fit.model.dag, {"A": fit.model.cpd("A"), "B": moved_to})

    both = [row for row in range(300) if data["A"][row] is not None and data["B"][row] is not None]
    seen = {name: [value if row not in both else None for row, value in enumerate(data[name])] for name in "AB"}
    found = measured(claim_of(with_a_probability_of(0.0), seen))
    assert "has probability zero and the likelihood rises with it" in found.worst
    low, high = (with_a_probability_of(p).log_prob(seen, missing="marginalise").sum() for p in (0.0, 1e-6))
    assert found.residual == pytest.approx((high - low) / 1e-6 / 300, rel=1e-4)


def test_a_probability_next_to_zero_is_judged_as_zero() -> None:
    rows = [(0, 0, 0), (1, 1, 1), (None, 1, 1), (1, 0, None), (None, 0, 1), (0, 1, 0), (0, 0, None), (None, 1, 1)]
    seen = [row for row, n in zip(rows, (3, 2, 3, 1, 1, 2, 5, 1), strict=True) for _ in range(n)]
    data = dict(zip("ABC", map(list, zip(*seen, strict=True)), strict=True))
    dag = sf.DAG("A -> B; A -> C")
    stuck = sf.fit(dag, data, missing="em", fixed={"C": [[1 - 1e-13, 1e-13], [1e-13, 1 - 1e-13]]}).model
    found = measured(claim_of(stuck, data))
    assert "the likelihood rises with it" in found.worst
    assert found.residual > 1e-3


def test_zeros_of_a_maximum_are_accepted() -> None:
    data = {"A": ["u"] * 5 + ["v"] * 5 + [None], "B": ["x"] * 5 + ["y"] * 4 + [None, "y"]}
    fit = sf.fit(sf.DAG("A -> B"), data, missing="em")
    assert fit.certificate.ok, fit.certificate.verdict


def test_impossible_rows_are_named() -> None:
    model = sf.BayesianNetwork(sf.DAG("A -> B"), {"A": [1.0, 0.0], "B": [[1.0, 0.0], [0.5, 0.5]]},
                               schema={"A": ["u", "v"], "B": ["x", "y"]})  # fmt: skip
    found = measured(claim_of(model, {"A": [None, "u", None], "B": ["y", None, "x"]}))
    assert (found.log_likelihood, found.residual) == (-math.inf, math.inf)
    assert "1 row that the tables rule out" in found.worst


# What is left open --------------------------------------------------------------------------------------------


def test_starts_are_told() -> None:
    data = gappy()
    fit = sf.fit(CHAIN, data, missing="em")
    starts = tuple(Start("random", end, 10, True) for end in (-10.5, -9.25, -9.25, -12.0))
    found = certify(claimed(fit, data, starts=starts))
    assert found.starts == "4 ended between -12 and -9.25; 2 agree with the best to 0.001"
    assert "Starts: 4 ended between -12 and -9.25" in str(found)
    assert certify(claimed(fit, data, starts=starts[1:3])).starts == "all 2 ended at -9.25, to 0.001"


def test_latent_states_have_no_order_and_may_collapse() -> None:
    data = gappy()
    dag = sf.DAG("H -> A; H -> B; H -> C", latent={"H": 2})
    schema = {name: ["n", "y"] for name in "ABC"} | {"H": [0, 1]}
    same = {"H": [0.5, 0.5], **{name: [[0.4, 0.6], [0.4, 0.6]] for name in "ABC"}}
    open_ = measured(claim_of(sf.BayesianNetwork(dag, same, schema=schema), data)).remarks
    assert "the states of 'H' have no order, and exchanging them gives the same likelihood" in open_
    assert "the states 0 and 1 of 'H' have the same distributions" in open_
    gone = {**same, "H": [1.0, 0.0]}
    open_ = measured(claim_of(sf.BayesianNetwork(dag, gone, schema=schema), data)).remarks
    assert "the state 1 of 'H' has collapsed: no row is in it" in open_


def test_more_parameters_than_observed_margins_are_told() -> None:
    dag = sf.DAG("H -> A; H -> B", latent={"H": 2})
    fit = sf.fit(dag, gappy(), missing="em", seed=0)
    assert "5 free parameters cannot all be told from 3 margins of what is observed" in fit.certificate.boundary


def test_a_column_entirely_missing_is_told() -> None:
    data = {**gappy(), "B": [None] * 300}
    schema = {name: ["n", "y"] for name in "ABC"}
    fit = sf.fit(CHAIN, data, missing="em", schema=schema)
    assert "'B' is missing in every row" in fit.certificate.boundary
    assert "Left open: 'B' is missing" in str(fit.certificate)


def test_a_proof_that_finds_no_room_says_so() -> None:
    data = gappy()
    fit = sf.fit(CHAIN, data, missing="em")
    claim = claimed(fit, data)
    before = sf.config().memory
    sf.config(memory=100)
    try:
        found = certify(claim)
    finally:
        sf.config(memory=before)
    assert not found.ok
    assert "nothing could be measured" in found.verdict
