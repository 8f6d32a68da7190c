"""The spelling example on its own words: what its models claim, against brute force."""

from __future__ import annotations

import itertools
import math
import string
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.examples import spelling
from suffice.examples.spelling import GAP, PLACES, Correction, WordModel, common_words, corrections, word_model
from suffice.examples.spelling_slips import Lexicon, Slips, cheapest, encoded, one_edit_away

SHORT = st.text("abc", min_size=1, max_size=5)


@pytest.fixture(scope="module")
def model() -> WordModel:
    return word_model([word for word in common_words() if len(word) <= 5], tol=1e-7)


def test_words_are_distinct_and_of_three_to_nine_letters() -> None:
    words = common_words()
    assert len(set(words)) == len(words) > 1500
    assert all(3 <= len(word) <= 9 and set(word) <= set(string.ascii_lowercase) for word in words)


# Trigrams -----------------------------------------------------------------------------------------------------


def test_trigrams_are_counted_inside_words() -> None:
    counts = spelling.trigram_counts(["going", "in", "wing"])
    assert counts.array.sum() == 3 + 0 + 2
    assert counts.array[8, 13, 6] == 2  # "ing"


def test_most_frequent_pairs_and_triples_become_features() -> None:
    counts = spelling.trigram_counts(["banana", "band"])
    names = [f.name for f in spelling.trigram_features(counts, 1, 1, also=("xyz",)).resolved(schema_of(counts))]
    assert names[75:] == ["c1=a & c2=n", "c2=a & c3=n", "xyz", "ana"]


def schema_of(counts: sf.Contingency) -> sf.Schema:
    return sf.Schema(counts.variables)


def test_held_out_words_are_less_surprising_with_more_features() -> None:
    words = common_words()
    held = spelling.trigram_counts(words[::4])
    counts = spelling.trigram_counts(word for row, word in enumerate(words) if row % 4)
    found = []
    for pairs, triples in ((0, 0), (100, 0), (100, 100)):
        fit = sf.fit(spelling.trigram_features(counts, pairs, triples), counts, prior=sf.Gaussian(1.0))
        assert fit.certificate.ok
        found.append(spelling.perplexity(fit.model, held))
    assert found[0] > found[1] > found[2]


def test_perplexity_of_even_trigrams_is_their_number() -> None:
    counts = spelling.trigram_counts([string.ascii_lowercase])
    even = sf.fit(
        spelling.trigram_features(counts),
        sf.Contingency(np.ones((26, 26, 26)), {place: list(string.ascii_lowercase) for place in PLACES}),
    ).model
    assert spelling.perplexity(even, counts) == pytest.approx(26**3)


def test_triples_that_never_occur_get_the_limit() -> None:
    counts = spelling.trigram_counts(common_words())
    fit = sf.fit(spelling.trigram_features(counts, also=("ing", "jxk")), counts)
    assert fit.certificate.ok
    assert fit.model.weights["jxk"] == -math.inf
    p = fit.model.query(list(PLACES))
    assert p[dict(zip(PLACES, "jxk", strict=True))] == 0
    assert p[dict(zip(PLACES, "ing", strict=True))] == pytest.approx(counts.array[8, 13, 6] / counts.array.sum())


# Words --------------------------------------------------------------------------------------------------------


def test_scores_are_sums_of_weights_wherever_patterns_stand(model: WordModel) -> None:
    weights = model.fit.model.weights

    def total(word: str) -> float:
        row = word.rjust(model.longest + 1, "#") + "#"
        windows = [row[at : at + size] for size in (1, 2, 3) for at in range(len(row) - size + 1)]
        return sum(float(weights[pattern]) for pattern in [*windows, row[-4:]] if pattern in weights)

    words = ["ring", "the", "shine", "xqz", "gnir"]
    constants = model.scores(words) - [total(word) for word in words]
    assert constants == pytest.approx([constants[0]] * len(words), abs=1e-9)
    assert -constants[0] == pytest.approx(model.fit.model.log_z)


def test_words_and_gaps_have_all_the_probability() -> None:
    small = word_model(["ab", "ba", "b"])
    strings = ["".join(row) for size in (1, 2) for row in itertools.product(string.ascii_lowercase, repeat=size)]
    # Letters before the mark in the last place are gaps; the mark before it is the empty word.
    wasted = {"c0": ["#"] * 27, "c1": list(spelling.STATES), "c2": ["#"] * 27, "c3": ["#"] * 27}
    waste = float(np.exp(small.fit.model.log_prob(wasted)).sum())
    assert waste > 1e-6
    assert np.exp(small.scores(strings)).sum() + waste == pytest.approx(1)


def test_hardly_any_row_has_a_gap(model: WordModel) -> None:
    assert model.fit.certificate.ok
    places = model.fit.model.variables[:-1]
    pairs = itertools.pairwise(places)
    gaps = sum(float(model.fit.model.query(list(pair)).values[1:, 0].sum()) for pair in list(pairs)[1:])
    assert 0 < gaps < 0.01
    assert model.fit.model.weights[GAP] < -5


def test_english_is_likelier_than_its_letters_in_disorder(model: WordModel) -> None:
    for word, other in (("thing", "gnith"), ("crown", "nwocr"), ("blame", "mlbea")):
        assert model.score(word) > model.score(other) + 5


@pytest.mark.parametrize("word", ["", "toolong", "naïf", "Up", "it's", "a#b"])
def test_what_is_no_word_of_the_model_has_probability_zero(model: WordModel, word: str) -> None:
    assert model.score(word) == -math.inf
    assert model.scores(["the", word])[0] == model.score("the")


def test_invented_words_are_drawn_from_the_model(model: WordModel) -> None:
    words = model.invented(300, seed=1)
    assert words == model.invented(300, seed=1)
    assert len(words) > 290
    noise = np.random.default_rng(0).choice(list(string.ascii_lowercase), (300, 4))
    assert model.scores(words).mean() > model.scores(["".join(row) for row in noise]).mean() + 5


# Slips and corrections ----------------------------------------------------------------------------------------


def edits_by_search(word: str, typed: str) -> int:
    """Return the least number of edits, by walking through all strings over a, b and c; at most two."""
    distance, queue = {word: 0}, deque([word])
    while queue:
        here = queue.popleft()
        if distance[here] == 2:
            continue
        for other in one_edit_away(here):
            if other not in distance and set(other) <= set("abc"):
                distance[other] = distance[here] + 1
                queue.append(other)
    return distance.get(typed, 3)


@given(SHORT, st.lists(SHORT, min_size=1, max_size=4, unique=True))
def test_near_words_are_those_that_a_search_reaches(typed: str, words: list[str]) -> None:
    found = Lexicon(words).near(typed)
    for word in words:
        edits = edits_by_search(word, typed)
        # A swap whose letters are then parted is no single path of edits, so that a search may be shorter by it.
        assert 1 <= edits <= 2 if word in found else edits != 1, (word, typed)


@given(SHORT, SHORT)
def test_costs_are_those_of_the_plain_recursion(typed: str, word: str) -> None:
    drop, swap, replace, insert = 1.0, 1.5, 2.25, 1.75

    def cost(i: int, j: int) -> float:
        if i == 0 or j == 0:
            return i * insert + j * drop
        ways = [cost(i - 1, j) + insert, cost(i, j - 1) + drop]
        ways.append(cost(i - 1, j - 1) + (replace if typed[i - 1] != word[j - 1] else 0))
        if i > 1 and j > 1 and typed[i - 2 : i] == word[j - 1] + word[j - 2]:
            ways.append(cost(i - 2, j - 2) + swap)
        return min(ways)

    codes, lengths = encoded([word, "abcabc"])
    costs = (np.full(2, value) for value in (drop, swap, replace, insert))
    assert cheapest(typed, codes, lengths, *costs)[0] == pytest.approx(cost(len(typed), len(word)))


@given(SHORT)
def test_one_edit_away_is_what_costs_one_edit(typed: str) -> None:
    found = one_edit_away(typed)
    codes, lengths = encoded(found)
    assert (cheapest(typed, codes, lengths, *[np.ones(len(found))] * 4) == 1).all()
    n, doubles = len(typed), sum(a == b for a, b in itertools.pairwise(typed))
    # Insertions: 26 (n + 1), n of them twice; replacements; omissions and swaps, both fewer where letters repeat.
    whole = 26 * (n + 1) - n + 25 * n + (n - doubles) + (n - 1 - doubles)
    assert whole - 2 * n <= len(found) <= whole


def test_slips_of_one_word_are_a_distribution() -> None:
    slips = Slips(rate=0.5)
    each = sum(math.exp(slips.log_prob(typed, ["abc"])[0]) for typed in one_edit_away("abc"))
    # Strings that two edits of one kind make are counted once, so that a little is missing.
    assert 0.4 < each <= 0.5
    assert slips.log_prob("acb", ["abc"])[0] == pytest.approx(math.log(0.5 / 4 / 2))
    assert slips.log_prob("ab", ["abc"])[0] == pytest.approx(math.log(0.5 / 4 / 3))
    assert slips.log_prob("xbc", ["abc"])[0] == pytest.approx(math.log(0.5 / 4 / 3 / 25))
    assert slips.log_prob("abcx", ["abc"])[0] == pytest.approx(math.log(0.5 / 4 / 4 / 26))


def test_characters_that_are_no_letters_equal_nothing() -> None:
    assert Lexicon(["cafe", "care"]).near("café") == ["cafe", "care"]
    assert Lexicon(["its"]).near("it's") == ["its"]


def test_corrections_add_both_logarithms_and_put_the_best_first() -> None:
    found = corrections("ct", ["cut", "cat", "ct"], lambda words: np.array([-2.0, -1.0, -9.0]))
    slip = Slips().log_prob("ct", ["cat"])[0]
    assert found == [Correction("ct", -9.0), Correction("cat", slip - 1), Correction("cut", slip - 2)]
    tied = corrections("ct", ["cut", "cat"], lambda words: np.zeros(2))
    assert [one.word for one in tied] == ["cat", "cut"]


def test_the_demonstration_corrects_well_known_misspellings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trigrams = []
    monkeypatch.setattr(spelling, "show_trigrams", trigrams.append)
    spelling.main()
    assert trigrams == [common_words()]
    shown = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in shown.splitlines() if line.strip()}
    meant = {"recieve": "receive", "thier": "their", "becuase": "because", "freind": "friend", "wierd": "weird"}
    assert {typed: lines[typed][1] for typed in meant} == meant
    assert shown.count("Certified") == 1


def test_the_demonstration_shows_trigrams(capsys: pytest.CaptureFixture[str]) -> None:
    spelling.show_trigrams(common_words())
    shown = capsys.readouterr().out
    assert shown.count("Certified") == 1
    lines = {line.split()[0]: line.split() for line in shown.splitlines() if line.strip()}
    for triple in spelling.UNLIKELY:
        assert lines[triple][1:3] == ["-inf", "never"]
