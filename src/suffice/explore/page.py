"""The page of an explorer that is served: what it shows, and the HTML."""

from __future__ import annotations

import json
from typing import Any

from suffice.explore.answers import Answering
from suffice.report.page.monitors import layout_of
from suffice.report.page.page import escaped

FEW_NODES = 150
"""Nodes of a graph that is laid out whole; of a larger one the page asks for neighbourhoods."""
MOST_CELLS = 20_000
"""Numbers of all tables that travel with the page; of larger models it asks for the tables of one node at a time."""


def content_of(answering: Answering, token: str) -> dict[str, Any]:
    """Return the ``Content`` of ``report/web/types.js``, for a page that is served."""
    graph, n = answering.graph, len(answering.names)
    entries = [entry.to_dict() for entry in answering.entries]
    if _cells(entries) > MOST_CELLS:
        for entry in entries:
            entry.pop("t", None)
    shown = None if n <= FEW_NODES else answering.neighbourhood(0, 1)["nodes"]
    layout = layout_of(graph, answering.names, answering.states, nodes=shown)
    return {
        "name": "model",
        "entries": entries,
        "graph": {
            "n": n,
            "kinds": graph.colours,
            "directed": graph.directed,
            "what": graph.what,
            "layout": layout,
        },
        "tree": None,
        "normal": None,
        "prior": answering.answer({}),
        "whiskers": None,  # which the page asks for
        "served": {
            "token": token,
            "rows": 0 if answering.rows_held is None else answering.rows_held.n_rows,
            "intervals": answering.has_intervals,
        },
        "size": answering.size,
        "families": [],
        "rows": 0 if answering.fit is None else answering.fit.n,
    }


def page_of(answering: Answering, token: str) -> str:
    """Return the page as HTML."""
    content = escaped(json.dumps(content_of(answering, token), allow_nan=False, separators=(",", ":")))
    policy = "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>Explore</title></head>'
        f'<body><script id="content" type="application/json">{content}</script></body></html>\n'
    )


def _cells(entries: list[dict[str, Any]]) -> int:
    """Count the numbers of all tables."""
    tables = [table for entry in entries for table in entry.get("t", ())]
    return sum(len(row) for table in tables for row in table.get("v", table.get("r", ())))
