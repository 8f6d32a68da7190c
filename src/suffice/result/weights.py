"""The weights of a log-linear model, each with its standard error.

The Fisher information of N rows is N · Cov(f), or N times the mean of Cov(f | x) given inputs; its inverse is the
covariance of the weights. Where features depend on each other, it is singular: a weight that a relation holds can move
while the distribution stays, and has no standard error; the others have that of the model without the redundant ones.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.frame import to_native
from suffice.errors import (
    EstimationError,
    Mention,
    Remedy,
    UnknownNameError,
    listing,
    made,
    require_fraction,
    suggestion,
)
from suffice.inference.clique_family import MAX_AXES, TableFamily
from suffice.inference.dependence import Relation, dependence, describe
from suffice.inference.feature_family import FeatureFamily, WeightFamily
from suffice.inference.feature_rank import JOINT_CELLS, MOST_NUMBERS, uniform_covariance
from suffice.inference.product import Factor
from suffice.learn.conditional import ConditionalSetting
from suffice.learn.feature_matching import FeatureMatching
from suffice.learn.feature_setting import FeatureSetting
from suffice.learn.method import Problem
from suffice.learn.pseudo_likelihood import PseudoSetting
from suffice.models.clique_layout import factors_over
from suffice.models.log_linear import LogLinear
from suffice.models.log_linear_density import LogLinearDensity
from suffice.priors.penalty import Gaussian, Penalty
from suffice.result.goodness import p_text
from suffice.result.wald_columns import WaldColumns
from suffice.text import fixed, html_table, plain_table, plural
from suffice.types import Array, Floats, Frame
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.result.fit import Fit
    from suffice.structures.features import Features


MAX_WEIGHTS = 2000
"""Matrices of so many weights squared are inverted at most."""
SHOWN_ROWS, SHOWN = 60, 4
"""So many weights are printed, and so many relations or names are named in a remark."""


class WeightRow(NamedTuple):
    """One weight of a `WeightTable`, and what follows from its standard error."""

    name: str
    estimate: float
    se: float
    z: float
    p: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class WeightTable(WaldColumns):
    """The weights of a fit, each with its standard error and what follows from it; ``table["A=yes"]`` is one of them.

    Attributes
    ----------
    names : tuple of str
        The features.
    estimate, se, z, p, lower, upper : arrays, shape (n_weights,)
        The weight, its standard error, their ratio, the probability of a larger ratio if the weight were zero, and the
        ends of the interval ``estimate ± quantile · se``. NaN where there is no standard error: see the remarks.
    covariance : array, shape (n_weights, n_weights)
        Of the estimates; NaN in the rows and columns of weights without standard errors.
    level : float
        That of the intervals.
    remarks : tuple of str
        What to know before using the numbers.
    """

    names: tuple[str, ...] = field(repr=False)
    estimate: Floats = field(repr=False)
    covariance: Floats = field(repr=False)
    level: float
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.estimate, self.covariance):
            array.flags.writeable = False

    @property
    def se(self) -> Floats:
        """The standard errors."""
        errors: Floats = np.sqrt(self.covariance.diagonal())
        return errors

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> WeightRow:
        if name not in self.names:
            raise UnknownNameError(
                f"There is no feature {name!r}. The features are {listing(self.names, 12)}."
                + suggestion(name, self.names)
            )
        row = self.names.index(name)
        return WeightRow(name, *(float(column[row]) for column in self._numbers.values()))

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a weight: the feature, estimate, se, z, p, lower and upper.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        columns: dict[str, Array | Sequence[Label]] = {"feature": list(self.names)}
        return to_native({**columns, **self._numbers}, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        values = [column[:SHOWN_ROWS] for column in self._numbers.values()]
        rows = []
        for name, *numbers in zip(self.names[:SHOWN_ROWS], *values, strict=True):
            estimate, se, z, p, lower, upper = map(float, numbers)
            rest = ["-"] * 5 if math.isnan(se) else [fixed(se), fixed(z, 2), p_text(p), fixed(lower), fixed(upper)]
            rows.append([name, fixed(estimate), *rest])
        if len(self.names) > SHOWN_ROWS:
            rows.append([f"… {len(self.names) - SHOWN_ROWS:,} more rows", *[""] * 6])
        header = ["feature", "weight", "std. error", "z", "p", f"{100 * self.level:.4g} % from", "to"]
        return header, rows, "<>>>>>>"

    def __str__(self) -> str:
        foot = (textwrap.wrap(line, 100, subsequent_indent="  ") for line in self.remarks)
        return "\n".join([plain_table(*self._cells()), *itertools.chain.from_iterable(foot)])

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption="; ".join(self.remarks))


def weight_table(fit: Fit, level: float) -> WeightTable:
    """Return the weights of a fit with their standard errors; see `FeaturesFit.weights`."""
    require_fraction("level", level)
    _require_errors(fit)
    names, estimate = fit.model.weights.names, np.array(fit.model.weights.to_numpy())
    if not fit.statistics.n_read and fit.n > 0:
        nothing = np.full((len(names),) * 2, np.nan)
        remark = "targets given by hand have no sampling error, so that there are no standard errors"
        return WeightTable(names, estimate, nothing, float(level), (remark,))
    covariance, relations = _inverted(_curvature(fit))
    remarks = [*_basis_remarks(fit), *_hole_remarks(names, estimate, relations)]
    return WeightTable(names, estimate, covariance, float(level), tuple(remarks))


def _require_errors(fit: Fit) -> None:
    if isinstance(fit.prior, Penalty) and not isinstance(fit.prior, Gaussian):
        raise EstimationError(
            f"The penalty {fit.prior.describe()} has a kink at zero, where the curvature that standard errors come "
            "from does not exist. Fit with ",
            Mention("Gaussian", "sf.Gaussian(…)"),
            ", or again without a prior on the features that were kept; the weights alone are fit.model.weights.",
        )
    if len(fit.model.weights) > MAX_WEIGHTS:
        raise EstimationError(
            f"The model has {len(fit.model.weights):,} weights, and standard errors are given for up to "
            f"{MAX_WEIGHTS:,}. The weights alone are fit.model.weights."
        )


# The information ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Curvature:
    """How the objective curves at the estimate, over all weights.

    Attributes
    ----------
    information : array, shape (n_weights, n_weights)
        Minus the second derivative of the log-likelihood, or of what stands for it, the penalty included.
    score : array of that shape, or None
        The variance of its slope where that is another matrix: a pseudo-likelihood's.
    even : array of that shape
        The same relations between features, seen where no configuration is rare.
    finite : array of bool, shape (n_weights,)
        The weights that did not run away.
    """

    information: Floats
    score: Floats | None
    even: Floats
    finite: NDArray[np.bool_]


def _curvature(fit: Fit) -> Curvature:
    values = fit.model.weights.to_numpy()
    finite = np.isfinite(values)
    weights = np.where(finite, values, 0.0)
    problem = Problem(fit.structure, fit.statistics, prior=fit.prior, point=fit.point, base=base_of(fit))
    if fit.method == "pseudo_likelihood":
        pseudo: Any = PseudoSetting.of(problem)
        pseudo = pseudo if fit.prior is not None else pseudo.on_extremes()
        precision = _precision(pseudo.matching())
        information = pseudo.family.sensitivity(weights) + np.diag(precision)
        return Curvature(information, pseudo.family.variability(weights), information, finite)
    of_fit = _given_inputs if fit.structure.given else _of_all
    matching, family, even = of_fit(fit, problem)
    precision = _precision(matching)
    information = fit.n * family.covariance(weights) + np.diag(precision)
    if even is None:
        return Curvature(information, None, information, finite)
    # The null vectors of a sum of such matrices are those that both have.
    unit = float(even.diagonal().max(initial=0.0)) or 1.0
    return Curvature(information, None, even + np.diag(np.where(precision > 0, unit, 0.0)), finite)


def base_of(fit: Fit) -> tuple[Any, ...]:
    """Return the base measure of a log-linear model, tables or functions to be multiplied; others have none."""
    return fit.model.base if isinstance(fit.model, LogLinear | LogLinearDensity) else ()


def _precision(matching: FeatureMatching) -> Floats:
    """Return what a Gaussian prior adds to the information of every weight."""
    if not isinstance(matching.penalty, Gaussian):
        return np.zeros(len(matching.names))
    precision: Floats = 1 / matching.widths**2
    return precision


def _given_inputs(fit: Fit, problem: Problem[Features]) -> tuple[FeatureMatching, WeightFamily, Floats | None]:
    setting = ConditionalSetting.of(problem)
    setting = setting if fit.prior is not None else setting.on_extremes()
    family = setting.family
    return setting.matching(), family, family.covariance(np.zeros(family.n_weights))


def _of_all(fit: Fit, problem: Problem[Features]) -> tuple[FeatureMatching, WeightFamily, Floats | None]:
    setting = FeatureSetting.of(problem)
    design = setting.design
    if isinstance(fit.model, LogLinear):
        setting = replace(setting, base=(*setting.base, *factors_over(fit.model.support, design.names)))
    zeros = [Factor(f.scope, (f.values > 0).astype(np.float64)) for f in setting.base if not f.values.all()]
    try:
        family = _family(setting)
        if setting.nodes:  # nodes reach far out, where the density is next to nothing: its own covariance serves better
            even = None
        elif zeros:
            even = _family(replace(setting, base=tuple(zeros))).covariance(np.zeros(design.n_weights))
        else:
            even = uniform_covariance(design.layout, design.matrix)
    except EstimationError as error:
        raise EstimationError(
            "Standard errors come from the covariance of the features, which needs exact expectations, and these are "
            "out of reach. ",
            str(error),
            " What remains is ",
            Remedy("method", "pseudo_likelihood"),
            ", whose standard errors need no more than the rows; the weights alone are fit.model.weights.",
        ) from None
    return setting.matching(), family, even


def _family(setting: FeatureSetting) -> FeatureFamily:
    """Return the family on the joint table where that is moderate: one sum is faster than a calibration a weight."""
    layout, cells = setting.design.layout, math.prod(setting.design.layout.sizes)
    if cells > JOINT_CELLS or cells * max(len(layout.scopes), 1) > MOST_NUMBERS or len(layout.sizes) > MAX_AXES:
        return setting.family
    table = TableFamily(list(setting.design.names), layout.sizes, layout.scopes, setting.base)
    return FeatureFamily(table, setting.design.matrix)


# From information to covariance -------------------------------------------------------------------------------


def _inverted(curvature: Curvature) -> tuple[Floats, list[Relation]]:
    """Return the covariance of all weights, and the relations that leave some of them undetermined."""
    places = np.flatnonzero(curvature.finite)
    found = dependence(curvature.even[np.ix_(places, places)])
    relations = [Relation(tuple(int(places[i]) for i in r.indices), r.coefficients) for r in found.relations]
    held = {i for relation in found.relations for i in relation.indices}
    kept = places[list(found.independent)]
    block = np.ix_(kept, kept)
    inverse = _inverse(curvature.information[block])
    if curvature.score is not None:
        inverse = inverse @ curvature.score[block] @ inverse
    known = np.array([row for row, i in enumerate(found.independent) if i not in held], np.intp)
    covariance = np.full(curvature.information.shape, np.nan)
    covariance[np.ix_(kept[known], kept[known])] = inverse[np.ix_(known, known)]
    return covariance, relations


def _inverse(information: Floats) -> Floats:
    scale = np.sqrt(np.maximum(information.diagonal(), 0.0))
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.linalg.inv(np.linalg.cholesky(information / scale / scale[:, None])) / scale
    except np.linalg.LinAlgError:
        root = np.full_like(information, np.nan)
    if not np.isfinite(root).all():
        raise EstimationError(
            "The Fisher information is singular, so that the data do not determine all weights. Fit fewer features, or "
            "with a prior such as ",
            made("Gaussian", 1.0),
            "; the weights alone are fit.model.weights.",
        )
    inverse: Floats = root.T @ root
    return inverse


# What to say --------------------------------------------------------------------------------------------------


def _basis_remarks(fit: Fit) -> list[str]:
    said = []
    if fit.method == "pseudo_likelihood":
        said.append("standard errors are those of pseudo-likelihood, by the sandwich H⁻¹ J H⁻¹")
    elif fit.prior is not None:
        said.append(
            "standard errors are posterior standard deviations by Laplace's approximation, the penalty's curvature "
            "included"
        )
    if fit.method == "stochastic":
        said.append(
            "standard errors are those of maximum likelihood; the weights have a Monte-Carlo error beside it, which "
            "the certificate tells"
        )
    if not fit.certificate.ok:
        said.append("the fit is not certified, and standard errors are those of an optimum")
    return said


def _hole_remarks(names: tuple[str, ...], estimate: Floats, relations: list[Relation]) -> list[str]:
    """Say which weights have no standard error, and why."""
    said = []
    infinite = [names[i] for i in np.flatnonzero(~np.isfinite(estimate))]
    if infinite:
        said.append(f"no standard errors where weights ran away: {_named(infinite)}")
    held = {i for relation in relations for i in relation.indices}
    if held:
        bracketed = [f"[{name}]" for name in names]
        said.append(
            f"{plural(len(held), 'weight')} without standard errors: by {plural(len(relations), 'relation')} between "
            f"the features they are not determined by themselves: {_named(describe(r, bracketed) for r in relations)}"
        )
    return said


def _named(texts: Iterable[str]) -> str:
    listed = list(texts)
    more = f"; and {len(listed) - SHOWN:,} more" if len(listed) > SHOWN else ""
    return "; ".join(listed[:SHOWN]) + more
