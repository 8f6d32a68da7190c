"""maxent under a penalty: targets that contradict each other are met approximately, as its docstring says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.test_max_entropy import YES_NO

import suffice as sf

OVERLAP = {"A:B": [[0.4, 0.1], [0.1, 0.4]], "B:C": [[0.5, 0.1], [0.1, 0.3]]}
FAR = {"A:B": [[0.5, 0.0], [0.0, 0.5]], "B:C": [[0.05, 0.05], [0.45, 0.45]]}
JOINT = {pair: [[0.05, 0.45], [0.45, 0.05]] for pair in ("A:B", "B:C", "A:C")}
CASES: dict[str, Any] = {"they differ on B": OVERLAP, "far apart": FAR, "two by two possible": JOINT}


def naive_mode(targets: dict[str, Any], width: float) -> np.ndarray:
    """Minimise log Z − Σ u · (the mean of the margins that tell of it) + Σ u² / 2σ², binary effects coded ±1."""
    sides = np.array(np.meshgrid([1, -1], [1, -1], [1, -1], indexing="ij"))
    columns, wanted, sizes = [], [], []
    for term in ("A", "B", "C", "AB", "BC", "AC"):
        told = []
        for pair, table in targets.items():
            names = pair.split(":")
            if set(term) <= set(names):
                signs = np.ones((2, 2))
                for name in term:
                    signs = signs * (np.array([[1], [-1]]) if names[0] == name else np.array([[1, -1]]))
                told.append(float((signs * np.array(table)).sum()))
        if told:
            columns.append(np.prod([sides["ABC".index(name)] for name in term], axis=0))
            wanted.append(np.mean(told))
            sizes.append(2 ** len(term))  # so many cells of a u-term have the same size

    def objective(u: np.ndarray) -> float:
        scores = sum(w * column for w, column in zip(u, columns, strict=True))
        return float(np.log(np.exp(scores).sum()) - u @ wanted + (np.array(sizes) * u**2).sum() / (2 * width**2))

    u = minimize(objective, np.zeros(len(columns)), tol=1e-14, options={"gtol": 1e-10}).x
    p = np.exp(sum(w * column for w, column in zip(u, columns, strict=True)))
    return np.asarray(p / p.sum())


@pytest.mark.parametrize("targets", CASES.values(), ids=CASES)
@pytest.mark.parametrize("width", [0.5, 3.0])
def test_a_penalty_meets_contradicting_margins_approximately(targets: dict[str, Any], width: float) -> None:
    fit = sf.maxent(" + ".join(targets), targets, over=YES_NO, prior=sf.Gaussian(width))
    assert fit.certificate.ok, fit.certificate.verdict
    found = fit.model.query(["A", "B", "C"]).values
    np.testing.assert_allclose(found, naive_mode(targets, width), atol=1e-6)
    assert any("met approximately" in note.text for note in fit.notes)


@pytest.mark.parametrize("targets", CASES.values(), ids=CASES)
def test_the_error_proposes_a_prior_that_works(targets: dict[str, Any]) -> None:
    with pytest.raises(sf.EstimationError, match=r"prior=sf\.Gaussian\(1\.0\)"):
        sf.maxent(" + ".join(targets), targets, over=YES_NO)
    assert sf.maxent(" + ".join(targets), targets, over=YES_NO, prior=sf.Gaussian(1.0)).certificate.ok


def test_a_kink_and_free_main_effects_are_met_likewise() -> None:
    fit = sf.maxent(" + ".join(OVERLAP), OVERLAP, over=YES_NO, prior=sf.Laplace(5.0))
    assert fit.certificate.ok, fit.certificate.verdict
    fit = sf.maxent(" + ".join(OVERLAP), OVERLAP, over=YES_NO, prior=sf.Gaussian(1.0, main=float("inf")))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.query("B").values[0] == pytest.approx(0.55)  # the mean of 0.5 and 0.6


def test_margins_that_agree_are_left_alone() -> None:
    targets = {"A:B": [[0.4, 0.1], [0.1, 0.4]], "B:C": [[0.4, 0.1], [0.1, 0.4]]}
    fit = sf.maxent(" + ".join(targets), targets, over=YES_NO, prior=sf.Gaussian(1.0))
    assert not any("met approximately" in note.text for note in fit.notes)
    np.testing.assert_array_equal(fit.statistics[sf.Count(("A", "B"))].table(), targets["A:B"])


def test_different_totals_and_pseudo_counts_are_refused_still() -> None:
    with pytest.raises(sf.EstimationError, match="different totals"):
        sf.maxent("A:B + C", [[[0.4, 0.1], [0.1, 0.4]], [1, 1]], over=YES_NO, prior=sf.Gaussian(1.0))
    with pytest.raises(sf.EstimationError, match="contradict each other"):
        sf.maxent(" + ".join(OVERLAP), OVERLAP, over=YES_NO, prior=sf.BDeu(1))
