"""Normal classes: means and covariances from the moments of every class, in one pass over the data.

======  ==========================================================
n_k     weight of the rows of class k; N their sum
x̄_k     their mean, S_k their scatter
W       pooled scatter Σ_k S_k
======  ==========================================================

ℓ = Σ_k n_k log π_k − ½ Σ_k [n_k (d log 2π + log |Σ_k|) + tr(Σ_k⁻¹ S_k)] at μ_k = x̄_k. Its maximum is at Σ_k =
S_k / n_k, and where matrices are tied at W / N; for diagonal ones at the diagonals of these, for spherical ones at the
means of the diagonals.

With the reference prior ∝ |Σ|^(−(d+1)/2) the predictive density of a class is Student's t (Gelman et al., 2013, 3.6):

==================  ====================  =================================
covariance          degrees of freedom ν  scale matrix
==================  ====================  =================================
full                n_k − d               (1 + 1/n_k) S_k / ν
tied                N − K − d + 1         (1 + 1/n_k) W / ν
diagonal, a column  n_k − 1               (1 + 1/n_k) S_jj / ν
tied diagonal       N − K                 (1 + 1/n_k) W_jj / ν
spherical           d (n_k − 1)           (1 + 1/n_k) tr S_k / ν
tied spherical      d (N − K)             (1 + 1/n_k) tr W / ν
==================  ====================  =================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.matrix import matrix_of
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, EstimationError, listing, shown
from suffice.learn.class_gaussian_covariance import (
    Scatter,
    ledoit_wolf_intensity,
    oas_intensity,
    require_rank,
    require_spread,
    shrinkage_remarks,
    shrunk,
)
from suffice.learn.class_gaussian_sparse import sparse
from suffice.learn.method import Method, Problem, Solution
from suffice.models.class_gaussian import ClassGaussianModel
from suffice.models.class_gaussian_scores import LOG_2PI, whitening
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment, Need, Sum
from suffice.stats.sums import Sums
from suffice.structures.class_gaussian import ClassGaussian
from suffice.text import number, plural

Floats = NDArray[np.float64]


def accepts(structure: ClassGaussian, schema: Schema) -> str | None:
    """Refuse inputs that were declared discrete, and Ledoit and Wolf's shrinkage, which has a method of its own."""
    for name in structure.inputs:
        if schema[name].is_discrete:
            return (
                f"column {name!r} is discrete, and a normal distribution needs numbers. Declare it sf.continuous(), "
                "leave it out, or use sf.NaiveBayes, which takes both."
            )
    if structure.shrinkage == "ledoit_wolf":
        return "the shrinkage of Ledoit and Wolf needs a second pass over the data; use 'ledoit_wolf'."
    return None


def accepts_second_pass(structure: ClassGaussian, schema: Schema) -> str | None:
    """Refuse all other shrinkage, which needs no second pass."""
    if structure.shrinkage != "ledoit_wolf":
        return "it is for shrinkage='ledoit_wolf' only; use 'closed_form'."
    return accepts(ClassGaussian(structure.target, structure.inputs), schema)


def needs(structure: ClassGaussian, schema: Schema) -> tuple[Need, ...]:
    """Ask for the moments of the inputs by class; the weights of classes are among them."""
    return (Moment(structure.inputs, by=(structure.target,)),)


def check(structure: ClassGaussian, prior: Any, fixed: Mapping[str, Any]) -> None:
    """Refuse priors, which the structure itself has words for, and given parameters."""
    if prior is not None:
        raise ArgumentError(
            "The priors of normal classes are settings of the classifier: shrinkage=… for covariances, bayes=True for "
            "the reference prior, class_prior=… for classes. The 'prior' argument must be left out. Got "
            f"{shown(prior)} instead."
        )
    if fixed:
        raise ArgumentError(
            "The 'fixed' argument must be left out: means and covariances are all learnt. Class probabilities are "
            f"given by class_prior=…. Got {listing(fixed)}."
        )


# Solving ------------------------------------------------------------------------------------------------------


def solve(problem: Problem) -> Solution:
    """Fit all classes from their moments."""
    structure: ClassGaussian = problem.structure
    moments: Moments = problem.statistics[Moment(structure.inputs, by=(structure.target,))]
    target = moments.by[0]
    _require_rows(target, moments.weight)
    prior = structure.class_prior.probabilities(target, moments.weight)
    scatter = Scatter.of(structure, moments)
    alone = f"There is one class only, {target.labels[0]!r}: every row is in it."
    remarks: tuple[str, ...] = () if target.n_states > 1 else (alone,)
    if structure.bayes:
        return _predictive(structure, moments, scatter, prior, remarks)
    found = _estimated(problem, scatter, moments)
    model = ClassGaussianModel(
        structure,
        target,
        tuple(moments.variables),
        prior,
        moments.mean,
        found.spread,
        float(moments.weight.sum()),
        precisions=found.precisions,
        shrinkage=found.intensities,
    )
    local = {"classes": _of_classes(moments.weight, prior), "inputs": _of_inputs(model, moments)}
    n_free = structure.class_prior.n_free(target) + moments.mean.size + found.n_free
    return Solution(
        model=model,
        log_likelihood=sum(local.values()),
        local=local,
        n_free=n_free,
        n_free_adjusted=n_free,
        remarks=(*remarks, *found.remarks, *_unbiased_remarks(structure)),
        interrupted=problem.watch.interrupted,
        diagnostics=found.diagnostics,
    )


@dataclass(frozen=True)
class _Spread:
    """The covariances in the structure's form, and what is said of them."""

    spread: Floats
    n_free: int
    intensities: Floats | None
    precisions: Floats | None = None
    remarks: tuple[str, ...] = ()
    diagnostics: Mapping[str, float] = field(default_factory=dict)


def _estimated(problem: Problem, scatter: Scatter, moments: Moments) -> _Spread:
    """Divide the scatter, shrink it, and make its inverse sparse, as far as each is wanted."""
    structure = scatter.structure
    intensities, diagnostics = _intensities(problem, scatter, moments)
    require_spread(scatter, intensities)
    spread = scatter.covariances()
    remarks: tuple[str, ...] = ()
    if intensities is not None:
        spread, remarks = shrunk(spread, intensities, structure), shrinkage_remarks(scatter, intensities)
    n_free = structure.n_spread(scatter.target.n_states)
    if structure.covariance == "sparse":
        found = sparse(scatter, spread, problem.watch, problem.max_iter)
        n_free = n_free if structure.alpha is None else spread.shape[0] * spread.shape[1] + found.n_edges
        remarks = (*remarks, *found.remarks)
        return _Spread(found.covariances, n_free, intensities, found.precisions, remarks, diagnostics)
    if structure.form == "matrix":
        require_rank(scatter, spread)
    return _Spread(spread, n_free, intensities, None, remarks, diagnostics)


def _require_rows(target: Variable, weight: Floats) -> None:
    empty = [label for label, n in zip(target.labels, weight, strict=True) if not n > 0]
    if empty:
        raise EstimationError(
            f"The {'class' if len(empty) == 1 else 'classes'} {listing(empty)} of {target.name!r} "
            f"{'has' if len(empty) == 1 else 'have'} no rows, so that nothing is known of the inputs there. Leave "
            f"{'it' if len(empty) == 1 else 'them'} out of the declared states, or collect rows."
        )


def _intensities(problem: Problem, scatter: Scatter, moments: Moments) -> tuple[Floats | None, dict[str, float]]:
    """Return ρ of every group, or None without shrinkage, and what the certificate needs to check it."""
    given = scatter.structure.shrinkage
    if given is None:
        return None, {}
    groups = range(len(scatter.n))
    if not isinstance(given, str):
        return np.full(len(scatter.n), given), {}
    plain = scatter.scatter / scatter.n[:, None, None]
    if given == "oas":
        return np.array([oas_intensity(plain[group], float(scatter.n[group])) for group in groups]), {}
    fourth = _fourth_powers(problem, moments)
    if scatter.structure.is_tied:
        fourth = fourth.sum(keepdims=True)
    found = [ledoit_wolf_intensity(plain[group], float(scatter.n[group]), float(fourth[group])) for group in groups]
    return np.array(found), {f"fourth powers {group}": float(value) for group, value in enumerate(fourth)}


def _unbiased_remarks(structure: ClassGaussian) -> tuple[str, ...]:
    if structure.divisor == "n":
        return ()
    divisor = "n − K" if structure.is_tied else "n − 1 of each class"
    return (f"Covariances are unbiased, with divisor {divisor}; the log-likelihood is the model's, not the maximum.",)


def _of_classes(weight: Floats, prior: Floats) -> float:
    with np.errstate(divide="ignore"):
        return float(weight @ np.log(prior))


def _of_inputs(model: ClassGaussianModel, moments: Moments) -> float:
    """Return −½ Σ_k [n_k (d log 2π + log |Σ_k|) + tr(Σ_k⁻¹ S_k)]; means are those of the data."""
    n, d = moments.weight, len(model.inputs)
    if model.structure.form != "matrix":
        variances = np.broadcast_to(model.spread, (len(n), d))
        squares = np.diagonal(moments.scatter, axis1=1, axis2=2)
        return -0.5 * float((n[:, None] * (LOG_2PI + np.log(variances)) + squares / variances).sum())
    roots, factors, log_dets = whitening(model.spread)
    white = factors / roots[:, None, :]
    squares = np.einsum("kij,kij->k", white @ moments.scatter, np.broadcast_to(white, moments.scatter.shape))
    return -0.5 * float((n * (d * LOG_2PI + log_dets) + squares).sum())


# Ledoit and Wolf ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FourthPowers:
    """The task of adding up w ‖x − x̄_y‖⁴ by class."""

    inputs: tuple[str, ...]
    target: Variable
    means: Floats

    def __call__(self, block: Block) -> dict[Need, Any]:
        """Return the sums of one block."""
        x = matrix_of(block.columns, self.inputs, block.n_rows)
        known = block.schema[self.target.name].labels
        codes = np.array([self.target.code(label) for label in known], np.int64)
        classes = codes[np.asarray(block.columns[self.target.name], np.int64)]
        powers = ((x - self.means[classes]) ** 2).sum(axis=1) ** 2
        weights = powers if block.weights is None else powers * block.weights
        sums = Sums(FOURTH, np.bincount(classes, weights, len(self.means)).astype(np.float64))
        return {sums.need: sums}


FOURTH = "fourth powers"


def _fourth_powers(problem: Problem, moments: Moments) -> Floats:
    """Return Σ w ‖x − x̄_k‖⁴ of every class, by a second pass; shape (K,)."""
    assert problem.source is not None
    target = moments.by[0]
    found = problem.source.reduce(FourthPowers(problem.structure.inputs, target, moments.mean))
    return np.asarray(found[Sum(FOURTH, target.n_states)].values, np.float64)


# Student's t --------------------------------------------------------------------------------------------------


def _predictive(
    structure: ClassGaussian, moments: Moments, scatter: Scatter, prior: Floats, remarks: tuple[str, ...]
) -> Solution:
    """Integrate means and variances out under the reference prior."""
    target, d, k = moments.by[0], len(structure.inputs), moments.by[0].n_states
    dof = {"matrix": scatter.freedom - d + 1, "diagonal": scatter.freedom, "spherical": d * scatter.freedom}
    freedom = dof[structure.form]
    _require_proper(scatter, freedom)
    require_spread(scatter, None)
    total = scatter.scatter
    if structure.form == "matrix":
        require_rank(scatter, total)
        spread = total / freedom[:, None, None]
    else:
        squares = np.diagonal(total, axis1=1, axis2=2)
        squares = squares if structure.form == "diagonal" else squares.sum(axis=1, keepdims=True)
        spread = squares / freedom[:, None]
    widen = (1 + 1 / moments.weight).reshape(k, *[1] * (spread.ndim - 1))  # the mean is not known either
    dofs = np.broadcast_to(freedom, (k,))
    inputs = tuple(moments.variables)
    n_rows = float(moments.weight.sum())
    model = ClassGaussianModel(structure, target, inputs, prior, moments.mean, spread * widen, n_rows, dof=dofs)
    n_free = structure.class_prior.n_free(target) + moments.mean.size + structure.n_spread(k)
    said = (
        "The densities are Student's t, means and variances being integrated out under p(μ, Σ) ∝ |Σ|^(−(d+1)/2), for "
        f"variances 1/σ²; degrees of freedom {number(float(dofs.min()))} to {number(float(dofs.max()))}.",
        "Their log-likelihood is no function of the moments; it is fit.model.log_prob(data).sum().",
    )
    return Solution(model, math.nan, n_free, n_free, remarks=remarks + said)


def _require_proper(scatter: Scatter, freedom: Floats) -> None:
    """Refuse classes whose posterior is improper."""
    short = [group for group in range(len(freedom)) if not freedom[group] > 0]
    if short:
        d = len(scatter.structure.inputs)
        more = d if scatter.structure.form == "matrix" else 1
        least = more + (scatter.target.n_states if scatter.structure.is_tied else 1)
        rows = ", ".join(f"{scatter.who(group)} has {number(float(scatter.n[group]))}" for group in short[:6])
        raise EstimationError(
            f"The posterior under the reference prior is proper with at least {plural(least, 'row')}, and {rows}. "
            "Collect more, share variances with covariance='tied', or pass bayes=False and shrinkage='oas'."
        )


CLOSED_FORM = Method(refuses=accepts, needs=needs, solve=solve, check=check)
LEDOIT_WOLF = Method(
    refuses=accepts_second_pass,
    needs=needs,
    solve=solve,
    passes="many",
    check=check,
    instead="Or pass shrinkage='oas', which needs the moments alone.",
)
