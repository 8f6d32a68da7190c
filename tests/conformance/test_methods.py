"""Every method, the developer guide's skeleton included, on every structure that it knows."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.conformance.cases import ALL_METHODS, IN_CODES, METHOD, METHODS, STRUCTURES, XYZ, fits, schema_of, set_method
from tests.conformance.copies import check_copies

import suffice as sf
from suffice.data.table import open_table
from suffice.families.choice import choose
from suffice.learn.method import Method
from suffice.stats.needs import Need
from suffice.structures.softmax_regression import SoftmaxClasses

EXACT = {kind: [name for name, method in methods.items() if method.exact] for kind, methods in ALL_METHODS.items()}
CASES = [
    (case, name)
    for case, (structure, data) in STRUCTURES.items()
    for name in EXACT[type(structure)]
    if fits(structure, data, name)
]
NOT_EXACT = [
    (case, name)
    for case, (structure, data) in STRUCTURES.items()
    for name in ALL_METHODS[type(structure)]
    if name not in EXACT[type(structure)] and fits(structure, data, name)
]
PENALTIES_ONLY = {(sf.Cliques, "proximal"), (sf.Features, "proximal"), (SoftmaxClasses, "proximal")}
STEPS = {"gis": 20_000, "gradient": 20_000}
"""What slow methods may take."""


def fitted(structure: Any, data: Any, name: str, **options: Any) -> sf.Fit:
    """Fit by a method, with the steps that it needs."""
    return sf.fit(structure, data, method=name, unseen_parents="uniform", max_iter=STEPS.get(name, 1000), **options)


@pytest.fixture(autouse=True)
def with_the_skeleton(monkeypatch: pytest.MonkeyPatch) -> None:
    set_method(monkeypatch, sf.DAG, "damped", METHOD.METHOD)


@pytest.mark.parametrize(("case", "name"), CASES)
class TestEveryMethod:
    def test_is_certified_and_says_what_it_did(self, case: str, name: str) -> None:
        structure, data = STRUCTURES[case]
        fit = fitted(structure, data, name, certify="data")
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.method == name
        assert fit.log_likelihood == pytest.approx(fit.model.log_prob(data).sum(), rel=1e-7, abs=1e-7)
        if fit.local:  # directed models
            assert fit.log_likelihood == pytest.approx(sum(fit.local.values()))
        assert fit.n == len(next(iter(data.values())))
        assert fit.n_free_adjusted <= fit.n_free

    def test_agrees_with_the_default_method(self, case: str, name: str) -> None:
        structure, data = STRUCTURES[case]
        fit = fitted(structure, data, name)
        default = sf.fit(structure, data, unseen_parents="uniform")
        np.testing.assert_allclose(fit.model.log_prob(data), default.model.log_prob(data), rtol=0, atol=1e-6)

    def test_sees_only_statistics(self, case: str, name: str) -> None:
        structure, data = STRUCTURES[case]
        if ALL_METHODS[type(structure)][name].passes == "many":
            pytest.skip("it reads the data itself")
        halves = [{k: v[: len(v) // 2] for k, v in data.items()}, {k: v[len(v) // 2 :] for k, v in data.items()}]
        parts = [sf.collect(structure, half, method=name) for half in halves]
        steps = STEPS.get(name, 1000)
        ours = sf.estimate(structure, parts[1] + parts[0], method=name, unseen_parents="uniform", max_iter=steps)
        whole = fitted(structure, data, name)
        if structure.continuous or getattr(structure, "given", ()):  # sums of real numbers round
            assert ours.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
        else:
            assert ours.log_likelihood == whole.log_likelihood

    def test_result_can_be_copied_and_saved(self, case: str, name: str, tmp_path) -> None:
        structure, data = STRUCTURES[case]
        check_copies(fitted(structure, data, name), data, tmp_path)

    def test_does_not_change_what_it_is_given(self, case: str, name: str) -> None:
        structure, data = STRUCTURES[case]
        before = pickle.loads(pickle.dumps((structure, data)))
        statistics = sf.collect(structure, data, method=name)
        counts = {need: numbers(statistic) for need, statistic in statistics.items()}
        again = data if ALL_METHODS[type(structure)][name].passes == "many" else None
        sf.estimate(structure, statistics, method=name, unseen_parents="uniform", data=again)
        assert (structure, data) == before
        assert {need: numbers(statistic) for need, statistic in statistics.items()} == counts

    def test_refuses_unknown_options(self, case: str, name: str) -> None:
        structure, data = STRUCTURES[case]
        with pytest.raises(sf.ArgumentError, match="has no option 'nonsense'"):
            sf.fit(structure, data, method=name, options={"nonsense": 1}, unseen_parents="uniform")

    def test_asks_for_proper_needs(self, case: str, name: str) -> None:
        structure, data = STRUCTURES[case]
        method: Method = ALL_METHODS[type(structure)][name]
        needs = method.needs(structure, schema_of(structure, data))
        assert needs
        for need in needs:
            assert isinstance(need, Need)
            assert hash(need) == hash(type(need).from_dict(need.to_dict()))
            assert set(need.columns) <= set(structure.columns)


@pytest.mark.parametrize(("case", "name"), NOT_EXACT)
class TestEveryMethodThatIsNotExact:
    def test_is_never_chosen_silently_and_says_what_it_is(self, case: str, name: str) -> None:
        structure, data = STRUCTURES[case]
        assert choose(structure, "auto", schema_of(structure, data))[0] != name
        fit = sf.fit(structure, data, method=name, seed=0)
        assert fit.method == name
        assert fit.certificate.ok or "Not certified" in fit.certificate.verdict
        assert fit.certificate.claim != sf.fit(structure, data).certificate.claim

    def test_result_can_be_copied_and_saved(self, case: str, name: str, tmp_path) -> None:
        structure, data = STRUCTURES[case]
        check_copies(sf.fit(structure, data, method=name, seed=0), data, tmp_path)

    def test_refuses_unknown_options(self, case: str, name: str) -> None:
        structure, data = STRUCTURES[case]
        with pytest.raises(sf.ArgumentError, match="has no option 'nonsense'"):
            sf.fit(structure, data, method=name, options={"nonsense": 1})


def numbers(statistic) -> dict[str, list]:
    return {name: array.tolist() for name, array in statistic.to_arrays().items()}


def test_every_structure_with_methods_has_a_case() -> None:
    cases = {**STRUCTURES, **IN_CODES}
    assert {kind for structure, _ in cases.values() for kind in type(structure).__mro__} >= set(METHODS)


def test_every_method_is_crossed_with_a_structure() -> None:
    crossed = {(type(STRUCTURES[case][0]), name) for case, name in [*CASES, *NOT_EXACT]}
    in_codes = {type(structure) for structure, _ in IN_CODES.values()}  # all methods of these are in test_in_codes
    every = {(kind, name) for kind, methods in ALL_METHODS.items() for name in methods if kind not in in_codes}
    assert every == crossed | PENALTIES_ONLY


@pytest.mark.parametrize(
    "case", [case for case, (structure, _) in STRUCTURES.items() if (type(structure), "proximal") in PENALTIES_ONLY]
)
def test_methods_for_penalties_only_are_certified(case: str) -> None:
    structure, data = STRUCTURES[case]
    fit = sf.fit(structure, data, method="proximal", prior=sf.Laplace(0.5))
    assert fit.certificate.ok, fit.certificate.verdict


def test_auto_takes_the_first_exact_method() -> None:
    schema = open_table(XYZ, ("A", "B")).schema
    assert choose(sf.DAG("A -> B"), "auto", schema)[0] == "closed_form"


def test_auto_reports_every_refusal_when_no_method_is_left() -> None:
    cycle, chance = sf.GaussianMarkov("A:B + B:C + C:D + D:A"), np.random.default_rng(0)
    data = {name: chance.normal(size=9) for name in "ABCD"}
    with pytest.raises(sf.EstimationError, match=r"'closed_form': the cycle .* 'newton': it gives maximum likelihood"):
        sf.fit(cycle, data, prior=sf.HyperInverseWishart(3, 1.0))


def test_latent_variables_are_left_to_em() -> None:
    assert sf.fit(sf.DAG("H -> A", latent={"H": 2}), XYZ, restarts=1).method == "em"
    with pytest.raises(sf.EstimationError, match="'H' is latent"):
        sf.fit(sf.DAG("H -> A", latent={"H": 2}), XYZ, method="closed_form")


def test_iterative_likelihood_rises_at_every_step() -> None:
    fit = sf.fit(sf.DAG("A -> B"), XYZ, method="damped", options={"rate": 0.3}, unseen_parents="uniform")
    objectives = [step.objective for step in fit.trace]
    assert len(objectives) > 10
    assert all(b >= a for a, b in pairwise(objectives))


def test_too_few_steps_are_not_certified() -> None:
    fit = sf.fit(sf.DAG("A -> B"), XYZ, method="damped", max_iter=2, unseen_parents="uniform")
    assert not fit.certificate.ok
    assert fit.certificate.gradient_norm > 1e-3
