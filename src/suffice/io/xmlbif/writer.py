"""Writing XMLBIF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from suffice.data.variable import Variable
from suffice.io.network_file import network_of, rows_of
from suffice.io.syntax.xml_text import written_element
from suffice.io.text_file import write_text
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import CPD
from suffice.models.model import Model
from suffice.result.fit import Fit


def write(thing: Model | Fit, path: str) -> None:
    """Write a network, or the network of a fit; see `suffice.io.xmlbif`."""
    write_text(path, "".join(f"{line}\n" for line in _lines(network_of(thing, ".xmlbif"))))


def _lines(model: BayesianNetwork) -> Iterator[str]:
    properties = model.properties
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<BIF VERSION="0.3">'
    yield "<NETWORK>"
    yield written_element("NAME", str(properties.get("name") or "unknown"))
    yield from _property_lines(properties.get("network"))
    for cpd in model.cpds:
        yield from _variable_lines(cpd.family.child, properties.get("variables") or {})
    for cpd in model.cpds:
        yield from _definition_lines(cpd, properties.get("probabilities") or {})
    yield "</NETWORK>"
    yield "</BIF>"


def _property_lines(texts: Iterable[str] | None) -> Iterator[str]:
    return (written_element("PROPERTY", str(text)) for text in texts or ())


def _variable_lines(variable: Variable, properties: Mapping[str, Iterable[str]]) -> Iterator[str]:
    yield '<VARIABLE TYPE="nature">'
    yield written_element("NAME", variable.name)
    for label in variable.labels:
        yield written_element("OUTCOME", str(label))
    yield from _property_lines(properties.get(variable.name))
    yield "</VARIABLE>"


def _definition_lines(cpd: CPD, properties: Mapping[str, Iterable[str]]) -> Iterator[str]:
    child = cpd.family.child.name
    yield "<DEFINITION>"
    yield written_element("FOR", child)
    for parent in cpd.family.parents:
        yield written_element("GIVEN", parent.name)
    yield from _property_lines(properties.get(child))
    yield "<TABLE>"
    for row in rows_of(cpd).tolist():
        yield " ".join(map(repr, row))
    yield "</TABLE>"
    yield "</DEFINITION>"
