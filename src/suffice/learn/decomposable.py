"""Decomposable Markov random fields in closed form: p = Π_C t_C / Π_S t_S over cliques and separators, and Z = 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import StructureError, Text
from suffice.inference.facial import Face, facial_set
from suffice.learn.cliques import boundary_remarks, check, refuses_penalties
from suffice.learn.matching import clique_table, needs
from suffice.learn.method import Method, Problem, Solution
from suffice.models.clique_layout import layout_of
from suffice.priors.hyper_dirichlet import HyperDirichlet, network_of_margins
from suffice.priors.pseudo_margins import pseudo_margin
from suffice.stats.needs import Count
from suffice.structures.cliques import Cliques
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.markov_net import MarkovNetwork


def refuses(cliques: Cliques, schema: Schema) -> str | None:
    """Refuse what is not decomposable, and say why it is not."""
    if cliques.is_decomposable:
        return None
    try:
        cliques.to_dag()
    except StructureError as error:
        return Text("it is not decomposable. ", error.message)
    return "it is not decomposable."


def solve(problem: Problem[Cliques]) -> Solution[MarkovNetwork]:
    """Divide the margins of cliques by those of separators."""
    cliques: Cliques = problem.structure
    schema = problem.schema.select(cliques.variables)
    sequence = cliques.perfect_sequence or ()
    counts = [clique_table(problem, clique) for clique, _ in sequence]
    margins, posterior = counts, None
    if problem.prior is not None:
        pseudo = [pseudo_margin(problem.prior, [schema[name] for name in clique]) for clique, _ in sequence]
        margins = [m + alpha for m, alpha in zip(counts, pseudo, strict=True)]
        evidence = _log_evidence(sequence, counts, pseudo)
        posterior = HyperDirichlet(cliques, schema, tuple(margins), evidence)
    model = network_of_margins(cliques, schema, margins)
    n_free, adjusted, remarks = cliques.n_free(schema), _n_free_adjusted(sequence, margins), list[str]()
    if adjusted != n_free:
        layout = layout_of(cliques, schema)
        tables = [problem.statistics[Count(clique)].table() for clique in cliques.cliques]
        face: Face = facial_set(layout.sizes, layout.scopes, tables)
        by_hand = not problem.statistics.n_read
        remarks = boundary_remarks([schema[name] for name in cliques.variables], layout.scopes, face, by_hand)
    return Solution(
        model=model,
        log_likelihood=_log_likelihood(model, sequence, counts),
        n_free=n_free,
        n_free_adjusted=adjusted,
        posterior=posterior,
        log_marginal_likelihood=None if posterior is None else posterior.log_marginal_likelihood,
        remarks=tuple(remarks),
        explains_boundary=adjusted != n_free,
    )


def _log_likelihood(model: Any, sequence: Any, counts: list[Floats]) -> float:
    potentials = {factor.names: factor.values for factor in model.factors}
    total = 0.0
    for (clique, _), m in zip(sequence, counts, strict=True):
        seen = m > 0
        total += float((m[seen] * np.log(potentials[clique][seen])).sum())
    return total


def _n_free_adjusted(sequence: Any, margins: list[Floats]) -> int:
    """Return Σ_C positive cells − Σ_S positive cells, the first separator being empty."""
    return sum(
        int((t > 0).sum()) - int((_separator(t, *pair) > 0).sum()) for pair, t in zip(sequence, margins, strict=True)
    )


def _separator(table: Floats, clique: tuple[str, ...], separator: tuple[str, ...]) -> Floats:
    """Return the margin of a separator."""
    return np.asarray(table.sum(axis=tuple(axis for axis, name in enumerate(clique) if name not in separator)))


def _log_evidence(sequence: Any, counts: list[Floats], pseudo: list[Floats]) -> float:
    """Return log p(data): Dirichlet-multinomial terms of cliques less those of separators."""
    from scipy.special import gammaln

    def term(m: Floats, alpha: Floats) -> float:
        return float((gammaln(alpha + m) - gammaln(alpha)).sum())

    total = math.fsum(
        term(m, alpha) - (term(_separator(m, *pair), _separator(alpha, *pair)) if pair[1] else 0.0)
        for pair, m, alpha in zip(sequence, counts, pseudo, strict=True)
    )
    # Every part of the sequence that begins without a separator is independent of those before it.
    starts = sum(not separator for _, separator in sequence)
    n, ess = float(counts[0].sum()), float(pseudo[0].sum())
    return total - starts * float(gammaln(ess + n) - gammaln(ess))


METHOD: Method[Cliques, MarkovNetwork] = Method(
    refuses=refuses,
    needs=needs,
    solve=solve,
    check=check,
    refuses_prior=refuses_penalties,
    points=("mle", "mean"),
)
