"""Features: the structure of a log-linear (max-ent) model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

from suffice.data.schema import Schema
from suffice.errors import StructureError, UnknownNameError, listing, shown, suggestion
from suffice.structures.feature_files import spec_from_dict, tabulated
from suffice.structures.feature_rules import Feature
from suffice.structures.feature_spec import FeatureSpec, require_name
from suffice.structures.latent import Latent, latent_of
from suffice.structures.structure import F_co, Structure
from suffice.text import html_table, plural

if TYPE_CHECKING:
    from suffice.models.conditional_log_linear import ConditionalLogLinear
    from suffice.models.log_linear import LogLinear
    from suffice.models.log_linear_density import LogLinearDensity
    from suffice.result.family_fits import FeaturesFit
    from suffice.types import Entry, Json


SHOWN = 20
"""Feature specifications that a notebook shows."""

Tie = tuple[str, tuple[str, ...]]
FeatureSpecs = FeatureSpec | Iterable[FeatureSpec]
Ties = Iterable[Iterable[str]] | Mapping[str, Iterable[str]]


@dataclass(frozen=True, init=False)
class Features(Structure[F_co]):
    """Functions of a few variables each, whose weights are to be learnt: p(x) ∝ h(x) exp Σ θᵢ fᵢ(x).

    Parameters
    ----------
    features : sequence
        What `indicator`, `indicators`, `product`, `feature` and `windows` return.
    given : sequence of str
        Inputs: the model is of the other variables given these, p(y | x), and says nothing of how they are distributed.
        Inputs may be continuous.
    support : mapping
        The continuous variables among those that are modelled, with the interval that each lives on, ``(0, 1)`` or
        ``(0, math.inf)``. They are integrated by quadrature.
    tie : sequence or mapping
        Weights to be shared: lists of features' names, or such lists by the name that the common weight shall have.
        A tied feature is the sum of its members.
    variables : sequence of str, optional
        Further variables, which no feature holds and which are therefore uniform; with all of them, their order.
    latent : mapping from str to int, optional
        The variables that no column carries, with their numbers of states. Such fits are by EM.

    Examples
    --------
    >>> import suffice as sf
    >>> structure = Features([sf.indicator(A="yes", B="no"), sf.product("u", "v")])
    >>> structure.variables
    ('A', 'B', 'u', 'v')
    >>> print(Features([sf.product("x", sf.indicators("y"))], given=["x"]))
    1 feature specification of y given x
    """

    specs: tuple[FeatureSpec, ...]
    given: tuple[str, ...]
    support: tuple[tuple[str, tuple[float, float]], ...]
    tie: tuple[Tie, ...]
    variables: tuple[str, ...]
    latent: Latent

    if TYPE_CHECKING:  # what a fit is of: a joint distribution, one given inputs, or a density

        @overload
        def __init__(
            self: Features[FeaturesFit[LogLinear]],
            features: FeatureSpecs,
            *,
            tie: Ties = (),
            variables: Sequence[str] = (),
            latent: Mapping[str, int] | None = None,
        ) -> None: ...

        @overload
        def __init__(
            self: Features[FeaturesFit[ConditionalLogLinear]],
            features: FeatureSpecs,
            *,
            given: Sequence[str],
            support: Mapping[str, Sequence[float]] | None = None,
            tie: Ties = (),
            variables: Sequence[str] = (),
            latent: Mapping[str, int] | None = None,
        ) -> None: ...

        @overload
        def __init__(
            self: Features[FeaturesFit[LogLinearDensity]],
            features: FeatureSpecs,
            *,
            support: Mapping[str, Sequence[float]],
            tie: Ties = (),
            variables: Sequence[str] = (),
        ) -> None: ...

    def __init__(
        self,
        features: FeatureSpecs,
        *,
        given: Sequence[str] = (),
        support: Mapping[str, Sequence[float]] | None = None,
        tie: Ties = (),
        variables: Sequence[str] = (),
        latent: Mapping[str, int] | None = None,
    ) -> None:
        specs = _specs(features)
        inputs = _names(given, "given")
        seen = dict.fromkeys(name for spec in specs for name in spec.variables)
        ordered = dict.fromkeys([*_names(variables, "variables"), *seen])
        for name in inputs:
            if name not in seen:
                raise UnknownNameError(
                    f"The input {name!r} is in no feature; they are over {listing(seen, 12)}."
                    f"{suggestion(name, seen)} Leave it out of given=."
                )
        for spec in specs:
            if inputs and set(spec.variables) <= set(inputs):
                raise StructureError(
                    f"The feature {spec!r} is of inputs alone, and says nothing of what is modelled. Multiply it with "
                    "an output's, sf.product('x', sf.indicators('y')), or leave it out."
                )
        outputs = tuple(name for name in ordered if name not in inputs)
        object.__setattr__(self, "specs", specs)
        object.__setattr__(self, "given", inputs)
        object.__setattr__(self, "support", _support(support, outputs))
        object.__setattr__(self, "tie", _ties(tie))
        object.__setattr__(self, "variables", outputs)
        object.__setattr__(self, "latent", latent_of(latent, outputs))
        self._require_discrete_latent()

    def _require_discrete_latent(self) -> None:
        if self.latent and (self.given or self.support):
            other = "inputs, given=" if self.given else "continuous variables, support="
            raise StructureError(
                f"Latent variables, {listing(dict(self.latent))}, cannot stand beside {other}: what is hidden is "
                "summed out of the joint distribution of discrete variables. Leave one of the two out."
            )

    # What the structure says ----------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the data must have: what is modelled, but for latent variables, then the inputs."""
        hidden = dict(self.latent)
        return (*(name for name in self.variables if name not in hidden), *self.given)

    @property
    def continuous(self) -> frozenset[str]:
        """The columns in a continuous role: those with a support."""
        return frozenset(name for name, _ in self.support)

    def resolved(self, schema: Schema) -> tuple[Feature, ...]:
        """Return the features with their states known, one a weight, in the order of the weights."""
        held: dict[str, Feature] = {}
        for spec in self.specs:
            for feature in spec.resolved(schema):
                if feature.name in held:
                    raise StructureError(
                        f"Two features are called {feature.name!r}. Give one of them another name, name=…, or leave "
                        "it out."
                    )
                held[feature.name] = feature
        return tuple(self._tied(held).values())

    def _tied(self, held: dict[str, Feature]) -> dict[str, Feature]:
        for name, members in self.tie:
            for member in members:
                if member not in held:
                    raise UnknownNameError(
                        f"The tie {name!r} has the member {member!r}, which is no feature, or is tied already. The "
                        f"features are {listing(held, 12)}.{suggestion(member, held)}"
                    )
            if name in held and name not in members:
                raise StructureError(f"The tie {name!r} has the name of another feature. Give it another name.")
            common = Feature(name, tuple(term for member in members for term in held[member].terms))
            first = members[0]
            held = {
                (name if key == first else key): (common if key == first else feature)
                for key, feature in held.items()
                if key == first or key not in members
            }
        return held

    @cached_property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables that features look at and that lie in no other, each in the order of the variables."""
        names = (*self.variables, *self.given)
        place = {name: position for position, name in enumerate(names)}
        held = {frozenset(scope) for spec in self.specs for scope in spec.scopes}
        by_name: dict[str, list[frozenset[str]]] = {}
        for scope in held:
            for name in scope:
                by_name.setdefault(name, []).append(scope)
        widest = [scope for scope in held if not any(scope < other for other in by_name[next(iter(scope))])]
        ranked = (sorted(place[name] for name in scope) for scope in widest)
        return tuple(tuple(names[position] for position in scope) for scope in sorted(ranked))

    def __str__(self) -> str:
        given = f" given {', '.join(self.given)}" if self.given else ""
        return f"{plural(len(self.specs), 'feature specification')} of {', '.join(self.variables)}{given}"

    def _repr_html_(self) -> str:
        rows = [[repr(spec)] for spec in self.specs[:SHOWN]]
        if len(self.specs) > SHOWN:
            rows.append([f"… {len(self.specs) - SHOWN:,} more"])
        return html_table(["feature"], rows, "<", caption=str(self))

    def __repr__(self) -> str:
        given = f", given={list(self.given)!r}" if self.given else ""
        more = f", … {len(self.specs) - 3} more" if len(self.specs) > 3 else ""
        return f"{type(self).__name__}([{', '.join(map(repr, self.specs[:3]))}{more}]{given})"

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        entry: dict[str, Json] = {"type": "Features", "features": [spec.to_dict() for spec in self.specs]}
        if self.given:
            entry["given"] = list(self.given)
        if self.support:
            entry["support"] = {name: [_written(end) for end in ends] for name, ends in self.support}
        if self.tie:
            entry["tie"] = {name: list(members) for name, members in self.tie}
        entry["variables"] = list(self.variables)
        if self.latent:
            entry["latent"] = dict(self.latent)
        return entry

    @classmethod
    def from_dict(cls, entry: Entry) -> Features:
        """Rebuild the structure from `to_dict`'s data."""
        support = {name: [float(end) for end in ends] for name, ends in entry.get("support", {}).items()}
        return cls(
            [spec_from_dict(spec) for spec in entry["features"]],
            given=entry.get("given", ()),
            support=support,
            tie=entry.get("tie", ()),
            variables=entry.get("variables", ()),
            latent=entry.get("latent"),
        )

    def tabulated(self, schema: Schema) -> Features[object]:
        """Return the same structure with functions written down as tables, which files can hold."""
        if not any(_is_function(spec) for spec in self.specs):
            return self
        specs: list[FeatureSpec] = []
        for spec in self.specs:
            specs += [tabulated(f, schema) for f in spec.resolved(schema)] if _is_function(spec) else [spec]
        return Features(
            specs,
            given=self.given,
            support=dict(self.support),
            tie=dict(self.tie),
            variables=self.variables,
            latent=dict(self.latent),
        )


def _is_function(spec: FeatureSpec) -> bool:
    try:
        spec.to_dict()
    except StructureError:
        return True
    return False


def _specs(features: FeatureSpecs) -> tuple[FeatureSpec, ...]:
    listed = (features,) if isinstance(features, FeatureSpec) else features
    if isinstance(listed, str | bytes | Mapping) or not isinstance(listed, Iterable):
        raise StructureError(
            f"Features are a list such as [sf.indicator(A='yes'), sf.product('u', 'v')]. Got {shown(features)} instead."
        )
    found = tuple(listed)
    if not found:
        raise StructureError(
            "There are no features, so that nothing can be learnt. Name at least one, as in "
            "sf.Features([sf.indicator(A='yes', B='no')])."
        )
    for spec in found:
        if not isinstance(spec, FeatureSpec):
            raise StructureError(
                "A feature is made by sf.indicator, sf.indicators, sf.product, sf.feature or sf.windows. "
                f"Got {shown(spec)} instead."
            )
    return found


def _names(names: object, argument: str) -> tuple[str, ...]:
    if isinstance(names, Mapping | bytes) or not isinstance(names, Iterable):
        raise StructureError(f"The '{argument}' argument must be a list of names. Got {shown(names)} instead.")
    listed = (names,) if isinstance(names, str) else tuple(names)
    for name in listed:
        require_name(name)
    if len(set(listed)) < len(listed):
        raise StructureError(f"The '{argument}' argument names a variable twice: {listing(listed)}.")
    return listed


def _support(support: object, outputs: Sequence[str]) -> tuple[tuple[str, tuple[float, float]], ...]:
    found = []
    if support is not None and not isinstance(support, Mapping):
        raise StructureError(f"The 'support' argument must be a mapping such as {{'x': (0, 1)}}. Got {shown(support)}.")
    for name, ends in dict(support or {}).items():
        if name not in outputs:
            raise UnknownNameError(
                f"There is a support for {name!r}, which is none of the variables modelled, {listing(outputs, 12)}."
                + suggestion(name, outputs)
            )
        try:
            low, high = (float(end) for end in ends)
        except (TypeError, ValueError, OverflowError):
            low, high = math.nan, math.nan
        if not low < high:
            raise StructureError(
                f"The support of {name!r} must be an interval such as (0, 1) or (0, math.inf). Got {shown(ends)}."
            )
        found.append((name, (low, high)))
    return tuple(found)


def _ties(tie: Ties) -> tuple[Tie, ...]:
    if isinstance(tie, str) or not isinstance(tie, Iterable):
        raise StructureError(f"The 'tie' argument must be lists of features' names. Got {shown(tie)} instead.")
    groups = tie.items() if isinstance(tie, Mapping) else [(None, members) for members in tie]
    found = []
    for name, members in groups:
        if isinstance(members, str) or not isinstance(members, Sequence) or len(members) < 2:
            raise StructureError(f"A tie is a list of at least two features' names. Got {shown(members)} instead.")
        for member in members:
            require_name(member)
        if len(set(members)) < len(members):
            raise StructureError(f"The tie {listing(members)} names a feature twice.")
        found.append((" = ".join(members) if name is None else str(name), tuple(members)))
    return tuple(found)


def _written(end: float) -> float | str:
    return end if math.isfinite(end) else str(end)
