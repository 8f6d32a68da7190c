"""Errors of chains of labels: their data, structures, statistics, models, penalties, methods and shells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from tests.error_catalogue import E_, A, D, M, T, World, entry
from tests.models.chain_twin import Toy, toy_of

import suffice as sf
from suffice.data.attributes import LabelledSequences, Vocabulary, no_attributes
from suffice.data.column_text import read_columns
from suffice.data.variable import Variable
from suffice.models.chain_model import ChainModel
from suffice.priors.elastic import Elastic
from suffice.sklearn.sequence_keywords import KeywordError
from suffice.structures.label_chain import LabelChain, LocalChain

X = [[{"word": "the"}, {"word": "cat"}], [{"word": "cats"}]]
Y = [["D", "N"], ["N"]]


def toy() -> Toy:
    return toy_of(0, 3, [3, 2])


def fit(kind: type[LabelChain] = LabelChain, **options: Any) -> sf.Fit:
    return sf.fit(toy().structure(kind), toy().table, **{"prior": Elastic(c2=1.0), **options})


def crf(features: Any = X, labels: Any = Y, weights: Any = None, *, dev: Any = None, **options: Any) -> sf.ChainCRF:
    held_out = {} if dev is None else {"X_dev": dev[0], "y_dev": dev[1]}
    return sf.ChainCRF(**options).fit(features, labels, weights, **held_out)


def frame() -> Any:
    return pd.DataFrame({"word": ["the", "cat"]})


def unlabelled() -> sf.Fit:
    return sf.fit(toy().structure(), replace(toy().table, label=Variable("label", ())))


def positions(rows: int, labels: int, steps: int = 2) -> LabelledSequences:
    return LabelledSequences(np.array([0, 2]), no_attributes(rows), np.zeros(labels, np.int32), no_attributes(steps))


def model(weights: Any) -> ChainModel:
    structure = toy().structure()
    layout = toy().layout(structure)
    return ChainModel(structure, toy().variable, layout, np.resize(weights, layout.size - (len(weights) == 2)))


def added() -> Any:
    one, two = toy(), toy_of(0, 3, [3], n=5)
    return one.counts(one.structure()) + two.counts(two.structure())


def cramped(w: World) -> Any:
    return w.within(1000, lambda: toy().layout(toy().structure(states="all")))


# Data ---------------------------------------------------------------------------------------------------------
entry("attributes of other positions", D, lambda w: positions(3, 2), "2 positions", "attributes are given for 3")
entry("attributes of other steps", D, lambda w: positions(2, 2, 1), "2 positions", "attributes are given for 1")
entry("labels of other sequences", D, lambda w: positions(2, 1), "2 positions", "1 labels are given")

# Structures ---------------------------------------------------------------------------------------------------
entry("boundaries of a chain in words", A, lambda w: LabelChain(Vocabulary(("a",)), boundaries="yes"),
      "'boundaries' argument", "True or False", "Got 'yes' instead")  # fmt: skip
entry("frequency below zero", A, lambda w: LabelChain(Vocabulary(("a",)), min_freq=-1), "'min_freq' argument",
      "at least 0", "such as 2", "Got -1 instead")  # fmt: skip
entry("states of a chain", A, lambda w: LabelChain(Vocabulary(("a",)), states="seen"), "'states' argument",
      "['observed', 'all']", "Got 'seen'")  # fmt: skip
entry("a table in place of sequences", A, lambda w: sf.fit(toy().structure(LocalChain), w.data),
      "maximum-entropy Markov model", "sequences in codes", "sf.ChainCRF", "sf.MEMM")  # fmt: skip
entry("sequences without labels", D, lambda w: unlabelled(),
      "no labels to learn from", "at least one sequence")  # fmt: skip
entry("weights beside sequences in codes", A, lambda w: fit(weights=[1.0, 2.0]), "weights of their own",
      "Leave 'schema' and 'weights' out")  # fmt: skip
entry("schema beside sequences in codes", A, lambda w: fit(schema={"label": ["a"]}), "labels and weights of their own",
      "Leave 'schema' and 'weights' out")  # fmt: skip
entry("empty sequences only", D, lambda w: crf([[], []], [[], []]), "no labels to learn from", "at least one sequence")

# Statistics and models ----------------------------------------------------------------------------------------
entry("counts over other vocabularies", T, lambda w: added(), "n_attributes=4", "n_attributes=5", "cannot be added",
      "one vocabulary")  # fmt: skip
entry("weights for all pairs", E_, cramped, "4 attributes and 3 labels", "sf.config(memory=…)", "states='observed'",
      "min_freq")  # fmt: skip
entry("too few weights of labels", M, lambda w: model([0.0, 0.0]), "finite weights", "shape")
entry("weight that is no number", M, lambda w: model([np.nan]), "finite weights", "Got nan for", "'x0' with")

# Penalties and methods ----------------------------------------------------------------------------------------
entry("penalty below zero", A, lambda w: Elastic(c1=-1), "'c1' argument", "at least 0", "Got -1 instead")
entry("penalty without bound", A, lambda w: Elastic(c2=float("inf")), "'c2' argument", "at least 0", "Got inf instead")
entry("given weights of labels", A, lambda w: fit(fixed={"label": 1}), "conditional random field", "cannot be given",
      "Leave 'fixed' out")  # fmt: skip
entry("prior on labels", A, lambda w: fit(prior=sf.Dirichlet(1.0)), "weights of labels", "sf.Gaussian(…)",
      "sf.Laplace(…)", "Dirichlet")  # fmt: skip
entry("prior on labels with a main part", A, lambda w: fit(prior=sf.Gaussian(1.0, main=2.0)), "without 'main'")
entry("start of another kind", A, lambda w: fit(init=w.fit().model), "'init' argument", "a model of this kind", "Got")
entry("patience of no steps", A, lambda w: crf(dev=(X, Y), patience=0), "'patience' argument", "at least 1",
      "Got 0 instead")  # fmt: skip
entry("held out nothing", D, lambda w: crf(dev=([[]], [[]])), "held out", "no positions", "none at all")
entry("kinks for lbfgs", E_, lambda w: crf(c1=1.0, method="lbfgs"), "'lbfgs' cannot fit", "name 'owlqn' for c1 > 0")
entry("owlqn without kinks", E_, lambda w: crf(method="owlqn"), "'owlqn' cannot fit", "c1 > 0")

# Shells -------------------------------------------------------------------------------------------------------
entry("half a set held out", A, lambda w: sf.ChainCRF().fit(X, Y, X_dev=X), "X_dev and y_dev", "Pass both, or neither")
entry("weights of other sequences", D, lambda w: crf(weights=[1]), "'sample_weight' argument", "one number a sequence",
      "2 in all", "Got [1] instead")  # fmt: skip
entry("sequences of no weight", D, lambda w: crf(weights=[0, 0]), "'sample_weight' argument", "not zero", "Got zeros")
entry("columns without templates", A, lambda w: crf(read_columns(["the D", "cat N"]), Y), "Columns of text",
      "templates=…")  # fmt: skip
entry("hashed steps by name", A, lambda w: crf(step_features=["word"], n_buckets=8), "Hashed names",
      "step_features='all'", "n_buckets=0")  # fmt: skip
entry("unknown step features", D, lambda w: crf(step_features=["wrod"]), "'step_features' argument", "['wrod']",
      "no position has", "'word:the'")  # fmt: skip
entry("templates that are none", A, lambda w: crf(templates=3), "'templates' argument", "'U00:%x[0,0]'",
      "Got 3 instead")  # fmt: skip
entry("templates of no file", A, lambda w: crf(templates="chunks.template"), "'templates' argument",
      "'U00:%x[0,0]'", "path of a file", "Got 'chunks.template' instead", "no file of that name")  # fmt: skip
entry("keyword of another library", KeywordError, lambda w: sf.MEMM(max_iterations=3),
      "MEMM has no parameter 'max_iterations'", "Pass max_iter= instead")  # fmt: skip
entry("keyword of no library", KeywordError, lambda w: sf.ChainCRF(stats="all"), "ChainCRF has no parameter 'stats'",
      "Leave it out", "the parameters are boundaries, c1", "Did you mean 'states'?")  # fmt: skip
entry("held out without names", KeywordError, lambda w: sf.ChainCRF().fit(X, Y, X, Y), "X, y and sample_weight",
      "fit(X, y, X_dev=…, y_dev=…)")  # fmt: skip
entry("features as weights", A, lambda w: sf.ChainCRF().fit(X, Y, X), "'sample_weight'", "features of sequences",
      "fit(X, y, X_dev=…, y_dev=…)")  # fmt: skip
entry("warm start in words", A, lambda w: crf(warm_start="yes"), "'warm_start' argument", "True or False",
      "Got 'yes' instead", "weights of the last fit")  # fmt: skip
entry("score of nothing", D, lambda w: crf().score([], []), "no label to score", "Pass sequences that have positions")
entry("names for columns", D, lambda w: crf([np.eye(2), np.eye(2)[:1]]).predict(X), "learnt from matrices of 2 columns",
      "'X' argument", "names, such as 'word:", "Give matrices")  # fmt: skip
entry("a table as all sequences", D, lambda w: crf(frame(), Y), "'X' argument", "list of sequences", "Got a table",
      'table.to_dict("records")')  # fmt: skip
entry("a table as a sequence", D, lambda w: crf([frame(), X[1]], Y), "Sequence 1 of 'X'", "list of positions",
      "Got a table", 'table.to_dict("records")')  # fmt: skip
entry("a table as a sequence of rows", D, lambda w: crf([frame()], Y[:1], templates="U0:%x[0,0]"), "Sequence 1 of 'X'",
      "list of positions", "Got a table", "table.to_numpy()")  # fmt: skip
entry("step features as one text", A, lambda w: crf(step_features="word"), "'step_features' argument",
      "list of names", "'all'", "Got 'word' instead")  # fmt: skip
entry("step features beside templates", A, lambda w: crf(templates="U0:%x[0,0]", step_features="all"), "Templates",
      "begin with B", "Leave 'step_features' out")  # fmt: skip
entry("templates of no rows", D, lambda w: crf([["the", "cat"]], [Y[0]], templates="U0:%x[0,0]"),
      "sequence 1, position 1", "row of some texts", "Got 'the' instead")  # fmt: skip
entry("templates of ragged rows", D, lambda w: crf([[["a"], ["b", "c"]]], [Y[0]], templates="U0:%x[0,0]"),
      "sequence 1, position 2", "row of 1 texts", "Got ['b', 'c'] instead")  # fmt: skip
entry("templates of no sequences", D, lambda w: crf([None], [[]], templates="U0:%x[0,0]"), "Sequence 1 of 'X'",
      "list of positions", "row of texts", "Got None instead")  # fmt: skip
