"""From names to positions: the tables of cliques, and labelled tables, as inference sees them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.inference.clique_family import Layout
from suffice.inference.product import Factor
from suffice.structures.cliques import Cliques


def layout_of(structure: Cliques, schema: Schema, names: Sequence[str] | None = None) -> Layout:
    """Return how the cliques' tables lie in a flat array; scopes are positions among ``names``, or the structure's own.

    >>> from suffice.data.variable import Variable
    >>> schema = Schema((Variable("A", (0, 1)), Variable("B", (0, 1, 2))))
    >>> layout_of(Cliques("B:A"), schema)
    Layout(sizes=(3, 2), scopes=((0, 1),))
    >>> layout_of(Cliques("B:A"), schema, ("A", "B"))
    Layout(sizes=(2, 3), scopes=((1, 0),))
    """
    listed = structure.variables if names is None else names
    place = {name: position for position, name in enumerate(listed)}
    sizes = tuple(schema[name].n_states for name in listed)
    return Layout(sizes, tuple(tuple(place[name] for name in clique) for clique in structure.cliques))


def factors_over(tables: Iterable[LabelledTable], names: Sequence[str]) -> tuple[Factor, ...]:
    """Return labelled tables as factors over variables that are positions among ``names``."""
    place = {name: position for position, name in enumerate(names)}
    return tuple(Factor(tuple(place[name] for name in table.names), table.values) for table in tables)
