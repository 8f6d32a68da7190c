"""Errors of the library in the words of a shell, whose parameters are not called as the keywords of `suffice.fit`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from suffice.errors import EstimationError, SufficeError
from suffice.sklearn.cases import Cases

OF_STATES = {
    "Add it to the schema, or pass unknown_states='missing'.": (
        "No class had it in training; to take it as missing, pass unknown_states='missing'."
    ),
    "prior=sf.Dirichlet(1.0)": "smoothing=1.0",
}


@contextmanager
def in_words(words: Mapping[str, str], cases: Cases | None = None) -> Iterator[None]:
    """Replace phrases in the messages of errors; where no estimate exists, say how much there was to learn from."""
    try:
        yield
    except SufficeError as error:
        message = str(error)
        for phrase, other in words.items():
            message = message.replace(phrase, other)
        if isinstance(error, EstimationError) and cases is not None:
            message += f" {_size(cases)}"
        error.args = (message,)
        raise


def _size(cases: Cases) -> str:
    n, k = cases.inputs.n_rows, cases.target.n_states
    return (
        f"There {'is' if n == 1 else 'are'} {n:,} sample{'' if n == 1 else 's'} of {k:,} class{'' if k == 1 else 'es'}."
    )
