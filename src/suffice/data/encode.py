"""From raw columns to variables and codes: the schema's rules, in one place, piece by piece or all at once.

Strings, bools and categoricals are discrete, floats continuous, and integers discrete while they have at most
`MAX_INTEGER_STATES` distinct values, whether values are missing or not. Floats that are whole numbers with missing
values could be either; `suffice.data.float_kinds` refuses them. A declaration, or a structure that requires a
continuous variable, goes first. Text of a file is typed at the end: whole numbers when all of its values are, and the
text as written otherwise.

Whether a variable is discrete is decided by its first piece. Its states grow with the pieces, in order of appearance;
`ColumnEncoder.settled` gives their final order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.block import code_dtype
from suffice.data.float_kinds import FRACTION, SAMPLE_ROWS, Trait, traits_of
from suffice.data.raw import ArrowColumn, RawColumn, is_number
from suffice.data.schema import Declaration
from suffice.data.variable import Variable, sort_labels
from suffice.errors import DataError, Mention, Passed, Remedy, SchemaError, Text, at_row, listing, made, suggestion
from suffice.text import plural
from suffice.types import Array, Codes
from suffice.values import Label

MAX_INTEGER_STATES = 20
MANY_STATES = 10_000
MISSING, UNKNOWN = -1, -2
MARK = "mark"
REFUSE = "refuse"
"""As ``"error"``, where the call that reads the column takes no policy, so that the error proposes none."""
"""The policy that keeps values outside the states apart from missing ones, as the code −2."""
CANONICAL_INTEGER = re.compile(r"-?[1-9][0-9]{0,17}|0")
SPELLINGS_OF_MISSING = frozenset({"NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", ".", "", "?"})


@dataclass(frozen=True)
class Encoded:
    """A whole column as the statistics see it: codes (−1 = missing) or numbers (NaN = missing), shape (n_rows,)."""

    variable: Variable
    values: Array
    remarks: tuple[str, ...] = ()
    traits: frozenset[Trait] = frozenset()

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where the value is missing; shape (n_rows,)."""
        return missing_in(self.values)


def above(values: Array, threshold: float | None) -> NDArray[np.int8]:
    """Return 1 for numbers above a threshold, 0 for others and −1 for NaN, in the shape of the values.

    >>> above(np.array([0.0, 3.0, np.nan]), 0.0).tolist()
    [0, 1, -1]
    """
    codes = (values > threshold).astype(np.int8)
    if values.dtype.kind == "f":
        codes[np.isnan(values)] = MISSING
    return codes


def missing_in(values: Array) -> NDArray[np.bool_]:
    """Return where codes or numbers are missing; shape (n_rows,)."""
    return np.isnan(values) if values.dtype.kind == "f" else values < 0


def encode(
    raw: RawColumn,
    declaration: Declaration | None,
    must_be_continuous: bool = False,
    unknown_states: str = "error",
    text: bool = False,
    part: bool = False,
) -> Encoded:
    """Encode a whole column at once; see `ColumnEncoder` for the arguments."""
    encoder = ColumnEncoder(raw.name, declaration, must_be_continuous, unknown_states, text, part)
    values = encoder.encode(raw)
    settled = encoder.settled()
    if settled.order is not None:
        values = _translate(values, settled.order.astype(code_dtype(settled.variable.n_states)))
    return Encoded(settled.variable, values, encoder.remarks(), encoder.traits)


def unknown_state(variable: Variable, label: object, row: int, has_policy: bool) -> DataError:
    """Refuse a value outside the states of a variable; with a policy, say which would take it."""
    policy = Text(Mention("unknown state", "Add it to the schema, or pass "), Remedy("unknown_states", "missing"), ".")
    return DataError(
        f"Column {variable.name!r}",
        at_row(row + 1),
        f": state {label!r} is not one of {listing(variable.labels)}.{suggestion(label, variable.labels)} ",
        policy if has_policy else "Correct it, or fit the model with it among the states.",
    )


@dataclass(frozen=True)
class Settled:
    """A variable with its states in final order, and the final code of each code in order of appearance.

    ``order`` is None for continuous variables. Two spellings of one number share a final code.
    """

    variable: Variable
    order: NDArray[np.int64] | None


class ColumnEncoder:
    """Turns the pieces of one column into codes or numbers, and finds out its variable on the way.

    Parameters
    ----------
    name : str
    declaration : Declaration or None
        What the user said of the column.
    must_be_continuous : bool
        The structure gives this variable a continuous role.
    unknown_states : {"error", "missing", "mark", "refuse"}
        What to do with values outside the declared states.
    text : bool
        The values are text as a file wrote it.
    part : bool
        The column is a part of a larger one, so that its traits are of use though it is declared continuous.
    """

    def __init__(
        self,
        name: str,
        declaration: Declaration | None,
        must_be_continuous: bool = False,
        unknown_states: str = "error",
        text: bool = False,
        part: bool = False,
    ) -> None:
        self._traits: set[str] | None = set() if part or (declaration is None and not must_be_continuous) else None
        if declaration is None and must_be_continuous:
            declaration = Declaration("continuous")
        self.name, self.text, self.unknown_states = name, text, unknown_states
        self.declaration = declaration
        self.origin: str | None = None
        self.continuous: bool | None = None if declaration is None else declaration.kind == "continuous"
        self.n_unknown, self.first_unknown = 0, None
        self.levels: tuple[Label, ...] | None = None
        self.levels_differ = False
        self.fixed = None if declaration is None else declaration.variable(name)
        self.threshold: float | None = None
        self.variable = self.fixed or Variable(name, None if self.continuous else ())
        self._last: tuple[pa.Array, Codes] | None = None
        self._settled: tuple[Variable, Settled] | None = None

    # Piece by piece -------------------------------------------------------------------------------------------

    def encode(self, raw: RawColumn, first_row: int = 0) -> Array:
        """Return the piece's codes, states in order of appearance, or its numbers; shape (n_rows,)."""
        if self.origin in (None, "empty"):
            self._decide(raw, first_row)
        if self.continuous:
            numbers = raw.numbers(first_row)
            if self._traits is not None and FRACTION not in self._traits:
                self._traits |= traits_of(numbers)
            return numbers
        if self.threshold is not None:
            return self._compared(raw.numbers(first_row), first_row)
        codes, positions = self._codes_of_labels(raw), raw.codes
        if positions.size and int(positions.max()) >= len(codes):
            raise DataError(f"Column {self.name!r} holds codes beyond its dictionary; the table is damaged.")
        found = _translate(positions, codes)
        if self.fixed is not None and (codes == UNKNOWN).any():
            found = self._unknown(raw, found, first_row)
        return found

    def _decide(self, raw: RawColumn, first_row: int) -> None:
        """Settle, by the first piece that has values, whether the variable is discrete."""
        self.origin = self._origin(raw)
        if self.declaration is None:
            self.continuous = self.origin == "float"
            if self.continuous and first_row:  # pieces without any value came before
                raise self._undecided(f"has no values before row {first_row + 1}, and numbers from there on")
            if self.continuous:
                self.variable = Variable(self.name)
        if self.declaration is not None and self.origin in ("integer", "float"):
            self._take_threshold(self.declaration.threshold)
        if self.origin == "bool" and self.fixed is None and not self.continuous:
            self.variable = Variable(self.name, (False, True))

    @property
    def _has_threshold(self) -> bool:
        return self.declaration is not None and self.declaration.threshold is not None

    def _take_threshold(self, threshold: float | None) -> None:
        """Compare numbers with the threshold that was declared; text, bools and categories are states themselves."""
        self.threshold = threshold
        if threshold is not None and self.fixed is None:
            self.fixed = self.variable = Variable.binary(self.name, threshold)

    def _compared(self, values: NDArray[np.float64], first_row: int) -> NDArray[np.int8]:
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise DataError(
                f"Column {self.name!r}",
                at_row(first_row + row + 1),
                f": {values[row]:g} is not a finite number. Correct it, or leave the value out where it is missing.",
            )
        return above(values, self.threshold)

    def _origin(self, raw: RawColumn) -> str:
        if not self.text:
            if (self.continuous or self._has_threshold) and raw.origin in ("float", "integer"):
                return raw.origin  # its labels, all distinct numbers, would be of no use
            return "empty" if raw.origin in ("float", "integer") and _no_values(raw) else raw.origin
        values = [str(label) for label in raw.labels]
        if not values:
            return "empty"
        if all(CANONICAL_INTEGER.fullmatch(value) for value in values):
            return "integer"
        return "float" if all(map(is_number, values)) else "text"

    def _codes_of_labels(self, raw: RawColumn) -> Codes:
        """Return the code of each of the piece's labels; new labels become new states. One look-up a label."""
        dictionary = raw.dictionary if isinstance(raw, ArrowColumn) else None
        if self._last is not None and dictionary is not None and dictionary.equals(self._last[0]):
            return self._last[1]
        labels = raw.labels
        if raw.origin == "float" and not self.text:
            labels = tuple(_plain_number(float(label)) for label in labels)
        if raw.origin == "levels":
            self.levels_differ |= self.levels is not None and self.levels != labels
            self.levels = labels
        codes = self._first_levels(labels) if raw.origin == "levels" else None
        if codes is None:
            if self.fixed is None:
                self._grow(labels)
            found = [self.variable.find(label) for label in labels]
            codes = np.array([UNKNOWN if code is None else code for code in found], code_dtype(self.variable.n_states))
        if dictionary is not None:
            self._last = (dictionary, codes)
        return codes

    def _first_levels(self, labels: tuple[Label, ...]) -> Codes | None:
        """Take the levels of a first piece as they stand, so that their codes are the variable's own."""
        if self.fixed is not None or self.variable.states != () or len(set(labels)) < len(labels):
            return None
        self.variable = Variable(self.name, labels)
        return np.arange(len(labels), dtype=code_dtype(len(labels)))

    def _grow(self, labels: tuple[Label, ...]) -> None:
        known = self.variable
        new = dict.fromkeys(label for label in labels if known.find_exactly(label) is None)
        if not new:
            return
        self.variable = Variable(self.name, (*known.labels, *new))
        n_states = self.variable.n_states
        limit = MANY_STATES if self.text else MAX_INTEGER_STATES
        if self.declaration is None and self.origin == "integer" and n_states > limit:
            raise self._too_many(n_states)

    def _unknown(self, raw: RawColumn, found: Codes, first_row: int) -> Codes:
        unknown = found == UNKNOWN
        if not unknown.any():
            return found
        row = int(np.argmax(unknown))
        label = raw.labels[raw.codes[row]]
        if self.unknown_states in ("error", REFUSE):
            raise unknown_state(self.variable, label, first_row + row, self.unknown_states == "error")
        self.n_unknown += int(unknown.sum())
        self.first_unknown = label if self.first_unknown is None else self.first_unknown
        if self.unknown_states == MARK:
            return found
        return np.where(unknown, np.array(MISSING, found.dtype), found)

    # At the end -----------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether further pieces may tell what a column is that nobody declared: floats, or no values as yet."""
        is_float = bool(self.continuous) and FRACTION not in (self._traits or ())
        return self.declaration is None and (self.origin == "empty" or is_float)

    @property
    def traits(self) -> frozenset[Trait]:
        """What the numbers of a column that nobody declared are, as far as they were seen."""
        return frozenset((self.name, trait) for trait in self._traits or ())

    def settled(self) -> Settled:
        """Return the variable with its states in their final order."""
        if self._settled is None or self._settled[0] is not self.variable:
            self._settled = (self.variable, self._settle())
        return self._settled[1]

    def _settle(self) -> Settled:
        if self.continuous:
            return Settled(Variable(self.name, None, self.declaration is not None), None)
        found = self.variable.labels
        if self.fixed is not None:
            return Settled(self.fixed, np.arange(len(found)))
        states = _typed(found) if self.text else found
        if self.declaration is None and self.origin == "integer" and self._has_fractions(states):
            raise self._undecided("holds whole numbers at first, and fractions later")
        if self.declaration is None and self.text and self.origin == "integer" and _written_otherwise(found, states):
            raise self._undecided("holds whole numbers at first, and later some with a decimal point")
        if self.declaration is None and self.text:
            self._refuse_numbers_with_text(found)
        if (self.levels is not None and not self.levels_differ) or self.origin == "bool":
            return Settled(self.variable.as_declared(), np.arange(len(found)))
        if self.declaration is None and _all_whole(states) and len(set(states)) > MAX_INTEGER_STATES:
            raise self._too_many(len(set(states)))
        variable = Variable(self.name, sort_labels(dict.fromkeys(states)))
        return Settled(variable, np.array([variable.code(state) for state in states], np.int64))

    def _refuse_numbers_with_text(self, states: tuple[Label, ...]) -> None:
        """Raise where a file's column holds measurements, and a few texts among them."""
        numbers = [text for text in map(str, states) if is_number(text)]
        fractions = sum(not float(text).is_integer() for text in numbers)
        if MAX_INTEGER_STATES < len(numbers) < len(states) < 2 * len(numbers) and 2 * fractions > len(numbers):
            stray = next(text for text in map(str, states) if not is_number(text))
            raise SchemaError(
                f"Column {self.name!r} holds {len(numbers):,} different numbers, and texts such as {stray!r}. If that "
                "means a missing value, read the file with ",
                Passed("na_values", ["", "?", stray]),
                "; if all of them are states, declare it: ",
                Remedy("schema", {self.name: made("categorical")}),
                ".",
            )

    @staticmethod
    def _has_fractions(states: tuple[Label, ...]) -> bool:
        """Whether all states are numbers, and not all of them whole."""
        return all(map(is_number, states)) and any(not float(state).is_integer() for state in states)

    def _undecided(self, what: str) -> SchemaError:
        return SchemaError(
            f"Column {self.name!r} {what}, so it could be discrete or continuous. Say which: ",
            Remedy("schema", {self.name: made("categorical")}),
            " or ",
            Remedy("schema", {self.name: made("continuous")}),
            ".",
        )

    def _too_many(self, n_states: int) -> SchemaError:
        return _too_many_numbers(self.name, n_states)

    def remarks(self) -> tuple[str, ...]:
        """Say what was decided, once all pieces were seen."""
        if self.n_unknown and self.unknown_states == MARK:
            return (
                f"{self.name}: {plural(self.n_unknown, 'value')} outside the model's states (first: "
                f"{self.first_unknown!r}); indicators of {self.name!r} are zero there.",
            )
        if self.n_unknown:
            return (
                f"{self.name}: {plural(self.n_unknown, 'value')} outside the declared states taken as missing "
                f"(first: {self.first_unknown!r}).",
            )
        if self.declaration is not None or self.continuous:
            return ()
        variable = self.settled().variable
        if variable.labels and not variable.declared and _all_whole(variable.labels):
            return (remark_on_numbers(self.name),)
        spelled = [state for state in variable.labels if state in SPELLINGS_OF_MISSING]
        if spelled and not variable.declared:
            marks = list(dict.fromkeys(["", "?", spelled[0]]))
            remedy = f"read the file with na_values={marks!r}" if self.text else "replace it by a missing one"
            return (f"{self.name}: {spelled[0]!r} is kept as a state. If it means a missing value, {remedy}.",)
        return ()


def remark_on_numbers(name: str) -> str:
    """Say that a column of whole numbers became a discrete variable, though nobody declared it."""
    return f"{name}: whole numbers read as a discrete variable."


def require_few_numbers(variable: Variable) -> None:
    """Refuse a variable whose states were found to be many whole numbers, or some fractions, which nobody declared."""
    states = () if variable.states is None or variable.declared else variable.states
    if any(isinstance(state, float) for state in states):
        raise SchemaError(
            f"Column {variable.name!r} holds whole numbers in some parts of the table, and fractions in others. Say "
            "which it is: ",
            Remedy("schema", {variable.name: made("categorical")}),
            " or ",
            Remedy("schema", {variable.name: made("continuous")}),
            ".",
        )
    if len(states) > MAX_INTEGER_STATES and _all_whole(states):
        raise _too_many_numbers(variable.name, len(states))


def _too_many_numbers(name: str, n_states: int) -> SchemaError:
    return SchemaError(
        f"Column {name!r} holds whole numbers with {n_states} distinct values, so it could be discrete or "
        "continuous. Say which: ",
        Remedy("schema", {name: made("categorical")}),
        " or ",
        Remedy("schema", {name: made("continuous")}),
        ".",
    )


def _typed(states: tuple[Label, ...]) -> tuple[Label, ...]:
    """Read the texts of a file as whole numbers when all of them are, with or without a decimal point."""
    texts = [str(state) for state in states]
    if texts and all(is_number(text) and float(text).is_integer() for text in texts):
        return tuple(int(text) if CANONICAL_INTEGER.fullmatch(text) else int(float(text)) for text in texts)
    return states


def _written_otherwise(texts: tuple[Label, ...], states: tuple[Label, ...]) -> bool:
    """Whether texts became whole numbers although some of them are not written as such."""
    return _all_whole(states) and not all(CANONICAL_INTEGER.fullmatch(str(text)) for text in texts)


def _no_values(raw: RawColumn) -> bool:
    """Whether all values of a column of numbers are missing, and there are some."""
    if raw.origin == "integer":  # its codes are wanted anyway
        return bool(raw.codes.size and not raw.labels)
    values = raw.numbers()
    return bool(values.size and np.isnan(values[:SAMPLE_ROWS]).all() and np.isnan(values).all())


def _all_whole(states: tuple[Label, ...]) -> bool:
    return bool(states) and all(isinstance(state, int) and not isinstance(state, bool) for state in states)


def _plain_number(value: float) -> Label:
    return int(value) if value.is_integer() else value


def _translate(codes: Codes, table: Codes) -> Codes:
    """Replace codes by ``table[code]``, −1 staying −1; the codes themselves where that changes nothing."""
    if np.array_equal(table, np.arange(len(table))):
        return codes.astype(table.dtype, copy=False)
    # Wrapping around brings −1 to the end, and costs half of what fancy indexing does.
    return np.append(table, np.array(MISSING, table.dtype)).take(codes, mode="wrap")
