"""The size of reports with their explorer: they are mailed and archived."""

from __future__ import annotations

from pathlib import Path

import pytest

import suffice as sf

LARGEST = {"alarm": 320_000, "asia": 150_000}
"""Bytes of a report, plots included."""


@pytest.mark.data
@pytest.mark.parametrize("name", LARGEST)
def test_reports_with_their_explorer_stay_small(data_folder: Path, tmp_path: Path, name: str) -> None:
    model = sf.read(data_folder / "networks_bif" / f"{name}.bif.gz")
    assert isinstance(model, sf.BayesianNetwork)
    fit = sf.fit(model.dag, model.sample(2000, seed=1), prior=sf.BDeu(10))
    path = tmp_path / "report.html"
    fit.report(path)
    page = path.read_text(encoding="utf-8")
    assert 'id="explorer"' in page
    assert '"tree":{' in page.replace(" ", "")  # inference inside the page
    assert path.stat().st_size <= LARGEST[name]
