"""StructureCheck: whether the data contradict a structure, and where."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Mapping, Sized
from dataclasses import dataclass, field

from suffice.certify.certificate import Certificate
from suffice.checking.bootstrap import Bootstrap
from suffice.checking.questions import Untested
from suffice.data.frame import to_native
from suffice.result.fit import Fit
from suffice.result.goodness import p_text
from suffice.text import fixed, html_table, number, plain_table, plural, visible
from suffice.types import Frame, Json

Cells = tuple[list[str], list[list[str]], str]
SHOWN_TESTS, SHOWN_FAMILIES, SHOWN_EDGES = 12, 8, 8
WIDTH = 100


@dataclass(frozen=True)
class ClaimTest:
    """The test of one claim of the structure.

    Attributes
    ----------
    claim : str
        Such as ``wet ⊥ season | rain``.
    denial : str
        What is true if the claim is not.
    first, second : str
        The variables that are claimed to be independent; empty for a claim of interactions.
    given : tuple of str
    by : str
        The statistic: ``G²``, ``t`` or ``F``; ``G², drawn`` where tables were drawn to find its distribution.
    statistic, df, df_residual
        Its value and its degrees of freedom.
    deviance, deviance_df
        Twice the log of the likelihood ratio, and its degrees of freedom.
    information : float
        What the two tell of each other in a row, in nats, as the data have it: deviance / 2N. It says how large a
        departure is, where p says how sure.
    p_value, p_adjusted : float
        Of this test alone, and adjusted for the number of tests (Holm, 1979).
    n_draws : int
    is_contradicted : bool
    """

    claim: str
    denial: str
    first: str
    second: str
    given: tuple[str, ...]
    by: str
    statistic: float
    df: int
    df_residual: float | None
    deviance: float
    deviance_df: int
    information: float
    p_value: float
    p_adjusted: float
    n_draws: int
    is_contradicted: bool


@dataclass(frozen=True)
class FamilyMisfit:
    """What the tests say of one node with its parents, or of one variable of an undirected structure.

    Attributes
    ----------
    node : str
    parents : tuple of str
    n_tests : int
    deviance : float
        Sum over its tests.
    df : int
    p_adjusted : float
        The least of its tests.
    worst : str
        The claim with the least.
    """

    node: str
    parents: tuple[str, ...]
    n_tests: int
    deviance: float
    df: int
    p_adjusted: float
    worst: str


@dataclass(frozen=True)
class EdgeTest:
    """Whether the data ask for an edge: the test of the independence that would hold without it.

    Attributes
    ----------
    edge : str
    first, second : str
        Parent and child, or the two ends.
    given : tuple of str
    by : str
    statistic, df, p_value
        Of this test alone.
    is_needed : bool
        Whether the data contradict the structure without this edge, at the level of the check.
    """

    edge: str
    first: str
    second: str
    given: tuple[str, ...]
    by: str
    statistic: float
    df: int
    p_value: float
    is_needed: bool


@dataclass(frozen=True, eq=False)
class StructureCheck:
    """The result of `suffice.check`.

    Attributes
    ----------
    ok : bool
        Whether nothing that the structure implies is contradicted at the level.
    level : float
        The chance of contradicting a structure that is right is at most this.
    verdict : str
    tests : tuple of ClaimTest
        What the structure implies, those most at odds with the data first.
    untested : tuple of Untested
        What it implies but could not be tested, with the reasons.
    families : tuple of FamilyMisfit
        Those that fit worst first.
    edges : tuple of EdgeTest
        Those that are needed least first. An edge too many makes no structure wrong.
    bootstrap : Bootstrap or None
    fit : Fit
        By maximum likelihood; `certificate` is its proof of being the optimum.
    remarks : tuple of str
        What to know before using the numbers.
    """

    ok: bool
    level: float
    verdict: str
    tests: tuple[ClaimTest, ...]
    untested: tuple[Untested, ...]
    families: tuple[FamilyMisfit, ...]
    edges: tuple[EdgeTest, ...]
    bootstrap: Bootstrap | None
    fit: Fit = field(repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def certificate(self) -> Certificate:
        """The proof that the fit is the optimum, which says nothing of the structure."""
        return self.fit.certificate

    @property
    def contradicted(self) -> tuple[ClaimTest, ...]:
        """The tests that contradict the structure."""
        return tuple(test for test in self.tests if test.is_contradicted)

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a test.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        names = ("claim", "first", "second", "given", "by", "statistic", "df", "df_residual", "deviance",
                 "information", "p_value", "p_adjusted", "is_contradicted")  # fmt: skip
        columns = {name: [getattr(test, name) for test in self.tests] for name in names}
        columns["given"] = [", ".join(given) for given in columns["given"]]
        columns["df_residual"] = [math.nan if df is None else df for df in columns["df_residual"]]
        return to_native(columns, backend)

    def to_dict(self) -> dict[str, Json]:
        """Return the check as JSON-able data, without the model."""
        bootstrap = self.bootstrap
        return {
            "ok": self.ok,
            "level": self.level,
            "verdict": self.verdict,
            "n_tests": len(self.tests),
            "tests": [vars(test) for test in self.tests],
            "untested": [{"claim": str(one.claim), "reason": one.reason} for one in self.untested],
            "families": [vars(family) for family in self.families],
            "edges": [vars(edge) for edge in self.edges],
            "bootstrap": None
            if bootstrap is None
            else {
                "deviance": bootstrap.deviance,
                "df": bootstrap.df,
                "statistic": bootstrap.statistic,
                "n_tables": bootstrap.n_tables,
                "p_value": bootstrap.p_value,
            },
            "certificate": self.certificate.to_dict(),
            "remarks": list(self.remarks),
        }

    # Rendering ------------------------------------------------------------------------------------------------

    def parts(self) -> list[tuple[str, Cells]]:
        """Return the tables that a print shows, each with its title."""
        found: list[tuple[str, Cells]] = []
        if self.tests:
            found.append((_title("implied by the structure", self.tests, SHOWN_TESTS), _test_cells(self.tests)))
        if len(self.families) > 1:
            found.append((_title("families, worst first", self.families, SHOWN_FAMILIES), _family_cells(self.families)))
        if self.edges:
            found.append((_title("edges, least needed first", self.edges, SHOWN_EDGES), _edge_cells(self.edges)))
        return found

    def lines(self) -> list[str]:
        """Return what a print says below the tables."""
        said = []
        if self.bootstrap is not None:
            found = self.bootstrap
            said.append(
                f"Bootstrap: the deviances of all tests add up to {fixed(found.deviance, 2)} on {found.df:,} degrees "
                f"of freedom; {_share(found)} of {found.n_tables:,} tables drawn from the fitted model lie as far out "
                f"or farther (p {_equals(found.p_value)})."
            )
            said.append("Adjusted p are Holm's, doubled: the tests and the bootstrap share the level.")
        if self.untested:
            first = self.untested[0]
            more = f", and {plural(len(self.untested) - 1, 'other')}" if len(self.untested) > 1 else ""
            said.append(f"Not tested: {first.claim}, since {first.reason}{more}.")
        return [*said, *self.remarks]

    def __str__(self) -> str:
        blocks = ["\n".join(_wrapped(self.verdict) + _wrapped(self.certificate.verdict))]
        blocks += [f"{title}\n{plain_table(*cells)}" for title, cells in self.parts()]
        below = [line for said in self.lines() for line in _wrapped(f"- {said}")]
        return "\n\n".join([*blocks, *(["\n".join(below)] if below else [])])

    def _repr_html_(self) -> str:
        head = f"<p><b>{html.escape(self.verdict)}</b><br>{html.escape(self.certificate.verdict)}</p>"
        tables = "".join(html_table(*cells, caption=title) for title, cells in self.parts())
        below = "".join(f"<p>{html.escape(line)}</p>" for line in self.lines())
        return head + tables + below


def _title(what: str, rows: Sized, shown: int) -> str:
    return what if len(rows) <= shown else f"{what} (the first {shown} of {len(rows):,})"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(visible(line), WIDTH, subsequent_indent="  ")


def _share(bootstrap: Bootstrap) -> str:
    farther = round(bootstrap.p_value * (bootstrap.n_tables + 1)) - 1
    return f"{farther:,}" if farther else "none"


def _equals(p: float) -> str:
    said = p_text(p)
    return f"{said[0]} {said[1:]}" if said[0] in "<>" else f"= {said}"


def _test_cells(tests: tuple[ClaimTest, ...]) -> Cells:
    rows = []
    for test in tests[:SHOWN_TESTS]:
        df = f"{test.df:,}" if test.df_residual is None else f"{test.df:,}, {number(test.df_residual)}"
        rows.append([test.claim, test.by, fixed(test.statistic), df, p_text(test.p_value), p_text(test.p_adjusted)])
    return ["claim", "by", "value", "df", "p", "p, adjusted"], rows, "<<>>>>"


def _family_cells(families: tuple[FamilyMisfit, ...]) -> Cells:
    rows = [
        [one.node, ", ".join(one.parents), f"{one.n_tests:,}", fixed(one.deviance, 2), f"{one.df:,}",
         p_text(one.p_adjusted), one.worst]
        for one in families[:SHOWN_FAMILIES]
    ]  # fmt: skip
    if any(one.parents for one in families):
        return ["node", "parents", "tests", "deviance", "df", "least p, adjusted", "worst"], rows, "<<>>>><"
    short = [[node, *rest] for node, _, *rest in rows]
    return ["variable", "tests", "deviance", "df", "least p, adjusted", "worst"], short, "<>>>><"


def _edge_cells(edges: tuple[EdgeTest, ...]) -> Cells:
    rows = [
        [one.edge, one.by, fixed(one.statistic), f"{one.df:,}", p_text(one.p_value), "yes" if one.is_needed else "no"]
        for one in edges[:SHOWN_EDGES]
    ]
    return ["edge", "by", "value", "df", "p", "needed"], rows, "<<>>><"


def sentence(
    tests: tuple[ClaimTest, ...], bootstrap: Bootstrap | None, level: float, p_bootstrap: float
) -> tuple[bool, str]:
    """Return whether a structure stands, and say so.

    Parameters
    ----------
    tests : tuple of ClaimTest
        Those most at odds with the data first.
    bootstrap : Bootstrap or None
    level : float
    p_bootstrap : float
        That of the bootstrap, adjusted.
    """
    if not tests:
        return True, "The structure implies nothing that these data could contradict."
    count = f"{plural(len(tests), 'test')}, Holm"
    wrong = [test for test in tests if test.is_contradicted]
    if wrong:
        more = f", and {plural(len(wrong) - 1, 'other claim')} as well" if len(wrong) > 1 else ""
        adjusted = f"p {_equals(wrong[0].p_adjusted)}, adjusted; {count}"
        return False, f"The structure is contradicted: {wrong[0].denial} ({adjusted}){more}."
    if bootstrap is not None and p_bootstrap < level:
        return False, (
            f"The structure is contradicted: taken together its claims are further from the data than chance allows "
            f"(bootstrap, p {_equals(p_bootstrap)}, adjusted), though none is so by itself ({count})."
        )
    what = "implied independence" if all(test.first for test in tests) else "claim of the structure"
    return True, f"No {what} is contradicted at level {level:g} ({count})."


def families_of(
    tests: tuple[ClaimTest, ...], parents: Mapping[str, tuple[str, ...]] | None
) -> tuple[FamilyMisfit, ...]:
    """Gather the tests by the node whose family they are about; of an undirected structure, by both ends."""
    held: dict[str, list[ClaimTest]] = {}
    for test in tests:
        for name in [test.first] if parents is not None else [test.first, test.second]:
            if name:
                held.setdefault(name, []).append(test)
    found = [
        FamilyMisfit(
            node,
            () if parents is None else tuple(parents[node]),
            len(mine),
            math.fsum(test.deviance for test in mine),
            sum(test.deviance_df for test in mine),
            min(test.p_adjusted for test in mine),
            mine[0].claim,
        )
        for node, mine in held.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.p_adjusted, -one.deviance)))
