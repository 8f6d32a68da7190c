"""Every node kind, the developer guide's skeleton included, keeps the protocol's promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest
from tests.conformance.cases import ALL_KINDS, NODE_KIND, XYZ

import suffice as sf
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.models.cpds import CPD, KINDS, AnyKind, NodeFamily, NodeKind
from suffice.stats.source import BlockSource

MIXED = {
    "x": [0.5, 2.0, -1.25, 0.0, 3.5, 1.0, 2.5, -0.5, 1.5, 0.25, 1.75, 0.75, -1.0, 3.0, 2.25, 0.1],
    "w": [1.0, -0.5, 0.25, 2.0, 0.5, 1.5, -1.0, 0.0, 1.0, 0.75, -0.25, 1.25, 0.5, -0.75, 1.0, 0.0],
    "g": list("rsrsrsrsrsrsrsrs"),
    "y": list("aabbababbababaab"),
}
CAUSES = {"A": list("nyynnyynny"), "B": list("nnyyymnmny"), "E": list("nyynyynyyn")}
FAMILIES = {
    "tabular": ["A", "A -> B", "A -> C <- B"],
    "noisy_copy": ["A -> B"],
    "linear_gaussian": ["x", "x -> w", "g -> w", "x -> w; g -> w"],
    "softmax": ["x -> y", "g -> y; x -> y"],
    "noisy_or": ["A -> E", "A -> E; B -> E"],
}
TABLES = {"linear_gaussian": MIXED, "softmax": MIXED, "noisy_or": CAUSES}
DISCRETE, X = Variable("P", ("x", "y", "z")), Variable("X")
REFUSED = {
    "linear_gaussian": NodeFamily(DISCRETE, (X,)),
    "softmax": NodeFamily(X, (X, DISCRETE)),
}  # kinds that are not named refuse a continuous child of a discrete parent
CASES = [(kind, graph) for kind in ALL_KINDS for graph in FAMILIES[kind]]


def collected(kind: AnyKind, graph: str, rows: slice = slice(None)):
    dag = sf.DAG(graph)
    child = dag.order[-1]
    table = TABLES.get(kind.name, XYZ)
    whole = open_table(table, dag.columns).schema
    part = {name: column[rows] for name, column in table.items()}
    source = BlockSource(open_table(part, dag.columns, schema=whole), block_rows=3)
    family = NodeFamily(whole[child], tuple(whole[p] for p in dag.parents[child]))
    need = kind.need(family)
    return family, source.gather([need])[need], {name: source.table.columns[name] for name in family.scope}


@pytest.mark.parametrize(("name", "graph"), CASES)
class TestEveryKind:
    def test_has_the_protocols_type_and_its_own_name(self, name: str, graph: str) -> None:
        kind = ALL_KINDS[name]
        family, statistic, _ = collected(kind, graph)
        assert isinstance(kind, NodeKind)
        assert kind.name == name
        assert kind.refuses(family) is None
        cpd = kind.mle(family, statistic)
        assert isinstance(cpd, CPD)
        assert isinstance(cpd, kind.cpd_type)
        assert cpd.kind == name

    def test_refuses_a_child_of_the_wrong_sort(self, name: str, graph: str) -> None:
        assert ALL_KINDS[name].refuses(REFUSED.get(name, NodeFamily(X, (DISCRETE,))))

    def test_local_log_likelihood_is_the_sum_over_rows(self, name: str, graph: str) -> None:
        kind = ALL_KINDS[name]
        family, statistic, columns = collected(kind, graph)
        cpd = kind.mle(family, statistic)
        assert cpd.log_likelihood(statistic) == pytest.approx(cpd.log_prob(columns).sum(), rel=1e-12)

    def test_mle_has_no_residual_and_a_moved_one_has(self, name: str, graph: str) -> None:
        kind = ALL_KINDS[name]
        family, statistic, _ = collected(kind, graph)
        cpd = kind.complete(kind.mle(family, statistic), "uniform")[0]
        assert kind.residual(cpd, statistic) < 1e-12
        assert kind.normalisation(cpd) < 1e-12
        some = collected(kind, graph, slice(None, 12 if TABLES.get(name) is MIXED else 5))[1]
        moved = kind.complete(kind.mle(family, some), "uniform")[0]
        assert kind.residual(moved, statistic) > 1e-3

    def test_statistics_of_parts_add_to_the_whole(self, name: str, graph: str) -> None:
        kind = ALL_KINDS[name]
        family, statistic, _ = collected(kind, graph)
        parts = [collected(kind, graph, rows)[1] for rows in (slice(0, 5), slice(5, None))]
        ours, whole = kind.mle(family, parts[0] + parts[1]).to_dict(), kind.mle(family, statistic).to_dict()
        rounding = 1e-12 if statistic.need.kind == "moment" else 0.0  # counts and rows add up exactly
        assert set(ours) == set(whole) != set()
        for key in whole:
            np.testing.assert_allclose(np.asarray(ours[key], float), np.asarray(whole[key], float), rtol=rounding)

    def test_survives_a_round_trip_through_plain_data(self, name: str, graph: str) -> None:
        kind = ALL_KINDS[name]
        family, statistic, columns = collected(kind, graph)
        cpd = kind.mle(family, statistic)
        again = kind.cpd_type.from_dict(family, cpd.to_dict())
        np.testing.assert_array_equal(again.log_prob(columns), cpd.log_prob(columns))

    def test_samples_follow_its_probabilities(self, name: str, graph: str) -> None:
        kind = ALL_KINDS[name]
        family, statistic, _ = collected(kind, graph)
        cpd = kind.complete(kind.mle(family, statistic), "uniform")[0]
        n = 20_000
        one_row = {parent.name: np.zeros(n, np.int8) for parent in family.parents}
        drawn = cpd.sample(one_row, np.random.default_rng(0).random(n))
        if not family.child.is_discrete:
            assert kstest(drawn, "norm", (cpd.mean_of(one_row)[0], cpd.sd[0])).pvalue > 1e-3
            return
        r = family.child.n_states
        p = np.exp(cpd.log_prob({**{k: v[:r] for k, v in one_row.items()}, family.child.name: np.arange(r)}))
        shares = np.bincount(drawn, minlength=r) / n
        assert np.all(np.abs(shares - p) <= 5 * np.sqrt(p * np.maximum(1 - p, 0) / n))

    def test_counts_free_parameters(self, name: str, graph: str) -> None:
        kind = ALL_KINDS[name]
        family, statistic, _ = collected(kind, graph)
        assert 0 <= kind.n_free_adjusted(family, statistic) <= kind.n_free(family)

    def test_can_be_renamed_for_a_tied_family(self, name: str, graph: str) -> None:
        kind = ALL_KINDS[name]
        family, statistic, columns = collected(kind, graph)
        other = NodeFamily(*_primed(family))
        cpd = kind.mle(family, statistic)
        moved = cpd.renamed(other)
        assert moved.family == other
        primed = {f"{key}'": column for key, column in columns.items()}
        np.testing.assert_array_equal(moved.log_prob(primed), cpd.log_prob(columns))


def _primed(family: NodeFamily) -> tuple[Variable, tuple[Variable, ...]]:
    child, *parents = [Variable(f"{v.name}'", v.states, v.declared) for v in (family.child, *family.parents)]
    return child, tuple(parents)


def test_every_kind_has_families_to_be_tested_with() -> None:
    assert set(FAMILIES) == set(ALL_KINDS)


def test_a_new_kind_works_in_a_network_after_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "noisy_copy", NODE_KIND.KIND)
    dag = sf.DAG("A -> B -> C", kinds={"B": "noisy_copy"})
    fit = sf.fit(dag, XYZ, certify="data")
    assert fit.certificate.ok
    assert fit.model.cpd("B").error == pytest.approx(3 / 10)
    assert fit.n_free == 2 + 1 + 3
    assert len(fit.model.sample(10, seed=0)) == 10
    fixed = sf.fit(dag, XYZ, fixed={"B": 0.25})
    assert fixed.certificate.ok
    assert fixed.model.cpd("B").error == 0.25
    assert fixed.n_free == 2 + 0 + 3


def test_a_new_kind_can_be_saved(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setitem(KINDS, "noisy_copy", NODE_KIND.KIND)
    fit = sf.fit(sf.DAG("A -> B", kinds={"B": "noisy_copy"}), XYZ)
    sf.write(fit, tmp_path / "fit.json")
    assert sf.read(tmp_path / "fit.json").model.cpd("B").error == fit.model.cpd("B").error
