"""What the tests of chains of labels share: fits of small sequences, and a person who presses Ctrl-C."""

from __future__ import annotations

import signal
from typing import Any

from tests.models.chain_twin import Toy

import suffice as sf
from suffice.priors.elastic import Elastic
from suffice.progress import Silent
from suffice.structures.label_chain import LabelChain, LocalChain

BOTH = [LabelChain, LocalChain]


def fitted(toy: Toy, structure: LabelChain, prior: Any = Elastic(c2=0.1), **options: Any) -> sf.Fit:  # noqa: B008
    return sf.fit(structure, toy.table, prior=prior, **options)


class InterruptsAt(Silent):
    """Sends Ctrl-C to its own process at one step, as a person would."""

    def __init__(self, step: int) -> None:
        self.step, self.infos, self.units = step, list[str](), list[str]()

    def begin(self, label: str, total: float | None, unit: str) -> None:
        self.units.append(unit)

    def update(self, done: float, info: str) -> None:
        if self.units[-1] == "steps":
            self.infos.append(info)
            if len(self.infos) == self.step:
                signal.raise_signal(signal.SIGINT)

    def end(self) -> None:
        self.units.pop()
