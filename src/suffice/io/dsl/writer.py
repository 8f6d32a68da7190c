"""Writing DSL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from suffice.io.dsl.blocks import ESSENTIAL
from suffice.io.network_file import network_of, rows_of
from suffice.io.syntax.braces_file import SLASHES
from suffice.io.syntax.braces_kept import identifiers, is_clean, numbered, own, parted, reads_back
from suffice.io.text_file import write_text
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import CPD
from suffice.models.model import Model
from suffice.result.fit import Fit

# GeNIe writes, and aGrUM needs, first the header with the name; then what goes before the user properties; those and
# what follows them; then the nodes of a network, or the parents and numbers of a node; and then the rest.
N_ZONES = 5
AFTER_USER = ("USER_PROPERTIES", "DOCUMENTATION", "SHOWAS")
AT_END = ("EXTRA_DEFINITION", "OBSERVATION_COST")
BEFORE_USER = ("CREATION", "NUMSAMPLES", "SCREEN", "WINDOWPOSITION", "BKCOLOR")
KEYWORDS = frozenset(
    ("net", "node", "ID", "NAME", "HEADER", "DEFINITION", *ESSENTIAL, *BEFORE_USER, *AFTER_USER, *AT_END)
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_OF_DIGITS = re.compile(r"-?[0-9]++|[0-9]++[A-DF-Za-df-z_][A-Za-z0-9_]*+")
_PROPERTY = re.compile(r"(?:HEADER\.(?!ID )|DEFINITION\.)?([A-Z][A-Z0-9_]*+) = .*", re.DOTALL)


def write(thing: Model | Fit, path: str) -> None:
    """Write a network, or the network of a fit; see `suffice.io.dsl`."""
    write_text(path, "".join(f"{line}\n" for line in _lines(network_of(thing, ".dsl"))))


def _lines(model: BayesianNetwork) -> Iterator[str]:
    name = str(model.properties.get("name") or "unknown")
    identifier = identifiers([name], _is_identifier)[name]
    ours = [own("suffice_name", name)] if identifier != name else []
    zones, ours = _zones(model.properties.get("network"), ours, (identifier, name))
    yield from (f"net {identifier}", "{")
    yield from _head(1, identifier, name, zones, ours)
    names = identifiers(model.variables, _is_identifier)
    for cpd, place in _in_order(model):
        yield from _node_lines(model, cpd, names, place)
    yield from _statements(1, zones[4])
    yield "};"


def _in_order(model: BayesianNetwork) -> Iterator[tuple[CPD, list[str]]]:
    """Yield parents before children, and the place of each node where that is not the network's own order."""
    places = {name: i for i, name in enumerate(model.variables)}
    proper = all(places[parent] < places[node] for node, above in model.dag.parents.items() for parent in above)
    for name in model.variables if proper else model.dag.order:
        yield model.cpd(name), [] if proper else [own("suffice_place", str(places[name]))]


def _node_lines(model: BayesianNetwork, cpd: CPD, names: Mapping[str, str], ours: list[str]) -> Iterator[str]:
    child = cpd.family.child
    labels = [str(label) for label in child.labels]
    states = identifiers(labels, _is_state)
    of_table, more = parted(_texts((model.properties.get("probabilities") or {}).get(child.name)), _is_of_table)
    if names[child.name] != child.name:
        ours = [own("suffice_name", child.name), *ours]
    ours += numbered("state", {i: label for i, label in enumerate(labels, 1) if states[label] != label})
    ours += numbered("potential", more)
    properties = (model.properties.get("variables") or {}).get(child.name)
    zones, ours = _zones(properties, ours, (names[child.name], child.name))
    yield from ("", f" node {names[child.name]}", "  {", "   TYPE = CPT;")
    yield from _head(3, names[child.name], child.name, zones, ours)
    yield f"   PARENTS = ({', '.join(names[parent.name] for parent in cpd.family.parents)});"
    yield from ("   DEFINITION =", "    {", f"     NAMESTATES = ({', '.join(states[label] for label in labels)});")
    rows = [", ".join(map(repr, row)) for row in rows_of(cpd).tolist()]
    yield f"     PROBABILITIES = ({(',' + chr(10) + ' ' * 6).join(rows)});"
    yield from _statements(5, (text.removeprefix("DEFINITION.") for text in of_table))
    yield "    };"
    yield from _statements(3, zones[4])
    yield "  };"


def _head(indent: int, identifier: str, name: str, zones: list[list[str]], ours: list[str]) -> Iterator[str]:
    """Yield what comes before the nodes of a network or before the parents of a node."""
    shown = zones[0] or [f'NAME = "{name if is_clean(name) else identifier}"']
    header = (text.removeprefix("HEADER.") for text in (*shown, *zones[1]))
    yield from _block(indent, "HEADER", [f"ID = {identifier}", *header])
    yield from _statements(indent, zones[2])
    if ours:
        yield from _block(indent, "USER_PROPERTIES", ours)
    yield from _statements(indent, zones[3])


def _block(indent: int, key: str, texts: Iterable[str]) -> Iterator[str]:
    blanks = " " * indent
    yield from (f"{blanks}{key} =", f"{blanks} {{")
    yield from _statements(indent + 2, texts)
    yield f"{blanks} }};"


def _statements(indent: int, texts: Iterable[str]) -> Iterator[str]:
    return (f"{' ' * indent}{text};" for text in texts)


# Names and properties -----------------------------------------------------------------------------------------


def _is_identifier(name: str) -> bool:
    return _IDENTIFIER.fullmatch(name) is not None and name not in KEYWORDS


def _is_state(name: str) -> bool:
    return _is_identifier(name) or _OF_DIGITS.fullmatch(name) is not None


def _zones(texts: Iterable[str] | None, ours: list[str], names: tuple[str, str]) -> tuple[list[list[str]], list[str]]:
    """Return the properties that can be written as they are, by their zones, and what goes into USER_PROPERTIES."""
    plain, others = parted(_texts(texts), _Fits(False, names))
    if ours or others:
        plain, others = parted(_texts(texts), _Fits(True, names))
    zones: list[list[str]] = [[] for _ in range(N_ZONES)]
    zone = 0
    for text in plain:
        zone = max(zone, _zone(text))
        zones[zone].append(text)
    return zones, [*ours, *numbered("property", others)]


def _texts(texts: Iterable[str] | None) -> list[str]:
    return [str(text) for text in texts or ()]


def _zone(text: str) -> int:
    key = text.partition(" = ")[0]
    if key.startswith("HEADER."):
        return 0 if key == "HEADER.NAME" else 1
    return 3 if key in AFTER_USER else 4 if key in AT_END else 2


class _Fits:
    """Tells, of one property after the other, which can be written as it is; what is of the header comes first.

    User properties cannot be where our own have to be, or seem to be; nor can names be told from those that are made.
    """

    def __init__(self, has_own: bool, names: tuple[str, str]) -> None:
        self.has_own, self.zone = has_own, 0
        self.made = [f'HEADER.NAME = "{name}"' for name in names]

    def __call__(self, text: str) -> bool:
        zone = _zone(text)
        barred = text.startswith("USER_PROPERTIES = ") and (self.has_own or "suffice_" in text)
        if (
            barred
            or text in self.made
            or zone < min(self.zone, 2)
            or text.startswith("DEFINITION.")
            or not _is_property(text)
        ):
            return False
        self.zone = max(self.zone, zone)
        return True


def _is_of_table(text: str) -> bool:
    return text.startswith("DEFINITION.") and _is_property(text)


def _is_property(text: str) -> bool:
    found = _PROPERTY.fullmatch(text)
    return found is not None and found[1] not in (*ESSENTIAL, "HEADER", "DEFINITION") and reads_back(text, SLASHES)
