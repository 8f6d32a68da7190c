"""Drawing rows: blocks of codes from counter-based random streams, and frames with labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from suffice.data.block import Block, code_dtype
from suffice.data.frame import to_native, unicode_required
from suffice.data.schema import Schema
from suffice.errors import ArgumentError, Remedy, require_seed, require_whole, shown
from suffice.inference.calibration import Calibrated
from suffice.inference.drawing import draw as draw_codes
from suffice.inference.gibbs import Gibbs
from suffice.inference.inquiry import Given
from suffice.inference.product import Product
from suffice.inference.reachable import require_reachable
from suffice.settings import more_memory, settings
from suffice.text import in_bytes
from suffice.types import Array, Floats, Frame

METHODS = ("exact", "gibbs")
BLOCK_ROWS = 1 << 16
BLOCK_CODES = 1 << 25
"""Codes that a block of Gibbs samples holds at most, unless one draw of every chain has more."""
CHAINS, BURN_IN, THIN = 64, 1000, 10

Draw = Callable[[Callable[[], Floats]], dict[str, Array]]
"""From a supply of uniform numbers, one array of a block's length a call, to the block's columns of codes."""


def require_draws(n: object, n_bytes: int, what: str = "rows", name: str = "n") -> int:
    """Return the number of draws, which must be a whole number; of so many bytes each, they must fit the memory."""
    found = require_whole(name, n, place=f"argument, the number of {what},")
    need, allowed = found * n_bytes, settings().memory
    if need > allowed:
        raise ArgumentError(
            f"The {name!r} argument asks for {shown(found)} {what}, which would take {in_bytes(need)}, more than the "
            f"{in_bytes(allowed)} that are allowed. Draw at most {allowed // n_bytes:,} at a time, or allow more: ",
            more_memory(need),
            ".",
        )
    return found


def row_bytes(schema: Schema) -> int:
    """Return what a drawn row takes: its codes and numbers, as blocks and put together."""
    sizes = (8 if v.states is None else np.dtype(code_dtype(v.n_states)).itemsize for v in schema.variables)
    return 2 * max(sum(sizes), 1)


def sample_blocks(schema: Schema, draw: Draw, n: int, seed: int | None) -> Iterator[Block]:
    """Yield ``n`` drawn rows as blocks of codes, in bounded memory.

    Every block has a random stream of its own, keyed by seed and block number: rows depend on seed and position, never
    on how the work was shared out, and the first rows do not depend on ``n``.
    """
    return _blocks(
        schema, draw, require_whole("n", n, place="argument, the number of rows,"), stream_key(seed)
    )  # checked before the first row is asked for


def _blocks(schema: Schema, draw: Draw, n: int, key: int) -> Iterator[Block]:
    for number, start in enumerate(range(0, max(n, 1), BLOCK_ROWS)):
        stream = np.random.Generator(np.random.Philox(key=np.array([key, number], np.uint64)))
        size = min(BLOCK_ROWS, n - start)

        def uniform(stream: np.random.Generator = stream, size: int = size) -> Floats:
            return stream.random(BLOCK_ROWS)[:size]

        columns = draw(uniform)
        yield Block(schema, {name: columns[name] for name in schema}, None, size, start)


def from_calibrated(schema: Schema, found: Calibrated, evidence: Given) -> Draw:
    """Return how to draw rows from the marginals that evidence leaves."""

    def draw(uniform: Callable[[], Floats]) -> dict[str, Array]:
        size = len(uniform())
        codes = draw_codes(found, uniform)
        columns = {}
        for position, variable in enumerate(schema.variables):
            drawn = codes.get(position, np.full(size, evidence.hard.get(position, 0)))
            columns[variable.name] = drawn.astype(code_dtype(variable.n_states))
        return columns

    return draw


# Gibbs sampling -----------------------------------------------------------------------------------------------


def refuse_chain_settings(**settings: int | None) -> None:
    """Raise when something is set that independent draws have no use for."""
    given = [name for name, value in settings.items() if value is not None]
    if given:
        raise ArgumentError(
            f"The {given[0]!r} argument is for Gibbs sampling; exact draws are independent and have no use for it. "
            "Leave it out, or pass ",
            Remedy("method", "gibbs"),
            ".",
        )


def gibbs_blocks(schema: Schema, product: Product, evidence: Given, n: int, seed: int | None, *,
                 burn_in: int | None, thin: int | None, chains: int | None) -> Iterator[Block]:  # fmt: skip
    """Yield ``n`` rows of Gibbs samples as blocks of codes: one row of every chain, sweeps later the next, and so on.

    Nothing is allocated that grows with ``n``; None stands for the usual setting. Raises where zeros would keep chains
    from possible states.
    """
    n = require_whole("n", n, place="argument, the number of rows,")
    burn_in = BURN_IN if burn_in is None else require_whole("burn_in", burn_in)
    thin = THIN if thin is None else require_whole("thin", thin, 1)
    n_chains = max(1, min(CHAINS, n)) if chains is None else require_whole("chains", chains, 1)
    key = stream_key(seed)
    sampler = Gibbs.of_product(product, evidence)
    states = sampler.start(n_chains, key)  # fails before the first row is asked for
    require_reachable(sampler.limits(), product.names)
    return _gibbs_blocks(schema, sampler, states, n, key, burn_in, thin)


def _gibbs_blocks(schema: Schema, sampler: Gibbs, states: Array, n: int, key: int, burn_in: int,
                  thin: int) -> Iterator[Block]:  # fmt: skip
    n_chains, n_variables = states.shape
    draws = max(1, min(BLOCK_ROWS, BLOCK_CODES // n_variables) // n_chains)
    if n > 0:
        sampler.run(states, burn_in, key)
    swept = burn_in
    for start in range(0, max(n, 1), draws * n_chains):
        size = min(draws * n_chains, n - start)
        codes = np.empty((-(-size // n_chains), n_chains, n_variables), states.dtype)
        for draw in codes:
            sampler.run(states, thin, key, swept)
            swept += thin
            draw[:] = states
        rows = codes.reshape(-1, n_variables)[:size]
        columns = {v.name: rows[:, i].astype(code_dtype(v.n_states)) for i, v in enumerate(schema.variables)}
        yield Block(schema, columns, None, size, start)


# Keys and frames ----------------------------------------------------------------------------------------------


def stream_key(seed: int | None) -> int:
    """Return the key of the random streams: the seed itself, or fresh entropy without one."""
    known = require_seed(seed)
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) if known is None else known


def sample_frame(schema: Schema, n: object, blocks: Iterator[Block], backend: str | None) -> Frame:
    """Put ``n`` drawn rows together as a frame, unless they would not fit the memory."""
    require_draws(n, row_bytes(schema))
    return to_frame(schema, blocks, backend)


def to_frame(schema: Schema, blocks: Iterator[Block], backend: str | None) -> Frame:
    """Put blocks together as a frame; discrete columns are categoricals with all their states in order."""
    import pyarrow as pa

    with unicode_required():
        table = pa.concat_tables([_labelled(block) for block in blocks])
    found: Frame = to_native({name: table.column(name) for name in schema}, backend)
    return found


def _labelled(block: Block) -> Any:
    import pyarrow as pa

    arrays = {}
    for variable in block.schema.variables:
        codes = block.columns[variable.name]
        if not variable.is_discrete:
            arrays[variable.name] = pa.array(codes)
        elif isinstance(variable.labels[0], bool):
            arrays[variable.name] = pa.array(np.array(variable.labels, bool)[codes])
        else:
            arrays[variable.name] = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(variable.labels)))
    return pa.table(arrays)
