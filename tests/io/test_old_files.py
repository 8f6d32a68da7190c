"""Files that any version has written are read for good, and give the answers that they gave then."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.answers import HERE, ask, pack, unpack, unpack_parts

import suffice as sf
from suffice.families import each_family, each_model, structure_forms
from suffice.io import FORMATS
from suffice.io.posterior_content import NODES
from suffice.models.cpds import KINDS
from suffice.priors.registry import PRIORS
from suffice.stats.statistics import STATISTICS
from suffice.structures.feature_files import KINDS as FEATURES

LARGEST_FOLDER = 320_000
FOLDERS = {path.parent.name: path.parent for path in sorted(HERE.glob("*/index.json"))}
INDEX: dict[str, dict[str, Any]] = {
    version: json.loads((folder / "index.json").read_text()) for version, folder in FOLDERS.items()
}
FILES = [(version, name) for version in FOLDERS for name in INDEX[version] if not name.endswith(".pickle")]
PICKLES = [name for name in INDEX.get(sf.__version__, ()) if name.endswith(".pickle")]
"""Those of this version; others may have become unreadable."""


def check(found: Any, expected: Any, of: str = "") -> None:
    """Compare numbers closely, and everything else exactly."""
    if isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-8), of
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), of
        for name, value in expected.items():
            check(found[name], value, f"{of} {name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), of
        for place, value in enumerate(expected):
            check(found[place], value, f"{of} {place}")
    else:
        assert found == expected, of


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("version", "name"), FILES)
def test_an_old_file_is_read(version: str, name: str) -> None:
    if name.startswith("collect_"):
        unpack_parts(FOLDERS[version], Path())
    found = ask(unpack(name, FOLDERS[version], Path()))
    check(found, INDEX[version][name])
    if "uninterrupted" in found:  # a checkpoint
        check({key: found[key] for key in found["uninterrupted"]}, found["uninterrupted"])
        assert found["went_on"]


@pytest.mark.parametrize("name", PICKLES)
def test_a_pickle_of_this_version_is_read(name: str) -> None:
    check(ask(unpack(name, FOLDERS[sf.__version__], Path())), INDEX[sf.__version__][name])


def test_there_are_fixtures() -> None:
    assert len(FILES) >= 96
    assert PICKLES


@pytest.mark.parametrize("version", FOLDERS)
def test_the_index_lists_every_fixture(version: str) -> None:
    assert {path.name for path in FOLDERS[version].iterdir()} == {
        "index.json",
        *(f"{name}.b64" for name in INDEX[version]),
    }
    assert all(INDEX[version].values())
    assert sum(path.stat().st_size for path in FOLDERS[version].iterdir()) < LARGEST_FOLDER


def test_every_form_of_file_has_a_fixture() -> None:
    """A new form is added by ``python -m tests.fixtures.make``, after a case of it."""
    for ending in FORMATS:
        assert any(name.lower().endswith(ending) for _, name in FILES), ending
    everything = b"".join(base64.decodebytes((FOLDERS[v] / f"{name}.b64").read_bytes()) for v, name in FILES)
    # the prior of taggers, that of nodes which are given again, and the posterior that goes without a name
    not_in_files = {"Elastic", "GivenNode", "dirichlet"}
    models = [entry.name for entry in each_model() if entry.structure_of is not None]
    posteriors = [name for family in each_family() for name in family.posteriors()]
    for registry in (models, structure_forms(), PRIORS, posteriors, NODES, KINDS, STATISTICS, FEATURES):
        missing = [word for word in registry if f'"{word}"'.encode() not in everything]
        assert set(missing) <= not_in_files, missing


def test_a_fixture_is_never_written_again() -> None:
    path = Path("fit_tables.json")
    path.write_text("something else")
    with pytest.raises(FileExistsError):
        pack(path, FOLDERS["0.1.0"])
