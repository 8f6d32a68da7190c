"""Fuzzed calls of kernels, and a record of what they returned.

The record was made with the Numba version of the kernels, which these replaced, so that the comparison outlives it; of
``label_chains.along`` and ``along_scaled``, which are younger, with their first version here. Every block of 100 seeded
calls has the hash of the bits of all outputs. ``exp`` and ``log`` are the platform's; where these differ from those of
the record (`probe`), the sums of all outputs are compared to nine digits instead.
"""

from __future__ import annotations

import hashlib
import importlib
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

HERE = Path(__file__).parent
CALLS = 100
"""Calls of one block."""


class Case(NamedTuple):
    """One kernel: how arguments are drawn, and what a call returns, with the arrays that it writes.

    Attributes
    ----------
    draw : callable
        From a generator to arguments.
    run : callable
        From arguments to outputs: arrays and numbers.
    blocks : int
        How many blocks of 100 calls are recorded.
    """

    draw: Callable[[Generator], Any]
    run: Callable[[Any], Iterable[Any]]
    blocks: int = 100


class Block(NamedTuple):
    """What 100 calls returned: a hash of the bits, and the sum of all finite numbers."""

    digest: str
    total: float


def subjects() -> list[str]:
    """Return the names of the extension modules."""
    import suffice.native

    listed = Path(suffice.native.__file__).with_name("subjects.txt").read_text(encoding="utf-8")
    return [line for line in listed.splitlines() if line]


def cases(subject: str) -> dict[str, Case]:
    """Return the fuzzed kernels of a subject, by name."""
    found: dict[str, Case] = importlib.import_module(f"tests.native.fuzz.{subject}").CASES
    return found


def run_block(name: str, case: Case, block: int) -> Block:
    """Make the calls of one block."""
    content, total = hashlib.sha256(), 0.0
    for call in range(block * CALLS, (block + 1) * CALLS):
        seed = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big"), call]
        for output in case.run(case.draw(np.random.default_rng(seed))):
            values = np.ascontiguousarray(output)
            if values.dtype.kind == "f":
                values = np.where(np.isnan(values), np.nan, values)  # one NaN is as good as another
                total += float(values[np.isfinite(values)].sum())
            else:
                values = values.astype(np.int64)
                total += float(values.sum())
            content.update(repr((values.dtype.str, values.shape)).encode())
            content.update(values.tobytes())
    return Block(content.hexdigest()[:24], total)


def probe() -> str:
    """Return a hash of the platform's exponentials and logarithms."""
    values = np.random.default_rng(0).normal(size=2000)
    found = [f(float(x)) for x in values for f in (math.exp, math.log1p) if x > -1 or f is math.exp]
    found += [math.log(abs(float(x))) for x in values]
    return hashlib.sha256(np.array(found).tobytes()).hexdigest()[:24]


def write_record(subject: str) -> None:
    """Write what the kernels of a subject return now."""
    lines = [f"PROBE {probe()}"]
    for name, case in cases(subject).items():
        for block in range(case.blocks):
            found = run_block(name, case, block)
            lines.append(f"{name} {block} {found.digest} {found.total!r}")
    (HERE / "recorded" / f"{subject}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_record(subject: str) -> tuple[str, dict[tuple[str, int], Block]]:
    """Return the probe of a record, and its blocks."""
    first, *lines = (HERE / "recorded" / f"{subject}.txt").read_text(encoding="utf-8").splitlines()
    blocks = {}
    for name, block, digest, total in (line.split() for line in lines):
        blocks[name, int(block)] = Block(digest, float(total))
    return first.split()[1], blocks


def differences(subject: str, blocks: Callable[[int], Iterable[int]]) -> Iterator[str]:
    """Say which blocks differ from the record; ``blocks`` chooses from the number that a kernel has."""
    recorded_probe, recorded = read_record(subject)
    same_platform = recorded_probe == probe()
    for name, case in cases(subject).items():
        for block in blocks(case.blocks):
            found, wanted = run_block(name, case, block), recorded[name, block]
            close = math.isclose(found.total, wanted.total, rel_tol=1e-9, abs_tol=1e-9)
            if found.digest != wanted.digest if same_platform else not close:
                yield f"{subject}.{name}, block {block}: {found} instead of {wanted}"
