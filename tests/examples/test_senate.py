"""Votes of the Senate: what is hidden, what may be chosen by what, and how much latent classes know."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

from suffice.examples import senate
from suffice.examples.senate import HeldOutVotes, Votes, chances, compare, learn, read_votes

FILE = Path("binary_votes") / "us_senate_109.csv.xz"


def small(seed: int = 0, n_senators: int = 24, n_votes: int = 12) -> Votes:
    """Return two parties that vote with themselves nine times out of ten, one vote in five being missing."""
    chance = np.random.default_rng(seed)
    party = np.arange(n_senators) % 2
    way = chance.integers(0, 2, (2, n_votes))
    codes = np.where(chance.random((n_senators, n_votes)) < 0.9, way[party], 1 - way[party])
    codes[chance.random(codes.shape) < 0.2] = -1
    return Votes(tuple(f"senator {i}" for i in range(n_senators)), codes)


def test_hidden_votes_are_known_ones_and_no_longer_shown() -> None:
    votes = small()
    shown, held = votes.hidden(0.1, seed=3)
    assert len(held.rows) == round(0.1 * (votes.codes >= 0).sum())
    np.testing.assert_array_equal(votes.codes[held.rows, held.columns], held.codes)
    assert (held.codes >= 0).all()
    assert (shown.codes[held.rows, held.columns] == -1).all()
    assert (shown.codes != votes.codes).sum() == len(held.rows)
    again = votes.hidden(0.1, seed=3)[1]
    np.testing.assert_array_equal(again.rows, held.rows)


def test_log_loss_and_error_are_of_the_votes_that_were_cast() -> None:
    held = HeldOutVotes(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1, 0, 1]))
    p = np.array([[0.8, 0.6], [0.5, 0.9]])
    assert held.log_loss(p) == pytest.approx(-np.log([0.8, 0.4, 0.9]).mean())
    assert held.error(p) == pytest.approx(1 / 3)
    assert held.log_loss(np.zeros((2, 2))) == np.inf


def test_margins_are_smoothed_frequencies() -> None:
    votes = small()
    p = chances(learn(votes, 1, 0.5), votes)
    yea, nay = (votes.codes == 1).sum(axis=0), (votes.codes == 0).sum(axis=0)
    np.testing.assert_allclose(p, np.tile((yea + 0.5) / (yea + nay + 1), (len(votes.senators), 1)), atol=1e-12)


def test_chances_are_what_the_model_answers() -> None:
    votes = small()
    fit = learn(votes, 2, 0.5, seed=0, restarts=2)
    p = chances(fit, votes)
    for column in (0, 7):
        name = votes.names[column]
        answers = fit.model.query_rows(name, {other: votes.table[other] for other in votes.names if other != name})
        missing = votes.codes[:, column] < 0  # others know their own vote as well
        np.testing.assert_allclose(p[missing, column], np.asarray(answers.values)[missing, 1], atol=1e-10)


def test_hidden_votes_have_no_part_in_any_choice() -> None:
    votes = small()
    shown, held = votes.hidden(0.05, 1)
    codes = votes.codes.copy()
    codes[held.rows, held.columns] = 1 - held.codes
    one = compare(votes, 1, n_classes=(2, 3), restarts=2)
    other = compare(Votes(votes.senators, codes), 1, n_classes=(2, 3), restarts=2)
    np.testing.assert_array_equal(one.votes.codes, shown.codes)
    np.testing.assert_array_equal(one.classes, other.classes)
    assert [c.log_loss for c in one.candidates] == [c.log_loss for c in other.candidates]
    assert one.gain > max(0.0, other.gain)


def test_the_command_prints_both_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    votes = small()
    signs = np.array([-1, 1, 0])[votes.codes]
    lines = [",".join(["bill", "missing", *votes.senators])]
    lines += [",".join(["b", "0", *map(str, row)]) for row in signs.T]
    path = tmp_path / "votes.csv.xz"
    path.write_bytes(lzma.compress("\n".join(lines).encode()))
    np.testing.assert_array_equal(read_votes(path).codes, votes.codes)
    senate.main([str(path), "--classes", "2", "--restarts", "2"])
    shown = capsys.readouterr().out
    assert "2 latent classes" in shown
    assert "below that of the margins" in shown
    assert "Certified" in shown


@pytest.mark.data
@pytest.mark.slow
def test_latent_classes_are_45_percent_below_margins(data_folder: Path) -> None:
    found = compare(read_votes(data_folder / FILE), seed=0, n_classes=(2, 3), restarts=2)
    assert found.gain >= 0.45
    assert found.fit.certificate.ok, found.fit.certificate.verdict
