"""Printing for people: rich tables on a terminal, plain ones in a pipe."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from suffice.cli.remedies import as_options
from suffice.text import plain_facts, plain_table, shorten, visible

if TYPE_CHECKING:
    from suffice.result.fit import Fit

Cells = tuple[list[str], list[list[str]], str]


def show_table(cells: Cells, title: str = "", above: tuple[int, str] | None = None) -> None:
    """Print header, rows and alignment as a table; ``above`` names the variable whose states are columns."""
    if not sys.stdout.isatty():
        print((title + "\n" if title else "") + plain_table(*cells, above=above))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    header, rows, align = cells
    # Text, never markup: a state may be called [red].
    table = Table(title=Text(title) if title else None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    if above is not None:  # a terminal's table has one line of heads
        header = [name if j < above[0] else f"{above[1]}={name}" for j, name in enumerate(header)]
    for name, side in zip(header, align, strict=True):
        table.add_column(Text(shorten(name)), justify="right" if side == ">" else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(shorten(cell)) for cell in row))
    Console().print(table)


def show_facts(facts: list[tuple[str, str]]) -> None:
    """Print names and values side by side."""
    if not sys.stdout.isatty():
        print(plain_facts(facts))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for name, value in facts:
        grid.add_row(Text(name, style="dim"), Text(visible(value)))
    Console().print(grid)


def show_fit(fit: Fit, nodes: list[str]) -> None:
    """Print a fit's summary, and the tables of some nodes."""
    from suffice.result.summary import facts, part_cells

    fit = replace(fit, notes=tuple(replace(note, text=as_options(note.text)) for note in fit.notes))
    if not sys.stdout.isatty():
        print(fit)
    else:
        _show_summary(fit, facts(fit), part_cells(fit))
    for node in nodes:
        cpd = fit.model.cpd(node)
        print()
        show_table(cpd._cells(), cpd.title)


def _show_summary(fit: Fit, facts: list[tuple[str, str]], families: Cells | None) -> None:
    from rich.console import Console
    from rich.text import Text

    show_facts(facts)
    console = Console()
    mark, colour = ("✓", "green") if fit.certificate.ok else ("✗", "bold red")
    console.print(Text(f"\n{mark} {visible(fit.certificate.verdict)}", style=colour))
    if families is not None:
        show_table(families)
    for note in fit.notes:
        console.print(Text(f"note: {visible(str(note))}", style="yellow"))


def show_written(paths: dict[str, str | None]) -> None:
    """Say what was written where."""
    for what, path in paths.items():
        if path:
            print(f"\nWrote the {what} to {visible(path)}")


def show_document(fit: Fit, **more: Any) -> None:
    """Print the whole fit as the JSON document that a file would hold, and more beside it."""
    from suffice.io.own_json import document, plain

    print(json.dumps({**document(fit), **plain(more)}, ensure_ascii=False, indent=1))
