"""Standard errors from the observed information, for fits to incomplete rows.

The information of what was observed is minus the derivative of the observed score. The score is that of complete rows
at the statistics that the model expects (Fisher's identity), so its derivative is found by central differences of one
E-step each; gaps in the data thereby widen the errors by as much as they hide.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.frame import to_native
from suffice.data.latent import LatentTable
from suffice.data.stream import KEEP
from suffice.data.table import Weights, open_table
from suffice.errors import ArgumentError, EstimationError, Passed, StatisticsError, require_fraction
from suffice.families.choice import methods_for
from suffice.learn.method import Problem
from suffice.models.bayes_net import BayesianNetwork
from suffice.result.observed_blocks import Normals, blocks_of_network, network_at
from suffice.result.observed_tables import Parameter, ParameterBlock
from suffice.stats.available import CheckedSource
from suffice.structures.dag import DAG
from suffice.structures.single import MultivariateNormal
from suffice.structures.structure import public_name
from suffice.text import html_table, number, plain_table, plural
from suffice.types import Array, Floats, Frame, TableLike
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.result.fit import Fit


MAX_FREE = 1000
"""Every free parameter costs two E-steps."""
STEP = 1e-4
"""The half of a central difference, in units of the coordinates."""
SINGULAR = 1e-6
"""Directions whose information is less than this, all parameters being scaled to one, are not determined."""
SHOWN_ROWS = 60


def require_complete(fit: Fit, what: str, instead: str) -> None:
    """Refuse what is known of complete rows only: expected statistics look like more data than there are."""
    if fit.starts:
        raise StatisticsError(f"{what} are known of complete rows, and this fit is to rows that lack values. {instead}")


@dataclass(frozen=True, eq=False)
class ObservedErrors:
    """The parameters of a fit to incomplete rows, each with its standard error and interval.

    Attributes
    ----------
    nodes, given, parameters : tuple of str
        Where a number belongs: its node, the configuration of the parents, and the state, parent or moment.
    estimate, se, lower, upper : arrays, shape (n_rows,)
        NaN where the data do not determine a number, or it lies on the boundary; ``remarks`` say which. Intervals are
        symmetric in the log-odds of probabilities and in the logarithm of variances.
    covariance : array, shape (n_rows, n_rows)
        That of the estimates; NaN as the standard errors are.
    level : float
    remarks : tuple of str
    """

    nodes: tuple[str, ...] = field(repr=False)
    given: tuple[str, ...] = field(repr=False)
    parameters: tuple[str, ...] = field(repr=False)
    scales: tuple[str, ...] = field(repr=False)
    estimate: Floats = field(repr=False)
    covariance: Floats = field(repr=False)
    level: float
    remarks: tuple[str, ...]

    @property
    def se(self) -> Floats:
        """The standard errors."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def lower(self) -> Floats:
        """The lower ends of the intervals."""
        return self._end(-1.0)

    @property
    def upper(self) -> Floats:
        """The upper ends of the intervals."""
        return self._end(1.0)

    def _end(self, sign: float) -> Floats:
        from scipy.special import expit, logit, ndtri

        quantile, se, value = sign * float(ndtri((1 + self.level) / 2)), self.se, self.estimate
        odds, log = np.array(self.scales) == "odds", np.array(self.scales) == "log"
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            by_odds = expit(logit(np.where(odds, value, 0.5)) + quantile * se / (value * (1 - value)))
            by_log = value * np.exp(quantile * se / value)
            ends: Floats = np.where(odds, by_odds, np.where(log, by_log, value + quantile * se))
        return np.where(np.isnan(se), np.nan, ends)

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a parameter.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        columns: dict[str, Array | Sequence[Label]] = {
            "node": list(self.nodes),
            "given": list(self.given),
            "parameter": list(self.parameters),
        }
        return to_native(
            {**columns, "estimate": self.estimate, "se": self.se, "lower": self.lower, "upper": self.upper}, backend
        )

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        se, lower, upper = self.se, self.lower, self.upper
        rows = []
        for row in range(min(len(self.nodes), SHOWN_ROWS)):
            name = [self.nodes[row], self.given[row], self.parameters[row]]
            values = [_text(self.estimate[row], 6), _text(se[row], 4), _text(lower[row], 5), _text(upper[row], 5)]
            rows.append([*name, *values])
        if len(self.nodes) > SHOWN_ROWS:
            rows.append([f"… {len(self.nodes) - SHOWN_ROWS:,} more rows", *[""] * 6])
        header = ["node", "given", "parameter", "estimate", "std. error", f"{100 * self.level:.4g} % from", "to"]
        kept = [column for column in range(7) if column != 1 or any(self.given)]
        return [header[c] for c in kept], [[row[c] for c in kept] for row in rows], "".join("<<<>>>>"[c] for c in kept)

    def __str__(self) -> str:
        foot = (textwrap.wrap(line, 100, subsequent_indent="  ") for line in self.remarks)
        return "\n".join([plain_table(*self._cells()), *itertools.chain.from_iterable(foot)])

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption="; ".join(self.remarks))


def _text(value: float, digits: int) -> str:
    return number(None if np.isnan(value) else float(value), digits)


def observed_errors(
    fit: Fit, data: TableLike, *, weights: Weights = None, unknown_states: str = "error", level: float = 0.95
) -> ObservedErrors:
    """Return every parameter with its standard error; see `suffice.Fit.standard_errors`."""
    require_fraction("level", level)
    _require_known(fit)
    expectation = _expectation(fit, data, weights, unknown_states)
    log_likelihood, vector = expectation.at(fit.model)
    if not abs(log_likelihood - fit.log_likelihood) <= 1e-6 * max(1.0, abs(fit.log_likelihood)):
        raise ArgumentError(
            "The 'data' argument must be the data of the fit, of which standard errors are made. The fit saw a "
            f"log-likelihood of {fit.log_likelihood:.6f}; these data have {log_likelihood:.6f}."
        )
    blocks = _blocks(fit, expectation.statistics(vector))
    sizes = [block.size for block in blocks]
    if sum(sizes) > MAX_FREE:
        raise ArgumentError(
            f"The model has {sum(sizes):,} free parameters, and standard errors from the observed information are "
            f"given for up to {MAX_FREE:,}. For single nodes of a smaller network, fit that."
        )
    information = _information(fit, expectation, blocks)
    inverse, null, below = _inverse(information)
    return _table(fit, blocks, inverse, null, below, float(level))


def _require_known(fit: Fit) -> None:
    """Refuse fits whose observed information is not known here."""
    structure = fit.structure
    method = methods_for(structure).get(fit.method)
    if method is None or not method.incomplete:
        raise ArgumentError(
            "Standard errors from the observed information are those of fits to incomplete rows, sf.fit(…, ",
            Passed("missing", "em"),
            f"). This fit is by {fit.method!r}; complete fits have fit.coefficients(node), "
            "fit.u_terms(), fit.weights(), or intervals of their posterior.",
        )
    if not isinstance(fit.model, BayesianNetwork) and not isinstance(structure, MultivariateNormal):
        raise ArgumentError(
            "Standard errors of fits to incomplete rows are given for sf.DAG, sf.Normal and sf.MultivariateNormal. "
            f"This fit is of {public_name(type(structure))}."
        )
    if isinstance(structure, MultivariateNormal) and fit.prior is not None:
        raise EstimationError(
            "Standard errors of a normal distribution are those of maximum likelihood. Fit without a prior for them."
        )


def _expectation(fit: Fit, data: TableLike, weights: Weights, unknown_states: str) -> Any:
    """Open the data once more, and return the E-step on them."""
    structure = fit.structure
    method = methods_for(structure)[fit.method]
    table: Any = open_table(
        data,
        structure.columns,
        schema=fit.statistics.schema.select(structure.columns),
        continuous=structure.continuous,
        weights=weights,
        missing=KEEP,
        unknown_states=unknown_states,
    )
    if latent := dict(structure.latent):
        table = LatentTable.of(table, latent)
    source = CheckedSource(table)
    statistics = source.gather(method.needs(structure, source.schema))
    settled = source.settled(statistics.schema)
    assert method.expectation is not None
    return method.expectation(Problem(structure, statistics, prior=fit.prior, point=fit.point, source=settled))


def _blocks(fit: Fit, expected: Any) -> list[ParameterBlock]:
    if isinstance(fit.structure, MultivariateNormal):
        return [Normals(fit.model)]
    return blocks_of_network(fit, expected, bool(fit.certificate.ok))


def _information(fit: Fit, expectation: Any, blocks: list[ParameterBlock]) -> Floats:
    """Return minus the derivative of the score, by central differences."""
    sizes = [block.size for block in blocks]
    ends, n = np.cumsum([0, *sizes]), sum(sizes)

    def score(step: Floats) -> Floats:
        steps = [step[low:high] for low, high in itertools.pairwise(ends.tolist())]
        model = network_at(fit, blocks, steps) if isinstance(fit.structure, DAG) else blocks[0].moved(step)
        expected = expectation.statistics(expectation.at(model)[1])
        return np.concatenate([np.zeros(0), *(block.score(expected) for block in blocks)])

    found = np.empty((n, n))
    for k in range(n):
        step = np.zeros(n)
        step[k] = STEP
        found[:, k] = (score(-step) - score(step)) / (2 * STEP)
    information: Floats = (found + found.T) / 2
    return information


def _inverse(information: Floats) -> tuple[Floats, Floats, int]:
    """Return the inverse on what the data determine, a basis of what they do not, and how many directions go up.

    Directions are looked at with every coordinate scaled to an information of one.
    """
    size = np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-300))
    values, vectors = np.linalg.eigh(information / size / size[:, None])
    known = values > SINGULAR
    scaled = vectors / size[:, None]
    inverse: Floats = (scaled[:, known] / values[known]) @ scaled[:, known].T
    return inverse, scaled[:, ~known], int(np.count_nonzero(values < -SINGULAR))


def _table(
    fit: Fit, blocks: list[ParameterBlock], inverse: Floats, null: Floats, below: int, level: float
) -> ObservedErrors:
    """Carry the covariance of the coordinates over to the parameters."""
    parameters: list[Parameter] = [parameter for block in blocks for parameter in block.parameters]
    jacobian = np.zeros((len(parameters), len(inverse)))
    row = column = 0
    for block in blocks:
        mine = block.jacobian
        jacobian[row : row + len(mine), column : column + mine.shape[1]] = mine
        row, column = row + len(mine), column + mine.shape[1]
    covariance = jacobian @ inverse @ jacobian.T
    lost = np.abs(jacobian @ null).max(axis=1, initial=0.0)
    reach = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    open_ = lost > 1e-3 * np.maximum(reach, 1e-300)
    without = np.array([bool(parameter.why) for parameter in parameters])
    covariance[without | open_] = np.nan
    covariance[:, without | open_] = np.nan
    return ObservedErrors(
        tuple(parameter.node for parameter in parameters),
        tuple(parameter.given for parameter in parameters),
        tuple(parameter.name for parameter in parameters),
        tuple(parameter.scale for parameter in parameters),
        np.array([parameter.value for parameter in parameters]),
        covariance,
        level,
        tuple(_remarks(fit, parameters, open_ & ~without, below)),
    )


def _remarks(fit: Fit, parameters: list[Parameter], open_: NDArray[np.bool_], below: int) -> Any:
    """Say what to know before using the numbers."""
    if not fit.certificate.ok:
        yield "the fit is not certified, and standard errors are those of an optimum"
    if fit.prior is not None:
        yield "standard errors are posterior standard deviations by Laplace's approximation, pseudo-counts included"
    for why in dict.fromkeys(parameter.why for parameter in parameters if parameter.why):
        n = sum(parameter.why == why for parameter in parameters)
        yield f"{plural(n, 'number')} without a standard error: {why}"
    if open_.any():
        first = parameters[int(np.argmax(open_))]
        where = f"{first.node}, {first.name}"
        yield (
            f"{plural(int(open_.sum()), 'number')} without a standard error: the information is singular, so the data "
            f"do not determine them (first: {where})"
        )
    if below:
        yield (
            f"the likelihood rises along {plural(below, 'direction')} from here, so the fit is a saddle point and no "
            "maximum; begin elsewhere: restarts=5"
        )
