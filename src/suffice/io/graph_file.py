"""Labels of graphs in one file: weights, names, labels and kinds of cliques, and what the proof said.

The file is the checksummed container of `suffice.files`. One bit a combination of an attribute and labels says whether
it has a weight. Weights that are zero are left out, and so are names without weights: answers stay the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import Vocabulary
from suffice.data.schema import Schema
from suffice.errors import FileFormatError, Mention, SufficeError
from suffice.files import read_arrays, write_arrays
from suffice.io.chain_file import Proof
from suffice.io.json_values import Entry, flag, number, text, whole
from suffice.io.name_arrays import put_vocabulary, take_vocabulary
from suffice.models.chain_pruned import columns_of
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_layout import GraphLayout, layout_with, tied_columns
from suffice.settings import settings
from suffice.structures.label_graph import CliqueKind, LabelGraph
from suffice.structures.structure import fields_of
from suffice.text import in_bytes
from suffice.types import Array, Bools

KIND, VERSION = "graph model", 1
LARGEST_CLIQUE = 64
"""No clique has more members: there would be more combinations of two labels than numbers of 64 bits."""
BYTES_A_CELL = 24
Arrays = dict[str, Array]


@dataclass(frozen=True, eq=False)
class GraphFile:
    """What a file holds: a model, the parameters of the estimator as JSON has them, and what was said of the fit."""

    model: GraphModel
    params: Mapping[str, Any] = field(default_factory=dict)
    proof: Proof | None = None


# Writing ------------------------------------------------------------------------------------------------------


def save_graph(file: GraphFile, path: str) -> None:
    """Write a file, without weights that are zero."""
    model, arrays = file.model, Arrays()
    structure, layout = model.structure, model.layout
    first = [np.unique(tied, return_index=True)[1] for tied in tied_columns(structure, layout.n_labels)]
    bounds = layout.starts
    held = [
        layout.index[bounds[i] : bounds[i + 1]].reshape(shape)[:, columns]
        for i, (shape, columns) in enumerate(zip(layout.shapes, first, strict=True))
    ]
    # Errors are those of all weights together, so that none may be missing.
    has_effect = np.append(model.weights != 0 if model.information is None else np.ones(layout.size, bool), False)
    names, kept, chosen, units = [], [], [], []
    for vocabulary, index in zip(_vocabularies(structure), held, strict=True):
        used = _used(vocabulary, has_effect[index])
        own = np.where(has_effect[index], index, -1)[used]
        chosen.append(own[own >= 0])
        kept.append(own.reshape(-1) >= 0)
        units.append(np.append(model.units, 0.0)[own].max(axis=1, initial=0.0))
        names.append(_chosen(vocabulary, used))
    by_attribute = np.concatenate(units)
    arrays["weights"] = model.weights[np.concatenate(chosen)]
    arrays["units"] = np.where(by_attribute > 0, by_attribute, 1.0)
    arrays["kept"] = np.packbits(np.concatenate(kept))
    if model.information is not None:
        arrays["information"] = model.information[np.triu_indices(layout.size)]
    write_arrays(path, KIND, VERSION, _meta(file, names, arrays), arrays)


def _meta(file: GraphFile, names: Sequence[Vocabulary], arrays: Arrays) -> Entry:
    structure = file.model.structure
    tables = [
        {"n_attributes": len(vocabulary), "vocabulary": put_vocabulary(vocabulary, f"names_{place}", arrays)}
        for place, vocabulary in enumerate(names)
    ]
    for table, kind in zip(tables[1:], structure.kinds, strict=True):
        table.update(name=kind.name, size=int(kind.size))
    settings = fields_of(structure)
    del settings["vocabulary"], settings["kinds"]  # which are among the tables
    return {
        "structure": {**settings, "min_freq": float(structure.min_freq)},
        "schema": file.model.schema.to_dict(),
        "tables": tables,
        "params": dict(file.params),
        "proof": None if file.proof is None else file.proof.to_dict(),
    }


def _vocabularies(structure: LabelGraph) -> list[Vocabulary]:
    return [structure.vocabulary, *(kind.vocabulary for kind in structure.kinds)]


def _used(names: Vocabulary, kept: Bools) -> Bools:
    """Return which attributes are written: those with weights, and all whose places matter."""
    by_place = names.is_hashed or names.names == columns_of(len(names))
    return np.ones(len(names), bool) if by_place else np.asarray(kept.any(axis=1))


def _chosen(names: Vocabulary, used: Bools) -> Vocabulary:
    if used.all():
        return names
    return Vocabulary(tuple(name for name, is_used in zip(names.names, used.tolist(), strict=True) if is_used))


# Reading ------------------------------------------------------------------------------------------------------


def load_graph(path: str) -> GraphFile:
    """Read what `save_graph` wrote.

    Raises
    ------
    FileFormatError
        When the file is of another kind, damaged, or newer; or when its numbers are no model of labels of graphs.
    """
    meta, arrays = read_arrays(path, KIND, VERSION)
    try:
        return _rebuilt(meta, arrays)
    except (SufficeError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        what = f"no entry {error}." if type(error) is KeyError else str(error)
        raise FileFormatError(f"{str(path)!r} holds no proper graph model: {what} Write or copy it again.") from error


def _rebuilt(meta: Entry, arrays: Arrays) -> GraphFile:
    structure = _structure(meta, arrays)
    label = Schema.from_dict(meta["schema"])[structure.label]
    if not label.is_discrete or not label.labels:
        raise FileFormatError("The labels must have names, and at least one.")
    layout = layout_with(structure, label.n_states, _kept(structure, label.n_states, arrays["kept"]))
    weights = _numbers(arrays, "weights", layout.size)
    units = _numbers(arrays, "units", sum(rows for rows, _ in layout.shapes))
    if (units <= 0).any():
        raise FileFormatError("The array 'units' must be numbers above zero.")
    model = GraphModel(structure, label, layout, weights, layout.by_weight(units))
    if "information" in arrays:
        model = replace(model, information=_information(arrays, layout))
    proof = None if meta["proof"] is None else Proof.from_dict(meta["proof"])
    return GraphFile(model, dict(meta["params"]), proof)


def _structure(meta: Entry, arrays: Arrays) -> LabelGraph:
    nodes, *others = meta["tables"]
    kinds = []
    for place, entry in enumerate(others, 1):
        size = whole(entry, "size")
        if not 1 <= size <= LARGEST_CLIQUE:
            raise FileFormatError(f"Cliques have from 1 to {LARGEST_CLIQUE} members, and not {size:,}.")
        kinds.append(CliqueKind(text(entry, "name"), size, _names(entry, place, arrays)))
    if len({kind.name for kind in kinds}) < len(kinds):
        raise FileFormatError("Two kinds of cliques have the same name.")
    rest = meta["structure"]
    return LabelGraph(
        _names(nodes, 0, arrays),
        tuple(kinds),
        text(rest, "label"),
        text(rest, "states"),
        text(rest, "cliques"),
        flag(rest, "symmetric"),
        number(rest, "min_freq"),
    )


def _names(entry: Entry, place: int, arrays: Arrays) -> Vocabulary:
    n = whole(entry, "n_attributes")
    if n > 8 * arrays["kept"].size:  # each has a bit at least
        raise FileFormatError(f"{n:,} attributes are told, more than there are combinations with labels.")
    return take_vocabulary(entry["vocabulary"], n, f"names_{place}", arrays)


def _kept(structure: LabelGraph, n_labels: int, packed: Array) -> list[Bools]:
    """Return by table which combinations have a weight; nothing is allocated for more than the file can hold."""
    sizes = [1, *(kind.size for kind in structure.kinds)]
    rows = [len(vocabulary) for vocabulary in _vocabularies(structure)]
    need = BYTES_A_CELL * sum(max(n, 1) * n_labels**size for n, size in zip(rows, sizes, strict=True))
    if need > settings().memory:
        raise FileFormatError(
            f"Its tables would need {in_bytes(min(need, 10**300))}, and may use {in_bytes(settings().memory)}: allow "
            "more by ",
            Mention("memory", "sf.config(memory=…)"),
            ", if it is as large as that.",
        )
    columns = [math.comb(n_labels + size - 1, size) if structure.symmetric else n_labels**size for size in sizes]
    cells = [n * m for n, m in zip(rows, columns, strict=True)]
    if packed.dtype != np.uint8 or packed.shape != (-(-sum(cells) // 8),):
        raise FileFormatError(f"The array 'kept' must hold {sum(cells):,} bits.")
    bits = np.unpackbits(packed, count=sum(cells)).astype(bool)
    parts = np.split(bits, np.cumsum(cells)[:-1])
    return [part.reshape(n, m) for part, n, m in zip(parts, rows, columns, strict=True)]


def _numbers(arrays: Arrays, name: str, n: int) -> NDArray[np.float64]:
    found = arrays[name]
    if found.dtype != np.float64 or found.shape != (n,) or not np.isfinite(found).all():
        raise FileFormatError(f"The array {name!r} must be a list of {n:,} finite numbers.")
    return found


def _information(arrays: Arrays, layout: GraphLayout) -> NDArray[np.float64]:
    n = layout.size
    numbers = _numbers(arrays, "information", n * (n + 1) // 2)
    half = np.zeros((n, n))
    half[np.triu_indices(n)] = numbers
    return np.asarray(half + np.triu(half, 1).T)
