"""Languages of code blocks that Pygments does not know: files of columns and of commas are plain text."""

from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the languages."""
    for name in ("columns", "csv"):
        app.add_lexer(name, TextLexer)
    return {"parallel_read_safe": True}
