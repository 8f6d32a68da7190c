"""HiddenMarkovModel: a fitted Markov chain whose states were not observed, with the columns that hang on it.

Parameters    p(z_1), p(z | z before it), and p(x | z) of every column: a table, or a normal distribution a state
Asking        log-probabilities of sequences, their most probable states, the probabilities of states
Sampling      states first, as in a Markov chain, then what they show
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.hidden_sequences import HiddenColumns, HiddenTable
from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.sequences import Sequences
from suffice.data.stream import KEEP
from suffice.data.variable import Variable
from suffice.data.windows import lagged
from suffice.errors import (
    ArgumentError,
    ModelError,
    StructureError,
    UnknownNameError,
    listing,
    require_whole,
    shown,
    suggestion,
)
from suffice.inference.hidden_chains import HiddenChain, NormalEmission, TableEmission
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD, from_array
from suffice.models.markov_walk import draw
from suffice.models.sampling import require_draws, stream_key
from suffice.settings import more_memory, settings
from suffice.structures.markov_chain import MarkovChain
from suffice.text import in_bytes, plural
from suffice.types import Array, Floats, Ints, Json

if TYPE_CHECKING:
    from suffice.types import Entry

Emission = TabularCPD | LinearGaussianCPD


@lru_cache(maxsize=64)
def hidden_families(chain: MarkovChain, observed: tuple[Variable, ...]) -> tuple[NodeFamily, ...]:
    """Return the families of a hidden chain: the first state, a state given the one before, and every column's."""
    name, n_states = chain.state
    need, allowed = 8 * n_states**2, settings().memory
    if need > allowed:
        raise StructureError(
            f"The latent column {name!r} has {shown(n_states)} states; the table of its transitions would take "
            f"{in_bytes(need)}, more than the {in_bytes(allowed)} that are allowed. Give it fewer states, or allow "
            "more: ",
            more_memory(need),
            ".",
        )
    state = Variable(name, tuple(range(n_states)), True)
    before = Variable(lagged(name, 1), state.states, True)
    return NodeFamily(state), NodeFamily(state, (before,)), *(NodeFamily(variable, (state,)) for variable in observed)


@dataclass(frozen=True, eq=False)
class HiddenMarkovModel:
    """A hidden Markov model with its parameters.

    Attributes
    ----------
    structure : MarkovChain
        With a latent column.
    start : TabularCPD
        p(z_1).
    step : TabularCPD
        p(z_t | z_t−1). Rows of states that are never left are unknown (NaN), unless they were set uniform.
    shows : tuple of TabularCPD or LinearGaussianCPD
        p(x | z) of every column.

    Examples
    --------
    >>> import suffice as sf
    >>> chain = sf.MarkovChain(latent={"coin": 2}, variable="x")
    >>> model = sf.HiddenMarkovModel.of(
    ...     chain, {"x": ["h", "t"]}, [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], {"x": [[0.5, 0.5], [0.9, 0.1]]}
    ... )
    >>> model.log_prob(["hhhhhht"]).round(4)
    array([-3.264])
    >>> model.decode(["hhhhhhhhtt"])[0].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    >>> model.sample(1, length=8, seed=2).texts()
    ['hhttthth']
    """

    structure: MarkovChain
    start: TabularCPD
    step: TabularCPD
    shows: tuple[Emission, ...]

    def __post_init__(self) -> None:
        wanted = hidden_families(self.structure, tuple(cpd.family.child for cpd in self.shows))
        if tuple(cpd.family for cpd in (self.start, self.step, *self.shows)) != wanted or not self.shows:
            raise ModelError(
                f"A chain with the latent column {self.structure.state[0]!r} needs its first state's distribution, its "
                "transitions, and the distribution of each column given the state. Got those of other variables."
            )
        if self.structure.names and self.structure.names != tuple(cpd.family.child.name for cpd in self.shows):
            raise ModelError(
                f"The chain is of {listing(self.structure.names)}, but the distributions are of "
                f"{listing(cpd.family.child.name for cpd in self.shows)}."
            )

    @classmethod
    def of(
        cls,
        structure: MarkovChain,
        schema: Mapping[str, Any],
        initial: Any,
        transitions: Any,
        emissions: Mapping[str, Any],
    ) -> HiddenMarkovModel:
        """Return the model with given numbers.

        Parameters
        ----------
        structure : MarkovChain
            With a latent column.
        schema : mapping
            The states of every discrete column; None for continuous ones.
        initial : array, shape (K,)
        transitions : array, shape (K, K)
        emissions : mapping
            By column: a table of shape (K, n_states), or ``{"mean": […], "sd": […]}``, one number a state.
        """
        if not isinstance(structure, MarkovChain) or not structure.latent:
            raise ArgumentError("A hidden Markov model needs a chain with a latent column: sf.MarkovChain(latent=…).")
        names = structure.names or tuple(emissions)
        for name in names:
            if name not in emissions or name not in schema:
                raise ArgumentError(f"Column {name!r} needs an entry in 'schema' and in 'emissions'.")
        observed = tuple(Variable(name, None if schema[name] is None else tuple(schema[name]), True) for name in names)
        first, step, *rest = hidden_families(structure, observed)
        shows = tuple(
            from_array(family, emissions[family.child.name])
            if family.child.is_discrete
            else _normal(family, emissions[family.child.name])
            for family in rest
        )
        return cls(structure, from_array(first, initial), from_array(step, transitions), shows)

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> Variable:
        """The latent column."""
        return self.start.family.child

    @property
    def order(self) -> int:
        """How many states the next one depends on: one."""
        return 1

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns that are observed."""
        return tuple(cpd.family.child.name for cpd in self.shows)

    @property
    def schema(self) -> Schema:
        """The columns that are observed, then the latent one and the one before it."""
        return self._schema

    @cached_property
    def _schema(self) -> Schema:
        before = self.step.family.parents[0]
        return Schema((*(cpd.family.child for cpd in self.shows), self.state, before))

    @property
    def tables(self) -> tuple[Emission, ...]:
        """All distributions: of the first state, of transitions, and of every column."""
        return (self.start, self.step, *self.shows)

    @property
    def initial(self) -> LabelledTable:
        """The distribution of the first state."""
        return self.start.table

    @property
    def transitions(self) -> LabelledTable:
        """p(state | the one before), rows the state before."""
        return self.step.table

    @cached_property
    def emissions(self) -> dict[str, LabelledTable]:
        """By column: p(x | state), or the mean and sd of every state."""
        found: dict[str, LabelledTable] = {}
        for cpd in self.shows:
            if isinstance(cpd, TabularCPD):
                found[cpd.family.child.name] = cpd.table
                continue
            numbers = Variable(cpd.family.child.name, ("mean", "sd"))
            values = np.stack([cpd.intercept, cpd.sd], axis=1)
            found[cpd.family.child.name] = LabelledTable((self.state, numbers), values, "value")
        return found

    def emission(self, name: str) -> Emission:
        """Return the distribution of one column given the state."""
        if name not in self.variables:
            raise UnknownNameError(
                f"The model has no column {name!r}. Its columns are {listing(self.variables)}."
                + suggestion(name, self.variables)
            )
        return self.shows[self.variables.index(name)]

    @property
    def n_free(self) -> int:
        """The number of free parameters."""
        k = self.state.n_states
        shown = sum(
            k * (max(cpd.family.child.n_states - 1, 0) if isinstance(cpd, TabularCPD) else 2) for cpd in self.shows
        )
        return (k - 1) + k * (k - 1) + shown

    @cached_property
    def chain(self) -> HiddenChain:
        """The numbers that inference needs; what is unknown is uniform, and can only follow what never occurs."""
        return self.chain_about({})

    def chain_about(self, centres: Mapping[str, float]) -> HiddenChain:
        """Return the chain with squares of continuous columns summed about some centres, zero where there is none."""
        emissions: list[TableEmission | NormalEmission] = []
        for cpd in self.shows:
            name = cpd.family.child.name
            if isinstance(cpd, TabularCPD):
                emissions.append(TableEmission(name, _known(cpd)))
                continue
            spread = cpd.variance[~np.isnan(cpd.variance)]
            usual = float(spread.max(initial=0.0)) or 1.0
            mean = np.where(cpd.unknown, centres.get(name, 0.0), cpd.intercept)
            variance = np.where(cpd.unknown, usual, cpd.variance)
            if not (variance > 0).all():
                raise ModelError(
                    f"The variance of {name!r} is zero in a state, so that sequences have no density. Give it some."
                )
            emissions.append(NormalEmission(name, mean, variance, centres.get(name, 0.0)))
        return HiddenChain(_known(self.start)[0], _known(self.step), tuple(emissions))

    # Asking ---------------------------------------------------------------------------------------------------

    def log_prob(self, sequences: Any) -> Floats:
        """Return log p of what every sequence shows, its states summed out; shape (n_sequences,).

        Parameters
        ----------
        sequences : Sequences, or what the structure can read as such
            What is missing was not observed. Symbols that the model does not know are an error. Empty sequences have
            probability one.
        """
        found = self._asked(sequences, lambda columns: self.chain.log_likelihoods(columns, columns.offsets))
        return np.concatenate([np.zeros(0), *found])

    def log_likelihood(self, sequences: Any) -> float:
        """Return log p of all sequences together, those that `open` gave with their weights."""
        found = [
            np.where(columns.weights > 0, columns.weights * self.chain.log_likelihoods(columns, columns.offsets), 0.0)
            for columns in self._blocks(sequences)
        ]
        total = np.concatenate(found)
        return -math.inf if np.isneginf(total).any() else math.fsum(total)

    def decode(self, sequences: Any) -> list[NDArray[np.int32]]:
        """Return the most probable states of every sequence, as a whole; shape (length,) each."""
        found = self._asked(
            sequences, lambda columns: _cut(self.chain.paths(columns, columns.offsets), columns.offsets)
        )
        return [path for part in found for path in part]

    def marginals(self, sequences: Any) -> list[Floats]:
        """Return the probabilities of states at every position, given the whole sequence; shape (length, K) each."""
        found = self._asked(
            sequences, lambda columns: _cut(self.chain.posteriors(columns, columns.offsets), columns.offsets)
        )
        return [own for part in found for own in part]

    def _asked(self, sequences: Any, answer: Callable[[HiddenColumns], Any]) -> list[Any]:
        return [answer(columns) for columns in self._blocks(sequences)]

    def _blocks(self, sequences: Any) -> Iterator[HiddenColumns]:
        table = sequences if isinstance(sequences, HiddenTable) else self.open(sequences, missing=KEEP)
        for block in table.blocks():
            assert isinstance(block.columns, HiddenColumns)
            yield block.columns

    def open(self, data: Any, **policies: Any) -> HiddenTable:
        """Open sequences against the model's own states; ``policies`` are those of `MarkovChain.open`."""
        named = MarkovChain(**{**self.structure.__dict__, "variable": self.variables})
        schema = Schema(tuple(cpd.family.child for cpd in self.shows))
        table = named.open(data, schema=schema, **policies)
        assert isinstance(table, HiddenTable)
        return table

    # Sampling -------------------------------------------------------------------------------------------------

    def sample(self, n: int, length: int, *, seed: int | None = None) -> Sequences:
        """Draw sequences, which can be listed, scored and fitted.

        Parameters
        ----------
        n, length : int
            How many, and how many positions each.
        seed : int, optional
            A sequence depends on the seed and its number alone, where ``length`` is the same.
        """
        return self.sample_with_states(n, length, seed=seed)[0]

    def sample_with_states(self, n: int, length: int, *, seed: int | None = None) -> tuple[Sequences, Array]:
        """Draw sequences as `sample` does, and return the states that they passed through; shape (n, length)."""
        length = require_whole("length", length)
        n = require_draws(n, 8 * max(length, 1) * (1 + len(self.shows)), "sequences")
        key = stream_key(seed)
        states = draw((self.start,), self.step, np.zeros(0, np.int64), n, length, key)
        columns: dict[Variable, Array] = {}
        for place, cpd in enumerate(self.shows, 1):
            drawn = [
                cpd.sample({self.state.name: states[row]}, self._stream(key, place, row).random(length))
                for row in range(n)
            ]
            columns[cpd.family.child] = np.stack(drawn) if drawn else np.zeros((0, length), states.dtype)
        return Sequences.of_columns(columns), states

    @staticmethod
    def _stream(key: int, place: int, row: int) -> np.random.Generator:
        """Return the random numbers of one column of one sequence, apart from those of states."""
        return np.random.Generator(np.random.Philox(key=np.array([key, (place << 40) + row], np.uint64)))

    # Rendering and files --------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"HiddenMarkovModel({self.state.name!r}, {plural(self.state.n_states, 'state')}, {listing(self.variables)})"
        )

    def __str__(self) -> str:
        return "\n\n".join(str(cpd) for cpd in self.tables)

    def _repr_html_(self) -> str:
        return "".join(cpd._repr_html_() for cpd in self.tables)

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {
            "type": "HiddenMarkovModel",
            "structure": self.structure.to_dict(),
            "schema": Schema(tuple(cpd.family.child for cpd in self.shows)).to_dict(),
            "initial": self.start.to_dict(),
            "transitions": self.step.to_dict(),
            "emissions": [cpd.to_dict() for cpd in self.shows],
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> HiddenMarkovModel:
        """Rebuild the model from `to_dict`'s data."""
        structure = MarkovChain.from_dict(entry["structure"])
        observed = Schema.from_dict(entry["schema"]).variables
        first, step, *rest = hidden_families(structure, observed)
        shows: list[Emission] = []
        for family, own in zip(rest, entry["emissions"], strict=True):
            kind = TabularCPD if family.child.is_discrete else LinearGaussianCPD
            shows.append(kind.from_dict(family, own))
        start, moves = TabularCPD.from_dict(first, entry["initial"]), TabularCPD.from_dict(step, entry["transitions"])
        return cls(structure, start, moves, tuple(shows))


def _known(cpd: TabularCPD) -> Floats:
    """Return the rows of a table, those that are unknown uniform."""
    rows = cpd.values
    return np.ascontiguousarray(np.where(np.isnan(rows), 1 / rows.shape[1], rows))


def _normal(family: NodeFamily, given: Any) -> LinearGaussianCPD:
    """Return a normal distribution a state from ``{"mean": […], "sd": […]}``."""
    entry = dict(given) if isinstance(given, Mapping) else given
    if isinstance(entry, dict) and "mean" in entry:
        entry["intercept"] = entry.pop("mean")
    return LinearGaussianCPD.from_given(family, entry)


def _cut(values: Array, offsets: Ints) -> list[Array]:
    """Return the part of every sequence."""
    return [values[low:high] for low, high in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
