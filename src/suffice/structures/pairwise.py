"""Ising, Boltzmann and Potts: log-linear models of fields and couplings on a graph."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.data.schema import Declaration, Schema
from suffice.data.variable import Variable
from suffice.errors import Mention, Remedy, StructureError, listing, require_choice, shown
from suffice.structures.cliques import Cliques
from suffice.structures.cliques_reading import neighbours
from suffice.structures.feature_rules import Equal, Feature, Match, Outer, Term
from suffice.structures.feature_spec import FeatureSpec, discrete
from suffice.structures.features import Features
from suffice.structures.names import as_name
from suffice.text import plural

if TYPE_CHECKING:
    from suffice.models.log_linear import LogLinear
    from suffice.result.family_fits import FeaturesFit
    from suffice.types import Entry, Json, UndirectedGraph


TIES = ("none", "couplings", "fields", "both")


@dataclass(frozen=True)
class SpinsSpec(FeatureSpec):
    """Fields s_i and couplings s_i s_j of two-state variables, which take the first or the second of ``values``."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    values: tuple[float, float]
    share: str = "none"
    fields: bool = True

    @property
    def variables(self) -> tuple[str, ...]:
        """The nodes."""
        return self.nodes

    @property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """The edges and the nodes."""
        return (*self.edges, *((name,) for name in self.nodes))

    def resolved(self, schema: Schema) -> tuple[Feature, ...]:
        """Return the fields, then the couplings."""
        for name in self.nodes:
            variable = discrete(schema, name, "A spin has two states")
            if variable.n_states != 2:
                raise StructureError(
                    f"A spin has two states, and {name!r} has {listing(variable.labels)}. Declare two, ",
                    Remedy("schema", {name: [0, 1]}),
                    ", or use ",
                    Mention("Potts", "sf.Potts"),
                    " for more.",
                )
        own = {name: spin_values(schema[name], self.values) for name in self.nodes}
        fields = [Feature(name, (Term((name,), Outer((own[name],))),)) for name in self.nodes] if self.fields else []
        couplings = [Feature(f"{a}:{b}", (Term((a, b), Outer((own[a], own[b]))),)) for a, b in self.edges]  # eq ising
        return (*_shared(fields, "field", self.share in ("fields", "both")),
                *_shared(couplings, "coupling", self.share in ("couplings", "both")))  # fmt: skip

    def to_dict(self) -> dict[str, Json]:
        """Return the graph."""
        edges = [list(edge) for edge in self.edges]
        return {"nodes": list(self.nodes), "edges": edges, "values": list(self.values), "tie": self.share,
                "fields": self.fields}  # fmt: skip


@dataclass(frozen=True)
class PottsSpec(FeatureSpec):
    """Fields of every state but the first, and a coupling 1[x_i = x_j] an edge."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    share: str = "none"
    fields: bool = True

    @property
    def variables(self) -> tuple[str, ...]:
        """The nodes."""
        return self.nodes

    @property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """The edges and the nodes."""
        return (*self.edges, *((name,) for name in self.nodes))

    def resolved(self, schema: Schema) -> tuple[Feature, ...]:
        """Return the fields, then the couplings."""
        variables = [discrete(schema, name, "Potts's variables have states") for name in self.nodes]
        for variable in variables[1:]:
            if not variable.has_states_of(variables[0]):
                raise StructureError(
                    f"Potts's variables share their states. {variable.name!r} has {listing(variable.labels)}, "
                    f"{variables[0].name!r} has {listing(variables[0].labels)}; declare one list for all."
                )
        fields = []
        for code, label in enumerate(variables[0].labels if self.fields else ()):
            if code:
                by_node = [Feature(f"{n}={label}", (Term((n,), Match((code,))),)) for n in self.nodes]
                fields += _shared(by_node, f"field={label}", self.share in ("fields", "both"))
        if self.share not in ("fields", "both"):  # node by node rather than state by state
            place = {name: position for position, name in enumerate(self.nodes)}
            fields.sort(key=lambda feature: place[feature.terms[0].scope[0]])
        couplings = [Feature(f"{a}:{b}", (Term((a, b), Equal()),)) for a, b in self.edges]  # eq potts
        return (*fields, *_shared(couplings, "coupling", self.share in ("couplings", "both")))

    def to_dict(self) -> dict[str, Json]:
        """Return the graph."""
        edges = [list(edge) for edge in self.edges]
        return {"nodes": list(self.nodes), "edges": edges, "tie": self.share, "fields": self.fields}


def _shared(features: list[Feature], name: str, is_shared: bool) -> list[Feature]:
    if not is_shared or not features:
        return features
    return [Feature(name, tuple(term for feature in features for term in feature.terms))]


def spin_values(variable: Variable, values: tuple[float, float]) -> tuple[float, float]:
    """Return what the two states of a variable count as: the first as less, unless they are numbers that fall.

    >>> spin_values(Variable("a", ("no", "yes")), (-1.0, 1.0))
    (-1.0, 1.0)
    >>> spin_values(Variable("a", ("+1", "-1")), (-1.0, 1.0))
    (1.0, -1.0)
    """
    try:
        first, second = (float(label) for label in variable.labels)
    except ValueError:
        return values
    return values if first < second else (values[1], values[0])


class Pairwise(Features["FeaturesFit[LogLinear]"]):
    """What the three models share: a graph, whose nodes have fields and whose edges have couplings."""

    @property
    def declared(self) -> dict[str, Declaration]:
        """All variables are discrete, whatever their values look like."""
        return {name: Declaration("discrete") for name in self.columns}

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The pairs of variables that are coupled."""
        return self._spec.edges

    @property
    def _spec(self) -> SpinsSpec | PottsSpec:
        """The only specification."""
        spec = self.specs[0]
        assert isinstance(spec, SpinsSpec | PottsSpec)
        return spec

    def __repr__(self) -> str:
        return f"{type(self).__name__}({plural(len(self.variables), 'node')}, {plural(len(self.edges), 'edge')})"

    def __str__(self) -> str:
        return repr(self)

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        latent = {"latent": dict(self.latent)} if self.latent else {}
        return {"type": type(self).__name__, **self.specs[0].to_dict(), **latent}

    if TYPE_CHECKING:

        def __init__(
            self,
            graph: object,
            *,
            tie: str = "none",
            fields: bool = True,
            latent: Mapping[str, int] | None = None,
        ) -> None: ...

    @classmethod
    def from_dict(cls, entry: Entry) -> Pairwise:
        """Rebuild the structure from `to_dict`'s data."""
        settings = {key: entry[key] for key in ("values", "tie", "fields", "latent") if key in entry}
        nodes = entry.get("nodes")
        graph = [*(tuple(edge) for edge in entry.get("edges", ())), *((name,) for name in nodes or ())]
        found = cls(graph or entry.get("graph"), **settings)
        if nodes is not None and tuple(nodes) != found.variables:  # edges alone would put the nodes in another order
            spec = _replace_nodes(found._spec, tuple(nodes))
            Features.__init__(found, spec, latent=entry.get("latent"))
        return found


def _replace_nodes(spec: SpinsSpec | PottsSpec, nodes: tuple[str, ...]) -> SpinsSpec | PottsSpec:
    if set(spec.nodes) != set(nodes):
        raise StructureError(f"The nodes {listing(nodes, 12)} are not those of the edges, {listing(spec.nodes, 12)}.")
    from dataclasses import replace

    return replace(spec, nodes=nodes)


class Ising(Pairwise):
    """Spins on a graph: p(x) ∝ exp(Σ_ij θ_ij s_i s_j + Σ_i θ_i s_i), each s_i being −1 or +1.

    Parameters
    ----------
    graph : graph
        Whatever `Cliques` reads: edges ``[("a", "b"), …]``, text ``"a:b + b:c"``, neighbours by name, a networkx graph.
        Isolated nodes are names by themselves.
    values : pair of float
        What the first and the second state of every variable count as, in the order of the schema; states that are
        numbers, or text of numbers, count in their own order.
    tie : {"none", "couplings", "fields", "both"}
        Whether one weight serves all couplings, all fields, or both.
    fields : bool
        Whether there are fields at all.
    latent : mapping from str to int, optional
        The nodes that no column carries, with their numbers of states.

    Examples
    --------
    >>> import suffice as sf
    >>> rows = {"a": [0, 0, 1, 1, 1], "b": [0, 0, 1, 1, 0], "c": [0, 1, 1, 1, 0]}
    >>> fit = sf.fit(sf.Ising("a:b + b:c"), rows, prior=sf.Gaussian(1.0))
    >>> fit.model.couplings.values.round(4).tolist()
    [[0.0, 0.5961, 0.0], [0.5961, 0.0, 0.5961], [0.0, 0.5961, 0.0]]
    """

    def __init__(self, graph: UndirectedGraph, *, values: Sequence[float] = (-1.0, 1.0), tie: str = "none",
                 fields: bool = True, latent: Mapping[str, int] | None = None) -> None:  # fmt: skip
        require_choice("tie", tie, TIES)
        super().__init__(SpinsSpec(*_graph(graph), _values(values), tie, bool(fields)), latent=latent)


class Boltzmann(Pairwise):
    """A Boltzmann machine: every pair of its units is coupled, or the edges of a graph, each unit being 0 or 1.

    Parameters
    ----------
    names : sequence of str, or graph
        The units, all coupled with each other; or a graph, as for `Ising`.
    values, tie, fields, latent
        As for `Ising`; here the states count as 0 and 1. With latent units, and edges between them and the others
        alone, it is a restricted Boltzmann machine.

    Examples
    --------
    >>> Boltzmann(["a", "b", "c"]).edges
    (('a', 'b'), ('a', 'c'), ('b', 'c'))
    """

    def __init__(self, names: UndirectedGraph, *, values: Sequence[float] = (0.0, 1.0), tie: str = "none",
                 fields: bool = True, latent: Mapping[str, int] | None = None) -> None:  # fmt: skip
        require_choice("tie", tie, TIES)
        units = tuple(map(as_name, names)) if isinstance(names, Sequence) and not isinstance(names, str) else None
        if units is not None and all(isinstance(name, str) for name in units):
            nodes, edges = units, tuple(itertools.combinations(units, 2))
            if not nodes or len(set(nodes)) < len(nodes):
                raise StructureError(f"A Boltzmann machine needs different names of units. Got {listing(nodes)}.")
        else:
            nodes, edges = _graph(names)
        super().__init__(SpinsSpec(nodes, edges, _values(values), tie, bool(fields)), latent=latent)


class Potts(Pairwise):
    """States on a graph that like to agree: p(x) ∝ exp(Σ_ij θ_ij 1[x_i = x_j] + Σ_i θ_i(x_i)).

    The field of the first state is zero, so that weights are determined. All variables have the same states.

    Parameters
    ----------
    graph, tie, fields, latent
        As for `Ising`; the states of latent nodes are the numbers from zero, and those of all others must be the same.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(Potts("a:b", tie="both"), {"a": ["r", "g", "b", "r"], "b": ["r", "g", "r", "b"]})
    >>> sorted(fit.model.weights)
    ['coupling', 'field=g', 'field=r']
    """

    def __init__(self, graph: UndirectedGraph, *, tie: str = "none", fields: bool = True,
                 latent: Mapping[str, int] | None = None) -> None:  # fmt: skip
        require_choice("tie", tie, TIES)
        super().__init__(PottsSpec(*_graph(graph), tie, bool(fields)), latent=latent)


def _graph(graph: UndirectedGraph) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    cliques = Cliques(graph) if neighbours(graph) is None else Cliques(graph, take="pairwise")
    for clique in cliques.cliques:
        if len(clique) > 2:
            raise StructureError(f"The graph has edges, pairs of names. Got the group {listing(clique)} instead.")
    edges = tuple((clique[0], clique[1]) for clique in cliques.cliques if len(clique) == 2)
    return cliques.variables, edges


def _values(values: Iterable[float]) -> tuple[float, float]:
    try:
        low, high = (float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        low, high = 0.0, 0.0
    if not -math.inf < low < high < math.inf:
        raise StructureError(f"The 'values' of the two states must be two rising numbers. Got {shown(values)} instead.")
    return low, high
