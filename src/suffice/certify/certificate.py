"""Certificate: what was measured, and a verdict in one sentence."""

from __future__ import annotations

import itertools
import math
import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from suffice.text import html_table, number, plain_table, plural

if TYPE_CHECKING:
    from suffice.types import Json

ROUNDING = 1e-13
"""Residuals below this are what rounding leaves of zero; their digits differ from machine to machine."""
DECREMENT = 1e-3
"""The largest Newton decrement, in nats, that a certified optimum may have."""
NAMED = 4
"""So many undetermined parameters are named in a sentence; the certificate holds all of them."""
DEVIATION = 0.1
"""By how many posterior standard deviations a certified posterior mean may miss the conjugate formula."""


@dataclass(frozen=True)
class Certificate:
    """The proof that a fit carries.

    Attributes
    ----------
    ok : bool
        The first-order condition of the objective that the fit claims to optimise holds within ``tol``.
    claim : str
        What the fit claims to be, such as ``maximum likelihood``.
    gradient_norm : float
        Largest violation of the first-order condition. For tables: ``max |m(x_pa, x_v)/m(x_pa) − θ|`` over
        rows with data.
    worst : str
        Where the largest violation is.
    decrement : float or None
        The Newton decrement ½ gᵀH⁻¹g in nats: by how much a Newton step would still raise the objective. Unlike
        ``gradient_norm`` it is not divided by the number of rows, so that rare rows and classes count.
    deviation : float or None
        For posterior means, the largest distance from the conjugate formula in posterior standard deviations.
    moment_gap : float or None
        Largest gap between empirical and model moments, for undirected models.
    log_likelihood : float
        Recomputed.
    log_likelihood_gap : float
        Relative distance from the fitter's own value.
    normalisation : float
        Largest distance of a distribution's total from one.
    exists : {"yes", "no", "undecided"}
        Whether the estimate exists.
    kl : float or None
        KL(p̃‖p), only where the distinct rows were collected.
    data_gap : float or None
        Largest difference between the statistics and a second count of the data (``certify="data"``).
    pythagoras : float or None
        How far KL(p̃‖u) is from KL(p̃‖p) + KL(p‖u), u being uniform, for undirected models whose rows were collected.
    descent : float or None
        The largest fall of the objective in a step, relative to its size, for methods that never fall.
    z_drift : float or None
        By how much log Z changed during proportional fitting, which keeps it.
    boundary : str
        What runs to zero or infinity when the estimate does not exist; of an observed likelihood, what the data leave
        open.
    dual : float or None
        For log-linear models, the dual value w·α − log Z: the least divergence KL(p‖h) from the base measure, at the
        optimum.
    duality_gap : float or None
        KL(p‖h) minus the dual value.
    monte_carlo_error : float or None
        The largest standard error of an expectation that was estimated from samples.
    z, z_limit : float or None
        The largest gap between an estimated expectation and its target in such standard errors, and how large it may
        be by chance.
    starts : str
        Where the searches ended, for methods that begin several times since they may end in a local optimum.
    undetermined : tuple of str
        Of an observed likelihood that is flat along some direction, the parameters along it: they violate the
        first-order condition, and moving them does not change the likelihood noticeably.
    tol : float
    verdict : str
    """

    ok: bool
    claim: str
    gradient_norm: float
    worst: str
    log_likelihood: float
    log_likelihood_gap: float
    normalisation: float
    exists: str
    verdict: str
    tol: float
    moment_gap: float | None = None
    kl: float | None = None
    data_gap: float | None = None
    pythagoras: float | None = None
    descent: float | None = None
    z_drift: float | None = None
    boundary: str = ""
    dual: float | None = None
    duality_gap: float | None = None
    monte_carlo_error: float | None = None
    z: float | None = None
    z_limit: float | None = None
    starts: str = ""
    decrement: float | None = None
    deviation: float | None = None
    undetermined: tuple[str, ...] = ()

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        wanted = f"at most {self.tol:g}" if self.z is None else "within Monte-Carlo error"
        rows = [
            ["first-order residual", number(self.gradient_norm, 3), wanted],
            *self._distance_cells(),
            ["normalisation", number(self.normalisation, 3), f"at most {self.tol:g}"],
            [
                "log-likelihood, recomputed",
                f"{self.log_likelihood:.6f}",
                f"differs by {number(self.log_likelihood_gap, 3)} (relative)",
            ],
            ["estimate exists", self.exists, "" if self._is_left_open else self.boundary],
        ]
        if self.moment_gap is not None:
            rows.append(["moment gap", number(self.moment_gap, 3), wanted])
        if self.kl is not None:
            rows.append(["KL(data, model)", number(self.kl, 6), ""])
        if self.pythagoras is not None:
            rows.append(["Pythagoras, KL in two ways", number(self.pythagoras, 3), "0 at the optimum"])
        if self.descent is not None:
            rows.append(["largest fall in a step", number(self.descent, 3), "at most 1e-09"])
        if self.z_drift is not None:
            rows.append(["change of log Z", number(self.z_drift, 3), "at most 1e-08"])
        if self.dual is not None:
            rows.append(["dual value, least KL(model, base)", number(self.dual, 6), ""])
        if self.duality_gap is not None:
            rows.append(["duality gap", number(self.duality_gap, 3), "0 at the optimum"])
        if self.monte_carlo_error is not None:
            rows.append(["Monte-Carlo error", number(self.monte_carlo_error, 3), ""])
        if self.z is not None:
            rows.append(["largest gap in such errors", number(self.z, 3), f"at most {self.z_limit:.3g}"])
        if self.data_gap is not None:
            rows.append(["second count of the data", number(self.data_gap, 3), "must be 0"])
        return ["measured", "value", "wanted"], rows, "<><"

    def _distance_cells(self) -> list[list[str]]:
        """Return the rows that say how far the fit is from the optimum, in units that do not depend on N."""
        rows = []
        if self.decrement is not None:
            rows.append(["Newton decrement, in nats", number(self.decrement, 3), f"at most {DECREMENT:g}"])
        if self.deviation is not None:
            rows.append(["in posterior standard deviations", number(self.deviation, 3), f"at most {DEVIATION:g}"])
        return rows

    @property
    def _is_left_open(self) -> bool:
        """Whether ``boundary`` says what the data leave open, and not what runs away."""
        return bool(self.boundary) and self.exists != "no"

    @property
    def _foot(self) -> list[str]:
        """What is said below the table: where searches ended, and what the data leave open."""
        said = [f"Starts: {self.starts}."] if self.starts else []
        return [*said, f"Left open: {self.boundary}."] if self._is_left_open else said

    def __str__(self) -> str:
        foot = itertools.chain.from_iterable(textwrap.wrap(line, 100, subsequent_indent="  ") for line in self._foot)
        return "\n".join([f"{self.verdict}\n\n{plain_table(*self._cells())}", *foot])

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=" ".join([self.verdict, *self._foot]))

    def to_dict(self) -> dict[str, Json]:
        """Return the certificate as JSON-able data."""
        return asdict(self) | {"undetermined": list(self.undetermined)}


@dataclass(frozen=True)
class Measured:
    """The raw numbers from which `verdict` makes a certificate."""

    claim: str
    residual: float
    worst: str
    log_likelihood: float
    normalisation: float
    exists: str = "yes"
    condition: str = "the first-order condition"
    data_gap: float | None = None
    data_worst: str = ""
    moment_gap: float | None = None
    kl: float | None = None
    pythagoras: float | None = None
    descent: float | None = None
    z_drift: float | None = None
    boundary: str = ""
    rounding: float = 0.0
    dual: float | None = None
    duality_gap: float | None = None
    monte_carlo_error: float | None = None
    z: float | None = None
    z_limit: float | None = None
    starts: str = ""
    decrement: float | None = None
    decrement_worst: str = ""
    deviation: float | None = None
    deviation_worst: str = ""
    undetermined: tuple[str, ...] = ()


def verdict(measured: Measured, claimed_log_likelihood: float, tol: float, interrupted: bool = False) -> Certificate:
    """Judge the numbers, and say it in one sentence."""
    gap = _relative(measured.log_likelihood, claimed_log_likelihood, measured.rounding)
    faults = _faults(measured, gap, tol, interrupted)
    if faults:
        sentence = f"Not certified as {measured.claim}: {'; '.join(faults)}."
    else:
        within = "to rounding error" if measured.residual < ROUNDING else f"within {measured.residual:.2g}"
        wanted = f"tolerance {tol:g}"
        if measured.z is not None:
            wanted = f"{measured.z:.2g} Monte-Carlo errors, {measured.z_limit:.2g} by chance"
        sentence = f"Certified: {measured.claim}; {measured.condition} holds {within} ({wanted})."
    return Certificate(
        ok=not faults,
        claim=measured.claim,
        gradient_norm=measured.residual,
        worst=measured.worst,
        log_likelihood=measured.log_likelihood,
        log_likelihood_gap=gap,
        normalisation=measured.normalisation,
        exists=measured.exists,
        verdict=sentence,
        tol=tol,
        moment_gap=measured.moment_gap,
        kl=measured.kl,
        data_gap=measured.data_gap,
        pythagoras=measured.pythagoras,
        descent=measured.descent,
        z_drift=measured.z_drift,
        boundary=measured.boundary,
        dual=measured.dual,
        duality_gap=measured.duality_gap,
        monte_carlo_error=measured.monte_carlo_error,
        z=measured.z,
        z_limit=measured.z_limit,
        starts=measured.starts,
        decrement=measured.decrement,
        deviation=measured.deviation,
        undetermined=measured.undetermined,
    )


def _faults(measured: Measured, gap: float, tol: float, interrupted: bool) -> list[str]:
    """Return what is wrong, in words."""
    faults = []
    sampled = measured.z is not None and measured.z_limit is not None
    if measured.z is not None and measured.z_limit is not None and not measured.z <= measured.z_limit:
        faults.append(
            f"{measured.condition} is violated by {measured.residual:.3g}, {measured.z:.3g} Monte-Carlo errors, at "
            f"{measured.worst}"
        )
    if not sampled and not measured.residual <= tol:
        faults.append(f"{measured.condition} is violated by {measured.residual:.3g} at {measured.worst}")
        if measured.undetermined:
            faults.append(
                f"the data do not determine {plural(len(measured.undetermined), 'parameter')}, see 'boundary'"
            )
    if measured.decrement is not None and not measured.decrement <= DECREMENT:
        faults.append(
            f"a Newton step would still raise the objective by {measured.decrement:.3g} nats at "
            f"{measured.decrement_worst or measured.worst}"
        )
    if measured.deviation is not None and not measured.deviation <= DEVIATION:
        faults.append(
            f"the conjugate formula is missed by {measured.deviation:.3g} posterior standard deviations at "
            f"{measured.deviation_worst or measured.worst}"
        )
    if not measured.normalisation <= tol:
        faults.append(f"a distribution misses its total of one by {measured.normalisation:.3g}")
    if not gap <= tol:
        faults.append(f"the log-likelihood, recomputed, differs by {gap:.3g} (relative)")
    if measured.data_gap is not None and not measured.data_gap <= 1e-9:
        faults.append(f"a second count of the data differs by {measured.data_gap:.6g} at {measured.data_worst}")
    if measured.descent is not None and not measured.descent <= 1e-9:
        faults.append(f"a step lowered the objective by {measured.descent:.3g} (relative)")
    if measured.z_drift is not None and not measured.z_drift <= 1e-8:
        faults.append(f"log Z changed by {measured.z_drift:.3g}")
    if interrupted:
        faults.append("the method was interrupted")
    return faults


def _relative(found: float, claimed: float, rounding: float) -> float:
    """Return the relative difference of two sums, less what rounding alone may bring about."""
    if found == claimed or (math.isnan(found) and math.isnan(claimed)):
        return 0.0
    difference = abs(found - claimed)
    return (difference if math.isnan(difference) else max(0.0, difference - rounding)) / max(1.0, abs(found))
