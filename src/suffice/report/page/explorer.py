"""What the page's explorer needs of a model: the graph with its layout, and tables for inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.data.labelled import LabelledTable
from suffice.inference.inquiry import Given
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.capabilities import CanSummarise, HasComplexity
from suffice.models.engine import ExactOrSampled
from suffice.models.model import Model
from suffice.models.normal_mixture import NormalMixture
from suffice.priors.credible import credible_marginals
from suffice.priors.network_posterior import NetworkPosterior
from suffice.report.page.entries import QUICK_VARIABLES, ReportParts, Spec, tried
from suffice.report.page.inference import normal_spec, tree_spec
from suffice.report.page.monitors import layout_of
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.result.fit import Fit

MOST_NODES, MOST_CELLS = 2_000, 20_000_000  # of a model whose distributions are shown although it cannot be asked
MOST_DRAWN = 5_000  # cells of a model that is calibrated a thousand times


def graph_spec(parts: ReportParts, has_monitors: bool) -> Spec | None:
    """Return the graph as the page takes it; none where there is no graph."""
    graph = parts.graph
    if graph is None or not graph.colours:
        return None
    entries = parts.entries[: len(graph.colours)]
    states = [entry.states for entry in entries] if has_monitors else None
    layout = layout_of(graph, [entry.name for entry in entries], states)
    n_nodes = len(entries)
    return {"n": n_nodes, "kinds": graph.colours, "directed": graph.directed, "what": graph.what, "layout": layout}


def local_specs(model: Model, fit: Fit | None, parts: ReportParts) -> Spec:
    """Return what inference in the page needs, or the distributions without evidence where it is too large for that."""
    found: Spec = {"tree": None, "normal": None, "prior": None, "whiskers": None}
    if parts.graph is None or not parts.graph.colours:
        return found
    names = [entry.name for entry in parts.entries[: len(parts.graph.colours)]]
    found["tree"] = tree_spec(model, names)
    found["whiskers"] = whiskers_of(model, fit, names) if found["tree"] else None
    found["normal"] = None if found["tree"] else normal_spec(model, names)
    if found["tree"] is None and found["normal"] is None:
        found["prior"] = prior_of(model, names)
    return found


def whiskers_of(model: Model, fit: Fit | None, names: Sequence[str]) -> list[list[list[float]]] | None:
    """Return the credible intervals of all marginals without evidence, by node; of small networks of tables only."""
    posterior = None if fit is None else fit.posterior
    if not isinstance(posterior, NetworkPosterior) or not isinstance(model, BayesianNetwork):
        return None
    if any(cpd.kind != "tabular" for cpd in model.cpds):
        return None
    if model.complexity().cells > MOST_DRAWN:
        return None
    found = tried(credible_marginals, model, posterior, Given())
    if found is None:
        return None
    place = model.schema.positions
    ends = [found[place[name]] for name in names]
    return [[[float(f"{low:.4g}"), float(f"{high:.4g}")] for low, high in zip(*pair, strict=True)] for pair in ends]


def prior_of(model: Model, names: Sequence[str]) -> Spec | None:
    """Return the distributions of all variables without evidence, to six digits; none where that would take long."""
    if not isinstance(model, CanSummarise) or not set(names) <= set(model.variables) or len(names) > MOST_NODES:
        return None  # nodes that are no variables, such as the labels of a chain, have no distributions of their own
    if not _is_quick(model):
        return None
    marginals = tried(model.marginals)
    if marginals is None:
        return None
    listed = [marginal_of(marginals.get(name)) for name in names]
    return None if all(marginal is None for marginal in listed) else {"logEvidence": 0, "marginals": listed}


def _is_quick(model: Model) -> bool:
    """Whether one calibration takes about a second at most."""
    size = tried(model.complexity) if isinstance(model, HasComplexity) else None
    return len(model.variables) <= QUICK_VARIABLES if size is None else size.cells <= MOST_CELLS


def marginal_of(answer: ExactOrSampled | None, digits: int | None = 6) -> list[float] | Spec | None:
    """Return a distribution of one variable as the page's ``Marginal``."""
    if answer is None:
        return None

    def short(values: Floats) -> list[float]:
        listed = [float(value) for value in values]
        return listed if digits is None else [float(f"{value:.{digits}g}") for value in listed]

    if isinstance(answer, LabelledTable):
        return short(answer.values.reshape(-1))
    if isinstance(answer, NormalMixture):
        means, spreads = answer.means.reshape(-1), answer.covariances.reshape(-1) ** 0.5
        return {"w": short(answer.weights), "m": short(means), "s": short(spreads)}
    return {"w": [1.0], "m": short(answer.mean), "s": short(answer.sd)}


def size_in_words(model: Model, specs: Spec) -> str:
    """Say that answers are exact, and how large the computation is."""
    if specs.get("normal") is not None:
        return f"✓ exact · normal distribution of {len(specs['normal']['mean']):,} variables"
    size = tried(model.complexity) if isinstance(model, HasComplexity) else None
    if size is None:
        return "✓ exact" if isinstance(model, CanSummarise) else ""
    return f"✓ exact · {size.n_cliques:,} cliques, {size.cells:,} cells"


def literals_of(model: Model, names: Sequence[str]) -> dict[int, list[str]]:
    """Return, by node, how Python writes the states that are no text there."""
    found = {}
    for place, name in enumerate(names):
        variable = model.schema.get(name)
        if variable is not None and variable.is_discrete and not all(isinstance(x, str) for x in variable.labels):
            found[place] = [repr(label) for label in variable.labels]
    return found
