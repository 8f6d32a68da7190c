"""What every discrete model answers: distributions given evidence, the most likely states, marginals, log Z, draws.

A model says what its tables are; how they are summed is the business of `suffice.inference`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.labelled import LabelledTable
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.errors import ArgumentError, ModelError, listing, require_choice, shown
from suffice.inference.inquiry import Given, Inquiry
from suffice.inference.product import Product
from suffice.models.assignment import Assignment, assignment_of
from suffice.models.complexity import Complexity
from suffice.models.evidence import describe, given_of, targets_of
from suffice.models.incomplete_rows import DiscreteGaps, Gaps
from suffice.models.marginals import Marginals
from suffice.models.row_answers import RowAnswers
from suffice.models.row_model import RowModel
from suffice.models.sampling import (
    METHODS,
    Draw,
    from_calibrated,
    gibbs_blocks,
    refuse_chain_settings,
    sample_blocks,
    sample_frame,
)
from suffice.stats.source import BlockSource


class Answers(RowModel, ABC):
    """What a discrete model answers; a model provides ``schema``, ``variables`` and `_product`."""

    @abstractmethod
    def _product(self) -> Product:
        """Return the tables of the model."""

    def _check_known(self, wanted: tuple[int, ...] | None, given: Given) -> None:
        """Raise where an unknown number would enter the answer about ``wanted``, None meaning all variables."""

    @cached_property
    def _inquiry(self) -> Inquiry:
        return Inquiry(self._product())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_inquiry", "_gaps")}

    # One table ------------------------------------------------------------------------------------------------

    def query(self, targets: Any, given: Mapping[str, Any] | None = None, *, interval: float | None = None) -> Any:
        """Return p(targets | given), exactly.

        Parameters
        ----------
        targets : str or sequence of str
            The variables asked for. Several give their joint distribution, wherever in the graph they are.
        given : mapping, optional
            What was seen, by variable: a state; a list of states, of which it is one; or a mapping from states to
            likelihoods, soft evidence, p(what was seen | state) up to a common factor; states left out have none.
        interval : float, optional
            Not here: a model's numbers are certain. Ask a Bayesian fit, ``fit.query(…, interval=0.95)``.

        Returns
        -------
        LabelledTable
            One axis a target, in the order asked for.

        Raises
        ------
        ModelError
            When the evidence is impossible, or the tables would not fit the memory that `suffice.config` allows.

        Examples
        --------
        >>> import suffice as sf
        >>> yes_no = ["yes", "no"]
        >>> model = sf.BayesianNetwork(
        ...     sf.DAG("rain -> wet <- sprinkler"),
        ...     {
        ...         "rain": [0.2, 0.8],
        ...         "sprinkler": [0.1, 0.9],
        ...         "wet": [[[0.99, 0.01], [0.9, 0.1]], [[0.8, 0.2], [0.0, 1.0]]],
        ...     },
        ...     schema={"rain": yes_no, "sprinkler": yes_no, "wet": yes_no},
        ... )
        >>> print(model.query("rain", given={"wet": "yes"}))
        rain       p
        ----  ------
        yes   0.7396
        no    0.2604
        >>> print(model.query(["rain", "sprinkler"], given={"wet": {"yes": 0.9, "no": 0.2}}))
              sprinkler
        rain     yes      no
        ----  ------  ------
        yes   0.0480  0.4015
        no    0.1634  0.3870
        """
        if interval is not None:
            raise ArgumentError(
                "A model's numbers are certain, so an answer has no interval. Fit with a prior, and ask the fit: "
                "fit.query(…, interval=0.95)."
            )
        wanted = targets_of(self.schema, targets)
        evidence = given_of(self.schema, given, wanted)
        self._check_known(wanted, evidence)
        values = self._inquiry.posterior(wanted, evidence)
        if not values.any():
            raise self._impossible(evidence)
        return LabelledTable(tuple(self.schema.variables[target] for target in wanted), values)

    def marginal(self, scope: Any) -> LabelledTable:
        """Return p(scope), one axis a variable."""
        table: LabelledTable = self.query(scope)
        return table

    def query_rows(self, targets: Any, data: Any, *, unknown_states: str = "error") -> RowAnswers:
        """Return p(targets | row) for every row of a table of evidence.

        Parameters
        ----------
        targets : str or sequence of str
        data : table
            Its columns are what was seen; columns that are no variables of the model are an error, missing values were
            not seen. Columns of the targets are ignored.
        unknown_states : {"error", "missing"}
            What to do with values that are no states of the model.

        Returns
        -------
        RowAnswers
            The answers as an array or a frame, with log p(row). Rows that are impossible have NaN.

        Examples
        --------
        >>> import suffice as sf
        >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]})
        >>> print(fit.model.query_rows("A", {"B": ["u", None]}))
        row       x       y
        ---  ------  ------
        1         1       0
        2    0.5000  0.5000
        """
        wanted = targets_of(self.schema, targets)
        codes = self._codes(wanted, data, unknown_states)
        self._require_possible()
        seen = codes.max(axis=0, initial=-1)
        same = {int(v): int(seen[v]) for v in np.flatnonzero((codes == seen).all(axis=0) & (seen >= 0))}
        others = tuple(int(v) for v in np.flatnonzero(seen >= 0) if int(v) not in same)
        self._check_known((*wanted, *others), Given(same))
        values, log_p = self._inquiry.rows(wanted, codes)
        values[log_p == -math.inf] = np.nan
        return RowAnswers(
            tuple(self.schema.variables[target] for target in wanted), values, log_p - self._inquiry.log_z
        )

    def _codes(self, wanted: tuple[int, ...], data: Any, unknown_states: str) -> NDArray[np.int64]:
        """Return the codes of every row and variable, −1 where nothing was seen; shape (n_rows, n_variables)."""
        from suffice.data.readers import open_raw

        asked = {self.schema.variables[target].name for target in wanted}
        columns = open_raw(data).names
        unknown = [name for name in columns if name not in self.schema]
        if unknown:
            raise ArgumentError(
                f"The columns {listing(unknown)} are no variables of the model, which has {listing(self.schema, 12)}. "
                "Remove or rename them."
            )
        names = [name for name in columns if name not in asked]
        if not names:
            raise ArgumentError("The table has no column of evidence. Ask query for the answer without evidence.")
        table = open_table(data, names, schema=self.schema.select(names), missing=KEEP, unknown_states=unknown_states)
        place = self.schema.positions
        parts = []
        for block in BlockSource(table).each(lambda block: block):
            codes = np.full((block.n_rows, len(self.schema)), -1, np.int64)
            for name in names:
                codes[:, place[name]] = block.columns[name]
            parts.append(codes)
        return np.concatenate(parts)

    # Gaps -----------------------------------------------------------------------------------------------------

    def _gap_solver(self) -> Gaps:
        self._require_possible()
        return DiscreteGaps.of(self._inquiry)

    def _not_filled(self, codes: NDArray[np.int64], values: NDArray[np.float64]) -> ModelError:
        evidence = Given({variable: int(code) for variable, code in enumerate(codes) if code >= 0})
        try:
            self._check_known(None, evidence)
        except ModelError as error:
            return error
        return self._impossible(evidence)

    def _require_possible(self) -> None:
        """Raise when the tables leave nothing possible, so that there is no distribution."""
        if self._inquiry.log_z == -math.inf:
            raise self._impossible(Given())

    def _impossible(self, evidence: Given) -> ModelError:
        """Return the error, which names the piece of evidence that goes too far."""
        seen = describe(self.schema, evidence)
        if not seen:
            return ModelError("The model gives probability zero to everything: its tables leave no configuration.")
        pieces = list(evidence.hard.items())
        if self._inquiry.log_evidence(Given(dict(pieces))) > -math.inf:
            return ModelError(
                f"The evidence is impossible: the model gives {_together(seen)} the probability zero. Correct it."
            )
        possible, impossible = 0, len(pieces)  # how many of the first pieces are
        while impossible - possible > 1:
            middle = (possible + impossible) // 2
            if self._inquiry.log_evidence(Given(dict(pieces[:middle]))) == -math.inf:
                impossible = middle
            else:
                possible = middle
        before = f" together with {_together(seen[:possible])}" if possible else " by itself"
        return ModelError(
            f"The evidence is impossible: the model gives {seen[possible]}{before} the probability zero. Correct it, "
            "or fit with a prior, so that what was not seen stays possible."
        )

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

    def map(self, given: Mapping[str, Any] | None = None, *, targets: Any = None) -> Assignment:
        """Return the most likely states of all variables that are not given, or of some targets, exactly.

        Parameters
        ----------
        given : mapping, optional
            Evidence, as in `query`.
        targets : str or sequence of str, optional
            The variables asked for, all others being summed out: marginal MAP. Without it, the states are the most
            likely ones of all variables together: joint MAP. The two may differ.

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
        wanted = None if targets is None else targets_of(self.schema, targets)
        evidence = given_of(self.schema, given, wanted or ())
        self._check_known(wanted, evidence)
        found = self._inquiry.most_likely(evidence, wanted)
        if found is None:
            raise self._impossible(evidence)
        chosen, log_product, ties = found
        log_evidence, log_z = self._inquiry.log_evidence(evidence), self._inquiry.log_z
        log_prob, codes = log_product - log_z, {**evidence.hard, **chosen}
        variables = self.schema.variables
        if len(codes) == len(variables):
            row = {variables[v].name: np.array([code]) for v, code in codes.items()}
            log_prob = float(self.log_prob_of(row, 1)[0])
            log_prob += sum(math.log(weights[codes[v]]) for v, weights in evidence.soft.items())
        return assignment_of(self.schema, wanted, chosen, log_prob, log_prob - log_evidence + log_z, ties)

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


def _together(pieces: list[str]) -> str:
    more = f" and {len(pieces) - 12} more" if len(pieces) > 12 else ""
    return ", ".join(pieces[:12]) + more
