"""The published Gaussian and conditional-Gaussian networks of the shared data, as networks of this library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import suffice as sf

GAUSSIAN = ("ecoli70", "magic-niab", "magic-irri", "arth150")
MIXED = ("sangiovese",)


def names(folder: Path) -> list[str]:
    """Return the names of all of them."""
    return [*GAUSSIAN, *MIXED, *sorted(path.stem for path in (folder / "networks_bnrep").glob("*.json"))]


def network(folder: Path, name: str) -> sf.BayesianNetwork:
    """Read one of them."""
    if name in GAUSSIAN:
        cpds = json.loads((folder / "networks_gaussian" / f"{name}.json").read_text())["cpds"]
        return _network({node: _old(entry) for node, entry in cpds.items()})
    place = "networks_clg" if name in MIXED else "networks_bnrep"
    return _network(json.loads((folder / place / f"{name}.json").read_text())["nodes"])


def _old(entry: dict[str, Any]) -> dict[str, Any]:
    slopes = {key: value[0] for key, value in entry["coefficients"].items()}
    return {"parents": entry["parents"], "coefficients": slopes, "sd": np.sqrt(entry["variance"][0])}


def _network(nodes: dict[str, Any]) -> sf.BayesianNetwork:
    tables: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for node, entry in nodes.items():
        if entry.get("type") == "discrete":
            tables[node] = np.array(entry["prob"]) / np.sum(entry["prob"])
            schema[node] = entry["levels"]
            continue
        slopes = dict(entry["coef"] if "coef" in entry else entry["coefficients"])
        intercept = entry["intercept"] if "intercept" in entry else slopes.pop("(Intercept)")
        tables[node] = {"intercept": intercept, "coefficients": slopes, "sd": entry["sd"]}
    dag = sf.DAG({node: entry["parents"] for node, entry in nodes.items()})
    return sf.BayesianNetwork(dag, tables, schema=schema)
