"""Why a fit of a network has no posterior distribution of its parameters."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from suffice.errors import Made, Mention, Remedy, Text, listing
from suffice.families.choice import methods_for
from suffice.models.cpds import nodes_of
from suffice.priors.binding import prior_of, without_prior
from suffice.priors.penalty import Penalty
from suffice.priors.several import REMEDIES
from suffice.structures.dag import DAG

if TYPE_CHECKING:
    from suffice.result.fit import Fit


def explain_absent_posterior(fit: Fit) -> str:
    """Say why a network has no posterior, and what to do about it; an empty text for fits of other structures.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"A": ["x", "y", "x"], "B": ["u", "v", "v"]}
    >>> explain_absent_posterior(sf.fit(sf.DAG("A -> B"), data, prior={"A": sf.BDeu(1)}))
    "It would need a prior on every node, and ['B'] have none. Give all of them one, such as prior=sf.BDeu(10)."
    """
    structure = fit.structure
    if not isinstance(structure, DAG) or fit.posterior is not None:
        return ""
    nodes = nodes_of(structure, fit.model.schema)
    given = _conjugate({kind.name for kind, _ in nodes.values()})
    if fit.prior is None:
        return Text("Fit with a prior, such as ", Remedy("prior", given), ".") if given else ""
    if methods_for(structure)[fit.method].incomplete:
        return Text(
            "The posterior given rows that lack values has no closed form; ",
            Mention("standard_errors", "fit.standard_errors(data)"),
            " tells how well the parameters are known.",
        )
    penalised = [
        node for node, (kind, family) in nodes.items() if isinstance(prior_of(fit.prior, kind, family), Penalty)
    ]
    if penalised:
        return f"The prior on {listing(penalised, 6)} is a penalty, under which there is a mode and no posterior."
    bare = without_prior(fit.prior, structure, nodes)
    said = f"It would need a prior on every node, and {listing(bare, 6)} have none."
    return Text(f"{said} Give all of them one, such as ", Remedy("prior", given), ".") if given else said


def _conjugate(kinds: Collection[str]) -> Made | list[Made] | None:
    """Return a prior on every node that has a posterior; None where some kind has no such prior."""
    priors = [REMEDIES[kind] for kind in ("tabular", "linear_gaussian") if kind in kinds]
    if len(priors) != len(kinds):
        return None
    return priors[0] if len(priors) == 1 else priors
