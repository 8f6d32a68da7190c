"""Writes docs/inference_sizes.md: how large exact inference is in every network of the shared data.

    python benchmarks/inference_sizes.py [--data FOLDER] [--out FILE] [NETWORK …]

Every figure comes from a process of its own, so that its peak memory is that of one job: ``all`` marginals; ``one``
query, p(first node | last leaf), its state from a sampled row; ``whole``, the first node given soft evidence on all
leaves, so that every table matters.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from common import ROOT, machine, peak_memory, row_of, say, seconds, whole

JOBS = ("all", "one", "whole")
MEMORY = "4GB"
CLOSE = ("munin1", ("1GB", "4GB", "12GB"))
"""The network that comes closest to the limits, and the limits to try it with."""
PATIENCE = 900  # seconds for one job
WARM = 100  # questions to a small network before: so many that it is calibrated and kernels are loaded


# In a job's process -------------------------------------------------------------------------------------------


def job(kind: str, path: str, small: str, memory: str) -> dict[str, Any]:
    """Do one job with a model that was never asked, kernels loaded, and measure it."""
    import suffice as sf

    warm(sf.read(small))
    sf.config(memory=memory)
    model = sf.read(path)
    target, given = (None, {}) if kind == "all" else question(kind, model)
    model = pickle.loads(pickle.dumps(model))
    found: dict[str, Any] = {"nodes": len(model.variables), "before": peak_memory()}
    try:
        if kind == "all":
            began = time.process_time()
            size = model.complexity()
            found["plan"] = time.process_time() - began
            found |= {"width": size.width, "cliques": size.n_cliques, "cells": size.cells, "memory": size.memory}
            timed(found, model.marginals)
        else:
            timed(found, lambda: model.query(target, given=given))
    except sf.ModelError as refusal:
        found["refusal"] = str(refusal)
    return {**found, "peak": peak_memory()}


def timed(found: dict[str, Any], call: Any) -> None:
    """Note the CPU and wall time of a call."""
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    found |= {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def question(kind: str, model: Any) -> tuple[str, dict[str, Any]]:
    """Return the target and the evidence of a job."""
    parents = {parent for above in model.dag.parents.values() for parent in above}
    target = model.variables[0]
    leaves = [node for node in model.variables if node not in parents and node != target]
    if kind == "one":
        row = next(iter(model.sample_blocks(1, seed=0))).columns
        return target, {leaves[-1]: model.schema[leaves[-1]].labels[int(row[leaves[-1]][0])]}
    likelihoods = {leaf: [1 / (1 + code) for code in range(model.schema[leaf].n_states)] for leaf in leaves}
    return target, {leaf: dict(zip(model.schema[leaf].labels, likelihoods[leaf], strict=True)) for leaf in leaves}


def warm(model: Any) -> None:
    """Load all kernels."""
    target, given = question("whole", model)
    for _ in range(WARM):
        model.query(target, given=given)
    model.marginals()  # after the questions: before kernels are loaded, it does without them


# In the driver ------------------------------------------------------------------------------------------------


def started(kind: str, name: str, folder: Path, memory: str) -> dict[str, Any]:
    """Run a job in a process of its own; that it runs out of time or memory is a result, any other failure is not."""
    say(f"  {name}, {kind}, {memory} …")
    small, path = (str(folder / f"{network}.bif.gz") for network in ("asia", name))
    command = [sys.executable, __file__, "--job", kind, path, small, memory]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return {"trouble": f"not done after {PATIENCE} s"}
    if done.returncode < 0:
        return {"trouble": f"killed by signal {-done.returncode}"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        if "MemoryError" not in last:
            raise SystemExit(f"{name}, {kind}, {memory} failed: {last}")
        return {"trouble": "out of memory"}
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def shown(found: dict[str, Any]) -> str:
    """Show the time of a job, or why there is none."""
    if "cpu" in found:
        return seconds(found["cpu"])
    return "refused" if "refusal" in found else found["trouble"]


def in_bytes(size: float) -> str:
    """Show a size with three digits."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def sizes_table(names: list[str], folder: Path) -> str:
    """Return one row a network, in the order of their memory."""
    head = ("network", "nodes", "width", "cliques", "cells", "memory", "plan", "all marginals", "peak", "one query",
            "peak", "whole query", "peak")  # fmt: skip
    rows = []
    for name in names:
        every, one, entire = (started(kind, name, folder, MEMORY) for kind in JOBS)
        if "cells" not in every:
            rows.append((0, [name, *["–"] * (len(head) - 2), every.get("trouble", "")]))
            continue
        cells = [name, *(f"{every[key]:,}" for key in ("nodes", "width", "cliques", "cells"))]
        cells += [in_bytes(every["memory"]), seconds(every["plan"])]
        for found in (every, one, entire):
            cells += [shown(found), whole(found["peak"]) if "peak" in found else "–"]
        rows.append((every["memory"], cells))
    lines = [row_of(head), row_of(["---"] * len(head))]
    return "\n".join([*lines, *(row_of(cells) for _, cells in sorted(rows))])


def limits_table(name: str, limits: tuple[str, ...], folder: Path) -> str:
    """Return what one network does under several limits of memory."""
    head = ("`memory=`", "job", "CPU", "wall", "peak MiB", "(before)", "what happened")
    lines = [row_of(head), row_of(["---"] * len(head))]
    for memory in limits:
        for kind, title in (("all", "`model.marginals()`"), ("whole", "whole query")):
            found = started(kind, name, folder, memory)
            happened = "answered" if "cpu" in found else found.get("refusal", found.get("trouble", ""))
            times = [seconds(found[key]) if key in found else "–" for key in ("cpu", "wall")]
            peaks = [whole(found[key]) if key in found else "–" for key in ("peak", "before")]
            lines.append(row_of([f'"{memory}"', title, *times, *peaks, happened]))
    return "\n".join(lines)


def page(names: list[str], folder: Path) -> str:
    """Return the whole page."""
    close, limits = CLOSE
    return "\n\n".join(
        [
            "# How large exact inference is",
            "Made by `benchmarks/inference_sizes.py` from the discrete networks of the bnlearn repository, on "
            f"{machine()}. Times are CPU time of one call, by a model that was never asked, in a "
            f'process of its own, with `sf.config(memory="{MEMORY}")`; `peak` is the most memory that process held, in '
            "MiB, of which the interpreter, the library and the model are the part that asia shows.",
            "Width, cliques, cells and memory are those of `model.complexity()`: the junction tree of the whole "
            "network without evidence, and what calibrating it takes. `plan` finds the tree. *All marginals* is "
            "`model.marginals()`, the plan made before. *One query* is the first node given the last leaf; *whole "
            "query* is the first node given soft evidence on all leaves, so that every table of the network matters. "
            "Both are first questions, answered by variable elimination.",
            sizes_table(names, folder),
            f"## {close} under limits of memory",
            limits_table(close, limits, folder) + "\n",
        ]
    )


def main() -> None:
    """Do a job, or all of them."""
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(job(*sys.argv[2:])))
        return
    parser = argparse.ArgumentParser(description="Measure exact inference in the networks of the shared data.")
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    data = Path(os.environ.get("SUFFICE_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=data)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "inference_sizes.md")
    arguments = parser.parse_args()
    folder = arguments.data / "networks_bif"
    names = arguments.networks or sorted(path.name.removesuffix(".bif.gz") for path in folder.glob("*.bif.gz"))
    arguments.out.write_text(page(names, folder))


if __name__ == "__main__":
    main()
