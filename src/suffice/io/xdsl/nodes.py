"""The nodes of an XDSL file, with the names that their identifiers stand for and what GeNIe shows of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from suffice.errors import listing
from suffice.io.syntax.xml_file import Element
from suffice.io.syntax.xml_parts import Parts, Taker
from suffice.io.text_file import TextFile
from suffice.io.xdsl.names import NAME, SHOWN, STATES, stands_for, text_of
from suffice.io.xdsl.tables import KINDS
from suffice.text import shorten

PARTS = ("state", "parents", "probabilities", "resultingstates", "parameters", "strengths", "property")
STALE = (
    "The property {} of {!r} does not fit what the file says by now, and was left out: the file's identifiers stand."
)


@dataclass
class XdslNode:
    """A node as the file gives it.

    Attributes
    ----------
    element : Element
    identifier, name : str
        What the file calls it, and what that stands for.
    states, labels : tuple of str
        Likewise for its states.
    parts : mapping from str to list of Element
        The elements within it, by tag.
    texts, probability_texts : list of str
        Its properties, and those of its table.
    """

    element: Element
    identifier: str
    name: str
    states: tuple[str, ...]
    labels: tuple[str, ...]
    parts: Parts
    texts: list[str] = field(default_factory=list)
    probability_texts: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """The kind of node: one of `suffice.io.xdsl.tables.KINDS`."""
        return self.element.tag.lower()


class XdslTaker(Taker):
    """Takes the elements of an XDSL file apart, and tells what was decided."""

    def __init__(self, file: TextFile) -> None:
        super().__init__(file)
        self.decisions: list[str] = []
        self.names_are_shown = False

    def property(self, element: Element) -> tuple[str, str]:
        """Return the identifier and the value of a user property."""
        self.attributes(element, ("id",))
        return element.attributes.get("id", ""), self.whole_text(element)

    def whole_text(self, element: Element) -> str:
        """Return the text of an element with the blanks around it."""
        self.check_leaf(element)
        return element.text

    def restored(self, kept: str | None, identifier: str) -> str:
        """Return the name that an identifier stands for."""
        if kept is not None and stands_for(identifier, kept, "n"):
            return kept
        if kept is not None:
            self.decisions.append(STALE.format(NAME, shorten(identifier)))
        return identifier

    # Nodes ----------------------------------------------------------------------------------------------------

    def nodes(self, part: Element) -> dict[str, XdslNode]:
        """Return the nodes by their identifiers."""
        self.check_no_text(part)
        nodes: dict[str, XdslNode] = {}
        for element in part.children:
            identifier = element.attributes.get("id", "")
            if element.tag.lower() not in KINDS:
                raise self.file.error(
                    element.at,
                    f"Node {shorten(identifier)!r} is of kind {shorten(element.tag)!r}; only {listing(KINDS)} are "
                    "read. Change its type in GeNIe, or remove it.",
                )
            if identifier in nodes:
                raise self.file.error(
                    element.at, f"Node {shorten(identifier)!r} was given already. Remove one of them."
                )
            nodes[identifier] = self._node(element, identifier)
        return nodes

    def _node(self, element: Element, identifier: str) -> XdslNode:
        parts = self.parts(element, PARTS, ("id",))
        for state in parts["state"]:
            self.parts(state, (), ("id",))
        states = tuple(state.attributes.get("id", "") for state in parts["state"])
        if not states or not identifier:
            raise self.file.error(
                element.at, f"Node {shorten(identifier)!r} has no {'states' if identifier else 'id'}. Add it."
            )
        own: dict[str, str] = {}
        texts: dict[str, list[str]] = {"variables": [], "probabilities": []}
        for entry in parts["property"]:
            key, value = self.property(entry)
            if key in (NAME, STATES):
                own[key] = value
            else:
                place, text = text_of(key, value)
                texts[place].append(text)
        name = self.restored(own.get(NAME), identifier)
        labels = self._labels(own.get(STATES), states, identifier)
        return XdslNode(element, identifier, name, states, labels, parts, texts["variables"], texts["probabilities"])

    def _labels(self, kept: str | None, states: tuple[str, ...], node: str) -> tuple[str, ...]:
        """Return the labels that the identifiers of states stand for."""
        if kept is None:
            return states
        try:
            labels = json.loads(kept)
        except (ValueError, RecursionError):
            labels = None
        if isinstance(labels, list) and len(labels) == len(states):
            pairs = zip(labels, states, strict=True)
            if all(isinstance(label, str) and stands_for(state, label, "s") for label, state in pairs):
                return tuple(labels)
        self.decisions.append(STALE.format(STATES, shorten(node)))
        return states

    # What GeNIe shows -----------------------------------------------------------------------------------------

    def shown(self, genie: Element, nodes: Mapping[str, XdslNode]) -> list[str]:
        """Keep the names, positions and comments of nodes as texts; return those of the network."""
        texts = []
        for child in genie.children:
            node = nodes.get(child.attributes.get("id", ""))
            if child.tag == "submodel":
                self.leave_out(child, genie)
                self.shown(child, nodes)
            elif child.tag == "node" and node is not None:
                self._shown_node(child, node)
            elif child.tag == "comment" and genie.tag == "genie":
                texts.append(f"genie comment = {self.whole_text(child)}")
            else:
                self.leave_out(child, genie)
        return texts

    def _shown_node(self, element: Element, node: XdslNode) -> None:
        for child in element.children:
            if child.tag not in SHOWN:
                self.leave_out(child, element)
            elif child.tag == "name" and self.names_are_shown:
                node.name = self.text(child) or node.name
            elif child.tag != "name" or self.whole_text(child) not in (node.name, node.identifier):
                node.texts.append(f"genie {child.tag} = {self.whole_text(child)}")
