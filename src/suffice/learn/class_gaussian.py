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
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.block import Block
from suffice.data.matrix import matrix_of
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import (
    ArgumentError,
    EstimationError,
    Mention,
    NotFor,
    Passed,
    Remedy,
    Text,
    listing,
    shown,
    the_argument,
)
from suffice.learn.class_gaussian_covariance import (
    Scatter,
    ledoit_wolf_intensity,
    listed,
    oas_intensity,
    of_all_classes,
    require_rank,
    require_spread,
    shrinkage_remarks,
    shrunk,
    tied_twin,
)
from suffice.learn.class_gaussian_sparse import sparse
from suffice.learn.method import Method, Problem, Solution
from suffice.models.class_gaussian import ClassGaussianModel
from suffice.models.class_gaussian_scores import LOG_2PI, whitening
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment, Need, Sum
from suffice.stats.sums import Sums
from suffice.structures.class_gaussian import ClassGaussian
from suffice.text import number
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.priors.prior import Prior


def accepts(structure: ClassGaussian, schema: Schema) -> str | None:
    """Refuse inputs that were declared discrete, and Ledoit and Wolf's shrinkage, which has a method of its own."""
    for name in structure.inputs:
        if schema[name].is_discrete:
            return Text(
                f"column {name!r} is discrete, and a normal distribution needs numbers. Declare it sf.continuous(), "
                "leave it out, or use ",
                Mention("NaiveBayes", "sf.NaiveBayes"),
                ", which takes both.",
            )
    if structure.shrinkage == "ledoit_wolf":
        return "the shrinkage of Ledoit and Wolf needs a second pass over the data; use 'ledoit_wolf'."
    return None


def accepts_second_pass(structure: ClassGaussian, schema: Schema) -> str | None:
    """Refuse all other shrinkage, which needs no second pass."""
    if structure.shrinkage != "ledoit_wolf":
        return NotFor(
            "it is for ", Passed("shrinkage", "ledoit_wolf"), " only; use ", Remedy("method", "closed_form"), "."
        )
    return accepts(ClassGaussian(structure.target, structure.inputs), schema)


def needs(structure: ClassGaussian, schema: Schema) -> tuple[Need, ...]:
    """Ask for the moments of the inputs by class; the weights of classes are among them."""
    return (Moment(structure.inputs, by=(structure.target,)),)


def check(structure: ClassGaussian, prior: Prior | None, fixed: Mapping[str, Any]) -> None:
    """Refuse priors, which the structure itself has words for, and given parameters."""
    if prior is not None:
        raise ArgumentError(
            "The priors of normal classes are settings of the classifier: ",
            Mention("shrinkage", "shrinkage=…"),
            " for covariances, ",
            Passed("bayes", True),
            " for the reference prior, ",
            Mention("class_prior", "class_prior=…"),
            " for classes. ",
            the_argument("prior"),
            f" must be left out. Got {shown(prior)} instead.",
        )
    if fixed:
        raise ArgumentError(
            "The 'fixed' argument must be left out: means and covariances are all learnt. Class probabilities are "
            "given by ",
            Mention("class_prior", "class_prior=…"),
            f". Got {listing(fixed)}.",
        )


# Solving ------------------------------------------------------------------------------------------------------


def solve(problem: Problem[ClassGaussian]) -> Solution[ClassGaussianModel]:
    """Fit all classes from their moments."""
    structure: ClassGaussian = problem.structure
    moments: Moments = problem.statistics[Moment(structure.inputs, by=(structure.target,))]
    target = moments.by[0]
    prior = structure.class_prior.probabilities(target, moments.weight)
    scatter = Scatter.of(structure, moments)
    remarks = _unseen_remarks(scatter, prior)
    if len(scatter.labels) == 1:
        remarks += (f"There is one class only, {scatter.labels[0]!r}: every row is in it.",)
    means = of_all_classes(moments.mean[scatter.seen], scatter.seen)
    if structure.bayes:
        return _predictive(moments, scatter, prior, means, remarks)
    found = _estimated(problem, scatter, moments)
    model = ClassGaussianModel(
        structure,
        target,
        tuple(moments.variables),
        prior,
        means,
        scatter.by_class(found.spread),
        float(moments.weight.sum()),
        precisions=None if found.precisions is None else scatter.by_class(found.precisions),
        shrinkage=None if found.intensities is None else scatter.by_class(found.intensities),
    )
    local = {"classes": _of_classes(moments.weight, prior), "inputs": _of_inputs(structure, moments, found.spread)}
    n_free = structure.class_prior.n_free(target) + moments.mean[scatter.seen].size + found.n_free
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


def _estimated(problem: Problem[ClassGaussian], scatter: Scatter, moments: Moments) -> _Spread:
    """Divide the scatter, shrink it, and make its inverse sparse, as far as each is wanted."""
    structure = scatter.structure
    intensities, diagnostics = _intensities(problem, scatter, moments)
    require_spread(scatter, intensities)
    spread = scatter.covariances()
    remarks: tuple[str, ...] = ()
    if intensities is not None:
        spread, remarks = shrunk(spread, intensities, structure), shrinkage_remarks(scatter, intensities)
    n_free = structure.n_spread(len(scatter.labels))
    if structure.covariance == "sparse":
        found = sparse(scatter, spread, problem.watch, problem.max_iter)
        n_free = n_free if structure.alpha is None else spread.shape[0] * spread.shape[1] + found.n_edges
        remarks = (*remarks, *found.remarks)
        return _Spread(found.covariances, n_free, intensities, found.precisions, remarks, diagnostics)
    if structure.form == "matrix":
        require_rank(scatter, spread)
    return _Spread(spread, n_free, intensities, None, remarks, diagnostics)


def _unseen_remarks(scatter: Scatter, prior: Floats) -> tuple[str, ...]:
    """Say which classes have no rows; refuse those that have a probability nevertheless."""
    empty = [label for label, there in zip(scatter.target.labels, scatter.seen, strict=True) if not there]
    if not empty:
        return ()
    one = len(empty) == 1
    who = f"class {empty[0]!r} has" if one else f"the classes {listing(empty)} have"
    they, them, their = ("it has", "it", "its") if one else ("they have", "them", "their")
    if (prior[~scatter.seen] > 0).any():
        raise EstimationError(
            f"In {scatter.target.name!r} {who} no rows, so that nothing is known of {their} inputs, and yet {they} a "
            f"probability. Collect rows of {them}, leave {them} out, or pass ",
            Remedy("class_prior", "counted"),
            f", which gives {them} none.",
        )
    what = "mean" if scatter.structure.is_tied else "mean and covariance"
    verb = "is" if one and scatter.structure.is_tied else "are"
    return (f"{scatter.target.name}: {who} no rows; {they} no probability, and {their} {what} {verb} unknown.",)


def _intensities(
    problem: Problem[ClassGaussian], scatter: Scatter, moments: Moments
) -> tuple[Floats | None, dict[str, float]]:
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
    fourth = _fourth_powers(problem, moments)[scatter.seen]
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
    seen = weight > 0
    with np.errstate(divide="ignore"):
        return float(weight[seen] @ np.log(prior[seen]))


def _of_inputs(structure: ClassGaussian, moments: Moments, spread: Floats) -> float:
    """Return −½ Σ_k [n_k (d log 2π + log |Σ_k|) + tr(Σ_k⁻¹ S_k)]; means are those of the data."""
    seen = moments.weight > 0
    n, d, scatter = moments.weight[seen], len(structure.inputs), moments.scatter[seen]
    if structure.form != "matrix":
        variances = np.broadcast_to(spread, (len(n), d))
        squares = np.diagonal(scatter, axis1=1, axis2=2)
        return -0.5 * float((n[:, None] * (LOG_2PI + np.log(variances)) + squares / variances).sum())
    roots, factors, log_dets = whitening(spread)
    white = factors / roots[:, None, :]
    squares = np.einsum("kij,kij->k", white @ scatter, np.broadcast_to(white, scatter.shape))
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


def _fourth_powers(problem: Problem[ClassGaussian], moments: Moments) -> Floats:
    """Return Σ w ‖x − x̄_k‖⁴ of every class, by a second pass; shape (K,)."""
    assert problem.source is not None
    target = moments.by[0]
    found = problem.source.reduce(FourthPowers(problem.structure.inputs, target, moments.mean))
    return np.asarray(found[Sum(FOURTH, target.n_states)].values, np.float64)


# Student's t --------------------------------------------------------------------------------------------------


def _predictive(
    moments: Moments, scatter: Scatter, prior: Floats, means: Floats, remarks: tuple[str, ...]
) -> Solution[ClassGaussianModel]:
    """Integrate means and variances out under the reference prior."""
    structure, target, seen = scatter.structure, scatter.target, scatter.seen
    d, k = len(structure.inputs), len(scatter.labels)
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
    widen = (1 + 1 / moments.weight[seen]).reshape(k, *[1] * (spread.ndim - 1))  # the mean is not known either
    dofs = np.broadcast_to(freedom, (k,))
    n_rows = float(moments.weight.sum())
    scales, dof_of_all = of_all_classes(spread * widen, seen), of_all_classes(dofs, seen)
    model = ClassGaussianModel(
        structure, target, tuple(moments.variables), prior, means, scales, n_rows, dof=dof_of_all
    )
    n_free = structure.class_prior.n_free(target) + k * d + structure.n_spread(k)
    least, most = number(float(dofs.min())), number(float(dofs.max()))
    said = (
        "The densities are Student's t, means and variances being integrated out under p(μ, Σ) ∝ |Σ|^(−(d+1)/2), for "
        f"variances 1/σ²; degrees of freedom {least if least == most else f'{least} to {most}'}.",
        "Their log-likelihood is no function of the moments; it is fit.model.log_prob(data).sum().",
    )
    return Solution(model, math.nan, n_free, n_free, remarks=remarks + said)


def _require_proper(scatter: Scatter, freedom: Floats) -> None:
    """Refuse classes whose posterior is improper."""
    short = [group for group in range(len(freedom)) if not freedom[group] > 0]
    if not short:
        return
    structure, k = scatter.structure, len(scatter.labels)
    more = len(structure.inputs) if structure.form == "matrix" else 1
    least, n = more + (k if structure.is_tied else 1), float(scatter.n.sum())
    remedies = ["Collect more"]
    if not structure.is_tied and n - k >= more:
        remedies.append(Text("pass ", Remedy("covariance", tied_twin(structure))))
    if structure.form == "matrix" and (n > k if structure.is_tied else (scatter.n[short] > 1).all()):
        remedies.append(Text("pass ", Remedy("bayes", False, beside=(("shrinkage", "oas"),))))
    raise EstimationError(
        f"The posterior under the reference prior is proper with at least {least} rows"
        f"{'' if structure.is_tied else ' a class'}, and {scatter.has_rows(short)}. ",
        listed(remedies),
        ".",
    )


CLOSED_FORM: Method[ClassGaussian, ClassGaussianModel] = Method(refuses=accepts, needs=needs, solve=solve, check=check)
LEDOIT_WOLF: Method[ClassGaussian, ClassGaussianModel] = Method(
    refuses=accepts_second_pass,
    needs=needs,
    solve=solve,
    passes="many",
    check=check,
    instead=Text("Or pass ", Remedy("shrinkage", "oas"), ", which needs the moments alone."),
)
