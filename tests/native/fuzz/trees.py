"""Fuzzed calls of `suffice.native.trees`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import trees

TINY = 1e-280


class Parts(NamedTuple):
    """What a tree is made from."""

    sizes: list[int]
    cliques: list[list[int]]
    separators: list[list[int]]
    parents: list[int]
    factor_scopes: list[list[int]]
    homes: list[int]


class Question(NamedTuple):
    """A tree, the factors in it, and a generator for what else is drawn."""

    parts: Parts
    values: Any
    starts: Any
    floors: Any
    chance: Generator


def subset(chance: Generator, members: list[int]) -> list[int]:
    """Draw some of a list, in its order."""
    return [member for member in members if chance.random() < 0.6]


def draw_parts(chance: Generator) -> Parts:
    """Draw a tree of up to six cliques, and up to eight factors; some variables are in no clique, as if observed."""
    n = int(chance.integers(1, 10))
    sizes = [int(size) for size in chance.integers(1, 5, size=n)]
    order = [int(variable) for variable in chance.permutation(n)]
    place = {variable: position for position, variable in enumerate(order)}
    unused = [int(variable) for variable in chance.permutation(n)]
    cliques, separators, parents = [], list[list[int]](), list[int]()  # the root first, turned round at the end
    for clique in range(int(chance.integers(1, 7))):
        parent = int(chance.integers(clique)) if clique else -1
        shared = subset(chance, cliques[parent])[:3] if clique else []
        fresh = [unused.pop() for _ in range(int(chance.integers(0, 4))) if unused]
        cliques.append(sorted([*shared, *fresh], key=place.__getitem__))
        separators.append(shared)
        parents.append(parent)
    last = len(cliques) - 1
    homes = [int(chance.integers(len(cliques))) for _ in range(int(chance.integers(0, 9)))]
    cliques, separators = cliques[::-1], separators[::-1]
    scopes = [subset(chance, cliques[home]) for home in homes]
    return Parts(sizes, cliques, separators, [last - p if p >= 0 else -1 for p in parents[::-1]], scopes, homes)


def draw_values(chance: Generator, n: int) -> Any:
    """Draw values up to one: plain ones, zeros among them, equal ones, or such that products underflow."""
    kind = int(chance.integers(5))
    values = chance.random(n)
    if kind == 1:
        values[chance.random(n) < 0.4] = 0.0
    elif kind == 2:
        values = np.full(n, 0.5)
    elif kind == 3:
        values = 2.0 ** -(chance.integers(0, 900, size=n).astype(float))
    elif kind == 4:
        values = values * 2.0 ** -(chance.integers(0, 60, size=n).astype(float))
    return values


def draw_question(chance: Generator) -> Question:
    """Draw a tree, and factors with room between them, as observed variables leave it."""
    parts = draw_parts(chance)
    cells = [math.prod(parts.sizes[v] for v in scope) for scope in parts.factor_scopes]
    values, starts, floors = [np.ones(0)], list[int](), list[float]()
    for n in cells:
        before, table = int(chance.integers(3)), draw_values(chance, n)
        starts.append(sum(map(len, values)) + before)
        values += [np.zeros(before), table]
        lowest = float(np.min(table, where=table > 0, initial=1.0))
        floors.append(lowest if lowest >= TINY else 0.0)
    return Question(parts, np.concatenate(values), np.array(starts, np.int64), np.array(floors), chance)


def room_of(tree: Any) -> tuple[Any, Any, Any]:
    """Return empty tables of cliques and separators, and floors."""
    return np.zeros(int(tree.table_at[-1])), np.zeros(int(tree.message_at[-1])), np.zeros(len(tree.parent))


def run_layout(parts: Parts) -> tuple[Any, ...]:
    """Return the arrays of a tree."""
    t = trees.Tree(*parts)
    lists = (t.sizes, t.scope_at, t.scope, t.part_at, t.part, t.table_at, t.message_at, t.parent, t.child_at, t.child)
    return (*lists, t.factor_at, t.factor, t.factor_cells, t.loop_at, t.loops)


def run_propagate(question: Question) -> tuple[Any, ...]:
    """Return all tables, in each of the semirings."""
    tree, found = trees.Tree(*question.parts), list[Any]()
    with np.errstate(divide="ignore"):
        logs = np.log(question.values)
    for semiring in trees.Semiring:
        values = question.values if semiring == trees.Semiring.SUM else logs
        room = room_of(tree)
        log_total, outcome = trees.propagate(tree, semiring, values, question.starts, question.floors, *room)
        found += [log_total, int(outcome), *room]
    return tuple(found)


class Calibrated(NamedTuple):
    """A tree with tables that sum to one, and where its factors begin if nothing lies between them."""

    tree: Any
    tables: Any
    messages: Any
    starts: Any
    chance: Generator


def calibrated(question: Question) -> Calibrated:
    """Return marginals; where the product is zero or underflows, those of uniform factors."""
    tree = trees.Tree(*question.parts)
    tables, messages, floors = room_of(tree)
    _, outcome = trees.propagate(
        tree, trees.Semiring.SUM, question.values, question.starts, question.floors, tables, messages, floors
    )
    if outcome != trees.Outcome.FINE:
        values = np.ones(len(question.values))
        trees.propagate(
            tree, trees.Semiring.SUM, values, question.starts, np.ones(tree.n_factors), tables, messages, floors
        )
    messages[int(tree.message_at[-2]) :] = 1.0
    starts = np.concatenate([[0], np.cumsum(tree.factor_cells)]).astype(np.int64)
    return Calibrated(tree, tables, messages, starts, question.chance)


def path_between(parents: list[int], start: int, end: int) -> list[int]:
    """Return the cliques from one to another, both included; parents have greater numbers."""
    up, down = [start], [end]
    while up[-1] != down[-1]:
        lower = up if up[-1] < down[-1] else down
        lower.append(parents[lower[-1]])
    return up + down[-2::-1]


def run_follow(question: Question) -> tuple[Any, ...]:
    """Change the root, and follow a path from it."""
    parents = question.parts.parents
    tree, tables, messages, _, chance = calibrated(question)
    tables[int(tree.table_at[-2]) :] *= draw_values(chance, int(tree.table_at[-1] - tree.table_at[-2]))
    path = path_between(parents, len(parents) - 1, int(chance.integers(len(parents))))
    trees.follow(tree, np.array(path, np.int64), tables, messages)
    return tables, messages


def run_clique(question: Question) -> tuple[Any, ...]:
    """Return the sum and the maximum of a clique over some of its variables."""
    tree, tables, _, _, chance = calibrated(question)
    clique = int(chance.integers(len(question.parts.cliques)))
    wanted = subset(chance, question.parts.cliques[clique])
    found = []
    for semiring in (trees.Semiring.SUM, trees.Semiring.MAX):
        part = np.empty(math.prod(question.parts.sizes[v] for v in wanted))
        trees.marginalise_clique(tree, semiring, clique, np.array(wanted, np.int64), tables, part)
        found.append(part)
    return tuple(found)


def run_factor(question: Question) -> tuple[Any, ...]:
    """Return the marginal of a factor, and the tables after it was multiplied."""
    tree, tables, _, _, chance = calibrated(question)
    if not tree.n_factors:
        return ()
    factor = int(chance.integers(tree.n_factors))
    part = np.empty(int(tree.factor_cells[factor]))
    trees.marginalise_factor(tree, factor, tables, part)
    trees.multiply_factor(tree, factor, tables, draw_values(chance, len(part)))
    return part, tables


def run_factors(question: Question) -> tuple[Any, ...]:
    """Return the marginals of all factors."""
    tree, tables, _, starts, _ = calibrated(question)
    out = np.empty(int(starts[-1]))
    trees.marginalise_factors(tree, tables, starts, out)
    return (out,)


def run_covariance(question: Question) -> tuple[Any, ...]:
    """Return the covariance with a direction."""
    tree, tables, messages, starts, chance = calibrated(question)
    direction, out = chance.normal(size=int(starts[-1])), np.empty(int(starts[-1]))
    room = np.zeros(len(tables)), np.zeros(len(messages)), np.zeros(len(messages))
    trees.multiply_covariance(tree, tables, messages, starts, direction, *room, out)
    return (out, *room)


def run_fit(question: Question) -> tuple[Any, ...]:
    """Fit some factors in turn, from the root."""
    parts = question.parts
    tree, tables, messages, starts, chance = calibrated(question)
    if not tree.n_factors:
        return ()
    visits = chance.integers(tree.n_factors, size=int(chance.integers(0, 6)))
    paths, clique = list[list[int]](), len(parts.parents) - 1
    for factor in visits.tolist():
        paths.append(path_between(parts.parents, clique, parts.homes[factor]))
        clique = parts.homes[factor]
    path_at = np.array([0, *np.cumsum([len(path) for path in paths])], np.int64)
    path = np.array([clique for path in paths for clique in path], np.int64)
    targets = np.concatenate([np.ones(0), *(draw_values(chance, int(n)) for n in np.diff(starts))])
    gains, totals, gaps = np.empty((3, len(visits)))
    ratios = np.ones(int(starts[-1]))
    trees.fit_in_turn(
        tree, visits, path_at, path, starts, targets, ratios, tables, messages, gains, totals, gaps
    )  # fmt: skip
    return tables, messages, ratios, gains, totals, gaps


def of_questions(run: Callable[[Question], tuple[Any, ...]], blocks: int) -> Case:
    """Return the case of a kernel that takes a tree with factors."""
    return Case(draw_question, run, blocks)


CASES = {
    "Tree": Case(draw_parts, run_layout, 10),
    "propagate": of_questions(run_propagate, 30),
    "follow": of_questions(run_follow, 12),
    "marginalise_clique": of_questions(run_clique, 12),
    "marginalise_factor": of_questions(run_factor, 12),
    "marginalise_factors": of_questions(run_factors, 10),
    "multiply_covariance": of_questions(run_covariance, 16),
    "fit_in_turn": of_questions(run_fit, 20),
}
