"""Complexity: how large exact inference in a model is, before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.inference.budget import BYTES, cells_of
from suffice.inference.plan import Plan
from suffice.text import html_table, in_bytes, shorten


@dataclass(frozen=True)
class Complexity:
    """The size of the junction tree that was found.

    Attributes
    ----------
    width : int
        Variables in the largest clique, less one; an upper bound of the treewidth.
    n_cliques : int
    cells : int
        Numbers in the tables of all cliques.
    memory : int
        Bytes that calibrating all of them takes.
    largest : tuple of str
        The variables of the clique with the largest table.
    largest_cells : int

    Examples
    --------
    >>> import suffice as sf
    >>> print(sf.fit(sf.DAG("A -> B"), {"A": ["x", "y"], "B": ["u", "v"]}).model.complexity())
    width           1
    cliques         1
    cells           4
    memory          40 B
    largest clique  A, B (4 cells)
    """

    width: int
    n_cliques: int
    cells: int
    memory: int
    largest: tuple[str, ...]
    largest_cells: int

    @classmethod
    def of(cls, plan: Plan) -> Complexity:
        """Measure a plan."""
        cells = plan.clique_cells
        largest = max(range(len(cells)), key=cells.__getitem__)
        separators = sum(cells_of(plan.tree.separators, plan.sizes))
        members = sorted(plan.tree.cliques[largest])
        return cls(
            plan.width,
            len(cells),
            sum(cells),
            BYTES * (sum(cells) + separators),
            tuple(plan.names[variable] for variable in members),
            cells[largest],
        )

    def _rows(self) -> list[list[str]]:
        members = ", ".join(shorten(name) for name in self.largest)
        return [
            ["width", f"{self.width:,}"],
            ["cliques", f"{self.n_cliques:,}"],
            ["cells", f"{self.cells:,}"],
            ["memory", in_bytes(self.memory)],
            ["largest clique", f"{members} ({self.largest_cells:,} cells)"],
        ]

    def __str__(self) -> str:
        return "\n".join(f"{name:<14}  {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        return html_table(["", ""], self._rows(), "<<")
