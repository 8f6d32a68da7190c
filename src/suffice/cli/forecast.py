"""What ``suffice query`` says of an autoregression: the values after a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ArgumentError

if TYPE_CHECKING:
    from suffice.models.autoregression import AutoregressiveModel
    from suffice.types import Floats


def print_forecast(model: AutoregressiveModel, history: str | None, steps: int | None, as_json: bool) -> None:
    """Print the distribution of the next values."""
    if history is None:
        raise ArgumentError(
            "An autoregression answers for the values after a history. Pass the table of the values so far: "
            "--history FILE, and --steps for how far ahead."
        )
    found = model.forecast(_values(model, history), 1 if steps is None else steps)
    if as_json:
        from suffice.cli.answers import print_json

        low, high = found.interval()
        names = {"variables": list(found.variables), "steps": found.steps}
        print_json({**names, "mean": found.mean, "sd": found.sd, "lower": low, "upper": high, "level": 0.95})
        return
    from suffice.cli.show import show_table

    show_table(found._cells())


def _values(model: AutoregressiveModel, path: str) -> Floats:
    """Return the values of the one sequence of a table, in order of time; shape (length, n_variables)."""
    from suffice.data.held_symbols import HeldSymbols

    symbols = model.structure.sequences(path).symbols(model.variables, continuous=True)
    assert isinstance(symbols, HeldSymbols)  # as numbers are
    if len(symbols.lengths) != 1:
        raise ArgumentError(
            f"A forecast continues one sequence, and {path!r} holds {len(symbols.lengths):,} by its column "
            f"{model.id!r}. Keep the rows of one."
        )
    return np.stack([symbols.columns[name] for name in model.variables], axis=1)
