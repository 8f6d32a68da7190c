"""Chow–Liu trees of the binary density-estimation sets.

The sets are those of J. Van Haaren and J. Davis (2012), "Markov network structure learning: a randomized feature
generation approach", AAAI, and of D. Lowd and J. Davis (2010). The reference numbers were computed by separate code
(see ``debd/SOURCE.txt``): alpha is added to every cell of each pair's table, the tree has the largest sum of mutual
information of these tables, and log-likelihoods are averages over rows, in nats.
"""

from __future__ import annotations

import json
import lzma
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.conftest import DATA

import suffice as sf

pytestmark = pytest.mark.data

SETS = ("nltcs", "plants", "jester", "accidents")
ALPHAS = (0.0, 0.25, 1.0)
TIED = ("plants", "accidents")  # constant columns and columns that are the same: several trees are best


@cache
def rows(name: str, part: str) -> dict[str, Any]:
    lines = lzma.decompress((DATA / "debd" / f"{name}.{part}.txt.xz").read_bytes()).split()
    table = np.frombuffer(b"".join(lines), np.uint8).reshape(len(lines), -1) - ord("0")
    return {f"v{column}": table[:, column] for column in range(table.shape[1])}


@cache
def expected(name: str) -> dict[str, Any]:
    return json.loads((DATA / "debd" / "reference_chowliu.json").read_text())["results"][name]


@cache
def fitted(name: str, alpha: float) -> tuple[sf.DependenceTree, sf.Fit]:
    train = rows(name, "train")
    schema = {node: [0, 1] for node in train}  # some columns are constant in the training part
    tree = sf.chow_liu(train, alpha=alpha, schema=schema)
    prior = sf.Dirichlet(tree.pseudo_counts(alpha)) if alpha else None
    return tree, sf.fit(tree, train, prior=prior, schema=schema, unseen_parents="uniform")


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", SETS)
def test_the_tree_and_its_information(name: str, alpha: float) -> None:
    tree, fit = fitted(name, alpha)
    reference = expected(name)[f"clt_alpha{alpha:g}" if alpha < 1 else "clt_alpha1.0"]
    assert tree.total_information == pytest.approx(reference["sum_MI"], abs=1e-9)
    if name not in TIED:
        parents = [int(above[0][1:]) if above else -1 for above in tree.parents.values()]
        assert parents == reference["parents"]
    assert fit.certificate.ok


@pytest.mark.parametrize("part", ["train", "valid", "test"])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", SETS)
def test_log_likelihoods(name: str, alpha: float, part: str) -> None:
    _, fit = fitted(name, alpha)
    reference = expected(name)[f"clt_alpha{alpha:g}" if alpha < 1 else "clt_alpha1.0"]
    found = float(np.mean(fit.model.log_prob(rows(name, part))))
    impossible = reference[part] is None
    assert found == pytest.approx(-np.inf if impossible else reference[part], abs=1e-3)


@pytest.mark.parametrize("name", SETS)
def test_the_tree_is_better_than_independence(name: str) -> None:
    _, fit = fitted(name, 1.0)
    found = float(np.mean(fit.model.log_prob(rows(name, "test"))))
    assert found > expected(name)["indep_laplace1_test_ll"] + 1
