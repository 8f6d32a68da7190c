"""MarkovChain: a chain of symbols of which each depends on so many before it, and on nothing earlier."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from suffice.data.schema import Declaration, SchemaLike
from suffice.data.sequence_text import LEVELS, is_text_path
from suffice.data.sequences import Sequences, is_table, open_windows
from suffice.data.table import Weights
from suffice.data.windows import WindowTable, window_names
from suffice.errors import DataError, StructureError, is_whole, require_choice, require_text, shown
from suffice.text import shorten


@dataclass(frozen=True)
class MarkovChain:
    """A Markov chain of some order: p(y_1, …, y_T) = p(y_1, …, y_k) Π p(y_t | y_t−k, …, y_t−1).

    The first k symbols have a distribution of their own, as the product of p(y_1), p(y_2 | y_1) and so on; sequences
    shorter than k have a say in the factors of the symbols that they have.

    Parameters
    ----------
    order : int
        How many symbols the next one depends on; 0 for independent symbols.
    variable : str, optional
        The column of a table, or the symbols' name; without it the only column, or ``x``.
    id, time : str, optional
        For tables with one row a position: the column that tells sequences apart, and the one that orders their rows.
    level, letters
        How text files are read: see `suffice.Sequences`, which says all of this as well.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.MarkovChain(order=1), ["abab", "abb"])
    >>> print(fit.model.transitions)
    x[-1]       a       b
    -----  ------  ------
    a           0       1
    b      0.5000  0.5000
    >>> fit.n_free
    3
    """

    unit: ClassVar[str] = "symbol"
    order: int = 1
    variable: str | None = None
    id: str | None = None
    time: str | None = None
    level: str | None = None
    letters: bool = False

    def __post_init__(self) -> None:
        if not is_whole(self.order) or self.order < 0:
            raise StructureError(
                f"The order of a Markov chain must be a whole number, at least 0. Got {shown(self.order)} instead."
            )
        object.__setattr__(self, "order", int(self.order))
        for name in ("variable", "id", "time"):
            if getattr(self, name) is not None:
                require_text(name, getattr(self, name))
        if self.level is not None:
            require_choice("level", self.level, LEVELS)
        if not isinstance(self.letters, bool):
            raise StructureError(f"The 'letters' argument must be true or false. Got {shown(self.letters)} instead.")
        if (self.level is not None or self.letters) and (self.id is not None or self.time is not None):
            raise StructureError(
                "The 'level' and 'letters' arguments are for text files, 'id' and 'time' for tables. Leave one out."
            )

    # What the structure says ----------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table of windows: the predecessors and the symbol; none while its name is not known."""
        return () if self.variable is None else window_names([self.variable], self.order)

    @property
    def continuous(self) -> frozenset[str]:
        """No column is continuous."""
        return frozenset()

    @property
    def declared(self) -> dict[str, Declaration]:
        """Declarations that the structure itself makes: none."""
        return {}

    def sequences(self, data: Any) -> Sequences:
        """Return data as sequences: text files, tables and lists, read as the structure says."""
        if isinstance(data, Sequences):
            if None not in (self.variable, data.variables) and data.variables != (self.variable,):
                raise DataError(
                    f"The chain is of {self.variable!r}, but the sequences are of {list(data.variables or ())}. Name "
                    "the variable in one place."
                )
            return data
        if is_text_path(data) or (isinstance(data, str) and (self.level is not None or self.letters)):
            return Sequences(text=data, variable=self.variable, level=self.level or LEVELS[0], letters=self.letters)
        if isinstance(data, str) and not os.path.splitext(data)[1] and not os.path.exists(data):
            raise DataError(
                f"One text alone is a list of one sequence, [{shown(data)}]; a path names its kind of file, such as "
                "'words.txt' or 'rain.csv'."
            )
        if is_table(data):
            return Sequences(data, variable=self.variable, id=self.id, time=self.time)
        return Sequences(data, variable=self.variable)

    def open(
        self,
        data: Any,
        *,
        schema: SchemaLike | None = None,
        weights: Weights = None,
        missing: str = "error",
        unknown_states: str = "error",
    ) -> WindowTable:
        """Open data as the table of windows that the chain is learnt from."""
        return open_windows(
            self.sequences(data),
            None if self.variable is None else [self.variable],
            self.order,
            pad=True,
            schema=schema,
            weights=weights,
            missing=missing,
            unknown_states=unknown_states,
        )

    # Rendering ------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        name = self.variable or "x"
        return (
            f"p({shorten(name)} | {', '.join(window_names([name], self.order)[:-1])})" if self.order else f"p({name})"
        )

    def __repr__(self) -> str:
        said = {name: value for name, value in self.to_dict().items() if name not in ("type", "order")}
        return f"MarkovChain(order={self.order}{''.join(f', {name}={value!r}' for name, value in said.items())})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Return the structure as JSON-able data."""
        entry = {name: getattr(self, name) for name in ("variable", "id", "time", "level", "letters")}
        return {"type": "MarkovChain", "order": self.order, **{name: value for name, value in entry.items() if value}}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> MarkovChain:
        """Rebuild the structure from `to_dict`'s data."""
        return cls(**{name: value for name, value in entry.items() if name != "type"})
