"""Generalised iterative scaling: w ← w + log(α / E_w[f]) / C, every weight at once.

Features are taken from their least value and in units of their range, f′ = (f − min f) / (max f − min f), which changes
nothing but Z and the scale of the weights; C is the largest value of Σ f′. Where Σ f′ is less, the missing part is a
feature of its own, the slack. Its weight w₀ adds w₀ (C − Σ f′), that is −w₀ to every other weight and a constant: the
slack is a shift, and is never tabulated.
"""

from __future__ import annotations

import numpy as np

from suffice.errors import EstimationError, Remedy, Text
from suffice.learn.feature_matching import FeatureMatching
from suffice.learn.weights import FoundWeights
from suffice.optimise.outcome import MORE_STEPS, Stop
from suffice.types import Floats

SLOW = Text("iterative scaling is slow; ", MORE_STEPS, ", or use ", Remedy("method", "lbfgs"), ".")
SLACK = 1e-12
"""A slack whose mean is less than this share of C is none."""


def gis(matching: FeatureMatching) -> FoundWeights:
    """Scale all weights at once; the likelihood never falls."""
    problem, free = matching.problem, matching.free
    low, unit = matching.reach.low[free], matching.reach.unit
    if matching.origin is not None:
        raise EstimationError(
            "Iterative scaling needs bounded features, and the support of a variable has no end. Use ",
            Remedy("method", "lbfgs"),
            ".",
        )
    ceiling, how = matching.reach.largest_sum(free / unit)
    unit = unit[free]
    remark = f"Scaled by C = {ceiling:g}, {how}."
    x, objectives = np.array(matching.start), list[float]()
    wanted = (matching.targets[free] - low) / unit
    if ceiling <= 0:
        return FoundWeights(matching.weights(x), (), Stop.CONVERGED, remarks=(remark,))
    value, slope, point = matching.smooth(x)
    for _ in problem.watch.steps("iterative scaling", problem.max_iter):
        if matching.matches(slope):
            break
        x = x + _step(wanted, (point.expected[free] - low) / unit, ceiling) / unit
        value, slope, point = matching.smooth(x)
        objectives.append(matching.gain(value))
    stop = Stop.CONVERGED if matching.matches(slope) else Stop.OUT_OF_STEPS
    return FoundWeights(matching.weights(x), tuple(objectives), stop, SLOW, (remark,))


def _step(wanted: Floats, found: Floats, ceiling: float) -> Floats:
    """Return the change of the weights, the slack's part taken from each."""
    tiny = np.finfo(np.float64).tiny
    step: Floats = np.log(np.maximum(wanted, tiny) / np.maximum(found, tiny)) / ceiling  # eq gis-step
    slack_wanted, slack_found = ceiling - float(wanted.sum()), ceiling - float(found.sum())
    if min(slack_wanted, slack_found) > SLACK * ceiling:
        step = step - np.log(slack_wanted / slack_found) / ceiling
    return step
