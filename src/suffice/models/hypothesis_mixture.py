"""HypothesisMixture: the predictive distribution of a finite hypothesis space."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.errors import ModelError, listing, shown
from suffice.inference.product import Factor, Product
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.rows import is_distribution
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.discrete_engine import DiscreteEngine
from suffice.models.prediction import Prediction
from suffice.models.queries import Queries
from suffice.models.row_answers import RowAnswers
from suffice.models.row_model import RowModel
from suffice.models.sampling import Draw
from suffice.structures.hypotheses import Hypotheses
from suffice.text import shorten
from suffice.types import Columns, Floats, Json

if TYPE_CHECKING:
    from suffice.types import Entry


@dataclass(frozen=True, eq=False)
class HypothesisMixture(Queries[LabelledTable, RowAnswers], RowModel, Prediction):
    """p(x) = Σ_h w_h p(x | h): one hypothesis when its weight is one, their average otherwise.

    Attributes
    ----------
    hypotheses : Hypotheses
    weights : array, shape (n_hypotheses,)
        Not negative, summing to one.

    Examples
    --------
    >>> dice = Hypotheses({"coin": [1, 2], "die": [1, 2, 3, 4, 5, 6]}, over="face")
    >>> print(HypothesisMixture(dice, np.array([0.5, 0.5])).table)
    face       p
    ----  ------
    1     0.3333
    2     0.3333
    3     0.0833
    4     0.0833
    5     0.0833
    6     0.0833
    """

    hypotheses: Hypotheses
    weights: Floats = field(repr=False)

    def __post_init__(self) -> None:
        weights = np.array(self.weights, np.float64)
        if weights.shape != (len(self.hypotheses.names),) or not is_distribution(weights[None, :])[0]:
            raise ModelError(
                f"The weights of the hypotheses {listing(self.hypotheses.names)} must not be negative and must sum to "
                f"1, one for each. Got {shown(weights.tolist())} instead."
            )
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    @cached_property
    def table(self) -> LabelledTable:
        """The probabilities of the outcomes."""
        variable = self.hypotheses.variable
        p = np.zeros(variable.n_states)
        held = self.hypotheses
        for weight, outcomes, given in zip(self.weights, held.sets, held.probabilities, strict=True):
            share = weight / len(outcomes) if given is None else weight * np.array(given)
            p[[variable.code(label) for label in outcomes]] += share  # eq hypothesis-predictive
        return LabelledTable((variable,), p)

    @property
    def variables(self) -> tuple[str, ...]:
        """The one observed variable."""
        return (self.hypotheses.over,)

    @property
    def schema(self) -> Schema:
        """The variable with its outcomes."""
        return self._schema

    @cached_property
    def _schema(self) -> Schema:
        return Schema((self.hypotheses.variable,))

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(x) of every row of codes; shape (n_rows,)."""
        return self._cpd.log_prob(columns)

    @property
    def _cpd(self) -> TabularCPD:
        return TabularCPD(NodeFamily(self.hypotheses.variable), self.table.values)

    @cached_property
    def _engine(self) -> DiscreteEngine:
        return DiscreteEngine(self.schema, self._product())

    def _forward(self) -> Draw:
        return lambda uniform: {self.hypotheses.over: self._cpd.sample({}, uniform())}

    def _product(self) -> Product:
        """Return the one table."""
        return Product(self.variables, self.table.values.shape, (Factor((0,), self.table.values),), ((),))

    def __str__(self) -> str:
        return f"p({shorten(self.hypotheses.over)})\n{self.table}"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {"type": "HypothesisMixture", "hypotheses": self.hypotheses.to_dict(), "weights": self.weights}

    @classmethod
    def from_dict(cls, entry: Entry) -> HypothesisMixture:
        """Rebuild the model from `to_dict`'s data."""
        return cls(Hypotheses.from_dict(entry["hypotheses"]), np.array(entry["weights"], np.float64))
