"""Plant the mutants one after another, and say which of them the tests do not notice."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import shutil
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutants.mutations import Mutant, sample
from tests.mutants.planted import result_of, start
from tests.mutants.reach import Reach

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "suffice"
KNOWN = Path(__file__).with_name("survivors.txt")
FIRST_FILES = 12
"""How many test files are loaded at first: most mutants are noticed by the nearest ones."""
HEAVY = ("matplotlib.pyplot", "narwhals", "networkx", "pandas", "polars", "pyarrow.parquet", "pyarrow.csv",
         "pyarrow.dataset", "rich.console", "scipy.optimize", "scipy.sparse.linalg", "scipy.stats", "sklearn.base",
         "typer.testing", "hypothesis.strategies", "hypothesis.extra.numpy")  # fmt: skip
"""What is imported once, before processes are forked."""


@dataclass
class Trial:
    """A mutant, the tests that reach it, the stages that are still to be run, and what has been seen."""

    number: int
    mutant: Mutant
    tests: list[str]
    budget: float
    passed: int = 0
    failed: str | None = None
    waiting: list[list[str]] = field(default_factory=list)

    def stages(self, reach: Reach) -> list[list[str]]:
        """Divide the tests by files: the nearest, the next few, then all others, as many as the budget allows."""
        allowed, spent = [], 0.0
        for test in self.tests:
            spent += reach.seconds(test)
            if spent > self.budget and allowed:
                break
            allowed.append(test)
        files = list(dict.fromkeys(test.partition("::")[0] for test in allowed))
        stages = [files[:1], files[1:FIRST_FILES], files[FIRST_FILES:]]
        return [[test for test in allowed if test.partition("::")[0] in stage] for stage in stages]


def run_all(trials: list[Trial], reach: Reach, folder: Path, processes: int) -> None:
    """Run every trial, some at a time, stage after stage, until a test fails or none is left."""
    for trial in trials:
        trial.waiting = [stage for stage in trial.stages(reach) if stage]
    queue, running = [trial for trial in trials if trial.waiting], dict[int, tuple[Trial, Path, float]]()
    while queue or running:
        while queue and len(running) < processes:
            trial = queue.pop(0)
            stage = trial.waiting.pop(0)
            log = folder / f"{trial.number:03d}-{len(trial.waiting)}.log"
            limit = time.monotonic() + 300 + 6 * sum(map(reach.seconds, stage))
            running[start(PACKAGE, trial.mutant, stage, log)] = trial, log, limit
        time.sleep(0.05)
        for pid, (trial, log, limit) in list(running.items()):
            if time.monotonic() > limit:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                continue
            del running[pid]
            outcome = result_of(log, status)
            trial.failed, trial.passed = outcome.failed, trial.passed + outcome.passed
            if trial.failed is None and trial.waiting:
                queue.insert(0, trial)
            else:
                print(describe(trial), flush=True)


def describe(trial: Trial) -> str:
    """Say in one line what became of a mutant."""
    if trial.failed:
        return f"killed    {trial.mutant.name} (line {trial.mutant.line}) by {trial.failed}"
    seen = f"{trial.passed} of the {len(trial.tests)} tests that reach it" if trial.tests else "no test reaches it"
    return f"SURVIVED  {trial.mutant.name} (line {trial.mutant.line}): {seen}"


def earlier_killers(report: Path) -> dict[str, str]:
    """Return the tests that noticed each mutant in an earlier run: they are tried first."""
    return {row["name"]: row["failed"] for row in json.loads(report.read_text())} if report.exists() else {}


def known_survivors() -> dict[str, str]:
    """Return the survivors that are known, with their reasons: a name on one line, the reason indented below it."""
    known: dict[str, str] = {}
    name = ""
    for line in KNOWN.read_text(encoding="utf-8").splitlines() if KNOWN.exists() else []:
        if line.startswith("    "):
            known[name] = f"{known[name]} {line.strip()}".strip()
        elif line and not line.startswith("#"):
            name = line
            known[name] = ""
    return known


def main() -> int:
    """Run the mutants of a seed; return 1 where one survives that is not known."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--coverage", type=Path, required=True, help="data of a run with --cov-context=test")
    parser.add_argument("--times", type=Path, required=True, help="the JUnit report of that run")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests for one mutant")
    parser.add_argument("--only", help="run the mutants whose names contain this text")
    parser.add_argument("--survivors-of", type=Path, help="run the survivors of an earlier report only")
    given = parser.parse_args()

    shutil.rmtree(given.out / "logs", ignore_errors=True)
    (given.out / "logs").mkdir(parents=True)
    began = time.monotonic()
    reach = Reach(PACKAGE, given.coverage, given.times)
    mutants = sample(PACKAGE, given.seed)
    if given.survivors_of:
        left = {row["name"] for row in json.loads(given.survivors_of.read_text()) if not row["failed"]}
        mutants = [mutant for mutant in mutants if mutant.name in left]
    if given.only:
        mutants = [mutant for mutant in mutants if given.only in mutant.name]
    killers = earlier_killers(given.out / "report.json")
    trials = []
    for number, mutant in enumerate(mutants):
        tests = reach.tests_of(mutant)
        first = [test for test in tests if test == killers.get(mutant.name)]
        trials.append(Trial(number, mutant, first + [test for test in tests if test not in first], given.budget))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in HEAVY:
        importlib.import_module(name)
    assert not any(name.partition(".")[0] == "suffice" for name in sys.modules), "the library is loaded too early"
    run_all(trials, reach, given.out / "logs", given.processes)

    report = [
        {"name": trial.mutant.name, "failed": trial.failed, "passed": trial.passed, "reached": len(trial.tests)}
        for trial in trials
    ]
    (given.out / "report.json").write_text(json.dumps(report, indent=1))
    broken = failing_without_faults(
        sorted({trial.failed for trial in trials if trial.failed and "::" in trial.failed}), given.out / "logs"
    )
    known = known_survivors()
    survivors = [trial for trial in trials if trial.failed is None]
    print(f"\n{len(trials) - len(survivors)} of {len(trials)} mutants are killed, in {time.monotonic() - began:.0f} s.")
    for trial in survivors:
        print(describe(trial))
        print(
            f"    {known.get(trial.mutant.name, 'not known: write a test that notices it, or the reason why none can')}"
        )
    for test in broken:
        print(f"{test} fails without any fault, so that what it killed does not count.")
    return int(bool(broken) or any(trial.mutant.name not in known for trial in survivors))


def failing_without_faults(tests: list[str], folder: Path) -> list[str]:
    """Run the tests that killed a mutant without any fault; return those that fail all the same."""
    broken: list[str] = []
    while tests:
        log = folder / f"control-{len(broken)}.log"
        _, status = os.waitpid(start(PACKAGE, None, tests, log), 0)
        if (failed := result_of(log, status).failed) is None:
            break
        broken.append(failed)
        tests = [test for test in tests if test != failed]
        if failed not in tests and "::" not in failed:
            break
    return broken


if __name__ == "__main__":
    sys.exit(main())
