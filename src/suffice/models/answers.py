"""What every discrete model answers: the most likely states, marginals, log Z, entropy, draws; beside `Questions`."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.labelled import LabelledTable
from suffice.errors import ArgumentError, ModelError, listing, require_choice, shown
from suffice.inference.inquiry import Given
from suffice.models.assignment import Assignment
from suffice.models.complexity import Complexity
from suffice.models.evidence import given_of
from suffice.models.explorable import Explorable
from suffice.models.marginals import Marginals
from suffice.models.questions import Questions
from suffice.models.sampling import (
    METHODS,
    Draw,
    from_calibrated,
    gibbs_blocks,
    refuse_chain_settings,
    sample_blocks,
    sample_frame,
)


class Answers(Explorable, Questions):
    """What a discrete model answers; a model provides ``schema``, ``variables`` and `_product`."""

    # The whole ------------------------------------------------------------------------------------------------

    def marginals(self, given: Mapping[str, Any] | None = None) -> Marginals:
        """Return p(v | given) of every variable that is not given, from one calibration: a dict of tables."""
        evidence = given_of(self.schema, given)
        self._check_known(None, evidence)
        found = self._inquiry.marginals(evidence)
        impossible = not found and self._inquiry.log_evidence(evidence) == -math.inf
        if impossible or any(not values.any() for values in found.values()):
            raise self._impossible(evidence)
        variables = self.schema.variables
        return Marginals({variables[v].name: LabelledTable((variables[v],), found[v]) for v in sorted(found)})

    def map(self, given: Mapping[str, Any] | None = None) -> Assignment:
        """Return the most likely states of all variables that are not given, exactly.

        Examples
        --------
        >>> import suffice as sf
        >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y"], "B": ["u", "u", "v"]})
        >>> print(fit.model.map())
        variable  state
        --------  -----
        A         x
        B         u
        log p(states, evidence) = -0.405465, log p(states | evidence) = -0.405465
        """
        evidence = given_of(self.schema, given)
        self._check_known(None, evidence)
        found = self._inquiry.most_likely(evidence)
        if found is None:
            raise self._impossible(evidence)
        chosen, _, ties = found
        codes = {**evidence.hard, **chosen}
        variables = self.schema.variables
        row = {variables[v].name: np.array([code]) for v, code in codes.items()}
        log_prob = float(self.log_prob_of(row, 1)[0])
        log_prob += sum(math.log(weights[codes[v]]) for v, weights in evidence.soft.items())
        return Assignment(
            {variables[v].name: variables[v].labels[chosen[v]] for v in sorted(chosen)},
            log_prob,
            log_prob - self._inquiry.log_evidence(evidence) + self._inquiry.log_z,
            {variables[v].name: tuple(variables[v].labels[code] for code in ties[v]) for v in sorted(ties)},
        )

    @abstractmethod
    def log_prob_of(self, columns: Mapping[str, NDArray[Any]], n_rows: int) -> NDArray[np.float64]:
        """Return log p(x) of every row of codes; shape (n_rows,)."""

    @property
    def log_z(self) -> float:
        """The logarithm of the sum of all products of tables; zero for a Bayesian network."""
        return self._inquiry.log_z

    def log_evidence(self, given: Mapping[str, Any] | None = None) -> float:
        """Return log p(given), −inf when it is impossible; soft evidence enters with its likelihoods."""
        evidence = given_of(self.schema, given)
        self._check_known((), evidence)
        self._require_possible()
        return self._inquiry.log_evidence(evidence) - self._inquiry.log_z

    def entropy(self, given: Mapping[str, Any] | None = None) -> float:
        """Return the entropy of all variables that are not given, −Σ p log p, in nats."""
        evidence = given_of(self.schema, given)
        self._check_known(None, evidence)
        found = self._inquiry.calibrated(evidence)
        if found.log_z == -math.inf:
            raise self._impossible(evidence)
        return found.entropy

    def kl(self, other: Answers) -> float:
        """Return Σ p log p/q in nats, p being this model and q the other, over the same variables and states.

        It is exact, and refused where the graphs of both together have cliques that are too large.
        """
        if not isinstance(other, Answers):
            raise ArgumentError(f"The divergence is from another discrete model. Got {shown(other)} instead.")
        if set(self.schema) != set(other.schema):
            raise ModelError(
                f"The models have different variables: {listing(sorted(set(self.schema) ^ set(other.schema)))} are in "
                "one of them only."
            )
        for name in self.schema:
            if not self.schema[name].has_states_of(other.schema[name]):
                raise ModelError(
                    f"The models have different states of {name!r}: {listing(self.schema[name].labels)} and "
                    f"{listing(other.schema[name].labels)}. They must be equal, order included."
                )
        for model in (self, other):
            model._check_known(None, Given())
            model._require_possible()
        place = self.schema.positions
        position = [place[name] for name in other.schema]
        product = other._inquiry.product
        scopes = [tuple(position[v] for v in factor.scope) for factor in product.factors]
        found = self._inquiry.calibrated(Given(), scopes)
        expected = 0.0
        for scope, factor in zip(scopes, product.factors, strict=True):
            p = found.marginal(scope)
            assert p is not None
            with np.errstate(divide="ignore", invalid="ignore"):
                expected += float(np.where(p > 0, p * np.log(factor.values), 0.0).sum())
        return max(0.0, -found.entropy - expected + other.log_z)

    def complexity(self, given: Mapping[str, Any] | None = None) -> Complexity:
        """Return how large exact inference is: width, cliques, cells and memory; nothing is allocated."""
        evidence = given_of(self.schema, given)
        return Complexity.of(self._inquiry.plan(frozenset(evidence.hard)))

    # Draws ----------------------------------------------------------------------------------------------------

    def sample(
        self,
        n: int,
        *,
        given: Mapping[str, Any] | None = None,
        seed: int | None = None,
        backend: str | None = None,
        method: str = "exact",
        burn_in: int | None = None,
        thin: int | None = None,
        chains: int | None = None,
    ) -> Any:
        """Draw ``n`` rows from p(x | given): independent and exact, or by Gibbs sampling where that is too large.

        Parameters
        ----------
        n : int
        given : mapping, optional
            Evidence, as in `query`.
        seed : int, optional
            The same seed gives the same rows, whatever the threads; the first exact rows do not depend on ``n``.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame to return: the first of them that is installed, unless named.
        method : {"exact", "gibbs"}
            With ``"gibbs"``, chains redraw one variable after another, given all others; the width of the graph does
            not matter. Rows come near the distribution only as sweeps go by, and **those of a chain are correlated**.
            Refused where zeros in tables keep chains from possible states, or where that cannot be decided.
        burn_in, thin, chains : int, optional
            For Gibbs sampling: sweeps before the first row, 1000 unless said; sweeps from one row of a chain to its
            next, 10; independent chains, 64, of which every one gives a row in turn.

        Returns
        -------
        frame
            One column a variable; discrete ones as categoricals with all their states in order.
        """
        blocks = self.sample_blocks(n, given=given, seed=seed, method=method, burn_in=burn_in, thin=thin, chains=chains)
        return sample_frame(self.schema, n, blocks, backend)

    def sample_blocks(self, n: int, *, given: Mapping[str, Any] | None = None, seed: int | None = None,
                      method: str = "exact", burn_in: int | None = None, thin: int | None = None,
                      chains: int | None = None) -> Iterator[Block]:  # fmt: skip
        """Yield ``n`` drawn rows as blocks of codes, in bounded memory; arguments as in `sample`."""
        require_choice("method", method, METHODS)
        if method == "exact":
            refuse_chain_settings(burn_in=burn_in, thin=thin, chains=chains)
            return sample_blocks(self.schema, self._drawing(given), n, seed)
        evidence = given_of(self.schema, given)
        self._check_known(None, evidence)
        product = self._inquiry.product
        return gibbs_blocks(self.schema, product, evidence, n, seed, burn_in=burn_in, thin=thin, chains=chains)

    def _drawing(self, given: Mapping[str, Any] | None) -> Draw:
        evidence = given_of(self.schema, given)
        self._check_known(None, evidence)
        found = self._inquiry.calibrated(evidence)
        if found.log_z == -math.inf:
            raise self._impossible(evidence)
        return from_calibrated(self.schema, found, evidence)
