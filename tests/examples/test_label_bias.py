"""Label bias: the words and their noise, Bayes' rule, and that the MEMM fails where the CRF does not."""

from __future__ import annotations

import itertools
import runpy
import sys
from collections import Counter

import numpy as np
import pytest

import suffice as sf
from suffice.examples import label_bias
from suffice.examples.label_bias import CLEAR, PATHS, SYMBOLS, LabelBiasComparison, Reading, bayes, compare, draw


@pytest.fixture(scope="module")
def found() -> LabelBiasComparison:
    return compare(n_train=2000, n_test=4000, share=0.6, seed=1)


def readings(comparison: LabelBiasComparison) -> dict[str, Reading]:
    return {reading.name: reading for reading in comparison.readings}


# Words --------------------------------------------------------------------------------------------------------


def test_words_have_their_share_and_symbols_their_noise() -> None:
    n = 40_000
    sample = draw(n, 0.7, np.random.default_rng(0))
    assert sample.words.count("rib") / n == pytest.approx(0.7, abs=0.01)
    pairs = Counter(zip("".join(sample.words), "".join(sample.read), strict=True))
    for symbol in SYMBOLS:
        total = sum(count for (true, _), count in pairs.items() if true == symbol)
        for other in SYMBOLS:
            expected = CLEAR if other == symbol else 1 / 32
            assert pairs[symbol, other] / total == pytest.approx(expected, abs=0.01)


def test_states_follow_the_word_that_was_written_and_features_the_one_that_was_read() -> None:
    sample = draw(200, 0.5, np.random.default_rng(3))
    assert sample.read != sample.words
    for word, read, x, y in zip(sample.words, sample.read, sample.inputs, sample.states, strict=True):
        assert ("".join(y), [[symbol] for symbol in read]) == (PATHS[word], x)


def test_bayes_rule_is_the_limit_of_shares_among_drawn_words() -> None:
    sample = draw(60_000, 0.6, np.random.default_rng(2))
    pairs = Counter(zip(sample.words, sample.read, strict=True))
    for read in ("rib", "rob", "rrb", "rbb"):
        total = pairs["rib", read] + pairs["rob", read]
        assert bayes(read, 0.6)["rib"] == pytest.approx(pairs["rib", read] / total, abs=0.05)
    for read in map("".join, itertools.product(SYMBOLS, repeat=3)):
        assert sum(bayes(read, 0.3).values()) == pytest.approx(1)


# What is learnt -----------------------------------------------------------------------------------------------


def test_memm_goes_on_to_the_only_successor_whatever_the_symbol(found: LabelBiasComparison) -> None:
    assert found.successors.shape == (2, len(SYMBOLS))
    assert found.successors.min() > 0.99
    assert found.successors.max() <= 1


def test_memm_reads_the_more_frequent_word_always(found: LabelBiasComparison) -> None:
    memm = readings(found)["MEMM"]
    assert memm.error == pytest.approx(0.4, abs=0.03)
    assert memm.given_rib == pytest.approx(0.6, abs=0.04)
    assert memm.given_rob == pytest.approx(0.4, abs=0.04)
    assert found.memm.predict([[["r"], ["o"], ["b"]]]) == [["1", "2", "3"]]


def test_crf_tells_the_words_apart_as_well_as_the_noise_lets_it(found: LabelBiasComparison) -> None:
    best, crf = readings(found)["Bayes' rule"], readings(found)["CRF"]
    assert best.error == pytest.approx(1 / 32 + 2 / 32 * 0.4, abs=0.01)
    assert crf.error < best.error + 0.005
    assert crf.given_rib == pytest.approx(best.given_rib, abs=0.03)
    assert crf.given_rob == pytest.approx(best.given_rob, abs=0.03)
    assert found.crf.predict([[["r"], ["o"], ["b"]]]) == [["4", "5", "3"]]


def test_memm_makes_several_times_the_errors_of_the_crf(found: LabelBiasComparison) -> None:
    assert readings(found)["MEMM"].error > 5 * readings(found)["CRF"].error


def test_the_more_frequent_word_wins_also_when_it_is_the_other_one() -> None:
    other = compare(n_train=1000, n_test=1000, share=0.35, seed=4)
    assert other.memm.predict([[["r"], ["i"], ["b"]]]) == [["4", "5", "3"]]
    assert other.crf.predict([[["r"], ["i"], ["b"]]]) == [["1", "2", "3"]]
    assert readings(other)["MEMM"].error == pytest.approx(0.35, abs=0.04)


@pytest.mark.parametrize("strength", [1.0, 0.1, 0.001])
def test_no_penalty_saves_the_memm_where_one_word_is_more_frequent(strength: float) -> None:
    found = readings(compare(1000, 1000, share=0.6, seed=7, strength=strength))
    assert found["MEMM"].error == pytest.approx(0.4, abs=0.04)
    assert found["CRF"].error < 0.1


def test_of_equally_frequent_words_a_strong_penalty_may_tell_some_apart() -> None:
    strong, weak = (readings(compare(2000, 1000, 0.5, 0, strength=strength))["MEMM"] for strength in (1.0, 0.1))
    assert strong.error < 0.2
    assert weak.error > 0.4


def test_both_are_at_their_optimum_so_that_failing_is_no_matter_of_the_search(found: LabelBiasComparison) -> None:
    assert found.memm.fit_.certificate.ok
    assert found.crf.fit_.certificate.ok
    assert isinstance(found.memm, sf.MEMM)


# The command --------------------------------------------------------------------------------------------------


def test_the_seed_decides() -> None:
    one, again, other = (compare(200, 100, seed=seed) for seed in (5, 5, 6))
    assert one.readings == again.readings
    np.testing.assert_array_equal(one.successors, again.successors)
    assert one.readings != other.readings


def test_the_command_prints_both_tables_and_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    label_bias.main(["--train", "300", "--test", "100", "--share", "0.7", "--seed", "2"])
    shown = capsys.readouterr().out
    assert shown == f"{compare(300, 100, 0.7, 2)}\n"
    assert shown.startswith("300 words to learn from, 100 to test, 70% of them rib\n")
    for piece in ("words wrong", "p(0-4-5-3 | rob)", "Bayes' rule", "4 → 5", "In a MEMM the successors"):
        assert piece in shown


def test_it_runs_as_a_module(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["label_bias", "--train", "100", "--test", "50"])
    monkeypatch.delitem(sys.modules, "suffice.examples.label_bias")  # a module that was imported is not run again
    runpy.run_module("suffice.examples.label_bias", run_name="__main__")
    assert "words wrong" in capsys.readouterr().out
