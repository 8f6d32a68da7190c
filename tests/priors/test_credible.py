"""Credible intervals of answers: draws and the delta method against each other, and against what is known exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, norm

import suffice as sf
from suffice.priors.credible import _drawn

MANY = 4000


def one(n: tuple[int, ...] = (12, 5), **options: Any) -> sf.Fit:
    """A network of one node, whose posterior is one Dirichlet."""
    labels = [f"s{number}" for number in range(len(n))]
    data = {"A": [label for label, count in zip(labels, n, strict=True) for _ in range(count)]}
    return sf.fit(sf.DAG("A"), data, **{"prior": sf.K2(), **options})


def chain(n: int = 400, seed: int = 1, **options: Any) -> sf.Fit:
    """A chain of three nodes with a second parent, fitted to drawn rows."""
    tables = {
        "A": [0.3, 0.7],
        "B": [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]],
        "C": [[[0.9, 0.1], [0.4, 0.6]], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.1, 0.9]]],
        "D": [0.5, 0.5],
    }
    states = {"A": ["x", "y"], "B": ["u", "v", "w"], "C": ["no", "yes"], "D": ["p", "q"]}
    truth = sf.BayesianNetwork(sf.DAG("A -> B -> C <- D"), tables, schema=states)
    data = truth.sample(n, seed=seed)
    return sf.fit(truth.dag, data, schema=states, **{"prior": sf.BDeu(2), **options})


QUESTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "root": ("A", {}),
    "prediction": ("C", {"A": "x"}),
    "diagnosis": ("A", {"C": "yes"}),
    "joint": (["A", "C"], {}),
    "joint given": (["A", "D"], {"C": "no"}),
    "soft": ("B", {"C": {"no": 0.2, "yes": 0.9}}),
    "set": ("A", {"B": ["u", "w"], "C": "yes"}),
}


def ends(found: sf.IntervalTable) -> tuple[np.ndarray, np.ndarray]:
    return found.lower.values, found.upper.values


# Against what is known ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [(12, 5), (3, 1, 9)], ids=str)
def test_draws_of_one_node_are_quantiles_of_its_beta_distributions(n: tuple[int, ...], level: float) -> None:
    lower, upper = ends(one(n).query("A", interval=level, draws=MANY, seed=3))
    a = np.array(n) + 1
    b = a.sum() - a
    for quantile, got in (((1 - level) / 2, lower), ((1 + level) / 2, upper)):
        exact = beta.ppf(quantile, a, b)
        error = np.sqrt(quantile * (1 - quantile) / MANY) / beta.pdf(exact, a, b)  # of an empirical quantile
        np.testing.assert_array_less(np.abs(got - exact), 4.5 * error)


def test_draws_of_a_row_given_its_parents_are_those_of_the_posterior() -> None:
    fit = chain(60)
    found = fit.query("B", {"A": "y"}, interval=0.9, draws=MANY)
    lower, upper = fit.posterior["B"].bounds(0.9)
    np.testing.assert_allclose(found.lower.values, lower[1], atol=0.01)
    np.testing.assert_allclose(found.upper.values, upper[1], atol=0.01)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_draws_and_delta_agree_on_large_samples(question: str, level: float) -> None:
    fit = chain(40_000)
    targets, given = QUESTIONS[question]
    drawn = fit.query(targets, given, interval=level, draws=MANY, seed=5)
    delta = fit.query(targets, given, interval=level, interval_method="delta")
    np.testing.assert_array_equal(drawn.table.values, delta.table.values)
    width = delta.upper.values - delta.lower.values
    for one_end, other in zip(ends(drawn), ends(delta), strict=True):
        np.testing.assert_array_less(np.abs(one_end - other), 0.08 * width)


def test_delta_of_one_node_is_normal_on_the_scale_of_log_odds() -> None:
    found = one((12, 5)).query("A", interval=0.9, interval_method="delta")
    p = 13 / 19
    sd = np.sqrt(p * (1 - p) / 20)
    odds = np.log(p / (1 - p)) + norm.ppf([0.05, 0.95]) * sd / (p * (1 - p))
    np.testing.assert_allclose([found.lower.values[0], found.upper.values[0]], 1 / (1 + np.exp(-odds)))
    np.testing.assert_allclose(found.lower.values[1], 1 - found.upper.values[0])


@pytest.mark.parametrize("question", QUESTIONS)
def test_delta_is_the_spread_of_the_answers_over_drawn_networks(question: str) -> None:
    fit = chain(4000)
    targets, given = QUESTIONS[question]
    answers = np.array([fit.posterior.sample(1, seed=seed)[0].query(targets, given).values for seed in range(400)])
    found = fit.query(targets, given, interval=0.6826894921370859, interval_method="delta")
    half = (found.upper.values - found.lower.values) / 2
    np.testing.assert_allclose(half, answers.std(axis=0), rtol=0.2)


@pytest.mark.parametrize("method", ["draws", "delta"])
def test_table_is_the_models_answer_and_lies_inside(method: str) -> None:
    fit = chain()
    for targets, given in QUESTIONS.values():
        found = fit.query(targets, given, interval=0.95, interval_method=method, draws=200)
        np.testing.assert_array_equal(found.table.values, fit.model.query(targets, given).values)
        assert found.lower.values.shape == found.upper.values.shape == found.table.values.shape
        assert (found.lower.values >= 0).all()
        assert (found.upper.values <= 1).all()
        assert (found.lower.values <= found.table.values).all()
        assert (found.table.values <= found.upper.values).all()


@pytest.mark.parametrize("method", ["draws", "delta"])
def test_higher_levels_are_wider_and_more_data_is_narrower(method: str) -> None:
    def width(fit: sf.Fit, level: float) -> np.ndarray:
        found = fit.query("A", {"C": "yes"}, interval=level, interval_method=method, draws=500)
        return found.upper.values - found.lower.values

    small, large = chain(100), chain(10_000)
    assert (width(small, 0.5) < width(small, 0.9)).all()
    assert (width(small, 0.9) < width(small, 0.99)).all()
    assert (width(large, 0.9) < width(small, 0.9) / 3).all()


def test_answer_without_an_interval_is_the_models() -> None:
    fit = chain()
    found = fit.query("A", {"C": "yes"})
    assert isinstance(found, sf.LabelledTable)
    np.testing.assert_array_equal(found.values, fit.model.query("A", {"C": "yes"}).values)


# Coverage -----------------------------------------------------------------------------------------------------


def coverage(method: str, rounds: int, n: int) -> float:
    """How often the interval holds the true answer, when truths are drawn from the prior."""
    prior = sf.fit(
        sf.DAG("A -> B"),
        {"A": ["x"], "B": ["u"], "w": [0]},
        weights="w",
        schema={"A": ["x", "y"], "B": ["u", "v"]},
        prior=sf.K2(),
    ).posterior
    hits = 0
    for number in range(rounds):
        truth = prior.sample(1, seed=number)[0]
        fit = sf.fit(truth.dag, truth.sample(n, seed=number), schema=truth.schema, prior=sf.K2())
        found = fit.query("A", {"B": "u"}, interval=0.8, interval_method=method, draws=300, seed=number)
        exact = truth.query("A", {"B": "u"}).values[0]
        hits += bool(found.lower.values[0] <= exact <= found.upper.values[0])
    return hits / rounds


@pytest.mark.slow
@pytest.mark.parametrize(("method", "n", "slack"), [("draws", 10, 0), ("draws", 100, 0), ("delta", 300, 0.03)])
def test_intervals_hold_the_truth_as_often_as_they_say(method: str, n: int, slack: float) -> None:
    """Drawn from the prior, truths are inside with just the interval's level, for samples of any size."""
    rounds = 300
    assert abs(coverage(method, rounds, n) - 0.8) < 3.5 * np.sqrt(0.8 * 0.2 / rounds) + slack


# Ties, fixed rows, sparse tables ------------------------------------------------------------------------------


def tied(tie: bool) -> sf.Fit:
    dag = sf.DAG("A; B", tie=[("A", "B")] if tie else [])
    data = {"A": ["x", "y", "y", "x"] * 5, "B": ["y", "y", "y", "x"] * 5}
    return sf.fit(dag, data, prior=sf.K2())


def test_tied_nodes_share_their_draws() -> None:
    shared, apart = (list(_drawn(tied(tie).posterior, ["A", "B"], 10, 3)) for tie in (True, False))
    assert [(drawn["A"] == drawn["B"]).all() for drawn in shared] == [True] * 10
    assert [(drawn["A"] == drawn["B"]).any() for drawn in apart] == [False] * 10


def test_interval_of_a_pair_of_tied_nodes_is_that_of_a_square() -> None:
    """p(A = x, B = x) = θ², whose quantiles are squares of the quantiles of θ."""
    fit = tied(True)
    (a,) = fit.posterior["A"].concentration
    found = fit.query(["A", "B"], interval=0.9, draws=MANY, seed=1)
    exact = beta.ppf([0.05, 0.95], *a) ** 2
    np.testing.assert_allclose([found.lower.values[0, 0], found.upper.values[0, 0]], exact, atol=0.012)


def test_delta_counts_a_tied_parameter_once_with_all_its_uses() -> None:
    fit = tied(True)
    (a,) = fit.posterior["A"].concentration
    p, size = a[0] / a.sum(), a.sum()
    sd = 2 * p * np.sqrt(p * (1 - p) / (size + 1))  # of θ², by its derivative 2θ
    odds = np.log(p**2 / (1 - p**2)) + norm.ppf([0.05, 0.95]) * sd / (p**2 * (1 - p**2))
    found = fit.query(["A", "B"], interval=0.9, interval_method="delta")
    np.testing.assert_allclose([found.lower.values[0, 0], found.upper.values[0, 0]], 1 / (1 + np.exp(-odds)))


@pytest.mark.parametrize("method", ["draws", "delta"])
def test_answer_about_fixed_rows_alone_is_certain(method: str) -> None:
    fit = chain(fixed={"A": [0.25, 0.75], "B": [[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]]})
    for targets, given in (("A", {}), ("B", {}), (["A", "B"], {}), ("A", {"B": "v"})):
        found = fit.query(targets, given, interval=0.9, interval_method=method, draws=20)
        np.testing.assert_allclose(found.lower.values, found.table.values, rtol=1e-12)
        np.testing.assert_allclose(found.upper.values, found.table.values, rtol=1e-12)
    open_ = fit.query("C", {}, interval=0.9, interval_method=method, draws=20)
    assert (open_.lower.values < open_.upper.values).all()


@pytest.mark.parametrize("method", ["draws", "delta"])
def test_fixed_zeros_are_certain(method: str) -> None:
    fit = sf.fit(
        sf.DAG("A -> B"),
        {"A": ["x", "y", "x"], "B": ["u", "v", "u"]},
        prior=sf.K2(),
        fixed={"B": [[1, 0], [0, 1]]},
    )
    found = fit.query("A", {"B": "u"}, interval=0.9, interval_method=method, draws=20)
    np.testing.assert_array_equal(found.lower.values, [1, 0])
    np.testing.assert_array_equal(found.upper.values, [1, 0])


def sparse() -> sf.Fit:
    """A table of which only the rows that were seen are stored."""
    states = [f"s{number}" for number in range(33)]
    rng = np.random.default_rng(2)
    data = {name: [states[i] for i in rng.integers(0, 2, 40)] for name in "abcd"}
    return sf.fit(sf.DAG("a -> d <- b; c -> d"), data, schema=dict.fromkeys("abcd", states), prior=sf.K2())


def test_stored_rows_of_a_sparse_table_keep_their_place_and_the_others_are_the_prior() -> None:
    rows = sparse().posterior["d"]
    whole = rows.whole()
    assert rows.configurations is not None
    assert whole.configurations is None
    assert whole.concentration.shape == (33**3, 33)
    at = np.ravel_multi_index(tuple(rows.configurations.T), (33, 33, 33))
    np.testing.assert_array_equal(whole.concentration[at], rows.concentration)
    np.testing.assert_array_equal(np.unique(np.delete(whole.concentration, at, axis=0)), [1])


@pytest.mark.parametrize("method", ["draws", "delta"])
def test_sparse_table_has_intervals_for_rows_that_were_seen_and_for_others(method: str) -> None:
    fit = sparse()
    seen = fit.query("d", dict.fromkeys("abc", "s0"), interval=0.8, interval_method=method, draws=3)
    assert (seen.lower.values < seen.upper.values).all()
    other = fit.query("d", dict.fromkeys("abc", "s30"), interval=0.8, interval_method=method, draws=3)
    np.testing.assert_allclose(other.table.values, 1 / 33)
    assert (other.lower.values < other.upper.values).all()


def test_large_tables_are_drawn_in_blocks_that_are_different_and_of_one_distribution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = one((12, 5))
    at_once = fit.query("A", interval=0.9, draws=MANY, seed=3)
    monkeypatch.setattr("suffice.priors.credible.BLOCK_CELLS", 200)
    drawn = [tables["A"][0, 0] for tables in _drawn(fit.posterior, ["A"], 1050, 3)]
    assert len(set(drawn)) == 1050
    in_blocks = fit.query("A", interval=0.9, draws=MANY, seed=3)
    np.testing.assert_allclose(in_blocks.lower.values, at_once.lower.values, atol=0.02)
    np.testing.assert_allclose(in_blocks.upper.values, at_once.upper.values, atol=0.02)


# Reproducible -------------------------------------------------------------------------------------------------


def test_seed_decides_the_draws() -> None:
    fit = chain()
    asked = {"interval": 0.9, "draws": 50}
    first, again, other = (fit.query("C", {"A": "x"}, seed=seed, **asked) for seed in (0, 0, 1))
    for one_end, same in zip(ends(first), ends(again), strict=True):
        np.testing.assert_array_equal(one_end, same)
    assert (first.lower.values != other.lower.values).any()
    default = fit.query("C", {"A": "x"}, **asked)
    np.testing.assert_array_equal(default.lower.values, first.lower.values)


def test_without_a_seed_the_draws_differ() -> None:
    fit = chain()
    one_time, other = (fit.query("C", interval=0.9, draws=50, seed=None) for _ in range(2))
    assert (one_time.lower.values != other.lower.values).any()


def test_draws_of_a_node_do_not_depend_on_what_else_is_asked() -> None:
    posterior = chain().posterior
    alone, among = ([t["B"].tolist() for t in _drawn(posterior, names, 5, 7)] for names in (["B"], ["A", "B", "C"]))
    assert len(alone) == 5
    assert alone == among


def test_interval_survives_a_file(tmp_path: Any) -> None:
    fit = chain()
    sf.write(fit, tmp_path / "fit.json")
    for method in ("draws", "delta"):
        asked = {"interval": 0.9, "interval_method": method, "draws": 50}
        for one_end, same in zip(
            ends(fit.query("A", {"C": "no"}, **asked)),
            ends(sf.read(tmp_path / "fit.json").query("A", {"C": "no"}, **asked)),
            strict=True,
        ):
            np.testing.assert_array_equal(one_end, same)


def test_seed_of_every_size_is_taken() -> None:
    fit = one()
    lower = []
    for seed in (0, 2**64 - 1, np.int64(5), 5):
        found = fit.query("A", interval=0.9, draws=2, seed=seed)
        assert (found.lower.values <= found.upper.values).all()
        lower.append(found.lower.values.tolist())
    assert lower[2] == lower[3]
    assert lower[0] != lower[1] != lower[2] != lower[0]


# Errors -------------------------------------------------------------------------------------------------------


def test_fit_without_a_prior_has_no_intervals() -> None:
    with pytest.raises(sf.ArgumentError, match=r"this fit has none.*prior=sf.BDeu\(10\)"):
        chain(prior=None).query("A", interval=0.9)


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5, 95, float("nan")])
def test_level_lies_between_zero_and_one(level: float) -> None:
    with pytest.raises(sf.ArgumentError, match="'interval' argument must lie between 0 and 1"):
        one().query("A", interval=level)


def test_unknown_method_is_named_with_those_that_exist() -> None:
    with pytest.raises(sf.ArgumentError, match=r"\['draws', 'delta'\]. Got 'bootstrap'"):
        one().query("A", interval=0.9, interval_method="bootstrap")


@pytest.mark.parametrize("draws", [1, 0, -3])
def test_there_are_at_least_two_draws(draws: int) -> None:
    with pytest.raises(sf.ArgumentError, match="'draws' argument must be a whole number, at least 2"):
        one().query("A", interval=0.9, draws=draws)


def test_impossible_evidence_is_an_error() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "y"], "B": ["u", "v"]}, prior=sf.K2(), fixed={"A": [1, 0]})
    with pytest.raises(sf.ModelError, match="impossible"):
        fit.query("B", {"A": "y"}, interval=0.9)


def test_model_has_no_intervals() -> None:
    with pytest.raises(sf.ArgumentError, match=r"fit.query\(…, interval=0.95\)"):
        one().model.query("A", interval=0.9)


# How it is shown ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame_has_a_row_a_configuration(backend: str) -> None:
    found = chain().query(["B", "A"], interval=0.9, draws=20)
    frame = found.to_frame(backend)
    columns = frame.to_pydict() if backend == "pyarrow" else {name: list(frame[name]) for name in frame.columns}
    assert list(columns) == ["B", "A", "p", "lower", "upper"]
    assert columns["B"] == ["u", "u", "v", "v", "w", "w"]
    assert columns["A"] == ["x", "y"] * 3
    np.testing.assert_array_equal(columns["p"], found.table.values.ravel())
    np.testing.assert_array_equal(columns["lower"], found.lower.values.ravel())
    np.testing.assert_array_equal(columns["upper"], found.upper.values.ravel())


def test_variables_that_are_called_like_a_column_keep_their_names() -> None:
    fit = sf.fit(sf.DAG("p -> lower"), {"p": ["x", "y"], "lower": ["u", "v"]}, prior=sf.K2())
    frame = fit.query(["p", "lower"], interval=0.9, draws=5).to_frame("pandas")
    assert list(frame.columns) == ["p", "lower", "p_", "lower_", "upper"]


def test_text_has_the_numbers_and_says_what_they_are() -> None:
    text = str(one((12, 5)).query("A", interval=0.9, interval_method="delta"))
    assert text.splitlines()[0].split() == ["A", "p", "lower", "upper"]
    assert text.splitlines()[2].split()[:2] == ["s0", "0.6842"]
    assert text.splitlines()[-1] == "0.9 credible intervals, by delta"
    found = one().query("A", interval=0.95, draws=5)
    assert (found.level, found.method) == (0.95, "draws")
    assert "0.95 credible intervals, by draws" in found._repr_html_()
