"""LogLinearDensity: a max-ent model in which some variables are continuous."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.data.frame import to_native
from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.errors import ArgumentError, Mention, ModelError, listing, shown
from suffice.inference.quadrature import QuadratureRule
from suffice.inference.quadrature_draws import draws
from suffice.models.feature_base import BaseTerm, quadrature_of
from suffice.models.log_linear import Weights, weights_of
from suffice.models.sampling import require_draws, row_bytes, stream_key
from suffice.stats.source import BlockSource
from suffice.structures.feature_functions import feature as feature_of
from suffice.structures.feature_rules import Feature
from suffice.structures.features import Features
from suffice.text import plural
from suffice.types import Floats, Frame, Json

if TYPE_CHECKING:
    from suffice.types import Entry

MARGIN = 0.05
"""By so much, in logarithms, the density inside a cell may exceed what its corners and its node show."""


class Grid(NamedTuple):
    """Every configuration of nodes and states.

    Attributes
    ----------
    rules : dict of QuadratureRule
        The quadrature of every continuous variable.
    sizes : tuple of int
        The shape of a table over the configurations.
    columns : dict of array
        The configurations, flat: numbers and codes by variable.
    log_volume : array
        The logarithm of each one's weight in the integral.
    """

    rules: dict[str, QuadratureRule]
    sizes: tuple[int, ...]
    columns: dict[str, Any]
    log_volume: Floats


@dataclass(frozen=True, init=False, eq=False)
class LogLinearDensity:
    """The density p(x) = h(x) exp(Σ θᵢ fᵢ(x)) / Z; Z by quadrature over the continuous variables.

    Parameters
    ----------
    features : Features
        With a support for every continuous variable.
    weights : mapping or sequence
    schema : Schema
    base : sequence
        The base measure h: tables of discrete variables, and functions.
    placement : mapping
        Where quadrature nodes lie, centre and scale, by continuous variable.

    Examples
    --------
    >>> import suffice as sf
    >>> structure = sf.Features([sf.product("x")], support={"x": (0, 1)})
    >>> fit = sf.maxent(structure, [0.3])
    >>> bool(abs(fit.model.weights["x"] + 2.6721) < 1e-4)
    True
    >>> fit.model.log_prob({"x": [0.0, 1.0]}).round(4)
    array([ 1.0545, -1.6176])
    """

    features: Features
    weights: Weights
    schema: Schema
    base: tuple[Any, ...]
    placement: Mapping[str, tuple[float, float]]

    def __init__(
        self,
        features: Features,
        weights: Mapping[str, float] | Sequence[float] | Floats,
        *,
        schema: Schema,
        base: Sequence[Any] = (),
        placement: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        known = schema.select(features.columns)
        names = tuple(feature.name for feature in features.resolved(known))
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "schema", known)
        object.__setattr__(self, "weights", Weights(names, weights_of(weights, names)))
        object.__setattr__(self, "base", tuple(base))
        object.__setattr__(self, "placement", dict(placement or {}))

    def __repr__(self) -> str:
        return f"LogLinearDensity({plural(len(self.schema), 'variable')}, {plural(len(self.weights), 'feature')})"

    def __str__(self) -> str:
        return str(self.weights)

    def _repr_html_(self) -> str:
        return self.weights._repr_html_()

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.features.columns

    # On nodes -------------------------------------------------------------------------------------------------

    def nodes(self, variant: int = 0) -> dict[str, QuadratureRule]:
        """Return the quadrature of every continuous variable; the other variant has other nodes."""
        return quadrature_of(self.features, self.placement, self.schema, variant)

    @cached_property
    def grid(self) -> Grid:
        """The nodes of continuous variables with the states of discrete ones."""
        rules = self.nodes()
        sizes = tuple(len(rules[n].nodes) if n in rules else self.schema[n].n_states for n in self.variables)
        index = np.unravel_index(np.arange(math.prod(sizes)), sizes)
        columns, volume = {}, np.zeros(math.prod(sizes))
        for name, axis in zip(self.variables, index, strict=True):
            columns[name] = rules[name].nodes[axis] if name in rules else axis
            if name in rules:
                volume += rules[name].log_weights[axis]
        return Grid(rules, sizes, columns, volume)

    def log_base(self, columns: Mapping[str, Any]) -> Floats:
        """Return log h of every row of codes and numbers."""
        n = len(next(iter(columns.values())))
        total = np.zeros(n)
        with np.errstate(divide="ignore"):
            for entry in self.base:
                if isinstance(entry, BaseTerm):
                    total += np.log(entry.rule.at([columns[name] for name in entry.scope]))
                else:
                    total += np.log(entry.values[tuple(np.asarray(columns[n], np.int64) for n in entry.names)])
        return total

    def log_score_of(self, columns: Mapping[str, Any]) -> Floats:
        """Return log h + w·f of every row of codes and numbers, the density but for log Z."""
        total = self.log_base(columns)
        with np.errstate(all="ignore"):  # what is not finite is refused, by features or by log_z
            for weight, feature in zip(self.weights.to_numpy(), self.features.resolved(self.schema), strict=True):
                total = total + weight * feature.at(columns)
        return total

    @cached_property
    def _scores(self) -> Floats:
        return self.log_score_of(self.grid.columns) + self.grid.log_volume

    @cached_property
    def log_z(self) -> float:
        """The logarithm of the integral."""
        top = float(self._scores.max())
        if not math.isfinite(top):
            raise ModelError(
                f"The density cannot be normalised: its logarithm is {top:g} at a node or at all of them. Check the "
                f"weights, {listing([f'{weight:g}' for weight in self.weights.to_numpy()], 6)}, and the base measure."
            )
        return top + math.log(float(np.exp(self._scores - top).sum()))

    @cached_property
    def _masses(self) -> Floats:
        """The probability of every configuration of nodes and states, flat."""
        p = np.exp(self._scores - self.log_z)
        return np.asarray(p / p.sum(), np.float64)  # log Z has fewer digits where scores are large

    def along(self, name: str) -> Floats:
        """Return the probability at every node of a continuous variable, or of every state of a discrete one."""
        axis = self.variables.index(name)
        others = tuple(other for other in range(len(self.variables)) if other != axis)
        return np.asarray(self._masses.reshape(self.grid.sizes).sum(axis=others), np.float64)

    # Answers --------------------------------------------------------------------------------------------------

    def log_prob(self, data: Any) -> Floats:
        """Return the log-density of every row of a table; −inf outside the support."""
        table = open_table(data, self.variables, schema=self.schema, continuous=self.features.continuous)
        parts = list(BlockSource(table).each(lambda block: self.log_prob_of(block.columns, block.n_rows)))
        return np.concatenate(parts)

    def log_prob_of(self, columns: Mapping[str, Any], n_rows: int) -> Floats:
        """Return the log-density of every row of codes and numbers; shape (n_rows,)."""
        inside = np.ones(n_rows, bool)
        for name, (low, high) in self.features.support:
            inside &= (np.asarray(columns[name]) >= low) & (np.asarray(columns[name]) <= high)
        found = np.full(n_rows, -math.inf)
        if inside.any():
            # Features need not be defined outside.
            held = {name: np.asarray(columns[name])[inside] for name in self.variables}
            found[inside] = self.log_score_of(held) - self.log_z
        return found

    def expected(self, function: Any, over: str | Sequence[str]) -> float:
        """Return the expectation of a function of some variables.

        >>> import suffice as sf
        >>> fit = sf.maxent(sf.Features([sf.product("x")], support={"x": (0, math.inf)}), [2.0])
        >>> round(fit.model.expected(lambda x: x * x, over="x"), 6)
        8.0
        """
        return float(self.means_of(feature_of(function, over=over).resolved(self.schema))[0])

    def means_of(self, features: Sequence[Feature]) -> Floats:
        """Return the expectations of features, of which the states are known."""
        columns, p = self.grid.columns, self._masses
        return np.array([float(p.dot(feature.at(columns))) for feature in features])

    def query(self, targets: Any, given: Mapping[str, Any] | None = None) -> LabelledTable:
        """Return p(targets), for discrete targets; densities are what `log_prob` gives."""
        wanted = (targets,) if isinstance(targets, str) else tuple(targets) if isinstance(targets, list | tuple) else ()
        if not wanted or len(set(map(str, wanted))) < len(wanted):
            raise ArgumentError(
                f"The 'targets' argument must be a discrete variable, or a list of different ones. Got "
                f"{shown(targets)} instead."
            )
        if given:
            raise ArgumentError(
                "Evidence is not supported where variables are continuous. Leave ", Mention("given=", "given="), " out."
            )
        for name in wanted:
            if not self.schema[name].is_discrete:
                raise ArgumentError(
                    f"{name!r} is continuous, and has a density instead of a table. ",
                    Mention("log_prob", f"Use model.log_prob, or model.expected(f, over={name!r})."),
                )
        p = self._masses.reshape(self.grid.sizes)
        summed = p.sum(axis=tuple(axis for axis, name in enumerate(self.variables) if name not in wanted))
        left = [name for name in self.variables if name in wanted]
        return LabelledTable(
            tuple(self.schema[name] for name in wanted),
            np.asarray(summed).transpose([left.index(name) for name in wanted]),
        )

    def sample(self, n: int, *, seed: int | None = None, backend: str | None = None) -> Frame:
        """Draw ``n`` rows.

        Notes
        -----
        For one variable by itself, draws invert its distribution function. Otherwise a cell of the quadrature is drawn,
        then a place in it, which is kept with the probability that the density there asks for: up to rounding error,
        and to peaks inside cells that neither their corners nor their nodes show, draws are exact.
        """
        n = require_draws(n, row_bytes(self.schema))
        stream = np.random.Generator(np.random.Philox(key=np.array([stream_key(seed), 0], np.uint64)))
        if len(self.variables) == 1:
            name, rule = self.variables[0], self.grid.rules[self.variables[0]]
            found: dict[str, Any] = {name: draws(rule, lambda x: self.log_score_of({name: x}), stream.random(n))}
        else:
            found = self._kept(n, stream)
        import pyarrow as pa

        arrays = {}
        for name in self.variables:
            labels = self.schema[name].states
            arrays[name] = pa.chunked_array(
                [pa.array(found[name]) if labels is None else pa.array([labels[int(code)] for code in found[name]])]
            )
        return to_native(arrays, backend)

    def _kept(self, n: int, stream: np.random.Generator) -> dict[str, Any]:
        """Draw by rejection from a density that is constant in every cell, and nowhere below this one."""
        sizes, edges = self.grid.sizes, {name: _cut(rule) for name, rule in self.grid.rules.items()}
        ceiling, volume = self._ceiling(edges)
        reached = np.cumsum(np.exp(ceiling + volume - (ceiling + volume).max()))
        parts: list[dict[str, Any]] = []
        left = n
        while left:
            wanted = min(2 * left + 100, 1 << 18)
            at = np.searchsorted(reached, stream.random(wanted) * reached[-1], side="right")
            at = np.minimum(at, np.searchsorted(reached, reached[-1]))
            rows: dict[str, Any] = dict(zip(self.variables, np.unravel_index(at, sizes), strict=True))
            for name, ends in edges.items():
                first, last = ends[rows[name]], ends[rows[name] + 1]
                # Never at an end of the support itself, where features need not be defined.
                rows[name] = np.clip(first + (last - first) * stream.random(wanted), np.nextafter(first, last), last)
            kept = np.flatnonzero(np.log(1 - stream.random(wanted)) < self.log_score_of(rows) - ceiling[at])[:left]
            parts.append({name: column[kept] for name, column in rows.items()})
            left -= len(kept)
        if not parts:
            return {name: np.zeros(0, np.float64 if name in edges else np.int64) for name in self.variables}
        return {name: np.concatenate([part[name] for part in parts]) for name in self.variables}

    def _ceiling(self, edges: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return a bound on the log-density in every cell, by its corners and its node, and the cells' log-volumes."""
        rules, sizes, columns, _ = self.grid
        top, volume = self.log_score_of(columns), np.zeros(math.prod(sizes))
        index = dict(zip(self.variables, np.unravel_index(np.arange(len(top)), sizes), strict=True))
        for name in rules:
            volume += np.log(np.diff(edges[name]))[index[name]]
        for sides in itertools.product((slice(None, -1), slice(1, None)), repeat=len(rules)):
            moved = dict(columns)
            for side, (name, rule) in zip(sides, rules.items(), strict=True):
                ends = edges[name][side]
                # Just inside, for features need not be defined at the ends of the support.
                moved[name] = (ends + 1e-3 * (rule.nodes - ends))[index[name]]
            top = np.maximum(top, self.log_score_of(moved))
        return top + MARGIN, volume

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data; functions of continuous variables cannot be written."""
        if self.base:
            raise ArgumentError(
                "A density with a base measure cannot be written to a file. Keep the code that made it."
            )
        return {
            "type": "LogLinearDensity",
            "schema": self.schema.to_dict(),
            "features": self.features.tabulated(self.schema).to_dict(),
            "weights": self.weights.to_numpy(),
            "placement": {name: list(pair) for name, pair in self.placement.items()},
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> LogLinearDensity:
        """Rebuild the model from `to_dict`'s data."""
        weights = np.array([float(weight) for weight in entry["weights"]])
        placement = {name: (float(pair[0]), float(pair[1])) for name, pair in entry["placement"].items()}
        schema = Schema.from_dict(entry["schema"])
        return cls(Features.from_dict(entry["features"]), weights, schema=schema, placement=placement)


def _cut(rule: QuadratureRule) -> Floats:
    """Return the edges of a rule's cells; those without end reach as far outwards from their node as inwards."""
    edges = np.array(rule.edges)
    edges[0] = edges[0] if math.isfinite(edges[0]) else 2 * rule.nodes[0] - edges[1]
    edges[-1] = edges[-1] if math.isfinite(edges[-1]) else 2 * rule.nodes[-1] - edges[-2]
    return edges
