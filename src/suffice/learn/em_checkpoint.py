"""Checkpoints of EM: what was found so far, in a file, so that a fit can go on from there."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from suffice.errors import ArgumentError, FileFormatError, shown
from suffice.files import read_arrays, write_arrays
from suffice.learn.method import Problem
from suffice.optimise.outcome import Stop
from suffice.types import Array, Floats

KIND, VERSION = "em checkpoint", 1
REASONS = (("'max_iter'", Stop.OUT_OF_STEPS), ("no better point", Stop.NO_BETTER), ("the objective rose", Stop.LEVEL))
"""How the reasons of ends begin in files of earlier versions, which have nothing else to tell them by."""
PAIRS = (("moves", "changes"), ("curvatures", "moves"))
"""Arrays of a state that have as many rows as each other."""
SECONDS = 10.0
"""A climb is kept at most so often, beside its end."""


Arrays = Mapping[str, Array]
Settings = dict[str, list[str]]
"""What a fit was asked for, by argument: a digest, and the value as it is shown."""
State = dict[str, Floats]
"""All that a search needs to go on with the same bits; empty in files of earlier versions."""


class Done(NamedTuple):
    """A climb that had ended: its name, statistics and way, how it ended, and if it has not converged, why.

    Of one that was out of steps the state is kept, so that it can go on.
    """

    name: str
    vector: Floats
    trace: list[float]
    stop: Stop
    reason: str
    state: State = {}  # noqa: RUF012
    undetermined: tuple[str, ...] = ()


@dataclass(eq=False)
class Resumed:
    """What a file told: climbs that had ended, and one that was under way."""

    done: list[Done] = field(default_factory=list)
    vector: Floats = field(default_factory=lambda: np.zeros(0))
    trace: list[float] = field(default_factory=list)
    state: State = field(default_factory=dict)

    @property
    def is_under_way(self) -> bool:
        """Whether a climb had begun that had not ended."""
        return len(self.trace) > 0


class Checkpoint:
    """Keeps the state of a search in a file, if there is one."""

    def __init__(
        self, path: Path | None, fingerprint: str, max_iter: int = 0, settings: Settings | None = None
    ) -> None:
        self.path, self.fingerprint, self.max_iter, self.settings = path, fingerprint, max_iter, settings or {}
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
        path = Path(problem.checkpoint)
        return cls(path, fingerprint_of(problem, begin), problem.max_iter, _settings_of(problem, begin))

    def resumed(self, size: int = 0) -> Resumed:
        """Read what was kept, if the file is there; ``size`` is the length of the vector of statistics."""
        if self.path is None or not self.path.exists():
            return Resumed()
        meta, arrays = read_arrays(self.path, KIND, VERSION)
        if meta.get("fingerprint") != self.fingerprint:
            differing = _differing(meta.get("settings"), self.settings)
            raise FileFormatError(
                f"The checkpoint {str(self.path)!r} is of another fit: {differing}. Pass what it was begun with, name "
                "another file, or remove this one."
            )
        try:
            starts, under_way = _ended(meta, arrays, size), _under_way(arrays, size)
        except FileFormatError as error:
            raise FileFormatError(
                f"The checkpoint {str(self.path)!r} is damaged: {error}. Remove it to begin anew."
            ) from None
        for i, one in enumerate(starts):
            if one.stop is Stop.OUT_OF_STEPS and len(one.trace) < self.max_iter:  # more are allowed now
                self._done = starts[:i]
                return Resumed(starts[:i], one.vector, one.trace, one.state)
        self._done = starts
        return Resumed(starts, *under_way)

    def at(self, vector: Floats, trace: list[float], state: Callable[[], State] = dict) -> None:
        """Keep a climb that is under way, not too often."""
        if self.path is not None and time.monotonic() - self._kept >= SECONDS:
            self._write({"vector": vector, "trace": np.array(trace), **_named(state(), "state_now_")})

    def ended(self, end: Any) -> None:
        """Keep a climb that has ended; one that was broken off stays under way."""
        if self.path is None:
            return
        if end.stop is None:
            now = _named(end.state(), "state_now_")
            self._write({"vector": end.vector, "trace": np.array(end.trace), **now})
            return
        state = end.state() if end.stop is Stop.OUT_OF_STEPS else {}
        self._done.append(Done(end.name, end.vector, end.trace, end.stop, end.reason, state, end.undetermined))
        self._write({})

    def _write(self, more: dict[str, Floats]) -> None:
        assert self.path is not None
        arrays = dict(more)
        for i, one in enumerate(self._done):
            arrays |= {f"vector_{i}": one.vector, f"trace_{i}": np.array(one.trace)}
            arrays |= _named(one.state, f"state_{i}_")
        done = [[one.name, one.stop is Stop.CONVERGED, one.reason] for one in self._done]
        stops = [one.stop.name for one in self._done]
        named = {str(i): list(one.undetermined) for i, one in enumerate(self._done) if one.undetermined}
        meta = {"fingerprint": self.fingerprint, "settings": self.settings, "done": done, "stops": stops}
        meta["undetermined"] = named
        write_arrays(self.path, KIND, VERSION, meta, arrays)
        self._kept = time.monotonic()


def _named(state: State, prefix: str) -> State:
    """Return the arrays of a state by the names that they have in a file."""
    return {f"{prefix}{name}": array for name, array in state.items()}


def _ended(meta: Mapping[str, Any], arrays: Arrays, size: int) -> list[Done]:
    """Return the climbs that had ended, from the contents of a file."""
    named = meta.get("undetermined", {})
    match meta.get("done"):
        case list(entries) if all(map(_is_entry, entries)) and _are_named(named):
            stops = _stops(meta.get("stops"), entries)
            return [
                Done(
                    name,
                    _vector(arrays, f"vector_{i}", size),
                    _trace(arrays, f"trace_{i}"),
                    stop,
                    reason,
                    _state(arrays, f"state_{i}_", size),
                    tuple(named.get(str(i), ())),
                )
                for i, ((name, _, reason), stop) in enumerate(zip(entries, stops, strict=True))
            ]
    raise FileFormatError("its list of climbs does not give a name, an outcome and a reason for each of them")


def _stops(names: object, entries: list[tuple[str, bool, str]]) -> list[Stop]:
    """Return how each climb ended; of files of earlier versions from whether it converged, and from its reason."""
    match names:
        case None:
            told = [
                next((stop for words, stop in REASONS if reason.startswith(words)), Stop.FAILED)
                for *_, reason in entries
            ]
            return [Stop.CONVERGED if entry[1] else stop for entry, stop in zip(entries, told, strict=True)]
        case list() if len(names) == len(entries) and all(str(name) in Stop.__members__ for name in names):
            return [Stop[str(name)] for name in names]
    raise FileFormatError("its list of stops does not say of each climb how it ended")


def _is_entry(entry: object) -> bool:
    match entry:
        case [str(), bool(), str()]:
            return True
    return False


def _are_named(entry: object) -> bool:
    """Whether an entry lists names of parameters for some of the climbs."""
    lists = entry.values() if isinstance(entry, dict) else [None]
    return all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in lists)


def _under_way(arrays: Arrays, size: int) -> tuple[Any, ...]:
    """Return the vector, the trace and the state of the climb that had not ended; nothing where all had."""
    if "vector" not in arrays:
        return ()
    return _vector(arrays, "vector", size), _trace(arrays, "trace"), _state(arrays, "state_now_", size)


def _vector(arrays: Arrays, name: str, size: int) -> Floats:
    """Return the statistics of a climb, which must be as many finite numbers as the problem has."""
    found = arrays.get(name)
    if found is None or found.dtype != np.float64 or found.shape != (size,) or not np.isfinite(found).all():
        raise FileFormatError(f"its array {name!r} must be {size:,} finite numbers")
    return np.array(found)


def _trace(arrays: Arrays, name: str) -> list[float]:
    """Return the objectives of a climb; one that led nowhere has −inf."""
    found = arrays.get(name)
    if found is None or found.dtype != np.float64 or found.ndim != 1 or not len(found) or not (found < np.inf).all():
        raise FileFormatError(f"its array {name!r} must be a list of objectives, none of them NaN or inf")
    objectives: list[float] = found.tolist()
    return objectives


def _state(arrays: Arrays, prefix: str, size: int) -> State:
    """Return the state of a search, whose arrays must belong together: a file may be whole and hold anything."""
    state = {name.removeprefix(prefix): np.array(one) for name, one in arrays.items() if name.startswith(prefix)}
    fits = [one.dtype == np.float64 and one.ndim > 0 for one in state.values()]
    fits += [state[name].shape == (size,) for name in ("plain", "candidate", "coordinates", "scale") if name in state]
    fits += [state[name].shape == (1,) for name in ("first", "gamma", "n_flat") if name in state]
    rows = [state[name] for name in ("last", "moves", "changes", "kept") if name in state]
    fits += [one.ndim == 2 and one.shape[1] == size for one in rows]
    fits += [len(state["last"]) == 2] if "last" in state and all(fits) else []
    fits += [len(state.get(a, ())) == len(state.get(b, ())) for a, b in PAIRS if a in state] if all(fits) else []
    needed = ("first", "scale", "moves", "gamma") if "coordinates" in state else ("plain",) if state else ()
    if not all(fits) or not all(name in state for name in needed):
        raise FileFormatError("it holds a search that is not of this fit")
    return state


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


def _settings_of(problem: Problem, begin: Floats | None) -> Settings:
    """Return what a fit was asked for, so that another call can say in what it differs."""
    asked: dict[str, Any] = {"structure": problem.structure, "prior": problem.prior, "fixed": dict(problem.fixed)}
    asked["options"] = dict(sorted(problem.options.items()))
    asked |= {name: getattr(problem, name) for name in ("point", "tol", "seed", "restarts", "init")}
    contents = {name: value.to_dict() if hasattr(value, "to_dict") else value for name, value in asked.items()}
    contents["init"] = None if begin is None else np.ascontiguousarray(begin).tobytes()
    return {name: [_digest(contents[name]), shown(value)] for name, value in asked.items()}


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def _differing(before: object, now: Settings) -> str:
    """Say in which arguments two fits differ, with both values; in their data where in none of these."""
    match before:
        case dict() if all(_is_setting(before.get(name)) for name in now):
            others = {name: before[name][1] for name in now if before[name][0] != now[name][0]}
            said = [
                f"another {name}"
                if text == now[name][1]
                else f"it has {name}={text}, and this call {name}={now[name][1]}"
                for name, text in others.items()
            ]
            return "; ".join(said) or "its data, their states or their weights are others"
    return "other data, or another structure, prior, point, tol, seed, init, number of restarts, fixed or options"


def _is_setting(entry: object) -> bool:
    match entry:
        case [str(), str()]:
            return True
    return False
