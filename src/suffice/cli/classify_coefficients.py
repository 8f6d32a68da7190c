"""The coefficients of a softmax regression after a fit: with standard errors, or why there are none."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.cli.remedies import as_options
from suffice.errors import SufficeError
from suffice.text import visible

if TYPE_CHECKING:
    from suffice.cli.shared import Document
    from suffice.data.readers.csv_file import CSV
    from suffice.result.fit import Fit
    from suffice.result.softmax_coefficients import SoftmaxCoefficients

WIDTH = 100


@dataclass(frozen=True)
class Coefficients:
    """What is known of coefficients.

    Attributes
    ----------
    table : SoftmaxCoefficients or None
        None where there are none with standard errors.
    in_summary : bool
        Whether the summary of the fit has the table.
    why : str
        Why standard errors are not there, where a fit without a prior should have them.
    """

    table: SoftmaxCoefficients | None = None
    in_summary: bool = True
    why: str = ""

    def to_list(self) -> list[Document] | None:
        """Return one entry a coefficient as JSON-able data; None without standard errors."""
        if self.table is None:
            return None
        from suffice.result.wald_columns import COLUMNS

        found = self.table
        columns = [column.tolist() for column in (found.estimate, found.se, found.z, found.p, found.lower, found.upper)]
        names = zip(self.table.classes, self.table.terms, strict=True)
        rows = zip(names, *columns, strict=True)
        return [
            {"class": label, "term": term} | dict(zip(COLUMNS, numbers, strict=True))
            for (label, term), *numbers in rows
        ]

    def show(self) -> None:
        """Print for people what the summary of the fit does not say."""
        from suffice.cli.show import show_table

        if self.table is not None:
            print()
            if not self.in_summary:
                show_table(self.table._cells(), "Coefficients")
            for line in self.table._foot:
                print(visible(line[:1].upper() + line[1:] if self.in_summary else line))
        elif self.why:
            print("\n" + textwrap.fill(f"No standard errors: {visible(as_options(self.why))}", WIDTH))


def read_coefficients(fit: Fit, cases: str | CSV, weights: str | None) -> Coefficients:
    """Return the coefficients of a fit; large fits read the data once more."""
    from suffice.result.family_fits import SoftmaxFit

    if not isinstance(fit, SoftmaxFit):
        return Coefficients()
    model = fit.model
    if fit.prior is not None:
        return Coefficients()
    if fit.certificate.exists == "no":
        return Coefficients(why="the estimate does not exist, as the note says.")
    known = model.information is not None
    again: dict[str, Any] = {} if known else {"data": cases, "weights": weights}
    try:
        return Coefficients(fit.coefficients(**again), in_summary=known)
    except SufficeError as error:
        return Coefficients(why=error.message)
