"""Explore: a model that people ask by clicking, on a page that this machine serves to its own browser."""

from __future__ import annotations

import sys

from suffice.errors import ArgumentError, is_number, shown
from suffice.explore.answers import NAME, Answering, require_explorable
from suffice.explore.served import Served, Shown, forwarding, in_notebook, is_interactive, is_remote
from suffice.models.model import Model
from suffice.result.fit import Fit
from suffice.types import TableLike


def explore(
    thing: Fit | Model, data: TableLike | None = None, *, browser: bool = True, port: int = 0, wait: bool | None = None
) -> Served | Shown | None:
    """Serve a page on which a fit or a model is asked by clicking, and open it in the browser.

    ``thing`` is a fit, a Bayesian network, a Markov random field, a log-linear model or a joint normal distribution;
    the other arguments, what is returned and what is raised are those of `Fit.explore`.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y"], "B": ["u", "v", "v"]})
    >>> served = explore(fit, browser=False, wait=False)  # doctest: +ELLIPSIS
    http://127.0.0.1:.../?token=...
    >>> served.close()
    """
    _require_port(port)
    if in_notebook() and is_remote() and wait is None:
        shown_here = _shown(thing)
        if shown_here is not None:
            if data is not None:
                print("The explorer in a cell answers by itself, and has no rows to step through.", file=sys.stderr)
            return shown_here
    served = open_explorer(thing, data, port)
    print(served.url, flush=True)
    if is_remote():
        print(forwarding(served.port), file=sys.stderr)
    if browser:
        served.show()
    if not (not is_interactive() if wait is None else wait):
        return served
    served.wait()
    return None


def open_explorer(thing: Fit | Model, data: TableLike | None = None, port: int = 0, name: str = NAME) -> Served:
    """Serve the explorer in the background; arguments as in `explore`, and the name of the model's file."""
    _require_port(port)
    return Served(Answering(*require_explorable(thing), data, name), int(port))


def _require_port(port: int) -> None:
    if not is_number(port) or not 0 <= port <= 65535 or int(port) != port:
        raise ArgumentError(f"The 'port' argument must be a whole number from 0 to 65535. Got {shown(port)} instead.")


def _shown(thing: Fit | Model) -> Shown | None:
    """Return the explorer that answers inside the page, or None where the model is too large for it."""
    from suffice.report.page import report_html
    from suffice.report.page.inference import normal_spec, tree_spec

    model, _ = require_explorable(thing)
    nodes = list(model.variables)
    if tree_spec(model, nodes) is None and normal_spec(model, nodes) is None:
        return None
    return Shown(report_html(thing, plots=False))


__all__ = ["Answering", "Served", "Shown", "explore", "open_explorer"]
