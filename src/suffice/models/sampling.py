"""Drawing rows: blocks of codes from counter-based random streams, and frames with labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.frame import to_native
from suffice.data.schema import Schema
from suffice.errors import require_seed, require_whole

BLOCK_ROWS = 1 << 16

Draw = Callable[[Callable[[], NDArray[np.float64]]], dict[str, NDArray[Any]]]
"""From a supply of uniform numbers, one array of a block's length a call, to the block's columns of codes."""


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

        def uniform(stream: np.random.Generator = stream, size: int = size) -> NDArray[np.float64]:
            return stream.random(BLOCK_ROWS)[:size]

        columns = draw(uniform)
        yield Block(schema, {name: columns[name] for name in schema}, None, size, start)


def stream_key(seed: int | None) -> int:
    """Return the key of the random streams: the seed itself, or fresh entropy without one."""
    known = require_seed(seed)
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) if known is None else known


def to_frame(schema: Schema, blocks: Iterator[Block], backend: str | None) -> Any:
    """Put blocks together as a frame; discrete columns are categoricals with all their states in order."""
    import pyarrow as pa

    table = pa.concat_tables([_labelled(block) for block in blocks])
    return to_native({name: table.column(name) for name in schema}, backend)


def _labelled(block: Block) -> Any:
    import pyarrow as pa

    arrays = {}
    for variable in block.schema.variables:
        codes = block.columns[variable.name]
        if isinstance(variable.labels[0], bool):
            arrays[variable.name] = pa.array(np.array(variable.labels, bool)[codes])
        else:
            arrays[variable.name] = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(variable.labels)))
    return pa.table(arrays)
