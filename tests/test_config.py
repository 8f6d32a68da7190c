"""Settings of the whole library: sizes of memory as people write them, threads, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from suffice.errors import ArgumentError
from suffice.settings import config, settings


@pytest.fixture(autouse=True)
def restored():
    """Every test leaves the settings as it found them."""
    before = settings()
    yield before
    config(threads=before.threads, memory=before.memory)
    assert settings() == before


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("1B", 1),
        ("4GB", 4 * 10**9),
        ("4gb", 4 * 10**9),
        (" 4 GB ", 4 * 10**9),
        ("2kB", 2000),
        ("3MB", 3 * 10**6),
        ("512MiB", 512 * 2**20),
        ("1KiB", 1024),
        ("1.5GiB", 3 * 2**29),
        (".5GB", 5 * 10**8),
        (12345, 12345),
        (1e9, 10**9),
        (np.int64(10**10), 10**10),
        (2**40, 2**40),
    ],
)
def test_memory_is_read_as_people_write_it(text, size):
    assert config(memory=text).memory == size
    assert isinstance(settings().memory, int)


@pytest.mark.parametrize(
    "memory",
    [
        *("", "GB", "4XB", "4 G B", "-4GB", "1.2.3GB", "0", "0GB", "0.5", "four", "4GB extra", "4,5GB", "inf", "nan"),
        *(0, -1, 0.0, float("nan"), float("inf"), True, [4], b"4GB"),
        pytest.param("9" * 400 + "GB", id="huge text"),
        pytest.param(10**400, id="huge number"),
        pytest.param(10**5000, id="number too long to spell out"),
    ],
)
def test_memory_that_is_no_size_is_refused_and_nothing_changes(restored, memory):
    with pytest.raises(ArgumentError, match=r"'memory' argument must be a size such as '4GB'.*Got .* instead"):
        config(memory=memory)
    assert settings() == restored


@pytest.mark.parametrize("threads", [1, 2, 64, np.int64(3)])
def test_threads_are_whole_numbers(threads):
    assert config(threads=threads).threads == threads


@pytest.mark.parametrize("threads", [0, -1, 1.0, 2.5, "2", True, False, float("nan"), [2], np.True_])
def test_threads_that_are_no_number_of_threads_are_refused_and_nothing_changes(restored, threads):
    with pytest.raises(ArgumentError, match=r"'threads' argument must be a whole number, at least 1\. Got .* instead"):
        config(threads=threads)
    assert settings() == restored


def test_one_bad_argument_leaves_the_other_setting_alone(restored):
    with pytest.raises(ArgumentError, match="memory"):
        config(threads=restored.threads + 1, memory="much")
    assert settings() == restored
    with pytest.raises(ArgumentError, match="threads"):
        config(threads=0, memory="1GB")
    assert settings() == restored


def test_settings_are_set_one_at_a_time_or_together(restored):
    assert config() == restored
    assert config(threads=3).memory == restored.memory
    assert config(memory="1MB").threads == 3
    both = config(threads=2, memory="2MB")
    assert (both.threads, both.memory) == (2, 2_000_000)
    assert settings() == both


def test_settings_are_frozen(restored):
    with pytest.raises(AttributeError):
        restored.threads = 7


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError):
        config(2)


def test_as_many_threads_as_the_process_may_use_by_default(monkeypatch):
    home = sys.modules[config.__module__]
    monkeypatch.setattr(home.os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert home._cores() == 3
    monkeypatch.delattr(home.os, "sched_getaffinity")
    monkeypatch.setattr(home.os, "cpu_count", lambda: None)
    assert home._cores() == 1


@pytest.mark.parametrize(
    "first",
    [
        "pass",
        "sf.fit(sf.DAG('A'), {'A': ['x', 'y']})",
        "import suffice.stats.counting",
        "import suffice.settings",
    ],
)
def test_config_can_be_called_whatever_was_used_before(first):
    """A submodule of the same name must not take the function's place."""
    code = f"import suffice as sf; {first}; print(sf.config(threads=3, memory='2GB').memory)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("2000000000", "")
