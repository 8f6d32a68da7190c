"""suffice: the parameters of graphical models, learnt from sufficient statistics and proven on every fit.

For complete data, the data enters a fit only through its sufficient statistics. So we collect statistics where the
data lives, add them, estimate parameters from them, and certify the result::

    table ──▶ blocks of codes ──▶ statistics ──▶ solution ──▶ Fit(model, certificate, notes)
     data/         data/           stats/ (+)     learn/       models/  certify/  result/

Examples
--------
>>> import suffice as sf
>>> data = {"rain": ["no", "no", "no", "yes"], "wet": ["no", "no", "yes", "yes"]}
>>> fit = sf.fit(sf.DAG("rain -> wet"), data)
>>> print(fit.model.cpd("wet"))
p(wet | rain)
rain      no     yes
----  ------  ------
no    0.6667  0.3333
yes        0       1
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from suffice.version import __version__


# Where each public name lives. Modules load when a name is first used, so that `import suffice` costs nothing.
_HOMES = {
    "suffice.errors": (
        "SufficeError",
        "ArgumentError",
        "AbsentError",
        "DataError",
        "DamagedError",
        "SchemaError",
        "StructureError",
        "StatisticsError",
        "EstimationError",
        "ModelError",
        "FileFormatError",
        "FileAccessError",
        "UnknownNameError",
    ),
    "suffice.settings": ("config",),
    "suffice.data.schema": ("Schema", "categorical", "continuous"),
    "suffice.data.variable": ("Variable",),
    "suffice.data.labelled": ("LabelledTable",),
    "suffice.data.labelled_graphs": ("Graph",),
    "suffice.data.readers.csv_file": ("CSV",),
    "suffice.data.readers.contingency": ("Contingency",),
    "suffice.data.readers.sql": ("SQL",),
    "suffice.data.sequences": ("Sequences",),
    "suffice.stats.needs": ("Count", "Distinct", "Moment", "Sum"),
    "suffice.stats.counts": ("Counts",),
    "suffice.stats.moments": ("Moments",),
    "suffice.stats.rows": ("Rows",),
    "suffice.stats.statistics": ("Statistics",),
    "suffice.structures.autoregression": ("Autoregression",),
    "suffice.structures.chow_liu": ("chow_liu",),
    "suffice.structures.cliques": ("Cliques",),
    "suffice.structures.dag": ("DAG",),
    "suffice.structures.dependence_tree": ("DependenceTree",),
    "suffice.structures.gaussian_markov": ("GaussianMarkov",),
    "suffice.structures.hypotheses": ("Hypotheses",),
    "suffice.structures.markov_chain": ("MarkovChain",),
    "suffice.structures.single": ("Bernoulli", "Categorical", "MultivariateNormal", "Normal"),
    "suffice.structures.features": ("Features",),
    "suffice.structures.feature_products": ("indicator", "indicators", "product"),
    "suffice.structures.feature_functions": ("feature", "windows"),
    "suffice.structures.pairwise": ("Ising", "Boltzmann", "Potts"),
    "suffice.models.log_linear": ("LogLinear",),
    "suffice.models.conditional_log_linear": ("ConditionalLogLinear",),
    "suffice.models.log_linear_density": ("LogLinearDensity",),
    "suffice.models.autoregression": ("AutoregressiveModel",),
    "suffice.models.bayes_net": ("BayesianNetwork",),
    "suffice.models.joint_normal": ("JointNormal",),
    "suffice.models.hidden_markov": ("HiddenMarkovModel",),
    "suffice.models.markov_chain": ("MarkovChainModel",),
    "suffice.models.markov_net": ("MarkovNetwork",),
    "suffice.models.normal_mixture": ("NormalMixture",),
    "suffice.models.predictions": ("Predictions",),
    "suffice.models.numeric_predictions": ("NumericPredictions",),
    "suffice.models.weighted_sampling": ("SampledAnswer",),
    "suffice.priors.dirichlet": ("Dirichlet", "K2", "Jeffreys", "BDeu"),
    "suffice.priors.expert": ("Expert",),
    "suffice.priors.penalty": ("Gaussian", "Laplace"),
    "suffice.priors.hyper_inverse_wishart": ("HyperInverseWishart",),
    "suffice.priors.normal_inverse_wishart": ("NormalInverseWishart",),
    "suffice.priors.normal_inverse_gamma": ("NormalInverseGamma",),
    "suffice.priors.bge": ("BGe",),
    "suffice.priors.several": ("Priors",),
    "suffice.certify.certificate": ("Certificate",),
    "suffice.result.fit": ("Fit",),
    "suffice.result.family_fits": (
        *("NetworkFit", "CliquesFit", "FeaturesFit"),
        *("GaussianMarkovFit", "SoftmaxFit"),
    ),
    "suffice.result.chain_orders": ("chain_orders",),
    "suffice.result.likelihood_ratio": ("likelihood_ratio",),
    "suffice.result.notes": ("Note",),
    "suffice.fitting": ("fit", "collect", "estimate"),
    "suffice.comparison.compare": ("compare",),
    "suffice.comparison.comparison": ("Comparison",),
    "suffice.checking": ("check",),
    "suffice.checking.result": ("StructureCheck",),
    "suffice.max_entropy": ("maxent",),
    "suffice.io": ("read", "write"),
    "suffice.sklearn": (
        *("ChainCRF", "MEMM", "GraphCRF"),
        *("GaussianBayes", "NaiveBayes", "JointBayes", "SoftmaxRegression"),
    ),
    "suffice.io.interop_networkx": ("to_networkx",),
    "suffice.io.interop_pgmpy": ("from_pgmpy", "to_pgmpy"),
    "suffice.io.interop_pyagrum": ("from_pyagrum", "to_pyagrum"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*_HOME, "__version__"]  # noqa: PLE0604

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate as Certificate
    from suffice.checking import check as check
    from suffice.checking.result import StructureCheck as StructureCheck
    from suffice.settings import config as config
    from suffice.data.labelled import LabelledTable as LabelledTable
    from suffice.data.labelled_graphs import Graph as Graph
    from suffice.data.readers.contingency import Contingency as Contingency
    from suffice.data.readers.csv_file import CSV as CSV
    from suffice.data.readers.sql import SQL as SQL
    from suffice.data.schema import Schema as Schema
    from suffice.data.sequences import Sequences as Sequences
    from suffice.data.schema import categorical as categorical
    from suffice.data.schema import continuous as continuous
    from suffice.data.variable import Variable as Variable
    from suffice.errors import AbsentError as AbsentError
    from suffice.errors import ArgumentError as ArgumentError
    from suffice.errors import DamagedError as DamagedError
    from suffice.errors import DataError as DataError
    from suffice.errors import EstimationError as EstimationError
    from suffice.errors import FileAccessError as FileAccessError
    from suffice.errors import FileFormatError as FileFormatError
    from suffice.errors import ModelError as ModelError
    from suffice.errors import SchemaError as SchemaError
    from suffice.errors import StatisticsError as StatisticsError
    from suffice.errors import StructureError as StructureError
    from suffice.errors import SufficeError as SufficeError
    from suffice.errors import UnknownNameError as UnknownNameError
    from suffice.comparison.compare import compare as compare
    from suffice.comparison.comparison import Comparison as Comparison
    from suffice.fitting import collect as collect
    from suffice.fitting import estimate as estimate
    from suffice.fitting import fit as fit
    from suffice.io import read as read
    from suffice.io import write as write
    from suffice.io.interop_networkx import to_networkx as to_networkx
    from suffice.io.interop_pgmpy import from_pgmpy as from_pgmpy
    from suffice.io.interop_pgmpy import to_pgmpy as to_pgmpy
    from suffice.io.interop_pyagrum import from_pyagrum as from_pyagrum
    from suffice.io.interop_pyagrum import to_pyagrum as to_pyagrum
    from suffice.max_entropy import maxent as maxent
    from suffice.models.autoregression import AutoregressiveModel as AutoregressiveModel
    from suffice.models.bayes_net import BayesianNetwork as BayesianNetwork
    from suffice.models.joint_normal import JointNormal as JointNormal
    from suffice.models.hidden_markov import HiddenMarkovModel as HiddenMarkovModel
    from suffice.models.markov_chain import MarkovChainModel as MarkovChainModel
    from suffice.models.markov_net import MarkovNetwork as MarkovNetwork
    from suffice.priors.dirichlet import K2 as K2
    from suffice.priors.dirichlet import BDeu as BDeu
    from suffice.priors.dirichlet import Dirichlet as Dirichlet
    from suffice.priors.dirichlet import Jeffreys as Jeffreys
    from suffice.priors.expert import Expert as Expert
    from suffice.priors.penalty import Gaussian as Gaussian
    from suffice.priors.penalty import Laplace as Laplace
    from suffice.priors.hyper_inverse_wishart import HyperInverseWishart as HyperInverseWishart
    from suffice.priors.normal_inverse_wishart import NormalInverseWishart as NormalInverseWishart
    from suffice.priors.normal_inverse_gamma import NormalInverseGamma as NormalInverseGamma
    from suffice.priors.bge import BGe as BGe
    from suffice.priors.several import Priors as Priors
    from suffice.result.chain_orders import chain_orders as chain_orders
    from suffice.result.family_fits import CliquesFit as CliquesFit
    from suffice.result.family_fits import FeaturesFit as FeaturesFit
    from suffice.result.family_fits import GaussianMarkovFit as GaussianMarkovFit
    from suffice.result.family_fits import NetworkFit as NetworkFit
    from suffice.result.family_fits import SoftmaxFit as SoftmaxFit
    from suffice.result.fit import Fit as Fit
    from suffice.result.likelihood_ratio import likelihood_ratio as likelihood_ratio
    from suffice.result.notes import Note as Note
    from suffice.stats.counts import Counts as Counts
    from suffice.stats.moments import Moments as Moments
    from suffice.stats.needs import Count as Count
    from suffice.stats.needs import Distinct as Distinct
    from suffice.stats.needs import Moment as Moment
    from suffice.stats.needs import Sum as Sum
    from suffice.stats.rows import Rows as Rows
    from suffice.stats.statistics import Statistics as Statistics
    from suffice.structures.autoregression import Autoregression as Autoregression
    from suffice.structures.chow_liu import chow_liu as chow_liu
    from suffice.structures.cliques import Cliques as Cliques
    from suffice.structures.dag import DAG as DAG
    from suffice.structures.dependence_tree import DependenceTree as DependenceTree
    from suffice.structures.gaussian_markov import GaussianMarkov as GaussianMarkov
    from suffice.structures.hypotheses import Hypotheses as Hypotheses
    from suffice.structures.markov_chain import MarkovChain as MarkovChain
    from suffice.structures.single import Bernoulli as Bernoulli
    from suffice.structures.single import Categorical as Categorical
    from suffice.structures.single import MultivariateNormal as MultivariateNormal
    from suffice.models.normal_mixture import NormalMixture as NormalMixture
    from suffice.models.numeric_predictions import NumericPredictions as NumericPredictions
    from suffice.models.predictions import Predictions as Predictions
    from suffice.models.weighted_sampling import SampledAnswer as SampledAnswer
    from suffice.structures.single import Normal as Normal
    from suffice.structures.features import Features as Features
    from suffice.structures.feature_products import indicator as indicator
    from suffice.structures.feature_products import indicators as indicators
    from suffice.structures.feature_products import product as product
    from suffice.structures.feature_functions import feature as feature
    from suffice.structures.feature_functions import windows as windows
    from suffice.structures.pairwise import Ising as Ising
    from suffice.structures.pairwise import Boltzmann as Boltzmann
    from suffice.structures.pairwise import Potts as Potts
    from suffice.models.log_linear import LogLinear as LogLinear
    from suffice.models.conditional_log_linear import ConditionalLogLinear as ConditionalLogLinear
    from suffice.models.log_linear_density import LogLinearDensity as LogLinearDensity
    from suffice.sklearn import MEMM as MEMM
    from suffice.sklearn import ChainCRF as ChainCRF
    from suffice.sklearn import GaussianBayes as GaussianBayes
    from suffice.sklearn import GraphCRF as GraphCRF
    from suffice.sklearn import JointBayes as JointBayes
    from suffice.sklearn import NaiveBayes as NaiveBayes
    from suffice.sklearn import SoftmaxRegression as SoftmaxRegression


if not TYPE_CHECKING:  # a type checker knows the names above, and refuses all others

    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module 'suffice' has no attribute {name!r}")
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
