"""XDSL: what GeNIe and aGrUM write is read as each means it, any name and any text survive, and mistakes are found."""

from __future__ import annotations

import gzip
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.io.networks import XML_TEXTS, Files, networks, numbers, same, shared, with_properties

import suffice as sf
from suffice.errors import ArgumentError, FileFormatError
from suffice.io import xdsl
from suffice.io.xdsl import reader
from suffice.io.xdsl.names import identifiers, is_identifier, stands_for
from suffice.models.bayes_net import BayesianNetwork

RAIN = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="weather" numsamples="10000" discsamples="10000">
  <nodes>
    <cpt id="rain">
      <state id="no" />
      <state id="yes" />
      <probabilities>0.75 0.25</probabilities>
    </cpt>
    <cpt id="wind">
      <state id="calm" />
      <state id="gale" />
      <probabilities>0.5 0.5</probabilities>
    </cpt>
    <cpt id="wet">
      <state id="dry" />
      <state id="damp" />
      <state id="soaked" />
      <parents>rain wind</parents>
      <probabilities>0.5 0.25 0.25 1 0 0 0.125 0.375 0.5 0 0 1</probabilities>
    </cpt>
  </nodes>
</smile>
"""
WET = [[0.5, 0.25, 0.25], [1, 0, 0], [0.125, 0.375, 0.5], [0, 0, 1]]

# As GeNIe lays it out, with what only GeNIe has a use for.
GENIE = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- made by hand -->
<smile version="1.0" id="Kitchen" numsamples="1000" discsamples="10000">
  <properties>
    <property id="licence">none</property>
  </properties>
  <nodes>
    <cpt id="gas" diagtype="observation" ranked="true">
      <state id="off" />
      <state id="low" />
      <state id="high" fault="true" />
      <probabilities>0.6 0.3 0.1</probabilities>
      <property id="literature">A book,
on two lines</property>
    </cpt>
    <cpt id="lid"><state id="open" /><state id="shut" /><probabilities>0.5 0.5</probabilities></cpt>
    <deterministic id="hot">
      <state id="cold" />
      <state id="hot" />
      <parents>gas lid</parents>
      <resultingstates>cold cold cold hot hot hot</resultingstates>
    </deterministic>
    <noisymax id="boils">
      <state id="over" />
      <state id="gently" />
      <state id="no" />
      <parents>lid gas</parents>
      <strengths>1 0 2 1 0</strengths>
      <parameters>0.2 0.3 0.5 0 0 1 0.6 0.3 0.1 0.1 0.4 0.5 0 0 1 0.01 0.04 0.95</parameters>
    </noisymax>
  </nodes>
  <extensions>
    <genie version="1.0" app="GeNIe 4.1" name="The kitchen" faultnameformat="nodestate">
      <comment>Sunday</comment>
      <node id="gas">
        <name>Gas höher?</name>
        <interior color="e5f6f7" />
        <font color="000000" name="Arial" size="8" />
        <position>10 20 82 68</position>
      </node>
      <submodel id="Pot">
        <name>Pot</name>
        <node id="hot"><name>hot</name><comment>steel</comment></node>
      </submodel>
      <node id="boils"><name>boils</name><barchart active="true" /></node>
    </genie>
  </extensions>
</smile>
"""

# As pyAgrum lays it out: the first parent varies fastest, and names stand in the extensions.
AGRUM = """<?xml version="1.0" ?>
<!-- This network was created by pyAgrum 3.3.1 for any purpose you want -->
<smile version="1.0" id="tea">

  <nodes>
    <cpt id="pot">
      <state id="small" />
      <state id="big" />
      <probabilities>0.3 0.7</probabilities>
    </cpt>
    <cpt id="number_of_guests">
      <state id="0" />
      <state id="1" />
      <state id="2" />
      <probabilities>0.2 0.3 0.5</probabilities>
    </cpt>
    <cpt id="enough">
      <state id="yes" />
      <state id="no" />
      <parents>pot number_of_guests</parents>
      <probabilities>1 0 0.99 0.01 0.8 0.2 0.97 0.03 0.1 0.9 0.95 0.05</probabilities>
    </cpt>
  </nodes>

  <extensions>
    <genie version="1.0" app="aGrUM 3.3.1" name="tea">
      <node id="pot">
        <name>pot</name>
      </node>
      <node id="number_of_guests">
        <name>number of guests</name>
      </node>
      <node id="enough">
        <name>enough</name>
      </node>
    </genie>
  </extensions>

</smile>
"""

FILES = Files(xdsl, ".xdsl")
parse, written = FILES.parse, FILES.written


# What a file says ---------------------------------------------------------------------------------------------


def test_child_and_then_the_last_parent_vary_fastest(tmp_path: Path) -> None:
    model = parse(RAIN, tmp_path)
    assert model.variables == ("rain", "wind", "wet")
    assert model.dag.parents["wet"] == ("rain", "wind")
    assert model.schema["wet"].states == ("dry", "damp", "soaked")
    assert model.cpd("rain").values.tolist() == [[0.75, 0.25]]
    assert model.cpd("wet").values.tolist() == WET
    assert dict(model.cpd("wet").rows())["no", "gale"].tolist() == [1, 0, 0]
    assert model.properties == {"name": "weather", "network": [], "variables": {}, "probabilities": {}}
    assert model.notes == ()


def test_files_of_agrum_have_the_first_parent_varying_fastest(tmp_path: Path) -> None:
    model = parse(AGRUM, tmp_path)
    assert model.variables == ("pot", "number of guests", "enough")
    assert model.dag.parents["enough"] == ("pot", "number of guests")
    rows = {states: row.tolist() for states, row in model.cpd("enough").rows()}
    assert rows["big", "0"] == [0.99, 0.01]
    assert rows["small", "1"] == [0.8, 0.2]
    assert rows["big", "2"] == [0.95, 0.05]
    assert len(model.notes) == 1
    assert "'aGrUM 3.3.1' as its program" in model.notes[0]
    again = parse(written(model, tmp_path), tmp_path)
    assert same(again, model)
    assert again.notes == ()


def test_what_genie_keeps_becomes_texts_and_the_rest_is_noted(tmp_path: Path) -> None:
    model = parse(GENIE.encode("latin-1"), tmp_path)
    assert model.variables == ("gas", "lid", "hot", "boils")
    assert model.properties == {
        "name": "Kitchen",
        "network": ["licence = none", "genie numsamples = 1000", "genie name = The kitchen", "genie comment = Sunday"],
        "variables": {
            "gas": ["literature = A book,\non two lines", "genie name = Gas höher?", "genie position = 10 20 82 68"],
            "hot": ["genie comment = steel"],
        },
        "probabilities": {},
    }
    left_out, deterministic, noisy = model.notes
    for name in ("diagtype of cpt", "fault of state", "font in node", "submodel in genie", "barchart in node"):
        assert repr(name) in left_out
    assert deterministic == "1 node of kind deterministic became tables: ['hot']."
    assert noisy == "1 node of kind noisymax became tables: ['boils']."
    again = parse(written(model, tmp_path), tmp_path)
    assert same(again, model)
    assert again.notes == ()


def test_deterministic_nodes_become_zeros_and_ones(tmp_path: Path) -> None:
    rows = {states: row.tolist() for states, row in parse(GENIE.encode("latin-1"), tmp_path).cpd("hot").rows()}
    assert rows["off", "shut"] == [1, 0]
    assert rows["low", "open"] == [1, 0]
    assert rows["low", "shut"] == [0, 1]
    assert rows["high", "open"] == [0, 1]


def naive_max(columns: list[list[float]]) -> list[float]:
    """Every cause draws its effect; the first state among the effects is the strongest and comes about."""
    result = [0.0] * len(columns[0])
    for effects in itertools.product(range(len(result)), repeat=len(columns)):
        result[min(effects)] += float(np.prod([column[e] for column, e in zip(columns, effects, strict=True)]))
    return result


def test_noisymax_is_the_strongest_effect_of_independent_causes(tmp_path: Path) -> None:
    """Columns follow the strengths: the lid's are for shut, open; the gas's for high, low, off."""
    lid = {"shut": [0.2, 0.3, 0.5], "open": [0, 0, 1]}
    gas = {"high": [0.6, 0.3, 0.1], "low": [0.1, 0.4, 0.5], "off": [0, 0, 1]}
    rows = dict(parse(GENIE.encode("latin-1"), tmp_path).cpd("boils").rows())
    assert set(rows) == set(itertools.product(lid, gas))
    for (one, other), row in rows.items():
        assert row == pytest.approx(naive_max([lid[one], gas[other], [0.01, 0.04, 0.95]]), abs=1e-15)
    assert rows["open", "off"].tolist() == pytest.approx([0.01, 0.04, 0.95], abs=1e-16)


@settings(max_examples=50)
@given(st.data())
def test_noisymax_of_any_size_equals_its_naive_twin(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    sizes = data.draw(st.lists(st.integers(2, 3), max_size=3))
    n_states = data.draw(st.integers(2, 4))
    weight = st.lists(st.integers(0, 5), min_size=n_states, max_size=n_states).filter(any)

    def column() -> list[float]:
        drawn = data.draw(weight)
        return [entry / sum(drawn) for entry in drawn]

    idle = [0.0] * (n_states - 1) + [1.0]
    causes = [[*(column() for _ in range(size - 1)), idle] for size in sizes]
    leak = column()
    strengths = [data.draw(st.permutations(range(size))) for size in sizes]
    nodes = "".join(
        f'<cpt id="p{i}">{"".join(f"""<state id="s{k}"/>""" for k in range(size))}'
        f"<probabilities>{' '.join(['1', *['0'] * (size - 1)])}</probabilities></cpt>"
        for i, size in enumerate(sizes)
    )
    listed = [number for columns in [*causes, [leak]] for entries in columns for number in entries]
    child = (
        f'<noisymax id="c">{"".join(f"""<state id="s{k}"/>""" for k in range(n_states))}'
        f"<parents>{' '.join(f'p{i}' for i in range(len(sizes)))}</parents>"
        f"<strengths>{' '.join(str(k) for order in strengths for k in order)}</strengths>"
        f"<parameters>{' '.join(map(repr, listed))}</parameters></noisymax>"
    )
    text = f'<smile id="n"><nodes>{nodes}{child}</nodes></smile>'
    table = parse(text, tmp_path_factory.getbasetemp()).cpd("c").values
    expected = []
    for states in itertools.product(*map(range, sizes)):
        chosen = [causes[i][strengths[i].index(state)] for i, state in enumerate(states)]
        expected.append(naive_max([*chosen, leak]))
    assert table == pytest.approx(np.array(expected), abs=1e-12)


# Names --------------------------------------------------------------------------------------------------------


def test_names_that_are_no_identifiers_are_written_as_such_and_restored(tmp_path: Path) -> None:
    model = BayesianNetwork(
        sf.DAG({"big dog": (), "big_dog": ("big dog",), "Größe": ("big dog",)}),
        {"big dog": [0.25, 0.75], "big_dog": [[1, 0], [0.5, 0.5]], "Größe": [[0, 1], [0.125, 0.875]]},
        schema={"big dog": ["<30", "New York"], "big_dog": ["0", "1"], "Größe": ["ja", 'a"b']},
        properties={"name": "my net"},
    )
    text = written(model, tmp_path).decode()
    assert '<cpt id="big_dog_2">\n      <state id="s__30" />\n      <state id="New_York" />' in text
    assert '<property id="suffice_name">big dog</property>' in text
    assert '<property id="suffice_states">["&lt;30", "New York"]</property>' in text
    assert '<cpt id="big_dog">\n      <state id="s_0" />\n      <state id="s_1" />' in text
    assert '<cpt id="Größe">\n      <state id="ja" />\n      <state id="a_b" />' in text
    assert '<node id="big_dog_2">\n        <name>big dog</name>' in text
    again = parse(text, tmp_path)
    assert again.variables == model.variables
    assert again.schema["big dog"].states == ("<30", "New York")
    assert again.properties["name"] == "my net"
    assert again.notes == ()


def test_identifiers_changed_in_genie_win_over_kept_names(tmp_path: Path) -> None:
    model = BayesianNetwork(sf.DAG({"a b": ()}), {"a b": [0.5, 0.5]}, schema={"a b": ["<1", ">1"]})
    text = written(model, tmp_path).decode()
    renamed = parse(text.replace('"a_b"', '"weight"'), tmp_path)
    assert renamed.variables == ("weight",)
    assert renamed.schema["weight"].states == ("<1", ">1")
    assert "suffice_name of 'weight'" in renamed.notes[0]
    restated = parse(text.replace('"s__1"', '"little"'), tmp_path)
    assert restated.schema["a b"].states == ("little", "s__1_2")
    assert "suffice_states of 'a_b'" in restated.notes[0]
    for broken in ("[[", "7", '["a"]', "[1, 2]", "[" * 5000):
        found = parse(re.sub(r"\[.*\]", broken, text), tmp_path)
        assert found.schema["a b"].states == ("s__1", "s__1_2")
        assert len(found.notes) == 1


@settings(max_examples=200)
@given(st.lists(st.one_of(st.text(max_size=4), st.text("ab _-1", max_size=4)), unique=True, max_size=8))
def test_identifiers_are_proper_unique_and_recognised(texts: list[str]) -> None:
    found = identifiers(texts, "n")
    assert list(found) == texts
    assert len(set(found.values())) == len(texts)
    for text, identifier in found.items():
        assert is_identifier(identifier)
        assert identifier == text or (not is_identifier(text) and stands_for(identifier, text, "n"))


def test_nodes_are_written_parents_first_and_keep_their_order(tmp_path: Path) -> None:
    model = BayesianNetwork(
        sf.DAG({"b": ("a",), "a": ()}), {"a": [1, 0], "b": [[0.5, 0.5]] * 2}, schema={"a": ["x", "y"], "b": ["u", "v"]}
    )
    text = written(model, tmp_path).decode()
    assert text.index('<cpt id="a">') < text.index('<cpt id="b">')
    assert parse(text, tmp_path).variables == ("b", "a")
    found = parse(text.replace(">b a<", ">b a c<"), tmp_path)
    assert found.variables == ("a", "b")
    assert "suffice_order" in found.notes[0]


# Files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".xdsl", ".xdsl.gz"])
def test_endings_are_registered(tmp_path: Path, ending: str) -> None:
    model = parse(RAIN, tmp_path)
    sf.write(model, tmp_path / f"model{ending}")
    assert same(sf.read(tmp_path / f"model{ending}"), model)
    content = (tmp_path / f"model{ending}").read_bytes()
    assert (gzip.decompress(content) if ending.endswith(".gz") else content) == written(model, tmp_path)


def test_properties_of_bif_survive(tmp_path: Path) -> None:
    texts = ["author someone", "a = 1", "a = 2", "suffice_name = x", "", "genie name = G", "genie colour = 7", "b = "]
    model = parse(RAIN, tmp_path)
    properties = {
        "name": "n",
        "network": [*texts[:5], *texts[6:], texts[5]],
        "variables": {"rain": [*texts[:5], *texts[6:], texts[5]]},
        "probabilities": {"rain": texts, "wet": ["function max"]},
    }
    model = with_properties(model, properties)
    text = written(model, tmp_path).decode()
    assert '<property id="a">1</property>' in text
    assert '<property id="suffice_property_3">a = 2</property>' in text
    assert "<name>G</name>" in text
    assert same(parse(text, tmp_path), model)


@pytest.mark.parametrize("name", ["a\x00b", "\ud800"])
def test_names_that_xml_cannot_hold_are_refused(tmp_path: Path, name: str) -> None:
    model = BayesianNetwork(sf.DAG({name: ()}), {name: [0.5, 0.5]}, schema={name: ["x", "y"]})
    with pytest.raises(ArgumentError, match="which XML cannot hold"):
        written(model, tmp_path)


def test_other_things_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"A .xdsl file holds a Bayesian network .* Got dict instead"):
        written({"A": 1}, tmp_path)


@settings(max_examples=150)
@given(networks(XML_TEXTS))
def test_every_network_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, model: BayesianNetwork
) -> None:
    again = FILES.check_round_trip(model, tmp_path_factory.getbasetemp())
    assert not any("suffice" in note for note in again.notes)


# Mistakes -----------------------------------------------------------------------------------------------------

WET_NODE = RAIN[RAIN.index('    <cpt id="wet">') : RAIN.index("  </nodes>")]
STATES = '<state id="x" /><state id="y" />'
ERRORS = [
    (RAIN, "<a/>", 1, 1, "An XDSL file holds a <smile> element. Got <a> instead"),
    (RAIN[RAIN.index("  <nodes>") : RAIN.index("</smile>")], "", 2, 1, "<smile> holds one <nodes> element. Got 0"),
    (RAIN[RAIN.index("    <cpt") : RAIN.index("  </nodes>")], "", 6, 1, "no variables"),
    ("<nodes>", "<nodes>x", 3, 3, "<nodes> holds the text 'x'"),
    ("<nodes>", "<dynamic/><nodes>", 3, 3, "a dynamic network"),
    (
        WET_NODE,
        '<mau id="u" />',
        14,
        1,
        "Node 'u' is of kind 'mau'; only ['cpt', 'deterministic', 'noisymax'] are read",
    ),
    (WET_NODE, '<noisyadder id="wet" />', 14, 1, "Node 'wet' is of kind 'noisyadder'"),
    (WET_NODE, '<equation id="wet" />', 14, 1, "Change its type in GeNIe, or remove it"),
    ('id="wind"', 'id="rain"', 9, 5, "Node 'rain' was given already"),
    (' id="wind"', "", 9, 5, "Node '' has no id"),
    (RAIN[RAIN.index("      <state") : RAIN.index("      <prob")], "", 4, 5, "Node 'rain' has no states"),
    ('"yes"', '"no"', 4, 5, "state 'no' is listed more than once"),
    ("<parents>rain", "<parents>rian", 18, 7, "the parent 'rian', which is not a node of the file; they are ['rain'"),
    ("<parents>rain", "<parents>wind", 14, 5, "parents are other nodes, once each"),
    (
        "<probabilities>0.75",
        "<parents>wind</parents><probabilities>0.75",
        7,
        30,
        "needs 4 numbers, 2 states × 2 parent",
    ),
    ("<probabilities>0.75 0.25</probabilities>", "", 4, 5, "<cpt> holds one <probabilities> element. Got 0 instead"),
    ("0.75 0.25", "0.75 x", 7, 7, "Entry 2 of <probabilities> is 'x', which is no number"),
    ("0.75 0.25", "0.75", 7, 7, "needs 2 numbers, 2 states × 1 parent configuration. Got 1 instead"),
    ("0.75 0.25", "0 0", 4, 5, "which is not a distribution"),
    (
        WET_NODE,
        f'<deterministic id="d">{STATES}<parents>rain</parents><resultingstates>x</resultingstates></deterministic>',
        14,
        78,
        "<resultingstates> needs 2 states, one a parent configuration. Got 1 instead",
    ),
    (
        WET_NODE,
        f'<deterministic id="d">{STATES}<resultingstates>z</resultingstates></deterministic>',
        14,
        55,
        "Node 'd': 'z' is not one of its states ['x', 'y']",
    ),
]
NOISY = (
    f'<noisymax id="d">{STATES}<parents>rain</parents><strengths>0 1</strengths>'
    "<parameters>0.9 0.1 0 1 0.2 0.8</parameters></noisymax>"
)
ERRORS += [
    (WET_NODE, NOISY.replace(old, new), 14, column, message)
    for old, new, column, message in [
        (" 0.8<", "<", 99, "needs 6 numbers, a column for every parent's state and leak. Got 5 instead"),
        ("0.9 0.1", "0.9 0.3", 99, "column 1 of its parameters is [0.9, 0.3], which is not a distribution"),
        ("0.2 0.8", "-0.2 1.2", 99, "column 3 of its parameters is [-0.2, 1.2], which is not a distribution"),
        (
            "0 1 0.2",
            "0.5 0.5 0.2",
            99,
            "[0.5, 0.5], where a parent's last column leaves the child's last state certain",
        ),
        (">0 1<", ">0 1 2<", 73, "<strengths> needs 2 whole numbers, one for every parent's state. Got 3 instead"),
        (">0 1<", ">1 1<", 73, "must be the numbers from 0 to 1, each once"),
    ]
]


@pytest.mark.parametrize(("old", "new", "line", "column", "message"), ERRORS, ids=[case[-1][:40] for case in ERRORS])
def test_mistakes_are_told_with_line_and_column(
    tmp_path: Path, old: str, new: str, line: int, column: int, message: str
) -> None:
    assert old in RAIN
    FILES.check_mistake(RAIN.replace(old, new, 1), line, column, message, tmp_path)


def test_noisymax_without_strengths_has_its_states_in_order(tmp_path: Path) -> None:
    text = RAIN.replace(WET_NODE, NOISY.replace("<strengths>0 1</strengths>", ""))
    assert same(parse(text, tmp_path), parse(RAIN.replace(WET_NODE, NOISY), tmp_path))
    assert parse(text, tmp_path).cpd("d").values == pytest.approx(np.array([[0.92, 0.08], [0.2, 0.8]]))


@pytest.mark.parametrize("kind", ["noisymax", "deterministic"])
def test_short_files_cannot_fill_memory(tmp_path: Path, kind: str) -> None:
    parents = "".join(f'<cpt id="p{i}">{STATES}<probabilities>0.5 0.5</probabilities></cpt>\n' for i in range(40))
    column = "0.5 0.5 0 1 " * 40
    child = (
        f'<{kind} id="c">{STATES}<parents>{" ".join(f"p{i}" for i in range(40))}</parents>'
        f"<parameters>{column} 0 1</parameters><resultingstates>x</resultingstates></{kind}>"
    )
    with pytest.raises(FileFormatError, match=r"line 41, column 1: .* more than 16,777,216 numbers in all"):
        parse(f'<smile id="n"><nodes>{parents}{child}</nodes></smile>', tmp_path)
    assert reader.MAX_FILLED == 2**24


def test_hostile_xml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="declares the entity 'x'"):
        parse(RAIN.replace("<smile", '<!DOCTYPE smile [<!ENTITY x "y">]>\n<smile'), tmp_path)


# The shared data ----------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("name", ["alarm", "asia", "insurance", "munin1", "pathfinder", "sachs", "survey", "water"])
def test_every_number_survives_bif_xdsl(data_folder: Path, tmp_path: Path, name: str) -> None:
    model = shared(data_folder, name)
    again = parse(written(model, tmp_path), tmp_path)
    assert same(again, model)
    assert [numbers(cpd) for cpd in again.cpds] == [numbers(cpd) for cpd in model.cpds]
