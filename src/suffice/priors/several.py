"""Several priors together: one for each kind of node."""

from __future__ import annotations

from typing import Any

from suffice.errors import ArgumentError, EstimationError, listing, shown
from suffice.models.cpds import Family, kind_for
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG

REMEDIES = {
    "tabular": "sf.BDeu(10)",
    "linear_gaussian": "sf.NormalInverseGamma(2, 1.0)",
    "softmax": "sf.Gaussian(1.0)",
}
"""A prior of each kind that has one."""


class Priors:
    """A prior for each kind of node, for networks that mix tables, regressions and others.

    Parameters
    ----------
    *priors
        Such as ``sf.BDeu(10)`` for tables and ``sf.NormalInverseGamma(2, 1.0)`` for linear-Gaussian nodes. No two may
        be for the same kind.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"group": ["a", "a", "b", "b"], "score": [1.0, 2.0, 5.0, 7.0]}
    >>> prior = sf.Priors(sf.BDeu(1), sf.NormalInverseGamma(2, 1.0))
    >>> fit = sf.fit(sf.DAG("group -> score"), data, prior=prior)
    >>> fit.certificate.ok
    True
    >>> prior.kinds
    ('tabular', 'linear_gaussian')
    """

    __slots__ = ("priors",)
    priors: tuple[Any, ...]

    def __init__(self, *priors: Any) -> None:
        if not priors:
            raise ArgumentError("sf.Priors needs at least one prior, such as sf.BDeu(10). Got none instead.")
        covered: dict[str, Any] = {}
        for prior in priors:
            if isinstance(prior, type) or not getattr(prior, "kinds", ()):
                raise ArgumentError(
                    "Each part of sf.Priors must be a prior on nodes, such as sf.BDeu(10) or "
                    f"sf.NormalInverseGamma(2, 1.0). Got {shown(prior)} instead."
                )
            for kind in prior.kinds:
                if kind in covered:
                    raise ArgumentError(
                        f"{covered[kind].describe()} and {prior.describe()} are both priors on nodes of kind {kind!r}. "
                        "Give one for each kind."
                    )
                covered[kind] = prior
        object.__setattr__(self, "priors", tuple(priors))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Priors, self.priors  # copying attribute by attribute would assign to them

    def __repr__(self) -> str:
        return f"Priors({', '.join(map(repr, self.priors))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Priors) and self.priors == other.priors

    def __hash__(self) -> int:
        return hash(self.priors)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of nodes that have a prior."""
        return tuple(kind for prior in self.priors for kind in prior.kinds)

    @property
    def points(self) -> tuple[str, ...]:
        """The estimates that all parts can give."""
        parts = [getattr(prior, "points", ("mean", "map")) for prior in self.priors]
        return tuple(point for point in ("mean", "map") if all(point in part for part in parts))

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that the parts name."""
        return tuple(dict.fromkeys(node for prior in self.priors for node in getattr(prior, "nodes", ())))

    def of_kind(self, kind: str, family: Family) -> Any:
        """Return the prior of a node, which is that of its kind."""
        for prior in self.priors:
            if kind in prior.kinds:
                return prior
        remedy = f" Add one, such as {REMEDIES[kind]}." if kind in REMEDIES else " That kind has none; fit without."
        raise EstimationError(
            f"Node {family.child.name!r} is of kind {kind!r}, for which no prior was given; there are priors for "
            f"{listing(self.kinds)}.{remedy}"
        )

    def bound(self, dag: DAG, statistics: Statistics) -> Priors:
        """Return the priors with those bound to the network that ask for it."""
        return Priors(*(prior.bound(dag, statistics) if hasattr(prior, "bound") else prior for prior in self.priors))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the parts took from the data."""
        return tuple(remark for prior in self.priors for remark in getattr(prior, "remarks", ()))

    def posterior(self, kind: str, family: Family, statistic: Any, given: Any = None) -> Any:
        """Return the posterior of one node under the prior of its kind."""
        return self.of_kind(kind, family).posterior(kind, family, statistic, given)

    def pseudo(self, family: Family, point: str) -> Any:
        """Return what the prior of a family adds to its data, the kind being the one that its variables suggest."""
        return self.of_kind(kind_for(family).name, family).pseudo(family, point)

    def describe(self) -> str:
        """Say in a few words what the priors are."""
        return "; ".join(prior.describe() for prior in self.priors)

    def to_dict(self) -> dict[str, Any]:
        """Return the priors as JSON-able data."""
        return {"type": "Priors", "priors": [prior.to_dict() for prior in self.priors]}
