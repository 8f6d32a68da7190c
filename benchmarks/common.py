"""What all workloads share: one fresh process a contestant, its measurement, agreement of answers, and tables.

The driver imports nothing but the standard library: a child's peak memory starts at that of the process that made it.
A *contestant* is an object with three methods. ``prepare(request)`` loads what the user holds and is not timed,
``fit(held)`` is timed, and ``answer(held, fitted)`` turns the result into plain lists, for the comparison of answers.
"""

from __future__ import annotations

import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
AGREEMENT = 1e-9
MIB = 1024  # ru_maxrss counts KiB on Linux

Answer = dict[str, list[float]]
"""By node: its table, flat; parents and their states in the order of the network's description, the child last."""


# In the contestant's process ----------------------------------------------------------------------------------


class Contestant(Protocol):
    """One library, or one way of using it."""

    def prepare(self, request: Mapping[str, Any]) -> Any:
        """Return what the user holds before the clock starts."""

    def fit(self, held: Any) -> Any:
        """Return what the user wants."""

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return the tables of all nodes."""


def contestant_main(contestants: Mapping[str, Contestant]) -> None:
    """Run one contestant, as the command line says: NAME REQUEST.json RESULT.json."""
    name, request_path, result_path = sys.argv[1:]
    request = json.loads(Path(request_path).read_text())
    measured = measure(contestants[name], request)
    Path(result_path).write_text(json.dumps(measured))


def measure(contestant: Contestant, request: Mapping[str, Any]) -> dict[str, Any]:
    """Time a first call, and then the best of some more; ``budget`` seconds of wall time end the repetition early."""
    held = contestant.prepare(request)
    before = peak_memory()
    fitted, *first = timed(contestant, held)
    cpu, wall, began = [], [], time.perf_counter()
    while len(cpu) < request["repeats"] and (not cpu or time.perf_counter() - began < request["budget"]):
        del fitted
        fitted, one_cpu, one_wall = timed(contestant, held)
        cpu.append(one_cpu)
        wall.append(one_wall)
    peak = peak_memory()
    return {
        "first_cpu": first[0],
        "first_wall": first[1],
        "cpu": min(cpu, default=first[0]),
        "wall": min(wall, default=first[1]),
        "repeats": len(cpu),
        "before": before,
        "peak": peak,
        "answer": contestant.answer(held, fitted),
    }


def timed(contestant: Contestant, held: Any) -> tuple[Any, float, float]:
    """Return the fit, its CPU time (all threads) and its wall time."""
    cpu, wall = time.process_time(), time.perf_counter()
    fitted = contestant.fit(held)
    return fitted, time.process_time() - cpu, time.perf_counter() - wall


def peak_memory() -> float:
    """Return the most memory that this process has held so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB


# In the driver ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Context:
    """Where to run: the two interpreters, the data, and a folder for what is made on the way."""

    python: str
    peers_python: str
    data: Path
    work: Path
    quick: bool = False

    def interpreter(self, where: str) -> str:
        """Return the interpreter of ``"ours"`` or of the ``"peers"``."""
        return self.python if where == "ours" else self.peers_python


@dataclass(frozen=True)
class Entry:
    """A contestant on a start list."""

    title: str
    contestant: str
    where: str = "peers"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What came of a contestant: its measurement, or why there is none."""

    entry: Entry
    measured: dict[str, Any] | None
    trouble: str = ""


def race(context: Context, script: str, entries: Sequence[Entry], request: Mapping[str, Any]) -> list[Outcome]:
    """Run the contestants one after the other, each in a process of its own."""
    outcomes = []
    for entry in entries:
        say(f"  {entry.title} …")
        outcomes.append(run_one(context, script, entry, {**request, **entry.options}))
    return outcomes


def run_one(context: Context, script: str, entry: Entry, request: Mapping[str, Any]) -> Outcome:
    """Run one contestant; a failure is an outcome, too."""
    asked, told = context.work / "request.json", context.work / "result.json"
    asked.write_text(json.dumps(dict(request)))
    told.unlink(missing_ok=True)
    command = [context.interpreter(entry.where), str(HERE / script), entry.contestant, str(asked), str(told)]
    environment = {**os.environ, **request.get("environment", {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode or not told.exists():
        lines = done.stderr.strip().splitlines() or ["no message"]
        return Outcome(entry, None, lines[-1][:200])
    return Outcome(entry, json.loads(told.read_text()))


def say(text: str) -> None:
    """Tell the person who waits what is being done."""
    print(text, file=sys.stderr, flush=True)


# Agreement of answers -----------------------------------------------------------------------------------------


def agreement(reference: Outcome, other: Outcome, sizes: Mapping[str, int]) -> str:
    """Say how far two answers are apart, and what was made of parent configurations without data.

    ``sizes`` holds the number of states by node. The reference has NaN in rows without data.
    """
    if reference.measured is None or other.measured is None:
        return "–"
    if reference is other:
        return "reference"
    mine, theirs = reference.measured["answer"], other.measured["answer"]
    gap, unseen = 0.0, {}
    for node, size in sizes.items():
        for low in range(0, len(mine[node]), size):
            row, against = mine[node][low : low + size], theirs[node][low : low + size]
            if math.isnan(row[0]):
                what = describe_unseen(against)
                unseen[what] = unseen.get(what, 0) + 1
            else:
                gap = max(gap, *(math.inf if math.isnan(b) else abs(a - b) for a, b in zip(row, against, strict=True)))
    told = "agrees" if gap <= AGREEMENT else "DIFFERS"
    rows = "".join(f"; {count} rows without data: {what}" for what, count in unseen.items())
    return f"{told} (largest gap {gap:.1e}){rows}"


def describe_unseen(row: Sequence[float]) -> str:
    """Say what a library made of a row that has no data."""
    if all(map(math.isnan, row)):
        return "NaN or absent"
    if all(p == 0 for p in row):
        return "zeros"
    return "uniform" if max(row) - min(row) < 1e-6 else "other"


# Tables -------------------------------------------------------------------------------------------------------


def ratio_table(outcomes: Sequence[Outcome], sizes: Mapping[str, int]) -> str:
    """Return the measurements as a Markdown table, and how answers compare with the first contestant's."""
    return measured_table(outcomes, ["answer"], lambda outcome: [agreement(outcomes[0], outcome, sizes)])


def measured_table(
    outcomes: Sequence[Outcome], more: Sequence[str], cells_of: Callable[[Outcome], Sequence[str]]
) -> str:
    """Return the measurements as a Markdown table; ratios are multiples of the first contestant's figures.

    ``more`` are the heads of further columns, and ``cells_of`` returns their cells.
    """
    head = ("", "CPU", "× CPU", "wall", "× wall", "peak MiB", "× peak", "(data) MiB", "first call CPU", *more)
    lines = [row_of(head), row_of(["---"] * len(head))]
    base = outcomes[0].measured
    for outcome in outcomes:
        found = outcome.measured
        if found is None:
            lines.append(row_of([outcome.entry.title, *["–"] * (len(head) - 2), outcome.trouble]))
            continue
        cells = [outcome.entry.title]
        for key, show in (("cpu", seconds), ("wall", seconds), ("peak", whole)):
            cells += [show(found[key]), "–" if base is None else f"{found[key] / base[key]:.2f}"]
        cells += [whole(found["before"]), seconds(found["first_cpu"]), *cells_of(outcome)]
        lines.append(row_of(cells))
    return "\n".join(lines)


def row_of(cells: Sequence[str]) -> str:
    """Return one row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def seconds(value: float) -> str:
    """Show a time with three digits."""
    return f"{value:.3g} s"


def whole(value: float) -> str:
    """Show a whole number."""
    return f"{value:.0f}"


# The machine --------------------------------------------------------------------------------------------------


def machine() -> str:
    """Describe the machine in one line."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{processor()}, {cores} cores, {pages:.0f} GiB of memory, {platform.system()} {platform.release()}"


def processor() -> str:
    """Return the processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def versions(python: str, packages: Sequence[str]) -> str:
    """Return the versions of some packages as an interpreter sees them."""
    code = (
        "import sys, importlib.metadata as m\n"
        "found = [('Python', sys.version.split()[0])]\n"
        "for name in sys.argv[1:]:\n"
        "    try: found.append((name, m.version(name)))\n"
        "    except m.PackageNotFoundError: found.append((name, 'not installed'))\n"
        "print(', '.join(' '.join(pair) for pair in found))"
    )
    return subprocess.run([python, "-c", code, *packages], capture_output=True, text=True, check=True).stdout.strip()
