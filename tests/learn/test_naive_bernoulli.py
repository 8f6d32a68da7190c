"""Bernoulli columns of a naive Bayes structure: numbers are compared with a threshold, in every kind of table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice as sf
from suffice.structures.naive import Naive

COUNTS = {"n": [0, 3, 1, 0, 2, 0], "z": [0, 0, 0, 0, 0, 0], "y": ["a", "b", "b", "a", "b", "b"]}
BITS = {**COUNTS, "n": [0, 1, 1, 0, 1, 0]}
STRUCTURE = Naive("y", ["n", "z"], kinds={"n": "bernoulli", "z": "bernoulli"})
PRIOR = sf.Dirichlet(1.0)


def table(form: str, data: dict[str, list[Any]], folder: Path) -> Any:
    frame = pd.DataFrame(data)
    if form == "csv":
        frame.to_csv(folder / "rows.csv", index=False)
        return folder / "rows.csv"
    if form == "parquet":
        frame.to_parquet(folder / "rows.parquet")
        return folder / "rows.parquet"
    forms: dict[str, Any] = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
    if form == "floats":
        return frame.astype({"n": float, "z": float})
    return forms[form](data)


@pytest.mark.parametrize("form", ["dict", "pandas", "floats", "polars", "arrow", "csv", "parquet"])
def test_counts_are_bits(form: str, tmp_path: Path) -> None:
    fit = sf.fit(STRUCTURE, table(form, COUNTS, tmp_path), prior=PRIOR)
    bits = sf.fit(STRUCTURE, BITS, prior=PRIOR)
    assert fit.certificate.ok
    assert fit.log_likelihood == bits.log_likelihood
    assert [fit.model.schema[name].states for name in "nz"] == [(0, 1), (0, 1)]
    np.testing.assert_array_equal(fit.model.cpd("n").values, bits.model.cpd("n").values)
    rows = table(form, {"n": [7, 0], "z": [1, 0]}, tmp_path)
    np.testing.assert_array_equal(fit.model.query_rows("y", rows).values, bits.model.query_rows("y", rows).values)


def test_a_number_in_a_question_is_compared() -> None:
    model = sf.fit(STRUCTURE, COUNTS, prior=PRIOR).model
    assert str(model.query("y", {"n": 5})) == str(model.query("y", {"n": 1}))
    assert str(model.query("y", {"n": -5})) == str(model.query("y", {"n": 0}))


def test_a_threshold_beyond_one_has_bools_as_states(tmp_path: Path) -> None:
    structure = Naive("y", ["n"], kinds={"n": "bernoulli"}, binarize=1)
    fit = sf.fit(structure, COUNTS, prior=PRIOR)
    assert fit.model.schema["n"].states == (False, True)
    assert fit.statistics[sf.Count(("y", "n"))].table().tolist() == [[2, 0], [2, 2]]
    assert str(fit.model.query("y", {"n": 1})) == str(fit.model.query("y", {"n": False}))
    drawn = fit.model.sample(20, seed=1)
    assert set(drawn["n"]) <= {True, False}
    numbers = drawn.assign(n=2 * drawn["n"].astype(int))
    np.testing.assert_array_equal(fit.model.log_prob(drawn), fit.model.log_prob(numbers))


def test_files_keep_the_threshold(tmp_path: Path) -> None:
    structure = Naive("y", ["n", "z"], kinds={"n": "bernoulli", "z": "bernoulli"}, binarize=1.5)
    assert Naive.from_dict(structure.to_dict()) == structure
    assert "binarize=1.5" in repr(structure)
    fit = sf.fit(structure, COUNTS, prior=PRIOR)
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json")
    assert again.model.schema["n"].threshold == 1.5
    assert str(again.model.query("y", {"n": 9})) == str(fit.model.query("y", {"n": 9}))
    fit.statistics.save(tmp_path / "s.stats")
    assert sf.estimate(structure, sf.Statistics.load(tmp_path / "s.stats"), prior=PRIOR).certificate.ok


def test_parts_add_up() -> None:
    halves = [{name: values[:3] for name, values in COUNTS.items()}, {name: v[3:] for name, v in COUNTS.items()}]
    first, second = (sf.collect(STRUCTURE, half) for half in halves)
    both = sf.estimate(STRUCTURE, first + second, prior=PRIOR)
    assert both.log_likelihood == pytest.approx(sf.fit(STRUCTURE, COUNTS, prior=PRIOR).log_likelihood, rel=1e-12)


def test_the_states_may_be_declared_or_found() -> None:
    data = {**COUNTS, "n": [1, 2, 1, 1, 2, 1]}
    structure = Naive("y", ["n"], kinds={"n": "bernoulli"})
    assert sf.fit(structure, data, prior=PRIOR, schema={"n": [1, 2]}).model.schema["n"].states == (1, 2)
    found = Naive("y", ["n"], kinds={"n": "bernoulli"}, binarize=None)
    assert sf.fit(found, data, prior=PRIOR).model.schema["n"].states == (1, 2)
    with pytest.raises(sf.StructureError, match=r"'n' has \[0, 1, 2, '…', 3\]|'n' has \[0, 1, 2, 3\]"):
        sf.fit(found, COUNTS, prior=PRIOR)


def test_text_stays_text() -> None:
    data = {"n": ["u", "v", "u", "v"], "y": [0, 1, 0, 1]}
    assert sf.fit(Naive("y", ["n"], kinds={"n": "bernoulli"}), data, prior=PRIOR).model.schema["n"].states == ("u", "v")
