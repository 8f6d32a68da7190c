"""XMLBIF: every dialect is read, every number is kept, XML is not trusted, and mistakes are found with their place."""

from __future__ import annotations

import gzip
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.io.networks import WET, XML_TEXTS, Files, networks, numbers, same, shared

import suffice as sf
from suffice.errors import ArgumentError, FileAccessError, FileFormatError
from suffice.io import bif, xmlbif
from suffice.io.syntax import xml_file
from suffice.models.bayes_net import BayesianNetwork

RAIN = """<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>weather</NAME>
<VARIABLE TYPE="nature">
  <NAME>rain</NAME>
  <OUTCOME>no</OUTCOME>
  <OUTCOME>yes</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature">
  <NAME>wet</NAME>
  <OUTCOME>dry</OUTCOME>
  <OUTCOME>damp</OUTCOME>
  <OUTCOME>soaked</OUTCOME>
</VARIABLE>
<DEFINITION>
  <FOR>rain</FOR>
  <TABLE>0.75 0.25</TABLE>
</DEFINITION>
<DEFINITION>
  <FOR>wet</FOR>
  <GIVEN>rain</GIVEN>
  <TABLE>0.5 0.25 0.25 0.125 0.375 0.5</TABLE>
</DEFINITION>
</NETWORK>
</BIF>
"""

# JavaBayes: the document type of the format, properties, comments within tables.
ALARM = """<?xml version="1.0" encoding="US-ASCII"?>

<!-- Bayesian network in XMLBIF v0.3 -->
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
        <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
  <!ELEMENT NAME (#PCDATA)>
  <!ELEMENT VARIABLE ( NAME, ( OUTCOME |  PROPERTY )* ) >
        <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
]>
<BIF VERSION="0.3">
<NETWORK>
<NAME>Alarm &amp; call</NAME>
<PROPERTY>author someone</PROPERTY>
<VARIABLE TYPE="nature">
  <NAME>thief-in</NAME>
  <OUTCOME>true</OUTCOME><OUTCOME>false</OUTCOME>
  <PROPERTY>position = (73, 165)</PROPERTY>
  <PROPERTY></PROPERTY>
</VARIABLE>
<VARIABLE>
  <NAME>
    alarm
  </NAME>
  <OUTCOME>true</OUTCOME><OUTCOME>false</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature"><NAME>call</NAME><OUTCOME>&lt;1</OUTCOME><OUTCOME>1</OUTCOME></VARIABLE>
<DEFINITION>
  <FOR>call</FOR>
  <GIVEN>thief-in</GIVEN>
  <GIVEN>alarm</GIVEN>
  <TABLE> <!-- thief, alarm -->
    1e-1 .9 <!-- thief, no alarm -->
    0.2 0.8
    0.3 0.7 +0.4 0.6
  </TABLE>
  <PROPERTY>source = guess</PROPERTY>
</DEFINITION>
<DEFINITION><FOR>alarm</FOR><GIVEN>thief-in</GIVEN><TABLE>0.99 0.01 0.05 0.95</TABLE></DEFINITION>
<DEFINITION><FOR>thief-in</FOR><TABLE>0.001 0.999</TABLE></DEFINITION>
</NETWORK>
</BIF>
"""

FILES = Files(xmlbif, ".xmlbif")
parse, written = FILES.parse, FILES.written


# What a file says ---------------------------------------------------------------------------------------------


def test_states_parents_and_numbers_keep_the_order_of_the_file(tmp_path: Path) -> None:
    FILES.check_small_network(RAIN, tmp_path)


def test_child_varies_fastest_and_first_parent_slowest_in_a_table(tmp_path: Path) -> None:
    model = parse(ALARM, tmp_path)
    assert model.dag.parents["call"] == ("thief-in", "alarm")
    assert dict(model.cpd("call").rows())["true", "false"].tolist() == [0.2, 0.8]
    assert dict(model.cpd("call").rows())["false", "true"].tolist() == [0.3, 0.7]


def test_document_type_comments_blanks_and_properties(tmp_path: Path) -> None:
    model = parse(ALARM, tmp_path)
    assert model.variables == ("thief-in", "alarm", "call")
    assert model.schema["call"].states == ("<1", "1")
    assert model.properties == {
        "name": "Alarm & call",
        "network": ["author someone"],
        "variables": {"thief-in": ["position = (73, 165)", ""]},
        "probabilities": {"call": ["source = guess"]},
    }
    assert model.notes == ()


@pytest.mark.parametrize("change", [str.lower, lambda text: text.replace("OUTCOME", "VALUE")])
def test_tags_in_small_letters_and_older_names(tmp_path: Path, change: Any) -> None:
    text = re.sub(r"</?\w+", lambda found: change(found[0]), RAIN[RAIN.index("<BIF") :])
    assert same(parse(text, tmp_path), parse(RAIN, tmp_path))


def test_older_probability_elements_are_read_with_a_note(tmp_path: Path) -> None:
    model = parse(RAIN.replace("DEFINITION", "PROBABILITY"), tmp_path)
    assert same(model, parse(RAIN, tmp_path))
    assert "before 0.3" in model.notes[0]


def test_what_has_no_place_is_named_in_a_note(tmp_path: Path) -> None:
    text = RAIN.replace("<NAME>rain", '<OBS seen="1">yes</OBS><NAME id="7">rain').replace(
        "<BIF", '<BIF xmlns="u" a="1"'
    )
    (note,) = parse(text, tmp_path).notes
    assert note == "Left out, since a network has no place for it: ['a of BIF', 'OBS in VARIABLE']."


def test_network_without_a_name(tmp_path: Path) -> None:
    model = parse(RAIN.replace("<NAME>weather</NAME>\n", ""), tmp_path)
    assert model.properties["name"] == ""
    assert b"<NAME>unknown</NAME>" in written(model, tmp_path)


def test_rows_of_zeros_are_unknown_with_a_note(tmp_path: Path) -> None:
    model = parse(RAIN.replace("0.125 0.375 0.5", "0 0.0 0"), tmp_path)
    assert np.array_equal(model.cpd("wet").values, [WET[0], [np.nan] * 3], equal_nan=True)
    assert model.cpd("rain").values.tolist() == [[0.75, 0.25]]
    assert model.notes == ("Rows of zeros, which are no distributions, are unknown (NaN), in 1 table: ['wet'].",)
    with pytest.raises(ArgumentError, match="unknown"):
        written(model, tmp_path)


def test_rounded_rows_are_normalised_and_written_back_as_they_were(tmp_path: Path) -> None:
    model = parse(RAIN.replace("0.75 0.25", "0.333333 0.666666"), tmp_path)
    assert model.cpd("rain").values.sum() == 1
    assert numbers(model.cpd("rain")) == [[0.333333, 0.666666]]
    assert "normalised" in model.notes[0]
    assert b"\n0.333333 0.666666\n" in written(model, tmp_path)


# Encodings ----------------------------------------------------------------------------------------------------

FOEHN = RAIN.replace("rain", "Föhn")


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("UTF-8", "utf-8"),
        ("utf-8", "utf-8-sig"),
        ("ISO-8859-1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("UTF-16", "utf-16"),
        ("UTF-16", "utf-16-le"),
        ("UTF-16", "utf-16-be"),
        ("UTF-16", "utf-8"),
    ],
)
def test_declared_encodings_and_marks_are_respected(tmp_path: Path, declared: str, codec: str) -> None:
    model = parse(FOEHN.replace("UTF-8", declared).encode(codec), tmp_path)
    assert model.variables == ("Föhn", "wet")
    assert model.notes == ()


@pytest.mark.parametrize("declared", ["UTF-8", "US-ASCII"])
def test_what_is_not_utf8_is_read_as_latin_1_with_a_note(tmp_path: Path, declared: str) -> None:
    model = parse(FOEHN.replace("UTF-8", declared).encode("latin-1"), tmp_path)
    assert model.variables == ("Föhn", "wet")
    assert "Latin-1" in model.notes[0]


def test_unknown_encodings_are_errors(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"line 1, column 31: The encoding 'EBCDIC-37' is not known.*UTF-8"):
        parse(RAIN.replace("UTF-8", "EBCDIC-37"), tmp_path)
    with pytest.raises(FileFormatError, match="begins as UTF-16 and is none"):
        parse(RAIN.encode("utf-16")[:-1], tmp_path)


def test_places_count_characters_not_bytes(tmp_path: Path) -> None:
    text = FOEHN.replace("<NAME>weather</NAME>", "<NAME>Wetterlage: föhnig, Böen</NAME><BÖ/><NAME>x</NAME>")
    with pytest.raises(FileFormatError, match=r"line 4, column 43: <NETWORK> holds one <NAME> element. Got 2"):
        parse(text, tmp_path)


def test_packed_files_are_read_and_written(tmp_path: Path) -> None:
    model = parse(gzip.compress(RAIN.encode()), tmp_path)
    packed = written(model, tmp_path, "out.xmlbif.gz")
    assert gzip.decompress(packed) == written(model, tmp_path)


@pytest.mark.parametrize("ending", [".xmlbif", ".xbif", ".bifxml", ".xml", ".xmlbif.gz"])
def test_endings_are_registered(tmp_path: Path, ending: str) -> None:
    model = parse(RAIN, tmp_path)
    sf.write(model, tmp_path / f"model{ending}")
    assert same(sf.read(tmp_path / f"model{ending}"), model)


def test_missing_file_is_an_access_error(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError):
        xmlbif.read(str(tmp_path / "none.xmlbif"))


# XML that is not to be trusted --------------------------------------------------------------------------------

LAUGHS = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
HOSTILE = [
    (f'<!DOCTYPE BIF [<!ENTITY a0 "ha">{LAUGHS}]><BIF>&a9;</BIF>', "declares the entity 'a0'"),
    ('<!DOCTYPE BIF [<!ENTITY x SYSTEM "file:///etc/passwd">]><BIF>&x;</BIF>', "declares the entity 'x'"),
    ('<!DOCTYPE BIF [<!ENTITY % x SYSTEM "http://x/">%x;]><BIF/>', "declares the entity 'x'"),
    ("<!DOCTYPE BIF [%x;]><BIF>&y;</BIF>", "entity 'y' stands in another file"),
    ('<!DOCTYPE BIF SYSTEM "x.dtd"><BIF>&x;</BIF>', "entity 'x' stands in another file"),
    ("<BIF>&x;</BIF>", "undefined entity"),
    ("<BIF>" * 65, "nested deeper than 64"),
    ("<BIF>" * 500_000, "nested deeper than 64"),
    ("<BIF><!--" + "-" * 500_000, "not proper XML"),
    ("<BIF " + "a" * 500_000, "not proper XML"),
    ('<!DOCTYPE BIF [<!ATTLIST a b CDATA "' + "x" * 100_000 + '">]><BIF>' + "<a/>" * 5000 + "</BIF>", "one <NETWORK>"),
]


@pytest.mark.parametrize(("text", "message"), HOSTILE, ids=[message for _, message in HOSTILE])
def test_hostile_xml_is_refused_without_delay(tmp_path: Path, text: str, message: str) -> None:
    tracemalloc.start()
    with pytest.raises(FileFormatError, match=message) as caught:
        parse(text, tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert re.search(r"x.xmlbif', line 1, column \d+: ", str(caught.value))
    assert len(str(caught.value)) < 1000 + len(str(tmp_path))
    assert peak < 2**24


def test_document_type_elsewhere_is_noted_and_not_opened(tmp_path: Path) -> None:
    model = parse(RAIN.replace("<BIF", '<!DOCTYPE BIF SYSTEM "http://127.0.0.1:1/bif.dtd">\n<BIF', 1), tmp_path)
    assert same(model, parse(RAIN, tmp_path))
    assert model.notes == (xml_file.DOCTYPE.format("http://127.0.0.1:1/bif.dtd"),)


def test_blanks_before_the_declaration_are_noted(tmp_path: Path) -> None:
    model = parse("\n  " + RAIN, tmp_path)
    assert same(model, parse(RAIN, tmp_path))
    assert model.notes == (xml_file.BLANKS,)


def test_files_beyond_reason_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_file, "MAX_ELEMENTS", 5)
    with pytest.raises(FileFormatError, match=r"line 7, column 3: The file has more than 5 elements"):
        parse(RAIN, tmp_path)
    monkeypatch.setattr(xml_file, "MAX_UNPACKED", 100)
    with pytest.raises(FileFormatError, match="more than 100 bytes"):
        parse(RAIN, tmp_path)


def test_declared_size_is_compared_before_anything_is_allocated(tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(40)]
    states = "".join(f"<OUTCOME>{i}</OUTCOME>" for i in range(10))
    nodes = "".join(f"<VARIABLE><NAME>{name}</NAME>{states}</VARIABLE>" for name in [*names, "x"])
    table = "<TABLE>" + "0.1 " * 10 + "</TABLE>"
    tables = "".join(f"<DEFINITION><FOR>{name}</FOR>{table}</DEFINITION>" for name in names)
    given = "".join(f"<GIVEN>{name}</GIVEN>" for name in names)
    leaf = f"<DEFINITION><FOR>x</FOR>{given}{table}</DEFINITION>"
    with pytest.raises(FileFormatError, match=r"needs 100,000,000,0[0,]* numbers, 10 states × .*Got 10 instead"):
        parse(f"<BIF><NETWORK>{nodes}{tables}{leaf}</NETWORK></BIF>", tmp_path)


# Mistakes -----------------------------------------------------------------------------------------------------

ERRORS = [
    (RAIN, "", 1, 1, "not proper XML"),
    (RAIN, "network weather {\n}", 1, 1, "not proper XML"),
    (RAIN[-20:], "", 24, 1, "not proper XML"),
    ("</NETWORK>", "</NETWORKS>", 25, 3, "not proper XML: mismatched tag"),
    ("wet", "wet\x01", 11, 12, "not proper XML"),
    (RAIN[39:], "<html></html>", 2, 1, "An XMLBIF file holds a <BIF> element. Got <html> instead"),
    ("<NETWORK>", "<NETWORK></NETWORK><NETWORK>", 3, 20, "<BIF> holds one <NETWORK> element. Got 2 instead"),
    (RAIN[RAIN.index("<NETWORK>") : -7], "", 2, 1, "<BIF> holds one <NETWORK> element. Got 0 instead"),
    ("<NETWORK>", "<NETWORK>net", 3, 1, "<NETWORK> holds the text 'net', where only elements are expected"),
    ("rain</NAME>", "<b>rain</b></NAME>", 6, 9, "<b> stands within <NAME>, which holds text only"),
    ('"nature"', '"utility"', 5, 1, "of type 'utility': the file is an influence diagram"),
    ('"nature"', '"decision"', 5, 1, "of type 'decision'"),
    ("<NAME>rain</NAME>", "", 5, 1, "<VARIABLE> holds one <NAME> element. Got 0 instead"),
    ("<NAME>rain</NAME>", "<NAME/>", 5, 1, "Variable '' has no name"),
    ("<NAME>wet<", "<NAME>rain<", 10, 1, "Variable 'rain' was given at line 5 already"),
    (RAIN[RAIN.index("  <OUTCOME>no") : RAIN.index("</VARIABLE>")], "", 5, 1, "Variable 'rain' has no states"),
    ("yes", "no", 8, 3, "State 'no' of variable 'rain' was given at line 7 already"),
    ("<FOR>rain</FOR>", "", 16, 1, "<DEFINITION> holds one <FOR> element. Got 0 instead"),
    ("<FOR>rain", "<FOR>wet</FOR><FOR>rain", 17, 17, "<DEFINITION> holds one <FOR> element. Got 2 instead"),
    (
        "<FOR>rain",
        "<FOR>rian",
        16,
        1,
        "'rian' is not a variable of the file; they are ['rain', 'wet']. Did you mean 'rain'",
    ),
    ("<FOR>wet", "<FOR>rain", 20, 1, "The table of 'rain' was given at line 16 already"),
    ("<TABLE>0.75 0.25</TABLE>", "", 16, 1, "holds one <TABLE> element. Got 0 instead"),
    (RAIN[RAIN.index("<DEFINITION>") : RAIN.index("<DEFINITION>\n  <FOR>wet")], "", 5, 1, "'rain' has no <DEFINITION>"),
    ("<GIVEN>rain", "<GIVEN>snow", 20, 1, "has the parent 'snow', which is not a node of the file"),
    ("<GIVEN>rain", "<GIVEN>rain</GIVEN><GIVEN>rain", 20, 1, "parents are other nodes, once each"),
    ("<GIVEN>rain", "<GIVEN>wet", 20, 1, "parents are other nodes, once each"),
    ("<FOR>rain</FOR>", "<FOR>rain</FOR><GIVEN>wet</GIVEN>", 16, 1, "cycle: rain -> wet -> rain"),
    ("0.75 0.25", "0.75", 18, 3, "The table of 'rain' needs 2 numbers, 2 states × 1 parent configuration. Got 1"),
    ("0.75 0.25", "0.75 0.25x", 18, 3, "Entry 2 of <TABLE> is '0.25x', which is no number"),
    ("0.75 0.25", "nan 1", 18, 3, "Entry 1 of <TABLE> is 'nan'"),
    ("0.75 0.25", "0_75 1", 18, 3, "Entry 1 of <TABLE> is '0_75'"),
    ("0.75 0.25", "-0.25 1.25", 16, 1, "which is not a distribution"),
    ("0.75 0.25", "0.75 0.5", 16, 1, "which is not a distribution"),
    ("0.75 0.25", "1e999 0", 16, 1, "which is not a distribution"),
    ("0.5 0.25 0.25 0.125 0.375 0.5", "0.5 0.125 0.25 0.375 0.25 0.5", 23, 3, "With FOR varying slowest they would"),
]


@pytest.mark.parametrize(("old", "new", "line", "column", "message"), ERRORS, ids=[case[-1][:40] for case in ERRORS])
def test_mistakes_are_told_with_line_and_column(
    tmp_path: Path, old: str, new: str, line: int, column: int, message: str
) -> None:
    assert old in RAIN
    FILES.check_mistake(RAIN.replace(old, new, 1), line, column, message, tmp_path)


# Writing ------------------------------------------------------------------------------------------------------


def test_written_file_is_plain(tmp_path: Path) -> None:
    model = parse(ALARM, tmp_path)
    text = written(model, tmp_path).decode()
    assert text.startswith(
        '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n<NAME>Alarm &amp; call'
    )
    assert "<OUTCOME>&lt;1</OUTCOME>" in text
    assert "<FOR>call</FOR>\n<GIVEN>thief-in</GIVEN>\n<GIVEN>alarm</GIVEN>\n" in text
    assert "<TABLE>\n0.1 0.9\n0.2 0.8\n0.3 0.7\n0.4 0.6\n</TABLE>" in text
    assert same(parse(text, tmp_path), model)


def test_properties_pass_between_bif_and_xmlbif(tmp_path: Path) -> None:
    model = parse(ALARM, tmp_path)
    sf.write(model, tmp_path / "x.bif")
    between = bif.read(str(tmp_path / "x.bif"))
    sf.write(between, tmp_path / "y.xmlbif")
    again = sf.read(tmp_path / "y.xmlbif")
    assert again.properties["variables"] == between.properties["variables"]
    assert again.properties["probabilities"] == {"call": ["source = guess"]}
    assert [numbers(cpd) for cpd in again.cpds] == [numbers(cpd) for cpd in model.cpds]


@pytest.mark.parametrize("name", ["a\x00b", "\x1b", "\ud800", "\uffff"])
@pytest.mark.parametrize("where", ["name", "state", "property"])
def test_characters_that_xml_cannot_hold_are_refused(tmp_path: Path, name: str, where: str) -> None:
    node, state = (name if where == "name" else "A", name if where == "state" else "x")
    properties = {"variables": {node: [name]}} if where == "property" else {}
    model = BayesianNetwork(sf.DAG({node: ()}), {node: [0.5, 0.5]}, schema={node: [state, "y"]}, properties=properties)
    with pytest.raises(ArgumentError, match=r"which XML cannot hold. Rename it, or write the network as .json"):
        written(model, tmp_path)


def test_other_things_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"A .xmlbif file holds a Bayesian network .* Got dict instead"):
        written({"A": 1}, tmp_path)


def test_fit_is_written_as_its_network(tmp_path: Path) -> None:
    FILES.check_fit(tmp_path)


@settings(max_examples=150)
@given(networks(XML_TEXTS))
def test_every_network_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, model: BayesianNetwork
) -> None:
    FILES.check_round_trip(model, tmp_path_factory.getbasetemp())


# The shared data ----------------------------------------------------------------------------------------------

SIZES = {"Water": (32, 66), "alarm": (37, 46), "carpo": (61, 74), "dog": (5, 4), "insurance": (27, 52)}


@pytest.mark.data
@pytest.mark.parametrize("name", SIZES)
def test_files_of_agrum_load(data_folder: Path, name: str) -> None:
    model = xmlbif.read(str(data_folder / "io_formats" / f"agrum_{name}.bifxml"))
    assert (len(model.dag.nodes), len(model.dag.edges)) == SIZES[name]


@pytest.mark.data
@pytest.mark.parametrize("name", ["alarm", "carpo"])
def test_files_of_agrum_equal_those_in_bif(data_folder: Path, name: str) -> None:
    """When aGrUM wrote these, its GIVEN elements had an order of their own: rows are compared without their order."""
    folder = data_folder / "io_formats"
    model, other = xmlbif.read(str(folder / f"agrum_{name}.bifxml")), bif.read(str(folder / f"agrum_{name}.bif"))
    assert sorted(model.variables) == sorted(other.variables)
    for node in model.variables:
        own, foreign = model.cpd(node), other.cpd(node)
        assert own.family.child == foreign.family.child
        assert {variable.name: variable for variable in own.family.parents} == {
            variable.name: variable for variable in foreign.family.parents
        }
        if len(own.family.parents) < 2:
            assert np.allclose(own.values, foreign.values, rtol=0, atol=1e-6, equal_nan=True), node
        rows = [sorted(np.round(np.nan_to_num(cpd.values, nan=-1), 5).tolist()) for cpd in (own, foreign)]
        assert np.allclose(rows[0], rows[1], rtol=0, atol=2e-5), node


@pytest.mark.data
@pytest.mark.parametrize("name", ["alarm", "insurance", "munin1", "pathfinder", "sachs", "survey", "water"])
def test_every_number_survives_bif_xmlbif(data_folder: Path, tmp_path: Path, name: str) -> None:
    model = shared(data_folder, name)
    assert same(parse(written(model, tmp_path), tmp_path), model)
