"""DAG: the structure of a Bayesian network."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from suffice.errors import (
    StructureError,
    UnknownNameError,
    is_whole,
    listing,
    require_choice,
    require_mapping,
    require_text,
    shown,
    suggestion,
)
from suffice.graph.directed import find_cycle, topological_order
from suffice.structures.dag_text import Edges, parse, quoted
from suffice.structures.dot import dot
from suffice.structures.names import as_name, by_name, different_names, is_networkx, node_name
from suffice.structures.structure import Structure
from suffice.text import html_folded, html_text, plural

if TYPE_CHECKING:
    from networkx import DiGraph

    from suffice.result.family_fits import NetworkFit
    from suffice.types import DirectedGraph, Entry, Json
    from suffice.values import GivenKind, Setting


SHOWN_LINES = 60


@dataclass(frozen=True, init=False)
class DAG(Structure["NetworkFit"]):
    """A directed acyclic graph over named variables: what is known of a Bayesian network before the data.

    Parameters
    ----------
    graph : str, edges, mapping, networkx.DiGraph or DAG
        ``"Smoking -> Cancer <- Pollution; Cancer -> Xray"``, bnlearn's ``"[A][B|A]"``, ``[("A", "B"), "C"]`` (a bare
        name is a node without edges), ``{"B": ["A"]}`` (parents by child), or a graph of networkx.
    latent : mapping from str to int, optional
        Variables that no column carries, with their number of states.
    kinds : mapping from str to str or mapping, optional
        The kind of conditional distribution of a node: ``"tabular"``, ``"linear_gaussian"``, ``"softmax"`` or
        ``"noisy_or"``; chosen from the schema otherwise. A mapping also gives settings of the kind:
        ``{"y": {"kind": "linear_gaussian", "tied": "variance"}}``, where the kind itself may be left out.
    divisor : {"n", "n-p"}
        What the residual squares of linear-Gaussian nodes are divided by: rows, which is maximum likelihood, or rows
        less coefficients, which is unbiased.
    tie : iterable of iterables of str, optional
        Groups of nodes that share one conditional distribution. The parents of tied nodes correspond in their order;
        a mapping says which correspond, ``{"B": ["A"], "D": ["C"]}``, and sets the order of these parents.

    Examples
    --------
    >>> dag = DAG("Smoking -> Cancer <- Pollution; Cancer -> Xray")
    >>> dag.parents["Cancer"]
    ('Smoking', 'Pollution')
    >>> print(dag)
    Smoking -> Cancer
    Pollution -> Cancer
    Cancer -> Xray
    >>> DAG("[A][B|A]") == DAG({"A": [], "B": ["A"]})
    True
    """

    nodes: tuple[str, ...]
    families: tuple[tuple[str, ...], ...]
    latent: tuple[tuple[str, int], ...]
    kinds: tuple[tuple[str, str], ...]
    tie: tuple[tuple[str, ...], ...]
    settings: tuple[tuple[str, tuple[tuple[str, Setting], ...]], ...]
    divisor: str
    learns_available: ClassVar[bool] = True

    def __init__(
        self,
        graph: DirectedGraph,
        *,
        latent: Mapping[str, int] | None = None,
        kinds: Mapping[str, GivenKind] | None = None,
        tie: Iterable[Iterable[str] | Mapping[str, Iterable[str]]] | None = None,
        divisor: str | None = None,
    ) -> None:
        if isinstance(tie, Iterable) and not isinstance(tie, str | Mapping):
            tie = list(tie)  # which may be read once only
        if isinstance(graph, DAG):
            latent = dict(graph.latent) if latent is None else latent
            kinds = graph.kinds_and_settings if kinds is None else kinds
            tie = graph.tie if tie is None else tie
            divisor = graph.divisor if divisor is None else divisor
            graph = graph.parents
        parents = _reordered(_parents(*_read(graph)), tie)
        self._set("nodes", tuple(parents))
        self._set("families", tuple(map(tuple, parents.values())))
        self._set("latent", tuple((name, _n_states(name, n)) for name, n in _by_node("latent", latent, 3).items()))
        kind_of, settings = _kinds(_by_node("kinds", kinds, "tabular"))
        self._set("kinds", tuple(kind_of.items()))
        self._set("settings", tuple(settings.items()))
        self._set("divisor", "n" if divisor is None else divisor)
        require_choice("divisor", self.divisor, ("n", "n-p"))
        self._set("tie", _groups(tie))
        named = [*dict(self.latent), *kind_of, *settings]
        for name in [*named, *(node for group in self.tie for node in group)]:
            self._require(name)
        self._check_ties()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _require(self, node: object) -> None:
        if node not in self.nodes:
            raise UnknownNameError(
                f"The graph has no node {node!r}. Its nodes are {listing(self.nodes, 12)}."
                + suggestion(node, self.nodes)
            )

    def _check_ties(self) -> None:
        seen: set[str] = set()
        for group in self.tie:
            if len(group) < 2 or seen & set(group) or len(set(group)) < len(group):
                raise StructureError(
                    f"The tie {group} must name two or more different nodes, each in one tie only: tie=[('B', 'C'), …]."
                )
            seen |= set(group)
            sizes = {node: len(self.parents[node]) for node in group}
            if len(set(sizes.values())) > 1:
                raise StructureError(f"Tied nodes need the same number of parents; these have {sizes}.")

    # What the structure says ----------------------------------------------------------------------------------

    @cached_property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of each node, in the order in which they were given."""
        return dict(zip(self.nodes, self.families, strict=True))

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The edges as (parent, child)."""
        return [(parent, child) for child, above in self.parents.items() for parent in above]

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The nodes with parents before children."""
        return tuple(topological_order(self.parents) or ())

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The nodes grouped by shared parameters: the ties, and every other node by itself."""
        tied = {group[0]: group for group in self.tie}
        later = {node for group in self.tie for node in group[1:]}
        return tuple(tied.get(node, (node,)) for node in self.nodes if node not in later)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the data must have: every node but the latent ones."""
        hidden = dict(self.latent)
        return tuple(node for node in self.nodes if node not in hidden)

    @property
    def continuous(self) -> frozenset[str]:
        """Columns in a continuous role: the nodes that were named linear-Gaussian; the schema tells of others."""
        return frozenset(node for node, kind in self.kinds if kind == "linear_gaussian")

    @property
    def settings_of(self) -> dict[str, dict[str, Setting]]:
        """The settings of the kinds, by node."""
        return {node: dict(settings) for node, settings in self.settings}

    @property
    def kinds_and_settings(self) -> dict[str, str | dict[str, Setting]]:
        """What was said of kinds, in the form in which it may be given again."""
        kinds, settings = dict(self.kinds), self.settings_of
        said: dict[str, str | dict[str, Setting]] = {**kinds}
        for node, mine in settings.items():
            said[node] = {**({"kind": kinds[node]} if node in kinds else {}), **mine}
        return said

    # Rendering ------------------------------------------------------------------------------------------------

    def _statements(self) -> list[str]:
        connected = {node for edge in self.edges for node in edge}
        lines = [f"{quoted(parent)} -> {quoted(child)}" for parent, child in self.edges]
        return lines + [quoted(node) for node in self.nodes if node not in connected]

    def __str__(self) -> str:
        return "\n".join(self._statements())

    def __repr__(self) -> str:
        return f"DAG({'; '.join(self._statements())!r})"

    def _repr_html_(self) -> str:
        from suffice.report.static_graph import graph_html

        lines = self._statements()
        shown = [*lines[:SHOWN_LINES], f"… {len(lines) - SHOWN_LINES:,} more"] if len(lines) > SHOWN_LINES else lines
        return graph_html(self) + html_folded(plural(len(self.edges), "edge"), html_text("\n".join(shown)))

    def to_bnlearn(self) -> str:
        """Return bnlearn's model string, ``[A][B|A]``.

        >>> DAG("A -> B <- C").to_bnlearn()
        '[A][B|A:C][C]'
        """
        for node in self.nodes:
            if set(node) & set("[]|:"):
                raise StructureError(f"Node {node!r} has a character that bnlearn's notation uses itself.")
        return "".join(f"[{node}|{':'.join(above)}]" if above else f"[{node}]" for node, above in self.parents.items())

    def to_dot(self) -> str:
        """Return the graph in Graphviz' DOT language.

        >>> print(DAG("A -> B").to_dot())
        digraph {
          "A";
          "B";
          "A" -> "B";
        }
        """
        return dot(self.nodes, self.edges, directed=True, dashed=dict(self.latent))

    def to_networkx(self) -> DiGraph:
        """Return a ``networkx.DiGraph``; needs networkx."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(self.edges)
        return graph

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        return {
            "type": "DAG",
            "parents": [[node, list(above)] for node, above in self.parents.items()],
            "latent": dict(self.latent),
            "kinds": self.kinds_and_settings,
            "tie": [list(group) for group in self.tie],
            **({} if self.divisor == "n" else {"divisor": self.divisor}),
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> DAG:
        """Rebuild the structure from `to_dict`'s data."""
        parents = {node: tuple(above) for node, above in entry["parents"]}
        return cls(
            parents, latent=entry["latent"], kinds=entry["kinds"], tie=entry["tie"], divisor=entry.get("divisor")
        )


def _parents(nodes: list[str], edges: Edges) -> dict[str, list[str]]:
    """Return the parents of every node, the graph being proper."""
    parents: dict[str, list[str]] = {node_name(node): [] for node in nodes}
    if not parents:
        raise StructureError("The graph has no nodes. Name at least one, as in sf.DAG('A -> B').")
    for parent, child in edges:
        if parent in parents[child]:
            raise StructureError(f"The edge {quoted(parent)} -> {quoted(child)} is given twice. Give it once.")
        parents[child].append(parent)
    cycle = find_cycle(parents)
    if cycle:
        raise StructureError(
            f"The graph has a cycle: {' -> '.join(map(quoted, cycle))}. A Bayesian network needs a directed graph "
            "without cycles; remove one of these edges."
        )
    return parents


def _n_states(name: object, n_states: object) -> int:
    if not is_whole(n_states) or n_states < 1:
        raise StructureError(
            f"Latent variable {name!r} needs its number of states, at least 1. Got {shown(n_states)} instead."
        )
    return n_states


def _by_node(argument: str, given: object, example: object) -> Mapping[Hashable, object]:
    return {} if given is None else by_name(require_mapping(argument, given, f"{{'A': {example!r}}}"))


def _kinds(
    given: Mapping[Hashable, object],
) -> tuple[dict[Hashable, str], dict[Hashable, tuple[tuple[str, Setting], ...]]]:
    """Return the kinds that were named, and the settings that were given, by node."""
    kinds: dict[Hashable, str] = {}
    settings: dict[Hashable, tuple[tuple[str, Setting], ...]] = {}
    for node, said in given.items():
        if not isinstance(said, Mapping):
            kinds[node] = require_text(f"kinds[{node!r}]", said)
            continue
        if "kind" in said:
            kinds[node] = require_text(f"kinds[{node!r}]['kind']", said["kind"])
        mine = sorted((require_text(f"a setting of kinds[{node!r}]", key), said[key]) for key in said if key != "kind")
        for key, value in mine:
            parts = value if isinstance(value, list | tuple) else (value,)
            if not all(isinstance(part, str | int | float) for part in parts):
                raise StructureError(
                    f"The setting {key!r} of node {node!r} must be text, a number, or a list of these. Got "
                    f"{shown(value)} instead."
                )
        if mine:
            settings[node] = tuple((key, tuple(value) if isinstance(value, list) else value) for key, value in mine)
    return kinds, settings


def _reordered(parents: dict[str, list[str]], tie: object) -> dict[str, list[str]]:
    """Return the parents in the order in which a tie lists them, where it does."""
    for group in tie if isinstance(tie, list) else ():
        for node, above in by_name(group).items() if isinstance(group, Mapping) else ():
            lone = isinstance(above, str) or not isinstance(above, Iterable)
            listed = list(map(as_name, [above] if lone else above))
            if node in parents and sorted(map(str, listed)) != sorted(parents[node]):
                raise StructureError(
                    f"The tie lists {listing(listed)} as the parents of {node!r}, which are {listing(parents[node])}. "
                    "List all of them, in the order in which they correspond."
                )
            parents = {**parents, node: listed} if node in parents else parents
    return parents


def _groups(tie: object) -> tuple[tuple[str, ...], ...]:
    groups: list[Iterable[object]] = []
    for group in list(tie or ()) if isinstance(tie, Iterable | None) else [tie]:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise StructureError(
                f"The 'tie' argument lists groups of nodes, tie=[('B', 'C'), …], or of nodes with their parents, "
                f"tie=[{{'B': ['A'], 'D': ['C']}}, …]. Got {shown(tie)} instead."
            )
        groups.append(group)
    return tuple(tuple(map(node_name, group)) for group in groups)


def _read(graph: object) -> tuple[list[str], Edges]:
    """Return nodes and edges of any accepted description."""
    if isinstance(graph, str):
        return parse(graph)
    if is_networkx(graph):
        if not graph.is_directed():
            raise StructureError("The networkx graph is undirected. Pass a networkx.DiGraph.")
        edges = [(str(parent), str(child)) for parent, child in graph.edges()]
        return different_names(graph.nodes, "networkx graph"), edges
    if isinstance(graph, Mapping):
        return _from_parents(graph)
    if isinstance(graph, Iterable) and not isinstance(graph, bytes | bytearray):
        return _from_edges(graph)
    raise StructureError(
        "A graph is text such as 'A -> B', a list of edges, a dict of parents by child or a networkx.DiGraph. "
        f"Got {type(graph).__name__} instead."
    )


def _from_parents(graph: Mapping[Hashable, object]) -> tuple[list[str], Edges]:
    edges: Edges = []
    for child, parents in graph.items():
        if isinstance(parents, str):
            raise StructureError(f"The parents of {child!r} must be a list. Write {{{child!r}: [{parents!r}]}}.")
        if isinstance(parents, bytes | bytearray) or not isinstance(parents, Iterable):
            raise StructureError(f"The parents of {child!r} must be a list of names. Got {shown(parents)} instead.")
        edges += [(node_name(parent), node_name(child)) for parent in parents]
    children = different_names(graph, "graph", node_name)
    return list(dict.fromkeys([*children, *(parent for parent, _ in edges)])), edges


def _from_edges(graph: Iterable[object]) -> tuple[list[str], Edges]:
    nodes: dict[str, None] = {}
    edges: Edges = []
    for item in graph:
        name = as_name(item)
        if isinstance(name, str):
            nodes.setdefault(name)
        elif isinstance(item, tuple | list) and len(item) == 2 and all(isinstance(as_name(n), str) for n in item):
            edges.append((as_name(item[0]), as_name(item[1])))
            nodes.update(dict.fromkeys(edges[-1]))
        else:
            raise StructureError(f"An edge is a pair of names, (parent, child), or a lone name. Got {item!r} instead.")
    return list(nodes), edges
