"""What is recorded of a case: everything that the library says, as texts, numbers and arrays by name.

Only public names of the library are used, so that the same cases run against older and newer versions of it.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import suffice as sf

Leaf = Any
"""A text, a truth value, a number or None; or an array as ``{"shape": …, "hash": …, "values": […]}``."""
HEX_FLOAT = re.compile(r"[-+]?0x[01]\.[0-9a-f]+p[-+]\d+")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
VERSIONS = ("written_by", "version", "format")
"""Entries of a file that say who wrote it."""


class Record:
    """The fields of one case, by name; a name is a path such as ``file.model.cpds[0].values``."""

    def __init__(self) -> None:
        self.fields: dict[str, Leaf] = {}

    def add(self, name: str, value: Any) -> None:
        """Keep a value, taken apart into texts, numbers and arrays."""
        _flatten(name, _plain(value), self.fields)

    def ask(self, name: str, question: Callable[[], Any]) -> None:
        """Keep an answer, or the error that is given instead."""
        try:
            answer = question()
        except sf.SufficeError as error:
            self.error(name, error)
        else:
            self.add(name, answer)

    def error(self, name: str, error: Exception) -> None:
        """Keep the kind of an error and what it says."""
        self.add(f"{name}.error", type(error).__name__)
        self.add(f"{name}.text", str(error))

    @contextmanager
    def watched(self) -> Any:
        """Keep the warnings, and the error that ends the case if the library refuses it."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            except sf.SufficeError as error:
                self.error("refused", error)
        ours = [one for one in caught if not issubclass(one.category, DeprecationWarning | ResourceWarning)]
        for place, one in enumerate(ours):
            self.add(f"warning[{place}]", f"{one.category.__name__}: {one.message}")

    def add_fit(self, fit: Any) -> None:
        """Keep all that a fit says: its file, its printed form and its certificate's."""
        self.ask("file", lambda: _file(fit))
        self.add("text", str(fit))
        self.add("text.model", str(fit.model))
        self.add("text.certificate", str(fit.certificate))
        if any(name.startswith("file.error") for name in self.fields):
            self.add("fit.log_likelihood", fit.log_likelihood)
            self.add("fit.n_free", [fit.n_free, fit.n_free_adjusted])
            self.add("fit.certificate", fit.certificate.to_dict())
            self.add("fit.notes", [str(note) for note in fit.notes])
            self.add("fit.trace", [float(step.objective) for step in fit.trace])


def _file(thing: Any) -> Any:
    """Return what `sf.write` writes of a model or a fit, without the version that wrote it."""
    sf.write(thing, "written.json")
    entries = json.loads(Path("written.json").read_text(encoding="utf-8"))
    return {name: entry for name, entry in entries.items() if name not in VERSIONS}["content"]


def _plain(value: Any) -> Any:
    """Return a value as dicts, lists, texts and numbers."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset | range):
        return [_plain(entry) for entry in value]
    return _plain_answer(value)


def _plain_answer(value: Any) -> Any:
    """Return an answer of the library by its public numbers and its printed form."""
    parts = {"text": str(value)}
    for name in ("values", "mean", "covariance", "statistic", "p_value", "log_prob"):
        found = getattr(value, name, None)
        if isinstance(found, np.ndarray | float | int | np.generic):
            parts[name] = _plain(found)
    if hasattr(value, "to_numpy") and "values" not in parts:
        parts["values"] = _plain(value.to_numpy())
    if hasattr(value, "to_dict") and hasattr(value, "columns") and not hasattr(value, "to_numpy"):
        parts["columns"] = _plain(value.to_dict())
    return parts


def _flatten(name: str, value: Any, fields: dict[str, Leaf]) -> None:
    array = _as_array(value) if isinstance(value, list) else None
    if array is not None:
        fields[name] = array
    elif isinstance(value, dict):
        for key, entry in value.items():
            _flatten(f"{name}.{key}", entry, fields)
    elif isinstance(value, list):
        for place, entry in enumerate(value):
            _flatten(f"{name}[{place}]", entry, fields)
    elif isinstance(value, str):
        fields[name] = float.fromhex(value) if HEX_FLOAT.fullmatch(value) else ADDRESS.sub(" at an address", value)
    else:
        fields[name] = value


def _as_array(value: list[Any]) -> Leaf:
    """Return nested lists of numbers as an array with a hash of its bits, or None if they are something else."""
    shape = _shape(value)
    if shape is None or not value:
        return None
    flat = np.array(value, dtype=float).reshape(-1)
    flat[np.isnan(flat)] = np.nan
    return {"shape": list(shape), "hash": hashlib.sha256(flat.tobytes()).hexdigest()[:16], "values": flat.tolist()}


def _shape(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, list):
        shapes = {_shape(entry) for entry in value} or {()}
        only = shapes.pop()
        return None if shapes or only is None else (len(value), *only)
    return () if isinstance(value, int | float) and not isinstance(value, bool) else None
