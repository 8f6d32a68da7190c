"""W3b: pairwise Markov random fields over square grids of binary variables, fitted to 100,000 rows.

The rows are drawn by this library, exactly, from an Ising model with random couplings and fields. Contestants start
from the table, or from the margins of all edges, which are the sufficient statistics.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from common import (
    HERE,
    Answer,
    Contestant,
    Context,
    Entry,
    Outcome,
    contestant_main,
    race,
    say,
    seconds,
)
from margins import margin_table

TITLE = "W3b: pairwise binary grids from 100,000 rows, marginal error below 1e-8"
SEED = 42
N_ROWS = 100_000
COUPLING, FIELD = 0.5, 0.3
SIDES = (4, 6, 8, 10, 12)
STEPS = {4: 250, 6: 400}
"""mbi's steps, by side: the smallest multiple of its block of 50 that reached the marginal error in every trial. Its
results vary between processes: on 6×6, 350 steps reached from 2e-9 to 2e-8."""
TOLERANCE = 1e-5
"""How far the edges' log odds ratios may be apart between contestants."""

OURS = Entry("suffice `sf.fit`, from the table", "suffice-fit", "ours", {"start": "table"})
ESTIMATE = Entry("suffice `sf.estimate`, from statistics", "suffice-estimate", "ours", {"start": "statistics"})
PEERS = (
    Entry("mbi L-BFGS, from the table", "mbi-fit", options={"start": "table", "repeats": 5}),
    Entry("mbi L-BFGS, from statistics", "mbi-estimate", options={"start": "statistics", "repeats": 5}),
)


def run(context: Context) -> str:
    """Race on all grids, and return a section in Markdown."""
    n_rows = N_ROWS // 100 if context.quick else N_ROWS
    sides = SIDES[:1] if context.quick else SIDES
    parts = [
        f"{n_rows:,} rows of an Ising model: couplings normal(0, {COUPLING}), fields normal(0, {FIELD}), seed {SEED}. "
        "Ratios are multiples of ours from the same start. Ours end in a certified fit: the counting (from the table), "
        "the planning of the junction tree, the fit, the proof that the estimate exists, and the certificate, nothing "
        "kept between calls. mbi's hold its counting (from the table; codes in arrays were made before), the "
        "preparation of its loss, −Σ ⟨target, log p⟩, and as many of its steps as it needs in every trial (on 6×6 one "
        "block of 50 fewer is enough in some); "
        "double precision. Its first call compiles; every structure needs that in every process, so it counts end to "
        "end, and `CPU` is what it needs when the same structure comes again. "
        "Answers are the log odds ratios of all edges. From 8×8 on mbi is left out: it would take minutes and "
        "gigabytes to compile (in an earlier trial, not in this run, 271 CPU seconds and 5 GB on 10×10)."
    ]
    for side in sides:
        say(f" {side}×{side}")
        parts.append(on_grid(context, side, n_rows))
    return "\n\n".join(parts)


def on_grid(context: Context, side: int, n_rows: int) -> str:
    """Race on one grid, and return its table."""
    entries = [OURS, ESTIMATE]
    if side in STEPS:
        entries += [replace(entry, options={**entry.options, "steps": STEPS[side]}) for entry in PEERS]
    outcomes = race(context, Path(__file__).name, entries, request_of(context, side, n_rows))
    parts = [f"### {side}×{side} grid", margin_table(outcomes, TOLERANCE), end_to_end(outcomes)]
    return "\n\n".join(filter(None, parts))


def end_to_end(outcomes: list[Outcome]) -> str:
    """Say how many times our CPU time mbi needs with its compilation."""
    by_name = {outcome.entry.contestant: outcome.measured for outcome in outcomes}
    said = []
    for start, mine, theirs in (
        ("from the table", by_name["suffice-fit"], by_name.get("mbi-fit")),
        ("from statistics", by_name["suffice-estimate"], by_name.get("mbi-estimate")),
    ):
        if mine is not None and theirs is not None:
            took = theirs["first_cpu"]
            said.append(
                f"{start} {seconds(took)} CPU, {took / mine['cpu']:.0f} times ours, and {took / mine['first_cpu']:.0f} "
                "times our first call"
            )
    return f"mbi with its compilation: {'; '.join(said)}." if said else ""


def request_of(context: Context, side: int, n_rows: int) -> dict[str, Any]:
    """Return what contestants are asked, and make the rows where they do not exist yet."""
    path = context.work / f"grid{side}-{n_rows}-seed{SEED}.arrow"
    if not path.exists():
        command = [context.python, str(HERE / Path(__file__).name), "make", str(side), str(n_rows), str(path)]
        subprocess.run(command, check=True)
    return {"rows": str(path), "side": side, "repeats": 3 if context.quick else 15, "budget": 20}


def edges_of(side: int) -> list[tuple[int, int]]:
    """Return the pairs of neighbours; variables are numbered row by row."""
    across = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    return across + [(r * side + c, (r + 1) * side + c) for r in range(side - 1) for c in range(side)]


# Making rows, in this library's environment -------------------------------------------------------------------


def make(side: int, n_rows: int, target: str) -> None:
    """Draw the rows, and write them as Arrow dictionaries, which pandas reads as categoricals."""
    import numpy as np
    from pyarrow import feather

    import suffice as sf

    rng = np.random.default_rng([SEED, side])
    spins = np.array([-1.0, 1.0])
    factors: list[Any] = []
    for a, b in edges_of(side):
        factors.append(((f"x{a}", f"x{b}"), np.exp(rng.normal(0, COUPLING) * np.outer(spins, spins))))
    for v in range(side**2):
        factors.append(((f"x{v}",), np.exp(rng.normal(0, FIELD) * spins)))
    schema = sf.Schema(tuple(sf.Variable(f"x{v}", ("down", "up"), True) for v in range(side**2)))
    rows = sf.MarkovNetwork(factors, schema=schema).sample(n_rows, seed=SEED, backend="pyarrow")
    feather.write_feather(rows.unify_dictionaries().combine_chunks(), target, compression="uncompressed")


# Contestants --------------------------------------------------------------------------------------------------


@dataclass
class Held:
    """The rows as a frame and as codes, the edges by name, and the library's own start."""

    frame: Any
    codes: dict[str, Any]
    cliques: list[tuple[str, str]]
    own: Any = None


def loaded(request: Mapping[str, Any]) -> Held:
    """Read the rows."""
    import numpy as np
    from pyarrow import feather

    frame = feather.read_table(request["rows"], memory_map=False).to_pandas()
    codes = {name: frame[name].cat.codes.to_numpy().astype(np.int64) for name in frame.columns}
    return Held(frame, codes, [(f"x{a}", f"x{b}") for a, b in edges_of(request["side"])])


def targets_of(held: Held) -> list[Any]:
    """Return the margins of all edges as probabilities."""
    import numpy as np

    found = []
    for a, b in held.cliques:
        counts = np.bincount(2 * held.codes[a] + held.codes[b], minlength=4)
        found.append(counts.reshape(2, 2) / len(held.frame))
    return found


def told(held: Held, margins: list[Any], log_potentials: list[Any], steps: int) -> Answer:
    """Return the log odds ratios of all edges, and how near the fitted margins are."""
    gap = max(float(abs(mine - wanted).max()) for mine, wanted in zip(margins, targets_of(held), strict=True))
    ratios = [float(table[0, 0] + table[1, 1] - table[0, 1] - table[1, 0]) for table in log_potentials]
    return {"gap": [gap], "steps": [float(steps)], "values": ratios}


class Suffice:
    """Our library, from the frame to a certified fit."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Read the rows."""
        return loaded(request)

    def fit(self, held: Held) -> Any:
        """Count, fit, and certify."""
        import suffice as sf

        return sf.fit(sf.Cliques(held.cliques), held.frame)

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Ask the model for the margins."""
        import numpy as np

        assert fitted.certificate.ok
        margins = [fitted.model.query(list(clique)).to_numpy() for clique in held.cliques]
        logs = {factor.names: np.log(factor.values) for factor in fitted.model.factors}
        return told(held, margins, [logs[clique] for clique in held.cliques], len(fitted.trace))


class SufficeEstimate(Suffice):
    """Our library, from statistics."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Collect the statistics."""
        import suffice as sf

        held = loaded(request)
        held.own = sf.collect(sf.Cliques(held.cliques), held.frame)
        return held

    def fit(self, held: Held) -> Any:
        """Fit, and certify."""
        import suffice as sf

        return sf.estimate(sf.Cliques(held.cliques), held.own)


def cross_entropy(margins: Any, targets: Any) -> Any:
    """Return the loss of mbi's ``mle_loss_fn``: a function of one name is compiled once, its lambda in every call."""
    return -targets.dot(margins.log())


class Mbi:
    """mbi's L-BFGS, its default oracle, from codes in arrays."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Read the rows, and load the library."""
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_enable_compilation_cache", False)
        import mbi

        held = loaded(request)
        domain = mbi.Domain(list(held.codes), [2] * len(held.codes))
        held.own = {"domain": domain, "steps": request["steps"]}
        return held

    def fit(self, held: Held) -> Any:
        """Count, and fit."""
        return self.search(held, self.targets(held))

    def targets(self, held: Held) -> Any:
        """Count the margins, and scale them to probabilities."""
        import mbi

        data = mbi.Dataset(held.codes, held.own["domain"])
        n = len(held.frame)
        tables = {clique: data.project(clique) / n for clique in held.cliques}
        return mbi.CliqueVector(held.own["domain"], held.cliques, tables)

    def search(self, held: Held, targets: Any) -> Any:
        """Climb the likelihood."""
        import jax
        from mbi import estimation, marginal_loss

        loss = marginal_loss.MarginalLossFn(held.cliques, cross_entropy, targets)
        model = estimation.LBFGS().estimate(held.own["domain"], loss, 1.0, iters=held.own["steps"])
        jax.block_until_ready(model.marginals)
        return model

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the margins."""
        import numpy as np

        margins = [np.asarray(fitted.marginals[clique].values) for clique in held.cliques]
        logs = [np.asarray(fitted.potentials[clique].values) for clique in held.cliques]
        return told(held, margins, logs, held.own["steps"])


class MbiEstimate(Mbi):
    """The same, from statistics."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Count the margins before."""
        held = super().prepare(request)
        held.own["targets"] = self.targets(held)
        return held

    def fit(self, held: Held) -> Any:
        """Fit."""
        return self.search(held, held.own["targets"])


CONTESTANTS: dict[str, Contestant] = {
    "suffice-fit": Suffice(),
    "suffice-estimate": SufficeEstimate(),
    "mbi-fit": Mbi(),
    "mbi-estimate": MbiEstimate(),
}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        contestant_main(CONTESTANTS)
