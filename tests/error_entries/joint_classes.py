"""Errors of joint tables of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.error_catalogue import E_, A, M, S, entry

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.joint_classes import JointClassModel
from suffice.structures.joint_classes import JointClasses

DATA = {"a": list("uvuv"), "b": list("rsrs"), "y": list("pqpq")}
MANY = tuple(f"x{place}" for place in range(40))


def joint(class_prior: Any = "counted", inputs: Any = ("a", "b"), **options: Any) -> sf.Fit:
    """Fit a joint table of two inputs, unless said otherwise."""
    return sf.fit(JointClasses("y", inputs, class_prior), DATA, **options)


def by_hand(**changed: Any) -> JointClassModel:
    """Build a table of one input from its numbers."""
    parts: dict[str, Any] = {
        "target": Variable("y", ("p", "q")),
        "inputs": (Variable("a", ("u", "v")),),
        "class_prior": [0.5, 0.5],
        "values": [[0.5, 0.25], [0.5, 0.75]],
    }
    return JointClassModel(**{**parts, **changed})


def cramped(world: Any, structure: JointClasses) -> Any:
    statistics = sf.collect(structure, DATA)
    return world.within(40, lambda: sf.estimate(structure, statistics))


def wide() -> sf.Fit:
    """Forty columns of six states each."""
    return sf.fit(
        JointClasses("y", MANY),
        {**{name: ["a"] for name in MANY}, "y": ["p"]},
        schema=dict.fromkeys(MANY, ("a", "b", "c", "d", "e", "f")),
    )


def grown(world: Any) -> sf.Fit:
    """A file whose states are known only at its end."""
    names = MANY[:14]
    lines = [",".join((*names, "y")), *(",".join(f"s{row}" for _ in range(15)) for row in range(25))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.data.readers.csv_file.PIECE_BYTES", 128)
        return sf.fit(JointClasses("y", names), world.csv("\n".join(lines)))


entry("joint classes, no target", S, lambda w: JointClasses(3, ("a",)), "'target'", "Got 3 instead")  # type: ignore[arg-type]
entry("joint classes, inputs as text", S, lambda w: joint(inputs="ab"), "'inputs'", "['x', 'z']", "Got 'ab'")
entry("joint classes, an input twice", S, lambda w: joint(inputs=("a", "a")), "each once", "Got ('a', 'a')")
entry("joint classes, the class an input", S, lambda w: joint(inputs=("a", "y")), "'y' is the class", "Leave it out")
entry("joint classes of a number", E_, lambda w: sf.fit(JointClasses("y", ("a",)), {"a": [0.5, 1.5], "y": list("pq")}),
      "'a' is continuous", "schema={'a': sf.categorical()}", "sf.GaussianBayes")  # fmt: skip
entry("joint classes too many to index", E_, lambda w: wide(), "40 inputs", "about 10^31 cells", "2^62",
      "Use fewer inputs")  # fmt: skip
entry("joint classes that grew too many", E_, grown, "14 inputs", "about 10^21 cells", "Use fewer inputs")
entry("joint classes beyond memory", E_,
      lambda w: cramped(w, JointClasses("y", ("a", "b"))), "joint table", "64 B",
      "4 configurations of the inputs times 2 classes", "sf.config(memory=")  # fmt: skip
entry("joint classes without a mode", E_, lambda w: joint(prior=sf.Jeffreys(), point="map"), "Class 'p' of 'y'",
      "smallest α + m of its table is 0.5", "point='mean'")  # fmt: skip
entry("joint classes, a class without rows", E_, lambda w: joint("uniform", schema={"y": ["p", "q", "z"]}),
      "['z'] of 'y' have no rows", "sf.Dirichlet(1.0)", "class_prior='counted'",
      "unseen_parents='uniform'")  # fmt: skip
entry("joint classes, prior by node", A, lambda w: joint(prior=sf.Dirichlet({"y": 1.0})), "'prior'",
      "same for all cells", "sf.Jeffreys()")  # fmt: skip
entry("joint classes, fixed", A, lambda w: joint(fixed={"y": [0.5, 0.5]}), "'fixed'", "left out", "['y']")
entry("joint classes, tables out of order", M, lambda w: by_hand(configurations=[[1], [0]], default_row=[0, 0]),
      "['a']", "[2] states", "Sort them")  # fmt: skip
entry("joint classes, too large by hand", M,
      lambda w: by_hand(inputs=tuple(Variable(name, (0, 1)) for name in [*MANY, *MANY[:21]])),
      f"{2**62:,} cells", "Use fewer inputs")  # fmt: skip
entry("joint classes, odd class probabilities", M, lambda w: by_hand(class_prior=[0.5, 0.75]), "[0.5, 0.75]",
      "must sum to 1")  # fmt: skip
entry("joint classes, odd table", M, lambda w: by_hand(values=[[0.5, 0.25], [0.5, 0.5]]), "class 'q'",
      "its sum is 0.75", "must sum to 1")  # fmt: skip
entry("joint classes, unknown table", M, lambda w: by_hand(values=[[0.5, np.nan], [0.5, np.nan]]), "'q' of 'y'",
      "had no rows", "sf.Dirichlet(1.0)")  # fmt: skip
entry("joint classes as a softmax", M, lambda w: joint().model.to_softmax(), "p(a, b | y)", "no sum of terms",
      "sf.NaiveBayes")  # fmt: skip
