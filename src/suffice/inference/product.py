"""Product: a distribution as the engine sees it, p(x) ∝ Π φ(x_scope), over variables that are positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.graph.elimination import bits

Evidence = Mapping[int, int]
"""From variables to the codes of the states that were seen."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A table over some variables.

    Attributes
    ----------
    scope : tuple of int
        The variable of each axis.
    values : array, shape (n_states, …)
        Finite, not negative.
    """

    scope: tuple[int, ...]
    values: NDArray[np.float64] = field(repr=False)

    def over(self, sizes: Sequence[int]) -> NDArray[np.float64]:
        """Return the table for broadcasting over a joint table: one axis a variable, of length one where it has none.

        >>> Factor((2, 0), np.ones((5, 3))).over((3, 4, 5)).shape
        (3, 1, 5)
        """
        order = sorted(range(len(self.scope)), key=self.scope.__getitem__)
        shape = [size if variable in self.scope else 1 for variable, size in enumerate(sizes)]
        return self.values.transpose(order).reshape(shape)

    def given(self, evidence: Evidence) -> Factor:
        """Return the slice at what was seen, a view."""
        if not any(variable in evidence for variable in self.scope):
            return self
        index = tuple(evidence.get(variable, slice(None)) for variable in self.scope)
        return Factor(tuple(variable for variable in self.scope if variable not in evidence), self.values[index])


@dataclass(frozen=True, eq=False)
class Product:
    """A product of tables.

    Attributes
    ----------
    names : tuple of str
        For messages.
    sizes : tuple of int
        The number of states of every variable.
    factors : tuple of Factor
    parents : tuple of tuple of int, or None
        For a Bayesian network, the parents of every variable; factor v is then p(x_v | x_parents), its child the last
        axis, and sums to one over it.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    factors: tuple[Factor, ...]
    parents: tuple[tuple[int, ...], ...] | None = None

    def with_factors(self, factors: Sequence[Factor]) -> Product:
        """Return the product of these and more tables; soft evidence is one."""
        return replace(self, factors=(*self.factors, *factors)) if factors else self

    @property
    def scopes(self) -> list[tuple[int, ...]]:
        """The scope of every factor."""
        return [factor.scope for factor in self.factors]

    @cached_property
    def loose(self) -> tuple[int, ...]:
        """The variables that are in no factor."""
        held = {variable for factor in self.factors for variable in factor.scope}
        return tuple(variable for variable in range(len(self.sizes)) if variable not in held)

    def unit(self, variable: int) -> Factor:
        """Return the factor over one variable that says nothing."""
        return Factor((variable,), np.ones(self.sizes[variable]))

    @cached_property
    def above(self) -> tuple[int, ...]:
        """For a Bayesian network: every variable with all its ancestors, as sets of bits."""
        masks: dict[int, int] = {}
        assert self.parents is not None
        for start in range(len(self.sizes)):
            stack = [start]
            while stack:
                variable = stack[-1]
                waiting = [parent for parent in self.parents[variable] if parent not in masks]
                if waiting and variable not in masks:
                    stack += waiting
                    continue
                stack.pop()
                mask = 1 << variable
                for parent in self.parents[variable]:
                    mask |= masks[parent]
                masks[variable] = mask
        return tuple(masks[variable] for variable in range(len(self.sizes)))


def possible_cells(factors: Iterable[Factor], sizes: Sequence[int]) -> NDArray[np.bool_]:
    """Return the configurations that no factor rules out; one axis a variable."""
    possible = np.ones(sizes, bool)
    for factor in factors:
        possible &= factor.over(sizes) > 0
    return possible


def relevant(product: Product, wanted: Sequence[int]) -> list[Factor]:
    """Return the factors that matter for the variables ``wanted``, targets and evidence alike.

    In a Bayesian network, tables of nodes that are no ancestors of these sum to one and are left out: barren nodes.
    Extra factors, after those of the nodes, always stay.
    """
    if product.parents is None:
        return [*product.factors, *(product.unit(variable) for variable in product.loose)]
    n = len(product.sizes)
    mask = 0
    for variable in wanted:
        mask |= product.above[variable]
    extra = product.factors[n:]
    for factor in extra:
        for variable in factor.scope:
            mask |= product.above[variable]
    return [product.factors[variable] for variable in bits(mask)] + list(extra)


def connected(factors: Sequence[Factor]) -> list[list[Factor]]:
    """Group factors that share variables, directly or through others; constants are groups of their own."""
    group: dict[int, int] = {}
    members: list[list[Factor]] = []
    for factor in factors:
        touched = {group[variable] for variable in factor.scope if variable in group}
        if touched:
            home = max(touched, key=lambda number: len(members[number]))
            for other in touched - {home}:
                for moved in members[other]:
                    for variable in moved.scope:
                        group[variable] = home
                members[home] += members[other]
                members[other] = []
        else:
            home = len(members)
            members.append([])
        members[home].append(factor)
        for variable in factor.scope:
            group[variable] = home
    return [found for found in members if found]
