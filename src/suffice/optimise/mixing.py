"""Anderson's mixing: the next point of a fixed-point iteration from the last few of its steps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from suffice.types import Floats

LEAST = 1e-10
"""Directions of changes that are smaller, beside the largest, are rounding error."""


class Mixing:
    """Extrapolates x ↦ F(x) from the changes of x and of F(x) − x (Walker and Ni, 2011).

    Parameters
    ----------
    memory : int
        How many changes are remembered; with none, the next point is F(x).

    Examples
    --------
    >>> mixing = Mixing(2)
    >>> x = np.array([1.0])
    >>> for _ in range(3):
    ...     x = mixing.next(x, 0.9 * x + 0.2)  # its fixed point is 2
    >>> round(float(x[0]), 9)
    2.0
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self._moves: list[Floats] = []
        self._changes: list[Floats] = []
        self._last: tuple[Floats, Floats] | None = None

    def next(self, x: Floats, image: Floats) -> Floats:
        """Return where F may have its fixed point, having seen F(x) = ``image``."""
        gap = image - x
        if self._last is not None and self.memory:
            self._moves.append(image - self._last[0])
            self._changes.append(gap - self._last[1])
            del self._moves[: -self.memory], self._changes[: -self.memory]
        self._last = image, gap
        if not self._changes:
            return image
        changes = np.stack(self._changes, axis=1)
        scale = np.linalg.norm(changes, axis=0)
        scale[scale == 0] = 1.0
        factors = np.linalg.lstsq(changes / scale, gap, rcond=LEAST)[0] / scale
        found: Floats = image - np.stack(self._moves, axis=1) @ factors
        return found

    def forget(self) -> None:
        """Begin anew, from the next point."""
        self._moves, self._changes, self._last = [], [], None

    def to_arrays(self) -> dict[str, Floats]:
        """Return what is remembered, so that `restore` can go on from there with the same bits."""
        if self._last is None:
            return {}
        last = np.stack(self._last)
        found = {"moves": self._moves, "changes": self._changes}
        return {"last": last, **{name: np.array(held).reshape(-1, last.shape[1]) for name, held in found.items()}}

    def restore(self, arrays: Mapping[str, Floats]) -> None:
        """Remember what `to_arrays` returned."""
        self.forget()
        if "last" in arrays:
            self._last = arrays["last"][0], arrays["last"][1]
            self._moves, self._changes = list(arrays["moves"]), list(arrays["changes"])
