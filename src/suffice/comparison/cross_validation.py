"""Cross-validation: every fold scored by the model that was trained on the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.comparison.candidates import Candidate
from suffice.comparison.fold_statistics import Gathered
from suffice.comparison.folds import FoldedTable
from suffice.comparison.held_out import HeldOutScore, from_statistics, of_rows
from suffice.errors import EstimationError, Remedy, made
from suffice.models.model import Model
from suffice.progress import Watch
from suffice.stats.source import BlockSource
from suffice.text import number, plural


@dataclass(frozen=True)
class CrossValidation:
    """The log-likelihood of rows that a model had not seen.

    Attributes
    ----------
    folds : tuple of float
        The log-likelihood of each fold, under the model trained on the others.
    sizes : tuple of float
        The weight of each fold.

    Notes
    -----
    With ℓ_k the log-likelihood of fold k and n_k its weight, the total is Σ ℓ_k. Its standard error is N s / √K, where
    s is the standard deviation (divisor K − 1) of the K fold means ℓ_k / n_k, and N = Σ n_k.

    Examples
    --------
    >>> found = CrossValidation((-12.0, -11.0, -13.0), (10.0, 10.0, 10.0))
    >>> found.total, round(found.standard_error, 4)
    (-36.0, 1.7321)
    """

    folds: tuple[float, ...]
    sizes: tuple[float, ...]

    @property
    def total(self) -> float:
        """The log-likelihood of all folds."""
        return float(np.sum(self.folds)) if not any(map(math.isnan, self.folds)) else math.nan  # eq cross-validation

    @property
    def standard_error(self) -> float:
        """The standard error of the total; NaN where it is not finite."""
        return standard_error(self.folds, self.sizes)

    def less(self, other: CrossValidation) -> CrossValidation:
        """Return the differences of the folds, whose standard error is that of paired differences."""
        with np.errstate(invalid="ignore"):
            gaps = np.subtract(self.folds, other.folds)
        return CrossValidation(tuple(gaps.tolist()), self.sizes)


def standard_error(totals: Sequence[float], sizes: Sequence[float]) -> float:
    """Return N s / √K, where s is the standard deviation of the means of K folds."""
    means = np.asarray(totals, np.float64) / np.asarray(sizes, np.float64)
    if not np.isfinite(means).all():
        return math.nan
    return float(np.sum(sizes) * means.std(ddof=1) / math.sqrt(len(means)))  # eq cross-validation-error


def cross_validate(
    candidates: Sequence[Candidate], table: FoldedTable, gathered: dict[str, Gathered], watch: Watch
) -> tuple[dict[str, CrossValidation], list[str]]:
    """Train every model on all folds but one, in turn, and score the one.

    Returns
    -------
    found : dict from name to CrossValidation
    remarks : list of str
    """
    scores: dict[str, list[HeldOutScore | None]] = {}
    models: dict[str, list[Model]] = {}
    for candidate in candidates:
        mine = gathered[candidate.name]
        scores[candidate.name], models[candidate.name] = [], []
        for fold, training in enumerate(mine.training()):
            rest = candidate.over(replace(table, without=fold)).settled(training.schema)
            model = candidate.trained(training, rest, f"trained without fold {fold + 1} of {table.n_folds}").model
            held_out = candidate.statistics(mine.folds[fold])
            score = None if candidate.observed else from_statistics(model, candidate.structure, held_out)
            scores[candidate.name].append(score)
            models[candidate.name].append(model)
    exact = _score_rows(candidates, table, gathered, scores, models, watch)
    found, remarks = {}, []
    for candidate in candidates:
        name, sizes = candidate.name, tuple(part.weight for part in gathered[candidate.name].folds)
        whole = [score for score in scores[name] if score is not None]
        remarks += _remarks(candidate, whole, name in exact)
        found[name] = CrossValidation(tuple(score.total for score in whole), sizes)
    return found, remarks


def _score_rows(
    candidates: Sequence[Candidate],
    table: FoldedTable,
    gathered: dict[str, Gathered],
    scores: dict[str, list[HeldOutScore | None]],
    models: dict[str, list[Model]],
    watch: Watch,
) -> set[str]:
    """Score what statistics did not suffice for, in one more pass; return the models that it was done for."""
    left = [candidate for candidate in candidates if None in scores[candidate.name]]
    if not left:
        return set()
    schema = gathered[left[0].name].whole.schema
    columns = [name for name in schema if name in table.schema]
    totals = {candidate.name: [HeldOutScore(0.0)] * table.n_folds for candidate in left}

    def of_block(block: Any) -> tuple[int, dict[str, HeldOutScore]]:
        here = {candidate.name: (models[candidate.name][block.fold], candidate.observed) for candidate in left}
        return block.fold, of_rows(here, block.columns, block.n_rows, block.weights)

    for fold, found in BlockSource(table.with_schema(schema.select(columns)), watch).each(of_block):
        for name, score in found.items():
            totals[name][fold] += score
    for name, of_folds in totals.items():
        scores[name] = list(of_folds)
    return set(totals)


def _remarks(candidate: Candidate, scores: list[HeldOutScore], exact: bool) -> list[str]:
    """Say which rows have no chance; an error where the model is not to be made up for what it has not seen."""
    where = next((score.where for score in scores if score.where), "")
    unknown, impossible = sum(score.unknown for score in scores), sum(score.impossible for score in scores)
    least = "" if exact else "at least "
    if unknown and candidate.entry.settings["unseen_parents"] == "error":
        node = f" of {where!r}" if where else ""
        raise EstimationError(
            f"Model {candidate.name!r}: {least}{plural(unknown, 'row')} of a fold cannot be scored, since the other "
            f"folds have no data for the parents' states{node}. Pass a prior, such as ",
            Remedy("prior", made("BDeu", 1)),
            ", or ",
            Remedy("unseen_parents", "uniform"),
            ", or 'nan' to go on without a score; or leave cross-validation out by ",
            Remedy("folds", None),
            ".",
        )
    said = []
    if unknown:
        said.append(
            f"{candidate.name}: {least}{plural(unknown, 'held-out row')} met parent configurations that the other "
            "folds do not have, so that the cross-validated log-likelihood is unknown (NaN)."
        )
    if impossible:
        verb = "has" if impossible == 1 else "have"
        said.append(
            f"{candidate.name}: {least}{plural(impossible, 'held-out row')} {verb} probability zero under the model "
            "trained on the other folds, so that the cross-validated log-likelihood is −∞. A prior keeps what was not "
            "seen possible."
        )
    return said


def fold_remarks(gathered: Gathered) -> list[str]:
    """Say how the rows were divided, where that is not what one would expect."""
    sizes = [part.weight for part in gathered.folds]
    if gathered.fractional:
        return [
            "Some weights are not whole numbers: a row with such a weight stays together in one fold, so that folds "
            f"weigh {number(min(sizes))} to {number(max(sizes))}."
        ]
    return []
