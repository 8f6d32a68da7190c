"""What is promised of every fit: copies and files hold the same bits, and Ctrl-C keeps the best so far and says so."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conformance.cases import (
    ALL_METHODS,
    CLASSES,
    IN_CODES,
    METHOD,
    METHODS,
    NUMBERS,
    RING,
    STRUCTURES,
    XYZ,
    default_fit,
    default_options,
    set_method,
)
from tests.conformance.copies import WAYS, check_copies, check_same, contents
from tests.learn.chain_cases import InterruptsAt

import suffice as sf
from suffice.families import structure_forms
from suffice.io import own_json
from suffice.priors.elastic import Elastic
from suffice.structures.class_gaussian import ClassGaussian
from suffice.structures.joint_classes import JointClasses
from suffice.structures.naive import Naive
from suffice.structures.softmax_regression import SoftmaxClasses

GAPS = {**RING, "A": [None, *RING["A"][1:]], "C": [*RING["C"][:-1], None]}
GAPPY = {"x": [None, *NUMBERS["x"][1:]], "y": [*NUMBERS["y"][:-1], None], "z": NUMBERS["z"]}
SPINS = {name: [int(value in "yvt1") for value in column] for name, column in RING.items()}
APART = {"x": [0.0, 1.0, 2.0, 3.0], "y": list("aabb")}
WIDE = sf.BayesianNetwork(
    sf.DAG("A -> B"), {"A": [0.5, 0.5], "B": [[0.25, 0.75], [0.5, 0.5]]}, schema={"A": ["x", "y"], "B": ["u", "v"]}
)

# Structures ---------------------------------------------------------------------------------------------------

DECLARED = {
    "DAG with everything": sf.DAG(
        "H -> A; H -> B; H -> 'M. Work'", latent={"H": 3}, kinds={"A": "tabular"}, tie=[("A", "B")]
    ),
    "latent cliques": sf.Cliques("H:A + H:B", latent={"H": 2}),
    "Ising": sf.Ising([("b", "a"), ("c",), ("a", "d")], tie="couplings", fields=False),
    "Boltzmann": sf.Boltzmann([("b", "a"), ("c",), ("a", "d")], tie="both"),
    "Potts": sf.Potts([("b", "a"), ("c",), ("a", "d")], tie="fields"),
    "products": sf.Features([sf.indicators("A", "B"), sf.product("x", "n")]),
    "autoregression": sf.Autoregression(3, ["x", "y"], intercept=False, divisor="n-p", id="site", time="day"),
    "declared states": sf.Categorical("c", ["z", "y", "w"]),
    "declared coin": sf.Bernoulli("c", ["no", "yes"]),
    "naive with everything": Naive("y", list("abc"), kinds={"b": "tied_gaussian", "c": "multinomial"}, class_prior=0.5),
    "softmax": SoftmaxClasses("y", ["x", "z"], intercept=False),
}
EVERY_STRUCTURE = {**{case: structure for case, (structure, _) in STRUCTURES.items()}, **DECLARED}


@pytest.mark.parametrize("case", EVERY_STRUCTURE)
def test_structures_survive_json_and_are_hashable_values(case: str) -> None:
    structure = EVERY_STRUCTURE[case]
    getattr(structure, "order", None)  # what is worked out once is no part of the value
    entry = json.loads(json.dumps(own_json.plain(structure.to_dict())))
    for again in (structure_forms()[entry["type"]].read(entry), *(copied(structure) for copied in WAYS.values())):
        check_same(again, structure)
        assert again == structure
        assert hash(again) == hash(structure)


# Copies -------------------------------------------------------------------------------------------------------

SPECIAL: dict[str, tuple[Callable[[], sf.Fit], Any]] = {
    "hidden classes": (lambda: sf.fit(sf.DAG("H -> A; H -> B", latent={"H": 2}), XYZ, restarts=2, seed=0), XYZ),
    "gaps in a network": (lambda: sf.fit(sf.DAG("A -> B -> C"), GAPS, missing="em", seed=0), RING),
    "gaps in cliques": (lambda: sf.fit(sf.Cliques("A:B + B:C + A:C"), GAPS, missing="em", seed=0), RING),
    "gaps in normal columns": (lambda: sf.fit(sf.GaussianMarkov("x:y + z"), GAPPY, missing="em", seed=0), NUMBERS),
    "mixed network": (lambda: sf.fit(sf.DAG("g -> x; x -> y"), CLASSES), CLASSES),
    "posterior mode of a mixed network": (
        lambda: sf.fit(
            sf.DAG("g -> x; y"), CLASSES, prior=sf.Priors(sf.NormalInverseGamma(2, 1.0), sf.K2()), point="map"
        ),
        CLASSES,
    ),
    "fixed and unknown rows": (
        lambda: sf.fit(
            sf.DAG("A -> B"),
            {"A": ["x"], "B": ["u"]},
            schema={"A": ["x", "y"]},
            fixed={"A": [0.5, 0.5]},
            unseen_parents="nan",
        ),
        {"A": ["x"], "B": ["u"]},
    ),
    "posterior of cliques": (lambda: sf.fit(sf.Cliques("A:B + B:C"), RING, prior=sf.BDeu(4)), RING),
    "posterior mode of cliques": (lambda: sf.fit(sf.Cliques("A:B + B:C"), RING, prior=sf.BDeu(9), point="map"), RING),
    "prior of an expert": (lambda: sf.fit(sf.Cliques("A:B"), RING, prior=sf.Expert(WIDE, 5, uniform=0.1)), RING),
    "cliques on the boundary": (
        lambda: sf.fit(sf.Cliques("A:B"), {"A": list("xxy"), "B": list("uvv")}),
        {"A": ["x"], "B": ["u"]},
    ),
    "features on the boundary": (
        lambda: sf.fit(sf.Features([sf.indicators("A", "B")]), {"A": list("xxyyy"), "B": list("vvuvu")}),
        {"A": ["x"], "B": ["u"]},
    ),
    "cliques that were not fitted to the end": (
        lambda: sf.fit(sf.Cliques("A:B + B:C + C:A"), RING, method="ipf", max_iter=1),
        RING,
    ),
    "maximum entropy": (lambda: sf.maxent(sf.Cliques("A:B"), WIDE, base=WIDE), {"A": ["x"], "B": ["u"]}),
    "density": (
        lambda: sf.fit(
            sf.Features([sf.product("x"), sf.product("x", "x")], support={"x": (-6, 6)}), {"x": NUMBERS["x"]}
        ),
        {"x": NUMBERS["x"]},
    ),
    "pairs of spins": (lambda: sf.fit(sf.Ising("A:B + B:C"), SPINS), SPINS),
    "spins by sampling": (
        lambda: sf.fit(sf.Ising("A:B + B:C"), SPINS, method="stochastic", seed=1, max_iter=40),
        SPINS,
    ),
    "zeros in a precision matrix": (
        lambda: sf.fit(sf.GaussianMarkov("x:y + y:z"), NUMBERS, prior=sf.HyperInverseWishart(3, 1.0, mean=0.0)),
        NUMBERS,
    ),
    "posterior of a normal": (
        lambda: sf.fit(sf.MultivariateNormal(["x", "y"]), NUMBERS, prior=sf.NormalInverseWishart(0.0, 1.0, 2.5, 1.0)),
        NUMBERS,
    ),
    "posterior of a coin": (lambda: sf.fit(sf.Bernoulli("C"), XYZ, prior=sf.K2()), XYZ),
    "posterior of a chain": (lambda: sf.fit(sf.MarkovChain(1, variable="A"), XYZ, prior=sf.BDeu(1)), XYZ),
    "posterior of hypotheses": (
        lambda: sf.fit(sf.Hypotheses({"h": [1, 2], "g": [1, 2, 3]}, over="n"), {"n": [1]}, prior="uniform"),
        {"n": [1]},
    ),
    "autoregression": (lambda: sf.fit(sf.Autoregression(1, "x"), {"x": NUMBERS["x"]}), {"x": NUMBERS["x"]}),
    "classes of Student's t": (lambda: sf.fit(ClassGaussian("y", ["x"], bayes=True), CLASSES), CLASSES),
    "classes that are apart": (lambda: sf.fit(SoftmaxClasses("y", ["x"]), APART), APART),
    "sparse joint table": (lambda: sf.fit(JointClasses("C", ("A", "B")), XYZ), XYZ),
}


@pytest.mark.parametrize("case", STRUCTURES)
def test_copies_of_every_structures_fit_are_the_same(case: str, tmp_path: Path) -> None:
    check_copies(default_fit(case), STRUCTURES[case][1], tmp_path)


@pytest.mark.parametrize("case", SPECIAL)
def test_copies_of_special_fits_are_the_same(case: str, tmp_path: Path) -> None:
    make, data = SPECIAL[case]
    check_copies(make(), data, tmp_path)


# Interruption -------------------------------------------------------------------------------------------------

CYCLE, LAPLACE = sf.Cliques("A:B + B:C + C:D + D:A"), {"prior": sf.Laplace(5.0)}
CORNERS = sf.GaussianMarkov("a:b + b:c + c:d + d:a")
NORMALS = dict(zip("abcd", np.random.default_rng(3).normal(size=(4, 30)), strict=True))
HIDDEN = {"restarts": 1, "seed": 0, "options": {"memory": 0}}
LOOPS: dict[tuple[type[Any], str], tuple[Any, Any, dict[str, Any]]] = {
    (sf.DAG, "damped"): (sf.DAG("A -> B"), XYZ, {"options": {"rate": 0.01}}),
    (sf.DAG, "em"): (sf.DAG("H -> A; H -> B; H -> C", latent={"H": 2}), RING, HIDDEN),
    (sf.DAG, "observed_lbfgs"): (sf.DAG("H -> A; H -> B; H -> C", latent={"H": 2}), RING, {"restarts": 1, "seed": 0}),
    (sf.MarkovChain, "em"): (*STRUCTURES["hidden Markov chain"], HIDDEN),
    (sf.MultivariateNormal, "em"): (sf.MultivariateNormal(["x", "y", "z"]), GAPPY, {"missing": "em", **HIDDEN}),
    (sf.GaussianMarkov, "em"): (sf.GaussianMarkov("x:y + y:z"), GAPPY, {"missing": "em", **HIDDEN}),
    **{(sf.GaussianMarkov, name): (CORNERS, NORMALS, {}) for name in ("newton", "ipf")},
    **{(SoftmaxClasses, name): (SoftmaxClasses("y", ["x", "g"]), CLASSES, {}) for name in ("newton", "lbfgs")},
    **{(sf.Cliques, name): (CYCLE, RING, {}) for name in ("adaptive", "newton", "lbfgs", "cg", "ipf", "gradient")},
    (sf.Cliques, "proximal"): (CYCLE, RING, LAPLACE),
    (sf.Cliques, "em"): (CYCLE, GAPS, {"missing": "em", **HIDDEN}),
    **{
        (sf.Features, name): (*STRUCTURES["indicators of a ring"], {"seed": 0})
        for name in ("lbfgs", "newton", "cg", "gradient", "gis", "ipf", "pseudo_likelihood", "stochastic")
    },
    (sf.Features, "proximal"): (*STRUCTURES["indicators of a ring"], LAPLACE),
    (sf.Features, "em"): (
        sf.Features([sf.indicators("A", "B"), sf.indicators("B", "C")]),
        GAPS,
        {"missing": "em", **HIDDEN},
    ),
    **{
        (kind, name): (*IN_CODES[case], {"prior": Elastic(0.3 * (name == "owlqn"), 1e-3), "seed": 0})
        for kind, case in (
            (type(IN_CODES["conditional random field"][0]), "conditional random field"),
            (type(IN_CODES["conditional random field on graphs"][0]), "conditional random field on graphs"),
        )
        for name in METHODS[kind]
    },
}
AT_ONCE = {"closed_form", "enumeration", "ledoit_wolf"}
"""Methods without a loop."""
IN_ONE_STEP = [(sf.DAG, "newton"), (SoftmaxClasses, "proximal")]
"""Methods that do not report their steps, or need no second one."""

NESTED = {
    *((kind, name) for kind in (sf.Cliques, sf.Features) for name in ("em", "proximal")),
    (sf.Features, "stochastic"),
}
"""Methods whose steps are loops themselves, which may be interrupted within one."""


@pytest.fixture(autouse=True)
def with_the_skeleton(monkeypatch: pytest.MonkeyPatch) -> None:
    set_method(monkeypatch, sf.DAG, "damped", METHOD.METHOD)


def test_every_method_with_a_loop_is_interrupted() -> None:
    loops = [method for methods in ALL_METHODS.values() for name, method in methods.items() if name not in AT_ONCE]
    crossed = [ALL_METHODS[kind][name] for kind, name in LOOPS]
    assert [method for method in loops if method not in crossed] == [METHODS[kind][name] for kind, name in IN_ONE_STEP]


@pytest.mark.parametrize(("kind", "name"), LOOPS, ids=lambda value: getattr(value, "__name__", value))
def test_ctrl_c_keeps_the_best_so_far_and_marks_it(kind: type[Any], name: str) -> None:
    structure, data, options = LOOPS[kind, name]
    before, display = signal.getsignal(signal.SIGINT), InterruptsAt(2)
    fit = sf.fit(structure, data, method=name, tol=1e-12, progress=display, **options)
    assert signal.getsignal(signal.SIGINT) is before
    assert len(display.infos) == 2
    assert not fit.certificate.ok
    assert "the method was interrupted" in fit.certificate.verdict
    assert any("Interrupted: this is the best point so far" in note.text for note in fit.notes)
    assert not any("Not converged" in note.text for note in fit.notes)
    if (kind, name) not in NESTED:
        stopped = sf.fit(structure, data, method=name, tol=1e-12, max_iter=2, **options)
        assert fit.trace == stopped.trace
        assert contents(fit.model) == contents(stopped.model)


@pytest.mark.parametrize("case", [*STRUCTURES, *IN_CODES])
def test_an_interrupted_fit_is_never_certified(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even when it is at the optimum by chance."""
    structure, data = {**STRUCTURES, **IN_CODES}[case]
    kind, name = next(kind for kind in type(structure).__mro__ if kind in METHODS), default_fit(case).method
    method = METHODS[kind][name]
    marked = replace(method, solve=lambda problem: replace(method.solve(problem), interrupted=True))
    set_method(monkeypatch, kind, name, marked)
    fit = sf.fit(structure, data, method=name, **default_options(case))
    assert not fit.certificate.ok
    assert "the method was interrupted" in fit.certificate.verdict
