"""Rows with gaps of a network of discrete and continuous variables: their log-density, and the gaps filled.

Rows that differ in the values of continuous variables only are answered together; see `suffice.models.mixed_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.inference.blanket import Blanket
from suffice.inference.conditional_gaussian import Conditioned, MixedNetwork, Seen, configuration
from suffice.inference.conditional_gaussian_draws import TINY
from suffice.inference.gaussian_parts import Solved
from suffice.inference.log_tables import Codes, first_of_greatest
from suffice.models.mixed_rows import situations
from suffice.models.mixture_rows import summary
from suffice.types import Floats, Ints

if TYPE_CHECKING:
    from suffice.models.cpds import CPD

Filled = tuple[Ints, Floats, Floats]
"""The codes and the values of rows without gaps, and a logarithm that is −inf where a row is impossible."""


@dataclass(frozen=True, eq=False)
class MixedGaps:
    """How the gaps of rows are summed out and filled, for one conditional-Gaussian network.

    Attributes
    ----------
    network : MixedNetwork
    names : sequence of str
    cpds : sequence of CPD
        From which variables are drawn below which nothing was seen.
    """

    network: MixedNetwork
    names: Sequence[str]
    cpds: Sequence[CPD]

    def log_sum(self, codes: Ints, values: Floats) -> Floats:
        """Return the log-density of what was seen in each row."""
        total = np.empty(len(codes))
        for rows, seen in situations(codes, values):
            total[rows] = Conditioned(self.network, seen, ()).log_evidence()
        return total

    def most_likely(self, codes: Ints, values: Floats) -> Filled:
        """Fill gaps by the codes that are jointly most likely given the row, and by the means given row and codes."""
        states, numbers, total = codes.copy(), values.copy(), np.empty(len(codes))
        for rows, seen in situations(codes, values):
            held = Conditioned(self.network, seen, self._missing(seen))
            summed, total[rows] = held.summed_rows(greatest=True)
            chosen = summed.greatest_given({self.network.rows_axis: np.arange(seen.n)})
            for variable, code in chosen.items():
                states[rows, variable] = code
            for solved in held.solved:
                means = self._means(solved, chosen, seen.n)
                for variable, mean in zip(solved.wanted, means.T, strict=True):
                    numbers[rows, variable] = mean
        return states, numbers, total

    def each_alone(self, codes: Ints, values: Floats) -> Filled:
        """Fill each gap by its own most likely code, or by its mean, given the row."""
        states, numbers, total = codes.copy(), values.copy(), np.empty(len(codes))
        for rows, seen in situations(codes, values):
            held = Conditioned(self.network, seen, self._missing(seen))
            parts = [solved for solved in held.solved if solved.wanted]
            summed, total[rows] = held.summed_rows([solved.part.by for solved in parts])
            discrete = [variable for variable, _ in summed.steps]
            for variable, p in zip(discrete, summed.marginals([(v,) for v in discrete]), strict=True):
                states[rows, variable] = first_of_greatest(p)
            weights = summed.marginals([solved.part.by for solved in parts])
            for solved, p in zip(parts, weights, strict=True):
                flat = np.broadcast_to(p.reshape(len(p), -1), (seen.n, len(solved.mean)))
                means = np.einsum("nk,knt->nt", flat, solved.mean)
                for variable, mean in zip(solved.wanted, means.T, strict=True):
                    numbers[rows, variable] = mean
        return states, numbers, total

    def draw(self, codes: Ints, values: Floats, uniform: Floats) -> Filled:
        """Fill gaps by draws from p(gaps | row); ``uniform`` has a number for every value of every row."""
        states, numbers, total = codes.copy(), values.copy(), np.empty(len(codes))
        for rows, seen in situations(codes, values):
            above = self.network.above([*seen.hard, *seen.values])
            held = Conditioned(self.network, seen, above)
            summed, total[rows] = held.summed_rows()
            supply = (uniform[rows, variable] for variable, _ in reversed(summed.steps))
            sizes, axis = (*self.network.sizes, seen.n), {self.network.rows_axis: np.arange(seen.n)}
            drawn = summed.draw(sizes, supply.__next__, axis)
            for variable, code in drawn.items():
                states[rows, variable] = code
            for solved in held.solved:
                if solved.wanted:
                    numbers[rows[:, None], list(solved.wanted)] = self._drawn(solved, drawn, uniform[rows])
            self._draw_below(set(self.network.order) - set(above), rows, states, numbers, uniform)
        return states, numbers, total

    def marginal(self, target: int, codes: Ints, values: Floats, level: float) -> Floats:
        """Return p(target | row), or mean, standard deviation and interval; NaN where a row is impossible."""
        codes, values = codes.copy(), values.copy()
        codes[:, target], values[:, target] = -1, np.nan
        known = (codes >= 0) | ~np.isnan(values)
        near = self._blanket.reached(target, known) | ~self._blanket.surely_possible(codes)[:, None]
        codes, values = np.where(near, codes, -1), np.where(near, values, np.nan)
        discrete = self.network.is_discrete(target)
        found = np.empty((len(codes), self.network.sizes[target] if discrete else 4))
        for rows, seen in situations(codes, values):
            held = Conditioned(self.network, seen, (target,), separated=False)
            if discrete:
                found[rows], log_p = held.posterior((target,))
            else:
                mixture, log_p = held.mixture((), (target,))
                sd = np.sqrt(mixture.covariance[:, 0, 0])
                found[rows] = summary(mixture.weights, mixture.mean[:, :, 0], sd, level)
            found[rows[~(log_p > -np.inf)]] = np.nan
        return found

    @cached_property
    def _blanket(self) -> Blanket:
        parents, zeros = self.network.parents, {}
        for variable, above in enumerate(parents):
            if all(map(self.network.is_discrete, (variable, *above))):
                table = np.exp(self.network.table(variable, Seen()).values)
                if (table == 0).any():
                    zeros[variable] = table
        scopes = [(*above, variable) for variable, above in enumerate(parents)]
        return Blanket(len(parents), scopes, parents, zeros)

    def _missing(self, seen: Seen) -> list[int]:
        return [v for v in range(len(self.names)) if v not in seen.hard and v not in seen.values]

    def _at(self, solved: Solved, codes: Codes, n: int) -> Ints:
        """Return the configuration of a part in each row."""
        return np.broadcast_to(np.asarray(configuration(solved.part, codes, self.network.sizes)), n)

    def _means(self, solved: Solved, codes: Codes, n: int) -> Floats:
        """Return the means of a part's variables in each row's configuration; shape (n, t)."""
        return solved.mean[self._at(solved, codes, n), np.arange(n)]

    def _drawn(self, solved: Solved, codes: Codes, uniform: Floats) -> Floats:
        """Draw a part's variables in each row's configuration; shape (n, t)."""
        from scipy.special import ndtri

        n = len(uniform)
        normal = ndtri(uniform[:, list(solved.part.free)] + TINY)
        moved = np.einsum("ntu,nu->nt", solved.root[self._at(solved, codes, n)], normal)
        return np.asarray(self._means(solved, codes, n) + moved)

    def _draw_below(self, below: set[int], rows: Ints, codes: Ints, values: Floats, uniform: Floats) -> None:
        """Draw the variables below which nothing was seen, parents first, from their own distributions."""
        for variable in (v for v in self.network.order if v in below):
            columns: dict[str, Any] = {
                self.names[parent]: (codes if self.network.is_discrete(parent) else values)[rows, parent]
                for parent in self.network.parents[variable]
            }
            found = self.cpds[variable].sample(columns, uniform[rows, variable])
            (codes if self.network.is_discrete(variable) else values)[rows, variable] = found
