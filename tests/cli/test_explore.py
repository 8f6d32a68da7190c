"""``suffice explore``: an address, a page, and an end by Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from tests.command_line import COMMAND, bad, good

import suffice as sf


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    data = {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]}
    sf.write(sf.fit(sf.DAG("A -> B"), data, prior=sf.BDeu(1)), "fit.json")
    sf.write(sf.fit(sf.MarkovChain(order=1), ["aabab", "abba"]), "chain.json")
    (tmp_path / "t.csv").write_text("A,B\nx,u\ny,\n")
    return tmp_path


def started(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    environment = {name: value for name, value in os.environ.items() if name != "SSH_CONNECTION"}
    process = subprocess.Popen(
        [*COMMAND, "explore", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def test_it_prints_the_address_and_ends_by_control_c(folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    process, url = started("fit.json", "t.csv", "--no-browser")
    with urlopen(url, timeout=30) as page:
        text = page.read().decode()
    assert '"rows":2' in text
    code, out, err = ended(process)
    assert (code, out, err) == (0, "", "")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(urlsplit(url).port or 0)), timeout=1)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_two_run_side_by_side_and_machines_read_the_address(folder: Path) -> None:
    processes = [started("fit.json", "--no-browser", "--json") for _ in range(2)]
    addresses = [json.loads(line)["address"] for _, line in processes]
    assert len({urlsplit(address).port for address in addresses}) == 2
    for address in addresses:
        with urlopen(address, timeout=30) as page:
            assert page.status == 200
    for process, _ in processes:
        assert ended(process) == (0, "", "")


def test_errors_are_sentences(folder: Path) -> None:
    assert "cannot be explored" in bad("explore", "chain.json", "--no-browser")
    assert "nope.json" in bad("explore", "nope.json", "--no-browser")
    (folder / "u.csv").write_text("C\nx\n")
    assert "no column of evidence" in bad("explore", "fit.json", "u.csv", "--no-browser")
    assert "65535" in bad("explore", "fit.json", "--no-browser", "--port", "99999")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port}" in bad("explore", "fit.json", "--no-browser", "--port", str(port))


def test_help_says_what_it_does() -> None:
    text = good("explore", "--help")
    for words in ("MODEL", "DATA", "--no-browser", "--port", "Ctrl-C"):
        assert words in text
