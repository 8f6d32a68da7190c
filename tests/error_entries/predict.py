"""Errors of predictions."""

from __future__ import annotations

import numpy as np
from tests.error_catalogue import A, D, M, entry
from tests.error_entries.incomplete_rows import certain

import suffice as sf
from suffice.data.readers import open_raw
from suffice.models.prediction import PredictedRows, Predictor

SEEN = {"B": ["u", "v"]}


def classifier() -> sf.NaiveBayes:
    return sf.NaiveBayes().fit(np.array([[1.0], [2.0], [5.0], [7.0]]), ["a", "a", "b", "b"]).fit_.model


def softmax() -> sf.SoftmaxRegression:
    return sf.SoftmaxRegression().fit(np.array([[1.0], [2.0], [1.5], [7.0]]), ["a", "a", "b", "b"]).fit_.model


entry("prediction of no variable", sf.UnknownNameError, lambda w: w.fit().model.predict("C", SEEN), "'C'", "['A', 'B']")
entry("prediction from no variable", D, lambda w: w.fit().model.predict("A", {"C": [1]}), "no column", "['A', 'B']",
      "['C']")  # fmt: skip
entry("prediction from a contingency table", D, lambda w: w.fit().model.predict("A", sf.Contingency([1, 2],
      {"B": ["u", "v"]})), "contingency table", "Pass rows")  # fmt: skip
entry("level of no probability", A, lambda w: w.fit().model.predict("A", SEEN, level=95), "'level' argument", "Got 95")
entry("unknown policy of impossible rows", A, lambda w: w.fit().model.predict("A", SEEN, impossible="skip"),
      "'impossible' argument", "['error', 'nan']", "Got 'skip'")  # fmt: skip
entry("prediction from impossible evidence", M, lambda w: certain().predict("C", {"A": ["x", "x"], "B": ["u", "v"]}),
      "Row 2", "B='v' together with A='x'", "probability zero", "impossible='nan'")  # fmt: skip
entry("endless evidence of a prediction", D, lambda w: sf.JointNormal(["x", "y"], [0, 0], covariance=np.eye(2)).predict(
      "x", {"y": [0.0, np.inf]}), "Column 'y', row 2", "finite")  # fmt: skip
entry("score of nothing observed", A, lambda w: w.fit().model.predict("A", SEEN).score(), "no column 'A'",
      "predictions.score(observed)")  # fmt: skip
entry("score of other rows", A, lambda w: w.fit().model.predict("A", SEEN).score(["x"]), "1 values for 2 rows",
      "one a row")  # fmt: skip
entry("score of an unknown state", D, lambda w: w.fit().model.predict("A", SEEN).score(["x", "z"]),
      "Column 'A', row 2: state 'z'")  # fmt: skip
entry("prediction of an input by a classifier", A, lambda w: classifier().predict(classifier().inputs[0].name,
      {classifier().target.name: ["a"]}), "A classifier predicts its class")  # fmt: skip
entry("gap for a softmax", D, lambda w: softmax().predict(softmax().target.name, {softmax().inputs[0].name:
      [1.0, None]}), "row 2", "input is missing", "Fill it in")  # fmt: skip
entry("column to keep that is not there", D, lambda w: PredictedRows(Predictor.checked(w.fit().model, "A", 0.9, "error",
      "error"), open_raw(SEEN), ("C",)), "no column 'C' to keep", "['B']")  # fmt: skip
