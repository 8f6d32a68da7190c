"""Asking a calibrated tree: one question, or the same question for many rows of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.inference.calibration import Calibrated
from suffice.native import row_queries
from suffice.native.trees import Outcome, Tree
from suffice.settings import settings
from suffice.types import Floats, Ints

RANGE = 256
"""Rows of evidence that one thread takes at a time."""


class Asker:
    """Answers from the marginals of a product without evidence, each over the part of the tree that it concerns."""

    def __init__(self, calibrated: Calibrated) -> None:
        self.calibrated = calibrated
        self.plan = calibrated.plan
        self._targets: dict[tuple[int, ...], tuple[int, Ints, tuple[int, ...]] | None] = {}

    @cached_property
    def _fixed(self) -> tuple[Tree, Floats, Floats, Ints, Floats]:
        found, tree = self.calibrated, self.plan.arrays
        lowest = np.minimum.reduceat(np.where(found.tables > 0, found.tables, 1.0), tree.table_at[:-1])
        floors = np.where(found.floors > 0, lowest, 0.0)  # zero where values may have been lost
        return (tree, found.tables, found.separators, self.plan.nearest, floors)

    def covers(self, targets: Sequence[int]) -> bool:
        """Whether one clique holds all targets."""
        return self._target(tuple(targets)) is not None

    def _target(self, targets: tuple[int, ...]) -> tuple[int, Ints, tuple[int, ...]] | None:
        """Return the clique to ask, the targets in the common order, and the axes that bring back the order asked."""
        if targets not in self._targets:
            clique = self.plan.tree.covering(targets, self.plan.sizes)
            if clique is None:
                self._targets[targets] = None
            else:
                ordered = sorted(targets, key=self.plan.position.__getitem__)
                axes = tuple(ordered.index(variable) for variable in targets)
                self._targets[targets] = (clique, np.array(ordered, np.int64), axes)
        return self._targets[targets]

    def ask(
        self, targets: tuple[int, ...], hard: Mapping[int, int], soft: Mapping[int, Floats]
    ) -> tuple[Floats, float] | None:
        """Return p(targets | evidence) and log p(evidence), or None where the tree cannot tell with certainty."""
        found = self._target(targets)
        if found is None:
            return None
        clique, wanted, axes = found
        codes = np.full(len(self.plan.sizes), -1, np.int64)
        for variable, code in hard.items():
            codes[variable] = code
        answer = np.empty([self.plan.sizes[variable] for variable in wanted.tolist()])
        at, weights, log_scale = self._soft(soft)
        flat = answer.reshape(-1)
        log_p, outcome = row_queries.ask(*self._fixed, codes, at, weights, clique, wanted, flat)
        return (answer.transpose(axes), log_p + log_scale) if outcome == Outcome.FINE else None

    def ask_rows(self, targets: tuple[int, ...], codes: Ints) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return, for every row of codes, p(targets | row), log p(row), and whether the tree could tell."""
        found = self._target(targets)
        assert found is not None
        clique, wanted, axes = found
        codes = np.ascontiguousarray(codes)
        n, sizes = len(codes), [self.plan.sizes[variable] for variable in wanted.tolist()]
        answers, log_p = np.empty((n, int(np.prod(sizes, dtype=np.int64)))), np.empty(n)
        status = np.empty(n, np.int64)
        at, weights, _ = self._soft({})

        def part(start: int) -> None:
            rows = slice(start, start + RANGE)
            out = (answers[rows], log_p[rows], status[rows])
            row_queries.ask_rows(*self._fixed, codes[rows], at, weights, clique, wanted, *out)

        starts = range(0, n, RANGE)
        if n > RANGE and settings().threads > 1:
            with ThreadPoolExecutor(settings().threads) as pool:
                list(pool.map(part, starts))
        else:
            for start in starts:
                part(start)
        shaped = answers.reshape(n, *sizes).transpose(0, *(axis + 1 for axis in axes))
        return shaped, log_p, status == Outcome.FINE

    def _soft(self, soft: Mapping[int, Floats]) -> tuple[Ints, Floats, float]:
        """Return where each variable's weights begin, the weights, none above one, and the logarithm of their scale."""
        at = np.full(len(self.plan.sizes), -1, np.int64)
        if not soft:
            return at, np.ones(1), 0.0
        parts, position, log_scale = [], 0, 0.0
        for variable, weights in soft.items():
            top = float(weights.max())
            at[variable] = position
            parts.append(weights / top)
            position += len(weights)
            log_scale += float(np.log(top))
        return at, np.concatenate(parts), log_scale
