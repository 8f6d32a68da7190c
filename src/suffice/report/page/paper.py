"""Pages on paper: an HTML page printed to a PDF file by a browser that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from suffice.errors import ArgumentError, FileAccessError

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge",
    "microsoft-edge-stable", "msedge", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)  # fmt: skip
FLAGS = (
    "--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-pdf-header-footer",
)  # fmt: skip
SECONDS = 180.0


def find_browser(path: str) -> str:
    """Return the program that prints, or refuse to write ``path``.

    Raises
    ------
    ArgumentError
        Where neither Chromium nor a relative of it is installed.
    """
    for name in BROWSERS:
        program = shutil.which(name)
        if program is not None:
            return program
    instead = os.path.splitext(path)[0] + ".html"
    raise ArgumentError(
        f"A PDF file is printed by Chromium, Google Chrome or Microsoft Edge, and none of them is installed where "
        f"programs are looked for (PATH). Install one, or write an HTML file, such as {instead!r}, which any browser "
        "prints."
    )


def pdf_of(page: str, browser: str) -> bytes:
    """Print an HTML page.

    Parameters
    ----------
    page : str
    browser : str
        As `find_browser` returns it.

    Raises
    ------
    FileAccessError
        Where the browser fails, or takes longer than three minutes.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_bytes(page.encode("utf-8", "replace"))
        is_root = sys.platform != "win32" and os.geteuid() == 0
        flags = [*FLAGS, *(["--no-sandbox"] if is_root else []), f"--user-data-dir={Path(folder, 'profile')}"]
        try:
            subprocess.run(
                [browser, *flags, f"--print-to-pdf={target}", source.as_uri()],
                check=True, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            reason = f"it took longer than {SECONDS:g} seconds" if isinstance(error, subprocess.TimeoutExpired) else ""
            ended = subprocess.CalledProcessError, subprocess.TimeoutExpired
            lines = (
                ((error.stderr if isinstance(error, ended) else None) or b"")
                .decode("utf-8", "replace")
                .strip()
                .splitlines()
            )
            raise FileAccessError(
                f"{browser!r} did not print the page: {reason or (lines[-1] if lines else error)}. Write an HTML file "
                "instead, and print it from a browser."
            ) from None
