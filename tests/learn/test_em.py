"""The climb of EM: mixing, interruption, checkpoints, ends."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.learn.em_checkpoint import Checkpoint
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

    def test_that_is_damaged_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "em.checkpoint"
        fitted(checkpoint=path)
        held = bytearray(path.read_bytes())
        held[len(held) // 2] ^= 1
        path.write_bytes(bytes(held))
        with pytest.raises(sf.FileFormatError):
            fitted(checkpoint=path)

    def test_without_a_file_keeps_nothing(self) -> None:
        Checkpoint(None, "").at(np.zeros(1), [0.0])


def test_a_fit_is_written_and_read_with_its_starts(tmp_path: Path) -> None:
    fit = fitted()
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json")
    assert again.starts == fit.starts
    assert again.log_likelihood == fit.log_likelihood
    assert again.certificate.ok == fit.certificate.ok
