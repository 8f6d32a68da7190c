"""Queries: what a model of whole rows answers, through its engine.

The engine is `DiscreteEngine` for products of tables, and `MixedEngine` for networks with continuous variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic, TypeAlias

from suffice.data.block import Block
from suffice.data.labelled import LabelledTable
from suffice.errors import ArgumentError, Remedy, Text, require_choice, shown
from suffice.models.assignment import Assignment
from suffice.models.complexity import Complexity
from suffice.models.discrete_engine import DiscreteEngine
from suffice.models.engine import A_co, Answer, AnswersOfRows, QueryEngine, R_co
from suffice.models.evidence import targets_of
from suffice.models.marginals import Marginals
from suffice.models.sampling import METHODS, Draw, gibbs_blocks, refuse_chain_settings, sample_blocks, sample_frame
from suffice.types import Columns, Floats, Frame, TableLike
from suffice.values import UnknownStates

if TYPE_CHECKING:
    from suffice.data.schema import Schema
    from suffice.models.evidence import Evidence, Targets


class Queries(Generic[A_co, R_co]):
    """What a model of whole rows answers; a model provides ``schema``, ``log_prob_of`` and its engine."""

    if TYPE_CHECKING:

        @property
        def schema(self) -> Schema:
            """The variables with their states."""

        @property
        def _engine(self) -> QueryEngine[A_co, R_co]:
            """What answers; made once."""

        def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
            """Return log p(x) of every row of codes and values; shape (n_rows,)."""

    @property
    def _tables(self) -> DiscreteEngine:
        """The engine of the model's tables; an error where it has continuous variables."""
        return self._engine.require_discrete(
            "A product of tables", "ask the network itself: query, marginals, map, sample"
        )

    def _forward(self) -> Draw | None:
        """Return how rows are drawn without evidence, where there is a shorter way than from the engine."""
        return None

    # One answer -----------------------------------------------------------------------------------------------

    def query(self, targets: Targets, given: Evidence | None = None, *, interval: float | None = None) -> A_co:
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
        return self._engine.query(targets_of(self.schema, targets), given)

    def marginal(self, scope: Targets) -> A_co:
        """Return p(scope), one axis a variable, as `query` does without evidence."""
        return self.query(scope)

    def _table(self, targets: Targets) -> LabelledTable:
        """Return p(targets) of discrete variables."""
        found = self.query(targets)
        assert isinstance(found, LabelledTable)
        return found

    def query_rows(self, targets: Targets, data: TableLike, *, unknown_states: UnknownStates = "error") -> R_co:
        """Return p(targets | row) for every row of a table of evidence.

        Parameters
        ----------
        targets : str or sequence of str
            Discrete variables, or continuous ones.
        data : table
            Its columns are what was seen; columns that are no variables of the model are an error, missing values were
            not seen. Columns of the targets are ignored.
        unknown_states : {"error", "missing"}
            What to do with values that are no states of the model.

        Returns
        -------
        RowAnswers or RowMoments
            The answers as an array or a frame, with log p(row): probabilities of discrete targets, means and
            covariances of continuous ones. Rows that are impossible have NaN.

        Examples
        --------
        >>> import suffice as sf
        >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]})
        >>> print(fit.model.query_rows("A", {"B": ["u", None]}))
        row       x       y
        ---  ------  ------
        1         1       0
        2    0.5000  0.5000

        >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
        >>> fit = sf.fit(sf.DAG("dose -> effect"), data)
        >>> fit.model.query_rows("dose", {"effect": [4.0, None]}).mean.round(4).tolist()
        [[1.5], [1.5]]
        """
        return self._engine.rows(targets_of(self.schema, targets), data, unknown_states)

    # The whole ------------------------------------------------------------------------------------------------

    def marginals(self, given: Evidence | None = None) -> Marginals:
        """Return p(v | given) of every variable that is not given, from one calibration, by name.

        They are tables of discrete variables, and normal distributions and mixtures of continuous ones.
        """
        return self._engine.marginals(given)

    def map(self, given: Evidence | None = None, *, targets: Targets | None = None) -> Assignment:
        """Return the most likely states and values of all variables that are not given, or of some targets, exactly.

        With continuous variables, what is greatest is the density: it weighs states against the widths of the normal
        distributions that they bring, and depends on the units of measurement.

        Parameters
        ----------
        given : mapping, optional
            Evidence, as in `query`.
        targets : str or sequence of str, optional
            The variables asked for, all others being summed or integrated out: marginal MAP. Without it, the states and
            values are the most likely ones of all variables together: joint MAP. The two may differ. The most likely
            value of a mixture of normal distributions has no closed form, and is refused.

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

        >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
        >>> round(sf.fit(sf.DAG("dose -> effect"), data).model.map({"effect": 4.0})["dose"], 4)
        1.5
        """
        wanted = None if targets is None else targets_of(self.schema, targets)
        return self._engine.most_likely(wanted, given, self.log_prob_of)

    @property
    def log_z(self) -> float:
        """The logarithm of the sum of all products of tables; zero for a Bayesian network."""
        return self._engine.log_z

    def log_evidence(self, given: Evidence | None = None) -> float:
        """Return log p(given), −inf when it is impossible; soft evidence enters with its likelihoods.

        Where values of continuous variables are given, it is the logarithm of a density.
        """
        return self._engine.log_evidence(given)

    def entropy(self, given: Evidence | None = None) -> float:
        """Return the entropy of all variables that are not given, −Σ p log p, in nats.

        Of continuous variables it is the differential entropy.
        """
        return self._engine.entropy(given)

    def kl(self, other: AnyQueries) -> float:
        """Return Σ p log p/q in nats, p being this model and q the other, over the same variables and states.

        It is exact, and refused where the graphs of both together have cliques that are too large.
        """
        if not isinstance(other, Queries):
            raise ArgumentError(f"The divergence is from another discrete model. Got {shown(other)} instead.")
        return self._tables.kl(other._engine)

    def complexity(self, given: Evidence | None = None) -> Complexity:
        """Return how large exact inference is: width, cliques, cells and memory; nothing is allocated."""
        remedy = "ask the query itself, which states its size if too large"
        return self._engine.require_discrete("The size of a junction tree", remedy).complexity(given)

    # Draws ----------------------------------------------------------------------------------------------------

    def sample(
        self,
        n: int,
        *,
        given: Evidence | None = None,
        seed: int | None = None,
        backend: str | None = None,
        method: str = "exact",
        burn_in: int | None = None,
        thin: int | None = None,
        chains: int | None = None,
    ) -> Frame:
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

    def sample_blocks(self, n: int, *, given: Evidence | None = None, seed: int | None = None,
                      method: str = "exact", burn_in: int | None = None, thin: int | None = None,
                      chains: int | None = None) -> Iterator[Block]:  # fmt: skip
        """Yield ``n`` drawn rows as blocks of codes and values, in bounded memory; arguments as in `sample`."""
        require_choice("method", method, METHODS)
        if method == "exact":
            refuse_chain_settings(burn_in=burn_in, thin=thin, chains=chains)
            forward = None if given else self._forward()
            return sample_blocks(self.schema, forward or self._engine.drawing(given), n, seed)
        remedy = Text("pass ", Remedy("method", "exact"))
        product, evidence = self._engine.require_discrete("Gibbs sampling", remedy).chained(given)
        return gibbs_blocks(self.schema, product, evidence, n, seed, burn_in=burn_in, thin=thin, chains=chains)


AnyQueries: TypeAlias = "Queries[Answer, AnswersOfRows]"
