"""What W3a and W3b share: a table that says how fast contestants were and how near to the margins they came.

A contestant's answer holds ``gap``, the largest difference between a fitted margin and the one of the data, as
probabilities, computed after the clock stopped; ``steps``; and ``values``, on which contestants have to agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from common import Outcome, row_of, seconds, whole

LIMIT = 1e-8
"""The largest marginal error allowed."""


def margin_table(outcomes: Sequence[Outcome], tolerance: float) -> str:
    """Return the measurements as a Markdown table; ratios are multiples of the first that starts from the same."""
    head = ("", "CPU", "× CPU", "wall", "× wall", "first call CPU", "peak MiB", "steps", "marginal error", "answer")
    lines = [row_of(head), row_of(["---"] * len(head))]
    for outcome in outcomes:
        found, base = outcome.measured, reference_of(outcome, outcomes).measured
        if found is None:
            lines.append(row_of([outcome.entry.title, *["–"] * (len(head) - 2), outcome.trouble]))
            continue
        cells = [outcome.entry.title]
        for key in ("cpu", "wall"):
            cells += [seconds(found[key]), "–" if base is None else f"{found[key] / base[key]:.2f}"]
        cells += [seconds(found["first_cpu"]), whole(found["peak"]), whole(found["answer"]["steps"][0])]
        lines.append(row_of([*cells, error(found["answer"]["gap"][0]), compared(outcomes[0], outcome, tolerance)]))
    return "\n".join(lines)


def reference_of(outcome: Outcome, outcomes: Sequence[Outcome]) -> Outcome:
    """Return the first contestant that starts from what this one starts from."""
    return next(other for other in outcomes if starts_from(other) == starts_from(outcome))


def starts_from(outcome: Outcome) -> str:
    """Return what a contestant holds before the clock starts."""
    return str(outcome.entry.options.get("start", "table"))


def error(gap: float) -> str:
    """Show a marginal error, and whether it is too large."""
    return f"{gap:.1e}" if gap < LIMIT else f"{gap:.1e}, TOO LARGE"


def compared(reference: Outcome, other: Outcome, tolerance: float) -> str:
    """Say how far two contestants' answers are apart."""
    if reference.measured is None or other.measured is None:
        return "–"
    if reference is other:
        return "reference"
    mine, theirs = reference.measured["answer"]["values"], other.measured["answer"]["values"]
    gap = max(math.inf if math.isnan(a - b) else abs(a - b) for a, b in zip(mine, theirs, strict=True))
    return f"{'agrees' if gap <= tolerance else 'DIFFERS'} (largest gap {gap:.1e})"
