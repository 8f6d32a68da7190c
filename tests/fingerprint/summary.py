"""The summary that is committed: a few lines a case, which another processor must reproduce to 1e-9.

Sums differ in their last digits between processors. So the summary leaves out what stands at that level, such as
residuals and the steps of a search, puts ``#`` in the place of numbers in texts, and compares numbers to `TOLERANCE`,
relative to the largest of their group. Long groups of numbers are given by their first ones and two sums with fixed
weights, which a change of any of them moves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.fingerprint.compare import same_number

Fields = Mapping[str, Any]
PATH = Path(__file__).with_name("summary.txt")
TOLERANCE = 1e-9
SHOWN = 2
"""How many numbers of a group are shown."""
GROUPS = {
    "log-likelihood": ("file.log_likelihood", "file.log_marginal_likelihood", "fit.log_likelihood"),
    "parameters": ("file.model.",),
    "posterior": ("file.posterior.",),
    "statistics": ("file.statistics.",),
    "certificate": ("file.certificate.ok", "file.certificate.exists", "fit.certificate.ok", "fit.certificate.exists"),
}
LEFT_OUT = ("file.", "fit.", "text", "starts")
"""Beginnings of names that are in no other group: residuals, steps, and printed forms, whose wording is kept apart."""
SENTENCES = ("verdict", "notes", "refused", "warning", ".error")
UNSTEADY = (".worst", "geometry", "trace")
"""Names of what depends on the number of steps, or on which of several residuals is the largest."""
SAYS = "  says: "
NUMBER = re.compile(r"[<>≤≥~]?[-−+]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?%?")
ROUNDING = re.compile(r"to rounding error|within #")
NOISE = re.compile(r"[-─\s]+")


def worded(text: str) -> str:
    """Return a text without its numbers and the widths of its columns."""
    without = NUMBER.sub("#", text)
    return NOISE.sub(" ", ROUNDING.sub("within #", without)).strip()


def lines_of(fields: Fields) -> list[str]:
    """Return the summary of one case."""
    groups: dict[str, list[float]] = {}
    words: list[str] = []
    sentences: list[str] = []
    sampled = "by sampling" in str(fields.get("file.certificate.claim"))
    for name, value in fields.items():
        if sampled and ("certificate" in name or name.startswith(("text", "weights"))):
            continue  # A rounding error changes what the certificate draws, and so the verdict.
        group = next((one for one, starts in GROUPS.items() if name.startswith(starts)), None)
        if group is None and not name.startswith(LEFT_OUT):
            group = "answers"
        if any(part in name for part in UNSTEADY):
            continue
        if isinstance(value, str):
            words.append(f"{name} {worded(value)}")
            if any(part in name for part in SENTENCES) and not name.endswith(".topic"):
                sentences.append(worded(value))
        elif group is not None and isinstance(value, bool):
            words.append(f"{name} {value}")
        elif group is not None and value is not None:
            numbers = value["values"] if isinstance(value, dict) else [value]
            groups.setdefault(group, []).extend(map(float, numbers))
    lines = [f"  {group}: {_numbers(numbers)}" for group, numbers in groups.items()]
    lines.append(f"  words: {sha256(chr(10).join(words).encode()).hexdigest()[:12]}")
    return [*lines, *(f"{SAYS}{sentence}" for sentence in dict.fromkeys(sentences))]


def _numbers(values: list[float]) -> str:
    """Return a group of numbers: how many, how large, the first ones, and two weighted sums of all."""
    finite = [value for value in values if math.isfinite(value)]
    odd = "".join(f" {value}@{place}" for place, value in enumerate(values) if not math.isfinite(value))
    size = max(map(abs, finite), default=0.0)
    shown = [f"{value:.12g}" for value in finite[:SHOWN]]
    if len(finite) > SHOWN:
        for turn in (0.618033988749895, 0.754877666246693):
            weights = (0.5 + (place + 1) * turn % 1 for place in range(len(finite)))
            shown.append(f"{math.fsum(weight * value for weight, value in zip(weights, finite, strict=True)):.12g}")
    return f"{len(values)} ≤{size:.3g}{odd if len(odd) < 200 else f' odd {len(odd)}'}: {' '.join(shown)}"


def written(found: Mapping[str, Fields]) -> str:
    """Return the summary of all cases as one text: the sentences that they say, and the cases with their numbers."""
    sentences: dict[str, str] = {}
    lines = []
    for case, fields in found.items():
        own = lines_of(fields)
        said = [line.removeprefix(SAYS) for line in own if line.startswith(SAYS)]
        keys = [sha256(sentence.encode()).hexdigest()[:6] for sentence in said]
        for key, sentence in zip(keys, said, strict=True):
            if sentences.setdefault(key, sentence) != sentence:
                raise ValueError(f"Two sentences have the key {key}; take more digits.")
        lines += [case, *(line for line in own if not line.startswith(SAYS)), SAYS + " ".join(keys)]
    return "\n".join([*(f"{key} {sentence}" for key, sentence in sorted(sentences.items())), "", *lines, ""])


def parsed(text: str) -> dict[str, list[str]]:
    """Return the lines of each case of a summary."""
    head, _, rest = text.partition("\n\n")
    sentences = dict(line.split(" ", 1) for line in head.splitlines())
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in rest.splitlines():
        if line.startswith(SAYS):
            lines += [SAYS + sentences[key] for key in line.removeprefix(SAYS).split()]
        elif line.startswith("  "):
            lines.append(line)
        else:
            lines = found[line] = []
    return found


def unlike(expected: list[str], found: list[str]) -> list[str]:
    """Return the lines of a case that differ by more than the tolerance, each with what was expected."""
    if len(expected) != len(found):
        return [f"- {line}" for line in expected if line not in found] + [
            f"+ {line}" for line in found if line not in expected
        ]
    pairs = zip(expected, found, strict=True)
    return [f"-{old}\n+{new}" for old, new in pairs if old != new and not _close(old, new)]


def _close(old: str, new: str) -> bool:
    """Whether two lines of numbers agree: the same group, as many of them, and each to the tolerance."""
    head, _, numbers = old.rpartition(": ")
    other, _, found = new.rpartition(": ")
    if "≤" not in head or _without_size(head) != _without_size(other):
        return False
    one, two = numbers.split(), found.split()
    scale = float(head.rpartition("≤")[2].split()[0])
    return len(one) == len(two) and all(
        same_number(float(a), float(b), TOLERANCE, scale) for a, b in zip(one, two, strict=True)
    )


def _without_size(head: str) -> str:
    return re.sub(r"≤\S+", "", head)
