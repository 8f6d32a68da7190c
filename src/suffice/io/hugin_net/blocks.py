"""The blocks of a HUGIN NET file: what each of them says, before it is known whether they fit each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from suffice.io.syntax.braces_file import BracesEntry, BracesFile, KeyValue, Word
from suffice.io.syntax.braces_kept import Kept, is_clean, named, take
from suffice.io.syntax.marked_text import Span
from suffice.text import shorten

_BLOCK = re.compile(
    r"(?:(?P<sort>discrete|continuous|function|temporal)\s++)?"
    r"(?P<kind>net|class|node|decision|utility|function|instance|potential)\b\s*+"
)
_PARENTHESES = re.compile(r"\(([^()|]*+)(?:\|([^()|]*+))?+\)\s*+")
_OTHER_KINDS = ("decision", "utility", "function", "instance")


@dataclass(frozen=True)
class NodeBlock:
    """A node with its states."""

    word: Word
    name: str
    states: tuple[str, ...]
    properties: list[KeyValue]
    kept: Kept


@dataclass(frozen=True)
class PotentialBlock:
    """The numbers of a node, if it has any."""

    at: int
    child: Word
    parents: list[Word]
    data: KeyValue | None
    properties: list[KeyValue]


@dataclass
class HuginDocument:
    """All blocks of a file."""

    name: str | None = None
    properties: list[KeyValue] = field(default_factory=list)
    kept: Kept = field(default_factory=Kept)
    nodes: dict[str, NodeBlock] = field(default_factory=dict)
    potentials: list[PotentialBlock] = field(default_factory=list)


def parse(file: BracesFile) -> HuginDocument:
    """Return the blocks of a file."""
    start = file.visible(0)
    if not _BLOCK.match(file.shape, start):
        raise file.error(
            start,
            f"This does not look like a HUGIN NET file, which begins with 'net {{' or 'class name {{'. "
            f"Got {file.excerpt(start)} instead. Several programs call other formats .net, too.",
        )
    document = HuginDocument()
    _add_blocks(file, document, list(file.entries()))
    return document


def _add_blocks(
    file: BracesFile, document: HuginDocument, entries: Iterable[BracesEntry], inside: bool = False
) -> None:
    attributes = []
    for entry in entries:
        found = _BLOCK.match(file.shape, *entry.head)
        if entry.body is None and inside:
            attributes.append(_assignment(file, entry))
        elif found is None or entry.body is None:
            raise file.error(
                entry.at, f"Expected a block, 'node name {{' or 'potential (name) {{'. Got {file.excerpt(entry.at)}."
            )
        elif found["kind"] == "net" and not inside:
            _add_net(file, document, entry, (found.end(), entry.head[1]), entry.body)
        elif found["kind"] == "class" and not inside:
            document.name = _single_name(file, entry, (found.end(), entry.head[1]), "class").text
            _add_blocks(file, document, list(file.entries(entry.body)), True)
        elif found["kind"] == "potential":
            document.potentials.append(_potential(file, entry, (found.end(), entry.head[1]), entry.body))
        else:
            _add_node(file, document, entry, found, entry.body)
    _add_attributes(file, document, attributes)


def _add_net(file: BracesFile, document: HuginDocument, entry: BracesEntry, head: Span, body: Span) -> None:
    for word in file.words(head):
        raise file.error(
            word.at,
            f"A HUGIN NET file begins with 'net {{'. Got {shorten(word.text)!r} before the brace instead; files with "
            "'net name {' are GeNIe's DSL. Give them the ending .dsl.",
        )
    _add_attributes(file, document, [_assignment(file, inner) for inner in file.entries(body)])


def _add_attributes(file: BracesFile, document: HuginDocument, attributes: list[KeyValue]) -> None:
    for found in take(file, attributes, document.kept, ("property",)):
        if found.key == "name":
            words = file.words(found.value) if file.is_text(found.value) else ()
            document.name = words[0].text if words else file.clean[slice(*found.value)]
        else:
            document.properties.append(found)


def _assignment(file: BracesFile, entry: BracesEntry) -> KeyValue:
    found = file.assignment(entry)
    if found is None or entry.body:
        raise file.error(entry.at, f"Expected 'key = value;' in this block. Got {file.excerpt(entry.at)} instead.")
    return found


def _single_name(file: BracesFile, entry: BracesEntry, head: Span, kind: str) -> Word:
    words = file.words(head)
    if len(words) != 1 or not words[0].text:
        raise file.error(
            entry.at, f"A {kind} has one name, '{kind} name {{'. Got {shorten(file.clean[slice(*head)].strip())!r}."
        )
    return words[0]


# Nodes and potentials -----------------------------------------------------------------------------------------


def _add_node(file: BracesFile, document: HuginDocument, entry: BracesEntry, found: re.Match[str], body: Span) -> None:
    kind = found["kind"] if found["kind"] in _OTHER_KINDS else found["sort"] or found["kind"]
    if kind not in ("node", "discrete"):
        raise file.error(
            entry.at,
            f"{shorten(file.clean[slice(*entry.head)].strip())!r} is no discrete chance node, 'node name {{' or "
            "'discrete node name {', and no others can be read. Remove it in HUGIN first.",
        )
    word = _single_name(file, entry, (found.end(), entry.head[1]), "node")
    if word.text in document.nodes:
        before = file.line(document.nodes[word.text].word.at)
        raise file.error(word.at, f"Node {word.text!r} was given at line {before} already. Remove one of them.")
    kept = Kept()
    found_all = [_assignment(file, inner) for inner in file.entries(body)]
    found_all = take(file, found_all, kept, ("name", "property", "potential"))
    states = only(file, found_all, "states")
    if states is None:
        raise file.error(word.at, f'Node {word.text!r} has no states. Add \'states = ("no" "yes");\'.')
    labels = tuple(state.text for state in file.words(states.value))
    if not file.is_list(states.value) or not labels:
        raise file.error(
            states.at, f'Node {word.text!r}: states are a list in parentheses, \'states = ("no" "yes");\'. Add one.'
        )
    name = named(word.text, kept.name)
    properties = [
        each for each in found_all if each is not states and not (name == kept.name and _is_label(file, each, name))
    ]
    document.nodes[word.text] = NodeBlock(word, name, labels, properties, kept)


def _is_label(file: BracesFile, found: KeyValue, name: str) -> bool:
    """Whether this is the label that the writer made of a name."""
    return is_clean(name) and file.written(found) == f'label = "{name}"'


def _potential(file: BracesFile, entry: BracesEntry, head: Span, body: Span) -> PotentialBlock:
    scope = _PARENTHESES.fullmatch(file.shape, *head)
    children = file.words(scope.span(1)) if scope else []
    if scope is None or len(children) != 1:
        got = f"Got {len(children)} children" if scope else f"Got {shorten(file.clean[slice(*head)].strip())!r}"
        raise file.error(
            entry.at,
            f"A potential is of one child given its parents, 'potential (child | parent parent) {{'. {got} instead.",
        )
    parents = file.words(scope.span(2)) if scope[2] is not None else []
    found = [_assignment(file, inner) for inner in file.entries(body)]
    data = only(file, found, "data")
    return PotentialBlock(entry.at, children[0], parents, data, [each for each in found if each is not data])


def only(file: BracesFile, found: Iterable[KeyValue], key: str) -> KeyValue | None:
    """Return the assignment of a key, of which there may be one only."""
    result = None
    for each in found:
        if each.key == key and result is not None:
            raise file.error(each.at, f"{key!r} was given at line {file.line(result.at)} already. Remove one of them.")
        result = each if each.key == key else result
    return result
