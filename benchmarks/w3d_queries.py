"""W3d: 1000 questions p(T | E = e) to ALARM and ANDES, one after another.

All contestants get the same tables and the same questions from a file that this library's environment writes; state
names are those of the network. A contestant's model is built before the clock starts, its inference object after.
"""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common import (
    HERE,
    Answer,
    Context,
    Entry,
    Outcome,
    contestant_main,
    race,
    row_of,
    say,
    seconds,
    whole,
)

TITLE = "W3d: 1000 single-evidence queries, p(T | E = e)"
SEED = 32
N_QUERIES = 1000
TOLERANCE = 1e-6
"""Questions to another network before: so many that it is calibrated, whatever it takes to make that worth while."""
NETWORKS = {"ALARM": "alarm", "ANDES": "andes"}

OURS = Entry("suffice `model.query`", "suffice", "ours")
PEERS = (
    Entry("pyAgrum `LazyPropagation`, targets set", "pyagrum"),
    Entry("pyAgrum `getPosterior`", "pyagrum-get"),
    Entry("pgmpy `VariableElimination.query`", "pgmpy"),
)


def run(context: Context) -> str:
    """Race on all networks, and return a section in Markdown."""
    n = N_QUERIES // 20 if context.quick else N_QUERIES
    parts = [
        f"{n} questions, seed {SEED}: target and evidence two different variables, any state that is possible. Every "
        "repetition starts from a model that was never asked, so that our planning and our calibration are in it. "
        "Times are for all questions."
    ]
    for title in NETWORKS:
        say(f" {title}")
        parts.append(on_network(context, title, n))
    return "\n\n".join(parts)


def on_network(context: Context, title: str, n: int) -> str:
    """Race on one network, and return its table."""
    outcomes = race(context, Path(__file__).name, [OURS, *PEERS], request_of(context, title, n))
    return f"### {title}\n\n{table(outcomes, n)}"


def request_of(context: Context, title: str, n: int) -> dict[str, Any]:
    """Return what contestants are asked, and make it where it does not exist yet."""
    network = NETWORKS[title]
    path = context.work / f"questions-{network}-{N_QUERIES}-seed{SEED}.json"
    folder = context.data / "networks_bif"
    if not path.exists():
        source = str(folder / f"{network}.bif.gz")
        subprocess.run([context.python, str(HERE / Path(__file__).name), "make", source, str(path)], check=True)
    return {"questions": str(path), "n": n, "repeats": 5, "budget": 60}


def table(outcomes: list[Outcome], n: int) -> str:
    """Return the measurements as a Markdown table; ratios are multiples of the first contestant's figures."""
    head = ("", "CPU", "× CPU", "wall", "× wall", "a question, CPU", "peak MiB", "first call CPU", "answers")
    lines = [row_of(head), row_of(["---"] * len(head))]
    base = outcomes[0].measured
    for outcome in outcomes:
        found = outcome.measured
        if found is None:
            lines.append(row_of([outcome.entry.title, *["–"] * (len(head) - 2), outcome.trouble]))
            continue
        cells = [outcome.entry.title]
        for key in ("cpu", "wall"):
            cells += [seconds(found[key]), "–" if base is None else f"{found[key] / base[key]:.2f}"]
        cells += [f"{1e6 * found['cpu'] / n:.0f} µs", whole(found["peak"]), seconds(found["first_cpu"])]
        lines.append(row_of([*cells, compared(outcomes[0], outcome)]))
    return "\n".join(lines)


def compared(reference: Outcome, other: Outcome) -> str:
    """Say how far two contestants' answers are apart."""
    if reference.measured is None or other.measured is None:
        return "–"
    if reference is other:
        return "reference"
    mine, theirs, gap = reference.measured["answer"], other.measured["answer"], 0.0
    for key in mine:
        for a, b in zip(mine[key], theirs[key], strict=True):
            gap = max(gap, math.inf if math.isnan(a - b) else abs(a - b))
    return f"{'agree' if gap <= TOLERANCE else 'DIFFER'} (largest gap {gap:.1e})"


# Making questions, in this library's environment --------------------------------------------------------------


def make(source: str, target: str) -> None:
    """Write the tables of a network and the questions."""
    import numpy as np

    import suffice as sf

    model = sf.read(source)
    nodes = {}
    for cpd in model.cpds:
        *parents, child = cpd.family.scope
        values = np.asarray(cpd.table.values)
        states = [str(state) for state in model.schema[child].labels]
        nodes[child] = {"parents": parents, "states": states, "table": values.reshape(-1).tolist()}
    rng = np.random.default_rng(SEED)
    names, questions = list(nodes), []
    possible = {name: np.flatnonzero(table.values > 0) for name, table in model.marginals().items()}
    for _ in range(N_QUERIES):
        wanted, seen = (names[place] for place in rng.choice(len(names), 2, replace=False))
        questions.append([wanted, seen, nodes[seen]["states"][rng.choice(possible[seen])]])
    Path(target).write_text(json.dumps({"source": source, "nodes": nodes, "questions": questions}))


# Contestants --------------------------------------------------------------------------------------------------


@dataclass
class Held:
    """A network, and the questions: the target, what was seen, its state."""

    source: str
    nodes: dict[str, dict[str, Any]]
    questions: list[tuple[str, str, str]]
    models: list[Any] = field(default_factory=list)

    def table(self, node: str) -> Any:
        """Return the table of a node, its parents first."""
        import numpy as np

        scope = [*self.nodes[node]["parents"], node]
        return np.array(self.nodes[node]["table"]).reshape([len(self.nodes[name]["states"]) for name in scope])


def loaded(request: Mapping[str, Any]) -> Held:
    """Read a network and its questions."""
    made = json.loads(Path(request["questions"]).read_text())
    return Held(made["source"], made["nodes"], [tuple(entry) for entry in made["questions"][: request["n"]]])


def told(answers: list[Any]) -> Answer:
    """Return answers by the number of the question."""
    return {f"q{number}": [float(p) for p in values] for number, values in enumerate(answers)}


class Suffice:
    """Our library: a model that was never asked, for every repetition."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Read the model."""
        import suffice as sf

        held = loaded(request)
        frozen = pickle.dumps(sf.read(held.source))
        held.models = [pickle.loads(frozen) for _ in range(request["repeats"] + 1)]
        return held

    def fit(self, held: Held) -> Any:
        """Ask."""
        model = held.models.pop()
        return [model.query(wanted, given={seen: state}) for wanted, seen, state in held.questions]

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the answers."""
        return told([table.values for table in fitted])


class PyAgrum:
    """pyAgrum in its fastest fair use: one inference object, which only looks at what the target needs."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Build the network."""
        import pyagrum

        held = loaded(request)
        network = pyagrum.BayesNet()
        for node, entry in held.nodes.items():
            network.add(pyagrum.LabelizedVariable(node, node, entry["states"]))
        for node, entry in held.nodes.items():
            for parent in entry["parents"]:
                network.addArc(parent, node)
        for node, entry in held.nodes.items():
            scope = [*entry["parents"], node]
            axes = list(reversed(network.cpt(node).names))
            moved = held.table(node).transpose([scope.index(name) for name in axes])
            network.cpt(node)[:] = moved.copy(order="C")
        held.models = [network]
        return held

    def fit(self, held: Held) -> Any:
        """Ask."""
        import pyagrum

        engine, answers = pyagrum.LazyPropagation(held.models[0]), []
        for wanted, seen, state in held.questions:
            engine.setTargets({wanted})
            engine.setEvidence({seen: state})
            engine.makeInference()
            answers.append(engine.posterior(wanted).toarray())
        return answers

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the answers."""
        return told(fitted)


class PyAgrumGet(PyAgrum):
    """pyAgrum's one call for one question."""

    def fit(self, held: Held) -> Any:
        """Ask."""
        import pyagrum

        network = held.models[0]
        return [
            pyagrum.getPosterior(network, target=wanted, evs={seen: state}).toarray()
            for wanted, seen, state in held.questions
        ]


class Pgmpy:
    """The incumbent: one object for variable elimination, asked again and again, its progress bar off."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Build the model."""
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork

        held = loaded(request)
        edges = [(parent, node) for node, entry in held.nodes.items() for parent in entry["parents"]]
        model = DiscreteBayesianNetwork(edges)
        model.add_nodes_from(held.nodes)
        for node, entry in held.nodes.items():
            scope = [*entry["parents"], node]
            states = {name: held.nodes[name]["states"] for name in scope}
            sizes = [len(held.nodes[name]["states"]) for name in entry["parents"]]
            values = held.table(node).reshape(-1, len(entry["states"])).T
            given = {"evidence": entry["parents"], "evidence_card": sizes} if sizes else {}
            model.add_cpds(TabularCPD(node, len(entry["states"]), values, state_names=states, **given))
        held.models = [model]
        return held

    def fit(self, held: Held) -> Any:
        """Ask."""
        from pgmpy.inference import VariableElimination

        engine = VariableElimination(held.models[0])
        return [
            engine.query([wanted], evidence={seen: state}, show_progress=False)
            for wanted, seen, state in held.questions
        ]

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the answers, states in the order of the network."""
        answers = []
        for (wanted, _, _), factor in zip(held.questions, fitted, strict=True):
            found = list(factor.state_names[wanted])
            answers.append([factor.values[found.index(state)] for state in held.nodes[wanted]["states"]])
        return told(answers)


CONTESTANTS = {"suffice": Suffice(), "pyagrum": PyAgrum(), "pyagrum-get": PyAgrumGet(), "pgmpy": Pgmpy()}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        contestant_main(CONTESTANTS)
