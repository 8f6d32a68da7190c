"""Tabular distributions: a discrete child of discrete parents, one row of probabilities a parent configuration.

How they are fitted and proven stands in `suffice.models.cpds.tabular_kind`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np

from suffice.data.block import code_dtype
from suffice.data.labelled import LabelledTable, row_cells
from suffice.data.variable import Variable
from suffice.errors import ModelError, Remedy
from suffice.models.cpds.kind import CPD, Given, NodeFamily
from suffice.models.cpds.rows import (
    all_configurations,
    find_rows,
    in_order,
    is_distribution,
    total,
    whole_table,
)
from suffice.settings import settings
from suffice.stats.counts import Counts
from suffice.text import html_table, in_bytes, plain_table, shorten
from suffice.types import Codes, Columns, Floats, Ints, Json, JsonObject
from suffice.values import Label

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_AXES = 32


@dataclass(frozen=True, eq=False)
class TabularCPD:
    """A conditional probability table p(child | parents).

    Attributes
    ----------
    family : NodeFamily
    values : array, shape (n_rows, n_states)
        One row a parent configuration. NaN rows are unknown (``unseen_parents="nan"``).
    configurations : array, shape (n_rows, n_parents), or None
        The parent configurations of the rows, as codes in lexicographic order; None when all of them have a row.
    default_row : array, shape (n_states,), or None
        The row of every configuration that has none of its own; None when all of them have a row.
    raw : array, shape (n_rows, n_states), or None
        The numbers as a file wrote them, for writing them back, where ``values`` had to be normalised.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("rain -> wet"), {"rain": ["no", "no", "yes"], "wet": ["no", "yes", "yes"]})
    >>> print(fit.model.cpd("wet"))
    p(wet | rain)
    rain      no     yes
    ----  ------  ------
    no    0.5000  0.5000
    yes        0       1
    """

    kind: ClassVar[str] = "tabular"
    family: NodeFamily
    values: Floats = field(repr=False)
    configurations: Ints | None = None
    default_row: Floats | None = None
    raw: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        n_rows, n_states = math.prod(self._sizes), self.family.child.n_states
        if self.configurations is not None:
            self._check_configurations(self.configurations)
            n_rows = len(self.configurations)
            default = np.full(n_states, np.nan) if self.default_row is None else self.default_row
            self._keep("default_row", np.array(default, np.float64).reshape(n_states))
        self._keep("values", np.array(self.values, np.float64).reshape(n_rows, n_states))
        self._check()

    def _keep(self, name: str, array: Floats) -> None:
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    @classmethod
    def from_raw(cls, family: NodeFamily, raw: ArrayLike | Json, tolerance: float = 0.05) -> TabularCPD:
        """Build from numbers as a file wrote them: rows are normalised for computing, and kept for writing back.

        Rows whose sum is further than ``tolerance`` from one are an error; rows of NaN are unknown.
        """
        rows = np.array(raw, np.float64).reshape(-1, family.child.n_states)
        totals = rows.sum(axis=1, keepdims=True)
        known = ~np.isnan(rows).all(axis=1)
        if (rows[known] >= 0).all() and (np.abs(totals[known] - 1) <= tolerance).all():
            values = np.where(totals == 1, rows, rows / totals)
            return cls(family, values, raw=None if np.array_equal(values, rows, equal_nan=True) else rows)
        return cls(family, rows)  # which says what is wrong with which row

    def _check(self) -> None:
        rows = self.values if self.default_row is None else np.concatenate([self.values, self.default_row[None, :]])
        bad = ~(is_distribution(rows) | np.isnan(rows).all(axis=1))
        if bad.any():
            row = int(np.argmax(bad))
            where = self.describe_row(row) if row < len(self.values) else "all other parents' states"
            raise ModelError(
                f"Node {self.family.child.name!r}: the row for {where} is {rows[row].tolist()}, which is not a "
                f"distribution (its sum is {total(rows[row])}). Probabilities must not be negative and must sum to 1."
            )

    def _check_configurations(self, configurations: Ints) -> None:
        outside = ((configurations < 0) | (configurations >= self._sizes)).any(axis=1)
        if outside.any():
            raise ModelError(
                f"Node {self.family.child.name!r}: the parent configuration {configurations[outside][0].tolist()} is "
                f"outside the parents' states, of which there are {self._sizes}."
            )
        if not in_order(configurations):
            raise ModelError(
                f"Node {self.family.child.name!r}: its parent configurations must be in order, each once. Sort them."
            )

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def table(self) -> LabelledTable:
        """The whole table with labels, axes the parents and then the child."""
        if self.configurations is not None:
            raise ModelError(
                f"The table of {self.family.child.name!r} has {math.prod(self._sizes):,} parent configurations, of "
                f"which {len(self.values):,} have rows of their own; use rows() instead of the whole table."
            )
        return LabelledTable(self.family.variables, self.values.reshape([v.n_states for v in self.family.variables]))

    @property
    def _sizes(self) -> list[int]:
        return [parent.n_states for parent in self.family.parents]

    def rows(self) -> Iterator[tuple[tuple[Label, ...], Floats]]:
        """Yield the parents' states and the row of probabilities of every configuration that has one."""
        return zip(self._row_labels(), self.values, strict=True)

    def _row_labels(self) -> Iterator[tuple[Label, ...]]:
        parents = self.family.parents
        if self.configurations is None:
            return itertools.product(*(parent.labels for parent in parents))
        return (
            tuple(parent.labels[code] for parent, code in zip(parents, row, strict=True)) for row in self.configurations
        )

    def describe_row(self, row: int) -> str:
        """Name one row by its parents' states."""
        if not self.family.parents:
            return "the node (it has no parents)"
        stored = self.configurations
        codes = np.unravel_index(row, self._sizes) if stored is None else stored[row]
        return describe_configuration(self.family.parents, codes)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        return row_cells(self.family.parents, self.family.child, self._row_labels(), self.values, "p")

    @property
    def title(self) -> str:
        """The table's name, ``p(B | A, C)``."""
        child, parents = shorten(self.family.child.name), [shorten(parent.name) for parent in self.family.parents]
        return f"p({child} | {', '.join(parents)})" if parents else f"p({child})"

    def __str__(self) -> str:
        return f"{self.title}\n{plain_table(*self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=self.title)

    # What it computes -----------------------------------------------------------------------------------------

    def probabilities(self, configurations: Codes) -> Floats:
        """Return the row of each parent configuration, shape (n, n_parents); shape (n, n_states)."""
        picked: Floats = self._rows[find_rows(configurations, self._sizes, self.configurations)]
        return picked

    @cached_property
    def _rows(self) -> Floats:
        """The rows, with the one for all other configurations last, where position −1 finds it."""
        return self.values if self.default_row is None else np.vstack([self.values, self.default_row])

    def _above(self, columns: Columns, n_rows: int) -> Ints:
        """Return the parents' codes of every row; shape (n_rows, n_parents)."""
        codes = [np.asarray(columns[parent.name]) for parent in self.family.parents]
        return np.stack(codes).T if codes else np.zeros((n_rows, 0), np.int64)

    def log_prob(self, columns: Columns) -> Floats:
        """Return log θ(x_v | x_pa) of every row of codes; shape (n_rows,)."""
        child = np.asarray(columns[self.family.child.name])
        position = find_rows(self._above(columns, len(child)), self._sizes, self.configurations)
        with np.errstate(divide="ignore"):
            log_p: Floats = np.log(self._rows[position, child])
        return log_p

    def sample(self, columns: Columns, uniform: Floats) -> Codes:
        """Draw the child by inverting its distribution function at ``uniform``; shape (n_rows,)."""
        above = self._above(columns, len(uniform))
        position = find_rows(above, self._sizes, self.configurations)
        steps = self._steps
        drawn = np.zeros(len(uniform), code_dtype(len(steps)))
        for step in steps[:-1]:
            drawn += uniform >= step[position]
        unknown = np.isnan(steps[-1][position])
        if unknown.any():
            raise ModelError(
                f"Cannot sample {self.family.child.name!r}: its row for "
                f"{describe_configuration(self.family.parents, above[int(np.argmax(unknown))])} is unknown (NaN), "
                "because the data had no such case. Fit with ",
                Remedy("unseen_parents", "uniform"),
                " or with a prior.",
            )
        return drawn

    @cached_property
    def _steps(self) -> Floats:
        """The distribution function of every row, state by state; shape (n_states, n_rows, or one more by default).

        From the last state that has any probability on it is infinite, so that rounding carries no draw past it.
        """
        rows = self._rows
        reached = np.cumsum(rows, axis=1)
        reached /= reached[:, -1:]
        after = np.cumsum(rows[:, ::-1], axis=1)[:, ::-1] - rows
        steps: Floats = np.where(after > 0, reached, np.inf)
        steps[np.isnan(rows)] = np.nan
        return np.ascontiguousarray(steps.T)

    def log_likelihood(self, statistic: Counts) -> float:
        """Return Σ m(x_pa, x_v) log θ(x_v | x_pa)."""
        configurations, m = statistic.rows()
        theta = self.values
        if configurations is not None or self.configurations is not None:
            wanted = all_configurations(self._sizes) if configurations is None else configurations
            theta = self.probabilities(wanted)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(m > 0, m * np.log(theta), 0.0)  # eq local-log-likelihood
        return float(terms.sum())

    def renamed(self, family: NodeFamily) -> TabularCPD:
        """Return the same table for a tied family."""
        if family == self.family:
            return self
        return TabularCPD(family, self.values, self.configurations, self.default_row)

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the parameters as JSON-able data."""
        entry: dict[str, Json] = {"values": self.values}
        if self.raw is not None:
            entry["raw"] = self.raw
        if self.configurations is not None:
            entry |= {"configurations": self.configurations, "default_row": self.default_row}
        return entry

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: JsonObject) -> TabularCPD:
        """Rebuild from `to_dict`'s data."""
        if "configurations" not in entry:
            values = np.array(entry["values"], np.float64)
            if "raw" not in entry:
                return cls(family, values)
            kept = cls.from_raw(family, entry["raw"])
            if not np.allclose(kept.values.reshape(-1), values.reshape(-1), rtol=1e-9, atol=1e-12, equal_nan=True):
                raise ModelError(f"The raw numbers of {family.child.name!r} are not those of its table.")
            return kept
        configurations = np.array(entry["configurations"], np.int64).reshape(-1, len(family.parents))
        default_row = np.array(entry["default_row"], np.float64)
        return cls(family, np.array(entry["values"], np.float64), configurations, default_row)


@runtime_checkable
class Tabulated(Protocol):
    """A distribution of another kind that can be written as a table."""

    def whole_values(self) -> Floats:
        """Return p(child | parents) of every configuration, shape (…parents' states, child's states)."""


def describe_configuration(parents: tuple[Variable, ...], codes: Iterable[int] | Iterable[np.intp] | Codes) -> str:
    """Say ``A='yes', B=2``."""
    pairs = zip(parents, codes, strict=True)
    return ", ".join(f"{parent.name}={parent.labels[code]!r}" for parent, code in pairs) or "no parents"


def from_array(family: NodeFamily, table: Given) -> TabularCPD:
    """Build a table from an array of shape (…parents' states, child's states)."""
    return TabularCPD(family, whole_table(f"The table of {family.child.name!r}", family, table))


def whole_values(cpd: CPD) -> Floats:
    """Return p(child | parents) of every configuration, shape (…parents' states, child's states), for inference."""
    name = cpd.family.child.name
    if isinstance(cpd, Tabulated):
        return cpd.whole_values()
    if not isinstance(cpd, TabularCPD):
        raise ModelError(
            f"Exact answers need tables, but node {name!r} is of kind {cpd.kind!r}. Draw from the model instead."
        )
    shape = [variable.n_states for variable in cpd.family.variables]
    if len(shape) > MAX_AXES:
        raise ModelError(
            f"The table of {name!r} is over {len(shape)} variables, more than the {MAX_AXES} of a table that inference "
            "can hold. Give the node fewer parents."
        )
    if cpd.configurations is None:
        return cpd.values.reshape(shape)
    if 8 * math.prod(shape) > settings().memory:
        raise ModelError(
            f"The whole table of {name!r} has {math.prod(shape):,} cells, {in_bytes(8 * math.prod(shape))}, and "
            f"{in_bytes(settings().memory)} may be used. Give the node fewer parents, or allow more by sf.config."
        )
    return cpd.probabilities(all_configurations(shape[:-1])).reshape(shape)
