"""A node kind outside the library: counts that follow Poisson distributions, in one file and with one line.

Parameters    λ_d for each configuration d of the discrete parents                             `PoissonCPD`
Statistics    the distinct rows (parents, child) with their weights                            `Distinct(scope)`
Fitting       λ̂_d = Σ w y / Σ w                                                                `PoissonKind.mle`
Proof         |Σ w y / (λ_d Σ w) − 1|, row by row                                              `PoissonKind.residual`
              Σ w ((1 + g) log(1 + g) − g) λ_d, g the number above with its sign, in nats      `PoissonKind.distance`
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.special import gammaln, xlogy
from scipy.stats import poisson
from tests.command_line import run

import suffice as sf
from suffice.errors import ArgumentError, EstimationError, ModelError, Remedy, Text, is_number, made, shown
from suffice.models.cpds import KINDS
from suffice.models.cpds.by_configuration import ByConfiguration
from suffice.models.cpds.kind import Given, NodeFamily, NodeKind
from suffice.models.cpds.rows import all_configurations
from suffice.optimise.distance import Distance, excess
from suffice.stats.needs import Distinct
from suffice.stats.rows import Rows
from suffice.types import Columns, Floats, Ints, Json, JsonObject
from suffice.values import Label

# The kind ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PoissonCPD(ByConfiguration):
    """p(y | d) = λ_d^y exp(−λ_d) / y!, d a configuration of the discrete parents."""

    kind: ClassVar[str] = "poisson"
    family: NodeFamily
    rate: Floats = field(repr=False)

    def __post_init__(self) -> None:
        rate = np.array(self.rate, np.float64).reshape(math.prod(self._sizes))
        if (rate < 0).any() or np.isinf(rate).any():
            raise ModelError(f"Node {self.family.child.name!r}: rates must be finite and not negative. Got {rate}.")
        rate.flags.writeable = False
        object.__setattr__(self, "rate", rate)

    def _parameters(self) -> tuple[dict[str, list[Label]], dict[str, Floats], int]:
        return {}, {"rate": self.rate}, 1

    def log_prob(self, columns: Columns) -> Floats:
        y = np.asarray(columns[self.family.child.name], np.float64)
        rate = self.rate[self.rows_of(columns, len(y))]
        whole = (y >= 0) & (y == np.floor(y))
        counts = np.where(whole, y, 0.0)
        return np.where(whole, xlogy(counts, rate) - rate - gammaln(counts + 1), -np.inf)

    def sample(self, columns: Columns, uniform: Floats) -> Floats:
        return np.asarray(poisson.ppf(uniform, self.rate[self.rows_of(columns, len(uniform))]), np.float64)

    def renamed(self, family: NodeFamily) -> PoissonCPD:
        return PoissonCPD(family, self.rate)

    def to_dict(self) -> dict[str, Json]:
        return {"rate": self.rate}

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: JsonObject) -> PoissonCPD:
        return cls(family, np.array(entry["rate"], np.float64))


@dataclass(frozen=True)
class PoissonKind(NodeKind[PoissonCPD, Rows, None]):
    """How rates are fitted and proven."""

    name: ClassVar[str] = "poisson"
    cpd_type: ClassVar[type[PoissonCPD]] = PoissonCPD
    only_named: ClassVar[bool] = True

    def refuses(self, family: NodeFamily) -> str | None:
        name = family.child.name
        if family.child.is_discrete:
            declared = Remedy("schema", {name: made("continuous")})
            return Text(f"{name!r} has states, and a count is a number. Declare it: ", declared, ".")
        if family.continuous:
            return f"a count has discrete parents only, and {family.continuous[0].name!r} is continuous."
        return None

    def need(self, family: NodeFamily) -> Distinct:
        return Distinct(family.scope)

    def mle(self, family: NodeFamily, statistic: Rows) -> PoissonCPD:
        row, y, w = _cases(family, statistic)
        wrong = (y < 0) | (y != np.floor(y))
        if wrong.any():
            raise EstimationError(
                f"Column {family.child.name!r}: counts are whole numbers from zero. Got {y[wrong][0]}; correct it."
            )
        n_rows = math.prod(parent.n_states for parent in family.parents)
        with np.errstate(invalid="ignore"):
            return PoissonCPD(family, np.bincount(row, w * y, n_rows) / np.bincount(row, w, n_rows))

    def whole(self, family: NodeFamily, given: Given) -> PoissonCPD:
        if isinstance(given, PoissonCPD):
            return given.renamed(family)
        rates = [given] if is_number(given) else given
        if not isinstance(rates, list) or not all(is_number(rate) and rate >= 0 for rate in rates):
            raise ArgumentError(f"The rates of {family.child.name!r} are numbers. Got {shown(given)} instead.")
        n_rows = math.prod(parent.n_states for parent in family.parents)
        return PoissonCPD(family, np.broadcast_to(np.array(rates, np.float64), n_rows))

    def fix(self, cpd: PoissonCPD, given: Given) -> tuple[PoissonCPD, Ints]:
        return self.whole(cpd.family, given), all_configurations([parent.n_states for parent in cpd.family.parents])

    def complete(self, cpd: PoissonCPD, policy: str) -> tuple[PoissonCPD, tuple[str, ...]]:
        unknown = np.flatnonzero(np.isnan(cpd.rate))
        if not len(unknown):
            return cpd, ()
        what = f"{cpd.family.child.name}: no data for {cpd.describe_row(int(unknown[0]))}"
        if policy != "nan":
            raise EstimationError(f"{what}, so the rate is not determined. Pass ", Remedy("unseen_parents", "nan"), ".")
        return cpd, (f"{what}; the rate is NaN.",)

    def n_free(self, family: NodeFamily, n_fixed: int = 0) -> int:
        return math.prod(parent.n_states for parent in family.parents) - n_fixed

    def n_free_adjusted(self, family: NodeFamily, statistic: Rows, fixed: Ints | None = None) -> int:
        row, y, _ = _cases(family, statistic)
        return 0 if fixed is not None else len(set(row[y > 0].tolist()))

    def residual(self, cpd: PoissonCPD, statistic: Rows, pseudo: None = None, fixed: Ints | None = None) -> float:
        return max((abs(gap) for _, gap in _gaps(cpd, statistic)), default=0.0) if fixed is None else 0.0

    def distance(
        self, cpd: PoissonCPD, statistic: Rows, pseudo: None = None, fixed: Ints | None = None, point: str = "mle"
    ) -> Distance:
        if fixed is not None:
            return Distance()
        found = list(_gaps(cpd, statistic))
        losses = [math.inf if math.isinf(gap) else expected * float(excess(np.float64(gap))) for expected, gap in found]
        return Distance.of_rows(np.array(losses), cpd.describe_row)

    def log_likelihood(self, cpd: PoissonCPD, statistic: Rows) -> float:
        row, y, w = _cases(cpd.family, statistic)
        return float(w @ (xlogy(y, cpd.rate[row]) - cpd.rate[row] - gammaln(y + 1)))

    def log_likelihood_terms(self, cpd: PoissonCPD, statistic: Rows) -> list[float]:
        columns = {v.name: column for v, column in zip(statistic.variables, statistic.columns, strict=True)}
        terms: list[float] = (statistic.weights * cpd.log_prob(columns)).tolist()
        return terms

    def normalisation(self, cpd: PoissonCPD) -> float:
        return 0.0


def _cases(family: NodeFamily, statistic: Rows) -> tuple[Ints, Floats, Floats]:
    """Return the configuration, the count and the weight of every distinct row."""
    sizes = [parent.n_states for parent in family.parents]
    codes = statistic.codes([parent.name for parent in family.parents])
    row = np.ravel_multi_index(tuple(codes.T), sizes) if sizes else np.zeros(len(codes), np.int64)
    return np.asarray(row, np.int64), statistic.values(family.child.name), statistic.weights


def _gaps(cpd: PoissonCPD, statistic: Rows) -> Iterator[tuple[float, float]]:
    """Yield of each configuration with rows the count that the rate expects, and by what share the data miss it."""
    *above, y = statistic.columns
    groups: dict[tuple[int, ...], list[tuple[float, float]]] = {}
    for count, weight, *codes in zip(y.tolist(), statistic.weights.tolist(), *(c.tolist() for c in above), strict=True):
        groups.setdefault(tuple(codes), []).append((weight, weight * count))
    for codes, parts in sorted(groups.items()):
        columns = {parent.name: np.array([code]) for parent, code in zip(cpd.family.parents, codes, strict=True)}
        rate = -float(cpd.log_prob({**columns, cpd.family.child.name: np.zeros(1)})[0])  # −log p(0)
        expected, seen = rate * math.fsum(w for w, _ in parts), math.fsum(total for _, total in parts)
        yield expected, (seen - expected) / expected if expected else math.inf if seen else 0.0


KIND = PoissonKind()


@pytest.fixture(autouse=True)
def with_the_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(KINDS, "poisson", KIND)
    monkeypatch.chdir(tmp_path)


# Its uses ---------------------------------------------------------------------------------------------------------

DAG = sf.DAG("ward -> visits; season -> visits; ward -> season", kinds={"visits": "poisson"})
NUMBERS = {"visits": sf.continuous()}
WARDS, SEASONS = ("east", "west"), ("dry", "wet")


def _table(n: int = 240, seed: int = 5) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    ward, season = rng.integers(0, 2, n), rng.integers(0, 2, n)
    visits = rng.poisson(np.array([[0.5, 2.0], [3.5, 40.0]])[ward, season])
    return {
        "ward": [WARDS[code] for code in ward],
        "season": [SEASONS[code] for code in season],
        "visits": visits.tolist(),
    }


DATA = _table()


def _rates(data: dict[str, list[Any]], weights: list[float] | None = None) -> list[float]:
    found = []
    w = [1.0] * len(data["ward"]) if weights is None else weights
    for cell in itertools.product(WARDS, SEASONS):
        rows = [at for at, pair in enumerate(zip(data["ward"], data["season"], strict=True)) if pair == cell]
        found.append(sum(w[at] * data["visits"][at] for at in rows) / sum(w[at] for at in rows))
    return found


@pytest.fixture
def fit(with_the_kind: None) -> sf.Fit:
    return sf.fit(DAG, DATA, schema=NUMBERS)


def _joint(model: Any, visits: float) -> np.ndarray:
    """Return p(ward, season, visits) of every cell, one row at a time."""
    cells = list(itertools.product(WARDS, SEASONS))
    rows = {"ward": [a for a, _ in cells], "season": [b for _, b in cells], "visits": [visits] * len(cells)}
    return np.exp(model.log_prob(rows)).reshape(2, 2)


def test_a_fit_has_the_mean_of_every_configuration(fit: sf.Fit) -> None:
    np.testing.assert_allclose(fit.model.cpd("visits").rate, _rates(DATA), rtol=1e-13)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.n_free == 1 + 2 + 4
    assert sf.fit(DAG, DATA, schema=NUMBERS, certify="data").certificate.data_gap == pytest.approx(0, abs=1e-12)


def test_its_likelihood_is_that_of_poisson_distributions(fit: sf.Fit) -> None:
    tables = sf.fit(sf.DAG("ward -> season"), {name: DATA[name] for name in ("ward", "season")})
    rates = dict(zip(itertools.product(WARDS, SEASONS), _rates(DATA), strict=True))
    pairs = zip(DATA["ward"], DATA["season"], strict=True)
    counts = sum(poisson.logpmf(y, rates[pair]) for y, pair in zip(DATA["visits"], pairs, strict=True))
    assert fit.log_likelihood == pytest.approx(tables.log_likelihood + counts, rel=1e-12)
    assert fit.model.log_prob(DATA).sum() == pytest.approx(fit.log_likelihood, rel=1e-12)
    assert "certified" in str(fit).lower()


def test_weights_are_frequencies(fit: sf.Fit) -> None:
    weights = [1.0 + at % 3 for at in range(len(DATA["ward"]))]
    weighted = sf.fit(DAG, DATA, schema=NUMBERS, weights=weights)
    np.testing.assert_allclose(weighted.model.cpd("visits").rate, _rates(DATA, weights), rtol=1e-13)
    assert weighted.certificate.ok


def test_statistics_of_parts_are_added_up(fit: sf.Fit) -> None:
    cuts = [slice(0, 100), slice(100, None)]
    parts = [{name: column[cut] for name, column in DATA.items()} for cut in cuts]
    first, second = (sf.collect(DAG, part, schema=NUMBERS) for part in parts)
    whole = sf.estimate(DAG, first + second)
    np.testing.assert_array_equal(whole.model.cpd("visits").rate, fit.model.cpd("visits").rate)
    assert whole.certificate.ok


@pytest.mark.parametrize("factor", [1.001, 0.9, 0.0])
def test_its_certificate_refuses_another_rate(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    mle = PoissonKind.mle

    def moved(kind: PoissonKind, family: NodeFamily, statistic: Rows) -> PoissonCPD:
        rate = mle(kind, family, statistic).rate.copy()
        rate[2] *= factor
        return PoissonCPD(family, rate)

    monkeypatch.setattr(PoissonKind, "mle", moved)
    certificate = sf.fit(DAG, DATA, schema=NUMBERS).certificate
    assert not certificate.ok
    assert "visits" in certificate.verdict


def test_an_expert_may_give_the_rates(fit: sf.Fit) -> None:
    given = sf.fit(DAG, DATA, schema=NUMBERS, fixed={"visits": [1.0, 2.0, 3.0, 4.0]})
    assert given.model.cpd("visits").rate.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert given.certificate.ok
    assert given.n_free == 1 + 2
    schema = {"ward": WARDS, "season": SEASONS, **NUMBERS}
    tables = {"ward": fit.model.cpd("ward"), "season": fit.model.cpd("season")}
    by_hand = sf.BayesianNetwork(DAG, {**tables, "visits": fit.model.cpd("visits").rate.tolist()}, schema=schema)
    np.testing.assert_array_equal(by_hand.log_prob(DATA), fit.model.log_prob(DATA))


def test_a_configuration_without_rows_follows_the_policy() -> None:
    part = {name: [value for value, ward in zip(column, DATA["ward"], strict=True) if ward == "east"]
            for name, column in DATA.items()}  # fmt: skip
    schema = {**NUMBERS, "ward": WARDS}
    with pytest.raises(sf.EstimationError, match="unseen_parents='nan'"):
        sf.fit(sf.DAG("ward -> visits", kinds={"visits": "poisson"}), part, schema=schema)
    open_ = sf.fit(sf.DAG("ward -> visits", kinds={"visits": "poisson"}), part, schema=schema, unseen_parents="nan")
    assert np.isnan(open_.model.cpd("visits").rate).tolist() == [False, True]


# Queries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("visits", [0, 2, 17, 400])
def test_parents_are_asked_for_given_a_count(fit: sf.Fit, visits: int) -> None:
    joint = _joint(fit.model, visits)
    found = fit.model.query(["ward", "season"], given={"visits": visits}).values
    np.testing.assert_allclose(found, joint / joint.sum(), rtol=1e-10)
    alone = fit.model.query("ward", given={"visits": visits}).values
    np.testing.assert_allclose(alone, joint.sum(axis=1) / joint.sum(), rtol=1e-10)
    assert fit.model.marginals(given={"visits": visits})["ward"].values == pytest.approx(alone, rel=1e-10)
    best = fit.model.map(given={"visits": visits})
    assert (best["ward"], best["season"]) == tuple(
        (WARDS, SEASONS)[axis][at] for axis, at in enumerate(np.unravel_index(np.argmax(joint), (2, 2)))
    )


def test_a_count_that_was_not_observed_says_nothing_of_its_parents(fit: sf.Fit) -> None:
    tables = sf.fit(sf.DAG("ward -> season"), {name: DATA[name] for name in ("ward", "season")})
    asked = fit.model.query("ward", given={"season": "wet"}).values
    np.testing.assert_allclose(asked, tables.model.query("ward", given={"season": "wet"}).values, rtol=1e-12)
    without = {name: DATA[name] for name in ("ward", "season")}
    found = fit.model.log_prob({**without, "visits": [None] * len(DATA["ward"])}, missing="marginalise")
    np.testing.assert_allclose(found, tables.model.log_prob(without), rtol=1e-12)


def test_many_rows_are_asked_at_once(fit: sf.Fit) -> None:
    rows = {"season": DATA["season"][:20], "visits": DATA["visits"][:20]}
    answers = fit.model.predict("ward", rows)
    each = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    one_by_one = [fit.model.query("ward", given=given).values for given in each]
    np.testing.assert_allclose(np.asarray(answers.probabilities), one_by_one, rtol=1e-10)


def test_children_of_a_count_are_asked_for_where_it_was_observed() -> None:
    data = {
        "ward": ["east", "west"] * 10,
        "visits": [at % 7 for at in range(20)],
        "cost": [3.0 * (at % 7) + (at % 3) for at in range(20)],
        "late": ["yes" if at % 7 + at % 4 > 4 else "no" for at in range(20)],
    }
    dag = sf.DAG("ward -> visits; visits -> cost; visits -> late", kinds={"visits": "poisson"})
    model = sf.fit(dag, data, schema=NUMBERS).model
    assert model.query("cost", given={"visits": 2}).mean[0] == model.cpd("cost").mean_of({"visits": np.array([2.0])})[0]
    p = np.exp(model.cpd("late").log_prob({"visits": np.full(2, 2.0), "late": np.arange(2)}))
    np.testing.assert_allclose(model.query("late", given={"visits": 2}).values, p, rtol=1e-12)
    for unseen in ("cost", "late", "ward"):
        with pytest.raises(sf.ModelError, match=r"'visits'.*method='sampling'"):
            model.query(unseen, given={"late": "yes"} if unseen != "late" else None)
    sampled = model.query("ward", given={"late": "yes"}, method="sampling", seed=3)
    assert sampled.table.values.sum() == pytest.approx(1)


def test_missing_counts_are_drawn(fit: sf.Fit) -> None:
    rows = {"ward": ["east", None, "west"], "season": ["dry", "wet", "wet"], "visits": [None, 50, None]}
    filled = fit.model.impute(rows, method="sample", seed=1)
    assert filled["ward"][1] == "west"
    assert filled["visits"][2] > 10
    with pytest.raises(sf.ModelError, match=r"'visits'.* neither discrete nor normal"):
        fit.model.impute(rows)


def test_a_count_is_asked_for_by_sampling(fit: sf.Fit) -> None:
    with pytest.raises(sf.ModelError, match=r"'visits'.* neither discrete nor normal.*method='sampling'"):
        fit.model.query("visits", given={"ward": "west"})
    answer = fit.model.query("visits", given={"ward": "west"}, method="sampling", seed=1)
    p = fit.model.query("season", given={"ward": "west"}).values
    assert answer.mean[0] == pytest.approx(p @ fit.model.cpd("visits").rate[2:], abs=5 * answer.mean_error[0])
    sampled = fit.model.query("season", given={"visits": 3}, method="sampling", seed=2)
    exact = fit.model.query("season", given={"visits": 3}).values
    assert np.abs(sampled.table.values - exact).max() <= 5 * sampled.table_error.values.max()


def test_draws_are_counts_of_the_fitted_rates(fit: sf.Fit) -> None:
    drawn = fit.model.sample(20_000, seed=4)
    counts = np.asarray(drawn["visits"])
    assert (counts == np.floor(counts)).all()
    again = sf.fit(DAG, drawn, schema=NUMBERS)
    np.testing.assert_allclose(again.model.cpd("visits").rate, fit.model.cpd("visits").rate, rtol=0.1)
    given = fit.model.sample(2_000, seed=4, given={"visits": 0})
    p = fit.model.query("ward", given={"visits": 0}).values
    assert np.mean(np.asarray(given["ward"]) == "east") == pytest.approx(p[0], abs=0.05)


def test_structures_with_counts_are_compared() -> None:
    alone = sf.DAG("ward; season; visits", kinds={"visits": "poisson"})
    compared = sf.compare({"both": DAG, "neither": alone}, DATA, schema=NUMBERS, folds=5, seed=1)
    assert compared.best("cv") == compared.best() == "both"


def test_tied_counts_share_their_rates() -> None:
    dag = sf.DAG("a -> x; b -> y", kinds={"x": "poisson", "y": "poisson"}, tie=[("x", "y")])
    data = {"a": list("uvuv"), "b": list("uuvv"), "x": [1, 2, 3, 4], "y": [0, 2, 1, 7]}
    tied = sf.fit(dag, data, schema={"x": sf.continuous(), "y": sf.continuous()})
    assert tied.model.cpd("x").rate.tolist() == tied.model.cpd("y").rate.tolist() == [1.5, 3.5]
    assert tied.certificate.ok


# Files and the command line ---------------------------------------------------------------------------------------


def test_fit_and_model_are_saved_and_loaded(fit: sf.Fit) -> None:
    sf.write(fit, "fit.json")
    sf.write(fit.model, "model.json")
    again = sf.read("fit.json")
    assert again.structure == DAG
    assert again.certificate == fit.certificate
    for model in (again.model, sf.read("model.json")):
        np.testing.assert_array_equal(model.log_prob(DATA), fit.model.log_prob(DATA))
    assert "rate" in str(sf.read("model.json").cpd("visits"))


def _write_rows() -> None:
    rows = zip(*DATA.values(), strict=True)
    lines = [",".join(DATA), *(",".join(map(str, row)) for row in rows)]
    Path("rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_whole_numbers_of_a_csv_are_read_as_counts(fit: sf.Fit) -> None:
    _write_rows()
    read = sf.fit(DAG, "rows.csv", schema=NUMBERS)
    np.testing.assert_array_equal(read.model.cpd("visits").rate, fit.model.cpd("visits").rate)
    assert read.certificate.ok


def test_whole_numbers_that_are_read_as_states_are_refused_with_the_declaration() -> None:
    few = {name: column[:6] for name, column in DATA.items()}
    with pytest.raises(sf.StructureError, match=r"'visits' has states.*schema=\{'visits': sf.continuous\(\)\}"):
        sf.fit(DAG, few)


def test_numbers_that_are_no_counts_are_refused() -> None:
    with pytest.raises(sf.EstimationError, match=r"Column 'visits': counts are whole numbers.*Got 0.5"):
        sf.fit(DAG, {**DATA, "visits": [0.5, *DATA["visits"][1:]]}, schema=NUMBERS)


def test_the_command_line_fits_asks_and_describes_it(fit: sf.Fit) -> None:
    _write_rows()
    graph = 'type = "DAG"\ngraph = "ward -> visits; season -> visits; ward -> season"\n\n[kinds]\nvisits = "poisson"\n'
    Path("dag.toml").write_text(graph, encoding="utf-8")
    fitted = run("fit", "dag.toml", "rows.csv", "--continuous", "visits", "--out", "fit.json")
    assert fitted.exit_code == 0, fitted.stderr
    np.testing.assert_array_equal(sf.read("fit.json").cpd("visits").rate, fit.model.cpd("visits").rate)
    asked = run("query", "fit.json", "ward", "--given", "visits=2", "--json")
    assert asked.exit_code == 0, asked.stderr
    assert str(fit.model.query("ward", given={"visits": 2}).values[0])[:8] in asked.stdout
    described = run("info", "fit.json")
    assert described.exit_code == 0, described.stderr
    drawn = run("sample", "fit.json", "--rows", "5", "--seed", "1")
    assert drawn.exit_code == 0, drawn.stderr
    written = run("report", "fit.json", "--out", "page.html")
    assert written.exit_code == 0, written.stderr


def test_it_has_a_report(fit: sf.Fit) -> None:
    fit.report("report.html")
    assert "poisson" in Path("report.html").read_text(encoding="utf-8")


# Missing values ---------------------------------------------------------------------------------------------------


def test_em_refuses_it_in_a_clear_sentence() -> None:
    gone = {**DATA, "season": [None, *DATA["season"][1:]]}
    with pytest.raises(sf.EstimationError) as caught:
        sf.fit(DAG, gone, schema=NUMBERS, missing="em")
    assert "node 'visits' is of kind 'poisson', whose expected statistic EM does not know" in str(caught.value)
    assert [(remedy.argument, remedy.value) for remedy in caught.value.remedies] == [
        ("missing", "drop"),
        ("missing", "available"),
    ]
    assert sf.fit(DAG, gone, schema=NUMBERS, missing="drop").certificate.ok
    assert sf.fit(DAG, gone, schema=NUMBERS, missing="available").certificate.ok
    with pytest.raises(sf.DataError, match="missing='drop'"):
        sf.fit(DAG, gone, schema=NUMBERS)


def test_rows_that_have_a_family_serve_it() -> None:
    gone = {**DATA, "visits": [None, *DATA["visits"][1:]]}
    available = sf.fit(DAG, gone, schema=NUMBERS, missing="available")
    rest = {name: column[1:] for name, column in DATA.items()}
    np.testing.assert_allclose(available.model.cpd("visits").rate, _rates(rest), rtol=1e-13)
    assert available.certificate.ok


def test_a_latent_parent_is_refused() -> None:
    dag = sf.DAG("H -> visits; H -> ward", latent={"H": 2}, kinds={"visits": "poisson"})
    with pytest.raises(sf.EstimationError, match=r"node 'visits' is of kind 'poisson'.*'H' must be a column"):
        sf.fit(dag, DATA, schema=NUMBERS)


def test_it_is_unknown_without_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(KINDS, "poisson")
    with pytest.raises(sf.UnknownNameError, match="There is no node kind 'poisson'"):
        sf.fit(sf.DAG("ward -> visits", kinds={"visits": "poisson"}), DATA, schema=NUMBERS)
