"""The script and the style of a page: the modules of ``report/web``, put together without any tool.

Every module becomes a function that returns what it exports, so that names of different modules never meet.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

SERVED = ("data_rows.js", "served_engine.js")
LOCAL = ("junction_tree.js", "normal.js", "local_engine.js")
MODULES = (
    "dom.js", "tables.js", "insight.js", "evidence.js", "monitors.js", "graph_view.js", "panels.js", "node_panel.js",
    "export.js", "data_rows.js", "explorer.js", *LOCAL, "served_engine.js", "report.js", "main.js",
)  # fmt: skip
"""In an order in which each imports only from those before it."""
STYLES = ("page.css", "sections.css")
IMPORT = re.compile(r'^import\s*\{([^}]*)\}\s*from\s*"\./([\w.]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
LINE_COMMENT = re.compile(r"^\s*//.*\n", re.MULTILINE)
BLOCK_COMMENT = re.compile(r"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*\n", re.MULTILINE | re.DOTALL)
INLINE_TYPE = re.compile(r"/\*\* @\w+ [^*]*\*/ ?")


@cache
def page_script(served: bool) -> str:
    """Return the script of a page: of a served one without inference in the page, of a report without a server."""
    left_out = LOCAL if served else SERVED
    body = "".join(_module(name) for name in MODULES if name not in left_out)
    absent = "".join(f'modules["{name}"] = {{}};\n' for name in left_out)
    return f'"use strict";\n(() => {{\nconst modules = {{}};\n{absent}{body}}})();\n'


@cache
def page_style() -> str:
    """Return the style of a page, without comments and white space that means nothing."""
    text = re.sub(r"/\*.*?\*/", "", "".join(map(_own, STYLES)), flags=re.DOTALL)
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def _module(name: str) -> str:
    """Return a module as a function that is called at once, and keeps what it returns."""
    text = _own(name)
    exported = [match.group(1) for match in EXPORT.finditer(text)]
    text = IMPORT.sub(lambda found: f'const {{{_one_line(found.group(1))}}} = modules["{found.group(2)}"];\n', text)
    text = _without_comments(EXPORT.sub("", text))
    return f'modules["{name}"] = (() => {{\n{text}return {{ {", ".join(exported)} }};\n}})();\n'


def _one_line(names: str) -> str:
    return " " + " ".join(names.split()).rstrip(",") + " "


def _without_comments(text: str) -> str:
    """Leave out comments and indentation, which readers of the source need and pages do not."""
    text = INLINE_TYPE.sub("", LINE_COMMENT.sub("", BLOCK_COMMENT.sub("", text)))
    return "".join(f"{line.strip()}\n" for line in text.split("\n") if line.strip())


def _own(name: str) -> str:
    return resources.files("suffice.report").joinpath("web", name).read_text(encoding="utf-8")
