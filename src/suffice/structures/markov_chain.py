"""MarkovChain: a chain of symbols of which each depends on so many before it, and on nothing earlier.

With a latent column the chain is hidden: its states are not observed, but columns are that depend on them.
"""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, overload

from suffice.data.hidden_sequences import HiddenTable, open_hidden
from suffice.data.schema import SchemaLike
from suffice.data.sequence_text import LEVELS, is_text_path
from suffice.data.sequences import Sequences, has_columns, open_windows
from suffice.data.stream import KEEP
from suffice.data.table import Weights
from suffice.data.windows import WindowTable, lagged, window_names
from suffice.errors import (
    ArgumentError,
    DataError,
    Passed,
    StructureError,
    is_whole,
    require_choice,
    require_text,
    shown,
)
from suffice.settings import more_memory, settings
from suffice.structures.structure import F_co, Latent, Structure
from suffice.text import in_bytes, shorten

if TYPE_CHECKING:
    from suffice.models.hidden_markov import HiddenMarkovModel
    from suffice.models.markov_chain import MarkovChainModel
    from suffice.result.fit import Fit
    from suffice.types import Entry, Json, SequencesLike


SMALL_ORDER = 10
"""Up to so many predecessors are all listed where the chain is printed."""


@dataclass(frozen=True)
class MarkovChain(Structure[F_co]):
    """A Markov chain of some order: p(y_1, …, y_T) = p(y_1, …, y_k) Π p(y_t | y_t−k, …, y_t−1).

    The first k symbols have a distribution of their own, as the product of p(y_1), p(y_2 | y_1) and so on; sequences
    shorter than k have a say in the factors of the symbols that they have.

    Parameters
    ----------
    order : int
        How many symbols the next one depends on; 0 for independent symbols.
    variable : str, or sequence of str, optional
        The column of a table, or the symbols' name; without it the only column, or ``x``. Several for a hidden chain.
    id, time : str, optional
        For tables with one row a position: the column that tells sequences apart, and the one that orders their rows.
    level, letters
        How text files are read: see `suffice.Sequences`, which says all of this as well.
    latent : mapping from str to int, optional
        A column that is not observed, with its number of states. It is the chain then, of order one, and the variables
        hang on it, independent given its states: p(z_1) Π p(z_t | z_t−1) Π p(x_t | z_t), a hidden Markov model.
        Discrete variables have tables, continuous ones a normal distribution a state.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.MarkovChain(order=1), ["abab", "abb"])
    >>> print(fit.model.transitions)
           x
    x[-1]       a       b
    -----  ------  ------
    a           0       1
    b      0.5000  0.5000
    >>> fit.n_free
    3
    >>> print(sf.MarkovChain(latent={"mood": 2}, variable="x"))
    p(mood | mood[-1]) p(x | mood)
    """

    unit: ClassVar[str] = "symbol"
    reads_rows: ClassVar[bool] = False
    order: int = 1
    variable: str | Sequence[str] | None = None
    id: str | None = None
    time: str | None = None
    level: str | None = None
    letters: bool = False
    latent: Latent = ()

    if TYPE_CHECKING:  # a chain with a latent column is fitted as a hidden Markov model

        @overload
        def __init__(
            self: MarkovChain[Fit[MarkovChainModel, MarkovChain]],
            order: int = 1,
            variable: str | Sequence[str] | None = None,
            id: str | None = None,
            time: str | None = None,
            level: str | None = None,
            letters: bool = False,
        ) -> None: ...

        @overload
        def __init__(
            self: MarkovChain[Fit[HiddenMarkovModel, MarkovChain]],
            order: int = 1,
            variable: str | Sequence[str] | None = None,
            id: str | None = None,
            time: str | None = None,
            level: str | None = None,
            letters: bool = False,
            *,
            latent: Mapping[str, int] | Latent,
        ) -> None: ...

        def __init__(
            self,
            order: int = 1,
            variable: str | Sequence[str] | None = None,
            id: str | None = None,
            time: str | None = None,
            level: str | None = None,
            letters: bool = False,
            latent: Mapping[str, int] | Latent = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "latent", _latent(self.latent))
        if not is_whole(self.order) or self.order < 0:
            raise StructureError(
                f"The order of a Markov chain must be a whole number, at least 0. Got {shown(self.order)} instead."
            )
        object.__setattr__(self, "order", int(self.order))
        need, allowed = 4 * self.order**2, settings().memory
        if self.order > SMALL_ORDER and need > allowed:
            raise StructureError(
                f"A chain of order {shown(self.order)} has a table for every number of predecessors; to name them "
                f"takes {in_bytes(need)}, more than the {in_bytes(allowed)} that are allowed. Lower the order, or "
                "allow more: ",
                more_memory(need),
                ".",
            )
        object.__setattr__(self, "variable", _variable(self.variable, bool(self.latent)))
        for name, column in (("id", self.id), ("time", self.time)):
            if column is not None:
                require_text(name, column)
        if self.latent:
            self._check_latent()
        if self.level is not None:
            require_choice("level", self.level, LEVELS)
        if not isinstance(self.letters, bool):
            raise StructureError(f"The 'letters' argument must be true or false. Got {shown(self.letters)} instead.")
        if (self.level is not None or self.letters) and (self.id is not None or self.time is not None):
            raise StructureError(
                "The 'level' and 'letters' arguments are for text files, 'id' and 'time' for tables. Leave one out."
            )

    def _check_latent(self) -> None:
        """Refuse what a hidden chain cannot be."""
        state, _ = self.state
        if self.order != 1:
            raise StructureError(
                f"A chain with the latent column {state!r} must be of order 1. Got the order {self.order} instead; "
                "more states do for a longer memory."
            )
        taken = [name for name in (*self.names, self.id, self.time) if name in (state, lagged(state, 1))]
        if taken:
            raise StructureError(
                f"The latent column {state!r} is not observed, but {taken[0]!r} is a column of the data. Give it a "
                "name of its own."
            )

    # What the structure says ----------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that are observed; none while their names are not known."""
        if self.variable is None:
            return ()
        return (self.variable,) if isinstance(self.variable, str) else tuple(self.variable)

    @property
    def state(self) -> tuple[str, int]:
        """The latent column and its number of states."""
        (pair,) = dict(self.latent).items()
        return pair

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table of windows: the predecessors and the symbol; none while its name is not known.

        Those of a hidden chain are the variables themselves.
        """
        return self.names if self.latent else window_names(self.names, self.order if self.names else 0)

    def sequences(self, data: SequencesLike) -> Sequences:
        """Return data as sequences: text files, tables and lists, read as the structure says."""
        if isinstance(data, Sequences):
            if None not in (self.variable, data.variables) and data.variables != self.names:
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
        if has_columns(data):
            return Sequences(data, variable=self.variable, id=self.id, time=self.time)
        return Sequences(data, variable=self.variable)

    def open(
        self,
        data: SequencesLike,
        *,
        schema: SchemaLike | None = None,
        weights: Weights = None,
        missing: str = "error",
        unknown_states: str = "error",
    ) -> WindowTable | HiddenTable:
        """Open data as the table of windows that the chain is learnt from, or, of a hidden one, as whole sequences."""
        if self.latent:
            names = None if self.variable is None else self.names
            return open_hidden(
                self.sequences(data),
                names,
                schema=schema,
                weights=weights,
                missing=missing,
                unknown_states=unknown_states,
            )
        if missing == KEEP:
            raise ArgumentError(
                Passed("missing", "em"),
                " is for sequences whose chain is hidden: sf.MarkovChain(latent={'state': 3}). In an "
                "observed chain fill gaps in, give them a state of their own, or cut the sequences there.",
            )
        return open_windows(
            self.sequences(data),
            None if self.variable is None else self.names,
            self.order,
            pad=True,
            schema=schema,
            weights=weights,
            missing=missing,
            unknown_states=unknown_states,
        )

    # Rendering ------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        if self.latent:
            state, _ = self.state
            emissions = " ".join(f"p({shorten(name)} | {shorten(state)})" for name in self.names or ("x",))
            return f"p({shorten(state)} | {lagged(shorten(state), 1)}) {emissions}"
        name = next(iter(self.names), "x")
        if not self.order:
            return f"p({name})"
        before = window_names([name], min(self.order, SMALL_ORDER))[:-1]
        earliest = f"{lagged(name, self.order)}, …, " if self.order > SMALL_ORDER else ""
        return f"p({shorten(name)} | {earliest}{', '.join(before)})"

    def __repr__(self) -> str:
        said = {name: value for name, value in self.to_dict().items() if name not in ("type", "order")}
        return f"MarkovChain(order={self.order}{''.join(f', {name}={value!r}' for name, value in said.items())})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        entry = {
            "variable": list(self.names) if isinstance(self.variable, tuple) else self.variable,
            "id": self.id,
            "time": self.time,
            "level": self.level,
            "letters": self.letters,
            "latent": dict(self.latent),
        }
        return {"type": "MarkovChain", "order": self.order, **{name: value for name, value in entry.items() if value}}

    @classmethod
    def from_dict(cls, entry: Entry) -> MarkovChain:
        """Rebuild the structure from `to_dict`'s data."""
        return cls(**{name: value for name, value in entry.items() if name != "type"})


def _latent(given: object) -> tuple[tuple[str, int], ...]:
    """Return the latent column as a pair of its name and its number of states, in a tuple; none where there is none."""
    try:
        pairs = tuple(dict(given).items())  # type: ignore[call-overload]
    except (TypeError, ValueError):
        pairs = (("", None), ("", None))
    if len(pairs) > 1:
        raise StructureError(
            "The 'latent' argument must be one column with its number of states, such as {'state': 3}. Got "
            f"{shown(given)} instead; the states of several can be those of one."
        )
    for name, n_states in pairs:
        require_text("latent", name)
        if not is_whole(n_states) or n_states < 1:
            raise StructureError(
                f"The latent column {name!r} needs its number of states, at least 1. Got {shown(n_states)} instead."
            )
    return tuple((name, int(n_states)) for name, n_states in pairs)


def _variable(given: object, hidden: bool) -> str | tuple[str, ...] | None:
    """Return the name of the symbols, or the names of several columns of a hidden chain."""
    if not hidden or given is None or isinstance(given, str):
        if given is not None:
            require_text("variable", given)
        return given  # type: ignore[return-value]
    names = tuple(given) if isinstance(given, list | tuple) else ()
    if not names or len(set(map(str, names))) < len(names):
        raise StructureError(
            f"The 'variable' argument must be a name, or several names, each once. Got {shown(given)} instead."
        )
    for name in names:
        require_text("variable", name)
    return names if len(names) > 1 else names[0]
