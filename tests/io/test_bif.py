"""BIF: every dialect is read, every number is kept, and whatever is wrong is found with its line and column."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.io.networks import NETWORKS, UNWRITABLE, WET, Files, networks, numbers, same, shared, through_json

import suffice as sf
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, FileFormatError
from suffice.io import bif, text_file
from suffice.io.bif import reader
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import NodeFamily

RAIN = """network weather {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable wet {
  type discrete [ 3 ] { dry, damp, soaked };
}
probability ( rain ) {
  table 0.75, 0.25;
}
probability ( wet | rain ) {
  (no) 0.5, 0.25, 0.25;
  (yes) 0.125, 0.375, 0.5;
}
"""

# JavaBayes: names in quotation marks, no bar and no commas, the numbers over several lines with comments.
DOG = """// Bayesian network in the interchange format
/* Produced by
   a program; with { signs } ; of its own */
network "Dog-Problem" { //3 variables and 3 probability distributions
	property "credal-set constant-density-bounded 1.1" ;
}
variable  "light-on" { //2 values
	type discrete[2] {  "true"  "false" };
	property "position = (218, 195)" ;
}
variable  "family-out" { //2 values
	type discrete[2] {  "true""false" };
}
variable  dog_out { type discrete[2] { true false } ; }
probability (  "light-on"  "family-out" ) { //2 variable(s) and 4 values
	table
		0.6 	// p(true | true)
		0.05 	0.4 0.95 ;
}
probability (  "family-out" ) { table 0.15 0.85 ; }
probability ( dog_out "family-out" "light-on" ) {
	default 0.3 0.7;
	( "true" "true" ) 0.9 0.1;
}
"""

FILES = Files(bif, ".bif")
parse, written = FILES.parse, FILES.written


# What a file says ---------------------------------------------------------------------------------------------


def test_states_parents_and_numbers_keep_the_order_of_the_file(tmp_path: Path) -> None:
    FILES.check_small_network(RAIN, tmp_path)


@pytest.mark.parametrize(
    "block",
    [
        "{ (yes) 0.125, 0.375, 0.5; (no) 0.5, 0.25, 0.25; }",
        "{ ( yes ) 0.125 0.375 0.5 ; ( no )0.5 .25 25e-2; }",
        '{ ("yes") 0.125 | 0.375 | 0.5; ("no") +0.5, 0.25, 0.25, ; }',
        "{ table 0.5, 0.125, 0.25, 0.375, 0.25, 0.5; }",
        "{ table 0.5\u00a00.125 0.25 0.375 0.25 0.5; }",
        "{ table 0.5 0.125\n 0.25 0.375 // comment\n /* 1 */ 0.25 0.5; }",
        "{ default 0.5, 0.25, 0.25; (yes) 0.125, 0.375, 0.5; }",
        "{ (yes) 0.125, 0.375, 0.5; default 0.5, 0.25, 0.25; }",
        "{\n# a line of comment\n (yes) 0.125, 0.375, 0.5;\r\n default 0.5, 0.25, 0.25; }",
    ],
)
def test_rows_in_any_order_tables_and_defaults_say_the_same(tmp_path: Path, block: str) -> None:
    text = re.sub(r"(wet \| rain \) )\{.*\}", lambda found: found[1] + block, RAIN, flags=re.DOTALL)
    assert parse(text, tmp_path).cpd("wet").values.tolist() == WET


def test_child_varies_slowest_and_last_parent_fastest_in_a_table(tmp_path: Path) -> None:
    variables = "".join(
        f"variable {name} {{ type discrete [{n}] {{ {', '.join(f'{name}{i}' for i in range(n))} }}; }}\n"
        for name, n in (("a", 2), ("b", 3), ("c", 2))
    )
    first = [0.0, 0.125, 0.25, 0.375, 0.5, 0.625]
    table = " ".join(map(str, [*first, *(1 - p for p in first)]))
    roots = "probability (a) { table 0.5 0.5; } probability (b) { default 0.5 0.25 0.25; }"
    model = parse(f"network n {{}} {variables} {roots} probability (c | a, b) {{ table {table}; }}", tmp_path)
    assert model.cpd("c").values.tolist() == [[p, 1 - p] for p in first]
    assert model.cpd("c").table.to_numpy()[1, 0, 0] == 0.375


def test_default_alone_fills_every_row(tmp_path: Path) -> None:
    text = re.sub(r"\(no\).*\n.*\(yes\).*\n", "default 0.5 0.25 0.25;\n", RAIN)
    assert parse(text, tmp_path).cpd("wet").values.tolist() == [[0.5, 0.25, 0.25]] * 2


def test_javabayes_dialect(tmp_path: Path) -> None:
    model = parse(DOG, tmp_path)
    assert model.variables == ("light-on", "family-out", "dog_out")
    assert model.dag.parents["dog_out"] == ("family-out", "light-on")
    assert model.schema["family-out"].states == ("true", "false")
    assert model.cpd("light-on").values.tolist() == [[0.6, 0.4], [0.05, 0.95]]
    assert model.cpd("dog_out").values.tolist() == [[0.9, 0.1], [0.3, 0.7], [0.3, 0.7], [0.3, 0.7]]
    assert model.properties["name"] == "Dog-Problem"
    assert model.properties["network"] == ['"credal-set constant-density-bounded 1.1"']
    assert model.properties["variables"] == {"light-on": ['"position = (218, 195)"']}


def test_names_that_others_write_without_quotation_marks(tmp_path: Path) -> None:
    names = ["New York", "a.b", "x-y", "1/2", "<30", "a=b", "Größe", "2nd", "table", 'pipe 5"', "http://x", "f(x)"]
    variables = "".join(f"variable {name} {{ type discrete[2] {{ {name}, not {name} }}; }}\n" for name in names)
    roots = "".join(f"probability ( {name} ) {{ table 0.5 0.5; }}\n" for name in names)
    leaf = (
        f"variable leaf {{ type discrete[1] {{ one }}; }} probability ( leaf | {', '.join(names[:3])} ) {{ default 1; "
    )
    rows = "(New York, not a.b, x-y) 1; (New York, a.b, not x-y) 1.0; }"
    model = parse(f"network my net {{}}\n{variables}{roots}{leaf}{rows}", tmp_path)
    assert model.variables == (*names, "leaf")
    assert model.schema["f(x)"].states == ("f(x)", "not f(x)")
    assert model.dag.parents["leaf"] == tuple(names[:3])
    assert model.properties["name"] == "my net"
    assert same(parse(written(model, tmp_path), tmp_path), model)


def test_properties_are_kept_and_written_back(tmp_path: Path) -> None:
    network = (
        'property Source = "a; b"\n property url = http://x.org ;\n  property size = ( 2000,\n 1200);\nproperty last\n'
    )
    text = RAIN.replace("weather {\n", f"weather {{\n{network}")
    text = text.replace("yes };", "yes };\n  property position = (1, 2) ; // where\n  property weight = None ;")
    text = text.replace("wet | rain ) {", 'wet | rain ) { property function max; property "a // b";')
    model = parse(text, tmp_path)
    assert model.properties == {
        "name": "weather",
        "network": ['Source = "a; b"', "url = http://x.org", "size = ( 2000,\n 1200)", "last"],
        "variables": {"rain": ["position = (1, 2)", "weight = None"]},
        "probabilities": {"wet": ["function max", "a // b"]},
    }
    assert same(parse(written(model, tmp_path), tmp_path), model)
    assert same(parse(written(through_json(model, tmp_path), tmp_path), tmp_path), model)


def test_written_file_is_plain_bif(tmp_path: Path) -> None:
    assert written(parse(RAIN, tmp_path), tmp_path).decode() == RAIN


def test_rows_that_do_not_sum_to_one_are_noted_and_kept(tmp_path: Path) -> None:
    text = RAIN.replace("0.75, 0.25;", "0.7500001, 0.25;").replace("0.5, 0.25, 0.25", "0.1, 0.7, 0.2")
    model = parse(text, tmp_path)
    assert abs(model.cpd("rain").values.sum() - 1) < 1e-15
    assert model.cpd("rain").raw.tolist() == [[0.7500001, 0.25]]
    (note,) = model.notes
    assert "1 table: ['rain']" in note
    assert "1e-07, at 'rain'" in note
    assert written(through_json(model, tmp_path), tmp_path).decode() == text


# Files --------------------------------------------------------------------------------------------------------


def test_gzip_is_found_by_content_and_written_by_ending(tmp_path: Path) -> None:
    model = parse(gzip.compress(RAIN.encode()), tmp_path, "packed.bif")
    assert same(parse(RAIN, tmp_path, "plain.bif.gz"), model), "a plain file may keep the ending of a packed one"
    packed = written(model, tmp_path, "a.bif.gz")
    assert gzip.decompress(packed).decode() == RAIN
    assert packed == written(model, tmp_path, "b.BIF.GZ"), "neither the name nor the time may be part of the file"


def test_byte_order_mark_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    FILES.check_line_ends(RAIN, tmp_path)


def test_file_that_is_not_utf8_is_read_as_latin1_with_a_note(tmp_path: Path) -> None:
    model = parse(RAIN.replace("rain", "Föhn").encode("latin-1"), tmp_path)
    assert model.variables == ("Föhn", "wet")
    assert model.notes == (text_file.LATIN_1,)
    assert 'variable "Föhn" {' in written(model, tmp_path).decode()


def test_network_of_a_fit_is_written(tmp_path: Path) -> None:
    assert FILES.check_fit(tmp_path).properties["name"] == "unknown"


@pytest.mark.parametrize(("thing", "message"), UNWRITABLE)
def test_what_bif_cannot_hold_is_refused_and_nothing_is_written(tmp_path: Path, thing: Any, message: str) -> None:
    FILES.check_not_written(thing(), message, tmp_path)


class Normal:
    kind = "normal"

    def __init__(self, states: tuple[str, ...] | None) -> None:
        self.family = NodeFamily(Variable("x", states, True))

    def to_dict(self) -> dict[str, Any]:
        return {}

    log_prob = sample = log_likelihood = renamed = from_dict = to_dict


@pytest.mark.parametrize(("states", "message"), [(None, "'x' is continuous"), (("a", "b"), "'x' is of kind 'normal'")])
def test_other_kinds_of_nodes_are_refused(tmp_path: Path, states: tuple[str, ...] | None, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        bif.write(BayesianNetwork(sf.DAG(["x"]), {"x": Normal(states)}), str(tmp_path / "x.bif"))


def test_absent_file_is_an_access_error(tmp_path: Path) -> None:
    FILES.check_absent(tmp_path)


# What is wrong ------------------------------------------------------------------------------------------------

ROWS = "  (no) 0.5, 0.25, 0.25;\n  (yes) 0.125, 0.375, 0.5;\n"
ERRORS: list[tuple[str, str, int, int, str]] = [
    ("network weather {\n}\n", "", 1, 1, "no network block"),
    ("variable rain {", "network b {}\nvariable rain {", 3, 1, "second network block"),
    ("variable rain {", "variables rain {", 3, 1, "Expected 'network', 'variable' or 'probability'. Got 'variables'"),
    ("variable rain {", "variable rain;", 3, 1, "no '{'"),
    ("variable rain {", "variable {", 3, 1, "no name"),
    ("variable wet", "variable rain", 6, 10, "'rain' was declared at line 3 already"),
    ("  type discrete [ 2 ] { no, yes };\n", "", 3, 10, "'rain' needs one 'type discrete"),
    ("yes };", "yes }; type discrete [1] {a};", 3, 10, "It has 2"),
    ("discrete [ 2 ]", "continuous", 4, 3, "discrete variables only"),
    ("[ 2 ]", "[ 3 ]", 4, 19, "declared with 3 states, but 2 are listed"),
    ("[ 2 ] { no, yes }", "[ 0 ] { }", 4, 19, "has no states"),
    ("no, yes", "no, no", 4, 29, "state 'no' is listed more than once"),
    ("  type", "  tipe", 4, 3, "Expected 'type', 'property' or '}' in a variable block. Got 'tipe'"),
    ("weather {", "weather { proprety a;", 1, 19, "Expected 'property' or '}' in a network block. Got 'proprety'"),
    ("  (no)", "  [no]", 13, 3, "Expected '(', 'table', 'default', 'property' or '}' in a probability block"),
    ("( wet | rain )", "wet | rain", 12, 1, "begins with 'probability ( child"),
    ("( wet | rain )", "( )", 12, 1, "names no variable"),
    ("( wet | rain )", "( wet | rian )", 12, 21, "'rian' is not a variable of the file; they are ['rain', 'wet']. Did"),
    ("( wet | rain )", "( wet | rain, rain )", 12, 27, "'rain' is named twice"),
    ("( wet | rain )", "( wet | wet )", 12, 21, "'wet' is named twice"),
    ("( wet | rain )", "( rain )", 12, 15, "'rain' has numbers at line 9 already"),
    ("probability ( rain ) {\n  table 0.75, 0.25;\n}\n", "", 3, 10, "'rain' has no probability block"),
    ("table 0.75, 0.25", "table 0.75, 0.15, 0.1", 10, 9, "needs 2 numbers, 2 states × 1 parent configuration. Got 3"),
    (ROWS, "  table 0.5, 0.5;\n", 13, 9, "needs 6 numbers, 3 states × 2 parent configurations. Got 2"),
    (ROWS, f"{ROWS} table 1 1 0 0 0 0;", 12, 1, "a table beside other entries"),
    (ROWS, " table 1 1 0 0 0 0;\n table 1 1 0 0 0 0;\n", 14, 2, "A second table"),
    (ROWS, " default 1 0 0;\n default 1 0 0;\n", 14, 2, "A second default"),
    (ROWS, "", 12, 1, "'wet' has no numbers"),
    ("  (yes) 0.125, 0.375, 0.5;\n", "", 12, 1, "1 of 2 rows; the first that is missing is for rain='yes'"),
    ("(yes) 0.125, ", "(yes) ", 14, 9, "A row of 'wet' needs 3 numbers, one a state. Got 2"),
    ("(yes)", "(no)", 14, 4, "this row was given at line 13 already"),
    ("(yes)", "(yse)", 14, 4, "'yse' is not a state of its parent 'rain', which has ['no', 'yes']. Did you mean 'yes'"),
    ("(yes)", "(yes, no)", 14, 4, "one state for each of its 1 parent. Got ['yes', 'no']"),
    ("0.25;\n  (yes)", "0.25\n  (yes)", 13, 4, "A row ends with ';'"),
    ("0.375", "zero", 14, 16, "'zero' is not a number"),
    ("0.375", "0_375", 14, 16, "'0_375' is not a number"),
    ("0.375", "٠", 14, 16, "'٠' is not a number"),
    ("0.375", "-0.375", 14, 16, "'-0.375' is not a probability"),
    ("0.375", "nan", 14, 16, "'nan' is not a probability"),
    ("0.375", "1e999", 14, 16, "'1e999' is not a probability"),
    ("0.375", "1e308, 1e308", 14, 9, "needs 3 numbers"),
    ("0.125, 0.375", "1e308, 1e308", 14, 9, "sums to inf"),
    ("0.375", "0.475", 14, 9, "the row for rain='yes' sums to 1.1"),
    ("table 0.75, 0.25", "table 0.75, -0.25", 10, 15, "'-0.25' is not a probability"),
    ("0.75, 0.25", "0, 0", 10, 9, "Node 'rain': the row sums to 0"),
    (ROWS, " default 1 1 0;\n", 13, 10, "the row sums to 2"),
    (ROWS, " table 0.5, 0.25, 0.25, 0.125, 0.375, 0.5;\n", 13, 8, "With the child varying fastest the sums would be 1"),
    ("( rain ) {\n  table 0.75, 0.25;", "( rain | wet ) { default 1 0;", 9, 1, "cycle: rain -> wet -> rain"),
    ("0.5;\n}\n", "0.5", 14, 3, "ends inside the block that begins at line 12"),
    ("0.5;\n}\n", "0.5;\n", 15, 1, "ends inside the block that begins at line 12"),
    (RAIN[RAIN.index("probability ( wet") :], "probability ( we", 12, 1, "no '{' after its name"),
    (RAIN[17:], "", 1, 18, "ends inside the block that begins at line 1"),
    (RAIN[20:], "", 3, 1, "no variables"),
    ("variable rain", "/* variable rain", 3, 1, "A comment opens here and does not close"),
    ("variable rain", 'variable "rain', 3, 10, "A quotation mark opens here and does not close"),
    (RAIN, "", 1, 1, "no network block"),
    (RAIN, "<?xml version='1.0'?>", 1, 1, "Got '<?xml' instead"),
]


@pytest.mark.parametrize(("old", "new", "line", "column", "message"), ERRORS, ids=[case[-1][:40] for case in ERRORS])
def test_mistakes_are_told_with_line_and_column(
    tmp_path: Path, old: str, new: str, line: int, column: int, message: str
) -> None:
    assert old in RAIN
    FILES.check_mistake(RAIN.replace(old, new, 1), line, column, message, tmp_path)


@pytest.mark.parametrize("cut", [1, 9, 40, -20, -9, -1])
def test_cut_gzip_is_an_error(tmp_path: Path, cut: int) -> None:
    with pytest.raises(FileFormatError):
        parse(gzip.compress(RAIN.encode())[:cut], tmp_path)


def test_damaged_gzip_is_an_error_with_the_reason(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(RAIN.encode()))
    packed[30] ^= 255
    with pytest.raises(FileFormatError, match="not a proper gzip file"):
        parse(bytes(packed), tmp_path)


def test_gzip_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "MAX_UNPACKED", 100)
    with pytest.raises(FileFormatError, match="unpacks to more than 100 bytes"):
        parse(gzip.compress(RAIN.encode()), tmp_path)


def test_default_entry_cannot_fill_memory(tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(20_000)]
    blocks = "".join(
        f"variable {v} {{type discrete[2]{{a,b}};}}probability({v}){{table 0.5 0.5;}}\n" for v in names[:40]
    )
    leaf = f"variable x {{type discrete[2]{{a,b}};}} probability (x | {', '.join(names[:40])}) {{ default 0.5 0.5; }}"
    with pytest.raises(FileFormatError, match=r"line 41, column .*more than 16,777,216 numbers in all"):
        parse(f"network n {{}} {blocks}{leaf}", tmp_path)
    assert reader.MAX_FILLED == 2**24


@pytest.mark.parametrize(
    "text",
    [
        "network a {" + "\n" * 300_000,
        "network a { property " + "\n x" * 200_000,
        "network a {} " + '"' * 300_001,
        "network a {} " + "/*" * 300_000,
        "network a {} variable b { type discrete [ 2 ] {" + " } " * 200_000,
        "network a {} variable b { type discrete [ " + "9" * 300_000 + " ] { a }; }",
        RAIN.replace("(no)", "(" * 300_000),
        RAIN.replace("(no)", "(" + "no, " * 200_000),
        RAIN.replace("0.375", "1" * 300_000),
        RAIN.replace("rain )", "rai" * 100_000 + " )"),
    ],
)
def test_long_nonsense_is_refused_without_delay(tmp_path: Path, text: str) -> None:
    FILES.check_nonsense(text, tmp_path)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("text", [RAIN, DOG], ids=["rain", "dog"])
def test_corrupted_file_is_refused_or_a_proper_network(tmp_path: Path, text: str, seed: int) -> None:
    FILES.check_damage(text.encode(), random.Random(seed), 250, tmp_path)


# Round trips --------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(networks())
def test_every_network_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, model: BayesianNetwork
) -> None:
    FILES.check_round_trip(model, tmp_path_factory.getbasetemp())


# The shared data ----------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("name", NETWORKS)
def test_repository_networks_have_their_published_sizes(data_folder: Path, name: str) -> None:
    sizes = json.loads((data_folder / "networks_bif" / "published_sizes.json").read_text())
    assert set(sizes) == set(NETWORKS)
    model = shared(data_folder, name)
    n_free = sum(cpd.values.shape[0] * (cpd.values.shape[1] - 1) for cpd in model.cpds)
    found = [len(model.dag.nodes), len(model.dag.edges), n_free]
    assert found == sizes[name]["published_nodes_arcs_params"]


@pytest.mark.data
@pytest.mark.parametrize("name", ["alarm", "hailfinder", "insurance", "munin1", "sachs", "water", "pathfinder"])
def test_every_number_survives_bif_json_bif(data_folder: Path, tmp_path: Path, name: str) -> None:
    model = shared(data_folder, name)
    again = parse(written(through_json(model, tmp_path), tmp_path, "x.bif.gz"), tmp_path)
    assert same(again, model)
    text = gzip.decompress((data_folder / "networks_bif" / f"{name}.bif.gz").read_bytes()).decode()
    in_file = re.findall(r"(?<![\w(])\d[\d.e+-]*(?=[,;])", re.sub(r"\{[^{}]*\};|\([^()]*\)", "", text))
    in_model = [value for cpd in model.cpds for row in numbers(cpd) for value in row]
    assert sorted(map(float, in_file)) == sorted(in_model)


@pytest.mark.data
@pytest.mark.parametrize("name", ["alarm", "survey"])
def test_agrum_and_bnlearn_files_hold_the_same_network(data_folder: Path, name: str) -> None:
    foreign, own = bif.read(str(data_folder / "io_formats" / f"agrum_{name}.bif")), shared(data_folder, name)
    assert {cpd.family for cpd in foreign.cpds} == {cpd.family for cpd in own.cpds}
    assert name == "alarm" or all(numbers(foreign.cpd(node)) == numbers(own.cpd(node)) for node in own.variables)


@pytest.mark.data
@pytest.mark.parametrize("name", ["agrum_asia", "agrum_asia_bool"])
def test_tables_of_agrum_equal_the_rows_of_bnlearn(data_folder: Path, name: str) -> None:
    """The evidence for the order of ``table``: aGrUM's asia has tables, bnlearn's has rows."""
    tables, rows = bif.read(str(data_folder / "io_formats" / f"{name}.bif")), shared(data_folder, "asia")
    called = {"asia": "visit_to_Asia", "tub": "tuberculosis", "either": "tuberculos_or_cancer", "xray": "positive_XraY"}
    called |= {"lung": "lung_cancer", "smoke": "smoking", "bronc": "bronchitis", "dysp": "dyspnoea"}
    assert set(rows.variables) == set(called)
    for node in rows.variables:
        own, foreign = rows.cpd(node), tables.cpd(called[node])
        axes = [[called[name] for name in own.family.scope].index(name) for name in foreign.family.scope]
        assert np.array_equal(own.table.to_numpy().transpose(axes), foreign.table.to_numpy()), node


@pytest.mark.data
def test_agrum_default_rows_and_properties(data_folder: Path) -> None:
    model = bif.read(str(data_folder / "io_formats" / "agrum_tree.bif"))
    assert model.dag.parents["a"] == ("f", "e", "i")
    assert numbers(model.cpd("d")) == [[0.00987029, 0.435882, 0.0921108, 0.462136]]
    assert numbers(model.cpd("a"))[1] == [0.485568, 0.514432]
    assert model.properties["network"] == ["version 1.0", "author aGrUM"]


@pytest.mark.data
@pytest.mark.parametrize("number", [3, 4, 5])
def test_broken_agrum_files_are_told_with_line_and_column(data_folder: Path, number: int) -> None:
    with pytest.raises(
        FileFormatError, match=r"line 58, column 9: The table of 'n6' needs 12 numbers.* Got 10 instead"
    ):
        bif.read(str(data_folder / "io_formats" / f"agrum_BIFReader_file{number}.bif"))


@pytest.mark.data
def test_carpo_loads_with_what_it_leaves_out_unknown(data_folder: Path) -> None:
    """Carpo declares a variable without numbers, and lists single causes only for nodes of a noisy function."""
    network = bif.read(str(data_folder / "io_formats" / "agrum_carpo.bif"))
    assert len(network.variables) == 61
    assert np.isnan(network.cpd("N117").values).all()
    rows = dict(network.cpd("N5").rows())
    assert rows["0", "0"].tolist() == [0.25, 0.75]
    assert rows["1", "0"].tolist() == [0.5, 0.5]
    assert np.isnan(rows["1", "1"]).all()
    assert any("noisy function" in note and "NaN" in note for note in network.notes)


def test_rows_may_be_left_out_for_a_noisy_function_only(tmp_path: Path) -> None:
    text = (
        "network n {}\nvariable A { type discrete [2] {a, b}; }\nvariable B { type discrete [2] {a, b}; }\n"
        "probability (A) { table 0.5 0.5; }\nprobability (B | A) { PROPERTY (a) 0.25 0.75; }\n"
    )
    found = parse(text.replace("PROPERTY", "property function max;"), tmp_path)
    assert np.isnan(found.cpd("B").values).tolist() == [[False, False], [True, True]]
    with pytest.raises(FileFormatError, match="has 1 of 2 rows"):
        parse(text.replace("PROPERTY", ""), tmp_path)


@pytest.mark.data
@pytest.mark.parametrize("packed", [False, True])
def test_thousand_corruptions_of_asia(data_folder: Path, tmp_path: Path, packed: bool) -> None:
    content = (data_folder / "networks_bif" / "asia.bif.gz").read_bytes()
    FILES.check_damage(content if packed else gzip.decompress(content), random.Random(0), 1000, tmp_path)
