"""AutoregressiveModel: sequences of numbers whose values depend linearly on the values before, with normal errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.block import Block
from suffice.data.frame import to_native
from suffice.data.held_symbols import HeldSymbols
from suffice.data.marked_windows import MARK
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.data.windows import lagged, window_names
from suffice.errors import Mention, ModelError, require_whole, shown
from suffice.models import autoregression_paths as paths
from suffice.models.autoregression_text import html_equations, plain_equations
from suffice.models.forecast import Forecast
from suffice.models.histories import history_rows
from suffice.models.joint_normal import JointNormal
from suffice.models.normal_arrays import checked_array, checked_names, frozen
from suffice.models.sampling import require_draws, stream_key
from suffice.structures.autoregression import Autoregression, lag_names
from suffice.text import number, plural
from suffice.types import Floats, Ints, Json

if TYPE_CHECKING:
    from suffice.types import Entry

UNIT = 1 - 1e-12
"""A spectral radius beyond this is one to rounding error."""


@dataclass(frozen=True, init=False, eq=False)
class AutoregressiveModel:
    """The vector autoregression y_t = c + A_1 y_{t−1} + … + A_k y_{t−k} + e_t with e_t ~ N(0, Σ).

    Parameters
    ----------
    variables : sequence of str
        The names of the d values at a time; all arrays are in their order.
    intercept : array, shape (d,)
        c.
    coefficients : array, shape (k, d, d)
        A_1, …, A_k: ``coefficients[i - 1, a, b]`` is how variable a depends on variable b, i steps before.
    covariance : array, shape (d, d)
        Σ, of the errors.
    start : JointNormal, optional
        The distribution of the first k values of a sequence, over ``lag_names``.
    id, time : str, optional
        The columns of long tables that say to which sequence a row belongs, and in which order the rows are.

    Examples
    --------
    >>> model = AutoregressiveModel(["x"], [1.0], [[[0.5]]], [[3.0]])
    >>> print(model)
    term                   x
    ---------------  -------
    intercept              1
    x[-1]                0.5
    sd of the error  1.73205
    order 1, spectral radius 0.5: stationary
    >>> float(model.stationary.mean[0]), float(model.stationary.covariance[0, 0])
    (2.0, 4.0)
    >>> print(model.forecast([4.0], 2))
    step  variable  mean       sd  95 % from       to
    ----  --------  ----  -------  ---------  -------
       1  x            3  1.73205  -0.394757  6.39476
       2  x          2.5  1.93649   -1.29545  6.29545
    """

    variables: tuple[str, ...]
    intercept: Floats
    coefficients: Floats
    covariance: Floats
    start: JointNormal | None
    id: str | None
    time: str | None

    def __init__(
        self,
        variables: Any,
        intercept: Any,
        coefficients: Any,
        covariance: Any,
        *,
        start: JointNormal | None = None,
        id: str | None = None,
        time: str | None = None,
    ) -> None:
        names = checked_names(variables)
        d = len(names)
        k = len(coefficients) if isinstance(coefficients, list | tuple) or np.ndim(coefficients) else 1
        shape = Autoregression(k, names, id=id, time=time)  # refuses columns with two roles
        # An empty list has no further axes.
        array = checked_array("coefficients", coefficients if k else np.zeros((0, d, d)), (k, d, d))
        errors = JointNormal(names, np.zeros(d), covariance=covariance)
        if start is not None and (not isinstance(start, JointNormal) or start.names != shape.lag_names):
            raise ModelError(
                f"The 'start' argument must be a normal distribution over {list(shape.lag_names)}. Got {shown(start)} "
                "instead."
            )
        for name, value in {
            "variables": names,
            "intercept": frozen(checked_array("intercept", intercept, (d,))),
            "coefficients": frozen(array),
            "covariance": errors.covariance,
            "start": start,
            "id": id,
            "time": time,
        }.items():
            object.__setattr__(self, name, value)

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def order(self) -> int:
        """How many values before a value it depends on, k."""
        return len(self.coefficients)

    @property
    def schema(self) -> Schema:
        """The columns of windows: the lags, the variables, and with ``start`` the mark of a sequence's first window."""
        return self._schema

    @cached_property
    def _schema(self) -> Schema:
        names = window_names(self.variables, self.order)
        return Schema((*(Variable(name) for name in names), *((MARK,) if self.start is not None else ())))

    @property
    def lag_names(self) -> tuple[str, ...]:
        """The terms of every equation: all variables one step before, then two, and so on."""
        return lag_names(self.variables, self.order)

    @property
    def flat_coefficients(self) -> Floats:
        """The coefficients of each equation, a column a term of ``lag_names``; shape (d, k·d)."""
        return paths.flat(self.coefficients)

    @cached_property
    def errors(self) -> JointNormal:
        """The distribution N(0, Σ) of the errors."""
        return JointNormal(self.variables, np.zeros(len(self.variables)), covariance=self.covariance)

    @property
    def companion(self) -> Floats:
        """The matrix F that moves the last k values one step on; shape (k·d, k·d)."""
        return paths.companion(self.coefficients)

    @cached_property
    def spectral_radius(self) -> float:
        """The largest absolute eigenvalue of the companion matrix: how fast, per step, the past is forgotten."""
        return float(np.abs(np.linalg.eigvals(self.companion)).max(initial=0.0))

    @property
    def is_stationary(self) -> bool:
        """Whether the influence of the past fades, so that there is a stationary distribution."""
        return self.spectral_radius < UNIT

    @cached_property
    def stationary(self) -> JointNormal:
        """The distribution of one value long after the start; raises where there is none."""
        return self._stationary_block(1)

    def _stationary_block(self, length: int) -> JointNormal:
        """Return the stationary distribution of some values in a row, the latest first."""
        self._require_stationary()
        d = len(self.variables)
        mean = np.linalg.solve(np.eye(d) - self.coefficients.sum(axis=0), self.intercept)
        covariance = paths.state_covariance(self.coefficients, self.covariance)[: length * d, : length * d]
        names = self.variables if length == 1 else lag_names(self.variables, length)
        return JointNormal(names, np.tile(mean, length), covariance=covariance)

    def _require_stationary(self) -> None:
        if not self.is_stationary:
            raise ModelError(
                f"The autoregression is not stationary: its spectral radius is {number(self.spectral_radius)}, and "
                "only below 1 is there a distribution that does not change with time. Forecast from a history, or "
                "sample with ",
                Mention("start", "start=…"),
                ".",
            )

    def autocovariance(self, lags: int) -> Floats:
        """Return Γ(h) = Cov(y_t, y_{t−h}) of the stationary process for h = 0, …, lags; shape (lags + 1, d, d).

        >>> AutoregressiveModel(["x"], [0], [[[0.5]]], [[3]]).autocovariance(2).ravel().tolist()
        [4.0, 2.0, 1.0]
        """
        self._require_stationary()
        return paths.autocovariances(self.coefficients, self.covariance, require_whole("lags", lags))

    def autocorrelation(self, lags: int) -> Floats:
        """Return the correlations of y_t and y_{t−h} for h = 0, …, lags; shape (lags + 1, d, d)."""
        found = self.autocovariance(lags)
        roots = np.sqrt(np.diag(found[0]))
        correlations: Floats = found / roots[:, None] / roots
        return correlations

    # What it computes -----------------------------------------------------------------------------------------

    def log_prob(self, data: Any) -> Floats:
        """Return the log-density of every sequence; shape (n_sequences,).

        That of its values given the first k; with ``start`` also that of these.

        Parameters
        ----------
        data : Sequences, or what makes them
            A list of sequences, or a long table whose columns ``id`` and ``time`` the model names.
        """
        table = self.structure.open(data).table
        parts = [self._log_densities(block) for block in table.blocks()]
        symbols: Any = table.symbols
        owner = np.repeat(np.arange(len(symbols.lengths)), np.maximum(symbols.lengths - self.order, 0))
        total = np.bincount(owner, weights=np.concatenate(parts), minlength=len(symbols.lengths)).astype(np.float64)
        return total if self.start is None else total + self._log_starts(symbols)

    def windows(self, data: Any) -> tuple[Floats, Ints, int]:
        """Return values after their predecessors, shape (n_windows, k·d + d), whose they are, and of how many."""
        table = self.structure.open(data).table
        symbols = table.symbols
        assert isinstance(symbols, HeldSymbols)
        names = (*self.lag_names, *self.variables)
        parts = [np.stack([block.columns[name] for name in names], axis=1) for block in table.blocks()]
        owner = np.repeat(np.arange(len(symbols.lengths)), np.maximum(symbols.lengths - self.order, 0))
        return np.concatenate(parts), owner, len(symbols.lengths)

    def _log_densities(self, block: Block) -> Floats:
        """Return the log-density of the last value of every window; shape (n_windows,)."""
        now = np.stack([block.columns[name] for name in self.variables], axis=1)
        before = [block.columns[name] for name in self.lag_names]
        past = np.stack(before, axis=1) @ self.flat_coefficients.T if before else 0.0
        errors = now - self.intercept - past
        return self.errors.log_prob_of(dict(zip(self.variables, errors.T, strict=True)), block.n_rows)

    def _log_starts(self, symbols: HeldSymbols) -> Floats:
        """Return the log-density of the first k values of every sequence, or of all where there are fewer."""
        found = np.zeros(len(symbols.lengths))
        begins = np.cumsum(symbols.lengths) - symbols.lengths
        if self.start is None:
            return found
        for length in range(1, self.order + 1):
            which = np.flatnonzero(np.minimum(symbols.lengths, self.order) == length)
            # The first value is the k-th lag of the first window.
            columns = {
                lagged(name, self.order - step): symbols.columns[name][begins[which] + step]
                for step in range(length)
                for name in self.variables
            }
            if len(which):
                found[which] = self.start.marginal(list(columns)).log_prob_of(columns, len(which))
        return found

    def errors_of(self, sequence: Any) -> Floats:
        """Return e_t = y_t − E[y_t | the past] of all values of a sequence but the first k; shape (length − k, d)."""
        rows = history_rows("sequence", sequence, self.variables, 0)
        found = rows[self.order :] - self.intercept
        for lag, matrix in enumerate(self.coefficients, 1):
            found = found - rows[self.order - lag : len(rows) - lag] @ matrix.T if len(found) else found
        return np.asarray(found, np.float64)

    def forecast(self, history: Any, steps: int = 1) -> Forecast:
        """Return the distribution of the next values, given those so far.

        Parameters
        ----------
        history : array, shape (length, d), or table
            At least k values, the latest last; a list of numbers where there is one variable.
        steps : int
            How far ahead.
        """
        recent = self._recent("history", history)
        ahead = require_whole("steps", steps, 1)
        covariance = paths.future_covariance(self.coefficients, self.covariance, ahead)  # refuses too many steps
        return Forecast(
            self.variables, paths.future_means(self.intercept, self.coefficients, recent, ahead), covariance
        )

    def predict(self, history: Any) -> dict[str, float]:
        """Return the expected next value of each variable, given those so far."""
        return dict(zip(self.variables, self.forecast(history).mean[0].tolist(), strict=True))

    def _recent(self, argument: str, values: Any) -> Floats:
        rows = history_rows(argument, values, self.variables, self.order)
        return rows[len(rows) - self.order :]

    # Draws ----------------------------------------------------------------------------------------------------

    def sample(
        self,
        n: int,
        length: int = 100,
        *,
        seed: int | None = None,
        start: Any = None,
        burn_in: int = 0,
        backend: str | None = None,
    ) -> Any:
        """Draw sequences, as a long table with a column for the sequence and one for the time.

        Parameters
        ----------
        n : int
            The number of sequences.
        length : int
            Values of each.
        seed : int, optional
            The same seed gives the same sequences; the first do not depend on ``n``, rounding aside.
        start : array, shape (k, d), or table, optional
            The values before the first. Without them the first k values are drawn: from ``model.start``, or from the
            stationary distribution.
        burn_in : int
            So many values are drawn and left out before the first.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame to return: the first of them that is installed, unless named.
        """
        drawn = self.sample_paths(n, length, seed=seed, start=start, burn_in=burn_in)
        which, when = self._free_name(self.id or "sequence"), self._free_name(self.time or "time")
        columns = {
            which: np.repeat(np.arange(1, len(drawn) + 1), drawn.shape[1]),
            when: np.tile(np.arange(1, drawn.shape[1] + 1), len(drawn)),
        }
        values = drawn.reshape(-1, len(self.variables))
        return to_native(columns | dict(zip(self.variables, np.ascontiguousarray(values.T), strict=True)), backend)

    def sample_paths(
        self, n: int, length: int = 100, *, seed: int | None = None, start: Any = None, burn_in: int = 0
    ) -> Floats:
        """Draw sequences as an array, shape (n, length, d); see `sample` for the arguments."""
        before = self._before(start)
        left_out = require_whole("burn_in", burn_in)
        steps = require_whole("length", length)
        shape = (require_draws(n, 16 * len(self.intercept) * max(steps + left_out, 1), "sequences"), steps)
        drawn = paths.simulated(
            self.intercept,
            self.coefficients,
            self.covariance,
            before,
            (shape[0], shape[1] + left_out),
            stream_key(seed),
        )
        return drawn[:, left_out:]

    def _before(self, start: Any) -> Floats | tuple[Floats, Floats]:
        """Return the values before the paths, or mean and covariance of their first values, the earliest first."""
        if start is not None or not self.order:
            return self._recent("start", np.zeros((0, len(self.variables))) if start is None else start)
        first = self.start if self.start is not None else self._stationary_block(self.order)
        d = len(self.variables)
        earliest_first = [lag * d + place for lag in reversed(range(self.order)) for place in range(d)]
        return first.mean[earliest_first], first.covariance[np.ix_(earliest_first, earliest_first)]

    def _free_name(self, name: str) -> str:
        while name in self.variables:
            name += "_"
        return name

    @property
    def structure(self) -> Autoregression:
        """A structure that the model is of: its order, variables and columns, fitted by maximum likelihood."""
        return Autoregression(self.order, self.variables, id=self.id, time=self.time)

    def structure_like(self, other: Any) -> Any:
        """Return another structure if this model can be its estimate, else the model's own."""
        if not isinstance(other, Autoregression):
            return self.structure
        fits = (other.order, other.id, other.time) == (self.order, self.id, self.time)
        named = other.variables in (None, self.variables)
        proper = (other.initial == "normal") == (self.start is not None)
        return other if fits and named and proper and (other.intercept or not self.intercept.any()) else self.structure

    # Rendering and files --------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"AutoregressiveModel(order={self.order}, {plural(len(self.variables), 'variable')})"

    def __str__(self) -> str:
        return plain_equations(self)

    def _repr_html_(self) -> str:
        return html_equations(self)

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {
            "type": "AutoregressiveModel",
            "variables": list(self.variables),
            "intercept": self.intercept,
            "coefficients": self.coefficients,
            "covariance": self.covariance,
            "start": None if self.start is None else self.start.to_dict(),
            "id": self.id,
            "time": self.time,
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> AutoregressiveModel:
        """Rebuild the model from `to_dict`'s data."""
        start = None if entry["start"] is None else JointNormal.from_dict(entry["start"])
        return cls(
            entry["variables"],
            entry["intercept"],
            entry["coefficients"],
            entry["covariance"],
            start=start,
            id=entry["id"],
            time=entry["time"],
        )
