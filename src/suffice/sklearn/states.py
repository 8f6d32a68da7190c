"""X as columns of states: how classifiers of discrete inputs read it, and how they smooth their counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from suffice.data.schema import Declaration
from suffice.data.table import UNKNOWN_POLICIES
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, is_number, made, require_choice, shown, the_argument
from suffice.priors.dirichlet import Dirichlet
from suffice.priors.prior import Prior
from suffice.sklearn.inputs import Inputs, names_of, open_columns, read_columns
from suffice.sklearn.tables import MatrixLike

if TYPE_CHECKING:
    from suffice.sklearn.joint_bayes import JointBayes
    from suffice.sklearn.naive_bayes import NaiveBayes

Smoothing: TypeAlias = float | Prior | Sequence[Prior]
"""A pseudo-count of every state, or priors as they are."""
FEW = 4
"""So many columns are named one by one in remarks."""


def read_states(shell: JointBayes, X: MatrixLike, *, first: bool) -> Inputs:
    """Read X to learn from it, every distinct value a state; remark on numbers with fractions, which few states are."""
    require_choice("unknown_states", shell.unknown_states, UNKNOWN_POLICIES)
    table = open_columns(shell, X, first=first)
    names = names_of(shell)
    found = read_columns(table, names, dict.fromkeys(names, Declaration("discrete")), "error")
    odd = [variable.name for variable in found.variables if _has_fractions(variable)]
    if not odd:
        return found
    named = ", ".join(odd[:FEW]) + (f" and {len(odd) - FEW:,} more" if len(odd) > FEW else "")
    return replace(found, remarks=(*found.remarks, f"{named}: numbers with fractions, each of them read as a state."))


def read_known(shell: JointBayes | NaiveBayes, X: MatrixLike) -> Inputs:
    """Read X to classify it, by the states of the model."""
    table = open_columns(shell, X, first=False)
    schema = {variable.name: variable for variable in shell._learnt_model().inputs}
    return read_columns(table, names_of(shell), schema, shell.unknown_states)


def read_further(shell: NaiveBayes, X: MatrixLike) -> Inputs:
    """Read X to learn more from it: states that the data told may become more, declared ones stay."""
    table = open_columns(shell, X, first=False)
    names = names_of(shell)
    known = shell.statistics_.schema.select(names)
    return read_columns(table, names, {name: _open_ended(known[name]) for name in names}, "error")


def counting_prior(smoothing: Smoothing) -> Smoothing | None:
    """Return the prior of a pseudo-count of every state; None where it is zero, and priors as they are."""
    several = smoothing if isinstance(smoothing, list) and smoothing else [smoothing]
    if all(isinstance(one, Prior) for one in several):
        return smoothing
    if not is_number(smoothing) or not 0 <= smoothing < math.inf:
        raise ArgumentError(
            the_argument("smoothing"),
            " must be a pseudo-count of at least 0, such as 1.0, a prior, such as ",
            made("Dirichlet", 0.5),
            f", or a list of priors. Got {shown(smoothing)} instead.",
        )
    return Dirichlet(float(smoothing)) if smoothing else None


def _open_ended(variable: Variable) -> Variable | Declaration:
    if variable.declared:
        return variable
    return Declaration("discrete" if variable.is_discrete else "continuous")


def _has_fractions(variable: Variable) -> bool:
    return any(isinstance(state, float) and not state.is_integer() for state in variable.labels)
