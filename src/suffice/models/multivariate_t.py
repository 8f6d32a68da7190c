"""MultivariateT: Student's t distribution over named variables, the predictive distribution of a normal model.

======  ====================================================================
ν       degrees of freedom
m, S    location and scale matrix; the covariance matrix is ν S / (ν − 2)
======  ====================================================================

p(x) = Γ((ν + p)/2) / (Γ(ν/2) (νπ)^(p/2) |S|^(1/2)) · (1 + (x − m)ᵀ S⁻¹ (x − m) / ν)^(−(ν + p)/2)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data.frame import to_native
from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.errors import ArgumentError, ModelError, is_number, require_fraction, shown
from suffice.models.joint_normal import JointNormal
from suffice.models.sampling import require_draws, row_bytes, sample_blocks
from suffice.stats.source import BlockSource
from suffice.text import html_table, number, plain_table, plural
from suffice.types import Columns, Floats, Frame


@dataclass(frozen=True, init=False, eq=False)
class MultivariateT:
    """Student's t distribution of some named variables.

    Parameters
    ----------
    names : sequence of str
        The variables; all arrays are in their order.
    location : array, shape (p,)
        The centre, which is the mean for ``dof`` > 1.
    scale : array, shape (p, p)
        The scale matrix, positive definite.
    dof : float
        Degrees of freedom, positive.

    Examples
    --------
    >>> t = MultivariateT(["x", "y"], [0, 1], [[1, 0.5], [0.5, 2]], dof=4)
    >>> print(t)
    variable  location    scale       sd
    --------  --------  -------  -------
    x                0        1  1.41421
    y                1  1.41421        2
    Student's t, 4 degrees of freedom
    >>> t.log_prob({"x": [0.0], "y": [1.0]}).round(4)
    array([-2.1177])
    """

    names: tuple[str, ...]
    location: Floats
    scale: Floats
    dof: float

    def __init__(self, names: Sequence[str], location: Any, scale: Any, dof: float) -> None:
        if not is_number(dof) or not 0 < dof < math.inf:
            raise ArgumentError(f"The 'dof' argument must be a positive, finite number. Got {shown(dof)} instead.")
        kernel = JointNormal(names, location, covariance=scale)
        object.__setattr__(self, "names", kernel.names)
        object.__setattr__(self, "location", kernel.mean)
        object.__setattr__(self, "scale", kernel.covariance)
        object.__setattr__(self, "dof", float(dof))

    # What it says ---------------------------------------------------------------------------------------------

    @cached_property
    def _kernel(self) -> JointNormal:
        """The normal distribution that t is for infinite degrees of freedom."""
        return JointNormal(self.names, self.location, covariance=self.scale)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.names

    @property
    def schema(self) -> Schema:
        """The variables, all continuous."""
        return self._kernel.schema

    @property
    def mean(self) -> Floats:
        """The mean, shape (p,); it exists for more than one degree of freedom."""
        self._require(1, "mean")
        return self.location

    @property
    def covariance(self) -> Floats:
        """The covariance matrix, shape (p, p); it exists for more than two degrees of freedom."""
        self._require(2, "covariance matrix")
        return self.scale * (self.dof / (self.dof - 2))

    def _require(self, least: float, what: str) -> None:
        if not self.dof > least:
            raise ModelError(
                f"Student's t has a {what} for more than {least:g} degrees of freedom. This one has {self.dof:g}; use "
                "its location, scale and intervals."
            )

    # What it computes -----------------------------------------------------------------------------------------

    def log_prob(self, data: Any) -> Floats:
        """Return the log-density of every row of a table; shape (n_rows,)."""
        table = open_table(data, self.names, continuous=self.names)
        parts = list(BlockSource(table).each(lambda block: self.log_prob_of(block.columns, block.n_rows)))
        return np.concatenate(parts)

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return the log-density of every row of columns; shape (n_rows,)."""
        from scipy.special import gammaln

        p, nu = len(self.names), self.dof
        kernel = self._kernel
        constant = 0.5 * kernel._log_det_precision - 0.5 * p * math.log(2 * math.pi)
        squares = 2 * (constant - kernel.log_prob_of(columns, n_rows))  # (x − m)ᵀ S⁻¹ (x − m)
        height = float(gammaln((nu + p) / 2) - gammaln(nu / 2)) + constant + 0.5 * p * math.log(2 / nu)
        found: Floats = height - 0.5 * (nu + p) * np.log1p(squares / nu)
        return found

    def marginal(self, names: Any) -> MultivariateT:
        """Return the distribution of some of the variables, in the order asked for."""
        kept = self._kernel.marginal(names)
        return MultivariateT(kept.names, kept.mean, kept.covariance, self.dof)

    def interval(self, level: float = 0.95) -> Floats:
        """Return the central interval of each variable by itself, lower and upper end; shape (p, 2)."""
        from scipy.special import stdtrit

        width = float(stdtrit(self.dof, 0.5 + require_fraction("level", level) / 2))
        reach = width * np.sqrt(np.diag(self.scale))
        return np.stack([self.location - reach, self.location + reach], axis=1)

    def sample(self, n: int, *, seed: int | None = None, backend: str | None = None) -> Frame:
        """Draw ``n`` independent rows.

        Parameters
        ----------
        n : int
        seed : int, optional
            The same seed gives the same rows; the first rows do not depend on ``n``.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame to return: the first of them that is installed, unless named.
        """
        from scipy.special import chdtri, ndtri

        require_draws(n, row_bytes(self.schema))
        lower = np.linalg.cholesky(self.scale / np.outer(self._kernel.sd, self._kernel.sd)) * self._kernel.sd[:, None]
        tiny = 2.0**-54  # uniform numbers may be zero, whose normal quantile is −∞

        def draw(uniform: Callable[[], Floats]) -> dict[str, Floats]:
            normal = np.stack([ndtri(uniform() + tiny) for _ in self.names])
            shrink = np.sqrt(chdtri(self.dof, uniform() + tiny) / self.dof)
            with np.errstate(divide="ignore", over="ignore"):  # few degrees of freedom reach beyond all floats
                rows = self.location[:, None] + (lower @ normal) / shrink
            return dict(zip(self.names, rows, strict=True))

        blocks = list(sample_blocks(self.schema, draw, n, seed))
        columns = {name: np.concatenate([block.columns[name] for block in blocks]) for name in self.names}
        return to_native(columns, backend)

    # Rendering ------------------------------------------------------------------------------------------------

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        spread = np.sqrt(np.diag(self.scale))
        widen = math.sqrt(self.dof / (self.dof - 2)) if self.dof > 2 else math.nan
        rows = [
            [name, number(centre), number(width), number(width * widen) if self.dof > 2 else "-"]
            for name, centre, width in zip(self.names, self.location, spread, strict=True)
        ]
        return ["variable", "location", "scale", "sd"], rows, "<>>>"

    @property
    def _caption(self) -> str:
        return f"Student's t, {plural(self.dof, 'degree')} of freedom"

    def __repr__(self) -> str:
        return f"MultivariateT({plural(len(self.names), 'variable')}, dof {self.dof:g})"

    def __str__(self) -> str:
        return f"{plain_table(*self._cells())}\n{self._caption}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=self._caption)
