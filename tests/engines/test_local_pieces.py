"""Passes over pieces here: nothing is lost when one is ended, and what cannot be read is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice as sf
from suffice.data.readers.pieces import ParquetPiece, pieces_of
from suffice.engines import local
from suffice.engines.local import LocalPieces
from suffice.engines.spread import SpreadSource
from suffice.opening import StructureOpening

DAG = sf.DAG("side -> size; size -> warm")


def counts(statistics):
    return {need: statistics[need].values.tolist() for need in statistics}


@pytest.fixture(autouse=True)
def checkpoints_at_once(monkeypatch):
    monkeypatch.setattr(local, "SECONDS", 0.0)


def test_pieces_cover_every_row_group_once(folder):
    pieces = pieces_of(folder, rows=100)
    assert sum(piece.n_rows for piece in pieces) == 600
    assert all(piece.n_rows <= 100 for piece in pieces)
    for path in sorted(folder.iterdir()):
        groups = [group for piece in pieces if piece.path == str(path) for group in piece.groups]
        assert groups == list(range(pq.ParquetFile(path).num_row_groups))


def test_a_piece_is_a_table_of_its_rows(folder, frame):
    piece = pieces_of(folder, rows=50)[1]
    assert piece.start == 50
    found = sf.collect(DAG, piece)
    assert counts(found) == counts(sf.collect(DAG, frame.iloc[50:100]))


def test_a_checkpointed_pass_is_the_pass(folder, frame, tmp_path):
    found = sf.collect(DAG, folder, checkpoint=tmp_path / "so far")
    assert counts(found) == counts(sf.collect(DAG, frame))
    assert not (tmp_path / "so far").exists()


class EndedError(Exception):
    """What ends a pass in these tests."""


def ended_after(pieces, monkeypatch, folder, checkpoint):
    """Begin a pass that is ended after some pieces."""
    seen = []
    opened = StructureOpening.__call__

    def opening(self, data, watch=None):
        if isinstance(data, ParquetPiece) and watch is None:
            seen.append(data)
            if len(seen) > pieces + 1:  # the first one is opened for its columns
                raise EndedError
        return opened(self, data, watch)

    with monkeypatch.context() as patched:
        patched.setattr(StructureOpening, "__call__", opening)
        with pytest.raises(EndedError):
            sf.collect(DAG, folder, checkpoint=checkpoint)
    return seen


@pytest.mark.parametrize("done", [1, 3, 4])
def test_a_pass_that_was_ended_goes_on_from_its_checkpoint(done, folder, frame, tmp_path, monkeypatch):
    checkpoint = tmp_path / "so far"
    ended_after(done, monkeypatch, folder, checkpoint)
    assert checkpoint.exists()
    worked = []
    whole = StructureOpening.__call__
    monkeypatch.setattr(
        StructureOpening, "__call__", lambda self, data, watch=None: worked.append(data) or whole(self, data, watch)
    )
    found = sf.collect(DAG, folder, checkpoint=checkpoint)
    assert len(worked) == 1 + 5 - done
    assert counts(found) == counts(sf.collect(DAG, frame))
    assert found.n_read == len(frame)


def test_real_weights_have_the_same_bits_whenever_work_was_saved(tmp_path, monkeypatch):
    """Lists of what occurs wait for more of their size before they are added: when they are saved changes nothing."""
    rng = np.random.default_rng(3)
    columns = [f"v{j}" for j in range(7)]
    for part, n in enumerate([3000, 400, 500, 2500, 100, 90, 80, 4000]):
        frame = pd.DataFrame(rng.integers(0, 8, (n, 7)) * (rng.random((n, 7)) < 0.3), columns=columns)
        frame.assign(w=rng.random(n)).to_parquet(tmp_path / f"{part}.parquet")
    schema = {name: list(range(8)) for name in columns}
    dag, how = sf.DAG({"v6": columns[:6]}), {"weights": "w", "schema": schema, "checkpoint": tmp_path / "so far"}
    need = sf.Count(tuple(columns))
    found = {}
    for seconds in (0.0, 1e9):
        monkeypatch.setattr(local, "SECONDS", seconds)
        found[seconds] = sf.collect(dag, str(tmp_path / "*.parquet"), **how)[need]
    monkeypatch.setattr(local, "SECONDS", 0.0)
    saved, save = [], LocalPieces._save

    def ends_after_five(self, *given):
        save(self, *given)
        saved.append(given)
        if len(saved) == 5:
            raise EndedError

    with monkeypatch.context() as patched:
        patched.setattr(LocalPieces, "_save", ends_after_five)
        with pytest.raises(EndedError):
            sf.collect(dag, str(tmp_path / "*.parquet"), **how)
    assert len(saved[-1][2]) > 1  # sums that wait
    resumed = sf.collect(dag, str(tmp_path / "*.parquet"), **how)[need]
    assert found[0.0].cells is not None
    for other in (found[1e9], resumed):
        assert np.array_equal(other.cells, found[0.0].cells)
        assert other.values.tobytes() == found[0.0].values.tobytes()


@pytest.mark.parametrize("change", ["structure", "files", "settings"])
def test_a_checkpoint_of_another_job_is_refused(change, folder, tmp_path, monkeypatch):
    parts = tmp_path / "parts"
    parts.mkdir()
    for path in folder.iterdir():
        (parts / path.name).write_bytes(path.read_bytes())
    ended_after(2, monkeypatch, parts, tmp_path / "so far")
    structure, how = DAG, {}
    if change == "structure":
        structure = sf.DAG("side -> size")
    elif change == "settings":
        how = {"missing": "drop"}
    else:
        os.utime(parts / "part-4.parquet", (1, 1))
    with pytest.raises(sf.ArgumentError, match="is of another job"):
        sf.collect(structure, parts, checkpoint=tmp_path / "so far", **how)
    assert (tmp_path / "so far").exists()


def test_a_damaged_checkpoint_is_refused(folder, tmp_path, monkeypatch):
    ended_after(2, monkeypatch, folder, tmp_path / "so far")
    content = bytearray((tmp_path / "so far").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "so far").write_bytes(content)
    with pytest.raises(sf.FileFormatError, match="damaged"):
        sf.collect(DAG, folder, checkpoint=tmp_path / "so far")


def test_checkpoints_are_for_parquet_files(tmp_path):
    (tmp_path / "rows.csv").write_text("side,size,warm\nleft,1,yes\n")
    with pytest.raises(sf.ArgumentError, match="'checkpoint' argument is for Parquet"):
        sf.collect(DAG, tmp_path / "rows.csv", checkpoint=tmp_path / "so far")


# Files that cannot be read ------------------------------------------------------------------------------------


@pytest.fixture
def partly_damaged(folder, tmp_path):
    """The files, of which one is cut off and one has a damaged page in its second row group."""
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    cut = tmp_path / "part-1.parquet"
    cut.write_bytes(cut.read_bytes()[:-20])
    return tmp_path


def test_a_damaged_file_is_named_and_stops_the_job(partly_damaged):
    with pytest.raises(sf.DataError, match=r"part-1\.parquet.* is damaged or cut off"):
        sf.collect(DAG, partly_damaged, checkpoint=partly_damaged / "so far")


def test_a_damaged_file_is_left_out_and_reported_when_asked(partly_damaged, frame):
    found = sf.collect(DAG, partly_damaged, damaged="skip")
    kept = np.r_[0:120, 240:600]
    assert counts(found) == counts(sf.collect(DAG, frame.iloc[kept]))
    (said,) = [remark for remark in found.remarks if "cannot be read" in remark]
    assert "part-1.parquet" in said
    assert any("cannot be read" in note.text for note in sf.estimate(DAG, found).notes)


def test_a_first_file_that_is_damaged_or_empty_is_no_hindrance(folder, frame, tmp_path):
    (tmp_path / "0.parquet").write_bytes(b"PAR1 nothing")
    table = pq.read_table(folder / "part-0.parquet")
    pq.write_table(table.slice(0, 0), tmp_path / "1.parquet")
    pq.write_table(table, tmp_path / "2.parquet")
    found = sf.collect(sf.DAG("side -> height"), tmp_path, damaged="skip")
    wanted = sf.collect(sf.DAG("side -> height"), frame.iloc[:120])
    assert counts_of(found) == counts_of(wanted)


def counts_of(statistics):
    return statistics[sf.Count(("side",))].values.tolist()


def test_a_first_file_whose_rows_are_damaged_is_left_out_and_reported(folder, tmp_path):
    first, second = sorted(folder.iterdir())[:2]
    content = bytearray(first.read_bytes())
    content[4:200] = b"\xff" * 196  # the footer is whole
    (tmp_path / "0.parquet").write_bytes(content)
    (tmp_path / "1.parquet").write_bytes(second.read_bytes())
    found = sf.collect(DAG, tmp_path, damaged="skip")
    assert counts(found) == counts(sf.collect(DAG, second))
    assert "0.parquet" in found.remarks[-1]


def test_files_that_are_all_damaged_are_an_error(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(sf.DataError, match=r"None of the 1 piece can be read|is damaged"):
        sf.collect(DAG, tmp_path, damaged="skip")


def test_a_file_that_changes_during_a_pass_is_noticed(folder, tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes((folder / "part-0.parquet").read_bytes())
    source = SpreadSource(StructureOpening(DAG), LocalPieces(pieces_of(path)))
    path.write_bytes((folder / "part-1.parquet").read_bytes())
    os.utime(path, (1, 1))
    with pytest.raises(sf.DataError, match="has changed"):
        source.gather([sf.Count(("side",))])


# Ended by force -----------------------------------------------------------------------------------------------


SCRIPT = """
    import sys, time
    import suffice as sf
    from suffice.engines import local
    from suffice.opening import StructureOpening

    local.SECONDS = 0.0
    opened = StructureOpening.__call__

    def slowly(self, data, watch=None):
        print("piece", flush=True)
        time.sleep(0.05)
        return opened(self, data, watch)

    StructureOpening.__call__ = slowly
    sf.collect(sf.DAG("side -> size; size -> warm"), sys.argv[1], checkpoint=sys.argv[2]).save(sys.argv[3])
"""


def test_counts_are_exact_after_kill_9_and_resume(frame, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    for place, rows in enumerate(np.array_split(np.arange(len(frame)), 40)):
        pq.write_table(pa.Table.from_pandas(frame.iloc[rows], preserve_index=False), parts / f"{place:02}.parquet")
    checkpoint, out = tmp_path / "so far", tmp_path / "all.stats"
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(parts), str(checkpoint), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(15):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert checkpoint.exists()
    assert not out.exists()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 1 < done.stdout.count("piece") < 41
    assert counts(sf.read(str(out))) == counts(sf.collect(DAG, frame))
    assert not checkpoint.exists()


def test_whole_numbers_with_gaps_are_states_in_every_piece_once_they_are_declared(tmp_path):
    import dask.dataframe as dd

    first, second = pd.DataFrame({"a": ["x", "x"], "x": [2.0, np.nan]}), pd.DataFrame({"a": ["y"], "x": [3.0]})
    for place, part in enumerate((first, second)):
        part.to_parquet(tmp_path / f"{place}.parquet")
    dag, whole = sf.DAG("a -> x"), pd.concat([first, second], ignore_index=True)
    codes = {"x": sf.categorical()}
    wanted = sf.collect(dag, whole, missing="drop", schema=codes)
    for data, how in (
        (str(tmp_path), {"checkpoint": tmp_path / "so-far"}),
        (str(tmp_path), {}),
        (dd.from_pandas(whole, npartitions=2), {}),
    ):
        found = sf.collect(dag, data, missing="drop", schema=codes, **how)
        assert found.schema["x"].states == wanted.schema["x"].states == (2, 3)
        with pytest.raises(sf.SchemaError, match=r"Column 'x' holds whole numbers as floats"):
            sf.collect(dag, data, missing="drop", **how)
    second.assign(x=2.5).to_parquet(tmp_path / "1.parquet")
    found = sf.collect(dag, str(tmp_path), missing="drop", checkpoint=tmp_path / "so-far")
    assert found.schema["x"].states is None
    first.assign(x=[2, 3]).to_parquet(tmp_path / "0.parquet")
    with pytest.raises(sf.SchemaError, match="fractions in others"):
        sf.collect(dag, str(tmp_path), missing="drop", checkpoint=tmp_path / "so-far")
