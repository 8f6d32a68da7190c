"""Questions of the page, checked where they come in: JSON in, codes and numbers out."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard, TypeVar

from suffice.data.variable import Variable
from suffice.types import Json, JsonObject

T = TypeVar("T")


class RequestError(Exception):
    """A request that is refused; the message is a sentence for whoever sent it."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class SupersededError(RequestError):
    """A request that the same page has replaced by a newer one."""

    def __init__(self) -> None:
        super().__init__("A newer question has replaced this one.", 409)


@dataclass(frozen=True)
class Question:
    """What was observed, by node: the ``Question`` of ``report/web/types.js``.

    Attributes
    ----------
    hard : dict of int to int
        The code of the state that was observed.
    soft : dict of int to tuple of float
        The likelihood of every state.
    values : dict of int to float
        The value of a continuous variable.
    """

    hard: dict[int, int] = field(default_factory=dict)
    soft: dict[int, tuple[float, ...]] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)

    @property
    def nodes(self) -> list[int]:
        """The nodes about which something is known, in order."""
        return sorted([*self.hard, *self.soft, *self.values])

    @property
    def key(self) -> tuple[tuple[tuple[int, int | float | tuple[float, ...]], ...], ...]:
        """The question as something that a cache can look up."""
        return tuple(tuple(sorted(part.items())) for part in (self.hard, self.soft, self.values))

    @property
    def is_void(self) -> bool:
        """Whether every state of some node was ruled out."""
        return any(not any(weights) for weights in self.soft.values())

    def only(self, nodes: Collection[int]) -> Question:
        """Return the part of the evidence that is about some nodes."""
        return Question(
            {node: code for node, code in self.hard.items() if node in nodes},
            {node: weights for node, weights in self.soft.items() if node in nodes},
            {node: value for node, value in self.values.items() if node in nodes},
        )

    def with_state(self, node: int, code: int) -> Question:
        """Return the same evidence and the state of one more node, whatever its likelihoods were."""
        soft = {other: weights for other, weights in self.soft.items() if other != node}
        return Question({**self.hard, node: code}, soft, self.values)


def question_of(document: Json, variables: Sequence[Variable]) -> Question:
    """Check a question as it came from the page.

    Parameters
    ----------
    document : JSON value
    variables : sequence of Variable
        By node.

    Raises
    ------
    RequestError
        When anything about it is not as ``report/web/types.js`` says.

    Examples
    --------
    >>> variables = [Variable("A", ("x", "y")), Variable("z")]
    >>> question_of({"hard": {"0": 1}, "values": {"1": 2.5}}, variables)
    Question(hard={0: 1}, soft={}, values={1: 2.5})
    """
    if not isinstance(document, dict) or not set(document) <= {"hard", "soft", "values"}:
        raise RequestError("A question has the parts 'hard', 'soft' and 'values'.")
    hard = _by_node(document, "hard", variables, _code)
    soft = _by_node(document, "soft", variables, _weights)
    values = _by_node(document, "values", variables, _value)
    if len({*hard, *soft, *values}) < len(hard) + len(soft) + len(values):
        raise RequestError("A question may say only one thing of a node.")
    return Question(hard, soft, values)


def _by_node(
    document: JsonObject, part: str, variables: Sequence[Variable], check: Callable[[Variable, Json], T]
) -> dict[int, T]:
    """Return a part of a question by node, what is said of each checked."""
    given = document.get(part, {})
    if not isinstance(given, dict):
        raise RequestError(f"The part {part!r} of a question must be an object, by node.")
    nodes = {node_of(key, len(variables)): value for key, value in given.items()}
    return {node: check(variables[node], value) for node, value in nodes.items()}


def node_of(key: Json, n: int) -> int:
    """Return a node from its number, or from the key of a JSON object."""
    if isinstance(key, str) and key.isascii() and key.isdecimal() and len(key) < 10:
        key = int(key)
    if not is_whole(key) or not 0 <= key < n:
        raise RequestError(f"A node is a whole number from 0 to {n - 1}.")
    return int(key)


def is_whole(value: Json) -> TypeGuard[int]:
    """Whether a JSON value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Json) -> TypeGuard[int | float]:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:  # a whole number beyond all floats
        return False


def _code(variable: Variable, code: Json) -> int:
    if not variable.is_discrete:
        raise RequestError(f"The variable {variable.name!r} is continuous and has no states.")
    if not is_whole(code) or not 0 <= code < variable.n_states:
        raise RequestError(f"A state of {variable.name!r} is a whole number from 0 to {variable.n_states - 1}.")
    return int(code)


def _weights(variable: Variable, weights: Json) -> tuple[float, ...]:
    if not variable.is_discrete:
        raise RequestError(f"The variable {variable.name!r} is continuous and has no states.")
    if (
        not isinstance(weights, list)
        or len(weights) != variable.n_states
        or not all(_is_number(weight) and weight >= 0 for weight in weights)
    ):
        raise RequestError(
            f"The likelihoods of {variable.name!r} must be {variable.n_states} numbers that are not negative."
        )
    return tuple(map(float, weights))


def _value(variable: Variable, value: Json) -> float:
    if variable.is_discrete:
        raise RequestError(f"The variable {variable.name!r} is discrete and takes a state.")
    if not _is_number(value):
        raise RequestError(f"The value of {variable.name!r} must be a finite number.")
    return float(value)
