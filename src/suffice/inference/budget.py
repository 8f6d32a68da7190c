"""Sizes before memory: tables that would not fit are refused with the numbers that say why."""

from __future__ import annotations

import math
from collections.abc import Sequence

from suffice.errors import ModelError, listing
from suffice.inference.product import Product
from suffice.settings import settings
from suffice.text import in_bytes

BYTES = 8


def cells_of(cliques: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[int]:
    """Return the number of cells of the table over each clique."""
    return [math.prod(sizes[variable] for variable in clique) for clique in cliques]


def require_room(product: Product, cliques: Sequence[Sequence[int]], copies: int = 1, all_at_once: bool = True) -> None:
    """Raise unless the tables fit the memory that may be used.

    Parameters
    ----------
    product : Product
    cliques : sequence of scopes
    copies : int
        How many tables of a clique's size are needed at a time.
    all_at_once : bool
        Whether the tables of all cliques are kept, or one after another.
    """
    tables = cells_of(cliques, product.sizes)
    if not tables:
        return
    need = BYTES * copies * (sum(tables) if all_at_once else max(tables))
    allowed = settings().memory
    if need <= allowed:
        return
    largest = max(range(len(tables)), key=tables.__getitem__)
    members = [product.names[variable] for variable in cliques[largest]]
    width = max(map(len, cliques)) - 1
    kept = f"; with those of the other cliques {sum(tables):,} cells" if all_at_once else ""
    raise ModelError(
        f"Exact inference would need {in_bytes(need)}, and may use {in_bytes(allowed)}. The elimination order that was "
        f"found has width {width}: its largest clique, {listing(members, 20)}, has a table of {tables[largest]:,} "
        f"cells{kept}. Observe some of these variables, or allow more: sf.config(memory='{_next_size(need)}')."
    )


def _next_size(need: int) -> str:
    """Return the next power of two of gigabytes that suffices, as it is written for `config`."""
    size = 1
    while size * 10**9 < need:
        size *= 2
    return f"{size}GB"
