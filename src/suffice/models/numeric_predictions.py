"""NumericPredictions: what every row of a table says about one continuous variable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.data.variable import Variable
from suffice.models.predicted_table import SHOWN_ROWS, Cells, PredictedTable
from suffice.models.prediction_scores import NumberScores, observed_of
from suffice.text import number
from suffice.types import Floats


@dataclass(frozen=True, eq=False, repr=False)
class NumericPredictions(PredictedTable):
    """The mean, the standard deviation and the central interval of p(target | row), of every row of a table.

    Attributes
    ----------
    target : Variable
    mean, sd : array, shape (n_rows,)
        Over all configurations of discrete variables that the row leaves possible. NaN in rows that are impossible.
    lower, upper : array, shape (n_rows,)
        The ends of the interval: quantiles of p(target | row), which may be a mixture.
    level : float
        The probability of the interval.
    observed : array, shape (n_rows,), or None
        What the table itself had of the target, NaN where it had nothing: no evidence, but something to compare with.
    notes : tuple of str
        What was ignored, integrated out and taken as missing.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
    >>> model = sf.fit(sf.DAG("dose -> effect"), data).model
    >>> print(model.predict("effect", {"dose": [1.0, None]}))
    row  predicted       sd      lower    upper
    ---  ---------  -------  ---------  -------
    1         3.05  0.33541    2.39261  3.70739
    2            4  2.15058  -0.215062  8.21506
    """

    target: Variable
    mean: Floats = field(repr=False)
    sd: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    level: float = 0.95
    observed: Floats | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.mean, self.sd, self.lower, self.upper, self.observed):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.mean)

    def score(self, observed: Any = None) -> NumberScores:
        """Return the errors, and how often the interval holds what was observed.

        Parameters
        ----------
        observed : sequence of numbers, optional
            One a row, None where it is not known. Without it, what the table had of the target.
        """
        seen = observed_of(self.target, observed, self.observed, len(self))
        return NumberScores.of(np.stack([self.mean, self.sd, self.lower, self.upper], axis=1), seen, self.level)

    def to_numpy(self) -> Floats:
        """Return the means as a new array; shape (n_rows,)."""
        return self.mean.copy()

    def columns(self, probabilities: bool = True) -> dict[str, Any]:
        """Return the columns of a table: ``predicted``, and ``sd``, ``lower`` and ``upper`` where that is wanted."""
        spread = {"sd": self.sd, "lower": self.lower, "upper": self.upper} if probabilities else {}
        return {"predicted": self.mean, **spread}

    def _cells(self) -> Cells:
        columns = self.columns() | ({} if self.observed is None else {"observed": self.observed})
        shown = np.stack([column[:SHOWN_ROWS] for column in columns.values()], axis=1).tolist()
        rows = [[str(row + 1), *map(_number, values)] for row, values in enumerate(shown)]
        return ["row", *columns], rows, "<" + ">" * len(columns)


def _number(value: float) -> str:
    return "-" if np.isnan(value) else number(value)
