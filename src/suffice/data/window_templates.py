"""Templates of windows, in the language of CRF++: which words around a position make its attributes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.data.attribute_names import first_unknown, in_rows, numbered
from suffice.data.attributes import Attributes, Vocabulary
from suffice.data.column_windows import Columns
from suffice.errors import ArgumentError, DataError, require_choice, require_whole, shown
from suffice.text import plural

BOUNDARIES = ("mark", "omit")
FARTHEST = 1000
"""So many rows away a macro may look."""
BEGIN, END = "__BOS__", "__EOS__"
MACRO = re.compile(r"%x\[\s*([+-]?[0-9]+)\s*,\s*([0-9]+)\s*\]", re.ASCII)

TUTORIAL = """\
# Words, and pairs of neighbouring words
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]

# Parts of speech, in ones, twos and threes
U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]

B
"""
"""The windows of CRFsuite's tutorial on CoNLL-2000: words in column 0, parts of speech in column 1.

The tutorial's attributes are these with ``boundary="omit", ends=True``.
"""


@dataclass(frozen=True)
class Template:
    """One line of a template.

    Attributes
    ----------
    line : str
        As it was written.
    texts : tuple of str
        What stands before, between and after the macros.
    macros : tuple of (int, int)
        Row, relative to the position, and column of each macro.
    """

    line: str
    texts: tuple[str, ...]
    macros: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Expanded:
    """What templates make of some sequences.

    Attributes
    ----------
    states : Attributes
        One row a position.
    vocabulary : Vocabulary
    steps : Attributes or None
        Attributes of the step that leads to each position; first positions have none. None unless a B-line of the
        template has a macro.
    step_vocabulary : Vocabulary or None
    n_unknown : int
        How many attributes were left out, since their names are not in the vocabularies.
    unknown : str
        One of them, of positions if there is one; empty where there is none.
    """

    states: Attributes
    vocabulary: Vocabulary
    steps: Attributes | None = None
    step_vocabulary: Vocabulary | None = None
    n_unknown: int = 0
    unknown: str = ""

    def __repr__(self) -> str:
        steps = "" if self.step_vocabulary is None else f", steps {self.step_vocabulary!r}"
        return f"Expanded({self.states.n_rows:,} positions, {self.vocabulary!r}{steps}, n_unknown={self.n_unknown:,})"


@dataclass(frozen=True)
class Templates:
    r"""Templates of windows.

    Parameters
    ----------
    text : str
        Lines such as ``U05:%x[-1,0]/%x[0,0]``: an attribute of positions, in which a macro ``%x[row,column]`` stands
        for a word around the position. Lines that begin with B make attributes of steps, from one label to the next;
        without a macro they stand for transitions, which are always there. Lines that begin with # are left out.
    boundary : {"mark", "omit"}
        What a macro beyond an end of the sequence stands for: a mark such as ``_B-1`` or ``_B+2``, as CRF++ has it;
        or nothing, and its attribute is left out.
    ends : bool
        Whether first positions have the attribute ``__BOS__``, and last ones ``__EOS__``.
    path : str, optional
        The file that the text stands in, which errors name.

    Attributes
    ----------
    states : tuple of Template
        The U-lines.
    steps : tuple of Template
        The B-lines that have macros.

    Examples
    --------
    >>> templates = Templates.parse("U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB")
    >>> made = templates.expand([["the", "cat"]], np.array([0, 2]))
    >>> made.vocabulary.names
    ('U0:the', 'U1:_B-1/the', 'U0:cat', 'U1:the/cat')
    >>> made.states.codes.tolist()
    [0, 1, 2, 3]
    """

    text: str
    boundary: str = "mark"
    ends: bool = False
    path: str | None = field(default=None, repr=False, compare=False)
    states: tuple[Template, ...] = field(init=False, repr=False)
    steps: tuple[Template, ...] = field(init=False, repr=False)

    @classmethod
    def parse(cls, text: str, *, boundary: str = "mark", ends: bool = False, path: str | None = None) -> Templates:
        """Read the text of a template file."""
        return cls(text, boundary, ends, path)

    def __post_init__(self) -> None:
        require_choice("boundary", self.boundary, BOUNDARIES)
        if not isinstance(self.ends, bool):
            raise ArgumentError(f"The 'ends' argument must be True or False. Got {shown(self.ends)} instead.")
        if not isinstance(self.text, str):
            raise ArgumentError(f"A template must be a text, such as 'U0:%x[0,0]'. Got {shown(self.text)} instead.")
        lines = [(number, line.strip()) for number, line in enumerate(self.text.removeprefix("\ufeff").splitlines(), 1)]
        place = "Template" if self.path is None else f"The template file {self.path!r}"
        found = [
            _template(line, f"{place}, line {number}") for number, line in lines if line and not line.startswith("#")
        ]
        if not found:
            whole = "The template" if self.path is None else place
            raise ArgumentError(f"{whole} has no line that makes attributes. Add one, such as U0:%x[0,0].")
        object.__setattr__(self, "states", tuple(each for each in found if each.line.startswith("U")))
        object.__setattr__(self, "steps", tuple(each for each in found if each.line.startswith("B") and each.macros))

    def __repr__(self) -> str:
        more = "" if self.boundary == "mark" else f", boundary={self.boundary!r}"
        more += ", ends=True" if self.ends else ""
        return f"Templates({len(self.states):,} of positions, {len(self.steps):,} of steps{more})"

    def expand(
        self,
        columns: Sequence[Sequence[str]],
        offsets: NDArray[np.int64],
        vocabulary: Vocabulary | None = None,
        step_vocabulary: Vocabulary | None = None,
        n_buckets: int = 0,
    ) -> Expanded:
        """Return the attributes that the templates make.

        Parameters
        ----------
        columns : sequence of columns
            One text a position each; positions of all sequences, one after the other.
        offsets : array of int64, shape (n_sequences + 1,)
            Where each sequence begins.
        vocabulary, step_vocabulary : Vocabulary, optional
            Names that are not in them are left out. None makes them, in the order of first occurrence.
        n_buckets : int
            Where it is not zero, vocabularies that are made hash names into so many buckets.
        """
        require_whole("n_buckets", n_buckets)
        self._require_columns(columns, offsets)
        windows = Columns(columns, offsets, self.boundary == "omit")
        held = {BEGIN: windows.before == 0, END: windows.behind == 0} if self.ends else {}
        found = windows.attributes([(template.texts, template.macros) for template in self.states], held)
        if not self.steps:
            del windows  # which holds the columns in codes
            states, made, n_unknown, unknown = _rows(*found, vocabulary, n_buckets)
            return Expanded(states, made, n_unknown=n_unknown, unknown=unknown)
        names, places = windows.attributes([(template.texts, template.macros) for template in self.steps])
        places[windows.before == 0] = -1  # no step leads to a first position
        states, made, n_unknown, unknown = _rows(*found, vocabulary, n_buckets)
        steps, step_made, n_more, other = _rows(names, places, step_vocabulary, n_buckets)
        return Expanded(states, made, steps, step_made, n_unknown + n_more, unknown or other)

    def _require_columns(self, columns: Sequence[Sequence[str]], offsets: NDArray[np.int64]) -> None:
        n = int(offsets[-1])
        for number, column in enumerate(columns):
            if len(column) != n:
                raise DataError(
                    f"Column {number} has {plural(len(column), 'entry')}, but the sequences have "
                    f"{plural(n, 'position')}. Give one entry a position."
                )
        for template in self.states + self.steps:
            for _, column_idx in template.macros:
                if n and column_idx >= len(columns):
                    place = "The template" if self.path is None else f"The template file {self.path!r}:"
                    raise DataError(
                        f"{place} {template.line!r} asks for column {column_idx}, but there "
                        f"{'is' if len(columns) == 1 else 'are'} {plural(len(columns), 'column')}, counted from 0, the "
                        "labels aside. Correct the template, or add the column."
                    )


def _template(line: str, place: str) -> Template:
    """Read one line."""
    if line[0] not in "UB":
        raise ArgumentError(
            f"{place}: {shown(line)} begins with neither U nor B. Begin it with U for attributes of "
            "positions, with B for those of steps, or with # for a comment."
        )
    pieces = MACRO.split(line)
    texts, rows, columns = pieces[::3], pieces[1::3], pieces[2::3]
    for text in texts:
        if "%" in text:
            raise ArgumentError(
                f"{place}: {shown(text[text.index('%') :])} is no macro. Macros are %x[row,column], such as %x[-1,0]."
            )
    macros = tuple((int(row), int(column)) for row, column in zip(rows, columns, strict=True))
    far = [row for row, _ in macros if abs(row) > FARTHEST]
    if far:
        raise ArgumentError(
            f"{place}: a macro looks {abs(far[0]):,} rows away, where {FARTHEST:,} is the most. "
            "Correct its first number."
        )
    return Template(line, tuple(texts), macros)


def _rows(
    names: list[str], places: NDArray[np.int32], vocabulary: Vocabulary | None, n_buckets: int
) -> tuple[Attributes, Vocabulary, int, str]:
    """Return attributes by rows, their vocabulary, how many are not in it, and one; places has a row a position."""
    n_rows, n_each = places.shape
    n_none = np.count_nonzero(places < 0)
    unknown = first_unknown(names, places, vocabulary)
    codes, made = numbered(names, places.reshape(-1), vocabulary, n_buckets)
    n_unknown = int(np.count_nonzero(codes < 0) - n_none)
    return in_rows(codes, None, np.full(n_rows, n_each), len(made)), made, n_unknown, unknown
