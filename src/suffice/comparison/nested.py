"""Nested models: which of two models includes the other, and the likelihood-ratio test between them.

Cliques, features and normal distributions are nested as `suffice.likelihood_ratio` knows. Networks come in by what
they say about independence. A network of tables, or of regressions, includes every model in which each of its nodes is
independent of the nodes before it, given its parents; so it includes another network where the other's graph says so
by d-separation, and cliques where their graph says so by separation. Cliques include a network whose families all lie
inside them. A network whose parents are all neighbours says the same as its cliques, and takes their part.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from suffice.errors import SufficeError
from suffice.fitting import estimate
from suffice.graph.undirected import moral_graph
from suffice.models.cpds import nodes_of
from suffice.result.fit import Fit
from suffice.result.goodness import INEXACT
from suffice.result.likelihood_ratio import LikelihoodRatio, likelihood_ratio
from suffice.structures.cliques import Cliques
from suffice.structures.dag import DAG
from suffice.structures.features import Features
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.structures.structure import Structure

Graph = Mapping[str, Iterable[str]]
MOST_NODES = 64
"""Larger networks are tested as they are, never as cliques."""


@dataclass(frozen=True)
class NestedTest:
    """The test of a model against a larger one that includes it.

    Attributes
    ----------
    small, large : str
        The names of the models.
    test : LikelihoodRatio
        With the degrees of freedom that the data's zeros leave, where there are zeros.
    """

    small: str
    large: str
    test: LikelihoodRatio

    @property
    def df(self) -> int:
        """The difference of the numbers of free parameters, whatever the data."""
        few, many = self.test.n_free
        return many - few


def nested_tests(fits: Mapping[str, Fit]) -> tuple[tuple[NestedTest, ...], tuple[tuple[str, str], ...]]:
    """Test all pairs of models that are known to be nested.

    Returns
    -------
    tests : tuple of NestedTest
    same : tuple of pairs
        The names of models that say the same, so that there is nothing to test.
    """
    apt = {name: fit for name, fit in fits.items() if _is_testable(fit)}
    apt = {name: _as_cliques(fit) or fit for name, fit in apt.items()} if len(apt) > 1 else {}
    inside = {pair for pair in itertools.permutations(apt, 2) if _includes(apt[pair[0]], apt[pair[1]])}
    tests, same = [], []
    for small, large in itertools.permutations(apt, 2):
        if (small, large) not in inside:
            continue
        if (large, small) in inside:
            same += [(small, large)] if (large, small) not in same else []
            continue
        tests.append(NestedTest(small, large, _test(apt[small], apt[large])))
    return tuple(tests), tuple(same)


def _is_testable(fit: Fit) -> bool:
    """Whether a fit is the maximum of a likelihood that its structure alone determines."""
    if fit.point != "mle" or fit.method in INEXACT or fit.starts or fit.structure.latent:
        return False
    if isinstance(fit.structure, DAG):
        kinds = nodes_of(fit.structure, fit.statistics.schema).values()
        return not fit.structure.tie and not any(kind.departs() for kind, _ in kinds)
    return isinstance(fit.structure, Cliques | Features | GaussianMarkov) and not _is_unbiased(fit.structure)


def _is_unbiased(structure: Structure) -> bool:
    return structure.divisor != "n"


# Networks as what they are without arrows ---------------------------------------------------------------------


def _family_kind(fit: Fit) -> str:
    """Return ``table`` or ``normal`` for models of one sort of variables, else an empty text."""
    if isinstance(fit.structure, DAG):
        nodes = nodes_of(fit.structure, fit.statistics.schema)
        kinds = {kind.name for kind, _ in nodes.values()}
        if kinds == {"tabular"}:
            return "table"
        mixed = any(variable.is_discrete for _, family in nodes.values() for variable in family.variables)
        return "normal" if kinds == {"linear_gaussian"} and not mixed else ""
    if isinstance(fit.structure, GaussianMarkov):
        return "normal"
    return "table" if isinstance(fit.structure, Cliques) else ""


def _as_cliques(fit: Fit) -> Fit | None:
    """Return the fit of cliques that say the same as a network whose parents are neighbours; None for others."""
    dag = fit.structure
    if not isinstance(dag, DAG) or _family_kind(fit) != "table" or len(dag.nodes) > MOST_NODES or not _is_perfect(dag):
        return None
    families = {frozenset((node, *above)): (*above, node) for node, above in dag.parents.items()}
    wide = [family for names, family in families.items() if not any(names < other for other in families)]
    try:
        return estimate(Cliques(wide), fit.statistics)
    except SufficeError:  # tables of cliques are full, and may be too large
        return None


def _is_perfect(dag: DAG) -> bool:
    """Whether parents of a node are always neighbours."""
    near = {frozenset(edge) for edge in dag.edges}
    return all(frozenset(pair) in near for above in dag.parents.values() for pair in itertools.combinations(above, 2))


# Inclusion ----------------------------------------------------------------------------------------------------


def _includes(small: Fit, large: Fit) -> bool:
    """Whether it is known that the large model includes the small one."""
    one, other = small.structure, large.structure
    if not isinstance(one, DAG) and not isinstance(other, DAG):
        return _ratio(small, large) is not None
    if isinstance(one, DAG) and isinstance(other, DAG) and _has_fewer_parents(small, large):
        return True
    kind = _family_kind(small)
    if not kind or kind != _family_kind(large):
        return False
    if isinstance(other, DAG):
        return all(_independent(one, *statement) for statement in _statements(other))
    cliques = [set(clique) for clique in other.cliques]
    return all(any({node, *above} <= clique for clique in cliques) for node, above in one.parents.items())


def _ratio(small: Fit, large: Fit) -> LikelihoodRatio | None:
    try:
        return likelihood_ratio(small, large)
    except SufficeError:
        return None


def _has_fewer_parents(small: Fit, large: Fit) -> bool:
    """Whether every node has the same kind in both networks, and in the small one some of its parents at most."""
    few, many = (nodes_of(fit.structure, fit.statistics.schema) for fit in (small, large))
    return all(few[node][0] == many[node][0] and set(few[node][1].scope) <= set(many[node][1].scope) for node in few)


def _statements(dag: DAG) -> Iterable[tuple[str, set[str], set[str]]]:
    """Yield what a network says: a node is independent of the nodes before it that are not its parents, given these."""
    before: set[str] = set()
    for node in dag.order:
        above = set(dag.parents[node])
        if before - above:
            yield node, before - above, above
        before.add(node)


def _independent(structure: Any, node: str, others: set[str], given: set[str]) -> bool:
    """Whether a structure says that a node is independent of others, given some."""
    if isinstance(structure, DAG):
        graph: Graph = moral_graph(_ancestral(structure, {node, *others, *given}))
    else:
        graph = structure.graph
    reached, waiting = {node}, [node]
    while waiting:
        for near in graph[waiting.pop()]:
            if near not in reached and near not in given:
                reached.add(near)
                waiting.append(near)
    return not reached & others


def _ancestral(dag: DAG, nodes: set[str]) -> dict[str, tuple[str, ...]]:
    """Return the parents of some nodes, of these parents, and so on."""
    found: dict[str, tuple[str, ...]] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = dag.parents[node]
            waiting += dag.parents[node]
    return found


def _test(small: Fit, large: Fit) -> LikelihoodRatio:
    ratio = None if isinstance(small.structure, DAG) or isinstance(large.structure, DAG) else _ratio(small, large)
    if ratio is not None:
        return ratio
    nominal, left = large.n_free - small.n_free, large.n_free_adjusted - small.n_free_adjusted
    df = left if left > 0 or left == nominal else None
    said = f"Zeros in the counts leave other degrees of freedom than the {nominal:,} of the structures."
    return LikelihoodRatio.of(small, large, df, () if df == nominal else (said,))
