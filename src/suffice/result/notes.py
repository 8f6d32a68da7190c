"""Notes: every choice that was made on the way to a result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suffice.text import html_text
from suffice.types import Json


@dataclass(frozen=True)
class Note:
    """One thing that a reader of the result should know.

    Attributes
    ----------
    topic : str
        ``data``, ``estimate``, ``prior`` …
    text : str
    """

    topic: str
    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return html_text(f"{self.topic}: {self.text}")

    def to_dict(self) -> dict[str, Json]:
        """Return the note as JSON-able data."""
        return {"topic": self.topic, "text": self.text}


def notes_on(topic: str, remarks: Iterable[str]) -> tuple[Note, ...]:
    """Make notes on one topic."""
    return tuple(Note(topic, remark) for remark in remarks)
