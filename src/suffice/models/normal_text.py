"""How a normal distribution prints: means, standard deviations and partial correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.text import html_table, number, plain_table, plural

if TYPE_CHECKING:
    from suffice.models.joint_normal import JointNormal

SHOWN_VARIABLES = 10
"""Up to so many variables a printout has all partial correlations; beyond, the strongest."""
SHOWN_PAIRS = 20
SHOWN_ROWS = 40
"""Up to so many variables have their rows; of more, the first."""
CAPTION = "partial correlations, given all other variables"

Cells = tuple[list[str], list[list[str]], str]


def plain_normal(model: JointNormal) -> str:
    """Return the printout of a `JointNormal` as text."""
    if len(model.names) == 1:
        return plain_table(*_cells(model))
    if len(model.names) <= SHOWN_VARIABLES:
        return f"{plain_table(*_cells(model))}\n{CAPTION}"
    return f"{plain_table(*_cells(model))}\n\n{plain_table(*_strongest(model))}\nthe strongest {CAPTION}"


def html_normal(model: JointNormal) -> str:
    """Return the printout of a `JointNormal` as HTML."""
    if len(model.names) <= SHOWN_VARIABLES:
        return html_table(*_cells(model), caption=CAPTION if len(model.names) > 1 else "")
    return html_table(*_cells(model)) + html_table(*_strongest(model), caption=f"the strongest {CAPTION}")


def _cells(model: JointNormal) -> Cells:
    n_more = len(model.names) - SHOWN_ROWS
    names = model.names[:SHOWN_ROWS] if n_more > 0 else model.names
    rows = [[name, number(mean), number(sd)] for name, mean, sd in zip(names, model.mean, model.sd, strict=False)]
    rows += [[f"… {plural(n_more, 'more variable')}", "", ""]] if n_more > 0 else []
    if len(model.names) == 1 or len(model.names) > SHOWN_VARIABLES:
        return ["variable", "mean", "sd"], rows, "<>>"
    partial = model.partial_correlations
    for place, row in enumerate(rows):
        row += ["" if place == other else number(value, 3) for other, value in enumerate(partial[place])]
    return ["variable", "mean", "sd", *model.names], rows, "<>>" + ">" * len(rows)


def _strongest(model: JointNormal) -> Cells:
    partial = np.triu(model.partial_correlations, 1)
    order = np.argsort(-np.abs(partial), axis=None, kind="stable")[:SHOWN_PAIRS]
    pairs = [divmod(int(place), len(model.names)) for place in order]
    rows = [[model.names[a], model.names[b], number(partial[a, b], 3)] for a, b in pairs if partial[a, b]]
    return ["variable", "and", "partial correlation"], rows, "<<>"
