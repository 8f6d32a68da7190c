"""Comparisons and checks of structures, and statistics that are collected in parts, written, read and merged."""

from __future__ import annotations

from typing import Any

from tests.fingerprint.family import WEIGHTS, Family, plain, streams_by_column, weights_of
from tests.fingerprint.pairs import Choice
from tests.fingerprint.record import Record
from tests.fingerprint.tables import FORMS, in_form, mixed, with_gaps

import suffice as sf

TABLE = mixed(96, seed=6)
GAPPY = with_gaps(TABLE, "A B C x y", seed=960)
STRUCTURES: dict[str, Any] = {
    "network": lambda: sf.DAG("A -> B -> C"),
    "regressions": lambda: sf.DAG("x -> y -> z"),
    "mixed network": lambda: sf.DAG("B -> x; x -> y"),
    "cliques": lambda: sf.Cliques("A:B + B:C + A:C"),
    "field": lambda: sf.GaussianMarkov("x:y + y:z"),
    "Ising": lambda: sf.Ising([("B", "C"), ("C", "E")]),
    "softmax": lambda: sf.DAG("x -> B"),
}


def _run_parts(record: Record, choice: Choice) -> None:
    structure = STRUCTURES[choice["structure"]]()
    columns = GAPPY if choice["missing"] != "error" else TABLE
    cut = [columns] if choice["parts"] == "one" else [_rows(columns, 0, 50), _rows(columns, 50, 96)]
    found = []
    for place, part in enumerate(cut):
        statistics = sf.collect(
            structure,
            in_form(part, choice["form"]),
            weights=weights_of(choice, part),
            missing=choice["missing"],
        )
        if choice["kept"] == "file":
            sf.write(statistics, f"part{place}.stats")
            statistics = sf.read(f"part{place}.stats")
        found.append(statistics)
    total = found[0] + found[1] if len(found) > 1 else found[0]
    record.add("statistics", str(total))
    record.add("weight", float(total.weight))
    prior = sf.BDeu(2) if choice["prior"] == "BDeu" else None
    record.add_fit(sf.estimate(structure, total, prior=prior))


def _rows(columns: dict[str, list[Any]], start: int, end: int) -> dict[str, list[Any]]:
    return {name: values[start:end] for name, values in columns.items()}


def _allows_parts(choice: Choice) -> bool:
    if choice["missing"] == "em" or (choice["prior"] == "BDeu" and choice["structure"] not in ("network", "cliques")):
        return plain({**choice, "kept": "none", "parts": "none"}, "structure", "missing", "prior")
    return streams_by_column(choice)


def _run_compare(record: Record, choice: Choice) -> None:
    models: dict[str, Any] = {
        "tables": {
            "apart": sf.DAG(["A", "B", "C"]),
            "chain": sf.DAG("A -> B -> C"),
            "pairs": sf.Cliques("A:B + B:C + A:C"),
            "features": sf.Features([sf.indicators("A", "B"), sf.indicators("C")]),
        },
        "numbers": {"apart": sf.DAG(["x", "y"]), "line": sf.DAG("x -> y"), "both": sf.MultivariateNormal(["x", "y"])},
        "priors": {f"ess {ess}": {"structure": sf.DAG("A -> B"), "prior": sf.BDeu(ess)} for ess in (1, 10)},
        "inputs": {
            "one": sf.Features([sf.indicator(C="yes")]),
            "two": sf.Features([sf.indicator(C="yes"), sf.indicator(B="yes", C="yes")], given=["B"]),
        },
    }[choice["models"]]
    columns = GAPPY if choice["missing"] != "error" else TABLE
    found = sf.compare(
        models,
        in_form(columns, choice["form"]),
        folds=None if choice["folds"] == "none" else int(choice["folds"]),
        seed=2,
        weights=weights_of(choice, columns),
        missing=choice["missing"],
        prior=sf.BDeu(1) if choice["prior"] == "BDeu" else None,
    )
    record.add("text", str(found))
    for row in found:
        record.add(f"row {row.name}", [row.log_likelihood, row.n_free, row.aic, row.bic])
        record.add(f"cross-validated {row.name}", row.cv)
    record.add("notes", [str(note) for note in found.notes])


def _allows_compare(choice: Choice) -> bool:
    if choice["missing"] == "em" or (choice["prior"] == "BDeu" and choice["models"] != "tables"):
        return plain({**choice, "folds": "none"}, "models", "prior", "missing")
    if choice["prior"] == "BDeu":
        return plain({**choice, "folds": "none"}, "models", "prior")
    return streams_by_column(choice)


def _run_check(record: Record, choice: Choice) -> None:
    structure = {
        "network": lambda: sf.DAG("A -> B -> C; C -> E"),
        "regressions": lambda: sf.DAG("x -> y; x -> z"),
        "mixed network": lambda: sf.DAG("B -> x; A -> B"),
        "cliques": lambda: sf.Cliques("A:B + B:C"),
        "field": lambda: sf.GaussianMarkov("x:y + y:z"),
        "Ising": lambda: sf.Ising([("B", "C"), ("C", "E")]),
    }[choice["structure"]]()
    columns = GAPPY if choice["missing"] != "error" else TABLE
    found = sf.check(
        structure,
        in_form(columns, choice["form"]),
        bootstrap=int(choice["bootstrap"]),
        level=float(choice["level"]),
        weights=weights_of(choice, columns),
        missing=choice["missing"],
    )
    record.add("text", str(found))
    record.add("verdict", found.verdict)
    record.add("statistic", [float(test.statistic) for test in found.tests])
    record.add("p", [float(test.p_value) for test in found.tests])
    record.add("needed", [(edge.edge, bool(edge.is_needed)) for edge in found.edges])


FAMILIES = [
    Family(
        "statistics",
        _run_parts,
        {
            "structure": tuple(STRUCTURES),
            "form": FORMS,
            "parts": ("two", "one"),
            "kept": ("memory", "file"),
            "missing": ("error", "drop", "em"),
            "weights": WEIGHTS,
            "prior": ("none", "BDeu"),
        },
        _allows_parts,
    ),
    Family(
        "comparison",
        _run_compare,
        {
            "models": ("tables", "numbers", "priors", "inputs"),
            "form": FORMS,
            "folds": ("5", "none"),
            "missing": ("error", "drop", "em"),
            "weights": WEIGHTS,
            "prior": ("none", "BDeu"),
        },
        _allows_compare,
    ),
    Family(
        "check",
        _run_check,
        {
            "structure": ("network", "regressions", "mixed network", "cliques", "field", "Ising"),
            "form": ("dict", "csv", "parquet", "duckdb", "pandas", "polars"),
            "bootstrap": ("20", "0"),
            "level": ("0.05", "0.5"),
            "missing": ("error", "drop"),
            "weights": WEIGHTS,
        },
        streams_by_column,
    ),
]
