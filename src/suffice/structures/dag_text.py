"""Reading a directed graph from text.

Two notations: arrows, ``"A -> B <- C; B -> D"``, with ``;`` or line breaks between statements, ``,`` between nodes
that share an arrow, and quotes around names with blanks or signs; and bnlearn's ``"[A][C][B|A:C]"``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from suffice.errors import StructureError

Edges = list[tuple[str, str]]

TOKEN = re.compile(
    r"""
    (?P<blank>[^\S\n]+) | (?P<comment>\#[^\n]*) | (?P<end>[;\n]) | (?P<comma>,)
    | (?P<arrow><*-+>+|<+-+|→|←)
    | '(?P<single>(?:[^']|'')*)' | "(?P<double>(?:[^"]|"")*)"
    | (?P<bare>(?:(?!<*-+>|<+-)[^\s;,'"→←\#])+)
    """,
    re.VERBOSE,
)


def parse(text: str) -> tuple[list[str], Edges]:
    """Return the nodes in order of appearance, and the edges.

    >>> parse("Smoking -> Cancer <- Pollution; 'M. Work'")
    (['Smoking', 'Cancer', 'Pollution', 'M. Work'], [('Smoking', 'Cancer'), ('Pollution', 'Cancer')])
    >>> parse("[A][C][B|A:C]")
    (['A', 'C', 'B'], [('A', 'B'), ('C', 'B')])
    """
    plain = re.sub(r"\A(?:\s*#[^\n]*\n)*", "", text).strip()  # comments may stand above bnlearn's brackets, too
    return _brackets(plain) if plain.startswith("[") else _arrows(text)


def _brackets(text: str) -> tuple[list[str], Edges]:
    nodes: list[str] = []
    edges: Edges = []
    position = 0
    for match in re.finditer(r"\[([^\[\]]*)\]\s*", text):
        if match.start() != position:
            break
        position = match.end()
        child, bar, parents = match[1].partition("|")
        if not child or (bar and not all(parents.split(":"))):
            raise StructureError(f"An empty name in {match[0]!r}, at character {match.start() + 1} of the structure.")
        if child in nodes:
            raise StructureError(f"Node {child!r} is described twice in the structure.")
        nodes.append(child)
        edges += [(parent, child) for parent in parents.split(":")] if bar else []
    if position != len(text):
        raise StructureError(
            f"Cannot read the structure from character {position + 1}: {text[position : position + 20]!r}. "
            "bnlearn's notation is [A][B|A:C]: a pair of brackets a node, its parents after | and separated by ':'."
        )
    for parent, child in edges:
        if parent not in nodes:
            raise StructureError(
                f"Node {child!r} has the parent {parent!r}, which has no brackets of its own; add [{parent}]."
            )
    return nodes, edges


def _arrows(text: str) -> tuple[list[str], Edges]:
    nodes: dict[str, None] = {}
    edges: Edges = []
    for statement in _statements(text):
        groups: list[list[str]] = [[]]
        arrows: list[str] = []
        expect_name = True
        for kind, value, place in statement:
            if (kind == "name") != expect_name:
                raise StructureError(_complaint(kind, value, place))
            expect_name = kind != "name"
            if kind == "name":
                groups[-1].append(value)
                nodes.setdefault(value)
            elif kind != "comma":
                arrows.append(kind)
                groups.append([])
        if expect_name:
            raise StructureError(
                f"A statement of the structure ends after {statement[-1][1]!r}, where a name must follow."
            )
        for left, arrow, right in zip(groups, arrows, groups[1:], strict=False):
            above, below = (left, right) if arrow == "right" else (right, left)
            edges += [(parent, child) for child in below for parent in above]
    return list(nodes), edges


def _statements(text: str) -> Iterator[list[tuple[str, str, int]]]:
    """Yield the tokens of one statement at a time as (kind, value, place), names unquoted."""
    current: list[tuple[str, str, int]] = []
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise StructureError(
                f"Cannot read the structure from character {position + 1}: {text[position : position + 20]!r}. "
                "Is a quote left open?"
            )
        kind = str(match.lastgroup)
        if kind == "end":
            if current:
                yield current
            current = []
        elif kind in ("single", "double"):
            quote = "'" if kind == "single" else '"'
            current.append(("name", match[kind].replace(2 * quote, quote), position))
        elif kind == "bare":
            current.append(("name", match[0], position))
        elif kind == "arrow":
            current.append((_direction(match[0], position), match[0], position))
        elif kind not in ("blank", "comment"):
            current.append((kind, match[0], position))
        position = match.end()
    if current:
        yield current


def _direction(arrow: str, place: int) -> str:
    if re.fullmatch("-+>|→", arrow):
        return "right"
    if re.fullmatch("<-+|←", arrow):
        return "left"
    raise StructureError(
        f"The arrow {arrow!r} at character {place + 1} of the structure is none of a Bayesian network's. Use -> or <-."
    )


def _complaint(kind: str, value: str, place: int) -> str:
    if kind == "name":
        return (
            f"Two names without an arrow between them, before {value!r} at character {place + 1} of the structure. "
            "Put a name with blanks in quotes ('M. Work' -> Family), and ';' between statements."
        )
    return f"A name is missing before {value!r} at character {place + 1} of the structure."


def quoted(name: str) -> str:
    """Write a name so that `parse` reads it back: bare where possible, else in quotes.

    >>> quoted("Cancer"), quoted("M. Work"), quoted("it's")
    ('Cancer', "'M. Work'", "'it''s'")
    """
    match = TOKEN.fullmatch(name)
    bare = match is not None and match.lastgroup == "bare" and not name.startswith("[")
    return name if bare else "'" + name.replace("'", "''") + "'"
