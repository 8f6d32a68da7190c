"""The methods that learn weights, for the record of their family."""

from __future__ import annotations

from functools import partial

from suffice.learn import feature_ipf, pseudo_likelihood, stochastic, weights
from suffice.learn.feature_needs import needs, row_needs
from suffice.learn.features import check, refuses_kinks, refuses_penalties, refuses_smooth, solve_by
from suffice.learn.gis import gis
from suffice.learn.method import Method

_method = partial(
    Method,
    refuses=lambda structure, schema: None,
    needs=needs,
    check=check,
    refuses_prior=refuses_kinks,
    points=("mle", "map"),
    takes_base=True,
    takes_init=True,
)
LBFGS = _method(solve=solve_by(weights.lbfgs))
NEWTON = _method(solve=solve_by(weights.newton))
CG = _method(solve=solve_by(weights.conjugate))
GRADIENT = _method(solve=solve_by(weights.gradient), options=("step",))
GIS = _method(solve=solve_by(gis), refuses_prior=refuses_penalties)
PROXIMAL = _method(solve=solve_by(weights.proximal), refuses_prior=refuses_smooth, points=("map",))
IPF = _method(
    solve=feature_ipf.solve,
    refuses=feature_ipf.refuses,
    refuses_prior=refuses_penalties,
    options=("simultaneous",),
    takes_init=False,
)
PSEUDO_LIKELIHOOD = _method(
    solve=pseudo_likelihood.solve,
    refuses=pseudo_likelihood.refuses,
    refuses_prior=lambda structure, prior: None,
    needs=row_needs,
    exact=False,
    takes_base=False,
)
STOCHASTIC = _method(
    solve=stochastic.solve,
    refuses=stochastic.refuses,
    refuses_prior=stochastic.refuses_prior,
    needs=row_needs,
    exact=False,
    takes_base=False,
    options=stochastic.OPTIONS,
)
