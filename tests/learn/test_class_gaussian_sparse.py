"""Normal classes with sparse precision matrices: known zeros, and the graphical lasso."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.class_gaussian_cases import NAMES, gap, naive, rows_of, table

import suffice as sf
from suffice.cli.remedies import as_options
from suffice.structures.class_gaussian import ClassGaussian

SEEDS = st.integers(0, 10**6)
RING = "w:x + x:y + y:z + z:w"


def with_ring(seed: int) -> dict[str, np.ndarray]:
    data = table(seed, n=60)
    return {"w": np.random.default_rng(seed).normal(size=60) + data["x"] / np.std(data["x"]), **data}


@settings(max_examples=8)
@given(seed=SEEDS)
def test_each_class_is_a_gaussian_markov_field_of_its_rows(seed: int) -> None:
    data = with_ring(seed)
    for graph in ("w:x + x:y + y:z", RING):
        structure = ClassGaussian("class", ["w", *NAMES], covariance="sparse", graph=graph)
        fit = sf.fit(structure, data)
        assert fit.certificate.ok, fit.certificate.verdict
        for label in "abc":
            mine = {name: column[data["class"] == label] for name, column in data.items() if name != "class"}
            alone = sf.fit(sf.GaussianMarkov(structure.graph), mine, tol=1e-10)
            assert gap(fit.model.precision(label), alone.model.precision) < 1e-7
        assert fit.n_free == 2 + 12 + 3 * (4 + len(structure.graph.edges))


def test_zeros_are_exact_and_the_inverse_is_the_covariance() -> None:
    fit = sf.fit(ClassGaussian("class", ["w", *NAMES], covariance="sparse", graph=RING), with_ring(3))
    for label in "abc":
        k, covariance = fit.model.precision(label), fit.model.covariance(label)
        assert k[0, 2] == k[1, 3] == k[2, 0] == k[3, 1] == 0
        np.testing.assert_allclose(k @ covariance, np.eye(4), atol=1e-9)


def test_a_graph_without_edges_is_diagonal_and_a_full_one_full() -> None:
    data = table(2)
    for graph, covariance in (("x + y + z", "diagonal"), ("x:y:z", "full")):
        sparse = sf.fit(ClassGaussian("class", NAMES, covariance="sparse", graph=graph), data)
        plain = sf.fit(ClassGaussian("class", NAMES, covariance=covariance), data)
        assert sparse.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
        assert sparse.n_free == plain.n_free


def test_a_singular_clique_is_named_with_its_class() -> None:
    data = {"x": [1.0, 2, 4, 3, 9], "y": [0.0, 1, 1.5, 7, 1], "z": [0.0, 3, 1, 2, 9], "class": list("aaabb")}
    structure = ClassGaussian("class", NAMES, covariance="sparse", graph="x:y + z")
    with pytest.raises(sf.EstimationError, match=r"\['x', 'y'\] in class 'b' is singular.*shrinkage"):
        sf.fit(structure, data)
    assert sf.fit(
        ClassGaussian("class", NAMES, covariance="sparse", graph="x:y + z", shrinkage=0.1), data
    ).certificate.ok


# The graphical lasso ------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(seed=SEEDS, share=st.floats(0.01, 2.0))
def test_lasso_is_between_diagonal_and_full(seed: int, share: float) -> None:
    data = table(seed, spread=0)
    alpha = share * np.mean([np.abs(matrix).mean() for matrix in naive(data, "full")[1]])
    fit = sf.fit(ClassGaussian("class", NAMES, covariance="sparse", alpha=alpha), data)
    assert fit.certificate.ok, fit.certificate.verdict
    full, diagonal = (
        sf.fit(ClassGaussian("class", NAMES, covariance=kind), data).log_likelihood for kind in ("full", "diagonal")
    )
    slack = 1e-9 * (1 + abs(full))  # in nats: log densities of either sign may add up to nothing
    assert diagonal - slack <= fit.log_likelihood <= full + slack
    edges = sum(np.count_nonzero(np.triu(fit.model.precision(label), 1)) for label in "abc")
    assert fit.n_free == 2 + 9 + 9 + edges


def test_a_large_penalty_is_the_diagonal_and_a_small_one_the_full_matrix() -> None:
    data = table(5, spread=0)
    x, y = rows_of(data)
    largest = max(np.abs(np.cov(x[y == label].T, bias=True)).max() for label in "abc")
    diagonal = sf.fit(ClassGaussian("class", NAMES, covariance="sparse", alpha=largest), data)
    assert all(np.count_nonzero(diagonal.model.precision(label)) == 3 for label in "abc")
    full = sf.fit(ClassGaussian("class", NAMES, covariance="sparse", alpha=1e-9), data)
    for label, matrix in zip("abc", naive(data, "full")[1], strict=True):
        assert gap(full.model.covariance(label), matrix) < 1e-6


def test_too_few_steps_are_said_and_not_certified() -> None:
    structure = ClassGaussian("class", NAMES, covariance="sparse", alpha=0.01)
    fit = sf.fit(structure, table(9, spread=0), max_iter=1)
    assert not fit.certificate.ok
    said = [note.text for note in fit.notes if "Raise max_iter" in note.text]
    assert said
    assert all("Raise --max-iter." in as_options(text) for text in said)
    shell = Shortened(covariance="sparse", alpha=0.01).fit(*rows_of(table(9, spread=0)))
    advice = [note.text for note in shell.fit_.notes if "A larger shrinkage takes fewer steps." in note.text]
    assert advice
    assert not any("max_iter" in text for text in advice)


class Shortened(sf.GaussianBayes):
    """A classifier whose search is not allowed more than one step."""

    def _settings(self, n_classes: int) -> dict[str, Any]:
        return {**super()._settings(n_classes), "max_iter": 1}
