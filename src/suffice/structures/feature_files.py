"""Features in files: what a structure file says of them, and functions as tables.

A feature is one entry, in TOML or in JSON::

    indicator = { A = "yes", B = "no" }       table = [[["yes", "no"], 1.5]]
    indicators = ["A", "B"]                   over = ["A", "B"]
    product = ["u", "v"]
                                              windows = ["ing", ["i", "o", "n"]]
                                              over = ["c1", "c2", "c3", "c4"]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from suffice.data.schema import Schema
from suffice.errors import StructureError, is_number, is_whole, listing, shown, suggestion
from suffice.structures.feature_functions import feature, windows
from suffice.structures.feature_products import indicator, indicators, product
from suffice.structures.feature_rules import Feature, Listed, Term
from suffice.structures.feature_spec import FeatureSpec, discrete, scope_of
from suffice.types import Entry, Json
from suffice.values import Label


@dataclass(frozen=True)
class TabulatedSpec(FeatureSpec):
    """A feature whose tables were written down, as files hold functions."""

    name: str
    terms: tuple[tuple[tuple[str, ...], Listed], ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of all tables."""
        return tuple(dict.fromkeys(name for scope, _ in self.terms for name in scope))

    @property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """Those of the tables."""
        return tuple(scope for scope, _ in self.terms)

    def resolved(self, schema: Schema) -> tuple[Feature, ...]:
        """Return the feature; the tables must have the schema's numbers of states."""
        for scope, rule in self.terms:
            sizes = tuple(discrete(schema, name, "It has a table").n_states for name in scope)
            if sizes != rule.sizes:
                raise StructureError(
                    f"The feature {self.name!r} has a table of the shape {rule.sizes} over {listing(scope)}, whose "
                    f"numbers of states are {sizes}. Tabulate it anew."
                )
        return (Feature(self.name, tuple(Term(scope, rule) for scope, rule in self.terms)),)

    def to_dict(self) -> dict[str, Json]:
        """Return the tables."""
        terms: list[Json] = [
            {"scope": list(scope), "sizes": list(r.sizes), "places": list(r.places), "values": list(r.values)}
            for scope, r in self.terms
        ]
        return {"tables": terms, "name": self.name}


def tabulated(feature: Feature, schema: Schema) -> TabulatedSpec:
    """Write a feature's tables down; all of its variables must be discrete.

    >>> from suffice.data.variable import Variable
    >>> from suffice.structures.feature_rules import Equal
    >>> schema = Schema((Variable("A", ("x", "y")), Variable("B", ("x", "y"))))
    >>> tabulated(Feature("same", (Term(("A", "B"), Equal()),)), schema).to_dict()["tables"]
    [{'scope': ['A', 'B'], 'sizes': [2, 2], 'places': [0, 3], 'values': [1.0, 1.0]}]
    """
    for name in feature.variables:
        if not schema[name].is_discrete:
            raise StructureError(
                f"The feature {feature.name!r} is a Python function of {name!r}, which is continuous: a file holds "
                "tables of values by configuration, never code. Write it by sf.product and sf.indicator, add its "
                "values to the data as a column of their own, or keep the code that makes it."
            )
    terms = []
    for term in feature.terms:
        sizes = tuple(schema[name].n_states for name in term.scope)
        places, values = term.rule.cells(sizes)
        terms.append((term.scope, Listed(sizes, tuple(places.tolist()), tuple(values.tolist()))))
    return TabulatedSpec(feature.name, tuple(terms))


# Reading ------------------------------------------------------------------------------------------------------


class FeatureForm(NamedTuple):
    """One way to write a feature: how its entry is read, which others go with it, and an example."""

    read: Callable[[Entry], FeatureSpec]
    takes: tuple[str, ...]
    example: str


def spec_from_dict(entry: object) -> FeatureSpec:
    """Rebuild a specification from `to_dict`'s data, or read it from a structure file.

    >>> spec_from_dict({"indicator": {"A": "yes"}, "name": "smokes"})
    indicator({'A': 'yes'}, name='smokes')
    >>> spec_from_dict({"product": ["u", {"indicators": ["class"]}]}).variables
    ('u', 'class')
    """
    if not isinstance(entry, Mapping):
        raise StructureError(f"A feature is a table such as {{ indicator = {{ A = 'yes' }} }}. Got {shown(entry)}.")
    kinds = [kind for kind in KINDS if kind in entry]
    if len(kinds) != 1:
        said = "None of them is there" if not kinds else f"There are {listing(kinds)}"
        close = "".join(suggestion(key, KINDS) for key in entry) if not kinds else ""
        raise StructureError(
            f"A feature has exactly one of the entries {listing(WRITTEN)}, such as {KINDS['indicator'].example}. "
            f"{said} in {shown(dict(entry))}.{close}"
        )
    kind = KINDS[kinds[0]]
    for key in entry:
        if key not in (kinds[0], *kind.takes):
            raise StructureError(
                f"A feature written by {kinds[0]!r} has no entry {key!r}, only {listing((kinds[0], *kind.takes))}."
                f"{suggestion(key, kind.takes) or ' Leave it out.'}"
            )
    if not isinstance(entry.get("name", ""), str):
        raise StructureError(f"The entry 'name' of a feature must be text. Got {shown(entry['name'])} instead.")
    return kind.read(entry)


def _indicator(entry: Entry) -> FeatureSpec:
    states = entry["indicator"]
    if not isinstance(states, Mapping):
        raise _wrong(entry, "indicator", "states by variable")
    for name, label in states.items():
        _label(label, f"The state of {name!r}")
    return indicator(states, name=entry.get("name", ""))


def _indicators(entry: Entry) -> FeatureSpec:
    reference = entry.get("reference", False)
    if not isinstance(reference, bool):
        raise StructureError(f"The entry 'reference' of a feature must be true or false. Got {shown(reference)}.")
    return indicators(*_names(entry, "indicators"), reference=reference)


def _product(entry: Entry) -> FeatureSpec:
    parts = [entry["product"]] if isinstance(entry["product"], str) else entry["product"]
    if not isinstance(parts, list | tuple):
        raise _wrong(entry, "product", "a list of variables and features")
    read = [spec_from_dict(part) if isinstance(part, Mapping) else part for part in parts]
    return product(*read, name=entry.get("name", ""))


def _table(entry: Entry) -> FeatureSpec:
    scope, cells = _names(entry, "over"), entry["table"]
    if not isinstance(cells, list | tuple):
        raise _wrong(entry, "table", "a list of states with their value")
    found: dict[tuple[Label, ...], float] = {}
    for cell in cells:
        if not isinstance(cell, list | tuple) or len(cell) != 2:
            raise StructureError(
                f"Each part of the entry 'table' is a list of states and their value, as in "
                f"{KINDS['table'].example}. Got {shown(cell)} instead."
            )
        labels = tuple(cell[0]) if isinstance(cell[0], list | tuple) else (cell[0],)
        for label in labels:
            _label(label, f"A state of {shown(cell[0])}")
        if len(labels) != len(scope):
            raise StructureError(
                f"The entry 'table' has the states {shown(cell[0])}, which must be {len(scope)}, one for each of "
                f"{listing(scope)}."
            )
        if labels in found:
            raise StructureError(f"The entry 'table' has the states {shown(cell[0])} twice. Leave one of them out.")
        found[labels] = _finite(cell[1], f"The value of the states {shown(cell[0])}")
    return feature(found, over=scope, name=entry.get("name", ""))


def _windows(entry: Entry) -> FeatureSpec:
    if isinstance(entry.get("over"), str):
        raise _wrong(entry, "over", "a list of variables in order")
    scope, patterns, width = _names(entry, "over"), entry["windows"], entry.get("width")
    if patterns is None or patterns == "all":
        return windows(over=scope, width=width)
    if not isinstance(patterns, list | tuple):
        example = "windows = 'all', width = 2"
        raise _wrong(entry, "windows", 'a list of patterns, or "all" with a width', example)
    for pattern in patterns:
        if isinstance(pattern, str) and len(pattern) > len(scope):
            raise StructureError(
                f"The pattern {pattern!r} is text, one state a letter, and longer than the {len(scope)} variables. "
                "Write states of several letters as a list, ['yes', 'no']."
            )
        for label in pattern if isinstance(pattern, list | tuple) else [pattern]:
            _label(label, f"A state of the pattern {shown(pattern)}")
    if width is not None and not is_whole(width):
        raise _wrong(entry, "width", "a whole number of neighbours")
    return windows(patterns, over=scope, width=width)


def _tables(entry: Entry) -> FeatureSpec:
    """Read what `TabulatedSpec.to_dict` wrote."""
    terms = []
    for term in entry["tables"] if isinstance(entry["tables"], list) else ():
        scope = scope_of(_names(term, "scope"), "scope = ['A']")
        sizes, places = _wholes(term, "sizes", 1), _wholes(term, "places", 0)
        values = tuple(_finite(value, "A value of a table") for value in term["values"])
        proper = len(sizes) == len(scope) and len(values) == len(places) == len(set(places))
        if not proper or any(place >= math.prod(sizes) for place in places):
            raise StructureError(
                f"A table over {listing(scope)} must have one size a variable and one value for each of its places, "
                f"which lie inside. Got the sizes {listing(sizes)} and the places {listing(places)}; tabulate it anew."
            )
        terms.append((scope, Listed(sizes, places, values)))
    if not terms or not entry.get("name"):
        raise StructureError("A feature of 'tables' has a name and at least one table. Tabulate it anew.")
    return TabulatedSpec(entry["name"], tuple(terms))


KINDS: dict[str, FeatureForm] = {
    "indicator": FeatureForm(_indicator, ("name",), "indicator = { A = 'yes', B = 'no' }"),
    "indicators": FeatureForm(_indicators, ("reference",), "indicators = ['A', 'B']"),
    "product": FeatureForm(_product, ("name",), "product = ['u', 'v']"),
    "table": FeatureForm(_table, ("over", "name"), "table = [[['yes', 'no'], 1.5]]"),
    "windows": FeatureForm(_windows, ("over", "width"), "windows = ['ing', 'ion']"),
    "tables": FeatureForm(_tables, ("name",), ""),
}
WRITTEN = tuple(kind for kind in KINDS if KINDS[kind].example)
"""The kinds that people write; the others are written by this library."""


# Values -------------------------------------------------------------------------------------------------------


def _wrong(entry: Entry, key: str, what: str, example: str | None = None) -> StructureError:
    """Say what an entry must be, with an example: that of its kind, unless another is given."""
    if example is None and key in KINDS:
        example = KINDS[key].example
    such = "" if example is None else f", as in {example}"
    got = f"Got {shown(entry[key])} instead." if key in entry else "It is missing."
    return StructureError(f"The entry {key!r} of a feature must be {what}{such}. {got}")


def _names(entry: Entry, key: str) -> tuple[str, ...]:
    """Return an entry that is a name or a list of names; what is no name, the feature itself refuses."""
    value = entry.get(key)
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple) or not value:
        raise _wrong(entry, key, "a list of variables")
    return tuple(value)


def _label(label: object, what: str) -> None:
    if not isinstance(label, str | bool) and not is_number(label):
        raise StructureError(f"{what} must be text, a number, true or false. Got {shown(label)} instead.")


def _finite(value: object, what: str) -> float:
    if not is_number(value) or not math.isfinite(value):
        raise StructureError(f"{what} must be a finite number. Got {shown(value)} instead.")
    return float(value)


def _wholes(entry: Entry, key: str, least: int) -> tuple[int, ...]:
    found = tuple(entry[key])
    for value in found:
        if not is_whole(value) or value < least:
            raise StructureError(
                f"The {key} of a table must be whole numbers from {least}. Got {shown(value)} instead."
            )
    return found
