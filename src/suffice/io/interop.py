"""Other libraries' models: what handing networks over, and taking them, shares.

One library is one file: `suffice.io.interop_networkx`, `suffice.io.interop_pgmpy`, `suffice.io.interop_pyagrum`. They
are imported when a network is handed over; taking one needs no import, since the library itself made it.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.variable import Variable
from suffice.errors import ArgumentError, ModelError, Remedy, SchemaError, listing
from suffice.io.network_file import ROUND_OFF, TOLERANCE
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.tabular import TabularCPD, describe_configuration, whole_values
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.result.fit import Fit
from suffice.structures.dag import DAG
from suffice.text import plural
from suffice.types import JsonObject
from suffice.values import Label

Array = NDArray[np.float64]
Tables = dict[tuple[str, ...], Array]


def package(name: str, module: str, attribute: str = "") -> Any:
    """Return a module of another library, or what it holds under a name."""
    if not importlib.util.find_spec(module.partition(".")[0]):
        raise ArgumentError(f"The package {name!r} is not installed. Install it: pip install {name}.")
    with warnings.catch_warnings():  # pyAgrum ends the process where its own warnings are turned into errors
        warnings.simplefilter("ignore")
        found = importlib.import_module(module)
        return getattr(found, attribute) if attribute else found


# Handing over -------------------------------------------------------------------------------------------------


def network_in(thing: Model | Fit, library: str) -> BayesianNetwork | MarkovNetwork:
    """Return the network to hand over, of a model or of a fit."""
    model = thing.model if isinstance(thing, Fit) else thing
    if not isinstance(model, BayesianNetwork | MarkovNetwork):
        raise ArgumentError(
            f"What {library} takes is a Bayesian or a Markov network, or the fit of one. "
            f"Got {type(model).__name__} instead."
        )
    return model


def whole_tables(model: BayesianNetwork, library: str) -> Tables:
    """Return the table of every node by its scope, the parents and then the node; one axis a variable."""
    tables = {}
    for cpd in model.cpds:
        values = whole_values(cpd)
        unknown = np.isnan(values).any(axis=-1)
        if unknown.any():
            row = describe_configuration(cpd.family.parents, np.argwhere(unknown)[0])
            raise ModelError(
                f"Node {cpd.family.child.name!r}: the row for {row} is unknown (NaN), which {library} cannot hold. "
                "Fit with ",
                Remedy("unseen_parents", "uniform"),
                " or with a prior.",
            )
        tables[cpd.family.scope] = values
    return tables


def proper_factors(model: MarkovNetwork, library: str, *, once: bool) -> list[tuple[tuple[str, ...], Array]]:
    """Return factors of the same product, such that every variable is in one and none is a constant.

    Constants are multiplied into the first factor; variables outside all factors get a factor of ones. ``once``
    multiplies factors over the same variables into one.
    """
    if not model.schema:
        raise ArgumentError(f"What {library} takes is a network of at least one variable. This one has none.")
    given = [(factor.names, factor.values) for factor in model.factors]
    inside = {name for names, _ in given for name in names}
    given += [((v.name,), np.ones(v.n_states)) for v in model.schema.variables if v.name not in inside]
    factors: list[tuple[tuple[str, ...], Array]] = []
    place: dict[frozenset[str], int] = {}
    for names, values in given:
        at = place.get(frozenset(names)) if once else None
        if at is not None:
            factors[at] = _product(factors[at], names, values)
        elif names:
            place[frozenset(names)] = len(factors)
            factors.append((names, values))
    for names, values in given:
        if not names:
            factors[0] = _product(factors[0], names, values)
    return factors


def _product(factor: tuple[tuple[str, ...], Array], names: tuple[str, ...], values: Array) -> tuple[Any, Array]:
    """Multiply a factor by one over the same variables in any order, or over none."""
    scope, before = factor
    other = np.transpose(values, [names.index(name) for name in scope]) if names else values
    with np.errstate(over="ignore", under="ignore"):
        product = before * other
    if np.isinf(product).any() or ((product == 0) & (before > 0) & (other > 0)).any():
        raise ModelError(
            f"The product of the factors over {listing(scope)} leaves the range of floats. Scale these factors."
        )
    return scope, product


# Taking -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ForeignNode:
    """A node as another library gives it.

    Attributes
    ----------
    states : sequence of labels
        Of any type.
    parents : tuple of str
    values : array, shape (…parents' states, node's states)
    """

    states: Sequence[Label]
    parents: tuple[str, ...]
    values: Any


def is_of(model: object, library: str, kind: str) -> bool:
    """Whether a model is of the class ``kind`` of another library, or of one made from it."""
    return any(each.__name__ == kind and each.__module__.partition(".")[0] == library for each in type(model).__mro__)


def bayes_net(
    nodes: Mapping[str, ForeignNode],
    *,
    latent: Iterable[str] = (),
    properties: JsonObject | None = None,
    notes: Sequence[str] = (),
) -> BayesianNetwork:
    """Build a Bayesian network, each number as it was given, unless rows do not sum to one."""
    variables, changed = variables_of({name: node.states for name, node in nodes.items()})
    dag = DAG(
        {name: node.parents for name, node in nodes.items()}, latent={name: variables[name].n_states for name in latent}
    )
    tables = {}
    for name, node in nodes.items():
        family = NodeFamily(variables[name], tuple(variables[parent] for parent in node.parents))
        rows = np.array(node.values, np.float64).reshape(-1, variables[name].n_states)
        proper = (np.abs(rows.sum(axis=1) - 1) <= ROUND_OFF).all()
        tables[name] = TabularCPD(family, rows) if proper else TabularCPD.from_raw(family, rows, TOLERANCE)
    notes = (*notes, *changed, *_normalised(tables))
    return BayesianNetwork(dag, tables, properties=properties, notes=notes)


def variables_of(states: Mapping[str, Sequence[Label]]) -> tuple[dict[str, Variable], list[str]]:
    """Return the variables, and notes on those whose states had to become text."""
    variables, notes = {}, []
    for name, labels in states.items():
        try:
            variables[name] = Variable(name, tuple(labels), True)
        except SchemaError:
            variables[name] = Variable(name, tuple(map(str, labels)), True)
            notes.append(f"The states of {name!r}, {listing(labels)}, became text.")
    return variables, notes


def _normalised(tables: Mapping[str, TabularCPD]) -> list[str]:
    """Say which tables had to be normalised, and by how much."""
    sums = {name: cpd.raw.sum(axis=1) for name, cpd in tables.items() if cpd.raw is not None}
    gaps = {name: float(np.nanmax(np.abs(total - 1))) for name, total in sums.items()}
    uneven = [name for name, gap in gaps.items() if gap > ROUND_OFF]
    if not uneven:
        return []
    worst = max(uneven, key=gaps.__getitem__)
    return [
        f"Rows that do not sum to one were normalised for computing, in {plural(len(uneven), 'table')}: "
        f"{listing(uneven, 12)}. The largest distance of a sum from one is {gaps[worst]:.3g}, at {worst!r}."
    ]
