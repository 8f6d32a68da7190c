"""Schemas: the variables of a table by name, and how a user declares them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from suffice.data.variable import Variable, as_states, unite
from suffice.errors import SchemaError, UnknownNameError, listing, shown, suggestion
from suffice.text import html_table, plain_table

if TYPE_CHECKING:
    from suffice.types import Entry, JsonObject
    from suffice.values import Label


@dataclass(frozen=True)
class Declaration:
    """What a user says of one column before the data is read; see `categorical` and `continuous`."""

    kind: str
    states: tuple[Label, ...] | None = None
    threshold: float | None = None
    """Of columns of numbers that are read as two states, above the threshold or not; see `Variable`."""

    def variable(self, name: str) -> Variable | None:
        """Return the variable where its states are declared, else None."""
        return None if self.states is None else Variable(name, self.states, True, self.threshold)


def categorical(states: Iterable[Label] | None = None) -> Declaration:
    """Declare a column discrete, with its states in order or, without them, with the states found in the data.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"grade": [3, 1, 3, 2], "pass": ["yes", "no", "yes", "yes"]}
    >>> fit = sf.fit(sf.DAG("grade -> pass"), data, schema={"pass": sf.categorical(["no", "yes"])})
    >>> fit.model.schema["pass"].states
    ('no', 'yes')
    """
    return Declaration("discrete", None if states is None else as_states("categorical()", states))


def continuous() -> Declaration:
    """Declare a column continuous, whatever its values look like."""
    return Declaration("continuous")


@dataclass(frozen=True)
class Schema(Mapping[str, Variable]):
    """The variables of a table or model, by name and in order.

    Examples
    --------
    >>> schema = Schema((Variable("A", ("no", "yes")), Variable("B", (1, 2, 3))))
    >>> schema["B"].states
    (1, 2, 3)
    >>> print(schema)
    variable  kind      states
    --------  --------  -------------
    A         discrete  ['no', 'yes']
    B         discrete  [1, 2, 3]
    """

    variables: tuple[Variable, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.variables, tuple) or not all(isinstance(v, Variable) for v in self.variables):
            raise SchemaError(f"A schema is a tuple of variables. Got {shown(self.variables)} instead.")
        names = [variable.name for variable in self.variables]
        if len(set(names)) < len(names):
            raise SchemaError(f"Variable {next(n for n in names if names.count(n) > 1)!r} occurs twice in the schema.")

    def __getitem__(self, name: str) -> Variable:
        if isinstance(name, str) and name in self._by_name:
            return self._by_name[name]
        raise UnknownNameError(
            f"There is no variable {name!r}. The variables are {listing(self, 12)}." + suggestion(name, self)
        )

    def __iter__(self) -> Iterator[str]:
        return (variable.name for variable in self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @cached_property
    def _by_name(self) -> dict[object, Variable]:
        return {variable.name: variable for variable in self.variables}

    @cached_property
    def positions(self) -> dict[str, int]:
        """The place of every variable, by name."""
        return {variable.name: place for place, variable in enumerate(self.variables)}

    def __hash__(self) -> int:
        return hash(self.variables)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.variables == other.variables

    def unite(self, other: Schema) -> Schema:
        """Return the schema that holds both; see `suffice.data.variable.unite`."""
        if not isinstance(other, Schema):
            raise SchemaError(f"A schema unites with another schema. Got {shown(other)} instead.")
        if self == other:
            return self
        if set(self) != set(other):
            raise SchemaError(
                f"The parts have different variables: {listing(sorted(set(self) ^ set(other)))} "
                "are in one of them only. Collect both for the same structure."
            )
        return Schema(tuple(unite(variable, other[variable.name]) for variable in self.variables))

    def select(self, names: Iterable[str]) -> Schema:
        """Return the schema of some of the variables, in the order asked for."""
        return Schema(tuple(self[name] for name in names))

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [
                v.name,
                "discrete" if v.is_discrete else "continuous",
                _states_in_words(v),
            ]
            for v in self.variables
        ]
        return ["variable", "kind", "states"], rows, "<<<"

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())

    def to_dict(self) -> list[JsonObject]:
        """Return the schema as JSON-able data."""
        return [
            {
                "name": v.name,
                "states": None if v.states is None else list(v.states),
                "declared": v.declared,
                **({} if v.threshold is None else {"threshold": v.threshold}),
            }
            for v in self.variables
        ]

    @classmethod
    def from_dict(cls, entries: Sequence[Entry]) -> Schema:
        """Rebuild a schema from `to_dict`'s data."""
        return cls(
            tuple(
                Variable(
                    e["name"],
                    None if e["states"] is None else tuple(e["states"]),
                    bool(e["declared"]),
                    e.get("threshold"),
                )
                for e in entries
            )
        )


def _states_in_words(variable: Variable) -> str:
    """List the states; of a variable with a threshold, say which numbers the second one stands for."""
    if variable.states is None:
        return ""
    listed = listing(variable.states, 6)
    return listed if variable.threshold is None else f"{listed}: up to {variable.threshold:g}, and above"


SchemaLike = Schema | Mapping[str, "Declaration | Variable | Iterable[Label]"]


def declarations(schema: SchemaLike | None) -> dict[str, Declaration]:
    """Turn the ``schema`` argument into one declaration a column."""
    if schema is None:
        return {}
    if not isinstance(schema, Mapping):
        raise SchemaError(
            "The 'schema' argument must be a mapping such as {'grade': sf.categorical(['a', 'b']), "
            f"'age': sf.continuous()}}, or the schema of a model. Got {type(schema).__name__} instead."
        )
    return {name: _declaration(name, entry) for name, entry in schema.items()}


def _declaration(name: str, entry: object) -> Declaration:
    if isinstance(entry, Declaration):
        return entry
    if isinstance(entry, Variable):
        return (
            Declaration("continuous")
            if entry.states is None
            else Declaration("discrete", entry.states, entry.threshold)
        )
    if isinstance(entry, Iterable) and not isinstance(entry, str | bytes | Mapping):
        return Declaration("discrete", tuple(entry))
    if callable(entry) and entry in (categorical, continuous):
        return _declaration(name, entry())
    raise SchemaError(
        f"The schema's entry for {name!r} must be sf.categorical(…), sf.continuous() or a list of states. "
        f"Got {entry!r} instead."
    )
