"""W3b as features: Ising models of the grids of W3b, and a Boltzmann machine of all pairs of 16 variables.

An Ising model of binary variables is the same family as the cliques of its edges, with half as many weights and none to
spare: both fits have to find the same log odds ratios. The rows are those of W3b.
"""

from __future__ import annotations

import itertools
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import Answer, Contestant, Context, Entry, Outcome, contestant_main, race, say, seconds
from margins import margin_table
from w3b_grids import N_ROWS, TOLERANCE, Held, loaded, request_of, told

TITLE = "W3b as features: Ising models from 100,000 rows, a Boltzmann machine from 16,181, marginal error below 1e-8"
SIDES = (4, 6, 8, 10, 12)
TARGET_SIDE, TARGET = 10, 0.2
"""CPU seconds that are allowed from table to certified fit."""
ROWS = "debd/nltcs.train.txt.xz"

ISING = Entry("suffice `sf.fit(sf.Ising(edges))`, from the table", "ising-fit", "ours", {"start": "table"})
CLIQUES = Entry("suffice `sf.fit(sf.Cliques(edges))`, from the table", "cliques-fit", "ours", {"start": "table"})
ESTIMATE = Entry("suffice `sf.estimate(sf.Ising(edges))`", "ising-estimate", "ours", {"start": "statistics"})
MACHINE = (
    Entry("suffice `sf.fit(method='lbfgs')`", "boltzmann", "ours", {"method": "lbfgs"}),
    Entry("suffice `sf.fit(method='newton')`", "boltzmann", "ours", {"method": "newton"}),
)
PSEUDO = Entry("`method='pseudo_likelihood'`", "boltzmann", "ours", {"method": "pseudo_likelihood"})


def run(context: Context) -> str:
    """Race on all grids and on the Boltzmann machine, and return a section in Markdown."""
    n_rows = N_ROWS // 100 if context.quick else N_ROWS
    sides = SIDES[:1] if context.quick else SIDES
    parts = [
        "The rows of W3b, fitted as an Ising model: a field a variable, a coupling an edge. Times hold the counting "
        "(from the table), the tabulation of the features, the planning of the junction tree, the fit, the proof which "
        "weights are determined, and the certificate, nothing kept between calls. Answers are the log odds ratios of "
        "all edges, four times the couplings."
    ]
    for side in sides:
        say(f" {side}×{side}")
        request = request_of(context, side, n_rows)
        outcomes = race(context, Path(__file__).name, [ISING, CLIQUES, ESTIMATE], request)
        parts += [f"### {side}×{side} grid", margin_table(outcomes, TOLERANCE), target(side, outcomes[0])]
    return "\n\n".join(filter(None, [*parts, on_machine(context)]))


def target(side: int, outcome: Outcome) -> str:
    """Say whether the target is met."""
    if side != TARGET_SIDE or outcome.measured is None:
        return ""
    met = "met" if outcome.measured["cpu"] < TARGET else "MISSED"
    return f"Target, less than {TARGET} s of CPU from the table: {met}."


def on_machine(context: Context) -> str:
    """Race on the Boltzmann machine."""
    if not (context.data / ROWS).exists():
        return f"Boltzmann machine: left out, there is no {ROWS} in the shared data."
    say(" Boltzmann machine")
    request = {"rows": str(context.data / ROWS), "repeats": 1 if context.quick else 5, "budget": 20}
    *outcomes, pseudo = race(context, Path(__file__).name, [*MACHINE, PSEUDO], request)
    said = pseudo.trouble
    if pseudo.measured is not None:
        found = pseudo.measured
        said = (
            f"{seconds(found['cpu'])} CPU, {seconds(found['wall'])} wall, {found['answer']['steps'][0]:.0f} steps; "
            f"another estimate, whose margins are up to {found['answer']['gap'][0]:.1e} from the data's"
        )
    parts = [
        "### Boltzmann machine: nltcs, 16 variables, all 120 pairs",
        margin_table(outcomes, TOLERANCE),
        f"{PSEUDO.title}: {said}.",
    ]
    return "\n\n".join(parts)


# Contestants --------------------------------------------------------------------------------------------------


class Ising:
    """Our library with features, from the frame to a certified fit."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Read the rows."""
        return loaded(request)

    def structure(self, held: Held) -> Any:
        """Return what is known before the data."""
        import suffice as sf

        return sf.Ising(held.cliques)

    def fit(self, held: Held) -> Any:
        """Count, fit, and certify."""
        import suffice as sf

        return sf.fit(self.structure(held), held.frame)

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Ask the model for the margins."""
        assert fitted.certificate.ok
        margins = [fitted.model.query(list(clique)).to_numpy() for clique in held.cliques]
        return told(held, margins, self.log_potentials(held, fitted), len(fitted.trace))

    def log_potentials(self, held: Held, fitted: Any) -> list[Any]:
        """Return the logarithm of every edge's table, up to terms that the log odds ratio does not see."""
        import numpy as np

        spins = np.array([-1.0, 1.0])
        return [fitted.model.weights[f"{a}:{b}"] * np.outer(spins, spins) for a, b in held.cliques]


class IsingEstimate(Ising):
    """The same, from statistics."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Collect the statistics."""
        import suffice as sf

        held = loaded(request)
        held.own = sf.collect(self.structure(held), held.frame)
        return held

    def fit(self, held: Held) -> Any:
        """Fit, and certify."""
        import suffice as sf

        return sf.estimate(self.structure(held), held.own)


class Cliques(Ising):
    """Our library with a table of potentials an edge."""

    def structure(self, held: Held) -> Any:
        """Return the edges as cliques."""
        import suffice as sf

        return sf.Cliques(held.cliques)

    def log_potentials(self, held: Held, fitted: Any) -> list[Any]:
        """Return the logarithms of the potentials."""
        import numpy as np

        logs = {factor.names: np.log(factor.values) for factor in fitted.model.factors}
        return [logs[clique] for clique in held.cliques]


@dataclass(frozen=True)
class Machine:
    """The rows as a frame, and the method to take."""

    frame: Any
    method: str


class Boltzmann:
    """Our library, every pair of variables coupled."""

    def prepare(self, request: Mapping[str, Any]) -> Machine:
        """Read the rows."""
        import numpy as np
        import pandas as pd

        with lzma.open(request["rows"], "rt") as file:
            codes = np.array([list(map(int, line.replace(",", "").strip())) for line in file])
        return Machine(pd.DataFrame(codes, columns=[f"v{j}" for j in range(codes.shape[1])]), request["method"])

    def fit(self, held: Machine) -> Any:
        """Count, fit, and certify."""
        import suffice as sf

        return sf.fit(sf.Boltzmann(list(held.frame)), held.frame, method=held.method)

    def answer(self, held: Machine, fitted: Any) -> Answer:
        """Multiply the potentials out, without the library's inference."""
        import numpy as np

        assert fitted.certificate.ok
        names, weights = list(held.frame), fitted.model.weights
        states = np.array(list(itertools.product((0.0, 1.0), repeat=len(names))))
        fields, couplings = fields_and_couplings(names, weights)
        scores = states @ fields + ((states @ couplings) * states).sum(axis=1)
        p = np.exp(scores - scores.max())
        fitted_means = states.T @ (states * (p / p.sum())[:, None])
        rows = held.frame.to_numpy(float)
        gap = float(np.abs(fitted_means - rows.T @ rows / len(rows)).max())
        return {"gap": [gap], "steps": [float(len(fitted.trace))], "values": list(couplings[np.triu_indices(16, 1)])}


def fields_and_couplings(names: Sequence[str], weights: Any) -> tuple[Any, Any]:
    """Return the weights as a vector and an upper triangle."""
    import numpy as np

    fields = np.array([weights[name] for name in names])
    couplings = np.zeros((len(names), len(names)))
    for i, j in itertools.combinations(range(len(names)), 2):
        couplings[i, j] = weights[f"{names[i]}:{names[j]}"]
    return fields, couplings


CONTESTANTS: dict[str, Contestant] = {
    "ising-fit": Ising(),
    "ising-estimate": IsingEstimate(),
    "cliques-fit": Cliques(),
    "boltzmann": Boltzmann(),
}


if __name__ == "__main__":
    contestant_main(CONTESTANTS)
