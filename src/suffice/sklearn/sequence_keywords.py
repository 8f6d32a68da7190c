"""Keywords that users of sklearn-crfsuite bring, and what they are called here."""

from __future__ import annotations

from collections.abc import Iterable

from suffice.errors import ArgumentError, Remedy, Text, suggestion

THEIRS = {
    "algorithm": "Pass method=, which is 'auto', 'lbfgs', 'owlqn', 'sgd' or 'adagrad'",
    "all_possible_states": Text("Pass ", Remedy("states", "all"), " or ", Remedy("states", "observed")),
    "all_possible_transitions": Text("Pass ", Remedy("transitions", "all"), " or ", Remedy("transitions", "observed")),
    "max_iterations": "Pass max_iter=",
    "epsilon": "Pass tol=",
    "delta": "Pass tol=",
    "period": "Learning stops early by fit(X, y, X_dev=…, y_dev=…) and patience=",
    "verbose": "Pass progress=True",
    "model_filename": "Write the tagger by save(path)",
    "keep_tempfiles": "Write the tagger by save(path)",
}


class KeywordError(ArgumentError, TypeError):
    """A call has an argument that does not exist, or not at this place."""


def require_none(shell: str, unknown: Iterable[str], known: Iterable[str]) -> None:
    """Refuse parameters that a shell does not have, and name those that it has instead.

    >>> require_none("ChainCRF", ["max_iterations"], ["max_iter"])
    Traceback (most recent call last):
    ...
    suffice.sklearn.sequence_keywords.KeywordError: ChainCRF has no parameter 'max_iterations'. Pass max_iter= instead.
    """
    for name in unknown:
        if name in THEIRS:
            raise KeywordError(f"{shell} has no parameter {name!r}. ", THEIRS[name], " instead.")
        raise KeywordError(
            f"{shell} has no parameter {name!r}. Leave it out; the parameters are {', '.join(known)}."
            + suggestion(name, known)
        )
