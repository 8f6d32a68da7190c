"""The information geometry of a fit: how far every step was from the data, and from the estimate.

The estimate p* is the projection of the data p̃ onto the model: for every member p of the model (Csiszár, 1975),

    KL(p̃‖p) = KL(p̃‖p*) + KL(p*‖p),    and    KL(p*‖p) = (ℓ(p*) − ℓ(p)) / N.

So the log-likelihoods of a trace are all that is needed. Given inputs, divergences are means over the inputs.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.data.frame import to_native
from suffice.errors import EstimationError, Remedy, StatisticsError
from suffice.result.goodness import joint_counts
from suffice.structures.features import Features
from suffice.text import fixed, html_table, plain_table
from suffice.types import Floats, Frame, Ints

if TYPE_CHECKING:
    from suffice.result.fit import Fit


FIRST, LAST = 20, 5
"""So many rows are printed of the beginning and the end of a long trace, beside the optimum."""
ROUNDING = 1e-14
"""Falls below this, for one row, are none."""
COLUMNS = ("step", "log_likelihood", "divergence", "fall")


@dataclass(frozen=True, eq=False)
class Geometry:
    """The way of a fit, one row a step and the estimate last.

    Attributes
    ----------
    step : array of int, shape (n_rows,)
        The number of the step; the estimate's is that of the last step.
    log_likelihood : array, shape (n_rows,)
    divergence : array, shape (n_rows,)
        KL of ``reference`` to the model after the step.
    fall : array, shape (n_rows,)
        By how much the step lowered the divergence. NaN for the first, before which nothing was recorded.
    reference : {"data", "estimate"}
        Where divergences are measured from: the data's distribution p̃ where the counts of the whole table are known,
        else the estimate p*. They differ by KL(p̃‖p*), which is the same at all steps, so that the falls are equal.
    remarks : tuple of str
        What to know before using the numbers.
    """

    step: NDArray[np.int64] = field(repr=False)
    log_likelihood: Floats = field(repr=False)
    divergence: Floats = field(repr=False)
    fall: Floats = field(repr=False)
    reference: str
    remarks: tuple[str, ...] = ()

    @property
    def values(self) -> Floats:
        """All numbers; shape (n_rows, 4): step, log-likelihood, divergence, fall."""
        return np.column_stack(list(self._numbers.values()))

    @property
    def _numbers(self) -> dict[str, Ints | Floats]:
        """The columns by name."""
        return dict(zip(COLUMNS, (self.step, self.log_likelihood, self.divergence, self.fall), strict=True))

    def __len__(self) -> int:
        return len(self.step)

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a step, the estimate last: step, log_likelihood, divergence and fall.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        return to_native(self._numbers, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for step, value, divergence, fall in self.values:
            size = "" if math.isnan(fall) else f"{fall + 0.0:.3e}"
            rows.append([f"{int(step):,}", fixed(value), _divergence(divergence), size])
        rows[-1][0] = "estimate"
        if len(rows) > FIRST + LAST + 1:
            gap = [f"… {len(rows) - FIRST - LAST - 1:,} more", "", "", ""]
            rows = [*rows[:FIRST], gap, *rows[-LAST - 1 :]]
        of = "KL(data‖p)" if self.reference == "data" else "KL(estimate‖p)"
        return ["step", "log-likelihood", of, "fall"], rows, ">>>>"

    def __str__(self) -> str:
        foot = (textwrap.wrap(line, 100, subsequent_indent="  ") for line in self.remarks)
        return "\n".join([plain_table(*self._cells()), *itertools.chain.from_iterable(foot)])

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption="; ".join(self.remarks))


def _divergence(value: float) -> str:
    return f"{value:.6f}" if value == 0 or value >= 1e-4 else f"{value:.3e}"


def geometry(fit: Fit) -> Geometry:
    """Return the divergences along the trace of a fit; see `LogLinearFit.geometry`."""
    _require_trace(fit)
    values = np.array([step.objective for step in fit.trace] + [fit.log_likelihood])
    numbers = [step.number for step in fit.trace] or [0]  # no step was needed where the start was the estimate
    steps = np.array([*numbers[: len(fit.trace)], numbers[-1]], np.int64)
    behind = (fit.log_likelihood - values) / fit.n
    moves = np.diff(values) / fit.n  # eq kl-fall
    fall = np.concatenate([[np.nan], np.where(np.abs(moves) > ROUNDING, moves, 0.0)])
    remarks = []
    if not fit.certificate.ok:
        remarks.append(
            "the fit is not certified: its last point stands for the estimate, and divergences from the estimate are "
            "at least what is shown"
        )
    from_data = data_divergence(fit)
    if from_data is None:  # rounding must not make divergences negative
        return Geometry(steps, values, np.maximum(behind, 0.0), fall, "estimate", tuple(remarks))
    return Geometry(steps, values, np.maximum(from_data + behind, 0.0), fall, "data", tuple(remarks))


def data_divergence(fit: Fit) -> float | None:
    """Return KL(p̃‖p) for the fitted model p, or None where the counts of the whole table are not known."""
    structure = fit.structure
    if isinstance(structure, Features) and (structure.given or structure.continuous):
        return None
    try:
        counts = joint_counts(fit, fit.statistics)
    except StatisticsError:
        return None
    cells, m = counts.nonzero()
    shares = m.astype(np.float64) / counts.total
    columns = {name: cells[:, axis] for axis, name in enumerate(structure.variables)}
    log_p = fit.model.log_prob_of(columns, len(m))
    return max(0.0, math.fsum(shares * (np.log(shares) - log_p)))  # eq kl-data


def _require_trace(fit: Fit) -> None:
    if fit.method in ("pseudo_likelihood", "stochastic"):
        reason = (
            "climbs the pseudo-likelihood" if fit.method == "pseudo_likelihood" else "knows the likelihood of no step"
        )
        raise EstimationError(
            f"The method {fit.method!r} {reason}, from which no divergence of distributions follows. Fit by an exact "
            "method, such as 'lbfgs'."
        )
    if fit.prior is not None:
        raise EstimationError(
            f"The steps of this fit climb a likelihood with the prior {fit.prior!r}, so that the divergence from the "
            "data does not follow from them. Fit without a prior."
        )
    if fit.method == "closed_form":
        raise EstimationError(
            "The method 'closed_form' takes no steps, so that there is no way to look at. Fit by iteration: ",
            Remedy("method", "ipf"),
            " or ",
            Remedy("method", "newton"),
            ".",
        )
