"""The posterior of a whole network: independent posteriors of its nodes, shared where nodes are tied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.errors import UnknownNameError, listing, require_fraction, require_seed, suggestion
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import Family
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import describe_configuration
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.point_posterior import PointPosterior
from suffice.priors.regression_posterior import RegressionPosterior
from suffice.priors.regression_prediction import log_predictive_together
from suffice.stats.source import BlockSource
from suffice.structures.dag import DAG
from suffice.text import plural


@dataclass(frozen=True, eq=False)
class NetworkPosterior(Mapping[str, Any]):
    """p(θ | data) of a Bayesian network under a conjugate prior, by node.

    Attributes
    ----------
    dag : DAG
    nodes : tuple of posteriors
        One a node, in the order of the graph; tied nodes carry the same one.
    log_marginal_likelihood : float or None
        log p(data), all parameters integrated out; None under a prior that leaves intercepts free.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}
    >>> fit = sf.fit(sf.DAG("A -> B"), data, prior=sf.K2())
    >>> fit.posterior["B"].mean().table.to_numpy()
    array([[0.5       , 0.5       ],
           [0.33333333, 0.66666667]])
    """

    dag: DAG
    nodes: tuple[Any, ...]
    log_marginal_likelihood: float | None

    def __getitem__(self, node: str) -> Any:
        if node not in self.dag.nodes:
            raise UnknownNameError(
                f"There is no node {node!r}. The nodes are {listing(self.dag.nodes, 12)}."
                + suggestion(node, self.dag.nodes)
            )
        return self.nodes[self.dag.nodes.index(node)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.dag.nodes)

    def __len__(self) -> int:
        return len(self.dag.nodes)

    def __repr__(self) -> str:
        evidence = self.log_marginal_likelihood
        known = "improper prior" if evidence is None else f"log marginal likelihood {evidence:.4f}"
        return f"NetworkPosterior({plural(len(self), 'node')}, {known})"

    def mean(self) -> BayesianNetwork:
        """Return the network of posterior means."""
        return BayesianNetwork(self.dag, {node: self[node].mean() for node in self})

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return the posterior median and the equal-tailed credible interval of every parameter, node by node.

        Tied nodes are listed once, under the first of them; what was given is left out.
        """
        require_fraction("level", level)
        names: list[str] = []
        values: list[NDArray[np.float64]] = [np.zeros((0, 3))]
        for group in self.dag.groups:
            node = self[group[0]]
            if isinstance(node, RegressionPosterior):
                found = node.interval(level)
                names += [f"{group[0]}: {name}" for name in found.names]
                values.append(found.numbers)
            elif isinstance(node, DirichletRows):
                labels, numbers = _of_table(node, level)
                names += labels
                values.append(numbers)
        return ParameterIntervals(tuple(names), np.concatenate(values), level)

    def sample(self, *, seed: int | None = None) -> BayesianNetwork:
        """Draw one network from the posterior; tied nodes share their draw."""
        tables: dict[str, Any] = {}
        seeds = np.random.SeedSequence(require_seed(seed)).generate_state(len(self.dag.groups), np.uint64)
        for group, group_seed in zip(self.dag.groups, seeds, strict=True):
            drawn = self[group[0]].sample_table(seed=int(group_seed))
            tables |= {node: drawn.renamed(self[node].family) for node in group}
        return BayesianNetwork(self.dag, tables)

    def log_predictive(self, data: Any) -> NDArray[np.float64]:
        """Return log p(x | data) of every new row by itself, parameters integrated out; shape (n_rows,).

        Without ties this is the log-probability under the posterior means of tables, and Student's t around those of
        regressions. Tied nodes use their shared parameters several times in one row, so that each use also learns from
        the uses before it.
        """
        schema = Schema(tuple(self[node].family.child for node in self))
        table = open_table(data, tuple(self), schema=schema)
        parts = BlockSource(table).each(lambda block: self._log_predictive(block.columns, block.n_rows))
        return np.concatenate(list(parts))

    def _log_predictive(self, columns: Mapping[str, NDArray[Any]], n_rows: int) -> NDArray[np.float64]:
        total = np.zeros(n_rows)
        for group in self.dag.groups:
            lead = self[group[0]]
            if isinstance(lead, RegressionPosterior):
                total += log_predictive_together([self[node] for node in group], columns)
            elif isinstance(lead, PointPosterior):
                total += sum(self[node].log_predictive(columns) for node in group)
            elif len(group) == 1:
                total += lead.mean().log_prob(columns)
            else:
                total += self._log_predictive_tied(group, columns, n_rows)
        return total

    def _log_predictive_tied(
        self, group: tuple[str, ...], columns: Mapping[str, NDArray[Any]], n_rows: int
    ) -> NDArray[np.float64]:
        """Return Σ log p(x_v | earlier uses of the same row), the Pólya urn within one new case."""
        total = np.zeros(n_rows)
        uses: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for node in group:
            posterior: DirichletRows = self[node]
            above, state = _cell(posterior.family, columns, n_rows)
            p = np.exp(posterior.mean().log_prob(columns))
            size = posterior.row_totals(above)
            same_row = [(above == earlier).all(axis=1) for earlier, _ in uses]
            same_cell = [same & (state == earlier) for same, (_, earlier) in zip(same_row, uses, strict=True)]
            n_row, n_cell = np.sum(same_row, axis=0, initial=0.0), np.sum(same_cell, axis=0, initial=0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                total += np.log(np.where(np.isinf(size), p, (p * size + n_cell) / (size + n_row)))
            uses.append((above, state))
        return total


def _of_table(rows: DirichletRows, level: float) -> tuple[list[str], NDArray[np.float64]]:
    """Return names, medians and intervals of a table's probabilities, without the rows that were given."""
    free = np.ones(len(rows.concentration), bool) if rows.given is None else ~rows.given
    sizes = [parent.n_states for parent in rows.family.parents]
    above = all_configurations(sizes) if rows.configurations is None else rows.configurations
    child, parents = rows.family.child, rows.family.parents
    names = []
    for codes in above[free]:
        given = f" | {describe_configuration(parents, codes)}" if parents else ""
        names += [f"p({child.name}={label!r}{given})" for label in child.labels]
    numbers = np.stack([rows.quantile(tail)[free] for tail in (0.5, (1 - level) / 2, (1 + level) / 2)], axis=2)
    return names, numbers.reshape(-1, 3)


def _cell(
    family: Family, columns: Mapping[str, NDArray[Any]], n_rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the parents' codes, shape (n_rows, n_parents), and the child's, shape (n_rows,)."""
    codes = [np.asarray(columns[parent.name], np.int64) for parent in family.parents]
    above = np.stack(codes, axis=1) if codes else np.zeros((n_rows, 0), np.int64)
    return above, np.asarray(columns[family.child.name], np.int64)
