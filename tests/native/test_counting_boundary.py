"""Kernels that count, encode and walk refuse what would lead beyond the end of an array: three subjects, one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.native.misuse import REFUSALS, misuses

from suffice.native import codes, counting, markov_walks

LAYOUT: dict[str, Any] = {
    "members": np.array([0, 1, 2, 1]), "starts": np.array([0, 3, 4]), "sizes": np.array([2, 3, 2]),
}  # fmt: skip
FAMILIES = counting.Families(**LAYOUT)
TILE, OUT, MASKS = np.ones((3, 128), np.int8), np.zeros(15, np.int64), np.zeros((7, 2), np.uint64)
SEQUENCE = np.array([1, 0, 2, 1, 0, 2], np.int8)

CALLS: dict[str, dict[str, Any]] = {
    "counting.Families": LAYOUT,
    "counting.build_masks": {"families": FAMILIES, "tile": TILE, "n_rows": 100, "masks": MASKS},
    "counting.count_masks": {"families": FAMILIES, "masks": MASKS, "n_rows": 100, "out": OUT},
    "counting.count_histogram": {"families": FAMILIES, "tile": TILE, "n_rows": 100, "out": OUT},
    "counting.count_weighted": {"families": FAMILIES, "tile": TILE, "weights": np.ones(100), "out": np.zeros(15)},
    "counting.count_windows": {"values": SEQUENCE, "starts": np.array([2, 5]), "before": np.array([0, 3], np.int8),
                               "n_states": 3, "out": np.zeros(48, np.int64)},
    "counting.count_keys": {"keys": np.array([5, 0, 5]), "weights": np.ones(3)},
    "codes.encode_small": {"x": np.ones((4, 3), np.int64), "codes": np.ones((4, 3), np.int8),
                           "present": np.zeros((3, 127), np.bool_)},
    "codes.encode_known": {"x": np.ones((4, 3), np.int64), "low": np.zeros(3, np.int64),
                           "tables": np.ones((3, 5), np.int8), "codes": np.ones((4, 3), np.int8)},
    "markov_walks.walk": {"steps": np.full((2, 4), np.inf), "stored": np.zeros(0, np.int64), "wrap": 2,
                          "keys": np.array([0, 3, 1]), "uniform": np.full((5, 3), 0.5),
                          "out": np.ones((3, 5), np.int8)},
}  # fmt: skip
SOME_STORED = {**CALLS["markov_walks.walk"], "stored": np.array([0, 1, 3])}
OUTPUTS = {"out", "codes", "present", "keys"}
INDICES = {"members", "starts", "sizes"}
SHORT_INDICES = {"tile", "values", "before"}
"""Codes of eight bits."""
LEGITIMATE = {
    ("counting.Families", "starts", "short"),  # one family less
    ("counting.count_weighted", "weights", "short"),  # one row less
    ("counting.count_windows", "values", "short"),
    ("counting.count_windows", "starts", "short"),
    ("codes.encode_small", "x", "type"),  # numbers of any width
    ("codes.encode_known", "x", "type"),
    ("codes.encode_known", "tables", "narrow"),  # fewer states
    ("markov_walks.walk", "stored", "short"),  # one context less
    ("markov_walks.walk", "uniform", "strided"),  # any strides
    ("markov_walks.walk", "out", "strided"),
    ("markov_walks.walk", "out", "type"),  # codes of any width
    ("counting.count_histogram", "tile", "narrow"),  # rows beyond those that count
    ("counting.count_weighted", "tile", "narrow"),
}


def call(name: str, arguments: dict[str, Any]) -> Any:
    module, _, function = name.partition(".")
    copies = {key: value.copy(order="K") if _is_plain(value) else value for key, value in arguments.items()}
    return getattr(globals()[module], function)(**copies)


def _is_plain(value: Any) -> bool:
    """Whether a copy of an array is refused or taken for the same reasons."""
    return isinstance(value, np.ndarray) and value.flags.writeable and value.flags.c_contiguous


def outputs(name: str) -> set[str]:
    read = {"counting.count_keys": {"keys"}}
    return (OUTPUTS | ({"masks"} if name == "counting.build_masks" else set())) - read.get(name, set())


def further(arguments: dict[str, Any]) -> Any:
    """Yield calls in which one array has a column less, or a short code is out of range."""
    for key, value in arguments.items():
        if isinstance(value, np.ndarray) and value.ndim > 1:
            yield key, "narrow", {**arguments, key: value[..., :-1].copy()}
        for entry in (-1, 100) if key in SHORT_INDICES else ():
            wrong = value.copy()
            wrong.reshape(-1)[-1 if value.ndim == 1 else 40] = entry
            yield key, f"code {entry}", {**arguments, key: wrong}


WRONG = [
    pytest.param(name, wrong, id=f"{name}-{argument}-{what}")
    for name, arguments in CALLS.items()
    for argument, what, wrong in [*misuses(arguments, outputs(name), INDICES), *further(arguments)]
    if (name, argument, what) not in LEGITIMATE and arguments[argument].size
]
WRONG += [
    pytest.param("markov_walks.walk", wrong, id=f"some stored-{argument}-{what}")
    for argument, what, wrong in misuses(SOME_STORED, OUTPUTS)
    if ("markov_walks.walk", argument, what) not in LEGITIMATE
]


def test_every_kernel_is_called() -> None:
    found = {
        f"{module.__name__.rpartition('.')[2]}.{name}"
        for module in (counting, codes, markov_walks)
        for name in dir(module)
        if not name.startswith("_")
    }
    assert found - {"counting.level"} == set(CALLS)


@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_wrong_arrays_are_refused(name: str, arguments: dict[str, Any]) -> None:
    call(name, CALLS[name])  # a proper call is answered
    with pytest.raises(REFUSALS):
        call(name, arguments)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("counting.build_masks", {"n_rows": 129}),
        ("counting.build_masks", {"n_rows": -1}),
        ("counting.count_masks", {"n_rows": 129}),
        ("counting.count_masks", {"n_rows": -1}),
        ("counting.count_histogram", {"n_rows": 129}),
        ("counting.count_histogram", {"n_rows": -1}),
        ("counting.count_weighted", {"weights": np.ones(129)}),
        ("counting.count_weighted", {"weights": np.ones(100, np.int64)}),  # not the type of the sums
        ("counting.count_windows", {"n_states": 2}),
        ("counting.count_windows", {"n_states": -1}),
        ("counting.count_windows", {"n_states": 127}),
        ("counting.count_windows", {"starts": np.array([5, 2])}),
        ("counting.count_windows", {"starts": np.array([-1, 2])}),
        ("counting.count_windows", {"starts": np.array([2, 7])}),
        ("counting.count_windows", {"before": np.zeros(0, np.int8)}),
        ("counting.count_windows", {"before": np.zeros(4, np.int8)}),
        ("counting.count_keys", {"keys": np.array([5, -1, 5])}),
        ("counting.count_keys", {"keys": np.array([5, -(2**63), 5])}),
        ("counting.Families", {"starts": np.zeros(0, np.int64)}),
        ("counting.Families", {"starts": np.array([0, 3, 3])}),  # a family without columns
        ("counting.Families", {"sizes": np.array([2**16, 2**16, 2])}),  # a table that is too large
        ("counting.Families", {"sizes": np.array([2, -1, 2])}),
        ("markov_walks.walk", {"wrap": 0}),
        ("markov_walks.walk", {"wrap": 1}),
        ("markov_walks.walk", {"wrap": 3}),
        ("markov_walks.walk", {"wrap": 2**62}),
        ("markov_walks.walk", {"keys": np.array([0, 4, 1])}),
        ("markov_walks.walk", {"keys": np.array([0, -1, 1])}),
        ("markov_walks.walk", {"steps": np.zeros((0, 4))}),
        ("markov_walks.walk", {"stored": np.arange(5)}),
        ("markov_walks.walk", {"steps": np.full((200, 200), np.inf), "wrap": 1}),  # codes beyond eight bits
    ],
)
def test_wrong_values_are_refused(name: str, changes: dict[str, Any]) -> None:
    with pytest.raises(REFUSALS):
        call(name, {**CALLS[name], **changes})


def test_a_refused_call_counts_nothing() -> None:
    tile, out = TILE.copy(), OUT.copy()
    tile[1, 50] = 3
    with pytest.raises(IndexError, match="Column 1 of the tile has codes outside of 0 to 2"):
        counting.count_histogram(FAMILIES, tile, 100, out)
    assert not out.any()
    tile[1, 50], tile[1, 100] = 2, 3  # beyond the rows that count
    counting.count_histogram(FAMILIES, tile, 100, out)
    assert out.sum() == 200


def test_columns_without_states_have_no_rows() -> None:
    families = counting.Families(np.array([0, 1]), np.array([0, 2]), np.array([0, 2]))
    assert families.n_cells == 0
    tile, masks, out = np.zeros((2, 64), np.int8), np.zeros((2, 1), np.uint64), np.zeros(0, np.int64)
    counting.build_masks(families, tile, 0, masks)
    counting.count_masks(families, masks, 0, out)
    counting.count_histogram(families, tile, 0, out)
    with pytest.raises(IndexError):
        counting.count_histogram(families, tile, 1, out)
