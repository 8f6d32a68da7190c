"""Structures for the command line: from text, from structure files, from models and fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import suffice as sf
from suffice.io.structure_file import read_structure

DATA = {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        ("A -> B", {"A": [], "B": ["A"]}),
        ("[A][B|A]", {"A": [], "B": ["A"]}),
        ("'M. Work' -> Family", {"M. Work": [], "Family": ["M. Work"]}),
        ("A", {"A": []}),
        ("a.txt -> B", {"a.txt": [], "B": ["a.txt"]}),
    ],
)
def test_text_is_a_graph(text: str, graph: Any) -> None:
    assert read_structure(text) == sf.DAG(graph)


@pytest.mark.parametrize(
    ("text", "cliques"),
    [
        ("A:B + B:C", [("A", "B"), ("B", "C")]),
        ("A:B", [("A", "B")]),
        ("A + 'x -> y'", ["A", "x -> y"]),
        ("# A -> B\nA:B", [("A", "B")]),
        ("'[A]' + [B]", ["[A]", "[B]"]),
        ("A:B # it's", [("A", "B")]),
    ],
)
def test_text_with_colon_or_plus_is_cliques(text: str, cliques: Any) -> None:
    assert read_structure(text) == sf.Cliques(cliques)


@pytest.mark.parametrize(
    "text", ["a:b -> C", "a+b <- C", "A → b+c", "'a:b'", "'a+b'; \"c:d\"", "A # b:c + d", "[A:B]", "# x:y\n[A][B|A]"]
)
def test_text_with_arrows_brackets_or_quotes_stays_a_graph(text: str) -> None:
    assert read_structure(text) == sf.DAG(text)


def test_text_of_cliques_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(sf.StructureError, match="character 3"):
        read_structure("A:'B")


@pytest.mark.parametrize("name", ["a+b.bif", "a:b + c.bif"])
def test_file_with_signs_in_its_name_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        Path(name).touch()
    except OSError:
        pytest.skip("no such name for a file here")
    dag = sf.DAG("A -> B")
    sf.write(sf.fit(dag, DATA).model, name)
    assert read_structure(name) == dag
    Path(name).unlink()
    assert isinstance(read_structure(name), sf.Cliques)


def test_folder_of_the_same_name_does_not_hide_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "A").mkdir()
    monkeypatch.chdir(tmp_path)
    assert read_structure("A") == sf.DAG("A")


def write(folder: Path, name: str, entry: Any) -> str:
    path = folder / name
    path.write_text(entry if isinstance(entry, str) else json.dumps(entry), encoding="utf-8")
    return str(path)


TOML = """
type = "DAG"
graph = "H -> A; H -> B"
tie = [["A", "B"]]
latent = { H = 3 }
kinds = { A = "tabular" }
"""


def test_structure_files_describe_graphs(tmp_path: Path) -> None:
    wanted = sf.DAG("H -> A; H -> B", tie=[("A", "B")], latent={"H": 3}, kinds={"A": "tabular"})
    entry = {"type": "DAG", "graph": "H -> A; H -> B", "tie": [["A", "B"]], "latent": {"H": 3},
             "kinds": {"A": "tabular"}}  # fmt: skip
    assert read_structure(write(tmp_path, "s.toml", TOML)) == wanted
    assert read_structure(write(tmp_path, "s.json", entry)) == wanted
    assert read_structure(write(tmp_path, "S.TOML", "\ufeff" + TOML)) == wanted


@pytest.mark.parametrize("graph", [{"B": ["A"]}, [["A", "B"]], "[A][B|A]"], ids=["parents", "edges", "brackets"])
def test_graph_of_a_structure_file_has_any_form(tmp_path: Path, graph: Any) -> None:
    found = read_structure(write(tmp_path, "s.json", {"type": "DAG", "graph": graph}))
    assert found.parents["B"] == ("A",)


def test_structure_files_describe_hypotheses(tmp_path: Path) -> None:
    wanted = sf.Hypotheses({"even": [2, 4], "odd": [1, 3]}, over="number")
    toml = 'type = "Hypotheses"\nover = "number"\n[sets]\neven = [2, 4]\nodd = [1, 3]\n'
    entry = {"type": "Hypotheses", "over": "number", "sets": {"even": [2, 4], "odd": [1, 3]}}
    assert read_structure(write(tmp_path, "s.toml", toml)) == wanted
    assert read_structure(write(tmp_path, "s.json", entry)) == wanted
    assert read_structure(write(tmp_path, "b.json", "\ufeff" + json.dumps(entry))) == wanted


def test_structure_files_describe_cliques(tmp_path: Path) -> None:
    toml = """
    type = "Cliques"
    graph = { A = ["B", "C"], B = ["C"] }
    take = "pairwise"
    """
    assert read_structure(write(tmp_path, "s.toml", toml)) == sf.Cliques([("A", "B"), ("A", "C"), ("B", "C")])
    for graph in ("A:B + C", [["A", "B"], "C"], [["A", "B"], ["C"]], {"A": ["B"], "C": []}):
        found = read_structure(write(tmp_path, "s.json", {"type": "Cliques", "graph": graph}))
        assert found.cliques == (("A", "B"), ("C",))


def test_cliques_of_a_model_are_its_structure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cliques = sf.Cliques("A:B")
    model = sf.MarkovNetwork([(("A", "B"), [[1, 2], [3, 4]])], schema={"A": ["x", "y"], "B": ["u", "v"]})
    sf.write(model, tmp_path / "m.json")
    monkeypatch.setattr(sf.MarkovNetwork, "cliques", cliques, raising=False)
    assert read_structure(str(tmp_path / "m.json")) == cliques


def test_structure_of_a_model_and_of_a_fit_is_used(tmp_path: Path) -> None:
    dag = sf.DAG("A -> B", kinds={"A": "tabular"})
    fit = sf.fit(dag, DATA)
    space = sf.Hypotheses({"even": [2, 4]}, over="n")
    mixture = sf.fit(space, {"n": [2]})
    for name, thing, wanted in (
        ("fit", fit, dag),
        ("model", fit.model, dag),
        ("hypotheses", mixture, space),
        ("mixture", mixture.model, space),
    ):
        path = tmp_path / f"{name}.json"
        sf.write(thing, path)
        assert read_structure(str(path)) == wanted


@pytest.mark.parametrize(
    ("name", "content", "error", "says"),
    [
        ("s.toml", "type = ", sf.FileFormatError, "not valid TOML"),
        ("s.json", "{", sf.FileFormatError, "not valid JSON"),
        ("s.json", 2000 * "[" + 2000 * "]", sf.FileFormatError, "s.json"),
        ("s.json", 200_000 * "[", sf.FileFormatError, "s.json"),
        ("s.json", "[]", sf.FileFormatError, "'Cliques', 'DAG', 'Features'"),
        ("s.json", "3", sf.FileFormatError, "Got None"),
        ("s.toml", 'type = "Pots"', sf.FileFormatError, "Got 'Pots'"),
        ("s.json", '{"type": ["DAG"]}', sf.FileFormatError, "Got ['DAG']"),
        ("s.toml", 'type = "DAG"', sf.StructureError, "'graph'"),
        ("s.toml", 'type = "DAG"\ngraph = "A -> A"', sf.StructureError, "cycle"),
        ("s.toml", 'type = "DAG"\ngraph = "A"\ncolour = 1', sf.StructureError, "colour"),
        ("s.toml", 'type = "DAG"\ngraph = "A"\nlatent = 3', sf.StructureError, "latent"),
        ("s.toml", 'type = "DAG"\ngraph = "A"\nlatent = { A = 0 }', sf.StructureError, "at least 1"),
        ("s.toml", 'type = "DAG"\ngraph = "A"\nlatent = { Z = 2 }', sf.SufficeError, "no node 'Z'"),
        ("s.toml", 'type = "DAG"\ngraph = "A"\ntie = 3', sf.StructureError, "tie"),
        ("s.json", '{"type": "DAG", "graph": {"A": 3}}', sf.StructureError, "s.json"),
        ("s.toml", 'type = "Cliques"', sf.StructureError, "'graph'"),
        ("s.toml", 'type = "Cliques"\ngraph = "A:A"', sf.StructureError, "does not describe a Cliques"),
        ("s.toml", 'type = "Cliques"\ngraph = "A"\ntie = 3', sf.StructureError, "['graph', 'take', 'latent']"),
        ("s.toml", 'type = "Cliques"\ngraph = {A = ["B"]}\ntake = 3', sf.StructureError, "'pairwise'"),
        ("s.toml", 'type = "Cliques"\ngraph = 3', sf.StructureError, "Got int"),
        ("s.toml", 'type = "Hypotheses"', sf.StructureError, "sets"),
        ("s.toml", 'type = "Hypotheses"\nsets = 3', sf.StructureError, "s.toml"),
        ("s.toml", 'type = "Hypotheses"\n[sets]', sf.StructureError, "no hypotheses"),
        ("s.toml", 'type = "Hypotheses"\n[sets]\na = [[1]]', sf.SufficeError, ""),
        ("s.toml", 'type = "Hypotheses"\n[sets]\na = [1979-05-27]', sf.SufficeError, ""),
    ],
)  # fmt: skip
def test_errors_name_the_fault(tmp_path: Path, name: str, content: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as caught:
        read_structure(write(tmp_path, name, content))
    assert says in str(caught.value)
    assert isinstance(caught.value, sf.SufficeError)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    for name in ("s.toml", "s.json"):
        (tmp_path / name).write_bytes(b'type = "\xff"')
        with pytest.raises(sf.FileFormatError, match="not valid"):
            read_structure(str(tmp_path / name))


@pytest.mark.parametrize("name", ["absent.toml", "absent.json"])
def test_absent_files_are_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(sf.FileAccessError, match=name):
        read_structure(str(tmp_path / name))


def test_folder_with_the_ending_of_a_file_is_an_access_error(tmp_path: Path) -> None:
    (tmp_path / "d.toml").mkdir()
    with pytest.raises(sf.FileAccessError, match="directory"):
        read_structure(str(tmp_path / "d.toml"))


def test_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    sf.write(sf.collect(sf.DAG("A"), DATA), tmp_path / "x.stats")
    with pytest.raises(sf.StructureError, match="Statistics has no structure"):
        read_structure(str(tmp_path / "x.stats"))
    (tmp_path / "model.xyz").write_text("network x {}")
    with pytest.raises(sf.UnknownNameError, match=r"model\.xyz"):
        read_structure(str(tmp_path / "model.xyz"))


def test_damaged_model_file_is_refused(tmp_path: Path) -> None:
    sf.write(sf.fit(sf.DAG("A"), DATA), tmp_path / "x.json")
    entry = json.loads((tmp_path / "x.json").read_text())
    del entry["content"]["model"]
    with pytest.raises(sf.FileFormatError, match="'model'"):
        read_structure(write(tmp_path, "x.json", entry))


@pytest.mark.parametrize("text", ["a\0b", "a\0b.json", "a\0b.toml", 5000 * "x"], ids=["nul", "json", "toml", "long"])
def test_text_that_is_no_path_does_not_crash(text: str) -> None:
    try:
        found = read_structure(text)
    except sf.SufficeError:
        return
    assert found.nodes == (text,)
