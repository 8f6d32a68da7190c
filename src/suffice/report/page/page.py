"""The page itself: sections put together into one file that needs nothing else.

Nothing from the data becomes markup: what Python writes is escaped by `html.escape`, and all the rest travels as JSON
whose ``<``, ``>`` and ``&`` are spelt as escapes, to be shown by the script as text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Sequence
from typing import Unpack
from urllib.parse import quote

from suffice.errors import ArgumentError, ModelError, require_text, shown
from suffice.files import atomic_write
from suffice.inference.inquiry import Given
from suffice.models.queries import Queries
from suffice.models.row_model import RowModel
from suffice.report.page.bundle import page_script, page_style
from suffice.report.page.chart import convergence_chart
from suffice.report.page.content import NO_CERTIFICATE, VERDICT_ALONE, Content, Reported, content_of
from suffice.report.page.entries import Spec
from suffice.report.page.explorer import graph_spec, literals_of, local_specs, size_in_words
from suffice.report.page.paper import find_browser, pdf_of
from suffice.report.page.plots import figures
from suffice.report.page.scores import ReadingOptions
from suffice.text import fixed, number, plural, visible
from suffice.types import TableLike
from suffice.version import __version__

ENDINGS, PDF = (".html", ".htm", ""), ".pdf"
UNQUOTED = " /:;,.=()'!?@$*+&~_->[]{}^|"  # characters that a picture's address may hold as they are
LARGE = "The model is too large to be asked within the page: suffice explore, or fit.explore(), serves it."
MIXED = (
    "Models of discrete and continuous variables cannot be asked within the page: suffice explore, or fit.explore(), "
    "serves them."
)
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def write_report(
    thing: Reported,
    path: str | os.PathLike[str],
    *,
    data: TableLike | None = None,
    title: str | None = None,
    plots: bool = True,
    **policies: Unpack[ReadingOptions],
) -> None:
    """Write the report of a fit, or of a model alone, to one HTML file, or to a PDF file where Chromium is installed.

    Parameters
    ----------
    thing : Fit, model or ChainFile
    path : str or path
        Ends in .html or .htm, or has no ending; in .pdf for a PDF file. Written whole or not at all.
    data : table, optional
        Rows to score under the model.
    title : str, optional
        Of the page.
    plots : bool
        Whether to draw plots, which needs the extra ``plot``.
    **policies
        Of reading the data: ``weights``, ``missing``, ``unknown_states``.

    Examples
    --------
    >>> import suffice as sf, tempfile, pathlib
    >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y"], "B": ["u", "v", "v"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(fit, f"{folder}/out.html", plots=False)
    ...     pathlib.Path(folder, "out.html").read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise ArgumentError(f"The 'path' argument must be the path of an HTML file. Got {shown(path)} instead.")
    stem, ending = os.path.splitext(os.fspath(path))
    if ending.lower() not in (*ENDINGS, PDF):
        raise ArgumentError(
            f"A report is an HTML file: its path ends in .html or .htm, such as {stem + '.html'!r}, or in .pdf. Got "
            f"{os.fspath(path)!r} instead."
        )
    browser = find_browser(os.fspath(path)) if ending.lower() == PDF else ""
    page = report_html(thing, data=data, title=title, plots=plots, unfolded=bool(browser), **policies)
    content = pdf_of(page, browser) if browser else page.encode("utf-8", "replace")
    with atomic_write(path, binary=True) as file:
        file.write(content)


def report_html(
    thing: Reported,
    *,
    data: TableLike | None = None,
    title: str | None = None,
    plots: bool = True,
    unfolded: bool = False,
    **policies: Unpack[ReadingOptions],
) -> str:
    """Return the page as text, with its details open if wanted; see `write_report`."""
    if title is not None:
        require_text("title", title)
    content = content_of(thing, data, title, **policies)
    held = page_data(content)
    sections = [
        section
        for section in (
            explorer_section(held, "" if _can_be_asked(held) else _why_not(content)),
            _notes(content),
            _fitted(content),
            _missing(content),
            _tables(content),
            _families(content),
            _convergence(content),
            _plots(content, plots),
        )
        if section is not None
    ]
    return assemble(content, sections, held, unfolded)


def assemble(content: Content, sections: Sequence[Section], data: Spec, unfolded: bool = False) -> str:
    """Return a page that needs nothing else: its sections, its script and style, and what the script shows.

    Parameters
    ----------
    content : Content
    sections : sequence of (str, str, str)
        Anchor, name in the navigation, and HTML of each.
    data : dict
        The ``Content`` of ``web/types.js``.
    unfolded : bool
        Whether everything that unfolds is open, as on paper.
    """
    served = data["served"] is not None
    script, style = page_script(served), page_style()
    links = "".join(f'<a href="#{name}">{html.escape(short)}</a>' for name, short, _ in sections)
    body = "".join(f'<section id="{name}">{inner}</section>' for name, _, inner in sections)
    connect = "connect-src 'self'; " if served else ""
    policy = (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; img-src data:; {connect}"
        "base-uri 'none'; form-action 'none'"
    )
    heading = _text(content.title)
    badge = _badge(content)
    if unfolded:
        badge, body = (text.replace("<details", "<details open") for text in (badge, body))
    navigation = f'<nav aria-label="Sections"><div>{links}</div></nav>' if len(sections) > 1 else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="suffice {__version__}"><title>{heading}</title><style>{style}</style></head>'
        f'<body{" class=served" if served else ""}><header><div class="headline"><h1>{heading}</h1>{badge}</div>'
        f'<p class="sub">{_text(content.subtitle)}</p></header>'
        f"{navigation}<main>{body}</main>"
        f"<footer>Written by suffice {__version__}. The page needs no network and loads nothing.</footer>"
        f'<script id="content" type="application/json">{_json(data)}</script>'
        f"<script>{script}</script></body></html>\n"
    )


# Sections: (anchor, name in the navigation, HTML) ---------------------------------------------------------------

Section = tuple[str, str, str]


def _badge(content: Content) -> str:
    """Return the certificate: a badge beside the title, which unfolds."""
    if content.proof is not None:
        word, label = _label(content.proof.ok)
        verdict = content.proof.verdict
        inner = f'<p class="quiet">{_text(VERDICT_ALONE)}</p>'
    elif content.fit is not None:
        certificate = content.fit.certificate
        word, label = _label(certificate.ok)
        verdict = certificate.verdict
        worst = [f"The largest residual is at {certificate.worst}."] if certificate.gradient_norm > 0 else []
        inner = _table(*certificate._cells(), wrap=True)
        inner += "".join(f'<p class="quiet">{_text(line)}</p>' for line in [*worst, *certificate._foot])
    else:
        word, label, inner = "none", "no certificate", ""
        verdict = NO_CERTIFICATE
    said = f'<div class="verdict {word}"><p>{_text(verdict)}</p></div>'
    return (
        f'<details class="badge {word}" id="certificate"><summary>{label}</summary>'
        f'<div class="unfolded">{said}{inner}</div></details>'
    )


def _label(ok: bool) -> tuple[str, str]:
    return ("ok", "✓ certified") if ok else ("no", "✗ not certified")


def _fitted(content: Content) -> Section:
    rows = "".join(f"<dt>{_text(name)}</dt><dd>{_lines(value)}</dd>" for name, value in content.facts)
    table = _table(["variable", "kind", "states", ""], content.variables, "<<><", wrap=True)
    count = plural(len(content.variables), "variable")
    head = "What was fitted" if content.fit is not None else "The model"
    inner = f'<h2>{head}</h2><dl class="facts">{rows}</dl><details><summary>{count}</summary>{table}</details>'
    return "fitted", "Model and data", inner


def _notes(content: Content) -> Section | None:
    if not content.notes:
        return None
    items = "".join(
        f"<li>{_text(text)} <span class='quiet'>({_text(topic)})</span></li>" for topic, text in content.notes
    )
    return "notes", "Notes", f'<h2>Notes</h2><ul class="notes">{items}</ul>'


def _missing(content: Content) -> Section | None:
    """Return the section of missing values, of a fit to incomplete rows."""
    if not content.missing:
        return None
    assert content.fit is not None
    total = content.fit.n
    rows = [[name, number(n, 10), f"{100 * n / total:.4g} %"] for name, n in content.missing]
    table = _table(["variable", "missing", "of the rows"], rows, "<>>")
    return "missing", "Missing values", f"<h2>Missing values</h2>{table}"


def explorer_section(data: Spec, why_not: str = "") -> Section | None:
    """Return the section of the graph, which the script fills, and why the page cannot be asked, if so."""
    if data["graph"] is None:
        return None
    what = " ".join(filter(None, [data["graph"]["what"], why_not]))
    name = "Explore" if _can_be_asked(data) else "Graph"
    return "explorer", name, f'<h2 class="sr">Graph</h2><p class="quiet">{_text(what)}</p>'


def _can_be_asked(data: Spec) -> bool:
    return any(data[name] is not None for name in ("tree", "normal", "served"))


def _why_not(content: Content) -> str:
    """Say why a model that can be explored has a page that cannot be asked."""
    model = content.model
    if not isinstance(content.model, RowModel):
        return ""
    kinds = {variable.is_discrete for variable in model.schema.variables}
    if kinds == {True} and isinstance(model, Queries):
        try:
            model._tables.check_known(None, Given())
        except ModelError as error:  # rows of tables that are not known
            return str(error)
    return MIXED if len(kinds) > 1 else LARGE


def _tables(content: Content) -> Section | None:
    if not content.parts.entries:
        return None
    inner = (
        '<h2>Tables</h2><div class="search"><input id="search" type="search" autocomplete="off" '
        'placeholder="Search names and states" aria-label="Search names and states">'
        '<span id="count" class="quiet" role="status"></span></div><div><ul id="entries" class="entries"></ul></div>'
    )
    return "tables", "Tables", inner


def _families(content: Content) -> Section | None:
    if len(content.families) < 2:
        return None
    total = sum(value for _, value, _ in content.families)
    options = (("least", "lowest first"), ("most", "highest first"), ("name", "by name"), ("order", "as in the model"))
    choice = "".join(f'<option value="{value}">{text}</option>' for value, text in options)
    inner = (
        f'<h2>Log-likelihood by family</h2><p class="quiet">The parts add up to {fixed(total)}. '
        f'<label>Order <select id="bar-order">{choice}</select></label></p><div><ol id="bars" class="bars"></ol></div>'
    )
    return "families", "Log-likelihood", inner


def _convergence(content: Content) -> Section | None:
    if content.fit is None or not content.fit.trace:
        return None
    trace, starts = content.fit.trace, content.fit.starts
    chart = convergence_chart([step.objective for step in trace], [step.number for step in trace])
    first, last = trace[0].objective, trace[-1].objective
    said = f"{plural(len(trace), 'step')}; the objective went from {number(first, 10)} to {number(last, 10)}."
    said += " The chart shows how far it was from its last value." if chart else ""
    table = ""
    if len(starts) > 1:
        rows = [
            [start.name, number(start.objective, 10), f"{start.n_steps:,}", "yes" if start.converged else "no"]
            for start in starts
        ]
        table = _table(["start", "objective", "steps", "converged"], rows, "<>><")
    return "convergence", "Convergence", f'<h2>Convergence</h2><p class="quiet">{said}</p>{chart}{table}'


def _plots(content: Content, wanted: bool) -> Section | None:
    if not wanted or content.fit is None:
        return None
    found = figures(content.fit)
    if found is None:
        inner = "<p class=\"quiet\">Plots need the extra “plot”: pip install 'suffice[plot]'.</p>"
        return "plots", "Plots", f"<h2>Plots</h2>{inner}"
    if not found:
        return None
    shapes = "".join(
        f'<figure><img alt="{_text(caption)}" src="{_picture(svg)}"><figcaption>{_text(caption)}</figcaption></figure>'
        for caption, svg in found
    )
    return "plots", "Plots", f'<h2>Plots</h2><div class="plots">{shapes}</div>'


# Pieces -------------------------------------------------------------------------------------------------------


def _picture(svg: str) -> str:
    """Return the address of a picture that holds the picture itself."""
    return "data:image/svg+xml," + html.escape(quote(svg, safe=UNQUOTED), quote=False)


def _text(text: str) -> str:
    return html.escape(visible(text))


def _lines(text: str) -> str:
    return "\n".join(map(_text, text.split("\n")))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str, wrap: bool = False) -> str:
    """Return a table as HTML, every cell escaped."""
    classes = ["num" if side == ">" else "wrap" if wrap else "" for side in align]

    def line(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="{name}">{_text(cell)}</{tag}>' if name else f"<{tag}>{_text(cell)}</{tag}>"
            for cell, name in zip(row, classes, strict=True)
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{line("th", head)}</tr></thead><tbody>{body}</tbody></table></div>'


def page_data(content: Content, served: Spec | None = None) -> Spec:
    """Return what the script shows: the ``Content`` of ``web/types.js``."""
    parts = content.parts
    entries = [entry.to_dict() for entry in parts.entries]
    for _, value, place in content.families:
        if place >= 0:
            entries[place]["l"] = round(value, 6)
    specs: Spec = {"tree": None, "normal": None, "prior": None, "whiskers": None}
    if served is None:
        specs = local_specs(content.model, content.fit, parts)
    has_monitors = served is not None or any(spec is not None for spec in specs.values())
    graph = graph_spec(parts, has_monitors)
    names = [] if graph is None else [entry.name for entry in parts.entries[: graph["n"]]]
    return {
        "name": content.name,
        "entries": entries,
        "graph": graph,
        **specs,
        "served": served,
        "size": size_in_words(content.model, specs) if has_monitors else "",
        "literals": literals_of(content.model, names) if has_monitors else {},
        "first": -1 if graph is None else _first(content),
        "families": [[name, round(value, 6), place] for name, value, place in content.families],
        "rows": content.n,
    }


def _json(data: Spec) -> str:
    """Return what the script shows, as JSON that cannot end the element it stands in."""
    return escaped(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def _first(content: Content) -> int:
    """Return the node to begin with: of few, the one with most parents; of many, none is better than another."""
    graph = content.parts.graph
    if graph is None or len(graph.colours) > 200:
        return -1
    entries = content.parts.entries[: len(graph.colours)]
    return max(range(len(entries)), key=lambda place: (len(entries[place].above), len(entries[place].near), -place))


def escaped(text: str) -> str:
    r"""Return JSON in which nothing can end a script element or begin a comment.

    >>> print(escaped('"</script><!-- & -->"'))
    "\u003c/script\u003e\u003c!-- \u0026 --\u003e"
    """
    for char, code in ESCAPES.items():
        text = text.replace(char, code)
    return text


def digest(text: str) -> str:
    """Return the hash by which the page's policy knows its own script and style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
