"""What a variable is: its name and, when it is discrete, its states in order."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from suffice.errors import Remedy, SchemaError, UnknownNameError, listing, made, shown, suggestion

if TYPE_CHECKING:
    from suffice.values import Label

WHOLE_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)\.0*")


@dataclass(frozen=True, eq=False)
class Variable:
    """A named variable, discrete with ordered states or continuous.

    Parameters
    ----------
    name : str
    states : tuple of labels or None
        The states of a discrete variable, in order; None when it is continuous.
    declared : bool
        True when a person or a categorical type listed the states; such lists are kept whole and in order, and two
        tables can only be added when they agree. Inferred states are sorted, and unite when tables are added.
    threshold : float or None
        Of a variable with two states: numbers above the threshold are read as the second state, all others as the
        first; see `binary`. None, the default: the states are the values themselves.

    Examples
    --------
    >>> smoker = Variable("smoker", ("no", "yes"))
    >>> smoker.n_states, smoker.code("yes")
    (2, 1)
    >>> flag = Variable("flag", (False, True))
    >>> flag.code("TRUE")
    1
    """

    name: str
    states: tuple[Label, ...] | None = None
    declared: bool = False
    threshold: float | None = None

    @classmethod
    def binary(cls, name: str, threshold: float) -> Variable:
        """Return a variable with two states: the second one stands for all numbers above a threshold.

        The states are 0 and 1 where these numbers lie on their own sides of the threshold, and False and True
        elsewhere, so that a number is always compared with the threshold.

        >>> counts = Variable.binary("n", 0.0)
        >>> counts.states, counts.code(0), counts.code(7)
        ((0, 1), 0, 1)
        >>> Variable.binary("n", 2.5).states
        (False, True)
        """
        return cls(name, (0, 1) if 0 <= threshold < 1 else (False, True), True, threshold)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SchemaError(f"A variable's name must be a non-empty string. Got {self.name!r} instead.")
        if self.states is None:
            return
        object.__setattr__(self, "states", as_states(self.name, self.states))
        for state in self.states:
            if not isinstance(state, str | int | float | bool):
                raise SchemaError(
                    f"Variable {self.name!r}: state {state!r} is of type {type(state).__name__}. "
                    "States are strings, whole numbers, floats or bools; convert the column first."
                )
        if len({_sort_of(state) for state in self.states}) > 1:
            raise SchemaError(
                f"Variable {self.name!r}: its states {listing(self.states)} mix text, numbers or bools. "
                "Write all of them as text."
            )
        if len(self._exact) != len(self.states):
            keys = [_key(state) for state in self.states]
            repeated = next(key[1] for key in keys if keys.count(key) > 1)
            raise SchemaError(f"Variable {self.name!r}: state {repeated!r} is listed more than once.")

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Variable)
            and self.name == other.name
            and self.declared == other.declared
            and self.threshold == other.threshold
            and self.has_states_of(other)
        )

    def __hash__(self) -> int:
        return hash((self.name, self.declared, self.states))

    @property
    def is_discrete(self) -> bool:
        """Whether the variable has states."""
        return self.states is not None

    @property
    def n_states(self) -> int:
        """Number of states; an error for a continuous variable."""
        return len(self.labels)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The states; an error for a continuous variable."""
        if self.states is None:
            raise SchemaError(
                f"Variable {self.name!r} is continuous, where a discrete one is needed. Declare it: ",
                Remedy("schema", {self.name: made("categorical")}),
                ", or cut it into classes first.",
            )
        return self.states

    def as_declared(self) -> Variable:
        """Return the same variable with its states declared."""
        twin = copy.copy(self)
        object.__setattr__(twin, "declared", True)
        return twin

    def has_states_of(self, other: Variable) -> bool:
        """Whether both have the same states in the same order, of the same types."""
        if self.states is other.states:
            return True
        if self.states is None or other.states is None:
            return False
        # Python holds (False, True) equal to (0, 1); states of different types are not the same states.
        return self.states == other.states and list(map(type, self.states)) == list(map(type, other.states))

    def code(self, label: object) -> int:
        """Return the position of a state.

        The label itself is looked up first. Where types differ, ``TRUE``, ``True`` and ``true`` match a bool, and
        the text ``1`` matches the number 1.
        """
        code = self.find(label)
        if code is None:
            raise UnknownNameError(
                f"Variable {self.name!r} has no state {label!r}. It is one of {listing(self.labels)}."
                + suggestion(label, self.labels)
            )
        return code

    def find(self, label: object) -> int | None:
        """Return the position of a state, or None when it is not one."""
        label = plain_label(label)
        if not isinstance(label, str | int | float | bool):
            return None
        exact = self.find_exactly(label)
        found = exact if exact is not None else self._loose.get((_spelling(label), not isinstance(label, str)))
        return found if found is not None or self.threshold is None else _side(label, self.threshold)

    def find_exactly(self, label: object) -> int | None:
        """Return the position of a state of the very same type, or None when it is not one."""
        return self._exact.get(_key(label))

    @cached_property
    def _exact(self) -> dict[tuple[str, Label], int]:
        return {_key(state): code for code, state in enumerate(self.states or ())}

    @cached_property
    def _loose(self) -> dict[tuple[str, bool], int | None]:
        """Spelling and whether the *label looked up* is not text, to code; None where two states are spelled alike."""
        table: dict[tuple[str, bool], int | None] = {}
        for code, state in enumerate(self.states or ()):
            spelling = _spelling(state)
            # Text states are found by numbers and bools; number and bool states by text, and by other numbers.
            for not_text in (True,) if isinstance(state, str) else (True, False):
                table[spelling, not_text] = None if (spelling, not_text) in table else code
        return table


def as_states(name: str, states: Any) -> tuple[Any, ...]:
    """Return a list of states as a tuple of Python's own labels."""
    if isinstance(states, str | bytes) or not isinstance(states, Iterable):
        raise SchemaError(f"The states of {name!r} must be a list of labels. Got {shown(states)} instead.")
    return tuple(plain_label(state) for state in states)


def plain_label(label: Any) -> Any:
    """Return Python's own str, int, float or bool for NumPy's."""
    return label.item() if type(label).__module__ == "numpy" and getattr(label, "ndim", None) == 0 else label


def _key(label: object) -> tuple[str, Any]:
    """Tell True from 1 and 1 from 1.0, which Python's dict would not."""
    try:
        hash(label)
    except TypeError:
        return ("unhashable", None)
    return (type(label).__name__, label)


def _sort_of(label: Label) -> str:
    return "text" if isinstance(label, str) else "bool" if isinstance(label, bool) else "number"


def _spelling(label: object) -> str:
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    text = str(label)
    if WHOLE_FLOAT.fullmatch(text):
        return text.partition(".")[0]
    return text.lower() if text.lower() in ("true", "false") else text


def _side(label: Label, threshold: float) -> int | None:
    """Return 1 for a number above the threshold, 0 for another one, and None for what is no number."""
    try:
        value = float(label)
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(value) else int(value > threshold)


def sort_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Sort labels by value: bools, then numbers, then text."""
    return tuple(sorted(labels, key=lambda label: (isinstance(label, str), label)))


def unite(first: Variable, second: Variable) -> Variable:
    """Return the variable that both tables can be expressed in.

    Two inferred lists of states unite; declared ones must be equal; an inferred list must lie within a declared one.
    """
    if first == second:
        return first
    if first.name != second.name:
        raise SchemaError(f"Variables {first.name!r} and {second.name!r} are not the same.")
    for one, other in ((first, second), (second, first)):
        if one.states == () and not one.declared:
            return other  # a part without any value says nothing
    if first.states is None or second.states is None:
        if first.states is None and second.states is None:
            return Variable(first.name, None, first.declared or second.declared)
        raise SchemaError(
            f"Variable {first.name!r} is continuous in one part and discrete in the other. "
            "Declare it for both: schema={" + repr(first.name) + ": sf.categorical()} or sf.continuous()."
        )
    if first.threshold != second.threshold:
        raise SchemaError(
            f"The numbers of variable {first.name!r} are compared with the threshold {first.threshold} in one part, "
            f"and with {second.threshold} in the other. Collect both parts with the same threshold."
        )
    if first.declared and second.declared:
        raise SchemaError(
            f"Variable {first.name!r} is declared with states {listing(first.states)} in one part and "
            f"{listing(second.states)} in the other. Declared states must be equal, order included; "
            "collect both parts with the same schema."
        )
    if first.declared or second.declared:
        kept, other = (first, second) if first.declared else (second, first)
        return _cover(kept, other)
    short, long = sorted((first.states, second.states), key=len)
    if [_key(state) for state in long[: len(short)]] == [_key(state) for state in short]:
        return Variable(first.name, long)  # pieces of one stream: their states grow, and are put in order at its end
    return Variable(first.name, sort_labels({_key(state): state for state in first.states + second.states}.values()))


def _cover(kept: Variable, other: Variable) -> Variable:
    outside = [state for state in other.labels if kept.find(state) is None]
    if outside:
        raise SchemaError(
            f"Variable {kept.name!r} is declared with states {listing(kept.labels)}, but the other part also has "
            f"{listing(outside)}. Add them to the declaration, or collect both parts with the same schema."
        )
    return kept
