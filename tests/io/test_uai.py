"""UAI: networks of both kinds and evidence are read and written by position, and mistakes found with their place."""

from __future__ import annotations

import gzip
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.io.corruptions import corruptions
from tests.io.networks import Files, through_json

import suffice as sf
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, FileFormatError
from suffice.io import text_file, uai
from suffice.io.uai import evidence as uai_evidence
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.markov_net import MarkovNetwork

RAIN = """BAYES
2
2 3
2
1 0
2 0 1

2
 0.75 0.25

6
 0.5 0.25 0.25
 0.125 0.375 0.5
"""
AGREE = """MARKOV
3
2 2 3
3
2 2 0
0
2 2 0

6
 0.1 2.0
 3.0 0.0
 5.0 6e-300

1
 0.5

6
 1.0 1.0
 1.0 1.0
 1.0 1.0
"""

FILES = Files(uai, ".uai")
parse, written = FILES.parse, FILES.written


# What a file says ---------------------------------------------------------------------------------------------


def test_bayes_file_is_a_bayesian_network_whose_child_is_last(tmp_path: Path) -> None:
    model = parse(RAIN, tmp_path)
    assert isinstance(model, BayesianNetwork)
    assert model.variables == ("x0", "x1")
    assert model.dag.parents == {"x0": (), "x1": ("x0",)}
    assert model.schema["x1"].states == ("0", "1", "2")
    assert all(variable.declared for variable in model.schema.values())
    assert model.cpd("x0").values.tolist() == [[0.75, 0.25]]
    assert model.cpd("x1").values.tolist() == [[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]]
    assert model.notes == ()


def test_markov_file_is_a_markov_network_with_its_scopes_in_order(tmp_path: Path) -> None:
    model = parse(AGREE, tmp_path)
    assert isinstance(model, MarkovNetwork)
    assert model.variables == ("x0", "x1", "x2")
    assert model.scopes == (("x2", "x0"), (), ("x2", "x0"))
    assert model.factors[0].values.tolist() == [[0.1, 2.0], [3.0, 0.0], [5.0, 6e-300]]
    assert model.factors[1].values.shape == ()
    assert model.factors[0][{"x2": "2", "x0": "0"}] == 5.0
    columns = {"x0": np.array([0, 1]), "x1": np.array([0, 0]), "x2": np.array([2, 1])}
    assert np.exp(model.log_score_of(columns, 2)).tolist() == pytest.approx([2.5, 0.0])


def test_last_variable_of_a_scope_varies_fastest(tmp_path: Path) -> None:
    first = [0.0, 0.125, 0.25, 0.375, 0.5, 0.625]
    table = " ".join(f"{p} {1 - p}" for p in first)
    model = parse(f"BAYES 3 2 3 2 3 1 0 1 1 3 1 0 2 2 .5 .5 3 0.25 0.25 .5 12 {table}", tmp_path)
    assert model.dag.parents["x2"] == ("x1", "x0")
    assert model.cpd("x2").values.tolist() == [[p, 1 - p] for p in first]
    assert model.cpd("x2").table[{"x1": "1", "x0": "1", "x2": "0"}] == 0.375


def test_tables_of_a_bayes_file_come_in_any_order(tmp_path: Path) -> None:
    text = "BAYES 2 2 3 2 2 0 1 1 0 6 0.5 0.25 0.25 0.125 0.375 0.5 2 0.75 0.25"
    assert written(parse(text, tmp_path), tmp_path).decode() == RAIN


def test_variable_outside_all_factors_keeps_its_states(tmp_path: Path) -> None:
    model = parse("MARKOV 2 3 2 0", tmp_path)
    assert [variable.n_states for variable in model.schema.values()] == [3, 2]
    assert model.factors == ()
    assert written(model, tmp_path) == b"MARKOV\n2\n3 2\n0\n"


@pytest.mark.parametrize(
    "text",
    [
        RAIN.replace("\n", " "),
        RAIN.replace("\n", "\r\n"),
        RAIN.replace(" ", "\t"),
        "\n\n" + RAIN.rstrip(),
        "\ufeff" + RAIN,
        RAIN.replace("BAYES", "bayes"),
        RAIN.replace("0.25", "+25e-2").replace("0.5", ".5"),
        "# MARKOV\n" + RAIN.replace("1 0\n", "1 0# rain 17\n") + "#\n# the end",
    ],
)
def test_blanks_comments_and_spellings_do_not_matter(tmp_path: Path, text: str) -> None:
    model = parse(text, tmp_path)
    assert model.notes == ()
    assert written(model, tmp_path).decode() == RAIN


def test_what_follows_the_last_table_is_noted(tmp_path: Path) -> None:
    (note,) = parse(f"{RAIN} 0\n12 {'word' * 100}\n", tmp_path).notes
    assert "has 3 more words, beginning with ['0', '12', 'wordword" in note
    assert len(note) < 200
    (note,) = parse(f"{AGREE} 7", tmp_path).notes
    assert "has 1 more word, beginning with ['7']" in note


def test_rows_that_do_not_sum_to_one_are_noted_and_kept(tmp_path: Path) -> None:
    text = RAIN.replace("0.75 0.25", "0.7500001 0.25")
    model = parse(text, tmp_path)
    assert abs(model.cpd("x0").values.sum() - 1) < 1e-15
    assert model.cpd("x0").raw.tolist() == [[0.7500001, 0.25]]
    assert "1 table: ['x0']" in model.notes[0]
    assert written(through_json(model, tmp_path), tmp_path).decode() == text


# Files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [RAIN, AGREE])
def test_written_file_is_plain_uai(tmp_path: Path, text: str) -> None:
    assert written(parse(text, tmp_path), tmp_path).decode() == text
    assert written(through_json(parse(text, tmp_path), tmp_path), tmp_path).decode() == text


def test_gzip_is_found_by_content_and_written_by_ending(tmp_path: Path) -> None:
    model = parse(gzip.compress(RAIN.encode()), tmp_path, "packed.uai")
    assert gzip.decompress(written(model, tmp_path, "a.uai.gz")).decode() == RAIN
    assert sf.read(tmp_path / "a.uai.gz").variables == ("x0", "x1")


def test_file_that_is_not_utf8_has_a_note(tmp_path: Path) -> None:
    for text in (RAIN, AGREE):
        assert parse(f"# Föhn\n{text}".encode("latin-1"), tmp_path).notes == (text_file.LATIN_1,)


def test_names_and_states_become_positions(tmp_path: Path) -> None:
    fit = sf.fit(sf.DAG("b -> a"), {"a": ["x", "y", "y"], "b": [True, False, True]})
    model = parse(written(fit, tmp_path), tmp_path)
    assert model.dag.parents == {"x0": (), "x1": ("x0",)}
    assert model.cpd("x1").values.tolist() == fit.model.cpd("a").values.tolist()
    markov = MarkovNetwork([(("b", "a"), [[1, 2]])], schema={"a": ["x", "y"], "b": ["z"]})
    assert written(markov, tmp_path).split() == b"MARKOV 2 2 1 1 2 1 0 2 1.0 2.0".split()


def test_markov_network_survives_json_with_its_names(tmp_path: Path) -> None:
    model = MarkovNetwork(
        [(("b", "a"), [[1, 2.5]]), ((), 0.1)],
        schema={"a": [1, 2], "b": ["z"]},
        properties={"name": "n"},
        notes=["a note"],
    )
    again = through_json(model, tmp_path)
    assert isinstance(again, MarkovNetwork)
    assert again.schema == model.schema
    assert again.scopes == model.scopes
    assert [f.values.tolist() for f in again.factors] == [[[1, 2.5]], 0.1]
    assert (again.properties, again.notes) == ({"name": "n"}, ("a note",))


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (lambda: sf.DAG("A -> B"), "a Bayesian or a Markov network of discrete variables. Got DAG instead"),
        (lambda: {"A": 1}, "Got dict instead"),
        (
            lambda: sf.fit(sf.DAG("a -> b"), {"a": ["x"], "b": ["u"]}, schema={"a": ["x", "y"]}, unseen_parents="nan"),
            "the row for a='y' is unknown",
        ),
        (lambda: MarkovNetwork([], schema={}), "at least one variable"),
    ],
)
def test_what_uai_cannot_hold_is_refused_and_nothing_is_written(tmp_path: Path, thing: Any, message: str) -> None:
    FILES.check_not_written(thing(), message, tmp_path)


def test_absent_file_is_an_access_error(tmp_path: Path) -> None:
    FILES.check_absent(tmp_path)


# What is wrong ------------------------------------------------------------------------------------------------

ERRORS: list[tuple[str, str, str, int, int, str]] = [
    (RAIN, RAIN, "", 1, 1, "The file is empty"),
    (RAIN, RAIN, "# 1\n#", 2, 2, "The file is empty"),
    (RAIN, "BAYES", "LIMID", 1, 1, "begins with one of ['BAYES', 'MARKOV']. Got 'LIMID' instead"),
    (RAIN, "BAYES", "network", 1, 1, "Got 'network' instead"),
    (RAIN, RAIN[5:], "", 1, 6, "ends where the number of variables should be. It may be cut off"),
    (RAIN, "BAYES\n2\n", "BAYES\ntwo\n", 2, 1, "Expected the number of variables: a whole number"),
    (RAIN, "BAYES\n2\n", "BAYES\n2.0\n", 2, 1, "Got '2.0' instead"),
    (RAIN, "BAYES\n2\n", "BAYES\n-2\n", 2, 1, "Got '-2' instead"),
    (RAIN, "BAYES\n2\n", "BAYES\n٢\n", 2, 1, "Got '٢' instead"),
    (RAIN, "BAYES\n2\n", "BAYES\n1_0\n", 2, 1, "Got '1_0' instead"),
    (RAIN, "BAYES\n2\n", "BAYES\n0\n", 2, 1, "no variables"),
    (RAIN, "BAYES\n2\n", "BAYES\n1000000000000\n", 13, 17, "1,000,000,000,000 variables should be, of which it has 18"),
    (RAIN, "BAYES\n2\n", f"BAYES\n{'9' * 19}\n", 2, 1, "beyond what any file can hold"),
    (RAIN, "2 3\n", "2 0\n", 3, 3, "Variable 1 has no states"),
    (RAIN, "1 0\n", "1 7\n", 5, 3, "Table 0 is over variable 7, which is none: the file declares 2 variables"),
    (RAIN, "2 0 1", "3 0 1 0", 6, 7, "Table 1 names variable 0 twice"),
    (RAIN, "2 0 1", "2 1 0", 6, 5, "Variable 0 has a table already"),
    (
        RAIN,
        "1 0\n",
        "0\n",
        8,
        1,
        "Table 0, over [], has 1 entry, since its variables have [] states; the file says 2",
    ),
    (
        RAIN,
        "1 0\n",
        "2 1 0\n",
        8,
        1,
        "Table 0, over ['x1', 'x0'], has 6 entries, since its variables have [3, 2] states",
    ),
    (RAIN, RAIN, "BAYES 2 2 2 2 2 1 0 2 0 1 4 1 0 1 0 4 1 0 1 0", 1, 15, "cycle: x0 -> x1 -> x0"),
    (RAIN, RAIN, "BAYES 2 2 2 1 1 0 2 1 0", 1, 11, "Variable 1 has no table"),
    (RAIN, RAIN, "BAYES 1 2 2 1 0 0 2 1 0 1 1", 1, 17, "Table 1 has no variables"),
    (RAIN, "\n6\n", "\n7\n", 11, 1, "has 6 entries, since its variables have [2, 3] states; the file says 7"),
    (RAIN, "2 3\n", "2 999999999999\n", 11, 1, "has more than 20 entries"),
    (RAIN, RAIN[-4:], "", 13, 13, "ends where the entries of table 1 should be, of which it has 5"),
    (RAIN, "0.375", "zero", 13, 8, "Expected a number. Got 'zero' instead"),
    (RAIN, "0.375", "0_375", 13, 8, "Got '0_375' instead"),
    (RAIN, "0.375", "٠.375", 13, 8, "Got '٠.375' instead"),
    (RAIN, "0.375", "0.3-75", 13, 8, "Got '0.3-75' instead"),
    (RAIN, "0.375", "nan", 13, 8, "Got 'nan' instead"),
    (RAIN, "0.375", "inf", 13, 8, "Got 'inf' instead"),
    (RAIN, "0.375", "-0.375", 13, 8, "'-0.375' cannot stand in a table: numbers are finite and not negative"),
    (RAIN, "0.375", "1e999", 13, 8, "'1e999' cannot stand in a table"),
    (RAIN, "0.375", "1e308 # 1", 13, 21, "ends where the entries of table 1"),
    (AGREE, "3.0", "-3.0", 11, 2, "'-3.0' cannot stand in a table"),
    (AGREE, "2 2 3\n", "2 4097 3\n", 3, 3, "variables that are in no table have more than 4,096 states"),
    (AGREE, "2 2 3\n", "2 999999999999 3\n", 3, 3, "variables that are in no table have more than 4,096 states"),
    (AGREE, "\n3\n2 2 0", "\n999999999999\n2 2 0", 10, 2, "variables of table 3"),
]


@pytest.mark.parametrize(
    ("text", "old", "new", "line", "column", "message"), ERRORS, ids=[case[-1][:40] for case in ERRORS]
)
def test_mistakes_are_told_with_line_and_column(
    tmp_path: Path, text: str, old: str, new: str, line: int, column: int, message: str
) -> None:
    assert old in text
    FILES.check_mistake(text.replace(old, new, 1), line, column, message, tmp_path)


def test_variables_in_no_table_may_have_as_many_states_as_the_limit(tmp_path: Path) -> None:
    found = FILES.parse(AGREE.replace("2 2 3\n", "2 4096 3\n", 1), tmp_path)
    assert found.schema["x1"].n_states == 4096


def test_table_over_more_variables_than_an_array_has_axes(tmp_path: Path) -> None:
    n = 100
    scope = " ".join(map(str, range(n)))
    for kind in ("MARKOV", "BAYES"):
        with pytest.raises(FileFormatError, match="line 2, column 1: Table 0 is over 100 variables, more than"):
            parse(f"{kind} {n} {'1 ' * n} 1\n{n} {scope} 1 1.0", tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "#" * 300_000,
        "BAYES " + "9" * 300_000,
        "MARKOV 1 2 1 1 0 2 1 " + "1" * 300_000,
        "MARKOV 1 2 1 1 0 2 1 " + "-" * 300_000,
        "MARKOV 1 2 1 1 0 2 " + "1e" * 300_000,
        "MARKOV 100000 " + "1 " * 100_000 + "999999999999 " + "0 " * 100_000,
        "MARKOV 100000 " + "2 " * 100_000 + "1 100000 " + " ".join(map(str, range(100_000))) + " 1 1",
        "MARKOV 100000 " + "4000 " * 100_000 + "0",
    ],
)
def test_long_nonsense_is_refused_without_delay(tmp_path: Path, text: str) -> None:
    FILES.check_nonsense(text, tmp_path)


# Round trips --------------------------------------------------------------------------------------------------

entries = st.floats(0, allow_infinity=False, allow_nan=False)
sizes = st.lists(st.integers(1, 3), min_size=1, max_size=4)


@st.composite
def markov_networks(draw: st.DrawFn) -> MarkovNetwork:
    shape = draw(sizes)
    schema = {f"x{i}": [str(state) for state in range(n)] for i, n in enumerate(shape)}
    factors = []
    for scope in draw(st.lists(st.lists(st.integers(0, len(shape) - 1), unique=True, max_size=3), max_size=4)):
        axes = [shape[i] for i in scope]
        n = math.prod(axes)
        factors.append(([f"x{i}" for i in scope], np.reshape(draw(st.lists(entries, min_size=n, max_size=n)), axes)))
    return MarkovNetwork(factors, schema=schema)


@st.composite
def bayesian_networks(draw: st.DrawFn) -> BayesianNetwork:
    shape = draw(sizes)
    order = draw(st.permutations(range(len(shape))))
    schema = {f"x{i}": [str(state) for state in range(n)] for i, n in enumerate(shape)}
    above: dict[str, list[str]] = {name: [] for name in schema}
    tables = {}
    for k, i in enumerate(order):
        parents = draw(st.lists(st.sampled_from(order[:k]), unique=True, max_size=2)) if k else []
        axes = [shape[parent] for parent in parents] + [shape[i]]
        n = math.prod(axes)
        rows = np.array(draw(st.lists(st.floats(0.01, 1), min_size=n, max_size=n))).reshape(-1, axes[-1])
        rows = rows / rows.sum(axis=1, keepdims=True) * draw(st.sampled_from([1.0, 0.99, 1.01]))
        above[f"x{i}"] = [f"x{parent}" for parent in parents]
        tables[f"x{i}"] = rows
    return BayesianNetwork(sf.DAG(above), raw_tables(above, schema, tables))


def raw_tables(above: dict[str, list[str]], schema: dict[str, list[str]], tables: dict[str, Any]) -> dict[str, Any]:
    variables = {name: Variable(name, tuple(states), True) for name, states in schema.items()}
    return {
        name: TabularCPD.from_raw(NodeFamily(variables[name], tuple(variables[parent] for parent in above[name])), rows)
        for name, rows in tables.items()
    }


@settings(max_examples=150)
@given(markov_networks())
def test_every_markov_network_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, model: MarkovNetwork
) -> None:
    folder = tmp_path_factory.getbasetemp()
    content = written(model, folder)
    again = parse(content, folder)
    assert again.schema == model.schema
    assert again.scopes == model.scopes
    for first, second in zip(again.factors, model.factors, strict=True):
        np.testing.assert_array_equal(first.values, second.values)
    assert written(through_json(again, folder), folder) == content


@settings(max_examples=150)
@given(bayesian_networks())
def test_every_bayesian_network_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, model: BayesianNetwork
) -> None:
    FILES.check_round_trip(model, tmp_path_factory.getbasetemp())


# Evidence -----------------------------------------------------------------------------------------------------


def evidence_of(text: str, folder: Path) -> Any:
    path = folder / "x.uai.evid"
    path.write_text(text)
    return sf.read(path)


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("", {}),
        ("\n# nothing\n", {}),
        ("0", {}),
        ("1\n0\n", {}),
        ("1 6 0\r\n", {"x6": "0"}),
        ("1\n1 0\n\n", {"x1": "0"}),
        ("1\n1 6 0", {"x6": "0"}),
        ("1\n2 6 0 007 01", {"x6": "0", "x7": "1"}),
        ("2 3 1 7 0", {"x3": "1", "x7": "0"}),
        ("2\n1 3 0\n1 4 1\n", [{"x3": "0"}, {"x4": "1"}]),
        ("2\n0\n0\n", [{}, {}]),
        ("2 1 3 0 0", {"x1": "3", "x0": "0"}),
        ("2\n1 3\n0 0\n", {"x1": "3", "x0": "0"}),
        ("2\n1 3 0\n0\n", [{"x3": "0"}, {}]),
    ],
)
def test_both_forms_of_evidence_are_read(tmp_path: Path, text: str, evidence: Any) -> None:
    assert evidence_of(text, tmp_path) == evidence


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("0\n2 0\n", 1, 1, "begins with 0 and has 3 numbers, which fits neither"),
        ("2 3 1 7", 1, 1, "begins with 2 and has 4 numbers, which fits neither"),
        ("999999999999 3 1", 1, 1, "begins with 999,999,999,999 and has 3 numbers"),
        ("1 3 -1", 1, 5, "the number of a variable or of a state: a whole number, not negative. Got '-1' instead"),
        ("1 x3 1", 1, 3, "Got 'x3' instead"),
        ("2 3 1 3 0", 1, 7, "Variable 3 is observed twice"),
        ("1\n2 3 1\n3 1", 3, 1, "Variable 3 is observed twice"),
        ("2 1\n3 0\n0", 1, 1, "can be read as 2 observations or as 2 samples. Put all observations on one line"),
    ],
)
def test_mistakes_in_evidence_are_told_with_line_and_column(
    tmp_path: Path, text: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(FileFormatError) as caught:
        evidence_of(text, tmp_path)
    assert message in str(caught.value)
    assert f"x.uai.evid', line {line}, column {column}: " in str(caught.value)


def test_evidence_is_written_by_position(tmp_path: Path) -> None:
    path = tmp_path / "x.evid"
    uai_evidence.write_evidence({"x3": "1", "x0": 2}, path)
    assert path.read_text() == "2 3 1 0 2\n"
    assert uai_evidence.read_evidence(path) == {"x3": "1", "x0": "2"}
    sf.write([{"x3": "1"}, {}], path)
    assert path.read_text() == "2\n1 3 1\n0\n"
    with pytest.raises(FileFormatError, match=r"x\.evid' holds 2 samples of evidence. Read them with sf\.read"):
        uai_evidence.read_evidence(path)


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"rain": "1"}, r"by position: 'x0', 'x1', …\. Got 'rain' instead"),
        ({"x01": "1"}, "Got 'x01' instead"),
        ({3: "1"}, "Got 3 instead"),
        ({"x1": "yes"}, "states by position: '0', '1', …. Got 'yes' for 'x1' instead"),
        ({"x1": -1}, "Got -1 for 'x1'"),
        ({"x1": True}, "Got True for 'x1'"),
        ("x1", "An .evid file holds evidence"),
        ([{"x1": 0}, 7], "An .evid file holds evidence"),
    ],
)
def test_evidence_that_has_no_positions_is_refused(tmp_path: Path, evidence: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        sf.write(evidence, tmp_path / "x.evid")
    assert list(tmp_path.iterdir()) == []


def test_one_set_of_observations_is_a_mapping(tmp_path: Path) -> None:
    samples: Any = [{"x1": "0"}]
    with pytest.raises(ArgumentError, match="Evidence is a mapping such as"):
        uai_evidence.write_evidence(samples, tmp_path / "x.evid")


positions = st.one_of(st.integers(0, 3), st.integers(0, 10**16))
observations = st.dictionaries(positions.map("x{}".format), positions.map(str), max_size=4)


@given(observations)
def test_every_evidence_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, evidence: dict[str, str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "x.evid"
    uai_evidence.write_evidence(evidence, path)
    assert uai_evidence.read_evidence(path) == evidence


@given(st.lists(observations, min_size=2, max_size=6))
def test_every_list_of_samples_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, samples: list[dict[str, str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "x.evid"
    sf.write(samples, path)
    assert sf.read(path) == samples


def test_damaged_evidence_is_refused_with_its_place_or_is_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    path = tmp_path / "x.evid"
    for good in (b"3 3 1 17 0 4 2\n", b"2\n1 3 0\n2 4 1 0 0\n"):
        refused = []
        for data in corruptions(good, 1000, 1):
            path.write_bytes(data)
            try:
                samples = sf.read(path)
            except FileFormatError as error:
                refused.append(str(error))
                continue
            for sample in samples if isinstance(samples, list) else [samples]:
                assert all(re.fullmatch(r"x\d+", name) and state.isdigit() for name, state in sample.items())
            sf.write(samples, path)
            assert sf.read(path) == samples
        assert 100 < len(refused) < 1000
        assert all(re.search(r"x\.evid', line \d+, column \d+: |proper gzip", message) for message in refused)


# The shared data ----------------------------------------------------------------------------------------------

FIXTURES = {
    "agrum_BNUAIReader_file2": "BayesianNetwork(5 nodes, 6 edges)",
    "agrum_asia": "BayesianNetwork(8 nodes, 8 edges)",
    "agrum_dog": "BayesianNetwork(5 nodes, 4 edges)",
    "agrum_markov_example": "MarkovNetwork(3 variables, 2 factors)",
    "merlin_ChestClinic": "BayesianNetwork(8 nodes, 8 edges)",
    "merlin_bn": "BayesianNetwork(12 nodes, 18 edges)",
    "merlin_cancer": "BayesianNetwork(5 nodes, 5 edges)",
    "merlin_paskin": "MarkovNetwork(6 variables, 5 factors)",
    "merlin_simple5": "MarkovNetwork(6 variables, 12 factors)",
    "merlin_simple6": "MarkovNetwork(6 variables, 7 factors)",
    "pgmpy_grid4x4": "MarkovNetwork(16 variables, 40 factors)",
    "pgmpy_grid4x4_with_triplets": "MarkovNetwork(16 variables, 44 factors)",
}
# Neither is a product of distributions: the one is aGrUM's test of just that, the other has evidence in its tables.
NOT_DISTRIBUTIONS = {
    "agrum_BNUAIReader_file3": "row 1 of table 5 sums to 0.8",
    "merlin_pedigree1": "row 1 of table 0 sums to 0",
}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0.375", "0.475", "row 2 of table 1 sums to 1.1"),
        ("0.375 0.5", "1e308 1e308", "row 2 of table 1 sums to inf"),
        ("0.75 0.25", "0 0", "row 1 of table 0 sums to 0"),
    ],
)
def test_bayes_file_without_distributions_is_a_product_of_factors(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    model = parse(RAIN.replace(old, new, 1), tmp_path)
    assert isinstance(model, MarkovNetwork)
    assert model.notes == (
        f"The file says BAYES, but {said}: its tables were read as the factors of a Markov network.",
    )


def file_numbers(path: Path) -> list[float]:
    text = re.sub("#.*", "", path.read_text())
    return [float(word) for word in text.split()[1:]]


@pytest.mark.data
@pytest.mark.parametrize("name", FIXTURES)
def test_files_of_other_programs_load_and_keep_every_number(data_folder: Path, tmp_path: Path, name: str) -> None:
    path = data_folder / "io_formats" / f"{name}.uai"
    model = sf.read(path)
    assert repr(model) == FIXTURES[name]
    content = written(model, tmp_path)
    assert written(through_json(model, tmp_path), tmp_path) == content
    found = sorted(file_numbers(tmp_path / "out.uai"))
    if name == "merlin_bn":
        (note,) = model.notes
        assert "has 28 more words, beginning with ['0', '12', '0'" in note
        assert len(found) + 28 == len(file_numbers(path))
    else:
        assert model.notes == ()
        assert found == sorted(file_numbers(path))


@pytest.mark.data
def test_every_file_of_the_shared_folder_is_tried(data_folder: Path) -> None:
    assert {path.stem for path in (data_folder / "io_formats").glob("*.uai")} == {*FIXTURES, *NOT_DISTRIBUTIONS}


@pytest.mark.data
@pytest.mark.parametrize("name", NOT_DISTRIBUTIONS)
def test_tables_that_are_no_distributions_load_as_factors_only(data_folder: Path, tmp_path: Path, name: str) -> None:
    path = data_folder / "io_formats" / f"{name}.uai"
    model = sf.read(path)
    assert isinstance(model, MarkovNetwork)
    assert NOT_DISTRIBUTIONS[name] in model.notes[0]
    assert len(model.factors) == len(model.variables)


@pytest.mark.data
def test_uai_and_bif_files_of_agrum_hold_the_same_network(data_folder: Path) -> None:
    """The evidence for the order of tables and scopes: Asia, its variables in another order."""
    by_position, by_name = (sf.read(data_folder / "io_formats" / f"agrum_asia.{ending}") for ending in ("uai", "bif"))
    order = ["visit_to_Asia", "smoking", "bronchitis", "lung_cancer", "tuberculosis", "tuberculos_or_cancer"]
    called = dict(zip(by_position.variables, [*order, "dyspnoea", "positive_XraY"], strict=True))
    assert len(by_position.cpds) == 8
    for cpd in by_position.cpds:
        table = by_name.cpd(called[cpd.family.child.name]).table
        axes = [table.names.index(called[name]) for name in cpd.family.scope]
        assert np.array_equal(cpd.table.to_numpy(), table.to_numpy().transpose(axes)), cpd.title


@pytest.mark.data
def test_competition_files_load_and_keep_every_number(data_folder: Path, tmp_path: Path) -> None:
    paths = sorted((data_folder / "uai2014").glob("*.uai"))
    assert len(paths) == 16
    for path in paths:
        model = sf.read(path)
        assert isinstance(model, MarkovNetwork)
        assert model.notes == ()
        written(model, tmp_path)
        assert file_numbers(tmp_path / "out.uai") == file_numbers(path), path


@pytest.mark.data
def test_evidence_of_every_file_names_states_of_its_network(data_folder: Path) -> None:
    paths = sorted(data_folder.glob("*/*.evid"))
    assert len(paths) == 20
    for path in paths:
        if path.name == "merlin_paskin.evid":
            with pytest.raises(FileFormatError, match=r"line 1, column 1: .*which fits neither"):
                sf.read(path)
            continue
        evidence = uai_evidence.read_evidence(path)
        assert evidence or path.read_text() == "0"
        if path.name != "merlin_pedigree1.evid":
            schema = sf.read(
                path.with_suffix("") if path.name.endswith(".uai.evid") else path.with_suffix(".uai")
            ).schema
            assert all(state in schema[name].labels for name, state in evidence.items())
