"""``suffice crf``: lines as they were, standard input, comments, files that were mistaken, and what people see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.terminal import ANSI, on_terminal
from tests.cli.test_crf import FIT, OTHERS, TEMPLATE, folder, inputs, learn, made
from tests.command_line import bad, document, good, run

from suffice.cli.crf_report import LearningBar
from suffice.cli.crf_tagged import Tagged, best_alone
from suffice.progress import Bar

__all__ = ["folder", "made"]
KEPT = "\n\nthe   DT\ndog\tNN \n# of another kind\nsleeps VB\n \n\na DT\n\n"


def given_input(text: str | bytes, *arguments: str) -> Any:
    return run("crf", *arguments, input=text)


# Lines --------------------------------------------------------------------------------------------------------


def test_lines_stay_as_they_are(folder: Path) -> None:
    (folder / "kept.txt").write_text(KEPT)
    found = learn().predict(inputs(OTHERS))
    text = good("crf", "tag", "m.crf", "kept.txt", "--comment", "# of")
    (a, b, c), (d,) = found
    assert text == f"\n\nthe   DT {a}\ndog\tNN\t{b}\n# of another kind\nsleeps VB {c}\n \n\na DT {d}\n\n"
    several = good("crf", "tag", "m.crf", "kept.txt", "--comment", "# of", "--n-best", "2").splitlines()
    assert several[:2] == ["", ""]
    assert several[2].startswith("# 0 ")
    assert several[6] == f"sleeps VB {c}"
    assert several[7] == ""
    assert several[8].startswith("# 1 ")
    assert several.count("# of another kind") == 2


def test_a_text_without_an_end_of_line_gets_one(folder: Path) -> None:
    (folder / "cut.txt").write_text("the DT\ncat NN")
    assert good("crf", "tag", "m.crf", "cut.txt") == "the DT B-NP\ncat NN I-NP\n"


LINES = st.lists(st.sampled_from(["", " ", "a D", "b\tN", "c  V"]), max_size=12)


@given(lines=LINES, n=st.integers(1, 3), is_ranked=st.booleans())
def test_what_is_written_can_be_read_back(lines: list[str], n: int, is_ranked: bool) -> None:
    """Without the labels the lines of the best labelling are the lines; marks and other labellings are found again."""
    tokens = [number for number, line in enumerate(lines, 1) if line.strip()]
    runs: list[int] = []
    for place, number in enumerate(tokens):
        if place and tokens[place - 1] == number - 1:
            runs[-1] += 1
        else:
            runs.append(1)
    ranks = n if is_ranked else 1
    answers: Any = [[([f"L{rank}"] * length, -1.0 - rank) for rank in range(ranks)] for length in runs]
    found = list(Tagged(lines, tokens, runs, answers, is_ranked, [], None).lines(None))
    best = [line for line in best_alone(found, None) if line.strip()]
    assert best == [line + ("\t" if "\t" in line else " ") + "L0" for line in lines if line.strip()]
    if ranks == 1:
        assert [line for line in found if not line.startswith("# ")] == [
            line if not line.strip() else line + ("\t" if "\t" in line else " ") + "L0" for line in lines
        ]


@pytest.mark.parametrize("options", [["--score"], ["--n-best", "3"], ["--score", "--n-best", "1"]])
def test_tagged_files_with_probabilities_are_scored_as_those_without(folder: Path, options: list[str]) -> None:
    run("crf", "tag", "m.crf", "test.txt", "--out", "tagged.txt", *options)
    assert (folder / "tagged.txt").read_text().startswith("# ")
    assert document("crf", "eval", "tagged.txt") == document("crf", "eval", "m.crf", "test.txt")


def test_a_token_may_be_a_hash_with_numbers_behind_it(folder: Path) -> None:
    (folder / "hash.txt").write_text("# 1 1\na 0 1\n\nb 0 0\n")
    assert document("crf", "eval", "hash.txt")["n_tokens"] == 3
    (folder / "hash.txt").write_text("# 1 1\n\n# 0 1\n")
    assert document("crf", "eval", "hash.txt")["n_tokens"] == 2


def test_probabilities_of_labels_are_not_taken_for_labels(folder: Path) -> None:
    run("crf", "tag", "m.crf", "test.txt", "--out", "tagged.txt", "--marginals")
    assert "without --marginals" in bad("crf", "eval", "tagged.txt")


# Standard input, comments and odd lines -----------------------------------------------------------------------


def test_standard_input_is_read_like_a_file(folder: Path) -> None:
    bare, labelled = (folder / "bare.txt").read_text(), (folder / "test.txt").read_text()
    for options in ([], ["--n-best", "2"], ["--json"]):
        found = given_input(bare, "tag", "m.crf", "-", *options)
        assert (found.exit_code, found.stdout) == (0, good("crf", "tag", "m.crf", "bare.txt", *options))
    assert given_input(bare.replace("\n", "\r\n"), "tag", "m.crf", "-").stdout == good(
        "crf", "tag", "m.crf", "bare.txt"
    )
    assert given_input(labelled, "eval", "m.crf", "-").stdout == good("crf", "eval", "m.crf", "test.txt")
    tagged = good("crf", "tag", "m.crf", "test.txt")
    assert given_input(tagged, "eval", "-").stdout == good("crf", "eval", "m.crf", "test.txt")
    assert given_input("", "tag", "m.crf", "-").stdout == ""


@pytest.mark.parametrize(
    ("text", "arguments", "parts"),
    [
        ("the DT\ncat\nthe DT\n", ["tag", "m.crf", "-"], ("Standard input, line 2", "1 column", "2 lines have 2")),
        ("the\n", ["tag", "m.crf", "-"], ("Standard input has 1 column",)),
        ("\n", ["eval", "-"], ("Standard input has no tokens",)),
        ("Größe DT\n".encode("latin-1"), ["tag", "m.crf", "-"], ("Standard input, line 1", "--encoding latin-1")),
        ("the DT\n", ["tag", "m.crf", "-", "--encoding", "utf-99"], ("--encoding", "'utf-99'")),
        ("D\tw:x\n", ["fit", "-", "--attributes", "-o", "x.crf"], ("Standard input, line 1", "no finite number")),
    ],
)
def test_errors_of_standard_input(folder: Path, text: Any, arguments: list[str], parts: tuple[str, ...]) -> None:
    found = given_input(text, *arguments)
    assert found.exit_code == 2
    for part in parts:
        assert part in found.stderr


def test_comments_are_left_out(folder: Path) -> None:
    text = "-DOCSTART- -X- O\n\n" + (folder / "train.txt").read_text()
    (folder / "doc.txt").write_text(text)
    found = document("crf", "fit", "doc.txt", *FIT[3:], "--comment", "-DOCSTART-")
    assert found["log_likelihood"] == pytest.approx(learn().fit_.log_likelihood, rel=1e-12)
    scores = document("crf", "eval", "m.crf", "doc.txt", "--comment", "-DOCSTART-")
    assert scores == document("crf", "eval", "m.crf", "train.txt")
    assert good("crf", "tag", "m.crf", "doc.txt", "--comment", "-DOCSTART-").startswith("-DOCSTART- -X- O\n\nthe")


ODD: dict[str, tuple[str, tuple[str, ...]]] = {
    "first line": ("-DOCSTART-\n\nthe DT B-NP\ncat NN I-NP\n", ("line 1:", "1 column", "--comment '-DOCSTART-'")),
    "comment": ("the DT B-NP\ncat NN I-NP\n\n# a remark of four\n", ("line 4:", "5 columns", "--comment '#'")),
    "one short": ("the DT\ncat NN I-NP\nsat VB B-VP\n", ("line 1:", "2 columns", "2 lines have 3", "--separator tab")),
    "blank inside a token": ("10\u00a0000 CD B-NP\nthe DT\ncat NN I-NP\n", ("line 2:", "2 lines have 3")),
}


@pytest.mark.parametrize("name", ODD)
def test_the_line_that_differs_from_most_is_named(folder: Path, name: str) -> None:
    text, parts = ODD[name]
    (folder / "odd.txt").write_text(text, encoding="utf-8")
    message = bad("crf", "eval", "m.crf", "odd.txt")
    for part in ("'odd.txt'", *parts):
        assert part in message
    assert message == bad("crf", "eval", "odd.txt")


# Files and options that were mistaken -------------------------------------------------------------------------

MISTAKEN: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "swapped": (["tag", "train.txt", "m.crf"], ("'train.txt' is not a model", "'m.crf' looks like one", "first")),
    "swapped in eval": (["eval", "train.txt", "m.crf"], ("'m.crf' looks like one",)),
    "model twice": (["tag", "m.crf", "m.crf"], ("'m.crf' is a model, where text is needed",)),
    "model of another name": (["eval", "model"], ("'model' is a model", "MODEL FILE")),
    "CRFsuite's": (["show", "suite.crf"], ("'suite.crf'", "one of CRFsuite", "--attributes")),
    "no such model": (["show", "absent.crf"], ("Cannot read 'absent.crf'",)),
    "columns as attributes": (["fit", "train.txt", "--attributes", "-o", "x.crf"],
                              ("'train.txt' has no attributes", "tabulator", "--template")),
    "line of a template": (["fit", "train.txt", "-t", "bad.template", "-o", "x.crf"],
                           ("template file 'bad.template', line 2", "neither U nor B")),
    "template of nothing": (["fit", "train.txt", "-t", "no.template", "-o", "x.crf"],
                            ("template file 'no.template' has no line",)),
    "template of a column that is not there": (["fit", "train.txt", "-t", "wide.template", "-o", "x.crf"],
                                               ("template file 'wide.template': 'U0:%x[0,5]' asks for column 5",)),
    "empty comment": (["tag", "m.crf", "bare.txt", "--comment", ""], ("--comment", "'#'")),
    "comment of attributes": (["fit", "train.txt", "--attributes", "-o", "x.crf", "--comment", "#"],
                              ("Leave --comment out",)),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKEN)
def test_mistakes_are_named(folder: Path, name: str) -> None:
    (folder / "suite.crf").write_bytes(b"lCRF\x00\x01\x02")
    (folder / "model").write_bytes((folder / "m.crf").read_bytes())
    (folder / "bad.template").write_text("U0:%x[0,0]\nX1\n")
    (folder / "no.template").write_text("# nothing\n")
    (folder / "wide.template").write_text("U0:%x[0,5]\n")
    arguments, parts = MISTAKEN[name]
    message = bad("crf", *arguments)
    for part in parts:
        assert part in message
    assert not (folder / "x.crf").exists()


def test_a_file_without_a_known_attribute_is_warned_of(folder: Path) -> None:
    (folder / "a.txt").write_text("D\tw=the\nN\tw=cat\n")
    good("crf", "fit", "a.txt", "--attributes", "-o", "a.crf")
    assert run("crf", "tag", "a.crf", "a.txt").stderr == ""
    for text, part in (("the DT\n", "'b.txt' has none"), ("D\tword=the\n", "those of 'b.txt' are such as 'word=the'")):
        (folder / "b.txt").write_text(text)
        done = run("crf", "tag", "a.crf", "b.txt")
        assert done.exit_code == 0
        assert done.stderr.startswith("warning: The model knows attributes such as 'w=the'; ")
        assert part in done.stderr
        assert done.stderr.count("warning") == 1


def test_warnings_of_columns_name_the_file(folder: Path) -> None:
    (folder / "far.txt").write_text("zz QQ B-NP\nyy WW O\n")
    for command in (["tag", "m.crf", "far.txt"], ["eval", "m.crf", "far.txt"], [*FIT[1:], "--test", "far.txt"]):
        done = run("crf", *command)
        assert done.exit_code == 0
        assert done.stderr.startswith("warning: Not one attribute of 'far.txt' is known to the model")
        assert "'far.txt' has names such as 'U0:zz'" in done.stderr
    assert run("crf", "tag", "m.crf", "bare.txt").stderr == ""


# What people and programs see ---------------------------------------------------------------------------------


def test_fit_and_show_call_the_same_things_the_same(folder: Path) -> None:
    fitted, shown = document(*FIT, "--c1", "0.01"), document("crf", "show", "m.crf")
    assert (fitted["c1"], fitted["c2"], fitted["penalty"]) == (0.01, 0.05, "0.01 ‖w‖₁ + 0.05 ‖w‖²")
    for name in ("model", "labels", "c1", "c2", "penalty", "log_likelihood", "notes"):
        assert shown[name] == fitted[name]
    assert shown["certificate"].items() <= fitted["certificate"].items()
    assert "proof" not in shown
    assert document(*FIT, "--c2", "0")["penalty"] == "none"


def test_templates_are_shown_whatever_they_were_made_of(folder: Path) -> None:
    assert document("crf", "show", "m.crf")["params"]["templates"] == TEMPLATE
    assert json.loads(good("crf", "show", "python.crf", "--json"))["params"]["templates"] == TEMPLATE


def test_a_terminal_breaks_lines_as_a_pipe_does(folder: Path) -> None:
    lines = ANSI.sub("", on_terminal("crf", "show", "m.crf", columns=60).stdout).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("✓ Certified"))
    assert lines[at + 1].startswith("  ")
    assert lines[at + 1].strip()
    assert all(len(line.rstrip()) <= 60 for line in lines)
    wide = ANSI.sub("", on_terminal("crf", "show", "m.crf", columns=140).stdout)
    verdict = [line for line in good("crf", "show", "m.crf").splitlines() if line.startswith(("✓", "  "))]
    assert verdict
    assert verdict == [line.rstrip() for line in wide.splitlines() if line.startswith(("✓", "  ")) and line.strip()]


def test_the_bar_says_what_sentences_are_read_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str]] = []
    monkeypatch.setattr(Bar, "begin", lambda self, label, total, unit: seen.append((label, unit)))
    monkeypatch.setattr(Bar, "update", lambda self, done, info: None)
    monkeypatch.setattr(Bar, "end", lambda self: None)
    learn(progress=LearningBar())
    labels, units = zip(*seen, strict=True)
    assert not any("reading" in label for label in labels)
    assert "rows" not in units
    assert labels[0] == "counting features"
    assert ("proving", "positions") in seen


def test_help_names_the_exit_codes(folder: Path) -> None:
    text = " ".join(good("crf", "--help").split())
    assert "1 when a fit could not be certified" in text
    assert "130 after Ctrl-C" in text
