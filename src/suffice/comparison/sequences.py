"""Comparing models of sequences: a fold is some of the sequences, each of them whole.

Every model reads windows of its own, so that there is no table which all of them share. What a model is trained on are
all sequences, those of the fold with weight zero; so states are those of all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from suffice.comparison.candidates import GivenModel, Keywords, about
from suffice.comparison.cross_validation import CrossValidation
from suffice.comparison.folds import dealt_shares, generator
from suffice.comparison.held_out import HeldOutScore, score_of
from suffice.data.table import Weights
from suffice.errors import ArgumentError, SufficeError, listing
from suffice.fitting import fit
from suffice.progress import Watch
from suffice.result.fit import Fit
from suffice.structures.autoregression import Autoregression
from suffice.structures.markov_chain import MarkovChain
from suffice.text import number, plural
from suffice.types import TableLike

Shares = NDArray[np.int64]


def require_sequences(entries: list[GivenModel]) -> None:
    """Refuse to compare models of sequences with models of rows."""
    others = [entry.name for entry in entries if entry.structure.reads_rows]
    if others:
        mine = [entry.name for entry in entries if entry.name not in others]
        raise ArgumentError(
            f"The models {listing(mine)} are of sequences, and {listing(others)} of rows. Compare those of sequences "
            "with one another."
        )


def fitted(entries: list[GivenModel], data: TableLike, watch: Watch, reading: Keywords) -> dict[str, Fit]:
    """Fit all models, which must be of the same symbols."""
    fits = {entry.name: _fit(entry, data, reading, watch, f"Model {entry.name!r}") for entry in entries}
    first = next(iter(fits))
    for name, other in fits.items():
        if other.n != fits[first].n:
            raise ArgumentError(
                f"The models {first!r} and {name!r} are of different parts of the sequences: N = "
                f"{number(fits[first].n, 12)} and {number(other.n, 12)}. Likelihoods can be compared where they are of "
                "the same symbols."
            )
    return fits


def _fit(entry: GivenModel, data: TableLike, reading: Keywords, watch: Watch, where: str) -> Fit:
    settings = {name: value for name, value in entry.settings.items() if name != "restarts" or value is not None}
    try:
        return fit(entry.structure, data, progress=watch.display, **settings, **reading)
    except SufficeError as error:
        raise about(error, where) from None


def cross_validate(
    entries: list[GivenModel], fits: Mapping[str, Fit], data: TableLike, n_folds: int, seed: int, reading: Keywords
) -> tuple[dict[str, CrossValidation], list[str]]:
    """Train every model without the sequences of each fold, in turn, and score them."""
    shares, reason = _shares(next(iter(fits.values())), data, n_folds, seed, reading["weights"])
    if shares is None:
        return {}, [f"There is no cross-validation: {reason}."]
    found, remarks = {}, []
    for entry in entries:
        scores, sizes = [], []
        for fold, share in enumerate(shares):
            rest = {**reading, "weights": shares.sum(axis=0) - share}
            where = f"Model {entry.name!r}, trained without fold {fold + 1} of {n_folds}"
            trained = _fit(entry, data, rest, Watch(), where)
            scores.append(score_of(trained.model.log_prob(data), share))
            sizes.append(fits[entry.name].n - trained.n)
        found[entry.name] = CrossValidation(tuple(score.total for score in scores), tuple(sizes))
        remarks += _remarks(entry.name, scores)
    return found, remarks


def _shares(first: Fit, data: TableLike, n_folds: int, seed: int, weights: Weights) -> tuple[Shares | None, str]:
    """Return how much of every sequence is in each fold, shape (n_folds, n_sequences); or why there are no folds."""
    structure = first.structure
    if isinstance(structure, MarkovChain | Autoregression) and structure.sequences(data).text is not None:
        return None, "the sequences of a text file are streamed, and cannot be divided into folds"
    n_sequences = len(first.model.log_prob(data))
    units = np.ones(n_sequences) if weights is None else np.asarray(weights, np.float64)
    if (units != np.trunc(units)).any():
        return None, "the weights of the sequences are not whole numbers"
    if units.sum() < n_folds:
        return None, f"{plural(units.sum(), 'sequence')} cannot be divided into {n_folds} folds"
    return dealt_shares(units.astype(np.int64), n_folds, generator(seed)), ""


def _remarks(name: str, scores: list[HeldOutScore]) -> list[str]:
    said = []
    impossible, unknown = sum(score.impossible for score in scores), sum(score.unknown for score in scores)
    for count, what in ((impossible, "probability zero (−∞)"), (unknown, "an unknown probability (NaN)")):
        if count:
            verb = "has" if count == 1 else "have"
            said.append(
                f"{name}: {plural(count, 'held-out sequence')} {verb} {what} under the model trained on the other "
                "folds, which lack some of its symbols or contexts. A prior answers for what was not seen."
            )
    return said
