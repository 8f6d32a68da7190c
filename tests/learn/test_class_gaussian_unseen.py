"""Classes without rows, and remedies for degenerate data that have to help."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.class_gaussian_cases import NAMES, table

import suffice as sf
from suffice.structures.class_gaussian import ClassGaussian

KINDS: dict[str, dict[str, Any]] = {
    "full": {},
    "tied": {"covariance": "tied"},
    "diagonal": {"covariance": "diagonal", "divisor": "n-1"},
    "tied_diagonal": {"covariance": "tied_diagonal", "divisor": "n-1"},
    "spherical": {"covariance": "spherical"},
    "tied_spherical": {"covariance": "tied_spherical"},
    "oas": {"shrinkage": "oas"},
    "ledoit_wolf": {"shrinkage": "ledoit_wolf"},
    "tied ledoit_wolf": {"covariance": "tied", "shrinkage": "ledoit_wolf"},
    "graph": {"covariance": "sparse", "graph": "x:y + z"},
    "lasso": {"covariance": "sparse", "alpha": 0.1},
    "t": {"bayes": True},
    "tied t": {"bayes": True, "covariance": "tied"},
    "t of columns": {"bayes": True, "covariance": "diagonal"},
}
MORE = {"class": sf.categorical(["a", "nobody", "b", "c", "none"])}
SEEN = [0, 2, 3]


def fitted(data: Any, options: dict[str, Any], **keywords: Any) -> sf.Fit:
    return sf.fit(ClassGaussian("class", NAMES, **options), data, **keywords)


def with_gaps(data: dict[str, Any], seed: int) -> dict[str, Any]:
    lacks = np.random.default_rng(seed).random((3, 40)) < 0.3
    return {**data, **{name: np.where(gaps, np.nan, data[name]) for name, gaps in zip(NAMES, lacks, strict=True)}}


# Classes without rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_classes_without_rows_change_nothing_for_the_others(kind: str, seed: int) -> None:
    data = table(seed, spread=0)
    plain = fitted(data, KINDS[kind])
    more = fitted(data, KINDS[kind], schema=MORE, certify="data")
    assert more.certificate.ok, more.certificate.verdict
    asked = with_gaps(data, seed)
    answers = more.model.query_rows("class", asked).values
    np.testing.assert_allclose(answers[:, SEEN], plain.model.query_rows("class", asked).values, atol=1e-12)
    assert (answers[:, [1, 4]] == 0).all()
    columns = {name: asked[name] for name in NAMES}
    for rule in ("map", "ml"):
        assert set(more.model.scores_of(columns, 40, rule).argmax(axis=1)) <= set(SEEN)
    if not plain.structure.bayes:
        assert more.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
        np.testing.assert_allclose(
            more.model.to_softmax().query_rows("class", data).values,
            more.model.query_rows("class", data).values,
            atol=1e-9,
        )


@pytest.mark.parametrize("kind", KINDS)
def test_classes_without_rows_are_unknown_and_noted(kind: str, tmp_path: Path) -> None:
    fit = fitted(table(1, spread=0), KINDS[kind], schema=MORE)
    assert np.isnan(fit.model.means).all(axis=1).tolist() == [False, True, False, False, True]
    is_tied = fit.structure.is_tied and not fit.structure.bayes
    assert np.isnan(fit.model.spread).any() != is_tied
    assert any("the classes ['nobody', 'none'] have no rows" in str(note) for note in fit.notes)
    assert "nan" not in str(fit.model)
    assert "nobody" not in set(fit.model.sample(200, seed=1)["class"])
    sf.write(fit, tmp_path / "it.json")
    again = sf.read(tmp_path / "it.json")
    np.testing.assert_array_equal(again.model.means, fit.model.means)
    np.testing.assert_array_equal(again.model.spread, fit.model.spread)
    for ask in (fit.model.given, fit.model.covariance, fit.model.precision):
        with pytest.raises(sf.ModelError, match="'nobody' of 'class' had no rows"):
            ask("nobody")


def test_fishers_directions_are_those_of_the_classes_with_rows() -> None:
    data = table(2, spread=0)
    plain, more = (fitted(data, KINDS["tied"], schema=schema).model.discriminants for schema in (None, MORE))
    np.testing.assert_allclose(more.directions, plain.directions, rtol=1e-9)
    np.testing.assert_allclose(more.singular_values, plain.singular_values, rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied", "t"])
@pytest.mark.parametrize("prior", ["uniform", 1.0, {"a": 0.5, "b": 0.2, "c": 0.1, "nobody": 0.1, "none": 0.1}])
def test_classes_without_rows_cannot_have_a_probability(kind: str, prior: Any) -> None:
    with pytest.raises(sf.EstimationError, match=r"\['nobody', 'none'\] have no rows.*class_prior='counted'"):
        fitted(table(1), {**KINDS[kind], "class_prior": prior}, schema=MORE)
    model = fitted(table(1), KINDS[kind], schema=MORE).model
    if not isinstance(prior, float):
        with pytest.raises(sf.ModelError, match="'nobody' of 'class' had no rows"):
            model.with_class_priors(prior)
    told = {"a": 0.2, "b": 0.2, "c": 0.6, "nobody": 0.0, "none": 0.0}
    assert model.with_class_priors(told).class_prior.tolist() == [0.2, 0.0, 0.2, 0.6, 0.0]


def test_one_class_without_rows_is_said_in_the_singular() -> None:
    schema = {"class": sf.categorical(list("abcd"))}
    note = str(fitted(table(1), KINDS["tied"], schema=schema).notes[0])
    assert note == "class: class 'd' has no rows; it has no probability, and its mean is unknown."
    with pytest.raises(sf.EstimationError, match=r"class 'd' has no rows.*it has a probability"):
        fitted(table(1), {"class_prior": "uniform"}, schema=schema)


def test_parts_add_up_when_the_last_class_comes_late() -> None:
    data, schema = table(3, spread=0), {"class": sf.categorical(list("abc"))}
    structure = ClassGaussian("class", NAMES)
    late = data["class"] == "c"
    first, second = (
        sf.collect(structure, {name: column[rows] for name, column in data.items()}, schema=schema)
        for rows in (~late, late)
    )
    assert np.isnan(sf.estimate(structure, first).model.means[2]).all()
    both = sf.estimate(structure, first + second)
    np.testing.assert_allclose(both.model.spread, sf.fit(structure, data).model.spread, rtol=1e-10)


# Remedies -----------------------------------------------------------------------------------------------------

X = np.random.default_rng(0).normal(size=(12, 8))
Y = np.repeat(["a", "b"], 6)


def changed(rows: Any = slice(None), columns: Any = slice(None), value: float = 3.0) -> np.ndarray:
    x = X[:, :3].copy()
    x[rows, columns] = value
    return x


SICK: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "a column is constant in a class": (changed(Y == "b", 1), Y),
    "two columns are": (changed(Y == "b", slice(1, 3)), Y),
    "a column is constant in all": (changed(columns=1), Y),
    "a class is constant": (changed(Y == "b"), Y),
    "a class has one row": (X[:7, :3], Y[:7]),
    "classes have few rows": (X, Y),
    "all have few rows": (X[3:9], Y[3:9]),
    "a column follows from others": (np.column_stack([X[:, :2], X[:, :2].sum(axis=1)]), Y),
}
REMEDY = re.compile(r"(covariance|shrinkage|bayes|towards)=('\w+'|\d\.\d|\w+)")


def advised(message: str) -> list[dict[str, Any]]:
    """Return the settings that a message advises, of each remedy its first."""
    remedies = [dict(REMEDY.findall(part)) for part in re.split(r", or |, (?=pass)", message)]
    read: dict[str, Any] = {"True": True, "False": False, "0.1": 0.1}
    return [
        {name: read.get(value, value.strip("'")) for name, value in remedy.items()} for remedy in remedies if remedy
    ]


@pytest.mark.parametrize("sick", SICK)
@pytest.mark.parametrize(
    "kind", ["full", "diagonal", "spherical", "tied", "tied_diagonal", "t", "tied t", "t of columns"]
)
def test_every_remedy_that_is_advised_helps(sick: str, kind: str) -> None:
    x, y = SICK[sick]
    names = [f"x{place}" for place in range(x.shape[1])]
    data = {**dict(zip(names, x.T, strict=True)), "class": y}
    try:
        remedies, message = [{}], sf.fit(ClassGaussian("class", names, **KINDS[kind]), data).certificate.verdict
    except sf.EstimationError as error:
        remedies, message = advised(str(error)), str(error)
    assert remedies, message
    for remedy in remedies:
        assert sf.fit(ClassGaussian("class", names, **{**KINDS[kind], **remedy}), data).certificate.ok, message


def test_remedies_are_read_from_messages() -> None:
    said = "Leave it out, pass shrinkage=0.1 and bayes=False, or share variances by covariance='tied'."
    assert advised(said) == [{"shrinkage": 0.1, "bayes": False}, {"covariance": "tied"}]


def test_messages_are_sentences_in_singular_and_plural() -> None:
    def message(sick: str, kind: str = "full") -> str:
        x, y = SICK[sick]
        names = [f"x{place}" for place in range(x.shape[1])]
        with pytest.raises(sf.EstimationError) as caught:
            sf.fit(ClassGaussian("class", names, **KINDS[kind]), {**dict(zip(names, x.T, strict=True)), "class": y})
        return str(caught.value)

    assert message("a class has one row") == (
        "Class 'b' has only one row, so that no variance can be estimated there. Collect more rows, leave the class "
        "out, or share variances by covariance='tied'."
    )
    assert message("two columns are") == (
        "Column 'x1' is constant in class 'b', so that its variance is zero and the estimate does not exist. So is "
        "['x2']. Leave them out, pass shrinkage=0.1, or share variances by covariance='tied'."
    )
    assert message("a column is constant in all", "tied").startswith("Column 'x1' is constant within each class, so")
    assert "The same holds for one more class. Leave it out, or pass" in message("a column is constant in all")
    assert "that 2 classes share needs at least 10 rows, and all classes together have 6 rows" in message(
        "all have few rows", "tied"
    )
