"""Structures for the command line: text, a model file, or a structure file in TOML or JSON.

A structure file names its type and what the type needs::

    type = "DAG"                              type = "Hypotheses"
    graph = "H -> A; H -> B"                  over = "number"
    tie = [["A", "B"]]                        [sets]
    latent = { H = 3 }                        even = [2, 4, 6, 8]

    type = "Cliques"                          type = "Cliques"
    graph = "A:B + B:C + 'M. Work'"           graph = { A = ["B", "C"], B = ["C"] }
                                              take = "pairwise"

    type = "Features"                         type = "Ising"
    given = ["x"]                             graph = "a:b + b:c"
    [[features]]                              values = [0, 1]
    indicator = { A = "yes", B = "no" }       tie = "couplings"
    [[features]]
    product = ["x", { indicators = ["A"] }]
    [tie]
    both = ["A=yes & B=no", "x·(A=no)"]

    type = "MultivariateNormal"               type = "Bernoulli"
    variables = ["height", "weight"]          variable = "heads"
    divisor = "n-1"                           states = [0, 1]

    type = "Autoregression"
    order = 2
    variables = ["level"]
    id = "lake"
    time = "year"

How a feature is written, `suffice.structures.feature_files` says.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from suffice.errors import FileFormatError, StructureError, SufficeError, is_number, listing, shown, suggestion
from suffice.families import structure_forms
from suffice.files import read_bytes
from suffice.io import read
from suffice.models.model import Model
from suffice.result.fit import Fit
from suffice.structures.cliques import Cliques
from suffice.structures.cliques_text import is_written_as_cliques
from suffice.structures.dag import DAG
from suffice.structures.feature_files import spec_from_dict
from suffice.structures.features import Features
from suffice.structures.names import as_name
from suffice.structures.pairwise import Pairwise
from suffice.structures.structure import Structure
from suffice.types import Json

MAX_DEPTH = 50
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
DEEP_KEY = re.compile(rf"(?:^[ \t]*+(?:\[\[?[ \t]*+)?|[{{,][ \t]*+)(?:{_PART}\.[ \t]*+){{{MAX_DEPTH}}}", re.M)
"""A key of more parts than any structure has; the time to read it grows with the square of their number."""

# Features -----------------------------------------------------------------------------------------------------


def make_features(**entries: Any) -> Features:
    """Make features from the entries of a file, each of the type that it must be."""
    listed = entries["features"]
    if not isinstance(listed, list) or not listed:
        raise StructureError(
            "The entry 'features' must be a list of at least one feature, each a part [[features]] with an entry such "
            f"as indicator = {{ A = 'yes' }}. Got {shown(listed)} instead."
        )
    specs = []
    for number, entry in enumerate(listed, 1):
        try:
            if isinstance(entry, Mapping) and entry.get("table") == []:
                raise StructureError(
                    "The entry 'table' is empty. Give states with their value, [[['yes', 'no'], 1.5]]."
                )
            specs.append(spec_from_dict(entry))
        except SufficeError as error:
            raise StructureError(f"feature {number}: ", error.message) from None
    support = {name: _ends(name, ends) for name, ends in _by_name(entries, "support", "{ x = [0, 1] }").items()}
    tie = entries.get("tie", [])
    if not isinstance(tie, list):
        tie = _by_name(entries, "tie", "{ both = ['A=yes', 'B=no'] }")
    return Features(
        specs,
        given=_texts(entries, "given"),
        support=support,
        tie=tie,
        variables=_texts(entries, "variables"),
        latent=entries.get("latent"),
    )


def _by_name(entries: Mapping[str, Json], key: str, example: str) -> Mapping[str, Json]:
    value = entries.get(key, {})
    if not isinstance(value, Mapping):
        raise StructureError(f"The entry {key!r} must be a table such as {example}. Got {shown(value)} instead.")
    return value


def _texts(entries: Mapping[str, Json], key: str, read: Callable[[Json], Json] = lambda name: name) -> list[str]:
    value = entries.get(key, [])
    value = list(map(read, value)) if isinstance(value, list) else value
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise StructureError(f"The entry {key!r} must be a list of variables, ['x']. Got {shown(value)} instead.")
    return value


def _ends(name: str, ends: Any) -> list[float]:
    """Return an interval; JSON has no infinity, which is a text there."""
    proper = isinstance(ends, list) and len(ends) == 2
    if not proper or not all(is_number(end) or end in ("inf", "-inf") for end in ends):
        raise StructureError(f"The support of {name!r} must be two numbers, [0, 1] or [0, inf]. Got {shown(ends)}.")
    return [float(end) for end in ends]


def maker_of(kind: type[Pairwise]) -> Callable[..., Pairwise]:
    """Return what makes one of the models on graphs from the entries of a file."""

    def make(**entries: Any) -> Pairwise:
        if "graph" in entries and ("edges" in entries or "nodes" in entries):
            raise StructureError("The graph is given twice, by 'graph' and by 'edges' and 'nodes'. Leave one out.")
        if not isinstance(entries.get("fields", True), bool):
            raise StructureError(f"The entry 'fields' must be true or false. Got {shown(entries['fields'])} instead.")
        values = entries.get("values", [0, 1])
        if not isinstance(values, list) or not all(map(is_number, values)):
            raise StructureError(
                f"The entry 'values' must be two rising numbers, [-1, 1]. Got {shown(values)} instead."
            )
        settings: dict[str, Any] = {
            key: entries[key] for key in ("values", "tie", "fields", "latent") if key in entries
        }
        if "graph" in entries:
            return kind(entries["graph"], **settings)
        nodes, edges = _texts(entries, "nodes", as_name), _edges(entries)
        if edges is None:
            return kind(nodes, **settings)
        return kind.from_dict({**settings, "edges": edges, **({"nodes": nodes} if nodes else {})})

    return make


def _edges(entries: Mapping[str, Json]) -> list[list[str]] | None:
    if "edges" not in entries:
        return None
    found = entries["edges"]
    if not isinstance(found, list) or not found:
        raise StructureError(f"The entry 'edges' must be a list of pairs, [['a', 'b']]. Got {shown(found)} instead.")
    for edge in found:
        if not isinstance(edge, list) or len(edge) != 2 or not all(isinstance(as_name(name), str) for name in edge):
            raise StructureError(f"Each of the 'edges' must be a pair of names, ['a', 'b']. Got {shown(edge)} instead.")
    return [list(map(as_name, edge)) for edge in found]


# Reading ------------------------------------------------------------------------------------------------------


def read_structure(text: str) -> Structure:
    """Read a structure from text or from a file.

    Text with arrows or brackets is a DAG, other text with ``:`` or ``+`` is cliques; a lone name is a DAG of one node.

    >>> read_structure("A -> B").edges
    [('A', 'B')]
    >>> read_structure("A:B + B:C")
    Cliques('A:B + B:C')
    """
    ending = os.path.splitext(text)[1].lower()
    if ending in (".toml", ".json"):
        return _from_file(text, ending)
    if os.path.isfile(text):
        return _structure_of(read(text))
    return Cliques(text) if is_written_as_cliques(text) else DAG(text)


def _from_file(path: str, ending: str) -> Structure:
    content = read_bytes(path)
    try:
        text = content.decode("utf-8-sig")
        if ending == ".toml" and DEEP_KEY.search(text):
            raise ValueError(f"a key has more than {MAX_DEPTH} parts")
        entry = tomllib.loads(text) if ending == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path!r} is not valid {ending[1:].upper()}: {error}. Correct it.") from None
    if isinstance(entry, dict) and entry.get("format") == "suffice":
        return _structure_of(read(path))
    kind = entry.get("type") if isinstance(entry, dict) else None
    known = sorted(name for name, form in structure_forms().items() if form.make is not None)
    if not isinstance(kind, str) or kind not in known:
        raise FileFormatError(
            f"{path!r} must name its type, one of {known}. Got {shown(kind)} instead.{suggestion(kind, known)}"
        )
    return _structure(path, kind, {name: value for name, value in entry.items() if name != "type"})


def _structure(path: str, name: str, entries: Mapping[str, Json]) -> Structure:
    form = structure_forms()[name]
    assert form.make is not None
    known = (*form.needs, *form.takes)
    for entry in entries:
        if entry not in known:
            raise StructureError(
                f"{path!r} does not describe {form.said}: it has no entry {entry!r}, only {listing(known)}."
                + suggestion(entry, known)
            )
    if not any(entry in entries for entry in form.needs):
        needed = " or ".join(map(repr, form.needs))
        raise StructureError(f"{path!r} does not describe {form.said}: the entry {needed} is missing. Add it.")
    try:
        made: Structure = form.make(**entries)
    except SufficeError as error:
        raise StructureError(f"{path!r} does not describe {form.said}: ", error.message) from None
    return made


def _structure_of(thing: Model | Fit) -> Structure:
    """Return the structure of a model, of a fit, or of what is a structure already."""
    for attribute in ("structure", "features", "dag", "hypotheses", "cliques"):  # features have cliques, too
        if hasattr(thing, attribute):
            found: Structure = getattr(thing, attribute)
            return found
    raise StructureError(f"{type(thing).__name__} has no structure that could be fitted. Pass a model or a fit.")
