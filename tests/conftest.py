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

# The workers of pytest already use every core: more threads for BLAS only cost time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Nothing in these tests may depend on how fast the machine is, or on what ran before. `make test` takes a quarter of
# the examples of each property, the same ones every time; `make test-full` takes all, from a seed that it prints.
settings.register_profile(
    "full", deadline=None, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("full"), derandomize=True)
settings.load_profile("quick")
FEWEST_EXAMPLES = 5


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


def _node() -> str | None:
    return None if shutil.which("node") else "node is not installed"


def _module(name: str) -> str | None:
    return None if importlib.util.find_spec(name) else f"the package {name} is not installed"


def postgres_programs() -> Path | None:
    """Return the folder of a server's programs: on the path, or where Debian has them."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders and (folders[-1] / "initdb").exists() else None


def without_sanitizers() -> dict[str, str]:
    """Return the environment for programs that are not ours: a sanitizer's libraries would make them fail, or wait."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


COMPONENTS = {"data": _data, "chromium": _chromium, "postgres": _postgres, "java": _java, "node": _node}
"""What tests may need: each says why it is absent, or None when it is there."""


def take_a_quarter_of_the_examples(items: list[pytest.Item]) -> None:
    """Divide the number of examples of each property by four; ``@settings(max_examples=…)`` gives the whole number."""
    properties = {item.obj for item in items if getattr(getattr(item, "obj", None), "is_hypothesis_test", False)}
    for function in {getattr(found, "__func__", found) for found in properties}:
        whole = function._hypothesis_internal_use_settings
        fewer = max(whole.max_examples // 4, min(whole.max_examples, FEWEST_EXAMPLES))
        function._hypothesis_internal_use_settings = settings(whole, max_examples=fewer)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if settings.get_current_profile_name() == "quick":
        take_a_quarter_of_the_examples(items)
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
