"""ChainCRF and MEMM: what they say where something was meant differently, and what other libraries have."""

from __future__ import annotations

import inspect
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from tests.sklearn.sequence_cases import BOTH, SENTENCES, X, Y, same, words

import suffice as sf
from suffice.data.column_text import read_columns
from suffice.data.position_features import read_features
from suffice.data.window_templates import TUTORIAL, Templates
from suffice.result.tag_scores import tag_scores
from suffice.sklearn.sequence_keywords import THEIRS

ROWS = [[[w, w[-1]] for w in text.split()] for text in SENTENCES]
TEXT = "U0:%x[0,0]\nU1:%x[0,1]\n"
SPANS = [[{"D": "B-NP", "A": "I-NP", "N": "I-NP", "V": "O"}[tag] for tag in own] for own in Y]

# Advice -------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    "options", [{}, {"c1": 0.1}, {"method": "sgd", "seed": 0}, {"method": "adagrad", "seed": 0}], ids=str
)
@pytest.mark.parametrize("max_iter", [1, 500])
def test_notes_advise_what_the_shell_has(shell: Any, options: dict[str, Any], max_iter: int) -> None:
    tagger = shell(max_iter=max_iter, **options)
    if "method" in options or max_iter == 1:
        with pytest.warns(ConvergenceWarning):
            tagger.fit(X, Y)
        assert "warm_start=True" in " ".join(note.text for note in tagger.fit_.notes)
    else:
        tagger.fit(X, Y)
    said = " ".join(note.text for note in tagger.fit_.notes)
    assert ("max_iter=" in said) == (max_iter == 1)
    for word in ("init", "'fall'", "this point", "more steps"):
        assert word not in said


@BOTH
def test_attributes_that_no_weight_is_left_for_are_told(shell: Any) -> None:
    with pytest.warns(
        UserWarning, match=r"no attribute occurs 1000 times with a label\. Pass min_freq=… with a smaller"
    ):
        tagger = shell(min_freq=1000).fit(X, Y)
    assert tagger.fit_.notes[-1].text.startswith("No attribute has a weight")
    assert tagger.state_features_ == {}


@BOTH
def test_held_out_sequences_of_other_names_are_told(shell: Any) -> None:
    with pytest.warns(UserWarning, match="Not one attribute of X_dev is known"):
        shell().fit(words(), Y, X_dev=[[{"wort": "der"}]], y_dev=[["D"]])


@BOTH
def test_some_known_attribute_is_enough(shell: Any) -> None:
    tagger = shell(n_buckets=64).fit(X, Y)
    assert tagger.predict([[{"wort": "der"}]])  # hashed names are all known
    assert shell().fit(X, Y).predict([[{"wort": "der"}], [{"word": "the"}]])
    assert shell().fit(X, Y).predict([[{"wort": 0}], []])


@BOTH
def test_names_for_columns_are_refused_unless_they_are_numbers(shell: Any) -> None:
    dense = [np.ones((len(own), 2)) for own in Y]
    tagger = shell().fit(dense, Y)
    for names in ([[{"word": "the"}]], [[["word:the"]]]):
        with pytest.raises(sf.DataError, match="learnt from matrices of 2 columns"):
            tagger.predict(names)
    same(tagger.predict_proba([[{"0": 1.0, "1": 1.0}]]), tagger.predict_proba([np.ones((1, 2))]))


# Keywords -----------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("name", THEIRS)
def test_keywords_of_another_library_are_answered_with_ours(shell: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"{shell.__name__} has no parameter '{name}'") as caught:
        shell(**{name: 1})
    assert isinstance(caught.value, sf.ArgumentError)
    named = {word.partition("=")[0] for word in str(caught.value).split() if "=" in word}
    assert named <= {*shell().get_params(), "X_dev", "y_dev"}
    assert name not in shell().get_params()


@BOTH
def test_parameters_are_still_those_of_the_signature(shell: Any) -> None:
    named = {name for name, p in inspect.signature(shell).parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert set(shell().get_params()) == named
    assert len(named) == 17
    assert clone(shell(c1=0.5)).c1 == 0.5


@BOTH
def test_held_out_sequences_by_place_are_told_their_names(shell: Any) -> None:
    with pytest.raises(TypeError, match=r"fit\(X, y, X_dev=…, y_dev=…\)"):
        shell().fit(X, Y, X, Y)
    names = [[["a"] for _ in own] for own in Y]
    for features in (X, names, tuple(map(tuple, X))):
        with pytest.raises(sf.ArgumentError, match=r"features of sequences.*X_dev=…"):
            shell().fit(X, Y, features)


@BOTH
@pytest.mark.parametrize("wrong", [1, "yes", None])
def test_a_warm_start_is_yes_or_no(shell: Any, wrong: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="'warm_start' argument must be True or False"):
        shell(warm_start=wrong).fit(X, Y)
    assert shell(warm_start=np.bool_(True)).fit(X, Y).fit_.certificate.ok


# Inputs -------------------------------------------------------------------------------------------------------


@BOTH
def test_templates_come_from_files(shell: Any, tmp_path: Path) -> None:
    path = tmp_path / "words.template"
    path.write_text("\ufeff" + TEXT, encoding="utf-8")
    plain = shell(templates=TEXT).fit(ROWS, Y)
    for given in (path, str(path)):
        tagger = clone(shell(templates=given)).fit(ROWS, Y)
        same(tagger.predict_proba(ROWS), plain.predict_proba(ROWS))
        tagger.save(tmp_path / "m.crf")
        path.rename(tmp_path / "away")
        again = shell.load(tmp_path / "m.crf")
        assert again.predict(ROWS) == plain.predict(ROWS)
        assert again.fit(ROWS, Y).predict(ROWS) == plain.predict(ROWS)
        (tmp_path / "away").rename(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"U0:%x[0,0]\nX1\n", "words.template', line 2: 'X1' begins with neither U nor B"),
        (b"# none\n", "words.template' has no line that makes attributes"),
        (b"U0:%x[0,9]\n", r"words.template': 'U0:%x\[0,9\]' asks for column 9"),
        (b"U0:\xe9\n", r"words.template', line 1: the text is not utf-8 .*Write it in UTF-8"),
    ],
)
def test_errors_name_the_file_of_templates(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "words.template"
    path.write_bytes(content)
    with pytest.raises(sf.SufficeError, match=says):
        sf.ChainCRF(templates=path).fit(ROWS, Y)


def test_templates_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(sf.FileAccessError, match="gone"):
        sf.ChainCRF(templates=tmp_path / "gone").fit(ROWS, Y)
    for name in ("gone.template", "Usual.txt", "some/U0"):
        with pytest.raises(sf.ArgumentError, match="there is no file of that name"):
            sf.ChainCRF(templates=name).fit(ROWS, Y)
    assert sf.ChainCRF(templates="U0:%x[0,0]").fit(ROWS, Y).fit_.certificate.ok


@pytest.mark.parametrize(("made", "remedy"), [(pd.DataFrame, r'to_dict\("records"\)'), (pl.DataFrame, r"to_dicts\(\)")])
def test_tables_are_told_how_to_be_sequences(made: Any, remedy: str) -> None:
    table = made({"word": ["the", "cat"]})
    for features in (table, [table]):
        with pytest.raises(sf.DataError, match=rf"Got a table.*table\.{remedy}"):
            sf.ChainCRF().fit(features, [["D", "N"]])
    records = table.to_dict("records") if made is pd.DataFrame else table.to_dicts()
    assert sf.ChainCRF().fit([records], [["D", "N"]]).predict([records])
    with pytest.raises(sf.DataError, match=r"Got a table.*table\.to_numpy\(\)"):
        sf.ChainCRF(templates="U0:%x[0,0]").fit([table], [["D", "N"]])
    assert sf.ChainCRF(templates="U0:%x[0,0]").fit([table.to_numpy()], [["D", "N"]])


def test_short_names_of_long_things() -> None:
    text = read_columns(["the D", "cat N", "", "dogs N"])
    assert repr(text) == str(text) == "ColumnText(2 sentences, 3 tokens, 2 columns)"
    read = read_features([[["a", "b"]], [["a"]]])
    assert repr(read) == "FeatureRead(2 sequences, 2 positions, Vocabulary(2 names), n_unknown=0)"
    assert repr(read.states) == "Attributes(2 rows, 3 entries, 2 attributes)"
    templates = Templates.parse(TUTORIAL, boundary="omit", ends=True)
    assert repr(templates) == "Templates(19 of positions, 0 of steps, boundary='omit', ends=True)"
    made = Templates.parse("U0:%x[0,0]\nB1:%x[0,0]").expand(text.columns, text.offsets)
    assert repr(made) == "Expanded(3 positions, Vocabulary(3 names), steps Vocabulary(1 names), n_unknown=0)"
    assert repr(Templates.parse(TEXT)) == "Templates(2 of positions, 0 of steps)"


# Answers ------------------------------------------------------------------------------------------------------


@BOTH
def test_the_scheme_of_spans_is_that_of_the_labels(shell: Any) -> None:
    plain, spans = shell().fit(X, Y), shell().fit(X, SPANS)
    assert plain.evaluate(X, Y).scheme == "none"
    assert spans.evaluate(X, SPANS).scheme == "conll"
    assert spans.evaluate(X, SPANS).f1 == spans.evaluate(X, SPANS, scheme="iob2").f1
    # By themselves these labels could be spans; the others of the model tell that they are none.
    odd = shell(c2=0.01).fit([[{"a": 1}], [{"b": 1}]], [["O"], ["NN"]])
    assert odd.evaluate([[{"a": 1}]], [["O"]]).scheme == "none"
    assert spans.evaluate(X[:1], [["XX", "YY", "ZZ"]]).scheme == "none"
    numbers = shell().fit([[{"a": 1}], [{"b": 1}]], [[0], [1]])
    assert numbers.evaluate([[{"a": 1}]], [[0]]).scheme == "none"
    with pytest.raises(sf.ArgumentError, match="'scheme' argument"):
        spans.evaluate(X, SPANS, scheme="some")
    with pytest.raises(NotFittedError):
        shell().evaluate(X, Y)
    assert tag_scores(SPANS, SPANS, scheme="auto").scheme == tag_scores(SPANS, SPANS).scheme == "conll"


@BOTH
def test_nothing_has_no_score(shell: Any) -> None:
    tagger = shell().fit(X, Y)
    nothing: list[Any]
    for nothing in ([], [[], []]):
        with pytest.raises(sf.DataError, match="no label to score"):
            tagger.score(nothing, nothing)
        assert tagger.evaluate(nothing, nothing).n_tokens == 0


@BOTH
def test_one_sequence_is_answered_alone(shell: Any) -> None:
    tagger = shell().fit(X, Y)
    for x, tags, marginals in zip(X, tagger.predict(X), tagger.predict_marginals(X), strict=True):
        assert tagger.predict_single(x) == tags
        alone = tagger.predict_marginals_single(x)
        same([list(row.values()) for row in alone], [list(row.values()) for row in marginals])
        assert [list(row) for row in alone] == [list(row) for row in marginals]


@BOTH
def test_weights_by_name_make_the_scores(shell: Any) -> None:
    tagger = shell(c1=0.05, transitions="observed").fit(words(), Y)
    states, steps = tagger.state_features_, tagger.transition_features_
    assert all(states.values())
    assert all(steps.values())
    assert set(steps) <= {pair for own in Y for pair in pairwise(own)}
    assert {(name, label): weight for name, label, weight in tagger.top_features(10**6)} == states
    assert {(one, two): weight for one, two, weight in tagger.top_transitions(10**6)} == steps
    model = tagger.model_
    assert len(states) + len(steps) == np.count_nonzero(model.weights)
    with pytest.raises(NotFittedError):
        shell().state_features_  # noqa: B018
    assert not hasattr(shell(), "transition_features_")


def test_weights_by_name_are_those_of_the_model() -> None:
    tagger = sf.ChainCRF().fit(words(), Y)
    states, steps = tagger.state_features_, tagger.transition_features_

    def score(own: Any, tags: Any) -> float:
        found = sum(states.get((f"word:{x['word']}", tag), 0.0) for x, tag in zip(own, tags, strict=True))
        return found + sum(steps.get(pair, 0.0) for pair in pairwise(tags))

    assert states
    assert steps
    for own, tags in zip(words(), Y, strict=True):
        other = ["N"] * len(tags)
        true, false = (tagger.log_likelihood([own], [each])[0] for each in (tags, other))
        assert score(own, tags) - score(own, other) == pytest.approx(true - false, abs=1e-9)


@BOTH
def test_grids_are_searched_by_spans(shell: Any) -> None:
    grid = GridSearchCV(shell(), {"c2": [0.01, 1000.0]}, cv=KFold(2), scoring=lambda e, x, y: e.evaluate(x, y).f1)
    grid.fit(X * 4, SPANS * 4)
    assert grid.best_params_ == {"c2": 0.01}
    assert grid.best_score_ > 0.9
