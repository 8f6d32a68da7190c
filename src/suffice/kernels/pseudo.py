"""Kernels of the pseudo-likelihood: every variable of every row given all others.

Everything is relative to what was observed. The *turn* r of a variable is the state r places after the observed one,
round the circle: turn 0 is the observed state itself. Its logit is

    l_vr = Σ_{S∋v} θ_S(x with x_v turned by r) − θ_S(x),    so that l_v0 = 0 and log p(x_v | x_−v) = −log Σ_r exp(l_vr).

Rows go through in tiles, scope by scope, so that the inner loops run along the rows of a tile.

===========  ==================================================================================================
x            a row of codes; the codes of a tile lie variable by variable
θ            the tables of all scopes, flat
p_vr         the conditional probability of a turn, given the rest of the row
f_vr         the features (rows of the design D) of all scopes that hold the variable, summed, at a turn
``line``     where the turns of each variable begin among the lines of a tile's array, shape (Σ sizes, tile rows)
===========  ==================================================================================================

The weighted sums are added to what ``out`` holds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.kernels.jit import kernel

TILE_CELLS = 1 << 22  # of one array of a tile, unless a single variable has more states
LEAST_TILE, LARGEST_TILE = 8, 128
U = np.uint64  # places in arrays: signed ones would be tested for counting from the end, which hinders vector code


class Incidence(NamedTuple):
    """Which variables lie in which scopes, in both directions.

    Attributes
    ----------
    sizes, line : int64 arrays, shape (n_variables,) and (n_variables + 1,)
        Numbers of states, and their sums so far.
    starts : int64 array, shape (n_scopes,)
        Where each table begins in θ.
    member_at, member, member_stride : int64 arrays
        The variables of scope S are ``member[member_at[S]:member_at[S + 1]]``; each has a stride in the table.
    touch_at, touch, touch_stride : int64 arrays
        The scopes that hold variable v are ``touch[touch_at[v]:touch_at[v + 1]]``, with the stride of v in each.
    """

    sizes: Any
    line: Any
    starts: Any
    member_at: Any
    member: Any
    member_stride: Any
    touch_at: Any
    touch: Any
    touch_stride: Any


class Design(NamedTuple):
    """The rows of D, compressed: row c holds ``value[at[c]:at[c + 1]]`` in the columns ``column[…]``."""

    at: Any
    column: Any
    value: Any


# One tile -----------------------------------------------------------------------------------------------------


@kernel
def _tile_rows(model: Any) -> Any:
    return max(LEAST_TILE, min(LARGEST_TILE, TILE_CELLS // max(1, model.line[-1])))


@kernel
def _find_cells(model: Any, scope: int, codes: Any, low: int, n: int, lanes: int, step: int, cells: Any) -> None:
    """Write the place of a scope's cell in every row of a tile; rows take turns among the copies ``step`` apart."""
    for i in range(n):
        cells[i] = U(model.starts[scope] + (i & (lanes - 1)) * step)
    for m in range(model.member_at[scope], model.member_at[scope + 1]):
        code, stride = codes[model.member[m], low : low + n], model.member_stride[m]
        for i in range(n):
            cells[i] += U(code[i] * stride)


@kernel
def _find_turns(model: Any, codes: Any, low: int, n: int, theta: Any, cells: Any, out: Any) -> None:
    """Write Σ_{S∋v} θ_S(turned) − θ_S(observed) of every variable and turn."""
    out[:, :n] = 0.0
    for scope in range(len(model.starts)):
        _find_cells(model, scope, codes, low, n, 1, 0, cells)
        for m in range(model.member_at[scope], model.member_at[scope + 1]):
            v, stride = model.member[m], model.member_stride[m]
            code, size = codes[v, low : low + n], model.sizes[v]
            for r in range(1, size):
                line, ahead, round_ = out[model.line[v] + r], U(r * stride), U((r - size) * stride)
                for i in range(n):
                    turned = cells[i] + (ahead if code[i] < size - r else round_)
                    line[i] += theta[turned] - theta[cells[i]]


@kernel
def _normalise(model: Any, weights: Any, low: int, n: int, logits: Any) -> float:
    """Replace logits by probabilities; return Σ_i n_i Σ_v log p_v0."""
    log_p = 0.0
    for v in range(len(model.sizes)):
        first, end = model.line[v], model.line[v + 1]
        for i in range(n):
            top = first
            for k in range(first + 1, end):
                if logits[k, i] > logits[top, i]:
                    top = k
            highest, others = logits[top, i], 0.0
            for k in range(first, end):
                if k != top:
                    logits[k, i] = np.exp(logits[k, i] - highest)
                    others += logits[k, i]
            logits[top, i] = 1.0
            for k in range(first, end):
                logits[k, i] /= 1.0 + others
            log_p -= weights[low + i] * (highest + np.log1p(others))  # eq pseudo-likelihood
    return log_p


@kernel
def _put_back(model: Any, codes: Any, low: int, n: int, moved: Any, n_theta: int, cells: Any, left: Any,
              out: Any) -> None:  # fmt: skip
    """Add what ``moved`` says of every variable and turn to the cells turned to; take it from the observed cells.

    ``out`` may hold several copies of all cells, a power of two. Neighbouring rows, which often meet in one cell, then
    need not wait for each other's sum; the copies are to be added.
    """
    lanes = len(out) // max(1, n_theta)
    for scope in range(len(model.starts)):
        _find_cells(model, scope, codes, low, n, lanes, n_theta, cells)
        left[:n] = 0.0
        for m in range(model.member_at[scope], model.member_at[scope + 1]):
            v, stride = model.member[m], model.member_stride[m]
            code, size = codes[v, low : low + n], model.sizes[v]
            for r in range(1, size):
                line, ahead, round_ = moved[model.line[v] + r], U(r * stride), U((r - size) * stride)
                for i in range(n):
                    turned = cells[i] + (ahead if code[i] < size - r else round_)
                    out[turned] += line[i]
                    left[i] += line[i]
        for i in range(n):
            out[cells[i]] -= left[i]


# Sums over rows -----------------------------------------------------------------------------------------------


@kernel
def count_observed(model: Any, codes: Any, weights: Any, out: Any) -> None:
    """Add the weight of every observed cell, once for each variable of its scope."""
    cells = np.empty(len(weights), U)
    for scope in range(len(model.starts)):
        _find_cells(model, scope, codes, 0, len(weights), 1, 0, cells)
        times = model.member_at[scope + 1] - model.member_at[scope]
        for i in range(len(weights)):
            out[cells[i]] += weights[i] * times


@kernel
def find_impossible(model: Any, codes: Any, theta: Any, out: Any) -> None:
    """Mark the rows that have a cell where θ is −inf."""
    cells = np.empty(len(out), U)
    for scope in range(len(model.starts)):
        _find_cells(model, scope, codes, 0, len(out), 1, 0, cells)
        for i in range(len(out)):
            out[i] |= theta[cells[i]] == -np.inf


@kernel
def expect(model: Any, codes: Any, weights: Any, low: int, high: int, theta: Any, out: Any) -> float:
    """Add to every cell what rows low … high expect of it beyond what they hold; return Σ_i n_i Σ_v log p_v0."""
    tile, log_p = _tile_rows(model), 0.0
    p, cells, left = np.empty((model.line[-1], tile)), np.empty(tile, U), np.empty(tile)
    for start in range(low, high, tile):
        n = min(tile, high - start)
        _find_turns(model, codes, start, n, theta, cells, p)
        log_p += _normalise(model, weights, start, n, p)
        for k in range(len(p)):
            for i in range(n):
                p[k, i] *= weights[start + i]
        _put_back(model, codes, start, n, p, len(theta), cells, left, out)
    return log_p


@kernel
def curve(model: Any, codes: Any, weights: Any, low: int, high: int, theta: Any, direction: Any, out: Any) -> None:
    """Add the derivative of what `expect` adds, in a direction of θ: n_i p_vr (d_vr − Σ_r p_vr d_vr)."""
    tile = _tile_rows(model)
    p, along = np.empty((model.line[-1], tile)), np.empty((model.line[-1], tile))
    cells, left = np.empty(tile, U), np.empty(tile)
    for start in range(low, high, tile):
        n = min(tile, high - start)
        _find_turns(model, codes, start, n, theta, cells, p)
        _normalise(model, weights, start, n, p)
        _find_turns(model, codes, start, n, direction, cells, along)
        for v in range(len(model.sizes)):
            for i in range(n):
                mean = 0.0
                for k in range(model.line[v], model.line[v + 1]):
                    mean += p[k, i] * along[k, i]
                for k in range(model.line[v], model.line[v + 1]):
                    along[k, i] = weights[start + i] * p[k, i] * (along[k, i] - mean)
        _put_back(model, codes, start, n, along, len(theta), cells, left, out)


# In the space of weights --------------------------------------------------------------------------------------


@kernel
def _add_features(design: Any, cell: int, factor: float, out: Any, row: int) -> None:
    for e in range(design.at[cell], design.at[cell + 1]):
        out[row, design.column[e]] += factor * design.value[e]


@kernel
def score_rows(model: Any, design: Any, codes: Any, weights: Any, low: int, high: int, theta: Any, out: Any) -> None:
    """Add the score of every row, Σ_v (f_v0 − Σ_r p_vr f_vr), to its line of ``out``, shape (high − low, n_weights)."""
    tile = _tile_rows(model)
    p, cells = np.empty((model.line[-1], tile)), np.empty(tile, U)
    for start in range(low, high, tile):
        n = min(tile, high - start)
        _find_turns(model, codes, start, n, theta, cells, p)
        _normalise(model, weights, start, n, p)
        for scope in range(len(model.starts)):
            _find_cells(model, scope, codes, start, n, 1, 0, cells)
            for m in range(model.member_at[scope], model.member_at[scope + 1]):
                v, stride = model.member[m], model.member_stride[m]
                for r in range(1, model.sizes[v]):
                    line = p[model.line[v] + r]
                    for i in range(n):
                        cell = np.int64(cells[i])
                        shift = r if codes[v, start + i] + r < model.sizes[v] else r - model.sizes[v]
                        _add_features(design, cell, line[i], out, start - low + i)
                        _add_features(design, cell + shift * stride, -line[i], out, start - low + i)


@kernel
def _gather_features(model: Any, design: Any, v: int, codes: Any, i: int, place: Any, found: Any, f: Any) -> int:
    """Write f_vr of row i into ``f[r, :]``, its columns the weights ``found``; return how many these are.

    ``place`` has −1 for every weight, before and after.
    """
    n, size, code = 0, model.sizes[v], codes[v, i]
    for t in range(model.touch_at[v], model.touch_at[v + 1]):
        scope, stride = model.touch[t], model.touch_stride[t]
        cell = model.starts[scope]
        for m in range(model.member_at[scope], model.member_at[scope + 1]):
            cell += codes[model.member[m], i] * model.member_stride[m]
        for r in range(size):
            turned = cell + (r if code + r < size else r - size) * stride
            for e in range(design.at[turned], design.at[turned + 1]):
                column = design.column[e]
                if place[column] < 0:
                    place[column], found[n] = n, column
                    f[:size, n] = 0.0
                    n += 1
                f[r, place[column]] += design.value[e]
    for a in range(n):
        place[found[a]] = -1
    return n


@kernel
def _add_square(factor: float, values: Any, n: int, found: Any, nonzero: Any, out: Any) -> None:
    """Add factor · values valuesᵀ at the weights ``found``: each pair of weights once, at one of its two places."""
    m = 0
    for a in range(n):
        if values[a] != 0:
            nonzero[m] = a
            m += 1
    for i in range(m):
        a = nonzero[i]
        line, scaled = out[found[a]], factor * values[a]
        for j in range(i + 1):
            line[found[nonzero[j]]] += scaled * values[nonzero[j]]


@kernel
def add_covariances(model: Any, design: Any, codes: Any, weights: Any, low: int, high: int, theta: Any, width: int,
                    out: Any) -> None:  # fmt: skip
    """Add Σ_i n_i Σ_v Cov(f_v), each pair of weights once: what is wanted is ``out + outᵀ`` with the diagonal once.

    Only the weights that touch a variable in the row are visited. Features are taken relative to the likeliest turn,
    so that nearly certain conditionals do not lose their small variances to rounding.

    Parameters
    ----------
    width : int
        A bound on the number of weights that touch one variable.
    out : array, shape (n_weights, n_weights)
    """
    tile, most = _tile_rows(model), model.sizes.max()
    p, cells = np.empty((model.line[-1], tile)), np.empty(tile, U)
    f, mean = np.empty((most, width)), np.empty(width)
    found, nonzero = np.empty(width, np.int64), np.empty(width, np.int64)
    place = np.full(len(out), -1, np.int64)
    for start in range(low, high, tile):
        rows = min(tile, high - start)
        _find_turns(model, codes, start, rows, theta, cells, p)
        _normalise(model, weights, start, rows, p)
        for i in range(rows):
            for v in range(len(model.sizes)):
                n = _gather_features(model, design, v, codes, start + i, place, found, f)
                chance = p[model.line[v] : model.line[v + 1], i]
                top = chance.argmax()
                mean[:n] = 0.0
                for r in range(len(chance)):
                    if r != top:
                        for a in range(n):
                            f[r, a] -= f[top, a]
                            mean[a] += chance[r] * f[r, a]
                        _add_square(weights[start + i] * chance[r], f[r], n, found, nonzero, out)
                _add_square(-weights[start + i], mean, n, found, nonzero, out)
