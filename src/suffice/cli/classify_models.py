"""The kinds of classifiers on the command line: which options each takes, and the structure and prior they make."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from suffice.cli.classify_look import Look
from suffice.cli.priors import is_number, read_priors
from suffice.errors import ArgumentError, require_choice
from suffice.values import Missing

if TYPE_CHECKING:
    from suffice.cli.priors import PriorsSaid
    from suffice.data.schema import Declaration
    from suffice.structures.class_gaussian import ClassGaussian
    from suffice.structures.joint_classes import JointClasses
    from suffice.structures.naive import Naive
    from suffice.structures.softmax_regression import SoftmaxClasses

    ClassStructure = ClassGaussian | JointClasses | Naive | SoftmaxClasses

Said = Mapping[str, Any]
"""The options that were given, by the names of the arguments that they stand for."""


ALLOWED_MISSING: tuple[Missing, ...] = ("error", "drop", "available")


class ClassifierKind(NamedTuple):
    """One kind of classifier.

    Attributes
    ----------
    options : tuple of str
        What can be said of it besides target and inputs.
    structure : callable
        From target, inputs and options to the structure.
    prior : callable
        From options, the structure and a look at the data to the prior, or None for maximum likelihood.
    measures : bool
        Whether all numbers are measurements, also whole ones that are few.
    numbers : bool
        Whether it takes nothing but numbers.
    missing : str
        What is done about missing values unless something else is said.
    """

    options: tuple[str, ...]
    structure: Callable[[str, tuple[str, ...], Said], ClassStructure]
    prior: Callable[[Said, ClassStructure, Look], PriorsSaid]
    measures: bool = False
    numbers: bool = False
    missing: Missing = "error"


def _gaussian(target: str, inputs: tuple[str, ...], said: Said) -> ClassGaussian:
    from suffice.structures.class_gaussian import ClassGaussian

    shrinkage = said.get("shrinkage")
    numbers = {} if shrinkage is None else {"shrinkage": float(shrinkage) if is_number(shrinkage) else shrinkage}
    return ClassGaussian(target, inputs, **{**said, **numbers})


def _naive(target: str, inputs: tuple[str, ...], said: Said) -> Naive:
    from suffice.structures.naive import Naive

    return Naive(target, inputs, **{name: value for name, value in said.items() if name not in ("smoothing", "prior")})


def _joint(target: str, inputs: tuple[str, ...], said: Said) -> JointClasses:
    from suffice.structures.joint_classes import JointClasses

    return JointClasses(target, inputs, said.get("class_prior", "counted"))


def _softmax(target: str, inputs: tuple[str, ...], said: Said) -> SoftmaxClasses:
    from suffice.structures.softmax_regression import SoftmaxClasses

    return SoftmaxClasses(target, inputs, reference=said.get("reference"))


def _smoothed(said: Said, structure: ClassStructure, look: Look) -> PriorsSaid:
    """Return the prior of pseudo-counts; none where they are zero, or nothing is counted."""
    from suffice.priors.dirichlet import Dirichlet
    from suffice.structures.naive import Naive

    if "prior" in said:
        return _told(said, "smoothing")
    alpha = said.get("smoothing", SMOOTHING)
    if not 0 <= alpha < math.inf:
        raise ArgumentError(f"The option --smoothing takes a pseudo-count, zero or more. Got {alpha:g} instead.")
    if alpha and isinstance(structure, Naive) and not _counts(structure.kinds_in(look.schema(structure))):
        if "smoothing" in said:
            raise ArgumentError(
                "The option --smoothing is for states and counts, and every input is a measurement. Leave it out, or "
                "say what inputs are: --kind COL=categorical."
            )
        return None
    return Dirichlet(alpha) if alpha else None


def _told(said: Said, other: str) -> PriorsSaid:
    """Return the priors that were written out, in place of what another option would make."""
    if other in said:
        raise ArgumentError(f"The options --prior and --{other} say the same in two ways. Leave one of them out.")
    return read_priors(said["prior"])


def _counts(kinds: Mapping[str, str]) -> bool:
    """Whether anything is learnt by counting."""
    return any(not kind.endswith("gaussian") for kind in kinds.values())


def _penalty(said: Said, structure: ClassStructure, look: Look) -> PriorsSaid:
    """Return the prior whose density is the penalty: ½ strength ‖w‖² or strength ‖w‖₁, intercepts left free."""
    from suffice.priors.penalty import Gaussian, Laplace

    if "prior" in said:
        return _told(said, "penalty")
    penalty = said.get("penalty", "none")
    require_choice("penalty", penalty, PENALTIES, "option")
    strength = said.get("strength", 1.0)
    if not 0 <= strength < math.inf:
        raise ArgumentError(f"The option --strength takes a number, zero or more. Got {strength:g} instead.")
    if penalty == "none":
        if "strength" in said:
            raise ArgumentError("The option --strength is that of a penalty. Add --penalty l2 or l1, or leave it out.")
        return None
    if not strength:
        return None
    if penalty == "l1":
        return Laplace(1 / strength, main=math.inf)
    # Of two classes w is the difference of their weights ±w/2, whose squares sum to half of ‖w‖².
    halves = 2 if look.n_classes(structure.target) == 2 else 1
    return Gaussian(1 / math.sqrt(halves * strength), main=math.inf)


KINDS: dict[str, ClassifierKind] = {
    "naive": ClassifierKind(
        ("kinds", "binarize", "smoothing", "prior", "divisor", "class_prior"), _naive, _smoothed, missing="available"
    ),
    "gaussian": ClassifierKind(
        ("covariance", "shrinkage", "towards", "graph", "alpha", "divisor", "bayes", "class_prior"),
        _gaussian,
        lambda said, structure, look: None,
        numbers=True,
    ),
    "joint": ClassifierKind(("smoothing", "prior", "class_prior"), _joint, _smoothed),
    "softmax": ClassifierKind(("penalty", "strength", "prior", "reference"), _softmax, _penalty, measures=True),
}
PENALTIES = ("none", "l2", "l1")
SMOOTHING = 1.0
"""The pseudo-count unless another is said; zero is maximum likelihood."""
SPELLED = {"kinds": "kind"}
"""Options whose names are not those of the arguments."""


def classifier(
    model: str, target: str, inputs: tuple[str, ...], options: Said, look: Look
) -> tuple[ClassStructure, PriorsSaid, dict[str, Declaration]]:
    """Return the structure and the prior of a kind of classifier, and what is declared of columns.

    Parameters
    ----------
    model : str
        One of `KINDS`.
    target, inputs
        The columns.
    options : dict
        What was said; None where nothing was.
    look : Look
        What can be known of the data beforehand.
    """
    require_choice("model", model, list(KINDS), "option")
    said = {name: value for name, value in options.items() if value is not None}
    kind = KINDS[model]
    for name in said:
        if name not in kind.options:
            takers = [other for other, entry in KINDS.items() if name in entry.options]
            option = f"--{SPELLED.get(name, name).replace('_', '-')}"
            raise ArgumentError(
                f"The option {option} is for --model {' or '.join(takers)}. The model is {model}; leave it out."
            )
    structure = kind.structure(target, inputs, said)
    if kind.numbers:
        look.require_numbers(inputs, model)
    declared = {**look.declared, **(look.measured(inputs) if kind.measures else {})}
    return structure, kind.prior(said, structure, look), declared


def read_missing(model: str, missing: str | None) -> Missing:
    """Return what to do about missing values: what was said, or what suits a kind of classifier."""
    if missing is None:
        return KINDS[model].missing
    return require_choice("missing", missing, ALLOWED_MISSING, "option")
