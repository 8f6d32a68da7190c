"""What every format of discrete Bayesian networks shares: from the nodes of a file to a network, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.variable import Variable
from suffice.errors import ArgumentError, Remedy, StructureError, listing, suggestion
from suffice.graph.directed import find_cycle
from suffice.io.text_file import TextFile
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import CPD, NodeFamily
from suffice.models.cpds.tabular import TabularCPD, describe_configuration
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.result.fit import Fit
from suffice.structures.dag import DAG
from suffice.text import plural, shorten
from suffice.types import Floats

TOLERANCE = 0.05
ROUND_OFF = 1e-12
HOLDS = "holds a Bayesian network of discrete variables whose tables have a row for every parent configuration"


# Reading ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FileNode:
    """A node as a file gives it.

    Attributes
    ----------
    name : str
    states, parents : tuple of str
    rows : array, shape (n_parent_configurations, n_states)
        The numbers as written, the last parent varying fastest.
    at : int
        Where in the file the node stands.
    """

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    rows: NDArray[np.float64]
    at: int


def network(
    file: TextFile, nodes: Sequence[FileNode], properties: Mapping[str, Any], notes: Sequence[str] = ()
) -> BayesianNetwork:
    """Join the nodes of a file; whatever does not fit is an error with its place."""
    variables: dict[str, Variable] = {}
    for node in nodes:
        _check_node(file, node, variables)
        variables[node.name] = Variable(node.name, node.states, True)
    dag = dag_of(file, {node.name: node.parents for node in nodes}, {node.name: node.at for node in nodes})
    tables = {}
    for node in nodes:
        family = NodeFamily(variables[node.name], tuple(variables[parent] for parent in node.parents))
        _check_rows(file, node, family)
        tables[node.name] = TabularCPD.from_raw(family, node.rows, TOLERANCE)
    return BayesianNetwork(
        dag, tables, properties=properties, notes=(*file.notes, *notes, *normalisation_notes(tables))
    )


def _check_node(file: TextFile, node: FileNode, before: Mapping[str, Variable]) -> None:
    if not node.name:
        raise file.error(node.at, "This node has no name. Give it one.")
    if node.name in before:
        raise file.error(node.at, f"Node {node.name!r} was given already. Remove one of them.")
    if not node.states:
        raise file.error(node.at, f"Node {node.name!r} has no states. It needs at least one.")
    if len(set(node.states)) < len(node.states):
        repeated = next(state for place, state in enumerate(node.states) if state in node.states[:place])
        raise file.error(node.at, f"Node {node.name!r}: state {shorten(repeated)!r} is listed more than once.")


def dag_of(file: TextFile, parents: Mapping[str, Sequence[str]], at: Mapping[str, int]) -> DAG:
    """Return the graph; unknown parents and cycles are errors with their place."""
    if not parents:
        raise file.error(len(file.text), "The network has no variables. Add at least one.")
    for node, above in parents.items():
        seen = {node}
        for parent in above:
            if parent not in parents:
                raise file.error(
                    at[node],
                    f"Node {node!r} has the parent {shorten(parent)!r}, which is not a node of the file; they are "
                    f"{listing(parents, 12)}.{suggestion(shorten(parent), parents)}",
                )
            if parent in seen:
                raise file.error(
                    at[node], f"Node {node!r} has the parent {parent!r}: parents are other nodes, once each."
                )
            seen.add(parent)
    try:
        return DAG({node: tuple(above) for node, above in parents.items()})
    except StructureError as error:
        cycle = find_cycle(parents) or list(parents)
        raise file.error(at[cycle[-1]], str(error)) from None


def _check_rows(file: TextFile, node: FileNode, family: NodeFamily) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        proper = (node.rows >= 0).all(axis=1) & (np.abs(node.rows.sum(axis=1) - 1) <= TOLERANCE)
    if proper.all():
        return
    row = int(np.argmin(proper))
    codes, left = [], row
    for parent in reversed(family.parents):
        left, code = divmod(left, parent.n_states)
        codes.append(code)
    codes.reverse()
    raise file.error(
        node.at,
        f"Node {node.name!r}: the row for {describe_configuration(family.parents, codes)} is "
        f"{listing(node.rows[row].tolist())}, which is not a distribution: probabilities are not negative, and sums "
        f"further than {TOLERANCE} from 1 are not taken for rounding. Correct the numbers.",
    )


def n_rows(parents: Sequence[Sequence[str]]) -> int:
    """Return the number of parent configurations, from the states of every parent."""
    return math.prod(len(states) for states in parents)


def normalisation_notes(tables: Mapping[str, TabularCPD]) -> list[str]:
    """Say which tables had to be normalised, and by how much."""
    gaps = {
        name: float(np.nanmax(np.abs(cpd.raw.sum(axis=1) - 1))) for name, cpd in tables.items() if cpd.raw is not None
    }
    uneven = [name for name, gap in gaps.items() if gap > ROUND_OFF]
    if not uneven:
        return []
    worst = max(uneven, key=gaps.__getitem__)
    return [
        f"Rows that do not sum to one were normalised for computing, in {plural(len(uneven), 'table')}: "
        f"{listing(uneven, 12)}. The largest distance of a sum from one is {gaps[worst]:.3g}, at {worst!r}. "
        "The file's own numbers are kept for writing."
    ]


# Writing ------------------------------------------------------------------------------------------------------


def network_of(thing: Model | Fit, ending: str) -> BayesianNetwork:
    """Return the network to write, of a model or of a fit; what the format cannot hold is an error."""
    model = thing.model if isinstance(thing, Fit) else thing
    if not isinstance(model, BayesianNetwork):
        raise ArgumentError(f"A {ending} file {HOLDS}. Got {type(model).__name__} instead. {_other_endings(model)}")
    for cpd in model.cpds:
        _check_writable(cpd, ending)
    return model


def _other_endings(model: Model) -> str:
    return "Write it as .uai or .json." if isinstance(model, MarkovNetwork) else "Write it as .json."


def _check_writable(cpd: CPD, ending: str) -> None:
    for variable in cpd.family.variables:
        if not variable.is_discrete:
            raise ArgumentError(
                f"A {ending} file {HOLDS}. Variable {variable.name!r} is continuous. Write the network as .json."
            )
    name = cpd.family.child.name
    if not isinstance(cpd, TabularCPD) or cpd.configurations is not None:
        what = "a table of which only some rows are stored" if isinstance(cpd, TabularCPD) else f"of kind {cpd.kind!r}"
        raise ArgumentError(
            f"A {ending} file {HOLDS}. The distribution of {name!r} is {what}. Write the network as .json."
        )
    unknown = np.isnan(cpd.values).any(axis=1)
    if unknown.any():
        raise ArgumentError(
            f"Node {name!r}: the row for {cpd.describe_row(int(np.argmax(unknown)))} is unknown (NaN), which a "
            f"{ending} file cannot hold. Fit with ",
            Remedy("unseen_parents", "uniform"),
            " or with a prior, or write it as .json.",
        )


def rows_of(cpd: CPD) -> Floats:
    """Return the numbers to write: those of the file that the table came from, or the table's own."""
    assert isinstance(cpd, TabularCPD)  # `network_of` refuses others
    return cpd.values if cpd.raw is None else cpd.raw
