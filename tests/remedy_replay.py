"""Calls of the library that ended in an error, made again as a remedy of the error says."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import pytest

import suffice as sf
from suffice.data.schema import declarations
from suffice.errors import Made, Mention, Remedy, Text, Value

HANDED_ON = ("policies", "settings")
DESCRIPTIONS = ("Variable", "LabelledSequences")
"""What describes data, and takes no part of the analysis."""
CALL = re.compile(r"(?:sf\.)?(\w+)\(")


@dataclass(frozen=True)
class Called:
    """A function of the library that a test called, and how often it had been called before."""

    owner: Any
    name: str
    before: int

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(_function(inspect.getattr_static(self.owner, self.name))).parameters

    @property
    def others(self) -> str:
        """What a function calls the keywords that it hands on, if it does."""
        found = [name for name, each in self.parameters.items() if each.kind is each.VAR_KEYWORD and name in HANDED_ON]
        return found[0] if found else ""

    @property
    def public(self) -> str:
        return self.owner.__name__ if self.name == "__init__" else self.name


Changes = dict[str, Callable[[Any], Any]]
"""Arguments of a call, and what becomes of the values that they had."""


def value_of(value: Value) -> Any:
    """Return the value of a remedy; what public names make is made."""
    if isinstance(value, Made):
        made = getattr(sf, value.name)
        return made(*map(value_of, value.args), **{name: value_of(each) for name, each in value.named})
    if isinstance(value, Mapping):
        return {name: value_of(each) for name, each in value.items()}
    return [value_of(each) for each in value] if isinstance(value, list | tuple) else value


# What was called --------------------------------------------------------------------------------------------------


@contextmanager
def recorded() -> Iterator[list[Called]]:
    """List the calls of the library that come from outside of it, in their order."""
    calls: list[Called] = []
    inside: list[FrameType] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and inside and frame is inside[0]:
            inside.clear()
        if event != "call" or inside or not _is_ours(frame):
            return
        inside.append(frame)
        place = _place(frame)
        if place is not None:
            before = sum((called.owner, called.name) == place for called in calls)
            calls.append(Called(*place, before))

    sys.setprofile(watch)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def _is_ours(frame: FrameType | None) -> bool:
    return frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] == "suffice"


def _place(frame: FrameType) -> tuple[Any, str] | None:
    """Return the class or module that holds a function that was called, and its name there."""
    code = frame.f_code
    own = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    for owner in own.__mro__ if isinstance(own, type) else type(own).__mro__:
        found = _function(owner.__dict__.get(code.co_name))
        if getattr(found, "__code__", None) is code:
            return owner, code.co_name
    module = sys.modules[frame.f_globals["__name__"]]
    found = inspect.unwrap(module.__dict__.get(code.co_name, len))
    return (module, code.co_name) if getattr(found, "__code__", None) is code else None


def _function(held: Any) -> Any:
    """Return the function that a class holds as a method of some kind."""
    held = getattr(held, "__func__", getattr(held, "fget", held))
    return inspect.unwrap(held) if callable(held) else held


# What a remedy changes --------------------------------------------------------------------------------------------


def taking(remedy: Remedy, calls: list[Called]) -> dict[Called, Changes]:
    """Return which arguments of which calls a remedy changes; of none, where one of its arguments has no call."""
    found: dict[Called, Changes] = {}
    for argument, value in [(remedy.argument, remedy.value), *remedy.beside]:
        change = _change(remedy.call, argument, value_of(value), calls)
        if change is None:
            return {}
        called, name, new = change
        found.setdefault(called, {})[name] = new
    return found


def _change(
    call: str, argument: str, value: Any, calls: list[Called]
) -> tuple[Called, str, Callable[[Any], Any]] | None:
    wanted = CALL.match(call)
    for called in reversed(calls):
        if (wanted and wanted[1] != called.public) or called.public in DESCRIPTIONS:
            continue
        if argument in called.parameters:
            return called, argument, lambda old: _joined(old, value)
        if others := called.others:
            return called, others, lambda old: {**(old or {}), argument: value}
    if wanted and wanted[1] == "CSV" and calls and "data" in calls[-1].parameters:
        return calls[-1], "data", lambda path: sf.CSV(path, **{argument: value})
    return None


def _joined(old: Any, new: Any) -> Any:
    """Return what was passed, with the entries of the remedy."""
    if isinstance(old, sf.Schema):
        return sf.Schema(
            tuple(declarations(new)[v.name].variable(v.name) or v if v.name in new else v for v in old.variables)
        )
    return {**old, **new} if isinstance(old, Mapping) and isinstance(new, Mapping) else new


@contextmanager
def changed(called: Called, changes: Changes) -> Iterator[None]:
    """Change arguments of one call that comes from outside the library."""
    held = inspect.getattr_static(called.owner, called.name)
    function = _function(held)
    left = [called.before]

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if not _is_ours(sys._getframe(1)):
            left[0] -= 1
            if left[0] == -1:
                bound = inspect.signature(function).bind(*args, **options)
                for argument, new in changes.items():
                    bound.arguments[argument] = new(bound.arguments.get(argument))
                args, options = bound.args, bound.kwargs
        return function(*args, **options)

    wrapped = type(held)(call) if isinstance(held, classmethod | staticmethod) else call
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(called.owner, called.name, wrapped)
        for module in list(sys.modules.values()):
            if vars(module).get(called.name) is held and not _is_module_of_ours(module):
                patch.setattr(module, called.name, wrapped)
        yield


def _is_module_of_ours(module: Any) -> bool:
    return module.__name__.startswith("suffice.")


def replayed(call: Callable[[], Any], remedy: Remedy, calls: list[Called]) -> sf.SufficeError | None:
    """Make the calls as a remedy says; return the error that they end in."""
    before = sf.config().memory
    with ExitStack() as stack:
        if remedy.argument == "memory":
            stack.callback(sf.config, memory=before)
            stack.enter_context(allowed(value_of(remedy.value)))
        else:
            for called, changes in taking(remedy, calls).items():
                stack.enter_context(changed(called, changes))
        try:
            call()
        except sf.SufficeError as error:
            return error
    return None


@contextmanager
def allowed(memory: Any) -> Iterator[None]:
    """Allow as much memory, whatever tests outside allow."""
    config = sf.config
    config(memory=memory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sf, "config", lambda **options: config(**{**options, "memory": memory}))
        yield


def is_the_same(error: sf.SufficeError, other: sf.SufficeError) -> bool:
    """Whether two errors say the same: their words agree, or their place in the source and what to do about it."""
    advice = {(remedy.argument, repr(remedy.value)) for remedy in error.remedies}
    same = {(remedy.argument, repr(remedy.value)) for remedy in other.remedies} == advice
    return str(error) == str(other) or (_raised_at(error) == _raised_at(other) and same)


def refuses(error: sf.SufficeError, argument: str) -> bool:
    """Whether an error is that an argument has a value which it cannot have."""
    parts = error.message.parts if isinstance(error.message, Text) else ()
    return any(isinstance(part, Mention) and part.kind == "subject" and part.what == argument for part in parts)


def _raised_at(error: sf.SufficeError) -> tuple[str, int]:
    at = error.__traceback__
    assert at is not None
    while at.tb_next is not None:
        at = at.tb_next
    return at.tb_frame.f_code.co_filename, at.tb_lineno
