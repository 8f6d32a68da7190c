"""Bayesian networks: tables, regressions, softmax and noisy-OR nodes, latent variables, gaps."""

from __future__ import annotations

import functools
from typing import Any

from tests.fingerprint.family import WEIGHTS, Family, drawn, fit_table, plain, streams_by_column
from tests.fingerprint.pairs import Choice
from tests.fingerprint.record import Record
from tests.fingerprint.tables import FORMS, Columns, mixed, with_gaps

import suffice as sf

TABLE = mixed()
GAPPY = with_gaps(TABLE, "A B C D E x y z S", seed=900)

TABULAR = {
    "chain": "A -> B -> C",
    "collider": "A -> D <- B; B -> C",
    "no edges": ["A", "B", "C"],
    "dense": "A -> B; A -> C; B -> C; A -> D; B -> D; C -> D",
    "tied": "B -> C; C -> E",
}
PRIORS: dict[str, Any] = {
    "none": lambda: None,
    "Dirichlet": lambda: sf.Dirichlet(1.5),
    "Dirichlet by node": lambda: sf.Dirichlet({"B": 2.0}, rest=1.25),
    "K2": sf.K2,
    "Jeffreys": sf.Jeffreys,
    "BDeu": lambda: sf.BDeu(5),
    "Expert": lambda: sf.Expert(_expert(), 6.0, 0.5),
}


def _expert() -> Any:
    names = ("A", "B", "C", "D", "E")
    return sf.fit(sf.DAG("A -> B -> C; B -> E; B -> D"), {name: TABLE[name] for name in names}, prior=sf.K2()).model


def _tabular_dag(name: str) -> Any:
    if name == "tied":
        return sf.DAG(TABULAR[name], tie=[{"C": ["B"], "E": ["C"]}])
    return sf.DAG(TABULAR[name])


def _run_tabular(record: Record, choice: Choice) -> None:
    dag = _tabular_dag(choice["graph"])
    columns = GAPPY if choice["missing"] != "error" else TABLE
    if choice["graph"] == "tied":
        columns = {**columns, "E": [{"off": "no", "on": "yes"}.get(value) for value in columns["E"]]}
    fixed = {"table": {"B": _some_table(dag)}, "row": {"B": _some_row(dag)}}.get(choice["fixed"])
    fit = fit_table(
        record,
        dag,
        columns,
        choice,
        prior=PRIORS[choice["prior"]](),
        fixed=fixed,
        unseen_parents=choice["unseen"],
        seed=3,
    )
    ask_states(record, fit, ("B", "C"), {"A": "a1"} if "A" in dag.nodes else {"E": "yes"}, columns, dag.nodes)
    if fit.posterior is not None:
        record.ask("posterior interval", lambda: fit.query("C", given={"B": "yes"}, interval=0.9, draws=50))
        record.ask("posterior", lambda: fit.posterior["C"].interval(0.9))
    if choice["missing"] == "em":
        weights = None if choice["weights"] == "none" else columns["w"]
        record.ask("standard errors", lambda: fit.standard_errors(columns, weights=weights))


def _some_table(dag: Any) -> Any:
    return [[0.25, 0.75]] * 3 if "A" in dag.parents["B"] else [0.25, 0.75]


def _some_row(dag: Any) -> Any:
    return {"a1": [0.375, 0.625]} if "A" in dag.parents["B"] else {"no": 0.375, "yes": 0.625}


def ask_states(
    record: Record, fit: Any, targets: tuple[str, str], given: dict[str, Any], columns: Columns, names: Any
) -> None:
    """Ask a model of discrete variables what it is meant to answer."""
    model, rows = fit.model, {name: columns[name][:6] for name in names}
    first, second = targets
    record.ask("query", lambda: model.query(first, given=given))
    record.ask("joint", lambda: model.query([first, second]))
    record.ask("map", lambda: dict(model.map(given=given)))
    record.ask("log_prob", lambda: model.log_prob(rows, missing="marginalise"))
    record.ask("sample", lambda: drawn(model, names))
    record.ask("predict", lambda: model.predict(second, rows))
    record.ask("impute", lambda: dict(model.impute({**rows, first: [None, *rows[first][1:]]})))
    record.ask("entropy", model.entropy)


def _allows_tabular(choice: Choice) -> bool:
    em = choice["missing"] == "em"
    if choice["point"] != "none" and choice["prior"] == "none":
        return False
    if choice["method"] in ("em", "observed_lbfgs") and not em:
        return choice["form"] == "dict" and choice["prior"] == "none"
    if choice["missing"] == "available":  # which networks refuse
        return plain(choice, "graph", "missing")
    if choice["method"] == "observed_lbfgs" and choice["fixed"] != "none":
        return plain(choice, "method", "fixed", "missing")
    return streams_by_column(choice) and not (em and choice["method"] in ("closed_form", "newton"))


KINDS = {
    "linear": "x -> y -> z; x -> z",
    "conditional": "A -> y <- x; B -> x; y -> z",
    "tied variance": "A -> y <- x; B -> x",
    "tied slopes": "A -> y <- x; B -> x",
    "tied both": "A -> y <- x",
    "tied nodes": "x -> y; y -> z",
    "unbiased": "A -> y <- x",
    "ridge": "x -> y; x -> z; y -> z",
    "minimum norm": "x -> z; y -> z",
    "softmax": "x -> S <- y",
    "softmax by state": "B -> S <- x; B -> C",
    "noisy-OR": "B -> E <- C",
    "noisy-OR of three": "A -> E; B -> E; C -> E",
    "mixed": "A -> x; x -> y; A -> B; B -> E <- C; y -> S",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "tied variance": {"kinds": {"y": {"tied": "variance"}}},
    "tied slopes": {"kinds": {"y": {"tied": "slopes"}}},
    "tied both": {"kinds": {"y": {"tied": "both"}}},
    "tied nodes": {"tie": [{"y": ["x"], "z": ["y"]}]},
    "unbiased": {"divisor": "n-p"},
    "ridge": {"kinds": {"z": {"ridge": 0.5}}},
    "minimum norm": {"kinds": {"z": {"singular": "minimum_norm"}}},
    "noisy-OR": {"kinds": {"E": "noisy_or"}},
    "noisy-OR of three": {"kinds": {"E": "noisy_or"}},
    "mixed": {"kinds": {"E": "noisy_or"}},
}
NODE_PRIORS = ("none", "conjugate", "BGe", "Gaussian", "Laplace")


@functools.cache
def _nodes(graph: str) -> frozenset[str]:
    return frozenset(sf.DAG(KINDS[graph]).nodes)


def _parts(graph: str) -> set[str]:
    """Return the kinds of nodes that a network has."""
    nodes = _nodes(graph)
    noisy = "E" in nodes
    found = {"tabular"} if nodes & {"A", "B", "C"} else set()
    found |= {"linear"} if any(node in nodes for node in "xyz") else set()
    return found | ({"softmax"} if "S" in nodes else set()) | ({"noisy"} if noisy else set())


def _node_prior(choice: Choice) -> Any:
    parts = _parts(choice["graph"])
    tables = [sf.BDeu(3)] if "tabular" in parts else []
    numbers = [sf.NormalInverseGamma(2, 1.5, precision=0.5)] if "linear" in parts else []
    return {
        "none": None,
        "conjugate": [*tables, *numbers],
        "BGe": sf.BGe(mean=0.5),
        "Gaussian": [*tables, *numbers, sf.Gaussian(1.5)],
        "Laplace": sf.Laplace(1.0),
    }[choice["prior"]]


def _run_kinds(record: Record, choice: Choice) -> None:
    name = choice["graph"]
    dag = sf.DAG(KINDS[name], **SETTINGS.get(name, {}))
    columns = GAPPY if choice["missing"] != "error" else TABLE
    fixed = {"B": {"no": 0.5, "yes": 0.5}} if choice["fixed"] == "table" else None
    fit = fit_table(record, dag, columns, choice, prior=_node_prior(choice), fixed=fixed, seed=3)
    model, rows = fit.model, {node: TABLE[node][:6] for node in dag.nodes}
    child = dag.nodes[-1] if name not in ("conditional", "mixed") else "y"
    parents = dag.parents[child]
    record.ask("query", lambda: model.query(child, given={one: rows[one][0] for one in parents}))
    record.ask("query without evidence", lambda: model.query(child))
    record.ask("log_prob", lambda: model.log_prob(rows))
    record.ask("sample", lambda: drawn(model, dag.nodes))
    record.ask("predict", lambda: model.predict(child, rows))
    record.ask("cpd", lambda: str(model.cpd(child)))
    record.ask("coefficients", lambda: str(fit.coefficients(child)))
    if fit.posterior is not None:
        record.ask("posterior", lambda: fit.posterior[child].interval(0.9))
    if choice["missing"] == "em":
        weights = None if choice["weights"] == "none" else columns["w"]
        record.ask("standard errors", lambda: fit.standard_errors(columns, weights=weights))


def _allows_kinds(choice: Choice) -> bool:
    graph, prior, point, em = choice["graph"], choice["prior"], choice["point"], choice["missing"] == "em"
    parts = _parts(graph)
    changed = graph in SETTINGS and "noisy" not in parts
    if (point == "none") < (prior == "none") or (choice["method"] in ("em", "observed_lbfgs")) > em:
        return False
    if not streams_by_column(choice) or (choice["fixed"] == "table" and "B" not in _nodes(graph)):
        return False
    refused = (
        (prior == "Laplace")
        or (prior == "BGe" and graph != "linear")
        or (prior == "conjugate" and (changed or parts & {"softmax", "noisy"}))
        or (prior == "Gaussian" and ("softmax" not in parts or "noisy" in parts or point == "mean"))
        or (choice["method"] == "closed_form" and (em or parts & {"softmax", "noisy"} or graph == "tied slopes"))
        or (choice["method"] == "observed_lbfgs" and parts & {"linear", "softmax", "noisy"})
        or (em and (graph in ("unbiased", "ridge", "minimum norm") or "softmax" in parts or prior == "BGe"))
        or (em and (choice["method"] == "newton" or point == "mean"))
    )
    shown = graph in ("linear", "ridge", "softmax", "noisy-OR")  # with which refusals are of interest
    return not refused or (shown and (plain(choice, "graph", "prior") or plain(choice, "graph", "method", "missing")))


UNSEEN = {
    "table": "A -> C <- B",
    "two tables": "A -> C <- B; A -> D <- B; C -> E",
    "regression": "A -> y <- B; x -> y",
    "softmax": "A -> S <- B; x -> S",
}


def _without_pair() -> Columns:
    """Return rows in which A is never a2 where B is yes, so that their children have a parent row without data."""
    columns = mixed(216)
    kept = [row for row, pair in enumerate(zip(columns["A"], columns["B"], strict=True)) if pair != ("a2", "yes")]
    return {name: [values[row] for row in kept] for name, values in columns.items()}


def _run_unseen(record: Record, choice: Choice) -> None:
    columns = _without_pair()
    if choice["missing"] != "error":
        columns = with_gaps(columns, "C D E", seed=950)
    dag = sf.DAG(UNSEEN[choice["graph"]])
    prior = sf.Dirichlet({"A": 1.5}, rest=1.0) if choice["prior"] == "flat" else None
    fit = fit_table(record, dag, columns, choice, prior=prior, unseen_parents=choice["unseen"], seed=3)
    child = {"regression": "y", "softmax": "S"}.get(choice["graph"], "C")
    given = {"A": "a2", "B": "yes", **({"x": 0.5} if "x" in dag.nodes else {})}
    record.ask("query", lambda: fit.model.query(child, given=given))
    record.ask("query of what occurs", lambda: fit.model.query(child, given={**given, "B": "no"}))
    record.ask("cpd", lambda: str(fit.model.cpd(child)))
    record.ask("sample", lambda: drawn(fit.model, dag.nodes))


def _allows_unseen(choice: Choice) -> bool:
    tables = "table" in choice["graph"]
    if (choice["prior"] == "flat" and not tables) or (choice["point"] != "none" and choice["prior"] == "none"):
        return False
    if choice["unseen"] == "error":  # which is refused, unless the prior determines all rows
        return plain(choice, "graph", "prior", "missing")
    return choice["missing"] != "em" or tables


LATENT = {
    "classes": ("L -> B; L -> C; L -> E; L -> D", {"L": 2}),
    "three classes": ("L -> B; L -> C; L -> E; L -> D", {"L": 3}),
    "mixture": ("L -> x; L -> y; x -> y", {"L": 2}),
    "mixture with states": ("L -> x; L -> B; L -> C", {"L": 2}),
    "two latent": ("L -> B; L -> C; M -> D; M -> E; L -> M", {"L": 2, "M": 2}),
}


def _run_latent(record: Record, choice: Choice) -> None:
    arrows, latent = LATENT[choice["graph"]]
    continuous = "x" in arrows
    kinds = {"x": {"tied": "variance"}} if choice["tie"] == "variance" else None
    dag = sf.DAG(arrows, latent=latent, kinds=kinds)
    columns = GAPPY if choice["gaps"] == "yes" else TABLE
    prior = {"Dirichlet": sf.Dirichlet(1.5), "list": [sf.Dirichlet(1.5), sf.NormalInverseGamma(2, 1.0)]}
    options = {"memory": 0} if choice["options"] == "plain" else None
    fit = fit_table(
        record,
        dag,
        columns,
        {**choice, "missing": "em"},
        prior=prior.get(choice["prior"]),
        options=options,
        restarts=int(choice["restarts"]),
        seed=5,
        max_iter=400,
        tol=1e-6 if choice["options"] == "plain" else 1e-10,
    )
    model = fit.model
    shown = [name for name in dag.nodes if name not in latent]
    rows = {name: TABLE[name][:5] for name in shown}
    record.add("starts", [str(start.name) for start in fit.starts])
    record.add("starts.objective", [float(start.objective) for start in fit.starts])
    record.ask("query", lambda: model.query("L", given={name: rows[name][0] for name in shown}))
    record.ask("query_rows", lambda: model.query_rows("L", rows))
    record.ask("log_prob", lambda: model.log_prob(rows, missing="marginalise"))
    record.ask("impute", lambda: dict(model.impute(rows, latent=True)))
    record.ask("sample", lambda: drawn(model, shown))
    if continuous:
        record.ask("mixture", lambda: model.query("x"))


def _allows_latent(choice: Choice) -> bool:
    continuous = "x" in LATENT[choice["graph"]][0]
    if (choice["tie"] == "variance" and not continuous) or not streams_by_column(choice):
        return False
    if choice["method"] == "observed_lbfgs" and continuous:
        return plain(choice, "graph", "method")
    if choice["point"] != "none" and choice["prior"] == "none":
        return False
    if choice["form"] in ("duckdb", "sqlite"):
        return plain(choice, "graph", "form", "method", "gaps")
    if choice["prior"] == "none":
        return True
    wanted = "list" if continuous else "Dirichlet"
    return choice["prior"] == wanted and choice["tie"] == "none" and not (continuous and choice["point"] != "map")


FAMILIES = [
    Family(
        "tables",
        _run_tabular,
        {
            "graph": tuple(TABULAR),
            "prior": tuple(PRIORS),
            "form": FORMS,
            "missing": ("error", "drop", "em", "available"),
            "point": ("none", "mean", "map"),
            "method": ("auto", "closed_form", "newton", "em", "observed_lbfgs"),
            "weights": WEIGHTS,
            "fixed": ("none", "table", "row"),
            "unseen": ("error", "uniform", "nan"),
            "certify": ("none", "data"),
        },
        _allows_tabular,
    ),
    Family(
        "node kinds",
        _run_kinds,
        {
            "graph": tuple(KINDS),
            "prior": NODE_PRIORS,
            "form": FORMS,
            "missing": ("error", "drop", "em"),
            "point": ("none", "mean", "map"),
            "method": ("auto", "closed_form", "newton", "em", "observed_lbfgs"),
            "weights": WEIGHTS,
            "fixed": ("none", "table"),
            "certify": ("none", "data"),
        },
        _allows_kinds,
    ),
    Family(
        "parents without data",
        _run_unseen,
        {
            "graph": tuple(UNSEEN),
            "unseen": ("error", "uniform", "nan"),
            "prior": ("none", "flat"),
            "point": ("none", "map"),
            "missing": ("error", "drop", "em"),
            "form": ("dict", "csv", "duckdb"),
        },
        _allows_unseen,
    ),
    Family(
        "latent",
        _run_latent,
        {
            "graph": tuple(LATENT),
            "form": FORMS,
            "prior": ("none", "Dirichlet", "list"),
            "point": ("none", "mean", "map"),
            "method": ("auto", "em", "observed_lbfgs"),
            "weights": WEIGHTS,
            "gaps": ("no", "yes"),
            "tie": ("none", "variance"),
            "restarts": ("2", "1"),
            "options": ("none", "plain"),
        },
        _allows_latent,
    ),
]
