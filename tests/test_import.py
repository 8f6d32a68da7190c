"""What importing costs: nothing heavy. And the public names: each of them is there, and known to type checkers."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import suffice

HEAVY = (
    *("numpy", "pyarrow", "pandas", "polars", "narwhals", "scipy", "sklearn", "networkx", "matplotlib"),
    *("typer", "click", "rich"),
)


EXTRAS = ("matplotlib", "duckdb", "ibis", "psycopg", "pyspark", "py4j", "dask", "distributed", "networkx", "sklearn")


def loaded_after(code: str, *arguments: str, among: tuple[str, ...] = HEAVY) -> list[str]:
    """Run code in a fresh interpreter and return which heavy modules it loaded."""
    report = f"\nimport sys, json\nprint('@' + json.dumps([m for m in {among!r} if m in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", code + report, *arguments], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout.rpartition("@")[2])


def test_import_loads_nothing_heavy() -> None:
    assert loaded_after("import suffice") == []


@pytest.mark.parametrize(
    "code",
    [
        "import suffice; dir(suffice)",
        "import suffice; suffice.__version__",
        "import suffice; suffice.SufficeError",
        "import suffice; suffice.DAG('A -> B'); suffice.Hypotheses({'a': [1]})",
        "import suffice; suffice.categorical(['a']); suffice.continuous()",
        "import suffice.cli",
    ],
)
def test_light_names_load_nothing_heavy(code: str) -> None:
    assert loaded_after(code) == []


WORK = """
import pyarrow as pa, pyarrow.parquet as pq, suffice as sf
table = pa.table({"rain": ["no", "no", "yes", "yes"], "wet": ["no", "yes", "yes", "no"], "x": [1.0, 2.5, 3.0, 4.5]})
pq.write_table(table, "rows.parquet")
dag = sf.DAG("rain -> wet -> x")
fit = sf.fit(dag, "rows.parquet", certify="data")
sf.write(fit.model, "model.json"), str(fit)
fit.model.log_prob(table), fit.model.predict("wet", table.select(["rain", "x"]))
part = sf.collect(dag, "rows.parquet", checkpoint="so-far", damaged="skip")
part.save("part.stats")
sf.estimate(dag, part + sf.Statistics.load("part.stats"))
sf.compare({"joined": sf.DAG("rain -> wet"), "free": sf.DAG(["rain", "wet"])}, table, folds=2, prior=sf.BDeu(1))
"""
EVERY_MODULE = """
import importlib, pkgutil, suffice
for found in pkgutil.walk_packages(suffice.__path__, "suffice."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
"""


def test_extras_are_not_imported_by_work_that_does_not_use_them(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert loaded_after(WORK, among=EXTRAS) == []


def test_no_module_imports_an_engine_when_it_is_loaded() -> None:
    found = set(loaded_after(EVERY_MODULE, among=EXTRAS))
    assert found <= {"sklearn"}  # its shells are classes of its own


def test_the_probe_sees_what_is_loaded() -> None:
    assert loaded_after("import suffice; suffice.Counts") == ["numpy"]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["fit", "--help"], ["sample", "--help"]])
def test_help_of_the_command_line_loads_no_numbers(arguments: list[str]) -> None:
    code = """
import sys
from suffice.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
    assert not set(loaded_after(code, *arguments)) & {"numpy", "pyarrow", "pandas", "polars", "scipy"}


def test_public_names_are_listed_once() -> None:
    assert len(set(suffice.__all__)) == len(suffice.__all__)
    assert set(suffice.__all__) <= set(dir(suffice))


def test_star_import_gives_every_public_name() -> None:
    found: dict[str, object] = {}
    exec("from suffice import *", found)
    assert set(suffice.__all__) <= set(found)


def test_public_names_are_what_type_checkers_see() -> None:
    tree = ast.parse(Path(suffice.__file__).read_text(encoding="utf-8"))
    block = next(
        node for node in tree.body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    )  # fmt: skip
    seen = set()
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom)
        for alias in statement.names:
            assert alias.asname == alias.name, "a name is re-exported only as itself"
            seen.add((statement.module, alias.name))
    assert seen == {(module, name) for module, names in suffice._HOMES.items() for name in names}


def test_every_public_name_comes_from_its_home() -> None:
    homes = {name: module for module, names in suffice._HOMES.items() for name in names}
    assert {*homes, "__version__"} == set(suffice.__all__)
    for name, module in homes.items():
        assert getattr(suffice, name) is getattr(importlib.import_module(module), name)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'suffice' has no attribute 'nope'"):
        _ = suffice.nope


def test_version_is_the_installed_one() -> None:
    from importlib.metadata import version

    assert suffice.__version__ == version("suffice")
