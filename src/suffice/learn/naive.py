"""Naive Bayes: the class by its frequencies, and every input by itself, from its statistic in each class.

ℓ(π, θ) = ℓ(π) + Σ_d ℓ_d(θ_d), and ℓ_d is a sum over the rows that have a value of x_d. So every column is learnt from
the values that it has, whatever the others lack, and that is the maximum of the likelihood of all that was observed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import (
    ArgumentError,
    EstimationError,
    Mention,
    Passed,
    Remedy,
    Text,
    UnknownNameError,
    also,
    listing,
    made,
    shown,
    suggestion,
    the_argument,
)
from suffice.learn.method import Method, Problem, Solution
from suffice.learn.naive_trouble import require_plain, require_rows, require_spread, require_two_states, require_values
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.linear_gaussian_kind import LinearGaussianKind
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.naive import NaiveModel
from suffice.models.naive_parts import NaivePart, parts_of, prior_for
from suffice.priors.dirichlet import DirichletPrior
from suffice.priors.normal_inverse_gamma import NormalInverseGamma
from suffice.priors.several import Priors
from suffice.stats.moments import Moments
from suffice.stats.needs import Count, Need
from suffice.structures.naive import DISCRETE, Naive
from suffice.text import number, plural

if TYPE_CHECKING:
    from suffice.priors.prior import Prior

CLASS_PRIOR = Mention("the structure's class_prior", "the structure's class_prior")
SHOWN = 4
"""So many columns are named one by one in remarks."""
SAME = 1e-9
"""Sums of weights that differ by less, relatively, are equal but for rounding."""


def refuses(naive: Naive, schema: Schema) -> str | None:
    """Refuse a class that is no discrete column, and inputs that cannot be of their kind."""
    if not schema[naive.target].is_discrete:
        return Text(
            f"the class {naive.target!r} is continuous. Declare it: ",
            Remedy("schema", {naive.target: made("categorical")}),
            ".",
        )
    for name, kind in naive.kinds_in(schema).items():
        if (kind in DISCRETE) != schema[name].is_discrete:
            what, remedy = ("discrete", "continuous") if schema[name].is_discrete else ("continuous", "categorical")
            return Text(
                f"{name!r} is to be of kind {kind!r}, and its column is {what}. Choose another kind, or declare it: ",
                Remedy("schema", {name: made(remedy)}),
                ".",
            )
    return None


def needs(naive: Naive, schema: Schema) -> tuple[Need, ...]:
    """Return the counts of the class, and what every input asks for."""
    return (Count((naive.target,)), *(need for part in parts_of(naive, schema).values() for need in part.needs))


@dataclass(frozen=True)
class _PartEstimate:
    """What is found for one part."""

    cpd: Any
    statistic: Any
    n_free: int
    n_free_adjusted: int
    remarks: tuple[str, ...]


def solve(problem: Problem[Naive]) -> Solution[NaiveModel]:
    """Fit the class and every part, and put the model together."""
    naive, schema = problem.structure, problem.schema
    target = schema[naive.target]
    m = np.asarray(problem.statistics[Count((naive.target,))].table(), np.float64)
    pi = naive.class_prior.probabilities(target, m)
    absent = (pi == 0) & (m == 0)  # such classes are never chosen, whatever their parameters
    require_two_states(naive, schema)
    parts = parts_of(naive, schema)
    require_rows(problem, [part.kind for part in parts.values()], (pi > 0) & (m == 0))
    found = {name: _fit(problem, part, absent) for name, part in parts.items()}
    singles = [found[name].cpd for name in parts if name != naive.column_name]
    together = found[naive.column_name].cpd if naive.multinomial else None
    inputs = tuple(schema[name] for name in naive.inputs)
    with np.errstate(divide="ignore"):
        local = {naive.target: float(np.sum(m[m > 0] * np.log(pi[m > 0])))}
    local |= {name: one.cpd.log_likelihood(one.statistic) for name, one in found.items()}
    learnt = naive.class_prior.n_free(target)
    return Solution(
        model=NaiveModel(naive, target, inputs, pi, tuple(singles), together),
        log_likelihood=-math.inf if -math.inf in local.values() else sum(local.values()),
        n_free=learnt + sum(one.n_free for one in found.values()),
        n_free_adjusted=(int(np.count_nonzero(m)) - 1 if learnt else 0)
        + sum(one.n_free_adjusted for one in found.values()),
        local=local,
        remarks=(
            *_alone(target),
            *_absent(naive.target, [label for label, gone in zip(target.labels, absent, strict=True) if gone]),
            *_gaps({name: found[name] for name in parts if name != naive.column_name}, problem.statistics.weight),
            *_without_prior(problem.prior, parts),
            *(remark for one in found.values() for remark in one.remarks),
            *_all_above(naive, found),
            *["The given class probabilities rule out some of the data."] * (local[naive.target] == -math.inf),
        ),
    )


def _fit(problem: Problem[Naive], part: NaivePart, absent: NDArray[np.bool_]) -> _PartEstimate:
    kind, family, statistic = part.kind, part.family, part.statistic(problem.statistics)
    name, prior = family.child.name, prior_for(problem.prior, part.kind)
    if _weight(statistic) == 0 and (prior is None or family.child.states == ()):
        raise EstimationError(f"Column {name!r} has no values, so there is nothing to learn of it. Leave it out.")
    if prior is None:
        require_spread(problem, kind, statistic, name)
        cpd = kind.mle(family, statistic)
    else:
        require_plain(kind, name)
        posterior = prior.posterior(kind.name, family, statistic)
        cpd = posterior.mode() if problem.point == "map" else posterior.mean()
    cpd = _filled(_whole(cpd, len(absent)), absent)
    require_values(problem, kind, cpd)
    cpd, remarks = kind.complete(cpd, problem.unseen_parents)
    if prior is None:
        cpd = _emptied(cpd, absent)
    return _PartEstimate(cpd, statistic, kind.n_free(family), kind.n_free_adjusted(family, statistic), remarks)


def _whole(cpd: Any, n_classes: int) -> Any:
    """Return a distribution with a row for every class; a table of very many states may lack those without data."""
    if not isinstance(cpd, TabularCPD) or cpd.configurations is None:
        return cpd
    return TabularCPD(cpd.family, cpd.probabilities(np.arange(n_classes)[:, None]))


def _filled(cpd: Any, absent: NDArray[np.bool_]) -> Any:
    """Return a distribution in which classes that never occur are not unknown, so that no policy asks about them."""
    if not absent.any():
        return cpd
    if isinstance(cpd, LinearGaussianCPD):
        gone = absent & cpd.unknown
        mean, variance = np.where(gone, 0.0, cpd.intercept), np.where(gone, 1.0, cpd.variance)
        return LinearGaussianCPD(cpd.family, mean, cpd.coefficients[:, :0], variance)
    gone = absent & np.isnan(cpd.values).any(axis=1)
    return TabularCPD(cpd.family, np.where(gone[:, None], 1 / cpd.values.shape[1], cpd.values))


def _emptied(cpd: Any, absent: NDArray[np.bool_]) -> Any:
    """Return a distribution in which classes that never occur are unknown."""
    if not absent.any():
        return cpd
    if isinstance(cpd, LinearGaussianCPD):
        mean, variance = np.where(absent, np.nan, cpd.intercept), np.where(absent, np.nan, cpd.variance)
        return LinearGaussianCPD(cpd.family, mean, cpd.coefficients, variance)
    return TabularCPD(cpd.family, np.where(absent[:, None], np.nan, cpd.values))


# Remarks ------------------------------------------------------------------------------------------------------


def _weight(statistic: Any) -> float:
    return float(statistic.weight.sum()) if isinstance(statistic, Moments) else statistic.total


def _alone(target: Variable) -> tuple[str, ...]:
    if target.n_states > 1:
        return ()
    return (f"There is one class only, {target.labels[0]!r}: every row is in it.",)


def _absent(name: str, labels: list[Any]) -> tuple[str, ...]:
    if not labels:
        return ()
    return (f"{name}: {listing(labels, SHOWN)} never occur, so that their probability is zero.",)


def _gaps(found: Mapping[str, _PartEstimate], total: float) -> tuple[str, ...]:
    """Say how many values are missing in which column."""
    gaps = {name: total - _weight(one.statistic) for name, one in found.items()}
    lacking = {name: gap for name, gap in gaps.items() if gap > SAME * total}
    if not lacking:
        return ()
    each = ", ".join(f"{name} {number(gap)}" for name, gap in list(lacking.items())[:SHOWN])
    more = f" and {len(lacking) - SHOWN:,} more columns" if len(lacking) > SHOWN else ""
    return (
        f"Values missing, of {plural(total, 'row')}: {each}{more}. Every column is learnt from the values that it has, "
        "which is exact where values are missing at random.",
    )


def _all_above(naive: Naive, found: Mapping[str, _PartEstimate]) -> tuple[str, ...]:
    """Say which Bernoulli columns hold nothing but numbers above their threshold, such as 1 and 2."""
    cut = {name: found[name] for name, kind in naive.kinds if kind == "bernoulli"}
    names = [name for name, one in cut.items() if _is_all_above(one.cpd.family.child, one.statistic)]
    if not names:
        return ()
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return (
        Text(
            f"{', '.join(names[:SHOWN])}{more}: all values are above ",
            Passed("binarize", naive.binarize),
            ", so that every row is in the same state. Choose another threshold",
            also("; or, where the two numbers are the states, ", Remedy("binarize", None)),
            ".",
        ),
    )


def _is_all_above(variable: Variable, counts: Any) -> bool:
    if variable.threshold is None:
        return False
    below, over = counts.table().sum(axis=0)
    return bool(below == 0 and over > 0)


def _without_prior(prior: Prior | None, parts: Mapping[str, NaivePart]) -> tuple[str, ...]:
    """Say which columns the prior does not speak of."""
    names = [name for name, part in parts.items() if prior is not None and prior_for(prior, part.kind) is None]
    if not names:
        return ()
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    said = "normal columns" if isinstance(parts[names[0]].kind, LinearGaussianKind) else "states and counts"
    return (f"{', '.join(names[:SHOWN])}{more}: fitted without a prior; the one given says nothing of {said}.",)


# Before the data ----------------------------------------------------------------------------------------------


def check(naive: Naive, prior: Prior | None, fixed: Mapping[str, Any]) -> None:
    """Refuse what is no prior on inputs, names that are none of them, and given parameters."""
    for one in prior.priors if isinstance(prior, Priors) else (prior,):
        if one is not None and not isinstance(one, DirichletPrior | NormalInverseGamma):
            raise ArgumentError(
                the_argument("prior"),
                " of naive Bayes must be a prior such as ",
                made("Dirichlet", 1.0),
                " on discrete inputs and counts, ",
                made("NormalInverseGamma", 2, 1.0),
                f" on normal ones, or a list of both. Got {shown(one)} instead.",
            )
    together = frozenset(naive.multinomial)
    known = [name for name in naive.inputs if name not in together]
    known += [naive.column_name] if naive.multinomial else []
    for name in () if prior is None else prior.nodes:
        if name not in known:
            more = Text(" Smooth the classes by ", CLASS_PRIOR, ".") if name == naive.target else ""
            raise UnknownNameError(
                f"The prior speaks of {name!r}, which has no parameters of its own. Those that have are "
                f"{listing(known, 12)}.",
                more,
                suggestion(name, known),
            )
    if fixed:
        raise ArgumentError(
            f"The 'fixed' argument must be left out: all parameters of naive Bayes are learnt. Got {listing(fixed)}; "
            "class probabilities are given as ",
            CLASS_PRIOR,
            ".",
        )


METHOD: Method[Naive, NaiveModel] = Method(
    refuses=refuses, needs=needs, solve=solve, passes="one", exact=True, check=check
)
