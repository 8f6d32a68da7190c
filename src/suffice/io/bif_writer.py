"""Writing BIF."""

from __future__ import annotations

import gzip
import io
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from suffice.data.variable import Variable
from suffice.errors import ArgumentError
from suffice.files import atomic_write
from suffice.io.bif_blocks import written_property
from suffice.io.bif_lexer import written_name
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds.tabular import TabularCPD
from suffice.result.fit import Fit

HOLDS = (
    "A .bif file holds a Bayesian network of discrete variables whose tables have a row for every parent configuration"
)


def write(thing: Any, path: str) -> None:
    """Write a network, or the network of a fit; see `suffice.io.bif`."""
    model = thing.model if isinstance(thing, Fit) else thing
    if not isinstance(model, BayesianNetwork):
        raise ArgumentError(f"{HOLDS}. Got {type(model).__name__} instead. Write it as .json.")
    text = "".join(f"{line}\n" for line in _lines(model))
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"A name has the character {text[error.start]!r}, which UTF-8 cannot hold.") from None
    with atomic_write(path, binary=True) as file:
        file.write(_packed(data) if path.lower().endswith(".gz") else data)


def _packed(data: bytes) -> bytes:
    """Pack without name and time, so that equal networks make equal files."""
    result = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=result, mtime=0) as file:
        file.write(data)
    return result.getvalue()


def _lines(model: BayesianNetwork) -> Iterator[str]:
    properties = model.properties
    yield f"network {written_name(str(properties.get('name') or 'unknown'))} {{"
    yield from _property_lines(properties.get("network"))
    yield "}"
    for cpd in model.cpds:
        yield from _variable_lines(cpd.family.child, properties.get("variables") or {})
    for cpd in model.cpds:
        yield from _probability_lines(cpd, properties.get("probabilities") or {})


def _property_lines(texts: Any) -> Iterator[str]:
    return (f"  property {written_property(str(text))};" for text in texts or ())


def _variable_lines(variable: Variable, properties: Any) -> Iterator[str]:
    if not variable.is_discrete:
        raise ArgumentError(f"{HOLDS}. Variable {variable.name!r} is continuous. Write the network as .json.")
    yield f"variable {written_name(variable.name)} {{"
    yield f"  type discrete [ {variable.n_states} ] {{ {_states(variable.labels)} }};"
    yield from _property_lines(properties.get(variable.name))
    yield "}"


def _probability_lines(cpd: Any, properties: Any) -> Iterator[str]:
    child, parents = cpd.family.child, cpd.family.parents
    if not isinstance(cpd, TabularCPD) or cpd.configurations is not None:
        what = "a table of which only some rows are stored" if isinstance(cpd, TabularCPD) else f"of kind {cpd.kind!r}"
        raise ArgumentError(f"{HOLDS}. The distribution of {child.name!r} is {what}. Write the network as .json.")
    above = f" | {_states(parent.name for parent in parents)}" if parents else ""
    yield f"probability ( {written_name(child.name)}{above} ) {{"
    yield from _property_lines(properties.get(child.name))
    yield from _row_lines(cpd)
    yield "}"


def _row_lines(cpd: TabularCPD) -> Iterator[str]:
    rows = cpd.values if cpd.raw is None else cpd.raw
    unknown = np.isnan(rows).any(axis=1)
    if unknown.any():
        raise ArgumentError(
            f"Node {cpd.family.child.name!r}: the row for {cpd.describe_row(int(np.argmax(unknown)))} is unknown "
            "(NaN), which BIF cannot hold. Fit with unseen_parents='uniform' or with a prior, or write it as .json."
        )
    states = [[written_name(str(label)) for label in parent.labels] for parent in cpd.family.parents]
    for above, row in zip(itertools.product(*states), rows.tolist(), strict=True):
        start = f"({', '.join(above)})" if above else "table"
        yield f"  {start} {', '.join(map(repr, row))};"


def _states(labels: Any) -> str:
    return ", ".join(written_name(str(label)) for label in labels)
