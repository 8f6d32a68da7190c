"""What is mended in the mathematics of the site, so that browsers show it well without scripts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "docs" / "_extensions"))

from mathml import UNKNOWN, mathml


@pytest.mark.parametrize(
    ("latex", "part"),
    [
        (r"\tilde p", '<mover accent="true"><mi>p</mi>'),
        (r"\bar x", '<mover accent="true"><mi>x</mi>'),
        (r"\mathcal D", "<mi>𝒟</mi>"),
        (r"\mathcal L", "<mi>ℒ</mi>"),
        (r"\log p", '<mi>log</mi><mspace width="0.17em"></mspace><mi>p</mi>'),
        (r"\arg\max_k s_k", "<mi>arg</mi>"),
        (r"p(x; \theta)", '<mo separator="true">;</mo>'),
    ],
)
def test_formulas_are_mended(latex: str, part: str) -> None:
    assert part in mathml(latex, "inline")


@pytest.mark.parametrize("latex", [r"\nosuchcommand x", r"\begin{aligned} a &= b \end{aligned}"])
def test_what_is_not_known_is_found(latex: str) -> None:
    from latex2mathml.converter import convert

    assert UNKNOWN.search(convert(latex))
