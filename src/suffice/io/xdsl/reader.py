"""Reading XDSL: the elements of a file become a network, and whatever does not fit an error with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from suffice.errors import listing, suggestion
from suffice.io.network_file import FileNode, network
from suffice.io.syntax.xml_file import Element, load_xml
from suffice.io.text_file import TextFile
from suffice.io.xdsl.names import NAME, ORDER, SAMPLES, USUAL_SAMPLES, text_of
from suffice.io.xdsl.nodes import STALE, XdslNode, XdslTaker
from suffice.io.xdsl.tables import KINDS, Definition, first_parent_fastest
from suffice.models.bayes_net import BayesianNetwork
from suffice.text import plural, shorten

MAX_FILLED = 2**24
FIRST_FASTEST = (
    "The file names {!r} as its program, which writes tables with the first parent varying fastest, where GeNIe has "
    "the last, and takes the shown names for the nodes' names. It was read that way."
)


def read(path: str) -> BayesianNetwork:
    """Read a network; see `suffice.io.xdsl`."""
    document = _XdslDocument(*load_xml(path))
    nodes = document.nodes
    ordered = [nodes[identifier] for identifier in document.ordered()]
    found = [document.file_node(node) for node in ordered]
    properties = {
        "name": document.name,
        "network": document.texts,
        "variables": {node.name: node.texts for node in ordered if node.texts},
        "probabilities": {node.name: node.probability_texts for node in ordered if node.probability_texts},
    }
    notes = [*document.take.notes(), *document.take.decisions, *_changed_kinds(nodes)]
    return network(document.file, found, properties, notes)


def _changed_kinds(nodes: Mapping[str, XdslNode]) -> Iterator[str]:
    """Say which nodes were no tables before."""
    for kind in KINDS:
        names = [node.name for node in nodes.values() if node.kind == kind]
        if kind != "cpt" and names:
            yield f"{plural(len(names), 'node')} of kind {kind} became tables: {listing(names, 12)}."


class _XdslDocument:
    """The elements of a file, taken apart."""

    def __init__(self, file: TextFile, root: Element) -> None:
        if root.tag.lower() != "smile":
            raise file.error(root.at, f"An XDSL file holds a <smile> element. Got <{shorten(root.tag)}> instead.")
        self.file = file
        self.take = XdslTaker(file)
        self.filled = 0
        self.first_fastest = False
        parts = self.take.parts(root, ("properties", "nodes", "extensions", "dynamic"), ("version", "id", *SAMPLES))
        for element in parts["dynamic"]:
            raise file.error(element.at, "This is a dynamic network, over time steps. Unroll it in GeNIe first.")
        self._take_network(
            root, [entry for part in parts["properties"] for entry in self.take.parts(part, ["property"])["property"]]
        )
        self.nodes = self.take.nodes(self.take.single(root, parts, "nodes"))
        for part in parts["extensions"]:
            for genie in self.take.parts(part, ("genie",))["genie"]:
                self._take_genie(genie)

    def _take_network(self, root: Element, entries: list[Element]) -> None:
        """Take what the file says of the network itself."""
        own: dict[str, str] = {}
        self.texts: list[str] = []
        for entry in entries:
            key, value = self.take.property(entry)
            if key in (NAME, ORDER):
                own[key] = value
            else:
                self.texts.append(text_of(key, value)[1])
        self.identifier = root.attributes.get("id", "")
        self.name = self.take.restored(own.get(NAME), self.identifier)
        self.order = own.get(ORDER)
        for key in SAMPLES:
            if root.attributes.get(key, USUAL_SAMPLES) != USUAL_SAMPLES:
                self.texts.append(f"genie {key} = {root.attributes[key]}")

    def _take_genie(self, genie: Element) -> None:
        """Take what GeNIe shows, and see which program wrote the file."""
        self.take.attributes(genie, ("version", "app", "name"))
        program = genie.attributes.get("app", "")
        if program.lower().startswith("agrum"):
            self.first_fastest = self.take.names_are_shown = True
            self.take.decisions.append(FIRST_FASTEST.format(shorten(program)))
        title = genie.attributes.get("name", self.name)
        if title not in (self.name, self.identifier):
            self.texts.append(f"genie name = {title}")
        self.texts += self.take.shown(genie, self.nodes)

    def ordered(self) -> list[str]:
        """Return the identifiers of the nodes, in the order of the file or in the one that it keeps."""
        kept = (self.order or "").split()
        if sorted(kept) == sorted(self.nodes):
            return kept
        if self.order is not None:
            self.take.decisions.append(STALE.format(ORDER, shorten(self.identifier)))
        return list(self.nodes)

    # Tables ---------------------------------------------------------------------------------------------------

    def file_node(self, node: XdslNode) -> FileNode:
        """Return a node with its rows."""
        parents = [self.nodes[parent] for parent in self._parents(node)]
        sizes = tuple(len(parent.states) for parent in parents)
        definition = Definition(self.take, node.element, node.name, node.parts, sizes, node.states)
        if node.kind != "cpt":
            self._check_filled(definition)
        rows = KINDS[node.kind](definition)
        if self.first_fastest:
            rows = first_parent_fastest(rows, sizes)
        return FileNode(node.name, node.labels, tuple(parent.name for parent in parents), rows, node.element.at)

    def _parents(self, node: XdslNode) -> Iterator[str]:
        for element in node.parts["parents"]:
            for parent in self.take.text(element).split():
                if parent not in self.nodes:
                    raise self.file.error(
                        element.at,
                        f"Node {node.name!r} has the parent {shorten(parent)!r}, which is not a node of the file; they "
                        f"are {listing(self.nodes, 12)}.{suggestion(shorten(parent), self.nodes)}",
                    )
                yield parent

    def _check_filled(self, node: Definition) -> None:
        """Refuse tables that a short file would fill beyond reason."""
        self.filled += node.n_rows * len(node.states)
        limit = max(MAX_FILLED, len(self.file.text))
        if self.filled > limit:
            raise self.file.error(
                node.element.at,
                f"With the table of {node.name!r}, those that the file does not list have more than {limit:,} numbers "
                "in all. Give the node fewer parents.",
            )
