"""Classifiers that follow scikit-learn's protocol: thin shells over structures, statistics and fits."""

from __future__ import annotations

from suffice.sklearn.chain_crf import ChainCRF as ChainCRF
from suffice.sklearn.gaussian_bayes import GaussianBayes as GaussianBayes
from suffice.sklearn.graph_crf import GraphCRF as GraphCRF
from suffice.sklearn.joint_bayes import JointBayes as JointBayes
from suffice.sklearn.memm import MEMM as MEMM
from suffice.sklearn.naive_bayes import NaiveBayes as NaiveBayes
from suffice.sklearn.softmax_regression import SoftmaxRegression as SoftmaxRegression
