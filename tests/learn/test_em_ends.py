"""How EM ends: by the certificate's own measure, or on a ridge of the likelihood, whose parameters are named."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.audit.em import audit
from tests.audit.families import FAMILIES

import suffice as sf
from suffice.learn.em_progress import FLAT_STEPS, REASONS, STEPS, Progress
from suffice.learn.root_tables import RootTables
from suffice.optimise.outcome import Stop

CHANCE = np.random.default_rng(3)


def lacking(column: Any, share: float, chance: np.random.Generator) -> list[Any]:
    gone = chance.random(len(column)) < share
    return [None if lost else value for value, lost in zip(np.asarray(column).tolist(), gone, strict=True)]


# Networks -----------------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_insurance_is_certified_or_names_what_is_undetermined(share: float) -> None:
    (outcome,) = audit(("insurance",), (share,))
    assert outcome.is_settled, outcome.fit.certificate.verdict
    assert len(outcome.fit.trace) < 500


@pytest.mark.data
def test_sachs_is_certified() -> None:
    assert [outcome.fit.certificate.ok for outcome in audit(("sachs",))] == [True] * 3


def test_a_ridge_is_reported_and_not_walked() -> None:
    """Two binary variables that are never seen together leave how they hang together open, but for a third one."""
    chance = np.random.default_rng(1)
    n = 400
    a = chance.integers(0, 2, n)
    b = np.where(chance.random(n) < 0.9, a, 1 - a)
    c = np.where(chance.random(n) < 0.52, b, 1 - b)
    data = {
        "a": [int(value) if i % 2 else None for i, value in enumerate(a)],
        "b": [None] * n,
        "c": c.tolist(),
    }
    fit = sf.fit(sf.DAG("a -> b; b -> c"), data, schema={"b": [0, 1]}, missing="em", restarts=1, seed=2)
    assert fit.certificate.ok or fit.certificate.undetermined
    assert len(fit.trace) < 400


def test_a_flat_direction_of_cliques_is_named() -> None:
    """Eight parameters of a latent variable and three others, for seven margins that can be observed."""
    z = CHANCE.integers(0, 2, 240)
    data = {f"x{i}": lacking((CHANCE.random(240) < np.where(z, 0.8, 0.25)).astype(int), 0.25, CHANCE) for i in range(3)}
    structure = sf.Cliques("H:x0 + H:x1 + H:x2 + x0:x1", latent={"H": 2})
    fit = sf.fit(structure, data, missing="em", restarts=1, seed=2)
    certificate = fit.certificate
    assert len(fit.trace) < 400
    assert certificate.ok or certificate.undetermined
    if not certificate.ok:
        assert "do not determine" in certificate.verdict
        assert "which the data do not determine" in certificate.boundary
        assert any("which the data do not determine" in note.text for note in fit.notes)


@pytest.mark.parametrize("seed", range(6))
def test_regressions_with_little_noise_are_certified_when_they_have_converged(seed: int) -> None:
    chance, n = np.random.default_rng(seed), 400
    x = chance.normal(size=n)
    y = x + 0.02 * chance.normal(size=n)
    z = y - 2 * x + 0.05 * chance.normal(size=n)
    w = z + y + 0.01 * chance.normal(size=n)
    data = {name: lacking(column, 0.5, chance) for name, column in {"x": x, "y": y, "z": z, "w": w}.items()}
    fit = sf.fit(sf.DAG("x -> y; x -> z; y -> z; z -> w; y -> w"), data, missing="em")
    assert fit.starts[0].converged
    assert fit.certificate.ok, fit.certificate.verdict


@pytest.mark.parametrize("seed", range(3))
def test_hidden_states_of_symbols_take_few_steps(seed: int) -> None:
    chance, k = np.random.default_rng(seed), 3
    moves, shows = chance.dirichlet(np.full(k, 0.5), size=k), chance.dirichlet(np.full(4, 0.6), size=k)
    sequences = []
    for _ in range(20):
        state, symbols = int(chance.integers(k)), []
        for _ in range(40):
            symbols.append("abcd"[chance.choice(4, p=shows[state])])
            state = int(chance.choice(k, p=moves[state]))
        sequences.append(symbols)
    fit = sf.fit(sf.MarkovChain(1, variable="o", latent={"s": k}), sequences, restarts=2, seed=seed)
    assert fit.certificate.ok or fit.certificate.undetermined
    assert max(start.n_steps for start in fit.starts) < 400


def test_laplace_cliques_with_rare_cells_are_certified_when_they_have_converged() -> None:
    chance, n = np.random.default_rng(7), 2000
    data = {
        name: (chance.random(n) < p).astype(int).tolist() for name, p in zip("abcd", (0.5, 0.1, 0.1, 0.01), strict=True)
    }
    weights = chance.choice([1.0, 1e3, 1e6], n)
    fit = sf.fit(sf.Cliques("a:b + b:c + c:d + a:d"), data, prior=sf.Laplace(1.0), weights=weights)
    assert fit.certificate.ok or any("Not converged" in note.text for note in fit.notes)


@pytest.mark.parametrize("method", ["gradient", "ipf"])
def test_weights_of_rare_cells_are_certified_when_they_have_converged(method: str) -> None:
    chance, n = np.random.default_rng(2), 2000
    data = {name: (chance.random(n) < p).astype(int).tolist() for name, p in zip("abc", (0.5, 0.1, 0.01), strict=True)}
    weights = chance.choice([1.0, 1e3, 1e6], n)
    structure = sf.Features([sf.indicators("a", "b"), sf.indicators("b", "c"), sf.indicators("a", "c")])
    fit = sf.fit(structure, data, method=method, weights=weights, max_iter=3000)
    assert fit.certificate.ok or any("Not converged" in note.text for note in fit.notes), fit.certificate.verdict


# When a climb ends ----------------------------------------------------------------------------------------------


def followed(objectives: list[float], gaps: list[float], moved: tuple[str, ...] = ("p(A)",)) -> tuple[Stop | None, int]:
    progress = Progress(1e-8, lambda before, after: moved)
    for n, (objective, gap) in enumerate(zip(objectives, gaps, strict=True), 1):
        verdict = progress.add(objective, gap, 0.0, np.zeros(1))
        if verdict is not None:
            return verdict, n
    return None, len(gaps)


class TestProgress:
    def test_has_converged_when_the_violation_is_small(self) -> None:
        assert followed([-2.0, -1.0], [1.0, 1e-10]) == (Stop.CONVERGED, 2)

    def test_goes_on_while_the_objective_rises(self) -> None:
        assert followed([0.01 * n for n in range(500)], [1e-3] * 500)[0] is None

    def test_goes_on_while_the_violation_falls(self) -> None:
        assert followed([0.0] * 200, [10 ** (-n / 30) for n in range(200)])[0] is None

    def test_ends_where_neither_moves(self) -> None:
        stop, n = followed([0.0] * 500, [1e-3] * 500)
        assert stop is Stop.LEVEL
        assert "flat" in REASONS[stop]
        assert n <= STEPS + FLAT_STEPS + 2

    def test_is_content_with_less_where_the_objective_is_flat(self) -> None:
        assert followed([0.0] * 500, [2e-9] * 500)[0] is Stop.CONVERGED

    def test_remembers_what_it_has_seen(self) -> None:
        one, other = (Progress(1e-8, lambda before, after: ("p(A)",)) for _ in range(2))
        for _ in range(30):
            one.add(0.0, 1e-3, 0.0, np.zeros(2))
        other = Progress(1e-8, lambda before, after: ("p(A)",), [0.0] * 30, one.to_arrays())
        verdicts = [[each.add(0.0, 1e-3, 0.0, np.ones(2)) for _ in range(STEPS + FLAT_STEPS)] for each in (one, other)]
        assert verdicts[0] == verdicts[1]
        assert any(verdicts[0])


class TestRootTables:
    rows = RootTables(np.array([0, 0, 1, 1]), np.arange(4))

    def test_tables_of_roots_are_the_tables(self) -> None:
        tables = np.array([0.25, 0.75, 1.0, 0.0])
        np.testing.assert_allclose(self.rows.tables(self.rows.roots(tables)), tables, atol=1e-13)

    def test_zeros_with_which_the_likelihood_rises_are_lifted(self) -> None:
        roots = self.rows.roots(np.array([0.25, 0.75, 1.0, 0.0]))
        assert self.rows.lifted(roots, np.array([1.0, 3.0, 2.0, 1e-9]), 1e-6) is None
        lifted = self.rows.lifted(roots, np.array([1.0, 3.0, 2.0, 5e-9]), 1e-6)
        assert lifted is not None
        assert self.rows.tables(lifted)[3] == pytest.approx(1e-6, rel=1e-5)

    def test_gain_is_what_complete_rows_would_add(self) -> None:
        tables, counts = np.array([0.5, 0.5, 0.5, 0.5]), np.array([50.5, 49.5, 20.0, 20.0])
        gain = 50.5 * math.log(0.505 / 0.5) + 49.5 * math.log(0.495 / 0.5)
        assert self.rows.gain(tables, counts, self.rows.gaps(tables, counts)) == pytest.approx(gain, rel=1e-3)


@pytest.mark.parametrize(("sign", "rate", "ends"), [(1, 1.01, False), (-1, 0.99, True)])
def test_a_saddle_point_is_left_and_a_ridge_is_not_walked(sign: int, rate: float, ends: bool) -> None:
    """Rises of the objective that grow lead away from a saddle point; those that shrink go along a ridge."""
    progress = Progress(1e-8, lambda before, after: ("p(z)",))
    said = [progress.add(-100 + sign * 1e-6 * rate**step, 1e-5, 0.0, np.zeros(1)) for step in range(400)]
    assert any(one is not None for one in said) is ends


def test_a_hidden_chain_that_begins_near_a_saddle_point_leaves_it() -> None:
    family = next(family for family in FAMILIES if family.name == "hidden Markov models")
    fit = family.draw(np.random.default_rng([7, 18, *family.name.encode()]))()
    assert fit.certificate.ok, fit.certificate.verdict
    rises = np.diff([step.objective for step in fit.trace])
    assert rises[30:100].max() < 1e-4 < rises[100:].max()  # slow at first
