"""GaussianMarkov: the structure of a multivariate normal whose precision matrix has known zeros."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from suffice.errors import StructureError, listing
from suffice.graph.undirected import maximal_cliques, perfect_order
from suffice.structures.cliques import Cliques
from suffice.structures.cliques_reading import neighbours, pairs
from suffice.structures.cliques_text import written
from suffice.structures.structure import Structure

if TYPE_CHECKING:
    from networkx import Graph

    from suffice.result.family_fits import GaussianMarkovFit
    from suffice.types import Entry, Json, UndirectedGraph


Edge = tuple[str, str]


@dataclass(frozen=True, init=False)
class GaussianMarkov(Structure["GaussianMarkovFit"]):
    """A graph over continuous variables: what is known of a Gaussian Markov random field before the data.

    Two variables without an edge are independent given all others, which is a zero of the precision matrix K = Σ⁻¹.
    Of cliques only the edges count: ``A:B + B:C + A:C`` and ``A:B:C`` are the same model.

    Parameters
    ----------
    graph : str, cliques, mapping, networkx.Graph, DAG, Cliques or GaussianMarkov
        Whatever `Cliques` reads: ``"A:B + B:C + D"``, ``[("A", "B"), "D"]``, ``{"A": ["B"]}``, a graph of networkx, or
        a `DAG`, whose moral graph is taken.

    Examples
    --------
    >>> chain = GaussianMarkov("height:weight + weight:pulse")
    >>> chain.edges
    (('height', 'weight'), ('weight', 'pulse'))
    >>> chain.is_chordal
    True
    >>> GaussianMarkov("A:B + B:C + C:A") == GaussianMarkov("A:B:C")
    True
    >>> GaussianMarkov("A:B + B:C + C:D + D:A").is_chordal
    False
    """

    variables: tuple[str, ...]
    edges: tuple[Edge, ...]

    def __init__(self, graph: UndirectedGraph | GaussianMarkov) -> None:
        if isinstance(graph, GaussianMarkov):
            variables, edges = graph.variables, graph.edges
        else:
            cliques = Cliques(graph, take="maximal" if neighbours(graph) is None else "pairwise")
            variables, edges = cliques.variables, tuple(cliques.edges)
        self._settle(variables, edges)

    def _settle(self, variables: tuple[str, ...], edges: tuple[Edge, ...]) -> None:
        place = {name: position for position, name in enumerate(variables)}
        ranked = sorted(tuple(sorted((place[a], place[b]))) for a, b in edges)
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "edges", tuple((variables[a], variables[b]) for a, b in ranked))

    # What the structure says ----------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the data must have: every variable."""
        return self.variables

    @property
    def continuous(self) -> frozenset[str]:
        """Columns in a continuous role: all of them."""
        return frozenset(self.variables)

    @cached_property
    def graph(self) -> dict[str, list[str]]:
        """The neighbours of each variable, in order."""
        near: dict[str, list[str]] = {name: [] for name in self.variables}
        for first, second in self.edges:
            near[first].append(second)
            near[second].append(first)
        place = {name: position for position, name in enumerate(self.variables)}
        return {name: sorted(others, key=place.__getitem__) for name, others in near.items()}

    @cached_property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """The maximal cliques of the graph."""
        return tuple(maximal_cliques(self.graph))

    @property
    def is_chordal(self) -> bool:
        """Whether every cycle of four or more variables has a chord; then the estimate has a closed form."""
        return self.regressions is not None

    @cached_property
    def regressions(self) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
        """Each variable with its neighbours that come later in a perfect order; None for graphs that are not chordal.

        The model is the product of the regressions of each variable on these neighbours, which are all joined.

        >>> GaussianMarkov("A:B + B:C").regressions
        (('C', ('B',)), ('B', ('A',)), ('A', ()))
        """
        order = perfect_order(self.graph)
        if order is None:
            return None
        place = {name: position for position, name in enumerate(order)}
        return tuple((name, tuple(near for near in self.graph[name] if place[near] > place[name])) for name in order)

    @property
    def n_free(self) -> int:
        """The number of free parameters: means, variances, and one for each edge."""
        return 2 * len(self.variables) + len(self.edges)

    # Rendering ------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        try:
            parts: Sequence[tuple[str, ...]] = self.cliques
        except StructureError:  # there are very many; the edges say the same
            parts = pairs(self.graph)
        return " + ".join(map(written, parts))

    def __repr__(self) -> str:
        return f"GaussianMarkov({str(self)!r})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

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
            "type": "GaussianMarkov",
            "variables": list(self.variables),
            "edges": [list(edge) for edge in self.edges],
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> GaussianMarkov:
        """Rebuild the structure from `to_dict`'s data."""
        variables = [(name,) for name in entry["variables"]]
        found = cls([*variables, *(tuple(edge) for edge in entry["edges"])])
        if len(found.variables) != len(variables):
            raise StructureError(
                f"The edges name {listing(found.variables[len(variables) :])}, which the entry 'variables' does not."
            )
        return found
