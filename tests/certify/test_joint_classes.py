"""The certificate of a joint table of classes finds what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.certify.claim import Claim
from suffice.certify.joint_classes import class_prior_gap
from suffice.data.variable import Variable
from suffice.families.proof import certify
from suffice.models.joint_classes import JointClassModel
from suffice.stats import counts as dense_or_sparse
from suffice.structures.class_prior import ClassPrior
from suffice.structures.joint_classes import JointClasses

DATA = {"a": list("uuvvuw"), "b": list("rsrsrs"), "y": list("ppqqqp")}


@pytest.fixture(params=["dense", "sparse"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "sparse":
            patch.setattr(dense_or_sparse, "DENSE_CELLS", 0)
        yield request.param


def judged(fit: sf.Fit, model: JointClassModel | None = None, **changed: Any) -> Any:
    claim = Claim(
        structure=fit.structure,
        model=fit.model if model is None else model,
        statistics=fit.statistics,
        log_likelihood=fit.log_likelihood,
        point=fit.point,
        prior=fit.prior,
    )
    return certify(replace(claim, **changed))


def shifted(model: JointClassModel, by: float) -> JointClassModel:
    """Move a little probability of the first class from one stored configuration to another."""
    values = model.values.copy()
    values[0, 0] -= by
    values[1, 0] += by
    return replace(model, values=values)


@pytest.mark.parametrize("options", [{}, {"prior": sf.Dirichlet(0.5)}, {"prior": sf.Dirichlet(2.0), "point": "map"}])
class TestTables:
    def test_a_moved_number_is_found(self, way: str, options: dict[str, Any]) -> None:
        fit = sf.fit(JointClasses("y", ("a", "b")), DATA, **options)
        assert judged(fit).ok
        found = judged(fit, shifted(fit.model, 1e-5))
        assert not found.ok
        assert found.gradient_norm == pytest.approx(1e-5)
        assert found.worst == "class 'p'"
        assert "class 'p'" in found.verdict

    def test_what_is_not_a_number_is_found(
        self, way: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fit = sf.fit(JointClasses("y", ("a", "b")), DATA, **options)
        answer = JointClassModel.log_likelihoods_of

        def unknown(model: JointClassModel, columns: Any, n_rows: int) -> Any:
            found = answer(model, columns, n_rows)
            found[0, 0] = np.nan
            return found

        monkeypatch.setattr(JointClassModel, "log_likelihoods_of", unknown)
        found = judged(fit)
        assert not found.ok
        assert (found.gradient_norm, found.worst) == (np.inf, "class 'p'")

    def test_what_was_not_seen_is_looked_at_too(self, way: str, options: dict[str, Any]) -> None:
        fit = sf.fit(JointClasses("y", ("a", "b")), DATA, **options)
        model = fit.model
        if way == "dense":
            values = model.values.copy()
            empty = [("u", "r"), ("u", "s"), ("v", "r"), ("v", "s"), ("w", "r"), ("w", "s")].index(("w", "r"))
            values[empty, 1] += 1e-5
            values[0, 1] -= 1e-5
            wrong = replace(model, values=values)
        else:
            values, default = model.values.copy(), model.default_row + np.array([0, 1e-5])
            values[0, 1] -= 1e-5  # there is one configuration that is not stored
            wrong = replace(model, values=values, default_row=default)
        assert judged(fit, wrong).worst == "class 'q'"
        assert not judged(fit, wrong).ok

    def test_other_statistics_are_found(self, way: str, options: dict[str, Any]) -> None:
        fit = sf.fit(JointClasses("y", ("a", "b")), DATA, **options)
        twice = sf.collect(fit.structure, {**DATA, "y": list("pqqqqp")})
        assert not judged(fit, statistics=twice).ok

    def test_another_likelihood_is_found(self, way: str, options: dict[str, Any]) -> None:
        fit = sf.fit(JointClasses("y", ("a", "b")), DATA, **options)
        assert "log-likelihood, recomputed" in judged(fit, log_likelihood=fit.log_likelihood + 1e-3).verdict


class TestClasses:
    def test_other_class_probabilities_are_found(self, way: str) -> None:
        fit = sf.fit(JointClasses("y", ("a", "b")), DATA)
        found = judged(fit, fit.model.with_class_priors({"p": 0.4, "q": 0.6}))
        assert found.worst == "the classes"
        assert found.gradient_norm == pytest.approx(0.1)

    def test_states_of_other_data_are_found(self) -> None:
        fit = sf.fit(JointClasses("y", ("a", "b")), DATA)
        other = sf.fit(JointClasses("y", ("a", "b")), {**DATA, "b": list("rtrtrt")})
        assert "whose states are not" in judged(fit, other.model).worst

    @pytest.mark.parametrize("spec", ["counted", "uniform", 0.5, {"p": 0.2, "q": 0.8}])
    def test_what_was_asked_for_has_no_gap(self, spec: Any) -> None:
        y, m, prior = Variable("y", ("p", "q")), np.array([3.0, 4.0]), ClassPrior.of(spec)
        found = prior.probabilities(y, m)
        assert class_prior_gap(prior, y, m, found) <= 1e-16
        assert class_prior_gap(prior, y, m, found + np.array([0.125, -0.125])) == pytest.approx(0.125)
        assert class_prior_gap(prior, y, m, np.array([np.nan, 1])) == np.inf

    @pytest.mark.parametrize(
        ("spec", "options", "says"),
        [
            ("counted", {}, "maximum likelihood"),
            ("uniform", {}, "maximum likelihood, with uniform class probabilities"),
            (1.0, {}, "maximum likelihood, with smoothed class probabilities"),
            (1.0, {"prior": sf.K2()}, "posterior mean, which is no optimum"),
            ("counted", {"prior": sf.K2()}, "posterior mean, which is no optimum, with counted class probabilities"),
        ],
    )
    def test_the_claim_says_where_the_classes_are_from(self, spec: Any, options: dict[str, Any], says: str) -> None:
        fit = sf.fit(JointClasses("y", ("a",), spec), DATA, **options)
        assert fit.certificate.claim == says
        assert fit.certificate.ok


def test_every_configuration_stored_although_the_table_is_sparse() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense_or_sparse, "DENSE_CELLS", 0)
        fit = sf.fit(JointClasses("y", ("b",)), DATA, prior=sf.Dirichlet(0.5), certify="data")
    assert fit.certificate.ok
    assert fit.model.configurations.tolist() == [[0], [1]]
