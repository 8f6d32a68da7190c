"""The tables of HUGIN NET: numbers in nested parentheses, which mirror the states of the parents."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.io.syntax.braces_file import BracesFile
from suffice.io.syntax.marked_text import Span
from suffice.text import plural

TOO_MANY = 10**15
_PARENTHESIS = re.compile(r"[()]")


def read_table(file: BracesFile, node: str, scope: Sequence[tuple[str, int]], value: Span) -> NDArray[np.float64]:
    """Return the numbers of a table as rows, one a parent configuration.

    Parameters
    ----------
    file : BracesFile
    node : str
        Its name, for messages.
    scope : sequence of (str, int)
        The parents, and the node itself last, with their numbers of states.
    value : tuple
        Where the numbers stand, with their parentheses.
    """
    flat = _is_flat(file, value)
    levels = [("", math.prod(n for _, n in scope))] if flat else list(scope)
    numbers = _Nested(file, node, levels).read(value)
    found = np.frombuffer(numbers, np.float64)
    file.check_probabilities(value, found)
    return found.reshape(-1, scope[-1][1])


def _is_flat(file: BracesFile, value: Span) -> bool:
    if file.shape[value[0]] != "(" or file.shape[value[1] - 1] != ")":
        raise file.error(value[0], "The numbers of a potential stand in parentheses, 'data = (0.5 0.5);'. Add them.")
    return file.shape.find("(", value[0] + 1, value[1]) < 0


class _Nested:
    """Reads nested lists without recursion; every list must have the length of its level."""

    def __init__(self, file: BracesFile, node: str, levels: list[tuple[str, int]]) -> None:
        self.file, self.node, self.levels = file, node, levels
        self.numbers = array("d")
        self.opened: list[tuple[int, int]] = []  # where each open list begins, and how many items it has so far

    def read(self, value: Span) -> array[float]:
        last = value[0]
        for found in _PARENTHESIS.finditer(self.file.shape, *value):
            self._between((last, found.start()))
            if found.group() == "(":
                self._open(found.start())
            else:
                self._close()
            last = found.end()
        return self.numbers

    def _between(self, span: Span) -> None:
        at = self.file.visible(span[0])
        while at < span[1] and self.file.clean[at] == ",":
            at = self.file.visible(at + 1)
        if at >= span[1]:
            return
        if not self.opened or len(self.opened) < len(self.levels):
            raise self._misplaced(at, f"Got {self.file.excerpt(at)}")
        begin, n_items = self.opened[-1]
        self.opened[-1] = begin, n_items + self.file.numbers(span, self.numbers)

    def _open(self, at: int) -> None:
        if len(self.opened) == len(self.levels) or (not self.opened and len(self.numbers)):
            raise self._misplaced(at, "Got one more '('")
        if self.opened:
            begin, n_items = self.opened[-1]
            self.opened[-1] = begin, n_items + 1
        self.opened.append((at, 0))

    def _close(self) -> None:
        depth = len(self.opened) - 1
        at, n_items = self.opened.pop()
        name, n_needed = self.levels[depth]
        if n_items == n_needed:
            return
        if depth < len(self.levels) - 1:
            what = f"{plural(n_needed, 'list')}, one a state of its parent {name!r}"
        elif n_needed > TOO_MANY:
            what = "more numbers than any file lists; give the node fewer parents"
        else:
            what = f"{plural(n_needed, 'number')}, one a state" + ("" if name else " and parent configuration")
        raise self.file.error(at, f"The table of {self.node!r} needs {what}, here. Got {n_items:,} instead.")

    def _misplaced(self, at: int, got: str) -> Exception:
        return self.file.error(
            at,
            f"The table of {self.node!r} needs {plural(len(self.levels), 'pair')} of parentheses around its numbers, "
            f"one for each parent and one for itself, or a single pair. {got} here.",
        )


def written_table(rows: NDArray[np.float64], sizes: Sequence[int]) -> Iterator[str]:
    """Yield the lines of a table, from its numbers and the parents' numbers of states."""
    blocks = [math.prod(sizes[i:]) for i in range(len(sizes))]
    for i, row in enumerate(rows.tolist()):
        n_opened = sum(i % block == 0 for block in blocks)
        n_closed = sum((i + 1) % block == 0 for block in blocks)
        indent = " " * (len(sizes) - n_opened)
        yield f"{indent}{'(' * n_opened}({' '.join(map(repr, row))}){')' * n_closed}"
