"""Every method of structures whose data are sequences or graphs in codes, on every one of these."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from tests.conformance.cases import IN_CODES
from tests.conformance.copies import check_copies

import suffice as sf
from suffice.families.choice import choose, methods_for
from suffice.priors.elastic import Elastic
from suffice.stats.needs import Need

CASES = [(case, name) for case, (structure, _) in IN_CODES.items() for name in methods_for(structure)]
NOT_EXACT = [(case, name) for case, name in CASES if not methods_for(IN_CODES[case][0])[name].exact]
KINKED = {"owlqn"}
"""Methods for penalties with a kink."""


def fitted(case: str, name: str, **options: Any) -> sf.Fit:
    structure, data = IN_CODES[case]
    prior = Elastic(0.3, 0.1) if name in KINKED else Elastic(c2=0.1)
    return sf.fit(structure, data, method=name, prior=prior, **{"seed": 0, **options})


@pytest.mark.parametrize(("case", "name"), CASES)
class TestEveryMethod:
    def test_says_what_it_did_and_is_certified_if_exact(self, case: str, name: str) -> None:
        structure, data = IN_CODES[case]
        fit = fitted(case, name)
        assert fit.method == name
        if methods_for(structure)[name].exact:
            assert fit.certificate.ok, fit.certificate.verdict
        else:
            assert fit.certificate.ok or "Not certified" in fit.certificate.verdict
        if name != "pseudo_likelihood":
            log_probs = fit.model.log_prob(data)
            weights = np.ones(len(log_probs)) if data.weights is None else data.weights
            assert fit.log_likelihood == pytest.approx(log_probs @ weights, rel=1e-7)
        assert fit.n_free_adjusted <= fit.n_free

    def test_is_the_same_twice_and_when_copied(self, case: str, name: str) -> None:
        _, data = IN_CODES[case]
        one, two = fitted(case, name), fitted(case, name)
        np.testing.assert_array_equal(one.model.weights, two.model.weights)
        check_copies(one, data)

    def test_does_not_change_what_it_is_given(self, case: str, name: str) -> None:
        before = pickle.dumps(IN_CODES[case])
        fitted(case, name, max_iter=2)
        assert pickle.dumps(IN_CODES[case]) == before

    def test_takes_statistics_with_the_data(self, case: str, name: str) -> None:
        structure, data = IN_CODES[case]
        whole = fitted(case, name)
        statistics = sf.collect(structure, data, method="auto" if name in KINKED else name)
        again = sf.estimate(structure, statistics, data=data, method=name, prior=whole.prior, seed=0)
        np.testing.assert_array_equal(again.model.weights, whole.model.weights)

    def test_refuses_unknown_options(self, case: str, name: str) -> None:
        with pytest.raises(sf.ArgumentError, match="has no option 'nonsense'"):
            fitted(case, name, options={"nonsense": 1})

    def test_asks_for_proper_needs(self, case: str, name: str) -> None:
        structure, data = IN_CODES[case]
        needs = methods_for(structure)[name].needs(structure, data.schema)
        assert needs
        for need in needs:
            assert isinstance(need, Need)
            assert hash(need) == hash(type(need).from_dict(need.to_dict()))
            assert set(need.columns) <= set(structure.columns)


@pytest.mark.parametrize(("case", "name"), NOT_EXACT)
def test_methods_that_are_not_exact_are_never_chosen_silently(case: str, name: str) -> None:
    structure, data = IN_CODES[case]
    assert choose(structure, "auto", data.schema, prior=Elastic(c2=0.1))[0] != name


@pytest.mark.parametrize("case", IN_CODES)
def test_structures_are_rebuilt_from_their_dicts(case: str) -> None:
    structure, _ = IN_CODES[case]
    again = type(structure).from_dict(structure.to_dict())
    assert again == structure
    assert repr(again) == repr(structure)


@pytest.mark.parametrize("case", IN_CODES)
def test_tables_of_columns_are_refused(case: str) -> None:
    with pytest.raises(sf.ArgumentError, match="in codes"):
        sf.fit(IN_CODES[case][0], {"label": ["a", "b"]})
