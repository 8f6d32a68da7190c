"""Model: what the rest of the library may ask of every model, whatever its kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from suffice.data.block import Block
    from suffice.data.schema import Schema
    from suffice.types import Columns, Floats, Frame


@runtime_checkable
class Model(Protocol):
    """A frozen distribution: what a fit has as its ``model``."""

    @property
    def schema(self) -> Schema:
        """The variables with their states."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns that a table of whole rows has."""

    def log_prob(self, data: Any, /) -> Floats:
        """Return log p of every case: of the rows of a table, or of sequences or graphs of a model of those."""


@runtime_checkable
class RowLikelihood(Model, Protocol):
    """A model whose likelihood is that of rows, each by itself."""

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p of every row of codes and values; shape (n_rows,)."""


@runtime_checkable
class Generative(RowLikelihood, Protocol):
    """A model that draws whole rows."""

    def sample(self, n: int, *, seed: int | None = None) -> Frame:
        """Draw ``n`` rows as a frame."""

    def sample_blocks(self, n: int, *, seed: int | None = None) -> Iterator[Block]:
        """Yield ``n`` drawn rows as blocks of codes and values, in bounded memory."""


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    M = TypeVar("M", bound=Model, default=Model)
    M_co = TypeVar("M_co", bound=Model, covariant=True, default=Model)
else:
    from typing import TypeVar

    M, M_co = TypeVar("M"), TypeVar("M_co", covariant=True)
