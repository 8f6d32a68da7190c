"""BayesianNetwork: a DAG with a conditional distribution at every node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema, SchemaLike
from suffice.errors import (
    ArgumentError,
    ModelError,
    Remedy,
    UnknownNameError,
    listing,
    require_mapping,
    shown,
    suggestion,
)
from suffice.inference.derivatives import gradients
from suffice.inference.inquiry import Given
from suffice.inference.product import Factor, Product
from suffice.models.by_hand import cpd_from, variables_of
from suffice.models.cpds import CPD, Family, kind_named
from suffice.models.cpds.tabular import whole_values
from suffice.models.evidence import describe, given_of, targets_of
from suffice.models.mixed_answers import MixedAnswers
from suffice.models.sampling import Draw
from suffice.models.sensitivity import Sensitivity, event_text, in_proportion
from suffice.structures.dag import DAG
from suffice.text import html_folded, html_text, plain_tables, plural

if TYPE_CHECKING:
    from suffice.models.markov_net import MarkovNetwork

SHOWN_TABLES = 20
"""Tables that a notebook shows."""


@dataclass(frozen=True, init=False, eq=False)
class BayesianNetwork(MixedAnswers):
    """The distribution p(x) = Π p(x_v | x_pa(v)).

    Parameters
    ----------
    dag : DAG
    tables : mapping from str to CPD or array
        The distribution of every node. Arrays have shape (…parents' states, child's states) and need ``schema``.
    schema : mapping, optional
        The states of every variable, when tables are arrays.
    properties : mapping, optional
        What a file says of the network beyond its numbers, kept for writing it back: ``name``, ``network``,
        ``variables`` and ``probabilities``.
    notes : sequence of str
        What was done to the numbers on the way in.

    Examples
    --------
    >>> network = BayesianNetwork(
    ...     DAG("rain -> wet"),
    ...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    ...     schema={"rain": ["no", "yes"], "wet": ["no", "yes"]},
    ... )
    >>> float(np.exp(network.log_prob({"rain": ["yes"], "wet": ["yes"]}))[0])
    0.19
    """

    dag: DAG
    cpds: tuple[CPD, ...]
    properties: Mapping[str, Any]
    notes: tuple[str, ...]

    def __init__(
        self,
        dag: DAG,
        tables: Mapping[str, Any],
        *,
        schema: SchemaLike | None = None,
        properties: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        _check_tables(dag, tables)
        object.__setattr__(self, "dag", dag)
        object.__setattr__(self, "properties", dict(properties or {}))
        object.__setattr__(self, "notes", tuple(notes))
        variables = variables_of(dag, tables, schema)
        cpds, named = [], dict(dag.kinds)
        for node, parents in dag.parents.items():
            table = tables[node]
            family = Family(variables[node], tuple(variables[parent] for parent in parents))
            cpd = cpd_from(family, table, named.get(node))
            if cpd.family != family:
                raise ModelError(
                    f"The table of {node!r} is over {cpd.family.scope} with states that differ from the network's "
                    f"{family.scope}. Parents must come in the order of the graph, with equal states everywhere."
                )
            cpds.append(cpd)
        object.__setattr__(self, "cpds", tuple(cpds))

    # What it says ---------------------------------------------------------------------------------------------

    @cached_property
    def _by_name(self) -> dict[str, CPD]:
        return {cpd.family.child.name: cpd for cpd in self.cpds}

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in the order of the graph."""
        return self.dag.nodes

    @cached_property
    def schema(self) -> Schema:
        """The variables with their states."""
        return Schema(tuple(cpd.family.child for cpd in self.cpds))

    def cpd(self, node: str) -> Any:
        """Return the conditional distribution of one node."""
        if not isinstance(node, str) or node not in self._by_name:
            raise UnknownNameError(
                f"The network has no node {node!r}. Its nodes are {listing(self.dag.nodes, 12)}."
                + suggestion(node, self.dag.nodes)
            )
        return self._by_name[node]

    def __repr__(self) -> str:
        return f"BayesianNetwork({plural(len(self.cpds), 'node')}, {plural(len(self.dag.edges), 'edge')})"

    def __str__(self) -> str:
        return plain_tables(map(str, self.cpds), len(self.cpds), "model.cpd(name) shows one")

    def _repr_html_(self) -> str:
        from suffice.report.static_graph import graph_html

        shown = [cpd._repr_html_() for cpd in self.cpds[:SHOWN_TABLES] if hasattr(cpd, "_repr_html_")]
        more = len(self.cpds) - len(shown)
        rest = html_text(f"… {plural(more, 'more table')}; model.cpd(name) shows one") if more else ""
        return graph_html(self) + html_folded(plural(len(self.cpds), "table"), "".join([*shown, rest]))

    # What it computes -----------------------------------------------------------------------------------------

    def log_prob_of(self, columns: Mapping[str, NDArray[Any]], n_rows: int) -> NDArray[np.float64]:
        """Return log p(x) of every row of codes; shape (n_rows,)."""
        total = np.zeros(n_rows)
        for cpd in self.cpds:
            total += cpd.log_prob({name: columns[name] for name in cpd.family.scope})
        return total

    def _drawing(self, given: Mapping[str, Any] | None) -> Draw:
        """Draw parents before children; with evidence, from the marginals that it leaves."""
        if given:
            return super()._drawing(given)

        def draw(uniform: Callable[[], NDArray[np.float64]]) -> dict[str, NDArray[Any]]:
            columns: dict[str, NDArray[Any]] = {}
            for node in self.dag.order:
                columns[node] = self._by_name[node].sample(columns, uniform())
            return columns

        return draw

    # What it answers ------------------------------------------------------------------------------------------

    def _product(self) -> Product:
        """Return the tables, each with the node's parents as the first axes and the node as the last."""
        self._require_discrete("A product of tables", "ask the network itself: query, marginals, map, sample")
        place = {node: position for position, node in enumerate(self.dag.nodes)}
        factors = []
        for cpd in self.cpds:
            factors.append(Factor(tuple(place[name] for name in cpd.family.scope), whole_values(cpd)))
        sizes = tuple(variable.n_states for variable in self.schema.variables)
        return Product(self.dag.nodes, sizes, tuple(factors), tuple(factor.scope[:-1] for factor in factors))

    def sensitivity(self, event: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> Sensitivity:
        """Return how p(event | given) changes with every entry of every table.

        Parameters
        ----------
        event : mapping
            The states asked for, ``{"Cancer": "yes"}``.
        given : mapping, optional
            Evidence, as in `query`.
        """
        self._require_discrete("The sensitivity to entries of tables", "compare the answers of networks that differ")
        asked = require_mapping("event", event, "{'A': 'yes'}")
        if not asked:
            raise ArgumentError("The 'event' argument names no variable. Say what is asked for: {'A': 'yes'}.")
        wanted = targets_of(self.schema, list(asked))
        evidence = given_of(self.schema, given, wanted)
        self._check_known(wanted, evidence)
        states = zip(wanted, asked.values(), strict=True)
        codes = {target: self.schema.variables[target].code(label) for target, label in states}
        found = gradients(self._inquiry.product, codes, evidence)
        if found is None:
            raise self._impossible(evidence)
        value, partial = found
        tables = {node: self._inquiry.product.factors[node].values for node in partial}
        nodes = self.dag.nodes
        return Sensitivity(
            event_text(asked, describe(self.schema, evidence)),
            value,
            {nodes[node]: in_proportion(partial[node], tables[node]) for node in partial},
            {nodes[node]: partial[node] for node in partial},
            {nodes[node]: tables[node] for node in partial},
            {nodes[node]: self.cpds[node].family for node in partial},
        )

    @cached_property
    def _unknown(self) -> dict[int, NDArray[np.bool_]]:
        """The nodes whose tables have unknown rows, and which: one axis a parent."""
        factors = self._inquiry.product.factors
        found = {node: np.asarray(np.isnan(factor.values).any(axis=-1)) for node, factor in enumerate(factors)}
        return {node: unknown for node, unknown in found.items() if unknown.any()}

    def _check_known(self, wanted: tuple[int, ...] | None, given: Given) -> None:
        if not self._unknown:
            return
        product = self._inquiry.product
        mask = 0
        for node in range(len(product.sizes)) if wanted is None else (*wanted, *given.hard, *given.soft):
            mask |= product.above[node]
        for node, unknown in self._unknown.items():
            if not mask >> node & 1:
                continue
            parents = product.factors[node].scope[:-1]
            seen = unknown[tuple(given.hard.get(parent, slice(None)) for parent in parents)]
            if seen.any():
                raise ModelError(
                    f"The answer depends on {self.dag.nodes[node]!r}, whose table has unknown rows (NaN), because the "
                    "data had no such case. Fit with ",
                    Remedy("unseen_parents", "uniform"),
                    " or with a prior.",
                )

    def to_markov_network(self) -> MarkovNetwork:
        """Return the same distribution as a product of tables, one a family.

        Examples
        --------
        >>> tables = {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]}
        >>> network = BayesianNetwork(DAG("A -> B"), tables, schema={"A": ["x", "y"], "B": ["u", "v"]})
        >>> network.to_markov_network().cliques
        Cliques('A + A:B')
        """
        from suffice.models.two_forms import undirected_form

        self._require_discrete("A product of tables", "use to_joint_normal where all variables are continuous")
        return undirected_form(self)

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the model as JSON-able data."""
        return {
            "type": "BayesianNetwork",
            "dag": self.dag.to_dict(),
            "schema": self.schema.to_dict(),
            "cpds": [{"kind": cpd.kind, **cpd.to_dict()} for cpd in self.cpds],
            "properties": dict(self.properties),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> BayesianNetwork:
        """Rebuild the model from `to_dict`'s data."""
        dag, schema = DAG.from_dict(entry["dag"]), Schema.from_dict(entry["schema"])
        tables = {}
        for node, cpd in zip(dag.nodes, entry["cpds"], strict=True):
            family = Family(schema[node], tuple(schema[parent] for parent in dag.parents[node]))
            tables[node] = kind_named(cpd["kind"]).cpd_type.from_dict(family, cpd)
        return cls(dag, tables, properties=entry.get("properties"), notes=entry.get("notes", ()))


def _check_tables(dag: object, tables: object) -> None:
    if not isinstance(dag, DAG):
        raise ArgumentError(f"The 'dag' argument must be a graph, sf.DAG('A -> B'). Got {shown(dag)} instead.")
    names = require_mapping("tables", tables, "{'A': [0.5, 0.5], …}")
    nodes = frozenset(dag.nodes)
    for name in names:
        if name not in nodes:
            raise UnknownNameError(
                f"There is a table for {name!r}, which is not a node. The nodes are {listing(dag.nodes, 12)}."
                + suggestion(name, dag.nodes)
            )
    for node in dag.nodes:
        if node not in names:
            raise ModelError(f"Node {node!r} has no table. Give one for every node of the graph.")
