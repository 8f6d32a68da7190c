"""Fuzzed calls of `suffice.native.row_queries`.

Tables and separators are drawn by themselves: the kernels do not ask whether they agree with each other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzz.evidence_rows import draw_cliques, draw_values, subset
from tests.native.fuzzing import Case

from suffice.native import row_queries, trees


def draw_soft(chance: Generator, sizes: list[int]) -> tuple[Any, Any]:
    """Draw likelihoods of the states of some variables."""
    at, weights = np.full(len(sizes), -1, np.int64), [1.0]
    if chance.random() < 0.5:
        return at, np.array(weights)
    for variable, size in enumerate(sizes):
        if chance.random() < 0.2:
            at[variable] = len(weights)
            weights += draw_values(chance, size).tolist()
    return at, np.array(weights)


def draw_codes(chance: Generator, sizes: list[int], free: list[int], n: int) -> Any:
    """Draw rows of evidence, none on the variables that are free."""
    codes = np.floor(chance.random((n, len(sizes))) * sizes).astype(np.int64)
    codes[chance.random(codes.shape) < (0.1, 0.5, 0.8, 1.0)[int(chance.integers(0, 4))]] = -1
    codes[:, free] = -1
    return codes


def draw_query(chance: Generator) -> tuple[Any, ...]:
    """Draw a tree with marginals, evidence of up to five rows, and what is asked."""
    sizes, cliques, parts, parents = draw_cliques(chance)
    tree = trees.Tree(sizes, cliques, parts, parents, [], [])
    tables = draw_values(chance, sum(math.prod(sizes[v] for v in scope) for scope in cliques))
    messages = draw_values(chance, sum(math.prod(sizes[v] for v in scope) for scope in parts))
    home = np.full(len(sizes), -1, np.int64)
    for clique, scope in enumerate(cliques):
        home[scope] = clique
    floors = np.minimum.reduceat(np.where(tables > 0, tables, 1.0), tree.table_at[:-1])
    if chance.random() < 0.05:
        floors[-1] = 0.0
    clique = int(chance.integers(0, len(cliques)))
    wanted = subset(chance, cliques[clique], int(chance.integers(0, 3)))
    codes = draw_codes(chance, sizes, wanted, int(chance.integers(0, 6)))
    soft = draw_soft(chance, [0 if (codes[:, v] >= 0).any() else n for v, n in enumerate(sizes)])
    soft[0][(codes >= 0).any(axis=0)] = -1
    return (tree, tables, messages, home, floors), codes, soft, clique, np.array(wanted, np.int64)


def run_ask(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the answer to the first row, log p and how it ended."""
    marginals, codes, soft, clique, wanted = arguments
    row = codes[0] if len(codes) else np.full(codes.shape[1], -1, np.int64)
    answer = np.zeros(int(np.prod(marginals[0].sizes[wanted])))
    log_p, outcome = row_queries.ask(*marginals, row, *soft, clique, wanted, answer)
    return answer, log_p, int(outcome)


def run_rows(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the answers to all rows, log p and how it ended."""
    marginals, codes, soft, clique, wanted = arguments
    n = len(codes)
    answers, log_p = np.zeros((n, int(np.prod(marginals[0].sizes[wanted])))), np.empty(n)
    status = np.empty(n, np.int64)
    row_queries.ask_rows(*marginals, codes, *soft, clique, wanted, answers, log_p, status)
    return answers, log_p, status


CASES = {"ask": Case(draw_query, run_ask, 60), "ask_rows": Case(draw_query, run_rows, 80)}
