"""Autoregression: the structure of sequences of numbers whose values depend linearly on the values before."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from suffice.data.held_symbols import HeldSymbols
from suffice.data.marked_windows import FIRST, MarkedWindows
from suffice.data.schema import Schema, SchemaLike, declarations
from suffice.data.sequences import Sequences, has_columns, open_windows
from suffice.data.table import Weights
from suffice.data.windows import lagged, window_names
from suffice.errors import (
    ArgumentError,
    DataError,
    Passed,
    Remedy,
    StructureError,
    Text,
    listing,
    require_choice,
    require_text,
    require_whole,
    shown,
)
from suffice.settings import more_memory, settings
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment
from suffice.stats.statistics import Statistics
from suffice.structures.markov_chain import SMALL_ORDER
from suffice.structures.structure import Structure
from suffice.text import in_bytes, plural

if TYPE_CHECKING:
    from suffice.models.autoregression import AutoregressiveModel
    from suffice.result.fit import Fit
    from suffice.types import Entry, Json, SequencesLike


DIVISORS, INITIALS = ("n", "n-p"), ("given", "normal")


@dataclass(frozen=True, init=False)
class Autoregression(Structure["Fit[AutoregressiveModel, Autoregression]"]):
    """What is known of a vector autoregression y_t = c + A_1 y_{t−1} + … + A_k y_{t−k} + e_t, e_t ~ N(0, Σ).

    Parameters
    ----------
    order : int
        How many values before a value it depends on, k; 0 for a normal distribution.
    variables : str or sequence of str, optional
        The columns y, one or more. Left out, the only column of a table besides ``id`` and ``time``, or all columns
        of arrays, then called ``x``, or ``x1``, ``x2`` and so on.
    intercept : bool
        Whether there is a c; otherwise it is zero.
    divisor : {"n", "n-p"}
        What the squares of the errors are divided by: the number of windows n (maximum likelihood), or n less the
        regressors of an equation, p.
    initial : {"given", "normal"}
        The likelihood is that given the first k values of every sequence; or these have a normal distribution of
        their own, learnt from many sequences.
    id, time : str, optional
        The columns of a long table that say to which sequence a row belongs, and in which order the rows are.

    Examples
    --------
    >>> structure = Autoregression(order=2, variables="x")
    >>> structure.lag_names
    ('x[-1]', 'x[-2]')
    >>> structure
    Autoregression(order=2, variables=['x'])
    """

    unit: ClassVar[str] = "window"
    reads_rows: ClassVar[bool] = False
    order: int
    variables: tuple[str, ...] | None
    intercept: bool
    divisor: str
    initial: str
    id: str | None
    time: str | None

    def __init__(
        self,
        order: int = 1,
        variables: str | Iterable[str] | None = None,
        *,
        intercept: bool = True,
        divisor: str = "n",
        initial: str = "given",
        id: str | None = None,
        time: str | None = None,
    ) -> None:
        if not isinstance(intercept, bool):
            raise ArgumentError(f"The 'intercept' argument must be True or False. Got {shown(intercept)} instead.")
        require_choice("divisor", divisor, DIVISORS)
        require_choice("initial", initial, INITIALS)
        given = {
            "order": require_whole("order", order),
            "variables": None if variables is None else _checked(variables),
            "intercept": intercept,
            "divisor": divisor,
            "initial": initial,
            "id": None if id is None else require_text("id", id),
            "time": None if time is None else require_text("time", time),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self._require_roles()
        self._require_room()

    def _require_roles(self) -> None:
        """Refuse a column that has two roles, and a first block of no values."""
        roles = [*(self.variables or ()), *(name for name in (self.id, self.time) if name is not None)]
        twice = [name for place, name in enumerate(roles) if name in roles[:place]]
        if twice:
            raise StructureError(
                f"Column {twice[0]!r} is named twice among variables, id and time. Each column has one role; name it "
                "once."
            )
        if self.initial == "normal" and not self.order:
            raise StructureError(
                "With order=0 no value depends on earlier ones, so there are no first values to have a distribution "
                "of their own. Leave ",
                Passed("initial", "normal"),
                " out, or pass a larger order.",
            )

    def _require_room(self) -> None:
        """Refuse an order whose columns of earlier values are too many for their moments to fit the memory."""
        p = (self.order + 1) * len(self.variables or ("one",))
        need, allowed = 8 * p**2, settings().memory
        if self.order > SMALL_ORDER and need > allowed:
            raise StructureError(
                f"An autoregression of order {shown(self.order)} has {shown(p)} columns; their moments would take "
                f"{in_bytes(need)}, more than the {in_bytes(allowed)} that are allowed. Lower the order, or allow "
                "more: ",
                more_memory(need),
                ".",
            )

    # What the structure says ----------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table of windows: lags, variables and the mark; none while their names are not known."""
        if self.variables is None:
            return ()
        return (*window_names(self.variables, self.order), *((FIRST,) if self.initial == "normal" else ()))

    @property
    def continuous(self) -> frozenset[str]:
        """Columns in a continuous role: variables and lags."""
        return frozenset(self.columns) - {FIRST}

    @property
    def lag_names(self) -> tuple[str, ...]:
        """The regressors of every equation: all variables one step before, then two, and so on."""
        return lag_names(self.variables or (), self.order)

    def names_in(self, schema: Schema) -> tuple[str, ...]:
        """Return the variables of a table of windows: those that the structure names, or all that are no lags."""
        if self.variables is not None:
            return self.variables
        lags = {lagged(name, lag) for name in schema for lag in range(1, self.order + 1)}
        return tuple(name for name in schema if name not in lags and name != FIRST)

    def need(self, schema: Schema) -> Moment:
        """Return the statistic of the windows of a schema: lagged columns first, then the current ones."""
        names = self.names_in(schema)
        return Moment((*lag_names(names, self.order), *names), (FIRST,) if self.initial == "normal" else ())

    def moments(self, statistics: Statistics) -> tuple[Moments, Moments | None]:
        """Return the moments of all windows, and of the first values of sequences where they have a distribution."""
        need = self.need(statistics.schema)
        found: Moments = statistics[need]
        if self.initial == "given":
            return found, None
        lags = lag_names(self.names_in(statistics.schema), self.order)
        return found.marginal(need.xs), _at_first(found).marginal(lags)

    def n_free(self, n_variables: int) -> int:
        """Return the number of free parameters for so many variables, d.

        d(k·d + 1) + d(d + 1)/2 with an intercept; those of the first values come on top.
        """
        d, lags = n_variables, n_variables * self.order
        equations = d * (lags + self.intercept) + d * (d + 1) // 2
        return equations + (lags + lags * (lags + 1) // 2 if self.initial == "normal" else 0)

    # Data -----------------------------------------------------------------------------------------------------

    def sequences(self, data: SequencesLike) -> Sequences:
        """Return data as sequences; tables by the columns that the structure names."""
        if isinstance(data, Sequences):
            if None not in (self.variables, data.variables) and data.variables != self.variables:
                raise DataError(
                    f"The autoregression is of {listing(self.variables or ())}, but the sequences are of "
                    f"{listing(data.variables or ())}. Name the variables in one place."
                )
            return data
        if not has_columns(data):
            return Sequences(data, variable=self.variables)
        return Sequences(data, variable=self.variables, id=self.id, time=self.time)

    def open(
        self,
        data: SequencesLike,
        *,
        schema: SchemaLike | None = None,
        weights: Weights = None,
        missing: str = "error",
        unknown_states: str = "error",
    ) -> MarkedWindows:
        """Open sequences as a table of windows: every value with the k values before it."""
        declared = {name: entry for name, entry in declarations(schema).items() if name != FIRST}
        table = open_windows(
            self.sequences(data),
            self.variables,
            self.order,
            pad=False,
            continuous=True,
            schema=declared,
            weights=weights,
            missing=missing,
            unknown_states=unknown_states,
        )
        symbols = table.symbols
        assert isinstance(symbols, HeldSymbols)
        return MarkedWindows(table, self.initial == "normal", self._remarks(symbols))

    def _remarks(self, symbols: HeldSymbols) -> tuple[str, ...]:
        """Say what the likelihood is given, and which sequences are too short to say anything."""
        k = self.order
        if not k:
            return ()
        short = int((symbols.lengths <= k).sum())
        used = len(symbols.lengths) - short
        remarks = []
        if self.initial == "given":
            remarks.append(
                f"The likelihood is that given the {'first value' if k == 1 else f'first {k} values'} of "
                f"{plural(used, 'sequence')}, {plural(used * k * len(symbols.schema), 'number')} in all."
            )
        if short:
            remarks.append(f"{plural(short, 'sequence')} of at most {plural(k, 'value')} left out: nothing to predict.")
        return tuple(remarks)

    # Rendering ------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        names = "y" if self.variables is None else ", ".join(self.variables)
        return f"{names}: autoregression of order {self.order}"

    def __repr__(self) -> str:
        entries = {**self.to_dict(), "intercept": None if self.intercept else False}
        said = [f"{name}={value!r}" for name, value in entries.items() if name != "type" and value is not None]
        usual = {Text(Remedy("divisor", "n")), "initial='given'"}
        return f"Autoregression({', '.join(part for part in said if part not in usual)})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        return {
            "type": "Autoregression",
            "order": self.order,
            "variables": None if self.variables is None else list(self.variables),
            "intercept": self.intercept,
            "divisor": self.divisor,
            "initial": self.initial,
            "id": self.id,
            "time": self.time,
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> Autoregression:
        """Rebuild the structure from `to_dict`'s data."""
        return cls(**{name: value for name, value in entry.items() if name != "type"})


def lag_names(variables: Sequence[str], order: int) -> tuple[str, ...]:
    """Return the names of the lagged columns: all variables one step before, then two, and so on."""
    return tuple(lagged(name, lag) for lag in range(1, order + 1) for name in variables)


def _at_first(found: Moments) -> Moments:
    """Return the moments of the windows that are first of their sequences."""
    code = found.by[0].code(True)
    return Moments(found.variables, (), found.weight[code], found.mean[code], found.rest[code], found.scatter[code])


def _checked(variables: str | Iterable[str]) -> tuple[str, ...]:
    listed = (variables,) if isinstance(variables, str) else variables
    listed = tuple(listed) if isinstance(listed, Iterable) and not isinstance(listed, Mapping) else ()
    if not listed or not all(isinstance(name, str) and name for name in listed):
        raise ArgumentError(
            f"The 'variables' argument must be a column or a list of columns, as in ['x', 'y']. Got "
            f"{shown(variables)} instead."
        )
    return listed
