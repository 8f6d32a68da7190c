"""Sizes that are estimated before memory or time is spent, output paths, and files with broken contents."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.audit.cases import Case

import suffice as sf
from suffice.files import read_arrays, write_arrays
from suffice.io.structure_file import read_structure

TWO = {"A": ["x", "y", "x"], "B": ["u", "v", "v"]}
INCOMPLETE = {**TWO, "A": ["x", None, "y"]}
REFUSED = sf.SufficeError


def fit() -> sf.Fit:
    return sf.fit(sf.DAG("A -> B"), TWO)


# Sizes --------------------------------------------------------------------------------------------------------


def many_states() -> Any:
    n = 60_000
    return sf.fit(sf.DAG("A -> B"), {"A": [f"a{i}" for i in range(n)], "B": [f"b{i}" for i in range(n)]})


def many_parents() -> Any:
    n = 60_000  # the table is held by the rows that occur
    found = sf.fit(
        sf.DAG("A -> C; B -> C"),
        {name: [f"{name}{i}" for i in range(n)] for name in "AB"} | {"C": n * [1]},
        unseen_parents="uniform",
    )
    return found.certificate.ok


def latent(n_states: int) -> Callable[[], Any]:
    structure = sf.DAG("L -> A; L -> B", latent={"L": n_states})
    return lambda: sf.fit(structure, TWO, missing="em").certificate.ok


def hidden(n_states: int) -> Callable[[], Any]:
    return lambda: sf.fit(sf.MarkovChain(latent={"s": n_states}, variable="x"), [list("abab")])


def chain_file() -> Any:
    sf.write(sf.fit(sf.MarkovChain(order=2), [list("ababbab")], prior=sf.BDeu(1)), "mc.json")
    entry = json.loads(Path("mc.json").read_text())
    entry["content"]["model"]["structure"]["order"] = 10**25
    Path("mc.json").write_text(json.dumps(entry))
    return sf.read("mc.json")


def wide_normal() -> Any:
    return sf.fit(sf.MultivariateNormal([f"x{i}" for i in range(20_000)]), {f"x{i}": [0.0, 1.0] for i in range(20_000)})


def deep_toml() -> Any:
    Path("d.toml").write_text("type='DAG'\n" + ".".join("a" * 100_000) + " = 1\n")
    return read_structure("d.toml")


MANY = {f"n{i}": [f"n{j}" for j in range(i + 1, 50) if j // 3 != i // 3] for i in range(49)}


def normal_of_many_cliques() -> Any:
    columns = np.random.default_rng(0).normal(size=(50, 300))
    return sf.fit(sf.GaussianMarkov(MANY), {f"n{i}": column for i, column in enumerate(columns)}).certificate.ok


def wide_csv() -> Any:
    n = 100_000
    Path("w.csv").write_text(",".join(f"c{i}" for i in range(n)) + "\n" + ",".join("a" * n) + "\n")
    return sf.fit(sf.DAG("c5 -> c9"), "w.csv").n


# Output paths -------------------------------------------------------------------------------------------------


def link() -> Any:
    Path("t").write_text("old")
    os.symlink("t", "l.json")
    sf.write(fit(), "l.json")
    return os.path.islink("l.json"), Path("t").read_text() != "old", type(sf.read("l.json")).__name__


def pipe() -> Any:
    os.mkfifo("p.json")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("p.json").read_bytes()), daemon=True)
    reader.start()
    sf.write(fit(), "p.json")
    reader.join(10)
    return Path("p.json").is_fifo(), json.loads(got[0])["format"]


def device() -> Any:
    os.symlink("/dev/null", "n.json")
    sf.write(fit(), "n.json")
    return os.path.islink("n.json"), Path("/dev/null").is_char_device()


def leftovers() -> Any:
    Path(".f.json.0123456789ab.part").write_text("half")
    sf.write(fit(), "f.json")
    return sorted(os.listdir())


# Files with a right checksum ----------------------------------------------------------------------------------


def checkpoint(change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Callable[[], Any]:
    """Change the contents of a checkpoint and go on from it."""

    def run() -> Any:
        def call() -> sf.Fit:
            return sf.fit(sf.DAG("A -> B"), INCOMPLETE, missing="em", checkpoint="c", unseen_parents="uniform")

        call()
        meta, arrays = read_arrays("c", "em checkpoint", 1)
        change(meta, arrays)
        write_arrays("c", "em checkpoint", 1, meta, arrays)
        return call()

    return run


def container(kind: str, entries: list[Any], body: bytes = b"", name: str = "z.stats") -> Callable[[], Any]:
    """Read a container with a right checksum."""

    def run() -> Any:
        header = json.dumps({"kind": kind, "version": 1, "meta": {}, "arrays": entries}).encode()
        data = b"SUFFICE\n" + (1).to_bytes(4, "little") + len(header).to_bytes(8, "little") + header + body
        Path(name).write_bytes(data + hashlib.sha256(data).digest())
        return sf.read(name)

    return run


def statistics(**changes: Any) -> Callable[[], Any]:
    """Read statistics of which some facts are changed."""

    def run() -> Any:
        meta, arrays = sf.collect(sf.DAG("A -> B"), TWO).to_parts()
        write_arrays("s.stats", "statistics", 1, meta | changes, arrays)
        return sf.read("s.stats")

    return run


def no_variables() -> Any:
    Path("e.xmlbif").write_text('<BIF VERSION="0.3"><NETWORK></NETWORK></BIF>')
    return sf.read("e.xmlbif")


# Texts and numbers --------------------------------------------------------------------------------------------


def surrogate_state() -> Any:
    return sf.fit(sf.DAG("A -> B"), {"A": ["\ud800", "y"], "B": ["u", "v"]})


def csv(content: str, **options: Any) -> Callable[[], Any]:
    def run() -> Any:
        Path("t.csv").write_text(content)
        return sf.fit(sf.DAG("A -> B"), sf.CSV("t.csv", **options)).n

    return run


def huge_feature() -> Any:
    return sf.fit(sf.Features([sf.feature(lambda a, b: 10**400, ["A", "B"])]), TWO)


def copy_by_sql() -> Any:
    query = "COPY (SELECT 1 AS A) TO 'out.csv'"
    try:
        sf.fit(sf.DAG("A"), sf.SQL(query))
    finally:
        assert not os.path.exists("out.csv"), "the query wrote a file"


CASES = (
    Case("60,000 × 60,000 states", many_states, REFUSED, ("60,000 rows", "86.4 GB", "sf.config(memory")),
    Case("60,000 × 60,000 states of parents", many_parents, True),
    Case("10^4 latent states", latent(10**4), True),
    Case("10^9 latent states", latent(10**9), REFUSED, ("1 TB", "sf.config(memory")),
    Case("10^40 latent states", latent(10**40), REFUSED, ("sf.config(memory",)),
    Case("10^9 hidden states", hidden(10**9), REFUSED, ("sf.config(memory",)),
    Case("chain of order 1000", lambda: sf.fit(sf.MarkovChain(order=1000), [list("abab")]).n, 4.0),
    Case(
        "text of a chain of order 10^8",
        lambda: str(sf.MarkovChain(order=10**8)),
        REFUSED,
        ("4e+04 TB", "sf.config(memory"),
    ),
    Case("text of a chain of order 10^4", lambda: len(str(sf.MarkovChain(order=10**4))) < 200, True),
    Case("chain file of order 10^25", chain_file, REFUSED, ("order",)),
    Case("10^12 draws", lambda: fit().model.sample(10**12), REFUSED, ("TB", "sf.config(memory")),
    Case("normal of 20,000 columns", wide_normal, REFUSED, ("GB", "sf.config(memory")),
    Case("structure file with keys of 10^5 parts", deep_toml, REFUSED, ("parts",)),
    Case("graph of 3^16 cliques", lambda: sf.Cliques(MANY), REFUSED, ("maximal cliques", "pairwise")),
    Case("edges of a graph of 3^16 cliques", lambda: sf.Cliques(MANY, take="pairwise").is_graphical, False),
    Case("normal on a graph of 3^16 cliques", normal_of_many_cliques, True),
    Case("CSV file of 10^5 columns", wide_csv, 1.0),
    Case("output is a symbolic link", link, (True, True, "NetworkFit")),
    Case("output is a pipe", pipe, (True, "suffice")),
    Case("output is a device", device, (True, True)),
    Case("file left by a killed writer", leftovers, ["f.json"]),
    Case("checkpoint: entries of two", checkpoint(lambda m, a: m.update(done=[["a", True]])), REFUSED, ("Remove it",)),
    Case("checkpoint: done is a number", checkpoint(lambda m, a: m.update(done=5)), REFUSED),
    Case("checkpoint: no list of climbs", checkpoint(lambda m, a: m.pop("done")), REFUSED),
    Case("checkpoint: no vector", checkpoint(lambda m, a: a.pop("vector_0")), REFUSED, ("vector_0",)),
    Case("checkpoint: no trace", checkpoint(lambda m, a: a.pop("trace_0")), REFUSED, ("trace_0",)),
    Case("checkpoint: empty trace", checkpoint(lambda m, a: a.update(trace_0=np.zeros(0))), REFUSED),
    Case("checkpoint: trace without axes", checkpoint(lambda m, a: a.update(trace_0=np.zeros(()))), REFUSED),
    Case("checkpoint: trace of two axes", checkpoint(lambda m, a: a.update(trace_0=np.zeros((1, 1)))), REFUSED),
    Case("checkpoint: NaN in the trace", checkpoint(lambda m, a: a.update(trace_0=np.array([np.nan]))), REFUSED),
    Case("checkpoint: longer vector", checkpoint(lambda m, a: a.update(vector_0=np.zeros(99))), REFUSED),
    Case("container: empty and huge", container("statistics", [["a", "float64", [0, 2**62]]]), REFUSED),
    Case("container: 70 axes", container("statistics", [["a", "float64", [1] * 70]], bytes(8)), REFUSED),
    Case("container: bool as a size", container("chain model", [["a", "float64", [True]]], bytes(8), "b.crf"), REFUSED),
    Case("statistics: n_read is a list", statistics(n_read=[4]), REFUSED, ("n_read",)),
    Case("statistics: n_dropped is text", statistics(n_dropped="x"), REFUSED, ("n_dropped",)),
    Case("statistics: n_dropped above n_read", statistics(n_dropped=10), REFUSED),
    Case("statistics: remarks are numbers", statistics(remarks=[1]), REFUSED, ("remarks",)),
    Case("XMLBIF without variables", no_variables, REFUSED, ("variable",)),
    Case("lone surrogate as a state", surrogate_state, REFUSED, ("Unicode",)),
    Case("lone surrogate as a missing value", csv("A,B\nx,u\ny,v\n", na_values=["\ud800"]), REFUSED, ("Unicode",)),
    Case("UTF-16 without a byte order mark", csv("A,B\nx,u\ny,v\n", encoding="utf-16"), REFUSED, ("encoding",)),
    Case("NUL in a name of a column", csv("x,u\ny,v\n", names=["A\0", "B"]), REFUSED, ("NUL",)),
    Case("NUL in the name of a file", lambda: sf.fit(sf.DAG("A"), ["a\0.csv", "b.csv"]), REFUSED, ("NUL",)),
    Case("feature of 10^400", huge_feature, REFUSED, ("finite",)),
    Case("COPY through sf.SQL", copy_by_sql, REFUSED, ("only reads",)),
)
