"""check: what a structure implies is put to the data, and the verdict says what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.checking import twins

import suffice as sf
from suffice.checking import bootstrap as bootstrap_file
from suffice.checking import holm, questions
from suffice.checking import ways as ways_file
from suffice.data.block import Block
from suffice.stats.source import BlockSource

ALARM = sf.BayesianNetwork(
    sf.DAG("burglary -> alarm <- quake; alarm -> call; quake -> news"),
    {
        "burglary": [0.7, 0.3],
        "quake": [0.6, 0.4],
        "alarm": [[[0.9, 0.1], [0.6, 0.4]], [[0.3, 0.7], [0.05, 0.95]]],
        "call": [[0.9, 0.1], [0.2, 0.8]],
        "news": [[0.95, 0.05], [0.5, 0.5]],
    },
    schema={name: ["no", "yes"] for name in ("burglary", "alarm", "quake", "call", "news")},
)
ROWS = ALARM.sample(1500, seed=3)
WITHOUT = sf.DAG("quake -> news; burglary -> alarm -> call")


def mixed(n: int = 600) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    g = rng.integers(0, 3, n)
    h = (rng.random(n) < np.array([0.2, 0.5, 0.8])[g]).astype(int)
    x = rng.normal(size=n) + g
    y = 0.7 * x + h + rng.normal(size=n)
    z = 0.5 * y + rng.normal(size=n)
    return {"g": np.array(list("abc"))[g], "h": np.array(["no", "yes"])[h], "x": x, "y": y, "z": z}


# Verdicts -----------------------------------------------------------------------------------------------------


def test_the_structure_that_made_the_data_stands() -> None:
    found = sf.check(ALARM.dag, ROWS, bootstrap=100)
    assert found.ok
    assert found.verdict == "No implied independence is contradicted at level 0.05 (6 tests, Holm)."
    assert len(found.tests) == 6
    assert found.certificate is found.fit.certificate
    assert found.certificate.ok
    assert found.bootstrap is not None
    assert 0.05 < found.bootstrap.p_value < 0.95
    assert found.contradicted == ()


def test_a_missing_edge_is_named_in_the_verdict() -> None:
    found = sf.check(WITHOUT, ROWS, bootstrap=100)
    assert not found.ok
    assert found.verdict.startswith("The structure is contradicted: alarm is not independent of quake (p < 0.0001")
    assert found.tests[0].claim == "alarm ⊥ quake"
    assert (found.families[0].node, found.families[0].parents) == ("alarm", ("burglary",))
    assert found.families[0].worst == "alarm ⊥ quake"
    assert found.certificate.ok  # optimised all the same
    assert found.bootstrap is not None
    assert found.bootstrap.p_value == pytest.approx(1 / 101)


def test_an_edge_too_many_is_no_contradiction_but_is_not_needed() -> None:
    found = sf.check(sf.DAG("burglary -> alarm <- quake; alarm -> call <- burglary; quake -> news"), ROWS, bootstrap=0)
    assert found.ok
    assert found.edges[0].edge == "burglary -> call"
    assert not found.edges[0].is_needed
    assert found.edges[0].given == ("alarm",)
    assert all(edge.is_needed for edge in found.edges[1:])


@pytest.mark.parametrize("structure", [sf.DAG("a -> b -> c; a -> c"), sf.Cliques("a:b:c"), sf.Categorical("a")])
def test_a_structure_without_independences_cannot_be_contradicted(structure: Any) -> None:
    data = {"a": list("uvuv"), "b": list("uuvv"), "c": list("uvvu")}
    found = sf.check(structure, data)
    assert found.ok
    assert found.tests == ()
    assert found.bootstrap is None
    assert found.verdict == "The structure implies nothing that these data could contradict."


def test_tests_are_those_of_cells_written_out() -> None:
    tests = sf.check(ALARM.dag, ROWS, bootstrap=0).tests
    assert len(tests) == 6
    for test in tests:
        columns = [ROWS[name].astype(str) for name in (test.first, test.second, *test.given)]
        g2, df = twins.g2(list(zip(*columns, strict=True)))
        assert test.statistic == pytest.approx(g2, abs=1e-9)
        assert test.df == df
        assert test.information == pytest.approx(g2 / 3000, abs=1e-12)


# Multiplicity -------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_refuses_step_by_step(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for level in (0.01, 0.05, 0.5):
        refused: set[int] = set()
        for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
            if not p_values[position] * (len(p_values) - rank) < level:
                break
            refused.add(position)
        assert {place for place, p in enumerate(adjusted) if p < level} == refused


def test_a_bootstrap_takes_half_of_the_level() -> None:
    alone, both = (sf.check(WITHOUT, ROWS, bootstrap=n) for n in (0, 40))
    assert alone.tests
    for one, other in zip(alone.tests, both.tests, strict=True):
        assert other.p_value == one.p_value
        assert other.p_adjusted == pytest.approx(min(1.0, 2 * one.p_adjusted))


# Bootstrap ----------------------------------------------------------------------------------------------------


def test_draws_depend_on_the_seed_alone() -> None:
    first, again, other = (sf.check(ALARM.dag, ROWS, bootstrap=20, seed=seed) for seed in (1, 1, 2))
    assert first.bootstrap is not None
    assert again.bootstrap is not None
    assert other.bootstrap is not None
    assert (first.bootstrap.drawn == again.bootstrap.drawn).all()
    assert not (first.bootstrap.drawn == other.bootstrap.drawn).all()
    assert [test.p_value for test in first.tests] == [test.p_value for test in again.tests]


def test_whole_tables_and_rows_are_drawn_from_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sf.check(ALARM.dag, ROWS, bootstrap=200).bootstrap
    monkeypatch.setattr(bootstrap_file, "JOINT_CELLS", 0)
    rows = sf.check(ALARM.dag, ROWS, bootstrap=200).bootstrap
    assert whole is not None
    assert rows is not None
    assert whole.statistic == rows.statistic
    error = np.sqrt(whole.drawn.var() / 200 + rows.drawn.var() / 200)
    assert abs(whole.drawn.mean() - rows.drawn.mean()) < 4 * error


def test_rows_are_cut_into_tables_of_the_datas_size() -> None:
    needs = [sf.Count(("alarm", "call"))]
    found = list(bootstrap_file._of_rows(ALARM, needs, 40_000, 4, 0))
    assert [part.weight for part in found] == [40_000.0] * 4
    rows = BlockSource(_Drawn(160_000)).gather(needs)
    assert (sum(part[needs[0]].table() for part in found) == rows[needs[0]].table()).all()


class _Drawn:
    """Rows drawn from a network, as a table."""

    schema, description = ALARM.schema, "draws"

    def __init__(self, n: int) -> None:
        self.n_expected = n

    def blocks(self) -> list[Block]:
        return list(ALARM.sample_blocks(self.n_expected, seed=0))

    def settled(self) -> Any:
        from suffice.data.block import SettledTable

        return SettledTable(self.schema, (), {})


def test_a_bootstrap_that_takes_long_is_left_out_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap_file, "SECONDS", 1e-6)
    found = sf.check(ALARM.dag, ROWS)
    assert found.bootstrap is None
    assert any("ask with bootstrap=" in remark for remark in found.remarks)
    asked = sf.check(ALARM.dag, ROWS, bootstrap=7)
    assert asked.bootstrap is not None
    assert asked.bootstrap.n_tables == 7


# Structures ---------------------------------------------------------------------------------------------------


def test_the_cliques_of_a_network_are_judged_like_it() -> None:
    right = sf.check(sf.Cliques(ALARM.dag), ROWS, bootstrap=20)
    assert right.ok
    assert {test.by for test in right.tests} <= {"G²", "G², drawn"}
    wrong = sf.check(sf.Cliques("burglary:alarm + alarm:call + quake:news"), ROWS, bootstrap=0)
    assert not wrong.ok
    assert {wrong.tests[0].first, wrong.tests[0].second} <= {"alarm", "quake", "news", "call"}


def test_interactions_beyond_a_pairwise_model_are_tested() -> None:
    # Three variables of which each is the parity of the others, but for noise: no pair shows it.
    counts = np.where(np.indices((2, 2, 2)).sum(axis=0) % 2, 40, 10)
    parity = sf.Contingency(counts, {name: ["0", "1"] for name in "abc"})
    for structure in (sf.Cliques("a:b + b:c + a:c"), sf.Ising("a:b + b:c + a:c")):
        found = sf.check(structure, parity)
        (test,) = found.tests
        assert (test.claim, test.df) == ("no further interactions", 1)
        assert not found.ok
        assert "interactions that the model leaves out" in found.verdict
    assert sf.check(sf.Cliques("a:b:c"), parity).ok


def test_a_normal_network_is_tested_by_partial_correlations() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    y = 0.6 * x + rng.normal(size=300)
    data = {"x": x, "y": y, "z": 0.6 * y + rng.normal(size=300), "w": 0.6 * x + rng.normal(size=300)}
    for structure in (sf.DAG("x -> y -> z; x -> w"), sf.GaussianMarkov("x:y + y:z + x:w")):
        found = sf.check(structure, data, bootstrap=60)
        assert found.ok
        assert {test.by for test in found.tests} == {"t"}
        assert len(found.tests) == 3
    wrong = sf.check(sf.DAG("x -> y; z; x -> w"), data, bootstrap=0)
    assert {wrong.tests[0].first, wrong.tests[0].second} == {"y", "z"}
    assert not wrong.ok


def test_a_mixed_network_is_tested_by_regressions_and_tables() -> None:
    right = sf.check(sf.DAG("g -> h; g -> x -> y; h -> y -> z"), mixed(), bootstrap=60)
    assert right.ok
    assert {test.by for test in right.tests} == {"F", "F, combined"}
    assert {test.claim for test in right.tests} >= {"y ⊥ g | x, h", "z ⊥ g | y"}
    assert all(edge.is_needed for edge in right.edges)
    wrong = sf.check(sf.DAG("g -> h; g -> x -> y; y -> z"), mixed(), bootstrap=0)
    assert wrong.tests[0].claim in ("y ⊥ h | x",)
    assert not wrong.ok


def test_a_discrete_node_is_tested_against_continuous_ones_that_come_before() -> None:
    data = mixed()
    found = sf.check(sf.DAG("x -> y; g; h"), data, bootstrap=0)
    assert not found.ok
    assert {test.claim for test in found.tests} == {"g ⊥ x", "g ⊥ y", "h ⊥ x", "h ⊥ y", "h ⊥ g"}


def test_what_cannot_be_tested_is_listed_with_the_reason() -> None:
    data = {**mixed(), "c": mixed()["h"]}
    found = sf.check(sf.DAG("g -> x -> c", kinds={"c": "softmax"}), data, bootstrap=0)
    assert [str(one.claim) for one in found.untested] == ["c ⊥ g | x"]
    assert "c is discrete and x is continuous" in found.untested[0].reason
    assert "Not tested: c ⊥ g | x, since" in str(found)


def test_a_deterministic_node_leaves_nothing_to_test_given_its_parents() -> None:
    rng = np.random.default_rng(0)
    a, b, s = (rng.integers(0, 2, 400) for _ in range(3))
    data = {"a": a, "b": a ^ rng.integers(0, 2, 400), "s": s, "both": a & b}
    data["both"] = data["a"] & data["b"]
    found = sf.check(sf.DAG({"a": [], "b": ["a"], "s": ["a", "b"], "both": ["a", "b"]}), data, bootstrap=0)
    assert [str(one.claim) for one in found.untested] == ["both ⊥ s | a, b"]
    assert "vary" in found.untested[0].reason
    assert found.ok


def test_latent_variables_leave_what_is_observed_to_be_tested() -> None:
    dag = sf.DAG("a -> b -> H -> c", latent={"H": 2})
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, 400)
    b = np.where(rng.random(400) < 0.8, a, 1 - a)
    data = {"a": a, "b": b, "c": np.where(rng.random(400) < 0.8, b, 1 - b)}
    found = sf.check(dag, data, bootstrap=20)
    assert [test.claim for test in found.tests] == ["c ⊥ a | b"]
    assert found.ok
    assert not sf.check(dag, {**data, "c": a}, bootstrap=0).ok


# Data ---------------------------------------------------------------------------------------------------------


def test_weights_files_and_rows_give_the_same_check(tmp_path: Path) -> None:
    table = ROWS.astype(str).value_counts().rename("n").reset_index()
    path = tmp_path / "rows.csv"
    ROWS.to_csv(path, index=False)
    expected = sf.check(ALARM.dag, ROWS, bootstrap=20)
    for found in (
        sf.check(ALARM.dag, table, weights="n", bootstrap=20),
        sf.check(ALARM.dag, str(path), bootstrap=20),
        sf.check(ALARM.dag, ROWS.sample(frac=1.0, random_state=1), bootstrap=20),
    ):
        assert [test.p_value for test in found.tests] == [test.p_value for test in expected.tests]
        assert found.bootstrap is not None
        assert expected.bootstrap is not None
        assert found.bootstrap.p_value == expected.bootstrap.p_value


def test_incomplete_rows_are_dropped_on_demand() -> None:
    holed = ROWS.astype(object)
    holed.loc[:9, "call"] = None
    found = sf.check(ALARM.dag, holed, missing="drop", bootstrap=0)
    assert found.fit.n == 1490


def test_more_tests_than_allowed_are_counted() -> None:
    found = sf.check(ALARM.dag, ROWS, max_tests=2, bootstrap=0)
    assert len(found.tests) == 2
    assert any("implies 6 independences; the 2 of variables" in remark for remark in found.remarks)


def test_tables_beyond_the_memory_are_listed_as_not_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "settings", lambda: type("Few", (), {"memory": 4 * 100}))
    found = sf.check(ALARM.dag, ROWS, schema=ALARM.schema, bootstrap=0)
    assert found.tests
    assert found.untested
    assert "beyond the 100 B for all tests" in found.untested[0].reason
    assert any("edges have no test, or no room" in remark for remark in found.remarks)


def test_states_in_huge_numbers_are_not_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways_file, "MOST_CELLS", 3)
    assert sf.check(ALARM.dag, ROWS, schema=ALARM.schema, bootstrap=0).tests == ()


# Looking ------------------------------------------------------------------------------------------------------


def test_a_frame_has_one_row_a_test() -> None:
    found = sf.check(WITHOUT, ROWS, bootstrap=0)
    frame = found.to_frame()
    assert list(frame["claim"]) == [test.claim for test in found.tests]
    assert list(frame["is_contradicted"]) == [test.is_contradicted for test in found.tests]
    assert list(frame["p_value"]) == sorted(frame["p_value"])


def test_the_print_says_verdict_certificate_and_tables() -> None:
    text = str(sf.check(WITHOUT, ROWS, bootstrap=20))
    assert text.startswith("The structure is contradicted: alarm is not independent of quake")
    assert "Certified: maximum likelihood" in text
    for part in ("implied by the structure", "families, worst first", "edges, least needed first", "- Bootstrap: "):
        assert part in text
    assert max(map(len, text.splitlines())) <= 120


def test_names_are_shown_as_text() -> None:
    name = "<script>alert(1)</script>"
    data = ROWS.rename(columns={"quake": name})
    found = sf.check(sf.DAG([("burglary", "alarm"), name]), data, bootstrap=0)
    shown = found._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "not independent of" in shown


def test_the_document_is_plain_data() -> None:
    entry = sf.check(ALARM.dag, ROWS, bootstrap=10).to_dict()
    assert json.loads(json.dumps(entry)) == entry | {
        key: json.loads(json.dumps(entry[key])) for key in ("tests", "families", "edges")
    }
    assert entry["n_tests"] == 6
    assert set(entry["bootstrap"]) == {"deviance", "df", "statistic", "n_tables", "p_value"}
