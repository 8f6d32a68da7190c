"""Features of your own: functions and tables over a few variables, and sliding windows with shared weights."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import SupportsFloat, TypeVar

import numpy as np

from suffice.data.schema import Schema
from suffice.data.variable import Variable, plain_label
from suffice.errors import StructureError, UnknownNameError, listing, shown
from suffice.structures.feature_rules import Called, Feature, Labels, Match, Rule, Term
from suffice.structures.feature_spec import FeatureSpec, discrete, require_few, scope_of, text_of
from suffice.types import Function, GivenLabel, Json, Values
from suffice.values import Label

K = TypeVar("K", bound=Label | tuple[Label, ...])
Pattern = tuple[Label, ...]


@dataclass(frozen=True, repr=False)
class FunctionSpec(FeatureSpec):
    """See `feature`."""

    function: Function | Values = field(hash=False)
    scope: tuple[str, ...]
    name: str
    vectorised: bool = False

    def __repr__(self) -> str:
        return f"feature({self.name!r}, over={self.scope!r})"

    @property
    def variables(self) -> tuple[str, ...]:
        """The scope."""
        return self.scope

    @property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """All variables together."""
        return (self.variables,)

    def resolved(self, schema: Schema) -> tuple[Feature, ...]:
        """Return one feature."""
        variables = [schema[name] for name in self.scope]
        labels = tuple(variable.states for variable in variables)
        rule = _called(self.function, self.name, self.scope, labels, self.vectorised, variables)
        return (Feature(self.name, (Term(self.scope, rule),)),)

    def to_dict(self) -> dict[str, Json]:
        """Return the table, if it is one; functions have to be tabulated first."""
        if not isinstance(self.function, Mapping):
            raise StructureError(
                f"The feature {self.name!r} is a Python function, which a file cannot hold. Give it as a table of "
                "values by configuration, sf.feature({('yes', 'no'): 1.0}, over=('A', 'B'))."
            )
        cells: list[Json] = [
            [list(key) if isinstance(key, tuple) else [key], float(value)] for key, value in self.function.items()
        ]
        return {"table": cells, "over": list(self.scope), "name": self.name}


def feature(
    function: Function | Mapping[K, SupportsFloat],
    over: str | Sequence[str],
    *,
    name: str = "",
    vectorised: bool = False,
) -> FunctionSpec:
    """Return a feature of your own: any function of a few named variables.

    Parameters
    ----------
    function : callable or mapping
        Gets the values of the variables in the order of ``over`` and returns a number; it is called once for every
        configuration of discrete variables. Or a table: values by configuration, zero where it says nothing.
    over : str or sequence of str
    name : str, optional
        What the weight is called; the function's own name without it.
    vectorised : bool
        Whether the function takes whole columns, which is faster where variables are continuous.

    Examples
    --------
    >>> same = feature(lambda a, b: a == b, over=("A", "B"), name="same")
    >>> same.variables
    ('A', 'B')
    """
    if not callable(function) and not isinstance(function, Mapping):
        raise StructureError(
            f"A feature is a function or a table of values by configuration. Got {shown(function)} instead."
        )
    scope = scope_of((over,) if isinstance(over, str) else over, "sf.feature(f, over=('A', 'B'))")
    own = getattr(function, "__name__", "table")
    label = text_of(name) or f"{'f' if own == '<lambda>' else own}({', '.join(scope)})"
    # What the caller does to its own table changes nothing here.
    held: Function | Values = dict(function.items()) if isinstance(function, Mapping) else function
    return FunctionSpec(held, scope, label, bool(vectorised))


@dataclass(frozen=True, repr=False)
class WindowsSpec(FeatureSpec):
    """See `windows`."""

    what: Function | tuple[Pattern, ...] | None = field(hash=False)
    over: tuple[str, ...]
    width: int | None
    name: str = ""

    def __repr__(self) -> str:
        listed = self._listed
        what = repr(self.name) if listed is None else listing([_pattern_name(pattern) for pattern in listed], 3)
        return f"windows({what}, over={listing(self.over, 4)})"

    @property
    def _listed(self) -> tuple[Pattern, ...] | None:
        """The patterns, where they are listed."""
        return None if callable(self.what) else self.what

    @property
    def variables(self) -> tuple[str, ...]:
        """The sequence of variables."""
        return self.over

    @property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """The windows, of every width that occurs."""
        listed = self._listed
        widths = [self.width or 1] if listed is None else sorted({len(pattern) for pattern in listed})
        return tuple(tuple(self.over[at : at + w]) for w in widths for at in range(len(self.over) - w + 1))

    def resolved(self, schema: Schema) -> tuple[Feature, ...]:
        """Return one feature a pattern, each the sum over all positions."""
        variables = [discrete(schema, name, "Windows slide over states") for name in self.over]
        if callable(self.what):
            assert self.width is not None
            states = {variable.labels for variable in variables}
            rules: dict[tuple[Labels, ...] | None, Rule] = {}
            terms = []
            for scope, inside in _slides(self.over, variables, self.width):
                labels = tuple(variable.states for variable in inside)
                # With the same states everywhere one table serves all positions.
                key = labels if len(states) > 1 else None
                if key not in rules:
                    rules[key] = _called(self.what, self.name, scope, labels, False, inside)
                terms.append(Term(scope, rules[key]))
            return (Feature(self.name, tuple(terms)),)
        return tuple(self._pattern(pattern, variables) for pattern in self._patterns(variables))

    def _patterns(self, variables: Sequence[Variable]) -> list[Pattern]:
        if self._listed is not None:
            return list(self._listed)
        assert self.width is not None
        labels = variables[0].labels
        require_few(len(labels) ** self.width, self.over)
        for variable in variables[1:]:
            if not variable.has_states_of(variables[0]):
                raise StructureError(
                    f"All patterns of {self.width} are shared by positions with the same states. {variable.name!r} has "
                    f"{listing(variable.labels)}, {variables[0].name!r} has {listing(labels)}; declare one list of "
                    "states for all, or list the patterns."
                )
        return list(itertools.product(labels, repeat=self.width))

    def _pattern(self, pattern: Pattern, variables: Sequence[Variable]) -> Feature:
        terms = []
        for scope, inside in _slides(self.over, variables, len(pattern)):
            codes = [variable.find(label) for variable, label in zip(inside, pattern, strict=True)]
            if None not in codes:
                terms.append(Term(scope, Match(tuple(code for code in codes if code is not None))))  # eq windows
        if not terms:
            unknown = [label for label in pattern if all(variable.find(label) is None for variable in variables)]
            raise UnknownNameError(
                f"The pattern {shown(pattern)} fits nowhere: {shown(unknown[0] if unknown else pattern)} is no state "
                f"there. The states of {variables[0].name!r} are {listing(variables[0].labels)}; declare them in the "
                "schema if the data does not show them all."
            )
        return Feature(_pattern_name(pattern), tuple(terms))

    def to_dict(self) -> dict[str, Json]:
        """Return ``{"windows": […], "over": […]}``."""
        if callable(self.what):
            raise StructureError(
                f"The windows' function {self.name!r} cannot be held by a file. List the patterns instead."
            )
        patterns = None if self._listed is None else [list(pattern) for pattern in self._listed]
        return {"windows": patterns, "over": list(self.over), "width": self.width}


def windows(
    patterns: Function | Collection[GivenLabel | Sequence[GivenLabel]] | None = None,
    *,
    over: Sequence[str],
    width: int | None = None,
    name: str = "",
) -> WindowsSpec:
    """Return features of neighbouring variables with weights shared by all positions: sliding windows.

    Parameters
    ----------
    patterns : sequence or callable, optional
        Patterns of states, ``["ing", "ion"]`` or tuples of labels: each has a weight, and its feature is how often it
        occurs. Or a function of ``width`` neighbours, with one weight. Without them, all patterns of ``width``.
    over : sequence of str
        The variables in order, such as the letters of a word.
    width : int, optional
        How many neighbours a window holds; patterns tell it themselves.
    name : str, optional
        What the weight of a function is called.

    Examples
    --------
    >>> import suffice as sf
    >>> letters = ["c1", "c2", "c3", "c4"]
    >>> spec = windows(["ab", "aba"], over=letters)
    >>> ab, aba = spec.resolved(sf.fit(sf.Cliques("c1+c2+c3+c4"), {c: ["a", "b"] for c in letters}).model.schema)
    >>> ab.name, [term.scope for term in ab.terms]
    ('ab', [('c1', 'c2'), ('c2', 'c3'), ('c3', 'c4')])
    """
    if isinstance(over, str):
        raise StructureError(f"Windows slide over a list of variables. Got the text {over!r} instead.")
    scope = scope_of(over, "sf.windows(['ing'], over=['c1', 'c2', 'c3'])")
    if callable(patterns) or patterns is None:
        if isinstance(width, bool) or not isinstance(width, int) or not 1 <= width <= len(scope):
            raise StructureError(
                f"The 'width' of windows over {len(scope)} variables must be a whole number from 1 to {len(scope)}. "
                f"Got {shown(width)} instead."
            )
        own = getattr(patterns, "__name__", "f")
        return WindowsSpec(patterns, scope, width, text_of(name) or ("f" if own == "<lambda>" else own))
    if isinstance(patterns, str | bytes) or not isinstance(patterns, Sequence | np.ndarray | set | frozenset | Mapping):
        raise StructureError(f"The patterns of windows are a list such as ['ing', 'ion']. Got {shown(patterns)}.")
    if name:
        raise StructureError(f"Patterns name their weights themselves; name={name!r} is for a function. Leave it out.")
    listed: list[Pattern] = []
    for pattern in patterns:
        labels = tuple(pattern) if isinstance(pattern, str | tuple | list) else (plain_label(pattern),)
        if not 1 <= len(labels) <= len(scope) or (width is not None and len(labels) != width):
            wanted = f"{width} states" if width is not None else f"1 to {len(scope)} states"
            raise StructureError(f"The pattern {shown(pattern)} must have {wanted}, one a neighbour.")
        listed.append(tuple(plain_label(label) for label in labels))
    if not listed:
        raise StructureError("Windows need at least one pattern, as in sf.windows(['ing', 'ion'], over=[…]).")
    return WindowsSpec(tuple(listed), scope, width)


def _slides(
    over: Sequence[str], variables: Sequence[Variable], width: int
) -> list[tuple[tuple[str, ...], Sequence[Variable]]]:
    starts = range(len(over) - width + 1)
    return [(tuple(over[start : start + width]), variables[start : start + width]) for start in starts]


def _called(
    function: Function | Values,
    name: str,
    scope: tuple[str, ...],
    labels: tuple[Labels, ...],
    vectorised: bool,
    variables: Sequence[Variable],
) -> Called:
    if isinstance(function, Mapping):
        cells: dict[Label | tuple[Label, ...], SupportsFloat] = {}
        for key, value in function.items():
            row = key if isinstance(key, tuple) else (key,)
            if len(row) != len(scope):
                raise StructureError(
                    f"The table of the feature {name!r} has the configuration {shown(key)}, which must hold one state "
                    f"for each of {listing(scope)}."
                )
            known = (
                variable.labels[variable.code(label)] if variable.is_discrete else label
                for variable, label in zip(variables, row, strict=True)
            )
            cells[tuple(known)] = value
        function = cells
    return Called(function, name, scope, labels, vectorised)


def _pattern_name(pattern: Pattern) -> str:
    short = all(isinstance(label, str) and len(label) == 1 for label in pattern)
    return ("" if short else " ").join(str(label) for label in pattern)
