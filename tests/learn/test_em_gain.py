"""EM ends by nats, too: a gap that is small for one row may be worth much where rows are heavy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.learn.em_progress import Progress

N = 40
FADING = {
    "A": [None if state == "." else state for state in "vvuuvv.uvvuu.vuvu..vu.uuvvvvv.u.vuv..uuv"],
    "B": [None if state == "." else state for state in ".vu.uuv.uuvu...v..v.uv.uv.uvvv.vvv.v.uuv"],
    "C": [None if state == "." else state for state in "vv.u....uuvuv..v.uuv.vv.vvuvuv.v.uvuuuuu"],
}
"""The estimate has a cell of probability zero, to which its expected count fades."""


def with_holes(chance: np.random.Generator, values: Any, share: float) -> list[Any]:
    """Some values missing."""
    gone = chance.random(len(values)) < share
    return [None if lost else value for value, lost in zip(values, gone, strict=True)]


def numbers(seed: int) -> dict[str, list[Any]]:
    """Three columns that hang together."""
    chance = np.random.default_rng(seed)
    x = chance.normal(size=N)
    y = x + chance.normal(size=N)
    columns = {"x": x, "y": y, "z": y - x + chance.normal(size=N)}
    return {name: with_holes(chance, column.tolist(), 0.3) for name, column in columns.items()}


def states(seed: int) -> dict[str, list[Any]]:
    """Three columns of two states that often agree."""
    chance = np.random.default_rng(seed)
    a = chance.integers(2, size=N)
    b = (a + (chance.random(N) < 0.3)) % 2
    c = (b + (chance.random(N) < 0.3)) % 2
    return {
        name: with_holes(chance, ["uv"[code] for code in column], 0.3)
        for name, column in zip("ABC", (a, b, c), strict=True)
    }


def certificate(structure: Any, data: Any, weight: float = 1e12, **settings: Any) -> Any:
    """The certificate of a fit to rows of great weight."""
    n = len(data) if isinstance(data, list) else N
    if not isinstance(data, list):
        settings["missing"] = "em"
    return sf.fit(structure, data, weights=np.full(n, weight), seed=0, **settings).certificate


def of_mixed(seed: int, **settings: Any) -> Any:
    chance = np.random.default_rng(seed)
    a = chance.integers(2, size=N)
    x = 2.0 * a + chance.normal(size=N)
    return certificate(
        sf.DAG("A -> x"), {"A": with_holes(chance, ["uv"[code] for code in a], 0.3), "x": x.tolist()}, **settings
    )


def of_regressions(seed: int, **settings: Any) -> Any:
    return certificate(sf.DAG("x -> y; x -> z; y -> z"), numbers(seed), **settings)


def of_normal(seed: int, **settings: Any) -> Any:
    return certificate(sf.MultivariateNormal(("x", "y", "z")), numbers(seed), **settings)


def of_normal_mode(seed: int, **settings: Any) -> Any:
    prior = sf.NormalInverseWishart(mean=0.0, mean_weight=1.0, dof=5.0, scale=1.0)
    return certificate(sf.MultivariateNormal(("x", "y", "z")), numbers(seed), prior=prior, point="map", **settings)


def of_gaussian_field(seed: int, **settings: Any) -> Any:
    return certificate(sf.GaussianMarkov("x:y + y:z"), numbers(seed), **settings)


def of_cliques(seed: int, **settings: Any) -> Any:
    return certificate(
        sf.Cliques("A:B + B:C + A:C"), states(seed), schema={name: ["u", "v"] for name in "ABC"}, **settings
    )


def of_penalised_cliques(seed: int, **settings: Any) -> Any:
    schema = {name: ["u", "v"] for name in "ABC"}
    return certificate(sf.Cliques("A:B + B:C + A:C"), states(seed), schema=schema, prior=sf.Gaussian(1.0), **settings)


def of_hidden_chain(seed: int, **settings: Any) -> Any:
    chance = np.random.default_rng(seed)
    chains = [3 * ((np.cumsum(chance.random(6) < 0.3) + k) % 2) + chance.normal(size=6) for k in range(30)]
    return certificate(sf.MarkovChain(latent={"s": 2}, variable="x"), chains, restarts=1, **settings)


KINDS = [
    of_mixed,
    of_regressions,
    of_normal,
    of_normal_mode,
    of_gaussian_field,
    of_cliques,
    of_penalised_cliques,
    of_hidden_chain,
]


@pytest.mark.parametrize("certificate_of", KINDS)
def test_the_gain_of_a_step_is_what_the_certificate_measures(
    certificate_of: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gains, add = [], Progress.add

    def noted(self: Progress, objective: float, gap: float, gain: float, vector: Any) -> str | None:
        gains.append(gain)
        return add(self, objective, gap, gain, vector)

    monkeypatch.setattr(Progress, "add", noted)
    found = certificate_of(0, weight=1e6, tol=0.5, max_iter=3)
    assert len(gains) == 3
    assert found.decrement > 1e-3
    assert gains[-1] == pytest.approx(found.decrement, rel=2e-2)


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("certificate_of", KINDS)
def test_ends_of_heavy_rows_are_certified(certificate_of: Callable[..., Any], seed: int) -> None:
    found = certificate_of(seed)
    assert found.ok
    assert found.decrement < 1e-3


def test_rows_that_rounding_rules_out_on_the_way_to_a_zero_end_the_climb() -> None:
    schema = {name: ["u", "v"] for name in "ABC"}
    assert certificate(sf.Ising("A:B + B:C"), FADING, weight=1e8, schema=schema).ok
