"""Claim: what a fit says of itself, and all that a certifier may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeGuard

from suffice.models.model import M, M_co, Model
from suffice.stats.source import Source
from suffice.stats.statistics import Statistics
from suffice.structures.structure import S, S_co
from suffice.values import Estimate

if TYPE_CHECKING:
    from suffice.learn.method import Start, Step


@dataclass(frozen=True)
class Claim(Generic[S_co, M_co]):
    """That ``model`` is the estimate ``point`` of ``structure`` under ``prior``, given ``statistics``.

    ``source`` is the data itself when the pass over it is to be repeated (``certify="data"``). ``method``, ``trace``
    and ``diagnostics`` are what the fitter says of its way there, checked where a method promises something of it.
    ``incomplete`` says that rows may lack values, so that the likelihood is that of what was observed; ``starts`` are
    the searches that led there, and ``undetermined`` the parameters along which the best of them found its objective
    flat.
    """

    structure: S_co
    model: M_co
    statistics: Statistics
    log_likelihood: float
    point: Estimate = "mle"
    prior: Any = None
    posterior: Any = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = None
    tol: float = 1e-8
    interrupted: bool = False
    base: tuple[Any, ...] = ()
    method: str = ""
    trace: tuple[Step, ...] = ()
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    incomplete: bool = False
    starts: tuple[Start, ...] = ()
    undetermined: tuple[str, ...] = ()


def is_of(claim: Claim[S, Model], kind: type[M]) -> TypeGuard[Claim[S, M]]:
    """Whether the model of a claim is of some type, so that a certifier for this type can examine it."""
    return isinstance(claim.model, kind)
