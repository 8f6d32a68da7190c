"""What ``suffice sample`` draws from Markov chains, observed or hidden, and autoregressions: text, or a long table."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ArgumentError
from suffice.text import plural

if TYPE_CHECKING:
    from suffice.cli.shared import Document
    from suffice.data.block import Block
    from suffice.data.sequences import Sequences
    from suffice.data.variable import Variable
    from suffice.models.autoregression import AutoregressiveModel
    from suffice.models.hidden_markov import HiddenMarkovModel
    from suffice.models.markov_chain import MarkovChainModel
    from suffice.structures.markov_chain import MarkovChain
    from suffice.types import Columns, Floats
    from suffice.values import Label

    SequenceModel = MarkovChainModel | HiddenMarkovModel | AutoregressiveModel

LENGTH = 100
"""How long a sequence is unless said."""


@dataclass(frozen=True)
class Drawn:
    """Drawn sequences, as each of the forms in which they are printed and written.

    Attributes
    ----------
    block : callable
        Returns one row per position.
    document : callable
        Returns what is printed as JSON.
    lines : callable or None
        Returns one line per sequence; None for models whose sequences are no text.
    is_text : bool
        Whether lines are what people read.
    """

    block: Callable[[], Block]
    document: Callable[[], Document]
    lines: Callable[[], str] | None = None
    is_text: bool = False


def draw_sequences(
    model: SequenceModel,
    n: int | None,
    length: int | None,
    start: str | None,
    seed: int | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Draw sequences, one unless said otherwise, and print or write them."""
    from suffice.models.markov_chain import MarkovChainModel

    _require_ending(out, isinstance(model, MarkovChainModel))
    sizes = (1 if n is None else n, LENGTH if length is None else length)
    drawn = _drawn(model, *sizes, start, seed)
    if out is None:
        _print(drawn, as_json)
        return
    _write(drawn, out)
    if as_json:
        print(json.dumps({"sequences": sizes[0], "length": sizes[1], "seed": seed, "out": out}))
    else:
        print(f"Wrote {plural(sizes[0], 'sequence')} of {sizes[1]:,} to {out}")


def _drawn(model: SequenceModel, n: int, length: int, start: str | None, seed: int | None) -> Drawn:
    from suffice.models.autoregression import AutoregressiveModel
    from suffice.models.markov_chain import MarkovChainModel

    if isinstance(model, AutoregressiveModel):
        paths = model.sample_paths(n, length, seed=seed, start=start)
        names = model.variables
        return Drawn(
            lambda: _block_of_paths(names, paths, model.id, model.time),
            lambda: {"variables": list(names), "sequences": paths.tolist()},
        )
    shape = model.structure
    if isinstance(model, MarkovChainModel):
        chain = model
        texts = chain.sample(n, length, seed=seed, start=None if start is None else _begun(chain, start))
        return Drawn(
            lambda: _block_of(texts, shape),
            lambda: {"variable": chain.variable.name, "sequences": list(texts)},
            lambda: _lines(chain, texts),
            _is_text(chain),
        )
    if start is not None:
        raise ArgumentError("The states of a hidden chain are drawn, so its sequences have no given start.")
    shown = model.sample(n, length, seed=seed)
    return Drawn(lambda: _block_of(shown, shape), lambda: _labels(_block_of(shown, shape)))


def _require_ending(out: str | None, chain: bool) -> None:
    endings = (".txt", ".csv", ".parquet") if chain else (".csv", ".parquet")
    if out is not None and not out.lower().endswith(endings):
        raise ArgumentError(
            f"Sequences are written to a path that ends in {', '.join(endings[:-1])} or {endings[-1]}. Got {out!r} "
            "instead."
        )


def _print(drawn: Drawn, as_json: bool) -> None:
    if as_json:
        from suffice.io.own_json import plain

        print(json.dumps(plain(drawn.document()), ensure_ascii=False, allow_nan=False))
    elif drawn.lines is not None and drawn.is_text:
        sys.stdout.write(_shown(drawn.lines()))
    else:
        from suffice.io.rows_file import write_csv

        sys.stdout.flush()
        block = drawn.block()
        write_csv(block.schema, [block], sys.stdout.buffer)


def _write(drawn: Drawn, out: str) -> None:
    from suffice.files import atomic_write
    from suffice.io.rows_file import write_rows

    if drawn.lines is not None and out.lower().endswith(".txt"):
        with atomic_write(out, binary=True) as file:
            file.write(drawn.lines().encode())
        return
    block = drawn.block()
    if out.lower().endswith(".csv"):
        write_rows(block.schema, [block], out)
        return
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, pa.Array] = {}
    for variable in block.schema.variables:
        values = block.columns[variable.name]
        if not variable.is_discrete:
            columns[variable.name] = pa.array(values)
        elif variable.name in list(block.schema)[:2]:  # numbers, not categories
            columns[variable.name] = pa.array(values + 1)
        else:
            columns[variable.name] = pa.array(list(variable.labels)).take(pa.array(values))
    with atomic_write(out, binary=True) as file:
        parquet.write_table(pa.table(columns), file)


# Text ---------------------------------------------------------------------------------------------------------


def _letters(model: MarkovChainModel) -> bool:
    """Whether all symbols are single characters."""
    return all(isinstance(label, str) and len(label) == 1 for label in model.variable.labels)


def _is_text(model: MarkovChainModel) -> bool:
    """Whether sequences are text: of characters, or of a file's words; those of a table are printed as one."""
    shape = model.structure
    return shape.id is None and shape.time is None and (shape.level == "words" or _letters(model))


def _lines(model: MarkovChainModel, drawn: Sequences) -> str:
    """Return one line a sequence, with blanks between symbols that are not single characters."""
    return "".join(f"{text}\n" for text in drawn.texts("" if _letters(model) else " "))


def _begun(model: MarkovChainModel, start: str) -> str | list[str]:
    """Read the first symbols: characters, or symbols between blanks."""
    return start if _letters(model) or model.variable.find(start) is not None else start.split()


def _shown(text: str) -> str:
    """Spell out characters that a terminal would obey; a file or pipe gets them as they are."""
    if not sys.stdout.isatty():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


# Tables -------------------------------------------------------------------------------------------------------


def _block_of(drawn: Sequences, shape: MarkovChain) -> Block:
    """Return sequences of symbols as one block."""
    from suffice.data.held_symbols import HeldSymbols

    symbols = drawn.symbols(continuous=None)
    assert isinstance(symbols, HeldSymbols)  # as what is drawn is
    n, length = len(symbols.lengths), int(symbols.lengths[0]) if len(symbols.lengths) else 0
    return _long(symbols.schema.variables, symbols.columns, (n, length), shape.id, shape.time)


def _block_of_paths(names: tuple[str, ...], paths: Floats, id: str | None, time: str | None) -> Block:
    """Return sequences of numbers, shape (n, length, n_variables), as one block."""
    from suffice.data.variable import Variable

    n, length, _ = paths.shape
    values = dict(zip(names, paths.reshape(n * length, len(names)).T, strict=True))
    return _long(tuple(Variable(name) for name in names), values, (n, length), id, time)


def _long(
    variables: tuple[Variable, ...], values: Columns, sizes: tuple[int, int], id: str | None, time: str | None
) -> Block:
    """Return a block with one row per position: the sequence, the time, and the values."""
    from suffice.data.block import Block
    from suffice.data.schema import Schema
    from suffice.data.variable import Variable

    n, length = sizes
    which = _free(id or "sequence", list(values))
    when = _free(time or "time", [which, *values])
    places = (Variable(which, tuple(range(1, n + 1))), Variable(when, tuple(range(1, length + 1))))
    columns = {which: np.repeat(np.arange(n), length), when: np.tile(np.arange(length), n), **values}
    return Block(Schema((*places, *variables)), columns, None, n * length)


def _labels(block: Block) -> dict[str, list[Label]]:
    """Return the columns as they would be written."""
    found: dict[str, list[Label]] = {}
    for variable in block.schema.variables:
        values = block.columns[variable.name].tolist()
        found[variable.name] = [variable.labels[code] for code in values] if variable.is_discrete else values
    return found


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
