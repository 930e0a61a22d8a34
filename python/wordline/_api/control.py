"""Requests to a live device that is being served: `wordline.control`."""

from __future__ import annotations

import json
import os
import socket as sockets
from typing import NamedTuple

from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


class Request(NamedTuple):
    """Help text of a request, and its values in order, each with its parser."""

    help: str
    values: Mapping[str, Callable[[str], Any]]


REQUESTS: dict[str, Request] = {
    "power-cut": Request("Cut the power. Volatile data are lost.", {}),
    "read-error": Request("Make bytes unreadable until rewritten.", {"offset": int, "bytes": int}),
    "read-error-rate": Request("Let this share of reads fail at random.", {"rate": float}),
    "slow-die": Request("Multiply the times of a flash die.", {"die": int, "factor": float}),
    "end-of-life": Request("Make the device read-only.", {}),
    "heal": Request("Undo the read errors and end-of-life.", {}),
    "status": Request("Get the results so far and client counts.", {}),
}
"""All requests, by name."""
PATIENCE_S = 30.0


def control(socket: str | os.PathLike[str], request: str, /, **values: float) -> dict[str, Any]:
    """Sends a request to a live device: for its status, or to inject a fault.

        wordline.control("wordline.sock", "status")["summary"]["flash"]["write_amplification"]
        wordline.control("wordline.sock", "read-error", offset=0, bytes=4096)
        wordline.control("wordline.sock", "power-cut")["requests_lost"]

    socket   path of the Unix socket of the device
    request  name of the request
    values   values of the request, by name

    Returns the result of the request, which is empty for most. Raises WordlineError if the device
    refuses the request, or if no device is served on the socket.
    """
    known = REQUESTS.get(request)
    if known is None:
        raise WordlineError(f"request: {request!r} is unknown; choose one of {', '.join(REQUESTS)}")
    if set(values) != set(known.values):
        needed = ", ".join(known.values) or "no values"
        raise WordlineError(f"{request}: takes {needed}")
    return _response(os.fspath(socket), {"command": request} | values)


def _response(path: str, request: dict[str, Any]) -> dict[str, Any]:
    place = f"{path}.control"
    try:
        with sockets.socket(sockets.AF_UNIX) as stream:
            stream.settimeout(PATIENCE_S)
            stream.connect(place)
            stream.sendall(json.dumps(request).encode() + b"\n")
            with stream.makefile("rb") as answer:
                line = answer.readline()
    except OSError as error:
        reason = error.strerror or str(error)
        raise WordlineError(
            f"{place}: {reason}; name the socket of a device that `wordline serve` serves"
        ) from None
    response: dict[str, Any] = (
        json.loads(line) if line else {"error": "the live device has ended; serve it again"}
    )
    if "error" in response:
        raise WordlineError(f"{request['command']}: {response['error']}")
    return response["result"] or {}
