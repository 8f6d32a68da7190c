"""Autoregression: what it says of columns, windows and parameters."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.marked_windows import FIRST
from suffice.io.structure_file import read_structure
from suffice.stats.needs import Moment
from suffice.structures.structure import Structure


def rows_of(table) -> dict[str, list[float]]:
    blocks = list(table.blocks())
    return {name: np.concatenate([block.columns[name] for block in blocks]).tolist() for name in blocks[0].columns}


@st.composite
def ragged(draw) -> tuple[list[np.ndarray], int]:
    d = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(0, 7), min_size=1, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return [rng.normal(size=(length, d)) for length in lengths], d


def test_it_is_a_structure_over_continuous_columns() -> None:
    structure = sf.Autoregression(2, ["x", "y"], id="site", time="day")
    assert isinstance(structure, Structure)
    assert structure.columns == ("x[-2]", "y[-2]", "x[-1]", "y[-1]", "x", "y")
    assert structure.continuous == set(structure.columns)
    assert sf.Autoregression(1, "x", initial="normal").columns == ("x[-1]", "x", FIRST)
    assert sf.Autoregression(1, "x", initial="normal").continuous == {"x[-1]", "x"}
    assert sf.Autoregression(1).columns == ()
    assert structure.declared == {}
    assert structure.lag_names == ("x[-1]", "y[-1]", "x[-2]", "y[-2]")
    assert sf.Autoregression(2, "x") == sf.Autoregression(2, ["x"])
    assert hash(sf.Autoregression(2, "x")) == hash(sf.Autoregression(2, ["x"]))
    assert sf.Autoregression(2, "x") != sf.Autoregression(2, "x", intercept=False)


@pytest.mark.parametrize(
    ("structure", "d", "n_free"),
    [
        (sf.Autoregression(0), 1, 2),
        (sf.Autoregression(0), 3, 9),
        (sf.Autoregression(2), 1, 4),
        (sf.Autoregression(2, intercept=False), 1, 3),
        (sf.Autoregression(3), 2, 2 * 7 + 3),
        (sf.Autoregression(2, initial="normal"), 2, 2 * 5 + 3 + 4 + 10),
    ],
)
def test_free_parameters_are_counted(structure: sf.Autoregression, d: int, n_free: int) -> None:
    assert structure.n_free(d) == n_free


@given(data=ragged(), order=st.integers(0, 3), marked=st.booleans())
def test_windows_are_all_values_with_their_past(data, order: int, marked: bool) -> None:
    sequences, d = data
    names = [f"v{i}" for i in range(d)]
    initial = "normal" if marked and order else "given"
    structure = sf.Autoregression(order, names, initial=initial)
    table = structure.open(sequences)
    assert structure.names_in(table.schema) == tuple(names)
    assert sf.Autoregression(order, initial=initial).names_in(table.schema) == tuple(names)
    found = rows_of(table)
    wanted: dict[str, list[float]] = {name: [] for name in found}
    for sequence in sequences:
        for t in range(order, len(sequence)):
            for i, name in enumerate(names):
                wanted[name].append(sequence[t, i])
                for lag in range(1, order + 1):
                    wanted[f"{name}[-{lag}]"].append(sequence[t - lag, i])
            if initial == "normal":
                wanted[FIRST].append(int(t == order))
    assert found == wanted
    assert table.n_expected == len(wanted[names[0]])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_first_windows_are_marked_in_whatever_block_they_are(size: int, monkeypatch) -> None:
    sequences = [np.arange(float(n)) + 100 * n for n in (4, 1, 0, 2, 9, 3, 3, 2)]
    structure = sf.Autoregression(2, "x", initial="normal")
    whole = rows_of(structure.open(sequences))
    assert whole["x[-2]"][0] == 400.0
    assert [lag for lag, first in zip(whole["x[-2]"], whole[FIRST], strict=True) if first] == [
        400.0,
        900.0,
        300.0,
        300.0,
    ]
    monkeypatch.setattr("suffice.data.held_symbols.BLOCK_ROWS", size)
    table = structure.open(sequences)
    assert len(list(table.blocks())) > 3
    assert rows_of(table) == whole


def test_needs_put_lags_first() -> None:
    structure = sf.Autoregression(2, ["x", "y"])
    schema = structure.open([np.zeros((4, 2))]).schema
    assert structure.need(schema) == Moment(("x[-1]", "y[-1]", "x[-2]", "y[-2]", "x", "y"))
    marked = sf.Autoregression(1, "x", initial="normal")
    assert marked.need(marked.open([[1.0, 2.0]]).schema) == Moment(("x[-1]", "x"), (FIRST,))


def test_a_column_whose_name_looks_like_a_lag_is_kept_apart() -> None:
    structure = sf.Autoregression(1)
    schema = structure.open([np.zeros((4, 2))]).schema
    assert structure.names_in(schema) == ("x1", "x2")
    named = sf.Autoregression(2, "x[-1]")
    assert named.need(named.open([[1.0, 2.0, 3.0, 4.0]]).schema).xs == ("x[-1][-1]", "x[-1][-2]", "x[-1]")


@pytest.mark.parametrize("backend", ["dict", "pandas", "csv"])
def test_long_tables_are_cut_by_id_and_ordered_by_time(backend: str, tmp_path) -> None:
    columns = {"site": ["b", "a", "b", "a", "b"], "day": [3, 1, 1, 2, 2], "x": [30.0, 1.0, 10.0, 2.0, 20.0]}
    data = columns if backend == "dict" else pd.DataFrame(columns)
    if backend == "csv":
        data.to_csv(tmp_path / "t.csv", index=False)
        data = tmp_path / "t.csv"
    for structure in (sf.Autoregression(1, "x", id="site", time="day"), sf.Autoregression(1, id="site", time="day")):
        assert rows_of(structure.open(data)) == {"x[-1]": [10.0, 20.0, 1.0], "x": [20.0, 30.0, 2.0]}


def test_what_is_conditioned_on_is_said() -> None:
    table = sf.Autoregression(2, ["x", "y"]).open([np.zeros((5, 2)), np.zeros((2, 2)), np.zeros((3, 2))])
    assert table.settled().remarks == (
        "The likelihood is that given the first 2 values of 2 sequences, 8 numbers in all.",
        "1 sequence of at most 2 values left out: nothing to predict.",
    )
    assert sf.Autoregression(0, "x").open([[1.0, 2.0]]).settled().remarks == ()
    assert sf.Autoregression(1, "x", initial="normal").open([[1.0, 2.0]]).settled().remarks == ()


STRUCTURES = [
    sf.Autoregression(),
    sf.Autoregression(0, "x"),
    sf.Autoregression(3, ["x", "y"], intercept=False, divisor="n-p", id="site", time="day"),
    sf.Autoregression(1, ["x"], initial="normal"),
]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_it_survives_json_and_its_own_representation(structure: sf.Autoregression) -> None:
    assert sf.Autoregression.from_dict(json.loads(json.dumps(structure.to_dict()))) == structure
    assert eval(repr(structure), {"Autoregression": sf.Autoregression}) == structure
    assert f"order {structure.order}" in str(structure)


def test_it_prints_what_is_unusual_only() -> None:
    assert repr(sf.Autoregression(2)) == "Autoregression(order=2)"
    assert repr(STRUCTURES[2]) == (
        "Autoregression(order=3, variables=['x', 'y'], intercept=False, divisor='n-p', id='site', time='day')"
    )
    assert "<b>" not in sf.Autoregression(1, "<b>")._repr_html_()


def test_a_structure_file_can_name_it(tmp_path) -> None:
    path = tmp_path / "ar.toml"
    path.write_text(
        'type = "Autoregression"\norder = 2\nvariables = ["x"]\nid = "site"\ntime = "day"\ndivisor = "n-p"\n'
    )
    assert read_structure(str(path)) == sf.Autoregression(2, ["x"], id="site", time="day", divisor="n-p")
    path.write_text('type = "Autoregression"\nvariables = ["x"]\n')
    with pytest.raises(sf.StructureError, match="the entry 'order' is missing"):
        read_structure(str(path))
    path.write_text('type = "Autoregression"\norder = 1\nlags = 2\n')
    with pytest.raises(sf.StructureError, match="no entry 'lags'"):
        read_structure(str(path))


@pytest.mark.parametrize(
    "bad",
    [
        {"order": -1},
        {"order": 1.5},
        {"order": True},
        {"variables": []},
        {"variables": 3},
        {"variables": {"x": 1}},
        {"variables": ["x", 3]},
        {"variables": ["x", ""]},
        {"variables": ["x", "x"]},
        {"intercept": 1},
        {"divisor": "n-1"},
        {"initial": "stationary"},
        {"order": 0, "initial": "normal"},
        {"id": 3},
        {"time": ""},
        {"variables": "x", "id": "x"},
        {"id": "t", "time": "t"},
    ],
)
def test_what_is_no_structure_is_refused(bad) -> None:
    with pytest.raises(sf.SufficeError):
        sf.Autoregression(**bad)
