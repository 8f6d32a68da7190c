"""compare: several models of the same data side by side, from one pass over its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from suffice.comparison import sequences
from suffice.comparison.candidates import (
    Candidate,
    GivenModel,
    Keywords,
    View,
    entries_of,
    require_comparable,
    require_probabilities,
)
from suffice.comparison.comparison import Comparison, by_name
from suffice.comparison.cross_validation import CrossValidation, cross_validate, fold_remarks
from suffice.comparison.fold_statistics import Gathered, Over, gather_folds
from suffice.comparison.folds import FoldedTable
from suffice.comparison.nested import NestedTest, nested_tests
from suffice.data.block import Table
from suffice.data.schema import Declaration, SchemaLike, declarations
from suffice.data.table import Weights, open_table
from suffice.data.variable import Variable
from suffice.engines import kind_of
from suffice.errors import ArgumentError, Remedy, listing, require_choice, require_seed, require_whole, the_argument
from suffice.opening import EM, LEARN, reading_of_gaps
from suffice.progress import Display, Watch, watch_for
from suffice.result.fit import Fit
from suffice.result.notes import Note, notes_on
from suffice.stats.available import AVAILABLE
from suffice.stats.needs import Need
from suffice.structures.structure import Structure
from suffice.text import plural
from suffice.types import TableLike
from suffice.values import Label


def compare(
    models: Mapping[str, Structure | Fit | Mapping[str, Any]],
    data: TableLike,
    *,
    folds: int | None = 10,
    seed: int = 0,
    prior: Any = None,
    point: str | None = None,
    method: str = "auto",
    weights: Weights = None,
    schema: SchemaLike | None = None,
    missing: str = "error",
    unknown_states: str = "error",
    unseen_parents: str = "error",
    tol: float = 1e-8,
    max_iter: int = 1000,
    restarts: int | None = None,
    progress: bool | Display = False,
) -> Comparison:
    """Compare models of the same variables on the same rows, directed and undirected ones side by side.

    Parameters
    ----------
    models : mapping from str to model
        Structures by name, such as ``{"chain": sf.DAG("A -> B"), "free": sf.Cliques("A + B")}``. A model with settings
        of its own is a mapping: ``{"structure": sf.DAG("A -> B"), "prior": sf.BDeu(1)}``; they may be ``prior``,
        ``point``, ``method``, ``unseen_parents``, ``fixed``, ``init``, ``tol``, ``max_iter``, ``seed``, ``restarts``
        and ``options``. A `Fit` stands for its structure, prior, point and method, and must be of the same rows.
    data : table
        Whatever `suffice.fit` takes, but data frames of Spark and Dask. With ``missing="drop"`` the rows that lack a
        value in any column of any model are left out for all.
    folds : int or None
        The number of folds of the cross-validation; None leaves it out.
    seed : int
        Decides which row is in which fold, and where random searches begin.
    prior, point, method, unseen_parents, tol, max_iter, restarts
        As in `suffice.fit`, for all models that do not set them themselves.
    weights, schema, missing, unknown_states, progress
        As in `suffice.fit`. Whole weights are so many rows, and are divided among the folds.

    Returns
    -------
    Comparison
        Log-likelihood, free parameters, AIC, BIC, log marginal likelihood and cross-validated log-likelihood of each
        model, their differences from the best, and likelihood-ratio tests of nested models.

    Notes
    -----
    The cross-validated log-likelihood is Σ_k ℓ_k: that of each fold under the model fitted to all others. Its standard
    error is N s / √K, s being the standard deviation of the fold means ℓ_k / n_k with divisor K − 1; that of a
    difference between models is the same of the differences, since both are scored on the same folds.

    Statistics are collected once, fold by fold. What a model is trained on is the sum of the other folds' statistics,
    and the fold that was held out is scored from its own, so that models with a closed form cost one pass over the
    data. Models of sequences are fitted anew for every fold, and each sequence is in one of them. A state or parent
    configuration that the other folds lack is treated as `suffice.fit` would: a row that is impossible then makes the
    score −∞, one whose probability is unknown is an error unless ``unseen_parents`` says otherwise.

    Examples
    --------
    >>> import suffice as sf
    >>> table = sf.Contingency([[30, 10], [12, 28]], {"A": ["x", "y"], "B": ["u", "v"]})
    >>> print(sf.compare({"free": sf.DAG("A; B"), "joined": sf.DAG("A -> B")}, table))
    2 models of 80 rows
    <BLANKLINE>
    model   log-likelihood  free     AIC   ΔAIC     BIC   ΔBIC
    ------  --------------  ----  ------  -----  ------  -----
    free           -110.80     2  225.61  14.85  230.37  12.47
    joined         -102.38     3  210.76   0.00  217.91   0.00
    <BLANKLINE>
    model   cross-validated  std. error      Δ  std. error of Δ
    ------  ---------------  ----------  -----  ---------------
    free            -112.54        0.66  -6.99             4.23
    joined          -105.55        4.24   0.00             0.00
    <BLANKLINE>
    model  inside       G²  df        p
    -----  ------  -------  --  -------
    free   joined  16.8475   1  <0.0001
    <BLANKLINE>
    AIC, BIC and cross-validation prefer 'joined'. The folds do not tell 'joined' and 'free' apart: they
      differ by 6.99, within two standard errors of 4.23.
    """
    n_folds = None if folds is None else require_whole("folds", folds, 2)
    own_seed = require_seed(seed) or 0
    common = {
        "prior": prior,
        "point": point,
        "method": method,
        "unseen_parents": unseen_parents,
        "fixed": None,
        "init": None,
        "tol": tol,
        "max_iter": max_iter,
        "seed": seed,
        "restarts": restarts,
        "options": None,
    }
    entries = entries_of(models, common)
    watch = watch_for(progress)
    reading = {"weights": weights, "schema": schema, "missing": missing, "unknown_states": unknown_states}
    sequential = any(not entry.structure.reads_rows for entry in entries)
    of_kind = _compare_sequences if sequential else _compare_rows
    return of_kind(entries, _at_hand(data), n_folds, own_seed, watch, reading)


def _at_hand(data: TableLike) -> TableLike:
    """Return data whose rows this process can read, since it divides them among the folds one by one."""
    kind = kind_of(data)
    if kind.is_at_hand:
        return data
    raise ArgumentError(
        f"The 'data' argument is {kind.wants}, and a comparison divides rows among folds in this process. Write "
        "them to Parquet files, and pass the path."
    )


def _compare_rows(
    entries: list[GivenModel], data: TableLike, n_folds: int | None, seed: int, watch: Watch, reading: Keywords
) -> Comparison:
    require_comparable(entries)
    missing = reading["missing"]
    table = _open(entries, data, reading)
    candidates = [Candidate.of(entry, table.schema, missing) for entry in entries]
    require_probabilities(candidates, table.schema)
    folded = FoldedTable(table, n_folds or 1, seed)
    gathered = _gathered(candidates, folded, watch)
    if n_folds is not None:
        _require_filled(gathered[candidates[0].name], n_folds)
    fits: dict[str, Fit] = {}
    for candidate in candidates:
        whole = gathered[candidate.name].whole
        fits[candidate.name] = candidate.fitted(whole, candidate.over(table, watch).settled(whole.schema), watch)
    found: dict[str, CrossValidation] = {}
    remarks: list[str] = []
    if n_folds is not None:
        found, remarks = cross_validate(candidates, folded, gathered, watch)
        remarks = fold_remarks(gathered[candidates[0].name]) + remarks
    free = {candidate.name: fits[candidate.name] for candidate in candidates if not candidate.settings["fixed"]}
    tests, same = nested_tests(free)
    notes = (*_notes(fits), *notes_on("folds", remarks), *_test_notes(tests, same))
    return Comparison(by_name(fits, found), next(iter(fits.values())).n, tests, notes)


def _open(entries: list[GivenModel], data: TableLike, reading: Keywords) -> Table:
    """Open one table with the columns of all models, each read in the same way for all."""
    structures = [entry.structure for entry in entries]
    if reading["missing"] == AVAILABLE:
        raise ArgumentError(
            the_argument("missing"),
            f" of a comparison must be 'error', 'drop' or {EM!r}. Got {AVAILABLE!r} instead: it "
            "learns each family from the rows that have it, so that models with other families would be scored on "
            "different rows.",
        )
    require_choice("missing", reading["missing"], ("error", "drop", EM))
    policies = {reading_of_gaps(structure, reading["missing"]) for structure in structures}
    declared: dict[str, Declaration | Variable | Iterable[Label]] = {}
    for structure in structures:
        declared |= structure.declared
    schema = {**declared, **declarations(reading["schema"])} if declared else reading["schema"]
    return open_table(
        data,
        tuple(dict.fromkeys(name for structure in structures for name in structure.columns)),
        schema=schema,
        continuous=frozenset().union(*(structure.continuous for structure in structures)),
        weights=reading["weights"],
        missing=policies.pop(),
        unknown_states=reading["unknown_states"],
        if_missing=LEARN,
    )


def _gathered(candidates: list[Candidate], table: FoldedTable, watch: Watch) -> dict[str, Gathered]:
    """Collect what all models need in one pass; models that look at the table alike share what they have in common."""
    views: dict[View, tuple[Over, dict[Need, None]]] = {}
    for candidate in candidates:
        _, needs = views.setdefault(candidate.view, (candidate.over, {}))
        needs.update(dict.fromkeys(candidate.needs))
    found = gather_folds(table, [(over, tuple(needs)) for over, needs in views.values()], watch)
    by_view = dict(zip(views, found, strict=True))
    return {candidate.name: by_view[candidate.view] for candidate in candidates}


def _require_filled(gathered: Gathered, n_folds: int) -> None:
    empty, n = sum(not part.weight for part in gathered.folds), gathered.whole.weight
    if empty:
        raise ArgumentError(
            f"The table has {plural(n, 'row')}, too few for {n_folds} folds: {plural(empty, 'fold')} "
            f"{'is' if empty == 1 else 'are'} empty. Pass fewer folds, or ",
            Remedy("folds", None),
            " to leave cross-validation out.",
        )


def _compare_sequences(
    entries: list[GivenModel], data: TableLike, n_folds: int | None, seed: int, watch: Watch, reading: Keywords
) -> Comparison:
    sequences.require_sequences(entries)
    fits = sequences.fitted(entries, data, watch, reading)
    found: dict[str, CrossValidation] = {}
    remarks: list[str] = []
    if n_folds is not None:
        found, remarks = sequences.cross_validate(entries, fits, data, n_folds, seed, reading)
    return Comparison(
        by_name(fits, found), next(iter(fits.values())).n, (), (*_notes(fits), *notes_on("folds", remarks))
    )


# Notes --------------------------------------------------------------------------------------------------------


def _notes(fits: Mapping[str, Fit]) -> tuple[Note, ...]:
    """Return the notes of the fits: those that all have once, others with the model's name."""
    notes: list[Note] = []
    shared = set.intersection(*({note.text for note in one.notes} for one in fits.values()))
    for name, one in fits.items():
        notes += [note if note.text in shared else Note(note.topic, f"{name}: {note.text}") for note in one.notes]
        if not one.certificate.ok:
            notes.append(Note("certificate", f"{name}: {one.certificate.verdict}"))
    said = []
    if any(one.n_free_adjusted != one.n_free for one in fits.values()):
        said.append("Zeros in the counts leave fewer free parameters, shown in brackets; AIC and BIC count all.")
    if estimates := [name for name, one in fits.items() if one.point != "mle"]:
        verb = "is an estimate" if len(estimates) == 1 else "are estimates"
        said.append(f"AIC and BIC are meant for maximum likelihood, and {listing(estimates)} {verb} under a prior.")
    return (*dict.fromkeys(notes), *notes_on("criteria", said))


def _test_notes(tests: Sequence[NestedTest], same: Sequence[tuple[str, str]]) -> tuple[Note, ...]:
    said = [f"{small!r} and {large!r} say the same, so that there is nothing to test." for small, large in same]
    if any(one.df != one.test.df for one in tests):
        said.append("Zeros in the counts leave other degrees of freedom, shown in brackets; p is by these.")
    return notes_on("tests", said)
