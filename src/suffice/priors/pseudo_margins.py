"""Pseudo-counts for cliques: margins ess · p₀(x_C) of one joint distribution, which agree where they overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.data.variable import Variable
from suffice.models.cpds import NodeFamily
from suffice.priors.dirichlet import BDeu, DirichletPrior
from suffice.priors.expert import Expert
from suffice.types import Floats

CONSISTENT = (BDeu, Expert)
"""The priors whose pseudo-counts are margins of one joint distribution: uniform, or an expert's network."""


def pseudo_margin(prior: DirichletPrior, variables: Sequence[Variable]) -> Floats:
    """Return ess · p₀ over some variables, one axis each.

    >>> pseudo_margin(BDeu(6), [Variable("A", (0, 1)), Variable("B", (0, 1, 2))]).tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    family = NodeFamily(variables[-1], tuple(variables[:-1]))
    shape = [variable.n_states for variable in variables]
    alpha = np.asarray(prior.alpha(family))
    rows = alpha if alpha.ndim == 2 else np.broadcast_to(alpha, (int(np.prod(shape[:-1])), shape[-1]))
    margin: Floats = np.array(rows, np.float64).reshape(shape)
    return margin
