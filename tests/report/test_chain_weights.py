"""Pictures of the weights of chains: what is drawn, that texts have room, files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from tests.result.test_chain_weights import chain

import suffice as sf
from suffice.report.chain_weights import NEGATIVE, POSITIVE, chain_weights_plot

PNG = b"\x89PNG\r\n"


@pytest.fixture(autouse=True)
def _without_a_screen() -> Iterator[None]:
    mpl.use("Agg")
    yield
    plt.close("all")


def chunker(n_labels: int, n_attributes: int = 40, name: str = "w[0]|w[1]=a rather long one|{}") -> Any:
    """Return a model of so many labels with random weights."""
    rng = np.random.default_rng(0)
    labels = [f"{letter}-CHUNK{i:02}" for i in range(n_labels) for letter in "BI"][:n_labels]
    states = {(name.format(i), label): float(rng.normal()) for i in range(n_attributes) for label in labels}
    steps = {pair: float(rng.normal()) for pair in itertools.product(labels, labels)}
    return chain(states, steps, labels)


def texts(labels: Any) -> list[str]:
    return [label.get_text() for label in labels]


def test_bars_are_the_largest_weights_of_either_sign() -> None:
    model = chain({("the", "A"): 2.0, ("ran", "A"): -1.0, ("cat", "B"): 0.5, ("dog", "B"): 0.0}, {}, ("A", "B"))
    left = chain_weights_plot(model, n=1).axes[0]
    assert texts(left.get_yticklabels()) == ["the → A", "ran → A"]
    bars: Any = left.patches
    assert [bar.get_width() for bar in bars] == [2.0, -1.0]
    assert [to_hex(bar.get_facecolor()).upper() for bar in bars] == [POSITIVE, NEGATIVE]
    low, high = left.get_ylim()
    assert low > high  # the first row is the upper one


def test_the_map_is_centred_at_zero_and_reads_from_row_to_column() -> None:
    model = chain({("x", "A"): 1.0}, {("A", "B"): 3.0, ("B", "B"): -1.0}, ("A", "B"))
    right = chain_weights_plot(model).axes[1]
    image = right.images[0]
    np.testing.assert_array_equal(image.get_array(), [[0.0, 3.0], [0.0, -1.0]])
    assert image.get_clim() == (-3.0, 3.0)
    assert texts(right.texts) == ["0.0", "3.0", "0.0", "−1.0"]
    assert texts(right.get_yticklabels()) == texts(right.get_xticklabels()) == ["A", "B"]


@pytest.mark.parametrize(("n_labels", "n"), [(1, 15), (4, 3), (12, 15), (22, 15), (45, 40), (60, 15)])
def test_texts_neither_overlap_nor_leave_the_picture(n_labels: int, n: int) -> None:
    figure = chain_weights_plot(chunker(n_labels), n)
    figure.canvas.draw()
    left, right = figure.axes[:2]
    whole = figure.bbox
    groups = [left.get_yticklabels(), right.get_yticklabels(), right.get_xticklabels()]
    for labels in groups:
        boxes = [label.get_window_extent() for label in labels]
        for one, two in itertools.pairwise(boxes):
            assert not one.overlaps(two)
        for box in boxes:
            assert whole.x0 <= box.x0
            assert whole.y0 <= box.y0
            assert box.x1 <= whole.x1
            assert box.y1 <= whole.y1
    inside = [label.get_window_extent() for label in right.texts]
    assert not any(one.overlaps(two) for one, two in itertools.combinations(inside, 2))
    assert len(groups[1]) == (n_labels if n_labels <= 45 else 30)
    names = [label.get_window_extent().x1 for label in groups[0]]
    assert max(names) <= left.get_window_extent().x0


def test_numbers_of_cells_stand_out() -> None:
    labels = ("A", "B")
    steps = dict(zip(itertools.product(labels, labels), (9.0, -9.0, 1.0, 0.0), strict=True))
    right = chain_weights_plot(chain({("x", "A"): 1.0}, steps, labels)).axes[1]
    image = right.images[0]
    assert len(right.texts) == 4
    for text, rgba in zip(right.texts, image.to_rgba(np.asarray(image.get_array())).reshape(-1, 4), strict=True):
        ink, ground = (mpl.colors.to_rgb(colour) for colour in (text.get_color(), tuple(rgba)))
        light = [float(np.dot(colour, (0.2126, 0.7152, 0.0722))) for colour in (ink, ground)]
        assert abs(light[0] - light[1]) > 0.4


def test_signs_of_dollars_are_no_formulas() -> None:
    model = chain({("w=$|$", "PRP$"): 1.0, ("$x_{$", "WP$"): -1.0}, {("PRP$", "WP$"): 1.0}, ("PRP$", "WP$"))
    figure = chain_weights_plot(model)
    figure.canvas.draw()
    assert texts(figure.axes[0].get_yticklabels()) == ["w=$|$ → PRP$", "$x_{$ → WP$"]


def test_a_model_without_weights_is_drawn_and_said() -> None:
    figure = chain_weights_plot(chain({("x", "A"): 0.0}, {("A", "A"): 0.0}, ("A",)))
    figure.canvas.draw()
    assert texts(figure.axes[0].texts) == ["no weight differs from zero"]


def test_files_are_of_the_kind_that_their_ending_says(tmp_path: Path) -> None:
    model = chunker(4)
    for ending, begins in (("png", PNG), ("PDF", b"%PDF"), ("svg", b"<?xml")):
        path = tmp_path / f"weights.{ending}"
        chain_weights_plot(model, path=path)
        assert path.read_bytes().startswith(begins)
    chain_weights_plot(model, path=str(tmp_path / "text.png"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text.png", "weights.PDF", "weights.png", "weights.svg"]


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sf.FileAccessError, match="Nothing was changed"):
        chain_weights_plot(chunker(2), path=tmp_path / "nowhere" / "a.png")
    n_open = len(plt.get_fignums())
    wrong: list[Any] = [tmp_path / "weights", 3]
    for path in wrong:
        with pytest.raises(sf.ArgumentError, match="'path' argument"):
            chain_weights_plot(chunker(2), path=path)
    assert len(plt.get_fignums()) == n_open
    assert not list(tmp_path.iterdir())
