"""Independence of continuous variables: partial correlations, and regressions within the strata of discrete ones.

======  ===============================================================================================
T       scatter matrix of the rows, Σ w (x − m)(x − m)ᵀ
RSS     residual squares of a regression, a Schur complement of T
r       partial correlation; t = r √(ν / (1 − r²)) on ν = N − 2 − k degrees of freedom, k variables being given
F       (RSS₀ − RSS₁)/q over RSS₁/ν; exact where residuals are normal with one variance in a stratum
======  ===============================================================================================
"""

from __future__ import annotations

import math

import numpy as np

from suffice.checking.outcome import IndependenceOutcome
from suffice.stats.moments import Moments
from suffice.types import Floats

DEPENDENT = 1e-10
"""The share of a variance below which a variable counts as a linear function of others."""


def partial_correlation(
    moments: Moments, first: str, second: str, given: tuple[str, ...]
) -> IndependenceOutcome | None:
    """Test whether two normal variables are uncorrelated given others; None where one is a function of the others.

    Examples
    --------
    >>> from suffice.data.variable import Variable
    >>> rows = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 4.0], [5.0, 6.0]])
    >>> found = partial_correlation(Moments.of_rows((Variable("x"), Variable("y")), rows), "x", "y", ())
    >>> round(found.statistic, 4), found.df_residual, round(found.p_value, 4)
    (2.6679, 3.0, 0.0758)
    """
    from scipy.special import stdtr

    freedom = float(moments.weight) - 2 - len(given)
    names = [variable.name for variable in moments.variables]
    places = [names.index(name) for name in (first, second, *given)]
    left = _left(moments.scatter[np.ix_(places, places)], 2)
    if freedom < 1 or left is None:
        return None
    r = float(np.clip(left[0, 1] / math.sqrt(left[0, 0] * left[1, 1]), -1.0, 1.0))
    unexplained = (1.0 - r) * (1.0 + r)
    if unexplained <= DEPENDENT:
        t, g2, p = math.copysign(math.inf, r), math.inf, 0.0
    else:
        t = r * math.sqrt(freedom / unexplained)  # eq partial-correlation
        g2, p = -float(moments.weight) * math.log(unexplained), 2.0 * float(stdtr(freedom, -abs(t)))
    return IndependenceOutcome("t", t, 1, freedom, g2, 1, min(p, 1.0))


def _left(scatter: Floats, n_kept: int) -> Floats | None:
    """Return the scatter of the first variables that the others leave; None where nothing of one is left."""
    size = np.sqrt(np.diagonal(scatter))
    if (size <= 0).any():
        return None
    unit = scatter / size / size[:, None]
    inside, across = unit[n_kept:, n_kept:], unit[n_kept:, :n_kept]
    try:
        found: Floats = unit[:n_kept, :n_kept] - across.T @ np.linalg.solve(inside, across)
    except np.linalg.LinAlgError:
        return None
    if (np.diagonal(found) <= DEPENDENT).any() or not np.isfinite(found).all():
        return None
    return found * size[:n_kept] * size[:n_kept, None]


# Strata of discrete variables ---------------------------------------------------------------------------------


def regressed(moments: Moments, n_strata_axes: int) -> IndependenceOutcome | None:
    """Test whether a variable adds to the regression of another, in every stratum by itself.

    Parameters
    ----------
    moments : Moments
        The first of the continuous variables is the response. Its first ``n_strata_axes`` discrete ones make the
        strata. What may add is the discrete variable after these, if there is one, whose states may then shift the
        mean, and the last of the continuous ones otherwise.

    Returns
    -------
    IndependenceOutcome or None
        None where no stratum has rows to spare.
    """
    from scipy.special import chdtrc, chdtri, fdtrc

    grouped = len(moments.by) > n_strata_axes
    found = []
    for before, after, gained, n, freedom, least in _residuals(moments, n_strata_axes, grouped):
        f = math.inf if after <= 0 else (before - after) / gained / (after / freedom)
        g2 = float(chdtri(gained, least)) if after <= 0 else n * math.log(before / after)
        found.append((f, gained, freedom, g2, float(fdtrc(gained, freedom, f)) if math.isfinite(f) else least))
    if not found:
        return None
    total, total_df = float(sum(one[3] for one in found)), sum(one[1] for one in found)
    if len(found) == 1:
        f, gained, freedom, _, p = found[0]
        return IndependenceOutcome("F", f, gained, freedom, total, total_df, p)
    fisher = -2.0 * sum(math.log(max(one[4], 1e-300)) for one in found)
    p = float(chdtrc(2 * len(found), fisher))
    return IndependenceOutcome("F, combined", fisher, 2 * len(found), None, total, total_df, p)


def _residuals(
    moments: Moments, n_strata_axes: int, grouped: bool
) -> list[tuple[float, float, int, float, float, float]]:
    """Return what regressions leave in each stratum.

    That is the residual squares without and with what may add, the parameters that it brings, the rows, the degrees
    of freedom that are left, and p where no squares are left: where groups have one number each, the chance that rows
    which were dealt to the groups at random are sorted so well, since rounded numbers often are in a few rows.
    """
    from scipy.special import gammaln

    p = len(moments.variables)
    n_strata = math.prod(moments.weight.shape[:n_strata_axes])
    weight = moments.weight.reshape(n_strata, -1)
    mean, scatter = moments.mean.reshape(n_strata, -1, p), moments.scatter.reshape(n_strata, -1, p, p)
    found = []
    for stratum in range(n_strata):
        present = weight[stratum] > 0
        w, m = weight[stratum][present], mean[stratum][present]
        n, n_groups = float(w.sum()), int(present.sum())
        if not n_groups:
            continue
        within = scatter[stratum][present].sum(axis=0)
        centred = m - w @ m / n
        whole = within + (centred * w[:, None]).T @ centred
        n_given = p - 1 if grouped else p - 2
        gained = n_groups - 1 if grouped else 1
        freedom = n - n_given - 1 - gained
        if not gained or freedom < 1:
            continue
        before = _squares(whole[: n_given + 1, : n_given + 1])
        is_sorted = grouped and within[0, 0] <= DEPENDENT * whole[0, 0]
        after = 0.0 if is_sorted else _squares(within if grouped else whole)
        if before is None or after is None or before <= DEPENDENT * whole[0, 0]:
            continue
        least = math.exp(float(gammaln(w + 1).sum() - gammaln(n + 1))) if is_sorted else 0.0
        found.append((before, max(0.0, min(after, before)), gained, n, freedom, least))
    return found


def _squares(scatter: Floats) -> float | None:
    """Return the residual squares of the first variable on the others; None where these depend on each other."""
    if scatter[0, 0] <= 0:
        return None
    if len(scatter) == 1:
        return float(scatter[0, 0])
    size = np.sqrt(np.diagonal(scatter)[1:])
    if (size <= 0).any():
        return None
    inside = scatter[1:, 1:] / size / size[:, None]
    if np.linalg.eigvalsh(inside)[0] <= DEPENDENT:
        return None
    across = scatter[1:, 0] / size
    return float(scatter[0, 0] - across @ np.linalg.solve(inside, across))
