"""Sequences: what a Markov chain or an autoregression learns from, and how they become a table of windows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.held_symbols import HeldSymbols, RawSequences, held
from suffice.data.raw import CodedColumn, RawColumn
from suffice.data.readers import open_raw
from suffice.data.schema import Declaration, SchemaLike, declarations
from suffice.data.sequence_lists import are_tables, read_lists
from suffice.data.sequence_table import read_table
from suffice.data.sequence_text import LEVELS, TextSymbols, is_text_path
from suffice.data.table import UNKNOWN_POLICIES, Weights
from suffice.data.variable import Variable
from suffice.data.windows import Symbols, WindowTable, lagged, window_names
from suffice.errors import (
    ArgumentError,
    DataError,
    Mention,
    Passed,
    SchemaError,
    is_whole,
    listing,
    require_choice,
    shown,
    suggestion,
)
from suffice.text import plural
from suffice.types import Array, Codes
from suffice.values import Label


@dataclass(frozen=True, init=False, eq=False)
class Sequences:
    """Sequences of symbols or of numbers, and how to read them.

    Parameters
    ----------
    data : list, array or table, optional
        A list of sequences, each a list of labels, a text (a sequence of characters), bytes, an array of numbers, or an
        array of vectors, shape (length, n_variables). An array: one sequence, shape (n,) or (n, 1), or one per row
        where it has several columns; see also ``lengths``. A table or the path of one, with one row per position: see
        ``id`` and ``time``. A list of tables (frames or dicts of columns): one sequence each. One text alone is
        ``[text]``.
    text : path, optional
        A text file, UTF-8, also ``.gz`` and ``.xz``; it is read in pieces, in bounded memory.
    variable : str or sequence of str, optional
        The column of a table, or the name to give; ``x`` without it. Several for vectors.
    id, time : str, optional
        For tables: the column that tells sequences apart, without which there is one, and the column that puts the
        rows of each in order, without which they are. Times may be numbers, dates or sortable text; a time that occurs
        twice in a sequence is an error. Steps of different length are left alone, and noted.
    lengths : sequence of int, optional
        For an array with one row per position, shape (n,) or (n, n_variables): how many positions each sequence has,
        as in hmmlearn.
    level : {"characters", "words", "lines"}
        What a text file is: one sequence of characters, one of words, or one sequence of characters a line. Empty lines
        are left out.
    letters : bool
        For text files: make it lower-case and every run of characters other than a–z one blank.

    Examples
    --------
    >>> list(Sequences(["abba", "ab"]))
    [['a', 'b', 'b', 'a'], ['a', 'b']]
    >>> data = {"site": [1, 1, 2, 2], "day": [2, 1, 1, 2], "rain": ["no", "yes", "no", "no"]}
    >>> list(Sequences(data, variable="rain", id="site", time="day"))
    [['yes', 'no'], ['no', 'no']]
    >>> list(Sequences(np.array([[0], [1], [2], [1]]), lengths=[3, 1]))
    [[0, 1, 2], [1]]
    """

    data: Any
    text: str | None
    variables: tuple[str, ...] | None
    id: str | None
    time: str | None
    level: str
    letters: bool
    lengths: tuple[int, ...] | None = None

    def __init__(
        self,
        data: Any = None,
        *,
        text: str | os.PathLike[str] | None = None,
        variable: str | Sequence[str] | None = None,
        id: str | None = None,
        time: str | None = None,
        lengths: Sequence[int] | None = None,
        level: str = "characters",
        letters: bool = False,
    ) -> None:
        if (data is None) == (text is None):
            raise ArgumentError(
                "Sequences are given by one of 'data', lists or a table, and 'text', the path of a text file."
            )
        require_choice("level", level, LEVELS)
        if data is not None and (level != "characters" or letters):
            raise ArgumentError(
                "The 'level' and 'letters' arguments are for text files. Leave them out, or pass text=…."
            )
        tabular = data is not None and has_columns(data)
        if not tabular and (id is not None or time is not None):
            raise ArgumentError("The 'id' and 'time' arguments name columns of a table. Leave them out for others.")
        if id is not None and are_tables(data):
            raise ArgumentError(
                "In a list of tables each table is one sequence, so the 'id' argument must be left out. Or pass one "
                "table, with a column that tells sequences apart."
            )
        if tabular and is_text_path(data):
            raise ArgumentError(f"{str(data)!r} is a text file. Pass its path as text={str(data)!r}.")
        for name, value in (
            ("data", data),
            ("text", None if text is None else os.fspath(text)),
            ("variables", _names(variable)),
            ("id", _name("id", id)),
            ("time", _name("time", time)),
            ("lengths", _lengths(data, lengths)),
            ("level", level),
            ("letters", bool(letters)),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def of_codes(cls, codes: Codes, variable: Variable) -> Sequences:
        """Return sequences of one length from codes, shape (n_sequences, length)."""
        return cls.of_columns({variable: codes})

    @classmethod
    def of_columns(cls, columns: Mapping[Variable, Array]) -> Sequences:
        """Return sequences of one length from codes or numbers by variable, shape (n_sequences, length) each."""
        return cls(_Coded(dict(columns)), variable=[variable.name for variable in columns])

    def raw(self, variables: Sequence[str] | None = None) -> RawSequences:
        """Return the values as they are, one sequence after the other."""
        names = self.variables if variables is None else tuple(variables)
        if isinstance(self.data, _Coded):
            return self.data.raw()
        if is_table(self.data):
            return read_table(self.data, names, self.id, self.time)
        return read_lists(self.data, names, self.time, self.lengths)

    def symbols(
        self,
        variables: Sequence[str] | None = None,
        *,
        continuous: bool | None = False,
        schema: SchemaLike | None = None,
        weights: Weights = None,
        unknown_states: str = "error",
        gaps: bool = False,
        advice: str = "",
    ) -> Symbols:
        """Return the sequences in codes or numbers; see `suffice.data.held_symbols.held`."""
        names = self.variables if variables is None else tuple(variables)
        declared = declarations(schema)
        if self.text is not None:
            if continuous:
                raise DataError(f"Text file {self.text!r} holds symbols, where numbers are needed.")
            if weights is not None:
                raise DataError("A text file is streamed, so that its sequences have no weights. Leave them out.")
            name = names[0] if names else "x"
            _require_known(declared, [name])
            return TextSymbols(self.text, self.level, self.letters, name, declared.get(name))
        raw = self.raw(names)
        _require_known(declared, list(raw.columns))
        return held(raw, declared, continuous, weights, unknown_states, gaps, advice)

    def __iter__(self) -> Iterator[list[Label]]:
        """Yield the sequences of one variable as lists of labels; a text file is read whole for that."""
        symbols = self.symbols()
        pieces = list(symbols.pieces())
        (name,) = pieces[0].columns
        variable = pieces[-1].schema[name]
        codes = np.concatenate([piece.columns[name] for piece in pieces])
        if isinstance(symbols, HeldSymbols):
            ends = np.cumsum(symbols.lengths)
        else:
            lengths = [piece.n_positions for piece in pieces]
            begins = np.cumsum([0, *lengths[:-1]])
            starts = [piece.starts + begin for piece, begin in zip(pieces, begins, strict=True)]
            ends = np.append(np.concatenate(starts)[1:], len(codes)) if len(codes) else np.zeros(0, np.int64)
        for low, high in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=False):
            yield [variable.labels[code] for code in codes[low:high].tolist()]

    def texts(self, between: str = "") -> list[str]:
        """Return each sequence as one text, its symbols written one after the other."""
        return [between.join(map(str, sequence)) for sequence in self]

    def __repr__(self) -> str:
        if self.text is not None:
            return f"Sequences(text={self.text!r}, level={self.level!r}, letters={self.letters})"
        settings: dict[str, Any] = {
            "variable": self.variables and list(self.variables),
            "id": self.id,
            "time": self.time,
            "lengths": self.lengths and list(self.lengths),
        }
        said = "".join(f", {name}={value!r}" for name, value in settings.items() if value is not None)
        return f"Sequences({shown(self.data, 60)}{said})"


@dataclass(frozen=True, eq=False)
class _Coded:
    """Sequences of one length, drawn from a model: codes or numbers by variable."""

    columns: dict[Variable, Array]

    def __post_init__(self) -> None:
        for values in self.columns.values():
            values.flags.writeable = False

    @property
    def shape(self) -> tuple[int, int]:
        """How many sequences, and how long."""
        n, length = next(iter(self.columns.values())).shape
        return n, length

    def raw(self) -> RawSequences:
        """Return them as columns whose states are known."""
        n, length = self.shape
        columns: dict[str, RawColumn] = {}
        for variable, values in self.columns.items():
            flat = values.reshape(-1)
            if variable.is_discrete:
                columns[variable.name] = CodedColumn(variable.name, flat, variable.labels)
            else:
                columns[variable.name] = open_raw({variable.name: flat}).column(variable.name)  # type: ignore[union-attr]
        return RawSequences(columns, np.full(n, length, np.int64), plural(n, "sequence"))

    def __repr__(self) -> str:
        n, length = self.shape
        return f"{plural(n, 'sequence')} of {length:,}"


def is_table(data: object) -> bool:
    """Whether data is a long table, or the path of one, and not a list or an array of sequences."""
    return not isinstance(data, list | tuple | np.ndarray | _Coded)


def has_columns(data: object) -> bool:
    """Whether data is a table or a list of tables, so that columns can be named."""
    return is_table(data) or are_tables(data)


def remedies_for_gaps(continuous: bool) -> str:
    """Say what can be done about values that sequences lack; numbers have no states.

    >>> remedies_for_gaps(continuous=True)
    'Fill gaps in, or cut the sequences there.'
    """
    own = "" if continuous else " give them a state of their own,"
    return f"Fill gaps in,{own} or cut the sequences there."


def open_windows(
    data: Any,
    variables: Sequence[str] | None,
    order: int,
    *,
    pad: bool,
    continuous: bool = False,
    schema: SchemaLike | None = None,
    missing: str = "error",
    weights: Weights = None,
    unknown_states: str = "error",
) -> WindowTable:
    """Open sequences as a table of windows: every position with its ``order`` predecessors.

    Parameters
    ----------
    data : Sequences, or what makes them
    variables : sequence of str or None
        The variables, by the names of their columns; None for those of the sequences.
    order : int
    pad : bool
        Give positions near a start a row as well, which sees the state `suffice.data.windows.START`.
    continuous : bool
        The values are numbers.
    schema : mapping or Schema, optional
        Declarations of the variables; those of their lags are of no account.
    missing : {"error"}
        Rows cannot be dropped.
    weights : sequence of numbers, optional
        One a sequence.
    unknown_states : str

    Examples
    --------
    >>> table = open_windows([[1.0, 2.0, 4.0], [0.5]], ["level"], 1, pad=False, continuous=True)
    >>> next(table.blocks()).columns
    {'level[-1]': array([1., 2.]), 'level': array([2., 4.])}
    """
    require_choice("unknown_states", unknown_states, UNKNOWN_POLICIES)
    if missing == "drop":
        raise ArgumentError(
            Passed("missing", "drop"),
            f" would make neighbours of positions that are none. {remedies_for_gaps(continuous)}",
        )
    require_choice("missing", missing, ("error",))
    sequences = data if isinstance(data, Sequences) else Sequences(data)
    declared = _without_lags(schema, order)
    symbols = sequences.symbols(
        variables, continuous=continuous, schema=declared, weights=weights, unknown_states=unknown_states
    )
    return WindowTable(symbols, order, pad)


def _without_lags(schema: SchemaLike | None, order: int) -> dict[str, Declaration]:
    """Return the declarations without those of lags, which follow from the others."""
    declared: Mapping[str, Declaration] = declarations(schema)
    lags = {name for base in declared for name in window_names([base], order)[:-1]}
    return {name: declaration for name, declaration in declared.items() if name not in lags}


def _require_known(declared: Mapping[str, Declaration], names: list[str]) -> None:
    for name in declared:
        if name not in names:
            raise SchemaError(
                f"The schema declares {name!r}, but the sequences are of {listing(names)}.{suggestion(name, names)}"
            )


def _name(argument: str, value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise ArgumentError(f"The {argument!r} argument must be the name of a column. Got {shown(value)} instead.")
    return value


def _lengths(data: object, lengths: Sequence[int] | None) -> tuple[int, ...] | None:
    """Return the lengths of the sequences in an array, checked against it."""
    if lengths is None:
        return None
    if not isinstance(data, np.ndarray) or data.ndim not in (1, 2):
        raise ArgumentError(
            "The 'lengths' argument is for an array with one row per position, shape (n,) or (n, n_variables). Got "
            f"{type(data).__name__} instead; leave it out for lists of sequences, and pass ",
            Mention("id", "id='…'"),
            " for tables.",
        )
    listed = tuple(lengths) if isinstance(lengths, Iterable) and not isinstance(lengths, str | bytes) else (None,)
    if not all(is_whole(length) and length >= 0 for length in listed):
        raise ArgumentError(
            "The 'lengths' argument must hold the number of positions of each sequence, such as [3, 5]. Got "
            f"{shown(lengths)} instead."
        )
    found = tuple(map(int, listed))  # type: ignore[arg-type]
    if sum(found) != len(data):
        raise ArgumentError(
            f"The 'lengths' argument must add up to the {plural(len(data), 'position')} of the array. Got a sum of "
            f"{sum(found):,} instead."
        )
    return found


def _names(variable: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if variable is None:
        return None
    names = (variable,) if isinstance(variable, str) else tuple(variable)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ArgumentError(f"The 'variable' argument must be a name, or names. Got {shown(variable)} instead.")
    return names


__all__ = ["Sequences", "lagged", "open_windows", "window_names"]
