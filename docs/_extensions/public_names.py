"""The public names, from the table in `suffice/__init__.py` that says where each of them lives.

``{names} fit DAG`` is a table of names with a sentence each, which lead to the reference.
``{reference} suffice.priors`` is the reference itself: all public names that live in these modules, with their
docstrings; ``{plots}`` is that of the functions that draw. A public name that the reference lacks is a warning, and so
are a name that does not exist and modules without public names.
"""

import inspect
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

import suffice
from suffice import report

HOMES: dict[str, tuple[str, ...]] = suffice._HOMES  # the table is private to users, not to its own documentation
FOREIGN = "BaseEstimator, Exception, tuple, dict, Mapping, Generic"
"""Classes whose members need no words here."""
COLON = "\ue000"
"""Stands for a colon, and is in no text."""

logger = getLogger(__name__)


def names_in(*modules: str) -> list[str]:
    """Return the public names that live in modules, or below them, in the order of the table."""
    return [
        name
        for home, names in HOMES.items()
        if any(home == module or home.startswith(f"{module}.") for module in modules)
        for name in names
    ]


def first_sentence(thing: Any) -> str:
    """Return what a docstring says first."""
    paragraph = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return paragraph.removesuffix(".")


def autodoc(name: str) -> str:
    """Return the directive that documents a public name with its methods."""
    thing = getattr(suffice, name)
    if not inspect.isclass(thing):
        return f".. autofunction:: suffice.{name}\n"
    if issubclass(thing, Exception):
        return f".. autoexception:: suffice.{name}\n   :show-inheritance:\n"
    return f".. autoclass:: suffice.{name}\n   :members:\n   :inherited-members: {FOREIGN}\n"


class Markdown(SphinxDirective):
    """A directive that writes Markdown, which is then read as if the page had it."""

    required_arguments = 1
    final_argument_whitespace = True

    def text(self) -> str:
        """Return the Markdown."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Read the Markdown."""
        container = nodes.Element()
        lines = StringList(self.text().splitlines(), source=self.env.doc2path(self.env.docname))
        self.state.nested_parse(lines, self.content_offset, container)
        return container.children


class Names(Markdown):
    """A table of public names with what they are."""

    def text(self) -> str:
        """Return a line for every name that exists; others are a warning."""
        return table_of(self.arguments[0].split(), self)


class Reference(Markdown):
    """Docstrings of all public names that live in some modules, after a table of them."""

    def text(self) -> str:
        """Return the reference of modules; those without public names are a warning."""
        modules = self.arguments[0].split()
        for module in modules:
            if not names_in(module):
                logger.warning("no public name lives in %s", module, location=self.get_location())
        names = names_in(*modules)
        return "\n".join([table_of(names, self), *(f"```{{eval-rst}}\n{autodoc(name)}```\n" for name in names)])


class Plots(Markdown):
    """Docstrings of the functions that draw, after a table of them."""

    required_arguments = 0

    def text(self) -> str:
        """Return the reference of `suffice.report`."""
        rows = ["| | |", "|---|---|"]
        for name in report.PLOTS:
            rows.append(f"| {{py:func}}`{name} <suffice.report.{name}>` | {first_sentence(getattr(report, name))} |")
        parts = [f"```{{eval-rst}}\n.. autofunction:: suffice.report.{name}\n```\n" for name in report.PLOTS]
        return "\n".join([*rows, "", *parts])


def table_of(words: list[str], directive: SphinxDirective) -> str:
    """Return a line for every name that exists; others are a warning."""
    rows = ["| | |", "|---|---|"]
    for word in words:
        owner, _, member = word.partition(".")
        if owner not in suffice._HOME:
            logger.warning("suffice has no public name %r", word, location=directive.get_location())
            continue
        thing = getattr(suffice, owner)
        role = "py:meth" if member else "py:obj"
        meaning = first_sentence(getattr(thing, member) if member else thing).replace("|", "\\|")
        rows.append(f"| {{{role}}}`sf.{word} <suffice.{word}>` | {meaning} |")
    return "\n".join(["```{rst-class} public-names", "```", *rows, ""])


def ours(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out members that classes have from other libraries."""
    home = getattr(thing, "__module__", None) or ""
    return True if home.startswith("sklearn.") else None


def hide_colons(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep napoleon from taking "The lags: all of them" of a property for a type and its meaning."""
    if what in {"property", "attribute"} and lines:
        lines[0] = lines[0].replace(": ", f"{COLON} ")


def show_colons(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Put back what was hidden."""
    lines[:] = [line.replace(COLON, ":") for line in lines]


def link_types(_: Sphinx, document: nodes.document) -> None:
    """Let words of types lead to public names, and to nothing else."""
    for link in list(document.findall(pending_xref)):
        if link.get("refdomain") != "py" or link.get("reftype") not in {"class", "exc", "obj"}:
            continue
        name = link["reftarget"].rpartition(".")[2]
        if name in suffice._HOME and (link["reftype"] == "obj" or inspect.isclass(getattr(suffice, name))):
            link["reftarget"] = f"suffice.{name}"
        else:
            link.replace_self(link.children)


def every_name_has_a_place(_: Sphinx, env: BuildEnvironment) -> None:
    """Warn of public names that the reference lacks."""
    found = env.domains.python_domain.objects
    for name in suffice._HOME:
        if f"suffice.{name}" not in found:
            logger.warning("the public name %r is missing from the reference (docs/api)", name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and the check."""
    app.add_directive("names", Names)
    app.add_directive("reference", Reference)
    app.add_directive("plots", Plots)
    app.connect("autodoc-skip-member", ours)
    app.connect("autodoc-process-docstring", hide_colons, priority=400)
    app.connect("autodoc-process-docstring", show_colons, priority=600)
    app.connect("doctree-read", link_types)
    app.connect("env-check-consistency", every_name_has_a_place)
    return {"parallel_read_safe": True}
