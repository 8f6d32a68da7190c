"""Fuzzed calls of `suffice.native.missing_values`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import missing_values

Lists = list[list[int]]


def flat(lists: Lists) -> tuple[Any, Any]:
    """Return where each list begins, and all lists one after another."""
    at = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return at, np.array([value for values in lists for value in values], np.int64)


def draw_scopes(chance: Generator, n_variables: int) -> Lists:
    """Draw the variables of some tables: each variable with up to two earlier ones, and some more."""
    scopes = [
        [*chance.permutation(v)[: int(chance.integers(0, 3))].tolist(), v]
        for v in range(n_variables)
        if chance.random() < 0.9
    ]
    more = [chance.permutation(n_variables)[: int(chance.integers(0, 4))].tolist() for _ in range(n_variables)]
    return [*scopes, *(scope for scope in more if chance.random() < 0.2)]


def draw_rows(chance: Generator) -> tuple[Any, ...]:
    """Draw rows of codes, some negative, and a graph."""
    n_rows, n_variables = int(chance.integers(0, 20)), int(chance.integers(0, 12))
    codes = chance.integers(0, 3, (n_rows, n_variables)).astype(np.int32)
    codes[chance.random(codes.shape) < chance.random()] = -1
    linked = chance.random((n_variables, n_variables)) < chance.random() / 2
    return codes, *flat([np.flatnonzero(row).tolist() for row in linked | linked.T])


def draw_lists(chance: Generator) -> tuple[Any, ...]:
    """Draw lists with tags, many of them equal."""
    n, largest = int(chance.integers(0, 60)), int(10 ** (chance.random() * 18))
    lists = [chance.integers(0, largest + 1, int(chance.integers(0, 4))).tolist() for _ in range(n)]
    lists = [lists[int(chance.integers(0, i + 1))] for i in range(n)]
    return chance.integers(0, 3, n), *flat(lists)


def surroundings(sets: Lists, scopes: Lists) -> tuple[Lists, Lists]:
    """Return the scopes that each set touches, and the other variables of these."""
    touched = [[f for f, scope in enumerate(scopes) if set(scope) & set(members)] for members in sets]
    edge = [
        sorted({v for f in here for v in scopes[f]}.difference(members))
        for members, here in zip(sets, touched, strict=True)
    ]
    return touched, edge


def draw_sets(chance: Generator) -> tuple[Any, ...]:
    """Draw sets of variables, and scopes."""
    n_variables = int(chance.integers(0, 12))
    scopes = draw_scopes(chance, n_variables)
    sets = [np.flatnonzero(chance.random(n_variables) < 0.3).tolist() for _ in range(int(chance.integers(0, 10)))]
    holding = [[f for f, scope in enumerate(scopes) if v in scope] for v in range(n_variables)]
    return *flat(sets), *flat(holding), *flat(scopes)


def draw_situations(chance: Generator) -> tuple[Any, ...]:
    """Draw situations, and tables whose products are ordinary, zero, or beyond the range of floats."""
    n_variables = int(chance.integers(1, 8))
    sizes, scopes = chance.integers(1, 4, n_variables), draw_scopes(chance, n_variables)
    kinds = [
        chance.permutation(n_variables)[: int(chance.integers(1, 5))].tolist()
        for _ in range(int(chance.integers(1, 5)))
    ]
    touched, edge = surroundings(kinds, scopes)
    kind = chance.integers(0, len(kinds), int(chance.integers(0, 12)))
    codes = [[int(chance.integers(0, sizes[v])) for v in edge[t]] for t in kind.tolist()]
    tables = np.concatenate(
        [
            np.zeros(0),
            *(chance.random(int(np.prod(sizes[scope]))) * 10 ** (chance.random() * 4 - 2) for scope in scopes),
        ]
    )
    if chance.random() < 0.3:
        tables *= 10.0 ** int(chance.integers(-250, 250))
    if chance.random() < 0.3:
        tables[chance.random(len(tables)) < chance.random()] = 0.0
    layout = (sizes, *flat(scopes), *flat(kinds), *flat(touched), *flat(edge), kind, *flat(codes))
    return layout, tables, chance.random(len(kind)) * 10, int(chance.integers(0, len(kind) + 1))


def run_situations(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return expected counts and the logarithms of the sums, in two ranges of situations."""
    layout, tables, weights, middle = arguments
    with np.errstate(divide="ignore"):
        logs = np.log(tables)
    plan, n = missing_values.Enumeration(*layout), len(weights)
    expected, log_sums = np.zeros((2, len(tables))), np.zeros(n)
    plan.sum(tables, logs, weights, 0, middle, expected[0], log_sums)
    plan.sum(tables, logs, weights, middle, n, expected[1], log_sums)
    return expected, log_sums


CASES = {
    "find_components": Case(draw_rows, lambda arguments: missing_values.find_components(*arguments), 25),
    "number_lists": Case(draw_lists, lambda arguments: missing_values.number_lists(*arguments), 25),
    "find_surroundings": Case(draw_sets, lambda arguments: missing_values.find_surroundings(*arguments), 20),
    "Enumeration": Case(draw_situations, run_situations, 50),
}
