"""LogLinearDensity: a max-ent model in which some variables are continuous."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.frame import to_native
from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.errors import ArgumentError, UnknownNameError, listing, require_whole, suggestion
from suffice.inference.quadrature import Rule, rule_for
from suffice.models.feature_base import BaseTerm
from suffice.models.log_linear import Weights, weights_of
from suffice.models.sampling import stream_key
from suffice.stats.source import BlockSource
from suffice.structures.features import Features
from suffice.text import plural

Floats = NDArray[np.float64]


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
    array([ 1.0556, -1.6165])
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

    def nodes(self, variant: int = 0) -> dict[str, Rule]:
        """Return the quadrature of every continuous variable; the other variant has other nodes."""
        found = {}
        for name, (low, high) in self.features.support:
            centre, scale = self.placement.get(name, (0.0, 1.0))
            found[name] = rule_for(low, high, centre=centre, scale=scale, variant=variant)
        return found

    @cached_property
    def _grid(self) -> tuple[dict[str, Rule], tuple[int, ...], dict[str, Any], Floats]:
        """The nodes, the shape of the table over them, its configurations as columns, and the log-weights."""
        rules = self.nodes()
        sizes = tuple(len(rules[n].nodes) if n in rules else self.schema[n].n_states for n in self.variables)
        index = np.unravel_index(np.arange(math.prod(sizes)), sizes)
        columns, volume = {}, np.zeros(math.prod(sizes))
        for name, axis in zip(self.variables, index, strict=True):
            columns[name] = rules[name].nodes[axis] if name in rules else axis
            if name in rules:
                volume += rules[name].log_weights[axis]
        return rules, sizes, columns, volume

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
        for weight, feature in zip(self.weights.to_numpy(), self.features.resolved(self.schema), strict=True):
            total = total + weight * feature.at(columns)
        return total

    @cached_property
    def _scores(self) -> Floats:
        _, _, columns, volume = self._grid
        return self.log_score_of(columns) + volume

    @cached_property
    def log_z(self) -> float:
        """The logarithm of the integral."""
        top = float(self._scores.max())
        return top + math.log(float(np.exp(self._scores - top).sum()))

    # Answers --------------------------------------------------------------------------------------------------

    def log_prob(self, data: Any) -> Floats:
        """Return the log-density of every row of a table; −inf outside the support."""
        table = open_table(data, self.variables, schema=self.schema, continuous=self.features.continuous)
        parts = list(BlockSource(table).each(lambda block: self.log_prob_of(block.columns, block.n_rows)))
        return np.concatenate(parts)

    def log_prob_of(self, columns: Mapping[str, Any], n_rows: int) -> Floats:
        """Return the log-density of every row of codes and numbers; shape (n_rows,)."""
        found = self.log_score_of(columns) - self.log_z
        for name, (low, high) in self.features.support:
            outside = (np.asarray(columns[name]) < low) | (np.asarray(columns[name]) > high)
            found = np.where(outside, -math.inf, found)
        return np.asarray(found, np.float64)

    def expected(self, function: Any, over: str | Sequence[str]) -> float:
        """Return the expectation of a function of some variables.

        >>> import suffice as sf
        >>> fit = sf.maxent(sf.Features([sf.product("x")], support={"x": (0, math.inf)}), [2.0])
        >>> round(fit.model.expected(lambda x: x * x, over="x"), 6)
        8.0
        """
        from suffice.structures.feature_functions import feature

        spec = feature(function, over=over)
        for name in spec.variables:
            if name not in self.schema:
                raise UnknownNameError(
                    f"There is no variable {name!r}. The variables are {listing(self.schema, 12)}."
                    + suggestion(name, self.schema)
                )
        values = spec.resolved(self.schema)[0].at(self._grid[2])
        return float(np.exp(self._scores - self.log_z).dot(values))

    def query(self, targets: Any, given: Mapping[str, Any] | None = None) -> LabelledTable:
        """Return p(targets), for discrete targets; densities are what `log_prob` gives."""
        wanted = (targets,) if isinstance(targets, str) else tuple(targets)
        if given:
            raise ArgumentError("Evidence is not supported where variables are continuous. Leave given= out.")
        for name in wanted:
            if not self.schema[name].is_discrete:
                raise ArgumentError(
                    f"{name!r} is continuous, and has a density instead of a table. Use model.log_prob, or "
                    f"model.expected(f, over={name!r})."
                )
        sizes = self._grid[1]
        p = np.exp(self._scores - self.log_z).reshape(sizes)
        summed = p.sum(axis=tuple(axis for axis, name in enumerate(self.variables) if name not in wanted))
        left = [name for name in self.variables if name in wanted]
        return LabelledTable(
            tuple(self.schema[name] for name in wanted),
            np.asarray(summed).transpose([left.index(name) for name in wanted]),
        )

    def sample(self, n: int, *, seed: int | None = None, backend: str | None = None) -> Any:
        """Draw ``n`` rows: a node first, then a place in its cell, for one continuous variable after another.

        Within a cell the density is taken as that of the node's neighbourhood; for one continuous variable by itself,
        draws invert its distribution function.
        """
        from suffice.inference.quadrature_draws import draws

        n = require_whole("n", n, place="argument, the number of rows,")
        stream = np.random.Generator(np.random.Philox(key=np.array([stream_key(seed), 0], np.uint64)))
        rules, sizes, _, _ = self._grid
        if len(self.variables) == 1:
            name = self.variables[0]
            found: dict[str, Any] = {name: draws(rules[name], lambda x: self.log_score_of({name: x}), stream.random(n))}
        else:
            chosen = _chosen(np.exp(self._scores - self.log_z), stream.random(n))
            index = np.unravel_index(chosen, sizes)
            found = {}
            for name, at in zip(self.variables, index, strict=True):
                found[name] = _inside(rules[name], at, stream.random(n)) if name in rules else at
        import pyarrow as pa

        arrays = {}
        for name in self.variables:
            labels = self.schema[name].states
            arrays[name] = pa.chunked_array(
                [pa.array(found[name]) if labels is None else pa.array([labels[int(code)] for code in found[name]])]
            )
        return to_native(arrays, backend)

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
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
    def from_dict(cls, entry: Mapping[str, Any]) -> LogLinearDensity:
        """Rebuild the model from `to_dict`'s data."""
        weights = np.array([float(weight) for weight in entry["weights"]])
        placement = {name: (float(pair[0]), float(pair[1])) for name, pair in entry["placement"].items()}
        schema = Schema.from_dict(entry["schema"])
        return cls(Features.from_dict(entry["features"]), weights, schema=schema, placement=placement)


def _chosen(p: Floats, uniform: Floats) -> NDArray[np.int64]:
    reached = np.cumsum(p)
    found = np.searchsorted(reached, uniform * reached[-1], side="right")
    return np.asarray(np.minimum(found, len(p) - 1), np.int64)


def _inside(rule: Rule, at: NDArray[np.int64], uniform: Floats) -> Floats:
    """Return a place in the cell of each node; cells without end are cut near their node."""
    edges = np.array(rule.edges)
    edges[0] = edges[0] if math.isfinite(edges[0]) else rule.nodes[0]
    edges[-1] = edges[-1] if math.isfinite(edges[-1]) else rule.nodes[-1]
    return np.asarray(edges[at] + (edges[at + 1] - edges[at]) * uniform, np.float64)
