"""How many values of each variable are missing in incomplete rows."""

from __future__ import annotations

import numpy as np

from suffice.stats.counts import Counts
from suffice.stats.gaps import Gaps
from suffice.stats.moments import Moments
from suffice.stats.needs import Sum
from suffice.stats.statistics import Statistics
from suffice.stats.sums import Sums

NAME = "missing values"


def missing_values(statistics: Statistics) -> Sums | None:
    """Return the weight of the rows that lack each variable, in the order of the schema; None where none does.

    Parameters
    ----------
    statistics : Statistics
        Of incomplete rows: what is missing of discrete variables, or what each variable has by itself.

    Examples
    --------
    >>> import suffice as sf
    >>> table = {"A": ["x", None, "y"], "B": ["u", None, None]}
    >>> missing_values(sf.collect(sf.DAG("A -> B"), table, missing="em")).values
    array([1., 2.])
    """
    names = [variable.name for variable in statistics.schema.variables]
    lacking = np.zeros(len(names))
    for need, statistic in statistics.items():
        if isinstance(statistic, Gaps):
            found = _missing_in(statistic)
            for place, name in enumerate(names):
                lacking[place] = found.get(name, lacking[place])
        elif isinstance(statistic, Counts | Moments) and len(need.columns) == 1:
            lacking[names.index(need.columns[0])] = max(statistics.weight - _weight(statistic), 0.0)
    lacking[lacking <= 1e-9 * statistics.weight] = 0.0
    return Sums(NAME, lacking) if lacking.any() else None


def missing_by_variable(statistics: Statistics) -> dict[str, float]:
    """Return the weight of the rows that lack each variable, as a fit has kept it; empty where nothing is missing."""
    names = [variable.name for variable in statistics.schema.variables]
    kept = statistics.items_.get(Sum(NAME, len(names)))
    return {} if not isinstance(kept, Sums) else dict(zip(names, kept.values.tolist(), strict=True))


def _missing_in(gaps: Gaps) -> dict[str, float]:
    """Add up the situations in which a variable is missing: every row that lacks it is in one of them."""
    of_kind = np.bincount(gaps.kind, gaps.weights, minlength=len(gaps.member_at) - 1)
    lacking = np.bincount(gaps.members, np.repeat(of_kind, np.diff(gaps.member_at)), minlength=len(gaps.variables))
    return {variable.name: float(weight) for variable, weight in zip(gaps.variables, lacking, strict=True)}


def _weight(statistic: Counts | Moments) -> float:
    return float(statistic.table().sum() if isinstance(statistic, Counts) else np.sum(statistic.weight))
