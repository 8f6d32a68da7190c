"""Log-linear models in the library's own JSON: each kind is read back exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.copies import answers, check_copies, contents

import suffice as sf
from suffice.models.conditional_log_linear import ConditionalLogLinear
from suffice.models.log_linear import LogLinear
from suffice.models.log_linear_density import LogLinearDensity
from suffice.structures.feature_files import TabulatedSpec

RNG = np.random.default_rng(6)
N = 80
DATA: dict[str, Any] = {
    "A": RNG.choice(["no", "yes"], N),
    "B": RNG.choice(["no", "yes"], N),
    "u": RNG.choice([0, 1, 2], N),
    "v": RNG.choice([-1, 1], N),
    "x": RNG.normal(size=N),
    **{name: RNG.choice(["a", "b"], N) for name in ("c1", "c2", "c3")},
}
LETTERS = ["c1", "c2", "c3"]
HALF_SEEN = {"A": ["yes", "no", "no"], "B": ["yes", "yes", "no"]}
"""A=yes and B=no never occur together, so that their weight runs away."""


def same(a: str, b: str) -> float:
    return 0.1 + (a == b)


def fit(*features: Any, data: Any = DATA, structure: dict[str, Any] | None = None, **keywords: Any) -> sf.Fit:
    return sf.fit(sf.Features(list(features), **(structure or {})), data, **keywords)


EDGE, ALONE = sf.indicator(A="yes", B="no"), sf.indicator(A="yes")
SLOPE = sf.product("x", sf.indicators("u", reference=True))

KINDS: dict[str, Callable[[], sf.Fit]] = {
    "plain": lambda: fit(EDGE, sf.product("u", "v"), sf.indicators("A", "u", reference=True)),
    "gaussian": lambda: fit(EDGE, ALONE, prior=sf.Gaussian(0.7)),
    "laplace": lambda: fit(EDGE, ALONE, sf.indicators("u"), prior=sf.Laplace(0.3, main=math.inf)),
    "newton": lambda: fit(EDGE, ALONE, method="newton", certify="data"),
    "gis": lambda: fit(EDGE, ALONE, method="gis"),
    "ipf": lambda: fit(sf.indicators("A", "B"), sf.indicators("B", "u"), method="ipf"),
    "not converged": lambda: fit(EDGE, ALONE, method="gis", max_iter=1),
    "function": lambda: fit(sf.feature(same, over=("A", "B")), sf.product("u", "v")),
    "product with a function": lambda: fit(sf.product("u", sf.feature(same, over=("A", "B")))),
    "windows with a function": lambda: fit(sf.windows(same, width=2, over=LETTERS)),
    "table": lambda: fit(sf.feature({("yes", "no"): 1.5, ("no", "no"): -0.25}, over=("A", "B"), name="t")),
    "empty table": lambda: fit(sf.feature({}, over="A", name="nothing"), EDGE),
    "windows": lambda: fit(sf.windows(["ab", "aba"], over=LETTERS)),
    "all windows": lambda: fit(sf.windows(over=LETTERS, width=2), prior=sf.Gaussian(1.0)),
    "tie": lambda: fit(ALONE, sf.indicator(B="no"), structure={"tie": {"both": ["A=yes", "B=no"]}}),
    "named": lambda: fit(sf.indicator({"A": "yes"}, name="smokes"), sf.product("u", name="amount")),
    "unused variable": lambda: fit(ALONE, structure={"variables": ["B", "A"]}),
    "boundary": lambda: fit(ALONE, EDGE, data=HALF_SEEN),
    "pseudo-likelihood": lambda: sf.fit(sf.Ising("A:B + B:v"), DATA, method="pseudo_likelihood"),
    "ising": lambda: sf.fit(sf.Ising("v:B + B:A", values=(0, 2), tie="couplings", fields=False), DATA),
    "boltzmann": lambda: sf.fit(sf.Boltzmann(["A", "B", "v"]), DATA, prior=sf.Gaussian(1.0)),
    "potts": lambda: sf.fit(sf.Potts("c1:c2 + c3", tie="fields"), DATA),
    "conditional": lambda: fit(SLOPE, sf.indicators("u", "A"), structure={"given": ["x", "A"]}),
    "conditional gis": lambda: fit(EDGE, ALONE, structure={"given": ["B"]}, method="gis"),
    "conditional function": lambda: fit(sf.feature(same, over=("A", "B")), structure={"given": ["B"]}),
    "density": lambda: fit(sf.product("x"), sf.product("x", "x"), structure={"support": {"x": (-math.inf, math.inf)}}),
    "density and states": lambda: fit(SLOPE, sf.indicators("u"), structure={"support": {"x": (-6, 6)}}),
    "maxent": lambda: sf.maxent(sf.Features([sf.product("u")]), [1.2], over={"u": [0, 1, 2]}),
    "maxent with base": lambda: sf.maxent(sf.Features([sf.product("u")]), [1.2], over={"u": [0, 1, 2]}, base=[1, 2, 3]),
}  # fmt: skip
FUNCTIONS = ("function", "product with a function", "windows with a function", "conditional function")


def found_rows(found: sf.Fit) -> dict[str, Any]:
    if set(found.model.variables) == {"A", "B"} and found.n == 3:
        return HALF_SEEN
    return {name: DATA[name] for name in found.model.variables}


@pytest.fixture(scope="module")
def fits() -> dict[str, sf.Fit]:
    return {name: make() for name, make in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_fit_can_be_copied_and_saved(tmp_path: Path, fits: dict[str, sf.Fit], kind: str) -> None:
    fit, rows = fits[kind], found_rows(fits[kind])
    if kind in FUNCTIONS:  # which a file holds as tables, and a pickle cannot hold
        sf.write(fit, tmp_path / "tables.json")
        found = sf.read(tmp_path / "tables.json")
        assert found.structure != fit.structure
        assert answers(found.model, rows) == answers(fit.model, rows)
        for name in ("certificate", "statistics", "trace", "notes", "log_likelihood", "n_free", "n_free_adjusted"):
            assert contents(getattr(found, name)) == contents(getattr(fit, name))
        assert str(found) == str(fit)
        fit = found
    check_copies(fit, rows, tmp_path)


def test_the_kinds_are_what_they_are_called(fits: dict[str, sf.Fit]) -> None:
    assert {type(found.model) for found in fits.values()} == {LogLinear, ConditionalLogLinear, LogLinearDensity}
    assert -math.inf in fits["boundary"].model.weights.values()
    assert fits["boundary"].model.support
    assert len(fits["maxent with base"].model.base) == 1
    assert 0.0 in fits["laplace"].model.weights.values()
    assert not fits["not converged"].certificate.ok
    assert any(isinstance(need, sf.Distinct) for need in fits["conditional"].statistics)
    assert any(isinstance(need, sf.Distinct) for need in fits["pseudo-likelihood"].statistics)


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_functions_become_tables_of_the_same_values(tmp_path: Path, fits: dict[str, sf.Fit], kind: str) -> None:
    sf.write(fits[kind], tmp_path / "a.json")
    found = sf.read(tmp_path / "a.json")
    assert any(isinstance(spec, TabulatedSpec) for spec in found.structure.specs)
    schema = found.model.schema
    codes = {v.name: np.random.default_rng(0).integers(0, v.n_states, 40) for v in schema.variables}
    pairs = zip(found.structure.resolved(schema), fits[kind].structure.resolved(schema), strict=True)
    for table, function in pairs:
        assert table.name == function.name
        np.testing.assert_array_equal(table.at(codes), function.at(codes))


@pytest.mark.parametrize("kind", ["plain", "function", "potts", "conditional", "density", "pseudo-likelihood"])
def test_a_read_fit_can_be_estimated_anew(tmp_path: Path, fits: dict[str, sf.Fit], kind: str) -> None:
    sf.write(fits[kind], tmp_path / "a.json")
    found = sf.read(tmp_path / "a.json")
    again = sf.estimate(found.structure, found.statistics, prior=found.prior, method=found.method)
    np.testing.assert_allclose(again.model.weights.to_numpy(), found.model.weights.to_numpy(), atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, width=64), min_size=3, max_size=3),
    st.lists(st.text(min_size=1, max_size=4), min_size=2, max_size=3, unique=True),
)
def test_any_weights_and_states_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, values: list[float], states: list[str]
) -> None:
    path = tmp_path_factory.mktemp("any") / "m.json"
    schema = sf.Schema((sf.Variable("A", tuple(states), True), sf.Variable("t", (0, 1), True)))
    structure = sf.Features(
        [
            sf.indicator(A=states[0]),
            sf.indicator(A=states[-1], t=1),
            sf.product("t", sf.indicator(A=states[0]), name=states[0] + " ·"),
        ],
        given=["t"],
    )
    model = ConditionalLogLinear(structure, values, schema=schema)
    try:
        sf.write(model, path)
    except sf.SufficeError:
        assert any("\ud800" <= sign <= "\udfff" for state in states for sign in state)
        return
    found = sf.read(path)
    assert contents(found.weights) == contents(model.weights)
    assert found.features == structure


@pytest.mark.parametrize("label", [math.inf, 0.5, True, 10**20, "inf", "ä\n'"])
def test_states_of_every_type_are_found_again(tmp_path: Path, label: Any) -> None:
    other = {float: -1.0, bool: False, int: 3, str: "other"}[type(label)]
    schema = sf.Schema((sf.Variable("A", (label, other), True),))
    model = LogLinear(sf.Features([sf.indicator(A=label)]), [0.5], schema=schema)
    sf.write(model, tmp_path / "m.json")
    found = sf.read(tmp_path / "m.json")
    np.testing.assert_array_equal(found.query("A").values, model.query("A").values)
    assert found.query("A").values[0] > 0.6


# Functions that files cannot hold -----------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["fit", "model"])
def test_functions_of_continuous_inputs_are_refused_before_anything_is_written(tmp_path: Path, what: str) -> None:
    found = fit(
        sf.feature(lambda a, x: (a == "yes") * (x > 0), over=("A", "x"), name="step"), structure={"given": ["x"]}
    )
    path = tmp_path / "a.json"
    path.write_text("before")
    with pytest.raises(sf.StructureError, match=r"'step' is a Python function of 'x'.*column of their own"):
        sf.write(found if what == "fit" else found.model, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


# Formats of Markov networks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "function", "windows", "boundary", "boltzmann", "potts", "maxent with base"])
@pytest.mark.parametrize("what", ["fit", "model"])
def test_a_uai_file_holds_the_same_distribution(tmp_path: Path, fits: dict[str, sf.Fit], kind: str, what: str) -> None:
    model = fits[kind].model
    sf.write(fits[kind] if what == "fit" else model, tmp_path / "m.uai")
    found = sf.read(tmp_path / "m.uai")
    names = [f"x{place}" for place in range(len(model.variables))]
    wanted = model.query(list(model.variables)).values
    np.testing.assert_allclose(found.query(names).values, wanted, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("ending", ["uai", "bif"])
@pytest.mark.parametrize("kind", ["conditional", "density"])
def test_other_formats_refuse_what_is_no_markov_network(
    tmp_path: Path, fits: dict[str, sf.Fit], kind: str, ending: str
) -> None:
    with pytest.raises(sf.ArgumentError, match=r"LogLinear.*Write it as \.json"):
        sf.write(fits[kind], tmp_path / f"m.{ending}")
    assert not list(tmp_path.iterdir())
