"""JointNormal: a multivariate normal distribution over named variables."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from suffice.data.block import Block
from suffice.data.frame import to_native
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import (
    ArgumentError,
    ModelError,
    UnknownNameError,
    is_number,
    listing,
    require_choice,
    require_fraction,
    require_mapping,
    shown,
    suggestion,
)
from suffice.models.evidence import Evidence, Targets
from suffice.models.marginals import Marginals
from suffice.models.normal_arrays import alone, checked_array, checked_names, checked_numbers, frozen, scaled, symmetric
from suffice.models.normal_gaps import MissingNormalValues, NormalEngine
from suffice.models.normal_text import html_normal, plain_normal
from suffice.models.prediction import Prediction
from suffice.models.row_model import RowModel
from suffice.models.sampling import require_draws, row_bytes, sample_blocks
from suffice.text import plural
from suffice.types import Columns, Floats, Frame, Json

if TYPE_CHECKING:
    from suffice.types import Entry


@dataclass(frozen=True, init=False, eq=False)
class JointNormal(RowModel, Prediction):
    """The normal distribution N(mean, covariance) of some named variables.

    Parameters
    ----------
    names : sequence of str
        The variables; all arrays are in their order.
    mean : array, shape (p,)
    precision, covariance : array, shape (p, p)
        One of them; the other is its inverse. Zeros of a given precision matrix are kept exactly.

    Attributes
    ----------
    mean, precision, covariance : array
        Read-only, in the order of ``names``.

    Examples
    --------
    >>> model = JointNormal(["x", "y", "z"], [0, 1, 2], precision=[[2, -1, 0], [-1, 2, -1], [0, -1, 2]])
    >>> print(model)
    variable  mean        sd  x    y    z
    --------  ----  --------  ---  ---  ---
    x            0  0.866025       0.5    0
    y            1         1  0.5       0.5
    z            2  0.866025    0  0.5
    partial correlations, given all other variables
    >>> model.query("x", given={"y": 3.0}).mean
    array([1.])
    """

    names: tuple[str, ...]
    mean: Floats
    _given: str
    _matrix: Floats

    def __init__(
        self,
        names: Sequence[str],
        mean: ArrayLike,
        *,
        precision: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
    ) -> None:
        if (precision is None) == (covariance is None):
            raise ArgumentError("A normal distribution takes one of 'precision' and 'covariance'; pass exactly one.")
        known = checked_names(names)
        given, matrix = ("precision", precision) if covariance is None else ("covariance", covariance)
        object.__setattr__(self, "names", known)
        object.__setattr__(self, "mean", frozen(checked_array("mean", mean, (len(known),))))
        object.__setattr__(self, "_given", given)
        object.__setattr__(self, "_matrix", frozen(symmetric(given, checked_array(given, matrix, (len(known),) * 2))))
        self._factor  # noqa: B018, a matrix that is not positive definite is refused here

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.names

    @property
    def schema(self) -> Schema:
        """The variables, all continuous."""
        return self._schema

    @cached_property
    def _schema(self) -> Schema:
        return Schema(tuple(Variable(name) for name in self.names))

    @property
    def precision(self) -> Floats:
        """The inverse of the covariance matrix, K; shape (p, p)."""
        return self._matrix if self._given == "precision" else self._inverse

    @property
    def covariance(self) -> Floats:
        """The covariance matrix, Σ; shape (p, p)."""
        return self._matrix if self._given == "covariance" else self._inverse

    @cached_property
    def _factor(self) -> tuple[Floats, Floats]:
        """The diagonal's roots d and the lower Cholesky factor L of the matrix that was given, M = d L Lᵀ d."""
        diagonal = np.diag(self._matrix)
        if (diagonal > 0).all():
            roots: Floats = np.sqrt(diagonal)
            with contextlib.suppress(np.linalg.LinAlgError):
                return roots, np.linalg.cholesky(self._matrix / roots[:, None] / roots).astype(np.float64)
        raise ModelError(
            f"The {self._given} matrix of {listing(self.names)} is not positive definite, so it is that of no normal "
            "distribution. Correct it; a variable that is a combination of others must be left out."
        )

    @cached_property
    def _inverse(self) -> Floats:
        from scipy.linalg import cho_solve

        roots, lower = self._factor
        inverse = cho_solve((lower, True), np.eye(len(roots))) / roots[:, None] / roots
        return frozen((inverse + inverse.T) / 2)

    @cached_property
    def _log_det_precision(self) -> float:
        roots, lower = self._factor
        log_det = 2 * float(np.log(roots).sum() + np.log(np.diag(lower)).sum())
        return log_det if self._given == "precision" else -log_det

    @property
    def sd(self) -> Floats:
        """The standard deviations; shape (p,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlations(self) -> Floats:
        """The correlations, ones on the diagonal; shape (p, p)."""
        return scaled(self.covariance)

    @property
    def partial_correlations(self) -> Floats:
        """The correlation of each pair given all other variables, −k_ij / √(k_ii k_jj); ones on the diagonal."""
        partial = -scaled(self.precision) + 0.0  # no negative zeros
        np.fill_diagonal(partial, 1.0)
        return partial

    # What it computes -----------------------------------------------------------------------------------------

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return the log-density of every row of columns; shape (n_rows,)."""
        from scipy.linalg import solve_triangular

        rows = np.stack([np.asarray(columns[name], np.float64) for name in self.names], axis=1)
        roots, lower = self._factor
        with np.errstate(invalid="ignore"):
            centred = rows - self.mean
            if self._given == "precision":
                whitened = (centred * roots) @ lower
            else:
                whitened = solve_triangular(lower, (centred / roots).T, lower=True, check_finite=False).T
            squares = np.einsum("ij,ij->i", whitened, whitened)
        squares[~np.isfinite(rows).all(axis=1)] = math.inf
        constant = self._log_det_precision - len(roots) * math.log(2 * math.pi)
        log_density: Floats = 0.5 * (constant - squares)
        return log_density

    def marginal(self, names: Targets) -> JointNormal:
        """Return the distribution of some of the variables, in the order asked for."""
        return self._select(self._positions("names", names))

    def _select(self, places: list[int]) -> JointNormal:
        if places == list(range(len(self.names))):
            return self
        picked = [self.names[place] for place in places]
        if sorted(places) == list(range(len(self.names))):
            matrix = self._matrix[np.ix_(places, places)]
            return JointNormal(picked, self.mean[places], **{self._given: matrix})
        return JointNormal(picked, self.mean[places], covariance=self.covariance[np.ix_(places, places)])

    def condition(self, given: Evidence) -> JointNormal:
        """Return the distribution of all other variables when some have been seen.

        >>> pair = JointNormal(["x", "y"], [0, 0], covariance=[[1, 0.5], [0.5, 1]])
        >>> seen = pair.condition({"x": 2.0})
        >>> float(seen.mean[0]), round(float(seen.covariance[0, 0]), 9)
        (1.0, 0.75)
        """
        values = self._evidence(given)
        if not values:
            return self
        free = [place for place in range(len(self.names)) if place not in values]
        if not free:
            raise ArgumentError("All variables are given, so none is left to have a distribution. Leave one out.")
        seen = list(values)
        gap = np.array([values[place] for place in seen]) - self.mean[seen]
        inner = self.precision[np.ix_(free, free)]
        shift = np.linalg.solve(inner, self.precision[np.ix_(free, seen)] @ gap)
        return JointNormal([self.names[place] for place in free], self.mean[free] - shift, precision=inner)

    def query(self, targets: Targets, given: Evidence | None = None) -> JointNormal:
        """Return the distribution of the targets, given values of other variables.

        Parameters
        ----------
        targets : str or sequence of str
        given : mapping from str to number, optional
        """
        wanted = [self.names[place] for place in self._positions("targets", targets)]
        for name in given or {}:
            if name in wanted:
                raise ArgumentError(f"Variable {name!r} is asked for and given at once. Leave it out of one of them.")
        return (self if given is None else self.condition(given)).marginal(wanted)

    def marginals(self, given: Evidence | None = None) -> Marginals:
        """Return the distribution of every variable that is not given, by its name.

        >>> JointNormal(["x", "y"], [0, 0], covariance=[[2, 1], [1, 2]]).marginals({"y": 1.0})
        variable  state                p
        --------  -------------------  -
        x         mean 0.5, sd 1.2247
        """
        if given is not None and len(self._evidence(given)) == len(self.names):
            return Marginals()
        found = self if given is None else self.condition(given)
        return Marginals({name: found.marginal(name) for name in found.names})

    def map(self, given: Evidence | None = None, *, targets: Targets | None = None) -> dict[str, float]:
        """Return the most likely values of all variables that are not given, or of targets: their conditional means."""
        found = self if given is None else self.condition(given)
        if targets is not None:
            found = self.query(targets, given)
        return dict(zip(found.names, found.mean.tolist(), strict=True))

    def entropy(self, given: Evidence | None = None) -> float:
        """Return the differential entropy of all variables that are not given, in nats."""
        found = self if given is None else self.condition(given)
        return 0.5 * (len(found.names) * (1 + math.log(2 * math.pi)) - found._log_det_precision)

    def kl(self, other: JointNormal) -> float:
        """Return ∫ p log p/q in nats, p being this distribution and q the other, over the same variables."""
        if not isinstance(other, JointNormal):
            raise ArgumentError(f"The divergence is from another normal distribution. Got {shown(other)} instead.")
        if set(self.names) != set(other.names):
            odd = sorted(set(self.names) ^ set(other.names))
            raise ModelError(f"The distributions have different variables: {listing(odd)} are in one of them only.")
        q = other._select([other.names.index(name) for name in self.names])
        gap = q.mean - self.mean
        trace = float((q.precision * self.covariance).sum())
        log_ratio = self._log_det_precision - q._log_det_precision
        return max(0.0, 0.5 * (trace + float(gap @ q.precision @ gap) - len(self.names) + log_ratio))

    def cdf(self, values: ArrayLike) -> Floats:
        """Return P(X ≤ x) of each of some numbers, for a distribution of one variable."""
        from scipy.special import ndtr

        place = alone(self.names)
        return np.asarray(ndtr((checked_numbers("values", values) - self.mean[place]) / self.sd[place]))

    def quantile(self, p: ArrayLike) -> Floats:
        """Return the numbers below which the probability is p, for a distribution of one variable."""
        from scipy.special import ndtri

        place = alone(self.names)
        return np.asarray(self.mean[place] + self.sd[place] * ndtri(checked_numbers("p", p, 0.0, 1.0)))

    def interval(self, level: float = 0.95) -> Floats:
        """Return the central interval of each variable by itself, lower and upper end; shape (p, 2)."""
        from scipy.special import ndtri

        reach = float(ndtri(0.5 + require_fraction("level", level) / 2)) * self.sd
        return np.stack([self.mean - reach, self.mean + reach], axis=1)

    # Draws ----------------------------------------------------------------------------------------------------

    def sample(
        self,
        n: int,
        *,
        given: Evidence | None = None,
        seed: int | None = None,
        backend: str | None = None,
    ) -> Frame:
        """Draw ``n`` independent rows.

        Parameters
        ----------
        n : int
        given : mapping from str to number, optional
            Values that were seen; their columns hold them.
        seed : int, optional
            The same seed gives the same rows; the first rows do not depend on ``n``.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame to return: the first of them that is installed, unless named.
        """
        require_draws(n, row_bytes(self.schema))
        blocks = list(self.sample_blocks(n, given=given, seed=seed))
        columns = {name: np.concatenate([block.columns[name] for block in blocks]) for name in self.names}
        found: Frame = to_native(columns, backend)
        return found

    def sample_blocks(self, n: int, *, given: Evidence | None = None, seed: int | None = None) -> Iterator[Block]:
        """Yield ``n`` drawn rows as blocks, in bounded memory."""
        from scipy.linalg import solve_triangular
        from scipy.special import ndtri

        values = self._evidence({} if given is None else given)
        found = self if len(values) in (0, len(self.names)) else self.condition(given or {})
        roots, lower = found._factor

        def draw(uniform: Callable[[], Floats]) -> dict[str, Floats]:
            tiny = 2.0**-54  # uniform numbers may be zero, whose normal quantile is −∞
            normal = np.stack([ndtri(uniform() + tiny) for _ in found.names])
            if found._given == "precision":
                drawn = solve_triangular(lower, normal, lower=True, trans="T") / roots[:, None]
            else:
                drawn = (lower @ normal) * roots[:, None]
            columns = dict(zip(found.names, drawn + found.mean[:, None], strict=True))
            size = drawn.shape[1]
            return columns | {self.names[place]: np.full(size, value) for place, value in values.items()}

        return sample_blocks(self.schema, draw, n, seed)

    # Missing values -------------------------------------------------------------------------------------------

    @cached_property
    def _engine(self) -> NormalEngine:
        return NormalEngine(MissingNormalValues(self.mean, self.covariance, self.precision))

    # Names ----------------------------------------------------------------------------------------------------

    def _place(self, name: object) -> int:
        if name not in self.names:
            raise UnknownNameError(
                f"There is no variable {name!r}. The variables are {listing(self.names, 12)}."
                + suggestion(name, self.names)
            )
        return self.names.index(str(name))

    def _positions(self, argument: str, names: Targets) -> list[int]:
        asked = [names] if isinstance(names, str) else names
        if not isinstance(asked, Iterable) or isinstance(asked, Mapping):
            raise ArgumentError(
                f"The {argument!r} argument must be a name or a list of names. Got {shown(names)} instead."
            )
        places = [self._place(name) for name in asked]
        if not places or len(set(places)) < len(places):
            raise ArgumentError(
                f"The {argument!r} argument must name at least one variable, each once. Got {shown(names)} instead."
            )
        return places

    def _evidence(self, given: Evidence) -> dict[int, float]:
        """Return the values that were seen, by place."""
        values = {}
        for name, value in require_mapping("given", given, "{'x': 1.2}").items():
            place = self._place(name)
            if not is_number(value) or not math.isfinite(value):
                raise ArgumentError(
                    f"The value given for {name!r} must be a finite number. Got {shown(value)} instead."
                )
            values[place] = float(value)
        return values

    # Rendering and files --------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"JointNormal({plural(len(self.names), 'variable')})"

    def __str__(self) -> str:
        return plain_normal(self)

    def _repr_html_(self) -> str:
        from suffice.report.static_graph import graph_html

        return graph_html(self) + html_normal(self)

    def to_frame(self, what: str = "covariance", backend: str | None = None) -> Frame:
        """Return a matrix as a frame: a column of names, then a column a variable.

        Parameters
        ----------
        what : {"covariance", "precision", "correlations", "partial_correlations"}
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        require_choice("what", what, ("covariance", "precision", "correlations", "partial_correlations"))
        matrix = {
            "covariance": lambda: self.covariance,
            "precision": lambda: self.precision,
            "correlations": lambda: self.correlations,
            "partial_correlations": lambda: self.partial_correlations,
        }[what]()
        first = "variable"
        while first in self.names:
            first += "_"
        columns = dict(zip(self.names, np.ascontiguousarray(matrix.T), strict=True))
        found: Frame = to_native({first: list(self.names), **columns}, backend)
        return found

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {"type": "JointNormal", "names": list(self.names), "mean": self.mean, self._given: self._matrix}

    @classmethod
    def from_dict(cls, entry: Entry) -> JointNormal:
        """Rebuild the model from `to_dict`'s data."""
        matrices = {name: entry[name] for name in ("precision", "covariance") if name in entry}
        return cls(entry["names"], entry["mean"], **matrices)
