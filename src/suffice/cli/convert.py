"""``suffice convert IN OUT``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from suffice.cli.shared import JsonOption, reported


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A model file.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The file to write; its ending names the format.")],
    as_json: JsonOption = False,
) -> None:
    """Read a model or fit from IN and write it to OUT in another format."""
    with reported(as_json):
        from suffice.io import read, write
        from suffice.models.capabilities import HasNotes

        thing = read(source)
        write(thing, target)
        notes = [str(note) for note in thing.notes] if isinstance(thing, HasNotes) else []
        if as_json:
            print(json.dumps({"in": source, "out": target, "notes": notes}, ensure_ascii=False))
            return
        for note in notes:
            print(f"note: {note}")
        print(f"Wrote {target}")
