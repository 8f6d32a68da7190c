"""Pictures drawn when the site is built: ``{picture} name`` asks the files of figures for the one of that name.

So they always show what the library of this commit draws, and none is committed. A figure is a function that draws and
returns its axes; the files that hold them have a dict `FIGURES` by name.
"""

import importlib
import os
from pathlib import Path
from typing import Any

import matplotlib
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

FILES = ("estimator_figures", "figures")
LOOKS = {"svg.hashsalt": "suffice", "savefig.bbox": "standard"}
DRAWN: set[str] = set()
"""The pictures of this build; those of another may be of another commit."""

logger = getLogger(__name__)


def figures(folder: Path) -> dict[str, Any]:
    """Return the functions that draw, by name."""
    files = [importlib.import_module(name) for name in FILES if (folder / f"{name}.py").exists()]
    return {name: draw for file in files for name, draw in file.FIGURES.items()}


def draw(function: Any, path: Path) -> None:
    """Draw a picture into a file."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with matplotlib.rc_context(LOOKS):
        function().figure.savefig(path, metadata={"Date": None}, transparent=False)
    plt.close("all")


class Picture(SphinxDirective):
    """A picture with a caption, which is the content, and ``:alt:`` words for those who cannot see it."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": str}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Draw the picture and refer to its file."""
        name, known = self.arguments[0], figures(Path(self.env.srcdir))
        if name not in known:
            logger.warning("there is no figure %r in docs/*figures.py", name, location=self.get_location())
            return []
        path = Path(self.env.doctreedir) / "figures" / f"{name}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        if name not in DRAWN:
            draw(known[name], path)
            DRAWN.add(name)
        here = Path(self.env.doc2path(self.env.docname)).parent
        image = nodes.image(uri=Path(os.path.relpath(path, here)).as_posix(), alt=self.options.get("alt", name))
        figure = nodes.figure("", image, align="center")
        if self.content:
            words, _ = self.state.inline_text(" ".join(self.content), self.lineno)
            figure += nodes.caption("", "", *words)
        return [figure]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True}
