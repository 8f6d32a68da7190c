"""What ``suffice sample`` draws from Markov chains, observed or hidden, and autoregressions: text, or a long table."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError
from suffice.text import plural

LENGTH = 100
"""How long a sequence is unless said."""


def draw_sequences(
    model: Any, n: int | None, length: int | None, start: str | None, seed: int | None, out: str | None, as_json: bool
) -> None:
    """Draw sequences, one unless said otherwise, and print or write them."""
    chain = hasattr(model, "transition")
    _require_ending(out, chain)
    sizes = (1 if n is None else n, LENGTH if length is None else length)
    if chain:
        drawn = model.sample(*sizes, seed=seed, start=None if start is None else _begun(model, start))
        if out is None and not as_json and _is_text(model):
            sys.stdout.write(_shown(_lines(model, drawn)))
            return
    elif hasattr(model, "decode"):
        if start is not None:
            raise ArgumentError("The states of a hidden chain are drawn, so its sequences have no given start.")
        drawn = model.sample(*sizes, seed=seed)
    else:
        drawn = model.sample_paths(*sizes, seed=seed, start=start)
    if out is None:
        _print(model, drawn, as_json)
        return
    _write(model, drawn, out)
    if as_json:
        print(json.dumps({"sequences": sizes[0], "length": sizes[1], "seed": seed, "out": out}))
    else:
        print(f"Wrote {plural(sizes[0], 'sequence')} of {sizes[1]:,} to {out}")


def _require_ending(out: str | None, chain: bool) -> None:
    endings = (".txt", ".csv", ".parquet") if chain else (".csv", ".parquet")
    if out is not None and not out.lower().endswith(endings):
        raise ArgumentError(
            f"Sequences are written to a path that ends in {', '.join(endings[:-1])} or {endings[-1]}. Got {out!r} "
            "instead."
        )


def _print(model: Any, drawn: Any, as_json: bool) -> None:
    from suffice.io.rows_file import write_csv

    if not as_json:
        sys.stdout.flush()
        block = _long(model, drawn)
        write_csv(block.schema, [block], sys.stdout.buffer)
    elif isinstance(drawn, np.ndarray):
        print(json.dumps({"variables": list(model.variables), "sequences": drawn.tolist()}, ensure_ascii=False))
    else:
        from suffice.io.own_json import plain

        if hasattr(model, "decode"):
            block = _long(model, drawn)
            found: dict[str, Any] = {name: _labels(block, name) for name in block.schema}
        else:
            found = {"variable": model.variable.name, "sequences": list(drawn)}
        print(json.dumps(plain(found), ensure_ascii=False, allow_nan=False))


def _write(model: Any, drawn: Any, out: str) -> None:
    from suffice.files import atomic_write
    from suffice.io.rows_file import write_rows

    if out.lower().endswith(".txt"):
        with atomic_write(out, binary=True) as file:
            file.write(_lines(model, drawn).encode())
        return
    block = _long(model, drawn)
    if out.lower().endswith(".csv"):
        write_rows(block.schema, [block], out)
        return
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {}
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


def _letters(model: Any) -> bool:
    """Whether all symbols are single characters."""
    return all(isinstance(label, str) and len(label) == 1 for label in model.variable.labels)


def _is_text(model: Any) -> bool:
    """Whether sequences are text: of characters, or of a file's words; those of a table are printed as one."""
    shape = model.structure
    return shape.id is None and shape.time is None and (shape.level == "words" or _letters(model))


def _lines(model: Any, drawn: Any) -> str:
    """Return one line a sequence, with blanks between symbols that are not single characters."""
    return "".join(f"{text}\n" for text in drawn.texts("" if _letters(model) else " "))


def _begun(model: Any, start: str) -> Any:
    """Read the first symbols: characters, or symbols between blanks."""
    return start if _letters(model) or model.variable.find(start) is not None else start.split()


def _shown(text: str) -> str:
    """Spell out characters that a terminal would obey; a file or pipe gets them as they are."""
    if not sys.stdout.isatty():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


# Tables -------------------------------------------------------------------------------------------------------


def _long(model: Any, drawn: Any) -> Any:
    """Return sequences as one block with a row a position: the sequence, the time, and the values."""
    from suffice.data.block import Block
    from suffice.data.schema import Schema
    from suffice.data.variable import Variable

    if isinstance(drawn, np.ndarray):
        n, length, _ = drawn.shape
        variables = tuple(Variable(name) for name in model.variables)
        values: dict[str, NDArray[Any]] = dict(
            zip(model.variables, drawn.reshape(n * length, len(model.variables)).T, strict=True)
        )
        named = model
    else:
        symbols = drawn.symbols(continuous=None)
        n, length = len(symbols.lengths), int(symbols.lengths[0]) if len(symbols.lengths) else 0
        variables, values, named = symbols.schema.variables, symbols.columns, model.structure
    which = _free(named.id or "sequence", list(values))
    when = _free(named.time or "time", [which, *values])
    places = (Variable(which, tuple(range(1, n + 1))), Variable(when, tuple(range(1, length + 1))))
    columns = {which: np.repeat(np.arange(n), length), when: np.tile(np.arange(length), n), **values}
    return Block(Schema((*places, *variables)), columns, None, n * length)


def _labels(block: Any, name: str) -> list[Any]:
    """Return a column as it would be written."""
    variable, values = block.schema[name], block.columns[name].tolist()
    return [variable.labels[code] for code in values] if variable.is_discrete else values


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
