"""What a report shows of each kind of model: one line a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suffice.models.autoregression import AutoregressiveModel
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.chain_model import ChainModel
from suffice.models.class_gaussian import ClassGaussianModel
from suffice.models.conditional_log_linear import ConditionalLogLinear
from suffice.models.graph_crf import GraphModel
from suffice.models.hidden_markov import HiddenMarkovModel
from suffice.models.hypothesis_mixture import HypothesisMixture
from suffice.models.joint_classes import JointClassModel
from suffice.models.joint_normal import JointNormal
from suffice.models.log_linear import LogLinear
from suffice.models.log_linear_density import LogLinearDensity
from suffice.models.markov_chain import MarkovChainModel
from suffice.models.markov_net import MarkovNetwork
from suffice.models.naive import NaiveModel
from suffice.models.softmax_model import SoftmaxModel
from suffice.report.page.classes import gaussian_parts, joint_parts, naive_parts, softmax_parts
from suffice.report.page.entries import Entry, Parts, states_of, table_from, table_of
from suffice.report.page.networks import network_parts
from suffice.report.page.sequences import (
    chain_parts,
    hidden_parts,
    labelled_graph_parts,
    markov_parts,
    regression_parts,
)
from suffice.report.page.undirected import feature_parts, field_parts, normal_parts


def mixture_parts(model: Any, fit: Any = None) -> Parts:
    """Lay out hypotheses with their weights, and the distribution that they make together."""
    variable = model.schema.variables[0]
    weights = zip(model.hypotheses.names, model.weights.tolist(), strict=True)
    tables = [table_from(["hypothesis", "p"], weights, "after the data")]
    mixture = Entry(variable.name, "mixture", states_of(variable), tables=[table_of(model.table)])
    return Parts([Entry("hypotheses", "table", tables=tables), mixture])


PARTS: dict[type[Any], Callable[[Any, Any], Parts]] = {
    BayesianNetwork: network_parts,
    MarkovNetwork: field_parts,
    LogLinear: feature_parts,
    LogLinearDensity: feature_parts,
    ConditionalLogLinear: feature_parts,
    JointNormal: normal_parts,
    NaiveModel: naive_parts,
    ClassGaussianModel: gaussian_parts,
    JointClassModel: joint_parts,
    SoftmaxModel: softmax_parts,
    ChainModel: chain_parts,
    GraphModel: labelled_graph_parts,
    MarkovChainModel: markov_parts,
    HiddenMarkovModel: hidden_parts,
    AutoregressiveModel: regression_parts,
    HypothesisMixture: mixture_parts,
}
"""Every kind of model, and what lays it out."""
