"""What every structure tells: which columns it reads and in which role."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from suffice.data.schema import Declaration
from suffice.errors import Mention


@runtime_checkable
class Structure(Protocol):
    """What is known before the data; frozen and without parameters."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the data must have."""

    @property
    def continuous(self) -> frozenset[str]:
        """The columns to which the structure gives a continuous role."""

    @property
    def declared(self) -> dict[str, Declaration]:
        """Declarations that the structure itself makes; a user's schema goes first."""

    def to_dict(self) -> dict[str, Any]:
        """Return the structure as JSON-able data."""


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


def public_name(kind: type[Any]) -> str:
    """Return what users call a structure.

    >>> from suffice.structures.dag import DAG
    >>> public_name(DAG)
    'sf.DAG'
    """
    return f"sf.{SHELLS.get(kind.__name__, kind.__name__)}"


def public_mention(kind: type[Any]) -> Mention:
    """Return a structure's name as a part of a message, for which front ends may have words of their own."""
    return Mention(public_name(kind).removeprefix("sf."), public_name(kind))
