"""Progress and interruption: the first Ctrl-C ends a loop well, the second one at once."""

from __future__ import annotations

import gc
import signal
import threading

import pytest

from suffice.progress import Bar, Silent, Watch, watch_for


class Recorder:
    """A display that keeps what it is told."""

    def __init__(self):
        self.events = []

    def begin(self, label, total, unit):
        self.events.append(("begin", label, total, unit))

    def update(self, done, info):
        self.events.append(("update", done, info))

    def end(self):
        self.events.append(("end",))


@pytest.fixture(autouse=True)
def handler_is_restored():
    """Every test leaves the interrupt as it found it: as Python has it, even where the shell ignores it."""
    outside = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    after = signal.signal(signal.SIGINT, outside)
    assert after is signal.default_int_handler


def interrupt():
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_steps_count_from_one_to_the_limit(limit):
    assert list(Watch().steps("work", limit)) == list(range(1, limit + 1))


def test_steps_tell_the_display_how_far_they_are():
    recorder = Recorder()
    list(Watch(recorder).steps("halving", 2))
    assert recorder.events == [
        ("begin", "halving", 2, "steps"),
        ("update", 1.0, ""),
        ("update", 2.0, ""),
        ("end",),
    ]


def test_first_interrupt_ends_the_loop_after_the_current_step():
    watch, done = Watch(), []
    for step in watch.steps("work", 10):
        if step == 3:
            interrupt()
        done.append(step)
    assert done == [1, 2, 3]
    assert watch.interrupted


def test_second_interrupt_raises_at_once():
    watch, done = Watch(), []

    def work():
        for step in watch.steps("work", 10):
            interrupt()
            interrupt()
            done.append(step)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == []


def test_without_an_interrupt_nothing_is_marked():
    watch = Watch()
    list(watch.steps("work", 3))
    assert not watch.interrupted


def test_handler_stands_only_while_the_loop_runs():
    before = signal.getsignal(signal.SIGINT)
    seen = [signal.getsignal(signal.SIGINT) for _ in Watch().steps("work", 2)]
    assert all(handler is not before for handler in seen)
    assert signal.getsignal(signal.SIGINT) is before


def test_leaving_the_loop_early_restores_the_handler_and_closes_the_display():
    before, recorder = signal.getsignal(signal.SIGINT), Recorder()
    for _ in Watch(recorder).steps("work", 10):
        break
    assert signal.getsignal(signal.SIGINT) is before
    assert recorder.events[-1] == ("end",)


def test_error_within_the_loop_restores_the_handler_and_closes_the_display():
    before, recorder = signal.getsignal(signal.SIGINT), Recorder()

    def work():
        for _ in Watch(recorder).steps("work", 10):
            raise RuntimeError("broken step")

    with pytest.raises(RuntimeError, match="broken step"):
        work()
    assert signal.getsignal(signal.SIGINT) is before
    assert recorder.events[-1] == ("end",)


def test_interrupt_during_other_work_raises_as_usual():
    watch, recorder = Watch(), Recorder()
    watch.display = recorder

    def work():
        with watch.work("reading", None, "rows"):
            interrupt()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not watch.interrupted
    assert recorder.events[-1] == ("end",)


def failed_loop():
    """Return an error whose traceback still holds the steps that it broke off."""

    def work():
        steps = Watch().steps("work", 10)
        for _ in steps:
            raise RuntimeError("broken step")

    with pytest.raises(RuntimeError) as caught:
        work()
    return caught


def test_interrupt_after_a_failed_loop_raises_although_its_traceback_lives():
    before = signal.getsignal(signal.SIGINT)
    error = failed_loop()
    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert signal.getsignal(signal.SIGINT) is before
    assert error.value.args == ("broken step",)


def test_loops_that_failed_within_others_leave_nothing_behind():
    before, errors = signal.getsignal(signal.SIGINT), []
    for _ in range(3):
        for _ in Watch().steps("outer", 1):
            errors.append(failed_loop())
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_steps_end_with_the_function_that_left_them():
    before, recorder = signal.getsignal(signal.SIGINT), Recorder()

    def search(steps):
        for step in steps:
            if step == 2:
                return step
        return 0

    gc.disable()
    try:
        assert search(Watch(recorder).steps("work", 10)) == 2
        assert recorder.events[-1] == ("end",)
        assert signal.getsignal(signal.SIGINT) is before
    finally:
        gc.enable()


def test_interrupts_are_noticed_in_and_between_all_functions_that_share_the_steps():
    def some(steps, last, at):
        for step in steps:
            if step == at:
                interrupt()
            if step == last:
                return

    def search(watch, at):
        steps = watch.steps("work", 10)
        some(steps, 2, at)
        if at == 2.5:
            interrupt()
        some(steps, 6, at)
        return next(steps, None)

    for at in (1, 2.5, 4, 6):
        watch = Watch()
        assert search(watch, at) is None
        assert watch.interrupted


def test_steps_that_end_late_leave_the_handler_of_others():
    before = signal.getsignal(signal.SIGINT)
    error = failed_loop()
    signal.signal(signal.SIGINT, before)
    for _ in Watch().steps("later work", 1):
        standing = signal.getsignal(signal.SIGINT)
        error.value.__traceback__.tb_next.tb_frame.clear()
        del error
        assert signal.getsignal(signal.SIGINT) is standing
        break
    assert signal.getsignal(signal.SIGINT) is before


def test_interrupt_while_a_generator_waits_within_the_loop_ends_it_well():
    watch, done = Watch(), []

    def points():
        yield from watch.steps("work", 10)

    for point in points():
        if point == 2:
            interrupt()
        done.append(point)
    assert done == [1, 2]
    assert watch.interrupted


def test_steps_run_in_other_threads_without_touching_signals():
    before, result = signal.getsignal(signal.SIGINT), []
    thread = threading.Thread(target=lambda: result.extend(Watch().steps("work", 3)))
    thread.start()
    thread.join()
    assert result == [1, 2, 3]
    assert signal.getsignal(signal.SIGINT) is before


def test_every_piece_of_work_starts_from_zero():
    recorder = Recorder()
    watch = Watch(recorder)
    for _ in range(2):
        with watch.work("reading", 10, "rows"):
            watch.advance(4)
            watch.advance(6, "nearly")
    updates = [event for event in recorder.events if event[0] == "update"]
    assert updates == [("update", 4.0, ""), ("update", 10.0, "nearly")] * 2


@pytest.mark.parametrize("total", [3, None, 0])
@pytest.mark.parametrize("label", ["reading", "CSV file '[b].csv'", "{0}", "日本"])
def test_bar_shows_any_work_without_crashing(label, total, capsys):
    watch = Watch(Bar())
    with watch.work(label, total, "rows"):
        watch.advance(1, "log-likelihood −3.5")
        watch.advance(1e9, "{}")
    assert capsys.readouterr().out == ""


def test_bar_can_be_used_for_several_pieces_of_work():
    watch = Watch(Bar())
    assert [list(watch.steps("work", 2)) for _ in range(2)] == [[1, 2], [1, 2]]


def test_progress_argument_is_false_true_or_a_display():
    recorder = Recorder()
    assert isinstance(watch_for(False).display, Silent)
    assert isinstance(watch_for(True).display, Bar)
    assert watch_for(recorder).display is recorder


def test_silence_is_silent(capsys):
    watch = Watch()
    with watch.work("reading", 2, "rows"):
        watch.advance(1)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
