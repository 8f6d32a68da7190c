"""Chains of labels given their potentials: the best path, the best few, probabilities and draws.

p(y) ∝ exp Σ_t (scores[t, y_t] + steps[t, y_t−1, y_t]) for each of several sequences. A potential of −inf forbids what
it belongs to. An empty sequence has one path, which is empty and has the score 0.

Of paths with equal scores the one whose last label has the smaller code comes first; where last labels agree, the one
before decides, and so on. No result depends on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ArgumentError, Mention, ModelError, require_whole, shown
from suffice.inference import label_chains_scaled as scaled
from suffice.native import label_paths as kernels
from suffice.settings import settings
from suffice.text import in_bytes
from suffice.types import Floats, Ints

Codes = NDArray[np.int32]
Path = tuple[Codes, float]

PIECE_CELLS = 1 << 22
LEAST_POSITIONS, MOST_POSITIONS = 1 << 8, 1 << 14
"""Pieces that threads take have about so many cells, within these limits."""
POINTER_BYTES = 1 << 26
"""Memory for a piece's pointers in `n_best`, if no single sequence needs more."""


@dataclass(frozen=True, eq=False)
class Potentials:
    """Logarithms of potentials along sequences of labels, one sequence after the other.

    Parameters
    ----------
    offsets : array of int, shape (n_sequences + 1,)
        Where each sequence begins; sequences may be empty.
    scores : array, shape (n, K)
        Of each label at each position.
    steps : array, shape (K, K) or (n, K, K)
        Of two neighbouring labels, the earlier one first: for all positions, or for the step that leads to each
        position. The matrices of first positions have no effect.

    Raises
    ------
    ArgumentError
        When shapes do not agree, or a potential is NaN or +inf.

    Examples
    --------
    >>> p = Potentials(np.array([0, 3]), np.log([[1, 1], [1, 1], [1, 3]]), np.log([[2, 1], [1, 2]]))
    >>> labels, scores = best_paths(p)
    >>> labels.tolist(), np.exp(scores).round(9).tolist()
    ([1, 1, 1], [12.0])
    >>> np.exp(log_z(p)).round(9).tolist()
    [36.0]
    >>> marginals(p).round(3).tolist()
    [[0.472, 0.528], [0.417, 0.583], [0.25, 0.75]]
    """

    offsets: Ints
    scores: Floats
    steps: Floats

    def __post_init__(self) -> None:
        offsets, scores = np.ascontiguousarray(self.offsets, np.int64), np.ascontiguousarray(self.scores, np.float64)
        steps = np.ascontiguousarray(self.steps, np.float64)
        held: Ints | Floats
        for name, held in (("offsets", offsets.view()), ("scores", scores.view()), ("steps", steps.view())):
            held.flags.writeable = False
            object.__setattr__(self, name, held)
        self._require_shapes()
        self._require_below_infinity("scores", self.scores)
        self._require_below_infinity("steps", self.steps)

    def _require_shapes(self) -> None:
        if self.scores.ndim != 2 or self.scores.shape[1] == 0:
            raise ArgumentError(
                "The 'scores' argument must have one row a position and one column a label, at least one. Got an array "
                f"of shape {self.scores.shape} instead."
            )
        n, n_labels = self.scores.shape
        if self.steps.shape not in ((n_labels, n_labels), (n, n_labels, n_labels)):
            raise ArgumentError(
                f"The 'steps' argument must have the shape {(n_labels, n_labels)}, or {(n, n_labels, n_labels)} for a "
                f"matrix of its own at each position. Got {self.steps.shape} instead."
            )
        offsets = self.offsets
        if offsets.ndim != 1 or not len(offsets) or offsets[0] or offsets[-1] != n or (np.diff(offsets) < 0).any():
            raise ArgumentError(
                f"The 'offsets' argument must rise from 0 to the number of positions, {n:,}. Got "
                f"{shown(offsets.tolist())} instead."
            )

    def _require_below_infinity(self, name: str, values: Floats) -> None:
        if values.max(initial=-np.inf) < np.inf:  # which NaN is not
            return
        wrong = ~(values < np.inf)
        if values.ndim == 3:
            wrong[self.firsts] = False
        if wrong.any():
            place = tuple(map(int, np.argwhere(wrong)[0]))
            raise ArgumentError(
                f"The {name!r} argument must hold finite numbers, or −inf for what is impossible. Got {values[place]} "
                f"at {place} instead."
            )

    @property
    def n_sequences(self) -> int:
        """The number of sequences."""
        return len(self.offsets) - 1

    @property
    def n_positions(self) -> int:
        """The number of positions of all sequences."""
        return len(self.scores)

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self.scores.shape[1])

    @cached_property
    def firsts(self) -> Ints:
        """The first positions of the sequences that are not empty."""
        return self.offsets[:-1][np.diff(self.offsets) > 0]

    @property
    def matrices(self) -> Floats:
        """The steps, shape (n, K, K) or (1, K, K)."""
        if self.steps.ndim == 2:
            return self.steps[None]
        return self.steps if len(self.steps) else np.zeros((1, self.n_labels, self.n_labels))


def pieces(offsets: Ints, positions: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole sequences, each of at most so many positions, or of one sequence that has more.

    >>> list(pieces(np.array([0, 2, 4, 4, 9, 10]), 4))
    [(0, 3), (3, 4), (4, 5)]
    """
    low, end = 0, len(offsets) - 1
    while low < end:
        reach = int(np.searchsorted(offsets, offsets[low] + positions, "right")) - 1
        high = min(max(reach, low + 1), end)
        yield low, high
        low = high


# Paths --------------------------------------------------------------------------------------------------------


def path_scores(p: Potentials, labels: ArrayLike) -> Floats:
    """Return the score of given paths, not normalised; shape (n_sequences,).

    Parameters
    ----------
    p : Potentials
    labels : array of int, shape (n,)

    Examples
    --------
    >>> scores = np.array([[0.0, 1.0], [0.0, 2.0], [5.0, 0.0]])
    >>> p = Potentials(np.array([0, 2, 3]), scores, np.array([[0.0, 0.5], [0.0, 0.0]]))
    >>> path_scores(p, [0, 1, 0]).tolist()
    [2.5, 5.0]
    """
    codes = _codes(p, labels)
    here = np.arange(p.n_positions)
    gains = np.zeros(p.n_positions)
    if p.steps.ndim == 2:
        gains[1:] = p.steps[codes[:-1], codes[1:]]
    else:
        gains[1:] = p.steps[here[1:], codes[:-1], codes[1:]]
    gains[p.firsts] = 0.0
    gains += p.scores[here, codes]
    sequence = np.repeat(np.arange(p.n_sequences), np.diff(p.offsets))
    return np.asarray(np.bincount(sequence, gains, minlength=p.n_sequences), np.float64)


def best_paths(p: Potentials) -> tuple[Codes, Floats]:
    """Return the path of greatest score of each sequence (Viterbi).

    Returns
    -------
    labels : array of int32, shape (n,)
    scores : array, shape (n_sequences,)
        Not normalised.

    Raises
    ------
    ModelError
        When all paths of a sequence are impossible. So do all functions below.
    """
    labels, totals = np.zeros(p.n_positions, np.int32), np.zeros(p.n_sequences)
    steps = p.matrices
    _over_pieces(p, lambda low, high: kernels.best_paths(p.offsets, low, high, p.scores, steps, labels, totals))
    return labels, totals


def n_best(p: Potentials, n: int) -> list[list[Path]]:
    """Return the ``n`` paths of greatest score of each sequence, best first.

    Returns
    -------
    list of list of (labels, score)
        One list a sequence; it is shorter when fewer paths are possible. Scores are not normalised.

    Notes
    -----
    The best ``n`` paths to each label are kept at each position (list Viterbi): a time of O(K² + K n²) a position at
    most, and a memory of 4 K n bytes a position.

    Examples
    --------
    >>> p = Potentials(np.array([0, 2]), np.array([[0.0, 1.0], [0.0, 3.0]]), np.zeros((2, 2)))
    >>> [(labels.tolist(), score) for labels, score in n_best(p, 3)[0]]
    [([1, 1], 4.0), ([0, 1], 3.0), ([1, 0], 1.0)]
    """
    longest = int(np.diff(p.offsets).max(initial=0))
    asked = require_whole("n", n, 1)
    kept = min(asked, p.n_labels ** min(longest, asked.bit_length()))  # no sequence has more paths
    _require_room_for_paths(p, kept, longest)
    steps = p.matrices
    listed: list[list[Path]] = [[] for _ in range(p.n_sequences)]

    def fill(low: int, high: int) -> int:
        first, last = int(p.offsets[low]), int(p.offsets[high])
        paths, totals = np.zeros((kept, last - first), np.int32), np.zeros((high - low, kept))
        found = np.zeros(high - low, np.int64)
        impossible = kernels.n_best(p.offsets, low, high, p.scores, steps, kept, paths, totals, found)
        for s in range(low, high):
            begin, end = p.offsets[s] - first, p.offsets[s + 1] - first
            ranks = range(int(found[s - low]))
            listed[s] = [(paths[rank, begin:end].copy(), float(totals[s - low, rank])) for rank in ranks]
        return impossible

    _over_pieces(p, fill, POINTER_BYTES // (4 * p.n_labels * kept))
    return listed


def draw_paths(p: Potentials, rng: np.random.Generator) -> Codes:
    """Draw a path of each sequence from p(y); shape (n,).

    Notes
    -----
    Forward filtering, backward sampling: exact. One number of ``rng`` is used for each position.
    """
    steps = p.matrices
    _, reach = _forward(p)
    uniform, labels = rng.random(p.n_positions), np.zeros(p.n_positions, np.int32)
    _over_pieces(p, lambda low, high: kernels.draw_paths(p.offsets, low, high, steps, reach, uniform, labels))
    return labels


# Sums over all paths ------------------------------------------------------------------------------------------


def log_z(p: Potentials) -> Floats:
    """Return the logarithm of the sum over all paths of exp(score); shape (n_sequences,)."""
    return (_scaled(p, singles=False) or _forward(p))[0]


def marginals(p: Potentials) -> Floats:
    """Return the probability of each label at each position; shape (n, K)."""
    found = _scaled(p, singles=True)
    return found[1] if found else _backward(p, np.zeros((0, p.n_labels, p.n_labels)))[1]


def step_marginals(p: Potentials) -> Floats:
    """Return the probability of each pair of neighbouring labels; shape (n, K, K).

    What stands at a position belongs to the step that leads to it; first positions have zeros.
    """
    return expectations(p)[2]


def expectations(p: Potentials) -> tuple[Floats, Floats, Floats]:
    """Return `log_z`, `marginals` and `step_marginals` in one go."""
    n_bytes = 8 * p.n_positions * p.n_labels**2
    if n_bytes > settings().memory:
        raise ModelError(
            f"The probabilities of pairs of {p.n_labels:,} labels at {p.n_positions:,} positions would need "
            f"{in_bytes(n_bytes)}. Take fewer sequences at a time, or raise ",
            Mention("memory", "sf.config(memory=…)"),
            ".",
        )
    pairs = np.zeros((p.n_positions, p.n_labels, p.n_labels))
    return *_backward(p, pairs), pairs


def _forward(p: Potentials) -> tuple[Floats, Floats]:
    """Return log Z, and log Σ over the paths up to each position that end in a label, less the greatest; (n, K)."""
    steps = p.matrices
    sums, reach = np.zeros(p.n_sequences), np.zeros((p.n_positions, p.n_labels))
    _over_pieces(p, lambda low, high: kernels.forward(p.offsets, low, high, p.scores, steps, reach, sums))
    return sums, reach


def _backward(p: Potentials, pairs: Floats) -> tuple[Floats, Floats]:
    """Return log Z and the probabilities of labels; fill those of pairs if there is room for them."""
    steps = p.matrices
    sums, chances = _forward(p)
    _over_pieces(p, lambda low, high: kernels.backward(p.offsets, low, high, steps, chances, pairs))
    return sums, chances


def _scaled(p: Potentials, singles: bool) -> tuple[Floats, Floats] | None:
    """Return the same in linear space, which is quicker; None where that may lose digits."""
    if p.steps.ndim == 3 or not scaled.is_safe(p.offsets, p.scores, p.steps):
        return None
    step = scaled.exponentials_of(p.steps)
    sums, chances = np.zeros(p.n_sequences), np.zeros((p.n_positions if singles else 0, p.n_labels))
    most = scaled.POSITIONS
    _over_pieces(p, lambda low, high: scaled.fill(p.offsets, low, high, p.scores, step, sums, chances), most)
    return sums, chances


# Threads ------------------------------------------------------------------------------------------------------


def _over_pieces(p: Potentials, fill: Callable[[int, int], int], most: int = MOST_POSITIONS) -> None:
    """Let threads fill what belongs to ranges of sequences; raise when one of these has no possible path."""
    positions = max(LEAST_POSITIONS, min(PIECE_CELLS // p.n_labels**2, MOST_POSITIONS))
    ranges = list(pieces(p.offsets, min(positions, max(most, 1))))
    threads = min(settings().threads, len(ranges))
    if threads <= 1:
        impossible = [fill(*bounds) for bounds in ranges]
    else:
        with ThreadPoolExecutor(threads) as pool:
            impossible = list(pool.map(lambda bounds: fill(*bounds), ranges))
    for s in impossible:
        if s >= 0:
            raise ModelError(
                f"Sequence {s}: all paths of labels are impossible, since each has a potential of −inf. Make one path "
                "possible at least."
            )


# Checks -------------------------------------------------------------------------------------------------------


def _codes(p: Potentials, labels: ArrayLike) -> Ints:
    """Return the codes of labels, after a look at them."""
    codes = np.asarray(labels)
    if codes.shape != (p.n_positions,) or (codes.size and codes.dtype.kind not in "iu"):
        raise ArgumentError(
            f"The 'labels' argument must hold one whole number for each of the {p.n_positions:,} positions. Got an "
            f"array of {codes.dtype} and shape {codes.shape} instead."
        )
    wrong = np.flatnonzero((codes < 0) | (codes >= p.n_labels))
    if len(wrong):
        raise ArgumentError(
            f"The 'labels' argument must hold codes from 0 to {p.n_labels - 1}. Got {codes[wrong[0]]} at position "
            f"{wrong[0]:,} instead."
        )
    return codes.astype(np.int64)


def _require_room_for_paths(p: Potentials, n: int, longest: int) -> None:
    """Raise when the pointers of each thread's sequence, and the paths of all, take more memory than they may."""
    n_bytes = p.n_labels * n * (4 * longest + 16) * settings().threads + 4 * n * p.n_positions
    if n_bytes > settings().memory or p.n_labels * n >= 1 << 31:  # pointers have 32 bits
        raise ArgumentError(
            f"The 'n' argument asks for {shown(n)} paths of each sequence, up to {longest:,} positions long, which "
            f"would need {in_bytes(min(n_bytes, 10**30))}. Ask for fewer, take fewer sequences at a time, or raise ",
            Mention("memory", "sf.config(memory=…)"),
            ".",
        )
