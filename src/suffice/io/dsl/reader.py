"""Reading DSL: the blocks of a file become a network, and whatever does not fit becomes an error with its place."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from suffice.errors import listing, suggestion
from suffice.io.dsl.blocks import DslBlock, parse
from suffice.io.network_file import FileNode, network
from suffice.io.syntax.braces_file import SLASHES, BracesFile, KeyValue
from suffice.io.syntax.braces_kept import changed, merged, named, place
from suffice.io.syntax.marked_text import Span
from suffice.models.bayes_net import BayesianNetwork
from suffice.text import plural, shorten
from suffice.types import Json

MAX_FILLED = 2**20
TOO_MANY = 10**15
TYPES = {"CPT": "PROBABILITIES", "TRUTHTABLE": "RESULTINGSTATES"}


def read(path: str) -> BayesianNetwork:
    """Read a network; see `suffice.io.dsl`."""
    file = BracesFile.load(path, SLASHES)
    whole, blocks = parse(file)
    places = {name: place(block.kept, i) for i, (name, block) in enumerate(blocks.items())}
    blocks = {name: blocks[name] for name in sorted(blocks, key=places.__getitem__)}
    states = {name: _states(file, block) for name, block in blocks.items()}
    _check_filled(file, blocks)
    nodes = [_node(file, block, blocks, states) for block in blocks.values()]
    notes = [*_notes(file, blocks), *changed(_renamed(whole, blocks, states))]
    return network(file, nodes, _properties(whole, blocks), notes)


def _node(
    file: BracesFile, block: DslBlock, blocks: Mapping[str, DslBlock], states: Mapping[str, tuple[str, ...]]
) -> FileNode:
    parents = _parents(file, block, blocks)
    sizes = [len(states[parent]) for parent in parents]
    kind = _kind(file, block)
    found = _needed(file, block, TYPES[kind])
    rows = (_table if kind == "CPT" else _truth_table)(file, block, found.value, sizes)
    names = tuple(blocks[parent].name for parent in parents)
    return FileNode(block.name, states[block.word.text], names, rows, block.word.at)


def _kind(file: BracesFile, block: DslBlock) -> str:
    found = _needed(file, block, "TYPE")
    kind = file.clean[slice(*found.value)]
    if kind not in TYPES:
        raise file.error(
            found.at,
            f"Node {block.name!r} is of type {shorten(kind)!r}. Only the types CPT and TRUTHTABLE, of discrete chance "
            "nodes, can be read. Change its type in GeNIe first.",
        )
    return kind


def _needed(file: BracesFile, block: DslBlock, key: str) -> KeyValue:
    if key not in block.essential:
        raise file.error(block.word.at, f"Node {block.name!r} has no {key}. Add it.")
    return block.essential[key]


def _list(file: BracesFile, block: DslBlock, found: KeyValue) -> Span:
    """Return the span of a list without its parentheses."""
    if not file.is_list(found.value):
        raise file.error(found.at, f"Node {block.name!r}: {found.key} is a list, '{found.key} = (…);'. Correct it.")
    return found.value[0] + 1, found.value[1] - 1


def _states(file: BracesFile, block: DslBlock) -> tuple[str, ...]:
    found = _needed(file, block, "NAMESTATES")
    states = [word.text for word in file.words(_list(file, block, found))]
    if not states:
        raise file.error(found.at, f"Node {block.name!r} has no states. It needs at least one.")
    for number, state in block.kept.state.items():
        if not 1 <= number <= len(states):
            raise file.error(
                found.at, f"Node {block.name!r} has no state {number}, for which suffice_state_{number} has a name."
            )
        states[number - 1] = named(states[number - 1], state)
    return tuple(states)


def _parents(file: BracesFile, block: DslBlock, blocks: Mapping[str, DslBlock]) -> list[str]:
    if "PARENTS" not in block.essential:
        return []
    words = file.words(_list(file, block, block.essential["PARENTS"]))
    for word in words:
        if word.text not in blocks:
            raise file.error(
                word.at,
                f"{shorten(word.text)!r} is not a node of the file; they are {listing(blocks, 12)}."
                f"{suggestion(shorten(word.text), blocks)}",
            )
    return [word.text for word in words]


# Tables -------------------------------------------------------------------------------------------------------


def _table(file: BracesFile, block: DslBlock, value: Span, sizes: list[int]) -> NDArray[np.float64]:
    span = _list(file, block, block.essential["PROBABILITIES"])
    n_states, n_rows = _n_states(file, block), math.prod(sizes)
    numbers: array[float] = array("d")
    n_numbers = file.numbers(span, numbers)
    if n_numbers != n_states * n_rows:
        raise file.error(
            value[0],
            f"The table of {block.name!r} needs {_needs(n_states, n_rows)}. Got {n_numbers:,} instead.",
        )
    found = np.frombuffer(numbers, np.float64)
    file.check_probabilities(span, found)
    return found.reshape(n_rows, n_states)


def _needs(n_states: int, n_rows: int) -> str:
    if n_states * n_rows > TOO_MANY:
        return "more numbers than any file lists; give the node fewer parents"
    return (
        f"{plural(n_states * n_rows, 'number')}, {plural(n_states, 'state')} × {plural(n_rows, 'parent configuration')}"
    )


def _truth_table(file: BracesFile, block: DslBlock, value: Span, sizes: list[int]) -> NDArray[np.float64]:
    words = file.words(_list(file, block, block.essential["RESULTINGSTATES"]))
    identifiers = [word.text for word in file.words(block.essential["NAMESTATES"].value)]
    codes = {state: code for code, state in enumerate(identifiers)}
    n_rows = math.prod(sizes)
    if len(words) != n_rows:
        raise file.error(
            value[0],
            f"The truth table of {block.name!r} needs one state for each of its "
            f"{plural(n_rows, 'parent configuration') if n_rows < TOO_MANY else 'parent configurations'}. "
            f"Got {len(words):,} instead.",
        )
    for word in words:
        if word.text not in codes:
            raise file.error(
                word.at,
                f"{shorten(word.text)!r} is not a state of {block.name!r}, which has {listing(codes)}."
                f"{suggestion(shorten(word.text), codes)}",
            )
    rows = np.zeros((n_rows, len(identifiers)))
    rows[np.arange(n_rows), [codes[word.text] for word in words]] = 1.0
    return rows


def _check_filled(file: BracesFile, blocks: Mapping[str, DslBlock]) -> None:
    """Refuse truth tables that a short file lists and that fill memory with their zeros and ones."""
    n_filled = 0
    for block in blocks.values():
        found = block.essential.get("RESULTINGSTATES")
        n_filled += len(file.words(found.value)) * _n_states(file, block) if found else 0
        if n_filled > MAX_FILLED:
            raise file.error(
                block.word.at,
                f"With the truth table of {block.name!r}, those of the file have more than {MAX_FILLED:,} numbers. "
                "Write them as tables of type CPT.",
            )


def _n_states(file: BracesFile, block: DslBlock) -> int:
    return len(file.words(block.essential["NAMESTATES"].value))


# What is kept -------------------------------------------------------------------------------------------------


def _properties(whole: DslBlock, blocks: Mapping[str, DslBlock]) -> dict[str, Json]:
    variables = {block.name: merged(block.texts, block.kept.property) for block in blocks.values()}
    probabilities = {block.name: merged(block.of_table, block.kept.potential) for block in blocks.values()}
    return {
        "name": whole.name,
        "network": merged([*whole.texts, *whole.of_table], whole.kept.property),
        "variables": {name: texts for name, texts in variables.items() if texts},
        "probabilities": {name: texts for name, texts in probabilities.items() if texts},
    }


def _renamed(whole: DslBlock, blocks: Mapping[str, DslBlock], states: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the identifiers that another program has changed, by the names that they stood for."""
    named = {block.kept.name: block.name for block in (whole, *blocks.values()) if block.kept.name}
    for key, block in blocks.items():
        named |= {state: states[key][number - 1] for number, state in block.kept.state.items()}
    return {name: now for name, now in named.items() if name != now}


def _notes(file: BracesFile, blocks: Mapping[str, DslBlock]) -> list[str]:
    truth = [block.name for block in blocks.values() if _kind(file, block) == "TRUTHTABLE"]
    if not truth:
        return []
    return [
        f"Truth tables were read as tables of zeros and ones, for {plural(len(truth), 'node')}: {listing(truth, 12)}."
    ]
