"""Bayesian networks from complete data: fits equal their slow twins, on random graphs with random, correlated data."""

from __future__ import annotations

import contextlib
import gc
import itertools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive

import suffice as sf
from suffice.models import cpds
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.tabular_kind import TabularKind

# Random networks with data ------------------------------------------------------------------------------------


ROOT = "*"


@dataclass(frozen=True)
class Case:
    """A graph, states, a table and perhaps weights."""

    parents: dict[str, tuple[str, ...]]
    states: dict[str, tuple[str, ...]]
    columns: dict[str, list[str]]
    weights: tuple[float, ...] | None

    @property
    def dag(self) -> sf.DAG:
        return sf.DAG(self.parents)

    @property
    def n(self) -> float:
        return float(len(next(iter(self.columns.values())))) if self.weights is None else math.fsum(self.weights)

    def fit(self, **keywords: Any) -> sf.Fit:
        return sf.fit(self.dag, self.columns, weights=self.weights, schema=self.states, **keywords)

    def counts(self, scope: tuple[str, ...]) -> dict[tuple[str, ...], Fraction]:
        """Return m(x_C) of every configuration that occurs; with an empty scope, the total."""
        found = naive.counts(self.with_root, (ROOT, *scope), self.weights)
        return {cell[1:]: m for cell, m in found.items() if m}

    def mle(self, node: str) -> dict[tuple[str, ...], Fraction]:
        """Return θ̂ by (…parents, child) of every configuration that occurs."""
        found = naive.mle(self.with_root, node, (ROOT, *self.parents[node]), self.weights)
        return {cell[1:]: p for cell, p in found.items()}

    @property
    def with_root(self) -> dict[str, list[str]]:
        """The columns and a constant one, which stands in for the parents of roots."""
        return {**self.columns, ROOT: ["*"] * len(next(iter(self.columns.values())))}

    def all_rows(self) -> dict[str, list[str]]:
        """Every joint configuration, whether it occurs or not."""
        rows = list(itertools.product(*self.states.values()))
        return {name: [row[i] for row in rows] for i, name in enumerate(self.states)}


@st.composite
def cases(draw: st.DrawFn, weighted: bool = True, max_rows: int = 24, max_nodes: int = 5) -> Case:
    """Draw a graph of 1-5 nodes with 1-4 states; columns copy earlier ones now and then, so that parents correlate."""
    n_nodes = draw(st.integers(1, max_nodes))
    names = draw(st.permutations([f"V{i}" for i in range(n_nodes)]))
    order = draw(st.permutations(range(n_nodes)))
    edges = draw(st.lists(st.booleans(), min_size=10, max_size=10))
    pairs = list(itertools.combinations(range(n_nodes), 2))
    above: dict[str, list[str]] = {name: [] for name in names}
    for (i, j), present in zip(pairs, edges, strict=False):
        if present:
            above[names[order[j]]].append(names[order[i]])
    states = {name: tuple(draw(st.permutations("abcd"[: draw(st.integers(1, 4))]))) for name in names}
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, max_rows))
    columns: dict[str, list[str]] = {}
    for position in order:
        name = names[position]
        fresh = rng.integers(0, len(states[name]), n_rows)
        if columns and rng.random() < 0.7:
            other = columns[list(columns)[rng.integers(len(columns))]]
            copied = np.array(["abcd".index(label) % len(states[name]) for label in other])
            fresh = np.where(rng.random(n_rows) < 0.7, copied, fresh)
        columns[name] = [sorted(states[name])[code] for code in fresh]
    weights = None
    if weighted and draw(st.booleans()):
        unit = draw(st.sampled_from([1.0, 0.25]))
        weights = tuple(float(w) * unit for w in rng.integers(0, 5, n_rows))
        if not any(weights):
            weights = (1.0,) * n_rows
    return Case({name: tuple(above[name]) for name in names}, states, columns, weights)


def cells_of(cpd: Any) -> dict[tuple[Any, ...], float]:
    """Return θ by (…parents, child), also for tables that hold only some of their rows."""
    parents, child = cpd.family.parents, cpd.family.child
    codes = list(itertools.product(*(range(p.n_states) for p in parents)))
    rows = cpd.probabilities(np.array(codes, np.int64).reshape(len(codes), len(parents)))
    above = itertools.product(*(p.labels for p in parents))
    return {(*labels, state): float(p) for labels, row in zip(above, rows, strict=True)
            for state, p in zip(child.labels, row, strict=True)}  # fmt: skip


def assert_cells(found: Mapping[Any, float], expected: Mapping[Any, float], tolerance: float = 1e-12) -> None:
    assert found.keys() == expected.keys()
    for cell, p in expected.items():
        assert found[cell] == pytest.approx(p, rel=tolerance, abs=tolerance, nan_ok=True), cell


def naive_cells(case: Case, node: str) -> dict[tuple[str, ...], float]:
    """Return θ̂ for every cell: 0 in rows with data where nothing was counted, NaN in rows without data."""
    above = case.parents[node]
    theta, seen = case.mle(node), case.counts(above)
    cells = itertools.product(*(case.states[name] for name in (*above, node)))
    return {cell: float(theta.get(cell, 0)) if cell[:-1] in seen else math.nan for cell in cells}


# Maximum likelihood -------------------------------------------------------------------------------------------


@given(cases())
@settings(max_examples=80)
def test_mle_equals_counting_by_hand(case: Case) -> None:
    fit = case.fit(unseen_parents="nan")
    assert fit.model.variables == tuple(case.parents)
    for node in case.parents:
        assert_cells(cells_of(fit.model.cpd(node)), naive_cells(case, node))


@given(cases(weighted=False))
@settings(max_examples=60)
def test_log_likelihood_equals_one_row_at_a_time(case: Case) -> None:
    fit = case.fit(unseen_parents="nan")
    expected = naive.log_likelihood(case.with_root, {node: (ROOT, *above) for node, above in case.parents.items()})
    assert fit.log_likelihood == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert float(fit.model.log_prob(case.columns).sum()) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(cases())
@settings(max_examples=60)
def test_local_log_likelihoods_are_each_familys_own_and_add_up(case: Case) -> None:
    fit = case.fit(unseen_parents="nan")
    assert list(fit.local) == list(case.parents)
    for node, above in case.parents.items():
        theta = case.mle(node)
        terms = [float(m) * math.log(theta[cell]) for cell, m in case.counts((*above, node)).items()]
        assert fit.local[node] == pytest.approx(math.fsum(terms), rel=1e-12, abs=1e-12)
    assert fit.log_likelihood == pytest.approx(math.fsum(fit.local.values()), rel=1e-12, abs=1e-12)


@given(cases(), st.integers(0, 4))
@settings(max_examples=40)
def test_each_node_is_fitted_from_its_own_family_alone(case: Case, pick: int) -> None:
    node = list(case.parents)[pick % len(case.parents)]
    above = case.parents[node]
    alone = sf.fit(
        sf.DAG({node: above, **dict.fromkeys(above, ())}),
        {name: case.columns[name] for name in (*above, node)},
        weights=case.weights,
        schema={name: case.states[name] for name in (*above, node)},
        unseen_parents="nan",
    )
    whole = case.fit(unseen_parents="nan")
    assert np.array_equal(alone.model.cpd(node).values, whole.model.cpd(node).values, equal_nan=True)
    assert alone.local[node] == whole.local[node]


@given(cases())
@settings(max_examples=60)
def test_aic_bic_and_free_parameters_follow_their_formulas(case: Case) -> None:
    fit = case.fit(unseen_parents="nan")
    sizes = {name: len(states) for name, states in case.states.items()}
    k = sum((sizes[v] - 1) * math.prod(sizes[p] for p in above) for v, above in case.parents.items())
    assert fit.n_free == k
    assert fit.n == case.n
    assert fit.aic == pytest.approx(-2 * fit.log_likelihood + 2 * k, rel=1e-14)
    assert fit.bic == pytest.approx(-2 * fit.log_likelihood + k * math.log(case.n), rel=1e-14, abs=1e-12)
    adjusted = 0
    for node, above in case.parents.items():
        seen: dict[tuple[str, ...], set[str]] = {}
        for cell in case.counts((*above, node)):
            seen.setdefault(cell[:-1], set()).add(cell[-1])
        adjusted += sum(len(states) - 1 for states in seen.values())
    assert fit.n_free_adjusted == adjusted <= fit.n_free


@given(cases(weighted=False), st.data())
@settings(max_examples=40)
def test_whole_weights_equal_repeated_rows(case: Case, data: st.DataObject) -> None:
    n_rows = len(next(iter(case.columns.values())))
    weights = data.draw(st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows).filter(any))
    long = {name: [label for label, w in zip(labels, weights, strict=True) for _ in range(w)]
            for name, labels in case.columns.items()}  # fmt: skip
    keywords: dict[str, Any] = {"schema": case.states, "unseen_parents": "nan"}
    weighted = sf.fit(case.dag, case.columns, weights=weights, **keywords)
    repeated = sf.fit(case.dag, long, **keywords)
    for node in case.parents:
        assert np.array_equal(weighted.model.cpd(node).values, repeated.model.cpd(node).values, equal_nan=True)
    assert weighted.log_likelihood == repeated.log_likelihood
    assert (weighted.n, weighted.aic, weighted.bic) == (repeated.n, repeated.aic, repeated.bic)


def test_weights_in_a_column_equal_weights_in_a_list() -> None:
    data = {"A": ["x", "y", "y"], "B": ["u", "u", "v"], "w": [2.5, 1.0, 3.0]}
    by_column = sf.fit(sf.DAG("A -> B"), data, weights="w")
    by_list = sf.fit(sf.DAG("A -> B"), {name: data[name] for name in "AB"}, weights=data["w"])
    assert by_column.n == by_list.n == 6.5
    assert by_column.log_likelihood == by_list.log_likelihood
    assert by_column.model.cpd("B").table[{"A": "y", "B": "v"}] == 0.75


@given(cases(), st.integers(1, 20))
@settings(max_examples=40)
def test_parts_collected_apart_add_up_to_the_whole(case: Case, cut: int) -> None:
    rows = len(next(iter(case.columns.values())))
    cut = min(cut, rows)
    parts = []
    for piece in (slice(0, cut), slice(cut, rows)):
        columns = {name: values[piece] for name, values in case.columns.items()}
        if next(iter(columns.values())):
            weights = None if case.weights is None else case.weights[piece]
            parts.append(sf.collect(case.dag, columns, weights=weights, schema=case.states))
    stats = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    apart, whole = sf.estimate(case.dag, stats, unseen_parents="nan"), case.fit(unseen_parents="nan")
    for node in case.parents:
        assert np.array_equal(apart.model.cpd(node).values, whole.model.cpd(node).values, equal_nan=True)
    assert apart.log_likelihood == whole.log_likelihood


# Parent configurations without data ---------------------------------------------------------------------------

UNSEEN = {"A": ["x", "x", "y", "y"], "B": ["p", "q", "p", "p"], "C": ["u", "v", "u", "v"]}
UNSEEN_DAG = sf.DAG("A -> C <- B")


def test_unseen_parents_are_an_error_by_default_that_names_the_first() -> None:
    with pytest.raises(sf.EstimationError, match=r"'C' has 1 parent configuration .*A='y', B='q'.*unseen_parents"):
        sf.fit(UNSEEN_DAG, UNSEEN)


@pytest.mark.parametrize(("policy", "expected"), [("nan", math.nan), ("uniform", 0.5)])
def test_unseen_parents_policies(policy: str, expected: float) -> None:
    fit = sf.fit(UNSEEN_DAG, UNSEEN, unseen_parents=policy)
    table = fit.model.cpd("C").table
    for state in "uv":
        value = table[{"A": "y", "B": "q", "C": state}]
        assert value == pytest.approx(expected, nan_ok=True)
    assert table[{"A": "x", "B": "p", "C": "u"}] == 1
    assert any("1 parent configuration" in str(note) and "A='y', B='q'" in str(note) for note in fit.notes)
    assert fit.certificate.ok


def test_a_proper_prior_answers_for_unseen_parents_by_itself() -> None:
    fit = sf.fit(UNSEEN_DAG, UNSEEN, prior=sf.BDeu(1))
    assert fit.model.cpd("C").table[{"A": "y", "B": "q", "C": "u"}] == 0.5
    assert not any("without data" in str(note) for note in fit.notes)


def test_unknown_policy_is_refused() -> None:
    with pytest.raises(sf.ArgumentError, match="unseen_parents"):
        sf.fit(UNSEEN_DAG, UNSEEN, unseen_parents="ignore")


def test_declared_states_without_data_have_probability_zero() -> None:
    fit = sf.fit(sf.DAG("A"), {"A": ["x", "y"]}, schema={"A": ["z", "y", "x"]})
    assert fit.model.schema["A"].states == ("z", "y", "x")
    assert fit.model.cpd("A").table.to_numpy().tolist() == [0.0, 0.5, 0.5]
    assert (fit.n_free, fit.n_free_adjusted) == (2, 1)


# Ties ---------------------------------------------------------------------------------------------------------

CHAIN = {
    "X0": list("aabbbaab"),
    "X1": list("abbbabba"),
    "X2": list("bbbaabab"),
    "X3": list("abaabbbb"),
}
CHAIN_DAG = sf.DAG("X0 -> X1 -> X2 -> X3", tie=[("X1", "X2", "X3")])
STACKED = {"before": CHAIN["X0"] + CHAIN["X1"] + CHAIN["X2"], "after": CHAIN["X1"] + CHAIN["X2"] + CHAIN["X3"]}


@pytest.mark.parametrize("keywords", [{}, {"prior": sf.K2()}, {"prior": sf.BDeu(3)},
                                      {"prior": sf.Dirichlet(2), "point": "map"}])  # fmt: skip
def test_tied_nodes_equal_a_fit_of_the_stacked_data(keywords: dict[str, Any]) -> None:
    tied = sf.fit(CHAIN_DAG, CHAIN, **keywords)
    stacked = sf.fit(sf.DAG("before -> after"), STACKED, **keywords)
    for node in ("X1", "X2", "X3"):
        assert np.array_equal(tied.model.cpd(node).values, stacked.model.cpd("after").values)
        assert tied.model.cpd(node).family.child.name == node
    assert sum(tied.local[node] for node in ("X1", "X2", "X3")) == pytest.approx(stacked.local["after"], rel=1e-13)
    assert tied.certificate.ok
    if keywords:
        posterior = stacked.posterior["after"].log_marginal_likelihood
        start = tied.posterior["X0"].log_marginal_likelihood
        assert tied.log_marginal_likelihood == pytest.approx(posterior + start, rel=1e-13)


def test_tied_parameters_are_counted_once() -> None:
    tied, free = sf.fit(CHAIN_DAG, CHAIN), sf.fit(sf.DAG("X0 -> X1 -> X2 -> X3"), CHAIN)
    assert (tied.n_free, free.n_free) == (3, 7)
    assert (tied.n_free_adjusted, free.n_free_adjusted) == (3, 7)
    assert tied.log_likelihood < free.log_likelihood


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3), st.integers(1, 12))
@settings(max_examples=40)
def test_tied_pairs_with_several_parents_equal_stacked_data(seed: int, r: int, q: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    states = {"P": list("abc"[:q]), "Q": list("xy"), "B": list("uvwz"[:r])}
    names = {"P": ("P1", "P2"), "Q": ("Q1", "Q2"), "B": ("B1", "B2")}
    columns = {name: [states[kind][code] for code in rng.integers(0, len(states[kind]), n)]
               for kind, pair in names.items() for name in pair}  # fmt: skip
    weights = rng.integers(1, 4, n) / 2
    schema = {name: states[kind] for kind, pair in names.items() for name in pair}
    tied = sf.fit(
        sf.DAG({"B1": ["P1", "Q1"], "B2": ["P2", "Q2"]}, tie=[("B2", "B1")]),
        columns,
        weights=weights,
        schema=schema,
        unseen_parents="nan",
    )
    stacked = sf.fit(
        sf.DAG({"B": ["P", "Q"]}),
        {kind: columns[pair[0]] + columns[pair[1]] for kind, pair in names.items()},
        weights=np.concatenate([weights, weights]),
        schema=states,
        unseen_parents="nan",
    )
    for node in ("B1", "B2"):
        assert np.array_equal(tied.model.cpd(node).values, stacked.model.cpd("B").values, equal_nan=True)
    assert tied.certificate.ok
    # B counts once for both, P1, P2, Q1 and Q2 for themselves
    assert tied.n_free == (r - 1) * q * 2 + 2 * (q - 1) + 2
    assert tied.n_free_adjusted - stacked.n_free_adjusted == sum(
        len(set(columns[name])) - 1 for kind in "PQ" for name in names[kind]
    ) - sum(len(set(columns[names[kind][0]] + columns[names[kind][1]])) - 1 for kind in "PQ")


def test_tied_nodes_need_equal_states() -> None:
    with pytest.raises(sf.StatisticsError, match="tied"):
        sf.fit(sf.DAG("A; B", tie=[("A", "B")]), {"A": ["x", "y"], "B": ["x", "z"]})
    with pytest.raises(sf.StatisticsError, match="tied"):
        sf.fit(sf.DAG("A; B", tie=[("A", "B")]), {"A": [False, True], "B": [0, 1]})


# What an expert fixes -----------------------------------------------------------------------------------------

AB = {"A": ["x", "x", "y", "y", "z"], "B": ["u", "v", "v", "v", "u"]}
THIRD = 1 / 3


def test_fixed_rows_are_left_alone_bit_for_bit_and_are_not_free() -> None:
    row = [0.1 + 0.2, 1 - (0.1 + 0.2)]
    fit = sf.fit(sf.DAG("A -> B"), AB, fixed={"B": {"y": row}})
    assert fit.model.cpd("B").values[1].tolist() == row
    assert fit.model.cpd("B").values[[0, 2]].tolist() == [[0.5, 0.5], [1, 0]]
    assert (fit.n_free, fit.n_free_adjusted) == (2 + 2, 2 + 1)
    assert fit.certificate.ok
    assert ["B" in str(note) and "1 row" in str(note) and "given" in str(note) for note in fit.notes] == [True]
    expected = 2 * math.log(0.5) + 2 * math.log(row[1])
    assert fit.local["B"] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    "given_table",
    [
        [[0.25, 0.75], [THIRD, 1 - THIRD], [0.0, 1.0]],
        {"x": {"v": 0.75, "u": 0.25}, "y": (THIRD, 1 - THIRD), ("z",): {"u": 0.0, "v": 1.0}},
    ],
)
def test_a_whole_fixed_table_is_left_alone(given_table: Any) -> None:
    fit = sf.fit(sf.DAG("A -> B"), AB, fixed={"B": given_table})
    assert fit.model.cpd("B").values.tolist() == [[0.25, 0.75], [THIRD, 1 - THIRD], [0, 1]]
    assert (fit.n_free, fit.n_free_adjusted) == (2, 2)
    assert fit.log_likelihood == -math.inf  # the data has z with u, which the expert excludes
    assert fit.certificate.ok


def test_everything_fixed_leaves_nothing_free() -> None:
    fit = sf.fit(sf.DAG("A -> B"), AB, fixed={"A": {"x": 0.5, "y": 0.25, "z": 0.25}, "B": [[0.5, 0.5]] * 3})
    assert (fit.n_free, fit.n_free_adjusted) == (0, 0)
    assert fit.model.cpd("A").values.tolist() == [[0.5, 0.25, 0.25]]
    assert fit.certificate.ok
    assert fit.aic == -2 * fit.log_likelihood


@pytest.mark.parametrize("point", ["mean", "map"])
def test_fixed_rows_are_left_alone_under_a_prior(point: str) -> None:
    fit = sf.fit(sf.DAG("A -> B"), AB, prior=sf.Dirichlet(2), point=point, fixed={"B": {"y": [0.125, 0.875]}})
    free = sf.fit(sf.DAG("A -> B"), AB, prior=sf.Dirichlet(2), point=point)
    assert fit.model.cpd("B").values[1].tolist() == [0.125, 0.875]
    assert np.array_equal(fit.model.cpd("B").values[[0, 2]], free.model.cpd("B").values[[0, 2]])
    assert fit.certificate.ok
    posterior = fit.posterior["B"]
    assert posterior.variance()[1].tolist() == [0, 0]
    assert all(np.array_equal(bound[1], [0.125, 0.875]) for bound in posterior.bounds(0.9))
    assert (posterior.draws(3, seed=0)[:, 1] == [0.125, 0.875]).all()
    # a fixed row enters the evidence with its likelihood: x gives 1 u and 1 v, z gives 1 u, each under Dirichlet(2, 2)
    rows = math.log(2 / 4 * 2 / 5) + 2 * math.log(0.875) + math.log(2 / 4)
    assert posterior.log_marginal_likelihood == pytest.approx(rows, rel=1e-12)
    assert posterior.log_marginal_likelihood != pytest.approx(free.posterior["B"].log_marginal_likelihood, rel=1e-6)


def test_fixed_row_needs_no_data() -> None:
    fit = sf.fit(UNSEEN_DAG, UNSEEN, fixed={"C": {("y", "q"): [0.25, 0.75]}})
    assert fit.model.cpd("C").table[{"A": "y", "B": "q", "C": "v"}] == 0.75
    assert fit.certificate.ok
    assert fit.n_free == 2 + 3


@pytest.mark.parametrize("fixed", [{"X2": [[0.5, 0.5], [0.25, 0.75]]}, {"X1": {"b": [0.25, 0.75]}}])
def test_a_tied_table_is_fixed_through_any_of_its_nodes(fixed: Any) -> None:
    fit = sf.fit(CHAIN_DAG, CHAIN, fixed=fixed)
    assert fit.certificate.ok
    for node in ("X1", "X2", "X3"):
        assert fit.model.cpd(node).values[1].tolist() == [0.25, 0.75]
    assert fit.n_free == (1 if "X2" in fixed else 2)


@pytest.mark.parametrize(
    ("fixed", "complaint"),
    [
        ({"C": [0.5, 0.5]}, "not a node"),
        ({"B": [[0.5, 0.5]]}, "shape"),
        ({"B": {"x": [0.5, 0.6]}}, "not a distribution"),
        ({"B": {"x": [-0.5, 1.5]}}, "not a distribution"),
        ({"B": {"x": [math.nan, math.nan]}}, "not a distribution"),
        ({"B": {"x": [1.0]}}, "needs 2 probabilities"),
        ({"B": {("x", "x"): [0.5, 0.5]}}, "one state for each"),
        ({"B": {"w": [0.5, 0.5]}}, "no state 'w'"),
        ({"B": {"x": {"u": 1.0}}}, "'v' has no probability"),
        ({"B": {"x": {"u": 0.5, "v": 0.5, "w": 0.0}}}, "no state 'w'"),
        ({"A": {"x": 0.5, "y": 0.5}}, "'z' has no probability"),
        ({"A": {"x": 0.5, "y": 0.25, "z": 0.25, "w": 0.5}}, "'w'"),
        ({"B": "half"}, "fixed"),
        ({"B": None}, "fixed"),
    ],
)
def test_bad_fixed_arguments_are_explained(fixed: Any, complaint: str) -> None:
    with pytest.raises(sf.SufficeError, match=complaint):
        sf.fit(sf.DAG("A -> B"), AB, fixed=fixed)


def test_fixed_accepts_a_labelled_table() -> None:
    other = sf.fit(sf.DAG("A -> B"), AB, prior=sf.K2()).model.cpd("B")
    fit = sf.fit(sf.DAG("A -> B"), AB, fixed={"B": other.table})
    assert np.array_equal(fit.model.cpd("B").values, other.values)


def test_fixed_accepts_another_networks_distribution_or_explains() -> None:
    other = sf.fit(sf.DAG("A -> B"), AB, prior=sf.K2()).model.cpd("B")
    with contextlib.suppress(sf.SufficeError):
        fit = sf.fit(sf.DAG("A -> B"), AB, fixed={"B": other})
        assert np.array_equal(fit.model.cpd("B").values, other.values)


def test_fixed_does_not_misread_a_labelled_table_with_parents_in_another_order() -> None:
    data = {"P": list("aabb"), "Q": list("xyxy"), "B": list("uvvu")}
    dag = sf.DAG({"B": ["P", "Q"]})
    schema = sf.collect(dag, data).schema
    values = np.array([[[0.1, 0.9], [0.2, 0.8]], [[0.3, 0.7], [0.4, 0.6]]])
    table = sf.LabelledTable((schema["Q"], schema["P"], schema["B"]), values)
    with contextlib.suppress(sf.SufficeError):  # a refusal is as good as putting the axes in order
        fit = sf.fit(dag, data, fixed={"B": table})
        where = {"P": "a", "Q": "y", "B": "u"}
        assert fit.model.cpd("B").table[where] == table[where] == 0.3


def test_a_row_fixed_twice_is_refused() -> None:
    with pytest.raises(sf.SufficeError, match="x"):
        sf.fit(sf.DAG("A -> B"), AB, fixed={"B": {"x": [0.5, 0.5], ("x",): [0.25, 0.75]}})


def test_two_tables_for_one_tie_are_refused() -> None:
    half = [[0.5, 0.5], [0.5, 0.5]]
    with pytest.raises(sf.StructureError, match="share one table"):
        sf.fit(CHAIN_DAG, CHAIN, fixed={"X1": half, "X2": half})


# What cannot be fitted ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", ["uniform", 1.0, {"A": 1.0}, sf.BDeu])
def test_what_is_no_prior_of_a_network_is_explained(prior: Any) -> None:
    with pytest.raises(sf.SufficeError, match="prior"):
        sf.fit(sf.DAG("A -> B"), AB, prior=prior)


def test_arguments_are_checked() -> None:
    dag = sf.DAG("A -> B")
    with pytest.raises(sf.ArgumentError, match="prior"):
        sf.fit(dag, AB, point="map")
    with pytest.raises(sf.ArgumentError, match="point"):
        sf.fit(dag, AB, prior=sf.K2(), point="median")
    with pytest.raises(sf.ArgumentError, match="certify"):
        sf.fit(dag, AB, certify="twice")
    with pytest.raises(sf.ArgumentError, match="no option 'step'"):
        sf.fit(dag, AB, options={"step": 1})
    with pytest.raises(sf.UnknownNameError, match="closed_form"):
        sf.fit(dag, AB, method="ipf")
    for tol in (0, 1, -1, math.nan):
        with pytest.raises(sf.ArgumentError, match="tol"):
            sf.fit(dag, AB, tol=tol)
    with pytest.raises(sf.ArgumentError, match="structure"):
        sf.fit("A -> B", AB)
    with pytest.raises(sf.ArgumentError, match=r"sf\.collect"):
        sf.estimate(dag, AB)  # type: ignore[arg-type]
    with pytest.raises(sf.ArgumentError, match="'C'"):
        sf.estimate(sf.DAG("A -> C"), sf.collect(dag, AB))
    more = {**AB, "C": AB["A"]}
    with pytest.raises(sf.StatisticsError, match=r"do not contain Count\(scope=\('B', 'C'\)\)"):
        sf.estimate(sf.DAG("B -> C; A"), sf.collect(sf.DAG("A -> B; C"), more))
    turned = sf.estimate(sf.DAG("B -> A"), sf.collect(dag, AB))  # what is a margin of another is there
    assert turned.log_likelihood == pytest.approx(sf.fit(sf.DAG("B -> A"), AB).log_likelihood)
    with pytest.raises(sf.EstimationError, match="latent"):
        sf.fit(sf.DAG("H -> A", latent={"H": 2}), AB, method="closed_form")
    with pytest.raises(sf.DataError, match="nothing to learn"):
        sf.fit(dag, AB, weights=[0, 0, 0, 0, 0])


def test_statistics_of_a_larger_structure_serve_a_smaller_one() -> None:
    data = {**AB, "C": ["p", "q", "p", "q", "p"]}
    stats = sf.collect(sf.DAG("A -> B; C"), data)
    smaller = sf.estimate(sf.DAG("A -> B"), stats)
    assert smaller.log_likelihood == sf.fit(sf.DAG("A -> B"), data).log_likelihood
    again = sf.estimate(sf.DAG("A -> B"), stats, certify="data", data=data)
    assert again.certificate.ok
    assert again.certificate.data_gap == 0


def test_method_can_be_named() -> None:
    assert sf.fit(sf.DAG("A -> B"), AB, method="closed_form").method == "closed_form"


@pytest.mark.parametrize("factor", [5 * 10**18, 10**19, 5e18, 1e300])
def test_scaled_statistics_never_wrap_around(factor: float) -> None:
    with contextlib.suppress(sf.SufficeError):  # a refusal is as good as floating-point counts
        stats = sf.collect(sf.DAG("A -> B"), AB) * factor
        assert (stats[sf.Count(("A", "B"))].table() >= 0).all()
        found = sf.estimate(sf.DAG("A -> B"), stats)
        assert found.model.cpd("A").values[0].tolist() == pytest.approx([0.4, 0.4, 0.2])
        assert found.certificate.ok


def test_given_rows_that_rule_out_the_data_are_noted():
    data = {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}
    fit = sf.fit(sf.DAG("A -> B"), data, fixed={"B": {"x": [0, 1]}})
    assert fit.log_likelihood == -np.inf
    assert any("rule out some of the data" in note.text for note in fit.notes)


# Bound once -------------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often a table is asked whether it can be the distribution of a node."""
    found = Counter[str]()
    refuses = TabularKind.refuses

    def counted(kind: TabularKind, family: NodeFamily) -> str | None:
        found[family.child.name] += 1
        return refuses(kind, family)

    monkeypatch.setattr(TabularKind, "refuses", counted)
    monkeypatch.setattr(cpds, "_BOUND", WeakKeyDictionary())  # without the graphs of other tests
    return found


ONCE = {"rain": 1, "wet": 1, "late": 1}
WEATHER = {"rain": list("nnnyny"), "wet": list("nyyyny"), "late": list("nynyny")}


@pytest.mark.parametrize(
    "keywords",
    [{}, {"prior": sf.BDeu(1)}, {"certify": "data"}, {"missing": "em", "seed": 0}, {"fixed": {"rain": [0.5, 0.5]}}],
)
def test_nodes_and_kinds_are_found_once_in_a_fit(asked: Counter[str], keywords: dict[str, Any]) -> None:
    data: dict[str, list[Any]] = {**WEATHER}
    if "missing" in keywords:
        data["wet"] = [None, *data["wet"][1:]]
    sf.fit(sf.DAG("rain -> wet -> late"), data, **keywords)
    assert asked == ONCE


def test_nodes_and_kinds_are_found_anew_for_another_schema(asked: Counter[str]) -> None:
    dag = sf.DAG("rain -> wet -> late")
    first = sf.fit(dag, WEATHER)
    assert sf.fit(dag, WEATHER).n_free == first.n_free
    assert asked == ONCE
    wider = sf.fit(dag, WEATHER, schema={"late": ["n", "y", "very"]})
    assert asked == dict.fromkeys(ONCE, 2)
    assert wider.n_free == first.n_free + 2
    assert wider.certificate.ok


def test_the_nodes_of_a_graph_are_forgotten_with_it(asked: Counter[str]) -> None:
    dag = sf.DAG("rain -> wet -> late")
    sf.collect(dag, WEATHER)
    assert list(cpds._BOUND) == [dag]
    del dag
    gc.collect()
    assert not cpds._BOUND
