"""NormalMixture: what is known of continuous variables while discrete ones are uncertain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data.block import Block, code_dtype
from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.errors import (
    ArgumentError,
    ModelError,
    UnknownNameError,
    listing,
    require_fraction,
    require_mapping,
    shown,
    suggestion,
)
from suffice.models.joint_normal import JointNormal
from suffice.models.mixture_text import Cells, cells, frame
from suffice.models.normal_arrays import alone, checked_numbers, frozen
from suffice.models.sampling import sample_blocks, sample_frame
from suffice.stats.source import BlockSource
from suffice.text import html_table, plain_table, plural
from suffice.types import Array, Columns, Floats, Frame, Ints
from suffice.values import Label

TINY = 2.0**-54
"""Half of what may separate uniform numbers: they may be zero, whose normal quantile is −∞."""
FAR = 40.0
"""Standard deviations beyond which a normal distribution has no probability that a float could hold."""


@dataclass(frozen=True, eq=False)
class NormalMixture:
    """A mixture of normal distributions, a component for each configuration of some discrete variables.

    The answer to a query about continuous variables, alone or together with discrete ones, in a network of both.

    Attributes
    ----------
    names : tuple of str
        The continuous variables; there are p.
    targets : tuple of Variable
        The discrete variables that were asked for too.
    hidden : tuple of Variable
        Further discrete variables on which the components depend.
    codes : array, shape (k, n_targets + n_hidden)
        The configuration of every component; those of probability zero are left out.
    weights : array, shape (k,)
        The probability of each.
    means : array, shape (k, p)
    covariances : array, shape (k, p, p)

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"sex": ["f", "f", "f", "m", "m", "m"], "height": [1.6, 1.7, 1.8, 1.7, 1.8, 2.2]}
    >>> model = sf.fit(sf.DAG("sex -> height"), data).model
    >>> height = model.query("height")
    >>> print(height)
    sex       p  mean height  sd height
    ---  ------  -----------  ---------
    f    0.5000          1.7  0.0816497
    m    0.5000          1.9   0.216025
    all       1          1.8   0.191485
    >>> height[{"sex": "m"}].mean.round(6).tolist()
    [1.9]
    """

    names: tuple[str, ...]
    targets: tuple[Variable, ...]
    hidden: tuple[Variable, ...]
    codes: Ints = field(repr=False)
    weights: Floats = field(repr=False)
    means: Floats = field(repr=False)
    covariances: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.codes, self.weights, self.means, self.covariances):
            array.flags.writeable = False

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def by(self) -> tuple[Variable, ...]:
        """The discrete variables whose configurations name the components."""
        return (*self.targets, *self.hidden)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of all that was asked for, discrete variables first."""
        return tuple(self.schema)

    @property
    def schema(self) -> Schema:
        """The variables that were asked for, discrete ones first."""
        return self._schema

    @cached_property
    def _schema(self) -> Schema:
        return Schema((*self.targets, *(Variable(name) for name in self.names)))

    def __len__(self) -> int:
        return len(self.weights)

    def __repr__(self) -> str:
        return f"NormalMixture({plural(len(self.names), 'variable')}, {plural(len(self), 'component')})"

    @cached_property
    def mean(self) -> Floats:
        """The mean over all components; shape (p,)."""
        return frozen(self.weights @ self.means)

    @cached_property
    def covariance(self) -> Floats:
        """The covariance over all components, within them and between them; shape (p, p)."""
        apart = self.means - self.mean
        inside = np.einsum("k,kij->ij", self.weights, self.covariances)
        return frozen(inside + np.einsum("k,ki,kj->ij", self.weights, apart, apart))

    @property
    def sd(self) -> Floats:
        """The standard deviations; shape (p,)."""
        return np.sqrt(np.diag(self.covariance))

    @cached_property
    def table(self) -> LabelledTable:
        """The probabilities of the discrete variables asked for; without any, of those that name the components."""
        held = self.targets or self.by
        values = np.zeros([variable.n_states for variable in held])
        np.add.at(values, tuple(self.codes[:, : len(held)].T), self.weights)
        return LabelledTable(held, values)

    def components(self) -> Iterator[tuple[dict[str, Label], float, JointNormal]]:
        """Yield the configuration, the probability and the normal distribution of every component."""
        for row, weight in enumerate(self.weights.tolist()):
            labels = {v.name: v.labels[code] for v, code in zip(self.by, self.codes[row], strict=True)}
            yield labels, weight, self._component(row)

    def _component(self, row: int) -> JointNormal:
        return JointNormal(self.names, self.means[row], covariance=self.covariances[row])

    # Parts ----------------------------------------------------------------------------------------------------

    def __getitem__(self, where: Mapping[str, Label]) -> Any:
        """Return the distribution given states of some of the discrete variables: a mixture, or a JointNormal."""
        require_mapping("where", where, "{'A': 'yes'}")
        places = {variable.name: place for place, variable in enumerate(self.by)}
        picked = np.ones(len(self), bool)
        for name, label in where.items():
            if name not in places:
                raise UnknownNameError(
                    f"No discrete variable {name!r} names components. Those that do are {listing(places)}."
                    + suggestion(name, places)
                )
            picked &= self.codes[:, places[name]] == self.by[places[name]].code(label)
        if not picked.any():
            asked = ", ".join(f"{name}={label!r}" for name, label in where.items())
            raise ModelError(
                f"The probability of {asked} is zero, so that nothing follows from it. Ask for another configuration."
            )
        rest = [place for place, variable in enumerate(self.by) if variable.name not in where]
        if not rest:
            return self._component(int(np.argmax(picked)))
        n_targets = sum(place < len(self.targets) for place in rest)
        return self._only(picked, rest, n_targets, range(len(self.names)))

    def _only(self, picked: Array, by: Iterable[int], n_targets: int, kept: Iterable[int]) -> NormalMixture:
        """Return some components, some of the variables that name them, and some of the continuous variables."""
        held, at = list(by), list(kept)
        variables = [self.by[place] for place in held]
        weights = self.weights[picked]
        return NormalMixture(
            tuple(self.names[place] for place in at),
            tuple(variables[:n_targets]),
            tuple(variables[n_targets:]),
            self.codes[picked][:, held],
            weights / weights.sum(),
            self.means[picked][:, at],
            self.covariances[picked][:, at][:, :, at],
        )

    def marginal(self, names: Any) -> Any:
        """Return the distribution of some of the variables: a mixture, or a LabelledTable of discrete ones."""
        asked = [names] if isinstance(names, str) else names
        if not isinstance(asked, Iterable) or isinstance(asked, Mapping) or not (listed := list(asked)):
            raise ArgumentError(f"The 'names' argument must be a name or a list of names. Got {shown(names)} instead.")
        for name in listed:
            if name not in self.schema or listed.count(name) > 1:
                raise ArgumentError(
                    f"The 'names' argument must name variables of the mixture, each once. Got {shown(names)} instead; "
                    f"the variables are {listing(self.variables, 12)}."
                )
        first = [place for name in listed for place, v in enumerate(self.targets) if v.name == name]
        kept = [self.names.index(name) for name in listed if name in self.names]
        rest = [place for place in range(len(self.by)) if place not in first]
        part = self._only(np.ones(len(self), bool), [*first, *rest], len(first), kept)
        return part if kept else part.table

    # What it computes -----------------------------------------------------------------------------------------

    def log_prob(self, data: Any) -> Floats:
        """Return the log-density of every row of a table, with the probability of discrete targets; shape (n_rows,)."""
        table = open_table(data, self.variables, schema=self.schema)
        parts = list(BlockSource(table).each(lambda block: self.log_prob_of(block.columns, block.n_rows)))
        return np.concatenate(parts)

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return the log-density of every row of columns; shape (n_rows,)."""
        seen = [np.asarray(columns[variable.name]) for variable in self.targets]
        total = np.full(n_rows, -math.inf)
        for row, weight in enumerate(self.weights.tolist()):
            held = np.ones(n_rows, bool)
            for place, codes in enumerate(seen):
                held &= codes == self.codes[row, place]
            if held.any():
                part = {name: np.asarray(columns[name])[held] for name in self.names}
                log_p = self._component(row).log_prob_of(part, int(held.sum())) + math.log(weight)
                total[held] = np.logaddexp(total[held], log_p)
        return total

    def cdf(self, values: Any) -> Floats:
        """Return P(X ≤ x) of each of some numbers, for a mixture of one variable."""
        from scipy.special import ndtr

        at, place = checked_numbers("values", values), alone(self.names)
        sd = np.sqrt(self.covariances[:, place, place])
        reached = ndtr((at[..., None] - self.means[:, place]) / sd) @ self.weights
        return np.asarray(np.minimum(reached, 1.0), np.float64)

    def quantile(self, p: Any) -> Floats:
        """Return the numbers below which the probability is p, for a mixture of one variable."""
        wanted, place = checked_numbers("p", p, 0.0, 1.0), alone(self.names)
        reach = FAR * np.sqrt(self.covariances[:, place, place])
        low = np.full(wanted.shape, (self.means[:, place] - reach).min())
        high = np.full(wanted.shape, (self.means[:, place] + reach).max())
        for _ in range(200):
            middle = (low + high) / 2
            below = self.cdf(middle) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        inside = np.where(wanted > 0, high, -math.inf)
        return np.where(wanted < 1, inside, math.inf)

    def interval(self, level: float = 0.95) -> Floats:
        """Return the central interval of each continuous variable by itself, lower and upper end; shape (p, 2)."""
        tail = (1 - require_fraction("level", level)) / 2
        return np.stack([self.marginal(name).quantile([tail, 1 - tail]) for name in self.names])

    # Draws ----------------------------------------------------------------------------------------------------

    def sample(self, n: int, *, seed: int | None = None, backend: str | None = None) -> Frame:
        """Draw ``n`` independent rows of all that was asked for; the same seed gives the same rows."""
        return sample_frame(self.schema, n, self.sample_blocks(n, seed=seed), backend)

    def sample_blocks(self, n: int, *, seed: int | None = None) -> Iterator[Block]:
        """Yield ``n`` drawn rows as blocks, in bounded memory."""
        from scipy.special import ndtri

        reached = np.cumsum(self.weights)

        def draw(uniform: Callable[[], Floats]) -> dict[str, Array]:
            at = np.minimum(np.searchsorted(reached, uniform() * reached[-1], side="right"), len(self) - 1)
            normal = np.stack([ndtri(uniform() + TINY) for _ in self.names])
            values = np.empty(normal.shape)
            for row in np.unique(at):
                held = at == row
                values[:, held] = self.means[row][:, None] + np.linalg.cholesky(self.covariances[row]) @ normal[:, held]
            columns: dict[str, Array] = dict(zip(self.names, values, strict=True))
            for place, variable in enumerate(self.targets):
                columns[variable.name] = self.codes[at, place].astype(code_dtype(variable.n_states))
            return columns

        return sample_blocks(self.schema, draw, n, seed)

    # Rendering ------------------------------------------------------------------------------------------------

    def rows(self) -> tuple[tuple[Variable, ...], Ints, Floats, Floats, Floats]:
        """Return variables, their codes, probabilities, means and standard deviations: what is printed.

        A row is a configuration of the discrete variables asked for; without such, a component.
        """
        held = self.targets or self.by
        codes, back = np.unique(self.codes[:, : len(held)], axis=0, return_inverse=True)
        back = back.reshape(-1)
        p = np.zeros(len(codes))
        np.add.at(p, back, self.weights)
        share = (self.weights / p[back])[:, None]
        means, squares = np.zeros((len(codes), len(self.names))), np.zeros((len(codes), len(self.names)))
        np.add.at(means, back, share * self.means)
        apart = (self.means - means[back]) ** 2
        np.add.at(squares, back, share * (np.diagonal(self.covariances, axis1=1, axis2=2) + apart))
        return held, codes, p, means, np.asarray(np.sqrt(squares))

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with a row for each configuration: its states, p, and the mean and sd of every variable."""
        return frame(self, backend)

    def _cells(self) -> Cells:
        return cells(self)

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())
