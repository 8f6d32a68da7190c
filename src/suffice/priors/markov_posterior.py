"""The posterior of a Markov chain: independent Dirichlet rows for the first symbols and for the transitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from suffice.data.variable import Variable
from suffice.data.windows import lagged
from suffice.errors import ArgumentError, listing, require_seed
from suffice.models.cpds import NodeFamily
from suffice.models.markov_chain import MarkovChainModel, families
from suffice.priors.dirichlet import DirichletPrior
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.posterior import PosteriorPredictive, warn_of_old_form
from suffice.priors.prior import ComparedByContent, Origin
from suffice.structures.markov_chain import MarkovChain
from suffice.types import Floats, Ints

if TYPE_CHECKING:
    from suffice.types import Entry


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

    @overload
    def sample(self, n: int, *, seed: int | None = None) -> tuple[MarkovChainModel, ...]: ...

    @overload
    def sample(self, *, seed: int | None = None) -> MarkovChainModel: ...

    def sample(
        self, n: int | None = None, *, seed: int | None = None
    ) -> tuple[MarkovChainModel, ...] | MarkovChainModel:
        """Draw ``n`` chains from the posterior.

        Without ``n`` one chain is drawn, which is deprecated, for ``sample(1)[0]``.
        """
        if n is None:
            warn_of_old_form("sample(seed=…) without n", "sample(1, seed=…)[0]")
            return self.sample(1, seed=seed)[0]
        seeds = np.random.SeedSequence(require_seed(seed)).generate_state(len(self.tables), np.uint64)
        drawn = [table.sample(n, seed=int(s)) for table, s in zip(self.tables, seeds, strict=True)]
        return tuple(MarkovChainModel(self.structure, self.variable, tables) for tables in zip(*drawn, strict=True))

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return the posterior median and the credible interval of every probability, first symbols and transitions."""
        found = [table.intervals(level) for table in self.tables]
        names = tuple(name for table in found for name in table.names)
        return ParameterIntervals(names, np.concatenate([table.numbers for table in found]), level)

    def predictive(self) -> PosteriorPredictive:
        """Return the distribution of a new sequence, all parameters integrated out."""
        return PosteriorPredictive(self)

    def log_predictive(self, data: Any) -> Floats:
        """Return log p(sequence | data) of every new sequence by itself; shape (n_sequences,).

        A sequence uses the same rows again and again, so that each symbol also learns from those before it.

        Parameters
        ----------
        data : Sequences, or what the structure can read as such
        """
        known, codes, owner, n_sequences = self.mean().windows(data)
        total = np.zeros(n_sequences)
        for length, table in enumerate(self.tables):
            here = known == length
            above, state, of = codes[here, :length][:, ::-1], codes[here, -1], owner[here]
            p = table.pseudo_counts()[(*above.T, state)]
            size = table.row_totals(above)
            rows = np.column_stack([of, above])
            in_row, in_cell = _earlier(rows), _earlier(np.column_stack([rows, state]))
            total += np.bincount(of, np.log((p + in_cell) / (size + in_row)), minlength=n_sequences)
        return total

    def as_prior(self) -> ChainDirichlet:
        """Return this posterior as the prior of further fits of the same chain."""
        prior = ChainDirichlet(self.variable.name, tuple(table.pseudo_counts() for table in self.tables))
        return prior.learnt_from(Origin((self.variable,)))

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data, structure and variable left out."""
        return {"tables": [table.to_dict() for table in self.tables]}

    @classmethod
    def from_dict(cls, model: MarkovChainModel, entry: Entry) -> MarkovChainPosterior:
        """Rebuild from `to_dict`'s data and the fitted model."""
        pairs = zip(families(model.variable, model.order), entry["tables"], strict=True)
        tables = tuple(DirichletRows.from_dict(family, table) for family, table in pairs)
        return cls(model.structure, model.variable, tables)


def _earlier(rows: Ints) -> Ints:
    """Return how many equal rows come before each row; shape (n_rows,).

    >>> _earlier(np.array([[1, 2], [1, 3], [1, 2], [1, 2]])).tolist()
    [0, 0, 1, 2]
    """
    _, group = np.unique(rows, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    counts = np.bincount(group.ravel())
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    found = np.empty(len(rows), np.int64)
    found[order] = np.arange(len(rows)) - starts
    return found


@dataclass(frozen=True, eq=False, repr=False)
class ChainDirichlet(ComparedByContent, DirichletPrior):
    """Pseudo-counts for each table of a Markov chain: what the posterior of earlier sequences is to further ones.

    Attributes
    ----------
    variable : str
        The symbols.
    tables : tuple of array
        Those of a symbol given 0, 1, …, k predecessors, each of shape (…predecessors' states, states).
    """

    variable: str
    tables: Sequence[Floats] = field(repr=False)
    kinds: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        tables = [np.array(table, np.float64) for table in self.tables]
        for table in tables:
            table.flags.writeable = False
        object.__setattr__(self, "tables", tuple(tables))

    def alpha(self, family: NodeFamily) -> Floats:
        """Return the pseudo-counts of a symbol with some predecessors, shape (n_rows, n_states)."""
        known, name = len(family.parents), self.variable
        lags = tuple(lagged(name, steps) for steps in range(known, 0, -1))
        shape = tuple(variable.n_states for variable in family.variables)
        if family.scope != (*lags, name) or known >= len(self.tables) or self.tables[known].shape != shape:
            raise ArgumentError(
                f"This prior is that of a Markov chain of order {len(self.tables) - 1} with "
                f"{self.tables[0].shape[-1]:,} symbols, {name!r}. Got a table over {listing(family.scope)} of shape "
                f"{shape}; use it for the same chain and states."
            )
        return self.tables[known].reshape(-1, shape[-1])

    def __repr__(self) -> str:
        return f"ChainDirichlet({self.variable!r}, order {len(self.tables) - 1})"

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {"type": "ChainDirichlet", "variable": self.variable, "tables": [t.tolist() for t in self.tables]}
