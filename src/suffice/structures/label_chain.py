"""LabelChain and LocalChain: labels of a sequence given its attributes, as a CRF and as a MEMM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from suffice.data.attributes import Vocabulary
from suffice.data.schema import SchemaLike
from suffice.data.sequence_positions import PositionTable
from suffice.errors import ArgumentError, DataError, is_number, require_choice, require_text, shown, the_argument
from suffice.structures.structure import Structure, changed_fields, fields_of
from suffice.text import html_text

if TYPE_CHECKING:
    from suffice.models.chain_model import ChainModel
    from suffice.result.fit import Fit
    from suffice.types import Entry, Json, TableLike


STATES = ("observed", "all")
TRANSITIONS = ("all", "observed")


@dataclass(frozen=True)
class LabelChain(Structure["Fit[ChainModel, LabelChain]"]):
    """A linear-chain conditional random field: p(y | x) ∝ exp Σ_t (w[x_t, y_t] + w[y_t−1, y_t]).

    A weight belongs to an attribute and a label, or to two neighbouring labels, and is shared by all positions.

    Parameters
    ----------
    vocabulary : Vocabulary
        The attributes of positions.
    step_vocabulary : Vocabulary, optional
        Those of steps, whose weights belong to both labels of the step: w[x_t, y_t−1, y_t].
    label : str
        The name of the labels.
    states : {"observed", "all"}
        Which pairs of attribute and label have a weight: those that the data has, or all.
    transitions : {"all", "observed"}
        Which pairs of neighbouring labels have one.
    boundaries : bool
        Whether there are weights of a sequence's first label and of its last.
    min_freq : float
        A pair of attribute and label has a weight only if its values add up to this in size.

    Examples
    --------
    >>> LabelChain(Vocabulary(("the", "cat")))
    LabelChain(Vocabulary(2 names))
    """

    vocabulary: Vocabulary
    step_vocabulary: Vocabulary | None = None
    label: str = "label"
    states: str = "observed"
    transitions: str = "all"
    boundaries: bool = False
    min_freq: float = 0.0
    is_local: ClassVar[bool] = False
    words: ClassVar[str] = "conditional random field"
    unit: ClassVar[str] = "position"
    reads_rows: ClassVar[bool] = False
    given: ClassVar[tuple[str, ...]] = ("attributes",)

    def __post_init__(self) -> None:
        require_text("label", self.label)
        require_choice("states", self.states, STATES)
        require_choice("transitions", self.transitions, TRANSITIONS)
        if not isinstance(self.boundaries, bool | np.bool_):
            raise ArgumentError(
                f"The 'boundaries' argument must be True or False. Got {shown(self.boundaries)} instead."
            )
        if not is_number(self.min_freq) or not 0 <= self.min_freq < float("inf"):
            raise ArgumentError(
                the_argument("min_freq"),
                f" must be a number of at least 0, such as 2. Got {shown(self.min_freq)} instead.",
            )
        object.__setattr__(self, "boundaries", bool(self.boundaries))  # grids of parameters are often arrays
        object.__setattr__(self, "min_freq", float(self.min_freq))

    @property
    def columns(self) -> tuple[str, ...]:
        """The labels."""
        return (self.label,)

    def open(self, data: TableLike, *, schema: SchemaLike | None = None, **policies: object) -> PositionTable:
        """Return the table of positions, which is what `fit` takes."""
        if not isinstance(data, PositionTable):
            raise ArgumentError(
                f"The data of a {self.words} are sequences in codes. Got {shown(data)} instead; sf.ChainCRF and "
                "sf.MEMM take lists of features."
            )
        if (schema and schema != data.schema) or policies.get("weights") is not None:
            raise ArgumentError(
                "Sequences in codes have labels and weights of their own. Leave 'schema' and 'weights' out, and give "
                "the table what they say."
            )
        if not data.label.states:
            raise DataError("There are no labels to learn from. Pass at least one sequence that has a position.")
        return data

    # Rendering ------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        said = changed_fields(self)
        said.pop("vocabulary")
        more = "".join(f", {name}={value!r}" for name, value in said.items())
        return f"{type(self).__name__}({self.vocabulary!r}{more})"

    def __str__(self) -> str:
        return f"{self.words} of {self.label} over {len(self.vocabulary):,} attributes"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        steps = self.step_vocabulary
        return {
            "type": type(self).__name__,
            **fields_of(self),
            "vocabulary": self.vocabulary.to_dict(),
            "step_vocabulary": None if steps is None else steps.to_dict(),
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> LabelChain:
        """Rebuild the structure from `to_dict`'s data."""
        steps = entry["step_vocabulary"]
        rest = {name: value for name, value in entry.items() if name not in ("type", "vocabulary", "step_vocabulary")}
        return cls(
            Vocabulary.from_dict(entry["vocabulary"]), None if steps is None else Vocabulary.from_dict(steps), **rest
        )


@dataclass(frozen=True, repr=False)
class LocalChain(LabelChain):
    """A maximum-entropy Markov model: p(y | x) = Π_t p(y_t | y_t−1, x_t), each factor a softmax of its own.

    The parameters are those of `LabelChain`; ``boundaries`` gives weights to a sequence's first label only, since the
    last label of a sequence has no say in a product of such factors.
    """

    is_local: ClassVar[bool] = True
    words: ClassVar[str] = "maximum-entropy Markov model"
