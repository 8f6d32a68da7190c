"""ChainCRF and MEMM as people use them: every form of input, and the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from tests.sklearn.sequence_cases import BOTH, SENTENCES, X, Y, same, words

import suffice as sf

# Forms of input -----------------------------------------------------------------------------------------------

FORMS = {
    "lists of names": [[[f"word:{w}"] for w in text.split()] for text in SENTENCES],
    "sets of names": [[{f"word:{w}"} for w in text.split()] for text in SENTENCES],
    "tuples": tuple(tuple((f"word:{w}",) for w in text.split()) for text in SENTENCES),
    "dicts of bools": [[{f"word:{w}": True} for w in text.split()] for text in SENTENCES],
    "dicts of lists": [[{"word": [w]} for w in text.split()] for text in SENTENCES],
    "nested dicts": [[{"word": {w: 1}} for w in text.split()] for text in SENTENCES],
}


@BOTH
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_features_say_the_same(shell: Any, form: str) -> None:
    plain, other = shell().fit(words(), Y), shell().fit(FORMS[form], Y)
    same(plain.predict_proba(words()), other.predict_proba(FORMS[form]))
    assert set(plain.model_.structure.vocabulary.names) == set(other.model_.structure.vocabulary.names)


@BOTH
def test_generators_and_arrays_of_objects_say_the_same(shell: Any) -> None:
    plain = shell().fit(X, Y)
    ragged, tags = np.empty(len(X), object), np.empty(len(Y), object)
    ragged[:], tags[:] = X, [np.array(own, object) for own in Y]
    forms = [
        (lambda: (own for own in X), lambda: (own for own in Y)),
        (lambda: [(position for position in own) for own in X], lambda: [tuple(own) for own in Y]),
        (lambda: ragged, lambda: tags),
    ]
    for features, labels in forms:
        other = shell().fit(features(), labels())
        same(plain.predict_proba(X), other.predict_proba(features()))
        assert other.predict(features()) == plain.predict(X)


@BOTH
def test_matrices_are_columns_of_numbers(shell: Any) -> None:
    rng = np.random.default_rng(0)
    dense = [rng.normal(size=(len(own), 3)) * (rng.random((len(own), 3)) < 0.7) for own in Y]
    dicts = [[{str(j): float(v) for j, v in enumerate(row)} for row in own] for own in dense]
    plain = shell().fit(dicts, Y)
    for form in (dense, [csr_array(own) for own in dense]):
        other = shell().fit(form, Y)
        assert other.fit_.log_likelihood == pytest.approx(plain.fit_.log_likelihood, rel=1e-9)
        same(plain.predict_proba(dicts), other.predict_proba(form), 1e-7)
    whole = np.array([own for own in dense if len(own) == 3])
    assert len(shell().fit(whole, [own for own in Y if len(own) == 3]).predict(whole)) == len(whole)


@pytest.mark.parametrize(
    ("kind", "names"),
    [(int, {"D": 3, "N": 1, "V": 2, "A": 10}), (bool, {"D": True, "N": False, "V": False, "A": True})],
)
@BOTH
def test_labels_come_back_as_they_were(shell: Any, kind: type, names: dict[str, Any]) -> None:
    labels = [[names[tag] for tag in own] for own in Y]
    tagger = shell(c2=0.01).fit(X, labels)
    found = tagger.predict(X)
    assert found == labels
    assert all(type(label) is kind for own in found for label in own)
    assert tagger.classes_.tolist() == sorted(set(names.values()))
    assert tagger.classes_.dtype.kind == ("b" if kind is bool else "i")
    assert all(type(label) is kind for own in tagger.predict_marginals(X) for row in own for label in row)
    arrays = shell(c2=0.01).fit(X, [np.array(own, kind) for own in labels])
    assert arrays.predict(X) == labels


@BOTH
def test_columns_of_pandas_are_labels(shell: Any) -> None:
    labels = [pd.Series(own, dtype=object) for own in Y]
    assert shell(c2=0.01).fit(X, labels).predict(X) == Y


# Edges --------------------------------------------------------------------------------------------------------


@BOTH
def test_empty_sequences_and_none_at_all_have_answers(shell: Any) -> None:
    tagger = shell().fit(X, Y)
    assert tagger.predict([]) == tagger.predict_proba([]) == tagger.n_best([], 2) == tagger.predict_marginals([]) == []
    assert tagger.log_likelihood([], []).shape == (0,)
    assert tagger.predict([[], []]) == [[], []]
    assert [own.shape for own in tagger.predict_proba([[]])] == [(0, 4)]
    assert tagger.n_best([[]], 3) == [[([], 0.0)]]
    assert tagger.log_likelihood([[]], [[]]).tolist() == [0.0]
    assert tagger.sample([[], []], seed=0) == [[], []]


@BOTH
def test_empty_sequences_teach_nothing(shell: Any) -> None:
    plain = shell().fit([own for own in X if own], [own for own in Y if own])
    mixed = shell().fit([[], *X, []], [[], *Y, []])
    np.testing.assert_allclose(plain.model_.weights, mixed.model_.weights, atol=1e-6)


@BOTH
@pytest.mark.parametrize("nothing", [[], [[]], [[], []]])
def test_nothing_to_learn_from_is_refused(shell: Any, nothing: list[Any]) -> None:
    with pytest.raises(sf.DataError, match="no labels to learn from"):
        shell().fit(nothing, nothing)


@BOTH
def test_sequences_of_one_position_are_a_softmax_regression(shell: Any) -> None:
    singles, labels = [[position] for own in X for position in own], [[tag] for own in Y for tag in own]
    tagger = shell(c2=0.3, states="all", tol=1e-9).fit(singles, labels)
    names = [name.partition(":") for name in tagger.model_.structure.vocabulary.names]
    rows = [[float(p[n] == text) if sign else float(p[n]) for n, sign, text in names] for (p,) in singles]
    softmax = sf.SoftmaxRegression("l2", strength=0.6, intercept=False).fit(np.array(rows), [tag for (tag,) in labels])
    np.testing.assert_allclose(
        np.concatenate(tagger.predict_proba(singles)), softmax.predict_proba(np.array(rows)), atol=1e-6
    )
    assert not tagger.model_.layout.transition_weights(tagger.model_.weights).any()


def test_crf_and_memm_agree_on_sequences_of_one_position() -> None:
    singles, labels = [[position] for own in X for position in own], [[tag] for own in Y for tag in own]
    one, two = (shell(c2=0.3, boundaries=True, tol=1e-9).fit(singles, labels) for shell in (sf.ChainCRF, sf.MEMM))
    assert one.fit_.log_likelihood > two.fit_.log_likelihood  # which has no weights of last labels
    one, two = (shell(c2=0.3, tol=1e-9).fit(singles, labels) for shell in (sf.ChainCRF, sf.MEMM))
    same(one.predict_proba(singles), two.predict_proba(singles), 1e-7)


@BOTH
def test_unseen_features_are_left_out_when_tagging(shell: Any) -> None:
    tagger = shell().fit(X, Y)
    odd = [[{**position, "shape": "Xx", "size": 3.0, "seen": False} for position in own] for own in X]
    same(tagger.predict_proba(odd), tagger.predict_proba(X))
    with pytest.warns(UserWarning, match=r"X has names such as 'word:qwerty', and the model such as 'word:the'\."):
        assert len(tagger.predict([[{"word": "qwerty"}, {}]])[0]) == 2
    assert len(tagger.predict([[{}, {}]])[0]) == 2


@BOTH
@pytest.mark.parametrize("nothing", [{}, [], {"word": 0}, {"word": 0.0, "end": False}])
def test_positions_without_features_are_learnt_and_tagged(shell: Any, nothing: Any) -> None:
    bare = [[nothing] * len(own) for own in Y]
    with pytest.warns(UserWarning, match=r"No attribute has a weight.*no position of X has an attribute"):
        tagger = shell(boundaries=True).fit(bare, Y)
    assert "No attribute has a weight" in tagger.fit_.notes[-1].text
    assert tagger.fit_.certificate.ok
    assert [len(own) for own in tagger.predict(bare)] == [len(own) for own in Y]
    assert len(tagger.model_.structure.vocabulary) == 0
    assert tagger.predict_proba([[{"word": "the"}]])[0].sum() == pytest.approx(1)


@BOTH
def test_one_label_is_always_predicted(shell: Any) -> None:
    tagger = shell().fit([[{"a": 1}], [{"b": 2}, {}]], [["x"], ["x", "x"]])
    assert tagger.predict([[{"a": 1}, {"q": 1}]]) == [["x", "x"]]
    assert tagger.log_likelihood([[{}]], [["x"]]) == pytest.approx(0)
    assert tagger.fit_.certificate.ok


@BOTH
def test_one_sequence_is_enough(shell: Any) -> None:
    tagger = shell(c2=0.01).fit(X[:1], Y[:1])
    assert tagger.predict(X[:1]) == Y[:1]


@BOTH
def test_a_label_missing_in_training_is_wrong_in_scores_and_refused_in_likelihoods(shell: Any) -> None:
    tagger = shell(c2=0.01).fit(X, Y)
    odd = [["PRON", *own[1:]] if own else own for own in Y]
    n = sum(map(len, Y))
    assert tagger.score(X, odd) == pytest.approx((n - 6) / n)
    with pytest.raises(sf.DataError, match=r"Sequence 1, position 1 of 'y': the label 'PRON' is not one of"):
        tagger.log_likelihood(X, odd)


def spoilt(at: Any) -> list[Any]:
    changed = [list(own) for own in Y]
    changed[1] = at
    return changed


@BOTH
@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (spoilt(["D", "N"]), "Sequence 2 of 'y' has 2 labels, but its features have 3 positions"),
        (Y[1:], "labels of 7 sequences"),
        (spoilt("DNV"), "Sequence 2 of 'y' must be a list of labels"),
        (spoilt(["D", None, "V"]), "position 2 of 'y': the label is missing"),
        (spoilt(["D", 3, "V"]), "Labels must be of one kind"),
        (None, "'y' argument must be a list"),
    ],
)
def test_ragged_and_missing_labels_are_named(shell: Any, labels: Any, says: str) -> None:
    with pytest.raises(sf.DataError, match=says):
        shell().fit(X, labels)


@BOTH
@pytest.mark.parametrize(
    ("features", "says"),
    [
        ([[{"word": None}]], "the feature 'word' is None"),
        ([[{"word": float("nan")}]], "must be finite"),
        ([[{"word": "the"}, None]], "position 2 of 'X': a position must be"),
        ([None], "Sequence 1 of 'X'"),
        ([{"word": "the"}], r"One sequence alone is \[\[…\]\]"),
        (None, "'X' argument"),
        ("the cat", "'X' argument"),
    ],
)
def test_missing_inputs_when_tagging_are_named(shell: Any, features: Any, says: str) -> None:
    tagger = shell().fit(X, Y)
    for ask in (tagger.predict, tagger.predict_proba, tagger.predict_marginals, tagger.sample):
        with pytest.raises(sf.DataError, match=says):
            ask(features)


@BOTH
def test_sequences_that_lack_a_label_can_be_left_out(shell: Any) -> None:
    gaps: list[Any] = [list(own) for own in Y]
    gaps[0][1], gaps[4] = None, None
    tagger = shell(missing="drop").fit(X, gaps, sample_weight=np.arange(1.0, 8))
    kept = [0, 4]
    rest = shell().fit(
        [own for s, own in enumerate(X) if s not in kept],
        [own for s, own in enumerate(Y) if s not in kept],
        sample_weight=[2.0, 3, 4, 6, 7],
    )
    same(tagger.predict_proba(X), rest.predict_proba(X), 1e-5)
    assert any("2 sequences left out" in note.text for note in tagger.fit_.notes)
    with pytest.raises(sf.DataError, match="no labels to learn from"):
        shell(missing="drop").fit(X[:1], [[None, "N", "V"]])
