"""A fitted chain: scoring, asking, sampling and the long run, against sums over all sequences and plain algebra."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.models import markov_long_run, markov_walk
from suffice.stats import counts as dense_or_sparse

TEXTS = st.lists(st.text("abc", min_size=1, max_size=8), min_size=1, max_size=5)
SMOOTH = sf.Dirichlet(0.5)


def chain(data: list[str], order: int = 1, **options: object) -> sf.MarkovChainModel:
    return sf.fit(sf.MarkovChain(order), data, **options).model


class TestScoring:
    @given(TEXTS, st.integers(0, 3), st.integers(0, 4))
    @settings(max_examples=40)
    def test_probabilities_of_all_sequences_of_a_length_sum_to_one(
        self, data: list[str], order: int, length: int
    ) -> None:
        model = chain(data, order, prior=SMOOTH)
        everything = ["".join(map(str, s)) for s in itertools.product(model.variable.labels, repeat=length)]
        assert np.exp(model.log_prob(everything)).sum() == pytest.approx(1)

    @given(TEXTS, TEXTS, st.integers(0, 3))
    @settings(max_examples=60)
    def test_is_the_product_of_what_transition_says(self, data: list[str], new: list[str], order: int) -> None:
        model = chain([*data, "abc"], order, prior=SMOOTH)
        for sequence, found in zip(new, model.log_prob(new), strict=True):
            expected = sum(
                math.log(model.transition(sequence[max(0, t - order) : t])[{"x": symbol}])
                for t, symbol in enumerate(sequence)
            )
            assert found == pytest.approx(expected)
        assert model.log_likelihood(new) == pytest.approx(model.log_prob(new).sum())
        n = sum(map(len, new))
        assert model.perplexity(new) == pytest.approx(math.exp(-model.log_prob(new).sum() / n))

    def test_impossible_and_unknown(self) -> None:
        model = chain(["abc"])
        found = model.log_prob(["abc", "ba", "abca", "bca", ""])
        np.testing.assert_array_equal(found, [0, -np.inf, np.nan, -np.inf, 0])
        assert model.log_likelihood(["abc", "ba"]) == -math.inf
        assert model.perplexity(["ba"]) == math.inf

    def test_symbols_that_the_chain_does_not_know_are_an_error_with_a_place(self) -> None:
        with pytest.raises(sf.DataError, match=r"sequence 2, position 3: state 'z'"):
            chain(["abab"]).log_prob(["ab", "abz"])

    def test_text_files_are_scored_line_by_line(self, tmp_path) -> None:
        path = tmp_path / "lines.txt"
        path.write_text("abba\nab\n\nba")
        model = chain(["abba", "ab", "ba"], 2, prior=SMOOTH)
        found = model.log_prob(sf.Sequences(text=path, level="lines"))
        np.testing.assert_allclose(found, model.log_prob(["abba", "ab", "ba"]))


class TestAsking:
    def test_initial_is_the_distribution_of_the_first_block(self) -> None:
        model = chain(["abb", "aab", "bab", "abc"], 2)
        assert model.initial[{"x[1]": "a", "x[2]": "b"}] == 0.5
        assert model.initial.values.sum() == pytest.approx(1)
        assert chain(["ab"], 0).initial.values == 1

    def test_initial_may_take_as_much_memory_as_is_allowed(self) -> None:
        model, before = chain(["abc"], 2), sf.config().memory
        try:
            sf.config(memory=8 * 9)
            assert model.initial.values.shape == (3, 3)
        finally:
            sf.config(memory=before)

    def test_query_is_transition_by_name(self) -> None:
        model = chain(["abcabcaab"], 2)
        np.testing.assert_array_equal(
            model.query("x", {"x[-2]": "a", "x[-1]": "b"}).values, model.transition("ab").values
        )
        np.testing.assert_array_equal(model.transition("cccab").values, model.transition(["a", "b"]).values)
        assert sf.fit(sf.MarkovChain(0), ["aab"]).query("x")[{"x": "a"}] == pytest.approx(2 / 3)

    def test_longer_labels(self) -> None:
        model = sf.fit(sf.MarkovChain(1), [["dry", "wet", "dry", "dry"]]).model
        assert model.transition("dry")[{"x": "wet"}] == 0.5
        assert "p(x | x[-1])" in str(model)
        assert "<table>" in model._repr_html_()
        assert repr(model) == "MarkovChainModel(order 1, 'x', 2 states)"


class TestLongRun:
    @given(TEXTS, st.integers(1, 3))
    @settings(max_examples=40)
    def test_stationary_distribution_stays(self, data: list[str], order: int) -> None:
        model = chain([*data, "abc"], order, prior=SMOOTH)
        pi = model.stationary.values
        assert pi.sum() == pytest.approx(1)
        joint = pi[..., None] * model.transitions.values
        np.testing.assert_allclose(joint.sum(axis=0), pi, atol=1e-12)
        assert model.is_irreducible
        assert model.period == 1

    def test_is_that_of_eigenvectors(self) -> None:
        model = chain(["abracadabra", "cadabra"], 1)
        p = model.transitions.values
        values, vectors = np.linalg.eig(p.T)
        expected = np.real(vectors[:, np.argmin(abs(values - 1))])
        np.testing.assert_allclose(model.stationary.values, expected / expected.sum(), atol=1e-12)

    def test_periodic_chain_has_one_all_the_same(self) -> None:
        model = chain(["abcabca"])
        np.testing.assert_allclose(model.stationary.values, 1 / 3)
        assert model.period == 3

    def test_transient_blocks_have_no_share(self) -> None:
        model = chain(["aabcbcb"])
        np.testing.assert_allclose(model.stationary.values, [0, 0.5, 0.5])
        assert [(c.blocks, c.closed, c.period) for c in model.classes] == [(("a",), False, 1), (("b", "c"), True, 2)]
        assert not model.is_irreducible

    def test_blocks_that_never_return_have_no_period(self) -> None:
        (first, second) = chain(["abb"]).classes
        assert (first.blocks, first.period) == (("a",), 0)
        assert (second.blocks, second.closed) == (("b",), True)

    def test_independent_symbols(self) -> None:
        np.testing.assert_allclose(chain(["aab"], 0).stationary.values, [2 / 3, 1 / 3])

    def test_is_computed_of_as_many_blocks_as_the_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(markov_long_run, "MOST_BLOCKS", 3)
        np.testing.assert_allclose(chain(["abcabca"]).stationary.values, 1 / 3)
        with pytest.raises(sf.ModelError, match="The chain has 4 blocks, more than the 3"):
            _ = chain(["abcdabcda"]).stationary

    def test_sparse_chains(self) -> None:
        data = ["abcabbacab" * 3]
        dense = chain(data, 2).stationary.values
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dense_or_sparse, "DENSE_CELLS", 1)
            np.testing.assert_allclose(chain(data, 2).stationary.values, dense, atol=1e-14)
            smooth = chain(data, 2, prior=SMOOTH)
        np.testing.assert_allclose(smooth.stationary.values, chain(data, 2, prior=SMOOTH).stationary.values, atol=1e-14)


class TestSampling:
    @pytest.mark.parametrize("order", [0, 1, 2])
    def test_draws_follow_the_chain(self, order: int) -> None:
        model = chain(["abcabbacab", "cab", "b"], order, prior=sf.Dirichlet(1.0))
        drawn = model.sample(4000, length=6, seed=11)
        again = sf.fit(sf.MarkovChain(order), drawn, prior=sf.Dirichlet(0.01)).model
        for mine, other in zip(again.tables, model.tables, strict=True):
            np.testing.assert_allclose(mine.values, other.values, atol=0.06)
        assert drawn.texts()[0] == "".join(next(iter(drawn)))  # type: ignore[arg-type]

    def test_first_draws_depend_on_neither_number_nor_length(self) -> None:
        model = chain(["abcabbacab"], 2, prior=SMOOTH)
        many = model.sample(200, length=30, seed=3).texts()
        assert model.sample(5, length=12, seed=3).texts() == [text[:12] for text in many[:5]]
        assert model.sample(5, length=12, seed=4).texts() != [text[:12] for text in many[:5]]
        assert model.sample(0, length=3, seed=1).texts() == []
        assert model.sample(2, length=0, seed=1).texts() == ["", ""]

    @pytest.mark.parametrize("order", [0, 1, 2])
    @pytest.mark.parametrize("sparse", [False, True])
    def test_draws_do_not_depend_on_how_many_steps_are_drawn_at_once(self, order: int, sparse: bool) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dense_or_sparse, "DENSE_CELLS", 1 if sparse else 1 << 20)
            model = chain(["abcabbacab", "cab"], order, prior=SMOOTH)
            whole = model.sample(3, length=90, seed=8).texts()
            patch.setattr(markov_walk, "STEPS", 7)
            assert model.sample(3, length=90, seed=8).texts() == whole

    def test_draws_stop_where_nothing_follows(self) -> None:
        model = chain(["abc"])
        with pytest.raises(sf.ModelError, match=r"Cannot go on after x\[-1\]='c'"):
            model.sample(2, length=8, seed=0)

    def test_begins_where_it_is_told(self) -> None:
        model = chain(["abcabbacab"], 2, prior=SMOOTH)
        assert {text[:3] for text in model.sample(30, length=8, seed=1, start="cab").texts()} == {"cab"}
        assert {text[:1] for text in model.sample(30, length=8, seed=1, start="c").texts()} == {"c"}
        assert model.sample(1, length=2, seed=1, start="cab").texts() == ["ca"]
