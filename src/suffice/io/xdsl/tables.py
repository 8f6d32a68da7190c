"""The kinds of nodes of XDSL that have a table: listed, deterministic, or by the rule of noisy causes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.errors import listing, suggestion
from suffice.io.network_file import TOLERANCE
from suffice.io.syntax.xml_file import Element
from suffice.io.syntax.xml_parts import Parts, Taker
from suffice.text import plural, shorten

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Definition:
    """What a node's element says of its table.

    Attributes
    ----------
    take : Taker
    element : Element
    name : str
    parts : mapping from str to list of Element
        The elements within it, by tag.
    sizes : tuple of int
        The number of states of every parent.
    states : tuple of str
        The identifiers of its own states.
    """

    take: Taker
    element: Element
    name: str
    parts: Parts
    sizes: tuple[int, ...]
    states: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """The number of parent configurations."""
        return math.prod(self.sizes)

    def single(self, tag: str) -> Element:
        """Return the one element of a tag."""
        return self.take.single(self.element, self.parts, tag)

    def check_count(self, at: Element, found: int, needed: int, what: str) -> None:
        """Raise unless as many entries were found as are needed."""
        if found != needed:
            raise self.take.file.error(
                at.at, f"Node {self.name!r}: <{shorten(at.tag)}> needs {needed:,} {what}. Got {found:,} instead."
            )


def cpt_rows(node: Definition) -> Rows:
    """Return the listed rows, the last parent varying fastest."""
    element, n_states = node.single("probabilities"), len(node.states)
    found = node.take.numbers(element)
    what = f"numbers, {plural(n_states, 'state')} × {plural(node.n_rows, 'parent configuration')}"
    node.check_count(element, len(found), node.n_rows * n_states, what)
    return found.reshape(node.n_rows, n_states)


def deterministic_rows(node: Definition) -> Rows:
    """Return rows of zeros and a one, at the listed state of each parent configuration."""
    element = node.single("resultingstates")
    codes = {state: code for code, state in enumerate(node.states)}
    found = node.take.text(element).split()
    node.check_count(element, len(found), node.n_rows, "states, one a parent configuration")
    for state in found:
        if state not in codes:
            raise node.take.file.error(
                element.at,
                f"Node {node.name!r}: {shorten(state)!r} is not one of its states {listing(codes)}."
                f"{suggestion(shorten(state), codes)}",
            )
    rows = np.zeros((node.n_rows, len(codes)))
    rows[np.arange(node.n_rows), [codes[state] for state in found]] = 1
    return rows


def noisymax_rows(node: Definition) -> Rows:
    """Return the rows that independent causes make, of which the one with the strongest effect decides."""
    element, n_states = node.single("parameters"), len(node.states)
    found = node.take.numbers(element)
    n_columns = sum(node.sizes) + 1
    node.check_count(element, len(found), n_columns * n_states, "numbers, a column for every parent's state and leak")
    columns = found.reshape(n_columns, n_states)
    _check_columns(node, element, columns)
    later = _later(columns)
    strengths = _strengths(node)
    table, start = later[-1:].copy(), 0
    for size in node.sizes:
        of_state = np.empty((size, n_states))
        of_state[strengths[start : start + size]] = later[start : start + size]
        table = (table[:, None] * of_state[None]).reshape(-1, n_states)
        start += size
    table[:, :-1] -= table[:, 1:]
    return table


def _check_columns(node: Definition, element: Element, columns: Rows) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        proper = (columns >= 0).all(axis=1) & (np.abs(columns.sum(axis=1) - 1) <= TOLERANCE)
    last = np.cumsum(node.sizes, dtype=np.int64) - 1
    idle = np.ones(len(columns), bool)
    idle[last] = columns[last, -1] > 1 - 1e-9
    if not (proper & idle).all():
        column = int(np.argmin(proper & idle))
        rule = (
            "where a parent's last column leaves the child's last state certain"
            if proper[column]
            else "which is not a distribution"
        )
        raise node.take.file.error(
            element.at,
            f"Node {node.name!r}: column {column + 1} of its parameters is {listing(columns[column].tolist())}, "
            f"{rule}. Correct the numbers.",
        )


def _later(columns: Rows) -> Rows:
    """Return the probability of every state or a later one, the first being 1."""
    shares = columns / columns.sum(axis=1, keepdims=True)
    later: Rows = np.minimum(np.cumsum(shares[:, ::-1], axis=1)[:, ::-1], 1)
    later[:, 0] = 1
    return later


def _strengths(node: Definition) -> NDArray[np.int64]:
    """Return the state that each column is for, as codes of each parent in turn."""
    usual = np.concatenate([np.arange(size) for size in node.sizes] or [np.arange(0)])
    if not node.parts["strengths"]:
        return usual
    element = node.single("strengths")
    found = node.take.numbers(element)
    node.check_count(element, len(found), len(usual), "whole numbers, one for every parent's state")
    start = 0
    for size in node.sizes:
        if sorted(found[start : start + size]) != list(range(size)):
            raise node.take.file.error(
                element.at,
                f"Node {node.name!r}: the strengths {listing(found[start : start + size].tolist())} of a parent with "
                f"{plural(size, 'state')} must be the numbers from 0 to {size - 1}, each once.",
            )
        start += size
    return found.astype(np.int64)


def first_parent_fastest(rows: Rows, sizes: Sequence[int]) -> Rows:
    """Return rows with the last parent varying fastest, from rows where the first one does."""
    axes = range(len(sizes))
    return rows.reshape(*sizes[::-1], -1).transpose(*axes[::-1], len(sizes)).reshape(rows.shape)


KINDS: dict[str, Callable[[Definition], Rows]] = {
    "cpt": cpt_rows,
    "deterministic": deterministic_rows,
    "noisymax": noisymax_rows,
}
