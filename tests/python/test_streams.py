"""Concurrent streams, from the command line."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Command, msr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wordline as package

NVME = "host.interface.nvme.arbitration=weighted-round-robin"
TWO = """
[[streams]]
name = "db"
class = "high"
workload.requests = 600
workload.read_ratio = 1.0

[[streams]]
name = "log"
workload.requests = 400
workload.read_ratio = 0.0
workload.request_bytes = 16384
"""


@pytest.fixture
def traces(place: Path) -> tuple[str, str]:
    (place / "a.csv").write_text(msr(900, seed=1))
    (place / "b.csv").write_text(msr(500, reads=0.1, seed=2))
    return "a.csv", "b.csv"


@pytest.fixture
def two(tiny: str, place: Path) -> str:
    with (place / tiny).open("a") as file:
        file.write(TWO)
    return tiny


def summary(answer: Any) -> Any:
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_traces_of_streams_are_replayed_concurrently(
    wordline: Command, tiny: str, traces: tuple[str, str]
) -> None:
    a, b = traces
    streams = ["--stream", f"db={a}", "--stream", f"log={b}"]
    told = summary(wordline("run", tiny, *streams, "--json", "--requests"))
    assert [stream["name"] for stream in told["streams"]] == ["db", "log"]
    assert [stream["input"]["requests"] for stream in told["streams"]] == [900, 500]
    assert told["input"]["requests"] == 1400
    rows = pl.read_parquet("out/tiny-db-log/requests.parquet")
    for stream, count in enumerate([900, 500]):
        own = rows.filter(pl.col("stream") == stream)["arrival_ps"].sort()
        # Each stream uses the clock of its own trace: 200 µs between requests.
        assert own.to_list() == [index * 200_000_000 for index in range(count)]
    assert [Path(file["path"]).name for file in told["input"]["files"]] == [a, b]
    assert told["fairness"]["slowdown_ratio"] is None
    assert Path("out/tiny-db-log/summary.json").exists()


def test_files_of_a_stream_are_replayed_in_sequence(
    wordline: Command, tiny: str, traces: tuple[str, str]
) -> None:
    a, b = traces
    commas, repeated = (
        summary(wordline("run", tiny, "--json", "--no-report", *more))
        for more in (
            ["--stream", f"db={a},{b}", "--stream", f"log={b}"],
            ["--stream", f"db={a}", "--stream", f"log={b}", "--stream", f"db={b}"],
        )
    )
    assert commas["digest"] == repeated["digest"]
    assert [stream["input"]["requests"] for stream in commas["streams"]] == [1400, 500]


def test_the_slowdown_of_streams_is_shown(wordline: Command, two: str) -> None:
    answer = wordline("run", two, "--slowdown", "--set", NVME, "--out", "here")
    assert answer.returncode == 0, answer.stderr
    for word in ("db, log", "db (high)", "slowdown", "alone", "Jain's index", "weighted speed-up"):
        assert word in answer.stdout, word
    told = json.loads(Path("here/summary.json").read_text())
    for stream in told["streams"]:
        together, alone = stream["latency"]["all"], stream["alone"]["all"]
        assert alone["count"] == together["count"]
        assert stream["slowdown"]["all"] == pytest.approx(together["mean_us"] / alone["mean_us"])
    slowdowns = [stream["slowdown"]["all"] for stream in told["streams"]]
    fairness = told["fairness"]
    assert fairness["slowdown_ratio"] == pytest.approx(min(slowdowns) / max(slowdowns))
    assert fairness["weighted_speedup"] == pytest.approx(sum(1 / one for one in slowdowns))
    assert fairness["harmonic_speedup"] == pytest.approx(len(slowdowns) / sum(slowdowns))
    page = Path("here/report.html").read_text()
    assert '<h2 id="streams">Streams</h2>' in page
    Path("here/report.html").unlink()
    assert wordline("report", "here").returncode == 0
    assert Path("here/report.html").read_text() == page


def test_a_run_of_one_stream_shows_no_streams_and_no_absent_components(
    wordline: Command, tiny: str, traces: tuple[str, str]
) -> None:
    answer = wordline("run", tiny, "--trace", traces[0], "--out", "here")
    assert answer.returncode == 0, answer.stderr
    page = Path("here/report.html").read_text()
    for word in ("link wait", "device queue<", "Jain"):
        assert word not in answer.stdout
        assert word not in page
    told = json.loads(Path("here/summary.json").read_text())
    assert told["streams"] == []
    assert told["fairness"] is None
    assert "mean: link " not in answer.stdout
    assert "mean: link " in wordline("run", tiny, "--trace", traces[0], "--set", NVME).stdout


def test_the_resolved_configuration_reproduces_the_run(
    wordline: Command, tiny: str, traces: tuple[str, str]
) -> None:
    streams = ["--stream", f"db={traces[0]}", "--stream", f"log={traces[1]}"]
    more = ["--set", "streams.log.class=low", "--set", NVME]
    first = summary(wordline("run", tiny, *streams, *more, "--json", "--out", "a"))
    again = summary(wordline("run", "a/config.resolved.toml", *streams, "--json", "--out", "b"))
    assert first["digest"] == again["digest"]
    classes = {stream["name"]: stream["class"] for stream in again["streams"]}
    assert classes == {"db": "medium", "log": "low"}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--stream", "a.csv"], "NAME=FILE"),
        (["--stream", "db="], "NAME=FILE"),
        (["--stream", "a b=a.csv"], "'a b'"),
        (["--stream", "db=absent.csv"], "absent.csv"),
        (["--stream", "db=a.csv", "--trace", "b.csv"], "replace --trace with --stream NAME=FILE"),
        (["--stream", "db=a.csv", "--slowdown"], "but the run has only one"),
        (["--trace", "a.csv", "--slowdown"], "but the run has only one"),
        (["--stream", "db=a.csv", "--set", "streams.lg.class=high"], "--stream lg=FILE"),
        (["--stream", "db=a.csv", "--set", "streams.db.class=hihg"], "did you mean `high`?"),
        (
            ["--stream", "db=a.csv", "--set", "streams.db.workload.requests=9"],
            "leave one of them out",
        ),
        (
            ["--stream", "db=a.csv", "--set", "workload.requests=9"],
            "both [workload] and [[streams]]",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.usefixtures("traces")
def test_errors_are_one_line(wordline: Command, tiny: str, args: list[str], says: str) -> None:
    answer = wordline("run", tiny, *args)
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: ")
    assert answer.stderr.count("\n") == 1
    assert says in answer.stderr
    assert not Path("out").exists()


def test_an_error_in_a_device_file_shows_its_line(wordline: Command, two: str) -> None:
    Path(two).write_text(Path(two).read_text().replace('"high"', '"hihg"'))
    answer = wordline("run", two)
    assert answer.returncode == 2
    assert "tiny.toml:23:9: streams[0].class" in answer.stderr
    assert "^" in answer.stderr


def test_python_accepts_streams_by_name(tiny: str, traces: tuple[str, str]) -> None:
    a, b = traces
    result = package.run(tiny, streams={"db": a, "log": [Path(b), a]}, slowdown=True)
    told = result.summary
    assert [stream["name"] for stream in told["streams"]] == ["db", "log"]
    rows = result.requests.polars()
    for number, stream in enumerate(told["streams"]):
        own = rows.filter(pl.col("stream") == number)
        assert own.height == stream["latency"]["all"]["count"]
        mean = stream["latency"]["all"]["mean_us"]
        assert mean == pytest.approx((own["latency_ps"] / 1e6).mean(), rel=1e-9)
    assert told["fairness"] is not None
    assert told["fairness"]["weighted_speedup"] is not None


@pytest.mark.parametrize(
    ("streams", "kind"),
    [
        ("a.csv", TypeError),
        ({1: "a.csv"}, TypeError),
        ({"db": 3}, TypeError),
        ({"db": []}, package.WordlineError),
        ({"d b": "a.csv"}, package.WordlineError),
        ({"": "a.csv"}, package.WordlineError),
        ({"db": ""}, package.WordlineError),
    ],
)
@pytest.mark.usefixtures("traces")
def test_python_rejects_invalid_streams(tiny: str, streams: Any, kind: type) -> None:
    with pytest.raises(kind):
        package.run(tiny, streams=streams)


interfaces = st.sampled_from(["direct", "sata", "nvme"])
words = st.sampled_from(["urgent", "high", "medium", "low"])
loads = st.fixed_dictionaries(
    {
        "requests": st.integers(1, 120),
        "read_ratio": st.sampled_from([0.0, 0.5, 1.0]),
        "request_bytes": st.sampled_from([512, 4096, 20480]),
        "align_bytes": st.just(512),
        "arrival": st.sampled_from(
            [{"closed-loop": {"queue_depth": 5}}, {"poisson": {"iops": 9000.0}}]
        ),
    }
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    interface=interfaces,
    weighted=st.booleans(),
    depth=st.integers(1, 32),
    streams=st.lists(st.tuples(words, loads), min_size=1, max_size=4),
)
def test_every_request_is_served_once_and_admitted_in_order(
    tiny: str, interface: str, weighted: bool, depth: int, streams: list[tuple[str, Any]]
) -> None:
    choice: Any = interface
    if interface == "nvme":
        arbitration = "weighted-round-robin" if weighted else "round-robin"
        choice = {"nvme": {"arbitration": arbitration, "queue_entries": 4}}
    overrides: dict[str, Any] = {"host": {"interface": choice, "queue_depth": depth}}
    for place, (word, load) in enumerate(streams):
        overrides[f"streams.s{place}.class"] = word
        overrides[f"streams.s{place}.workload"] = load
    rows = package.run(tiny, overrides=overrides, verify=True).requests.polars()
    assert rows.height == sum(load["requests"] for _, load in streams)
    for place, (_, load) in enumerate(streams):
        own = rows.filter(pl.col("stream") == place)
        assert own.height == load["requests"]
        # The device admits requests in the order in which they were issued.
        taken = own.select("arrival_ps", taken=pl.col("arrival_ps") + pl.col("host_queue_ps")).sort(
            "taken", "arrival_ps"
        )
        assert taken["arrival_ps"].is_sorted()
