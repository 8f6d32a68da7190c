"""BayesianNetwork: a DAG with a conditional distribution at every node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from suffice.data.schema import Schema, SchemaLike
from suffice.errors import (
    ArgumentError,
    ModelError,
    Remedy,
    UnknownNameError,
    listing,
    require_choice,
    require_mapping,
    shown,
    suggestion,
)
from suffice.inference.derivatives import gradients
from suffice.inference.gaussian_parts import or_else
from suffice.inference.product import Factor, Product
from suffice.models.by_hand import cpd_from, variables_of
from suffice.models.cpds import CPD, NodeFamily, kind_named
from suffice.models.cpds.kind import C
from suffice.models.cpds.tabular import whole_values
from suffice.models.discrete_engine import DiscreteEngine
from suffice.models.engine import Answer, AnswersOfRows, ExactOrSampled
from suffice.models.evidence import Evidence, Targets, describe, given_of, seen_of, targets_of
from suffice.models.joint_normal import JointNormal
from suffice.models.mixed_engine import BY_SAMPLING, MixedEngine, require_gaussian
from suffice.models.mixed_network import mixed_network
from suffice.models.prediction import Prediction
from suffice.models.queries import AnyQueries, Queries
from suffice.models.row_model import RowModel
from suffice.models.sampling import Draw
from suffice.models.sensitivity import Sensitivity, event_text, in_proportion
from suffice.models.weighted_sampling import SampledAnswer, sampled
from suffice.structures.dag import DAG
from suffice.text import html_folded, html_text, plain_tables, plural
from suffice.types import Array, Columns, Floats, Json

if TYPE_CHECKING:
    from suffice.models.markov_net import MarkovNetwork
    from suffice.types import Entry

QUERY_METHODS = ("exact", "sampling")
SHOWN_TABLES = 20
"""Tables that a notebook shows."""


@dataclass(frozen=True, init=False, eq=False)
class BayesianNetwork(Queries[Answer, AnswersOfRows], RowModel, Prediction):
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
            family = NodeFamily(variables[node], tuple(variables[parent] for parent in parents))
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

    @property
    def schema(self) -> Schema:
        """The variables with their states."""
        return self._schema

    @cached_property
    def _schema(self) -> Schema:
        return Schema(tuple(cpd.family.child for cpd in self.cpds))

    @overload
    def cpd(self, node: str) -> CPD: ...

    @overload
    def cpd(self, node: str, kind: type[C]) -> C: ...

    def cpd(self, node: str, kind: type[CPD] | None = None) -> CPD:
        """Return the conditional distribution of one node.

        Parameters
        ----------
        node : str
        kind : type, optional
            The class that it must be of, such as ``TabularCPD``, so that a type checker knows what it offers; one of
            another class is refused.
        """
        if not isinstance(node, str) or node not in self._by_name:
            raise UnknownNameError(
                f"The network has no node {node!r}. Its nodes are {listing(self.dag.nodes, 12)}."
                + suggestion(node, self.dag.nodes)
            )
        found = self._by_name[node]
        if kind is not None and not isinstance(found, kind):
            raise ModelError(
                f"The distribution of {node!r} is a {type(found).__name__}, not a {kind.__name__}. Ask for the former, "
                "or leave 'kind' out."
            )
        return found

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

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(x) of every row of codes; shape (n_rows,)."""
        total = np.zeros(n_rows)
        for cpd in self.cpds:
            total += cpd.log_prob({name: columns[name] for name in cpd.family.scope})
        return total

    def _forward(self) -> Draw:
        """Draw parents before children."""

        def draw(uniform: Callable[[], Floats]) -> dict[str, Array]:
            columns: dict[str, Array] = {}
            for node in self.dag.order:
                columns[node] = self._by_name[node].sample(columns, uniform())
            return columns

        return draw

    # What it answers ------------------------------------------------------------------------------------------

    @cached_property
    def _engine(self) -> DiscreteEngine | MixedEngine:
        if self._is_mixed:
            return MixedEngine(self.schema, mixed_network(self), self.cpds, self.dag.order)
        return DiscreteEngine(self.schema, self._product())

    @property
    def _mixed(self) -> MixedEngine:
        """The engine of a network with continuous variables."""
        engine = self._engine
        assert isinstance(engine, MixedEngine)
        return engine

    @property
    def _is_mixed(self) -> bool:
        return not all(variable.is_discrete for variable in self.schema.variables)

    @property
    def _latent(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.dag.latent)

    def _product(self) -> Product:
        """Return the tables, each with the node's parents as the first axes and the node as the last."""
        place = {node: position for position, node in enumerate(self.dag.nodes)}
        factors = []
        for cpd in self.cpds:
            factors.append(Factor(tuple(place[name] for name in cpd.family.scope), whole_values(cpd)))
        sizes = tuple(variable.n_states for variable in self.schema.variables)
        return Product(self.dag.nodes, sizes, tuple(factors), tuple(factor.scope[:-1] for factor in factors))

    @overload
    def query(
        self,
        targets: Targets,
        given: Evidence | None = None,
        *,
        interval: float | None = None,
        method: Literal["exact"] = "exact",
        draws: None = None,
        seed: None = None,
    ) -> Answer: ...
    @overload
    def query(
        self,
        targets: Targets,
        given: Evidence | None = None,
        *,
        interval: float | None = None,
        method: Literal["sampling"],
        draws: int | None = None,
        seed: int | None = None,
    ) -> SampledAnswer: ...
    def query(
        self,
        targets: Targets,
        given: Evidence | None = None,
        *,
        interval: float | None = None,
        method: str = "exact",
        draws: int | None = None,
        seed: int | None = None,
    ) -> ExactOrSampled:
        """Return p(targets | given), exactly unless sampling is asked for.

        Parameters
        ----------
        targets : str or sequence of str
            The variables asked for. Several give their joint distribution, wherever in the graph they are.
        given : mapping, optional
            What was seen, by variable. Of a discrete variable: a state; a list of states, of which it is one; or a
            mapping from states to likelihoods, soft evidence, p(what was seen | state) up to a common factor; states
            left out have none. Of a continuous variable: a number.
        interval : float, optional
            Not here: a model's numbers are certain. Ask a Bayesian fit, ``fit.query(…, interval=0.95)``.
        method : {"exact", "sampling"}
            With ``"sampling"``, the answer is estimated from weighted draws, for any network.
        draws, seed : int, optional
            For sampling: how many rows to draw, 100,000 unless said, and from which seed.

        Returns
        -------
        LabelledTable, JointNormal, NormalMixture or SampledAnswer
            Of discrete targets a table, one axis a target, in the order asked for. Of continuous ones a normal
            distribution where no discrete variable is uncertain, otherwise a mixture of normal distributions, whose
            components are named by the states of discrete variables; of both together likewise a mixture.

        Raises
        ------
        ModelError
            When the evidence is impossible; when the answer has no closed form, because a discrete node has continuous
            parents that were not observed; or when it would not fit the memory that `suffice.config` allows.

        Examples
        --------
        >>> import suffice as sf
        >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
        >>> fit = sf.fit(sf.DAG("dose -> effect"), data)
        >>> fit.model.query("dose", given={"effect": 4.0}).mean.round(4).tolist()
        [1.5]
        """
        require_choice("method", method, QUERY_METHODS)
        if method == "exact" and (draws is not None or seed is not None):
            raise ArgumentError(
                "The 'draws' and 'seed' arguments are for sampling; exact answers have no use for them. Leave them "
                "out, or pass ",
                Remedy("method", "sampling"),
                ".",
            )
        if interval is not None or method == "exact":
            with or_else("pass ", Remedy("method", "sampling")):
                return super().query(targets, given, interval=interval)
        wanted = targets_of(self.schema, targets)
        return sampled(self, wanted, seen_of(self.schema, given, wanted), draws, seed)

    def marginal(self, scope: Targets) -> Answer:
        """Return p(scope), one axis a variable, as `query` does without evidence."""
        with or_else(*BY_SAMPLING):
            return self._engine.query(targets_of(self.schema, scope), None)

    def kl(self, other: AnyQueries | JointNormal) -> float:
        """Return Σ p log p/q in nats, p being this model and q the other, over the same variables and states.

        It is exact, and refused where the graphs of both together have cliques that are too large. Between networks of
        continuous variables alone, it is that of their joint normal distributions.
        """
        if not self._is_mixed and not (isinstance(other, BayesianNetwork) and other._is_mixed):
            return super().kl(other)  # type: ignore[arg-type]  # which refuses a normal distribution
        if not isinstance(other, BayesianNetwork | JointNormal):
            raise ArgumentError(f"The divergence is from another network. Got {shown(other)} instead.")
        remedy = "estimate it from rows = model.sample(100_000): (model.log_prob(rows) - other.log_prob(rows)).mean()"
        for model in (self, other):
            require_gaussian(model.schema, "The divergence", remedy)
        return self.to_joint_normal().kl(other if isinstance(other, JointNormal) else other.to_joint_normal())

    def to_joint_normal(self) -> JointNormal:
        """Return the joint normal distribution of a network of continuous variables alone.

        Examples
        --------
        >>> import suffice as sf
        >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
        >>> joint = sf.fit(sf.DAG("dose -> effect"), data).model.to_joint_normal()
        >>> joint.mean.round(6).tolist(), joint.covariance.round(6).tolist()
        ([1.5, 4.0], [[1.25, 2.375], [2.375, 4.625]])
        """
        require_gaussian(self.schema, "One normal distribution", "query answers with a mixture of them")
        return self._mixed.to_joint_normal()

    def sensitivity(self, event: Evidence, given: Evidence | None = None) -> Sensitivity:
        """Return how p(event | given) changes with every entry of every table.

        Parameters
        ----------
        event : mapping
            The states asked for, ``{"Cancer": "yes"}``.
        given : mapping, optional
            Evidence, as in `query`.
        """
        engine = self._engine.require_discrete(
            "The sensitivity to entries of tables", "compare the answers of networks that differ"
        )
        asked = require_mapping("event", event, "{'A': 'yes'}")
        if not asked:
            raise ArgumentError("The 'event' argument names no variable. Say what is asked for: {'A': 'yes'}.")
        wanted = targets_of(self.schema, list(asked))
        evidence = given_of(self.schema, given, wanted)
        engine.check_known(wanted, evidence)
        states = zip(wanted, asked.values(), strict=True)
        codes = {target: self.schema.variables[target].code(label) for target, label in states}
        found = gradients(engine.product, codes, evidence)
        if found is None:
            raise engine.impossible(evidence)
        value, partial = found
        tables = {node: engine.product.factors[node].values for node in partial}
        nodes = self.dag.nodes
        return Sensitivity(
            event_text(asked, describe(self.schema, evidence)),
            value,
            {nodes[node]: in_proportion(partial[node], tables[node]) for node in partial},
            {nodes[node]: partial[node] for node in partial},
            {nodes[node]: tables[node] for node in partial},
            {nodes[node]: self.cpds[node].family for node in partial},
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

        self._engine.require_discrete("A product of tables", "use to_joint_normal where all variables are continuous")
        return undirected_form(self)

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
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
    def from_dict(cls, entry: Entry) -> BayesianNetwork:
        """Rebuild the model from `to_dict`'s data."""
        dag, schema = DAG.from_dict(entry["dag"]), Schema.from_dict(entry["schema"])
        tables = {}
        for node, cpd in zip(dag.nodes, entry["cpds"], strict=True):
            family = NodeFamily(schema[node], tuple(schema[parent] for parent in dag.parents[node]))
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
