"""Reading and writing files. One format is one file or folder, and one line here, found by the ending of the path."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from suffice.errors import ArgumentError, UnknownNameError
from suffice.files import atomic_write, read_bytes
from suffice.io import bif, chain_file, dsl, hugin_net, own_json, statistics_file, uai, xdsl, xmlbif
from suffice.io.uai import evidence as uai_evidence


class Format(NamedTuple):
    """How one kind of file is read and written."""

    read: Callable[[str], Any]
    write: Callable[[Any, str], None]
    holds: str


FORMATS: dict[str, Format] = {
    ".json": Format(own_json.read, own_json.write, "a model or a whole fit, in this library's own JSON"),
    ".bif": Format(bif.read, bif.write, "a discrete Bayesian network, in the Bayesian Interchange Format"),
    ".bif.gz": Format(bif.read, bif.write, "the same, packed with gzip"),
    ".uai": Format(uai.read, uai.write, "a discrete Bayesian or Markov network without names, in the UAI format"),
    ".uai.gz": Format(uai.read, uai.write, "the same, packed with gzip"),
    ".evid": Format(uai_evidence.read, uai_evidence.write, "evidence about the network of a UAI file"),
    ".xmlbif": Format(xmlbif.read, xmlbif.write, "a discrete Bayesian network, in XMLBIF 0.3"),
    ".xmlbif.gz": Format(xmlbif.read, xmlbif.write, "the same, packed with gzip"),
    ".xbif": Format(xmlbif.read, xmlbif.write, "the same, by its short name"),
    ".bifxml": Format(xmlbif.read, xmlbif.write, "the same, as aGrUM calls it"),
    ".xml": Format(xmlbif.read, xmlbif.write, "the same, as JavaBayes and WEKA call it"),
    ".xdsl": Format(xdsl.read, xdsl.write, "a discrete Bayesian network, in the format of GeNIe and SMILE"),
    ".xdsl.gz": Format(xdsl.read, xdsl.write, "the same, packed with gzip"),
    ".net": Format(hugin_net.read, hugin_net.write, "a discrete Bayesian network, in HUGIN's NET language"),
    ".net.gz": Format(hugin_net.read, hugin_net.write, "the same, packed with gzip"),
    ".dsl": Format(dsl.read, dsl.write, "a discrete Bayesian network, in the older format of GeNIe and SMILE"),
    ".dsl.gz": Format(dsl.read, dsl.write, "the same, packed with gzip"),
    ".crf": Format(chain_file.read, chain_file.write, "a model of labels of sequences"),
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


def write_together(things: Mapping[str, Any]) -> None:
    """Write several things, by path, or none of them: all are written before the first is renamed into place."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        for path, thing in things.items():
            staged = os.path.join(folder, f"staged{_ending(path)}")
            FORMATS[_ending(path)].write(thing, staged)
            stack.enter_context(atomic_write(path, binary=True)).write(read_bytes(staged))


def _format(path: str | os.PathLike[str]) -> Format:
    return FORMATS[_ending(path)]


def _ending(path: str | os.PathLike[str]) -> str:
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"A path must be text or a path object. Got {path!r} instead.")
    name = os.fspath(path).lower()
    for ending in FORMATS:
        if name.endswith(ending):
            return ending
    known = "; ".join(f"{ending} ({found.holds})" for ending, found in FORMATS.items())
    raise UnknownNameError(f"The ending of {os.fspath(path)!r} names no format that is known. Known: {known}.")
