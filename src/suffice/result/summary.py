"""The summary of a fit that a statistician expects, as text and as HTML."""

from __future__ import annotations

import html
import math
import textwrap
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import AbsentError, EstimationError
from suffice.models.capabilities import HasNodes
from suffice.models.class_model import ClassModel, Posteriors
from suffice.models.log_linear import LogLinear
from suffice.models.softmax_model import SoftmaxModel
from suffice.priors.prior import Prior
from suffice.result.goodness import INEXACT, measure_for, p_text
from suffice.result.softmax_coefficients import softmax_coefficients
from suffice.stats.needs import Count, Moment
from suffice.stats.statistics import Statistics
from suffice.structures.cliques import Cliques
from suffice.structures.cliques_text import written
from suffice.structures.features import Features
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.structures.pairwise import Pairwise
from suffice.text import fixed, html_table, number, plain_facts, plain_table, plural, probability, visible
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.result.fit import Fit


WIDTH = 100
Cells = tuple[list[str], list[list[str]], str]

POINTS = {"mle": "maximum likelihood", "mean": "posterior mean", "map": "posterior mode"}
INEXACT_POINTS = {
    "pseudo_likelihood": {"mle": "maximum pseudo-likelihood", "map": "maximum pseudo-likelihood under a prior"},
    "stochastic": {"mle": "maximum likelihood by sampling", "map": "posterior mode by sampling"},
}
CONDITIONAL_POINTS = {"mle": "maximum conditional likelihood", "map": "posterior mode, given the inputs"}
OBSERVED_POINTS = {
    "mle": "maximum of the observed likelihood",
    "mean": "maximum of the observed likelihood with pseudo-counts",
    "map": "maximum of the observed likelihood under a prior",
}
SHOWN_WEIGHTS = 20


def facts(fit: Fit) -> list[tuple[str, str]]:
    """List the fit's main numbers as (name, value)."""
    by_hand = _is_by_hand(fit)
    is_pseudo = fit.method == "pseudo_likelihood"
    given = bool(fit.structure.given)
    targets = "target expectations" if isinstance(fit.structure, Features) else "target margins"
    rows = [
        ("model", repr(fit.model) if len(repr(fit.model)) <= 80 else type(fit.model).__name__),
        ("estimate", f"{estimate_of(fit)}, method {fit.method!r}"),
    ]
    if fit.prior is not None:
        rows.append(("prior", fit.prior.describe() if isinstance(fit.prior, Prior) else str(fit.prior)))
    read, dropped = fit.statistics.n_read, fit.statistics.n_dropped
    used = plural(read - dropped, fit.structure.unit)  # symbols of chains, windows of series
    used += f" ({dropped:,} of {read:,} dropped)" if dropped else ""
    used = used if fit.n == read - dropped else f"{used}, total weight {number(fit.n, 10)}"
    rows.append(("data", f"{targets}, total {number(fit.n, 10)}" if by_hand else used))
    kind = "pseudo-log-likelihood" if is_pseudo else "conditional log-likelihood" if given else "log-likelihood"
    kind = "observed log-likelihood" if fit.starts else kind
    rows.append((kind, "not known" if math.isnan(fit.log_likelihood) else fixed(fit.log_likelihood)))
    if fit.log_marginal_likelihood is not None:
        rows.append(("log marginal likelihood", fixed(fit.log_marginal_likelihood)))
    adjusted = f" ({fit.n_free_adjusted:,} with the data's zeros)" if fit.n_free_adjusted != fit.n_free else ""
    rows.append(("free parameters", f"{fit.n_free:,}{adjusted}"))
    if not math.isnan(fit.log_likelihood):
        rows.append(("AIC", fixed(fit.aic)))
        rows.append(("BIC", fixed(fit.bic)))
    return rows if fit.starts else rows + goodness_facts(fit)


def _is_by_hand(fit: Fit) -> bool:
    """Whether targets took the place of data."""
    return not fit.statistics.n_read and fit.n > 0


def estimate_of(fit: Fit) -> str:
    """Name the estimate; a structure whose settings change it has words of its own."""
    said: str | None = fit.structure.estimate
    if said:
        return said
    points = INEXACT_POINTS.get(fit.method, OBSERVED_POINTS if fit.starts else POINTS)
    points = CONDITIONAL_POINTS if fit.structure.given else points
    return f"{fit.certificate.claim if _is_by_hand(fit) else points[fit.point]}{_unbiased(fit)}"


def _unbiased(fit: Fit) -> str:
    """Say that variances are not those of maximum likelihood, where a structure asks for that."""
    divisor = fit.structure.divisor
    return "" if divisor == "n" or fit.point != "mle" else f" but for the divisor {divisor.replace('-', ' − ')}"


def goodness_facts(fit: Fit) -> list[tuple[str, str]]:
    """List the tests against the saturated model, where they are known and the counts for them are there."""
    if measure_for(fit.structure) is None or fit.method in INEXACT:  # whose likelihood may be out of reach
        return []
    from suffice.result.family_fits import MeasuredFit

    if not isinstance(fit, MeasuredFit):
        return []
    try:
        found = fit.goodness
    except AbsentError:  # no counts of the whole table, or no saturated estimate
        return []
    if found.df == 0 and isinstance(fit.structure, GaussianMarkov):  # a normal distribution without zeros
        return []
    df = f"{found.df:,} df"
    if found.is_adjusted and found.df_adjusted is not None:
        df += f" ({found.df_adjusted:,} for the {found.n_possible:,} cells that the zeros leave)"
    is_sparse = found.n_cells is not None and (found.n_possible is None or fit.n < found.n_possible)
    is_test = fit.prior is None and not is_sparse  # otherwise the statistics are distances, but no tests
    rows = [("G²", f"{fixed(found.G2)} on {df}{_p_text(found.p_value if is_test else None)}")]
    if found.X2 is not None:
        rows.append(("X²", f"{fixed(found.X2)}{_p_text(found.p_value_X2 if is_test else None)}"))
    return rows


def _p_text(p: float | None) -> str:
    if p is None or math.isnan(p):
        return ""
    said = p_text(p)
    return f", p {said[0]} {said[1:]}" if said[0] in "<>" else f", p = {said}"


def family_cells(fit: Fit) -> Cells | None:
    """Lay out the families with their local log-likelihoods, or return None for models without families.

    The likelihood of incomplete rows is not a sum over families, so that these have none of their own.
    """
    if not isinstance(fit.model, HasNodes):
        return None
    rows, kinds = [], []
    for node in fit.local or fit.structure.nodes:
        cpd = fit.model.cpd(node)
        states = str(cpd.family.child.n_states) if cpd.family.child.is_discrete else "-"
        parents = ", ".join(parent.name for parent in cpd.family.parents) or "-"
        rows.append([node, parents, states, *([fixed(fit.local[node])] if fit.local else [])])
        kinds.append(cpd.kind.replace("_", "-"))
    heads, sides = ["parents", "states", *(["log-likelihood"] if fit.local else [])], "<>>" if fit.local else "<>"
    if set(kinds) <= {"tabular"}:
        return ["node", *heads], rows, "<" + sides
    rows = [[row[0], kind, *row[1:]] for row, kind in zip(rows, kinds, strict=True)]
    return ["node", "kind", *heads], rows, "<<" + sides


def clique_cells(fit: Fit) -> Cells | None:
    """Lay out the cliques with the sizes of their tables, or return None for models without cliques."""
    if not isinstance(fit.structure, Cliques):
        return None
    rows = []
    for clique in fit.structure.cliques:
        counts = fit.statistics[Count(clique)]
        rows.append([written(clique), f"{counts.n_cells:,}", f"{counts.n_cells - len(counts.nonzero()[1]):,}"])
    return ["clique", "cells", "zeros"], rows, "<>>"


def weight_cells(fit: Fit) -> Cells | None:
    """Lay out the first weights, or how fields and couplings spread; None for models without features."""
    if not isinstance(fit.structure, Features):
        return None
    names, values = fit.model.weights.names, fit.model.weights.to_numpy()
    if isinstance(fit.structure, Pairwise) and len(names) > SHOWN_WEIGHTS:
        return _spin_cells(fit.model)
    rows = [[name, number(value)] for name, value in zip(names[:SHOWN_WEIGHTS], values, strict=False)]
    if len(names) > SHOWN_WEIGHTS:
        rows.append([f"… {len(names) - SHOWN_WEIGHTS:,} more features", ""])
    return ["feature", "weight"], rows, "<>"


def _spin_cells(model: LogLinear) -> Cells:
    """Count the fields and the couplings, with their least and largest."""
    is_coupling = np.array([len(feature.terms[0].scope) > 1 for feature in model.features.resolved(model.schema)])
    rows = []
    for name, which in (("fields", ~is_coupling), ("couplings", is_coupling)):
        values = model.weights.to_numpy()[which]
        if len(values):
            rows.append([name, f"{len(values):,}", number(float(values.min())), number(float(values.max()))])
    return ["weights", "number", "least", "largest"], rows, "<>>>"


def class_cells(fit: Fit) -> Cells | None:
    """Lay out the classes of a classifier: their rows and their probabilities; None for other models."""
    if not isinstance(fit.model, Posteriors):
        return None
    target = fit.model.target
    weights = _class_weights(fit.statistics, target.name)
    if weights is None:
        return None
    header, align = [target.name, "rows"], "<>"
    rows = [[str(label), number(float(n), 10)] for label, n in zip(target.labels, weights, strict=True)]
    if isinstance(fit.model, ClassModel):
        header, align = [*header, "p"], "<>>"
        rows = [[*row, probability(p)] for row, p in zip(rows, fit.model.class_prior, strict=True)]
    return header, rows, align


def _class_weights(statistics: Statistics, target: str) -> Floats | None:
    """Return the weight of every class, from whichever statistic tells it; None where none does."""
    for need in statistics:
        if isinstance(need, Count) and need.scope == (target,):
            return np.asarray(statistics[need].table())
        if isinstance(need, Moment) and need.by == (target,):
            return np.asarray(statistics[need].weight)
    counted = [statistics[need] for need in statistics if isinstance(need, Count) and target in need.scope]
    return np.asarray(counted[0].marginal((target,)).table()) if counted else None


def coefficient_cells(fit: Fit) -> Cells | None:
    """Lay out the coefficients of a softmax regression, with standard errors where they are known; None for others."""
    if not isinstance(fit.model, SoftmaxModel):
        return None
    if fit.model.information is None or fit.prior is not None or fit.certificate.exists == "no":
        return fit.model._cells()
    try:
        return softmax_coefficients(fit)._cells()
    except EstimationError:  # far from an optimum the information may be singular
        return fit.model._cells()


def part_cells(fit: Fit) -> Cells | None:
    """Lay out what the model consists of, families, cliques or weights; None for models without parts."""
    return coefficient_cells(fit) or class_cells(fit) or family_cells(fit) or clique_cells(fit) or weight_cells(fit)


def _nouns(header: list[str]) -> str:
    """Return what the rows of a table of parts are called."""
    if header[1] == "rows":  # of classes, whose first column is called as the data call it
        return "classes"
    return "coefficients" if header[:2] == ["class", "term"] else f"{header[0]}s"


def _first(cells: Cells) -> Cells:
    """Leave out the parts of a model that one screen has no room for."""
    header, rows, align = cells
    if len(rows) <= 60:
        return cells
    rest = [f"… {len(rows) - 50} more {_nouns(header)}", *[""] * (len(header) - 1)]
    return header, [*rows[:50], rest], align


def plain_summary(fit: Fit) -> str:
    """Return the summary as text."""
    lines = [plain_facts([(name, visible(value)) for name, value in facts(fit)])]
    mark = "✓" if fit.certificate.ok else "✗"
    lines += ["", *textwrap.wrap(f"{mark} {visible(fit.certificate.verdict)}", WIDTH, subsequent_indent="  ")]
    cells = part_cells(fit)
    if cells is not None:
        lines += ["", plain_table(*_first(cells))]
    if fit.notes:
        lines += ["", "Notes"]
        for note in fit.notes:
            lines += textwrap.wrap(f"- {visible(str(note))}", WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def html_summary(fit: Fit) -> str:
    """Return the summary as HTML, every text escaped."""
    parts = [html_table(["", ""], [[name, value] for name, value in facts(fit)], "<<")]
    mark = "✓" if fit.certificate.ok else "✗"
    parts.append(f"<p><b>{mark}</b> {html.escape(fit.certificate.verdict)}</p>")
    cells = part_cells(fit)
    if cells is not None:
        parts.append(html_table(*_first(cells)))
    if fit.notes:
        items = "".join(f"<li>{html.escape(str(note))}</li>" for note in fit.notes)
        parts.append(f"<p>Notes</p><ul>{items}</ul>")
    return "".join(parts)
