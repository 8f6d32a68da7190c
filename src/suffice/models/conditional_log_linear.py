"""ConditionalLogLinear: p(y | x) ∝ exp(Σ θᵢ fᵢ(x, y)), which says nothing of how the inputs are distributed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.block import Block, code_dtype
from suffice.data.encode import MARK, UNKNOWN, missing_in
from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.stream import KEEP
from suffice.data.table import UNKNOWN_POLICIES, open_table
from suffice.data.variable import Variable
from suffice.errors import (
    ArgumentError,
    DataError,
    Mention,
    ModelError,
    UnknownNameError,
    listing,
    require_choice,
    require_mapping,
    shown,
    suggestion,
)
from suffice.models.conditional_design import ConditionalDesign, conditional_design
from suffice.models.evidence import Evidence, Targets
from suffice.models.log_linear import Weights, weights_of
from suffice.models.prediction import Prediction
from suffice.models.row_answers import RowAnswers
from suffice.models.sampling import stream_key, to_frame
from suffice.stats.source import BlockSource
from suffice.structures.features import Features
from suffice.text import plural
from suffice.types import Columns, Floats, Frame, Json, TableLike
from suffice.values import Label, UnknownStates

if TYPE_CHECKING:
    from suffice.types import Entry

PIECE_ROWS = 1 << 14
"""Rows that are predicted at a time."""


@dataclass(frozen=True, init=False, eq=False)
class ConditionalLogLinear(Prediction):
    """A conditional max-ent model.

    Parameters
    ----------
    features : Features
        With inputs, ``given=…``.
    weights : mapping or sequence
        One number a feature. A weight of −inf allows only outputs at which its feature is least, given the input.
    schema : Schema

    Examples
    --------
    >>> import suffice as sf
    >>> rows = {"x": [0.0, 1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "a", "b"]}
    >>> structure = sf.Features([sf.indicator(y="b"), sf.product("x", sf.indicator(y="b"))], given=["x"])
    >>> fit = sf.fit(structure, rows)
    >>> print(fit.model.query("y", given={"x": 2.5}))
    y       p
    -  ------
    a  0.5194
    b  0.4806
    """

    features: Features
    weights: Weights
    schema: Schema

    def __init__(
        self, features: Features, weights: Mapping[str, float] | Sequence[float] | Floats, *, schema: Schema
    ) -> None:
        known = schema.select(features.columns)
        design = conditional_design(features, known)
        names = tuple(feature.name for feature in design.features)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "schema", known)
        object.__setattr__(self, "weights", Weights(names, weights_of(weights, names)))
        object.__setattr__(self, "_design", design)

    def __repr__(self) -> str:
        of = f"{', '.join(self.features.variables)} given {plural(len(self.features.given), 'input')}"
        return f"ConditionalLogLinear({of}, {plural(len(self.weights), 'feature')})"

    def __str__(self) -> str:
        return str(self.weights)

    def _repr_html_(self) -> str:
        return self.weights._repr_html_()

    @property
    def variables(self) -> tuple[str, ...]:
        """What is modelled, then the inputs."""
        return self.features.columns

    # Answers --------------------------------------------------------------------------------------------------

    def probabilities(self, inputs: Columns, n: int) -> Floats:
        """Return p(y | x) for n rows of inputs, codes or numbers; shape (n, configurations of the outputs)."""
        scores = self._scores(inputs, n)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    def _scores(self, inputs: Columns, n: int) -> Floats:
        """Return Σ θᵢ fᵢ(x, y) less that of the most likely output, and −inf for outputs that are ruled out."""
        design: ConditionalDesign = self._design  # type: ignore[attr-defined]
        matrix, values = design.at(inputs, n), self.weights.to_numpy()
        scores = (matrix @ np.where(np.isfinite(values), values, 0.0)).reshape(n, design.n_outputs)
        for weight in np.flatnonzero(~np.isfinite(values)):
            side = math.copysign(1.0, values[weight])
            column = np.asarray(matrix[:, [weight]].todense()).reshape(n, design.n_outputs) * side
            reachable = np.where(scores > -np.inf, column, -np.inf)
            scores = np.where(column >= reachable.max(axis=1, keepdims=True), scores, -np.inf)
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores, np.float64)

    def query(self, targets: Targets, given: Evidence | None = None) -> LabelledTable:
        """Return p(targets | given), exactly; ``given`` holds every input, and possibly some of the outputs."""
        wanted = _names(targets)
        held = dict(require_mapping("given", given or {}, "{'x': 1.0}"))
        for name in (*wanted, *held):
            if name not in self.schema:
                raise UnknownNameError(
                    f"There is no variable {name!r}. The variables are {listing(self.schema, 12)}."
                    + suggestion(name, self.schema)
                )
        for name in wanted:
            if name in self.features.given or name in held:
                raise ArgumentError(f"{name!r} is given, and cannot be asked for. Ask for {self.features.variables}.")
        absent = [name for name in self.features.given if name not in held]
        if absent:
            raise ArgumentError(
                f"The input {absent[0]!r} is not given. A conditional model answers for given inputs only: ",
                Mention("given", f"given={{{absent[0]!r}: …}}"),
                ".",
            )
        inputs = {name: np.array([self._value(name, held[name])]) for name in self.features.given}
        design: ConditionalDesign = self._design  # type: ignore[attr-defined]
        joint = self.probabilities(inputs, 1).reshape(design.sizes)
        outputs = list(design.outputs)
        for name in [name for name in outputs if name in held]:
            joint = np.asarray(joint.take(self.schema[name].code(held[name]), axis=outputs.index(name)))
            outputs.remove(name)
        total = float(joint.sum())
        if total == 0:
            raise ModelError("The evidence is impossible: the model gives it the probability zero. Correct it.")
        summed = joint.sum(axis=tuple(axis for axis, name in enumerate(outputs) if name not in wanted)) / total
        left = [name for name in outputs if name in wanted]
        summed = np.asarray(summed).transpose([left.index(name) for name in wanted])
        return LabelledTable(tuple(self.schema[name] for name in wanted), summed)

    def _value(self, name: str, value: Any) -> Any:
        variable = self.schema[name]
        if variable.is_discrete:
            return variable.code(value)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise ArgumentError(f"The input {name!r} must be a finite number. Got {shown(value)} instead.")
        return number

    def query_rows(self, targets: Targets, data: TableLike, *, unknown_states: UnknownStates = "error") -> RowAnswers:
        """Return p(targets | inputs) for every row of a table of inputs.

        Parameters
        ----------
        targets : str or sequence of str
        data : table
            One column an input.
        unknown_states : {"error", "missing"}
            What to do with values of inputs that are no states of the model. With ``"missing"``, indicators of the
            input are zero there, which is what they are at a state that they do not name; features that are no
            indicators of it have no value there, and are an error.
        """
        wanted = _names(targets)
        for name in wanted:
            if name not in self.features.variables:
                raise UnknownNameError(
                    f"{name!r} is none of the variables modelled, {listing(self.features.variables, 12)}."
                    + suggestion(name, self.features.variables)
                )
        blocks = self._blocks(self.features.given, data, unknown_states)
        joint = np.concatenate([self.probabilities(block.columns, block.n_rows) for block in blocks])
        design: ConditionalDesign = self._design  # type: ignore[attr-defined]
        table = joint.reshape(len(joint), *design.sizes)
        others = tuple(axis for axis, name in enumerate(design.outputs, 1) if name not in wanted)
        left = [name for name in design.outputs if name in wanted]
        summed = table.sum(axis=others).transpose([0, *(1 + left.index(name) for name in wanted)])
        return RowAnswers(tuple(self.schema[name] for name in wanted), summed, np.zeros(len(joint)))

    def map(self, given: Evidence, *, targets: Targets | None = None) -> dict[str, Label]:
        """Return the most likely states of the outputs, given all inputs, or of targets, the others summed out."""
        outputs = self.features.variables
        free = [name for name in outputs if name not in given] if targets is None else list(_names(targets))
        table = self.query(free, given)
        codes = np.unravel_index(int(np.argmax(table.values)), table.values.shape)
        return {name: self.schema[name].labels[int(code)] for name, code in zip(free, codes, strict=True)}

    def sample(
        self,
        given: TableLike,
        *,
        seed: int | None = None,
        backend: str | None = None,
        unknown_states: UnknownStates = "error",
    ) -> Frame:
        """Draw the outputs once for every row of a table of inputs.

        Parameters
        ----------
        given : table
            One column an input.
        seed : int, optional
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame to return.
        unknown_states : {"error", "missing"}
            As in `query_rows`.

        Returns
        -------
        frame
            One column an output, in the order of the rows.
        """
        design: ConditionalDesign = self._design  # type: ignore[attr-defined]
        stream = np.random.Generator(np.random.Philox(key=np.array([stream_key(seed), 0], np.uint64)))
        parts = []
        for block in self._blocks(self.features.given, given, unknown_states):
            reached = np.cumsum(self.probabilities(block.columns, block.n_rows), axis=1)
            level = stream.random(block.n_rows) * reached[:, -1]
            parts.append(np.minimum((reached <= level[:, None]).sum(axis=1), design.n_outputs - 1))
        codes = np.unravel_index(np.concatenate(parts), design.sizes)
        schema = self.schema.select(design.outputs)
        columns = {
            name: code.astype(code_dtype(schema[name].n_states)) for name, code in zip(schema, codes, strict=True)
        }
        return to_frame(schema, iter([Block(schema, columns, None, len(codes[0]), 0)]), backend)

    def log_prob(self, data: TableLike, *, unknown_states: UnknownStates = "error") -> Floats:
        """Return log p(y | x) of every row of a table with outputs and inputs; shape (n_rows,).

        ``unknown_states`` is as in `query_rows`, for inputs; outputs must be states of the model.
        """
        blocks = self._blocks(self.variables, data, unknown_states)
        return np.concatenate([self.log_prob_of(block.columns, block.n_rows) for block in blocks])

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(y | x) of every row of codes and numbers; shape (n_rows,)."""
        design: ConditionalDesign = self._design  # type: ignore[attr-defined]
        scores = self._scores(columns, n_rows)
        codes = [np.asarray(columns[name], np.int64) for name in design.outputs]
        own = scores[np.arange(n_rows), np.ravel_multi_index(codes, design.sizes)]
        return np.asarray(own - np.log(np.exp(scores).sum(axis=1)), np.float64)  # p itself may be less than any float

    def _blocks(self, names: Sequence[str], data: TableLike, unknown_states: UnknownStates) -> Iterator[Block]:
        """Read rows; where unknown states are allowed, they are told from missing values, which are not."""
        require_choice("unknown_states", unknown_states, UNKNOWN_POLICIES)
        known, names = self.schema.select(names), tuple(names)
        if unknown_states == "error":
            return BlockSource(open_table(data, names, schema=known, unknown_states=unknown_states)).each(
                lambda block: block
            )
        table = open_table(data, names, schema=known, missing=KEEP, unknown_states=MARK)

        def checked(block: Block) -> Block:
            self._require_inputs(block.columns, block.n_rows, block.start)
            for name in (name for name in names if name not in self.features.given):
                gone = np.asarray(block.columns[name]) < 0
                if gone.any():
                    raise DataError(
                        f"Column {name!r}, row {block.start + int(np.argmax(gone)) + 1}: the value is missing or no "
                        f"state of the model, {listing(self.schema[name].labels)}. Leave such rows out."
                    )
            return block

        return BlockSource(table).each(checked)

    def _require_inputs(self, columns: Columns, n_rows: int, start: int) -> None:
        """Refuse rows that lack an input, the first row being row ``start`` of a table."""
        for name in self.features.given if n_rows else ():
            column = columns.get(name)
            gone = np.ones(1, bool) if column is None else missing_in(column) & (column != UNKNOWN)
            if gone.any():
                raise DataError(
                    f"Column {name!r}, row {start + int(np.argmax(gone)) + 1}: the input is missing, and this model "
                    "says nothing of how inputs are distributed. Fill it in, or fit a model of the inputs as well: "
                    "sf.Features(…) without given=."
                )

    # Predictions ----------------------------------------------------------------------------------------------

    @property
    def _marked(self) -> tuple[str, ...]:
        """The inputs, whose unknown states are no missing values."""
        return self.features.given

    def _predicted(
        self, targets: tuple[Variable, ...], columns: Columns, n_rows: int, start: int, level: float
    ) -> list[Floats]:
        design: ConditionalDesign = self._design  # type: ignore[attr-defined]
        others = [target.name for target in targets if target.name not in design.outputs]
        if others:
            raise ArgumentError(
                f"A conditional model predicts what it models, {listing(design.outputs, 12)}, and not "
                f"{listing(others)}, which are inputs."
            )
        self._require_inputs(columns, n_rows, start)
        found = [np.empty((n_rows, target.n_states)) for target in targets]
        for low in range(0, n_rows, PIECE_ROWS):
            rows = slice(low, min(low + PIECE_ROWS, n_rows))
            joint = self._given_outputs({name: column[rows] for name, column in columns.items()}, rows.stop - low)
            for target, answers in zip(targets, found, strict=True):
                at = 1 + design.outputs.index(target.name)
                summed = joint.sum(axis=tuple(axis for axis in range(1, joint.ndim) if axis != at))
                with np.errstate(invalid="ignore"):
                    answers[rows] = summed / summed.sum(axis=1, keepdims=True)
        return found

    def _given_outputs(self, columns: Columns, n: int) -> Floats:
        """Return p(y | x) with zeros where y is not what a row has of it; shape (n, …states of the outputs)."""
        design: ConditionalDesign = self._design  # type: ignore[attr-defined]
        joint = self.probabilities(columns, n).reshape(n, *design.sizes)
        for axis, name in enumerate(design.outputs, 1):
            if name in columns:
                codes = np.asarray(columns[name], np.int64)[:, None]
                fits = (codes < 0) | (codes == np.arange(design.sizes[axis - 1]))
                joint = joint * fits.reshape(n, *(size if at == axis else 1 for at, size in enumerate(design.sizes, 1)))
        return joint

    def _unanswered(self, columns: Columns, row: int, start: int) -> ModelError:
        held = {
            name: self.schema[name].labels[int(columns[name][row])]
            for name in self.features.variables
            if name in columns and columns[name][row] >= 0
        }
        return ModelError(
            f"The row is impossible: given its inputs, the model gives {shown(held)} the probability zero. Correct it."
        )

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {
            "type": "ConditionalLogLinear",
            "schema": self.schema.to_dict(),
            "features": self.features.tabulated(self.schema).to_dict(),
            "weights": self.weights.to_numpy(),
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> ConditionalLogLinear:
        """Rebuild the model from `to_dict`'s data."""
        weights = np.array([float(weight) for weight in entry["weights"]])
        return cls(Features.from_dict(entry["features"]), weights, schema=Schema.from_dict(entry["schema"]))


def _names(targets: Targets) -> tuple[str, ...]:
    listed = (targets,) if isinstance(targets, str) else targets
    if not isinstance(listed, Sequence) or not listed or len(set(map(repr, listed))) < len(listed):
        raise ArgumentError(
            f"The 'targets' argument must be one or several different names. Got {shown(targets)} instead."
        )
    return tuple(listed)
