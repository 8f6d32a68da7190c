"""Products and evidence that every routine of inference is crossed with, and the oracle that knows the answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from suffice.inference import brute_force
from suffice.inference.inquiry import Given
from suffice.inference.product import Factor, Product

Floats = NDArray[np.float64]


def product_of(
    sizes: Sequence[int],
    tables: Sequence[tuple[Sequence[int], Any]],
    parents: Sequence[Sequence[int]] | None = None,
) -> Product:
    """Return a product of tables, the variables named v0, v1, …"""
    names = tuple(f"v{number}" for number in range(len(sizes)))
    factors = tuple(Factor(tuple(scope), np.array(values, np.float64)) for scope, values in tables)
    return Product(names, tuple(sizes), factors, None if parents is None else tuple(map(tuple, parents)))


def random_product(sizes: Sequence[int], scopes: Sequence[Sequence[int]], seed: int = 0, low: float = 0.1) -> Product:
    """Return a product of tables with numbers between ``low`` and two."""
    rng = np.random.default_rng(seed)
    return product_of(sizes, [(scope, rng.uniform(low, 2, [sizes[v] for v in scope])) for scope in scopes])


def random_network(sizes: Sequence[int], parents: Sequence[Sequence[int]], seed: int = 0, zeros: float = 0) -> Product:
    """Return a Bayesian network; ``zeros`` is the share of impossible states, of which a row never has all."""
    rng = np.random.default_rng(seed)
    tables = []
    for child, above in enumerate(parents):
        values = rng.uniform(0.05, 1, [*(sizes[v] for v in above), sizes[child]])
        kept = rng.random(values.shape) >= zeros
        kept[..., 0] |= ~kept.any(axis=-1)
        values = np.where(kept, values, 0)
        tables.append(((*above, child), values / values.sum(axis=-1, keepdims=True)))
    return product_of(sizes, tables, parents)


# The oracle ---------------------------------------------------------------------------------------------------


class Oracle:
    """The answers by brute force: the evidence is sliced away, and every connected part is written out as a whole."""

    def __init__(self, product: Product, given: Given) -> None:
        self.sizes = product.sizes
        self.free = [v for v in range(len(product.sizes)) if v not in given.hard]
        self.constant = 0.0
        sliced: list[tuple[tuple[int, ...], Floats]] = []
        for factor in [*product.factors, *given.factors()]:
            values = factor.values[tuple(given.hard.get(v, slice(None)) for v in factor.scope)]
            scope = tuple(v for v in factor.scope if v not in given.hard)
            if scope:
                sliced.append((scope, values))
            else:
                self.constant += math.log(values) if values > 0 else -math.inf
        graph: Any = nx.Graph()
        graph.add_nodes_from(self.free)
        for scope, _ in sliced:
            graph.add_edges_from((scope[0], other) for other in scope[1:])
        self.parts: list[tuple[list[int], Floats]] = []
        for members in map(sorted, nx.connected_components(graph)):
            place = {v: index for index, v in enumerate(members)}
            inside = [([place[v] for v in scope], values) for scope, values in sliced if scope[0] in place]
            part = product_of([product.sizes[v] for v in members], inside)
            self.parts.append((members, brute_force.log_joint(part)))

    @cached_property
    def log_z(self) -> float:
        return self.constant + sum(brute_force.log_sum(joint) for _, joint in self.parts)

    @property
    def is_possible(self) -> bool:
        return self.log_z > -math.inf

    def marginal(self, targets: Sequence[int]) -> Floats:
        """p(targets | evidence), all zeros when the evidence is impossible."""
        result = np.ones([self.sizes[v] for v in targets])
        if not self.is_possible:
            return 0 * result
        for members, joint in self.parts:
            axes = [members.index(v) for v in targets if v in members]
            if not axes:
                continue
            p = np.exp(joint - brute_force.log_sum(joint))
            p = p.sum(axis=tuple(axis for axis in range(p.ndim) if axis not in axes))
            p = p.transpose([sorted(axes).index(axis) for axis in axes])
            result = result * p.reshape([self.sizes[v] if v in members else 1 for v in targets])
        return result

    @cached_property
    def best(self) -> float:
        return self.constant + sum(float(joint.max()) for _, joint in self.parts)

    @cached_property
    def tied(self) -> dict[int, tuple[int, ...]]:
        """The variables with several states among the most likely configurations, and these."""
        ties = {}
        for members, joint in self.parts:
            configurations = np.argwhere(joint >= joint.max() - 1e-9)
            for axis, v in enumerate(members):
                states = np.unique(configurations[:, axis])
                if len(states) > 1:
                    ties[v] = tuple(map(int, states))
        return ties

    def score(self, codes: Mapping[int, int]) -> float:
        """log Π φ of one configuration."""
        return self.constant + sum(float(joint[tuple(codes[v] for v in members)]) for members, joint in self.parts)

    def over(self, targets: Sequence[int]) -> Oracle:
        """Return the oracle of the targets alone, all other variables summed out of every part."""
        found = object.__new__(Oracle)
        found.sizes, found.free, found.constant, found.parts = self.sizes, sorted(targets), self.constant, []
        for members, joint in self.parts:
            others = tuple(axis for axis, v in enumerate(members) if v not in targets)
            left = np.logaddexp.reduce(joint, axis=others) if others else joint
            found.parts.append(([v for v in members if v in targets], np.asarray(left)))
        return found

    @cached_property
    def entropy(self) -> float:
        total = 0.0
        for _, joint in self.parts:
            log_p = (joint - brute_force.log_sum(joint))[joint > -np.inf]
            total -= float((np.exp(log_p) * log_p).sum())
        return total


# The cases ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A product, the evidence to ask it with, and the targets to ask for.

    ``extreme`` says that numbers are so far apart that a calibrated tree may decline to answer.
    """

    product: Product
    evidence: Mapping[str, Given]
    targets: Sequence[tuple[int, ...]]
    extreme: bool = False


NOTHING = Given()
N_CHILDREN = 300


def soft(**weights: Sequence[float]) -> Given:
    """Soft evidence, ``soft(v2=[1, 3])``."""
    return Given({}, {int(name[1:]): np.array(values, np.float64) for name, values in weights.items()})


def both(hard: Mapping[int, int], **weights: Sequence[float]) -> Given:
    return Given(hard, soft(**weights).soft)


def _cases() -> dict[str, Case]:
    rng = np.random.default_rng(7)
    cases: dict[str, Case] = {}

    # A tree: messages are all there is to it.
    cases["tree"] = Case(
        random_product([2, 3, 2, 4, 2, 3], [(0, 1), (1, 2), (3, 1), (3, 4), (5, 3), (0,)]),
        {
            "none": NOTHING,
            "hard": Given({2: 1, 5: 0}),
            "soft": soft(v4=[3, 0.5], v0=[0, 1]),
            "both": both({1: 2}, v3=[1, 2, 0, 4]),
        },
        [(0,), (4,), (1, 0), (0, 4), (5, 2, 0)],
    )

    # A ring: it needs a chord.
    cases["cycle"] = Case(
        random_product([2, 3, 2, 2, 3], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], seed=1),
        {
            "none": NOTHING,
            "hard": Given({0: 1}),
            "soft": soft(v2=[1, 9]),
            "all but one": Given({0: 0, 1: 2, 3: 1, 4: 0}),
        },
        [(2,), (3, 1), (2, 3)],
    )

    # A grid: cliques that are no factors.
    pairs = [(i, i + 1) for i in range(9) if i % 3 < 2] + [(i, i + 3) for i in range(6)]
    cases["grid"] = Case(
        random_product([2, 2, 3, 2, 2, 2, 3, 2, 2], [*pairs, *((i,) for i in range(9))], seed=2),
        {"none": NOTHING, "middle": Given({4: 1}), "corner and soft": both({0: 0}, v8=[2, 1], v6=[1, 0, 3])},
        [(8,), (1, 7), (7, 1), (3, 5)],
    )

    # Parts that know nothing of each other, and scopes that come again in another order.
    cases["disconnected"] = Case(
        random_product([2, 3, 2, 2, 3], [(0, 1), (2, 3), (4,)], seed=3),
        {"none": NOTHING, "in one part": Given({1: 0}), "in all": both({0: 1, 2: 0}, v4=[1, 2, 3])},
        [(3,), (3, 1), (4, 3)],
    )
    cases["permuted and repeated scopes"] = Case(
        random_product([2, 3, 4], [(0, 1, 2), (2, 0, 1), (1, 0), (0, 1), (0, 1), (2,), (2,)], seed=4),
        {"none": NOTHING, "hard": Given({1: 1}), "soft": soft(v1=[1, 0, 5])},
        [(0,), (2, 0), (0, 2)],
    )

    # The smallest: one variable, with and without a table; one state; none at all.
    cases["single variable"] = Case(
        product_of([3], [((0,), [1, 2, 5])]), {"none": NOTHING, "soft": soft(v0=[1, 0, 1])}, [(0,)]
    )
    cases["single variable, observed"] = Case(product_of([3], [((0,), [1, 2, 5])]), {"hard": Given({0: 2})}, [()])
    cases["no factor at all"] = Case(product_of([2, 3], []), {"none": NOTHING, "hard": Given({1: 1})}, [(0,)])
    cases["no variable at all"] = Case(product_of([], [((), 3.0)]), {"none": NOTHING}, [()])
    cases["single state variables"] = Case(
        random_product([1, 2, 1, 3, 1], [(0, 1, 2), (2, 3), (3, 1, 4), (4,), (0,)], seed=5),
        {"none": NOTHING, "hard": Given({2: 0, 3: 1}), "soft": soft(v0=[7.0], v1=[1, 2])},
        [(1,), (0, 1), (1, 4)],
    )

    # Long loops instead of deep nests.
    cases["high cardinality"] = Case(
        random_product([150, 3, 90], [(0, 1), (1, 2), (2, 0)], seed=6),
        {"none": NOTHING, "hard": Given({0: 149}), "soft": soft(v2=rng.uniform(0, 1, 90).tolist())},
        [(1,), (2, 1)],
    )

    # Zeros: impossible states, impossible pairs, evidence that cannot be.
    different = 1 - np.eye(3)
    cases["hard zeros"] = Case(
        product_of(
            [3, 3, 3, 2],
            [((0, 1), different), ((1, 2), different), ((0, 2), different), ((2, 3), [[1, 0], [0, 2], [3, 3]])],
        ),
        {
            "none": NOTHING,
            "hard": Given({0: 1}),
            "soft zero": soft(v0=[0, 1, 1]),
            "impossible": Given({0: 1, 1: 1}),
            "impossible by soft": both({3: 1}, v2=[1, 0, 0]),
        },
        [(3,), (0, 1), (2, 3), (1, 3)],
    )
    cases["nothing is possible"] = Case(
        product_of([2, 2, 2], [((0,), [1, 0]), ((0, 1), [[0, 0], [1, 1]]), ((2,), [1, 1])]),
        {"none": NOTHING, "hard": Given({2: 1})},
        [(2,), (1, 2)],
    )
    exclusive = np.zeros((2, 2, 2))
    for a, b in np.ndindex(2, 2):
        exclusive[a, b, a ^ b] = 1
    cases["deterministic tables"] = Case(
        product_of(
            [2, 2, 2, 2, 2],
            [
                ((0,), [0.3, 0.7]),
                ((1,), [0.6, 0.4]),
                ((0, 1, 2), exclusive),
                ((2, 3), np.eye(2)),
                ((0, 3, 4), exclusive),
            ],
            [(), (), (0, 1), (2,), (0, 3)],
        ),
        {
            "none": NOTHING,
            "parity": Given({2: 1}),
            "one left": Given({3: 1, 4: 0}),
            "impossible": Given({2: 0, 3: 1}),
            "soft": soft(v3=[1, 4]),
        },
        [(0,), (1, 0), (4, 1), (0, 1)],
    )

    # Bayesian networks: tables below all targets and evidence are left out.
    parents = [(), (0,), (0,), (1, 2), (3,), (2,), ()]
    network = random_network([2, 3, 2, 2, 3, 2, 2], parents, seed=8)
    cases["bayesian network with barren nodes"] = Case(
        network,
        {"none": NOTHING, "above": Given({0: 1}), "collider": Given({3: 0, 5: 1}), "soft below": soft(v4=[1, 0, 2])},
        [(0,), (1, 2), (6, 0), (4, 5)],
    )
    cases["bayesian network with zeros"] = Case(
        random_network([3, 2, 3, 3, 2], [(), (0,), (0, 1), (2,), (2, 3)], seed=9, zeros=0.4),
        {"none": NOTHING, "hard": Given({4: 0}), "two": Given({3: 1, 0: 0}), "soft": soft(v3=[1, 0, 1])},
        [(0,), (1, 2), (1, 4)],
    )
    # Variables may come in any order.
    cases["children before parents"] = Case(
        random_network([2, 3, 2, 2], [(1, 3), (3,), (0,), ()], seed=10),
        {"none": NOTHING, "hard": Given({2: 1}), "root": Given({3: 0})},
        [(3,), (0, 1), (2, 3)],
    )

    # What no table speaks of is uniform, and counts in Z; constants count in Z too.
    cases["variable in no factor"] = Case(
        random_product([2, 5, 3], [(0, 2)], seed=11),
        {"none": NOTHING, "hard": Given({1: 3}), "soft": soft(v1=[0, 1, 2, 0, 1])},
        [(1,), (1, 2), (0,)],
    )
    cases["constant factors"] = Case(
        product_of([2, 2], [((), 3.0), ((0, 1), [[1, 2], [3, 4]]), ((), 1e-30), ((0, 1), np.full((2, 2), 1e5))]),
        {"none": NOTHING, "hard": Given({1: 0}), "all": Given({0: 1, 1: 0})},
        [()],
    )
    cases["a constant of zero"] = Case(
        product_of([2, 2], [((), 0.0), ((0, 1), [[1, 2], [3, 4]])]), {"none": NOTHING}, [(0,)]
    )

    # Ties: two configurations, or all of them, are the most likely.
    cases["ties"] = Case(
        product_of([2, 2, 3], [((0, 1), [[3, 1], [1, 3]]), ((1, 2), [[1, 2, 2], [2, 2, 1]])]),
        {"none": NOTHING, "hard": Given({0: 0}), "soft": soft(v2=[1, 0, 1])},
        [(0,), (2, 0)],
    )
    cases["all alike"] = Case(
        product_of([3, 2, 2], [((0, 1), np.ones((3, 2))), ((2,), [1, 1])]),
        {"none": NOTHING, "hard": Given({1: 1})},
        [(0, 2)],
    )

    # Far apart: products of these numbers leave what a float can hold.
    powers = rng.choice([-200.0, 0.0, 200.0], (6, 3, 3)) + rng.uniform(-1, 1, (6, 3, 3))
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3)]
    cases["potentials of 1e±200"] = Case(
        product_of([3] * 5, [(scope, 10.0**table) for scope, table in zip(ring, powers, strict=True)]),
        {
            "none": NOTHING,
            "hard": Given({0: 2, 3: 1}),
            "soft": soft(v2=[1e-200, 1, 1e200]),
            "both": both({4: 0}, v1=[1e150, 0, 1e-150]),
        },
        [(0,), (2, 3), (4, 2)],
        extreme=True,
    )
    cases["a rare state of several that are rarer"] = Case(
        product_of(
            [2, 3, 2],
            [((0,), [1, 1e-200]), ((0, 1), [[1, 1, 1], [1e-120, 3e-120, 1e-130]]), ((1, 2), [[1, 2], [3, 4], [5, 6]])],
        ),
        {"none": NOTHING, "hard": Given({0: 1}), "soft": soft(v0=[0, 1]), "soft and hard": both({2: 1}, v0=[0, 1e-30])},
        [(1,), (2,), (1, 2)],
        extreme=True,
    )
    # Rare, but not lost: products near 1e-320 are floats, which have a few digits only.
    cases["products of few digits"] = Case(
        product_of(
            [2, 3, 2],
            [((0,), [1, 1e-200]), ((0, 1), [[1, 1, 1], [1e-120, 3e-120, 7e-121]]), ((1, 2), [[1, 2], [3, 4], [5, 6]])],
        ),
        {"none": NOTHING, "hard": Given({0: 1}), "soft": soft(v0=[0, 1]), "both": both({2: 1}, v0=[0, 0.5])},
        [(1,), (2,), (1, 2)],
        extreme=True,
    )
    cases["a table of few digits"] = Case(
        product_of(
            [3, 2, 2], [((0,), [1e150, 3e-170, 7e-171]), ((0, 1), [[1, 2], [3, 4], [6, 5]]), ((1, 2), [[1, 2], [3, 1]])]
        ),
        {"none": NOTHING, "hard": Given({0: 1}), "soft": soft(v0=[0, 1, 1]), "both": both({2: 1}, v0=[0, 1, 0.5])},
        [(0,), (1,), (0, 1)],
        extreme=True,
    )
    cases["likelihoods whose product has few digits"] = Case(
        product_of(
            [2, 2, 2, 2, 3],
            [
                ((0, 1), [[1, 1], [1e-160, 1]]),
                ((0, 2), [[1, 1], [3e-161, 1]]),
                ((0, 3), [[0, 1], [1, 1]]),
                ((0, 4), [[1, 2, 3], [3, 1, 1]]),
            ],
        ),
        {
            "likely": Given({1: 0, 2: 0}),
            "all": Given({1: 0, 2: 0, 3: 0}),
            "soft": both({1: 0, 2: 0}, v3=[1, 0], v4=[1, 2, 1]),
        },
        [(0,), (4,), (4, 0)],
        extreme=True,
    )
    cases["large constants"] = Case(
        product_of(
            [2, 2, 2],
            [
                ((0, 1), [[1e300, 2e300], [3e300, 4e300]]),
                ((1, 2), [[1e300, 5e300], [1e300, 1e300]]),
                ((0,), [1e-300, 2e-300]),
            ],
        ),
        {"none": NOTHING, "hard": Given({2: 1})},
        [(0,), (0, 2)],
    )

    # Many observations of one thing: the likelihood of all children underflows.
    n = N_CHILDREN
    likelihoods = rng.uniform(1e-4, 1e-2, (n, 3))
    tables: list[tuple[Sequence[int], Any]] = [((0,), [0.2, 0.3, 0.5])]
    tables += [((0, child + 1), np.stack([row, 1 - row], axis=1)) for child, row in enumerate(likelihoods)]
    star_parents = [(), *((0,) for _ in range(n))]
    seen = {child: int(child % 7 == 0) for child in range(1, n + 1)}
    cases["star with many observed children"] = Case(
        product_of([3] + [2] * n, tables, star_parents),
        {
            "all": Given(dict.fromkeys(range(1, n + 1), 0)),
            "mixed": Given(seen),
            "all but two": Given(dict.fromkeys(range(3, n + 1), 0)),
            "soft": both(dict.fromkeys(range(3, n + 1), 0), v1=[1e-5, 1], v0=[1, 0, 2]),
        },
        [(0,)],
        extreme=True,
    )

    # A long chain, observed here and there.
    length = 400
    steps = rng.uniform(1e-6, 1, (length - 1, 2, 2))
    chain = product_of([2] * length, [((i, i + 1), steps[i]) for i in range(length - 1)])
    cases["long chain"] = Case(
        chain,
        {
            "every eighth": Given({i: i // 8 % 2 for i in range(0, length, 8)}),
            "all but the ends": Given({i: i % 2 for i in range(1, length - 1)}),
            "soft": both(dict.fromkeys(range(0, length, 8), 0), v1=[1, 3], v399=[0, 2]),
        },
        [(1,), (399,), (9, 5), (1, 399)],
        extreme=True,
    )
    return cases


CASES = _cases()
