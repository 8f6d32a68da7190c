"""The structures made of features, by the name that files give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from suffice.errors import StructureError, listing
from suffice.structures.features import Features
from suffice.structures.pairwise import Boltzmann, Ising, Potts

if TYPE_CHECKING:
    from suffice.types import Entry

FEATURE_STRUCTURES: dict[str, Callable[[Entry], Features]] = {
    "Features": Features.from_dict,
    "Ising": Ising.from_dict,
    "Boltzmann": Boltzmann.from_dict,
    "Potts": Potts.from_dict,
}


def features_from_dict(entry: Entry) -> Features:
    """Rebuild a structure of features from its `to_dict`'s data."""
    kind = entry.get("type")
    if kind not in FEATURE_STRUCTURES:
        raise StructureError(f"A structure of features is one of {listing(FEATURE_STRUCTURES)}. Got {kind!r} instead.")
    return FEATURE_STRUCTURES[kind](entry)
