"""Gibbs sampling: one variable after another is drawn anew, given all others, in many chains at once.

Chains lie side by side: a *tile* holds the states of some chains, one row a variable, one *lane* a chain, and whatever
is done to a variable is done to all lanes in short loops that compilers turn into vector instructions.

Randomness is counter-based, Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): the number that decides about
(chain, sweep, variable) depends on these and the key alone, never on tiles, threads or how sweeps were shared out. One
call serves four chains.

A draw inverts the distribution function in whole numbers. State k is drawn when exactly k of the *cuts*
⌊2⁵³ P(x_v < 1)⌋, ⌊2⁵³ P(x_v < 2)⌋, … do not exceed a random number of 53 bits. Its upper 32 bits nearly always decide;
the others are made only when these equal those of a cut.

There are three ways to the cuts, chosen for each variable: TABLE, written down before for every configuration of the
neighbours; PAIR, from a field and couplings, for two states and tables of at most two variables; and ANY.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.kernels.jit import kernel

TABLE, PAIR, ANY = np.int64(0), np.int64(1), np.int64(2)
CHAINS_A_CALL = 4
BITS = np.float64(2**53)
LOW_BITS, SPARE_BITS = np.uint64(21), np.uint64(11)  # of the second word, those that are used, and the others
WORD = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ZERO, ONE, TWO, THREE, FOUR = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
ROUND_A, ROUND_C = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
STEP_K, STEP_M = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)


class Net(NamedTuple):
    """Variables and the tables that touch them, as arrays.

    ``x_at`` arrays have one place more than there are x: the range of x number i is ``x_at[i]`` to ``x_at[i + 1]``.
    """

    sizes: Any  # number of states of every variable
    order: Any  # the variables that are drawn, in this order
    touch_at: Any
    touch: Any  # for every table that holds a variable: where it begins, fixed variables at their states
    touch_step: Any  # how far apart the variable's states are in it
    other_at: Any
    other: Any  # the other variables of each of these tables
    other_step: Any
    near_at: Any
    near: Any  # the neighbours of every variable
    near_step: Any  # how far apart their states are in a configuration's number; TABLE only
    way: Any  # TABLE, PAIR or ANY, as far as the structure tells
    cut_at: Any  # the cuts of every variable, cut by cut, configurations within; TABLE only
    table_at: Any  # where every table begins
    member_at: Any
    member: Any  # the variables of every table
    member_step: Any


class Cuts(NamedTuple):
    """What the parameters make of a net."""

    way: Any  # PAIR has become ANY where a potential is zero
    upper: Any  # the upper 32 bits of every cut, 2³² − 1 instead of 2³²
    whole: Any
    field: Any  # log p(1)/p(0) when all neighbours are in state 0; PAIR only
    coupling: Any  # what a neighbour in state 1 adds to it


# Random words -------------------------------------------------------------------------------------------------


@kernel
def philox(words: Any, n: Any, first: Any, b: Any, c: Any, d: Any, key: Any, lock: Any) -> None:
    """Write 4 n words, those of the counters (first, b, c, d), (first + 1, b, c, d), … under a key of two words.

    All numbers are unsigned and 64 bits wide, though they hold 32.
    """
    for i in range(ZERO, n):
        w, x, y, z, k, m = first + i, b, c, d, key, lock
        for _ in range(10):
            p, q = ROUND_A * w, ROUND_C * y
            w, x, y, z = (q >> HALF) ^ x ^ k, q & WORD, (p >> HALF) ^ z ^ m, p & WORD
            k, m = (k + STEP_K) & WORD, (m + STEP_M) & WORD
        words[FOUR * i], words[FOUR * i + ONE], words[FOUR * i + TWO], words[FOUR * i + THREE] = w, x, y, z


@kernel
def draw_words(words: Any, chain: Any, sweep: Any, variable: Any, key: Any, lower: Any) -> None:
    """Write the words of all lanes, the first of which is the chain, a multiple of four; ``lower`` is 0 or 1."""
    philox(words, np.uint64(len(words)) // FOUR, chain // FOUR, sweep & WORD, variable,
           TWO * (sweep >> HALF) + lower, key & WORD, key >> HALF)  # fmt: skip


# Cuts ---------------------------------------------------------------------------------------------------------


@kernel
def _cut(log_p: Any, n: int, cuts: Any) -> None:
    """Write the n − 1 cuts of the distribution p ∝ exp(log_p); where nothing is possible, the first state is drawn."""
    top = -np.inf
    for k in range(n):
        top = max(top, log_p[k])
    total = 0.0
    for k in range(n):
        log_p[k] = np.exp(log_p[k] - top) if log_p[k] > -np.inf else 0.0
        total += log_p[k]
    below = 0.0
    for k in range(n - 1):
        below += log_p[k]
        cuts[k] = np.uint64(below / total * BITS) if total > 0 else np.uint64(BITS)


@kernel
def _upper(cut: Any) -> Any:
    """Return the upper bits of a cut; ties are looked at more closely, so that the last word may stand for 2³²."""
    return np.uint32(min(cut >> LOW_BITS, WORD))


@kernel
def write_cuts(net: Net, theta: Any, cuts: Cuts) -> None:
    """Fill the cuts of all variables, from the logarithms of all tables."""
    most = 1
    for v in net.order:
        most = max(most, net.sizes[v])
    codes, place = np.zeros(len(net.sizes), np.int64), np.zeros(len(net.sizes), np.int64)
    log_p, found = np.empty(most), np.empty(most, np.uint64)
    for v in net.order:
        cuts.way[v] = net.way[v]
        if net.way[v] == TABLE:
            _write_table(net, theta, cuts, v, codes, log_p, found)
        elif net.way[v] == PAIR and not _write_pair(net, theta, cuts, v, place):
            cuts.way[v] = ANY


@kernel
def _write_table(net: Net, theta: Any, cuts: Cuts, v: int, codes: Any, log_p: Any, found: Any) -> None:
    """Write the cuts of one variable for every configuration of its neighbours."""
    size = net.sizes[v]
    n = (net.cut_at[v + 1] - net.cut_at[v]) // (size - 1)
    for configuration in range(n):
        for j in range(net.near_at[v], net.near_at[v + 1]):
            codes[net.near[j]] = configuration // net.near_step[j] % net.sizes[net.near[j]]
        log_p[:size] = 0.0
        for t in range(net.touch_at[v], net.touch_at[v + 1]):
            at = net.touch[t]
            for o in range(net.other_at[t], net.other_at[t + 1]):
                at += net.other_step[o] * codes[net.other[o]]
            for k in range(size):
                log_p[k] += theta[at + k * net.touch_step[t]]
        _cut(log_p, size, found)
        for k in range(size - 1):
            cuts.whole[net.cut_at[v] + k * n + configuration] = found[k]
            cuts.upper[net.cut_at[v] + k * n + configuration] = _upper(found[k])


@kernel
def _write_pair(net: Net, theta: Any, cuts: Cuts, v: int, place: Any) -> bool:
    """Write the field and the couplings of a variable; return whether they are finite."""
    cuts.field[v] = 0.0
    for j in range(net.near_at[v], net.near_at[v + 1]):
        place[net.near[j]] = j
        cuts.coupling[j] = 0.0
    for t in range(net.touch_at[v], net.touch_at[v + 1]):
        at, step = net.touch[t], net.touch_step[t]
        if not (theta[at] > -np.inf and theta[at + step] > -np.inf):
            return False
        base = theta[at + step] - theta[at]
        cuts.field[v] += base
        for o in range(net.other_at[t], net.other_at[t + 1]):
            at += net.other_step[o]
            if not (theta[at] > -np.inf and theta[at + step] > -np.inf):
                return False
            cuts.coupling[place[net.other[o]]] += theta[at + step] - theta[at] - base
    return True


# One variable in all lanes ------------------------------------------------------------------------------------


@kernel
def _number(near: Any, near_step: Any, lo: int, hi: int, tile: Any, number: Any) -> None:
    """Write the number of the neighbours' configuration in every lane."""
    lanes = np.uint64(len(number))
    for i in range(ZERO, lanes):
        number[i] = 0
    for j in range(lo, hi):
        row, step = np.uint64(near[j]), np.uint8(near_step[j])
        for i in range(ZERO, lanes):
            number[i] += step * np.uint8(tile[row, i])


@kernel
def _look_up(table: Any, at: Any, number: Any, found: Any) -> None:
    for i in range(ZERO, np.uint64(len(number))):
        found[i] = table[at + np.uint64(number[i])]


@kernel
def _cuts_of_pair(net: Net, cuts: Cuts, v: int, tile: Any, odds: Any, whole: Any) -> None:
    """Write the cuts of a variable of two states, from its field and couplings."""
    lanes = np.uint64(len(odds))
    for i in range(ZERO, lanes):
        odds[i] = cuts.field[v]
    for j in range(net.near_at[v], net.near_at[v + 1]):
        row, coupling = np.uint64(net.near[j]), cuts.coupling[j]
        for i in range(ZERO, lanes):
            odds[i] += coupling * tile[row, i]
    for i in range(ZERO, lanes):
        if odds[i] > 0:
            below = np.exp(-odds[i])
            whole[0, i] = np.uint64(below / (1.0 + below) * BITS)
        else:
            whole[0, i] = np.uint64(1.0 / (1.0 + np.exp(odds[i])) * BITS)


@kernel
def _cuts_of_any(net: Net, theta: Any, v: int, tile: Any, at: Any, log_p: Any, whole: Any) -> None:
    """Write the cuts of a variable, from all tables that hold it."""
    size, lanes = net.sizes[v], np.uint64(len(at))
    log_p[:, :size] = 0.0
    for t in range(net.touch_at[v], net.touch_at[v + 1]):
        step = net.touch_step[t]
        for i in range(ZERO, lanes):
            at[i] = net.touch[t]
        for o in range(net.other_at[t], net.other_at[t + 1]):
            row, other_step = np.uint64(net.other[o]), net.other_step[o]
            for i in range(ZERO, lanes):
                at[i] += other_step * np.int64(tile[row, i])
        for i in range(ZERO, lanes):
            for k in range(size):
                log_p[i, k] += theta[at[i] + k * step]
    for i in range(ZERO, lanes):
        _cut(log_p[i], size, whole[:, i])


@kernel
def _begin(words: Any, upper: Any, row: Any, tile: Any) -> Any:
    """Draw state 0 or 1 by the first cut; return whether some lane has a tie."""
    tied = np.uint32(0)
    for i in range(ZERO, np.uint64(len(words))):
        tile[row, i] = np.uint8(words[i] > upper[i])
        tied |= np.uint32(words[i] == upper[i])
    return tied


@kernel
def _go_on(words: Any, upper: Any, row: Any, tile: Any) -> Any:
    """Draw a higher state where a further cut does not exceed the random number; return whether some lane has a tie."""
    tied = np.uint32(0)
    for i in range(ZERO, np.uint64(len(words))):
        tile[row, i] += np.uint8(words[i] > upper[i])
        tied |= np.uint32(words[i] == upper[i])
    return tied


@kernel
def _settle(words: Any, more: Any, whole: Any, n: int, v: int, tile: Any) -> None:
    """Draw again from all 53 bits."""
    for i in range(len(words)):
        u = (np.uint64(words[i]) << LOW_BITS) | (np.uint64(more[i]) >> SPARE_BITS)
        tile[v, i] = 0
        for k in range(n):
            tile[v, i] += np.uint8(u >= whole[k, i])


@kernel
def _uppers(whole: Any, k: int, upper: Any) -> None:
    for i in range(len(upper)):
        upper[i] = _upper(whole[k, i])


# Sweeps -------------------------------------------------------------------------------------------------------


@kernel
def _count(net: Net, tile: Any, at: Any, visits: Any) -> None:
    """Count the cell of every table that every chain is in."""
    for f in range(len(net.table_at) - 1):
        for i in range(len(at)):
            at[i] = net.table_at[f]
        for m in range(net.member_at[f], net.member_at[f + 1]):
            row, step = np.uint64(net.member[m]), net.member_step[m]
            for i in range(ZERO, np.uint64(len(at))):
                at[i] += step * np.int64(tile[row, i])
        for i in range(len(visits)):
            visits[i, at[i]] += 1.0


@kernel
def run_sweeps(net: Net, cuts: Cuts, theta: Any, states: Any, chain: Any, first: Any, sweeps: int, key: Any,
               visits: Any) -> None:  # fmt: skip
    """Sweep some chains.

    Parameters
    ----------
    net : Net
    cuts : Cuts
    theta : array
        The logarithms of all tables.
    states : array, shape (n_chains, n_variables), unsigned
        Changed in place.
    chain : uint64
        The number of the first of these chains, a multiple of four.
    first : uint64
        The number of the first sweep.
    sweeps : int
    key : uint64
    visits : array, shape (n_chains, n_cells) or (0, 0)
        Adds how often each chain was in each cell of each table after a sweep; (0, 0) counts nothing.
    """
    n_chains, n = states.shape
    lanes = (n_chains + CHAINS_A_CALL - 1) // CHAINS_A_CALL * CHAINS_A_CALL
    tile = np.empty((n, lanes), states.dtype)
    for i in range(lanes):
        for v in range(n):
            tile[v, i] = states[i if i < n_chains else 0, v]
    at = np.empty(lanes, np.int64)
    for sweep in range(first, first + np.uint64(sweeps)):
        _sweep(net, cuts, theta, tile, at, chain, sweep, key)
        if len(visits):
            _count(net, tile, at, visits)
    for i in range(n_chains):
        for v in range(n):
            states[i, v] = tile[v, i]


@kernel
def _sweep(net: Net, cuts: Cuts, theta: Any, tile: Any, at: Any, chain: Any, sweep: Any, key: Any) -> None:
    """Draw every variable anew in all lanes."""
    lanes, most = tile.shape[1], 2
    for v in net.order:
        most = max(most, net.sizes[v])
    words, more, upper = np.empty(lanes, np.uint32), np.empty(lanes, np.uint32), np.empty(lanes, np.uint32)
    number, whole = np.empty(lanes, np.uint8), np.empty((most - 1, lanes), np.uint64)
    odds, log_p = np.empty(lanes), np.empty((lanes, most))
    # Taking an array out of a tuple costs as much as drawing some lanes.
    sizes, way, near_at, near, near_step = net.sizes, cuts.way, net.near_at, net.near, net.near_step
    cut_at, table = net.cut_at, cuts.upper
    for v in net.order:
        row, n_cuts, tabled = np.uint64(v), sizes[v] - 1, way[v] == TABLE
        width = (cut_at[v + 1] - cut_at[v]) // n_cuts
        draw_words(words, chain, sweep, row, key, ZERO)
        if tabled:
            _number(near, near_step, near_at[v], near_at[v + 1], tile, number)
            _look_up(table, np.uint64(cut_at[v]), number, upper)
        else:
            if way[v] == PAIR:
                _cuts_of_pair(net, cuts, v, tile, odds, whole)
            else:
                _cuts_of_any(net, theta, v, tile, at, log_p, whole)
            _uppers(whole, 0, upper)
        tied = _begin(words, upper, row, tile)
        for k in range(1, n_cuts):
            if tabled:
                _look_up(table, np.uint64(cut_at[v] + k * width), number, upper)
            else:
                _uppers(whole, k, upper)
            tied |= _go_on(words, upper, row, tile)
        if tied:
            if tabled:
                for k in range(n_cuts):
                    _look_up(cuts.whole, np.uint64(cut_at[v] + k * width), number, whole[k])
            draw_words(more, chain, sweep, row, key, ONE)
            _settle(words, more, whole, n_cuts, v, tile)
