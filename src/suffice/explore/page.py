"""The page of an explorer that is served: a report's explorer, whose questions Python answers."""

from __future__ import annotations

import os
from dataclasses import replace

from suffice.explore.answers import NAME, Answering
from suffice.report.page.content import Content, content_of
from suffice.report.page.entries import Spec
from suffice.report.page.monitors import layout_of
from suffice.report.page.page import assemble, explorer_section, page_data

MANY_NODES = 60
"""Nodes beyond which the page opens on a neighbourhood, and the whole graph is a small map; as in ``explorer.js``."""
MOST_CELLS = 20_000
"""Numbers of all tables that travel with the page; of larger models it asks for the tables of one node at a time."""


def data_of(answering: Answering, content: Content, token: str, prior: Spec | None = None) -> Spec:
    """Return the ``Content`` of ``report/web/types.js``, for a page that is served."""
    rows = answering.rows_held
    served = {"token": token, "rows": 0 if rows is None else rows.n_rows, "intervals": answering.has_intervals}
    data = page_data(content, served)
    data["name"], data["size"], data["prior"] = answering.name, f"✓ exact · {answering.size}", prior
    if _cells(data["entries"]) > MOST_CELLS:
        for entry in data["entries"]:
            entry.pop("t", None)
    if len(answering.names) > MANY_NODES:
        data["graph"]["layout"] = layout_of(answering.graph, answering.names, None)
    return data


def page_of(answering: Answering, token: str, prior: Spec | None = None) -> str:
    """Return the page as HTML; without the answer to the question without evidence, ``prior``, it asks for it."""
    content = content_of(answering.fit or answering.model)
    if answering.name != NAME:
        content = replace(content, title=os.path.basename(answering.name))
    data = data_of(answering, content, token, prior)
    section = explorer_section(data)
    assert section is not None  # models that can be explored have a graph
    return assemble(content, [section], data)


def _cells(entries: list[Spec]) -> int:
    """Count the numbers of all tables."""
    tables = [table for entry in entries for table in entry.get("t", ())]
    return sum(len(row) for table in tables for row in table.get("v", table.get("r", ())))
