"""Structure: what is known before the data, with the capabilities that it declares."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from suffice.data.schema import Declaration, SchemaLike
from suffice.errors import Mention

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from typing_extensions import TypeVar

    from suffice.data.block import Block, Table
    from suffice.data.table import Weights
    from suffice.result.fit import Fit
    from suffice.types import Json, TableLike

    # without a bound, so that Structure[object] is any structure; Any, as in the defaults of `Fit`
    F_co = TypeVar("F_co", covariant=True, default="Fit[Any, Any]")
else:
    from typing import TypeVar

    # without a bound, so that Structure[object] is any structure; Any, as in the defaults of `Fit`
    F_co = TypeVar("F_co", covariant=True)

Latent = tuple[tuple[str, int], ...]
"""Latent variables with their numbers of states."""


def fields_of(record: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a dataclass by name, as they are: `dataclasses.asdict` would copy what they hold."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def changed_fields(record: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a dataclass that do not have their defaults."""
    usual = {field.name: field.default for field in fields(record)}
    return {name: value for name, value in fields_of(record).items() if value != usual[name]}


class Structure(Generic[F_co]):
    """What is known before the data; frozen and without parameters.

    It is generic in the type of its fits, ``class DAG(Structure["NetworkFit"])``, so that a type checker knows what
    `suffice.fit` returns. What a structure can do is declared here with a default; subclasses change what they need.

    Attributes
    ----------
    latent : tuple of (str, int)
        The variables that no column carries, with their numbers of states.
    given : tuple of str
        The inputs, whose distribution is not modelled.
    divisor : {"n", "n-p"}
        What the residual squares of continuous variables are divided by.
    unit : str
        What one row of its statistics is: a row, or a symbol, window or position of a sequence.
    reads_rows : bool
        Whether its data is a table of one row per case; otherwise it opens its data itself, by `open`.
    learns_available : bool
        Whether each parameter can be learnt from the rows that have its columns, ``missing="available"``.
    checks_rows : bool
        Whether every block of rows is checked by `check_rows`.
    """

    unit: ClassVar[str] = "row"
    reads_rows: ClassVar[bool] = True
    learns_available: ClassVar[bool] = False
    checks_rows: ClassVar[bool] = False

    if TYPE_CHECKING:  # what each structure has of its own, and what subclasses have as read-only fields or properties

        @property
        def columns(self) -> tuple[str, ...]:
            """The columns that the data must have."""

        def open(
            self,
            data: TableLike,
            *,
            schema: SchemaLike | None = None,
            weights: Weights = None,
            missing: str = "error",
            unknown_states: str = "error",
        ) -> Table:
            """Open data as the table that the structure is learnt from; for structures that do not read plain rows."""

        def to_dict(self) -> dict[str, Json]:
            """Return the structure as JSON-able data."""

        @property
        def latent(self) -> Latent:
            """The variables that no column carries."""

        @property
        def given(self) -> tuple[str, ...]:
            """The inputs."""

        @property
        def divisor(self) -> str:
            """What the residual squares of continuous variables are divided by."""

    else:
        latent = ()
        given = ()
        divisor = "n"

    @property
    def continuous(self) -> frozenset[str]:
        """The columns to which the structure gives a continuous role."""
        return frozenset()

    @property
    def declared(self) -> dict[str, Declaration]:
        """Declarations that the structure itself makes; a user's schema goes first."""
        return {}

    @property
    def estimate(self) -> str | None:
        """What the estimate is called, where it is neither maximum likelihood nor under a prior."""
        return None

    def check_rows(self, block: Block) -> None:
        """Refuse rows that the structure cannot be learnt from."""


if TYPE_CHECKING:  # Structure[object] is any structure, whatever its fits are
    S = TypeVar("S", bound=Structure[object], default=Structure[object])
    S_co = TypeVar("S_co", bound=Structure[object], covariant=True, default=Structure[object])
    S_contra = TypeVar("S_contra", bound=Structure[object], contravariant=True, default=Structure[object])
else:
    S, S_co, S_contra = TypeVar("S"), TypeVar("S_co", covariant=True), TypeVar("S_contra", contravariant=True)


SHELLS = {
    "ClassGaussian": "GaussianBayes",
    "JointClasses": "JointBayes",
    "LabelChain": "ChainCRF",
    "LabelGraph": "GraphCRF",
    "LocalChain": "MEMM",
    "Naive": "NaiveBayes",
    "SoftmaxClasses": "SoftmaxRegression",
}
"""The classifiers that stand for structures which have no public name of their own."""


def public_name(kind: type[object]) -> str:
    """Return what users call a structure.

    >>> from suffice.structures.dag import DAG
    >>> public_name(DAG)
    'sf.DAG'
    """
    return f"sf.{SHELLS.get(kind.__name__, kind.__name__)}"


def public_mention(kind: type[object]) -> Mention:
    """Return a structure's name as a part of a message, for which front ends may have words of their own."""
    return Mention(public_name(kind).removeprefix("sf."), public_name(kind))
