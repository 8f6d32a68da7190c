"""What naive Bayes consists of beside the class: one family an input, and one for all columns of counts together.

A column of counts adds up how often its own draw came: the sums of all of them by class are the counts of one discrete
variable, the column that a draw falls into. So their distribution is a table like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.schema import Schema
from suffice.models.cpds import AnyKind, NodeFamily
from suffice.models.cpds.linear_gaussian_kind import LinearGaussianKind
from suffice.models.cpds.tabular_kind import TabularKind
from suffice.models.naive import count_family
from suffice.stats.counts import Counts
from suffice.stats.needs import Moment, Need
from suffice.stats.statistics import Statistics
from suffice.structures.naive import CONTINUOUS, Naive


@dataclass(frozen=True)
class NaivePart:
    """One family, how it is fitted and proven, and what it is fitted from.

    Attributes
    ----------
    kind : AnyKind
    family : NodeFamily
    needs : tuple of Need
        One, or one a column of counts.
    """

    kind: AnyKind
    family: NodeFamily
    needs: tuple[Need, ...]

    def statistic(self, statistics: Statistics) -> Any:
        """Return the family's statistic: counts of a table, or moments of a normal column."""
        if self.needs == (self.kind.need(self.family),):
            return statistics[self.needs[0]]
        sums = [_sums(statistics[need]) for need in self.needs]
        return Counts.dense((self.family.parents[0], self.family.child), np.stack(sums, axis=1))


def _sums(moments: Any) -> Any:
    """Return the sum of a column in every class; whole numbers stay whole."""
    mean = moments.mean[:, 0].astype(np.longdouble) + moments.rest[:, 0]
    return (moments.weight * mean).astype(np.float64)


def parts_of(structure: Naive, schema: Schema) -> dict[str, NaivePart]:
    """Return the families by name: the inputs in order, and that of all counts last."""
    target, found = schema[structure.target], {}
    divisor = "n" if structure.divisor == "n" else "n-p"  # a normal column has one coefficient, its mean
    for name, kind in structure.kinds_in(schema).items():
        if kind == "multinomial":
            continue
        family = NodeFamily(schema[name], (target,))
        node: AnyKind = TabularKind()
        if kind in CONTINUOUS:
            node = LinearGaussianKind(divisor=divisor, tied="none" if kind == "gaussian" else "variance")
        found[name] = NaivePart(node, family, (node.need(family),))
    if structure.multinomial:
        needs = tuple(Moment((name,), (target.name,)) for name in structure.multinomial)
        found[structure.column_name] = NaivePart(TabularKind(), count_family(structure, schema), needs)
    return found


def prior_for(prior: Any, kind: AnyKind) -> Any:
    """Return what a prior, or one of several, says of a kind of family; None where it says nothing."""
    parts = () if prior is None else prior.parts
    return next((one for one in parts if kind.name in one.kinds), None)


Part = NaivePart
"""The name in pickles of 0.1.0."""
