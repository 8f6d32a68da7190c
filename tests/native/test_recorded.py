"""Kernels return the bits that were recorded."""

from __future__ import annotations

import pytest
from tests.native.fuzzing import CALLS, cases, differences, subjects


@pytest.mark.parametrize("subject", subjects())
def test_first_block_of_every_kernel_is_as_recorded(subject: str) -> None:
    assert not list(differences(subject, lambda n: range(min(n, 1))))


@pytest.mark.slow
@pytest.mark.parametrize("subject", subjects())
def test_all_blocks_are_as_recorded(subject: str) -> None:
    assert not list(differences(subject, range))


@pytest.mark.parametrize("subject", subjects())
def test_at_least_ten_thousand_calls_are_recorded(subject: str) -> None:
    assert sum(case.blocks for case in cases(subject).values()) * CALLS >= 10_000
