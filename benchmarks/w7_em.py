"""W7: EM, ALARM, 20,000 rows of which 10 % of the values are missing completely at random."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import Answer, Context, Entry, Outcome, contestant_main, measured_table, race, run_one, say
from samples import made

TITLE = "W7: EM, ALARM, 20,000 rows × 37, 10 % of the values missing completely at random"
SEED, GAP_SEED, MISSING = 7, 70, 0.1
NOISE = 0.1
"""Starts are tables of available cases, mixed with so much of tables at random; pyAgrum's own start is of this kind."""
EPSILON = 1e-4
"""pyAgrum stops when the log-likelihood rises by less than this, relative to its size."""
N_STARTS = 5
ENTRIES = (
    Entry("suffice, certified to 1e-8", "suffice", "ours", {"repeats": 5}),
    Entry("suffice, one thread", "suffice", "ours", {"repeats": 5, "threads": 1}),
    Entry(
        "suffice, the best of five: that start and four at random",
        "suffice",
        "ours",
        {"repeats": 3, "starts": N_STARTS},
    ),
    Entry("pyAgrum, one start", "pyagrum", options={"repeats": 0}),
)
LARGE = (Entry("suffice, 200,000 rows", "suffice", "ours", {"repeats": 1}),)


def run(context: Context) -> str:
    """Race all contestants, and return a section in Markdown."""
    n = 500 if context.quick else 20_000
    small = {**made(context, "alarm", n, SEED, "frame"), "budget": 30}
    large = {**made(context, "alarm", 10 * n, SEED, "frame"), "budget": 30}
    parts = [
        f"Rows are sampled with seed {SEED}, gaps made with seed {GAP_SEED}. Both begin at the same tables, those of "
        f"available cases with {NOISE:.0%} of tables at random; pyAgrum adds no noise of its own and stops when "
        f"the log-likelihood rises by less than {EPSILON:g} of itself. Ours ends with a gradient below 1e-8 a row, "
        "and its time holds the certificate. `observed log-likelihood` is computed from either's tables by the same "
        "code, after the clock stopped."
    ]
    for words, entries, request in (
        ("From one start, and five", ENTRIES, small),
        ("Ten times the rows", LARGE, large),
    ):
        say(f" {words}")
        outcomes = race(context, "w7_em.py", entries, request)
        found = {outcome.entry.title: scored(context, outcome, request) for outcome in outcomes}
        heads = ["iterations", "observed log-likelihood"]
        parts += [
            f"### {words}",
            measured_table(outcomes, heads, lambda outcome, held=found: held[outcome.entry.title]),
        ]
    return "\n\n".join(parts)


def scored(context: Context, outcome: Outcome, request: Mapping[str, Any]) -> list[str]:
    """Return the iterations and the observed log-likelihood of the best tables found."""
    if outcome.measured is None:
        return ["–", "–"]
    path = context.work / "w7-tables.json"
    path.write_text(json.dumps(outcome.measured["answer"]))
    entry = Entry("score", "score", "ours", {"repeats": 0, "tables": str(path)})
    score = run_one(context, "w7_em.py", entry, {**request, **entry.options}).measured
    assert score is not None
    steps = outcome.measured["answer"]["iterations"]
    return [" + ".join(f"{step:.0f}" for step in steps), f"{score['answer']['log_likelihood'][0]:.4f}"]


# Contestants --------------------------------------------------------------------------------------------------


@dataclass
class Held:
    """What the user holds: rows with gaps, the network's structure and states, and tables to begin with."""

    frame: Any
    nodes: dict[str, Any]
    starts: list[dict[str, Any]]
    request: Mapping[str, Any]
    network: Any = None


def loaded(request: Mapping[str, Any]) -> Held:
    """Load the rows, make the gaps, and make the starts."""
    import numpy as np
    import pandas as pd
    from pyarrow import feather

    nodes = json.loads(Path(request["network"]).read_text())["nodes"]
    rows = feather.read_table(request["rows"]).to_pandas()
    gaps = np.random.default_rng(GAP_SEED).random(rows.shape) < MISSING
    frame = pd.DataFrame({
        name: pd.Categorical.from_codes(
            np.where(gaps[:, at], -1, pd.Categorical(rows[name].astype(str), nodes[name]["states"]).codes),
            nodes[name]["states"],
        )
        for at, name in enumerate(rows)
    })  # fmt: skip
    starts = [start(frame, nodes, number) for number in range(request.get("starts", 1))]
    return Held(frame, nodes, starts, request)


def start(frame: Any, nodes: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return tables of available cases, mixed with tables at random; shape (…parents' states, states)."""
    import numpy as np

    draw = np.random.default_rng([GAP_SEED, number])
    tables = {}
    for node, entry in nodes.items():
        scope = [*entry["parents"], node]
        shape = [len(nodes[name]["states"]) for name in scope]
        codes = np.stack([frame[name].cat.codes.to_numpy() for name in scope])
        codes = codes[:, (codes >= 0).all(axis=0)]
        counts = np.bincount(np.ravel_multi_index(tuple(codes), shape), minlength=int(np.prod(shape))).reshape(shape)
        total = counts.sum(axis=-1, keepdims=True)
        seen = np.where(total > 0, counts / np.maximum(total, 1), 1 / shape[-1])
        tables[node] = (1 - NOISE) * seen + NOISE * draw.dirichlet(np.ones(shape[-1]), shape[:-1])
    return tables


class Suffice:
    """Our fit."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load, and make the model to begin with."""
        import suffice as sf

        if "threads" in request:
            sf.config(threads=request["threads"])
        held = loaded(request)
        held.network = network_of(held.nodes, held.starts[0])
        return held

    def fit(self, held: Held) -> Any:
        """Fit, with the certificate."""
        import suffice as sf

        return sf.fit(
            held.network.dag, held.frame, missing="em", init=held.network, restarts=len(held.starts), seed=SEED,
            unseen_parents="uniform",
        )  # fmt: skip

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the tables, and the steps of every start."""
        from suffice.models.cpds.tabular import whole_values

        assert fitted.certificate.ok, fitted.certificate.verdict
        tables = {node: whole_values(fitted.model.cpd(node)).reshape(-1).tolist() for node in held.nodes}
        return {**tables, "iterations": [float(one.n_steps) for one in fitted.starts]}


def network_of(nodes: Mapping[str, Any], tables: Mapping[str, Any]) -> Any:
    """Return tables as a network of ours."""
    import numpy as np

    import suffice as sf

    dag = sf.DAG({node: entry["parents"] for node, entry in nodes.items()})
    shapes = {n: [len(nodes[name]["states"]) for name in (*e["parents"], n)] for n, e in nodes.items()}
    shaped = {node: np.reshape(tables[node], shapes[node]) for node in nodes}
    return sf.BayesianNetwork(dag, shaped, schema={node: entry["states"] for node, entry in nodes.items()})


class PyAgrum:
    """pyAgrum's EM, from a frame in which missing values are question marks."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load, mark the gaps its way, and build the networks to begin with."""
        import numpy
        import pyagrum

        held = loaded(request)
        networks = []
        for tables in held.starts:
            network = pyagrum.BayesNet()
            for node, entry in held.nodes.items():
                network.add(pyagrum.LabelizedVariable(node, node, entry["states"]))
            for node, entry in held.nodes.items():
                for parent in entry["parents"]:
                    network.addArc(parent, node)
            for node, entry in held.nodes.items():
                axes = [*entry["parents"], node]
                wanted = list(reversed(network.cpt(node).names))
                table = tables[node].transpose([axes.index(name) for name in wanted])
                network.cpt(node)[:] = numpy.ascontiguousarray(table)
            networks.append(network)
        held.network = networks
        held.frame = held.frame.astype(object).where(held.frame.notna(), "?")
        return held

    def fit(self, held: Held) -> Any:
        """Run EM from every start."""
        import pyagrum

        found = []
        for network in held.network:
            learner = pyagrum.BNLearner(held.frame, network, ["?"])
            learner.useEM(EPSILON, 0.0)
            learner.EMsetVerbosity(True)  # which keeps the history, by which the best is known
            found.append((learner.learnParameters(network), learner))
        return found

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the tables of the start whose history ends highest, and the iterations of all."""
        best = max(fitted, key=lambda pair: pair[1].EMHistory()[-1])[0]
        answer: Answer = {"iterations": [float(learner.EMnbrIterations()) for _, learner in fitted]}
        for node, entry in held.nodes.items():
            cpt = best.cpt(node)
            axes = list(reversed(cpt.names))
            table = cpt.toarray().transpose([axes.index(name) for name in (*entry["parents"], node)])
            answer[node] = table.reshape(-1).tolist()
        return answer


class Score:
    """The observed log-likelihood of somebody's tables."""

    def prepare(self, request: Mapping[str, Any]) -> Any:
        """Load the rows and the tables."""
        held = loaded(request)
        return network_of(held.nodes, json.loads(Path(request["tables"]).read_text())), held.frame

    def fit(self, held: Any) -> Any:
        """Sum out what is missing."""
        network, frame = held
        return network.log_prob(frame, missing="marginalise")

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Add up the rows."""
        return {"log_likelihood": [float(fitted.sum())]}


if __name__ == "__main__":
    contestant_main({"suffice": Suffice(), "pyagrum": PyAgrum(), "score": Score()})
