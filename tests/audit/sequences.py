"""Chains and graphs of labels: conditional random fields and MEMMs, all labellings written out."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from tests.audit.family import AuditFamily
from tests.audit.multinomial import newton_decrement, perturb_by
from tests.audit.tables import weights_of
from tests.models.chain_twin import Toy, added_up, features, features_at, named, paths

import suffice as sf
from suffice.certify.claim import Claim
from suffice.priors.elastic import Elastic
from suffice.structures.label_chain import LabelChain, LocalChain


def draw_penalty(rng: np.random.Generator, kind: str, weights: Any) -> Any:
    """Return a penalty of some strength; with c1 one that is felt among so many rows, where it alone decides."""
    size = float(10 ** rng.uniform(-2, 1))
    total = 1.0 if weights is None else float(np.sum(weights))
    return Elastic(c1=size * max(1.0, 1e-4 * total)) if kind == "L1" else Elastic(c2=size)


# Chains -------------------------------------------------------------------------------------------------------


def draw_chain(rng: np.random.Generator, structure: type[LabelChain], penalty: str) -> Callable[[], Any]:
    """Draw short sequences with weights, and a chain of labels."""
    k, n = int(rng.integers(2, 4)), int(rng.integers(3, 8))
    lengths = rng.integers(1, 5 if k == 2 else 4, n)
    states = [[_attributes(rng, 4) for _ in range(length)] for length in lengths]
    steps = [[_attributes(rng, 2) for _ in range(length)] for length in lengths] if rng.random() < 0.3 else None
    labels = [rng.integers(0, k, length).tolist() for length in lengths]
    # beyond 10⁹ rows a label, scores of labels that are all but certain have no digits left for what remains
    weights = np.minimum(weights_of(rng, n), 1e9).tolist() if rng.random() < 0.7 else None
    toy = Toy(k, states, labels, steps, weights)
    held = toy.structure(structure, states="all", boundaries=bool(rng.random() < 0.5))
    tol = float(rng.choice([1e-8, 1e-6]))
    return partial(sf.fit, held, toy.table, prior=draw_penalty(rng, penalty, weights), tol=tol, max_iter=20_000)


def _attributes(rng: np.random.Generator, n: int) -> list[tuple[int, float]]:
    chosen = rng.permutation(n)[: rng.integers(1, n + 1)]
    return [(int(code), float(rng.choice([1.0, rng.normal()]))) for code in sorted(chosen)]


def toy_of(claim: Claim) -> Toy:
    """Return the sequences of a claim."""
    table = claim.source.table  # type: ignore[union-attr]
    sequences = table.sequences
    rows = [sequences.states, sequences.steps]
    read: list[Any] = [None, None]
    for number, held in enumerate(rows):
        if held is not None:
            values = np.ones(len(held.codes)) if held.values is None else held.values
            cut = [list(zip(held.codes[a:b].tolist(), values[a:b].tolist(), strict=True))
                   for a, b in itertools.pairwise(held.starts)]  # fmt: skip
            read[number] = [cut[a:b] for a, b in itertools.pairwise(sequences.offsets)]
    labels = [sequences.labels[a:b].tolist() for a, b in itertools.pairwise(sequences.offsets)]
    weights = None if table.weights is None else np.asarray(table.weights, float).tolist()
    return Toy(claim.model.label.n_states, read[0], labels, read[1], weights)


def chain_cases(toy: Toy, keys: list[Any], local: bool) -> Iterator[tuple[Any, Any]]:
    """Yield the labellings of every sequence, of a MEMM the labels of every position, with their features."""
    place = {key: number for number, key in enumerate(keys)}
    for s, truth in enumerate(toy.labels):
        if not local:
            found = [features(toy, s, path) for path in paths(toy, s)]
            own = paths(toy, s).index(tuple(truth))
            yield _matrix(found, place), toy.weight(s) * (np.arange(len(found)) == own)
            continue
        for t, now in enumerate(truth):
            before = truth[t - 1] if t else -1
            found = [added_up(features_at(toy, s, t, before, label)) for label in range(toy.k)]
            yield _matrix(found, place), toy.weight(s) * (np.arange(toy.k) == now)


def _matrix(found: list[dict[Any, float]], place: dict[Any, int]) -> Any:
    whole = np.zeros((len(found), len(place)))
    for row, own in zip(whole, found, strict=True):
        for key, value in own.items():
            if key in place:
                row[place[key]] += value
    return whole


def claimed_chain_cases(claim: Claim) -> Iterator[tuple[Any, Any]]:
    """Yield the cases of a claim."""
    return chain_cases(toy_of(claim), named(claim.model.layout), isinstance(claim.structure, LocalChain))


def cost_of_chain(claim: Claim, model: Any) -> float:
    """Return the decrement of a chain's weights."""
    return newton_decrement(claimed_chain_cases(claim), model.weights, ridge=2 * claim.prior.c2, price=claim.prior.c1)


# Graphs -------------------------------------------------------------------------------------------------------


def draw_graph(rng: np.random.Generator, method: str, penalty: str) -> Callable[[], Any]:
    """Draw small grids with labels."""
    shape = [(1, 2), (2, 2), (1, 3)][rng.integers(3)]
    n = int(rng.integers(3, 8))
    grids = [sf.Graph.grid(rng.normal(size=shape).tolist(), directed=False) for _ in range(n)]
    labels = [rng.choice(["i", "p"], shape[0] * shape[1]).tolist() for _ in grids]
    labels[0][0], labels[1][0] = "i", "p"
    weights = weights_of(rng, n) if rng.random() < 0.7 else None
    prior = draw_penalty(rng, penalty, weights)
    shell = sf.GraphCRF(c1=prior.c1, c2=prior.c2, method=method, tol=float(rng.choice([1e-8, 1e-6])), max_iter=20_000)
    return partial(shell.fit, grids, labels, sample_weight=weights)


def graph_cases(claim: Claim) -> Iterator[tuple[Any, Any]]:
    """Yield the labellings of every graph, or the labels of every node given the others, with their features."""
    model, table = claim.model, claim.source.table  # type: ignore[union-attr]
    graphs, k = table.graphs, claim.model.label.n_states
    weights = np.ones(graphs.n_graphs) if table.weights is None else np.asarray(table.weights, float)
    for number in range(graphs.n_graphs):
        one = graphs.part(number, number + 1)
        truth = tuple(int(label) for label in one.labels)
        members = [np.arange(one.n_nodes)[:, None], *(one.members_of(kind) for kind in range(len(one.cliques)))]
        rows = [one.states, *(kind.attributes for kind in one.cliques)]
        cells = list(zip(members, rows, _weight_cells(model), strict=True))
        free = [range(one.n_nodes)] if claim.method != "pseudo_likelihood" else [[v] for v in range(one.n_nodes)]
        for nodes in free:
            labellings = []
            for own in itertools.product(range(k), repeat=len(nodes)):
                labels = list(truth)
                for node, label in zip(nodes, own, strict=True):
                    labels[node] = label
                labellings.append(tuple(labels))
            found = np.array([_features(labels, cells, k, model.layout.size) for labels in labellings])
            yield found, weights[number] * (np.arange(len(found)) == labellings.index(truth))


def _weight_cells(model: Any) -> list[Any]:
    starts = model.layout.starts
    return [
        model.layout.index[a:b].reshape(shape)
        for (a, b), shape in zip(itertools.pairwise(starts), model.layout.shapes, strict=True)
    ]


def _features(labels: tuple[int, ...], cells: list[Any], k: int, size: int) -> Any:
    found = np.zeros(size + 1)
    for members, rows, weights in cells:
        values = np.ones(len(rows.codes)) if rows.values is None else rows.values
        for row, nodes in enumerate(members):
            column = 0
            for node in nodes:
                column = column * k + labels[node]
            for at in range(rows.starts[row], rows.starts[row + 1]):
                found[weights[rows.codes[at], column]] += values[at]  # −1 is the last place
    return found[:-1]


def cost_of_graph(claim: Claim, model: Any) -> float:
    """Return the decrement of a graph CRF's weights."""
    return newton_decrement(graph_cases(claim), model.weights, ridge=2 * claim.prior.c2, price=claim.prior.c1)


def weights_of_model(model: Any) -> Any:
    """Return the weights."""
    return model.weights


def with_weights(model: Any, weights: Any) -> Any:
    """Return the model with other weights."""
    return dataclasses.replace(model, weights=weights)


MOVE = perturb_by(weights_of_model, with_weights)
SHIFT_CHAIN = perturb_by(weights_of_model, with_weights, claimed_chain_cases)
SHIFT_GRAPH = perturb_by(weights_of_model, with_weights, graph_cases)
SEQUENCES = (
    AuditFamily("chain CRF", partial(draw_chain, structure=LabelChain, penalty="L2"), MOVE, cost_of_chain),
    AuditFamily("chain CRF, L1", partial(draw_chain, structure=LabelChain, penalty="L1"), SHIFT_CHAIN, cost_of_chain),
    AuditFamily("MEMM", partial(draw_chain, structure=LocalChain, penalty="L2"), MOVE, cost_of_chain),
    AuditFamily("graph CRF", partial(draw_graph, method="auto", penalty="L2"), MOVE, cost_of_graph),
    AuditFamily("graph CRF, L1", partial(draw_graph, method="auto", penalty="L1"), SHIFT_GRAPH, cost_of_graph),
    AuditFamily(
        "graph CRF, pseudo-likelihood",
        partial(draw_graph, method="pseudo_likelihood", penalty="L2"),
        MOVE,
        cost_of_graph,
    ),
)
