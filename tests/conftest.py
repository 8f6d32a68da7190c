"""Components that tests may need: absent ones skip with a reason, or fail when ``SUFFICE_REQUIRE`` names them."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("SUFFICE_DATA", ROOT.parent / "shared" / "data"))
REQUIRED = {name for name in os.environ.get("SUFFICE_REQUIRE", "").split(",") if name}

# A shell ignores Ctrl-C for what it starts in the background, and tests of interruption must not know.
with contextlib.suppress(ValueError):  # only the main thread may say so
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Nothing in these tests may depend on how fast the machine is, or on what ran before.
settings.register_profile(
    "suffice", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suffice")


def _data() -> str | None:
    return None if DATA.is_dir() else f"the shared data is not at {DATA} (set SUFFICE_DATA)"


def _chromium() -> str | None:
    absent = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{absent[0]} is not installed" if absent else _module("selenium")


def _postgres() -> str | None:
    if not postgres_programs():
        return "the programs of a PostgreSQL server are not installed"
    return _module("ibis") or _module("psycopg")


def _java() -> str | None:
    return "java is not installed" if shutil.which("java") is None else _module("pyspark")


def _module(name: str) -> str | None:
    return None if importlib.util.find_spec(name) else f"the package {name} is not installed"


def postgres_programs() -> Path | None:
    """Return the folder of a server's programs: on the path, or where Debian has them."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders and (folders[-1] / "initdb").exists() else None


COMPONENTS = {"data": _data, "chromium": _chromium, "postgres": _postgres, "java": _java}
"""What tests may need: each says why it is absent, or None when it is there."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    absent = {name: reason for name, find in COMPONENTS.items() if (reason := find())}
    for item in items:
        for name, reason in absent.items():
            if not item.get_closest_marker(name):
                continue
            if name in REQUIRED:
                item.add_marker(pytest.mark.usefixtures("missing_component"))
            else:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def missing_component() -> None:
    absent = [reason for name in sorted(REQUIRED & set(COMPONENTS)) if (reason := COMPONENTS[name]())]
    pytest.fail(f"SUFFICE_REQUIRE names a component that is absent: {absent}")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    return DATA
