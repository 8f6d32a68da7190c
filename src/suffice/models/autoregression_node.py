"""An autoregression of one variable as a node: linear-Gaussian, with its own past as its parents."""

from __future__ import annotations

import numpy as np

from suffice.data.variable import Variable
from suffice.models.autoregression import AutoregressiveModel
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.structures.autoregression import Autoregression, lag_names


def node_family(name: str, order: int) -> NodeFamily:
    """Return the variable with its lags as parents.

    >>> node_family("x", 2).scope
    ('x[-1]', 'x[-2]', 'x')
    """
    return NodeFamily(Variable(name), tuple(Variable(lag) for lag in lag_names([name], order)))


def node_cpd(model: AutoregressiveModel) -> LinearGaussianCPD:
    """Return the distribution of a value given those before it, for a model of one variable."""
    family = node_family(model.variables[0], model.order)
    return LinearGaussianCPD(family, model.intercept, model.coefficients.reshape(1, -1), model.covariance.reshape(-1))


def model_of_node(structure: Autoregression, cpd: LinearGaussianCPD) -> AutoregressiveModel:
    """Return the autoregression whose next value has this distribution."""
    return AutoregressiveModel(
        [cpd.family.child.name],
        cpd.intercept,
        np.reshape(cpd.coefficients, (structure.order, 1, 1)),
        np.reshape(cpd.variance, (1, 1)),
        id=structure.id,
        time=structure.time,
    )
