"""suffice collect, merge and estimate: map-reduce with nothing but files."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.command_line import run

import suffice as sf

DAG = "rain -> grass"


@pytest.fixture
def parts(tmp_path):
    """Three parts of one table, of which the last has a state of its own."""
    tables = [
        {"rain": ["no", "yes", "no"], "grass": ["dry", "wet", "dry"]},
        {"rain": ["yes", "no"], "grass": ["wet", "wet"]},
        {"rain": ["no", "snow"], "grass": ["dry", "white"]},
    ]
    for place, table in enumerate(tables):
        pq.write_table(pa.table(table), tmp_path / f"part-{place}.parquet")
    whole = {name: [value for table in tables for value in table[name]] for name in tables[0]}
    return tmp_path, whole


def collected(folder, place, *more):
    out = folder / f"{place}.stats"
    done = run("collect", DAG, folder / f"part-{place}.parquet", "--out", out, *more)
    assert done.exit_code == 0, done.stderr
    return out


def test_parts_make_the_fit_of_the_whole(parts):
    folder, whole = parts
    stats = [collected(folder, place) for place in range(3)]
    assert run("merge", *stats, "--out", folder / "all.stats").exit_code == 0
    done = run("estimate", DAG, folder / "all.stats", "--prior", "bdeu:1", "--out", folder / "model.json", "--json")
    assert done.exit_code == 0, done.stderr
    wanted = sf.fit(sf.DAG(DAG), whole, prior=sf.BDeu(1))
    found = sf.read(str(folder / "model.json"))
    np.testing.assert_array_equal(found.cpd("grass").table.values, wanted.model.cpd("grass").table.values)
    assert json.loads(done.stdout)["kind"] == "fit"


def test_several_files_are_one_table(parts):
    folder, whole = parts
    done = run("collect", DAG, *sorted(folder.glob("*.parquet")), "--out", folder / "all.stats", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 7
    assert sf.read(str(folder / "all.stats"))[sf.Count(("rain",))].values.tolist() == [4, 1, 2]
    assert whole["rain"].count("no") == 4


@settings(max_examples=15)
@given(order=st.permutations(range(3)), cut=st.integers(1, 2))
def test_merging_is_associative_and_commutative(order, cut):
    tables = [{"rain": ["no", "yes"], "x": [1e9, 2.5]}, {"rain": ["yes"], "x": [-3.0]}, {"rain": ["snow"], "x": [0.1]}]
    dag = sf.DAG("rain -> x")
    stats = [sf.collect(dag, table) for table in tables]
    shuffled = [stats[place] for place in order]
    left, right = shuffled[:cut], shuffled[cut:]
    nested = sum(left) + sum(right)
    straight = stats[0] + stats[1] + stats[2]
    assert [v.states for v in nested.schema.variables] == [v.states for v in straight.schema.variables]
    for need in straight:
        for name, array in straight[need].to_arrays().items():
            np.testing.assert_allclose(nested[need].to_arrays()[name], array, rtol=1e-12, atol=1e-6)


def test_a_flipped_byte_is_refused_and_nothing_is_written(parts):
    folder, _ = parts
    first, second = collected(folder, 0), collected(folder, 1)
    content = bytearray(second.read_bytes())
    content[len(content) // 2] ^= 4
    second.write_bytes(content)
    done = run("merge", first, second, "--out", folder / "all.stats")
    assert done.exit_code == 2
    assert "1.stats" in done.stderr
    assert "damaged" in done.stderr
    assert not (folder / "all.stats").exists()


def test_statistics_of_a_future_version_are_refused(parts, monkeypatch):
    folder, _ = parts
    monkeypatch.setattr("suffice.stats.statistics.FILE_VERSION", 99)
    out = collected(folder, 0)
    monkeypatch.undo()
    done = run("estimate", DAG, out)
    assert done.exit_code == 2
    assert "version" in done.stderr


def test_other_declared_states_are_refused_with_both_files(parts):
    folder, _ = parts
    first = collected(folder, 0, "--categorical", "rain=no,yes")
    second = collected(folder, 1, "--categorical", "rain=yes,no")
    done = run("merge", first, second, "--out", folder / "all.stats")
    assert done.exit_code == 2
    assert "1.stats' does not go with" in done.stderr.replace("\n", " ")
    assert "declared" in done.stderr


def test_other_structures_are_refused(parts):
    folder, _ = parts
    first = collected(folder, 0)
    assert run("collect", "rain; grass", folder / "part-1.parquet", "--out", folder / "b.stats").exit_code == 0
    done = run("merge", first, folder / "b.stats", "--out", folder / "all.stats")
    assert done.exit_code == 2
    assert "different structures" in done.stderr
    done = run("estimate", "rain -> grass -> x", first)
    assert done.exit_code == 2
    assert "'x'" in done.stderr


def test_a_part_named_twice_is_refused(parts):
    folder, _ = parts
    first = collected(folder, 0)
    done = run("merge", first, folder / "*.stats", "--out", folder / "all.stats")
    assert done.exit_code == 2
    assert "named twice" in done.stderr


def test_no_part_is_written_over(parts):
    folder, _ = parts
    data, first, second = folder / "part-0.parquet", collected(folder, 0), collected(folder, 1)
    for read, command in [
        (data, ("collect", DAG, folder / "part-1.parquet", data)),
        (data, ("collect", DAG, folder)),
        (first, ("merge", first, second)),
        (first, ("merge", folder / "*.stats")),
    ]:
        before = read.read_bytes()
        done = run(*command, "--out", read)
        assert done.exit_code == 2
        assert "Give it a path of its own" in done.stderr.replace("\n", " ")
        assert read.read_bytes() == before


def test_a_glob_that_matches_nothing_is_refused(tmp_path):
    done = run("merge", tmp_path / "*.stats", "--out", tmp_path / "all.stats")
    assert done.exit_code == 2
    assert "No file matches" in done.stderr


def test_damaged_files_are_reported_when_they_are_left_out(parts):
    folder, _ = parts
    (folder / "part-1.parquet").write_bytes(b"PAR1 rubbish")
    done = run("collect", DAG, folder / "*.parquet", "--out", folder / "all.stats")
    assert done.exit_code == 2
    assert "part-1.parquet" in done.stderr
    done = run("collect", DAG, folder / "*.parquet", "--out", folder / "all.stats", "--damaged", "skip")
    assert done.exit_code == 0
    assert "part-1.parquet" in done.stdout


def test_a_fit_that_is_not_certified_exits_with_one(parts):
    folder, _ = parts
    out = folder / "ising.stats"
    cliques = "rain:grass"
    assert run("collect", cliques, folder / "part-0.parquet", "--out", out, "--method", "gradient").exit_code == 0
    done = run("estimate", cliques, out, "--method", "gradient", "--max-iter", "1")
    assert done.exit_code == 1


def test_a_folder_and_its_files_that_match_one_glob_count_once(parts):
    folder, whole = parts
    inside = folder / "as_spark_writes.parquet"
    inside.mkdir()
    pq.write_table(pa.table(whole), inside / "part-0.parquet")
    for path in folder.glob("part-*.parquet"):
        path.unlink()
    assert sf.collect(sf.DAG(DAG), str(folder / "**" / "*.parquet")).n_read == 7


def test_a_file_under_two_names_is_refused(parts):
    folder, _ = parts
    (folder / "again.parquet").symlink_to(folder / "part-0.parquet")
    with pytest.raises(sf.DataError, match="named twice"):
        sf.collect(sf.DAG(DAG), [folder / "part-0.parquet", folder / "again.parquet"])
