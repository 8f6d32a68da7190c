"""What every posterior distribution answers, whatever it is of: one set of names, shapes and meanings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import numpy as np

from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, listing
from suffice.models.cpds import NodeFamily
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.stats.source import BlockSource
from suffice.types import Columns, Floats, TableLike

if TYPE_CHECKING:
    from suffice.priors.prior import NodePosterior, Prior

M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)
"""The type of the models that a posterior is a distribution over."""


@runtime_checkable
class Predictive(Protocol):
    """The distribution of a new case, all parameters integrated out."""

    def log_prob(self, data: TableLike, /) -> Floats:
        """Return the log-probability of every new row, or sequence, by itself; shape (n_rows,)."""


@runtime_checkable
class Posterior(Protocol[M_co]):
    """What is known of a model's parameters after the data: p(θ | data).

    The posterior of a whole fit is a distribution over models, that of a node one over its conditional distributions.
    Where an answer does not exist, as the mean of a variance with too few degrees of freedom, an `EstimationError` says
    why.
    """

    @property
    def log_marginal_likelihood(self) -> float | None:
        """The log-probability of the data, the parameters integrated out; None under an improper prior."""

    def mean(self) -> M_co:
        """Return the model of posterior means."""

    def mode(self) -> M_co:
        """Return the model at the mode of the posterior density."""

    def sample(self, n: int, /, *, seed: int | None = None) -> tuple[M_co, ...]:
        """Draw ``n`` models, independently of each other."""

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return the posterior median and the equal-tailed credible interval of every parameter by itself."""

    def predictive(self) -> Predictive:
        """Return the distribution of a new case, all parameters integrated out."""

    def log_predictive(self, data: TableLike, /) -> Floats:
        """Return log p(row | data) of every new row, or sequence, by itself; shape (n_rows,)."""

    def as_prior(self) -> Prior:
        """Return the prior under which new data lead to the posterior that all of the data would have led to."""


@dataclass(frozen=True, eq=False)
class PosteriorPredictive:
    """The distribution of a new case under a posterior that has no closed form of its own for it but the density."""

    posterior: Posterior[object]

    def log_prob(self, data: TableLike) -> Floats:
        """Return the log-probability of every new row, or sequence, by itself; shape (n_rows,)."""
        return self.posterior.log_predictive(data)


def log_predictive_of_rows(posterior: NodePosterior, data: TableLike) -> Floats:
    """Return log p(child | parents, data) of every row of a table of states; shape (n_rows,).

    Whole numbers are states where every variable has all of them as states. Where they could also be the codes that the
    version before took, and mean something else as codes, a warning says so; where they can only be codes, they are.
    """
    family = posterior.family
    if (columns := _coded(family, data)) is not None:
        found = [(v, np.unique(columns[v.name]).tolist()) for v in family.variables if v.is_discrete]
        states = [_are_states(variable, values) for variable, values in found]
        are_codes = all(0 <= value < variable.n_states for variable, values in found for value in values)
        differ = are_codes and any(
            variable.labels[value] != value
            for (variable, values), readable in zip(found, states, strict=True)
            for value in values
            if readable
        )
        if not all(states) and are_codes:
            if differ:
                named = [variable.name for (variable, _), readable in zip(found, states, strict=True) if readable]
                raise ArgumentError(
                    f"The whole numbers of {listing(named)} could be states or their codes, beside columns that can "
                    "only be codes. Pass states in all columns, or codes to log_predictive_of(columns)."
                )
            warn_of_old_form("log_predictive of codes", "log_predictive_of(columns); log_predictive reads states")
            return posterior.log_predictive_of(columns)
        if differ:
            warn_of_old_form(
                "log_predictive of codes", "log_predictive_of(columns); these whole numbers were read as states"
            )
    table = open_table(data, family.scope, schema=Schema(family.variables))
    parts = BlockSource(table).each(lambda block: posterior.log_predictive_of(block.columns))
    return np.concatenate(list(parts))


def _coded(family: NodeFamily, data: TableLike) -> Columns | None:
    """Return columns that may hold codes, which `log_predictive` took before."""
    discrete = [variable for variable in family.variables if variable.is_discrete]
    if not isinstance(data, dict) or not discrete or not all(variable.name in data for variable in discrete):
        return None
    columns = [data[variable.name] for variable in discrete]
    return data if all(isinstance(column, np.ndarray) and column.dtype.kind in "iu" for column in columns) else None


def _are_states(variable: Variable, values: Sequence[int]) -> bool:
    """Whether whole numbers are all states of a variable; those of False and True, or of text, are none."""
    numbers = {label for label in variable.labels if not isinstance(label, bool | str)}
    return bool(numbers) and numbers.issuperset(values)


# Forms of calls that are kept for one version ---------------------------------------------------------------------


def warn_of_old_form(old: str, new: str) -> None:
    """Warn that a call goes in the next version, and name the new one."""
    warnings.warn(f"{old} is deprecated; use {new}.", DeprecationWarning, stacklevel=3)


class SampledModels(tuple[M, ...]):
    """Models drawn from a posterior.

    For one version they can still be read as the arrays that `sample` returned before, which are those of `draws`.
    """

    arrays: Floats | tuple[Floats, ...]

    @classmethod
    def of(cls, models: Iterable[M], arrays: Floats | tuple[Floats, ...]) -> SampledModels[M]:
        """Return models with the arrays that they are made of."""
        found = cls(models)
        found.arrays = arrays
        return found

    if not TYPE_CHECKING:

        def __array__(self, dtype=None, copy=None):
            warn_of_old_form("sample as an array", "draws(n, seed=…), which returns arrays")
            return np.array(self.arrays, dtype)

        def __getattr__(self, name):
            if name == "arrays" or name.startswith("__"):
                raise AttributeError(name)
            found = getattr(self.arrays, name)
            warn_of_old_form(f"sample(…).{name}", f"draws(n, seed=…).{name}")
            return found

        def __getitem__(self, key):
            if isinstance(key, int | np.integer | slice):
                return super().__getitem__(key)
            warn_of_old_form("indexing sample(…) as an array", "draws(n, seed=…), which returns arrays")
            return self.arrays[key]
