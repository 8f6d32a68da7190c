"""Markov random fields: cliques by every method, prior and start, with gaps and latent variables."""

from __future__ import annotations

import math
from typing import Any

from tests.fingerprint.families.directed import ask_states
from tests.fingerprint.family import WEIGHTS, Family, fit_table, plain, streams_by_column
from tests.fingerprint.pairs import Choice
from tests.fingerprint.record import Record
from tests.fingerprint.tables import FORMS, mixed, with_gaps

import suffice as sf

TABLE = mixed(96, seed=3)
GAPPY = with_gaps(TABLE, "A B C D E", seed=920)

CLIQUES = {
    "chain": "A:B + B:C",
    "nested": "A:B:C + C + B",
    "apart": "A:B + E",
    "triangle": "A:B + B:C + A:C",
    "ring": "A:B + B:D + D:C + C:A",
    "dense": "A:B:C + B:C:D + A:D",
}
PRIORS: dict[str, Any] = {
    "none": lambda: None,
    "BDeu": lambda: sf.BDeu(4),
    "Expert": lambda: sf.Expert(_expert(), 5.0, 0.5),
    "Gaussian": lambda: sf.Gaussian(1.0),
    "Gaussian, main free": lambda: sf.Gaussian(0.75, main=math.inf),
    "Laplace": lambda: sf.Laplace(0.5),
}
PRECISE = ("auto", "closed_form", "adaptive", "ipf", "newton", "lbfgs", "cg", "em")
"""Methods that end where rounding begins, so that every processor finds the same parameters to 1e-9."""
SMOOTH = ("newton", "lbfgs", "cg", "gradient")


def _expert() -> Any:
    names = ("A", "B", "C", "D", "E")
    return sf.fit(sf.DAG("A -> B -> C; C -> D; B -> E"), {name: TABLE[name] for name in names}, prior=sf.K2()).model


def _run_cliques(record: Record, choice: Choice) -> None:
    structure = sf.Cliques(CLIQUES[choice["cliques"]])
    columns = GAPPY if choice["missing"] != "error" else TABLE
    options = {"simultaneous": {"simultaneous": True}, "psi": {"space": "psi"}}.get(choice["options"])
    fit = fit_table(
        record,
        structure,
        columns,
        choice,
        prior=PRIORS[choice["prior"]](),
        init="random" if choice["init"] == "random" else None,
        seed=2 if choice["init"] == "random" else None,
        options=options,
        max_iter=3000,
        tol=1e-11 if choice["method"] in PRECISE else 1e-8,
    )
    ask_states(record, fit, ("A", "B"), {"B": "yes"}, TABLE, structure.variables)
    record.ask("log_z", lambda: fit.model.log_z)
    if choice["missing"] != "em":
        record.ask("u-terms", lambda: str(fit.u_terms()))
        record.ask("expected", lambda: str(fit.expected("adjusted" if choice["prior"] == "none" else "pearson")))
        record.ask("goodness", lambda: fit.goodness)
        record.ask("geometry", lambda: str(fit.geometry()))
    if fit.posterior is not None:
        record.ask("posterior", lambda: fit.posterior.interval(["A", "B"], 0.9)[0])


def _allows_cliques(choice: Choice) -> bool:
    method, prior, em = choice["method"], choice["prior"], choice["missing"] == "em"
    if (choice["point"] != "none" and prior == "none") or not streams_by_column(choice) or (method == "em") > em:
        return False
    if choice["options"] != "none" and method != {"simultaneous": "ipf", "psi": "gradient"}[choice["options"]]:
        return False
    chordal = choice["cliques"] in ("chain", "apart")
    pulls = "Gaussian" in prior or prior == "Laplace"
    refused = (
        (method == "closed_form" and (not chordal or pulls))
        or (prior == "Laplace") != (method == "proximal" or (prior == "Laplace" and method == "auto"))
        or (pulls and (method in ("ipf", "adaptive") or choice["point"] == "mean"))
        or (choice["point"] == "mean" and not (chordal and method in ("auto", "closed_form")))
        or (pulls and choice["options"] == "psi")
        or (choice["init"] == "random" and (em or method in ("closed_form", "auto")))
        or (em and (method not in ("auto", "em") or prior in ("Laplace", "BDeu", "Expert")))
    )
    shown = choice["cliques"] == "triangle"
    return not refused or (shown and (plain(choice, "cliques", "method", "prior") or plain(choice, "cliques", "init")))


LATENT = {"classes": "L:B + L:C + L:E", "chain": "A:L + L:M + M:E + L:B + M:C"}


def _run_latent(record: Record, choice: Choice) -> None:
    graph = LATENT[choice["cliques"]]
    latent = {"L": 2, "M": 2} if "M" in graph else {"L": 2}
    if choice["written"] == "features":
        pairs = [sf.indicators(*clique.split(":")) for clique in graph.split(" + ")]
        structure: Any = sf.Features(pairs, latent=latent)
    else:
        structure = sf.Cliques(graph, latent=latent)
    columns = GAPPY if choice["gaps"] == "yes" else TABLE
    prior = sf.Gaussian(1.5) if choice["prior"] == "Gaussian" else None
    how = {**choice, "missing": "em"}
    fit = fit_table(record, structure, columns, how, prior=prior, seed=4, restarts=2, max_iter=200, tol=1e-6)
    shown = [name for name in structure.variables if name not in latent]
    rows = {name: TABLE[name][:5] for name in shown}
    record.add("starts", [float(start.objective) for start in fit.starts])
    record.ask("query", lambda: fit.model.query("L", given={"B": "yes"}))
    record.ask("query_rows", lambda: fit.model.query_rows("L", rows))
    record.ask("log_prob", lambda: fit.model.log_prob(rows, missing="marginalise"))


def _allows_latent(choice: Choice) -> bool:
    if choice["written"] == "features" and choice["prior"] == "none":
        return False  # Without a prior the estimate is on the boundary, and rounding decides where the search ends.
    if choice["form"] == "duckdb":
        return plain(choice, "cliques", "written", "form")
    return streams_by_column(choice)


FAMILIES = [
    Family(
        "cliques",
        _run_cliques,
        {
            "cliques": tuple(CLIQUES),
            "method": ("auto", "closed_form", "adaptive", "ipf", *SMOOTH, "proximal", "em"),
            "form": FORMS,
            "prior": tuple(PRIORS),
            "missing": ("error", "drop", "em"),
            "point": ("none", "mean", "map"),
            "weights": WEIGHTS,
            "init": ("none", "random"),
            "options": ("none", "simultaneous", "psi"),
            "certify": ("none", "data"),
        },
        _allows_cliques,
    ),
    Family(
        "latent cliques",
        _run_latent,
        {
            "cliques": tuple(LATENT),
            "written": ("cliques", "features"),
            "form": ("dict", "csv", "parquet", "pandas", "duckdb"),
            "gaps": ("no", "yes"),
            "prior": ("none", "Gaussian"),
            "weights": WEIGHTS,
        },
        _allows_latent,
    ),
]
