"""Compare two runs of the cases, field by field, in bits or to a tolerance."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from typing import Any

Fields = Mapping[str, Any]
ABSENT = "(absent)"


def differences(
    old: Mapping[str, Fields], new: Mapping[str, Fields], tol: float | None = None
) -> dict[str, list[tuple[str, str, str]]]:
    """Return for every case that differs its fields that do: the name, the old and the new value."""
    found = {}
    for case in dict.fromkeys([*old, *new]):
        if case not in old or case not in new:
            found[case] = [("the case", *(("absent", "present") if case in new else ("present", "absent")))]
            continue
        before, after = old[case], new[case]
        names = dict.fromkeys([*before, *after])
        lines = [line for name in names for line in _of_field(name, before, after, tol)]
        if lines:
            found[case] = lines
    return found


def _of_field(name: str, before: Fields, after: Fields, tol: float | None) -> Iterator[tuple[str, str, str]]:
    old, new = before.get(name, ABSENT), after.get(name, ABSENT)
    if _is_array(old) and _is_array(new) and old["shape"] == new["shape"]:
        scale = max((abs(value) for value in old["values"] if math.isfinite(value)), default=0.0)
        pairs = zip(old["values"], new["values"], strict=True)
        unlike = [place for place, (a, b) in enumerate(pairs) if not same_number(a, b, tol, scale)]
        if unlike:
            first = unlike[0]
            where = f"{name}[{first}]" + (f" and {len(unlike) - 1} more of {len(old['values'])}" if unlike[1:] else "")
            yield where, repr(old["values"][first]), repr(new["values"][first])
    elif _is_number(old) and _is_number(new):
        if not same_number(old, new, tol, 0.0):
            yield name, repr(old), repr(new)
    elif isinstance(old, str) and isinstance(new, str):
        yield from _of_text(name, old, new)
    elif old != new:
        yield name, _shown(old), _shown(new)


def _of_text(name: str, old: str, new: str) -> Iterator[tuple[str, str, str]]:
    """Show the first line in which two texts differ."""
    if old != new:
        before, after = old.splitlines(), new.splitlines()
        for number in range(max(len(before), len(after))):
            one = before[number] if number < len(before) else ABSENT
            other = after[number] if number < len(after) else ABSENT
            if one != other:
                yield (name if len(before) == 1 else f"{name}, line {number + 1}"), one, other
                return
        yield name, repr(old), repr(new)


def same_number(old: float, new: float, tol: float | None, scale: float) -> bool:
    """Whether two numbers are the same, in bits, or to a tolerance relative to the larger or to a scale."""
    if tol is None:
        return type(old) is type(new) and struct.pack("d", old) == struct.pack("d", new)
    if math.isnan(old) or math.isnan(new) or math.isinf(old) or math.isinf(new):
        return old == new or (math.isnan(old) and math.isnan(new))
    return abs(old - new) <= tol * max(abs(old), abs(new), scale)


def _is_array(value: Any) -> bool:
    return isinstance(value, dict) and "values" in value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    return f"array of shape {value['shape']}, hash {value['hash']}" if _is_array(value) else str(value)


def report(found: Mapping[str, list[tuple[str, str, str]]], n_cases: int, *, cases: int = 40, fields: int = 6) -> str:
    """Return what differs as text: the first cases and fields in full, the rest as a count."""
    if not found:
        return f"All {n_cases} cases are equal."
    lines = []
    for case, changed in list(found.items())[:cases]:
        lines.append(f"\n{case}")
        for name, old, new in changed[:fields]:
            lines += [f"  {name}", f"    - {old}", f"    + {new}"]
        if len(changed) > fields:
            lines.append(f"  and {len(changed) - fields} more fields")
    if len(found) > cases:
        lines.append(f"\nand {len(found) - cases} more cases")
    n_fields = sum(map(len, found.values()))
    lines.append(f"\n{len(found)} of {n_cases} cases differ, in {n_fields} fields.")
    return "\n".join(lines)
