"""Answers on the command line: tables, normal distributions, mixtures and estimates from draws, as text and as JSON."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from suffice.text import number, plural, probability

if TYPE_CHECKING:
    from suffice.cli.shared import Document
    from suffice.data.labelled import LabelledTable
    from suffice.data.schema import Schema
    from suffice.data.variable import Variable
    from suffice.models.assignment import Assignment
    from suffice.models.engine import ExactOrSampled
    from suffice.models.interval_table import IntervalTable
    from suffice.models.normal_mixture import NormalMixture
    from suffice.models.weighted_sampling import SampledAnswer
    from suffice.values import Label


def print_json(content: Document) -> None:
    """Print a JSON document of the standard, which has no NaN and no infinity."""
    from suffice.io.own_json import plain

    print(json.dumps(plain(content), ensure_ascii=False, indent=1, allow_nan=False))


def print_answer(answer: ExactOrSampled | IntervalTable, as_json: bool) -> None:
    """Print p(targets | given), whatever form it has."""
    if as_json:
        print_json(content(answer))
        return
    from suffice.cli.show import show_table
    from suffice.data.labelled import LabelledTable
    from suffice.models.interval_table import IntervalTable
    from suffice.models.normal_mixture import NormalMixture
    from suffice.models.weighted_sampling import SampledAnswer

    if isinstance(answer, SampledAnswer):
        for place, cells in enumerate(answer._tables()):
            if place and not sys.stdout.isatty():  # a terminal's tables have room around them
                print()
            show_table(cells)
        print(_note(answer))
    elif isinstance(answer, NormalMixture):
        show_table(answer._cells())
    elif isinstance(answer, IntervalTable):
        show_table(answer._cells())
        print(f"{answer.level:.4g} credible intervals, by {answer.method}")
    elif isinstance(answer, LabelledTable):
        title = f"p({', '.join(answer.names)} | given)" if len(answer.names) > 1 else ""
        show_table(answer._cells(), title, answer._above)
    else:  # one normal distribution, with a caption of its own
        print(answer)


def _note(answer: SampledAnswer) -> str:
    return f"{plural(answer.draws, 'weighted draw')}, worth {answer.effective_size:,.0f} of equal weight"


# As JSON ------------------------------------------------------------------------------------------------------


def content(answer: ExactOrSampled | IntervalTable) -> Document:
    """Return an answer as JSON-able data."""
    from suffice.data.labelled import LabelledTable
    from suffice.models.interval_table import IntervalTable
    from suffice.models.normal_mixture import NormalMixture
    from suffice.models.weighted_sampling import SampledAnswer

    if isinstance(answer, SampledAnswer):
        return _drawn(answer)
    if isinstance(answer, NormalMixture):
        return _mixture(answer)
    if isinstance(answer, IntervalTable):
        ends = {"lower": answer.lower.values, "upper": answer.upper.values, "level": answer.level}
        return {**content(answer.table), **ends}
    if isinstance(answer, LabelledTable):
        return {"targets": _states(answer.variables), "p": answer.values}
    return answer.to_dict()  # one normal distribution


def _states(variables: Iterable[Variable]) -> list[Document]:
    return [{"name": variable.name, "states": list(variable.labels)} for variable in variables]


def _mixture(answer: NormalMixture) -> Document:
    components = [
        {"given": labels, "p": weight, "mean": normal.mean, "covariance": normal.covariance}
        for labels, weight, normal in answer.components()
    ]
    targets = {"targets": _states(answer.targets), "p": answer.table.values} if answer.targets else {}
    moments = {"mean": answer.mean, "covariance": answer.covariance}
    return {"type": "NormalMixture", "names": list(answer.names), **targets, **moments, "components": components}


def _drawn(answer: SampledAnswer) -> Document:
    table, moments = {}, {}
    if answer.targets:
        p, error = answer.table, answer.table_error
        table = {"targets": _states(answer.targets), "p": p.values, "p_error": error.values}
    if answer.names:
        moments = {"names": list(answer.names), "mean": answer.mean, "mean_error": answer.mean_error}
        moments["covariance"] = answer.covariance
    return {
        "type": "SampledAnswer",
        "draws": answer.draws,
        "effective_size": answer.effective_size,
        **table,
        **moments,
    }


# All variables ------------------------------------------------------------------------------------------------


def print_marginals(answers: Mapping[str, ExactOrSampled], as_json: bool) -> None:
    """Print p(v | given) of every variable: the states of discrete ones, mean and sd of continuous ones."""
    if as_json:
        print_json({name: content(answer) for name, answer in answers.items()})
        return
    from suffice.cli.show import show_table
    from suffice.models.weighted_sampling import SampledAnswer

    rows = [row for name, answer in answers.items() for row in _rows(name, answer)]
    header = ["variable", "state", "p", "mean", "sd", "standard error"]
    kept = [place for place in range(len(header)) if place < 2 or any(row[place] for row in rows)]
    kept = [place for place in kept if place != 1 or any(row[1] for row in rows)]
    align = "".join("<<>>>>"[place] for place in kept)
    show_table(([header[place] for place in kept], [[row[place] for place in kept] for row in rows], align))
    drawn = [answer for answer in answers.values() if isinstance(answer, SampledAnswer)]
    if drawn:
        print(_note(drawn[0]))


def _rows(name: str, answer: ExactOrSampled) -> list[list[str]]:
    """Return the rows of one variable, its name in the first: state, p, mean, sd and standard error."""
    from suffice.data.labelled import LabelledTable
    from suffice.models.weighted_sampling import SampledAnswer

    if isinstance(answer, SampledAnswer) and not answer.names:
        return _state_rows(name, answer.table, [number(float(error), 2) for error in answer.table_error.values])
    if isinstance(answer, LabelledTable):
        return _state_rows(name, answer, [""] * answer.values.size)
    error = number(float(answer.mean_error[0]), 2) if isinstance(answer, SampledAnswer) else ""
    return [[name, "", "", number(float(answer.mean[0])), number(float(answer.sd[0])), error]]


def _state_rows(name: str, table: LabelledTable, errors: list[str]) -> list[list[str]]:
    cells = zip(table.variables[0].labels, table.values, errors, strict=True)
    return [
        [name if place == 0 else "", str(label), probability(p), "", "", error]
        for place, (label, p, error) in enumerate(cells)
    ]


def apart(answer: SampledAnswer) -> dict[str, SampledAnswer]:
    """Return an answer from draws about many variables as one about each of them."""
    from suffice.data.schema import Schema

    return {
        variable.name: dataclasses.replace(answer, schema=Schema((variable,))) for variable in answer.schema.variables
    }


# The most likely ----------------------------------------------------------------------------------------------


def print_map(found: Assignment | Mapping[str, Label], schema: Schema, as_json: bool) -> None:
    """Print the most likely states and values."""
    if as_json:
        print_json(_map_content(found))
        return
    from suffice.cli.show import show_facts, show_table
    from suffice.models.assignment import Assignment

    show_table(_map_cells(found, schema))
    if isinstance(found, Assignment):
        show_facts(
            [
                ("log p(states, evidence)", f"{found.log_prob:.6f}"),
                ("log p(states | evidence)", f"{found.log_posterior:.6f}"),
            ]
        )


def _map_content(found: Assignment | Mapping[str, Label]) -> Document:
    from suffice.models.assignment import Assignment

    if isinstance(found, Assignment):
        return {
            "states": found.states,
            "log_prob": found.log_prob,
            "log_posterior": found.log_posterior,
            "ties": {name: list(labels) for name, labels in found.ties.items()},
        }
    numbers = bool(found) and all(isinstance(value, float) for value in found.values())
    return {"values" if numbers else "states": dict(found)}


def _map_cells(found: Assignment | Mapping[str, Label], schema: Schema) -> tuple[list[str], list[list[str]], str]:
    """Lay out states and values, the values of continuous variables rounded; ties in a column of their own."""
    from suffice.models.assignment import Assignment

    continuous = [name for name in found if not schema[name].is_discrete]
    head = "state" if not continuous else "value" if len(continuous) == len(found) else "state or value"
    rows = [[name, number(float(value)) if name in continuous else str(value)] for name, value in found.items()]
    align = "<>" if head == "value" else "<<"
    ties = found.ties if isinstance(found, Assignment) else {}
    if not ties:
        return ["variable", head], rows, align
    for row in rows:
        row.append(", ".join(str(tied) for tied in ties.get(row[0], ()) if tied != found[row[0]]))
    return ["variable", head, "as likely in other assignments"], rows, f"{align}<"
