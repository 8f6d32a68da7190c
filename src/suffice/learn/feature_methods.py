"""The methods that learn weights, for the record of their family."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suffice.learn import feature_ipf, pseudo_likelihood, stochastic, weights
from suffice.learn.feature_needs import needs, row_needs
from suffice.learn.features import check, refuses_kinks, refuses_penalties, refuses_smooth, solve_by
from suffice.learn.gis import gis
from suffice.learn.method import Method

if TYPE_CHECKING:
    from suffice.models.feature_design import FeatureModel
    from suffice.structures.features import Features

LBFGS: Method[Features, FeatureModel] = Method(
    solve=solve_by(weights.lbfgs),
    refuses=lambda structure, schema: None,
    needs=needs,
    check=check,
    refuses_prior=refuses_kinks,
    points=("mle", "map"),
    takes_base=True,
    takes_init=True,
)
NEWTON = replace(LBFGS, solve=solve_by(weights.newton))
CG = replace(LBFGS, solve=solve_by(weights.conjugate))
GRADIENT = replace(LBFGS, solve=solve_by(weights.gradient), options=("step",))
GIS = replace(LBFGS, solve=solve_by(gis), refuses_prior=refuses_penalties)
PROXIMAL = replace(LBFGS, solve=solve_by(weights.proximal), refuses_prior=refuses_smooth, points=("map",))
IPF = replace(
    LBFGS,
    solve=feature_ipf.solve,
    refuses=feature_ipf.refuses,
    refuses_prior=refuses_penalties,
    options=("simultaneous",),
    takes_init=False,
)
PSEUDO_LIKELIHOOD = replace(
    LBFGS,
    solve=pseudo_likelihood.solve,
    refuses=pseudo_likelihood.refuses,
    refuses_prior=lambda structure, prior: None,
    needs=row_needs,
    exact=False,
    takes_base=False,
)
STOCHASTIC = replace(
    LBFGS,
    solve=stochastic.solve,
    refuses=stochastic.refuses,
    refuses_prior=stochastic.refuses_prior,
    needs=row_needs,
    exact=False,
    takes_base=False,
    options=stochastic.OPTIONS,
)
