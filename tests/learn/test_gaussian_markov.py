"""Gaussian Markov random fields: every method against each other, a general optimiser, and published numbers."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, root
from scipy.stats import multivariate_normal

import suffice as sf
from suffice.learn import gaussian_markov, gaussian_steps
from suffice.learn.method import Problem
from suffice.models.gaussian_deviance import deviance
from suffice.stats.needs import Moment

RING = "A:B + B:C + C:D + D:A"
CYCLES = [nx.cycle_graph(n) for n in (4, 5, 6)]


@st.composite
def graphs(draw) -> nx.Graph:
    p = draw(st.integers(2, 6))
    pairs = list(itertools.combinations(range(p), 2))
    graph = nx.empty_graph(p)
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)))
    return graph


def structure_of(graph: nx.Graph) -> sf.GaussianMarkov:
    return sf.GaussianMarkov(nx.relabel_nodes(graph, {node: f"v{node}" for node in graph}))


def table(names: tuple[str, ...], seed: int, n: int = 30) -> dict[str, np.ndarray]:
    """Rows with a common cause, so that all pairs correlate; columns of very different scales."""
    rng = np.random.default_rng(seed)
    p = len(names)
    rows = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 0.5 * rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    scale = 10.0 ** rng.integers(-2, 3, p)
    return dict(zip(names, (rows * scale + rng.normal(size=p) * 10 * scale).T, strict=True))


def by_general_optimiser(structure: sf.GaussianMarkov, covariance: np.ndarray) -> np.ndarray:
    """Minimise tr(KS) − log det K over the free entries of K by BFGS, then solve for a zero gradient by MINPACK."""
    place = {name: position for position, name in enumerate(structure.variables)}
    p = len(place)
    a = np.array([*range(p), *(place[u] for u, _ in structure.edges)])
    b = np.array([*range(p), *(place[v] for _, v in structure.edges)])
    roots = np.sqrt(np.diag(covariance))
    s = covariance / np.outer(roots, roots)

    def matrix(theta):
        k = np.zeros((p, p))
        k[a, b] = theta
        k[b, a] = theta
        return k

    def gradient(theta):
        return np.where(a == b, 1.0, 2.0) * (s - np.linalg.inv(matrix(theta)))[a, b]

    def value(theta):
        sign, log_det = np.linalg.slogdet(matrix(theta))
        positive = sign > 0 and np.linalg.eigvalsh(matrix(theta))[0] > 0
        return (np.sum(matrix(theta) * s) - log_det, gradient(theta)) if positive else (1e10, np.zeros_like(theta))

    start = minimize(
        value, np.where(a == b, 1.0, 0.0), jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 5000}
    )
    polished = root(gradient, start.x, tol=1e-14)
    assert np.abs(gradient(polished.x)).max() < 1e-10
    return matrix(polished.x) / np.outer(roots, roots)


def scaled_gap(first: np.ndarray, second: np.ndarray) -> float:
    roots = np.sqrt(np.diag(second))
    return float(np.abs((first - second) / np.outer(roots, roots)).max())


@settings(max_examples=60)
@example(graph=CYCLES[0], seed=1)
@example(graph=CYCLES[1], seed=2)
@example(graph=CYCLES[2], seed=3)
@example(graph=nx.complete_graph(5), seed=4)
@example(graph=nx.empty_graph(4), seed=5)
@given(graph=graphs(), seed=st.integers(0, 10**5))
def test_every_method_agrees_with_a_general_optimiser(graph: nx.Graph, seed: int) -> None:
    structure = structure_of(graph)
    data = table(structure.variables, seed)
    statistics = sf.collect(structure, data)
    moments = statistics[Moment(structure.variables)]
    assume(np.linalg.cond(np.corrcoef(np.stack(list(data.values())))) < 1e4)
    expected = by_general_optimiser(structure, moments.covariance)
    methods = ["newton", "ipf", *(["closed_form"] if nx.is_chordal(graph) else [])]
    for method in methods:
        fit = sf.estimate(structure, statistics, method=method, tol=1e-10, max_iter=20_000)
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.certificate.exists == "yes"
        assert scaled_gap(fit.model.precision, expected) < 1e-8
        for u, v in nx.complement(nx.Graph(structure.to_networkx())).edges:
            assert fit.model.precision[structure.variables.index(u), structure.variables.index(v)] == 0


@given(graph=graphs(), seed=st.integers(0, 10**5))
def test_likelihood_is_that_of_the_rows(graph: nx.Graph, seed: int) -> None:
    structure = structure_of(graph)
    data = table(structure.variables, seed)
    fit = sf.fit(structure, data)
    rows = np.stack([data[name] for name in structure.variables], axis=1)
    roots = fit.model.sd
    direct = multivariate_normal(np.zeros(len(roots)), fit.model.correlations).logpdf((rows - fit.model.mean) / roots)
    total = float(np.sum(direct)) - len(rows) * math.fsum(np.log(roots))
    assert fit.log_likelihood == pytest.approx(total, rel=1e-8, abs=1e-8)
    assert fit.log_likelihood == pytest.approx(fit.model.log_prob(data).sum(), rel=1e-9, abs=1e-9)
    assert fit.log_likelihood == pytest.approx(sum(fit.local.values()), rel=1e-6, abs=1e-9)
    assert fit.n_free == 2 * len(graph) + graph.number_of_edges()


def test_auto_takes_the_closed_form_where_there_is_one() -> None:
    assert sf.fit(sf.GaussianMarkov("A:B + B:C"), table(("A", "B", "C"), 0)).method == "closed_form"
    assert sf.fit(sf.GaussianMarkov(RING), table(("A", "B", "C", "D"), 0)).method == "newton"


def test_closed_form_refuses_a_cycle_and_names_it() -> None:
    with pytest.raises(sf.EstimationError, match=r"the cycle .* has no chord; 'newton' can fit it"):
        sf.fit(sf.GaussianMarkov(RING), table(("A", "B", "C", "D"), 0), method="closed_form")


def test_newton_converges_quadratically_and_its_likelihood_rises() -> None:
    fit = sf.fit(sf.GaussianMarkov(RING), table(("A", "B", "C", "D"), 3), tol=1e-9)
    objectives = [step.objective for step in fit.trace]
    assert 3 <= len(objectives) <= 12
    assert all(after >= before - 1e-9 * abs(before) for before, after in itertools.pairwise(objectives))
    assert objectives[-1] == pytest.approx(fit.log_likelihood, rel=1e-12)
    gaps = [point.gap for point in itertools.islice(_ring_points(gaussian_steps.newton_steps), 12)]
    late = [(a, b) for a, b in itertools.pairwise(gaps) if 1e-6 < a < 1e-2]
    assert late
    assert all(b < 30 * a * a for a, b in late)


def _ring_points(steps):
    structure = sf.GaussianMarkov(RING)
    return steps(np.corrcoef(np.stack(list(table(structure.variables, 3).values()))), structure)


def test_scaling_needs_few_sweeps_on_a_chordal_graph_and_its_likelihood_rises() -> None:
    structure = sf.GaussianMarkov("A:B:C + B:C:D + D:E")
    fit = sf.fit(structure, table(structure.variables, 4), method="ipf")
    assert len(fit.trace) <= 3
    ring = sf.fit(sf.GaussianMarkov(RING), table(("A", "B", "C", "D"), 4), method="ipf")
    objectives = [step.objective for step in ring.trace]
    assert len(objectives) > 3
    assert all(after >= before - 1e-9 * abs(before) for before, after in itertools.pairwise(objectives))


def test_large_equations_are_solved_by_conjugate_gradients_to_the_same_point(monkeypatch) -> None:
    structure = structure_of(nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 4)))
    data = table(structure.variables, 5, n=60)
    dense = sf.fit(structure, data, tol=1e-10)
    monkeypatch.setattr(gaussian_steps, "DENSE", 0)
    sparse = sf.fit(structure, data, tol=1e-10)
    assert sparse.certificate.ok
    assert scaled_gap(sparse.model.precision, dense.model.precision) < 1e-8


@pytest.mark.parametrize("method", ["newton", "ipf"])
def test_nearly_singular_tables_are_fitted_as_far_as_rounding_lets(method: str) -> None:
    rng = np.random.default_rng(6)
    base = rng.normal(size=400)
    for spread, ok in ((1e-3, True), (1e-5, False)):
        data = {name: base + spread * rng.normal(size=400) for name in "ABCD"}
        fit = sf.fit(sf.GaussianMarkov(RING), data, method=method, max_iter=10_000)
        assert fit.certificate.ok == ok, fit.certificate.verdict
        assert fit.certificate.exists == "yes"
        assert fit.certificate.moment_gap < 1e-4
        assert len(fit.trace) < 1000


def test_steps_that_lead_nowhere_end_and_say_so() -> None:
    structure = sf.GaussianMarkov(RING)
    stuck = next(_ring_points(gaussian_steps.newton_steps))
    problem = Problem(structure, sf.collect(structure, table(structure.variables, 3)), max_iter=10_000)
    solution = gaussian_markov._Iterative("stuck", lambda correlations, structure: itertools.repeat(stuck))(problem)
    assert len(solution.trace) == gaussian_markov.PATIENCE
    assert "rounding hides" in solution.remarks[0]


def test_a_ring_exists_with_fewer_rows_than_variables() -> None:
    data = {name: column[:4] for name, column in table(("A", "B", "C", "D"), 7).items()}
    fit = sf.fit(sf.GaussianMarkov(RING), data, max_iter=2000)
    assert np.linalg.matrix_rank(np.cov(np.stack(list(data.values())))) == 3
    assert fit.certificate.ok
    assert fit.certificate.exists == "yes"


def test_an_estimate_that_does_not_exist_is_not_certified() -> None:
    # Around the ring the columns differ by 40 degrees a step and 120 in all: no positive definite completion agrees.
    angles = np.array([0.0, 40, 80, 120]) * math.pi / 180
    pattern = np.stack([np.cos(angles), np.sin(angles)])
    data = dict(zip("ABCD", np.concatenate([pattern, -pattern]).T, strict=True))
    fit = sf.fit(sf.GaussianMarkov(RING), data, max_iter=60)
    assert not fit.certificate.ok
    assert fit.certificate.exists == "undecided"
    assert any("may not exist" in note.text for note in fit.notes)


@pytest.mark.parametrize("method", ["closed_form", "newton", "ipf"])
def test_singular_cliques_are_named(method: str) -> None:
    data = table(("A", "B", "C", "D"), 8)
    structure = sf.GaussianMarkov("A:B:C + C:D")
    with pytest.raises(sf.EstimationError, match=r"clique \['A', 'B', 'C'\] is singular.*HyperInverseWishart"):
        sf.fit(structure, {**data, "C": data["A"] / data["A"].std() - data["B"] / data["B"].std()}, method=method)
    with pytest.raises(sf.EstimationError, match="Column 'D' is constant"):
        sf.fit(structure, {**data, "D": np.full(30, 2.5)}, method=method)
    with pytest.raises(sf.EstimationError, match=r"clique \['A', 'B', 'C'\] is singular"):
        sf.fit(structure, {name: column[:3] for name, column in data.items()}, method=method)


def test_a_clique_needs_one_row_more_than_variables() -> None:
    data = {name: column[:3] for name, column in table(("A", "B", "C", "D"), 9).items()}
    assert sf.fit(sf.GaussianMarkov("A:B + B:C + C:D"), data).certificate.ok


def test_weights_are_frequencies() -> None:
    data = table(("A", "B", "C", "D"), 10, n=12)
    weights = np.arange(12) % 4
    repeated = {name: np.repeat(column, weights) for name, column in data.items()}
    for graph in ("A:B + B:C + D", RING):
        weighted = sf.fit(sf.GaussianMarkov(graph), data, weights=weights)
        plain = sf.fit(sf.GaussianMarkov(graph), repeated)
        assert weighted.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
        assert scaled_gap(weighted.model.precision, plain.model.precision) < 1e-9
        assert weighted.n == weights.sum()


def test_statistics_of_parts_add_up() -> None:
    data = table(("A", "B", "C", "D"), 11)
    structure = sf.GaussianMarkov(RING)
    halves = [{name: column[part] for name, column in data.items()} for part in (slice(11), slice(11, None))]
    added = sf.estimate(structure, sf.collect(structure, halves[1]) + sf.collect(structure, halves[0]))
    whole = sf.fit(structure, data)
    assert added.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    assert scaled_gap(added.model.precision, whole.model.precision) < 1e-9


def test_whole_numbers_and_one_variable_are_fine() -> None:
    fit = sf.fit(sf.GaussianMarkov("n"), {"n": [1, 2, 3, 6]})
    assert fit.model.mean.tolist() == [3]
    assert fit.model.covariance[0, 0] == pytest.approx(3.5)


@pytest.mark.parametrize("method", ["newton", "ipf"])
def test_too_few_steps_are_said_and_not_certified(method: str) -> None:
    data = table(("A", "B", "C", "D"), 3)
    for limit in (0, 1):
        fit = sf.fit(sf.GaussianMarkov(RING), data, method=method, max_iter=limit)
        assert len(fit.trace) == limit
        assert not fit.certificate.ok
        assert fit.certificate.exists == "yes"
        assert any("Raise max_iter" in note.text for note in fit.notes)


def test_arguments_without_use_are_refused() -> None:
    structure, data = sf.GaussianMarkov("A:B"), table(("A", "B"), 1)
    ring, more = sf.GaussianMarkov(RING), table(("A", "B", "C", "D"), 1)
    for call, error, match in (
        (lambda: sf.fit(structure, data, fixed={"A": 1}), sf.ArgumentError, "'fixed' argument must be left out"),
        (lambda: sf.fit(structure, data, init=3), sf.ArgumentError, "'init' argument must be left out"),
        (lambda: sf.fit(structure, data, prior=sf.BDeu(1)), sf.ArgumentError, "HyperInverseWishart"),
        (lambda: sf.fit(structure, data, options={"rate": 1}), sf.ArgumentError, "has no option"),
        (
            lambda: sf.fit(ring, more, prior=sf.HyperInverseWishart(3, 1.0)),
            sf.EstimationError,
            "a prior needs a chordal graph",
        ),
        (
            lambda: sf.fit(structure, {"A": list("xyx"), "B": [1.0, 2.0, 3.0]}),
            sf.DataError,
            "'x' is not a number",
        ),
        (
            lambda: sf.fit(structure, data, schema={"A": sf.categorical()}),
            sf.EstimationError,
            "(?i)column 'A' is discrete",
        ),
    ):
        with pytest.raises(error, match=match):
            call()


# Published ----------------------------------------------------------------------------------------------------

# Marks of 88 students in mechanics, vectors, algebra, analysis and statistics, two digits each.
# Mardia, Kent and Bibby (1979), Multivariate Analysis, table 1.2.1; the same in the R packages ggm and gRbase.
MARKS = """
7782676781 6378807081 7573716681 5572637068 6363657063 5361726473 5167656568 5970686256
6260586270 6472606245 5264606354 5567596244 5050645563 6563585637 3155605773 6064565440
4469535353 4269615545 6246615745 3149626362 4461526246 4941614964 1258616367 4953496247
5449564753 5453465944 4456556136 1844505781 4652655035 3245495764 3069505245 4649535937
4027546161 3142485468 3659514551 5640565435 4656574932 4542555640 4260544933 4063535425
2355595344 4848495137 4163494634 4652534140 4661463841 4057515231 4949454839 2258535641
3560475433 4856494232 3157505434 1753574351 4957473926 5950471546 3756492845 4043482161
3535415150 3844544724 4343383449 3946463243 6244362242 4838414433 3442504729 1851405630
3536464829 5953372219 4141433033 3152372740 1751523531 3430504736 4640472917 1046364739
4637451530 3034434618 1351502531 4950382309 1832314540 0842482640 2338364815 3024433325
0309514740 0751431722 1540432318 1538392817 0530443618 1230323521 0526152020 0040210914
"""
SUBJECTS = ("mechanics", "vectors", "algebra", "analysis", "statistics")


def marks() -> dict[str, list[int]]:
    rows = [[int(word[i : i + 2]) for i in range(0, 10, 2)] for word in MARKS.split()]
    return dict(zip(SUBJECTS, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("method", ["closed_form", "newton", "ipf"])
def test_butterfly_of_the_mathematics_marks(method: str) -> None:
    """Whittaker (1990), Graphical Models in Applied Multivariate Statistics: deviance 0.895 on 4 degrees of freedom."""
    data = marks()
    assert len(data["algebra"]) == 88
    statistics = sf.collect(sf.GaussianMarkov("mechanics:vectors:algebra:analysis:statistics"), data)
    saturated = sf.estimate(sf.GaussianMarkov([SUBJECTS]), statistics)
    butterfly = sf.GaussianMarkov("mechanics:vectors:algebra + algebra:analysis:statistics")
    fit = sf.fit(butterfly, data, method=method, certify="data")
    assert fit.certificate.ok
    found = deviance(fit.model, fit.statistics)
    assert math.floor(found.G2 * 1000) / 1000 == 0.895
    assert found.df == 4
    assert 2 * (saturated.log_likelihood - fit.log_likelihood) == pytest.approx(found.G2, abs=1e-7)
