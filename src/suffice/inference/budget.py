"""Sizes before memory: tables that would not fit are refused with the numbers that say why."""

from __future__ import annotations

import math
from collections.abc import Sequence

from suffice.errors import Mention, ModelError, listing
from suffice.inference.product import Product
from suffice.settings import more_memory, settings
from suffice.text import in_bytes

BYTES = 8
MAX_AXES = 32


def cells_of(cliques: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[int]:
    """Return the number of cells of the table over each clique."""
    return [math.prod(sizes[variable] for variable in clique) for clique in cliques]


def require_room(product: Product, cliques: Sequence[Sequence[int]], peak: int | None = None) -> None:
    """Raise unless the tables fit the memory that may be used.

    Parameters
    ----------
    product : Product
    cliques : sequence of scopes
    peak : int, optional
        The most cells that are held at a time; without it, the tables of all cliques are.
    """
    tables = cells_of(cliques, product.sizes)
    if not tables:
        return
    need = BYTES * (sum(tables) if peak is None else peak)
    allowed = settings().memory
    if need <= allowed:
        return
    largest = max(range(len(tables)), key=tables.__getitem__)
    members = [product.names[variable] for variable in cliques[largest]]
    width = max(map(len, cliques)) - 1
    kept = f"; with those of the other cliques {sum(tables):,} cells" if peak is None else ""
    raise ModelError(
        f"Exact inference would need {in_bytes(need)}, and may use {in_bytes(allowed)}. The elimination order that was "
        f"found has width {width}: its largest clique, {listing(members, 20)}, has a table of {tables[largest]:,} "
        f"cells{kept}. ",
        Mention("observe", "Observe some of these variables, or allow more: "),
        more_memory(need),
        ".",
    )


def require_answer(product: Product, targets: Sequence[int], n_rows: int = 1) -> None:
    """Raise unless the answer itself fits: the joint table of the targets, for so many rows of evidence."""
    if len(targets) > MAX_AXES:
        raise ModelError(
            f"The joint distribution of {len(targets)} variables has more axes than the {MAX_AXES} of a table. "
            "Ask for fewer at a time."
        )
    cells = math.prod(product.sizes[target] for target in targets)
    need, allowed = BYTES * 3 * cells * n_rows, settings().memory
    if need > allowed:
        many = f" for {n_rows:,} rows of evidence" if n_rows > 1 else ""
        raise ModelError(
            f"The answer, a joint table of {len(targets)} variables with {cells:,} cells{many}, would need "
            f"{in_bytes(need)}, and may use {in_bytes(allowed)}. Ask for fewer at a time, or allow more: ",
            more_memory(need),
            ".",
        )
