"""MarkovNetwork: a product of tables over small sets of variables, normalised by its sum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema, SchemaLike, declarations
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, ModelError, SchemaError, UnknownNameError, listing, shown, suggestion
from suffice.inference.product import Product
from suffice.models.clique_layout import factors_over
from suffice.models.discrete_engine import DiscreteEngine
from suffice.models.prediction import Prediction
from suffice.models.queries import Queries
from suffice.models.row_answers import RowAnswers
from suffice.models.row_model import RowModel
from suffice.structures.cliques import Cliques
from suffice.text import html_folded, html_text, plain_tables, plural
from suffice.types import Columns, Floats, Json

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork
    from suffice.models.u_terms import UTerms
    from suffice.types import Entry

SHOWN_TABLES = 20
"""Tables that a notebook shows."""


@dataclass(frozen=True, init=False, eq=False)
class MarkovNetwork(Queries[LabelledTable, RowAnswers], RowModel, Prediction):
    """The distribution p(x) = (1/Z) Π_C ψ_C(x_C), a Markov random field.

    Parameters
    ----------
    factors : sequence
        The tables ψ_C, as `LabelledTable` or as pairs ``(names, array)`` with one axis a name. Numbers are finite and
        not negative. A scope may occur more than once, and may be empty: a constant.
    schema : mapping
        The states of every variable, in order. Variables outside all factors are uniform.
    properties : mapping, optional
        What a file says of the network beyond its numbers, kept for writing it back.
    notes : sequence of str
        What was done to the numbers on the way in.

    Examples
    --------
    >>> agree = [[3.0, 1.0], [1.0, 3.0]]
    >>> network = MarkovNetwork([(("A", "B"), agree)], schema={"A": ["no", "yes"], "B": ["no", "yes"]})
    >>> network
    MarkovNetwork(2 variables, 1 factor)
    >>> print(network.query("A", given={"B": "yes"}))
    A         p
    ---  ------
    no   0.2500
    yes  0.7500
    >>> round(float(np.exp(network.log_z)), 9)
    8.0
    """

    schema: Schema
    factors: tuple[LabelledTable, ...]
    properties: Mapping[str, Any]
    notes: tuple[str, ...]

    def __init__(
        self,
        factors: Iterable[Any],
        *,
        schema: SchemaLike,
        properties: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        if isinstance(factors, str | bytes | Mapping) or not isinstance(factors, Iterable):
            raise ArgumentError(
                "The 'factors' argument must be a list of tables or of pairs such as (('A', 'B'), [[3, 1], [1, 3]]). "
                f"Got {shown(factors)} instead."
            )
        object.__setattr__(self, "schema", declared_schema(schema))
        object.__setattr__(self, "factors", tuple(_factor(number, f, self.schema) for number, f in enumerate(factors)))
        object.__setattr__(self, "properties", dict(properties or {}))
        object.__setattr__(self, "notes", tuple(notes))

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in the order of the schema."""
        return tuple(self.schema)

    @cached_property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """The names of every factor's variables, in the order of its axes."""
        return tuple(factor.names for factor in self.factors)

    @cached_property
    def cliques(self) -> Cliques:
        """The structure: the scopes of the factors, each once, and variables in no factor by themselves."""
        held: dict[frozenset[str], tuple[str, ...]] = {}
        for scope in self.scopes:
            if scope:
                held.setdefault(frozenset(scope), scope)
        inside = {name for scope in held for name in scope}
        return Cliques([*held.values(), *((name,) for name in self.variables if name not in inside)])

    def __repr__(self) -> str:
        return f"MarkovNetwork({plural(len(self.schema), 'variable')}, {plural(len(self.factors), 'factor')})"

    def __str__(self) -> str:
        tables = (f"ψ({', '.join(factor.names)})\n{factor}" for factor in self.factors)
        return plain_tables(tables, len(self.factors), "model.factors has all")

    def _repr_html_(self) -> str:
        from suffice.report.static_graph import graph_html

        shown = [factor._repr_html_() for factor in self.factors[:SHOWN_TABLES]]
        more = len(self.factors) - len(shown)
        rest = html_text(f"… {plural(more, 'more table')}; model.factors has all") if more else ""
        return graph_html(self) + html_folded(plural(len(self.factors), "factor"), "".join([*shown, rest]))

    # What it computes -----------------------------------------------------------------------------------------

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(x) of every row of codes; shape (n_rows,)."""
        self._engine.require_possible()
        return self.log_score_of(columns, n_rows) - self.log_z

    def log_score_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return Σ log ψ_C(x_C) of every row of codes, the distribution but for log Z; shape (n_rows,)."""
        total = np.zeros(n_rows)
        with np.errstate(divide="ignore"):
            for factor in self.factors:
                total += np.log(factor.values[tuple(np.asarray(columns[name], np.int64) for name in factor.names)])
        return total

    @cached_property
    def _engine(self) -> DiscreteEngine:
        return DiscreteEngine(self.schema, self._product())

    def _product(self) -> Product:
        """Return the factors."""
        sizes = tuple(variable.n_states for variable in self.schema.variables)
        return Product(self.variables, sizes, factors_over(self.factors, self.variables))

    # Other forms ----------------------------------------------------------------------------------------------

    def u_terms(self, constraint: str = "sum", total: float = 1.0) -> UTerms:
        """Return the log-linear parameters: log (total · p(x)) = u + Σ_A u_A(x_A) over all subsets A of the scopes.

        Parameters
        ----------
        constraint : {"sum", "corner"}
            What makes them unique: every term sums to zero over each of its variables, or is zero wherever one of them
            is in its first state.
        total : float
            With the number of rows, the terms are those of expected counts.

        Raises
        ------
        ModelError
            When a potential is zero somewhere: then terms are infinite.

        Examples
        --------
        >>> network = MarkovNetwork([(("A", "B"), [[4.0, 1.0], [1.0, 4.0]])], schema={"A": ["x", "y"], "B": ["u", "v"]})
        >>> print(network.u_terms()["A", "B"])
           B
        A          u          v
        -  ---------  ---------
        x   0.693147  -0.693147
        y  -0.693147   0.693147
        """
        from suffice.models.u_terms import u_terms

        return u_terms(self, constraint, total)

    def to_bayesian_network(self, unseen_parents: str = "nan") -> BayesianNetwork:
        """Return the same distribution as a Bayesian network, which exists for decomposable cliques only.

        Parameters
        ----------
        unseen_parents : {"nan", "uniform"}
            The rows of parent configurations of probability zero, on which the distribution does not depend.

        Examples
        --------
        >>> network = MarkovNetwork([(("A", "B"), [[3.0, 1.0], [2.0, 2.0]])], schema={"A": ["x", "y"], "B": ["u", "v"]})
        >>> print(network.to_bayesian_network().cpd("B"))
        p(B | A)
        A       u       v
        -  ------  ------
        x  0.7500  0.2500
        y  0.5000  0.5000
        """
        from suffice.models.two_forms import directed_form

        return directed_form(self, unseen_parents)

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {
            "type": "MarkovNetwork",
            "schema": self.schema.to_dict(),
            "factors": [{"scope": list(factor.names), "values": factor.values.ravel()} for factor in self.factors],
            "properties": dict(self.properties),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> MarkovNetwork:
        """Rebuild the model from `to_dict`'s data."""
        schema = Schema.from_dict(entry["schema"])
        factors = []
        for factor in entry["factors"]:
            shape = [schema[name].n_states for name in factor["scope"]]
            factors.append((tuple(factor["scope"]), np.array(factor["values"], np.float64).reshape(shape)))
        return cls(factors, schema=schema, properties=entry.get("properties"), notes=entry.get("notes", ()))


def declared_schema(schema: SchemaLike) -> Schema:
    """Return the schema of a Markov network, whose states must all be known."""
    if isinstance(schema, Schema):
        for variable in schema.variables:
            if not variable.labels:
                raise SchemaError(f"Variable {variable.name!r} has no states. A Markov network needs at least one.")
        return schema
    variables = []
    for name, declaration in declarations(schema).items():
        if declaration.states is None:
            raise SchemaError(
                f"The states of {name!r} are not known. A Markov network needs them: {{{name!r}: ['no', 'yes']}}."
            )
        variables.append(Variable(name, declaration.states, True))
    return Schema(tuple(variables))


def _factor(number: int, entry: Any, schema: Schema) -> LabelledTable:
    """Return one table, checked against the schema."""
    if isinstance(entry, LabelledTable):
        names, array = entry.names, entry.values
        for variable in entry.variables:
            if variable.name in schema and not variable.has_states_of(schema[variable.name]):
                raise ModelError(
                    f"Factor {number}: its states of {variable.name!r} are {listing(variable.labels)}, the schema's "
                    f"are {listing(schema[variable.name].labels)}. They must be equal, order included."
                )
    elif isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], tuple | list):
        names, array = tuple(entry[0]), entry[1]
    else:
        raise ArgumentError(
            f"Factor {number} must be a table or a pair such as (('A', 'B'), [[3, 1], [1, 3]]). "
            f"Got {shown(entry)} instead."
        )
    for name in names:
        if not isinstance(name, str) or name not in schema:
            raise UnknownNameError(
                f"Factor {number} is over {name!r}, which is not a variable of the schema, {listing(schema, 12)}."
                + suggestion(name, schema)
            )
    if len(set(names)) < len(names):
        raise ModelError(f"Factor {number} names a variable twice: {listing(names)}.")
    variables = tuple(schema[name] for name in names)
    shape = tuple(variable.n_states for variable in variables)
    try:
        values = np.array(array, np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"Factor {number}, over {listing(names)}, is not an array of numbers.") from None
    if values.shape != shape:
        raise ModelError(
            f"Factor {number}, over {listing(names)}, must have the shape {shape}, one axis a variable and one place "
            f"a state. Got {values.shape} instead."
        )
    if not ((values >= 0) & (values < np.inf)).all():
        bad = values[~((values >= 0) & (values < np.inf))][0]
        raise ModelError(f"Factor {number}, over {listing(names)}, has {bad}: numbers must be finite and not negative.")
    return LabelledTable(variables, values, "ψ")
