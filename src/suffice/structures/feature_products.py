"""Features written by states and by numbers: indicators, all configurations of a scope, products.

A specification knows names and labels; with the states of a schema it becomes one or more `Feature`, each with a weight
of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from suffice.data.schema import Schema
from suffice.data.variable import Variable, plain_label
from suffice.errors import StructureError, is_number, listing, shown
from suffice.structures.feature_rules import Feature, Match, Outer, Term, Times
from suffice.structures.feature_spec import FeatureSpec, discrete, named, require_few, require_name, scope_of, text_of
from suffice.types import GivenLabel, Json
from suffice.values import Label


@dataclass(frozen=True, repr=False)
class IndicatorSpec(FeatureSpec):
    """See `indicator`."""

    states: tuple[tuple[str, Label], ...]
    name: str = ""

    def __repr__(self) -> str:
        name = f", name={self.name!r}" if self.name else ""
        return f"indicator({dict(self.states)!r}{name})"

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it asks for."""
        return tuple(name for name, _ in self.states)

    @property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """All variables together."""
        return (self.variables,)

    def resolved(self, schema: Schema) -> tuple[Feature, ...]:
        """Return one feature."""
        codes = []
        for name, label in self.states:
            variable = discrete(schema, name, "An indicator asks for a state")
            codes.append(variable.code(label))
        name = self.name or " & ".join(f"{variable}={label}" for variable, label in self.states)
        return (Feature(name, (Term(self.variables, Match(tuple(codes))),)),)

    def to_dict(self) -> dict[str, Json]:
        """Return ``{"indicator": {…}}``."""
        return named({"indicator": dict(self.states)}, self.name)


def indicator(
    states: Mapping[str, GivenLabel] | None = None, /, *, name: str = "", **more: GivenLabel
) -> IndicatorSpec:
    """Return the feature that is one where the variables have the given states, and says nothing elsewhere.

    Parameters
    ----------
    states : mapping, optional
        States by variable, for names that are no Python identifiers; others can be keywords.
    name : str, optional
        What the weight is called; a variable of this name goes into ``states``.

    Examples
    --------
    >>> indicator(A="yes", B="no").variables
    ('A', 'B')
    >>> indicator({"M. Work": "no"}, name="idle")
    indicator({'M. Work': 'no'}, name='idle')
    """
    if states is not None and not isinstance(states, Mapping):
        raise StructureError(f"An indicator is written sf.indicator(A='yes') or {{'A': 'yes'}}. Got {shown(states)}.")
    both = {**(states or {}), **more}
    if not both:
        raise StructureError("An indicator needs at least one state, as in sf.indicator(A='yes').")
    for variable, label in both.items():
        require_name(variable)
        if not isinstance(plain_label(label), Label):
            raise StructureError(
                f"An indicator asks for one state a variable, text, a number or a bool. Got {shown(label)} for "
                f"{variable!r}."
            )
    return IndicatorSpec(tuple((variable, plain_label(label)) for variable, label in both.items()), text_of(name))


@dataclass(frozen=True, repr=False)
class IndicatorsSpec(FeatureSpec):
    """See `indicators`."""

    scope: tuple[str, ...]
    reference: bool = False

    def __repr__(self) -> str:
        reference = ", reference=True" if self.reference else ""
        return f"indicators({', '.join(map(repr, self.scope))}{reference})"

    @property
    def variables(self) -> tuple[str, ...]:
        """The scope."""
        return self.scope

    @property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """All variables together."""
        return (self.variables,)

    def resolved(self, schema: Schema) -> tuple[Feature, ...]:
        """Return one feature a configuration."""
        variables = [discrete(schema, name, "Its configurations are counted") for name in self.scope]
        first = 1 if self.reference else 0
        n_weights = math.prod(max(variable.n_states - first, 0) for variable in variables)
        require_few(n_weights, self.scope)
        found = []
        for codes in itertools.product(*(range(first, variable.n_states) for variable in variables)):
            said = " & ".join(f"{v.name}={v.labels[code]}" for v, code in zip(variables, codes, strict=True))
            found.append(Feature(said, (Term(self.scope, Match(codes)),)))
        return tuple(found)

    def to_dict(self) -> dict[str, Json]:
        """Return ``{"indicators": […]}``."""
        entry: dict[str, Json] = {"indicators": list(self.scope)}
        return {**entry, "reference": True} if self.reference else entry


def indicators(*scope: str | Sequence[str], reference: bool = False) -> IndicatorsSpec:
    """Return the indicators of all configurations of some variables, each with its own weight.

    Parameters
    ----------
    *scope : str
    reference : bool
        Leave out configurations in which a variable has its first state, so that the weights are determined.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.Features([sf.indicators("A", "B")]), {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}, method="ipf")
    >>> [feature.name for feature in fit.structure.resolved(fit.model.schema)]
    ['A=x & B=u', 'A=x & B=v', 'A=y & B=u', 'A=y & B=v']
    """
    if len(scope) == 1 and not isinstance(scope[0], str) and isinstance(scope[0], Sequence):
        scope = tuple(scope[0])
    return IndicatorsSpec(scope_of(scope, "sf.indicators('A', 'B')"), bool(reference))


@dataclass(frozen=True, repr=False)
class ProductSpec(FeatureSpec):
    """See `product`."""

    parts: tuple[str | FeatureSpec, ...]
    name: str = ""

    def __repr__(self) -> str:
        name = f", name={self.name!r}" if self.name else ""
        return f"product({', '.join(map(repr, self.parts))}{name})"

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables of the parts."""
        found: dict[str, None] = {}
        for part in self.parts:
            found |= dict.fromkeys((part,) if isinstance(part, str) else part.variables)
        return tuple(found)

    @property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """One scope of every part, taken together."""
        choices = [((part,),) if isinstance(part, str) else part.scopes for part in self.parts]
        joined = (tuple(dict.fromkeys(itertools.chain(*chosen))) for chosen in itertools.product(*choices))
        return tuple(dict.fromkeys(joined))

    def resolved(self, schema: Schema) -> tuple[Feature, ...]:
        """Return one feature, or one for every combination of its parts' features."""
        choices = [
            (Feature(part, (Term((part,), Outer((_numbers(schema[part]),))),)),)
            if isinstance(part, str)
            else part.resolved(schema)
            for part in self.parts
        ]
        found = [_multiplied(features) for features in itertools.product(*choices)]
        if self.name and len(found) == 1:
            found = [Feature(self.name, found[0].terms)]
        return tuple(found)

    def to_dict(self) -> dict[str, Json]:
        """Return ``{"product": […]}``."""
        parts = [part if isinstance(part, str) else part.to_dict() for part in self.parts]
        return named({"product": parts}, self.name)


def product(*parts: str | FeatureSpec, name: str = "") -> ProductSpec:
    """Return the product of numeric variables, as real-valued feature; a name twice is its square.

    Parameters
    ----------
    *parts : str or feature
        Names of variables, whose values are multiplied (numbers, never codes), and other features: with
        ``sf.indicators("class")`` the product has a weight for every class.
    name : str, optional

    Examples
    --------
    >>> import suffice as sf
    >>> die = sf.Features([sf.product("points")])
    >>> fit = sf.maxent(die, [4.5], over={"points": [1, 2, 3, 4, 5, 6]})
    >>> print(fit.model.query("points"))
    points       p
    ------  ------
    1       0.0544
    2       0.0788
    3       0.1142
    4       0.1654
    5       0.2398
    6       0.3475
    """
    if not parts:
        raise StructureError("A product needs at least one variable, as in sf.product('u', 'v').")
    for part in parts:
        if not isinstance(part, FeatureSpec):
            require_name(part)
    return ProductSpec(parts, text_of(name))


def _multiplied(features: Sequence[Feature]) -> Feature:
    """Return the product of sums, multiplied out."""
    name = "·".join(f"({f.name})" if len(features) > 1 and "=" in f.name else f.name for f in features)
    terms = []
    for chosen in itertools.product(*(feature.terms for feature in features)):
        scope = tuple(dict.fromkeys(name for term in chosen for name in term.scope))
        parts = tuple((tuple(scope.index(name) for name in term.scope), term.rule) for term in chosen)
        alone = len(parts) == 1 and parts[0][0] == tuple(range(len(scope)))
        terms.append(Term(scope, parts[0][1] if alone else Times(parts)))
    return Feature(name, tuple(terms))


def _numbers(variable: Variable) -> tuple[float, ...] | None:
    """Return the numbers that a variable's states are, None for a continuous one."""
    if variable.states is None:
        return None
    if not all(isinstance(state, bool) or is_number(state) for state in variable.states):
        raise StructureError(
            f"A product multiplies numbers, and {variable.name!r} has the states {listing(variable.states)}. Use "
            f"sf.indicator or sf.feature(f, over=({variable.name!r},)) to give them values."
        )
    return tuple(float(state) for state in variable.states)
