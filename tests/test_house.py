"""What holds of the source as a whole."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import suffice

SOURCE = Path(suffice.__file__).parent


def test_no_class_name_is_used_for_two_things() -> None:
    files = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(str(path.relative_to(SOURCE)))
    assert len(files) > 700
    assert {name: of for name, of in files.items() if len(of) > 1} == {}


# Decisions on text ----------------------------------------------------------------------------------------------

SEARCHES = {"startswith", "endswith", "partition", "rpartition", "split", "splitlines", "find", "removeprefix",
            "removesuffix", "match", "search", "fullmatch", "sub"}  # fmt: skip
TEXTS = {"message", "verdict", "reason", "remark", "remarks", "claim", "note", "notes"}
"""Names of attributes and variables that hold sentences for people."""
READ_ON_PURPOSE = {
    ("data/readers/batches.py", "_lazy_frame"): "Polars has no code for an error; its first line is quoted",
    ("data/readers/batches.py", "safely"): "Arrow and DuckDB have no code for an error; its first line is quoted",
    ("data/readers/csv_file.py", "__exit__"): "Arrow tells refused rows and wrong encodings by the message alone",
    ("data/readers/frames.py", "mixed_types"): "Arrow has no code for an error; its first line is quoted",
    ("data/readers/parquet.py", "_damaged"): "Arrow has no code for an error; its first line is quoted",
    ("data/readers/sql.py", "relation_of"): "DuckDB's first line is quoted",
    ("engines/database_rows.py", "explained"): "databases have no code in common; the first line is quoted",
    ("engines/spark.py", "_own_error"): "Spark hands on an error of a worker as the text of its traceback",
    ("io/chain_file.py", "_stop_of_notes"): "files of earlier versions say in a note alone how a search ended",
    ("io/dsl/blocks.py", "_header_first"): "the grammar of a file",
    ("io/dsl/writer.py", "__call__"): "the grammar of a file",
    ("io/hugin_net/writer.py", "_node_lines"): "the grammar of a file",
    ("learn/em_checkpoint.py", "_stops"): "checkpoints of earlier versions give a reason in words, and no more",
}
"""Where the text of an error or a sentence is searched: (file, function), and why there is no fact to ask instead."""


def is_text(node: ast.AST) -> bool:
    """Whether an expression is the message of an error, or something else that is said to people."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        return isinstance(node.args[0], ast.Name) and node.args[0].id in ("error", "warning", "exception")
    return (isinstance(node, ast.Attribute) and node.attr in TEXTS) or (isinstance(node, ast.Name) and node.id in TEXTS)


def is_sentence(node: ast.AST) -> bool:
    """Whether an expression is a piece of a sentence: words with a blank."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"\w ", node.value) is not None


def is_search(node: ast.AST) -> bool:
    """Whether an expression looks for words in a text: ``"…" in message``, ``str(error).startswith("…")``."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return is_sentence(node.left) or (not isinstance(node.left, ast.Name) and is_text(node.comparators[0]))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES:
        ends = node.func.attr in ("startswith", "endswith", "removeprefix", "removesuffix")
        return is_text(node.func.value) or any(is_text(arg) or (ends and is_sentence(arg)) for arg in node.args)
    return False


def searches(tree: ast.AST, function: str = "") -> set[str]:
    """Return the functions in which a text is searched."""
    found = {function} if is_search(tree) else set()
    inside = tree.name if isinstance(tree, ast.FunctionDef) else function
    return found.union(*(searches(node, inside) for node in ast.iter_child_nodes(tree)))


@pytest.mark.parametrize(
    "source",
    [
        'if "was least" in note: pass',
        'if "least" in str(error): pass',
        'if str(error).startswith("The text"): pass',
        "if MARK.search(error.message): pass",
        'words = fit.certificate.claim.partition(", ")',
    ],
)
def test_a_decision_on_a_sentence_is_found(source: str) -> None:
    assert searches(ast.parse(source))


def test_nothing_is_decided_by_the_words_of_a_message_but_those_of_other_libraries() -> None:
    found = {
        (path.relative_to(SOURCE).as_posix(), function)
        for path in sorted(SOURCE.rglob("*.py"))
        for function in searches(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set(READ_ON_PURPOSE)
