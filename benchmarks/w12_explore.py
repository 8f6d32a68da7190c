"""W12: the explorer: from a click on a bar to the frame that shows the new posteriors, by the browser's own clock.

A headless Chromium clicks states at random, a variable being pinned, so that what takes longer than posteriors (what to
observe next, the sensitivity) is asked for after every click, too, and the next click comes while it is computed or
after. Time runs from the browser's time stamp of the released button until two frames have begun since the page showed
the answer: by the second, the first was painted. Whether the page can be used meanwhile is told by the longest time
between two frames while the answer was awaited.
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common import Context, Entry, Outcome, race, row_of

TITLE = "W12: the explorer, from a click to the frame that shows all new posteriors"
SEED, CLICKS, MOST_FINDINGS = 28, 50, 4
PAUSES = (0.1, 1.5)
"""Seconds between an answer and the next click, the least and the most."""
WINDOW = (1440, 1000)
ENTRIES = (
    Entry("ALARM in its report", "report", "ours", {"network": "alarm", "target": "LVFAILURE", "wanted": 0.1}),
    Entry("ALARM, served", "served", "ours", {"network": "alarm", "target": "LVFAILURE", "wanted": 0.15}),
    Entry("MUNIN, served", "served", "ours", {"network": "munin", "target": "R_APB_MALOSS", "wanted": 1.0}),
    Entry("MUNIN1, served", "served", "ours", {"network": "munin1", "target": "R_APB_MALOSS", "wanted": 3.0}),
)
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip

WATCH = """
const host = document.getElementById("explorer");
window.clicks = [];
document.addEventListener("pointerup", (event) => {
  const before = host.dataset.asked;
  let [last, longest, left] = [event.timeStamp, 0, 2];
  const frame = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    const isShown = host.dataset.asked !== before && host.dataset.asked === host.dataset.answered;
    if (isShown) left -= 1;
    if (left) requestAnimationFrame(frame);
    else {
      const shown = document.querySelectorAll("#graph .node").length;
      const isRefused = !document.querySelector(".message").hidden;
      window.clicks.push({ time: now - event.timeStamp, longest, shown, isRefused });
    }
  };
  requestAnimationFrame(frame);
}, true);
"""
STATES = """
const within = document.getElementById("graph").getBoundingClientRect();
return [...document.querySelectorAll("#graph .node .state .label")].map((label) => {
  const box = label.getBoundingClientRect();
  const [x, y] = [box.left + Math.min(box.width, 30) / 2, box.top + box.height / 2];
  const row = document.elementFromPoint(x, y)?.closest(".state");
  return row && row.contains(label) && y > within.top + 5 && y < within.bottom - 5 ? [x, y] : null;
}).filter(Boolean);
"""
RESET = "[...document.querySelectorAll('.tools button')].find((button) => button.textContent === 'Reset').click()"
N_NODES = "return JSON.parse(document.getElementById('content').textContent).graph.n"
SETTLED = "const page = document.getElementById('explorer').dataset; return page.asked === page.answered"


# In the process that measures ---------------------------------------------------------------------------------


class InReport:
    """An explorer that answers inside a report."""

    @contextmanager
    def address(self, network: Path, folder: Path) -> Iterator[str]:
        """Write the report of a fit to rows of a network."""
        import suffice as sf

        model = sf.read(network)
        path = folder / "report.html"
        sf.fit(model.dag, model.sample(2000, seed=SEED), prior=sf.BDeu(10), schema=model.schema).report(path)
        yield path.as_uri()


class Served:
    """An explorer that is served by a process of its own."""

    @contextmanager
    def address(self, network: Path, folder: Path) -> Iterator[str]:
        """Serve a network, as the command line does."""
        command = [sys.executable, "-c", "from suffice.cli import main; main()"]
        command += ["explore", str(network), "--no-browser", "--json"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["address"]
        finally:
            server.terminate()
            server.wait()


def measured(way: InReport | Served, request: Mapping[str, Any]) -> dict[str, Any]:
    """Click, and return what the page's clock said."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, browser(Path(home)) as driver:
        folder, network = Path(home), Path(request["networks"]) / f"{request['network']}.bif.gz"
        with way.address(network, folder) as address:
            driver.get(f"{address}#pin={request['target']}")
            wait(driver, "return document.documentElement.classList.contains('ready')", 120)
            driver.execute_script(WATCH)
            found = clicks(driver, request["clicks"])
            return {
                "clicks": found,
                "n_nodes": driver.execute_script(N_NODES),
                "browser": driver.capabilities["browserVersion"],
            }


def clicks(driver: Any, count: int) -> list[dict[str, Any]]:
    """Click states that are in view until so many findings were answered."""
    rng = random.Random(SEED)
    answered: list[dict[str, Any]] = []
    n_findings = n_seen = 0
    while len(answered) < count:
        time.sleep(rng.uniform(*PAUSES))
        if n_findings == MOST_FINDINGS:
            driver.execute_script(RESET)
            wait(driver, SETTLED, 60)
            n_findings = 0
            continue
        x, y = rng.choice(driver.execute_script(STATES))
        where = {"x": x, "y": y, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, **where})
        n_seen += 1
        wait(driver, f"return clicks.length === {n_seen}", 60)
        found = driver.execute_script("return clicks.at(-1)")
        if not found["isRefused"]:
            answered.append(found)
            n_findings += 1
        else:
            driver.execute_script("document.querySelector('.message .close').click()")
    return answered


@contextmanager
def browser(home: Path) -> Iterator[Any]:
    """Start a headless Chromium."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*FLAGS, f"--user-data-dir={home / 'profile'}", "--window-size={},{}".format(*WINDOW)):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(executable_path=str(shutil.which("chromedriver"))))
    try:
        yield driver
    finally:
        driver.quit()


def wait(driver: Any, script: str, seconds: float) -> None:
    """Wait until a script says so, seldom asking: asking takes the page's time, too."""
    end = time.monotonic() + seconds
    while not driver.execute_script(script):
        if time.monotonic() > end:
            raise RuntimeError(f"The page does not come to: {script}")
        time.sleep(0.05)


# In the driver ------------------------------------------------------------------------------------------------


def run(context: Context) -> str:
    """Measure all pages, and return a section in Markdown."""
    request = {"networks": str(context.data / "networks_bif"), "clicks": 5 if context.quick else CLICKS}
    outcomes = race(context, "w12_explore.py", ENTRIES, request)
    head = (
        "",
        "median",
        "9 of 10 within",
        "longest",
        "wanted",
        "longest time between frames, median",
        "posteriors shown",
    )
    lines = [row_of(head), row_of(["---"] * len(head)), *map(line, outcomes)]
    versions = {outcome.measured["browser"] for outcome in outcomes if outcome.measured}
    about = (
        f"{request['clicks']} clicks each, headless Chromium {' or '.join(sorted(versions))} without a GPU on the same "
        "cores as the server. Frames are 16.7 ms apart where nothing hinders them. Of MUNIN and MUNIN1 the "
        "neighbourhood of one variable is in view, and all posteriors are computed and sent."
    )
    return "\n\n".join([about, "\n".join(lines)])


def line(outcome: Outcome) -> str:
    """Return what came of one page as a row."""
    found = outcome.measured
    if found is None:
        return row_of([outcome.entry.title, *["–"] * 5, outcome.trouble])
    times = sorted(click["time"] for click in found["clicks"])
    gaps = [click["longest"] for click in found["clicks"]]
    middle, most = statistics.median(times), times[int(0.9 * (len(times) - 1))]
    wanted = 1000 * outcome.entry.options["wanted"]
    shown = f"{found['clicks'][0]['shown']} of {found['n_nodes']}"
    held = "held" if middle <= wanted else "MISSED"
    cells = [milliseconds(middle), milliseconds(most), milliseconds(times[-1])]
    return row_of(
        [outcome.entry.title, *cells, f"{wanted:.0f} ms, {held}", milliseconds(statistics.median(gaps)), shown]
    )


def milliseconds(value: float) -> str:
    """Show a time of the browser's clock."""
    return f"{value:.0f} ms"


WAYS = {"report": InReport(), "served": Served()}


if __name__ == "__main__":
    name, request_path, result_path = sys.argv[1:]
    Path(result_path).write_text(json.dumps(measured(WAYS[name], json.loads(Path(request_path).read_text()))))
