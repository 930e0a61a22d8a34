"""Replay modes and their notes: open or closed loop, time scale, think times."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

import wordline as package

HEADER = "time_ns,op,offset_bytes,size_bytes,volume\n"
SECOND = 1_000_000_000
CLOSED = {"replay.mode.closed-loop.queue_depth": 4}


def recorded(times_ns: list[int]) -> str:
    """Returns a trace with a read of 4 KiB at each of these times."""
    rows = (f"{time},read,{4096 * (place % 1000)},4096,0\n" for place, time in enumerate(times_ns))
    return HEADER + "".join(rows)


@pytest.fixture
def trace(place: Path) -> str:
    """Writes three requests in ten seconds, the first of them two seconds after the start."""
    (place / "disk.csv").write_text(recorded([2 * SECOND, 3 * SECOND, 12 * SECOND]))
    return "disk.csv"


def played(answer: Any) -> str:
    assert answer.returncode == 0, answer.stderr
    (line,) = (line for line in answer.stdout.splitlines() if line.startswith("Replay: "))
    return line.removeprefix("Replay: ")


def notes(result: package.Result) -> str:
    return "\n".join(result.summary["notes"])


@pytest.mark.parametrize("preset", [one["name"] for one in package.presets()])
def test_no_preset_ignores_the_time_stamps_of_a_trace(preset: str) -> None:
    resolved = tomllib.loads(package.config.show(preset))
    assert list(resolved["replay"]["mode"]) == ["open-loop"]


def test_a_trace_is_replayed_at_its_time_stamps(wordline: Command, trace: str) -> None:
    answer = wordline("run", "d4", "--trace", trace)
    assert (
        played(answer) == "open loop, at the trace's time stamps; 10.0 s recorded, 12.0 s simulated"
    )


def test_the_time_scale_is_reported(wordline: Command, trace: str) -> None:
    scaled = "replay.mode.open-loop.time_scale=0.25"
    answer = wordline("run", "d4", "--trace", trace, "--set", scaled)
    assert played(answer) == (
        "open loop, at the trace's time stamps x 0.250; 10.0 s recorded, 3.00 s simulated"
    )


def test_a_closed_loop_notes_that_time_stamps_are_ignored(wordline: Command, trace: str) -> None:
    closed = "replay.mode.closed-loop.queue_depth=4"
    answer = wordline("run", "d4", "--trace", trace, "--set", closed)
    told = played(answer)
    assert told.startswith("closed loop, queue depth 4, time stamps ignored; 10.0 s recorded, ")
    assert re.search(r"[µm]s simulated$", told)
    assert "The time stamps of the trace were ignored" in " ".join(answer.stdout.split())


def test_a_trace_without_time_stamps_has_no_note_on_ignored_time_stamps(
    wordline: Command, place: Path
) -> None:
    (place / "disk.iolog").write_text(
        "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb read 0 4096\n"
    )
    closed = "replay.mode.closed-loop.queue_depth=4"
    answer = wordline("run", "d4", "--trace", "disk.iolog", "--set", closed)
    assert played(answer).startswith("closed loop, queue depth 4, no usable time stamps; ")
    assert "time stamps of the trace were ignored" not in answer.stdout


def test_a_generated_load_reports_no_recorded_duration(wordline: Command, tiny: str) -> None:
    load = ["--set", "workload.requests=100", "--set"]
    answer = wordline("run", tiny, *load, "workload.arrival.poisson.iops=100")
    assert played(answer).startswith("open loop, generated arrivals; ")
    answer = wordline("run", tiny, *load, "workload.arrival.closed-loop.queue_depth=3")
    assert played(answer).startswith("closed loop, queue depth 3; ")


def test_each_stream_reports_its_replay_mode(tiny: str, trace: str) -> None:
    streams = [
        {"name": "db"},
        {"name": "log", "replay": {"mode": {"closed-loop": {"queue_depth": 2}}}},
    ]
    result = package.run(tiny, streams={"db": trace, "log": trace}, overrides={"streams": streams})
    told = [stream["input"] for stream in result.summary["streams"]]
    assert [one["time_scale"] for one in told] == [1.0, None]
    assert [one["recorded_s"] for one in told] == [10.0, 10.0]
    assert result.summary["input"]["recorded_s"] is None
    assert "Stream log: The time stamps of the trace were ignored" in notes(result)
    assert "Stream db: The time stamps" not in notes(result)


@pytest.mark.parametrize(
    ("times_ns", "crowd"),
    [
        # 900 requests at once, a pause of a minute, then one more.
        ([0] * 900 + [60 * SECOND], "bursts"),
        # One request per microsecond. Each takes at least 50 µs.
        (list(range(0, 3_000_000, 1000)), "the offered load exceeds the throughput of this store"),
        (list(range(0, 3_000_000_000, 1_000_000)), None),
        # A burst at the end, and a burst before a pause.
        (list(range(0, 3_000_000_000, 1_000_000)) + [3 * SECOND] * 900, "bursts"),
        ([0] * 2000 + [SECOND + 1_000_000 * place for place in range(4000)], "bursts"),
    ],
)
def test_notes_distinguish_bursts_from_an_offered_load_above_the_throughput(
    tiny: str, place: Path, times_ns: list[int], crowd: str | None
) -> None:
    (place / "burst.csv").write_text(recorded(times_ns))
    filled = {"precondition.fill_ratio": 1.0}
    told = notes(package.run(tiny, "burst.csv", overrides=filled))
    said = [words for words in ("bursts", "the offered load") if words in told]
    assert said == ([] if crowd is None else [words for words in said if words in crowd])
    assert crowd is None or crowd in told


def test_a_closed_loop_ignores_the_order_of_time_stamps(tiny: str, place: Path) -> None:
    (place / "back.csv").write_text(recorded([5 * SECOND, 3 * SECOND, 0]))
    result = package.run(tiny, "back.csv", overrides=CLOSED)
    assert result.summary["input"]["requests"] == 3
    with pytest.raises(package.WordlineError, match=r"back\.csv:3: the time goes back"):
        package.run(tiny, "back.csv")
    with pytest.raises(package.WordlineError, match="requests are issued by time stamp"):
        package.run(tiny, "back.csv", time_order="file")


JUMP = 300 * 86_400 * SECOND


@pytest.fixture
def jumping(place: Path) -> str:
    """Writes a trace whose clock was set forward by 300 days during the recording, and back
    again."""
    times = [SECOND, 2 * SECOND, JUMP, JUMP + SECOND, 3 * SECOND, 4 * SECOND]
    rows = "".join(f"{time} 0 {8 * place} 8 1\n" for place, time in enumerate(times))
    (place / "jump.mqsim").write_text(rows)
    return "jump.mqsim"


def test_a_clock_jump_is_not_a_bad_line(wordline: Command, tiny: str, jumping: str) -> None:
    for options in ([], ["--on-bad-line", "skip"]):
        answer = wordline("run", tiny, "--trace", jumping, "--format", "mqsim", *options)
        assert answer.returncode == 2
        assert f"{jumping}:3: the time is 300.0 days after the start of the file" in answer.stderr
        assert answer.stderr.rstrip().endswith("pass --time-gaps cut=1s")
    cut = wordline("run", tiny, "--trace", jumping, "--format", "mqsim", "--time-gaps", "cut=1s")
    assert "6 requests" in cut.stdout
    assert "5.00 s recorded, 5.00 s simulated" in cut.stdout
    assert "2 gaps between time stamps were changed" in " ".join(cut.stdout.split())


def test_cache_simulations_ignore_clock_jumps(jumping: str, place: Path) -> None:
    """Neither a clock jump matters, nor a clock that goes back farther than the reader can sort."""
    told = package.cache(jumping, "lru", "2p", format="mqsim").summary
    assert told["input"]["requests"] == 6
    back = "".join(f"{10**9 - place} 0 {8 * (place % 50)} 8 1\n" for place in range(70_000))
    (place / "back.mqsim").write_text(back)
    (run,) = package.cache("back.mqsim", "lru", "50p", format="mqsim").summary["runs"]
    assert run["hits"] == 70_000 - 50
    curve = package.mrc("back.mqsim", "exact", sizes="50p", format="mqsim").summary
    assert curve["input"]["requests"] == 70_000


@pytest.mark.parametrize("gaps", ["", "cut", "cut=1", "cut=-1s", "scale=2", "scale=0@1s"])
def test_invalid_time_gaps_are_rejected(tiny: str, trace: str, gaps: str) -> None:
    with pytest.raises(package.WordlineError, match=r"^time_gaps: "):
        package.run(tiny, trace, time_gaps=gaps)


def test_a_closed_loop_reports_no_duration_after_a_clock_jump(
    wordline: Command, tiny: str, place: Path
) -> None:
    """The third record is 40 years ahead, as if one processor had a wrong clock."""
    times = [0, SECOND, 40 * 365 * 86_400 * SECOND, 2 * SECOND, 3 * SECOND]
    lines = (f"{time} 0 {8 * n} 8 1\n" for n, time in enumerate(times))
    (place / "jumps.txt").write_text("".join(lines))
    summary = package.run(tiny, "jumps.txt", format="mqsim", overrides=CLOSED).summary
    assert summary["input"]["recorded_s"] is None
    assert any(note.startswith("1 time stamps are missing, ") for note in summary["notes"])
    words = ["trace", "stat", "jumps.txt", "--format", "mqsim", "--time-order", "file"]
    assert "1 time stamps are missing, " in " ".join(wordline(*words).stdout.split())
