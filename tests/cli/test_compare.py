"""``suffice compare``: what the function says, in tables and in JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_cliques import TABLE, folder  # noqa: F401 (a fixture)
from tests.command_line import bad, good, run

import suffice as sf

MODELS = {"chain": sf.DAG("A -> B -> C"), "ring": sf.Cliques("A:B + B:C + A:C"), "all": sf.Cliques("A:B:C")}
WRITTEN = ("chain=A -> B -> C", "ring = A:B + B:C + A:C", "all=A:B:C")


def api(**options: Any) -> sf.Comparison:
    return sf.compare(MODELS, "table.csv", weights="Freq", **options)


@pytest.mark.usefixtures("folder")
def test_compare_prints_what_the_function_prints() -> None:
    text = good("compare", *WRITTEN, *TABLE)
    assert text.rstrip("\n") == str(api())
    assert "3 models of 44 rows" in text
    assert "cross-validated" in text


OPTIONS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "folds": (["--folds", "4"], {"folds": 4}),
    "no folds": (["--folds", "0"], {"folds": None}),
    "seed": (["--seed", "3"], {"seed": 3}),
    "prior": (["--prior", "bdeu:4"], {"prior": sf.BDeu(4)}),
    "point": (["--prior", "bdeu:40", "--point", "map"], {"prior": sf.BDeu(40), "point": "map"}),
    "tol": (["--tol", "1e-3"], {"tol": 1e-3}),
    "unseen": (["--unseen-parents", "uniform"], {"unseen_parents": "uniform"}),
    "states": (["--categorical", "A=x,y,z", "--unseen-parents", "uniform"],
               {"schema": {"A": ["x", "y", "z"]}, "unseen_parents": "uniform"}),
}  # fmt: skip


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", OPTIONS)
def test_options_do_what_the_arguments_do(name: str) -> None:
    given, wanted = OPTIONS[name]
    assert good("compare", *WRITTEN, *TABLE, *given).rstrip("\n") == str(api(**wanted))


@pytest.mark.usefixtures("folder")
def test_json_is_one_document() -> None:
    entry = json.loads(good("compare", *WRITTEN, *TABLE, "--json"))
    found = api()
    assert [model["model"] for model in entry["models"]] == list(MODELS)
    for model in entry["models"]:
        assert model["cv"] == found[model["model"]].cv
        assert model["bic"] == found[model["model"]].bic
    assert entry["verdict"] == found.verdict
    assert {(test["small"], test["large"]): test["df"] for test in entry["tests"]} == {
        ("chain", "ring"): 1,
        ("chain", "all"): 2,
        ("ring", "all"): 1,
    }


@pytest.mark.usefixtures("folder")
def test_json_says_what_is_not_finite() -> None:
    Path("few.csv").write_text("A,B\n" + "x,u\n" * 5 + "x,v\n" * 5 + "y,u\n")
    entry = json.loads(good("compare", "A; B", "few.csv", "--folds", "3", "--json"), parse_constant=pytest.fail)
    assert entry["models"][0]["cv"] in (None, "-inf", "-Infinity", str(-math.inf))


@pytest.mark.usefixtures("folder")
def test_models_without_names_are_called_as_they_are_written() -> None:
    text = good("compare", "A -> B -> C", "A:B + C", *TABLE, "--folds", "0")
    assert "\nA -> B -> C " in text
    assert "\nA:B + C " in text


@pytest.mark.usefixtures("folder")
def test_files_are_models_also_with_a_sign_in_their_names() -> None:
    good("fit", "A -> B -> C", *TABLE, "--out", "m=1.json")
    text = good("compare", "m=1.json", "named=m=1.json", *TABLE, "--folds", "0")
    assert "m=1.json" in text
    assert "named" in text
    assert "say the same" in text


@pytest.mark.usefixtures("folder")
def test_mistakes_are_named() -> None:
    assert "Two models have the name 'a'" in bad("compare", "a=A -> B", "a=A; B", *TABLE)
    assert "NAME=STRUCTURE" in bad("compare", "=A -> B", *TABLE)
    assert "of different variables" in bad("compare", "A -> B", "A:B:C", *TABLE)
    assert "--folds 0" in bad("compare", "A -> B", *TABLE, "--folds", "100")
    assert bad("compare", "A -> B", *TABLE, "--folds", "1").startswith("The option --folds must be")
    assert run("compare", "table.csv").exit_code == 2


@pytest.mark.usefixtures("folder")
def test_a_fit_without_a_proof_ends_with_one() -> None:
    result = run("compare", "ring=A:B + B:C + A:C", *TABLE, "--method", "gradient", "--max-iter", "1", "--folds", "0")
    assert result.exit_code == 1
    assert "note: ring: " in result.stdout


@pytest.mark.usefixtures("folder")
def test_a_terminal_gets_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    from suffice.cli import compare as command

    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    found = api()
    lines: list[str] = []
    monkeypatch.setattr(
        "rich.console.Console.print", lambda self, thing: lines.append(str(getattr(thing, "plain", thing)))
    )
    command._show(found)
    assert lines[0] == found.heading
    assert found.verdict in lines
