"""Taggers of sequences to files and back: the model, how features are read, and the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import FileFormatError
from suffice.io.chain_file import ChainFile, FeatureRecipe, Proof
from suffice.sklearn.sequence_inputs import SequenceReader
from suffice.types import Json

if TYPE_CHECKING:
    from suffice.sklearn.sequence_shell import SequenceShell

PLAIN = (str, int, float, bool, type(None))


def stored(shell: SequenceShell) -> ChainFile:
    """Return what a file holds of a fitted estimator."""
    reader = shell._reader
    fit = shell.__dict__.get("fit_")
    proof = shell._proof if fit is None else Proof.of(fit)
    reading = FeatureRecipe(reader.templates, reader.step_features, reader.n_buckets)
    params = plain_params({name: value for name, value in shell.get_params().items() if name != "templates"})
    # A text is a parameter by itself; what was made in another way, or read from a file, is the reader's.
    text = None if reader.templates is None else reader.templates.text
    params["templates"] = text if isinstance(shell.templates, str) and shell.templates == text else None
    return ChainFile(shell.model_, reading, params, proof=proof)


def plain_params(params: Mapping[str, Any]) -> dict[str, Json]:
    """Return the parameters that JSON can hold; numbers of NumPy are numbers."""
    given = {name: _plain(value) for name, value in params.items()}
    return {name: value for name, value in given.items() if isinstance(value, (*PLAIN, list))}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic | np.ndarray) else value


def restored(file: ChainFile, path: str) -> SequenceShell:
    """Return the estimator that a file holds."""
    from suffice.sklearn.chain_crf import ChainCRF
    from suffice.sklearn.memm import MEMM

    reading = file.reading
    if reading is None:
        raise FileFormatError(
            f"{path!r} holds a model alone, without a word on how features are read. Read it by sf.read, or write the "
            "estimator by its save(path)."
        )
    kind: type[SequenceShell] = MEMM if file.model.structure.is_local else ChainCRF
    known = kind().get_params()
    params = {name: value for name, value in file.params.items() if name in known}
    if params.get("templates") is None:
        params["templates"] = reading.templates
    shell = kind(**params)
    shell._take(file.model, SequenceReader(reading.templates, reading.step_features, reading.n_buckets))
    shell._proof = file.proof
    return shell
