"""What mypy and basedpyright, both strict, say about code that uses the library."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from tests.from_readme import BLOCK

import suffice as sf

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGES = {"readme.py": ROOT / "README.md", "quick_start.py": ROOT / "docs" / "quick_start.md"}
TYPING = """\
import suffice as sf
fit = sf.fit(sf.DAG("A -> B"), {"A": ["x"], "B": ["y"]})
fit.model.
"""
SECONDS = 300

Complaints = dict[str, dict[int, list[str]]]
"""What a checker says, by file and by line, the first being 1."""

pytestmark = pytest.mark.slow


def python_of(page: Path) -> str:
    """Return what a page types at the prompt, without what Python answers."""
    text = "\n".join(body for language, body in BLOCK.findall(page.read_text(encoding="utf-8")) if language == "python")
    return "".join(example.source for example in doctest.DocTestParser().get_examples(text))


def write_config(folder: Path) -> None:
    """Let basedpyright be strict in a folder; only values that a prompt shows may stand alone."""
    config = {
        "include": ["*.py"],
        "extraPaths": [str(Path(sf.__file__).resolve().parents[1])],
        "typeCheckingMode": "strict",
        "reportUnusedExpression": False,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")


def run(folder: Path, *arguments: str | Path) -> str:
    command = [sys.executable, "-m", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout


def add(complaints: Complaints, file: str, line: int, message: str) -> None:
    complaints.setdefault(Path(file).name, {}).setdefault(line, []).append(message)


def ask_mypy(folder: Path) -> Complaints:
    complaints: Complaints = {}
    for line in run(ROOT, "mypy", "--strict", "--no-pretty", *sorted(folder.glob("*.py"))).splitlines():
        found = re.match(r"(.+?):(\d+): error: (.*)", line)
        if found is not None:
            add(complaints, found[1], int(found[2]), found[3])
        else:
            assert ": note: " in line or line.startswith(("Found ", "Success: ")), line
    return complaints


def ask_basedpyright(folder: Path) -> Complaints:
    complaints: Complaints = {}
    answer = json.loads(run(folder, "basedpyright", "--pythonpath", sys.executable, "--outputjson"))
    assert answer["summary"]["filesAnalyzed"] == len(list(folder.glob("*.py")))
    for one in answer["generalDiagnostics"]:
        if one["severity"] != "information":
            add(complaints, one["file"], one["range"]["start"]["line"] + 1, one["message"])
    return complaints


@pytest.fixture(scope="module", params=[ask_mypy, ask_basedpyright], ids=["mypy", "basedpyright"])
def complaints(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Complaints:
    folder = tmp_path_factory.mktemp("typed")
    write_config(folder)
    for name in ("examples.py", "mistakes.py"):
        (folder / name).write_text((HERE / name).read_text(encoding="utf-8"), encoding="utf-8")
    for name, page in PAGES.items():
        code = python_of(page)
        assert "sf.fit(" in code
        (folder / name).write_text(code, encoding="utf-8")
    found: Complaints = request.param(folder)
    return found


def test_types_of_fits_and_models_are_known(complaints: Complaints) -> None:
    assert complaints.get("examples.py", {}) == {}


def test_mistakes_are_flagged_and_nothing_else(complaints: Complaints) -> None:
    lines = (HERE / "mistakes.py").read_text(encoding="utf-8").splitlines()
    flagged = {number for number, line in enumerate(lines, 1) if line.endswith("# flagged")}
    assert len(flagged) == 12
    assert set(complaints["mistakes.py"]) == flagged, complaints["mistakes.py"]


@pytest.mark.parametrize("name", PAGES)
def test_code_that_users_read_first_has_no_complaints(complaints: Complaints, name: str) -> None:
    assert complaints.get(name, {}) == {}


# Completions --------------------------------------------------------------------------------------------------


class LanguageServer:
    """basedpyright's language server, spoken to in JSON-RPC."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.asked = 0

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while header := self.process.stdout.readline().strip():
            name, _, value = header.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the language server has ended"
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def ask(self, method: str, params: Any) -> Any:
        """Send a request and return its result; what the server itself asks on the way gets an empty answer."""
        self.asked += 1
        self.send(id=self.asked, method=method, params=params)
        while True:
            message = self.receive()
            if "method" in message:
                if "id" in message:
                    items = message.get("params", {}).get("items")
                    self.send(id=message["id"], result=None if items is None else [None] * len(items))
            elif message.get("id") == self.asked:
                assert "error" not in message, message
                return message["result"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LanguageServer]:
    write_config(tmp_path)
    command = [sys.executable, "-c", "from basedpyright.langserver import main; main()", "--stdio"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        timer = Timer(SECONDS, process.kill)
        timer.start()
        try:
            yield LanguageServer(process)
        finally:
            timer.cancel()
            process.kill()


def test_an_editor_offers_what_a_model_can_do(server: LanguageServer, tmp_path: Path) -> None:
    file = {"uri": (tmp_path / "session.py").as_uri()}
    folder = {"uri": tmp_path.as_uri(), "name": "session"}
    server.ask(
        "initialize",
        {"processId": None, "rootUri": folder["uri"], "workspaceFolders": [folder], "capabilities": {}},
    )
    server.send(method="initialized", params={})
    document = {**file, "languageId": "python", "version": 1, "text": TYPING}
    server.send(method="textDocument/didOpen", params={"textDocument": document})
    place = {"line": 2, "character": len("fit.model.")}
    answer = server.ask("textDocument/completion", {"textDocument": file, "position": place})
    offered = {item["label"] for item in (answer["items"] if isinstance(answer, dict) else answer)}
    assert {"cpd", "query", "sample"} <= offered
    assert "u_terms" not in offered
    server.ask("shutdown", None)
    server.send(method="exit")
