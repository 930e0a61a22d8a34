"""The options of `wordline.run`."""

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

    streams       traces that are played at the same time, by the name of their stream. A name that
                  the device's [[streams]] do not declare is a stream with their defaults
    slowdown      afterwards run every stream alone, one after the other, on the same device in the
                  same state, to see how much the others slow it down; takes about as long again
                  as all streams together, and the preparation of the device once for each
    overrides     values of configuration keys, by key path (`wordline.config.show` lists them)
    seed          of every random choice, 0 to 2**64 - 1; None for that of `prepared`, or 1
    requests      keep a row per request (about 90 bytes each) for `Result.requests`
    verify        follow every page through mapping and collection; stop at the first stale read
    power_cut_every  let the power fail at random, once in so many requests on average; the device
                  recovers, requests under way are lost, and with `verify` every page is checked
    buffer        a policy written in Python (`wordline.policy`) that chooses who leaves the DRAM
                  buffer, in place of buffer.replacement: a class, or a function of the number of
                  pages. The configuration alone does not repeat such a run, and says so
    format        name of the trace's format (`trace_formats()`); None to recognise it
    columns       what the columns of a table of no known format mean, such as
                  "time=1:us,offset=4:sectors,bytes=5,op=3" (`wordline trace stat --help`)
    on_bad_line   "error", or "skip": leave unreadable lines out and count them
    time_order    a time stamp before its predecessor's: "error", "clamp" to it, or "sort"; a closed
                  loop has no use for time and takes requests as they come, as with "file"
    time_gaps     pauses, and clocks that jump: "keep" them, "cut=1s" makes any gap between time
                  stamps of more than 1 s (and any clock that goes back by more) one of 1 s,
                  "scale=0.01@1s" takes a hundredth of what is beyond 1 s
    align         an offset or size that is no multiple of 512: "error", or "expand" to sectors
    volumes       a trace of several volumes: "one" refuses it, "stack" lays them end to end,
                  "shared" gives them the same addresses, a number selects one
    fit           a request beyond the device's end: "error", "wrap" around, or "scale" addresses
    max_requests  end after so many requests
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
        """The same as keywords, which type checkers cannot derive."""

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
