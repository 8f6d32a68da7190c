"""Errors of standard errors of fits to incomplete rows, and of their proof."""

from __future__ import annotations

from typing import Any

from tests.error_catalogue import E_, A, M, entry, limited

import suffice as sf
from suffice.certify.observed_rows import ObservedRows

GAPS = {"A": ["x", "x", None, "y", "y", "x"], "B": ["u", "v", "u", None, "v", "u"]}
NUMBERS = {"x": [1.0, None, 2.0, 4.0, 4.5, 3.0], "y": [2.0, 2.5, None, 7.0, 6.5, 4.0]}


def errors(structure: Any, data: Any, **options: Any) -> Any:
    return sf.fit(structure, data, missing="em", **options).standard_errors(data)


def without_room(memory: int = 1 << 20) -> None:
    before = sf.config().memory
    sf.config(memory=memory)
    try:
        ObservedRows(("A",), (memory,), ((0,),)).require_room()
    finally:
        sf.config(memory=before)


entry("standard errors of other data", A,
      lambda w: sf.fit(sf.DAG("A -> B"), GAPS, missing="em").standard_errors({"A": ["x"] * 6, "B": ["u"] * 6}),
      "'data' argument must be the data of the fit")  # fmt: skip
entry("standard errors of many parameters", A,
      lambda w: limited("observed_errors.MAX_FREE", 1, lambda: errors(sf.DAG("A -> B"), GAPS)),
      "2 free parameters", "up to 1")  # fmt: skip
entry("standard errors of complete rows", A, lambda w: w.fit().standard_errors({"A": ["x"], "B": ["u"]}),
      "missing='em'", "'closed_form'", "fit.coefficients(node)")  # fmt: skip
entry("standard errors of cliques with gaps", A, lambda w: errors(sf.Cliques("A:B"), GAPS),
      "sf.DAG, sf.Normal and sf.MultivariateNormal", "sf.Cliques")  # fmt: skip
entry("standard errors of a normal with a prior", E_,
      lambda w: errors(sf.MultivariateNormal(["x", "y"]), NUMBERS,
                       prior=sf.NormalInverseWishart(mean=0, mean_weight=1, dof=6, scale=1.0)),
      "maximum likelihood", "without a prior")  # fmt: skip
entry("standard errors of regressions with a prior", E_,
      lambda w: errors(sf.DAG("x -> y"), NUMBERS, prior=sf.NormalInverseGamma(2, 1.0), point="map"), "'x'",
      "without a prior on regressions")  # fmt: skip
entry("standard errors of a noisy-OR", E_,
      lambda w: errors(sf.DAG("A -> B", kinds={"B": "noisy_or"}), GAPS), "'B'", "'noisy_or'",
      "tables and linear-Gaussian")  # fmt: skip
entry("proof of tables without room", M, lambda w: without_room(), "tables and their expected counts",
      "sf.config(memory=")  # fmt: skip
