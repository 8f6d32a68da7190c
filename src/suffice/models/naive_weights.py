"""Naive Bayes as a log-linear model: log p(y = k, x) = constant_k + Σ_t β_tk term_t(x).

A state has the weight log η, the logarithm of its probability in the class. A normal column has −1/2v for the square
and μ/v for the column itself; a count has log θ of its column.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.variable import Variable
from suffice.models.basis import Indicator, InputProduct, Linear, Term
from suffice.models.cpds.tabular import TabularCPD
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.naive import NaiveModel
    from suffice.models.softmax_model import SoftmaxModel

CONSTANT = "(constant)"


def weight_table(model: NaiveModel) -> LabelledTable:
    """Return β of every term and class, and the constants last, with their names."""
    centre = dict.fromkeys(model.normals[0], 0.0)
    terms, beta, constant = log_linear(model, centre)
    labels: dict[str, None] = {}
    for term in (*terms, CONSTANT):
        label = str(term)
        while label in labels:  # a column may be called "a=b"
            label += "_"
        labels[label] = None
    name = "term"
    while name == model.target.name:
        name += "_"
    return LabelledTable((Variable(name, tuple(labels), True), model.target), np.vstack([beta, constant]), "weight")


def softmax_form(model: NaiveModel) -> SoftmaxModel:
    """Return p(y | x) as a softmax model, its terms measured from the mean of each column."""
    from suffice.models.softmax_model import SoftmaxModel

    names, mean, variance = model.normals
    centre = {name: float(value) for name, value in zip(names, _mean(model.class_prior, mean), strict=True)}
    terms, beta, constant = log_linear(model, centre)
    alive = ~(model.unknown & (model.class_prior == 0))
    same = {name for name, v in zip(names, variance.T, strict=True) if np.ptp(v[alive]) == 0}
    kept = [place for place, term in enumerate(terms) if not (isinstance(term, InputProduct) and term.first in same)]
    # A class that never occurred has the constant −inf; its weights, being unknown, are zero.
    beta, constant = np.where(alive, beta, 0.0), np.where(alive, constant, -np.inf)
    return SoftmaxModel(model.target, model.inputs, tuple(terms[place] for place in kept), beta[kept], constant, centre)


def _mean(class_prior: Floats, mean: Floats) -> Floats:
    """Return the mean of every normal column, classes that have none of them left out; shape (n_normals,)."""
    known = class_prior > 0
    found: Floats = class_prior[known] @ mean[known]
    return found


def log_linear(model: NaiveModel, centre: dict[str, float]) -> tuple[list[Term], Floats, Floats]:
    """Return the terms, their weights, shape (n_terms, K), and the constants, shape (K,).

    Normal columns are measured from ``centre``.
    """
    terms: list[Term] = []
    rows: list[Floats] = [np.zeros((0, model.target.n_states))]
    constant = np.array(model.log_prior)
    place = {name: j for j, name in enumerate(model.count_columns)}
    for variable in model.inputs:
        name, cpd = variable.name, model.cpd(variable.name)
        if name in place:
            terms.append(Linear(name))
            rows.append(_log(cpd.values[:, place[name]])[None])
        elif isinstance(cpd, TabularCPD):
            terms += [Indicator(name, label) for label in variable.labels]
            rows.append(_log(cpd.values.T))  # eq naive-weights
        else:
            mean, v = cpd.intercept - centre[name], cpd.variance
            terms += [Linear(name), InputProduct(name, name)]
            rows += [(mean / v)[None], (-0.5 / v)[None]]
            constant -= 0.5 * (mean**2 / v + np.log(2 * math.pi * v))
    return terms, np.concatenate(rows), constant


def _log(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(p)
