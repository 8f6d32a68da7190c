"""Needs: hashable requests for a statistic.

A need belongs to a structure, a method and a schema; it names what the data must be reduced to, never how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, Self, TypeVar, runtime_checkable

from suffice.types import Entry, JsonObject

if TYPE_CHECKING:
    from suffice.stats.counts import Counts  # noqa: F401 -- the bases of needs name their statistics in quotes
    from suffice.stats.gaps import Gaps  # noqa: F401
    from suffice.stats.moments import Moments  # noqa: F401
    from suffice.stats.rows import Rows  # noqa: F401
    from suffice.stats.statistic import Statistic
    from suffice.stats.sums import Sums  # noqa: F401

Found_co = TypeVar("Found_co", bound="Statistic", covariant=True)


@runtime_checkable
class Need(Protocol):
    """A request for one statistic; frozen, hashable and JSON-able."""

    kind: ClassVar[str]
    takes_gaps: ClassVar[bool]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that the statistic is computed from."""

    def to_dict(self) -> JsonObject:
        """Return the need as JSON-able data, without its ``kind``."""

    @classmethod
    def from_dict(cls, entry: Entry) -> Self:
        """Rebuild the need from `to_dict`'s data."""


class NeedFor(Need, Generic[Found_co]):
    """A need that names the type of the statistic that answers it, as in ``class Count(NeedFor["Counts"])``.

    Attributes
    ----------
    takes_gaps : bool
        Whether it is collected from rows that lack values, too.
    """

    takes_gaps: ClassVar[bool] = False


@dataclass(frozen=True)
class Count(NeedFor["Counts"]):
    """Joint counts m(x_C) of the discrete variables in ``scope``, in that order of axes.

    >>> Count(("A", "B"))
    Count(scope=('A', 'B'))
    """

    kind: ClassVar[str] = "count"
    scope: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables that are counted."""
        return self.scope

    def to_dict(self) -> JsonObject:
        """Return ``{"scope": […]}``."""
        return {"scope": list(self.scope)}

    @classmethod
    def from_dict(cls, entry: Entry) -> Count:
        """Rebuild the need from `to_dict`'s data."""
        return cls(tuple(entry["scope"]))


@dataclass(frozen=True)
class Moment(NeedFor["Moments"]):
    """First and second moments of the continuous columns ``xs``, for each configuration of the discrete ``by``.

    >>> Moment(("x", "y"), by=("A",))
    Moment(xs=('x', 'y'), by=('A',))
    """

    kind: ClassVar[str] = "moment"
    xs: tuple[str, ...]
    by: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The continuous columns, then the discrete ones."""
        return (*self.xs, *self.by)

    def to_dict(self) -> JsonObject:
        """Return ``{"xs": […], "by": […]}``."""
        return {"xs": list(self.xs), "by": list(self.by)}

    @classmethod
    def from_dict(cls, entry: Entry) -> Moment:
        """Rebuild the need from `to_dict`'s data."""
        return cls(tuple(entry["xs"]), tuple(entry["by"]))


@dataclass(frozen=True)
class Distinct(NeedFor["Rows"]):
    """The distinct rows of the columns in ``scope``, discrete or continuous, with the weight of each.

    >>> Distinct(("A", "x"))
    Distinct(scope=('A', 'x'))
    """

    kind: ClassVar[str] = "distinct"
    scope: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that make up a row."""
        return self.scope

    def to_dict(self) -> JsonObject:
        """Return ``{"scope": […]}``."""
        return {"scope": list(self.scope)}

    @classmethod
    def from_dict(cls, entry: Entry) -> Distinct:
        """Rebuild the need from `to_dict`'s data."""
        return cls(tuple(entry["scope"]))


@dataclass(frozen=True)
class Gap(NeedFor["Gaps"]):
    """What is missing of the discrete variables in ``scopes``, and what was seen around it, in rows that lack values.

    >>> Gap((("A", "B"), ("B", "C"))).columns
    ('A', 'B', 'C')
    """

    kind: ClassVar[str] = "gap"
    takes_gaps = True
    scopes: tuple[tuple[str, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables of all scopes, each once."""
        return tuple(dict.fromkeys(name for scope in self.scopes for name in scope))

    def to_dict(self) -> JsonObject:
        """Return ``{"scopes": [[…], …]}``."""
        return {"scopes": [list(scope) for scope in self.scopes]}

    @classmethod
    def from_dict(cls, entry: Entry) -> Gap:
        """Rebuild the need from `to_dict`'s data."""
        return cls(tuple(tuple(scope) for scope in entry["scopes"]))


@dataclass(frozen=True)
class Sum(NeedFor["Sums"]):
    """A vector of ``size`` numbers added up over rows by a task, known by ``name``.

    >>> Sum("log_likelihood", 1)
    Sum(name='log_likelihood', size=1)
    """

    kind: ClassVar[str] = "sum"
    name: str
    size: int

    @property
    def columns(self) -> tuple[str, ...]:
        """None of its own: the task that fills it knows which columns it reads."""
        return ()

    def to_dict(self) -> JsonObject:
        """Return ``{"name": …, "size": …}``."""
        return {"name": self.name, "size": self.size}

    @classmethod
    def from_dict(cls, entry: Entry) -> Sum:
        """Rebuild the need from `to_dict`'s data."""
        return cls(entry["name"], int(entry["size"]))
