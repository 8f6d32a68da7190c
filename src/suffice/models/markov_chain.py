"""MarkovChainModel: a fitted Markov chain.

Parameters    p(y_1), p(y_2 | y_1), …, p(y_k | y_1 … y_k−1), and p(x | its k predecessors)     tables
Asking        the next symbol, log-probabilities, perplexity, the long run
Sampling      symbol by symbol                                                                 `models.markov_walk`
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.held_symbols import HeldSymbols
from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.sequences import Sequences
from suffice.data.variable import Variable
from suffice.data.windows import WindowTable, lagged, window_names, window_schema
from suffice.errors import ArgumentError, ModelError, UnknownNameError, listing, require_whole, shown
from suffice.models import markov_long_run as long_run
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.markov_walk import draw
from suffice.models.sampling import require_draws, stream_key
from suffice.settings import settings
from suffice.stats.source import BlockSource
from suffice.structures.markov_chain import MarkovChain
from suffice.text import html_table, in_bytes, plain_table, plural
from suffice.types import Columns, Floats, Ints, Json

if TYPE_CHECKING:
    from suffice.types import Entry


@lru_cache(maxsize=64)
def families(variable: Variable, order: int) -> tuple[NodeFamily, ...]:
    """Return the families of a chain: a symbol given 0, 1, …, ``order`` predecessors."""
    lags = [Variable(lagged(variable.name, steps), variable.states, variable.declared) for steps in range(1, order + 1)]
    return tuple(NodeFamily(variable, tuple(lags[:known][::-1])) for known in range(order + 1))


@dataclass(frozen=True, eq=False)
class MarkovChainModel:
    """A Markov chain with its parameters.

    Attributes
    ----------
    structure : MarkovChain
    variable : Variable
        The symbols.
    tables : tuple of TabularCPD
        p(x | j predecessors) for j = 0, …, k: the first k give a sequence's first symbols, the last is the chain's
        own. Unknown rows are NaN: contexts that the data does not have, or has only where sequences end.

    Examples
    --------
    >>> import suffice as sf
    >>> model = sf.fit(sf.MarkovChain(order=1), ["aabab", "abba"]).model
    >>> print(model.transition("a"))
    x       p
    -  ------
    a  0.2500
    b  0.7500
    >>> print(model.stationary)
    x       p
    -  ------
    a  0.4706
    b  0.5294
    >>> model.sample(2, length=6, seed=1).texts()
    ['abbbab', 'aabbab']
    """

    structure: MarkovChain
    variable: Variable
    tables: tuple[TabularCPD, ...]

    def __post_init__(self) -> None:
        wanted = families(self.variable, self.order)
        if tuple(table.family for table in self.tables) != wanted:
            raise ModelError(
                f"A chain of order {self.order} over {self.variable.name!r} needs {plural(len(wanted), 'table')}, of "
                "the symbol given 0, 1, … predecessors. Got tables of other variables instead."
            )

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def order(self) -> int:
        """How many symbols the next one depends on."""
        return self.structure.order

    @property
    def parts(self) -> tuple[str, ...]:
        """What the log-likelihood consists of."""
        return ("initial", "transitions")

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns of windows: the predecessors, and the symbol."""
        return window_names([self.variable.name], self.order)

    @property
    def schema(self) -> Schema:
        """The variables of windows; predecessors have a state for the time before a sequence begins."""
        return self._schema

    @cached_property
    def _schema(self) -> Schema:
        return window_schema(Schema((self.variable,)), self.order, pad=True)

    @property
    def transitions(self) -> LabelledTable:
        """p(x | its predecessors) as a whole table, the longest lag first; large ones have ``tables[-1].rows()``."""
        return self.tables[-1].table

    @cached_property
    def initial(self) -> LabelledTable:
        """The distribution of the first k symbols, axes in order of time: p(y_1) p(y_2 | y_1) …."""
        r = self.variable.n_states
        if 8 * r**self.order > settings().memory:
            raise ModelError(
                f"The table of the first {self.order} symbols has {r**self.order:,} cells, "
                f"{in_bytes(8 * r**self.order)}. Use tables[0], tables[1] and so on, its factors."
            )
        joint = np.ones(1)
        for known, cpd in enumerate(self.tables[:-1]):
            contexts = all_configurations([r] * known)
            # What can never begin a sequence has no known continuation, and needs none.
            joint = np.where(joint[:, None] > 0, joint[:, None] * cpd.probabilities(contexts), 0.0).reshape(-1)
        variables = tuple(
            Variable(f"{self.variable.name}[{t}]", self.variable.states) for t in range(1, self.order + 1)
        )
        return LabelledTable(variables, joint.reshape([r] * self.order))

    def transition(self, previous: Any) -> LabelledTable:
        """Return the distribution of the next symbol after some symbols, of which the last ``order`` count.

        Fewer symbols than that are taken as the beginning of a sequence.

        Parameters
        ----------
        previous : label, text or sequence of labels
            A text is a sequence of characters unless it is a state itself.
        """
        codes = self._codes("previous", previous)[-self.order :] if self.order else []
        row = self.tables[len(codes)].probabilities(np.array([codes], np.int64).reshape(1, len(codes)))[0]
        return LabelledTable((self.variable,), row)

    def query(self, targets: Any, given: Mapping[str, Any] | None = None) -> LabelledTable:
        """Return p(x | predecessors), the predecessors given by name: ``model.query("x", {"x[-1]": "a"})``."""
        if targets not in (self.variable.name, [self.variable.name], (self.variable.name,)):
            raise ArgumentError(
                f"A chain answers for its next symbol, {self.variable.name!r}. Got {shown(targets)} instead."
            )
        known = dict(given or {})
        names = self.variables[:-1]
        for name in known:
            if name not in names:
                raise UnknownNameError(f"The next symbol depends on {listing(names)}, not on {name!r}.")
        absent = [name for name in names if name not in known]
        if absent:
            raise ArgumentError(f"The next symbol depends on {listing(names)}, but {absent[0]!r} is not given.")
        return self.transition([known[name] for name in names])

    def _codes(self, argument: str, symbols: Any) -> list[int]:
        """Return the codes of some symbols: one label, a text, or a sequence of labels."""
        if self.variable.find(symbols) is not None:
            return [self.variable.code(symbols)]
        if isinstance(symbols, bytes) or not isinstance(symbols, Iterable):
            raise ArgumentError(
                f"The {argument!r} argument must be a sequence of symbols such as "
                f"{list(self.variable.labels[:2])!r}. Got {shown(symbols)} instead."
            )
        return [self.variable.code(symbol) for symbol in symbols]

    # Scoring --------------------------------------------------------------------------------------------------

    def log_prob(self, data: Any) -> Floats:
        """Return log p of every sequence; shape (n_sequences,). −inf where it is impossible, NaN where unknown.

        Parameters
        ----------
        data : Sequences, or what the structure can read as such
            Symbols that the chain does not know are an error. Empty lines and sequences have probability one.
        """
        terms, lengths = self._terms(data)
        owner = np.repeat(np.arange(len(lengths)), lengths)
        total = np.bincount(owner, np.where(np.isneginf(terms), 0.0, terms), minlength=len(lengths))
        impossible = np.bincount(owner, np.isneginf(terms), minlength=len(lengths)) > 0
        return np.where(impossible, -np.inf, total)

    def log_likelihood(self, data: Any) -> float:
        """Return log p of all sequences together."""
        found = self.log_prob(data)
        return -math.inf if np.isneginf(found).any() else float(found.sum())

    def perplexity(self, data: Any) -> float:
        """Return exp(−log p / number of symbols): how many symbols the chain wavers between on average."""
        terms, _ = self._terms(data)
        if not len(terms):
            raise ArgumentError("There are no symbols, so that there is no perplexity. Pass sequences with some.")
        total = -math.inf if np.isneginf(terms).any() else float(terms.sum())
        nats = -total / len(terms)
        return math.exp(nats) if nats < 709 else math.inf  # beyond, floats end

    def _terms(self, data: Any) -> tuple[Floats, Ints]:
        """Return log p of every symbol, and the lengths of the sequences."""
        table, before = self._padded(data), lagged(self.variable.name, 1)

        def of_block(block: Any) -> tuple[Floats, Ints]:
            starts = np.flatnonzero(block.columns[before] == 0) + block.start
            return self.log_prob_of(block.columns, block.n_rows), starts

        found = list(BlockSource(table).each(of_block))
        terms = np.concatenate([part[0] for part in found])
        return terms, self._lengths(table, np.concatenate([part[1] for part in found]), len(terms))

    def windows(self, data: Any) -> tuple[Ints, Ints, Ints, int]:
        """Return the windows of sequences in codes, −1 for the time before the start, and the sequence of each.

        Returns
        -------
        known : array, shape (n_symbols,)
            How many predecessors each symbol has, the order at most.
        codes : array, shape (n_symbols, order + 1)
            The predecessors, the newest first, and the symbol.
        owner : array, shape (n_symbols,)
        n_sequences : int
        """
        table, before = self._padded(data), [lagged(self.variable.name, steps) for steps in range(1, self.order + 1)]
        first = lagged(self.variable.name, 1)
        parts = [
            (
                np.stack([*(block.columns[lag].astype(np.int64) - 1 for lag in before),
                          block.columns[self.variable.name].astype(np.int64)], axis=1),
                np.flatnonzero(block.columns[first] == 0) + block.start,
            )
            for block in BlockSource(table).each(lambda block: block)
        ]  # fmt: skip
        codes = np.concatenate([part[0] for part in parts])
        lengths = self._lengths(table, np.concatenate([part[1] for part in parts]), len(codes))
        owner = np.repeat(np.arange(len(lengths)), lengths)
        return (codes[:, :-1] >= 0).sum(axis=1), codes, owner, len(lengths)

    def _padded(self, data: Any) -> WindowTable:
        """Open sequences as windows that tell where a sequence begins."""
        chain = self.structure if self.order else MarkovChain(**{**self.structure.__dict__, "order": 1})
        chain = MarkovChain(**{**chain.__dict__, "variable": self.variable.name})
        table = chain.open(data, schema=Schema((self.variable,)))
        assert isinstance(table, WindowTable)
        return table

    @staticmethod
    def _lengths(table: WindowTable, firsts: Ints, n_symbols: int) -> Ints:
        """Return the lengths of sequences, from where they begin if nothing else is known."""
        if isinstance(table.symbols, HeldSymbols):
            return table.symbols.lengths
        return np.append(firsts[1:], n_symbols) - firsts if len(firsts) else np.zeros(0, np.int64)

    def open(self, data: Any, **policies: Any) -> WindowTable:
        """Open sequences as the windows that `log_prob_of` scores; ``policies`` are those of `MarkovChain.open`."""
        chain = MarkovChain(**{**self.structure.__dict__, "variable": self.variable.name})
        table = chain.open(data, schema=Schema((self.variable,)), **policies)
        assert isinstance(table, WindowTable)
        return table

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(x | predecessors) of every row of windows, in codes of `schema`; shape (n_rows,)."""
        known = np.zeros(n_rows, np.int16)
        for steps in range(1, self.order + 1):
            known += columns[lagged(self.variable.name, steps)] > 0
        terms = np.zeros(n_rows)
        for length, cpd in enumerate(self.tables):
            here = known == length
            if here.any():
                mine = {parent.name: columns[parent.name][here] - 1 for parent in cpd.family.parents}
                # eq markov-log-prob
                terms[here] = cpd.log_prob({**mine, self.variable.name: columns[self.variable.name][here]})
        return terms

    # The long run ---------------------------------------------------------------------------------------------

    @cached_property
    def _blocks(self) -> long_run.BlockChain:
        if not self.order:
            raise ModelError("A chain of order 0 has no states to move between: its symbols are independent.")
        return long_run.block_chain(self.tables[-1])

    @cached_property
    def stationary(self) -> LabelledTable:
        """The stationary distribution of blocks of k symbols, its axes in order of time, the newest last.

        Raises
        ------
        ModelError
            Where there is more than one, with the classes of which each has its own; or where the chain can come to a
            context whose continuation is unknown.
        """
        r, k = self.variable.n_states, max(self.order, 1)
        if not self.order:
            return self.tables[-1].table
        pi = long_run.stationary(self._blocks, self.tables[-1])
        whole = np.zeros([r] * k)
        whole[tuple(self._blocks.blocks.T)] = pi
        names = window_names([self.variable.name], k - 1)
        return LabelledTable(tuple(Variable(name, self.variable.states) for name in names), whole)

    @cached_property
    def classes(self) -> tuple[long_run.CommunicatingClass, ...]:
        """The classes of blocks of k symbols that can be reached from each other, with their periods."""
        return long_run.classes(self._blocks, self.tables[-1])

    @property
    def is_irreducible(self) -> bool:
        """Whether every block can be reached from every other."""
        return len(self.classes) == 1 and not len(self._blocks.dead_ends)

    @property
    def period(self) -> int:
        """The period of an irreducible chain: it returns to a block only after multiples of so many steps."""
        if not self.is_irreducible:
            raise ModelError("The chain is not irreducible, so that its classes have periods of their own: classes.")
        return self.classes[0].period

    # Sampling -------------------------------------------------------------------------------------------------

    def sample(self, n: int, length: int, *, seed: int | None = None, start: Any = None) -> Sequences:
        """Draw sequences.

        Parameters
        ----------
        n, length : int
            How many, and how many symbols each.
        seed : int, optional
            A sequence depends on the seed and its number alone, its first symbols not on ``length``.
        start : label, text or sequence of labels, optional
            The first symbols; the others follow them.

        Returns
        -------
        Sequences
            Which can be listed, scored and fitted.
        """
        length = require_whole("length", length)
        n = require_draws(n, 8 * max(length, 1), "sequences")
        begun = np.array([] if start is None else self._codes("start", start), np.int64)
        codes = draw(self.tables[:-1], self.tables[-1], begun, n, length, stream_key(seed))
        return Sequences.of_codes(codes, self.variable)

    # Rendering and files --------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"MarkovChainModel(order {self.order}, {self.variable.name!r}, {self.variable.n_states} states)"

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        return self.tables[-1]._cells()

    def __str__(self) -> str:
        return f"{self.tables[-1].title}\n{plain_table(*self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=self.tables[-1].title)

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {
            "type": "MarkovChainModel",
            "structure": self.structure.to_dict(),
            "schema": Schema((self.variable,)).to_dict(),
            "tables": [table.to_dict() for table in self.tables],
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> MarkovChainModel:
        """Rebuild the model from `to_dict`'s data."""
        structure = MarkovChain.from_dict(entry["structure"])
        (variable,) = Schema.from_dict(entry["schema"]).variables
        if not isinstance(entry["tables"], list) or len(entry["tables"]) != structure.order + 1:
            wanted = plural(structure.order + 1, "table")
            raise ModelError(
                f"A chain of order {structure.order} over {variable.name!r} needs {wanted}, given 0, 1, … "
                "predecessors. The list 'tables' has another length."
            )
        pairs = zip(families(variable, structure.order), entry["tables"], strict=True)
        return cls(structure, variable, tuple(TabularCPD.from_dict(family, table) for family, table in pairs))
