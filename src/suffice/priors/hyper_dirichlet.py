"""The hyper-Dirichlet law: what is known of a decomposable Markov random field's margins after the data.

Every clique's margin is Dirichlet(α_C + m_C), margins that overlap agree, and given a separator the cliques on both
sides are independent (Dawid and Lauritzen, 1993).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.errors import ArgumentError, EstimationError, listing, require_fraction, require_seed
from suffice.models.markov_net import MarkovNetwork
from suffice.models.sampling import require_draws
from suffice.priors.expert import Expert
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.posterior import warn_of_old_form
from suffice.structures.cliques import Cliques
from suffice.types import Floats, TableLike

if TYPE_CHECKING:
    from suffice.types import Entry


@dataclass(frozen=True, eq=False)
class HyperDirichlet:
    """Posterior of a decomposable Markov random field.

    Attributes
    ----------
    cliques : Cliques
    schema : Schema
    tables : tuple of array
        α_C + m_C of the maximal cliques, in the order of ``cliques.perfect_sequence``.
    log_marginal_likelihood : float
        log p(data), the parameters integrated out.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"A": ["x", "x", "y"], "B": ["u", "v", "v"], "C": ["s", "s", "t"]}
    >>> posterior = sf.fit(sf.Cliques("A:B + B:C"), data, prior=sf.BDeu(4)).posterior
    >>> print(posterior.concentration(["B"]))
    B  α
    -  -
    u  3
    v  4
    >>> print(posterior.intervals(0.9, margin=["B"]))
    parameter    median     lower     upper
    ---------  --------  --------  --------
    p(B='u')   0.421407  0.153161  0.728662
    p(B='v')   0.578593  0.271338  0.846839
    0.9 credible intervals, equal-tailed
    """

    cliques: Cliques
    schema: Schema
    tables: tuple[Floats, ...] = field(repr=False)
    log_marginal_likelihood: float

    def concentration(self, names: Sequence[str]) -> LabelledTable:
        """Return the Dirichlet parameters of the margin of some variables that share a clique."""
        wanted = [names] if isinstance(names, str) else list(names)
        if len(set(wanted)) < len(wanted):
            raise ArgumentError(f"The margin asked for names a variable twice: {listing(wanted)}.")
        for name in wanted:
            _ = self.schema[name]  # which says what the variables are
        for (clique, _), table in zip(self.cliques.perfect_sequence or (), self.tables, strict=True):
            if set(wanted) <= set(clique):
                outside = tuple(axis for axis, name in enumerate(clique) if name not in wanted)
                inside = [name for name in clique if name in wanted]
                summed = table.sum(axis=outside).transpose([inside.index(name) for name in wanted])
                return LabelledTable(tuple(self.schema[name] for name in wanted), summed, "α")
        raise ArgumentError(
            f"No clique holds {listing(wanted)} together, so that their margin has no Dirichlet law. The cliques are "
            f"{self.cliques}."
        )

    def intervals(self, level: float = 0.95, *, margin: Sequence[str] | None = None) -> ParameterIntervals:
        """Return the posterior median and the equal-tailed credible interval of every probability of the margins.

        Parameters
        ----------
        level : float
        margin : sequence of str, optional
            Variables that share a clique; the margins of all cliques unless given.
        """
        tails = (0.5, (1 - require_fraction("level", level)) / 2, (1 + level) / 2)
        margins = [clique for clique, _ in self.cliques.perfect_sequence or ()] if margin is None else [margin]
        names: list[str] = []
        numbers: list[Floats] = [np.zeros((0, 3))]
        for wanted in margins:
            alpha = self.concentration(wanted)
            for labels in itertools.product(*(variable.labels for variable in alpha.variables)):
                cell = zip(alpha.variables, labels, strict=True)
                names.append(f"p({', '.join(f'{variable.name}={label!r}' for variable, label in cell)})")
            numbers.append(np.stack([_quantile(alpha.values, q).ravel() for q in tails], axis=1))
        return ParameterIntervals(tuple(names), np.concatenate(numbers), level)

    def interval(self, names: Sequence[str], level: float = 0.95) -> tuple[LabelledTable, LabelledTable]:
        """Return the ends of the intervals of a margin as tables; deprecated, for `intervals`."""
        warn_of_old_form("interval(names, level)", "intervals(level, margin=names)")
        alpha, tail = self.concentration(names), (1 - require_fraction("level", level)) / 2
        lower, upper = (_quantile(alpha.values, q) for q in (tail, 1 - tail))
        return LabelledTable(alpha.variables, lower, "lower"), LabelledTable(alpha.variables, upper, "upper")

    def mean(self) -> MarkovNetwork:
        """Return the exact predictive distribution of one new case."""
        return network_of_margins(self.cliques, self.schema, self.tables)

    def mode(self) -> MarkovNetwork:
        """Raise: where the density is highest depends on the parameters that it is a density of.

        Raises
        ------
        EstimationError
        """
        raise EstimationError(
            "The posterior of a Markov random field's margins has no mode of its own: it is another one for each way "
            "to write the distribution, by margins or by one of many orders of conditional tables. Use mean()."
        )

    def predictive(self) -> MarkovNetwork:
        """Return the distribution of a new case, all parameters integrated out: that of the posterior means."""
        return self.mean()

    def log_predictive(self, data: TableLike) -> Floats:
        """Return log p(row | data) of every new row by itself; shape (n_rows,)."""
        return np.asarray(self.mean().log_prob(data), np.float64)

    def as_prior(self) -> Expert:
        """Return this posterior as the prior of further fits: an expert's network, believed like so many cases."""
        return Expert(self.mean(), float(self.tables[0].sum()))

    def sample(self, n: int, *, seed: int | None = None) -> tuple[MarkovNetwork, ...]:
        """Draw ``n`` distributions from the posterior."""
        rng = np.random.Generator(np.random.Philox(require_seed(seed)))
        return tuple(self._draw(rng) for _ in range(require_draws(n, self._draw_bytes, "draws")))

    @property
    def _draw_bytes(self) -> int:
        """What one distribution takes, with its description."""
        return 8 * sum(table.size for table in self.tables) + 1000

    def _draw(self, rng: np.random.Generator) -> MarkovNetwork:
        factors = []
        for (clique, separator), table in zip(self.cliques.perfect_sequence or (), self.tables, strict=True):
            order = [clique.index(name) for name in (*separator, *(name for name in clique if name not in separator))]
            rows = table.transpose(order)
            shape = rows.shape
            rows = rows.reshape(int(np.prod(shape[: len(separator)])), -1)
            # Γ(α) = Γ(α + 1) · U^(1/α), in logarithms, where small α would underflow.
            log_drawn = np.log(rng.standard_gamma(rows + 1)) + np.log(rng.random(rows.shape)) / rows
            drawn = np.exp(log_drawn - log_drawn.max(axis=1, keepdims=True))
            drawn /= drawn.sum(axis=1, keepdims=True)
            factors.append((clique, drawn.reshape(shape).transpose(np.argsort(order))))
        return MarkovNetwork(factors, schema=self.schema)

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data."""
        return {
            "tables": [table.ravel() for table in self.tables],
            "log_marginal_likelihood": self.log_marginal_likelihood,
        }

    @classmethod
    def from_dict(cls, cliques: Cliques, schema: Schema, entry: Entry) -> HyperDirichlet:
        """Rebuild the posterior from `to_dict`'s data."""
        tables = []
        for (clique, _), values in zip(cliques.perfect_sequence or (), entry["tables"], strict=True):
            tables.append(np.array(values, np.float64).reshape([schema[name].n_states for name in clique]))
        return cls(cliques, schema, tuple(tables), float(entry["log_marginal_likelihood"]))


def _quantile(alpha: Floats, q: float) -> Floats:
    """Return the quantile of every cell of a Dirichlet distribution by itself."""
    from scipy.special import betaincinv

    rest = alpha.sum() - alpha
    return np.asarray(betaincinv(alpha, rest, q) if rest.any() else np.ones_like(rest), np.float64)


def network_of_margins(cliques: Cliques, schema: Schema, tables: Sequence[Floats]) -> MarkovNetwork:
    """Return Π_C t_C / Π_S t_S, the one distribution of a decomposable model with these margins; Z is one.

    Each maximal clique's potential is p(clique | separator); cliques inside others have ones. A configuration whose
    separator has no mass has none.
    """
    held: dict[tuple[str, ...], Floats] = {}
    for (clique, separator), table in zip(cliques.perfect_sequence or (), tables, strict=True):
        outside = tuple(axis for axis, name in enumerate(clique) if name not in separator)
        below = table.sum(axis=outside, keepdims=True)
        held[clique] = np.divide(table, below, out=np.zeros_like(table), where=below > 0)  # eq decomposable
    factors = [
        (clique, held.get(clique, np.ones([schema[name].n_states for name in clique]))) for clique in cliques.cliques
    ]
    return MarkovNetwork(factors, schema=schema)
