"""Copies of fits and of what they hold: by pickle, deep copy and file, each the same to the last bit."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import suffice as sf

WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "pickle of protocol 2": lambda thing: pickle.loads(pickle.dumps(thing, 2)),
    "deep copy": copy.deepcopy,
}


def contents(thing: Any) -> Any:
    """Return what an object holds as plain data that can be compared, arrays as their bytes."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, repr(thing.tolist())  # every NaN is the same, whatever its bits
    if hasattr(thing, "to_dict") and not isinstance(thing, type):
        return type(thing).__name__, contents(thing.to_dict())
    if dataclasses.is_dataclass(thing):
        return type(thing).__name__, {
            field.name: contents(getattr(thing, field.name)) for field in dataclasses.fields(thing)
        }
    if isinstance(thing, Mapping):
        return {repr(key): contents(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [contents(value) for value in thing]
    return repr(thing.item() if isinstance(thing, np.generic) else thing)


def check_same(again: Any, thing: Any) -> None:
    """Assert that a copy is of the same type, holds the same, and is printed and shown in the same way."""
    assert type(again) is type(thing)
    assert contents(again) == contents(thing)
    assert str(again) == str(thing)
    assert repr(again) == repr(thing)
    assert hasattr(thing, "_repr_html_") == hasattr(again, "_repr_html_")
    assert not hasattr(thing, "_repr_html_") or again._repr_html_() == thing._repr_html_()


def answers(model: Any, data: Any) -> list[Any]:
    """Return the probabilities of rows, and an answer of a model that needs no evidence for it."""
    found = [contents(np.asarray(model.log_prob(data)))]
    if hasattr(model, "query"):
        with contextlib.suppress(sf.SufficeError):
            found.append(contents(model.query(next(iter(model.schema)))))
    return found


def check_copies(fit: sf.Fit, data: Any, folder: Path | None = None) -> None:
    """Check copies of a fit and of its parts, and files of them in a folder; the model has been asked before."""
    expected = answers(fit.model, data)
    parts = [fit.structure, fit.model, fit.model.schema, fit.statistics, fit.certificate, fit.prior, fit.posterior]
    for copied in WAYS.values():
        for part in (fit, *parts):
            check_same(copied(part), part)
        assert answers(copied(fit.model), data) == expected
        assert copied(fit.structure) == fit.structure
        assert hash(copied(fit.structure)) == hash(fit.structure)
    if folder is not None:
        for part, name in ((fit, "fit.json"), (fit.model, "model.json"), (fit.statistics, "counted.stats")):
            sf.write(part, folder / name)
            again = sf.read(folder / name)
            check_same(again, part)
            sf.write(again, folder / f"again-{name}")
            assert (folder / f"again-{name}").read_bytes() == (folder / name).read_bytes()
        assert answers(sf.read(folder / "model.json"), data) == expected
