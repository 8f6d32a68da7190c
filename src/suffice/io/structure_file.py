"""Structures for the command line: text, a model file, or a structure file in TOML or JSON.

A structure file names its type and what the type needs::

    type = "DAG"                              type = "Hypotheses"
    graph = "H -> A; H -> B"                  over = "number"
    tie = [["A", "B"]]                        [sets]
    latent = { H = 3 }                        even = [2, 4, 6, 8]
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from suffice.errors import FileFormatError, StructureError
from suffice.files import read_bytes
from suffice.io import read
from suffice.structures.dag import DAG
from suffice.structures.hypotheses import Hypotheses


def _dag(entry: Mapping[str, Any]) -> DAG:
    return DAG(entry["graph"], **{name: value for name, value in entry.items() if name not in ("type", "graph")})


def _hypotheses(entry: Mapping[str, Any]) -> Hypotheses:
    return Hypotheses(**{name: value for name, value in entry.items() if name != "type"})


TYPES: dict[str, Callable[[Mapping[str, Any]], Any]] = {"DAG": _dag, "Hypotheses": _hypotheses}


def read_structure(text: str) -> Any:
    """Read a structure from text or from a file.

    >>> read_structure("A -> B").edges
    [('A', 'B')]
    """
    ending = os.path.splitext(text)[1].lower()
    if ending in (".toml", ".json"):
        return _from_file(text, ending)
    if os.path.exists(text) and not os.path.isdir(text):
        return _structure_of(read(text))
    return DAG(text)


def _from_file(path: str, ending: str) -> Any:
    content = read_bytes(path)
    try:
        entry = tomllib.loads(content.decode("utf-8-sig")) if ending == ".toml" else json.loads(content)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path!r} is not valid {ending[1:].upper()}: {error}.") from None
    if isinstance(entry, dict) and entry.get("format") == "suffice":
        return _structure_of(read(path))
    kind = entry.get("type") if isinstance(entry, dict) else None
    if kind not in TYPES:
        raise FileFormatError(f"{path!r} must name its type, one of {list(TYPES)}. Got {kind!r} instead.")
    try:
        return TYPES[kind](entry)
    except (TypeError, KeyError, AttributeError) as error:
        raise StructureError(f"{path!r} does not describe a {kind}: {error}.") from None


def _structure_of(thing: Any) -> Any:
    """Return the structure of a model, of a fit, or of what is a structure already."""
    for attribute in ("structure", "dag", "hypotheses"):
        if hasattr(thing, attribute):
            return getattr(thing, attribute)
    raise StructureError(f"{type(thing).__name__} has no structure that could be fitted.")
