"""Writing UAI: variables and states become their positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.errors import ArgumentError
from suffice.io.network_file import network_of, rows_of
from suffice.io.text_file import write_text
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.result.fit import Fit

Tables = Sequence[tuple[Sequence[str], NDArray[np.float64]]]


def write(thing: Model | Fit, path: str) -> None:
    """Write a network, or the network of a fit, without its names; see `suffice.io.uai`."""
    model = thing.model if isinstance(thing, Fit) else thing
    if isinstance(model, MarkovNetwork):
        lines = _lines("MARKOV", model.schema, _markov_tables(model))
    elif isinstance(model, BayesianNetwork):
        lines = _lines("BAYES", model.schema, _bayes_tables(network_of(model, ".uai")))
    else:
        raise ArgumentError(
            f"A .uai file holds a Bayesian or a Markov network of discrete variables. Got {type(model).__name__} "
            "instead. Write it as .json."
        )
    write_text(path, "".join(f"{line}\n" for line in lines))


def _bayes_tables(model: BayesianNetwork) -> Tables:
    return [(cpd.family.scope, rows_of(cpd)) for cpd in map(model.cpd, model.variables)]


def _markov_tables(model: MarkovNetwork) -> Tables:
    if not model.schema:
        raise ArgumentError("A .uai file holds a network of at least one variable. This one has none.")
    for variable in model.schema.values():
        if not variable.states:
            raise ArgumentError(
                f"A .uai file holds a network of discrete variables that have states. {variable.name!r} has none."
            )
    rows = (factor.values.reshape(-1, factor.values.shape[-1] if factor.names else 1) for factor in model.factors)
    return list(zip(model.scopes, rows, strict=True))


def _lines(kind: str, schema: Schema, tables: Tables) -> Iterator[str]:
    position = {name: number for number, name in enumerate(schema)}
    yield kind
    yield str(len(schema))
    yield _joined(variable.n_states for variable in schema.values())
    yield str(len(tables))
    for scope, _ in tables:
        yield _joined((len(scope), *(position[name] for name in scope)))
    for _, rows in tables:
        yield ""
        yield str(rows.size)
        for row in rows.tolist():
            yield f" {_joined(row)}"


def _joined(numbers: Iterable[float]) -> str:
    return " ".join(map(repr, numbers))
