"""
Labels along sequences: the best path, the best few, probabilities and draws, with any potentials.

Sequences ``low`` to ``high`` are filled. ``offsets`` (S + 1,) says where they begin, ``scores`` (n, K) and ``steps``
(n, K, K) or (1, K, K) are log-potentials. Each function returns the first sequence that has no path of positive
probability, or −1.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray


def best_paths(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: int, high: int, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Fill the path of greatest score of each sequence, ``labels`` (n,), and its score, ``totals`` (S,).
    """

def n_best(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: int, high: int, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], n: int, paths: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], totals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], found: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Fill the ``n`` paths of greatest score of each sequence, best first.

    Parameters
    ----------
    paths : int32 array, shape (n, n_positions)
        Positions from the first of sequence ``low`` on.
    totals : array, shape (high − low, n)
    found : int64 array, shape (high − low,)
        How many paths of positive probability there are, up to ``n``.
    """

def forward(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: int, high: int, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], log_z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Fill log Σ over the paths up to each position that end in a label, less the greatest of them, ``reach`` (n, K), and the logarithm of the sum over all paths, ``log_z`` (S,).
    """

def backward(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: int, high: int, steps: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> int:
    """
    Turn what `forward` filled into the probabilities of labels, in place.

    Parameters
    ----------
    reach : array, shape (n, K)
    pairs : array, shape (n, K, K) or (0, K, K)
        Room for the probabilities of neighbouring labels, zero at first positions, if they are wanted.
    """

def draw_paths(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: int, high: int, steps: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Draw one path per sequence after `forward`: the last label first, then each given the one after it.
    """

def level() -> str:
    """
    Return the level of instructions that was chosen at import: 'avx2' or 'baseline'.
    """
