"""What the sections of a report say: the badge of the certificate, missing values, captions, and pages on paper."""

from __future__ import annotations

import re
import shutil
import unicodedata
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.explore.small_models import mixed
from tests.report.test_page import content, fit_of, parsed, text_of

import suffice as sf
from suffice.io.graph_file import load_graph
from suffice.report import mosaic_plot
from suffice.report.mosaic import shade
from suffice.report.page import paper, plots, report_html, write_report
from suffice.stats.missing import missing_by_variable


def section(page: str, name: str) -> str:
    """Return the text of a section, blank where there is none."""
    found = re.search(rf'<section id="{name}">(.*?)</section>', page, re.DOTALL)
    return text_of(found[1]) if found else ""


def sections(page: str) -> list[str]:
    return [str(attrs["id"]) for tag, attrs in parsed(page).found if tag == "section"]


def badge(page: str) -> tuple[str, str]:
    """Return the class and the text of the badge."""
    found = re.search(r'<details class="badge (\w+)" id="certificate"><summary>(.*?)</summary>', page)
    assert found is not None
    return found[1], found[2]


# The badge ----------------------------------------------------------------------------------------------------


def test_the_certificate_is_a_badge_that_unfolds() -> None:
    fit = fit_of("chain")
    page = report_html(fit, plots=False)
    assert badge(page) == ("ok", "✓ certified")
    assert '<div class="verdict ok">' in page
    assert page.index("</h1>") < page.index('<details class="badge') < page.index("</header>")
    assert "first-order residual" in text_of(page)
    assert badge(report_html(fit.model)) == ("none", "no certificate")


def test_a_fit_that_failed_says_so_in_its_badge() -> None:
    data = {"A": list("xyxyy"), "B": list("uvvuv")}
    features = sf.Features([sf.indicator(A="y"), sf.indicator(B="v"), sf.indicator(A="y", B="v")])
    with np.errstate(all="ignore"):
        fit = sf.fit(features, data, method="gradient", max_iter=1)
    assert not fit.certificate.ok
    page = report_html(fit, plots=False)
    assert badge(page) == ("no", "✗ not certified")
    assert '<div class="verdict no">' in page


GRAPHS = [{"nodes": [{"a": 1.0}, {"b": 1.0}, {"a": 1.0}], "edges": [(0, 1), (1, 2)]}] * 4
LABELS = [["p", "q", "p"], ["p", "q", "q"], ["q", "p", "p"], ["p", "q", "p"]]


@pytest.mark.parametrize("name", ["m.graph", "m.crf"])
def test_fields_on_graphs_show_their_certificate_and_their_files_keep_the_verdict(name: str, tmp_path: Path) -> None:
    field = sf.GraphCRF().fit(GRAPHS, LABELS)
    assert badge(report_html(field.fit_, plots=False)) == ("ok", "✓ certified")
    field.save(tmp_path / name)
    page = report_html(load_graph(str(tmp_path / name)))
    assert badge(page) == ("ok", "✓ certified")
    assert field.fit_.certificate.verdict in text_of(page)


@pytest.mark.parametrize("kind", [sf.ChainCRF, sf.MEMM])
def test_models_of_sequences_show_their_certificate(kind: Any) -> None:
    x = [[{"w": f"a{(i + j) % 3}"} for j in range(4)] for i in range(6)]
    y = [["AB"[(i + j) % 2] for j in range(4)] for i in range(6)]
    assert badge(report_html(kind().fit(x, y).fit_, plots=False))[0] == "ok"


# Sections -----------------------------------------------------------------------------------------------------


def test_sections_without_content_are_left_out() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": list("xxyy"), "B": list("uvvv")}, prior=sf.K2())
    page = report_html(fit, plots=False)
    assert not fit.notes
    assert sections(page) == ["explorer", "fitted", "tables", "families"]
    assert "nothing to note" not in text_of(page)


def test_the_graph_comes_first_and_notes_before_the_data() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "y", None, "x"], "B": ["u", None, "v", "v"]}, missing="em")
    assert sections(report_html(fit, plots=False)) == [
        "explorer", "notes", "fitted", "missing", "tables", "convergence",
    ]  # fmt: skip


def test_why_a_model_cannot_be_asked_within_the_page() -> None:
    """A network of discrete and continuous variables is not too large, however small it is."""

    def said(thing: Any) -> str:
        return section(report_html(thing, plots=False), "explorer")

    assert "discrete and continuous variables cannot be asked" in said(mixed())
    large = sf.JointNormal([f"x{place}" for place in range(101)], np.zeros(101), precision=np.eye(101))
    assert "too large to be asked" in said(large)
    rows = {"A": ["x", "x", "y", "y"], "B": ["u", "u", "v", "v"], "C": ["p", "q", "p", "q"]}
    assert "unknown rows" in said(sf.fit(sf.DAG("A -> C <- B"), rows, unseen_parents="nan"))
    asked = said(sf.fit(sf.DAG("A -> C <- B"), rows, prior=sf.BDeu(1)))
    assert not any(words in asked for words in ("cannot be asked", "too large", "unknown rows"))


def test_a_fit_to_incomplete_rows_shows_missing_values_of_every_variable() -> None:
    crimes = {
        "first": ["no", "no", "no", "yes", "yes", "yes", None, None, None],
        "second": ["no", "yes", None, "no", "yes", None, "no", "yes", None],
        "people": [392, 55, 33, 76, 38, 9, 31, 7, 115],
    }
    fit = sf.fit(sf.DAG("first -> second"), crimes, weights="people", missing="em")
    said = section(report_html(fit, plots=False), "missing").split()
    assert said[-8:] == ["first", "153", "20.24", "%", "second", "157", "20.77", "%"]


@pytest.mark.parametrize(
    "structure",
    [sf.MultivariateNormal(["a", "b", "c"]), sf.DAG("a -> b -> c"), sf.DAG("k -> a -> b -> c")],
    ids=["normal", "Gaussian network", "mixed network"],
)
def test_missing_values_are_counted_whatever_the_model(structure: Any) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 3))
    values[rng.random((60, 3)) < 0.1] = np.nan
    data: dict[str, Any] = dict(zip("abc", values.T, strict=True))
    data["k"] = ["u", "v", None, "u", "v", "u"] * 10
    fit = sf.fit(structure, data, missing="em", max_iter=20)
    found = missing_by_variable(fit.statistics)
    expected = {name: float(np.isnan(data[name]).sum()) for name in "abc"} | {"k": 10.0}
    assert found == {name: expected[name] for name in found}
    assert set(found) >= set("abc")


def test_latent_variables_are_not_missing_values(tmp_path: Path) -> None:
    data = {"A": list("xyxyxxyy"), "B": list("uvuvuvuv")}
    fit = sf.fit(sf.DAG("H -> A; H -> B", latent={"H": 2}), data, restarts=1, seed=0)
    assert "missing" not in sections(report_html(fit, plots=False))


def test_missing_values_survive_a_file(tmp_path: Path) -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "y", None, "x"], "B": ["u", None, "v", "v"]}, missing="em")
    sf.write(fit, tmp_path / "fit.json")
    assert missing_by_variable(sf.read(tmp_path / "fit.json").statistics) == {"A": 1.0, "B": 1.0}


# Plots --------------------------------------------------------------------------------------------------------


def caption_of(fit: sf.Fit) -> str:
    found = plots.figures(fit)
    assert found is not None
    return next(caption for caption, _ in found if "log-likelihood" in caption)


def test_the_caption_names_the_node_with_the_lowest_log_likelihood() -> None:
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, 300)
    fit = sf.fit(sf.DAG("A -> B"), {"A": a, "B": np.where(rng.random(300) < 0.8, a, 0)}, prior=sf.K2())
    assert min(fit.local, key=lambda node: fit.local[node]) == "A"  # which has no parents, so that it is not drawn
    caption = caption_of(fit)
    assert caption.startswith("The table of B ")
    assert caption.endswith(f"A has the lowest of all, {fit.local['A']:,.1f}")
    rare = rng.random(300) < 0.05
    fit = sf.fit(sf.DAG("A -> B"), {"A": rare.astype(int), "B": a}, prior=sf.K2())
    assert min(fit.local, key=lambda node: fit.local[node]) == "B"
    caption = caption_of(fit)
    assert caption.startswith("The table of B ")
    assert caption.endswith(f"the node with the lowest log-likelihood, {fit.local['B']:,.1f}")


def test_pictures_are_small_and_hold_their_text() -> None:
    fit = sf.fit(sf.DAG([("A", "<b>&'\"")]), {"A": list("xxyyx"), "<b>&'\"": list("uvvvu")}, prior=sf.BDeu(1))
    found = plots.figures(fit)
    assert found is not None
    for _, svg in found:
        assert len(svg) < 8_000
        assert "<metadata" not in svg
        assert '"' not in svg
    assert any("&lt;b&gt;&amp;'&quot;" in svg for _, svg in found)
    page = report_html(fit)
    sources = [str(attrs["src"]) for tag, attrs in parsed(page).found if tag == "img"]
    assert all(source.startswith("data:image/svg+xml,%3Csvg") and "#" not in source for source in sources)


def test_mosaics_are_blue_for_more_and_red_for_fewer() -> None:
    from matplotlib.colors import to_hex

    table = sf.Contingency([[90, 10], [10, 90]], {"A": ["x", "y"], "B": ["u", "v"]})
    ax = mosaic_plot(sf.fit(sf.Cliques("A + B"), table))
    tints = [to_hex(tile.get_facecolor()).upper() for tile in ax.patches]
    assert tints == ["#2166AC", "#B2182B", "#B2182B", "#2166AC"]
    legend = ax.get_legend()
    assert legend is not None
    assert to_hex(legend.legend_handles[0].get_facecolor()).upper() == shade(-5.0) == "#B2182B"
    assert legend.get_texts()[0].get_text() == "< −4"


# On paper -----------------------------------------------------------------------------------------------------


def test_without_a_browser_a_pdf_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper.shutil, "which", lambda name: None)
    with pytest.raises(sf.ArgumentError, match=r"Chromium, Google Chrome or Microsoft Edge.*x\.html"):
        fit_of("chain").report(tmp_path / "x.pdf")
    assert not list(tmp_path.iterdir())


def test_a_browser_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(b"old")
    monkeypatch.setattr(paper, "find_browser", lambda path: "false")
    monkeypatch.setattr("suffice.report.page.page.find_browser", lambda path: str(shutil.which("false")))
    with pytest.raises(sf.FileAccessError, match="did not print the page"):
        fit_of("chain").report(path, plots=False)
    assert path.read_bytes() == b"old"


def text_in(pdf: bytes) -> str:
    """Return the text of a PDF file that Chromium wrote, decoded by each of its fonts in turn."""
    streams = []
    for found in re.finditer(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            streams.append(zlib.decompress(found[1]))
        except zlib.error:
            continue
    maps = [_characters(stream.decode("latin-1")) for stream in streams if b"begincmap" in stream]
    shown = []
    for stream in streams:
        glyphs = [int(code, 16) for run in re.findall(rb"<([0-9A-F]+)> Tj", stream) for code in _fours(run)]
        shown += ["".join(known.get(glyph, "") for glyph in glyphs) for known in maps]
    return unicodedata.normalize("NFKC", "\n".join(shown))  # without ligatures


def _fours(run: bytes) -> list[bytes]:
    return [run[k : k + 4] for k in range(0, len(run), 4)]


def _characters(text: str) -> dict[int, str]:
    known = {int(a, 16): chr(int(b, 16)) for a, b in re.findall(r"^<(\w{4})> <(\w{4})>$", text, re.MULTILINE)}
    for low, high, first in re.findall(r"^<(\w{4})> <(\w{4})> <(\w{4})>$", text, re.MULTILINE):
        known.update(
            {glyph: chr(int(first, 16) + glyph - int(low, 16)) for glyph in range(int(low, 16), int(high, 16) + 1)}
        )
    return known


@pytest.mark.chromium
def test_a_pdf_file_has_pages_the_verdict_and_every_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = {name: rng.integers(0, 3, 200).astype(str) for name in ["alpha", "beta", "gamma", "delta"]}
    fit = sf.fit(sf.DAG("alpha -> beta -> gamma -> delta"), data, prior=sf.BDeu(1))
    write_report(fit, tmp_path / "x.pdf")
    pdf = (tmp_path / "x.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b(?!s)", pdf)) > 1
    text = text_in(pdf)
    assert "Certified: posterior mean" in text
    assert "first-order residual" in text
    assert [path.name for path in tmp_path.iterdir()] == ["x.pdf"]


def test_what_the_page_holds_is_small() -> None:
    page = report_html(fit_of("chain"))
    assert len(page.encode()) < 150_000
    assert content(page)["graph"]["n"] == 3
