"""Options of `wordline.run`."""

from __future__ import annotations

import os
from collections.abc import Mapping

import wordline
from wordline._api import trace_input
from wordline._api.trace_input import Traces
from wordline._internal.keywords import Options, keyword_types
from wordline.config import Overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict
    from typing import Unpack as Unpack


class RunOptions(Options):
    """Options of a run:

    streams       traces of concurrent streams, by stream name. A name that is not in the device's
                  [[streams]] is a stream with their defaults
    slowdown      also run each stream alone afterwards, on the same device in the same state, to
                  measure how much the others slow it down. Takes about as long again as all
                  streams together, and prepares the device once per stream
    overrides     values of configuration keys, by key path (`wordline.config.show` lists them)
    seed          seed of every random choice, 0 to 2**64 - 1; None for that of `prepared`, or 1
    requests      keep one row per request (about 210 bytes each) for `Result.requests`
    verify        track every page through mapping and garbage collection; stop at the first stale
                  read
    power_cut_every  cut the power at random, once per this many requests on average. The device
                  recovers; outstanding requests are lost. With `verify`, every page is checked
    buffer        replacement policy of the DRAM buffer, written in Python (`wordline.policy`); it
                  replaces buffer.replacement. A class, or a function of the number of pages. The
                  written configuration does not contain the policy; a comment in it states this
    format        name of the trace format (`trace_formats()`); None to detect it
    columns       meaning of the columns of a table in an unknown format, such as
                  "time=1:us,offset=4:sectors,bytes=5,op=3" (`wordline trace stat --help`)
    on_bad_line   unparsable line: "error", or "skip" to leave it out and count it
    time_order    time stamp earlier than the previous one: "error", "clamp" to the previous one,
                  "sort", or "file" to keep file order and ignore time. A closed loop ignores time
                  stamps in any case
    time_gaps     pauses and clock jumps: "keep" them. "cut=1s" reduces any gap of more than 1 s
                  between time stamps, and any jump back of more than 1 s, to a gap of 1 s.
                  "scale=0.01@1s" reduces the excess over 1 s to a hundredth
    align         offset or size that is not a multiple of 512 bytes: "error", "expand" to whole
                  sectors, or "keep"
    volumes       trace of several volumes: "one" rejects it, "stack" concatenates the volumes,
                  "shared" maps all to the same addresses, a number selects one volume
    fit           request beyond the end of the device: "error", "wrap" around, or "scale" all
                  addresses
    max_requests  stop after this many requests
    prepared      file written by `wordline.prepare`: initial state of the device. It replaces
                  [precondition], which must be the same, as must [ftl], the flash array and the
                  seed
    checkpoint_every  interval at which the run writes its state, such as "60s"; an interrupted run
                  writes it, too. `wordline.resume` continues from there. Excludes a timeline, a
                  policy written in Python and a trace on standard input
    checkpoint    file of that state; None for checkpoint.wls in the folder `out`
    timeline      file for a timeline of flash and hard disks, which Perfetto opens; None for none
    timeline_from, timeline_until
                  simulated time that the timeline covers, such as "10ms" (ps, ns, us, ms, s); the
                  default end is 100 ms after its start
    """

    streams: Mapping[str, Traces] | None = None
    slowdown: bool = False
    overrides: Overrides | None = None
    seed: int | None = None
    requests: bool = True
    verify: bool = False
    power_cut_every: int | None = None
    buffer: wordline.PolicyClass | None = None
    format: str | None = None
    columns: str | None = None
    on_bad_line: trace_input.OnBadLine = "error"
    time_order: trace_input.TimeOrder = "error"
    time_gaps: str = "keep"
    align: trace_input.Align = "error"
    volumes: trace_input.Volumes = "one"
    fit: trace_input.Fit = "error"
    max_requests: int | None = None
    prepared: str | os.PathLike[str] | None = None
    checkpoint_every: str | float | None = None
    checkpoint: str | os.PathLike[str] | None = None
    timeline: str | os.PathLike[str] | None = None
    timeline_from: str = "0"
    timeline_until: str | None = None


if TYPE_CHECKING:

    class RunKeywords(TypedDict, total=False):
        """The options as keywords, which type checkers cannot derive from the class."""

        streams: Mapping[str, Traces] | None
        slowdown: bool
        overrides: Overrides | None
        seed: int | None
        requests: bool
        verify: bool
        power_cut_every: int | None
        buffer: wordline.PolicyClass | None
        format: str | None
        columns: str | None
        on_bad_line: trace_input.OnBadLine
        time_order: trace_input.TimeOrder
        time_gaps: str
        align: trace_input.Align
        volumes: trace_input.Volumes
        fit: trace_input.Fit
        max_requests: int | None
        prepared: str | os.PathLike[str] | None
        checkpoint_every: str | float | None
        checkpoint: str | os.PathLike[str] | None
        timeline: str | os.PathLike[str] | None
        timeline_from: str
        timeline_until: str | None

else:
    __getattr__ = keyword_types(RunOptions, __name__)
