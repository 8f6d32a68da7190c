"""What errors advise is data: it survives pickling, it helps, and the command line has the options that it names."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from sklearn.base import BaseEstimator
from tests import test_errors  # noqa: F401  fills the catalogue
from tests.command_line import bad, good
from tests.error_catalogue import CATALOGUE, Entry, World
from tests.remedy_replay import Called, is_the_same, recorded, refuses, replayed, taking
from typer.core import TyperGroup

import suffice as sf
from suffice.cli.app import app
from suffice.cli.remedies import ELSEWHERE, Scope, option_of
from suffice.errors import Also, Part, Remedy

BY_HAND = "What the error is about was made by hand, so that no call takes the argument."
BROKEN = "The test breaks the search itself."
LARGE = "A test may not take so much memory."
NOT_APPLIED = {
    "states of a continuous variable": BY_HAND,
    "Wishart without a mode": BY_HAND,
    "largest of numbers that are not known": BY_HAND,
    "batches of data elsewhere": BY_HAND,
    "class prior without rows": BY_HAND,
    "joint classes, unknown table": BY_HAND,
    "softmax of an unknown row": BY_HAND,
    "noisy-OR of unknown strengths": BY_HAND,
    "Gibbs sampling among many zeros": BY_HAND,
    "continuous output": BY_HAND,
    "softmax that does not converge": BROKEN,
    "moments of too many configurations": LARGE,
    "latent states beyond memory": LARGE,
    "columns of a normal beyond memory": LARGE,
}
"""Entries whose remedies cannot be applied, and why."""


def scopes(group: Any, path: str = "suffice") -> Iterator[Scope]:
    """Yield what the errors of each command may name."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from scopes(command, f"{path} {name}")
        else:
            yield Scope.of_command(command, group.commands.get("fit"), path)


def pieces(parts: tuple[Part, ...]) -> Iterator[Part]:
    for part in parts:
        yield from pieces(part.parts) if isinstance(part, Also) else (part,)


SCOPES = list(scopes(typer.main.get_command(app)))


def failed(case: Entry, folder: Path) -> tuple[sf.SufficeError, list[Called]]:
    """Return the error of an entry, and the calls that led to it."""
    world = World(folder)
    with recorded() as calls, pytest.raises(sf.SufficeError) as caught:
        case.call(world)
    return caught.value, calls


def unhelpful(case: Entry, error: sf.SufficeError, remedy: Remedy, calls: list[Called], folder: Path) -> str:
    """Make the calls of an entry as a remedy says, and return what is wrong with it."""
    if remedy.argument != "memory" and not taking(remedy, calls):
        return "none of the calls takes it"
    folder.mkdir()
    world = World(folder)
    found = replayed(lambda: case.call(world), remedy, calls)
    if found is None:
        return ""
    if refuses(found, remedy.argument):
        return f"refused: {found}"
    return f"the same error: {found}" if is_the_same(error, found) else ""


@pytest.mark.parametrize("case", CATALOGUE, ids=lambda case: case.name.replace(" ", "-"))
def test_remedies_are_data_that_help_and_options_that_exist(case: Entry, tmp_path: Path) -> None:
    error, calls = failed(case, tmp_path)
    for remedy in error.remedies:
        assert str(remedy) in str(error)
    twin = pickle.loads(pickle.dumps(error.message))
    assert twin == error.message
    assert getattr(twin, "parts", ()) == getattr(error.message, "parts", ())
    for part in pieces(getattr(twin, "parts", ())):
        if not isinstance(part, str | Also) and getattr(part, "what", "") not in ELSEWHERE:
            for scope in SCOPES:
                said = option_of(part, scope)
                named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", str(said)))
                elsewhere = named <= scope.fitting and str(said).endswith(f" of {scope.fit}")
                assert named <= scope.own or elsewhere, said
    named = {name for remedy in error.remedies for name in (remedy.argument, *dict(remedy.beside))} - {"memory"}
    for shell in [called.owner for called in calls if called.name == "__init__"][-1:]:
        if issubclass(shell, BaseEstimator):
            assert named <= {*shell().get_params(), *calls[-1].parameters}
    if NOT_APPLIED.get(case.name) == LARGE:
        assert max(int(str(remedy.value).removesuffix("GB")) for remedy in error.remedies) > 1
        return
    wrong = {
        str(remedy): unhelpful(case, error, remedy, calls, tmp_path / str(number))
        for number, remedy in enumerate(error.remedies)
    }
    assert any(wrong.values()) == (case.name in NOT_APPLIED), wrong


def test_entries_whose_remedies_are_not_applied_are_in_the_catalogue() -> None:
    assert set(NOT_APPLIED) <= {case.name for case in CATALOGUE}


def test_commands_advise_what_they_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("A,B\nx,u\nx,\ny,v\n,v\n")
    assert "--missing drop" in (fitted := bad("fit", "A -> B", "t.csv"))
    assert "--missing em" in fitted
    assert "--missing drop" in (checked := bad("check", "A -> B", "t.csv"))
    assert "em" not in re.findall(r"--missing (\w+)", checked)
    good("collect", "A -> B", "t.csv", "--missing", "available", "--out", "s.stats")
    said = bad("estimate", "A -> B", "s.stats")
    assert "--missing available" in said
    assert "data=" not in said
    assert "suffice fit STRUCTURE DATA --missing em" in said


def test_commands_say_whose_options_they_advise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows: dict[str, Any] = {"A": ["x", "x"], "B": ["u", "u"]}
    schema: dict[str, Any] = {"A": ["x", "y"], "B": ["u", "v"]}
    fit = sf.fit(sf.DAG("A -> B"), rows, schema=schema, fixed={"A": [0.5, 0.5]}, unseen_parents="nan")
    sf.write(fit.model, "m.json")
    assert "--unseen-parents uniform of suffice fit" in bad("query", "m.json", "B")
    before = sf.config().memory
    try:
        sf.config(memory=1)
        Path("t.csv").write_text("A,B\nx,u\ny,v\n")
        assert "in Python, sf.config(memory='1GB')" in bad("fit", "A -> B", "t.csv")
    finally:
        sf.config(memory=before)


def test_options_are_written_as_such_where_python_shows_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("A,B\nx,u\nx,v\ny,u\n")
    assert "--point map asks for" in bad("fit", "A -> B", "t.csv", "--point", "map")
    sf.write(sf.fit(sf.Autoregression(1), [[0.0, 1.0, 0.5, 2.0, 1.0]]).model, "a.json")
    assert "An AutoregressiveModel cannot" in bad("explore", "a.json")


def test_commands_that_take_rows_as_they_are_advise_no_way_to_read_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("A,B\nx,u\nx,\n")
    assert bad("info", "A -> B", "t.csv").endswith(" Fill it in.")
    assert "Fill it in, or pass --missing drop to leave out incomplete rows." in bad("check", "A -> B", "t.csv")
