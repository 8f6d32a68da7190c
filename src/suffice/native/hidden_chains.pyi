"""
Hidden Markov chains: emissions, forward and backward passes, best paths.
"""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


@overload
def look_up_emissions(codes: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], highest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tops: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def look_up_emissions(codes: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], highest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tops: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def look_up_emissions(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], highest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tops: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def look_up_emissions(codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], highest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tops: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Fill scores, p and the tops of positions that show one discrete column only.

    Parameters
    ----------
    codes : array of signed integers, shape (n,)
        Negative where missing.
    logs, rows : arrays, shape (n_codes + 1, K)
        Scores and p of every code, and of a missing one in the last row.
    highest : array, shape (n_codes + 1,)
    scores, p : arrays, shape (n, K)
    tops : array, shape (n,)
    """

@overload
def add_table(codes: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def add_table(codes: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def add_table(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def add_table(codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add the log-probabilities of a discrete column, nothing where it is missing.

    Parameters
    ----------
    codes : array of signed integers, shape (n,)
    logs : array, shape (n_codes, K)
    scores : array, shape (n, K)
    """

@overload
def count_codes(codes: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def count_codes(codes: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def count_codes(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def count_codes(codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add γ to the row of every code.

    Parameters
    ----------
    codes : array of signed integers, shape (n,)
    gamma : array, shape (n, K)
    counts : array, shape (n_codes, K)
    """

def add_normal(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], constant: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], half: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add log-densities, constant − half (x − mean)² in every state, nothing where x is NaN.

    Parameters
    ----------
    values : array, shape (n,)
    mean, constant, half : arrays, shape (K,)
    scores : array, shape (n, K)
    """

def exponentiate(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tops: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Fill p, shape (n, K), and the tops, shape (n,), from scores, shape (n, K).
    """

def sum_squares(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centre: float, gamma: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add γ, γ(x − c) and γ(x − c)² of the positions that have a value.

    Parameters
    ----------
    values : array, shape (n,)
        NaN where missing.
    centre : float
    gamma : array, shape (n, K)
    sums : array, shape (K, 3)
    """

def forward(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tops: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], before: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float:
    """
    Fill α and the scales of a stretch; return log p of what it shows, −inf where it is impossible.

    Parameters
    ----------
    scores, p : arrays, shape (n, K)
    tops : array, shape (n,)
        p and tops are changed where they lose all that can be reached.
    transitions : array, shape (K, K)
    before : array, shape (K,)
        The distribution of the first position's state, what it shows left out of account; it is changed to that of the
        position after the stretch.
    alpha : array, shape (n, K)
    scales : array, shape (n,)
    """

def backward(p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], weight: float, gamma: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], shown: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Fill weight · γ of a stretch, and add to the expected ``pairs`` of all its positions but the first.

    A position t adds weight · α_t−1 ⊗ p_t β_t / scale_t.

    Parameters
    ----------
    p, alpha, gamma : arrays, shape (n, K)
    transitions, pairs : arrays, shape (K, K)
    scales : array, shape (n,)
    beta : array, shape (K,)
        That of the last position; it is changed to that of the first.
    weight : float
    shown : array, shape (K,)
        Filled with the first position's p_t β_t / scale_t, with which the stretch before goes on: `step_back`.
    """

def step_back(transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shown: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], weight: float, pairs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Take one step back, from what the next position shows to β of the one whose α this is; add to ``pairs``.

    Parameters
    ----------
    transitions, pairs : arrays, shape (K, K)
    alpha, shown, beta : arrays, shape (K,)
    weight : float
    """

def smooth(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tops: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], gamma: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], first: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Run whole sequences: fill log p of each and weight · γ; add to the first states and to the pairs.

    Impossible sequences have log p = −inf and γ = 0.

    Parameters
    ----------
    scores, p, alpha, gamma : arrays, shape (n, K)
    tops, scales : arrays, shape (n,)
    offsets : int64 array, shape (n_sequences + 1,)
    weights, totals : arrays, shape (n_sequences,)
    initial, first : arrays, shape (K,)
    transitions, pairs : arrays, shape (K, K)
    """

def fill_log_likelihoods(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tops: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Fill log p of whole sequences, −inf where it is zero.

    Parameters
    ----------
    scores, p, alpha : arrays, shape (n, K)
    tops, scales : arrays, shape (n,)
    offsets : int64 array, shape (n_sequences + 1,)
    initial : array, shape (K,)
    transitions : array, shape (K, K)
    totals : array, shape (n_sequences,)
    """

@overload
def extend_paths(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], log_transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], best: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], begins: bool, back: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def extend_paths(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], log_transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], best: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], begins: bool, back: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Carry the best log-probability of a path into every state through a stretch; note where each came from.

    Parameters
    ----------
    scores : array, shape (n, K)
    log_transitions : array, shape (K, K)
    best : array, shape (K,)
        That of the first position without what it shows if the stretch ``begins`` a sequence, else that of the position
        before; it is changed to that of the last position.
    begins : bool
    back : array of uint8 or uint32, shape (n, K)
        The state before each; where a sequence begins, the first row is left as it is.
    """

@overload
def trace_back(best: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], back: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], path: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def trace_back(best: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], back: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], path: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Follow the notes of a whole sequence from its best end to its beginning; of equal ends the first.

    Parameters
    ----------
    best : array, shape (K,)
    back : array of uint8 or uint32, shape (n, K)
    path : int32 array, shape (n,)
    """

@overload
def find_best_paths(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], back: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], path: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def find_best_paths(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], back: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu')], path: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Fill the most probable states of whole sequences.

    Parameters
    ----------
    scores : array, shape (n, K)
    offsets : int64 array, shape (n_sequences + 1,)
    log_initial : array, shape (K,)
    log_transitions : array, shape (K, K)
    back : array of uint8 or uint32, shape (n, K)
        Room.
    path : int32 array, shape (n,)
    """
