"""Changes to the contents of files: values of JSON documents, arrays, elements of XML, and bytes."""

from __future__ import annotations

import copy
import hashlib
import json
import random
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.io.corruptions import DAMAGES

from suffice.files import DTYPES

DEEP: Any = json.loads("[" * 60 + "]" * 60)
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 2**31, 2**63, -(2**63), 10**25, 10**400, 0.5, -0.5, 1e308, 5e-324, -0.0,
    float("nan"), float("inf"), "", "x", "0", "inf", "nan", "0x1p+1024", "0x1.8p+1", "é\u0301", "\ud800", "a\0b", "\n",
    "A", "B", "a" * 3000, [], {}, [[]], [None], [1, 2], ["A", "B"], [["A", "B"]], {"A": 1}, {"": None}, DEEP,
)  # fmt: skip
SIZES = (0, 1, 2, 3, 5, 70, 2**31, 2**62, 10**25, -1, True, 1.0, None, "2")

# Values of JSON documents -------------------------------------------------------------------------------------


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, part in inside for place in ((*path, key), *_places(part, (*path, key)))]


def _parent(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        value = value[key]
    return value


def _retyped(chance: random.Random, value: Any) -> Any:
    """Return a value as one of another type."""
    forms: list[Any] = [[value], {"value": value}, str(value)[:100]]
    if isinstance(value, list):
        forms += [{str(place): part for place, part in enumerate(value)}, value[:1], value[::-1], value + value]
    if isinstance(value, dict):
        forms += [list(value), list(value.values()), [list(pair) for pair in value.items()]]
    if isinstance(value, str):
        forms += [list(value[:50]), value + " ", value.upper(), value[:1]]
    if isinstance(value, int | float):
        forms += [-value, bool(value), value + 1, value * 10**6]
    return chance.choice(forms)


def change_value(chance: random.Random, value: Any) -> Any:
    """Change, delete, repeat, retype or exchange one to three values inside a document."""
    found = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = _places(found)
        if not places:
            return chance.choice(ODD_VALUES)
        path = chance.choice(places)
        parent, key = _parent(found, path), path[-1]
        what = chance.randrange(6)
        if what == 0:
            del parent[key]
        elif what == 1 and isinstance(parent, list):
            parent.insert(chance.randrange(len(parent) + 1), copy.deepcopy(parent[key]))
        elif what == 1:
            parent[str(chance.choice(ODD_VALUES))[:50]] = copy.deepcopy(parent[key])
        elif what == 2:
            parent[key] = _retyped(chance, parent[key])
        elif what == 3:
            other = chance.choice(places)
            parent[key] = copy.deepcopy(_parent(found, other)[other[-1]])
        else:
            parent[key] = copy.deepcopy(chance.choice(ODD_VALUES))
    return found


# Arrays -------------------------------------------------------------------------------------------------------


def change_array(chance: random.Random, array: NDArray[Any]) -> NDArray[Any]:
    """Change the values, the shape or the type of an array."""
    what = chance.randrange(6)
    with np.errstate(all="ignore"):
        if what == 0:
            return array.astype(chance.choice(sorted(DTYPES)))
        if what == 1:
            return chance.choice((array.reshape(-1), array[None], array[..., None], array.T, array.reshape(-1)[:0]))
        if what == 2:
            flat = array.reshape(-1)
            return chance.choice(
                (flat[:-1], np.append(flat, flat[:1]), np.append(flat, flat), np.zeros((), array.dtype))
            )
        changed = array.copy().reshape(-1)
        if not changed.size:
            return np.zeros(chance.choice(((1,), (2, 2), (0, 5))), array.dtype)
        place = chance.randrange(changed.size)
        if changed.dtype.kind == "f":
            odd: Any = chance.choice((np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, -1e308, 5e-324, 1e-300, 0.5, 1e17))
        elif changed.dtype.kind == "b":
            odd = not changed[place]
        else:
            info = np.iinfo(changed.dtype)
            odd = chance.choice((info.min, info.max, 0, 1, 2, max(info.min, -1), info.max // 2))
        if what == 3:
            changed[place] = odd
        elif what == 4:
            changed[:] = odd
        else:
            changed = np.array(chance.sample(changed.tolist(), changed.size), changed.dtype)
        return changed.reshape(array.shape)


# Containers ---------------------------------------------------------------------------------------------------


def parts_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and the arrays' bytes of a container."""
    end = 20 + int.from_bytes(data[12:20], "little")
    return json.loads(data[20:end]), data[end:-32]


def sealed(header: bytes, body: bytes) -> bytes:
    """Return a container with a right checksum."""
    data = b"SUFFICE\n" + (1).to_bytes(4, "little") + len(header).to_bytes(8, "little") + header + body
    return data + hashlib.sha256(data).digest()


def change_container(chance: random.Random, data: bytes) -> bytes:
    """Change what a container holds, and seal it again."""
    header, body = parts_of(data)
    what = chance.randrange(8)
    if what == 0:
        return sealed(chance.choice(DAMAGES)(chance, json.dumps(header).encode()), body)
    if what == 1:
        return sealed(_dumped(change_value(chance, header)), body)
    if what == 2 and header["arrays"]:
        entry = chance.choice(header["arrays"])
        entry[2] = chance.choice(
            (entry[2][::-1], [*entry[2], 1], [chance.choice(SIZES) for _ in range(chance.randrange(4))])
        )
        return sealed(_dumped(header), body)
    if what in (3, 4, 5) and header["arrays"]:
        arrays, at = {}, 0
        for name, dtype, shape in header["arrays"]:
            arrays[name] = np.frombuffer(body, dtype, int(np.prod(shape)), at).reshape(shape)
            at += arrays[name].nbytes
        name = chance.choice(list(arrays))
        kind = chance.randrange(8)
        if kind == 0:
            del arrays[name]
        elif kind == 1:
            arrays[chance.choice([*arrays, "other", "", "0.values"])] = arrays[name]
        else:
            arrays[name] = change_array(chance, arrays[name])
        header["arrays"] = [[name, array.dtype.name, list(array.shape)] for name, array in arrays.items()]
        body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
        return sealed(_dumped(header), body)
    return sealed(_dumped({**header, "meta": change_value(chance, header["meta"])}), body)


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


# Texts --------------------------------------------------------------------------------------------------------

ELEMENT = re.compile(rb"<([A-Za-z]+)[^<>]*>[^<>]*</\1>")


def change_json(chance: random.Random, data: bytes) -> bytes:
    """Change values of a document, or its text."""
    if chance.random() < 0.3:
        return change_bytes(chance, data)
    return _dumped(change_value(chance, json.loads(data)))


def change_bytes(chance: random.Random, data: bytes) -> bytes:
    """Damage bytes, words and lines."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        data = chance.choice(DAMAGES)(chance, data)
    return data


def change_xml(chance: random.Random, data: bytes) -> bytes:
    """Delete, repeat, exchange or fill elements; or damage bytes."""
    spans = [found.span() for found in ELEMENT.finditer(data)]
    if not spans or chance.random() < 0.4:
        return change_bytes(chance, data)
    (a, b), (c, d) = chance.choice(spans), chance.choice(spans)
    what = chance.randrange(5)
    if what == 0:
        return data[:a] + data[b:]
    if what == 1:
        return data[:d] + data[a:b] + data[d:]
    if what == 2:
        return data[:a] + data[c:d] + data[b:]
    if what == 3:
        tag = data[a:b].split(b">")[0].strip(b"</").split()[0]
        return data.replace(b"<" + tag + b">", b"").replace(b"</" + tag + b">", b"") if b else data
    inner = str(chance.choice(ODD_VALUES))[:3000].encode("utf-8", "replace")
    start = data.index(b">", a) + 1
    return data[:start] + inner + data[data.index(b"<", start) :]
