"""Which tests reach a line, and in which order they are tried: from a run of the tests under coverage, by test."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

from coverage import CoverageData
from tests.mutants.mutations import Mutant

LONG = 5.0
"""Tests that take more seconds are tried last."""


class Reach:
    """What a run under coverage saw: the tests of every line, and how long each test took."""

    def __init__(self, package: Path, coverage: Path, times: Path) -> None:
        self.package = package.resolve()
        self._data = CoverageData(str(coverage))
        self._data.read()
        self._times = {
            (case.get("classname"), case.get("name")): float(case.get("time", 0))
            for case in ElementTree.parse(times).iter("testcase")
        }

    def seconds(self, test: str) -> float:
        """Return how long a test took."""
        path, *names = test.split("::")
        classes = ".".join([path.removesuffix(".py").replace("/", "."), *names[:-1]])
        return self._times.get((classes, names[-1]), 1.0)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that reach a mutant's statement, those most likely to notice it first."""
        path = self.package / mutant.path
        return self._sorted(mutant, self._at(path, mutant.lines) or self._near(path))

    def _at(self, path: Path, lines: range) -> set[str]:
        by_line = self._contexts(path)
        return {test for line in lines for test in by_line.get(line, ())}

    def _near(self, path: Path) -> set[str]:
        """Return the tests that reach a file: for what runs at import and what is not traced."""
        return {test for tests in self._contexts(path).values() for test in tests}

    def _contexts(self, path: Path) -> dict[int, list[str]]:
        contexts = self._data.contexts_by_lineno(str(path))
        return {
            line: [name.partition("|")[0] for name in names if name.startswith("tests/")]
            for line, names in contexts.items()
        }

    def _sorted(self, mutant: Mutant, tests: set[str]) -> list[str]:
        """Sort by nearness of names, then take the functions in turn, the quick ones first."""
        words = set(re.split(r"[/_.]", mutant.path))
        turns: dict[str, int] = defaultdict(int)
        keys = {}
        for test in sorted(tests, key=lambda test: (self.seconds(test), test)):
            path, _, rest = test.partition("::")
            function = f"{path}::{rest.partition('[')[0]}"
            near = len(words & set(re.split(r"[/_.]", path)) - {"py", "tests"})
            turns[function] += 1
            keys[test] = (self.seconds(test) > LONG, turns[function] > 3, -near, turns[function], self.seconds(test))
        return sorted(keys, key=lambda test: (keys[test], test))
