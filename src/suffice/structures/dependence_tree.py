"""DependenceTree: a directed tree whose edges say how much their ends tell of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from suffice.errors import ArgumentError, StructureError, is_number, made, shown, the_argument
from suffice.structures.dag import DAG
from suffice.structures.dag_text import quoted
from suffice.text import fixed, plain_table

if TYPE_CHECKING:
    from suffice.types import Entry


@dataclass(frozen=True, init=False, eq=False, repr=False)
class DependenceTree(DAG):
    """A tree, or a forest, that was found in data; it is fitted, written and drawn as any `DAG`.

    It equals the plain `DAG` with the same edges, which is also what a file of a fit gives back.

    Parameters
    ----------
    parents : mapping from str to str or None
        The parent of each variable; roots have none.
    nats : sequence of float
        The mutual information along each edge, in the order of `edges`.
    n_states : sequence of int
        The number of states of each variable; nothing for continuous variables, whose nodes are linear-Gaussian.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"A": list("xxxxyyyy"), "B": list("uuuvvvvu"), "C": list("srsrsrrs")}
    >>> tree = sf.chow_liu(data)
    >>> print(tree)
    edge    information
    ------  -----------
    A -> B       0.1308
    B -> C       0.1308
    >>> tree.root
    'A'
    >>> tree == sf.DAG("A -> B -> C")
    True
    >>> sf.fit(tree, data, prior=sf.Dirichlet(tree.pseudo_counts(1.0))).certificate.ok
    True
    """

    nats: tuple[float, ...]
    n_states: tuple[int, ...]

    def __init__(
        self, parents: Mapping[str, str | None], nats: Sequence[float], n_states: Sequence[int] | None = None
    ) -> None:
        above = {node: () if parent is None else (parent,) for node, parent in parents.items()}
        super().__init__(above, kinds=dict.fromkeys(above, "linear_gaussian") if n_states is None else None)
        if len(nats) != len(self.edges) or (n_states is not None and len(n_states) != len(self.nodes)):
            raise StructureError(
                f"A tree of {len(self.nodes)} variables and {len(self.edges)} edges needs one information an edge and "
                f"one number of states a variable. Got {shown(nats)} and {shown(n_states)} instead."
            )
        self._set("nats", tuple(map(float, nats)))
        self._set("n_states", tuple(n_states or ()))

    @classmethod
    def from_dict(cls, entry: Entry) -> DAG:
        """Rebuild the plain `DAG`; files do not hold the information."""
        return DAG.from_dict(entry)

    def __eq__(self, other: object) -> bool:
        return DAG(self) == DAG(other) if isinstance(other, DAG) else NotImplemented

    __hash__ = DAG.__hash__

    # What the tree says ---------------------------------------------------------------------------------------

    @cached_property
    def information(self) -> dict[tuple[str, str], float]:
        """The mutual information of the two ends of each edge, in nats, by (parent, child)."""
        return dict(zip(self.edges, self.nats, strict=True))

    @property
    def total_information(self) -> float:
        """The sum over all edges: by so many nats a row the tree's likelihood is above that of independence."""
        return sum(self.nats)

    @property
    def roots(self) -> tuple[str, ...]:
        """The variables without a parent: one, or one for each tree of a forest."""
        return tuple(node for node, above in self.parents.items() if not above)

    @property
    def root(self) -> str:
        """The root; that of the first tree when there are several."""
        return self.roots[0]

    def pseudo_counts(self, alpha: float) -> dict[str, float]:
        """Return the pseudo-counts of each node's table that amount to ``alpha`` in every cell of each edge's table.

        They are for ``prior=sf.Dirichlet(tree.pseudo_counts(alpha))``, whose posterior mean is the tree that
        `chow_liu` saw with the same ``alpha``. A row of a child's table has alpha in each cell. A root is the margin of
        the table with its first child, so each of its cells has alpha for every state of that child.

        Parameters
        ----------
        alpha : float
            Above zero; without smoothing leave the prior out.

        Examples
        --------
        >>> DependenceTree({"A": None, "B": "A"}, [0.2], [2, 3]).pseudo_counts(0.5)
        {'A': 1.5, 'B': 0.5}
        """
        if not is_number(alpha) or not 0 < alpha < float("inf"):
            raise ArgumentError(
                the_argument("alpha"),
                f" must be a finite number above zero. Got {shown(alpha)} instead; to fit without "
                "smoothing leave the prior out.",
            )
        if not self.n_states:
            raise StructureError(
                "This tree is over continuous variables, which have no counts. Fit it without a prior, or with ",
                made("NormalInverseGamma", 2, 1.0),
                ".",
            )
        size = dict(zip(self.nodes, self.n_states, strict=True))
        found = dict.fromkeys(self.nodes, float(alpha))
        for parent, child in reversed(self.edges):
            if not self.parents[parent]:
                found[parent] = float(alpha) * size[child]
        return found

    # Rendering ------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        rows = [
            [f"{quoted(parent)} -> {quoted(child)}", fixed(nats)] for (parent, child), nats in self.information.items()
        ]
        joined = {node for edge in self.edges for node in edge}
        rows += [[quoted(node), "-"] for node in self.nodes if node not in joined]
        return plain_table(["edge", "information"], rows, "<>")
