"""What a node kind must provide. A kind is one file in this folder and one line in its registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from numpy.typing import NDArray

from suffice.data.variable import Variable
from suffice.errors import StructureError, listing, suggestion
from suffice.optimise.distance import Distance
from suffice.stats.needs import Need
from suffice.types import Columns

Pseudo = Callable[[NDArray[Any]], NDArray[Any]]
"""A prior on tables: from parent configurations, shape (k, n_parents), to pseudo-counts, shape (k, n_states)."""


@dataclass(frozen=True)
class Family:
    """A node with its parents, as variables; its scope lists the parents first and the child last.

    >>> Family(Variable("B", (0, 1)), (Variable("A", ("x", "y", "z")),)).scope
    ('A', 'B')
    """

    child: Variable
    parents: tuple[Variable, ...] = ()

    @property
    def scope(self) -> tuple[str, ...]:
        """Names of the parents, then of the child."""
        return (*(parent.name for parent in self.parents), self.child.name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The parents, then the child."""
        return (*self.parents, self.child)

    @property
    def discrete(self) -> tuple[Variable, ...]:
        """The discrete parents, in order."""
        return tuple(parent for parent in self.parents if parent.is_discrete)

    @property
    def continuous(self) -> tuple[Variable, ...]:
        """The continuous parents, in order."""
        return tuple(parent for parent in self.parents if not parent.is_discrete)


@runtime_checkable
class CPD(Protocol):
    """A conditional probability distribution p(child | parents): frozen parameters of one node."""

    @property
    def kind(self) -> str:
        """The name of the node kind."""

    @property
    def family(self) -> Family:
        """The node and its parents."""

    def log_prob(self, columns: Columns) -> NDArray[Any]:
        """Return log p(child | parents) of every row; shape (n_rows,)."""

    def sample(self, columns: Columns, uniform: NDArray[Any]) -> NDArray[Any]:
        """Draw the child of every row from one uniform number each; shape (n_rows,)."""

    def log_likelihood(self, statistic: Any) -> float:
        """Return the local log-likelihood from the node's own statistic."""

    def renamed(self, family: Family) -> Self:
        """Return the same distribution for a tied family."""

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as JSON-able data, its family left out."""

    @classmethod
    def from_dict(cls, family: Family, entry: Mapping[str, Any]) -> Self:
        """Rebuild from `to_dict`'s data."""


@runtime_checkable
class NodeKind(Protocol):
    """How one kind of node is recognised, fitted by maximum likelihood, and proven."""

    @property
    def name(self) -> str:
        """The name in the registry."""

    @property
    def cpd_type(self) -> type[Any]:
        """The class of its distributions, for reading files."""

    def is_closed_form(self) -> bool:
        """Return whether `mle` is a formula; otherwise it searches."""

    def departs(self) -> str | None:
        """Say in which way its settings make the estimate other than the maximum of the likelihood; None if it is."""

    def configured(self, node: str, options: Mapping[str, Any]) -> NodeKind:
        """Return the kind with a node's own settings, such as ``{"tied": "variance"}``."""

    def refuses(self, family: Family) -> str | None:
        """Return why a family cannot be of this kind, or None when it can."""

    def need(self, family: Family) -> Need:
        """Return the statistic that a node of this kind is fitted from."""

    def mle(self, family: Family, statistic: Any) -> CPD:
        """Return the maximum-likelihood distribution; what the data does not determine is NaN."""

    def whole(self, family: Family, given: Any) -> CPD | None:
        """Return the distribution that an expert gave, where kinds are given as a whole; None for single rows."""

    def fix(self, cpd: Any, given: Any) -> tuple[CPD, Any]:
        """Put an expert's parameters in place; return the distribution and which parent configurations were given."""

    def complete(self, cpd: Any, policy: str) -> tuple[CPD, tuple[str, ...]]:
        """Apply ``unseen_parents`` to what is still NaN; return the distribution and remarks for the notes."""

    def n_free(self, family: Family, n_fixed: int = 0) -> int:
        """Return the number of free parameters, ``n_fixed`` parent configurations being given."""

    def n_free_adjusted(self, family: Family, statistic: Any, fixed: Any = None) -> int:
        """Return the dimension that the data's zeros leave."""

    def residual(self, cpd: Any, statistic: Any, pseudo: Any = None, fixed: Any = None) -> float:
        """Return the largest violation of the first-order condition, by other code than `mle`'s.

        ``pseudo`` is what the prior adds, as its `pseudo` returns it; the kinds know their own priors'.
        """

    def distance(self, cpd: Any, statistic: Any, pseudo: Any = None, fixed: Any = None, point: str = "mle") -> Distance:
        """Return how far the estimate is from its optimum in nats, or from a posterior mean in standard deviations.

        The arguments are those of `residual`; ``point`` says whether an estimate under a prior is its mean. Rows of a
        table, and other blocks that are estimated by themselves, are added up; their names say which row it is, not
        which node.
        """

    def log_likelihood_terms(self, cpd: Any, statistic: Any) -> list[float]:
        """Return numbers that add up to the log-likelihood, by other code than the distribution's own sum."""

    def normalisation(self, cpd: Any) -> float:
        """Return the largest distance of a distribution's total from one."""


class KindBase:
    """What most kinds share: fitted by a formula, set up by their fields, scored row by row through ``log_prob``."""

    name: ClassVar[str]
    closed_form: ClassVar[bool] = True
    only_named: ClassVar[bool] = False
    """Whether the kind is never chosen by itself."""

    def is_closed_form(self) -> bool:
        """Return whether `mle` is a formula; otherwise it searches."""
        return self.closed_form

    def departs(self) -> str | None:
        """Say in which way its settings make the estimate other than the maximum of the likelihood: in none."""
        return None

    def whole(self, family: Family, given: Any) -> CPD | None:
        """Return the distribution that an expert gave; None for tables, which are given row by row."""
        reader = getattr(getattr(self, "cpd_type", None), "from_given", None)
        found: CPD | None = None if reader is None else reader(family, given)
        return found

    def configured(self, node: str, options: Mapping[str, Any]) -> Any:
        """Return the kind with a node's own settings, which are fields of its class."""
        known: list[str] = [field.name for field in fields(self)] if is_dataclass(self) else []
        for option in options:
            if option not in known:
                raise StructureError(
                    f"Node {node!r} is of kind {self.name!r}, which has no setting {option!r}. "
                    + (f"It has {listing(known)}." if known else "It has none.")
                    + suggestion(option, known)
                )
        return replace(self, **options) if options else self  # type: ignore[type-var]

    def distance(self, cpd: Any, statistic: Any, pseudo: Any = None, fixed: Any = None, point: str = "mle") -> Distance:
        """Return that nothing is known of the distance in nats, so that `residual` alone decides."""
        return Distance()

    def log_likelihood_terms(self, cpd: CPD, statistic: Any) -> list[float]:
        """Return m · log p of every cell that occurs, through the distribution's own ``log_prob``."""
        columns, m = statistic.columns()
        names = [variable.name for variable in statistic.variables]
        terms: list[float] = (m * cpd.log_prob(dict(zip(names, columns, strict=True)))).tolist()
        return terms
