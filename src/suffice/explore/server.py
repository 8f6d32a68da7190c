"""A server on this machine alone: it gives the page to whoever has its token, and answers that page's questions.

Nothing is written to disk. Every request must name this machine as its host, so that no other name that was made to
point here is served; questions must carry the token in a header, which pages of other origins cannot send.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from suffice.errors import ArgumentError
from suffice.explore.answers import Answering, Check
from suffice.explore.page import page_of
from suffice.explore.question import RequestError, SupersededError, is_whole
from suffice.report.page.page import digest
from suffice.types import JsonObject

HOST = "127.0.0.1"
LARGEST = 1_000_000
"""Bytes of a request."""
SECONDS = 10.0
"""What a request may take to arrive."""
IDLE = 60.0
"""Seconds that a connection may wait for its next request."""
DRAINED = (1.0, 16_000_000)
"""Seconds and bytes for which the rest of a refused request is read."""
ENDING = 10.0
"""Seconds that answers under way may take to end with their server."""
MOST_CONNECTIONS = 64
MOST_PAGES = 64
MOST_KEY = 64
"""Characters of a page's key."""
TOKEN_HEADER = "X-Suffice-Token"
ALWAYS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Headers of every answer."""
NO_CONTENT = "default-src 'none'; frame-ancestors 'none'"
RELOAD = (
    "const token = sessionStorage.getItem('suffice'); sessionStorage.removeItem('suffice');"
    "if (token) location.replace('/?token=' + encodeURIComponent(token) + location.hash);"
)
"""A page that is loaded again has no token in its address, but its tab remembers it, once."""
AGAIN = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>suffice explore</title></head><body><p>This '
    f"address lacks its token. Open the address that was printed.</p><script>{RELOAD}</script></body></html>\n"
)
AGAIN_POLICY = f"default-src 'none'; script-src '{digest(RELOAD)}'; frame-ancestors 'none'"
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')

Request = socket.socket | tuple[bytes, socket.socket]
Address = tuple[str, int]
Endpoint = Callable[[Answering, JsonObject, Check], Any]
ENDPOINTS: dict[str, Endpoint] = {
    "/answer": lambda answering, asked, check: answering.answer(asked.get("question"), check),
    "/insights": lambda answering, asked, check: answering.insights(asked.get("question"), asked.get("target"), check),
    "/intervals": lambda answering, asked, check: answering.intervals(asked.get("question"), check),
    "/neighbourhood": lambda answering, asked, check: answering.neighbourhood(
        asked.get("node"), asked.get("radius", 1)
    ),
    "/entry": lambda answering, asked, check: answering.entry(asked.get("node")),
    "/rows": lambda answering, asked, check: answering.rows(asked.get("start", 0), asked.get("count", 1)),
}
"""What the page may ask, by path."""


class Latest:
    """The newest request of every page and path, so that older ones can be left unanswered.

    A page counts its requests. One is superseded by a newer one to the same path, and by a newer question to
    ``/answer``.

    Examples
    --------
    >>> latest = Latest()
    >>> old, new = latest.begin("page", "/answer", 1), latest.begin("page", "/answer", 2)
    >>> new()
    >>> old()
    Traceback (most recent call last):
    ...
    suffice.explore.question.SupersededError: A newer question has replaced this one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: dict[str, dict[str, int]] = {}

    def begin(self, page: str, path: str, number: int) -> Check:
        """Note a request, and return what raises once it is superseded."""
        with self._lock:
            if page not in self._newest and len(self._newest) >= MOST_PAGES:
                del self._newest[next(iter(self._newest))]
            newest = self._newest.setdefault(page, {})
            newest[path] = max(newest.get(path, number), number)

        def check() -> None:
            if max(newest.get(path, number), newest.get("/answer", number)) > number:
                raise SupersededError

        return check


class Server(ThreadingHTTPServer):
    """The server of one model.

    Parameters
    ----------
    answering : Answering
    port : int
        0 for one that is free.

    Attributes
    ----------
    url : str
        The address of the page, with the token.
    """

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # where it would let others take the port
    request_queue_size = 32

    def __init__(self, answering: Answering, port: int = 0) -> None:
        self.answering, self.latest = answering, Latest()
        self.token = secrets.token_urlsafe(32)
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._open: set[socket.socket] = set()
        self._ended = threading.Event()
        try:
            super().__init__((HOST, port), Handler)
        except (OSError, OverflowError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or error
            raise ArgumentError(
                f"The port {port} cannot be used: {reason}. Leave it out, and a free one is taken."
            ) from None
        self.port = int(self.server_address[1])
        self.hosts = frozenset({f"{HOST}:{self.port}", f"localhost:{self.port}"})
        self.url = f"http://{HOST}:{self.port}/?token={self.token}"
        self._page: str | None = None
        self._page_lock = threading.Lock()

    def start(self) -> None:
        """Begin to serve, in threads of their own, and prepare the first answer meanwhile."""
        name = f"suffice explore {self.port}"
        arguments = (self.require_serving,)
        self._preparing = threading.Thread(target=self.answering.prepare, args=arguments, daemon=True, name=name)
        self._preparing.start()
        threading.Thread(target=self.serve_forever, daemon=True, name=name).start()
        atexit.register(self.end)

    def end(self) -> None:
        """Stop serving, close the port and the connections that browsers keep open, and wait for answers under way.

        A thread that is within the library's C++ while Python ends would abort the whole process.
        """
        atexit.unregister(self.end)
        self._ended.set()
        self.shutdown()
        self.server_close()
        for connection in tuple(self._open):
            with contextlib.suppress(OSError):  # which its own thread has closed meanwhile
                connection.shutdown(socket.SHUT_RDWR)
        end = time.monotonic() + ENDING
        self._preparing.join(ENDING)
        for _ in range(MOST_CONNECTIONS):  # there is room for all once none is left
            if not self._room.acquire(timeout=max(0.0, end - time.monotonic())):
                break

    def require_serving(self) -> None:
        """Raise once the server has ended, so that what is computed in steps ends too."""
        if self._ended.is_set():
            raise RequestError("The server has ended.", 503)

    def page(self) -> str:
        """Return the page, kept once the answer without evidence is in it."""
        with self._page_lock:
            if self._page is not None:
                return self._page
            prior = self.answering.prior()
            page = page_of(self.answering, self.token, prior)
            if prior is not None:
                self._page = page
            return page

    def process_request(self, request: Request, client_address: Address) -> None:
        """Answer in a thread of its own, unless there are too many."""
        assert isinstance(request, socket.socket)  # as those of TCP are
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        self._open.add(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Request, client_address: Address) -> None:
        """Answer, and make room for another."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            assert isinstance(request, socket.socket)
            self._open.discard(request)
            self._room.release()

    def handle_error(self, request: Request, client_address: Address) -> None:
        """Say nothing of connections that end early; of other errors a line, without what was asked."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            print(f"An answer failed: {type(error).__name__}.", file=sys.stderr)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "suffice", ""
    timeout = IDLE
    disable_nagle_algorithm = True

    # Requests -------------------------------------------------------------------------------------------------

    def do_GET(self) -> None:
        """Give the page."""
        self._within(self._get)

    def do_POST(self) -> None:
        """Answer a question."""
        self._within(self._post)

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith("do_"):
            return lambda: self._within(self._other_method)
        raise AttributeError(name)

    def _within(self, call: Callable[[], None]) -> None:
        """Run a request; whatever goes wrong is a sentence, not a traceback."""
        try:
            self._require_host()
            call()
        except RequestError as error:
            self._refuse(error.status, str(error))
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as error:  # the page learns that it failed, and nothing else
            self._refuse(500, f"The answer failed: {type(error).__name__}.")

    def _get(self) -> None:
        address = urlsplit(self.path)
        if address.path != "/":
            raise RequestError("There is nothing at this address.", 404)
        given = parse_qs(address.query, keep_blank_values=True).get("token", [])
        if len(given) != 1 or not _same(given[0], self.server.token):
            self._send(403, AGAIN.encode(), "text/html; charset=utf-8", {"Content-Security-Policy": AGAIN_POLICY})
            return
        if not self._is_followed_link():
            self._require_own_origin()
        page = self.server.page()
        found = POLICY.search(page)
        policy = found[1] if found else "default-src 'none'"
        headers = {"Content-Security-Policy": f"{policy}; frame-ancestors 'none'"}
        self._send(200, page.encode("utf-8", "replace"), "text/html; charset=utf-8", headers)

    def _post(self) -> None:
        self._require_own_origin()
        if self.path not in ENDPOINTS:
            raise RequestError("There is nothing at this address.", 404)
        if not _same(self.headers.get(TOKEN_HEADER, ""), self.server.token):
            raise RequestError("The request lacks the token of this page.", 403)
        if self.headers.get_content_type() != "application/json" or "Content-Type" not in self.headers:
            raise RequestError("Questions are JSON: their content type is application/json.", 415)
        document = _parsed(self._body())
        check = self._check(document)
        answer = ENDPOINTS[self.path](self.server.answering, document, check)
        text = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._send(200, text.encode("utf-8", "replace"), "application/json")

    def _other_method(self) -> None:
        raise RequestError("Pages are got, and questions are posted.", 405)

    def _check(self, document: JsonObject) -> Check:
        """Return what ends the request once its page has asked something newer, or the server has ended."""
        page, number = document.get("page", ""), document.get("number")
        if number is None:
            return self.server.require_serving
        if not is_whole(number) or not isinstance(page, str) or len(page) > MOST_KEY:
            raise RequestError("The number of a request is a whole number, and its page a short text.")
        require_newest = self.server.latest.begin(page, self.path, number)

        def check() -> None:
            self.server.require_serving()
            require_newest()

        check()
        return check

    # What a request must have ---------------------------------------------------------------------------------

    def _require_host(self) -> None:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].strip().lower() not in self.server.hosts:
            raise RequestError("This server answers under its own address alone.", 421)

    def _require_own_origin(self) -> None:
        origins = self.headers.get_all("Origin", [])
        own = {f"http://{host}" for host in self.server.hosts}
        if len(origins) > 1 or any(origin.strip().lower() not in own for origin in origins):
            raise RequestError("Pages of other origins are not answered.", 403)
        if self.headers.get("Sec-Fetch-Site", "none").strip().lower() not in ("none", "same-origin"):
            raise RequestError("Pages of other origins are not answered.", 403)

    def _is_followed_link(self) -> bool:
        """Whether a browser goes to the page, as by a click on its address in a notebook; nobody else can read it."""
        fetched = [self.headers.get(f"Sec-Fetch-{name}", "") for name in ("Mode", "Dest")]
        return fetched == ["navigate", "document"] and "Origin" not in self.headers

    def _body(self) -> bytes:
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or len(lengths) != 1 or not re.fullmatch(r"[0-9]{1,12}", lengths[0]):
            raise RequestError("A question must state its length.", 411)
        length = int(lengths[0])
        if length > LARGEST:
            raise RequestError(f"A question may have {LARGEST:,} bytes at most.", 413)
        end, pieces = time.monotonic() + SECONDS, []
        while length:
            left = end - time.monotonic()
            if left <= 0:
                raise RequestError("The question took too long to arrive.", 408)
            self.connection.settimeout(left)
            try:
                piece = self.rfile.read1(length)
            except TimeoutError:
                raise RequestError("The question took too long to arrive.", 408) from None
            if not piece:
                raise RequestError("The question ended early.")
            pieces.append(piece)
            length -= len(piece)
        self.connection.settimeout(self.timeout)
        return b"".join(pieces)

    # Answers --------------------------------------------------------------------------------------------------

    def _send(self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Security-Policy": NO_CONTENT, **ALWAYS, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refuse(self, status: int, sentence: str) -> None:
        """Answer with a sentence. The connection ends, since some of the request may not have been read."""
        self.close_connection = status != 409
        body = json.dumps({"error": sentence}, ensure_ascii=False).encode("utf-8", "replace")
        headers = {"Allow": "GET, POST"} if status == 405 else None
        try:
            self._send(status, body, "application/json", headers)
            if self.close_connection:
                self._drain()
        except OSError:
            self.close_connection = True

    def _drain(self) -> None:
        """Read what is left of a request that was refused: closing earlier would destroy the answer on its way."""
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_WR)
        end, left = time.monotonic() + DRAINED[0], DRAINED[1]
        while left > 0 and (patience := end - time.monotonic()) > 0:
            self.connection.settimeout(patience)
            piece = self.rfile.read1(min(left, 1 << 16))
            if not piece:
                break
            left -= len(piece)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request of HTTP, for the library's own server."""
        self.command = vars(self).get("command") or ""
        self._refuse(code, HTTPStatus(code).phrase + ".")

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: addresses hold the token."""


def _same(given: str, secret: str) -> bool:
    """Compare with a secret in constant time."""
    return secrets.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _parsed(body: bytes) -> JsonObject:
    """Read a request, which is a JSON object."""
    try:
        document = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise RequestError("The request is not JSON.") from None
    if not isinstance(document, dict):
        raise RequestError("A request is a JSON object.")
    return document


def _refuse_constant(name: str) -> float:
    raise RequestError(f"{name} is not JSON.")
