"""The hyper-Dirichlet law: what is known of a decomposable Markov random field's margins after the data.

Every clique's margin is Dirichlet(α_C + m_C), margins that overlap agree, and given a separator the cliques on both
sides are independent (Dawid and Lauritzen, 1993).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.errors import ArgumentError, listing, require_fraction, require_seed
from suffice.models.markov_net import MarkovNetwork
from suffice.models.sampling import require_draws
from suffice.structures.cliques import Cliques
from suffice.types import Floats


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
    >>> posterior.interval(["B"], 0.9)[0].to_numpy().round(3)
    array([0.153, 0.271])
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

    def interval(self, names: Sequence[str], level: float = 0.95) -> tuple[LabelledTable, LabelledTable]:
        """Return equal-tailed credible bounds, lower and upper, of every cell of a margin."""
        from scipy.special import betaincinv

        alpha, tail = self.concentration(names), (1 - require_fraction("level", level)) / 2
        rest = alpha.values.sum() - alpha.values

        def bound(q: float, name: str) -> LabelledTable:
            values = betaincinv(alpha.values, rest, q) if rest.any() else np.ones_like(rest)
            return LabelledTable(alpha.variables, values, name)

        return bound(tail, "lower"), bound(1 - tail, "upper")

    def mean(self) -> MarkovNetwork:
        """Return the exact predictive distribution of one new case."""
        return network_of_margins(self.cliques, self.schema, self.tables)

    def sample(self, n: int, *, seed: int | None = None) -> list[MarkovNetwork]:
        """Draw distributions from the posterior."""
        rng = np.random.Generator(np.random.Philox(require_seed(seed)))
        return [self._draw(rng) for _ in range(require_draws(n, self._draw_bytes, "draws"))]

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
    def from_dict(cls, cliques: Cliques, schema: Schema, entry: Mapping[str, Any]) -> HyperDirichlet:
        """Rebuild the posterior from `to_dict`'s data."""
        tables = []
        for (clique, _), values in zip(cliques.perfect_sequence or (), entry["tables"], strict=True):
            tables.append(np.array(values, np.float64).reshape([schema[name].n_states for name in clique]))
        return cls(cliques, schema, tuple(tables), float(entry["log_marginal_likelihood"]))


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
