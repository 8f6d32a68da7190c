"""From a path, a glob or a folder to the files it names."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from suffice.errors import DataError, FileAccessError


def names_files(data: object, endings: tuple[str, ...]) -> bool:
    """Whether ``data`` is a path or glob with one of the endings, a folder of such files, or several of them."""
    if isinstance(data, list | tuple) and data and all(isinstance(entry, str | os.PathLike) for entry in data):
        return all(names_files(entry, endings) for entry in data)
    if not isinstance(data, str | os.PathLike):
        return False
    text = os.fspath(data)
    return text.lower().endswith(endings) or (_is_folder(text) and bool(_inside(text, endings)))


def expand(data: Any, endings: tuple[str, ...]) -> list[Path]:
    """Return the files in order of their names, of several entries in their order; at least one."""
    if isinstance(data, list | tuple):
        found = [path for entry in data for path in expand(entry, endings)]
        real = [os.path.realpath(path) for path in found]
        if len(set(real)) < len(real):
            twice = next(path for path, one in zip(found, real, strict=True) if real.count(one) > 1)
            raise DataError(f"The file {str(twice)!r} is named twice, and would count twice. Name it once.")
        return found
    text = os.fspath(data)
    if _is_folder(text):
        inside = _inside(text, endings)
        if not inside:
            raise FileAccessError(f"The folder {text!r} holds no files that end in {' or '.join(endings)}.")
        return inside
    if glob.has_magic(text) and not os.path.exists(text):
        found = sorted(Path(name) for name in glob.glob(text, recursive=True))
        if not found:
            raise FileAccessError(f"No file matches {text!r}.")
        files = [file for path in found for file in (_inside(str(path), endings) if path.is_dir() else [path])]
        return list({os.path.realpath(file): file for file in files}.values())  # a folder may match, and its files, too
    return [Path(text)]


def called(data: Any) -> str:
    """Return what to call a path or several of them."""
    return Path(data[0] if isinstance(data, list | tuple) else data).name


def _is_folder(text: str) -> bool:
    try:
        return os.path.isdir(text)
    except ValueError:  # a path with a NUL byte
        return False


def _inside(folder: str, endings: tuple[str, ...]) -> list[Path]:
    # Names that begin with a dot or an underscore are marks of other programs, such as _SUCCESS.
    try:
        return sorted(
            path
            for path in Path(folder).rglob("*")
            if path.name.lower().endswith(endings) and not path.name.startswith((".", "_")) and path.is_file()
        )
    except OSError as error:
        raise FileAccessError(f"Cannot read the folder {folder!r}: {error.strerror or error}.") from None
