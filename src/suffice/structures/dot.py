"""Graphs in Graphviz' DOT language."""

from __future__ import annotations

from collections.abc import Iterable


def dot(nodes: Iterable[str], edges: Iterable[tuple[str, str]], *, directed: bool, dashed: Iterable[str] = ()) -> str:
    """Return a graph as text; nodes in ``dashed`` are drawn so.

    >>> print(dot(["A", "B"], [("A", "B")], directed=False, dashed=["B"]))
    graph {
      "A";
      "B" [style=dashed];
      "A" -- "B";
    }
    """

    def name(node: str) -> str:
        escaped = node.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'

    faint, arrow = set(dashed), "->" if directed else "--"
    lines = [f"  {name(node)}{' [style=dashed]' if node in faint else ''};" for node in nodes]
    lines += [f"  {name(a)} {arrow} {name(b)};" for a, b in edges]
    return "\n".join(["digraph {" if directed else "graph {", *lines, "}"])
