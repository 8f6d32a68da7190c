"""pgmpy: its models and ours become each other, answer alike, and its files and ours say the same."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.peers.peers import (
    IN_FILES,
    NETWORKS,
    assert_close,
    assert_equal,
    bayes_nets,
    evidence,
    markov_nets,
    network,
    numbered,
    peer,
)

import suffice as sf

models = peer("pgmpy.models")
factors = peer("pgmpy.factors.discrete")
inference = peer("pgmpy.inference")
readwrite = peer("pgmpy.readwrite")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """Keep pgmpy's log off the screen."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


# Round trips --------------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("name", NETWORKS)
def test_published_network_comes_back_equal(data_folder: Path, name: str) -> None:
    model = network(data_folder, name)
    theirs = sf.to_pgmpy(model)
    assert type(theirs) is models.DiscreteBayesianNetwork
    assert theirs.check_model()
    back = sf.from_pgmpy(theirs)
    assert_equal(back, model)
    assert back.notes == ()


@given(bayes_nets())
def test_bayesian_network_comes_back_equal(model: sf.BayesianNetwork) -> None:
    theirs = sf.to_pgmpy(model)
    assert theirs.check_model()
    assert_equal(sf.from_pgmpy(theirs), model)


@given(markov_nets(kinds=("text", "int", "bool")))
def test_markov_network_comes_back_the_same_distribution(model: sf.MarkovNetwork) -> None:
    theirs = sf.to_pgmpy(model)
    assert theirs.check_model()
    back = sf.from_pgmpy(theirs)
    assert back.schema == model.schema
    assert back.log_z == pytest.approx(model.log_z, abs=1e-12)
    joint = back.query(list(model.variables)).values
    np.testing.assert_allclose(joint, model.query(list(model.variables)).values, rtol=0, atol=1e-12)


def test_latent_variables_stay_latent() -> None:
    dag = sf.DAG("H -> A", latent={"H": 2})
    tables = {"H": [0.5, 0.5], "A": [[0.1, 0.9], [0.8, 0.2]]}
    model = sf.BayesianNetwork(dag, tables, schema={"H": [0, 1], "A": ["n", "y"]})
    theirs = sf.to_pgmpy(model)
    assert theirs.latents == {"H"}
    assert sf.from_pgmpy(theirs).dag == dag


def test_model_that_pgmpy_fitted_is_taken() -> None:
    frame = pd.DataFrame({"A": ["x", "x", "y", "y", "y"], "B": [1, 2, 2, 2, 1]})
    theirs = models.DiscreteBayesianNetwork([("A", "B")])
    theirs.fit(frame)
    fit = sf.fit(sf.DAG("A -> B"), frame)
    assert_close(sf.from_pgmpy(theirs), fit.model, 1e-15)
    assert_equal(sf.from_pgmpy(sf.to_pgmpy(fit)), sf.from_pgmpy(sf.to_pgmpy(fit.model)))


def test_noisy_or_is_taken_as_its_table() -> None:
    theirs = models.DiscreteBayesianNetwork([("X", "Y"), ("Z", "Y")])
    noisy = factors.NoisyORCPD("Y", [0.3, 0.5], ["X", "Z"])
    for node in ("X", "Z"):
        theirs.add_cpds(factors.TabularCPD(node, 2, [[0.4], [0.6]], state_names={node: noisy.state_names[node]}))
    theirs.add_cpds(noisy)
    model = sf.from_pgmpy(theirs)
    table = model.cpd("Y").table
    assert table.values.shape == (2, 2, 2)
    for x in noisy.state_names["X"]:
        for z in noisy.state_names["Z"]:
            for y in noisy.state_names["Y"]:
                assert table[{"X": x, "Z": z, "Y": y}] == noisy.get_value(X=x, Z=z, Y=y)


def test_linear_gaussian_network_is_refused_as_continuous() -> None:
    theirs = models.LinearGaussianBayesianNetwork([("A", "B")])
    with pytest.raises(sf.ArgumentError, match="LinearGaussianBayesianNetwork of pgmpy has continuous variables"):
        sf.from_pgmpy(theirs)


@pytest.mark.parametrize("kind", ["FactorGraph", "DynamicBayesianNetwork", "JunctionTree"])
def test_other_models_are_refused_by_name(kind: str) -> None:
    with pytest.raises(sf.ArgumentError, match=f"Got {kind} instead"):
        sf.from_pgmpy(getattr(models, kind)())


# Answers ------------------------------------------------------------------------------------------------------


def assert_answers_agree(model: Any, theirs: Any, seen: dict[str, Any], targets: list[str]) -> None:
    found = inference.VariableElimination(theirs).query(targets, evidence=seen, show_progress=False)
    ours = model.query(targets, given=seen)
    values = np.transpose(found.values, [found.variables.index(name) for name in targets])
    if isinstance(model, sf.MarkovNetwork):  # whose answers pgmpy leaves unnormalised
        values = values / values.sum()
    assert [found.state_names[name] for name in targets] == [list(model.schema[name].labels) for name in targets]
    np.testing.assert_allclose(ours.values, values, rtol=0, atol=1e-9)


@pytest.mark.data
@pytest.mark.parametrize("name", NETWORKS)
def test_queries_agree_on_published_networks(data_folder: Path, name: str) -> None:
    model = network(data_folder, name)
    theirs = sf.to_pgmpy(model)
    for seed in range(6):
        seen = evidence(model, n=seed, seed=seed)
        free = [variable for variable in model.variables if variable not in seen]
        targets = list(np.random.default_rng(seed).permutation(free)[: 1 + seed % 2])
        assert_answers_agree(model, theirs, seen, [str(target) for target in targets])


@settings(max_examples=30)
@given(st.one_of(bayes_nets(), markov_nets()), st.integers(0, 2**32))
def test_queries_agree(model: Any, seed: int) -> None:
    seen = evidence(model, n=seed % len(model.variables), seed=seed)
    targets = [variable for variable in model.variables if variable not in seen][:2]
    assert_answers_agree(model, sf.to_pgmpy(model), seen, targets)


@settings(max_examples=30)
@given(markov_nets())
def test_partition_functions_agree(model: sf.MarkovNetwork) -> None:
    assert math.log(sf.to_pgmpy(model).get_partition_function()) == pytest.approx(model.log_z, abs=1e-9)


# Files --------------------------------------------------------------------------------------------------------

READERS = {"bif": "BIFReader", "xmlbif": "XMLBIFReader", "net": "NETReader", "xdsl": "XDSLReader"}
# It writes NET with some eight digits, the others with all.
WRITTEN_TO = {"bif": 1e-15, "xmlbif": 1e-15, "net": 5e-8, "xdsl": 1e-15}


def assert_files_agree(model: sf.BayesianNetwork, ending: str, folder: Path) -> None:
    ours, theirs = folder / f"ours.{ending}", folder / f"theirs.{ending}"
    sf.write(model, ours)
    found = sf.from_pgmpy(getattr(readwrite, READERS[ending])(str(ours)).get_model())
    # Where tables came from a file whose rows do not sum to one, that file's own numbers are written.
    assert_close(found, model, 1e-15)
    sf.to_pgmpy(model).save(str(theirs), filetype=ending)
    assert_close(sf.read(theirs), model, WRITTEN_TO[ending])


@pytest.mark.data
@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize("name", NETWORKS)
def test_files_of_published_networks_agree(data_folder: Path, name: str, ending: str, tmp_path: Path) -> None:
    assert_files_agree(network(data_folder, name), ending, tmp_path)


@pytest.mark.parametrize("ending", READERS)
def test_files_agree(ending: str, tmp_path: Path) -> None:
    @settings(max_examples=8)  # pgmpy takes its time to read BIF
    @given(bayes_nets(alphabet=IN_FILES, kinds=("text",)))
    def check(model: sf.BayesianNetwork) -> None:
        assert_files_agree(model, ending, tmp_path)

    check()


# UAI, BAYES: pgmpy writes and reads tables with the first variable of the scope varying fastest, where the format and
# everyone else's files have the last; so tables with parents do not agree. It also reads no exponents (1e-05).
# UAI, MARKOV: it has the last fastest, as the format. It numbers variables by the text of their size and then by name
# when it writes, and reads only variables that share a factor with others.


def ring(n: int, seed: int) -> sf.MarkovNetwork:
    random = np.random.default_rng(seed)
    names = [f"x{number}" for number in range(n)]
    scopes = [(names[(place + 1) % n], names[place]) for place in range(n)] + [(names[2], names[0], names[1])]
    factors = [(scope, 0.1 + random.random([3] * len(scope))) for scope in scopes]
    return sf.MarkovNetwork(factors, schema={name: ["0", "1", "2"] for name in names})


@pytest.mark.parametrize("seed", range(3))
def test_uai_files_of_markov_networks_agree(seed: int, tmp_path: Path) -> None:
    model = ring(5, seed)
    ours, theirs = tmp_path / "ours.uai", tmp_path / "theirs.uai"
    sf.write(model, ours)
    taken = sf.from_pgmpy(readwrite.UAIReader(str(ours)).get_model())
    readwrite.UAIWriter(sf.to_pgmpy(model)).write(str(theirs))
    for found in (numbered(taken, [f"var_{number}" for number in range(5)]), sf.read(theirs)):
        assert found.log_z == pytest.approx(model.log_z, abs=1e-12)
        joint = found.query(list(model.variables)).values
        np.testing.assert_allclose(joint, model.query(list(model.variables)).values, rtol=0, atol=1e-12)
