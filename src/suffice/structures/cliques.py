"""Cliques: the structure of a Markov random field over discrete variables."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from suffice.data.schema import Schema
from suffice.errors import SchemaError, StructureError, listing, require_choice, shown
from suffice.graph.undirected import (
    chordless_cycle,
    interaction_graph,
    is_chordal,
    maximal_cliques,
    perfect_order,
)
from suffice.structures.cliques_reading import Clique, listed, neighbours, pairs
from suffice.structures.cliques_text import quoted, written
from suffice.structures.dag import DAG
from suffice.structures.dot import dot
from suffice.structures.latent import Latent, latent_of
from suffice.structures.structure import Structure
from suffice.text import shorten

if TYPE_CHECKING:
    from networkx import Graph

    from suffice.result.family_fits import CliquesFit
    from suffice.types import Entry, Json, UndirectedGraph


MAX_TERMS = 100_000


@dataclass(frozen=True, init=False)
class Cliques(Structure["CliquesFit"]):
    """Groups of variables that interact: what is known of a Markov random field before the data.

    Every clique has a table of its own, and the joint distribution is proportional to their product. That is the
    hierarchical log-linear model whose generators are the cliques. Cliques mean what they say: ``A:B + B:C + A:C`` has
    no interaction of all three, and a clique inside another is kept, though it adds nothing to the model.

    Parameters
    ----------
    graph : str, cliques, mapping, networkx.Graph, DAG or Cliques
        ``"A:B + B:C + D"``; a list of cliques ``[("A", "B"), "D"]`` (a bare name is a variable by itself); or a graph:
        ``{"A": ["B"]}`` (neighbours by name), a graph of networkx, or a `DAG`, whose moral graph is taken.
    take : {"maximal", "pairwise"}
        The cliques of a graph: its maximal cliques, or its edges together with the nodes that have none.
    latent : mapping from str to int, optional
        The variables that no column carries, with their numbers of states. Such fits are by EM.

    Examples
    --------
    >>> cliques = Cliques("Smoking:Cancer + Cancer:Xray + Age")
    >>> cliques.variables
    ('Smoking', 'Cancer', 'Xray', 'Age')
    >>> cliques.is_decomposable
    True
    >>> print(cliques.to_dag())
    Smoking -> Cancer
    Cancer -> Xray
    Age
    >>> Cliques("A:B + B:C + C:A").is_graphical
    False
    >>> Cliques({"A": ["B", "C"], "B": ["C"]})
    Cliques('A:B:C')
    >>> Cliques(DAG("A -> C <- B"), take="pairwise")
    Cliques('A:C + A:B + C:B')
    """

    cliques: tuple[Clique, ...]
    variables: tuple[str, ...]
    latent: Latent

    def __init__(
        self, graph: UndirectedGraph, *, take: str = "maximal", latent: Mapping[str, int] | None = None
    ) -> None:
        require_choice("take", take, ("maximal", "pairwise"))
        near = neighbours(graph)
        if near is not None:
            cliques = pairs(near) if take == "pairwise" else maximal_cliques(near)
            variables = list(near)
        elif isinstance(graph, Cliques):
            cliques, variables = list(graph.cliques), list(graph.variables)
            latent = dict(graph.latent) if latent is None else latent
        else:
            cliques, variables = listed(graph)
        if near is None and take != "maximal":
            raise StructureError(
                f"The 'take' argument says which cliques of a graph to take, but {shown(graph)} names the cliques "
                "themselves. Leave it out, or pass a graph such as {'A': ['B']}."
            )
        if not cliques:
            raise StructureError("There are no cliques. Name at least one, as in sf.Cliques('A:B + C').")
        object.__setattr__(self, "cliques", tuple(cliques))
        object.__setattr__(self, "variables", tuple(variables))
        object.__setattr__(self, "latent", latent_of(latent, self.variables))

    # What the structure says ----------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the data must have: every variable but the latent ones."""
        hidden = dict(self.latent)
        return tuple(name for name in self.variables if name not in hidden) if hidden else self.variables

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.variables)}

    @cached_property
    def maximal(self) -> tuple[Clique, ...]:
        """The cliques that lie in no other."""
        holding = _holding(map(frozenset, self.cliques))
        # No two cliques are the same set, so one that contains a clique and is larger is another.
        return tuple(c for c in self.cliques if not any(len(h) > len(c) for h in _containing(frozenset(c), holding)))

    @cached_property
    def graph(self) -> dict[str, set[str]]:
        """The neighbours of each variable: those that share a clique with it."""
        return interaction_graph(self.cliques, self.variables)

    @cached_property
    def _ordered_graph(self) -> dict[str, list[str]]:
        """The graph with neighbours in order, so that what is made of it is the same in every session."""
        return {name: sorted(near, key=self._position.__getitem__) for name, near in self.graph.items()}

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The pairs of variables that share a clique."""
        return [pair for pair in pairs(self._ordered_graph) if len(pair) == 2]

    @cached_property
    def is_graphical(self) -> bool:
        """Whether the graph says it all: each of its maximal cliques is one of the cliques."""
        return self._missing_clique is None

    @cached_property
    def _missing_clique(self) -> Clique | None:
        given = set(map(frozenset, self.cliques))
        found = maximal_cliques(self._ordered_graph, enough=len(given) + 1)  # of which one must be missing
        return next((clique for clique in found if frozenset(clique) not in given), None)

    @cached_property
    def is_decomposable(self) -> bool:
        """Whether the graph is chordal and says it all; then the estimate has a closed form."""
        # Chordality first: a graph that is not chordal may have very many maximal cliques.
        return is_chordal(self._ordered_graph) and self.is_graphical

    @cached_property
    def perfect_sequence(self) -> tuple[tuple[Clique, Clique], ...] | None:
        """The maximal cliques, each with its separator, in an order with running intersections; None without one.

        A clique's separator is what it shares with all cliques before it, and lies inside one of them.

        >>> Cliques("A:B + C:D + B:C").perfect_sequence
        ((('A', 'B'), ()), (('B', 'C'), ('B',)), (('C', 'D'), ('C',)))
        """
        if not self.is_decomposable:
            return None
        # Cliques by the last of their variables in a maximum-cardinality search run so (Tarjan and Yannakakis, 1984).
        found = {name: place for place, name in enumerate(reversed(perfect_order(self._ordered_graph) or ()))}
        seen: set[str] = set()
        sequence = []
        for clique in sorted(self.maximal, key=lambda clique: max(found[name] for name in clique)):
            sequence.append((clique, tuple(name for name in clique if name in seen)))
            seen.update(clique)
        return tuple(sequence)

    @cached_property
    def terms(self) -> tuple[Clique, ...]:
        """The interactions of the log-linear model: all subsets of cliques but the empty one, small ones first.

        >>> Cliques("A:B + B:C").terms
        (('A',), ('B',), ('C',), ('A', 'B'), ('B', 'C'))
        """
        found: set[tuple[int, ...]] = set()
        for clique in self.maximal:
            if 2 ** len(clique) - 1 > MAX_TERMS:
                raise StructureError(
                    f"A clique of {len(clique):,} variables, {shown(written(clique))}, has 2^{len(clique)} − 1 terms; "
                    f"at most {MAX_TERMS:,} are listed. Use 'n_free' to count parameters without a list."
                )
            places = sorted(self._position[name] for name in clique)
            found.update(_subsets(places))
            if len(found) > MAX_TERMS:
                raise StructureError(
                    f"The {len(self.maximal):,} cliques have more than {MAX_TERMS:,} terms, too many to list. "
                    "Use 'n_free' to count parameters without a list."
                )
        ordered = sorted(found, key=lambda term: (len(term), term))
        return tuple(tuple(self.variables[place] for place in term) for term in ordered)

    def is_nested_in(self, other: UndirectedGraph) -> bool:
        """Whether every clique lies inside a clique of the other, whose model then includes this one.

        >>> Cliques("A:B + C").is_nested_in("A:B + B:C"), Cliques("A:B:C").is_nested_in("A:B + B:C + A:C")
        (True, False)
        """
        holding = _holding(map(frozenset, Cliques(other).cliques))
        return all(any(True for _ in _containing(frozenset(clique), holding)) for clique in self.cliques)

    def n_free(self, schema: Schema) -> int:
        """Return the number of free parameters, Σ over `terms` of Π (number of states − 1).

        >>> from suffice.data.variable import Variable
        >>> schema = Schema(tuple(Variable(name, (0, 1, 2)) for name in "ABC"))
        >>> Cliques("A:B + B:C").n_free(schema), Cliques("A:B + B:C + A:C").n_free(schema)
        (14, 18)
        """
        if not isinstance(schema, Schema):
            raise SchemaError(
                "The 'schema' argument must be a schema, such as that of a model or of statistics. "
                f"Got {shown(schema)} instead."
            )
        sizes = {name: schema[name].n_states for name in self.variables}

        def cells(scope: Iterable[str]) -> int:
            return math.prod(sizes[name] for name in scope)

        if self.perfect_sequence is not None:
            return sum(cells(clique) - cells(separator) for clique, separator in self.perfect_sequence)
        return _weigh(set(map(frozenset, self.maximal)), sizes) - 1  # the empty term is no parameter

    # Other forms ----------------------------------------------------------------------------------------------

    def to_dag(self) -> DAG:
        """Return a DAG with the same independences, which exists for decomposable cliques only.

        >>> print(Cliques("A:B:C + C:D").to_dag())
        A -> B
        A -> C
        B -> C
        C -> D
        """
        if self.perfect_sequence is None:
            cycle = chordless_cycle(self._ordered_graph)
            if cycle:
                around = " - ".join(map(quoted, [*cycle, cycle[0]]))
                raise StructureError(
                    f"No DAG says the same: the cycle {shorten(around, 300)} has no chord. "
                    "Put two of its variables that are not neighbours into a clique, or fit the cliques as they are."
                )
            missing = self._missing_clique or ()
            raise StructureError(
                f"No DAG says the same: {listing(missing, 12)} interact pair by pair, but no clique holds all of them. "
                f"Add the clique {shorten(written(missing), 300)}, or fit the cliques as they are."
            )
        parents: dict[str, list[str]] = {name: [] for name in self.variables}
        for clique, separator in self.perfect_sequence:
            above = list(separator)
            for name in clique:
                if name not in separator:
                    parents[name] = list(above)
                    above.append(name)
        return DAG(parents, latent=dict(self.latent))

    def __str__(self) -> str:
        return " + ".join(map(written, self.cliques))

    def __repr__(self) -> str:
        return f"Cliques({str(self)!r}{f', latent={dict(self.latent)}' if self.latent else ''})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def to_dot(self) -> str:
        """Return the graph in Graphviz' DOT language.

        >>> print(Cliques("A:B").to_dot())
        graph {
          "A";
          "B";
          "A" -- "B";
        }
        """
        return dot(self.variables, self.edges, directed=False, dashed=dict(self.latent))

    def to_networkx(self) -> Graph:
        """Return a ``networkx.Graph``; needs networkx."""
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(self.variables)
        graph.add_edges_from(self.edges)
        return graph

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        return {
            "type": "Cliques",
            "cliques": [list(clique) for clique in self.cliques],
            "variables": list(self.variables),
            **({"latent": dict(self.latent)} if self.latent else {}),
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> Cliques:
        """Rebuild the structure from `to_dict`'s data."""
        cliques = cls(list(entry["cliques"]), latent=entry.get("latent"))
        variables = tuple(entry["variables"])
        if len(variables) != len(cliques.variables) or set(variables) != set(cliques.variables):
            raise StructureError(
                f"The 'variables' entry must name the variables of the cliques, {listing(cliques.variables)}. "
                f"Got {listing(variables)} instead."
            )
        object.__setattr__(cliques, "variables", variables)
        return cliques


# Subsets ------------------------------------------------------------------------------------------------------


def _subsets(places: list[int]) -> Iterable[tuple[int, ...]]:
    return itertools.chain.from_iterable(itertools.combinations(places, n) for n in range(1, len(places) + 1))


def _holding(faces: Iterable[frozenset[str]]) -> dict[str, set[frozenset[str]]]:
    """Return the sets that hold each name."""
    holding: dict[str, set[frozenset[str]]] = {}
    for face in faces:
        for name in face:
            holding.setdefault(name, set()).add(face)
    return holding


def _containing(face: frozenset[str], holding: Mapping[str, set[frozenset[str]]]) -> Iterable[frozenset[str]]:
    """Yield the sets of which ``face``, not empty, is a subset."""
    candidates = min((holding.get(name, set()) for name in face), key=len)
    return (other for other in candidates if face <= other)


def _weigh(given: set[frozenset[str]], sizes: Mapping[str, int]) -> int:
    """Return Σ Π (size − 1) over all subsets of the given facets, the empty one included; no facet lies in another.

    Subsets with a variable are its weight times those of what its facets hold beside it; then it leaves. A lone facet
    has Π size in closed form, so that subsets are never listed.
    """
    facets = set(given)
    holding = _holding(facets)
    total = 0
    for name in sorted(holding, key=lambda name: (len(holding[name]), name)):
        if len(facets) == 1:
            break
        beside = {facet - {name} for facet in holding[name]}
        total += (sizes[name] - 1) * _weigh(beside, sizes)
        for facet in list(holding[name]):
            facets.discard(facet)
            for member in facet:
                holding[member].discard(facet)
        for face in beside:
            if face and not any(True for _ in _containing(face, holding)):
                facets.add(face)
                for member in face:
                    holding[member].add(face)
    return total + math.prod(sizes[member] for facet in facets for member in facet)
