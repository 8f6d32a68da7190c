"""The build backend: scikit-build-core, with a compiler from the package registry where the machine has none.

``python build_tools/backend.py`` builds the kernels in place, next to their sources, as an editable installation does,
and compiles only what was edited since. ``python build_tools/backend.py sdist FOLDER`` packs the sources.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib import util
from pathlib import Path
from typing import Any

from scikit_build_core import build as core

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

COMPILERS = ("c++", "g++", "clang++", "cl")
ZIG = "ziglang>=0.13"
ROOT = Path(__file__).resolve().parents[1]
PURE = {"wheel.cmake": "false", "wheel.py-api": "py3"}
"""Settings for a wheel that only points to the sources."""
Settings = dict[str, Any] | None


def has_compiler() -> bool:
    """Whether the machine has a C++ compiler of its own, or the caller named one."""
    return bool(os.environ.get("CXX")) or any(shutil.which(name) for name in COMPILERS)


def require_headers() -> None:
    """Raise, with the package to install, unless the headers of this Python are there."""
    header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if not header.exists():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SystemExit(
            f"suffice compiles its kernels when it is installed, and the headers of Python {version} are missing "
            f"({header}). Install them: 'apt-get install python{version}-dev' on Debian and Ubuntu, "
            f"'dnf install python{version}-devel' on Fedora, 'apk add python3-dev' on Alpine; or use a Python that "
            "brings its headers, such as one from python.org, conda or uv."
        )


@contextlib.contextmanager
def compiler() -> Iterator[None]:
    """Let CMake use zig's C++ compiler meanwhile, unless there is another one."""
    require_headers()
    if has_compiler():
        yield
        return
    # CMake remembers where its compiler is, so that this folder has to outlive the build.
    folder = ROOT / "build" / "zig"
    folder.mkdir(parents=True, exist_ok=True)
    tools = {name: _wrapper(folder, name) for name in ("cc", "c++", "ar", "ranlib")}
    names = {"CC": "cc", "CXX": "c++", "AR": "ar", "RANLIB": "ranlib"}
    before = {name: os.environ.get(name) for name in [*names, "CMAKE_ARGS"]}
    os.environ.update({name: str(tools[tool]) for name, tool in names.items()})
    # CMake asks the environment for compilers only.
    given = [f"-DCMAKE_AR={tools['ar']}", f"-DCMAKE_RANLIB={tools['ranlib']}", "-DSUFFICE_ZIG=ON"]
    os.environ["CMAKE_ARGS"] = shlex.join([*shlex.split(before["CMAKE_ARGS"] or ""), *given])
    print("suffice: no C++ compiler was found, so the kernels are compiled by zig (about two minutes).", flush=True)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _wrapper(folder: Path, name: str) -> Path:
    """Write a script that calls one of zig's tools, since CMake wants a file."""
    windows = sys.platform == "win32"
    path = folder / f"zig-{name}{'.bat' if windows else ''}"
    call = f'"{sys.executable}" -m ziglang {name}'
    fresh = folder / f"{path.name}.{os.getpid()}"  # another build may be reading the old one
    fresh.write_text(f"@{call} %*\r\n" if windows else f'#!/bin/sh\nexec {call} "$@"\n', encoding="utf-8")
    fresh.chmod(fresh.stat().st_mode | stat.S_IXUSR)
    fresh.replace(path)
    return path


def build_in_place() -> None:
    """Compile the kernels into the folder of their sources."""
    tools, folder = [sys.executable, "-m", "cmake"], ROOT / "build" / "native"
    if util.find_spec("cmake") is None:
        tools = [shutil.which("cmake") or "cmake"]
    configure = [*tools, "-S", str(ROOT), "-B", str(folder), "-DSUFFICE_IN_PLACE=ON", *_generator()]
    with compiler(), _one_at_a_time(folder.parent):
        if not _is_configured(folder):
            shutil.rmtree(folder, ignore_errors=True)
            given = shlex.split(os.environ.get("CMAKE_ARGS", ""))
            _run([*configure, f"-DPython_EXECUTABLE={sys.executable}", f"-DSUFFICE_TOOLS={_tools()}", *given])
        _run([*tools, "--build", str(folder)])


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other process compiles here."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "native.lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_configured(folder: Path) -> bool:
    cache = folder / "CMakeCache.txt"
    return cache.exists() and f"={_tools()}\n" in cache.read_text(encoding="utf-8")


def _tools() -> str:
    """Return where Python and nanobind are, and which compiler was asked for.

    Installers put nanobind into a new folder every time.
    """
    found = util.find_spec("nanobind")
    return f"{sys.prefix}:{found.origin if found else None}:{os.environ.get('CXX', '')}"


def _generator() -> list[str]:
    program = shutil.which("ninja")
    if program is None and util.find_spec("ninja") is not None:
        program = str(Path(sysconfig.get_path("scripts")) / "ninja")
    return [] if program is None else ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={program}"]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{done.stderr}\nThe kernels of suffice could not be compiled; see above.")


# What installers call ------------------------------------------------------------------------------------------


def _requires(found: list[str]) -> list[str]:
    return found if has_compiler() else [*found, ZIG]


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what a build needs."""
    return _requires(core.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Return what a build in place needs."""
    return _requires(core.get_requires_for_build_editable(config_settings))


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    """Return what packing the sources needs."""
    return core.get_requires_for_build_sdist(config_settings)


def build_wheel(directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build a wheel."""
    with compiler():
        return core.build_wheel(directory, config_settings, metadata_directory)


def prepare_metadata_for_build_editable(directory: str, config_settings: Settings = None) -> str:
    """Write the metadata of that wheel."""
    return core.prepare_metadata_for_build_editable(directory, {**(config_settings or {}), **PURE})


def build_editable(directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build the kernels in place, and a wheel that points here."""
    build_in_place()
    return core.build_editable(directory, {**(config_settings or {}), **PURE}, metadata_directory)


def build_sdist(directory: str, config_settings: Settings = None) -> str:
    """Pack the sources."""
    return core.build_sdist(directory, config_settings)


prepare_metadata_for_build_wheel = core.prepare_metadata_for_build_wheel


if __name__ == "__main__":
    if sys.argv[1:2] == ["sdist"]:
        build_sdist(sys.argv[2])
    else:
        build_in_place()
