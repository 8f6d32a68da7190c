"""The library's own JSON: a model alone, or a whole fit with its statistics, posterior, certificate and notes.

Numbers are written with as many digits as they need to be read back exactly. JSON has no NaN and no infinity: NaN is
``null``, infinities are the texts ``"inf"`` and ``"-inf"``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from suffice.certify import Certificate
from suffice.errors import ArgumentError, FileFormatError, SufficeError
from suffice.files import atomic_write, read_bytes
from suffice.learn.method import Step
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.hypothesis_mixture import HypothesisMixture
from suffice.priors.dirichlet import DirichletPrior, prior_from_dict
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.hypothesis_weights import HypothesisPosterior
from suffice.priors.network_posterior import NetworkPosterior
from suffice.result.fit import Fit
from suffice.result.notes import Note
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG
from suffice.structures.hypotheses import Hypotheses
from suffice.version import __version__

VERSION = 1
STRUCTURES: dict[str, Callable[[Mapping[str, Any]], Any]] = {"DAG": DAG.from_dict, "Hypotheses": Hypotheses.from_dict}
MODELS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "BayesianNetwork": BayesianNetwork.from_dict,
    "HypothesisMixture": HypothesisMixture.from_dict,
}


# Writing ------------------------------------------------------------------------------------------------------


def write(thing: Any, path: str) -> None:
    """Write a model or a fit."""
    text = json.dumps(document(thing), ensure_ascii=False, allow_nan=False, indent=1)
    with atomic_write(path) as file:
        file.write(text + "\n")


def document(thing: Any) -> dict[str, Any]:
    """Return the JSON document of a model or a fit."""
    if isinstance(thing, Fit):
        kind, content = "fit", _fit_content(thing)
    elif type(thing).__name__ in MODELS:
        kind, content = "model", thing.to_dict()
    else:
        raise ArgumentError(f"A .json file holds a fit or a model. Got {type(thing).__name__} instead.")
    result: dict[str, Any] = plain(
        {"format": "suffice", "version": VERSION, "written_by": __version__, "kind": kind, "content": content}
    )
    return result


def _fit_content(fit: Fit) -> dict[str, Any]:
    meta, arrays = fit.statistics.to_parts()
    return {
        "structure": fit.structure.to_dict(),
        "model": fit.model.to_dict(),
        "method": fit.method,
        "point": fit.point,
        "prior": fit.prior.to_dict() if isinstance(fit.prior, DirichletPrior) else fit.prior,
        "n": fit.n,
        "log_likelihood": fit.log_likelihood,
        "local": dict(fit.local),
        "n_free": fit.n_free,
        "n_free_adjusted": fit.n_free_adjusted,
        "aic": fit.aic,
        "bic": fit.bic,
        "log_marginal_likelihood": fit.log_marginal_likelihood,
        "posterior": _posterior_content(fit.posterior),
        "certificate": fit.certificate.to_dict(),
        "trace": [[step.number, step.objective] for step in fit.trace],
        "notes": [note.to_dict() for note in fit.notes],
        "statistics": {"meta": meta, "arrays": arrays},
    }


def _posterior_content(posterior: Any) -> Any:
    if isinstance(posterior, NetworkPosterior):
        return {"type": "network", "nodes": [node.to_dict() for node in posterior.nodes],
                "log_marginal_likelihood": posterior.log_marginal_likelihood}  # fmt: skip
    return None if posterior is None else {"type": "hypotheses", **posterior.to_dict()}


def plain(value: Any) -> Any:
    """Turn arrays, tuples and non-finite numbers into what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


# Reading ------------------------------------------------------------------------------------------------------


def read(path: str) -> Any:
    """Read a model or a fit."""
    entry = load(path)
    try:
        if entry["kind"] == "fit":
            return _fit(entry["content"])
        return MODELS[entry["content"]["type"]](entry["content"])
    except SufficeError as error:
        raise FileFormatError(f"{path!r} does not describe a proper model: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
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
    except (UnicodeDecodeError, RecursionError) as error:
        raise FileFormatError(f"{path!r} is not valid JSON text: {error}.") from None
    if not isinstance(entry, dict) or entry.get("format") != "suffice":
        raise FileFormatError(f'{path!r} is not a file of this library: it lacks "format": "suffice".')
    version = entry.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise FileFormatError(
            f"{path!r} was written in format version {version!r}; this version of suffice reads up to {VERSION}. "
            "Upgrade suffice to read it."
        )
    return entry


def _fit(content: Mapping[str, Any]) -> Fit:
    structure = STRUCTURES[content["structure"]["type"]](content["structure"])
    model = MODELS[content["model"]["type"]](content["model"])
    arrays = {name: np.array(values) for name, values in content["statistics"]["arrays"].items()}
    statistics = Statistics.from_parts(content["statistics"]["meta"], arrays)
    prior = content["prior"]
    if isinstance(prior, dict) and "type" in prior and isinstance(structure, DAG):
        prior = prior_from_dict(prior)
    return Fit(
        model=model,
        structure=structure,
        statistics=statistics,
        method=content["method"],
        point=content["point"],
        prior=prior,
        log_likelihood=_number(content["log_likelihood"]),
        local={node: _number(value) for node, value in content["local"].items()},
        n_free=content["n_free"],
        n_free_adjusted=content["n_free_adjusted"],
        posterior=_posterior(content["posterior"], structure, model),
        log_marginal_likelihood=None
        if content["log_marginal_likelihood"] is None
        else _number(content["log_marginal_likelihood"]),
        certificate=Certificate.from_dict(_certificate(content["certificate"])),
        trace=tuple(Step(number, objective) for number, objective in content["trace"]),
        notes=tuple(Note(note["topic"], note["text"]) for note in content["notes"]),
    )


def _posterior(entry: Any, structure: Any, model: Any) -> Any:
    if entry is None:
        return None
    if entry["type"] == "network":
        nodes = tuple(
            DirichletRows.from_dict(model.cpd(node).family, values)
            for node, values in zip(structure.nodes, entry["nodes"], strict=True)
        )
        return NetworkPosterior(structure, nodes, _number(entry["log_marginal_likelihood"]))
    return HypothesisPosterior(
        structure, np.array(entry["log_weights"], np.float64), _number(entry["log_marginal_likelihood"])
    )


def _certificate(entry: Mapping[str, Any]) -> dict[str, Any]:
    numbers = ("gradient_norm", "log_likelihood", "log_likelihood_gap", "normalisation", "tol")
    return {**entry, **{name: _number(entry[name]) for name in numbers}}


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
