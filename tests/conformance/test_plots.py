"""Every plot in every case: it takes and returns axes, and its texts neither overlap nor leave the picture."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from tests.report.boxes import faults, texts_of
from tests.report.plot_cases import CASES, MORE, PLOTS

from suffice import report

EVERY = PLOTS | MORE
WANTED = os.environ.get("SUFFICE_PICTURES", "")  # a folder to look at the pictures in


@pytest.fixture(autouse=True)
def _without_a_screen() -> Iterator[None]:
    mpl.use("Agg")
    with mpl.rc_context():
        yield
    plt.close("all")


def test_every_plot_has_cases() -> None:
    assert list(PLOTS) == list(report.PLOTS)
    assert sorted(report.__all__) == sorted(report.PLOTS)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", EVERY)
def test_texts_neither_overlap_nor_leave_the_picture(name: str, case: str) -> None:
    ax = EVERY[name](case)
    assert isinstance(ax, Axes)
    if WANTED:
        ax.figure.savefig(Path(WANTED) / f"{name}-{case}.png", dpi=200)
    assert faults(ax.figure) == []


def test_the_checker_sees_texts_that_overlap_and_those_outside() -> None:
    figure, ax = plt.subplots()
    ax.text(0.5, 0.5, "one")
    ax.text(0.51, 0.5, "two")
    ax.text(1.2, 0.5, "far to the right")
    ax.text(0.2, 0.2, "small", fontsize=5)
    ax.text(0.2, 0.8, "$x$")
    found = " ".join(faults(figure))
    assert "'one' and 'two' overlap" in found or "'two' and 'one' overlap" in found
    assert "'far to the right' is" in found
    assert "'small' has 5 points" in found
    assert "'$x$' is read as a formula" in found
    assert {text.get_text() for text in texts_of(figure)} >= {"one", "0.0", "1.0"}


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_draws_where_it_is_told_to(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    plot = getattr(report, name)
    monkeypatch.setattr(report, name, lambda *args, **how: plot(*args, ax=axes[1], **how), raising=False)
    assert PLOTS[name]("small") is axes[1]
    assert len(plt.get_fignums()) == 1
    assert not axes[0].has_data()
    figure.canvas.draw()


@pytest.mark.parametrize("name", PLOTS)
def test_new_figures_are_one_column_wide(name: str) -> None:
    assert PLOTS[name]("small").figure.get_figwidth() == pytest.approx(3.4)


def test_importing_the_room_loads_no_matplotlib() -> None:
    code = "import sys, suffice.report; dir(suffice.report); assert 'matplotlib' not in sys.modules, 'loaded'"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError, match="'pie_chart'"):
        report.pie_chart  # noqa: B018


def test_names_are_shown_as_they_are() -> None:
    shown = {text.get_text() for text in texts_of(PLOTS["confusion_plot"]("awkward").figure)}
    assert {"_hidden", "$\\alpha_1$ and $", "□□ parrots"} <= shown


def test_neighbouring_colours_differ_in_grey() -> None:
    from matplotlib.colors import to_rgb

    from suffice.report.canvas import COLOURS

    grey = np.array([to_rgb(tint) for tint in COLOURS]) ** 2.2 @ [0.2126, 0.7152, 0.0722]
    assert (np.abs(np.diff(grey)) > 0.02).all()


def test_every_plot_has_a_picture_in_the_documentation() -> None:
    docs = Path(__file__).resolve().parents[2] / "docs"
    spec = importlib.util.spec_from_file_location("figures", docs / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    assert sorted(figures.FIGURES) == sorted(report.PLOTS)
    page = (docs / "plots.md").read_text(encoding="utf-8")
    for name in report.PLOTS:
        assert f"```{{picture}} {name}\n" in page
        assert f"report.{name}(" in page
