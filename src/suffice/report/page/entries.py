"""What a report shows of a model, as plain values: a graph, entries that can be looked up, and tables.

Everything ends as JSON in the page, where a script lays it out when it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from suffice.data.variable import Variable
from suffice.errors import SufficeError
from suffice.models.capabilities import HasComplexity
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.model import Model
from suffice.report.graph_strengths import strengths_of
from suffice.types import Floats, Frame

if TYPE_CHECKING:
    from suffice.result.fit import Fit

P = ParamSpec("P")
T = TypeVar("T")

MOST_ROWS = 2_000  # of one table; a page is for reading, and files for all the rest
LEVEL = 0.95
QUICK_CELLS, QUICK_VARIABLES = 100_000, 60  # of all cliques of a discrete model; of one with numbers
Cell = str | float | None
Spec: TypeAlias = "dict[str, Any]"
"""Plain values of a page, as ``report/web/types.js`` says what they are."""


@dataclass(frozen=True)
class HtmlTable:
    """Rows under a header; numbers are laid out by the page.

    Attributes
    ----------
    head : list of str
    rows : list of list
        Text, numbers, or None for what is not known.
    caption : str
    n_rows : int
        How many there are in all; more than ``rows`` holds where some were left out.
    """

    head: list[str]
    rows: list[list[Cell]]
    caption: str = ""
    n_rows: int = 0

    def to_dict(self) -> Spec:
        """Return the table as JSON-able data."""
        return {"h": self.head, "r": self.rows, "c": self.caption, "n": max(self.n_rows, len(self.rows))}


@dataclass(frozen=True)
class Sheet:
    """A conditional probability table, as numbers beside the entries whose states they belong to.

    Attributes
    ----------
    parents : list of int
        Their entries.
    values : list of list of float
    caption : str
    codes : list of list of int, or None
        The parents' states of every row; None where all of them have one, in lexicographic order.
    lower, upper : list of list of float, or None
        The ends of credible intervals.
    n_rows : int
    """

    parents: list[int]
    values: list[list[Cell]]
    caption: str
    codes: list[list[int]] | None = None
    lower: list[list[Cell]] | None = None
    upper: list[list[Cell]] | None = None
    n_rows: int = 0

    def to_dict(self) -> Spec:
        """Return the table as JSON-able data."""
        said = {"p": self.parents, "v": self.values, "c": self.caption, "n": max(self.n_rows, len(self.values))}
        more = {"k": self.codes, "lo": self.lower, "hi": self.upper}
        return {**said, **{name: value for name, value in more.items() if value is not None}}


@dataclass(frozen=True)
class Entry:
    """Something with a name that a reader may look up: a node, a variable, a label, or a whole table.

    Attributes
    ----------
    name : str
    kind : str
        A word or two that say what it is.
    states : list of str
    facts : list of (str, str)
    above, below, near : list of int
        The entries of its parents, its children, and its neighbours in a graph without directions.
    tables : sequence of HtmlTable or Sheet
    part : str
        Its name among the parts of the log-likelihood, where that is another.
    """

    name: str
    kind: str
    states: list[str] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    near: list[int] = field(default_factory=list)
    tables: Sequence[HtmlTable | Sheet] = ()
    part: str = ""

    def to_dict(self) -> Spec:
        """Return the entry as JSON-able data, without what is empty."""
        said = {
            "s": self.states,
            "f": [list(fact) for fact in self.facts],
            "u": self.above,
            "d": self.below,
            "m": self.near,
            "t": [table.to_dict() for table in self.tables],
        }
        return {"n": self.name, "k": self.kind, **{key: value for key, value in said.items() if value}}


@dataclass(frozen=True)
class ReportGraph:
    """A graph whose nodes are the first entries.

    Attributes
    ----------
    colours : list of str
        One a node: ``discrete``, ``continuous``, ``class`` or ``latent``.
    edges : list of (int, int)
    directed : bool
    strengths : list of float or None
        One an edge, from −1 to 1, where the model has them.
    what : str
        What the nodes and edges are, in a sentence.
    ring : bool
        Whether nothing is above anything else, so that the nodes go around a circle.
    """

    colours: list[str]
    edges: list[tuple[int, int]]
    directed: bool
    strengths: list[float] | None = None
    what: str = ""
    ring: bool = False


@dataclass(frozen=True)
class ReportParts:
    """All that a report shows of a model: its graph, if it has one, whose nodes are the first entries; then tables."""

    entries: list[Entry]
    graph: ReportGraph | None = None


class Framed(Protocol):
    """Anything that becomes a frame."""

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return it as a frame."""


@runtime_checkable
class HasLevel(Protocol):
    """Estimates with intervals."""

    @property
    def level(self) -> float:
        """The probability of the intervals."""


# Making them --------------------------------------------------------------------------------------------------


def cell(value: Any) -> Cell:
    """Return a value for a table: numbers to six digits, text for what JSON does not know.

    >>> cell(1 / 3), cell(float("nan")), cell(float("-inf")), cell("x"), cell(True)
    (0.333333, None, '−∞', 'x', 'True')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        return str(value)
    number = float(value)
    if math.isnan(number):
        return None
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    return int(number) if number == int(number) and abs(number) < 1e15 else float(f"{number:.6g}")


def rounded(values: Floats) -> list[list[Cell]]:
    """Return rows of numbers as cells.

    >>> rounded(np.array([[1 / 3, 1.0], [0.0, np.nan]]))
    [[0.333333, 1], [0, None]]
    """
    if not np.isfinite(values).all():
        return [[cell(value) for value in row] for row in values.tolist()]
    with np.errstate(divide="ignore"):
        power = np.where(values == 0, 0.0, 5 - np.floor(np.log10(np.abs(values))))
    scale = 10.0 ** np.clip(power, -300, 22)  # powers of ten that floats hold exactly, so that quotients are short
    short = np.where(power > 22, values, np.round(values * scale) / scale)
    return [[0 if value == 0 else 1 if value == 1 else value for value in row] for row in short.tolist()]


def table_of(thing: Framed, caption: str = "", most: int = MOST_ROWS) -> HtmlTable:
    """Return the table of anything that becomes a frame."""
    frame: Any = thing.to_frame("pyarrow")
    level = f"{100 * (thing.level if isinstance(thing, HasLevel) else LEVEL):g} %"
    said = {"se": "std. error", "lower": f"{level} from", "upper": "to"}
    heads = [said.get(str(name), str(name)) for name in frame.column_names]
    columns = [frame.column(j).slice(0, most).to_pylist() for j in range(frame.num_columns)]
    said_any = [any(value != "" for value in column) for column in columns]  # a column of nothing says nothing
    heads = [head for head, some in zip(heads, said_any, strict=True) if some]
    rows = [[cell(v) for v, some in zip(row, said_any, strict=True) if some] for row in zip(*columns, strict=True)]
    return HtmlTable(heads, rows, caption, frame.num_rows)


def table_from(
    names: Sequence[str], rows: Iterable[Iterable[Any]], caption: str = "", most: int = MOST_ROWS
) -> HtmlTable:
    """Return a table of rows of anything."""
    listed = [[cell(value) for value in row] for row in rows]
    return HtmlTable(list(names), listed[:most], caption, len(listed))


def sheet_of(
    cpd: TabularCPD, place: dict[str, int], interval: tuple[Floats, Floats] | None = None, most: int = MOST_ROWS
) -> Sheet:
    """Return a conditional probability table with its intervals, if any.

    Parameters
    ----------
    cpd : TabularCPD
    place : dict of str to int
        The entry of every parent.
    interval : pair of array, optional
        The lower and the upper ends.
    most : int
        Rows at most.
    """
    codes = None if cpd.configurations is None else cpd.configurations[:most].tolist()
    lower, upper = (None, None) if interval is None else (rounded(end[:most]) for end in interval)
    caption = f"{100 * LEVEL:g} % credible intervals in brackets" if interval is not None else ""
    parents = [place[parent.name] for parent in cpd.family.parents]
    return Sheet(parents, rounded(cpd.values[:most]), caption, codes, lower, upper, len(cpd.values))


def tried(call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T | None:
    """Return what a call gives, or None where it has a reason to refuse."""
    try:
        return call(*arguments, **named)
    except SufficeError:
        return None


def is_quick(model: Model) -> bool:
    """Whether exact answers of a model take no time to speak of, so that a report may ask for many."""
    size = tried(model.complexity) if isinstance(model, HasComplexity) else None
    return len(model.variables) <= QUICK_VARIABLES if size is None else size.cells <= QUICK_CELLS


def strengths_in(source: Fit | Model, edges: Sequence[tuple[str, str]]) -> tuple[list[float] | None, str]:
    """Return the strengths of edges, the largest in size being one, and a sentence that says what they are.

    Parameters
    ----------
    source : Fit or model
    edges : sequence of pair of str
        In any direction.
    """
    with np.errstate(all="ignore"):  # a constant column has no strength
        found = tried(strengths_of, source)
    if found is None or found.values is None or not len(found.values):
        return None, ""
    values = np.nan_to_num(found.values, posinf=0.0, neginf=0.0)
    most = float(np.abs(values).max()) or 1.0
    held = {frozenset(edge): float(value) / most for edge, value in zip(found.edges, values, strict=True)}
    dashed = ", dashed where it is negative" if (values < 0).any() else ""
    return [
        held.get(frozenset(edge), 0.0) for edge in edges
    ], f" The wider an edge, the larger its {found.measure}{dashed}."


def colour_of(variable: Variable) -> str:
    """Return the colour of a variable's node."""
    return "discrete" if variable.is_discrete else "continuous"


def states_of(variable: Variable) -> list[str]:
    """Return the labels of a discrete variable's states."""
    return [str(label) for label in variable.labels] if variable.is_discrete else []
