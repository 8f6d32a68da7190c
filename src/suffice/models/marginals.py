"""The distributions of all variables together, which print as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.data.labelled import LabelledTable
from suffice.text import html_table, number, plain_table, plural, probability

if TYPE_CHECKING:
    from suffice.models.joint_normal import JointNormal
    from suffice.models.normal_mixture import NormalMixture

SHOWN_ROWS = 60


class Marginals(dict[str, "LabelledTable | JointNormal | NormalMixture"]):
    """The distribution of every variable by its name: a dict that shows the numbers in it.

    Values are `LabelledTable` of discrete variables, normal distributions and mixtures of continuous ones.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y"], "B": ["u", "v", "v"]})
    >>> fit.model.marginals()
    variable  state       p
    --------  -----  ------
    A         x      0.6667
              y      0.3333
    B         u      0.3333
              v      0.6667
    """

    def _rows(self) -> tuple[list[list[str]], list[list[float | None]], int]:
        """Return the rows of a table, the shares that bars fill, and how many variables were left out."""
        rows: list[list[str]] = []
        shares: list[list[float | None]] = []
        for place, (name, answer) in enumerate(self.items()):
            if rows and len(rows) + (answer.values.size if isinstance(answer, LabelledTable) else 1) > SHOWN_ROWS:
                return rows, shares, len(self) - place
            if isinstance(answer, LabelledTable):
                labels = answer.variables[0].labels
                for k, (label, p) in enumerate(zip(labels[:SHOWN_ROWS], answer.values.tolist(), strict=False)):
                    rows.append(["" if k else name, str(label), probability(p)])
                    shares.append([None, None, p])
                if len(labels) > SHOWN_ROWS:
                    rows.append(["", f"… {plural(len(labels) - SHOWN_ROWS, 'more state')}", ""])
                    shares.append([])
            else:
                rows.append([name, _normal(answer), ""])
                shares.append([])
        return rows, shares, 0

    def _foot(self, n_more: int) -> str:
        return f"… {plural(n_more, 'more variable')}; marginals[name] shows one" if n_more else ""

    def __str__(self) -> str:
        rows, _, n_more = self._rows()
        foot = self._foot(n_more)
        return plain_table(["variable", "state", "p"], rows, "<<>") + (f"\n{foot}" if foot else "")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows, shares, n_more = self._rows()
        foot = self._foot(n_more)
        table = html_table(["variable", "state", "p"], rows, "<<>", shares=shares)
        return table + (f"<p>{foot}</p>" if foot else "")


def _normal(answer: JointNormal | NormalMixture) -> str:
    """Say the mean and the standard deviation of a continuous variable."""
    mean, sd = float(answer.mean.reshape(-1)[0]), float(answer.sd.reshape(-1)[0])
    from suffice.models.normal_mixture import NormalMixture

    n_parts = len(answer.weights) if isinstance(answer, NormalMixture) else 0
    mixture = f" (mixture of {n_parts:,})" if n_parts > 1 else ""
    return f"mean {number(mean, 5)}, sd {number(sd, 5)}{mixture}"
