"""UTerms: a Markov random field as a log-linear model, log (total · p(x)) = u + Σ_A u_A(x_A).

A runs over all subsets of the factors' scopes. Potentials can hand numbers to each other without changing the
distribution; the u-terms cannot, so they are what two models are compared by.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.frame import to_native
from suffice.data.labelled import LabelledTable
from suffice.errors import (
    ArgumentError,
    ModelError,
    UnknownNameError,
    listing,
    made,
    require_choice,
    require_number,
    shown,
)
from suffice.inference.clique_family import Layout
from suffice.inference.interactions import Interactions
from suffice.models.cpds.tabular import describe_configuration
from suffice.text import html_table, number, plain_table, shorten
from suffice.types import Frame

if TYPE_CHECKING:
    from suffice.models.markov_net import MarkovNetwork

CONSTRAINTS = {
    "sum": "every term sums to zero over each of its variables",
    "corner": "every term is zero at the first state of each of its variables",
}
SHOWN_TERMS = 20
Term = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class UTerms(Mapping[Term, LabelledTable]):
    """The terms of a log-linear model by their variables.

    A term is asked for by its variables in any order, ``terms["A", "B"]``, or by the name of one, ``terms["A"]``; the
    axes of its table are in the order of the schema.

    Attributes
    ----------
    constant : float
        u, the mean of log (total · p) over all configurations under ``"sum"``, its value at the first states of all
        variables under ``"corner"``.
    tables : tuple of LabelledTable
        The terms, those of few variables first.
    constraint : {"sum", "corner"}
    total : float
        What the probabilities are multiplied by; with N, the terms are those of expected counts.

    Examples
    --------
    >>> from suffice.models.markov_net import MarkovNetwork
    >>> network = MarkovNetwork([(("A", "B"), [[9.0, 1.0], [1.0, 1.0]])], schema={"A": ["x", "y"], "B": ["u", "v"]})
    >>> print(network.u_terms("corner", total=12))
    log(12 p), every term is zero at the first state of each of its variables
    u = 2.19722
    <BLANKLINE>
    u(A)
    A         u
    -  --------
    x         0
    y  -2.19722
    <BLANKLINE>
    u(B)
    B         u
    -  --------
    u         0
    v  -2.19722
    <BLANKLINE>
    u(A, B)
    A  u        v
    -  -  -------
    x  0        0
    y  0  2.19722
    """

    constant: float
    tables: tuple[LabelledTable, ...] = field(repr=False)
    constraint: str
    total: float

    @cached_property
    def _by_name(self) -> dict[frozenset[str], LabelledTable]:
        return {frozenset(table.names): table for table in self.tables}

    def __getitem__(self, names: Term | str) -> LabelledTable:
        wanted = (names,) if isinstance(names, str) else names
        known = isinstance(wanted, tuple | list) and all(isinstance(name, str) for name in wanted)
        if not known or len(set(wanted)) != len(wanted) or frozenset(wanted) not in self._by_name:
            raise UnknownNameError(
                f"There is no term {shown(names)}. The terms are {listing((':'.join(term) for term in self), 12)}; ask "
                "for one as terms['A', 'B']."
            )
        return self._by_name[frozenset(wanted)]

    def __iter__(self) -> Iterator[Term]:
        return (table.names for table in self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a number: the term, the states it belongs to, and u.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        terms, states, values = ["(constant)"], [""], [self.constant]
        for table in self.tables:
            for labels in itertools.product(*(variable.labels for variable in table.variables)):
                terms.append(":".join(table.names))
                states.append(":".join(map(str, labels)))
            values.extend(table.values.reshape(-1).tolist())
        return to_native({"term": terms, "states": states, "u": np.array(values)}, backend)

    @property
    def _title(self) -> str:
        scale = "p" if self.total == 1 else f"{number(self.total)} p"
        return f"log({scale}), {CONSTRAINTS[self.constraint]}"

    def __str__(self) -> str:
        parts = [f"{self._title}\nu = {number(self.constant)}"]
        for table in self.tables[:SHOWN_TERMS]:
            parts.append(f"{_name_of(table)}\n{plain_table(*table._cells())}")
        if len(self.tables) > SHOWN_TERMS:
            parts.append(f"… {len(self.tables) - SHOWN_TERMS:,} more terms")
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        head = html_table(["", ""], [[self._title, ""], ["u", number(self.constant)]], "<>")
        shown_terms = self.tables[:SHOWN_TERMS]
        tables = "".join(html_table(*table._cells(), caption=_name_of(table)) for table in shown_terms)
        more = len(self.tables) - SHOWN_TERMS
        return head + tables + (f"<p>… {more:,} more terms</p>" if more > 0 else "")


def _name_of(table: LabelledTable) -> str:
    return f"u({', '.join(map(shorten, table.names))})"


def u_terms(network: MarkovNetwork, constraint: str = "sum", total: float = 1.0) -> UTerms:
    """Return the terms of a network's logarithm; see `MarkovNetwork.u_terms`."""
    require_choice("constraint", constraint, tuple(CONSTRAINTS))
    scale = require_number("total", total)
    if not 0 < scale < math.inf:
        raise ArgumentError(
            f"The 'total' argument must be a positive number, 1 or the number of rows. Got {shown(total)} instead."
        )
    _ = network.cliques.terms  # which refuses what has too many terms to list
    place, variables = network.schema.positions, network.schema.variables
    inside = {name for scope in network.scopes for name in scope}
    alone = [(place[name],) for name in network.variables if name not in inside]
    scopes = [tuple(place[name] for name in scope) for scope in network.scopes]
    layout = Layout(tuple(variable.n_states for variable in variables), (*scopes, *alone))
    logs = [_log_of(network, position) for position in range(len(scopes))]
    flat = layout.flat([*logs, *(np.zeros(layout.sizes[v]) for (v,) in alone)])
    interactions = Interactions(layout)
    constant, tables = interactions.of(flat, constraint)
    labelled = (
        LabelledTable(tuple(variables[v] for v in term), table + 0.0, "u")
        for term, table in zip(interactions.terms, tables, strict=True)
    )
    return UTerms(constant + math.log(scale) - network.log_z, tuple(labelled), constraint, scale)


def _log_of(network: MarkovNetwork, position: int) -> Any:
    """Return the logarithm of one potential."""
    factor = network.factors[position]
    zero = np.argwhere(factor.values == 0)
    if len(zero):
        where = describe_configuration(factor.variables, zero[0]) if factor.names else "its only cell"
        more = f" and {len(zero) - 1:,} other cells" if len(zero) > 1 else ""
        raise ModelError(
            f"The potential of {listing(factor.names)} is zero at {where}{more}, so that u-terms are infinite there: "
            "the model lies on the boundary, as extended estimates do. Ask for its probabilities instead, or fit with "
            "a prior such as ",
            made("BDeu", 1),
            ", which keeps all of them positive.",
        )
    return np.log(factor.values)
