"""Runs of a simulation.

Annotations name types by their modules, so that `typing.get_type_hints` can load them; a run does
not import most of these modules.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar

import wordline
from wordline import _wordline
from wordline._api import run_options, spelling
from wordline._api.job import observed
from wordline._api.result import Result
from wordline._api.run_options import RunOptions
from wordline._api.timeline import require_outside, timeline_options
from wordline._api.trace_input import Traces, named, paths, trace_options
from wordline._internal import interruption, output_folder
from wordline._internal.arguments import flag, path, whole
from wordline._internal.claim import claimed
from wordline._internal.keywords import chosen, takes
from wordline._wordline import WordlineError
from wordline.config import Device, read, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wordline._api.job import Job

decoded: ContextVar[_wordline.Decoded | None] = ContextVar("decoded", default=None)
"""Decoded traces that runs share; None to keep none. A sweep sets it for the runs of its points, in
worker processes or in threads of this process."""


class RunError(WordlineError):
    """Error of a run that ended before its input. `result` holds the results so far, marked
    partial."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (str(self), self.result)


class Interrupted(KeyboardInterrupt):
    """Raised if Ctrl-C ends a run, or arrives while its results are written. `result` holds the
    results so far, marked partial unless the run was complete."""

    def __init__(self, result: Result) -> None:
        super().__init__("the run was interrupted")
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.result,)


@takes(RunOptions)
def run(
    device: Device | None,
    trace: Traces | None = None,
    *,
    options: RunOptions | None = None,
    progress: bool | Callable[[wordline.Progress], None] = False,
    out: str | os.PathLike[str] | None = None,
    **keywords: run_options.Unpack[run_options.RunKeywords],
) -> Result:
    """Simulates a device under a trace, under the load of its `[workload]` table, or under several
    concurrent streams.

        r = wordline.run("d4", "disk.csv.gz", overrides={"ftl.over_provisioning_ratio": 0.07})
        r = wordline.run("d4", streams={"db": "a.csv", "log": ["b.csv", "c.csv"]}, slowdown=True)
        r = wordline.run("d4", "disk.csv.gz", options=wordline.RunOptions(verify=True), seed=7)

    device        path of a TOML file, name of a preset, or a mapping with the same structure; None
                  for the device of `prepared`
    trace         path, or paths to replay one after the other; None for generated load
    options       a `RunOptions`. Each option is also a keyword, which overrides the object
    progress      True for a bar on standard error, or a function that is called with a Progress
    out           folder for the output files; None to write none (see `Result.write`)

    The GIL is released while the simulation runs, unless it uses a policy written in Python.

    Raises WordlineError or KeyboardInterrupt if nothing was simulated. Otherwise raises RunError (a
    WordlineError) if the run ended early, or Interrupted (a KeyboardInterrupt) on Ctrl-C, even if
    the run was complete. Both carry the result as `.result`; with `out` it is also on disk.
    """
    asked = chosen("run", RunOptions, options, keywords)
    text, name, given = _device(device, asked)
    traces, several = paths(trace), named(asked.streams)
    files = traces + [path for _, stream in several for path in stream]
    told = _reading(asked) | _recording(asked) | {"streams": several}
    told |= timeline_options(asked.timeline, asked.timeline_from, asked.timeline_until, files)
    if asked.prepared is not None:
        told["prepared"] = path("prepared", asked.prepared)
    place = None if out is None else output_folder.check(out, "run")
    if place is not None:
        require_outside(asked.timeline, place)
    if asked.checkpoint_every is not None:
        from wordline._api.state import checkpoint_options

        told |= checkpoint_options(asked.checkpoint_every, asked.checkpoint, place)
    return finished((text, name, given, traces, told), progress, place)


def _device(device: Device | None, asked: RunOptions) -> tuple[str, str, list[tuple[str, str]]]:
    """Returns the configuration of a run: text, name, overrides. Raises TypeError or
    WordlineError."""
    given = settings(asked.overrides)
    if device is not None:
        return *read(device), given
    if asked.prepared is None:
        raise TypeError("no device is given; pass `device` or `prepared`")
    from wordline._api.state import prepared_device

    text, name, of_device = prepared_device(os.fspath(asked.prepared))
    return text, name, of_device + given


def _reading(asked: RunOptions) -> dict[str, Any]:
    """Checks and returns the options of the trace reader. Raises TypeError or WordlineError."""
    return trace_options(
        asked.format,
        asked.on_bad_line,
        asked.time_order,
        asked.align,
        asked.volumes,
        asked.fit,
        asked.columns,
        asked.time_gaps,
    ) | {"decoded": decoded.get()}


def _recording(asked: RunOptions) -> dict[str, Any]:
    """Checks and returns the options of the simulation and its records. Raises TypeError or
    WordlineError."""
    requests, cuts = asked.max_requests, asked.power_cut_every
    told: dict[str, Any] = {
        "seed": _seed(asked.seed, asked.prepared),
        "requests": flag("requests", asked.requests),
        "verify": flag("verify", asked.verify),
        "max_requests": None if requests is None else whole("max_requests", requests, 1),
        "power_cut_every": None if cuts is None else whole("power_cut_every", cuts, 1, 1 << 40),
        "slowdown": flag("slowdown", asked.slowdown),
    }
    if asked.buffer is not None:
        from wordline._api.policy import name_of

        told["buffer"] = (name_of(asked.buffer), asked.buffer)
    return told


def _seed(seed: int | None, prepared: str | os.PathLike[str] | None) -> int:
    if seed is not None:
        return whole("seed", seed, 0)
    if prepared is None:
        return 1
    from wordline._api.state import prepared_seed

    try:
        return prepared_seed(os.fspath(prepared))
    except WordlineError:
        return 1  # The run reports why the file is invalid, unless it fails earlier.


def resume(
    folder: str | os.PathLike[str],
    *,
    checkpoint_every: str | float | None = None,
    progress: bool | Callable[[wordline.Progress], None] = False,
) -> Result:
    """Continues a stopped run from the checkpoint in its folder (`wordline.run(...,
    checkpoint_every="60s", out=folder)`). Results equal those of an uninterrupted run.

    folder            folder of the run; its results replace the content
    checkpoint_every  time between checkpoints; None for that of the run
    progress          True for a bar on standard error, or a function that is called with a Progress

    The traces must be at their paths, with unchanged content. Only the build of Wordline that
    wrote the checkpoint can read it.

    Raises the exceptions of `wordline.run`.
    """
    from wordline._api.state import resumable

    place = output_folder.check(folder, "run")
    job = resumable(place, checkpoint_every)
    return finished(job, progress, place)


def finished(
    job: Job, progress: bool | Callable[[wordline.Progress], None], place: str | None
) -> Result:
    """Completes a job and returns its result, also written into the folder `place` if given.
    Raises the exceptions of `run`."""
    with claimed(place):
        result, is_late = _simulated(job, progress)
        if place is not None:
            is_late |= _keep(result, place)
    early = ended_early(result)
    if early is not None:
        raise early
    if is_late:
        raise Interrupted(result)
    return result


def _keep(result: Result, place: str) -> bool:
    """Writes a result and its report. Ctrl-C skips the report, but only a second Ctrl-C abandons
    the result. Returns whether Ctrl-C arrived."""
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
    """Returns the result of a run, complete or not, and whether Ctrl-C arrived after its end.
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


def ended_early(result: Result) -> RunError | Interrupted | None:
    """Returns the exception of a run that ended before its input; None otherwise."""
    outcome = result._outcome  # pyright: ignore[reportPrivateUsage]
    if outcome.interrupted:
        return Interrupted(result)
    return None if outcome.error is None else RunError(spelling.message(outcome.error), result)


def write(result: Result, place: str | os.PathLike[str], *, numbered: bool = False) -> list[str]:
    """Writes a result into a folder, without its report. The checkpoint of a stopped run stays in
    the folder."""
    from wordline._api import result as results

    more: Mapping[str, output_folder.Writer] = {}
    if result._outcome.partial and not numbered:  # pyright: ignore[reportPrivateUsage]
        from wordline._api.state import carried

        more = carried(os.fspath(place))
    return results.write(result, place, numbered=numbered, more=more)


def draw(result: Result, folder: str) -> str:
    """Draws the report of a result in a folder and returns its path. Raises WordlineError."""
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
