"""Linear-Gaussian distributions: a continuous child, normal around a linear function of its continuous parents.

With discrete parents there is one regression for each of their configurations. How they are fitted and proven stands in
`suffice.models.cpds.linear_gaussian_kind`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.errors import (
    ArgumentError,
    ModelError,
    Remedy,
    is_number,
    listing,
    made,
    require_mapping,
    shown,
    suggestion,
)
from suffice.models.cpds.by_configuration import ByConfiguration
from suffice.models.cpds.kind import Given, NodeFamily
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import describe_configuration
from suffice.stats.moments import Moments
from suffice.types import Bools, Columns, Floats, Ints, Json, JsonObject
from suffice.values import Label

PARAMETERS = ("intercept", "coefficients", "sd", "variance")
Wide = NDArray[np.longdouble]
TINY = 2.0**-54
"""Half of what may separate uniform numbers: they may be zero, whose normal quantile is −∞."""


@dataclass(frozen=True, eq=False)
class LinearGaussianCPD(ByConfiguration):
    """p(y | x, d) = N(y; a_d + b_d · x, v_d): x the continuous parents, d a configuration of the discrete ones.

    Attributes
    ----------
    family : NodeFamily
    intercept : array, shape (n_rows,)
        a, one row a configuration of the discrete parents in lexicographic order; one row without discrete parents.
    coefficients : array, shape (n_rows, n_continuous)
        b, in the order of the continuous parents.
    variance : array, shape (n_rows,)
        v ≥ 0; rows of NaN are unknown (``unseen_parents="nan"``).

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
    >>> effect = sf.fit(sf.DAG("dose -> effect"), data).model.cpd("effect")
    >>> print(effect)
    p(effect | dose)
    intercept  dose       sd
    ---------  ----  -------
         1.15   1.9  0.33541
    >>> effect.mean_of({"dose": np.array([10.0])})
    array([20.15])
    """

    kind: ClassVar[str] = "linear_gaussian"
    family: NodeFamily
    intercept: Floats = field(repr=False)
    coefficients: Floats = field(repr=False)
    variance: Floats = field(repr=False)

    def __post_init__(self) -> None:
        n_rows, q = math.prod(self._sizes), len(self.family.continuous)
        parts = {"intercept": self.intercept, "coefficients": self.coefficients, "variance": self.variance}
        for (name, part), shape in zip(parts.items(), ((n_rows,), (n_rows, q), (n_rows,)), strict=True):
            array = np.array(part, np.float64)
            if array.size != math.prod(shape):
                raise ModelError(
                    f"Node {self.family.child.name!r}: the {name} must have the shape {shape}, one row for each "
                    f"configuration of the discrete parents. Got {array.shape} instead."
                )
            array = array.reshape(shape)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        known = ~self.unknown
        numbers = np.column_stack([self.intercept, self.coefficients, self.variance])[known]
        if not np.isfinite(numbers).all() or not (self.variance[known] >= 0).all():
            raise ModelError(
                f"Node {self.family.child.name!r}: intercepts and coefficients must be finite numbers, and variances "
                "finite and not negative. Correct them."
            )

    @classmethod
    def from_given(cls, family: NodeFamily, given: Given) -> LinearGaussianCPD:
        """Build from what a person writes: ``{"intercept": 1, "coefficients": {"x": 2}, "sd": 0.5}``.

        With discrete parents each number may be a list, one a configuration, or the whole a mapping from the parents'
        states to such entries.
        """
        if isinstance(given, LinearGaussianCPD):
            return given.renamed(family)
        what = f"The distribution of {family.child.name!r}"
        entry = require_mapping(family.child.name, given, "{'intercept': 1, 'coefficients': {'x': 2}, 'sd': 0.5}")
        if family.discrete and not set(entry) & set(PARAMETERS):
            return _from_rows(family, entry)
        for name in entry:
            if name not in PARAMETERS:
                raise ArgumentError(
                    f"{what} has no parameter {shown(name)}; it has {listing(PARAMETERS)}."
                    + suggestion(name, PARAMETERS)
                )
        if ("sd" in entry) == ("variance" in entry):
            raise ArgumentError(f"{what} needs one of 'sd' and 'variance'. Got {shown(dict(entry))} instead.")
        n_rows = math.prod(v.n_states for v in family.discrete)
        spread = _numbers(what, "sd" if "sd" in entry else "variance", entry, n_rows)
        slopes = _slopes(what, family, entry.get("coefficients", {}), n_rows)
        if (spread < 0).any():
            raise ArgumentError(
                f"{what} has a negative spread. Got {shown(spread.tolist())}; give one of zero or more."
            )
        with np.errstate(over="ignore", under="ignore"):
            variance = spread**2 if "sd" in entry else spread
        if not np.isfinite(variance).all() or ((variance == 0) & (spread > 0)).any():
            raise ArgumentError(
                f"{what} has a spread whose square is out of range. Got {shown(spread.tolist())}; use other units."
            )
        return cls(family, _numbers(what, "intercept", entry, n_rows), slopes, variance)

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def unknown(self) -> Bools:
        """The rows that the data did not determine; shape (n_rows,)."""
        slopes = np.isnan(self.coefficients).any(axis=1)
        unknown: Bools = np.isnan(self.intercept) | np.isnan(self.variance) | slopes
        return unknown

    @property
    def sd(self) -> Floats:
        """The standard deviations around the line; shape (n_rows,)."""
        return np.sqrt(self.variance)

    def _parameters(self) -> tuple[dict[str, list[Label]], dict[str, Floats], int]:
        numbers = {"intercept": self.intercept}
        for j, parent in enumerate(self.family.continuous):
            numbers[parent.name if parent.name != "intercept" else "intercept_"] = self.coefficients[:, j]
        return {}, {**numbers, "sd" if "sd" not in numbers else "sd_": self.sd}, 1

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        header, rows, align = super()._cells()
        if not self.family.continuous:
            header[len(self.family.discrete)] = "mean"  # an intercept without a line
        return header, rows, align

    # What it computes -----------------------------------------------------------------------------------------

    def mean_of(self, columns: Columns) -> Floats:
        """Return E[y | parents] of every case of columns; shape (n_rows,), one row without parents."""
        n_rows = next((len(columns[parent.name]) for parent in self.family.parents), 1)
        return self._mean(columns, self.rows_of(columns, n_rows))

    def _mean(self, columns: Columns, row: Ints) -> Floats:
        mean: Floats = self.intercept[row]
        for j, parent in enumerate(self.family.continuous):
            mean = mean + self.coefficients[row, j] * np.asarray(columns[parent.name], np.float64)
        return mean

    def log_prob(self, columns: Columns) -> Floats:
        """Return the log-density of every case; shape (n_rows,)."""
        y = np.asarray(columns[self.family.child.name], np.float64)
        row = self.rows_of(columns, len(y))
        gap = y - self._mean(columns, row)
        v = self.variance[row]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            log_density: Floats = -0.5 * (np.log(2 * math.pi * v) + gap**2 / v)  # eq normal-density
        at_point = v == 0
        if at_point.any():
            log_density = np.where(at_point, np.where(gap == 0, math.inf, -math.inf), log_density)
        return log_density

    def sample(self, columns: Columns, uniform: Floats) -> Floats:
        """Draw the child by the normal quantile of ``uniform``; shape (n_rows,)."""
        from scipy.special import ndtri

        row = self.rows_of(columns, len(uniform))
        drawn: Floats = self._mean(columns, row) + self.sd[row] * ndtri(uniform + TINY)
        if self.unknown.any() and self.unknown[row].any():
            raise ModelError(
                f"Cannot sample {self.family.child.name!r}: its row for "
                f"{self.describe_row(int(row[np.argmax(self.unknown[row])]))} is unknown (NaN), because the data had "
                "too few such cases. Fit with a prior: ",
                Remedy("prior", {self.family.child.name: made("NormalInverseGamma", 2, 1.0)}),
                ".",
            )
        return drawn

    def log_likelihood(self, statistic: Moments) -> float:
        """Return Σ −w/2 (log 2πv + mean square around the line / v) from the family's moments."""
        weight, squares = statistic.weight.reshape(-1), self.squares(statistic)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = -0.5 * (weight * np.log(2 * math.pi * self.variance) + squares / self.variance)
        # Without spread the line itself is the only possible place.
        terms = np.where(self.variance == 0, np.where(squares == 0, math.inf, -math.inf), terms)
        seen = terms[weight > 0]
        return -math.inf if np.isneginf(seen).any() else float(seen.sum())

    def squares(self, statistic: Moments) -> Floats:
        """Return Σ w (y − a − b · x)² of every row, in the longest floats there are; shape (n_rows,)."""
        weight, means, scatter = rows_of_moments(statistic)
        wide = np.longdouble
        direction = np.concatenate([-self.coefficients, np.ones((len(weight), 1))], axis=1).astype(wide)
        around = np.einsum("ri,rij,rj->r", direction, scatter.astype(wide), direction)
        gap = np.einsum("ri,ri->r", direction, means) - self.intercept
        squares: Floats = np.where(weight > 0, around + weight * gap * gap, 0).astype(np.float64)
        return np.maximum(squares, 0.0)

    def renamed(self, family: NodeFamily) -> LinearGaussianCPD:
        """Return the same distribution for a tied family."""
        if family == self.family:
            return self
        return LinearGaussianCPD(family, self.intercept, self.coefficients, self.variance)

    @cached_property
    def degenerate(self) -> bool:
        """Whether a row has no spread, so that the child is an exact function of its parents there."""
        return bool((self.variance == 0).any())

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the parameters as JSON-able data."""
        return {"intercept": self.intercept, "coefficients": self.coefficients, "variance": self.variance}

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: JsonObject) -> LinearGaussianCPD:
        """Rebuild from `to_dict`'s data."""
        names = ("intercept", "coefficients", "variance")
        return cls(family, *(np.array(entry[name], np.float64) for name in names))


def rows_of_moments(statistic: Moments) -> tuple[Floats, Wide, Floats]:
    """Return weights (n_rows,), means with what rounding cut off them (n_rows, p), and scatter (n_rows, p, p)."""
    p = len(statistic.variables)
    means = statistic.mean.astype(np.longdouble) + statistic.rest
    return statistic.weight.reshape(-1), means.reshape(-1, p), statistic.scatter.reshape(-1, p, p)


# By hand ------------------------------------------------------------------------------------------------------


def _numbers(what: str, name: str, entry: Mapping[str, Given], n_rows: int) -> Floats:
    """Return one number a row, from a number for all rows or a list."""
    if name not in entry:
        raise ArgumentError(f"{what} lacks the entry {name!r}. Give a number, or one for each configuration.")
    return _spread_out(what, name, entry[name], n_rows)


def _spread_out(what: str, name: str, given: Given, n_rows: int) -> Floats:
    numbers = [given] * n_rows if is_number(given) else np.array(given, object).reshape(-1).tolist()
    if len(numbers) != n_rows or not all(is_number(value) and math.isfinite(value) for value in numbers):
        several = f", or {n_rows} numbers, one for each configuration of the discrete parents" if n_rows > 1 else ""
        raise ArgumentError(f"{what}: the entry {name!r} must be a finite number{several}. Got {shown(given)} instead.")
    return np.array(numbers, np.float64)


def _slopes(what: str, family: NodeFamily, given: Given, n_rows: int) -> Floats:
    names = [parent.name for parent in family.continuous]
    if not isinstance(given, Mapping):
        listed = list(given) if isinstance(given, list | tuple | np.ndarray) else [given]
        if len(listed) != len(names):
            raise ArgumentError(
                f"{what}: the 'coefficients' must be one for each of the continuous parents {listing(names)}, as in "
                f"{{'x': 2.0}}. Got {shown(given)} instead."
            )
        given = dict(zip(names, listed, strict=True))
    if set(given) != set(names):
        raise ArgumentError(
            f"{what}: the 'coefficients' must name the continuous parents {listing(names)}, each once. "
            f"Got {listing(list(given))} instead."
        )
    columns = [_spread_out(what, name, given[name], n_rows) for name in names]
    return np.stack(columns, axis=1) if columns else np.zeros((n_rows, 0))


def _from_rows(family: NodeFamily, entry: Mapping[Label | tuple[Label, ...], Given]) -> LinearGaussianCPD:
    """Build from a mapping of the discrete parents' states to the parameters of a row."""
    alone = NodeFamily(family.child, family.continuous)
    given = dict(_configurations(family, entry))
    rows = []
    for codes in map(tuple, all_configurations([v.n_states for v in family.discrete]).tolist()):
        if codes not in given:
            raise ArgumentError(
                f"The distribution of {family.child.name!r} lacks an entry for "
                f"{describe_configuration(family.discrete, codes)}. Give one for every configuration."
            )
        rows.append(LinearGaussianCPD.from_given(alone, given[codes]))
    arrays = zip(*((row.intercept, row.coefficients, row.variance) for row in rows), strict=True)
    return LinearGaussianCPD(family, *(np.concatenate(parts) for parts in arrays))


def _configurations(
    family: NodeFamily, entry: Mapping[Label | tuple[Label, ...], Given]
) -> Iterator[tuple[tuple[int, ...], Given]]:
    for key, row in entry.items():
        labels = key if isinstance(key, tuple) else (key,)
        if len(labels) != len(family.discrete):
            raise ArgumentError(
                f"The distribution of {family.child.name!r}: the key {shown(key)} must name one state for each of the "
                f"discrete parents {listing([v.name for v in family.discrete])}."
            )
        yield tuple(v.code(label) for v, label in zip(family.discrete, labels, strict=True)), row
