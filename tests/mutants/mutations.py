"""Which faults are planted: all places where one sign or number can be changed, and a sample of them."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOMS = {
    "fitters": (50, ("learn", "max_entropy", "optimise")),
    "certificates": (40, ("certify",)),
    "distributions": (40, ("models", "priors")),
    "inference": (30, ("inference",)),
    "counting": (20, ("stats",)),
    "readers": (20, ("data", "io")),
}
"""What is guarded: how many mutants, and the folders of the library that they are planted in."""

SIGNS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Pow: ("**", "*"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
PROSE = (ast.Raise, ast.JoinedStr, ast.Assert)
"""What is left alone, together with annotations and calls that only word a message."""


@dataclass(frozen=True)
class Mutant:
    """One changed sign or number: where it stands, and the lines of the statement around it."""

    path: str
    function: str
    line: int
    column: int
    before: str
    after: str
    occurrence: int
    lines: range

    @property
    def name(self) -> str:
        """Name the mutant by what it changes, so that edits elsewhere in a file do not rename it."""
        return f"{self.path} {self.function}: {self.before} becomes {self.after} #{self.occurrence}"

    def apply(self, source: str) -> str:
        """Return the source with the change in it."""
        lines = source.splitlines(keepends=True)
        line = lines[self.line - 1].encode()
        end = self.column + len(self.before.encode())
        assert line[self.column : end] == self.before.encode(), self
        lines[self.line - 1] = (line[: self.column] + self.after.encode() + line[end:]).decode()
        return "".join(lines)


def sample(package: Path, seed: str = "0") -> list[Mutant]:
    """Return the mutants of a seed: those of each room with the lowest hashes, so that most stay when code changes."""
    chosen = []
    for number, folders in ROOMS.values():
        found = [mutant for folder in folders for mutant in find_all(package, folder)]
        chosen += sorted(found, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.name}".encode()).digest())[:number]
    return chosen


def find_all(package: Path, folder: str) -> Iterator[Mutant]:
    """Find every mutant of the files below a folder."""
    for path in sorted((package / folder).rglob("*.py")):
        source = path.read_bytes()
        rows = source.splitlines(keepends=True)
        seen: Counter[tuple[str, str, str]] = Counter()
        for function, lines, place in _places(ast.parse(source)):
            if (change := _change(rows, place)) is None:
                continue
            line, column, before, after = change
            key = (function, before, after)
            seen[key] += 1
            yield Mutant(path.relative_to(package).as_posix(), function, line, column, before, after, seen[key], lines)


def _places(tree: ast.Module) -> Iterator[tuple[str, range, ast.AST]]:
    """Yield function, lines of the statement, and node for every sign or number inside functions."""

    def walk(node: ast.AST, function: str, lines: range) -> Iterator[tuple[str, range, ast.AST]]:
        if isinstance(node, PROSE):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = f"{function}.{node.name}" if function else node.name
            for child in node.body:
                yield from walk(child, inside, lines)
            return
        if isinstance(node, ast.stmt):
            lines = _own_lines(node)
        if function:
            yield function, lines, node
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child, function, lines)

    yield from walk(tree, "", range(0))


def _own_lines(statement: ast.stmt) -> range:
    """Return the lines of a statement without those of its body."""
    body = getattr(statement, "body", None)
    last = body[0].lineno if body else (statement.end_lineno or statement.lineno) + 1
    return range(statement.lineno, max(last, statement.lineno + 1))


def _change(rows: list[bytes], node: ast.AST) -> tuple[int, int, str, str] | None:
    match node:
        case ast.BinOp(left, op, right) if type(op) in SIGNS and not _is_text(left) and not _is_text(right):
            return _sign(rows, left, right, *SIGNS[type(op)])
        case ast.Compare(left, [op], [right]) if type(op) in SIGNS:
            return _sign(rows, left, right, *SIGNS[type(op)])
        case ast.Constant(bool()):
            return None
        case ast.Constant(int() | float() as value):
            before = rows[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
            return node.lineno, node.col_offset, before, repr(value + 1 if isinstance(value, int) else _other(value))
    return None


def _other(value: float) -> float:
    return 0.5 * value if value else 1.0


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _sign(
    rows: list[bytes], left: ast.expr, right: ast.expr, before: str, after: str
) -> tuple[int, int, str, str] | None:
    """Find the sign between two operands, among the tokens from the end of the left one on."""
    first, start = left.end_lineno or 1, left.end_col_offset or 0
    between = [rows[first - 1][start:], *rows[first : right.lineno]]
    text = "(" + b"".join(between).decode()  # the bracket lets the expression go over several lines
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.OP and token.string == before:
                row, column = token.start[0] - 1, len(token.line[: token.start[1]].encode())
                return first + row, column if row else column - 1 + start, before, after
    except tokenize.TokenError:
        pass
    return None
