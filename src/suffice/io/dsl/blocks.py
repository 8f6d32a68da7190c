"""The blocks of a DSL file: what each of them says, before it is known whether they fit each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from suffice.io.syntax.braces_file import BracesEntry, BracesFile, KeyValue, Word
from suffice.io.syntax.braces_kept import Kept, named, take
from suffice.io.syntax.marked_text import Span
from suffice.text import shorten

_NET = re.compile(r"net\b")
_NODE = re.compile(r"node\b")
ESSENTIAL = ("TYPE", "PARENTS", "NAMESTATES", "PROBABILITIES", "RESULTINGSTATES")


@dataclass
class DslBlock:
    """What a network or a node says.

    Attributes
    ----------
    word : Word
        Its identifier, and where it stands.
    essential : dict
        The type, the parents, the states and the numbers of a node.
    texts, of_table : list of str
        Everything else, as properties.
    kept : Kept
    kinds : tuple of str
        The kinds of attributes of our own that it may have.
    """

    word: Word
    essential: dict[str, KeyValue] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    of_table: list[str] = field(default_factory=list)
    kept: Kept = field(default_factory=Kept)
    kinds: tuple[str, ...] = ("name", "place", "state", "property", "potential")

    @property
    def name(self) -> str:
        """The name, which the identifier may only stand for."""
        return named(self.word.text, self.kept.name)


def parse(file: BracesFile) -> tuple[DslBlock, dict[str, DslBlock]]:
    """Return the network and its nodes by their identifiers."""
    start = file.visible(0)
    if not _NET.match(file.shape, start):
        raise file.error(
            start, f"This does not look like a DSL file, which begins with 'net name {{'. Got {file.excerpt(start)}."
        )
    whole, *others = file.entries()
    for entry in others:
        raise file.error(entry.at, f"The network has ended before {file.excerpt(entry.at)}. A DSL file holds one.")
    if whole.body is None:
        raise file.error(start, "A DSL file begins with 'net name {'. Its '{' is missing.")
    network, nodes = DslBlock(_name(file, whole, "net"), kinds=("name", "property")), dict[str, DslBlock]()
    found = []
    for entry in file.entries(whole.body):
        if _NODE.match(file.shape, *entry.head) and not file.assignment(entry):
            node = _node(file, entry)
            if node.word.text in nodes:
                before = file.line(nodes[node.word.text].word.at)
                raise file.error(
                    node.word.at, f"Node {node.word.text!r} was given at line {before} already. Remove one of them."
                )
            nodes[node.word.text] = node
        else:
            found.append(_assignment(file, entry))
    _fill(file, network, found)
    return network, nodes


def _node(file: BracesFile, entry: BracesEntry) -> DslBlock:
    if entry.body is None:
        raise file.error(entry.at, "This node has no '{' after its name. Write 'node name {'.")
    node = DslBlock(_name(file, entry, "node"))
    _fill(file, node, _assignments(file, entry.body))
    return node


def _name(file: BracesFile, entry: BracesEntry, kind: str) -> Word:
    head = (entry.at + len(kind), entry.head[1])
    words = file.words(head)
    if kind == "net" and not words:
        raise file.error(
            entry.at,
            "A DSL file begins with 'net name {', and this one has no name; it may be HUGIN's NET. Give it the "
            "ending .net.",
        )
    if len(words) != 1 or not words[0].text:
        raise file.error(
            entry.at, f"A {kind} has one name, '{kind} name {{'. Got {shorten(file.clean[slice(*head)].strip())!r}."
        )
    return words[0]


def _assignments(file: BracesFile, body: Span) -> Iterator[KeyValue]:
    return (_assignment(file, entry) for entry in file.entries(body))


def _assignment(file: BracesFile, entry: BracesEntry) -> KeyValue:
    found = file.assignment(entry)
    if found is None:
        raise file.error(entry.at, f"Expected 'KEY = value;' in this block. Got {file.excerpt(entry.at)} instead.")
    return found


# What a block says --------------------------------------------------------------------------------------------


def _fill(file: BracesFile, block: DslBlock, found: Iterable[KeyValue]) -> None:
    for each in found:
        if each.key == "HEADER" and each.body:
            _add_header(file, block, each.body)
        elif each.key == "DEFINITION" and each.body:
            for inner in _assignments(file, each.body):
                _add(file, block, inner, "DEFINITION.", block.of_table)
        elif each.key == "USER_PROPERTIES" and each.body:
            _add_user_properties(file, block, each, each.body)
        else:
            _add(file, block, each, "", block.texts)
    usual = [f'HEADER.NAME = "{name}"' for name in (block.word.text, block.name)]
    block.texts = sorted((text for text in block.texts if text not in usual), key=_header_first)


def _header_first(text: str) -> int:
    return 0 if text.startswith("HEADER.NAME = ") else 1 if text.startswith("HEADER.") else 2


def _add(file: BracesFile, block: DslBlock, found: KeyValue, prefix: str, texts: list[str]) -> None:
    if found.key not in ESSENTIAL:
        texts.append(prefix + file.written(found))
    elif found.key in block.essential:
        before = file.line(block.essential[found.key].at)
        raise file.error(found.at, f"{found.key!r} was given at line {before} already. Remove one of them.")
    else:
        block.essential[found.key] = found


def _add_header(file: BracesFile, block: DslBlock, body: Span) -> None:
    for inner in _assignments(file, body):
        if inner.key != "ID":
            block.texts.append("HEADER." + file.written(inner))
        elif file.clean[slice(*inner.value)] != block.word.text:
            raise file.error(
                inner.at,
                f"The ID, {shorten(file.clean[slice(*inner.value)])!r}, differs from the name of the block, "
                f"{shorten(block.word.text)!r}. Make them equal.",
            )


def _add_user_properties(file: BracesFile, block: DslBlock, found: KeyValue, body: Span) -> None:
    """Take the properties of our own, and keep the others as they are."""
    if "suffice_" not in file.clean[slice(*body)]:
        block.texts.append(file.written(found))
        return
    others = take(file, _assignments(file, body), block.kept, block.kinds)
    if others:
        block.texts.append(f"USER_PROPERTIES = {{ {' '.join(f'{file.written(each)};' for each in others)} }}")
