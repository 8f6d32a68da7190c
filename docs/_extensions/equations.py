"""Where the equations of the pages are computed: lines of the source that end with a comment such as ``# eq bn-mle``.

In C++ that is ``// eq bn-mle``.

An equation has a label in its page, ``$$ … $$ (eq-bn-mle)``. Below it stand links to the lines with its name, into
pages of the source that are made with the site. All of it is found when the site is built, so that it cannot go stale;
`tests/test_equations.py` holds labels and comments together.
"""

import functools
import re
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.logging import getLogger

SOURCE = Path(__file__).resolve().parents[2] / "src"
TAG = re.compile(r"(?:#|//) eq ((?:[a-z0-9]+-)*[a-z0-9]+)(?: +(?:#|//) .*)?$")
ENDINGS = (".py", ".cpp", ".hpp")
PREFIX = "eq-"

logger = getLogger(__name__)


class Line(NamedTuple):
    """A line of the source that computes an equation."""

    path: str
    number: int


@functools.cache
def tagged_lines(source: Path = SOURCE) -> dict[str, list[Line]]:
    """Return the lines of each equation, by its name."""
    found: dict[str, list[Line]] = {}
    for path in sorted(path for path in source.rglob("*") if path.suffix in ENDINGS):
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if " eq " in text and (match := TAG.search(text)):
                alone = text.lstrip().startswith(("# eq", "// eq"))  # a comment of its own is about the next line
                found.setdefault(match[1], []).append(Line(path.relative_to(source).as_posix(), number + alone))
    return found


def page_of(path: str) -> str:
    """Return the name of the page that shows a file of the source."""
    return f"source/{path.removesuffix('.py')}"


class LinkLines(SphinxPostTransform):
    """Put links to its lines below every equation that has a label."""

    default_priority = 200

    def run(self, **_: Any) -> None:
        """Look at the equations of one page."""
        if self.app.builder.format != "html":
            return
        lines = tagged_lines()
        for equation in list(self.document.findall(nodes.math_block)):
            label = equation.get("label") or ""
            if not label.startswith(PREFIX):
                continue
            computed = lines.get(label.removeprefix(PREFIX), [])
            if not computed:
                logger.warning("no line of the source computes %s", label, location=equation)
            paragraph = nodes.paragraph(classes=["computed-in"])
            paragraph += nodes.Text("computed in ")
            for position, line in enumerate(computed):
                if position:
                    paragraph += nodes.Text(", ")
                uri = self.app.builder.get_relative_uri(self.env.docname, page_of(line.path)) + f"#L-{line.number}"
                text = f"{line.path.removeprefix('suffice/')}:{line.number}"
                paragraph += nodes.reference("", "", nodes.literal(text=text), refuri=uri, internal=True)
            parent = equation.parent
            parent.insert(parent.index(equation) + 1, paragraph)


SOURCE_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{up}_static/pygments.css">
<link rel="stylesheet" href="{up}_static/site.css">
</head>
<body class="source">
<p><a href="{up}index.html">suffice</a></p>
<h1><code>{title}</code></h1>
{code}
</body>
</html>
"""


def write_source_pages(app: Sphinx, failure: Exception | None) -> None:
    """Make a page of every file that computes an equation, with an anchor at every line and its own lines marked.

    They are written by hand: a page of the theme would hold the whole menu, and take most of the build's time.
    """
    if failure is not None or app.builder.format != "html":
        return
    wanted: dict[str, set[int]] = {}
    for lines in tagged_lines().values():
        for line in lines:
            wanted.setdefault(line.path, set()).add(line.number)
    for path, numbers in sorted(wanted.items()):
        looks = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True, hl_lines=sorted(numbers))
        code = highlight((SOURCE / path).read_text(encoding="utf-8"), get_lexer_for_filename(path), looks)
        page = Path(app.outdir) / f"{page_of(path)}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * page_of(path).count("/")
        title = path.removesuffix(".py").replace("/", ".")
        page.write_text(SOURCE_PAGE.format(title=title, up=up, code=code), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Hang the two steps into the build."""
    app.add_post_transform(LinkLines)
    app.connect("build-finished", write_source_pages)
    return {"parallel_read_safe": True}
