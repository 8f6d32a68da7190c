"""Chains of labels in one file: weights, names and labels, how features are read, and what the proof said.

The file is the checksummed container of `suffice.files`. Weights that are zero are left out, and so are names without
weights: answers stay the same, and a model that was learnt with c1 > 0 becomes small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import Vocabulary, offsets_of
from suffice.data.window_templates import Templates
from suffice.errors import ArgumentError, FileFormatError, SufficeError, require_choice
from suffice.files import read_arrays, write_arrays
from suffice.io.json_values import Entry, flag, number, stop_of, text, texts, whole
from suffice.io.name_arrays import counts, narrow, put_vocabulary, take_vocabulary
from suffice.models.chain_model import ChainModel
from suffice.models.chain_pruned import pruned
from suffice.optimise.outcome import Stop
from suffice.result.fit import Fit
from suffice.types import Array, Json

KIND, VERSION = "chain model", 1
TEXTS = ("columns", "attributes")
SAME = "same"
Arrays = dict[str, Array]


@dataclass(frozen=True)
class FeatureRecipe:
    """How features were made.

    Attributes
    ----------
    templates : Templates or None
        Those that made them from columns of text.
    step_features : None, "all", or tuple of str
        Features that steps have, too.
    n_buckets : int
        Zero unless names are hashed.
    """

    templates: Templates | None = None
    step_features: str | tuple[str, ...] | None = None
    n_buckets: int = 0


@dataclass(frozen=True)
class TextLayout:
    """What a file looks like that was learnt from.

    Attributes
    ----------
    kind : {"columns", "attributes"}
        Columns of text, or a label and the names of attributes on each line.
    n_columns : int
        Columns without the labels.
    label_column : int
        Where the labels stand among all columns, from 0.
    separator : str or None
        What stands between columns; None is any number of blanks.
    """

    kind: str = "columns"
    n_columns: int = 0
    label_column: int = 0
    separator: str | None = None


@dataclass(frozen=True)
class Proof:
    """What was said of a fit: whether it is certified, in words, its notes, its log-likelihood, and how learning ended.

    The log-likelihood is that of the labels given the inputs.
    """

    ok: bool
    verdict: str
    notes: tuple[str, ...]
    log_likelihood: float
    stop: Stop | None = None

    @property
    def is_early(self) -> bool:
        """Whether the weights are those with which the loss of what was held out was least, and no optimum."""
        return self.stop is Stop.HELD_OUT

    @classmethod
    def of(cls, fit: Fit) -> Proof:
        """Return what a fit says."""
        notes = tuple(str(note) for note in fit.notes)
        return cls(fit.certificate.ok, fit.certificate.verdict, notes, float(fit.log_likelihood), fit.stop)

    def to_dict(self) -> dict[str, Json]:
        """Return what was said as JSON-able data."""
        return {**vars(self), "stop": None if self.stop is None else self.stop.name}

    @classmethod
    def from_dict(cls, entry: Entry) -> Proof:
        """Rebuild it from `to_dict`'s data."""
        notes = tuple(texts(entry, "notes"))
        stop = stop_of(entry) if "stop" in entry else _stop_of_notes(notes)
        return cls(flag(entry, "ok"), text(entry, "verdict"), notes, number(entry, "log_likelihood"), stop)


def _stop_of_notes(notes: Sequence[str]) -> Stop | None:
    """Return what the notes tell of it in files of earlier versions, which have nothing else to tell it by."""
    return Stop.HELD_OUT if any(note.startswith("Stopped early") for note in notes) else None


@dataclass(frozen=True, eq=False)
class ChainFile:
    """What a file holds.

    Attributes
    ----------
    model : ChainModel
    reading : FeatureRecipe or None
        None where a model was written alone, in codes.
    params : dict
        The parameters of the estimator, as JSON has them.
    layout : TextLayout or None
        None unless the model was learnt from a file.
    proof : Proof or None
    """

    model: ChainModel
    reading: FeatureRecipe | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    layout: TextLayout | None = None
    proof: Proof | None = None


def read(path: str) -> ChainModel:
    """Read a model."""
    return load_chain(path).model


def write(thing: ChainModel | ChainFile | Fit, path: str) -> None:
    """Write a model, alone or with what its fit proved."""
    model = thing.model if isinstance(thing, ChainFile | Fit) else thing
    if not isinstance(model, ChainModel):
        raise ArgumentError(
            "A .crf file holds a model of labels of sequences, from sf.ChainCRF or sf.MEMM. Got "
            f"{type(thing).__name__} instead; an estimator is written by its own save(path)."
        )
    save_chain(ChainFile(model, proof=Proof.of(thing) if isinstance(thing, Fit) else None), path)


# Writing ------------------------------------------------------------------------------------------------------


def save_chain(file: ChainFile, path: str) -> None:
    """Write a file, without weights that are zero."""
    model = pruned(file.model)
    meta, arrays = model.to_parts()
    arrays["weights"] = model.weights
    for name in ("starts", "step_starts"):
        arrays[f"{name[:-1]}_sizes"] = narrow(np.diff(arrays.pop(name)))
    for name in ("labels", "pairs", "step_pairs"):
        arrays[name] = narrow(arrays[name])
    names, steps = model.structure.vocabulary, model.structure.step_vocabulary
    meta["vocabulary"] = put_vocabulary(names, "names", arrays)
    meta["step_vocabulary"] = (
        None if steps is None else SAME if steps == names else put_vocabulary(steps, "step_names", arrays)
    )
    meta["reading"] = None if file.reading is None else _reading_entry(file.reading)
    meta["params"] = dict(file.params)
    meta["layout"] = None if file.layout is None else vars(file.layout)
    meta["proof"] = None if file.proof is None else file.proof.to_dict()
    write_arrays(path, KIND, VERSION, meta, arrays)


def _reading_entry(reading: FeatureRecipe) -> dict[str, Json]:
    templates, steps = reading.templates, reading.step_features
    return {
        "templates": None
        if templates is None
        else {"text": templates.text, "boundary": templates.boundary, "ends": templates.ends},
        "step_features": list(steps) if isinstance(steps, tuple) else steps,
        "n_buckets": reading.n_buckets,
    }


# Reading ------------------------------------------------------------------------------------------------------


def load_chain(path: str) -> ChainFile:
    """Read what `save_chain` wrote.

    Raises
    ------
    FileFormatError
        When the file is of another kind, damaged, or newer; or when its numbers are no chain of labels.
    """
    meta, arrays = read_arrays(path, KIND, VERSION)
    try:
        return _rebuilt(meta, arrays)
    except (SufficeError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        what = f"no entry {error}" if type(error) is KeyError else str(error)
        raise FileFormatError(
            f"{str(path)!r} holds no proper chain of labels: {what} Write or copy it again."
        ) from error


def _rebuilt(meta: Entry, arrays: Arrays) -> ChainFile:
    sizes, step_sizes = counts(arrays, "start_sizes"), counts(arrays, "step_start_sizes")
    names = take_vocabulary(meta["vocabulary"], len(sizes), "names", arrays)
    steps = meta["step_vocabulary"]
    step_names = (
        None
        if steps is None
        else names
        if steps == SAME
        else take_vocabulary(steps, len(step_sizes), "step_names", arrays)
    )
    if len(step_names or ()) != len(step_sizes):
        raise FileFormatError(f"{len(step_sizes):,} attributes of steps have weights, and not as many have names.")
    parts = {
        "layout": counts(arrays, "layout"),
        "starts": offsets_of(sizes),
        "step_starts": offsets_of(step_sizes),
        "weights": arrays["weights"],
        **{name: counts(arrays, name).astype(np.int32) for name in ("labels", "pairs", "step_pairs")},
    }
    if parts["weights"].dtype != np.float64 or parts["weights"].ndim != 1:
        raise FileFormatError("The array 'weights' must be a list of numbers.")
    k = int(parts["layout"][0])
    _require_rising("labels", sizes, parts["labels"], k)
    _require_rising("pairs", np.array([len(parts["pairs"])]), parts["pairs"], k * k)
    _require_rising("step_pairs", step_sizes, parts["step_pairs"], k * k)
    model = ChainModel.from_parts(meta, parts, vocabulary=names, step_vocabulary=step_names)
    if model.label.n_states != k or k < 1:
        raise FileFormatError(f"Its weights are those of {k:,} labels, and {model.label.n_states:,} are named.")
    return ChainFile(
        model,
        None if meta["reading"] is None else _reading(meta["reading"], names),
        dict(meta["params"]),
        None if meta["layout"] is None else _layout(meta["layout"]),
        None if meta["proof"] is None else Proof.from_dict(meta["proof"]),
    )


def _require_rising(name: str, sizes: NDArray[np.int64], codes: Array, n: int) -> None:
    """Refuse codes that are not below n, or that do not rise within each part of some sizes."""
    if sizes.sum() != len(codes):
        raise FileFormatError(f"The array {name!r} must have {sizes.sum():,} codes. It has {len(codes):,}.")
    keys = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes) * n + codes
    if len(codes) and (codes.max() >= n or (np.diff(keys) <= 0).any()):
        raise FileFormatError(f"The codes of {name!r} must rise from 0 to below {n:,}.")


def _reading(entry: Entry, names: Vocabulary) -> FeatureRecipe:
    found = entry["templates"]
    templates = None if found is None else Templates(text(found, "text"), text(found, "boundary"), flag(found, "ends"))
    steps = entry["step_features"]
    if steps is not None and steps != "all":
        steps = tuple(texts(entry, "step_features"))
    n_buckets = whole(entry, "n_buckets")
    if n_buckets != names.n_buckets:
        raise FileFormatError(f"Names are read into {n_buckets:,} buckets, and {names.n_buckets:,} have weights.")
    return FeatureRecipe(templates, steps, n_buckets)


def _layout(entry: Entry) -> TextLayout:
    require_choice("kind", entry["kind"], TEXTS, "entry")
    separator = None if entry["separator"] is None else text(entry, "separator")
    n_columns, at = whole(entry, "n_columns"), whole(entry, "label_column")
    if at > n_columns:
        raise FileFormatError(f"The labels cannot be column {at:,} beside {n_columns:,} others.")
    return TextLayout(entry["kind"], n_columns, at, separator)
