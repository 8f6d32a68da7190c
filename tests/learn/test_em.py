"""The climb of EM: mixing, interruption, checkpoints, ends."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.cli.remedies import as_options
from suffice.files import read_arrays, write_arrays
from suffice.learn.em_checkpoint import KIND, VERSION, Checkpoint
from suffice.optimise.mixing import Mixing

CHANCE = np.random.default_rng(11)
LABEL = CHANCE.integers(0, 2, 500)
DATA = {
    f"x{i}": [
        None if gap else int(value)
        for value, gap in zip(CHANCE.random(500) < np.where(LABEL, 0.8, 0.3), CHANCE.random(500) < 0.2, strict=True)
    ]
    for i in range(5)
}
CLASSES = sf.DAG("; ".join(f"H -> x{i}" for i in range(5)), latent={"H": 2})


def fitted(**more: Any) -> sf.Fit:
    return sf.fit(CLASSES, DATA, missing="em", **{"restarts": 3, "seed": 4, **more})


class TestMixing:
    def test_finds_the_fixed_point_of_a_linear_map_in_as_many_steps_as_it_has_dimensions(self) -> None:
        chance = np.random.default_rng(0)
        a, b = 0.9 * np.linalg.qr(chance.normal(size=(4, 4)))[0], chance.normal(size=4)
        mixing, x = Mixing(6), np.zeros(4)
        for _ in range(6):
            x = mixing.next(x, a @ x + b)
        np.testing.assert_allclose(x, np.linalg.solve(np.eye(4) - a, b), atol=1e-8)

    def test_without_memory_takes_the_image(self) -> None:
        mixing = Mixing(0)
        assert mixing.next(np.array([1.0]), np.array([2.0])).tolist() == [2.0]
        assert mixing.next(np.array([2.0]), np.array([5.0])).tolist() == [5.0]

    def test_forgets(self) -> None:
        mixing = Mixing(3)
        mixing.next(np.array([1.0]), np.array([2.0]))
        mixing.forget()
        assert mixing.next(np.array([2.0]), np.array([5.0])).tolist() == [5.0]


class TestClimb:
    def test_mixing_takes_fewer_steps_than_plain_em(self) -> None:
        mixed, plain = fitted(restarts=1), fitted(restarts=1, options={"memory": 0}, max_iter=5000)
        assert mixed.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-8)
        assert len(mixed.trace) < len(plain.trace) / 2

    def test_too_few_steps_are_said(self) -> None:
        fit = fitted(restarts=1, max_iter=3)
        assert len(fit.trace) == 3
        assert not fit.certificate.ok
        assert any("max_iter" in note.text for note in fit.notes)

    def test_no_steps_leave_the_start(self) -> None:
        fit = fitted(restarts=1, max_iter=0)
        assert np.isfinite(fit.log_likelihood)
        assert not fit.certificate.ok
        assert any("'max_iter' of 0 steps" in note.text for note in fit.notes)

    def test_says_how_often_it_began(self) -> None:
        assert any("3 times" in note.text for note in fitted().notes)

    def test_a_wrong_number_of_restarts_is_an_error(self) -> None:
        for wrong in (0, -1, 1.5, "two"):
            with pytest.raises(sf.ArgumentError, match="restarts"):
                fitted(restarts=wrong)


class Interrupting:
    """A display that sends Ctrl-C after some steps."""

    def __init__(self, after: int) -> None:
        self.left = after

    def begin(self, label: str, total: float | None, unit: str) -> None:
        self.counts = label.startswith("EM")

    def update(self, done: float, info: str) -> None:
        self.left -= self.counts
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)

    def end(self) -> None:
        pass


class TestInterruption:
    def test_returns_the_best_so_far(self) -> None:
        fit = fitted(progress=Interrupting(4), restarts=1, options={"memory": 0})
        assert not fit.certificate.ok
        assert 3 <= len(fit.trace) <= 6
        assert any("Interrupted" in note.text for note in fit.notes)
        assert fit.log_likelihood < fitted(restarts=1).log_likelihood

    def test_a_checkpoint_goes_on_from_there(self, tmp_path: Path) -> None:
        path = tmp_path / "em.checkpoint"
        whole = fitted(options={"memory": 0})
        first = fitted(options={"memory": 0}, checkpoint=path, progress=Interrupting(60))
        assert path.exists()
        again = fitted(options={"memory": 0}, checkpoint=path)
        assert len(first.starts) <= len(again.starts) == 3
        assert again.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
        assert [start.n_steps for start in again.starts] == [start.n_steps for start in whole.starts]

    def test_a_finished_checkpoint_gives_the_same_fit_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "em.checkpoint"
        one, other = fitted(checkpoint=path), fitted(checkpoint=path)
        assert other.log_likelihood == one.log_likelihood
        assert other.starts == one.starts

    def test_of_another_fit_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "em.checkpoint"
        fitted(checkpoint=path)
        for other in ({"seed": 5}, {"restarts": 2}, {"prior": sf.Dirichlet(1.0)}):
            with pytest.raises(sf.FileFormatError, match="another fit"):
                fitted(checkpoint=path, **other)
        fewer = {name: column[:400] for name, column in DATA.items()}
        with pytest.raises(sf.FileFormatError, match="another fit"):
            sf.fit(CLASSES, fewer, missing="em", restarts=3, seed=4, checkpoint=path)

    def test_of_a_fit_that_began_elsewhere_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "em.checkpoint"
        one, other = (fitted(restarts=1, seed=seed, max_iter=3).model for seed in (1, 2))
        fitted(restarts=1, init=one, checkpoint=path)
        with pytest.raises(sf.FileFormatError, match="another fit"):
            fitted(restarts=1, init=other, checkpoint=path)

    @pytest.mark.parametrize(
        ("other", "said"),
        [
            ({"tol": 1e-6}, "it has tol=1e-08, and this call tol=1e-06."),
            (
                {"prior": sf.K2(), "point": "map"},
                "and this call prior=K2(); it has point='mle', and this call point='map'",
            ),
            ({"options": {"memory": 0}}, "it has options={}, and this call options={'memory': 0}."),
            ({"fixed": {"H": [0.5, 0.5]}}, "it has fixed={}, and this call fixed={'H': [0.5, 0.5]}."),
            ({"seed": 5}, "it has seed=4, and this call seed=5."),
        ],
    )
    def test_what_differs_from_the_checkpoint_is_named(self, tmp_path: Path, other: Any, said: str) -> None:
        path = tmp_path / "em.checkpoint"
        fitted(checkpoint=path)
        with pytest.raises(sf.FileFormatError) as raised:
            fitted(checkpoint=path, **other)
        assert said in str(raised.value)
        assert str(raised.value).count("it has") == len(other)

    def test_checkpoints_of_earlier_versions_do_not_know_their_settings(self, tmp_path: Path) -> None:
        path = tmp_path / "em.checkpoint"
        fitted(checkpoint=path)
        meta, arrays = read_arrays(path, KIND, VERSION)
        for settings in (None, {}, dict.fromkeys(meta["settings"], 3)):
            write_arrays(path, KIND, VERSION, {**meta, "settings": settings}, arrays)
            assert fitted(checkpoint=path).certificate.ok
            with pytest.raises(sf.FileFormatError, match="another structure, prior, point, tol, seed"):
                fitted(checkpoint=path, tol=1e-6)

    def test_goes_on_where_steps_ran_out(self, tmp_path: Path) -> None:
        path = tmp_path / "em.checkpoint"
        few = fitted(checkpoint=path, max_iter=3)
        same = fitted(checkpoint=path, max_iter=3)
        assert [note.text for note in same.notes] == [note.text for note in few.notes]
        for fit in (few, same):
            assert any("--max-iter of 3 steps" in as_options(note.text) for note in fit.notes)
        more = fitted(checkpoint=path)
        assert more.certificate.ok
        assert more.log_likelihood == pytest.approx(fitted().log_likelihood, rel=1e-9)

    def test_of_earlier_versions_tells_ends_by_their_reasons(self, tmp_path: Path) -> None:
        path = tmp_path / "em.checkpoint"
        few = fitted(checkpoint=path, max_iter=3)
        meta, arrays = read_arrays(path, KIND, VERSION)
        assert meta.pop("stops") == ["OUT_OF_STEPS"] * 3
        write_arrays(path, KIND, VERSION, meta, arrays)
        same = fitted(checkpoint=path, max_iter=3)
        assert [note.text for note in same.notes] == [note.text for note in few.notes]
        more = fitted(checkpoint=path)
        assert more.certificate.ok
        assert more.log_likelihood == fitted().log_likelihood
        assert fitted(checkpoint=path).starts == more.starts

    @pytest.mark.parametrize("stops", [3, [], ["OUT_OF_STEPS"], ["CONVERGED", "CONVERGED", "?"], [[], [], []]])
    def test_whose_ends_are_none_is_refused(self, stops: Any, tmp_path: Path) -> None:
        path = tmp_path / "em.checkpoint"
        fitted(checkpoint=path, max_iter=3)
        meta, arrays = read_arrays(path, KIND, VERSION)
        write_arrays(path, KIND, VERSION, {**meta, "stops": stops}, arrays)
        with pytest.raises(sf.FileFormatError, match="how it ended"):
            fitted(checkpoint=path, max_iter=3)

    def test_that_is_damaged_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "em.checkpoint"
        fitted(checkpoint=path)
        held = bytearray(path.read_bytes())
        held[len(held) // 2] ^= 1
        path.write_bytes(bytes(held))
        with pytest.raises(sf.FileFormatError):
            fitted(checkpoint=path)

    def test_without_a_file_keeps_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        nowhere = Checkpoint(None, "")
        nowhere.at(np.zeros(1), [0.0])
        assert not nowhere.resumed().is_under_way
        assert not nowhere.resumed().done
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "structure", [sf.DAG, lambda edges: sf.Cliques(edges.replace("; ", " + ").replace(" -> ", ":"))]
)
def test_a_column_without_a_value_is_begun_with_more_than_once(structure: Any) -> None:
    """The start from available cases gives all its states alike, from where no step leads away."""
    star = "; ".join(f"H -> x{i}" for i in range(5))
    fit = sf.fit(structure(star), DATA | {"H": [None] * 500}, schema={"H": [0, 1]}, missing="em")
    assert [start.name for start in fit.starts] == ["available", *["random"] * 4]
    assert fit.log_likelihood == pytest.approx(fitted().log_likelihood, rel=1e-7)


def test_a_class_without_a_value_is_begun_with_more_than_once() -> None:
    x = [*CHANCE.normal(-3, 1, 50), *CHANCE.normal(3, 1, 50)]
    fit = sf.fit(sf.DAG("H -> x"), {"x": x, "H": [None] * 100}, schema={"H": [0, 1]}, missing="em")
    hidden = sf.fit(sf.DAG("H -> x", latent={"H": 2}), {"x": x}, missing="em")
    assert fit.log_likelihood == pytest.approx(hidden.log_likelihood, rel=1e-7)


def test_statistics_of_incomplete_rows_are_not_taken_for_complete_ones() -> None:
    numbers = {"x": [0.5, 1.0, None, 3.0, 1.0], "y": [1.5, None, 2.0, 2.0, 3.0]}
    for structure, data in ((sf.DAG("x0 -> x1"), DATA), (sf.DAG("x -> y"), numbers)):
        statistics = sf.collect(structure, data, missing="em")
        with pytest.raises(sf.ArgumentError, match="lack values"):
            sf.estimate(structure, statistics)
        fit = sf.estimate(structure, statistics, missing="em", data=data)
        assert fit.log_likelihood == sf.fit(structure, data, missing="em").log_likelihood


def test_weights_of_any_size_lead_to_the_same_tables() -> None:
    data = {"A": [0, 1, None, 1, None, 0, 0, None], "B": [0, 1, 1, 0, 0, 1, 0, 1], "C": [0, 1, 1, None, 1, 0, None, 1]}
    weights = np.array([3.0, 2, 3, 1, 1, 2, 5, 1])
    fits = [sf.fit(sf.DAG("A -> B; A -> C"), data, missing="em", weights=weights * by) for by in (1e-6, 1.0, 1e12)]
    for fit in fits:
        assert fit.certificate.ok
        np.testing.assert_allclose(fit.model.cpd("B").values, fits[1].model.cpd("B").values, atol=1e-6)


def test_a_fit_is_written_and_read_with_its_starts(tmp_path: Path) -> None:
    fit = fitted()
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json")
    assert again.starts == fit.starts
    assert again.log_likelihood == fit.log_likelihood
    assert again.certificate.ok == fit.certificate.ok
