"""Confusion: which classes were taken for which, the error rate and the log-loss; parts add, as statistics do."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.data.variable import Variable
from suffice.errors import ArgumentError
from suffice.text import fixed, html_table, number, plain_facts, plain_table, shorten, width
from suffice.types import Array, Floats, Json

NO_CLASS = -1
"""The prediction for a row that is impossible under every class."""
WIDEST, MANY_CLASSES = 100, 30
SHOWN_PAIRS = 20
Cells = tuple[list[str], list[list[str]], str]


@dataclass(frozen=True, eq=False)
class Confusion:
    """How a classifier's answers compare with the classes that were observed.

    Attributes
    ----------
    target : Variable
        The class.
    counts : array, shape (n_classes, n_classes)
        Total weight of rows by observed class and predicted class.
    unanswered : array, shape (n_classes,)
        Total weight of rows, by observed class, that are impossible under every class; they count as errors.
    loss : float
        Σ −log p(observed class | row), weighted, over the rows that are possible.

    Examples
    --------
    >>> spam = Variable("spam", ("no", "yes"))
    >>> log_p = np.log([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    >>> found = Confusion.of(spam, np.array([0, 0, 1]), log_p.argmax(axis=1), log_p)
    >>> print(found)
    rows               3
    errors             1
    error rate         0.3333
    log-loss of a row  0.4149
    <BLANKLINE>
    Observed classes down, predicted classes across
    observed  no  yes  rows  errors  error rate
    --------  --  ---  ----  ------  ----------
    no         1    1     2       1      0.5000
    yes        0    1     1       0      0.0000
    """

    target: Variable
    counts: Floats = field(repr=False)
    unanswered: Floats = field(repr=False)
    loss: float = 0.0

    def __post_init__(self) -> None:
        for name, given in (("counts", self.counts), ("unanswered", self.unanswered)):
            values = np.array(given, np.float64)
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @classmethod
    def empty(cls, target: Variable) -> Confusion:
        """Return that of no rows."""
        k = target.n_states
        return cls(target, np.zeros((k, k)), np.zeros(k))

    @classmethod
    def of(
        cls,
        target: Variable,
        observed: Array,
        predicted: Array,
        log_posteriors: Floats,
        weights: Array | None = None,
    ) -> Confusion:
        """Compare predictions with observed classes.

        Parameters
        ----------
        target : Variable
        observed : array of codes, shape (n_rows,)
            Rows whose class is not known, below zero, are left out.
        predicted : array of codes, shape (n_rows,)
            `NO_CLASS` where there is no answer.
        log_posteriors : array, shape (n_rows, n_classes)
        weights : array, shape (n_rows,), optional
        """
        k = target.n_states
        known = np.flatnonzero(np.asarray(observed) >= 0)
        y, guess = np.asarray(observed, np.int64)[known], np.asarray(predicted, np.int64)[known]
        w = np.ones(len(known)) if weights is None else np.asarray(weights, np.float64)[known]
        answered = guess != NO_CLASS
        joint = _weighed(y[answered] * k + guess[answered], w[answered], k * k).reshape(k, k)
        losses = -log_posteriors[known, y][answered]
        losses = np.where(np.isnan(losses), np.inf, losses)  # impossible, but for a class of no probability
        positive = w[answered] > 0  # 0 · ∞ is no loss
        loss = float((w[answered][positive] * losses[positive]).sum())
        return cls(target, joint, _weighed(y[~answered], w[~answered], k), loss)

    def __add__(self, other: Confusion) -> Confusion:
        if not isinstance(other, Confusion):
            return NotImplemented
        if self.target != other.target:
            raise ArgumentError(
                f"These answers are about the classes of {self.target.name!r} and of {other.target.name!r}, which are "
                "not the same classes. Add answers of one classifier."
            )
        counts, unanswered = self.counts + other.counts, self.unanswered + other.unanswered
        return Confusion(self.target, counts, unanswered, self.loss + other.loss)

    # Numbers --------------------------------------------------------------------------------------------------

    @property
    def n(self) -> float:
        """Total weight of the rows."""
        return float(self.counts.sum() + self.unanswered.sum())

    @property
    def n_wrong(self) -> float:
        """Total weight of the rows whose class was not found."""
        return float(self.counts.sum() - np.trace(self.counts) + self.unanswered.sum())

    @property
    def error_rate(self) -> float:
        """The part of the rows whose class was not found; NaN without rows."""
        return self.n_wrong / self.n if self.n else math.nan

    @property
    def log_loss(self) -> float:
        """The mean of −log p(observed class | row) over rows that are possible; NaN without any."""
        n = float(self.counts.sum())
        return self.loss / n if n else math.nan

    def to_dict(self) -> dict[str, Json]:
        """Return all numbers as JSON-able data."""
        return {
            "n": self.n,
            "n_wrong": self.n_wrong,
            "error_rate": self.error_rate,
            "log_loss": self.log_loss,
            "classes": list(self.target.labels),
            "confusion": self.counts.tolist(),
            "unanswered": self.unanswered.tolist(),
        }

    # Printing -------------------------------------------------------------------------------------------------

    def facts(self) -> list[tuple[str, str]]:
        """List the totals as (name, value)."""
        found = [
            ("rows", number(self.n, 12)),
            ("errors", number(self.n_wrong, 12)),
            ("error rate", _rate(self.error_rate)),
            ("log-loss of a row", "-" if math.isnan(self.log_loss) else fixed(self.log_loss)),
        ]
        impossible = float(self.unanswered.sum())
        if impossible:
            found.insert(2, ("  of them impossible under every class", number(impossible, 12)))
        return found

    def cells(self) -> Cells:
        """Lay out observed by predicted classes; where that is too wide, the pairs that are confused most."""
        return self._pairs() if self.is_wide else self._square()

    @property
    def title(self) -> str:
        """What stands above the cells."""
        wide = "Classes that were taken for others, most rows first"
        return wide if self.is_wide else "Observed classes down, predicted classes across"

    @property
    def is_wide(self) -> bool:
        """Whether a column a class would not fit a screen."""
        if self.target.n_states > MANY_CLASSES:
            return True
        header, rows, _ = self._square()
        return sum(max(map(width, map(shorten, column))) + 2 for column in zip(header, *rows, strict=True)) > WIDEST

    def _square(self) -> Cells:
        labels = [str(label) for label in self.target.labels]
        columns, names = self.counts, labels
        if self.unanswered.any():
            columns, names = np.column_stack([self.counts, self.unanswered]), [*labels, "none"]
        totals = columns.sum(axis=1)
        right = np.diagonal(self.counts)
        rows = [
            [label, *(number(n, 12) for n in row), number(total, 12), number(total - hits, 12), _rate(rate)]
            for label, row, total, hits, rate in zip(
                labels, columns.tolist(), totals.tolist(), right.tolist(), _rates(totals, right), strict=True
            )
        ]
        header = ["observed", *names, "rows", "errors", "error rate"]
        return header, rows, "<" + ">" * (len(names) + 3)

    def _pairs(self) -> Cells:
        """List the pairs of different classes with the most rows."""
        labels = [str(label) for label in self.target.labels]
        wrong = np.column_stack([self.counts - np.diag(np.diagonal(self.counts)), self.unanswered])
        totals = wrong[:, :-1].sum(axis=1) + np.diagonal(self.counts) + self.unanswered
        order = np.argsort(-wrong, axis=None, kind="stable")[: SHOWN_PAIRS + 1]
        pairs = [divmod(int(place), len(labels) + 1) for place in order if wrong.flat[place] > 0]
        rows = [
            [labels[k], [*labels, "none"][j], number(float(wrong[k, j]), 12), number(float(totals[k]), 12)]
            for k, j in pairs[:SHOWN_PAIRS]
        ]
        n_more = int((wrong > 0).sum()) - len(rows)
        if n_more:
            rows.append([f"… {n_more:,} more pairs", "", "", ""])
        return ["observed", "predicted", "rows", "of the class"], rows, "<<>>"

    def __str__(self) -> str:
        return "\n".join([plain_facts(self.facts()), "", self.title, plain_table(*self.cells())])

    def _repr_html_(self) -> str:
        facts = html_table(["", ""], [list(fact) for fact in self.facts()], "<>")
        return facts + html_table(*self.cells(), caption=self.title)


def predicted_classes(scores: Floats) -> NDArray[np.int64]:
    """Return the class of the largest score of every row, `NO_CLASS` where all are impossible; shape (n_rows,)."""
    best = scores.argmax(axis=1)
    top = np.take_along_axis(scores, best[:, None], axis=1)[:, 0]
    return np.where(top > -np.inf, best, NO_CLASS)


def _weighed(codes: NDArray[np.int64], weights: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(codes, weights, size), np.float64)


def _rates(totals: Floats, right: Floats) -> list[float]:
    with np.errstate(invalid="ignore", divide="ignore"):
        rates: list[float] = ((totals - right) / totals).tolist()
    return rates


def _rate(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
