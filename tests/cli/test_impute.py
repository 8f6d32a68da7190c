"""Incomplete rows on the command line: impute, score --missing marginalise, fit --missing em."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.command_line import bad, good, run

import suffice as sf
from suffice.cli.app import app

ROWS = 'A,B,v,note\nx,u,1.50,"a,b"\nx,,0.7,c\n,v,-1,d\ny,v,?,e\ny,?,?,f\ny,u,-2,\nx,u,0.2,h\nx,v,1.1,h\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a table that has gaps and a model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(ROWS)
    prior = [sf.K2(), sf.NormalInverseGamma(2, 1.0)]
    sf.write(sf.fit(sf.DAG("A -> B; A -> v"), "t.csv", prior=prior, missing="drop").model, "m.json")
    return tmp_path


def test_gaps_are_filled_and_all_else_stays_as_written(folder: Path) -> None:
    text = good("impute", "m.json", "t.csv", "--out", "filled.csv")
    assert text == (
        "variable  values filled\n--------  -------------\nA                     1\nB                     2\n"
        "v                     2\n\nWrote 8 rows to filled.csv\n"
    )
    before, after = ROWS.splitlines(), (folder / "filled.csv").read_text().splitlines()
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        for field, filled in zip(old.split(","), new.split(","), strict=True):
            assert field == filled or (field in ("", "?") and filled)
    model = sf.read("m.json")
    expected = model.impute("t.csv")
    pd.testing.assert_frame_equal(
        pd.read_csv("filled.csv")[["A", "B"]].astype(object), expected[["A", "B"]].astype(object)
    )
    assert {path.name for path in folder.iterdir()} == {"t.csv", "m.json", "filled.csv"}


def test_several_tables_of_draws(folder: Path) -> None:
    arguments = ("impute", "m.json", "t.csv", "--method", "sample", "-n", "2", "--seed", "1")
    found = json.loads(good(*arguments, "--out", "f.csv", "--json"))
    assert found == {
        "rows": 8, "filled": {"A": 1, "B": 2, "v": 2}, "total": 5, "method": "sample", "seed": 1,
        "out": ["f-1.csv", "f-2.csv"],
    }  # fmt: skip
    first, second = ((folder / name).read_text() for name in ("f-1.csv", "f-2.csv"))
    assert first != second
    good(*arguments, "--out", "g.csv")
    assert (folder / "g-1.csv").read_text() == first
    python = sf.read("m.json").impute("t.csv", method="sample", n=2, seed=1)
    assert pd.read_csv("f-2.csv")["v"].tolist() == python[1]["v"].tolist()


def test_parquet_in_and_out(folder: Path) -> None:
    pd.read_csv("t.csv", na_values="?").to_parquet("t.parquet")
    good("impute", "m.json", "t.parquet", "--out", "f.parquet")
    good("impute", "m.json", "t.parquet", "--out", "f.csv", "--method", "marginal")
    good("impute", "m.json", "t.csv", "--out", "typed.parquet")
    assert pq.read_schema("f.parquet").names == pq.read_schema("t.parquet").names
    assert pd.read_parquet("f.parquet").dtypes.tolist() == pd.read_parquet("t.parquet").dtypes.tolist()
    typed = pd.read_parquet("typed.parquet")
    assert typed["A"].dtype == "category"
    assert typed["v"].tolist() == pd.read_parquet("f.parquet")["v"].tolist() == pytest.approx(pd.read_csv("f.csv")["v"])


def test_pieces_of_a_file_give_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "long.csv").write_text(ROWS + "".join(ROWS.partition("\n")[2] for _ in range(40)))
    arguments = ("impute", "m.json", "long.csv", "--method", "sample", "--seed", "3")
    good(*arguments, "--out", "whole.csv")
    monkeypatch.setattr("suffice.data.readers.csv_file.PIECE_BYTES", 256)
    good(*arguments, "--out", "pieces.csv")
    assert (folder / "pieces.csv").read_text() == (folder / "whole.csv").read_text()


def test_a_table_without_gaps_and_one_without_rows(folder: Path) -> None:
    (folder / "full.csv").write_text("A,B,v\nx,u,1\n")
    assert "None of the 1 rows has a gap." in good("impute", "m.json", "full.csv", "--out", "f.csv")
    assert (folder / "f.csv").read_text() == "A,B,v\nx,u,1\n"
    (folder / "empty.csv").write_text("A,B,v\n")
    good("impute", "m.json", "empty.csv", "--out", "f.csv")
    assert (folder / "f.csv").read_text() == "A,B,v\n"
    good("impute", "m.json", "empty.csv", "--out", "f.parquet")
    assert pq.read_table("f.parquet").column_names == ["A", "B", "v"]


def test_latent_columns_are_added_when_asked(folder: Path) -> None:
    tables = {"H": [0.3, 0.7], "A": [[0.9, 0.1], [0.2, 0.8]]}
    sf.write(sf.BayesianNetwork(sf.DAG("H -> A", latent={"H": 2}), tables, schema={"H": [0, 1], "A": ["x", "y"]}),
             "h.json")  # fmt: skip
    good("impute", "h.json", "t.csv", "--out", "f.csv", "--latent")
    assert pd.read_csv("f.csv").columns.tolist() == ["A", "B", "v", "note", "H"]
    assert "log-likelihood" in good("score", "h.json", "t.csv", "--missing", "drop")


def test_mistakes_leave_nothing_behind(folder: Path) -> None:
    assert "must be one of ['mode', 'marginal', 'sample']" in bad(
        "impute", "m.json", "t.csv", "--out", "f.csv", "--method", "mean")  # fmt: skip
    assert "--method sample" in bad("impute", "m.json", "t.csv", "--out", "f.csv", "-n", "2")
    assert ".csv or .parquet" in bad("impute", "m.json", "t.csv", "--out", "f.txt")
    (folder / "odd.csv").write_text("A,B,v\nx,w,\n")
    assert "state 'w' is not one of" in bad("impute", "m.json", "odd.csv", "--out", "f.csv")
    (folder / "other.csv").write_text("C\n1\n")
    assert "CSV file 'other.csv' has no column" in bad("impute", "m.json", "other.csv", "--out", "f.csv")
    chain = sf.fit(sf.MarkovChain(), ["abab"]).model
    sf.write(chain, "chain.json")
    assert "cannot be used to fill gaps" in bad("impute", "chain.json", "t.csv", "--out", "f.csv")
    assert not (folder / "f.csv").exists()


# Scores -------------------------------------------------------------------------------------------------------


def test_score_sums_gaps_out(folder: Path) -> None:
    found = json.loads(good("score", "m.json", "t.csv", "--missing", "marginalise", "--json"))
    expected = sf.read("m.json").log_prob("t.csv", missing="marginalise")
    assert found["n"] == 8
    assert found["log_likelihood"] == pytest.approx(expected.sum())
    (folder / "short.csv").write_text("B\nu\nv\n")
    found = json.loads(good("score", "m.json", "short.csv", "--missing", "marginalise", "--json"))
    assert found["log_likelihood"] == pytest.approx(np.log(sf.read("m.json").query("B").values).sum())
    assert "['error', 'drop', 'marginalise']" in bad("score", "m.json", "t.csv", "--missing", "em")
    sf.write(sf.fit(sf.MarkovChain(), ["abab"]).model, "chain.json")
    assert "--missing drop" in bad("score", "chain.json", "t.csv", "--missing", "marginalise")


def test_score_names_its_own_option_for_gaps(folder: Path) -> None:
    sf.write(sf.fit(sf.MarkovChain(latent={"z": 2}, variable="A"), ["xyxy", "yx"], seed=0, restarts=1).model, "h.json")
    for model, *options in (("m.json",), ("h.json",), ("h.json", "--missing", "drop")):
        said = bad("score", model, "t.csv", *options)
        assert "--missing marginalise" in said
        assert "--missing em" not in said


# Fits ---------------------------------------------------------------------------------------------------------


def test_fit_by_em(folder: Path) -> None:
    (folder / "d.csv").write_text("A,B\n" + "x,u\n" * 5 + "x,\n" * 3 + "y,v\n" * 4 + ",v\n" * 2 + "y,u\n" + "x,v\n")
    good("fit", "A -> B", "d.csv", "--missing", "em", "--out", "em.json", "--quiet")
    direct = sf.fit(sf.DAG("A -> B"), "d.csv", missing="em")
    found = sf.read("em.json")
    np.testing.assert_allclose(found.cpd("B").table.values, direct.model.cpd("B").table.values, atol=1e-12)
    total = found.log_prob("d.csv", missing="marginalise").sum()
    assert direct.log_likelihood == pytest.approx(total, abs=1e-9)


def test_fit_with_a_latent_variable_restarts_and_a_checkpoint(folder: Path) -> None:
    random = np.random.default_rng(1)
    group = random.random(200) < 0.4
    rows = {name: np.where(random.random(200) < np.where(group, 0.9, 0.2), "yes", "no") for name in "ABC"}
    pd.DataFrame(rows).to_csv("d.csv", index=False)
    arguments = ("fit", "H -> A; H -> B; H -> C", "d.csv", "--missing", "em", "--latent", "H=2", "--restarts", "2")
    result = run(*arguments, "--seed", "1", "--checkpoint", "c.bin", "--out", "em.json", "--quiet")
    assert result.exit_code in (0, 1), result.stderr
    assert sf.read("em.json").dag.latent == (("H", 2),)
    assert "NODE=N" in bad("fit", "H -> A", "d.csv", "--latent", "H")
    assert "no node 'G'" in bad("fit", "H -> A", "d.csv", "--latent", "G=2")
    (folder / "s.toml").write_text('type = "Bernoulli"\nvariable = "A"\nstates = ["no", "yes"]\n')
    assert "--latent is for networks" in bad("fit", "s.toml", "d.csv", "--latent", "A=2")


def test_the_command_is_listed() -> None:
    assert any(
        command.callback is not None and command.callback.__name__ == "impute" for command in app.registered_commands
    )
