"""The numbers of a node in a BIF file become its table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.errors import FileFormatError, listing, suggestion
from suffice.io.bif.blocks import ProbabilityBlock, Row
from suffice.io.bif.lexer import BifText
from suffice.io.network_file import TOLERANCE
from suffice.io.syntax.marked_text import Span
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.tabular import TabularCPD, describe_configuration
from suffice.text import plural, shorten


@dataclass(frozen=True)
class Node:
    """A node, its block, and the codes of its parents' states; ``partial`` when rows may be left out, as unknown."""

    source: BifText
    block: ProbabilityBlock
    family: NodeFamily
    codes: Sequence[Mapping[str, int]]
    partial: bool = False

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.family.child.name

    @cached_property
    def n_rows(self) -> int:
        """Number of parent configurations."""
        return math.prod(len(codes) for codes in self.codes)

    def cpd(self) -> TabularCPD:
        """Return the table of the node."""
        table = self.block.table
        rows = self._listed() if table is None else self._table(table)
        return TabularCPD.from_raw(self.family, rows, TOLERANCE)

    def _table(self, span: Span) -> NDArray[np.float64]:
        numbers, _ = self.source.numbers([span])
        n_states = self.family.child.n_states
        if len(numbers) != self.n_rows * n_states:
            raise self.source.error(
                self.source.visible(span[0]),
                f"The table of {self.name!r} needs {self.n_rows * n_states:,} numbers, {plural(n_states, 'state')} × "
                f"{plural(self.n_rows, 'parent configuration')}. Got {len(numbers):,} instead.",
            )
        # The first variable, the child, varies slowest.
        rows = np.array(numbers).reshape(n_states, self.n_rows).T
        wrong = _improper_row(rows)
        if wrong is not None:
            hint = _improper_row(np.array(numbers).reshape(self.n_rows, n_states)) is None
            raise self._improper(
                rows[wrong], span, [state * self.n_rows + wrong for state in range(n_states)], wrong, hint
            )
        return rows

    def _listed(self) -> NDArray[np.float64]:
        """Return all rows, those of the default included."""
        spans = [row.numbers for row in self.block.rows]
        if self.block.default is not None:
            spans.append(self.block.default)
        listed, positions = self._numbers(spans), self._positions()
        if self.block.default is None and len(positions) < self.n_rows and not self.partial:
            raise self._missing(positions)
        wrong = _improper_row(listed)
        if wrong is not None:
            position = positions[wrong] if wrong < len(positions) else None
            raise self._improper(listed[wrong], spans[wrong], range(listed.shape[1]), position)
        rows = np.full((self.n_rows, self.family.child.n_states), np.nan)
        if self.block.default is not None:
            rows[:] = listed[-1]
        rows[positions] = listed[: len(positions)]
        return rows

    def _numbers(self, spans: Sequence[Span]) -> NDArray[np.float64]:
        """Return one row of numbers a span."""
        numbers, counts = self.source.numbers(spans)
        n_states = self.family.child.n_states
        for span, count in zip(spans, counts, strict=True):
            if count != n_states:
                raise self.source.error(
                    self.source.visible(span[0]),
                    f"A row of {self.name!r} needs {plural(n_states, 'number')}, one a state. Got {count} instead.",
                )
        return np.array(numbers).reshape(-1, n_states)

    def _positions(self) -> list[int]:
        """Return the number of the parent configuration of each listed row, the last parent varying fastest."""
        first: dict[int, Row] = {}
        for row in self.block.rows:
            position = self._position(row)
            if position in first:
                before = self.source.line(first[position].states[0])
                raise self.source.error(
                    row.states[0],
                    f"Node {self.name!r}: this row was given at line {before} already. Remove one of them.",
                )
            first[position] = row
        return list(first)

    def _position(self, row: Row) -> int:
        text, position = self.source.clean[slice(*row.states)], 0
        if '"' in text:
            return self._closer_position(row)
        try:
            for codes, word in zip(self.codes, text.split(","), strict=True):
                position = position * len(codes) + codes[word.strip()]
        except (KeyError, ValueError):
            return self._closer_position(row)
        return position

    def _closer_position(self, row: Row) -> int:
        """Find the row of a list that needs a closer look: quotation marks, blanks that separate, or a mistake."""
        names = self.source.names(row.states)
        if len(names) != len(self.codes):
            names = words if len(words := self.source.words(row.states)) == len(self.codes) else names
        if len(names) != len(self.codes):
            raise self.source.error(
                row.states[0],
                f"Node {self.name!r}: a row names one state for each of its {plural(len(self.codes), 'parent')}. "
                f"Got {listing(shorten(name.text) for name in names)} instead. A row ends with ';'.",
            )
        position = 0
        for parent, codes, name in zip(self.family.parents, self.codes, names, strict=True):
            if name.text not in codes:
                raise self.source.error(
                    name.at,
                    f"Node {self.name!r}: {shorten(name.text)!r} is not a state of its parent {parent.name!r}, which "
                    f"has {listing(codes)}.{suggestion(shorten(name.text), codes)} A row ends with ';'.",
                )
            position = position * len(codes) + codes[name.text]
        return position

    # Errors ---------------------------------------------------------------------------------------------------

    def _describe(self, row: int) -> str:
        codes = []
        for states in reversed(self.codes):
            row, code = divmod(row, len(states))
            codes.append(code)
        return describe_configuration(self.family.parents, codes[::-1])

    def _missing(self, positions: Sequence[int]) -> FileFormatError:
        if not positions:
            return self.source.error(self.block.at, f"Node {self.name!r} has no numbers. Add a table, or rows.")
        known = set(positions)
        row = next(row for row in range(self.n_rows) if row not in known)
        return self.source.error(
            self.block.at,
            f"Node {self.name!r} has {len(positions):,} of {plural(self.n_rows, 'row')}; the first that is missing is "
            f"for {self._describe(row)}. Add it, or a default entry.",
        )

    def _improper(
        self, row: NDArray[np.float64], span: Span, order: Sequence[int], position: int | None, hint: bool = False
    ) -> FileFormatError:
        """Say what is wrong with a row whose numbers are those of ``order`` in the span."""
        for value, index in zip(row.tolist(), order, strict=True):
            if not 0 <= value < math.inf:
                at = self.source.number_at(span, index)
                return self.source.error(
                    at, f"Node {self.name!r}: {self.source.excerpt(at)} is not a probability, a number from 0 to 1."
                )
        where = f"the row for {self._describe(position)}" if position is not None and self.codes else "the row"
        advice = (
            "With the child varying fastest the sums would be 1, but BIF lists the child's first state for all parents "
            "first."
            if hint
            else "Correct the numbers."
        )
        return self.source.error(
            self.source.number_at(span, order[0]),
            f"Node {self.name!r}: {where} sums to {sum(row.tolist()):.12g}, and sums further than {TOLERANCE} from 1 "
            f"are not taken for rounding. {advice}",
        )


def _improper_row(rows: NDArray[np.float64]) -> int | None:
    """Return the first row that is not a distribution, rounding aside."""
    with np.errstate(invalid="ignore", over="ignore"):
        proper = (rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) <= TOLERANCE)
    return None if proper.all() else int(np.argmin(proper))
