"""Errors and notes in the words of a shell, whose parameters are not called as the keywords of `suffice.fit`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from suffice.errors import EstimationError, Made, Mention, Part, Passed, Remedy, SufficeError, Text
from suffice.result.fit import Fit
from suffice.sklearn.cases import Cases

OF_STATES = {
    "Add it to the schema, or pass unknown_states='missing'.": (
        Text("No class had it in training; to take it as missing, pass ", Remedy("unknown_states", "missing"), ".")
    ),
    ", or unseen_parents='uniform'": "",
    "prior=sf.Dirichlet(1.0)": Text(Remedy("smoothing", 1.0)),
    "'prior' argument of a joint table of classes": "'smoothing' argument",
    "'prior' argument of naive Bayes": "'smoothing' argument",
    "the structure's class_prior": "class_prior",
}
SMOOTHED = Text("Fit with ", Remedy("smoothing", 1.0), ", which leaves no state without probability.")


@contextmanager
def in_words(words: Mapping[str, str], cases: Cases | None = None) -> Iterator[None]:
    """Replace phrases in the messages of errors; where no estimate exists, say how much there was to learn from."""
    try:
        yield
    except SufficeError as error:
        message = _said(str(error), words)
        if isinstance(error, EstimationError) and cases is not None:
            message += f" {_size(cases)}"
        error.args = (message,)
        raise


def reworded(fit: Fit, words: Mapping[str, str]) -> Fit:
    """Return the fit with phrases replaced in its notes."""
    notes = tuple(replace(note, text=_said(note.text, words)) for note in fit.notes)
    return fit if notes == fit.notes else replace(fit, notes=notes)


def advised(fit: Fit, words: Mapping[str, Part]) -> Fit:
    """Return the fit with pieces of advice in its notes as a shell says them; other pieces stay what they are."""

    def say(part: Remedy | Passed | Mention | Made) -> Part:
        return words.get(part.what, part) if isinstance(part, Mention) else part

    texts = [note.text.change(say) if isinstance(note.text, Text) else note.text for note in fit.notes]
    return replace(fit, notes=tuple(replace(note, text=text) for note, text in zip(fit.notes, texts, strict=True)))


def _said(message: str, words: Mapping[str, str]) -> str:
    for phrase, other in words.items():
        message = message.replace(phrase, other)
    return message


def _size(cases: Cases) -> str:
    n, k = cases.inputs.n_rows, cases.target.n_states
    return (
        f"There {'is' if n == 1 else 'are'} {n:,} sample{'' if n == 1 else 's'} of {k:,} class{'' if k == 1 else 'es'}."
    )
