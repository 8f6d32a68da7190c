"""``python licences.py OUT [FILE …]``: gather the licences of what is linked into the kernels."""

from __future__ import annotations

import sys
from importlib import metadata, util
from pathlib import Path


def nanobind() -> str:
    """Return nanobind's licence, from its installation."""
    for file in metadata.files("nanobind") or ():
        if "LICENSE" in file.name:
            return file.read_text().strip()
    raise SystemExit("The installed nanobind has no licence file.")


def robin_map() -> str:
    """Return the licence of robin_map, which stands at the top of its header."""
    spec = util.find_spec("nanobind")
    assert spec is not None
    assert spec.origin is not None
    header = Path(spec.origin).parent / "ext" / "robin_map" / "include" / "tsl" / "robin_map.h"
    comment = header.read_text(encoding="utf-8").partition("*/")[0]
    return "\n".join(line.strip(" /*") for line in comment.splitlines()).strip()


def main(out: Path, files: list[Path]) -> None:
    """Write all of them into one file."""
    parts = {"nanobind": nanobind(), "robin_map": robin_map()}
    parts |= {file.parent.name: file.read_text(encoding="utf-8").strip() for file in files}
    titled = [f"{name}\n{'=' * len(name)}\n\n{text}\n" for name, text in parts.items()]
    out.write_text("The kernels of suffice contain code of these projects.\n\n" + "\n".join(titled), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
