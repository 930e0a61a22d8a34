"""`wordline serve` and `wordline control`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordline._api import options
from wordline._api.control import REQUESTS, control
from wordline._wordline import WordlineError
from wordline.cli.command import Function, command, device_argument
from wordline.cli.exit import DONE
from wordline.cli.run import ended
from wordline.cli.streams import note, shows_progress

if TYPE_CHECKING:
    from wordline._api.live import LiveDevice

RENEWAL_S = 1.0
"""Time between two updates of the page."""


@command(options.SERVE, writes="run")
@device_argument()
def serve(
    device: str,
    overrides: list[tuple[str, str]],
    socket: Path,
    tcp: int | None,
    data: Path | None,
    clock: str,
    scale: float,
    think_time: float,
    record: Path | None,
    power_cuts: bool,
    metrics: str | None,
    page: bool | None,
    seed: int,
    prepared: Path | None,
    out: Path | None,
    no_report: bool,
    as_json: bool,
) -> int:
    """Serve a simulated device to real programs.

    Programs such as fio, QEMU, nbdfuse and nbd-client connect to a Unix socket, or with --tcp to a
    port of this machine, over the NBD protocol. The data are real; the simulated device determines
    the latency of each request.

    Ctrl-C or SIGTERM ends the device: it completes the requests that have arrived, and the results
    are written. A second Ctrl-C ends it at once. On a terminal, a page shows the current load.

    \b
    Examples:
      wordline serve d4
      wordline serve mine.toml --socket /tmp/disk.sock --data disk.img
      wordline serve d4 --clock real --scale 10
      wordline serve d4 --tcp 0                        nbd://127.0.0.1:PORT
      wordline serve d4 --metrics 9101                 for Prometheus
      wordline serve d4 --record asked.csv.gz
      wordline run d4 --trace asked.csv.gz             the same digest
      qemu-io -f raw -c 'write 0 1M' 'nbd+unix:///?socket=wordline.sock'

    The folder contains {files}.

    Exit code: 0 done, 1 stopped by an error, 2 invalid command or input, 130 Ctrl-C or 143 SIGTERM
    before the device was ready, or a second time.
    """
    from wordline._api import live
    from wordline._internal import output_folder
    from wordline._internal.claim import claimed
    from wordline.config import read

    text, name = read(device)
    live_options = live.live_options(
        socket, tcp, data, clock, scale, think_time, record, power_cuts, seed, prepared
    )
    default = os.fspath(Path("out", f"{Path(device).name.removesuffix('.toml')}-live"))
    place = output_folder.check(out or output_folder.unused(default), "run")

    def attend(served: LiveDevice) -> None:
        if served.metrics is not None:
            note(f"metrics: {served.metrics}")
        loopback = f" and nbd://127.0.0.1:{served.port}" if tcp is not None else ""
        note(f"{device} is ready at {served.uri}{loopback}; Ctrl-C ends it")
        if shows_progress(page):
            _show(served)
        else:
            served.wait()

    def run() -> Any:
        result = live.served(text, name, overrides, live_options, metrics, attend)
        if result is None:
            raise NoRequestError
        return result

    with claimed(None if out is None else place):
        try:
            return ended(
                run,
                out or default,
                numbered=out is None,
                no_report=no_report,
                as_json=as_json,
            )
        except NoRequestError:
            note("no request arrived, so there are no results")
            return DONE


def _show(device: LiveDevice) -> None:
    """Shows the page of a device until it ends."""
    from wordline._render.terminal.live import LivePage

    with LivePage() as page:
        while True:
            try:
                page.show(device.control("status"))
            except WordlineError:  # The device is about to end.
                device.wait()
                return
            if device.wait(RENEWAL_S):
                return


class NoRequestError(Exception):
    """No client sent a request."""


def _with_requests(function: Function) -> Function:
    """Puts the requests into the help of a command."""
    named = {
        " ".join([name, *(value.upper() for value in request.values)]): request.help
        for name, request in REQUESTS.items()
    }
    width = max(map(len, named))
    listed = "\n".join(f"      {name:{width}}  {text}" for name, text in named.items())
    function.__doc__ = (function.__doc__ or "").replace("{requests}", listed.strip())
    return function


@command(options.CONTROL, name="control")
@click.argument("socket", type=click.Path(path_type=Path))
@click.argument("request", type=click.Choice(list(REQUESTS)), metavar="REQUEST")
@click.argument("values", nargs=-1)
@_with_requests
def control_command(socket: Path, request: str, values: tuple[str, ...], as_json: bool) -> None:
    """Query a live device, or inject a fault.

    SOCKET is the socket of `wordline serve`. After a power cut, clients can connect again as soon
    as the command ends.

    \b
    Requests:
      {requests}

    \b
    Examples:
      wordline serve d4 --power-cuts
      wordline control wordline.sock status --json
      wordline control wordline.sock read-error 1048576 4096
      wordline control wordline.sock power-cut
    """
    names = REQUESTS[request].values
    if len(values) != len(names):
        needed = " ".join(name.upper() for name in names) or "no values"
        raise click.UsageError(f"{request} takes {needed}")
    read: dict[str, Any] = {}
    for (name, parse), text in zip(names.items(), values, strict=True):
        try:
            read[name] = parse(text)
        except ValueError:
            raise click.UsageError(
                f"{request}: {name.upper()} is {text!r}, which is not a number"
            ) from None
    result = control(socket, request, **read)
    if as_json:
        click.echo(json.dumps(result))
        return
    if request == "status":
        from wordline._render.terminal.live import print_status

        print_status(result)
        return
    for name, value in result.items():
        click.echo(f"{name.replace('_', ' ')}: {value:,}")
