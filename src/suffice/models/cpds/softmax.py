"""Softmax distributions: a discrete child whose log-odds are linear in its continuous parents.

With discrete parents there is one regression for each of their configurations. How they are fitted and proven stands in
`suffice.models.cpds.softmax_kind`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from suffice.data.block import code_dtype
from suffice.errors import ArgumentError, ModelError, Remedy, is_number, listing, require_mapping, shown, suggestion
from suffice.models.cpds.by_configuration import ByConfiguration
from suffice.models.cpds.kind import Given, NodeFamily
from suffice.models.cpds.rows import as_numbers
from suffice.stats.rows import Rows
from suffice.types import Bools, Codes, Columns, Floats, Json, JsonObject
from suffice.values import Label

PARAMETERS = ("intercept", "coefficients")


@dataclass(frozen=True)
class SoftmaxPenalty:
    """Normal priors on the parameters of a softmax node, which sum to zero over its states.

    The penalty is Σ b² / (2 width²) + Σ a² / (2 main²) over all states, the parameters of every configuration shifted
    so that they sum to zero over the states: no state is special. ``main=inf`` leaves intercepts free. This is the L2
    penalty of other software's multinomial regression with C = width² and main = inf; where two states share one
    coefficient vector, as in binary logistic regression, it is the one with C = 2 width². Columns are penalised on the
    scale on which they are given.
    """

    width: float
    main: float


@dataclass(frozen=True, eq=False)
class SoftmaxCPD(ByConfiguration):
    """p(y = k | x, d) ∝ exp(a_dk + b_dk · x): x the continuous parents, d a configuration of the discrete ones.

    Only differences between states matter. Parameters are held in the form in which those of the first possible state
    are zero, and any others with the same differences may be given.

    Attributes
    ----------
    family : NodeFamily
    intercept : array, shape (n_rows, n_states)
        a, one row a configuration of the discrete parents in lexicographic order; one row without discrete parents.
        −inf for a state that is impossible there; rows of NaN are unknown (``unseen_parents="nan"``).
    coefficients : array, shape (n_rows, n_states, n_continuous)
        b, in the order of the continuous parents.

    Examples
    --------
    >>> from suffice.data.variable import Variable
    >>> family = NodeFamily(Variable("ill", ("no", "yes")), (Variable("dose"),))
    >>> ill = SoftmaxCPD(family, [[0.0, -2.0]], [[[0.0], [0.5]]])
    >>> print(ill)
    p(ill | dose)
    ill  intercept  dose
    ---  ---------  ----
    no           0     0
    yes         -2   0.5
    >>> ill.probabilities({"dose": np.array([4.0, 0.0])}).round(4).tolist()
    [[0.5, 0.5], [0.8808, 0.1192]]
    """

    kind: ClassVar[str] = "softmax"
    family: NodeFamily
    intercept: Floats = field(repr=False)
    coefficients: Floats = field(repr=False)

    def __post_init__(self) -> None:
        n_rows, r, q = math.prod(self._sizes), self.family.child.n_states, len(self.family.continuous)
        arrays = []
        parts = ("intercept", self.intercept, (n_rows, r)), ("coefficients", self.coefficients, (n_rows, r, q))
        for name, part, shape in parts:
            array = np.array(part, np.float64)
            if array.size != math.prod(shape):
                raise ModelError(
                    f"Node {self.family.child.name!r}: the {name} must have the shape {shape}, one row for each "
                    f"configuration of the discrete parents and one column for each state. Got {array.shape} instead."
                )
            arrays.append(array.reshape(shape))
        for name, array in zip(PARAMETERS, self._identified(*arrays), strict=True):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def _identified(self, intercept: Floats, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the form in which the parameters of the first possible state are zero."""
        unknown = np.asarray(np.isnan(intercept).any(axis=1) | np.isnan(coefficients).any(axis=(1, 2)))
        possible = intercept > -math.inf
        bad = ~unknown & ~(possible.any(axis=1) & (intercept < math.inf).all(axis=1))
        bad |= ~unknown & ~np.isfinite(coefficients).all(axis=(1, 2))
        if bad.any():
            raise ModelError(
                f"Node {self.family.child.name!r}: the parameters for {self.describe_row(int(np.argmax(bad)))} must be "
                "finite numbers, except for intercepts of −inf, which make a state impossible; one state at least must "
                "be possible. Correct them."
            )
        rows, first = np.arange(len(intercept)), np.argmax(possible, axis=1)
        origin = np.where(unknown, np.nan, intercept[rows, first])
        shifted = np.where(unknown[:, None, None], np.nan, coefficients - coefficients[rows, first][:, None, :])
        return intercept - origin[:, None], np.where(possible[:, :, None] | unknown[:, None, None], shifted, 0.0)

    @classmethod
    def unknown_of(cls, family: NodeFamily) -> SoftmaxCPD:
        """Return the distribution of which nothing is known."""
        n_rows, r = math.prod(parent.n_states for parent in family.discrete), family.child.n_states
        return cls(family, np.full((n_rows, r), np.nan), np.full((n_rows, r, len(family.continuous)), np.nan))

    @classmethod
    def from_given(cls, family: NodeFamily, given: Given) -> SoftmaxCPD:
        """Build from what a person writes: ``{"intercept": {"yes": -2}, "coefficients": {"yes": {"dose": 0.5}}}``.

        States that are left out have zeros. With discrete parents each number may be a list, one a configuration.
        Arrays of shapes (n_rows, n_states) and (n_rows, n_states, n_continuous) are taken, too.
        """
        if isinstance(given, SoftmaxCPD):
            return given.renamed(family)
        what = f"The distribution of {family.child.name!r}"
        entry = require_mapping(what, given, "{'intercept': {'yes': -2}, 'coefficients': {'yes': {'x': 0.5}}}")
        for name in (*entry, *PARAMETERS):
            if name not in PARAMETERS or name not in entry:
                raise ArgumentError(
                    f"{what} has the parameters {listing(PARAMETERS)}, both of them. Got {listing(entry)} instead."
                    + suggestion(name, PARAMETERS)
                )
        intercept, coefficients = entry["intercept"], entry["coefficients"]
        if isinstance(intercept, Mapping):
            intercept = _by_state(what, family, {state: {None: cell} for state, cell in intercept.items()}, [None])
        if isinstance(coefficients, Mapping):
            coefficients = _by_state(what, family, coefficients, [parent.name for parent in family.continuous])
        return cls(family, as_numbers(what, intercept), as_numbers(what, coefficients))

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def unknown(self) -> Bools:
        """The rows that the data did not determine; shape (n_rows,)."""
        return np.asarray(np.isnan(self.intercept).any(axis=1))

    def _parameters(self) -> tuple[dict[str, list[Label]], dict[str, Floats], int]:
        child = self.family.child
        numbers = {"intercept": self.intercept}
        for j, parent in enumerate(self.family.continuous):
            numbers[parent.name if parent.name != "intercept" else "intercept_"] = self.coefficients[:, :, j]
        return {child.name: list(child.labels) * len(self.intercept)}, numbers, child.n_states

    # What it computes -----------------------------------------------------------------------------------------

    def log_probabilities(self, columns: Columns) -> Floats:
        """Return log p of all states for every case of the parents' columns; shape (n_rows, n_states)."""
        n_rows = len(columns[self.family.parents[0].name])
        row = self.rows_of(columns, n_rows)
        scores: Floats = self.intercept[row]
        for j, parent in enumerate(self.family.continuous):
            scores = scores + self.coefficients[row, :, j] * np.asarray(columns[parent.name], np.float64)[:, None]
        scores = scores - scores.max(axis=1, keepdims=True)
        log_p: Floats = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return log_p

    def probabilities(self, columns: Columns) -> Floats:
        """Return p of all states for every case of the parents' columns; shape (n_rows, n_states)."""
        p: Floats = np.exp(self.log_probabilities(columns))
        return p

    def log_prob(self, columns: Columns) -> Floats:
        """Return log p(y | x, d) of every case; shape (n_rows,)."""
        child = np.asarray(columns[self.family.child.name], np.int64)
        log_p: Floats = self.log_probabilities(columns)[np.arange(len(child)), child]
        return log_p

    def sample(self, columns: Columns, uniform: Floats) -> Codes:
        """Draw the child by inverting its distribution function at ``uniform``; shape (n_rows,)."""
        p = self.probabilities(columns)
        unknown = np.isnan(p).any(axis=1)
        if unknown.any():
            row = self.rows_of(columns, len(uniform))[int(np.argmax(unknown))]
            raise ModelError(
                f"Cannot sample {self.family.child.name!r}: its row for {self.describe_row(int(row))} is unknown "
                "(NaN), because the data had no such case. Fit with ",
                Remedy("unseen_parents", "uniform"),
                " or with a prior.",
            )
        reached, drawn = np.cumsum(p, axis=1), np.zeros(len(p), code_dtype(p.shape[1]))
        # From the last possible state on nothing is left, so that rounding carries no draw past it.
        last = p.shape[1] - 1 - np.argmax(p[:, ::-1] > 0, axis=1)
        for state in range(p.shape[1] - 1):
            drawn += (uniform * reached[:, -1] >= reached[:, state]) & (state < last)
        return drawn

    def log_likelihood(self, statistic: Rows) -> float:
        """Return Σ w log p(y | x, d) over the distinct rows."""
        columns = {v.name: column for v, column in zip(statistic.variables, statistic.columns, strict=True)}
        return float((statistic.weights * self.log_prob(columns)).sum())

    def renamed(self, family: NodeFamily) -> SoftmaxCPD:
        """Return the same distribution for a tied family."""
        return self if family == self.family else SoftmaxCPD(family, self.intercept, self.coefficients)

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the parameters as JSON-able data."""
        return {"intercept": self.intercept, "coefficients": self.coefficients}

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: JsonObject) -> SoftmaxCPD:
        """Rebuild from `to_dict`'s data."""
        return cls(family, *(np.array(entry[name], np.float64) for name in PARAMETERS))


def _by_state(
    what: str, family: NodeFamily, given: Mapping[Label, Mapping[str | None, Given]], names: Sequence[str | None]
) -> Floats:
    """Read numbers by state and then by column, zero where nothing is said; shape (n_rows, n_states, n_names)."""
    n_rows = math.prod(parent.n_states for parent in family.discrete)
    found = np.zeros((n_rows, family.child.n_states, len(names)))
    for state, cells in given.items():
        code = family.child.code(state)
        for name, cell in require_mapping(f"coefficients of {state!r}", cells, "{'x': 0.5}", "entry").items():
            if name not in names:
                raise ArgumentError(
                    f"{what} has no continuous parent {name!r}; they are {listing(names)}." + suggestion(name, names)
                )
            numbers = [cell] * n_rows if is_number(cell) else np.array(cell, object).reshape(-1).tolist()
            if len(numbers) != n_rows or not all(map(is_number, numbers)):
                one = "a number" if n_rows == 1 else f"a number, or {n_rows} numbers, one for each configuration"
                raise ArgumentError(f"{what} needs {one} for the state {state!r}. Got {shown(cell)} instead.")
            found[:, code, names.index(name)] = numbers
    return found
