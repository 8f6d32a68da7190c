"""Comparing models of sequences: each sequence is in one fold, and scored by what was learnt from the others."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.comparison.folds import dealt_shares, generator

WORDS = ["banana", "bandana", "cabana", "panama", "havana", "banaba", "cabaan"]
ORDERS: dict[str, Any] = {f"order {k}": sf.MarkovChain(order=k) for k in range(3)}
LETTERS = {"x": sorted(set("".join(WORDS)))}


@pytest.mark.parametrize("weights", [None, [3, 1, 4, 0, 2, 1, 1]])
def test_chains_equal_the_loop(weights: list[int] | None) -> None:
    options: dict[str, Any] = {"prior": sf.Dirichlet(0.5)}
    found = sf.compare(ORDERS, WORDS, folds=3, seed=4, weights=weights, **options)
    units = np.ones(len(WORDS), np.int64) if weights is None else np.array(weights)
    shares = dealt_shares(units, 3, generator(4))
    assert shares.sum(axis=0).tolist() == units.tolist()
    for name, chain in ORDERS.items():
        validated = found[name].cross_validation
        assert validated is not None
        for fold, share in enumerate(shares):
            rest = [word for word, n in zip(WORDS, units - share, strict=True) for _ in range(n)]
            model = sf.fit(chain, rest, schema=LETTERS, **options).model
            expected = float(np.dot(share, model.log_prob(WORDS)))
            assert validated.folds[fold] == pytest.approx(expected, rel=1e-9)
            assert validated.sizes[fold] == sum(n * len(word) for n, word in zip(share, WORDS, strict=True))


def test_numbers_are_divided_by_sequence() -> None:
    rng = np.random.default_rng(0)
    walks = [np.cumsum(rng.normal(size=20)) for _ in range(6)]
    found = sf.compare({"walk": sf.Autoregression(1)}, walks, folds=3)
    assert math.isfinite(found["walk"].cv or math.nan)
    assert found["walk"].cross_validation.sizes == (38.0, 38.0, 38.0)  # type: ignore[union-attr]


def test_sequences_without_a_chance_are_counted() -> None:
    found = sf.compare({"one": sf.MarkovChain(order=1)}, ["ab", "ab", "ab", "abc"], folds=2)
    assert found["one"].cv == -math.inf or math.isnan(found["one"].cv or 0.0)
    assert "one: 1 held-out sequence has" in str(found)


def test_what_cannot_be_divided_is_said(tmp_path: Path) -> None:
    one = sf.compare({"a": sf.MarkovChain()}, ["abab"], folds=2)
    assert "1 sequence cannot be divided into 2 folds" in str(one)
    real = sf.compare({"a": sf.MarkovChain()}, ["abab", "ba"], weights=[0.5, 1.5], folds=2)
    assert "not whole numbers" in str(real)
    (tmp_path / "words.txt").write_text("abab\nbaba\n")
    text = sf.compare({"a": sf.MarkovChain(level="lines")}, str(tmp_path / "words.txt"), folds=2)
    assert "of a text file are streamed" in str(text)
    assert text["a"].cv is None
