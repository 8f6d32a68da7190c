"""Reading XMLBIF: the elements of a file become a network, and whatever does not fit an error with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.errors import FileFormatError, listing, suggestion
from suffice.io.network_file import TOLERANCE, FileNode, dag_of, n_rows, network
from suffice.io.syntax.xml_file import Element, load_xml
from suffice.io.syntax.xml_parts import Taker
from suffice.io.text_file import TextFile
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds.tabular import TabularCPD
from suffice.text import plural, shorten

OLDER = {"probability": "definition", "value": "outcome"}
BEFORE_03 = (
    "The file has PROBABILITY elements, as versions before 0.3 do. Their tables were read in the order of 0.3, "
    "FOR varying fastest. Compare some numbers."
)


def read(path: str) -> BayesianNetwork:
    """Read a network; see `suffice.io.xmlbif`."""
    file, root = load_xml(path)
    document = _XmlbifDocument(file, root)
    variables = document.variables()
    definitions = document.definitions(variables)
    parents = {name: definitions[name].parents for name in variables}
    dag_of(file, parents, {name: definitions[name].element.at for name in variables})
    nodes = [document.node(definitions[name], variables) for name in variables]
    properties = {
        "name": document.name,
        "network": document.take.texts(document.parts["PROPERTY"]),
        "variables": {name: variable.properties for name, variable in variables.items() if variable.properties},
        "probabilities": {name: definitions[name].properties for name in variables if definitions[name].properties},
    }
    return _network(file, nodes, properties, [*document.take.notes(), *document.notes])


# Elements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Variable:
    element: Element
    states: tuple[str, ...]
    properties: list[str]


@dataclass(frozen=True)
class _Definition:
    element: Element
    name: str
    parents: tuple[str, ...]
    table: Element
    properties: list[str]


class _XmlbifDocument:
    """The elements of a file, taken apart."""

    def __init__(self, file: TextFile, root: Element) -> None:
        self.file = file
        self.take = Taker(file, OLDER)
        self.notes: list[str] = []
        if root.tag.lower() != "bif":
            raise file.error(root.at, f"An XMLBIF file holds a <BIF> element. Got <{shorten(root.tag)}> instead.")
        within = self.take.single(root, self.take.parts(root, ["NETWORK"], ("VERSION", "version")), "NETWORK")
        self.parts = self.take.parts(within, ["NAME", "PROPERTY", "VARIABLE", "DEFINITION"])
        self.name = self.take.text(self.take.single(within, self.parts, "NAME")) if self.parts["NAME"] else ""

    def variables(self) -> dict[str, _Variable]:
        variables: dict[str, _Variable] = {}
        for element in self.parts["VARIABLE"]:
            self._check_type(element)
            parts = self.take.parts(element, ["NAME", "OUTCOME", "PROPERTY"], ("TYPE", "type"))
            name = self.take.text(self.take.single(element, parts, "NAME"))
            if name in variables:
                raise self._twice(element, f"Variable {name!r}", variables[name].element)
            states = self._states(name, parts["OUTCOME"])
            if not name or not states:
                raise self.file.error(element.at, f"Variable {name!r} has no {'states' if name else 'name'}. Add it.")
            variables[name] = _Variable(element, states, self.take.texts(parts["PROPERTY"]))
        return variables

    def _check_type(self, element: Element) -> None:
        kind = element.attributes.get("TYPE", element.attributes.get("type", "nature"))
        if kind.lower() not in ("nature", "discrete"):
            raise self.file.error(
                element.at,
                f"A variable of type {shorten(kind)!r}: the file is an influence diagram, and only networks of "
                'TYPE="nature" variables are read. Remove decisions and utilities first.',
            )

    def _states(self, name: str, outcomes: Sequence[Element]) -> tuple[str, ...]:
        first: dict[str, Element] = {}
        for element in outcomes:
            state = self.take.text(element)
            if state in first:
                raise self._twice(element, f"State {shorten(state)!r} of variable {name!r}", first[state])
            first[state] = element
        return tuple(first)

    def definitions(self, variables: Mapping[str, _Variable]) -> dict[str, _Definition]:
        definitions: dict[str, _Definition] = {}
        for element in self.parts["DEFINITION"]:
            definition = self._definition(element)
            if definition.name not in variables:
                raise self.file.error(
                    element.at,
                    f"{shorten(definition.name)!r} is not a variable of the file; they are {listing(variables, 12)}."
                    f"{suggestion(shorten(definition.name), variables)} Add a <VARIABLE> for it.",
                )
            if definition.name in definitions:
                raise self._twice(element, f"The table of {definition.name!r}", definitions[definition.name].element)
            definitions[definition.name] = definition
        for name, variable in variables.items():
            if name not in definitions:
                raise self.file.error(variable.element.at, f"Variable {name!r} has no <DEFINITION>. Add one.")
        return definitions

    def _definition(self, element: Element) -> _Definition:
        if element.tag.lower() == "probability" and BEFORE_03 not in self.notes:
            self.notes.append(BEFORE_03)
        parts = self.take.parts(element, ["FOR", "GIVEN", "TABLE", "PROPERTY"])
        name = self.take.text(self.take.single(element, parts, "FOR"))
        table = self.take.single(element, parts, "TABLE")
        parents = tuple(self.take.texts(parts["GIVEN"]))
        return _Definition(element, name, parents, table, self.take.texts(parts["PROPERTY"]))

    def node(self, definition: _Definition, variables: Mapping[str, _Variable]) -> FileNode:
        """Return a node with its rows; FOR varies fastest."""
        states = variables[definition.name].states
        found = self.take.numbers(definition.table)
        rows = n_rows([variables[parent].states for parent in definition.parents])
        if len(found) != rows * len(states):
            raise self.file.error(
                definition.table.at,
                f"The table of {definition.name!r} needs {rows * len(states):,} numbers, "
                f"{plural(len(states), 'state')} × {plural(rows, 'parent configuration')}. Got {len(found):,} instead.",
            )
        table = found.reshape(rows, len(states))
        if not _are_proper(table) and _are_proper(found.reshape(len(states), rows).T):
            raise self.file.error(
                definition.table.at,
                f"Node {definition.name!r}: not all rows of its table sum to one. With FOR varying slowest they would; "
                "XMLBIF has it varying fastest. Correct the order of the numbers.",
            )
        return FileNode(definition.name, states, definition.parents, table, definition.element.at)

    def _twice(self, element: Element, what: str, first: Element) -> FileFormatError:
        return self.file.error(
            element.at, f"{what} was given at line {self.file.line(first.at)} already. Remove one of them."
        )


# Tables -------------------------------------------------------------------------------------------------------


def _are_proper(rows: NDArray[np.float64]) -> bool:
    """Whether every row is near a distribution, or all zeros."""
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.abs(rows.sum(axis=1) - 1) <= TOLERANCE
    return bool((near | _zeros(rows)).all())


def _zeros(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows are all zeros; shape (n_rows,)."""
    return np.asarray((rows == 0).all(axis=1))


def _network(
    file: TextFile, nodes: Sequence[FileNode], properties: Mapping[str, object], notes: Sequence[str]
) -> BayesianNetwork:
    """Return the network; rows of zeros stand for rows that are unknown."""
    unknown = {node.name: zeros for node in nodes if (zeros := _zeros(node.rows)).any()}
    certain = [_without_zeros(node, unknown[node.name]) if node.name in unknown else node for node in nodes]
    model = network(file, certain, properties, notes)
    if not unknown:
        return model
    tables = {cpd.family.child.name: cpd for cpd in model.cpds}
    for node in nodes:
        if node.name in unknown:
            rows = np.where(unknown[node.name][:, None], np.nan, node.rows)
            tables[node.name] = TabularCPD.from_raw(tables[node.name].family, rows, TOLERANCE)
    note = (
        f"Rows of zeros, which are no distributions, are unknown (NaN), in {plural(len(unknown), 'table')}: "
        f"{listing(unknown, 12)}."
    )
    return BayesianNetwork(model.dag, tables, properties=properties, notes=(*model.notes, note))


def _without_zeros(node: FileNode, zeros: NDArray[np.bool_]) -> FileNode:
    """Return the node with a row that passes for a distribution in the place of every row of zeros."""
    rows = node.rows.copy()
    rows[zeros, 0] = 1
    return replace(node, rows=rows)
