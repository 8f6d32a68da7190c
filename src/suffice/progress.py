"""Progress and interruption: one protocol for all long work.

A pass over data calls `Watch.advance`; an iterative method loops over `Watch.steps`. What a person sees is a
`Display`'s business. The first Ctrl-C during `steps` ends the loop after the current step, so that the method can
return its best point, marked; a second one raises at once. During a pass over data Ctrl-C raises as usual:
statistics of half a table are of no use.
"""

from __future__ import annotations

import contextlib
import inspect
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol, runtime_checkable

from suffice.errors import ArgumentError, shown


@runtime_checkable
class Display(Protocol):
    """Shows how far the work has come."""

    def begin(self, label: str, total: float | None, unit: str) -> None:
        """Start one piece of work; ``total`` is None when it is not known."""

    def update(self, done: float, info: str) -> None:
        """Tell how much is done, and a few words such as the current objective."""

    def end(self) -> None:
        """Finish the piece of work."""


class Silent:
    """Shows nothing."""

    def begin(self, label: str, total: float | None, unit: str) -> None:
        """Ignore the start."""

    def update(self, done: float, info: str) -> None:
        """Ignore the news."""

    def end(self) -> None:
        """Ignore the end."""


class Bar:
    """A rich progress bar on standard error."""

    def begin(self, label: str, total: float | None, unit: str) -> None:
        """Open the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.completed:,.0f} {task.fields[unit]}"),
            TextColumn("{task.fields[info]}", markup=False),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(label, total=total, unit=unit, info="")

    def update(self, done: float, info: str) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=done, info=info)

    def end(self) -> None:
        """Close the bar."""
        self._bar.stop()


@dataclass
class Watch:
    """What long work reports to, and asks whether it should stop.

    Attributes
    ----------
    display : Display
    interrupted : bool
        True once Ctrl-C ended a `steps` loop early.
    info : str
        A few words on the last step, for the display.

    Examples
    --------
    >>> watch = Watch()
    >>> [step for step in watch.steps("halving", 3)]
    [1, 2, 3]
    """

    display: Display = field(default_factory=Silent)
    interrupted: bool = False
    info: str = ""
    _done: float = 0.0

    @contextlib.contextmanager
    def work(self, label: str, total: float | None, unit: str) -> Iterator[None]:
        """Announce one piece of work for as long as the block runs."""
        self._done = 0.0
        self.display.begin(label, total, unit)
        try:
            yield
        finally:
            self.display.end()

    def advance(self, amount: float, info: str = "") -> None:
        """Say that ``amount`` more is done."""
        self._done += amount
        self.display.update(self._done, info)

    def steps(self, label: str, limit: int) -> Iterator[int]:
        """Yield 1, 2, … ``limit`` until the caller breaks or Ctrl-C arrives, here or in what it hands them to."""
        return self._steps(label, limit, _known_by(_calling_function(sys._getframe(1))))

    def _steps(self, label: str, limit: int, owner: tuple[int, Any]) -> Iterator[int]:
        self.info = ""
        with self.work(label, limit, "steps"), _first_interrupt_sets(self, owner):
            for step in range(1, limit + 1):
                if self.interrupted:
                    return
                yield step
                self.advance(1, self.info)


# The first Ctrl-C ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Loop:
    """A loop over steps: what it reports to, and the function that asked for them."""

    watch: Watch
    owner: tuple[int, Any]

    def runs(self, frame: FrameType | None) -> bool:
        """Whether the loop's function is among the callers of ``frame``; an error may have ended it."""
        while frame is not None and _known_by(frame) != self.owner:
            frame = frame.f_back
        return frame is not None


def _known_by(frame: FrameType) -> tuple[int, Any]:
    """Return what a frame is known by; the frame itself would keep alive all that its function holds."""
    return id(frame), frame.f_code


_loops: list[_Loop] = []
_before: list[Any] = []
"""The handler that stood before that of the loops."""


@contextlib.contextmanager
def _first_interrupt_sets(watch: Watch, owner: tuple[int, Any]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    loop = _Loop(watch, owner)
    if signal.getsignal(signal.SIGINT) is not _on_interrupt:
        _loops.clear()
        _before[:] = [signal.signal(signal.SIGINT, _on_interrupt)]
    _loops[:] = [one for one in _loops if one.runs(sys._getframe())] + [loop]
    try:
        yield
    finally:
        if loop in _loops:
            _loops.remove(loop)
        if threading.current_thread() is threading.main_thread():  # steps that were left may end in any thread
            _loops[:] = [one for one in _loops if one.runs(sys._getframe())]
            if not _loops:
                _give_back()


def _on_interrupt(signum: int, frame: FrameType | None) -> Any:
    """Mark the innermost loop that runs; where none does, since an error ended them, do what was done before."""
    running = [one for one in _loops if one.runs(frame)]
    if not running:
        before = _give_back()
        return before(signum, frame) if callable(before) else signal.raise_signal(signum)
    if running[-1].watch.interrupted:
        raise KeyboardInterrupt
    running[-1].watch.interrupted = True
    return None


def _give_back() -> Any:
    """Let the handler stand again that stood before, and return it."""
    before = _before[0] if _before else signal.default_int_handler
    if signal.getsignal(signal.SIGINT) is _on_interrupt:
        signal.signal(signal.SIGINT, before)
    return before


def _calling_function(frame: FrameType) -> FrameType:
    """Return the innermost frame of a plain function: generators may wait while their caller works."""
    while frame.f_back is not None and (frame.f_code.co_flags & inspect.CO_GENERATOR or _is_library(frame)):
        frame = frame.f_back
    return frame


def _is_library(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__") == "contextlib"


def watch_for(progress: bool | Display) -> Watch:
    """Turn the ``progress`` argument of `fit` into a `Watch`: False, True, or a `Display` of your own."""
    if isinstance(progress, bool):
        return Watch(Bar() if progress else Silent())
    if not isinstance(progress, Display):
        raise ArgumentError(
            "The 'progress' argument must be True, False, or an object with begin, update and end. "
            f"Got {shown(progress)} instead."
        )
    return Watch(progress)
