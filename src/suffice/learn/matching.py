"""Matching: the margins that a Markov random field has to match, and the objective whose optimum matches them.

Maximum likelihood, pseudo-counts and target margins are all one problem: with targets t_C = (m_C + α_C) / (N + ess),

    minimise  log Z(θ) − Σ_C ⟨t_C, θ_C⟩ + penalty(θ) / N,    whose gradient is  p_C(θ) − t_C + ….

A cell with a zero target has a zero potential from the start, unless a penalty keeps it finite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import EstimationError, ModelError, Remedy, made
from suffice.inference.clique_family import CliqueFamily, FamilyPoint, Layout, family_of
from suffice.inference.interactions import Interactions
from suffice.inference.product import Factor
from suffice.inference.scaled_gaps import scaled_gaps
from suffice.learn.clique_start import start_of
from suffice.learn.method import Problem
from suffice.models.clique_layout import factors_over, layout_of
from suffice.models.cpds.tabular import describe_configuration
from suffice.optimise.decrement import LEFT, decrement_by_products
from suffice.priors.dirichlet import DirichletPrior
from suffice.priors.penalty import Penalty
from suffice.priors.pseudo_margins import pseudo_margin
from suffice.settings import more_memory, settings
from suffice.stats.needs import Count, Need
from suffice.structures.cliques import Cliques
from suffice.text import in_bytes
from suffice.types import Array, Floats

MAX_TERMS = 1024
COPIES = 4
"""So many times a clique's table is held: counts, targets, potentials, marginals."""
JOINT_VARIABLES = 8
"""Tables of up to so many variables are also counted whole: that is what G², X² and residuals are made of."""


def needs(cliques: Cliques, schema: Schema) -> tuple[Need, ...]:
    """Return the counts of every clique, and of the whole table where it has few variables."""
    found = [Count(clique) for clique in cliques.cliques]
    if len(cliques.variables) <= JOINT_VARIABLES:
        found.append(Count(cliques.variables))
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, eq=False)
class Matching:
    """Margins to match within a family.

    Attributes
    ----------
    problem : Problem
    variables : tuple of Variable
        Those of the structure, in its order; scopes are positions in it.
    layout : Layout
        The tables of the cliques.
    base : tuple of Factor
        The base measure; zeros are impossible configurations.
    targets : array
        The margins wanted, flat; each table sums to one.
    total : float
        N, pseudo-counts included.
    """

    problem: Problem[Cliques]
    variables: tuple[Variable, ...]
    layout: Layout
    base: tuple[Factor, ...]
    targets: Floats
    total: float

    @classmethod
    def of(cls, problem: Problem[Cliques]) -> Matching:
        """Take the margins from a problem's statistics and prior."""
        structure: Cliques = problem.structure
        variables = tuple(problem.schema[name] for name in structure.variables)
        layout = layout_of(structure, problem.schema)
        prior = problem.prior if isinstance(problem.prior, DirichletPrior) else None
        ess, tables = 0.0, []
        for clique in structure.cliques:
            table = clique_table(problem, clique)
            if prior is not None:
                pseudo = pseudo_margin(prior, tuple(problem.schema[name] for name in clique))
                ess, table = float(pseudo.sum()), table + pseudo
            tables.append(table)
        total = problem.statistics.weight + ess
        if total == 0:  # a penalty alone: no margin is better than the uniform one
            tables, total = [np.full(shape, 1 / math.prod(shape)) for shape in layout.shapes], 1.0
        if isinstance(problem.prior, Penalty):
            require_few_terms(structure)
        if isinstance(problem.prior, Penalty) and problem.prior.main == math.inf:
            _require_every_state(problem.prior, structure, problem.schema, tables)
        return cls(
            problem,
            variables,
            layout,
            factors_over(problem.base, structure.variables),
            layout.flat(tables) / total,
            total,
        ).checked()

    def on(self, support: NDArray[np.bool_]) -> Matching:
        """Return the problem on some cells of the joint table only."""
        scope = tuple(range(len(self.variables)))
        return replace(self, base=(*self.base, Factor(scope, support.astype(np.float64))))

    def checked(self) -> Matching:
        """Refuse base measures that rule out what the margins hold."""
        if self.base:
            expected = self.family.at(np.where(self.free, 0.0, -np.inf)).expected
            ruled_out = (self.targets > 0) & ~(expected > 0)
            if ruled_out.any():
                raise EstimationError(
                    f"The base table rules out {self.describe_cell(int(np.argmax(ruled_out)))}, but the margins give "
                    "it mass. Change the target, or allow some of these cells in the base table."
                )
        return self

    def describe_cell(self, position: int) -> str:
        """Name a cell of a clique's table by its place in the flat array."""
        number = int(np.searchsorted(self.layout.starts, position, "right")) - 1
        codes = np.unravel_index(position - int(self.layout.starts[number]), self.layout.shapes[number])
        return describe_configuration(tuple(self.variables[v] for v in self.layout.scopes[number]), codes)

    # The family -----------------------------------------------------------------------------------------------

    @cached_property
    def family(self) -> CliqueFamily:
        """The distributions among which the match is sought."""
        names = [variable.name for variable in self.variables]
        try:
            return family_of(names, self.layout.sizes, self.layout.scopes, self.base)
        except ModelError as error:
            raise EstimationError(
                "This graph is too wide for a fit through its junction tree. ",
                error.message,
                " All exact methods need these "
                "tables; leave out cliques, or merge variables, so that the graph becomes narrower.",
            ) from None

    @property
    def penalty(self) -> Penalty | None:
        """The penalty on the u-terms, if the prior is one."""
        return self.problem.prior if isinstance(self.problem.prior, Penalty) else None

    @cached_property
    def interactions(self) -> Interactions:
        """The u-terms of the cliques."""
        return Interactions(self.layout)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """The cells whose potentials are not zero from the start."""
        return np.ones(self.layout.n, bool) if self.penalty is not None else self.targets > 0

    @cached_property
    def start(self) -> Floats:
        """θ at the start, −inf where it is not free."""
        start = start_of(self.problem, self.layout)
        start[~self.free] = -np.inf
        return start

    # The objective --------------------------------------------------------------------------------------------

    def theta(self, x: Floats) -> Floats:
        """Return the parameters of all cells from the free ones."""
        theta = np.full(self.layout.n, -np.inf)
        theta[self.free] = x
        return theta

    def evaluate(self, x: Floats) -> tuple[float, Floats]:
        """Return objective and gradient at the free parameters."""
        value, gradient, _ = self.evaluate_twice(x)
        return value, gradient

    def evaluate_twice(self, x: Floats) -> tuple[float, Floats, Any]:
        """Return objective, gradient and products with the Hessian at the free parameters."""
        point = self.family.at(self.theta(x))
        value = point.log_z - float(self.targets[self.free].dot(x))  # eq clique-likelihood
        gradient = point.expected - self.targets  # eq clique-gradient
        if self.penalty is not None:
            terms = self.interactions.of(x)[1]
            value += self.penalty.value(terms) / self.total  # eq map-objective
            gradient += self.interactions.adjoint(self.penalty.slope(terms)) / self.total
        return value, gradient[self.free], lambda v: self._product(point, v)

    def _product(self, point: FamilyPoint, v: Floats) -> Floats:
        direction = np.zeros(self.layout.n)
        direction[self.free] = v
        found = point.curvature(direction)
        if self.penalty is not None:
            terms = self.interactions.of(v)[1]
            found += self.interactions.adjoint(self.penalty.slope(terms)) / self.total  # the slope is linear
        return found[self.free]

    def done(self, x: Floats, value: float, gradient: Floats) -> bool:
        """Whether a search may end at a point."""
        return self.matches(gradient)

    def matches(self, gradient: Floats) -> bool:
        """Whether the margins match: twice as closely as the certificate asks, which measures anew."""
        gap = self.gap(gradient)
        self.problem.watch.info = f"gap {gap:.1e}"
        return gap <= self.problem.tol / 2 and self.left(gradient) <= LEFT

    def left(self, gradient: Floats) -> float:
        """Return about how many nats are left to gain, cell by cell."""
        targets = self.targets if len(gradient) == self.layout.n else self.targets[self.free]
        expected = np.maximum(targets, 1 / max(self.total, 1.0))
        return self.total * float((gradient**2 / expected).sum()) / 2

    def is_near(self, x: Floats) -> bool:
        """Whether a Newton step would gain little, by the Hessian at the point itself: the certificate's measure."""
        _, gradient, product = self.evaluate_twice(x)
        t = self.targets[self.free]
        diagonal = np.maximum(t * (1 - t), 1 / max(self.total, 1.0))
        left = decrement_by_products(
            self.total * gradient, lambda v: self.total * product(v), self.total * diagonal, limit=LEFT
        )
        return left.size <= LEFT

    def gap(self, gradient: Floats) -> float:
        """Return the largest gap of a free cell's margin, where rare cells count more: see `scaled_gaps`."""
        targets = self.targets if len(gradient) == self.layout.n else self.targets[self.free]
        return float(scaled_gaps(gradient, targets, self.total).max(initial=0.0))

    @cached_property
    def scale(self) -> Floats:
        """About the inverse of the Hessian's diagonal, t (1 − t), at the optimum."""
        t = self.targets[self.free]
        return 1 / np.maximum(t * (1 - t), 1e-6)

    def log_likelihood(self, theta: Floats) -> float:
        """Return Σ m log (p/h) of the data, without pseudo-counts and penalties; h is the base measure."""
        n, log_z = self.problem.statistics.weight, self.family.at(theta).log_z
        counts = self.layout.flat([self.problem.statistics[Count(c)].table() for c in self.problem.structure.cliques])
        seen = counts != 0  # margins that were reconciled may have negative cells
        return float(counts[seen].dot(theta[seen])) - n * log_z

    def gain(self, value: float) -> float:
        """Return the log-likelihood (penalised, if there is a penalty) of an objective, for the trace."""
        return -self.total * value


def require_few_terms(structure: Cliques) -> None:
    """Refuse penalties on more u-terms than can be handled one by one."""
    n_terms = sum(2 ** len(clique) for clique in structure.maximal)
    if n_terms > MAX_TERMS:
        raise EstimationError(
            f"A penalty is on every u-term, and these cliques have up to {n_terms:,} of them; at most {MAX_TERMS:,} "
            "can be handled. Divide large cliques into smaller ones, or use pseudo-counts, such as ",
            Remedy("prior", made("BDeu", 10)),
            ".",
        )


def _require_every_state(prior: Penalty, structure: Cliques, schema: Schema, tables: Sequence[Floats]) -> None:
    """Refuse states without data whose main effects no prior keeps finite."""
    for clique, table in zip(structure.cliques, tables, strict=True):
        for axis, name in enumerate(clique):
            counts = table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
            if (counts == 0).any():
                label = schema[name].labels[int(np.argmin(counts))]
                raise EstimationError(
                    f"State {label!r} of {name!r} never occurs, and {prior.describe()} leaves its main effect free: it "
                    "would run to minus infinity. Give main effects a prior, main=10, or leave the state out."
                )


def clique_table(problem: Problem[Cliques], clique: tuple[str, ...]) -> Floats:
    """Return the counts of one clique as a full table; an error with numbers when that is too large."""
    counts = problem.statistics[Count(clique)]
    need, allowed = 8 * COPIES * counts.n_cells, settings().memory
    if need > allowed:
        raise EstimationError(
            f"The table of the clique {':'.join(clique[:12])}{'…' if len(clique) > 12 else ''}, with {len(clique)} "
            f"variables and {counts.n_cells:,} cells, would take {in_bytes(need)}, and may take {in_bytes(allowed)}. "
            "Divide it into smaller cliques, or allow more: ",
            more_memory(need),
            ".",
        )
    table: Floats = counts.table().astype(np.float64)
    return table


def joint_counts(problem: Problem[Cliques]) -> Array | None:
    """Return the whole table of counts, if it was collected and is small enough to be written out."""
    need = Count(problem.structure.variables)
    if need not in problem.statistics or problem.statistics[need].cells is not None:
        return None
    table: Array = problem.statistics[need].table()
    return table
