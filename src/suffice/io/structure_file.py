"""Structures for the command line: text, a model file, or a structure file in TOML or JSON.

A structure file names its type and what the type needs::

    type = "DAG"                              type = "Hypotheses"
    graph = "H -> A; H -> B"                  over = "number"
    tie = [["A", "B"]]                        [sets]
    latent = { H = 3 }                        even = [2, 4, 6, 8]

    type = "Cliques"                          type = "Cliques"
    graph = "A:B + B:C + 'M. Work'"           graph = { A = ["B", "C"], B = ["C"] }
                                              take = "pairwise"
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from typing import Any, NamedTuple

from suffice.errors import FileFormatError, StructureError, SufficeError, listing, shown, suggestion
from suffice.files import read_bytes
from suffice.io import read
from suffice.structures.cliques import Cliques
from suffice.structures.cliques_text import is_written_as_cliques
from suffice.structures.dag import DAG
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.structures.hypotheses import Hypotheses


class Kind(NamedTuple):
    """A type of structure: what makes it, the entry it needs, and those it may have."""

    make: Callable[..., Any]
    needs: str
    takes: tuple[str, ...]


TYPES: dict[str, Kind] = {
    "Cliques": Kind(Cliques, "graph", ("take",)),
    "DAG": Kind(DAG, "graph", ("latent", "kinds", "tie")),
    "GaussianMarkov": Kind(GaussianMarkov, "graph", ()),
    "Hypotheses": Kind(Hypotheses, "sets", ("over",)),
}


def read_structure(text: str) -> Any:
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


def _from_file(path: str, ending: str) -> Any:
    content = read_bytes(path)
    try:
        text = content.decode("utf-8-sig")
        entry = tomllib.loads(text) if ending == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path!r} is not valid {ending[1:].upper()}: {error}. Correct it.") from None
    if isinstance(entry, dict) and entry.get("format") == "suffice":
        return _structure_of(read(path))
    kind = entry.get("type") if isinstance(entry, dict) else None
    if not isinstance(kind, str) or kind not in TYPES:
        raise FileFormatError(f"{path!r} must name its type, one of {list(TYPES)}. Got {shown(kind)} instead.")
    return _structure(path, kind, {name: value for name, value in entry.items() if name != "type"})


def _structure(path: str, name: str, entries: dict[str, Any]) -> Any:
    kind = TYPES[name]
    if kind.needs not in entries:
        raise StructureError(f"{path!r} does not describe a {name}: the entry {kind.needs!r} is missing. Add it.")
    for entry in entries:
        if entry not in (kind.needs, *kind.takes):
            raise StructureError(
                f"{path!r} does not describe a {name}: it has no entry {entry!r}, only "
                f"{listing((kind.needs, *kind.takes))}.{suggestion(entry, kind.takes)}"
            )
    try:
        return kind.make(**entries)
    except SufficeError as error:
        raise StructureError(f"{path!r} does not describe a {name}: {error}") from None


def _structure_of(thing: Any) -> Any:
    """Return the structure of a model, of a fit, or of what is a structure already."""
    for attribute in ("structure", "dag", "hypotheses", "cliques"):
        if hasattr(thing, attribute):
            return getattr(thing, attribute)
    raise StructureError(f"{type(thing).__name__} has no structure that could be fitted. Pass a model or a fit.")
