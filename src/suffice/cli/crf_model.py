"""Models of ``suffice crf`` from files."""

from __future__ import annotations

from typing import Any

from suffice.errors import ArgumentError
from suffice.io.chain_file import TextLayout, load_chain


def read_tagger(path: str) -> tuple[Any, TextLayout]:
    """Read a model that can tag files, and what such files look like."""
    from suffice.sklearn.sequence_file import restored

    file = load_chain(path)
    if file.layout is None:
        raise ArgumentError(
            f"{path!r} was not learnt from a file, so that it is not known what its columns would be. Learn it by "
            "suffice crf fit, or tag in Python: sf.ChainCRF.load(…).predict(X)."
        )
    return restored(file, path), file.layout
