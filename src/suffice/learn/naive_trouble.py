"""What naive Bayes refuses to learn, and the ways out."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.errors import EstimationError, Mention, Remedy, StructureError, Text, Value, also, listing
from suffice.learn.method import Problem
from suffice.models.cpds import AnyKind
from suffice.models.cpds.linear_gaussian_kind import LinearGaussianKind
from suffice.models.cpds.tabular_kind import TabularKind
from suffice.models.naive import prior_of
from suffice.models.naive_parts import prior_for
from suffice.stats.moments import Moments
from suffice.structures.naive import Naive
from suffice.text import plural

if TYPE_CHECKING:
    from suffice.priors.prior import Prior

Classes = NDArray[np.bool_]


def require_two_states(naive: Naive, schema: Schema) -> None:
    """Refuse Bernoulli columns that have not two states; only all of the data tells, no part of it."""
    for name, kind in naive.kinds:
        if kind == "bernoulli" and schema[name].n_states != 2:
            raise StructureError(
                f"A Bernoulli column has two states, and {name!r} has {listing(schema[name].labels)}. Let it be "
                "'categorical'; or, where there are two, ",
                Mention("declare them", "declare them by schema="),
                ".",
            )


def require_spread(problem: Problem[Naive], kind: Any, statistic: Any, name: str) -> None:
    """Refuse a normal column that is constant within a class: the likelihood has no maximum."""
    if not isinstance(statistic, Moments):
        return
    scatter, seen = statistic.scatter.reshape(-1), statistic.weight > 0
    still = seen & (scatter <= 0)
    if kind.tied == "variance" and (scatter.sum() > 0 or not seen.any()):
        return
    if still.any():
        target = statistic.by[0]
        first = int(np.argmax(still))
        everywhere = bool(still[seen].all())
        where = f"the class {target.labels[first]!r}, of {plural(float(statistic.weight[first]), 'row')}"
        where = "any class" if everywhere else where
        tie = "" if everywhere else Text("; or share one variance: ", Remedy("kinds", {name: "tied_gaussian"}))
        raise EstimationError(
            f"Column {name!r} does not vary within {where}, so its variance there would be zero, where the likelihood "
            "has no maximum. Leave it out",
            tie,
            "; or pass a prior: ",
            _with_prior(problem.prior, kind, beside=_plainly(kind, name)),
            ".",
        )


def require_plain(kind: AnyKind, name: str) -> None:
    """Refuse a prior on a normal column that has none that is conjugate."""
    if isinstance(kind, LinearGaussianKind) and _is_odd(kind):
        what = "one variance for all classes" if kind.tied != "none" else "unbiased variances"
        raise EstimationError(
            f"Column {name!r} is to have {what}, which is for estimates without a prior: a conjugate prior gives every "
            "class a variance of its own. Leave one of them out."
        )


def require_rows(problem: Problem[Naive], kinds: Collection[AnyKind], bare: Classes) -> None:
    """Refuse classes that have no rows and yet a probability, where neither a prior nor a policy says what they are.

    Parameters
    ----------
    kinds : collection of AnyKind
        Those of all columns.
    bare : bool array, shape (n_classes,)
        The classes that have a probability and no rows.
    """
    lost = [kind for kind in kinds if prior_for(problem.prior, kind) is None]
    if not bare.any() or not any(_stays(kind, problem.unseen_parents) for kind in lost):
        return
    target = problem.schema[problem.structure.target]
    names = [label for label, gone in zip(target.labels, bare, strict=True) if gone]
    which = f"class {names[0]!r} of {target.name!r} has" if len(names) == 1 else f"classes {listing(names)} have"
    uniform = "" if any(map(_is_normal, lost)) else also(", or ", Remedy("unseen_parents", "uniform"))
    prior = (
        Text(", or pass a prior: ", _with_prior(problem.prior, *lost), uniform) if not any(map(_is_odd, kinds)) else ""
    )
    raise EstimationError(
        f"The {which} no rows to learn from, and yet a probability. Take it away by ",
        Remedy("class_prior", "counted"),
        prior,
        ".",
    )


def require_values(problem: Problem[Naive], kind: AnyKind, cpd: Any) -> None:
    """Refuse a column that has no value in some class, where neither a prior nor a policy says what it is there."""
    unknown: Classes = cpd.unknown if _is_normal(kind) else np.isnan(cpd.values).any(axis=1)
    if not unknown.any() or not _stays(kind, problem.unseen_parents):
        return
    naive, name = problem.structure, cpd.family.child.name
    label = cpd.family.parents[0].labels[int(np.argmax(unknown))]
    what, leave = f"Column {name!r} has no values", "Leave the column out"
    if naive.multinomial and name == naive.column_name:
        what = f"The counts in the columns {listing(naive.multinomial, 4)} are all zero"
        leave = "Leave the class out"
    prior = _with_prior(problem.prior, kind, beside=_plainly(kind, name))
    uniform = "" if _is_normal(kind) else also(", or ", Remedy("unseen_parents", "uniform"))
    raise EstimationError(
        f"{what} in the class {label!r}, so that there is nothing to learn of it there. {leave}, or pass a prior: ",
        prior,
        uniform,
        ".",
    )


def _stays(kind: AnyKind, policy: str) -> bool:
    """Whether what is unknown stays so under ``unseen_parents``; there is no uniform distribution of numbers."""
    return policy == "error" or (policy == "uniform" and _is_normal(kind))


def _is_normal(kind: AnyKind) -> bool:
    return isinstance(kind, LinearGaussianKind)


def _is_odd(kind: AnyKind) -> bool:
    """Whether a normal column can have no prior."""
    return _is_normal(kind) and kind != LinearGaussianKind()


def _with_prior(prior: Prior | None, *kinds: AnyKind, beside: tuple[tuple[str, Value], ...] = ()) -> Remedy:
    """Return a prior on some kinds of column, and on those that have one already."""
    held = [kind for kind in (TabularKind(), LinearGaussianKind()) if prior_for(prior, kind) is not None]
    normal = [_is_normal(kind) for kind in (*kinds, *held)]
    return Remedy("prior", prior_of(counted=not all(normal), normal=any(normal)), beside=beside)


def _plainly(kind: AnyKind, name: str) -> tuple[tuple[str, Value], ...]:
    """Return what else it takes for a normal column to have a prior; see `require_plain`."""
    if not isinstance(kind, LinearGaussianKind) or kind == LinearGaussianKind():
        return ()
    return (("kinds", {name: "gaussian"}),) if kind.tied != "none" else (("divisor", "n"),)
