"""Errors of comparisons."""

from __future__ import annotations

from typing import Any

from tests.error_catalogue import E_, A, D, U, entry

import suffice as sf

ROWS: dict[str, Any] = {"A": list("xyxyxyxxyy"), "B": list("uvuvuuvvuv")}
SMALL, LARGE = sf.DAG("A; B"), sf.DAG("A -> B")
RARE: dict[str, Any] = {"A": ["x"] * 10 + ["y"], "B": ["u", "v"] * 5 + ["u"]}


def compared(models: Any = None, data: Any = ROWS, **options: Any) -> sf.Comparison:
    return sf.compare({"small": SMALL, "large": LARGE} if models is None else models, data, **options)


entry("models of no mapping", A, lambda w: compared([SMALL]), "'models' argument", "{'chain': sf.DAG('A -> B')",
      "Got [")  # fmt: skip
entry("no models", A, lambda w: compared({}), "at least one model", "It is empty")
entry("nameless model", A, lambda w: compared({"": SMALL}), "name of a model", "Got '' instead")
entry("model of no structure", A, lambda w: compared({"a": "A -> B"}), "model 'a' is neither a structure nor a fit",
      "sf.DAG", "'A -> B'")  # fmt: skip
entry("settings without a structure", A, lambda w: compared({"a": {"prior": sf.K2()}}), "'a' has no 'structure'",
      "{'structure': sf.DAG('A -> B'), 'prior': sf.BDeu(1)}")  # fmt: skip
entry("setting of no model", A, lambda w: compared({"a": {"structure": SMALL, "piror": None}}), "no setting 'piror'",
      "'unseen_parents'", "Did you mean 'prior'?")  # fmt: skip
entry("reading of one model", A, lambda w: compared({"a": {"structure": SMALL, "missing": "drop"}}),
      "no setting 'missing'", "said once, for all models")  # fmt: skip
entry("models of different variables", A, lambda w: compared({"a": sf.DAG("A"), "b": sf.Cliques("A:B")}),
      "'a' and 'b' are of different variables", "['B'] is in 'b' only", "cliques by themselves")  # fmt: skip
entry("compared density and table", A,
      lambda w: compared({"n": sf.Normal("n"), "t": sf.Cliques("n")}, {"n": [1, 2, 3]}),
      "'t' counts the states of 'n'", "['n'] has a density of it", "schema={'n': sf.categorical()}")  # fmt: skip
entry("compared without a likelihood", A,
      lambda w: compared({"i": {"structure": sf.Ising([("A", "B")]), "method": "pseudo_likelihood"}}),
      "Model 'i'", "'pseudo_likelihood' knows no likelihood", "'auto'")  # fmt: skip
entry("compared fit of other rows", A, lambda w: compared({"a": w.fit()}), "fit 'a' is not of these rows",
      "{'structure': …, 'fixed': …}")  # fmt: skip
entry("compared fit that fails", E_, lambda w: compared({"a": LARGE}, {"A": ["x"], "B": ["u"]},
      schema={"A": ["x", "y"]}, folds=None), "Model 'a'", "'B'", "unseen_parents")  # fmt: skip
entry("compared training that fails", E_,
      lambda w: compared({"a": sf.GaussianMarkov("x:y")}, {"x": [1.0, 1.0, 2.0], "y": [1.0, 1.5, 3.0]}, folds=3),
      "Model 'a', trained without fold", "of 3", "folds=None")  # fmt: skip
entry("more folds than rows", A, lambda w: compared(folds=20), "10 rows", "20 folds", "10 folds are empty",
      "folds=None")  # fmt: skip
entry("one fold", A, lambda w: compared(folds=1), "'folds' argument", "at least 2", "Got 1")
entry("seed of no folds", A, lambda w: compared(seed=-1), "'seed' argument", "Got -1")
entry("compared by what is available", A, lambda w: compared(missing="available"), "'missing' argument", "'em'",
      "Got 'available'")  # fmt: skip
entry("held-out parents", E_, lambda w: compared({"a": LARGE}, RARE, folds=3), "Model 'a'", "1 row of a fold", "'B'",
      "prior=sf.BDeu(1)", "unseen_parents='uniform'")  # fmt: skip
entry("compared rows and sequences", A, lambda w: compared({"a": SMALL, "s": sf.MarkovChain()}, ["ab"]),
      "['s'] are of sequences, and ['a'] of rows")  # fmt: skip
entry("compared sequences that fail", D, lambda w: compared({"s": sf.MarkovChain()}, 3), "Model 's'")
entry("compared parts of sequences", A,
      lambda w: compared({"one": sf.Autoregression(1), "two": sf.Autoregression(2)}, [[1.0, 2.0, 1.5, 3.0, 2.0, 4.0]]),
      "'one' and 'two'", "N = 5 and 4")  # fmt: skip
entry("unknown model of a comparison", U, lambda w: compared(folds=None)["smal"], "no model 'smal'",
      "['small', 'large']", "Did you mean 'small'?")  # fmt: skip
entry("unknown criterion", A, lambda w: compared(folds=None).best("dic"), "'criterion' argument", "'bic'", "Got 'dic'")
entry("best of no folds", A, lambda w: compared(folds=None).best("cv"), "'cross-validation'", "pass folds=10")
