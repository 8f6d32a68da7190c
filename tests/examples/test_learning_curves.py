"""Learning curves: what is learnt from, what is measured, and what the two tables show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from suffice.examples import learning_curves as curves_of
from suffice.examples.learning_curves import EXAMPLES, MEASURES, Curves, Example, digits, learning_curves, tumours

mpl.use("Agg")


class Shares:
    """A classifier that answers with the shares of the classes that it learnt from."""

    def __init__(self, learnt: list[Any]) -> None:
        self.learnt = learnt

    def fit(self, rows: Any, classes: Any) -> Shares:
        self.learnt.append(rows[:, 0].astype(int))
        self.classes_, counts = np.unique(classes, return_counts=True)
        self.shares = counts / counts.sum()
        return self

    def predict_proba(self, rows: Any) -> Any:
        return np.tile(self.shares, (len(rows), 1))


def small(sizes: tuple[int, ...] = (6, 12), n: int = 40) -> tuple[Example, dict[str, list[Any]]]:
    seen: dict[str, list[Any]] = {"first": [], "second": []}
    rows, classes = np.arange(float(n))[:, None], np.array(["a", "b", "c", "a"])[np.arange(n) % 4]
    makers = {name: (lambda learnt=learnt: Shares(learnt)) for name, learnt in seen.items()}
    return Example("small", rows, classes, sizes, makers), seen


def test_smaller_sets_are_parts_of_larger_ones_and_all_classifiers_see_the_same() -> None:
    example, seen = small()
    learning_curves(example, splits=3, seed=1)
    assert len(seen["first"]) == 6
    for one, other in zip(seen["first"], seen["second"], strict=True):
        np.testing.assert_array_equal(one, other)
    for few, more in zip(seen["first"][::2], seen["first"][1::2], strict=True):
        assert (len(few), len(more)) == (6, 12)
        assert set(few) <= set(more)
        assert len(set(more)) == 12
    assert len({tuple(rows) for rows in seen["first"][1::2]}) == 3


def test_every_class_is_learnt_from_two_rows_at_least() -> None:
    example, seen = small((6, 7))
    learning_curves(example, splits=20)
    assert len(seen["first"]) == 40
    for rows in seen["first"]:
        assert np.unique(example.classes[rows], return_counts=True)[1].min() >= 2


def test_errors_are_of_the_rows_that_were_not_learnt_from() -> None:
    example, seen = small((20,))
    found = learning_curves(example, splits=2, seed=3)
    assert len(seen["first"]) == 2
    for split, rows in enumerate(seen["first"]):
        labels, counts = np.unique(example.classes[rows], return_counts=True)
        shares = dict(zip(labels, counts / 20, strict=True))
        rest = np.delete(example.classes, rows)
        error, log_loss = found.values[:, 0, 0, split]
        assert error == np.mean(rest != max(shares, key=shares.__getitem__))
        assert log_loss == pytest.approx(-np.mean([np.log(shares[label]) for label in rest]))


def test_averages_and_standard_errors_are_over_splits() -> None:
    example, _ = small()
    values = np.random.default_rng(0).random((2, 2, 2, 5))
    found = Curves(example, values)
    np.testing.assert_allclose(found.mean, values.mean(axis=-1))
    np.testing.assert_allclose(found.standard_error**2 * 5, values.var(axis=-1, ddof=1))
    assert (Curves(example, values[..., :1]).standard_error == 0).all()


def test_the_seed_decides() -> None:
    one, again, other = (learning_curves(small()[0], 2, seed).values for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_the_picture_has_a_curve_for_each_classifier_and_names_its_axes() -> None:
    found = learning_curves(small()[0], 3)
    figure = curves_of.picture([found, found])
    assert len(figure.axes) == 4
    for i, ax in enumerate(figure.axes):
        assert len(ax.lines) == len(ax.collections) == 2
        np.testing.assert_allclose(ax.lines[1].get_ydata(), found.mean[i // 2, 1])
        assert ax.get_ylabel() == f"{MEASURES[i // 2]} on other rows"
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["first", "second"]
    figure.canvas.draw()
    curves_of.pyplot().close(figure)


def test_the_command_prints_the_curves_and_writes_the_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curves_of, "EXAMPLES", {"small": lambda: small()[0]})
    curves_of.main(["--out", str(tmp_path / "picture.png"), "--splits", "2"])
    shown = capsys.readouterr().out
    assert "small: error" in shown
    assert "12 rows" in shown
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    curves_of.pyplot().close("all")


# What the tables show -----------------------------------------------------------------------------------------


def ends(example: Example, splits: int) -> Any:
    """Return the averages at the fewest and at the most rows, by measure and classifier."""
    few = replace(example, sizes=(example.sizes[0], example.sizes[-1]))
    return learning_curves(few, splits).mean


def test_tumours_naive_bayes_is_soon_near_its_best_and_softmax_regression_wins_later() -> None:
    (naive, tied, softmax), log_loss = ends(tumours(), splits=4)
    assert naive[0] < 0.16
    assert softmax[1] < tied[1] < naive[1]
    assert log_loss[2, 1] < log_loss[1, 1] < log_loss[0, 1]
    assert naive[0] / naive[1] < softmax[0] / softmax[1]


def test_digits_naive_bayes_needs_fewest_rows_and_softmax_regression_wins_later() -> None:
    (naive, tied, softmax), log_loss = ends(digits(), splits=2)
    assert naive[0] < min(tied[0], softmax[0])
    assert softmax[1] < tied[1] < naive[1]
    assert log_loss[2].max() < log_loss[0].min()


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_classifiers_are_linear_in_the_inputs(name: str) -> None:
    example = EXAMPLES[name]()
    order = np.random.default_rng(0).permutation(len(example.rows))[:300]
    assert example.classifiers
    for make in example.classifiers.values():
        classifier = make().fit(example.rows[order], example.classes[order])
        last = classifier.steps[-1][1] if hasattr(classifier, "steps") else classifier
        assert last.log_odds(*last.classes_[:2]).is_linear
