"""Tagged sentences as lines of text, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any


@dataclass(frozen=True, eq=False)
class Tagged:
    """Sentences and what a model says of them.

    Attributes
    ----------
    columns : tuple of list of str
        What stood on the lines.
    lengths : list of int
    answers : list of list of (labels, log-probability or None)
        The labellings of each sentence, the most probable first.
    is_ranked : bool
        Whether several were asked for.
    classes : list of str
    probabilities : list of array, or None
        p of every label at every token, one array a sentence.
    """

    columns: tuple[list[str], ...]
    lengths: Sequence[int]
    answers: list[list[tuple[list[str], float | None]]]
    is_ranked: bool
    classes: list[str]
    probabilities: list[Any] | None

    def lines(self, between: str) -> Iterator[str]:
        """Yield the lines of a text, a blank one after each labelling."""
        rows = iter(zip(*self.columns, strict=True)) if self.columns else None
        for number, (length, labellings) in enumerate(zip(self.lengths, self.answers, strict=True)):
            own = [()] * length if rows is None else list(islice(rows, length))
            more = self._more(number, length)
            for rank, (labels, log_p) in enumerate(labellings):
                if log_p is not None:
                    yield f"# {rank} {math.exp(log_p):.6g}" if self.is_ranked else f"# {math.exp(log_p):.6g}"
                for row, label, others in zip(own, labels, more, strict=True):
                    yield between.join((*row, str(label), *others))
                yield ""

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


def tagged(tagger: Any, sentences: Any, n_best: int | None, score: bool, marginals: bool) -> Tagged:
    """Tag sentences."""
    answers: list[list[tuple[list[str], float | None]]]
    if n_best is not None or score:
        answers = [list(found) for found in tagger.n_best(sentences.inputs, n_best or 1)]
    else:
        answers = [[(labels, None)] for labels in tagger.predict(sentences.inputs)]
    probabilities = tagger.predict_proba(sentences.inputs) if marginals else None
    classes = [str(label) for label in tagger.classes_.tolist()]
    return Tagged(sentences.columns, sentences.lengths, answers, n_best is not None, classes, probabilities)
