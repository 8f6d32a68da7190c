"""Reading cliques from text: ``"A:B + B:C + 'M. Work'"``.

``:`` joins the names of a clique, ``+`` stands between cliques, ``#`` begins a comment, and names with blanks or signs
stand in quotes. Blanks and line breaks mean nothing, and neither does a ``~`` in front, which R's formulas have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from suffice.errors import StructureError

ARROW = r"<*-+>+|<+-+|→|←"
TOKEN = re.compile(
    rf"""
    (?P<blank>\s+) | (?P<comment>\#[^\n]*) | (?P<colon>:) | (?P<plus>\+)
    | (?P<arrow>{ARROW}) | (?P<foreign>[*|,;])
    | '(?P<single>(?:[^']|'')*)' | "(?P<double>(?:[^"]|"")*)"
    | (?P<bare>(?:(?!<*-+>|<+-)[^\s:+*|,;'"→←\#])+)
    """,
    re.VERBOSE,
)
TILDE = re.compile(r"(?:\s+|\#[^\n]*)*~")
"""The beginning of a formula as R has it."""
UNSPOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\#[^\n]*""")
REMEDIES = {
    "*": "Write A:B for a clique of A and B: all its terms are included.",
    "|": "A clique lists its names, none of them conditional: A:B:C. For conditional distributions use sf.DAG.",
    ",": "Put ':' between the names of a clique, and '+' between cliques: A:B + B:C.",
    ";": "Put '+' between cliques: A:B + B:C.",
}


def parse(text: str) -> list[tuple[str, ...]]:
    """Return the cliques in the order in which they are written.

    >>> parse("Smoking:Cancer + Cancer:'M. Work' + Age")
    [('Smoking', 'Cancer'), ('Cancer', 'M. Work'), ('Age',)]
    """
    cliques: list[tuple[str, ...]] = []
    clique: list[str] = []
    expect_name = True
    sign = ""
    for kind, value, place in _tokens(text):
        if (kind == "name") != expect_name:
            raise StructureError(_complaint(kind, value, place))
        expect_name = kind != "name"
        if kind == "name":
            if value in clique:
                raise StructureError(
                    f"The name {value!r} at character {place + 1} of the structure is already in its clique, "
                    f"{written(clique)}. Name it once."
                )
            clique.append(value)
            continue
        sign = value
        if kind == "plus":
            cliques.append(tuple(clique))
            clique = []
    if expect_name and sign:
        raise StructureError(
            f"The structure ends at character {len(text)} after {sign!r}, where a name must follow. "
            f"Add the name, or leave out the {sign!r}."
        )
    return [*cliques, tuple(clique)] if clique else cliques


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield names, unquoted, and signs as (kind, value, place)."""
    tilde = TILDE.match(text)
    position = 0 if tilde is None else tilde.end()
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise StructureError(
                f"Cannot read the structure from character {position + 1}: {text[position : position + 20]!r}. "
                "Is a quote left open?"
            )
        kind = str(match.lastgroup)
        if kind in ("single", "double"):
            quote = "'" if kind == "single" else '"'
            name = match[kind].replace(2 * quote, quote)
            if not name:
                raise StructureError(f"An empty name at character {position + 1} of the structure. Give it a name.")
            yield "name", name, position
        elif kind == "bare":
            yield "name", match[0], position
        elif kind == "arrow":
            raise StructureError(
                f"The arrow {match[0]!r} at character {position + 1} of the structure has no meaning among cliques, "
                "which are undirected. Use sf.DAG for a directed graph, or ':' to join names."
            )
        elif kind == "foreign":
            raise StructureError(
                f"The sign {match[0]!r} at character {position + 1} of the structure has no meaning among cliques. "
                f"{REMEDIES[match[0]]} Put a name that has the sign in quotes."
            )
        elif kind in ("colon", "plus"):
            yield kind, match[0], position
        position = match.end()


def _complaint(kind: str, value: str, place: int) -> str:
    if kind == "name":
        return (
            f"Two names without a sign between them, before {value!r} at character {place + 1} of the structure. "
            "Join the names of a clique with ':', put '+' between cliques, and a name with blanks in quotes "
            "('M. Work':Family)."
        )
    return f"A name is missing before {value!r} at character {place + 1} of the structure. Add it."


def is_written_as_cliques(text: str) -> bool:
    """Whether text means cliques rather than a directed graph: a ``:``, ``+`` or leading ``~``, no arrow, no bracket.

    >>> is_written_as_cliques("A:B + C"), is_written_as_cliques("'a:b' -> C"), is_written_as_cliques("[A][B|A:C]")
    (True, False, False)
    """
    spoken = UNSPOKEN.sub(lambda match: "" if match[0].startswith("#") else "_", text).strip()
    return not spoken.startswith("[") and not re.search(ARROW, spoken) and bool(re.search("^~|[:+]", spoken))


def quoted(name: str) -> str:
    """Write a name so that `parse` reads it back: bare where possible, else in quotes.

    >>> quoted("Cancer"), quoted("M. Work"), quoted("a:b")
    ('Cancer', "'M. Work'", "'a:b'")
    """
    match = TOKEN.fullmatch(name)
    bare = match is not None and match.lastgroup == "bare" and not name.startswith(("[", "~"))
    return name if bare else "'" + name.replace("'", "''") + "'"


def written(clique: tuple[str, ...] | list[str]) -> str:
    """Write one clique, ``A:B``.

    >>> written(("A", "M. Work"))
    "A:'M. Work'"
    """
    return ":".join(map(quoted, clique))
