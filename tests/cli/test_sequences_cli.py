"""Markov chains and autoregressions on the command line: fitted, scored, drawn, asked and described."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.command_line import bad, document, good

import suffice as sf
from suffice.cli import drawn_sequences

LINES = ["abbaabab", "ababba", "bbaab", "aab"]
RAIN = "site,day,rain\n1,2,no\n1,1,yes\n1,3,yes\n2,1,no\n2,2,yes\n2,3,no\n2,4,no\n"
FILES = {
    "chain.toml": 'type = "MarkovChain"\norder = 2\nlevel = "lines"\n',
    "words.toml": 'type = "MarkovChain"\norder = 1\nlevel = "words"\nletters = true\n',
    "rain.toml": 'type = "MarkovChain"\norder = 1\nvariable = "rain"\nid = "site"\ntime = "day"\n',
    "level.toml": 'type = "Autoregression"\norder = 1\nvariables = ["level"]\n',
    "pair.toml": 'type = "Autoregression"\norder = 2\nvariables = ["u", "v"]\nid = "run"\ntime = "t"\n',
    "text.txt": "\n".join(LINES) + "\n",
    "book.txt": "the cat saw the dog. The dog saw the cat, and the cat ran.\n",
    "rain.csv": RAIN,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Structure files, sequences of all sorts, and models fitted to them, made once."""
    made = tmp_path_factory.mktemp("made")
    for name, content in FILES.items():
        (made / name).write_text(content)
    rng = np.random.default_rng(5)
    level = np.cumsum(rng.normal(size=40)) * 0.1 + rng.normal(size=40)
    (made / "level.csv").write_text("level\n" + "".join(f"{value:.4f}\n" for value in level))
    rows = [(run, t, *rng.normal(size=2).round(3)) for run in (1, 2, 3) for t in range(12)]
    rng.shuffle(rows)
    (made / "pair.csv").write_text("run,t,u,v\n" + "".join(f"{int(r)},{int(t)},{u},{v}\n" for r, t, u, v in rows))
    with contextlib.chdir(made):
        sf.write(sf.fit(sf.MarkovChain(2, level="lines"), "text.txt", prior=sf.Dirichlet(1.0)).model, "chain.json")
        sf.write(sf.fit(sf.MarkovChain(1, level="words", letters=True), "book.txt", prior=sf.K2()).model, "words.json")
        sf.write(sf.fit(sf.MarkovChain(1, "rain", "site", "day"), "rain.csv", prior=sf.K2()).model, "rain.json")
        sf.write(sf.fit(sf.Autoregression(1, "level"), "level.csv").model, "level.json")
        sf.write(sf.fit(sf.Autoregression(2, ["u", "v"], id="run", time="t"), "pair.csv").model, "pair.json")
    return made


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a copy of what was made."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# fit ----------------------------------------------------------------------------------------------------------

FITS: dict[str, tuple[list[str], Any, str, dict[str, Any]]] = {
    "lines": (["chain.toml", "text.txt", "--prior", "dirichlet:1"], sf.MarkovChain(2, level="lines"), "text.txt",
              {"prior": sf.Dirichlet(1.0)}),
    "unseen contexts": (["chain.toml", "text.txt", "--unseen-parents", "uniform"], sf.MarkovChain(2, level="lines"),
                        "text.txt", {"unseen_parents": "uniform"}),
    "words": (["words.toml", "book.txt", "--prior", "k2"], sf.MarkovChain(1, level="words", letters=True), "book.txt",
              {"prior": sf.K2()}),
    "states": (["rain.toml", "rain.csv", "--categorical", "rain=yes,no"], sf.MarkovChain(1, "rain", "site", "day"),
               "rain.csv", {"schema": {"rain": ["yes", "no"]}}),
    "autoregression": (["level.toml", "level.csv"], sf.Autoregression(1, ["level"]), "level.csv", {}),
    "divisor": (["pair.toml", "pair.csv", "--divisor", "n-p"],
                sf.Autoregression(2, ["u", "v"], id="run", time="t", divisor="n-p"), "pair.csv", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", FITS)
def test_fit_of_a_structure_file_is_that_of_the_structure(folder: Path, name: str) -> None:
    arguments, structure, data, options = FITS[name]
    assert "✓ Certified" in good("fit", *arguments, "--out-fit", "cli.json", "--out", "model.json")
    sf.write(sf.fit(structure, data, **options), "api.json")
    assert (folder / "cli.json").read_bytes() == (folder / "api.json").read_bytes()
    again = good("fit", "cli.json", data, *arguments[2:], "--out-fit", "again.json")
    assert "✓ Certified" in again


def test_table_with_another_separator_is_read_in_order_of_time(folder: Path) -> None:
    (folder / "semi.csv").write_text(RAIN.replace(",", ";"))
    good("fit", "rain.toml", "semi.csv", "--separator", ";", "--prior", "k2", "--out", "semi.json")
    assert (folder / "semi.json").read_bytes() == (folder / "rain.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chain.toml", "text.txt", "--prior", "nig:2:1"], "such as --prior dirichlet:1"),
        (["chain.toml", "text.txt", "--weights", "w"], "no weights. Leave them out"),
        (["rain.toml", "rain.csv", "--missing", "drop"], "--missing drop would make neighbours"),
        (["chain.toml", "text.txt", "--show", "x"], "no tables of nodes to show. Leave --show out"),
        (["chain.toml", "absent.txt"], "absent.txt"),
        (["chain.toml", "text.txt", "--divisor", "n"], "structure is a MarkovChain; leave it out"),
        (["level.toml", "text.txt"], "text.txt"),
        (["pair.toml", "level.csv"], "no column 'run'"),
    ],
)
def test_fit_refuses_with_the_reason(folder: Path, arguments: list[str], says: str) -> None:
    assert says in bad("fit", *arguments)


# score --------------------------------------------------------------------------------------------------------


def test_score_of_text_is_its_log_likelihood_and_perplexity(folder: Path) -> None:
    model = sf.read("chain.json")
    found = document("score", "chain.json", "text.txt")
    assert found["n"] == sum(map(len, LINES))
    assert found["log_likelihood"] == pytest.approx(float(model.log_prob(LINES).sum()), rel=1e-12)
    assert found["perplexity"] == pytest.approx(model.perplexity(LINES), rel=1e-12)
    assert found["mean_log_likelihood"] == pytest.approx(-math.log(found["perplexity"]), rel=1e-12)
    text = good("score", "chain.json", "text.txt")
    assert [line.split("  ")[0] for line in text.splitlines()] == [
        "symbols, with their weights", "log-likelihood", "mean log-likelihood of a symbol", "perplexity"
    ]  # fmt: skip


def test_score_reads_tables_as_the_chain_says(folder: Path) -> None:
    found = document("score", "rain.json", "rain.csv")
    wanted = sf.read("rain.json").log_prob([["yes", "no", "yes"], ["no", "yes", "no", "no"]])
    assert found["log_likelihood"] == pytest.approx(float(wanted.sum()), rel=1e-12)


@pytest.mark.parametrize(
    ("order", "learnt", "text", "log_likelihood", "perplexity"),
    [
        (0, ["ab"], "ab", 2 * math.log(0.5), 2.0),
        (1, ["abab"], "aa", "-inf", "inf"),  # impossible
        (1, ["ab", "a"], "abb", None, None),  # what follows b is not known
        (1, ["ab", "a"], "", 0.0, None),
    ],
)
def test_score_of_what_is_impossible_or_not_known(
    folder: Path, order: int, learnt: list[str], text: str, log_likelihood: Any, perplexity: Any
) -> None:
    sf.write(sf.fit(sf.MarkovChain(order, level="lines"), learnt, unseen_parents="nan").model, "model.json")
    (folder / "scored.txt").write_text(f"{text}\n")
    found = document("score", "model.json", "scored.txt")
    assert found["n"] == len(text)
    assert found["log_likelihood"] == (pytest.approx(log_likelihood) if text in ("ab", "") else log_likelihood)
    assert found["perplexity"] == (pytest.approx(2.0) if perplexity == 2.0 else perplexity)
    shown = good("score", "model.json", "scored.txt")
    assert ("not known: the data of the fit" in shown) == (log_likelihood is None)


def test_score_of_a_symbol_that_the_chain_does_not_know(folder: Path) -> None:
    (folder / "c.txt").write_text("abc\n")
    assert "'c' is not one of ['a', 'b']" in bad("score", "chain.json", "c.txt")


@pytest.mark.parametrize(("name", "n"), [("level", 39), ("pair", 30)])
def test_score_of_an_autoregression_is_its_log_density(folder: Path, name: str, n: int) -> None:
    found = document("score", f"{name}.json", f"{name}.csv")
    assert found["n"] == n
    assert found["sequences"] == (1 if name == "level" else 3)
    wanted = sf.fit(sf.read(f"{name}.json").structure, f"{name}.csv").log_likelihood
    assert found["log_likelihood"] == pytest.approx(wanted, rel=1e-9)
    assert f"{n}, given the first of each sequence" in good("score", f"{name}.json", f"{name}.csv")


def test_score_of_an_autoregression_that_knows_its_beginning_counts_all_values(folder: Path) -> None:
    (folder / "many.csv").write_text(
        "run,t,x\n" + "".join(f"{r},{t},{(r * 7 + t * 3) % 5}\n" for r in range(6) for t in range(4))
    )
    structure = sf.Autoregression(1, "x", id="run", time="t", initial="normal")
    fit = sf.fit(structure, "many.csv")
    sf.write(fit.model, "many.json")
    found = document("score", "many.json", "many.csv")
    assert found["n"] == 24
    assert found["log_likelihood"] == pytest.approx(fit.log_likelihood, rel=1e-9)
    assert "given the first" not in good("score", "many.json", "many.csv")


# sample -------------------------------------------------------------------------------------------------------


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_sequences_of_characters_are_lines_of_text(folder: Path) -> None:
    wanted = sf.read("chain.json").sample(3, 20, seed=1).texts()
    asked = ("sample", "chain.json", "-n", "3", "--length", "20", "--seed", "1")
    assert good(*asked).splitlines() == wanted
    assert document(*asked) == {"variable": "x", "sequences": [list(text) for text in wanted]}
    assert good(*asked, "--out", "drawn.txt") == "Wrote 3 sequences of 20 to drawn.txt\n"
    assert (folder / "drawn.txt").read_text().splitlines() == wanted
    good("fit", "chain.toml", "drawn.txt", "--prior", "k2")


def test_one_sequence_of_a_hundred_is_drawn_unless_said(folder: Path) -> None:
    (line,) = good("sample", "chain.json").splitlines()
    assert len(line) == 100
    assert len(table(good("sample", "level.json"))) == 100


def test_sequences_begin_as_they_are_told_to(folder: Path) -> None:
    lines = good("sample", "chain.json", "-n", "4", "--length", "9", "--start", "bba").splitlines()
    assert all(line.startswith("bba") for line in lines)
    (words,) = good("sample", "words.json", "--length", "6", "--start", "the dog").splitlines()
    assert words.startswith("the dog ")
    assert len(words.split()) == 6
    assert good("sample", "words.json", "--length", "2", "--start", "dog").startswith("dog ")
    assert "no state 'cow'" in bad("sample", "words.json", "--start", "cow")


def test_sequences_of_a_table_are_a_table_in_its_columns(folder: Path) -> None:
    asked = ("sample", "rain.json", "-n", "2", "--length", "4", "--seed", "7")
    rows = table(good(*asked))
    assert list(rows[0]) == ["site", "day", "rain"]
    assert [(row["site"], row["day"]) for row in rows] == [(str(i), str(t)) for i in (1, 2) for t in (1, 2, 3, 4)]
    wanted = [list(sequence) for sequence in sf.read("rain.json").sample(2, 4, seed=7)]
    assert [row["rain"] for row in rows] == [state for sequence in wanted for state in sequence]
    good(*asked, "--out", "rain2.csv")
    assert (folder / "rain2.csv").read_text() == good(*asked)
    assert list(sf.Sequences("rain2.csv", variable="rain", id="site", time="day")) == wanted
    good(*asked, "--out", "rain2.parquet")
    held = pq.read_table("rain2.parquet")
    assert held.to_pylist() == [{"site": int(r["site"]), "day": int(r["day"]), "rain": r["rain"]} for r in rows]
    good(*asked, "--out", "rain2.txt")
    assert (folder / "rain2.txt").read_text().splitlines() == [" ".join(sequence) for sequence in wanted]


def test_paths_of_an_autoregression_are_a_table(folder: Path) -> None:
    asked = ("sample", "pair.json", "-n", "2", "--length", "5", "--seed", "3")
    wanted = sf.read("pair.json").sample(2, 5, seed=3, backend="pyarrow").to_pylist()
    rows = [
        {"run": int(r["run"]), "t": int(r["t"]), "u": float(r["u"]), "v": float(r["v"])} for r in table(good(*asked))
    ]
    assert rows == wanted
    found = document(*asked)
    assert found["variables"] == ["u", "v"]
    np.testing.assert_array_equal(found["sequences"], sf.read("pair.json").sample_paths(2, 5, seed=3))
    good(*asked, "--out", "p.parquet")
    assert pq.read_table("p.parquet").to_pylist() == wanted
    good(*asked, "--out", "p.csv", "--json")
    assert document("score", "pair.json", "p.csv")["sequences"] == 2


def test_paths_go_on_from_a_table(folder: Path) -> None:
    model = sf.AutoregressiveModel(["level"], [0.0], [[[1.0]]], [[1e-12]])
    sf.write(model, "walk.json")
    assert "or sample with --start FILE." in bad("sample", "walk.json")
    (folder / "last.csv").write_text("level\n3\n7.5\n")
    rows = table(good("sample", "walk.json", "--length", "4", "--start", "last.csv"))
    assert [round(float(row["level"]), 3) for row in rows] == [7.5] * 4


def test_columns_of_a_table_keep_clear_of_the_variable(folder: Path) -> None:
    sf.write(sf.fit(sf.MarkovChain(1, "time"), [["yes", "no", "yes"]], prior=sf.K2()).model, "time.json")
    assert good("sample", "time.json", "--length", "1").splitlines()[0] == "sequence,time_,time"


def test_no_sequences_are_no_rows(folder: Path) -> None:
    assert good("sample", "rain.json", "-n", "0") == "site,day,rain\n"
    assert good("sample", "level.json", "-n", "0") == "sequence,time,level\n"
    assert document("sample", "chain.json", "-n", "0")["sequences"] == []
    assert good("sample", "chain.json", "-n", "0") == ""


def test_characters_that_a_terminal_would_obey_are_spelt_out_there(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a\x1b[31m\nb\t"
    assert drawn_sequences._shown(text) == text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert drawn_sequences._shown(text) == "a\\x1b[31m\nb\t"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chain.json", "--given", "x=a"], "which --start can give. Leave out --given"),
        (["chain.json", "--burn-in", "5"], "Leave out --burn-in"),
        (["level.json", "--method", "gibbs"], "Leave out --method"),
        (["chain.json", "-n", "-1"], "'n'"),
        (["chain.json", "--length", "-1"], "'length'"),
        (["chain.json", "--seed", "-1"], "--seed must be"),
        (["chain.json", "--out", "x.json"], "ends in .txt, .csv or .parquet. Got 'x.json'"),
        (["level.json", "--out", "x.txt"], "ends in .csv or .parquet. Got 'x.txt'"),
        (["pair.json", "--start", "level.csv"], "level.csv"),
    ],
)
def test_sample_refuses_with_the_reason_and_writes_nothing(folder: Path, arguments: list[str], says: str) -> None:
    before = {path.name for path in folder.iterdir()}
    assert says in bad("sample", *arguments)
    assert {path.name for path in folder.iterdir()} == before


# query --------------------------------------------------------------------------------------------------------


def test_next_symbol_is_asked_for_by_its_predecessors(folder: Path) -> None:
    wanted = sf.read("chain.json").transition("ba")
    asked = ("query", "chain.json", "x", "-g", "x[-2]=b", "-g", "x[-1]=a")
    assert good(*asked).rstrip("\n") == str(wanted) == good("query", "chain.json", *asked[3:]).rstrip("\n")
    assert document(*asked)["p"] == wanted.values.tolist()


def test_forecast_is_that_of_the_model(folder: Path) -> None:
    values = [float(line) for line in (folder / "level.csv").read_text().split()[1:]]
    wanted = sf.read("level.json").forecast(values, 3)
    asked = ("query", "level.json", "--history", "level.csv", "--steps", "3")
    assert good(*asked).rstrip("\n") == str(wanted)
    found = document(*asked)
    assert (found["variables"], found["steps"], found["level"]) == (["level"], 3, 0.95)
    for name, array in (("mean", wanted.mean), ("sd", wanted.sd), ("upper", wanted.interval()[1])):
        np.testing.assert_array_equal(found[name], array)
    assert document("query", "level.json", "--history", "level.csv")["steps"] == 1


def test_history_is_put_in_order_of_time(folder: Path) -> None:
    rows = [line for line in (folder / "pair.csv").read_text().splitlines()[1:] if line.startswith("2,")]
    (folder / "one.csv").write_text("\n".join(["run,t,u,v", *rows, ""]))
    inside = sorted((int(t), float(u), float(v)) for _, t, u, v in (row.split(",") for row in rows))
    assert [row[0] for row in inside] != [int(row.split(",")[1]) for row in rows]
    wanted = sf.read("pair.json").forecast([row[1:] for row in inside], 2)
    np.testing.assert_array_equal(
        document("query", "pair.json", "--history", "one.csv", "--steps", "2")["mean"], wanted.mean
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chain.json", "x", "-g", "x[-1]=a"], "'x[-2]' is not given"),
        (["chain.json", "y"], "its next symbol, 'x'"),
        (["chain.json", "x", "-g", "x[-1]=c", "-g", "x[-2]=a"], "'c'"),
        (["chain.json", "--map"], "leave --map out"),
        (["chain.json", "--method", "sampling"], "MODEL is a MarkovChainModel; leave out --method"),
        (["chain.json", "--history", "text.txt"], "for autoregressions"),
        (["level.json"], "--history FILE, and --steps"),
        (["level.json", "level", "--history", "level.csv"], "Leave out targets and evidence"),
        (["level.json", "-g", "level=3", "--history", "level.csv"], "Leave out targets and evidence"),
        (["level.json", "--history", "level.csv", "--steps", "0"], "'steps'"),
        (["pair.json", "--history", "pair.csv"], "holds 3 by its column 'run'. Keep the rows of one"),
        (["pair.json", "--history", "short.csv"], "at least 2 rows"),
    ],
)
def test_query_refuses_with_the_reason(folder: Path, arguments: list[str], says: str) -> None:
    (folder / "short.csv").write_text("run,t,u,v\n1,1,0.5,0.5\n")
    assert says in bad("query", *arguments)


# info ---------------------------------------------------------------------------------------------------------


FACTS = ["structure", "MarkovChain", "order", "1", "level", "words", "letters", "yes"]


def test_info_of_a_chain(folder: Path) -> None:
    assert document("info", "chain.json") == {
        "model": "MarkovChainModel", "order": 2, "variable": "x", "symbols": 2, "contexts": 4, "contexts known": 4,
        "irreducible": "yes", "period": 1, "tables": [],
    }  # fmt: skip
    planned = document("info", "chain.toml", "text.txt")
    assert (planned["symbols"], planned["contexts"]) == (2, 4)
    assert planned["free parameters"] == sf.fit(sf.MarkovChain(2, level="lines"), "text.txt").n_free
    assert good("info", "words.toml").split() == FACTS


def test_info_of_a_chain_that_falls_apart_or_is_not_known_everywhere(folder: Path) -> None:
    sf.write(sf.fit(sf.MarkovChain(1), ["aaa", "bbb"]).model, "apart.json")
    found = document("info", "apart.json")
    assert (found["irreducible"], found["classes"]) == ("no", 2)
    sf.write(sf.fit(sf.MarkovChain(1), ["abc"], unseen_parents="nan").model, "gap.json")
    assert document("info", "gap.json")["contexts known"] == 2
    sf.write(sf.fit(sf.MarkovChain(0), ["abc"]).model, "zero.json")
    assert document("info", "zero.json")["contexts"] == 1
    sf.write(sf.fit(sf.MarkovChain(1), ["abab"]).model, "two.json")
    assert document("info", "two.json")["period"] == 2


def test_info_of_a_chain_of_high_order_counts_contexts_without_listing_them(folder: Path) -> None:
    fit = sf.fit(sf.MarkovChain(9), ["".join(chr(97 + (i * i) % 23) for i in range(60))], prior=sf.K2())
    sf.write(fit.model, "deep.json")
    found = document("info", "deep.json")
    assert found["contexts"] == found["contexts known"] == fit.model.variable.n_states**9
    assert "irreducible" not in found


def test_info_of_an_autoregression(folder: Path) -> None:
    found = document("info", "pair.json")
    assert (found["order"], found["variables"], found["coefficients"]) == (2, "u, v", 8)
    assert found["stationary"] == "yes"
    planned = document("info", "pair.toml", "pair.csv")
    assert planned["free parameters"] == sf.fit(sf.read("pair.json").structure, "pair.csv").n_free
    assert planned["moments"] == "1 matrix of 6 columns"
    assert good("info", "level.toml").splitlines()[1:3] == ["order      1", "variables  level"]


def test_every_answer_about_sequences_is_one_json_document(folder: Path) -> None:
    for arguments in (("info", "rain.toml"), ("info", "rain.toml", "rain.csv"), ("info", "rain.json")):
        assert json.loads(good(*arguments, "--json"))


# The page -----------------------------------------------------------------------------------------------------

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sequences.md"


def shown(text: str) -> list[str]:
    """Return what is printed, word by word; of numbers 13 digits, since the last ones differ between processors."""
    words = re.split(r"[\s,]+", text.strip())
    return [f"{float(word):.13g}" if re.fullmatch(r"-?\d+\.\d{9,}", word) else word for word in words]


def test_commands_of_the_page_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(toml|text)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for content in [content for kind, content in blocks if kind == "toml"]:
        Path(content.split("\n", 1)[0].removeprefix("# ")).write_text(content)
    (session,) = [content for kind, content in blocks if kind == "text"]
    parts = [part.split("\n", 1) for part in ("\n" + session).split("\n$ ")[1:]]
    for command, expected in parts:
        program, *arguments = shlex.split(command)
        if program == "cat":  # a file that the page shows
            Path(arguments[0]).write_text(f"{expected.rstrip()}\n")
        else:
            assert shown(good(*arguments)) == shown(expected), command
    assert len(parts) > 8
