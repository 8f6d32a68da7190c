"""Models of ``suffice crf`` from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.cli.crf_source import begins_with
from suffice.errors import ArgumentError, FileFormatError
from suffice.files import MAGIC, read_bytes
from suffice.io.chain_file import ChainFile, TextLayout, load_chain

if TYPE_CHECKING:
    from suffice.sklearn.chain_crf import ChainCRF
    from suffice.sklearn.memm import MEMM

    Tagger = ChainCRF | MEMM

CRFSUITE = b"lCRF"
"""What models of the program CRFsuite begin with."""


def read_chain(path: str, beside: str | None = None) -> ChainFile:
    """Read a model; ``beside`` is the file that it is to tag, which may have been named in its place."""
    if not begins_with(path, MAGIC):
        read_bytes(path)  # a file that cannot be read has an error of its own
        raise FileFormatError(f"{path!r} is not a model that suffice crf fit wrote. {_remedy(path, beside)}")
    return load_chain(path)


def _remedy(path: str, beside: str | None) -> str:
    if begins_with(path, CRFSUITE):
        return (
            "It is one of CRFsuite, which holds no word on how features are made. Learn anew from the same files by "
            "suffice crf fit TRAIN --attributes."
        )
    if beside is not None and begins_with(beside, MAGIC):
        return f"{beside!r} looks like one: the model comes first, and then the text."
    return "Learn one: suffice crf fit TRAIN --template FILE --out model.crf."


def read_tagger(path: str, beside: str) -> tuple[Tagger, TextLayout]:
    """Read a model that can tag files such as ``beside``, and what they look like."""
    from suffice.sklearn.sequence_file import restored

    file = read_chain(path, beside)
    if file.layout is None:
        raise ArgumentError(
            f"{path!r} was not learnt from a file, so that it is not known what its columns would be. Learn it by "
            "suffice crf fit, or tag in Python: sf.ChainCRF.load(…).predict(X)."
        )
    return restored(file, path), file.layout
