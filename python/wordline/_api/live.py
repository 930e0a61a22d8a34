"""Live devices: `wordline.serve`."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from contextlib import ExitStack

from wordline import _wordline
from wordline._api import exporter, spelling
from wordline._api.control import control
from wordline._api.result import Result
from wordline._api.simulation import ended_early
from wordline._internal import interruption, output_folder
from wordline._internal.arguments import path, whole
from wordline._wordline import WordlineError
from wordline.config import Device, Overrides, read, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, Self

    from wordline._api.progress import Progress

CHECK_S = 0.2
"""Maximum time until a signal is noticed."""
CLOCKS = ("simulated", "real")
LARGEST_FACTOR = 1e6
LARGEST_PORT = 65_535


def serve(
    device: Device,
    *,
    socket: str | os.PathLike[str] | None = None,
    tcp: int | None = None,
    data: str | os.PathLike[str] | None = None,
    clock: str = "simulated",
    scale: float = 1.0,
    think_time: float = 0.0,
    record: str | os.PathLike[str] | None = None,
    power_cuts: bool = False,
    metrics: int | str | None = None,
    overrides: Overrides | None = None,
    seed: int = 1,
    prepared: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> LiveDevice:
    """Serves a simulated device to real programs, which connect to it through NBD.

        with wordline.serve("d4") as device:
            subprocess.run(["qemu-io", "-f", "raw", "-c", "write 0 1M", device.uri], check=True)
        device.result.summary["latency"]["write"]["p99_us"]

    device     path of a TOML file, name of a preset, or a mapping with the same structure
    socket     path of the Unix socket; None for one in a temporary folder
    tcp        port of 127.0.0.1 to listen on as well, 0 for a free one; every user of this machine
               can connect to it. None for the Unix socket only
    data       sparse file that keeps the data; None to keep them in memory until the end
    clock      "simulated": simulated time passes only while requests are in progress. "real": it
               follows the wall clock, and replies are held until they are due
    scale      wall-clock seconds per simulated second, for the real clock; at least 1
    think_time simulated seconds that pass per wall-clock second without a request in progress, for
               the simulated clock: 1 charges the pauses of the clients as observed, 0 not at all
    record     trace to write, with all requests and their simulated times of arrival
    power_cuts allow `control("power-cut")`; takes memory for writes that are not durable yet
    metrics    port of 127.0.0.1 where Prometheus can read the metrics of the device, 0 for a free
               one, or "unix:PATH" for a Unix socket; None to export none
    overrides  values of configuration keys, by key path
    seed       seed of every random choice
    prepared   file written by `wordline.prepare`: initial state of the device
    out        folder for the results; None to write none

    The device serves clients within the `with` block. Raises WordlineError if it cannot start.
    """
    text, name = read(device)
    options = live_options(
        socket, tcp, data, clock, scale, think_time, record, power_cuts, seed, prepared
    )
    place = None if out is None else output_folder.check(out, "run")
    where = None if metrics is None else exporter.address(str(metrics))
    return LiveDevice(text, name, settings(overrides), options, place, where)


def live_options(
    socket: str | os.PathLike[str] | None,
    tcp: int | None,
    data: str | os.PathLike[str] | None,
    clock: str,
    scale: float,
    think_time: float,
    record: str | os.PathLike[str] | None,
    power_cuts: bool,
    seed: int,
    prepared: str | os.PathLike[str] | None,
) -> dict[str, Any]:
    """Checks the options of a live device, and returns them for the simulator. Raises TypeError or
    WordlineError."""
    files = {"socket": socket, "data": data, "record": record, "prepared": prepared}
    options: dict[str, Any] = {
        key: path(key, file) for key, file in files.items() if file is not None
    }
    if clock not in CLOCKS:
        raise WordlineError(f"clock: {clock!r} is neither simulated nor real; choose one of them")
    _within("scale", scale, 1)
    _within("think_time", think_time, 0)
    if clock == "real":
        if think_time != 0:
            raise WordlineError(
                "think_time: the real clock includes all pauses of clients; leave think_time out"
            )
        options["scale"] = float(scale)
    elif scale != 1:
        raise WordlineError(
            "scale: only the real clock has a scale; set clock to real, or leave scale out"
        )
    else:
        options["think_time"] = float(think_time)
    if tcp is not None:
        options["tcp"] = _wordline.Loopback(port(tcp))
    return options | {"power_cuts": bool(power_cuts), "seed": whole("seed", seed, 0)}


def _within(name: str, value: float, least: int) -> None:
    """Checks a factor. Raises WordlineError."""
    is_number = isinstance(value, (int, float))  # pyright: ignore[reportUnnecessaryIsInstance]
    if not is_number or not least <= value <= LARGEST_FACTOR:
        raise WordlineError(
            f"{name}: {value!r} is not a number from {least} to {LARGEST_FACTOR:.0e}"
        )


def port(value: int) -> int:
    """Checks a TCP port. Raises TypeError or WordlineError."""
    if whole("tcp", value, 0) > LARGEST_PORT:
        raise WordlineError(f"tcp: {value} is not a port; choose one from 0 to {LARGEST_PORT}")
    return value


class LiveDevice:
    """Simulated device that serves real programs within a `with` block."""

    socket: str
    """Path of the Unix socket."""
    port: int | None
    """TCP port on 127.0.0.1; None without `tcp`."""
    metrics: str | None
    """Address of the exported metrics, in the `with` block; None without `metrics`."""
    result: Result | None
    """Result, after the `with` block; None if no request arrived."""

    def __init__(
        self,
        text: str,
        name: str,
        overrides: list[tuple[str, str]],
        options: dict[str, Any],
        place: str | None,
        metrics: int | str | None,
    ) -> None:
        self._folder = None
        if "socket" not in options:
            self._folder = tempfile.TemporaryDirectory(prefix="wordline-")
            options = options | {"socket": f"{self._folder.name}/nbd.sock"}
        self.socket = options["socket"]
        self.port = options["tcp"].port if "tcp" in options else None
        self.metrics = None
        self.result = None
        self._exported_at = metrics
        self._exports = ExitStack()
        self._job = (text, name, overrides, options)
        self._place = place
        self._stop = _wordline.Stop()
        self._ready = threading.Event()
        # Thread.join loses the thread if a signal interrupts it (bpo-45274).
        self._done = threading.Event()
        self._was_ready = False  # whether clients have been served
        self._outcome: _wordline.Outcome | None = None
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="wordline-serve", daemon=True)

    @property
    def uri(self) -> str:
        """URI of the device, for NBD clients."""
        return uri(self.socket)

    def control(self, request: str, /, **values: float) -> dict[str, Any]:
        """Sends a request to the device (see `wordline.control`)."""
        return control(self.socket, request, **values)

    def _serve(self) -> None:
        def report(progress: Progress) -> None:
            if progress["phase"] == "run":
                self._was_ready = True
                self._ready.set()

        try:
            self._outcome = _wordline.serve(*self._job, self._stop, report)
        except BaseException as fault:  # raised in the thread of the caller
            self._fault = fault
        finally:
            self._done.set()
            self._ready.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until the device has ended; returns False if `seconds` pass first."""
        return _is_set(self._done, seconds)

    def attended(self, attend: Callable[[LiveDevice], None]) -> _wordline.Outcome:
        """Serves the device until a KeyboardInterrupt, and calls `attend` once clients are served.
        A second interrupt, or one before clients are served, stops the device at once."""
        try:
            with interruption.undisturbed():
                self._start()
            _is_set(self._ready)
            if self._was_ready:
                attend(self)
        except KeyboardInterrupt:
            (self._stop.set if self._was_ready else self._stop.abort)()
        except BaseException:
            self._end()
            raise
        try:
            self.wait()
        except KeyboardInterrupt:
            self._stop.abort()
            self.wait()
        self._end()
        assert self._outcome is not None
        if not self._was_ready and self._outcome.interrupted:
            raise KeyboardInterrupt
        return self._outcome

    def _start(self) -> None:
        """Exports the metrics, if they are to be, and starts the device. Raises WordlineError."""
        if self._exported_at is not None:
            shown = exporter.exported(self._exported_at, lambda: self.control("status"))
            self.metrics = self._exports.enter_context(shown)
        self._thread.start()

    def __enter__(self) -> Self:
        try:
            self._start()
            _is_set(self._ready)
        except BaseException:
            self._end()
            raise
        if self._fault is not None:
            self._end()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        outcome = self._outcome
        if outcome is None or outcome.requests == 0:
            return
        self.result = Result(outcome, self._job[2])
        if self._place is not None:
            self.result.write(self._place)
        if outcome.error is not None and error is None:
            raise WordlineError(spelling.message(outcome.error))

    def _end(self) -> None:
        """Stops the device. Raises the exception that stopped it earlier, if any."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._exports.close()
        if self._folder is not None:
            self._folder.cleanup()
        if self._fault is not None:
            raise self._fault


def _is_set(event: threading.Event, seconds: float | None = None) -> bool:
    """Waits until an event is set; returns False if `seconds` pass first. Wakes up regularly,
    because a signal that arrives just before a wait does not end the wait."""
    until = None if seconds is None else time.monotonic() + seconds
    while not event.wait(CHECK_S if until is None else min(CHECK_S, until - time.monotonic())):
        if until is not None and time.monotonic() >= until:
            return False
    return True


def uri(socket: str) -> str:
    """Returns the URI of a device with this Unix socket."""
    from urllib.parse import quote

    return f"nbd+unix:///?socket={quote(socket)}"


def served(
    text: str,
    name: str,
    overrides: list[tuple[str, str]],
    options: dict[str, Any],
    metrics: str | None,
    attend: Callable[[LiveDevice], None],
) -> Result | None:
    """Serves a device until a signal arrives, and its metrics at the address `metrics`.

    Once clients are served, calls `attend`, which must return when the device has ended
    (`LiveDevice.wait`). Returns None if no request arrived. Raises the exceptions of
    `wordline.run`.
    """
    where = None if metrics is None else exporter.address(metrics)
    device = LiveDevice(text, name, overrides, options, None, where)
    ended = interruption.ended()
    outcome = device.attended(attend)
    ended.append(outcome)
    if outcome.requests == 0:
        if outcome.error is not None:
            raise WordlineError(spelling.message(outcome.error))
        return None
    result = Result(outcome, overrides)
    early = ended_early(result)
    if early is not None:
        raise early
    return result
