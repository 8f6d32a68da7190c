"""Features of outputs given inputs, evaluated for every input of the data and every output."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.encode import UNKNOWN
from suffice.data.schema import Schema
from suffice.errors import DataError, Remedy, StructureError, listing, made
from suffice.inference.clique_family import Layout
from suffice.inference.feature_family import cells_of
from suffice.models.feature_design import matrix_of
from suffice.settings import more_memory, settings
from suffice.structures.feature_rules import Feature
from suffice.structures.features import Features
from suffice.text import in_bytes
from suffice.types import Bools, Columns, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_OUTPUTS = 1 << 14
LARGEST = 1e100
"""Squares of larger values would overflow."""


@dataclass(frozen=True, eq=False)
class ConditionalDesign:
    """How to evaluate the features of a structure with inputs.

    Attributes
    ----------
    features : tuple of Feature
    outputs : tuple of str
        The variables modelled; their configurations are listed with the last one fastest.
    sizes : tuple of int
        Their numbers of states.
    """

    structure: Features
    schema: Schema
    features: tuple[Feature, ...]
    outputs: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def n_outputs(self) -> int:
        """The number of configurations of the outputs."""
        return math.prod(self.sizes)

    def output_codes(self) -> dict[str, Ints]:
        """Return the codes of every output in each configuration."""
        found = np.unravel_index(np.arange(self.n_outputs), self.sizes)
        return {name: codes.astype(np.int64) for name, codes in zip(self.outputs, found, strict=True)}

    def at(self, inputs: Columns, n: int) -> csr_array:
        """Return f(x, y) for n inputs and all outputs; shape (n · n_outputs, n_weights)."""
        from scipy.sparse import csr_array

        m = self.n_outputs
        self._require_room(n * m)
        columns = {name: np.tile(codes, n) for name, codes in self.output_codes().items()}
        columns |= {name: np.repeat(inputs[name], m) for name in self.structure.given}
        unknown = self._unknown(columns)
        columns |= {name: np.where(gone, 0, columns[name]) for name, gone in unknown.items()}
        total = self._numbers(columns, n * m, unknown)
        for layout, matrix in self._discrete:
            none = np.zeros(n * m, np.int64)  # no table holds continuous inputs
            codes = [
                np.asarray(columns[name], np.int64) if self.schema[name].is_discrete else none
                for name in self.structure.columns
            ]
            cells = cells_of(layout, codes)
            each = np.arange(0, cells.size + 1, cells.shape[1])
            ones = np.ones(cells.shape)
            for name, gone in unknown.items():
                looking = np.array([self.structure.columns.index(name) in scope for scope in layout.scopes], bool)
                ones[np.ix_(gone, looking)] = 0.0
            rows = csr_array((ones.reshape(-1), cells.reshape(-1), each), shape=(n * m, layout.n))
            total = rows @ matrix + total if total.nnz else rows @ matrix
        return total

    def _unknown(self, columns: Columns) -> dict[str, Bools]:
        """Return where inputs have unknown states, at which indicators are zero; refuse other features of them."""
        found = {}
        for name in self.structure.given:
            if not self.schema[name].is_discrete or not (columns[name] == UNKNOWN).any():
                continue
            found[name] = np.asarray(columns[name] == UNKNOWN)
            for feature in self.features:
                for term in feature.terms:
                    if name in term.scope and not term.rule.is_indicator(term.scope.index(name)):
                        states = listing(self.schema[name].labels)
                        raise DataError(
                            f"Column {name!r} holds values that are none of the model's states {states}, and the "
                            f"feature {feature.name!r} is no indicator of them, so that it is not known there. Declare "
                            f"all states where the model is fitted: schema={{{name!r}: sf.categorical([…])}}."
                        )
        return found

    @cached_property
    def _discrete(self) -> list[tuple[Layout, csr_array]]:
        """The terms over discrete variables only, as tables."""
        structure, schema = self.structure, self.schema
        held = [(w, term) for w, f in enumerate(self.features) for term in f.terms if self._is_discrete(term.scope)]
        if not held:
            return []
        place = {name: position for position, name in enumerate(structure.columns)}
        scopes: dict[tuple[int, ...], int] = {}
        for _, term in held:
            scopes.setdefault(tuple(sorted(place[name] for name in term.scope)), len(scopes))
        sizes = tuple(schema[n].n_states if schema[n].is_discrete else 1 for n in structure.columns)
        layout = Layout(sizes, tuple(scopes))
        return [(layout, matrix_of(held, len(self.features), layout, scopes, place, {}))]

    def _is_discrete(self, scope: Sequence[str]) -> bool:
        return all(self.schema[name].is_discrete for name in scope)

    def _numbers(self, columns: Columns, n_rows: int, unknown: Mapping[str, Bools]) -> csr_array:
        """Return the terms that look at continuous inputs, evaluated row by row; zero at unknown states."""
        from scipy.sparse import coo_array

        rows, weights, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
        for weight, feature in enumerate(self.features):
            for term in feature.terms:
                if not self._is_discrete(term.scope):
                    found = term.at(columns)
                    for name in unknown.keys() & set(term.scope):
                        found = np.where(unknown[name], 0.0, found)
                    proper = np.abs(found) < LARGEST
                    if not proper.all():
                        bad = int(np.argmin(proper))
                        at = ", ".join(f"{name}={self._said(name, columns[name][bad])}" for name in term.scope)
                        raise StructureError(
                            f"The feature {feature.name!r} is {found[bad]} at {at}, and must be a number of "
                            "less than 1e100. Leave such rows out, or scale the inputs."
                        )
                    places = np.flatnonzero(found)
                    rows.append(places)
                    weights.append(np.full(len(places), weight))
                    values.append(found[places])
        triple = (np.concatenate(values), (np.concatenate(rows), np.concatenate(weights)))
        return coo_array(triple, shape=(n_rows, len(self.features))).tocsr()

    def _said(self, name: str, value: Any) -> Any:
        variable = self.schema[name]
        return variable.labels[int(value)] if variable.is_discrete else value

    def _require_room(self, n_rows: int) -> None:
        need, allowed = n_rows * 40, settings().memory
        if need > allowed:
            raise StructureError(
                f"{n_rows // self.n_outputs:,} inputs with {self.n_outputs:,} outputs each would take at least "
                f"{in_bytes(need)}; {in_bytes(allowed)} are allowed. Use fewer states, or allow more: ",
                more_memory(need),
                ".",
            )


def conditional_design(structure: Features, schema: Schema) -> ConditionalDesign:
    """Return how to evaluate the features of a structure with inputs."""
    sizes = []
    for name in structure.variables:
        if not schema[name].is_discrete:
            raise StructureError(
                f"What is modelled given inputs must be discrete, and {name!r} is continuous. Declare it: ",
                Remedy("schema", {name: made("categorical")}),
                ", or make it an input.",
            )
        sizes.append(schema[name].n_states)
    if math.prod(sizes) > MOST_OUTPUTS:
        raise StructureError(
            f"The outputs {listing(structure.variables, 6)} have {math.prod(sizes):,} configurations, and at most "
            f"{MOST_OUTPUTS:,} can be listed for every input. Model fewer of them at once."
        )
    return ConditionalDesign(structure, schema, structure.resolved(schema), structure.variables, tuple(sizes))
