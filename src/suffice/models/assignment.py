"""Assignment: the most likely states, with their probability and whatever is just as likely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from suffice.data.schema import Schema
from suffice.errors import UnknownNameError, listing, suggestion
from suffice.text import html_table, number, plain_table
from suffice.values import Label


@dataclass(frozen=True)
class Assignment(Mapping[str, Label]):
    """The most likely states of all variables that were not observed, or of those asked for, as a mapping.

    Attributes
    ----------
    states : dict of str to label
    log_prob : float
        log p(states, evidence).
    log_posterior : float
        log p(states | evidence).
    ties : dict of str to tuple of labels
        The variables of which several states occur among the assignments of equal, greatest probability, with these
        states; of them, ``states`` is one. Empty when the assignment is the only one.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("rain -> wet"), {"rain": ["no", "no", "yes", "no"], "wet": ["no", "yes", "yes", "no"]})
    >>> best = fit.model.map(given={"wet": "yes"})
    >>> best["rain"], best.ties
    ('no', {'rain': ('no', 'yes')})
    """

    states: dict[str, Label]
    log_prob: float
    log_posterior: float
    ties: dict[str, tuple[Label, ...]]

    def __getitem__(self, name: str) -> Label:
        if not isinstance(name, str) or name not in self.states:
            raise UnknownNameError(
                f"The assignment has no variable {name!r}. It has {listing(self.states, 12)}."
                + suggestion(name, self.states)
            )
        return self.states[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for name, label in self.states.items():
            others = ", ".join(str(tied) for tied in self.ties.get(name, ()) if tied != label)
            rows.append([name, number(label) if isinstance(label, float) else str(label), others])
        if not self.ties:
            return ["variable", "state"], [row[:2] for row in rows], "<<"
        return ["variable", "state", "as likely in other assignments"], rows, "<<<"

    def __str__(self) -> str:
        heads = f"log p(states, evidence) = {self.log_prob:.6g}, log p(states | evidence) = {self.log_posterior:.6g}"
        return f"{plain_table(*self._cells())}\n{heads}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells())


def assignment_of(
    schema: Schema,
    order: Sequence[int] | None,
    chosen: Mapping[int, int | float],
    log_prob: float,
    log_posterior: float,
    ties: Mapping[int, tuple[int, ...]],
) -> Assignment:
    """Return an assignment from codes and values by position, in the order asked for or else in the schema's."""
    variables, places = schema.variables, sorted(chosen) if order is None else order

    def state(place: int) -> Label:
        held = variables[place]
        return held.labels[int(chosen[place])] if held.is_discrete else float(chosen[place])

    return Assignment(
        {variables[place].name: state(place) for place in places},
        log_prob,
        log_posterior,
        {variables[v].name: tuple(variables[v].labels[code] for code in ties[v]) for v in places if v in ties},
    )
