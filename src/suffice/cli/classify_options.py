"""Options of classifiers: class probabilities, lists of columns, and what is said by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from suffice.cli.priors import is_number
from suffice.cli.shared import split_names
from suffice.errors import ArgumentError, UnknownNameError, listing, suggestion

CASES = "A CSV file whose first line, or --names, names the columns; a Parquet file; a glob or folder of such files."
ClassWeightsOption = Annotated[
    str | None, typer.Option("--weights", metavar="COL", help="Column with the rows' frequencies.")
]

ClassProbabilities = str | float | dict[str, float]
"""A word, a pseudo-count, or p by class."""


def read_class_prior(text: str | None) -> ClassProbabilities | None:
    """Read class probabilities: a word, a pseudo-count, or ``yes=0.3,no=0.7``.

    >>> read_class_prior("uniform"), read_class_prior("1"), read_class_prior("yes=0.3,no=0.7")
    ('uniform', 1.0, {'yes': 0.3, 'no': 0.7})
    """
    if text is None or text in ("counted", "uniform"):
        return text
    if is_number(text):
        return float(text)
    found: dict[str, float] = {}
    for part in split_names(text, "--class-prior"):
        label, sign, p = part.rpartition("=")
        if not sign or not is_number(p):
            raise ArgumentError(
                "Class probabilities are written counted, uniform, a pseudo-count such as 1, or CLASS=P of every class "
                f"as in yes=0.3,no=0.7. Got {text!r} instead."
            )
        if label in found:
            raise ArgumentError(f"The probability of the class {label!r} is given more than once.")
        found[label] = float(p)
    return found


def read_other_prior(text: str | None) -> ClassProbabilities | None:
    """Read class probabilities in place of a classifier's own: ``uniform``, or ``yes=0.3,no=0.7``."""
    found = read_class_prior(text)
    if found == "counted" or isinstance(found, float):
        raise ArgumentError(
            "Other class probabilities are written uniform, or CLASS=P of every class as in yes=0.3,no=0.7; without "
            f"the option they are the classifier's own. Got {text!r} instead."
        )
    return found


def read_pairs(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Read ``COL=WORD``, the word after the last sign.

    >>> read_pairs(["a=b=gaussian"], "--kind", "age=gaussian")
    {'a=b': 'gaussian'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name, sign, word = text.rpartition("=")
        if not sign or not name or not word:
            raise ArgumentError(f"The option {option} is written COL=WORD, such as {option} {example}. Got {text!r}.")
        if name in found:
            raise ArgumentError(f"The option {option} names the column {name!r} more than once.")
        found[name] = word
    return found


def read_inputs(
    names: Sequence[str], target: str, weights: str | None, inputs: str | None, exclude: str | None
) -> tuple[str, ...]:
    """Return the inputs: those named, or all columns of the file but the class, the weights and those left out.

    Parameters
    ----------
    names : sequence of str
        The columns of the file.
    target, weights : str
    inputs, exclude : str, optional
        Lists of names with commas between them; at most one of the two.
    """
    if inputs is not None and exclude is not None:
        raise ArgumentError("Say which columns are inputs either by --inputs or by --exclude, not by both.")
    require_column(target, names, "--target")
    if weights == target:
        raise ArgumentError(
            f"{target!r} is the class, so it cannot hold the weights. Name another column by --weights."
        )
    if inputs is not None:
        wanted = split_names(inputs, "--inputs")
        for name in wanted:
            require_column(name, names, "--inputs")
        repeated = [name for place, name in enumerate(wanted) if name in wanted[:place]]
        if repeated:
            raise ArgumentError(f"The option --inputs names the column {repeated[0]!r} more than once.")
        if target in wanted:
            raise ArgumentError(f"{target!r} is the class, so it cannot be an input. Leave it out of --inputs.")
        if weights in wanted:
            raise ArgumentError(
                f"{weights!r} holds the weights of the rows, so it cannot be an input. Leave it out of --inputs, or "
                "leave out --weights."
            )
        return tuple(wanted)
    left_out = [] if exclude is None else split_names(exclude, "--exclude")
    for name in left_out:
        require_column(name, names, "--exclude")
    if target in left_out:
        raise ArgumentError(f"{target!r} is the class and never an input. Leave it out of --exclude.")
    found = tuple(name for name in names if name not in (target, weights, *left_out))
    if not found:
        raise ArgumentError(f"No column is left as an input: the file has {listing(names, 12)}.")
    return found


def require_column(name: str, names: Sequence[str], option: str) -> None:
    """Refuse a column that the file does not have."""
    if name not in names:
        raise UnknownNameError(
            f"The option {option} names the column {name!r}, but the columns are {listing(names, 12)}."
            + suggestion(name, names)
        )
