"""ChainCRF and MEMM: their options, searches and answers, and scikit-learn's protocol."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from tests.learn.chain_cases import InterruptsAt
from tests.sklearn.sequence_cases import BOTH, SENTENCES, X, Y, same

import suffice as sf

# Options ------------------------------------------------------------------------------------------------------


@BOTH
def test_weights_are_copies(shell: Any) -> None:
    times = [2, 1, 3, 1, 0, 1, 1]
    weighted = shell(tol=1e-9).fit(X, Y, sample_weight=times)
    copies = [s for s, n in enumerate(times) for _ in range(n)]
    repeated = shell(tol=1e-9).fit([X[s] for s in copies], [Y[s] for s in copies])
    same(weighted.predict_proba(X), repeated.predict_proba(X), 1e-6)
    everywhere = shell(tol=1e-9).fit(X, Y, sample_weight=1)
    same(everywhere.predict_proba(X), shell(tol=1e-9).fit(X, Y).predict_proba(X), 1e-7)


@BOTH
@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1, 2], "one number a sequence, 7 in all"),
        ([[1.0] * 7], "one number a sequence"),
        (["a"] * 7, "one number a sequence"),
        ([0] * 7, "not zero"),
        ([1, 1, 1, 1, 1, 1, -1], "row 7"),
        ([1, 1, 1, 1, 1, 1, np.nan], "row 7"),
    ],
)
def test_weights_that_are_none_are_refused(shell: Any, weights: Any, says: str) -> None:
    with pytest.raises(sf.DataError, match=says):
        shell().fit(X, Y, sample_weight=weights)


@BOTH
def test_step_features_are_weights_of_pairs(shell: Any) -> None:
    tagger = shell(step_features=["end"]).fit(X, Y)
    names = tagger.model_.structure.step_vocabulary.names
    assert names
    assert all(name.startswith("end:") for name in names)
    assert tagger.fit_.certificate.ok
    assert tagger.predict([[{"end": "never seen", "word": "the"}] * 3])
    every = shell(step_features="all").fit(X, Y)
    assert every.model_.structure.step_vocabulary == every.model_.structure.vocabulary
    alone = shell(step_features=["length"]).fit(X, Y)
    assert alone.model_.structure.step_vocabulary.names == ("length",)
    assert every.fit_.certificate.ok
    assert shell().fit(X, Y).fit_.log_likelihood < tagger.fit_.log_likelihood < every.fit_.log_likelihood


@BOTH
def test_hashed_names_need_no_vocabulary(shell: Any) -> None:
    many, few = shell(n_buckets=1 << 16).fit(X, Y), shell(n_buckets=2).fit(X, Y)
    same(many.predict_proba(X), shell().fit(X, Y).predict_proba(X), 1e-6)
    assert len(few.model_.structure.vocabulary) == 2
    assert few.fit_.certificate.ok
    assert shell(n_buckets=64, step_features="all").fit(X, Y).fit_.certificate.ok


@BOTH
def test_templates_make_features_from_columns(shell: Any) -> None:
    rows = [[[w, w[-1]] for w in text.split()] for text in SENTENCES]
    tagger = shell(templates="# words\nU0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\nB1:%x[0,1]\n").fit(rows, Y)
    assert tagger.fit_.certificate.ok
    assert tagger.predict(rows[:2]) == Y[:2]
    assert "U0:the" in tagger.model_.structure.vocabulary.names
    assert tagger.predict([[], [("never", "seen"), ("the", "e")]])[0] == []
    with pytest.warns(UserWarning, match=r"X has names such as 'U0:never', and the model such as 'U0:the'"):
        assert len(tagger.predict([np.array([["never", "seen"]])])[0]) == 1


@BOTH
@pytest.mark.parametrize(
    "option", [{"states": "all"}, {"transitions": "observed"}, {"boundaries": True}, {"min_freq": 2}]
)
def test_options_reach_the_structure(shell: Any, option: dict[str, Any]) -> None:
    plain, other = shell().fit(X, Y), shell(**option).fit(X, Y)
    ((name, value),) = option.items()
    assert getattr(other.model_.structure, name) == value
    assert other.fit_.certificate.ok
    more = name in ("states", "boundaries")
    assert (other.model_.layout.size > plain.model_.layout.size) == more


@BOTH
def test_absolute_values_and_no_penalty_at_all(shell: Any) -> None:
    sparse = shell(c1=0.5, c2=0.0).fit(X, Y)
    assert sparse.fit_.certificate.ok
    assert (sparse.model_.weights == 0).any()
    plain = shell(c2=0.0, tol=1e-4).fit(X, Y)
    assert plain.fit_.prior is None
    assert plain.fit_.log_likelihood > shell().fit(X, Y).fit_.log_likelihood


@BOTH
def test_a_warm_start_begins_where_the_last_one_ended(shell: Any) -> None:
    tagger = shell(warm_start=True).fit(X, Y)
    assert len(tagger.fit_.trace) > 3
    assert len(tagger.fit(X, Y).fit_.trace) <= 1
    more = tagger.fit([*X, [{"word": "quickly"}]], [*Y, ["ADV"]])
    cold = shell().fit([*X, [{"word": "quickly"}]], [*Y, ["ADV"]])
    same(more.predict_proba(X), cold.predict_proba(X), 1e-4)
    assert "ADV" in more.classes_


@BOTH
def test_a_second_fit_forgets_the_first(shell: Any) -> None:
    tagger = shell().fit(X, Y).fit(X[:1], Y[:1])
    assert tagger.classes_.tolist() == ["D", "N", "V"]
    same(tagger.predict_proba(X), shell().fit(X[:1], Y[:1]).predict_proba(X))


# The search ---------------------------------------------------------------------------------------------------


@BOTH
def test_too_few_steps_are_warned_of(shell: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="Not certified"):
        tagger = shell(max_iter=1).fit(X, Y)
    assert not tagger.fit_.certificate.ok
    assert tagger.predict(X)


@BOTH
@pytest.mark.parametrize("dev", [False, True])
def test_an_interrupt_keeps_the_weights_and_says_so(shell: Any, dev: bool) -> None:
    held_out = {"X_dev": X[:2], "y_dev": Y[:2]} if dev else {}
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        tagger = shell(progress=InterruptsAt(3)).fit(X, Y, **held_out)
    assert len(tagger.fit_.trace) == 3
    assert tagger.model_.weights.any()
    assert len(tagger.predict(X)) == len(X)


@BOTH
def test_learning_stops_when_held_out_sequences_no_longer_gain(shell: Any) -> None:
    rng = np.random.default_rng(0)
    noise = [[list("DNVA")[i] for i in rng.integers(0, 4, len(own))] for own in Y]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tagger = shell(c2=1e-3, patience=2).fit(X, Y, X_dev=X, y_dev=noise)
    (note,) = [note.text for note in tagger.fit_.notes if "Stopped early" in note.text]
    assert "for 2 steps more" in note
    free = shell(c2=1e-3).fit(X, Y)
    assert tagger.log_likelihood(X, noise).sum() > free.log_likelihood(X, noise).sum()


@BOTH
def test_held_out_sequences_must_be_whole(shell: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="Pass both, or neither"):
        shell().fit(X, Y, X_dev=X)
    with pytest.raises(sf.DataError, match=r"of 'y_dev': the label 'Q' is not one of"):
        shell().fit(X, Y, X_dev=[[{}]], y_dev=[["Q"]])
    with pytest.raises(sf.DataError, match="have no positions"):
        shell().fit(X, Y, X_dev=[[]], y_dev=[[]])


# Answers ------------------------------------------------------------------------------------------------------


@BOTH
def test_answers_agree_with_each_other(shell: Any) -> None:
    tagger = shell(boundaries=True, step_features=["end"]).fit(X, Y)
    best, several, tables = tagger.predict(X), tagger.n_best(X, 3), tagger.predict_proba(X)
    assert [own[0][0] for own in several] == best
    np.testing.assert_allclose([own[0][1] for own in several], tagger.log_likelihood(X, best), atol=1e-9)
    for own, named in zip(tables, tagger.predict_marginals(X), strict=True):
        np.testing.assert_allclose(own.sum(axis=1), 1, atol=1e-9) if len(own) else None
        assert [list(row.values()) for row in named] == own.tolist()
        assert all(list(row) == tagger.classes_.tolist() for row in named)
    assert tagger.log_likelihood(X, Y).sum() == pytest.approx(tagger.fit_.log_likelihood)
    assert tagger.sample(X, seed=3) == tagger.sample(X, seed=3)
    assert tagger.score(X, best) == 1.0
    assert tagger.evaluate(X, Y, scheme="none").accuracy == tagger.score(X, Y)
    every = tagger.n_best(X[2:3], 100)[0]
    assert len(every) == 16
    assert sum(np.exp(score) for _, score in every) == pytest.approx(1)


@BOTH
@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.predict(X), lambda t: t.predict_proba(X), lambda t: t.predict_marginals(X),
        lambda t: t.n_best(X, 2), lambda t: t.log_likelihood(X, Y), lambda t: t.sample(X), lambda t: t.score(X, Y),
        lambda t: t.top_features(), lambda t: t.top_transitions(), lambda t: t.plot(), lambda t: t.save("nowhere.crf"),
    ],
)  # fmt: skip
def test_answers_need_a_fit(shell: Any, ask: Any) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ask(shell())


# scikit-learn's protocol --------------------------------------------------------------------------------------


@BOTH
def test_parameters_are_got_set_and_cloned(shell: Any) -> None:
    tagger = shell(c1=0.25, step_features=["word"])
    assert tagger.get_params()["c1"] == 0.25
    assert clone(tagger).get_params() == tagger.get_params()
    assert tagger.set_params(c2=3.0).c2 == 3.0
    fresh = clone(shell().fit(X, Y))
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert repr(shell(c2=2.0)) == f"{shell.__name__}(c2=2.0)"


@BOTH
def test_parameters_are_looked_at_in_fit_alone(shell: Any) -> None:
    for name, wrong in (("c2", -1), ("c1", "x"), ("states", "some"), ("n_buckets", -1), ("min_freq", -1), ("tol", 0)):
        tagger = shell(**{name: wrong})
        with pytest.raises(sf.ArgumentError, match=name):
            tagger.fit(X, Y)


@BOTH
def test_a_pickle_is_the_same_tagger(shell: Any) -> None:
    tagger = shell(step_features=["end"]).fit(X, Y)
    again = pickle.loads(pickle.dumps(tagger))
    assert again.predict(X) == tagger.predict(X)
    np.testing.assert_array_equal(again.log_likelihood(X, Y), tagger.log_likelihood(X, Y))
    assert str(again.fit_) == str(tagger.fit_)


@BOTH
def test_cross_validation_takes_sequences(shell: Any) -> None:
    scores = cross_val_score(shell(), X * 3, Y * 3, cv=KFold(3))
    assert scores.shape == (3,)
    assert (scores > 0.5).all()


@BOTH
def test_grids_of_penalties_are_searched(shell: Any) -> None:
    grid = GridSearchCV(shell(), {"c2": [0.01, 1000.0], "boundaries": np.array([True, False])}, cv=KFold(2))
    grid.fit(X * 4, Y * 4)
    assert grid.best_params_["c2"] == 0.01
    assert grid.best_estimator_.predict(X)
    assert grid.score(X, Y) > 0.9


@BOTH
def test_what_is_given_is_not_changed(shell: Any) -> None:
    before = pickle.dumps((X, Y))
    weights = np.ones(7)
    shell().fit(X, Y, sample_weight=weights, X_dev=X, y_dev=Y).predict(X)
    assert pickle.dumps((X, Y)) == before
    assert weights.flags.writeable
