"""Reading and writing files. One format is one file and one line here, found by the ending of the path."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from suffice.errors import ArgumentError, UnknownNameError
from suffice.io import bif, own_json, statistics_file


class Format(NamedTuple):
    """How one kind of file is read and written."""

    read: Callable[[str], Any]
    write: Callable[[Any, str], None]
    holds: str


FORMATS: dict[str, Format] = {
    ".json": Format(own_json.read, own_json.write, "a model or a whole fit, in this library's own JSON"),
    ".bif": Format(bif.read, bif.write, "a discrete Bayesian network, in the Bayesian Interchange Format"),
    ".bif.gz": Format(bif.read, bif.write, "the same, packed with gzip"),
    ".stats": Format(statistics_file.read, statistics_file.write, "statistics"),
}


def read(path: str | os.PathLike[str]) -> Any:
    """Read a model, a fit or statistics; the ending of the path names the format.

    Examples
    --------
    >>> import suffice as sf, tempfile, pathlib
    >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "y"], "B": ["u", "v"]})
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fit.json"
    >>> sf.write(fit, path)
    >>> sf.read(path).log_likelihood == fit.log_likelihood
    True
    """
    return _format(path).read(os.fspath(path))


def write(thing: Any, path: str | os.PathLike[str]) -> None:
    """Write a model, a whole fit or statistics; the file is written beside and renamed into place."""
    _format(path).write(thing, os.fspath(path))


def _format(path: str | os.PathLike[str]) -> Format:
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"A path must be text or a path object. Got {path!r} instead.")
    name = os.fspath(path).lower()
    for ending, found in FORMATS.items():
        if name.endswith(ending):
            return found
    known = "; ".join(f"{ending} ({found.holds})" for ending, found in FORMATS.items())
    raise UnknownNameError(f"The ending of {os.fspath(path)!r} names no format that is known. Known: {known}.")
