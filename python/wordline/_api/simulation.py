"""Running a simulation.

Annotations name types by the module that has them, which `typing.get_type_hints` loads; a run does
without most of these modules.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar

import wordline
from wordline import _wordline
from wordline._api import spelling, trace_input
from wordline._api.job import observed
from wordline._api.result import Result
from wordline._api.timeline import require_outside, timeline_options
from wordline._api.trace_input import Traces, named, paths, trace_options
from wordline._internal import interruption, output_folder
from wordline._internal.arguments import flag, path, whole
from wordline._internal.claim import claimed
from wordline._wordline import WordlineError
from wordline.config import Device, Overrides, read, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wordline._api.job import Job

decoded: ContextVar[_wordline.Decoded | None] = ContextVar("decoded", default=None)
"""Traces that runs have read and keep; None to keep none. The points of a sweep set it for their
runs, in a process of their own or in a thread of this one."""


class RunError(WordlineError):
    """The run ended before its input did. `result` holds what was simulated, marked partial."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (str(self), self.result)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended the run, or came while its results were written. `result` holds what was
    simulated, marked partial unless that is all."""

    def __init__(self, result: Result) -> None:
        super().__init__("the run was interrupted")
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.result,)


def run(
    device: Device | None,
    trace: Traces | None = None,
    *,
    streams: Mapping[str, Traces] | None = None,
    slowdown: bool = False,
    overrides: Overrides | None = None,
    seed: int | None = None,
    requests: bool = True,
    verify: bool = False,
    power_cut_every: int | None = None,
    buffer: wordline.PolicyClass | None = None,
    format: str | None = None,
    columns: str | None = None,
    on_bad_line: trace_input.OnBadLine = "error",
    time_order: trace_input.TimeOrder = "error",
    time_gaps: str = "keep",
    align: trace_input.Align = "error",
    volumes: trace_input.Volumes = "one",
    fit: trace_input.Fit = "error",
    max_requests: int | None = None,
    progress: bool | Callable[[wordline.Progress], None] = False,
    out: str | os.PathLike[str] | None = None,
    prepared: str | os.PathLike[str] | None = None,
    checkpoint_every: str | float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    timeline: str | os.PathLike[str] | None = None,
    timeline_from: str = "0",
    timeline_until: str | None = None,
) -> Result:
    """Simulates a device under a trace, under the load of its `[workload]` table, or under several
    streams at once.

        r = wordline.run("d4", "disk.csv.gz", overrides={"ftl.over_provisioning_ratio": 0.07})
        r = wordline.run("d4", streams={"db": "a.csv", "log": ["b.csv", "c.csv"]}, slowdown=True)

    device        path of a TOML file, name of a preset, or a mapping of the same shape; None for
                  that of `prepared`
    trace         path, or paths played one after the other; None for generated load
    streams       traces that are played at the same time, by the name of their stream. A name that
                  the device's [[streams]] do not declare is a stream with their defaults
    slowdown      afterwards run every stream alone, one after the other, on the same device in the
                  same state, to see how much the others slow it down; takes about as long again
                  as all streams together, and the preparation of the device once for each
    overrides     values of configuration keys, by key path (`wordline.config.show` lists them)
    seed          of every random choice, 0 to 2**64 - 1; None for that of `prepared`, or 1
    requests      keep a row per request (about 90 bytes each) for `Result.requests`
    verify        follow every page through mapping and collection; stop at the first stale read
    buffer        a policy written in Python (`wordline.policy`) that chooses who leaves the DRAM
                  buffer, in place of buffer.replacement: a class, or a function of the number of
                  pages. The configuration alone does not repeat such a run, and says so
    format        name of the trace's format (`trace_formats()`); None to recognise it
    columns       what the columns of a table of no known format mean, such as
                  "time=1:us,offset=4:sectors,bytes=5,op=3" (`wordline trace stat --help`)
    on_bad_line   "error", or "skip": leave unreadable lines out and count them
    time_gaps     pauses, and clocks that jump: "keep" them, "cut=1s" makes any gap between time
                  stamps of more than 1 s (and any clock that goes back by more) one of 1 s,
                  "scale=0.01@1s" takes a hundredth of what is beyond 1 s
    time_order    a time stamp before its predecessor's: "error", "clamp" to it, or "sort"; a closed
                  loop has no use for time and takes requests as they come, as with "file"
    align         an offset or size that is no multiple of 512: "error", or "expand" to sectors
    volumes       a trace of several volumes: "one" refuses it, "stack" lays them end to end,
                  "shared" gives them the same addresses, a number selects one
    fit           a request beyond the device's end: "error", "wrap" around, or "scale" addresses
    max_requests  end after so many requests
    power_cut_every  let the power fail at random, once in so many requests on average; the device
                  recovers, requests under way are lost, and with `verify` every page is checked
    progress      True for a bar on standard error, or a function that is called with a Progress
    out           folder for the output files; None to write none (see `Result.write`)
    prepared      a file of `wordline.prepare`: the state in which the device begins, in place of
                  its [precondition], which has to be the same, as has the seed
    checkpoint_every  write the state of the run as often as this, such as "60s", and when it is
                  interrupted; `wordline.resume` goes on from there. Not with a timeline, a policy
                  written in Python or a trace on standard input
    checkpoint    the file of that state; None for checkpoint.wls in the folder `out`
    timeline      file for a timeline of what flash and hard disks do, which Perfetto opens; None to
                  write none
    timeline_from, timeline_until
                  the part of simulated time that it shows, such as "10ms" (ps, ns, us, ms, s);
                  without an end, 100 ms

    The GIL is released while the simulation runs, unless a policy written in Python takes part.

    Raises WordlineError or KeyboardInterrupt if nothing was simulated; RunError (a WordlineError)
    if the run ended early and Interrupted (a KeyboardInterrupt) on Ctrl-C if something was, even if
    it was the whole run. These two carry it as `.result`, and with `out` it is on disk.
    """
    given = settings(overrides)
    if device is not None:
        text, name = read(device)
    elif prepared is not None:
        from wordline._api.state import prepared_device

        text, name, of_device = prepared_device(os.fspath(prepared))
        given = of_device + given
    else:
        raise TypeError("device must be given, or prepared")
    options = trace_options(
        format, on_bad_line, time_order, align, volumes, fit, columns, time_gaps
    )
    options |= {
        "decoded": decoded.get(),
        "seed": _seed(seed, prepared),
        "requests": flag("requests", requests),
        "verify": flag("verify", verify),
        "max_requests": None if max_requests is None else whole("max_requests", max_requests, 1),
        "power_cut_every": (
            None
            if power_cut_every is None
            else whole("power_cut_every", power_cut_every, 1, 1 << 40)
        ),
        "slowdown": flag("slowdown", slowdown),
    }
    if buffer is not None:
        from wordline._api.policy import name_of

        options["buffer"] = (name_of(buffer), buffer)
    traces, several = paths(trace), named(streams)
    files = traces + [path for _, stream in several for path in stream]
    options |= timeline_options(timeline, timeline_from, timeline_until, files)
    options["streams"] = several
    if prepared is not None:
        options["prepared"] = path("prepared", prepared)
    place = None if out is None else output_folder.check(out, "run")
    if place is not None:
        require_outside(timeline, place)
    if checkpoint_every is not None:
        from wordline._api.state import checkpoint_options

        options |= checkpoint_options(checkpoint_every, checkpoint, place)
    return finished((text, name, given, traces, options), progress, place)


def _seed(seed: int | None, prepared: str | os.PathLike[str] | None) -> int:
    if seed is not None:
        return whole("seed", seed, 0)
    if prepared is None:
        return 1
    from wordline._api.state import prepared_seed

    try:
        return prepared_seed(os.fspath(prepared))
    except WordlineError:
        return 1  # The run refuses the file, unless it has a reason of its own not to read it.


def resume(
    folder: str | os.PathLike[str],
    *,
    checkpoint_every: str | float | None = None,
    progress: bool | Callable[[wordline.Progress], None] = False,
) -> Result:
    """Goes on with a run that was stopped, from the state that it has written into its folder
    (`wordline.run(..., checkpoint_every="60s", out=folder)`), as if it had not been.

    folder            that of the run; its results appear there, in place of what there is
    checkpoint_every  time between two states; None: as the run was started with
    progress          True for a bar on standard error, or a function that is called with a Progress

    The traces have to be where they were, and hold what they held. Only the version of Wordline
    that wrote the state reads it.

    Raises as `wordline.run` does.
    """
    from wordline._api.state import resumable

    place = output_folder.check(folder, "run")
    job = resumable(place, checkpoint_every)
    return finished(job, progress, place)


def finished(
    job: Job, progress: bool | Callable[[wordline.Progress], None], place: str | None
) -> Result:
    """The result of a run, written into the folder `place` if there is one. Raises as `run`."""
    with claimed(place):
        result, is_late = _simulated(job, progress)
        if place is not None:
            is_late |= _keep(result, place)
    early = _ended_early(result)
    if early is not None:
        raise early
    if is_late:
        raise Interrupted(result)
    return result


def _keep(result: Result, place: str) -> bool:
    """Writes a result, and its report unless Ctrl-C comes before; returns whether it came. It takes
    a second one to lose the result."""
    try:
        write(result, place)
    except KeyboardInterrupt:
        write(result, place)
        return True
    try:
        draw(result, place)
    except KeyboardInterrupt:
        return True
    return False


def _simulated(
    job: Job, progress: bool | Callable[[wordline.Progress], None]
) -> tuple[Result, bool]:
    """The result of a run, whether it came to its end or not, and whether Ctrl-C came after that.
    Raises WordlineError or KeyboardInterrupt if nothing was simulated."""
    text, name, overrides, traces, options = job
    if "checkpoint" not in options:
        return _heard(text, name, overrides, traces, options, progress)
    from wordline._api.state import command_of

    options["command"] = command_of(job)
    with output_folder.made(os.path.dirname(str(options["checkpoint"]))):
        return _heard(text, name, overrides, traces, options, progress)


def _heard(
    text: str,
    name: str,
    overrides: list[tuple[str, str]],
    traces: list[str],
    options: dict[str, Any],
    progress: bool | Callable[[wordline.Progress], None],
) -> tuple[Result, bool]:
    ended: list[_wordline.Outcome] = interruption.ended()
    options = options | {"kept": ended}
    is_late = False
    try:
        outcome = observed(
            progress, lambda heard: _wordline.run(text, name, overrides, traces, options, heard)
        )
    except KeyboardInterrupt:
        if not ended:
            raise
        outcome = ended[-1]
        is_late = not outcome.interrupted
    if outcome.requests == 0:
        _nothing_simulated(outcome)
    return Result(outcome, overrides), is_late


def _ended_early(result: Result) -> RunError | Interrupted | None:
    """What a run that did not come to its end raises."""
    outcome = result._outcome  # pyright: ignore[reportPrivateUsage]
    if outcome.interrupted:
        return Interrupted(result)
    return None if outcome.error is None else RunError(spelling.message(outcome.error), result)


def write(result: Result, place: str | os.PathLike[str], *, numbered: bool = False) -> list[str]:
    """Writes a result into a folder, without its report; the state of a run that was stopped stays
    in it."""
    from wordline._api import result as results

    more: Mapping[str, output_folder.Writer] = {}
    if result._outcome.partial and not numbered:  # pyright: ignore[reportPrivateUsage]
        from wordline._api.state import carried

        more = carried(os.fspath(place))
    return results.write(result, place, numbered=numbered, more=more)


def draw(result: Result, folder: str) -> str:
    """Draws the report of a result that is in a folder; returns its path. Raises WordlineError."""
    from wordline._api import result as results

    try:
        return results.draw(result, folder)
    except WordlineError as fault:
        raise WordlineError(f"{fault}; the results are in {folder}") from None


def _nothing_simulated(outcome: _wordline.Outcome) -> None:
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.error is not None:
        raise WordlineError(spelling.message(outcome.error))
