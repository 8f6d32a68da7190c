"""What a comparison says: criteria, differences, the best, notes, and how it is shown."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

import suffice as sf
from suffice.comparison.comparison import ComparedModel, Comparison
from suffice.io.own_json import plain

_RNG = np.random.default_rng(7)
_A = _RNG.integers(0, 2, 80)
_B = np.where(_RNG.random(80) < 0.3, 1 - _A, _A)
DATA = {
    "A": np.array(["x", "y"])[_A].tolist(),
    "B": np.array(["u", "v"])[_B].tolist(),
    "C": _RNG.choice(["p", "q"], 80).tolist(),
}
MODELS = {"chain": sf.DAG("A -> B -> C"), "free": sf.Cliques("A + B + C"), "all": sf.Cliques("A:B:C")}


@pytest.fixture(scope="module")
def found() -> Comparison:
    return sf.compare(MODELS, DATA, folds=4)


def test_criteria_are_those_of_the_fits(found: Comparison) -> None:
    for name, structure in MODELS.items():
        fit = sf.fit(structure, DATA)
        row = found[name]
        assert row.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-12)
        assert (row.n_free, row.n_free_adjusted) == (fit.n_free, fit.n_free_adjusted)
        assert (row.aic, row.bic) == pytest.approx((fit.aic, fit.bic), rel=1e-12)
        assert row.fit.certificate.ok
        assert row.fit.n == fit.n == found.n == 80
        assert str(row.fit) == str(fit)
    assert list(found.fits) == [row.name for row in found] == list(MODELS)
    assert len(found) == 3


def test_differences_are_from_the_best(found: Comparison) -> None:
    frame = found.to_frame()
    for name in ("aic", "bic"):
        assert frame[f"{name}_difference"].tolist() == pytest.approx(
            (frame[name] - frame[name].min()).tolist(), abs=1e-9
        )
        assert found.best(name) == frame["model"][frame[name].argmin()]
    assert frame["cv_difference"].tolist() == pytest.approx((frame["cv"] - frame["cv"].max()).tolist(), abs=1e-9)
    assert found.best("cv") == frame["model"][frame["cv"].argmax()]
    assert found.best("log_likelihood") == "all"
    assert found.best() == found.best("bic")


def test_frames_come_in_the_kind_that_is_asked_for(found: Comparison) -> None:
    table = found.to_frame("pyarrow")
    assert isinstance(table, pa.Table)
    assert table.column("model").to_pylist() == list(MODELS)


def test_evidence_is_compared_where_all_models_have_it() -> None:
    both = sf.compare({"a": sf.DAG("A -> B; C"), "b": sf.Cliques("A:B + C")}, DATA, prior=sf.BDeu(1), folds=None)
    assert both["a"].log_marginal_likelihood == pytest.approx(both["b"].log_marginal_likelihood, rel=1e-10)
    assert both.best("log_marginal_likelihood") == "a"  # of equals the first
    assert "log marginal likelihood prefer 'a'" in both.verdict
    assert both.tests == ()
    one = sf.compare({"a": {"structure": sf.DAG("A -> B; C"), "prior": sf.BDeu(1)}, "b": sf.DAG("A; B; C")}, DATA,
                     folds=None)  # fmt: skip
    assert "log p(data)" in str(one)
    assert "marginal" not in one.verdict
    with pytest.raises(sf.ArgumentError, match="not all models have one"):
        one.best("log_marginal_likelihood")


def test_models_may_have_settings_of_their_own_and_fits_stand_for_theirs() -> None:
    fits = {"own": sf.fit(sf.DAG("A -> B; C"), DATA, prior=sf.K2(), point="map"), "mle": sf.fit(MODELS["all"], DATA)}
    from_fits = sf.compare(fits, DATA, folds=3)
    given = {"own": {"structure": sf.DAG("A -> B; C"), "prior": sf.K2(), "point": "map"}, "mle": MODELS["all"]}
    from_settings = sf.compare(given, DATA, folds=3)
    assert from_fits.to_frame().equals(from_settings.to_frame())
    assert [row.fit.point for row in from_fits] == ["map", "mle"]


def test_all_kinds_of_tables_give_the_same_comparison(tmp_path: Path) -> None:
    frame = pa.table(DATA)
    write_table(frame, tmp_path / "t.parquet")
    lines = [",".join(DATA), *map(",".join, zip(*DATA.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join([*lines, ""]))
    expected = sf.compare(MODELS, DATA, folds=4).to_frame("pyarrow")
    for data in (frame, frame.to_pandas(), tmp_path / "t.parquet", tmp_path / "t.csv", frame.to_reader(7)):
        assert sf.compare(MODELS, data, folds=4).to_frame("pyarrow").equals(expected)


def test_seeds_decide_the_folds(found: Comparison) -> None:
    assert sf.compare(MODELS, DATA, folds=4)["chain"].cv == found["chain"].cv
    assert sf.compare(MODELS, DATA, folds=4, seed=1)["chain"].cv != found["chain"].cv


def test_folds_can_be_left_out() -> None:
    found = sf.compare(MODELS, DATA, folds=None)
    assert found["chain"].cv is found["chain"].cv_standard_error is None
    assert "cross-validated" not in str(found)
    with pytest.raises(sf.ArgumentError, match="no cross-validation; pass folds=10"):
        found.best("cv")


def test_it_prints_aligned_tables_and_a_verdict(found: Comparison) -> None:
    text = str(found)
    assert text.startswith("3 models of 80 rows\n\nmodel  log-likelihood")
    assert "\nmodel  cross-validated  std. error" in text
    assert "\nmodel  inside" in text
    assert found.verdict in " ".join(text.split())
    assert "prefer" in found.verdict
    for block in text.split("\n\n")[1:4]:
        rule = block.splitlines()[1]
        assert set(rule) == {"-", " "}
        assert all(len(line) <= len(rule) for line in block.splitlines())


def test_html_shows_names_as_text() -> None:
    name = "<script>alert(1)</script>"
    html = sf.compare({name: sf.DAG("A; B"), "b": sf.DAG("A -> B")}, DATA, folds=None)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<table>") == 2


def test_it_can_be_written_as_json(found: Comparison) -> None:
    entry = json.loads(json.dumps(plain(found.to_dict())))
    assert [model["model"] for model in entry["models"]] == list(MODELS)
    assert entry["best"]["bic"] == found.best("bic")
    assert entry["tests"][0]["df"] == found.tests[0].df


def test_results_are_frozen(found: Comparison) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.n = 3.0  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.rows[0].name = "x"  # type: ignore[misc]
    assert isinstance(found.rows[0], ComparedModel)


def test_folds_that_do_not_tell_models_apart_are_named() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    data = {"x": x, "y": x + rng.normal(size=400), "z": rng.normal(size=400)}
    clear = sf.compare({"edge": sf.DAG("x -> y; z"), "free": sf.DAG("x; y; z")}, data)
    assert clear.verdict == "AIC, BIC and cross-validation prefer 'edge'."
    close = sf.compare({"edge": sf.DAG("x -> y; z"), "more": sf.DAG("x -> y; x -> z")}, data)
    assert "do not tell 'edge' and 'more' apart" in close.verdict


def test_equal_models_are_equal_whatever_the_rounding() -> None:
    rng = np.random.default_rng(1)
    data = dict(zip("xyz", rng.normal(1e6, 1.0, (3, 50)), strict=True))
    found = sf.compare({"dag": sf.DAG("z -> y -> x"), "graph": sf.GaussianMarkov("x:y + y:z")}, data)
    assert [found.best(name) for name in ("aic", "bic", "cv")] == ["dag"] * 3
    assert found.to_frame()["cv_difference"].tolist() == [0.0, 0.0]
    assert "'dag' and 'graph' say the same" in str(found)


def test_one_model_is_described_without_a_preference() -> None:
    assert "one model only" in sf.compare({"a": sf.DAG("A -> B")}, DATA, folds=None).verdict


def test_chains_have_the_criteria_of_their_orders() -> None:
    data = ["abab", "abba", "babab"]
    found = sf.compare({"none": sf.MarkovChain(order=0), "one": sf.MarkovChain(order=1)}, data)
    orders = sf.chain_orders(data, up_to=1)
    assert [row.aic for row in found] == pytest.approx([orders[0].aic, orders[1].aic])
    assert found.heading == "2 models of 13 symbols"
    assert "3 sequences cannot be divided into 10 folds" in str(found)
    assert found["one"].cv is None


# Refusals -----------------------------------------------------------------------------------------------------


def test_models_of_other_variables_are_named() -> None:
    with pytest.raises(sf.ArgumentError, match=r"'a' and 'b'.*\['C'\] is in 'b' only"):
        sf.compare({"a": sf.DAG("A -> B"), "b": sf.DAG("A -> B; C")}, DATA)


def test_errors_of_a_fit_name_its_model() -> None:
    with pytest.raises(sf.UnknownNameError, match="Model 'b': There is no method 'ipf'"):
        sf.compare({"a": sf.Cliques("A + B"), "b": sf.DAG("A; B")}, DATA, method="ipf")


def test_a_density_and_a_table_are_not_compared() -> None:
    data: dict[str, Any] = {"n": [1, 2, 3, 2, 1, 2], "m": [1.0, 2.0, 2.5, 1.0, 2.0, 3.0]}
    with pytest.raises(sf.ArgumentError, match=r"'table' counts the states of 'n'.*\['normal'\] has a density"):
        sf.compare({"normal": sf.MultivariateNormal(["n", "m"]), "table": sf.Cliques("n:m")}, data, folds=None)


def test_a_fit_of_other_rows_is_refused() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {name: values[:10] for name, values in DATA.items()})
    with pytest.raises(sf.ArgumentError, match="The fit 'a' is not of these rows"):
        sf.compare({"a": fit}, DATA)
