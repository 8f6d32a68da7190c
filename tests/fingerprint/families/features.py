"""Log-linear models: features of every kind, pairwise models, inputs, approximate methods, maximum entropy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tests.fingerprint.families.directed import ask_states
from tests.fingerprint.family import WEIGHTS, Family, drawn, fit_table, plain, streams_by_column
from tests.fingerprint.pairs import Choice
from tests.fingerprint.record import Record
from tests.fingerprint.tables import FORMS, mixed, uniform, with_gaps

import suffice as sf

TABLE = {**mixed(96, seed=4), **{f"v{i}": ["ab"[one] for one in uniform(440 + i, 96, 0, 2)] for i in range(4)}}
GAPPY = with_gaps(TABLE, "A B C E v1", seed=930)

EDGES = [("B", "C"), ("C", "E"), ("E", "B"), ("C", "v1")]
LETTERS = ["v0", "v1", "v2", "v3"]
FEATURES: dict[str, Any] = {
    "indicators": lambda: sf.Features([sf.indicators("A", "B"), sf.indicators("B", "C"), sf.indicators("A", "C")]),
    "references": lambda: sf.Features(
        [sf.indicators("A", reference=True), sf.indicators("B", reference=True), sf.indicator(A="a1", B="yes")]
    ),
    "products": lambda: sf.Features(
        [sf.product("k"), sf.product("k", "k"), sf.product("k", sf.indicators("B")), sf.indicator(B="yes", C="yes")]
    ),
    "table": lambda: sf.Features(
        [
            sf.feature({("yes", "no"): 1.5, ("no", "yes"): -0.5}, over=("B", "C"), name="table"),
            sf.feature(lambda k: k * k - 1.0, over="k", name="function"),
            sf.indicator(B="yes"),
        ]
    ),
    "windows": lambda: sf.Features([sf.windows(["a", "ab", "b"], over=LETTERS)]),
    "all windows": lambda: sf.Features([sf.windows(over=LETTERS, width=2)]),
    "tied": lambda: sf.Features(
        [sf.indicator(B="yes"), sf.indicator(C="yes"), sf.indicator(E="on"), sf.indicator(B="yes", C="yes")],
        tie={"both": ["B=yes", "C=yes"]},
    ),
    "Ising": lambda: sf.Ising(EDGES),
    "Ising, tied": lambda: sf.Ising(EDGES, tie="couplings"),
    "Boltzmann": lambda: sf.Boltzmann(["B", "C", "E"]),
    "Potts": lambda: sf.Potts([("A", "S")]),
    "given": lambda: sf.Features(
        [sf.indicator(C="yes"), sf.product("x", sf.indicator(C="yes")), sf.indicator(B="yes", C="yes")],
        given=["x", "B"],
    ),
    "given states": lambda: sf.Features([sf.indicators("A", "C"), sf.indicator(C="yes", E="on")], given=["A"]),
}
PRIORS: dict[str, Any] = {
    "none": None,
    "Gaussian": sf.Gaussian(1.0),
    "Gaussian, main free": sf.Gaussian(0.5, main=math.inf),
    "Laplace": sf.Laplace(0.5),
}
SMOOTH = ("lbfgs", "newton", "cg", "gradient")
PRECISE = ("auto", "lbfgs", "newton", "cg", "ipf", "em")
"""Methods that end where rounding begins, so that every processor finds the same parameters to 1e-9."""


def _columns(choice: Choice) -> Any:
    columns = GAPPY if choice["missing"] != "error" else TABLE
    if choice["features"] == "Potts":  # whose variables have the same states
        names = dict(zip(("lo", "mid", "hi"), ("a0", "a1", "a2"), strict=True))
        columns = {**columns, "S": [names.get(value) for value in columns["S"]]}
    return columns


def _run_features(record: Record, choice: Choice) -> None:
    structure = FEATURES[choice["features"]]()
    columns = _columns(choice)
    tol = 1e-11 if choice["method"] in PRECISE else 1e-8
    seed, options = None, None
    if choice["method"] == "stochastic":
        seed, options = 6, {"chains": 64, "error": 0.05}
    fit = fit_table(
        record,
        structure,
        columns,
        choice,
        prior=PRIORS[choice["prior"]],
        seed=seed,
        options=options,
        max_iter=4000,
        tol=tol,
    )
    given = list(structure.given)
    names = [name for name in structure.variables if name not in given]
    rows = {name: TABLE[name][:5] if name != "S" else columns["S"][:5] for name in [*given, *names]}
    if given:
        evidence = {name: rows[name][0] for name in given}
        record.ask("query", lambda: fit.model.query(names[0], given=evidence))
        record.ask("query_rows", lambda: fit.model.query_rows(names[0], {name: rows[name] for name in given}))
        record.ask("map", lambda: dict(fit.model.map(evidence)))
        record.ask("log_prob", lambda: fit.model.log_prob(rows))
    else:
        first, second = (names * 2)[:2]
        ask_states(record, fit, (first, second), {second: rows[second][0]}, {**TABLE, **rows}, names)
        record.ask("gibbs", lambda: drawn(fit.model, names, method="gibbs"))
        record.ask("log_z", lambda: fit.model.log_z)
    if "Ising" in choice["features"] or choice["features"] == "Boltzmann":
        record.ask("couplings", lambda: fit.model.couplings)
        record.ask("fields", lambda: fit.model.fields)
    if choice["missing"] != "em":
        record.ask("weights", lambda: str(fit.weights()))
        record.ask("geometry", lambda: str(fit.geometry()))


def _allows_features(choice: Choice) -> bool:
    method, prior, em = choice["method"], choice["prior"], choice["missing"] == "em"
    if (choice["point"] != "none" and prior == "none") or not streams_by_column(choice) or (method == "em") > em:
        return False
    given = "given" in choice["features"]
    if method == "stochastic" and choice["features"] not in ("Ising", "tied"):
        return choice["features"] == "indicators" and plain(choice, "features", "method")
    refused = (
        (prior != "none" and method in ("gis", "ipf", "stochastic"))
        or (method != "auto" and (prior == "Laplace") != (method == "proximal"))
        or (method == "ipf" and choice["features"] != "indicators")
        or (choice["point"] == "mean")
        or (given and method in ("pseudo_likelihood", "stochastic", "ipf"))
        or (em and (method not in ("auto", "em") or prior == "Laplace" or given))
    )
    shown = choice["features"] in ("indicators", "references", "given")
    return not refused or (shown and any(plain(choice, "features", *kinds) for kinds in REFUSALS))


REFUSALS = (("method",), ("missing",), ("prior", "point"))
"""Kinds of options that are refused together in a few cases; whatever else is refused is left out."""


FACES = {"points": [1, 2, 3, 4, 5, 6], "B": ["no", "yes"]}


def _run_maxent(record: Record, choice: Choice) -> None:
    base: Any = {
        "none": None,
        "array": (np.arange(12).reshape(6, 2) % 5 + 1).astype(float),
        "function": lambda points, B: 1.0 / points + (B == "yes"),  # noqa: N803
        "zeros": np.array([[1.0, 1.0]] * 5 + [[0.0, 1.0]]),
    }[choice["base"]]
    what: dict[str, tuple[Any, Any]] = {
        "features": (
            sf.Features([sf.product("points"), sf.indicator(B="yes"), sf.product("points", sf.indicator(B="yes"))]),
            [4.25, 0.375, 1.75],
        ),
        "by name": (sf.Features([sf.product("points"), sf.indicator(B="yes")]), {"points": 2.5, "B=yes": 0.625}),
        "margins": ("points + B", {"points": [1, 2, 3, 3, 2, 1], "B": [5, 7]}),
        "contradiction": (sf.Features([sf.product("points"), sf.product("points", "points", name="sq")]), [4.5, 16.0]),
    }
    structure, targets = what[choice["targets"]]
    if choice["targets"] == "contradiction":
        base = None
    over = {"points": FACES["points"]} if choice["targets"] == "contradiction" else FACES
    arguments = {} if choice["method"] == "auto" else {"method": choice["method"]}
    fit = sf.maxent(structure, targets, over=over, base=base, **arguments)
    record.add_fit(fit)
    record.ask("query", lambda: fit.model.query("points"))
    record.ask("entropy", fit.model.entropy)
    record.ask("map", lambda: dict(fit.model.map()))


def _allows_maxent(choice: Choice) -> bool:
    if choice["targets"] == "contradiction":
        return choice["base"] == "none" and choice["method"] == "auto"
    return True


FAMILIES = [
    Family(
        "features",
        _run_features,
        {
            "features": tuple(FEATURES),
            "method": ("auto", *SMOOTH, "gis", "ipf", "proximal", "pseudo_likelihood", "stochastic", "em"),
            "form": FORMS,
            "prior": tuple(PRIORS),
            "missing": ("error", "drop", "em"),
            "point": ("none", "map", "mean"),
            "weights": WEIGHTS,
            "certify": ("none", "data"),
        },
        _allows_features,
    ),
    Family(
        "maximum entropy",
        _run_maxent,
        {
            "targets": ("features", "by name", "margins", "contradiction"),
            "base": ("none", "array", "function", "zeros"),
            "method": ("auto", "lbfgs", "newton", "gis", "ipf"),
        },
        _allows_maxent,
    ),
]
