"""A table of mushrooms, and a classifier of each kind that was learnt from it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

import suffice as sf
from suffice.structures.class_gaussian import ClassGaussian
from suffice.structures.joint_classes import JointClasses
from suffice.structures.naive import Naive
from suffice.structures.softmax_regression import SoftmaxClasses

STATES, NUMBERS = ("cap", "odor"), ("height", "width")
HALF = sf.Dirichlet(0.5)


def mushrooms(n: int = 60) -> dict[str, list[Any]]:
    """Return mushrooms of two classes; no input gives the class away."""
    noise = np.random.default_rng(8)
    edible = noise.integers(0, 2, n)
    odor = np.where(noise.random(n) < 0.75, edible, 1 - edible)
    return {
        "id": [f"m,{number}" for number in range(n)],
        "cap": [["flat", "bell", "cone"][code] for code in noise.integers(0, 3, n)],
        "odor": [["foul", "none"][code] for code in odor],
        "height": (noise.normal(size=n) + edible).round(3).tolist(),
        "width": (noise.normal(size=n) * (1 + edible)).round(3).tolist(),
        "spots": noise.integers(0, 6, n).tolist(),
        "n": noise.integers(1, 4, n).tolist(),
        "edible": [["no", "yes"][code] for code in edible],
    }


TABLE = mushrooms()
MODELS: dict[str, Any] = {
    "naive": sf.fit(Naive("edible", (*STATES, *NUMBERS)), TABLE, prior=HALF).model,
    "joint": sf.fit(JointClasses("edible", STATES), TABLE, prior=HALF).model,
    "gaussian": sf.fit(ClassGaussian("edible", NUMBERS), TABLE).model,
    "softmax": sf.fit(SoftmaxClasses("edible", (*STATES, *NUMBERS)), TABLE).model,
}


def write_table(path: Path, table: dict[str, list[Any]]) -> None:
    """Write columns as a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
