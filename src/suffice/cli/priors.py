"""Priors on the command line: ``--prior bdeu:10``, ``--prior nig:2:1``, ``--prior NODE=bdeu:1``, ``--prior none``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from suffice.errors import ArgumentError

if TYPE_CHECKING:
    from suffice.priors.expert import Expert
    from suffice.priors.prior import Prior

PriorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        metavar="PRIOR",
        help="Of tables bdeu:10, dirichlet:1, k2, jeffreys, expert:FILE:10; of regressions nig:SHAPE:SCALE, or bge; "
        "of normal distributions niw:MEAN:WEIGHT:DOF:SCALE, or hiw:DOF:SCALE on a graph; of softmax nodes, cliques "
        "and features gaussian:1 or laplace:1 (gaussian:1:inf leaves main effects free); of hypotheses uniform. May be "
        "repeated, one for each kind of node. NODE=PRIOR is for one node, and none for all nodes that nothing else is "
        "said of: these are fitted by maximum likelihood, as all are without it.",
    ),
]


PriorSaid: TypeAlias = "Prior | str"
"""One prior, or a word for it."""
PriorsSaid: TypeAlias = "PriorSaid | Sequence[PriorSaid | None] | Mapping[str, PriorSaid | None] | None"
"""What is said of priors: one, several for kinds of nodes, or some by node."""


class Form(NamedTuple):
    """How a prior is written: what makes it of its numbers, how few and how many, their names, and an example."""

    make: Callable[..., PriorSaid]
    least: int
    most: int
    written: str
    example: str


def _forms() -> dict[str, Form]:
    from suffice.priors.bge import BGe
    from suffice.priors.dirichlet import K2, BDeu, Dirichlet, Jeffreys
    from suffice.priors.hyper_inverse_wishart import HyperInverseWishart
    from suffice.priors.normal_inverse_gamma import NormalInverseGamma
    from suffice.priors.normal_inverse_wishart import NormalInverseWishart
    from suffice.priors.penalty import Gaussian, Laplace

    def regressions(shape: float, scale: float, precision: float = 1.0) -> NormalInverseGamma:
        return NormalInverseGamma(shape, scale, precision=precision)

    return {
        "bdeu": Form(BDeu, 0, 1, "bdeu:ESS", "bdeu:10"),
        "dirichlet": Form(Dirichlet, 0, 1, "dirichlet:ALPHA", "dirichlet:1"),
        "k2": Form(K2, 0, 0, "k2", "k2"),
        "jeffreys": Form(Jeffreys, 0, 0, "jeffreys", "jeffreys"),
        "nig": Form(regressions, 2, 3, "nig:SHAPE:SCALE or nig:SHAPE:SCALE:PRECISION", "nig:2:1"),
        "bge": Form(BGe, 0, 2, "bge, bge:MEAN_WEIGHT or bge:MEAN_WEIGHT:DOF", "bge"),
        "niw": Form(NormalInverseWishart, 4, 4, "niw:MEAN:MEAN_WEIGHT:DOF:SCALE", "niw:0:1:4:1"),
        "hiw": Form(HyperInverseWishart, 2, 4, "hiw:DOF:SCALE, and after it :MEAN and :MEAN_WEIGHT", "hiw:3:1"),
        "gaussian": Form(Gaussian, 0, 2, "gaussian:WIDTH or gaussian:WIDTH:MAIN", "gaussian:1"),
        "laplace": Form(Laplace, 0, 2, "laplace:WIDTH or laplace:WIDTH:MAIN", "laplace:1"),
        "uniform": Form(lambda: "uniform", 0, 0, "uniform", "uniform"),
    }


def read_priors(texts: list[str] | None) -> PriorsSaid:
    """Read what was said by ``--prior``: nothing, one prior, a list of them, or a mapping from nodes to priors.

    >>> read_priors(["s=gaussian:10"]), read_priors(["k2", "none"])
    ({'s': Gaussian(width=10.0, main=None)}, [K2(), None])
    """
    parts = [_part(text) for text in texts or ()]
    if parts and all(isinstance(part, dict) for part in parts):
        _require_once([node for part in parts for node in part])
        return {node: prior for part in parts for node, prior in part.items()}
    return parts if len(parts) > 1 or parts == [None] else parts[0] if parts else None


def _part(text: str) -> Any:
    """Read a prior, ``none``, or ``NODE=PRIOR``; the sign may be part of a node's name."""
    if text == "none":
        return None
    known = (*_forms(), "expert", "none")
    if text.partition(":")[0] not in known:
        for place, sign in enumerate(text):
            if sign == "=" and text[place + 1 :].partition(":")[0] in known:
                return {text[:place]: _part(text[place + 1 :])}
    return read_prior(text)


def _require_once(nodes: list[str]) -> None:
    twice = [node for node in nodes if nodes.count(node) > 1]
    if twice:
        raise ArgumentError(f"There are two priors for the node {twice[0]!r}. Leave one of them out.")


def read_prior(text: str) -> PriorSaid:
    """Read one prior, its numbers after colons.

    >>> read_prior("bdeu:10"), read_prior("nig:2:1").shape
    (BDeu(ess=10.0), 2.0)
    """
    if text.startswith("expert:"):
        return _expert(text.removeprefix("expert:"))
    name, *parts = text.split(":")
    forms = _forms()
    if name not in forms:
        known = [form.example for form in forms.values()]
        raise ArgumentError(
            f"The prior must be {', '.join(known)} or expert:FILE:10, one of these for a node, as in NODE=bdeu:10, or "
            f"none. Got {text!r} instead."
        )
    form = forms[name]
    if not all(map(is_number, parts)):
        raise ArgumentError(f"The prior {text!r} must end in a number, such as {form.example}.")
    if not form.least <= len(parts) <= form.most:
        raise ArgumentError(
            f"The prior {name!r} is written {form.written}, such as {form.example}. Got {text!r} instead."
        )
    return form.make(*map(float, parts))


def _expert(text: str) -> Expert:
    """Read ``FILE:10`` or ``FILE:10:0.01``: a network, how many cases it is worth, how much uniform to mix in."""
    from suffice.cli.shared import read_model, unable
    from suffice.models.model import Generative
    from suffice.priors.expert import Expert

    path, *numbers = text.split(":")
    while len(numbers) > 2 or (numbers and not is_number(numbers[0])):  # paths may contain the sign
        path = f"{path}:{numbers.pop(0)}"
    if not path or not numbers or not all(map(is_number, numbers)):
        raise ArgumentError(
            f"The prior 'expert:{text}' must name a model file and a number of cases, such as expert:net.bif:10; a "
            "second number is how much of the uniform distribution to mix in, expert:net.bif:10:0.01."
        )
    ess, uniform = [*map(float, numbers), 0.0][:2]
    model = read_model(path)
    if not isinstance(model, Generative):
        raise unable(model, "sample_blocks")
    belief: Any = model  # `Expert` says what it must be
    return Expert(belief, ess, uniform)


def is_number(text: str) -> bool:
    """Whether text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
