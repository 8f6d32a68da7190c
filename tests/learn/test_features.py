"""Log-linear models from data: every method finds the optimum that brute force finds."""

from __future__ import annotations

import itertools
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.learn.feature_cases import Case, cases, matches, said

import suffice as sf
from suffice.families.features import FAMILY

SLOW = 50_000
"""Steps that plain gradients and iterative scaling may take."""
WAYS: list[dict[str, Any]] = [
    {"method": "auto"},
    {"method": "lbfgs"},
    {"method": "newton"},
    {"method": "cg"},
    {"method": "gradient", "max_iter": SLOW},
    {"method": "gis", "max_iter": SLOW},
]
ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: way["method"])
SIX = dict.fromkeys("abcdef", (0, 1))
SIX_SCOPES = [("a", "b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "a")]


def six(scopes: list[tuple[str, ...]] = SIX_SCOPES) -> Case:
    """Return a model of six variables whose graph has a cycle, as indicators of all configurations of its scopes."""
    functions = {}
    for scope in scopes:
        for labels in itertools.product((0, 1), repeat=len(scope)):
            wanted = dict(zip(scope, labels, strict=True))
            functions[said(wanted)] = matches(wanted)
    table = np.random.default_rng(6).integers(1, 40, (2,) * 6) * 1.0
    return Case(tuple(sf.indicators(*scope) for scope in scopes), functions, SIX, table)


# The optimum --------------------------------------------------------------------------------------------------


def test_every_method_is_among_those_tested() -> None:
    elsewhere = {"ipf", "proximal", "pseudo_likelihood", "stochastic", "em"}
    assert {way["method"] for way in WAYS} | elsewhere >= {*FAMILY.methods(), "auto"}


@ways
@given(case=cases())
@settings(max_examples=15)
def test_every_method_reaches_the_optimum_of_brute_force(way: dict[str, Any], case: Case) -> None:
    fit = case.fit(tol=1e-9, **way)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "yes"
    assert fit.point == "mle"
    assert tuple(fit.model.weights) == tuple(case.names)
    np.testing.assert_allclose(case.joint(fit.model), case.optimum, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(case.joint_at(fit.model.weights.to_numpy()), case.joint(fit.model), rtol=1e-9)
    assert fit.log_likelihood == pytest.approx(case.log_likelihood(case.optimum), rel=1e-9, abs=1e-7)
    assert fit.n_free == fit.n_free_adjusted == case.rank


@ways
def test_features_that_are_zero_everywhere_do_no_harm(way: dict[str, Any]) -> None:
    structure = sf.Features([sf.feature({}, over="A", name="zero"), sf.indicator(A="x")])
    fit = sf.fit(structure, {"A": ["x", "x", "y"]}, **way)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.query("A").values == pytest.approx([2 / 3, 1 / 3])
    assert fit.model.weights["zero"] == 0


def test_a_feature_that_is_zero_everywhere_can_be_the_only_one() -> None:
    fit = sf.fit(sf.Features([sf.feature({}, over="A", name="zero")]), {"A": ["x", "x", "y"]})
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.n_free == 0


def test_six_methods_agree_in_every_cell_and_scaling_never_falls() -> None:
    case = six()
    found = {}
    for method in ("gis", "ipf", "gradient", "cg", "lbfgs", "newton"):
        fit = case.fit(method=method, tol=1e-11, max_iter=SLOW)
        assert fit.certificate.ok, f"{method}: {fit.certificate.verdict}"
        found[method] = case.joint(fit.model)
        np.testing.assert_allclose(found[method], case.optimum, rtol=0, atol=1e-9)
        if method in ("gis", "ipf"):
            objectives = [step.objective for step in fit.trace]
            assert len(objectives) > 2
            assert all(b >= a - 1e-11 * abs(a) for a, b in pairwise(objectives))
            assert fit.certificate.descent is not None
            assert fit.certificate.descent <= 1e-11
    for a, b in itertools.combinations(found.values(), 2):
        assert np.abs(a - b).max() < 1e-7


def test_indicators_of_cliques_are_the_markov_random_field() -> None:
    case = six()
    cliques = sf.fit(sf.Cliques(SIX_SCOPES), case.data, tol=1e-10)
    fit = case.fit(tol=1e-10)
    assert fit.n_free == cliques.n_free
    assert fit.log_likelihood == pytest.approx(cliques.log_likelihood, rel=1e-10)
    assert fit.certificate.kl == pytest.approx(cliques.certificate.kl, rel=1e-6)


def test_a_reference_state_determines_the_weights() -> None:
    scopes = [*((name,) for name in "abcdef"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("e", "f")]
    specs = [sf.indicators(*scope, reference=True) for scope in scopes]
    fits = [sf.fit(sf.Features(specs), six().data, method=m, tol=1e-10) for m in ("lbfgs", "newton")]
    assert fits[0].n_free == len(fits[0].model.weights) == 11
    assert not any("relation" in note.text for note in fits[0].notes)
    np.testing.assert_allclose(fits[0].model.weights.to_numpy(), fits[1].model.weights.to_numpy(), atol=1e-6)


def test_variables_without_features_are_uniform() -> None:
    structure = sf.Features([sf.indicator(A="x")], variables=["A", "B"])
    fit = sf.fit(structure, {"A": ["x", "x", "y"], "B": ["u", "u", "v"]})
    assert fit.model.query("B").values == pytest.approx([0.5, 0.5])
    assert fit.log_likelihood == pytest.approx(2 * math.log(1 / 3) + math.log(1 / 6))
    assert fit.certificate.ok


def test_divergences_are_those_of_the_table() -> None:
    case = six([("a", "b"), ("b", "c"), ("c", "a"), ("d", "e")])
    case = Case(case.specs, case.functions, dict.fromkeys("abcde", (0, 1)), case.table.sum(axis=5))
    fit = case.fit()
    p, q = case.table.ravel() / case.total, case.optimum
    assert fit.certificate.kl == pytest.approx(float((p * np.log(p / q)).sum()), rel=1e-7)
    assert fit.certificate.pythagoras == pytest.approx(0, abs=1e-8)
    entropy = -float((q * np.log(q)).sum())
    assert fit.certificate.dual == pytest.approx(math.log(32) - entropy, rel=1e-7)
    assert fit.certificate.duality_gap == pytest.approx(0, abs=1e-8)


# What changes nothing -----------------------------------------------------------------------------------------


MIXED = sf.Features(
    [
        sf.indicator(A="x"),
        sf.indicator(A="x", B="u"),
        sf.product("n", "s"),
        sf.feature(lambda b, n: n * (b == "v"), over=("B", "n"), name="nv"),
    ]
)


def mixed_rows(n: int = 200, seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    a, s = rng.integers(0, 2, n), rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.4, a, rng.integers(0, 3, n))
    number = np.where(rng.random(n) < 0.4, 2 * s, rng.integers(0, 3, n))
    return {"A": np.array(["x", "y"])[a], "B": np.array(["u", "v", "w"])[b], "n": number, "s": 2 * s - 1}


def test_order_of_rows_chunks_and_threads_change_nothing(tmp_path: Path) -> None:
    rows = mixed_rows()
    whole = sf.fit(MIXED, rows)
    shuffled = np.random.default_rng(5).permutation(200)
    others = [sf.fit(MIXED, {name: column[shuffled] for name, column in rows.items()})]
    path = tmp_path / "rows.csv"
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    others.append(sf.fit(MIXED, str(path), certify="data"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.data.readers.csv_file.PIECE_BYTES", 256)
        others.append(sf.fit(MIXED, str(path)))
    before = sf.config().threads
    try:
        for threads in (1, 2):
            sf.config(threads=threads)
            others.append(sf.fit(MIXED, rows))
    finally:
        sf.config(threads=before)
    for other in others:
        assert other.certificate.ok
        np.testing.assert_array_equal(other.model.weights.to_numpy(), whole.model.weights.to_numpy())


def test_parts_can_be_collected_anywhere() -> None:
    rows = mixed_rows()
    parts = [{name: column[at::3] for name, column in rows.items()} for at in range(3)]
    collected = [sf.collect(MIXED, part, schema={"n": [0, 1, 2], "s": [-1, 1]}) for part in parts]
    fit = sf.estimate(MIXED, collected[2] + collected[0] + collected[1])
    whole = sf.fit(MIXED, rows)
    assert fit.log_likelihood == whole.log_likelihood
    np.testing.assert_array_equal(fit.model.weights.to_numpy(), whole.model.weights.to_numpy())


def test_weights_of_rows_are_frequencies() -> None:
    rows, counts = mixed_rows(60), np.random.default_rng(3).integers(1, 5, 60)
    repeated = {name: np.repeat(column, counts) for name, column in rows.items()}
    a, b = sf.fit(MIXED, rows, weights=counts), sf.fit(MIXED, repeated)
    assert a.n == b.n
    assert a.log_likelihood == pytest.approx(b.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(a.model.weights.to_numpy(), b.model.weights.to_numpy(), atol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 0.37, 1e10])
@ways
def test_scaling_all_weights_of_rows_leaves_the_estimate(way: dict[str, Any], scale: float) -> None:
    if scale == 1e10 and way["method"] in ("gis", "gradient"):
        pytest.skip("a thousandth of a standard error of 1e12 rows is too much for slow methods")
    rows = mixed_rows()
    a, b = sf.fit(MIXED, rows, tol=1e-10), sf.fit(MIXED, rows, weights=np.full(200, scale), **way)
    assert b.certificate.ok, b.certificate.verdict
    assert b.n == pytest.approx(200 * scale)
    np.testing.assert_allclose(a.model.weights.to_numpy(), b.model.weights.to_numpy(), atol=1e-5)
    assert b.log_likelihood == pytest.approx(a.log_likelihood * scale, rel=1e-9)


@pytest.mark.parametrize("many", [1e6, 1e10, 1e12])
def test_rare_cells_of_spins_among_very_many_rows_count(many: float) -> None:
    table = sf.Contingency(np.array([[many, 3], [2, many]]), {"a": [0, 1], "b": [0, 1]})
    fit = sf.fit(sf.Ising("a:b"), table)
    assert fit.certificate.ok, fit.certificate.verdict
    expected = fit.model.query(["a", "b"]).values * fit.n
    # A hundredth of a standard error of either count.
    assert expected[0, 1] == pytest.approx(3, abs=0.01 * math.sqrt(3))
    assert expected[1, 0] == pytest.approx(2, abs=0.01 * math.sqrt(2))


@pytest.mark.parametrize("many", [1e6, 1e10])
def test_rare_cells_of_indicators_among_very_many_rows_count(many: float) -> None:
    table = sf.Contingency(np.array([[many, 3], [2, many]]), {"a": [0, 1], "b": [0, 1]})
    fit = sf.fit(sf.Features([sf.indicators("a", "b")]), table)
    assert fit.certificate.ok, fit.certificate.verdict
    expected = fit.model.query(["a", "b"]).values * fit.n
    assert expected[0, 1] == pytest.approx(3, abs=0.01 * math.sqrt(3))
    assert expected[1, 0] == pytest.approx(2, abs=0.01 * math.sqrt(2))


def test_variables_without_features_are_uniform_by_proportional_fitting_too() -> None:
    structure = sf.Features([sf.indicators("A")], variables=["A", "B"])
    fit = sf.fit(structure, {"A": ["x", "x", "y"], "B": ["u", "u", "v"]}, method="ipf")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.log_likelihood == pytest.approx(2 * math.log(1 / 3) + math.log(1 / 6))


# R ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [*WAYS, {"method": "ipf"}], ids=lambda way: way["method"])
def test_hair_and_eye_colour_as_loglin_fits_them(way: dict[str, Any]) -> None:
    # loglin(HairEyeColor, list(c(1, 2), c(1, 3), c(2, 3)), fit = TRUE, eps = 1e-12), R 4.2.2
    counts = [32, 53, 10, 3, 11, 50, 10, 30, 10, 25, 7, 5, 3, 15, 7, 8,
              36, 66, 16, 4, 9, 34, 7, 64, 5, 29, 7, 5, 2, 14, 7, 8]  # fmt: skip
    wanted = [32.7924406068, 52.5214132158, 10.7598886707, 1.92625750665, 11.7443637402, 45.9339389176, 8.82044443952,
              34.5012529027, 8.44457586513, 28.1957946849, 6.91666422981, 3.44296522012, 3.01861978781, 16.3488531817,
              7.50300265993, 6.12952437058, 35.2075593932, 66.4785867842, 15.2401113293, 5.07374249335, 8.25563625978,
              38.0660610824, 8.17955556048, 59.4987470973, 6.55542413487, 25.8042053151, 7.08333577019, 6.55703477988,
              1.98138021219, 12.6511468183, 6.49699734007, 9.87047562942]  # fmt: skip
    m, fitted = (np.array(values, float).reshape(4, 4, 2, order="F") for values in (counts, wanted))
    table = sf.Contingency(m, {"hair": list("abcd"), "eye": list("abcd"), "sex": list("mf")})
    pairs = [sf.indicators(*pair) for pair in itertools.combinations(("hair", "eye", "sex"), 2)]
    fit = sf.fit(sf.Features(pairs), table, tol=1e-10, **way)
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(fit.model.query(["hair", "eye", "sex"]).values * 592, fitted, rtol=1e-6)
    assert fit.n_free == 31 - 9
    assert 2 * 592 * fit.certificate.kl == pytest.approx(6.76125041877, rel=1e-7)


# Starts and ends ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["random", {"n·s": 3.0}, [1.0, -1.0, 0.5, 2.0]], ids=["random", "name", "list"])
@ways
def test_every_start_leads_to_the_same_estimate(way: dict[str, Any], init: Any) -> None:
    rows = mixed_rows()
    fit = sf.fit(MIXED, rows, init=init, seed=4, **way)
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(fit.model.log_prob(rows), sf.fit(MIXED, rows).model.log_prob(rows), atol=1e-5)


def test_a_random_start_is_that_of_its_seed() -> None:
    starts = [
        sf.fit(MIXED, mixed_rows(), init="random", seed=s, max_iter=0).model.weights.to_numpy() for s in (1, 1, 2)
    ]
    np.testing.assert_array_equal(starts[0], starts[1])
    assert (starts[0] != starts[2]).all()


def test_a_fitted_model_is_a_start_at_the_end() -> None:
    fit = sf.fit(MIXED, mixed_rows())
    assert not sf.fit(MIXED, mixed_rows(), init=fit.model).trace


@ways
def test_too_few_steps_are_said_and_not_certified(way: dict[str, Any]) -> None:
    fit = sf.fit(MIXED, mixed_rows(), **{**way, "max_iter": 2})
    assert not fit.certificate.ok
    assert fit.certificate.exists == "yes"
    assert any("Not converged after 2 steps" in note.text for note in fit.notes)
    assert len(fit.trace) == 2


@pytest.mark.parametrize("method", ["gis", "newton"])
def test_the_objective_in_the_trace_is_the_likelihood(method: str) -> None:
    fit = sf.fit(MIXED, mixed_rows(), method=method, max_iter=SLOW)
    assert fit.trace[-1].objective == pytest.approx(fit.log_likelihood, rel=1e-9)


# Scales -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8])
@pytest.mark.parametrize("method", ["lbfgs", "newton", "cg", "gis", "pseudo_likelihood"])
def test_features_of_tiny_and_huge_scale_beside_others(method: str, scale: float) -> None:
    def structure(unit: float) -> sf.Features:
        spec = sf.feature(lambda a, n: unit * ((a == "x") - 2 * n - 0.3), over=("A", "n"), name="f")
        return sf.Features([spec, sf.product("n", "s"), sf.indicator(B="u")])

    rows = mixed_rows()
    fit, usual = (sf.fit(structure(unit), rows, method=method, max_iter=SLOW) for unit in (scale, 1.0))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.weights["f"] * scale == pytest.approx(usual.model.weights["f"], rel=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize("method", ["gis", "gradient"])
def test_slow_methods_know_scales_that_all_features_share(method: str, scale: float) -> None:
    specs = [
        sf.feature(lambda a, n: scale * ((a == "x") - 2 * n), over=("A", "n"), name="f"),
        sf.feature(lambda b: -scale * (b == "u"), over="B", name="g"),
    ]
    fit = sf.fit(sf.Features(specs), mixed_rows(), method=method, max_iter=SLOW)
    assert fit.certificate.ok, fit.certificate.verdict


@ways
def test_a_constant_added_to_a_feature_changes_nothing_but_z(way: dict[str, Any]) -> None:
    rows = mixed_rows()

    def fitted(offset: float) -> Any:
        spec = sf.feature(lambda a, n: offset + (a == "x") - 2 * n, over=("A", "n"), name="f")
        fit = sf.fit(sf.Features([spec, sf.product("n", "s")]), rows, **way)
        assert fit.certificate.ok, fit.certificate.verdict
        return fit.model.weights.to_numpy()

    np.testing.assert_allclose(fitted(-1000.0), fitted(0.0), atol=1e-6)


# Dependence ---------------------------------------------------------------------------------------------------


def test_relations_between_features_are_said() -> None:
    fit = sf.fit(sf.Features([sf.indicators("A"), sf.indicator(A="x", name="again")]), {"A": list("xxy")})
    (note,) = [note.text for note in fit.notes if "relation" in note.text]
    assert "2 relations" in note
    assert "[again] = [A=x]" in note
    assert fit.n_free == 1
    assert fit.model.query("A").values == pytest.approx([2 / 3, 1 / 3])


def test_a_constant_feature_is_said_to_be_one() -> None:
    fit = sf.fit(sf.Features([sf.feature(lambda a: 7.0, over="A", name="seven")]), {"A": list("xxy")})
    assert any("[seven] = constant" in note.text for note in fit.notes)
    assert fit.n_free == 0
    assert fit.model.query("A").values == pytest.approx([0.5, 0.5])


def test_features_that_add_up_to_a_constant_are_found_where_all_but_one_are_rare() -> None:
    first = [144792225, 9, 266, 1, 1853, 1, 27, 1, 1, 1, 1, 1, 3841, 1, 4, 1, 1, 1]
    counts = [*first, 2, 1, 1, 1, 1, 1, 33, 1, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    cells = list(itertools.product("xyz", "uv", "pqr", "uv"))
    rows = {name: [cell[at] for cell in cells] for at, name in enumerate("ABCD")}
    specs = [sf.indicator(A="x"), sf.indicator(B="u"), sf.indicator(A="y", B="v"), sf.indicators("C", "D")]
    fit = sf.fit(sf.Features(specs), rows, weights=counts)
    assert fit.certificate.ok, fit.certificate.verdict


@given(cases())
@settings(max_examples=30)
def test_relations_are_as_many_as_weights_without_a_say(case: Case) -> None:
    fit = case.fit(method="newton", prior=sf.Gaussian(1.0))
    found = [note.text for note in fit.notes if "between the features" in note.text]
    lost = len(case.names) - case.rank
    assert len(found) == bool(lost)
    if lost:
        assert found[0].startswith(f"{lost} relation{'s' if lost > 1 else ''} ")


# Errors -------------------------------------------------------------------------------------------------------


def many(n: int) -> dict[str, list[int]]:
    return {f"v{i}": [0, 1] for i in range(n)}


@pytest.mark.parametrize(
    ("structure", "rows", "options", "says"),
    [
        (sf.Features([sf.indicator(Z=1)]), many(2), {}, "'Z'"),
        (sf.Features([sf.indicator(v0=7)]), many(2), {}, "no state 7"),
        (sf.Features([sf.feature(lambda x: 1 / x, over="v0")]), many(1), {}, "raised ZeroDivisionError at v0=0"),
        (sf.Features([sf.feature(lambda x: math.nan, over="v0")]), many(1), {}, "nan at v0=0"),
        (sf.Features([sf.feature(lambda *x: 1, over=list(many(40)))]), many(40), {}, "is over 40 variables"),
        (sf.Features([sf.indicators(*many(40))]), many(40), {}, "weights, more than"),
        (sf.Boltzmann(list(many(60))), many(60), {}, "too wide for exact expectations.*pseudo_likelihood"),
        (sf.Features([sf.product("v0")]), many(1), {"prior": sf.BDeu(1)}, "must be a penalty"),
        (sf.Features([sf.product("v0")]), many(1), {"fixed": {"v0": [0.5, 0.5]}}, "'fixed'"),
        (sf.Features([sf.product("v0")]), many(1), {"method": "ipf"}, "whole tables"),
        (sf.Features([sf.product("v0")]), many(1), {"method": "gis", "prior": sf.Gaussian(1)}, "is a penalty"),
        (sf.Features([sf.product("v0")]), many(1), {"method": "newton", "prior": sf.Laplace(1)}, "none at zero"),
        (sf.Features([sf.product("v0")]), many(1), {"prior": sf.Gaussian(1), "point": "mean"}, "'mean'"),
        (sf.Features([sf.product("v0")]), {"v0": []}, {"schema": {"v0": [0, 1]}}, "nothing to learn from"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted_is_refused(structure: Any, rows: Any, options: Any, says: str) -> None:
    with pytest.raises(sf.SufficeError, match=says):
        sf.fit(structure, rows, **options)


def test_a_continuous_variable_without_support_is_refused_with_the_remedy() -> None:
    with pytest.raises(sf.SchemaError, match="support="):
        sf.fit(sf.Features([sf.product("x")]), {"x": [0.1, 0.2]})


def test_powers_of_a_year_are_told_apart() -> None:
    """Three features that are nearly multiples of each other; in centred years they are not, and all is the same."""
    years = np.random.default_rng(7).choice(np.arange(1950, 1960), 300)
    powers = [sf.product("y"), sf.product("y", "y"), sf.product("y", "y", "y")]
    # Cubes of years leave the gradient few digits: which of its last ones remain depends on the processor.
    fit, near = sf.fit(sf.Features(powers), {"y": years}, tol=1e-6), sf.fit(sf.Features(powers), {"y": years - 1955})
    for one in (fit, near):
        assert one.certificate.ok, one.certificate.verdict
    assert fit.n_free == near.n_free == 3
    assert fit.log_likelihood == pytest.approx(near.log_likelihood, abs=1e-5)
    assert not any("relation" in note.text for note in fit.notes)
