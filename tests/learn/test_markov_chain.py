"""Markov chains are what counting by hand gives: relative frequencies, or pseudo-counts added to counts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

import suffice as sf
from suffice.data import held_symbols
from suffice.learn.markov_chain import split
from suffice.stats import counts as dense_or_sparse

SEQUENCES = st.lists(st.text("abc", max_size=7), min_size=1, max_size=6).filter(any)


def naive_counts(sequences: list[str], order: int) -> dict[int, dict[str, Counter[str]]]:
    """Count what follows what: by number of predecessors, by these, the next symbol."""
    found: dict[int, dict[str, Counter[str]]] = {known: defaultdict(Counter) for known in range(order + 1)}
    for sequence in sequences:
        for t, symbol in enumerate(sequence):
            known = min(t, order)
            found[known][sequence[t - known : t]][symbol] += 1
    return found


def naive_log_likelihood(sequences: list[str], order: int) -> float:
    return math.fsum(
        n * math.log(n / row.total())
        for table in naive_counts(sequences, order).values()
        for row in table.values()
        for n in row.values()
    )


def naive_log_marginal(sequences: list[str], order: int, alpha: float) -> float:
    r, total = len(set("".join(sequences))), 0.0
    for table in naive_counts(sequences, order).values():
        for row in table.values():
            total += gammaln(r * alpha) - gammaln(r * alpha + row.total())
            total += sum(gammaln(alpha + n) - gammaln(alpha) for n in row.values())
    return total


class TestMaximumLikelihood:
    @given(SEQUENCES, st.integers(0, 3))
    def test_is_relative_frequencies(self, sequences: list[str], order: int) -> None:
        fit = sf.fit(sf.MarkovChain(order), sequences, certify="data")
        assert fit.certificate.ok, fit.certificate.verdict
        labels = fit.model.variable.labels
        for known, table in naive_counts(sequences, order).items():
            cpd = fit.model.tables[known]
            seen = {"".join(map(str, context)): row for context, row in cpd.rows() if not np.isnan(row).any()}
            assert set(seen) == set(table)
            for context, row in table.items():
                np.testing.assert_allclose(seen[context], [row[str(label)] / row.total() for label in labels])
        assert fit.log_likelihood == pytest.approx(naive_log_likelihood(sequences, order), abs=1e-9)
        assert sum(fit.local.values()) == pytest.approx(fit.log_likelihood, abs=1e-12)
        r = len(labels)
        assert fit.n_free == (r**order - 1) + r**order * (r - 1)
        assert fit.n == sum(map(len, sequences))

    @given(SEQUENCES, SEQUENCES, st.integers(0, 2))
    def test_parts_add_up_whatever_their_alphabets(self, first: list[str], second: list[str], order: int) -> None:
        chain = sf.MarkovChain(order)
        both = sf.collect(chain, first) + sf.collect(chain, second)
        whole = sf.fit(chain, first + second)
        added = sf.estimate(chain, both)
        assert added.certificate.ok, added.certificate.verdict
        assert added.log_likelihood == whole.log_likelihood
        assert added.model.variable.labels == whole.model.variable.labels
        for mine, other in zip(added.model.tables, whole.model.tables, strict=True):
            np.testing.assert_array_equal(mine.values, other.values)

    def test_parts_of_whole_numbers_add_up_although_text_sorts_otherwise(self) -> None:
        chain = sf.MarkovChain(1)
        parts = [sf.collect(chain, [[9, 10, 9, 9]]), sf.collect(chain, [[10, 2, 10], [100, 9, 100]])]
        whole = sf.fit(chain, [[9, 10, 9, 9], [10, 2, 10], [100, 9, 100]])
        added = sf.estimate(chain, parts[0] + parts[1])
        assert added.certificate.ok
        assert added.model.variable.labels == (2, 9, 10, 100)
        np.testing.assert_array_equal(added.model.transitions.values, whole.model.transitions.values)

    @given(SEQUENCES, st.integers(0, 2))
    @settings(max_examples=30)
    def test_sparse_tables_are_the_same_chain(self, sequences: list[str], order: int) -> None:
        dense = sf.fit(sf.MarkovChain(order), sequences)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dense_or_sparse, "DENSE_CELLS", 1)
            sparse = sf.fit(sf.MarkovChain(order), sequences, certify="data")
            assert sparse.certificate.ok, sparse.certificate.verdict
            assert sparse.log_likelihood == pytest.approx(dense.log_likelihood, abs=1e-9)
            np.testing.assert_allclose(sparse.model.log_prob(sequences), dense.model.log_prob(sequences))

    def test_statistics_of_a_higher_order_serve_lower_ones(self) -> None:
        sequences = ["abracadabra", "banana"]
        statistics = sf.collect(sf.MarkovChain(3, variable="x"), sequences)
        for order in range(4):
            lower = sf.estimate(sf.MarkovChain(order, variable="x"), statistics)
            assert lower.log_likelihood == sf.fit(sf.MarkovChain(order), sequences).log_likelihood

    @given(SEQUENCES, st.integers(1, 3))
    def test_weights_are_repetitions(self, sequences: list[str], weight: int) -> None:
        weighted = sf.fit(sf.MarkovChain(1), sequences, weights=[weight] * len(sequences), certify="data")
        repeated = sf.fit(sf.MarkovChain(1), sequences * weight)
        assert weighted.certificate.ok
        assert weighted.n == repeated.n
        assert weighted.log_likelihood == repeated.log_likelihood

    def test_blocks_do_not_lose_windows(self) -> None:
        sequences = ["abcacbacbbca" * 5, "bca", "c"]
        whole = sf.fit(sf.MarkovChain(2), sequences)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(held_symbols, "BLOCK_ROWS", 7)
            cut = sf.fit(sf.MarkovChain(2), sequences)
        assert cut.log_likelihood == whole.log_likelihood

    def test_splitting_needs_no_particular_order_of_states(self) -> None:
        chain, need = sf.MarkovChain(2), sf.Count(("x[-2]", "x[-1]", "x"))
        counts = sf.collect(chain, ["abcab", "b", "cc"])[need]
        variable = counts.variables[-1]
        turned = []
        for lag in counts.variables[:-1]:
            turned.append(sf.Variable(lag.name, lag.labels[::-1]))
        other = sf.Counts.dense((*turned, variable), counts.table()[::-1, ::-1])
        mine, again = ([part.table().tolist() for part in split(whole, variable, 2)] for whole in (counts, other))
        assert mine == again
        assert mine


class TestUnknownRows:
    def test_are_noted_and_those_that_can_be_reached_are_named(self) -> None:
        fit = sf.fit(sf.MarkovChain(1), ["abc"])
        (note,) = (str(note) for note in fit.notes)
        assert "1 context of 3 have no data" in note
        assert "1 of them occur, but only where sequences end (first: x[-1]='c')" in note
        assert np.isnan(fit.model.transition("c").values).all()

    def test_become_uniform_on_demand(self) -> None:
        fit = sf.fit(sf.MarkovChain(1), ["abc"], unseen_parents="uniform")
        np.testing.assert_allclose(fit.model.transition("c").values, 1 / 3)
        assert any("set uniform" in str(note) for note in fit.notes)
        assert fit.certificate.ok

    def test_are_none_under_a_prior(self) -> None:
        fit = sf.fit(sf.MarkovChain(1), ["abc"], prior=sf.Dirichlet(0.5))
        assert not fit.notes
        np.testing.assert_allclose(fit.model.transition("c").values, 1 / 3)


class TestPriors:
    @given(SEQUENCES, st.integers(0, 2), st.sampled_from([0.5, 1.0, 2.5]))
    def test_mean_adds_pseudo_counts_and_the_marginal_likelihood_is_the_urns(
        self, sequences: list[str], order: int, alpha: float
    ) -> None:
        fit = sf.fit(sf.MarkovChain(order), sequences, prior=sf.Dirichlet(alpha))
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.log_marginal_likelihood == pytest.approx(naive_log_marginal(sequences, order, alpha), abs=1e-9)
        labels = fit.model.variable.labels
        for known, table in naive_counts(sequences, order).items():
            rows = {"".join(map(str, context)): row for context, row in fit.model.tables[known].rows()}
            for context, row in rows.items():
                n = np.array([table[context][str(label)] if context in table else 0 for label in labels])
                np.testing.assert_allclose(row, (n + alpha) / (n.sum() + alpha * len(labels)))

    def test_mode_is_the_mean_under_one_pseudo_count_less(self) -> None:
        sequences = ["abcabbca", "cab"]
        mode = sf.fit(sf.MarkovChain(2), sequences, prior=sf.Dirichlet(2.0), point="map")
        mean = sf.fit(sf.MarkovChain(2), sequences, prior=sf.Dirichlet(1.0))
        assert mode.certificate.ok
        for one, other in zip(mode.model.tables, mean.model.tables, strict=True):
            np.testing.assert_allclose(one.values, other.values)

    def test_posterior_draws_are_chains_around_the_mean(self) -> None:
        fit = sf.fit(sf.MarkovChain(1), ["ab" * 40 + "ba" * 40], prior=sf.K2())
        drawn = [fit.posterior.sample(1, seed=seed)[0].transitions.values for seed in range(400)]
        np.testing.assert_allclose(np.mean(drawn, axis=0), fit.posterior.mean().transitions.values, atol=0.02)
        deviation = np.sqrt(fit.posterior.transitions.variance())
        np.testing.assert_allclose(np.std(drawn, axis=0), deviation, rtol=0.2)
        np.testing.assert_array_equal(fit.posterior.sample(1, seed=3)[0].transitions.values, drawn[3])


class TestOrders:
    def test_agree_with_fits_of_each_order(self) -> None:
        sequences = ["abcabcabacbc" * 4, "bca"]
        table = sf.chain_orders(sequences, up_to=3)
        for one in table:
            fit = sf.fit(sf.MarkovChain(one.order), sequences)
            assert (one.log_likelihood, one.n_free, one.aic, one.bic) == (
                fit.log_likelihood,
                fit.n_free,
                fit.aic,
                fit.bic,
            )
        assert table.best == min(range(4), key=lambda order: table[order].bic)
        assert str(table).count("best") == 1
        assert "best" in table._repr_html_()

    def test_under_a_prior_are_compared_by_marginal_likelihood(self) -> None:
        rng = np.random.default_rng(5)
        truth = np.array([[0.9, 0.1], [0.2, 0.8]])
        codes = [0]
        for _ in range(2000):
            codes.append(int(rng.random() > truth[codes[-1], 0]))
        table = sf.chain_orders([codes], up_to=3, prior=sf.Dirichlet(1.0))
        assert table.best == 1
        marginal = [sf.fit(sf.MarkovChain(k), [codes], prior=sf.K2()).log_marginal_likelihood for k in range(4)]
        assert [one.log_marginal_likelihood for one in table] == pytest.approx(marginal)
        assert "log marginal" in str(table)

    def test_likelihood_rises_with_the_order(self) -> None:
        table = sf.chain_orders(["mississippi", "missouri", "mi"], up_to=4)
        values = [one.log_likelihood for one in table]
        assert values == sorted(values)
