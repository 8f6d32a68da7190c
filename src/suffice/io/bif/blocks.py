"""The blocks of a BIF file: what each of them says, before it is known whether they fit each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from suffice.errors import FileFormatError
from suffice.io.bif.lexer import BifText, Name, scan, written_name
from suffice.io.syntax.marked_text import Span
from suffice.text import shorten

_KEYWORD = re.compile(r"(network|variable|probability)\b")
_BLOCK = re.compile(rf"\s*+{_KEYWORD.pattern}([^{{}};]*+)\{{")
_TYPE = re.compile(r"\s*+discrete\s*+\[\s*+([0-9]++)\s*+\]\s*+\{(.*)\}\s*+", re.DOTALL)
_PARENTHESES = re.compile(r"\s*+\((.*)\)\s*+", re.DOTALL)
# Some programs forget the semicolon of a property; the next line then tells that it has ended.
_PROPERTY = r"property\b(?P<property>(?:[^;\n]|\n(?![ \t]*+(?:property\b|\})))*+)[;\n]"
_STATEMENT = {
    "network": re.compile(rf"\s*+(?:{_PROPERTY}|(?P<end>\}}))"),
    "variable": re.compile(rf"\s*+(?:type\b(?P<type>[^;]*+);|{_PROPERTY}|(?P<end>\}}))"),
    "probability": re.compile(
        r"\s*+(?:\((?P<states>[^;]*)\)(?P<row>[^;()]*+);"
        rf"|table\b(?P<table>[^;]*+);|default\b(?P<default>[^;]*+);|{_PROPERTY}|(?P<end>\}}))"
    ),
}
_EXPECTED = {
    "network": "'property' or '}'",
    "variable": "'type', 'property' or '}'",
    "probability": "'(', 'table', 'default', 'property' or '}'",
}


class Row(NamedTuple):
    """The numbers of one parent configuration."""

    states: Span
    numbers: Span


@dataclass(frozen=True)
class VariableBlock:
    """A variable with its states."""

    name: Name
    states: tuple[str, ...]
    properties: list[str]


@dataclass
class ProbabilityBlock:
    """The numbers of a node: a table, or rows with or without a default."""

    at: int
    names: Span
    rows: list[Row] = field(default_factory=list)
    table: Span | None = None
    default: Span | None = None
    properties: list[str] = field(default_factory=list)


@dataclass
class BifDocument:
    """All blocks of a file."""

    name: str | None = None
    properties: list[str] = field(default_factory=list)
    variables: dict[str, VariableBlock] = field(default_factory=dict)
    probabilities: list[ProbabilityBlock] = field(default_factory=list)


def parse(source: BifText) -> BifDocument:
    """Return the blocks of a file."""
    document, at = BifDocument(), 0
    while source.visible(at) < len(source.text):
        block = _BLOCK.match(source.shape, at)
        if block is None:
            raise _no_block(source, at)
        statements, at = _statements(source, block)
        if block[1] == "network":
            _add_network(source, document, block, statements)
        elif block[1] == "variable":
            _add_variable(source, document, block, statements)
        else:
            document.probabilities.append(_probability(source, block, statements))
    if document.name is None:
        raise source.error(0, "The file has no network block. A BIF file begins with 'network name { }'.")
    return document


def _no_block(source: BifText, at: int) -> FileFormatError:
    here = source.visible(at)
    if _KEYWORD.match(source.shape, here):
        return source.error(
            here, "This block has no '{' after its name. The file may be cut off; write or copy it again."
        )
    return source.error(
        here,
        f"Expected 'network', 'variable' or 'probability'. Got {source.excerpt(here)} instead. "
        "Put other text into a comment, // or /* */.",
    )


def _statements(source: BifText, block: re.Match[str]) -> tuple[list[re.Match[str]], int]:
    """Return what stands between the braces of a block, and where the block ends."""
    statement, at = _STATEMENT[block[1]], block.end()
    found: list[re.Match[str]] = []
    while match := statement.match(source.shape, at):
        at = match.end()
        if match.lastgroup == "end":
            return found, at
        found.append(match)
    here = source.visible(at)
    start = source.visible(block.start())
    if source.shape.find(";", here) < 0:
        raise source.error(
            here,
            f"The file ends inside the block that begins at line {source.line(start)}; a ';' or a '}}' is missing. "
            "The file may be cut off; write or copy it again.",
        )
    raise source.error(
        here, f"Expected {_EXPECTED[block[1]]} in a {block[1]} block. Got {source.excerpt(here)} instead."
    )


def _add_network(source: BifText, document: BifDocument, block: re.Match[str], statements: list[re.Match[str]]) -> None:
    name = source.name(block.span(2))
    if document.name is not None:
        raise source.error(source.visible(block.start()), "A second network block. A BIF file holds one network.")
    document.name = name.text
    document.properties = list(_properties(source, statements))


def _add_variable(
    source: BifText, document: BifDocument, block: re.Match[str], statements: list[re.Match[str]]
) -> None:
    name = source.name(block.span(2))
    if not name.text:
        raise source.error(source.visible(block.start()), "This variable has no name. Write 'variable name {'.")
    if name.text in document.variables:
        before = source.line(document.variables[name.text].name.at)
        raise source.error(
            name.at, f"Variable {name.text!r} was declared at line {before} already. Remove one of them."
        )
    types = [match for match in statements if match.lastgroup == "type"]
    if len(types) != 1:
        raise source.error(
            name.at, f"Variable {name.text!r} needs one 'type discrete [ n ] {{ … }};'. It has {len(types)}."
        )
    states = _states(source, name.text, types[0])
    document.variables[name.text] = VariableBlock(name, states, list(_properties(source, statements)))


def _states(source: BifText, variable: str, match: re.Match[str]) -> tuple[str, ...]:
    declared = _TYPE.fullmatch(source.shape, *match.span("type"))
    if declared is None:
        raise source.error(
            source.visible(match.start()),
            f"Variable {variable!r}: a type is 'type discrete [ 2 ] {{ no, yes }};'. BIF has discrete variables only.",
        )
    n_states, span = declared[1].lstrip("0") or "0", declared.span(2)
    names = source.names(span)
    if str(len(names)) != n_states:
        names = words if str(len(words := source.words(span))) == n_states else names
    if str(len(names)) != n_states:
        raise source.error(
            declared.start(1),
            f"Variable {variable!r} is declared with {shorten(n_states)} states, but {len(names)} are listed. "
            "Put names that contain commas between quotation marks.",
        )
    if not names:
        raise source.error(declared.start(1), f"Variable {variable!r} has no states. It needs at least one.")
    first: dict[str, None] = {}
    for name in names:
        if name.text in first:
            raise source.error(name.at, f"Variable {variable!r}: state {name.text!r} is listed more than once.")
        first[name.text] = None
    return tuple(first)


def _probability(source: BifText, block: re.Match[str], statements: list[re.Match[str]]) -> ProbabilityBlock:
    at = source.visible(block.start())
    names = _PARENTHESES.fullmatch(source.shape, *block.span(2))
    if names is None:
        raise source.error(at, "A probability block begins with 'probability ( child | parent, parent ) {'.")
    properties = list(_properties(source, statements))
    rows, single = list[Row](), dict[str, Span]()
    for match in statements:
        kind = match.lastgroup
        if kind == "row":
            rows.append(Row(match.span("states"), match.span("row")))
        elif kind in ("table", "default"):
            if kind in single:
                raise source.error(source.visible(match.start()), f"A second {kind} in this block. Remove one of them.")
            single[kind] = match.span(kind)
    result = ProbabilityBlock(at, names.span(1), rows, single.get("table"), single.get("default"), properties)
    if result.table and (result.rows or result.default):
        raise source.error(at, "This block has a table beside other entries. Keep the table, or the other entries.")
    return result


# Properties ---------------------------------------------------------------------------------------------------


def _properties(source: BifText, statements: list[re.Match[str]]) -> Iterator[str]:
    for match in statements:
        if match.lastgroup == "property":
            yield _property(source, match.span("property"))


def _property(source: BifText, span: Span) -> str:
    """Return the text of a property, its quotation marks included unless `written_property` put them there."""
    text = source.clean[slice(*span)].strip()
    name = source.name(span).text
    return text if name == text or _is_plain(name) else name


def _is_plain(text: str) -> bool:
    """Whether a property can be written as it is, and is read back as it was."""
    try:
        source = scan("", f"\nproperty {text};")
    except FileFormatError:
        return False
    match = _STATEMENT["network"].match(source.shape)
    return match is not None and match.end() == len(source.shape) and _property(source, match.span(1)) == text


def written_property(text: str) -> str:
    """Return a property as it is written: as it is, or between quotation marks where it would be misread.

    >>> print(written_property('cost = "5; 6"'), written_property("cost = 5; 6"))
    cost = "5; 6" "cost = 5; 6"
    """
    return text if _is_plain(text) else written_name(text)
