"""Inquiry: all questions to one product, each answered in the way that suits it.

The first few questions are answered one by one, by variable elimination over the tables that matter. Where more are
asked, the whole product is calibrated once, if that is not too large, and questions are then put to its marginals.
Both are exact; they differ in rounding only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.inference import elimination
from suffice.inference.asking import Asker
from suffice.inference.budget import require_answer
from suffice.inference.calibration import Calibrated, Calibrator, calibrate
from suffice.inference.log_tables import LogFactor, log_of, maximised
from suffice.inference.maximum import TIED, most_likely
from suffice.inference.plan import Plan
from suffice.inference.product import Factor, Product, relevant
from suffice.types import Floats, Ints

PATIENCE = 2
"""Questions that are answered one by one before the whole is calibrated."""
MAX_KEPT = 2**22
"""Cells of a calibrated tree that is kept."""
MAX_PLANS = 32


@dataclass(frozen=True)
class Given:
    """Evidence: the codes of what was seen, and the likelihoods of the states of what was seen dimly."""

    hard: Mapping[int, int] = field(default_factory=dict)
    soft: Mapping[int, Floats] = field(default_factory=dict)

    def factors(self) -> list[Factor]:
        """Return the soft evidence as factors."""
        return [Factor((variable,), weights) for variable, weights in self.soft.items()]

    def codes(self, n: int) -> Ints:
        """Return the codes of all variables, −1 where nothing was seen; shape (n,)."""
        codes = np.full(n, -1, np.int64)
        for variable, code in self.hard.items():
            codes[variable] = code
        return codes


class Inquiry:
    """All questions to one product."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self._asked = 0
        self._plans: dict[frozenset[int], Plan] = {}

    # One table ------------------------------------------------------------------------------------------------

    def posterior(self, targets: tuple[int, ...], given: Given) -> Floats:
        """Return p(x_targets | evidence), all zeros when the evidence is impossible."""
        answered = self._from_tree(targets, given)
        if answered is not None:
            return answered[0]
        return elimination.posterior(self.product.with_factors(given.factors()), targets, given.hard)

    def log_evidence(self, given: Given) -> float:
        """Return log Σ Π φ over the configurations that agree with the evidence, soft evidence as another factor."""
        product = self.product.with_factors(given.factors())
        return elimination.joint(product, (), given.hard)[1]

    @cached_property
    def log_z(self) -> float:
        """The logarithm of Σ Π φ; zero for a Bayesian network, whose tables sum to one."""
        return 0.0 if self.product.parents is not None else self.log_evidence(Given())

    def _from_tree(self, targets: tuple[int, ...], given: Given) -> tuple[Floats, float] | None:
        self._asked += 1
        if self._asked <= PATIENCE:
            return None
        asker = self.asker
        return None if asker is None else asker.ask(targets, given.hard, given.soft)

    @cached_property
    def asker(self) -> Asker | None:
        """The calibrated tree without evidence, unless it is too large to be kept."""
        plan = self.plan(frozenset())
        if plan.cells > MAX_KEPT:
            return None
        calibrated = calibrate(plan, plan.packed(self.product.factors))
        return None if calibrated.log_z == -math.inf else Asker(calibrated)

    def rows(self, targets: tuple[int, ...], codes: Ints) -> tuple[Floats, Floats]:
        """Return p(x_targets | row), all zeros where a row is impossible, and log p(row), for rows of codes."""
        require_answer(self.product, targets, len(codes))
        distinct, back = np.unique(codes, axis=0, return_inverse=True)
        back = back.reshape(-1)
        asker = self.asker
        if asker is not None and asker.covers(targets):
            answers, log_p, sure = asker.ask_rows(targets, np.ascontiguousarray(distinct))
            log_p += self.log_z
        else:
            shape = [self.product.sizes[variable] for variable in targets]
            answers, log_p = np.empty((len(distinct), *shape)), np.empty(len(distinct))
            sure = np.zeros(len(distinct), np.bool_)
        for row in np.flatnonzero(~sure):
            hard = {variable: int(code) for variable, code in enumerate(distinct[row]) if code >= 0}
            answers[row], log_p[row] = elimination.joint(self.product, targets, hard)
        return answers[back], log_p[back]

    # The whole ------------------------------------------------------------------------------------------------

    def plan(self, observed: frozenset[int]) -> Plan:
        """Return a plan for evidence on some variables, made once."""
        if observed not in self._plans:
            if len(self._plans) >= MAX_PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[observed] = Plan.of(self.product, observed)
        return self._plans[observed]

    def calibrated(self, given: Given, extra: Sequence[Sequence[int]] = ()) -> Calibrated:
        """Return all marginals given evidence; some clique covers each of the ``extra`` scopes."""
        observed = frozenset(given.hard)
        product = self.product.with_factors(given.factors())
        plan = Plan.of(product, observed, extra) if given.soft or extra else self.plan(observed)
        return calibrate(plan, plan.packed(product.factors), given.codes(len(product.sizes)))

    def most_likely(
        self, given: Given, targets: Sequence[int] | None = None
    ) -> tuple[dict[int, int], float, dict[int, tuple[int, ...]]] | None:
        """Return the most likely codes of what was not seen, log Π φ with soft evidence, and the ties.

        With targets, the codes are theirs, and all other variables are summed out.
        """
        product = self.product.with_factors(given.factors())
        if targets is not None and len(targets) + len(given.hard) < len(product.sizes):
            held = relevant(product, [*targets, *given.hard])
            logs = [LogFactor(factor.scope, log_of(factor.values)) for factor in (f.given(given.hard) for f in held)]
            found = maximised(product.names, product.sizes, logs, targets)
            best = float(found.rest.values)
            return None if best == -math.inf else (found.greatest(), best, found.ties(TIED))
        plan = Plan.of(product, given.hard) if given.soft else self.plan(frozenset(given.hard))
        return most_likely(product, plan, given.codes(len(product.sizes)))

    def entropy(self, given: Given) -> float:
        """Return the entropy of what was not seen, in nats."""
        return self.calibrated(given).entropy

    def marginals(self, given: Given) -> dict[int, Floats]:
        """Return p(x_v | evidence) of every variable that was not seen, all zeros when the evidence is impossible."""
        return self.calibrated(given).singles()

    def many(self, targets: tuple[int, ...], given: Given, products: Iterable[Product]) -> NDArray[np.float64]:
        """Return the same answer for other tables over the same scopes; shape (n, …targets)."""
        answers = []
        for found in self._repeated(given, products, [targets]):
            answer = found.marginal(targets)
            assert answer is not None
            answers.append(answer.copy())
        return np.stack(answers)

    def many_marginals(self, given: Given, products: Iterable[Product]) -> dict[int, NDArray[np.float64]]:
        """Return all marginals for other tables over the same scopes, by variable; shapes (n, n_states)."""
        answers: dict[int, list[Floats]] = {}
        for found in self._repeated(given, products):
            for variable, values in found.singles().items():
                answers.setdefault(variable, []).append(values)
        return {variable: np.stack(values) for variable, values in answers.items()}

    def _repeated(
        self, given: Given, products: Iterable[Product], extra: Sequence[Sequence[int]] = ()
    ) -> Iterator[Calibrated]:
        """Calibrate other tables over the same scopes, one after another, in the same memory."""
        first = self.product.with_factors(given.factors())
        plan = Plan.of(first, given.hard, extra)
        calibrator = Calibrator(plan)
        codes = given.codes(len(first.sizes))
        for product in products:
            whole = product.with_factors(given.factors())
            yield calibrator.run(plan.packed(whole.factors), codes)
