"""missing="available": every family of a network from the rows that have all of it, as pgmpy and bnlearn learn."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests import naive
from tests.command_line import bad, good

import suffice as sf
from suffice.certify.claim import Claim
from suffice.families.proof import certify

RNG = np.random.default_rng(11)
N = 90
A = RNG.choice(["a", "b"], N)
X = RNG.normal(size=N).round(3) + (A == "b")
WHOLE: dict[str, Any] = {
    "A": A,
    "B": np.where(RNG.random(N) < 0.3, "u", np.where(A == "a", "v", "w")),
    "x": X,
    "y": (2 * X + RNG.normal(size=N)).round(3),
    "s": np.where(X + RNG.normal(size=N) > 0.5, "hi", "lo"),
}
GAPS = {name: RNG.random(N) < 0.2 for name in WHOLE}
DATA = {
    name: [None if gone else value.item() for value, gone in zip(column, GAPS[name], strict=True)]
    for name, column in WHOLE.items()
}
WEIGHTS = RNG.integers(1, 4, N)
DISCRETE, LINEAR, MIXED = sf.DAG("A -> B"), sf.DAG("x -> y"), sf.DAG("A -> B; A -> x; x -> y; x -> s <- A")
PRIORS: dict[str, Any] = {
    "none": None,
    "of each kind": [sf.Dirichlet(2.0), sf.NormalInverseGamma(2, 1.0), sf.Gaussian(3.0)],
    "of some nodes": {"A": sf.K2(), "y": sf.NormalInverseGamma(2, 1.0)},
}


def family_alone(dag: Any, node: str, **how: Any) -> Any:
    """Fit one family to the rows that have it."""
    scope = [*dag.parents[node], node]
    kept = [row for row in range(N) if all(DATA[name][row] is not None for name in scope)]
    rows = {name: [DATA[name][row] for row in kept] for name in scope}
    alone = sf.DAG({node: dag.parents[node], **dict.fromkeys(dag.parents[node], ())})
    weights = WEIGHTS[kept] if how.pop("weighted", False) else None
    return sf.fit(alone, rows, weights=weights, **how), len(kept)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dag", [DISCRETE, LINEAR, MIXED], ids=str)
def test_every_family_is_that_of_its_own_rows(dag: Any, prior: Any, weighted: bool) -> None:
    if isinstance(prior, dict):
        prior = {node: one for node, one in prior.items() if node in dag.nodes}
    weights = WEIGHTS if weighted else None
    fit = sf.fit(dag, DATA, prior=prior, weights=weights, missing="available", certify="data")
    assert fit.certificate.ok, fit.certificate.verdict
    assert "each family from the rows that have it" in fit.certificate.claim
    total, rows = 0.0, {}
    for node in dag.nodes:
        own = ({node: prior[node]} if node in prior else None) if isinstance(prior, dict) else prior
        alone, rows[node] = family_alone(dag, node, prior=own, weighted=weighted, point=own and fit.point)
        mine, wanted = fit.model.cpd(node).to_dict(), alone.model.cpd(node).to_dict()
        for key in mine:
            np.testing.assert_allclose(np.asarray(mine[key], float), np.asarray(wanted[key], float), 1e-7, 1e-9)
        assert fit.local[node] == pytest.approx(alone.local[node])
        total += alone.local[node]
    assert fit.log_likelihood == pytest.approx(total)
    assert fit.certificate.log_likelihood == pytest.approx(total)
    assert fit.n == (WEIGHTS.sum() if weighted else N)
    assert fit.bic == pytest.approx(-2 * total + fit.n_free * math.log(fit.n))
    note = next(note.text for note in fit.notes if "rows that have all of" in note.text)
    if not weighted:
        assert all(f"{node} {rows[node]}" in note for node in list(dag.nodes)[:4])


def test_counts_are_those_of_a_slow_twin() -> None:
    fit = sf.fit(DISCRETE, DATA, missing="available")
    pairs = [(a, b) for a, b in zip(DATA["A"], DATA["B"], strict=True) if a is not None and b is not None]
    columns = {"A": [a for a, _ in pairs], "B": [b for _, b in pairs]}
    for (a, b), p in naive.mle(columns, "B", ["A"]).items():
        assert fit.model.cpd("B").table[{"A": a, "B": b}] == pytest.approx(float(p))
    present = [a for a in DATA["A"] if a is not None]
    assert fit.model.cpd("A").table[{"A": "a"}] == pytest.approx(present.count("a") / len(present))


def test_pgmpys_own_numbers() -> None:
    """The example of pgmpy's test of MaximumLikelihoodEstimator with missing data."""
    data = {"A": [0, None, 1], "B": [0, 1, 0], "C": [1, 1, None]}
    schema = {name: sf.categorical([0, 1]) for name in data}
    fit = sf.fit(sf.DAG("A -> C <- B"), data, schema=schema, missing="available", unseen_parents="uniform")
    np.testing.assert_allclose(fit.model.cpd("A").table.values, [0.5, 0.5])
    np.testing.assert_allclose(fit.model.cpd("B").table.values, [2 / 3, 1 / 3])
    wanted = [[[0.0, 1.0], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]
    np.testing.assert_allclose(fit.model.cpd("C").table.values, wanted)
    assert fit.certificate.ok, fit.certificate.verdict


def test_counts_by_hand() -> None:
    """The victims of crimes of Kadane (1985): 603 people tell of the first visit, 561 of both."""
    crimes = {
        "first": ["no", "no", "no", "yes", "yes", "yes", None, None, None],
        "second": ["no", "yes", None, "no", "yes", None, "no", "yes", None],
        "people": [392, 55, 33, 76, 38, 9, 31, 7, 115],
    }
    fit = sf.fit(sf.DAG("first -> second"), crimes, weights="people", missing="available")
    np.testing.assert_allclose(fit.model.cpd("first").table.values, [480 / 603, 123 / 603])
    np.testing.assert_allclose(fit.model.cpd("second").table.values, [[392 / 447, 55 / 447], [76 / 114, 38 / 114]])
    first = 480 * math.log(480 / 603) + 123 * math.log(123 / 603)
    second = 392 * math.log(392 / 447) + 55 * math.log(55 / 447) + 76 * math.log(76 / 114) + 38 * math.log(38 / 114)
    assert fit.log_likelihood == pytest.approx(first + second)
    assert fit.aic == pytest.approx(-2 * (first + second) + 2 * 3)
    assert fit.bic == pytest.approx(-2 * (first + second) + 3 * math.log(756))


def test_without_missing_values_it_is_the_fit_of_complete_rows() -> None:
    whole, plain = sf.fit(MIXED, WHOLE, missing="available"), sf.fit(MIXED, WHOLE)
    assert whole.log_likelihood == plain.log_likelihood
    assert whole.certificate.claim == plain.certificate.claim
    assert [note.text for note in whole.notes] == [note.text for note in plain.notes]


def test_the_certificate_holds_each_family_to_its_own_counts() -> None:
    fit = sf.fit(DISCRETE, DATA, missing="available")
    dropped = sf.fit(DISCRETE, DATA, missing="drop")
    cpds = {"A": dropped.model.cpd("A"), "B": fit.model.cpd("B")}
    model = sf.BayesianNetwork(DISCRETE, cpds)
    claim = Claim(DISCRETE, model, fit.statistics, fit.log_likelihood)
    found = certify(claim)
    assert not found.ok
    assert "'A'" in found.worst


def test_statistics_of_parts_add_up_and_ask_for_the_word() -> None:
    parts = [{name: column[low : low + 30] for name, column in DATA.items()} for low in (0, 30, 60)]
    schema = {"A": sf.categorical(["a", "b"]), "B": sf.categorical(["u", "v", "w"]), "s": sf.categorical(["hi", "lo"])}
    statistics = sum(
        (sf.collect(MIXED, part, schema=schema, missing="available") for part in parts[1:]),
        sf.collect(MIXED, parts[0], schema=schema, missing="available"),
    )
    again = sf.estimate(MIXED, statistics, missing="available")
    assert again.log_likelihood == pytest.approx(sf.fit(MIXED, DATA, missing="available").log_likelihood)
    with pytest.raises(sf.ArgumentError, match=r"lack values.*missing='available'"):
        sf.estimate(MIXED, statistics)


def test_ties_priors_and_given_rows_go_along() -> None:
    dag = sf.DAG("A; C", tie=[["A", "C"]])
    data = {"A": DATA["A"], "C": DATA["A"][::-1]}
    fit = sf.fit(dag, data, missing="available")
    present = [a for a in DATA["A"] if a is not None]
    assert fit.model.cpd("C").table[{"C": "a"}] == pytest.approx(present.count("a") / len(present))
    given = sf.fit(DISCRETE, DATA, missing="available", fixed={"A": [0.5, 0.5]})
    assert given.certificate.ok
    assert given.model.cpd("A").table[{"A": "a"}] == 0.5


@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb", "pieces", "dask"])
def test_every_engine_learns_the_same(kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(DATA)
    path = tmp_path / f"rows.{'csv' if kind == 'csv' else 'parquet'}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path, row_group_size=17)
    data: Any = str(path)
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        data = duckdb.sql(f"SELECT * FROM '{path}'")
    if kind == "dask":
        data = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)
    if kind == "pieces":
        statistics = sf.collect(MIXED, data, missing="available", checkpoint=tmp_path / "checkpoint")
        found = sf.estimate(MIXED, statistics, missing="available")
    else:
        found = sf.fit(MIXED, data, missing="available")
    assert found.certificate.ok, found.certificate.verdict
    assert found.log_likelihood == pytest.approx(sf.fit(MIXED, DATA, missing="available").log_likelihood)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: sf.fit(sf.DAG("H -> A", latent={"H": 2}), DATA, missing="available"), r"'H' is latent.*missing='em'"),
        (lambda: sf.fit(DISCRETE, DATA, missing="available", method="em"), r"'em'.*missing='em'"),
        (lambda: sf.fit(sf.Cliques("A:B"), DATA, missing="available"), "not the estimate"),
        (lambda: sf.compare({"one": DISCRETE}, DATA, missing="available"), "on different rows"),
    ],
)
def test_what_it_has_no_meaning_for_is_refused(call: Any, match: str) -> None:
    with pytest.raises(sf.SufficeError, match=match):
        call()


def test_noisy_or_nodes_are_learnt_likewise() -> None:
    rows = {
        name: [None if gone else int(v) for v, gone in zip(WHOLE["A"] == "a", GAPS[name], strict=True)] for name in "AB"
    }
    rows["y"] = [None if gone else int(v > 0) for v, gone in zip(WHOLE["y"], GAPS["y"], strict=True)]
    schema = {name: sf.categorical([0, 1]) for name in rows}
    dag = sf.DAG("A -> y <- B", kinds={"y": "noisy_or"})
    fit = sf.fit(dag, rows, schema=schema, missing="available", prior=[sf.BDeu(1), None])
    assert fit.certificate.ok, fit.certificate.verdict
    whole = [row for row in zip(*rows.values(), strict=True) if None not in row]
    kept = dict(zip(rows, map(list, zip(*whole, strict=True)), strict=True))
    assert fit.local["y"] == pytest.approx(sf.fit(dag, kept, schema=schema).local["y"])


def test_fits_are_written_and_read(tmp_path: Path) -> None:
    fit = sf.fit(MIXED, DATA, missing="available")
    sf.write(fit, tmp_path / "fit.json")
    assert str(sf.read(tmp_path / "fit.json")) == str(fit)


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(DATA).to_csv("rows.csv", index=False)
    text = good("fit", "A -> B", "rows.csv", "--missing", "available")
    assert "each family from the rows that have it" in " ".join(text.split())
    good("collect", "A -> B", "rows.csv", "--missing", "available", "--out", "rows.stats")
    assert "--missing available" in bad("estimate", "A -> B", "rows.stats")
    good("estimate", "A -> B", "rows.stats", "--missing", "available")


@pytest.mark.parametrize("prior", [None, sf.BDeu(1)])
def test_a_column_without_values_needs_declared_states(prior: Any) -> None:
    data = {"h": [None] * 4, "b": list("xyxy")}
    with pytest.raises(sf.SchemaError, match=r"No row has a value of 'h'.*schema=\{'h': \['no', 'yes'\]\}"):
        sf.fit(sf.DAG("h -> b"), data, missing="available", prior=prior)
    declared = sf.fit(sf.DAG("h -> b"), data, missing="available", prior=sf.BDeu(1), schema={"h": ["no", "yes"]})
    assert declared.model.query("b").values == pytest.approx([0.5, 0.5])
