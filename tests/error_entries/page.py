"""Errors of reports: what has none, data that cannot be scored, and paths that are none."""

from __future__ import annotations

import pytest
from tests.command_line import run
from tests.error_catalogue import A, D, World, X, entry

import suffice as sf
from suffice.errors import ArgumentError
from suffice.report.page import write_report


def chain(w: World) -> sf.Fit:
    return sf.fit(sf.MarkovChain(order=1), ["aabab", "abba"])


def said(*arguments: str) -> None:
    """Run a command that fails, and raise what it says."""
    result = run(*arguments)
    assert result.exit_code == 2
    raise ArgumentError(result.stderr)


def printed(w: World, browsers: tuple[str, ...]) -> None:
    """Print a report by other programs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.report.page.paper.BROWSERS", browsers)
        w.fit().report(w.path("x.pdf"), plots=False)


entry("report of a structure", A, lambda w: write_report(w.dag, w.path("x.html")), "a fit, or of a model",
      "BayesianNetwork", "Got DAG('A -> B')")  # fmt: skip
entry("report of statistics", A, lambda w: write_report(w.stats(), w.path("x.html")), "a fit, or of a model")
entry("report to a number", A, lambda w: w.fit().report(3), "'path'", "HTML file", "Got 3")
entry(
    "report that is no page", A, lambda w: w.fit().report(w.path("x.doc")), ".html or .htm", "x.html", "x.doc' instead"
)
entry("report as PDF without a browser", A, lambda w: printed(w, ()), "Chromium", "Install one", "x.html")
entry("report as PDF by a browser that fails", X, lambda w: printed(w, ("false",)), "did not print the page",
      "Write an HTML file")  # fmt: skip
entry("report to nothing", A, lambda w: w.fit().report(""), "'path'", "Got ''")
entry("report without a title", A, lambda w: w.fit().report(w.path("x.html"), title=""), "'title'", "not empty")
entry("report into no folder", X, lambda w: w.fit().report(w.path("no/x.html"), plots=False), "Cannot write", "x.html",
      "a folder that exists")  # fmt: skip
entry("report with sequences", A, lambda w: chain(w).report(w.path("x.html"), data=["aab"]), "'data'",
      "MarkovChainModel", "model.log_prob")  # fmt: skip
entry("report with an unknown state", D, lambda w: w.fit().report(w.path("x.html"), data={"A": ["q"], "B": ["u"]}),
      "'A'", "'q'", "['x', 'y']")  # fmt: skip
entry("report with a column missing", D, lambda w: w.fit().report(w.path("x.html"), data={"A": ["x"]}), "'B'")
entry("report to a model file", A, lambda w: said("report", w.path("m.json"), "--out", w.path("m.bif")), "HTML file",
      "m.bif")  # fmt: skip
