"""chow_liu: the tree of largest likelihood, from the counts of all pairs of variables.

The likelihood of a tree is that of independence plus the mutual information along its edges, so the best tree is a
maximum spanning tree (C. K. Chow and C. N. Liu 1968, "Approximating discrete probability distributions with dependence
trees", IEEE Transactions on Information Theory 14(3)).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.data.readers import open_raw
from suffice.data.schema import Schema, SchemaLike
from suffice.data.stream import DROP, StreamedTable
from suffice.data.table import Weights, open_table
from suffice.errors import (
    ArgumentError,
    DataError,
    Remedy,
    StructureError,
    UnknownNameError,
    listing,
    made,
    require_number,
    shown,
    suggestion,
    the_argument,
)
from suffice.graph.spanning_tree import maximum_spanning_tree, rooted
from suffice.progress import Display, watch_for
from suffice.stats.mutual_information import counted_information, normal_information
from suffice.stats.needs import Count, Moment
from suffice.stats.source import BlockSource
from suffice.stats.statistics import Statistics
from suffice.structures.dependence_tree import DependenceTree
from suffice.text import plural

if TYPE_CHECKING:
    from suffice.types import TableLike

PAIRS_A_PASS = 1 << 16
"""Pairs that are counted in one pass; their tables and names then take some tens of megabytes."""
MOST_PAIRS = 1 << 22
"""Pairs up to which a tree is looked for: some 2,900 variables, and a few minutes."""


def chow_liu(
    data: TableLike,
    variables: Iterable[str] | None = None,
    *,
    alpha: float = 0.0,
    root: str | None = None,
    min_information: float | None = None,
    weights: Weights = None,
    schema: SchemaLike | None = None,
    missing: str = "error",
    unknown_states: str = "error",
    progress: bool | Display = False,
) -> DependenceTree:
    """Find the tree whose likelihood is largest of all trees, as a structure to be fitted.

    Parameters
    ----------
    data : table
        Whatever `fit` reads, in memory or streamed. All columns are discrete, or all are continuous.
    variables : iterable of str, optional
        The columns that become nodes; every column but that of the weights when left out.
    alpha : float
        Pseudo-count of every cell of each pair's table, for discrete variables.
    root : str, optional
        The variable that all edges point away from; the first one when left out. It changes no likelihood.
    min_information : float, optional
        Edges of at most so many nats are left out, which may leave a forest. By default every variable is joined.
    weights, schema, missing, unknown_states, progress
        As in `fit`.

    Returns
    -------
    DependenceTree
        A `DAG` that also knows the mutual information along its edges. Of pairs with equal information the one whose
        columns come first is taken first.

    Notes
    -----
    Discrete variables have I(X; Y) = Σ p(x, y) log(p(x, y) / (p(x) p(y))) with p = (m + alpha) / (N + alpha · cells);
    continuous ones are taken as jointly normal, with I = −½ log(1 − ρ²), which is infinite when one is a linear
    function of the other. The smoothed tree itself is fitted with ``prior=sf.Dirichlet(tree.pseudo_counts(alpha))``.
    Beyond 65,536 pairs, that is 362 variables, the data is read several times.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"rain": list("nnnnyyyn"), "wet": list("nnnyyyyn"), "slip": list("nnnnyyny")}
    >>> tree = sf.chow_liu(data, root="wet")
    >>> print(tree)
    edge          information
    ------------  -----------
    wet -> rain        0.3804
    rain -> slip       0.1101
    >>> sf.fit(tree, data).certificate.ok
    True
    >>> sf.chow_liu(data, min_information=0.2)
    DAG('rain -> wet; slip')
    """
    names = _names(data, variables, weights)
    alpha = _at_least_zero("alpha", alpha)
    above = None if min_information is None else _at_least_zero("min_information", min_information)
    if root is not None and root not in names:
        raise UnknownNameError(
            f"The 'root' argument must be one of the variables, {listing(names, 12)}. Got {shown(root)} instead."
            + suggestion(root, names)
        )
    table = open_table(
        data,
        names,
        schema=schema,
        weights=weights,
        missing=missing,
        unknown_states=unknown_states,
        if_missing=DROP,
    )
    source = BlockSource(table, watch_for(progress))
    at_once = MOST_PAIRS if isinstance(table, StreamedTable) and table.stream.once else PAIRS_A_PASS
    pairs = np.array(list(itertools.combinations(range(len(names)), 2)), np.int64).reshape(-1, 2)
    if _is_discrete(source.schema, names):
        information, n_states = _of_states(source, names, pairs, alpha, at_once)
    else:
        information, n_states = _of_numbers(source, names, pairs, alpha), None
    chosen = maximum_spanning_tree(len(names), pairs, information, above)
    return _tree(names, pairs[chosen], information[chosen], names.index(root) if root else 0, n_states)


# Arguments ----------------------------------------------------------------------------------------------------


def _names(data: TableLike, variables: Iterable[str] | None, weights: Weights) -> list[str]:
    if variables is None:
        names = [name for name in open_raw(data).names if not (isinstance(weights, str) and name == weights)]
    elif isinstance(variables, str) or not isinstance(variables, Iterable):
        raise ArgumentError(
            f"The 'variables' argument must list columns, such as ['A', 'B']. Got {shown(variables)} instead."
        )
    else:
        names = list(variables)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong or not names or len(set(names)) < len(names):
        raise ArgumentError(
            "The 'variables' argument must list at least one column, each once and by its name, such as ['A', 'B']. "
            f"Got {shown(names)} instead."
        )
    n_pairs = len(names) * (len(names) - 1) // 2
    if n_pairs > MOST_PAIRS:
        raise StructureError(
            f"A tree of {len(names):,} variables is looked for among {n_pairs:,} pairs, more than the {MOST_PAIRS:,} "
            "that are counted in minutes. Name fewer columns: variables=[…]."
        )
    return names


def _at_least_zero(name: str, value: object) -> float:
    number = require_number(name, value)
    if not 0 <= number < float("inf"):
        raise ArgumentError(f"The {name!r} argument must be finite and at least zero. Got {shown(value)} instead.")
    return number


def _is_discrete(schema: Schema, names: Sequence[str]) -> bool:
    """Whether all variables are discrete; raise unless all are, or none is."""
    discrete = [name for name in names if schema[name].is_discrete]
    continuous = [name for name in names if not schema[name].is_discrete]
    if discrete and continuous:
        raise DataError(
            f"The mutual information of a discrete and a continuous variable has no closed form, and the table has "
            f"both: {listing(discrete, 4)} and {listing(continuous, 4)}. Name columns of one kind, variables=[…], "
            "declare numbers of few values as states, ",
            Remedy("schema", dict.fromkeys(continuous, made("categorical"))) if len(continuous) <= 4 else "schema={…}",
            ", or cut them into classes first.",
        )
    return bool(discrete)


# Information --------------------------------------------------------------------------------------------------


def _of_states(
    source: BlockSource, names: Sequence[str], pairs: NDArray[np.int64], alpha: float, at_once: int
) -> tuple[NDArray[np.float64], list[int]]:
    """Return the information of each pair of discrete variables, and the variables' numbers of states."""
    information = np.zeros(len(pairs))
    schema: Schema | None = None
    for start in range(0, max(len(pairs), 1), at_once):
        scopes = [(names[first], names[second]) for first, second in pairs[start : start + at_once].tolist()]
        needs = [Count(scope) for scope in scopes] or [Count(tuple(names))]
        statistics = (source if schema is None else source.settled(schema)).gather(needs)
        _require_rows(statistics)
        schema = statistics.schema
        information[start : start + at_once] = counted_information(
            [statistics[Count(scope)] for scope in scopes], alpha
        )
    return information, [] if schema is None else [schema[name].n_states for name in names]


def _of_numbers(
    source: BlockSource, names: Sequence[str], pairs: NDArray[np.int64], alpha: float
) -> NDArray[np.float64]:
    """Return the information of each pair of continuous variables."""
    if alpha:
        raise ArgumentError(
            the_argument("alpha"), f" must be left out for continuous variables, which have no counts. Got {alpha:g}."
        )
    need = Moment(tuple(names))
    statistics = source.gather([need])
    _require_rows(statistics)
    found: NDArray[np.float64] = normal_information(statistics[need])[pairs[:, 0], pairs[:, 1]]
    return found


def _require_rows(statistics: Statistics) -> None:
    if statistics.weight > 0:
        return
    raise DataError(
        f"There is no tree in nothing: the table has {plural(statistics.n_read, 'row')}, {statistics.n_dropped:,} of "
        f"them dropped, and a total weight of zero. Pass data with at least one row."
    )


# The tree -----------------------------------------------------------------------------------------------------


def _tree(
    names: Sequence[str],
    edges: NDArray[np.int64],
    information: NDArray[np.float64],
    root: int,
    n_states: list[int] | None,
) -> DependenceTree:
    joined = [(first, second) for first, second in edges.tolist()]
    of_edge = {frozenset(edge): nats for edge, nats in zip(joined, information.tolist(), strict=True)}
    above = rooted(len(names), joined, root)
    parents = {name: None if parent is None else names[parent] for name, parent in zip(names, above, strict=True)}
    nats = [of_edge[frozenset((child, parent))] for child, parent in enumerate(above) if parent is not None]
    return DependenceTree(parents, nats, n_states)
