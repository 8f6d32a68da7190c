"""Waiting times: p(x) = rate · exp(−rate · x), with the structure, the model, the method and the certifier."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.judgement import judged
from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.learn.method import Method, Problem, Solution
from suffice.result.fit import Fit
from suffice.stats.needs import Moment
from suffice.structures.structure import Structure


@dataclass(frozen=True)
class WaitingTime(Structure["Fit[Exponential]"]):
    """One variable with an exponential distribution."""

    variable: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.variable,)

    @property
    def continuous(self) -> frozenset[str]:
        return frozenset(self.columns)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "WaitingTime", "variable": self.variable}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> WaitingTime:
        return cls(entry["variable"])


@dataclass(frozen=True)
class Exponential:
    """The distribution with its rate."""

    structure: WaitingTime
    rate: float

    @property
    def variables(self) -> tuple[str, ...]:
        return self.structure.columns

    @property
    def schema(self) -> Schema:
        return Schema((Variable(self.structure.variable),))

    def log_prob_of(self, columns: Mapping[str, NDArray[Any]], n_rows: int) -> NDArray[np.float64]:
        return math.log(self.rate) - self.rate * np.asarray(columns[self.structure.variable], np.float64)

    def log_prob(self, data: object) -> NDArray[np.float64]:
        table = open_table(data, self.variables, schema=self.schema)
        return np.concatenate([self.log_prob_of(block.columns, block.n_rows) for block in table.blocks()])

    def to_dict(self) -> dict[str, Any]:
        return {"type": "Exponential", "structure": self.structure.to_dict(), "rate": self.rate}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Exponential:
        return cls(WaitingTime.from_dict(entry["structure"]), entry["rate"])


def solve(problem: Problem) -> Solution:
    """Return one divided by the mean."""
    moments = problem.statistics[Moment(problem.structure.columns)]
    rate = 1 / float(moments.mean[0])
    log_likelihood = float(moments.weight) * (math.log(rate) - 1)
    model = Exponential(problem.structure, rate)
    return Solution(
        model, log_likelihood, n_free=1, n_free_adjusted=1, local={problem.structure.variable: log_likelihood}
    )


def certify(claim: Claim) -> Certificate:
    """Measure the derivative by the rate, Σ (1 / rate − x), a row."""
    moments = claim.statistics[Moment(claim.structure.columns)]
    mean, n = float(moments.mean[0]), float(moments.weight)
    rate = claim.model.rate
    return judged(
        claim,
        Measured(
            claim="maximum likelihood",
            residual=abs(1 / rate - mean),
            worst="the rate",
            log_likelihood=n * (math.log(rate) - rate * mean),
            normalisation=0.0,
        ),
    )


METHOD = Method(
    refuses=lambda structure, schema: None,
    needs=lambda structure, schema: (Moment(structure.columns),),
    solve=solve,
    points=("mle",),
)
