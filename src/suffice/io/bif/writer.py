"""Writing BIF."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from suffice.data.variable import Variable
from suffice.io.bif.blocks import written_property
from suffice.io.bif.lexer import written_name
from suffice.io.network_file import network_of, rows_of
from suffice.io.text_file import write_text
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import CPD
from suffice.models.model import Model
from suffice.result.fit import Fit
from suffice.values import Label


def write(thing: Model | Fit, path: str) -> None:
    """Write a network, or the network of a fit; see `suffice.io.bif`."""
    write_text(path, "".join(f"{line}\n" for line in _lines(network_of(thing, ".bif"))))


def _lines(model: BayesianNetwork) -> Iterator[str]:
    properties = model.properties
    yield f"network {written_name(str(properties.get('name') or 'unknown'))} {{"
    yield from _property_lines(properties.get("network"))
    yield "}"
    for cpd in model.cpds:
        yield from _variable_lines(cpd.family.child, properties.get("variables") or {})
    for cpd in model.cpds:
        yield from _probability_lines(cpd, properties.get("probabilities") or {})


def _property_lines(texts: Iterable[str] | None) -> Iterator[str]:
    return (f"  property {written_property(str(text))};" for text in texts or ())


def _variable_lines(variable: Variable, properties: Mapping[str, Iterable[str]]) -> Iterator[str]:
    yield f"variable {written_name(variable.name)} {{"
    yield f"  type discrete [ {variable.n_states} ] {{ {_states(variable.labels)} }};"
    yield from _property_lines(properties.get(variable.name))
    yield "}"


def _probability_lines(cpd: CPD, properties: Mapping[str, Iterable[str]]) -> Iterator[str]:
    child, parents = cpd.family.child, cpd.family.parents
    above = f" | {_states(parent.name for parent in parents)}" if parents else ""
    yield f"probability ( {written_name(child.name)}{above} ) {{"
    yield from _property_lines(properties.get(child.name))
    yield from _row_lines(cpd)
    yield "}"


def _row_lines(cpd: CPD) -> Iterator[str]:
    states = [[written_name(str(label)) for label in parent.labels] for parent in cpd.family.parents]
    for above, row in zip(itertools.product(*states), rows_of(cpd).tolist(), strict=True):
        start = f"({', '.join(above)})" if above else "table"
        yield f"  {start} {', '.join(map(repr, row))};"


def _states(labels: Iterable[Label]) -> str:
    return ", ".join(written_name(str(label)) for label in labels)
