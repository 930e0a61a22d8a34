"""The `wordline` command: what it returns, and `wordline run`, which scripts call again and again.

What this module imports is imported at every start; click only if its parser is needed.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress

from wordline import interruption
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from wordline.result import Result

DONE, FAILED, MISUSED = 0, 1, 2
NOTHING_WRITTEN = "interrupted; nothing was written"


def main(args: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code: 0 done, 1 the work failed, 2 the command or
    its input is at fault, 128 and the number of the signal that ended it: 130 Ctrl-C, 143 SIGTERM,
    129 SIGHUP. Faults are one line on standard error.

    Without arguments, those of the process, which is taken to end afterwards. Only then are signals
    listened to."""
    try:
        if args is None:
            interruption.listen()
            _open_streams()
            _in_plain_characters()
        code = _called(args)
        if args is None:
            interruption.leave()
    except KeyboardInterrupt:
        return fault(NOTHING_WRITTEN, interruption.exit_code())
    return code


def _called(args: Sequence[str] | None) -> int:
    from wordline import plain

    given = plain.run_arguments(sys.argv[1:] if args is None else args)
    if given is None:
        from wordline import cli

        return cli.main(args)
    if args is not None:
        return guarded(lambda: _simulated(given))
    # The process ends with the run. What a run makes lasts until its end, where the interpreter
    # would look through all of it.
    gc.disable()
    code = guarded(lambda: _simulated(given))
    gc.freeze()
    return code


def _open_streams() -> None:
    """Lets what is written to a stream that was closed at the start, as `>&-` does, go nowhere;
    `print` would write what is meant for standard error to standard output."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


# What is said in place of a character that an encoding has not.
PLAIN = {
    "–": "-", "—": "-", "×": "x", "µ": "u", "μ": "u", "±": "+-", "…": "...", "≤": "<=", "≥": ">=",
    "→": "->", "·": "*", "°": " deg", "²": "^2", "│": "|", "─": "-", "━": "-", "•": "*", "−": "-",
    "’": "'", "“": '"', "”": '"', " ": " ",
}  # fmt: skip


def _in_plain_characters() -> None:
    """Lets standard output and error say in other characters what their encoding has none for."""
    import codecs

    def plain(fault: UnicodeError) -> tuple[str | bytes, int]:
        if not isinstance(fault, UnicodeEncodeError):
            raise fault
        text = fault.object[fault.start : fault.end]
        return "".join(map(_plain, text)), fault.end

    codecs.register_error("wordline.plain", plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="wordline.plain")


def _plain(character: str) -> str:
    if character in PLAIN:
        return PLAIN[character]
    if "\u2800" <= character <= "\u28ff":  # braille: the spinner
        return "*"
    return ascii(character)[1:-1]


def _simulated(given: dict[str, Any]) -> int:
    try:
        return simulate(**given)
    except KeyboardInterrupt:
        with suppress(OSError):
            print(file=sys.stderr)
        return fault(NOTHING_WRITTEN, interruption.exit_code())


def guarded(work: Callable[[], object]) -> int:
    """Does the work of a command and returns its exit code, which is the work's if that is a
    number. Faults become a line on standard error."""
    try:
        code = work()
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except WordlineError as error:
        return fault(str(error), MISUSED)
    except OSError as error:
        return _unwritable(error)
    except KeyboardInterrupt:
        return fault("interrupted", interruption.exit_code())
    except SystemExit:
        raise
    except BaseException as error:  # a panic of the extension is no Exception
        if os.environ.get("WORDLINE_DEBUG"):
            raise
        return fault(
            f"a fault of Wordline's own ({type(error).__name__}: {error}); "
            "please report it, with what WORDLINE_DEBUG=1 prints for the same command",
            FAILED,
        )


def fault(message: str, code: int) -> int:
    """Says what went wrong; returns the code."""
    with suppress(OSError):  # the terminal may be gone, as after SIGHUP
        print(f"error: {message}", file=sys.stderr)
    return code


def _unwritable(error: OSError) -> int:
    import errno

    # The interpreter flushes standard output again as it ends; it must not fail a second time.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return FAILED
    return fault(f"standard output: {error.strerror or error}; check where it goes", FAILED)


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
    from wordline import outputs, result, simulation
    from wordline.timeline import require_outside

    if fio or fio_section:
        options["overrides"] = _with_jobs(device, options.get("overrides"), fio, fio_section)
        load = [*trace, fio or ""]
    else:
        load = list(trace)
    default = _default_out(device, load, streams or {})
    place = outputs.check(out or outputs.unused(default), "run")
    require_outside(timeline, place)
    options |= {
        "streams": streams,
        "progress": sys.stderr.isatty() if progress is None else progress,
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

    from wordline.terminal import print_summary

    print_summary(result.summary, [Path(file) for file in files])
