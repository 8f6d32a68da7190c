"""Hidden Markov chains: what sequences are worth under one, which states they passed through, and expected counts.

A sequence longer than a piece is gone through piece by piece: forward once, keeping only where each piece is entered,
then backward with every piece's forward pass made again. So memory is that of a piece, however long sequences are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.native import hidden_chains as kernels
from suffice.settings import settings
from suffice.types import Codes, Columns, Floats

Whole = NDArray[np.int64]
Result = TypeVar("Result")
PIECE_CELLS = 1 << 15
"""Positions times states that are worked on at a time."""
RANGE_POSITIONS = 1 << 16
"""Positions, in whole sequences, whose sums are taken by themselves, so that results do not depend on threads."""


@dataclass(frozen=True, eq=False)
class TableEmission:
    """A discrete column: p(x | state), shape (K, n_codes)."""

    name: str
    rows: Floats

    @cached_property
    def logs(self) -> Floats:
        """Log-probabilities, a row a code; shape (n_codes, K)."""
        with np.errstate(divide="ignore"):
            return np.ascontiguousarray(np.log(self.rows).T)

    @cached_property
    def lookup(self) -> tuple[Floats, Floats, Floats]:
        """What a position shows, if it shows nothing else: scores, probabilities and tops; the last row for a gap."""
        logs = np.vstack([self.logs, np.zeros(self.logs.shape[1])])
        tops = logs.max(axis=1)
        tops[np.isneginf(tops)] = 0.0
        return logs, np.exp(logs - tops[:, None]), tops

    def add_scores(self, values: Codes, scores: Floats) -> None:
        """Add the log-probabilities of codes, −1 where missing."""
        kernels.add_table(np.ascontiguousarray(values), self.logs, scores)

    def zeros(self) -> Floats:
        """Return the sums of no positions."""
        return np.zeros(self.logs.shape)

    def add_sums(self, values: Codes, gamma: Floats, sums: Floats) -> None:
        """Add the probabilities of states to the counts of codes; shape (n_codes, K)."""
        kernels.count_codes(np.ascontiguousarray(values), gamma, sums)


@dataclass(frozen=True, eq=False)
class NormalEmission:
    """A continuous column, normal in every state: mean and variance, shape (K,), and the centre that sums are about."""

    name: str
    mean: Floats
    variance: Floats
    centre: float = 0.0

    def add_scores(self, values: Floats, scores: Floats) -> None:
        """Add the log-densities of numbers, NaN where missing."""
        constant = -0.5 * np.log(2 * math.pi * self.variance)
        numbers = np.ascontiguousarray(values, np.float64)
        kernels.add_normal(numbers, np.ascontiguousarray(self.mean), constant, 0.5 / self.variance, scores)

    def zeros(self) -> Floats:
        """Return the sums of no positions."""
        return np.zeros((len(self.mean), 3))

    def add_sums(self, values: Floats, gamma: Floats, sums: Floats) -> None:
        """Add weights, sums and sums of squares about the centre; shape (K, 3)."""
        kernels.sum_squares(np.ascontiguousarray(values, np.float64), self.centre, gamma, sums)


@dataclass(eq=False)
class ChainExpectations:
    """What sequences add up to.

    Attributes
    ----------
    log_likelihood : float
    first : array, shape (K,)
        Expected states of first positions.
    pairs : array, shape (K, K)
        Expected transitions.
    sums : list of array
        Of every emission, as its `add_sums` has them.
    impossible : int
        The first sequence of probability zero; −1 where there is none.
    """

    log_likelihood: float
    first: Floats
    pairs: Floats
    sums: list[Floats]
    impossible: int = -1

    def add(self, other: ChainExpectations) -> None:
        """Add what later sequences add up to."""
        self.log_likelihood += other.log_likelihood
        self.first += other.first
        self.pairs += other.pairs
        for place, more in enumerate(other.sums):
            self.sums[place] += more
        self.impossible = self.impossible if self.impossible >= 0 else other.impossible


class ChainBuffers:
    """Arrays for the positions that are worked on at a time."""

    def __init__(self, n: int, k: int) -> None:
        self._cells = [np.empty((n, k)) for _ in range(4)]
        self._rows = [np.empty(n) for _ in range(2)]

    def of(self, n: int) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
        """Return scores, p, α and γ, shape (n, K), then tops and scales, shape (n,)."""
        scores, p, alpha, gamma = (array[:n] for array in self._cells)
        tops, scales = (array[:n] for array in self._rows)
        return scores, p, alpha, gamma, tops, scales


@dataclass(frozen=True, eq=False)
class HiddenChain:
    """A hidden Markov chain in numbers, with everything known: no NaN.

    Attributes
    ----------
    initial : array, shape (K,)
    transitions : array, shape (K, K)
        From the state of the row to that of the column.
    emissions : tuple of TableEmission or NormalEmission
        Independent given the state.
    """

    initial: Floats
    transitions: Floats
    emissions: tuple[TableEmission | NormalEmission, ...]

    def __post_init__(self) -> None:
        for name, values in (("initial", self.initial), ("transitions", self.transitions)):  # as the kernels take them
            object.__setattr__(self, name, np.ascontiguousarray(values, np.float64))

    @property
    def n_states(self) -> int:
        """K."""
        return len(self.initial)

    @property
    def piece(self) -> int:
        """Positions that are worked on at a time."""
        return max(PIECE_CELLS // self.n_states, 64)

    # What sequences are worth ---------------------------------------------------------------------------------

    def expected(self, columns: Columns, offsets: Whole, weights: Floats) -> ChainExpectations:
        """Return the log-likelihood of whole sequences and the counts that are expected of them."""
        each = np.ascontiguousarray(weights, np.float64)
        parts = self._each(offsets, lambda low, high: self._range(columns, offsets, each, low, high))
        total = next(parts)
        for part in parts:
            total.add(part)
        return total

    def log_likelihoods(self, columns: Columns, offsets: Whole) -> Floats:
        """Return log p of every sequence, −inf where it is impossible; shape (n_sequences,)."""
        found = np.zeros(len(offsets) - 1)

        def work(low: int, high: int) -> None:
            room = ChainBuffers(self.piece, self.n_states)
            for first, last in self._groups(offsets, low, high):
                begin, end = int(offsets[first]), int(offsets[last])
                if end - begin > self.piece:
                    found[first] = math.fsum(self._forward(columns, begin, end, room)[0])
                    continue
                scores, p, alpha, _, tops, scales = self._filled(columns, begin, end, room)
                mine = offsets[first : last + 1] - begin
                kernels.fill_log_likelihoods(
                    scores, p, tops, mine, self.initial, self.transitions, alpha, scales, found[first:last]
                )

        list(self._each(offsets, work))
        return found

    def posteriors(self, columns: Columns, offsets: Whole) -> Floats:
        """Return p(state | the whole sequence) of every position, NaN if that is impossible; shape (n_positions, K)."""
        found = np.empty((int(offsets[-1]), self.n_states))
        ones = np.ones(len(offsets) - 1)
        list(self._each(offsets, lambda low, high: self._range(columns, offsets, ones, low, high, found)))
        found[found.sum(axis=1) == 0] = np.nan
        return found

    def paths(self, columns: Columns, offsets: Whole) -> NDArray[np.int32]:
        """Return the most probable states of every sequence together; shape (n_positions,)."""
        found = np.empty(int(offsets[-1]), np.int32)
        with np.errstate(divide="ignore"):
            starts, steps = np.log(self.initial), np.log(self.transitions)

        def work(low: int, high: int) -> None:
            room = ChainBuffers(self.piece, self.n_states)
            for first, last in self._groups(offsets, low, high):
                begin, end = int(offsets[first]), int(offsets[last])
                shape = end - begin, self.n_states
                back: NDArray[np.uint8] | NDArray[np.uint32] = np.empty(shape, np.uint32)
                if self.n_states <= 256:
                    back = np.empty(shape, np.uint8)
                if end - begin > self.piece:
                    best = starts.copy()
                    for at in range(begin, end, self.piece):
                        after = min(at + self.piece, end)
                        scores = self._filled(columns, at, after, room)[0]
                        kernels.extend_paths(scores, steps, best, at == begin, back[at - begin : after - begin])
                    kernels.trace_back(best, back, found[begin:end])
                    continue
                scores = self._filled(columns, begin, end, room)[0]
                mine = offsets[first : last + 1] - begin
                kernels.find_best_paths(scores, mine, starts, steps, back, found[begin:end])

        list(self._each(offsets, work))
        return found

    # How ------------------------------------------------------------------------------------------------------

    def _each(self, offsets: Whole, work: Callable[[int, int], Result]) -> Iterator[Result]:
        """Yield ``work(low, high)`` of ranges of sequences, in order; at least of one, which may be empty."""
        ranges: list[tuple[int, int]] = []
        low, n = 0, len(offsets) - 1
        while low < n or not ranges:
            reach = int(np.searchsorted(offsets, offsets[low] + RANGE_POSITIONS, "right")) - 1
            high = min(max(reach, low + 1), n)
            ranges.append((low, high))
            low = high
        threads = min(settings().threads, len(ranges))
        if threads <= 1:
            yield from (work(*one) for one in ranges)
            return
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(lambda one: work(*one), ranges)

    def _range(
        self, columns: Columns, offsets: Whole, weights: Floats, low: int, high: int, kept: Floats | None = None
    ) -> ChainExpectations:
        """Return the sums of some sequences; ``kept`` is filled with the probabilities of states."""
        k = self.n_states
        total = ChainExpectations(0.0, np.zeros(k), np.zeros((k, k)), [emission.zeros() for emission in self.emissions])
        room = ChainBuffers(self.piece, k)
        for first, last in self._groups(offsets, low, high):
            begin, end = int(offsets[first]), int(offsets[last])
            if end - begin > self.piece:
                worth = np.array([self._long(columns, begin, end, float(weights[first]), room, total, kept)])
            else:
                scores, p, alpha, gamma, tops, scales = self._filled(columns, begin, end, room)
                worth, mine = np.zeros(last - first), weights[first:last]
                kernels.smooth(
                    scores, p, tops, offsets[first : last + 1] - begin, mine, self.initial, self.transitions, alpha,
                    scales, gamma, total.first, total.pairs, worth,
                )  # fmt: skip
                self._add_emissions(columns, begin, end, gamma, total, kept)
            lost = np.flatnonzero(np.isneginf(worth))
            if len(lost) and total.impossible < 0:
                total.impossible = first + int(lost[0])
            with np.errstate(invalid="ignore"):
                terms = np.where(weights[first:last] > 0, weights[first:last] * worth, 0.0)
            total.log_likelihood += math.fsum(terms)
        total.pairs *= self.transitions
        return total

    def _groups(self, offsets: Whole, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Yield stretches of sequences that fit into a piece, or one sequence alone that does not."""
        while low < high:
            reach = int(np.searchsorted(offsets, offsets[low] + self.piece, "right")) - 1
            after = min(max(reach, low + 1), high)
            yield low, after
            low = after

    def _filled(
        self, columns: Columns, begin: int, end: int, room: ChainBuffers
    ) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
        """Return the arrays of some positions, with scores, p and tops filled."""
        arrays = room.of(end - begin)
        scores, p, _, _, tops, _ = arrays
        only = self.emissions[0]
        if len(self.emissions) == 1 and isinstance(only, TableEmission):
            codes = np.ascontiguousarray(columns[only.name][begin:end])
            kernels.look_up_emissions(codes, *only.lookup, scores, p, tops)
            return arrays
        scores.fill(0.0)
        for emission in self.emissions:
            emission.add_scores(columns[emission.name][begin:end], scores)
        kernels.exponentiate(scores, p, tops)
        return arrays

    def _add_emissions(
        self, columns: Columns, begin: int, end: int, gamma: Floats, total: ChainExpectations, kept: Floats | None
    ) -> None:
        if kept is not None:
            kept[begin:end] = gamma
            return
        for emission, sums in zip(self.emissions, total.sums, strict=True):
            emission.add_sums(columns[emission.name][begin:end], gamma, sums)

    def _forward(self, columns: Columns, begin: int, end: int, room: ChainBuffers) -> tuple[list[float], list[Floats]]:
        """Go forward through one sequence: log p of its pieces, and how each is entered."""
        before, worth, entered = self.initial.copy(), [], []
        for low in range(begin, end, self.piece):
            entered.append(before.copy())
            scores, p, alpha, _, tops, scales = self._filled(columns, low, min(low + self.piece, end), room)
            worth.append(kernels.forward(scores, p, tops, self.transitions, before, alpha, scales))
            if worth[-1] == -math.inf:
                break
        return worth, entered

    def _long(
        self,
        columns: Columns,
        begin: int,
        end: int,
        weight: float,
        room: ChainBuffers,
        total: ChainExpectations,
        kept: Floats | None,
    ) -> float:
        """Add the sums of one sequence of many pieces, and return its log p."""
        worth, entered = self._forward(columns, begin, end, room)
        if worth[-1] == -math.inf:
            if kept is not None:
                kept[begin:end] = 0.0
            return -math.inf
        beta, shown = np.ones(self.n_states), np.empty(self.n_states)
        for number in range(len(entered) - 1, -1, -1):
            low = begin + number * self.piece
            high = min(low + self.piece, end)
            scores, p, alpha, gamma, tops, scales = self._filled(columns, low, high, room)
            kernels.forward(scores, p, tops, self.transitions, entered[number].copy(), alpha, scales)
            if high < end:
                kernels.step_back(self.transitions, alpha[-1], shown, beta, weight, total.pairs)
            kernels.backward(p, self.transitions, alpha, scales, beta, weight, gamma, total.pairs, shown)
            self._add_emissions(columns, low, high, gamma, total, kept)
            if not number:
                total.first += gamma[0]
        return math.fsum(worth)
