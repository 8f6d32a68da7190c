"""Normal, MultivariateNormal, Bernoulli and Categorical: structures without a graph of their own."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.schema import Declaration
from suffice.io.structure_file import read_structure
from suffice.structures.structure import Structure

NAMES = st.text(min_size=1, max_size=6)
ALL = [
    sf.Normal("x"),
    sf.Normal("x", divisor="n-1"),
    sf.MultivariateNormal(["x", "y", "z"]),
    sf.MultivariateNormal(["x", "y"], divisor="n-1"),
    sf.Bernoulli("x"),
    sf.Bernoulli("x", ["no", "yes"]),
    sf.Categorical("x"),
    sf.Categorical("x", [3, 1, 2]),
]


@pytest.mark.parametrize("structure", ALL, ids=repr)
class TestEveryOne:
    def test_is_a_structure_whose_repr_can_be_run(self, structure) -> None:
        assert isinstance(structure, Structure)
        assert eval(f"sf.{structure!r}", {"sf": sf}) == structure
        assert str(structure) == repr(structure)

    def test_is_read_from_a_structure_file(self, structure, tmp_path) -> None:
        entry = structure.to_dict()
        kept = {name: value for name, value in entry.items() if name in ("type", "variable", "variables", "divisor")}
        if getattr(structure, "states", None) is not None:
            kept["states"] = entry["states"]
        (tmp_path / "s.json").write_text(json.dumps(kept), encoding="utf-8")
        assert read_structure(str(tmp_path / "s.json")) == structure


@given(names=st.lists(NAMES, min_size=1, max_size=6, unique=True))
def test_a_multivariate_normal_has_a_complete_graph_over_any_names(names: list[str]) -> None:
    structure = sf.MultivariateNormal(names)
    p = len(names)
    assert structure.columns == tuple(names)
    assert structure.continuous == set(names)
    assert len(structure.edges) == p * (p - 1) // 2
    assert structure.cliques == (tuple(names),)
    assert structure.n_free == 2 * p + p * (p - 1) // 2
    assert sf.GaussianMarkov(structure) == sf.GaussianMarkov([tuple(names)])


def test_a_normal_is_one_variable() -> None:
    assert sf.Normal("x").columns == ("x",)
    assert sf.Normal("x").n_free == 2
    assert isinstance(sf.Normal("x"), sf.GaussianMarkov)


def test_type_and_settings_tell_structures_apart() -> None:
    structures = [*ALL, sf.GaussianMarkov("x"), sf.DAG("x"), sf.MultivariateNormal(["x"]), sf.Categorical("x", [1, 2])]
    structures += [sf.Bernoulli("x", [1, 2]), sf.Bernoulli("x", [1.0, 2.0]), sf.MultivariateNormal(["y", "x"])]
    assert len({(type(structure), structure) for structure in structures}) == len(structures)
    for place, structure in enumerate(structures):
        assert [structure == other for other in structures].index(True) == place


def test_discrete_ones_declare_their_column() -> None:
    assert sf.Categorical("x").declared == {"x": Declaration("discrete")}
    assert sf.Bernoulli("x", ["no", "yes"]).declared == {"x": Declaration("discrete", ("no", "yes"))}
    assert sf.Bernoulli("x", iter(["no", "yes"])).states == ("no", "yes")
    assert sf.Bernoulli("x").states is None
    assert isinstance(sf.Bernoulli("x"), sf.DAG)
    assert sf.DAG(sf.Bernoulli("x")) == sf.DAG("x", kinds={"x": "tabular"})


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: sf.Normal(3), "name of one column"),
        (lambda: sf.Normal(""), "not empty"),
        (lambda: sf.Normal(["x"]), "name of one column"),
        (lambda: sf.Normal("x", divisor="n-p"), r"\['n', 'n-1'\]"),
        (lambda: sf.MultivariateNormal("xy"), "each once"),
        (lambda: sf.MultivariateNormal([]), "each once"),
        (lambda: sf.MultivariateNormal(["x", "x"]), "each once"),
        (lambda: sf.MultivariateNormal(["x", 3]), "each once"),
        (lambda: sf.MultivariateNormal(None), "each once"),
        (lambda: sf.Bernoulli("x", [1]), "two states"),
        (lambda: sf.Bernoulli("x", [1, 2, 3]), r"sf.Categorical\('x', …\)"),
        (lambda: sf.Bernoulli("x", [1, 1]), "more than once"),
        (lambda: sf.Bernoulli("x", "ab"), "list of labels"),
        (lambda: sf.Categorical("x", [1.0, float("inf")]), "not finite"),
        (lambda: sf.Categorical(None), "name of one column"),
    ],
)
def test_improper_ones_are_refused(make, match: str) -> None:
    with pytest.raises(sf.SufficeError, match=match):
        make()


def test_a_structure_file_says_what_is_missing_or_odd(tmp_path) -> None:
    for content, match in [
        ('type = "Normal"', "the entry 'variable' is missing"),
        ('type = "Normal"\nvariables = ["x"]', "Did you mean 'variable'"),
        ('type = "MultivariateNormal"\nvariables = "x"', "each once"),
        ('type = "Bernoulli"\nvariable = "x"\nstates = [1]', "two states"),
    ]:
        (tmp_path / "s.toml").write_text(content, encoding="utf-8")
        with pytest.raises(sf.StructureError, match=match):
            read_structure(str(tmp_path / "s.toml"))
