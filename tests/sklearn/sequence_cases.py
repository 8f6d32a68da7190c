"""Small sentences that the tests of taggers share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suffice as sf

SENTENCES = ["the cat sleeps", "a dog barks", "the dog", "", "cats", "a small cat sees the dog", "dogs see cats"]
TAGS = ["D N V", "D N V", "D N", "", "N", "D A N V D N", "N V N"]
X = [[{"word": w, "end": w[-1:], "length": len(w)} for w in text.split()] for text in SENTENCES]
Y = [tags.split() for tags in TAGS]
BOTH = pytest.mark.parametrize("shell", [sf.ChainCRF, sf.MEMM])


def words(sentences: Any = SENTENCES) -> list[list[dict[str, str]]]:
    return [[{"word": w} for w in text.split()] for text in sentences]


def same(one: Any, two: Any, atol: float = 1e-9) -> None:
    assert len(one) == len(two)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, atol=atol)
