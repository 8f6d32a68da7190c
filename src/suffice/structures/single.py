"""Normal, MultivariateNormal, Bernoulli and Categorical: the models that are fitted by themselves, without a graph.

A multivariate normal is a Gaussian Markov random field whose graph is complete, and a categorical variable is a network
of one node; so the fitters, the certificates and the models are theirs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.data.schema import Declaration
from suffice.data.variable import Variable
from suffice.errors import Mention, StructureError, listing, require_choice, shown
from suffice.settings import more_memory, settings
from suffice.structures.dag import DAG
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.text import in_bytes
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.types import Entry, Json

DIVISORS = ("n", "n-1")
PAIR_BYTES = 250
"""What an edge takes at its peak, in Python, with its entries in a few matrices."""


@dataclass(frozen=True, init=False)
class MultivariateNormal(GaussianMarkov):
    """A multivariate normal distribution without zeros in its precision matrix.

    Parameters
    ----------
    variables : sequence of str
        The columns, in the order of all arrays.
    divisor : {"n", "n-1"}
        That of the covariance matrix without a prior: ``"n"`` is maximum likelihood, ``"n-1"`` the unbiased estimate,
        under which the log-likelihood is not at its maximum. A prior has a divisor of its own.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"x": [1.0, 2.0, 6.0], "y": [2.0, 2.0, 5.0]}
    >>> fit = sf.fit(sf.MultivariateNormal(["x", "y"]), data)
    >>> fit.model.mean
    array([3., 3.])
    >>> fit.model.covariance.round(6)
    array([[4.666667, 3.      ],
           [3.      , 2.      ]])
    >>> sf.fit(sf.MultivariateNormal(["x", "y"], divisor="n-1"), data).model.covariance.round(6)
    array([[7. , 4.5],
           [4.5, 3. ]])
    """

    divisor: str

    def __init__(self, variables: Iterable[str], *, divisor: str = "n") -> None:
        names = _names(variables)
        require_choice("divisor", divisor, DIVISORS)
        _require_room(len(names))
        self._settle(names, tuple(itertools.combinations(names, 2)))
        object.__setattr__(self, "divisor", divisor)

    def _setting(self) -> str:
        return "" if self.divisor == "n" else f", divisor={self.divisor!r}"

    def __repr__(self) -> str:
        return f"MultivariateNormal({listing(self.variables, 12)}{self._setting()})"

    def __str__(self) -> str:
        return repr(self)

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        return {"type": "MultivariateNormal", "variables": list(self.variables), "divisor": self.divisor}

    @classmethod
    def from_dict(cls, entry: Entry) -> MultivariateNormal:
        """Rebuild the structure from `to_dict`'s data."""
        return cls(entry["variables"], divisor=entry["divisor"])


def _require_room(p: int) -> None:
    """Refuse columns whose covariances do not fit the memory; each is an edge of the structure, too."""
    need, allowed = PAIR_BYTES * p * (p - 1) // 2, settings().memory
    if need > allowed:
        raise StructureError(
            f"A normal distribution of {p:,} columns has {p * (p - 1) // 2:,} covariances. With the names of their "
            f"columns they would take {in_bytes(need)}, more than the {in_bytes(allowed)} that are allowed. Use fewer "
            "columns, a sparse graph, sf.GaussianMarkov(…), or allow more: ",
            more_memory(need),
            ".",
        )


class Normal(MultivariateNormal):
    """The normal distribution of one variable.

    Parameters
    ----------
    variable : str
        The column.
    divisor : {"n", "n-1"}
        That of the variance without a prior: ``"n"`` is maximum likelihood, ``"n-1"`` the unbiased estimate.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.Normal("x"), {"x": [1.0, 2.0, 6.0]})
    >>> fit.model.mean, fit.model.covariance.round(6)
    (array([3.]), array([[4.666667]]))
    >>> fit.model.interval(0.95).round(4)
    array([[-1.234,  7.234]])
    >>> sf.fit(sf.Normal("x", divisor="n-1"), {"x": [1.0, 2.0, 6.0]}).model.covariance.round(6)
    array([[7.]])
    """

    def __init__(self, variable: str, *, divisor: str = "n") -> None:
        super().__init__([_name(variable)], divisor=divisor)

    def __repr__(self) -> str:
        return f"Normal({self.variables[0]!r}{self._setting()})"

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        return {"type": "Normal", "variable": self.variables[0], "divisor": self.divisor}

    @classmethod
    def from_dict(cls, entry: Entry) -> Normal:
        """Rebuild the structure from `to_dict`'s data."""
        return cls(entry["variable"], divisor=entry["divisor"])


# Discrete -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class Categorical(DAG):
    """One discrete variable: a probability for each of its states.

    Parameters
    ----------
    variable : str
        The column; it is read as discrete, whatever its values look like.
    states : iterable of labels, optional
        The states in order; otherwise those of the data, or of the schema.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.Categorical("eyes"), {"eyes": ["blue", "brown", "brown", "green"]}, prior=sf.Dirichlet(1.0))
    >>> print(fit.model.query("eyes"))
    eyes        p
    -----  ------
    blue   0.2857
    brown  0.4286
    green  0.2857
    """

    known: Variable

    def __init__(self, variable: str, states: Iterable[Label] | None = None) -> None:
        super().__init__([_name(variable)], kinds={variable: "tabular"})
        self._set("known", _known(variable, states))

    @property
    def variable(self) -> str:
        """The name of the variable."""
        return self.nodes[0]

    @property
    def states(self) -> tuple[Label, ...] | None:
        """The states that were given, in order; None when the data tells."""
        return self.known.states

    @property
    def declared(self) -> dict[str, Declaration]:
        """The variable is discrete, with its states where they were given."""
        return {self.variable: Declaration("discrete", self.states)}

    def __repr__(self) -> str:
        states = "" if self.states is None else f", {listing(self.states)}"
        return f"{type(self).__name__}({self.variable!r}{states})"

    def __str__(self) -> str:
        return repr(self)

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        states = None if self.states is None else list(self.states)
        return {**super().to_dict(), "type": type(self).__name__, "variable": self.variable, "states": states}

    @classmethod
    def from_dict(cls, entry: Entry) -> Categorical:
        """Rebuild the structure from `to_dict`'s data."""
        return cls(entry["variable"], entry["states"])


class Bernoulli(Categorical):
    """One variable of two states, the second of which is the success.

    Parameters
    ----------
    variable : str
        The column; it is read as discrete, whatever its values look like.
    states : pair of labels, optional
        Failure and success. Otherwise the two states of the data, sorted, or those of the schema; data in which only
        one of them occurs does not tell.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.Bernoulli("heads"), {"heads": [0, 1, 1, 1]})
    >>> fit.model.query("heads")[{"heads": 1}]
    0.75
    >>> fit = sf.fit(sf.Bernoulli("heads", [0, 1]), {"heads": [1, 1, 1]}, prior=sf.Dirichlet(1.0))
    >>> fit.model.query("heads")[{"heads": 1}]
    0.8
    """

    def __init__(self, variable: str, states: Iterable[Label] | None = None) -> None:
        super().__init__(variable, states)
        if self.states is not None and len(self.states) != 2:
            raise StructureError(
                f"A Bernoulli variable has two states, failure and success. Got {listing(self.states)} instead; for "
                "more use ",
                Mention("Categorical", f"sf.Categorical({variable!r}, …)"),
                ".",
            )


# Arguments ----------------------------------------------------------------------------------------------------


def _name(variable: object) -> str:
    if not isinstance(variable, str) or not variable:
        raise StructureError(
            f"The 'variable' argument must be the name of one column, and not empty. Got {shown(variable)} instead."
        )
    return variable


def _names(variables: object) -> tuple[str, ...]:
    names = tuple(variables) if isinstance(variables, Iterable) and not isinstance(variables, str) else ()
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise StructureError(
            "The 'variables' argument must list the names of the columns, each once, as in ['x', 'y']. "
            f"Got {shown(variables)} instead."
        )
    return names


def _known(variable: str, states: Iterable[Label] | None) -> Variable:
    if states is None:
        return Variable(variable)
    found = Variable(variable, states, True)  # type: ignore[arg-type]  # it makes a tuple of any list
    for label in found.labels:
        if isinstance(label, float) and not math.isfinite(label):
            raise StructureError(f"The state {label} of {variable!r} is not finite. Write the states as text.")
    return found
