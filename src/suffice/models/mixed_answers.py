"""What a Bayesian network answers when some of its variables are continuous, beside what every discrete model does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block, code_dtype
from suffice.data.labelled import LabelledTable
from suffice.errors import ArgumentError, ModelError, Remedy, Text, listing, require_choice, shown
from suffice.inference.conditional_gaussian import Conditioned, MixedNetwork, Seen, each_marginal
from suffice.inference.conditional_gaussian_draws import drawing
from suffice.models.answers import Answers
from suffice.models.assignment import Assignment, assignment_of
from suffice.models.complexity import Complexity
from suffice.models.evidence import describe, seen_of, targets_of
from suffice.models.incomplete_rows import Gaps
from suffice.models.joint_normal import JointNormal
from suffice.models.marginals import Marginals
from suffice.models.mixed_gaps import MixedGaps
from suffice.models.mixed_network import answer_of, mixed_network
from suffice.models.mixed_rows import evidence_rows, mixed_rows
from suffice.models.sampling import Draw
from suffice.models.weighted_sampling import sampled

if TYPE_CHECKING:
    from suffice.models.cpds import CPD
    from suffice.structures.dag import DAG

QUERY_METHODS = ("exact", "sampling")


class MixedAnswers(Answers):
    """The answers of a network of discrete and continuous variables; a network of discrete ones answers as ever."""

    if TYPE_CHECKING:
        dag: DAG
        cpds: tuple[CPD, ...]

    @cached_property
    def _continuous(self) -> tuple[str, ...]:
        """The continuous variables."""
        return tuple(variable.name for variable in self.schema.variables if not variable.is_discrete)

    @cached_property
    def _mixed(self) -> MixedNetwork:
        return mixed_network(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_mixed"}

    # One answer -----------------------------------------------------------------------------------------------

    def query(
        self,
        targets: Any,
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        method: str = "exact",
        draws: int | None = None,
        seed: int | None = None,
    ) -> Any:
        """Return p(targets | given), exactly unless sampling is asked for.

        Parameters
        ----------
        targets : str or sequence of str
            The variables asked for. Several give their joint distribution, wherever in the graph they are.
        given : mapping, optional
            What was seen, by variable. Of a discrete variable: a state; a list of states, of which it is one; or a
            mapping from states to likelihoods, soft evidence, p(what was seen | state) up to a common factor; states
            left out have none. Of a continuous variable: a number.
        interval : float, optional
            Not here: a model's numbers are certain. Ask a Bayesian fit, ``fit.query(…, interval=0.95)``.
        method : {"exact", "sampling"}
            With ``"sampling"``, the answer is estimated from weighted draws, for any network.
        draws, seed : int, optional
            For sampling: how many rows to draw, 100,000 unless said, and from which seed.

        Returns
        -------
        LabelledTable, JointNormal, NormalMixture or SampledAnswer
            Of discrete targets a table, one axis a target, in the order asked for. Of continuous ones a normal
            distribution where no discrete variable is uncertain, otherwise a mixture of normal distributions, whose
            components are named by the states of discrete variables; of both together likewise a mixture.

        Raises
        ------
        ModelError
            When the evidence is impossible; when the answer has no closed form, because a discrete node has continuous
            parents that were not observed; or when it would not fit the memory that `suffice.config` allows.

        Examples
        --------
        >>> import suffice as sf
        >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
        >>> fit = sf.fit(sf.DAG("dose -> effect"), data)
        >>> fit.model.query("dose", given={"effect": 4.0}).mean.round(4).tolist()
        [1.5]
        """
        require_choice("method", method, QUERY_METHODS)
        if method == "exact" and (draws is not None or seed is not None):
            raise ArgumentError(
                "The 'draws' and 'seed' arguments are for sampling; exact answers have no use for them. Leave them "
                "out, or pass ",
                Remedy("method", "sampling"),
                ".",
            )
        if interval is not None or (method == "exact" and not self._continuous):
            return super().query(targets, given, interval=interval)
        wanted = targets_of(self.schema, targets)
        seen = seen_of(self.schema, given, wanted)
        if method == "sampling":
            return sampled(self, wanted, seen, draws, seed)
        variables = self.schema.variables
        discrete = [place for place in wanted if variables[place].is_discrete]
        continuous = [place for place in wanted if not variables[place].is_discrete]
        held = Conditioned(self._mixed, seen, wanted, separated=False)
        if not continuous:
            values, log_p = held.posterior(discrete)
            self._require_seen(log_p[0], seen)
            return LabelledTable(tuple(variables[place] for place in discrete), values[0])
        mixture, log_p = held.mixture(discrete, continuous)
        self._require_seen(log_p[0], seen)
        return answer_of(self, mixture, len(discrete), continuous)

    def marginal(self, scope: Any) -> Any:
        """Return p(scope), as `query` does without evidence."""
        return self.query(scope)

    def query_rows(self, targets: Any, data: Any, *, unknown_states: str = "error") -> Any:
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
        >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
        >>> fit = sf.fit(sf.DAG("dose -> effect"), data)
        >>> fit.model.query_rows("dose", {"effect": [4.0, None]}).mean.round(4).tolist()
        [[1.5], [1.5]]
        """
        if not self._continuous:
            return super().query_rows(targets, data, unknown_states=unknown_states)
        wanted = targets_of(self.schema, targets)
        return mixed_rows(self._mixed, self.schema, wanted, *evidence_rows(self.schema, wanted, data, unknown_states))

    # The whole ------------------------------------------------------------------------------------------------

    def marginals(self, given: Mapping[str, Any] | None = None) -> Marginals:
        """Return p(v | given) of every variable that is not given: tables, normal distributions and mixtures."""
        if not self._continuous:
            return super().marginals(given)
        seen = seen_of(self.schema, given)
        found = each_marginal(self._mixed, seen)
        if found is None:
            raise self._not_seen(seen)
        tables, mixtures = found
        answers = Marginals()
        for place, variable in enumerate(self.schema.variables):
            if place in tables:
                answers[variable.name] = LabelledTable((variable,), tables[place])
            elif place in mixtures:
                answers[variable.name] = answer_of(self, mixtures[place], 0, [place])
        return answers

    def map(self, given: Mapping[str, Any] | None = None, *, targets: Any = None) -> Assignment:
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
        >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
        >>> round(sf.fit(sf.DAG("dose -> effect"), data).model.map({"effect": 4.0})["dose"], 4)
        1.5
        """
        if not self._continuous:
            return super().map(given, targets=targets)
        wanted = None if targets is None else targets_of(self.schema, targets)
        seen = seen_of(self.schema, given, wanted or ())
        found = Conditioned(self._mixed, seen, range(len(self.schema)) if wanted is None else wanted).most_likely()
        if found is None:
            raise self._not_seen(seen)
        codes, values, log_prob, ties = found
        log_evidence = float(Conditioned(self._mixed, seen, ()).log_evidence()[0])
        return assignment_of(self.schema, wanted, codes | values, log_prob, log_prob - log_evidence, ties)

    @property
    def log_z(self) -> float:
        """The logarithm of the sum of all products of tables; zero for a Bayesian network."""
        return 0.0 if self._continuous else super().log_z

    def log_evidence(self, given: Mapping[str, Any] | None = None) -> float:
        """Return log p(given), −inf when it is impossible; soft evidence enters with its likelihoods.

        Where values of continuous variables are given, it is the logarithm of a density.
        """
        if not self._continuous:
            return super().log_evidence(given)
        return float(Conditioned(self._mixed, seen_of(self.schema, given), ()).log_evidence()[0])

    def entropy(self, given: Mapping[str, Any] | None = None) -> float:
        """Return the entropy of all variables that are not given, in nats; of continuous ones the differential one."""
        if not self._continuous:
            return super().entropy(given)
        self._require_gaussian("The entropy", "estimate it: -model.log_prob(model.sample(100_000)).mean()")
        return self.to_joint_normal().entropy(given)

    def kl(self, other: Any) -> float:
        """Return Σ p log p/q in nats, p being this model and q the other, over the same variables and states.

        It is exact, and refused where the graphs of both together have cliques that are too large. Between networks of
        continuous variables alone, it is that of their joint normal distributions.
        """
        if not self._continuous and not getattr(other, "_continuous", ()):
            return super().kl(other)
        if not isinstance(other, MixedAnswers | JointNormal):
            raise ArgumentError(f"The divergence is from another network. Got {shown(other)} instead.")
        for model in (self, other):
            if isinstance(model, MixedAnswers):
                remedy = "estimate it from rows = model.sample(100_000): (model.log_prob(rows) - other.log_prob(rows))"
                model._require_gaussian("The divergence", f"{remedy}.mean()")
        return self.to_joint_normal().kl(other if isinstance(other, JointNormal) else other.to_joint_normal())

    def complexity(self, given: Mapping[str, Any] | None = None) -> Complexity:
        """Return how large exact inference is: width, cliques, cells and memory; nothing is allocated."""
        self._require_discrete(
            "The size of a junction tree", "ask the query itself, which states its size if too large"
        )
        return super().complexity(given)

    def to_joint_normal(self) -> JointNormal:
        """Return the joint normal distribution of a network of continuous variables alone.

        Examples
        --------
        >>> import suffice as sf
        >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
        >>> joint = sf.fit(sf.DAG("dose -> effect"), data).model.to_joint_normal()
        >>> joint.mean.round(6).tolist(), joint.covariance.round(6).tolist()
        ([1.5, 4.0], [[1.25, 2.375], [2.375, 4.625]])
        """
        self._require_gaussian("One normal distribution", "query answers with a mixture of them")
        places = range(len(self.schema))
        mixture, _ = Conditioned(self._mixed, Seen(), places).mixture((), places)
        return JointNormal(tuple(self.schema), mixture.mean[0, 0], covariance=mixture.covariance[0])

    # Draws ----------------------------------------------------------------------------------------------------

    def sample_blocks(self, n: int, *, given: Mapping[str, Any] | None = None, seed: int | None = None,
                      method: str = "exact", burn_in: int | None = None, thin: int | None = None,
                      chains: int | None = None) -> Iterator[Block]:  # fmt: skip
        """Yield ``n`` drawn rows as blocks of codes and values, in bounded memory; arguments as in `sample`."""
        if method == "gibbs":
            self._require_discrete("Gibbs sampling", Text("pass ", Remedy("method", "exact")))
        return super().sample_blocks(
            n, given=given, seed=seed, method=method, burn_in=burn_in, thin=thin, chains=chains
        )

    def _drawing(self, given: Mapping[str, Any] | None) -> Draw:
        """Draw what leads to the evidence from what it leaves possible, and all else parents first."""
        if not self._continuous:
            return super()._drawing(given)
        seen = seen_of(self.schema, given)
        inside = drawing(self._mixed, seen)
        if inside is None:
            raise self._not_seen(seen)
        place, variables = self.schema.positions, self.schema.variables
        by_name = {cpd.family.child.name: cpd for cpd in self.cpds}

        def draw(uniform: Callable[[], NDArray[np.float64]]) -> dict[str, NDArray[Any]]:
            size = len(uniform())
            codes, values = inside(uniform)
            drawn: dict[int, NDArray[Any]] = {v: np.full(size, value[0]) for v, value in seen.values.items()}
            drawn |= {v: np.full(size, code) for v, code in seen.hard.items()} | codes | values
            columns: dict[str, NDArray[Any]] = {}
            for node in self.dag.order:
                if place[node] not in drawn:
                    columns[node] = by_name[node].sample(columns, uniform())
                    continue
                held = drawn[place[node]]
                variable = variables[place[node]]
                columns[node] = held.astype(code_dtype(variable.n_states)) if variable.is_discrete else held
            return columns

        return draw

    # Gaps -----------------------------------------------------------------------------------------------------

    @property
    def _latent(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.dag.latent)

    def _gap_solver(self) -> Gaps:
        return MixedGaps(self._mixed, tuple(self.schema), self.cpds) if self._continuous else super()._gap_solver()

    def _not_filled(self, codes: NDArray[np.int64], values: NDArray[np.float64]) -> ModelError:
        if not self._continuous:
            return super()._not_filled(codes, values)
        hard = {variable: int(code) for variable, code in enumerate(codes) if code >= 0}
        known = {variable: values[[variable]] for variable in np.flatnonzero(~np.isnan(values)).tolist()}
        return self._not_seen(Seen(hard, {}, known))

    # Refusals -------------------------------------------------------------------------------------------------

    def _require_discrete(self, what: str, remedy: str) -> None:
        """Raise where continuous variables stand against something that is for discrete ones."""
        if self._continuous:
            raise ModelError(
                f"{what} is for discrete variables, and the network has continuous ones, "
                f"{listing(self._continuous, 12)}. Instead, {remedy}."
            )

    def _require_gaussian(self, what: str, remedy: str) -> None:
        """Raise unless all variables are continuous."""
        discrete = [name for name in self.schema if name not in self._continuous]
        if discrete:
            raise ModelError(
                f"{what} of a network of discrete and continuous variables has no closed form; "
                f"{listing(discrete, 12)} are discrete. Instead, {remedy}."
            )

    def _require_seen(self, log_p: float, seen: Seen) -> None:
        if log_p == -math.inf:
            raise self._not_seen(seen)

    def _not_seen(self, seen: Seen) -> ModelError:
        """Return the error for impossible evidence, which names the piece that goes too far."""
        held = Conditioned(self._mixed, seen, ())
        pieces = describe(self.schema, seen)
        told = ", ".join(pieces[:12]) or "everything"
        if any(np.isneginf(solved.log_density).all() for solved in held.solved if solved.part.seen):
            return ModelError(
                f"The evidence is so far from what the model expects that the density of {told} is zero as a float. "
                "Check the values and their units."
            )
        hard = list(seen.hard.items())
        for n in range(1, len(hard) + 1):
            part = Conditioned(self._mixed, Seen(dict(hard[:n]), {}, seen.values), ())
            if part.log_evidence()[0] == -math.inf:
                before = f" together with {', '.join(pieces[: n - 1])}" if n > 1 else " by itself"
                return ModelError(
                    f"The evidence is impossible: the model gives {pieces[n - 1]}{before} the probability zero. "
                    "Correct it, or fit with a prior, so that what was not seen stays possible."
                )
        return ModelError(f"The evidence is impossible: the model gives {told} the probability zero. Correct it.")
