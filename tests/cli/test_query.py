"""``suffice query``, and what other commands know about evidence and answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import bad, document, good

import suffice as sf
from suffice.cli.given import read_given

YES_NO = ("yes", "no")


def sprinkler() -> sf.BayesianNetwork:
    return sf.BayesianNetwork(
        sf.DAG("rain -> wet <- sprinkler"),
        {"rain": [0.2, 0.8], "sprinkler": [0.1, 0.9], "wet": [[[0.99, 0.01], [0.9, 0.1]], [[0.8, 0.2], [0.0, 1.0]]]},
        schema=dict.fromkeys(("rain", "sprinkler", "wet"), YES_NO),
    )


def odd() -> sf.BayesianNetwork:
    """Names and states that look like the syntax of evidence."""
    return sf.BayesianNetwork(
        sf.DAG(["a=b", "n", "a"]),
        {"a=b": [0.2, 0.3, 0.5], "n": [0.4, 0.6], "a": [0.25, 0.75]},
        schema={"a=b": ["x,y", "x", "y"], "n": [1, 2], "a": ["b=c", "p:1"]},
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in, with models in it; what a test sets for the whole process is set back."""
    monkeypatch.chdir(tmp_path)
    sf.write(sprinkler(), "m.json")
    sf.write(sprinkler(), "m.bif")
    sf.write(odd(), "odd.json")
    (tmp_path / "t.csv").write_text("A,B\n" + "x,u\n" * 25 + "x,v\n" * 5 + "y,u\n" * 2 + "y,v\n" * 8)
    (tmp_path / "markov.uai").write_text("MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n4\n3 1 1 3\n6\n1 2 3 4 5 6\n")
    (tmp_path / "e.evid").write_text("1 2 1\n")
    memory = sf.config().memory
    yield tmp_path
    sf.config(memory=memory)


# Targets ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["m.json", "m.bif"])
def test_one_target_is_printed_as_the_model_prints_it(folder: Path, file: str) -> None:
    text = good("query", file, "rain", "--given", "wet=yes")
    assert text.rstrip("\n") == str(sprinkler().query("rain", {"wet": "yes"}))


def test_several_targets_are_asked_for_jointly(folder: Path) -> None:
    table = sprinkler().query(["sprinkler", "rain"], {"wet": "yes"})
    printed = good("query", "m.json", "sprinkler", "rain", "-g", "wet=yes")
    assert printed.rstrip("\n") == f"p(sprinkler, rain | given)\n{table}"
    found = document("query", "m.json", "sprinkler", "rain", "-g", "wet=yes")
    assert [target["name"] for target in found["targets"]] == ["sprinkler", "rain"]
    assert found["targets"][0]["states"] == ["yes", "no"]
    np.testing.assert_array_equal(found["p"], table.values)


def test_without_targets_every_variable_that_is_not_given_is_answered(folder: Path) -> None:
    text = good("query", "m.json", "-g", "wet=yes")
    assert text.splitlines()[0].split() == ["variable", "state", "p"]
    assert [line.split()[0] for line in text.splitlines()[2:]] == ["rain", "no", "sprinkler", "no"]
    assert "0.7396" in text
    found = document("query", "m.json", "-g", "wet=yes")
    assert list(found) == ["rain", "sprinkler"]
    np.testing.assert_allclose(found["rain"]["p"], sprinkler().query("rain", {"wet": "yes"}).values)


def test_fit_is_asked_like_its_model(folder: Path) -> None:
    good("fit", "A -> B", "t.csv", "--out-fit", "fit.json", "--out", "model.json")
    assert good("query", "fit.json", "A", "-g", "B=v") == good("query", "model.json", "A", "-g", "B=v")


# Evidence -----------------------------------------------------------------------------------------------------

GIVEN: dict[str, tuple[str, Any]] = {
    "a state": ("n=1", {"n": 1}),
    "the other state": ("n=2", {"n": 2}),
    "one of several": ("n=1,2", {"n": [1, 2]}),
    "likelihoods": ("n=1:0.9,2:0.2", {"n": {1: 0.9, 2: 0.2}}),
    "likelihood of one": ("n=1:3", {"n": {1: 3}}),
    "likelihood in powers": ("n=1:1e-3,2:2", {"n": {1: 1e-3, 2: 2}}),
    "name with a sign": ("a=b=x", {"a=b": "x"}),
    "name with a sign, several": ("a=b=x,y", {"a=b": "x,y"}),
    "name with a sign, several in another order": ("a=b=y,x", {"a=b": ["x", "y"]}),
    "name with a sign, likelihoods": ("a=b=x:1,y:2", {"a=b": {"x": 1, "y": 2}}),
    "state with a sign": ("a=b=c", {"a": "b=c"}),
    "state with a colon": ("a=p:1", {"a": "p:1"}),
    "state with a colon, likelihoods": ("a=p:1:0.5,b=c:0.1", {"a": {"p:1": 0.5, "b=c": 0.1}}),
}


@pytest.mark.parametrize("form", GIVEN)
def test_evidence_is_read_in_all_its_forms(folder: Path, form: str) -> None:
    text, meant = GIVEN[form]
    network = odd()
    assert network.log_evidence(read_given(network, [text])) == pytest.approx(network.log_evidence(meant))
    target = next(name for name in network.variables if name not in meant)
    assert good("query", "odd.json", target, "--given", text) == f"{network.query(target, meant)}\n"


def test_evidence_may_be_repeated(folder: Path) -> None:
    found = document("query", "m.json", "rain", "-g", "wet=yes", "-g", "sprinkler=no")
    np.testing.assert_allclose(found["p"], sprinkler().query("rain", {"wet": "yes", "sprinkler": "no"}).values)


def test_evidence_comes_from_a_file_and_from_options(folder: Path) -> None:
    network = sf.read("markov.uai")
    found = document("query", "markov.uai", "x0", "--evidence", "e.evid")
    np.testing.assert_allclose(found["p"], network.query("x0", {"x2": "1"}).values)
    model = sf.read("m.json")
    third = model.schema.variables[2]
    seen = document("query", "m.json", model.variables[0], "--evidence", "e.evid")
    expected = model.query(model.variables[0], {third.name: third.labels[1]})
    np.testing.assert_allclose(seen["p"], expected.values)
    found = document("query", "markov.uai", "x0", "--evidence", "e.evid", "-g", "x1=0:0.5,1:0.25")
    np.testing.assert_allclose(found["p"], network.query("x0", {"x2": "1", "x1": {"0": 0.5, "1": 0.25}}).values)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["m.json", "rian"], "no variable 'rian'"),
        (["m.json", "rain", "rain"], "twice"),
        (["m.json", "rain", "-g", "rain=yes"], "asked for and given at once"),
        (["m.json", "rain", "-g", "wet"], "written X=x. Got 'wet'"),
        (["m.json", "rain", "-g", "=yes"], "no variable ''"),
        (["m.json", "rain", "-g", "wte=yes"], "Did you mean 'wet'?"),
        (["m.json", "rain", "-g", "a=b=yes"], "no variable 'a=b'"),
        (["m.json", "rain", "-g", "wet="], "no state ''"),
        (["m.json", "rain", "-g", "wet=maybe"], "['yes', 'no']"),
        (["m.json", "rain", "-g", "wet=yes,maybe"], "'yes,maybe'"),
        (["m.json", "rain", "-g", "wet=yes:much"], "must be numbers, as in wet=a:0.9,b:0.2"),
        (["m.json", "rain", "-g", "wet=yes:-1"], "not negative"),
        (["m.json", "rain", "-g", "wet=yes:nan"], "not negative"),
        (["m.json", "rain", "-g", "wet=yes:0,no:0"], "no state possible"),
        (["m.json", "rain", "-g", "wet=yes:1,yes:2"], "likelihood of wet=yes is given more than once"),
        (["m.json", "rain", "-g", "wet=yes", "-g", "wet=no"], "'wet' is given more than once"),
        (["m.json", "rain", "-g", "sprinkler=no", "-g", "wet=yes", "-g", "rain=no"], "asked for and given"),
        (["m.json", "-g", "sprinkler=no", "-g", "rain=no", "-g", "wet=yes:1"], "impossible"),
        (["m.json", "--map", "-g", "sprinkler=no", "-g", "rain=no", "-g", "wet=yes"], "together with"),
        (["markov.uai", "x0", "--evidence", "e.evid", "-g", "x2=1"], "'x2' is given more than once"),
        (["markov.uai", "x0", "--evidence", "none.evid"], "none.evid"),
        (["markov.uai", "x0", "--evidence", "m.bif"], "no single set of observations"),
        (["markov.uai", "x0", "--evidence", "two.evid"], "no single set of observations"),
        (["m.json", "rain", "--evidence", "far.evid"], "state 1 of variable 9"),
        (["m.json", "rain", "--map", "--sensitivity", "rain=yes"], "one thing"),
        (["m.json", "rain", "--map", "-g", "rain=no"], "asked for and given"),
        (["m.json", "snow", "--map"], "no variable 'snow'"),
        (["m.json", "rain", "--sensitivity", "rain=yes"], "one thing"),
        (["m.json", "--map", "--sensitivity", "rain=yes"], "one thing"),
        (["m.json", "--sensitivity", "rain"], "written X=x"),
        (["m.json", "--sensitivity", "rain=maybe"], "['yes', 'no']"),
        (["m.json", "--sensitivity", "rain=yes,no"], "['yes', 'no']"),
        (["m.json", "--sensitivity", "rain=yes", "-g", "rain=no"], "asked for and given"),
        (["markov.uai", "--sensitivity", "x0=1"], "tables of a Bayesian network"),
        (["m.json", "--interval", "0.9"], "Name them"),
        (["m.json", "--map", "--interval", "0.9"], "Name them"),
        (["m.json", "rain", "--interval", "0.9"], "--prior bdeu:10 --out-fit fit.json"),
        (["m.json", "rain", "--memory", "lots"], "'4GB'"),
        (["absent.json", "rain"], "absent.json"),
        (["t.csv", "rain"], "names no format"),
        (["e.evid", "x2"], "a model is needed"),
    ],
    ids=lambda value: " ".join(value[1:]) or value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_what_cannot_be_answered_is_one_line_and_exit_code_two(folder: Path, arguments: list[str], says: str) -> None:
    (folder / "two.evid").write_text("2\n1 0 1\n1 0 0\n")
    (folder / "far.evid").write_text("1 9 1\n")
    assert says in bad("query", *arguments)


def test_hypotheses_answer_too(folder: Path) -> None:
    fit = sf.fit(sf.Hypotheses({"even": [2, 4], "small": [1, 2]}, over="n"), {"n": [2]}, prior="uniform")
    sf.write(fit, "h.json")
    assert good("query", "h.json", "n").rstrip("\n") == str(fit.model.query("n"))
    assert "network's tables" in bad("query", "h.json", "n", "--interval", "0.9")
    assert "tables of a Bayesian network" in bad("query", "h.json", "--sensitivity", "n=2")
    drawn = good("sample", "h.json", "-n", "5", "--given", "n=1,4", "--seed", "1").split()
    assert drawn[0] == "n"
    assert set(drawn[1:]) <= {"1", "4"}


def test_remedies_are_options(folder: Path) -> None:
    states = {"A": ["x", "y"], "B": ["u", "v"]}
    network = sf.BayesianNetwork(sf.DAG("A -> B"), {"A": [0.5, 0.5], "B": [[1, 0], [np.nan] * 2]}, schema=states)
    sf.write(network, "hidden.json")
    assert "--unseen-parents uniform" in bad("query", "hidden.json", "B")
    assert good("query", "hidden.json", "B", "-g", "A=x")
    good("fit", "A -> B", "t.csv", "--out-fit", "fit.json")
    assert "with a prior, such as --prior bdeu:10" in bad("query", "fit.json", "A", "--interval", "0.9")


def test_too_little_memory_is_refused_with_the_option_that_allows_more(folder: Path) -> None:
    said = bad("query", "m.json", "rain", "wet", "--memory", "16")
    assert "may use 16 B" in said
    assert "--memory 1GB" in said
    assert good("query", "m.json", "rain", "wet", "--memory", "1GB")


# The most likely states ---------------------------------------------------------------------------------------


def test_most_likely_states(folder: Path) -> None:
    best = sprinkler().map({"wet": "yes"})
    text = good("query", "m.json", "--map", "-g", "wet=yes")
    assert text.splitlines()[0].split() == ["variable", "state"]
    assert f"log p(states, evidence)   {best.log_prob:.6f}" in text
    found = document("query", "m.json", "--map", "-g", "wet=yes")
    assert found == {
        "states": dict(best), "log_prob": best.log_prob, "log_posterior": best.log_posterior, "ties": {}
    }  # fmt: skip


def test_most_likely_states_of_targets(folder: Path) -> None:
    best = sprinkler().map({"wet": "yes"}, targets=["sprinkler"])
    assert good("query", "m.json", "sprinkler", "--map", "-g", "wet=yes").splitlines()[2].split() == [
        "sprinkler", best["sprinkler"]
    ]  # fmt: skip
    found = document("query", "m.json", "sprinkler", "--map", "-g", "wet=yes")
    assert (found["states"], found["log_prob"]) == (dict(best), best.log_prob)


def test_ties_are_told(folder: Path) -> None:
    sf.write(sf.BayesianNetwork(sf.DAG("A"), {"A": [0.5, 0.5]}, schema={"A": ["x", "y"]}), "tie.json")
    assert "as likely in other assignments" in good("query", "tie.json", "--map")
    assert document("query", "tie.json", "--map")["ties"] == {"A": ["x", "y"]}


# Intervals ----------------------------------------------------------------------------------------------------


def test_intervals_come_from_a_bayesian_fit(folder: Path) -> None:
    good("fit", "A -> B", "t.csv", "--prior", "bdeu:10", "--out-fit", "fit.json")
    wanted = sf.read("fit.json").query("A", {"B": "v"}, interval=0.9, seed=4)
    arguments = ("query", "fit.json", "A", "-g", "B=v", "--interval", "0.9", "--seed", "4")
    assert good(*arguments).rstrip("\n") == str(wanted)
    found = document(*arguments)
    assert found["level"] == 0.9
    np.testing.assert_array_equal(found["p"], wanted.table.values)
    np.testing.assert_array_equal(found["lower"], wanted.lower.values)
    np.testing.assert_array_equal(found["upper"], wanted.upper.values)


def test_intervals_are_the_same_every_time_unless_the_seed_differs(folder: Path) -> None:
    good("fit", "A -> B", "t.csv", "--prior", "bdeu:10", "--out-fit", "fit.json")
    asked = ("query", "fit.json", "A", "B", "--interval", "0.9")
    assert document(*asked) == document(*asked) == document(*asked, "--seed", "0")
    assert document(*asked) != document(*asked, "--seed", "1")


@pytest.mark.parametrize(
    ("options", "says"),
    [(["--interval", "1"], "between 0 and 1"), (["--interval", "0.9", "--seed", "-1"], "--seed must be")],
)
def test_wrong_intervals_are_errors(folder: Path, options: list[str], says: str) -> None:
    good("fit", "A -> B", "t.csv", "--prior", "bdeu:10", "--out-fit", "fit.json")
    assert says in bad("query", "fit.json", "A", *options)


# Sensitivity --------------------------------------------------------------------------------------------------


def test_sensitivity_is_printed_as_the_model_prints_it(folder: Path) -> None:
    found = sprinkler().sensitivity({"rain": "yes"}, {"wet": "yes"})
    assert good("query", "m.json", "--sensitivity", "rain=yes", "-g", "wet=yes").rstrip("\n") == str(found)
    content = document("query", "m.json", "--sensitivity", "rain=yes", "-g", "wet=yes")
    assert content["p"] == found.value
    assert list(content["derivatives"]) == ["rain", "wet", "sprinkler"]
    for node, values in content["derivatives"].items():
        np.testing.assert_array_equal(values, found.derivatives[node])


# JSON ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [["odd.json"], ["odd.json", "n"], ["odd.json", "n", "a=b"], ["odd.json", "--map"], ["markov.uai"],
     ["markov.uai", "x2", "x0"], ["markov.uai", "--map", "--evidence", "e.evid"], ["m.bif", "--sensitivity", "wet=no"]],
    ids=" ".join,
)  # fmt: skip
def test_json_is_valid(folder: Path, arguments: list[str]) -> None:
    assert document("query", *arguments)


@pytest.mark.parametrize("arguments", [[], ["n"], ["--map"]], ids=str)
def test_json_is_valid_for_states_that_json_has_no_word_for(folder: Path, arguments: list[str]) -> None:
    states = {"n": [1.5, float("inf")]}
    sf.write(sf.BayesianNetwork(sf.DAG("n"), {"n": [0.25, 0.75]}, schema=states), "inf.json")
    assert "inf" in good("query", "inf.json", *arguments)
    document("query", "inf.json", *arguments)


# Other commands -----------------------------------------------------------------------------------------------


def test_rows_are_drawn_given_evidence(folder: Path) -> None:
    text = good("sample", "m.json", "-n", "50", "--seed", "3", "--given", "wet=yes", "-g", "sprinkler=no")
    assert text.splitlines()[0] == "rain,wet,sprinkler"
    assert set(text.splitlines()[1:]) == {"yes,yes,no"}  # without the sprinkler, only rain makes it wet
    found = document("sample", "m.json", "-n", "40", "--seed", "3", "-g", "wet=yes:0.5,no:0.5")
    drawn = sprinkler().sample(40, seed=3, given={"wet": {"yes": 0.5, "no": 0.5}}, backend="pyarrow").to_pylist()
    assert [dict(zip(found["variables"], row, strict=True)) for row in found["rows"]] == drawn


def test_rows_given_evidence_are_written(folder: Path) -> None:
    good("sample", "markov.uai", "-n", "20", "--seed", "1", "-g", "x2=1", "--out", "rows.csv")
    lines = (folder / "rows.csv").read_text().splitlines()
    assert len(lines) == 21
    assert {line.split(",")[2] for line in lines[1:]} == {"1"}


@pytest.mark.parametrize(
    ("given", "says"),
    [(["wet=maybe"], "['yes', 'no']"), (["wet"], "X=x"), (["sprinkler=no", "rain=no", "wet=yes"], "impossible")],
    ids=str,
)
def test_rows_given_the_impossible_are_an_error_and_nothing_is_written(
    folder: Path, given: list[str], says: str
) -> None:
    before = set(folder.iterdir())
    options = [word for each in given for word in ("--given", each)]
    assert says in bad("sample", "m.json", *options, "--out", "rows.csv")
    assert set(folder.iterdir()) == before


def test_expert_is_a_prior(folder: Path) -> None:
    states = {"A": ["x", "y"], "B": ["u", "v"]}
    tables = {"A": [0.25, 0.75], "B": [[0.5, 0.5], [0.125, 0.875]]}
    expert = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema=states)
    sf.write(expert, "net.bif")
    good("fit", "B -> A", "t.csv", "--prior", "expert:net.bif:10", "--out-fit", "cli.json")
    sf.write(sf.fit(sf.DAG("B -> A"), "t.csv", prior=sf.Expert(sf.read("net.bif"), 10)), "api.json")
    assert (folder / "cli.json").read_bytes() == (folder / "api.json").read_bytes()
    assert document("query", "cli.json", "A", "--interval", "0.9")["level"] == 0.9


@pytest.mark.parametrize(
    ("prior", "says"),
    [
        ("expert:net.bif", "expert:net.bif:10"),
        ("expert:net.bif:ten", "expert:net.bif:10"),
        ("expert:net.bif:-1", "positive"),
        ("expert:absent.bif:10", "absent.bif"),
        ("expert:markov.uai:10", "no variable 'A'"),
        ("expert::10", "such as expert:net.bif:10"),
        ("expert:", "such as expert:net.bif:10"),
        ("expert:m.bif:10", "no variable 'A'"),
    ],
)
def test_expert_that_is_none_is_an_error(folder: Path, prior: str, says: str) -> None:
    states = {"A": ["x", "y"], "B": ["u", "v"]}
    sf.write(sf.BayesianNetwork(sf.DAG("A; B"), {"A": [0.5, 0.5], "B": [0.5, 0.5]}, schema=states), "net.bif")
    assert says in bad("fit", "A -> B", "t.csv", "--prior", prior)


def test_info_of_a_bayesian_network_tells_the_size_of_inference(folder: Path) -> None:
    size = sprinkler().complexity()
    facts = document("info", "m.bif")
    assert (facts["structure"], facts["nodes"], facts["edges"], facts["most parents"]) == ("DAG", 3, 2, 2)
    assert (facts["width"], facts["cells of all cliques"]) == (size.width, size.cells) == (2, 8)
    assert facts["memory of exact inference"] == size.memory
    text = good("info", "m.bif")
    assert "width" in text
    assert "memory of exact inference" in text


def test_info_of_a_markov_network_has_factors(folder: Path) -> None:
    size = sf.read("markov.uai").complexity()
    facts = document("info", "markov.uai")
    assert facts == {
        "model": "MarkovNetwork", "variables": 3, "factors": 2, "cells": 10, "width": size.width,
        "cells of all cliques": size.cells, "memory of exact inference": size.memory, "tables": [],
    }  # fmt: skip
    assert "MarkovNetwork" in good("info", "markov.uai")


def test_info_of_a_fit_is_that_of_its_model(folder: Path) -> None:
    good("fit", "A -> B", "t.csv", "--out-fit", "fit.json", "--out", "model.json")
    assert document("info", "fit.json") == document("info", "model.json")


def test_info_of_a_network_too_large_for_memory_still_tells_its_size(folder: Path) -> None:
    sf.config(memory=16)
    assert document("info", "m.json")["width"] == 2
