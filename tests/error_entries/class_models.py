"""Errors of class probabilities, and of the questions that every classifier answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, M, U, entry

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.basis import Linear
from suffice.models.softmax_model import SoftmaxModel
from suffice.structures.class_prior import ClassPrior
from suffice.structures.joint_classes import JointClasses

DATA = {"sky": list("uvuv"), "wind": list("rsrs"), "y": list("pqpq")}


def classes(class_prior: Any = "counted", **options: Any) -> sf.Fit:
    """Fit a joint table of two inputs."""
    return sf.fit(JointClasses("y", ("sky", "wind"), class_prior), DATA, **options)


def of_number() -> SoftmaxModel:
    """A model of a class given a number, which says nothing of the number."""
    y, x = Variable("y", ("p", "q")), Variable("x")
    return SoftmaxModel(y, (x,), (Linear("x"),), np.array([[0.0, 1.0]]), np.zeros(2))


# Class probabilities ----------------------------------------------------------------------------------------------

entry("class prior of no kind", A, lambda w: classes("even"), "'class_prior'", "'counted', 'uniform'", "1.0",
      "Got 'even' instead")  # fmt: skip
entry("class prior beyond one", A, lambda w: classes({"p": 1.5, "q": -0.5}), "from 0 to 1", "Got 1.5 for 'p'")
entry("class prior that misses one", A, lambda w: classes({"p": 0.5, "q": 0.25}), "must sum to one", "sum to 0.75")
entry("class prior of no class", A, lambda w: classes({"p": 0.5, "z": 0.5}), "names the class 'z'", "['p', 'q']")
entry("class prior of some classes", A, lambda w: classes({"p": 1.0}), "no probability for ['q']", "Add it")
entry("class prior without rows", E_,
      lambda w: ClassPrior.of("counted").probabilities(Variable("y", ("p", "q")), np.zeros(2)),
      "No row says how frequent the classes of 'y' are", "class_prior='uniform'")  # fmt: skip
entry("class prior counted afterwards", A, lambda w: classes().model.with_class_priors("counted"), "'uniform'",
      "mapping from classes", "Got 'counted'")  # fmt: skip

# Questions --------------------------------------------------------------------------------------------------------

entry("classifier asked for an input", A, lambda w: classes().model.query("sky"), "its class, 'y'", "Got 'sky'")
entry("classifier asked rows for an input", A, lambda w: classes().model.query_rows(["sky"], DATA), "its class, 'y'",
      "Got ['sky']")  # fmt: skip
entry("classifier given no input", U, lambda w: classes().model.query("y", {"skye": "u"}), "'skye' is none",
      "['sky', 'wind']", "Did you mean 'sky'?")  # fmt: skip
entry("classifier given the impossible", M, lambda w: classes().model.query("y", {"sky": "u", "wind": "s"}),
      "{'sky': 'u', 'wind': 's'} are impossible", "sf.Dirichlet(1.0)")  # fmt: skip
entry("classifier that needs an input", A, lambda w: of_number().query("y"), "'x' is not given",
      "how inputs are distributed", "given={'x': …}")  # fmt: skip
entry("classifier given no number", A, lambda w: of_number().query("y", {"x": "far"}), "'x'", "finite number",
      "Got 'far'")  # fmt: skip
