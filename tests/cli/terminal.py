"""Commands on terminals."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import threading
from unittest import mock

from tests.command_line import Finished, invoke

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A pseudo-terminal; `text` is all that was written to it."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self._parts: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self.master, 65536)
            except OSError:  # Linux says EIO when the other side is closed
                return
            if not part:
                return
            self._parts.append(part)

    def close(self) -> str:
        os.close(self.slave)
        self._reader.join()
        os.close(self.master)
        return b"".join(self._parts).decode("utf-8").replace("\r\n", "\n")


def settings_of_a_terminal(columns: int = 200) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return {**kept, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "50"}


def on_terminal(*arguments: str, columns: int = 200) -> Finished:
    """Run a command in this process, with standard output and standard error on a terminal each."""
    out, err = Terminal(), Terminal()
    try:
        with (
            mock.patch.dict(os.environ, settings_of_a_terminal(columns), clear=True),
            open(out.slave, "w", encoding="utf-8", closefd=False) as stdout,
            open(err.slave, "w", encoding="utf-8", closefd=False) as stderr,
            contextlib.redirect_stdout(stdout),
            contextlib.redirect_stderr(stderr),
        ):
            code = invoke(*arguments)
    finally:
        texts = out.close(), err.close()
    return Finished(code, *texts)
