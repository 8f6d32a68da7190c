"""The posterior of a Markov chain: independent Dirichlet rows for the first symbols and for the transitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.variable import Variable
from suffice.errors import require_seed
from suffice.models.markov_chain import MarkovChainModel, families
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.structures.markov_chain import MarkovChain


@dataclass(frozen=True, eq=False)
class MarkovChainPosterior:
    """p(θ | sequences) of a Markov chain under a Dirichlet prior on every row.

    Attributes
    ----------
    structure : MarkovChain
    variable : Variable
    tables : tuple of DirichletRows
        Those of a symbol given 0, 1, …, k predecessors, as in `suffice.models.markov_chain.MarkovChainModel`.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.MarkovChain(order=1), ["aab", "abb"], prior=sf.Dirichlet(1.0))
    >>> fit.posterior.transitions.concentration
    array([[2., 3.],
           [1., 2.]])
    """

    structure: MarkovChain
    variable: Variable
    tables: tuple[DirichletRows, ...]

    @property
    def initial(self) -> tuple[DirichletRows, ...]:
        """The posteriors of p(y_1), p(y_2 | y_1) and so on."""
        return self.tables[:-1]

    @property
    def transitions(self) -> DirichletRows:
        """The posterior of the chain's own table."""
        return self.tables[-1]

    @property
    def log_marginal_likelihood(self) -> float:
        """The log-probability of the sequences, all parameters integrated out."""
        return sum(table.log_marginal_likelihood for table in self.tables)

    def __repr__(self) -> str:
        return f"MarkovChainPosterior(order {self.structure.order}, {self.variable.name!r})"

    def mean(self) -> MarkovChainModel:
        """Return the chain of posterior means."""
        return MarkovChainModel(self.structure, self.variable, tuple(table.mean() for table in self.tables))

    def mode(self) -> MarkovChainModel:
        """Return the chain of posterior modes."""
        return MarkovChainModel(self.structure, self.variable, tuple(table.mode() for table in self.tables))

    def sample(self, *, seed: int | None = None) -> MarkovChainModel:
        """Draw one chain from the posterior."""
        seeds = np.random.SeedSequence(require_seed(seed)).generate_state(len(self.tables), np.uint64)
        drawn = tuple(table.sample_table(seed=int(s)) for table, s in zip(self.tables, seeds, strict=True))
        return MarkovChainModel(self.structure, self.variable, drawn)

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data, structure and variable left out."""
        return {"tables": [table.to_dict() for table in self.tables]}

    @classmethod
    def from_dict(cls, model: MarkovChainModel, entry: Mapping[str, Any]) -> MarkovChainPosterior:
        """Rebuild from `to_dict`'s data and the fitted model."""
        pairs = zip(families(model.variable, model.order), entry["tables"], strict=True)
        tables = tuple(DirichletRows.from_dict(family, table) for family, table in pairs)
        return cls(model.structure, model.variable, tables)
