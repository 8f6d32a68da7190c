"""Mathematics as MathML, written when the site is built: readers need neither scripts nor a network.

latex2mathml does the work. What it leaves out for browsers is mended here: the space after names of functions, accents
that lie close to their letters, script letters, and punctuation that is no letter.
"""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

NAMES = "log|exp|max|min|det|arg|tr|KL|Cov|Var"
SPACE = '<mspace width="0.17em"></mspace>'
UNKNOWN = re.compile(r"<m[io]>\\|<mtext>\\|<mi>&</mi>")
MENDS = (
    (re.compile(r"<mi>\\arg</mi>"), "<mi>arg</mi>"),
    (re.compile(rf"(<mi>(?:{NAMES})</mi>)(?=<m(?:i|n|sub|row|frac|over|underover|under|sup|text)\b)"), rf"\1{SPACE}"),
    (re.compile(rf"(</m[a-z]+>)(?=<mi>(?:{NAMES})</mi>)"), rf"\1{SPACE}"),
    (
        re.compile(r'<mover>(<mi[^>]*>[^<]*</mi><mo stretchy="(?:false|true)">(?:&#x0007E;|&#x000AF;))'),
        r'<mover accent="true">\1',
    ),
    (re.compile(r"<mo>(&#x0223C;)</mo>"), r'<mo lspace="0.28em" rspace="0.28em">\1</mo>'),
    (re.compile(r"<mi>([;:])</mi>"), r'<mo separator="true">\1</mo>'),
)
SCRIPT = re.compile(r'<mi mathvariant="script">([A-Z])</mi>')
HELD = {"B": "ℬ", "E": "ℰ", "F": "ℱ", "H": "ℋ", "I": "ℐ", "L": "ℒ", "M": "ℳ", "R": "ℛ"}
"""Script capitals that Unicode had before the others."""

logger = getLogger(__name__)


def mathml(latex: str, display: str) -> str:
    """Return a formula as MathML, with its source for those who copy it."""
    found = convert(" ".join(latex.split()), display=display)
    for pattern, replacement in MENDS:
        found = pattern.sub(replacement, found)
    if UNKNOWN.search(found):
        logger.warning("latex2mathml does not know a part of the formula %s", latex)
    return SCRIPT.sub(lambda match: f"<mi>{HELD.get(match[1], chr(0x1D49C + ord(match[1]) - ord('A')))}</mi>", found)


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write mathematics within a line."""
    self.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_display(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write an equation of its own, with its number and its anchor where it has a label."""
    self.body.append(self.starttag(node, "div", CLASS="equation"))
    self.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    if node.get("number"):
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make this the way in which pages show mathematics."""
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_display, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True}
