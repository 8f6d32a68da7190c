"""LabelGraph: labels of a graph's nodes given attributes of its nodes and cliques, as a conditional random field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from suffice.data.attributes import Vocabulary
from suffice.data.graph_codes import GraphTable
from suffice.data.schema import SchemaLike
from suffice.errors import ArgumentError, is_number, require_choice, require_text, require_whole, shown, the_argument
from suffice.structures.structure import Structure, changed_fields, fields_of
from suffice.text import html_text

if TYPE_CHECKING:
    from suffice.models.graph_crf import GraphModel
    from suffice.result.fit import Fit
    from suffice.types import Entry, Json, TableLike


WHICH = ("all", "observed")


@dataclass(frozen=True)
class CliqueKind:
    """A kind of cliques: its name, the number of members, and the attributes that its cliques may have."""

    name: str
    size: int
    vocabulary: Vocabulary

    def __post_init__(self) -> None:
        require_text("name", self.name)
        require_whole("size", self.size, 1)

    def to_dict(self) -> dict[str, Json]:
        """Return the kind as JSON-able data."""
        return {"name": self.name, "size": self.size, "vocabulary": self.vocabulary.to_dict()}


@dataclass(frozen=True)
class LabelGraph(Structure["Fit[GraphModel, LabelGraph]"]):
    """A conditional random field: p(y | x) ∝ exp (Σ_v w[x_v, y_v] + Σ_C w[x_C, y_C]), C going over cliques.

    A weight belongs to an attribute of nodes and a label, or to an attribute of the cliques of a kind and the labels of
    all members, and is shared by all nodes or by all cliques of the kind.

    Parameters
    ----------
    vocabulary : Vocabulary
        The attributes of nodes.
    kinds : tuple of CliqueKind
    label : str
        The name of the labels.
    states : {"all", "observed"}
        Which pairs of a node's attribute and label have a weight: all, or those that the data has.
    cliques : {"all", "observed"}
        Which combinations of a clique's attribute and labels have one.
    symmetric : bool
        Whether the order of a clique's members has no effect: w[x_C, (a, b)] and w[x_C, (b, a)] are one weight.
    min_freq : float
        A combination has a weight only if the attribute's values add up to this, in size, where it occurs.

    Examples
    --------
    >>> LabelGraph(Vocabulary(("dark",)), (CliqueKind("edge", 2, Vocabulary(("constant",))),), symmetric=True)
    LabelGraph(Vocabulary(1 names), kinds=['edge'], symmetric=True)
    """

    reads_rows: ClassVar[bool] = False
    vocabulary: Vocabulary
    kinds: tuple[CliqueKind, ...] = ()
    label: str = "label"
    states: str = "all"
    cliques: str = "all"
    symmetric: bool = False
    min_freq: float = 0.0

    def __post_init__(self) -> None:
        require_text("label", self.label)
        require_choice("states", self.states, WHICH)
        require_choice("cliques", self.cliques, WHICH)
        if not isinstance(self.symmetric, bool):
            raise ArgumentError(f"The 'symmetric' argument must be True or False. Got {shown(self.symmetric)} instead.")
        if not is_number(self.min_freq) or not 0 <= self.min_freq < float("inf"):
            raise ArgumentError(
                the_argument("min_freq"),
                f" must be a number of at least 0, such as 2. Got {shown(self.min_freq)} instead.",
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The labels."""
        return (self.label,)

    def open(self, data: TableLike, *, schema: SchemaLike | None = None, **policies: object) -> GraphTable:
        """Return the table of nodes, which is what `fit` takes."""
        if not isinstance(data, GraphTable):
            raise ArgumentError(
                f"The data of a conditional random field on graphs are graphs in codes. Got {shown(data)} instead; "
                "sf.GraphCRF takes lists of sf.Graph."
            )
        if (schema and schema != data.schema) or policies.get("weights") is not None:
            raise ArgumentError(
                "Graphs in codes have labels and weights of their own. Leave 'schema' and 'weights' out, and give the "
                "table what they say."
            )
        return data

    # Rendering ------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        said = changed_fields(self)
        said.pop("vocabulary")
        if self.kinds:
            said["kinds"] = [kind.name for kind in self.kinds]
        return f"LabelGraph({self.vocabulary!r}{''.join(f', {name}={value!r}' for name, value in said.items())})"

    def __str__(self) -> str:
        kinds = ", ".join(kind.name for kind in self.kinds) or "no cliques"
        return f"conditional random field of {self.label} over {len(self.vocabulary):,} attributes; {kinds}"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        return {
            "type": "LabelGraph",
            **fields_of(self),
            "vocabulary": self.vocabulary.to_dict(),
            "kinds": [kind.to_dict() for kind in self.kinds],
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> LabelGraph:
        """Rebuild the structure from `to_dict`'s data."""
        kinds = tuple(
            CliqueKind(kind["name"], int(kind["size"]), Vocabulary.from_dict(kind["vocabulary"]))
            for kind in entry["kinds"]
        )
        rest = {name: value for name, value in entry.items() if name not in ("type", "vocabulary", "kinds")}
        return cls(Vocabulary.from_dict(entry["vocabulary"]), kinds, **rest)
