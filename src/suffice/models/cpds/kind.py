"""What a node kind must provide. A kind is one file in this folder and one line in its registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

from suffice.data.variable import Variable
from suffice.errors import Remedy, StructureError, Text, listing, suggestion
from suffice.optimise.distance import Distance
from suffice.stats.needs import Count
from suffice.types import Array, Codes, Columns, Floats, Ints, Json, JsonObject
from suffice.values import Label, Setting

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from suffice.data.labelled import LabelledTable
    from suffice.stats.counts import Counts
    from suffice.stats.needs import Need

Given: TypeAlias = "CPD | LabelledTable | ArrayLike | Mapping[str, Given] | Mapping[Label | tuple[Label, ...], Given]"
"""What an expert gives for a node: a distribution, a table, parameters by name, or rows by the parents' states."""

Pseudo = Callable[[Codes], Floats]
"""A prior on tables: from parent configurations, shape (k, n_parents), to pseudo-counts, shape (k, n_states)."""


@dataclass(frozen=True)
class NodeFamily:
    """A node with its parents, as variables; its scope lists the parents first and the child last.

    >>> NodeFamily(Variable("B", (0, 1)), (Variable("A", ("x", "y", "z")),)).scope
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


Family = NodeFamily
"""The name in pickles of 0.1.0."""


@runtime_checkable
class CPD(Protocol):
    """A conditional probability distribution p(child | parents): frozen parameters of one node."""

    kind: ClassVar[str]
    """The name of the node kind."""

    @property
    def family(self) -> NodeFamily:
        """The node and its parents."""

    def log_prob(self, columns: Columns) -> Floats:
        """Return log p(child | parents) of every row; shape (n_rows,)."""

    def sample(self, columns: Columns, uniform: Floats) -> Array:
        """Draw the child of every row from one uniform number each; shape (n_rows,)."""

    def renamed(self, family: NodeFamily) -> Self:
        """Return the same distribution for a tied family."""

    def to_dict(self) -> dict[str, Json]:
        """Return the parameters as JSON-able data, its family left out."""

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: JsonObject) -> Self:
        """Rebuild from `to_dict`'s data."""


C = TypeVar("C", bound=CPD)
S = TypeVar("S")
P = TypeVar("P")


class NodeKind(ABC, Generic[C, S, P]):
    """How one kind of node is recognised, fitted by maximum likelihood, and proven.

    A kind is a frozen dataclass whose fields are the settings that a user gives. It names the class of its
    distributions, the statistic that it is fitted from, and what its priors add to that statistic:
    ``class TabularKind(NodeKind[TabularCPD, Counts, Pseudo])``.
    """

    name: ClassVar[str]
    """The name in the registry."""
    closed_form: ClassVar[bool] = True
    only_named: ClassVar[bool] = False
    """Whether the kind is never chosen by itself."""

    @property
    @abstractmethod
    def cpd_type(self) -> type[C]:
        """The class of its distributions, for reading files."""

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of the settings that a user may give."""
        return tuple(field.name for field in fields(self)) if is_dataclass(self) else ()

    def is_closed_form(self) -> bool:
        """Return whether `mle` is a formula; otherwise it searches."""
        return self.closed_form

    def departs(self) -> str | None:
        """Say in which way its settings make the estimate other than the maximum of the likelihood; None if it is."""
        return None

    def configured(self, node: str, options: Mapping[str, Setting]) -> Self:
        """Return the kind with a node's own settings, such as ``{"tied": "variance"}``."""
        if not options:
            return self
        known = self.settings
        for option in options:
            if option not in known:
                raise StructureError(
                    f"Node {node!r} is of kind {self.name!r}, which has no setting {option!r}. "
                    + (f"It has {listing(known)}." if known else "It has none.")
                    + suggestion(option, known)
                )
        return replace(self, **options)  # type: ignore[type-var]

    def refuses_em(self, family: NodeFamily, latent: Container[str]) -> str | None:
        """Return why EM cannot learn a node of this kind, or None when it can.

        It can where the statistic is a table of counts, whose expectation EM knows. A kind with another statistic that
        EM knows overrides this.
        """
        if isinstance(self.need(family), Count):
            return None
        name = family.child.name
        what = f"node {name!r} is of kind {self.name!r}, whose expected statistic EM does not know. "
        if hidden := [parent.name for parent in family.parents if parent.name in latent]:
            return f"{what}Its parent {hidden[0]!r} must be a column of the data."
        return Text(what, "Pass ", Remedy("missing", "drop"), ", or ", Remedy("missing", "available"), ".")

    @abstractmethod
    def refuses(self, family: NodeFamily) -> str | None:
        """Return why a family cannot be of this kind, or None when it can."""

    @abstractmethod
    def need(self, family: NodeFamily) -> Need:
        """Return the statistic that a node of this kind is fitted from."""

    @abstractmethod
    def mle(self, family: NodeFamily, statistic: S) -> C:
        """Return the maximum-likelihood distribution; what the data does not determine is NaN."""

    def whole(self, family: NodeFamily, given: Given) -> C | None:
        """Return the distribution that an expert gave; None for tables, which are given row by row."""
        return None

    @abstractmethod
    def fix(self, cpd: C, given: Given) -> tuple[C, Ints]:
        """Put an expert's parameters in place; return the distribution and which parent configurations were given."""

    @abstractmethod
    def complete(self, cpd: C, policy: str) -> tuple[C, tuple[str, ...]]:
        """Apply ``unseen_parents`` to what is still NaN; return the distribution and remarks for the notes."""

    @abstractmethod
    def n_free(self, family: NodeFamily, n_fixed: int = 0) -> int:
        """Return the number of free parameters, ``n_fixed`` parent configurations being given."""

    @abstractmethod
    def n_free_adjusted(self, family: NodeFamily, statistic: S, fixed: Ints | None = None) -> int:
        """Return the dimension that the data's zeros leave."""

    @abstractmethod
    def residual(self, cpd: C, statistic: S, pseudo: P | None = None, fixed: Ints | None = None) -> float:
        """Return the largest violation of the first-order condition, by other code than `mle`'s.

        ``pseudo`` is what the prior adds, as its `pseudo` returns it; the kinds know their own priors'.
        """

    def distance(
        self, cpd: C, statistic: S, pseudo: P | None = None, fixed: Ints | None = None, point: str = "mle"
    ) -> Distance:
        """Return how far the estimate is from its optimum in nats, or from a posterior mean in standard deviations.

        The arguments are those of `residual`; ``point`` says whether an estimate under a prior is its mean. Rows of a
        table, and other blocks that are estimated by themselves, are added up; their names say which row it is, not
        which node. Without it nothing is known of the distance in nats, and `residual` alone decides.
        """
        return Distance()

    @abstractmethod
    def log_likelihood(self, cpd: C, statistic: S) -> float:
        """Return the local log-likelihood from the node's own statistic."""

    @abstractmethod
    def log_likelihood_terms(self, cpd: C, statistic: S) -> list[float]:
        """Return numbers that add up to the log-likelihood, by other code than the distribution's own sum."""

    @abstractmethod
    def normalisation(self, cpd: C) -> float:
        """Return the largest distance of a distribution's total from one."""


AnyKind: TypeAlias = "NodeKind[Any, Any, Any]"  # type: ignore[explicit-any]  # Python cannot say "of some C, S and P"
"""A node kind of whatever distributions, statistic and priors."""


def terms_of_counts(cpd: CPD, statistic: Counts) -> list[float]:
    """Return m · log p of every cell that occurs, through the distribution's own ``log_prob``."""
    columns, m = statistic.columns()
    names = [variable.name for variable in statistic.variables]
    terms: list[float] = (m * cpd.log_prob(dict(zip(names, columns, strict=True)))).tolist()
    return terms
