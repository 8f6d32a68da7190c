"""A pass spread over pieces: each worker opens a piece, reduces it to statistics, and the statistics are added.

What a worker does with its piece is what one machine does with a whole table, by the same code. An engine only says
where the pieces are worked on; so there is one loop over data, and an engine runs every learner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

from suffice.data.encode import require_few_numbers
from suffice.data.float_kinds import refuse_unclear
from suffice.data.schema import Schema
from suffice.data.stream import Policies
from suffice.progress import Watch
from suffice.stats.needs import Need
from suffice.stats.source import Source, Task
from suffice.stats.statistics import Statistics

Part = TypeVar("Part")


class Opening(Protocol):
    """How tables are opened for a structure: a value, so that it can travel to workers."""

    @property
    def policies(self) -> Policies:
        """Which columns are read, and how."""

    @property
    def by_rows(self) -> bool:
        """Whether rows themselves are needed: they may have gaps, or are checked one by one."""

    def __call__(self, data: Any, watch: Watch | None = None) -> Source:
        """Return the source over the rows of a table, or of a piece of one."""

    def given(self, schema: Schema) -> Opening:
        """Return the opening of parts that takes for continuous what is so in a sample."""

    def of_part(self) -> Opening:
        """Return the opening of parts of a table."""


@dataclass(frozen=True)
class Work:
    """What is done with each piece: gathering needs, or a task.

    Attributes
    ----------
    opening : callable
        From a piece to the source over its rows.
    schema : Schema or None
        The variables, once they are known.
    needs : tuple of Need
    task : Task or None
        In place of needs.
    """

    opening: Opening
    schema: Schema | None
    needs: tuple[Need, ...] = ()
    task: Task | None = None

    def __call__(self, piece: Any) -> Statistics:
        """Return the statistics of one piece."""
        source = self.opening(piece)
        if self.schema is not None:
            source = source.settled(self.schema)
        return source.gather(self.needs) if self.task is None else source.reduce(self.task)


class Engine(Protocol):
    """Where pieces are worked on."""

    @property
    def description(self) -> str:
        """A few words, such as ``Spark, 40 pieces``."""

    @property
    def n_parts(self) -> int | None:
        """How many parts are worked on, of which a watch is told; None where that is not known."""

    def sample(self) -> Any:
        """Return a piece, from which the kinds of the variables are learnt before the first pass."""

    def map_reduce(self, work: Work, watch: Watch) -> Statistics:
        """Add up what ``work`` returns for every piece; each piece counts exactly once, whatever has to be repeated."""


@dataclass(frozen=True)
class SpreadSource:
    """The source over the pieces of a table, wherever they are worked on.

    Attributes
    ----------
    opening : callable
        From a piece to the source over its rows.
    engine : Engine
    watch : Watch
    known : Schema or None
        The variables, once a pass has settled their states.
    """

    opening: Opening
    engine: Engine
    watch: Watch = field(default_factory=Watch)
    known: Schema | None = None

    @cached_property
    def schema(self) -> Schema:
        """The variables; which of them are discrete is known from one piece, all of their states only after a pass."""
        return self.known if self.known is not None else self.opening.of_part()(self.engine.sample()).schema

    def gather(self, needs: Iterable[Need]) -> Statistics:
        """Collect the statistics that answer ``needs``, in one pass."""
        return self._run(Work(self._opening, self.known, tuple(dict.fromkeys(needs))))

    def reduce(self, task: Task) -> Statistics:
        """Add up what ``task`` returns for every block, in one pass."""
        return self._run(Work(self._opening, self.known, task=task))

    @property
    def _opening(self) -> Opening:
        return self.opening.of_part() if self.known is not None else self.opening.given(self.schema)

    def _run(self, work: Work) -> Statistics:
        with self.watch.work(f"reading {self.engine.description}", self.engine.n_parts, "parts"):
            found = self.engine.map_reduce(work, self.watch)
        if self.known is None:
            policies = self.opening.policies
            said = {*policies.declared, *policies.continuous}
            refuse_unclear(trait for trait in found.traits if trait[0] not in said)
            for variable in found.schema.variables:  # one piece alone may not have shown so many
                if variable.name not in policies.declared:
                    require_few_numbers(variable)
        return replace(found, traits=frozenset())

    def settled(self, schema: Schema) -> SpreadSource:
        """Return the source for further passes, its states known."""
        return replace(self, known=schema)


def in_groups(pieces: Sequence[Part], most: int) -> list[list[Part]]:
    """Divide pieces among at most so many groups of neighbours, whose sizes differ by one at most.

    >>> in_groups("abcde", 2)
    [['a', 'b', 'c'], ['d', 'e']]
    """
    n_groups = max(1, min(most, len(pieces)))
    size, larger = divmod(len(pieces), n_groups)
    groups, begin = [], 0
    for group in range(n_groups):
        end = begin + size + (group < larger)
        groups.append(list(pieces[begin:end]))
        begin = end
    return groups
