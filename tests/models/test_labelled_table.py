"""Labelled tables: looking things up, handing them to frames, printing."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf

A, B = sf.Variable("A", ("no", "yes")), sf.Variable("B", (1, 2, 3))
TABLE = sf.LabelledTable((A, B), np.arange(6).reshape(2, 3) / 10)


def test_looking_up_one_number_or_a_slice() -> None:
    assert TABLE[{"A": "yes", "B": 2}] == 0.4
    assert TABLE[{"B": 2, "A": "yes"}] == 0.4
    part = TABLE[{"A": "yes"}]
    assert part.names == ("B",)
    assert part.to_numpy().tolist() == [0.3, 0.4, 0.5]
    assert part[{"B": 3}] == 0.5
    assert TABLE[{}].to_numpy().tolist() == TABLE.to_numpy().tolist()
    assert isinstance(TABLE[{"A": "yes", "B": 2}], float)


def test_unknown_names_and_states_are_explained() -> None:
    with pytest.raises(sf.UnknownNameError, match="'C'"):
        TABLE[{"C": 1}]
    with pytest.raises(sf.UnknownNameError, match="no state 'maybe'"):
        TABLE[{"A": "maybe"}]


def test_numbers_cannot_be_changed_from_outside() -> None:
    with pytest.raises(ValueError, match="read-only"):
        TABLE.values[0, 0] = 1
    own = TABLE.to_numpy()
    own[0, 0] = 1
    assert TABLE[{"A": "no", "B": 1}] == 0


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_have_one_row_a_configuration(backend: str) -> None:
    frame = TABLE.to_frame(backend)
    assert type(frame).__module__.split(".")[0] == backend
    columns = frame.to_pydict() if backend == "pyarrow" else {name: list(frame[name]) for name in frame.columns}
    assert list(columns) == ["A", "B", "p"]
    assert columns["A"] == ["no"] * 3 + ["yes"] * 3
    assert columns["B"] == [1, 2, 3] * 2
    assert columns["p"] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


def test_frames_of_fitted_tables() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": [True, True, False], "B": ["u", "v", "v"]})
    frame = fit.model.cpd("B").table.to_frame("pandas")
    assert frame["A"].tolist() == [False, False, True, True]
    assert frame["p"].tolist() == [0, 1, 0.5, 0.5]


@pytest.mark.parametrize("names", [("p",), ("p", "p_"), ("p_", "p")])
def test_a_variable_called_like_the_numbers_keeps_its_column(names: tuple[str, ...]) -> None:
    variables = tuple(sf.Variable(name, ("x", "y")) for name in names)
    frame = sf.LabelledTable(variables, np.full((2,) * len(names), 0.5)).to_frame("pandas")
    assert frame.shape == (2 ** len(names), len(names) + 1)
    for name in names:
        assert set(frame[name]) == {"x", "y"}


def test_unknown_backend_is_explained() -> None:
    with pytest.raises(sf.ArgumentError, match="backend"):
        TABLE.to_frame("excel")


def test_printing() -> None:
    assert str(TABLE).splitlines() == [
        "     B",
        "A         1       2       3",
        "---  ------  ------  ------",
        "no        0  0.1000  0.2000",
        "yes  0.3000  0.4000  0.5000",
    ]
    long = sf.LabelledTable((sf.Variable("A", tuple(range(75))),), np.full(75, 1 / 75))
    assert "… 15 more rows" in str(long)
    assert "… 15 more rows" in long._repr_html_()


def test_a_table_over_nothing_is_one_number() -> None:
    table = sf.LabelledTable((), np.array(0.5))
    assert str(table) == "0.5"
    assert "0.5" in table._repr_html_()
