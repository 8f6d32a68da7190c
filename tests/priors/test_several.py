"""Several priors together: each node has the prior of its kind."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.cpds import NodeFamily
from suffice.priors.prior import Prior
from suffice.priors.registry import prior_from_dict
from suffice.priors.several import Priors

DAG = sf.DAG("d -> e; d -> x; x -> y")
DATA = {
    "d": list("uvuvuvuu"),
    "e": list("xxyyxyxx"),
    "x": [0.5, 1.0, -0.3, 2.2, 0.1, 1.7, 0.4, -1.0],
    "y": [1.0, 2.5, 0.3, 4.0, 0.2, 3.9, 0.5, -0.7],
}
TABLES, LINES = sf.BDeu(3), sf.NormalInverseGamma(2, 1.0)


def test_every_node_has_the_posterior_of_its_own_prior() -> None:
    fit = sf.fit(DAG, DATA, prior=sf.Priors(LINES, TABLES))
    assert fit.certificate.ok, fit.certificate.verdict
    alone = sf.fit(sf.DAG("d -> e"), DATA, prior=TABLES)
    for node in ("d", "e"):
        np.testing.assert_array_equal(fit.posterior[node].concentration, alone.posterior[node].concentration)
    line = sf.fit(sf.DAG("x -> y"), DATA, prior=LINES).posterior["y"]
    np.testing.assert_array_equal(fit.posterior["y"].slopes, line.slopes)
    parts = [fit.posterior[node].log_marginal_likelihood for node in DAG.nodes]
    assert fit.log_marginal_likelihood == pytest.approx(sum(parts))


def test_parts_that_ask_for_the_network_are_bound() -> None:
    prior, dag = sf.Priors(TABLES, sf.BGe(mean=0.0)), sf.DAG("x -> y")
    bound = prior.bound(dag, sf.collect(dag, DATA))
    assert bound.priors[0] is TABLES
    family = NodeFamily(Variable("y"), (Variable("x"),))
    assert bound.pseudo(family, "map").shape == (4 - 2 + 1 + 1) / 2
    assert bound.pseudo(family, "map").point == "map"
    both, alone = (sf.fit(dag, DATA, prior=which) for which in (prior, sf.BGe(mean=0.0)))
    assert both.log_marginal_likelihood == alone.log_marginal_likelihood
    assert both.certificate.ok, both.certificate.verdict


def test_kinds_points_and_nodes_are_those_of_the_parts() -> None:
    prior = sf.Priors(sf.Dirichlet({"d": 2}, rest=1), sf.NormalInverseGamma({"x": 2, "y": 3}, 1.0))
    assert isinstance(prior, Prior)
    assert prior.kinds == ("tabular", "linear_gaussian")
    assert prior.nodes == ("d", "x", "y")
    assert prior.points == ("mean", "map")
    assert sf.Priors(TABLES, sf.Gaussian(1.0)).points == ("map",)
    assert sf.Priors(TABLES, sf.Gaussian(1.0)).kinds == ("tabular", "softmax")


def test_pseudo_counts_are_those_of_the_kind_that_a_family_suggests() -> None:
    prior = sf.Priors(LINES, TABLES)
    of_table = prior.pseudo(NodeFamily(Variable("e", ("x", "y"))), "mean")
    np.testing.assert_allclose(of_table(np.zeros((1, 0), np.int64)), [[1.5, 1.5]])
    assert prior.pseudo(NodeFamily(Variable("y")), "map").point == "map"


def test_it_is_a_frozen_value() -> None:
    one, same = sf.Priors(TABLES, LINES), sf.Priors(sf.BDeu(3), sf.NormalInverseGamma(2, 1.0))
    assert one == same
    assert hash(one) == hash(same)
    assert one != sf.Priors(TABLES)
    with pytest.raises(AttributeError):
        one.priors = ()
    again = prior_from_dict(one.to_dict())
    assert isinstance(again, Priors)
    assert again == one
    assert repr(again) == "Priors(BDeu(ess=3.0), NormalInverseGamma(shape=2, scale=1, mean=0, precision=1))"


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        (sf.Priors(LINES), r"'d' is of kind 'tabular'.*Add one, such as sf\.BDeu\(10\)"),
        (sf.Priors(TABLES), r"'x' is of kind 'linear_gaussian'.*sf\.NormalInverseGamma"),
        (TABLES, r"prior on tables, but node 'x'.*prior=\[sf\.BDeu\(10\), sf\.NormalInverseGamma"),
        (LINES, r"prior on regressions, but node 'd'.*prior=\[sf\.BDeu\(10\), sf\.NormalInverseGamma"),
        (sf.Priors(TABLES, sf.BGe()), "'d' is discrete"),
    ],
)
def test_a_kind_without_a_prior_is_named_with_the_remedy(prior, match: str) -> None:
    with pytest.raises(sf.EstimationError, match=match):
        sf.fit(DAG, DATA, prior=prior)
