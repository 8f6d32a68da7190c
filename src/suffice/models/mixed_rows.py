"""The same question to a network of discrete and continuous variables, for every row of a table of evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from suffice.data.schema import Schema
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.errors import ArgumentError, DataError, listing
from suffice.inference.conditional_gaussian import Conditioned, MixedNetwork, Seen
from suffice.models.row_answers import RowAnswers
from suffice.models.row_moments import RowMoments
from suffice.stats.source import BlockSource
from suffice.types import Floats, Ints, TableLike
from suffice.values import UnknownStates

RANGE = 1024
"""Rows of evidence that are answered at a time."""


def mixed_rows(
    network: MixedNetwork, schema: Schema, wanted: Sequence[int], codes: Ints, values: Floats
) -> RowAnswers | RowMoments:
    """Answer for rows of codes, −1 where nothing was seen, and of values, NaN where nothing was seen."""
    variables = [schema.variables[place] for place in wanted]
    if len({variable.is_discrete for variable in variables}) > 1:
        raise ArgumentError(
            "Rows are answered for discrete targets or for continuous ones, not for both at once. Ask for them apart, "
            "or ask query for one row's joint distribution."
        )
    n, log_p = len(codes), np.empty(len(codes))
    if variables[0].is_discrete:
        tables = np.empty((n, *(variable.n_states for variable in variables)))
        for rows, seen in situations(codes, values):
            tables[rows], log_p[rows] = Conditioned(network, seen, wanted).posterior(tuple(wanted))
        tables[log_p == -math.inf] = np.nan
        return RowAnswers(tuple(variables), tables, log_p)
    t = len(variables)
    mean, covariance = np.empty((n, t)), np.empty((n, t, t))
    for rows, seen in situations(codes, values):
        mixture, log_p[rows] = Conditioned(network, seen, wanted).mixture((), wanted)
        mean[rows] = np.einsum("nk,nki->ni", mixture.weights, mixture.mean)
        apart = mixture.mean - mean[rows][:, None]
        inside = np.einsum("nk,kij->nij", mixture.weights, mixture.covariance)
        covariance[rows] = inside + np.einsum("nk,nki,nkj->nij", mixture.weights, apart, apart)
    mean[log_p == -math.inf] = np.nan
    covariance[log_p == -math.inf] = np.nan
    return RowMoments(tuple(variable.name for variable in variables), mean, covariance, log_p)


def evidence_rows(
    schema: Schema, wanted: Sequence[int], data: TableLike, unknown_states: UnknownStates
) -> tuple[Ints, Floats]:
    """Return the codes and the values of a table of evidence, for all variables; −1 and NaN where nothing was seen."""
    from suffice.data.readers import open_raw

    asked = {schema.variables[place].name for place in wanted}
    columns = open_raw(data).names
    unknown = [name for name in columns if name not in schema]
    names = [name for name in columns if name in schema and name not in asked]
    if unknown or not names:
        what = f"has the columns {listing(unknown)}, which are no variables" if unknown else "has no column of evidence"
        raise ArgumentError(
            f"The table {what}. Its columns must be variables of the model, other than the targets: "
            f"{listing([name for name in schema if name not in asked], 12)}."
        )
    table = open_table(data, names, schema=schema.select(names), missing=KEEP, unknown_states=unknown_states)
    parts = []
    for block in BlockSource(table).each(lambda block: block):
        codes, values = np.full((block.n_rows, len(schema)), -1), np.full((block.n_rows, len(schema)), np.nan)
        for name in names:
            (codes if schema[name].is_discrete else values)[:, schema.positions[name]] = block.columns[name]
        if np.isinf(values).any():
            row, place = (int(at) for at in np.argwhere(np.isinf(values))[0])
            raise DataError(
                f"Column {schema.variables[place].name!r}, row {block.start + row + 1}: evidence must be finite. Got "
                f"{values[row, place]} instead; leave the value out if it is not known."
            )
        parts.append((codes, values))
    return np.concatenate([codes for codes, _ in parts]), np.concatenate([values for _, values in parts])


def situations(codes: Ints, values: Floats) -> Iterator[tuple[Ints, Seen]]:
    """Yield rows that differ in the values of continuous variables only, a range at a time, with their evidence."""
    pattern = np.concatenate([codes, np.isnan(values)], axis=1)
    distinct, back = np.unique(pattern, axis=0, return_inverse=True)
    back = back.reshape(-1)
    order = np.argsort(back, kind="stable")
    ends = np.cumsum(np.bincount(back, minlength=len(distinct)))
    for group, (start, end) in enumerate(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)):
        hard = {v: int(code) for v, code in enumerate(distinct[group, : codes.shape[1]]) if code >= 0}
        known = np.flatnonzero(distinct[group, codes.shape[1] :] == 0)
        for low in range(start, end, RANGE):
            rows = order[low : min(end, low + RANGE)]
            yield rows, Seen(hard, {}, {int(v): values[rows, v] for v in known}, len(rows))
