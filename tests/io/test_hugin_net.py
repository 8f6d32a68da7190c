"""HUGIN NET: every dialect is read, every number and name is kept, and what is wrong is found with line and column."""

from __future__ import annotations

import random
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.io.networks import (
    NETWORKS,
    UNWRITABLE,
    WET,
    Files,
    networks,
    numbers,
    same,
    shared,
    through_json,
    with_properties,
)

import suffice as sf
from suffice.errors import FileFormatError
from suffice.io import hugin_net, text_file
from suffice.io.hugin_net import reader
from suffice.io.syntax import braces_kept
from suffice.models.bayes_net import BayesianNetwork

RAIN = """net
{
    name = "weather";
}

node rain
{
    states = ("no" "yes");
}

node wet
{
    states = ("dry" "damp" "soaked");
}

potential (rain)
{
    data = (0.75 0.25);
}

potential (wet | rain)
{
    data = ((0.5 0.25 0.25)
            (0.125 0.375 0.5));
}
"""
DATA = RAIN[RAIN.index("((") : RAIN.index("))") + 2]

FILES = Files(hugin_net, ".net")
parse, written = FILES.parse, FILES.written


# What a file says ---------------------------------------------------------------------------------------------


def test_states_parents_and_numbers_keep_the_order_of_the_file(tmp_path: Path) -> None:
    FILES.check_small_network(RAIN, tmp_path)


def test_written_file_is_plain_net(tmp_path: Path) -> None:
    assert written(parse(RAIN, tmp_path), tmp_path).decode() == RAIN


@pytest.mark.parametrize(
    "data",
    [
        "((0.5 0.25 0.25)(0.125 0.375 0.5))",
        "((0.5, 0.25, 0.25), (0.125, 0.375, 0.5))",
        "( ( +0.5 .25 25e-2, ),\n\t(0.125 0.375 0.5) % rain=yes ) (\n)",
        "(0.5 0.25 0.25 0.125 0.375 0.5)",
        "(0.5,0.25,0.25,/* ( */0.125,0.375,0.5)",
        "((0.5 0.25 0.25) // rain=no\n (0.125\u00a00.375 0.5))",
    ],
)
def test_tables_nested_or_flat_with_or_without_commas_say_the_same(tmp_path: Path, data: str) -> None:
    assert parse(RAIN.replace(DATA, data), tmp_path).cpd("wet").values.tolist() == WET


def test_child_varies_fastest_and_then_the_last_parent(tmp_path: Path) -> None:
    nodes = "".join(f"node {name} {{ states = ({' '.join(f'{name}{i}' for i in range(n))}); }}\n" for name, n in SIZES)
    rows = np.arange(6) / 8
    flat = " ".join(f"{p} {1 - p}" for p in rows)
    nested = "".join(
        f"{'(' * (i % 3 == 0)}({p} {1 - p}){')' * (i % 3 == 2)}"
        for i, p in enumerate(rows)  # the last of two parents has three states
    )
    for data in (flat, nested):
        text = f"net {{}} {nodes} potential (c | a b) {{ data = ({data}); }}"
        model = parse(text, tmp_path)
        assert model.cpd("c").values.tolist() == [[p, 1 - p] for p in rows]
        assert model.cpd("c").table.to_numpy()[1, 2, 0] == 5 / 8
        assert same(parse(written(model, tmp_path), tmp_path), model)


SIZES = (("a", 2), ("b", 3), ("c", 2))


def test_class_around_everything_and_discrete_nodes(tmp_path: Path) -> None:
    text = re.sub(r"net\n\{[^}]*\}", "", RAIN).replace("node wet", "discrete node wet")
    model = parse(f"class Weather\n{{ inputs = ();\n node_size = (80 40);{text}\n}}\n", tmp_path)
    assert model.cpd("wet").values.tolist() == WET
    assert model.properties["name"] == "Weather"
    assert model.properties["network"] == ["inputs = ()", "node_size = (80 40)"]
    assert same(parse(written(model, tmp_path), tmp_path), model)


def test_agrum_writes_names_and_states_without_quotation_marks(tmp_path: Path) -> None:
    text = RAIN.replace('"weather"', "my net").replace('("no" "yes")', '(no <5 a"b 1/2 é 0.5 )')
    text = text.replace("(0.75 0.25)", "(0.5 0.1 0.1 0.1 0.1 0.1)").replace(DATA, "(" + "(1 0 0)" * 6 + ")")
    model = parse(text, tmp_path)
    assert model.properties["name"] == "my net"
    assert model.schema["rain"].states == ("no", "<5", 'a"b', "1/2", "é", "0.5")


def test_texts_may_have_escapes_and_go_over_several_lines(tmp_path: Path) -> None:
    states = r'"5\" pipe" "C:\\temp\new" "a\tb\q" "to be \ ' + '\n    or not" "" "% no // comment" "é;{("'
    text = RAIN.replace('"no" "yes"', states).replace("(0.75 0.25)", f"({'1 ' * 7})")
    model = parse(text.replace(DATA, "(" + "(1 0 0)" * 7 + ")"), tmp_path)
    expected = ('5" pipe', "C:\\temp\new", "a\tb\\q", "to be or not", "", "% no // comment", "é;{(")
    assert model.schema["rain"].states == expected
    assert same(parse(written(model, tmp_path), tmp_path), model)


def test_node_without_numbers_is_uniform_with_a_note(tmp_path: Path) -> None:
    for text in (RAIN.replace(f"data = {DATA};", ""), RAIN[: RAIN.index("potential (wet")]):
        model = parse(text, tmp_path)
        assert model.cpd("wet").values.tolist() == [[1 / 3] * 3] * model.cpd("wet").values.shape[0]
        assert model.notes == ("The file has no numbers for 1 node, which were read as uniform: ['wet'].",)


def test_rows_of_weights_are_divided_by_their_sums_with_a_note(tmp_path: Path) -> None:
    model = parse(RAIN.replace("(0.75 0.25)", "(30 10)").replace("(0.125 0.375 0.5)", "(1 1 1)"), tmp_path)
    assert model.cpd("rain").values.tolist() == [[0.75, 0.25]]
    assert model.cpd("wet").values.tolist() == [[0.5, 0.25, 0.25], [1 / 3] * 3]
    (note,) = model.notes
    assert "divided by their sums, in 2 tables: ['rain', 'wet']" in note


def test_rows_that_do_not_quite_sum_to_one_are_noted_and_kept(tmp_path: Path) -> None:
    text = RAIN.replace("0.75 0.25", "0.7500001 0.25")
    model = parse(text, tmp_path)
    assert abs(model.cpd("rain").values.sum() - 1) < 1e-15
    assert "1e-07, at 'rain'" in model.notes[0]
    assert written(through_json(model, tmp_path), tmp_path).decode() == text


def test_numbers_are_taken_before_the_model_that_computed_them(tmp_path: Path) -> None:
    model_of = "model_nodes = (); samples_per_interval = 25; model_data = ( NoisyOR (rain, 0.1, if (a>1, 2, 3)) );"
    model = parse(RAIN.replace(f"data = {DATA};", f"{model_of} data = {DATA};"), tmp_path)
    assert model.cpd("wet").values.tolist() == WET
    assert model.properties["probabilities"]["wet"][-1] == "model_data = ( NoisyOR (rain, 0.1, if (a>1, 2, 3)) )"
    assert "1 table were taken as they are" in model.notes[0]
    again = parse(content := written(model, tmp_path), tmp_path)
    assert same(again, model)
    assert b"potential (wet | rain)\n{\n    data" in content
    with pytest.raises(FileFormatError, match=r"line 23, column 5: The table of 'wet' is a model, 'model_nodes'"):
        parse(RAIN.replace(f"data = {DATA};", model_of), tmp_path)


# What is kept -------------------------------------------------------------------------------------------------


def test_attributes_are_kept_and_written_back(tmp_path: Path) -> None:
    text = RAIN.replace('"weather";\n', '"weather";\n    node_size = (80 40);\n    HR_Desc = "a;\\n\\"b\\" { % c";\n')
    text = text.replace('yes");\n', 'yes");\n    label = "Rain?";\n    position = (-1 2.5);\n    subtype = number;\n')
    text = text.replace("0.25);\n", "0.25);\n    experience = 12.5;\n")
    text = text.replace("0.5));\n", "0.5));\n    experience = (1 2);\n    fading = ((1 0.5)\n (1 1));\n")
    model = parse(text, tmp_path)
    assert model.properties == {
        "name": "weather",
        "network": ["node_size = (80 40)", 'HR_Desc = "a;\\n\\"b\\" { % c"'],
        "variables": {"rain": ['label = "Rain?"', "position = (-1 2.5)", "subtype = number"]},
        "probabilities": {"rain": ["experience = 12.5"], "wet": ["experience = (1 2)", "fading = ((1 0.5)\n (1 1))"]},
    }
    assert written(model, tmp_path).decode() == text
    assert same(parse(written(through_json(model, tmp_path), tmp_path), tmp_path), model)


TEXTS = ["version 1.0", 'a = "b"', "position = (1, 2)", "weight = 5", 'a = "c"', "x = (1", "name = y", "é = 1", ""]
TEXTS += ["states = z", 'q = "\\', 'suffice_name = "x"', "data = (1)", "b = c", 'd = (1 (2) "x")', "e = x;y", "f = a %"]


def test_properties_of_other_formats_are_kept_in_attributes_of_our_own(tmp_path: Path) -> None:
    properties = {"name": "n", "network": TEXTS, "variables": {"wet": TEXTS}, "probabilities": {"rain": TEXTS[::-1]}}
    model = with_properties(parse(RAIN, tmp_path), properties)
    content = written(model, tmp_path)
    assert same(parse(content, tmp_path), model)
    assert b'    a = "b";\n' in content
    assert b'    suffice_property_0 = "version 1.0";\n' in content
    assert b'    suffice_property_4 = "a = \\u0022c\\u0022";\n' in content
    assert b"potential (rain)\n{\n    data = (0.75 0.25);\n    d = (1 (2)" in content


def test_comments_in_attributes_are_not_kept(tmp_path: Path) -> None:
    model = parse(RAIN.replace("0.5));", "0.5)); experience = ( 1 % no\n 2 /* two */ ); % yes"), tmp_path)
    assert model.properties["probabilities"] == {"wet": ["experience = ( 1\n 2           )"]}
    assert same(parse(written(model, tmp_path), tmp_path), model)


def test_network_without_name_stays_without(tmp_path: Path) -> None:
    model = parse(RAIN.replace('name = "weather";', ""), tmp_path)
    assert model.properties["name"] is None
    assert same(parse(written(model, tmp_path), tmp_path), model)


# Names --------------------------------------------------------------------------------------------------------

NAMES = ["light-on", "light_on", "light on", "2nd", "é", "日本", 'a"b', "node", "data", "", "\n", "x", "_", "%", "a.b"]


def named(names: list[str]) -> BayesianNetwork:
    schema = {name: ["no", "yes"] for name in names}
    return BayesianNetwork(
        sf.DAG({name: names[:i][-1:] for i, name in enumerate(names)}),
        {name: [[0.25, 0.75], [0.5, 0.5]] if i else [0.125, 0.875] for i, name in enumerate(names)},
        schema=schema,
    )


def test_names_that_are_no_identifiers_come_back(tmp_path: Path) -> None:
    model = named([name for name in NAMES if name])
    content = written(model, tmp_path).decode()
    nodes = re.findall(r"^node (.*)$", content, re.MULTILINE)
    assert nodes[:8] == ["light_on_2", "light_on", "light_on_3", "x_2nd", "e", "x_2", "a_b", "node_"]
    assert len(set(nodes)) == len(nodes)
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", node) for node in nodes)
    assert '    label = "light-on";\n    suffice_name = "light-on";\n' in content
    assert '    suffice_name = "a\\u0022b";\n' in content
    assert 'label = "a\\' not in content, "a label with an escape would stop other programs"
    again = parse(content, tmp_path)
    assert again.variables == model.variables
    assert again.properties["variables"] == {}
    assert written(again, tmp_path).decode() == content


@pytest.mark.parametrize("label", ["A?", "a b"])
def test_label_of_its_own_is_kept_beside_the_name(tmp_path: Path, label: str) -> None:
    model = named(["a b"])
    properties = {"name": "x", "network": [], "variables": {"a b": [f'label = "{label}"']}, "probabilities": {}}
    model = BayesianNetwork(model.dag, {"a b": model.cpd("a b")}, properties=properties)
    assert same(parse(written(model, tmp_path), tmp_path), model)


def test_name_that_another_program_has_changed_wins(tmp_path: Path) -> None:
    content = written(named(["a b", "c"]), tmp_path).decode()
    model = parse(re.sub(r"\ba_b\b", "smoker", content), tmp_path)
    assert model.variables == ("smoker", "c")
    assert model.notes == (
        "Names that were changed since the file was written are read as they are now: 'smoker' for 'a b'.",
    )
    assert model.properties["variables"] == {"smoker": ['label = "a b"']}


def test_made_up_names_do_not_meet_each_other() -> None:
    names = ["a b", "a_b", "a-b", "a_b_2", "a.b", "a_b_3", *[f"a{chr(0x4E00 + i)}" for i in range(3000)]]
    found = braces_kept.identifiers(names, str.isidentifier)
    assert [found[name] for name in names[:6]] == ["a_b_4", "a_b", "a_b_5", "a_b_2", "a_b_6", "a_b_3"]
    assert len(set(found.values())) == len(names)


# Files --------------------------------------------------------------------------------------------------------


def test_registered_by_their_endings(tmp_path: Path) -> None:
    FILES.check_endings(RAIN, tmp_path)


def test_byte_order_mark_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    FILES.check_line_ends(RAIN, tmp_path)


def test_file_that_is_not_utf8_is_read_as_latin1_with_a_note(tmp_path: Path) -> None:
    model = parse(RAIN.replace('"no"', '"Föhn"').encode("latin-1"), tmp_path)
    assert model.schema["rain"].states == ("Föhn", "yes")
    assert model.notes == (text_file.LATIN_1,)


def test_network_of_a_fit_is_written(tmp_path: Path) -> None:
    FILES.check_fit(tmp_path)


@pytest.mark.parametrize(("thing", "message"), UNWRITABLE)
def test_what_net_cannot_hold_is_refused_and_nothing_is_written(tmp_path: Path, thing: Any, message: str) -> None:
    FILES.check_not_written(thing(), message, tmp_path)


def test_absent_file_is_an_access_error(tmp_path: Path) -> None:
    FILES.check_absent(tmp_path)


# What is wrong ------------------------------------------------------------------------------------------------

ERRORS: list[tuple[str, str, int, int, str]] = [
    (RAIN, "", 1, 1, "does not look like a HUGIN NET file"),
    (RAIN, "(network 'alarm :probability)", 1, 1, "does not look like a HUGIN NET file"),
    (RAIN, "net\n{\n}\n", 4, 1, "no variables"),
    ("net\n{", "net weather {", 1, 5, "Got 'weather' before the brace instead; files with 'net name {' are GeNIe's"),
    ("node rain\n{", "node rain;", 8, 1, "This '}' closes nothing"),
    ("node rain\n", "nodes rain\n", 6, 1, "Expected a block, 'node name {' or 'potential (name) {'. Got 'nodes'"),
    ("node rain", "node", 6, 1, "A node has one name"),
    ("node rain", "node rain fall", 6, 1, "A node has one name, 'node name {'. Got 'rain fall'"),
    ("node wet", "node rain", 11, 6, "'rain' was given at line 6 already"),
    ("node wet", "continuous node wet", 11, 1, "'continuous node wet' is no discrete chance node"),
    ("node wet", "decision wet", 11, 1, "'decision wet' is no discrete chance node"),
    ("node wet", "utility wet", 11, 1, "'utility wet' is no discrete"),
    ("node wet", "function wet", 11, 1, "'function wet' is no"),
    ("node wet", "instance wet : Other (a)", 11, 1, "'instance wet : Other (a)' is no"),
    ('    states = ("no" "yes");\n', "", 6, 6, "Node 'rain' has no states"),
    ('("no" "yes")', "()", 8, 5, "states are a list in parentheses"),
    ('("no" "yes")', '"no"', 8, 5, "states are a list in parentheses"),
    ('("no" "yes")', '("no" ("yes"))', 8, 5, "states are a list in parentheses"),
    ('"no" "yes"', '"no" "no"', 16, 1, "Node 'rain': state 'no' is listed more than once"),
    ('yes");\n', 'yes"); states = ("a");\n', 8, 28, "'states' was given at line 8 already"),
    ('yes");\n', 'yes"); label "x";\n', 8, 28, "Expected 'key = value;' in this block. Got 'label'"),
    ('yes");\n', 'yes"); a = { b = 1; }\n', 8, 28, "Expected 'key = value;' in this block. Got 'a'"),
    ('yes");\n', 'yes")\n', 8, 5, "The entry that begins with 'states' does not end. Add a ';'"),
    ("(wet | rain)", "(wet rain)", 21, 1, "Got 2 children instead"),
    ("(wet | rain)", "( | rain)", 21, 1, "Got 0 children instead"),
    ("(wet | rain)", "wet | rain", 21, 1, "A potential is of one child given its parents"),
    ("(wet | rain)", "(wet | rian)", 21, 18, "'rian' is not a node of the file; they are ['rain', 'wet']. Did"),
    ("(wet | rain)", "(wte | rain)", 21, 12, "'wte' is not a node"),
    ("(wet | rain)", "(rain)", 21, 1, "'rain' has a potential at line 16 already"),
    ("(wet | rain)", "(wet | wet)", 23, 12, "needs 3 lists, one a state of its parent 'wet', here. Got 2"),
    ("(0.75 0.25)", "0.75 0.25", 18, 12, "The numbers of a potential stand in parentheses"),
    ("(0.75 0.25)", "", 18, 12, "The numbers of a potential stand in parentheses"),
    (
        "(0.75 0.25)",
        "(0.75 0.15 0.1)",
        18,
        12,
        "'rain' needs 2 numbers, one a state and parent configuration, here. Got 3",
    ),
    (DATA, "(0.5 0.25)", 23, 12, "'wet' needs 6 numbers, one a state and parent configuration, here. Got 2"),
    (DATA, "((0.5 0.25 0.25))", 23, 12, "'wet' needs 2 lists, one a state of its parent 'rain', here. Got 1"),
    (DATA, "((0.5 0.25 0.25) (1 0 0) (1 0 0))", 23, 12, "Got 3 instead"),
    (DATA, "((0.5 0.25 0.25) (1 0))", 23, 29, "'wet' needs 3 numbers, one a state, here. Got 2"),
    (DATA, "((0.5 0.25 0.25) 1 (0 0 1))", 23, 29, "2 pairs of parentheses around its numbers"),
    (DATA, "(((0.5 0.25 0.25)) ((0 0 1)))", 23, 14, "Got one more '(' here"),
    (DATA, "((1 0 0)(1 0 0)) ((1 0 0)(1 0 0))", 23, 29, "Got one more '(' here"),
    ("0.375", "zero", 24, 20, "'zero' is not a number"),
    ("0.375", "0_375", 24, 20, "'0_375' is not a number"),
    ("0.375", "٠", 24, 20, "'٠' is not a number"),
    ("0.375", "-0.375", 24, 20, "'-0.375' is not a probability"),
    ("0.375", "nan", 24, 20, "'nan' is not a probability"),
    ("0.375", "1e999", 24, 20, "'1e999' is not a probability"),
    ("0.75 0.25", "0 0", 16, 1, "is not a distribution"),
    ("0.75 0.25", "1e308 1e308", 16, 1, "is not a distribution"),
    (f"data = {DATA};", f"data = {DATA}; data = (1);", 24, 33, "'data' was given at line 23 already"),
    ("potential (rain)\n{\n    data = (0.75 0.25)", "potential (rain | wet) { ", 16, 1, "cycle: rain -> wet -> rain"),
    ("0.5));\n}\n", "0.5));\n", 22, 1, "This '{' is not closed"),
    ("0.5));\n}\n", "0.5);\n}\n", 23, 12, "This '(' is not closed"),
    ("0.5));\n}\n", "0.5)));\n}\n", 24, 31, "This ')' closes nothing"),
    ("0.5));\n}\n", "0.5", 24, 13, "This '(' is not closed"),
    ("node rain", "/* node rain", 6, 1, "A comment opens here and does not close"),
    ('("dry" "damp" "soaked")', '("dry" "damp" "soaked)', 13, 28, "A quotation mark opens here and does not close"),
    ('name = "weather"', 'suffice_property_0 = "\\q"', 3, 26, "an escape that JSON does not know"),
    ('name = "weather"', 'suffice_property_0 = "\\ud800"', 3, 26, "an escape that JSON does not know"),
]


@pytest.mark.parametrize(("old", "new", "line", "column", "message"), ERRORS, ids=[case[-1][:40] for case in ERRORS])
def test_mistakes_are_told_with_line_and_column(
    tmp_path: Path, old: str, new: str, line: int, column: int, message: str
) -> None:
    assert old in RAIN
    FILES.check_mistake(RAIN.replace(old, new, 1), line, column, message, tmp_path)


def test_declared_size_cannot_fill_memory(tmp_path: Path) -> None:
    nodes = "".join(f"node v{i} {{ states = (a b c d e f g h i j); }}\n" for i in range(40))
    names = " ".join(f"v{i}" for i in range(1, 40))
    tracemalloc.start()
    for data in ("", "data = (1 2 3);", f"data = {'(' * 40}1 0{')' * 40};"):
        with pytest.raises(FileFormatError, match="'v0'"):
            parse(f"net {{}}\n{nodes} potential (v0 | {names}) {{ {data} }}", tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 2**21
    tracemalloc.stop()
    assert reader.MAX_FILLED == 2**20


@pytest.mark.parametrize(
    "text",
    [
        "net {" + "\n" * 300_000,
        "net {} " + '"' * 300_001,
        "net {} " + "/*" * 300_000,
        "net {} " + "{" * 300_000,
        "net {} " + "a = b;" * 100_000,
        "net {} node a { states = (" + "x " * 100_000,
        "net {} node a { states = " + "(" * 300_000 + ")" * 300_000 + "; }",
        RAIN.replace("(0.75", "(" * 100_000 + ")" * 100_000 + "(0.75"),
        RAIN.replace(DATA, "(" + "(0.5 0.25 0.25)" * 30_000 + ")"),
        RAIN.replace("0.375", "1" * 300_000),
        RAIN.replace("0.375", "," * 300_000),
        RAIN.replace("| rain", "| rain" * 100_000),
        RAIN.replace("(wet | rain", "(wet | " + "rain " * 20_000),
        RAIN.replace('"weather"', '"' + "\\" * 300_000),
    ],
)
def test_long_nonsense_is_refused_without_delay(tmp_path: Path, text: str) -> None:
    FILES.check_nonsense(text, tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_corrupted_file_is_refused_or_a_proper_network(tmp_path: Path, seed: int) -> None:
    good = written(parse(RAIN.replace("0.125", "0.12500001"), tmp_path), tmp_path)
    FILES.check_damage(good, random.Random(seed), 250, tmp_path)


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
def test_every_number_survives_bif_net(data_folder: Path, tmp_path: Path, name: str) -> None:
    model = shared(data_folder, name)
    assert same(parse(written(model, tmp_path), tmp_path), model)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "n_nodes", "n_edges"),
    [
        ("agrum_alarm", 37, 46),
        ("agrum_test1", 4, 4),
        ("agrum_test2", 19, 18),
        ("grain_golf", 8, 9),
        ("grain_chest_clinic", 8, 8),
        ("grain_chest_clinic_short", 8, 8),
    ],
)
def test_files_of_other_programs_load_and_keep_their_attributes(
    data_folder: Path, tmp_path: Path, name: str, n_nodes: int, n_edges: int
) -> None:
    path = data_folder / "io_formats" / f"{name}.net"
    model = hugin_net.read(str(path))
    assert (len(model.dag.nodes), len(model.dag.edges)) == (n_nodes, n_edges)
    content = written(model, tmp_path)
    assert same(parse(content, tmp_path), model)
    keys = re.findall(r"^\s*(\w+)\s*=", path.read_text(), re.MULTILINE)
    assert sorted(re.findall(r"^\s*(\w+)\s*=", content.decode(), re.MULTILINE)) == sorted(keys)


@pytest.mark.data
def test_numbers_of_hugin_files(data_folder: Path) -> None:
    golf = hugin_net.read(str(data_folder / "io_formats" / "grain_golf.net"))
    assert golf.dag.parents["Miss"] == ("Club", "Wind")
    assert numbers(golf.cpd("Miss"))[3:] == [[0.06, 0.94], [0.12, 0.88], [0.12, 0.88]]
    assert 'HR_Desc = "The final result"' in golf.properties["variables"]["Result"]
    weights = hugin_net.read(str(data_folder / "io_formats" / "agrum_test1.net"))
    assert weights.cpd("C4").values.shape[1] == 2
    assert "divided by their sums" in weights.notes[0]


@pytest.mark.data
def test_alarm_is_the_one_of_bnlearn(data_folder: Path) -> None:
    foreign, own = hugin_net.read(str(data_folder / "io_formats" / "agrum_alarm.net")), shared(data_folder, "alarm")
    assert {node: set(above) for node, above in foreign.dag.parents.items()} == {
        node: set(above) for node, above in own.dag.parents.items()
    }
    for node in ("HISTORY", "CVP", "PCWP", "HYPOVOLEMIA", "LVFAILURE", "SAO2"):
        assert foreign.cpd(node).values.shape == own.cpd(node).values.shape


@pytest.mark.data
def test_file_of_another_format_is_told(data_folder: Path) -> None:
    with pytest.raises(FileFormatError, match="line 1, column 1: This does not look like a HUGIN NET file"):
        hugin_net.read(str(data_folder / "io_formats" / "pmtk_alarm.net"))
