"""Run some tests in a process of their own, with a fault planted in one module of the library."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

import pytest
from tests.mutants.mutations import Mutant

MEMORY = 12 * 2**30
BROKEN = 70
"""The exit code of a process that could not run its tests."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended: the first test that failed, if any, and how many passed before it."""

    failed: str | None
    passed: int
    seconds: float


class _Loader(importlib.machinery.SourceFileLoader):
    """Compile a module from its file's source with the fault in it."""

    def __init__(self, name: str, path: str, mutant: Mutant) -> None:
        super().__init__(name, path)
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.path).read_text(encoding="utf-8")
        return compile(self._mutant.apply(source), self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, package: Path, mutant: Mutant) -> None:
        names = [package.name, *Path(mutant.path).with_suffix("").parts]
        self._name = ".".join(names[:-1] if names[-1] == "__init__" else names)
        self._path, self._mutant = str(package / mutant.path), mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, loader=_Loader(name, self._path, self._mutant))


class _Chosen:
    """Keep the chosen tests only, in their order, and remember the first that fails."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._place = {test: place for place, test in enumerate(tests)}
        self.failed: str | None = None
        self.passed = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._place and not _needs_a_server(item)),
            key=lambda item: self._place[item.nodeid],
        )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.failed is None:
            self.failed = report.nodeid

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.failed is None:
            self.failed = report.nodeid
        self.passed += report.when == "call" and report.passed


def _needs_a_server(item: pytest.Item) -> bool:
    """Tell whether a test starts a browser, a database, a JVM or Node: none fits into the memory of a trial."""
    return any(item.get_closest_marker(name) for name in ("chromium", "postgres", "java", "node"))


def start(package: Path, mutant: Mutant | None, tests: Sequence[str], log: Path) -> int:
    """Fork a process that runs the tests up to the first failure and writes its outcome beside the log."""
    pid = os.fork()
    if not pid:
        try:
            _run(package, mutant, tests, log)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(BROKEN)
    return pid


def _run(package: Path, mutant: Mutant | None, tests: Sequence[str], log: Path) -> None:
    os.setpgrp()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    began = time.process_time()
    if mutant is not None:
        sys.meta_path.insert(0, _Finder(package, mutant))
    chosen = _Chosen(tests)
    files = sorted({test.partition("::")[0] for test in tests})
    options = ["-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # plugins were imported before the fork
    pytest.main([*options, *files], plugins=[chosen])
    outcome = Outcome(chosen.failed, chosen.passed, time.process_time() - began)
    log.with_suffix(".json").write_text(json.dumps(vars(outcome)))
    sys.stdout.flush()


def result_of(log: Path, status: int) -> Outcome:
    """Return the outcome of a process that has ended; a fault may also have stopped it, or made it run for ever."""
    path = log.with_suffix(".json")
    if path.exists():
        return Outcome(**json.loads(path.read_text()))
    if os.waitstatus_to_exitcode(status) == BROKEN:
        raise RuntimeError(f"The tests could not be run; see {log}.")
    return Outcome("a run that did not end by itself", 0, 0.0)
