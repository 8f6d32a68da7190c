"""Plans: what tables will take is said, and refused, before anything is allocated."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import suffice as sf
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.settings import settings
from suffice.stats.plan import plan

WIDE = Schema(tuple(Variable(f"x{i}", tuple(range(10))) for i in range(12)))


@pytest.fixture(autouse=True)
def settings_restored() -> Iterator[None]:
    before = settings()
    yield
    sf.config(threads=before.threads, memory=before.memory)


def test_tables_beyond_the_limit_are_sparse_and_cost_nothing_beforehand() -> None:
    found = plan([sf.Count(tuple(WIDE)), sf.Count(("x0", "x1"))], WIDE)
    assert [table.dense for table in found.tables] == [False, True]
    assert found.n_cells == 10**12 + 100
    assert found.n_bytes == 800


def test_too_much_memory_is_refused_with_numbers() -> None:
    sf.config(memory=1000)
    data = {f"x{i}": list(range(8)) for i in range(3)}
    with pytest.raises(
        sf.StatisticsError, match=r"would take 4\.67 kB, more than the 1 kB.*512 cells.*sf\.config\(memory="
    ):
        sf.fit(sf.DAG("x0 -> x1; x0 -> x2; x1 -> x2"), data, unseen_parents="nan")


def test_a_plan_prints_its_tables() -> None:
    assert str(plan([sf.Count(("x0",))], WIDE)).splitlines()[-1].split() == ["x0", "10", "80", "B", "dense"]
