"""Answers on the command line: tables, normal distributions, mixtures and estimates from draws, as text and as JSON."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

from suffice.text import number, plural, probability


def print_json(content: dict[str, Any]) -> None:
    """Print a JSON document of the standard, which has no NaN and no infinity."""
    from suffice.io.own_json import plain

    print(json.dumps(plain(content), ensure_ascii=False, indent=1, allow_nan=False))


def print_answer(answer: Any, as_json: bool) -> None:
    """Print p(targets | given), whatever form it has."""
    if as_json:
        print_json(content(answer))
        return
    from suffice.cli.show import show_table

    if hasattr(answer, "_tables"):  # from weighted draws
        for place, cells in enumerate(answer._tables()):
            if place and not sys.stdout.isatty():  # a terminal's tables have room around them
                print()
            show_table(cells)
        print(_note(answer))
    elif not hasattr(answer, "_cells"):  # one normal distribution, with a caption of its own
        print(answer)
    elif hasattr(answer, "components"):
        show_table(answer._cells())
    else:
        names = getattr(answer, "table", answer).names
        with_intervals = hasattr(answer, "level")
        title = f"p({', '.join(names)} | given)" if len(names) > 1 and not with_intervals else ""
        show_table(answer._cells(), title, getattr(answer, "_above", None))
        if with_intervals:
            print(f"{answer.level:.4g} credible intervals, by {answer.method}")


def _note(answer: Any) -> str:
    return f"{plural(answer.draws, 'weighted draw')}, worth {answer.effective_size:,.0f} of equal weight"


# As JSON ------------------------------------------------------------------------------------------------------


def content(answer: Any) -> dict[str, Any]:
    """Return an answer as JSON-able data."""
    if hasattr(answer, "effective_size"):
        return _drawn(answer)
    if hasattr(answer, "components"):
        return _mixture(answer)
    if hasattr(answer, "to_dict"):  # one normal distribution
        return dict(answer.to_dict())
    table = getattr(answer, "table", answer)
    found = {"targets": _states(table.variables), "p": table.values}
    if table is not answer:
        found |= {"lower": answer.lower.values, "upper": answer.upper.values, "level": answer.level}
    return found


def _states(variables: Any) -> list[dict[str, Any]]:
    return [{"name": variable.name, "states": list(variable.labels)} for variable in variables]


def _mixture(answer: Any) -> dict[str, Any]:
    components = [
        {"given": labels, "p": weight, "mean": normal.mean, "covariance": normal.covariance}
        for labels, weight, normal in answer.components()
    ]
    found = {"type": "NormalMixture", "names": list(answer.names)}
    if answer.targets:
        found |= {"targets": _states(answer.targets), "p": answer.table.values}
    return {**found, "mean": answer.mean, "covariance": answer.covariance, "components": components}


def _drawn(answer: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "SampledAnswer", "draws": answer.draws, "effective_size": answer.effective_size}
    if answer.targets:
        table, error = answer.table, answer.table_error
        found |= {"targets": _states(answer.targets), "p": table.values, "p_error": error.values}
    if answer.names:
        found |= {"names": list(answer.names), "mean": answer.mean, "mean_error": answer.mean_error}
        found["covariance"] = answer.covariance
    return found


# All variables ------------------------------------------------------------------------------------------------


def print_marginals(answers: dict[str, Any], as_json: bool) -> None:
    """Print p(v | given) of every variable: the states of discrete ones, mean and sd of continuous ones."""
    if as_json:
        print_json({name: content(answer) for name, answer in answers.items()})
        return
    from suffice.cli.show import show_table

    rows = [row for name, answer in answers.items() for row in _rows(name, answer)]
    header = ["variable", "state", "p", "mean", "sd", "standard error"]
    kept = [place for place in range(len(header)) if place < 2 or any(row[place] for row in rows)]
    kept = [place for place in kept if place != 1 or any(row[1] for row in rows)]
    align = "".join("<<>>>>"[place] for place in kept)
    show_table(([header[place] for place in kept], [[row[place] for place in kept] for row in rows], align))
    drawn = [answer for answer in answers.values() if hasattr(answer, "effective_size")]
    if drawn:
        print(_note(drawn[0]))


def _rows(name: str, answer: Any) -> list[list[str]]:
    """Return the rows of one variable, its name in the first: state, p, mean, sd and standard error."""
    drawn = hasattr(answer, "effective_size")
    if getattr(answer, "names", ()) and hasattr(answer, "mean"):
        error = number(float(answer.mean_error[0]), 2) if drawn else ""
        return [[name, "", "", number(float(answer.mean[0])), number(float(answer.sd[0])), error]]
    table = answer.table if drawn else answer
    errors = [number(float(error), 2) for error in answer.table_error.values] if drawn else [""] * table.values.size
    cells = zip(table.variables[0].labels, table.values, errors, strict=True)
    return [
        [name if place == 0 else "", str(label), probability(p), "", "", error]
        for place, (label, p, error) in enumerate(cells)
    ]


def apart(answer: Any) -> dict[str, Any]:
    """Return an answer from draws about many variables as one about each of them."""
    from suffice.data.schema import Schema

    return {
        variable.name: dataclasses.replace(answer, schema=Schema((variable,))) for variable in answer.schema.variables
    }


# The most likely ----------------------------------------------------------------------------------------------


def print_map(found: Any, schema: Any, as_json: bool) -> None:
    """Print the most likely states and values."""
    if as_json:
        print_json(_map_content(found))
        return
    from suffice.cli.show import show_facts, show_table

    show_table(_map_cells(found, schema))
    if hasattr(found, "log_prob"):
        show_facts(
            [
                ("log p(states, evidence)", f"{found.log_prob:.6f}"),
                ("log p(states | evidence)", f"{found.log_posterior:.6f}"),
            ]
        )


def _map_content(found: Any) -> dict[str, Any]:
    if hasattr(found, "log_prob"):
        return {
            "states": found.states,
            "log_prob": found.log_prob,
            "log_posterior": found.log_posterior,
            "ties": {name: list(labels) for name, labels in found.ties.items()},
        }
    numbers = bool(found) and all(isinstance(value, float) for value in found.values())
    return {"values" if numbers else "states": dict(found)}


def _map_cells(found: Any, schema: Any) -> tuple[list[str], list[list[str]], str]:
    """Lay out states and values, the values of continuous variables rounded; ties in a column of their own."""
    continuous = [name for name in found if not schema[name].is_discrete]
    head = "state" if not continuous else "value" if len(continuous) == len(found) else "state or value"
    rows = [[name, number(value) if name in continuous else str(value)] for name, value in found.items()]
    align = "<>" if head == "value" else "<<"
    ties = getattr(found, "ties", {})
    if not ties:
        return ["variable", head], rows, align
    for row in rows:
        row.append(", ".join(str(tied) for tied in ties.get(row[0], ()) if tied != found[row[0]]))
    return ["variable", head, "as likely in other assignments"], rows, f"{align}<"
