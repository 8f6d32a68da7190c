"""Every routine of inference, crossed with every case, against brute force; and with random products."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.inference_cases import (
    CASES,
    N_CHILDREN,
    NOTHING,
    Case,
    Floats,
    Oracle,
    product_of,
    random_product,
)

import suffice as sf
from suffice.inference import brute_force, elimination, inquiry
from suffice.inference.asking import Asker
from suffice.inference.calibration import Calibrated, Calibrator, Focus, calibrate
from suffice.inference.drawing import draw
from suffice.inference.inquiry import Given, Inquiry
from suffice.inference.maximum import most_likely
from suffice.inference.plan import Plan
from suffice.inference.product import Factor, Product

TOLERANCE = 1e-10
DRAWS = 3000


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE)


def same_log(found: float, expected: float) -> None:
    if expected == -math.inf:
        assert found == -math.inf
    else:
        assert found == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)


def whole(product: Product, evidence: Given) -> Product:
    return product.with_factors(evidence.factors())


def free_targets(case: Case, evidence: Given) -> list[tuple[int, ...]]:
    kept = [tuple(v for v in targets if v not in evidence.hard) for targets in case.targets]
    return list(dict.fromkeys(kept))


def planned(product: Product, evidence: Given, **options: Any) -> tuple[Product, Plan, Any]:
    held = whole(product, evidence)
    return held, Plan.of(held, evidence.hard, **options), evidence.codes(len(product.sizes))


# The routines -------------------------------------------------------------------------------------------------


def check_joint(case: Case, evidence: Given, oracle: Oracle) -> None:
    for targets in free_targets(case, evidence):
        table, log_scale = elimination.joint(whole(case.product, evidence), targets, evidence.hard)
        same(table, oracle.marginal(targets))
        same_log(log_scale, oracle.log_z)


def check_posterior(case: Case, evidence: Given, oracle: Oracle) -> None:
    for targets in free_targets(case, evidence):
        same(elimination.posterior(whole(case.product, evidence), targets, evidence.hard), oracle.marginal(targets))


def check_calibrated(found: Calibrated, oracle: Oracle, case: Case | None = None) -> None:
    same_log(found.log_z, oracle.log_z)
    tree = found.plan.tree
    for number, (clique, separator) in enumerate(zip(tree.cliques, tree.separators, strict=True)):
        same(found.clique(number), oracle.marginal(clique))
        same(found.separator(number), oracle.marginal(separator))
    for v, table in found.singles().items():
        same(table, oracle.marginal((v,)))
    assert sorted(found.singles()) == oracle.free
    if oracle.is_possible:
        assert found.entropy == pytest.approx(oracle.entropy, rel=1e-9, abs=1e-9)
    for targets in [] if case is None else case.targets:
        if all(v in oracle.free for v in targets):
            table = found.marginal(targets)
            covered = any(set(targets) <= set(clique) for clique in tree.cliques)
            assert (table is not None) == covered
            if table is not None:
                same(table, oracle.marginal(targets))


def check_calibrator(case: Case, evidence: Given, oracle: Oracle) -> None:
    held, plan, codes = planned(case.product, evidence)
    packed = plan.packed(held.factors)
    check_calibrated(calibrate(plan, packed, codes), oracle, case)
    calibrator = Calibrator(plan)
    for _ in range(2):  # its room can be used again
        check_calibrated(calibrator.run(packed, codes), oracle, case)
    for clique in range(0, len(plan.tree.cliques), 1 + len(plan.tree.cliques) // 3):  # the root is of no consequence
        turned = plan.rooted_at(clique)
        check_calibrated(calibrate(turned, turned.packed(held.factors), codes), oracle)


def check_in_logarithms(case: Case, evidence: Given, oracle: Oracle) -> None:
    """Floors that claim that values may be lost send everything through logarithms."""
    held, plan, codes = planned(case.product, evidence)
    packed = plan.packed(held.factors)
    forced = dataclasses.replace(packed, floors=np.full(len(packed.floors), 1e-300))
    found = calibrate(plan, forced, codes)
    assert found.in_logarithms or not held.factors
    check_calibrated(found, oracle, case)
    same(np.exp(packed.logarithms()), packed.values)


def check_maximise(case: Case, evidence: Given, oracle: Oracle) -> None:
    held, plan, codes = planned(case.product, evidence)
    found = Calibrator(plan).maximise(plan.packed(held.factors), codes)
    same_log(found.log_z, oracle.best)


def check_ask(case: Case, evidence: Given, oracle: Oracle) -> None:
    plan = Plan.of(case.product)
    before = calibrate(plan, plan.packed(case.product.factors))
    if before.log_z == -math.inf:
        return  # Inquiry keeps no tree of it
    asker = Asker(before)
    for targets in free_targets(case, evidence):
        found = asker.ask(targets, evidence.hard, evidence.soft)
        if found is None:
            assert case.extreme or not asker.covers(targets) or not oracle.is_possible
        else:
            same(found[0], oracle.marginal(targets))
            same_log(found[1], oracle.log_z - before.log_z)


def rows_of(case: Case, evidence: Given, targets: tuple[int, ...]) -> Any:
    """The evidence, its states moved on one by one, and parts of it; as rows of codes."""
    sizes = case.product.sizes
    rows = [evidence.codes(len(sizes))]
    for step in (1, 2):
        rows.append(np.array([-1 if code < 0 else (code + step) % sizes[v] for v, code in enumerate(rows[0])]))
    for variable in list(evidence.hard)[:3]:
        row = rows[0].copy()
        row[variable] = -1
        if math.prod(sizes[v] for v in range(len(sizes)) if row[v] < 0) <= brute_force.MAX_CELLS:
            rows.append(row)
    codes = np.array([*rows, rows[0]], np.int64)
    codes[:, list(targets)] = -1
    return codes


def row_oracles(case: Case, codes: Any) -> list[Oracle]:
    return [Oracle(case.product, Given({v: int(c) for v, c in enumerate(row) if c >= 0})) for row in codes]


def check_ask_rows(case: Case, evidence: Given, oracle: Oracle) -> None:
    plan = Plan.of(case.product)
    before = calibrate(plan, plan.packed(case.product.factors))
    if before.log_z == -math.inf:
        return
    asker = Asker(before)
    for targets in filter(asker.covers, free_targets(case, evidence)):
        codes = rows_of(case, evidence, targets)
        answers, log_p, sure = asker.ask_rows(targets, codes)
        for row, expected in enumerate(row_oracles(case, codes)):
            if sure[row]:
                same(answers[row], expected.marginal(targets))
                same_log(log_p[row], expected.log_z - before.log_z)
            else:
                assert case.extreme or not expected.is_possible


def check_most_likely(case: Case, evidence: Given, oracle: Oracle) -> None:
    held, plan, codes = planned(case.product, evidence)
    check_best(most_likely(held, plan, codes), oracle)


def check_best(found: Any, oracle: Oracle) -> None:
    assert (found is not None) == oracle.is_possible
    if found is not None:
        chosen, score, ties = found
        assert sorted(chosen) == oracle.free
        same_log(score, oracle.best)
        same_log(oracle.score(chosen), oracle.best)
        assert ties == oracle.tied


def check_draw(case: Case, evidence: Given, oracle: Oracle) -> None:
    if not oracle.is_possible:
        return
    held, plan, codes = planned(case.product, evidence)
    found = calibrate(plan, plan.packed(held.factors), codes)
    rng = np.random.default_rng(17)
    drawn = draw(found, lambda: rng.random(DRAWS))
    assert sorted(drawn) == oracle.free
    for members, joint in oracle.parts:
        p = np.exp(joint - brute_force.log_sum(joint)).reshape(-1)
        cells = np.ravel_multi_index(tuple(drawn[v] for v in members), joint.shape)
        counts = np.bincount(cells, minlength=len(p))
        assert not counts[joint.reshape(-1) == -np.inf].any()
        check_frequencies(counts, p)


def check_frequencies(counts: Any, p: Floats) -> None:
    """χ², cells that are seldom expected put together."""
    expected = DRAWS * p / p.sum()
    often = expected >= 5
    if len(p) - often.sum():
        counts = np.append(counts[often], counts[~often].sum())
        expected = np.append(expected[often], expected[~often].sum())
    held = expected > 1e-3
    assert counts[~held].sum() <= 3
    if held.sum() > 1:
        statistic = float(((counts[held] - expected[held]) ** 2 / expected[held]).sum())
        assert scipy.stats.chi2.sf(statistic, held.sum() - 1) > 1e-6


def check_inquiry_posterior(case: Case, evidence: Given, oracle: Oracle) -> None:
    """The first answers are by elimination, later ones from the tree, unless it cannot tell."""
    asked = Inquiry(case.product)
    for _ in range(inquiry.PATIENCE + 1):
        for targets in free_targets(case, evidence):
            same(asked.posterior(targets, evidence), oracle.marginal(targets))


def check_inquiry_log_evidence(case: Case, evidence: Given, oracle: Oracle) -> None:
    asked = Inquiry(case.product)
    same_log(asked.log_evidence(evidence), oracle.log_z)
    if case.product.parents is not None:
        assert asked.log_z == 0
    elif evidence is NOTHING:
        same_log(asked.log_z, oracle.log_z)


def check_inquiry_rows(case: Case, evidence: Given, oracle: Oracle) -> None:
    asked = Inquiry(case.product)
    for targets in free_targets(case, evidence):
        codes = rows_of(case, evidence, targets)
        answers, log_p = asked.rows(targets, codes)
        for row, expected in enumerate(row_oracles(case, codes)):
            same_log(log_p[row], expected.log_z)
            if expected.is_possible:
                same(answers[row], expected.marginal(targets))


def check_inquiry_marginals(case: Case, evidence: Given, oracle: Oracle) -> None:
    found = Inquiry(case.product).marginals(evidence)
    assert sorted(found) == oracle.free
    for v, table in found.items():
        same(table, oracle.marginal((v,)))


def check_inquiry_entropy(case: Case, evidence: Given, oracle: Oracle) -> None:
    if oracle.is_possible:
        assert Inquiry(case.product).entropy(evidence) == pytest.approx(oracle.entropy, rel=1e-9, abs=1e-9)


def check_inquiry_calibrated(case: Case, evidence: Given, oracle: Oracle) -> None:
    asked = Inquiry(case.product)
    check_calibrated(asked.calibrated(evidence), oracle, case)
    extra = free_targets(case, evidence)
    found = asked.calibrated(evidence, extra)
    check_calibrated(found, oracle)
    for scope in extra:
        table = found.marginal(scope)
        assert table is not None
        same(table, oracle.marginal(scope))


def check_inquiry_most_likely(case: Case, evidence: Given, oracle: Oracle) -> None:
    check_best(Inquiry(case.product).most_likely(evidence), oracle)


def check_marginal_map(case: Case, evidence: Given, oracle: Oracle) -> None:
    subsets = [*free_targets(case, evidence), tuple(oracle.free[::2]), tuple(oracle.free[:0:-1]), tuple(oracle.free)]
    for targets in subsets:
        check_best(Inquiry(case.product).most_likely(evidence, targets), oracle.over(targets))


def other_tables(case: Case) -> list[Product]:
    """Return products over the same scopes."""
    rng = np.random.default_rng(3)
    others = []
    for _ in range(2):
        factors = [
            Factor(factor.scope, factor.values * rng.uniform(0.5, 2, factor.values.shape))
            for factor in case.product.factors
        ]
        others.append(dataclasses.replace(case.product, factors=tuple(factors), parents=None))
    return others


def check_inquiry_many(case: Case, evidence: Given, oracle: Oracle) -> None:
    others = other_tables(case)
    asked = Inquiry(case.product)
    for targets in free_targets(case, evidence):
        found = asked.many(targets, evidence, [case.product, *others])
        same(found[0], oracle.marginal(targets))
        for answer, other in zip(found[1:], others, strict=True):
            same(answer, Oracle(other, evidence).marginal(targets))


def check_inquiry_many_marginals(case: Case, evidence: Given, oracle: Oracle) -> None:
    others = other_tables(case)
    found = Inquiry(case.product).many_marginals(evidence, [case.product, *others])
    assert sorted(found) == oracle.free
    oracles = [oracle, *(Oracle(other, evidence) for other in others)]
    for v, answers in found.items():
        for answer, other in zip(answers, oracles, strict=True):
            same(answer, other.marginal((v,)))


def check_focus(case: Case, evidence: Given, oracle: Oracle) -> None:
    """Factors are multiplied one after another; the marginals of any factor stay right."""
    held, plan, codes = planned(case.product, evidence)
    if not oracle.is_possible or not held.factors or math.prod(oracle.sizes[v] for v in oracle.free) > 2**14:
        return
    focus = Focus(calibrate(plan, plan.packed(held.factors), codes))
    rng = np.random.default_rng(23)
    now = held
    for _ in range(8):
        factor, asked = rng.integers(len(held.factors), size=2)
        scope = plan.free_scopes[factor]
        ratio = rng.uniform(0.5, 2, [case.product.sizes[v] for v in scope])
        if rng.random() < 0.3 and ratio.size > 1:
            ratio.reshape(-1)[rng.integers(ratio.size)] = 0
        after = now.with_factors([Factor(scope, ratio)])
        expected = Oracle(after, Given(evidence.hard))
        if not expected.is_possible:
            continue
        focus.multiply(int(factor), ratio)
        now = after
        mass = math.exp(expected.log_z - oracle.log_z)
        same(focus.marginal(int(asked)), mass * expected.marginal(plan.free_scopes[asked]))


def network_of(product: Product) -> sf.MarkovNetwork:
    schema = {name: [f"s{code}" for code in range(n)] for name, n in zip(product.names, product.sizes, strict=True)}
    factors = [([product.names[v] for v in factor.scope], factor.values) for factor in product.factors]
    return sf.MarkovNetwork(factors, schema=schema)


def check_kl(case: Case, evidence: Given, oracle: Oracle) -> None:
    if evidence is not NOTHING or not oracle.is_possible:
        return
    product = case.product
    model = network_of(product)
    assert model.kl(model) == pytest.approx(0, abs=1e-9)
    rng = np.random.default_rng(5)
    factors = [Factor(f.scope, f.values * rng.uniform(0.5, 2, f.values.shape)) for f in product.factors]
    scopes = [product.scopes[0]] if product.factors else []
    other = dataclasses.replace(product, factors=tuple(factors), parents=None)
    for second in (other, random_product(product.sizes, scopes, seed=4)):
        expected = brute_force.divergence(product, second)
        assert model.kl(network_of(second)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


Check = Callable[[Case, Given, Oracle], None]

ROUTINES: dict[str, Check] = {
    "elimination.joint": check_joint,
    "elimination.posterior": check_posterior,
    "calibration.Calibrator.run": check_calibrator,
    "calibration in logarithms": check_in_logarithms,
    "calibration.Calibrator.maximise": check_maximise,
    "calibration.Focus": check_focus,
    "asking.Asker.ask": check_ask,
    "asking.Asker.ask_rows": check_ask_rows,
    "maximum.most_likely": check_most_likely,
    "drawing.draw": check_draw,
    "inquiry.Inquiry.posterior": check_inquiry_posterior,
    "inquiry.Inquiry.log_evidence": check_inquiry_log_evidence,
    "inquiry.Inquiry.rows": check_inquiry_rows,
    "inquiry.Inquiry.marginals": check_inquiry_marginals,
    "inquiry.Inquiry.entropy": check_inquiry_entropy,
    "inquiry.Inquiry.calibrated": check_inquiry_calibrated,
    "inquiry.Inquiry.most_likely": check_inquiry_most_likely,
    "marginal MAP": check_marginal_map,
    "inquiry.Inquiry.many": check_inquiry_many,
    "inquiry.Inquiry.many_marginals": check_inquiry_many_marginals,
    "Answers.kl": check_kl,
}

# Public names that are checked inside a routine of another name.
INSIDE = {
    "calibration.calibrate": "calibration.Calibrator.run",
    "calibration.Calibrated.clique": "calibration.Calibrator.run",
    "calibration.Calibrated.separator": "calibration.Calibrator.run",
    "calibration.Calibrated.marginal": "calibration.Calibrator.run",
    "calibration.Calibrated.shrunk": "calibration.Calibrator.run",
    "calibration.Calibrated.singles": "calibration.Calibrator.run",
    "calibration.Calibrated.entropy": "calibration.Calibrator.run",
    "calibration.Focus.move": "calibration.Focus",
    "calibration.Focus.marginal": "calibration.Focus",
    "calibration.Focus.multiply": "calibration.Focus",
    "calibration.Focus.path": "calibration.Focus",
    "asking.Asker.covers": "asking.Asker.ask",
    "inquiry.Given.codes": "asking.Asker.ask_rows",
    "inquiry.Given.factors": "elimination.joint",
    "inquiry.Inquiry.asker": "inquiry.Inquiry.posterior",
    "inquiry.Inquiry.log_z": "inquiry.Inquiry.log_evidence",
    "inquiry.Inquiry.plan": "inquiry.Inquiry.calibrated",
}
HOLDERS = {"elimination.ScaledTable", "calibration.Calibrated", "calibration.Calibrator", "asking.Asker"}
HOLDERS |= {"inquiry.Inquiry", "inquiry.Given"}
ELSEWHERE = {"calibration.Focus.fit_in_turn"}  # what learning asks for: tests/inference/test_clique_family.py


def public_names() -> set[str]:
    """Every public function, class and method of the modules that answer."""
    found = set()
    for short in ("elimination", "calibration", "asking", "maximum", "drawing", "inquiry"):
        module = importlib.import_module(f"suffice.inference.{short}")
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
                continue
            if inspect.isclass(thing):
                found.add(f"{short}.{name}")
                fields = {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else ()
                members = [member for member in vars(thing) if not member.startswith("_") and member not in fields]
                found |= {f"{short}.{name}.{member}" for member in members}
            elif inspect.isfunction(thing):
                found.add(f"{short}.{name}")
    return found


def test_every_public_routine_is_crossed() -> None:
    missing = public_names() - set(ROUTINES) - set(INSIDE) - HOLDERS - ELSEWHERE
    assert not missing, "add a check to ROUTINES, or say in INSIDE which one covers it"
    assert set(INSIDE.values()) <= set(ROUTINES)
    gone = {
        name for name in {*ROUTINES, *INSIDE, *HOLDERS, *ELSEWHERE} if name.split(".")[0] in MODULES
    } - public_names()
    assert not gone


MODULES = ("elimination", "calibration", "asking", "maximum", "drawing", "inquiry")


def crossed(routines: Iterable[str], name: str) -> list[Any]:
    """Routines to cross with a case."""
    return [pytest.param(routine, name, id=f"{routine}-{name}") for routine in routines]


def check_routine(routine: str, case: Case, evidence: Given, oracle: Oracle) -> None:
    """Compare a routine with an oracle; it must leave the tables as they are."""
    before = [factor.values.tobytes() for factor in case.product.factors]
    ROUTINES[routine](case, evidence, oracle)
    assert [factor.values.tobytes() for factor in case.product.factors] == before, "the tables were changed"


@pytest.fixture(scope="module")
def oracles() -> dict[tuple[str, str], Oracle]:
    return {(name, said): Oracle(case.product, e) for name, case in CASES.items() for said, e in case.evidence.items()}


@pytest.mark.parametrize(("routine", "name"), [pair for name in CASES for pair in crossed(ROUTINES, name)])
def test_routine_agrees_with_brute_force(routine: str, name: str, oracles: Mapping[tuple[str, str], Oracle]) -> None:
    assert CASES[name].evidence
    for said, evidence in CASES[name].evidence.items():
        check_routine(routine, CASES[name], evidence, oracles[name, said])


# Too large for brute force: by hand ---------------------------------------------------------------------------


def test_long_chain_without_evidence_is_a_product_of_matrices() -> None:
    n, matrix = 400, np.array([[2.0, 1.0], [0.5, 3.0]])
    product = product_of([2] * n, [((i, i + 1), matrix) for i in range(n - 1)])
    powers, log_scale = [np.ones(2)], 0.0  # powers[k] ∝ matrix^k · 1, how the rest of the chain weighs
    for _ in range(n - 1):
        step = matrix @ powers[-1]
        log_scale += math.log(step.sum())
        powers.append(step / step.sum())
    log_z = log_scale + math.log(powers[-1].sum())
    lefts = [np.ones(2)]
    for _ in range(n - 1):
        step = lefts[-1] @ matrix
        lefts.append(step / step.sum())
    asked = Inquiry(product)
    same_log(asked.log_z, log_z)
    found = asked.marginals(NOTHING)
    calibrated = asked.calibrated(NOTHING)
    same_log(calibrated.log_z, log_z)
    for v in range(0, n, 37):
        expected = lefts[v] * powers[n - 1 - v]
        same(found[v], expected / expected.sum())
        same(asked.posterior((v,), NOTHING), expected / expected.sum())
    best = asked.most_likely(NOTHING)
    assert best is not None
    assert set(best[0].values()) == {1}
    same_log(best[1], (n - 1) * math.log(3))
    assert best[2] == {}


def test_star_without_evidence_is_its_root() -> None:
    product = CASES["star with many observed children"].product
    root = product.factors[0].values
    asked = Inquiry(product)
    found = asked.marginals(NOTHING)
    entropy = -float((root * np.log(root)).sum())
    same(found[0], root)
    for child in range(1, N_CHILDREN + 1):
        table = product.factors[child].values
        same(found[child], root @ table)
        entropy -= float((root[:, None] * table * np.log(table)).sum())
    assert asked.entropy(NOTHING) == pytest.approx(entropy, rel=1e-10)
    same_log(asked.log_evidence(NOTHING), 0.0)
    best = asked.most_likely(NOTHING)
    assert best is not None
    scores = np.log(root) + sum(np.log(product.factors[child].values.max(axis=1)) for child in range(1, N_CHILDREN + 1))
    assert best[0][0] == int(np.argmax(scores))
    same_log(best[1], float(scores.max()))


# Random products ----------------------------------------------------------------------------------------------


@st.composite
def random_cases(draw: st.DrawFn, extreme: float = 0) -> tuple[Case, Given]:
    """Random scopes, zeros, ties, hard and soft evidence; for half of them a Bayesian network.

    With ``extreme``, the decimal logarithms of the numbers are up to that.
    """
    n = draw(st.integers(1, 6))
    sizes = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    kind = draw(st.sampled_from(["any", "zeros", "few values"]))

    def numbers(shape: list[int]) -> Floats:
        if extreme:
            values = 10.0 ** rng.uniform(-extreme, extreme, shape)
        elif kind == "few values":
            values = rng.choice([0.0, 1.0, 2.0], shape, p=[0.2, 0.4, 0.4])
        else:
            values = rng.uniform(0.05, 1, shape)
        return np.where(rng.random(shape) < (0.3 if kind == "zeros" else 0), 0, values)

    parents = None
    if draw(st.booleans()) and not extreme:
        order = rng.permutation(n)
        parents = [()] * n
        tables = [None] * n
        for place, child in enumerate(order):
            above = rng.permutation(order[:place])[: rng.integers(0, 4)].tolist()
            values = numbers([*(sizes[v] for v in above), sizes[child]])
            values[..., 0] += ~values.any(axis=-1)
            parents[child] = tuple(above)
            tables[child] = ((*above, int(child)), values / values.sum(axis=-1, keepdims=True))
    else:
        scopes = [rng.permutation(n)[: rng.integers(0, 4)].tolist() for _ in range(draw(st.integers(0, 7)))]
        tables = [(scope, numbers([sizes[v] for v in scope])) for scope in scopes]
    seen = rng.permutation(n)[: rng.integers(0, n)].tolist()
    cut = int(rng.integers(0, len(seen) + 1))
    hard = {v: int(rng.integers(sizes[v])) for v in seen[:cut]}
    weights = {v: numbers([sizes[v]]) for v in seen[cut:]}
    for values in weights.values():
        values[0] += not values.any()
    free = [v for v in range(n) if v not in hard]
    targets = [tuple(rng.permutation(free)[: rng.integers(1, 4)].tolist()) for _ in range(3)]
    return Case(product_of(sizes, tables, parents), {}, targets, extreme=extreme > 0), Given(hard, weights)


@pytest.mark.parametrize("routine", [name for name in ROUTINES if name != "drawing.draw"])
@given(drawn=random_cases())
@settings(max_examples=30)
def test_routine_agrees_with_brute_force_on_random_products(routine: str, drawn: tuple[Case, Given]) -> None:
    case, evidence = drawn
    check_routine(routine, case, evidence, Oracle(case.product, evidence))


LINEAR = {"calibration.Focus", "drawing.draw", "Answers.kl"}  # they start from marginals, which may underflow
POSITIVE = [name for name in ROUTINES if name not in LINEAR]


@pytest.mark.parametrize("routine", POSITIVE)
@given(drawn=random_cases(extreme=130))
@settings(max_examples=25)
def test_routine_agrees_where_products_leave_the_range_of_floats(routine: str, drawn: tuple[Case, Given]) -> None:
    case, evidence = drawn
    check_routine(routine, case, evidence, Oracle(case.product, evidence))


@pytest.mark.parametrize("routine", POSITIVE)
@given(drawn=random_cases(extreme=250))
@settings(max_examples=25)
def test_routine_agrees_where_ratios_leave_the_range_of_floats(routine: str, drawn: tuple[Case, Given]) -> None:
    case, evidence = drawn
    check_routine(routine, case, evidence, Oracle(case.product, evidence))
