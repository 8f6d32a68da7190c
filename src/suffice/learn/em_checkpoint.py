"""Checkpoints of EM: what was found so far, in a file, so that a fit can go on from there."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, FileFormatError, shown
from suffice.files import read_arrays, write_arrays
from suffice.learn.method import Problem

Floats = NDArray[np.float64]
KIND, VERSION = "em checkpoint", 1
OUT_OF_STEPS = "'max_iter'"
"""How the reason of a climb that was out of steps begins."""
SECONDS = 10.0
"""A climb is kept at most so often, beside its end."""


class Done(NamedTuple):
    """A climb that had ended: its name, statistics and way, whether it converged, and if not, why it ended."""

    name: str
    vector: Floats
    trace: list[float]
    converged: bool
    reason: str


@dataclass(eq=False)
class Resumed:
    """What a file told: climbs that had ended, and one that was under way."""

    done: list[Done] = field(default_factory=list)
    vector: Floats = field(default_factory=lambda: np.zeros(0))
    trace: list[float] = field(default_factory=list)

    @property
    def is_under_way(self) -> bool:
        """Whether a climb had begun that had not ended."""
        return len(self.trace) > 0

    def ends(self, made: Callable[..., Any]) -> list[Any]:
        """Return the ends that had been reached."""
        return [made(*one) for one in self.done]


class Checkpoint:
    """Keeps the state of a search in a file, if there is one."""

    def __init__(self, path: Path | None, fingerprint: str, max_iter: int = 0) -> None:
        self.path, self.fingerprint, self.max_iter = path, fingerprint, max_iter
        self._done: list[Done] = []
        self._kept = time.monotonic()

    @classmethod
    def of(cls, problem: Problem, begin: Floats | None = None) -> Checkpoint:
        """Return the checkpoint of a problem, which knows the problem again; ``begin`` is what 'init' expects."""
        if problem.checkpoint is None:
            return cls(None, "")
        if not isinstance(problem.checkpoint, str | PathLike):
            raise ArgumentError(
                f"The 'checkpoint' argument must be the path of a file. Got {shown(problem.checkpoint)} instead."
            )
        return cls(Path(problem.checkpoint), fingerprint_of(problem, begin), problem.max_iter)

    def resumed(self) -> Resumed:
        """Read what was kept, if the file is there."""
        if self.path is None or not self.path.exists():
            return Resumed()
        meta, arrays = read_arrays(self.path, KIND, VERSION)
        if meta.get("fingerprint") != self.fingerprint:
            raise FileFormatError(
                f"The checkpoint {str(self.path)!r} is of another fit: other data, another structure, prior, seed, "
                "start or number of restarts. Name another file, or remove this one."
            )
        starts = [
            Done(
                str(name), np.array(arrays[f"vector_{i}"]), arrays[f"trace_{i}"].tolist(), bool(converged), str(reason)
            )
            for i, (name, converged, reason) in enumerate(meta["done"])
        ]
        for i, one in enumerate(starts):
            if one.reason.startswith(OUT_OF_STEPS) and len(one.trace) < self.max_iter:  # more are allowed now
                self._done = starts[:i]
                return Resumed(starts[:i], one.vector, one.trace)
        self._done = starts
        if "vector" not in arrays:
            return Resumed(starts)
        return Resumed(starts, np.array(arrays["vector"]), arrays["trace"].tolist())

    def at(self, vector: Floats, trace: list[float]) -> None:
        """Keep a climb that is under way, not too often."""
        if self.path is not None and time.monotonic() - self._kept >= SECONDS:
            self._write({"vector": vector, "trace": np.array(trace)})

    def ended(self, end: Any) -> None:
        """Keep a climb that has ended; one that was broken off stays under way."""
        if self.path is None:
            return
        if not end.converged and not end.reason:
            self._write({"vector": end.vector, "trace": np.array(end.trace)})
            return
        self._done.append(Done(end.name, end.vector, end.trace, end.converged, end.reason))
        self._write({})

    def _write(self, more: dict[str, Floats]) -> None:
        assert self.path is not None
        arrays = dict(more)
        for i, one in enumerate(self._done):
            arrays |= {f"vector_{i}": one.vector, f"trace_{i}": np.array(one.trace)}
        done = [[one.name, one.converged, one.reason] for one in self._done]
        meta = {"fingerprint": self.fingerprint, "done": done}
        write_arrays(self.path, KIND, VERSION, meta, arrays)
        self._kept = time.monotonic()


def fingerprint_of(problem: Problem, begin: Floats | None = None) -> str:
    """Return a short text that another problem does not have."""
    statistics = problem.statistics
    prior = problem.prior.to_dict() if hasattr(problem.prior, "to_dict") else repr(problem.prior)
    said = [problem.structure.to_dict(), statistics.schema.to_dict(), statistics.weight, statistics.n_read, prior]
    said += [problem.point, problem.seed, problem.restarts, sorted(map(str, problem.options.items())), problem.tol]
    said += [repr(sorted(problem.fixed.items(), key=str)), repr(problem.init)]
    whole = hashlib.sha256(json.dumps(said, default=str, sort_keys=True).encode())
    if begin is not None:
        whole.update(np.ascontiguousarray(begin).tobytes())
    for need in statistics:
        for array in statistics[need].to_arrays().values():
            whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:32]
