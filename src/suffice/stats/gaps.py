"""Gaps: what is missing in rows of discrete variables, and what was seen around it; all that EM asks of such rows.

The missing variables of a row fall into components: two belong together if some scope, a family or a clique, holds
both. Given what was seen, components are independent, and each depends on the codes of the other variables in its
scopes only. A component with these codes is a situation. Equal situations of different rows are one, with a weight; so
there are far fewer of them than rows, and scopes in which nothing is missing are counted once and for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from suffice.data.block import Block
from suffice.data.schema import Schema
from suffice.data.variable import Variable, unite
from suffice.errors import StatisticsError, listing
from suffice.native.missing_values import find_components, find_surroundings, number_lists
from suffice.settings import more_memory, settings
from suffice.stats.counts import require_factor
from suffice.stats.gap_lists import order_of, ragged, starts, taken
from suffice.stats.needs import Gap
from suffice.text import in_bytes, plural
from suffice.types import Array, Codes, Floats, Ints

PIECE = 1 << 16
"""Rows that are looked at together."""
ARRAYS = ("member_at", "members", "kind", "code_at", "codes", "weights")


@dataclass(frozen=True)
class Surroundings:
    """Which scopes each kind of component touches, and which other variables these hold; lists one after another."""

    touched_at: Ints
    touched: Ints
    edge_at: Ints
    edge: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Gaps:
    """The distinct situations of rows with gaps.

    Attributes
    ----------
    variables : tuple of Variable
        In the order of the need's columns; the arrays speak of their places.
    scopes : tuple of tuple of str
    member_at, members : arrays, shapes (n_kinds + 1,) and (…,)
        The missing variables of every kind of component, one list after another, each in ascending order.
    kind : array, shape (n_situations,)
        The kind of every situation.
    code_at, codes : arrays, shapes (n_situations + 1,) and (…,)
        What was seen around it, in ascending order of the variables.
    weights : array, shape (n_situations,)

    Examples
    --------
    >>> variables = [Variable(name, (0, 1)) for name in "ABC"]
    >>> rows = np.array([[0, -1, 1], [0, -1, 1], [-1, -1, 1], [1, 1, 1]])
    >>> Gaps.of_rows(variables, (("A", "B"), ("B", "C")), rows)
    Gaps(2 situations of 2 kinds, weight 3)
    """

    variables: tuple[Variable, ...]
    scopes: tuple[tuple[str, ...], ...]
    member_at: Ints = field(repr=False)
    members: Ints = field(repr=False)
    kind: Ints = field(repr=False)
    code_at: Ints = field(repr=False)
    codes: Ints = field(repr=False)
    weights: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for name, array in self.to_arrays().items():
            if array.flags.writeable:
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    # Building -------------------------------------------------------------------------------------------------

    @classmethod
    def of_rows(
        cls,
        variables: Sequence[Variable],
        scopes: Sequence[Sequence[str]],
        rows: Codes,
        weights: Array | None = None,
    ) -> Gaps:
        """Build from rows of codes, shape (n_rows, n_variables), negative where a value is missing."""
        empty = cls._nothing(tuple(variables), tuple(map(tuple, scopes)))
        kept = (rows < 0).any(axis=1)
        if weights is not None:
            kept &= weights > 0
        codes = np.ascontiguousarray(rows[kept], np.int32)
        if not len(codes):
            return empty
        row_of, at, members = find_components(codes, *empty._near)
        kind, first = number_lists(np.zeros(len(row_of), np.int64), at, members)
        member_at, members = taken(at, members, first)
        kinds = replace(empty, member_at=member_at, members=members)
        code_at, variable = taken(kinds.surroundings.edge_at, kinds.surroundings.edge, kind)
        found = codes[np.repeat(row_of, np.diff(code_at)), variable].astype(np.int64)
        mine = np.ones(len(kind)) if weights is None else np.asarray(weights, np.float64)[kept][row_of]
        return replace(kinds, kind=kind, code_at=code_at, codes=found, weights=mine)._united()

    @classmethod
    def _nothing(cls, variables: tuple[Variable, ...], scopes: tuple[tuple[str, ...], ...]) -> Gaps:
        none, start = np.zeros(0, np.int64), np.zeros(1, np.int64)
        return cls(variables, scopes, start, none, none, start, none, np.zeros(0))

    @classmethod
    def of_block(cls, need: Gap, block: Block) -> Gaps:
        """Reduce one block of rows, which may have gaps."""
        variables = tuple(block.schema[name] for name in need.columns)
        columns = [np.asarray(block.columns[name]) for name in need.columns]
        total = cls._nothing(variables, need.scopes)
        for low in range(0, block.n_rows, PIECE):
            part = slice(low, low + PIECE)
            rows = np.stack([column[part] for column in columns], axis=1)
            weights = None if block.weights is None else block.weights[part]
            total = total + cls.of_rows(variables, need.scopes, rows, weights)
        return total._within_memory()

    @classmethod
    def zero(cls, need: Gap, schema: Schema) -> Gaps:
        """Return the situations of no rows."""
        return cls._nothing(tuple(schema[name] for name in need.columns), need.scopes)

    # What follows from the scopes -----------------------------------------------------------------------------

    @cached_property
    def _scope_lists(self) -> list[list[int]]:
        place = {variable.name: position for position, variable in enumerate(self.variables)}
        return [[place[name] for name in scope] for scope in self.scopes]

    @cached_property
    def _near(self) -> tuple[Ints, Ints]:
        """The variables that share a scope with each variable."""
        near: list[set[int]] = [set() for _ in self.variables]
        for scope in self._scope_lists:
            for v in scope:
                near[v].update(scope)
        return ragged([sorted(others - {v}) for v, others in enumerate(near)])

    @cached_property
    def surroundings(self) -> Surroundings:
        """What each kind of component touches."""
        holding: list[list[int]] = [[] for _ in self.variables]
        for number, scope in enumerate(self._scope_lists):
            for v in scope:
                holding[v].append(number)
        lists = (*ragged(holding), *ragged(self._scope_lists))
        return Surroundings(*find_surroundings(self.member_at, self.members, *lists))

    # The monoid -----------------------------------------------------------------------------------------------

    @property
    def need(self) -> Gap:
        """The request that these gaps answer."""
        return Gap(self.scopes)

    def __add__(self, other: Gaps) -> Gaps:
        if not isinstance(other, Gaps):
            return NotImplemented
        if self.need != other.need:
            raise StatisticsError("Gaps of rows that were collected for different structures cannot be added.")
        if self.variables != other.variables:
            schema = Schema(tuple(unite(a, b) for a, b in zip(self.variables, other.variables, strict=True)))
            return self.reindexed(schema) + other.reindexed(schema)
        if not self.n or not other.n:
            return other if not self.n else self
        at = starts(np.concatenate([np.diff(self.member_at), np.diff(other.member_at)]))
        both = np.concatenate([self.members, other.members])
        same, first = number_lists(np.zeros(len(at) - 1, np.int64), at, both)
        kind = np.concatenate([self.kind, other.kind + len(self.member_at) - 1])
        member_at, members = taken(at, both, first)
        return replace(
            self,
            member_at=member_at,
            members=members,
            kind=same[kind],
            code_at=starts(np.concatenate([np.diff(self.code_at), np.diff(other.code_at)])),
            codes=np.concatenate([self.codes, other.codes]),
            weights=np.concatenate([self.weights, other.weights]),
        )._united()

    def _united(self) -> Gaps:
        """Return the situations with equal ones made one, in an order that does not depend on that of the rows."""
        kinds = np.argsort(order_of(self.member_at, self.members), kind="stable")
        rank = np.empty(len(kinds), np.int64)
        rank[kinds] = np.arange(len(kinds))
        group, first = number_lists(self.kind, self.code_at, self.codes)
        weights: Floats = np.bincount(group, self.weights, len(first)).astype(np.float64)
        code_at, codes = taken(self.code_at, self.codes, first)
        kind = rank[self.kind[first]]
        order = np.lexsort((order_of(code_at, codes), kind))
        member_at, members = taken(self.member_at, self.members, kinds)
        code_at, codes = taken(code_at, codes, order)
        return Gaps(self.variables, self.scopes, member_at, members, kind[order], code_at, codes, weights[order])

    def _within_memory(self) -> Gaps:
        n_bytes, allowed = sum(array.nbytes for array in self.to_arrays().values()), settings().memory
        if n_bytes > allowed:
            raise StatisticsError(
                f"The {plural(self.n, 'situation')} in which values are missing take {in_bytes(n_bytes)}, more than "
                f"the {in_bytes(allowed)} that are allowed. Leave out rows that lack most of their values, or "
                "allow more: ",
                more_memory(n_bytes),
                ".",
            )
        return self

    def scaled(self, factor: float) -> Gaps:
        """Return the gaps with every weight multiplied by ``factor`` ≥ 0."""
        by = require_factor(factor)
        return replace(self, weights=self.weights * by) if by > 0 else self._nothing(self.variables, self.scopes)

    def reindexed(self, schema: Schema) -> Gaps:
        """Return the gaps over a schema with at least these states."""
        variables = tuple(schema[variable.name] for variable in self.variables)
        if variables == self.variables:
            return self
        recoding = {
            old.name: np.array([new.code(state) for state in old.labels], np.int64)
            for old, new in zip(self.variables, variables, strict=True)
        }
        return self.recoded(schema, recoding)

    def recoded(self, schema: Schema, recoding: Mapping[str, Codes]) -> Gaps:
        """Return the gaps with code c of a variable replaced by ``recoding[variable][c]``."""
        variables = tuple(schema[variable.name] for variable in self.variables)
        codes = np.array(self.codes)
        of = self.variable_of_code
        for position, variable in enumerate(self.variables):
            if variable.name in recoding:
                here = of == position
                codes[here] = np.asarray(recoding[variable.name])[codes[here]]
        return replace(self, variables=variables, codes=codes)

    def renamed(self, variables: Mapping[str, Variable]) -> Gaps:
        """Return the same gaps of other variables with the same states."""
        names = {variable.name: variables.get(variable.name, variable).name for variable in self.variables}
        scopes = tuple(tuple(names[name] for name in scope) for scope in self.scopes)
        return replace(self, variables=tuple(variables.get(v.name, v) for v in self.variables), scopes=scopes)

    def to_arrays(self) -> dict[str, Array]:
        """Return the numbers as named arrays."""
        return {
            "member_at": self.member_at,
            "members": self.members,
            "kind": self.kind,
            "code_at": self.code_at,
            "codes": self.codes,
            "weights": self.weights,
        }

    @classmethod
    def from_arrays(cls, need: Gap, schema: Schema, arrays: Mapping[str, Array]) -> Gaps:
        """Rebuild from `to_arrays`."""
        variables = tuple(schema[name] for name in need.columns)
        held = {name: np.asarray(arrays[name], np.int64, order="C") for name in ARRAYS[:-1]}
        found = cls(variables, need.scopes, **held, weights=np.asarray(arrays["weights"], np.float64, order="C"))
        found._require_proper()
        return found

    def _require_proper(self) -> None:
        """Refuse arrays that a damaged file may hold."""
        lists = ((self.member_at, self.members), (self.code_at, self.codes))
        fine = all(array.ndim == 1 for array in self.to_arrays().values())
        fine = fine and all(len(at) and at[0] == 0 and at[-1] == len(values) for at, values in lists)
        fine = fine and all((np.diff(at) >= 0).all() for at, _ in lists)
        fine = fine and len(self.kind) == len(self.weights) == len(self.code_at) - 1
        fine = fine and bool(np.isfinite(self.weights).all() and (self.weights >= 0).all())
        for values, end in ((self.members, len(self.variables)), (self.kind, len(self.member_at) - 1)):
            fine = fine and bool((values >= 0).all() and (values < end).all())
        fine = fine and np.array_equal(np.diff(self.code_at), np.diff(self.surroundings.edge_at)[self.kind])
        sizes = np.array([variable.n_states for variable in self.variables], np.int64)
        if not (fine and (self.codes >= 0).all() and (self.codes < sizes[self.variable_of_code]).all()):
            raise StatisticsError(
                f"The gaps of {listing([v.name for v in self.variables], 6)} are not proper: their lists do not agree, "
                "or a code or weight is out of range."
            )

    # Looking --------------------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of situations."""
        return len(self.kind)

    @property
    def n_kinds(self) -> int:
        """Number of different sets of variables that are missing together."""
        return len(self.member_at) - 1

    @cached_property
    def variable_of_code(self) -> Ints:
        """The place of the variable that each of the codes is of."""
        return taken(self.surroundings.edge_at, self.surroundings.edge, self.kind)[1]

    def described(self, situation: int) -> str:
        """Return what was seen in a situation, in words."""
        lo, hi = self.code_at[situation], self.code_at[situation + 1]
        seen = zip(self.variable_of_code[lo:hi].tolist(), self.codes[lo:hi].tolist(), strict=True)
        said = [f"{self.variables[v].name}={self.variables[v].labels[code]!r}" for v, code in seen]
        return ", ".join(said[:8]) + (", …" if len(said) > 8 else "")

    def __repr__(self) -> str:
        return f"Gaps({plural(self.n, 'situation')} of {plural(self.n_kinds, 'kind')}, weight {self.weights.sum():g})"


def collect_gaps(needs: Sequence[Gap], block: Block) -> dict[Gap, Gaps]:
    """Collect the gaps that answer ``needs`` from one block."""
    return {need: Gaps.of_block(need, block) for need in needs}
