"""The posterior of a conditional table: an independent Dirichlet(α + m) for every row."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import EstimationError, ModelError, Remedy, require_fraction, require_seed, shown
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.rows import all_configurations, find_rows
from suffice.models.cpds.tabular import TabularCPD, describe_configuration
from suffice.models.sampling import require_draws
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.posterior import PosteriorPredictive, SampledModels, log_predictive_of_rows, warn_of_old_form
from suffice.settings import settings
from suffice.stats.counts import Counts
from suffice.stats.ordering import unique_rows
from suffice.types import Array, Bools, Columns, Floats, Ints, TableLike

if TYPE_CHECKING:
    from suffice.priors.dirichlet import Dirichlet
    from suffice.types import Entry


@dataclass(frozen=True, eq=False)
class DirichletRows:
    """Posterior of one table.

    Attributes
    ----------
    family : NodeFamily
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
    >>> print(coin.intervals(0.95))
    parameter         median     lower     upper
    ---------------  -------  --------  --------
    p(coin='heads')  0.68619  0.283582  0.947255
    p(coin='tails')  0.31381  0.052745  0.716418
    0.95 credible intervals, equal-tailed
    """

    family: NodeFamily
    concentration: Floats = field(repr=False)
    log_marginal_likelihood: float
    configurations: Ints | None = field(default=None, repr=False)
    default: Floats | None = field(default=None, repr=False)
    given: Bools | None = field(default=None, repr=False)
    given_rows: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, array in self._arrays().items():
            if array is not None and array.flags.writeable:
                frozen = array.view()
                frozen.flags.writeable = False
                object.__setattr__(self, name, frozen)

    def _arrays(self) -> dict[str, Array | None]:
        return {
            "concentration": self.concentration,
            "configurations": self.configurations,
            "default": self.default,
            "given": self.given,
            "given_rows": self.given_rows,
        }

    @classmethod
    def from_counts(
        cls,
        family: NodeFamily,
        alpha: Floats,
        counts: Counts,
        fixed: tuple[Ints, Floats] | None = None,
    ) -> DirichletRows:
        """Add pseudo-counts and counts.

        Parameters
        ----------
        family : NodeFamily
        alpha : array, shape (n_states,) or (n_rows, n_states)
        counts : Counts
        fixed : (configurations, rows), optional
            What an expert gave.
        """
        configurations, m = counts.rows()
        if alpha.ndim == 2 and configurations is not None:  # an array for every row was given, so all rows fit
            configurations, m = None, counts.table().reshape(alpha.shape)
        given = given_rows = None
        if fixed is not None and configurations is not None:
            configurations, m = _with_rows(configurations, m, fixed[0])
        prior = np.broadcast_to(alpha, m.shape)
        if fixed is not None:
            position = find_rows(fixed[0], [p.n_states for p in family.parents], configurations)
            given, given_rows = np.zeros(len(m), bool), np.full(m.shape, np.nan)
            given[position], given_rows[position] = True, fixed[1]
        return cls(
            family,
            prior + m,  # eq dirichlet-posterior
            _log_marginal(prior, m, given, given_rows),
            configurations,
            None if configurations is None else alpha,
            given,
            given_rows,
        )

    def renamed(self, family: NodeFamily) -> DirichletRows:
        """Return the same posterior for a tied family."""
        return replace(self, family=family)

    def whole(self) -> DirichletRows:
        """Return the posterior with a row for every parent configuration."""
        if self.configurations is None:
            return self
        assert self.default is not None
        sizes = [parent.n_states for parent in self.family.parents]
        cells = math.prod(sizes) * self.family.child.n_states
        if 8 * cells > settings().memory:
            raise ModelError(
                f"The whole table of {self.family.child.name!r} has {cells:,} cells, more than memory allows. "
                "Give the node fewer parents, or allow more by sf.config."
            )
        at = find_rows(all_configurations(sizes), sizes, self.configurations)
        given = None if self.given is None else np.append(self.given, False)[at]
        rows = None if self.given_rows is None else np.vstack([self.given_rows, np.full(len(self.default), np.nan)])[at]
        concentration = np.vstack([self.concentration, self.default])[at]
        return DirichletRows(self.family, concentration, self.log_marginal_likelihood, None, None, given, rows)

    # Summaries ------------------------------------------------------------------------------------------------

    def mean(self) -> TabularCPD:
        """Return E[θ | data] = (α + m) / Σ(α + m): the exact predictive distribution of one new case."""
        default = None if self.default is None else self.default / self.default.sum()
        # eq dirichlet-mean
        return self._table(self.concentration / self.concentration.sum(axis=1, keepdims=True), default)

    def mode(self) -> TabularCPD:
        """Return (α + m − 1) / Σ(α + m − 1); NaN where the density is flat.

        Raises
        ------
        EstimationError
            When some α + m < 1, so that the density grows without bound at the border.
        """
        rows = self._modes(self.concentration, self.given)
        default = self.default
        if default is not None:
            default = self._modes(default[None, :], None)[0] if self._n_unstored else np.full_like(default, np.nan)
        return self._table(rows, default)

    @property
    def _n_unstored(self) -> int:
        """How many parent configurations have no row of their own."""
        return math.prod(parent.n_states for parent in self.family.parents) - len(self.concentration)

    def _modes(self, concentration: Floats, given: Bools | None) -> Floats:
        if concentration.shape[1] == 1:
            return np.ones_like(concentration)
        excess = concentration - 1
        low = (excess < 0).any(axis=1)
        if given is not None:
            low &= ~given
        if low.any():
            row = int(np.argmax(low))
            where = "parents' states without data"
            if concentration is self.concentration:
                where = TabularCPD(self.family, np.full(excess.shape, np.nan), self.configurations).describe_row(row)
            raise EstimationError(
                f"Node {self.family.child.name!r} has no interior posterior mode: for {where} the smallest α + m is "
                f"{concentration[row].min():g}, below 1. Use ",
                Remedy("point", "mean"),
                ", or a prior with pseudo-counts of at least 1.",
            )
        with np.errstate(invalid="ignore", divide="ignore"):
            rows: Floats = excess / excess.sum(axis=1, keepdims=True)  # eq dirichlet-mode
        return rows

    def _table(self, rows: Floats, default: Floats | None) -> TabularCPD:
        if self.given is not None and self.given_rows is not None:
            rows = np.where(self.given[:, None], self.given_rows, rows)
        return TabularCPD(self.family, rows, self.configurations, default)

    def variance(self) -> Floats:
        """Return Var[θ | data], shape (n_rows, n_states)."""
        total = self.concentration.sum(axis=1, keepdims=True)
        mean = self.concentration / total
        return self._known(mean * (1 - mean) / (total + 1), 0.0)

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return the posterior median and the credible interval of every probability, without the rows that were given.

        The marginal of one θ under a Dirichlet is Beta(α + m, Σ(α + m) − (α + m)).
        """
        lower, upper = self.bounds(level)
        free = np.ones(len(self.concentration), bool) if self.given is None else ~self.given
        child, parents = self.family.child, self.family.parents
        sizes = [parent.n_states for parent in parents]
        above = all_configurations(sizes) if self.configurations is None else self.configurations
        names = []
        for codes in above[free]:
            given = f" | {describe_configuration(parents, codes)}" if parents else ""
            names += [f"p({child.name}={label!r}{given})" for label in child.labels]
        numbers = np.stack([ends[free] for ends in (self.quantile(0.5), lower, upper)], axis=2)
        return ParameterIntervals(tuple(names), numbers.reshape(-1, 3), level)

    def bounds(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of the equal-tailed credible intervals: two arrays, shape (n_rows, n_states)."""
        require_fraction("level", level)
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of credible intervals as arrays; deprecated, for `bounds`."""
        warn_of_old_form("interval(level)", "intervals(level) for a table, or bounds(level) for these arrays")
        return self.bounds(level)

    def quantile(self, fraction: float) -> Floats:
        """Return the posterior quantile of every probability by itself; shape (n_rows, n_states)."""
        from scipy.special import betaincinv

        a = self.concentration
        if a.shape[1] == 1:
            return np.ones_like(a)
        found: Floats = betaincinv(a, a.sum(axis=1, keepdims=True) - a, fraction)
        return self._known(found)

    def _known(self, numbers: Floats, value: float | None = None) -> Floats:
        """Replace what concerns fixed rows: by ``value``, or by the rows themselves."""
        if self.given is None or self.given_rows is None:
            return numbers
        return np.where(self.given[:, None], self.given_rows if value is None else value, numbers)

    def row_totals(self, configurations: Ints) -> Floats:
        """Return Σ(α + m) of the rows of parent configurations, shape (n, n_parents); infinite for fixed rows."""
        totals: Floats = self.concentration.sum(axis=1)
        if self.given is not None:
            totals = np.where(self.given, np.inf, totals)
        if self.default is not None:
            totals = np.append(totals, self.default.sum())  # found at position −1
        sizes = [parent.n_states for parent in self.family.parents]
        found: Floats = totals[find_rows(configurations, sizes, self.configurations)]
        return found

    # Draws and new cases --------------------------------------------------------------------------------------

    def sample(self, n: int, *, seed: int | None = None) -> tuple[TabularCPD, ...]:
        """Draw ``n`` tables from the posterior; configurations without a row of their own share one draw."""
        stream, size = self._stream(n, seed)
        tables = self._known(_draw(stream, size, self.concentration))
        defaults = [None] * size if self.default is None else _draw(stream, size, self.default[None, :])[:, 0]
        drawn = zip(tables, defaults, strict=True)
        cpds = (TabularCPD(self.family, rows, self.configurations, default) for rows, default in drawn)
        return SampledModels.of(cpds, tables)

    def draws(self, n: int, *, seed: int | None = None) -> Floats:
        """Return the rows of ``n`` tables drawn from the posterior, those of `sample`; shape (n, n_rows, n_states)."""
        stream, size = self._stream(n, seed)
        return self._known(_draw(stream, size, self.concentration))

    def _stream(self, n: int, seed: int | None) -> tuple[np.random.Generator, int]:
        """Return a random stream, and the number of draws, which must fit the memory."""
        stream = np.random.Generator(np.random.Philox(require_seed(seed)))
        return stream, require_draws(n, 3 * 8 * max(self.concentration.size, 1), "draws")

    def sample_table(self, *, seed: int | None = None) -> TabularCPD:
        """Draw one table from the posterior; deprecated, for ``sample(1)[0]``."""
        warn_of_old_form("sample_table(seed=…)", "sample(1, seed=…)[0]")
        return self.sample(1, seed=seed)[0]

    def predictive(self) -> PosteriorPredictive:
        """Return the distribution of new cases, the parameters integrated out: that of the posterior means."""
        return PosteriorPredictive(self)

    def log_predictive(self, data: TableLike) -> Floats:
        """Return log p(child | parents, data) of every row of a table of states; shape (n_rows,)."""
        return log_predictive_of_rows(self, data)

    def log_predictive_of(self, columns: Columns) -> Floats:
        """Return log p(child | parents, data) of every row of columns, in codes; shape (n_rows,)."""
        return self.mean().log_prob(columns)

    def as_prior(self) -> Dirichlet:
        """Return α + m as the pseudo-counts of further fits; rows that were given are given again, by ``fixed``."""
        from suffice.priors.dirichlet import Dirichlet
        from suffice.priors.prior import Origin

        prior = Dirichlet({self.family.child.name: self.pseudo_counts()})
        return prior.learnt_from(Origin(self.family.variables, {self.family.child.name: self.family.scope[:-1]}))

    def pseudo_counts(self) -> Floats:
        """Return α + m of the whole table; shape (…parents' states, child's states)."""
        return self.whole().concentration.reshape([variable.n_states for variable in self.family.variables])

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data, its family left out."""
        return {**self._arrays(), "log_marginal_likelihood": self.log_marginal_likelihood}

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: Entry) -> DirichletRows:
        """Rebuild from `to_dict`'s data."""

        def array(name: str, dtype: type) -> Array | None:
            return None if entry[name] is None else np.array(entry[name], dtype)

        rows = cls(
            family,
            np.array(entry["concentration"], np.float64).reshape(-1, family.child.n_states),
            float(entry["log_marginal_likelihood"]),
            array("configurations", np.int64),
            array("default", np.float64),
            array("given", bool),
            array("given_rows", np.float64),
        )
        if not ((rows.concentration > 0) & np.isfinite(rows.concentration)).all():
            raise ModelError(
                f"Node {family.child.name!r}: the concentration of its posterior must be positive and finite. Got "
                f"{shown(entry['concentration'])} instead."
            )
        rows.mean()  # which must be a proper table
        return rows


def _draw(stream: np.random.Generator, n: int, concentration: Floats) -> Floats:
    """Draw Dirichlet rows by normalised gammas, in log space: gammas of small shape are too small for floats.

    If g ~ Gamma(a + 1) and u is uniform, then g · u^(1/a) ~ Gamma(a).
    """
    shape = (n, *concentration.shape)
    larger = stream.standard_gamma(np.broadcast_to(concentration + 1, shape))
    log_gamma = np.log(larger) + np.log1p(-stream.random(shape)) / concentration
    weights: Floats = np.exp(log_gamma - log_gamma.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def _with_rows(configurations: Ints, m: Array, more: Ints) -> tuple[Ints, Array]:
    """Add empty rows for configurations that have none."""
    distinct, position = unique_rows(np.concatenate([configurations, more]))
    wider = np.zeros((len(distinct), m.shape[1]), m.dtype)
    wider[position[: len(m)]] = m
    return distinct, wider


def log_rising(alpha: Floats, m: Array) -> Floats:
    """Return log Γ(α + m)/Γ(α), through the beta function: for large α the two gammas alone would cancel."""
    from scipy.special import betaln, gammaln

    some = np.where(m > 0, m, 1.0)
    rising: Floats = np.where(m > 0, gammaln(some) - betaln(alpha, some), 0.0)
    return rising


def _log_marginal(alpha: Floats, m: Array, given: Bools | None, rows: Floats | None) -> float:
    """Return Σ log Γ(α₀)/Γ(α₀ + m₀) + Σ log Γ(α + m)/Γ(α); fixed rows count with their likelihood."""
    by_row = log_rising(alpha, m).sum(axis=1) - log_rising(alpha.sum(axis=1), m.sum(axis=1))  # eq dirichlet-marginal
    if given is not None and rows is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood = np.where(m > 0, m * np.log(rows), 0.0).sum(axis=1)
        by_row = np.where(given, likelihood, by_row)
    return float(by_row.sum())
