"""``suffice query MODEL TARGET… --given X=x``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from suffice.cli.answers import apart, print_answer, print_json, print_map, print_marginals
from suffice.cli.given import GivenOption, read_given
from suffice.cli.shared import JsonOption, is_classifier, read_model, reported, require_able
from suffice.errors import ArgumentError, require_choice


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
        bool,
        typer.Option(
            "--map",
            help="The most likely states and values, jointly: of TARGETs, all else summed out, or of all variables "
            "that are not given.",
        ),
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option("--interval", metavar="LEVEL", help="Credible intervals, such as 0.95; MODEL is a Bayesian fit."),
    ] = None,
    sensitivity: Annotated[
        str | None,
        typer.Option("--sensitivity", metavar="X=x", help="How p(X=x | given) changes with the tables' entries."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="exact, or sampling: estimates from weighted draws, for Bayesian networks whose answers have no "
            "closed form or are too large.",
        ),
    ] = "exact",
    draws: Annotated[
        int | None,
        typer.Option("--draws", help="How many draws.", show_default="100,000 for sampling, 1,000 for intervals"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draws for sampling and intervals.")] = 0,
    history: Annotated[
        str | None,
        typer.Option("--history", metavar="FILE", help="Autoregressions: a table of the values so far, to forecast."),
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", help="Autoregressions: how far ahead to forecast.", show_default="1")
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="Memory that tables may take, such as 4GB.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print p(TARGET… | given), exactly; without targets, that of every variable."""
    with reported(as_json):
        from suffice.settings import config

        if memory is not None:
            config(memory=memory)
        asked = _asked(targets or [], most_likely, interval, sensitivity)
        _check_draws(asked, method, draws)
        network = read_model(model, can="log_prob")
        if hasattr(network, "forecast"):
            from suffice.cli.forecast import print_forecast

            _require_only_history(asked, given, evidence)
            print_forecast(network, history, steps, as_json)
            return
        if history is not None or steps is not None:
            raise ArgumentError(
                f"The options --history and --steps are for autoregressions. MODEL is a {type(network).__name__}; "
                "leave them out."
            )
        require_able(network, "query")
        seen = read_given(network, given, evidence)
        _require_single(network, seen)
        if asked == "map":
            require_able(network, "map")
            print_map(network.map(seen, targets=targets or None), network.schema, as_json)
        elif asked == "sensitivity":
            _print_sensitivity(network, sensitivity or "", seen, as_json)
        elif asked == "interval":
            how = {} if draws is None else {"draws": draws}
            print_answer(_fit(model).query(targets, seen, interval=interval, seed=seed, **how), as_json)
        elif method == "sampling":
            _print_sampled(network, targets, seen, {"draws": draws, "seed": seed}, as_json)
        elif asked == "targets":
            print_answer(network.query(targets, seen), as_json)
        else:
            _print_all(network, seen, as_json)


def _print_all(network: Any, seen: dict[str, Any], as_json: bool) -> None:
    """Print the answer about every variable that is not given."""
    if is_classifier(network):
        print_answer(network.query(network.target.name, seen), as_json)
    elif hasattr(network, "marginals"):
        print_marginals(network.marginals(seen), as_json)
    elif hasattr(network, "features"):
        print_marginals({name: network.query(name, seen) for name in _discrete(network, seen)}, as_json)
    else:
        print_answer(network.query(_not_given(network, seen), seen), as_json)


def _print_sampled(network: Any, targets: list[str] | None, seen: dict[str, Any], how: Any, as_json: bool) -> None:
    """Print estimates from weighted draws; those about all variables are from the same draws."""
    if not hasattr(network, "dag"):
        raise ArgumentError(
            f"Weighted draws are those of a Bayesian network. MODEL is a {type(network).__name__}; leave out --method."
        )
    answer = network.query(targets or _not_given(network, seen), seen, method="sampling", **how)
    if targets:
        print_answer(answer, as_json)
    else:
        print_marginals(apart(answer), as_json)


def _fit(path: str) -> Any:
    """Read a whole fit, which has a posterior."""
    from suffice.io import read

    fit = read(path)
    if not hasattr(fit, "posterior"):
        raise ArgumentError(
            f"{path!r} holds a model without its posterior. Intervals need the whole fit: "
            "suffice fit … --prior bdeu:10 --out-fit fit.json."
        )
    return fit


def _require_single(network: Any, seen: dict[str, Any]) -> None:
    """Refuse several states, and likelihoods, of a variable where a model takes one state."""
    inputs = getattr(getattr(network, "features", None), "given", ())
    for name, state in seen.items():
        if is_classifier(network) and isinstance(state, list | dict):
            first = network.schema[name].labels[0]
            raise ArgumentError(
                f"A classifier takes one state of each input, as in --given {name}={first}; leave {name!r} out where "
                "it is not known."
            )
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


# What is asked for --------------------------------------------------------------------------------------------


def _asked(targets: list[str], most_likely: bool, interval: float | None, sensitivity: str | None) -> str:
    """Return what is asked for; options that contradict each other are an error."""
    wishes = [
        ("map", most_likely),
        ("sensitivity", sensitivity is not None),
        ("targets", bool(targets) and not most_likely),
    ]
    asked = [name for name, wished in wishes if wished]
    if len(asked) > 1:
        raise ArgumentError("Ask for one thing: TARGETs, --map, alone or with TARGETs, or --sensitivity X=x.")
    if interval is not None:
        if asked != ["targets"]:
            raise ArgumentError("The option --interval is for the answer about some TARGETs. Name them.")
        return "interval"
    return asked[0] if asked else "marginals"


def _check_draws(asked: str, method: str, draws: int | None) -> None:
    """Raise where draws are asked for and nothing is drawn."""
    require_choice("method", method, ("exact", "sampling"))
    if method == "sampling" and asked not in ("targets", "marginals"):
        raise ArgumentError(
            "The option --method sampling is for the answer about some TARGETs, or about all variables, without "
            f"--{asked}. Leave one of them out."
        )
    if draws is not None and method == "exact" and asked != "interval":
        raise ArgumentError("Exact answers draw nothing. Leave out --draws, or add --method sampling.")


def _require_only_history(asked: str, given: list[str] | None, evidence: str | None) -> None:
    if asked != "marginals" or given or evidence is not None:
        raise ArgumentError(
            "An autoregression answers for the values after a history: suffice query MODEL --history FILE --steps 5. "
            "Leave out targets and evidence."
        )


# Sensitivity --------------------------------------------------------------------------------------------------


def _print_sensitivity(network: Any, event: str, seen: dict[str, Any], as_json: bool) -> None:
    if not hasattr(network, "sensitivity"):
        raise ArgumentError(f"Sensitivity is to the tables of a Bayesian network. MODEL is a {type(network).__name__}.")
    found = network.sensitivity(read_given(network, [event]), seen)
    if as_json:
        derivatives = {name: values.tolist() for name, values in found.derivatives.items()}
        print_json({"p": found.value, "derivatives": derivatives})
        return
    from suffice.cli.show import show_table
    from suffice.text import probability

    show_table(found._cells(), f"{found.event} = {probability(found.value)}")
