"""The coefficients of a softmax regression, each with its standard error, as statisticians print them.

The inverse of the observed information, −∂²ℓ at the maximum, is the covariance of the estimates in large samples. The
ratio of an estimate to its standard error is then standard normal if the coefficient is zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.frame import to_native
from suffice.data.table import Weights, open_table
from suffice.errors import ArgumentError, EstimationError, Mention, made, require_fraction
from suffice.learn.softmax_design import SoftmaxDesign
from suffice.learn.softmax_passes import Hessian, SoftmaxPoint, run
from suffice.models.basis import Linear
from suffice.models.softmax_model import SoftmaxModel
from suffice.result.goodness import p_text
from suffice.result.wald_columns import WaldColumns
from suffice.settings import one_blas_thread
from suffice.stats.needs import Count
from suffice.stats.source import BlockSource
from suffice.text import fixed, html_table, number, plain_table
from suffice.types import Array, Floats, Frame, TableLike
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.result.fit import Fit


INTERCEPT = "(intercept)"
SHOWN_ROWS, SHOWN_CLASSES = 60, 4
MOST = 6000
"""Coefficients up to which the information is inverted."""


@dataclass(frozen=True, eq=False)
class SoftmaxCoefficients(WaldColumns):
    """Log-odds of every class against the reference, by term.

    Attributes
    ----------
    target : str
    reference : label
        The class that the others are compared with.
    classes : tuple of label
        The class that a row belongs to.
    terms : tuple of str
        The term that a row belongs to, ``"(intercept)"`` or such as ``"age"`` and ``"race=2"``.
    estimate, se, z, p, lower, upper : arrays, shape (n_rows,)
        The coefficient, its standard error, their ratio, the probability of a larger one if the coefficient were zero,
        and the ends of the interval.
    covariance : array, shape (n_rows, n_rows)
    deviance, null_deviance : float
        −2ℓ of the model, and of one without inputs.
    residual_df, null_df : float
        Rows times classes but one, less the parameters of either.
    level : float
        That of the intervals.
    """

    target: str
    reference: Label
    classes: tuple[Label, ...] = field(repr=False)
    terms: tuple[str, ...] = field(repr=False)
    estimate: Floats = field(repr=False)
    covariance: Floats = field(repr=False)
    deviance: float
    null_deviance: float
    residual_df: float
    null_df: float
    level: float

    @property
    def se(self) -> Floats:
        """The standard errors."""
        return np.sqrt(np.diag(self.covariance))

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a coefficient.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        columns: dict[str, Array | Sequence[Label]] = {"class": list(self.classes), "term": list(self.terms)}
        return to_native({**columns, **self._numbers}, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        values = [column[:SHOWN_ROWS] for column in self._numbers.values()]
        rows = []
        for row, (label, term) in enumerate(zip(self.classes[:SHOWN_ROWS], self.terms, strict=False)):
            estimate, se, z, p, lower, upper = (float(column[row]) for column in values)
            numbers = [number(estimate), number(se, 4), fixed(z, 2), p_text(p), number(lower, 5), number(upper, 5)]
            rows.append([str(label), term, *numbers])
        if len(self.terms) > SHOWN_ROWS:
            rows.append([f"… {len(self.terms) - SHOWN_ROWS:,} more rows", *[""] * 7])
        header = ["class", "term", "estimate", "std. error", "z", "p", f"{100 * self.level:.4g} % from", "to"]
        return header, rows, "<<>>>>>>"

    @property
    def _foot(self) -> list[str]:
        return [
            f"log-odds against {self.target}={self.reference}",
            f"deviance {fixed(self.deviance)} on {number(self.residual_df)} df, without inputs "
            f"{fixed(self.null_deviance)} on {number(self.null_df)} df",
        ]

    def __str__(self) -> str:
        return "\n".join([plain_table(*self._cells()), *self._foot])

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption="; ".join(self._foot))


def softmax_coefficients(
    fit: Fit,
    *,
    level: float = 0.95,
    reference: Label | None = None,
    data: TableLike | None = None,
    weights: Weights = None,
) -> SoftmaxCoefficients:
    """Return the coefficients of a softmax regression with standard errors, z, p and intervals.

    Parameters
    ----------
    fit : Fit
        By maximum likelihood.
    level : float
        That of the intervals.
    reference : label, optional
        The class to compare with; that of the structure, or the first, unless named.
    data, weights
        The data of the fit once more. They are needed for large fits, which leave the information out.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.structures.softmax_regression import SoftmaxClasses
    >>> rows = {"dose": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "ill": ["no", "no", "yes", "no", "yes", "yes"]}
    >>> print(softmax_coefficients(sf.fit(SoftmaxClasses("ill", ["dose"]), rows)))
    class  term         estimate  std. error      z       p  95 % from      to
    -----  -----------  --------  ----------  -----  ------  ---------  ------
    yes    (intercept)  -3.03507       2.546  -1.19  0.2332    -8.0246  1.9544
    yes    dose          1.21403      0.9126   1.33  0.1834   -0.57461  3.0027
    log-odds against ill=no
    deviance 4.9560 on 4 df, without inputs 8.3178 on 5 df
    """
    require_fraction("level", level)
    model: SoftmaxModel = fit.model
    _require_maximum(fit)
    target = model.target
    named = reference if reference is not None else fit.structure.reference
    base = 0 if named is None else target.code(named)
    others = [code for code in range(target.n_states) if code != base]
    intercept = bool(fit.structure.intercept)
    counts = np.asarray(fit.statistics[Count((target.name,))].table(), np.float64)
    information = model.information if data is None else _information(model, counts, data, weights)
    if information is None:
        raise ArgumentError(
            "Standard errors need the second derivatives of the likelihood, which a fit of this size leaves out. ",
            Mention("the data once more", "Pass the data once more: data=…"),
            ".",
        )
    covariance = _covariance(information, others, len(model.terms), intercept)
    estimate = np.concatenate([model.intercept[None], model.weights])
    estimate = (estimate[:, others] - estimate[:, [base]]).T
    moved = _uncentred(model)
    estimate, covariance = _moved(estimate, covariance, moved, intercept)
    names = [*([INTERCEPT] if intercept else []), *(str(term) for term in model.terms)]
    rows = list(itertools.product(others, names))
    free = len(others)
    return SoftmaxCoefficients(
        target=target.name,
        reference=target.labels[base],
        classes=tuple(target.labels[code] for code, _ in rows),
        terms=tuple(name for _, name in rows),
        estimate=estimate.reshape(-1),
        covariance=covariance,
        deviance=-2 * fit.log_likelihood,
        null_deviance=_null_deviance(counts, intercept),
        residual_df=free * fit.n - len(rows),
        null_df=free * fit.n - free * int(intercept),
        level=float(level),
    )


def _require_maximum(fit: Fit) -> None:
    if not isinstance(fit.model, SoftmaxModel):
        raise ArgumentError(
            "These coefficients are those of a softmax regression. Got a fit of "
            f"{type(fit.structure).__name__} instead."
        )
    if fit.prior is not None:
        raise EstimationError(
            "Standard errors are those of maximum likelihood; ",
            Mention("under a prior", "under a prior"),
            ", estimates are pulled towards zero on purpose. ",
            Mention("without a prior", "Fit without a prior"),
            ", on the inputs that matter.",
        )
    if fit.certificate.exists == "no":
        raise EstimationError(
            "The maximum-likelihood estimate does not exist, since inputs separate the classes, so that coefficients "
            "run away and have no standard errors. Leave an input out; ",
            Mention("such a prior", "a prior such as "),
            made("Gaussian", 10),
            " keeps them finite.",
        )


def _information(model: SoftmaxModel, counts: Floats, data: TableLike, weights: Weights) -> Floats:
    """Return the second derivatives of −ℓ, by a pass over the data, whose classes must be those of the fit."""
    known = {variable.name: variable for variable in model.inputs}
    design = SoftmaxDesign(model.terms, model.target, known, model.centre)
    task = Hessian(
        design, SoftmaxPoint(np.ascontiguousarray(model.weights.T), np.array(model.intercept)), int(np.argmax(counts))
    )
    source = BlockSource(open_table(data, model.variables, schema=model.schema, weights=weights))
    need = Count((model.target.name,))
    found = np.asarray(source.gather([need])[need].table(), np.float64)
    if not np.allclose(found, counts, rtol=1e-9, atol=0):
        raise ArgumentError(
            Mention("data of the fit", "The 'data' argument must be the data of the fit"),
            ", of which standard errors are made. The fit saw "
            f"{_counted(model, counts)}; got {_counted(model, found)} instead.",
        )
    with one_blas_thread():
        return task.completed(*run(source, task))


def _counted(model: SoftmaxModel, counts: Floats) -> str:
    """Say how many rows some classes have."""
    named = [f"{number(m)} of {label!r}" for label, m in zip(model.target.labels, counts.tolist(), strict=True)]
    return ", ".join([*named[:SHOWN_CLASSES], *(["…"] if len(named) > SHOWN_CLASSES else [])])


def _covariance(information: Floats, others: list[int], n_terms: int, intercept: bool) -> Floats:
    """Return the inverse of the information of some classes, the parameters of the other being zero."""
    first = 0 if intercept else 1
    kept = [code * (n_terms + 1) + place for code in others for place in range(first, n_terms + 1)]
    if len(kept) > MOST:
        raise ArgumentError(
            f"The information of {len(kept):,} coefficients is too large to be inverted; at most {MOST:,} are allowed. "
            "The coefficients alone are ",
            Mention("fit.model.weights", "fit.model.weights"),
            ".",
        )
    inner = information[np.ix_(kept, kept)]
    size = np.sqrt(np.maximum(np.diag(inner), 1e-300))
    try:
        root = np.linalg.inv(np.linalg.cholesky(inner / size / size[:, None]))
    except np.linalg.LinAlgError:
        raise EstimationError(
            "The information is singular, so that the data do not determine all coefficients. Leave an input out, or "
            "pass ",
            Mention("such a prior", "a prior such as "),
            made("Gaussian", 10),
            ".",
        ) from None
    found: Floats = (root.T @ root) / size / size[:, None]
    return found


def _uncentred(model: SoftmaxModel) -> Floats:
    """Return what an intercept loses for every unit of a weight when inputs are not centred; shape (T,)."""
    return np.array([model.centre.get(t.name, 0.0) if isinstance(t, Linear) else 0.0 for t in model.terms])


def _moved(estimate: Floats, covariance: Floats, shift: Floats, intercept: bool) -> tuple[Floats, Floats]:
    """Return estimates and covariance with intercepts at zero instead of the centre."""
    if not intercept:
        return estimate[:, 1:], covariance
    step = np.eye(estimate.shape[1])
    step[0, 1:] = -shift
    jacobian = np.kron(np.eye(len(estimate)), step)
    return estimate @ step.T, jacobian @ covariance @ jacobian.T


def _null_deviance(counts: Floats, intercept: bool) -> float:
    if not intercept:
        return float(2 * counts.sum() * np.log(len(counts)))
    return float(-2 * (counts * np.log(counts / counts.sum())).sum())
