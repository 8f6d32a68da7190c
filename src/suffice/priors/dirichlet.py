"""Dirichlet priors on the rows of conditional tables: symmetric, K2, Jeffreys, BDeu, or an array a node.

A prior is its pseudo-counts α(x_pa, x_v); the posterior is Dirichlet(α + m).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, listing, shown
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.kind import Pseudo
from suffice.models.cpds.rows import as_numbers, find_rows, given_rows
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.prior import ConjugatePrior
from suffice.stats.counts import Counts

LARGEST = 1e100
"""The largest pseudo-count, so that sums of them stay finite."""


class DirichletPrior(ConjugatePrior):
    """What all Dirichlet priors share; a subclass says how large α is for a family."""

    kinds: ClassVar[tuple[str, ...]] = ("tabular",)

    def alpha(self, family: NodeFamily) -> NDArray[np.float64]:
        """Return α, shape (n_states,) when it is the same for all rows, else (n_rows, n_states)."""
        raise TypeError("use one of sf.Dirichlet, sf.K2, sf.Jeffreys, sf.BDeu")

    def posterior(self, kind: str, family: NodeFamily, statistic: Counts, given: Any = None) -> DirichletRows:
        """Return Dirichlet(α + m) for every row of the node's table."""
        fixed = None if given is None else given_rows(family, given)
        return DirichletRows.from_counts(family, self.alpha(family), statistic, fixed)

    def pseudo(self, family: NodeFamily, point: str) -> Pseudo:
        """Return α by parent configuration for ``point="mean"``, α − 1 for ``"map"``."""
        alpha = self.alpha(family) - (1.0 if point == "map" else 0.0)
        sizes = [parent.n_states for parent in family.parents]

        def rows(configurations: NDArray[Any]) -> NDArray[Any]:
            if alpha.ndim == 1:
                return np.tile(alpha, (len(configurations), 1))
            return alpha[find_rows(configurations, sizes, None)]

        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {"type": type(self).__name__}


@dataclass(frozen=True, eq=False, repr=False)
class Dirichlet(DirichletPrior):
    """Dirichlet prior with the pseudo-counts you give.

    Parameters
    ----------
    alpha : float or mapping
        One number for every cell of every table, or, by node, a number or an array of shape
        (…parents' states, child's states).
    rest : float, optional
        The number for nodes that the mapping does not name; without it every node must be named.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"coin": ["heads", "heads", "heads", "tails"]}
    >>> sf.fit(sf.DAG("coin"), data, prior=sf.Dirichlet(1.0)).model.cpd("coin").table.to_numpy()
    array([0.66666667, 0.33333333])
    """

    alpha_: Any
    rest: float | None = None

    def __init__(self, alpha: float | Mapping[str, Any] = 1.0, rest: float | None = None) -> None:
        if isinstance(alpha, Mapping):
            stored: Any = {node: _positive(f"alpha[{node!r}]", array) for node, array in alpha.items()}
        else:
            stored = positive_number("alpha", alpha)
        object.__setattr__(self, "alpha_", stored)
        object.__setattr__(self, "rest", None if rest is None else positive_number("rest", rest))

    def __repr__(self) -> str:
        return self.describe()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dirichlet) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(repr(self._identity))

    @property
    def _identity(self) -> tuple[Any, ...]:
        listed = {node: array.tolist() for node, array in self.alpha_.items()} if self.nodes else self.alpha_
        return (listed, self.rest)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that have pseudo-counts of their own."""
        return tuple(self.alpha_) if isinstance(self.alpha_, dict) else ()

    def alpha(self, family: NodeFamily) -> NDArray[np.float64]:
        """Return α for a family, its shape checked."""
        r = family.child.n_states
        if not isinstance(self.alpha_, dict):
            return np.full(r, self.alpha_)
        name = family.child.name
        if name not in self.alpha_:
            if self.rest is None:
                raise ArgumentError(
                    f"The Dirichlet prior has no pseudo-counts for node {name!r}; it names {listing(self.alpha_)}. "
                    "Add the node, or give a number for all others: sf.Dirichlet({…}, rest=1.0)."
                )
            return np.full(r, self.rest)
        given: NDArray[np.float64] = self.alpha_[name]
        shape = tuple(variable.n_states for variable in family.variables)
        if given.shape not in ((), shape):
            raise ArgumentError(
                f"The Dirichlet prior of node {name!r} must be a number or an array of shape {shape}: the parents "
                f"{family.scope[:-1]} in order, then the states of {name!r}. Got shape {given.shape} instead."
            )
        return np.full(r, float(given)) if given.shape == () else given.reshape(-1, r)

    def describe(self) -> str:
        """Say in a few words what the prior is."""
        if isinstance(self.alpha_, dict):
            return f"Dirichlet({{{', '.join(f'{node}: …' for node in self.alpha_)}}}, rest={self.rest})"
        return f"Dirichlet({self.alpha_:g})"

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {"type": "Dirichlet", "alpha": self.alpha_, "rest": self.rest}


@dataclass(frozen=True)
class K2(DirichletPrior):
    """One pseudo-count in every cell, as Cooper and Herskovits' K2 score has it; the flat prior on every row."""

    def alpha(self, family: NodeFamily) -> NDArray[np.float64]:
        """Return ones."""
        return np.ones(family.child.n_states)


@dataclass(frozen=True)
class Jeffreys(DirichletPrior):
    """Half a pseudo-count in every cell: Jeffreys' prior of each row."""

    def alpha(self, family: NodeFamily) -> NDArray[np.float64]:
        """Return halves."""
        return np.full(family.child.n_states, 0.5)


@dataclass(frozen=True)
class BDeu(DirichletPrior):
    """Bayesian Dirichlet equivalent uniform: α = ess / (rows · states), so that every table holds ``ess`` in all.

    Parameters
    ----------
    ess : float
        The equivalent sample size (bnlearn's ``iss``).

    Examples
    --------
    >>> BDeu(10)
    BDeu(ess=10.0)
    """

    ess: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ess", positive_number("ess", self.ess))

    def alpha(self, family: NodeFamily) -> NDArray[np.float64]:
        """Return ess / (number of cells)."""
        cells = math.prod(variable.n_states for variable in family.variables)
        # eq bdeu
        alpha = math.exp(math.log(self.ess) - math.log(max(cells, 1)))  # cells may be more than a float can hold
        if not alpha > 0:
            raise ArgumentError(
                f"The table of {family.child.name!r} has too many cells for {self!r}: no pseudo-count is left for one."
            )
        return np.full(family.child.n_states, alpha)

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {"type": "BDeu", "ess": self.ess}


def positive_number(argument: str, value: object) -> float:
    """Return the number that an argument of a prior must be."""
    return float(_positive(argument, value, scalar=True))


def _positive(argument: str, value: object, scalar: bool = False) -> NDArray[np.float64]:
    array = as_numbers(f"The {argument!r} of a Dirichlet prior, positive and finite,", value)
    if not ((array > 0) & (array <= LARGEST)).all() or (scalar and array.shape != ()):
        what = "a number" if scalar else "an array of numbers"
        raise ArgumentError(
            f"The {argument!r} of a Dirichlet prior must be {what}, positive and finite (at most {LARGEST:g}). "
            f"Got {shown(value)} instead."
        )
    array.flags.writeable = False
    return array
