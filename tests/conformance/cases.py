"""What the conformance tests cross with every registry row: the skeletons, structures with data, and the same table in
every form."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.inference.graph_twin import SIZES, coded
from tests.models.chain_twin import toy_of

import suffice as sf
from suffice.data.attributes import Vocabulary
from suffice.data.graph_codes import GraphTable
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.families import FAMILIES, each_family
from suffice.learn.method import Method
from suffice.models.cpds import KINDS, AnyKind
from suffice.priors.elastic import Elastic
from suffice.structures.class_gaussian import ClassGaussian
from suffice.structures.joint_classes import JointClasses
from suffice.structures.label_chain import LocalChain
from suffice.structures.label_graph import CliqueKind, LabelGraph
from suffice.structures.naive import Naive
from suffice.structures.softmax_regression import SoftmaxClasses

SKELETONS = Path(__file__).resolve().parents[2] / "docs" / "developer"


def skeleton(name: str) -> ModuleType:
    """Load a skeleton of the developer guide as it stands."""
    spec = importlib.util.spec_from_file_location(f"skeleton_{name}", SKELETONS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


NODE_KIND, METHOD = skeleton("node_kind"), skeleton("method")
ALL_KINDS: dict[str, AnyKind] = {**KINDS, "noisy_copy": NODE_KIND.KIND}
METHODS: dict[type[Any], dict[str, Method]] = {
    kind: dict(family.methods()) for family in each_family() for kind in family.structures
}
ALL_METHODS = {**METHODS, sf.DAG: {**METHODS[sf.DAG], "damped": METHOD.METHOD}}


def set_method(monkeypatch: pytest.MonkeyPatch, kind: type[Any], name: str, method: Method) -> None:
    """Give the family of a kind of structure a method, for the time of a test."""
    module = next(module for module in map(importlib.import_module, FAMILIES) if kind in module.FAMILY.structures)
    methods = {**module.FAMILY.methods(), name: method}
    monkeypatch.setattr(module, "FAMILY", replace(module.FAMILY, methods=lambda: methods))


XYZ = {"A": list("xxyyzzxyzx"), "B": list("xxyyzzyzxx"), "C": list("uvuvuvuuvv")}

RING = {
    "A": list("xyxyxyxxyyxyxxyyxyyx"),
    "B": list("uuvvuvuvvvuuuvvuuvuv"),
    "C": list("sttstsssttsttsstttss"),
    "D": list("0110101100100111010110"[:20]),
}
NUMBERS = {
    "x": [0.5, 2.0, -1.25, 0.0, 3.5, 1.0],
    "y": [1.0, 2.5, -0.5, 1.5, 2.0, 0.25],
    "z": [0.0, 1.0, 4.0, -2.0, 0.5, 3.0],
}

CLASSES = {
    "x": [0.5, 2.0, -1.25, 0.0, 3.5, 1.0, 2.5, -0.5, 1.5, 0.25],
    "g": list("rsrsrrssrs"),
    "y": list("abababbaba"),
}
RAIN = {"site": list("pppppqqqqq"), "day": [2, 1, 3, 4, 5, 1, 2, 3, 5, 4], "rain": list("nynnyyynnn")}
WORDS = {"c1": list("aabbababba"), "c2": list("abababbaab"), "c3": list("babaabbaba")}
PAIRS = [sf.indicators(*pair) for pair in ("AB", "BC", "CD", "DA")]

STRUCTURES: dict[str, tuple[Any, dict[str, list[Any]]]] = {
    "one node": (sf.DAG("A"), XYZ),
    "no edges": (sf.DAG(["A", "B", "C"]), XYZ),
    "chain": (sf.DAG("A -> B -> C"), XYZ),
    "v-structure with correlated parents": (sf.DAG("A -> C; B"), XYZ),
    "tied": (sf.DAG("A -> B; C", tie=[("A", "C")]), {**XYZ, "C": list("zyxxyzzyxx")}),
    "constant column": (sf.DAG("A -> B"), {"A": ["k"] * 4, "B": list("uvuv")}),
    "one row": (sf.DAG("A -> B"), {"A": ["x"], "B": ["u"]}),
    "whole numbers and bools": (sf.DAG("n -> b"), {"n": [3, 1, 3, 1, 2], "b": [True, False, True, True, False]}),
    "hypotheses": (sf.Hypotheses({"even": [2, 4, 6, 8], "small": [1, 2, 3]}, over="n"), {"n": [2, 2]}),
    "one variable": (sf.Cliques("A"), XYZ),
    "decomposable cliques": (sf.Cliques("A:B + B:C + D"), RING),
    "nested cliques": (sf.Cliques("A:B + B + A"), RING),
    "ring of cliques": (sf.Cliques("A:B + B:C + C:D + D:A"), RING),
    "pairs of three": (sf.Cliques("A:B + B:C + A:C"), RING),
    "indicators of a ring": (sf.Features(PAIRS), RING),
    "features of every kind": (
        sf.Features(
            [
                sf.indicator(A="x", B="u"),
                sf.product("D", sf.indicators("C", reference=True)),
                sf.feature({("x", "s"): -1.5, ("y", "t"): 0.5}, over=("A", "C"), name="table"),
                sf.indicators("B", reference=True),
            ]
        ),
        {**RING, "D": [int(d) for d in RING["D"]]},
    ),
    "tied features": (sf.Features([sf.indicators("A", "B")], tie=[["A=x & B=u", "A=y & B=v"]]), RING),
    "windows": (sf.Features([sf.windows(["ab", "b"], over=["c1", "c2", "c3"])]), WORDS),
    "features of a class given numbers": (
        sf.Features(
            [sf.indicator(y="b"), sf.product("x", sf.indicator(y="b")), sf.indicator(g="s", y="b")], given=["x", "g"]
        ),
        CLASSES,
    ),
    "Gaussian chain": (sf.GaussianMarkov("x:y + y:z"), NUMBERS),
    "Gaussian triangle and a stranger": (sf.GaussianMarkov("x:y + z"), NUMBERS),
    "one normal": (sf.Normal("x"), NUMBERS),
    "one normal, unbiased": (sf.Normal("x", divisor="n-1"), NUMBERS),
    "multivariate normal": (sf.MultivariateNormal(["x", "y", "z"]), NUMBERS),
    "coin": (sf.Bernoulli("C"), XYZ),
    "one categorical": (sf.Categorical("A", ["z", "y", "x", "w"]), XYZ),
    "autoregression of order zero": (sf.Autoregression(0, ["x", "y"]), NUMBERS),
    "normal classes": (ClassGaussian("y", ["x"]), CLASSES),
    "normal classes, one covariance": (ClassGaussian("y", ["x"], covariance="tied", divisor="n-1"), CLASSES),
    "normal classes, shrunk by two passes": (
        ClassGaussian("C", ["x", "y", "z"], shrinkage="ledoit_wolf", class_prior="uniform"),
        {**NUMBERS, "C": list("uvuvuv")},
    ),
    "classes with a joint table": (JointClasses("C", ("A", "B")), XYZ),
    "naive Bayes of states": (Naive("C", ["A", "B"]), XYZ),
    "naive Bayes of a state and a number": (
        Naive("y", ["x", "g"], kinds={"x": "tied_gaussian"}, class_prior="uniform"),
        CLASSES,
    ),
    "naive Bayes of counts": (
        Naive("y", ["n", "m"], kinds={"n": "multinomial", "m": "multinomial"}, class_prior=1.0),
        {"n": [3, 0, 1, 2, 4], "m": [0, 2, 5, 1, 0], "y": list("abbab")},
    ),
    "softmax of a state and a number": (SoftmaxClasses("y", ["x", "g"]), CLASSES),
    "softmax without an intercept": (SoftmaxClasses("y", ["x"], intercept=False), CLASSES),
    "Markov chain": (sf.MarkovChain(1, variable="rain", id="site"), RAIN),
    "Markov chain of order two": (sf.MarkovChain(2, variable="rain", id="site", time="day"), RAIN),
    "Markov chain of order zero": (sf.MarkovChain(0, variable="A"), XYZ),
    "hidden Markov chain": (sf.MarkovChain(latent={"mood": 2}, variable="rain", id="site"), RAIN),
}

CHAINS = toy_of(6, 3, [4, 0, 3, 1, 5], unit=False, stepped=True, weighted=True)
GRAPHS = [(4, [[(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1, 2)], [(3,)]]), (1, [[], [], []]), (0, [[], [], []])]
CLIQUES = tuple(CliqueKind(f"cliques of {size}", size, Vocabulary(("c0", "c1"))) for size in SIZES)


def graph_table() -> GraphTable:
    """Return small graphs with attributes and labels at random."""
    rng = np.random.default_rng(0)
    held = coded(GRAPHS * 4, rng)
    return GraphTable(held.labelled(rng.integers(0, 2, held.n_nodes)), Variable("label", ("x", "y")))


IN_CODES: dict[str, tuple[Any, Any]] = {
    "conditional random field": (replace(CHAINS, steps=None).structure(), replace(CHAINS, steps=None).table),
    "conditional random field with attributes of steps": (CHAINS.structure(boundaries=True), CHAINS.table),
    "maximum-entropy Markov model": (CHAINS.structure(LocalChain, states="all"), CHAINS.table),
    "conditional random field on graphs": (
        LabelGraph(Vocabulary(("a", "b", "c")), CLIQUES),
        graph_table(),
    ),
}
"""Structures whose data are no tables of columns, but sequences and graphs in codes."""


def default_options(case: str) -> dict[str, Any]:
    """Return what a structure needs to be fitted by its default method: a prior perhaps, and few starts."""
    if case in IN_CODES:
        return {"prior": Elastic(0.0, 1.0)}
    if "softmax" in case or "given numbers" in case:
        return {"prior": sf.Gaussian(1.0)}
    return {"restarts": 1, "seed": 1} if case.startswith("hidden") else {}


@cache
def default_fit(case: str) -> sf.Fit:
    """Return the fit of a structure by its default method."""
    structure, data = {**STRUCTURES, **IN_CODES}[case]
    return sf.fit(structure, data, **default_options(case))


def schema_of(structure: Any, data: dict[str, list[Any]]) -> sf.Schema:
    """Return the schema of a table for a structure."""
    if not structure.reads_rows:
        return structure.open(data).schema
    declared = structure.declared or None
    return open_table(data, structure.columns, schema=declared, continuous=structure.continuous).schema


def fits(structure: Any, data: dict[str, list[Any]], name: str) -> bool:
    """Whether a method gives a structure's maximum-likelihood estimate, or refuses to."""
    method = ALL_METHODS[type(structure)][name]
    return "mle" in method.points and method.refuses(structure, schema_of(structure, data)) is None
