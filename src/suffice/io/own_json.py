"""The library's own JSON: a model alone, or a whole fit with its statistics, posterior, certificate and notes.

Numbers are written with as many digits as they need to be read back exactly. JSON has no NaN and no infinity: NaN is
``null``, infinities are the texts ``"inf"`` and ``"-inf"``; as a state, which may be text, infinity is
``{"float": "inf"}``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, Protocol

import numpy as np

from suffice.certify.certificate import Certificate
from suffice.errors import ArgumentError, FileFormatError, SufficeError, is_whole, require_choice, shown
from suffice.families import each_model, entry_of, structure_forms
from suffice.families.choice import methods_for
from suffice.files import atomic_write, json_bytes, read_bytes
from suffice.io import posterior_content
from suffice.io.json_values import Entry, flag, number, number_or_none, stop_of, text, texts, whole
from suffice.learn.feature_nodes import targets_need
from suffice.learn.method import Start, Step
from suffice.models.model import Model
from suffice.priors.registry import prior_from_dict
from suffice.result.fit import Fit, fit_type
from suffice.result.notes import Note
from suffice.stats.needs import Count, Need
from suffice.stats.statistics import Statistics
from suffice.structures.cliques import Cliques
from suffice.structures.features import Features
from suffice.structures.hypotheses import Hypotheses
from suffice.structures.structure import Structure
from suffice.types import Json
from suffice.values import Label
from suffice.version import __version__

VERSION = 1


class Writable(Model, Protocol):
    """A model that says what it is as JSON-able data."""

    def to_dict(self) -> dict[str, Any]:
        """Return the model as JSON-able data."""


# Writing ------------------------------------------------------------------------------------------------------


def write(thing: Writable | Fit, path: str) -> None:
    """Write a model or a fit."""
    content = json_bytes(document(thing), indent=1)
    with atomic_write(path, binary=True) as file:
        file.write(content + b"\n")


def document(thing: Writable | Fit) -> dict[str, Json]:
    """Return the JSON document of a model or a fit."""
    entry = entry_of(thing.model if isinstance(thing, Fit) else thing)
    holds = entry is not None and entry.structure_of is not None
    if holds and isinstance(thing, Fit):
        kind, content = "fit", _fit_content(thing)
    elif holds and not isinstance(thing, Fit):
        kind, content = "model", thing.to_dict()
    else:
        got = f"a fit of {type(thing.model).__name__}" if isinstance(thing, Fit) else type(thing).__name__
        other = "; a .crf file holds such models" if "ChainModel" in got else ""
        raise ArgumentError(f"A .json file holds a fit or a model. Got {got} instead{other}.")
    result: dict[str, Json] = plain(
        {"format": "suffice", "version": VERSION, "written_by": __version__, "kind": kind, "content": content}
    )
    return result


def _fit_content(fit: Fit) -> dict[str, Json]:
    meta, arrays = fit.statistics.to_parts()
    structure = fit.structure
    if isinstance(structure, Features):
        structure = structure.tabulated(fit.model.schema)  # a file holds no functions
    return {
        "structure": structure.to_dict(),
        "model": fit.model.to_dict(),
        "method": fit.method,
        "point": fit.point,
        "prior": fit.prior.to_dict() if hasattr(fit.prior, "to_dict") else fit.prior,
        "n": fit.n,
        "log_likelihood": fit.log_likelihood,
        "local": dict(fit.local),
        "n_free": fit.n_free,
        "n_free_adjusted": fit.n_free_adjusted,
        "aic": fit.aic,
        "bic": fit.bic,
        "log_marginal_likelihood": fit.log_marginal_likelihood,
        "posterior": posterior_content.written(fit),
        "certificate": fit.certificate.to_dict(),
        "trace": [[step.number, step.objective] for step in fit.trace],
        **({"starts": [asdict(start) for start in fit.starts]} if fit.starts else {}),
        **({} if fit.stop is None else {"stop": fit.stop.name}),
        "notes": [note.to_dict() for note in fit.notes],
        "statistics": {"meta": meta, "arrays": arrays},
    }


def plain(value: Any, as_state: bool = False) -> Any:
    """Turn arrays, tuples and non-finite numbers into what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry, key == "states" and isinstance(entry, list)) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry, as_state) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)} if as_state else None if math.isnan(value) else str(value)
    return value


# Reading ------------------------------------------------------------------------------------------------------


def read(path: str) -> Any:
    """Read a model or a fit."""
    entry = load(path)
    try:
        return CONTENTS[text(entry, "kind")](entry["content"])
    except SufficeError as error:
        raise FileFormatError(f"{path!r} does not describe a proper model: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        detail = f"the entry {error} is missing" if isinstance(error, KeyError) else str(error)
        raise FileFormatError(f"{path!r} is damaged: {detail}. Write it again.") from None


def load(path: str) -> dict[str, Any]:
    """Read the document, and check that it is ours and not newer than we are."""
    try:
        entry = json.loads(read_bytes(path).decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"{path!r} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}. "
            "It may be cut off; write or copy it again."
        ) from None
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path!r} is not valid JSON text: {error}. Write or copy it again.") from None
    if not isinstance(entry, dict) or entry.get("format") != "suffice":
        raise FileFormatError(
            f'{path!r} is not a file of this library: it lacks "format": "suffice". Pass a file that sf.write wrote.'
        )
    version = entry.get("version")
    if not is_whole(version) or version < 1:
        raise FileFormatError(f"{path!r} has the format version {shown(version)}, which never was. Write it again.")
    if version > VERSION:
        raise FileFormatError(
            f"{path!r} was written in format version {shown(version)}; this version of suffice reads up to {VERSION}. "
            "Upgrade suffice to read it."
        )
    return entry


def _model(content: Entry) -> Any:
    if "features" in content:
        _check_kind(content["type"], content["features"])
    kinds = {entry.name: entry.load for entry in each_model() if entry.structure_of is not None}
    return kinds[content["type"]]().from_dict(_with_states(content) if "schema" in content else content)


def _check_kind(kind: str, features: Entry) -> None:
    """Refuse features of one kind of log-linear model in the file of another."""
    joint = "LogLinearDensity" if features.get("support") else "LogLinear"
    wanted = "ConditionalLogLinear" if features.get("given") else joint
    if kind != wanted:
        raise FileFormatError(
            f"With these inputs, given={shown(features.get('given', []))}, and this support, "
            f"{shown(features.get('support', {}))}, the model must be a {wanted}. Got {shown(kind)} instead."
        )


def _with_states(content: Entry) -> dict[str, Json]:
    """Return the content with the states of its schema as they were before `plain`."""

    def states(labels: list[Label | Entry] | None) -> list[Label | Entry] | None:
        return labels and [float(label["float"]) if isinstance(label, dict) else label for label in labels]

    return {**content, "schema": [{**entry, "states": states(entry["states"])} for entry in content["schema"]]}


def _fit(content: Entry) -> Fit:
    structure = structure_forms()[content["structure"]["type"]].read(content["structure"])
    model = _model(content["model"])
    _check_structure(structure, model)
    require_choice("point", content["point"], ("mle", "mean", "map"), "entry")
    require_choice("method", content["method"], list(methods_for(structure)), "entry")
    fit = fit_type(structure)(
        model=model,
        structure=structure,
        statistics=_statistics(content["statistics"]),
        method=content["method"],
        point=content["point"],
        prior=_prior(content["prior"], structure, content["method"]),
        log_likelihood=number(content, "log_likelihood"),
        local=_local(content["local"], model),
        n_free=whole(content, "n_free"),
        n_free_adjusted=whole(content, "n_free_adjusted"),
        posterior=None,
        log_marginal_likelihood=number_or_none(content, "log_marginal_likelihood"),
        certificate=_certificate(content["certificate"]),
        trace=tuple(Step(whole(step, "number"), number(step, "objective")) for step in map(_step, content["trace"])),
        notes=tuple(Note(text(note, "topic"), text(note, "text")) for note in content["notes"]),
        starts=tuple(map(_start, content.get("starts", ()))),
        stop=stop_of(content),
    )
    _check_statistics(fit)
    return replace(fit, posterior=posterior_content.read(content["posterior"], fit))


def _start(entry: Entry) -> Start:
    return Start(
        text(entry, "name"), number(entry, "objective"), whole(entry, "n_steps"), bool(entry.get("converged", False))
    )


def _check_statistics(fit: Fit) -> None:
    """Refuse statistics that are not those of the structure and of the model's states."""
    schema, method = fit.statistics.schema, methods_for(fit.structure)[fit.method]
    for name in fit.structure.columns:
        if not schema[name].has_states_of(fit.model.schema[name]):
            raise FileFormatError(f"The states of {name!r} are others in the statistics than in the model.")
    if isinstance(fit.structure, Features) and targets_need(len(fit.model.weights)) in fit.statistics:
        return  # targets by hand: there was no data
    for need in method.needs(fit.structure, schema):
        if _is_only_welcome(need, fit.structure):
            continue
        _ = fit.statistics[need]


def _is_only_welcome(need: Need, structure: Structure) -> bool:
    """Whether a need is the whole table, which fields and features can do without, or what expectations have filled."""
    if need.takes_gaps:
        return True
    if isinstance(structure, Features) and structure.variables in structure.scopes:
        return False
    return isinstance(structure, Cliques | Features) and need == Count(structure.variables)


def _check_structure(structure: Structure, model: Model) -> None:
    entry = entry_of(model)
    assert entry is not None
    assert entry.structure_of is not None
    owned = entry.structure_of(model, structure)
    if owned != structure:
        raise FileFormatError(f"The model is of another structure, {owned!r}, than the fit, {structure!r}.")


def _statistics(entry: Entry) -> Statistics:
    meta, arrays = entry["meta"], entry["arrays"]
    read, dropped = whole(meta, "n_read"), whole(meta, "n_dropped")
    if dropped > read:
        raise FileFormatError(f"Of {read:,} rows {dropped:,} cannot have been dropped.")
    texts(meta, "remarks")
    return Statistics.from_parts(_with_states(meta), {name: np.array(values) for name, values in arrays.items()})


def _prior(entry: Any, structure: Structure, method: str) -> Any:
    if isinstance(entry, dict) and "network" in entry:
        entry = {**entry, "network": _with_states(entry["network"])}
    prior = entry if entry is None or isinstance(structure, Hypotheses) else prior_from_dict(entry)
    methods_for(structure)[method].check(structure, prior, {})
    return prior


def _local(entry: Entry, model: Model) -> dict[str, float]:
    for name in entry:
        require_choice("local", name, getattr(model, "parts", model.variables), "entry")
    return {name: number(entry, name) for name in entry}


def _step(entry: list[float | str | None]) -> dict[str, Json]:
    return dict(zip(("number", "objective"), entry, strict=True))


ADDED_LATER = ("decrement", "deviation", "undetermined")
"""Fields that certificates in older files may lack."""


def _certificate(entry: Entry) -> Certificate:
    readers: dict[str, Callable[[Entry, str], Any]]
    readers = {"bool": flag, "str": text, "float": number, "float | None": number_or_none}
    readers["tuple[str, ...]"] = lambda entry, name: tuple(texts(entry, name))
    known = [field for field in fields(Certificate) if field.name in entry or field.name not in ADDED_LATER]
    return Certificate(**{field.name: readers[str(field.type)](entry, field.name) for field in known})


CONTENTS: dict[str, Callable[[Entry], Any]] = {"fit": _fit, "model": _model}
