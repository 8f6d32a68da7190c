"""LogLinear: a Markov random field known by the weights of its features."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema, SchemaLike
from suffice.data.variable import Variable
from suffice.errors import Mention, ModelError, UnknownNameError, listing, suggestion
from suffice.models.feature_design import FeatureDesign, design_of
from suffice.models.markov_net import MarkovNetwork, declared_schema
from suffice.structures.features import Features
from suffice.structures.pairwise import Pairwise, SpinsSpec
from suffice.text import html_folded, html_table, number, plain_table, plural
from suffice.types import Floats, Json

if TYPE_CHECKING:
    from suffice.types import Entry

SHOWN = 60


@dataclass(frozen=True, eq=False)
class Weights(Mapping[str, float]):
    """Weights by the names of their features; prints as a table.

    >>> weights = Weights(("A=yes", "u·v"), np.array([0.5, -2.0]))
    >>> weights["u·v"]
    -2.0
    >>> print(weights)
    feature  weight
    -------  ------
    A=yes       0.5
    u·v          -2
    """

    names: tuple[str, ...]
    values_: Floats

    def __post_init__(self) -> None:
        frozen = np.array(self.values_, np.float64)
        frozen.flags.writeable = False
        object.__setattr__(self, "values_", frozen)
        object.__setattr__(self, "_place", {name: position for position, name in enumerate(self.names)})

    def __getitem__(self, name: str) -> float:
        place: dict[str, int] = self._place  # type: ignore[attr-defined]
        if name not in place:
            raise UnknownNameError(
                f"There is no feature {name!r}. The features are {listing(self.names, 12)}."
                + suggestion(name, self.names)
            )
        return float(self.values_[place[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def to_numpy(self) -> Floats:
        """Return the weights in order; shape (n_weights,)."""
        return self.values_

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[name, number(value, 6)] for name, value in zip(self.names[:SHOWN], self.values_, strict=False)]
        if len(self.names) > SHOWN:
            rows.append([f"… {len(self.names) - SHOWN:,} more features", ""])
        return ["feature", "weight"], rows, "<>"

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())


class LogLinear(MarkovNetwork):
    """The distribution p(x) = h(x) exp(Σ θᵢ fᵢ(x)) / Z over discrete variables.

    Parameters
    ----------
    features : Features
    weights : mapping or sequence
        One number a feature, by name or in order; −inf and inf where they ran away, with ``support`` saying what that
        leaves.
    schema : Schema
    base : sequence of LabelledTable
        The base measure h, as tables to be multiplied.
    support : sequence of LabelledTable
        Tables of zeros and ones: what weights at infinity leave.

    Examples
    --------
    >>> import suffice as sf
    >>> structure = sf.Features([sf.indicator(A="yes"), sf.indicator(A="yes", B="yes")])
    >>> schema = sf.fit(sf.Cliques("A + B"), {"A": ["yes", "no"], "B": ["yes", "no"]}).model.schema
    >>> model = LogLinear(structure, [0.0, math.log(3)], schema=schema)
    >>> print(model.query(["A", "B"]))
         B
    A        no     yes
    ---  ------  ------
    no   0.1667  0.1667
    yes  0.1667  0.5000
    """

    features: Features
    weights: Weights
    base: tuple[LabelledTable, ...]
    support: tuple[LabelledTable, ...]

    def __init__(
        self,
        features: Features,
        weights: Mapping[str, float] | Sequence[float] | Floats,
        *,
        schema: SchemaLike,
        base: Sequence[LabelledTable] = (),
        support: Sequence[LabelledTable] = (),
        design: FeatureDesign | None = None,
    ) -> None:
        known = declared_schema(schema).select(features.variables)
        design = design or design_of(features, known)
        names = tuple(feature.name for feature in design.features)
        values = weights_of(weights, names)
        if not support and not np.isfinite(values).all():
            name = names[int(np.argmin(np.isfinite(values)))]
            raise ModelError(
                f"The weight of {name!r} is infinite, and there is no support to say what that leaves. Give finite "
                "weights, or support=[…] with tables of zeros and ones."
            )
        finite = np.where(np.isfinite(values), values, 0.0)
        factors: list[Any] = []
        for scope, table in design.whole_tables(design.theta(finite)):
            shift = float(table.max())
            shift = shift if 300 < abs(shift) < math.inf else 0.0
            factors.append((tuple(design.names[v] for v in scope), np.exp(table - shift)))
        super().__init__([*factors, *base, *support], schema=known)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "weights", Weights(names, values))
        object.__setattr__(self, "base", tuple(base))
        object.__setattr__(self, "support", tuple(support))

    def __repr__(self) -> str:
        return f"LogLinear({plural(len(self.schema), 'variable')}, {plural(len(self.weights), 'feature')})"

    def __str__(self) -> str:
        return str(self.weights)

    def _repr_html_(self) -> str:
        from suffice.report.static_graph import graph_html

        return graph_html(self) + html_folded(plural(len(self.weights), "weight"), self.weights._repr_html_())

    @property
    def _latent(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.features.latent)

    # Fields and couplings -------------------------------------------------------------------------------------

    @property
    def fields(self) -> LabelledTable:
        """The fields of `Ising` and `Boltzmann`, one a variable; of `Potts`, one a variable and state.

        Examples
        --------
        >>> import suffice as sf
        >>> rows = {"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}
        >>> fields = sf.fit(sf.Boltzmann(["a", "b"]), rows, prior=sf.Gaussian(1.0)).model.fields
        >>> fields.names, fields.values.round(4).tolist()
        (('variable',), [-0.1566, 0.3848])
        """
        structure = self._pairwise()
        nodes = Variable("variable", structure.variables)
        if isinstance(structure.specs[0], SpinsSpec):
            found = [self._weight(name, "field") for name in structure.variables]
            return LabelledTable((nodes,), np.array(found), "field")
        states = self.schema[structure.variables[0]]
        table = np.zeros((len(structure.variables), states.n_states))
        for row, name in enumerate(structure.variables):
            for code, label in enumerate(states.labels):
                table[row, code] = self._weight(f"{name}={label}", f"field={label}")
        return LabelledTable((nodes, Variable("state", states.labels)), table, "field")

    @property
    def couplings(self) -> LabelledTable:
        """The couplings of `Ising`, `Boltzmann` and `Potts`: a symmetric matrix, zero where there is no edge."""
        structure = self._pairwise()
        place = {name: position for position, name in enumerate(structure.variables)}
        table = np.zeros((len(place), len(place)))
        for a, b in structure.edges:
            table[place[a], place[b]] = table[place[b], place[a]] = self._weight(f"{a}:{b}", "coupling")
        names = structure.variables
        return LabelledTable((Variable("variable", names), Variable("neighbour", names)), table, "coupling")

    def _pairwise(self) -> Pairwise:
        if not isinstance(self.features, Pairwise):
            raise ModelError(
                "Fields and couplings are what sf.Ising, sf.Boltzmann and ",
                Mention("Potts", "sf.Potts"),
                " have. The weights of other features are in model.weights.",
            )
        return self.features

    def _weight(self, name: str, common: str) -> float:
        held = self.weights
        return held[name] if name in held.names else held[common] if common in held.names else 0.0

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data; functions are written down as tables."""
        return {
            "type": "LogLinear",
            "schema": self.schema.to_dict(),
            "features": self.features.tabulated(self.schema).to_dict(),
            "weights": self.weights.to_numpy(),
            "base": _written(self.base),
            "support": _written(self.support),
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> LogLinear:
        """Rebuild the model from `to_dict`'s data."""
        from suffice.structures.feature_structures import features_from_dict

        schema = Schema.from_dict(entry["schema"])
        weights = np.array([float(weight) for weight in entry["weights"]])
        tables = [_read(entry.get(part, ()), schema) for part in ("base", "support")]
        return cls(features_from_dict(entry["features"]), weights, schema=schema, base=tables[0], support=tables[1])


def weights_of(weights: Any, names: Sequence[str]) -> Floats:
    """Return one number a feature, from numbers by name or in order."""
    if isinstance(weights, Mapping):
        for name in weights:
            if name not in names:
                raise UnknownNameError(
                    f"There is a weight for {name!r}, which is no feature. The features are {listing(names, 12)}."
                    + suggestion(name, names)
                )
        missing = [name for name in names if name not in weights]
        if missing:
            raise ModelError(f"There is no weight for the feature {missing[0]!r}. Give one, 0 where it says nothing.")
        weights = [weights[name] for name in names]
    try:
        found = np.array(weights, np.float64)
    except (TypeError, ValueError):
        found = np.full(0, np.nan)
    if found.shape != (len(names),) or np.isnan(found).any():
        raise ModelError(f"There are {len(names)} features, {listing(names, 6)}; give one number each.")
    return found


def _written(tables: Sequence[LabelledTable]) -> list[dict[str, Any]]:
    return [{"scope": list(table.names), "values": table.values.ravel()} for table in tables]


def _read(entries: Any, schema: Schema) -> list[LabelledTable]:
    found = []
    for entry in entries:
        variables = tuple(schema[name] for name in entry["scope"])
        values = np.array(entry["values"], np.float64).reshape([variable.n_states for variable in variables])
        found.append(LabelledTable(variables, values, "h"))
    return found
