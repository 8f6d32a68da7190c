"""An expert's network as a prior: pseudo-counts are the exact family marginals of the network, times its weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.inference import brute_force
from suffice.models.cpds import NodeFamily
from suffice.priors.registry import prior_from_dict

NAMES = ("a", "b", "c", "d")


@st.composite
def networks(draw: st.DrawFn, names: Sequence[str] = NAMES) -> sf.BayesianNetwork:
    """Networks of positive tables over some variables."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    order = draw(st.permutations(names))
    sizes = {name: draw(st.integers(2, 3)) for name in names}
    parents = {
        name: draw(st.lists(st.sampled_from(order[:place]), unique=True, max_size=3)) if place else []
        for place, name in enumerate(order)
    }
    tables = {
        name: rng.dirichlet(np.ones(sizes[name]), [sizes[parent] for parent in parents[name]]) * 0.9 + 0.1 / sizes[name]
        for name in order
    }
    states = {name: [f"{name}{number}" for number in range(sizes[name])] for name in names}
    return sf.BayesianNetwork(sf.DAG({name: parents[name] for name in order}), tables, schema=states)


def graph_over(names: Sequence[str], seed: int) -> sf.DAG:
    rng = np.random.default_rng(seed)
    order = [str(name) for name in rng.permutation(list(names))]
    return sf.DAG({name: [other for other in order[:at] if rng.random() < 0.5] for at, name in enumerate(order)})


def families_over(schema: Mapping[str, sf.Variable], seed: int) -> list[NodeFamily]:
    """Return the families of a random graph."""
    dag = graph_over(NAMES, seed)
    return [NodeFamily(schema[node], tuple(schema[parent] for parent in dag.parents[node])) for node in NAMES]


def joint(network: sf.BayesianNetwork, names: Sequence[str]) -> np.ndarray:
    """p(names), by writing out the whole table."""
    return brute_force.marginal(network._product(), [network.schema.positions[name] for name in names])


def no_rows(network: sf.BayesianNetwork) -> dict[str, list[str]]:
    """One row, to be taken with weight zero."""
    return {name: [str(network.schema[name].labels[0])] for name in network.variables} | {"w": [0]}


@given(networks(), st.integers(0, 2**32), st.floats(0.01, 1000))
def test_pseudo_counts_are_family_marginals_of_the_expert_whatever_graph_is_fitted(
    expert: sf.BayesianNetwork, seed: int, ess: float
) -> None:
    prior = sf.Expert(expert, ess)
    for family in families_over(expert.schema, seed):
        alpha = prior.alpha(family)
        expected = ess * joint(expert, family.scope)
        np.testing.assert_allclose(alpha, expected.reshape(alpha.shape), rtol=1e-10)
        assert alpha.sum() == pytest.approx(ess)


@given(networks(), st.integers(0, 2**32), st.floats(0.1, 1))
def test_uniform_mixes_in_the_uniform_distribution(expert: sf.BayesianNetwork, seed: int, uniform: float) -> None:
    prior = sf.Expert(expert, 7, uniform)
    for family in families_over(expert.schema, seed):
        p = joint(expert, family.scope)
        expected = 7 * ((1 - uniform) * p + uniform / p.size)
        np.testing.assert_allclose(prior.alpha(family), expected.reshape(-1, p.shape[-1]), rtol=1e-10)


def test_fully_uniform_expert_has_the_pseudo_counts_of_bdeu() -> None:
    expert = sf.BayesianNetwork(sf.DAG("A -> B"), {"A": [1, 0], "B": [[0, 1, 0], [0, 0, 1]]},
                                schema={"A": ["x", "y"], "B": ["u", "v", "w"]})  # fmt: skip
    family = NodeFamily(expert.schema["B"], (expert.schema["A"],))
    np.testing.assert_allclose(sf.Expert(expert, 12, uniform=1).alpha(family), np.full((2, 3), 12 / 6))


@given(networks(), st.integers(0, 2**32))
def test_states_may_be_in_another_order(expert: sf.BayesianNetwork, seed: int) -> None:
    rng = np.random.default_rng(seed)
    variables = {
        name: sf.Variable(name, tuple(str(label) for label in rng.permutation(list(expert.schema[name].labels))), True)
        for name in NAMES
    }
    for family in families_over(variables, seed):
        p = joint(expert, family.scope)
        order = np.ix_(*[[expert.schema[v.name].code(label) for label in v.labels] for v in family.variables])
        alpha = sf.Expert(expert, 3).alpha(family)
        np.testing.assert_allclose(alpha, 3 * p[order].reshape(alpha.shape), rtol=1e-10)


@given(networks())
def test_without_data_the_fit_is_the_experts_network(expert: sf.BayesianNetwork) -> None:
    fit = sf.fit(expert.dag, no_rows(expert), weights="w", schema=expert.schema, prior=sf.Expert(expert, 5))
    assert fit.n == 0
    assert fit.certificate.ok
    assert fit.log_marginal_likelihood == pytest.approx(0, abs=1e-12)
    for cpd, believed in zip(fit.model.cpds, expert.cpds, strict=True):
        np.testing.assert_allclose(cpd.values, believed.values, rtol=1e-9)


@given(networks(), st.integers(0, 2**32))
def test_without_data_another_graph_gets_the_experts_conditionals(expert: sf.BayesianNetwork, seed: int) -> None:
    dag = graph_over(NAMES, seed)
    fit = sf.fit(dag, no_rows(expert), weights="w", schema=expert.schema, prior=sf.Expert(expert, 5))
    for name in NAMES:
        cpd = fit.model.cpd(name)
        p = joint(expert, cpd.family.scope)
        np.testing.assert_allclose(cpd.table.values, p / p.sum(axis=-1, keepdims=True), rtol=1e-9)


@given(networks(), networks(), st.floats(0.1, 100))
def test_is_the_dirichlet_prior_of_its_arrays(
    expert: sf.BayesianNetwork, other: sf.BayesianNetwork, ess: float
) -> None:
    dag, data = other.dag, expert.sample(25, seed=3)
    prior = sf.Expert(expert, ess)
    by_expert = sf.fit(dag, data, schema=expert.schema, prior=prior)
    arrays = {}
    for cpd in by_expert.model.cpds:
        shape = [variable.n_states for variable in cpd.family.variables]
        arrays[cpd.family.child.name] = prior.alpha(cpd.family).reshape(shape)
    by_arrays = sf.fit(dag, data, schema=expert.schema, prior=sf.Dirichlet(arrays))
    assert by_expert.log_marginal_likelihood == pytest.approx(by_arrays.log_marginal_likelihood, rel=1e-12)
    assert by_expert.certificate.ok
    for one, two in zip(by_expert.model.cpds, by_arrays.model.cpds, strict=True):
        np.testing.assert_array_equal(one.values, two.values)


@given(networks(), st.integers(0, 2**32))
def test_orientation_of_an_edge_does_not_change_the_evidence(expert: sf.BayesianNetwork, seed: int) -> None:
    """Equivalent graphs have equal marginal likelihoods under one expert, as under BDeu."""
    data, prior = expert.sample(15, seed=seed % 1000), sf.Expert(expert, 4)
    there, back = (sf.fit(sf.DAG(text), data, schema=expert.schema, prior=prior) for text in ("a -> b", "b -> a"))
    assert there.log_marginal_likelihood == pytest.approx(back.log_marginal_likelihood, rel=1e-10)


# A few by hand ------------------------------------------------------------------------------------------------


def belief(**tables: object) -> sf.BayesianNetwork:
    return sf.BayesianNetwork(
        sf.DAG("rain -> wet"),
        {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.25, 0.75]], **tables},
        schema={"rain": ["no", "yes"], "wet": ["no", "yes"]},
    )


DATA = {"rain": ["no", "yes", "no"], "wet": ["no", "yes", "yes"]}


def test_posterior_is_belief_plus_counts() -> None:
    fit = sf.fit(sf.DAG("rain -> wet"), DATA, prior=sf.Expert(belief(), 10))
    np.testing.assert_allclose(fit.posterior["rain"].concentration, [[8 + 2, 2 + 1]])
    np.testing.assert_allclose(fit.posterior["wet"].concentration, [[7.2 + 1, 0.8 + 1], [0.5, 1.5 + 1]])
    assert fit.point == "mean"
    assert fit.certificate.ok


def test_mode_of_the_posterior_is_certified() -> None:
    fit = sf.fit(sf.DAG("rain -> wet"), DATA, prior=sf.Expert(belief(), 100), point="map")
    assert fit.certificate.ok
    np.testing.assert_allclose(fit.model.cpd("rain").values, [[81 / 101, 20 / 101]])


def test_expert_may_know_more_variables() -> None:
    fit = sf.fit(sf.DAG("wet"), DATA, prior=sf.Expert(belief(), 10))
    np.testing.assert_allclose(fit.posterior["wet"].concentration, [[7.7 + 1, 2.3 + 2]])


def test_missing_variable_is_named_with_those_that_exist() -> None:
    prior = sf.Expert(belief(), 10)
    with pytest.raises(sf.ArgumentError, match=r"no variable 'rian'.*\['rain', 'wet'\].*Did you mean 'rain'"):
        sf.fit(sf.DAG("rian -> wet"), {"rian": DATA["rain"], "wet": DATA["wet"]}, prior=prior)


@pytest.mark.parametrize("states", [["no"], ["no", "yes", "maybe"], ["No", "Yes"]])
def test_other_states_are_an_error(states: list[str]) -> None:
    data = {"rain": [states[0]] * 2, "wet": ["no", "yes"]}
    with pytest.raises(sf.ArgumentError, match="They must be the same"):
        sf.fit(sf.DAG("rain -> wet"), data, schema={"rain": states}, prior=sf.Expert(belief(), 10))


def test_numbers_are_not_their_text() -> None:
    expert = sf.BayesianNetwork(sf.DAG("n"), {"n": [0.5, 0.5]}, schema={"n": ["1", "2"]})
    with pytest.raises(sf.ArgumentError, match=r"\['1', '2'\].*\[1, 2\]"):
        sf.fit(sf.DAG("n"), {"n": [1, 2]}, prior=sf.Expert(expert, 10))


def test_what_the_expert_holds_impossible_needs_uniform() -> None:
    expert = belief(wet=[[1, 0], [0.25, 0.75]])
    with pytest.raises(sf.ArgumentError, match=r"rain='no', wet='yes' impossible.*uniform=0.01"):
        sf.fit(sf.DAG("rain -> wet"), DATA, prior=sf.Expert(expert, 10))
    fit = sf.fit(sf.DAG("rain -> wet"), DATA, prior=sf.Expert(expert, 10, uniform=0.1))
    np.testing.assert_allclose(fit.posterior["wet"].concentration, [[7.45 + 1, 0.25 + 1], [0.7, 1.6 + 1]])


def test_impossible_cells_of_families_that_are_not_fitted_do_not_matter() -> None:
    expert = belief(wet=[[1, 0], [0.25, 0.75]])
    fit = sf.fit(sf.DAG("rain; wet"), DATA, prior=sf.Expert(expert, 10))
    np.testing.assert_allclose(fit.posterior["wet"].concentration, [[8.5 + 1, 1.5 + 2]])


def test_unknown_rows_of_the_expert_are_an_error() -> None:
    expert = belief(wet=[[1, 0], [np.nan, np.nan]])
    with pytest.raises(sf.ModelError, match="unknown rows"):
        sf.fit(sf.DAG("rain -> wet"), DATA, prior=sf.Expert(expert, 10, uniform=0.1))


def test_tied_nodes_take_the_belief_about_the_first_of_them() -> None:
    expert = sf.BayesianNetwork(
        sf.DAG("a; b"), {"a": [0.25, 0.75], "b": [0.25, 0.75]}, schema={"a": ["x", "y"], "b": ["x", "y"]}
    )
    data = {"a": ["x", "y", "y"], "b": ["y", "y", "y"]}
    fit = sf.fit(sf.DAG("a; b", tie=[("a", "b")]), data, schema=expert.schema, prior=sf.Expert(expert, 8))
    np.testing.assert_allclose(fit.posterior["a"].concentration, [[2 + 1, 6 + 5]])
    np.testing.assert_allclose(fit.model.cpd("b").values, fit.model.cpd("a").values)
    assert fit.certificate.ok


def test_fixed_rows_stay_fixed() -> None:
    fit = sf.fit(sf.DAG("rain -> wet"), DATA, prior=sf.Expert(belief(), 10), fixed={"rain": [0.5, 0.5]})
    np.testing.assert_array_equal(fit.model.cpd("rain").values, [[0.5, 0.5]])
    assert fit.certificate.ok


# Files and words ----------------------------------------------------------------------------------------------


def test_fit_with_an_expert_survives_a_file(tmp_path: Path) -> None:
    fit = sf.fit(sf.DAG("wet -> rain"), DATA, prior=sf.Expert(belief(), 10, uniform=0.125))
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json")
    assert isinstance(again.prior, sf.Expert)
    assert (again.prior.ess, again.prior.uniform) == (10, 0.125)
    for node in ("rain", "wet"):
        family = fit.model.cpd(node).family
        np.testing.assert_array_equal(again.prior.alpha(family), fit.prior.alpha(family))
        np.testing.assert_array_equal(again.prior.network.cpd(node).values, belief().cpd(node).values)
    assert again.log_marginal_likelihood == fit.log_marginal_likelihood
    sf.write(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "fit.json").read_bytes()


@pytest.mark.parametrize(
    "states",
    [
        [1, 2],
        [0.5, 2.5],
        [False, True],
        [1.0, float("inf")],
    ],
    ids=str,
)
def test_states_that_are_not_text_survive_a_file(states: list[object], tmp_path: Path) -> None:
    expert = sf.BayesianNetwork(sf.DAG("n"), {"n": [0.25, 0.75]}, schema={"n": states})
    fit = sf.fit(sf.DAG("n"), {"n": [states[0]]}, schema={"n": states}, prior=sf.Expert(expert, 4))
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json")
    assert again.prior.network.schema == expert.schema


@given(networks())
def test_prior_survives_its_dict(expert: sf.BayesianNetwork) -> None:
    prior = sf.Expert(expert, 3, 0.5)
    again = prior_from_dict(prior.to_dict())
    for name in NAMES:
        family = expert.cpd(name).family
        np.testing.assert_array_equal(again.alpha(family), prior.alpha(family))


def test_pseudo_counts_cannot_be_changed_by_who_asks_for_them() -> None:
    prior = sf.Expert(belief(), 10)
    family = belief().cpd("wet").family
    with pytest.raises(ValueError, match="read-only"):
        prior.alpha(family)[:] = 0


def test_repr_names_network_and_weight() -> None:
    assert repr(sf.Expert(belief(), 10)) == "Expert(BayesianNetwork(2 nodes, 1 edge), ess=10)"
    assert repr(sf.Expert(belief(), 2.5, 0.1)).endswith("ess=2.5, uniform=0.1)")


def test_summary_names_the_prior() -> None:
    assert "Expert(" in str(sf.fit(sf.DAG("rain -> wet"), DATA, prior=sf.Expert(belief(), 10)))
