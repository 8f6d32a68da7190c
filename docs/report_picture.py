"""The picture of a report in README: drawn from a real fit, as plain SVG.

``python docs/report_picture.py`` writes ``docs/images/report.svg`` again; a test compares the two.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import suffice as sf
from suffice.report.graph_strengths import strengths_of
from suffice.report.layout import layered_layout

PLACE = Path(__file__).parent / "images" / "report.svg"
WIDTH, HEIGHT = 860, 430
INK, GREY, LINE, BLUE, PALE = "#1b1f24", "#57606a", "#d8dee4", "#0b5cad", "#e6f0fa"
FONT = "font-family='DejaVu Sans, Verdana, Helvetica, sans-serif'"


def fitted() -> sf.Fit:
    """Fit the table of README."""
    yes_no = ["yes", "no"]
    seniors = sf.Contingency(  # Agresti, Categorical Data Analysis, table 8.3
        [[[911, 538], [44, 456]], [[3, 43], [2, 279]]], {"alcohol": yes_no, "cigarette": yes_no, "marijuana": yes_no}
    )
    dag = sf.DAG("alcohol -> cigarette; alcohol -> marijuana; cigarette -> marijuana")
    return sf.fit(dag, seniors, prior=sf.BDeu(1))


def picture() -> str:
    """Return the picture of a report on one page."""
    fit = fitted()
    parts = [
        box(0.5, 0.5, WIDTH - 1, HEIGHT - 1, "#ffffff"),
        text(24, 38, "alcohol, cigarette, marijuana", 20, bold=True),
    ]
    parts += [
        box(24, 56, WIDTH - 48, 34, "#e5f4ea", "#b7dfc5"),
        text(40, 78, f"✓  {fit.certificate.verdict}", 12.5, "#14713c"),
    ]
    facts = [("estimate", "posterior mean under BDeu(1)"), ("data", f"8 rows, total weight {fit.n:,.0f}")]
    facts += [("log-likelihood", f"{fit.log_likelihood:,.4f}"), ("free parameters", str(fit.n_free))]
    facts += [("log p(data)", f"{fit.log_marginal_likelihood:,.4f}"), ("AIC, BIC", f"{fit.aic:,.2f}, {fit.bic:,.2f}")]
    for row, (name, value) in enumerate(facts):
        parts += [text(24, 122 + 22 * row, name, 12.5, GREY), text(150, 122 + 22 * row, value, 12.5)]
    parts += graph(fit, 24, 262)
    parts += table(fit, 400, 122)
    content = "\n".join(parts)
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' {FONT}>"
    return f"{head}\n{content}\n</svg>\n"


def graph(fit: sf.Fit, left: float, top: float) -> list[str]:
    """Draw the network, its edges as wide as they are strong."""
    names, edges = list(fit.model.dag.nodes), list(fit.model.dag.edges)
    placed = layered_layout(3, [(names.index(a), names.index(b)) for a, b in edges], 96, 30, gap=(40, 26))
    found = strengths_of(fit)
    strong = dict(zip(found.edges, found.values, strict=True))
    most = max(strong.values())
    drawn = []
    for edge, route in zip(edges, placed.routes, strict=True):
        points = " ".join(f"{left + x:.1f},{top + y:.1f}" for x, y in route)
        wide = 1 + 3 * strong[edge] / most
        drawn.append(f"<polyline points='{points}' fill='none' stroke='{GREY}' stroke-width='{wide:.1f}'/>")
        drawn.append(tip(*(points.split()[-1]).split(",")))
    for place, name in enumerate(names):
        x, y = left + placed.x[place], top + placed.y[place]
        drawn += [box(x - 48, y - 15, 96, 30, PALE, BLUE), text(x, y + 4.5, name, 13, middle=True)]
    return drawn


def tip(x: str, y: str) -> str:
    """Return the tip of an arrow that points down to a place."""
    across, down = float(x), float(y)
    corners = f"{across - 4:.1f},{down - 8:.1f} {across:.1f},{down:.1f} {across + 4:.1f},{down - 8:.1f}"
    return f"<polygon points='{corners}' fill='{GREY}'/>"


def table(fit: sf.Fit, left: float, top: float) -> list[str]:
    """Show the table of a node, with credible intervals."""
    cpd = fit.model.cpd("marijuana")
    lower, upper = fit.posterior["marijuana"].interval(0.95)
    drawn = [text(left, top, "p(marijuana | alcohol, cigarette)", 13, bold=True)]
    heads = ["alcohol", "cigarette", "yes", "no"]
    places = [left, left + 80, left + 200, left + 330]
    drawn += [text(x, top + 28, head, 12, GREY) for x, head in zip(places, heads, strict=True)]
    rows = [(a, c) for a in ("yes", "no") for c in ("yes", "no")]
    for row, (alcohol, cigarette) in enumerate(rows):
        y = top + 56 + 44 * row
        drawn.append(f"<line x1='{left}' y1='{y - 20}' x2='{WIDTH - 24}' y2='{y - 20}' stroke='{LINE}'/>")
        drawn += [text(places[0], y, alcohol, 12.5), text(places[1], y, cigarette, 12.5)]
        for column, state in enumerate(("yes", "no")):
            p = cpd.table[{"alcohol": alcohol, "cigarette": cigarette, "marijuana": state}]
            low, high = lower[row, column], upper[row, column]
            drawn.append(box(places[2 + column] - 8, y - 17, 114, 40, BLUE, opacity=0.25 * p))
            drawn += [text(places[2 + column], y, f"{p:.4f}", 12.5)]
            drawn += [text(places[2 + column], y + 16, f"[{low:.4f}, {high:.4f}]", 10.5, GREY)]
    return drawn


def box(x: float, y: float, width: float, height: float, fill: str, stroke: str = LINE, opacity: float = 1.0) -> str:
    """Return a box with round corners."""
    edge = f"stroke='{stroke}'" if opacity == 1.0 else f"fill-opacity='{opacity:.3f}'"
    return f"<rect x='{x:.1f}' y='{y:.1f}' width='{width}' height='{height}' rx='6' fill='{fill}' {edge}/>"


def text(
    x: float, y: float, words: str, size: float, colour: str = INK, bold: bool = False, middle: bool = False
) -> str:
    """Return a line of text."""
    weight = " font-weight='bold'" if bold else ""
    anchor = " text-anchor='middle'" if middle else ""
    return f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' fill='{colour}'{weight}{anchor}>{escape(words)}</text>"


if __name__ == "__main__":
    PLACE.parent.mkdir(exist_ok=True)
    PLACE.write_text(picture(), encoding="utf-8")
