"""The public interface of `import wordline`."""

import itertools
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_type_hints, is_typeddict

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import TINY, msr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wordline
from wordline._api import spelling
from wordline._render import parts

PARTS = [
    "host_queue_ps",
    "link_wait_ps",
    "link_ps",
    "buffer_wait_ps",
    "buffer_ps",
    "queue_ps",
    "die_wait_ps",
    "bus_wait_ps",
    "bus_ps",
    "cell_ps",
    "gc_ps",
]


@pytest.fixture
def result(tiny: str, trace: str) -> wordline.Result:
    return wordline.run(tiny, trace=trace)


def test_latency_components_of_every_request_sum_to_its_latency(result: wordline.Result) -> None:
    rows = result.requests.polars()
    assert rows.height == result.summary["input"]["requests"] == 2000
    assert (rows["latency_ps"] == rows.select(pl.sum_horizontal(PARTS)).to_series()).all()
    assert (rows.select(pl.min_horizontal(PARTS)).to_series() >= 0).all()


def test_the_summary_agrees_with_the_rows_of_requests(result: wordline.Result) -> None:
    rows = result.requests.polars()
    for op in ("read", "write"):
        latencies = rows.filter(pl.col("op").cast(pl.String) == op)["latency_ps"] / 1e6
        told = result.summary["latency"][op]
        assert told["count"] == len(latencies)
        assert told["mean_us"] == pytest.approx(latencies.mean(), rel=1e-9)
        assert told["max_us"] == pytest.approx(latencies.max(), rel=1e-9)
        # The histogram has three significant digits.
        assert told["p99_us"] == pytest.approx(latencies.quantile(0.99, "higher"), rel=2e-3)
        parts = sum(result.summary["breakdown"][op].values())
        assert parts == pytest.approx(told["mean_us"], rel=1e-9)


def shape_of(kind: Any) -> Any:
    """Returns a TypedDict as nested sets of keys."""
    hints = get_type_hints(kind)
    return {name: shape_of(hint) if is_typeddict(hint) else None for name, hint in hints.items()}


def keys_of(value: Any, shape: Any) -> Any:
    return {
        name: keys_of(inner, shape.get(name)) if shape.get(name) else None
        for name, inner in value.items()
    }


def test_the_summary_matches_its_type(result: wordline.Result) -> None:
    shape = shape_of(wordline.Summary)
    assert keys_of(result.summary, shape) == shape


def test_the_series_sums_to_the_summary(result: wordline.Result) -> None:
    series, summary = result.series.polars(), result.summary
    assert series["reads"].sum() == summary["input"]["reads"]
    assert series["writes"].sum() == summary["input"]["writes"]
    assert series["page_programs"].sum() == summary["flash"]["page_programs"]
    assert series["erases"].sum() == summary["flash"]["erases"]
    for row in ("channel_utilisation", "die_utilisation"):
        assert series[row].explode().is_between(0, 1).all()


def test_erases_per_block_sum_to_the_erases_of_the_summary(tiny: str, place: Path) -> None:
    (place / "writes.csv").write_text(msr(10_000, reads=0))
    result = wordline.run(tiny, "writes.csv", requests=False)
    assert result.summary["flash"]["erases"] > 0
    blocks = result.blocks.polars()
    assert (blocks["erases"] * blocks["blocks"]).sum() == result.summary["flash"]["erases"]


def test_the_distribution_rises_to_one(result: wordline.Result) -> None:
    for _, curve in result.latency.polars().group_by("op"):
        assert curve["fraction_below"].is_sorted()
        assert curve["latency_us"].is_sorted()
        assert curve["fraction_below"][-1] == 1
        assert curve["count"].sum() in {
            part["count"] for part in result.summary["latency"].values()
        }


def test_arrow_libraries_read_equal_tables(result: wordline.Result) -> None:
    for table in (result.requests, result.series, result.latency, result.blocks, result.wear):
        read = pa.table(table)
        assert read.num_rows == table.polars().height
        assert table.polars().equals(pl.DataFrame(table))
        assert table.polars().equals(pl.DataFrame(pd.DataFrame.from_arrow(table)))
        rows = pd.DataFrame(table)  # pyright: ignore[reportArgumentType, reportCallIssue]
        assert list(rows.columns) == table.polars().columns
        assert len(table) == len(rows) == read.num_rows
        for name in rows.columns:
            assert list(rows[name].dropna()) == table.polars()[name].drop_nulls().to_list()
        assert table.polars().equals(duckdb.from_arrow(table).pl())
        assert table.name in repr(table)
        assert "<table" in table._repr_html_()


def test_a_table_outlives_its_result(tiny: str, trace: str) -> None:
    table = wordline.run(tiny, trace).requests
    first = pl.DataFrame(table)
    assert first["latency_ps"].sum() == pl.DataFrame(table)["latency_ps"].sum() > 0


def test_repr_describes_the_result(result: wordline.Result) -> None:
    assert "tiny" in repr(result)
    assert "2,000 requests" in repr(result)


def test_rows_can_be_left_out(tiny: str, trace: str) -> None:
    result = wordline.run(tiny, trace, requests=False)
    with pytest.raises(wordline.WordlineError, match="requests=True"):
        _ = result.requests


def test_same_inputs_give_the_same_digest_in_one_process(tiny: str, trace: str) -> None:
    first, second = (wordline.run(tiny, trace, seed=5) for _ in range(2))
    assert first.summary["digest"] == second.summary["digest"]
    assert first.requests.polars().equals(second.requests.polars())


def test_concurrent_simulations_do_not_interfere(tiny: str, trace: str) -> None:
    expected = wordline.run(tiny, trace).summary["digest"]
    digests: list[str] = []
    threads = [
        threading.Thread(target=lambda: digests.append(wordline.run(tiny, trace).summary["digest"]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert digests == [expected] * 4


def test_the_gil_is_released(tiny: str) -> None:
    load: dict[str, wordline.config.Value] = {"workload": {"requests": 300_000}}
    ticks = itertools.count()
    over = threading.Event()

    def tick() -> None:
        while not over.is_set():
            next(ticks)
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    began = time.perf_counter()
    wordline.run(tiny, overrides=load, requests=False)
    took = time.perf_counter() - began
    over.set()
    other.join()
    # With the GIL held, the other thread would have run only a few times.
    assert next(ticks) > took * 1000 / 20


def test_devices_may_be_paths_presets_or_mappings(tiny: str, place: Path, trace: str) -> None:
    mapping: dict[str, wordline.config.Value] = {
        "name": "tiny",
        "ssd": {"channels": 2, "ways": 1},
        "nand": {
            "geometry": {
                "dies_per_package": 1,
                "planes_per_die": 2,
                "blocks_per_plane": 32,
                "pages_per_block": 16,
                "page_bytes": 4096,
            }
        },
        "ftl": {"over_provisioning_ratio": 0.25, "gc": {"start_free_ratio": 0.1}},
    }
    digests = {
        wordline.run(device, trace).summary["digest"] for device in (tiny, place / tiny, mapping)
    }
    assert len(digests) == 1
    assert wordline.run("d4", trace).summary["device"]["channels"] == 8


def test_overrides_may_be_nested_or_dotted(tiny: str, trace: str) -> None:
    flat = wordline.run(tiny, trace, overrides={"ftl.gc.victim.d-choices.d": 4})
    nested = wordline.run(
        tiny, trace, overrides={"ftl": {"gc": {"victim": {"d-choices": {"d": 4}}}}}
    )
    assert "d-choices" in flat.config
    assert flat.config == nested.config
    assert wordline.config.show(tiny, {"ftl.gc.victim.d-choices.d": 4}) in (
        flat.config,
        nested.config,
    )


def test_progress_is_reported(tiny: str) -> None:
    heard: list[wordline.Progress] = []
    load: dict[str, wordline.config.Value] = {"workload.requests": 500_000}
    wordline.run(tiny, overrides=load, requests=False, progress=heard.append)
    assert heard
    assert set(heard[-1]) == {"simulated_s", "requests", "requests_total", "fraction", "phase"}


def test_ctrl_c_raises_with_the_results_so_far(tiny: str) -> None:
    def stop(state: wordline.Progress) -> None:
        if state["requests"] > 0:
            raise KeyboardInterrupt

    load: dict[str, wordline.config.Value] = {"workload.requests": 4_000_000_000}
    with pytest.raises(wordline.Interrupted) as caught:
        wordline.run(tiny, overrides=load, requests=False, progress=stop, out="here")
    assert caught.value.result.partial
    assert caught.value.result.summary["input"]["requests"] > 0
    assert json.loads(Path("here/summary.json").read_text())["partial"] is True


def test_an_exception_in_the_progress_callback_is_raised(tiny: str) -> None:
    def fail(_: wordline.Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        wordline.run(tiny, overrides={"workload.requests": 4_000_000_000}, progress=fail)


def test_an_error_in_the_middle_raises_with_the_results_so_far(tiny: str, place: Path) -> None:
    (place / "disk.csv").write_text(msr(70_000) + "rubbish\n")
    with pytest.raises(wordline.RunError, match=r"disk\.csv:70001") as caught:
        wordline.run(tiny, "disk.csv", out="here")
    assert caught.value.result.summary["input"]["requests"] == 70_000
    error = caught.value.result.summary["error"]
    assert error is not None
    assert spelling.message(error) == str(caught.value)
    assert Path("here/report.html").exists()


def test_points_in_threads_do_not_affect_other_runs_of_the_process(tiny: str, place: Path) -> None:
    (place / "disk.csv").write_text(msr(70_000))
    with ThreadPoolExecutor(1) as executor:
        assert wordline.sweep(tiny, "disk.csv", seeds=1, on=executor).failed == 0
    (place / "disk.csv").write_text(msr(70_000) + "rubbish\n")
    # A sweep reads a trace completely before the run; a run reads it progressively.
    with pytest.raises(wordline.RunError, match=r"disk\.csv:70001"):
        wordline.run(tiny, "disk.csv")


def test_an_error_in_the_first_requests_raises_before_the_simulation(
    tiny: str, place: Path
) -> None:
    (place / "disk.csv").write_text(msr(500) + "rubbish\n")
    with pytest.raises(wordline.WordlineError, match=r"disk\.csv:501") as caught:
        wordline.run(tiny, "disk.csv", out="here")
    assert not isinstance(caught.value, wordline.RunError)
    assert not Path("here").exists()


def test_the_end_of_simulated_time_is_reported(tiny: str, place: Path) -> None:
    rows = ["time_ns,op,offset_bytes,size_bytes,volume", "0,read,0,4096,0"]
    (place / "disk.csv").write_text("\n".join([*rows, f"{2**63 // 1000},read,0,4096,0", ""]))
    with pytest.raises(wordline.RunError, match="simulated time has reached its end") as caught:
        wordline.run(tiny, "disk.csv")
    assert caught.value.result.summary["latency"]["all"]["count"] == 1


def test_a_conversion_does_not_overwrite_its_source(place: Path) -> None:
    (place / "disk.csv").write_text(msr(5))
    with pytest.raises(wordline.WordlineError, match="is the trace itself"):
        wordline.trace_convert("disk.csv", "disk.csv", to="fio-iolog")
    assert (place / "disk.csv").read_text() == msr(5)


def test_write_and_report_return_their_paths(result: wordline.Result) -> None:
    files = result.write("here")
    assert sorted(files) == sorted(Path("here").resolve().iterdir())
    assert result.report("out.html").read_text() == Path("here/report.html").read_text()
    result.series.write("series.parquet")
    assert pl.read_parquet("series.parquet").equals(result.series.polars())


def test_presets_policies_and_metrics_are_listed() -> None:
    assert "d4" in [preset["name"] for preset in wordline.presets()]
    assert {"greedy", "fifo"} <= {policy["name"] for policy in wordline.policies("ftl.gc.victim")}
    assert "msr" in [known["name"] for known in wordline.trace_formats()]
    assert all(
        metric["unit"] is not None and metric["description"] for metric in wordline.metrics()
    )
    with pytest.raises(wordline.WordlineError):
        wordline.policies("no.such.family")


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=4)
)
anything: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=5,
)
keys = st.sampled_from(
    [
        "ftl.gc.victim",
        "ssd.channels",
        "ssd",
        "nand.geometry.page_bytes",
        "host.queue_depth",
        "name",
        "ftl.over_provisioning_ratio",
        "workload.requests",
        "replay.mode",
        "schema",
        "",
        ".",
        "a.b",
    ]
)
options = st.sampled_from(
    [
        "seed",
        "requests",
        "verify",
        "format",
        "on_bad_line",
        "time_order",
        "align",
        "volumes",
        "fit",
        "progress",
        "out",
    ]
)
hard = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
OURS = (wordline.WordlineError, TypeError, ValueError)


def tried(**arguments: Any) -> None:
    """Runs any arguments. The run must succeed, or fail with one of Wordline's errors and a
    message."""
    try:
        wordline.run(**{"max_requests": 20, **arguments})
    except OURS as fault:
        message = str(fault)
    else:
        return
    assert message
    assert "panicked" not in message


@hard
@given(key=keys | st.text(max_size=10), value=anything)
def test_any_override_runs_or_is_rejected(tiny: str, trace: str, key: str, value: Any) -> None:
    if isinstance(value, int) and value > 64:
        value %= 64  # A device of 2**60 channels is rejected, but one of 2**20 takes long.
    tried(device=tiny, trace=trace, overrides={key: value})


@hard
@given(name=options, value=anything)
def test_any_option_runs_or_is_rejected(tiny: str, trace: str, name: str, value: Any) -> None:
    tried(**{"device": tiny, "trace": trace, name: value})


@hard
@given(device=anything)
def test_any_device_runs_or_is_rejected(trace: str, device: Any) -> None:
    tried(device=device, trace=trace)


@hard
@given(
    text=st.text(max_size=60)
    | st.just(TINY).flatmap(lambda text: st.permutations(text.split("\n")).map("\n".join))
)
def test_any_device_file_runs_or_is_rejected(place: Path, trace: str, text: str) -> None:
    (place / "any.toml").write_bytes(text.encode(errors="surrogatepass"))
    tried(device="any.toml", trace=trace)


@hard
@given(trace=anything)
def test_any_trace_argument_runs_or_is_rejected(tiny: str, trace: Any) -> None:
    tried(device=tiny, trace=trace)


@hard
@given(
    content=st.binary(max_size=200)
    | st.text(alphabet="0123456789,.-RW \n\t", max_size=200).map(str.encode)
)
def test_any_trace_file_runs_or_is_rejected(tiny: str, place: Path, content: bytes) -> None:
    (place / "any.csv").write_bytes(content)
    tried(device=tiny, trace="any.csv")


def test_every_latency_component_is_reported(result: wordline.Result) -> None:
    breakdown = result.summary["breakdown"]["all"]
    assert [part["figure"] for part in parts.PARTS] == list(breakdown)
    assert len({part["name"] for part in parts.PARTS}) == len(breakdown)
    assert len({part["colour"] for part in parts.PARTS}) == len(breakdown)
    shown = {part["figure"] for part in parts.shown(result.summary)}
    assert {key for key, us in breakdown.items() if us} <= shown
    assert "buffer_us" not in shown
