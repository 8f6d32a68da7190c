"""Autoregressions by least squares: one regression of each variable on the same lagged columns.

======  ==================================================================================
T       second moments of the windows, lagged columns z first, then current ones y
B       slopes, T_zz B = T_zy; shape (k·d, d)
Σ       what they leave, (−Bᵀ I) T (−Bᵀ I)ᵀ, divided by n, or by n − p
======  ==================================================================================

With an intercept T is around the means, without one around zero. As all equations share their regressors, least
squares equation by equation is maximum likelihood whatever Σ is (Zellner, 1962).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, EstimationError, Passed, Remedy, Text, listing, made, shown, the_argument
from suffice.learn.gaussian_markov import chain_log_likelihoods
from suffice.learn.method import Method, Problem, Solution
from suffice.models.autoregression import AutoregressiveModel
from suffice.models.autoregression_node import node_family
from suffice.models.cpds.least_squares import SINGULAR, constant_columns, slopes, trouble_with
from suffice.models.joint_normal import JointNormal
from suffice.priors.autoregression_posterior import AutoregressionPosterior
from suffice.priors.normal_inverse_gamma import NormalInverseGamma, NormalInverseGammaRows
from suffice.stats.moments import Moments
from suffice.stats.needs import Need
from suffice.structures.autoregression import Autoregression, lag_names
from suffice.text import plural
from suffice.types import Floats

Wide = NDArray[np.longdouble]
SEVERAL = (
    "only autoregressions of one variable know a prior, and this one has {}. Fit each by itself, or without a prior."
)


def accepts(structure: Autoregression, schema: Schema) -> str | None:
    """Refuse columns that were declared discrete."""
    for name in structure.names_in(schema):
        if schema[name].is_discrete:
            return f"column {name!r} is discrete, and an autoregression needs numbers; leave it out of the schema."
    return None


def needs(structure: Autoregression, schema: Schema) -> tuple[Need, ...]:
    """Ask for the moments of the windows: every value with the k values before it."""
    return (structure.need(schema),)


def check(structure: Autoregression, prior: Any, fixed: Mapping[str, Any]) -> None:
    """Refuse priors that it cannot use, and given parameters."""
    if fixed:
        raise ArgumentError(
            "An autoregression has no tables that could be given, so the 'fixed' argument must be left out. "
            f"Got {shown(dict(fixed))}."
        )
    reason = refuses_prior(structure, prior)
    if reason is not None:
        raise ArgumentError(the_argument("prior"), " of this autoregression must be left out: ", reason)


def refuses_prior(structure: Autoregression, prior: Any) -> str | None:
    """Refuse all but the conjugate prior of one variable."""
    if prior is None:
        return None
    if not isinstance(prior, NormalInverseGamma | NormalInverseGammaRows):
        return Text(
            "the prior of an autoregression is ",
            made("NormalInverseGamma", 2, 1.0),
            f", on one variable. Got {shown(prior)} instead.",
        )
    if structure.variables is not None and len(structure.variables) > 1:
        return SEVERAL.format(listing(structure.variables))
    if not structure.intercept or structure.initial == "normal":
        setting = "intercept=False" if not structure.intercept else "initial='normal'"
        return f"with {setting} it knows no prior; leave out one of them."
    return None


def solve(problem: Problem[Autoregression]) -> Solution[AutoregressiveModel]:
    """Fit all equations by least squares, and the first values of sequences where they have a distribution."""
    structure: Autoregression = problem.structure
    windows, first = structure.moments(problem.statistics)
    names = structure.names_in(problem.schema)
    if problem.prior is not None:
        return _posterior(problem, names, windows)
    start = None if first is None else _start(names, first)
    model = _model(structure, names, windows, start)
    local = chain_log_likelihoods(model.errors, errors_of(model, windows))
    if start is not None and first is not None:
        for place, term in enumerate(chain_log_likelihoods(start, first).values()):
            local[names[place % len(names)]] += term
    return Solution(
        model=model,
        log_likelihood=math.fsum(local.values()),
        n_free=structure.n_free(len(names)),
        n_free_adjusted=structure.n_free(len(names)),
        local=local,
        remarks=_remarks(structure, names, first),
    )


def _posterior(
    problem: Problem[Autoregression], names: tuple[str, ...], windows: Moments
) -> Solution[AutoregressiveModel]:
    """Return the estimate under a conjugate prior: the variable is a node whose parents are its own past."""
    structure: Autoregression = problem.structure
    if len(names) > 1:  # unnamed, so only the data tells
        raise EstimationError(the_argument("prior"), f" must be left out: {SEVERAL.format(listing(names))}")
    regression = problem.prior.posterior("linear_gaussian", node_family(names[0], structure.order), windows)
    posterior = AutoregressionPosterior(structure, regression)
    model = posterior.mode() if problem.point == "map" else posterior.mean()
    local = chain_log_likelihoods(model.errors, errors_of(model, windows))
    return Solution(
        model=model,
        log_likelihood=math.fsum(local.values()),
        n_free=structure.n_free(1),
        n_free_adjusted=structure.n_free(1),
        local=local,
        posterior=posterior,
        log_marginal_likelihood=posterior.log_marginal_likelihood,
    )


def _model(
    structure: Autoregression, names: tuple[str, ...], windows: Moments, start: JointNormal | None
) -> AutoregressiveModel:
    d, k, weight = len(names), structure.order, float(windows.weight)
    centre = windows.mean.astype(np.longdouble) + windows.rest
    second = windows.scatter.astype(np.longdouble)
    if not structure.intercept:
        second = second + weight * np.outer(centre, centre)
    b = _slopes(names, structure, weight, centre, second.astype(np.float64))
    across = np.concatenate([-b.T, np.eye(d)], axis=1).astype(np.longdouble)
    left = (across @ second @ across.T).astype(np.float64)
    _require_errors(names, structure, weight, left, second.astype(np.float64))
    divisor = weight if structure.divisor == "n" else weight - _n_regressors(structure, d)
    return AutoregressiveModel(
        names,
        (across @ centre).astype(np.float64) if structure.intercept else np.zeros(d),
        b.T.reshape(d, k, d).transpose(1, 0, 2),
        left / divisor,  # eq autoregression-covariance
        start=start,
        id=structure.id,
        time=structure.time,
    )


def _n_regressors(structure: Autoregression, d: int) -> int:
    return structure.order * d + structure.intercept


def _slopes(names: tuple[str, ...], structure: Autoregression, weight: float, centre: Wide, second: Floats) -> Floats:
    """Return B, or say which lagged column does not determine it."""
    q = second.shape[0] - len(names)
    inner, cross = second[:q, :q], second[:q, q:]
    still = constant_columns(weight, centre[:q] if structure.intercept else 0 * centre[:q], inner)
    found = [None if still else slopes(inner, column) for column in cross.T]  # eq autoregression-mle
    b = [column for column in found if column is not None]
    if len(b) == len(names):
        return np.stack(b, axis=1)
    lags = lag_names(names, structure.order)
    trouble = trouble_with(inner, still)
    few = _few(structure, len(names), weight)
    if trouble is not None and trouble.constant:
        what = "constant" if structure.intercept else "zero throughout"
        raise EstimationError(
            f"Column {lags[trouble.constant[0]]!r} of the windows is {what}, so its coefficients are not "
            f"determined.{few} Leave its variable out, or collect longer sequences."
        )
    place = len(lags) - 1 if trouble is None or trouble.dependent is None else trouble.dependent
    others = lags[:place] if trouble is None else [lags[other] for other in trouble.others]
    raise EstimationError(
        f"Column {lags[place]!r} of the windows is a combination of {listing(others)}, so their coefficients are not "
        f"determined.{few} Lower the order, leave a variable out, or collect more or longer sequences."
    )


def _few(structure: Autoregression, d: int, weight: float) -> str:
    """Say that there are too few windows, where there are."""
    least = _n_regressors(structure, d) + d
    if weight >= least:
        return ""
    return f" There are only {plural(weight, 'window')} for {plural(least - d, 'coefficient')} an equation."


def _require_errors(
    names: tuple[str, ...], structure: Autoregression, weight: float, left: Floats, second: Floats
) -> None:
    """Refuse errors that are zero, or combinations of each other: the likelihood has no maximum."""
    d = len(names)
    few = _few(structure, d, weight)
    total = np.diag(second)[len(second) - d :]
    exact = np.flatnonzero(~(np.diag(left) > SINGULAR * total))
    if len(exact):
        what = "an exact function of the values before it" if structure.order else "constant"
        raise EstimationError(
            f"Variable {names[int(exact[0])]!r} is {what}, so its errors are zero, where the likelihood has no "
            f"maximum.{few} Leave it out, lower the order, or collect more or longer sequences."
        )
    trouble = trouble_with(left, ())
    if trouble is not None and trouble.dependent is not None:
        others = [names[other] for other in trouble.others]
        raise EstimationError(
            f"The error of {names[trouble.dependent]!r} is a combination of those of {listing(others)}, so their "
            f"covariance matrix is singular and the likelihood has no maximum.{few} Leave a variable out, or collect "
            "more or longer sequences."
        )
    p = _n_regressors(structure, d)
    if structure.divisor == "n-p" and not weight > p:
        raise EstimationError(
            "With ",
            Passed("divisor", "n-p"),
            f" there must be more windows than the {plural(p, 'coefficient')} of an equation, but "
            f"there are {plural(weight, 'window')}. Collect more, or use ",
            Remedy("divisor", "n"),
            ".",
        )


def _start(names: tuple[str, ...], first: Moments) -> JointNormal:
    """Return the normal distribution of the first values of sequences."""
    weight, size = float(first.weight), len(first.variables)
    still = constant_columns(weight, first.mean.astype(np.longdouble) + first.rest, first.scatter) if weight else []
    if weight <= size or still or trouble_with(first.scatter, ()) is not None:
        raise EstimationError(
            "With ",
            Passed("initial", "normal"),
            f" the {plural(size, 'first value')} of a sequence have a normal distribution, which "
            f"takes more than {plural(size, 'sequence')} that differ in each of them. There are "
            f"{plural(weight, 'sequence')} with a value to predict. Collect more, or use ",
            Remedy("initial", "given"),
            ".",
        )
    return JointNormal([v.name for v in first.variables], first.mean, covariance=first.scatter / weight)


def errors_of(model: AutoregressiveModel, windows: Moments) -> Moments:
    """Return the moments of the errors that a model leaves in windows."""
    across = np.concatenate([-model.flat_coefficients, np.eye(len(model.variables))], axis=1).astype(np.longdouble)
    mean = across @ (windows.mean.astype(np.longdouble) + windows.rest) - model.intercept
    scatter = across @ windows.scatter.astype(np.longdouble) @ across.T
    q = len(windows.variables) - len(model.variables)
    return Moments(
        windows.variables[q:], (), windows.weight, mean.astype(np.float64), np.zeros(len(mean)), scatter.astype(float)
    )


def _remarks(structure: Autoregression, names: tuple[str, ...], first: Moments | None) -> tuple[str, ...]:
    remarks = []
    if structure.divisor == "n-p":
        p = _n_regressors(structure, len(names))
        remarks.append(f"The covariance matrix of the errors is divided by n − p = n − {p}, not by n.")
    if first is not None:
        remarks.append(
            f"The distribution of the {plural(len(first.variables), 'first value')} is that of "
            f"{plural(float(first.weight), 'sequence')}."
        )
    return tuple(remarks)


METHOD: Method[Autoregression, AutoregressiveModel] = Method(
    refuses=accepts, needs=needs, solve=solve, check=check, refuses_prior=refuses_prior
)
