"""EM for Bayesian networks of discrete variables."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.learn.em_cases import Case, brute_force, cases, gradient, tables_of

import suffice as sf
from suffice.learn.directed_em import TableExpectation, gap_of, needs
from suffice.learn.method import Problem

GAPS = {"A": ["u", "u", None, "v", "v", None, "v"], "B": ["x", None, "y", "y", None, None, "y"]}


def expectation_of(case: Case, **more: Any) -> TableExpectation:
    statistics = sf.collect(case.dag, case.data, missing="em", weights="w", schema=case.schema)
    return TableExpectation(Problem(case.dag, statistics, **more))


class TestExpectations:
    @given(cases())
    def test_equal_those_of_all_completions(self, case: Case) -> None:
        held = expectation_of(case)
        log_likelihood, vector = held.at(case.model)
        wanted, counts = brute_force(case, case.tables)
        assert log_likelihood == pytest.approx(wanted, rel=1e-11, abs=1e-11)
        np.testing.assert_allclose(vector, np.concatenate([m.reshape(-1) for m in counts.values()]), atol=1e-10)

    @given(cases(latent=True))
    def test_of_latent_variables_too(self, case: Case) -> None:
        log_likelihood, vector = expectation_of(case).at(case.model)
        wanted, counts = brute_force(case, case.tables)
        assert log_likelihood == pytest.approx(wanted, rel=1e-11, abs=1e-11)
        np.testing.assert_allclose(vector, np.concatenate([m.reshape(-1) for m in counts.values()]), atol=1e-10)

    @given(cases(), st.integers(1, 5))
    @settings(max_examples=25)
    def test_do_not_depend_on_how_the_rows_are_cut(self, case: Case, size: int) -> None:
        whole = expectation_of(case)
        table = sf.fit(case.dag, case.data, missing="em", weights="w", schema=case.schema, unseen_parents="uniform")
        parts = [
            sf.collect(case.dag, {name: column[low : low + size] for name, column in case.data.items()},
                       missing="em", weights="w", schema=case.schema)
            for low in range(0, len(case.rows), size)
        ]  # fmt: skip
        together = TableExpectation(Problem(case.dag, sum(parts[1:], parts[0])))
        one, other = whole.at(table.model), together.at(table.model)
        assert one[0] == pytest.approx(other[0], rel=1e-12)
        np.testing.assert_allclose(one[1], other[1], rtol=1e-12, atol=1e-12)


class TestFits:
    @given(cases())
    @settings(max_examples=40)
    def test_end_where_the_gradient_is_zero_and_never_fall(self, case: Case) -> None:
        fit = case.fit()
        steps = [step.objective for step in fit.trace]
        # Rows that say nothing have log-likelihood zero up to rounding.
        assert all(b >= a - 1e-9 * abs(a) - 1e-13 * case.weights.sum() for a, b in itertools.pairwise(steps))
        assert fit.certificate.ok, fit.certificate.verdict
        assert gradient(case, fit.model) < 2e-8
        assert fit.log_likelihood == pytest.approx(brute_force(case, tables_of(fit.model))[0], rel=1e-9, abs=1e-9)

    @given(cases())
    @settings(max_examples=25)
    def test_with_nothing_missing_equal_the_direct_fit_in_one_step(self, case: Case) -> None:
        whole = Case(case.dag, case.sizes, case.tables, np.maximum(case.rows, 0), case.weights)
        direct, em = whole.fit(missing="error"), whole.fit()
        assert len(em.trace) == 1
        assert em.log_likelihood == pytest.approx(direct.log_likelihood, rel=1e-12)
        for node, table in tables_of(direct.model).items():
            np.testing.assert_array_equal(table, tables_of(em.model)[node])

    @given(cases(most=3, rows=12))
    @settings(max_examples=15)
    def test_reach_what_a_numerical_optimiser_reaches_from_there(self, case: Case) -> None:
        fit = case.fit(prior=sf.Dirichlet(1.0), point="mean")
        sizes = {node: table.shape for node, table in case.tables.items()}

        def tables(x: np.ndarray) -> dict[str, np.ndarray]:
            found, at = {}, 0
            for node, shape in sizes.items():
                cells = int(np.prod(shape))
                u = x[at : at + cells].reshape(shape)
                p = np.exp(u - u.max(axis=-1, keepdims=True))
                found[node], at = p / p.sum(axis=-1, keepdims=True), at + cells
            return found

        def lost(x: np.ndarray) -> float:
            held = tables(x)
            return -brute_force(case, held)[0] - sum(float(np.log(table).sum()) for table in held.values())

        ours = tables_of(fit.model)
        start = np.concatenate([np.log(table).reshape(-1) for table in ours.values()])
        found = minimize(lost, start, method="BFGS", options={"gtol": 1e-6})
        assert lost(start) <= found.fun + 1e-7

    def test_with_a_prior_equal_the_direct_fit_where_nothing_is_missing(self) -> None:
        data = {"A": ["u", "u", "v", "v"], "B": ["x", "y", "y", "y"]}
        for more in ({"prior": sf.BDeu(10)}, {"prior": sf.Dirichlet(2.0), "point": "map"}):
            direct, em = sf.fit(sf.DAG("A -> B"), data, **more), sf.fit(sf.DAG("A -> B"), data, missing="em", **more)
            for node in "AB":
                np.testing.assert_allclose(em.model.cpd(node).values, direct.model.cpd(node).values, rtol=1e-12)
            assert em.point == direct.point

    def test_keep_given_rows(self) -> None:
        fit = sf.fit(sf.DAG("A -> B"), GAPS, missing="em", fixed={"A": [0.25, 0.75]})
        assert fit.model.cpd("A").values.tolist() == [[0.25, 0.75]]
        assert fit.certificate.ok, fit.certificate.verdict

    def test_tie_nodes(self) -> None:
        dag = sf.DAG("A -> B; C -> D", tie=[("B", "D")])
        data = {"A": GAPS["A"], "B": GAPS["B"], "C": GAPS["A"][::-1], "D": GAPS["B"][::-1]}
        fit = sf.fit(dag, data, missing="em")
        assert fit.certificate.ok, fit.certificate.verdict
        np.testing.assert_allclose(fit.model.cpd("B").values, fit.model.cpd("D").values)

    def test_of_noisy_or_nodes(self) -> None:
        chance = np.random.default_rng(3)
        rows = chance.integers(0, 2, (300, 2))
        wet = 1 - (chance.random(300) < 0.9 * 0.3 ** rows[:, 0] * 0.5 ** rows[:, 1]).astype(int)
        data = {
            name: [None if gap else int(value) for value, gap in zip(column, chance.random(300) < 0.2, strict=True)]
            for name, column in zip("XYW", [rows[:, 0], rows[:, 1], wet], strict=True)
        }
        fit = sf.fit(sf.DAG("X -> W <- Y", kinds={"W": "noisy_or"}), data, missing="em")
        assert fit.certificate.ok, fit.certificate.verdict
        table = sf.fit(sf.DAG("X -> W <- Y"), data, missing="em")
        assert fit.log_likelihood <= table.log_likelihood + 1e-8

    def test_semi_supervised_labels_raise_the_likelihood_of_the_rest(self) -> None:
        chance = np.random.default_rng(0)
        label = chance.integers(0, 2, 400)
        columns = {f"x{i}": (chance.random(400) < np.where(label, 0.85, 0.2)).astype(int).tolist() for i in range(5)}
        told = [int(value) if i % 10 == 0 else None for i, value in enumerate(label)]
        dag = sf.DAG("; ".join(f"y -> x{i}" for i in range(5)))
        fit = sf.fit(dag, {**columns, "y": told}, missing="em")
        p = fit.model.query_rows("y", columns).to_numpy()[:, 1]
        assert ((p > 0.5) == label).mean() > 0.9
        assert fit.certificate.ok, fit.certificate.verdict


class TestStarts:
    def test_are_listed_and_the_best_is_kept(self) -> None:
        chance = np.random.default_rng(5)
        label = chance.integers(0, 3, 300)
        p = chance.dirichlet(np.ones(3), (4, 3))
        columns = {f"x{i}": [int(chance.choice(3, p=p[i, k])) for k in label] for i in range(4)}
        dag = sf.DAG("; ".join(f"H -> x{i}" for i in range(4)), latent={"H": 3})
        fit = sf.fit(dag, columns, seed=1, restarts=6)
        again = sf.fit(dag, columns, seed=1, restarts=6)
        assert len(fit.starts) == 6
        assert {start.name for start in fit.starts} == {"random"}
        assert fit.trace[-1].objective == pytest.approx(max(start.objective for start in fit.starts), rel=1e-9)
        assert [start.objective for start in again.starts] == [start.objective for start in fit.starts]
        assert fit.log_likelihood == again.log_likelihood
        assert sf.fit(dag, columns, seed=2, restarts=1).starts != fit.starts[:1]

    def test_five_where_a_variable_is_latent(self) -> None:
        fit = sf.fit(sf.DAG("H -> A; H -> B", latent={"H": 2}), {"A": ["u", "v", "u"], "B": ["x", "y", "y"]})
        assert len(fit.starts) == 5

    def test_given_by_a_model(self) -> None:
        first = sf.fit(sf.DAG("A -> B"), GAPS, missing="em")
        fit = sf.fit(sf.DAG("A -> B"), GAPS, missing="em", init=first.model)
        assert fit.starts[0].name == "given"
        assert len(fit.trace) <= 2
        assert fit.log_likelihood == pytest.approx(first.log_likelihood, rel=1e-8)

    def test_plain_steps_reach_the_same(self) -> None:
        mixed = sf.fit(sf.DAG("A -> B"), GAPS, missing="em")
        plain = sf.fit(sf.DAG("A -> B"), GAPS, missing="em", options={"memory": 0})
        assert plain.log_likelihood == pytest.approx(mixed.log_likelihood, rel=1e-9)
        assert len(plain.trace) >= len(mixed.trace)


class TestAwkwardRows:
    def test_a_row_without_values_changes_nothing(self) -> None:
        more = {name: [*column, None, None] for name, column in GAPS.items()}
        one, other = sf.fit(sf.DAG("A -> B"), GAPS, missing="em"), sf.fit(sf.DAG("A -> B"), more, missing="em")
        assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-7)
        np.testing.assert_allclose(other.model.cpd("B").values, one.model.cpd("B").values, atol=1e-6)

    def test_a_column_without_values_is_said(self) -> None:
        data = {"A": GAPS["A"], "B": [None] * 7}
        fit = sf.fit(sf.DAG("A -> B"), data, missing="em", schema={"B": sf.categorical(["x", "y"])})
        assert any("B" in note.text and "no row" in note.text for note in fit.notes)
        without = sf.fit(sf.DAG("A"), {"A": GAPS["A"]}, missing="em")
        assert fit.log_likelihood == pytest.approx(without.log_likelihood, abs=1e-8)

    def test_rows_that_given_tables_rule_out_are_an_error(self) -> None:
        with pytest.raises(sf.EstimationError, match="impossible"):
            sf.fit(sf.DAG("A -> B"), GAPS, missing="em", fixed={"A": {"u": 0.0, "v": 1.0}})

    def test_needs_ask_for_the_gaps(self) -> None:
        dag = sf.DAG("A -> B")
        statistics = sf.collect(dag, GAPS, missing="em")
        assert gap_of(dag) in statistics
        assert needs(dag, statistics.schema)[-1] == gap_of(dag)


class TestPolicies:
    def test_other_methods_refuse_gaps(self) -> None:
        with pytest.raises(sf.EstimationError, match="complete rows"):
            sf.fit(sf.DAG("A -> B"), GAPS, missing="em", method="closed_form")

    def test_restarts_are_for_methods_that_begin(self) -> None:
        with pytest.raises(sf.ArgumentError, match="restarts"):
            sf.fit(sf.DAG("A -> B"), {"A": ["u"], "B": ["x"]}, restarts=3)

    def test_an_unknown_start_is_an_error(self) -> None:
        with pytest.raises(sf.ArgumentError, match="start"):
            sf.fit(sf.DAG("A -> B"), GAPS, missing="em", options={"start": "nowhere"})


class TestGradients:
    @given(cases(most=4, rows=15))
    @settings(max_examples=20)
    def test_equal_finite_differences(self, case: Case) -> None:
        held = expectation_of(case, prior=sf.Dirichlet(0.5), point="mean")
        x = held.coordinates(case.model)
        value, slope = held.slope(x)[:2]
        assert value == pytest.approx(held.at(case.model)[0] + held.log_prior(case.model), rel=1e-12)
        for i in range(0, len(x), 3):
            moved = np.zeros(len(x))
            moved[i] = 1e-5 * x[i]  # coordinates are roots: the derivatives by their logarithms are of one size
            difference = (held.slope(x + moved)[0] - held.slope(x - moved)[0]) / 2e-5
            assert slope[i] * x[i] == pytest.approx(difference, abs=1e-5)

    @given(cases(most=4, rows=15))
    @settings(max_examples=15)
    def test_lead_to_where_em_leads_under_a_prior(self, case: Case) -> None:
        em = case.fit(prior=sf.Dirichlet(1.0))
        found = case.fit(prior=sf.Dirichlet(1.0), method="observed_lbfgs", init=em.model)
        assert found.certificate.ok, found.certificate.verdict
        assert found.log_likelihood == pytest.approx(em.log_likelihood, rel=1e-8)

    def test_by_name(self) -> None:
        em = sf.fit(sf.DAG("A -> B"), GAPS, missing="em", prior=sf.Dirichlet(1.0))
        fit = sf.fit(sf.DAG("A -> B"), GAPS, missing="em", prior=sf.Dirichlet(1.0), method="observed_lbfgs")
        assert fit.method == "observed_lbfgs"
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.log_likelihood == pytest.approx(em.log_likelihood, rel=1e-9)

    def test_of_tied_nodes(self) -> None:
        dag = sf.DAG("A -> B; C -> D", tie=[("B", "D")])
        data = {"A": GAPS["A"], "B": GAPS["B"], "C": GAPS["A"][::-1], "D": GAPS["B"][::-1]}
        fit = sf.fit(dag, data, missing="em", prior=sf.Dirichlet(1.0), method="observed_lbfgs")
        assert fit.certificate.ok, fit.certificate.verdict

    def test_do_not_know_given_rows_or_other_kinds(self) -> None:
        with pytest.raises(sf.ArgumentError, match="fixed"):
            sf.fit(sf.DAG("A -> B"), GAPS, missing="em", method="observed_lbfgs", fixed={"A": [0.5, 0.5]})
        dag = sf.DAG("A -> B", kinds={"B": "noisy_or"})
        with pytest.raises(sf.EstimationError, match="tables only"):
            sf.fit(dag, {"A": [0, 1, None], "B": [0, None, 1]}, missing="em", method="observed_lbfgs")


def test_what_no_row_tells_is_noted() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": [0, 0, 1, 0], "B": [0, 1, None, 1]}, missing="em")
    assert any("no row shows it" in note.text and "A=1" in note.text for note in fit.notes)
    assert not any("no row shows it" in note.text for note in sf.fit(sf.DAG("A -> B"), GAPS, missing="em").notes)


def test_options_of_other_methods_are_refused() -> None:
    with pytest.raises(sf.ArgumentError, match="inner"):
        sf.fit(sf.DAG("A -> B"), GAPS, missing="em", options={"inner": "newton"})
