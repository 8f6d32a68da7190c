"""SoftmaxClasses: a class that depends on its inputs through a softmax of linear scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.data.variable import plain_label
from suffice.errors import ArgumentError, StructureError, shown
from suffice.structures.class_columns import ClassColumns, input_names
from suffice.text import plural
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.result.family_fits import SoftmaxFit
    from suffice.types import Entry, Json


SHOWN = 8


@dataclass(frozen=True, init=False)
class SoftmaxClasses(ClassColumns["SoftmaxFit"]):
    """What is known of a softmax (multinomial logistic) regression: log p(y = k | x) = b_k + w_k · f(x) − log Σ.

    A continuous input is a term by itself; a discrete one has an indicator of every state but its first.

    Parameters
    ----------
    target : str
        The class y.
    inputs : sequence of str
        The columns x.
    intercept : bool
        Whether there are b_k; otherwise they are zero.
    reference : label, optional
        The class that others are compared with in tables of coefficients; the first unless named.

    Examples
    --------
    >>> structure = SoftmaxClasses("species", ["length", "width"])
    >>> structure
    SoftmaxClasses('species', ['length', 'width'])
    >>> print(structure)
    species | length, width: softmax regression
    """

    target: str
    inputs: tuple[str, ...]
    intercept: bool
    reference: Label | None

    def __init__(
        self, target: str, inputs: Iterable[str], *, intercept: bool = True, reference: Label | None = None
    ) -> None:
        if not isinstance(intercept, bool):
            raise ArgumentError(f"The 'intercept' argument must be True or False. Got {shown(intercept)} instead.")
        names = input_names(target, [inputs] if isinstance(inputs, str) else inputs, some=False)
        if not names and not intercept:
            raise StructureError("Without inputs and without an intercept there is nothing to learn. Name some inputs.")
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "inputs", names)
        object.__setattr__(self, "intercept", intercept)
        object.__setattr__(self, "reference", plain_label(reference))

    @property
    def given(self) -> tuple[str, ...]:
        """The inputs, whose distribution is not modelled."""
        return self.inputs

    # Rendering ------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        more = len(self.inputs) - SHOWN
        named = ", ".join(self.inputs[:SHOWN]) or "1"
        return f"{self.target} | {named}{f' and {more:,} more' if more > 0 else ''}: softmax regression"

    def __repr__(self) -> str:
        said = [repr(self.target), repr(list(self.inputs))] if len(self.inputs) <= SHOWN else [repr(self.target)]
        said += [plural(len(self.inputs), "input")] if len(self.inputs) > SHOWN else []
        said += [] if self.intercept else ["intercept=False"]
        said += [] if self.reference is None else [f"reference={self.reference!r}"]
        return f"SoftmaxClasses({', '.join(said)})"

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        return {
            "type": "SoftmaxClasses",
            "target": self.target,
            "inputs": list(self.inputs),
            "intercept": self.intercept,
            "reference": self.reference,
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> SoftmaxClasses:
        """Rebuild the structure from `to_dict`'s data."""
        return cls(entry["target"], entry["inputs"], intercept=entry["intercept"], reference=entry["reference"])
