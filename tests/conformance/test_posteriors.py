"""What every posterior promises: one test for each promise, crossed with all classes of posteriors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.families import each_family
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.posterior import Posterior, Predictive
from suffice.priors.prior import NodePosterior, Prior

N_DRAWS = 400
LEVELS = {"c": ["a", "b"], "d": ["u", "v", "w"], "e": ["a", "b"]}
LINE = sf.NormalInverseGamma(2, 1.0)


def table(n: int, seed: int) -> dict[str, list[Any]]:
    """Draw rows of three discrete and two continuous columns."""
    stream = np.random.default_rng(seed)
    c, d, e = (stream.choice(LEVELS[name], n) for name in "cde")
    x = stream.normal(size=n) + (c == "a")
    return {
        "c": c.tolist(),
        "d": d.tolist(),
        "e": e.tolist(),
        "x": x.tolist(),
        "y": (2 * x + stream.normal(size=n)).tolist(),
    }


def series(n: int, seed: int) -> list[list[float]]:
    stream = np.random.default_rng(seed)
    return [stream.normal(size=3 + k % 5).tolist() for k in range(n)]


def texts(n: int, seed: int) -> list[str]:
    stream = np.random.default_rng(seed)
    return ["ab", *("".join(stream.choice(list("ab"), 1 + k % 6)) for k in range(n))]


def dice(n: int, seed: int) -> dict[str, list[Any]]:
    return {"number": np.random.default_rng(seed).choice([2, 4, 8], n).tolist()}


@dataclass(frozen=True)
class Case:
    """A structure with a conjugate prior, and data of any number of rows or sequences from a seed."""

    structure: Any
    prior: Any
    data: Callable[[int, int], Any] = table
    how: dict[str, Any] = field(default_factory=dict)
    has_mode: bool = True

    def fit(self, data: Any, prior: Any = None) -> sf.Fit:
        return sf.fit(self.structure, data, prior=self.prior if prior is None else prior, **self.how)


DISCRETE = {"schema": LEVELS}
CASES: dict[str, Case] = {
    "tables": Case(sf.DAG("c -> d; c -> e"), sf.BDeu(30), how=DISCRETE),
    "tied tables": Case(sf.DAG("d -> c; d -> e", tie=[["c", "e"]]), sf.Dirichlet(2.0), how=DISCRETE),
    "given rows": Case(sf.DAG("c -> d"), sf.K2(), how={**DISCRETE, "fixed": {"d": {"a": [0.25, 0.5, 0.25]}}}),
    "mixed": Case(sf.DAG("c -> x; x -> y; c -> y"), [sf.BDeu(3), LINE], how={"schema": {"c": LEVELS["c"]}}),
    "given regression": Case(
        sf.DAG("x -> y"), LINE, how={"fixed": {"y": {"intercept": 0.5, "coefficients": {"x": 2.0}, "sd": 1.0}}}
    ),
    "free intercepts": Case(sf.DAG("x -> y"), sf.NormalInverseGamma(2, 1.0, intercept_precision=0.0)),
    "BGe": Case(sf.DAG("x -> y"), sf.BGe(mean=0.0)),
    "cliques": Case(sf.Cliques("c:d + d:e"), sf.BDeu(6), how=DISCRETE, has_mode=False),
    "normal": Case(sf.MultivariateNormal(["x", "y"]), sf.NormalInverseWishart(0.0, 1.0, 4, 1.0)),
    "normal of a graph": Case(
        sf.GaussianMarkov("x:y + y:z"),
        sf.HyperInverseWishart(4, 1.0, mean=0.0),
        lambda n, seed: {**table(n, seed), "z": table(n, seed + 1000)["x"]},
    ),
    "flat mean": Case(sf.GaussianMarkov("x:y"), sf.HyperInverseWishart(4, 1.0)),
    "Markov chain": Case(sf.MarkovChain(order=2), sf.Dirichlet(2.0), texts),
    "autoregression": Case(sf.Autoregression(2, "x"), LINE, series),
    "hypotheses": Case(
        sf.Hypotheses({"even": [2, 4, 6, 8, 10], "powers": [2, 4, 8], "all": list(range(1, 11))}, over="number"),
        {"even": 0.5, "powers": 0.125, "all": 0.375},
        dice,
    ),
}
every = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def rows_of(data: Any, places: range) -> Any:
    if isinstance(data, dict):
        return {name: [values[place] for place in places] for name, values in data.items()}
    return [data[place] for place in places]


def joined(first: Any, second: Any) -> Any:
    if isinstance(first, dict):
        return {name: first[name] + second[name] for name in first}
    return first + second


def each_part(posterior: Any) -> list[Any]:
    """Return the posterior, and those of its nodes."""
    nodes = getattr(posterior, "nodes", ())
    return [posterior, *nodes, *getattr(posterior, "tables", ())] if isinstance(nodes, tuple) else [posterior]


def test_every_class_of_posteriors_has_a_case() -> None:
    wanted = {form.type for family in each_family() for form in family.posteriors().values()}
    assert wanted == {type(case.fit(case.data(12, 1)).posterior) for case in CASES.values()}


@every
def test_has_the_interface(case: Case) -> None:
    posterior = case.fit(case.data(12, 1)).posterior
    assert isinstance(posterior, Posterior)
    for node in getattr(posterior, "nodes", ()):
        assert isinstance(node, NodePosterior)


@every
def test_mean_and_mode_are_models_of_the_fit(case: Case) -> None:
    fit = case.fit(case.data(12, 1))
    assert type(fit.posterior.mean()) is type(fit.model)
    if case.has_mode:
        assert type(fit.posterior.mode()) is type(fit.model)
    else:
        with pytest.raises(sf.EstimationError, match="no mode"):
            fit.posterior.mode()


@every
def test_sample_draws_models_and_the_same_ones_from_the_same_seed(case: Case) -> None:
    data = case.data(12, 1)
    posterior = case.fit(data).posterior
    first, again, other = (posterior.sample(3, seed=seed) for seed in (5, 5, 6))
    assert isinstance(first, tuple)
    assert {type(model) for model in first} == {type(posterior.mean())}
    numbers = [[model.log_prob(data) for model in models] for models in (first, again, other)]
    np.testing.assert_array_equal(numbers[0], numbers[1])
    if posterior.intervals().names and not isinstance(case.structure, sf.Hypotheses):
        assert not np.array_equal(numbers[0], numbers[2])
    assert posterior.sample(0, seed=1) == ()
    for wrong in (-1, 1.5):
        with pytest.raises(sf.ArgumentError):
            posterior.sample(wrong)


@every
def test_predictive_is_the_average_over_models(case: Case) -> None:
    """Monte Carlo: p(row | data) = E[p(row | θ)]."""
    posterior, new = case.fit(case.data(40, 1)).posterior, case.data(4, 2)
    drawn = np.exp([model.log_prob(new) for model in posterior.sample(N_DRAWS, seed=3)])
    spread = drawn.std(axis=0) / np.sqrt(N_DRAWS)
    assert (np.abs(drawn.mean(axis=0) - np.exp(posterior.log_predictive(new))) <= 5 * spread + 1e-8).all()


@every
def test_log_predictive_is_that_of_the_predictive_distribution(case: Case) -> None:
    posterior, new = case.fit(case.data(12, 1)).posterior, case.data(4, 2)
    assert isinstance(posterior.predictive(), Predictive)
    found = posterior.log_predictive(new)
    assert found.shape == (len(new) if isinstance(new, list) else 4,)
    np.testing.assert_allclose(posterior.predictive().log_prob(new), found, rtol=1e-12)


@every
def test_log_predictive_is_the_growth_of_the_marginal_likelihood(case: Case) -> None:
    data, new = case.data(12, 1), case.data(3, 2)
    before = case.fit(data)
    if before.log_marginal_likelihood is None:
        pytest.skip("an improper prior has no marginal likelihood")
    found = before.posterior.log_predictive(new).tolist()
    afters = [case.fit(joined(data, rows_of(new, range(row, row + 1)))) for row in range(len(found))]
    growth = [after.log_marginal_likelihood - before.log_marginal_likelihood for after in afters]
    assert len(found) >= 3
    assert found == pytest.approx(growth, rel=1e-8, abs=1e-9)


@every
def test_intervals_are_quantiles_of_drawn_parameters(case: Case) -> None:
    posterior = case.fit(case.data(12, 1)).posterior
    found = posterior.intervals(0.8)
    assert isinstance(found, ParameterIntervals)
    assert found.level == 0.8
    assert found.numbers.shape == (len(found.names), 3)
    median, lower, upper = found.numbers.T
    assert (lower <= median).all()
    assert (median <= upper).all()
    wider = posterior.intervals(0.95)
    assert (wider.numbers[:, 1] <= lower).all()
    assert (wider.numbers[:, 2] >= upper).all()
    for wrong in (0, 1, 95, "x"):
        with pytest.raises(sf.ArgumentError, match="level"):
            posterior.intervals(wrong)


@every
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), sizes=st.tuples(st.integers(2, 25), st.integers(1, 25)))
def test_posterior_of_the_first_data_is_the_prior_of_the_rest(case: Case, seed: int, sizes: tuple[int, int]) -> None:
    first, rest = case.data(sizes[0], seed), case.data(sizes[1], seed + 1)
    begun = case.fit(first)
    prior = begun.posterior.as_prior()
    assert isinstance(prior, Prior)
    one_by_one, at_once = case.fit(rest, prior), case.fit(joined(first, rest))
    assert one_by_one.certificate.ok, one_by_one.certificate.verdict
    found, wanted = one_by_one.posterior.intervals(0.9), at_once.posterior.intervals(0.9)
    assert found.names == wanted.names
    np.testing.assert_allclose(found.numbers, wanted.numbers, rtol=1e-7, atol=1e-9)
    if at_once.log_marginal_likelihood is not None:
        evidence = begun.log_marginal_likelihood + one_by_one.log_marginal_likelihood
        assert evidence == pytest.approx(at_once.log_marginal_likelihood, rel=1e-8, abs=1e-8)


@every
def test_prior_from_a_posterior_is_saved_with_a_fit(case: Case, tmp_path) -> None:
    fit = case.fit(case.data(8, 2), case.fit(case.data(12, 1)).posterior.as_prior())
    path = tmp_path / "fit.json"
    sf.write(fit, path)
    again = sf.read(path).posterior.intervals()
    np.testing.assert_allclose(again.numbers, fit.posterior.intervals().numbers, rtol=1e-12)


@every
def test_nodes_keep_the_promises_too(case: Case) -> None:
    fit = case.fit(case.data(12, 1))
    new = case.data(4, 2)
    nodes = getattr(fit.posterior, "nodes", ())
    if not nodes:
        pytest.skip("a posterior without nodes")
    assert [{type(cpd) for cpd in node.sample(2, seed=1)} for node in nodes] == [{type(node.mean())} for node in nodes]
    assert [node.log_predictive(new).shape for node in nodes] == [(4,)] * len(nodes)
    assert all(np.array_equal(node.predictive().log_prob(new), node.log_predictive(new)) for node in nodes)
    assert all(isinstance(node.intervals(), ParameterIntervals) for node in nodes)
    assert all(isinstance(node.as_prior(), Prior) for node in nodes)
    assert all(type(node.mode()) is type(node.mean()) for node in nodes)


def test_log_predictive_of_nodes_adds_up_without_ties() -> None:
    case = CASES["mixed"]
    posterior, new = case.fit(case.data(12, 1)).posterior, case.data(4, 2)
    total = sum(node.log_predictive(new) for node in posterior.nodes)
    np.testing.assert_allclose(total, posterior.log_predictive(new), rtol=1e-12)


def test_far_from_zero_nothing_is_lost() -> None:
    near, far = CASES["mixed"].data(20, 1), CASES["mixed"].data(20, 1)
    far["x"] = [value + 1e8 for value in near["x"]]
    prior = sf.NormalInverseGamma(2, 1.0, mean={"x": 1e8, "y": 0.0}, precision=1e-3)
    structure = sf.DAG("x -> y")
    begun = sf.fit(structure, rows_of(far, range(10)), prior=prior)
    rest = sf.fit(structure, rows_of(far, range(10, 20)), prior=begun.posterior.as_prior())
    whole = sf.fit(structure, far, prior=prior)
    np.testing.assert_allclose(rest.posterior["y"].slopes, whole.posterior["y"].slopes, rtol=1e-6)
    np.testing.assert_allclose(rest.posterior["y"].scale, whole.posterior["y"].scale, rtol=1e-6)


# Forms of calls that are kept for one version -----------------------------------------------------------------------


def test_a_network_is_drawn_in_the_old_form() -> None:
    posterior = CASES["mixed"].fit(table(12, 1)).posterior
    with pytest.warns(DeprecationWarning, match=r"sample\(1, seed=…\)\[0\]"):
        old = posterior.sample(seed=3)
    np.testing.assert_array_equal(old.log_prob(table(4, 2)), posterior.sample(1, seed=3)[0].log_prob(table(4, 2)))


def test_a_chain_is_drawn_in_the_old_form() -> None:
    posterior = CASES["Markov chain"].fit(texts(4, 1)).posterior
    with pytest.warns(DeprecationWarning, match=r"sample\(1, seed=…\)\[0\]"):
        old = posterior.sample(seed=3)
    np.testing.assert_array_equal(old.log_prob(texts(4, 2)), posterior.sample(1, seed=3)[0].log_prob(texts(4, 2)))


def test_tables_are_drawn_and_bounded_in_the_old_form() -> None:
    rows = CASES["tables"].fit(table(12, 1)).posterior["d"]
    draws, new = rows.draws(5, seed=2), rows.sample(5, seed=2)
    np.testing.assert_array_equal([cpd.values for cpd in new], draws)
    for old in (lambda: np.asarray(new), lambda: new[:, :, :], lambda: new[...]):
        with pytest.warns(DeprecationWarning, match=r"draws\(n"):
            np.testing.assert_array_equal(old(), draws)
    with pytest.warns(DeprecationWarning, match=r"draws\(n"):
        assert new.shape == draws.shape
    with pytest.warns(DeprecationWarning, match=r"sample\(1"):
        np.testing.assert_array_equal(rows.sample_table(seed=2).values, rows.sample(1, seed=2)[0].values)
    with pytest.warns(DeprecationWarning, match="bounds"):
        np.testing.assert_array_equal(rows.interval(0.9), rows.bounds(0.9))


def test_regressions_are_asked_in_the_old_form() -> None:
    node = CASES["mixed"].fit(table(12, 1)).posterior["x"]
    with pytest.warns(DeprecationWarning, match=r"intervals\(level\)"):
        np.testing.assert_array_equal(node.interval(0.9).numbers, node.intervals(0.9).numbers)
    with pytest.warns(DeprecationWarning, match=r"draws\(n"):
        np.testing.assert_array_equal(node.sample(3, seed=1).intercept, node.draws(3, seed=1).intercept)
    with pytest.warns(DeprecationWarning, match=r"sample\(1"):
        assert node.sample_table(seed=1).variance.tolist() == node.draws(1, seed=1).variance[0].tolist()
    codes = {"c": np.array([0, 1]), "x": np.array([0.5, 1.0])}
    with pytest.warns(DeprecationWarning, match="log_predictive_of"):
        old = node.log_predictive(codes)
    np.testing.assert_array_equal(old, node.log_predictive({"c": ["a", "b"], "x": [0.5, 1.0]}))
    alone = sf.fit(sf.DAG("x"), {"x": [1.0, 2.0]}, prior=LINE).posterior["x"]
    with pytest.warns(DeprecationWarning, match=r"predictive\({}\)"):
        location, scale, dof = alone.predictive()
    assert [location, scale, dof] == list(alone.predictive({}))


@pytest.mark.parametrize("name", ["normal", "normal of a graph"])
def test_normal_distributions_are_drawn_in_the_old_form(name: str) -> None:
    posterior = CASES[name].fit(CASES[name].data(12, 1)).posterior
    with pytest.warns(DeprecationWarning, match=r"use sample\(n\)"):
        old = posterior.sample_models(3, seed=4)
    for one, other in zip(old, posterior.sample(3, seed=4), strict=True):
        np.testing.assert_array_equal(one.precision, other.precision)


def test_margins_have_intervals_in_the_old_form() -> None:
    posterior = CASES["cliques"].fit(table(12, 1)).posterior
    with pytest.warns(DeprecationWarning, match="margin=names"):
        lower, upper = posterior.interval(["c", "d"], 0.9)
    found = posterior.intervals(0.9, margin=["c", "d"]).numbers
    np.testing.assert_array_equal(found[:, 1], lower.values.ravel())
    np.testing.assert_array_equal(found[:, 2], upper.values.ravel())


def test_an_autoregression_answers_as_the_regression_that_it_was() -> None:
    posterior = CASES["autoregression"].fit(series(6, 1)).posterior
    with pytest.warns(DeprecationWarning, match=r"posterior\.regression\.slopes"):
        assert posterior.slopes is posterior.regression.slopes
    with pytest.raises(AttributeError):
        _ = posterior.slope


# What does not exist ------------------------------------------------------------------------------------------------


def test_a_given_node_must_be_given_again() -> None:
    case = CASES["given regression"]
    prior = case.fit(table(12, 1)).posterior.as_prior()
    with pytest.raises(sf.EstimationError, match="'y' was given and not learnt"):
        sf.fit(case.structure, table(12, 2), prior=prior)


def test_a_prior_of_other_rows_is_refused() -> None:
    prior = CASES["mixed"].fit(table(12, 1)).posterior["x"].as_prior().learnt_from(None)
    with pytest.raises(sf.ArgumentError, match="Got node 'x' with the parents"):
        sf.fit(sf.DAG("y -> x"), table(12, 2), prior=[LINE, {"x": prior}])
    chain = CASES["Markov chain"].fit(texts(4, 1)).posterior.as_prior()
    with pytest.raises(sf.ArgumentError, match="Markov chain of order 2"):
        sf.fit(sf.MarkovChain(order=3), texts(4, 1), prior=chain)


ROWS = {"A": ["x", "y", "x", "y"], "B": ["m", "m", "n", "n"], "C": ["k", "l", "k", "k"]}
NUMBERS = {"x": [0.0, 1.0, 2.0, 4.0, 3.5], "y": [9.0, 7.5, 8.0, 6.0, 5.0], "z": [1.0, 0.0, 3.0, 2.0, 5.0]}
HALVES = [0.5, 1.0, 2.5, 4.0]
WISHART = sf.NormalInverseWishart(mean=0, mean_weight=1, dof=5, scale=1)
OTHERS = {
    "parents in another order": (
        lambda: sf.fit(sf.DAG("A -> C; B -> C"), ROWS, prior=sf.BDeu(4)),
        lambda prior: sf.fit(sf.DAG("B -> C; A -> C"), ROWS, prior=prior),
        r"'C' had the parents \['A', 'B'\].*\['B', 'A'\]",
    ),
    "other states": (
        lambda: sf.fit(sf.DAG("A"), ROWS, prior=sf.BDeu(4)),
        lambda prior: sf.fit(sf.DAG("A"), {"A": ["y", "z"]}, prior=prior),
        r"'A' had the states \['x', 'y'\]; here it has \['y', 'z'\]",
    ),
    "other states of a regression's parent": (
        lambda: sf.fit(sf.DAG("A -> n"), {**ROWS, "n": HALVES}, prior=[sf.BDeu(1), sf.NormalInverseGamma(2, 1)]),
        lambda prior: sf.fit(sf.DAG("A -> n"), {"A": ["y", "z"] * 2, "n": HALVES}, prior=prior),
        "'A' had the states",
    ),
    "normals in another order": (
        lambda: sf.fit(sf.MultivariateNormal(["x", "y"]), NUMBERS, prior=WISHART),
        lambda prior: sf.fit(sf.MultivariateNormal(["y", "x"]), NUMBERS, prior=prior),
        r"\['x', 'y'\], in this order; here they are \['y', 'x'\]",
    ),
    "a field in another order": (
        lambda: sf.fit(sf.GaussianMarkov("x:y + y:z"), NUMBERS, prior=sf.HyperInverseWishart(3, 1.0)),
        lambda prior: sf.fit(sf.GaussianMarkov("z:y + y:x"), NUMBERS, prior=prior),
        "in this order",
    ),
    "another alphabet": (
        lambda: sf.fit(sf.MarkovChain(1), ["abab"], prior=sf.Dirichlet(1)),
        lambda prior: sf.fit(sf.MarkovChain(1), ["cdcd"], prior=prior),
        r"the states \['a', 'b'\]",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after", "says"), OTHERS.values(), ids=OTHERS)
def test_a_posterior_is_a_prior_for_the_same_states_and_order_alone(before: Any, after: Any, says: str) -> None:
    prior = before().posterior.as_prior()
    with pytest.raises(sf.ArgumentError, match=says):
        after(prior)
