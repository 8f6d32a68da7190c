"""Reading BIF: the blocks of a file become a network, and whatever does not fit becomes an error with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from suffice.data.variable import Variable
from suffice.errors import listing, suggestion
from suffice.io.bif.blocks import BifDocument, ProbabilityBlock, parse
from suffice.io.bif.lexer import BifText, Name, load
from suffice.io.bif.tables import Node
from suffice.io.network_file import dag_of, normalisation_notes
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.tabular import TabularCPD
from suffice.text import plural, shorten

MAX_FILLED = 2**24


def read(path: str) -> BayesianNetwork:
    """Read a network; see `suffice.io.bif`."""
    source = load(path)
    document = parse(source)
    nodes = _nodes(source, document)
    dag = dag_of(
        source, {node.name: node.family.scope[:-1] for node in nodes}, {node.name: node.block.at for node in nodes}
    )
    _check_sizes(source, nodes)
    tables = {node.name: node.cpd() for node in nodes}
    properties = {
        "name": document.name,
        "network": document.properties,
        "variables": {name: block.properties for name, block in document.variables.items() if block.properties},
        "probabilities": {node.name: node.block.properties for node in nodes if node.block.properties},
    }
    notes = (*source.notes, *_notes(tables))
    return BayesianNetwork(dag, tables, properties=properties, notes=notes)


# The graph ----------------------------------------------------------------------------------------------------


def _nodes(source: BifText, document: BifDocument) -> list[Node]:
    """Join the blocks of every variable, in the order in which the variables are declared."""
    variables = {name: Variable(name, block.states, True) for name, block in document.variables.items()}
    if not variables:
        raise source.error(len(source.text), "The network has no variables. Add a variable block for each of them.")
    codes = {
        name: {state: code for code, state in enumerate(block.states)} for name, block in document.variables.items()
    }
    # Programs that know noisy functions list the rows of single causes only, and may give a node no numbers at all.
    partial = any(entry.startswith("function") for block in document.probabilities for entry in block.properties)
    nodes: dict[str, Node] = {}
    for block in document.probabilities:
        names = _family_names(source, block, variables)
        child = names[0].text
        if child in nodes:
            before = source.line(nodes[child].block.at)
            raise source.error(names[0].at, f"Node {child!r} has numbers at line {before} already. Remove one of them.")
        family = NodeFamily(variables[child], tuple(variables[name.text] for name in names[1:]))
        noisy = any(entry.startswith("function") for entry in block.properties)
        nodes[child] = Node(source, block, family, [codes[name.text] for name in names[1:]], noisy)
    for name, variable in document.variables.items():
        if name not in nodes and partial:
            nodes[name] = Node(
                source, ProbabilityBlock(variable.name.at, (0, 0)), NodeFamily(variables[name]), [], True
            )
        elif name not in nodes:
            raise source.error(variable.name.at, f"Variable {name!r} has no probability block. Add one.")
    return [nodes[name] for name in variables]


def _family_names(source: BifText, block: ProbabilityBlock, variables: Mapping[str, Variable]) -> list[Name]:
    """Return the child and its parents. A bar, commas and, where names are known to have none, blanks separate them."""
    names: list[Name] = []
    for piece in source.names(block.names):
        words = [piece] if piece.text in variables else source.words((piece.at, piece.end))
        names += words if all(word.text in variables for word in words) else [piece]
    if not names:
        raise source.error(block.at, "This block names no variable. Write 'probability ( child | parent, parent ) {'.")
    seen: set[str] = set()
    for name in names:
        if name.text not in variables:
            raise source.error(
                name.at,
                f"{shorten(name.text)!r} is not a variable of the file; they are {listing(variables, 12)}."
                f"{suggestion(shorten(name.text), variables)} Declare it in a variable block.",
            )
        if name.text in seen:
            raise source.error(
                name.at, f"{name.text!r} is named twice here. A node's parents are other nodes, once each."
            )
        seen.add(name.text)
    return names


def _check_sizes(source: BifText, nodes: Sequence[Node]) -> None:
    """Refuse tables that no file this small can list, and that defaults would fill beyond reason."""
    limit = max(MAX_FILLED, len(source.text))
    total = 0
    for node in nodes:
        total += node.n_rows * node.family.child.n_states
        if total > limit:
            raise source.error(
                node.block.at,
                f"With the table of {node.name!r}, the tables have more than {limit:,} numbers in all, which a file "
                "this long cannot list and a default entry may not fill. Give the node fewer parents.",
            )


# Notes --------------------------------------------------------------------------------------------------------


def _notes(tables: Mapping[str, TabularCPD]) -> list[str]:
    notes = []
    unknown = [name for name, cpd in tables.items() if np.isnan(cpd.values).any()]
    if unknown:
        notes.append(
            f"Rows that the file leaves to a noisy function, or out, are unknown (NaN), in "
            f"{plural(len(unknown), 'table')}: {listing(unknown, 12)}."
        )
    return notes + normalisation_notes(tables)
