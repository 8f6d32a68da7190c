"""What a type checker knows about the fit of each structure; read by type checkers, and never run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_type

import suffice as sf
from suffice.models.cpds import CPD
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.hypothesis_mixture import HypothesisMixture
from suffice.models.model import Model
from suffice.result.expected import ExpectedTable
from suffice.result.family_fits import CliquesFit, FeaturesFit, GaussianMarkovFit, NetworkFit
from suffice.result.goodness import Goodness
from suffice.result.wald import WaldTable
from suffice.result.weights import WeightTable

Labels = dict[str, list[str]]
Numbers = dict[str, list[float]]


def networks(data: Labels) -> None:
    fit = sf.fit(sf.DAG("A -> B"), data)
    assert_type(fit, NetworkFit)
    assert_type(fit.model, sf.BayesianNetwork)
    assert_type(fit.structure, sf.DAG)
    assert_type(fit.certificate, sf.Certificate)
    assert_type(fit.log_likelihood, float)
    assert_type(sf.estimate(sf.DAG("A -> B"), sf.collect(sf.DAG("A -> B"), data)), NetworkFit)


def nodes(network: sf.BayesianNetwork) -> None:
    assert_type(network.cpd("A"), CPD)
    assert_type(network.cpd("A").family.scope, tuple[str, ...])
    assert_type(network.cpd("A", TabularCPD), TabularCPD)


def trees(data: Labels) -> None:
    tree = sf.chow_liu(data)
    assert_type(tree, sf.DependenceTree)
    assert_type(sf.fit(tree, data), NetworkFit)
    assert_type(sf.fit(sf.DependenceTree({"A": None, "B": "A"}, [0.1]), data).model, sf.BayesianNetwork)


def single_variables(data: Labels, numbers: Numbers) -> None:
    assert_type(sf.fit(sf.Categorical("A"), data).model, sf.BayesianNetwork)
    assert_type(sf.fit(sf.Bernoulli("A"), data).model, sf.BayesianNetwork)
    assert_type(sf.fit(sf.Normal("x"), numbers), GaussianMarkovFit)
    assert_type(sf.fit(sf.Normal("x"), numbers).model, sf.JointNormal)
    assert_type(sf.fit(sf.MultivariateNormal(["x", "y"]), numbers).model, sf.JointNormal)


def markov_random_fields(data: Labels, numbers: Numbers) -> None:
    fit = sf.fit(sf.Cliques("A:B"), data)
    assert_type(fit, CliquesFit)
    assert_type(fit.model, sf.MarkovNetwork)
    assert_type(fit.u_terms(), WaldTable)
    assert_type(fit.expected(), ExpectedTable)
    assert_type(sf.fit(sf.Ising("A:B"), data), FeaturesFit[sf.LogLinear])
    assert_type(sf.fit(sf.Boltzmann(["A", "B"]), data), FeaturesFit[sf.LogLinear])
    assert_type(sf.fit(sf.Potts("A:B"), data), FeaturesFit[sf.LogLinear])
    normal = sf.fit(sf.GaussianMarkov("x:y"), numbers)
    assert_type(normal, GaussianMarkovFit)
    assert_type(normal.model, sf.JointNormal)
    assert_type(normal.goodness, Goodness)


def features(data: Labels, numbers: Numbers) -> None:
    rules = [sf.indicator(A="yes"), sf.indicator(A="yes", B="yes")]
    joint = sf.fit(sf.Features(rules), data)
    assert_type(joint, FeaturesFit[sf.LogLinear])
    assert_type(joint.weights(), WeightTable)
    assert_type(sf.fit(sf.Features(rules, given=["B"]), data).model, sf.ConditionalLogLinear)
    assert_type(sf.fit(sf.Features(rules, support={"x": [0.0, 1.0]}), numbers).model, sf.LogLinearDensity)


def sequences(texts: Sequence[str], numbers: Numbers) -> None:
    chains = sf.Sequences(texts)
    chain = sf.fit(sf.MarkovChain(order=2), chains)
    assert_type(chain, sf.Fit[sf.MarkovChainModel, sf.MarkovChain])
    assert_type(chain.model, sf.MarkovChainModel)
    assert_type(sf.fit(sf.MarkovChain(latent={"mood": 2}, variable="x"), chains).model, sf.HiddenMarkovModel)
    assert_type(sf.fit(sf.Autoregression(order=2, variables="x"), numbers).model, sf.AutoregressiveModel)


def hypotheses(data: Labels) -> None:
    fit = sf.fit(sf.Hypotheses({"even": [2, 4], "odd": [1, 3]}, over="number"), data, prior="uniform")
    assert_type(fit.model, HypothesisMixture)


def models(
    network: sf.BayesianNetwork, field: sf.MarkovNetwork, normal: sf.JointNormal, mixture: sf.NormalMixture
) -> list[Model]:
    return [network, field, normal, mixture]


def more_models(
    joint: sf.LogLinear, conditional: sf.ConditionalLogLinear, density: sf.LogLinearDensity, drawn: HypothesisMixture
) -> list[Model]:
    return [joint, conditional, density, drawn]


def models_of_sequences(
    chain: sf.MarkovChainModel, hidden: sf.HiddenMarkovModel, regression: sf.AutoregressiveModel
) -> list[Model]:
    return [chain, hidden, regression]
