"""From a raw column to a variable and its codes: the schema's rules, in one place.

Strings, bools and categoricals are discrete, floats continuous. Integers are discrete while they have at most
`MAX_INTEGER_STATES` distinct values, and so is a float column of whole numbers and gaps, which is what integers with
missing values become in a frame. A declaration, or a structure that requires a continuous variable, goes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.raw import RawColumn
from suffice.data.schema import Declaration
from suffice.data.variable import Label, Variable, sort_labels
from suffice.errors import DataError, SchemaError, listing, suggestion

MAX_INTEGER_STATES = 20
MISSING, UNKNOWN = -1, -2
SPELLINGS_OF_MISSING = frozenset({"NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "."})


@dataclass(frozen=True)
class Encoded:
    """A column as the statistics see it: codes (−1 = missing) or numbers (NaN = missing), shape (n_rows,)."""

    variable: Variable
    values: NDArray[Any]
    remarks: tuple[str, ...] = ()

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where the value is missing; shape (n_rows,)."""
        return self.values < 0 if self.variable.is_discrete else np.isnan(self.values)


def encode(
    raw: RawColumn, declaration: Declaration | None, must_be_continuous: bool = False, unknown_states: str = "error"
) -> Encoded:
    """Encode one column.

    Parameters
    ----------
    raw : RawColumn
    declaration : Declaration or None
        What the user said of the column.
    must_be_continuous : bool
        The structure gives this variable a continuous role.
    unknown_states : {"error", "missing"}
        What to do with values outside the declared states.
    """
    if declaration is None and must_be_continuous:
        declaration = Declaration("continuous")
    if declaration is None:
        return _infer(raw)
    if declaration.kind == "continuous":
        return Encoded(Variable(raw.name, None, True), raw.numbers())
    if declaration.states is None:
        return _discrete(raw, declared=raw.origin == "levels")
    return _against(raw, Variable(raw.name, declaration.states, True), unknown_states)


def _infer(raw: RawColumn) -> Encoded:
    origin = raw.origin
    if origin == "float" and not _whole_numbers_with_gaps(raw):
        return Encoded(Variable(raw.name), raw.numbers())
    if origin in ("integer", "float"):
        return _integers(raw)
    encoded = _discrete(raw, declared=origin in ("levels", "bool"))
    return Encoded(encoded.variable, encoded.values, _spelled_missing(encoded.variable))


def _whole_numbers_with_gaps(raw: RawColumn) -> bool:
    values = raw.numbers()
    missing = np.isnan(values)
    present = values[~missing]
    return bool(missing.any() and present.size and np.isfinite(present).all() and (present == np.trunc(present)).all())


def _integers(raw: RawColumn) -> Encoded:
    n_distinct = len(raw.labels)
    if n_distinct > MAX_INTEGER_STATES:
        raise SchemaError(
            f"Column {raw.name!r} holds whole numbers with {n_distinct} distinct values, so it could be discrete or "
            f"continuous. Say which: schema={{{raw.name!r}: sf.categorical()}} or "
            f"schema={{{raw.name!r}: sf.continuous()}}."
        )
    encoded = _discrete(raw, declared=False)
    states = listing(encoded.variable.labels, 6)
    return Encoded(
        encoded.variable,
        encoded.values,
        (f"{raw.name}: whole numbers read as a discrete variable with states {states}.",),
    )


def _discrete(raw: RawColumn, declared: bool) -> Encoded:
    """Use the values themselves as states: a declared list as it stands, others sorted."""
    labels: tuple[Label, ...] = raw.labels
    if raw.origin == "float":
        labels = tuple(_plain_number(float(label)) for label in labels)
    if raw.origin == "bool":
        return _recode(raw, labels, Variable(raw.name, (False, True), True))
    if raw.origin == "levels":
        return _recode(raw, labels, Variable(raw.name, labels, declared))
    return _recode(raw, labels, Variable(raw.name, sort_labels(labels), declared))


def _plain_number(value: float) -> Label:
    return int(value) if value.is_integer() else value


def _spelled_missing(variable: Variable) -> tuple[str, ...]:
    if variable.declared:
        return ()
    found = [state for state in variable.labels if state in SPELLINGS_OF_MISSING]
    if not found:
        return ()
    return (
        f"{variable.name}: {found[0]!r} is kept as a state. If it means a missing value, read the file with "
        f"na_values={['', '?', found[0]]!r}.",
    )


def _against(raw: RawColumn, variable: Variable, unknown_states: str) -> Encoded:
    labels = raw.labels
    encoded = _recode(raw, labels, variable)
    unknown = encoded.values == UNKNOWN
    if not unknown.any():
        return encoded
    row = int(np.argmax(unknown))
    label = labels[raw.codes[row]]
    if unknown_states == "error":
        raise DataError(
            f"Column {raw.name!r}, row {row + 1}: state {label!r} is not one of {listing(variable.labels)}."
            f"{suggestion(label, variable.labels)} Add it to the schema, or pass unknown_states='missing'."
        )
    n_unknown = int(unknown.sum())
    remark = f"{raw.name}: {n_unknown} values outside the declared states were taken as missing (first: {label!r})."
    return Encoded(variable, np.where(unknown, np.array(MISSING, encoded.values.dtype), encoded.values), (remark,))


def _recode(raw: RawColumn, labels: tuple[Label, ...], variable: Variable) -> Encoded:
    """Map codes of the raw dictionary to codes of the variable; one look-up a distinct label, none a row."""
    to_code = [variable.find(label) for label in labels]
    codes = np.array([UNKNOWN if code is None else code for code in to_code] + [MISSING])
    small = code_dtype(variable.n_states)
    return Encoded(variable, codes.astype(small)[raw.codes])


def code_dtype(n_states: int) -> type[np.signedinteger[Any]]:
    """Return the smallest signed type that holds codes of so many states, and the marks below zero."""
    return np.int8 if n_states <= 127 else np.int16 if n_states <= 32767 else np.int32
