"""IndependenceOutcome: what one test found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IndependenceOutcome:
    """What one test found, whichever way the question was put.

    Attributes
    ----------
    by : str
        The test statistic: ``G²``, ``t``, ``F``, or ``F, combined`` over strata by Fisher's method.
    statistic : float
    df : int
        Its degrees of freedom; for ``t`` one.
    df_residual : float or None
        Those of the residuals, for ``t`` and ``F``.
    deviance : float
        Twice the log of the likelihood ratio, the same measure for all tests.
    deviance_df : int
        The degrees of freedom of the deviance; those of the statistic but for ``F, combined``.
    p_value : float
    n_draws : int
        Tables that were drawn to find the p-value; 0 where a distribution is known.
    is_rough : bool
        Whether expected counts are small and yet no tables could be drawn.
    """

    by: str
    statistic: float
    df: int
    df_residual: float | None
    deviance: float
    deviance_df: int
    p_value: float
    n_draws: int = 0
    is_rough: bool = False
