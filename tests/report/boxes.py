"""Where the texts of a picture are: none may lie on another, and none may leave the picture."""

from __future__ import annotations

import itertools
import re
from typing import Any

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

PIXEL = 1.0
POWER = re.compile(r"\$\\mathdefault\{[-−0-9.]*(\\times)?10\^\{[-−0-9]+\}\}\$")  # of ten, at a tick
LEAST = 7.0  # points


def texts_of(figure: Figure) -> list[Text]:
    """Return every text that is seen: titles, names of axes and of ticks, legends, numbers in cells."""
    figure.canvas.draw()
    found: list[Text] = []
    queue: list[Any] = [figure]
    while queue:
        artist = queue.pop()
        if not artist.get_visible():
            continue
        if isinstance(artist, Axis):
            low, high = sorted(artist.get_view_interval())
            edge = 1e-9 * (high - low)
            ticks = [*artist.get_major_ticks(), *artist.get_minor_ticks()]
            inside = [tick for tick in ticks if low - edge <= tick.get_loc() <= high + edge]
            queue += [label for tick in inside for label in (tick.label1, tick.label2)]
            queue += [artist.label, artist.offsetText]
        elif isinstance(artist, Legend):
            queue += [*artist.get_texts(), artist.get_title()]
        elif isinstance(artist, Text):
            if artist.get_text().strip():
                found.append(artist)
        else:
            queue += [child for child in artist.get_children() if _may_hold_text(artist, child)]
    return found


def _may_hold_text(parent: Any, child: Any) -> bool:
    """Say no to axes that are switched off, of which the ticks are not drawn."""
    return not isinstance(child, Axis) or getattr(parent, "axison", True)


def faults(figure: Figure) -> list[str]:
    """Say which texts lie on each other, leave the picture, are too small to be read, or are read as formulas."""
    texts = texts_of(figure)
    boxes = [text.get_window_extent() for text in texts]
    whole: Bbox = figure.bbox
    said = []
    for text, box in zip(texts, boxes, strict=True):
        outside = max(whole.x0 - box.x0, whole.y0 - box.y0, box.x1 - whole.x1, box.y1 - whole.y1)
        if outside > PIXEL:
            said.append(f"{text.get_text()!r} is {outside:.1f} pixels outside")
        if text.get_fontsize() < LEAST:
            said.append(f"{text.get_text()!r} has {text.get_fontsize():g} points")
        if "$" in text.get_text() and text.get_parse_math() and not POWER.fullmatch(text.get_text()):
            said.append(f"{text.get_text()!r} is read as a formula")
    for (one, a), (two, b) in itertools.combinations(zip(texts, boxes, strict=True), 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        down = min(a.y1, b.y1) - max(a.y0, b.y0)
        if min(across, down) > PIXEL:
            said.append(f"{one.get_text()!r} and {two.get_text()!r} overlap by {min(across, down):.1f} pixels")
    return said
