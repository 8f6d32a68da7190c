"""``suffice crf``: learning from text files, tagging, scoring, showing."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.terminal import ANSI, on_terminal
from tests.command_line import bad, document, good, run, run_process

import suffice as sf
from suffice.cli.crf_options import scheme_of
from suffice.data.window_templates import TUTORIAL, Templates
from suffice.io.chain_file import TextLayout, load_chain
from suffice.learn import chain

SENTENCES = [
    [("the", "DT", "B-NP"), ("cat", "NN", "I-NP"), ("sleeps", "VB", "B-VP"), (".", ".", "O")],
    [("a", "DT", "B-NP"), ("big", "JJ", "I-NP"), ("dog", "NN", "I-NP"), ("barks", "VB", "B-VP")],
    [("cats", "NN", "B-NP"), ("sleep", "VB", "B-VP"), (".", ".", "O")],
    [("stop", "VB", "B-VP")],
]
OTHERS = [[("the", "DT", "B-NP"), ("dog", "NN", "B-NP"), ("sleeps", "VB", "B-VP")], [("a", "DT", "B-NP")]]
TEMPLATE = "U0:%x[0,0]\nU1:%x[0,1]\nU2:%x[-1,1]/%x[0,1]\nB\n"
FIT = ("crf", "fit", "train.txt", "-t", "w.template", "-o", "m.crf", "--c2", "0.05")


def written(sentences: Any, between: str = " ", columns: Any = (0, 1, 2)) -> str:
    return "\n\n".join("\n".join(between.join(row[c] for c in columns) for row in own) for own in sentences) + "\n"


def inputs(sentences: Any) -> list[list[tuple[str, ...]]]:
    return [[row[:2] for row in own] for own in sentences]


def labels(sentences: Any) -> list[list[str]]:
    return [[row[2] for row in own] for own in sentences]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences, a template and models, made once."""
    made = tmp_path_factory.mktemp("made")
    (made / "train.txt").write_text(written(SENTENCES))
    (made / "test.txt").write_text(written(OTHERS))
    (made / "bare.txt").write_text(written(OTHERS, columns=(0, 1)))
    (made / "w.template").write_text(TEMPLATE)
    with contextlib.chdir(made):
        learn().save("python.crf")
        good(*FIT)
    return made


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a copy of what was made."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@functools.cache
def learn(kind: Any = sf.ChainCRF, template: Any = TEMPLATE, **params: Any) -> Any:
    return kind(**{"c2": 0.05, "templates": template, **params}).fit(inputs(SENTENCES), labels(SENTENCES))


# Learning -----------------------------------------------------------------------------------------------------


def test_fit_says_what_was_learnt_and_proven(folder: Path) -> None:
    text = good(*FIT, "--test", "test.txt")
    fit = learn().fit_
    loss = -fit.log_likelihood + 0.05 * float(fit.model.weights @ fit.model.weights)
    for part in (
        "model            conditional random field\n",
        "labels           4\n",
        f"weights          {fit.model.layout.size}\n",
        "data             4 sentences, 12 tokens\n",
        "penalty          0.05 ‖w‖²\n",
        f"loss             {loss:,.4f} after",
        "✓ Certified: posterior mode",
        "Scores on test\n",
        "Spans by type\n",
        "Wrote the model to m.crf\n",
    ):
        assert part in text


SETTINGS: dict[str, tuple[list[str], Any, dict[str, Any]]] = {
    "crf": ([], sf.ChainCRF, {}),
    "memm": (["--model", "memm"], sf.MEMM, {}),
    "penalties": (["--c1", "0.2", "--c2", "0.3"], sf.ChainCRF, {"c1": 0.2, "c2": 0.3}),
    "features": (["--states", "all", "--transitions", "observed", "--boundaries", "--min-freq", "2"], sf.ChainCRF,
                 {"states": "all", "transitions": "observed", "boundaries": True, "min_freq": 2}),
    "hashed": (["--hash", "64"], sf.ChainCRF, {"n_buckets": 64}),
    "windows": (["--boundary", "omit", "--ends"], sf.ChainCRF,
                {"templates": Templates.parse(TEMPLATE, boundary="omit", ends=True)}),
    "tutorial": (["-t", "tutorial"], sf.ChainCRF, {"templates": TUTORIAL}),
    "search": (["--method", "lbfgs", "--tol", "1e-4", "--max-iter", "500", "--threads", "1"], sf.ChainCRF,
               {"tol": 1e-4}),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_options_are_those_of_the_shells(folder: Path, name: str) -> None:
    options, kind, params = SETTINGS[name]
    found = document(*FIT, *options)
    wanted = learn(kind, **params)
    assert found["log_likelihood"] == pytest.approx(wanted.fit_.log_likelihood, rel=1e-12)
    assert (found["n_weights"], found["n_attributes"]) == (
        wanted.model_.layout.size,
        len(wanted.model_.structure.vocabulary),
    )
    assert found["certificate"]["ok"] is True
    assert found["labels"] == wanted.classes_.tolist()
    assert (found["n_sentences"], found["n_tokens"], found["out"]) == (4, 12, "m.crf")
    loaded = sf.ChainCRF.load("m.crf")
    assert type(loaded) is kind
    assert loaded.predict(inputs(OTHERS)) == wanted.predict(inputs(OTHERS))


def test_columns_may_be_in_another_order_and_apart_by_tabs(folder: Path) -> None:
    (folder / "tabs.txt").write_text(written(SENTENCES, "\t", (2, 0, 1)))
    found = document("crf", "fit", "tabs.txt", *FIT[3:], "--separator", "tab", "--label-column", "0")
    assert found["log_likelihood"] == pytest.approx(learn().fit_.log_likelihood, rel=1e-12)
    assert load_chain("m.crf").layout == TextLayout("columns", 2, 0, "\t")
    (folder / "o.txt").write_text(written(OTHERS, "\t", (2, 0, 1)))
    first = good("crf", "tag", "m.crf", "o.txt").splitlines()[0]
    assert first == "B-NP\tthe\tDT\tB-NP"


def test_held_out_sentences_stop_learning_and_that_is_no_failure(folder: Path) -> None:
    text = good(*FIT, "--c2", "0", "--dev", "test.txt", "--patience", "2")
    assert "Stopped early" in text
    assert "✗" not in text
    assert "Scores on dev\n" in text
    assert "Stopped early" in good("crf", "show", "m.crf")


def test_an_optimum_that_is_given_up_for_held_out_sentences_is_no_failure(folder: Path) -> None:
    text = good(*FIT, "--c2", "0.001", "--dev", "test.txt", "--patience", "10000")
    assert "The weights are those with which the loss of what was held out was least" in text
    assert "– Not certified" in text
    assert "✗" not in text
    assert "– Not certified" in good("crf", "show", "m.crf")


def test_uncertified_fits_are_written_and_told_by_the_exit_code(folder: Path) -> None:
    os.remove("m.crf")
    done = run(*FIT, "--max-iter", "1")
    assert done.exit_code == 1
    assert done.stderr == ""
    assert "✗ Not certified" in done.stdout
    said = " ".join(done.stdout.split())
    assert "Not converged after 1 step: The steps ended before the gradient was small enough" in said
    assert "allow more by --max-iter." in said
    assert "warm_start" not in said
    assert sf.ChainCRF.load("m.crf").predict(inputs(OTHERS))


def test_interrupt_keeps_the_weights_so_far(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(chain.Follower):
        n_points = 0

        def at(self, weights: Any, value: float) -> None:
            super().at(weights, value)
            self.n_points += 1
            if self.n_points == 3:
                os.kill(os.getpid(), signal.SIGINT)

    os.remove("m.crf")
    monkeypatch.setattr(chain, "Follower", Interrupted)
    done = run(*FIT)
    assert done.exit_code == 1
    assert "the method was interrupted" in " ".join(done.stdout.split())
    assert "Interrupted: this is the best point so far" in done.stdout
    assert "Wrote the model to m.crf" in done.stdout
    proof = load_chain("m.crf").proof
    assert proof is not None
    assert not proof.ok


def test_attributes_are_read_as_crfsuite_writes_them(folder: Path) -> None:
    lines = ["@weight:2", "D\tw=the", "N\tw=cat\tn:0.5", "", "D\tw=a\ta\\:b", "N\tw=dog", "V\tw=barks"]
    (folder / "a.txt").write_text("\n".join(lines) + "\n")
    found = document("crf", "fit", "a.txt", "--attributes", "-o", "a.crf")
    x = [[["w=the"], {"w=cat": 1, "n": 0.5}], [["w=a", "a:b"], ["w=dog"], ["w=barks"]]]
    wanted = sf.ChainCRF().fit(x, [["D", "N"], ["D", "N", "V"]], [2, 1])
    assert found["log_likelihood"] == pytest.approx(wanted.fit_.log_likelihood, rel=1e-12)
    assert good("crf", "tag", "a.crf", "a.txt") == "D\tD\nN\tN\n\nD\tD\nN\tN\nV\tV\n"
    assert document("crf", "eval", "a.crf", "a.txt")["accuracy"] == 1.0
    (folder / "b.txt").write_text("\tw=a\n\tw=dog\n")
    assert good("crf", "tag", "a.crf", "b.txt") == "D\nN\n"
    assert "no labels to compare with" in bad("crf", "eval", "a.crf", "b.txt")
    assert "has no labels" in bad("crf", "fit", "b.txt", "--attributes", "-o", "b.crf")


# Tagging ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["test.txt", "bare.txt"])
def test_tagged_lines_are_the_lines_and_the_label(folder: Path, file: str) -> None:
    found = learn().predict(inputs(OTHERS))
    n = 3 if file == "test.txt" else 2
    wanted = [[(*row[:n], label) for row, label in zip(*pair, strict=True)] for pair in zip(OTHERS, found, strict=True)]
    text = good("crf", "tag", "m.crf", file)
    assert text == "\n".join("".join(" ".join(row) + "\n" for row in own) for own in wanted)
    done = run("crf", "tag", "m.crf", file, "--out", "out.txt")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "Wrote 2 sentences, 4 tokens to out.txt\n"
    assert (folder / "out.txt").read_text() == text


def test_scores_are_probabilities_of_whole_labellings(folder: Path) -> None:
    text = good("crf", "tag", "m.crf", "bare.txt", "--score")
    wanted = [own[0][1] for own in learn().n_best(inputs(OTHERS), 1)]
    found = [float(line.split()[1]) for line in text.splitlines() if line.startswith("# ")]
    np.testing.assert_allclose(found, np.exp(wanted), rtol=1e-5)
    assert text.startswith("# ")


def test_several_labellings_come_in_order_and_no_more_than_there_are(folder: Path) -> None:
    text = good("crf", "tag", "m.crf", "bare.txt", "--n-best", "6")
    blocks = [block.splitlines() for block in text.rstrip("\n").split("\n\n")]
    wanted = learn().n_best(inputs(OTHERS), 6)
    assert len(blocks) == 6 + 4
    for block, (rank, (path, score)) in zip(blocks, [pair for own in wanted for pair in enumerate(own)], strict=True):
        sign, number, p = block[0].split()
        assert (sign, int(number)) == ("#", rank)
        assert float(p) == pytest.approx(np.exp(score), rel=1e-5)
        assert [line.split()[-1] for line in block[1:]] == path


def test_marginals_follow_the_label(folder: Path) -> None:
    lines = [line for line in good("crf", "tag", "m.crf", "bare.txt", "--marginals").splitlines() if line]
    wanted = [row for own in learn().predict_marginals(inputs(OTHERS)) for row in own]
    assert len(wanted) == 4
    for line, row in zip(lines, wanted, strict=True):
        found = dict(field.rsplit("/", 1) for field in line.split()[3:])
        assert list(found) == list(row)
        np.testing.assert_allclose([float(p) for p in found.values()], list(row.values()), atol=1e-6)


def test_tags_as_json(folder: Path) -> None:
    tagger = learn()
    found = document("crf", "tag", "m.crf", "bare.txt", "--score", "--marginals")
    assert found["labels"] == tagger.classes_.tolist()
    assert [own["labels"] for own in found["sentences"]] == tagger.predict(inputs(OTHERS))
    np.testing.assert_allclose(found["sentences"][0]["marginals"], tagger.predict_proba(inputs(OTHERS))[0], rtol=1e-9)
    two = document("crf", "tag", "m.crf", "bare.txt", "--n-best", "2")["sentences"][0]["n_best"]
    assert two[0]["log_probability"] > two[1]["log_probability"]


def test_texts_without_tokens_have_no_tags(folder: Path) -> None:
    (folder / "empty.txt").write_text("\n\n")
    assert good("crf", "tag", "m.crf", "empty.txt") == "\n\n"
    assert document("crf", "tag", "m.crf", "empty.txt")["sentences"] == []
    for eval_of in (["empty.txt"], ["m.crf", "empty.txt"]):
        assert "'empty.txt' has no tokens, so that there is nothing to compare" in bad("crf", "eval", *eval_of)
    assert "nothing to learn from" in bad("crf", "fit", "empty.txt", *FIT[3:])


def test_a_model_without_any_weight_tags_all_the_same(folder: Path) -> None:
    assert run(*FIT, "--max-iter", "0").exit_code == 1
    assert good("crf", "tag", "m.crf", "bare.txt").count("\n") == 5
    assert "0 of 0 weights" in good("crf", "show", "m.crf")


# Scoring and showing ------------------------------------------------------------------------------------------


def test_scores_are_the_same_by_the_model_and_from_its_tags(folder: Path) -> None:
    wanted = learn().evaluate(inputs(OTHERS), labels(OTHERS))
    found = document("crf", "eval", "m.crf", "test.txt")
    assert found == json.loads(json.dumps(wanted.to_dict()))
    run("crf", "tag", "m.crf", "test.txt", "--out", "tagged.txt")
    assert document("crf", "eval", "tagged.txt") == found
    assert good("crf", "eval", "tagged.txt").rstrip("\n") == str(wanted)


def test_tags_without_spans_are_counted_one_by_one(folder: Path) -> None:
    (folder / "pos.txt").write_text("DT DT\nNN VB\n\nVB VB\n")
    found = document("crf", "eval", "pos.txt")
    assert (found["scheme"], found["n_tokens_right"]) == ("none", 2)
    assert "Tokens by tag" in good("crf", "eval", "pos.txt")
    assert "--scheme none" in bad("crf", "eval", "pos.txt", "--scheme", "conll")


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [(["O", "B-NP"], "conll"), (["B", "I", "O"], "conll"), (["S-X", "E-X"], "conll"), (["O"], "conll"),
     (["DT", "NN"], "none"), (["B-NP", "X"], "none"), (["B", "I"], "none"), ([], "none"), (["B-NP", ""], "none")],
)  # fmt: skip
def test_scheme_of_tags(tags: list[str], scheme: str) -> None:
    assert scheme_of("auto", tags) == scheme
    assert scheme_of("iob2", tags) == "iob2"


def test_show_lists_the_largest_weights(folder: Path) -> None:
    tagger = learn()
    text = good("crf", "show", "m.crf", "-n", "2")
    assert "✓ Certified" in text
    for line in str(tagger.top_transitions(2)).splitlines():
        assert line in text
    found = document("crf", "show", "m.crf", "-n", "3", "--label", "B-VP")
    assert found["features"]["weights"] == tagger.top_features(3, label="B-VP").to_dict()["weights"]
    assert found["certificate"]["ok"] is True
    assert found["params"]["templates"] == TEMPLATE
    message = bad("crf", "show", "m.crf", "--label", "Q")
    assert "The model has no label 'Q'. Its labels are 'B-NP', 'B-VP', 'I-NP', 'O'." in message


def test_models_that_were_saved_in_python_are_shown(folder: Path) -> None:
    sf.ChainCRF(step_features="all").fit([[["a"], ["b"]]], [[1, 2]]).save("p.crf")
    assert "Largest weights of features of steps" in good("crf", "show", "p.crf")
    assert document("crf", "show", "p.crf", "--label", "1")["labels"] == [1, 2]
    assert "was not learnt from a file" in bad("crf", "tag", "p.crf", "bare.txt")


def test_other_commands_know_what_such_a_model_is(folder: Path) -> None:
    assert "conditional random field" in good("info", "m.crf")
    assert document("info", "m.crf")["labels"] == "4"
    for command in (["query", "m.crf", "label"], ["score", "m.crf", "train.txt"], ["sample", "m.crf"]):
        assert "suffice crf tag" in bad(*command)
    assert "holds such models" in run("convert", "m.crf", "x.json").stderr


# Errors -------------------------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "no template": (["fit", "train.txt", "-o", "x.crf"], ("--template", "U0:%x[0,0]", "tutorial", "--attributes")),
    "no such file": (["fit", "absent.txt", "-t", "tutorial", "-o", "x.crf"], ("Cannot read 'absent.txt'",)),
    "no such template": (["fit", "train.txt", "-t", "absent", "-o", "x.crf"], ("Cannot read 'absent'",)),
    "template and attributes": (["fit", "train.txt", "-t", "tutorial", "--attributes", "-o", "x.crf"],
                                ("Leave --template out",)),
    "boundary and attributes": (["fit", "train.txt", "--boundary", "omit", "--attributes", "-o", "x.crf"],
                                ("Leave --boundary out",)),
    "template of a column that is not there": (["fit", "train.txt", "-t", "wide.template", "-o", "x.crf"],
                                               ("'U0:%x[0,5]'", "column 5", "2 columns")),
    "template of nothing": (["fit", "train.txt", "-t", "train.txt", "-o", "x.crf"], ("line 1", "neither U nor B")),
    "template in no UTF-8": (["fit", "train.txt", "-t", "latin.txt", "-o", "x.crf"], ("'latin.txt'", "UTF-8")),
    "text in no UTF-8": (["fit", "latin.txt", "-t", "w.template", "-o", "x.crf"], ("line 1", "--encoding latin-1")),
    "ragged": (["fit", "ragged.txt", "-t", "w.template", "-o", "x.crf"], ("line 2", "2 columns", "--separator tab")),
    "one column": (["fit", "words.txt", "-t", "w.template", "-o", "x.crf"], ("one column", "--separator")),
    "empty label": (["fit", "gap.txt", "-t", "w.template", "-o", "x.crf", "--separator", "tab"],
                    ("'gap.txt', sentence 1: token 2 has no label",)),
    "label column": ([*FIT[1:], "--label-column", "3"], ("--label-column", "0 to 2")),
    "ending": (["fit", "train.txt", "-t", "tutorial", "-o", "x.json"], (".crf", "'x.json'")),
    "folder that is not there": (["fit", "train.txt", "-t", "tutorial", "-o", "no/x.crf"], ("'no/x.crf'", "'no'")),
    "penalty": ([*FIT[1:], "--c2", "-1"], ("--c2", "at least 0", "-1.0")),
    "model": ([*FIT[1:], "--model", "hmm"], ("--model", "'memm'", "'hmm'")),
    "states": ([*FIT[1:], "--states", "some"], ("--states", "'observed'")),
    "threads": ([*FIT[1:], "--threads", "0"], ("--threads", "at least 1")),
    "no separator": ([*FIT[1:], "--separator", ""], ("--separator", "tab")),
    "dev of other columns": ([*FIT[1:], "--dev", "words.txt"], ("'words.txt' has 1 column", "learnt from 2")),
    "dev without labels": ([*FIT[1:], "--dev", "bare.txt"], ("'bare.txt'", "no labels")),
    "dev of other labels": ([*FIT[1:], "--dev", "other.txt"], ("'X-Q'", "not one of")),
    "tag of other columns": (["tag", "m.crf", "words.txt"], ("1 column,", "learnt from 2")),
    "tag by no model": (["tag", "train.txt", "train.txt"], ("'train.txt'", "not a model that suffice crf fit wrote")),
    "tag over the file": (["tag", "m.crf", "bare.txt", "--out", "bare.txt"], ("--out", "read as FILE")),
    "none best": (["tag", "m.crf", "bare.txt", "--n-best", "0"], ("--n-best", "at least 1")),
    "marginals of labellings": (["tag", "m.crf", "bare.txt", "--n-best", "2", "--marginals"], ("Leave out --n-best",)),
    "tagger without a layout": (["tag", "python.crf", "bare.txt"], ("was not learnt from a file", "crf fit")),
    "eval of a model alone": (["eval", "m.crf"], ("'m.crf' is a model", "MODEL FILE")),
    "eval without labels": (["eval", "m.crf", "bare.txt"], ("no labels to compare with",)),
    "eval of one column": (["eval", "words.txt"], ("one column", "last two")),
    "scheme": (["eval", "test.txt", "--scheme", "bio"], ("--scheme", "'auto'", "'bio'")),
    "nothing to show": (["show", "m.crf", "-n", "0"], ("option -n", "at least 1")),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong_and_write_nothing(folder: Path, name: str) -> None:
    (folder / "wide.template").write_text("U0:%x[0,5]\n")
    (folder / "latin.txt").write_bytes("Größe NN B-NP\n".encode("latin-1"))
    (folder / "ragged.txt").write_text("the DT B-NP\ncat NN\n")
    (folder / "words.txt").write_text("the\ncat\n")
    (folder / "gap.txt").write_text("the\tDT\tB-NP\ncat\tNN\t\n")
    (folder / "other.txt").write_text("the DT X-Q\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    arguments, parts = ERRORS[name]
    message = bad("crf", *arguments)
    for part in parts:
        assert part in message
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_encodings_other_than_utf8(folder: Path) -> None:
    (folder / "l.txt").write_bytes("Größe NN B-NP\nist VB B-VP\n".encode("latin-1"))
    good("crf", "fit", "l.txt", *FIT[3:], "--encoding", "latin-1")
    assert good("crf", "tag", "m.crf", "l.txt", "--encoding", "latin-1").startswith("Größe NN B-NP B-NP\n")


# As people meet it --------------------------------------------------------------------------------------------


def test_a_terminal_shows_a_bar_and_colours(folder: Path) -> None:
    shown = on_terminal(*FIT, "--test", "test.txt", columns=100)
    assert shown.exit_code == 0
    assert "L-BFGS" in ANSI.sub("", shown.stderr)
    assert "loss" in ANSI.sub("", shown.stderr)
    plain = ANSI.sub("", shown.stdout)
    assert "✓ Certified" in plain
    assert "Spans by type" in plain
    assert all(len(line) <= 100 for line in plain.splitlines())


@pytest.mark.slow
def test_tags_go_through_a_pipe(folder: Path) -> None:
    done = run_process("crf", "tag", "m.crf", "bare.txt", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].startswith("the DT ")
