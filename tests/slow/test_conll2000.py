"""The CoNLL-2000 chunking task, whole: a CRF to CRFsuite's objective and F1, and a MEMM with its features below it.

The features are those of CRFsuite's chunking tutorial; python-crfsuite 0.9.12 with c2 = 1 and all transitions ends at a
loss of 13025.16 and an F1 of 93.62 on the test file (Tjong Kim Sang and Buchholz 2000, Introduction to the CoNLL-2000
Shared Task: Chunking).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.conftest import DATA

import suffice as sf
from suffice.data.column_text import ColumnText, read_columns
from suffice.data.window_templates import TUTORIAL, Templates

pytestmark = [pytest.mark.slow, pytest.mark.data]
WINDOWS = Templates.parse(TUTORIAL, boundary="omit", ends=True)


def text(name: str) -> ColumnText:
    return read_columns(DATA / "seq_conll2000" / f"{name}.txt.xz")


def fitted(shell: Any, **options: Any) -> Any:
    train = text("train")
    return shell(templates=WINDOWS, c2=1.0, **options).fit(train, train.sentences(2))


@pytest.fixture(scope="module")
def crf() -> Any:
    return fitted(sf.ChainCRF, tol=3e-7)


@pytest.fixture(scope="module")
def memm() -> Any:
    return fitted(sf.MEMM)


def f1(tagger: Any) -> float:
    test = text("test")
    return float(tagger.evaluate(test, test.sentences(2)).f1)


def test_the_crf_has_the_weights_and_reaches_the_objective_of_crfsuite(crf: Any) -> None:
    weights = crf.model_.weights
    assert weights.size == 453_094
    loss = float(weights @ weights) - crf.fit_.log_likelihood
    assert 13025.06 < loss <= 13025.16
    assert crf.fit_.certificate.ok


def test_its_spans_are_as_good(crf: Any) -> None:
    assert f1(crf) >= 0.935


def test_the_memm_is_good_but_worse(crf: Any, memm: Any) -> None:
    assert memm.fit_.certificate.ok
    assert 0.930 <= f1(memm) < f1(crf)


def test_a_second_fit_has_the_same_digits() -> None:
    with pytest.warns(ConvergenceWarning, match="nats"):  # one epoch is not enough for a certificate
        one, two = (fitted(sf.ChainCRF, method="sgd", seed=5, max_iter=1, tol=0.9).model_.weights for _ in range(2))
    np.testing.assert_array_equal(one, two)
