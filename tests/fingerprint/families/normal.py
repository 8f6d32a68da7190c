"""Single variables, normal distributions, Gaussian Markov random fields and trees."""

from __future__ import annotations

import math
from typing import Any

from tests.fingerprint.family import WEIGHTS, Family, drawn, fit_table, plain, streams_by_column, weights_of
from tests.fingerprint.pairs import Choice
from tests.fingerprint.record import Record
from tests.fingerprint.tables import FORMS, bell, in_form, mixed, with_gaps

import suffice as sf

TABLE = {**mixed(64, seed=2), "u": bell(271, 64)}
GAPPY = with_gaps(TABLE, "A B x y z u", seed=910)

NORMAL: dict[str, Any] = {
    "Normal": lambda: sf.Normal("x"),
    "Normal, unbiased": lambda: sf.Normal("x", divisor="n-1"),
    "MultivariateNormal": lambda: sf.MultivariateNormal(["x", "y", "z"]),
    "MultivariateNormal, unbiased": lambda: sf.MultivariateNormal(["x", "y"], divisor="n-1"),
    "chain": lambda: sf.GaussianMarkov("x:y + y:z"),
    "triangle and one more": lambda: sf.GaussianMarkov("x:y:z + u"),
    "ring": lambda: sf.GaussianMarkov("x:y + y:z + z:u + u:x"),
}
PRIORS: dict[str, Any] = {
    "none": None,
    "NormalInverseWishart": sf.NormalInverseWishart(mean=0.0, mean_weight=2.0, dof=6.0, scale=1.5),
    "HyperInverseWishart": sf.HyperInverseWishart(3.0, 1.5, mean=0.25, mean_weight=2.0),
    "flat mean": sf.HyperInverseWishart(4.0, 2.0),
}


def _run_normal(record: Record, choice: Choice) -> None:
    structure = NORMAL[choice["structure"]]()
    columns = GAPPY if choice["missing"] != "error" else TABLE
    fit = fit_table(record, structure, columns, choice, prior=PRIORS[choice["prior"]], seed=1)
    model, names = fit.model, structure.variables
    rows = {name: TABLE[name][:5] for name in names}
    record.ask("log_prob", lambda: model.log_prob(rows))
    record.ask("sample", lambda: drawn(model, names))
    if len(names) > 1:
        given = {names[0]: 0.5}
        record.ask("query", lambda: model.query(names[1], given=given))
        record.ask("predict", lambda: model.predict(names[1], {names[0]: rows[names[0]]}))
        record.ask("impute", lambda: dict(model.impute({**rows, names[1]: [None, *rows[names[1]][1:]]})))
    record.ask("entropy", model.entropy)
    if choice["missing"] == "em":
        weights = None if choice["weights"] == "none" else columns["w"]
        record.ask("standard errors", lambda: fit.standard_errors(columns, weights=weights))
    else:
        record.ask("goodness", lambda: fit.goodness)
    if fit.posterior is not None:
        record.add("posterior", str(fit.posterior))
        if choice["prior"] == "NormalInverseWishart":
            record.ask("posterior intervals", lambda: fit.posterior.intervals(0.9))


def _allows_normal(choice: Choice) -> bool:
    structure, prior, method, em = choice["structure"], choice["prior"], choice["method"], choice["missing"] == "em"
    if (point := choice["point"]) != "none" and prior == "none":
        return False
    if not streams_by_column(choice) or (method == "em") > em:
        return False
    refused = (
        (prior == "NormalInverseWishart" and "Normal" not in structure)
        or (prior in ("HyperInverseWishart", "flat mean") and structure == "ring")
        or (prior != "none" and ("unbiased" in structure or method in ("newton", "ipf")))
        or (method == "closed_form" and (structure == "ring" or em))
        or (method in ("newton", "ipf") and ("Normal" in structure or em))
        or (em and (prior != "none" or point == "mean" or "unbiased" in structure))
    )
    shown = structure in ("MultivariateNormal", "ring")
    return not refused or (shown and (plain(choice, "structure", "prior") or plain(choice, "structure", "method")))


STATES: dict[str, Any] = {
    "Categorical": lambda: sf.Categorical("A"),
    "Categorical with states": lambda: sf.Categorical("A", ["a2", "a1", "a0", "a9"]),
    "Bernoulli": lambda: sf.Bernoulli("B"),
    "whole numbers": lambda: sf.Categorical("k"),
}
STATE_PRIORS: dict[str, Any] = {
    "none": None,
    "Dirichlet": sf.Dirichlet(2.0),
    "K2": sf.K2(),
    "Jeffreys": sf.Jeffreys(),
    "BDeu": sf.BDeu(3),
}


def _run_states(record: Record, choice: Choice) -> None:
    structure = STATES[choice["structure"]]()
    columns = GAPPY if choice["missing"] != "error" else TABLE
    fit = fit_table(record, structure, columns, choice, prior=STATE_PRIORS[choice["prior"]])
    name = structure.nodes[0]
    record.ask("query", lambda: fit.model.query(name))
    record.ask("map", lambda: dict(fit.model.map()))
    record.ask("log_prob", lambda: fit.model.log_prob({name: TABLE[name][:4]}))
    record.ask("sample", lambda: drawn(fit.model, [name], 6))
    if fit.posterior is not None:
        record.ask("posterior", lambda: fit.query(name, interval=0.9, draws=50))


def _allows_states(choice: Choice) -> bool:
    if not streams_by_column(choice) or (choice["point"] != "none" and choice["prior"] == "none"):
        return False
    return not (choice["point"] == "map" and choice["prior"] == "Jeffreys") or plain(choice, "prior", "point")


def _run_tree(record: Record, choice: Choice) -> None:
    names = {"states": ["A", "B", "C", "D", "E"], "numbers": ["x", "y", "z", "u"], "mixed": ["A", "B", "x"]}
    columns = GAPPY if choice["missing"] != "error" else TABLE
    least = 0.03 if choice["least"] == "some" else None
    data = in_form(columns, choice["form"])
    tree = sf.chow_liu(
        data,
        names[choice["columns"]],
        alpha=float(choice["alpha"]),
        root=names[choice["columns"]][-1] if choice["root"] == "last" else None,
        min_information=least,
        weights=weights_of(choice, columns),
        missing=choice["missing"],
    )
    record.add("tree", str(tree))
    record.add("nats", [float(one) for one in tree.nats])
    record.add_fit(sf.fit(tree, TABLE, prior=None if choice["columns"] == "numbers" else sf.BDeu(1)))


def _allows_tree(choice: Choice) -> bool:
    if choice["columns"] == "mixed" or choice["missing"] == "em":
        return plain(choice, "columns", "missing", "alpha", "root", "least")
    return streams_by_column(choice) and not (choice["columns"] == "numbers" and choice["alpha"] != "0")


def _run_hypotheses(record: Record, choice: Choice) -> None:
    sets = {"even": range(2, 33, 2), "four": range(4, 33, 4), "powers": [2, 4, 8, 16, 32], "all": range(1, 33)}
    seen = {"few": [16, 8], "many": [16, 8, 4, 32, 16, 8, 4], "odd": [3, 4], "outside": [16, 77], "one": [2]}
    structure = sf.Hypotheses(sets, over="k")
    prior = {"weights": {"even": 0.5, "four": 0.3, "powers": 0.15, "all": 0.05}, "uniform": dict.fromkeys(sets, 0.25)}
    values: list[Any] = list(seen[choice["seen"]])
    columns = {"k": values, "w": [1 + place % 2 for place in range(len(values))]}
    if choice["missing"] == "drop":
        columns = {"k": [*values, None], "w": [*columns["w"], 1]}
    fit = fit_table(record, structure, columns, choice, prior=prior.get(choice["prior"]))
    record.ask("query", lambda: fit.model.query("k"))
    record.ask("map", lambda: dict(fit.model.map()))
    record.ask("log_prob", lambda: fit.model.log_prob({"k": [2, 8, 3]}))
    record.ask("sample", lambda: drawn(fit.model, ["k"], 6))
    if fit.posterior is not None:
        record.add("posterior", [float(fit.posterior[name]) for name in sets])


def _allows_hypotheses(choice: Choice) -> bool:
    return streams_by_column(choice) and not (choice["point"] != "none" and choice["prior"] == "none")


def _run_density(record: Record, choice: Choice) -> None:
    interval = {"bounded": (-4.0, 5.0), "half line": (-4.5, math.inf), "line": (-math.inf, math.inf)}[choice["support"]]
    features = {
        "mean": [sf.product("x")],
        "square": [sf.product("x"), sf.product("x", "x")],
        "by state": [
            sf.product("x"),
            sf.product("x", "x"),
            sf.indicator(B="yes"),
            sf.product("x", sf.indicator(B="yes")),
        ],
    }[choice["features"]]
    structure = sf.Features(features, support={"x": interval})
    columns = GAPPY if choice["missing"] != "error" else TABLE
    prior = {"Gaussian": sf.Gaussian(1.0), "Laplace": sf.Laplace(0.5)}.get(choice["prior"])
    fit = fit_table(record, structure, columns, choice, prior=prior)
    rows = {name: TABLE[name][:4] for name in structure.variables}
    record.ask("log_prob", lambda: fit.model.log_prob(rows))
    record.ask("expected", lambda: fit.model.expected(lambda x: x * x, over="x"))
    record.ask("weights", lambda: str(fit.weights()))
    record.ask("sample", lambda: drawn(fit.model, structure.variables, 3))


def _allows_density(choice: Choice) -> bool:
    if not streams_by_column(choice) or (choice["features"] == "mean" and choice["support"] == "line"):
        return False
    if (choice["method"] == "proximal") != (choice["prior"] == "Laplace"):
        return choice["method"] == "auto" or plain(choice, "features", "method", "prior", "support")
    return choice["missing"] != "em" or plain(choice, "missing", "features", "support")


FAMILIES = [
    Family(
        "normal",
        _run_normal,
        {
            "structure": tuple(NORMAL),
            "form": FORMS,
            "prior": tuple(PRIORS),
            "missing": ("error", "drop", "em"),
            "point": ("none", "mean", "map"),
            "method": ("auto", "closed_form", "newton", "ipf", "em"),
            "weights": WEIGHTS,
            "certify": ("none", "data"),
        },
        _allows_normal,
    ),
    Family(
        "one variable",
        _run_states,
        {
            "structure": tuple(STATES),
            "form": FORMS,
            "prior": tuple(STATE_PRIORS),
            "missing": ("error", "drop"),
            "point": ("none", "mean", "map"),
            "weights": WEIGHTS,
        },
        _allows_states,
    ),
    Family(
        "tree",
        _run_tree,
        {
            "columns": ("states", "numbers", "mixed"),
            "form": FORMS,
            "alpha": ("0", "1"),
            "root": ("none", "last"),
            "least": ("none", "some"),
            "missing": ("error", "drop", "em"),
            "weights": WEIGHTS,
        },
        _allows_tree,
    ),
    Family(
        "hypotheses",
        _run_hypotheses,
        {
            "seen": ("few", "many", "odd", "outside", "one"),
            "prior": ("none", "weights", "uniform"),
            "point": ("none", "mean", "map"),
            "form": ("dict", "csv", "parquet", "duckdb", "pandas"),
            "missing": ("error", "drop"),
            "weights": WEIGHTS,
        },
        _allows_hypotheses,
    ),
    Family(
        "density",
        _run_density,
        {
            "features": ("square", "mean", "by state"),
            "support": ("bounded", "half line", "line"),
            "form": ("dict", "csv", "parquet", "duckdb", "polars"),
            "method": ("auto", "lbfgs", "newton", "cg", "gradient", "proximal", "gis"),
            "prior": ("none", "Gaussian", "Laplace"),
            "missing": ("error", "drop", "em"),
            "weights": WEIGHTS,
        },
        _allows_density,
    ),
]
