r"""Parts of a conditional-Gaussian network: continuous variables that hang together, solved for each configuration.

Within a part, every node says x_i = a_i + Σ_j b_ij x_j + noise of variance v_i, with a, b and v that depend on discrete
variables. Observed nodes are numbers. Let m be the means before anything was observed and d = x − m for the nodes that
were not; then all that is known of d is a weighted least-squares problem with one row for each node,

    noise_i / √v_i = (r − A d)_i,   L = log p(observed) = −½‖r − A d̂‖² − Σ log |R_jj| − ½ Σ log v_i − ½ e log 2π,

where A = Q R, d̂ is its solution, x has the covariance R⁻¹R⁻ᵀ, and e nodes were observed. Nothing is ever subtracted
from a covariance, so that small variances beside large ones, and means far from zero, keep their digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np

from suffice.errors import ModelError, Text, listing
from suffice.errors import Part as Words
from suffice.inference.budget import BYTES
from suffice.settings import one_blas_thread, settings
from suffice.text import in_bytes, plural
from suffice.types import Floats, Ints

CHUNK = 2**21
"""Numbers that the matrices of one batch of configurations hold."""
LARGE = 32
"""Variables from which on linear algebra would wake other threads, which takes more time than they save."""


class NoExactAnswer(Text):
    """Why there is no exact answer, or none that memory allows; the stop at its end is a part of its own."""


@contextmanager
def or_else(*parts: Words) -> Iterator[None]:
    """Say where there is no exact answer what else the model can be asked."""
    try:
        yield
    except ModelError as error:
        if isinstance(error.message, NoExactAnswer):
            error.args = (Text(*error.message.parts[:-1], ", or ", *parts, "."),)
        raise


@dataclass(frozen=True, eq=False)
class Regression:
    """p(x_v | parents) of a continuous node, normal around a linear function of its continuous parents.

    Attributes
    ----------
    discrete, continuous : tuple of int
        The parents of each sort.
    intercept, variance : array, shape (n_rows,)
        One row a configuration of the discrete parents, the last of them fastest.
    coefficients : array, shape (n_rows, n_continuous)
    """

    discrete: tuple[int, ...]
    continuous: tuple[int, ...]
    intercept: Floats = field(repr=False)
    coefficients: Floats = field(repr=False)
    variance: Floats = field(repr=False)


@dataclass(frozen=True)
class Part:
    """Continuous variables that hang together given the evidence.

    Attributes
    ----------
    members : tuple of int
        Children before their parents, so that A is upper triangular where nothing was observed.
    free, seen : tuple of int
        Those of them that were not observed and those that were, in the same order.
    by : tuple of int
        The discrete variables on which they depend and which were not observed.
    """

    members: tuple[int, ...]
    free: tuple[int, ...]
    seen: tuple[int, ...]
    by: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Solved:
    """What a part says, for each of its k configurations and each of n rows of observed values.

    Attributes
    ----------
    part : Part
    wanted : tuple of int
        Those of its free members whose moments were asked for; there are t.
    log_density : array, shape (k, n)
        log p(what was observed in the part | configuration).
    log_peak : array, shape (k,)
        The logarithm of the greatest density of what was not observed: that at its mean.
    mean : array, shape (k, n, t)
        Their conditional means.
    root : array, shape (k, t, u)
        Their covariance is root · rootᵀ, whatever was observed.
    """

    part: Part
    wanted: tuple[int, ...]
    log_density: Floats = field(repr=False)
    log_peak: Floats = field(repr=False)
    mean: Floats = field(repr=False)
    root: Floats = field(repr=False)

    def wanted_peak(self) -> Floats:
        """Return the logarithm of the greatest density of what is wanted, all else integrated out; shape (k,)."""
        if len(self.wanted) == len(self.part.free):
            return self.log_peak
        triangle = np.linalg.qr(self.root.transpose(0, 2, 1), mode="r")
        log_det = np.log(np.abs(np.diagonal(triangle, axis1=1, axis2=2))).sum(axis=1)
        return np.asarray(-log_det - 0.5 * len(self.wanted) * math.log(2 * math.pi))


def split(
    members: Sequence[int], regressions: Mapping[int, Regression], seen: Mapping[int, Floats], hard: Mapping[int, int]
) -> list[Part]:
    """Split continuous variables, parents first, into parts that do not share what was not observed.

    An observed node is a number for its children, so edges out of it hold nothing together; it stays with its parents.
    """
    home = {node: node for node in members}

    def root(node: int) -> int:
        while home[node] != node:
            home[node] = home[home[node]]
            node = home[node]
        return node

    for node in members:
        for parent in regressions[node].continuous:
            if parent not in seen:
                home[root(node)] = root(parent)
    groups: dict[int, list[int]] = {}
    for node in reversed(members):
        groups.setdefault(root(node), []).append(node)
    return [_part(group, regressions, seen, hard) for group in groups.values()]


def _part(group: Sequence[int], regressions: Mapping[int, Regression], seen: Mapping[int, Floats],
          hard: Mapping[int, int]) -> Part:  # fmt: skip
    by = sorted({variable for node in group for variable in regressions[node].discrete if variable not in hard})
    free = tuple(node for node in group if node not in seen)
    return Part(tuple(group), free, tuple(node for node in group if node in seen), tuple(by))


@dataclass(frozen=True, eq=False)
class PartSolver:
    """How the parts of one network are solved.

    Attributes
    ----------
    names, sizes : tuples
        Of all variables, for messages and for the configurations of the discrete ones.
    regressions : mapping from int to Regression
    seen : mapping from int to array, shape (n,)
        The observed values.
    hard : mapping from int to int
        The codes of the discrete variables that were observed.
    labels : mapping from int to sequence
        The states' names, for messages.
    """

    names: Sequence[str]
    sizes: Sequence[int]
    regressions: Mapping[int, Regression]
    seen: Mapping[int, Floats]
    hard: Mapping[int, int]
    labels: Mapping[int, Sequence[object]]
    n: int = 1

    def configurations(self, part: Part) -> int:
        """Return the number of configurations of a part."""
        return math.prod(self.sizes[variable] for variable in part.by)

    def numbers(self, part: Part) -> int:
        """Return how many numbers its matrices hold, those of all configurations."""
        size = len(part.members)
        return self.configurations(part) * max(size * size, size * self.n)

    def solve(self, part: Part, wanted: Sequence[int]) -> Solved:
        """Solve a part for each configuration; ``wanted`` are those of its free members whose moments are asked for."""
        self._require_room(part)
        k, t, u = self.configurations(part), len(wanted), len(part.free)
        log_density, log_peak = np.empty((k, self.n)), np.empty(k)
        mean, root = np.empty((k, self.n, t)), np.empty((k, t, u))
        columns = [part.free.index(variable) for variable in wanted]
        step = max(1, CHUNK * k // max(1, self.numbers(part)))
        with one_blas_thread() if u >= LARGE else nullcontext():
            for start in range(0, k, step):
                held = slice(start, min(k, start + step))
                codes = self._codes(part, np.arange(held.start, held.stop))
                rows = {node: self._row(node, codes, held.stop - held.start) for node in part.members}
                found = self._solve(part, rows, columns)
                log_density[held], log_peak[held], mean[held], root[held] = found
        return Solved(part, tuple(wanted), log_density, log_peak, mean, root)

    def _codes(self, part: Part, at: Ints) -> dict[int, Ints]:
        """Return the code of each discrete variable in some configurations of a part."""
        if not part.by:
            return {}
        codes = np.unravel_index(at, [self.sizes[variable] for variable in part.by])
        return dict(zip(part.by, (code.astype(np.int64) for code in codes), strict=True))

    def _row(self, node: int, codes: Mapping[int, Ints], k: int) -> Ints:
        """Return the row of a node's parameters in each configuration; raise where it is unknown or degenerate."""
        held = self.regressions[node]
        row = np.zeros(k, np.int64)
        for variable in held.discrete:
            code = codes.get(variable)
            row = row * self.sizes[variable] + (self.hard[variable] if code is None else code)
        unknown = np.isnan(held.intercept) | np.isnan(held.variance) | np.isnan(held.coefficients).any(axis=1)
        for bad, what in ((unknown, _UNKNOWN), (held.variance == 0, _DEGENERATE)):
            if bad.any() and bad[row].any():
                where = self._where(held.discrete, int(row[np.argmax(bad[row])]))
                raise ModelError(f"The answer depends on {self.names[node]!r}, {what.format(where=where)}")
        return row

    def _where(self, discrete: Sequence[int], row: int) -> str:
        if not discrete:
            return ""
        codes = np.unravel_index(row, [self.sizes[variable] for variable in discrete])
        named = [f"{self.names[v]}={self.labels[v][int(code)]!r}" for v, code in zip(discrete, codes, strict=True)]
        return " for " + ", ".join(named)

    def _solve(self, part: Part, rows: Mapping[int, Ints], wanted: Sequence[int]) -> tuple[Floats, ...]:
        design, gaps, means, log_scales = self._equations(part, rows)
        k, u = len(log_scales), len(part.free)
        with np.errstate(over="ignore"):
            triangle: Floats = design[:, :u]
            moved = np.zeros((k, u, self.n))
            if u and part.seen:
                q, triangle = map(np.asarray, np.linalg.qr(design))
                moved = np.asarray(np.linalg.solve(triangle, q.transpose(0, 2, 1) @ gaps), np.float64)
            squares = ((gaps - design @ moved) ** 2).sum(axis=1)
        log_det = np.log(np.abs(np.diagonal(triangle, axis1=1, axis2=2))).sum(axis=1)
        constant = log_scales - log_det - 0.5 * len(part.seen) * math.log(2 * math.pi)
        log_peak = log_det - 0.5 * u * math.log(2 * math.pi)
        root = np.linalg.solve(triangle, np.broadcast_to(np.eye(u), (k, u, u)))[:, wanted] if wanted else 0.0
        mean = (means + moved)[:, wanted].transpose(0, 2, 1)
        return constant[:, None] - 0.5 * squares, log_peak, mean, np.broadcast_to(root, (k, len(wanted), u))

    def _equations(self, part: Part, rows: Mapping[int, Ints]) -> tuple[Floats, Floats, Floats, Floats]:
        """Return A, r, the means m of the free members, and −½ Σ log v; one of each a configuration."""
        members = part.members
        column = {node: place for place, node in enumerate(part.free)}
        k = len(next(iter(rows.values())))
        design, gaps = np.zeros((k, len(members), len(part.free))), np.zeros((k, len(members), self.n))
        means, log_scales = np.zeros((k, len(part.free), self.n)), np.zeros(k)
        for place in range(len(members) - 1, -1, -1):  # parents first, for the means
            node = members[place]
            held, row = self.regressions[node], rows[node]
            slopes, scale = held.coefficients[row], 1 / np.sqrt(held.variance[row])
            log_scales += np.log(scale)
            mean = np.repeat(held.intercept[row][:, None], self.n, axis=1)
            sign = -1.0 if node in column else 1.0
            for axis, parent in enumerate(held.continuous):
                above = means[:, column[parent]] if parent in column else self.seen[parent][None, :]
                mean += slopes[:, axis, None] * above
                if parent in column:
                    design[:, place, column[parent]] = sign * slopes[:, axis] * scale
            if node in column:
                means[:, column[node]] = mean
                design[:, place, column[node]] = scale
            else:
                gaps[:, place] = (self.seen[node][None, :] - mean) * scale[:, None]
        return design, gaps, means, log_scales

    def _require_room(self, part: Part) -> None:
        need, allowed = BYTES * self.numbers(part), settings().memory
        if need <= allowed:
            return
        k, size = self.configurations(part), len(part.members)
        raise ModelError(
            NoExactAnswer(
                f"The exact answer would need {in_bytes(need)}, and may use {in_bytes(allowed)}: "
                f"{plural(size, 'continuous variable')} hang together, "
                f"{listing([self.names[v] for v in part.free], 6)} among them, and depend on "
                f"{plural(len(part.by), 'discrete variable')}, {listing([self.names[v] for v in part.by], 12)}, "
                f"with {k:,} configurations, each of which has a "
                "normal distribution of its own. Ask for fewer variables or observe some of these",
                ".",
            )
        )


_UNKNOWN = (
    "whose row{where} is unknown (NaN), because the data had too few such cases. Fit with a prior, or tie the rows: "
    "kinds={{…: {{'tied': 'both'}}}}."
)
_DEGENERATE = (
    "which is degenerate{where}: its variance is zero, so that it has no density. Leave the node out of the network, "
    "or give it a positive variance; a prior does."
)
