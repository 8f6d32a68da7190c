"""Engine: what answers questions to a model of whole rows, which makes one and hands questions on to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from suffice.data.labelled import LabelledTable
from suffice.models.row_answers import RowAnswers
from suffice.models.row_moments import RowMoments
from suffice.types import Columns, Floats, Ints

if TYPE_CHECKING:
    from suffice.data.schema import Schema
    from suffice.errors import ModelError
    from suffice.models.assignment import Assignment
    from suffice.models.discrete_engine import DiscreteEngine
    from suffice.models.evidence import Evidence
    from suffice.models.incomplete_rows import MissingValues
    from suffice.models.joint_normal import JointNormal
    from suffice.models.marginals import Marginals
    from suffice.models.normal_mixture import NormalMixture
    from suffice.models.sampling import Draw
    from suffice.models.weighted_sampling import SampledAnswer
    from suffice.types import TableLike
    from suffice.values import UnknownStates

Answer: TypeAlias = "LabelledTable | JointNormal | NormalMixture"
"""The distribution of some variables: of discrete ones, of continuous ones, or of both."""
ExactOrSampled: TypeAlias = "Answer | SampledAnswer"
"""Such a distribution, or its estimate from weighted draws."""
AnswersOfRows: TypeAlias = "RowAnswers | RowMoments"
LogProbOf = Callable[[Columns, int], Floats]
"""From columns of codes and values, and their length, to log p of every row."""

A_co = TypeVar("A_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)


class RowEngine(Protocol):
    """What answers for rows that lack values."""

    @property
    def missing(self) -> MissingValues:
        """How missing values of rows are summed out and filled."""

    def refusal(self, codes: Ints, values: Floats) -> ModelError:
        """Return the error for a row that is impossible, or whose probability is not known."""


class QueryEngine(RowEngine, Protocol[A_co, R_co]):
    """What answers for any variables given any others. Variables that are wanted are positions in the schema."""

    @property
    def schema(self) -> Schema:
        """The variables with their states."""

    def require_discrete(self, what: str, remedy: str) -> DiscreteEngine:
        """Return the engine of tables; raise where continuous variables stand against ``what``."""

    def query(self, wanted: tuple[int, ...], given: Evidence | None) -> A_co:
        """Return p(wanted | given)."""

    def rows(self, wanted: tuple[int, ...], data: TableLike, unknown_states: UnknownStates) -> R_co:
        """Return p(wanted | row) for every row of a table of evidence."""

    def marginals(self, given: Evidence | None) -> Marginals:
        """Return p(v | given) of every variable that is not given."""

    def most_likely(self, wanted: tuple[int, ...] | None, given: Evidence | None, log_prob_of: LogProbOf) -> Assignment:
        """Return what is most likely of all variables that are not given, or of some, the others summed out."""

    @property
    def log_z(self) -> float:
        """The logarithm of the sum of all products of tables."""

    def log_evidence(self, given: Evidence | None) -> float:
        """Return log p(given), −inf when it is impossible."""

    def entropy(self, given: Evidence | None) -> float:
        """Return the entropy of all variables that are not given, in nats."""

    def drawing(self, given: Evidence | None) -> Draw:
        """Return how rows are drawn given evidence."""


AnyEngine: TypeAlias = "QueryEngine[Answer, AnswersOfRows]"
