"""``suffice query MODEL TARGET… --given X=x``."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from suffice.cli.given import GivenOption, read_given
from suffice.cli.shared import JsonOption, read_model, reported, require_able
from suffice.errors import ArgumentError


def query(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file, or a fit.")],
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="TARGET…", help="The variables asked for; several, jointly.")
    ] = None,
    given: GivenOption = None,
    evidence: Annotated[
        str | None, typer.Option("--evidence", metavar="FILE", help="What was seen, from a UAI .evid file.")
    ] = None,
    most_likely: Annotated[
        bool, typer.Option("--map", help="The most likely states of all variables that are not given.")
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option("--interval", metavar="LEVEL", help="Credible intervals, such as 0.95; MODEL is a Bayesian fit."),
    ] = None,
    sensitivity: Annotated[
        str | None,
        typer.Option("--sensitivity", metavar="X=x", help="How p(X=x | given) changes with the tables' entries."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draws for intervals.")] = 0,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="Memory that tables may take, such as 4GB.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print p(TARGET… | given), exactly; without targets, that of every variable."""
    with reported(as_json):
        from suffice.io import read
        from suffice.settings import config

        if memory is not None:
            config(memory=memory)
        network = read_model(model, can="query")
        seen = read_given(network, given, evidence)
        _require_single(network, seen)
        asked = _asked(targets or [], most_likely, interval, sensitivity)
        if asked == "map":
            require_able(network, "map")
            _print_map(network.map(seen), as_json)
        elif asked == "marginals" and hasattr(network, "features") and not hasattr(network, "marginals"):
            _print_marginals({name: network.query(name, seen) for name in _discrete(network, seen)}, as_json)
        elif asked == "marginals" and not hasattr(network, "marginals"):
            _print_table(network.query(_not_given(network, seen), seen), as_json)
        elif asked == "sensitivity":
            _print_sensitivity(network, sensitivity or "", seen, as_json)
        elif asked == "interval":
            fit = read(model)
            if not hasattr(fit, "posterior"):
                raise ArgumentError(
                    f"{model!r} holds a model without its posterior. Intervals need the whole fit: "
                    "suffice fit … --prior bdeu:10 --out-fit fit.json."
                )
            _print_table(fit.query(targets, seen, interval=interval, seed=seed), as_json)
        elif asked == "targets":
            _print_table(network.query(targets, seen), as_json)
        else:
            _print_marginals(network.marginals(seen), as_json)


def _require_single(network: Any, seen: dict[str, Any]) -> None:
    """Refuse several states, and likelihoods, of a variable where a model of given inputs takes one state."""
    inputs = getattr(getattr(network, "features", None), "given", ())
    for name, state in seen.items():
        if inputs and isinstance(state, list | dict):
            first = network.schema[name].labels[0]
            raise ArgumentError(
                f"The evidence about {name!r} must be one state, as in --given {name}={first}: a conditional model has "
                "no distribution of its inputs to weigh several by."
            )


def _not_given(network: Any, seen: dict[str, Any]) -> list[str]:
    return [name for name in network.variables if name not in seen]


def _discrete(network: Any, seen: dict[str, Any]) -> list[str]:
    """Return the variables whose distributions are tables: neither inputs, nor given, nor continuous."""
    modelled = [name for name in network.features.variables if name not in seen]
    found = [name for name in modelled if network.schema[name].is_discrete]
    if not found:
        raise ArgumentError(
            "No variable is left whose distribution is a table: all others are given, or continuous. Densities are "
            "what suffice score adds up."
        )
    return found


def _asked(targets: list[str], most_likely: bool, interval: float | None, sensitivity: str | None) -> str:
    """Return what is asked for; options that contradict each other are an error."""
    wishes = [("map", most_likely), ("sensitivity", sensitivity is not None), ("targets", bool(targets))]
    asked = [name for name, wished in wishes if wished]
    if len(asked) > 1:
        raise ArgumentError("Ask for one thing: TARGETs, --map, or --sensitivity X=x.")
    if interval is not None:
        if asked != ["targets"]:
            raise ArgumentError("The option --interval is for the answer about some TARGETs. Name them.")
        return "interval"
    return asked[0] if asked else "marginals"


# Printing -----------------------------------------------------------------------------------------------------


def _print_json(content: dict[str, Any]) -> None:
    from suffice.io.own_json import plain

    print(json.dumps(plain(content), ensure_ascii=False, indent=1, allow_nan=False))


def _print_table(table: Any, as_json: bool) -> None:
    if not hasattr(table, "_cells"):  # a distribution of numbers
        if as_json:
            _print_json(table.to_dict())
        else:
            print(table)
        return
    if as_json:
        _print_json(_content(table))
        return
    from suffice.cli.show import show_table

    names = getattr(table, "table", table).names
    with_intervals = hasattr(table, "level")
    show_table(table._cells(), f"p({', '.join(names)} | given)" if len(names) > 1 and not with_intervals else "")
    if with_intervals:
        print(f"{table.level:.4g} credible intervals, by {table.method}")


def _content(table: Any) -> dict[str, Any]:
    answer = getattr(table, "table", table)
    content: dict[str, Any] = {
        "targets": [{"name": variable.name, "states": list(variable.labels)} for variable in answer.variables],
        "p": answer.values.tolist(),
    }
    if answer is not table:
        content |= {"lower": table.lower.values.tolist(), "upper": table.upper.values.tolist(), "level": table.level}
    return content


def _print_marginals(tables: dict[str, Any], as_json: bool) -> None:
    if as_json:
        _print_json({name: _content(table) for name, table in tables.items()})
        return
    from suffice.cli.show import show_table
    from suffice.text import probability

    rows = [
        [name if first == 0 else "", str(label), probability(value)]
        for name, table in tables.items()
        for first, (label, value) in enumerate(zip(table.variables[0].labels, table.values, strict=True))
    ]
    show_table((["variable", "state", "p"], rows, "<<>"))


def _print_map(found: Any, as_json: bool) -> None:
    if isinstance(found, dict):  # of numbers, or of the states of outputs
        from suffice.cli.show import show_table

        numbers = bool(found) and all(isinstance(value, float) for value in found.values())
        if as_json:
            _print_json({"values" if numbers else "states": found})
        elif numbers:
            show_table((["variable", "value"], [[name, f"{value:.6g}"] for name, value in found.items()], "<>"))
        else:
            show_table((["variable", "state"], [[name, str(value)] for name, value in found.items()], "<<"))
        return
    if as_json:
        content = {
            "states": found.states,
            "log_prob": found.log_prob,
            "log_posterior": found.log_posterior,
            "ties": {name: list(labels) for name, labels in found.ties.items()},
        }
        _print_json(content)
        return
    from suffice.cli.show import show_facts, show_table

    show_table(found._cells())
    show_facts(
        [
            ("log p(states, evidence)", f"{found.log_prob:.6f}"),
            ("log p(states | evidence)", f"{found.log_posterior:.6f}"),
        ]
    )


def _print_sensitivity(network: Any, event: str, seen: dict[str, Any], as_json: bool) -> None:
    if not hasattr(network, "sensitivity"):
        raise ArgumentError(f"Sensitivity is to the tables of a Bayesian network. MODEL is a {type(network).__name__}.")
    found = network.sensitivity(read_given(network, [event]), seen)
    if as_json:
        derivatives = {name: values.tolist() for name, values in found.derivatives.items()}
        _print_json({"p": found.value, "derivatives": derivatives})
        return
    from suffice.cli.show import show_table
    from suffice.text import probability

    show_table(found._cells(), f"{found.event} = {probability(found.value)}")
