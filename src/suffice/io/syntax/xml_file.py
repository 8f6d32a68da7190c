"""XML that another program wrote, read without trust, as a light tree whose elements know their places.

Entities of a file's own, which can grow a short file without end, are refused, and nothing beyond the file is ever
opened. What formats take from the tree stands in `suffice.io.syntax.xml_parts`, how they write in
`suffice.io.syntax.xml_text`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from suffice.errors import FileFormatError
from suffice.io.text_file import LATIN_1, MAX_UNPACKED, TextFile, load_bytes
from suffice.text import shorten

MAX_DEPTH = 64
MAX_ELEMENTS = 2**22
SPACE = " \t\r\n"
DOCTYPE = "The document type that the file names, {!r}, was not opened; it is not needed."
BLANKS = "Blanks before the XML declaration were skipped."
ENCODINGS = {"iso-8859-1": "latin-1", "latin-1": "latin-1", "latin1": "latin-1", "iso-8859-15": "iso-8859-15"}
ENCODINGS |= {"windows-1252": "cp1252", "cp1252": "cp1252", "us-ascii": "utf-8", "ascii": "utf-8"}
# A file whose declaration can be read byte by byte is not in UTF-16, whatever it says.
ENCODINGS |= {"utf-8": "utf-8", "utf8": "utf-8", "utf-16": "utf-8", "utf-16le": "utf-8", "utf-16be": "utf-8"}
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_MARKS |= {b"<\x00": "utf-16-le", b"\x00<": "utf-16-be"}
_DECLARED = re.compile(rb"""\s*+<\?xml\b[^>]{0,200}?encoding\s*+=\s*+["']([\w.-]++)["']""")
_CONTINUATION = bytes(range(0x80, 0xC0))


@dataclass(slots=True)
class Element:
    """An element: its tag as written, its attributes, the elements and the text in it, and its place in the file."""

    tag: str
    attributes: dict[str, str]
    at: int
    children: list[Element] = field(default_factory=list)
    text: str = ""


def load_xml(path: str) -> tuple[TextFile, Element]:
    """Read a file, packed with gzip or not, in the encoding that it declares."""
    data = load_bytes(path)
    if len(data) > MAX_UNPACKED:
        raise FileFormatError(f"{path!r} has more than {MAX_UNPACKED:,} bytes, which is more than is read as XML.")
    file = _decoded(path, data)
    return _Builder(file).tree()


def _decoded(path: str, data: bytes) -> TextFile:
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None) or _declared(path, data)
    try:
        return TextFile(path, data.decode(encoding))
    except UnicodeDecodeError as error:
        if encoding.startswith("utf-16"):
            raise TextFile(path, "").error(
                0, f"The file begins as UTF-16 and is none at byte {error.start}. Write or copy it again."
            ) from None
        return TextFile(path, data.decode("latin-1"), (LATIN_1,))


def _declared(path: str, data: bytes) -> str:
    found = _DECLARED.match(data)
    if found is None:
        return "utf-8"
    name = found[1].decode("latin-1")
    if name.lower() not in ENCODINGS:
        raise TextFile(path, data[: found.end()].decode("latin-1")).error(
            found.start(1), f"The encoding {shorten(name)!r} is not known. Save the file as UTF-8, and declare that."
        )
    return ENCODINGS[name.lower()]


class _Builder:
    """Builds the tree while expat reads; whatever a network file has no need of and could do harm is an error."""

    def __init__(self, file: TextFile) -> None:
        self.file = file
        self.notes = list(file.notes)
        self.data = file.text.encode()
        self.start = len(self.data) - len(self.data.lstrip()) if self.data.lstrip().startswith(b"<?xml") else 0
        if self.start:
            self.notes.append(BLANKS)
        self.root = Element("", {}, 0)
        self.open = [self.root]
        self.pieces: list[list[str]] = [[]]
        self.n_elements = 0
        self.byte = self.character = 0

    def tree(self) -> tuple[TextFile, Element]:
        parser = self._parser()
        try:
            parser.Parse(memoryview(self.data)[self.start :], True)
        except expat.ExpatError as error:
            raise self.file.error(
                self._place(parser.ErrorByteIndex),
                f"This is not proper XML: {expat.ErrorString(error.code)}. Write or copy the file again.",
            ) from None
        return TextFile(self.file.path, self.file.text, tuple(self.notes)), self.root.children[0]

    def _parser(self) -> expat.XMLParserType:
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = 2**16
        # A long default in the document type, given to every element, would grow the file without end.
        parser.specified_attributes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._skipped
        parser.SkippedEntityHandler = self._skipped
        return parser

    def _place(self, byte: int) -> int:
        """Return the character at a byte of what is parsed; counting goes on from the last one asked for."""
        byte = max(self.start + byte, self.byte)
        self.character += len(self.data[self.byte : byte].translate(None, _CONTINUATION))
        self.byte = byte
        return self.character

    def _error(self, message: str) -> FileFormatError:
        return self.file.error(self._place(self.parser.CurrentByteIndex), message)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.n_elements += 1
        if len(self.open) > MAX_DEPTH:
            raise self._error(f"Elements are nested deeper than {MAX_DEPTH} here, which no network file needs.")
        if self.n_elements > MAX_ELEMENTS:
            raise self._error(f"The file has more than {MAX_ELEMENTS:,} elements, which is more than is read.")
        element = Element(tag, attributes, self._place(self.parser.CurrentByteIndex))
        self.open[-1].children.append(element)
        self.open.append(element)
        self.pieces.append([])

    def _end(self, tag: str) -> None:
        self.open.pop().text = "".join(self.pieces.pop())

    def _characters(self, piece: str) -> None:
        self.pieces[-1].append(piece)

    def _doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        if system or public:
            self.notes.append(DOCTYPE.format(shorten(system or public or "")))

    def _entity(self, name: str, *rest: Any) -> None:
        raise self._error(
            f"The file declares the entity {shorten(name)!r}. Entities of its own can grow a short file without end, "
            "or open other files, so that none are read. Remove the declaration and write the text itself."
        )

    def _skipped(self, name: str | None, *rest: Any) -> int:
        raise self._error(f"The entity {shorten(name or '')!r} stands in another file, and none is opened for it.")
