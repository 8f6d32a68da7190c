"""Files with broken contents: each is refused by an error of the library, or read and then used without harm.

    python -m tests.audit.fuzz --reader checkpoint --files 50000 --seed 1

changes proper files, keeping checksums right, and reads every one of them; without ``--reader`` it is done for all
readers. What is read is used: printed, added, estimated from, resumed. A raw exception, or more than 5 s of CPU time
for one file, is a failure, and the command ends with 1. A file depends on the seed and its number alone:
``--first 123 --files 1 --keep folder`` makes one again and keeps it.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from tests.audit.fuzz_changes import change_bytes, change_container, change_json, change_xml

import suffice as sf
from suffice.engines import local
from suffice.files import read_arrays, write_arrays
from suffice.io.structure_file import read_structure

SECONDS, WALL = 5, 60
TWO = {"A": ["x", "y", "x", "y", "y"], "B": ["u", "v", "v", "u", "u"], "C": ["p", "p", "q", "q", "p"]}
NUMBERS = {"x": [0.1, 1.2, -0.7, 2.0, 0.4], "y": [1.0, 2.1, 0.2, 2.9, 1.6], "A": TWO["A"]}
INCOMPLETE = {"A": ["x", None, "x", "y", "y"], "B": ["u", "v", None, "u", "v"], "C": TWO["C"]}
HOLES = {"x": [0.1, None, -0.7, 2.0, 0.4], "y": [1.0, 2.1, 0.2, None, 1.6], "A": TWO["A"]}


class Sample(NamedTuple):
    """A proper file: its bytes, and how it is read and used."""

    data: bytes
    use: Callable[[Path], Any]


class Reader(NamedTuple):
    """One kind of file: proper ones, the ending of their names, and how they are changed."""

    samples: Callable[[Path], list[Sample]]
    ending: str
    change: Callable[[random.Random, bytes], bytes]


# Checkpoints --------------------------------------------------------------------------------------------------


def checkpoints(folder: Path) -> list[Sample]:
    """Return checkpoints of EM: ended and under way, of discrete and continuous models and of hidden chains."""
    found = []
    for structure, data, options in (
        (sf.DAG("A -> B -> C"), INCOMPLETE, {"missing": "em"}),
        (sf.DAG("L -> A; L -> B", latent={"L": 2}), TWO, {"missing": "em", "restarts": 2}),
        (sf.DAG("x -> y"), HOLES, {"missing": "em"}),
        (sf.MultivariateNormal(["x", "y"]), HOLES, {"missing": "em"}),
        (sf.MarkovChain(latent={"s": 2}, variable="o"), [list("abab"), list("aab")], {"restarts": 1}),
    ):
        path = folder / "fuzz.checkpoint"

        def use(path: Path, structure: Any = structure, data: Any = data, options: Any = options) -> Any:
            found = sf.fit(structure, data, checkpoint=path, max_iter=8, unseen_parents="uniform", seed=1, **options)
            return str(found)

        path.unlink(missing_ok=True)
        use(path)
        found.append(Sample(path.read_bytes(), use))
        meta, arrays = read_arrays(path, "em checkpoint", 1)
        last = len(meta["done"]) - 1  # which shall be under way
        arrays = {name.removesuffix(f"_{last}"): array for name, array in arrays.items()}
        write_arrays(path, "em checkpoint", 1, {**meta, "done": meta["done"][:-1]}, arrays)
        found.append(Sample(path.read_bytes(), use))
    return [*found, _collection()]


def _collection() -> Sample:
    """Return the checkpoint of a pass over two files, after the first of them."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    files = [folder / "one.parquet", folder / "two.parquet"]
    for file in files:
        parquet.write_table(pa.table({"A": ["x", "y"], "B": ["u", "v"]}), file)
    kept: list[bytes] = []

    def use(path: Path) -> Any:
        return str(sf.collect(sf.DAG("A -> B"), files, checkpoint=path))

    def save(pieces: local.LocalPieces, *what: Any) -> None:
        own(pieces, *what)
        kept.append(Path(pieces.checkpoint or "").read_bytes())

    own = local.LocalPieces._save
    with mock.patch.object(local, "SECONDS", -1.0), mock.patch.object(local.LocalPieces, "_save", save):
        use(folder / "fuzz.checkpoint")
    return Sample(kept[0], use)


# Statistics ---------------------------------------------------------------------------------------------------


def statistics(folder: Path) -> list[Sample]:
    """Return statistics of every kind."""
    wide = {f"V{i}": [0, 1, i % 2] for i in range(21)}
    found = []
    for structure, data, options in (
        (sf.DAG("A -> B -> C"), TWO, {}),
        (sf.DAG("x -> y; A -> y"), NUMBERS, {}),
        (sf.DAG("A -> B"), INCOMPLETE, {"missing": "em"}),
        (sf.DAG({"V20": list(wide)[:-1]}), wide, {}),
        (sf.Features([sf.indicator(A="x", B="u")]), TWO, {}),
        (sf.MarkovChain(order=1), [list("abab"), list("aab")], {}),
    ):
        sf.write(sf.collect(structure, data, **options), folder / "fuzz.stats")

        def use(path: Path, structure: Any = structure, data: Any = data, options: Any = options) -> Any:
            found = sf.read(path)
            str(found), found._repr_html_(), found * 2, found + found, str(found.schema)
            return str(sf.estimate(structure, found, unseen_parents="uniform", max_iter=5, data=data, **options))

        found.append(Sample((folder / "fuzz.stats").read_bytes(), use))
    return found


# Containers of models -----------------------------------------------------------------------------------------


def containers(folder: Path) -> list[Sample]:
    """Return models of labels of sequences and of graphs."""
    words = [[["w=a", "c"], ["w=b"], ["w=a"]], [["w=b", "c"], ["w=b"]]]
    tags = [["N", "V", "N"], ["V", "V"]]
    graphs = [sf.Graph([["a"], ["b"], ["a"]], [(0, 1), (1, 2)])]
    found = []
    for model, cases, labels in (
        (sf.ChainCRF(c2=1.0), words, tags),
        (sf.MEMM(c2=1.0), words, tags),
        (sf.GraphCRF(c2=1.0), graphs, [["N", "V", "N"]]),
    ):
        model.fit(cases, labels).save(folder / "fuzz.crf")

        def use(path: Path, model: Any = model, cases: Any = cases) -> Any:
            if not isinstance(model, sf.GraphCRF):
                str(sf.read(path))
            return str(type(model).load(path).predict(cases))

        found.append(Sample((folder / "fuzz.crf").read_bytes(), use))
    return found


# Networks and structures --------------------------------------------------------------------------------------


def networks(folder: Path) -> list[Sample]:
    """Return a Bayesian network in XMLBIF."""
    sf.write(sf.fit(sf.DAG("A -> B; A -> C; B -> C"), TWO, prior=sf.BDeu(1)), folder / "fuzz.xmlbif")

    def use(path: Path) -> Any:
        found = sf.read(path)
        name = next(iter(found.schema))
        return str(found), str(found.query(name)), len(found.sample(2, seed=1))

    return [Sample((folder / "fuzz.xmlbif").read_bytes(), use)]


STRUCTURES: tuple[dict[str, Any], ...] = (
    {"type": "DAG", "graph": "H -> A; H -> B", "tie": [["A", "B"]], "latent": {"H": 3}},
    {"type": "DAG", "graph": {"A": [], "B": ["A"]}, "kinds": {"B": "linear"}},
    {"type": "Cliques", "graph": "A:B + B:C + 'M. Work'"},
    {"type": "Cliques", "graph": {"A": ["B", "C"], "B": ["C"]}, "take": "pairwise"},
    {"type": "Hypotheses", "over": "number", "sets": {"even": [2, 4, 6], "odd": [1, 3]}},
    {"type": "Features", "features": [{"indicator": {"A": "y"}}, {"product": ["x", {"indicators": ["A"]}]}]},
    {"type": "Ising", "graph": "a:b + b:c", "values": [0, 1], "tie": "couplings"},
    {"type": "MultivariateNormal", "variables": ["height", "weight"], "divisor": "n-1"},
    {"type": "Bernoulli", "variable": "heads", "states": [0, 1]},
    {"type": "Autoregression", "order": 2, "variables": ["level"], "id": "lake", "time": "year"},
    {"type": "MarkovChain", "order": 2, "variable": "x", "latent": {}},
    {"type": "GaussianMarkov", "graph": "a:b + b:c"},
)  # fmt: skip


def structures(folder: Path) -> list[Sample]:
    """Return structure files in JSON and TOML."""

    def use(path: Path) -> Any:
        text = path.read_bytes()
        ending = ".json" if text.lstrip()[:1] == b"{" else ".toml"
        named = path.with_suffix(ending)
        path.rename(named)
        try:
            found = read_structure(str(named))
            return str(found), repr(found), found.columns, found.to_dict()
        finally:
            named.unlink()

    written = [json.dumps(entry).encode() for entry in STRUCTURES]
    written += [b'type = "DAG"\ngraph = "H -> A; H -> B"\ntie = [["A", "B"]]\nlatent = { H = 3 }\n',
                b'type = "Features"\ngiven = ["x"]\n[[features]]\nindicator = { A = "yes" }\n[[features]]\n'
                b'product = ["x", { indicators = ["A"] }]\n[tie]\nboth = ["A=yes", "x"]\n']  # fmt: skip
    return [Sample(data, use) for data in written]


def _change_structure(chance: random.Random, data: bytes) -> bytes:
    return change_json(chance, data) if data.startswith(b"{") else change_bytes(chance, data)


READERS: dict[str, Reader] = {
    "checkpoint": Reader(checkpoints, ".checkpoint", change_container),
    "statistics": Reader(statistics, ".stats", change_container),
    "container": Reader(containers, ".crf", change_container),
    "xmlbif": Reader(networks, ".xmlbif", change_xml),
    "structure": Reader(structures, ".structure", _change_structure),
}

# Running ------------------------------------------------------------------------------------------------------


class Hang(BaseException):
    """Nobody catches this but the loop over files."""


@dataclass
class Outcome:
    """What became of the files of one reader."""

    used: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[int]] = field(default_factory=dict)
    slowest: float = 0.0

    def __str__(self) -> str:
        lines = [f"{self.used:,} read and used, {sum(self.refused.values()):,} refused, slowest {self.slowest:.2f} s"]
        lines += [f"  FAILED {len(files):,}: {what}; first {files[:3]}" for what, files in self.failures.items()]
        return "\n".join(lines)


@contextmanager
def limited() -> Iterator[None]:
    """Stop what takes more CPU time than one file may, or waits for ever."""

    def stop(*_: object) -> None:
        raise Hang

    before = [(name, signal.signal(name, stop)) for name in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WALL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for name, handler in before:
            signal.signal(name, handler)


@cache
def samples_of(name: str) -> list[Sample]:
    """Make the proper files of a reader, once."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return READERS[name].samples(Path(folder))


def fuzz(name: str, n_files: int, seed: int, first: int = 0, keep: Path | None = None) -> Outcome:
    """Change proper files, read each of them, and use what was read."""
    outcome, samples = Outcome(), samples_of(name)
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shared) as folder, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number in range(first, first + n_files):
            chance = random.Random(f"{name} {seed} {number}")
            sample = chance.choice(samples)
            path = Path(folder) / f"fuzz{READERS[name].ending}"
            path.write_bytes(READERS[name].change(chance, sample.data))
            if keep is not None:
                (keep / f"{number}{READERS[name].ending}").write_bytes(path.read_bytes())
            _try(sample, path, number, outcome)
    return outcome


def _try(sample: Sample, path: Path, number: int, outcome: Outcome) -> None:
    start = time.process_time()
    failure = None
    try:
        with limited():
            sample.use(path)
        outcome.used += 1
    except sf.SufficeError as error:
        outcome.refused[type(error).__name__] += 1
    except Hang:
        failure = "hang"
    except Exception as error:
        at = [frame for frame in traceback.extract_tb(error.__traceback__) if "suffice" in frame.filename][-1]
        failure = f"{type(error).__name__} in {Path(at.filename).name}:{at.lineno}: {str(error)[:80]!r}"
    taken = time.process_time() - start
    outcome.slowest = max(outcome.slowest, taken)
    if taken > SECONDS and failure is None:
        failure = "more than 5 s"
    if failure is not None:
        outcome.failures.setdefault(failure, []).append(number)


def main(arguments: list[str] | None = None) -> int:
    """Fuzz one reader or all, and print what became of the files."""
    parser = argparse.ArgumentParser(description="Read files with broken contents.")
    parser.add_argument("--reader", choices=list(READERS), help="all of them unless named")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first file")
    parser.add_argument("--keep", type=Path, help="a folder in which all files are kept")
    parser.add_argument("--gigabytes", type=float, default=3.0, help="memory of the process")
    given = parser.parse_args(arguments)
    size = int(given.gigabytes * 10**9)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    failed = False
    for name in READERS if given.reader is None else [given.reader]:
        outcome = fuzz(name, given.files, given.seed, given.first, given.keep)
        print(f"{name}: {given.files:,} files, {outcome}", flush=True)
        failed |= bool(outcome.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
