"""``suffice query MODEL TARGET… --given X=x``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.answers import apart, print_answer, print_json, print_map, print_marginals
from suffice.cli.given import GivenOption, read_given
from suffice.cli.shared import JsonOption, read_model, reported, unable
from suffice.errors import ArgumentError, require_choice

if TYPE_CHECKING:
    from suffice.models.capabilities import CanQuery
    from suffice.models.conditional_log_linear import ConditionalLogLinear
    from suffice.models.evidence import Evidence
    from suffice.models.log_linear_density import LogLinearDensity
    from suffice.models.model import Model
    from suffice.result.fit import Fit


DRAWS = 1000
"""How many tables are drawn for intervals unless said."""


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
        from suffice.models.autoregression import AutoregressiveModel
        from suffice.models.capabilities import CanMap, CanQuery
        from suffice.settings import config

        if memory is not None:
            config(memory=memory)
        asked = _asked(targets or [], most_likely, interval, sensitivity)
        _check_draws(asked, method, draws)
        network = read_model(model)
        if isinstance(network, AutoregressiveModel):
            from suffice.cli.forecast import print_forecast

            _require_only_history(asked, given, evidence)
            print_forecast(network, history, steps, as_json)
            return
        if history is not None or steps is not None:
            raise ArgumentError(
                f"The options --history and --steps are for autoregressions. MODEL is a {type(network).__name__}; "
                "leave them out."
            )
        if not isinstance(network, CanQuery):
            raise unable(network, "query")
        seen = read_given(network, given, evidence)
        _require_single(network, seen)
        if asked == "map":
            if not isinstance(network, CanMap):
                raise unable(network, "map")
            print_map(network.map(seen, targets=targets or None), network.schema, as_json)
        elif asked == "sensitivity":
            _print_sensitivity(network, sensitivity or "", seen, as_json)
        elif asked == "interval":
            n = DRAWS if draws is None else draws
            print_answer(_fit(model).query(targets, seen, interval=interval, seed=seed, draws=n), as_json)
        elif method == "sampling":
            _print_sampled(network, targets, seen, draws, seed, as_json)
        elif targets:
            print_answer(network.query(targets, seen), as_json)
        else:
            _print_all(network, seen, as_json)


def _print_all(network: CanQuery, seen: Evidence, as_json: bool) -> None:
    """Print the answer about every variable that is not given."""
    from suffice.models.capabilities import CanClassify, CanSummarise
    from suffice.models.conditional_log_linear import ConditionalLogLinear
    from suffice.models.log_linear_density import LogLinearDensity

    if isinstance(network, CanClassify):
        print_answer(network.query(network.target.name, seen), as_json)
    elif isinstance(network, CanSummarise):
        print_marginals(network.marginals(seen), as_json)
    elif isinstance(network, ConditionalLogLinear | LogLinearDensity):
        print_marginals({name: network.query(name, seen) for name in _discrete(network, seen)}, as_json)
    else:
        print_answer(network.query(_not_given(network, seen), seen), as_json)


def _print_sampled(
    network: Model, targets: list[str] | None, seen: Evidence, draws: int | None, seed: int, as_json: bool
) -> None:
    """Print estimates from weighted draws; those about all variables are from the same draws."""
    from suffice.models.bayes_net import BayesianNetwork

    if not isinstance(network, BayesianNetwork):
        raise ArgumentError(
            f"Weighted draws are those of a Bayesian network. MODEL is a {type(network).__name__}; leave out --method."
        )
    answer = network.query(targets or _not_given(network, seen), seen, method="sampling", draws=draws, seed=seed)
    if targets:
        print_answer(answer, as_json)
    else:
        print_marginals(apart(answer), as_json)


def _fit(path: str) -> Fit:
    """Read a whole fit, which has a posterior."""
    from suffice.io import read
    from suffice.result.fit import Fit

    fit = read(path)
    if not isinstance(fit, Fit):
        raise ArgumentError(
            f"{path!r} holds a model without its posterior. Intervals need the whole fit: "
            "suffice fit … --prior bdeu:10 --out-fit fit.json."
        )
    return fit


def _require_single(network: Model, seen: Evidence) -> None:
    """Refuse several states, and likelihoods, of a variable where a model takes one state."""
    from suffice.models.capabilities import CanClassify
    from suffice.models.conditional_log_linear import ConditionalLogLinear

    for name, state in seen.items():
        if isinstance(network, CanClassify) and isinstance(state, list | dict):
            first = network.schema[name].labels[0]
            raise ArgumentError(
                f"A classifier takes one state of each input, as in --given {name}={first}; leave {name!r} out where "
                "it is not known."
            )
        if isinstance(network, ConditionalLogLinear) and isinstance(state, list | dict):
            first = network.schema[name].labels[0]
            raise ArgumentError(
                f"The evidence about {name!r} must be one state, as in --given {name}={first}: a conditional model has "
                "no distribution of its inputs to weigh several by."
            )


def _not_given(network: Model, seen: Evidence) -> list[str]:
    return [name for name in network.variables if name not in seen]


def _discrete(network: ConditionalLogLinear | LogLinearDensity, seen: Evidence) -> list[str]:
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


def _print_sensitivity(network: Model, event: str, seen: Evidence, as_json: bool) -> None:
    from suffice.models.bayes_net import BayesianNetwork

    if not isinstance(network, BayesianNetwork):
        raise ArgumentError(f"Sensitivity is to the tables of a Bayesian network. MODEL is a {type(network).__name__}.")
    found = network.sensitivity(read_given(network, [event]), seen)
    if as_json:
        derivatives = {name: values.tolist() for name, values in found.derivatives.items()}
        print_json({"p": found.value, "derivatives": derivatives})
        return
    from suffice.cli.show import show_table
    from suffice.text import probability

    show_table(found._cells(), f"{found.event} = {probability(found.value)}")
