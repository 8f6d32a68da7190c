"""Latent variables of a structure: variables that no column carries, with their numbers of states."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.errors import StructureError, UnknownNameError, is_whole, listing, require_mapping, shown, suggestion
from suffice.structures.names import by_name

Latent = tuple[tuple[str, int], ...]


def latent_of(given: object, names: Sequence[str]) -> Latent:
    """Return the latent variables among ``names``, each with its number of states.

    >>> latent_of({"H": 3}, ("A", "H"))
    (('H', 3),)
    """
    if given is None:
        return ()
    found = by_name(require_mapping("latent", given, "{'H': 3}"))
    for name, n_states in found.items():
        if name not in names:
            raise UnknownNameError(
                f"The latent variable {name!r} is none of the structure's, {listing(names, 12)}."
                f"{suggestion(name, names)} Put it into the structure, or leave it out of latent=."
            )
        if not is_whole(n_states) or n_states < 1:
            raise StructureError(
                f"Latent variable {name!r} needs its number of states, at least 1. Got {shown(n_states)} instead."
            )
    if names and all(name in found for name in names):
        raise StructureError(f"All variables are latent, {listing(names, 12)}. Leave one that the data can tell of.")
    return tuple((name, int(n_states)) for name, n_states in found.items())
