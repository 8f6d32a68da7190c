"""What a model may be able to do, beside giving probabilities: what commands and reports ask before they use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from suffice.models.model import Model

if TYPE_CHECKING:
    from suffice.data.variable import Variable
    from suffice.models.assignment import Assignment
    from suffice.models.complexity import Complexity
    from suffice.models.cpds import CPD
    from suffice.models.engine import ExactOrSampled
    from suffice.models.evidence import Evidence, Targets
    from suffice.models.log_linear import Weights
    from suffice.models.marginals import Marginals
    from suffice.result.notes import Note
    from suffice.types import Columns, Floats
    from suffice.values import Label


@runtime_checkable
class CanQuery(Model, Protocol):
    """A model that answers for some variables given others."""

    def query(self, targets: Targets, given: Evidence | None = None) -> ExactOrSampled:
        """Return p(targets | given)."""


@runtime_checkable
class CanMap(Model, Protocol):
    """A model that finds the most likely states and values."""

    def map(self, given: Evidence | None = None, *, targets: Targets | None = None) -> Assignment | Mapping[str, Label]:
        """Return the most likely states and values."""


@runtime_checkable
class CanSummarise(CanQuery, Protocol):
    """A model that answers for every variable at once."""

    def marginals(self, given: Evidence | None = None) -> Marginals:
        """Return p(v | given) of every variable that is not given."""


@runtime_checkable
class CanClassify(Model, Protocol):
    """A model that answers for a class alone."""

    @property
    def target(self) -> Variable:
        """The class."""

    def log_scores_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return the score of every class, for every row."""


@runtime_checkable
class HasComplexity(Model, Protocol):
    """A model whose exact inference has a size."""

    def complexity(self, given: Evidence | None = None) -> Complexity:
        """Return how large exact inference is."""


@runtime_checkable
class HasNodes(Model, Protocol):
    """A model that has a conditional distribution at each of its nodes."""

    def cpd(self, node: str) -> CPD:
        """Return the distribution of one node given its parents."""


@runtime_checkable
class HasNotes(Protocol):
    """A model or fit that says what was done as it was made."""

    @property
    def notes(self) -> Sequence[Note] | Sequence[str]:
        """What is worth knowing."""


@runtime_checkable
class HasWeights(Protocol):
    """A model with weights: by the names of its features, or numbers alone."""

    @property
    def weights(self) -> Weights | Floats:
        """The weights."""


@runtime_checkable
class HoldsModel(Protocol):
    """A fit of a model, or a file with one."""

    @property
    def model(self) -> Any:
        """The model."""


@runtime_checkable
class FittedEstimator(Protocol):
    """An estimator in the manner of scikit-learn, of this library."""

    @property
    def model_(self) -> Any:
        """The model that was learnt."""


@runtime_checkable
class HoldsFit(Protocol):
    """An estimator of this library that was fitted here, and not read from a file."""

    @property
    def fit_(self) -> Any:
        """The fit."""


def model_of(thing: Any) -> Any:
    """Return the model that something holds, or the thing itself."""
    return thing.model if isinstance(thing, HoldsModel) else thing
