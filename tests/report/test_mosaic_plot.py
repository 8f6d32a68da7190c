"""Mosaics: areas are counts, shades are residuals."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

import suffice as sf
from suffice.report import mosaic_plot
from suffice.report.mosaic import NAMES, SHADES, apart, shade, tiles

# R. D. Snee (1974), "Graphical display of two-way contingency tables": hair and eyes of 592 students.
HAIR = np.array([[68, 20, 15, 5], [119, 84, 54, 29], [26, 17, 14, 14], [7, 94, 10, 16]])
STATES = {"hair": ["black", "brown", "red", "blond"], "eye": ["brown", "blue", "hazel", "green"]}
FIT = sf.fit(sf.Cliques("hair + eye"), sf.Contingency(HAIR, STATES))


@pytest.fixture(autouse=True)
def _without_a_screen() -> Iterator[None]:
    mpl.use("Agg")
    yield
    plt.close("all")


def area(tile: Any) -> float:
    return float(tile.get_width() * tile.get_height())


def test_areas_are_proportional_to_counts() -> None:
    patches: Any = mosaic_plot(FIT).patches
    areas = np.array([area(tile) for tile in patches])
    np.testing.assert_allclose(areas / areas.sum(), HAIR.reshape(-1) / HAIR.sum())


def test_shades_are_pearson_residuals_of_the_fit() -> None:
    expected = np.outer(HAIR.sum(axis=1), HAIR.sum(axis=0)) / HAIR.sum()
    residuals = ((HAIR - expected) / np.sqrt(expected)).reshape(-1)
    patches: Any = mosaic_plot(FIT).patches
    assert [to_hex(tile.get_facecolor()).upper() for tile in patches] == [shade(value) for value in residuals]
    assert shade(residuals[13]) == SHADES[4]  # blond hair and blue eyes, 7.05
    adjusted = mosaic_plot(FIT, residuals="adjusted")
    wanted = FIT.expected("adjusted")["adjusted"].to_numpy().reshape(-1)
    patches = adjusted.patches
    assert [to_hex(tile.get_facecolor()).upper() for tile in patches] == [shade(value) for value in wanted]
    assert "adjusted residual" in adjusted.get_legend().get_title().get_text()
    assert [text.get_text() for text in adjusted.get_legend().get_texts()] == list(NAMES)


def test_variables_split_in_the_order_that_is_given() -> None:
    patches: Any = mosaic_plot(FIT, ["eye", "hair"]).patches
    areas = np.array([area(tile) for tile in patches])
    np.testing.assert_allclose(areas / areas.sum(), HAIR.T.reshape(-1) / HAIR.sum())


@given(st.integers(0, 10_000), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_tiles_are_shares_inside_the_square_and_do_not_overlap(seed: int, shape: list[int]) -> None:
    counts = np.random.default_rng(seed).integers(0, 5, shape).astype(float)
    counts.flat[0] += 1.0
    found = {tile.codes: tile for tile in tiles(counts)}
    positive = [codes for codes in found if counts[codes] > 0]
    assert set(positive) == {tuple(map(int, codes)) for codes in np.argwhere(counts > 0)}
    areas = np.array([found[codes].width * found[codes].height for codes in positive])
    np.testing.assert_allclose(areas / areas.sum(), [counts[codes] / counts.sum() for codes in positive])
    for codes in positive:
        tile = found[codes]
        assert min(tile.x, tile.y) >= -1e-12
        assert max(tile.x + tile.width, tile.y + tile.height) <= 1 + 1e-12
    for one, two in itertools.combinations((found[codes] for codes in positive), 2):
        across = min(one.x + one.width, two.x + two.width) - max(one.x, two.x)
        down = min(one.y + one.height, two.y + two.height) - max(one.y, two.y)
        assert min(across, down) <= 1e-9


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0.05, 0.5)), min_size=1, max_size=9))
def test_texts_move_apart_within_their_room_and_keep_their_order(texts: list[tuple[float, float]]) -> None:
    places = sorted(place for place, _ in texts)
    needs = [need for _, need in texts]
    moved = apart(places, needs, 5.0)
    for i in range(len(moved) - 1):
        assert moved[i + 1] - moved[i] >= (needs[i] + needs[i + 1]) / 2 - 1e-8
    assert moved[0] >= needs[0] / 2 - 1e-8
    assert moved[-1] <= 5.0 - needs[-1] / 2 + 1e-8


def test_texts_that_have_room_stay_where_they_are() -> None:
    assert apart([1.0, 2.0, 3.0], [0.5, 0.5, 0.5], 4.0) == [1.0, 2.0, 3.0]


def test_cells_without_rows_are_circles_and_unseen_rows_nothing() -> None:
    counts = np.array([[5, 0, 3], [0, 0, 0], [2, 4, 1]])
    states = {"A": list("xyz"), "B": list("uvw")}
    fit = sf.fit(sf.Cliques("A + B"), sf.Contingency(counts, states))
    ax = mosaic_plot(fit)
    assert len(ax.patches) == 5
    assert len(ax.lines) == 1


def test_names_stand_at_four_sides() -> None:
    counts = np.arange(1, 17).reshape(2, 2, 2, 2)
    states = {name: [f"{name}1", f"{name}2"] for name in "ABCD"}
    ax = mosaic_plot(sf.fit(sf.Cliques("A + B + C + D"), sf.Contingency(counts, states)))
    place = {text.get_text(): text.get_position() for text in ax.texts}
    assert set(place) == {*"ABCD", *(name for pair in states.values() for name in pair)}
    assert place["A"][0] < 0
    assert place["C"][0] > 1
    assert place["B"][1] < 0
    assert place["D"][1] > 1
    assert place["A1"][1] < place["A2"][1]
    assert place["D1"][0] < place["D2"][0]
