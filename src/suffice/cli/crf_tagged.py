"""Tagged sentences as lines of text, and as JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.cli.crf_model import Tagger
    from suffice.cli.crf_text import Sentences
    from suffice.types import Floats
    from suffice.values import Label

MARK = re.compile(r"# (?:(\d+) )?\d+(?:\.\d+)?(?:e[+-]\d+)?")
"""The line before a labelling: its rank, where there are several, and its probability."""
PROBABILITY = re.compile(r".+/[01]\.\d{6}", re.DOTALL)
"""What ``--marginals`` writes of a label."""
BLANKS = " \t\x0b\x0c"


@dataclass(frozen=True, eq=False)
class Tagged:
    """Sentences and what a model says of them.

    Attributes
    ----------
    text : list of str
        The lines that were read, those without a token among them.
    line_numbers : sequence of int
        The line of each token, from 1.
    lengths : list of int
    answers : list of list of (labels, log-probability or None)
        The labellings of each sentence, the most probable first.
    is_ranked : bool
        Whether several were asked for.
    classes : list of str
    probabilities : list of array, or None
        p of every label at every token, one array a sentence.
    """

    text: list[str]
    line_numbers: Sequence[int]
    lengths: Sequence[int]
    answers: list[list[tuple[list[Label], float | None]]]
    is_ranked: bool
    classes: list[str]
    probabilities: list[Floats] | None

    def lines(self, between: str | None) -> Iterator[str]:
        """Yield the lines as they were read, labels behind tokens; a blank one parts labellings of one sentence."""
        done = first = 0
        for number, (length, labellings) in enumerate(zip(self.lengths, self.answers, strict=True)):
            own = self.line_numbers[first : first + length]
            begin, end = own[0] - 1, own[-1]
            yield from self.text[done:begin]
            more = self._more(number, length)
            for rank, (labels, log_p) in enumerate(labellings):
                if rank:
                    yield ""
                if log_p is not None:
                    yield f"# {rank} {math.exp(log_p):.6g}" if self.is_ranked else f"# {math.exp(log_p):.6g}"
                lines = self.text[begin:end]
                for line_number, label, others in zip(own, labels, more, strict=True):
                    at = line_number - 1 - begin
                    lines[at] = _joined(lines[at], (str(label), *others), between)
                yield from lines
            done, first = end, first + length
        yield from self.text[done:]

    def _more(self, number: int, length: int) -> list[list[str]]:
        """Return what follows the labels of a sentence."""
        if self.probabilities is None:
            return [[]] * length
        rows = self.probabilities[number].tolist()
        return [[f"{label}/{p:.6f}" for label, p in zip(self.classes, row, strict=True)] for row in rows]

    def json_lines(self) -> Iterator[str]:
        """Yield the lines of a JSON document."""
        yield f'{{"labels": {json.dumps(self.classes, ensure_ascii=False)},'
        yield '"sentences": ['
        for number, labellings in enumerate(self.answers):
            found = [
                {"labels": labels, **({} if log_p is None else {"log_probability": log_p})}
                for labels, log_p in labellings
            ]
            entry: dict[str, Any] = {"n_best": found} if self.is_ranked else found[0]
            if self.probabilities is not None:
                entry["marginals"] = self.probabilities[number].tolist()
            comma = "," if number + 1 < len(self.answers) else ""
            yield json.dumps(entry, ensure_ascii=False) + comma
        yield "]}"


def _joined(line: str, fields: Sequence[str], between: str | None) -> str:
    r"""Return a line with some more columns.

    >>> _joined("the  DT ", ["B-NP"], None), _joined("the\tDT", ["B-NP"], None), _joined("a,b", ["c"], ",")
    ('the  DT B-NP', 'the\tDT\tB-NP', 'a,b,c')
    """
    if between is None:
        # Blanks at the end are no column, and the label would stand apart from the others.
        line, between = line.rstrip(BLANKS), "\t" if "\t" in line.strip(BLANKS) else " "
    return between.join((line, *fields) if line else fields)


def tagged(tagger: Tagger, sentences: Sentences, n_best: int | None, score: bool, marginals: bool) -> Tagged:
    """Tag sentences."""
    answers: list[list[tuple[list[Label], float | None]]]
    if n_best is not None or score:
        answers = [list(found) for found in tagger.n_best(sentences.inputs, n_best or 1)]
    else:
        answers = [[(labels, None)] for labels in tagger.predict(sentences.inputs)]
    probabilities = tagger.predict_proba(sentences.inputs) if marginals else None
    classes = [str(label) for label in tagger.classes_.tolist()]
    text, line_numbers = sentences.text()
    return Tagged(text, line_numbers, sentences.lengths, answers, n_best is not None, classes, probabilities)


def best_alone(lines: list[str], comment: str | None) -> list[str]:
    """Make blank what ``--score`` and ``--n-best`` write, and all labellings but the most probable.

    A token may be a # with a number behind it. So all sentences must begin with such a line, or none is taken for one.

    >>> best_alone(["# 0 0.9", "a D D", "", "# 1 0.1", "a D N"], None)
    ['', 'a D D', '', '', '']
    >>> best_alone(["# 1 1", "a 0 1", "", "b 0 0"], None)
    ['# 1 1', 'a 0 1', '', 'b 0 0']
    """
    found = []
    begins = is_best = True
    for line in lines:
        mark = MARK.fullmatch(line) if begins else None
        if not line.strip():
            begins, kept = True, line
        elif not begins:
            kept = line if is_best else ""
        elif mark is not None:
            begins, is_best, kept = False, not int(mark[1] or 0), ""
        elif comment and line.startswith(comment):
            kept = line
        else:
            return lines
        found.append(kept)
    return found if any(map(str.strip, found)) else lines
