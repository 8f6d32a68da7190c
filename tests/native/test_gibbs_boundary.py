"""Gibbs kernels refuse arrays that they would read or write beyond their ends; plans survive pickling."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.misuse import REFUSALS, misuses

from suffice.native import gibbs
from suffice.native.gibbs import ANY, PAIR, TABLE, Cuts, Net

SIZES, MEMBER_AT, MEMBER = np.array([2, 3, 2, 2]), np.array([0, 2, 4, 5, 7]), np.array([0, 1, 2, 1, 3, 3, 2])
FREE, ORDER = np.array([-1, -1, -1, -1]), np.array([0, 2, 1, 3])
NET_ARGUMENTS = {"sizes": SIZES, "member_at": MEMBER_AT, "member": MEMBER, "fixed": FREE, "order": ORDER,
                 "most_configurations": 2, "most_cuts": 4096}  # fmt: skip
THETA = np.linspace(-1.0, 1.0, 18)
NET = Net(**NET_ARGUMENTS)
CUTS = Cuts(NET, THETA)
PARTS = {"net": NET, **{name: getattr(CUTS, name) for name in ("way", "upper", "whole", "field", "coupling")}}
SWEEPS = {"cuts": CUTS, "theta": THETA, "states": np.zeros((6, 4), np.uint8), "chain": 8, "first": 3, "sweeps": 2,
          "key": 7, "visits": np.zeros((6, 18))}  # fmt: skip
WORDS = {"words": np.zeros(8, np.uint32), "chain": 4, "sweep": 1, "variable": 2, "key": 3, "lower": False}

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Net": (Net, NET_ARGUMENTS),
    "Cuts": (Cuts, {"net": NET, "theta": THETA}),
    "Cuts of all attributes": (Cuts, PARTS),
    "run_sweeps": (gibbs.run_sweeps, SWEEPS),
    "draw_words": (gibbs.draw_words, WORDS),
}
OUTPUTS = {"states", "visits", "words"}
INDICES = {"sizes", "member_at", "member", "fixed", "order", "way"}
LEGITIMATE = {
    ("Net", "sizes", "far"),  # a variable may have that many states
    ("Net", "member_at", "short"),  # one table less
    ("Net", "order", "short"),  # one variable is not drawn
}
WRONG = [
    pytest.param(name, wrong, id=f"{name}-{argument}-{what}")
    for name, (_, arguments) in CALLS.items()
    for argument, what, wrong in misuses(arguments, OUTPUTS, INDICES)
    if (name, argument, what) not in LEGITIMATE
]


def call(name: str, arguments: dict[str, Any]) -> None:
    CALLS[name][0](**arguments)


def test_every_kernel_is_called() -> None:
    public = {name for name in dir(gibbs) if not name.startswith("_")}
    assert public == {name.partition(" ")[0] for name in CALLS} | {"TABLE", "PAIR", "ANY"}


def test_the_net_goes_all_ways() -> None:
    assert CUTS.way.tolist() == [ANY, ANY, ANY, TABLE]
    pairs = Net(np.array([2, 2]), np.array([0, 2]), np.array([0, 1]), FREE[:2], ORDER[:1], 0, 0)
    assert Cuts(pairs, np.zeros(4)).way.tolist() == [PAIR, PAIR]


@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_arrays_that_do_not_fit_are_refused(name: str, arguments: dict[str, Any]) -> None:
    call(name, CALLS[name][1])  # a proper call is answered
    with pytest.raises(REFUSALS):
        call(name, arguments)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("Net", {"sizes": np.array([2, 3, 0, 2])}),
        ("Net", {"sizes": np.array([2**32, 2**32, 2, 2])}),
        ("Net", {"sizes": np.array([2, 2**32 + 1, 2, 2])}),
        ("Net", {"member_at": np.array([0, 4, 2, 5, 7])}),
        ("Net", {"member_at": np.zeros(0, np.int64)}),
        ("Net", {"fixed": np.array([-1, -1, 2, -1])}),
        ("Net", {"fixed": np.array([-1, -1, -2, -1])}),
        ("Net", {"fixed": np.array([-1, 1, -1, -1])}),  # it is in the order
        ("Net", {"sizes": np.array([2, 1, 2, 2])}),
        ("Net", {"most_configurations": 257}),
        ("Net", {"most_configurations": -1}),
        ("Cuts", {"net": None}),
        ("Cuts of all attributes", {"way": np.full(4, TABLE)}),
        ("Cuts of all attributes", {"way": np.full(4, PAIR)}),
        ("run_sweeps", {"cuts": None}),
        ("run_sweeps", {"cuts": NET}),
        ("run_sweeps", {"states": np.full((6, 4), 2, np.uint8)}),
        ("run_sweeps", {"states": np.full((6, 4), 2**32 - 1, np.uint32)}),
        ("run_sweeps", {"states": np.zeros((6, 3), np.uint8)}),
        ("run_sweeps", {"states": np.zeros((6, 5), np.uint8)}),
        ("run_sweeps", {"states": np.asfortranarray(np.zeros((6, 4), np.uint8))}),
        ("run_sweeps", {"visits": np.zeros((6, 17))}),
        ("run_sweeps", {"visits": np.zeros((0, 0))}),
        ("run_sweeps", {"chain": 2}),
        ("run_sweeps", {"chain": 2**34 - 4}),
        ("run_sweeps", {"chain": -4}),
        ("run_sweeps", {"first": 2**63 - 1}),
        ("run_sweeps", {"first": 2**64}),
        ("run_sweeps", {"sweeps": -1}),
        ("run_sweeps", {"key": 2**64}),
        ("draw_words", {"words": np.zeros(6, np.uint32)}),
        ("draw_words", {"chain": 2**34 - 4}),
        ("draw_words", {"sweep": 2**63}),
        ("draw_words", {"variable": 2**32}),
    ],
)
def test_sizes_and_ranges_that_do_not_fit_are_refused(name: str, change: dict[str, Any]) -> None:
    with pytest.raises(REFUSALS):
        call(name, CALLS[name][1] | change)


def test_refused_states_are_left_as_they_were() -> None:
    states = np.ones((6, 4), np.uint8)
    states[5, 0] = 2
    before = states.copy()
    with pytest.raises(IndexError, match="states has codes"):
        call("run_sweeps", SWEEPS | {"states": states})
    assert states.tolist() == before.tolist()


def test_attributes_are_read_only_and_outlive_their_plan() -> None:
    cuts = Cuts(Net(**NET_ARGUMENTS), THETA)
    whole, expected = cuts.whole, CUTS.whole.tolist()
    del cuts
    assert whole.tolist() == expected
    with pytest.raises(ValueError, match="read-only"):
        whole[0] = 1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_draw_the_same(copied: Callable[[Any], Any]) -> None:
    states, again = np.zeros((6, 4), np.uint8), np.zeros((6, 4), np.uint8)
    call("run_sweeps", SWEEPS | {"states": states})
    call("run_sweeps", SWEEPS | {"states": again, "cuts": copied(CUTS)})
    assert states.tolist() == again.tolist()


def test_states_that_the_type_cannot_hold_are_refused() -> None:
    net = Net(np.array([257]), np.array([0, 1]), np.array([0]), np.array([-1]), np.array([0]), 256, 4096)
    theta = np.full(257, -np.inf)
    theta[-1] = 0.0
    cuts, states = Cuts(net, theta), np.zeros((4, 1), np.uint16)
    gibbs.run_sweeps(cuts, theta, states, 0, 0, 1, 7)
    assert states.tolist() == [[256]] * 4
    with pytest.raises(ValueError, match="too short"):
        gibbs.run_sweeps(cuts, theta, np.zeros((4, 1), np.uint8), 0, 0, 1, 7)


def test_a_variable_that_is_drawn_twice_has_the_same_field() -> None:
    def cuts(order: list[int]) -> Cuts:
        net = Net(np.array([2, 2]), np.array([0, 2]), np.array([0, 1]), np.array([-1, -1]), np.array(order), 0, 0)
        return Cuts(net, np.array([0.0, 1.0, 0.5, -2.0]))

    once, twice = cuts([0, 1]), cuts([0, 1, 0])
    np.testing.assert_array_equal(twice.field, once.field)
    np.testing.assert_array_equal(twice.coupling, once.coupling)
