"""How Sphinx builds the site: `make docs`. What the pages need beyond Sphinx is in `_extensions`, one file each."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "_extensions")]

from suffice import __version__  # noqa: E402

project = "suffice"
author = "the suffice authors"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "public_names",
    "mathml",
    "equations",
    "pictures",
    "lexers",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_extensions", "_static"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
nitpicky = True
toc_object_entries = False
default_role = "code"
highlight_language = "text"
math_eqref_format = "({number})"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"suffice {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
