"""``suffice crf show MODEL``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.crf_options import ModelArgument
from suffice.cli.shared import JsonOption, reported
from suffice.errors import ArgumentError

if TYPE_CHECKING:
    from suffice.io.chain_file import ChainFile
    from suffice.models.chain_model import ChainModel
    from suffice.result.chain_weights import TopWeights
    from suffice.values import Label


def show(
    model: ModelArgument,
    n: Annotated[int, typer.Option("-n", metavar="N", help="So many of the largest weights of either sign.")] = 10,
    label: Annotated[str | None, typer.Option("--label", metavar="LABEL", help="Only features of this label.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a model is, what was proven of it, and its largest weights."""
    with reported(as_json):
        from suffice.cli.crf_model import read_chain
        from suffice.result.chain_weights import state_table, step_table, transition_table

        if n < 1:
            raise ArgumentError(f"The option -n must be a whole number, at least 1. Got {n} instead.")
        file = read_chain(model)
        found = file.model
        tables = {
            "features": state_table(found, n, _label(found, label)),
            "transitions": transition_table(found, n),
        }
        if found.structure.step_vocabulary is not None:
            tables["features of steps"] = step_table(found, n)
        (_print_json if as_json else _print)(file, tables)


def _label(model: ChainModel, text: str | None) -> Label | None:
    """Return the label of a name; those of models that were learnt in Python may be numbers."""
    if text is None:
        return None
    for label in model.label.labels:
        if str(label) == text:
            return label
    known = ", ".join(map(repr, model.label.labels))
    raise ArgumentError(f"The model has no label {text!r}. Its labels are {known}.")


def _print(file: ChainFile, tables: Mapping[str, TopWeights]) -> None:
    from suffice.cli.crf_report import show_verdict
    from suffice.cli.show import show_facts, show_table
    from suffice.errors import is_number
    from suffice.models.facts import chain_facts
    from suffice.text import fixed

    facts = chain_facts(file.model)
    penalty = {name: file.params.get(name) for name in ("c1", "c2")}
    penalty = {name: value for name, value in penalty.items() if is_number(value) and value}
    if penalty:
        facts.append(("penalty", ", ".join(f"{name} {value:g}" for name, value in penalty.items())))
    if file.proof is not None:
        facts.append(("−log-likelihood", fixed(-file.proof.log_likelihood)))
    show_facts(facts)
    if file.proof is not None:
        show_verdict(file.proof)
    for name, table in tables.items():
        print(f"\nLargest weights of {name}")
        show_table(table._cells())
        print(table._foot)


def _print_json(file: ChainFile, tables: Mapping[str, TopWeights]) -> None:
    from suffice.cli.crf_report import print_document, show_document

    print_document(show_document(file, tables))
