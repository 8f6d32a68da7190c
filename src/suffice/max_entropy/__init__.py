"""maxent: the distribution nearest to a base measure among those with given expectations or margins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suffice.data.schema import SchemaLike
from suffice.errors import ArgumentError, Remedy
from suffice.families.choice import choose
from suffice.max_entropy import expectations, margins
from suffice.progress import Display, watch_for
from suffice.result.fit import Fit
from suffice.solving import checked_settings, finish
from suffice.structures.features import Features


def maxent(
    structure: Any,
    targets: Any = None,
    *,
    over: SchemaLike | None = None,
    base: Any = None,
    prior: Any = None,
    method: str = "auto",
    init: Any = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    seed: int | None = None,
    progress: bool | Display = False,
    options: Mapping[str, Any] | None = None,
) -> Fit:
    """Find the distribution of least divergence from a base measure that has given expectations or margins.

    Parameters
    ----------
    structure : Features, Cliques, or what `Cliques` reads
        The features whose expectations are given, or the sets of variables whose margins are.
    targets : mapping, sequence, model or table
        For features: one number each, in order or by name; a model, whose expectations are taken; or data, as a table
        or as the `Statistics` of ``sf.collect``. For cliques: tables by clique, ``{("A", "B"): [[…]]}`` or
        ``{"A:B": …}``; one table a clique, in order; or a model. Counts or probabilities, of one total.
    over : mapping, optional
        The states of every discrete variable, unless labelled tables, a base, a model or data tell them.
    base : LabelledTable, array, model, function, or sequence of LabelledTable, optional
        The base measure h(x), not negative: zeros are impossible configurations. An array has one axis a variable, in
        the order of ``structure.variables``; a function gets their values in that order, and is for features. Without
        it, h is uniform and the result has the greatest entropy.
    prior : Penalty, optional
        Such as ``sf.Gaussian(1.0)``: then targets are met approximately, the less the more it costs, and they may
        contradict each other. Where margins differ on variables that they share, their mean is what is asked for.
    method, init, tol, max_iter, seed, progress, options
        As in `fit`.

    Returns
    -------
    Fit
        Its ``log_likelihood`` is T · E[log p/h] under the targets, T being their total (one for expectations), and its
        certificate shows the largest distance from a target and, for features, the dual value with its gap.

    Raises
    ------
    EstimationError
        When no distribution has these expectations or margins and there is no penalty; the message names what
        contradicts each other.

    Examples
    --------
    A die that shows 4.5 points in the mean, and nothing else is known (Jaynes, 1962):

    >>> import suffice as sf
    >>> fit = sf.maxent(sf.Features([sf.product("points")]), [4.5], over={"points": [1, 2, 3, 4, 5, 6]})
    >>> fit.model.query("points").values.round(4).tolist()
    [0.0544, 0.0788, 0.1142, 0.1654, 0.2398, 0.3475]

    A survey scaled to the margins of a census:

    >>> survey = [[40.0, 30.0], [20.0, 10.0]]
    >>> census = {"sex": [50, 50], "age": [60, 40]}
    >>> fit = sf.maxent("sex + age", census, base=survey, over={"sex": ["f", "m"], "age": ["-40", "41-"]})
    >>> print(fit.model.query(["sex", "age"]))
         age
    sex     -40     41-
    ---  ------  ------
    f    0.2758  0.2242
    m    0.3242  0.1758
    >>> fit.certificate.ok
    True
    """
    if isinstance(structure, Features):
        posed = expectations.problem_of(structure, targets, over, base)
    else:
        posed = margins.problem_of(structure, targets, over, base, prior)
    name, chosen = choose(posed.structure, method, posed.statistics.schema, prior=prior, base=posed.base)
    if not chosen.exact and not posed.statistics.n_read:
        raise ArgumentError(
            f"The method {name!r} looks at rows of data, and targets by hand have none. Use ",
            Remedy("method", "auto"),
            ", or pass data as targets.",
        )
    settings = checked_settings(
        posed.structure,
        name,
        chosen,
        prior=prior,
        point=None,
        unseen_parents="error",
        fixed=None,
        init=init,
        tol=tol,
        max_iter=max_iter,
        seed=seed,
        options=options,
        certify="statistics",
    )
    settings["base"] = posed.base
    return finish(posed.structure, posed.statistics, None, name, chosen, watch_for(progress), settings)
