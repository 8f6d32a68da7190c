"""From a path, a glob or a folder to the files it names."""

from __future__ import annotations

import fnmatch
import glob
import os
from pathlib import Path
from urllib.parse import unquote

from suffice.errors import DataError, FileAccessError
from suffice.types import PathLike

Paths = PathLike | list[PathLike] | tuple[PathLike, ...]
"""One path, glob or folder, or several of them."""


def names_files(data: object, endings: tuple[str, ...]) -> bool:
    """Whether ``data`` is a path or glob with one of the endings, a folder of such files, or several of them."""
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(e, str | os.PathLike) and names_files(e, endings) for e in data)
    if not isinstance(data, str | os.PathLike):
        return False
    text = os.fspath(data)
    return text.lower().endswith(endings) or (_is_folder(text) and bool(_inside(text, endings)))


def expand(data: Paths, endings: tuple[str, ...]) -> list[Path]:
    """Return the files in order of their names, of several entries in their order; at least one."""
    if isinstance(data, list | tuple):
        found = [path for entry in data for path in expand(entry, endings)]
        real = [os.path.realpath(path) for path in found]
        if len(set(real)) < len(real):
            twice = next(path for path, one in zip(found, real, strict=True) if real.count(one) > 1)
            raise DataError(f"The file {str(twice)!r} is named twice, and would count twice. Name it once.")
        return found
    text = os.fspath(data)
    _require_name(text)
    if _is_folder(text):
        inside = _inside(text, endings)
        if not inside:
            raise FileAccessError(f"The folder {text!r} holds no files that end in {' or '.join(endings)}.")
        return inside
    if glob.has_magic(text) and not os.path.exists(text):
        matches = sorted(Path(name) for name in glob.glob(text, recursive=True))
        found = [path for path in matches if not _is_hidden_match(path, text)]
        if not found:
            raise FileAccessError(f"No file matches {text!r}.")
        files = [file for path in found for file in (_inside(str(path), endings) if path.is_dir() else [path])]
        for folder in dict.fromkeys(str(file.parent) for file in files):
            refuse_lake(folder)
        return list({os.path.realpath(file): file for file in files}.values())  # a folder may match, and its files, too
    return [Path(text)]


def _require_name(text: str) -> None:
    """Refuse what cannot be the name of a file on any system."""
    try:
        proper = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        proper = False
    if not proper:
        raise FileAccessError(
            f"Cannot read {text!r}: a file's name has no NUL character and no half of a surrogate pair. Check the path."
        )


def called(data: Paths) -> str:
    """Return what to call a path or several of them."""
    return Path(data[0] if isinstance(data, list | tuple) else data).name


def local(path: str | Path) -> str:
    """Return the path of a file whose address says that it is on this machine, and other addresses as they are."""
    text = os.fspath(path)
    for mark in ("file://", "file:"):
        if text.startswith(mark):
            return unquote(text.removeprefix(mark))
    return text


def _is_folder(text: str) -> bool:
    try:
        return os.path.isdir(text)
    except ValueError:  # a path with a NUL byte
        return False


def _inside(folder: str, endings: tuple[str, ...]) -> list[Path]:
    """List the files of a folder and of the folders in it, hidden ones left out."""
    refuse_lake(folder)
    found: list[Path] = []
    faults: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=faults.append):
        if {"_delta_log", "metadata"} & set(folders):
            refuse_lake(parent)
        folders[:] = [name for name in folders if not _is_hidden(name)]
        named = [name for name in names if name.lower().endswith(endings) and not _is_hidden(name)]
        found += [path for name in named if (path := Path(parent, name)).is_file()]
    if faults:
        where = str(faults[0].filename or folder)
        raise FileAccessError(f"Cannot read the folder {where!r}: {faults[0].strerror or faults[0]}.")
    return sorted(found)


def _is_hidden(name: str) -> bool:
    """Whether a name is a mark of another program, or its unfinished work, such as _SUCCESS and _temporary."""
    return name.startswith((".", "_"))


def _is_hidden_match(path: Path, pattern: str) -> bool:
    """Whether a path that a pattern matches has a hidden part that the pattern does not name itself."""
    asked = [part for part in Path(pattern).parts if _is_hidden(part)]
    return any(
        _is_hidden(part) and part not in (".", "..") and not any(fnmatch.fnmatch(part, one) for one in asked)
        for part in path.parts
    )


def refuse_lakes(paths: Paths) -> None:
    """Refuse the folders of Delta and Iceberg tables among paths or addresses that an engine reads by itself."""
    for path in paths if isinstance(paths, list | tuple) else [paths]:
        text = local(os.fspath(path)) if isinstance(path, str | os.PathLike) else ""
        if text and _is_folder(text):
            refuse_lake(text)


def refuse_lake(folder: str) -> None:
    """Refuse a folder of a Delta or Iceberg table: its files include rows that were deleted or replaced since."""
    place = os.path.abspath(folder)
    while True:
        if os.path.isdir(os.path.join(place, "_delta_log")):
            raise DataError(
                f"The folder {place!r} is a Delta table, whose files include rows that were deleted or replaced since. "
                f"Read it by its log: deltalake.DeltaTable({place!r}).to_pyarrow_dataset() is data like any other."
            )
        if glob.glob(os.path.join(glob.escape(place), "metadata", "*.metadata.json*")):
            newest = os.path.join(place, "metadata", "….metadata.json")
            raise DataError(
                f"The folder {place!r} is an Iceberg table, whose files include rows that were deleted or replaced "
                "since. Read it by its newest metadata: pyiceberg.table.StaticTable.from_metadata("
                f"{newest!r}).scan().to_arrow() is data like any other."
            )
        name = os.path.basename(place)
        if "=" not in name and name != "data":  # parts of such a table, which lie in it
            return
        place = os.path.dirname(place)
