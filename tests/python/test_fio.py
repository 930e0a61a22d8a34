"""fio job files as load, and results as fio logs."""

import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import wordline
from wordline._importers import fio
from wordline._importers.fio import logs
from wordline._wordline import WordlineError
from wordline.cli import main


def streams(tmp_path: Path, text: str, section: str | None = None) -> fio.Load:
    job = tmp_path / "job.fio"
    job.write_text(text)
    return fio.load(job, "d4", section=section)


def fault(tmp_path: Path, text: str, section: str | None = None) -> str:
    with pytest.raises(WordlineError) as told:
        streams(tmp_path, text, section)
    message = str(told.value)
    assert "\n" not in message
    return message.replace(str(tmp_path / "job.fio"), "job.fio")


CAPACITY = wordline._wordline.config_capacity('base = "d4"', "d4", [])  # pyright: ignore


def test_jobs_inherit_global_options(tmp_path: Path) -> None:
    load = streams(
        tmp_path,
        """
        ; a comment
        [global]
        ioengine=libaio
        bs=8k
        number_ios=100
        norandommap
        [first]
        rw=randread
        iodepth=16
        [global]
        bs=16k
        [second job]
        rw=write
        numjobs=2
        """,
    )
    first, second, third = load.streams
    assert first == {
        "name": "first",
        "workload": {
            "requests": 100,
            "read_ratio": 1.0,
            "request_bytes": 8192,
            "align_bytes": 8192,
            "pattern": {"uniform": {}},
            "arrival": {"closed-loop": {"queue_depth": 16}},
        },
    }
    assert [second["name"], third["name"]] == ["second_job-1", "second_job-2"]
    assert second["workload"]["request_bytes"] == 16384
    assert second["workload"]["pattern"] == {"sequential": {}}
    assert second["workload"]["arrival"] == {"closed-loop": {"queue_depth": 1}}
    assert [note.split(": ", 1)[1] for note in load.notes] == [
        "no effect in a simulation: norandommap"
    ]


# fio's HOWTO: with kb_base=1024, the default, `k` is 1024 and `ki` 1000; with 1000 they follow SI.
@pytest.mark.parametrize(
    ("base", "text", "size"),
    [
        (1024, "4096", 4096),
        (1024, "4096b", 4096),
        (1024, "4kB", 4096),
        (1024, "4K", 4096),
        (1024, "64ki", 64000),
        (1024, "1m", 1 << 20),
        (1024, "0x1000", 4096),
        (1000, "4ki", 4096),
        (1000, "4KiB", 4096),
        (1000, "64k", 64000),
        (1000, "1mi", 1 << 20),
    ],
)
def test_sizes_are_parsed_as_fio_parses_them(
    tmp_path: Path, base: int, text: str, size: int
) -> None:
    load = streams(tmp_path, f"[a]\nkb_base={base}\nbs={text}\nnumber_ios=1\n")
    assert load.streams[0]["workload"]["request_bytes"] == size


def test_regions_are_given_as_shares_or_sizes(tmp_path: Path) -> None:
    (one,) = streams(tmp_path, "[a]\nsize=64m\noffset=25%\nbs=64k\n").streams
    workload = one["workload"]
    assert workload["offset_bytes"] == CAPACITY // 4 // 65536 * 65536
    assert int(CAPACITY * workload["working_set_ratio"]) // 512 * 512 == 64 << 20
    assert workload["requests"] == (64 << 20) // 65536
    two = streams(
        tmp_path, "[a]\nsize=1m\nio_size=2m\nloops=3\nnumjobs=2\noffset_increment=1m\n"
    ).streams
    assert [one["workload"]["requests"] for one in two] == [1536, 1536]
    assert [one["workload"].get("offset_bytes", 0) for one in two] == [0, 1 << 20]


# HOWTO: filesize overrides size, which becomes the default of io_size.
@pytest.mark.parametrize(
    ("text", "length", "requests"),
    [
        ("filesize=1m", 1 << 20, 256),
        ("size=1m\nfilesize=2m", 2 << 20, 256),
        ("size=1m\nfilesize=2m\nio_size=4m", 2 << 20, 1024),
    ],
)
def test_filesize_sets_the_region_and_size_the_amount(
    tmp_path: Path, text: str, length: int, requests: int
) -> None:
    made = streams(tmp_path, f"[a]\nrw=write\n{text}")
    load = made.streams[0]["workload"]
    assert int(load["working_set_ratio"] * CAPACITY) // 512 * 512 == length
    assert load["requests"] == requests
    assert made.notes == []


def test_mixes_directions_and_rates_become_workload_keys(tmp_path: Path) -> None:
    def workload(text: str) -> dict[str, object]:
        return streams(tmp_path, f"[a]\nnumber_ios=10\n{text}\n").streams[0]["workload"]

    assert workload("rw=randrw\nrwmixwrite=30")["read_ratio"] == 0.7
    assert workload("rw=rw\nrwmixread=25")["read_ratio"] == 0.25
    assert workload("rw=randtrim\nbs=4k,8k,16k")["request_bytes"] == 16384
    assert workload("rw=randtrim")["trim_ratio"] == 1.0
    both = workload("rw=randrw\nbs=4k,8k")
    assert (both["request_bytes"], both["write_bytes"]) == (4096, 8192)
    split = workload("bssplit=4k/50:1k/:32k/")
    assert split["request_bytes"] == [
        {"bytes": 4096, "weight": 0.5},
        {"bytes": 1024, "weight": 0.25},
        {"bytes": 32768, "weight": 0.25},
    ]
    assert workload("rate_iops=500")["arrival"] == {"constant": {"iops": 500.0}}
    assert workload("rate=4m\nrate_process=poisson")["arrival"] == {"poisson": {"iops": 1024.0}}
    assert workload("rw=randread\nrandom_distribution=zipf:1.2")["pattern"] == {
        "zipf": {"theta": 1.2}
    }
    assert workload("rw=randread\npercentage_random=30")["pattern"] == {
        "mixed": {"random_ratio": 0.3}
    }
    flushed = workload("rw=write\nfsync=4\nsync=1\nnumber_ios=100\nsize=1m")
    assert (flushed["flush_every_requests"], flushed["requests"]) == (5, 125)
    assert flushed["fua_ratio"] == 1.0


def test_jobs_end_by_size_or_time(tmp_path: Path) -> None:
    """As in fio's manual: a job ends at the smaller of size and runtime; with time_based, only at
    the runtime."""

    def end(text: str) -> tuple[int, float | None]:
        (one,) = streams(tmp_path, f"[a]\nsize=4m\n{text}\n").streams
        return one["workload"]["requests"], one["workload"].get("duration_s")

    assert end("") == (1024, None)
    assert end("loops=3") == (3072, None)
    assert end("runtime=2m") == (1024, 120.0)
    assert end("runtime=500ms\nnumber_ios=9") == (9, 0.5)
    assert end("time_based\nruntime=1h") == (10**15, 3600.0)
    assert end("time_based\nruntime=60\nnumber_ios=10000") == (10_000, 60.0)
    assert end("time_based\nruntime=2m\nrate_iops=50") == (10**15, 120.0)


def test_time_based_jobs_end_on_time(tmp_path: Path) -> None:
    """Runs a closed-loop job and a fixed-rate job concurrently. Each has its own runtime."""
    text = """[global]
time_based
size=10%
[loop]
rw=randread
runtime=20ms
[rate]
rw=randwrite
rate_iops=1000
runtime=50ms
"""
    asked = {"streams": streams(tmp_path, text).streams, "precondition.fill_ratio": 1.0}
    rows = wordline.run("d4", overrides=asked, requests=True).requests.polars()
    loop, rate = (rows.filter(pl.col("stream") == stream) for stream in (0, 1))
    assert rate.height == 50
    (last,) = (
        loop.tail(1).select("arrival_ps", end=pl.col("arrival_ps") + pl.col("latency_ps")).rows()
    )
    assert last[0] < 20 * 10**9 <= last[1]


@pytest.mark.parametrize(
    ("low", "high"), [(4096, 16384), (4096, 18432), (4096, 4096), (1536, 4096), (512, 131072)]
)
def test_a_range_of_sizes_is_drawn_as_fio_draws_it(tmp_path: Path, low: int, high: int) -> None:
    """Compared with fio's arithmetic (`get_next_buflen` in io_u.c) at equal steps of the random
    number."""
    text = f"[a]\nnumber_ios=10\nbsrange={low}-{high}\n"
    (one,) = streams(tmp_path, text).streams
    given = one["workload"]["request_bytes"]
    mix = {size["bytes"]: size["weight"] for size in given} if low < high else {given: 1.0}
    steps = 100_000
    drawn = [low + high * step // steps for step in range(steps)]
    sizes = Counter(min(bytes_ - bytes_ % low, high) for bytes_ in drawn)
    assert {size: count / steps for size, count in sizes.items()} == pytest.approx(mix, abs=1e-4)


def test_the_later_of_bs_and_bsrange_applies(tmp_path: Path) -> None:
    def sizes(text: str) -> object:
        (one,) = streams(tmp_path, f"{text}\nnumber_ios=1\n").streams
        return one["workload"]["request_bytes"]

    assert sizes("[global]\nbsrange=4k-8k\n[a]\nbs=16k") == 16384
    even = [{"bytes": 4096, "weight": 0.5}, {"bytes": 8192, "weight": 0.5}]
    assert sizes("[global]\nbs=16k\n[a]\nblocksize_range=4k-8k") == even
    assert sizes("[a]\nrw=write\nbsrange=512-512,4k:8k") == even


def test_an_engine_without_a_queue_has_one_request_at_a_time(tmp_path: Path) -> None:
    load = streams(tmp_path, "[a]\niodepth=32\nnumber_ios=1\n")
    assert load.streams[0]["workload"]["arrival"] == {"closed-loop": {"queue_depth": 1}}
    assert "ioengine=psync issues one request at a time" in load.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "rw=read",
            "job.fio:1: `rw=read` precedes the first section; a job file starts with "
            "[global] or the name of a job in brackets",
        ),
        (
            "[a]\nthinktime=5",
            "job.fio:2: thinktime: the option is not modelled; remove the line "
            "if the load does not depend on it",
        ),
        ("[a]\nblocksise=4k", "job.fio:2: blocksise: the option is unknown; did you mean "),
        ("[a]\nrw=trimwrite", "job.fio:2: rw=trimwrite: this direction is not modelled; give one"),
        (
            "[a]\nbs=1000",
            "job.fio:2: bs=1000: 1000 is not a multiple of 512 bytes",
        ),
        (
            "[a]\nbs=4q",
            "job.fio:2: bs=4q: the value is not valid; write it as in bs=4k, 64ki or 10g",
        ),
        (
            "[a]\nsize=1t",
            "job.fio:2: size=1t: 1099511627776 bytes from byte 0 end beyond the device's ",
        ),
        ("[a]\noffset=1t", "job.fio:2: offset=1t: byte 1099511627776 is beyond the device's "),
        (
            "[a]\nbsrange=4k",
            "job.fio:2: bsrange=4k: the value is not valid; write it as in bsrange=4k-64k",
        ),
        (
            "[a]\nbsrange=8k-4k",
            "job.fio:2: bsrange=8k-4k: the sizes are not an ascending range above 0; ",
        ),
        (
            "[a]\nbsrange=1000-4k",
            "job.fio:2: bsrange=1000-4k: 1000 is not a multiple of 512 bytes",
        ),
        (
            "[a]\nbsrange=4k-1g",
            "job.fio:2: bsrange=4k-1g: the range has more than 256 sizes; raise the ",
        ),
        ("[a]\nbssplit=4k/60:8k/50", "job.fio:2: bssplit=4k/60:8k/50: the shares do not add up"),
        ("[a]\nbssplit=4k/60:8k/30", "job.fio:2: bssplit=4k/60:8k/30: the shares do not add up"),
        ("[a]\ntime_based", "job.fio:2: time_based=1: without a runtime, the job has no end; "),
        ("[a]\nruntime=1\nramp_time=5", "job.fio:3: ramp_time: the option is not modelled; "),
        (
            "[a]\n[b]\nstonewall",
            "job.fio:3: stonewall=1: jobs that wait for others are not "
            "modelled; run them one by one: --fio-section with one of a, b",
        ),
        (
            "[a]\nrw=randrw\nfsync=1",
            "job.fio:3: fsync=1: the option counts writes, but the job also reads",
        ),
        ("[a]\nrw=randread\nrandom_distribution=pareto:0.2", "job.fio:3: random_distribution="),
        ("[a]\nioengine=net", "job.fio:2: ioengine=net: this engine is not modelled; give "),
        (
            "[a]\nfilesize=1t",
            "job.fio:2: filesize=1t: 1099511627776 bytes from byte 0 end beyond the ",
        ),
        (
            "[a]\nfilesize=1m-2m",
            "job.fio:2: filesize=1m-2m: the value is not valid; write it as in ",
        ),
        (
            "[a]\nrate_iops=5,6",
            "job.fio:2: rate_iops=5,6: the rate applies to reads and to writes separately",
        ),
        (
            "[a]\nrw=randrw\nrate=4m",
            "job.fio:3: rate=4m: the rate applies to reads and to writes separately",
        ),
        ("[a]\nrate_iops=2g", "job.fio:2: rate_iops=2g: 2.14748e+09 requests per second are not "),
        (
            "[a]\nioengine=libaio\niodepth=1m",
            "job.fio:3: iodepth=1m: the depth is above 65536; lower iodepth",
        ),
        ("[a]\nsize=${NO_SUCH}", "job.fio:2: ${NO_SUCH} is not an environment variable; set it"),
        ("[a]\ninclude b.fio", "job.fio:2: include: included files are not read; put"),
        ("[global]\nbs=4k", "job.fio: the file has no job; add a section such as [randread]"),
    ],
)
def test_unmodelled_and_invalid_options_are_rejected_by_name(
    tmp_path: Path, text: str, message: str
) -> None:
    assert fault(tmp_path, text).startswith(message)


def test_one_of_several_jobs_can_be_selected(tmp_path: Path) -> None:
    text = "[a]\nnumber_ios=1\n[b]\nstonewall\nnumber_ios=2\n"
    assert [one["name"] for one in streams(tmp_path, text, "b").streams] == ["b"]
    assert fault(tmp_path, text, "c") == "job.fio: no job is called 'c'; its jobs are a, b"


JOB = """
[global]
ioengine=libaio
direct=1
norandommap
[reads]
rw=randread
iodepth=8
number_ios=300
[writes]
rw=write
bs=16k
size=1m
"""


@pytest.fixture
def results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Runs a job file with the command, and returns the folder of its results."""
    job, out = tmp_path / "job.fio", tmp_path / "out"
    job.write_text(JOB)
    args = ["run", "d4", "--fio", str(job), "--requests", "--no-report", "--out", str(out)]
    assert main(args) == 0
    shown = capsys.readouterr()
    assert "no effect in a simulation: direct, norandommap" in shown.err
    assert "reads closed loop, queue depth 8; writes closed loop, queue depth 1" in shown.out
    return out


def test_a_run_of_a_job_file_can_be_repeated_from_its_configuration(results: Path) -> None:
    again = wordline.run(results / "config.resolved.toml")
    first = pl.read_parquet(results / "requests.parquet")
    assert again.requests.polars().equals(first)
    assert first.filter(pl.col("op") == "write")["bytes"].to_list() == [16384] * 64


def lines(path: Path) -> list[list[int]]:
    return [[int(field) for field in line.split(", ")] for line in path.read_text().splitlines()]


def test_logs_have_a_line_for_each_request(results: Path, tmp_path: Path) -> None:
    files = logs.write(results, tmp_path / "logs" / "x")
    assert [file.name for file in files] == [
        f"x_{kind}.{stream}.log"
        for stream in (1, 2)
        for kind in ("lat", "slat", "clat", "bw", "iops")
    ]
    rows = pl.read_parquet(results / "requests.parquet")
    for stream, direction in ((0, 0), (1, 1)):
        own = rows.filter(pl.col("stream") == stream)
        lat, slat, clat, bw, iops = (
            lines(tmp_path / "logs" / f"x_{kind}.{stream + 1}.log")
            for kind in ("lat", "slat", "clat", "bw", "iops")
        )
        done = (own["arrival_ps"] + own["latency_ps"]) // 10**9
        assert [line[0] for line in lat] == sorted(done.to_list())
        assert sorted(line[1] for line in lat) == sorted((own["latency_ps"] // 1000).to_list())
        assert {tuple(line[2:]) for line in lat} == {(direction, own["bytes"][0], 0)}
        assert [a[1] + b[1] for a, b in zip(slat, clat, strict=True)] == [one[1] for one in lat]
        for one, rate in zip(lat, bw, strict=True):
            assert abs(rate[1] - one[3] / 1024 / (one[1] / 1e9)) <= 0.5
        assert all(one[1] == 1 for one in iops)


def test_logs_per_interval_sum_to_the_requests(results: Path, tmp_path: Path) -> None:
    logs.write(results, tmp_path / "y", log_avg_msec=1)
    rows = pl.read_parquet(results / "requests.parquet").filter(pl.col("stream") == 0)
    end = (rows["arrival_ps"] + rows["latency_ps"]).max()
    assert isinstance(end, int)
    iops = lines(tmp_path / "y_iops.1.log")
    times = [line[0] for line in iops]
    assert times == sorted(set(times))
    assert all(line[2:] == [0, 0, 0] for line in iops)
    # All intervals but the last are a whole millisecond.
    widths = [1e-3] * (len(iops) - 1) + [end / 1e12 - (times[-1] - 1) / 1e3]
    counted = sum(line[1] * width for line, width in zip(iops, widths, strict=True))
    assert counted == pytest.approx(300, abs=0.01)
    moved = sum(line[1] * w for line, w in zip(lines(tmp_path / "y_bw.1.log"), widths, strict=True))
    assert moved == pytest.approx(300 * 4, rel=1e-3)


def test_the_documented_logs_have_the_names_that_fio_plot_looks_for(results: Path) -> None:
    """Names are RW-iodepth-N-numjobs-N_TYPE: `return_filename_filter_string` in dataimport.py of
    fio-plot."""
    page = (Path(__file__).parents[2] / "docs/how-to/fio.md").read_text()
    (command,) = re.findall(r"^wordline (fio-logs .* logs/randrw-.*)$", page, re.MULTILINE)
    (plot,) = re.findall(r"^fio-plot (.*)$", page, re.MULTILINE)
    given = dict(re.findall(r"--([a-z-]+) ([^-]+?)(?= --|$)", plot))
    folder = results / given["input-directory"]
    args = [{"out/db": str(results)}.get(arg, arg) for arg in command.split()]
    assert main([*args[:-1], str(results / args[-1])]) == 0
    named = f"{given['rw']}-iodepth-{given['iodepth']}-numjobs-{given['numjobs']}"
    for kind in given["type"].split():
        assert (folder / f"{named}_{kind}.1.log").exists()


def test_logs_require_a_run_with_requests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fio-logs", str(tmp_path), str(tmp_path / "x")]) == 2
    assert "requests.parquet: no such file; run again with --requests" in capsys.readouterr().err


def test_a_section_without_a_job_file_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "d4", "--fio-section", "a"]) == 2
    assert "--fio-section: no job file; name it with --fio" in capsys.readouterr().err
