"""Explorers in scripts, at prompts and in notebooks."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import webbrowser
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import pytest
from tests.explore.small_models import bayesian_fit, field, normal, sprinkler

import suffice as sf
from suffice.explore import Served, Shown, explore
from suffice.explore import served as served_module

SCRIPT = """
import suffice as sf
model = sf.BayesianNetwork(sf.DAG("A -> B"), {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]},
                           schema={"A": ["x", "y"], "B": ["u", "v"]})
if __name__ == "__main__":
    model.explore(browser=False)
    print("after")
"""


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser is on this machine, and nothing is opened in it."""
    monkeypatch.setattr(served_module, "REMOTE", ("SUFFICE_TEST_REMOTE",))
    monkeypatch.setattr(webbrowser, "open", lambda _: True)


def started(*command: str, folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a process that serves, and return the address that it printed."""
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_control_c_ends_a_script_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    process, url = started("-B", "script.py", folder=tmp_path)
    with urlopen(url, timeout=20) as page:
        assert page.status == 200
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out == "after\n"
    assert "Traceback" not in err
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(urlsplit(url).port or 0)), timeout=1)
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_the_browser_is_opened_unless_told_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    with sprinkler().explore(wait=False) as served:
        assert opened == [served.url]
    with sprinkler().explore(wait=False, browser=False):
        assert len(opened) == 1
    monkeypatch.setenv("SUFFICE_TEST_REMOTE", "1")
    with sprinkler().explore(wait=False):
        assert len(opened) == 1


def test_it_runs_in_the_background_at_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with bayesian_fit().explore(browser=False) as served:
        assert isinstance(served, Served)
        assert served.url in served._repr_html_()


@pytest.mark.parametrize("make", [sprinkler, field, normal, bayesian_fit])
def test_fits_and_models_are_explored(make: Any) -> None:
    with make().explore(browser=False, wait=False) as served, urlopen(served.url, timeout=20) as page:
        assert page.status == 200


def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        kernel = object()

    class IPython:
        get_ipython = staticmethod(Shell)

    monkeypatch.setitem(sys.modules, "IPython", IPython)


def test_a_notebook_on_another_machine_shows_the_page_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook(monkeypatch)
    monkeypatch.setenv("SUFFICE_TEST_REMOTE", "1")
    shown = sprinkler().explore()
    assert isinstance(shown, Shown)
    html = shown._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts allow-downloads"' in html
    assert "allow-same-origin" not in html
    inner = html.split('srcdoc="', 1)[1].split('"', 1)[0]
    assert "<" not in inner
    assert unescape(inner).startswith("<!DOCTYPE html>")


def test_a_large_model_in_a_notebook_on_another_machine_is_served(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook(monkeypatch)
    monkeypatch.setenv("SUFFICE_TEST_REMOTE", "1")
    names = [f"x{place}" for place in range(120)]
    with sf.JointNormal(names, np.zeros(120), precision=np.eye(120)).explore() as served:
        assert isinstance(served, Served)
        assert f"ssh -L {served.port}:127.0.0.1:{served.port}" in capsys.readouterr().err


def test_a_notebook_on_this_machine_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook(monkeypatch)
    with sprinkler().explore(browser=False) as served:
        assert isinstance(served, Served)


@pytest.mark.parametrize(
    "name", ["SSH_CONNECTION", "JUPYTERHUB_USER", "COLAB_RELEASE_TAG", "CODESPACES", "BINDER_PORT"]
)
def test_other_machines_are_known_by_their_environment(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.undo()
    for known in [known for known in os.environ if known.startswith(served_module.REMOTE)]:
        monkeypatch.delenv(known)
    assert not served_module.is_remote()
    monkeypatch.setenv(name, "x")
    assert served_module.is_remote()


# Refusals -----------------------------------------------------------------------------------------------------


def test_models_that_cannot_be_asked_are_refused_and_reports_proposed() -> None:
    fit = sf.fit(sf.MarkovChain(order=1), ["aabab", "abba"])
    for thing in (fit, fit.model):
        with pytest.raises(sf.ArgumentError, match=r"cannot be explored.*report"):
            explore(thing)
    with pytest.raises(sf.ArgumentError, match="cannot be explored"):
        fit.explore()


@pytest.mark.parametrize("thing", [None, 3, "model.json", sf.DAG("A -> B")])
def test_what_is_no_model_is_refused(thing: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="a fit or a model"):
        explore(thing)


@pytest.mark.parametrize("port", [-1, 65536, 0.5, float("nan"), float("inf"), "80", None, True])
def test_ports_are_whole_numbers(port: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="'port'"):
        explore(sprinkler(), port=port)
