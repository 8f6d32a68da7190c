"""Forecast: the distribution of the next values of a sequence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.data.frame import to_native
from suffice.errors import require_fraction
from suffice.models.joint_normal import JointNormal
from suffice.models.normal_arrays import frozen
from suffice.text import html_table, number, plain_table
from suffice.types import Array, Floats, Frame

SHOWN_STEPS = 20


@dataclass(frozen=True, eq=False)
class Forecast:
    """Normal distributions of the values 1, 2, … steps ahead, given all values so far.

    Attributes
    ----------
    variables : tuple of str
    mean : array, shape (steps, d)
    joint_covariance : array, shape (steps·d, steps·d)
        Of all steps together, the nearest first.
    """

    variables: tuple[str, ...]
    mean: Floats
    joint_covariance: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", frozen(np.array(self.mean, np.float64)))
        object.__setattr__(self, "joint_covariance", frozen(np.array(self.joint_covariance, np.float64)))

    @property
    def steps(self) -> int:
        """How far ahead it looks."""
        return len(self.mean)

    @property
    def covariance(self) -> Floats:
        """The covariance matrix of every step; shape (steps, d, d)."""
        d = len(self.variables)
        blocks = self.joint_covariance.reshape(self.steps, d, self.steps, d)
        return np.stack([blocks[step, :, step] for step in range(self.steps)])

    @property
    def sd(self) -> Floats:
        """The standard deviations; shape (steps, d)."""
        found: Floats = np.sqrt(np.diag(self.joint_covariance)).reshape(self.mean.shape)
        return found

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of the intervals that hold each value with probability ``level``; shape (steps, d) each."""
        from scipy.special import ndtri

        half = float(ndtri(0.5 + require_fraction("level", level) / 2)) * self.sd
        return self.mean - half, self.mean + half

    def joint(self) -> JointNormal:
        """Return the distribution of all steps together, ``x[+1]`` being the next value of ``x``."""
        names = [f"{name}[+{step}]" for step in range(1, self.steps + 1) for name in self.variables]
        return JointNormal(names, self.mean.reshape(-1), covariance=self.joint_covariance)

    def to_frame(self, level: float = 0.95, backend: str | None = None) -> Frame:
        """Return a frame with a row for each step and variable: mean, sd, and the ends of the interval.

        Parameters
        ----------
        level : float
            The probability of the intervals.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        low, high = self.interval(level)
        d = len(self.variables)
        columns: dict[str, Array | list[str]] = {
            "step": np.repeat(np.arange(1, self.steps + 1), d),
            "variable": list(self.variables) * self.steps,
            "mean": self.mean.reshape(-1),
            "sd": self.sd.reshape(-1),
            "low": low.reshape(-1),
            "high": high.reshape(-1),
        }
        return to_native(columns, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        low, high = self.interval()
        rows = []
        for step in range(min(self.steps, SHOWN_STEPS)):
            for place, name in enumerate(self.variables):
                values = (self.mean, self.sd, low, high)
                rows.append([str(step + 1), name, *(number(float(array[step, place])) for array in values)])
        if self.steps > SHOWN_STEPS:
            rows.append(["…", f"{self.steps - SHOWN_STEPS:,} more steps", "", "", "", ""])
        return ["step", "variable", "mean", "sd", "95 % from", "to"], rows, "><>>>>"

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())
