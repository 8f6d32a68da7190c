"""How a mixture of normal distributions prints, and how it becomes a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.data.frame import to_native
from suffice.text import number, probability
from suffice.types import Frame

if TYPE_CHECKING:
    from suffice.models.normal_mixture import NormalMixture

SHOWN_ROWS = 20
Cells = tuple[list[str], list[list[str]], str]


def cells(mixture: NormalMixture) -> Cells:
    """Return header, rows and alignment of the printout of a `NormalMixture`, the whole in the last row."""
    by, codes, p, means, sds = mixture.rows()
    header = [variable.name for variable in by] + ["p"]
    for name in mixture.names:
        header += [f"mean {name}", f"sd {name}"]
    rows = []
    for row in range(min(len(p), SHOWN_ROWS)):
        labels = [str(variable.labels[code]) for variable, code in zip(by, codes[row], strict=True)]
        rows.append([*labels, probability(p[row]), *_moments(means[row], sds[row])])
    if len(p) > SHOWN_ROWS:
        rows.append([f"… {len(p) - SHOWN_ROWS} more rows", *[""] * (len(header) - 1)])
    rows.append(["all", *[""] * (len(by) - 1), "1", *_moments(mixture.mean, mixture.sd)])
    return header, rows, "<" * len(by) + ">" * (1 + 2 * len(mixture.names))


def _moments(mean: Any, sd: Any) -> list[str]:
    return [number(value) for pair in zip(mean, sd, strict=True) for value in pair]


def frame(mixture: NormalMixture, backend: str | None) -> Frame:
    """Return the rows that are printed, all of them, as a frame."""
    by, codes, p, means, sds = mixture.rows()
    columns: dict[str, Any] = {}
    for place, variable in enumerate(by):
        columns[variable.name] = [variable.labels[code] for code in codes[:, place]]
    numbers = [("p", p)]
    for place, name in enumerate(mixture.names):
        numbers += [(f"mean {name}", means[:, place]), (f"sd {name}", sds[:, place])]
    for name, values in numbers:
        label = name
        while label in columns:
            label += "_"
        columns[label] = values
    return to_native(columns, backend)
