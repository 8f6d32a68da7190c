"""Slow tests of the spelling example on real counts, a real word list and real misspellings."""

from __future__ import annotations

import gzip
import lzma
import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import suffice as sf
from suffice.examples.spelling import PLACES, perplexity, trigram_features, word_model
from suffice.examples.spelling_slips import Lexicon, Slips, encoded, one_edit_away

pytestmark = [pytest.mark.slow, pytest.mark.data]

Floats = NDArray[np.float64]
Scores = Callable[[Sequence[str]], Floats]
LETTERS = string.ascii_lowercase
SMOOTHING, WIDTHS, RATES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0), (1.0, 2.0), (0.1, 0.01, 0.001)


# Letter trigrams ----------------------------------------------------------------------------------------------


def table_of(counts: NDArray[Any]) -> sf.Contingency:
    return sf.Contingency(counts, {place: list(LETTERS) for place in PLACES})


@pytest.fixture(scope="module")
def shares(data_folder: Path) -> Floats:
    """The shares of all letter trigrams in the words of Google books; shape (26, 26, 26)."""
    found = np.zeros((26, 26, 26))
    with gzip.open(data_folder / "letter_ngrams" / "ngrams3.tsv.gz", "rt") as file:
        header, *lines = file.read().splitlines()
    assert header.split("\t")[:2] == ["3-gram", "*/*"]
    for line in lines:
        triple, total = line.split("\t")[:2]
        found[tuple(LETTERS.index(letter) for letter in triple.lower())] = float(total)
    return np.asarray(found / found.sum())


def test_scaling_and_lbfgs_find_the_same_trigrams(shares: Floats) -> None:
    counts = table_of(shares * 100_000)
    features = trigram_features(counts, pairs=40, triples=20, also=("ing", "ion", "the"))
    quick = sf.fit(features, counts)
    slow = sf.fit(features, counts, method="gis", max_iter=20_000)
    assert quick.certificate.ok, quick.certificate.verdict
    assert slow.certificate.ok, slow.certificate.verdict
    p, q = (fit.model.query(list(PLACES)).values for fit in (quick, slow))
    assert abs(p - q).sum() / 2 < 1e-6
    assert (np.diff([step.objective for step in slow.trace]) > -1e-9 * abs(slow.log_likelihood)).all()


def test_held_out_perplexity_falls_as_features_are_added(shares: Floats) -> None:
    draw = np.random.default_rng(20261116)
    seen, unseen = (table_of(draw.multinomial(20_000, shares.reshape(-1)).reshape(shares.shape)) for _ in range(2))
    found = []
    for pairs, triples in ((0, 0), (50, 0), (200, 0), (200, 100), (200, 500)):
        fit = sf.fit(trigram_features(seen, pairs, triples), seen, prior=sf.Gaussian(2.0))
        assert fit.certificate.ok, fit.certificate.verdict
        found.append(perplexity(fit.model, unseen))
    print("held-out perplexity", [round(number) for number in found])
    assert (np.diff(found) < -0.05 * np.array(found[:-1])).all()
    assert perplexity(fit.model, seen) < found[-1]  # the held-out counts are not those of the fit


# Corrections --------------------------------------------------------------------------------------------------


def word_list(folder: Path) -> list[str]:
    with lzma.open(folder / "wordlists" / "american-english.txt.xz", "rt") as file:
        return sorted({word for word in file.read().split() if re.fullmatch("[a-z]{3,9}", word)})


@pytest.fixture(scope="module")
def words(data_folder: Path) -> list[str]:
    return word_list(data_folder)


def misspellings(folder: Path) -> list[tuple[str, str]]:
    """Return what was typed and what was meant, of four collections."""
    found: set[tuple[str, str]] = set()
    for name in ("aspell.dat", "wikipedia.dat", "holbrook-missp.dat"):
        meant = ""
        for line in (folder / "spelling" / name).read_text("latin-1").split("\n"):
            if line.startswith("$"):
                meant = line[1:].strip()
            elif line.strip():
                found.add((line.split()[0], meant))
    for name in ("norvig-spell-testset1.txt", "norvig-spell-testset2.txt"):
        for meant, typed in re.findall(r"'([^']+)'\s*:\s*'([^']+)'", (folder / "spelling" / name).read_text()):
            found |= {(one, meant) for one in typed.split()}
    return sorted(pair for pair in found if re.fullmatch("[a-z]+", pair[0]))


def chain(words: Sequence[str], k: float) -> Scores:
    """Return log p(word) of a Markov chain of order two over letters, k added to every count."""
    counts = np.zeros((27, 27, 27))
    *triples, inside = marked(words)
    np.add.at(counts, tuple(codes[inside] for codes in triples), 1)
    log_p = np.log((counts + k) / (counts.sum(axis=2, keepdims=True) + 27 * k))

    def scores(candidates: Sequence[str]) -> Floats:
        first, second, third, inside = marked(candidates)
        return np.asarray(np.where(inside, log_p[first, second, third], 0.0).sum(axis=1))

    return scores


def marked(words: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Return all three codes in a row, two marks before each word and one after it, and which of them there are."""
    codes, lengths = encoded(words)
    row = np.full((len(words), codes.shape[1] + 3), 26)
    row[:, 2:-1] = np.where(codes < 0, 26, codes)
    return row[:, :-2], row[:, 1:-1], row[:, 2:], np.arange(codes.shape[1] + 1) <= lengths[:, None]


@dataclass(frozen=True)
class Questions:
    """Misspellings, what was meant, what may have been meant, and log p(typed | candidate)."""

    typed: list[str]
    meant: list[str]
    candidates: list[list[str]]
    errors: list[Floats]

    def part(self, rows: NDArray[np.bool_]) -> Questions:
        def held(values: list[Any]) -> list[Any]:
            return [value for value, row in zip(values, rows, strict=True) if row]

        return Questions(held(self.typed), held(self.meant), held(self.candidates), held(self.errors))

    def split(self) -> tuple[Questions, Questions]:
        """Return a quarter to tune on, and the rest to test, without a word meant in both."""
        words = sorted(set(self.meant))
        tuned = set(np.random.default_rng(7).permutation(words)[: len(words) // 4].tolist())
        rows = np.array([word in tuned for word in self.meant])
        return self.part(rows), self.part(~rows)

    def slipped(self, rate: float) -> Questions:
        slips = Slips(rate)
        errors = [slips.log_prob(typed, words) for typed, words in zip(self.typed, self.candidates, strict=True)]
        return Questions(self.typed, self.meant, self.candidates, errors)

    def reciprocal_ranks(self, scores: Scores) -> Floats:
        known = sorted({word for candidates in self.candidates for word in candidates})
        value = dict(zip(known, scores(known), strict=True))
        found = []
        for meant, candidates, errors in zip(self.meant, self.candidates, self.errors, strict=True):
            total = np.array([value[word] for word in candidates]) + errors
            own = total[candidates.index(meant)]
            found.append(1 / (1 + (total > own).sum() + ((total == own).sum() - 1) / 2))
        return np.array(found)


def best(questions: Questions, settings: Mapping[float, Scores]) -> float:
    ranks = {setting: questions.reciprocal_ranks(scores).mean() for setting, scores in settings.items()}
    return max(ranks, key=lambda setting: ranks[setting])


def gain(ours: Floats, theirs: Floats) -> tuple[float, float, float]:
    """Return the mean gain and a 95 % interval, by a bootstrap of pairs."""
    draw, gains = np.random.default_rng(1), ours - theirs
    means = np.array([gains[draw.integers(0, len(gains), len(gains))].mean() for _ in range(4000)])
    low, high = np.quantile(means, [0.025, 0.975])
    return float(gains.mean()), float(low), float(high)


def compared(words: Sequence[str], tuning: Questions, testing: Questions) -> float:
    """Return the lower end of what the word model gains over the chain, each tuned on the same misspellings."""
    chains = {k: chain(words, k) for k in SMOOTHING}
    models = {width: word_model(words, width=width, tol=1e-5) for width in WIDTHS}
    assert all(model.fit.certificate.ok for model in models.values())
    k, width = best(tuning, chains), best(tuning, {width: model.scores for width, model in models.items()})
    ours, theirs = testing.reciprocal_ranks(models[width].scores), testing.reciprocal_ranks(chains[k])
    even = testing.reciprocal_ranks(lambda candidates: np.zeros(len(candidates)))
    mean, low, high = gain(ours, theirs)
    print(
        f"\n{len(words):,} words, {len(tuning.meant):,} misspellings to tune and {len(testing.meant):,} to test, "
        f"{np.mean([len(found) for found in testing.candidates]):.0f} candidates each; k = {k:g}, width {width:g}, "
        f"{len(models[width].fit.model.weights):,} weights"
        f"\nmean reciprocal rank {ours.mean():.4f} against {theirs.mean():.4f}: gain {mean:.4f} ({low:.4f} to "
        f"{high:.4f}); {even.mean():.4f} by slips alone"
        f"\nfirst {(ours == 1).mean():.4f} against {(theirs == 1).mean():.4f}"
    )
    return low


def test_ranking_words_beats_a_smoothed_trigram_chain(words: list[str], data_folder: Path) -> None:
    """Candidates are words of the list, within two edits.

    That a candidate is a word says more than its letters, so that both models do worse than the error model alone; the
    next test is where letters count.
    """
    lexicon, known = Lexicon(words), set(words)
    asked = [(typed, meant, lexicon.near(typed)) for typed, meant in misspellings(data_folder) if meant in known]
    asked = [one for one in asked if len(one[2]) >= 2 and one[1] in one[2]]
    everything = Questions([one[0] for one in asked], [one[1] for one in asked], [one[2] for one in asked], [])
    # How rare slips are is chosen for the chain.
    rates = {rate: everything.slipped(rate).split()[0].reciprocal_ranks(chain(words, 0.1)).mean() for rate in RATES}
    tuning, testing = everything.slipped(max(rates, key=lambda rate: rates[rate])).split()
    assert len(testing.meant) > 1500
    assert compared(words, tuning, testing) > 0


def test_ranking_strings_beats_a_smoothed_trigram_chain(words: list[str], data_folder: Path) -> None:
    """Candidates are all strings one edit away, and no word that was meant is among the training words."""
    known = set(words)
    asked = [(typed, meant, one_edit_away(typed)) for typed, meant in misspellings(data_folder) if meant in known]
    asked = [(typed, meant, [one for one in found if 3 <= len(one) <= 9]) for typed, meant, found in asked]
    asked = [one for one in asked if one[1] in one[2]]
    questions = Questions([one[0] for one in asked], [one[1] for one in asked], [one[2] for one in asked], [])
    tuning, testing = questions.slipped(0.001).split()
    assert len(testing.meant) > 1500
    unmeant = [word for word in words if word not in set(questions.meant)]
    assert compared(unmeant, tuning, testing) > 0
