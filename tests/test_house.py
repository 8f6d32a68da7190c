"""What holds of the source as a whole."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

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
