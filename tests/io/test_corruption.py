"""A damaged model file is refused with its place, or is a proper model: in every format, in bounded time and memory."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.io.corruptions import DAMAGES, corruptions, huge_numbers

import suffice as sf
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, SufficeError
from suffice.graph.directed import topological_order
from suffice.io import FORMATS
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.markov_net import MarkovNetwork

N, ALL = 250, 1000  # damages to a file: always, and among the slow tests
SECONDS = 60
FLOOR = 2**20
NO_MODELS = {".stats", ".evid", ".crf"}  # they have tests of their own
PLACE = re.compile(r"line \d+|gzip|JSON|is damaged|not a file of this library|format version|not .* a proper model")


def network() -> BayesianNetwork:
    rain, wind = Variable("rain", ("no", "yes"), True), Variable("wind", ("calm", "gale"), True)
    wet = Variable("wet", ("dry", "damp", "soaked"), True)
    tables = {
        "rain": TabularCPD.from_raw(NodeFamily(rain), [[0.7500001, 0.25]]),
        "wind": TabularCPD.from_raw(NodeFamily(wind, (rain,)), [[0.5, 0.5], [1 / 3, 2 / 3]]),
        "wet": TabularCPD.from_raw(
            NodeFamily(wet, (rain, wind)), [[0.5, 0.25, 0.25], [0.75, 0.25, 0], [0.125, 0.375, 0.5], [0, 0, 1]]
        ),
    }
    return BayesianNetwork(sf.DAG("rain -> wind; rain -> wet; wind -> wet"), tables)


def markov() -> MarkovNetwork:
    schema = {"a": ["no", "yes"], "b": ["u", "v", "w"], "c": ["x"]}
    factors = [(("b", "a"), [[0.1, 2], [3, 0], [5, 6]]), ((), 0.5), (("a",), [1, 1e-9]), (("b", "a"), np.ones((3, 2)))]
    return MarkovNetwork(factors, schema=schema)


MODELS = {"a Bayesian network": network, "a Markov network": markov}


class Hang(BaseException):
    """Nobody catches this but the test."""


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Stop what takes more CPU time; a busy machine makes no difference."""

    def stop(*_: object) -> None:
        raise Hang(f"not done after {seconds} s of CPU time")

    if not hasattr(signal, "SIGPROF"):
        yield
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def traced() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


def outcome(path: Path) -> tuple[Any, int]:
    """Return the model or the error, and the memory that reading took at most."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        result = sf.read(path)
    except SufficeError as error:
        result = error.with_traceback(None)
    return result, tracemalloc.get_traced_memory()[1] - before


def check_refusal(error: SufficeError, path: Path) -> None:
    message = str(error)
    assert str(path) in message
    assert PLACE.search(message)


def check_model(model: Any) -> None:
    assert model.variables
    assert all(variable.n_states for variable in model.schema.values())
    codes = {name: np.zeros(1, np.int64) for name in model.variables}
    if isinstance(model, MarkovNetwork):
        for factor in model.factors:
            assert factor.values.shape == tuple(model.schema[name].n_states for name in factor.names)
            assert ((factor.values >= 0) & np.isfinite(factor.values)).all()
        assert model.log_score_of(codes, 1) < np.inf
        return
    assert topological_order(model.dag.parents) is not None
    for cpd in model.cpds:
        assert cpd.family.scope == (*model.dag.parents[cpd.family.child.name], cpd.family.child.name)
        rows = cpd.values[~np.isnan(cpd.values).all(axis=1)]
        assert (rows >= 0).all()
        assert np.allclose(rows.sum(axis=1), 1, atol=1e-9)
    assert not model.log_prob_of(codes, 1) > 1e-9


def check_writes(model: Any, path: Path) -> None:
    """Writing a model and reading it back changes nothing more, or says what cannot be written."""
    if not is_held(model, path):
        return
    content = path.read_bytes()
    sf.write(sf.read(path), path)
    assert path.read_bytes() == content


def is_held(model: Any, path: Path) -> bool:
    """Whether the format of a path holds such a model."""
    try:
        sf.write(model, path)
    except ArgumentError:
        return False
    return True


def check(model: Any, ending: str, folder: Path, seed: int, n: int) -> None:
    path = folder / f"good{ending}"
    sf.write(model, path)
    good = path.read_bytes()
    check_model(sf.read(path))
    limit = 2 * outcome(path)[1] + FLOOR
    n_refused = 0
    for number, data in enumerate(itertools.chain(corruptions(good, n, seed), huge_numbers(good))):
        path.write_bytes(data)
        try:
            result, memory = outcome(path)
            assert memory <= limit
            if isinstance(result, SufficeError):
                n_refused += 1
                check_refusal(result, path)
            else:
                check_model(result)
                check_writes(result, folder / f"again{ending}")
        except (Exception, Hang) as error:
            error.add_note(f"{ending}, damage {number} of seed {seed}:\n{data[:3000]!r}")
            raise
    assert n_refused > n / 10


@pytest.mark.parametrize("n", [N, pytest.param(ALL, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ending", [ending for ending in FORMATS if ending not in NO_MODELS])
def test_damaged_file_is_refused_or_a_proper_model(
    ending: str, n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    held = [what for what, build in MODELS.items() if is_held(build(), tmp_path / f"good{ending}")]
    assert held, f"{ending} holds neither {' nor '.join(MODELS)}"
    for what in held:
        with time_limit(SECONDS), traced():
            check(MODELS[what](), ending, tmp_path, zlib.crc32(f"{ending} {what}".encode()), n)


def test_same_seed_gives_the_same_damage() -> None:
    data = b"BAYES 1 2 1 1 0 2 0.5 0.5\n"
    assert list(corruptions(data, 50, 7)) == list(corruptions(data, 50, 7))
    assert len(set(corruptions(data, 200, 7))) > 150


@pytest.mark.parametrize("data", [b"", b"x", b"\x1f\x8b"])
def test_damage_can_be_done_to_any_file(data: bytes) -> None:
    for seed in range(5):
        assert len(list(corruptions(data, len(DAMAGES), seed))) == len(DAMAGES)
