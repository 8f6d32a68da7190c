"""A conditional random field against CRFsuite: objective, weights, tags, probabilities and scores.

The data are the first 200 sentences of the CoNLL-2000 chunking task's training file, and of its test file (Tjong Kim
Sang and Buchholz 2000, Introduction to the CoNLL-2000 Shared Task: Chunking). The numbers were computed by
python-crfsuite 0.9.12 with c2 = 0.5, to an epsilon of 1e-9; the objective was checked by a program of its own.
"""

from __future__ import annotations

import json
import lzma
from itertools import islice
from typing import Any

import numpy as np
import pytest
from tests.conftest import DATA

import suffice as sf

pytestmark = pytest.mark.data


def sentences(name: str, n: int) -> list[list[list[str]]]:
    with lzma.open(DATA / "seq_conll2000" / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
        parts = file.read().strip().split("\n\n")
    return [[line.split() for line in part.splitlines()] for part in islice(parts, n)]


def features_of(sentence: list[list[str]]) -> list[list[str]]:
    """Return the parts of speech of a word and its neighbours, and whether it is the first or the last."""
    n = len(sentence)
    return [
        [f"pos[{o}]={sentence[t + o][1]}" for o in (-1, 0, 1) if 0 <= t + o < n]
        + ["__BOS__"] * (t == 0)
        + ["__EOS__"] * (t == n - 1)
        for t in range(n)
    ]


def xy(name: str) -> tuple[list[list[list[str]]], list[list[str]]]:
    found = sentences(name, 200)
    return [features_of(own) for own in found], [[row[2] for row in own] for own in found]


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    text = (DATA / "crf_reference" / "conll2000_crfsuite.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["results"]["tiny_pos_200"]
    return found


@pytest.fixture(scope="module")
def crf() -> sf.ChainCRF:
    return sf.ChainCRF(c2=0.5, transitions="observed", tol=1e-9).fit(*xy("train"))


def test_the_objective_is_that_of_crfsuite(crf: sf.ChainCRF, reference: dict[str, Any]) -> None:
    objective = -crf.fit_.log_likelihood + 0.5 * crf.model_.weights @ crf.model_.weights
    assert objective == pytest.approx(reference["final_loss"], abs=1e-5)
    assert objective == pytest.approx(reference["objective_independent_numpy"], abs=1e-8)
    assert -crf.fit_.log_likelihood == pytest.approx(reference["nll_independent_numpy"], abs=1e-5)
    assert np.linalg.norm(crf.model_.weights) == pytest.approx(reference["feature_norm"], abs=1e-5)
    assert crf.fit_.certificate.ok, crf.fit_.certificate.verdict


def test_the_weights_are_those_of_crfsuite(crf: sf.ChainCRF, reference: dict[str, Any]) -> None:
    layout, weights, labels = crf.model_.layout, crf.model_.weights, crf.classes_.tolist()
    states, moves = layout.state_matrix(weights).toarray(), layout.transition_matrix(weights)
    code = crf.model_.structure.vocabulary.index
    assert (len(layout.labels), len(layout.pairs)) == (reference["n_state_features"], reference["n_transitions"])
    for name, weight in reference["state_features"].items():
        attribute, label = name.split("\t")
        assert states[code[attribute], labels.index(label)] == pytest.approx(weight, abs=2e-6)
    for name, weight in reference["transitions"].items():
        one, two = map(labels.index, name.split("\t"))
        assert moves[one, two] == pytest.approx(weight, abs=2e-6)


def test_tags_and_probabilities_are_those_of_crfsuite(crf: sf.ChainCRF, reference: dict[str, Any]) -> None:
    features, _ = xy("test")
    examples = reference["examples_test_first3"]
    assert crf.predict(features[:3]) == [example["tag"] for example in examples]
    best = crf.n_best(features[:3], 1)
    for ((tags, log_p),), marginals, example in zip(best, crf.predict_marginals(features[:3]), examples, strict=True):
        assert tags == example["tag"]
        assert log_p == pytest.approx(example["logprob_of_viterbi"], abs=2e-5)
        assert marginals[0] == pytest.approx(example["marginal_first"], abs=1e-6)


def test_scores_are_those_of_crfsuite(crf: sf.ChainCRF, reference: dict[str, Any]) -> None:
    features, tags = xy("test")
    scores = crf.evaluate(features, tags)
    assert scores.accuracy == pytest.approx(reference["token_acc"], abs=1e-12)
    assert crf.score(features, tags) == scores.accuracy
    assert scores.f1 == pytest.approx(reference["F1"], abs=1e-12)
    assert (scores.precision, scores.recall) == pytest.approx((reference["precision"], reference["recall"]), abs=1e-12)


def test_templates_make_the_same_features(crf: sf.ChainCRF) -> None:
    rows = sentences("train", 200)
    text = "\n".join(f"U{o}:%x[{o},0]" for o in (-1, 0, 1))
    templated = sf.ChainCRF(c2=0.5, transitions="observed", templates=text, tol=1e-9)
    templated.fit([[[row[1]] for row in own] for own in rows], [[row[2] for row in own] for own in rows])
    assert templated.fit_.certificate.ok
    # CRF++ marks what lies before the first word and after the last, as __BOS__ and __EOS__ do
    assert templated.fit_.log_likelihood == pytest.approx(crf.fit_.log_likelihood, rel=1e-6)
    assert templated.model_.layout.size == crf.model_.layout.size
