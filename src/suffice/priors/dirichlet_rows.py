"""The posterior of a conditional table: an independent Dirichlet(α + m) for every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, EstimationError
from suffice.models.cpds import Family
from suffice.models.cpds.rows import find_rows
from suffice.models.cpds.tabular import TabularCPD
from suffice.stats.counts import Counts


@dataclass(frozen=True, eq=False)
class DirichletRows:
    """Posterior of one table.

    Attributes
    ----------
    family : Family
    concentration : array, shape (n_rows, n_states)
        α + m, one row a parent configuration.
    log_marginal_likelihood : float
        log p(data of the family), the parameters integrated out.
    configurations : array, shape (n_rows, n_parents), or None
        The parent configurations of the rows; None when all of them have one.
    default : array, shape (n_states,), or None
        α of every configuration without a row of its own.
    given : array, shape (n_rows,), of bool
        Rows that an expert fixed; ``given_rows`` holds them, shape (n_rows, n_states).

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("coin"), {"coin": ["heads", "heads", "heads", "tails"]}, prior=sf.Dirichlet(1.0))
    >>> coin = fit.posterior["coin"]
    >>> coin.concentration
    array([[4., 2.]])
    >>> lower, upper = coin.interval(0.95)
    >>> lower.round(3), upper.round(3)
    (array([[0.284, 0.053]]), array([[0.947, 0.716]]))
    """

    family: Family
    concentration: NDArray[np.float64] = field(repr=False)
    log_marginal_likelihood: float
    configurations: NDArray[np.int64] | None = field(default=None, repr=False)
    default: NDArray[np.float64] | None = field(default=None, repr=False)
    given: NDArray[np.bool_] | None = field(default=None, repr=False)
    given_rows: NDArray[np.float64] | None = field(default=None, repr=False)

    @classmethod
    def from_counts(
        cls,
        family: Family,
        alpha: NDArray[np.float64],
        counts: Counts,
        fixed: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None,
    ) -> DirichletRows:
        """Add pseudo-counts and counts.

        Parameters
        ----------
        family : Family
        alpha : array, shape (n_states,) or (n_rows, n_states)
        counts : Counts
        fixed : (configurations, rows), optional
            What an expert gave.
        """
        configurations, m = counts.rows()
        if alpha.ndim == 2 and configurations is not None:  # an array for every row was given, so all rows fit
            configurations, m = None, counts.table().reshape(alpha.shape)
        prior = np.broadcast_to(alpha, m.shape)
        given = given_rows = None
        if fixed is not None:
            position = find_rows(fixed[0], [p.n_states for p in family.parents], configurations)
            if (position < 0).any():
                raise EstimationError(
                    f"Node {family.child.name!r}: rows without data cannot be fixed in a table this large."
                )
            given, given_rows = np.zeros(len(m), bool), np.full(m.shape, np.nan)
            given[position], given_rows[position] = True, fixed[1]
        return cls(
            family,
            prior + m,
            _log_marginal(prior, m, given, given_rows),
            configurations,
            None if configurations is None else alpha,
            given,
            given_rows,
        )

    def renamed(self, family: Family) -> DirichletRows:
        """Return the same posterior for a tied family."""
        return replace(self, family=family)

    # Summaries ------------------------------------------------------------------------------------------------

    def mean(self) -> TabularCPD:
        """Return E[θ | data] = (α + m) / Σ(α + m): the exact predictive distribution of one new case."""
        default = None if self.default is None else self.default / self.default.sum()
        return self._table(self.concentration / self.concentration.sum(axis=1, keepdims=True), default)  # eq A3

    def mode(self) -> TabularCPD:
        """Return (α + m − 1) / Σ(α + m − 1); NaN where the density is flat.

        Raises
        ------
        EstimationError
            When some α + m < 1, so that the density grows without bound at the border.
        """
        rows = self._modes(self.concentration, self.given)
        default = None if self.default is None else self._modes(self.default[None, :], None)[0]
        return self._table(rows, default)

    def _modes(self, concentration: NDArray[np.float64], given: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        if concentration.shape[1] == 1:
            return np.ones_like(concentration)
        excess = concentration - 1
        low = (excess < 0).any(axis=1)
        if given is not None:
            low &= ~given
        if low.any():
            row = int(np.argmax(low))
            whole = len(concentration) == len(self.concentration)
            where = (
                TabularCPD(self.family, np.full(excess.shape, np.nan), self.configurations).describe_row(row)
                if whole
                else "unseen parents"
            )
            raise EstimationError(
                f"Node {self.family.child.name!r} has no interior posterior mode: for {where} the smallest α + m is "
                f"{concentration[row].min():g}, below 1. Use point='mean', or a prior with pseudo-counts of at least 1."
            )
        with np.errstate(invalid="ignore"):
            rows: NDArray[np.float64] = excess / excess.sum(axis=1, keepdims=True)
        return rows

    def _table(self, rows: NDArray[np.float64], default: NDArray[np.float64] | None) -> TabularCPD:
        if self.given is not None and self.given_rows is not None:
            rows = np.where(self.given[:, None], self.given_rows, rows)
        return TabularCPD(self.family, rows, self.configurations, default)

    def variance(self) -> NDArray[np.float64]:
        """Return Var[θ | data], shape (n_rows, n_states)."""
        total = self.concentration.sum(axis=1, keepdims=True)
        mean = self.concentration / total
        return self._known(mean * (1 - mean) / (total + 1), 0.0)

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the equal-tailed credible interval of every probability: two arrays, shape (n_rows, n_states).

        The marginal of one θ under a Dirichlet is Beta(α + m, Σ(α + m) − (α + m)).
        """
        from scipy.special import betaincinv

        if not 0 < level < 1:
            raise ArgumentError(f"The 'level' argument must lie between 0 and 1. Got {level!r} instead.")
        a = self.concentration
        b = a.sum(axis=1, keepdims=True) - a
        if a.shape[1] == 1:
            return np.ones_like(a), np.ones_like(a)
        lower, upper = betaincinv(a, b, (1 - level) / 2), betaincinv(a, b, (1 + level) / 2)
        return self._known(lower), self._known(upper)

    def _known(self, numbers: NDArray[np.float64], value: float | None = None) -> NDArray[np.float64]:
        """Replace what concerns fixed rows: by ``value``, or by the rows themselves."""
        if self.given is None or self.given_rows is None:
            return numbers
        return np.where(self.given[:, None], self.given_rows if value is None else value, numbers)

    def row_totals(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return Σ(α + m) of rows named by their number in the whole table; infinite where a row was fixed."""
        totals: NDArray[np.float64] = self.concentration.sum(axis=1)
        if self.given is not None:
            totals = np.where(self.given, np.inf, totals)
        if self.configurations is None or self.default is None:
            picked: NDArray[np.float64] = totals[rows]
            return picked
        sizes = [parent.n_states for parent in self.family.parents]
        stored = find_rows(self.configurations, sizes, None)
        position = np.searchsorted(stored, rows).clip(max=max(len(stored) - 1, 0))
        found: NDArray[np.float64] = np.where(stored[position] == rows, totals[position], self.default.sum())
        return found

    def sample(self, n: int, *, seed: int | None = None) -> NDArray[np.float64]:
        """Draw ``n`` tables from the posterior; shape (n, n_rows, n_states)."""
        draw = np.random.Generator(np.random.Philox(seed))
        gamma = draw.standard_gamma(np.broadcast_to(self.concentration, (n, *self.concentration.shape)))
        return self._known(gamma / gamma.sum(axis=2, keepdims=True))

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data, its family left out."""
        entry = {
            name: getattr(self, name) for name in ("concentration", "configurations", "default", "given", "given_rows")
        }
        return {**entry, "log_marginal_likelihood": self.log_marginal_likelihood}

    @classmethod
    def from_dict(cls, family: Family, entry: Mapping[str, Any]) -> DirichletRows:
        """Rebuild from `to_dict`'s data."""

        def array(name: str, dtype: type) -> NDArray[Any] | None:
            return None if entry[name] is None else np.array(entry[name], dtype)

        return cls(
            family,
            np.array(entry["concentration"], np.float64).reshape(-1, family.child.n_states),
            float(entry["log_marginal_likelihood"]),
            array("configurations", np.int64),
            array("default", np.float64),
            array("given", bool),
            array("given_rows", np.float64),
        )


def _log_marginal(
    alpha: NDArray[np.float64], m: NDArray[Any], given: NDArray[np.bool_] | None, rows: NDArray[np.float64] | None
) -> float:
    """Return Σ log Γ(α₀)/Γ(α₀ + m₀) + Σ log Γ(α + m)/Γ(α); fixed rows count with their likelihood."""
    from scipy.special import gammaln

    total, seen = alpha.sum(axis=1), m.sum(axis=1)
    by_row = gammaln(total) - gammaln(total + seen) + (gammaln(alpha + m) - gammaln(alpha)).sum(axis=1)
    if given is not None and rows is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood = np.where(m > 0, m * np.log(rows), 0.0).sum(axis=1)
        by_row = np.where(given, likelihood, by_row)
    return float(by_row.sum())
