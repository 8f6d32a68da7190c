"""Several priors together: for kinds of nodes, for single nodes, or for some nodes and none for the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from suffice.errors import ArgumentError, EstimationError, Made, Mention, Remedy, Text, listing, made, shown
from suffice.models.cpds import NodeFamily, kind_for
from suffice.priors.prior import ConjugatePrior, NodePosterior, NodePrior, Prior
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG
from suffice.values import Estimate

if TYPE_CHECKING:
    from suffice.types import Entry

Part = Prior | dict[str, Prior | None] | None
"""What `Priors` is made of: a prior on nodes of one kind, the priors of some nodes, or None for all others."""

REMEDIES = {
    "tabular": made("BDeu", 10),
    "linear_gaussian": made("NormalInverseGamma", 2, 1.0),
    "softmax": made("Gaussian", 1.0),
}
"""A prior of each kind that has one."""


def remedies(kinds: Collection[str], on: str) -> str:
    """Say how a prior on nodes of one kind is passed for a network that has others, too.

    Parameters
    ----------
    kinds : collection of str
        Those of the network's nodes.
    on : str
        The kind that the prior is on.

    Examples
    --------
    >>> remedies(["tabular", "noisy_or"], "tabular")
    'Fit the nodes without a prior by maximum likelihood: prior=[sf.BDeu(10), None].'
    """
    given = REMEDIES.get(on)
    others: list[Made | None] = [None] * any(kind not in REMEDIES for kind in kinds)
    listed = [prior for kind, prior in REMEDIES.items() if kind in kinds or kind == on]
    each = Text("ive each kind of node a prior, such as ", Remedy("prior", [*listed, *others]))
    held = Text("prior=[…, None]") if given is None else Text(Remedy("prior", [given, None]))
    none = Text("it the nodes without a prior by maximum likelihood: ", held, ".")
    if on not in kinds:
        return Text("G", each, ".")
    return Text("F", none) if listed == [given] else Text("G", each, ", or f", none)


class Priors(ConjugatePrior):
    """Priors by kind of node or by node, for networks that mix tables, regressions and others.

    Parameters
    ----------
    *priors
        Such as ``sf.BDeu(10)`` for tables and ``sf.NormalInverseGamma(2, 1.0)`` for linear-Gaussian nodes; no two may
        be for the same kind. A mapping from nodes to priors goes before what is said of their kinds; None in it is for
        a node without a prior. None among the priors is for all nodes that nothing else is said of. Nodes without a
        prior are fitted by maximum likelihood.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"group": ["a", "a", "b", "b"], "score": [1.0, 2.0, 5.0, 7.0]}
    >>> prior = sf.Priors(sf.BDeu(1), sf.NormalInverseGamma(2, 1.0))
    >>> fit = sf.fit(sf.DAG("group -> score"), data, prior=prior)
    >>> fit.certificate.ok
    True
    >>> prior.kinds
    ('tabular', 'linear_gaussian')

    ``prior=[…]`` and ``prior={…}`` of `suffice.fit` are the same, shorter; a mapping alone leaves all nodes that it
    does not name to maximum likelihood:

    >>> sf.fit(sf.DAG("group -> score"), data, prior={"group": sf.BDeu(1)}).certificate.claim
    "posterior mean, which is no optimum; maximum likelihood of 'score', which has no prior"
    """

    __slots__ = ("by_kind", "by_node", "priors")
    priors: tuple[Part, ...]
    """What was given, in order."""
    by_kind: Mapping[str, NodePrior]
    by_node: Mapping[str, NodePrior | None]

    def __init__(self, *priors: Prior | Mapping[str, Prior | None] | None) -> None:
        given = tuple(dict(part) if isinstance(part, Mapping) else part for part in priors)
        by_kind: dict[str, NodePrior] = {}
        by_node: dict[str, NodePrior | None] = {}
        for part in given:
            if isinstance(part, dict):
                _add_nodes(by_node, part)
            elif part is not None:
                _add_kinds(by_kind, part)
        if not by_kind and all(prior is None for prior in by_node.values()):
            raise ArgumentError(
                "sf.Priors needs at least one prior, such as ",
                made("BDeu", 10),
                ". Got none instead; leave the prior out for maximum likelihood.",
            )
        object.__setattr__(self, "priors", given)
        object.__setattr__(self, "by_kind", by_kind)
        object.__setattr__(self, "by_node", by_node)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __reduce__(self) -> tuple[type[Priors], tuple[Part, ...]]:
        return Priors, self.priors  # copying attribute by attribute would assign to them

    def __repr__(self) -> str:
        return f"Priors({', '.join(map(repr, self.priors))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Priors) and self.priors == other.priors

    def __hash__(self) -> int:
        return hash(tuple(frozenset(part.items()) if isinstance(part, dict) else part for part in self.priors))

    @property
    def parts(self) -> tuple[Prior, ...]:
        """The priors themselves, each once."""
        return tuple(self._each())

    def _each(self) -> Iterator[Prior]:
        for part in self.priors:
            for prior in part.values() if isinstance(part, dict) else (part,):
                if prior is not None:
                    yield prior

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of nodes that have a prior."""
        return tuple(self.by_kind)

    @property
    def points(self) -> tuple[Estimate, ...]:
        """The estimates that all parts can give."""
        return tuple(point for point in super().points if all(point in prior.points for prior in self.parts))

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that are named, by the mapping or by the parts."""
        named = (node for prior in self.parts for node in prior.nodes)
        return tuple(dict.fromkeys((*self.by_node, *named)))

    def of_kind(self, kind: str, family: NodeFamily) -> NodePrior | None:
        """Return the prior of a node: its own, else that of its kind, else None where nodes may have none."""
        name = family.child.name
        if name in self.by_node:
            return self.by_node[name]
        if kind in self.by_kind:
            return self.by_kind[kind]
        if None in self.priors:
            return None
        add = Text("Add one, such as ", REMEDIES[kind], ", or") if kind in REMEDIES else "That kind has none. Add"
        raise EstimationError(
            f"Node {name!r} is of kind {kind!r}, for which no prior was given; there are priors for "
            f"{listing([*self.kinds, *self.by_node])}. ",
            add,
            " None, which fits the nodes without a prior by maximum likelihood.",
        )

    def bound(self, dag: DAG, statistics: Statistics) -> Priors:
        """Return the priors with those bound to the network that ask for it."""

        def settled(prior: Prior | None) -> Prior | None:
            return None if prior is None else prior.bound(dag, statistics)

        return Priors(
            *(
                {node: settled(prior) for node, prior in part.items()} if isinstance(part, dict) else settled(part)
                for part in self.priors
            )
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the parts took from the data."""
        return tuple(dict.fromkeys(remark for prior in self.parts for remark in prior.remarks))

    def posterior(self, kind: str, family: NodeFamily, statistic: Any, given: Any = None) -> NodePosterior | None:
        """Return the posterior of one node under its prior; None where it has none."""
        mine = self.of_kind(kind, family)
        return mine.posterior(kind, family, statistic, given) if isinstance(mine, ConjugatePrior) else None

    def pseudo(self, family: NodeFamily, point: str) -> Any:
        """Return what the prior of a family adds to its data, the kind being the one that its variables suggest."""
        mine = self.of_kind(kind_for(family).name, family)
        return None if mine is None else mine.pseudo(family, point)

    def describe(self) -> str:
        """Say in a few words what the priors are."""
        said = []
        for part in self.priors:
            if isinstance(part, dict):
                said += [f"{node}: {'none' if one is None else one.describe()}" for node, one in part.items()]
            elif part is not None:
                said.append(part.describe())
        return "; ".join([*said, *["none for other nodes"] * (None in self.priors)])

    def to_dict(self) -> dict[str, Any]:
        """Return the priors as JSON-able data."""
        return {"type": "Priors", "priors": [_entry(part) for part in self.priors]}

    @classmethod
    def from_dict(cls, entry: Entry, read: Callable[[Mapping[str, Any]], Prior]) -> Priors:
        """Rebuild the priors from `to_dict`'s data; ``read`` rebuilds one of them."""

        def part(entry: Entry | None) -> Part:
            if entry is not None and "nodes" in entry and "type" not in entry:
                return {node: None if one is None else read(one) for node, one in entry["nodes"].items()}
            return None if entry is None else read(entry)

        return cls(*map(part, entry["priors"]))


def _entry(part: Part) -> dict[str, Any] | None:
    """Return one part as JSON-able data: a prior, None, or the priors of some nodes."""
    if isinstance(part, dict):
        return {"nodes": {node: _entry(prior) for node, prior in part.items()}}
    return None if part is None else part.to_dict()


def _add_kinds(covered: dict[str, NodePrior], part: Prior) -> None:
    """Take down for which kinds a prior is, and refuse a second one for the same."""
    prior = _required_on_nodes(part)
    for kind in prior.kinds:
        if kind in covered:
            raise ArgumentError(
                f"{covered[kind].describe()} and {prior.describe()} are both priors on nodes of kind {kind!r}. "
                f"Give one for each kind, or name the nodes of one of them: {{'A': {REMEDIES[kind]}}}."
            )
        covered[kind] = prior


def _add_nodes(named: dict[str, NodePrior | None], part: Mapping[str, Prior | None]) -> None:
    """Take down the priors of single nodes."""
    for node, prior in part.items():
        if not isinstance(node, str):
            raise ArgumentError(
                f"A prior for one node is given by its name, such as {{'A': sf.BDeu(10)}}. Got {shown(node)} instead."
            )
        if node in named:
            raise ArgumentError(f"There are two entries for the prior of node {node!r}. Leave one of them out.")
        named[node] = None if prior is None else _required_on_nodes(prior)


def _required_on_nodes(prior: Prior) -> NodePrior:
    """Return a prior on nodes; refuse what is none."""
    if isinstance(prior, Priors) or not isinstance(prior, NodePrior) or not prior.kinds:
        raise ArgumentError(
            Mention("Priors", "Each part of sf.Priors"),
            " must be a prior on nodes, such as ",
            made("BDeu", 10),
            " or ",
            made("NormalInverseGamma", 2, 1.0),
            f", a mapping from nodes to priors, or None for nodes without one. Got {shown(prior)} instead.",
        )
    return prior
