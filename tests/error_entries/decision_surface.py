"""Errors of decision surfaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.error_catalogue import A, D, U, entry

from suffice.report import decision_surface

ROWS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 5.0], [3.0, 1.0, 1.0]])


class Halves:
    """A classifier that cannot tell."""

    classes_ = ("no", "yes")

    def __repr__(self) -> str:
        return "Halves()"

    def predict_proba(self, table: Any) -> Any:
        return np.full((len(table), 2), 0.5)


class Raw:
    """A classifier that is not fitted."""

    def __repr__(self) -> str:
        return "Raw()"

    def predict_proba(self, table: Any) -> Any:
        raise NotImplementedError


def _drawn(x: Any = ROWS, y: Any = None, classifier: Any = None, **settings: Any) -> Any:
    return decision_surface(Halves() if classifier is None else classifier, x, y, **settings)


def _without_matplotlib() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
        return _drawn()


entry("picture without matplotlib", A, lambda w: _without_matplotlib(), "pip install 'suffice[plot]'")
entry("surface of no classifier", A, lambda w: _drawn(classifier=3), "predict_proba", "Got 3 instead")
entry("surface of a classifier that is not fitted", A, lambda w: _drawn(classifier=Raw()), "not fitted",
      "fit(X, y) first", "Raw()")  # fmt: skip
entry("surface of one row", A, lambda w: _drawn([1.0, 2.0]), "'X' argument", "a row for each case",
      "Got [1.0, 2.0] instead")  # fmt: skip
entry("surface of one column", A, lambda w: _drawn(ROWS[:, :1]), "'X' argument", "two columns or more", "Got 1")
entry("surface of many states", A, lambda w: _drawn([[f"a{place}", "u"] for place in range(201)]),
      "'x0' has 201 states", "room for 200", "another of 'features'")  # fmt: skip
entry("surface without states", D, lambda w: _drawn(np.full((3, 2), None)), "Column 'x0'", "no value",
      "another of 'features'")  # fmt: skip
entry("surface over one feature", A, lambda w: _drawn(features=[0]), "'features' argument must be two columns",
      "Got [0] instead")  # fmt: skip
entry("surface over one feature twice", A, lambda w: _drawn(features=(1, -2)), "two different columns", "'x1' twice")
entry("surface over an unknown feature", U, lambda w: _drawn(features=("x0", "x11")), "'features' argument", "'x11'",
      "['x0', 'x1', 'x2']", "Did you mean 'x1'?")  # fmt: skip
entry("surface at no mapping", A, lambda w: _drawn(at="mean"), "'at' argument", "'marginal'", "Got 'mean' instead")
entry("surface that holds an axis", A, lambda w: _drawn(at={"x1": 0.0}), "'at' argument", "'x1'", "Leave it out")
entry("surface without numbers", D, lambda w: _drawn(np.full((3, 2), np.nan)), "Column 'x0'", "no number",
      "another of 'features'")  # fmt: skip
entry("surface with levels above one", A, lambda w: _drawn(levels=[0.9, 90]), "'levels' argument",
      "between 0 and 1", "Got [0.9, 90] instead")  # fmt: skip
entry("surface with too few classes", D, lambda w: _drawn(y=["no"]), "'y' argument", "1 classes of 3 rows")
entry("surface with an unknown class", D, lambda w: _drawn(y=["no", "yes", "maybe"]), "Row 2 of 'y'", "'maybe'",
      "['no', 'yes']")  # fmt: skip
