"""Joint tables of classes are what counting by hand gives, whichever way they are stored."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from tests.models.joint_twin import JointTwin, twins

import suffice as sf
from suffice.data.matrix import MatrixTable
from suffice.data.variable import Variable
from suffice.stats import counts as dense_or_sparse
from suffice.structures.joint_classes import JointClasses

ALPHAS = st.sampled_from([0.25, 0.5, 1.0, 2.0])


@contextmanager
def stored(way: str) -> Iterator[None]:
    """Have only the configurations stored that occur, or all."""
    with pytest.MonkeyPatch.context() as patch:
        if way == "sparse":
            patch.setattr(dense_or_sparse, "DENSE_CELLS", 0)
        yield


WAYS = st.sampled_from(["dense", "sparse"])


def fitted(twin: JointTwin, way: str = "dense", class_prior: Any = "counted", **options: Any) -> sf.Fit:
    with stored(way):
        fit = sf.fit(JointClasses("y", twin.names, class_prior), twin.data, schema=twin.schema, **options)
    assert (fit.model.configurations is None) == (way == "dense")
    assert fit.certificate.ok, fit.certificate.verdict
    return fit


def table_of(fit: sf.Fit) -> dict[tuple[Any, ...], list[float]]:
    """Return p(x | y) by configuration, those that are not stored included."""
    model = fit.model
    found = {labels: row.tolist() for labels, row in model.rows()}
    for labels in JointTwin(fit.structure.inputs, tuple(v.labels for v in model.inputs), (), ()).configurations:
        if labels not in found:
            found[labels] = model.default_row.tolist()
    return found


def assert_same(fit: sf.Fit, twin: JointTwin) -> None:
    found = table_of(fit)
    assert set(found) == set(twin.configurations)
    for cell, row in found.items():
        np.testing.assert_allclose(row, [float(twin.likelihood(cell, y)) for y in twin.classes], rtol=1e-13, atol=0)


class TestMaximumLikelihood:
    @given(twins(), WAYS)
    def test_is_relative_frequencies(self, twin: JointTwin, way: str) -> None:
        fit = fitted(twin, way, certify="data")
        assert_same(fit, twin)
        prior = twin.counted()
        np.testing.assert_allclose(fit.model.class_prior, [float(prior[y]) for y in twin.classes], rtol=1e-15)
        assert fit.log_likelihood == pytest.approx(twin.log_likelihood(prior), abs=1e-10)
        assert sum(fit.local.values()) == pytest.approx(fit.log_likelihood, abs=1e-12)
        k, c = len(twin.classes), len(twin.configurations)
        assert fit.n_free == k * (c - 1) + k - 1
        assert fit.n_free_adjusted == len(twin.m) - 1

    @given(twins(), WAYS)
    def test_is_the_complete_network_s(self, twin: JointTwin, way: str) -> None:
        order = ("y", *twin.names)
        dag = sf.DAG({name: list(order[:place]) for place, name in enumerate(order)})
        network = sf.fit(dag, twin.data, schema=twin.schema, unseen_parents="nan")
        fit = fitted(twin, way)
        assert fit.log_likelihood == pytest.approx(network.log_likelihood, abs=1e-10)
        assert fit.n_free == network.n_free
        np.testing.assert_allclose(fit.model.log_prob(twin.data), network.model.log_prob(twin.data), atol=1e-12)

    @given(twins())
    def test_is_the_saturated_field_s(self, twin: JointTwin) -> None:
        field = sf.fit(sf.Cliques([(*twin.names, "y")]), twin.data, schema=twin.schema)
        fit = fitted(twin)
        assert fit.log_likelihood == pytest.approx(field.log_likelihood, abs=1e-10)
        for x, _ in twin.rows:
            known = dict(zip(twin.names, x, strict=True))
            np.testing.assert_allclose(
                fit.model.query("y", known).to_numpy(), field.model.query("y", known).to_numpy(), atol=1e-12
            )

    @given(twins(), WAYS, st.data())
    def test_weights_are_repeated_rows(self, twin: JointTwin, way: str, data: st.DataObject) -> None:
        times = data.draw(st.lists(st.integers(1, 3), min_size=len(twin.rows), max_size=len(twin.rows)))
        repeated = replace(twin, rows=tuple(row for row, n in zip(twin.rows, times, strict=True) for _ in range(n)))
        fit, other = fitted(twin, way, weights=times), fitted(repeated, way)
        np.testing.assert_array_equal(fit.model.values, other.model.values)
        assert fit.log_likelihood == other.log_likelihood
        real = fitted(twin, way, weights=[n / 8 for n in times])
        np.testing.assert_allclose(real.model.values, other.model.values, rtol=1e-14)
        assert real.log_likelihood == pytest.approx(other.log_likelihood / 8)

    @given(twins(), WAYS, st.data())
    def test_any_split_adds_up(self, twin: JointTwin, way: str, data: st.DataObject) -> None:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(twin.rows)), max_size=3)))
        structure = JointClasses("y", twin.names)
        edges = [0, *cuts, len(twin.rows)]
        pieces = [replace(twin, rows=twin.rows[low:high]) for low, high in pairwise(edges)]
        with stored(way):
            parts = [sf.collect(structure, piece.data) for piece in pieces if piece.rows]  # states are inferred
            added = sf.estimate(structure, sum(parts[1:], parts[0]))
            whole = sf.fit(structure, twin.data)
        assert added.certificate.ok
        assert added.model.schema == whole.model.schema
        np.testing.assert_array_equal(added.model.values, whole.model.values)
        assert added.log_likelihood == whole.log_likelihood


class TestUnderAPrior:
    @given(twins(), WAYS, ALPHAS)
    def test_mean_is_pseudo_counts_added(self, twin: JointTwin, way: str, alpha: float) -> None:
        fit = fitted(twin, way, prior=sf.Dirichlet(alpha), certify="data")
        assert fit.point == "mean"
        assert_same(fit, replace(twin, extra=Fraction(alpha)))

    @given(twins(), WAYS, st.sampled_from([1.0, 1.5, 3.0]))
    def test_mode_is_pseudo_counts_less_one_added(self, twin: JointTwin, way: str, alpha: float) -> None:
        fit = fitted(twin, way, prior=sf.Dirichlet(alpha), point="map")
        assert_same(fit, replace(twin, extra=Fraction(alpha) - 1))

    @given(twins(), WAYS)
    def test_flat_prior_s_mode_is_maximum_likelihood(self, twin: JointTwin, way: str) -> None:
        flat, mle = fitted(twin, way, prior=sf.K2(), point="map"), fitted(twin, way)
        np.testing.assert_array_equal(flat.model.values, mle.model.values)

    @given(twins(), WAYS)
    def test_every_symmetric_prior_is_its_pseudo_count(self, twin: JointTwin, way: str) -> None:
        cells = len(twin.classes) * len(twin.configurations)
        for prior, alpha in ((sf.K2(), 1), (sf.Jeffreys(), 0.5), (sf.BDeu(6), Fraction(6, cells))):
            assert_same(fitted(twin, way, prior=prior), replace(twin, extra=Fraction(alpha)))

    @given(twins(), WAYS, ALPHAS)
    def test_mode_below_one_pseudo_count_is_an_error_where_a_cell_is_empty(
        self, twin: JointTwin, way: str, alpha: float
    ) -> None:
        cells = len(twin.classes) * len(twin.configurations)
        if alpha >= 1 or len(twin.m) == cells or len(twin.configurations) == 1:
            fitted(twin, way, prior=sf.Dirichlet(alpha), point="map")
            return
        with pytest.raises(sf.EstimationError, match="no interior posterior mode"):
            fitted(twin, way, prior=sf.Dirichlet(alpha), point="map")

    @given(twins(), WAYS, ALPHAS, st.sampled_from([0.5, 1.0]))
    def test_marginal_likelihood_is_the_product_of_predictions(
        self, twin: JointTwin, way: str, alpha: float, pseudo: float
    ) -> None:
        """Row by row, each predicted from those before it."""
        fit = fitted(twin, way, pseudo, prior=sf.Dirichlet(alpha))
        terms, k = [], len(twin.classes)
        for place, (x, y) in enumerate(twin.rows):
            before = replace(twin, rows=twin.rows[:place], extra=Fraction(alpha))
            terms.append(math.log((before.total(y) + Fraction(pseudo)) / (place + k * Fraction(pseudo))))
            terms.append(math.log(before.likelihood(x, y)))
        assert fit.log_marginal_likelihood == pytest.approx(math.fsum(terms), abs=1e-9)

    @given(twins(), ALPHAS)
    def test_marginal_likelihood_with_told_classes(self, twin: JointTwin, alpha: float) -> None:
        fit = fitted(twin, "dense", "uniform", prior=sf.Dirichlet(alpha))
        c, total = len(twin.configurations), 0.0
        for y in twin.classes:
            n = float(twin.total(y))
            total += gammaln(c * alpha) - gammaln(c * alpha + n) - n * math.log(len(twin.classes))
            total += sum(gammaln(alpha + float(m)) - gammaln(alpha) for (_, label), m in twin.m.items() if label == y)
        assert fit.log_marginal_likelihood == pytest.approx(total, abs=1e-9)

    def test_counted_classes_have_no_marginal_likelihood_and_a_note_says_so(self) -> None:
        fit = sf.fit(JointClasses("y", ("a",)), {"a": list("uv"), "y": list("pq")}, prior=sf.K2())
        assert fit.log_marginal_likelihood is None
        assert any("no marginal likelihood" in note.text for note in fit.notes)

    def test_without_rows_the_prior_answers(self) -> None:
        schema = {"a": ["u", "v"], "y": ["p", "q"]}
        fit = sf.fit(JointClasses("y", ("a",), "uniform"), {"a": [], "y": []}, schema=schema, prior=sf.K2())
        np.testing.assert_array_equal(fit.model.values, 0.5)
        assert fit.certificate.ok
        assert fit.log_marginal_likelihood == 0


DATA = {"a": list("uvuv"), "y": list("pppq")}
SCHEMA = {"y": ["p", "q", "r"]}


class TestClasses:
    @pytest.mark.parametrize("way", ["dense", "sparse"])
    def test_one_without_rows_has_no_probability_and_no_known_table(self, way: str) -> None:
        with stored(way):
            fit = sf.fit(JointClasses("y", ("a",)), DATA, schema=SCHEMA)
        assert fit.certificate.ok
        assert fit.model.is_unknown.tolist() == [False, False, True]
        np.testing.assert_array_equal(fit.model.class_prior, [0.75, 0.25, 0])
        assert fit.model.query("y", {"a": "v"})[{"y": "r"}] == 0
        assert any("'r'" in note.text and "no rows" in note.text for note in fit.notes)
        assert fit.n_free_adjusted == 2

    @pytest.mark.parametrize("class_prior", ["uniform", 1.0, {"p": 0.5, "q": 0.25, "r": 0.25}])
    def test_one_without_rows_cannot_have_a_probability(self, class_prior: Any) -> None:
        with pytest.raises(sf.EstimationError, match=r"\['r'\] of 'y' have no rows.*sf.Dirichlet"):
            sf.fit(JointClasses("y", ("a",), class_prior), DATA, schema=SCHEMA)

    @pytest.mark.parametrize("way", ["dense", "sparse"])
    def test_one_without_rows_is_uniform_when_asked_for(self, way: str) -> None:
        with stored(way):
            fit = sf.fit(JointClasses("y", ("a",), "uniform"), DATA, schema=SCHEMA, unseen_parents="uniform")
        assert fit.certificate.ok
        assert {labels: row[2] for labels, row in fit.model.rows()} == {("u",): 0.5, ("v",): 0.5}
        assert any("set uniform" in note.text for note in fit.notes)

    def test_one_without_rows_is_given_a_table_by_a_prior(self) -> None:
        fit = sf.fit(JointClasses("y", ("a",), 1.0), DATA, schema=SCHEMA, prior=sf.Dirichlet(1.0))
        np.testing.assert_array_equal(fit.model.values[:, 2], [0.5, 0.5])
        assert fit.certificate.ok

    def test_one_class_only(self) -> None:
        fit = sf.fit(JointClasses("y", ("a",)), {"a": list("uvv"), "y": list("ppp")})
        assert fit.certificate.ok
        assert fit.n_free == 1
        np.testing.assert_array_equal(fit.model.query("y", {"a": "u"}).to_numpy(), [1])

    def test_told_not_to_occur_but_occurring(self) -> None:
        fit = sf.fit(JointClasses("y", ("a",), {"p": 1.0, "q": 0.0}), DATA)
        assert fit.log_likelihood == -math.inf
        assert fit.certificate.ok
        assert "with given class probabilities" in fit.certificate.claim

    def test_no_inputs_is_the_class_alone(self) -> None:
        fit = sf.fit(JointClasses("y", ()), DATA)
        alone = sf.fit(sf.Categorical("y"), DATA)
        assert fit.log_likelihood == pytest.approx(alone.log_likelihood)
        assert fit.n_free == alone.n_free
        np.testing.assert_allclose(fit.model.query("y").to_numpy(), alone.model.query("y").to_numpy(), rtol=1e-14)


class TestSize:
    def test_is_stated(self) -> None:
        fit = sf.fit(JointClasses("y", ("a", "b")), {"a": list("uvw"), "b": list("rst"), "y": list("pqp")})
        assert "9 configurations of the inputs times 2 classes, 18 cells, of which 3 occur." in str(fit)

    def test_forty_binary_inputs_are_stored_sparsely(self) -> None:
        rng = np.random.default_rng(0)
        codes, classes = rng.integers(0, 2, (500, 40)), rng.integers(0, 3, 500)
        names = tuple(f"x{place}" for place in range(40))
        data = {**{name: codes[:, place] for place, name in enumerate(names)}, "y": classes}
        fit = sf.fit(JointClasses("y", names, 1.0), data, prior=sf.Dirichlet(1e-9), certify="data")
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.n_free == 3 * (2**40 - 1) + 2
        assert fit.model.configurations.shape == (500, 40)
        assert f"{2**40:,} configurations" in " ".join(str(fit).split())
        n = np.bincount(classes)
        x = {name: int(codes[7, place]) for place, name in enumerate(names)}
        like = (np.eye(3)[classes[7]] + 1e-9) / (n + 2**40 * 1e-9)
        wanted = like * (n + 1) / (like * (n + 1)).sum()
        np.testing.assert_allclose(fit.model.query("y", x).to_numpy(), wanted, rtol=1e-12)
        some = dict(list(x.items())[:3])
        seen = (codes[:, :3] == codes[7, :3]).all(axis=1)
        like = (np.bincount(classes[seen], minlength=3) + 2**37 * 1e-9) / (n + 2**40 * 1e-9)
        wanted = like * (n + 1) / (like * (n + 1)).sum()
        np.testing.assert_allclose(fit.model.query("y", some).to_numpy(), wanted, rtol=1e-12)

    def test_too_large_to_index_is_refused_with_its_size(self) -> None:
        names = tuple(f"x{place}" for place in range(40))
        schema = dict.fromkeys(names, ("a", "b", "c", "d", "e", "f"))
        with pytest.raises(sf.EstimationError, match=r"40 inputs has about 10\^31 cells.*2\^62.*sf.NaiveBayes"):
            sf.fit(JointClasses("y", names), {**{name: ["a"] for name in names}, "y": ["p"]}, schema=schema)

    def test_too_many_inputs_are_refused_however_few_cells_they_have(self) -> None:
        names = tuple(f"x{place}" for place in range(70))
        with pytest.raises(sf.EstimationError, match="70 inputs has 2 cells"):
            sf.fit(JointClasses("y", names), {**{name: ["a", "a"] for name in names}, "y": ["p", "q"]})

    def test_a_stream_that_grows_too_large_is_refused_after_it(self, tmp_path, monkeypatch) -> None:
        monkeypatch.setattr("suffice.data.readers.csv_file.PIECE_BYTES", 128)
        names = tuple(f"x{place}" for place in range(14))
        lines = [",".join((*names, "y")), *(",".join(f"s{row}" for _ in range(15)) for row in range(25))]
        (tmp_path / "t.csv").write_text("\n".join(lines))
        with pytest.raises(sf.EstimationError, match=r"This structure cannot be fitted.*about 10\^21 cells"):
            sf.fit(JointClasses("y", names), tmp_path / "t.csv")

    def test_sixty_two_inputs_of_which_most_are_constant(self) -> None:
        names = tuple(f"x{place}" for place in range(62))
        data: dict[str, Any] = {name: ["a", "a", "a"] for name in names}
        fit = sf.fit(JointClasses("y", names), {**data, "x3": list("aba"), "y": list("ppq")})
        assert fit.certificate.ok
        np.testing.assert_array_equal(fit.model.query("y", {"x3": "b"}).to_numpy(), [1, 0])
        np.testing.assert_allclose(fit.model.query("y", {"x3": "a", "x7": "a"}).to_numpy(), [0.5, 0.5])

    def test_continuous_inputs_are_refused(self) -> None:
        with pytest.raises(sf.EstimationError, match=r"'a' is continuous.*sf.categorical"):
            sf.fit(JointClasses("y", ("a",)), {"a": [0.5, 1.5], "y": list("pq")})


@given(twins(), st.booleans())
def test_a_matrix_of_codes_is_a_table(twin: JointTwin, weighted: bool) -> None:
    inputs = tuple(Variable(name, mine, True) for name, mine in zip(twin.names, twin.states, strict=True))
    target = Variable("y", twin.classes, True)
    codes = np.array([[v.code(s) for v, s in zip(inputs, x, strict=True)] for x, _ in twin.rows], np.int8)
    classes = np.array([target.code(label) for _, label in twin.rows])
    weights = np.arange(1, len(classes) + 1) if weighted else None
    matrix = MatrixTable(codes.reshape(len(classes), -1), inputs, {"y": classes}, (target,), weights)
    fit = sf.fit(JointClasses("y", twin.names), matrix, certify="data")
    other = fitted(twin, weights=None if weights is None else weights.tolist())
    assert fit.certificate.ok
    np.testing.assert_array_equal(fit.model.values, other.model.values)
    answers = fit.model.query_rows("y", MatrixTable(matrix.matrix, inputs))
    np.testing.assert_array_equal(answers.values, other.model.query_rows("y", twin.data).values)


@pytest.mark.parametrize("prior", [sf.Gaussian(), sf.Dirichlet({"y": 1.0}), sf.Dirichlet, 3])
def test_other_priors_are_refused(prior: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="same for all cells"):
        sf.fit(JointClasses("y", ("a",)), {"a": list("uv"), "y": list("pq")}, prior=prior)
