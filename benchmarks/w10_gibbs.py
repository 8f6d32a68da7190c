"""W10: Gibbs sweeps over an Ising model on a 100×100 grid, in spins drawn per CPU second.

p(x) ∝ exp(J Σ s_i s_j + h Σ s_i), s = ±1. Contestants hold the model in their own form before the clock starts. After
it stopped, each samples a small grid with the same code, and says the means of energy and magnetisation with their
errors: they must agree with the sum over all configurations.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from common import (
    Answer,
    Contestant,
    Context,
    Entry,
    Outcome,
    contestant_main,
    race,
    row_of,
    seconds,
)

TITLE = "W10: Gibbs sweeps on a 100×100 binary grid"
SEED = 10
COUPLING, FIELD = 0.3, 0.1
SIDE, SMALL = 100, 4
LIMIT = 4.5
"""How many standard errors the means on the small grid may be away from the truth."""
BURN_IN = 50

OURS = Entry("suffice, 256 chains", "suffice", "ours", {"chains": 256, "sweeps": 200, "repeats": 10, "checks": 100_000})
OTHERS = (
    replace(OURS, title="suffice, 64 chains", options={**OURS.options, "chains": 64, "sweeps": 800}),
    replace(OURS, title="suffice, one chain", options={**OURS.options, "chains": 1, "sweeps": 1000}),
    Entry("NumPy checkerboard, one chain", "numpy", "ours", {"sweeps": 200, "repeats": 5, "checks": 40_000}),
    Entry("pure Python, one chain", "python", "ours", {"sweeps": 20, "repeats": 5, "checks": 40_000}),
    Entry("pure Python, equal couplings, one chain", "equal", "ours", {"sweeps": 20, "repeats": 5, "checks": 40_000}),
    Entry("pgmpy `GibbsSampling`, 3×3 grid", "pgmpy", options={"side": 3, "small": 3, "sweeps": 2000, "repeats": 2,
                                                             "checks": 20_000}),
)  # fmt: skip


def run(context: Context) -> str:
    """Race, and return a section in Markdown."""
    entries = [OURS, *OTHERS]
    if context.quick:
        entries = [
            replace(entry, options={**entry.options, "sweeps": max(2, entry.options["sweeps"] // 20), "repeats": 1})
            for entry in entries
        ]
    request = {"side": SIDE, "small": SMALL, "chains": 1, "budget": 30}
    outcomes = race(context, Path(__file__).name, entries, request)
    return "\n\n".join(
        [
            f"An Ising model, coupling {COUPLING}, field {FIELD}. Ours makes no use of tables being equal or of the "
            "graph being a grid: conditional distributions are looked up in a table of every variable's own. CPU "
            "seconds count all threads; making the sampler is not timed. Means on a 4×4 grid (pgmpy 3×3) are drawn by "
            "the same code and compared with the sum over all configurations; more than "
            f"{LIMIT} standard errors would be marked. pgmpy writes down a distribution for every configuration of "
            "*all* other variables, 2⁸ on a 3×3 grid and 2⁹⁹⁹⁹ on this one, so it runs on 3×3. Pure Python and the "
            "checkerboard, which is for grids with equal couplings only, are written in the benchmark. Our speed comes "
            "from many chains side by side: with a single one, the checkerboard is faster.",
            spin_table(outcomes),
        ]
    )


def spin_table(outcomes: list[Outcome]) -> str:
    """Return spins per CPU second, and how means compare with the truth; ratios say how much faster we are."""
    head = ("", "spins", "CPU", "M spins per CPU s", "ours is faster by", "first call CPU", "energy", "magnetisation")
    lines = [row_of(head), row_of(["---"] * len(head))]
    speeds = [None if outcome.measured is None else speed(outcome) for outcome in outcomes]
    for outcome, found in zip(outcomes, speeds, strict=True):
        if outcome.measured is None or found is None:
            lines.append(row_of([outcome.entry.title, *["–"] * (len(head) - 2), outcome.trouble]))
            continue
        answer = outcome.measured["answer"]
        ratio = "–" if speeds[0] is None else f"{speeds[0] / found:,.3g}"
        cells = [outcome.entry.title, f"{answer['spins'][0]:,.0f}", seconds(outcome.measured["cpu"]), f"{found:,.3g}"]
        cells += [ratio, seconds(outcome.measured["first_cpu"]), *(compared(answer[k]) for k in ("energy", "magnet"))]
        lines.append(row_of(cells))
    return "\n".join(lines)


def speed(outcome: Outcome) -> float:
    """Return millions of spins per CPU second."""
    assert outcome.measured is not None
    return float(outcome.measured["answer"]["spins"][0] / outcome.measured["cpu"] / 1e6)


def compared(means: list[float]) -> str:
    """Say how many standard errors a mean is away from the truth."""
    mean, error, truth = means
    away = abs(mean - truth) / error
    return f"{mean:.4f} ± {error:.4f}, {'agrees' if away <= LIMIT else 'DIFFERS'} ({away:.1f} errors)"


# The model ----------------------------------------------------------------------------------------------------


def edges_of(side: int) -> list[tuple[int, int]]:
    """Return the pairs of neighbours; variables are numbered row by row."""
    across = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    return across + [(r * side + c, (r + 1) * side + c) for r in range(side - 1) for c in range(side)]


def tables_of(side: int) -> list[tuple[tuple[int, ...], list[float]]]:
    """Return the logarithms of all tables, flat."""
    pair = [COUPLING, -COUPLING, -COUPLING, COUPLING]
    return [(edge, pair) for edge in edges_of(side)] + [((v,), [-FIELD, FIELD]) for v in range(side**2)]


def measured_on(side: int, spins: Iterable[int]) -> tuple[float, float]:
    """Return the energy −Σ s_i s_j and the magnetisation Σ s_i of one configuration of 0 and 1, a spin."""
    s = [2 * spin - 1 for spin in spins]
    return -sum(s[a] * s[b] for a, b in edges_of(side)) / len(s), sum(s) / len(s)


def truth_of(side: int) -> tuple[float, float]:
    """Return the expectations, by a sum over all configurations."""
    total, means = 0.0, [0.0, 0.0]
    for spins in itertools.product((0, 1), repeat=side**2):
        energy, magnet = measured_on(side, spins)
        weight = math.exp(side**2 * (FIELD * magnet - COUPLING * energy))
        total += weight
        means[0] += weight * energy
        means[1] += weight * magnet
    return means[0] / total, means[1] / total


def told(held: Held, draws: Iterable[Iterable[int]]) -> Answer:
    """Return spins drawn in a call, and means on the small grid; errors come from 50 batches in the order of draws."""
    side = held.request["small"]
    values = [measured_on(side, spins) for spins in draws]
    size, answer = len(values) // 50, {"spins": [float(held.spins)]}
    for name, place, truth in zip(("energy", "magnet"), (0, 1), truth_of(side), strict=True):
        batches = [sum(value[place] for value in values[b * size : (b + 1) * size]) / size for b in range(50)]
        mean = sum(batches) / 50
        variance = sum((batch - mean) ** 2 for batch in batches) / 49
        answer[name] = [mean, math.sqrt(variance / 50), truth]
    return answer


# Contestants --------------------------------------------------------------------------------------------------


@dataclass
class Held:
    """What was asked, the sampler in the library's own form, and where its chains are."""

    request: Mapping[str, Any]
    own: Any
    states: Any = None
    swept: int = 0

    @property
    def spins(self) -> int:
        """The number of spins that one call draws."""
        return int(self.request["side"] ** 2 * self.request["chains"] * self.request["sweeps"])


class Suffice:
    """Our library: all chains, in place."""

    def sampler(self, side: int) -> Any:
        """Return the sampler of a grid."""
        import numpy as np

        from suffice.inference.gibbs import Gibbs

        scopes, tables = zip(*tables_of(side), strict=True)
        return Gibbs((2,) * side**2, scopes, np.concatenate(tables))

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Make the sampler, and random states."""
        own = self.sampler(request["side"])
        return Held(request, own, own.start(request["chains"], SEED))

    def fit(self, held: Held) -> None:
        """Sweep."""
        held.own.run(held.states, held.request["sweeps"], SEED, held.swept)
        held.swept += held.request["sweeps"]

    def answer(self, held: Held, fitted: None) -> Answer:
        """Sample the small grid; batches are chains, or parts of the only one."""
        small = self.sampler(held.request["small"])
        states = small.start(held.request["chains"], SEED)
        small.run(states, BURN_IN, SEED)
        draws = []
        for draw in range(max(50, held.request["checks"] // len(states))):
            small.run(states, 1, SEED, BURN_IN + draw)
            draws.append(states.tolist())
        return told(held, [row for chain in zip(*draws, strict=True) for row in chain])


class PurePython:
    """One chain, by loops over lists; every edge has a coupling of its own."""

    def sampler(self, side: int) -> Any:
        """Return the neighbours of every variable with their couplings, all fields, and a source of random numbers."""
        near: list[list[tuple[int, float]]] = [[] for _ in range(side**2)]
        for a, b in edges_of(side):
            near[a].append((b, 2 * COUPLING))
            near[b].append((a, 2 * COUPLING))
        return near, [2 * FIELD] * side**2, random.Random(SEED)

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """List neighbours, and start at random."""
        own = self.sampler(request["side"])
        return Held(request, own, self.start(own, request["side"]))

    def start(self, own: Any, side: int) -> Any:
        """Return random states."""
        return [own[2].choice((-1, 1)) for _ in range(side**2)]

    def sweep(self, own: Any, states: Any, sweeps: int) -> None:
        """Draw every spin some times."""
        near, fields, source = own
        uniform, exp = source.random, math.exp
        for _ in range(sweeps):
            for v, others in enumerate(near):
                odds = fields[v]
                for other, coupling in others:
                    odds += coupling * states[other]
                states[v] = 1 if uniform() * (1.0 + exp(-odds)) < 1.0 else -1

    def fit(self, held: Held) -> None:
        """Sweep."""
        self.sweep(held.own, held.states, held.request["sweeps"])

    def answer(self, held: Held, fitted: None) -> Answer:
        """Sample the small grid."""
        side = held.request["small"]
        own = self.sampler(side)
        states = self.start(own, side)
        self.sweep(own, states, BURN_IN)
        draws = []
        for _ in range(held.request["checks"]):
            self.sweep(own, states, 1)
            draws.append([(spin + 1) // 2 for spin in self.listed(states)])
        return told(held, draws)

    def listed(self, states: Any) -> list[int]:
        """Return the spins as a list."""
        return list(states)


class EqualCouplings(PurePython):
    """The same where all couplings are equal: chances are looked up by the sum of the neighbours' spins."""

    def sampler(self, side: int) -> Any:
        """Return the neighbours of every variable, and the chances of state 1."""
        near = [[other for other, _ in others] for others in super().sampler(side)[0]]
        return near, {s: 1 / (1 + math.exp(-2 * (COUPLING * s + FIELD))) for s in range(-4, 5)}, random.Random(SEED)

    def sweep(self, own: Any, states: Any, sweeps: int) -> None:
        """Draw every spin some times."""
        near, chances, source = own
        uniform = source.random
        for _ in range(sweeps):
            for v, others in enumerate(near):
                total = 0
                for other in others:
                    total += states[other]
                states[v] = 1 if uniform() < chances[total] else -1


class Checkerboard(PurePython):
    """One chain, half the grid at a time, by NumPy; equal couplings, and grids only."""

    def sampler(self, side: int) -> Any:
        """Return the two colours and a source of random numbers."""
        import numpy as np

        colours = np.add.outer(np.arange(side), np.arange(side)) % 2 == 0
        return (colours, ~colours), None, np.random.default_rng(SEED)

    def start(self, own: Any, side: int) -> Any:
        """Return random spins inside a frame of zeros."""
        import numpy as np

        states = np.zeros((side + 2, side + 2))
        states[1:-1, 1:-1] = own[2].choice([-1.0, 1.0], (side, side))
        return states

    def sweep(self, own: Any, states: Any, sweeps: int) -> None:
        """Draw every spin some times."""
        import numpy as np

        inner = states[1:-1, 1:-1]
        for _ in range(sweeps):
            for colour in own[0]:
                near = states[:-2, 1:-1] + states[2:, 1:-1] + states[1:-1, :-2] + states[1:-1, 2:]
                chance = 1 / (1 + np.exp(-2 * (COUPLING * near[colour] + FIELD)))
                inner[colour] = np.where(own[2].random(len(chance)) < chance, 1.0, -1.0)

    def listed(self, states: Any) -> list[int]:
        """Return the spins as a list."""
        return [int(spin) for spin in states[1:-1, 1:-1].reshape(-1)]


class Pgmpy:
    """pgmpy's sampler of a Markov network; a sample is a sweep."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Make the sampler."""
        import numpy as np
        from pgmpy.factors.discrete import DiscreteFactor
        from pgmpy.models import DiscreteMarkovNetwork
        from pgmpy.sampling import GibbsSampling

        model = DiscreteMarkovNetwork([(f"x{a}", f"x{b}") for a, b in edges_of(request["side"])])
        for scope, logs in tables_of(request["side"]):
            model.add_factors(DiscreteFactor([f"x{v}" for v in scope], [2] * len(scope), np.exp(logs)))
        return Held(request, GibbsSampling(model))

    def fit(self, held: Held) -> Any:
        """Sample."""
        return held.own.sample(size=held.request["sweeps"] + 1, seed=SEED)

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Sample on."""
        frame = held.own.sample(size=held.request["checks"], seed=SEED + 1)
        return told(held, frame[[f"x{v}" for v in range(held.request["small"] ** 2)]].to_numpy().tolist())


CONTESTANTS: dict[str, Contestant] = {
    "suffice": Suffice(),
    "numpy": Checkerboard(),
    "python": PurePython(),
    "equal": EqualCouplings(),
    "pgmpy": Pgmpy(),
}


if __name__ == "__main__":
    contestant_main(CONTESTANTS)
