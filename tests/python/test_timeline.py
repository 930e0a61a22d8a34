"""The timeline of a run, read in two ways: by Perfetto's trace processor, and through Perfetto's
protobuf classes with the nesting rules below."""

import json
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Self

import polars as pl
import pytest
from conftest import Command, environment
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto
from trace_processor import Query, opened

import wordline as package
from wordline import WordlineError
from wordline._api.timeline import picoseconds

DEPTH = 16
BUSY = f"""
[host]
queue_depth = {DEPTH}
[precondition]
fill_ratio = 1.0
[workload]
requests = 4000
read_ratio = 0.5
arrival.closed-loop.queue_depth = {DEPTH}
"""
STORE = f"""
schema = 1
name = "store"
[cache]
mode = "write-back"
[disk]
base = "atlas-10k-iv"
capacity_bytes = {64 * 2**20}
[ssd]
channels = 2
ways = 2
[nand.geometry]
blocks_per_plane = 32
pages_per_block = 32
[host]
interface = "direct"
[ftl]
over_provisioning_ratio = 0.35
[workload]
requests = 3000
read_ratio = 0.6
working_set_ratio = 0.5
arrival.closed-loop.queue_depth = {DEPTH}
"""


@dataclass(frozen=True)
class Span:
    """A slice, with times in nanoseconds."""

    start: int
    end: int
    operation: str
    category: str
    values: dict[str, int] = field(hash=False)

    @classmethod
    def named(cls, start: int, end: int, name: str, category: str, values: dict[str, int]) -> Self:
        """Parses a slice, whose name states its operation and whether it belongs to GC."""
        assert name.startswith("gc ") == (category == "gc")
        return cls(start, end, name.removeprefix("gc "), category, values)


@dataclass
class Shown:
    """Content of a timeline by track names from the device down."""

    slices: dict[tuple[str, ...], list[Span]]
    values: dict[tuple[str, ...], list[tuple[int, float]]]

    def of(self, kind: str) -> Iterable[tuple[tuple[str, ...], Span]]:
        for path, spans in self.slices.items():
            if path[-1].startswith(kind):
                yield from ((path, span) for span in spans)

    def busy_ns(self, kind: str) -> int:
        return sum(span.end - span.start for _, span in self.of(kind))


def through_protobuf(path: Path) -> Shown:
    """Reads a trace as trace processor does: events by time, and in file order at equal times; an
    end closes the last open slice of its track."""
    trace = perfetto.Trace.FromString(path.read_bytes())
    tracks = {}
    events = []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id > 0, "the packet would be left out"
        assert not packet.FindInitializationErrors()
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            assert descriptor.uuid not in tracks
            assert not descriptor.parent_uuid or descriptor.parent_uuid in tracks
            tracks[descriptor.uuid] = descriptor
        elif packet.HasField("track_event"):
            events.append((packet.timestamp, packet.track_event))

    def names(uuid: int) -> tuple[str, ...]:
        parent = tracks[uuid].parent_uuid
        return (*(names(parent) if parent else ()), tracks[uuid].name)

    kinds = perfetto.TrackEvent.Type
    shown = Shown(defaultdict(list), defaultdict(list))
    open_slices = defaultdict(list)
    for now, event in sorted(events, key=lambda event: event[0]):
        track = event.track_uuid
        counter = tracks[track].HasField("counter")
        assert counter == (event.type == kinds.TYPE_COUNTER)
        if event.type == kinds.TYPE_COUNTER:
            shown.values[names(track)].append((now, event.counter_value))
        elif event.type == kinds.TYPE_SLICE_BEGIN:
            assert not open_slices[track], "slices of one track overlap"
            open_slices[track].append((now, event))
        else:
            assert event.type == kinds.TYPE_SLICE_END
            start, begin = open_slices[track].pop()
            values = {one.name: one.uint_value for one in begin.debug_annotations}
            span = Span.named(start, now, begin.name, ",".join(begin.categories), values)
            shown.slices[names(track)].append(span)
    assert not any(open_slices.values()), "slices without an end"
    return shown


def path_of(query: Query, track: int | None) -> tuple[str, ...]:
    """Returns the names from the device down to a track."""
    names = []
    while track is not None:
        [row] = query(f"select name, parent_id from track where id = {track}")
        names.insert(0, row.name)
        track = row.parent_id
    return tuple(names)


def through_trace_processor(path: Path) -> Shown:
    """Reads a timeline with Perfetto's trace processor."""
    with opened(path) as query:
        faults = query(
            "select name, value from stats"
            " where value > 0 and (severity != 'info' or name glob '*error*')"
        )
        assert [(row.name, row.value) for row in faults] == []
        paths = {row.id: path_of(query, row.id) for row in query("select id from track")}
        known = defaultdict(dict)
        for row in query("select arg_set_id, key, int_value from args"):
            known[row.arg_set_id][row.key.removeprefix("debug.")] = row.int_value
        shown = Shown(defaultdict(list), defaultdict(list))
        columns = "ts, dur, depth, name, category, track_id, arg_set_id"
        for row in query(f"select {columns} from slice order by ts"):
            assert (row.depth, row.dur >= 0) == (0, True), "slices overlap or have no end"
            values = known[row.arg_set_id]
            span = Span.named(row.ts, row.ts + row.dur, row.name, row.category, values)
            shown.slices[paths[row.track_id]].append(span)
        for row in query("select ts, value, track_id from counter order by id"):
            shown.values[paths[row.track_id]].append((row.ts, row.value))
    return shown


Reader = Callable[[Path], Shown]


@pytest.fixture(params=[through_protobuf, through_trace_processor])
def read(request: pytest.FixtureRequest) -> Reader:
    return request.param


@pytest.fixture
def busy(tiny: str, place: Path) -> str:
    """Writes a full device under a closed loop, so that GC runs."""
    with (place / tiny).open("a") as file:
        file.write(BUSY)
    return tiny


def run(wordline: Command, *args: str) -> dict:
    answer = wordline("run", *args, "--timeline", "t.pftrace", "--json", "--out", "here")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_the_trace_processor_reports_dropped_events(
    wordline: Command, tiny: str, trace: str
) -> None:
    run(wordline, tiny, "--trace", trace)
    assert through_trace_processor(Path("t.pftrace")).slices
    of_nobody = perfetto.Trace()
    of_nobody.packet.add().track_event.type = perfetto.TrackEvent.TYPE_SLICE_BEGIN
    with Path("t.pftrace").open("ab") as file:
        file.write(of_nobody.SerializeToString())
    with pytest.raises(AssertionError, match="track_event_tokenizer_errors"):
        through_trace_processor(Path("t.pftrace"))


def test_busy_times_and_counts_match_the_summary(
    wordline: Command, busy: str, read: Reader
) -> None:
    summary = run(wordline, busy, "--timeline-until", "1000s")
    shown = read(Path("t.pftrace"))
    flash = summary["flash"]
    assert flash["gc_pages_moved"] > 100, "the run has no GC"
    for kind, number in (("channel", summary["device"]["channels"]), ("die", 2)):
        expected = summary["utilisation"][f"{kind}_mean"] * number
        expected *= summary["time"]["simulated_s"] * 1e9
        # Each end of a slice is rounded down by less than a nanosecond.
        slack = sum(1 for _ in shown.of(kind))
        assert abs(shown.busy_ns(kind) - expected) <= slack
    for kind in ("die", "plane"):
        operations = [span.operation for _, span in shown.of(kind)]
        assert operations.count("read") == flash["page_reads"]
        assert operations.count("program") == flash["page_programs"]
        assert operations.count("erase") == flash["erases"]
        collecting = [span for _, span in shown.of(kind) if span.category == "gc"]
        moved = sum(span.operation == "program" for span in collecting)
        assert moved == flash["gc_pages_moved"]


def test_a_window_matches_the_busy_time_of_the_series(
    wordline: Command, busy: str, read: Reader
) -> None:
    run(
        wordline,
        busy,
        "--set",
        "series.interval_ms=10",
        "--timeline-from",
        "20ms",
        "--timeline-until",
        "50 ms",
    )
    shown = read(Path("t.pftrace"))
    series = pl.read_parquet("here/series.parquet")
    series = series.filter((pl.col("start_s") >= 0.0199) & (pl.col("end_s") <= 0.0501))
    assert len(series) == 3
    for kind in ("channel", "die"):
        busy_ns = sum(sum(shares) for shares in series[f"{kind}_utilisation"]) * 10e6
        slack = sum(1 for _ in shown.of(kind))
        assert shown.busy_ns(kind) == pytest.approx(busy_ns, abs=slack)
    spans = [span for spans in shown.slices.values() for span in spans]
    assert min(span.start for span in spans) >= 20_000_000
    assert max(span.end for span in spans) <= 50_000_000
    times = [now for values in shown.values.values() for now, _ in values]
    assert min(times) == 20_000_000, "a counter has a value when the window begins"
    assert max(times) < 50_000_000


def test_tracks_are_nested_from_device_to_plane(wordline: Command, busy: str, read: Reader) -> None:
    run(wordline, busy)
    shown = read(Path("t.pftrace"))
    assert set(shown.values) == {("tiny", "queue depth"), ("tiny", "free blocks")}
    tree = set(shown.slices)
    channels = {("tiny", f"channel {channel}") for channel in range(2)}
    dies = {(*channel, "way 0", "die 0") for channel in channels}
    planes = {(*die, f"plane {plane}") for die in dies for plane in range(2)}
    assert tree == channels | dies | planes
    for _, span in shown.of("plane"):
        assert 0 <= span.values["block"] < 32
        assert ("page" in span.values) == (span.operation != "erase")
        assert 0 <= span.values.get("page", 0) < 16
    assert all(span.values == {"way": 0, "die": 0} for _, span in shown.of("channel"))


def test_operations_on_a_bus_or_array_do_not_overlap(
    wordline: Command, busy: str, read: Reader
) -> None:
    run(wordline, busy)
    shown = read(Path("t.pftrace"))
    for kind in ("channel", "plane"):
        for path in {path for path, _ in shown.of(kind)}:
            spans = sorted((span.start, span.end) for span in shown.slices[path])
            assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for path, span in shown.of("plane"):
        around = [
            die
            for die in shown.slices[path[:-1]]
            if die.start <= span.start and span.end <= die.end
        ]
        assert (span.operation, span.category) in {(die.operation, die.category) for die in around}


def test_the_counters_match_the_summary(wordline: Command, busy: str, read: Reader) -> None:
    summary = run(wordline, busy, "--timeline-until", "1000s")
    shown = read(Path("t.pftrace"))
    queue = [value for _, value in shown.values["tiny", "queue depth"]]
    assert (min(queue), max(queue), queue[-1]) == (0, DEPTH, 0)
    free = [value for _, value in shown.values["tiny", "free blocks"]]
    assert free[-1] == summary["flash"]["free_blocks"]


def test_a_store_has_tracks_for_its_disk_and_its_cached_pages(
    wordline: Command, place: Path, read: Reader
) -> None:
    (place / "store.toml").write_text(STORE)
    summary = run(wordline, "store.toml", "--timeline-until", "1000s")
    shown = read(Path("t.pftrace"))
    disk, cache = summary["disks"][0], summary["cache"]
    assert {path[0] for path in (*shown.slices, *shown.values)} == {"store", "store.disk"}
    accesses = sorted(shown.slices["store.disk", "mechanism"], key=lambda span: span.start)
    assert len(accesses) == disk["accesses"] > 1000
    assert all(one.end <= other.start for one, other in pairwise(accesses))
    parts = sorted(
        shown.slices["store.disk", "mechanism", "parts"], key=lambda span: (span.start, span.end)
    )
    assert {"seek", "rotation", "transfer"} <= {part.operation for part in parts}
    # The phases of an access cover it completely.
    assert sum(part.end - part.start for part in parts) == sum(
        access.end - access.start for access in accesses
    )
    buffered = shown.slices.get(("store.disk", "buffer"), [])
    assert len(buffered) == disk["reads_buffered"] + disk["writes_buffered"]
    assert all(span.values["offset"] % 512 == 0 < span.values["bytes"] for span in accesses)
    last = {path: values[-1][1] for path, values in shown.values.items()}
    assert last["store", "dirty pages"] == cache["dirty_pages"] > 0
    assert last["store", "cached pages"] == cache["resident_pages"]
    assert max(value for _, value in shown.values["store", "queue depth"]) == DEPTH
    assert last["store", "queue depth"] == last["store.disk", "queue depth"] == 0


def test_python_and_the_command_write_the_same_file(
    wordline: Command, tiny: str, trace: str
) -> None:
    window = {"timeline_from": "1ms", "timeline_until": "30ms"}
    package.run(tiny, trace, timeline=Path("python.pftrace"), **window)
    run(wordline, tiny, "--trace", trace, "--timeline-from", "1ms", "--timeline-until", "30ms")
    assert Path("python.pftrace").read_bytes() == Path("t.pftrace").read_bytes()
    assert through_protobuf(Path("t.pftrace")).busy_ns("channel") > 0


@pytest.mark.parametrize(("device", "kind"), [("tiny", "channel"), ("atlas-10k-iv", "mechanism")])
def test_ctrl_c_keeps_the_timeline(tiny: str, place: Path, device: str, kind: str) -> None:
    if device != "tiny":
        (place / tiny).write_text(f'schema = 1\nbase = "{device}"\n')
    with (place / tiny).open("a") as file:
        file.write("\n[workload]\nrequests = 4000000000\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "wordline", "run", tiny, "--out", "here", "--timeline", "t.pftrace"],
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not list(place.glob("t.pftrace*")):
        assert process.poll() is None
        time.sleep(0.05)
    assert not Path("t.pftrace").exists(), "a half-written file under its name"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Timeline: t.pftrace" in output
    assert through_protobuf(Path("t.pftrace")).busy_ns(kind) > 0
    assert not list(place.glob("*.part"))


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--timeline", "nowhere/t.pftrace"], "nowhere/t.pftrace: cannot create"),
        (["--timeline", "."], "cannot create"),
        (["--timeline", ""], "is not the path of a file"),
        (["--timeline", "disk.csv"], "is the trace itself"),
        (["--timeline", "here/t.pftrace"], "name a file outside it"),
        (["--timeline", "t", "--timeline-from", "10"], "'10' is not a time"),
        (["--timeline", "t", "--timeline-until", "1 h"], "'1 h' is not a time"),
        (["--timeline", "t", "--timeline-until", "300000000s"], "beyond the 213 days"),
        (
            ["--timeline", "t", "--timeline-from", "2ms", "--timeline-until", "1ms"],
            "after its start",
        ),
        (["--timeline-from", "2ms"], "need a timeline; name its file"),
        (["--timeline-until", "2ms"], "need a timeline; name its file"),
    ],
)
def test_invalid_timeline_options_fail_before_the_run(
    wordline: Command, tiny: str, trace: str, place: Path, args: list[str], told: str
) -> None:
    before = sorted(place.iterdir())
    recorded = Path(trace).read_bytes()
    answer = wordline("run", tiny, "--trace", trace, "--out", "here", *args)
    assert answer.returncode == 2
    assert told in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert sorted(place.iterdir()) == before
    assert Path(trace).read_bytes() == recorded


def test_a_timeline_without_operations_is_explained(
    wordline: Command, tiny: str, trace: str
) -> None:
    summary = run(wordline, tiny, "--trace", trace, "--timeline-from", "100s")
    assert any("shows no operation" in note for note in summary["notes"])
    assert not through_protobuf(Path("t.pftrace")).slices


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("0", 0),
        ("0ms", 0),
        ("7ps", 7),
        ("10ms", 10**10),
        ("1.5 us", 1_500_000),
        ("2s", 2 * 10**12),
        ("0.1ns", 100),
        ("3µs", 3_000_000),
        ("0.0005ns", 0),
    ],
)
def test_times_are_converted_exactly(time: str, expected: int) -> None:
    assert picoseconds("timeline_from", time) == expected


@pytest.mark.parametrize("time", ["", "ms", "-1ms", "1e3ms", "1,5ms", "1 MS", "nan", "1.ms", "٣ms"])
def test_invalid_times_are_rejected(time: str) -> None:
    with pytest.raises(WordlineError, match="is not a time"):
        picoseconds("timeline_from", time)
