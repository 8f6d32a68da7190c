"""How far an engine has come: Spark and Dask are asked while they work, and a watch is told."""

from __future__ import annotations

import contextlib
import sys
import threading
import uuid
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from suffice.progress import Silent, Watch

SECONDS = 0.2
"""So often is Spark asked."""
Part = TypeVar("Part")
Found = TypeVar("Found")


@contextlib.contextmanager
def tasks_of_spark(context: Any, n_tasks: int, watch: Watch) -> Iterator[None]:
    """Tell how many tasks of the stage that reads the data are done, for as long as the block runs."""
    if isinstance(watch.display, Silent):
        yield
        return
    tracker, ended, told = context.statusTracker(), threading.Event(), 0

    def ask() -> None:
        nonlocal told
        while not ended.wait(SECONDS):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            done = max((stage.numCompletedTasks for stage in stages if stage and stage.numTasks == n_tasks), default=0)
            if done > told:
                watch.advance(done - told)
                told = done

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    try:
        yield
    finally:
        ended.set()
        asking.join()
    watch.advance(n_tasks - told)


@dataclass(frozen=True)
class Telling(Generic[Part, Found]):
    """Work whose end is told to whoever listens, by a worker of Dask's."""

    work: Callable[[Part], Found]
    topic: str

    def __call__(self, piece: Part) -> Found:
        """Work on a piece, and tell."""
        from distributed import get_worker

        found = self.work(piece)
        get_worker().log_event(self.topic, 1)
        return found


def client_of_dask() -> Any:
    """Return the client that Dask will work on, if there is one; else its threads do the work."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


@contextlib.contextmanager
def listening(
    client: Any, work: Callable[[Part], Found], n_parts: int, watch: Watch
) -> Iterator[Callable[[Part], Found]]:
    """Yield work that tells of every part it has done, and tell the watch; a part that is done again is told once."""
    if isinstance(watch.display, Silent) or client is None:
        yield work
        return
    topic, told = f"suffice-{uuid.uuid4().hex}", 0

    def heard(event: tuple[float, int]) -> None:
        nonlocal told
        if told < n_parts:
            told += 1
            watch.advance(1)

    client.subscribe_topic(topic, heard)
    try:
        yield Telling(work, topic)
    finally:
        client.unsubscribe_topic(topic)


@contextlib.contextmanager
def watching(keys: Collection[str], watch: Watch) -> Iterator[None]:
    """Tell of every part that Dask's threads have done, for as long as the block runs."""
    from dask.callbacks import Callback

    wanted = frozenset(keys)

    def done(key: str, *_: object) -> None:
        if key in wanted:
            watch.advance(1)

    listener: Any = Callback
    with listener(posttask=done):
        yield
