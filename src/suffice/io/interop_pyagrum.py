"""Models of pyAgrum: a ``BayesNet`` with a table a node, a ``MarkovRandomField`` with a table a factor.

Names, the order of variables, parents and states, every number, and the name of the network survive in both directions.

Handing over   Labels of pyAgrum are text. Whole numbers in ascending order become an ``IntegerVariable``, all other
               states a ``LabelizedVariable`` of their text: bools and floats come back as text. A field has one factor
               over the same variables, so those that share them are multiplied, and constants are multiplied into the
               first; variables outside all factors get a factor of ones, which pyAgrum needs.
Taking         The states of a ``RangeVariable`` or ``IntegerVariable`` are whole numbers, those of a
               ``NumericalDiscreteVariable`` floats, all others the text of the labels: a ``DiscretizedVariable`` has
               its intervals. Nodes of any kind (noisy-or, logit, aggregators) become whole tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.data.variable import Variable
from suffice.errors import ArgumentError
from suffice.io.interop import Array, ForeignNode, bayes_net, is_of, network_in, package, proper_factors, whole_tables
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.result.fit import Fit
from suffice.values import Label

INT32 = 2**31
WHOLE = ("Range", "Integer")


# Handing over -------------------------------------------------------------------------------------------------


def to_pyagrum(thing: Model | Fit) -> Any:
    """Return a network as a model of pyAgrum, which must be installed.

    Parameters
    ----------
    thing : BayesianNetwork, MarkovNetwork or Fit

    Returns
    -------
    pyagrum.BayesNet or pyagrum.MarkovRandomField
    """
    model = network_in(thing, "pyAgrum")
    name = [str(model.properties["name"])] if model.properties.get("name") else []
    if isinstance(model, MarkovNetwork):
        factors = proper_factors(model, "pyAgrum", once=True)
        field = package("pyAgrum", "pyagrum", "MarkovRandomField")(*name)
        _add_variables(field, model)
        for names, values in factors:
            _fill(field.addFactor(list(names)), names, values)
        return field
    tables = whole_tables(model, "pyAgrum")
    net = package("pyAgrum", "pyagrum", "BayesNet")(*name)
    _add_variables(net, model)
    for parent, child in model.dag.edges:
        net.addArc(parent, child)
    for scope, values in tables.items():
        _fill(net.cpt(scope[-1]), scope, values)
    return net


def _add_variables(target: Any, model: BayesianNetwork | MarkovNetwork) -> None:
    pyagrum = package("pyAgrum", "pyagrum")
    for variable in model.schema.variables:
        target.add(_foreign(pyagrum, variable))


def _foreign(pyagrum: Any, variable: Variable) -> Any:
    labels = variable.labels
    if all(type(label) is int and -INT32 <= label < INT32 for label in labels) and list(labels) == sorted(labels):
        return pyagrum.IntegerVariable(variable.name, "", list(labels))
    return pyagrum.LabelizedVariable(variable.name, "", list(map(str, labels)))


def _fill(tensor: Any, names: tuple[str, ...], values: Array) -> None:
    """Fill a table of pyAgrum, whose first variable varies fastest, by the names of its variables."""
    axes = [names.index(name) for name in reversed(tensor.names)]
    tensor.fillWith(np.transpose(values, axes).ravel().tolist())


# Taking -------------------------------------------------------------------------------------------------------


def from_pyagrum(model: Any) -> BayesianNetwork | MarkovNetwork:
    """Return a model of pyAgrum as a network.

    Parameters
    ----------
    model : pyagrum.BayesNet or pyagrum.MarkovRandomField

    Returns
    -------
    BayesianNetwork or MarkovNetwork
        With notes on whatever was changed on the way.
    """
    directed = is_of(model, "pyagrum", "BayesNet")
    if not directed and not is_of(model, "pyagrum", "MarkovRandomField"):
        raise ArgumentError(
            "What can be taken from pyAgrum is a BayesNet or a MarkovRandomField of discrete variables. "
            f"Got {type(model).__name__} instead."
        )
    variables = [model.variable(number) for number in sorted(model.nodes())]
    states = {variable.name(): _states(variable) for variable in variables}
    name = model.property("name") if model.existsProperty("name") else ""
    properties = {"name": name} if name else {}
    if not directed:
        scopes = sorted(sorted(scope) for scope in model.factors())
        tensors = [model.factor(set(scope)) for scope in scopes]
        factors = [(tuple(tensor.names), _values(tensor, tensor.names)) for tensor in tensors]
        return MarkovNetwork(factors, schema=states, properties=properties)
    nodes = {}
    for node, labels in states.items():
        tensor = model.cpt(node)
        parents = tuple(tensor.names[1:])
        nodes[node] = ForeignNode(labels, parents, _values(tensor, (*parents, node)))
    return bayes_net(nodes, properties=properties)


def _states(variable: Any) -> list[Label]:
    if variable.stype() in WHOLE:
        return [int(label) for label in variable.labels()]
    if variable.stype() == "NumericalDiscrete":
        return [float(variable.numerical(place)) for place in range(variable.domainSize())]
    return list(variable.labels())


def _values(tensor: Any, names: Sequence[str]) -> Array:
    """Return the numbers with one axis a name.

    Arrays of pyAgrum have their axes in reverse. Only the copy that reorganize makes has its numbers in memory where
    the table is computed, as a noisy-or is.
    """
    values: Array = np.array(tensor.reorganize(list(reversed(names))).toarray(), np.float64)
    return values
