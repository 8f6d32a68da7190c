"""BGe: one normal–Wishart prior on all variables of a Gaussian network, so that equivalent graphs score alike.

Σ⁻¹ ~ Wishart(α_w, T⁻¹),   μ | Σ ~ N(ν, Σ / α_μ)

The prior of a family follows by conditioning: the child's regression on its q parents has the slopes' prior of a
scatter T_pp along T_pp⁻¹ T_pv, the level's of α_μ rows at ν, and σ² ~ InverseGamma((α_w − d + q + 1)/2, T_{v|p}/2), d
being the number of variables (Geiger and Heckerman, 2002, with the correction of Kuipers, Moffa and Heckerman, 2014).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.errors import ArgumentError, EstimationError, Remedy, is_number, listing, made, shown
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian_prior import RegressionPseudo
from suffice.priors.normal_inverse_gamma import RegressionPrior
from suffice.priors.prior import ComparedByContent
from suffice.stats.needs import Moment
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG
from suffice.types import Floats


@dataclass(frozen=True, init=False, eq=False, repr=False)
class BGe(ComparedByContent, RegressionPrior):
    """Bayesian Gaussian equivalent: a prior on networks whose variables are all continuous.

    Graphs that say the same independences get the same marginal likelihood. The defaults are those of bnlearn.

    Parameters
    ----------
    mean_weight : float
        α_μ > 0: how many rows the prior mean counts for (bnlearn's ``iss.mu``).
    dof : float, optional
        α_w > d − 1, d being the number of variables (bnlearn's ``iss.w``); d + 2 by default.
    mean : number or mapping, optional
        ν, the prior mean of each variable. By default the means of the data, as bnlearn has it: the prior then looks
        at the data, and what follows is the score of a structure rather than a belief from before.
    scale : number, mapping or array, optional
        T: a number for that multiple of the identity, a mapping from variables to numbers for a diagonal matrix, or a
        positive definite matrix: by names, ``{"x": {"x": 2, "y": 1}, "y": {"x": 1, "y": 2}}``, or as an array in the
        order of ``dag.nodes``, which differs between graphs. By default the multiple
        t = α_μ (α_w − d − 1) / (α_μ + 1), which needs α_w > d + 1.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 3.5, 4.5, 7.0]}
    >>> one, other = (sf.fit(sf.DAG(graph), data, prior=sf.BGe()) for graph in ("x -> y", "y -> x"))
    >>> round(one.log_marginal_likelihood, 9) == round(other.log_marginal_likelihood, 9)
    True
    """

    mean_weight: float
    dof: float | None
    mean: Any
    scale: Any

    def __init__(self, mean_weight: float = 1.0, dof: float | None = None, mean: Any = None, scale: Any = None) -> None:
        for name, value in (("mean_weight", mean_weight), ("dof", dof)):
            if not (name == "dof" and value is None) and not (is_number(value) and 0 < value < math.inf):
                raise ArgumentError(
                    f"The {name!r} argument of BGe must be a positive, finite number. Got {shown(value)} instead."
                )
        object.__setattr__(self, "mean_weight", float(mean_weight))
        object.__setattr__(self, "dof", None if dof is None else float(dof))
        object.__setattr__(self, "mean", None if mean is None else _kept("mean", mean, (0,)))
        object.__setattr__(self, "scale", None if scale is None else _kept("scale", scale, (0, 2)))

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that have numbers of their own."""
        named = [node for value in (self.mean, self.scale) if isinstance(value, dict) for node in value]
        return tuple(dict.fromkeys(named))

    def regression(self, family: NodeFamily) -> RegressionPseudo:
        """Refuse: the prior of a family follows from that of the whole network."""
        raise EstimationError(
            f"BGe is a prior on a whole network, so that of node {family.child.name!r} alone is not known. Bind it to "
            "a graph and its statistics first: prior.bound(dag, statistics)."
        )

    def bound(self, dag: DAG, statistics: Statistics) -> BoundBGe:
        """Return the prior of a graph's network, everything that was left open being settled."""
        for node in dag.nodes:
            if statistics.schema[node].is_discrete:
                raise EstimationError(
                    f"BGe is a prior on networks whose variables are all continuous, but {node!r} is discrete. Use ",
                    Remedy("prior", [made("BDeu", 10), made("NormalInverseGamma", 2, 1.0)]),
                    ", which has a part for each.",
                )
        d = len(dag.nodes)
        dof = d + 2.0 if self.dof is None else self.dof
        if not dof > d - 1 or (self.scale is None and not dof > d + 1):
            least = f"{d - 1}, the number of variables less one"
            if self.scale is None:
                least = f"{d + 1}, the number of variables plus one, unless 'scale' is given"
            raise EstimationError(f"The 'dof' of BGe must exceed {least}. Got {dof:g} instead.")
        return BoundBGe(dag.nodes, self.mean_weight, dof, self._mean(dag, statistics), self._scale(dag, dof), self)

    def _mean(self, dag: DAG, statistics: Statistics) -> Floats:
        if self.mean is not None:
            return _vector("mean", self.mean, dag)
        means = [statistics[Moment((node,))] for node in dag.nodes]
        return np.array([float(moments.mean[0]) for moments in means])

    def _scale(self, dag: DAG, dof: float) -> Floats:
        d = len(dag.nodes)
        if self.scale is None:
            return self.mean_weight * (dof - d - 1) / (self.mean_weight + 1) * np.eye(d)
        if isinstance(self.scale, np.ndarray):
            if self.scale.shape != (d, d):
                raise ArgumentError(
                    f"The 'scale' argument of BGe must have the shape {(d, d)}, in the order of the nodes "
                    f"{listing(dag.nodes, 12)}. Got shape {self.scale.shape} instead."
                )
            matrix = self.scale
        elif isinstance(self.scale, dict) and isinstance(next(iter(self.scale.values()), None), dict):
            rows = {node: _vector("scale", row, dag) for node, row in self.scale.items()}
            matrix = np.stack([rows[node] for node in _ordered("scale", rows, dag)])
        else:
            matrix = np.diag(_vector("scale", self.scale, dag))
        roots = np.sqrt(np.abs(np.diag(matrix)))
        definite = (np.diag(matrix) > 0).all() and np.linalg.eigvalsh(matrix / roots[:, None] / roots)[0] > 1e-12
        if not definite or not np.allclose(matrix, matrix.T, rtol=0, atol=1e-8 * np.abs(matrix).max()):
            raise ArgumentError(
                "The 'scale' argument of BGe must be symmetric and positive definite. "
                f"Got {shown(matrix.tolist())} instead."
            )
        return (matrix + matrix.T) / 2

    def __repr__(self) -> str:
        dof = "d + 2" if self.dof is None else f"{self.dof:g}"
        mean = "that of the data" if self.mean is None else _shown(self.mean)
        scale = "" if self.scale is None else f", scale={_shown(self.scale)}"
        return f"BGe(mean_weight={self.mean_weight:g}, dof={dof}, mean={mean}{scale})"

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {
            "type": "BGe",
            "mean_weight": self.mean_weight,
            "dof": self.dof,
            "mean": self.mean,
            "scale": self.scale,
        }


@dataclass(frozen=True, eq=False, repr=False)
class BoundBGe(RegressionPrior):
    """The prior of one network: ν and T in the order of its nodes.

    Attributes
    ----------
    order : tuple of str
        The nodes of the network.
    mean_weight, dof : float
        α_μ and α_w.
    mean : array, shape (d,)
    scale : array, shape (d, d)
    stated : BGe
        The prior as it was stated.
    """

    order: tuple[str, ...]
    mean_weight: float
    dof: float
    mean: Floats = field(repr=False)
    scale: Floats = field(repr=False)
    stated: BGe

    def regression(self, family: NodeFamily) -> RegressionPseudo:
        """Return the prior of a family's regression, conditioned out of that of all variables."""
        places = [self.order.index(name) for name in family.scope]
        parents, child = places[:-1], places[-1]
        inner, cross = self.scale[np.ix_(parents, parents)], self.scale[parents, child]
        slopes = np.asarray(np.linalg.solve(inner, cross), np.float64)
        return RegressionPseudo(
            weight=self.mean_weight,
            centre=self.mean[parents],
            scatter=inner,
            level=float(self.mean[child]),
            slopes=slopes,
            shape=(self.dof - len(self.order) + len(parents) + 1) / 2,
            scale=float(self.scale[child, child] - cross @ slopes) / 2,
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the prior took from the data."""
        return () if self.stated.mean is not None else ("The prior's mean is that of the data, as bnlearn has it.",)

    def __repr__(self) -> str:
        return repr(self.stated)

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data, as it was stated."""
        return self.stated.to_dict()


def _kept(argument: str, value: Any, axes: tuple[int, ...]) -> Any:
    """Return a number, a mapping of numbers, or a frozen matrix."""
    if is_number(value) and math.isfinite(value):
        return float(value)
    if isinstance(value, Mapping):
        if all(is_number(entry) and math.isfinite(entry) for entry in value.values()):
            return {node: float(entry) for node, entry in value.items()}
        if 2 in axes and all(isinstance(row, Mapping) for row in value.values()):
            return {node: _kept(argument, row, (0,)) for node, row in value.items()}
    elif 2 in axes:
        try:
            array = np.array(value, np.float64)
        except (TypeError, ValueError):
            array = np.zeros(0)
        if array.ndim == 2 and np.isfinite(array).all():
            array.flags.writeable = False
            return array
    matrix = ", or a matrix" if 2 in axes else ""
    raise ArgumentError(
        f"The {argument!r} argument of BGe must be a finite number, a mapping from every node to one{matrix}. "
        f"Got {shown(value)} instead."
    )


def _vector(argument: str, value: Any, dag: DAG) -> Floats:
    if isinstance(value, dict):
        return np.array([value[node] for node in _ordered(argument, value, dag)])
    return np.full(len(dag.nodes), value)


def _ordered(argument: str, value: Mapping[str, Any], dag: DAG) -> tuple[str, ...]:
    """Return the nodes in order, each of which must be named, and no other."""
    if set(value) != set(dag.nodes):
        raise ArgumentError(
            f"The {argument!r} argument of BGe must give a number to each of {listing(dag.nodes, 12)}, and to no "
            f"other. Got {listing(value, 12)} instead."
        )
    return dag.nodes


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "a matrix"
    return f"{{{', '.join(f'{node}: …' for node in value)}}}" if isinstance(value, dict) else f"{value:g}"
