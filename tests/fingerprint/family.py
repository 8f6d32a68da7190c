"""A family of cases: its options, which of them go together, and how a case is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.fingerprint.pairs import Choice, pairwise
from tests.fingerprint.record import Record
from tests.fingerprint.tables import Columns, in_form

import suffice as sf

WEIGHTS = ("none", "column", "array")


def always(choice: Choice) -> bool:
    """Allow every combination."""
    return True


def plain(choice: Choice, *but: str) -> bool:
    """Whether all options but those named are the usual ones, which mostly have one of these names."""
    usual = ("none", "error", "auto", "dict", "no", "2")
    return all(one in usual for kind, one in choice.items() if kind not in but)


def streams_by_column(choice: Choice) -> bool:
    """Whether streams have their weights in a column, as they must; else only the refusal is of interest."""
    in_memory = choice["form"] in ("dict", "numpy", "pandas", "polars", "arrow")
    return choice["weights"] != "array" or in_memory or plain(choice, "form", "weights")


@dataclass(frozen=True)
class Family:
    """Cases of one kind.

    Parameters
    ----------
    name : str
    run : callable
        Runs a case: takes the record to write to and the options chosen.
    options : mapping
        The options of each kind; the first is the usual one, which names of cases leave out.
    allows : callable
        Whether options go together. The library may refuse what is allowed here; the refusal is then recorded.
    """

    name: str
    run: Callable[[Record, Choice], None]
    options: Mapping[str, Sequence[str]]
    allows: Callable[[Choice], bool] = always

    @cached_property
    def cases(self) -> dict[str, Choice]:
        """Return the options of each case, by its name."""
        return {self._name_of(choice): choice for choice in pairwise(self.options, self.allows)}

    def _name_of(self, choice: Choice) -> str:
        first = next(iter(self.options))
        named = [choice[first]]
        named += [f"{kind}={one}" for kind, one in choice.items() if kind != first and one != self.options[kind][0]]
        return f"{self.name}: {', '.join(named)}"


def weights_of(choice: Choice, columns: Columns) -> Any:
    """Return the weights that the options ask for: none, the column ``w``, or that column as an array."""
    return {"none": None, "column": "w", "array": columns["w"]}[choice.get("weights", "none")]


def fit_table(record: Record, structure: Any, columns: Columns, choice: Choice, **arguments: Any) -> Any:
    """Fit a structure to a table in the form, and with the weights, that the options ask for, and record the fit."""
    for name in ("method", "point", "missing", "certify"):
        if choice.get(name, "none") != "none":
            arguments.setdefault(name, choice[name])
    data = in_form(columns, choice.get("form", "dict"))
    fit = sf.fit(structure, data, weights=weights_of(choice, columns), **arguments)
    record.add_fit(fit)
    return fit


def drawn(model: Any, names: Sequence[str], n: int = 4, **arguments: Any) -> dict[str, list[Any]]:
    """Return rows drawn from a model, by column."""
    sample = model.sample(n, seed=7, **arguments)
    return {name: list(sample[name]) for name in names}
