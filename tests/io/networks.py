"""What the tests of other programs' formats share: hostile networks, damage, and what is expected of every format."""

from __future__ import annotations

import gzip
import math
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import suffice as sf
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, FileAccessError, FileFormatError
from suffice.io import bif, own_json
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.tabular import TabularCPD

WET = [[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]]
"""The table of the leaf in every format's small example."""

# Networks -----------------------------------------------------------------------------------------------------


def texts(odd: Sequence[str], characters: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(odd), st.text(characters, max_size=6))


ODD = ["a b", " a", "a\n", "1", "-", "é", "<30", "a=b", "a,b", "a|b", "(x)", "{y}", ";", '"', '""', '"a"', "\\", "\\n"]
ODD += ["//", "/* x", "#1", "network", "table", "property", "x\nproperty y", "a\n}", '"a;b"', "\ufeff", '5"', "\r\n"]
TEXTS = texts(ODD, st.characters(exclude_categories=["Cs"]))

ODD_XML = ["a b", " a", "a\n", "\t", "\r", "a\r\nb", "1", "é", "<30", "a&b", "&amp;", "]]>", '"', "'", "<!--", "\ufeff"]
ODD_XML += ["\u00a0", "\u2028", "\x85", "日本", "😀", "NAME", "</NAME>", "", "a = b", "%x;", "\\"]
XML_TEXTS = texts(
    ODD_XML,
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff", include_characters="\t\n\r\x85"),
)

probability = st.floats(0.01, 1, allow_subnormal=False)


@st.composite
def networks(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> BayesianNetwork:
    """Networks whose names, states and properties are any texts; nodes may come before their parents."""
    names = texts.filter(bool)
    nodes = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    states = {node: tuple(draw(st.lists(texts, min_size=1, max_size=3, unique=True))) for node in nodes}
    variables = {node: Variable(node, states[node], True) for node in nodes}
    above = {
        node: draw(st.lists(st.sampled_from(nodes[:i]), unique=True, max_size=2)) if i else []
        for i, node in enumerate(nodes)
    }
    shuffled = draw(st.permutations(nodes))
    tables = {}
    for node in nodes:
        family = NodeFamily(variables[node], tuple(variables[parent] for parent in above[node]))
        shape = [variable.n_states for variable in family.variables]
        weights = draw(st.lists(probability, min_size=math.prod(shape), max_size=math.prod(shape)))
        rows = np.array(weights).reshape(-1, shape[-1])
        tables[node] = TabularCPD.from_raw(family, rows / rows.sum(axis=1, keepdims=True))
    some = st.dictionaries(st.sampled_from(nodes), st.lists(texts, min_size=1, max_size=3), max_size=2)
    properties = {
        "name": draw(names),
        "network": draw(st.lists(texts, max_size=3)),
        "variables": draw(some),
        "probabilities": draw(some),
    }
    return BayesianNetwork(sf.DAG({node: above[node] for node in shuffled}), tables, properties=properties)


def sparse() -> BayesianNetwork:
    a, b = Variable("a", ("x", "y"), True), Variable("b", ("x", "y"), True)
    root = TabularCPD(NodeFamily(a), np.array([[0.5, 0.5]]))
    leaf = TabularCPD(NodeFamily(b, (a,)), np.array([[0.5, 0.5]]), np.array([[1]]), np.array([1.0, 0.0]))
    return BayesianNetwork(sf.DAG("a -> b"), {"a": root, "b": leaf})


def partly_unknown() -> sf.Fit:
    return sf.fit(sf.DAG("a -> b"), {"a": ["x"], "b": ["u"]}, schema={"a": ["x", "y"]}, unseen_parents="nan")


UNWRITABLE = [
    (lambda: sf.DAG("A -> B"), r"A \{} file .* Got DAG instead"),
    (lambda: {"A": 1}, r"A \{} file .* Got dict instead"),
    (sparse, "'b' is a table of which only some rows are stored"),
    (partly_unknown, "the row for a='y' is unknown"),
    (
        lambda: BayesianNetwork(sf.DAG(["a"]), {"a": [1.0]}, schema={"a": ["\ud800"]}),
        r"'\\ud800', which UTF-8 cannot hold",
    ),
]
"""What no format of Bayesian networks can hold, and what is said of it; braces stand for the ending."""


def numbers(cpd: Any) -> list[list[float]]:
    rows: list[list[float]] = (cpd.values if cpd.raw is None else cpd.raw).tolist()
    return rows


def same(first: BayesianNetwork, second: BayesianNetwork) -> bool:
    return (
        first.dag == second.dag
        and [cpd.family for cpd in first.cpds] == [cpd.family for cpd in second.cpds]
        and [numbers(cpd) for cpd in first.cpds] == [numbers(cpd) for cpd in second.cpds]
        and all(np.array_equal(a.values, b.values) for a, b in zip(first.cpds, second.cpds, strict=True))
        and dict(first.properties) == dict(second.properties)
    )


def with_properties(model: BayesianNetwork, properties: dict[str, Any]) -> BayesianNetwork:
    return BayesianNetwork(model.dag, {cpd.family.child.name: cpd for cpd in model.cpds}, properties=properties)


def through_json(model: Any, folder: Path) -> Any:
    own_json.write(model, str(folder / "model.json"))
    return own_json.read(str(folder / "model.json"))


# The shared data ----------------------------------------------------------------------------------------------

NETWORKS = ["alarm", "andes", "asia", "barley", "cancer", "diabetes", "earthquake", "hailfinder", "hepar2", "insurance"]
NETWORKS += ["link", "mildew", "munin", "munin1", "munin2", "munin3", "munin4", "pathfinder", "pigs", "sachs", "survey"]
NETWORKS += ["water", "win95pts"]


def shared(folder: Path, name: str) -> BayesianNetwork:
    return bif.read(str(folder / "networks_bif" / f"{name}.bif.gz"))


# Files --------------------------------------------------------------------------------------------------------


def damaged(text: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.randint(1, 3)):
        at, n = rng.randrange(len(text) or 1), rng.choice([1, 1, 1, 2, 5, 30])
        piece = bytes(rng.choice(b'(){}[];,|"/*#\n 0123456789.-eEabyesno\xff\x00') for _ in range(n))
        text = rng.choice(
            [
                text[:at] + text[at + n :],
                text[:at] + piece + text[at + n :],
                text[:at] + piece + text[at:],
                text[:at] + text[at : at + n] * 2 + text[at + n :],
                text[: max(at, 1)],
                b"\n".join(rng.sample(lines := text.split(b"\n"), len(lines))) if n == 30 else text[: at + 1],
            ]
        )
    return text


class Files:
    """The files of one format, and what is expected of them whatever the format."""

    def __init__(self, form: Any, ending: str) -> None:
        self.form = form
        self.ending = ending

    def parse(self, text: str | bytes, folder: Path, name: str = "") -> Any:
        path = folder / (name or f"x{self.ending}")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.form.read(str(path))

    def written(self, thing: Any, folder: Path, name: str = "") -> bytes:
        path = folder / (name or f"out{self.ending}")
        self.form.write(thing, str(path))
        return path.read_bytes()

    # What a file says -----------------------------------------------------------------------------------------

    def check_small_network(self, text: str, folder: Path) -> None:
        model = self.parse(text, folder)
        assert model.variables == ("rain", "wet")
        assert model.dag.parents["wet"] == ("rain",)
        assert model.schema["wet"].states == ("dry", "damp", "soaked")
        assert all(variable.declared for variable in model.schema.values())
        assert model.cpd("rain").values.tolist() == [[0.75, 0.25]]
        assert model.cpd("wet").values.tolist() == WET
        assert model.properties == {"name": "weather", "network": [], "variables": {}, "probabilities": {}}
        assert model.notes == ()

    def check_line_ends(self, text: str, folder: Path) -> None:
        model = self.parse(text, folder)
        assert same(self.parse(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), folder), model)

    def check_endings(self, text: str, folder: Path) -> None:
        model = self.parse(text, folder)
        for ending in (self.ending, f"{self.ending}.gz"):
            path = folder / f"model{ending}"
            sf.write(model, path)
            content = path.read_bytes()
            assert (gzip.decompress(content) if ending.endswith(".gz") else content).decode() == text
            assert same(sf.read(path), model)

    # Writing --------------------------------------------------------------------------------------------------

    def check_fit(self, folder: Path) -> BayesianNetwork:
        """Write the network of a fit, and return what is read."""
        fit = sf.fit(sf.DAG("a -> b"), {"a": [0, 1, 1], "b": [True, False, True]})
        model: BayesianNetwork = self.parse(self.written(fit, folder), folder)
        assert model.schema["a"].states == ("0", "1")
        assert model.schema["b"].states == ("False", "True")
        assert [numbers(cpd) for cpd in model.cpds] == [numbers(cpd) for cpd in fit.model.cpds]
        assert model.cpd("b").values.tolist() == fit.model.cpd("b").values.tolist()
        return model

    def check_round_trip(self, model: BayesianNetwork, folder: Path) -> BayesianNetwork:
        """Write and read a network, also through JSON, and return what is read."""
        content = self.written(model, folder)
        again: BayesianNetwork = self.parse(content, folder)
        assert same(again, model)
        assert self.written(through_json(again, folder), folder) == content
        return again

    def check_not_written(self, thing: Any, message: str, folder: Path) -> None:
        with pytest.raises(ArgumentError, match=message.replace("{}", self.ending)):
            self.written(thing, folder)
        assert list(folder.iterdir()) == []

    # What is wrong --------------------------------------------------------------------------------------------

    def check_absent(self, folder: Path) -> None:
        with pytest.raises(FileAccessError, match="Cannot read"):
            self.form.read(str(folder / f"absent{self.ending}"))

    def check_mistake(self, text: str, line: int, column: int, message: str, folder: Path) -> None:
        with pytest.raises(FileFormatError) as caught:
            self.parse(text, folder)
        assert message in str(caught.value)
        assert f"x{self.ending}', line {line}, column {column}: " in str(caught.value)

    def check_nonsense(self, text: str, folder: Path) -> None:
        with pytest.raises(FileFormatError) as caught:
            self.parse(text, folder)
        assert len(str(caught.value)) < 1000 + len(str(folder))

    def survivors(self, content: bytes, rng: random.Random, n: int, folder: Path) -> Iterator[BayesianNetwork]:
        """Yield the networks of those damaged copies that can be read, each proper; others must be told with place."""
        refused = []
        for _ in range(n):
            try:
                model = self.parse(damaged(content, rng), folder)
            except FileFormatError as error:
                refused.append(str(error))
                continue
            for cpd in model.cpds:
                assert (cpd.values >= 0).all()
                assert np.allclose(cpd.values.sum(axis=1), 1, atol=1e-9)
            yield model
        assert 0 < len(refused) < n
        assert all(re.search(r"line \d+, column \d+|proper gzip", message) for message in refused)

    def check_damage(self, content: bytes, rng: random.Random, n: int, folder: Path) -> None:
        for model in self.survivors(content, rng, n, folder):
            assert same(self.parse(self.written(model, folder), folder), model)
