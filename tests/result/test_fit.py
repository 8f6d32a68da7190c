"""What a fit says of itself: its numbers, its notes, on paper and in a notebook."""

from __future__ import annotations

import dataclasses
import math
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.optimise.outcome import Stop
from suffice.structures.class_gaussian import ClassGaussian
from suffice.structures.softmax_regression import SoftmaxClasses

DATA = {"A": list("xxyyyx"), "B": list("uvuuvu")}
DAG = sf.DAG("A -> B")


def test_print_contains_the_numbers() -> None:
    fit = sf.fit(DAG, DATA)
    printed = str(fit)
    # A: 3 x and 3 y; B: two thirds u in both rows
    value = 6 * math.log(0.5) + 4 * math.log(2 / 3) + 2 * math.log(1 / 3)
    assert fit.log_likelihood == pytest.approx(value, rel=1e-13)
    for number in (value, -2 * value + 2 * 3, -2 * value + 3 * math.log(6), 6 * math.log(0.5)):
        assert f"{number:,.4f}" in printed
    for text in ("maximum likelihood", "6 rows", "BayesianNetwork(2 nodes, 1 edge)", "closed_form"):
        assert text in printed
    assert "✓" in printed
    assert "prior" not in printed
    assert "Notes" not in printed


def test_print_of_a_bayesian_fit() -> None:
    fit = sf.fit(DAG, DATA, prior=sf.BDeu(10), point="map")
    printed = str(fit)
    assert "posterior mode" in printed
    assert "BDeu(ess=10.0)" in printed
    assert f"{fit.log_marginal_likelihood:,.4f}" in printed


def test_print_shows_weights_zeros_and_dropped_rows() -> None:
    weighted = str(sf.fit(DAG, DATA, weights=[0.5, 1, 1, 2, 1, 1]))
    assert "total weight 6.5" in weighted
    zeros = sf.fit(DAG, {"A": list("xxy"), "B": list("uvu")})
    assert zeros.n_free == 3
    assert zeros.n_free_adjusted == 2
    assert "3 (2 with" in str(zeros)
    dropped = str(sf.fit(DAG, {"A": ["x", None, "x"], "B": list("uvv")}, missing="drop"))
    assert "2 rows (1 of 3 dropped)" in dropped


def test_print_shows_an_uncertified_fit() -> None:
    fit = sf.fit(DAG, DATA)
    wrong = dataclasses.replace(fit.certificate, ok=False, verdict="Not certified as maximum likelihood: because.")
    printed = str(dataclasses.replace(fit, certificate=wrong))
    assert "✗ Not certified as maximum likelihood: because." in printed
    assert "✓" not in printed


def test_print_of_many_nodes_is_cut() -> None:
    names = [f"N{i:02}" for i in range(70)]
    fit = sf.fit(sf.DAG(names), {name: ["x", "y"] for name in names})
    assert "… 20 more nodes" in str(fit)
    assert "N49" in str(fit)
    assert "N50" not in str(fit)


def test_summary_of_many_classes_counts_the_rest() -> None:
    codes = np.arange(150) % 75
    for name in ("class", "species", "node"):
        fit = sf.fit(ClassGaussian(name, ["x"], covariance="tied"), {"x": codes + np.arange(150) / 7.0, name: codes})
        assert "\n… 25 more classes" in str(fit)


def test_html_escapes_names_states_and_notes() -> None:
    evil = "<script>alert('x')</script>"
    data = {evil: ["<b>a</b>", "c"], "B": list("uv"), "<img src=x>": [1, 2], "D": list("pq")}
    fit = sf.fit(sf.DAG({"D": [evil, "B"]}), data, unseen_parents="uniform")
    page = fit._repr_html_()
    for tag in ("<script>", "<b>a", "<img"):
        assert tag not in page
    assert "&lt;script&gt;" in page
    assert "&lt;img src=x&gt;" in page
    assert "&lt;b&gt;a&lt;/b&gt;" in page
    assert f"{fit.log_likelihood:,.4f}" in page


def test_notes_list_every_choice() -> None:
    data = {
        "grade": [1, 2, 2, 3, 1, 1],
        "sex": ["f", "m", "f", "m", None, "f"],
        "pass": ["no", "yes", "yes", "yes", "no", "no"],
        "id": list("abcdef"),
    }
    fit = sf.fit(
        sf.DAG("grade -> pass <- sex"),
        data,
        missing="drop",
        unseen_parents="nan",
        fixed={"pass": {(2, "f"): [0.5, 0.5]}},
    )
    notes = [str(note) for note in fit.notes]
    assert len(notes) == len(set(notes))

    def noted(*words: str) -> bool:
        return any(all(word in note for word in words) for note in notes)

    assert noted("grade", "discrete"), notes
    assert noted("ignored", "id"), notes
    assert noted("1 row", "of 6", "dropped"), notes
    assert noted("pass", "given and left alone"), notes
    assert noted("pass", "2 parent configurations", "NaN"), notes  # (1, m) and (3, f)
    assert {note.topic for note in fit.notes} == {"data", "estimate"}
    for note in notes:
        assert " ".join(note.split()[:3]) in str(fit)


def test_notes_of_parts_are_kept_once() -> None:
    part = sf.collect(DAG, {**DATA, "C": list("pqrstu")})
    fit = sf.estimate(DAG, part + part)
    assert len([note for note in fit.notes if "ignored" in str(note)]) == 1


def test_fit_cannot_be_changed() -> None:
    fit = sf.fit(DAG, DATA)
    with pytest.raises(dataclasses.FrozenInstanceError):
        fit.log_likelihood = 0.0  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        fit.certificate.ok = True  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        fit.statistics[sf.Count(("A", "B"))].values[0, 0] = 7


def test_fit_does_not_change_what_it_is_given() -> None:
    columns = {"A": np.array(list("xxyyyx")), "B": np.array(list("uvuuvu"))}
    weights = np.array([1.0, 2, 3, 4, 5, 6])
    alpha, table = np.ones((2, 2)), np.array([0.5, 0.5])
    copies: list[Any] = [a.copy() for a in (*columns.values(), weights, alpha, table)]
    prior = sf.Dirichlet({"B": alpha}, rest=1)
    sf.fit(DAG, columns, weights=weights, prior=prior, fixed={"A": table})
    for before, after in zip(copies, (*columns.values(), weights, alpha, table), strict=True):
        assert np.array_equal(before, after)


def test_impossible_data_under_fixed_tables_prints() -> None:
    fit = sf.fit(sf.DAG("A"), {"A": list("xy")}, fixed={"A": [1.0, 0.0]})
    assert fit.log_likelihood == -math.inf
    assert fit.aic == math.inf
    assert "-inf" in str(fit)


def test_hypothesis_fits_print() -> None:
    fit = sf.fit(
        sf.Hypotheses({"<i>h</i>": [1, 2], "g": [1, 2, 3]}, over="x"), {"x": [1]}, prior={"<i>h</i>": 1, "g": 3}
    )
    printed = str(fit)
    assert f"{fit.log_likelihood:,.4f}" in printed
    assert "posterior mean" in printed
    assert "<i>" not in fit._repr_html_()


def test_what_holds_of_many_columns_is_said_once() -> None:
    many = {f"x{number}": [0, 1, number % 2] for number in range(9)}
    many["word"] = ["a", "b", "b"]
    notes = [note.text for note in sf.fit(sf.DAG("; ".join(many)), many).notes]
    assert notes == ["x0, x1, x2, x3 and 5 more: whole numbers read as discrete variables."]
    few = {name: many[name] for name in ("x0", "x1")}
    assert len(sf.fit(sf.DAG("x0; x1"), few).notes) == 2


def test_what_holds_of_many_columns_is_said_once_of_statistics_from_a_file(tmp_path: Path) -> None:
    many = {f"x{number}": [0, 1, number % 2] for number in range(9)}
    structure, path = sf.DAG("; ".join(many)), tmp_path / "counts.stats"
    sf.collect(structure, many).save(path)
    (note,) = sf.estimate(structure, sf.Statistics.load(path)).notes
    assert note.text == "x0, x1, x2, x3 and 5 more: whole numbers read as discrete variables."


CHANCE = np.random.default_rng(5)
SHARED = CHANCE.integers(0, 3, 200)
CYCLE = {name: np.where(CHANCE.random(200) < 0.3, SHARED > 0, CHANCE.random(200) < 0.5).astype(int) for name in "abcd"}
RING = "a:b + b:c + c:d + a:d"
CLASSES = {"x": CHANCE.normal(size=200), "y": np.array(list("uvw"))[SHARED]}
GAPS = {"A": ["x", "y", None, "y", "x", "y"], "B": [*"uvuuv", None]}


class InterruptsAtOnce:
    """A display that sends Ctrl-C after the first step."""

    def begin(self, label: str, total: float | None, unit: str) -> None:
        self.counts = unit == "steps"

    def update(self, done: float, info: str) -> None:
        if self.counts:
            signal.raise_signal(signal.SIGINT)

    def end(self) -> None:
        pass


@pytest.mark.parametrize(
    ("structure", "data", "how"),
    [
        *[(sf.Cliques(RING), CYCLE, {"method": name}) for name in ("ipf", "newton", "lbfgs", "cg", "gradient")],
        (sf.Cliques(RING), CYCLE, {"prior": sf.Laplace(1.0)}),
        *[(sf.Ising(RING), CYCLE, {"method": name}) for name in ("gis", "lbfgs", "pseudo_likelihood")],
        (sf.Ising(RING), CYCLE, {"prior": sf.Laplace(1.0)}),
        (SoftmaxClasses("y", ["x"]), CLASSES, {"prior": sf.Gaussian(1.0), "method": "lbfgs"}),
        (DAG, GAPS, {"missing": "em"}),
        (sf.GaussianMarkov("a:b + b:c + c:d + a:d"), {n: CHANCE.normal(size=50) for n in "abcd"}, {"method": "newton"}),
    ],
)
def test_fits_know_how_their_search_ended(structure: Any, data: Any, how: dict[str, Any]) -> None:
    whole = sf.fit(structure, data, max_iter=10_000, **how)
    assert whole.certificate.ok
    assert whole.stop is Stop.CONVERGED
    assert sf.fit(structure, data, progress=InterruptsAtOnce(), **how).stop is Stop.INTERRUPTED
    assert sf.fit(structure, data, max_iter=0, **how).stop is Stop.OUT_OF_STEPS


def test_fits_in_closed_form_have_no_search() -> None:
    assert sf.fit(DAG, DATA).stop is None
