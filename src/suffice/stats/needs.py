"""Needs: hashable requests for a statistic.

A need belongs to a structure, a method and a schema; it names what the data must be reduced to, never how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, runtime_checkable


@runtime_checkable
class Need(Protocol):
    """A request for one statistic; frozen, hashable and JSON-able."""

    kind: ClassVar[str]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that the statistic is computed from."""

    def to_dict(self) -> dict[str, Any]:
        """Return the need as JSON-able data, without its ``kind``."""

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Self:
        """Rebuild the need from `to_dict`'s data."""


@dataclass(frozen=True)
class Count:
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

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"scope": […]}``."""
        return {"scope": list(self.scope)}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Count:
        """Rebuild the need from `to_dict`'s data."""
        return cls(tuple(entry["scope"]))


@dataclass(frozen=True)
class Moment:
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

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"xs": […], "by": […]}``."""
        return {"xs": list(self.xs), "by": list(self.by)}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Moment:
        """Rebuild the need from `to_dict`'s data."""
        return cls(tuple(entry["xs"]), tuple(entry["by"]))


@dataclass(frozen=True)
class Distinct:
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

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"scope": […]}``."""
        return {"scope": list(self.scope)}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Distinct:
        """Rebuild the need from `to_dict`'s data."""
        return cls(tuple(entry["scope"]))


@dataclass(frozen=True)
class Gap:
    """What is missing of the discrete variables in ``scopes``, and what was seen around it, in rows that lack values.

    >>> Gap((("A", "B"), ("B", "C"))).columns
    ('A', 'B', 'C')
    """

    kind: ClassVar[str] = "gap"
    takes_gaps: ClassVar[bool] = True
    scopes: tuple[tuple[str, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables of all scopes, each once."""
        return tuple(dict.fromkeys(name for scope in self.scopes for name in scope))

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"scopes": [[…], …]}``."""
        return {"scopes": [list(scope) for scope in self.scopes]}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Gap:
        """Rebuild the need from `to_dict`'s data."""
        return cls(tuple(tuple(scope) for scope in entry["scopes"]))


@dataclass(frozen=True)
class Sum:
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

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"name": …, "size": …}``."""
        return {"name": self.name, "size": self.size}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Sum:
        """Rebuild the need from `to_dict`'s data."""
        return cls(entry["name"], int(entry["size"]))
