"""A small chart of an iterative method: how far every step was from where it ended."""

from __future__ import annotations

import math
from collections.abc import Sequence

from suffice.text import number

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 14, 34
MOST_POINTS = 400


def convergence_chart(objectives: Sequence[float], steps: Sequence[int]) -> str:
    """Return an SVG of |objective − last objective| after every step, on a logarithmic scale; empty for few steps.

    Examples
    --------
    >>> convergence_chart([-10.0, -9.0, -8.9], [1, 2, 3]).count("<circle")
    2
    >>> convergence_chart([-8.9], [1])
    ''
    """
    last = objectives[-1] if objectives else math.nan
    gaps = [(step, abs(value - last)) for step, value in zip(steps, objectives, strict=True)]
    known = [(step, gap) for step, gap in gaps if math.isfinite(gap) and gap > 0]
    if len(known) < 2:
        return ""
    known = known[:: -(-len(known) // MOST_POINTS)]
    low, high = (math.log10(pick(gap for _, gap in known)) for pick in (min, max))
    low, high = math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    first, final = known[0][0], max(known[-1][0], known[0][0] + 1)

    def x_of(step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (step - first) / (final - first)

    def y_of(power: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - power) / (high - low)

    points = [(x_of(step), y_of(math.log10(gap))) for step, gap in known]
    every = max(1, -(-(high - low) // 6))
    parts = []
    for power in range(low, high + 1, every):
        parts.append(
            f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_of(power):.1f}" y2="{y_of(power):.1f}"/>'
        )
        parts.append(
            f'<text x="{LEFT - 8}" y="{y_of(power) + 4:.1f}" text-anchor="end">{number(10.0**power, 1)}</text>'
        )
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    parts.append(f'<path class="curve" d="M{path}"/>')
    if len(points) <= 60:
        parts += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in points]
    for step, anchor in ((first, "start"), (final, "end")):
        parts.append(f'<text x="{x_of(step):.1f}" y="{HEIGHT - 16}" text-anchor="{anchor}">{step:,}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 4}" text-anchor="middle">step</text>')
    said = "Distance of the objective from its last value after every step, on a logarithmic scale"
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">{"".join(parts)}</svg>'
