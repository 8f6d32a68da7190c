"""Sensitivity: how much an answer would change if an entry of a table did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.data.frame import to_native
from suffice.models.cpds.kind import NodeFamily
from suffice.models.cpds.tabular import describe_configuration
from suffice.text import html_table, number, plain_table, probability, shorten
from suffice.types import Floats, Frame

SHOWN = 10


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The derivative of p(event | evidence) to every entry of every table that matters.

    Attributes
    ----------
    event : str
        What the answer is about, ``p(A='yes' | B='no')``.
    value : float
        The answer itself.
    derivatives : dict of str to array, shape (…parents' states, child's states)
        By node: how fast the answer rises as one entry θ rises and the others of its row shrink in proportion, so that
        they still sum to one (where the entry is one, the others share what it loses evenly). Nodes that are not in
        here do not matter: their derivatives are zero.
    partial : dict of str to array
        The same with the other entries left alone: the gradient of the answer in all entries.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]})
    >>> print(fit.model.sensitivity({"A": "x"}, given={"B": "v"}))
    p(A='x' | B='v') = 0.3333
    table     row    state   entry  derivative
    --------  -----  -----  ------  ----------
    p(A)             x      0.5000      0.8889
    p(A)             y      0.5000     -0.8889
    p(B | A)  A='x'  u      0.5000     -0.4444
    p(B | A)  A='x'  v      0.5000      0.4444
    p(B | A)  A='y'  u           0      0.2222
    p(B | A)  A='y'  v           1     -0.2222
    """

    event: str
    value: float
    derivatives: dict[str, Floats] = field(repr=False)
    partial: dict[str, Floats] = field(repr=False)
    entries: dict[str, Floats] = field(repr=False)
    families: dict[str, NodeFamily] = field(repr=False)

    def ranked(self) -> list[tuple[str, tuple[int, ...], float]]:
        """Return node, codes (the parents', then the child's) and derivative of every entry, the steepest first."""
        listed = [
            (node, tuple(map(int, np.unravel_index(at, table.shape))), float(value))
            for node, table in self.derivatives.items()
            for at, value in enumerate(table.reshape(-1))
        ]
        return sorted(listed, key=lambda entry: -round(abs(entry[2]), 12))

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row an entry, the steepest first."""
        columns: dict[str, list[Any]] = {name: [] for name in ("node", "row", "state", "entry", "derivative")}
        for node, codes, derivative in self.ranked():
            family = self.families[node]
            columns["node"].append(node)
            columns["row"].append(describe_configuration(family.parents, codes[:-1]) if family.parents else "")
            columns["state"].append(str(family.child.labels[codes[-1]]))
            columns["entry"].append(float(self.entries[node][codes]))
            columns["derivative"].append(derivative)
        return to_native(columns, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        ranked = self.ranked()
        for node, codes, derivative in ranked[:SHOWN]:
            family = self.families[node]
            above = ", ".join(shorten(parent.name) for parent in family.parents)
            title = f"p({shorten(node)} | {above})" if above else f"p({shorten(node)})"
            row = describe_configuration(family.parents, codes[:-1]) if family.parents else ""
            state = str(family.child.labels[codes[-1]])
            rows.append([title, row, state, probability(self.entries[node][codes]), number(derivative, 4)])
        if len(ranked) > SHOWN:
            rows.append([f"… {len(ranked) - SHOWN} more", "", "", "", ""])
        return ["table", "row", "state", "entry", "derivative"], rows, "<<<>>"

    def __str__(self) -> str:
        return f"{self.event} = {probability(self.value)}\n{plain_table(*self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=f"{self.event} = {probability(self.value)}")


def in_proportion(partial: Floats, rows: Floats) -> Floats:
    """Return derivatives along which rows keep their sum: one entry rises, the others shrink in proportion.

    >>> in_proportion(np.array([[2.0, 0.0, 1.0]]), np.array([[0.5, 0.25, 0.25]]))
    array([[ 1.5       , -1.66666667,  -0.33333333]])
    """
    n_states = rows.shape[-1]
    if n_states == 1:
        return np.zeros(rows.shape)
    rows = np.nan_to_num(rows)  # an unknown row that was let through does not matter: its partial derivatives are zero
    others = (rows * partial).sum(axis=-1, keepdims=True) - rows * partial
    left = 1 - rows
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(left > 1e-15, others / left, (partial.sum(axis=-1, keepdims=True) - partial) / (n_states - 1))
    return np.asarray(partial - mean)  # eq slope


def event_text(event: Mapping[str, Any], said: list[str]) -> str:
    """Say ``p(A='yes' | B='no')``."""
    asked = ", ".join(f"{name}={label!r}" for name, label in event.items())
    return f"p({asked} | {', '.join(said)})" if said else f"p({asked})"
