"""Results have the same bits whatever the number of threads, every time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import suffice as sf

GRID = [(f"x{i}{j}", f"x{i + a}{j + b}") for i in range(4) for j in range(4) for a, b in ((0, 1), (1, 0))
        if i + a < 4 and j + b < 4]  # fmt: skip


def digest(*arrays: Any) -> str:
    """Return a hash of the bits of all arrays."""
    assert all(np.asarray(array).dtype.kind in "fib" for array in arrays)
    content = hashlib.sha256()
    for array in arrays:
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def digest_of(statistics: sf.Statistics) -> str:
    """Return a hash of the bits of all statistics."""
    return digest(*(array for need in statistics for _, array in sorted(statistics[need].to_arrays().items())))


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = sf.config()
    yield
    sf.config(threads=before.threads)


def draw(n: int, names: list[str], k: int = 2) -> dict[str, Any]:
    chance = np.random.default_rng(4)
    return {name: chance.integers(0, k, n) for name in names}


def counting() -> Callable[[], str]:
    dag, rows = sf.DAG("A -> B -> C; B -> D; C -> D"), draw(60_000, list("ABCD"), 3)
    return lambda: digest_of(sf.collect(dag, rows))


def moments() -> Callable[[], str]:
    chance = np.random.default_rng(5)
    rows = {name: chance.normal(size=60_000) for name in "xyz"}
    return lambda: digest_of(sf.collect(sf.DAG("x -> y -> z"), rows))


def rows_of_evidence() -> Callable[[], str]:
    model = sf.fit(sf.DAG("A -> B -> C; B -> D; C -> D"), draw(1000, list("ABCD"), 3)).model
    rows = draw(3000, ["A", "D"], 3)
    return lambda: digest(model.query_rows("B", rows).values)


def missing_values() -> Callable[[], str]:
    chance = np.random.default_rng(6)
    columns = draw(3000, list("ABCDEFGHIJ"), 3)
    rows = {name: [None if u < 0.3 else int(x) for u, x in zip(chance.random(3000), column, strict=True)]
            for name, column in columns.items()}  # fmt: skip
    dag = sf.DAG("A -> B -> C; B -> D; C -> D; D -> E -> F -> G; A -> H -> I -> J")

    def job() -> str:
        model = sf.fit(dag, rows, missing="em", max_iter=2).model
        return digest(*(model.cpd(name).table.values for name in "ABCDEFGHIJ"))

    return job


def gibbs() -> Callable[[], str]:
    model = sf.fit(sf.Ising(GRID), draw(500, sorted({name for edge in GRID for name in edge}))).model

    def job() -> str:
        drawn = model.sample(512, method="gibbs", seed=1)
        return digest(*(np.asarray(drawn[name]) for name in drawn.columns))

    return job


def pseudo_likelihood() -> Callable[[], str]:
    rows = draw(20_000, sorted({name for edge in GRID for name in edge}))

    def job() -> str:
        fit = sf.fit(sf.Ising(GRID), rows, method="pseudo_likelihood", max_iter=3)
        return digest(fit.model.weights.to_numpy())

    return job


def hidden_chains() -> Callable[[], str]:
    chance = np.random.default_rng(7)
    rows = ["".join(chance.permutation(list("aabbc" * 30))) for _ in range(40)]
    structure = sf.MarkovChain(1, latent={"state": 3})

    def job() -> str:
        fit = sf.fit(structure, rows, seed=0, max_iter=3)
        return digest([step.objective for step in fit.trace])

    return job


def label_chains() -> Callable[[], str]:
    chance = np.random.default_rng(8)
    words = [[{"word": f"w{k}"} for k in chance.integers(0, 50, 20)] for _ in range(200)]
    tags = [[f"t{k}" for k in chance.integers(0, 5, 20)] for _ in range(200)]

    def job() -> str:
        crf = sf.ChainCRF(c2=0.1, max_iter=3).fit(words, tags)
        return digest(*crf.predict_proba(words[:20]))

    return job


def classes() -> Callable[[], str]:
    x = np.random.default_rng(9).normal(size=(30_000, 8))
    fitted = sf.GaussianBayes("full").fit(x[:2000], x[:2000, 0] > 0)
    return lambda: digest(fitted.predict_proba(x))


JOBS = [
    counting,
    moments,
    rows_of_evidence,
    missing_values,
    gibbs,
    pseudo_likelihood,
    hidden_chains,
    label_chains,
    classes,
]


def results(make: Callable[[], Callable[[], str]], repeats: int) -> set[str]:
    found = set()
    job = make()
    for threads in (1, 2, 8):
        sf.config(threads=threads)
        found |= {job() for _ in range(repeats)}
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", JOBS, ids=lambda make: make.__name__)
def test_bits_do_not_depend_on_threads(make: Callable[[], Callable[[], str]]) -> None:
    assert len(results(make, 2)) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", JOBS, ids=lambda make: make.__name__)
def test_bits_do_not_depend_on_threads_in_a_hundred_runs(make: Callable[[], Callable[[], str]]) -> None:
    assert len(results(make, 100)) == 1
