"""One browser for all tests of pages, and what a page did in it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import without_sanitizers

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip


@dataclass
class Browser:
    """A headless Chromium.

    Attributes
    ----------
    driver : WebDriver
    """

    driver: Any

    def open(self, path: Path, width: int = 1280, height: int = 900) -> None:
        """Open a file in a window of a size, and fail on errors and on requests to anywhere else."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        for log in ("browser", "performance"):
            self.driver.get_log(log)  # which forgets what came before
        self.driver.get(path.as_uri())
        self.wait("return performance.getEntriesByType('navigation')[0]?.loadEventEnd > 0", path)
        assert self.driver.get_log("browser") == []
        assert self.run("return document.documentElement.classList.contains('ready')")
        asked = self.requests()
        assert set(asked) == {path.as_uri()}

    def visit(self, address: str, width: int = 1280, height: int = 900) -> None:
        """Open a page that is served, in a window of a size, and fail on errors."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.get_log("browser")
        self.driver.get(address)
        end = time.monotonic() + 60
        while not self.run("return document.documentElement.classList.contains('ready')"):
            assert time.monotonic() < end, "the page does not open"
            time.sleep(0.02)
        assert self.driver.get_log("browser") == []

    def wait(self, script: str, path: Path, seconds: float = 60.0) -> None:
        """Wait until a page stands and a script in it says so: a driver may come back before a large page is whole."""
        end = time.monotonic() + seconds
        while self.driver.current_url != path.as_uri() or not self.run(script):
            assert time.monotonic() < end, f"{path.name} does not open"
            time.sleep(0.02)

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the page was opened; pictures within the page are none."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [
            event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"
        ]
        return [address for address in asked if not address.startswith("data:image/svg+xml,")]

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        """Return the first element that a selector finds."""
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        """Return all elements that a selector finds."""
        return list(self.driver.find_elements("css selector", selector))

    def text(self, selector: str) -> str:
        """Return the text of an element as the page has it, shown or not."""
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def search(self, words: str) -> list[str]:
        """Type into the search field, and return the names that are found."""
        field = self.find("#search")
        field.clear()
        field.send_keys(words)
        self.run("document.getElementById('search').dispatchEvent(new Event('input'))")
        wait = "const done = arguments[arguments.length - 1]; setTimeout(done, 120);"
        self.driver.execute_async_script(wait)
        return list(self.run("return [...document.querySelectorAll('#entries .name')].map((e) => e.textContent)"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(executable_path=str(shutil.which("chromedriver")), env=without_sanitizers())
    driver = webdriver.Chrome(options=options, service=service)
    driver.get("about:blank")  # the browser's own first page asks for much
    yield Browser(driver)
    driver.quit()
