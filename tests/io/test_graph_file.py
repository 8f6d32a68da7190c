"""Files of labels of graphs: what is written is read again, what has no effect is left out, damage is found."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import suffice as sf
from suffice.data.attributes import Vocabulary
from suffice.data.variable import Variable
from suffice.files import read_arrays, write_arrays
from suffice.io.chain_file import Proof
from suffice.io.graph_file import KIND, VERSION, GraphFile, load_graph, save_graph
from suffice.io.name_arrays import names_to_arrays
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_layout import layout_with, tied_columns
from suffice.structures.label_graph import CliqueKind, LabelGraph

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
X = [
    sf.Graph([{"w": "a", "n": 1.5}, {"w": "b"}, {"w": "c"}], {"edge": {(0, 1): ["near"], (1, 2): None}}),
    sf.Graph([{"w": "b"}, {"w": "a", "n": 0.5}], {"edge": {(0, 1): ["far"]}}),
    sf.Graph([{"w": "a"}, {"w": "a"}, {"w": "b"}], {"edge": [(0, 1)], "all": [(0, 1, 2)]}),
    sf.Graph([]),
]
Y = [["p", "q", "p"], ["q", "p"], ["q", "q", "p"], []]
OTHERS = [*X, sf.Graph([["unheard"], {"n": 3.0}], {(0, 1): ["unheard", "far"]})]


# Models of all kinds ------------------------------------------------------------------------------------------


@st.composite
def vocabularies(draw: Any) -> Vocabulary:
    """Draw names of any text, the columns of a matrix, or buckets."""
    n_buckets = draw(st.sampled_from([0, 0, 0, 3]))
    names = draw(st.sampled_from([("0", "1"), None]))
    names = tuple(draw(st.lists(st.text(max_size=4), max_size=4, unique=True))) if names is None else names
    return Vocabulary(() if n_buckets else names, n_buckets)


@st.composite
def models(draw: Any) -> GraphModel:
    """Draw a model; many of its weights are zero, and some combinations have none."""
    used = ("edge", "é \0")[: draw(st.integers(0, 2))]
    kinds = tuple(CliqueKind(name, draw(st.integers(1, 3)), draw(vocabularies())) for name in used)
    structure = LabelGraph(draw(vocabularies()), kinds, "tag", symmetric=draw(st.booleans()), min_freq=0.5)
    k = draw(st.integers(1, 3))
    rows = [len(structure.vocabulary), *(len(kind.vocabulary) for kind in kinds)]
    shapes = [(n, int(tied.max()) + 1) for n, tied in zip(rows, tied_columns(structure, k), strict=True)]
    flags = [draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m)) for n, m in shapes]
    kept = [np.array(own, bool).reshape(shape) for own, shape in zip(flags, shapes, strict=True)]
    layout = layout_with(structure, k, kept)
    numbers = st.sampled_from([0.0, 0.0, -0.0, 1.0, -0.5, 0.1, 30.0, 5e-324])
    weights = np.array(draw(st.lists(numbers, min_size=layout.size, max_size=layout.size)), np.float64)
    units = layout.by_weight(np.array([draw(st.sampled_from([1.0, 0.25])) for _ in range(sum(rows))], np.float64))
    labels = draw(st.sampled_from([("x", "y", "z"), (1, 2, 3), ("", "ß", "\n")]))
    information = None
    if draw(st.booleans()):
        half = np.arange(layout.size**2, dtype=np.float64).reshape(layout.size, layout.size)
        information = half + half.T
    return GraphModel(structure, Variable("tag", labels[:k]), layout, weights, units, information)


def cells(model: GraphModel) -> dict[tuple[Any, ...], float]:
    """Return what every combination of a table, an attribute and labels adds, but for zeros."""
    vocabularies = [model.structure.vocabulary, *(kind.vocabulary for kind in model.structure.kinds)]
    found = {}
    for place, (table, names) in enumerate(zip(model.layout.tables(model.weights), vocabularies, strict=True)):
        for row, column in itertools.product(*map(range, table.shape)):
            if table[row, column]:
                found[place, names.name(row), column] = float(table[row, column])
    return found


@QUICK
@given(model=models())
def test_models_are_read_as_they_were_written(model: GraphModel, tmp_path: Path) -> None:
    path = str(tmp_path / "m.graph")
    save_graph(GraphFile(model, {"c1": 0.5}, Proof(True, "Certified.", ("one",), -2.5)), path)
    found = load_graph(path)
    assert cells(found.model) == cells(model)
    assert found.model.label.labels == model.label.labels
    assert [(kind.name, kind.size) for kind in found.model.structure.kinds] == [
        (kind.name, kind.size) for kind in model.structure.kinds
    ]
    assert (found.params, found.proof) == ({"c1": 0.5}, Proof(True, "Certified.", ("one",), -2.5))
    if model.information is None:
        assert found.model.layout.size == np.count_nonzero(model.weights)
    else:
        np.testing.assert_array_equal(found.model.information, model.information)
        np.testing.assert_array_equal(found.model.weights, model.weights)
        np.testing.assert_array_equal(found.model.units, model.units)
        np.testing.assert_array_equal([*map(str, found.model.names())], [*map(str, model.names())])
    before = Path(path).read_bytes()
    save_graph(found, path)
    assert Path(path).read_bytes() == before


# What the estimator keeps -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [{}, {"c1": 0.1, "c2": 0.05}, {"symmetric": True}, {"n_buckets": 16}, {"states": "observed", "cliques": "observed"},
     {"min_freq": np.int64(2)}, {"c2": np.float64(0.5), "method": "pseudo_likelihood"}],
)  # fmt: skip
def test_a_fitted_estimator_answers_alike_from_its_file(params: dict[str, Any], tmp_path: Path) -> None:
    crf = sf.GraphCRF(**params).fit(X, Y)
    crf.save(tmp_path / "m.graph")
    found = sf.GraphCRF.load(tmp_path / "m.graph")
    assert found.get_params() == crf.get_params()
    assert clone(found).get_params() == found.get_params()
    assert found.predict(OTHERS) == crf.predict(OTHERS)
    assert found.classes_.tolist() == ["p", "q"]
    np.testing.assert_allclose(found.log_likelihood(X, Y), crf.log_likelihood(X, Y), rtol=1e-12, atol=1e-14)
    for p, q in zip(found.predict_proba(OTHERS), crf.predict_proba(OTHERS), strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-12, atol=1e-14)
    weights = dict(zip(map(str, found.model_.names()), found.model_.weights, strict=True))
    assert weights.items() <= dict(zip(map(str, crf.model_.names()), crf.model_.weights, strict=True)).items()


def test_columns_of_matrices_stay_where_they_are(tmp_path: Path) -> None:
    x = [sf.Graph(np.array([[0.0, 1, 0], [0, 0, 2]])), sf.Graph(np.array([[0.0, 1, 0]]))]
    crf = sf.GraphCRF(c1=0.1).fit(x, [["a", "b"], ["a"]])
    crf.save(tmp_path / "m.graph")
    assert sf.GraphCRF.load(tmp_path / "m.graph").predict(x) == crf.predict(x) == [["a", "b"], ["a"]]


@pytest.mark.parametrize("labels", [[3, 1, 3], [True, False, True]])
def test_labels_keep_their_type(labels: list[Any], tmp_path: Path) -> None:
    x = [sf.Graph.chain([["a"], ["b"], ["a"]])]
    sf.GraphCRF(c2=0.01).fit(x, [labels]).save(tmp_path / "m.graph")
    found = sf.GraphCRF.load(tmp_path / "m.graph").predict(x)[0]
    assert found == labels
    assert type(found[0]) is type(labels[0])


def test_an_estimator_from_a_file_says_why_it_has_no_fit_and_can_learn_again(tmp_path: Path) -> None:
    sf.GraphCRF().fit(X, Y).save(tmp_path / "m.graph")
    found = sf.GraphCRF.load(tmp_path / "m.graph")
    assert not hasattr(found, "fit_")
    with pytest.raises(sf.EstimationError, match=r"read from a file.*Certified: posterior mode"):
        _ = found.fit_
    with pytest.raises(sf.EstimationError, match="read from a file"):
        found.standard_errors()
    assert found.weights_table().errors is None
    found.save(tmp_path / "again.graph")
    assert (tmp_path / "again.graph").read_bytes() == (tmp_path / "m.graph").read_bytes()
    assert found.fit(X, Y).fit_.certificate.ok
    with pytest.raises(AttributeError, match="no attribute 'fot_'"):
        _ = found.fot_


def test_standard_errors_are_kept_where_there_are_any(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = [sf.Graph.grid(rng.normal(size=(2, 3))) for _ in range(40)]
    y = [rng.integers(0, 2, (2, 3)) for _ in x]
    crf = sf.GraphCRF(c2=0.0).fit(x, y)
    crf.save(tmp_path / "m.graph")
    found = sf.GraphCRF.load(tmp_path / "m.graph")
    np.testing.assert_array_equal(found.standard_errors(), crf.standard_errors())
    assert str(found.weights_table()) == str(crf.weights_table())
    none = sf.GraphCRF(c2=0.0).fit(X, Y)
    assert none.fit_.certificate.exists == "no"
    none.save(tmp_path / "m.graph")
    assert sf.GraphCRF.load(tmp_path / "m.graph").weights_table().errors is None


def test_one_that_was_not_fitted_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        sf.GraphCRF().save(tmp_path / "m.graph")
    assert not list(tmp_path.iterdir())


def test_zero_weights_and_their_names_take_no_room(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = [
        sf.Graph.chain([[f"word{number}", "ab"[number % 2]] for number in rng.integers(0, 900, 30)]) for _ in range(60)
    ]
    y = [["pq"[node[1] == "a"] for node in graph.nodes] for graph in x]
    sizes = []
    for c1 in (0.0, 2.0):
        sf.GraphCRF(c1=c1).fit(x, y).save(tmp_path / "m.graph")
        sizes.append((tmp_path / "m.graph").stat().st_size)
        assert sf.GraphCRF.load(tmp_path / "m.graph").predict(x) == y
    assert sizes[1] < 0.2 * sizes[0]


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.crf"
    sf.ChainCRF().fit([[{"w": "a"}, {"w": "b"}]], [["p", "q"]]).save(path)
    with pytest.raises(sf.FileFormatError, match="'chain model', where 'graph model'"):
        sf.GraphCRF.load(path)
    sf.GraphCRF().fit(X, Y).save(path)
    for read in (sf.ChainCRF.load, sf.read):
        with pytest.raises(sf.FileFormatError, match="'graph model', where 'chain model'"):
            read(path)
    path.write_text("nothing")
    with pytest.raises(sf.FileFormatError):
        sf.GraphCRF.load(path)
    with pytest.raises(sf.FileAccessError):
        sf.GraphCRF.load(tmp_path / "none.graph")
    with pytest.raises(sf.FileAccessError):
        sf.GraphCRF().fit(X, Y).save(tmp_path / "none" / "m.graph")


# Damage -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("graph") / "m.graph"
    sf.GraphCRF(symmetric=True).fit(X, Y).save(path)
    return path.read_bytes()


@QUICK
@given(data=st.data())
def test_damaged_files_are_told_and_nothing_else_happens(data: Any, whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.graph"
    if data.draw(st.booleans()):
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    else:
        at, flip = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(1, 255))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :])
    with pytest.raises(sf.FileFormatError):
        sf.GraphCRF.load(path)


@settings(QUICK, max_examples=200)
@given(data=st.data())
def test_damage_under_a_right_checksum_is_told_or_harmless(data: Any, whole: bytes, tmp_path: Path) -> None:
    body = bytearray(whole[:-32])
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(20, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path / "m.graph"
    path.write_bytes(bytes(body) + hashlib.sha256(body).digest())
    try:
        found = sf.GraphCRF.load(path)
    except sf.FileFormatError:
        return
    assert len(found.predict([sf.Graph(graph.nodes) for graph in OTHERS])) == len(OTHERS)
    found.weights_table()


Change = Callable[[dict[str, Any], dict[str, Any]], Any]
CHANGES: dict[str, Change] = {
    "weights not finite": lambda meta, arrays: arrays.update(weights=arrays["weights"] * np.inf),
    "weights missing": lambda meta, arrays: arrays.update(weights=arrays["weights"][1:]),
    "weights in a matrix": lambda meta, arrays: arrays.update(weights=arrays["weights"][:, None]),
    "weights whole": lambda meta, arrays: arrays.update(weights=arrays["weights"].astype(np.int64)),
    "no weights": lambda meta, arrays: arrays.pop("weights"),
    "units of zero": lambda meta, arrays: arrays.update(units=arrays["units"] * 0),
    "units missing": lambda meta, arrays: arrays.update(units=arrays["units"][1:]),
    "bits missing": lambda meta, arrays: arrays.update(kept=arrays["kept"][1:]),
    "bits more": lambda meta, arrays: arrays.update(kept=np.append(arrays["kept"], np.uint8(0))),
    "other bits": lambda meta, arrays: arrays.update(kept=arrays["kept"] * np.uint8(0)),
    "bits as numbers": lambda meta, arrays: arrays.update(kept=arrays["kept"] * 1.0),
    "bits in a matrix": lambda meta, arrays: arrays.update(kept=arrays["kept"][None]),
    "no bits": lambda meta, arrays: arrays.pop("kept"),
    "information of another size": lambda meta, arrays: arrays.update(information=np.zeros(2)),
    "no names": lambda meta, arrays: arrays.pop("names_0"),
    "names not packed": lambda meta, arrays: arrays.update(names_0=np.zeros(9, np.uint8)),
    "names as numbers": lambda meta, arrays: arrays.update(names_1=arrays["names_1"].astype(float)),
    "names twice": lambda meta, arrays: arrays.update(
        zip(("names_1", "names_1_lengths"), names_to_arrays(["w"] * 3), strict=True)
    ),
    "names of no kind": lambda meta, arrays: meta["tables"][0].update(vocabulary="poems"),
    "more attributes": lambda meta, arrays: meta["tables"][0].update(n_attributes=5),
    "huge buckets": lambda meta, arrays: meta["tables"][0].update(n_attributes=10**15, vocabulary="buckets"),
    "huge columns": lambda meta, arrays: meta["tables"][0].update(n_attributes=10**12, vocabulary="columns"),
    "negative attributes": lambda meta, arrays: meta["tables"][0].update(n_attributes=-1),
    "no tables": lambda meta, arrays: meta.update(tables=[]),
    "fewer tables": lambda meta, arrays: meta["tables"].pop(),
    "kinds twice": lambda meta, arrays: meta["tables"][2].update(name="edge"),
    "kind without a name": lambda meta, arrays: meta["tables"][2].update(name=""),
    "clique of another size": lambda meta, arrays: meta["tables"][2].update(size=2),
    "clique of no members": lambda meta, arrays: meta["tables"][2].update(size=0),
    "clique of many members": lambda meta, arrays: meta["tables"][2].update(size=10**9),
    "clique too large": lambda meta, arrays: meta["tables"][2].update(size=60),
    "clique of half a member": lambda meta, arrays: meta["tables"][2].update(size=2.5),
    "not symmetric": lambda meta, arrays: meta["structure"].update(symmetric=False),
    "odd states": lambda meta, arrays: meta["structure"].update(states="some"),
    "odd frequency": lambda meta, arrays: meta["structure"].update(min_freq=-1),
    "frequency not told": lambda meta, arrays: meta["structure"].update(min_freq=None),
    "no structure": lambda meta, arrays: meta.update(structure=3),
    "more labels": lambda meta, arrays: meta["schema"][0].update(states=["p", "q", "r"]),
    "no labels": lambda meta, arrays: meta["schema"][0].update(states=[]),
    "labels without names": lambda meta, arrays: meta["schema"][0].update(states=None),
    "labels named twice": lambda meta, arrays: meta["schema"][0].update(states=["p", "p"]),
    "another variable": lambda meta, arrays: meta["schema"][0].update(name="other"),
    "no schema": lambda meta, arrays: meta.pop("schema"),
    "params a number": lambda meta, arrays: meta.update(params=3),
    "proof without words": lambda meta, arrays: meta["proof"].update(verdict=None),
    "proof a list": lambda meta, arrays: meta.update(proof=[]),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_no_model_is_told(change: Change, whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.graph"
    path.write_bytes(whole)
    meta, arrays = read_arrays(path, KIND, VERSION)
    change(meta, arrays)
    write_arrays(path, KIND, VERSION, meta, arrays)
    with pytest.raises(sf.FileFormatError, match=r"m\.graph.*holds no proper graph model.*Write or copy it again"):
        sf.GraphCRF.load(path)
