"""Networks built by hand from arrays, labelled tables and frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import suffice as sf

DAG = sf.DAG("rain -> wet <- hose")
STATES = {"rain": ["no", "yes"], "hose": ["off", "on"], "wet": ["dry", "wet"]}
WET = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.05, 0.95]]])  # rain, hose, wet
ARRAYS = {"rain": [0.7, 0.3], "hose": [0.6, 0.4], "wet": WET}
LONG = pd.DataFrame(
    [
        {"hose": hose, "wet": wet, "rain": rain, "p": WET[i, j, k]}
        for k, wet in enumerate(STATES["wet"])
        for j, hose in enumerate(STATES["hose"])
        for i, rain in enumerate(STATES["rain"])
    ]
)


def network(**changes) -> sf.BayesianNetwork:
    return sf.BayesianNetwork(DAG, {**ARRAYS, **changes}, schema=STATES)


def same(first: sf.BayesianNetwork, second: sf.BayesianNetwork) -> bool:
    return all(np.array_equal(first.cpd(node).values, second.cpd(node).values) for node in DAG.nodes)


def test_a_frame_says_the_same_as_an_array_whatever_its_order() -> None:
    assert same(network(), network(wet=LONG))
    assert same(network(), network(wet=pl.from_pandas(LONG.sample(frac=1, random_state=0))))


def test_frames_bring_their_states_in_order_of_appearance() -> None:
    frames = {
        "rain": pd.DataFrame({"rain": ["no", "yes"], "p": [0.7, 0.3]}),
        "hose": pd.DataFrame({"hose": ["off", "on"], "p": [0.6, 0.4]}),
        "wet": LONG,
    }
    built = sf.BayesianNetwork(DAG, frames)
    assert same(network(), built)
    assert built.schema["wet"].states == ("dry", "wet")


def test_a_labelled_table_is_read_by_its_labels() -> None:
    wet = network().cpd("wet").table
    turned = sf.LabelledTable(
        (wet.variables[1], wet.variables[2], wet.variables[0]), np.transpose(wet.values, (1, 2, 0))
    )
    assert same(network(), network(wet=turned))


def test_fitted_and_given_tables_go_together() -> None:
    data = {"rain": ["no", "yes", "no"], "hose": ["on", "off", "off"], "wet": ["dry", "wet", "wet"]}
    fit = sf.fit(DAG, data, unseen_parents="uniform")
    mixed = sf.BayesianNetwork(
        DAG, {"rain": [0.5, 0.5], "hose": fit.model.cpd("hose"), "wet": fit.model.cpd("wet")}, schema=STATES
    )
    assert mixed.cpd("rain").values.tolist() == [[0.5, 0.5]]
    np.testing.assert_array_equal(mixed.cpd("wet").values, fit.model.cpd("wet").values)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (LONG.drop(columns="rain"), "has no column 'rain'"),
        (LONG.assign(q=1.0), "exactly one column besides"),
        (LONG.iloc[1:], "has no row for"),
        (pd.concat([LONG, LONG.iloc[:1]]), "twice, the second time in row 9"),
        (LONG.assign(p=0.4), "not a distribution"),
    ],
)
def test_frames_that_are_no_tables_are_named(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(sf.SufficeError, match=message):
        network(wet=frame)


def test_unknown_states_are_asked_for() -> None:
    with pytest.raises(sf.SchemaError, match="states of 'rain' are not known"):
        sf.BayesianNetwork(DAG, ARRAYS)
