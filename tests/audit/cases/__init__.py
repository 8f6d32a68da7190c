"""Cases of `tests.audit.reproductions`: one file per topic, each with a literal tuple ``CASES``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One reproduction.

    Attributes
    ----------
    name : str
        What is tried, in a few words; unique.
    run : callable
        Tries it, in an empty folder that is the working directory.
    wants : Any
        What ``run`` returns when all is well; or the class of the error that it raises then.
    words : tuple of str
        What the message of that error contains.
    """

    name: str
    run: Callable[[], Any]
    wants: Any
    words: tuple[str, ...] = ()


def wrong_with(case: Case) -> str | None:
    """Run a case here, in the working directory; return what is not as wanted, or None."""
    wants_error = isinstance(case.wants, type) and issubclass(case.wants, Exception)
    try:
        found = case.run()
    except Exception as error:
        if not wants_error or not isinstance(error, case.wants):
            return f"raised {type(error).__name__}: {str(error)[:200]}"
        absent = [word for word in case.words if word not in str(error)]
        return f"the message lacks {absent[0]!r}: {str(error)[:300]}" if absent else None
    if wants_error:
        return f"returned {repr(found)[:200]}, where {case.wants.__name__} was wanted"
    return None if found == case.wants else f"returned {repr(found)[:200]}, where {case.wants!r} was wanted"
