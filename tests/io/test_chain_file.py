"""Files of chains of labels: what is written is read again, what has no effect is left out, damage is found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice as sf
from suffice.data.attributes import Vocabulary
from suffice.data.column_text import read_columns
from suffice.data.variable import Variable
from suffice.data.window_templates import Templates
from suffice.files import read_arrays, write_arrays
from suffice.io.chain_file import KIND, VERSION, ChainFile, FeatureRecipe, Proof, TextLayout, load_chain, save_chain
from suffice.io.name_arrays import names_from_arrays, names_to_arrays
from suffice.models.chain_layout import ChainLayout
from suffice.models.chain_model import ChainModel
from suffice.models.chain_pruned import pruned
from suffice.optimise.outcome import Stop
from suffice.sklearn.sequence_inputs import SequenceReader
from suffice.structures.label_chain import LabelChain, LocalChain

X = [[{"w": "the", "n": 1.5}, {"w": "cat"}], [{"w": "a"}, {"w": "dog", "n": 0.5}, {"w": "barks"}], []]
Y = [["D", "N"], ["D", "N", "V"], []]
OTHERS = [*X, [{"w": "unseen"}, {"w": "cat", "n": -1.0}], [{}]]
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


# Models of all kinds ------------------------------------------------------------------------------------------


@st.composite
def pairs(draw: Any, n: int, size: int) -> tuple[Any, Any]:
    """Draw which of so many codes each of n attributes has."""
    rows = [sorted(draw(st.sets(st.integers(0, size - 1), max_size=size))) for _ in range(n)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return starts, np.array([code for row in rows for code in row], np.int32)


@st.composite
def taggers(draw: Any) -> Any:
    """Draw a tagger; its names are any text, and many of its weights are zero."""
    names = tuple(draw(st.lists(st.text(max_size=4), max_size=4, unique=True)))
    n_buckets = draw(st.sampled_from([0, 0, 3]))
    words = Vocabulary(() if n_buckets else names, n_buckets)
    step_features: Any = draw(st.sampled_from([None, "all", () if n_buckets else names[:2]]))
    if step_features == ():
        step_features = None
    steps = None if step_features is None else words if step_features == "all" else Vocabulary(names[:2])
    k = draw(st.integers(1, 3))
    local = draw(st.booleans())
    has_start = draw(st.booleans())
    starts, labels = draw(pairs(len(words), k))
    step_starts, step_pairs = draw(pairs(len(steps or ()), k * k))
    chosen = np.array(sorted(draw(st.sets(st.integers(0, k * k - 1)))), np.int32)
    layout = ChainLayout(k, starts, labels, chosen, has_start, has_start and not local, step_starts, step_pairs)
    numbers = st.sampled_from([0.0, 0.0, -0.0, 1.0, -0.5, 0.1, 700.0, 5e-324])
    weights = np.array(draw(st.lists(numbers, min_size=layout.size, max_size=layout.size)), np.float64)
    structure = (LocalChain if local else LabelChain)(words, steps, boundaries=has_start)
    model = ChainModel(structure, Variable("label", ("x", "y", "z")[:k]), layout, weights)
    shell = (sf.MEMM if local else sf.ChainCRF)()
    shell._take(model, SequenceReader(None, step_features, n_buckets))
    return shell


def sequences_of(names: tuple[str, ...]) -> Any:
    position = st.dictionaries(st.sampled_from([*names, "other"]), st.sampled_from([1.0, 2.0, -1.0]), max_size=3)
    return st.lists(st.lists(position, max_size=4), max_size=3)


def assert_same_answers(one: Any, other: Any, x: Any) -> None:
    assert one.predict(x) == other.predict(x)
    for p, q in zip(one.predict_proba(x), other.predict_proba(x), strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-12, atol=1e-14)
    y = [["x"] * len(sequence) for sequence in x]
    np.testing.assert_allclose(one.log_likelihood(x, y), other.log_likelihood(x, y), rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Not one attribute of X is known")  # of a file without names of zero weights
@pytest.mark.filterwarnings("ignore:No attribute has a weight")
@QUICK
@given(data=st.data())
def test_taggers_are_read_as_they_were_written(data: Any, tmp_path: Path) -> None:
    tagger = data.draw(taggers())
    x = data.draw(sequences_of(tagger.model_.structure.vocabulary.names or ("a", "b")))
    tagger.save(tmp_path / "m.crf")
    found = sf.ChainCRF.load(tmp_path / "m.crf")
    assert type(found) is type(tagger)
    assert found.classes_.tolist() == tagger.classes_.tolist()
    assert_same_answers(found, tagger, x)
    before = (tmp_path / "m.crf").read_bytes()
    found.save(tmp_path / "m.crf")
    assert (tmp_path / "m.crf").read_bytes() == before


@QUICK
@given(tagger=taggers())
def test_pruning_leaves_no_zero_and_every_other_weight(tagger: Any) -> None:
    model = tagger.model_
    small = pruned(model)
    layout, k = small.layout, small.layout.n_labels
    ends = k * (layout.has_start + layout.has_end)
    n_zero_ends = int(np.count_nonzero(np.concatenate([layout.start(small.weights), layout.end(small.weights)]) == 0))
    n_zero_ends -= k * (2 - layout.has_start - layout.has_end)
    assert np.count_nonzero(small.weights) == np.count_nonzero(model.weights)
    assert small.layout.size == np.count_nonzero(model.weights) + n_zero_ends
    assert n_zero_ends <= ends
    named = model.structure.vocabulary
    wide = dict(zip(named.names, model.layout.state_matrix(model.weights).toarray(), strict=False))
    for name, row in zip(small.structure.vocabulary.names, layout.state_matrix(small.weights).toarray(), strict=False):
        np.testing.assert_array_equal(row, wide.pop(name))
    if not named.is_hashed:
        assert not any(row.any() for row in wide.values())


@given(st.lists(st.text(st.characters(), max_size=6), max_size=20))
def test_names_are_read_as_they_were_written(names: list[str]) -> None:
    assert names_from_arrays(*names_to_arrays(names)) == tuple(names)


# What the shells keep -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [sf.ChainCRF, sf.MEMM])
@pytest.mark.parametrize(
    "params",
    [{}, {"c1": 0.3, "c2": 0.05}, {"step_features": ["w"], "c1": 0.2}, {"step_features": "all", "boundaries": True},
     {"n_buckets": 16}, {"n_buckets": 16, "step_features": "all"}, {"states": "all", "transitions": "observed"}],
)  # fmt: skip
def test_a_fitted_tagger_answers_alike_from_its_file(kind: Any, params: dict[str, Any], tmp_path: Path) -> None:
    tagger = kind(**params).fit(X, Y)
    tagger.save(tmp_path / "m.crf")
    found = sf.MEMM.load(tmp_path / "m.crf")
    assert type(found) is kind
    assert found.get_params() == tagger.get_params()
    assert clone(found).get_params() == found.get_params()
    assert found.predict(OTHERS) == tagger.predict(OTHERS)
    np.testing.assert_allclose(found.log_likelihood(X, Y), tagger.log_likelihood(X, Y), rtol=1e-12, atol=1e-14)
    assert sf.read(tmp_path / "m.crf").layout.size <= tagger.model_.layout.size


@pytest.mark.parametrize("ends", [False, True])
def test_templates_come_back(ends: bool, tmp_path: Path) -> None:
    text = read_columns(["the D", "cat N", "", "dogs N", "bark V"])
    made = Templates.parse("U0:%x[0,0]\nU1:%x[-1,0]\nB0:%x[0,0]", boundary="omit", ends=ends)
    x = [[[word] for word in words] for words in text.sentences(0)]
    tagger = sf.ChainCRF(templates=made, c1=0.1).fit(x, text.sentences(1))
    tagger.save(tmp_path / "m.crf")
    found = sf.ChainCRF.load(tmp_path / "m.crf")
    assert found.templates == made
    assert found.predict([*x, [["the"], ["dogs"]]]) == tagger.predict([*x, [["the"], ["dogs"]]])


def test_columns_of_matrices_stay_where_they_are(tmp_path: Path) -> None:
    x = [np.array([[0.0, 1, 0], [0, 0, 2]]), np.array([[0.0, 1, 0]])]
    tagger = sf.ChainCRF(c1=0.1).fit(x, [["a", "b"], ["a"]])
    tagger.save(tmp_path / "m.crf")
    found = sf.ChainCRF.load(tmp_path / "m.crf")
    assert found.predict(x) == tagger.predict(x) == [["a", "b"], ["a"]]


def test_labels_that_are_numbers_stay_numbers(tmp_path: Path) -> None:
    sf.ChainCRF().fit(X, [[1, 2], [1, 2, 3], []]).save(tmp_path / "m.crf")
    assert sf.ChainCRF.load(tmp_path / "m.crf").predict(X[:1]) == [[1, 2]]


def test_odd_parameters_do_not_keep_a_model_from_being_written(tmp_path: Path) -> None:
    class Quiet:
        def begin(self, label: str, total: float | None, unit: str) -> None: ...
        def update(self, done: float, info: str) -> None: ...
        def end(self) -> None: ...

    tagger = sf.ChainCRF(c2=np.float64(0.5), max_iter=np.int64(50), progress=Quiet(), step_features=("w",)).fit(X, Y)
    tagger.save(tmp_path / "m.crf")
    found = sf.ChainCRF.load(tmp_path / "m.crf")
    assert (found.c2, found.max_iter, found.progress, found.step_features) == (0.5, 50, False, ["w"])
    assert found.predict(X) == tagger.predict(X)


def test_a_tagger_from_a_file_says_why_it_has_no_fit_and_can_learn_again(tmp_path: Path) -> None:
    tagger = sf.ChainCRF(warm_start=True).fit(X, Y)
    tagger.save(tmp_path / "m.crf")
    found = sf.ChainCRF.load(tmp_path / "m.crf")
    assert not hasattr(found, "fit_")
    with pytest.raises(sf.SufficeError, match=r"read from a file.*Certified: posterior mode"):
        _ = found.fit_
    found.fit(X, Y)
    assert found.fit_.certificate.ok
    assert len(found.fit_.trace) < len(tagger.fit_.trace)
    with pytest.raises(AttributeError, match="no attribute 'fot_'"):
        _ = found.fot_


def test_one_that_was_not_fitted_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        sf.ChainCRF().save(tmp_path / "m.crf")
    assert not list(tmp_path.iterdir())


def test_models_and_fits_are_written_by_the_registry(tmp_path: Path) -> None:
    tagger = sf.MEMM(c2=0.1).fit(X, Y)
    sf.write(tagger.model_, tmp_path / "m.crf")
    sf.write(tagger.fit_, tmp_path / "f.crf")
    assert load_chain(str(tmp_path / "m.crf")).proof is None
    assert load_chain(str(tmp_path / "f.crf")).proof == Proof.of(tagger.fit_)
    sequences = tagger._read(X)
    np.testing.assert_array_equal(sf.read(tmp_path / "m.crf").best(sequences), tagger.model_.best(sequences))


def test_all_that_a_file_holds_is_read(tmp_path: Path) -> None:
    model = sf.ChainCRF().fit(X, Y).model_
    layout = TextLayout("columns", 3, 1, "\t")
    proof = Proof(False, "Not certified: …", ("one", "two"), -12.5, Stop.HELD_OUT)
    reading = FeatureRecipe(None, ("w",), 0)
    save_chain(ChainFile(model, reading, {"c1": 1, "seed": None}, layout, proof), str(tmp_path / "m.crf"))
    found = load_chain(str(tmp_path / "m.crf"))
    assert (found.reading, found.params, found.layout, found.proof) == (reading, {"c1": 1, "seed": None}, layout, proof)


@pytest.mark.parametrize(("note", "stop"), [("Stopped early: the loss …", Stop.HELD_OUT), ("Something else.", None)])
def test_proofs_in_files_of_earlier_versions_tell_by_their_notes_whether_learning_stopped_early(
    note: str, stop: Stop | None
) -> None:
    proof = Proof(False, "Not certified: …", ("one", note), -12.5, Stop.CONVERGED)
    entry = json.loads(json.dumps(proof.to_dict()))
    assert Proof.from_dict(entry).stop is Stop.CONVERGED
    del entry["stop"]
    assert Proof.from_dict(entry).stop is stop
    with pytest.raises(sf.SufficeError, match="'stop'"):
        Proof.from_dict({**entry, "stop": "LATER"})


def test_zero_weights_make_the_file_small(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(2000)]
    x, y = [[{"w": word} for word in words]], [["a", "b"] * 1000]
    with pytest.warns(ConvergenceWarning, match="nats"):
        model = sf.ChainCRF(max_iter=2, method="lbfgs", tol=0.9).fit(x, y).model_
    few = np.where(np.arange(model.layout.size) % 10, 0.0, 1.0)
    sf.write(replace(model, weights=np.ones(model.layout.size)), tmp_path / "all.crf")
    sf.write(replace(model, weights=few), tmp_path / "few.crf")
    assert (tmp_path / "few.crf").stat().st_size < 0.3 * (tmp_path / "all.crf").stat().st_size


# Damage -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("chain") / "m.crf"
    tagger = sf.ChainCRF(step_features=["w"]).fit(X, Y)
    tagger.save(path)
    return path.read_bytes()


@QUICK
@given(data=st.data())
def test_damaged_files_are_told_and_nothing_else_happens(data: Any, whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.crf"
    if data.draw(st.booleans()):
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    else:
        at, flip = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(1, 255))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :])
    for read in (sf.read, sf.ChainCRF.load):
        with pytest.raises(sf.FileFormatError):
            read(path)


@QUICK
@given(data=st.data())
def test_damage_under_a_right_checksum_is_told_or_harmless(data: Any, whole: bytes, tmp_path: Path) -> None:
    body = bytearray(whole[:-32])
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(20, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path / "m.crf"
    path.write_bytes(bytes(body) + hashlib.sha256(body).digest())
    try:
        found = sf.ChainCRF.load(path)
    except sf.FileFormatError:
        return
    assert len(found.predict(OTHERS)) == len(OTHERS)


Change = Callable[[dict[str, Any], dict[str, Any]], Any]
CHANGES: dict[str, Change] = {
    "labels out of range": lambda meta, arrays: arrays.update(labels=arrays["labels"] + np.uint8(3)),
    "labels that do not rise": lambda meta, arrays: arrays.update(labels=arrays["labels"] * 0),
    "labels missing": lambda meta, arrays: arrays.update(labels=arrays["labels"][:-1]),
    "labels as numbers": lambda meta, arrays: arrays.update(labels=arrays["labels"].astype(float)),
    "labels in a matrix": lambda meta, arrays: arrays.update(labels=arrays["labels"][None]),
    "no labels": lambda meta, arrays: arrays.pop("labels"),
    "negative sizes": lambda meta, arrays: arrays.update(start_sizes=-arrays["start_sizes"].astype(np.int8)),
    "huge sizes": lambda meta, arrays: arrays.update(start_sizes=np.full(3, 2**63, np.uint64)),
    "other sizes": lambda meta, arrays: arrays.update(start_sizes=arrays["start_sizes"] + np.uint8(1)),
    "steps without names": lambda meta, arrays: meta.update(step_vocabulary=None),
    "steps named as positions": lambda meta, arrays: meta.update(step_vocabulary="same"),
    "pairs out of range": lambda meta, arrays: arrays.update(pairs=arrays["pairs"] + np.uint8(1)),
    "step pairs out of range": lambda meta, arrays: arrays.update(step_pairs=arrays["step_pairs"] + np.uint8(9)),
    "weights not finite": lambda meta, arrays: arrays.update(weights=arrays["weights"] * np.inf),
    "weights missing": lambda meta, arrays: arrays.update(weights=arrays["weights"][1:]),
    "weights in a matrix": lambda meta, arrays: arrays.update(weights=arrays["weights"][:, None]),
    "weights whole": lambda meta, arrays: arrays.update(weights=arrays["weights"].astype(np.int64)),
    "more labels": lambda meta, arrays: arrays.update(layout=arrays["layout"] + 1),
    "no layout": lambda meta, arrays: arrays.update(layout=arrays["layout"][:2]),
    "no names": lambda meta, arrays: arrays.pop("names"),
    "names cut": lambda meta, arrays: arrays.update(names=arrays["names"][:-4]),
    "names not packed": lambda meta, arrays: arrays.update(names=np.zeros(9, np.uint8)),
    "names as numbers": lambda meta, arrays: arrays.update(names=arrays["names"].astype(float)),
    "names of other lengths": lambda meta, arrays: arrays.update(names_lengths=arrays["names_lengths"] + np.uint8(1)),
    "names twice": lambda meta, arrays: arrays.update(
        zip(("names", "names_lengths"), names_to_arrays(["w"] * 6), strict=True)
    ),
    "names of no kind": lambda meta, arrays: meta.update(vocabulary="poems"),
    "labels named twice": lambda meta, arrays: meta["schema"][0].update(states=["D", "D", "V"]),
    "labels without names": lambda meta, arrays: meta["schema"][0].update(states=None),
    "another variable": lambda meta, arrays: meta["schema"][0].update(name="other"),
    "no schema": lambda meta, arrays: meta.pop("schema"),
    "schema a number": lambda meta, arrays: meta.update(schema=3),
    "no structure": lambda meta, arrays: meta.update(structure={"type": "DAG"}),
    "structure with more": lambda meta, arrays: meta["structure"].update(colour="red"),
    "structure of odd states": lambda meta, arrays: meta["structure"].update(states="some"),
    "reading a list": lambda meta, arrays: meta.update(reading=[]),
    "templates of nothing": lambda meta, arrays: meta["reading"].update(
        templates={"text": "Q", "boundary": "mark", "ends": False}
    ),
    "templates a text": lambda meta, arrays: meta["reading"].update(templates="U0:%x[0,0]"),
    "step features a number": lambda meta, arrays: meta["reading"].update(step_features=3),
    "buckets that are not there": lambda meta, arrays: meta["reading"].update(n_buckets=7),
    "params a number": lambda meta, arrays: meta.update(params=3),
    "layout of no kind": lambda meta, arrays: meta.update(
        layout={"kind": "x", "n_columns": 1, "label_column": 1, "separator": None}
    ),
    "labels beside the columns": lambda meta, arrays: meta.update(
        layout={"kind": "columns", "n_columns": 1, "label_column": 2, "separator": None}
    ),
    "proof without words": lambda meta, arrays: meta["proof"].update(verdict=None),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_files_that_were_edited_badly_are_refused(name: str, whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.crf"
    path.write_bytes(whole)
    meta, arrays = read_arrays(path, KIND, VERSION)
    write_arrays(path, KIND, VERSION, meta, arrays)
    assert sf.ChainCRF.load(path).predict(X) == Y
    meta = json.loads(json.dumps(meta))
    CHANGES[name](meta, arrays)
    write_arrays(path, KIND, VERSION, meta, arrays)
    with pytest.raises(sf.FileFormatError, match=r"m\.crf.*Write or copy it again"):
        sf.ChainCRF.load(path)


def test_unknown_parameters_of_later_versions_are_left_out(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.crf"
    path.write_bytes(whole)
    meta, arrays = read_arrays(path, KIND, VERSION)
    meta["params"]["colour"] = "red"
    write_arrays(path, KIND, VERSION, meta, arrays)
    assert sf.ChainCRF.load(path).predict(X) == Y


def test_newer_and_other_files_are_refused(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.crf"
    write_arrays(path, KIND, VERSION + 1, {}, {})
    with pytest.raises(sf.FileFormatError, match="Upgrade"):
        sf.read(path)
    write_arrays(path, "statistics", 1, {}, {})
    with pytest.raises(sf.FileFormatError, match="'chain model' was expected"):
        sf.read(path)
    path.write_text("the D\ncat N\n")
    with pytest.raises(sf.FileFormatError, match="not a suffice array file"):
        sf.read(path)
    with pytest.raises(sf.FileAccessError, match="Cannot read"):
        sf.read(tmp_path / "absent.crf")
