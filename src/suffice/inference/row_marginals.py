"""The distribution of one variable given each row of a table, in a product of tables, exactly.

Of a row only what matters to the variable is kept, so that few different rows are left. Where they lack the same
values they are solved together, in NumPy; where too many different sets of values are missing for that, each is put to
the calibrated tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.inference import elimination
from suffice.inference.asking import Asker
from suffice.inference.blanket import Blanket, distinct, distinct_codes
from suffice.inference.gap_rows import MissingTableValues
from suffice.inference.inquiry import Inquiry
from suffice.types import Floats, Ints

FEW_GROUPS = 32
"""Sets of values that are missing together, up to which each is solved by itself."""


@dataclass(frozen=True, eq=False)
class RowMarginals:
    """Distributions of single variables, for many rows of codes.

    Attributes
    ----------
    inquiry : Inquiry
    rows : MissingTableValues
    """

    inquiry: Inquiry
    rows: MissingTableValues

    @cached_property
    def _blanket(self) -> Blanket:
        return Blanket.of(self.inquiry.product)

    @cached_property
    def _known(self) -> bool:
        """Whether no table has unknown rows."""
        return not any(np.isnan(factor.values).any() for factor in self.inquiry.product.factors)

    def marginal(self, target: int, codes: Ints) -> Floats:
        """Return p(target | rest of the row) of each row of codes, −1 where nothing was seen; shape (n_rows, n_states).

        NaN where the row is impossible, or where the answer depends on numbers that are not known.
        """
        codes = codes.copy()
        codes[:, target] = -1
        found = np.full((len(codes), self.inquiry.product.sizes[target]), np.nan)
        sure = self._blanket.surely_possible(codes)
        for rows, checked in ((np.flatnonzero(sure), False), (np.flatnonzero(~sure), True)):
            if len(rows):
                found[rows] = self._answered(target, codes[rows], checked)
        return found

    def _answered(self, target: int, codes: Ints, checked: bool) -> Floats:
        """Answer for some rows; whether they are possible at all is to be found out where they are ``checked``."""
        reached = self._blanket.reached(target, codes >= 0)
        first, back = distinct_codes(np.where(reached, codes, -1))
        near, members = np.where(reached[first], codes[first], -1), reached[first] & (codes[first] < 0)
        asker = self.inquiry.asker if self._known and not self._are_few(members) else None
        if asker is not None:
            if checked:
                first, back = distinct_codes(codes)
                near = codes[first]
            return self._asked(asker, target, near)[back]
        found = self.rows.marginal(target, near, members)[back]
        if checked:
            first, back = distinct_codes(codes)
            found[(self.rows.log_sum(codes[first]) == -np.inf)[back]] = np.nan
        return found

    def _are_few(self, members: NDArray[np.bool_]) -> bool:
        """Whether rows lack so few different sets of values together that each set is best solved by itself."""
        return len(distinct(np.packbits(members, axis=1))[0]) <= FEW_GROUPS

    def _asked(self, asker: Asker, target: int, codes: Ints) -> Floats:
        """Put each of some rows to the calibrated tree, and by itself where that cannot tell."""
        found, _, sure = asker.ask_rows((target,), codes)
        for row in np.flatnonzero(~sure):
            hard = {variable: int(code) for variable, code in enumerate(codes[row]) if code >= 0}
            found[row] = elimination.posterior(self.inquiry.product, (target,), hard)
        found[~found.any(axis=1)] = np.nan
        return found
