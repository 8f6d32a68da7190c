"""Markov chains: one table of counts, cut into the sequences' first symbols and the transitions.

The table is over the symbol and its k predecessors, each with one more state for the time before the start. Windows
with j predecessors, j < k, are those of a sequence's symbol j + 1; windows with all of them are the chain's own.

ℓ(θ) = Σ_j ℓ_j(θ_j): every row of every table by itself, as in a Bayesian network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.data.windows import START, window_names
from suffice.errors import ArgumentError, StatisticsError, listing, made, shown, the_argument
from suffice.learn.method import Method, Problem, Solution
from suffice.models.cpds.tabular import TabularCPD, describe_configuration
from suffice.models.cpds.tabular_kind import KIND
from suffice.models.markov_chain import MarkovChainModel, families
from suffice.priors.dirichlet import DirichletPrior
from suffice.priors.markov_posterior import MarkovChainPosterior
from suffice.stats.counts import Counts
from suffice.stats.needs import Count
from suffice.structures.markov_chain import MarkovChain
from suffice.text import plural


def refuses(chain: MarkovChain, schema: Schema) -> str | None:
    """Refuse continuous symbols, and chains that are hidden."""
    if chain.latent:
        return f"{chain.state[0]!r} is latent, and the closed form needs every symbol observed."
    if not schema[symbol_name(chain, schema)].is_discrete:
        return "its symbols are continuous. sf.Autoregression is for numbers."
    return None


def symbol_name(chain: MarkovChain, schema: Schema) -> str:
    """Return the name of the symbols: the structure's, or that of the last column of windows."""
    return next(iter(chain.names), list(schema)[-1])


def needs(chain: MarkovChain, schema: Schema) -> tuple[Count, ...]:
    """Return the one table of counts."""
    return (Count(window_names([symbol_name(chain, schema)], chain.order)),)


def split(counts: Counts, variable: Variable, order: int) -> tuple[Counts, ...]:
    """Cut the counts of windows by how many predecessors they have: 0, 1, …, ``order``."""
    of_lag = [symbol_codes(lag, variable) for lag in counts.variables[:-1]]
    if counts.cells is None and all(np.array_equal(codes, np.arange(-1, variable.n_states)) for codes in of_lag):
        own = tuple(counts.values[(0,) * (order - known) + (slice(1, None),) * known] for known in range(order + 1))
        return tuple(Counts.dense(f.variables, table) for f, table in zip(families(variable, order), own, strict=True))
    cells, m = counts.nonzero()
    digits = np.full(cells.shape, -1, np.int64)
    digits[:, -1] = cells[:, -1]
    for axis, codes in enumerate(of_lag):
        digits[:, axis] = codes[cells[:, axis]]
    n_known = (digits[:, :-1] >= 0).sum(axis=1)
    found = []
    for known, family in enumerate(families(variable, order)):
        here = n_known == known
        found.append(Counts.sparse(family.variables, digits[here, order - known :], m[here]))
    return tuple(found)


def symbol_codes(lag: Variable, variable: Variable) -> NDArray[np.int64]:
    """Return the symbol's code of every state of one of its lags, −1 for the time before the start."""
    by_text = {str(label): code for code, label in enumerate(variable.labels)} | {START: -1}
    unknown = [label for label in lag.labels if str(label) not in by_text]
    if unknown:
        raise StatisticsError(
            f"The statistics count the state {unknown[0]!r} of {lag.name!r}, which {variable.name!r} does not have. "
            "Collect them again."
        )
    return np.array([by_text[str(label)] for label in lag.labels], np.int64)


def solve(problem: Problem[MarkovChain]) -> Solution[MarkovChainModel]:
    """Fit every table from its own counts, and put the chain together."""
    chain: MarkovChain = problem.structure
    variable = problem.schema[symbol_name(chain, problem.schema)]
    (need,) = needs(chain, problem.schema)
    parts = split(problem.statistics[need], variable, chain.order)
    owned = list(zip(families(variable, chain.order), parts, strict=True))
    posterior, tables = None, tuple(KIND.mle(family, part) for family, part in owned)  # eq markov-mle
    if problem.prior is not None:
        rows = tuple(problem.prior.posterior(KIND.name, family, part) for family, part in owned)
        posterior = MarkovChainPosterior(chain, variable, rows)
        tables = tuple(row.mode() if problem.point == "map" else row.mean() for row in rows)
    remarks = _unknown_rows(tables, parts, problem.unseen_parents)
    if problem.unseen_parents == "uniform":
        tables = tuple(KIND.complete(table, "uniform")[0] for table in tables)
    local = [table.log_likelihood(part) for table, part in zip(tables, parts, strict=True)]
    model = MarkovChainModel(chain, variable, tables)
    return Solution(
        model=model,
        log_likelihood=sum(local),
        local={"initial": float(sum(local[:-1])), "transitions": local[-1]},
        n_free=sum(KIND.n_free(table.family) for table in tables),
        n_free_adjusted=sum(
            KIND.n_free_adjusted(table.family, part) for table, part in zip(tables, parts, strict=True)
        ),
        posterior=posterior,
        log_marginal_likelihood=None if posterior is None else posterior.log_marginal_likelihood,
        remarks=remarks,
    )


def _unknown_rows(tables: tuple[TabularCPD, ...], parts: tuple[Counts, ...], policy: str) -> tuple[str, ...]:
    """Say which contexts have no known continuation.

    That a context does not occur is no fault of the data: it cannot be reached, either. One that occurs only where
    sequences end can be reached, and is named.
    """
    cpd, order = tables[-1], len(tables) - 1
    if not np.isnan(cpd._rows).any():
        return ()
    sizes = [parent.n_states for parent in cpd.family.parents]
    ends = _last_blocks(parts, order)
    row = cpd.probabilities(ends)
    open_ended = ends[np.isnan(row).any(axis=1)]
    n_known = int((~np.isnan(cpd.values).any(axis=1)).sum())
    n_all = int(np.prod(np.array(sizes, dtype=object)))
    done = "their rows were set uniform" if policy == "uniform" else "what follows them is unknown (NaN)"
    name = cpd.family.child.name
    said = f"{name}: {plural(n_all - n_known, 'context')} of {n_all:,} have no data, and {done}"
    if len(open_ended):
        first = describe_configuration(cpd.family.parents, open_ended[0])
        said += f"; {len(open_ended):,} of them occur, but only where sequences end (first: {first})"
    return (f"{said}.",)


def _last_blocks(parts: tuple[Counts, ...], order: int) -> NDArray[np.int64]:
    """Return the distinct blocks of ``order`` symbols that occur, each once."""
    blocks = [parts[-1].nonzero()[0][:, 1:]]
    if order:
        blocks.append(parts[-2].nonzero()[0])
    return np.unique(np.concatenate(blocks), axis=0)


def check(chain: MarkovChain, prior: Any, fixed: Mapping[str, Any]) -> None:
    """Refuse what is no prior on all rows alike, and given rows."""
    if prior is not None and (not isinstance(prior, DirichletPrior) or prior.nodes):
        raise ArgumentError(
            the_argument("prior"),
            " of a Markov chain must be the same for all rows, such as ",
            made("Dirichlet", 1.0),
            ", ",
            made("K2"),
            " or ",
            made("Jeffreys"),
            f". Got {shown(prior)} instead.",
        )
    if fixed:
        raise ArgumentError(
            f"The 'fixed' argument must be left out: the rows of a Markov chain are all learnt. Got {listing(fixed)}."
        )


METHOD: Method[MarkovChain, MarkovChainModel] = Method(
    refuses=refuses, needs=needs, solve=solve, passes="one", exact=True, check=check
)
