"""fit, collect, estimate: the whole spine on one screen.

``fit(structure, data)`` is ``estimate(structure, collect(structure, data))`` for methods that need one pass over the
data; for the others the source goes along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, cast

from suffice.data.schema import SchemaLike
from suffice.data.table import Weights
from suffice.errors import ArgumentError, Mention, Remedy, Text, also
from suffice.families.choice import choose, methods_for
from suffice.learn.method import Method
from suffice.models.model import M
from suffice.opening import EM, open_source
from suffice.priors.binding import one_prior
from suffice.progress import Display, watch_for
from suffice.result.fit import Fit
from suffice.solving import checked_settings, finish
from suffice.stats.available import AVAILABLE, lack_rows
from suffice.stats.source import Source
from suffice.stats.statistics import Statistics
from suffice.structures.structure import S, Structure
from suffice.types import PathLike, TableLike
from suffice.values import CertifyBy, Damaged, Missing, UnknownStates, UnseenParents

F = TypeVar("F", bound=Fit)


def fit(
    structure: Structure[F],
    data: TableLike,
    *,
    prior: Any = None,
    point: Literal["mean", "map"] | None = None,
    method: str = "auto",
    weights: Weights = None,
    schema: SchemaLike | None = None,
    missing: Missing = "error",
    unknown_states: UnknownStates = "error",
    unseen_parents: UnseenParents = "error",
    fixed: Mapping[str, Any] | None = None,
    init: Any = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    seed: int | None = None,
    restarts: int | None = None,
    checkpoint: PathLike | None = None,
    progress: bool | Display = False,
    certify: CertifyBy = "statistics",
    options: Mapping[str, Any] | None = None,
) -> F:
    """Learn the parameters of a structure from a table.

    Parameters
    ----------
    structure : structure
        What is known before the data: a `DAG`, `Cliques`, `Features`, `Ising`, `Boltzmann`, `Potts`, `GaussianMarkov`,
        `MarkovChain`, `Autoregression`, `Normal`, `MultivariateNormal`, `Bernoulli`, `Categorical` or `Hypotheses`.
    data : table
        A pandas, Polars or PyArrow table, a dict of columns, a contingency table, or a stream: a path, glob or folder
        of CSV or Parquet files, a PyArrow dataset or reader, a Polars lazy frame, a DuckDB relation.
    prior : Prior, optional
        Without one the fit is by maximum likelihood. A list gives each kind of node its own, and None in it leaves the
        other nodes to maximum likelihood; so does a mapping from nodes to priors, ``{"A": sf.BDeu(10)}``.
    point : {"mean", "map"}, optional
        The estimate under a prior: the posterior mean (default where the prior is conjugate) or the mode.
    method : str
        ``"auto"`` takes the first exact method.
    weights : str or sequence, optional
        Frequencies of the rows, or the column that holds them; N is their sum.
    schema : mapping, optional
        Declarations such as ``{"grade": sf.categorical(["a", "b"]), "age": sf.continuous()}``.
    missing : {"error", "drop", "em", "available"}
        What to do with rows that lack a value. ``"em"`` maximises the likelihood of what was observed, by
        expectation-maximisation. ``"available"`` learns each parameter from the rows that have its columns: each
        family of a network, a node with its parents, from the rows that have all of it. It is for structures whose
        likelihood is a product of such parts, and others refuse it.
    unknown_states : {"error", "missing"}
        What to do with values outside the declared states.
    unseen_parents : {"error", "uniform", "nan"}
        What to do with parent configurations without data under maximum likelihood.
    fixed : mapping, optional
        Tables, or rows of tables, that an expert gives and that are left alone.
    init, tol, max_iter, seed, options
        Settings of iterative methods; ``tol`` is also the certificate's tolerance.
    restarts : int, optional
        How often a method that may end in a local optimum begins; the best end is kept, and all are listed.
    checkpoint : path, optional
        A file in which such a method keeps what it has found so far; a fit that finds it goes on from there.
    progress : bool or Display
        Show a progress bar.
    certify : {"statistics", "data"}
        ``"data"`` also repeats the pass over the data.

    Returns
    -------
    Fit
        The model, its certificate, and everything that is known about it.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"rain": ["no", "no", "no", "yes"], "wet": ["no", "no", "yes", "yes"]}
    >>> fit = sf.fit(sf.DAG("rain -> wet"), data)
    >>> fit.model.cpd("wet").table[{"rain": "no", "wet": "yes"}]
    0.3333333333333333
    >>> fit.certificate.ok
    True
    """
    methods_for(structure)
    prior = one_prior(prior)
    watch = watch_for(progress)
    source = open_source(
        structure, data, watch, weights=weights, schema=schema, missing=missing, unknown_states=unknown_states
    )
    name, chosen = choose(structure, method, source.schema, prior=prior, point=point, gaps=missing == EM)
    _require_policy(missing, name, chosen)
    settings = checked_settings(
        structure,
        name,
        chosen,
        prior=prior,
        point=point,
        unseen_parents=unseen_parents,
        fixed=fixed,
        init=init,
        tol=tol,
        max_iter=max_iter,
        seed=seed,
        restarts=restarts,
        checkpoint=checkpoint,
        options=options,
        certify=certify,
    )
    statistics = source.gather(chosen.needs(structure, source.schema))
    return cast(F, finish(structure, statistics, source.settled(statistics.schema), name, chosen, watch, settings))


def collect(
    structure: Structure[F],
    data: TableLike,
    *,
    method: str = "auto",
    weights: Weights = None,
    schema: SchemaLike | None = None,
    missing: Missing = "error",
    unknown_states: UnknownStates = "error",
    checkpoint: PathLike | None = None,
    damaged: Damaged = "error",
    progress: bool | Display = False,
) -> Statistics:
    """Collect the statistics that a structure needs, in one pass; parts collected anywhere can be added.

    Parameters
    ----------
    structure, data, method, weights, schema, missing, unknown_states, progress
        As in `fit`.
    checkpoint : path, optional
        A file in which the pass over Parquet files keeps what is collected so far; a pass that was ended, even by
        ``kill -9``, goes on from there, and removes it at its end.
    damaged : {"error", "skip"}
        What to do with Parquet files that cannot be read: stop, or leave out the row groups that cannot be read, with a
        remark on each.

    Examples
    --------
    >>> import suffice as sf
    >>> dag = sf.DAG("A -> B")
    >>> parts = [{"A": ["x"], "B": ["u"]}, {"A": ["y"], "B": ["u"]}]
    >>> stats = sf.collect(dag, parts[0]) + sf.collect(dag, parts[1])
    >>> sf.estimate(dag, stats).n
    2.0
    """
    methods_for(structure)
    watch = watch_for(progress)
    source = open_source(
        structure,
        data,
        watch,
        weights=weights,
        schema=schema,
        missing=missing,
        unknown_states=unknown_states,
        checkpoint=checkpoint,
        damaged=damaged,
    )
    name, chosen = choose(structure, method, source.schema, gaps=missing == EM)
    _require_policy(missing, name, chosen)
    return source.gather(chosen.needs(structure, source.schema))


def estimate(
    structure: Structure[F],
    statistics: Statistics,
    *,
    prior: Any = None,
    point: Literal["mean", "map"] | None = None,
    method: str = "auto",
    unseen_parents: UnseenParents = "error",
    fixed: Mapping[str, Any] | None = None,
    init: Any = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    seed: int | None = None,
    restarts: int | None = None,
    checkpoint: PathLike | None = None,
    progress: bool | Display = False,
    certify: CertifyBy = "statistics",
    data: TableLike | None = None,
    weights: Weights = None,
    missing: Missing = "error",
    options: Mapping[str, Any] | None = None,
) -> F:
    """Estimate parameters from statistics that were collected before; see `fit` for the arguments.

    ``data`` (with its ``weights`` and ``missing``) is needed for ``certify="data"`` and for methods of many passes.
    """
    if not isinstance(statistics, Statistics):
        raise ArgumentError(
            f"The 'statistics' argument must come from sf.collect(…). Got {type(statistics).__name__} instead; "
            "to fit a table directly use sf.fit(structure, data)."
        )
    methods_for(structure)
    prior = one_prior(prior)
    watch = watch_for(progress)
    absent = [name for name in structure.columns if name not in statistics.schema]
    if absent:
        raise ArgumentError(
            f"The statistics know nothing of {absent[0]!r}; they are over {list(statistics.schema)}. "
            "Collect them for this structure: sf.collect(structure, data)."
        )
    name, chosen = choose(structure, method, statistics.schema, prior=prior, point=point, gaps=missing == EM)
    _require_policy(missing, name, chosen)
    settings = checked_settings(
        structure,
        name,
        chosen,
        prior=prior,
        point=point,
        unseen_parents=unseen_parents,
        fixed=fixed,
        init=init,
        tol=tol,
        max_iter=max_iter,
        seed=seed,
        restarts=restarts,
        checkpoint=checkpoint,
        options=options,
        certify=certify,
    )
    if missing != AVAILABLE:
        _require_whole_rows(structure, statistics, chosen)
    source: Source | None = None
    if data is not None:
        source = open_source(
            structure, data, watch, weights=weights, schema=statistics.schema.select(structure.columns), missing=missing
        )
    elif certify == "data" or chosen.passes == "many":
        what = "certificate" if certify == "data" else "method"
        instead = "" if certify == "data" or not chosen.instead else f" {chosen.instead}"
        raise ArgumentError(
            Mention(f"data of a {what}", f"The {what} needs the data itself; pass data=…"),
            f".{instead}",
        )
    return cast(F, finish(structure, statistics, source, name, chosen, watch, settings))


def _require_whole_rows(structure: Structure, statistics: Statistics, method: Method[S, M]) -> None:
    """Refuse to take the statistics of rows with gaps for those of complete ones."""
    learns = structure.reads_rows and any(one.incomplete for one in methods_for(structure).values())
    if learns and not method.incomplete and lack_rows(statistics):
        observed = Text(Remedy("missing", EM), " and ", Mention("data beside", "data=…"))
        at_once = Mention("fit by em", f"sf.fit(structure, data, missing={EM!r})")
        if structure.learns_available:
            what = Text(
                "As they were collected, pass here, too: ",
                Remedy("missing", AVAILABLE),
                ", which learns each family from the rows that have it",
                also(", or ", *observed.parts),
                "; or fit the data at once: ",
                at_once,
            )
        else:
            what = Text("Fit the data at once: ", at_once, also(", or pass ", *observed.parts))
        raise ArgumentError("The statistics are of rows that lack values. ", what, ".")


def _require_policy(missing: str, name: str, method: Method[S, M]) -> None:
    """Refuse to learn from the rows that have each family by a method that sums out what rows lack."""
    if missing == AVAILABLE and method.incomplete:
        raise ArgumentError(
            f"The method {name!r} maximises the likelihood of what was observed, which is missing={EM!r}. Pass that, "
            f"or leave the method out: missing={AVAILABLE!r} learns each family from the rows that have it."
        )
