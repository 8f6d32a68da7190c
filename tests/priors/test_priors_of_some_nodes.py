"""Priors for some nodes of a network, and maximum likelihood for the others."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest
from tests.command_line import bad, good

import suffice as sf
from suffice.certify.claim import Claim
from suffice.cli.priors import read_priors
from suffice.families.proof import certify
from suffice.priors.binding import one_prior
from suffice.priors.registry import prior_from_dict
from suffice.report import cpt_bars, posterior_plot

RNG = np.random.default_rng(7)
N = 60
A = RNG.integers(0, 2, N)
X = RNG.normal(size=N).round(3) + A
ALL = {
    "A": A.tolist(),
    "B": np.where(RNG.random(N) < 0.3, 1 - A, A).tolist(),
    "x": X.tolist(),
    "s": np.where(X + RNG.normal(size=N) > 0.5, "hi", "lo").tolist(),
}
DAG = sf.DAG("A -> B; A -> x; x -> s")
SEPARATED = {**ALL, "s": np.where(X > 0.5, "hi", "lo").tolist()}
KINDS = {"B": {"kind": "noisy_or"}}
PARTIAL: dict[str, Any] = {
    "a kind and None": [sf.Gaussian(10), None],
    "tables and None": [sf.BDeu(2), None],
    "regressions and None": [sf.NormalInverseGamma(2, 1.0), None],
    "a node": {"s": sf.Gaussian(10)},
    "two nodes": {"A": sf.BDeu(2), "x": sf.NormalInverseGamma(2, 1.0)},
    "a node without, its kind with": [sf.BDeu(2), {"B": None}, None],
    "a node of its own, its kind otherwise": [sf.BDeu(2), {"B": sf.K2()}, None],
}


def equal(first: Any, second: Any) -> bool:
    """Whether two distributions have the same numbers, to rounding."""
    one, two = first.to_dict(), second.to_dict()
    return all(np.allclose(np.asarray(one[key], float), np.asarray(two[key], float), 1e-9, 1e-12) for key in one)


@pytest.mark.parametrize("prior", PARTIAL.values(), ids=PARTIAL)
def test_every_node_has_its_prior_or_the_maximum_of_its_likelihood(prior: Any) -> None:
    fit = sf.fit(DAG, ALL, prior=prior)
    assert fit.certificate.ok, fit.certificate.verdict
    several = one_prior(prior)
    kinds = {"A": "tabular", "B": "tabular", "x": "linear_gaussian", "s": "softmax"}
    bare = []
    for node, kind in kinds.items():
        mine = several.of_kind(kind, fit.model.cpd(node).family)
        family = sf.DAG({node: DAG.parents[node], **dict.fromkeys(DAG.parents[node], ())})
        alone = sf.fit(family, ALL, prior=None if mine is None else {node: mine}, point=mine and fit.point)
        assert equal(fit.model.cpd(node), alone.model.cpd(node)), node
        bare += [node] if mine is None else []
    assert "; maximum likelihood of " + ", ".join(map(repr, bare)) in fit.certificate.claim
    notes = [note.text for note in fit.notes if "having no prior" in note.text]
    assert notes == [f"{', '.join(bare)}: fitted by maximum likelihood, having no prior."]
    assert fit.posterior is None
    assert fit.log_marginal_likelihood is None


def test_the_certificate_measures_nodes_without_a_prior_against_the_data() -> None:
    fit = sf.fit(DAG, ALL, prior=[sf.BDeu(2), None])
    model = fit.model
    worse = {node: model.cpd(node) for node in model.dag.nodes}
    plain = sf.fit(DAG, ALL, prior=[sf.NormalInverseGamma(2, 1.0), None])
    worse["x"] = plain.model.cpd("x")
    claim = Claim(DAG, sf.BayesianNetwork(DAG, worse), fit.statistics, fit.log_likelihood, "mean", fit.prior)
    assert not certify(claim).ok


def test_regressions_without_a_prior_have_standard_errors() -> None:
    fit = sf.fit(sf.DAG("A -> x"), ALL, prior={"A": sf.BDeu(2)})
    np.testing.assert_allclose(fit.coefficients("x").se, sf.fit(sf.DAG("A -> x"), ALL).coefficients("x").se)
    fit = sf.fit(sf.DAG("A -> x"), ALL, prior={"x": sf.NormalInverseGamma(2, 1.0)})
    with pytest.raises(sf.EstimationError, match="Fit without a prior on it"):
        fit.coefficients("x")


def _intervals(fit: Any) -> str:
    with pytest.raises(sf.SufficeError) as raised:
        fit.query("A", interval=0.9)
    return str(raised.value)


def test_why_there_is_no_posterior_is_said() -> None:
    tables = sf.fit(sf.DAG("A -> B"), ALL, prior={"A": sf.BDeu(2)})
    said = _intervals(tables)
    assert "need a prior on every node" in said
    assert "['B'] have none" in said
    assert "['B'] have none" in _refused(posterior_plot, tables, "A")
    assert "['B'] have none" in _refused(cpt_bars, tables, "A")
    pasted = eval(re.search(r"prior=(sf\.\w+\([\d.]+\))", said)[1])  # type: ignore[index]
    assert sf.fit(sf.DAG("A -> B"), ALL, prior=pasted).query("A", interval=0.9).level == 0.9
    mixed = sf.fit(DAG, ALL, prior={"s": sf.Gaussian(10)})
    assert "networks of tables, but node 'x' is of kind 'linear_gaussian'. Leave 'interval' out" in _intervals(mixed)
    assert "['s'] is a penalty" in _refused(posterior_plot, mixed, "x")
    some = sf.fit(sf.DAG("A -> x"), ALL, prior={"A": sf.BDeu(2)})
    said = _refused(posterior_plot, some, "A")
    pasted = eval(re.search(r"prior=(\[.*\])\.", said)[1])  # type: ignore[index]
    assert sf.fit(sf.DAG("A -> x"), ALL, prior=pasted).posterior is not None
    gap = {**ALL, "A": [None, *ALL["A"][1:]]}
    incomplete = sf.fit(sf.DAG("A -> B"), gap, schema={"A": sf.categorical()}, missing="em", prior=sf.BDeu(2))
    assert "no closed form" in _intervals(incomplete)
    assert "fit.standard_errors(data)" in _intervals(incomplete)
    assert incomplete.standard_errors(gap) is not None
    assert "Fit with a prior, such as prior=sf.NormalInverseGamma(2, 1.0)" in _refused(
        posterior_plot, sf.fit(sf.DAG("x"), ALL), "x"
    )


def _refused(draw: Any, fit: Any, node: str) -> str:
    with pytest.raises(sf.ArgumentError) as raised:
        draw(fit, node)
    return str(raised.value)


def test_noisy_or_nodes_may_stand_beside_nodes_with_priors() -> None:
    dag = sf.DAG("A -> B; A -> x", kinds=KINDS)
    fit = sf.fit(dag, ALL, prior=[sf.BDeu(2), sf.NormalInverseGamma(2, 1.0), None])
    assert fit.certificate.ok, fit.certificate.verdict
    assert equal(fit.model.cpd("B"), sf.fit(dag, ALL).model.cpd("B"))
    assert "maximum likelihood of 'B', which has no prior" in fit.certificate.claim


def test_tied_nodes_have_the_prior_of_the_first() -> None:
    dag = sf.DAG("A; B", tie=[["A", "B"]])
    fit = sf.fit(dag, ALL, prior=[{"A": sf.BDeu(2)}])
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.claim == "posterior mean, which is no optimum"
    with pytest.raises(sf.StructureError, match="under the first of them, 'A'"):
        sf.fit(dag, ALL, prior={"B": sf.BDeu(2)})


@pytest.mark.parametrize("prior", PARTIAL.values(), ids=PARTIAL)
def test_fits_with_such_priors_are_written_and_read(prior: Any, tmp_path: Any) -> None:
    fit = sf.fit(DAG, ALL, prior=prior)
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json")
    assert again.prior == fit.prior
    assert str(again) == str(fit)
    several = one_prior(prior)
    assert pickle.loads(pickle.dumps(several)) == several
    assert hash(prior_from_dict(several.to_dict())) == hash(several)


@pytest.mark.parametrize("gap", ["x", "B"])
def test_em_takes_such_priors(gap: str) -> None:
    data = {**ALL, gap: [None if row % 9 == 0 else value for row, value in enumerate(ALL[gap])]}
    dag = sf.DAG("A -> B; A -> x")
    fit = sf.fit(dag, data, missing="em", prior={"A": sf.BDeu(2)}, point="map")
    assert fit.certificate.ok, fit.certificate.verdict
    assert any("having no prior" in note.text for note in fit.notes)


def test_em_takes_a_penalty_on_softmax_nodes() -> None:
    data = {**SEPARATED, "B": [None if row % 9 == 0 else value for row, value in enumerate(ALL["B"])]}
    with pytest.raises(sf.EstimationError) as refused:
        sf.fit(DAG, data, missing="em")
    fit = sf.fit(DAG, data, missing="em", prior=pasted(refused.value))
    assert fit.certificate.ok, fit.certificate.verdict
    assert equal(fit.model.cpd("s"), sf.fit(DAG, SEPARATED, prior={"s": sf.Gaussian(10)}).model.cpd("s"))


def pasted(error: Exception, which: int = 0) -> Any:
    """Return one of the priors that an error proposes, read as Python."""
    found = re.findall(r"prior=(\[.*?\]|\{.*?\}|sf\.\w+\([^)]*\))", str(error))
    return eval(found[which], {"sf": sf})


REFUSED: dict[str, tuple[Any, Any, Any]] = {
    "a penalty on tables": (DAG, ALL, sf.Gaussian(10)),
    "a prior on tables alone": (DAG, ALL, sf.BDeu(2)),
    "a prior on regressions alone": (DAG, ALL, sf.NormalInverseGamma(2, 1.0)),
    "two kinds of three": (sf.DAG("A -> B; A -> x"), ALL, sf.BDeu(2)),
    "noisy-OR": (sf.DAG("A -> B", kinds=KINDS), ALL, sf.BDeu(2)),
    "noisy-OR and a regression": (sf.DAG("A -> B; A -> x", kinds=KINDS), ALL, sf.BDeu(2)),
    "a prior of another kind for a node": (DAG, ALL, {"x": sf.BDeu(2)}),
    "separated states": (DAG, SEPARATED, None),
    "separated states, the others with priors": (DAG, SEPARATED, [sf.BDeu(2), None]),
    "a constant parent": (sf.DAG("x -> s"), {"x": [1.0] * 4, "s": list("abab")}, {"x": sf.NormalInverseGamma(2, 1.0)}),
    "a constant column": (sf.DAG("x; y"), {"x": [1.0] * 4, "y": [1.0, 2.0, 1.5, 0.0]}, None),
    "collinear parents": (sf.DAG("x -> z <- y"), {"x": X, "y": X * 2, "z": X + A}, None),
    "a regression without data": (sf.DAG("A -> x"), {"A": [0] * 4, "x": [1.0, 2.0, 1.5, 0.0]}, None),
    "a row of a table without data": (
        sf.DAG("A -> B; x"),
        {"A": [0] * 4, "B": list("aabb"), "x": [1.0, 2.0, 1.5, 0.0]},
        None,
    ),
    "a configuration without data": (
        sf.DAG("x -> s <- A"),
        {"x": [1.0, 2.0, 3.0, 1.5], "s": list("abab"), "A": [0, 0, 0, 0]},
        None,
    ),
}


@pytest.mark.parametrize(("dag", "data", "prior"), REFUSED.values(), ids=REFUSED)
def test_every_remedy_works_when_pasted(dag: Any, data: Any, prior: Any) -> None:
    schema = {"A": sf.categorical([0, 1])} if "A" in data else None
    with pytest.raises(sf.SufficeError) as refused:
        sf.fit(dag, data, prior=prior, schema=schema)
    n = len(re.findall(r"prior=", str(refused.value)))
    assert n, str(refused.value)
    for which in range(n):
        remedy = pasted(refused.value, which)
        if isinstance(remedy, dict) and isinstance(prior, dict):
            remedy = {**prior, **remedy}  # another node has one already
        fit = sf.fit(dag, data, prior=remedy, schema=schema)
        assert fit.certificate.ok, fit.certificate.verdict


def test_a_list_that_lacks_a_kind_is_completed_by_what_the_error_names() -> None:
    with pytest.raises(sf.EstimationError, match=r"Add one, such as sf\.NormalInverseGamma\(2, 1\.0\), or None"):
        sf.fit(sf.DAG("A -> x"), ALL, prior=[sf.BDeu(2)])
    for more in (sf.NormalInverseGamma(2, 1.0), None):
        assert sf.fit(sf.DAG("A -> x"), ALL, prior=[sf.BDeu(2), more]).certificate.ok
    with pytest.raises(sf.EstimationError, match=r"That kind has none\. Add None"):
        sf.fit(sf.DAG("A -> B", kinds=KINDS), ALL, prior=[sf.BDeu(2)])


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        ([None], "at least one prior"),
        ([{"A": None}], "at least one prior"),
        ({"A": sf.BDeu(1), "B": 3}, "Got 3 instead"),
        ({"A": sf.BDeu}, "Got "),
        ({1: sf.BDeu(1)}, "by its name"),
        ([{"A": sf.BDeu(1)}, {"A": sf.K2()}], "two entries for the prior of node 'A'"),
        ([[sf.BDeu(1)]], "must be a prior on nodes"),
        ({"C": sf.BDeu(1)}, "'C', which is not a node"),
        ({}, "must be a prior such as"),
    ],
)
def test_what_is_no_such_prior_is_refused(prior: Any, match: str) -> None:
    with pytest.raises(sf.SufficeError, match=match):
        sf.fit(sf.DAG("A -> B"), ALL, prior=prior)


def test_hypotheses_keep_their_mappings_to_numbers() -> None:
    prior = {"fair": 0.25, "bent": 0.75}
    assert one_prior(prior) is prior


@pytest.mark.parametrize(
    ("texts", "prior"),
    [
        (["gaussian:10", "none"], [sf.Gaussian(10.0), None]),
        (["s=gaussian:10"], {"s": sf.Gaussian(10.0)}),
        (["s=gaussian:10", "bdeu:2"], [{"s": sf.Gaussian(10.0)}, sf.BDeu(2.0)]),
        (["s=none", "bdeu:2"], [{"s": None}, sf.BDeu(2.0)]),
        (["a=b=k2"], {"a=b": sf.K2()}),
        (["a:b=k2"], {"a:b": sf.K2()}),
    ],
)
def test_the_command_line_says_the_same(texts: list[str], prior: Any) -> None:
    assert one_prior(read_priors(texts)) == one_prior(prior)


def test_fit_on_the_command_line(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [",".join(map(str, row)) for row in zip(*ALL.values(), strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join([",".join(ALL), *rows]) + "\n", encoding="utf-8")
    assert "--prior bdeu:10 --prior none" in bad("fit", "A -> x", "rows.csv", "--prior", "bdeu:1")
    for options in (["--prior", "bdeu:1", "--prior", "none"], ["--prior", "A=bdeu:1"]):
        text = " ".join(good("fit", "A -> x", "rows.csv", *options).split())
        assert "maximum likelihood of 'x', which has no prior" in text
    assert "two priors for the node 'A'" in bad("fit", "A -> x", "rows.csv", "--prior", "A=k2", "--prior", "A=bdeu:1")
    assert "NODE=bdeu:10" in bad("fit", "A -> x", "rows.csv", "--prior", "A=beta:1")
