"""Markov chains and their fits survive the library's own JSON, bit by bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.copies import check_copies

import suffice as sf
from suffice.stats import counts as dense_or_sparse

DATA: dict[str, Any] = {
    "text": ["abcab", "b", "cc"],
    "numbers": [[1, 2, 10], [10, 1, 1]],
    "bools": [[True, False, True, True]],
}


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("prior", [None, sf.Dirichlet(1.0), sf.BDeu(3)], ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_fits_can_be_copied_and_saved(kind: str, order: int, prior: Any, sparse: bool, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense_or_sparse, "DENSE_CELLS", 3 if sparse else 1 << 20)
        check_copies(sf.fit(sf.MarkovChain(order), DATA[kind], prior=prior), DATA[kind], tmp_path)


def damaged(folder: Path, change: Any) -> str:
    sf.write(sf.fit(sf.MarkovChain(1), ["abab"]), folder / "chain.json")
    entry = json.loads((folder / "chain.json").read_text())
    change(entry["content"])
    (folder / "damaged.json").write_text(json.dumps(entry))
    return str(folder / "damaged.json")


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["structure"].update(order=2),
        lambda c: c["structure"].update(order=-1),
        lambda c: c["structure"].update(nonsense=1),
        lambda c: c["model"]["tables"].pop(),
        lambda c: c["model"]["tables"][0].update(values=[[0.5, 0.6]]),
        lambda c: c["model"].update(schema=[]),
        lambda c: c["local"].update(elsewhere=0.0),
    ],
    ids=["order", "negative order", "unknown setting", "table lost", "no distribution", "no variable", "local"],
)
def test_damaged_files_are_refused(change: Any, tmp_path: Path) -> None:
    with pytest.raises(sf.FileFormatError):
        sf.read(damaged(tmp_path, change))
