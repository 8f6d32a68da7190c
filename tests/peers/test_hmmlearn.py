"""hmmlearn: from the same start the same likelihood, after some steps and at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.peers.peers import peer

import suffice as sf

hmm = peer("hmmlearn.hmm")
LENGTHS = [60, 1, 25, 80, 34]
MANY = 3000


def tables(seed: int, k: int, r: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(k, 3.0)), rng.dirichlet(np.full(k, 2.0), k), rng.dirichlet(np.ones(r), k)


def cut(values: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(LENGTHS)[:-1])


def categorical(seed: int, n_iter: int) -> tuple[Any, np.ndarray, sf.HiddenMarkovModel]:
    """Return their model fitted, the symbols, and ours to begin at."""
    k, r = 3, 4
    start, step, shown = tables(seed, k, r)
    rng = np.random.default_rng(seed + 100)
    truth = hmm.CategoricalHMM(k, n_features=r)
    truth.startprob_, truth.transmat_, truth.emissionprob_ = tables(seed + 1, k, r)
    symbols = np.concatenate([truth.sample(n, random_state=int(rng.integers(1 << 30)))[0][:, 0] for n in LENGTHS])
    # Their priors are Dirichlet(1) at the mode unless told otherwise, which is to say none.
    theirs = hmm.CategoricalHMM(k, n_features=r, n_iter=n_iter, tol=0.0, init_params="", implementation="scaling")
    theirs.startprob_, theirs.transmat_, theirs.emissionprob_ = start, step, shown
    chain = sf.MarkovChain(latent={"z": k}, variable="x")
    return theirs, symbols, sf.HiddenMarkovModel.of(chain, {"x": list(range(r))}, start, step, {"x": shown})


def gaussian(seed: int, n_iter: int) -> tuple[Any, np.ndarray, sf.HiddenMarkovModel]:
    """Return their model fitted, the numbers, and ours to begin at."""
    k = 2
    start, step, _ = tables(seed, k, 2)
    rng = np.random.default_rng(seed)
    states = (np.cumsum(rng.random(sum(LENGTHS)) < 0.1) % 2).astype(int)
    values = np.where(states == 0, rng.normal(0.0, 1.0, len(states)), rng.normal(2.5, 0.6, len(states)))
    mean, variance = np.array([-0.5, 1.5]), np.array([1.2, 0.8])
    # Their variances have a prior unless it is taken away, and a floor.
    theirs = hmm.GaussianHMM(
        k, covariance_type="diag", n_iter=n_iter, tol=0.0, init_params="", min_covar=0.0, means_weight=0.0,
        covars_prior=0.0, covars_weight=0.0,
    )  # fmt: skip
    theirs.startprob_, theirs.transmat_ = start, step
    theirs.means_, theirs.covars_ = mean[:, None], variance[:, None]
    chain = sf.MarkovChain(latent={"z": k}, variable="x")
    given = {"mean": mean, "sd": np.sqrt(variance)}
    return theirs, values, sf.HiddenMarkovModel.of(chain, {"x": None}, start, step, {"x": given})


def worth(theirs: Any, values: np.ndarray, states: np.ndarray) -> float:
    """Return log p of states together with what they show."""
    shown = theirs._compute_log_likelihood(values[:, None])
    total = shown[np.arange(len(states)), states].sum()
    for path in cut(states):
        total += np.log(theirs.startprob_[path[0]]) + np.log(theirs.transmat_[path[:-1], path[1:]]).sum()
    return float(total)


MAKERS = {"symbols": categorical, "numbers": gaussian}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("seed", range(3))
class TestFromTheSameStart:
    def test_sequences_are_worth_the_same_and_have_the_same_states(self, kind: str, seed: int) -> None:
        theirs, values, ours = MAKERS[kind](seed, 1)
        sequences = cut(values)
        for sequence, mine in zip(sequences, ours.log_prob(sequences), strict=True):
            assert mine == pytest.approx(theirs.score(sequence[:, None]), rel=1e-10)
        assert sum(ours.log_prob(sequences)) == pytest.approx(theirs.score(values[:, None], LENGTHS), rel=1e-10)
        best, paths = theirs.decode(values[:, None], LENGTHS)  # of paths that are equally probable theirs is another
        mine = np.concatenate(ours.decode(sequences))
        assert worth(theirs, values, mine) == pytest.approx(best, rel=1e-10)
        assert np.mean(mine == paths) > 0.9
        np.testing.assert_allclose(
            np.concatenate(ours.marginals(sequences)), theirs.predict_proba(values[:, None], LENGTHS), atol=1e-9
        )

    @pytest.mark.parametrize("n_iter", [1, 10])
    def test_plain_steps_are_the_same(self, kind: str, seed: int, n_iter: int) -> None:
        theirs, values, ours = MAKERS[kind](seed, n_iter)
        theirs.fit(values[:, None], LENGTHS)
        fit = sf.fit(
            ours.structure, cut(values), init=ours, max_iter=n_iter, options={"memory": 0}, schema=SCHEMA[kind]
        )
        assert fit.log_likelihood == pytest.approx(theirs.score(values[:, None], LENGTHS), rel=1e-9)
        np.testing.assert_allclose(fit.model.step.values, theirs.transmat_, atol=1e-9)

    def test_the_end_is_as_likely_or_more(self, kind: str, seed: int) -> None:
        theirs, values, ours = MAKERS[kind](seed, MANY)
        theirs.fit(values[:, None], LENGTHS)
        plain = sf.fit(
            ours.structure, cut(values), init=ours, max_iter=MANY, options={"memory": 0}, schema=SCHEMA[kind]
        )
        wanted = theirs.score(values[:, None], LENGTHS)
        assert plain.log_likelihood == pytest.approx(wanted, abs=1e-5)
        mixed = sf.fit(ours.structure, cut(values), init=ours, max_iter=MANY, schema=SCHEMA[kind])
        assert mixed.certificate.ok, mixed.certificate.verdict
        assert mixed.log_likelihood >= wanted - 1e-5


SCHEMA: dict[str, Any] = {"symbols": {"x": sf.categorical(range(4))}, "numbers": {"x": sf.continuous()}}
