"""The conjugate prior of linear-Gaussian nodes, regression by regression.

σ² ~ InverseGamma(shape, scale),   β | σ² ~ N(m, σ² Λ⁻¹),   β = (intercept, slopes)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from suffice.errors import ArgumentError, EstimationError, is_number, listing, made, shown
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.linear_gaussian_prior import PseudoByRow, RegressionPseudo
from suffice.priors.point_posterior import PointPosterior
from suffice.priors.prior import ComparedByContent, ConjugatePrior
from suffice.priors.regression_posterior import RegressionPosterior
from suffice.stats.moments import Moments
from suffice.text import plural
from suffice.types import Floats

OfNode = float | Sequence[float] | Sequence[Sequence[float]] | Floats
"""What may be given for one node: a number, a list or a matrix."""
T = TypeVar("T")
LARGEST = 1e100
"""The largest number of a prior, so that sums and products of a few stay finite."""


class RegressionPrior(ConjugatePrior):
    """What the priors of linear-Gaussian nodes share; a subclass gives the prior of a family's regressions."""

    kinds: ClassVar[tuple[str, ...]] = ("linear_gaussian",)

    def regression(self, family: NodeFamily) -> RegressionPseudo:
        """Return the prior of a family's regressions."""
        raise TypeError("use one of sf.NormalInverseGamma, sf.BGe")

    def posterior(
        self, kind: str, family: NodeFamily, statistic: Moments, given: Any = None
    ) -> RegressionPosterior | PointPosterior:
        """Return the normal inverse gamma posterior of the node's regressions."""
        if given is not None:
            cpd = LinearGaussianCPD.from_given(family, given)
            return PointPosterior(cpd, cpd.log_likelihood(statistic))
        return RegressionPosterior.from_moments(family, self.regression(family), statistic)

    def pseudo(self, family: NodeFamily, point: str) -> RegressionPseudo:
        """Return what the prior adds to the data of a family, for the proof of the estimate ``point``."""
        prior = self.regression(family)
        return RegressionPseudo(**{**vars(prior), "point": point})


@dataclass(frozen=True, init=False, eq=False, repr=False)
class NormalInverseGamma(ComparedByContent, RegressionPrior):
    """A conjugate prior on intercept, slopes and variance of every linear-Gaussian node.

    Nodes are independent, and so are the regressions for the configurations of a node's discrete parents. Every
    argument is a number for all nodes, or a mapping that gives every linear-Gaussian node its own.

    Parameters
    ----------
    shape : number or mapping
        a > 0 of σ² ~ InverseGamma(a, b): the prior of the variance counts like 2a rows. For a > 1 the prior mean of
        the variance is b / (a − 1).
    scale : number or mapping
        b > 0, in the squared units of the child.
    mean : number or mapping
        The prior mean of the intercept, slopes being centred at zero; for a node also the list (intercept, slopes), in
        the order of its continuous parents.
    precision : number or mapping
        How many rows the prior of a coefficient counts for, were its column one of ±1: a coefficient has the prior
        variance σ² / precision. For a node also a list (intercept, slopes), or the whole matrix Λ.
    intercept_precision : number or mapping, optional
        The same of the intercept, where it differs from that of slopes. Zero leaves it free: its prior is flat, and
        there is no marginal likelihood.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
    >>> fit = sf.fit(sf.DAG("dose -> effect"), data, prior=sf.NormalInverseGamma(2, 1.0))
    >>> fit.certificate.ok
    True
    >>> print(fit.model.cpd("effect"))
    p(effect | dose)
    intercept     dose       sd
    ---------  -------  -------
            1  1.83333  1.08653
    """

    shape: float | dict[str, float]
    scale: float | dict[str, float]
    mean: float | dict[str, float | Floats]
    precision: float | dict[str, float | Floats]
    intercept_precision: float | dict[str, float] | None

    def __init__(
        self,
        shape: float | Mapping[str, float],
        scale: float | Mapping[str, float],
        mean: float | Mapping[str, OfNode] = 0.0,
        precision: float | Mapping[str, OfNode] = 1.0,
        intercept_precision: float | Mapping[str, float] | None = None,
    ) -> None:
        object.__setattr__(self, "shape", _by_node("shape", shape, _positive))
        object.__setattr__(self, "scale", _by_node("scale", scale, _positive))
        object.__setattr__(self, "mean", _by_node("mean", mean, _mean))
        object.__setattr__(self, "precision", _by_node("precision", precision, _precision))
        free = None if intercept_precision is None else _by_node("intercept_precision", intercept_precision, _weight)
        object.__setattr__(self, "intercept_precision", free)

    @property
    def _arguments(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "scale": self.scale,
            "mean": self.mean,
            "precision": self.precision,
            "intercept_precision": self.intercept_precision,
        }

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that have numbers of their own."""
        named = [node for value in self._arguments.values() if isinstance(value, dict) for node in value]
        return tuple(dict.fromkeys(named))

    def _of(self, argument: str, family: NodeFamily) -> Any:
        value, node = self._arguments[argument], family.child.name
        if not isinstance(value, dict):
            return value
        if node not in value:
            raise ArgumentError(
                f"The {argument!r} argument of the prior gives nothing for node {node!r}; it names {listing(value)}. "
                "Add the node, or give one number for all nodes."
            )
        return value[node]

    def regression(self, family: NodeFamily) -> RegressionPseudo:
        """Return the prior of a family's regressions, its shapes checked."""
        q = len(family.continuous)
        mean = self._of("mean", family)
        m = np.append(mean, np.zeros(q)) if isinstance(mean, float) else _shaped("mean", family, mean, (q + 1,))
        precision, free = self._of("precision", family), self._of("intercept_precision", family)
        shape, scale = self._of("shape", family), self._of("scale", family)
        if isinstance(precision, float):
            weight = precision if free is None else free
            slopes = m[1:]
            return RegressionPseudo(weight, np.zeros(q), precision * np.eye(q), float(m[0]), slopes, shape, scale)
        if free is not None:
            raise ArgumentError(
                f"The 'precision' argument of the prior gives node {family.child.name!r} a list or a matrix, the "
                "intercept's first, so leave out 'intercept_precision' for it."
            )
        if precision.ndim == 1:
            diagonal = _shaped("precision", family, precision, (q + 1,))
            if q and not (diagonal[1:] > 0).all():
                raise _not_definite(family, precision)
            return RegressionPseudo(
                float(diagonal[0]), np.zeros(q), np.diag(diagonal[1:]), float(m[0]), m[1:], shape, scale
            )
        matrix = _shaped("precision", family, precision, (q + 1, q + 1))
        roots = np.sqrt(np.abs(np.diag(matrix)))
        definite = (np.diag(matrix) > 0).all() and np.linalg.eigvalsh(matrix / roots[:, None] / roots)[0] > 1e-12
        if not definite or not np.allclose(matrix, matrix.T, rtol=0, atol=1e-8 * np.abs(matrix).max()):
            raise _not_definite(family, precision)
        pseudo: RegressionPseudo = RegressionPseudo.from_precision((matrix + matrix.T) / 2, m, shape, scale)
        return pseudo

    def __repr__(self) -> str:
        given = {name: value for name, value in self._arguments.items() if value is not None}
        return f"NormalInverseGamma({', '.join(f'{name}={_shown(value)}' for name, value in given.items())})"

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {"type": "NormalInverseGamma", **self._arguments}


@dataclass(frozen=True, eq=False, repr=False)
class NormalInverseGammaRows(ComparedByContent, RegressionPrior):
    """The conjugate prior of one node, other numbers for each configuration of its discrete parents.

    It is what the posterior of earlier data is to further data: `RegressionPosterior.as_prior`. The numbers are those
    of `suffice.models.cpds.linear_gaussian_prior.RegressionPseudo`, one row per configuration.

    Attributes
    ----------
    scope : tuple of str
        The node's parents, and the node.
    weight, level, shape, scale : array, shape (n_rows,)
    centre, slopes : array, shape (n_rows, q)
    scatter : array, shape (n_rows, q, q)
    """

    scope: tuple[str, ...]
    weight: Floats
    centre: Floats
    scatter: Floats
    level: Floats
    slopes: Floats
    shape: Floats
    scale: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "scope", tuple(self.scope))
        for name, values in self._numbers().items():
            frozen = np.array(values, np.float64)
            frozen.flags.writeable = False
            object.__setattr__(self, name, frozen)

    def _numbers(self) -> dict[str, Floats]:
        return {
            "weight": self.weight,
            "centre": self.centre,
            "scatter": self.scatter,
            "level": self.level,
            "slopes": self.slopes,
            "shape": self.shape,
            "scale": self.scale,
        }

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node that the prior is of."""
        return self.scope[-1:]

    def of_kind(self, kind: str, family: NodeFamily) -> NormalInverseGammaRows | None:
        """Return itself for the node that it is of."""
        return self if family.child.name == self.scope[-1] else None

    def rows(self, family: NodeFamily) -> tuple[RegressionPseudo, ...]:
        """Return the prior of every configuration's regression, the family checked."""
        n_rows = math.prod(parent.n_states for parent in family.discrete)
        if family.scope != self.scope or len(self.weight) != n_rows:
            raise ArgumentError(
                f"This prior is that of node {self.scope[-1]!r} with the parents {listing(self.scope[:-1])} and "
                f"{len(self.weight):,} configurations of them. Got node {family.child.name!r} with the parents "
                f"{listing(family.scope[:-1])} and {n_rows:,} configurations; use it for the same node and states."
            )
        q = len(family.continuous)
        return tuple(
            RegressionPseudo(
                float(self.weight[row]),
                self.centre[row].reshape(q),
                self.scatter[row].reshape(q, q),
                float(self.level[row]),
                self.slopes[row].reshape(q),
                float(self.shape[row]),
                float(self.scale[row]),
            )
            for row in range(n_rows)
        )

    def regression(self, family: NodeFamily) -> RegressionPseudo:
        """Return the prior of a family that has one regression only."""
        rows = self.rows(family)
        if len(rows) > 1:
            raise EstimationError(
                f"The prior of node {family.child.name!r} differs between the configurations of its discrete parents, "
                "which this method does not know. Use one prior for all of them, such as ",
                made("NormalInverseGamma", 2, 1.0),
                ".",
            )
        return rows[0]

    def posterior(
        self, kind: str, family: NodeFamily, statistic: Moments, given: Any = None
    ) -> RegressionPosterior | PointPosterior:
        """Return the posterior of the node's regressions, each under its own prior."""
        if given is not None:
            return super().posterior(kind, family, statistic, given)
        return RegressionPosterior.from_rows(family, self.rows(family), statistic)

    def pseudo(self, family: NodeFamily, point: str) -> RegressionPseudo:
        """Return what the prior adds to the data of a family, for the proof of the estimate ``point``."""
        rows = [RegressionPseudo(**{**vars(row), "point": point}) for row in self.rows(family)]
        return rows[0] if len(rows) == 1 else PseudoByRow.of(rows)

    def __repr__(self) -> str:
        return f"NormalInverseGammaRows({self.scope[-1]!r}, {plural(len(self.weight), 'row')})"

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {"type": "NormalInverseGammaRows", "scope": list(self.scope), **self._numbers()}


def _by_node(
    argument: str, value: OfNode | Mapping[str, OfNode], check: Callable[[str, OfNode, bool], T]
) -> T | dict[str, T]:
    """Return a checked value for all nodes, or one by node."""
    if isinstance(value, Mapping):
        return {node: check(f"{argument}[{node!r}]", entry, True) for node, entry in value.items()}
    return check(argument, value, False)


def _number(argument: str, value: OfNode, what: str, suits: Callable[[float], bool]) -> float:
    if not is_number(value) or not (abs(value) <= LARGEST and suits(value)):
        raise ArgumentError(
            f"The {argument!r} argument of the prior must be a {what}, or a mapping from nodes to such. "
            f"Got {shown(value)} instead."
        )
    return float(value)


def _positive(argument: str, value: OfNode, of_node: bool) -> float:
    return _number(argument, value, "positive, finite number", lambda number: number > 0)


def _weight(argument: str, value: OfNode, of_node: bool) -> float:
    return _number(argument, value, "number of zero or more", lambda number: number >= 0)


def _mean(argument: str, value: OfNode, of_node: bool) -> float | Floats:
    if is_number(value) or not of_node:
        return _number(argument, value, "finite number", lambda number: True)
    return _array(argument, value, (1,))


def _precision(argument: str, value: OfNode, of_node: bool) -> float | Floats:
    if is_number(value) or not of_node:
        return _positive(argument, value, of_node)
    return _array(argument, value, (1, 2))


def _array(argument: str, value: OfNode, axes: tuple[int, ...]) -> Floats:
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError):
        array = np.zeros(())
    if array.ndim not in axes or not (np.abs(array) <= LARGEST).all():
        matrix = ", or a matrix of them" if 2 in axes else ""
        raise ArgumentError(
            f"The {argument!r} argument of the prior must be a number, or a list of finite numbers, the intercept's "
            f"first and then one a continuous parent{matrix}. Got {shown(value)} instead."
        )
    array.flags.writeable = False
    return array


def _shaped(argument: str, family: NodeFamily, array: Floats, shape: tuple[int, ...]) -> Floats:
    if array.shape != shape:
        names = ["intercept", *(parent.name for parent in family.continuous)]
        raise ArgumentError(
            f"The '{argument}[{family.child.name!r}]' argument of the prior must have the shape {shape}, in the order "
            f"{listing(names, 12)}. Got shape {array.shape} instead."
        )
    return array


def _not_definite(family: NodeFamily, precision: Floats) -> ArgumentError:
    return ArgumentError(
        f"The 'precision[{family.child.name!r}]' argument of the prior must be positive for every slope, and a matrix "
        f"symmetric and positive definite. Got {shown(precision.tolist())} instead."
    )


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{node}: …' for node in value)}}}"
    return f"{value:g}"
