"""Structure files of features, in TOML and in JSON: what they describe, and how they say what is wrong."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.io.test_own_json import changed, places

import suffice as sf
from suffice.families.features import FAMILY
from suffice.io.structure_file import read_structure
from suffice.structures.feature_structures import FEATURE_STRUCTURES

LETTERS = ["c1", "c2", "c3", "c4"]

TOML = """
type = "Features"
given = ["x"]

[[features]]
indicator = { A = "yes", B = "no" }

[[features]]
indicator = { "M. Work" = 1 }
name = "works"

[[features]]
indicators = ["A", "B"]
reference = true

[[features]]
product = ["u", "v"]

[[features]]
product = ["x", { indicators = "A" }, "x"]

[[features]]
windows = ["ing", ["i", "o", "n"]]
over = ["c1", "c2", "c3", "c4"]

[[features]]
windows = "all"
over = ["c1", "c2", "c3", "c4"]
width = 2

[[features]]
table = [[["yes", "no"], 1.5], [["no", "no"], -2]]
over = ["A", "B"]

[[features]]
table = [[1, 0.5], [2, 2]]
over = "w"
name = "curve"

[[features]]
product = "y"

[tie]
both = ["A=yes & B=no", "u·v"]

[support]
y = [0, inf]
"""
ENTRY = {
    "type": "Features",
    "given": ["x"],
    "features": [
        {"indicator": {"A": "yes", "B": "no"}},
        {"indicator": {"M. Work": 1}, "name": "works"},
        {"indicators": ["A", "B"], "reference": True},
        {"product": ["u", "v"]},
        {"product": ["x", {"indicators": "A"}, "x"]},
        {"windows": ["ing", ["i", "o", "n"]], "over": LETTERS},
        {"windows": None, "over": LETTERS, "width": 2},
        {"table": [[["yes", "no"], 1.5], [["no", "no"], -2]], "over": ["A", "B"]},
        {"table": [[1, 0.5], [2, 2]], "over": "w", "name": "curve"},
        {"product": "y"},
    ],
    "tie": {"both": ["A=yes & B=no", "u·v"]},
    "support": {"y": [0, "inf"]},
}
WANTED = sf.Features(
    [
        sf.indicator(A="yes", B="no"),
        sf.indicator({"M. Work": 1}, name="works"),
        sf.indicators("A", "B", reference=True),
        sf.product("u", "v"),
        sf.product("x", sf.indicators("A"), "x"),
        sf.windows(["ing", "ion"], over=LETTERS),
        sf.windows(over=LETTERS, width=2),
        sf.feature({("yes", "no"): 1.5, ("no", "no"): -2.0}, over=("A", "B")),
        sf.feature({(1,): 0.5, (2,): 2.0}, over="w", name="curve"),
        sf.product("y"),
    ],
    given=["x"],
    tie={"both": ["A=yes & B=no", "u·v"]},
    support={"y": (0, math.inf)},
)


def write(folder: Path, name: str, entry: Any) -> str:
    path = folder / name
    path.write_text(entry if isinstance(entry, str) else json.dumps(entry), encoding="utf-8")
    return str(path)


# What files describe ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "content"), [("s.toml", TOML), ("s.json", ENTRY), ("S.TOML", "\ufeff" + TOML)])
def test_a_file_describes_every_kind_of_feature(tmp_path: Path, name: str, content: Any) -> None:
    assert read_structure(write(tmp_path, name, content)) == WANTED


def test_what_a_structure_says_of_itself_is_a_structure_file(tmp_path: Path) -> None:
    structures = [
        WANTED,
        sf.Ising("b:a + c", values=(0, 2), tie="both"),
        sf.Boltzmann(["b", "a", "c"], fields=False),
        sf.Potts([("b", "a"), ("a", "c")], tie="fields"),
    ]
    for structure in structures:
        found = read_structure(write(tmp_path, "s.json", structure.to_dict()))
        assert type(found) is type(structure)
        assert found == structure


def test_every_structure_of_features_has_a_file() -> None:
    assert set(FEATURE_STRUCTURES) == set(FAMILY.files())


def test_ties_may_be_without_names(tmp_path: Path) -> None:
    entry = {
        "type": "Features",
        "features": [{"indicator": {"A": 1}}, {"indicator": {"B": 1}}],
        "tie": [["A=1", "B=1"]],
        "variables": ["C", "B", "A"],
    }
    found = read_structure(write(tmp_path, "s.json", entry))
    assert found.tie == (("A=1 = B=1", ("A=1", "B=1")),)
    assert found.variables == ("C", "B", "A")


PAIRWISE: dict[str, tuple[str, Any]] = {
    "text": ('type = "Ising"\ngraph = "a:b + b:c"', sf.Ising("a:b + b:c")),
    "neighbours": ('type = "Ising"\ngraph = { a = ["b"] }\nvalues = [0, 1]', sf.Ising("a:b", values=(0, 1))),
    "edges": ('type = "Ising"\nedges = [["b", "a"]]\ntie = "both"\nfields = false',
              sf.Ising([("b", "a")], tie="both", fields=False)),
    "isolated": ('type = "Potts"\nedges = [["b", "a"]]\nnodes = ["b", "a", "c"]', sf.Potts("b:a + c")),
    "potts": ('type = "Potts"\ngraph = [["a", "b"], "c"]\ntie = "fields"', sf.Potts("a:b + c", tie="fields")),
    "full": ('type = "Boltzmann"\nnodes = ["c", "b", "a"]', sf.Boltzmann(["c", "b", "a"])),
    "full graph": ('type = "Boltzmann"\ngraph = ["c", "b", "a"]', sf.Boltzmann(["c", "b", "a"])),
    "not full": ('type = "Boltzmann"\nedges = [["a", "b"], ["b", "c"]]\nvalues = [-1, 1]',
                 sf.Boltzmann("a:b + b:c", values=(-1, 1))),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRWISE)
def test_structure_files_describe_models_on_graphs(tmp_path: Path, name: str) -> None:
    content, wanted = PAIRWISE[name]
    found = read_structure(write(tmp_path, "s.toml", content + "\n"))
    assert type(found) is type(wanted)
    assert found == wanted


def test_nodes_say_the_order(tmp_path: Path) -> None:
    content = 'type = "Ising"\nnodes = ["c", "a", "b"]\nedges = [["a", "b"]]\n'
    assert read_structure(write(tmp_path, "s.toml", content)).variables == ("c", "a", "b")


@pytest.mark.parametrize("what", ["fit", "model"])
def test_structure_of_a_log_linear_model_is_its_features(tmp_path: Path, what: str) -> None:
    structure = sf.Features([sf.indicator(A="x"), sf.product("n")])
    fit = sf.fit(structure, {"A": ["x", "y", "x"], "n": [1, 2, 3]}, prior=sf.Gaussian(1.0))
    sf.write(fit if what == "fit" else fit.model, tmp_path / "m.json")
    assert read_structure(str(tmp_path / "m.json")) == structure


NAMES = st.sampled_from(["a", "b", "c", "M. Work"])
LABELS = st.one_of(st.text(max_size=3), st.integers(-9, 9), st.booleans(), st.floats(-3, 3))
SCOPES = st.lists(NAMES, min_size=1, max_size=3, unique=True)
NUMBERS = st.floats(-9, 9)
SPECS: Any = st.recursive(
    st.one_of(
        st.builds(sf.indicator, st.dictionaries(NAMES, LABELS, min_size=1, max_size=3), name=st.text(max_size=3)),
        st.builds(lambda scope, flag: sf.indicators(*scope, reference=flag), SCOPES, st.booleans()),
        st.builds(
            lambda scope, rows, name: sf.feature({row[: len(scope)]: 1.5 for row in rows}, over=scope, name=name),
            SCOPES,
            st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=3),
            st.text(min_size=1, max_size=3),
        ),
        st.builds(
            lambda rows, scope: sf.windows([row[: len(scope)] for row in rows], over=scope),
            st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=3),
            SCOPES,
        ),
        st.builds(lambda scope: sf.windows(over=scope, width=1), SCOPES),
    ),
    lambda inside: st.builds(lambda parts: sf.product(*parts), st.lists(inside | NAMES, min_size=1, max_size=3)),
    max_leaves=3,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(SPECS, min_size=1, max_size=3), st.booleans())
def test_any_features_are_read_back_from_what_they_say(
    tmp_path_factory: pytest.TempPathFactory, specs: list[Any], conditional: bool
) -> None:
    names = sf.Features(specs).variables
    given_names = names[:1] if conditional and len(names) > 1 else ()
    if given_names and any(spec.variables == given_names for spec in specs):
        given_names = ()  # features of inputs alone are refused
    structure = sf.Features(specs, given=given_names)
    path = tmp_path_factory.mktemp("any") / "s.json"
    path.write_text(json.dumps(structure.to_dict()), encoding="utf-8")
    assert read_structure(str(path)) == structure


# Errors -------------------------------------------------------------------------------------------------------

FEATURE_FAULTS: list[tuple[Any, str]] = [
    (3, "is a table such as { indicator"),
    ({}, "None of them is there"),
    ({"indicater": {"A": 1}}, "Did you mean 'indicator'?"),
    ({"indicator": {"A": 1}, "product": ["u"]}, "There are ['indicator', 'product']"),
    ({"indicator": {"A": 1}, "nmae": "x"}, "no entry 'nmae', only ['indicator', 'name']. Did you mean 'name'?"),
    ({"indicators": ["A"], "over": ["A"]}, "only ['indicators', 'reference']. Leave it out."),
    ({"indicator": {"A": 1}, "name": 3}, "'name' of a feature must be text. Got 3"),
    ({"indicator": {}}, "at least one state"),
    ({"indicator": ["A"]}, "must be states by variable, as in indicator = { A"),
    ({"indicator": {"A": ["yes"]}}, "The state of 'A' must be text, a number, true or false. Got ['yes']"),
    ({"indicator": {"A": None}}, "Got None"),
    ({"indicator": {"": 1}}, "named by text"),
    ({"indicators": []}, "list of variables, as in indicators = ['A', 'B']"),
    ({"indicators": ["A", "A"]}, "twice"),
    ({"indicators": [3]}, "named by text. Got 3"),
    ({"indicators": ["A"], "reference": 1}, "'reference' of a feature must be true or false. Got 1"),
    ({"product": []}, "at least one variable"),
    ({"product": 3}, "a list of variables and features, as in product = ['u', 'v']. Got 3"),
    ({"product": ["u", 3]}, "named by text. Got 3"),
    ({"product": ["u", {"indicator": {}}]}, "at least one state"),
    ({"table": [[["yes"], 1.5]]}, "'over' of a feature must be a list of variables. It is missing."),
    ({"table": [], "over": ["A"]}, "'table' is empty. Give states with their value"),
    ({"table": {"yes": 1}, "over": ["A"]}, "a list of states with their value, as in table"),
    ({"table": [["yes"]], "over": ["A"]}, "a list of states and their value"),
    ({"table": ["yes"], "over": ["A"]}, "a list of states and their value"),
    ({"table": [[["yes", "no"], 1]], "over": ["A"]}, "must be 1, one for each of ['A']"),
    ({"table": [["yes", 1], ["yes", 2]], "over": "A"}, "'yes' twice"),
    ({"table": [["yes", "high"]], "over": "A"}, "must be a finite number. Got 'high'"),
    ({"table": [["yes", 10**400]], "over": "A"}, "must be a finite number"),
    ({"table": [[[["yes"]], 1]], "over": "A"}, "A state of [['yes']] must be text"),
    ({"windows": ["ab"]}, "'over' of a feature must be a list of variables. It is missing."),
    ({"windows": ["ab"], "over": "c1"}, "a list of variables in order. Got 'c1'"),
    ({"windows": [], "over": ["c1"]}, "at least one pattern"),
    ({"windows": "ab", "over": ["c1", "c2"]}, 'or "all" with a width'),
    ({"windows": 2, "over": ["c1", "c2"]}, "a list of patterns"),
    ({"windows": "all", "over": ["c1"]}, "'width' of windows over 1 variables must be a whole number"),
    ({"windows": "all", "over": ["c1"], "width": "2"}, "Got '2'"),
    ({"windows": ["yesno"], "over": ["c1", "c2"]}, "as a list, ['yes', 'no']"),
    ({"windows": [["a", "b", "c"]], "over": ["c1", "c2"]}, "1 to 2 states"),
    ({"windows": [[["a"], "b"]], "over": ["c1", "c2"]}, "must be text, a number"),
    ({"windows": ["ab"], "over": ["c1", "c2"], "width": 1}, "1 states"),
    ({"windows": ["ab"], "over": ["c1", "c2"], "width": [2]}, "a whole number of neighbours"),
    ({"windows": ["ab"], "over": ["c1", "c2"], "name": "x"}, "only ['windows', 'over', 'width']"),
    ({"tables": []}, "at least one table"),
]


@pytest.mark.parametrize(("entry", "says"), FEATURE_FAULTS)
def test_a_wrong_feature_is_named_with_its_number(tmp_path: Path, entry: Any, says: str) -> None:
    content = {"type": "Features", "features": [{"indicator": {"A": "yes"}}, entry]}
    with pytest.raises(sf.StructureError) as caught:
        read_structure(write(tmp_path, "s.json", content))
    assert says in str(caught.value)
    assert "s.json' does not describe Features: feature 2: " in str(caught.value)


WHOLE = 'type = "Features"\n{}\n[[features]]\nindicator = {{ A = 1 }}\n'
FAULTS: list[tuple[str, str]] = [
    ('type = "Features"', "the entry 'features' is missing. Add it"),
    ('type = "Features"\nfeatures = []', "at least one feature, each a part [[features]]"),
    ('type = "Features"\nfeatures = "A"', "Got 'A' instead"),
    ('type = "Features"\n[features]\nindicator = { A = 1 }', "must be a list of at least one feature"),
    ('type = "Features"\n[[feature]]\nindicator = { A = 1 }', "no entry 'feature', only ['features'"),
    ('type = "Features"\n[[feature]]\nindicator = { A = 1 }', "Did you mean 'features'?"),
    (WHOLE.format("give = ['x']"), "Did you mean 'given'?"),
    (WHOLE.format("given = ['x']"), "'x' is in no feature"),
    (WHOLE.format("given = 'A'"), "'given' must be a list of variables, ['x']. Got 'A'"),
    (WHOLE.format("given = [3]"), "Got [3]"),
    (WHOLE.format("given = ['A']"), "inputs alone"),
    (WHOLE.format("variables = 3"), "'variables' must be a list"),
    (WHOLE.format("tie = 3"), "'tie' must be a table such as { both"),
    (WHOLE.format("tie = [3]"), "at least two features' names. Got 3"),
    (WHOLE.format("tie = { both = ['A=1'] }"), "at least two features' names"),
    (WHOLE.format("tie = { both = ['A=1', 3] }"), "named by text"),
    (WHOLE.format("support = [0, 1]"), "'support' must be a table such as { x = [0, 1] }"),
    (WHOLE.format("support = { A = [0] }"), "two numbers, [0, 1] or [0, inf]. Got [0]"),
    (WHOLE.format("support = { A = [0, 'one'] }"), "two numbers"),
    (WHOLE.format("support = { A = [1, 0] }"), "must be an interval"),
    (WHOLE.format(f"support = {{ A = [0, 1{'0' * 400}] }}"), "two numbers"),
    (WHOLE.format("support = { z = [0, 1] }"), "none of the variables modelled"),
    ('type = "Ising"', "'graph' or 'edges' is missing"),
    ('type = "Boltzmann"', "'graph' or 'nodes' or 'edges' is missing"),
    ('type = "Ising"\nnodes = ["a"]', "'graph' or 'edges' is missing"),
    ('type = "Ising"\ngraph = "a:b"\nedges = [["a", "b"]]', "given twice"),
    ('type = "Ising"\ngraph = "a:b:c"', "pairs of names. Got the group ['a', 'b', 'c']"),
    ('type = "Ising"\ngraph = 3', "does not describe an Ising model"),
    ('type = "Ising"\ngraph = "a:b"\nvalues = [1, 0]', "two rising numbers"),
    ('type = "Ising"\ngraph = "a:b"\nvalues = [1]', "two rising numbers"),
    ('type = "Ising"\ngraph = "a:b"\nvalues = "01"', "two rising numbers, [-1, 1]. Got '01'"),
    ('type = "Ising"\ngraph = "a:b"\ntie = "all"', "['none', 'couplings', 'fields', 'both']. Got 'all'"),
    ('type = "Ising"\ngraph = "a:b"\nfields = "no"', "'fields' must be true or false. Got 'no'"),
    ('type = "Ising"\ngraph = "a:b"\ncoupling = 3', "no entry 'coupling'"),
    ('type = "Ising"\nedges = []', "a list of pairs, [['a', 'b']]. Got []"),
    ('type = "Ising"\nedges = [["a"]]', "a pair of names, ['a', 'b']. Got ['a']"),
    ('type = "Ising"\nedges = [["a", 3.5]]', "Got ['a', 3.5]"),
    ('type = "Ising"\nedges = [["a", "a"]]', "twice"),
    ('type = "Ising"\nedges = [["a", "b"], ["b", "a"]]', "twice"),
    ('type = "Ising"\nnodes = ["a"]\nedges = [["a", "b"]]', "are not those of the edges"),
    ('type = "Ising"\nnodes = "ab"\nedges = [["a", "b"]]', "'nodes' must be a list of variables"),
    ('type = "Boltzmann"\nnodes = []', "different names of units"),
    ('type = "Boltzmann"\nnodes = ["a", "a"]', "different names of units"),
    ('type = "Potts"\ngraph = "a:b"\nvalues = [0, 1]', "no entry 'values'"),
    ('type = "Feature"', "Got 'Feature' instead. Did you mean 'Features'?"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "says"), FAULTS)
def test_errors_name_the_file_and_the_fault(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises((sf.StructureError, sf.FileFormatError)) as caught:
        read_structure(write(tmp_path, "s.toml", content + "\n"))
    assert says in str(caught.value)
    assert "s.toml'" in str(caught.value)


@pytest.mark.parametrize("value", [None, 3, -1.5, True, "x", [], {}, [[]], [None], {"a": 1}, 10**400], ids=repr)
def test_entries_of_a_wrong_type_are_refused_or_still_a_structure(tmp_path: Path, value: Any) -> None:
    graphs = [sf.Ising("a:b", tie="both"), sf.Potts("a:b"), sf.Boltzmann(["a"])]
    alone: list[Any] = [{"type": "Features", "features": [feature]} for feature in ENTRY["features"]]
    messages = []
    for whole in [ENTRY, *alone, *(graph.to_dict() for graph in graphs)]:
        for place in places(whole):
            content = changed(whole, place, lambda parent, key: parent.__setitem__(key, value))
            try:
                assert read_structure(write(tmp_path, "s.json", content)).variables
            except sf.SufficeError as error:
                messages.append(str(error))
    assert all("s.json'" in message for message in messages)
    assert len(messages) > 60
