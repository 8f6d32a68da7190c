"""Questions: what a structure lets one ask of the data, sized before anything is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from suffice.checking.independences import Independence, between, of_directed, of_undirected
from suffice.checking.ways import Way, n_bytes, way_for
from suffice.data.schema import Schema
from suffice.errors import ArgumentError, Mention, Text
from suffice.families import family_of, names_with
from suffice.graph.undirected import interaction_graph
from suffice.settings import settings
from suffice.stats.needs import Need
from suffice.structures.cliques import Cliques
from suffice.structures.dag import DAG
from suffice.structures.features import Features
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.structures.structure import Structure, public_name
from suffice.text import in_bytes

MOST_EDGES = 10_000
"""So many edges are tested at most."""
SHARE = 4
"""The tables of all tests may take one part in so many of the memory that `suffice.config` allows."""


@dataclass(frozen=True)
class Untested:
    """An independence that is implied but not tested.

    Attributes
    ----------
    claim : Independence
    reason : str
    """

    claim: Independence
    reason: str


@dataclass(frozen=True)
class Questions:
    """What is asked of the data.

    Attributes
    ----------
    ways : tuple of Way
        The implied independences, each with its test.
    edges : tuple of Way
        For every edge the independence that would hold without it.
    untested : tuple of Untested
        Independences for which there is no test, or no room.
    parents : mapping from str to tuple of str, or None
        The families of a directed structure.
    closure : Cliques or None
        The cliques of the graph where the structure has fewer interactions than its graph allows.
    remarks : tuple of str
    """

    ways: tuple[Way, ...]
    edges: tuple[Way, ...]
    untested: tuple[Untested, ...]
    parents: Mapping[str, tuple[str, ...]] | None
    closure: Cliques | None
    remarks: tuple[str, ...]

    @property
    def needs(self) -> list[Need]:
        """All statistics that the tests are made from, each once."""
        return list(dict.fromkeys(way.need for way in (*self.ways, *self.edges)))


@dataclass(frozen=True)
class Claims:
    """What a structure claims, before it is known which of that can be tested."""

    independences: list[Independence]
    edges: list[Independence]
    left_out: int
    parents: Mapping[str, tuple[str, ...]] | None = None
    closure: Cliques | None = None


def questions_of(structure: Structure, schema: Schema, most: int) -> Questions:
    """Return what a structure lets one ask of a table with such columns, ``most`` independences at most."""
    make = require_checkable(structure)
    claims = make(structure, schema, most)
    names = structure.columns
    normal = names if not any(schema[name].is_discrete for name in names) else ()
    ways, untested = _ways(claims.independences, schema, normal)
    room = settings().memory // SHARE
    kept, taken = _within(ways, schema, room)
    for way in ways:
        if way not in kept:
            size = in_bytes(n_bytes(way.need, schema))
            reason = Text(
                f"it takes {size}, beyond the {in_bytes(room)} for all tests; allow more by ",
                Mention("memory", "sf.config(memory=…)"),
            )
            untested.append(Untested(way.claim, reason))
    edges = _ways(claims.edges[:MOST_EDGES], schema, normal)[0]
    known = {way.need for way in kept}
    near = [way for way in edges if way.need in known]
    fits, _ = _within([way for way in edges if way.need not in known], schema, room - taken)
    remarks = []
    if claims.left_out:
        remarks.append(
            f"The structure implies {len(claims.independences) + claims.left_out:,} independences; the "
            f"{len(claims.independences):,} of variables that are nearest to each other are tested. Test more with "
            f"max_tests={len(claims.independences) + claims.left_out}."
        )
    lacking = len(claims.edges) - len(near) - len(fits)
    if lacking:
        remarks.append(f"{lacking:,} of {len(claims.edges):,} edges have no test, or no room for one.")
    chosen = {*near, *fits}
    return Questions(
        tuple(way for way in ways if way in kept),
        tuple(way for way in edges if way in chosen),
        tuple(untested),
        claims.parents,
        claims.closure,
        tuple(remarks),
    )


def _ways(claims: Iterable[Independence], schema: Schema, normal: tuple[str, ...]) -> tuple[list[Way], list[Untested]]:
    ways: list[Way] = []
    untested: list[Untested] = []
    place = {name: position for position, name in enumerate(schema)}
    for claim in claims:
        way = way_for(claim, schema, place, normal)
        if isinstance(way, str):
            untested.append(Untested(claim, way))
        else:
            ways.append(way)
    return ways, untested


def _within(ways: list[Way], schema: Schema, room: int) -> tuple[set[Way], int]:
    """Return the tests whose statistics fit some room, small ones first, and what these take."""
    sizes = {way.need: n_bytes(way.need, schema) for way in ways}
    taken, held = 0, set()
    for need in sorted(sizes, key=sizes.__getitem__):
        if taken + sizes[need] <= room:
            taken += sizes[need]
            held.add(need)
    return {way for way in ways if way.need in held}, taken


# Structures ---------------------------------------------------------------------------------------------------


def require_checkable(structure: Structure) -> Callable[[Structure, Schema, int], Claims]:
    """Return how the claims of a structure are found; refuse structures that claim no independences of columns."""
    make = family_of(structure).claims
    if make is None:
        known = names_with(lambda family: family.claims is not None)
        raise ArgumentError(
            f"A check is of independences among the columns of a table, which {known} and their kinds imply. Got "
            f"{public_name(type(structure))} instead."
        )
    if structure.given or (isinstance(structure, Features) and structure.continuous):
        other = "inputs" if structure.given else "continuous variables"
        raise ArgumentError(
            f"The features have {other}, and a check is of features of discrete variables alone. Compare such models "
            "by sf.compare or sf.likelihood_ratio."
        )
    return make


def claims_of_dag(dag: DAG, schema: Schema, most: int) -> Claims:
    """Return what a network implies: what is independent of a node given its parents, and its edges."""
    hidden = dict(dag.latent)
    continuous = {name for name in dag.columns if not schema[name].is_discrete}
    # A regression on some of its parents alone is a mixture of normal ones where discrete variables are left out.
    whole = continuous if len(continuous) < len(dag.nodes) else set()
    found, left_out = of_directed(dag.parents, most=most, hidden=hidden, whole=whole)
    edges = [
        Independence(child, parent, tuple(other for other in dag.parents[child] if other != parent))
        for parent, child in dag.edges
        if not {child, *dag.parents[child]} & set(hidden)
    ]
    return Claims(found, edges, left_out, dag.parents)


def _of_graph(graph: Mapping[str, list[str]], most: int, hidden: Mapping[str, int]) -> Claims:
    found, left_out = of_undirected(graph, most=most, hidden=hidden)
    place = {name: position for position, name in enumerate(graph)}
    edges = []
    for first, near in graph.items():
        for second in near:
            given = between(graph, first, second, hidden) if place[first] < place[second] else None
            if given is not None and first not in hidden and second not in hidden:
                edges.append(Independence(first, second, given))
    return Claims(found, edges, left_out)


def claims_of_normal(structure: GaussianMarkov, schema: Schema, most: int) -> Claims:
    """Return what a Gaussian Markov field implies."""
    return _of_graph(structure.graph, most, {})


def claims_of_scopes(structure: Cliques | Features, schema: Schema, most: int) -> Claims:
    """Cliques and features: what shares a scope is joined, and the graph may allow more interactions."""
    scopes = structure.cliques if isinstance(structure, Cliques) else structure.scopes
    place = {name: position for position, name in enumerate(structure.variables)}
    joined = interaction_graph(scopes, structure.variables)
    graph = {name: sorted(near, key=place.__getitem__) for name, near in joined.items()}
    claims = _of_graph(graph, most, dict(structure.latent))
    says_it_all = isinstance(structure, Cliques) and structure.is_graphical
    closure = None if says_it_all or structure.latent else Cliques(graph)
    return Claims(claims.independences, claims.edges, claims.left_out, None, closure)
