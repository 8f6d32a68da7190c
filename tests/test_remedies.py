"""What errors advise is data: it survives pickling, and the command line has the options that it names."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests import test_errors  # noqa: F401  fills the catalogue
from tests.error_catalogue import CATALOGUE, Entry, World

import suffice as sf
from suffice.cli.app import app
from suffice.cli.remedies import option_of


def commands(group: Any) -> Iterator[Any]:
    for command in getattr(group, "commands", {}).values():
        yield command
        yield from commands(command)


OPTIONS = {name for each in commands(typer.main.get_command(app)) for option in each.params for name in option.opts}


@pytest.mark.parametrize("case", CATALOGUE, ids=lambda case: case.name.replace(" ", "-"))
def test_remedies_are_data_and_options_that_exist(case: Entry, tmp_path: Path) -> None:
    with pytest.raises(sf.SufficeError) as caught:
        case.call(World(tmp_path))
    error = caught.value
    for remedy in error.remedies:
        assert str(remedy) in str(error)
        named = re.findall(r"(?<!\S)--[a-z][a-z0-9-]*", str(option_of(remedy)))
        assert set(named) <= OPTIONS, remedy
    twin = pickle.loads(pickle.dumps(error.message))
    assert twin == error.message
    assert getattr(twin, "parts", ()) == getattr(error.message, "parts", ())
