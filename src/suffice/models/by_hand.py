"""Networks by hand: tables given as arrays, as labelled tables or as frames; other kinds by their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import SchemaLike, declarations
from suffice.data.variable import Variable, plain_label
from suffice.errors import ModelError, SchemaError, listing
from suffice.models.cpds import CPD, NodeFamily, kind_for, tabular
from suffice.structures.dag import DAG
from suffice.types import Floats
from suffice.values import Label


def variables_of(dag: DAG, tables: Mapping[str, Any], schema: SchemaLike | None) -> dict[str, Variable]:
    """Find the states of every node: in the schema, in its own table, or in a labelled table that names it."""
    known: dict[str, Variable] = {}
    for name, declaration in declarations(schema).items():
        known[name] = Variable(name, declaration.states, True) if declaration.kind == "discrete" else Variable(name)
    for node in dag.nodes:
        table = tables.get(node)
        if isinstance(table, tabular.TabularCPD | CPD):  # the class first: looking through a protocol takes longer
            known[node] = table.family.child
        elif node not in known and isinstance(table, LabelledTable):
            known.update({variable.name: variable for variable in table.variables if variable.name == node})
        elif node not in known and is_frame(table):
            known[node] = Variable(node, tuple(dict.fromkeys(_labels(node, table, node))), True)
        elif node not in known and (node in dag.continuous or _is_regression(table)):
            known[node] = Variable(node)
    for node in dag.nodes:
        if node not in known:
            raise SchemaError(f"The states of {node!r} are not known. Pass schema={{{node!r}: ['no', 'yes'], …}}.")
    return known


def _is_regression(table: object) -> bool:
    """Whether what was given, or what was given for the first configuration, are the parameters of a regression."""
    if not isinstance(table, Mapping) or not table:
        return False
    return bool({"sd", "variance"} & set(table)) or _is_regression(next(iter(table.values())))


def cpd_from(family: NodeFamily, table: Any, named: str | None = None) -> CPD:
    """Build the distribution of one node from whatever was given for it."""
    if isinstance(table, tabular.TabularCPD | CPD):
        return _same_states(family, table)
    kind = kind_for(family, named)
    whole: CPD | None = kind.whole(family, table)
    if whole is not None:
        return whole
    if is_frame(table):
        return tabular.from_array(family, _from_frame(family, table))
    return tabular.from_array(family, table)


def _same_states(family: NodeFamily, cpd: CPD) -> CPD:
    """Return a distribution for the network's own variables, where only who declared their states differs."""
    mine, others = family.variables, cpd.family.variables
    if cpd.family == family or not _alike(mine, others):
        return cpd
    return cpd.renamed(family)


def _alike(mine: tuple[Variable, ...], others: tuple[Variable, ...]) -> bool:
    return [v.name for v in mine] == [v.name for v in others] and all(map(Variable.has_states_of, mine, others))


def is_frame(table: object) -> bool:
    """Whether a table is a frame: pandas, Polars or PyArrow."""
    return isinstance(nw.from_native(table, pass_through=True, eager_only=True), nw.DataFrame)


def _labels(node: str, frame: Any, column: str) -> list[Label]:
    native = nw.from_native(frame, eager_only=True)
    if column not in native.columns:
        raise ModelError(
            f"The frame of {node!r} has no column {column!r}. It needs a column for the node, one for each parent, "
            f"and one with the probabilities; it has {listing(native.columns)}."
        )
    return [plain_label(label) for label in native.get_column(column).to_list()]


def _from_frame(family: NodeFamily, frame: Any) -> Floats:
    """Read a frame with one row a cell: a column a variable, and one column of probabilities."""
    name = family.child.name
    columns = [_labels(name, frame, variable.name) for variable in family.variables]
    native = nw.from_native(frame, eager_only=True)
    rest = [column for column in native.columns if column not in family.scope]
    if len(rest) != 1:
        raise ModelError(
            f"The frame of {name!r} needs exactly one column besides {family.scope}, the probabilities. "
            f"Got {rest} instead."
        )
    table = np.full([variable.n_states for variable in family.variables], np.nan)
    for row, (labels, p) in enumerate(
        zip(zip(*columns, strict=True), native.get_column(rest[0]).to_list(), strict=True)
    ):
        cell = tuple(variable.code(label) for variable, label in zip(family.variables, labels, strict=True))
        if not np.isnan(table[cell]):
            raise ModelError(f"The frame of {name!r} gives {labels} twice, the second time in row {row + 1}.")
        table[cell] = float(p)
    if np.isnan(table).any():
        cell = tuple(np.argwhere(np.isnan(table))[0])
        missing = tuple(variable.labels[code] for variable, code in zip(family.variables, cell, strict=True))
        raise ModelError(f"The frame of {name!r} has no row for {missing} of {family.scope}.")
    return table
