"""Evidence on the command line: ``--given X=x``."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from suffice.data.schema import Schema
    from suffice.data.variable import Variable
    from suffice.models.evidence import Observation
    from suffice.models.model import Model
    from suffice.values import Label

GivenOption = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        "-g",
        metavar="X=x",
        help="What was seen: X=x, a state or a number; X=a,b for one of several states; X=a:0.9,b:0.2 for "
        "likelihoods. Repeatable.",
    ),
]


def read_given(network: Model, given: list[str] | None, path: str | None = None) -> dict[str, Observation]:
    """Read evidence: the options, and a UAI file."""
    seen: dict[str, Observation] = {}
    if path is not None:
        from suffice.io import read

        loaded = read(path)
        if not isinstance(loaded, dict):
            raise ArgumentError(f"{path!r} holds no single set of observations. Pass an .evid file with one.")
        seen.update(_by_position(network, loaded, path))
    for text in given or ():
        name, state = _read(network.schema, text)
        if name in seen:
            raise ArgumentError(f"Variable {name!r} is given more than once.")
        seen[name] = state
    return seen


def _read(schema: Schema, text: str) -> tuple[str, Observation]:
    """Read ``X=x``; names and states may contain the sign, and the shortest name that makes sense is taken."""
    if "=" not in text:
        raise ArgumentError(f"Evidence is written X=x. Got {text!r} instead.")
    ends = [place for place, sign in enumerate(text) if sign == "="]
    known = [end for end in ends if text[:end] in schema] or ends[-1:]
    for end in known[:-1]:
        with suppress(UnknownNameError):
            return text[:end], _state(schema[text[:end]], text[end + 1 :])
    return text[: known[-1]], _state(schema[text[: known[-1]]], text[known[-1] + 1 :])


def _state(variable: Variable, text: str) -> Observation:
    """Read ``x``, ``a,b`` or ``a:0.9,b:0.2``; a state of just that spelling goes first. Continuous: a number."""
    if not variable.is_discrete:
        try:
            return float(text)
        except ValueError:
            raise ArgumentError(
                f"Variable {variable.name!r} is continuous. Got {text!r}, which is no number."
            ) from None
    if variable.find(text) is not None:
        return text
    parts = text.split(",")
    if len(parts) > 1 and all(variable.find(part) is not None for part in parts):
        return parts
    pairs = [part.rpartition(":") for part in parts]
    if all(sign and variable.find(label) is not None for label, sign, _ in pairs):
        labels = [label for label, _, _ in pairs]
        repeated = [label for place, label in enumerate(labels) if label in labels[:place]]
        if repeated:
            raise ArgumentError(f"The likelihood of {variable.name}={repeated[0]} is given more than once.")
        try:
            return {label: float(weight) for label, _, weight in pairs}
        except ValueError:
            raise ArgumentError(
                f"The likelihoods in {variable.name}={text} must be numbers, as in {variable.name}=a:0.9,b:0.2."
            ) from None
    variable.code(text)  # which says what the states are
    return text


def _by_position(network: Model, observed: dict[str, str], path: str) -> dict[str, Label]:
    """Return what a UAI file observed: its variables and states are positions in the model."""
    variables = network.schema.variables
    seen = {}
    for name, state in observed.items():
        number, code = int(name.removeprefix("x")), int(state)
        if number >= len(variables) or code >= variables[number].n_states:
            raise ArgumentError(
                f"{path!r} observes state {code} of variable {number}, counted from 0, which the model does not have. "
                "Pass the evidence that belongs to the model."
            )
        seen[variables[number].name] = variables[number].labels[code]
    return seen
