"""Damage to files, as disks, networks, editors and other programs do it. The same seed gives the same damage."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

NUMBER = re.compile(rb"[-+]?[0-9][0-9.]*+(?:[eE][-+]?[0-9]+)?+")
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*+")
SPAN = re.compile(rb"\S++")
HUGE = b"5000 300000 20000000 1000000000000 999999999999999999".split()
ODD_NUMBERS = b"0 -1 1 2 3 0.5 -0.5 1e999 -1e999 1e308 1e-400 nan NaN inf -Infinity 0x10 1_0 1.5.5 1,5 1e --1".split()
ODD_NUMBERS += [*HUGE, b"null", b"true", b"\xff", b"\xd9\xa3", b"", b"9" * 40, b"9" * 5000]
ODD_WORDS = b"x null true [] {} \" ' <!-- --> /* */ // # % &amp; &x; ]]> <a> </a> \\ \x00 \xc3 \xff\xfe".split()
ODD_WORDS += ["Föhn".encode(), b"", b" ", b"a" * 3000]
SIGNS = b"(){}[]<>;,|\"'/*#&=:%\\\n\r\t 0123456789.-+eEabyesnoxX_\xff\xc3\x00\x1f\x8b"

Damage = Callable[[random.Random, bytes], bytes]


def corruptions(data: bytes, n: int, seed: int) -> Iterator[bytes]:
    """Yield ``n`` damaged copies, each with one to three damages."""
    rng = random.Random(seed)
    for _ in range(n):
        damaged = data
        for _ in range(rng.choice((1, 1, 2, 3))):
            damaged = rng.choice(DAMAGES)(rng, damaged)
        yield damaged


def huge_numbers(data: bytes) -> Iterator[bytes]:
    """Yield the file with each of its numbers in turn grown beyond reason: one of them may be a size."""
    for found in NUMBER.finditer(data):
        for number in HUGE:
            yield data[: found.start()] + number + data[found.end() :]


def _at(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _length(rng: random.Random) -> int:
    return rng.choice((1, 1, 1, 2, 3, 8, 40))


def _spans(rng: random.Random, data: bytes) -> tuple[int, int, int, int]:
    """Return two spans that do not meet, the first before the second."""
    first, second = sorted((_at(rng, data), _at(rng, data)))
    return first, min(first + _length(rng), second), second, min(second + _length(rng), len(data))


# Bytes --------------------------------------------------------------------------------------------------------


def flip_bit(rng: random.Random, data: bytes) -> bytes:
    at = _at(rng, data)
    return data[:at] + bytes(byte ^ (1 << rng.randrange(8)) for byte in data[at : at + 1]) + data[at + 1 :]


def replace_bytes(rng: random.Random, data: bytes) -> bytes:
    at, n = _at(rng, data), _length(rng)
    return data[:at] + bytes(rng.choices(SIGNS, k=n)) + data[at + n :]


def insert_bytes(rng: random.Random, data: bytes) -> bytes:
    at = _at(rng, data)
    return data[:at] + bytes(rng.choices(SIGNS, k=_length(rng))) + data[at:]


def delete_bytes(rng: random.Random, data: bytes) -> bytes:
    at = _at(rng, data)
    return data[:at] + data[at + _length(rng) :]


def damage_head(rng: random.Random, data: bytes) -> bytes:
    """Replace one of the first bytes, where packed files tell how they are packed."""
    at = rng.randrange(12)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def cut_end(rng: random.Random, data: bytes) -> bytes:
    return data[: _at(rng, data)]


def cut_start(rng: random.Random, data: bytes) -> bytes:
    return data[min(_at(rng, data), _length(rng)) :]


def append_bytes(rng: random.Random, data: bytes) -> bytes:
    return data + rng.choice((bytes(rng.choices(SIGNS, k=_length(rng))), b"\x00" * 64, data, b"\xef\xbb\xbf"))


# Spans, lines and words ---------------------------------------------------------------------------------------


def repeat_span(rng: random.Random, data: bytes) -> bytes:
    at = _at(rng, data)
    end = min(at + rng.choice((1, 5, 40, 400)), len(data))
    return data[:end] + data[at:end] + data[end:]


def swap_spans(rng: random.Random, data: bytes) -> bytes:
    a, b, c, d = _spans(rng, data)
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def copy_span(rng: random.Random, data: bytes) -> bytes:
    a, b, c, d = _spans(rng, data)
    return data[:a] + data[c:d] + data[b:] if rng.random() < 0.5 else data[:c] + data[a:b] + data[d:]


def change_line(rng: random.Random, data: bytes) -> bytes:
    """Delete, repeat or move a line."""
    lines = data.split(b"\n")
    line = lines.pop(rng.randrange(len(lines)))
    for _ in range(rng.choice((0, 1, 2))):
        lines.insert(rng.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def change_number(rng: random.Random, data: bytes) -> bytes:
    return _replaced(rng, data, NUMBER, ODD_NUMBERS)


def change_word(rng: random.Random, data: bytes) -> bytes:
    return _replaced(rng, data, WORD, ODD_WORDS)


def exchange_words(rng: random.Random, data: bytes) -> bytes:
    """Put a word of the file in place of another."""
    pattern = rng.choice((NUMBER, WORD, SPAN))
    return _replaced(rng, data, pattern, [found[0] for found in pattern.finditer(data)])


def _replaced(rng: random.Random, data: bytes, pattern: re.Pattern[bytes], by: list[bytes]) -> bytes:
    places = [found.span() for found in pattern.finditer(data)]
    if not places:
        return flip_bit(rng, data)
    start, end = rng.choice(places)
    return data[:start] + rng.choice(by) + data[end:]


DAMAGES: list[Damage] = [
    flip_bit,
    replace_bytes,
    insert_bytes,
    delete_bytes,
    damage_head,
    cut_end,
    cut_start,
    append_bytes,
    repeat_span,
    swap_spans,
    copy_span,
    change_line,
    change_number,
    change_number,
    change_number,
    change_word,
    exchange_words,
    exchange_words,
]
