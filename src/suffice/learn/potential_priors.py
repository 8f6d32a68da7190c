"""What a prior adds to the log-likelihood of a product of potentials, up to a constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.inference.interactions import Interactions
from suffice.learn.method import Problem
from suffice.models.clique_layout import layout_of
from suffice.models.feature_design import FeatureDesign
from suffice.models.log_linear import LogLinear
from suffice.models.markov_net import MarkovNetwork
from suffice.priors.penalty import Laplace, Penalty
from suffice.priors.pseudo_margins import pseudo_margin
from suffice.structures.feature_rules import main_effects

if TYPE_CHECKING:
    from suffice.structures.cliques import Cliques
    from suffice.structures.features import Features

PotentialPrior = Callable[[Any], float]
"""From a model to the logarithm of its prior density, up to a constant."""


def no_prior(model: Any) -> float:
    """Return zero."""
    return 0.0


def clique_prior(problem: Problem[Cliques]) -> PotentialPrior:
    """Return the prior on potentials: Σ α log p of pseudo-counts α, or less a penalty on the u-terms."""
    structure = problem.structure
    if problem.prior is None:
        return no_prior
    layout = layout_of(structure, problem.schema)
    n_cliques = len(structure.cliques)
    if isinstance(problem.prior, Penalty):
        penalty, words = problem.prior, Interactions(layout)

        def penalised(model: MarkovNetwork) -> float:
            tables = [factor.values for factor in model.factors[:n_cliques]]
            return -penalty.value(words.of(np.log(layout.flat(tables)))[1])

        return penalised
    pseudo = [pseudo_margin(problem.prior, [problem.schema[n] for n in clique]) for clique in structure.cliques]
    alpha, ess = layout.flat(pseudo), float(pseudo[0].sum())
    held = alpha > 0

    def counted(model: MarkovNetwork) -> float:
        potentials = layout.flat([factor.values for factor in model.factors[:n_cliques]])
        with np.errstate(divide="ignore"):
            total = float(alpha[held].dot(np.log(potentials[held])))
        return total - ess * float(model.log_z)

    return counted


def weight_prior(problem: Problem[Features], design: FeatureDesign) -> PotentialPrior:
    """Return the prior on weights: less their penalty."""
    penalty = problem.prior
    if not isinstance(penalty, Penalty):
        return no_prior
    precision = 1 / penalty.widths_of(main_effects(design.features))

    def penalised(model: LogLinear) -> float:
        scaled = model.weights.to_numpy() * precision
        if isinstance(penalty, Laplace):
            return -float(np.abs(scaled).sum())
        return -0.5 * float(scaled.dot(scaled))

    return penalised
