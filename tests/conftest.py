"""Components that tests may need: absent ones skip with a reason, or fail when ``SUFFICE_REQUIRE`` names them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("SUFFICE_DATA", ROOT.parent / "shared" / "data"))
REQUIRED = {name for name in os.environ.get("SUFFICE_REQUIRE", "").split(",") if name}

# Nothing in these tests may depend on how fast the machine is, or on what ran before.
settings.register_profile(
    "suffice", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suffice")


def component(name: str) -> str | None:
    """Return why a component is absent, or None when it is there."""
    if name == "data":
        return None if DATA.is_dir() else f"the shared data is not at {DATA} (set SUFFICE_DATA)"
    raise ValueError(f"unknown component {name!r}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in ("data",):
            if item.get_closest_marker(name) and (reason := component(name)):
                if name in REQUIRED:
                    item.add_marker(pytest.mark.usefixtures("missing_component"))
                else:
                    item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def missing_component() -> None:
    pytest.fail(f"SUFFICE_REQUIRE names a component that is absent: {[component(name) for name in REQUIRED]}")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    return DATA
