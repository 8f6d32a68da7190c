"""Errors and notes in the words of a shell, whose parameters are not called as the keywords of `suffice.fit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from suffice.errors import EstimationError, Made, Mention, Part, Passed, Remedy, SufficeError, Text, Value, the_argument
from suffice.optimise.outcome import MORE_STEPS
from suffice.result.fit import Fit
from suffice.sklearn.cases import Cases

Argument = Callable[[Value], tuple[str, Value] | None]
"""What an argument of the library, with its value, is among the parameters of a shell; None where it is nothing."""


@dataclass(frozen=True)
class Words:
    """How a shell says parts of a message.

    Attributes
    ----------
    arguments : mapping
        What arguments of the library are called here.
    phrases : mapping
        Other words for what a `Mention` is of; those of what a name stands for take their names from ``arguments``.

    Examples
    --------
    >>> print(OF_STATES(Remedy("prior", Made("Dirichlet", (1.0,)))))
    smoothing=1.0
    """

    arguments: Mapping[str, Argument] = field(default_factory=dict)
    phrases: Mapping[str, Part | None] = field(default_factory=dict)

    def __call__(self, part: Remedy | Passed | Mention | Made) -> Part | None:
        """Return how the shell says a part; None where it has nothing of the kind."""
        if isinstance(part, Mention):
            return self.phrases.get(part.what, part)
        if isinstance(part, Made):
            named = self._named("prior", part)
            return Remedy(*named) if named and named[0] != "smoothing" and "prior" in self.arguments else part
        first = self._named(part.argument, part.value)
        if isinstance(part, Passed):
            return first and Passed(*first)
        others = [self._named(name, value) for name, value in part.beside]
        beside = tuple(other for other in others if other is not None)
        return first and replace(part, argument=first[0], value=first[1], beside=beside)

    def _named(self, name: str, value: Value) -> tuple[str, Value] | None:
        return self.arguments[name](value) if name in self.arguments else (name, value)

    def beside(self, **phrases: Part | None) -> Words:
        """Return the words with others for some phrases."""
        return replace(self, phrases={**self.phrases, **phrases})


def no_parameter(value: Value) -> None:
    """Say of an argument that there is no parameter for it."""


def _smoothing(prior: Value) -> tuple[str, Value]:
    """Return the parameter of a prior: of a Dirichlet one its pseudo-count."""
    plain = isinstance(prior, Made) and prior.name == "Dirichlet" and len(prior.args) == 1
    return "smoothing", prior.args[0] if isinstance(prior, Made) and plain else prior


OF_STATES = Words(
    {"prior": _smoothing, "unseen_parents": no_parameter},
    {
        "prior": the_argument("smoothing"),
        "the structure's class_prior": "class_prior",
        "unknown state": "No class had it in training; to take it as missing, pass ",
    },
)
SEARCH: Mapping[str, Part] = {"larger tolerance": "try a larger tol or another method", "more steps": MORE_STEPS}
"""What shells with ``max_iter``, ``tol`` and ``method`` say of searches that ended early."""
SMOOTHED = Text("Fit with ", Remedy("smoothing", 1.0), ", which leaves no state without probability.")


@contextmanager
def in_words(words: Words, cases: Cases | None = None) -> Iterator[None]:
    """Say errors in the words of a shell; where no estimate exists, say how much there was to learn from."""
    try:
        yield
    except SufficeError as error:
        message = _said(error.message, words)
        if isinstance(error, EstimationError) and cases is not None:
            message = Text(message, f" {_size(cases)}")
        error.args = (message,)
        raise


def advised(fit: Fit, words: Words) -> Fit:
    """Return the fit with its notes in the words of a shell."""
    notes = tuple(replace(note, text=_said(note.text, words)) for note in fit.notes)
    return fit if notes == fit.notes else replace(fit, notes=notes)


@contextmanager
def renamed(nouns: Mapping[str, str]) -> Iterator[None]:
    """Call by other names, in errors, what the data consists of."""
    try:
        yield
    except SufficeError as error:
        message = str(error)
        for noun, other in nouns.items():
            message = message.replace(noun, other)
        error.args = (message,)
        raise


def _said(message: str, words: Words) -> str:
    return message.change(words) if isinstance(message, Text) else message


def _size(cases: Cases) -> str:
    n, k = cases.inputs.n_rows, cases.target.n_states
    return (
        f"There {'is' if n == 1 else 'are'} {n:,} sample{'' if n == 1 else 's'} of {k:,} class{'' if k == 1 else 'es'}."
    )
