"""check: whether a structure is credible, not only optimised.

A certificate proves that parameters are the best for a structure. Here the structure itself is put to the data: every
independence that it implies is tested, all tests are counted, and tables drawn from the fitted model say how far from
its claims chance alone would go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.checking.bootstrap import Bootstrap, affordable, bootstrapped
from suffice.checking.outcome import IndependenceOutcome
from suffice.checking.questions import Questions, Untested, questions_of, require_checkable
from suffice.checking.result import ClaimTest, EdgeTest, StructureCheck, families_of, sentence
from suffice.checking.tables import MOST_DRAWS
from suffice.checking.ways import Way
from suffice.data.schema import Schema, SchemaLike
from suffice.data.table import Weights
from suffice.errors import (
    EstimationError,
    ModelError,
    StatisticsError,
    Text,
    require_choice,
    require_fraction,
    require_seed,
    require_whole,
)
from suffice.families.choice import choose, methods_for
from suffice.fitting import estimate, fit
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.opening import open_source
from suffice.progress import Display, Watch, watch_for
from suffice.result.fit import Fit
from suffice.result.likelihood_ratio import likelihood_ratio
from suffice.settings import one_blas_thread
from suffice.stats.needs import Need
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG
from suffice.structures.structure import Structure
from suffice.text import plural
from suffice.types import TableLike
from suffice.values import UnseenParents

EDGE_DRAWS = 199
"""Most tables that are drawn to see whether an edge is needed."""
TESTS, EDGES = 2, 3
"""The second half of the key of random numbers; tables of the bootstrap have others."""


def check(
    structure: Structure,
    data: TableLike,
    *,
    level: float = 0.05,
    bootstrap: int | None = None,
    seed: int | None = 0,
    weights: Weights = None,
    schema: SchemaLike | None = None,
    missing: str = "error",
    unknown_states: str = "error",
    method: str = "auto",
    max_tests: int = 10_000,
    progress: bool | Display = False,
) -> StructureCheck:
    """Test whether the data contradict what a structure implies.

    Parameters
    ----------
    structure : structure
        A `DAG`, `Cliques`, `GaussianMarkov`, `Ising`, `Potts`, `Boltzmann` or `Features`.
    data : table
        As in `suffice.fit`.
    level : float
        The chance of contradicting a structure that is right, over all tests together.
    bootstrap : int, optional
        How many tables to draw from the fitted model. Otherwise 200, or fewer where that would take more than seconds;
        0 draws none.
    seed : int, optional
        Of the random numbers.
    weights, schema, missing, unknown_states, method, progress
        As in `suffice.fit`; rows with missing values are an error or dropped.
    max_tests : int
        The most independences that are tested; those of variables that are near each other go first.

    Returns
    -------
    StructureCheck

    Notes
    -----
    Discrete variables are tested by G² on the degrees of freedom of the states that occur; where expected counts are
    below five, against tables drawn with the same margins. Normal variables are tested by partial correlations, mixed
    ones by F tests of regressions. Holm's method (1979) adjusts for the number of tests. With a bootstrap two questions
    are asked, claim by claim and all together, and each has half of the level: adjusted p are doubled.

    Examples
    --------
    >>> import suffice as sf
    >>> table = sf.Contingency([[[512, 313], [89, 19]], [[120, 205], [202, 391]]],
    ...                        {"dept": ["A", "C"], "sex": ["m", "f"], "in": ["yes", "no"]})
    >>> found = sf.check(sf.DAG("sex -> dept -> in"), table, bootstrap=0)
    >>> found.ok
    False
    >>> print(found.verdict)
    The structure is contradicted: in is not independent of sex given dept (p = 0.0001, adjusted; 1 test, Holm).
    """
    level, seed = require_fraction("level", level), require_seed(seed)
    n_tables = None if bootstrap is None else require_whole("bootstrap", bootstrap)
    most = require_whole("max_tests", max_tests, 1)
    require_choice("missing", missing, ("error", "drop"))
    methods_for(structure)
    require_checkable(structure)
    watch = watch_for(progress)
    reading: dict[str, Any] = {"weights": weights, "missing": missing, "unknown_states": unknown_states}
    source = open_source(structure, data, watch, schema=schema, learns=False, **reading)
    asked = questions_of(structure, source.schema, most)
    needs, is_own = _fit_needs(structure, source.schema, method)
    statistics = source.gather([*needs, *asked.needs, *_closure_needs(asked, source.schema)])
    if is_own:
        fitted = estimate(structure, statistics, method=method, unseen_parents=_unseen(structure, source.schema))
    else:
        fitted = fit(structure, data, method=method, schema=schema, progress=progress, seed=seed, **reading)
    with one_blas_thread():
        return _judged(fitted, statistics, asked, level, n_tables, seed, watch)


def _fit_needs(structure: Structure, schema: Schema, method: str) -> tuple[Sequence[Need], bool]:
    """Return what the fit needs, and whether it is made from statistics alone."""
    if structure.latent:
        return (), False
    chosen = choose(structure, method, schema)[1]
    return (chosen.needs(structure, schema), True) if chosen.passes == "one" else ((), False)


def _closure_needs(asked: Questions, schema: Schema) -> Sequence[Need]:
    """Return what a fit with all interactions of the graph needs; nothing where there is no such fit."""
    if asked.closure is None:
        return ()
    try:
        return choose(asked.closure, "auto", schema)[1].needs(asked.closure, schema)
    except EstimationError:  # the graph is too wide; `_interactions` says so
        return ()


def _unseen(structure: Structure, schema: Schema) -> UnseenParents:
    """Numbers have no uniform distribution."""
    is_table = all(schema[name].is_discrete for name in structure.columns)
    return "uniform" if isinstance(structure, DAG) and is_table else "nan"


# Judging ------------------------------------------------------------------------------------------------------


def _judged(
    fitted: Fit,
    statistics: Statistics,
    asked: Questions,
    level: float,
    n_tables: int | None,
    seed: int | None,
    watch: Watch,
) -> StructureCheck:
    outcomes, idle = _outcomes(asked.ways, statistics, seed, TESTS, watch, MOST_DRAWS)
    remarks = list(asked.remarks)
    found, said = _bootstrap(fitted, list(outcomes), statistics, n_tables, seed, watch)
    remarks += said
    rows = [(way.claim.scope, str(way.claim), way.claim.denial, outcome) for way, outcome in outcomes.items()]
    if asked.closure is not None:
        row, remark = _interactions(fitted, asked, statistics)
        rows += [row] if row else []
        remarks += [remark] if remark else []
    share = 1 if found is None else 2
    adjusted = holm([outcome.p_value for *_, outcome in rows], share)
    tests = [
        _test(scope, claim, denial, outcome, p, statistics.weight, level)
        for (scope, claim, denial, outcome), p in zip(rows, adjusted, strict=True)
    ]
    # Of equal p-values, many of which are zero or one, the larger departure is the worse one.
    ordered = tuple(sorted(tests, key=lambda test: (test.p_value, -test.deviance)))
    remarks += _on_tests([outcome for *_, outcome in rows])
    ok, verdict = sentence(ordered, found, level, 1.0 if found is None else min(1.0, share * found.p_value))
    edges = _edges(asked, statistics, level, seed, watch)
    families = families_of(ordered, asked.parents)
    untested = (*asked.untested, *idle)
    return StructureCheck(ok, level, verdict, ordered, untested, families, edges, found, fitted, tuple(remarks))


def _outcomes(
    ways: Sequence[Way], statistics: Statistics, seed: int | None, part: int, watch: Watch, most: int
) -> tuple[dict[Way, IndependenceOutcome], list[Untested]]:
    """Return what each test found, and what there was nothing to test of."""
    found: dict[Way, IndependenceOutcome] = {}
    idle = []
    with watch.work("testing", len(ways), "tests"):
        for position, way in enumerate(ways):
            outcome = way.outcome(statistics, _stream(seed, part, position), most)
            if isinstance(outcome, str):
                idle.append(Untested(way.claim, outcome))
            else:
                found[way] = outcome
            watch.advance(1)
    return found, idle


def _stream(seed: int | None, part: int, position: int) -> np.random.Generator:
    """Return random numbers that depend on the test's own position alone."""
    if seed is None:
        return np.random.default_rng()
    return np.random.Generator(np.random.Philox(key=np.array([seed, (part << 32) + position], np.uint64)))


def holm(p_values: Sequence[float], share: int = 1) -> list[float]:
    """Adjust p-values for their number (Holm, 1979), ``share`` such lists having the level together.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    found, largest = [0.0] * len(p_values), 0.0
    for rank, position in enumerate(order):
        largest = max(largest, share * (len(p_values) - rank) * p_values[position])
        found[position] = min(1.0, largest)
    return found


def _test(
    scope: tuple[str, ...],
    claim: str,
    denial: str,
    outcome: IndependenceOutcome,
    p_adjusted: float,
    n: float,
    level: float,
) -> ClaimTest:
    first, second, *given = scope if scope else ("", "")
    return ClaimTest(
        claim=claim,
        denial=denial,
        first=first,
        second=second,
        given=tuple(given),
        by=outcome.by,
        statistic=outcome.statistic,
        df=outcome.df,
        df_residual=outcome.df_residual,
        deviance=outcome.deviance,
        deviance_df=outcome.deviance_df,
        information=outcome.deviance / (2 * n),
        p_value=outcome.p_value,
        p_adjusted=p_adjusted,
        n_draws=outcome.n_draws,
        is_contradicted=p_adjusted < level,
    )


def _on_tests(outcomes: Sequence[IndependenceOutcome]) -> list[str]:
    """Say what the p-values are from where expected counts are small."""
    ways = (
        (sum(one.n_draws > 0 for one in outcomes), "p-values there are from tables drawn with the same margins."),
        (sum(one.is_rough for one in outcomes), "no tables with such margins can be drawn, and p-values are rough."),
    )
    of = plural(len(outcomes), "test")
    return [f"Expected counts are below five in {n:,} of {of}; {said}" for n, said in ways if n]


def _bootstrap(
    fitted: Fit, ways: list[Way], statistics: Statistics, n_tables: int | None, seed: int | None, watch: Watch
) -> tuple[Bootstrap | None, list[str]]:
    if not ways or n_tables == 0:
        return None, []
    cpds = fitted.model.cpds if isinstance(fitted.model, BayesianNetwork) else ()
    if any(isinstance(cpd, LinearGaussianCPD) and cpd.unknown.any() for cpd in cpds):
        return None, ["No tables were drawn: some regressions of the fitted model are not known, for lack of rows."]
    if n_tables is None:
        n_tables = affordable(fitted.model, ways, statistics.weight)
        if not n_tables:
            return None, [
                "No tables were drawn from the fitted model, which would take long here; ask with bootstrap=…"
            ]
    try:
        return bootstrapped(fitted.model, ways, statistics, n_tables, seed, watch), []
    except ModelError as error:  # no rows can be drawn from so wide a graph
        return None, [Text("No tables were drawn from the fitted model. ", error.message)]


def _interactions(
    fitted: Fit, asked: Questions, statistics: Statistics
) -> tuple[tuple[tuple[str, ...], str, str, IndependenceOutcome] | None, str]:
    """Test the model against all interactions that its graph allows."""
    assert asked.closure is not None
    try:
        found = likelihood_ratio(fitted, estimate(asked.closure, statistics))
    except (EstimationError, StatisticsError, ModelError) as error:
        return None, Text("Interactions beyond the model's are not tested. ", error.message)
    if not found.df:
        return None, ""
    outcome = IndependenceOutcome("G²", found.G2, found.df, None, found.G2, found.df, found.p_value)
    return ((), "no further interactions", "the data have interactions that the model leaves out", outcome), ""


def _edges(
    asked: Questions, statistics: Statistics, level: float, seed: int | None, watch: Watch
) -> tuple[EdgeTest, ...]:
    """Test every edge for itself; the one with the largest p comes first."""
    found = []
    for way, outcome in _outcomes(asked.edges, statistics, seed, EDGES, watch, EDGE_DRAWS)[0].items():
        child, parent = way.claim.first, way.claim.second
        ends = (parent, child) if asked.parents is not None else (child, parent)
        found.append(
            EdgeTest(
                (" -> " if asked.parents is not None else " - ").join(ends),
                *ends,
                way.claim.given,
                outcome.by,
                outcome.statistic,
                outcome.df,
                outcome.p_value,
                outcome.p_value < level,
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.p_value, abs(one.statistic))))
