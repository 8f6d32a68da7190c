"""The picture of the explorer in README: a fit of a published table, asked in a real browser.

``python docs/explorer_picture.py`` writes ``docs/images/explorer.svg`` again; it needs Chromium and its driver. The
file is text: an SVG that holds the picture, reduced to a few colours, as base64.
"""

from __future__ import annotations

import base64
import io
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import suffice as sf
from suffice.explore import open_explorer

PLACE = Path(__file__).parent / "images" / "explorer.svg"
WIDTH, HEIGHT, SCALE, COLOURS = 1280, 780, 2, 26
NAME = "titanic.json"
ASKED = "is.sex=female&pin=survived"
ALT = "The explorer: a fit of who survived the Titanic; sex = female is observed, and the other bars have moved"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-sync")
READY = "return document.documentElement.classList.contains('ready') && !document.querySelector('.thinking')"
WHISKERS = "return [...document.querySelectorAll('#graph .whisker')].some((whisker) => whisker.getAttribute('d'))"


def fitted() -> sf.Fit:
    """Fit who survived the Titanic: 2201 people (Dawson, Journal of Statistics Education 3(3), 1995)."""
    counts = np.zeros((4, 2, 2, 2))  # class, sex, age, survived
    counts[:, 0, 0, 0], counts[:, 0, 0, 1] = [5, 11, 13, 0], [0, 0, 35, 0]  # boys
    counts[:, 1, 0, 0], counts[:, 1, 0, 1] = [1, 13, 14, 0], [0, 0, 17, 0]  # girls
    counts[:, 0, 1, 0], counts[:, 0, 1, 1] = [57, 14, 75, 192], [118, 154, 387, 670]  # men
    counts[:, 1, 1, 0], counts[:, 1, 1, 1] = [140, 80, 76, 20], [4, 13, 89, 3]  # women
    states = {"class": ["1st", "2nd", "3rd", "crew"], "sex": ["male", "female"], "age": ["child", "adult"]}
    table = sf.Contingency(counts, {**states, "survived": ["yes", "no"]})
    dag = sf.DAG("class -> sex; class -> age <- sex; class -> survived; sex -> survived; age -> survived")
    return sf.fit(dag, table, prior=sf.BDeu(1))


def pictured(fit: sf.Fit) -> bytes:
    """Open the explorer in a browser and return what it shows, as PNG."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        for flag in (*FLAGS, f"--user-data-dir={home}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(executable_path=str(shutil.which("chromedriver"))))
        try:
            size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": SCALE, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            with open_explorer(fit, name=NAME) as served:
                driver.get(f"{served.url}#{ASKED}")
                wait(driver, READY)
                wait(driver, WHISKERS)
                driver.execute_script("document.querySelector('#card-node .close').click()")
                time.sleep(0.5)  # a frame without the panel
                return base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])
        finally:
            driver.quit()


def wait(driver: Any, script: str) -> None:
    """Wait until a script says so."""
    end = time.monotonic() + 60
    while not driver.execute_script(script):
        if time.monotonic() > end:
            raise RuntimeError(f"The page does not come to: {script}")
        time.sleep(0.05)


def reduced(image: Image.Image) -> Image.Image:
    """Return a picture in its most frequent colours; every other pixel takes the nearest of them."""
    pixels = np.asarray(image)
    colours, place, count = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    kept = colours[np.argsort(-count)[:COLOURS]]
    nearest = ((colours[:, None].astype(int) - kept.astype(int)) ** 2).sum(axis=2).argmin(axis=1)
    few = Image.fromarray(nearest[place.reshape(-1)].reshape(pixels.shape[:2]).astype(np.uint8), "P")
    few.putpalette(kept.ravel().tolist())
    return few


def picture() -> str:
    """Return the picture as SVG."""
    few = reduced(Image.open(io.BytesIO(pictured(fitted()))).convert("RGB"))
    held = io.BytesIO()
    few.save(held, "PNG", optimize=True)
    data = base64.b64encode(held.getvalue()).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" aria-label="{ALT}">\n<title>{ALT}</title>\n'
        f'<image width="{WIDTH}" height="{HEIGHT}" href="data:image/png;base64,{data}"/>\n'
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" fill="none" stroke="#d8dee4"/>\n</svg>\n'
    )


if __name__ == "__main__":
    PLACE.write_text(picture(), encoding="utf-8")
