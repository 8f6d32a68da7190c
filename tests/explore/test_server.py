"""The server answers its own page and refuses everybody else."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.explore.small_models import sprinkler

import suffice as sf
from suffice.explore import Answering, Served, explore
from suffice.explore import server as server_module
from suffice.explore.server import ALWAYS, ENDPOINTS, LARGEST, TOKEN_HEADER

QUESTION = {"question": {"hard": {"0": 1}}}


@pytest.fixture
def served() -> Iterator[Served]:
    with Served(Answering(sprinkler())) as running:
        yield running


def token_of(served: Served) -> str:
    return parse_qs(urlsplit(served.url).query)["token"][0]


class Reply:
    """What came back."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.headers = response.status, response.headers
        self.body = response.read()

    @property
    def document(self) -> Any:
        return json.loads(self.body)


def send(
    served: Served, method: str, path: str, body: bytes | str | None = None, headers: dict[str, str] | None = None
) -> Reply:
    """Send a request whose headers are these alone, besides Host and the length."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    try:
        connection.request(method, path, body, headers or {})
        return Reply(connection.getresponse())
    finally:
        connection.close()


def post(served: Served, path: str, document: Any, **headers: str) -> Reply:
    known = {TOKEN_HEADER: token_of(served), "Content-Type": "application/json"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = document if isinstance(document, bytes) else json.dumps(document)
    return send(served, "POST", path, body, {**known, **named})


def raw(served: Served, text: bytes) -> bytes:
    """Send bytes and read all that comes back."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


# The page -----------------------------------------------------------------------------------------------------


def test_the_page_needs_the_token(served: Served) -> None:
    address = urlsplit(served.url)
    page = send(served, "GET", f"/?{address.query}")
    assert page.status == 200
    assert page.body.startswith(b"<!DOCTYPE html>")
    assert token_of(served) in page.body.decode()
    for path in ("/", "/?token=", "/?token=x", f"/?token=x&{address.query}", f"/?{address.query}x", "/?token=%C3%A9"):
        refused = send(served, "GET", path)
        assert refused.status == 403, path
        assert token_of(served) not in refused.body.decode()


def test_what_refuses_a_page_holds_no_secret_and_sets_no_cookie(served: Served) -> None:
    for path in ("/", "/?token=x"):
        refused = send(served, "GET", path)
        assert refused.status == 403
        assert "Open the address that was printed" in refused.body.decode()
        assert "Set-Cookie" not in refused.headers
        assert "script-src 'sha256-" in refused.headers["Content-Security-Policy"]
    assert "Set-Cookie" not in send(served, "GET", f"/?{urlsplit(served.url).query}").headers


def test_all_answers_have_headers_that_keep_them_here(served: Served) -> None:
    replies = [
        send(served, "GET", f"/?{urlsplit(served.url).query}"),
        send(served, "GET", "/"),
        post(served, "/answer", QUESTION),
        post(served, "/answer", b"{"),
        send(served, "PUT", "/"),
        send(served, "GET", "/nope"),
    ]
    for reply in replies:
        for name, value in ALWAYS.items():
            assert reply.headers[name] == value
        assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
        assert "Python" not in reply.headers["Server"]
        assert "Access-Control-Allow-Origin" not in reply.headers
    policy = replies[0].headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy


def test_a_link_in_another_page_may_be_followed_with_the_token_only(served: Served) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    path = f"/?{urlsplit(served.url).query}"
    assert send(served, "GET", path, headers=link).status == 200
    assert send(served, "GET", "/", headers=link).status == 403
    for other in ({"Sec-Fetch-Mode": "no-cors"}, {"Sec-Fetch-Dest": "iframe"}, {"Origin": "https://example.org"}):
        assert send(served, "GET", path, headers={**link, **other}).status == 403


# Questions ----------------------------------------------------------------------------------------------------


def test_answers_are_those_of_the_model(served: Served) -> None:
    answering = Answering(sprinkler())
    question = {"hard": {"3": 0}}
    assert post(served, "/answer", {"question": question}).document == answering.answer(question)
    asked = {"question": question, "target": {"node": 0, "state": 0}}
    found = post(served, "/insights", asked).document
    expected = json.loads(json.dumps(answering.insights(question, {"node": 0, "state": 0})))
    assert found == expected
    assert post(served, "/intervals", {"question": {}}).document is None
    layout = post(served, "/neighbourhood", {"node": 0, "radius": 1}).document
    assert layout == json.loads(json.dumps(answering.neighbourhood(0, 1)))
    assert post(served, "/entry", {"node": 1}).document == json.loads(json.dumps(answering.entry(1)))
    assert post(served, "/rows", {}).document == {"rows": [], "total": 0, "notes": []}


def test_many_questions_use_one_connection(served: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    headers = {TOKEN_HEADER: token_of(served), "Content-Type": "application/json"}
    connection.connect()
    first = connection.sock
    for _ in range(5):
        connection.request("POST", "/answer", json.dumps(QUESTION), headers)
        assert Reply(connection.getresponse()).status == 200
        assert connection.sock is first
    connection.close()


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("token", [None, "", "x", "é"])
def test_questions_without_the_token_are_refused(served: Served, path: str, token: str | None) -> None:
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers[TOKEN_HEADER] = token
    assert send(served, "POST", path, json.dumps(QUESTION), headers).status == 403


@pytest.mark.parametrize(
    "host", ["example.org", "127.0.0.1", "localhost", "127.0.0.1:1", "example.org:{port}", "", "0.0.0.0:{port}"]
)
def test_other_names_of_this_machine_are_refused(served: Served, host: str) -> None:
    named = host.format(port=served.port)
    path = f"/?{urlsplit(served.url).query}"
    assert send(served, "GET", path, headers={"Host": named}).status == 421
    assert post(served, "/answer", QUESTION, Host=named).status == 421


def test_a_second_host_is_refused(served: Served) -> None:
    text = f"GET /?token={token_of(served)} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nHost: x\r\n\r\n"
    assert b" 421 " in raw(served, text.encode()).split(b"\r\n")[0]
    without = f"GET /?token={token_of(served)} HTTP/1.1\r\n\r\n"
    assert b" 421 " in raw(served, without.encode()).split(b"\r\n")[0]


def test_localhost_is_this_machine(served: Served) -> None:
    assert post(served, "/answer", QUESTION, Host=f"localhost:{served.port}").status == 200


@pytest.mark.parametrize(
    "origin",
    ["https://example.org", "null", "http://127.0.0.1", "http://127.0.0.1:1", "https://127.0.0.1:{port}"],
)
def test_other_origins_are_refused(served: Served, origin: str) -> None:
    assert post(served, "/answer", QUESTION, Origin=origin.format(port=served.port)).status == 403


def test_its_own_origin_is_answered(served: Served) -> None:
    own = {"Origin": f"http://127.0.0.1:{served.port}", "Sec_Fetch_Site": "same-origin"}
    assert post(served, "/answer", QUESTION, **own).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_requests_from_other_sites_are_refused(served: Served, site: str) -> None:
    assert post(served, "/answer", QUESTION, Sec_Fetch_Site=site).status == 403


def test_bodies_over_a_megabyte_are_refused(served: Served) -> None:
    reply = post(served, "/answer", b" " * (LARGEST + 1))
    assert reply.status == 413
    assert "1,000,000 bytes" in reply.document["error"]
    padded = json.dumps(QUESTION).encode()
    assert post(served, "/answer", padded + b" " * (LARGEST - len(padded))).status == 200


def test_bodies_must_state_their_length(served: Served) -> None:
    head = (
        f"POST /answer HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Type: application/json\r\n"
        f"{TOKEN_HEADER}: {token_of(served)}\r\n"
    )
    for extra in ("", "Transfer-Encoding: chunked\r\n", "Content-Length: -1\r\n", "Content-Length: x\r\n",
                  "Content-Length: 2\r\nContent-Length: 3\r\n", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                  "Content-Length: 99999999999999999999\r\n"):  # fmt: skip
        assert b" 411 " in raw(served, f"{head}{extra}\r\n{{}}".encode()).split(b"\r\n")[0], extra
    assert b" 413 " in raw(served, f"{head}Content-Length: 999999999999\r\n\r\n{{}}".encode()).split(b"\r\n")[0]


def test_bodies_that_do_not_come_are_given_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "SECONDS", 0.2)
    head = (
        f"POST /answer HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Type: application/json\r\n"
        f"{TOKEN_HEADER}: {token_of(served)}\r\nContent-Length: 50\r\n\r\n{{"
    )
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(head.encode())
        assert b" 408 " in connection.recv(1000).split(b"\r\n")[0]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "CONNECT", "X"])
def test_other_methods_are_refused(served: Served, method: str) -> None:
    assert send(served, method, f"/?{urlsplit(served.url).query}").status == 405


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_other_kinds_of_content_are_refused(served: Served, kind: str) -> None:
    assert post(served, "/answer", QUESTION, Content_Type=kind).status == 415


def test_a_kind_of_content_must_be_named(served: Served) -> None:
    assert send(served, "POST", "/answer", json.dumps(QUESTION), {TOKEN_HEADER: token_of(served)}).status == 415


@pytest.mark.parametrize("path", ["/nope", "/answer/", "/answer?x=1", "/../answer", "/Answer"])
def test_there_is_nothing_at_other_paths(served: Served, path: str) -> None:
    assert post(served, path, QUESTION).status == 404
    assert send(served, "GET", path).status == 404


MALFORMED = [
    b"", b"{", b"nope", b"[1]", b'"x"', b"\xff", b'{"question": NaN}', b'{"question": {"hard": {"0": 17}}}', b"{}",
    b'{"question": {"soft": {"0": [1e999, 1]}}}', b"[" * 100_000, b'{"question": {}, "number": "1"}',
    b'{"question": {}, "number": 1, "page": 3}', b'{"question": {"values": {"0": 1}}}',
]  # fmt: skip


@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_questions_are_refused_in_a_sentence(
    served: Served, body: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = post(served, "/answer", body)
    assert reply.status == 400
    assert reply.document["error"].endswith(".")
    assert "Traceback" not in reply.body.decode()
    assert post(served, "/answer", QUESTION).status == 200
    assert capfd.readouterr().err == ""


NO_REQUESTS = [
    b"nonsense\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 200 + b"\r\n",
    b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n",
]


@pytest.mark.parametrize("text", NO_REQUESTS, ids=range(len(NO_REQUESTS)))
def test_what_is_no_request_is_refused(served: Served, text: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    reply = raw(served, text)
    assert re.match(rb"(HTTP/1.1 )?(4|5)\d\d|\{", reply)
    assert post(served, "/answer", QUESTION).status == 200
    assert capfd.readouterr().err == ""


def test_failures_are_a_sentence(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("secret")

    monkeypatch.setitem(ENDPOINTS, "/entry", fail)
    reply = post(served, "/entry", {"node": 0})
    assert reply.status == 500
    assert reply.document == {"error": "The answer failed: ZeroDivisionError."}


# Superseded questions -----------------------------------------------------------------------------------------


def test_older_numbers_of_a_page_are_not_answered(served: Served) -> None:
    def asked(path: str, number: int, page: str = "p") -> int:
        return post(served, path, {**QUESTION, "page": page, "number": number}).status

    assert asked("/answer", 5) == 200
    assert asked("/answer", 4) == 409
    assert asked("/insights", 4) == 409
    assert asked("/insights", 6) == 200
    assert asked("/intervals", 7) == 200
    assert asked("/insights", 6) == 200
    assert asked("/answer", 6) == 200
    assert asked("/answer", 1, page="another") == 200


def test_questions_that_wait_are_given_up_for_newer_ones(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert served._server is not None
    answering = served._server.answering
    solve, began, go = answering.solver.solve, threading.Event(), threading.Event()
    solved = []

    def slow(question: Any) -> Any:
        solved.append(question)
        began.set()
        go.wait(10)
        return solve(question)

    monkeypatch.setattr(answering.solver, "solve", slow)
    statuses: dict[int, int] = {}

    def ask(number: int) -> None:
        document = {"question": {"hard": {"0": number % 2, "1": number // 2}}, "page": "p", "number": number}
        statuses[number] = post(served, "/answer", document).status

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    threads[0].start()
    assert began.wait(10)
    for thread in threads[1:]:
        thread.start()
        time.sleep(0.1)
    go.set()
    for thread in threads:
        thread.join(10)
    assert statuses == {0: 200, 1: 409, 2: 409, 3: 200}
    assert len(solved) == 2


def test_the_page_is_given_while_a_question_is_answered(served: Served) -> None:
    assert served._server is not None
    path = f"/?{urlsplit(served.url).query}"
    assert send(served, "GET", path).status == 200
    with served._server.answering._lock:
        assert send(served, "GET", path).status == 200
        assert post(served, "/entry", {"node": 0}).status == 200


# Serving ------------------------------------------------------------------------------------------------------


def test_two_run_side_by_side() -> None:
    with Served(Answering(sprinkler())) as one, Served(Answering(sprinkler())) as other:
        assert one.port != other.port
        assert post(one, "/answer", QUESTION).status == post(other, "/answer", QUESTION).status == 200
        assert post(one, "/answer", QUESTION, **{TOKEN_HEADER: token_of(other)}).status == 403


def test_closing_frees_the_port() -> None:
    with Served(Answering(sprinkler())) as running:
        port = running.port
        assert repr(running) == f"Served({running.url})"
    assert repr(running) == "Served(closed)"
    running.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=1)
    with Served(Answering(sprinkler()), port) as again:
        assert again.port == port


def test_closing_waits_for_answers_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that computes while Python ends would abort the process."""
    begun, ended = threading.Event(), threading.Event()

    def intervals(answering: Answering, document: Any, check: Any) -> None:
        begun.set()
        try:
            while True:
                check()
                time.sleep(0.01)
        finally:
            time.sleep(0.2)
            ended.set()

    monkeypatch.setattr(Answering, "intervals", intervals)
    served = Served(Answering(sprinkler()))
    asking = threading.Thread(target=_ask_in_vain, args=(served,))
    asking.start()
    assert begun.wait(10)
    served.close()
    assert ended.is_set()
    asking.join(10)
    assert not asking.is_alive()


def _ask_in_vain(served: Served) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        post(served, "/intervals", {**QUESTION, "page": "page", "number": 1})


def test_a_port_in_use_is_refused() -> None:
    with Served(Answering(sprinkler())) as running, pytest.raises(sf.ArgumentError, match=f"port {running.port}"):
        Served(Answering(sprinkler()), running.port)


def test_it_listens_on_this_machine_alone(served: Served) -> None:
    assert served._server is not None
    assert served._server.server_address[0] == "127.0.0.1"


def test_connections_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "MOST_CONNECTIONS", 2)
    with Served(Answering(sprinkler())) as running:
        held = [socket.create_connection(("127.0.0.1", running.port), timeout=5) for _ in range(2)]
        time.sleep(0.2)
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            post(running, "/answer", QUESTION)
        for connection in held:
            connection.close()
        time.sleep(0.2)
        assert post(running, "/answer", QUESTION).status == 200


def test_explore_serves_in_the_background_when_told(capsys: pytest.CaptureFixture[str]) -> None:
    found = explore(sprinkler(), browser=False, wait=False)
    assert isinstance(found, Served)
    with found:
        assert capsys.readouterr().out == found.url + "\n"
        assert post(found, "/answer", QUESTION).status == 200
