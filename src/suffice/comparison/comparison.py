"""Comparison: several models of the same rows side by side, and what the criteria make of them."""

from __future__ import annotations

import html
import itertools
import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from suffice.comparison.cross_validation import CrossValidation
from suffice.comparison.nested import NestedTest
from suffice.data.frame import to_native
from suffice.errors import ArgumentError, Text, UnknownNameError, listing, made, require_choice, suggestion
from suffice.result.fit import Fit
from suffice.result.goodness import p_text
from suffice.result.notes import Note
from suffice.text import fixed, html_table, number, plain_table, plural, shorten
from suffice.types import Frame, Json

Cells = tuple[list[str], list[list[str]], str]
"""The header, the rows and the alignment of a table."""
WIDTH = 100
LONGEST = 240
"""Longer notes are cut where they are printed; `Comparison.notes` has them whole."""
ROUNDING = 1e-9
"""Criteria that differ by less of themselves are equal."""


class Criterion(NamedTuple):
    """What models are judged by."""

    label: str
    sign: int
    """+1 where more is better, −1 where less is."""


CRITERIA: dict[str, Criterion] = {
    "log_likelihood": Criterion("log-likelihood", 1),
    "aic": Criterion("AIC", -1),
    "bic": Criterion("BIC", -1),
    "log_marginal_likelihood": Criterion("log marginal likelihood", 1),
    "cv": Criterion("cross-validation", 1),
}
JUDGES = ("aic", "bic", "log_marginal_likelihood", "cv")
"""The criteria that a verdict names; the likelihood itself always prefers the largest model."""


@dataclass(frozen=True, eq=False)
class ComparedModel:
    """One model of a comparison.

    Attributes
    ----------
    name : str
    fit : Fit
        To all rows.
    cross_validation : CrossValidation or None
    """

    name: str
    fit: Fit
    cross_validation: CrossValidation | None = None

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of all rows."""
        return self.fit.log_likelihood

    @property
    def n_free(self) -> int:
        """Free parameters of the structure, which AIC and BIC count."""
        return self.fit.n_free

    @property
    def n_free_adjusted(self) -> int:
        """Free parameters that the data's zeros leave."""
        return self.fit.n_free_adjusted

    @property
    def aic(self) -> float:
        """Akaike's criterion, −2ℓ + 2k; smaller is better."""
        return self.fit.aic

    @property
    def bic(self) -> float:
        """Schwarz's criterion, −2ℓ + k log N; smaller is better."""
        return self.fit.bic

    @property
    def log_marginal_likelihood(self) -> float | None:
        """The logarithm of p(data), where the prior is conjugate."""
        return self.fit.log_marginal_likelihood

    @property
    def cv(self) -> float | None:
        """The cross-validated log-likelihood of all rows."""
        return None if self.cross_validation is None else self.cross_validation.total

    @property
    def criteria(self) -> dict[str, float | None]:
        """Every criterion by its name; None where it is not known."""
        return {
            "log_likelihood": self.log_likelihood,
            "aic": self.aic,
            "bic": self.bic,
            "log_marginal_likelihood": self.log_marginal_likelihood,
            "cv": self.cv,
        }

    @property
    def cv_standard_error(self) -> float | None:
        """The standard error of `cv`: see `CrossValidation`."""
        return None if self.cross_validation is None else self.cross_validation.standard_error


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of `suffice.compare`.

    Attributes
    ----------
    rows : tuple of ComparedModel
        In the order in which they were given.
    n : float
        The number of rows, each with its weight.
    tests : tuple of NestedTest
        The likelihood-ratio tests of all pairs that are known to be nested, both fitted by maximum likelihood.
    notes : tuple of Note
        What to know before using the numbers.

    Examples
    --------
    >>> import suffice as sf
    >>> table = sf.Contingency([[30, 10], [12, 28]], {"A": ["x", "y"], "B": ["u", "v"]})
    >>> found = sf.compare({"free": sf.DAG("A; B"), "joined": sf.DAG("A -> B")}, table, folds=None)
    >>> found.best("bic"), found["free"].n_free, round(found.tests[0].test.G2, 4)
    ('joined', 2, 16.8475)
    """

    rows: tuple[ComparedModel, ...]
    n: float
    tests: tuple[NestedTest, ...] = ()
    notes: tuple[Note, ...] = field(default=(), repr=False)

    # Looking --------------------------------------------------------------------------------------------------

    @property
    def fits(self) -> dict[str, Fit]:
        """The fits to all rows, by name."""
        return {row.name: row.fit for row in self.rows}

    def __getitem__(self, name: str) -> ComparedModel:
        for row in self.rows:
            if row.name == name:
                return row
        names = [row.name for row in self.rows]
        raise UnknownNameError(
            f"There is no model {name!r} in the comparison. The models are {listing(names, 12)}."
            f"{suggestion(name, names)}"
        )

    def __iter__(self) -> Iterator[ComparedModel]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def best(self, criterion: str = "bic") -> str:
        """Return the name of the model that a criterion prefers; of equals the first.

        Parameters
        ----------
        criterion : {"log_likelihood", "aic", "bic", "log_marginal_likelihood", "cv"}
        """
        require_choice("criterion", criterion, tuple(CRITERIA))
        found = self._best.get(criterion)
        if found is None:
            why = {
                "cv": "there was no cross-validation; pass folds=10",
                "log_marginal_likelihood": Text(
                    "not all models have one; it needs a conjugate prior, such as ", made("BDeu", 1)
                ),
            }.get(criterion, "it is not a number for any model")
            raise ArgumentError(f"The models cannot be compared by {CRITERIA[criterion].label!r}: {why}.")
        return found.name

    @cached_property
    def _best(self) -> dict[str, ComparedModel]:
        """The best model by each criterion that all models have; of those that are equal but for rounding the first."""
        found = {}
        for name, criterion in CRITERIA.items():
            values = [row.criteria[name] for row in self.rows]
            known = [value for value in values if value is not None]
            if len(known) < len(values) or all(map(math.isnan, known)):
                continue
            top = max(criterion.sign * value for value in known if not math.isnan(value))
            at = next(place for place, value in enumerate(known) if _equal(criterion.sign * value, top))
            found[name] = self.rows[at]
        return found

    def difference(self, row: ComparedModel, criterion: str) -> float | None:
        """Return by how much a model's criterion differs from the best one's; None where models lack it."""
        best = self._best.get(criterion)
        if best is None:
            return None
        value, least = row.criteria[criterion], best.criteria[criterion]
        if value is None or least is None:
            return None
        return 0.0 if _equal(value, least) else float(value - least)

    def _cv_difference_error(self, row: ComparedModel) -> float | None:
        """Return the standard error of the difference from the best, of paired folds."""
        best = self._best.get("cv")
        if best is None or row.cross_validation is None or best.cross_validation is None:
            return None
        if _equal(row.cross_validation.total, best.cross_validation.total):
            return 0.0
        return row.cross_validation.less(best.cross_validation).standard_error

    @property
    def verdict(self) -> str:
        """Which model each criterion prefers, in a sentence."""
        if len(self.rows) == 1:
            return "There is one model only, so that there is nothing to prefer."
        names = {name: self._best[name].name for name in JUDGES if name in self._best}
        groups: dict[str, list[str]] = {}
        for criterion, name in names.items():
            groups.setdefault(name, []).append(CRITERIA[criterion].label)
        said = [
            f"{_joined(labels)} {'prefers' if len(labels) == 1 else 'prefer'} {name!r}"
            for name, labels in groups.items()
        ]
        return f"{'; '.join(said)}.{self._closeness}" if said else "No criterion is known of all models."

    @property
    def _closeness(self) -> str:
        """Say whether the folds tell the best two models apart."""
        best = self._best.get("cv")
        behind = [row for row in self.rows if (self.difference(row, "cv") or 0.0) < 0]
        if best is None or not behind:
            return ""
        second = max(behind, key=lambda row: row.cv or 0.0)
        gap, error = self.difference(second, "cv"), self._cv_difference_error(second)
        if gap is None or error is None or not -gap <= 2 * error:
            return ""
        return (
            f" The folds do not tell {best.name!r} and {second.name!r} apart: they differ by {fixed(-gap, 2)}, within "
            f"two standard errors of {fixed(error, 2)}."
        )

    # Showing --------------------------------------------------------------------------------------------------

    def _records(self) -> list[dict[str, str | float | None]]:
        return [
            {
                "model": row.name,
                "log_likelihood": row.log_likelihood,
                "n_free": row.n_free,
                "n_free_adjusted": row.n_free_adjusted,
                "aic": row.aic,
                "aic_difference": self.difference(row, "aic"),
                "bic": row.bic,
                "bic_difference": self.difference(row, "bic"),
                "log_marginal_likelihood": row.log_marginal_likelihood,
                "log_marginal_likelihood_difference": self.difference(row, "log_marginal_likelihood"),
                "cv": row.cv,
                "cv_standard_error": row.cv_standard_error,
                "cv_difference": self.difference(row, "cv"),
                "cv_difference_standard_error": self._cv_difference_error(row),
            }
            for row in self.rows
        ]

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a model.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        records = self._records()
        return to_native({name: [record[name] for record in records] for name in records[0]}, backend)

    def to_dict(self) -> dict[str, Json]:
        """Return everything as JSON-able data."""
        return {
            "n": self.n,
            "models": [
                {**record, "structure": str(row.fit.structure), "method": row.fit.method, "point": row.fit.point}
                for record, row in zip(self._records(), self.rows, strict=True)
            ],
            "best": {name: row.name for name, row in self._best.items()},
            "tests": [
                {
                    "small": one.small,
                    "large": one.large,
                    "G2": one.test.G2,
                    "df": one.df,
                    "df_adjusted": one.test.df,
                    "p_value": one.test.p_value,
                    "remarks": list(one.test.remarks),
                }
                for one in self.tests
            ],
            "verdict": self.verdict,
            "notes": [note.to_dict() for note in self.notes],
        }

    def tables(self) -> list[Cells]:
        """Return the tables that are printed: criteria, cross-validation and tests, as far as there are any."""
        found = [self._criteria()]
        found += [self._folds()] if any(row.cv is not None for row in self.rows) else []
        return found + ([self._nested()] if self.tests else [])

    def _criteria(self) -> Cells:
        evidence = any(row.log_marginal_likelihood is not None for row in self.rows)
        header = ["model", "log-likelihood", "free", "AIC", "ΔAIC", "BIC", "ΔBIC", *["log p(data)", "Δ"] * evidence]
        rows = []
        for row in self.rows:
            adjusted = f" ({row.n_free_adjusted:,})" if row.n_free_adjusted != row.n_free else ""
            cells = [row.name, fixed(row.log_likelihood, 2), f"{row.n_free:,}{adjusted}"]
            for name in ("aic", "bic", *["log_marginal_likelihood"] * evidence):
                cells += [fixed(row.criteria[name], 2), fixed(self.difference(row, name), 2)]
            rows.append(cells)
        return header, rows, "<" + ">" * (len(header) - 1)

    def _folds(self) -> Cells:
        rows = [
            [
                row.name,
                fixed(row.cv, 2),
                fixed(row.cv_standard_error, 2),
                fixed(self.difference(row, "cv"), 2),
                fixed(self._cv_difference_error(row), 2),
            ]
            for row in self.rows
        ]
        return ["model", "cross-validated", "std. error", "Δ", "std. error of Δ"], rows, "<>>>>"

    def _nested(self) -> Cells:
        rows = []
        for one in self.tests:
            adjusted = "" if one.df == one.test.df else " (-)" if one.test.df is None else f" ({one.test.df:,})"
            rows.append([one.small, one.large, fixed(one.test.G2), f"{one.df:,}{adjusted}", p_text(one.test.p_value)])
        return ["model", "inside", "G²", "df", "p"], rows, "<<>>>"

    @property
    def lines(self) -> list[str]:
        """What is said below the tables: the verdict, and the notes."""
        return [self.verdict, *(f"note: {shorten(note.text, LONGEST)}" for note in self.notes)]

    @property
    def heading(self) -> str:
        """How many models of how many rows."""
        unit = self.rows[0].fit.structure.unit
        return f"{plural(len(self.rows), 'model')} of {number(self.n, 12)} {unit}{'s' * (self.n != 1)}"

    def __str__(self) -> str:
        wrapped = (textwrap.wrap(line, WIDTH, subsequent_indent="  ") for line in self.lines)
        tables = [plain_table(*cells) for cells in self.tables()]
        return "\n\n".join([self.heading, *tables, "\n".join(itertools.chain.from_iterable(wrapped))])

    def _repr_html_(self) -> str:
        tables = "".join(html_table(*cells) for cells in self.tables())
        return tables + "".join(f"<p>{html.escape(line)}</p>" for line in self.lines)


def _equal(first: float, second: float) -> bool:
    """Whether two values of a criterion are equal but for rounding."""
    return first == second or abs(first - second) <= ROUNDING * abs(second) < math.inf


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def by_name(fits: Mapping[str, Fit], found: Mapping[str, CrossValidation]) -> tuple[ComparedModel, ...]:
    """Put fits and their cross-validation together."""
    return tuple(ComparedModel(name, fit, found.get(name)) for name, fit in fits.items())
