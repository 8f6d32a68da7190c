"""The deviance of a normal model against the one without any zeros in its precision matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.errors import EstimationError, listing
from suffice.models.joint_normal import JointNormal
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment
from suffice.stats.statistics import Statistics
from suffice.text import html_text, plural

ZERO = 1e-12
"""Entries of a precision matrix below this, relative to its diagonal, are what rounding leaves of zero."""


@dataclass(frozen=True)
class Deviance:
    """A likelihood-ratio test of a model against a larger one.

    Attributes
    ----------
    G2 : float
        Twice the difference of the log-likelihoods.
    df : int
        The difference of the numbers of free parameters.
    p_value : float
        The probability of a larger value under the model, by the χ² distribution that holds for large samples;
        one where the models are the same.
    """

    G2: float
    df: int
    p_value: float

    def __str__(self) -> str:
        return f"G² = {self.G2:.4f} on {plural(self.df, 'degree')} of freedom, p = {self.p_value:.4g}"

    def _repr_html_(self) -> str:
        return html_text(str(self))


def deviance(model: JointNormal, statistics: Statistics | Moments) -> Deviance:
    """Compare a normal model with the saturated one, which has no zeros in its precision matrix.

    Parameters
    ----------
    model : JointNormal
    statistics : Statistics or Moments
        Of the data, with the moments of all variables of the model.

    Notes
    -----
    G² = N (tr(K S) − log det(K S) − p + (x̄ − μ)ᵀ K (x̄ − μ)), where S has the divisor N. The degrees of freedom are
    the zeros of K above its diagonal.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"x": [1.0, 2.0, 4.0, 7.0, 5.0], "y": [1.0, 3.0, 3.0, 6.0, 4.0], "z": [0.0, 2.0, 1.0, 1.0, 4.0]}
    >>> fit = sf.fit(sf.GaussianMarkov("x:y + y:z"), data)
    >>> print(deviance(fit.model, fit.statistics))
    G² = 0.0037 on 1 degree of freedom, p = 0.9512
    """
    from scipy.special import chdtrc

    moments = statistics if isinstance(statistics, Moments) else _moments_of(model, statistics)
    moments = moments.marginal(model.names)
    covariance = moments.covariance
    sign, log_det = np.linalg.slogdet(covariance)
    roots = np.sqrt(np.diag(covariance))
    with np.errstate(divide="ignore", invalid="ignore"):
        smallest = float(np.linalg.eigvalsh(covariance / roots[:, None] / roots)[0]) if (roots > 0).all() else 0.0
    if not (sign > 0 and smallest > ZERO):
        raise EstimationError(
            f"The saturated model of {listing(model.names)} has no estimate, for the covariance matrix of the data is "
            "singular. Compare with a smaller model, or collect more rows than there are variables."
        )
    gap = moments.mean + moments.rest - model.mean
    product = float((model.precision * covariance).sum()) + float(gap @ model.precision @ gap)
    log_det_k = float(np.linalg.slogdet(model.precision)[1])
    weight = float(moments.weight)
    g2 = max(0.0, weight * (product - log_det_k - float(log_det) - len(model.names)))
    df = int((np.abs(np.triu(model.partial_correlations, 1)) <= ZERO).sum()) - _below(len(model.names))
    return Deviance(g2, df, float(chdtrc(df, g2)) if df else 1.0)


def _moments_of(model: JointNormal, statistics: Statistics) -> Moments:
    for need, statistic in statistics.items():
        if isinstance(statistic, Moments) and isinstance(need, Moment):
            is_of_all = not need.by and set(need.xs).issuperset(model.names)
            if is_of_all:
                return statistic
    return statistics[Moment(model.names)]  # raises, and says what there is


def _below(p: int) -> int:
    """Return how many entries of a matrix lie on and below its diagonal."""
    return p * (p + 1) // 2
