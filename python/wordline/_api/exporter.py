"""HTTP server of a live device's metrics, for Prometheus."""

from __future__ import annotations

import http.server
import os
import socket
import socketserver
import stat
import threading
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from wordline._render.prometheus import CONTENT_TYPE, exposition
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

LOOPBACK = "127.0.0.1"
UNIX = "unix:"
PATIENCE_S = 5.0
"""Time that a client may take to send its request."""


class _Answers(http.server.BaseHTTPRequestHandler):
    """Answers GET /metrics."""

    timeout = PATIENCE_S
    status: Callable[[], Mapping[str, Any]]

    def do_GET(self) -> None:
        """Sends the metrics."""
        if self.path.partition("?")[0] not in ("/metrics", "/"):
            self.send_error(HTTPStatus.NOT_FOUND, "the metrics are at /metrics")
            return
        try:
            text = exposition(self.status()).encode()
        except WordlineError as fault:
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, explain=str(fault))
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Listens on a port of this machine, or on a Unix socket that only this user can connect to."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, address: str | tuple[str, int], status: Callable[[], Mapping[str, Any]]):
        if isinstance(address, str):
            self.address_family = socket.AF_UNIX
            self.allow_reuse_address = False
        handler = type("Answers", (_Answers,), {"status": staticmethod(status)})
        super().__init__(address, handler)  # pyright: ignore[reportArgumentType]

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answers a client, whose address is empty on a Unix socket."""
        with suppress(OSError):  # A client that disconnects ends only its own request.
            super().finish_request(request, client_address or ("", 0))


def address(text: str) -> str | int:
    """Returns the port or the path that an option names. Raises WordlineError."""
    if text.startswith(UNIX):
        return text.removeprefix(UNIX)
    if text.isascii() and text.isdigit() and int(text) < 1 << 16:
        return int(text)
    raise WordlineError(
        f"metrics: {text!r} is neither a port from 0 to 65535 nor {UNIX}PATH; name one of them"
    )


@contextmanager
def exported(where: str | int, status: Callable[[], Mapping[str, Any]]) -> Generator[str]:
    """Serves the metrics while the block runs, on a port of 127.0.0.1 or on a Unix socket. Yields
    the address; port 0 chooses a free port. `status` may raise WordlineError. Raises
    WordlineError."""
    server = _bound(where, status)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="metrics", daemon=True)
    thread.start()
    try:
        if isinstance(where, str):
            yield f"{UNIX}{where}"
        else:
            yield f"http://{LOOPBACK}:{server.server_address[1]}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        if isinstance(where, str):
            Path(where).unlink(missing_ok=True)


def _bound(where: str | int, status: Callable[[], Mapping[str, Any]]) -> _Server:
    if isinstance(where, int):
        try:
            return _Server((LOOPBACK, where), status)
        except OSError as fault:
            raise WordlineError(
                f"metrics: port {where} of {LOOPBACK}: {fault.strerror}; choose another port"
            ) from None
    _remove_stale(where)
    former = os.umask(0o177)
    try:
        return _Server(where, status)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise WordlineError(f"metrics: {where}: {reason}; choose another path") from None
    finally:
        os.umask(former)


def _remove_stale(path: str) -> None:
    """Removes a socket on which no server listens."""
    with suppress(OSError):
        if not stat.S_ISSOCK(Path(path).lstat().st_mode):
            return
        with socket.socket(socket.AF_UNIX) as stream:
            try:
                stream.connect(path)
            except ConnectionRefusedError:
                Path(path).unlink()
