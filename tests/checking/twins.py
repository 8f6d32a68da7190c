"""Slow twins of the tests: each formula written out cell by cell, each separation path by path."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence


def g2(rows: Sequence[tuple[str, ...]]) -> tuple[float, int]:
    """Return G² of the first against the second entry given all others, and its degrees of freedom."""
    strata: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for x, y, *given in rows:
        strata.setdefault(tuple(given), []).append((x, y))
    total, df = 0.0, 0
    for pairs in strata.values():
        cells, xs, ys = Counter(pairs), Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
        total += 2 * sum(m * math.log(m * len(pairs) / (xs[x] * ys[y])) for (x, y), m in cells.items())
        df += (len(xs) - 1) * (len(ys) - 1)
    return total, df


def exact_p(table: Sequence[Sequence[int]]) -> float:
    """Return the probability of a 2 × 2 table with these margins whose G² is as large, over all such tables."""
    (a, b), (c, d) = table
    rows, columns, n = (a + b, c + d), (a + c, b + d), a + b + c + d

    def weight(corner: int) -> float:
        return math.comb(columns[0], corner) * math.comb(columns[1], rows[0] - corner) / math.comb(n, rows[0])

    def distance(corner: int) -> float:
        cells = (corner, rows[0] - corner, columns[0] - corner, columns[1] - rows[0] + corner)
        return sum(m * math.log(m) for m in cells if m)

    possible = range(max(0, rows[0] - columns[1]), min(rows[0], columns[0]) + 1)
    return sum(weight(corner) for corner in possible if distance(corner) >= distance(a) - 1e-9)


def d_separated(parents: Mapping[str, Sequence[str]], first: str, second: str, given: Sequence[str]) -> bool:
    """Whether every path is blocked, each path of the graph walked by itself."""
    children: dict[str, list[str]] = {node: [] for node in parents}
    for node, above in parents.items():
        for parent in above:
            children[parent].append(node)

    def below(node: str) -> set[str]:
        return {node}.union(*(below(child) for child in children[node]))

    def is_open(path: list[str]) -> bool:
        for before, node, after in zip(path, path[1:], path[2:], strict=False):
            if before in parents[node] and after in parents[node]:
                if not below(node) & set(given):
                    return False
            elif node in given:
                return False
        return True

    def paths(path: list[str]) -> list[list[str]]:
        if path[-1] == second:
            return [path]
        near = {*parents[path[-1]], *children[path[-1]]} - set(path)
        return list(itertools.chain.from_iterable(paths([*path, node]) for node in near))

    return not any(is_open(path) for path in paths([first]))
