"""Plain-text and HTML tables: how everything in this library prints.

Cells arrive as strings; numbers are aligned right by the caller's choice. HTML is escaped here and nowhere else.
"""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Iterable, Sequence

Row = Sequence[str]


def width(text: str) -> int:
    """Columns that ``text`` takes on a terminal: wide characters take two, combining ones none."""
    return sum(
        0
        if unicodedata.category(char) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def pad(text: str, size: int, align: str) -> str:
    """Fill ``text`` with blanks to ``size`` columns; ``align`` is ``"<"`` or ``">"``."""
    blanks = " " * max(0, size - width(text))
    return text + blanks if align == "<" else blanks + text


def visible(text: str) -> str:
    r"""Spell out control characters, which a terminal would obey.

    >>> print(visible("a\tb\x1b[31m"))
    a\tb\x1b[31m
    """
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def shorten(text: str, limit: int = 40) -> str:
    """Cut long text at ``limit`` characters, control characters made visible."""
    whole = visible(text)
    return whole if len(whole) <= limit else whole[: limit - 1] + "…"


def plain_table(header: Row, rows: Sequence[Row], align: str, above: tuple[int, str] | None = None) -> str:
    """Lay out rows under a header, a rule between them.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence of str
    align : str
        One character a column, ``<`` or ``>``.
    above : (int, str), optional
        A column, and what stands above it and those that follow: the name of the variable whose states they are.

    Examples
    --------
    >>> print(plain_table(["state", "p"], [["no", "0.25"], ["yes", "0.75"]], "<>"))
    state     p
    -----  ----
    no     0.25
    yes    0.75
    """
    cells = [[shorten(cell) for cell in row] for row in [header, *rows]]
    sizes = [max(width(row[j]) for row in cells) for j in range(len(header))]
    lines = ["  ".join(pad(cell, sizes[j], align[j]) for j, cell in enumerate(row)).rstrip() for row in cells]
    lines.insert(1, "  ".join("-" * size for size in sizes))
    if above is not None:
        lines.insert(0, " " * (sum(sizes[: above[0]]) + 2 * above[0]) + shorten(above[1]))
    return "\n".join(lines)


def plain_tables(tables: Iterable[str], n_tables: int, more: str, lines: int = 60) -> str:
    """Join tables, as many as one screen has room for and the first in any case, and say how many are left out.

    Parameters
    ----------
    tables : iterable of str
        Laid out only as far as they are shown.
    n_tables : int
        How many there are.
    more : str
        What shows the others.
    lines : int
        As many as one screen has room for.

    Examples
    --------
    >>> print(plain_tables(("p", "q", "r"), 3, "tables[k] shows one", lines=3))
    p
    <BLANKLINE>
    … 2 more tables; tables[k] shows one
    """
    shown: list[str] = []
    used = 0
    for table in tables:
        used += table.count("\n") + 2
        if shown and used > lines + (2 if len(shown) == n_tables - 1 else 0):
            return "\n\n".join([*shown, f"… {plural(n_tables - len(shown), 'more table')}; {more}"])
        shown.append(table)
    return "\n\n".join(shown)


def plain_facts(facts: Sequence[tuple[str, str]]) -> str:
    """Lay out names and values side by side.

    >>> print(plain_facts([("rows", "3"), ("error rate", "0.3333")]))
    rows        3
    error rate  0.3333
    """
    size = max(len(name) for name, _ in facts)
    return "\n".join(f"{name:<{size}}  {value}" for name, value in facts)


def html_table(
    header: Row,
    rows: Sequence[Row],
    align: str,
    caption: str = "",
    above: tuple[int, str] | None = None,
    shares: Sequence[Sequence[float | None]] | None = None,
) -> str:
    """Return the same table as HTML, every cell escaped.

    Parameters
    ----------
    header, rows, align, above
        As in `plain_table`.
    caption : str
    shares : sequence of sequence of float or None, optional
        One per cell: how much of it a bar fills, from 0 to 1; none where it is None.
    """
    style = {"<": "left", ">": "right"}

    def line(tag: str, row: Row, filled: Sequence[float | None] = ()) -> str:
        bars = [*filled, *[None] * (len(row) - len(filled))]
        return "".join(
            f'<{tag} style="text-align:{style[align[j]]}{_bar(bars[j])}">{html.escape(cell)}</{tag}>'
            for j, cell in enumerate(row)
        )

    head = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    over = ""
    if above is not None:
        span = len(header) - above[0]
        over = f'<tr><th colspan="{above[0]}"></th><th colspan="{span}" style="text-align:left">'
        over += f"{html.escape(above[1])}</th></tr>"
    filled = [()] * len(rows) if shares is None else [*shares, *[()] * (len(rows) - len(shares))]
    body = "".join(f"<tr>{line('td', row, bars)}</tr>" for row, bars in zip(rows, filled, strict=True))
    return f"<table>{head}<thead>{over}<tr>{line('th', header)}</tr></thead><tbody>{body}</tbody></table>"


def _bar(share: float | None) -> str:
    """Return the style of a cell that a bar fills in part; readable on light and on dark pages."""
    if share is None or not math.isfinite(share):
        return ""
    end = f"{100 * min(max(share, 0.0), 1.0):.4g}%"
    return f";min-width:6em;background:linear-gradient(to right,rgba(48,125,209,.38) {end},rgba(128,128,128,.12) {end})"


def html_text(text: str) -> str:
    """Return text as HTML that keeps its lines, escaped.

    >>> html_text("<A> -> B")
    '<pre>&lt;A&gt; -&gt; B</pre>'
    """
    return f"<pre>{html.escape(text)}</pre>"


def html_folded(summary: str, inner: str) -> str:
    """Return HTML that unfolds.

    >>> html_folded("2 tables", "<p>x</p>")
    '<details><summary>2 tables</summary><p>x</p></details>'
    """
    return f"<details><summary>{html.escape(summary)}</summary>{inner}</details>"


def number(value: float | None, digits: int = 6) -> str:
    """Format a number for people: whole numbers whole, others to ``digits`` significant digits.

    >>> number(12.0), number(0.123456789), number(-23832.1284), number(1e-17), number(None)
    ('12', '0.123457', '-23832.1', '1e-17', '-')
    """
    if value is None:
        return "-"
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{digits}g}"


def fixed(value: float | None, decimals: int = 4) -> str:
    """Format with a fixed number of decimals, for columns of log-likelihoods and criteria."""
    return "-" if value is None else f"{value:,.{decimals}f}"


def probability(value: float) -> str:
    """Format a probability to four decimals without ever showing 0 or 1 for something in between.

    >>> [probability(p) for p in (0.0, 1e-9, 0.25, 1 - 1e-9, 1.0, float("nan"))]
    ['0', '<0.0001', '0.2500', '>0.9999', '1', 'nan']
    """
    if math.isnan(value):
        return "nan"
    if value in (0.0, 1.0):
        return str(int(value))
    if 0 < value < 0.00005:
        return "<0.0001"
    if 0.99995 <= value < 1:
        return ">0.9999"
    return f"{value:.4f}"


def plural(count: float, noun: str) -> str:
    """Say ``1 row``, ``2 rows``, ``5,000 rows``, ``2 families``."""
    if count == 1:
        return f"1 {noun}"
    ending = noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"
    return f"{count:,g} {ending}" if count != int(count) else f"{int(count):,} {ending}"


def with_article(noun: str) -> str:
    """Return a noun with its article, as a sentence begins.

    >>> with_article("AutoregressiveModel"), with_article("BayesianNetwork")
    ('An AutoregressiveModel', 'A BayesianNetwork')
    """
    return f"{'An' if noun[:1] in 'AEIO' else 'A'} {noun}"


def in_bytes(size: float) -> str:
    """Say a size for people.

    >>> in_bytes(16), in_bytes(5_400_000), in_bytes(8e12)
    ('16 B', '5.4 MB', '8 TB')
    """
    size = min(size, 1e300)  # whole numbers may be larger than any float
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"
