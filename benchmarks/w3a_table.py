"""W3a: a table of six variables with five states each, fitted to all its two-way margins.

The counts are Poisson around a log-linear model with two-way and some three-way interaction. With many rows all of them
are positive, which proves at once that the estimate exists; with fewer some are zero, and the proof takes more work.
This library's environment makes them, and writes them as 32-bit integers with the first axis fastest, as R does.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import HERE, Answer, Contestant, Context, Entry, Outcome, contestant_main, race, say
from margins import LIMIT, margin_table

TITLE = "W3a: table of 5⁶ = 15,625 cells, all two-way margins, marginal error below 1e-8"
SEED = 41
N_STATES, N_VARIABLES = 5, 6
TOTALS = (100_000_000, 1_000_000)
"""Rows expected."""
STRENGTHS = {2: 0.75, 3: 0.1}
"""The interactions of so many variables are uniform between minus and plus this."""
TOLERANCE = 1e-9
"""How far the probabilities of cells may be apart between contestants; the mean is 6.4e-5."""
PAIRS = tuple(itertools.combinations(range(N_VARIABLES), 2))

OURS = Entry("suffice `sf.fit`", "suffice", "ours", {"method": "auto"})
OTHERS = (
    Entry("suffice `sf.fit(method='ipf')`", "suffice", "ours", {"method": "ipf"}),
    Entry("suffice `sf.fit(method='newton')`", "suffice", "ours", {"method": "newton"}),
)
IPFN = Entry("ipfn, arrays", "ipfn")
LOGLIN = Entry("R `loglin`", "loglin", "R")


def run(context: Context) -> str:
    """Race all contestants, and return a section in Markdown."""
    parts = [
        f"Seed {SEED}. Times count from the array of counts to the fit. Ours hold the structure, the counting of "
        "margins, the fit, the proof that the estimate exists, and the certificate, and give potentials; ipfn's "
        "hold the sums that are its margins, and give the fitted table; `loglin` gives the fitted table, and is "
        "timed inside R, which tells CPU time to the millisecond. Each peer stops by its own rule, set as loosely "
        "as the marginal error allows: `loglin` at an error of 1e-8 N in counts, ipfn at a relative one of 1e-8 "
        "over the largest margin; ours is the default, tol=1e-8. Marginal errors are computed afterwards, from the "
        "fitted table. Answers are the probabilities of all cells. No two-way margin is zero. Where all cells are "
        "positive, that alone proves that our estimate exists; where some are zero, the proof takes more work, and "
        "is in our time."
    ]
    for total in TOTALS:
        say(f" {total:,} rows")
        parts.append(on_table(context, total))
    return "\n\n".join(parts)


def on_table(context: Context, total: int) -> str:
    """Race on one table."""
    request = request_of(context, total)
    outcomes = race(context, Path(__file__).name, [OURS, *OTHERS], request)
    outcomes.append(run_loglin(context, request))
    outcomes += race(context, Path(__file__).name, [IPFN], request)
    title = f"### {total:,} rows expected, {empty_cells(Path(request['table'])):,} cells zero"
    return "\n\n".join(filter(None, [title, margin_table(outcomes, TOLERANCE), version(outcomes)]))


def empty_cells(path: Path) -> int:
    """Return the number of cells without a row."""
    counts = array("i")
    counts.frombytes(path.read_bytes())
    return counts.count(0)


def request_of(context: Context, total: int) -> dict[str, Any]:
    """Return what contestants are asked, and make the table where it does not exist yet."""
    path = context.work / f"table-{N_STATES}-{N_VARIABLES}-{total}-seed{SEED}.bin"
    if not path.exists():
        subprocess.run([context.python, str(HERE / Path(__file__).name), "make", str(total), str(path)], check=True)
    return {"table": str(path), "repeats": 3 if context.quick else 30, "budget": 20}


def run_loglin(context: Context, request: Mapping[str, Any]) -> Outcome:
    """Run R's contestant, where there is R."""
    program = shutil.which("Rscript")
    if program is None:
        return Outcome(LOGLIN, None, "left out: there is no Rscript on this machine")
    say(f"  {LOGLIN.title} …")
    told = context.work / "result.json"
    told.unlink(missing_ok=True)
    arguments = [request["table"], N_STATES, N_VARIABLES, LIMIT, request["repeats"], told]
    command = [program, "--vanilla", str(HERE / "w3a_loglin.R"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not told.exists():
        lines = done.stderr.strip().splitlines() or ["no message"]
        return Outcome(LOGLIN, None, lines[-1][:200])
    return Outcome(LOGLIN, json.loads(told.read_text()))


def version(outcomes: list[Outcome]) -> str:
    """Say which R it was."""
    found = [outcome.measured["version"] for outcome in outcomes if outcome.measured and "version" in outcome.measured]
    return f"R {found[0]}." if found else ""


# Making the table, in this library's environment --------------------------------------------------------------


def make(total: int, target: str) -> None:
    """Write the counts."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    log_mean = np.zeros((N_STATES,) * N_VARIABLES)
    for order, strength in STRENGTHS.items():
        for axes in itertools.combinations(range(N_VARIABLES), order):
            shape = [N_STATES if axis in axes else 1 for axis in range(N_VARIABLES)]
            log_mean = log_mean + strength * rng.uniform(-1, 1, shape)
    mean = np.exp(log_mean)
    counts = rng.poisson(mean * (total / mean.sum()))
    counts.astype("<i4").ravel("F").tofile(target)


# Contestants --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """The counts, and the method to take."""

    counts: Any
    method: str


def loaded(request: Mapping[str, Any]) -> Held:
    """Read the counts."""
    import numpy as np

    flat = np.fromfile(request["table"], "<i4").astype(np.int64)
    return Held(np.ascontiguousarray(flat.reshape((N_STATES,) * N_VARIABLES, order="F")), request.get("method", ""))


def margin(table: Any, pair: tuple[int, int]) -> Any:
    """Sum all axes but two."""
    return table.sum(axis=tuple(axis for axis in range(N_VARIABLES) if axis not in pair))


def told(held: Held, fitted: Any, steps: int) -> Answer:
    """Return the fitted probabilities, and how near their margins are."""
    observed = held.counts / held.counts.sum()
    gap = max(float(abs(margin(fitted, pair) - margin(observed, pair)).max()) for pair in PAIRS)
    return {"gap": [gap], "steps": [float(steps)], "values": fitted.reshape(-1).tolist()}


class Suffice:
    """Our library, from the array on."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Read the counts."""
        return loaded(request)

    def fit(self, held: Held) -> Any:
        """Fit, and certify."""
        import suffice as sf

        names = "ABCDEF"
        structure = sf.Cliques([(names[i], names[j]) for i, j in PAIRS])
        table = sf.Contingency(held.counts, {name: list(range(N_STATES)) for name in names})
        return sf.fit(structure, table, method=held.method)

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Multiply the potentials out, without the library's inference."""
        import numpy as np

        assert fitted.certificate.ok
        joint = np.ones((N_STATES,) * N_VARIABLES)
        for factor in fitted.model.factors:
            axes = ["ABCDEF".index(name) for name in factor.names]
            assert axes == sorted(axes)
            joint = joint * factor.values.reshape([N_STATES if axis in axes else 1 for axis in range(N_VARIABLES)])
        return told(held, joint / joint.sum(), len(fitted.trace))


class Ipfn:
    """ipfn on NumPy arrays, which it is faster on than on frames; its start is uniform, and is overwritten by it."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Read the counts, and load the library."""
        import ipfn.ipfn  # noqa: F401

        return loaded(request)

    def fit(self, held: Held) -> Any:
        """Sum the margins, and fit."""
        import numpy as np
        from ipfn.ipfn import ipfn

        counts = held.counts.astype(np.float64)
        margins = [margin(counts, pair) for pair in PAIRS]
        relative = LIMIT * counts.sum() / max(float(each.max()) for each in margins)
        search = ipfn(
            np.ones_like(counts),
            margins,
            [list(pair) for pair in PAIRS],
            convergence_rate=relative,
            rate_tolerance=0.0,  # it would stop when the error stalls
            verbose=2,
        )
        return search.iteration()

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the fitted probabilities."""
        table, _, history = fitted
        return told(held, table / table.sum(), len(history))


CONTESTANTS: dict[str, Contestant] = {"suffice": Suffice(), "ipfn": Ipfn()}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), sys.argv[3])
    else:
        contestant_main(CONTESTANTS)
