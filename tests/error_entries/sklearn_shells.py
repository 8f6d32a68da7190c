"""Errors of the classifiers that follow scikit-learn's protocol."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from tests.error_catalogue import A, D, M, U, entry

import suffice as sf
from suffice.sklearn.base import UnavailableError

X = np.random.default_rng(3).normal(size=(12, 2))
Y = np.arange(12) % 2
FRAME = pd.DataFrame(X, columns=["a", "b"])
OTHER = pd.Series([0.5, 0.5], index=["a", "b"])
GAP = np.where(np.arange(24).reshape(12, 2) == 5, np.nan, X)

# Parameters ---------------------------------------------------------------------------------------------------

entry("class probabilities of other classes", A, lambda w: sf.GaussianBayes(class_prior=[0.2, 0.3, 0.5]).fit(X, Y),
      "'class_prior' argument", "each of the 2 classes", "Got [0.2, 0.3, 0.5] instead")  # fmt: skip
entry("class probabilities of other labels", A, lambda w: sf.GaussianBayes().fit(X, Y).with_class_priors(OTHER),
      "index must be the classes, [0, 1]", "Got the index ['a', 'b']", "as an array")  # fmt: skip
entry("kinds that changed", A, lambda w: sf.NaiveBayes().fit(X, Y).set_params(kinds="multinomial").partial_fit(X, Y),
      "'x0' was 'gaussian'", "'kinds' argument now says 'multinomial'", "use fit")  # fmt: skip
entry("kinds of other columns", A, lambda w: sf.NaiveBayes(["gaussian"]).fit(X, Y), "'kinds' argument",
      "each of the 2 columns", "Got ['gaussian'] instead")  # fmt: skip
entry("smoothing below zero", A, lambda w: sf.JointBayes(-0.5).fit(X, Y), "'smoothing' argument", "at least 0",
      "sf.Dirichlet(0.5)", "Got -0.5 instead")  # fmt: skip
entry("strength of no number", A, lambda w: sf.SoftmaxRegression("l2", strength="1").fit(X, Y), "'strength' argument",
      "at least 0", "Got '1' instead")  # fmt: skip

# Data ---------------------------------------------------------------------------------------------------------

entry("text among numbers", D, lambda w: sf.GaussianBayes().fit(pd.DataFrame({"a": ["x", "y"]}), [0, 1]), "['a']",
      "numbers are wanted", "NaiveBayes and SoftmaxRegression")  # fmt: skip
entry("text where numbers were", D, lambda w: sf.GaussianBayes().fit(FRAME, Y).predict(FRAME.assign(a="x")), "['a']",
      "held numbers in training", "Convert them")  # fmt: skip
entry("a dict for X", D, lambda w: sf.GaussianBayes().fit({"a": [1.0]}, [0]), "table in memory", "Got {'a': [1.0]}",
      "pandas.DataFrame(X)")  # fmt: skip
entry("frame without columns", D, lambda w: sf.NaiveBayes().fit(FRAME[[]], Y), "0 feature(s)", "at least one column")
entry("class that is missing", D, lambda w: sf.NaiveBayes().fit(X[:2], [0.0, np.nan]), "y, row 2", "class is missing",
      "Leave such rows out")  # fmt: skip
entry("frame without rows", D, lambda w: sf.NaiveBayes().fit(pd.DataFrame({"a": []}), []), "0 sample(s)",
      "Pass at least one")  # fmt: skip
entry("infinite number to classify", D, lambda w: sf.NaiveBayes().fit(X, Y).predict([[0.0, np.inf]]), "'x1', row 1",
      "inf", "NaN")  # fmt: skip
entry("threshold that changed", A,
      lambda w: sf.NaiveBayes("bernoulli").partial_fit(X, Y).set_params(binarize=0.5).partial_fit(X, Y),
      "'binarize' argument", "was 0.0", "is 0.5 now", "use fit")  # fmt: skip
entry("sparse matrix below its threshold", D,
      lambda w: sf.NaiveBayes("bernoulli", binarize=-1).fit(csr_array(X), Y), "one threshold of 0.0 or more",
      "'binarize' argument is -1", "X.toarray()")  # fmt: skip
entry("missing count to classify", D,
      lambda w: sf.NaiveBayes("multinomial").fit(np.abs(X), Y).predict([[0.0, np.nan]]), "'x1', row 1",
      "the count is missing (NaN)", "leave the row out")  # fmt: skip
entry("sparse matrix of no counts", D, lambda w: sf.NaiveBayes().fit(csr_array(X), Y), "sparse", "counts or bits only",
      "kinds='multinomial'", "X.toarray()")  # fmt: skip
entry("gap before softmax regression", D, lambda w: sf.SoftmaxRegression().fit(GAP, Y), "'x1', row 3", "NaN",
      "nothing of how inputs are distributed", "NaiveBayes learns from them")  # fmt: skip
entry("no classes", D, lambda w: sf.NaiveBayes().fit(X, None), "requires y to be passed",
      "Pass the class of every row")  # fmt: skip
entry("classes of other rows", D, lambda w: sf.NaiveBayes().fit(X, Y[:5]), "12 rows", "y has 5",
      "Each row needs one class")  # fmt: skip
entry("class that was not announced", D, lambda w: sf.NaiveBayes().partial_fit(X, Y, classes=[1, 2]), "class 0",
      "[1, 2] only", "first call")  # fmt: skip
entry("sample weights of other rows", D, lambda w: sf.NaiveBayes().fit(X, Y, sample_weight=[1, 2]),
      "'sample_weight' argument", "12 in all", "Got [1, 2] instead")  # fmt: skip
entry("sample weights of zero", D, lambda w: sf.NaiveBayes().fit(X, Y, sample_weight=np.zeros(12)),
      "'sample_weight' argument", "not zero")  # fmt: skip

# Attributes ---------------------------------------------------------------------------------------------------

entry("fit of a form", UnavailableError, lambda w: sf.GaussianBayes().fit(X, Y).to_softmax().fit_,
      "made from another classifier", "no fit_")  # fmt: skip
entry("fit of too few rows", UnavailableError, lambda w: sf.GaussianBayes().partial_fit(X[:2], Y[:2]).fit_,
      "Class 0 has only one row", "Collect more rows")  # fmt: skip

# Answers ------------------------------------------------------------------------------------------------------

entry("row that no class can have", M, lambda w: sf.JointBayes(0.0).fit([["a", "u"], ["b", "v"]], [0, 1])
      .predict([["a", "v"]]), "Row 1 of X", "impossible under every class", "smoothing=1.0")  # fmt: skip
entry("number too far out", D, lambda w: sf.NaiveBayes().fit(X, Y).predict([[0.0, 1e200]]), "Column 'x1', row 1",
      "1e+200 is too far from all classes", "Correct it")  # fmt: skip
entry("log-odds of a class that is none", U, lambda w: sf.NaiveBayes().fit(X, Y).log_odds(0, 5), "5", "[0, 1]")
