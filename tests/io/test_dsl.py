"""GeNIe's DSL: files of GeNIe and aGrUM are read, all is kept, and what is wrong is found with line and column."""

from __future__ import annotations

import random
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.io.networks import (
    NETWORKS,
    UNWRITABLE,
    WET,
    Files,
    networks,
    same,
    shared,
    through_json,
    with_properties,
)

import suffice as sf
from suffice.errors import FileFormatError
from suffice.io import dsl, hugin_net, text_file
from suffice.io.dsl import reader
from suffice.models.bayes_net import BayesianNetwork

RAIN = """net weather
{
 HEADER =
  {
   ID = weather;
   NAME = "weather";
  };

 node rain
  {
   TYPE = CPT;
   HEADER =
    {
     ID = rain;
     NAME = "rain";
    };
   PARENTS = ();
   DEFINITION =
    {
     NAMESTATES = (no, yes);
     PROBABILITIES = (0.75, 0.25);
    };
  };

 node wet
  {
   TYPE = CPT;
   HEADER =
    {
     ID = wet;
     NAME = "wet";
    };
   PARENTS = (rain);
   DEFINITION =
    {
     NAMESTATES = (dry, damp, soaked);
     PROBABILITIES = (0.5, 0.25, 0.25,
      0.125, 0.375, 0.5);
    };
  };
};
"""
DATA = RAIN[RAIN.index("(0.5, 0.25, 0.25") : RAIN.index("0.5);") + 4]

# As GeNIe 2 writes: more parts, texts that are broken by a backslash, a truth table.
GENIE = r"""net Asia_dsl
{
 HEADER =
  {
   ID = Asia_dsl;
   NAME = "Asia network";
   COMMENT = "An example \
   of { diagnosis.\r\nIt says \"hello\"";
  };
 CREATION =
  {
  };
 NUMSAMPLES = 1000;
 SCREEN =
  {
   POSITION =
    {
     CENTER_X = 0;
    };
   COLOR = 16250597;
  };
 BKCOLOR = 0;
 SCREENCOMMENT =  { (403, 132, 228, 220),"Words; in \
 a box"};
 USER_PROPERTIES =
  {
   owner = "me";
  };

 node Tub
  {
   TYPE = CPT;
   HEADER =
    {
     ID = Tub;
     NAME = "Tuberculosis?";
    };
   SCREEN =
    {
     COLOR = 16250597;
    };
   DOCUMENTATION =
    {
    };
   PARENTS = ();
   DEFINITION =
    {
     NAMESTATES = (Absent, Present);
     PROBABILITIES = (0.99000000, 0.01000000);
    };
   EXTRA_DEFINITION =
    {
     FAULT_STATES = (0, 0);
     DOCUMENTATION =
      {
      };
     DOCUMENTATION =
      {
      };
    };
  };

 node Ca
  {
   TYPE = CPT;
   HEADER = { ID = Ca; NAME = "Ca"; };
   PARENTS = ();
   DEFINITION = { NAMESTATES = (no, maybe, yes); PROBABILITIES = (0.5 0.25 0.25); COLORS = (1, 2); };
  };

 node Either
  {
   TYPE = TRUTHTABLE;
   HEADER = { ID = Either; NAME = "Either"; };
   PARENTS = (Tub, Ca);
   DEFINITION = { NAMESTATES = (No, Yes); RESULTINGSTATES = (No, No, Yes,
     Yes, Yes, Yes); };
  };
 OBSERVATION_COST =
  {

   node Tub
    {
     PARENTS = ();
     COSTS = (0.00000000);
    };
  };
};
"""
GENIE = GENIE.replace("=\n", "= \n").replace("\\\n", "\\ \n")

FILES = Files(dsl, ".dsl")
parse, written = FILES.parse, FILES.written


# What a file says ---------------------------------------------------------------------------------------------


def test_states_parents_and_numbers_keep_the_order_of_the_file(tmp_path: Path) -> None:
    FILES.check_small_network(RAIN, tmp_path)


def test_written_file_is_plain_dsl(tmp_path: Path) -> None:
    assert written(parse(RAIN, tmp_path), tmp_path).decode() == RAIN


def test_child_varies_fastest_and_then_the_last_parent(tmp_path: Path) -> None:
    node = "node {0} {{ TYPE = CPT; PARENTS = ({1}); DEFINITION = {{ NAMESTATES = ({2}); PROBABILITIES = ({3}); }}; }};"
    first = [i / 8 for i in range(6)]
    roots = node.format("a", "", "0, 1", "0.5, 0.5") + node.format("b", "", "x, y, z", "1, 0, 0")
    leaf = node.format("c", "a, b", "u, v", ", ".join(f"{p}, {1 - p}" for p in first))
    model = parse(f'net "my net" {{ {roots}{leaf} }};', tmp_path)
    assert model.cpd("c").values.tolist() == [[p, 1 - p] for p in first]
    assert model.cpd("c").table.to_numpy()[1, 2, 0] == 5 / 8
    assert model.properties["name"] == "my net"
    assert same(parse(written(model, tmp_path), tmp_path), model)


def test_parents_may_come_after_their_children(tmp_path: Path) -> None:
    head, rain, wet = re.split(r"(?= node )", RAIN)
    model = parse(f"{head}{wet.removesuffix('};' + chr(10))}{rain}}};\n", tmp_path)
    assert model.variables == ("wet", "rain")
    assert model.cpd("wet").values.tolist() == WET
    content = written(model, tmp_path).decode()
    assert content.index("node rain") < content.index("node wet"), "aGrUM needs parents first"
    assert 'suffice_place = "1"' in content
    assert same(parse(content, tmp_path), model)


def test_genie_dialect(tmp_path: Path) -> None:
    model = parse(GENIE, tmp_path)
    assert model.variables == ("Tub", "Ca", "Either")
    assert model.cpd("Tub").values.tolist() == [[0.99, 0.01]]
    assert model.cpd("Either").values.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]]
    assert model.notes == ("Truth tables were read as tables of zeros and ones, for 1 node: ['Either'].",)
    assert model.properties["name"] == "Asia_dsl"
    keys = [text.partition(" = ")[0] for text in model.properties["network"]]
    assert keys[:4] == ["HEADER.NAME", "HEADER.COMMENT", "CREATION", "NUMSAMPLES"]
    assert keys[4:] == ["SCREEN", "BKCOLOR", "SCREENCOMMENT", "USER_PROPERTIES", "OBSERVATION_COST"]
    assert 'HEADER.NAME = "Tuberculosis?"' in model.properties["variables"]["Tub"]
    assert model.properties["probabilities"] == {"Ca": ["DEFINITION.COLORS = (1, 2)"]}
    assert set(model.properties["variables"]) == {"Tub"}


def test_parts_are_kept_and_written_back_in_their_places(tmp_path: Path) -> None:
    model = parse(GENIE, tmp_path)
    content = written(model, tmp_path)
    again = parse(content, tmp_path)
    assert same(again, model)
    assert same(parse(written(through_json(model, tmp_path), tmp_path), tmp_path), model)
    assert b"suffice" not in content
    assert content.index(b"OBSERVATION_COST") > content.index(b"node Either")
    assert content.index(b"EXTRA_DEFINITION") > content.index(b"PROBABILITIES")
    assert written(again, tmp_path) == content
    for text in (*model.properties["network"], *model.properties["variables"]["Tub"]):
        assert f" {text.removeprefix('HEADER.')};\n" in content.decode()


def test_comments_are_blanks(tmp_path: Path) -> None:
    text = RAIN.replace("(no, yes)", "(no, // or )\n yes /* { */)").replace(" node rain", "// property x\n node rain")
    assert same(parse(text, tmp_path), parse(RAIN, tmp_path))


# What is kept -------------------------------------------------------------------------------------------------

TEXTS = [
    "version 1.0",
    'a = "b"',
    'HEADER.NAME = "shown"',
    "SCREEN = { A = 1; }",
    "SCREEN = { B = 1; }",
    "TYPE = CPT",
    "X = {",
    "é = 1",
    "",
]
TEXTS += ["HEADER.ID = x", "HEADER = { }", "DEFINITION.NAMESTATES = (a)", "BKCOLOR = 5 // c"]
TEXTS += ['suffice_name = "x"', "DOCUMENTATION = {\n }", 'Q = "\\', "SHOWAS = 3", "EXTRA_DEFINITION = { C = (1, 2); }"]


def test_properties_of_other_formats_are_kept_in_user_properties(tmp_path: Path) -> None:
    of_table = [*TEXTS, "DEFINITION.COLORS = (1)"]
    properties = {"name": "n", "network": TEXTS, "variables": {"wet": TEXTS}, "probabilities": {"rain": of_table}}
    model = with_properties(parse(RAIN, tmp_path), properties)
    content = written(model, tmp_path)
    assert same(parse(content, tmp_path), model)
    assert b" SCREEN = { A = 1; };\n" in content
    assert b'   suffice_property_0 = "version 1.0";\n' in content
    assert b'   suffice_property_1 = "a = \\u0022b\\u0022";\n' in content
    assert b'   NAME = "shown";\n' in content


@pytest.mark.parametrize("shown", ["A?", "a b", "a_b", "c"])
def test_shown_name_of_its_own_is_kept_beside_the_name(tmp_path: Path, shown: str) -> None:
    texts = [f'HEADER.NAME = "{shown}"', "SCREEN = { A = 1; }", "SCREEN = x", 'HEADER.COMMENT = "late"']
    properties = {"name": "c", "network": texts, "variables": {"a b": texts, "c": texts}, "probabilities": {}}
    model = with_properties(named(["a b", "c"]), properties)
    assert same(parse(written(model, tmp_path), tmp_path), model)


def test_user_properties_of_others_stay_beside_our_own(tmp_path: Path) -> None:
    content = written(named(["a b"]), tmp_path).decode()
    model = parse(
        content.replace('suffice_name = "a b";', 'owner = "me";\n suffice_name = "a b";\n x = "y";'), tmp_path
    )
    assert model.variables == ("a b",)
    assert model.properties["variables"] == {"a b": ['USER_PROPERTIES = { owner = "me"; x = "y"; }']}
    assert same(parse(written(model, tmp_path), tmp_path), model)


def test_properties_pass_through_net_and_back(tmp_path: Path) -> None:
    model = parse(GENIE, tmp_path)
    hugin_net.write(model, str(tmp_path / "x.net"))
    assert same(hugin_net.read(str(tmp_path / "x.net")), model)
    dsl.write(hugin_net.read(str(tmp_path / "x.net")), str(tmp_path / "y.dsl"))
    assert (tmp_path / "y.dsl").read_bytes() == written(model, tmp_path)


# Names --------------------------------------------------------------------------------------------------------

NAMES = ["light-on", "light_on", "light on", "2nd", "é", "日本", 'a"b', "node", "TYPE", "\n", "x", "_", "a.b"]
STATES = ["yes", "no!", "1", "-1", "2_MG", "1.5", "2e5", "", "ID", "é", "e", "a//b", '"', "\\", "{", "|"]


def named(names: list[str], states: tuple[str, ...] = ("no", "yes")) -> BayesianNetwork:
    row = [1 / len(states)] * len(states)
    return BayesianNetwork(
        sf.DAG({name: names[:i][-1:] for i, name in enumerate(names)}),
        {name: [row] * len(states) if i else row for i, name in enumerate(names)},
        schema={name: list(states) for name in names},
        properties={"name": names[0], "network": [], "variables": {}, "probabilities": {}},
    )


def test_names_and_states_that_are_no_identifiers_come_back(tmp_path: Path) -> None:
    model = named(NAMES, tuple(STATES))
    content = written(model, tmp_path).decode()
    nodes = re.findall(r"^ node (.*)$", content, re.MULTILINE)
    assert nodes[:9] == ["light_on_2", "light_on", "light_on_3", "x_2nd", "e", "x_2", "a_b", "node_", "TYPE_"]
    assert len(set(nodes)) == len(nodes)
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", node) for node in nodes)
    (states, *_) = re.findall(r"NAMESTATES = \((.*)\)", content)
    assert states.split(", ")[:11] == ["yes", "no_", "1", "-1", "2_MG", "1_5", "x_2e5", "x", "ID_", "e_2", "e"]
    assert content.startswith('net light_on\n{\n HEADER =\n  {\n   ID = light_on;\n   NAME = "light-on";\n')
    assert not re.search(r'(?<!\\)\\"', content), "not every program knows escapes"
    assert same(parse(content, tmp_path), model)


def test_names_that_another_program_has_changed_win(tmp_path: Path) -> None:
    content = written(named(["a b", "c"], ("x y", "z")), tmp_path).decode()
    model = parse(re.sub(r"\ba_b\b", "smoker", content).replace("(x_y, z)", "(often, z)"), tmp_path)
    assert model.variables == ("smoker", "c")
    assert model.schema["c"].states == ("often", "z")
    (note,) = model.notes
    assert note.endswith("are read as they are now: 'smoker' for 'a b', 'often' for 'x y'.")


# Files --------------------------------------------------------------------------------------------------------


def test_registered_by_their_endings(tmp_path: Path) -> None:
    FILES.check_endings(RAIN, tmp_path)


def test_byte_order_mark_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    FILES.check_line_ends(RAIN, tmp_path)


def test_file_that_is_not_utf8_is_read_as_latin1_with_a_note(tmp_path: Path) -> None:
    model = parse(RAIN.replace('NAME = "rain"', 'NAME = "Föhn"').encode("latin-1"), tmp_path)
    assert model.properties["variables"] == {"rain": ['HEADER.NAME = "Föhn"']}
    assert model.notes == (text_file.LATIN_1,)


def test_network_of_a_fit_is_written(tmp_path: Path) -> None:
    assert FILES.check_fit(tmp_path).properties["name"] == "unknown"


@pytest.mark.parametrize(("thing", "message"), UNWRITABLE)
def test_what_dsl_cannot_hold_is_refused_and_nothing_is_written(tmp_path: Path, thing: Any, message: str) -> None:
    FILES.check_not_written(thing(), message, tmp_path)


def test_absent_file_is_an_access_error(tmp_path: Path) -> None:
    FILES.check_absent(tmp_path)


# What is wrong ------------------------------------------------------------------------------------------------

TRUTH = ("TYPE = CPT;\n   HEADER =\n    {\n     ID = wet", "TYPE = TRUTHTABLE;\n   HEADER =\n    {\n     ID = wet")
ERRORS: list[tuple[str, str, int, int, str]] = [
    (RAIN, "", 1, 1, "does not look like a DSL file"),
    (RAIN, "<smile/>", 1, 1, "does not look like a DSL file"),
    (RAIN, "net a\n{\n};\n", 4, 1, "no variables"),
    (RAIN, "net a;", 1, 1, "Its '{' is missing"),
    ("net weather", "net", 1, 1, "it may be HUGIN's NET. Give it the ending .net"),
    ("net weather", "net a b", 1, 1, "A net has one name, 'net name {'. Got 'a b'"),
    (RAIN, RAIN + "net b { };", 42, 1, "The network has ended before 'net'"),
    (" node rain", " node", 9, 2, "A node has one name"),
    (" node rain", " node x;", 9, 2, "This node has no '{' after its name"),
    (" node rain", " edge rain", 9, 2, "Expected 'KEY = value;' in this block. Got 'edge'"),
    (RAIN, RAIN.replace("wet", "rain"), 25, 7, "'rain' was given at line 9 already"),
    ("   TYPE = CPT;\n", "", 9, 7, "Node 'rain' has no TYPE"),
    ("TYPE = CPT", "TYPE = NOISY_MAX", 11, 4, "Node 'rain' is of type 'NOISY_MAX'. Only the types CPT and TRUTHTABLE"),
    ("TYPE = CPT;", "TYPE = CPT; TYPE = CPT;", 11, 16, "'TYPE' was given at line 11 already"),
    ("ID = rain", "ID = rian", 14, 6, "The ID, 'rian', differs from the name of the block, 'rain'"),
    ("     NAMESTATES = (no, yes);\n", "", 9, 7, "Node 'rain' has no NAMESTATES"),
    ("(no, yes)", "()", 20, 6, "Node 'rain' has no states"),
    ("(no, yes)", "no", 20, 6, "Node 'rain': NAMESTATES is a list"),
    ("(no, yes)", "((no, yes))", 20, 6, "Node 'rain': NAMESTATES is a list"),
    ("(no, yes)", "(no, no)", 9, 7, "Node 'rain': state 'no' is listed more than once"),
    ("     PROBABILITIES = (0.75, 0.25);\n", "", 9, 7, "Node 'rain' has no PROBABILITIES"),
    ("(0.75, 0.25)", "0.75", 21, 6, "Node 'rain': PROBABILITIES is a list"),
    ("(0.75, 0.25)", "(0.75)", 21, 22, "'rain' needs 2 numbers, 2 states × 1 parent configuration. Got 1 instead"),
    (DATA, "(0.5, 0.5)", 37, 22, "'wet' needs 6 numbers, 3 states × 2 parent configurations. Got 2 instead"),
    (DATA, "(" + "1, " * 7 + ")", 37, 22, "Got 7 instead"),
    ("(rain)", "(rian)", 33, 15, "'rian' is not a node of the file; they are ['rain', 'wet']. Did you mean 'rain'"),
    ("(rain)", "(wet)", 37, 22, "needs 9 numbers"),
    ("(rain)", "(wet, wet)", 37, 22, "needs 27 numbers"),
    ("0.375", "zero", 38, 14, "'zero' is not a number"),
    ("0.375", "0_375", 38, 14, "'0_375' is not a number"),
    ("0.375", "٠", 38, 14, "'٠' is not a number"),
    ("0.375", "-0.375", 38, 14, "'-0.375' is not a probability"),
    ("0.375", "nan", 38, 14, "'nan' is not a probability"),
    ("0.375", "1e999", 38, 14, "'1e999' is not a probability"),
    ("0.75, 0.25", "30, 10", 9, 7, "is not a distribution"),
    (DATA, "(1)", 37, 22, "needs 6 numbers"),
    ("0.25);", "0.25)", 21, 6, "The entry that begins with 'PROBABILITIES' does not end. Add a ';'"),
    ("0.25);", "0.25;", 21, 22, "This '(' is not closed"),
    ("  };\n};\n", "  };\n", 2, 1, "This '{' is not closed"),
    ("  };\n};\n", "  };\n};\n};\n", 42, 1, "This '}' closes nothing"),
    (*TRUTH, 25, 7, "Node 'wet' has no RESULTINGSTATES"),
    ('"wet"', '"wet', 31, 13, "A quotation mark opens here and does not close"),
    (" node rain", "/* node rain", 9, 1, "A comment opens here and does not close"),
    (
        "PARENTS = ();",
        'USER_PROPERTIES = { suffice_state_3 = "x"; }; PARENTS = ();',
        20,
        6,
        "Node 'rain' has no state 3",
    ),
    ("PARENTS = ();", 'USER_PROPERTIES = { suffice_name = "\\q"; };', 17, 39, "an escape that JSON does not know"),
]


@pytest.mark.parametrize(("old", "new", "line", "column", "message"), ERRORS, ids=[case[-1][:40] for case in ERRORS])
def test_mistakes_are_told_with_line_and_column(
    tmp_path: Path, old: str, new: str, line: int, column: int, message: str
) -> None:
    assert old in RAIN
    FILES.check_mistake(RAIN.replace(old, new, 1), line, column, message, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(No, No, Yes", "(No, Yes", "'Either' needs one state for each of its 6 parent configurations. Got 5 instead"),
        ("(No, No, Yes", "(No, Nay, Yes", "'Nay' is not a state of 'Either', which has ['No', 'Yes']"),
        ("RESULTINGSTATES", "PROBABILITIES", "Node 'Either' has no RESULTINGSTATES"),
        ("(Tub, Ca)", "(Tub, Either)", "needs one state for each of its 4 parent configurations"),
    ],
)
def test_truth_tables_are_checked(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=r"line \d+, column") as caught:
        parse(GENIE.replace(old, new), tmp_path)
    assert message in str(caught.value)


def test_cycle_is_told(tmp_path: Path) -> None:
    text = RAIN.replace("PARENTS = ();", "PARENTS = (wet);").replace("(0.75, 0.25)", "(0, 1, 0, 1, 0, 1)")
    with pytest.raises(FileFormatError, match="line 9, column 7: The graph has a cycle: rain -> wet -> rain"):
        parse(text, tmp_path)


def test_declared_size_cannot_fill_memory(tmp_path: Path) -> None:
    node = "node v{0} {{ TYPE = {1}; PARENTS = ({2}); DEFINITION = {{ NAMESTATES = ({3}); {4} }}; }};\n"
    states = ", ".join(f"s{i}" for i in range(10))
    uniform = f"PROBABILITIES = ({'0.1, ' * 9}0.1);"
    roots = "".join(node.format(i, "CPT", "", states, uniform) for i in range(1, 40))
    above = ", ".join(f"v{i}" for i in range(1, 40))
    leaves = [
        node.format(0, "CPT", above, states, uniform),
        node.format(0, "TRUTHTABLE", above, states, "RESULTINGSTATES = (s1, s2);"),
        node.format(
            0, "TRUTHTABLE", "", ", ".join(f"s{i}" for i in range(3000)), f"RESULTINGSTATES = ({'s1 ' * 3000});"
        ),
    ]
    tracemalloc.start()
    for leaf in leaves:
        with pytest.raises(FileFormatError, match="'v0'"):
            parse(f"net n {{ {roots}{leaf} }};", tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()
    assert reader.MAX_FILLED == 2**20


def test_truth_tables_may_have_as_many_numbers_as_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_FILLED", 12)  # the truth table of 'Either' has 6 rows of 2 states
    assert "Either" in parse(GENIE, tmp_path).schema
    monkeypatch.setattr(reader, "MAX_FILLED", 11)
    with pytest.raises(FileFormatError, match="'Either', those of the file have more than 11 numbers"):
        parse(GENIE, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "net a {" + "\n" * 300_000,
        "net a {} " + '"' * 300_001,
        "net a {} " + "/*" * 300_000,
        "net a " + "{" * 300_000,
        "net a " + "{" * 100_000 + "}" * 100_000,
        "net a { " + "A = {" * 50_000 + "};" * 50_000 + " }",
        "net a { " + "A = b;" * 50_000 + " }",
        RAIN.replace("(no, yes)", "(" * 100_000 + ")" * 100_000),
        RAIN.replace("(0.75, 0.25)", "(" + "0.5, " * 100_000 + ")"),
        RAIN.replace("0.375", "1" * 300_000),
        RAIN.replace("(rain)", "(" + "rain, " * 20_000 + ")"),
        RAIN.replace('"rain"', '"' + "\\" * 300_000),
    ],
)
def test_long_nonsense_is_refused_without_delay(tmp_path: Path, text: str) -> None:
    FILES.check_nonsense(text, tmp_path)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("text", [RAIN, GENIE], ids=["rain", "genie"])
def test_corrupted_file_is_refused_or_a_proper_network(tmp_path: Path, text: str, seed: int) -> None:
    for model in FILES.survivors(text.encode(), random.Random(seed), 250, tmp_path):
        again = parse(content := written(model, tmp_path), tmp_path)
        assert again.dag == model.dag
        assert written(again, tmp_path) == content


# Round trips --------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(networks())
def test_every_network_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, model: BayesianNetwork
) -> None:
    again = FILES.check_round_trip(model, tmp_path_factory.getbasetemp())
    assert again.notes == model.notes


# The shared data ----------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in ("diabetes", "munin2", "munin3", "munin4")])
def test_every_number_survives_bif_dsl(data_folder: Path, tmp_path: Path, name: str) -> None:
    model = shared(data_folder, name)
    assert same(parse(written(model, tmp_path), tmp_path), model)
