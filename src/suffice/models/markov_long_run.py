"""Where a Markov chain goes in the long run: its classes, their periods, and the stationary distribution.

A chain of order k is a chain of order 1 on blocks of k symbols: y_1 … y_k is followed by y_2 … y_k x with the
probability of x. Only blocks count whose row is known, that is, that the data or a prior speaks of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.errors import ModelError, Remedy, listing
from suffice.models.cpds.rows import all_configurations, find_rows
from suffice.models.cpds.tabular import TabularCPD
from suffice.types import Bools, Floats, Ints
from suffice.values import Label

MOST_BLOCKS = 1 << 18


@dataclass(frozen=True)
class CommunicatingClass:
    """Blocks of symbols that can all be reached from each other.

    Attributes
    ----------
    blocks : tuple of labels, or of tuples of labels where the order is more than one
    closed : bool
        The chain never leaves it again.
    period : int
        The chain returns to a block only after multiples of so many steps; 0 for a block that never returns.
    """

    blocks: tuple[Label | tuple[Label, ...], ...]
    closed: bool
    period: int


@dataclass(frozen=True)
class BlockChain:
    """The chain on blocks: ``blocks``, shape (n, k), and ``matrix``, sparse, shape (n, n), its rows summing to one.

    ``dead_ends`` are blocks that can be reached but whose row is unknown, shape (m, k); the matrix leaves them out.
    """

    blocks: Ints
    matrix: Any
    dead_ends: Ints


def block_chain(cpd: TabularCPD) -> BlockChain:
    """Return the chain on blocks of a chain of order one or more."""
    from scipy import sparse

    r, sizes = cpd.family.child.n_states, [parent.n_states for parent in cpd.family.parents]
    blocks = all_configurations(sizes) if cpd.configurations is None else cpd.configurations
    if cpd.default_row is not None and not np.isnan(cpd.default_row).any() and len(blocks) < math.prod(sizes):
        _require_few(math.prod(sizes))
        blocks = all_configurations(sizes)
    rows = cpd.probabilities(blocks)
    known = ~np.isnan(rows).any(axis=1)
    blocks, rows = blocks[known], rows[known]
    _require_few(len(blocks))
    origin, symbol = np.nonzero(rows)
    after = np.concatenate([blocks[origin, 1:], symbol[:, None]], axis=1)
    target = find_rows(after, [r] * len(sizes), blocks)
    lost = target < 0
    here = ~lost
    matrix = sparse.csr_array(
        (rows[origin[here], symbol[here]], (origin[here], target[here])), shape=(len(blocks), len(blocks))
    )
    return BlockChain(blocks, matrix, np.unique(after[lost], axis=0))


def _require_few(n_blocks: int) -> None:
    if n_blocks > MOST_BLOCKS:
        raise ModelError(
            f"The chain has {n_blocks:,} blocks, more than the {MOST_BLOCKS:,} whose long run can be computed. Fit a "
            "lower order."
        )


def components(chain: BlockChain) -> tuple[Ints, Bools]:
    """Return the number of each block's class, and which classes are closed."""
    from scipy.sparse.csgraph import connected_components

    n_classes, label = connected_components(chain.matrix, directed=True, connection="strong")
    links = chain.matrix.tocoo()
    row, column = links.coords
    closed = np.ones(n_classes, bool)
    closed[label[row[label[row] != label[column]]]] = False
    return label.astype(np.int64), closed


def period(chain: BlockChain, members: Ints) -> int:
    """Return the greatest common divisor of the lengths of all cycles within a class; 0 without any."""
    from scipy.sparse.csgraph import breadth_first_order

    inside = chain.matrix[members][:, members]
    order, before = breadth_first_order(inside, 0, directed=True)
    level = np.zeros(len(members), np.int64)
    for block in order[1:].tolist():
        level[block] = level[before[block]] + 1
    row, column = inside.tocoo().coords
    differences = np.abs(level[row] + 1 - level[column])
    return int(np.gcd.reduce(differences)) if len(differences) else 0


def stationary(chain: BlockChain, cpd: TabularCPD) -> Floats:
    """Return π with π P = π, shape (n_blocks,), where there is exactly one."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    label, closed = components(chain)
    if len(chain.dead_ends):
        ends = [written(cpd, block) for block in chain.dead_ends]
        raise ModelError(
            f"What follows {listing(ends, 4)} is unknown, because the data had no such case, so that the chain has no "
            "known long run. Fit with ",
            Remedy("unseen_parents", "uniform"),
            " or with a prior.",
        )
    found = np.flatnonzero(closed)
    if len(found) != 1:
        classes = [[written(cpd, block) for block in chain.blocks[label == number][:4]] for number in found]
        raise ModelError(
            f"The chain has {len(found)} closed classes, each with a stationary distribution of its own: "
            f"{listing(classes, 4)}. Where it ends depends on where it begins."
        )
    members = np.flatnonzero(label == found[0])
    pi = np.ones(len(members))
    if len(members) > 1:
        # With π = 1 at the first block the others solve a regular system, since the class is irreducible.
        inside = chain.matrix[members][:, members].T.tocsc()
        system = sparse.csc_array(sparse.eye_array(len(members) - 1) - inside[1:, 1:])
        right = inside[1:, [0]].toarray().reshape(-1)
        factors = splu(system)
        pi[1:] = factors.solve(right)  # eq stationary
        pi[1:] += factors.solve(right - system @ pi[1:])
    whole = np.zeros(len(chain.blocks))
    whole[members] = np.maximum(pi, 0.0) / np.maximum(pi, 0.0).sum()
    return whole


def classes(chain: BlockChain, cpd: TabularCPD) -> tuple[CommunicatingClass, ...]:
    """Return all classes, in the order of their first blocks."""
    label, closed = components(chain)
    found = []
    for number in dict.fromkeys(label.tolist()):
        members = np.flatnonzero(label == number)
        named = tuple(written(cpd, block) for block in chain.blocks[members])
        found.append(CommunicatingClass(named, bool(closed[number]), period(chain, members)))
    return tuple(found)


def written(cpd: TabularCPD, block: Ints) -> Label | tuple[Label, ...]:
    """Return a block's labels; a single label where the order is one."""
    labels = tuple(cpd.family.child.labels[code] for code in block.tolist())
    return labels[0] if len(labels) == 1 else labels
