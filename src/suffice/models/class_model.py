"""What every classifier answers: p(y | x) of one case or of many, and, where it models x, how likely x is.

`Posteriors` is the part that all share. `ClassModel` stands beside it, with what a joint model p(y) p(x | y) knows:
class probabilities that can be exchanged, and inputs that may be missing, which are summed or integrated out exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from suffice.data.block import Block, code_dtype
from suffice.data.encode import missing_in
from suffice.data.labelled import LabelledTable
from suffice.data.matrix import MatrixTable
from suffice.data.schema import Schema
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.errors import (
    ArgumentError,
    DataError,
    Mention,
    ModelError,
    UnknownNameError,
    listing,
    made,
    require_choice,
    require_mapping,
    require_whole,
    shown,
    suggestion,
)
from suffice.models.row_answers import RowAnswers
from suffice.models.sampling import BLOCK_ROWS, sample_frame, stream_key
from suffice.stats.source import BlockSource
from suffice.structures.class_prior import ClassPrior
from suffice.types import Array, Columns, Floats, Frame, Ints, TableLike
from suffice.values import Label, UnknownStates

if TYPE_CHECKING:
    from suffice.models.evidence import Evidence, Targets
    from suffice.models.softmax_model import LogOdds, SoftmaxModel

ClassTable: TypeAlias = "TableLike | MatrixTable"
RULES = ("map", "ml")
FAR = 1e100
"""Numbers beyond it are taken to be why no class is possible: their squares, in standard deviations, overflow."""


def log_sum(scores: Floats) -> Floats:
    """Return log Σ exp along the last axis; −inf where all are."""
    top = scores.max(axis=-1, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(shift + np.log(np.exp(scores - shift[..., None]).sum(axis=-1)), np.float64)


def log_normalised(scores: Floats) -> Floats:
    """Subtract, in place, from every row's scores the log of their sum; NaN in rows of −inf throughout.

    The largest goes first: beside scores of 1e20 the logarithm of a sum would be lost to rounding.

    >>> np.exp(log_normalised(np.array([[-1e20, -1e20]]))).tolist()
    [[0.5, 0.5]]
    """
    with np.errstate(invalid="ignore"):
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores


class Posteriors:
    """What a classifier answers; it provides ``target``, ``inputs`` and `log_scores_of`."""

    if TYPE_CHECKING:
        target: Variable
        inputs: tuple[Variable, ...]

    @abstractmethod
    def log_scores_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(y, x), or log p(y | x), up to a number that is the same for all classes; shape (n_rows, K)."""

    @property
    def takes_gaps(self) -> bool:
        """Whether inputs may be missing."""
        return False

    @property
    def variables(self) -> tuple[str, ...]:
        """The inputs, and the class last."""
        return (*(variable.name for variable in self.inputs), self.target.name)

    @property
    def schema(self) -> Schema:
        """The variables with their states."""
        return Schema((*self.inputs, self.target))

    def log_posteriors_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(y | x) of every row; shape (n_rows, K). NaN where x is impossible under every class."""
        return log_normalised(np.array(self.log_scores_of(columns, n_rows), np.float64))

    # Questions ------------------------------------------------------------------------------------------------

    def query(self, targets: Targets, given: Evidence | None = None) -> LabelledTable:
        """Return p(class | inputs); inputs that are not given are summed or integrated out where the model can."""
        name = self.target.name
        if targets not in (name, [name], (name,)):
            raise ArgumentError(f"A classifier answers for its class, {name!r}. Got {shown(targets)} instead.")
        held = dict(require_mapping("given", given or {}, "{'x': 1.0}"))
        known = [variable.name for variable in self.inputs]
        for key in held:
            if key not in known:
                raise UnknownNameError(f"{key!r} is none of the inputs, {listing(known, 12)}.{suggestion(key, known)}")
        absent = [key for key in known if key not in held]
        if absent and not self.takes_gaps:
            raise ArgumentError(
                f"The input {absent[0]!r} is not given, and this model says nothing of how inputs are distributed: ",
                Mention("given", f"given={{{absent[0]!r}: …}}"),
                ".",
            )
        columns = self._evidence(held)
        posterior = np.exp(self.log_posteriors_of(columns, 1)[0])
        if np.isnan(posterior).any():
            refuse_far([one for one in self.inputs if one.name in columns], columns)
            raise ModelError(
                f"The inputs {shown(held)} are impossible: every class gives them the probability zero. Correct them, "
                "or fit with a prior such as ",
                made("Dirichlet", 1.0),
                ".",
            )
        return LabelledTable((self.target,), posterior)

    def _evidence(self, held: Evidence) -> dict[str, Array]:
        """Return the inputs of one case as columns of one row, −1 or NaN where nothing is given."""
        return {variable.name: _one(variable, held) for variable in self.inputs}

    def query_rows(self, targets: Targets, data: ClassTable, *, unknown_states: UnknownStates = "error") -> RowAnswers:
        """Return p(class | row) for every row of a table of inputs, of which some may be missing."""
        name = self.target.name
        if targets not in (name, [name], (name,)):
            raise ArgumentError(f"A classifier answers for its class, {name!r}. Got {shown(targets)} instead.")
        source = self.open(data, unknown_states=unknown_states)
        parts = list(source.each(lambda block: self._of_block(self.log_scores_of, block)))
        scores = np.concatenate(parts)
        return RowAnswers((self.target,), np.exp(log_normalised(scores.copy())), log_sum(scores))

    def _predicted(
        self, targets: tuple[Variable, ...], columns: Columns, n_rows: int, start: int, level: float
    ) -> list[Floats]:
        others = [target.name for target in targets if target.name != self.target.name]
        if others:
            raise ArgumentError(f"A classifier predicts its class, {self.target.name!r}, and not {listing(others)}.")
        held = {one.name: columns[one.name] if one.name in columns else _gaps(one, n_rows) for one in self.inputs}
        for name, column in held.items() if n_rows and not self.takes_gaps else ():
            missing = missing_in(column)
            if missing.any():
                raise DataError(
                    f"Column {name!r}, row {start + int(np.argmax(missing)) + 1}: the input is missing, and this model "
                    "says nothing of how inputs are distributed. Fill it in, or fit a model of the inputs as well."
                )
        block = Block(Schema(self.inputs), held, None, n_rows, start)
        return [np.exp(self._of_block(self.log_posteriors_of, block))]

    def _unanswered(self, columns: Columns, row: int, start: int) -> ModelError:
        held = [one for one in self.inputs if one.name in columns]
        refuse_far(held, columns, row, f", row {start + row + 1}")
        return ModelError(
            "The inputs are impossible: every class gives them the probability zero. Correct them, or fit with a prior "
            "such as ",
            made("Dirichlet", 1.0),
            ".",
        )

    def map(self, given: Evidence | None = None, *, targets: Targets | None = None) -> dict[str, Label]:
        """Return the most likely class of given inputs; ``targets`` can only be the class."""
        table = self.query(self.target.name if targets is None else targets, given)
        return {self.target.name: self.target.labels[int(np.argmax(table.values))]}

    def open(
        self, data: ClassTable, *, with_target: bool = False, unknown_states: UnknownStates = "error"
    ) -> BlockSource:
        """Open a table of inputs, gaps kept where the model can deal with them."""
        names = self.variables if with_target else self.variables[:-1]
        if isinstance(data, MatrixTable):
            return BlockSource(data)
        missing = KEEP if self.takes_gaps else "error"
        table = open_table(
            data,
            names,
            schema=self.schema.select(names),
            missing=missing,
            unknown_states=unknown_states,
            if_absent="An input that is not known may be a column of missing values." if self.takes_gaps else "",
        )
        return BlockSource(table)

    def _of_block(self, answer: Callable[[Columns, int], Floats], block: Block) -> Floats:
        """Return an answer for the rows of a block; what is refused is named by its row in the table."""
        try:
            return answer(block.columns, block.n_rows)
        except DataError:
            self.refuse(block.columns, block.n_rows, block.start)
            raise

    def refuse(self, columns: Columns, n_rows: int, start: int) -> None:
        """Refuse values that the model cannot take, the first row being row ``start`` of a table."""

    def log_odds(self, k: Label, j: Label) -> LogOdds:
        """Return log p(y = k | x) / p(y = j | x) as a function of x: a constant and weights of terms.

        Class probabilities change the constant only.
        """
        return self.to_softmax().log_odds(k, j)

    @abstractmethod
    def to_softmax(self) -> SoftmaxModel:
        """Return p(y | x) as a softmax of a linear function of terms of x, the same posteriors."""


class ClassModel:
    """p(y) p(x | y), beside `Posteriors`: a frozen dataclass that has a field ``class_prior``, shape (K,)."""

    if TYPE_CHECKING:
        class_prior: Floats
        target: Variable

        @property
        def schema(self) -> Schema:
            """The variables with their states."""

        def open(
            self, data: ClassTable, *, with_target: bool = False, unknown_states: UnknownStates = "error"
        ) -> BlockSource:
            """Open a table of inputs."""

        def _of_block(self, answer: Callable[[Columns, int], Floats], block: Block) -> Floats:
            """Return an answer for the rows of a block."""

    @abstractmethod
    def log_likelihoods_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(x | y) of every row and class, missing inputs left out exactly; shape (n_rows, K)."""

    @abstractmethod
    def draw_inputs(self, classes: Ints, stream: np.random.Generator) -> dict[str, Array]:
        """Draw inputs of given classes: a column of codes or numbers each."""

    @property
    def takes_gaps(self) -> bool:
        """Whether inputs may be missing."""
        return True

    @property
    def log_prior(self) -> Floats:
        """Log π, −inf of classes that have no probability; shape (K,)."""
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior)

    def log_scores_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(y, x) of every row and class; shape (n_rows, K)."""
        scores = self.log_likelihoods_of(columns, n_rows)
        scores += self.log_prior  # eq bayes-rule
        return scores

    def scores_of(self, columns: Columns, n_rows: int, rule: str = "map") -> Floats:
        """Return log p(y, x) under the rule ``"map"``, log p(x | y) under ``"ml"``; the largest wins."""
        require_choice("rule", rule, RULES)
        return self.log_scores_of(columns, n_rows) if rule == "map" else self.log_likelihoods_of(columns, n_rows)

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(y, x) of every row of codes and numbers, log p(x) where y is missing; shape (n_rows,)."""
        scores = self.log_scores_of(columns, n_rows)
        classes = np.asarray(columns[self.target.name], np.int64)
        found = np.asarray(scores[np.arange(n_rows), classes], np.float64)
        unknown = classes < 0
        found[unknown] = log_sum(scores[unknown])
        return found

    def log_prob(self, data: ClassTable) -> Floats:
        """Return log p(y, x) of every row of a table; shape (n_rows,)."""
        source = self.open(data, with_target=True)
        return np.concatenate(list(source.each(lambda block: self._of_block(self.log_prob_of, block))))

    def with_class_priors(
        self, class_prior: str | float | Mapping[Label, float] | Mapping[str, float] | Mapping[int, float]
    ) -> Self:
        """Return the same model with other class probabilities: ``"uniform"`` or a mapping from classes to π."""
        spec = ClassPrior.of(class_prior)
        if spec.kind not in ("uniform", "given"):
            raise ArgumentError(
                "Other class probabilities must be 'uniform' or a mapping from classes to probabilities. Got "
                f"{shown(class_prior)} instead."
            )
        return replace(self, class_prior=spec.probabilities(self.target, np.zeros(self.target.n_states)))  # type: ignore[type-var]

    def sample(self, n: int, *, seed: int | None = None, backend: str | None = None) -> Frame:
        """Draw n cases, inputs and class, as a frame."""
        return sample_frame(self.schema, n, self.sample_blocks(n, seed=seed), backend)

    def sample_blocks(self, n: int, *, seed: int | None = None) -> Iterator[Block]:
        """Yield n drawn cases as blocks of codes and numbers; each block has a random stream of its own."""
        return self._drawn(require_whole("n", n), stream_key(seed))  # checked before the first row is asked for

    def _drawn(self, n: int, key: int) -> Iterator[Block]:
        reached = np.cumsum(self.class_prior)
        for number, start in enumerate(range(0, max(n, 1), BLOCK_ROWS)):
            stream = np.random.Generator(np.random.Philox(key=np.array([key, number], np.uint64)))
            size = min(BLOCK_ROWS, n - start)
            level = stream.random(size) * reached[-1]
            classes = np.minimum(np.searchsorted(reached, level, side="right"), self.target.n_states - 1)
            columns = self.draw_inputs(classes.astype(np.int64), stream)
            columns[self.target.name] = classes.astype(code_dtype(self.target.n_states))
            yield Block(self.schema, columns, None, size, start)


def refuse_far(inputs: Iterable[Variable], columns: Columns, row: int = 0, place: str = "") -> None:
    """Refuse a row that has no density under any class, if that is because of a number which is too far out.

    ``place`` says where the row is, as in ``", row 3"``.
    """
    values = {one.name: float(columns[one.name][row]) for one in inputs if not one.is_discrete}
    name = max(values, key=lambda name: np.nan_to_num(abs(values[name])), default="")
    if name and abs(values[name]) > FAR:
        raise DataError(
            f"Column {name!r}{place}: {values[name]:g} is too far from all classes to tell them apart, its density is "
            "zero under each. Correct it, or leave it out as missing."
        )


def _gaps(variable: Variable, n_rows: int) -> Array:
    """Return a column without any value."""
    return np.full(n_rows, -1, np.int64) if variable.is_discrete else np.full(n_rows, np.nan)


def _one(variable: Variable, held: Mapping[str, Any]) -> Array:
    """Return a column of one row: a code or a number, −1 or NaN where nothing is given."""
    if variable.is_discrete:
        return np.array([variable.code(held[variable.name]) if variable.name in held else -1], np.int64)
    if variable.name not in held:
        return np.array([np.nan])
    try:
        number = float(held[variable.name])
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise ArgumentError(
            f"The input {variable.name!r} must be a finite number. Got {shown(held[variable.name])} instead."
        )
    return np.array([number])
