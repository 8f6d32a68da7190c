"""EM that was interrupted goes on from its checkpoint with the same bits as a fit that was not."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.files import read_arrays, write_arrays
from suffice.learn.em_checkpoint import KIND, VERSION


class Interrupting:
    """A display that sends Ctrl-C after some steps of EM."""

    def __init__(self, after: int) -> None:
        self.left = after

    def begin(self, label: str, total: float | None, unit: str) -> None:
        pass

    def update(self, done: float, info: str) -> None:
        is_step = info.startswith("objective")
        self.left -= is_step
        if is_step and self.left == 0:
            signal.raise_signal(signal.SIGINT)

    def end(self) -> None:
        pass


CHANCE = np.random.default_rng(17)
N = 240
Z = CHANCE.integers(0, 2, N)


def with_gaps(column: Any, share: float = 0.25) -> list[Any]:
    gone = CHANCE.random(len(column)) < share
    return [None if lost else value for value, lost in zip(np.asarray(column).tolist(), gone, strict=True)]


BINARY = {f"x{i}": with_gaps((CHANCE.random(N) < np.where(Z, 0.8, 0.25)).astype(int)) for i in range(5)}
X = CHANCE.normal(size=(N, 4))
X[:, 1] += 0.8 * X[:, 0]
X[:, 2] += 0.5 * X[:, 1] - X[:, 0]
X[:, 3] += X[:, 2]
NUMBERS = {f"y{i}": with_gaps(X[:, i]) for i in range(4)}
MIXED = {
    "g": with_gaps(np.array(["a", "b"])[Z]),
    "h": with_gaps(np.array(["u", "v"])[(CHANCE.random(N) < np.where(Z, 0.7, 0.4)).astype(int)]),
    "x": with_gaps(CHANCE.normal(size=N) + 2 * Z),
    "y": with_gaps(CHANCE.normal(size=N) - Z),
}
SEQUENCES = [
    ["rsp"[int(s)] for s in (np.cumsum(CHANCE.random(40) < 0.3) + CHANCE.integers(0, 2, 40)) % 3] for _ in range(6)
]
LEVELS = {
    "site": np.repeat(list("abcdef"), 30).tolist(),
    "level": (CHANCE.normal(size=180) + 3 * (np.arange(180) // 10 % 2)).tolist(),
}
STAR = "; ".join(f"H -> x{i}" for i in range(5))
RING = "x0:x1 + x1:x2 + x2:x3 + x0:x3"
CASES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "tables": (sf.DAG("x0 -> x1; x0 -> x2; x1 -> x3; x2 -> x3; x3 -> x4"), BINARY, {}),
    "tables with a prior": (sf.DAG("x0 -> x1; x1 -> x2; x2 -> x3; x3 -> x4"), BINARY, {"prior": sf.Dirichlet(0.5)}),
    "latent classes": (sf.DAG(STAR, latent={"H": 2}), BINARY, {"restarts": 2, "seed": 3}),
    "gradients": (sf.DAG(STAR, latent={"H": 3}), BINARY, {"restarts": 1, "seed": 3, "method": "observed_lbfgs"}),
    "tied tables": (sf.DAG("x0 -> x1; x1 -> x2; x2 -> x3", tie=[("x1", "x2", "x3")]), BINARY, {}),
    "noisy-OR": (sf.DAG("x0 -> x2; x1 -> x2", kinds={"x2": "noisy_or"}), BINARY, {}),
    "given rows": (sf.DAG("x0 -> x1; x1 -> x2"), BINARY, {"fixed": {"x0": [0.5, 0.5]}}),
    "regressions": (sf.DAG("y0 -> y1; y0 -> y2; y1 -> y2; y2 -> y3"), NUMBERS, {}),
    "normal": (sf.MultivariateNormal(list(NUMBERS)), NUMBERS, {}),
    "normal with a graph": (sf.GaussianMarkov("y0:y1 + y1:y2 + y2:y3 + y0:y3"), NUMBERS, {}),
    "mixed": (sf.DAG("g -> h; g -> x; h -> y; x -> y"), MIXED, {}),
    "normal mixture": (sf.DAG("H -> x; H -> y", latent={"H": 2}), MIXED, {"restarts": 2, "seed": 1}),
    "missing classes": (sf.DAG("g -> h; g -> x; g -> y"), MIXED, {}),
    "cliques": (sf.Cliques(RING), BINARY, {}),
    "cliques with a latent variable": (
        sf.Cliques("H:x0 + H:x1 + H:x2 + H:x3", latent={"H": 2}), BINARY, {"restarts": 2, "seed": 2}),
    "cliques under Laplace's penalty": (sf.Cliques("x0:x1 + x1:x2"), BINARY, {"prior": sf.Laplace(1.0)}),
    "features": (sf.Ising(RING), BINARY, {"prior": sf.Gaussian(1.0)}),
    "hidden states": (sf.MarkovChain(1, variable="o", latent={"s": 2}), SEQUENCES, {"restarts": 2, "seed": 5}),
    "hidden states of a level": (
        sf.MarkovChain(1, variable="level", id="site", latent={"s": 2}), LEVELS, {"restarts": 1, "seed": 5}),
}  # fmt: skip


def numbers(model: Any) -> list[np.ndarray]:
    """Return all parameters of a model."""
    tables = getattr(model, "cpds", None) or getattr(model, "tables", None)
    if tables:
        kinds = ("values", "intercept", "coefficients", "variance", "leak", "strengths")
        return [np.asarray(getattr(cpd, kind)) for cpd in tables for kind in kinds if hasattr(cpd, kind)]
    if hasattr(model, "covariance"):
        return [model.mean, model.covariance]
    return [factor.values for factor in model.factors]


def assert_same_bits(one: sf.Fit, other: sf.Fit) -> None:
    assert one.log_likelihood == other.log_likelihood
    assert [step.objective for step in one.trace] == [step.objective for step in other.trace]
    assert one.starts == other.starts
    mine, theirs = numbers(one.model), numbers(other.model)
    assert len(mine) == len(theirs) > 0
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CASES)
def test_an_interrupted_fit_goes_on_with_the_same_bits(name: str, tmp_path: Path) -> None:
    structure, data, how = CASES[name]
    whole = sf.fit(structure, data, missing="em", **how)
    n_steps = sum(start.n_steps for start in whole.starts)
    assert n_steps > 3
    for after in sorted({1, 2, n_steps // 3, n_steps // 2, n_steps - 2}):
        path = tmp_path / f"{after}.checkpoint"
        broken = sf.fit(structure, data, missing="em", checkpoint=path, progress=Interrupting(after), **how)
        assert any("Interrupted" in note.text for note in broken.notes)
        assert_same_bits(sf.fit(structure, data, missing="em", checkpoint=path, **how), whole)


@pytest.mark.parametrize("name", ["tables", "latent classes", "regressions", "cliques", "hidden states"])
def test_a_fit_that_was_out_of_steps_goes_on_with_the_same_bits(name: str, tmp_path: Path) -> None:
    structure, data, how = CASES[name]
    path = tmp_path / "em.checkpoint"
    for limit in (3, 7):
        sf.fit(structure, data, missing="em", checkpoint=path, max_iter=limit, **how)
    found = sf.fit(structure, data, missing="em", checkpoint=path, **how)
    assert_same_bits(found, sf.fit(structure, data, missing="em", **how))


def test_a_fit_that_is_interrupted_again_and_again_ends_with_the_same_bits(tmp_path: Path) -> None:
    structure, data, how = CASES["gradients"]
    path = tmp_path / "em.checkpoint"
    for _ in range(4):
        sf.fit(structure, data, missing="em", checkpoint=path, progress=Interrupting(5), **how)
    found = sf.fit(structure, data, missing="em", checkpoint=path, **how)
    assert_same_bits(found, sf.fit(structure, data, missing="em", **how))


@pytest.mark.parametrize("name", ["tables", "gradients"])
@pytest.mark.parametrize("change", [lambda a: a[..., :-1], lambda a: np.zeros((0, 3)), lambda a: a[None]])
def test_a_checkpoint_with_another_search_is_refused(name: str, change: Any, tmp_path: Path) -> None:
    structure, data, how = CASES[name]
    path = tmp_path / "em.checkpoint"
    sf.fit(structure, data, missing="em", checkpoint=path, progress=Interrupting(6), **how)
    meta, arrays = read_arrays(path, KIND, VERSION)
    for key in ("vector", *(name for name in arrays if name.startswith("state_now_"))):
        if key in ("state_now_least", "state_now_curvatures", "state_now_moves", "state_now_changes"):
            continue  # of any length, all of them alike
        write_arrays(path, KIND, VERSION, meta, {**arrays, key: change(arrays[key])})
        with pytest.raises(sf.FileFormatError, match=r"is damaged.*Remove it to begin anew"):
            sf.fit(structure, data, missing="em", checkpoint=path, **how)
