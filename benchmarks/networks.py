"""Contestants that fit all tables of a discrete Bayesian network to a frame in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from common import Answer, Entry, contestant_main


@dataclass(frozen=True)
class Held:
    """What the user holds: a frame, and a structure in the library's own terms."""

    frame: Any
    nodes: dict[str, dict[str, list[str]]]
    structure: Any = None
    request: Mapping[str, Any] | None = None

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The edges as (parent, child)."""
        return [(parent, node) for node, entry in self.nodes.items() for parent in entry["parents"]]

    def scope(self, node: str) -> list[str]:
        """Return the parents and the node."""
        return [*self.nodes[node]["parents"], node]


def described(request: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """Return the nodes of the network."""
    nodes: dict[str, dict[str, list[str]]] = json.loads(Path(request["network"]).read_text())["nodes"]
    return nodes


def pandas_frame(request: Mapping[str, Any]) -> Held:
    """Load the rows as pandas categoricals."""
    from pyarrow import feather

    return Held(feather.read_feather(request["rows"]), described(request), None, request)


def arrow_table(request: Mapping[str, Any]) -> Held:
    """Load the rows as an Arrow table of dictionaries."""
    from pyarrow import feather

    return Held(feather.read_table(request["rows"]).combine_chunks(), described(request), None, request)


def in_order(table: Any, axes: list[str], states: dict[str, list[str]], held: Held, node: str) -> list[float]:
    """Bring a table's axes and states into the order of the network's description.

    States that a library left out get the probability 0 at the child and NaN at the parents.
    """
    import numpy as np

    scope = held.scope(node)
    moved = np.transpose(np.asarray(table, float), [axes.index(name) for name in scope])
    for axis, name in enumerate(scope):
        absent = [(0, 1) if other == axis else (0, 0) for other in range(len(scope))]
        moved = np.pad(moved, absent, constant_values=0.0 if name == node else np.nan)
        found = {state: position for position, state in enumerate(states[name])}
        moved = np.take(moved, [found.get(state, -1) for state in held.nodes[name]["states"]], axis)
    return [float(p) for p in moved.reshape(-1)]


class Suffice:
    """Our library, from pandas categoricals."""

    load = staticmethod(pandas_frame)

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the frame and build the structure."""
        import suffice as sf

        held = self.load(request)
        return replace(held, structure=sf.DAG({node: entry["parents"] for node, entry in held.nodes.items()}))

    def fit(self, held: Held) -> Any:
        """Fit, with the certificate that every fit has."""
        import suffice as sf

        return sf.fit(held.structure, held.frame, unseen_parents="nan")

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the tables."""
        return suffice_answer(held, fitted)


def suffice_answer(held: Held, fitted: Any) -> Answer:
    """Return the tables of a fit of ours."""
    answer = {}
    for node in held.nodes:
        cpd = fitted.model.cpd(node)
        states = {variable.name: [str(label) for label in variable.labels] for variable in cpd.family.variables}
        answer[node] = in_order(cpd.table.values, list(cpd.family.scope), states, held, node)
    return answer


class SufficeArrow(Suffice):
    """Our library, from an Arrow table of dictionaries."""

    load = staticmethod(arrow_table)


class Pgmpy:
    """The incumbent: maximum likelihood from pandas categoricals."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the frame; the model is built anew for every fit, for fitting changes it."""
        import pgmpy.models  # noqa: F401

        return pandas_frame(request)

    def fit(self, held: Held) -> Any:
        """Build the model and fit it."""
        from pgmpy.models import DiscreteBayesianNetwork

        model = DiscreteBayesianNetwork(held.edges)
        model.add_nodes_from(held.nodes)
        model.fit(held.frame)
        return model

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the tables."""
        answer = {}
        for node in held.nodes:
            cpd = fitted.get_cpds(node)
            states = {name: [str(state) for state in found] for name, found in cpd.state_names.items()}
            answer[node] = in_order(cpd.values, list(cpd.variables), states, held, node)
        return answer


class PybnesianPandas:
    """pybnesian from pandas; it refuses the text that pandas 3 holds, so the categories are Python objects."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the frame and put the categories in a form that it takes."""
        import pandas as pd

        held = pandas_frame(request)
        for name in held.nodes:
            categories = held.frame[name].cat.categories
            held.frame[name] = held.frame[name].cat.rename_categories(pd.Index(list(categories), dtype=object))
        return held

    def fit(self, held: Held) -> Any:
        """Build the model and fit it."""
        import pybnesian

        model = pybnesian.DiscreteBN(list(held.nodes), held.edges)
        model.fit(held.frame)
        return model

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the tables; they are kept as logarithms, the child's states fastest."""
        import numpy as np

        answer = {}
        for node in held.nodes:
            name, parents, _, own, above, logs = fitted.cpd(node).__getstate__()
            states = dict(zip([name, *parents], [own, *above], strict=True))
            table = np.exp(np.asarray(logs)).reshape([len(found) for found in states.values()], order="F")
            answer[node] = in_order(table, list(states), states, held, node)
        return answer


class PybnesianArrow(PybnesianPandas):
    """pybnesian from an Arrow record batch of dictionaries, its own form."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the record batch."""
        held = arrow_table(request)
        return replace(held, frame=held.frame.to_batches()[0])


class PyAgrum:
    """pyAgrum from pandas; it refuses parent configurations without data unless there is a prior."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the frame and build the network that serves as its template."""
        import pyagrum

        held = pandas_frame(request)
        network = pyagrum.BayesNet()
        for node, entry in held.nodes.items():
            network.add(pyagrum.LabelizedVariable(node, node, entry["states"]))
        for edge in held.edges:
            network.addArc(*edge)
        return replace(held, structure=network)

    def fit(self, held: Held) -> Any:
        """Read the frame into its database and learn from that."""
        import pyagrum

        learner = pyagrum.BNLearner(held.frame, held.structure)
        if held.request and held.request.get("smoothing"):
            learner.useSmoothingPrior(held.request["smoothing"])
        return learner.learnParameters(held.structure)

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the tables; their names run from the fastest axis to the slowest."""
        answer = {}
        for node in held.nodes:
            cpt = fitted.cpt(node)
            axes = list(reversed(cpt.names))
            states = {name: list(held.structure.variable(name).labels()) for name in axes}
            answer[node] = in_order(cpt.toarray(), axes, states, held, node)
        return answer


CONTESTANTS = {
    "suffice": Suffice(),
    "suffice-arrow": SufficeArrow(),
    "pgmpy": Pgmpy(),
    "pybnesian-pandas": PybnesianPandas(),
    "pybnesian-arrow": PybnesianArrow(),
    "pyagrum": PyAgrum(),
}

OURS = Entry("suffice (pandas)", "suffice", "ours")
START_LIST = (
    OURS,
    Entry("suffice (Arrow)", "suffice-arrow", "ours"),
    Entry("pgmpy (pandas)", "pgmpy"),
    Entry("pybnesian (pandas)", "pybnesian-pandas"),
    Entry("pybnesian (Arrow)", "pybnesian-arrow"),
)


if __name__ == "__main__":
    contestant_main(CONTESTANTS)
