"""``python tests/packages.py FOLDER``: the wheel, the packed sources and the wheel made of them hold what they must."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

NATIVE = "suffice/native/"


def names_of_wheel(path: Path) -> set[str]:
    """Return the names of the files of a wheel."""
    with zipfile.ZipFile(path) as wheel:
        return set(wheel.namelist())


def names_of_sources(path: Path) -> set[str]:
    """Return the names of the packed files, without the first folder."""
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def faults(folder: Path) -> list[str]:
    """Say what is missing, or where it should not be."""
    (wheel,), (again,) = folder.glob("*.whl"), (folder / "again").glob("*.whl")
    (sources,) = folder.glob("*.tar.gz")
    built, rebuilt, packed = names_of_wheel(wheel), names_of_wheel(again), names_of_sources(sources)
    subjects = Path("src/suffice/native/subjects.txt").read_text(encoding="utf-8").split()
    found = [f"{name} is in one wheel only" for name in sorted(built ^ rebuilt)]
    page = [f"suffice/report/web/{file.name}" for file in sorted(Path("src/suffice/report/web").iterdir())]
    stubs = [f"{NATIVE}{subject}.pyi" for subject in subjects]
    for name in ["suffice/py.typed", NATIVE + "LICENSES.txt", *stubs, *page]:
        found += [f"{name} is not in the wheel"] if name not in built else []
        if not name.endswith("LICENSES.txt"):
            found += [f"{name} is not in the packed sources"] if f"src/{name}" not in packed else []
    for subject in subjects:
        if not any(name.startswith(f"{NATIVE}{subject}.") and name.endswith((".so", ".pyd")) for name in built):
            found.append(f"the kernels of {subject} are not in the wheel")
        if f"src/{NATIVE}{subject}.cpp" not in packed:
            found.append(f"the source of {subject} is not in the packed sources")
    found += [f"{name} should not be in the wheel" for name in sorted(built) if name.endswith((".cpp", ".hpp"))]
    return found + [f"{name} should not be packed" for name in sorted(packed) if name.endswith((".so", ".pyd", ".pyc"))]


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print("\n".join(wrong) or "The wheel and the packed sources are complete.")
    sys.exit(1 if wrong else 0)
