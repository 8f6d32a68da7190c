"""Statistics as a notebook shows them: header, rows and alignment, for `suffice.text.html_table`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.text import number, plural

if TYPE_CHECKING:
    from suffice.stats.chain_counts import ChainCounts
    from suffice.stats.counts import Counts
    from suffice.stats.moments import Moments
    from suffice.stats.rows import Rows
    from suffice.stats.statistics import Statistics
    from suffice.stats.sums import Sums

SHOWN_ROWS = 20
Cells = tuple[list[str], list[list[str]], str]


def counts_cells(counts: Counts) -> Cells:
    """Lay out the configurations that were counted, those of zero left out, a row each."""
    cells, values = counts.nonzero()
    variables = counts.variables
    rows = []
    for codes, value in zip(cells[:SHOWN_ROWS].tolist(), values[:SHOWN_ROWS].tolist(), strict=True):
        labels = [str(variable.labels[code]) for variable, code in zip(variables, codes, strict=True)]
        rows.append([*labels, number(value, 12)])
    return _more([*(variable.name for variable in variables), "count"], rows, len(values), 1)


def moments_cells(moments: Moments) -> Cells:
    """Lay out weight, mean and standard deviation of every variable, in every configuration that has rows."""
    held = np.argwhere(moments.weight > 0)
    rows = []
    for at in held[:SHOWN_ROWS]:
        where = tuple(at.tolist())
        labels = [str(variable.labels[code]) for variable, code in zip(moments.by, where, strict=True)]
        weight = float(moments.weight[where])
        for place, variable in enumerate(moments.variables):
            variance = float(moments.scatter[where][place, place]) / weight
            numbers = [weight, float(moments.mean[where][place]), variance**0.5]
            rows.append([*labels, variable.name, *map(number, numbers)])
    header = [*(variable.name for variable in moments.by), "variable", "weight", "mean", "sd"]
    return _more(header, rows[:SHOWN_ROWS], len(held) * len(moments.variables), 3)


def rows_cells(rows: Rows) -> Cells:
    """Lay out the first distinct rows with their weights."""
    shown = []
    for row in range(min(rows.n_rows, SHOWN_ROWS)):
        cells = []
        for variable, column in zip(rows.variables, rows.columns, strict=True):
            value = column[row].item()
            cells.append(str(variable.labels[value]) if variable.is_discrete else number(value))
        shown.append([*cells, number(float(rows.weights[row]), 12)])
    return _more([*(variable.name for variable in rows.variables), "weight"], shown, rows.n_rows, 1)


def sums_cells(sums: Sums) -> Cells:
    """Lay out the first numbers of a vector."""
    values = sums.values.reshape(-1)
    rows = [[str(place), number(value)] for place, value in enumerate(values[:SHOWN_ROWS].tolist())]
    return _more(["", sums.name], rows, len(values), 1)


def chain_cells(counts: ChainCounts) -> Cells:
    """Lay out how often a label followed another."""
    labels = [str(label) for label in counts.variable.labels]
    rows = [
        [label, *(number(value, 12) for value in row[:SHOWN_ROWS])]
        for label, row in zip(labels[:SHOWN_ROWS], counts.transitions.tolist(), strict=False)
    ]
    return _more([f"{counts.variable.name}, then", *labels[:SHOWN_ROWS]], rows, len(labels), len(labels[:SHOWN_ROWS]))


def statistics_cells(statistics: Statistics) -> Cells:
    """Lay out what was collected: one row a statistic."""
    needs = list(statistics)
    rows = [[need.kind, ", ".join(need.columns)] for need in needs[:SHOWN_ROWS]]
    return _more(["statistic", "over"], rows, len(needs), 0)


def _more(header: list[str], rows: list[list[str]], n: int, n_numbers: int) -> Cells:
    """Add a last row that says how many were left out; the last columns hold numbers."""
    if n > len(rows):
        rows = [*rows, [f"… {plural(n - len(rows), 'more row')}", *[""] * (len(header) - 1)]]
    return header, rows, "<" * (len(header) - n_numbers) + ">" * n_numbers
