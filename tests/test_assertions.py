"""Every test asserts something: not only in a loop that may have nothing to run over, or in one branch of two."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.py"))
FOREIGN = {"raises", "warns", "fail", "check"}  # of pytest, and what scikit-learn checks
AS_LONG = {"enumerate", "sorted", "reversed", "list", "tuple", "set", "dict", "len", "combinations", "permutations"}
Names = dict[str, ast.expr]


@cache
def tree(file: str) -> ast.Module:
    return ast.parse((FOLDER / file).read_text(encoding="utf-8"))


def functions(file: str) -> list[ast.FunctionDef]:
    nodes = [inner for node in tree(file).body for inner in (node.body if isinstance(node, ast.ClassDef) else [node])]
    return [node for node in nodes if isinstance(node, ast.FunctionDef)]


def assigned(body: Sequence[ast.stmt]) -> Names:
    """Return what statements assign to names, and what functions return in the end."""
    found: Names = {}
    for node in body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                | ast.FunctionDef(name=name, body=[*_, ast.Return(value=ast.expr() as value)])
            ):
                found[name] = value
    return found


def is_full(thing: ast.expr, names: Names) -> bool:
    """Whether an iterable is written so that it has something in it."""
    match thing:
        case ast.Constant(value=value):
            found = bool(value)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            found = any(not isinstance(item, ast.Starred) or is_full(item.value, names) for item in items)
        case ast.Dict(keys=keys, values=values):
            found = any(key or is_full(value, names) for key, value in zip(keys, values, strict=True))
        case ast.Name(id=name):
            found = name in names and is_full(names[name], {**names, name: ast.Constant(None)})
        case ast.ListComp(generators=loops) | ast.SetComp(generators=loops) | ast.DictComp(generators=loops):
            found = all(not loop.ifs and is_full(loop.iter, names) for loop in loops)
        case ast.BinOp(op=ast.Add(), left=one, right=other):
            found = is_full(one, names) or is_full(other, names)
        case ast.Call(func=ast.Attribute(value=value, attr="items" | "values" | "keys")):
            found = is_full(value, names)
        case ast.Call(func=function, args=[*args]) if (name := name_of(function)) in ("zip", "product"):
            found = (any if name == "zip" else all)(is_full(arg, names) for arg in args)
        case ast.Call(func=function, args=[*args]) if (name := name_of(function)) in AS_LONG or name == "range":
            found = is_full(args[name == "range" and len(args) > 1], names)
        case ast.Call(func=function):
            found = is_full(ast.Name(name_of(function)), names)
        case _:
            found = False
    return found


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def asserts(body: Sequence[ast.stmt], names: Names, helpers: set[str]) -> bool:
    """Whether statements come to an assertion, or to the call of a function that asserts, whatever the data are."""
    names = names | assigned(body)
    for node in body:
        whole, blocks = [node], [[]]
        match node:
            case ast.FunctionDef(name=name, body=block):
                whole, helpers = [], helpers | {name} if asserts(block, names, helpers) else helpers
            case ast.For(iter=thing, body=block):
                whole, blocks = [thing], [block if is_full(thing, names) else []]
            case ast.If(test=test, body=one, orelse=other):
                whole, blocks = [test], [one, other]
            case ast.With(items=items, body=block):
                whole, blocks = [*items], [block]
            case ast.Try(body=block, handlers=handlers, orelse=last, finalbody=always):
                whole, blocks = [], [[*block, *last, *always], *(handler.body for handler in handlers)]
        calls = {name_of(call.func) for part in whole for call in ast.walk(part) if isinstance(call, ast.Call)}
        at_once = isinstance(node, ast.Assert) or calls & helpers or any(name.startswith("assert_") for name in calls)
        if at_once or all(asserts(block, names, helpers) for block in blocks):
            return True
    return False


@cache
def known(file: str) -> tuple[Names, set[str]]:
    """Return the constants that a file has or imports from other tests, and the names of functions that assert."""
    names, helpers = assigned(tree(file).body), set(FOREIGN)
    for node in tree(file).body:
        origin = "/".join(str(getattr(node, "module", "")).split(".")[1:]) + ".py"
        if isinstance(node, ast.ImportFrom) and origin in FILES:
            taken = {alias.name for alias in node.names}
            names = {name: value for name, value in known(origin)[0].items() if name in taken} | names
            helpers |= known(origin)[1]
    for _ in range(4):  # helpers call helpers
        helpers |= {f.name for f in functions(file) if f.name not in helpers and asserts(f.body, names, helpers)}
    return names, helpers


@pytest.mark.parametrize("file", [file for file in FILES if Path(file).name.startswith("test_")])
def test_every_test_asserts(file: str) -> None:
    names, helpers = known(file)
    tests = [function for function in functions(file) if function.name.startswith("test_")]
    given = {arg.arg: ast.Constant(True) for function in tests for arg in function.args.args}
    empty = [function.name for function in tests if not asserts(function.body, names | given, helpers)]
    assert not empty, "these may assert nothing: say what their loops run over, or compare it as a whole"
