"""Wald's table: every u-term with its standard error, as statisticians print coefficients.

The Fisher information of N rows is N · Cov(f), f being the statistics of the u-terms in orthonormal coordinates β of
the tables that sum to zero; its inverse is the covariance of β, and the terms are linear in β.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.frame import to_native
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, EstimationError, Mention, made, require_choice, require_fraction
from suffice.inference.clique_family import family_of
from suffice.inference.interactions import Interactions
from suffice.models.clique_layout import factors_over, layout_of
from suffice.models.u_terms import CONSTRAINTS
from suffice.priors.penalty import Gaussian, Penalty
from suffice.priors.pseudo_margins import pseudo_margin
from suffice.result.goodness import p_text
from suffice.result.wald_columns import WaldColumns
from suffice.text import fixed, html_table, number, plain_table, shorten
from suffice.types import Array, Floats, Frame
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.result.fit import Fit


MAX_FREE = 3000
"""Matrices of so many free parameters squared are inverted at most."""
MAX_COVARIANCE = 6000
SHOWN_ROWS = 60


@dataclass(frozen=True, eq=False)
class WaldTable(WaldColumns):
    """The u-terms of a fit, each with its standard error and what follows from it.

    Attributes
    ----------
    terms : tuple of tuple of str
        The variables of the term that a row belongs to.
    states : tuple of tuple of label
        The states of these variables.
    estimate, se, z, p, lower, upper : arrays, shape (n_rows,)
        The term, its standard error, their ratio, the probability of a larger ratio if the term were zero, and the ends
        of the interval ``estimate ± quantile · se``.
    constant : float
        log N − log Z, which makes the expected counts add up to N; it is no free parameter.
    constraint : {"sum", "corner"}
        Under ``"corner"``, the rows of first states are left out, being zero by definition.
    level : float
        That of the intervals.
    remarks : tuple of str
        What to know before using the numbers.
    """

    terms: tuple[tuple[str, ...], ...] = field(repr=False)
    states: tuple[tuple[Label, ...], ...] = field(repr=False)
    estimate: Floats = field(repr=False)
    se: Floats = field(repr=False)
    constant: float
    constraint: str
    level: float
    remarks: tuple[str, ...]
    _jacobian: Any = field(repr=False)
    _coordinates: Floats = field(repr=False)

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the estimates, in the order of the rows; singular under ``"sum"``, where they add to 0."""
        if len(self.terms) > MAX_COVARIANCE:
            raise ArgumentError(
                f"The covariance of {len(self.terms):,} rows is a matrix of {len(self.terms) ** 2:,} numbers; at most "
                f"{MAX_COVARIANCE:,} rows are allowed. Use the standard errors, or constraint='corner', with fewer."
            )
        matrix: Floats = self._jacobian @ (self._jacobian @ self._coordinates).T
        matrix.flags.writeable = False
        return matrix

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a number: the term, its states, estimate, se, z, p, lower and upper.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        columns: dict[str, Array | Sequence[Label]] = {
            "term": [":".join(term) for term in self.terms],
            "states": [":".join(map(str, states)) for states in self.states],
        }
        return to_native({**columns, **self._numbers}, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        values = [column[:SHOWN_ROWS] for column in self._numbers.values()]
        rows = []
        for row, (term, states) in enumerate(zip(self.terms[:SHOWN_ROWS], self.states, strict=False)):
            estimate, se, z, p, lower, upper = (float(column[row]) for column in values)
            # Plain tables cut names at the end, where states differ; so each half is cut by itself.
            name = [shorten(":".join(term), 36), shorten(":".join(map(str, states)), 36)]
            rows.append([*name, fixed(estimate), fixed(se), fixed(z, 2), p_text(p), fixed(lower), fixed(upper)])
        if len(self.terms) > SHOWN_ROWS:
            rows.append([f"… {len(self.terms) - SHOWN_ROWS:,} more rows", *[""] * 7])
        header = ["term", "states", "u", "std. error", "z", "p", f"{100 * self.level:.4g} % from", "to"]
        return header, rows, "<<>>>>>>"

    @property
    def _foot(self) -> list[str]:
        return [f"constant {number(self.constant)}; {CONSTRAINTS[self.constraint]}", *self.remarks]

    def __str__(self) -> str:
        foot = (textwrap.wrap(line, 100, subsequent_indent="  ") for line in self._foot)
        return "\n".join([plain_table(*self._cells()), *itertools.chain.from_iterable(foot)])

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption="; ".join(self._foot))


def wald_table(fit: Fit, constraint: str, level: float) -> WaldTable:
    """Return the u-terms of a fit with their standard errors; see `CliquesFit.u_terms`."""
    require_choice("constraint", constraint, tuple(CONSTRAINTS))
    require_fraction("level", level)
    _require_finite_terms(fit)
    if not fit.statistics.n_read and fit.n > 0:
        raise ArgumentError(
            "Target margins given by hand have no sampling error, so that u-terms have no standard errors. The terms "
            "alone are fit.model.u_terms()."
        )
    schema = fit.model.schema
    if fit.n_free > MAX_FREE:
        raise ArgumentError(
            f"The model has {fit.n_free:,} free parameters, and standard errors are given for up to {MAX_FREE:,}. "
            "The terms alone are fit.model.u_terms()."
        )
    layout = layout_of(fit.structure, schema)
    interactions = Interactions(layout)
    factors = factors_over(fit.model.factors, fit.structure.variables)
    theta = np.log(layout.flat([factor.values for factor in factors[: len(layout.scopes)]]))
    point = family_of(fit.structure.variables, layout.sizes, layout.scopes, factors[len(layout.scopes) :]).at(theta)
    total, curvature, remarks = _information_of_prior(fit, interactions)
    if not fit.certificate.ok:
        remarks = (*remarks, "the fit is not certified, and standard errors are those of an optimum")
    coordinates = _inverse(total * interactions.covariance(point) + np.diag(curvature))  # eq wald
    constant, tables = interactions.of(theta, constraint)
    corner = constraint == "corner"
    terms, states = _rows(interactions, schema.variables, corner)
    values = [(table[(slice(1, None),) * table.ndim] if corner else table).reshape(-1) for table in tables]
    jacobian = corner_jacobian(interactions) if corner else _block_diagonal(interactions.bases)
    return WaldTable(
        terms,
        states,
        np.concatenate([*values, np.zeros(0)]),
        _standard_errors(interactions, coordinates, jacobian if corner else None),
        constant + math.log(fit.n) - point.log_z if fit.n > 0 else -math.inf,
        constraint,
        float(level),
        remarks,
        jacobian,
        coordinates,
    )


def _require_finite_terms(fit: Fit) -> None:
    zeros = any((table.values == 0).any() for table in fit.model.factors[: len(fit.structure.cliques)])
    if fit.certificate.exists == "no" or zeros:
        raise EstimationError(
            "The estimate lies on the boundary, so that some u-terms are infinite and have no standard errors: "
            f"{fit.certificate.boundary or 'potentials are zero'}. Fit a smaller model, or with a prior such as ",
            made("Gaussian", 1.0),
            ".",
        )
    if isinstance(fit.prior, Penalty) and not isinstance(fit.prior, Gaussian):
        raise EstimationError(
            f"The penalty {fit.prior.describe()} has a kink at zero, where the curvature that standard errors come "
            "from does not exist. Fit with ",
            Mention("Gaussian", "sf.Gaussian(…)"),
            ", or again without a prior on the cliques that were kept.",
        )


def _information_of_prior(fit: Fit, interactions: Interactions) -> tuple[float, Floats, tuple[str, ...]]:
    """Return the rows that the information counts, what the prior's curvature adds to it, and what to say of it."""
    none = np.zeros(interactions.n_free)
    if fit.prior is None:
        return fit.n, none, ()
    laplace = "standard errors are posterior standard deviations by Laplace's approximation"
    if isinstance(fit.prior, Gaussian):
        tables = [np.zeros(interactions.shape(term)) for term in interactions.terms]
        curvature = [1 / width**2 for width in fit.prior.widths(tables)]
        return fit.n, np.repeat(curvature, interactions.widths), (f"{laplace}, the penalty's curvature included",)
    ess = float(pseudo_margin(fit.prior, [fit.model.schema[name] for name in fit.structure.cliques[0]]).sum())
    return fit.n + ess, none, (f"{laplace}, with N + {number(ess)} rows, pseudo-counts included",)


def _inverse(information: Floats) -> Floats:
    try:
        root = np.linalg.inv(np.linalg.cholesky(information))
    except np.linalg.LinAlgError:
        raise EstimationError(
            "The Fisher information is singular, so that the data do not determine all u-terms. Fit a smaller model, "
            "or with a prior such as ",
            made("Gaussian", 1.0),
            ".",
        ) from None
    inverse: Floats = root.T @ root
    return inverse


# From coordinates to terms ------------------------------------------------------------------------------------


def _rows(interactions: Interactions, variables: tuple[Variable, ...], corner: bool) -> tuple[Any, Any]:
    """Return the variables and the states of every row."""
    terms: list[tuple[str, ...]] = []
    states: list[tuple[Label, ...]] = []
    for term in interactions.terms:
        found = list(itertools.product(*(variables[v].labels[1 if corner else 0 :] for v in term)))
        states += found
        terms += [tuple(variables[v].name for v in term)] * len(found)
    return tuple(terms), tuple(states)


def _block_diagonal(bases: list[Floats]) -> Any:
    from scipy.sparse import block_diag, csr_matrix

    return csr_matrix(block_diag(bases))


def corner_jacobian(interactions: Interactions) -> Floats:
    """Return the derivative of the corner-constrained terms by the coordinates; shape (n_free, n_free).

    A term's table that sums to zero has the corner parts ⊗ (x ↦ β(x) − β(first)) over the variables of a part, and
    ⊗ (β(first)) over the others.
    """
    position = {term: number for number, term in enumerate(interactions.terms)}
    starts = np.concatenate([[0], np.cumsum(interactions.widths)])
    contrasts: Mapping[int, Floats] = {term[0]: interactions.bases[n] for term, n in position.items() if len(term) == 1}
    matrix = np.zeros((interactions.n_free, interactions.n_free))
    for term, column in position.items():
        for n in range(1, len(term) + 1):
            for part in itertools.combinations(term, n):
                row = position[part]
                pieces = [contrasts[v][1:] - contrasts[v][:1] if v in part else contrasts[v][:1] for v in term]
                block: Array = np.ones((1, 1))
                for piece in pieces:
                    block = np.kron(block, piece)
                matrix[starts[row] : starts[row + 1], starts[column] : starts[column + 1]] += block
    return matrix


def _standard_errors(interactions: Interactions, coordinates: Floats, jacobian: Floats | None) -> Floats:
    if jacobian is not None:
        errors: Floats = np.sqrt(((jacobian @ coordinates) * jacobian).sum(axis=1))
        return errors
    starts = np.concatenate([[0], np.cumsum(interactions.widths)])
    found = [np.zeros(0)]
    for basis, start, end in zip(interactions.bases, starts[:-1], starts[1:], strict=True):
        block = coordinates[start:end, start:end]
        found.append(np.sqrt(((basis @ block) * basis).sum(axis=1)))
    return np.concatenate(found)
