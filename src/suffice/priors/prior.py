"""What a prior on a network's parameters must provide: the posterior from a node's statistic. The rest follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from suffice.models.cpds import CPD, Family


@runtime_checkable
class NodePosterior(Protocol):
    """What is known of one node's parameters after the data."""

    @property
    def family(self) -> Family:
        """The node and its parents."""

    @property
    def log_marginal_likelihood(self) -> float | None:
        """The log-probability of the family's data, the parameters integrated out; None under an improper prior."""

    def mean(self) -> CPD:
        """Return the posterior mean: the exact predictive distribution of one new case."""

    def mode(self) -> CPD:
        """Return the posterior mode; NaN where it is not unique."""

    def renamed(self, family: Family) -> Any:
        """Return the same posterior for a tied family."""


@runtime_checkable
class Prior(Protocol):
    """A conjugate prior on the parameters of every node."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of nodes that it is a prior on."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that the prior names; it may speak of all nodes alike and name none."""

    def posterior(self, kind: str, family: Family, statistic: Any, given: Any = None) -> NodePosterior:
        """Return the posterior of one node from its statistic, and from what an expert gave."""

    def pseudo(self, family: Family, point: str) -> Any:
        """Return what the prior adds to the statistic, as the node kind's `residual` takes it for ``point``.

        For tables these are pseudo-counts by parent configuration (`suffice.models.cpds.kind.Pseudo`).
        """

    def describe(self) -> str:
        """Say in a few words what the prior is."""

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""


class ComparedByContent:
    """Priors that are equal when they say the same, arrays and mappings included."""

    if TYPE_CHECKING:

        def to_dict(self) -> dict[str, Any]:
            """Return the prior as JSON-able data."""

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
    return value.tolist() if hasattr(value, "tolist") else value
