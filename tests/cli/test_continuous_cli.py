"""Continuous and mixed networks, and normal distributions, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import bad, document, good

import suffice as sf
from suffice.cli.priors import read_prior, read_priors

MIXED = "variety -> height; light -> height"
PLANTS: dict[str, list[Any]] = {
    "variety": ["dwarf"] * 8 + ["giant"] * 8,
    "light": [6.0, 7.5, 8.0, 9.0, 9.5, 10.0, 11.0, 12.0, 6.5, 7.0, 8.5, 9.0, 10.0, 10.5, 11.5, 12.5],
    "height": [21.0, 23.5, 25.1, 26.0, 27.9, 28.1, 31.2, 32.0, 40.3, 42.8, 50.1, 51.5, 57.2, 60.6, 65.0, 71.3],
    "flowered": ["yes" if letter == "y" else "no" for letter in "nnynnyyynnnynyyy"],
}
FILES = {
    "normal.toml": 'type = "Normal"\nvariable = "light"\n',
    "joint.toml": 'type = "MultivariateNormal"\nvariables = ["light", "height"]\n',
    "markov.toml": 'type = "GaussianMarkov"\ngraph = "light:height"\n',
    "heads.toml": 'type = "Bernoulli"\nvariable = "flowered"\n',
    "either.toml": 'type = "Categorical"\nvariable = "variety"\n',
    "tied.toml": f'type = "DAG"\ngraph = "{MIXED}"\nkinds = {{ height = {{ tied = "variance" }} }}\n',
}


def mixed() -> sf.BayesianNetwork:
    model = sf.fit(sf.DAG(MIXED), PLANTS).model
    assert isinstance(model, sf.BayesianNetwork)
    return model


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in: a table, structure files, a mixed network and one with a softmax node."""
    monkeypatch.chdir(tmp_path)
    lines = [",".join(PLANTS), *(",".join(map(str, row)) for row in zip(*PLANTS.values(), strict=True)), ""]
    (tmp_path / "plants.csv").write_text("\n".join(lines))
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    sf.write(mixed(), "mixed.json")
    sf.write(sf.fit(sf.DAG(f"{MIXED}; light -> flowered"), PLANTS).model, "softmax.json")
    return tmp_path


# fit ----------------------------------------------------------------------------------------------------------

NIG = sf.NormalInverseGamma(2, 1.0)
OPTIONS: dict[str, tuple[str, list[str], Any, dict[str, Any]]] = {
    "nig": ("light -> height", ["--prior", "nig:2:1"], sf.DAG("light -> height"), {"prior": NIG}),
    "nig with precision": ("light -> height", ["--prior", "nig:2:1:0.01"], sf.DAG("light -> height"),
                           {"prior": sf.NormalInverseGamma(2, 1, precision=0.01)}),
    "bge": ("light -> height", ["--prior", "bge"], sf.DAG("light -> height"), {"prior": sf.BGe()}),
    "bge with numbers": ("light -> height", ["--prior", "bge:2:6"], sf.DAG("light -> height"),
                         {"prior": sf.BGe(2.0, 6.0)}),
    "several": (MIXED, ["--prior", "bdeu:10", "--prior", "nig:2:1"], sf.DAG(MIXED), {"prior": [sf.BDeu(10.0), NIG]}),
    "softmax": ("light -> flowered", ["--prior", "nig:2:1", "--prior", "gaussian:3", "--point", "map"],
                sf.DAG("light -> flowered"), {"prior": [NIG, sf.Gaussian(3.0)], "point": "map"}),
    "niw": ("joint.toml", ["--prior", "niw:0:1:4:1"], sf.MultivariateNormal(["light", "height"]),
            {"prior": sf.NormalInverseWishart(0.0, 1.0, 4.0, 1.0)}),
    "hiw": ("markov.toml", ["--prior", "hiw:3:1"], sf.GaussianMarkov("light:height"),
            {"prior": sf.HyperInverseWishart(3.0, 1.0)}),
    "hiw with a mean": ("markov.toml", ["--prior", "hiw:3:1:8"], sf.GaussianMarkov("light:height"),
                        {"prior": sf.HyperInverseWishart(3.0, 1.0, 8.0)}),
    "divisor n-p": (MIXED, ["--divisor", "n-p"], sf.DAG(MIXED, divisor="n-p"), {}),
    "divisor n-p, tied": ("tied.toml", ["--divisor", "n-p"],
                          sf.DAG(MIXED, kinds={"height": {"tied": "variance"}}, divisor="n-p"), {}),
    "divisor n-1": ("normal.toml", ["--divisor", "n-1"], sf.Normal("light", divisor="n-1"), {}),
    "divisor n": ("joint.toml", ["--divisor", "n"], sf.MultivariateNormal(["light", "height"]), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_fit_option_does_what_the_argument_does(folder: Path, name: str) -> None:
    written, given, structure, wanted = OPTIONS[name]
    good("fit", written, "plants.csv", *given, "--out-fit", "cli.json")
    sf.write(sf.fit(structure, "plants.csv", **wanted), "api.json")
    assert (folder / "cli.json").read_bytes() == (folder / "api.json").read_bytes()


def test_no_prior_is_none_and_several_are_a_list() -> None:
    assert read_priors(None) is None
    assert read_priors(["k2"]) == sf.K2()
    assert read_priors(["k2", "gaussian:2"]) == [sf.K2(), sf.Gaussian(2.0)]


@pytest.mark.parametrize(
    ("prior", "says"),
    [
        ("nig", "nig:SHAPE:SCALE"),
        ("nig:2", "such as nig:2:1. Got 'nig:2'"),
        ("nig:2:1:1:1", "Got 'nig:2:1:1:1'"),
        ("nig:2:", "must end in a number, such as nig:2:1"),
        ("niw:0:1:4", "niw:MEAN:MEAN_WEIGHT:DOF:SCALE"),
        ("bge:1:2:3", "bge:MEAN_WEIGHT:DOF"),
        ("hiw:3", "hiw:DOF:SCALE"),
        ("nix:2:1", "bdeu:10, dirichlet:1, k2, jeffreys, nig:2:1, bge, niw:0:1:4:1"),
    ],
)
def test_prior_that_is_written_otherwise_is_refused_with_how_it_is_written(prior: str, says: str) -> None:
    with pytest.raises(sf.ArgumentError) as caught:
        read_prior(prior)
    assert says in str(caught.value)


REFUSED: dict[str, tuple[list[str], str]] = {
    "regressions without a prior of theirs": ([MIXED, "plants.csv", "--prior", "bdeu:1"],
                                              "such as --prior bdeu:10 --prior nig:2:1"),
    "bge of a discrete variable": ([MIXED, "plants.csv", "--prior", "bge"], "Use --prior bdeu:10 --prior nig:2:1,"),
    "two priors of tables": ([MIXED, "plants.csv", "--prior", "bdeu:1", "--prior", "k2"], "Give one for each kind"),
    "no prior of nodes": ([MIXED, "plants.csv", "--prior", "bdeu:1", "--prior", "uniform"],
                          "Each --prior of several must be a prior on nodes, such as --prior bdeu:10 or --prior nig"),
    "wrong prior of a normal": (["joint.toml", "plants.csv", "--prior", "k2"],
                                "--prior hiw:3:1, or without a graph --prior niw:0:1:3:1"),
    "divisor of a network": ([MIXED, "plants.csv", "--divisor", "n-1"], "one of ['n', 'n-p']. Got 'n-1'"),
    "divisor of a normal": (["normal.toml", "plants.csv", "--divisor", "n-p"], "one of ['n', 'n-1']"),
    "divisor of cliques": (["variety:flowered", "plants.csv", "--divisor", "n"], "structure is a Cliques; leave it"),
    "divisor of a state": (["heads.toml", "plants.csv", "--divisor", "n"], "structure is a Bernoulli; leave it"),
    "divisor under a prior": (["light -> height", "plants.csv", "--divisor", "n-p", "--prior", "nig:2:1"],
                              "has the setting --divisor n-p"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_fit_refuses_and_says_the_options(folder: Path, name: str) -> None:
    arguments, says = REFUSED[name]
    assert says in bad("fit", *arguments)


def test_shown_node_of_a_regression_prints_its_coefficients(folder: Path) -> None:
    text = good("fit", MIXED, "plants.csv", "--show", "height")
    assert str(mixed().cpd("height")) in text


# query --------------------------------------------------------------------------------------------------------


def test_marginals_of_a_mixed_network_are_one_table(folder: Path) -> None:
    model = mixed()
    lines = good("query", "mixed.json", "-g", "variety=giant,dwarf").splitlines()
    assert lines[0].split() == ["variable", "state", "p", "mean", "sd"]
    assert [line.split()[0] for line in lines[2:]] == ["variety", "giant", "height", "light"]
    assert lines[4].split()[1:] == [
        f"{float(value):.6g}" for value in (model.query("height").mean[0], model.query("height").sd[0])
    ]
    assert "state" not in good("query", "mixed.json", "-g", "variety=giant").splitlines()[0]


def test_marginals_of_a_mixed_network_as_json(folder: Path) -> None:
    found, wanted = document("query", "mixed.json"), mixed().marginals()
    assert list(found) == ["variety", "height", "light"]
    np.testing.assert_array_equal(found["variety"]["p"], wanted["variety"].values)
    np.testing.assert_allclose(found["light"]["mean"], np.mean(PLANTS["light"]))
    np.testing.assert_allclose(found["light"]["covariance"], np.var(PLANTS["light"]))
    assert found["height"]["type"] == "NormalMixture"
    np.testing.assert_array_equal(found["height"]["mean"], wanted["height"].mean)


def test_mixture_is_printed_as_the_model_prints_it(folder: Path) -> None:
    assert good("query", "mixed.json", "height").rstrip("\n") == str(mixed().query("height"))
    asked = good("query", "mixed.json", "variety", "height", "-g", "light=9")
    assert asked.rstrip("\n") == str(mixed().query(["variety", "height"], {"light": 9.0}))


def test_mixture_as_json_has_its_components(folder: Path) -> None:
    found = document("query", "mixed.json", "variety", "light", "height")
    wanted = mixed().query(["variety", "light", "height"])
    assert found["names"] == ["light", "height"]
    assert found["targets"] == [{"name": "variety", "states": ["dwarf", "giant"]}]
    np.testing.assert_array_equal(found["p"], wanted.table.values)
    for part, (labels, weight, normal) in zip(found["components"], wanted.components(), strict=True):
        assert part["given"] == labels
        assert part["p"] == weight
        np.testing.assert_array_equal(part["mean"], normal.mean)
        np.testing.assert_array_equal(part["covariance"], normal.covariance)
    weights = [part["p"] for part in found["components"]]
    np.testing.assert_allclose(np.array(weights) @ [part["mean"] for part in found["components"]], found["mean"])
    assert "targets" not in document("query", "mixed.json", "height")


def test_normal_answer_is_printed_and_written(folder: Path) -> None:
    wanted = mixed().query("height", {"variety": "dwarf", "light": 9.0})
    asked = ("query", "mixed.json", "height", "-g", "variety=dwarf", "-g", "light=9")
    assert good(*asked).rstrip("\n") == str(wanted)
    assert document(*asked)["mean"] == wanted.mean.tolist()


def test_most_likely_states_and_values(folder: Path) -> None:
    best = mixed().map({"light": 9.0})
    lines = good("query", "mixed.json", "--map", "-g", "light=9").splitlines()
    assert lines[0].split("  ")[-1] == "state or value"
    assert lines[2].split() == ["variety", best["variety"]]
    assert lines[3].split() == ["height", f"{best['height']:.6g}"]
    assert lines[4] == f"log p(states, evidence)   {best.log_prob:.6f}"
    assert document("query", "mixed.json", "--map", "-g", "light=9")["states"] == best.states
    assert good("query", "mixed.json", "--map", "-g", "variety=dwarf").split()[:2] == ["variable", "value"]


def test_commands_that_cannot_sample_an_answer_do_not_advise_it(folder: Path) -> None:
    Path("gaps.csv").write_text("light,flowered\n,yes\n,no\n")
    for asked in (
        ("query", "softmax.json", "--map", "-g", "flowered=yes"),
        ("impute", "softmax.json", "gaps.csv", "--out", "filled.csv"),
        ("score", "softmax.json", "gaps.csv", "--missing", "marginalise"),
    ):
        assert bad(*asked).endswith("Observe ['light'].")


def test_sampling_answers_what_has_no_closed_form(folder: Path) -> None:
    refused = bad("query", "softmax.json", "light", "-g", "flowered=yes")
    assert refused.endswith("Observe ['light'], or pass --method sampling.")
    refused = bad("query", "softmax.json", "-g", "flowered=yes")
    assert refused.endswith("Observe ['light'], or estimate the answer by --method sampling.")
    asked = ("query", "softmax.json", "light", "variety", "-g", "flowered=yes", "--method", "sampling")
    model = sf.read("softmax.json")
    wanted = model.query(["light", "variety"], {"flowered": "yes"}, method="sampling", seed=0)
    assert good(*asked).rstrip("\n") == str(wanted)
    assert good(*asked) == good(*asked, "--seed", "0") != good(*asked, "--seed", "1")
    found = document(*asked, "--draws", "5000")
    assert found["draws"] == 5000
    assert 1000 < found["effective_size"] < 5000
    assert set(found) == {"type", "draws", "effective_size", "targets", "p", "p_error", "names", "mean", "mean_error",
                          "covariance"}  # fmt: skip
    assert abs(found["mean"][0] - float(wanted.mean[0])) < 5 * found["mean_error"][0]


def test_sampled_marginals_are_from_the_same_draws_and_have_errors(folder: Path) -> None:
    text = good("query", "softmax.json", "--method", "sampling", "--draws", "2000")
    assert text.splitlines()[0].split() == ["variable", "state", "p", "mean", "sd", "standard", "error"]
    assert text.splitlines()[-1] == "2,000 weighted draws, worth 2,000 of equal weight"
    found = document("query", "softmax.json", "--method", "sampling", "--draws", "2000")
    names = ["variety", "height", "light", "flowered"]
    assert list(found) == names
    whole = sf.read("softmax.json").query(names, method="sampling", draws=2000, seed=0)
    np.testing.assert_allclose(found["light"]["mean"], whole.mean[1])
    np.testing.assert_allclose(found["flowered"]["p"], whole.table.values.sum(axis=0))


QUERIES: dict[str, tuple[list[str], str]] = {
    "draws of exact answers": (["mixed.json", "--draws", "9"], "Leave out --draws, or add --method sampling"),
    "sampled states": (["softmax.json", "--map", "--method", "sampling"], "without --map. Leave one of them out"),
    "unknown method": (["mixed.json", "--method", "guess"], "['exact', 'sampling']. Got 'guess'"),
    "sampling of a normal": (["joint.json", "--method", "sampling"], "MODEL is a JointNormal; leave out --method"),
    "sensitivity": (["mixed.json", "--sensitivity", "variety=dwarf"], "for discrete variables"),
    "intervals of a model": (["mixed.json", "height", "--interval", "0.9"], "--out-fit fit.json"),
    "intervals of a fit": (["fit.json", "height", "--interval", "0.9"], "In Python, those of parameters are in"),
    "no number": (["mixed.json", "-g", "light=bright"], "'light' is continuous. Got 'bright'"),
    "too few draws": (["softmax.json", "light", "-g", "flowered=yes", "--method", "sampling", "--draws", "20"],
                      "such as --draws 1000, or observe less"),
    "history of a network": (["mixed.json", "--history", "plants.csv"], "for autoregressions. MODEL is a Bayesian"),
    "steps of a network": (["mixed.json", "--steps", "3"], "--history and --steps are for autoregressions"),
}  # fmt: skip


@pytest.mark.parametrize("name", QUERIES)
def test_query_refuses_and_says_the_options(folder: Path, name: str) -> None:
    sf.write(sf.fit(sf.DAG(MIXED), PLANTS, prior=[sf.BDeu(1), NIG]), "fit.json")
    sf.write(sf.fit(sf.MultivariateNormal(["light", "height"]), PLANTS).model, "joint.json")
    arguments, says = QUERIES[name]
    assert says in bad("query", *arguments)


def test_intervals_take_the_number_of_draws(folder: Path) -> None:
    sf.write(sf.fit(sf.DAG("variety -> flowered"), PLANTS, prior=sf.BDeu(1)), "fit.json")
    asked = ("query", "fit.json", "flowered", "--interval", "0.9")
    wanted = sf.read("fit.json").query("flowered", interval=0.9, draws=50, seed=0)
    assert document(*asked, "--draws", "50")["lower"] == wanted.lower.values.tolist()
    assert document(*asked) != document(*asked, "--draws", "50")


# info, score, sample ------------------------------------------------------------------------------------------


def test_info_of_a_mixed_network_counts_kinds_and_moments(folder: Path) -> None:
    for arguments in (("softmax.json",), (f"{MIXED}; light -> flowered", "plants.csv")):
        found = document("info", *arguments)
        assert found["kinds"] == "1 tabular, 2 linear-gaussian, 1 softmax"
        assert found["moments"] == "3 matrices of up to 2 columns"
        assert found["free parameters"] == 11
        assert "width" not in found
    assert "kinds" not in document("info", "variety -> flowered", "plants.csv")


@pytest.mark.parametrize("name", FILES)
def test_info_describes_every_structure_file_and_its_model(folder: Path, name: str) -> None:
    kind = FILES[name].split('"')[1]
    assert good("info", name).split()[:2] == ["structure", kind]
    with_data = document("info", name, "plants.csv")
    good("fit", name, "plants.csv", "--out-fit", "fit.json", "--out", "model.json")
    assert with_data["free parameters"] == sf.read("fit.json").n_free
    ends = [good("info", file).splitlines()[1:] for file in ("fit.json", "model.json")]
    assert ends[0] == ends[1] != []


def test_mixed_rows_are_drawn_and_scored(folder: Path) -> None:
    good("sample", "mixed.json", "-n", "200", "--seed", "4", "--out", "rows.csv")
    scored = document("score", "mixed.json", "rows.csv")
    assert scored["n"] == 200
    assert scored["log_likelihood"] == pytest.approx(float(mixed().log_prob("rows.csv").sum()))
    given = good("sample", "mixed.json", "-n", "5", "--seed", "4", "-g", "light=9").splitlines()
    assert all(line.endswith(",9.0") for line in given[1:])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--length", "5"], "for Markov chains and autoregressions. MODEL is a BayesianNetwork"),
        (["--start", "a"], "--length and --start"),
        (["--method", "gibbs"], "always drawn exactly. Leave out --method"),
    ],
)
def test_sample_refuses_what_is_for_other_models(folder: Path, options: list[str], says: str) -> None:
    assert says in bad("sample", "mixed.json", *options)


def test_every_command_line_answer_is_one_json_document(folder: Path) -> None:
    for arguments in (("mixed.json", "light"), ("mixed.json", "variety"), ("mixed.json", "--map"), ("mixed.json",)):
        assert json.loads(good("query", *arguments, "--json"))


def test_floats_that_could_be_codes_are_refused_with_one_option_per_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n1.0,u,1.0\n,v,\n2.0,u,2.0\n1.0,v,2.0\n")
    asked = ("fit", "a -> b; c", tmp_path / "t.csv", "--missing", "drop")
    assert "--categorical 'a' --categorical 'c' or --continuous 'a' --continuous 'c'" in bad(*asked)
    assert "3 rows" in good(*asked, "--categorical", "a", "--categorical", "c")
