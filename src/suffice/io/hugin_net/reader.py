"""Reading HUGIN NET: the blocks of a file become a network, and what does not fit becomes an error with its place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.errors import listing, suggestion
from suffice.io.hugin_net.blocks import HuginDocument, NodeBlock, PotentialBlock, parse
from suffice.io.hugin_net.tables import read_table
from suffice.io.network_file import TOLERANCE, FileNode, network
from suffice.io.syntax.braces_file import PERCENT, BracesFile, KeyValue, Word
from suffice.io.syntax.braces_kept import changed, merged
from suffice.models.bayes_net import BayesianNetwork
from suffice.text import plural, shorten
from suffice.types import Json

MAX_FILLED = 2**20


@dataclass
class _Remarks:
    """The nodes that something has to be said about."""

    uniform: list[str] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    n_filled: int = 0


def read(path: str) -> BayesianNetwork:
    """Read a network; see `suffice.io.hugin_net`."""
    file = BracesFile.load(path, PERCENT)
    document = parse(file)
    potentials = _potentials(file, document)
    remarks = _Remarks()
    nodes = [_node(file, document, node, potentials.get(key), remarks) for key, node in document.nodes.items()]
    renamed = {each.kept.name: each.name for each in document.nodes.values() if each.kept.name not in (None, each.name)}
    return network(file, nodes, _properties(file, document, potentials), [*_notes(remarks), *changed(renamed)])


def _potentials(file: BracesFile, document: HuginDocument) -> dict[str, PotentialBlock]:
    potentials: dict[str, PotentialBlock] = {}
    for block in document.potentials:
        child = block.child.text
        for word in (block.child, *block.parents):
            _check_known(file, document, word)
        if child in potentials:
            before = file.line(potentials[child].at)
            raise file.error(block.at, f"Node {child!r} has a potential at line {before} already. Remove one of them.")
        potentials[child] = block
    return potentials


def _check_known(file: BracesFile, document: HuginDocument, word: Word) -> None:
    if word.text not in document.nodes:
        raise file.error(
            word.at,
            f"{shorten(word.text)!r} is not a node of the file; they are {listing(document.nodes, 12)}."
            f"{suggestion(shorten(word.text), document.nodes)} Declare it in a node block.",
        )


# Tables -------------------------------------------------------------------------------------------------------


def _node(
    file: BracesFile, document: HuginDocument, node: NodeBlock, block: PotentialBlock | None, remarks: _Remarks
) -> FileNode:
    parents = [document.nodes[word.text] for word in block.parents] if block else []
    scope = [(each.name, len(each.states)) for each in (*parents, node)]
    at = block.at if block else node.word.at
    models = [each for each in block.properties if _is_model(each)] if block else []
    if block and block.data:
        rows = _with_weights(read_table(file, node.name, scope, block.data.value), node.name, remarks)
    else:
        for each in models:
            raise file.error(
                each.at,
                f"The table of {node.name!r} is a model, {each.key!r}, without its numbers; only tables of numbers can "
                "be read. Let HUGIN compute the table and write it as 'data'.",
            )
        rows = _uniform(file, at, scope, remarks)
    remarks.models += [node.name] if models else []
    return FileNode(node.name, node.states, tuple(parent.name for parent in parents), rows, at)


def _is_model(found: KeyValue) -> bool:
    return found.key.startswith("model_") or found.key == "samples_per_interval"


def _uniform(file: BracesFile, at: int, scope: Sequence[tuple[str, int]], remarks: _Remarks) -> NDArray[np.float64]:
    name, n_states = scope[-1]
    n_numbers = math.prod(n for _, n in scope)
    remarks.uniform.append(name)
    remarks.n_filled += n_numbers
    if remarks.n_filled > MAX_FILLED:
        raise file.error(
            at,
            f"Node {name!r} has no numbers, and with its table more than {MAX_FILLED:,} numbers would have to be made "
            "up. Add 'data', or give the node fewer parents.",
        )
    return np.full((n_numbers // n_states, n_states), 1 / n_states)


def _with_weights(rows: NDArray[np.float64], name: str, remarks: _Remarks) -> NDArray[np.float64]:
    """Return the rows with those that are weights rather than probabilities divided by their sums."""
    with np.errstate(over="ignore"):
        sums = rows.sum(axis=1, keepdims=True)
    weights = (abs(sums - 1) > TOLERANCE) & (sums > 0) & np.isfinite(sums)
    if not weights.any():
        return rows
    remarks.weights.append(name)
    return rows / np.where(weights, sums, 1.0)


# What is kept -------------------------------------------------------------------------------------------------


def _properties(file: BracesFile, document: HuginDocument, potentials: Mapping[str, PotentialBlock]) -> dict[str, Json]:
    variables, probabilities = {}, {}
    for key, node in document.nodes.items():
        of_table = potentials[key].properties if key in potentials else []
        variables[node.name] = merged([file.written(each) for each in node.properties], node.kept.property)
        probabilities[node.name] = merged([file.written(each) for each in of_table], node.kept.potential)
    return {
        "name": document.name,
        "network": merged([file.written(each) for each in document.properties], document.kept.property),
        "variables": {name: texts for name, texts in variables.items() if texts},
        "probabilities": {name: texts for name, texts in probabilities.items() if texts},
    }


def _notes(remarks: _Remarks) -> list[str]:
    notes = []
    if remarks.uniform:
        notes.append(
            f"The file has no numbers for {plural(len(remarks.uniform), 'node')}, which were read as uniform: "
            f"{listing(remarks.uniform, 12)}."
        )
    if remarks.weights:
        notes.append(
            f"Rows whose sums are further than {TOLERANCE} from one were taken for weights and divided by their sums, "
            f"in {plural(len(remarks.weights), 'table')}: {listing(remarks.weights, 12)}."
        )
    if remarks.models:
        notes.append(
            f"The numbers of {plural(len(remarks.models), 'table')} were taken as they are, not computed from the "
            f"model that the file also has: {listing(remarks.models, 12)}."
        )
    return notes
