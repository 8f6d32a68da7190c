"""The columns of a classifier: a class, and inputs."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from suffice.data.schema import Declaration
from suffice.errors import StructureError, shown
from suffice.structures.structure import F_co, Structure


class ClassColumns(Structure[F_co]):
    """What the structures of all classifiers say alike; they have a ``target`` and ``inputs``."""

    if TYPE_CHECKING:
        target: str
        inputs: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the data must have: the inputs, and the class last."""
        return (*self.inputs, self.target)

    @property
    def declared(self) -> dict[str, Declaration]:
        """The class is discrete, whatever its values look like."""
        return {self.target: Declaration("discrete")}

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def input_names(target: object, inputs: object, *, some: bool = True) -> tuple[str, ...]:
    """Return the names of the inputs, at least one unless none will do.

    >>> input_names("y", ["x", "z"])
    ('x', 'z')
    """
    if not isinstance(target, str) or not target:
        raise StructureError(
            f"The 'target' argument must be the name of the class's column, and not empty. Got {shown(target)} instead."
        )
    is_list = isinstance(inputs, Iterable) and not isinstance(inputs, str | Mapping)
    names: tuple[str, ...] = tuple(inputs) if is_list else ()  # type: ignore[arg-type]
    proper = is_list and all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names)
    if not proper or (some and not names):
        raise StructureError(
            "The 'inputs' argument must list the names of the input columns, each once, as in ['x', 'z']. "
            f"Got {shown(inputs)} instead."
        )
    if target in names:
        raise StructureError(f"{target!r} is the class, so it cannot be among the inputs. Leave it out of them.")
    return names
