"""Writing HUGIN NET."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from suffice.io.hugin_net.tables import written_table
from suffice.io.network_file import network_of, rows_of
from suffice.io.syntax.braces_file import PERCENT, quoted
from suffice.io.syntax.braces_kept import identifiers, is_clean, numbered, own, parted, reads_back
from suffice.io.text_file import write_text
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import CPD
from suffice.models.model import Model
from suffice.result.fit import Fit

BLOCKS = ("net", "class", "node", "discrete", "continuous", "temporal", "decision", "utility", "function", "instance")
KEYWORDS = frozenset((*BLOCKS, "potential", "data", "experience", "fading", "normal"))
RESERVED = frozenset(("name", "states", "data", "samples_per_interval"))
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
# What all programs can skip: a text, an identifier, or a list of texts, identifiers and numbers.
_TEXT = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_ATTRIBUTE = re.compile(
    rf"(?:experience|fading) = [0-9.+-]++|[A-Za-z_][A-Za-z0-9_]*+ = "
    rf"(?:{_TEXT}|[A-Za-z_][A-Za-z0-9_.]*+|\((?:[A-Za-z0-9_.+()\s-]++|{_TEXT})++(?<=\)))",
    re.DOTALL | re.ASCII,
)


def write(thing: Model | Fit, path: str) -> None:
    """Write a network, or the network of a fit; see `suffice.io.hugin_net`."""
    write_text(path, "".join(f"{line}\n" for line in _lines(network_of(thing, ".net"))))


def _lines(model: BayesianNetwork) -> Iterator[str]:
    properties = model.properties
    names = identifiers(model.variables, _is_identifier)
    texts, others = _parted(properties.get("network"))
    yield from ("net", "{")
    if properties.get("name"):
        yield f"    name = {quoted(str(properties['name']))};"
    yield from _attributes(texts, numbered("property", others))
    yield "}"
    tables = properties.get("probabilities") or {}
    for cpd in model.cpds:
        name = cpd.family.child.name
        variable = (properties.get("variables") or {}).get(name)
        yield from _node_lines(cpd, names[name], variable, _parted(tables.get(name))[1])
    for cpd in model.cpds:
        yield from _potential_lines(cpd, names, _parted(tables.get(cpd.family.child.name))[0])


def _is_identifier(name: str) -> bool:
    return _IDENTIFIER.fullmatch(name) is not None and name not in KEYWORDS


def _node_lines(cpd: CPD, identifier: str, properties: Iterable[str] | None, of_table: dict[int, str]) -> Iterator[str]:
    child = cpd.family.child
    made = f"label = {quoted(child.name)}" if identifier != child.name and is_clean(child.name) else ""
    texts, others = _parted(properties, made)
    yield from ("", f"node {identifier}", "{")
    yield f"    states = ({' '.join(quoted(str(label)) for label in child.labels)});"
    if made and not any(text.startswith("label = ") for text in texts):
        yield f"    {made};"
    if identifier != child.name:
        yield f"    {own('suffice_name', child.name)};"
    yield from _attributes(texts, numbered("property", others), numbered("potential", of_table))
    yield "}"


def _potential_lines(cpd: CPD, names: dict[str, str], texts: list[str]) -> Iterator[str]:
    child, parents = cpd.family.child, cpd.family.parents
    above = f" | {' '.join(names[parent.name] for parent in parents)}" if parents else ""
    yield from ("", f"potential ({names[child.name]}{above})", "{")
    lines = list(written_table(rows_of(cpd), [parent.n_states for parent in parents]))
    for i, line in enumerate(lines):
        yield f"{'           ' if i else '    data = '}{line}{';' if i == len(lines) - 1 else ''}"
    yield from _attributes(texts)
    yield "}"


# Properties ---------------------------------------------------------------------------------------------------


def _parted(texts: Iterable[str] | None, made: str = "") -> tuple[list[str], dict[int, str]]:
    """Part properties into those that can be written as they are, of which ``made`` is none, and the others."""
    return parted([str(text) for text in texts or ()], lambda text: text != made and _is_attribute(text))


def _is_attribute(text: str) -> bool:
    key = text.partition(" = ")[0]
    if key in RESERVED or key.startswith("model_") or not _ATTRIBUTE.fullmatch(text):
        return False
    return reads_back(text, PERCENT)


def _attributes(*texts: Iterable[str]) -> Iterator[str]:
    return (f"    {text};" for part in texts for text in part)
