"""Handing networks to other libraries and taking them: networkx whole, pgmpy and pyAgrum as far as they are not needed.

What needs pgmpy and pyAgrum themselves is in tests/peers.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.io.interop import proper_factors

YES_NO = ["yes", "no"]


def sprinkler() -> sf.BayesianNetwork:
    return sf.BayesianNetwork(
        sf.DAG({"rain": [], "sprinkler": [], "wet": ["sprinkler", "rain"]}),
        {"rain": [0.2, 0.8], "sprinkler": [0.1, 0.9], "wet": [[[0.99, 0.01], [0.9, 0.1]], [[0.8, 0.2], [0.0, 1.0]]]},
        schema=dict.fromkeys(("rain", "sprinkler", "wet"), YES_NO),
    )


def triangle() -> sf.MarkovNetwork:
    return sf.MarkovNetwork(
        [(("B", "A"), np.ones((3, 2))), (("C", "A"), [[1.0, 2.0], [3.0, 4.0]]), ((), 2.0)],
        schema={"A": [1, 2], "B": ["x", "y", "z"], "C": [False, True], "D": ["u", "v"]},
    )


def foreign(library: str, kind: str, **attributes: Any) -> Any:
    """Return an object that looks like another library's."""
    return type(kind, (), {"__module__": f"{library}.models", **attributes})()


# networkx -----------------------------------------------------------------------------------------------------


def test_graph_of_a_structure_has_nodes_edges_and_parents_in_order() -> None:
    dag = sf.DAG({"wet": ["sprinkler", "rain"], "rain": [], "sprinkler": [], "alone": []}, latent={"rain": 3})
    graph = sf.to_networkx(dag)
    assert type(graph) is networkx.DiGraph
    assert tuple(graph.nodes) == dag.nodes
    assert set(graph.edges) == set(dag.edges)
    assert graph.nodes["wet"]["parents"] == ("sprinkler", "rain")
    assert [node for node in graph if graph.nodes[node]["latent"]] == ["rain"]
    assert sf.DAG({node: graph.nodes[node]["parents"] for node in graph}, latent={"rain": 3}) == dag


@st.composite
def dags(draw: st.DrawFn) -> sf.DAG:
    n = draw(st.integers(1, 7))
    shuffle = random.Random(draw(st.integers(0, 2**32)))
    order = [f"v{number}" for number in range(n)]
    shuffle.shuffle(order)
    parents = {}
    for place, node in enumerate(order):
        above = [other for other in order[:place] if draw(st.booleans())]
        shuffle.shuffle(above)
        parents[node] = above
    nodes = list(parents)
    shuffle.shuffle(nodes)
    return sf.DAG({node: parents[node] for node in nodes})


@given(dags())
def test_parents_come_back_from_networkx_in_the_order_of_the_nodes_or_by_the_attribute_in_their_own(
    dag: sf.DAG,
) -> None:
    graph = sf.to_networkx(dag)
    in_node_order = {node: sorted(above, key=dag.nodes.index) for node, above in dag.parents.items()}
    assert sf.DAG(graph) == sf.DAG(in_node_order)
    assert sf.DAG({node: graph.nodes[node]["parents"] for node in graph}) == dag


def test_graph_of_a_bayesian_network_has_states() -> None:
    model = sprinkler()
    graph = sf.to_networkx(model)
    assert networkx.is_directed_acyclic_graph(graph)
    assert dict(graph.nodes(data="states")) == dict.fromkeys(model.variables, ("yes", "no"))


def test_graph_of_a_fit_is_the_graph_of_its_model() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": [1, 2], "B": ["u", "v"]})
    graph = sf.to_networkx(fit)
    assert list(graph.edges) == [("A", "B")]
    assert graph.nodes["A"]["states"] == (1, 2)


def test_graph_of_a_markov_network_joins_what_shares_a_factor_and_loses_nothing() -> None:
    model = triangle()
    graph = sf.to_networkx(model)
    assert type(graph) is networkx.Graph
    assert tuple(graph.nodes) == model.variables
    assert set(map(frozenset, graph.edges)) == {frozenset("AB"), frozenset("AC")}
    back = sf.MarkovNetwork(graph.graph["factors"], schema=dict(graph.nodes(data="states")))
    assert back.schema == model.schema
    assert back.log_z == model.log_z


def test_what_was_handed_over_can_be_changed_without_changing_the_model() -> None:
    model = sprinkler()
    sf.to_networkx(model).remove_node("rain")
    assert "rain" in model.dag.nodes


# What needs no library ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "name"), [(sf.to_networkx, "networkx"), (sf.to_pgmpy, "pgmpy"), (sf.to_pyagrum, "pyAgrum")]
)
def test_library_that_is_not_installed_is_named(call: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.io.interop.importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        sf.ArgumentError, match=f"The package '{name}' is not installed. Install it: pip install {name}"
    ):
        call(sprinkler())


def test_only_networks_are_handed_over() -> None:
    with pytest.raises(sf.ArgumentError, match=r"What networkx takes is a Bayesian or a Markov network.*Got str"):
        sf.to_networkx("A -> B")


@pytest.mark.parametrize("call", [sf.from_pgmpy, sf.from_pyagrum])
@pytest.mark.parametrize("thing", [None, "A -> B", sprinkler(), foreign("other", "DiscreteBayesianNetwork")])
def test_only_models_of_the_library_are_taken(call: Any, thing: Any) -> None:
    with pytest.raises(sf.ArgumentError, match=f"What can be taken from .* Got {type(thing).__name__} instead"):
        call(thing)


@pytest.mark.parametrize("kind", ["LinearGaussianBayesianNetwork", "FunctionalBayesianNetwork", "SEM"])
def test_continuous_models_are_refused_as_such(kind: str) -> None:
    with pytest.raises(sf.ArgumentError, match=f"The {kind} of pgmpy has continuous variables"):
        sf.from_pgmpy(foreign("pgmpy", kind))


def test_unknown_rows_cannot_be_handed_over() -> None:
    data = {"A": ["x", "x"], "B": ["u", "v"]}
    fit = sf.fit(sf.DAG("A -> B"), data, schema={"A": ["x", "y"], "B": ["u", "v"]}, unseen_parents="nan")
    with pytest.raises(sf.ModelError, match=r"Node 'B': the row for A='y' is unknown \(NaN\), which pgmpy cannot hold"):
        sf.to_pgmpy(fit)


# Models that look like pgmpy's, so that what is wrong with them is tested everywhere --------------------------


def table(names: list[Any], values: Any, **states: list[Any]) -> Any:
    values = np.array(values, float)
    return SimpleNamespace(
        variable=names[0], variables=names, cardinality=values.shape, values=values, state_names=states
    )


def directed(parents: dict[Any, list[Any]], *cpds: Any, latents: set[Any] | None = None) -> Any:
    return foreign(
        "pgmpy",
        "DiscreteBayesianNetwork",
        nodes=lambda self: list(parents),
        predecessors=lambda self, node: iter(parents[node]),
        get_cpds=lambda self: list(cpds),
        latents=latents or set(),
    )


def undirected(nodes: list[Any], *factors: Any) -> Any:
    return foreign("pgmpy", "DiscreteMarkovNetwork", nodes=lambda self: nodes, get_factors=lambda self: list(factors))


def test_tables_of_pgmpy_have_the_child_first() -> None:
    wet = table(["wet", "rain"], [[0.9, 0.3, 0.2], [0.1, 0.7, 0.8]], wet=["n", "y"], rain=[0, 1, 2])
    rain = table(["rain"], [0.5, 0.25, 0.25])
    model = sf.from_pgmpy(directed({"wet": ["rain"], "rain": []}, rain, wet, latents={"rain"}))
    assert model.dag == sf.DAG({"wet": ["rain"], "rain": []}, latent={"rain": 3})
    assert model.cpd("wet").values.tolist() == [[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]]
    assert model.schema["rain"].states == (0, 1, 2)
    assert model.notes == ()


def test_states_that_a_table_lists_in_another_order_are_put_in_the_variables_own() -> None:
    rain = table(["rain"], [0.75, 0.25], rain=["n", "y"])
    wet = table(["wet", "rain"], [[0.9, 0.2], [0.1, 0.8]], wet=["n", "y"], rain=["y", "n"])
    model = sf.from_pgmpy(directed({"rain": [], "wet": ["rain"]}, rain, wet))
    assert model.cpd("wet").values.tolist() == [[0.2, 0.8], [0.9, 0.1]]


def test_labels_and_names_of_other_types_become_text_with_a_note() -> None:
    lone = table([7], [0.75, 0.25])
    lone.state_names = {7: [None, (1, 2)]}
    mixed = table(["m"], [0.5, 0.5], m=["a", 1])
    model = sf.from_pgmpy(directed({7: [], "m": []}, lone, mixed))
    assert model.schema["7"].states == ("None", "(1, 2)")
    assert model.schema["m"].states == ("a", "1")
    assert model.notes == (
        "The names [7] became text.",
        "The states of '7', [None, (1, 2)], became text.",
        "The states of 'm', ['a', 1], became text.",
    )


@pytest.mark.parametrize("labels", [[True, False], [3, 1], [0.5, 2.0], ["1", "0"], [np.int64(3), np.int64(4)]])
def test_labels_of_the_usual_types_are_kept(labels: list[Any]) -> None:
    model = sf.from_pgmpy(directed({"A": []}, table(["A"], [0.5, 0.5], A=labels)))
    assert model.schema["A"].states == tuple(labels)
    assert [type(label) for label in model.schema["A"].labels] == [
        type(getattr(x, "item", lambda x=x: x)()) for x in labels
    ]
    assert model.notes == ()


def test_rows_that_sum_nearly_to_one_are_normalised_with_a_note_and_others_kept_to_the_bit() -> None:
    exact = np.array([0.1, 0.2, 0.3, 0.4]) * (1 + 1e-15)
    model = sf.from_pgmpy(directed({"A": [], "B": []}, table(["A"], exact), table(["B"], [0.5, 0.501])))
    assert model.cpd("A").values.tolist() == [exact.tolist()]
    assert model.cpd("B").values.sum() == pytest.approx(1, abs=1e-15)
    [note] = model.notes
    assert "normalised" in note
    assert "0.001, at 'B'" in note


def test_factors_of_pgmpy_are_taken_in_one_order_of_states() -> None:
    one = table(["A", "B"], [[1, 2], [3, 4]], A=["n", "y"], B=[0, 1])
    other = table(["A"], [5, 6], A=["y", "n"])
    model = sf.from_pgmpy(undirected(["B", "A"], one, other))
    assert model.variables == ("B", "A")
    assert [factor.values.tolist() for factor in model.factors] == [[[1, 2], [3, 4]], [6, 5]]


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (directed({"A": []}), "Node 'A' has no table"),
        (
            directed({"A": [], "B": []}, table(["A"], [0.5, 0.5]), table(["B", "A"], [[1, 1], [0, 0]])),
            r"The table of 'B' is given \['A'\], but the parents in the graph are \[\]",
        ),
        (
            directed({"A": [], "B": ["A"]}, table(["A"], [1, 0], A=["x", "y"]), table(["B", "A"], [[1, 1], [0, 0]])),
            r"The table of 'B' has the states \[0, 1\] of 'A', elsewhere they are \['x', 'y'\]",
        ),
        (directed({1: [], "1": []}, table([1], [1, 0]), table(["1"], [1, 0])), "as text some of .* are the same"),
        (directed({"A": []}, table(["A"], [0.5, 0.2])), "Node 'A': the row .* is not a distribution"),
        (undirected(["A", "B"], table(["A"], [1, 2])), "No factor is over 'B', so its states are not known"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_model_of_pgmpy_is_said(model: Any, says: str) -> None:
    with pytest.raises(sf.ModelError, match=says):
        sf.from_pgmpy(model)


# Markov networks for libraries that know fewer of them --------------------------------------------------------


@pytest.mark.parametrize("once", [False, True])
def test_factors_are_handed_over_without_constants_and_with_every_variable(once: bool) -> None:
    model = sf.MarkovNetwork(
        [((), 3.0), (("A", "B"), [[1, 2, 3], [4, 5, 6]]), (("B", "A"), [[7, 8], [9, 1], [2, 3]])],
        schema={"A": [0, 1], "B": [0, 1, 2], "C": ["u", "v"]},
    )
    factors = proper_factors(model, "it", once=once)
    assert [names for names, _ in factors] == [("A", "B"), *([] if once else [("B", "A")]), ("C",)]
    back = sf.MarkovNetwork(factors, schema=model.schema)
    assert back.log_z == pytest.approx(model.log_z, abs=1e-12)
    np.testing.assert_allclose(back.query(["A", "B", "C"]).values, model.query(["A", "B", "C"]).values, rtol=1e-12)


@pytest.mark.parametrize(
    "factors", [[(("A",), [1e200, 1]), ((), 1e200)], [(("A",), [1e-200, 1]), (("A",), [1e-200, 1])]]
)
def test_products_outside_the_range_of_floats_are_refused(factors: list[Any]) -> None:
    with pytest.raises(sf.ModelError, match=r"The product of the factors over \['A'\] leaves the range of floats"):
        sf.to_pyagrum(sf.MarkovNetwork(factors, schema={"A": [0, 1]}))


def test_network_without_variables_is_refused() -> None:
    with pytest.raises(sf.ArgumentError, match="What pgmpy takes is a network of at least one variable"):
        sf.to_pgmpy(sf.MarkovNetwork([((), 2.0)], schema={}))
