"""Types of plain values, which load nothing: names of states, and the words that policies take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

Label = str | int | float | bool
"""The name of a state."""
Setting = str | int | float | tuple[str | int | float, ...]
"""A setting of a node's kind of distribution, as a `DAG` holds it."""
GivenKind = str | Mapping[str, str | int | float | Sequence[str | int | float]]
"""A node's kind of distribution, or its settings by name, ``kind`` among them."""

Estimate = Literal["mle", "mean", "map"]
Missing = Literal["error", "drop", "em", "available"]
UnknownStates = Literal["error", "missing"]
UnseenParents = Literal["error", "uniform", "nan"]
CertifyBy = Literal["statistics", "data"]
Damaged = Literal["error", "skip"]

ESTIMATES_UNDER_PRIOR: tuple[Literal["mean", "map"], ...] = ("mean", "map")
MISSING: tuple[Missing, ...] = get_args(Missing)
UNKNOWN_STATES: tuple[UnknownStates, ...] = get_args(UnknownStates)
UNSEEN_PARENTS: tuple[UnseenParents, ...] = get_args(UnseenParents)
CERTIFY_BY: tuple[CertifyBy, ...] = get_args(CertifyBy)
DAMAGED: tuple[Damaged, ...] = get_args(Damaged)
