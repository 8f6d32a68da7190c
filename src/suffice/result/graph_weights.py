"""The weights of a conditional random field on graphs as a table, with standard errors where there are any."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from suffice.data.frame import to_native
from suffice.errors import require_fraction
from suffice.models.graph_crf import GraphModel, WeightName
from suffice.result.goodness import p_text
from suffice.result.wald_columns import WaldColumns
from suffice.text import fixed, html_table, plain_table, plural
from suffice.types import Array, Floats, Frame
from suffice.values import Label

SHOWN_ROWS = 60


@dataclass(frozen=True, eq=False)
class GraphWeights(WaldColumns):
    """The weights of a model, each with what it belongs to.

    Attributes
    ----------
    names : tuple of WeightName
        The kind, ``"node"`` or that of cliques, the attribute, and the labels of the members.
    estimate, se, z, p, lower, upper : arrays, shape (n_weights,)
        The weight, its standard error, their ratio, the probability of a larger ratio if the weight were zero, and the
        ends of the interval ``estimate ± quantile · se``. NaN where there is no standard error.
    level : float
        That of the intervals.

    Notes
    -----
    Labellings do not notice some changes of the weights, such as one number added to those of all labels. Weights and
    standard errors are of the shortest weights, in units of their attributes, with the same probabilities.
    """

    names: tuple[WeightName, ...] = field(repr=False)
    estimate: Floats = field(repr=False)
    errors: Floats | None = field(default=None, repr=False)
    level: float = 0.95

    @property
    def se(self) -> Floats:
        """The standard errors."""
        return np.full(len(self.estimate), np.nan) if self.errors is None else self.errors

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a weight.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        said: dict[str, Array | Sequence[Label]] = {
            "kind": [name.kind for name in self.names],
            "attribute": [name.attribute for name in self.names],
            "labels": [_joined(name) for name in self.names],
        }
        columns = self._numbers if self.errors is not None else {"estimate": self.estimate}
        return to_native({**said, **columns}, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        header = ["kind", "attribute", "labels", "weight"]
        if self.errors is not None:
            header += ["std. error", "z", "p", f"{100 * self.level:.4g} % from", "to"]
        shown = [column[:SHOWN_ROWS] for column in self._numbers.values()]
        rows = []
        for name, *numbers in zip(self.names[:SHOWN_ROWS], *shown, strict=True):
            estimate, se, z, p, lower, upper = map(float, numbers)
            rest = ["-"] * 5 if math.isnan(z) else [fixed(se), fixed(z, 2), p_text(p), fixed(lower), fixed(upper)]
            said = [name.kind, name.attribute, _joined(name), fixed(estimate)]
            rows.append(said + (rest if self.errors is not None else []))
        if len(self) > SHOWN_ROWS:
            rows.append([f"… {len(self) - SHOWN_ROWS:,} more rows", *[""] * (len(header) - 1)])
        return header, rows, "<<<" + ">" * (len(header) - 3)

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=plural(len(self), "weight"))


def _joined(name: WeightName) -> str:
    return ", ".join(map(str, name.labels))


def graph_weights(model: GraphModel, errors: Floats | None = None, level: float = 0.95) -> GraphWeights:
    """Return the weights of a model as a table."""
    return GraphWeights(tuple(model.names()), model.weights, errors, require_fraction("level", level))
