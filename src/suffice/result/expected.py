"""Expected counts beside those observed, cell by cell, and what is left: the residuals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.frame import to_native
from suffice.data.labelled import SHOWN_ROWS, LabelledTable
from suffice.errors import ArgumentError, UnknownNameError, listing, require_choice, shown, suggestion
from suffice.inference.interactions import Interactions
from suffice.models.clique_layout import layout_of
from suffice.result.feature_cells import features_of, values_on_cells
from suffice.result.goodness import INEXACT, inputs_text, joint_counts
from suffice.stats.statistics import Statistics
from suffice.structures.cliques import Cliques
from suffice.structures.features import Features
from suffice.structures.structure import public_name
from suffice.text import fixed, html_table, number, plain_table
from suffice.types import Array, Floats, Frame
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.result.fit import Fit


RESIDUALS = ("pearson", "deviance", "adjusted")
MAX_CELLS = 1 << 20
MAX_DESIGN = 1 << 24
"""Leverages need a matrix of cells times free parameters, of at most so many numbers."""


@dataclass(frozen=True, eq=False)
class ExpectedTable:
    """Every cell of a table with its observed and its expected count.

    Attributes
    ----------
    columns : mapping from str to LabelledTable
        ``observed``, ``expected``, and the residuals asked for; ``table["expected"]`` is short for one of them.
    """

    columns: Mapping[str, LabelledTable] = field(repr=False)

    def __getitem__(self, name: str) -> LabelledTable:
        if name not in self.columns:
            raise UnknownNameError(
                f"The table has no column {shown(name)}. It has {listing(self.columns)}; residuals are asked for as "
                f"fit.expected(residuals='adjusted').{suggestion(name, self.columns)}"
            )
        return self.columns[name]

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a cell: a column a variable, then the counts and the residuals.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        variables = self.columns["observed"].variables
        grid = np.indices([variable.n_states for variable in variables]).reshape(len(variables), -1)
        columns: dict[str, Array | Sequence[Label]] = {
            variable.name: [variable.labels[code] for code in codes]
            for variable, codes in zip(variables, grid, strict=True)
        }
        for name, table in self.columns.items():
            while name in columns:
                name += "_"  # noqa: PLW2901
            columns[name] = table.values.reshape(-1)
        return to_native(columns, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        variables = self.columns["observed"].variables
        flat = [table.values.reshape(-1) for table in self.columns.values()]
        rows = []
        configurations = itertools.product(*(variable.labels for variable in variables))
        for row, labels in enumerate(itertools.islice(configurations, SHOWN_ROWS)):
            rows.append([*map(str, labels), number(flat[0][row]), *(_rounded(column[row]) for column in flat[1:])])
        if len(flat[0]) > SHOWN_ROWS:
            rows.append([f"… {len(flat[0]) - SHOWN_ROWS:,} more rows", *[""] * (len(rows[0]) - 1)])
        header = [*(variable.name for variable in variables), *self.columns]
        return header, rows, "<" * len(variables) + ">" * len(flat)

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())


def _rounded(value: float) -> str:
    return fixed(round(float(value), 4) + 0.0)  # without the sign of what rounding leaves of zero


def expected_table(fit: Fit, residuals: Any, statistics: Statistics) -> ExpectedTable:
    """Return the cells of a fit; see `LogLinearFit.expected`."""
    wanted = _wanted(residuals)
    if not isinstance(fit.structure, Cliques | Features) or inputs_text(fit.structure):
        raise ArgumentError(
            "Expected counts are those of the cells of sf.Cliques and sf.Features. This fit is of "
            f"{public_name(type(fit.structure))}{inputs_text(fit.structure)}."
        )
    if "adjusted" in wanted and (fit.prior is not None or fit.method in INEXACT):
        why = f"is by {fit.method!r}" if fit.prior is None else "has a prior"
        raise ArgumentError(
            f"Adjusted residuals have unit variance under maximum likelihood only, and this fit {why}. "
            "Ask for 'pearson' or 'deviance'."
        )
    sizes = [variable.n_states for variable in fit.model.schema.variables]
    if math.prod(sizes) > MAX_CELLS or len(sizes) > 30:
        raise ArgumentError(
            f"The joint table has {math.prod(sizes):,} cells, more than the {MAX_CELLS:,} that are listed. Look at "
            "parts of it: fit.n * fit.model.query(['A', 'B']).values are the expected counts of some variables."
        )
    counts = joint_counts(fit, statistics)
    m = counts.table().astype(np.float64)
    grid = {name: codes.reshape(-1) for name, codes in zip(fit.model.variables, np.indices(sizes), strict=True)}
    p = np.exp(fit.model.log_prob_of(grid, m.size)).reshape(sizes)
    expected = counts.total * p
    columns = {"observed": counts.table(), "expected": expected}
    for name in wanted:
        columns[name] = _deviance(m, expected) if name == "deviance" else _pearson(m, expected)
        if name == "adjusted":
            columns[name] = columns[name] / np.sqrt(_free_part(fit, p))
    variables = fit.model.schema.variables
    return ExpectedTable({name: LabelledTable(variables, values, name) for name, values in columns.items()})


def _wanted(residuals: Any) -> tuple[str, ...]:
    given = (residuals,) if isinstance(residuals, str) else residuals
    if given is not None and not isinstance(given, Sequence):
        raise ArgumentError(
            f"The 'residuals' argument must name some of {listing(RESIDUALS)}. Got {shown(given)} instead."
        )
    for name in given or ():
        require_choice("residuals", name, RESIDUALS)
    return tuple(dict.fromkeys(given or ()))


def _pearson(m: Floats, expected: Floats) -> Floats:
    """Return (m − m̂)/√m̂, zero where nothing is expected and nothing seen."""
    with np.errstate(divide="ignore"):
        return np.divide(m - expected, np.sqrt(expected), out=np.zeros_like(m), where=(m > 0) | (expected > 0))


def _deviance(m: Floats, expected: Floats) -> Floats:
    """Return the signed roots of 2 (m log(m/m̂) − m + m̂), whose squares add up to G²."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(m > 0, m * np.log(m / expected), 0.0)
    return np.sign(m - expected) * np.sqrt(np.maximum(0.0, 2 * (gain - m + expected)))


def _free_part(fit: Fit, p: Floats) -> Floats:
    """Return 1 − h of every cell, h being its leverage in the Poisson model; NaN where the model fits it exactly.

    h = p(x) (1 + (f(x) − f̄)ᵀ Cov(f)⁺ (f(x) − f̄)) with the features f, or the statistics of the u-terms (Haberman,
    1973).
    """
    of_design = _features_on_cells if isinstance(fit.structure, Features) else _terms_on_cells
    f, weights = of_design(fit, p.shape), p.reshape(-1)
    f -= weights @ f
    rooted = np.sqrt(weights)[:, None] * f
    u, values, _ = np.linalg.svd(rooted, full_matrices=False)
    inside = u[:, values > 1e-10 * values.max(initial=0.0)]
    left = 1 - weights - (inside**2).sum(axis=1)
    left[(left < 1e-10) | (weights == 0)] = np.nan
    free: Floats = left.reshape(p.shape)
    return free


def _terms_on_cells(fit: Fit, shape: tuple[int, ...]) -> Floats:
    """Return the statistics of the u-terms on every cell; shape (n_cells, n_free)."""
    interactions = Interactions(layout_of(fit.structure, fit.model.schema))
    _require_room(math.prod(shape), interactions.n_free, "free parameters")
    codes = np.indices(shape).reshape(len(shape), -1)
    blocks = [np.zeros((math.prod(shape), 0))]
    for term, basis in zip(interactions.terms, interactions.bases, strict=True):
        blocks.append(basis[np.ravel_multi_index(tuple(codes[list(term)]), interactions.shape(term))])
    return np.concatenate(blocks, axis=1)


def _features_on_cells(fit: Fit, shape: tuple[int, ...]) -> Floats:
    """Return the features on every cell; shape (n_cells, n_features)."""
    features = features_of(fit.structure, fit.model.schema)
    _require_room(math.prod(shape), len(features), "features")
    values: Floats = values_on_cells(features, fit.structure.variables, fit.model.schema).toarray()
    return values


def _require_room(n_cells: int, n_columns: int, of: str) -> None:
    if n_cells * n_columns > MAX_DESIGN:
        raise ArgumentError(
            f"Adjusted residuals need a matrix of {n_cells:,} cells by {n_columns:,} {of}, more than {MAX_DESIGN:,} "
            "numbers. Ask for 'pearson' or 'deviance'."
        )
