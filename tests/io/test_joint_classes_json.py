"""Joint tables of classes survive files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conformance.copies import check_copies

import suffice as sf
from suffice.stats import counts as dense_or_sparse
from suffice.structures.joint_classes import JointClasses

DATA = {"a": list("uuvvuw"), "b": [1, 2, 1, 2, 1, 2], "y": [True, True, False, False, False, True]}
CASES: dict[str, tuple[JointClasses, dict[str, Any]]] = {
    "maximum likelihood": (JointClasses("y", ("a", "b")), {}),
    "posterior mean": (JointClasses("y", ("a", "b"), 1.0), {"prior": sf.Jeffreys()}),
    "mode": (JointClasses("y", ("a",), "uniform"), {"prior": sf.Dirichlet(2.0), "point": "map"}),
    "told": (JointClasses("y", ("a",), {True: 0.25, False: 0.75}), {}),
    "no inputs": (JointClasses("y", ()), {}),
    "a class without rows": (JointClasses("a", ("y",)), {"schema": {"a": ["u", "v", "w", "z"]}}),
    "impossible": (JointClasses("y", ("a",), {True: 1.0, False: 0.0}), {}),
}


@pytest.mark.parametrize("cells", [dense_or_sparse.DENSE_CELLS, 0])
@pytest.mark.parametrize("case", CASES)
def test_fits_can_be_copied_and_saved(case: str, cells: int, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(dense_or_sparse, "DENSE_CELLS", cells)
    structure, options = CASES[case]
    fit = sf.fit(structure, DATA, **options)
    check_copies(fit, DATA, tmp_path)
    again = sf.read(tmp_path / "fit.json")
    assert sf.estimate(structure, again.statistics, **{k: v for k, v in options.items() if k != "schema"}).n == 6


def test_a_model_of_other_columns_is_refused(tmp_path) -> None:
    sf.write(sf.fit(JointClasses("y", ("a", "b")), DATA), tmp_path / "fit.json")
    entry = json.loads((tmp_path / "fit.json").read_text(encoding="utf-8"))
    entry["content"]["structure"]["inputs"] = ["b", "a"]
    (tmp_path / "fit.json").write_text(json.dumps(entry), encoding="utf-8")
    with pytest.raises(sf.FileFormatError, match="another structure"):
        sf.read(tmp_path / "fit.json")


def test_a_spoilt_table_is_refused(tmp_path) -> None:
    sf.write(sf.fit(JointClasses("y", ("a",)), DATA), tmp_path / "fit.json")
    entry = json.loads((tmp_path / "fit.json").read_text(encoding="utf-8"))
    entry["content"]["model"]["values"][0][0] += 0.5
    (tmp_path / "fit.json").write_text(json.dumps(entry), encoding="utf-8")
    with pytest.raises(sf.FileFormatError, match="not a distribution"):
        sf.read(tmp_path / "fit.json")
