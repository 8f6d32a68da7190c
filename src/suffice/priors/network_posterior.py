"""The posterior of a whole network: independent posteriors of its nodes, shared where nodes are tied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.errors import UnknownNameError, listing, require_fraction, require_seed, suggestion
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import CPD, NodeFamily
from suffice.priors.dirichlet import Dirichlet
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.posterior import PosteriorPredictive, warn_of_old_form
from suffice.priors.prior import NodePosterior, Origin
from suffice.priors.regression_posterior import RegressionPosterior
from suffice.priors.regression_prediction import log_predictive_together
from suffice.priors.several import Priors
from suffice.stats.source import BlockSource
from suffice.structures.dag import DAG
from suffice.text import plural
from suffice.types import Columns, Floats, Ints, TableLike


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
    nodes: tuple[NodePosterior, ...]
    log_marginal_likelihood: float | None

    def __getitem__(self, node: str) -> Any:
        if node not in self.dag.nodes:
            raise UnknownNameError(
                f"There is no node {node!r}. The nodes are {listing(self.dag.nodes, 12)}."
                + suggestion(node, self.dag.nodes)
            )
        return self.nodes[self.dag.nodes.index(node)]

    def node(self, name: str) -> NodePosterior:
        """Return the posterior of one node."""
        found: NodePosterior = self[name]
        return found

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
        return BayesianNetwork(self.dag, {node: self.node(node).mean() for node in self})

    def mode(self) -> BayesianNetwork:
        """Return the network of posterior modes."""
        return BayesianNetwork(self.dag, {node: self.node(node).mode() for node in self})

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return the posterior median and the equal-tailed credible interval of every parameter, node by node.

        Tied nodes are listed once, under the first of them; what was given is left out.
        """
        require_fraction("level", level)
        names: list[str] = []
        values: list[Floats] = [np.zeros((0, 3))]
        for group in self.dag.groups:
            node = self.node(group[0])
            found = node.intervals(level)
            names += found.names if isinstance(node, DirichletRows) else [f"{group[0]}: {name}" for name in found.names]
            values.append(found.numbers)
        return ParameterIntervals(tuple(names), np.concatenate(values), level)

    @overload
    def sample(self, n: int, *, seed: int | None = None) -> tuple[BayesianNetwork, ...]: ...

    @overload
    def sample(self, *, seed: int | None = None) -> BayesianNetwork: ...

    def sample(self, n: int | None = None, *, seed: int | None = None) -> tuple[BayesianNetwork, ...] | BayesianNetwork:
        """Draw ``n`` networks from the posterior; tied nodes share their draws.

        Without ``n`` one network is drawn, which is deprecated, for ``sample(1)[0]``.
        """
        if n is None:
            warn_of_old_form("sample(seed=…) without n", "sample(1, seed=…)[0]")
            return self.sample(1, seed=seed)[0]
        seeds = np.random.SeedSequence(require_seed(seed)).generate_state(len(self.dag.groups), np.uint64)
        drawn: dict[str, tuple[CPD, ...]] = {}
        for group, group_seed in zip(self.dag.groups, seeds, strict=True):
            cpds = self.node(group[0]).sample(n, seed=int(group_seed))
            drawn |= {node: tuple(cpd.renamed(self.node(node).family) for cpd in cpds) for node in group}
        rows = zip(*(drawn[node] for node in self), strict=True)
        return tuple(BayesianNetwork(self.dag, dict(zip(self, cpds, strict=True))) for cpds in rows)

    def predictive(self) -> BayesianNetwork | PosteriorPredictive:
        """Return the distribution of a new case, all parameters integrated out.

        That of a network of tables without ties is a network again, with the posterior means as its tables.
        """
        is_network = all(isinstance(self[node], DirichletRows) for node in self) and not self.dag.tie
        return self.mean() if is_network else PosteriorPredictive(self)

    def as_prior(self) -> Dirichlet | Priors:
        """Return the prior under which new data lead to the posterior that all of the data would have led to.

        It names every node, or of tied nodes the first. What was given is to be given again, by ``fixed``.
        """
        leads = [group[0] for group in self.dag.groups]
        tables = {node: held for node in leads if isinstance(held := self[node], DirichletRows)}
        if len(tables) == len(leads):
            whole: Dirichlet | Priors = Dirichlet({node: rows.pseudo_counts() for node, rows in tables.items()})
        else:
            whole = Priors({node: self.node(node).as_prior() for node in leads})
        families = [self.node(node).family for node in leads]
        variables = tuple(dict.fromkeys(variable for family in families for variable in family.variables))
        return whole.learnt_from(Origin(variables, {family.child.name: family.scope[:-1] for family in families}))

    def log_predictive(self, data: TableLike) -> Floats:
        """Return log p(x | data) of every new row by itself, parameters integrated out; shape (n_rows,).

        Without ties this is the log-probability under the posterior means of tables, and Student's t around those of
        regressions. Tied nodes use their shared parameters several times in one row, so that each use also learns from
        the uses before it.
        """
        schema = Schema(tuple(self.node(node).family.child for node in self))
        table = open_table(data, tuple(self), schema=schema)
        parts = BlockSource(table).each(lambda block: self._log_predictive(block.columns, block.n_rows))
        return np.concatenate(list(parts))

    def _log_predictive(self, columns: Columns, n_rows: int) -> Floats:
        total = np.zeros(n_rows)
        for group in self.dag.groups:
            nodes = [self.node(node) for node in group]
            regressions = [node for node in nodes if isinstance(node, RegressionPosterior)]
            if regressions:
                total += log_predictive_together(regressions, columns)
            elif len(group) > 1 and isinstance(nodes[0], DirichletRows):
                total += self._log_predictive_tied(group, columns, n_rows)
            else:
                total += sum(node.log_predictive_of(columns) for node in nodes)
        return total

    def _log_predictive_tied(self, group: tuple[str, ...], columns: Columns, n_rows: int) -> Floats:
        """Return Σ log p(x_v | earlier uses of the same row), the Pólya urn within one new case."""
        total = np.zeros(n_rows)
        uses: list[tuple[Ints, Ints]] = []
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


def _cell(family: NodeFamily, columns: Columns, n_rows: int) -> tuple[Ints, Ints]:
    """Return the parents' codes, shape (n_rows, n_parents), and the child's, shape (n_rows,)."""
    codes = [np.asarray(columns[parent.name], np.int64) for parent in family.parents]
    above = np.stack(codes, axis=1) if codes else np.zeros((n_rows, 0), np.int64)
    return above, np.asarray(columns[family.child.name], np.int64)
