"""TagScores: how predicted tags of sequences compare with the true ones, tag by tag and span by span."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from suffice.data.frame import to_native
from suffice.errors import (
    ArgumentError,
    DataError,
    UnknownNameError,
    is_number,
    listing,
    require_choice,
    shown,
    suggestion,
)
from suffice.result.tag_spans import SCHEMES, FlatTags, SpanReader, TagLists, scheme_of, spans
from suffice.text import fixed, html_table, plain_facts, plain_table, plural
from suffice.types import Frame, Ints, Json
from suffice.values import Label

__all__ = ["ScoreTable", "TagScore", "TagScores", "spans", "tag_scores"]
RATIOS = ("precision", "recall", "f1")
Cells = tuple[list[str], list[list[str]], str]


@dataclass(frozen=True)
class TagScore:
    """Numbers of true, found and right things, and the ratios that follow.

    Examples
    --------
    >>> score = TagScore(n_true=4, n_found=5, n_right=3)
    >>> score.precision, score.recall, round(score.f1, 4)
    (0.6, 0.75, 0.6667)
    """

    n_true: int = 0
    n_found: int = 0
    n_right: int = 0

    def __add__(self, other: TagScore) -> TagScore:
        return TagScore(self.n_true + other.n_true, self.n_found + other.n_found, self.n_right + other.n_right)

    @property
    def precision(self) -> float:
        """The part of those found that are right; 0 where nothing was found, as ``conlleval`` has it."""
        return _ratio(self.n_right, self.n_found)

    @property
    def recall(self) -> float:
        """The part of the true ones that were found; 0 where there are none."""
        return _ratio(self.n_right, self.n_true)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where both are."""
        return _ratio(2 * self.n_right, self.n_true + self.n_found)

    @property
    def support(self) -> int:
        """The number of true ones."""
        return self.n_true

    @property
    def _ratios(self) -> dict[str, float]:
        return dict(zip(RATIOS, (self.precision, self.recall, self.f1), strict=True))

    def to_dict(self) -> dict[str, Json]:
        """Return counts and ratios as JSON-able data."""
        counts: dict[str, Json] = {"n_true": self.n_true, "n_found": self.n_found, "n_right": self.n_right}
        return {**counts, **self._ratios}


@dataclass(frozen=True, eq=False)
class ScoreTable(Mapping[Label, TagScore]):
    """Scores by type of span or by tag: a mapping that prints as a table.

    Attributes
    ----------
    name : str
        What the rows are, ``"type"`` or ``"tag"``.
    scores : dict
        The score of each, in the order of their names.
    """

    name: str
    scores: dict[Label, TagScore] = field(repr=False)

    def __getitem__(self, key: Label) -> TagScore:
        if key not in self.scores:
            raise UnknownNameError(
                f"There is no {self.name} {shown(key)}. Those that occur are {listing(self.scores, 30)}."
                + suggestion(key, self.scores)
            )
        return self.scores[key]

    def __contains__(self, key: object) -> bool:
        return key in self.scores

    def __iter__(self) -> Iterator[Label]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __add__(self, other: ScoreTable) -> ScoreTable:
        names = _in_order({**self.scores, **other.scores})
        none = TagScore()
        return ScoreTable(self.name, {n: self.scores.get(n, none) + other.scores.get(n, none) for n in names})

    @property
    def total(self) -> TagScore:
        """All of them together."""
        return sum(self.scores.values(), TagScore())

    def to_dict(self) -> dict[str, dict[str, Json]]:
        """Return the table as JSON-able data."""
        return {str(name): score.to_dict() for name, score in self.scores.items()}

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a type or tag.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        scores = self.scores.values()
        counts = {"n_true": [score.n_true for score in scores], "n_found": [score.n_found for score in scores]}
        counts["n_right"] = [score.n_right for score in scores]
        columns: dict[str, Sequence[Label]] = {
            **counts,
            **{name: [score._ratios[name] for score in scores] for name in RATIOS},
        }
        return to_native({self.name: list(self.scores), **columns}, backend)

    def cells(self) -> Cells:
        """Lay out the scores for printing."""
        rows = [
            [
                str(name) or "(no type)",
                *(f"{count:,}" for count in (score.n_true, score.n_found, score.n_right)),
                *map(fixed, score._ratios.values()),
            ]
            for name, score in self.scores.items()
        ]
        return [self.name, "true", "found", "right", "precision", "recall", "F1"], rows, "<>>>>>>"

    def remarks(self) -> list[str]:
        """Say which ratios have nothing to divide by."""
        never = [name for name, score in self.scores.items() if not score.n_found]
        absent = [name for name, score in self.scores.items() if not score.n_true]
        said = [f"never found, so that the precision stands at 0: {listing(never)}"] if never else []
        return said + ([f"never true, so that the recall stands at 0: {listing(absent)}"] if absent else [])

    def __str__(self) -> str:
        return "\n".join([plain_table(*self.cells()), *self.remarks()])

    def _repr_html_(self) -> str:
        return html_table(*self.cells(), caption="; ".join(self.remarks()))


@dataclass(frozen=True, eq=False)
class TagScores:
    """How predicted tags compare with the true ones; those of two parts of the data add.

    Attributes
    ----------
    scheme : str
        How tags mark spans.
    n_sequences, n_sequences_right : int
        All sequences, and those without an error.
    n_tokens, n_tokens_right : int
        All tokens, and those whose tag is right.
    by_tag : ScoreTable
        Scores of every tag, counted in tokens.
    by_type : ScoreTable
        Scores of every type of span: right is a span of the same type, first and last token; empty without a scheme.
    """

    scheme: str
    n_sequences: int
    n_sequences_right: int
    n_tokens: int
    n_tokens_right: int
    by_tag: ScoreTable
    by_type: ScoreTable

    def __add__(self, other: TagScores) -> TagScores:
        if self.scheme != other.scheme:
            raise ArgumentError(
                f"These scores are of the schemes {self.scheme!r} and {other.scheme!r}, which do not add. Score both "
                "parts by one scheme."
            )
        return TagScores(
            self.scheme,
            self.n_sequences + other.n_sequences,
            self.n_sequences_right + other.n_sequences_right,
            self.n_tokens + other.n_tokens,
            self.n_tokens_right + other.n_tokens_right,
            self.by_tag + other.by_tag,
            self.by_type + other.by_type,
        )

    # Numbers --------------------------------------------------------------------------------------------------

    @property
    def has_spans(self) -> bool:
        """Whether tags mark spans."""
        return self.scheme != "none"

    @property
    def accuracy(self) -> float:
        """The part of the tokens whose tag is right; 0 without tokens."""
        return _ratio(self.n_tokens_right, self.n_tokens)

    @property
    def sequence_accuracy(self) -> float:
        """The part of the sequences without an error; 0 without sequences."""
        return _ratio(self.n_sequences_right, self.n_sequences)

    @property
    def spans(self) -> TagScore:
        """Spans of all types together."""
        return self.by_type.total

    @property
    def precision(self) -> float:
        """That of all spans; NaN without a scheme."""
        return self.spans.precision if self.has_spans else math.nan

    @property
    def recall(self) -> float:
        """That of all spans; NaN without a scheme."""
        return self.spans.recall if self.has_spans else math.nan

    @property
    def f1(self) -> float:
        """That of all spans; NaN without a scheme."""
        return self.spans.f1 if self.has_spans else math.nan

    def to_dict(self) -> dict[str, Json]:
        """Return all numbers as JSON-able data."""
        found: dict[str, Json] = {
            "scheme": self.scheme,
            "n_sequences": self.n_sequences,
            "n_sequences_right": self.n_sequences_right,
            "n_tokens": self.n_tokens,
            "n_tokens_right": self.n_tokens_right,
            "accuracy": self.accuracy,
            "sequence_accuracy": self.sequence_accuracy,
        }
        if self.has_spans:
            found |= {**self.spans.to_dict(), "by_type": self.by_type.to_dict()}
        return {**found, "by_tag": self.by_tag.to_dict()}

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a type of span, or one a tag where there are no spans.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        return self._shown.to_frame(backend)

    # Printing -------------------------------------------------------------------------------------------------

    @property
    def _shown(self) -> ScoreTable:
        return self.by_type if self.has_spans else self.by_tag

    @property
    def _title(self) -> str:
        return "Spans by type" if self.has_spans else "Tokens by tag"

    def facts(self) -> list[tuple[str, str]]:
        """List the totals as (name, value)."""
        found = [
            ("sequences", f"{self.n_sequences:,}, without an error {self.n_sequences_right:,}"),
            ("tokens", f"{self.n_tokens:,}, right {self.n_tokens_right:,}"),
            ("accuracy", fixed(self.accuracy) + ("" if self.n_tokens else ", as there are no tokens")),
        ]
        if self.has_spans:
            spans = self.spans
            found += [
                ("spans", f"true {spans.n_true:,}, found {spans.n_found:,}, right {spans.n_right:,}"),
                ("precision", fixed(spans.precision) + ("" if spans.n_found else ", as no span was found")),
                ("recall", fixed(spans.recall) + ("" if spans.n_true else ", as no span is true")),
                ("F1", fixed(spans.f1)),
            ]
        return found

    def __str__(self) -> str:
        return "\n".join([plain_facts(self.facts()), "", self._title, str(self._shown)])

    def _repr_html_(self) -> str:
        facts = html_table(["", ""], [list(fact) for fact in self.facts()], "<>")
        caption = "; ".join([self._title, *self._shown.remarks()])
        return facts + html_table(*self._shown.cells(), caption=caption)


def tag_scores(y_true: TagLists, y_pred: TagLists, *, scheme: str = "conll") -> TagScores:
    """Compare predicted tags of sequences with the true ones, tag by tag and span by span.

    Parameters
    ----------
    y_true, y_pred : list of list of str
        The tags of every sequence.
    scheme : {"conll", "iob1", "iob2", "iobes", "bilou", "none", "auto"}
        How tags mark spans. ``"conll"`` reads all of them as ``conlleval`` does; the others do the same, and refuse
        letters that they do not have. ``"none"``: tags are only tags, which need not be text. ``"auto"`` is
        ``"conll"`` where some tag marks a span and no tag speaks against it, and ``"none"`` elsewhere.

    Returns
    -------
    TagScores

    Examples
    --------
    >>> true = [["B-NP", "I-NP", "B-VP", "O"], ["B-NP", "B-NP"]]
    >>> found = [["B-NP", "I-NP", "I-VP", "O"], ["B-NP", "I-NP"]]
    >>> scores = tag_scores(true, found)
    >>> print(scores)
    sequences  2, without an error 0
    tokens     6, right 4
    accuracy   0.6667
    spans      true 4, found 3, right 2
    precision  0.6667
    recall     0.5000
    F1         0.5714
    <BLANKLINE>
    Spans by type
    type  true  found  right  precision  recall      F1
    ----  ----  -----  -----  ---------  ------  ------
    NP       3      2      1     0.5000  0.3333  0.4000
    VP       1      1      1     1.0000  1.0000  1.0000
    >>> scores.by_tag["B-NP"].recall
    0.6666666666666666
    """
    require_choice("scheme", scheme, ("auto", *SCHEMES))
    true, found = FlatTags.of("y_true", y_true), FlatTags.of("y_pred", y_pred)
    _require_same_shape(true, found)
    names = _distinct(true, found)
    scheme = scheme_of(scheme, names)
    index = {name: code for code, name in enumerate(names)}
    t, p = true.coded(index), found.coded(index)
    right = t == p
    by_tag, by_type = _counted("tag", names, t, p, t[right]), ScoreTable("type", {})
    if scheme != "none":
        by_type = _by_type(SpanReader.of(names, scheme, true, found), t, p, true.offsets)
    n_wrong = np.concatenate([np.zeros(1, np.int64), np.cumsum(~right)])
    n_clean = int((np.diff(n_wrong[true.offsets]) == 0).sum())
    return TagScores(scheme, true.n_sequences, n_clean, len(t), int(right.sum()), by_tag, by_type)


def _distinct(*sources: FlatTags) -> list[Label]:
    return _in_order(itertools.chain.from_iterable(source.distinct() for source in sources))


def _in_order(names: Iterable[Label]) -> list[Label]:
    """Sort numbers as numbers and text as text, each name once."""

    def key(name: Label) -> tuple[int, Label]:
        return (0, name) if is_number(name) else (1, str(name))

    return sorted(dict.fromkeys(names), key=key)


def _require_same_shape(true: FlatTags, found: FlatTags) -> None:
    if true.n_sequences != found.n_sequences:
        raise DataError(
            f"The 'y_true' argument has {plural(true.n_sequences, 'sequence')}, but 'y_pred' has "
            f"{found.n_sequences:,}. Give the tags of the same sequences."
        )
    sizes, others = np.diff(true.offsets), np.diff(found.offsets)
    if (sizes != others).any():
        at = int(np.argmax(sizes != others))
        raise DataError(
            f"Sequence {at + 1} has {plural(int(sizes[at]), 'tag')} in 'y_true', but {others[at]:,} in 'y_pred'. Give "
            "one tag a token in both."
        )


def _by_type(reader: SpanReader, t: Ints, p: Ints, offsets: Ints) -> ScoreTable:
    """Count the spans of each type; one is right where type, first and last token agree."""
    kind, first, last = reader.spans(t, offsets)
    found, found_first, found_last = reader.spans(p, offsets)
    kind_at, last_at = np.full((2, len(t)), -1)
    kind_at[found_first], last_at[found_first] = found, found_last
    right = (kind_at[first] == kind) & (last_at[first] == last)
    return _counted("type", reader.kinds, kind, found, kind[right])


def _counted(name: str, names: Sequence[Label], true: Ints, found: Ints, right: Ints) -> ScoreTable:
    counts = (np.bincount(codes, minlength=len(names)).tolist() for codes in (true, found, right))
    return ScoreTable(name, {key: TagScore(*row) for key, *row in zip(names, *counts, strict=True)})


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
