"""The spelling model: letters and words as maximum-entropy models, and corrections ranked by them.

Run it with ``python -m suffice.examples.spelling``. Two models are fitted to common English words:

**Trigrams.** p(c₁ c₂ c₃) of three letters in a row has 26³ cells, far more than the words can fill. Features carry it:
how often a letter is in a place, a few pairs, a few triples such as "ing" and "ion".

**Words.** Every letter, every pair, and every triple that is not rare has one weight, wherever in the word it occurs,
and so have frequent endings. A word stands at the right end of a row of places, as in ``####going#``: its marks belong
to patterns, so that "#un" is a beginning and "ing#" an ending. The last mark is always there and costs no state, which
makes room for endings of three letters. Lengths need no model of their own: runs of marks are patterns, too.

A letter before a mark inside the row would be a word with a gap. No word has one, and a single feature counts gaps:
under the prior its weight is finite, but large, and the model wastes less than one row in a hundred on them.
"""

from __future__ import annotations

import itertools
import math
import string
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

import suffice as sf
from suffice.examples.spelling_slips import Lexicon, Slips, one_edit_away
from suffice.text import plain_table
from suffice.types import Floats

MARK = "#"
STATES = MARK + string.ascii_lowercase
GAP = "letter before a mark"
PLACES = ("c1", "c2", "c3")


def common_words() -> list[str]:
    """Return some 1,600 common English words of three to nine letters, each once."""
    return (files("suffice.examples") / "common_words.txt").read_text().split()


# Trigrams -----------------------------------------------------------------------------------------------------


def trigram_counts(words: Iterable[str]) -> sf.Contingency:
    """Return how often every three letters follow each other inside the words, as a table of 26³ cells.

    >>> trigram_counts(["going", "doing"])
    Contingency(c1: 26, c2: 26, c3: 26; total 6)
    """
    table = np.zeros((26, 26, 26))
    for word in words:
        codes = [ord(letter) - ord("a") for letter in word]
        for triple in zip(codes, codes[1:], codes[2:], strict=False):
            table[triple] += 1
    return sf.Contingency(table, {place: list(string.ascii_lowercase) for place in PLACES})


def trigram_features(counts: sf.Contingency, pairs: int = 0, triples: int = 0, also: Sequence[str] = ()) -> sf.Features:
    """Return features of three letters: each letter in each place, the most frequent pairs and triples, and others.

    Parameters
    ----------
    counts : Contingency
        By which pairs and triples are chosen.
    pairs, triples : int
        How many of them; pairs for each of the two places.
    also : sequence of str
        Triples to be had in any case.
    """
    specs: list[Any] = [sf.indicators(place, reference=True) for place in PLACES]
    for scope, axis in ((PLACES[:2], 2), (PLACES[1:], 0)):
        found = _most_frequent(counts.array.sum(axis=axis), pairs)
        specs += [sf.indicator(dict(zip(scope, pair, strict=True))) for pair in found]
    chosen = dict.fromkeys([*also, *_most_frequent(counts.array, triples)])
    specs += [sf.indicator(dict(zip(PLACES, triple, strict=True)), name=triple) for triple in chosen]
    return sf.Features(specs)


def perplexity(model: sf.LogLinear, counts: sf.Contingency) -> float:
    """Return exp of the mean of −log p: among how many equally likely triples the model is in doubt."""
    p = model.query(list(PLACES)).values
    seen = counts.array > 0
    with np.errstate(divide="ignore"):
        return math.exp(-float((counts.array[seen] * np.log(p[seen])).sum()) / float(counts.array.sum()))


def _most_frequent(table: Floats, n: int) -> list[str]:
    order = np.argsort(-table, axis=None, kind="stable")[:n]
    codes = zip(*np.unravel_index(order[table.reshape(-1)[order] > 0], table.shape), strict=True)
    return ["".join(string.ascii_lowercase[code] for code in row) for row in codes]


# Words --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WordModel:
    """A distribution over words of up to ``longest`` letters; see `word_model`.

    Attributes
    ----------
    fit : Fit
    longest : int
    """

    fit: sf.Fit
    longest: int

    def scores(self, words: Sequence[str]) -> Floats:
        """Return log p(word); −inf for words that are too long or hold anything but the letters a to z."""
        found = np.full(len(words), -math.inf)
        known = [row for row, word in enumerate(words) if self._is_possible(word)]
        if known:
            found[known] = self.fit.model.log_prob(columns([words[row] for row in known], self.longest))
        return found

    def score(self, word: str) -> float:
        """Return log p(word)."""
        return float(self.scores([word])[0])

    def corrections(self, typed: str, candidates: Sequence[str], slips: Slips | None = None) -> list[Correction]:
        """Return the candidates, the likeliest to have been meant by what was typed first."""
        return corrections(typed, candidates, self.scores, slips)

    def invented(self, n: int, seed: int) -> list[str]:
        """Return words drawn from the model; draws without a letter, or with a gap, are left out."""
        letters = self.fit.model.sample(n, seed=seed, backend="pyarrow").select(_places(self.longest))
        drawn = ("".join(map(str, row)).strip(MARK) for row in zip(*letters.to_pydict().values(), strict=True))
        return [word for word in drawn if word and MARK not in word]

    def _is_possible(self, word: str) -> bool:
        return 0 < len(word) <= self.longest and set(word) <= set(string.ascii_lowercase)


def word_model(
    words: Sequence[str],
    *,
    width: float = 1.0,
    least: tuple[int, int] = (3, 5),
    tol: float = 1e-6,
) -> WordModel:
    """Fit a maximum-entropy model of words, its weights shared by all places.

    Parameters
    ----------
    words : sequence of str
        Of the letters a to z; the longest of them says how long words can be.
    width : float
        Of the Gaussian prior on the weights.
    least : tuple of two int
        How often triples, and endings of three letters, must occur to be features. Pairs are features all of them:
        those that never occur get weights below zero.
    tol : float
        The tolerance of the fit.

    Examples
    --------
    >>> model = word_model(["sing", "sang", "song", "ring", "rang"])
    >>> model.score("rong") > model.score("gnor")
    True
    """
    longest = max(map(len, words))
    places = _places(longest)
    rows = [_padded(word, longest) for word in words]
    patterns = ["".join(pair) for pair in itertools.product(STATES, repeat=2)]
    patterns += [*STATES, *_frequent((row[at : at + 3] for row in rows for at in range(longest)), least[0])]
    specs = [sf.windows(patterns, over=places), sf.windows(_is_gap, over=places[:-1], width=2, name=GAP)]
    endings = _frequent((row[-4:] for row in rows), least[1])
    if endings:
        specs.append(sf.windows(endings, over=places[-4:]))
    inner = dict.fromkeys(places[1:-1], STATES)
    schema = {place: sf.categorical(list(inner.get(place, MARK))) for place in places}
    prior, data = sf.Gaussian(width), columns(words, longest)
    return WordModel(sf.fit(sf.Features(specs), data, schema=schema, prior=prior, tol=tol, max_iter=5000), longest)


def columns(words: Sequence[str], longest: int) -> dict[str, list[str]]:
    """Return words as a table, one column a place.

    >>> {place: letters[0] for place, letters in columns(["ox"], 3).items()}
    {'c0': '#', 'c1': '#', 'c2': 'o', 'c3': 'x', 'c4': '#'}
    """
    rows = [_padded(word, longest) for word in words]
    return {place: [row[at] for row in rows] for at, place in enumerate(_places(longest))}


def _places(longest: int) -> list[str]:
    return [f"c{at}" for at in range(longest + 2)]


def _padded(word: str, longest: int) -> str:
    return word.rjust(longest + 1, MARK) + MARK


def _frequent(found: Iterable[str], least: int) -> list[str]:
    return sorted(pattern for pattern, n in Counter(found).items() if n >= least)


def _is_gap(left: str, right: str) -> bool:
    return left != MARK and right == MARK


# Corrections --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Correction:
    """A word that may have been meant, with log p(word) + log p(typed | word)."""

    word: str
    log_prob: float


def corrections(
    typed: str,
    candidates: Sequence[str],
    scores: Callable[[Sequence[str]], Floats],
    slips: Slips | None = None,
) -> list[Correction]:
    """Return the candidates in the order of log p(word) + log p(typed | word), the likeliest first.

    Parameters
    ----------
    typed : str
    candidates : sequence of str
    scores : callable
        Returns log p(word) of every word: that of a `WordModel`, or of another model.
    slips : Slips, optional
        How words are mistyped.
    """
    total = scores(candidates) + (slips or Slips()).log_prob(typed, candidates)
    found = [Correction(word, float(value)) for word, value in zip(candidates, total, strict=True)]
    return sorted(found, key=lambda one: (-one.log_prob, one.word))


# The demonstration --------------------------------------------------------------------------------------------

LIKELY, UNLIKELY = ("ing", "ion", "the"), ("jxk", "zwy")
STEPS = (
    ("letters in their places", 0, 0),
    ("+ 100 pairs", 100, 0),
    ("+ 300 pairs", 300, 0),
    ("+ 300 triples", 300, 300),
)
TYPED = ("recieve", "thier", "becuase", "freind", "wierd", "libary", "spelingg", "strenth")
UNKNOWN = ("gaurdian", "plantign", "sihning", "fightign")


def show_trigrams(words: Sequence[str]) -> None:
    """Print how the trigrams of held-out words become less surprising as features are added."""
    held = trigram_counts(words[::4])
    counts = trigram_counts(word for row, word in enumerate(words) if row % 4)
    print("Three letters in a row: p(c1 c2 c3) ∝ exp Σ weight · feature\n")
    lines = []
    for said, pairs, triples in STEPS:
        fit = sf.fit(trigram_features(counts, pairs, triples), counts, prior=sf.Gaussian(1.0))
        doubt = perplexity(fit.model, counts), perplexity(fit.model, held)
        lines.append([said, f"{len(fit.model.weights):,}", *(f"{number:,.0f}" for number in doubt)])
    print(plain_table(["features", "weights", "perplexity", "on held-out words"], lines, "<>>>"))
    counts = trigram_counts(words)
    fit = sf.fit(trigram_features(counts, also=(*LIKELY, *UNLIKELY)), counts)
    p, alone = fit.model.query(list(PLACES)), sf.fit(trigram_features(counts), counts).model.query(list(PLACES))
    print("\nFive triples as features; those that never occur have their weight at −∞, the limit of the likelihood:\n")
    lines = []
    for triple in (*LIKELY, *UNLIKELY):
        cell = dict(zip(PLACES, triple, strict=True))
        lines.append([triple, f"{fit.model.weights[triple]:+.2f}", *(_odds(table[cell]) for table in (p, alone))])
    print(plain_table(["triple", "weight", "one in", "by letters alone"], lines, "<>>>"))
    print(f"\n{fit.certificate.verdict}\n")


def _odds(p: float) -> str:
    return f"{1 / p:,.0f}" if p > 0 else "never"


def show_words(words: Sequence[str]) -> None:
    """Print what a model of whole words finds likely, and how it corrects."""
    model = word_model(words)
    fitted = model.fit.model
    print(f"Whole words: {len(fitted.weights):,} patterns, one weight each, shared by all places\n")
    print(model.fit.certificate.verdict)
    heaviest = sorted((name for name in fitted.weights if len(name) >= 3 and name != GAP), key=fitted.weights.get)
    print(f"\nliked most    {'  '.join(heaviest[:-13:-1])}")
    print(f"liked least   {'  '.join(heaviest[:12])}")
    known = set(words)
    print(f"invented      {'  '.join([word for word in model.invented(40, seed=3) if word not in known][:12])}\n")
    tried = ("string", "stirng", "nation", "natoin", "reading", "zwyjxk")
    print(plain_table(["word", "log p(word)"], [[word, f"{model.score(word):.1f}"] for word in tried], "<>"))
    print("\nCorrections, best first, by log p(word) + log p(typed | word):\n")
    lexicon, lines = Lexicon(words), []
    for typed in TYPED:
        best = model.corrections(typed, lexicon.near(typed))[:3]
        lines.append([typed, *(f"{one.word} {one.log_prob:.1f}" for one in best), *[""] * (3 - len(best))])
    print(plain_table(["typed", "meant", "or", "or"], lines, "<<<<"))
    print("\nWithout a list of words, among all strings one edit away:\n")
    lines = [[typed, *(one.word for one in model.corrections(typed, one_edit_away(typed))[:3])] for typed in UNKNOWN]
    print(plain_table(["typed", "meant", "or", "or"], lines, "<<<<"))


def main() -> None:
    """Show both models on common words."""
    words = common_words()
    print(f"{len(words):,} common English words\n")
    show_trigrams(words)
    show_words(words)


if __name__ == "__main__":
    main()
