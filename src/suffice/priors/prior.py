"""What every prior declares, with its defaults, and what one on the nodes of a network must provide."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np

from suffice.data.variable import Variable
from suffice.errors import ArgumentError, Remedy, listing
from suffice.models.cpds import CPD, NodeFamily
from suffice.priors.posterior import Posterior
from suffice.types import Columns, Floats
from suffice.values import Estimate

if TYPE_CHECKING:
    from suffice.data.schema import Schema
    from suffice.stats.statistics import Statistics
    from suffice.structures.dag import DAG
    from suffice.structures.structure import Structure


@dataclass(frozen=True)
class Origin:
    """What a posterior is of: as the prior of further fits it is for the same variables, states and order alone.

    Attributes
    ----------
    variables : tuple of Variable
    parents : mapping
        Of networks: the parents of each node, in the order of its tables or slopes.
    columns : tuple of str
        Of normal distributions: the variables in the order of means and covariances.
    """

    variables: tuple[Variable, ...]
    parents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def check(self, structure: Structure[object], schema: Schema) -> None:
        """Refuse a structure or states for which the numbers of the prior would mean something else."""
        if self.columns and structure.columns != self.columns:
            raise ArgumentError(
                "The prior is the posterior of a fit of the variables "
                f"{listing(self.columns, 12)}, in this order; here they are {listing(structure.columns, 12)}. Use the "
                "structure of that fit."
            )
        here = _parents_in(structure)
        for node, parents in self.parents.items():
            if here.get(node, parents) != parents:
                raise ArgumentError(
                    f"The prior is the posterior of a fit in which {node!r} had the parents {listing(parents, 12)}, in "
                    f"this order; here they are {listing(here[node], 12)}. Use the structure of that fit."
                )
        for variable in self.variables:
            found = schema[variable.name].states if variable.name in schema else None
            if variable.states is not None and found != variable.states:
                states = "no states" if found is None else listing(found, 12)
                raise ArgumentError(
                    f"The prior is the posterior of a fit in which {variable.name!r} had the states "
                    f"{listing(variable.states, 12)}; here it has {states}. Declare the same: ",
                    Remedy("schema", {variable.name: list(variable.states)}),
                    ".",
                )


def _parents_in(structure: Structure[object]) -> dict[str, tuple[str, ...]]:
    from suffice.structures.dag import DAG

    return structure.parents if isinstance(structure, DAG) else {}


class Prior(ABC):
    """A prior on the parameters of a model; what a subclass does not declare has the defaults below."""

    origin: Origin | None = None
    """What it is the posterior of, where it is one."""

    def learnt_from(self, origin: Origin | None) -> Self:
        """Return the prior as the posterior of earlier data; with None as one whose origin is not known."""
        found = copy.copy(self)
        object.__setattr__(found, "origin", origin)
        return found

    @property
    def points(self) -> tuple[Estimate, ...]:
        """The estimates that it can give."""
        return ("mean", "map")

    @property
    def parts(self) -> tuple[Prior, ...]:
        """The priors that it consists of: itself alone, or several on nodes of different kinds."""
        return (self,)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of nodes of a Bayesian network that it is a prior on."""
        return ()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that the prior names; it may speak of all nodes alike and name none."""
        return ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the prior took from the data."""
        return ()

    def bound(self, dag: DAG, statistics: Statistics) -> Prior:
        """Return the prior with what it takes from the whole network, such as its number of variables."""
        return self

    def of_kind(self, kind: str, family: NodeFamily) -> NodePrior | None:
        """Return the prior of one node, given the name of its kind; None for none."""
        return None

    def describe(self) -> str:
        """Say in a few words what the prior is."""
        return repr(self)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""


class NodePrior(Prior):
    """A prior on the parameters of single nodes."""

    def of_kind(self, kind: str, family: NodeFamily) -> NodePrior | None:
        """Return the prior of one node: itself."""
        return self

    @abstractmethod
    def pseudo(self, family: NodeFamily, point: str) -> Any:
        """Return what the prior adds to the statistic, as the node kind's `residual` takes it for ``point``.

        For tables these are pseudo-counts by parent configuration (`suffice.models.cpds.kind.Pseudo`).
        """


class ConjugatePrior(NodePrior):
    """A prior on nodes whose posterior is known in closed form."""

    @abstractmethod
    def posterior(self, kind: str, family: NodeFamily, statistic: Any, given: Any = None) -> NodePosterior | None:
        """Return the posterior of one node from its statistic, and from what an expert gave."""


@runtime_checkable
class NodePosterior(Posterior[CPD], Protocol):
    """What is known of one node's parameters after the data; its models are conditional distributions."""

    @property
    def family(self) -> NodeFamily:
        """The node and its parents."""

    def log_predictive_of(self, columns: Columns) -> Floats:
        """Return log p(child | parents, data) of every row of columns, in codes; shape (n_rows,)."""

    def renamed(self, family: NodeFamily) -> NodePosterior:
        """Return the same posterior for a tied family."""

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data, its family left out."""

    def as_prior(self) -> ConjugatePrior:
        """Return the prior under which new data lead to the posterior that all of the data would have led to."""


class ComparedByContent(Prior):
    """Priors that are equal when they say the same, arrays and mappings included."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ComparedByContent) or type(self) is not type(other):
            return False
        return repr(_plain(self.to_dict())) == repr(_plain(other.to_dict()))

    def __hash__(self) -> int:
        return hash(repr(_plain(self.to_dict())))


def _plain(value: Any) -> Any:
    """Return arrays as lists, and mappings in order of their keys."""
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value, key=str)}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
