"""What all pictures share: colours, sizes, axes to draw on, and texts from data that are shown as they are.

Pictures are drawn for one column of a page, 3.4 inches wide, with texts of 7 points or more. Names and states come from
data and may hold anything: they are never read as formulas, are cut where they run long, and a character that the font
does not have is drawn as □.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from suffice.errors import ArgumentError, shown
from suffice.text import visible

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.patches import Patch
    from matplotlib.text import Text

# Okabe and Ito's colours, which differ for every kind of colour vision, and two of Tol's; in grey, neighbours differ.
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#666666", "#44AA99", "#882255",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
INK, QUIET, FAINT_LINE, NOTHING = "#222222", "#666666", "#DDDDDD", "#E8E8E8"
POSITIVE, NEGATIVE = "#B2182B", "#2166AC"  # the ends of RdBu, which differ for every kind of colour vision
SIGNED, SHARES = "RdBu_r", "Blues"  # maps of colours: for numbers of either sign, and for probabilities
COLUMN = 3.4  # width of one column of a page, in inches
TEXT, SMALL = 8.0, 7.0  # points
POINT = 1 / 72  # in inches
LINE = 1.3 * SMALL * POINT  # height that a line of small text takes, in inches
MISSING, CUT = "□", "…"

Look = dict[str, Any]
"""How something is drawn: arguments of matplotlib by name."""


def pyplot() -> ModuleType:
    """Return matplotlib's pyplot, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ArgumentError("Pictures need matplotlib. Install it: pip install 'suffice[plot]'.") from None
    return plt


def colour(k: int) -> str:
    """Return the colour of class or curve number ``k``; after the last comes the first."""
    return COLOURS[k % len(COLOURS)]


# Axes ---------------------------------------------------------------------------------------------------------


def axes_for(ax: Axes | None, height: float, width: float = COLUMN) -> tuple[Axes, bool]:
    """Return where to draw, and whether that is a new figure of so many inches."""
    plt = pyplot()
    if ax is None:
        return plt.subplots(figsize=(width, height), layout="constrained")[1], True
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ArgumentError(
            f"The 'ax' argument must be an Axes of matplotlib, as plt.subplots()[1] is, or None. Got {shown(ax)} "
            "instead."
        )
    return ax, False


def size_of(ax: Axes) -> tuple[float, float]:
    """Return the width and the height of axes, in inches."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return box.width / dpi, box.height / dpi


def plain(ax: Axes, grid: str = "") -> None:
    """Leave the frame open at the top and at the right, with thin lines along one axis or both."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)
    ax.xaxis.offsetText.set_fontsize(SMALL)
    ax.yaxis.offsetText.set_fontsize(SMALL)
    if grid:
        ax.grid(axis=grid, color=FAINT_LINE, linewidth=0.6)  # type: ignore[arg-type]
        ax.set_axisbelow(True)


# Texts from data ----------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def _characters(families: tuple[str, ...]) -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known: set[int] = set()
    for family in families:
        known.update(get_font(findfont(FontProperties(family=[family]))).get_charmap())
    return frozenset(known)


def literal(text: object) -> str:
    r"""Return text that can be drawn: control characters spelt out, those that the font lacks as □.

    >>> literal("a\tb"), literal("$x$ 🦜")
    ('a\\tb', '$x$ □')
    """
    from matplotlib.font_manager import FontProperties

    known = _characters(tuple(FontProperties().get_family()))
    kept = []
    for char in visible(str(text)):
        if ord(char) in known:
            kept.append(char)
        elif unicodedata.category(char) not in ("Mn", "Me", "Cf"):  # which change other characters, and are none
            kept.append(MISSING)
    return "".join(kept)


@functools.lru_cache(maxsize=4096)
def _width(text: str, size: float, families: tuple[str, ...]) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    found = TextToPath().get_text_width_height_descent(text, FontProperties(family=list(families), size=size), False)
    return float(found[0]) * POINT


def width_of(text: str, size: float = SMALL) -> float:
    """Return how wide a text is drawn, in inches."""
    from matplotlib.font_manager import FontProperties

    return _width(text, size, tuple(FontProperties().get_family()))


def short(text: object, inches: float, size: float = SMALL) -> str:
    """Return text that can be drawn, its middle cut out so that it is at most so wide; some characters always stay.

    >>> short("a rather long name", 0.7)
    'a rathe…ame'
    """
    return shortened(literal(str(text)[:200] + str(text)[200:][-200:]), inches, size)  # more is never drawn


def shortened(whole: str, inches: float, size: float = SMALL) -> str:
    """Cut the middle out of text that can be drawn."""
    if width_of(whole, size) <= inches:
        return whole

    def cut(n: int) -> str:
        return whole[: n - n // 3].rstrip() + CUT + (whole[-(n // 3) :].lstrip() if n // 3 else "")

    low, high = 1, len(whole)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if width_of(cut(middle), size) <= inches else (low, middle)
    return cut(low)


def short_list(parts: Sequence[object], inches: float, size: float = SMALL) -> str:
    """Return several texts with commas between them; where they run long, each is cut.

    >>> short_list(["yes", "a rather long name", "no"], 0.9)
    'yes, a rat…me, no'
    """
    held = [literal(str(part)[:200] + str(part)[200:][-200:]) for part in parts]
    whole = ", ".join(held)
    if len(held) < 2 or width_of(whole, size) <= inches:
        return shortened(whole, inches, size)
    left, room = inches - width_of(", ", size) * (len(held) - 1), dict[int, float]()
    for done, k in enumerate(sorted(range(len(held)), key=lambda k: width_of(held[k], size))):
        room[k] = min(width_of(held[k], size), left / (len(held) - done))
        left -= room[k]
    return shortened(", ".join(shortened(part, room[k], size) for k, part in enumerate(held)), inches, size)


def widest(texts: Sequence[str], size: float = SMALL) -> float:
    """Return the width of the widest text, in inches."""
    return max((width_of(text, size) for text in texts), default=0.0)


def wrapped(text: str, inches: float, size: float = SMALL) -> str:
    r"""Break text into lines that are at most so wide, words kept whole where they fit.

    >>> wrapped("one two three", 0.4)
    'one two\nthree'
    """
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, size) > inches:
            lines.append(short(word, inches, size))
        else:
            lines[-1] = short(longer, inches, size)
    return "\n".join(lines)


def write(ax: Axes, x: float, y: float, text: str, **look: Any) -> Text:
    """Write text from data at a place of the axes, in small letters unless told otherwise."""
    return ax.text(x, y, text, **{"fontsize": SMALL, "color": INK, "parse_math": False, **look})


def entitle(
    ax: Axes,
    is_new: bool,
    *,
    x: str = "",
    y: str = "",
    title: str = "",
    remarks: Sequence[str] = (),
    size: float = TEXT,
) -> None:
    """Name the axes, each name within the room that there is; remarks stand below in small letters.

    Of a new figure, the room is known after its layout.
    """
    look: Look = {"fontsize": size, "parse_math": False}
    if x or remarks:  # lines that take their room before their final words are known
        ax.set_xlabel("\n".join(" " for _ in range(2 * len(remarks) + bool(x))), fontsize=size)
    if y:
        ax.set_ylabel(" ", fontsize=size)
    if title:
        ax.set_title(" ", fontsize=size)
    if is_new:
        ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    wide, high = size_of(ax)
    if x or remarks:
        lines = [wrapped(remark, wide, size) for remark in remarks]
        ax.set_xlabel("\n".join([*([short(x, wide, size)] if x else []), *lines]), **look)
    if y:
        ax.set_ylabel(short(y, high, size), **look)
    if title:
        ax.set_title(short(title, wide, size), **look)


def legend(ax: Axes, handles: Sequence[Any], names: Sequence[str], **look: Any) -> Legend:
    """Add a legend whose names are shown as they are: matplotlib would leave out those that begin with ``_``."""
    title = look.pop("title", "")
    found = ax.legend(handles, ["x"] * len(handles), **{"fontsize": SMALL, "title_fontsize": SMALL, **look})
    for text, name in zip(found.get_texts(), names, strict=True):
        text.set_text(name)
        text.set_parse_math(False)
    if title:
        found.set_title(title)
        found.get_title().set_parse_math(False)
    return found


def blank() -> Patch:
    """Return what stands in a legend before words that belong to nothing in the picture."""
    from matplotlib.patches import Patch

    return Patch(visible=False)


def every(n: int, room: float, line: float = LINE) -> int:
    """Return k such that every k-th of n names has a line of its own in so many inches.

    >>> every(10, 3.0), every(100, 3.0)
    (1, 5)
    """
    return max(1, math.ceil(n * line / max(room, line)))


def ordinal(k: int) -> str:
    """Say 2nd, 3rd, 4th.

    >>> [ordinal(k) for k in (1, 2, 3, 11, 22)]
    ['1st', '2nd', '3rd', '11th', '22nd']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th") if k % 100 not in (11, 12, 13) else "th"
    return f"{k}{ending}"
