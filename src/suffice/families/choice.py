"""The methods of a structure, and the choice among them: ``"auto"`` takes the first exact one that does not refuse."""

from __future__ import annotations

from collections.abc import Mapping

from suffice.data.schema import Schema
from suffice.errors import (
    EstimationError,
    NotFor,
    Passed,
    Text,
    UnknownNameError,
    joined,
    listing,
    require_choice,
    shown,
    suggestion,
)
from suffice.families import family_of
from suffice.learn.method import Method
from suffice.models.model import Model
from suffice.structures.structure import S, public_mention


def methods_for(structure: S) -> dict[str, Method[S, Model]]:
    """Return the methods that know a structure."""
    return dict(family_of(structure).methods())


def choose(
    structure: S,
    name: str,
    schema: Schema,
    *,
    prior: object = None,
    point: str | None = None,
    base: tuple[object, ...] = (),
    gaps: bool = False,
) -> tuple[str, Method[S, Model]]:
    """Return the method by its name, or by itself under ``"auto"``, with its name.

    With ``gaps``, rows may lack values, and only methods that learn from such rows will do.
    """
    methods = methods_for(structure)
    latent = structure.latent
    hides = gaps or bool(latent)
    if point is not None:
        require_choice("point", point, ("mean", "map"))

    def reason_against(method: Method[S, Model]) -> str | None:
        reason = method.refuses(structure, schema)
        if reason is None:
            reason = method.refuses_prior(structure, prior)
        if reason is None and base and not method.takes_base:
            reason = "it knows no base measure."
        if reason is None and latent and not method.incomplete:
            reason = f"{latent[0][0]!r} is latent, and this method needs every variable observed."
        if reason is None and gaps and not method.incomplete:
            reason = Text(
                "it needs complete rows; with ",
                Passed("missing", "em"),
                " leave the method out, or name one for incomplete rows.",
            )
        return reason

    if isinstance(name, str) and name == "auto":
        reasons: dict[str, str | None] = {}
        for candidate, method in methods.items():
            if method.exact and method.incomplete == hides:
                reasons[candidate] = reason_against(method)
                if reasons[candidate] is None and point is not None and point not in method.points:
                    reasons[candidate] = f"it does not give {point!r}."
                if reasons[candidate] is None:
                    return candidate, method
        raise EstimationError(_refusal(reasons))
    if not isinstance(name, str) or name not in methods:
        raise UnknownNameError(
            f"There is no method {shown(name)} for ",
            public_mention(type(structure)),
            f". The methods are {listing(['auto', *methods])}.{suggestion(name, methods)}",
        )
    reason = reason_against(methods[name])
    if reason:
        raise EstimationError(f"The method {name!r} cannot fit this structure: ", reason)
    return name, methods[name]


def _refusal(reasons: Mapping[str, str | None]) -> str:
    """Return why no method can do it: one reason alone where all other methods are for something else."""
    apt = {name: reason for name, reason in reasons.items() if reason and not isinstance(reason, NotFor)}
    if len(set(apt.values())) == 1:
        name, reason = next(iter(apt.items()))
        return Text(f"The method {name!r} cannot fit this structure: ", reason)
    listed = joined(" ", [Text(f"{name!r}: ", reason or "") for name, reason in reasons.items()])
    return "No exact method can fit this structure. " + listed
