"""Gibbs kernels: the published random words, and the same states as plain loops, number by number."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.inference import gibbs as sampler
from suffice.inference.clique_family import Layout
from suffice.inference.gibbs import Gibbs
from suffice.native.gibbs import ANY, PAIR, TABLE, Cuts, draw_words

words_of_32 = st.integers(0, 2**32 - 1)


# The slow twin ------------------------------------------------------------------------------------------------


def plain_philox(counter: Sequence[int], key: Sequence[int]) -> tuple[int, ...]:
    """Philox4x32-10 in Python's whole numbers."""
    a, b, c, d = counter
    k, m = key
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q % 2**32, (p >> 32) ^ d ^ m, p % 2**32
        k, m = (k + 0x9E3779B9) % 2**32, (m + 0xBB67AE85) % 2**32
    return a, b, c, d


def plain_number(chain: int, sweep: int, variable: int, key: int) -> int:
    """The random number of 53 bits that decides about a variable."""
    split = (key % 2**32, key >> 32)
    upper, lower = (
        plain_philox((chain // 4, sweep % 2**32, variable, 2 * (sweep >> 32) + half), split)[chain % 4]
        for half in (0, 1)
    )
    return (upper << 21) + (lower >> 11)


def plain_sweep(layout: Layout, theta: Any, order: Sequence[int], states: Any, sweep: int, key: int) -> None:
    """Draw every variable of every chain anew, by loops over tables and states."""
    tables = layout.tables(theta)
    for chain, row in enumerate(states):
        for v in order:
            weights = []
            for k in range(layout.sizes[v]):
                x = [*row]
                x[v] = k
                pairs = zip(layout.scopes, tables, strict=True)
                total = math.fsum(float(table[tuple(x[u] for u in scope)]) for scope, table in pairs if v in scope)
                weights.append(math.exp(total))
            u = plain_number(chain, sweep, v, key) / 2**53 * math.fsum(weights)
            row[v] = sum(u >= math.fsum(weights[: k + 1]) for k in range(len(weights) - 1))


# Random words -------------------------------------------------------------------------------------------------


def words_of(counter: Sequence[int], key: Sequence[int], n: int) -> Any:
    """The words of n counters, by the chain, the sweep, the variable and the key that have them."""
    first, b, c, d = counter
    words = np.zeros(4 * n, np.uint32)
    draw_words(words, 4 * first, b + (d // 2 << 32), c, key[0] + (key[1] << 32), bool(d % 2))
    return words


@pytest.mark.parametrize(
    ("counter", "key", "found"),
    [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
    ids=["zeros", "ones", "digits of pi"],
)
def test_philox_gives_the_published_words(counter: list[int], key: list[int], found: str) -> None:
    """Known answers of Random123 (Salmon et al., 2011), philox4x32 with ten rounds."""
    words = words_of(counter, key, 1)
    assert " ".join(f"{word:08x}" for word in words) == found
    assert plain_philox(counter, key) == tuple(words.tolist())


@given(
    first=st.integers(0, 2**32 - 100),
    rest=st.tuples(words_of_32, words_of_32, words_of_32),
    key=st.tuples(words_of_32, words_of_32),
    n=st.integers(0, 40),
)
def test_philox_equals_plain_arithmetic(first: int, rest: tuple[int, ...], key: tuple[int, ...], n: int) -> None:
    expected = [word for i in range(n) for word in plain_philox((first + i, *rest), key)]
    assert words_of((first, *rest), key, n).tolist() == expected


@given(
    tile=st.integers(0, 2**30),
    sweep=st.integers(0, 2**62),
    variable=words_of_32,
    key=st.integers(0, 2**64 - 1),
    lanes=st.integers(1, 5),
)
def test_lanes_get_the_numbers_of_their_chains(tile: int, sweep: int, variable: int, key: int, lanes: int) -> None:
    upper, lower = np.zeros(4 * lanes, np.uint32), np.zeros(4 * lanes, np.uint32)
    for words, half in ((upper, False), (lower, True)):
        draw_words(words, 4 * tile, sweep, variable, key, half)
    numbers = (upper.astype(np.uint64) << np.uint64(21)) | (lower.astype(np.uint64) >> np.uint64(11))
    assert numbers.tolist() == [plain_number(4 * tile + i, sweep, variable, key) for i in range(4 * lanes)]


@pytest.mark.parametrize("level", ["baseline", "avx2", ""], ids=["baseline", "AVX2", "all that there is"])
def test_all_levels_of_instructions_write_the_same_words(level: str) -> None:
    """A number of counters that is no multiple of a vector's length, the last of them 2³² − 1."""
    script = (
        "import numpy as np\n"
        "from suffice.native.gibbs import draw_words\n"
        "words = np.zeros(4 * 37, np.uint32)\n"
        "draw_words(words, 4 * (2**32 - 37), 2**40 + 3, 2**32 - 1, 2**64 - 5, True)\n"
        "print(*words.tolist())"
    )
    run = subprocess.run([sys.executable, "-c", script], env={**os.environ, "SUFFICE_NATIVE_LEVEL": level},
                         capture_output=True, text=True, check=True)  # fmt: skip
    rest, key = (3, 2**32 - 1, 2 * 2**8 + 1), (2**32 - 5, 2**32 - 1)
    expected = [word for i in range(37) for word in plain_philox((2**32 - 37 + i, *rest), key)]
    assert [int(word) for word in run.stdout.split()] == expected


# Sweeps -------------------------------------------------------------------------------------------------------


@st.composite
def nets(draw: st.DrawFn, pairs: bool = False) -> tuple[tuple[int, ...], list[tuple[int, ...]], Any, dict[int, int]]:
    """Draw 1–5 variables of 1–3 states (pairs: of two), tables in any order of axes, and some fixed variables."""
    n = draw(st.integers(1, 5))
    sizes = (2,) * n if pairs else tuple(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    scope = st.lists(st.integers(0, n - 1), max_size=2 if pairs else 3, unique=True).map(tuple)
    scopes = draw(st.lists(scope, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    theta = rng.normal(0, draw(st.sampled_from([0.3, 3.0])), Layout(sizes, tuple(scopes)).n)
    fixed = {v: int(rng.integers(sizes[v])) for v in draw(st.sets(st.integers(0, n - 1), max_size=n))}
    return sizes, scopes, theta, fixed


def made(
    monkeypatch: pytest.MonkeyPatch, configurations: int, sizes: Any, scopes: Any, theta: Any, fixed: Mapping[int, int]
) -> Gibbs:
    with monkeypatch.context() as patch:
        patch.setattr(sampler, "CONFIGURATIONS", configurations)
        return Gibbs(sizes, scopes, theta, fixed)


def ways(chains: Gibbs) -> set[int]:
    return set(chains._cuts.way[chains._net.order].tolist())


def change_cuts(chains: Gibbs, **changed: Any) -> None:
    """Replace attributes of the cuts of some chains."""
    cuts = chains._cuts
    names = ("way", "upper", "whole", "field", "coupling")
    chains._cuts = Cuts(chains._net, **{name: changed.get(name, getattr(cuts, name)) for name in names})


@pytest.mark.parametrize(
    ("configurations", "pairs", "way"),
    [(256, False, TABLE), (256, True, TABLE), (0, True, PAIR), (0, False, ANY)],
    ids=["table", "table of pairs", "pair", "any"],
)
@given(data=st.data())
@settings(max_examples=40)
def test_every_way_equals_plain_loops(configurations: int, pairs: bool, way: int, data: st.DataObject) -> None:
    sizes, scopes, theta, fixed = data.draw(nets(pairs))
    n_chains, key = data.draw(st.sampled_from([1, 3, 4, 5, 9])), data.draw(st.integers(0, 2**64 - 1))
    first = data.draw(st.sampled_from([0, 7, 2**32 - 1]))
    with pytest.MonkeyPatch.context() as patch:
        chains = made(patch, configurations, sizes, scopes, theta, fixed)
    assert ways(chains) <= ({way} if way != ANY else {PAIR, ANY})
    states = chains.start(n_chains, key)
    expected = states.astype(int).tolist()
    chains.run(states, 3, key, first)
    for sweep in range(first, first + 3):
        plain_sweep(chains.layout, theta, chains._net.order.tolist(), expected, sweep, key)
    assert states.tolist() == expected


@given(net=nets(), key=st.integers(0, 2**64 - 1), zeros=st.booleans())
@settings(max_examples=40)
def test_tables_and_the_general_way_are_equal_to_the_last_bit(net: Any, key: int, zeros: bool) -> None:
    sizes, scopes, theta, fixed = net
    if zeros:
        theta = np.where(np.arange(len(theta)) % 7 == 3, -np.inf, theta)
    with pytest.MonkeyPatch.context() as patch:
        tabled, general = (made(patch, most, sizes, scopes, theta, fixed) for most in (256, 0))
    change_cuts(general, way=np.full(len(sizes), ANY))
    states = np.zeros((70, len(sizes)), np.uint8)
    for v, code in fixed.items():
        states[:, v] = code
    again = states.copy()
    tabled.run(states, 5, key)
    general.run(again, 5, key)
    assert states.tolist() == again.tolist()


def test_a_pair_with_a_zero_potential_goes_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    theta = np.array([0.0, -np.inf, 0.0, 0.0, 1.0, 2.0])
    chains = made(monkeypatch, 0, (2, 2, 2), [(0, 1), (2,)], theta, {})
    assert chains._cuts.way.tolist() == [ANY, ANY, PAIR]


@pytest.mark.parametrize("sizes", [(300,), (300, 2), (70_000,)])
def test_many_states_need_wider_codes(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    scopes = [tuple(range(len(sizes)))]
    theta = rng.normal(0, 1, Layout(sizes, (scopes[0],)).n)
    chains = Gibbs(sizes, scopes, theta)
    states = chains.start(5, 11)
    expected = states.astype(int).tolist()
    chains.run(states, 2, 11)
    for sweep in range(2 if sizes[0] < 1000 else 0):
        plain_sweep(chains.layout, theta, chains._net.order.tolist(), expected, sweep, 11)
    assert states[:, 0].max() > 255
    if sizes[0] < 1000:
        assert states.tolist() == expected


# Ties ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("away", [-1, 0, 1])
def test_the_lower_bits_decide_when_the_upper_ones_are_equal(away: int, size: int) -> None:
    """A cut beside the random number of chain 0: equal upper bits, so that 53 bits must be looked at."""
    chains = Gibbs((size,), [(0,)], np.zeros(size))
    number = plain_number(0, 0, 0, key=99)
    cut = number + away
    assert cut >> 21 == number >> 21
    whole = chains._cuts.whole.copy()
    whole[0] = cut
    change_cuts(chains, whole=whole, upper=(whole >> np.uint64(21)).astype(np.uint32))
    states = chains.start(1, 99)
    chains.run(states, 1, 99)
    above = size == 3 and number >= int(chains._cuts.whole[1])
    assert states[0, 0] == int(number >= cut) + int(above)


def test_what_is_impossible_is_never_drawn() -> None:
    """Cuts of 0 and of 2⁵³ leave no room, not even for the least and the largest number."""
    theta = np.array([-np.inf, 0.0, -np.inf, 0.0, -np.inf])
    chains = Gibbs((5,), [(0,)], theta)
    assert chains._cuts.whole.tolist() == [0, 2**52, 2**52, 2**53]
    assert chains._cuts.upper.tolist() == [0, 2**31, 2**31, 2**32 - 1]
    states = chains.start(256, 1)
    visits = chains.visits(states, 50, 1).sum(axis=0)
    assert visits[[0, 2, 4]].tolist() == [0, 0, 0]
    assert abs(visits[1] - 6400) < 400
