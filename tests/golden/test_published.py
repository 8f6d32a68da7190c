"""Small numbers from print, typed in, each with its citation."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib.resources import files

import pytest

import suffice as sf


@pytest.fixture(scope="module")
def berkeley() -> str:
    return str(files("suffice.examples") / "berkeley.csv")


# Admissions at Berkeley ---------------------------------------------------------------------------------------
# Bickel, Hammel & O'Connell (1975), Science 187, 398-404; the six largest departments as in Freedman, Pisani & Purves,
# "Statistics" (4th ed. 2007), chapter 2, table 2: percentages admitted, by department.
PERCENT = {
    "Male": {"A": 62, "B": 63, "C": 37, "D": 33, "E": 28, "F": 6},
    "Female": {"A": 82, "B": 68, "C": 34, "D": 35, "E": 24, "F": 7},
}
APPLICANTS = {
    "Male": {"A": 825, "B": 560, "C": 325, "D": 417, "E": 191, "F": 373},
    "Female": {"A": 108, "B": 25, "C": 593, "D": 375, "E": 393, "F": 341},
}


def test_berkeley_admission_rates_by_department(berkeley: str) -> None:
    fit = sf.fit(sf.DAG("Gender -> Admit <- Dept; Gender -> Dept"), berkeley, weights="Freq")
    assert fit.n == 4526
    admit, dept = fit.model.cpd("Admit").table, fit.model.cpd("Dept").table
    for gender, rates in PERCENT.items():
        total = sum(APPLICANTS[gender].values())
        for name, percent in rates.items():
            p = admit[{"Gender": gender, "Dept": name, "Admit": "Admitted"}]
            # printed in whole percents
            assert abs(100 * p - percent) <= 0.5 + 1e-9, (gender, name)
            assert dept[{"Gender": gender, "Dept": name}] == pytest.approx(APPLICANTS[gender][name] / total, rel=1e-14)


def test_berkeley_admission_rates_overall(berkeley: str) -> None:
    """About 44 percent of the men and 30 percent of the women who applied to these six were admitted."""
    table = sf.fit(sf.DAG("Gender -> Admit"), berkeley, weights="Freq").model.cpd("Admit").table
    assert table[{"Gender": "Male", "Admit": "Admitted"}] == pytest.approx(1198 / 2691, rel=1e-14)
    assert table[{"Gender": "Female", "Admit": "Admitted"}] == pytest.approx(557 / 1835, rel=1e-14)


def test_berkeley_likelihood_ratio_statistics(berkeley: str) -> None:
    """R's UCBAdmissions by ``loglin``: G² of Admit ⊥ Gender is 93.449 (1 df), of Admit ⊥ Gender | Dept 21.736 (6 df).

    A. Agresti, "Categorical Data Analysis", prints the latter as 21.7 with 6 degrees of freedom.
    """
    dependent = sf.fit(sf.DAG("Gender -> Admit"), berkeley, weights="Freq")
    independent = sf.fit(sf.DAG("Gender; Admit"), berkeley, weights="Freq")
    assert 2 * (dependent.log_likelihood - independent.log_likelihood) == pytest.approx(93.449, abs=0.001)
    assert dependent.n_free - independent.n_free == 1
    full = sf.fit(sf.DAG("Gender -> Dept; Gender -> Admit <- Dept"), berkeley, weights="Freq")
    given_dept = sf.fit(sf.DAG("Gender -> Dept -> Admit"), berkeley, weights="Freq")
    assert 2 * (full.log_likelihood - given_dept.log_likelihood) == pytest.approx(21.736, abs=0.001)
    assert full.n_free - given_dept.n_free == 6


# The ten cases of Cooper and Herskovits -----------------------------------------------------------------------
# G. F. Cooper & E. Herskovits (1992), "A Bayesian method for the induction of probabilistic networks from data",
# Machine Learning 9, 309-347: table 1, and section 2, where P(B_S1, D) = P(B_S1) · 2.23·10⁻⁹ and
# P(B_S2, D) = P(B_S2) · 2.23·10⁻¹⁰.
CASES = """
present absent  absent
present present present
absent  absent  present
present present present
absent  absent  absent
absent  present present
present present present
absent  absent  absent
present present present
absent  absent  absent
"""
TEN = dict(zip(("x1", "x2", "x3"), map(list, zip(*(line.split() for line in CASES.split("\n") if line), strict=True)),
               strict=True))  # fmt: skip


def cooper_herskovits(parents: dict[str, list[str]]) -> Fraction:
    """Their formula (5): Π_i Π_j (r_i − 1)! / (N_ij + r_i − 1)! Π_k N_ijk!, exactly."""
    product = Fraction(1)
    for child, above in parents.items():
        groups: dict[tuple[str, ...], list[int]] = {}
        for i in range(10):
            row = groups.setdefault(tuple(TEN[name][i] for name in above), [0, 0])
            row[TEN[child][i] == "present"] += 1
        for m in groups.values():
            product *= Fraction(math.factorial(m[0]) * math.factorial(m[1]), math.factorial(sum(m) + 1))
    return product


@pytest.mark.parametrize(
    ("graph", "published", "parents"),
    [
        ("x1 -> x2 -> x3", "2.23e-09", {"x1": [], "x2": ["x1"], "x3": ["x2"]}),
        ("x1 -> x2; x1 -> x3", "2.23e-10", {"x1": [], "x2": ["x1"], "x3": ["x1"]}),
    ],
)
def test_cooper_and_herskovits_ten_cases(graph: str, published: str, parents: dict[str, list[str]]) -> None:
    fit = sf.fit(sf.DAG(graph), TEN, prior=sf.K2())
    assert fit.log_marginal_likelihood is not None
    assert f"{math.exp(fit.log_marginal_likelihood):.2e}" == published
    assert math.exp(fit.log_marginal_likelihood) == pytest.approx(float(cooper_herskovits(parents)), rel=1e-12)


def test_cooper_and_herskovits_first_structure_is_ten_times_as_likely() -> None:
    first = sf.fit(sf.DAG("x1 -> x2 -> x3"), TEN, prior=sf.K2()).log_marginal_likelihood
    second = sf.fit(sf.DAG("x1 -> x2; x1 -> x3"), TEN, prior=sf.K2()).log_marginal_likelihood
    assert first is not None
    assert second is not None
    assert math.exp(first - second) == pytest.approx(10, rel=1e-12)


# One variable -------------------------------------------------------------------------------------------------


def test_bayes_billiard_table() -> None:
    """T. Bayes (1763): under a flat prior every number of successes in n trials has probability 1 / (n + 1)."""
    n = 7
    for successes in range(n + 1):
        data = {"ball": ["left"] * successes + ["right"] * (n - successes)}
        fit = sf.fit(sf.DAG("ball"), data, prior=sf.K2(), schema={"ball": ["left", "right"]})
        assert fit.log_marginal_likelihood is not None
        assert math.comb(n, successes) * math.exp(fit.log_marginal_likelihood) == pytest.approx(1 / (n + 1), rel=1e-12)


def test_laplace_rule_of_succession() -> None:
    """P.-S. Laplace (1814), Essai philosophique: after 5000 years, 1,826,213 sunrises, 1,826,214 to 1 for another."""
    data = {"sun": ["rises"]}
    fit = sf.fit(sf.DAG("sun"), data, weights=[1_826_213], prior=sf.K2(), schema={"sun": ["rises", "stays"]})
    table = fit.model.cpd("sun").table
    assert table[{"sun": "rises"}] / table[{"sun": "stays"}] == pytest.approx(1_826_214, rel=1e-9)


@pytest.mark.parametrize(
    ("word", "probability"),
    [("0", "1/2"), ("00", "3/8"), ("01", "1/8"), ("000", "5/16"), ("001", "1/16"), ("0011", "3/128")],
)
def test_krichevsky_trofimov_probabilities(word: str, probability: str) -> None:
    """Willems, Shtarkov & Tjalkens (1995), IEEE Trans. Inf. Theory 41, table I: P_e(a, b), Jeffreys' prior."""
    fit = sf.fit(sf.DAG("bit"), {"bit": list(word)}, prior=sf.Jeffreys(), schema={"bit": ["0", "1"]})
    assert fit.log_marginal_likelihood is not None
    assert math.exp(fit.log_marginal_likelihood) == pytest.approx(float(Fraction(probability)), rel=1e-12)


def test_bdeu_is_likelihood_equivalent_and_k2_is_not() -> None:
    """Heckerman, Geiger & Chickering (1995), Machine Learning 20, 197-243: BDe scores equivalent graphs equally."""
    forward, backward = sf.DAG("x1 -> x2 -> x3"), sf.DAG("x3 -> x2 -> x1")
    fork, collider = sf.DAG("x2 -> x1; x2 -> x3"), sf.DAG("x1 -> x2 <- x3")

    def score(dag: sf.DAG, prior: object) -> float:
        value = sf.fit(dag, TEN, prior=prior).log_marginal_likelihood
        assert value is not None
        return value

    for ess in (0.5, 1, 10):
        assert score(forward, sf.BDeu(ess)) == pytest.approx(score(backward, sf.BDeu(ess)), rel=1e-12)
        assert score(forward, sf.BDeu(ess)) == pytest.approx(score(fork, sf.BDeu(ess)), rel=1e-12)
        assert abs(score(forward, sf.BDeu(ess)) - score(collider, sf.BDeu(ess))) > 0.01
    assert abs(score(forward, sf.K2()) - score(backward, sf.K2())) > 0.01


# The number game ----------------------------------------------------------------------------------------------
# J. B. Tenenbaum (1999), "A Bayesian framework for concept learning"; worked in K. P. Murphy (2012), "Machine Learning:
# a Probabilistic Perspective", section 3.2.1: p(D | powers of two) = (1/6)^4 = 7.7·10⁻⁴, p(D | even) = (1/50)^4
# = 1.6·10⁻⁷, "a likelihood ratio of almost 5000:1 in favour of powers of two".
GAME = sf.Hypotheses({"even": range(2, 101, 2), "powers of two": [2, 4, 8, 16, 32, 64]}, over="number")


def test_number_game_likelihoods_of_one_and_of_four_numbers() -> None:
    alone = {name: sf.Hypotheses({name: GAME.outcomes(name)}, over="number") for name in GAME.names}
    after_four = {name: sf.fit(space, {"number": [16, 8, 2, 64]}) for name, space in alone.items()}
    assert f"{math.exp(after_four['powers of two'].log_likelihood):.1e}" == "7.7e-04"
    assert f"{math.exp(after_four['even'].log_likelihood):.1e}" == "1.6e-07"
    after_one = sf.fit(GAME, {"number": [16]}, prior="uniform")
    assert after_one.posterior["powers of two"] / after_one.posterior["even"] == pytest.approx(50 / 6, rel=1e-12)


def test_number_game_ratio_is_almost_5000_to_1() -> None:
    fit = sf.fit(GAME, {"number": [16, 8, 2, 64]}, prior="uniform")
    ratio = fit.posterior["powers of two"] / fit.posterior["even"]
    assert ratio == pytest.approx((50 / 6) ** 4, rel=1e-12)
    assert 4800 < ratio < 5000
    even, powers = Fraction(1, 50) ** 4, Fraction(1, 6) ** 4
    p_even = even / (even + powers)
    expected = p_even / 50 + (1 - p_even) / 6
    assert fit.model.table[{"number": 32}] == pytest.approx(float(expected), rel=1e-12)
    assert fit.model.table[{"number": 10}] == pytest.approx(float(p_even / 50), rel=1e-12)


def test_number_game_an_even_number_that_is_no_power_settles_it() -> None:
    fit = sf.fit(GAME, {"number": [16, 8, 2, 10]}, prior={"even": 0.01, "powers of two": 0.99})
    assert fit.posterior["even"] == 1
    assert fit.posterior["powers of two"] == 0
