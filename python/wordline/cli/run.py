"""`wordline run`."""

from __future__ import annotations

import os
import sys

from wordline import interruption
from wordline._wordline import WordlineError
from wordline.cli.exit import DONE, FAILED, fault
from wordline.cli.streams import shows_progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from wordline.result import Result


def simulate(
    device: str,
    trace: Sequence[str] = (),
    streams: Mapping[str, Sequence[str]] | None = None,
    out: str | os.PathLike[str] | None = None,
    no_report: bool = False,
    as_json: bool = False,
    progress: bool | None = None,
    requests: bool = False,
    timeline: str | None = None,
    fio: str | None = None,
    fio_section: str | None = None,
    **options: Any,
) -> int:
    """`wordline run`, its options as click names them; `options` are those of `wordline.run`."""
    from wordline import output_folder, result, simulation
    from wordline.timeline import require_outside

    if fio or fio_section:
        options["overrides"] = _with_jobs(device, options.get("overrides"), fio, fio_section)
        load = [*trace, fio or ""]
    else:
        load = list(trace)
    default = _default_out(device, load, streams or {})
    place = output_folder.check(out or output_folder.unused(default), "run")
    require_outside(timeline, place)
    options |= {
        "streams": streams,
        "progress": shows_progress(progress),
        "requests": requests,
        "timeline": timeline,
    }
    try:
        ended = simulation.run(device, list(trace), **options)
        code, reason = DONE, ""
    except simulation.RunError as early:
        ended, code, reason = early.result, FAILED, str(early)
    except simulation.Interrupted as early:
        ended, code, reason = early.result, interruption.exit_code(), "interrupted"
    try:
        files = result.write(ended, out or default, report=not no_report, numbered=out is None)
    except WordlineError as lost:
        _show(ended, [], as_json=as_json)
        return fault(str(lost), FAILED)
    _show(ended, files, as_json=as_json)
    if timeline and os.path.exists(timeline) and not as_json:
        print(f"Timeline: {timeline}, to be opened at https://ui.perfetto.dev")
    if reason:
        fault(f"{reason}; the requests before that are in {os.path.dirname(files[0])}", code)
    return code


def _with_jobs(
    device: str, overrides: Sequence[tuple[str, str]] | None, file: str | None, section: str | None
) -> list[tuple[str, str]]:
    """The overrides with the streams of a job file."""
    if file is None:
        raise WordlineError("--fio-section: of which file? Name it with --fio")
    from wordline.config import settings
    from wordline.fio import load

    jobs = load(file, device, overrides, section)
    for note in jobs.notes:
        print(f"note: {note}", file=sys.stderr)
    return [*settings(overrides), *settings({"streams": jobs.streams})]


def _default_out(device: str, trace: Sequence[str], streams: Iterable[str]) -> str:
    if trace:
        work = "stdin" if trace[0] == "-" else _name(trace[0]).split(".")[0]
    else:
        work = "-".join(streams)[:100] or "generated"
    return os.path.join("out", f"{_name(device).removesuffix('.toml')}-{work}")


def _name(path: str) -> str:
    """The last part of a path, as pathlib has it."""
    return os.path.basename(path.rstrip(os.sep))


def _show(result: Result, files: list[str], *, as_json: bool) -> None:
    if as_json:
        from wordline.result import summary_text

        print(summary_text(result), flush=True)
        return
    from pathlib import Path

    from wordline.terminal.run import print_summary

    print_summary(result.summary, [Path(file) for file in files])
