"""Expected statistics of rows with gaps, in networks of discrete and normal variables.

For each component of a row's missing values (`suffice.learn.mixed_plan`), the configurations c of its discrete
variables have the posterior p(c | row), and its continuous ones are normal given c. Then the family of a discrete
node counts Σ p(c | row), and that of a continuous node, with z = (1, parents, child), Σ p(c | row) E[z zᵀ | c, row].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.errors import EstimationError, ModelError, listing
from suffice.inference.gaussian_parts import Part, PartSolver, Regression, Solved
from suffice.inference.log_tables import LogFactor, summed_out
from suffice.learn import mixed_chunks
from suffice.learn.mixed_chunks import Chunk, names_of
from suffice.learn.mixed_plan import Shape
from suffice.settings import settings
from suffice.types import Floats, Ints

RANGES = 8
"""Parts that the work is shared out in, whatever the number of threads."""
LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class Numbers:
    """The parameters of a network: logarithms of flat tables, and regressions in centres and spreads."""

    tables: Mapping[int, Floats]
    regressions: Mapping[int, Regression]


@dataclass(eq=False)
class MixedSums:
    """What adds up over rows: the log-likelihood, flat counts, and Σ z zᵀ for each configuration."""

    log_likelihood: float
    counts: dict[int, Floats]
    products: dict[int, Floats]

    @classmethod
    def zero(cls, shape: Shape) -> MixedSums:
        """Return the sums of no rows."""
        counts = {
            node: np.zeros(math.prod(shape.sizes[v] for v in scope))
            for node, scope in shape.scopes.items()
            if node not in shape.softmax
        }
        products = {}
        for node in shape.regressions:
            size = 1 + len(shape.xs(node))
            products[node] = np.zeros((shape.n_rows(node), size, size))
        return cls(0.0, counts, products)

    def add(self, other: MixedSums) -> None:
        """Add other sums to these."""
        self.log_likelihood += other.log_likelihood
        for mine, more in ((self.counts, other.counts), (self.products, other.products)):
            for node in mine:
                mine[node] += more[node]


# The sums -----------------------------------------------------------------------------------------------------


def expected(shape: Shape, chunks: Sequence[Chunk], numbers: Numbers) -> MixedSums:
    """Return the sums of all chunks; they do not depend on the number of threads."""
    cuts = np.linspace(0, len(chunks), min(RANGES, len(chunks)) + 1).round().astype(int)
    ranges = [chunks[low:high] for low, high in itertools.pairwise(cuts.tolist())]
    threads = min(settings().threads, len(ranges))
    if threads <= 1:
        found: Iterator[MixedSums] = (_of_range(shape, part, numbers) for part in ranges)
        return _total(shape, found)
    with ThreadPoolExecutor(threads) as pool:
        return _total(shape, pool.map(lambda part: _of_range(shape, part, numbers), ranges))


def _total(shape: Shape, found: Iterator[MixedSums]) -> MixedSums:
    total = MixedSums.zero(shape)
    for part in found:
        total.add(part)
    return total


def _of_range(shape: Shape, chunks: Sequence[Chunk], numbers: Numbers) -> MixedSums:
    sums = MixedSums.zero(shape)
    for chunk in chunks:
        _Step(shape, chunk, numbers).add_to(sums)
    return sums


class _Step:
    """One chunk at some parameters."""

    def __init__(self, shape: Shape, chunk: Chunk, numbers: Numbers) -> None:
        self.shape, self.chunk, self.numbers = shape, chunk, numbers
        self.component, self.n = chunk.component, len(chunk.weights)
        self.solved: dict[Part, list[tuple[Ints, dict[int, int], Solved]]] = {}
        self._weighted: dict[tuple[int, ...], Floats] = {}
        self.log_evidence = np.zeros(self.n)

    def add_to(self, sums: MixedSums) -> None:
        """Add what the rows are expected to count."""
        self.factors  # noqa: B018, the parts are solved here, whose moments come next
        for node in self.component.tables:
            base, offsets = self._cells(self.shape.scopes[node])
            self._count(sums.counts[node], base, offsets, self.weighted(self._hidden(self.shape.scopes[node])))
        for part in self.component.parts:
            if part.free:
                self._add_solved(sums, part)
            else:
                self._add_seen(sums, part.members[0])
        self.weighted(())
        sums.log_likelihood += float(self.chunk.weights @ self.log_evidence)

    def _hidden(self, variables: Sequence[int]) -> tuple[int, ...]:
        """Return the discrete ones of some variables that were not observed, in order."""
        return tuple(v for v in self.component.hidden if v in variables)

    def _cells(self, scope: Sequence[int]) -> tuple[Ints | None, Ints]:
        """Return where the observed codes lead in a flat table, and how far each hidden configuration lies from it."""
        hidden, stride = self._hidden(scope), 1
        strides: dict[int, int] = {}
        for variable in reversed(scope):
            strides[variable] = stride
            stride *= self.shape.sizes[variable]
        base: Ints | None = None
        for variable in scope:
            if variable not in hidden:
                step = self.chunk.codes[variable] * strides[variable]
                base = step if base is None else base + step
        grid = np.zeros(1, np.int64)
        for variable in hidden:
            grid = (grid[:, None] + strides[variable] * np.arange(self.shape.sizes[variable])).reshape(-1)
        return base, grid

    # Posteriors -----------------------------------------------------------------------------------------------

    @cached_property
    def factors(self) -> list[tuple[tuple[int, ...], Floats]]:
        """The tables and densities over hidden variables; shapes (n, k) or (1, k)."""
        found = []
        for node in self.component.tables:
            scope = self.shape.scopes[node]
            base, offsets = self._cells(scope)
            cells = offsets[None, :] if base is None else base[:, None] + offsets
            found.append((self._hidden(scope), self.numbers.tables[node][cells]))
        for part in self.component.parts:
            found.append((part.by, self._solve(part) if part.free else self._density(part.members[0])))
        return found

    def _density(self, node: int) -> Floats:
        """Return the log-density of an observed node whose continuous parents were observed; shape (n, k)."""
        held = self.numbers.regressions[node]
        base, offsets = self._cells(held.discrete)
        row = offsets[None, :] if base is None else base[:, None] + offsets
        gap = self.chunk.values[node][:, None] - held.intercept[row]
        for axis, parent in enumerate(held.continuous):
            gap -= held.coefficients[row, axis] * self.chunk.values[parent][:, None]
        gap *= gap
        gap /= held.variance[row]
        gap += LOG_2PI + np.log(held.variance)[row]
        gap *= -0.5
        return gap

    def _solve(self, part: Part) -> Floats:
        """Solve a part with missing continuous variables; return the log-density of its observed ones."""
        k = math.prod(self.shape.sizes[v] for v in part.by)
        found, self.solved[part] = np.empty((self.n, k)), []
        for rows, codes in self.chunk.contexts[part]:
            values = {v: self.chunk.values[v][rows] for v in self.chunk.component.values}
            solver = PartSolver(
                self.shape.names,
                self.shape.sizes,
                self.numbers.regressions,
                values,
                codes,
                self.shape.labels,
                len(rows),
            )
            solved = solver.solve(part, part.free)
            found[rows] = solved.log_density.T
            self.solved[part].append((rows, codes, solved))
        return found

    def weighted(self, scope: tuple[int, ...]) -> Floats:
        """Return the rows' weights shared out among the configurations of some hidden variables; shape (n, k)."""
        if scope not in self._weighted:
            listed = math.prod(self.shape.sizes[v] for v in self.component.hidden) <= mixed_chunks.LISTED
            self._weighted[scope] = self._from_list(scope) if listed else self._summed_out(scope)
        return self._weighted[scope]

    def _from_list(self, scope: tuple[int, ...]) -> Floats:
        whole = self.component.hidden
        if whole not in self._weighted:
            sizes = [self.shape.sizes[v] for v in whole]
            joint = np.zeros((self.n, *sizes))
            for held, values in self.factors:
                joint += values.reshape(len(values), *(self.shape.sizes[v] if v in held else 1 for v in whole))
            self._weighted[whole] = self._shares(joint.reshape(self.n, -1))
        if scope == whole:
            return self._weighted[whole]
        cube = self._weighted[whole].reshape(self.n, *(self.shape.sizes[v] for v in whole))
        gone = tuple(axis for axis, v in enumerate(whole, 1) if v not in scope)
        return np.asarray(cube.sum(axis=gone).reshape(self.n, -1), np.float64)

    def _summed_out(self, scope: tuple[int, ...]) -> Floats:
        rows = len(self.shape.names)
        factors = []
        for held, values in self.factors:
            sizes = [self.shape.sizes[v] for v in held]
            if len(values) == 1:
                factors.append(LogFactor(held, values.reshape(sizes)))
            else:
                factors.append(LogFactor((*held, rows), values.T.reshape(*sizes, self.n)))
        try:
            found = summed_out((*self.shape.names, "row"), (*self.shape.sizes, self.n), factors, (rows, *scope))
        except ModelError as error:
            raise EstimationError("What is missing in some rows cannot be summed out. ", error.message) from None
        return self._shares(found.rest.values.reshape(self.n, -1))

    def _shares(self, log_joint: Floats) -> Floats:
        top = log_joint.max(axis=1, keepdims=True)
        if not (top > -math.inf).all():
            self._refuse(top)
        shares: Floats = np.exp(log_joint - top)
        total = shares.sum(axis=1, keepdims=True)
        self.log_evidence = (np.log(total) + top)[:, 0]
        shares *= self.chunk.weights[:, None] / total
        return shares

    def _refuse(self, top: Floats) -> None:
        names = listing(names_of(self.shape, self.component), 12)
        if np.isnan(top).any():
            raise EstimationError(
                f"The parameters around {names} are not known: some are NaN in 'init', or the data do not determine "
                "them. Pass a prior, or leave out 'init'."
            )
        n = int((top == -math.inf).sum())
        raise EstimationError(
            f"What was observed around {names} is impossible in {n:,} of {self.n:,} rows, at the parameters that were "
            "given or begun with. Correct the zeros of 'fixed' or 'init', or these rows."
        )

    # What the rows count --------------------------------------------------------------------------------------

    def _count(self, counts: Floats, base: Ints | None, offsets: Ints, weighted: Floats) -> None:
        if base is None:
            counts[offsets] += weighted.sum(axis=0)
            return
        cells = base[:, None] + offsets
        counts += np.bincount(cells.reshape(-1), weighted.reshape(-1), minlength=len(counts))

    def _add_seen(self, sums: MixedSums, node: int) -> None:
        """Add the products of a family whose continuous variables were all observed."""
        z = np.stack([np.ones(self.n), *(self.chunk.values[v] for v in self.shape.xs(node))], axis=1)
        base, offsets = self._cells(self.numbers.regressions[node].discrete)
        weighted = self.weighted(self._hidden(self.numbers.regressions[node].discrete))
        k, q = weighted.shape[1], z.shape[1]
        groups: list[tuple[int, Ints | slice]] = [(0, slice(None))]
        if base is not None:
            order = np.argsort(base, kind="stable")
            cells, starts = np.unique(base[order], return_index=True)
            groups = list(zip(cells.tolist(), np.split(order, starts[1:]), strict=True))
        for cell, rows in groups:
            part = z[rows]
            shared = (weighted[rows][:, :, None] * part[:, None, :]).reshape(len(part), k * q)
            sums.products[node][cell + offsets] += (shared.T @ part).reshape(k, q, q)

    def _add_solved(self, sums: MixedSums, part: Part) -> None:
        """Add the expected products of the families of a part, some of whose variables are missing."""
        weighted = self.weighted(part.by)
        spots = self._spots(part.by)
        column = {v: at for at, v in enumerate(part.free)}
        for rows, codes, solved in self.solved[part]:
            own = np.ascontiguousarray(weighted[rows].T)  # (k, n)
            covariance = solved.root @ solved.root.transpose(0, 2, 1)
            for node in part.members:
                xs = self.shape.xs(node)
                z = np.ones((*own.shape, 1 + len(xs)))
                for at, v in enumerate(xs, 1):
                    z[:, :, at] = solved.mean[:, :, column[v]] if v in column else self.chunk.values[v][rows]
                found = (z * own[:, :, None]).transpose(0, 2, 1) @ z
                here = [(at, column[v]) for at, v in enumerate(xs, 1) if v in column]
                if here:
                    to, of = (np.array(places) for places in zip(*here, strict=True))
                    inner = covariance[:, of[:, None], of] * own.sum(axis=1)[:, None, None]
                    found[:, to[:, None], to] += inner
                cells = np.zeros(len(own), np.int64)
                for parent in self.numbers.regressions[node].discrete:
                    cells = cells * self.shape.sizes[parent] + (codes[parent] if parent in codes else spots[parent])
                np.add.at(sums.products[node], cells, found)

    def _spots(self, variables: Sequence[int]) -> dict[int, Ints]:
        """Return the code of each of some variables in every configuration."""
        sizes = [self.shape.sizes[v] for v in variables]
        codes = np.unravel_index(np.arange(math.prod(sizes)), sizes) if sizes else ()
        return dict(zip(variables, codes, strict=True))
