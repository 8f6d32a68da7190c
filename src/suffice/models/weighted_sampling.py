"""Answers by likelihood-weighted sampling, for networks whose exact answers have no closed form or are too large.

Nodes are drawn parents first; what was observed is not drawn but put in place, and weights the draw with its
probability or density given its parents. The weighted draws have the posterior's moments, up to an error that they
tell themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.frame import to_native
from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ModelError, Remedy, UnknownNameError, listing, require_mapping, require_whole, suggestion
from suffice.inference.conditional_gaussian import Seen
from suffice.models.evidence import describe
from suffice.models.normal_arrays import alone, checked_numbers
from suffice.models.sampling import BLOCK_ROWS, require_draws, stream_key
from suffice.text import html_table, number, plain_table, plural, probability
from suffice.types import Array, Columns, Floats, Frame, Ints
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork

DRAWS = 100_000
MIN_EFFECTIVE = 30.0
"""Draws of equal weight that an answer must be worth; below, its own errors cannot be trusted."""


@dataclass(frozen=True, eq=False)
class SampledAnswer:
    """p(targets | evidence) from weighted draws: estimates, each with its standard error.

    Attributes
    ----------
    schema : Schema
        The variables asked for.
    columns : mapping from str to array, shape (draws,)
        Codes of the discrete ones, values of the continuous ones.
    weights : array, shape (draws,)
        Sum to one.
    log_evidence : float
        The estimate of log p(evidence); its relative error, that of p, is ``log_evidence_error``.
    log_evidence_error : float
    """

    schema: Schema
    columns: Columns = field(repr=False)
    weights: Floats = field(repr=False)
    log_evidence: float
    log_evidence_error: float

    @property
    def draws(self) -> int:
        """How many rows were drawn."""
        return len(self.weights)

    @property
    def effective_size(self) -> float:
        """How many draws of equal weight they are worth, (Σ w)² / Σ w²."""
        return float(1 / (self.weights**2).sum())

    @property
    def targets(self) -> tuple[Variable, ...]:
        """The discrete variables asked for."""
        return tuple(variable for variable in self.schema.variables if variable.is_discrete)

    @property
    def names(self) -> tuple[str, ...]:
        """The continuous variables asked for; there are p."""
        return tuple(variable.name for variable in self.schema.variables if not variable.is_discrete)

    # Discrete variables ---------------------------------------------------------------------------------------

    @cached_property
    def _cell(self) -> Ints:
        at = np.zeros(self.draws, np.int64)
        for variable in self.targets:
            at = at * variable.n_states + self.columns[variable.name]
        return at

    @cached_property
    def table(self) -> LabelledTable:
        """The estimated probabilities of the discrete variables asked for."""
        shape = [variable.n_states for variable in self.targets]
        return LabelledTable(self.targets, np.bincount(self._cell, self.weights, math.prod(shape)).reshape(shape))

    @cached_property
    def table_error(self) -> LabelledTable:
        """The standard errors of the probabilities."""
        p = self.table.values.reshape(-1)
        squares = np.bincount(self._cell, self.weights**2, len(p))
        others = np.maximum((self.weights**2).sum() - squares, 0.0)  # rounding may leave less than nothing
        variance = squares * (1 - p) ** 2 + others * p**2
        return LabelledTable(self.targets, np.sqrt(variance).reshape(self.table.values.shape), "standard error")

    def __getitem__(self, where: Mapping[str, Label]) -> SampledAnswer:
        """Return the answer given states of some of the discrete variables asked for, from the draws that have them."""
        require_mapping("where", where, "{'A': 'yes'}")
        held = {variable.name: variable for variable in self.targets}
        picked = np.ones(self.draws, bool)
        for name, label in where.items():
            if name not in held:
                raise UnknownNameError(
                    f"The answer has no discrete variable {name!r}. It has {listing(held)}." + suggestion(name, held)
                )
            picked &= self.columns[name] == held[name].code(label)
        weights = np.where(picked, self.weights, 0.0)
        rest = Schema(tuple(variable for variable in self.schema.variables if variable.name not in where))
        asked = [f"{name}={label!r}" for name, label in where.items()]
        return _answer(rest, self.columns, weights, self.log_evidence, self.log_evidence_error, asked)

    # Continuous variables -------------------------------------------------------------------------------------

    @cached_property
    def _values(self) -> Floats:
        columns = [np.asarray(self.columns[name], np.float64) for name in self.names]
        return np.stack(columns, axis=1) if columns else np.zeros((self.draws, 0))

    @cached_property
    def mean(self) -> Floats:
        """The estimated means; shape (p,)."""
        return self.weights @ self._values

    @cached_property
    def mean_error(self) -> Floats:
        """The standard errors of the means; shape (p,)."""
        return np.sqrt(self.weights**2 @ (self._values - self.mean) ** 2)

    @cached_property
    def covariance(self) -> Floats:
        """The estimated covariance; shape (p, p)."""
        apart = self._values - self.mean
        found: Floats = (apart * self.weights[:, None]).T @ apart
        return found

    @property
    def sd(self) -> Floats:
        """The estimated standard deviations; shape (p,)."""
        return np.sqrt(np.diag(self.covariance))

    def quantile(self, p: Any) -> Floats:
        """Return the numbers below which the probability is p, for an answer about one continuous variable."""
        wanted, place = checked_numbers("p", p, 0.0, 1.0), alone(self.names)
        order = np.argsort(self._values[:, place], kind="stable")
        reached = np.cumsum(self.weights[order])
        at = np.minimum(np.searchsorted(reached, wanted * reached[-1]), self.draws - 1)
        found: Floats = self._values[order, place][at]
        return found

    # Rendering ------------------------------------------------------------------------------------------------

    def _tables(self) -> list[tuple[list[str], list[list[str]], str]]:
        shown = []
        if self.targets:
            frame = self.table.values.reshape(-1), self.table_error.values.reshape(-1)
            codes = np.stack(np.unravel_index(np.arange(len(frame[0])), self.table.values.shape), axis=1)
            rows = [
                [str(v.labels[code]) for v, code in zip(self.targets, cell, strict=True)]
                + [probability(p), number(se, 2)]
                for cell, p, se in zip(codes, *frame, strict=True)
            ]
            names = [variable.name for variable in self.targets]
            shown.append(([*names, "p", "standard error"], rows, "<" * len(names) + ">>"))
        if self.names:
            columns = zip(self.names, self.mean, self.mean_error, self.sd, strict=True)
            rows = [[name, number(mean), number(se, 2), number(sd)] for name, mean, se, sd in columns]
            shown.append((["variable", "mean", "standard error", "sd"], rows, "<>>>"))
        return shown

    def __str__(self) -> str:
        note = f"{plural(self.draws, 'weighted draw')}, worth {self.effective_size:,.0f} of equal weight"
        return "\n\n".join(plain_table(*table) for table in self._tables()) + f"\n{note}"

    def _repr_html_(self) -> str:
        return "".join(html_table(*table) for table in self._tables())

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return the draws as a frame: a column a variable, and their weights."""
        columns: dict[str, Any] = {}
        for variable in self.schema.variables:
            values = self.columns[variable.name]
            columns[variable.name] = [variable.labels[code] for code in values] if variable.is_discrete else values
        name = "weight"
        while name in columns:
            name += "_"
        return to_native(columns | {name: self.weights}, backend)


def sampled(
    model: BayesianNetwork, wanted: Sequence[int], seen: Seen, draws: int | None = None, seed: int | None = None
) -> SampledAnswer:
    """Answer a query by likelihood weighting; ``wanted`` are positions in the model's schema."""
    wished = DRAWS if draws is None else require_whole("draws", draws, 1)
    n = require_draws(wished, 16 * (1 + len(wanted)), "draws", "draws")
    key = stream_key(seed)
    variables = model.schema.variables
    names = [variables[place].name for place in wanted]
    nodes = _ancestors(model, [*names, *(variables[place].name for place in (*seen.hard, *seen.soft, *seen.values))])
    parts, logs = [], []
    for number_, start in enumerate(range(0, n, BLOCK_ROWS)):
        stream = np.random.Generator(np.random.Philox(key=np.array([key, number_], np.uint64)))
        size = min(BLOCK_ROWS, n - start)

        def uniform(stream: np.random.Generator = stream, size: int = size) -> Floats:
            return stream.random(BLOCK_ROWS)[:size]

        columns, log_weights = _weighted(model, nodes, seen, uniform, size)
        parts.append({name: columns[name] for name in names})
        logs.append(log_weights)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in names}
    log_weights = np.concatenate(logs)
    top = float(log_weights.max())
    scaled = np.exp(log_weights - top) if top > -math.inf else np.zeros(n)
    total = float(scaled.sum())
    log_evidence = top + math.log(total / n) if total > 0 else -math.inf
    error = math.sqrt(max(0.0, float((scaled**2).sum()) / total**2 - 1 / n)) if total > 0 else math.inf
    schema = Schema(tuple(variables[place] for place in wanted))
    return _answer(schema, columns, scaled, log_evidence, error, describe(model.schema, seen))


def _answer(schema: Schema, columns: Columns, weights: Floats, log_evidence: float, error: float,
            asked: Sequence[str]) -> SampledAnswer:  # fmt: skip
    """Return the answer, unless it rests on too few draws."""
    n, total = len(weights), float(weights.sum())
    worth = total**2 / float((weights**2).sum()) if total > 0 else 0.0
    if worth < MIN_EFFECTIVE:
        about = f"given {', '.join(asked[:12])}" if asked else "without evidence"
        why = (
            "all have the weight zero, so this is impossible or very rare" if not worth else "few carry all the weight"
        )
        raise ModelError(
            f"Of {plural(n, 'draw')} {about}, {why}: they are worth {worth:.1f} of equal weight, and an answer needs "
            f"{MIN_EFFECTIVE:.0f}. Draw more, such as ",
            Remedy("draws", max(1000, 10 * n)),
            ", or observe less.",
        )
    normalised = weights / total
    normalised.flags.writeable = False
    return SampledAnswer(schema, columns, normalised, log_evidence, error)


def _ancestors(model: BayesianNetwork, names: Sequence[str]) -> list[str]:
    """Return some nodes with all their ancestors, parents first."""
    found, stack = set[str](), list(names)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += model.dag.parents[node]
    return [node for node in model.dag.order if node in found]


def _weighted(
    model: BayesianNetwork, nodes: Sequence[str], seen: Seen, uniform: Callable[[], Floats], size: int
) -> tuple[dict[str, Array], Floats]:
    """Draw one block, and return its columns with the logarithms of their weights."""
    columns: dict[str, Array] = {}
    log_weights = np.zeros(size)
    place = model.schema.positions
    for node in nodes:
        cpd, at = model.cpd(node), place[node]
        if at in seen.hard or at in seen.values:
            observed = seen.hard[at] if at in seen.hard else float(seen.values[at][0])
            columns[node] = np.full(size, observed)
            log_weights += cpd.log_prob({name: columns[name] for name in cpd.family.scope})
        else:
            columns[node] = cpd.sample(columns, uniform())
        if at in seen.soft:
            with np.errstate(divide="ignore"):
                log_weights += np.log(seen.soft[at])[columns[node]]
    if np.isnan(log_weights).any():
        raise ModelError(
            "The weights of the draws depend on rows of distributions that are unknown (NaN), because the data had no "
            "such case. Fit with a prior, or with ",
            Remedy("unseen_parents", "uniform"),
            ".",
        )
    if np.isposinf(log_weights).any():
        raise ModelError(
            "An observed value lies exactly on a line without spread: the node is degenerate, its variance zero, and "
            "has no density. Leave the node out, or give it a positive variance; a prior does."
        )
    return columns, log_weights
