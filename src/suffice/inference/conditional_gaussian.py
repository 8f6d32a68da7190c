"""Exact inference in networks of discrete and normal variables: conditional-Gaussian networks.

Discrete nodes have discrete parents; a continuous node is normal around a linear function of its continuous parents,
one function for each configuration of its discrete ones. Given evidence, the continuous variables fall into parts
(`suffice.inference.gaussian_parts`). What was observed in a part has a density for each configuration of the part's
discrete variables: one more factor among the tables. So the discrete variables are summed out as ever, and continuous
answers are mixtures over the configurations of their part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from suffice.errors import ModelError, Remedy, listing
from suffice.inference.budget import BYTES
from suffice.inference.gaussian_parts import (
    CHUNK,
    NoExactAnswer,
    Part,
    PartSolver,
    Regression,
    Solved,
    split,
)
from suffice.inference.log_tables import LogFactor, Summed, greatest_of, log_of, maximised, sliced, summed_out
from suffice.inference.maximum import TIED
from suffice.settings import settings
from suffice.text import in_bytes
from suffice.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Seen:
    """Evidence: codes and likelihoods of states, as in `Given`, and values of continuous variables.

    Attributes
    ----------
    hard : mapping from int to int
    soft : mapping from int to array, shape (n_states,)
    values : mapping from int to array, shape (n,)
        One number a row of evidence; everything else is the same in all rows.
    n : int
    """

    hard: Mapping[int, int] = field(default_factory=dict)
    soft: Mapping[int, Floats] = field(default_factory=dict)
    values: Mapping[int, Floats] = field(default_factory=dict)
    n: int = 1


@dataclass(frozen=True, eq=False)
class MixedNetwork:
    """A conditional-Gaussian network over variables that are positions.

    Attributes
    ----------
    names : tuple of str
    sizes : tuple of int
        The number of states of a discrete variable; 1 for a continuous one.
    parents : tuple of tuple of int
    order : tuple of int
        All variables, parents first.
    regressions : mapping from int to Regression
        Of the continuous variables.
    table : callable
        From a discrete variable and the evidence to log p(variable | parents), a table over the discrete parents and
        the variable. Where the observed values matter, its last axis is the row of evidence, `rows_axis`.
    labels : mapping from int to sequence
        The states of the discrete variables, for messages.
    others : frozenset of int
        Continuous variables that are not normal: `table` returns log p(observed value | parents) of them, over the
        discrete parents, and they must be observed wherever they matter.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    regressions: Mapping[int, Regression]
    table: Callable[[int, Seen], LogFactor]
    labels: Mapping[int, Sequence[object]]
    others: frozenset[int] = frozenset()

    @property
    def rows_axis(self) -> int:
        """The position that stands for the row of evidence, beside the variables'."""
        return len(self.names)

    def is_discrete(self, variable: int) -> bool:
        """Whether a variable has states."""
        return variable not in self.regressions and variable not in self.others

    def require_closed_form(self, relevant: Iterable[int], seen: Seen) -> None:
        """Raise where variables matter that were not observed and are neither discrete nor normal."""
        hidden = [self.names[variable] for variable in relevant if variable in self.others - seen.values.keys()]
        if hidden:
            raise ModelError(
                NoExactAnswer(
                    f"The answer depends on {listing(hidden, 12)}, neither discrete nor normal, so that it has no "
                    f"closed form. Observe {listing(hidden, 12)}",
                    ".",
                )
            )

    def above(self, wanted: Iterable[int]) -> list[int]:
        """Return some variables with all their ancestors, parents first."""
        found, stack = set[int](), list(wanted)
        while stack:
            variable = stack.pop()
            if variable not in found:
                found.add(variable)
                stack += self.parents[variable]
        return [variable for variable in self.order if variable in found]


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of normal distributions, a component for each configuration of some discrete variables.

    Attributes
    ----------
    by : tuple of int
        Configurations are in lexicographic order, the last variable fastest; there are k.
    weights : array, shape (n, k)
        Of each row of evidence; all zeros where it is impossible.
    mean : array, shape (n, k, t)
    covariance : array, shape (k, t, t)
    """

    by: tuple[int, ...]
    weights: Floats = field(repr=False)
    mean: Floats = field(repr=False)
    covariance: Floats = field(repr=False)


class Conditioned:
    """A network given evidence, as far as it takes to answer about some variables.

    Parameters
    ----------
    network : MixedNetwork
    seen : Seen
    wanted : iterable of int
        The variables to answer about, and the continuous ones whose moments are asked for.
    separated : bool
        Whether parts matter that the evidence separates from what is wanted. They do for log p(evidence); without
        them it is that of some of the evidence, −inf only if all of it is impossible, and posteriors stay the same.
    """

    def __init__(self, network: MixedNetwork, seen: Seen, wanted: Iterable[int], separated: bool = True) -> None:
        self.network, self.seen, self._separated = network, seen, separated
        self.wanted = frozenset(wanted)
        self.relevant = network.above([*self.wanted, *seen.hard, *seen.soft, *seen.values])
        network.require_closed_form(self.relevant, seen)
        self.solver = PartSolver(
            network.names, network.sizes, network.regressions, seen.values, seen.hard, network.labels, seen.n
        )
        self._sizes = (*network.sizes, seen.n)
        self._names = (*network.names, "row of evidence")

    # Factors --------------------------------------------------------------------------------------------------

    @cached_property
    def parts(self) -> list[Part]:
        """The continuous variables that matter, in parts."""
        members = [variable for variable in self.relevant if variable in self.network.regressions]
        parts = split(members, self.network.regressions, self.seen.values, self.seen.hard)
        return parts if self._separated else self._near(parts)

    def _near(self, parts: Sequence[Part]) -> list[Part]:
        """Return the parts that tables, or other parts, join with what is wanted."""
        held = [{*table.scope} - {self.network.rows_axis} for table in self.tables]
        groups = [*held, *({*part.free, *part.by} for part in parts)]
        touching: dict[int, list[int]] = {}
        for number, group in enumerate(groups):
            for variable in group:
                touching.setdefault(variable, []).append(number)
        reached, stack = set[int](), list(self.wanted)
        while stack:
            for number in touching.pop(stack.pop(), ()):
                if number not in reached:
                    reached.add(number)
                    stack += groups[number]
        return [part for number, part in enumerate(parts, len(held)) if number in reached]

    @cached_property
    def solved(self) -> list[Solved]:
        """All parts, solved for those of their variables that are wanted."""
        return [self.solver.solve(part, [v for v in part.free if v in self.wanted]) for part in self.parts]

    @cached_property
    def tables(self) -> list[LogFactor]:
        """The tables of the variables that matter and are not normal, and the soft evidence."""
        found = []
        for variable in self.relevant:
            if variable in self.network.regressions:
                continue
            table = sliced(self.network.table(variable, self.seen), self.seen.hard)
            if np.isnan(table.values).any():
                raise ModelError(
                    f"The answer depends on {self.network.names[variable]!r}, whose table has unknown rows (NaN), "
                    "because the data had no such case. Fit with ",
                    Remedy("unseen_parents", "uniform"),
                    " or with a prior.",
                )
            found.append(table)
        return found + [sliced(LogFactor((v,), log_of(w)), self.seen.hard) for v, w in self.seen.soft.items()]

    def _density(self, solved: Solved) -> tuple[LogFactor, Floats]:
        """Return the density of what was observed in a part as a factor, and what was taken off it in each row."""
        top = solved.log_density.max(axis=0)
        top = np.where(top > -math.inf, top, 0.0)
        shape = [self.network.sizes[variable] for variable in solved.part.by]
        scope = (*solved.part.by, self.network.rows_axis)
        return LogFactor(scope, (solved.log_density - top).reshape(*shape, self.seen.n)), top

    @cached_property
    def _densities(self) -> tuple[list[LogFactor], Floats]:
        found = [self._density(solved) for solved in self.solved if solved.part.seen]
        total: Floats = sum((top for _, top in found), np.zeros(self.seen.n))
        return [factor for factor, _ in found], total

    # Tables ---------------------------------------------------------------------------------------------------

    def log_joint(self, targets: Sequence[int]) -> Floats:
        """Return log p(targets, evidence) of each row of evidence; shape (n, …targets)."""
        densities, total = self._densities
        kept = (self.network.rows_axis, *targets)
        found = summed_out(self._names, self._sizes, [*self.tables, *densities], kept).rest.values
        return found + total.reshape(-1, *[1] * len(targets))

    def log_evidence(self) -> Floats:
        """Return log p(evidence) of each row, a density where continuous variables were observed; shape (n,)."""
        return self.log_joint(())

    def posterior(self, targets: Sequence[int]) -> tuple[Floats, Floats]:
        """Return p(targets | evidence), zeros where it is impossible, and log p(evidence); rows are the first axis."""
        joint = self.log_joint(targets)
        n = len(joint)
        flat = joint.reshape(n, -1)
        top = flat.max(axis=1, keepdims=True)
        with np.errstate(under="ignore", divide="ignore"):
            scaled = np.exp(flat - np.where(top > -math.inf, top, 0.0))
            total = scaled.sum(axis=1, keepdims=True)
            log_p = np.log(total[:, 0]) + np.where(top > -math.inf, top, 0.0)[:, 0]
        return (scaled / np.where(total > 0, total, 1.0)).reshape(joint.shape), log_p

    # Mixtures -------------------------------------------------------------------------------------------------

    def mixture(self, discrete: Sequence[int], continuous: Sequence[int]) -> tuple[Mixture, Floats]:
        """Return p(discrete, continuous | evidence) as a mixture, and log p(evidence) of each row.

        The configurations are those of the discrete variables asked for, and of whatever else the parts depend on.
        """
        parts = [solved for solved in self.solved if set(continuous) & set(solved.part.free)]
        hidden = sorted({v for solved in parts for v in solved.part.by} - set(discrete))
        by = (*discrete, *hidden)
        self._require_room(by, len(continuous))
        weights, log_p = self.posterior(by)
        whole = assembled(parts, by, self.network.sizes, continuous, self.seen.n)
        return Mixture(by, weights.reshape(self.seen.n, -1), *whole), log_p

    def _require_room(self, by: Sequence[int], t: int) -> None:
        k = math.prod(self.network.sizes[variable] for variable in by)
        need, allowed = BYTES * 2 * k * (t * t + self.seen.n * (t + 1)), settings().memory
        if need > allowed:
            raise ModelError(
                NoExactAnswer(
                    f"The answer is a mixture of {k:,} normal distributions, one for each configuration of "
                    f"{listing([self.network.names[v] for v in by], 12)}, and would need {in_bytes(need)}; it may use "
                    f"{in_bytes(allowed)}. Ask for fewer variables at a time or observe some of these",
                    ".",
                )
            )

    # The most likely, and draws -------------------------------------------------------------------------------

    def most_likely(self) -> tuple[dict[int, int], dict[int, float], float, dict[int, tuple[int, ...]]] | None:
        """Return codes and values of what is wanted, log p(codes, values, evidence) and ties; None if impossible.

        All other variables are summed or integrated out. Within a configuration the most likely values are the means.
        """
        wanted = [v for v in self.relevant if v in self.wanted and self.network.is_discrete(v)]
        targets = sorted(v for v in wanted if v not in self.seen.hard)
        self._require_one_normal(targets)
        factors = [sliced(factor, {self.network.rows_axis: 0}) for factor in self.tables]
        for solved in self.solved:
            shape = [self.network.sizes[variable] for variable in solved.part.by]
            factors.append(LogFactor(solved.part.by, (solved.log_density[:, 0] + solved.wanted_peak()).reshape(shape)))
        found = maximised(self._names, self._sizes, factors, targets)
        best = float(found.rest.values)
        if best == -math.inf:
            return None
        codes = found.greatest()
        values: dict[int, float] = {}
        for solved in self.solved:
            if solved.wanted:
                at = int(configuration(solved.part, codes, self.network.sizes))
                values.update(zip(solved.wanted, solved.mean[at, 0].tolist(), strict=True))
        return codes, values, best, found.ties(TIED)

    def _require_one_normal(self, targets: Sequence[int]) -> None:
        """Raise where values are wanted that are normal only given variables which are to be summed out."""
        for part in self.parts:
            values, hidden = [v for v in part.free if v in self.wanted], [v for v in part.by if v not in targets]
            if values and hidden:
                names = self.network.names
                raise ModelError(
                    f"The most likely value of {names[values[0]]!r} has no closed form with "
                    f"{listing([names[v] for v in hidden], 12)} summed out: it is the mode of a mixture of normal "
                    "distributions. Add what is summed out to the targets, or give it; query returns the mixture."
                )

    def summed(self, extra: Sequence[tuple[int, ...]] = ()) -> tuple[Summed, float]:
        """Return the discrete variables summed out, for marginals and draws, and log p(evidence); for one row.

        Some factor covers each of the ``extra`` scopes.
        """
        densities, total = self._densities
        factors = [sliced(factor, {self.network.rows_axis: 0}) for factor in (*self.tables, *densities)]
        sizes = self.network.sizes
        factors += [LogFactor(scope, np.zeros([sizes[v] for v in scope])) for scope in extra if scope]
        found = summed_out(self._names, self._sizes, factors)
        return found, float(found.rest.values) + float(total[0])

    def summed_rows(self, extra: Sequence[tuple[int, ...]] = (), greatest: bool = False) -> tuple[Summed, Floats]:
        """Return the discrete variables summed or maximised out for all rows at once, and the logarithm, shape (n,).

        What is kept is the row of evidence; some factor covers each of the ``extra`` scopes.
        """
        densities, total = self._densities
        spare = [LogFactor(scope, np.zeros([self._sizes[v] for v in scope])) for scope in extra if scope]
        axis, over = self.network.rows_axis, greatest_of if greatest else None
        factors = [*self.tables, *densities, *spare]
        found = summed_out(self._names, self._sizes, factors, (axis,), over, rows=axis)
        return found, found.rest.values + total


def configuration(part: Part, codes: Mapping[int, int | Ints], sizes: Sequence[int]) -> int | Ints:
    """Return the number of a part's configuration from the codes of discrete variables, one each or arrays of them."""
    at: int | Ints = 0
    for variable in part.by:
        at = at * sizes[variable] + codes[variable]
    return at


def assembled(
    parts: Sequence[Solved], by: Sequence[int], sizes: Sequence[int], continuous: Sequence[int], n: int
) -> tuple[Floats, Floats]:
    """Return means and covariances of variables of several parts, which are independent given the configuration.

    Shapes (n, k, t) and (k, t, t), k being the number of configurations of ``by``.
    """
    k, t = math.prod(sizes[variable] for variable in by), len(continuous)
    mean, covariance = np.zeros((n, k, t)), np.zeros((k, t, t))
    codes = dict(zip(by, np.unravel_index(np.arange(k), [sizes[v] for v in by]) if by else (), strict=True))
    for solved in parts:
        places = [(at, list(continuous).index(v)) for at, v in enumerate(solved.wanted) if v in continuous]
        here, there = [at for at, _ in places], np.array([to for _, to in places])
        at = np.broadcast_to(configuration(solved.part, codes, sizes), k)
        mean[:, :, there] = solved.mean[:, :, here].transpose(1, 0, 2)[:, at]
        root = solved.root[:, here]
        covariance[:, there[:, None], there] = (root @ root.transpose(0, 2, 1))[at]
    return mean, covariance


def each_marginal(network: MixedNetwork, seen: Seen) -> tuple[dict[int, Floats], dict[int, Mixture]] | None:
    """Return p(v | evidence) of every variable that was not observed, for one row; None if the evidence is impossible.

    Continuous variables that hang together are solved together, unless their part has many configurations: then each
    is answered by itself, without the variables below it.
    """
    everything = range(len(network.names))
    discrete = [v for v in everything if network.is_discrete(v)]
    network.require_closed_form(everything, seen)
    members = [v for v in network.order if v in network.regressions]
    base = Conditioned(network, seen, discrete)
    parts = [part for part in split(members, network.regressions, seen.values, seen.hard) if part.free]
    together = [part for part in parts if not part.by or base.solver.numbers(part) <= CHUNK]
    summed, log_p = base.summed([part.by for part in together])
    if log_p == -math.inf:
        return None
    free = [v for v in discrete if v not in seen.hard]
    tables = dict(zip(free, summed.marginals([(v,) for v in free]), strict=True))
    mixtures: dict[int, Mixture] = {}
    for part, weights in zip(together, summed.marginals([part.by for part in together]), strict=True):
        solved = base.solver.solve(part, part.free)
        flat = weights.reshape(1, -1)
        for variable in part.free:
            moments = assembled([solved], part.by, network.sizes, [variable], 1)
            mixtures[variable] = Mixture(part.by, flat, *moments)
    for variable in (v for part in parts if part not in together for v in part.free):
        mixtures[variable] = Conditioned(network, seen, [variable], separated=False).mixture((), [variable])[0]
    return tables, mixtures
