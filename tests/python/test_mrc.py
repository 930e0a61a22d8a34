"""Miss-ratio curves, from Python and the command line."""

import json
import subprocess
from pathlib import Path
from typing import get_type_hints

import polars as pl
import pytest
import zipf
from conftest import Command
from test_report import needs_browser, opened

import wordline as package
from wordline._caching.mrc import MrcAccuracy, MrcCurve, MrcPoint, MrcSize, MrcSummary

BUNDLED = Path(__file__).parents[2] / "traces" / "postgresql-mixed.csv.gz"


def done(answer: subprocess.CompletedProcess[str]) -> str:
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_the_exact_curve_matches_lru_at_every_size(trace: str) -> None:
    sizes = [1, 2, 10, 100, "1%", "10%", "50%", "100%"]
    (curve,) = package.mrc(trace, sizes=sizes).curves
    runs = package.cache(trace, "lru", sizes).runs
    assert [(at["size_pages"], at["hits"]) for at in curve["sizes"]] == [
        (run["size_pages"], run["hits"]) for run in runs
    ]


@pytest.mark.slow
def test_estimates_are_as_accurate_as_published(place: Path) -> None:
    trace = zipf.keys32le(place / "zipf.bin", 10_000_000)
    found = {one["method"]: one for one in package.mrc(trace, accuracy=True).accuracy}
    shards, aet = found["SHARDS, rate 0.01"], found["AET"]
    assert shards["hashes"] == 20
    assert 0.001 < shards["error_mean"] < 0.004, "about 0.002 over independent hashes"
    assert 0.001 < aet["error_mean"] < 0.006, "about 0.003"


def test_only_requested_methods_run() -> None:
    def methods(*names: str, **more: object) -> list[str]:
        curves = package.mrc(BUNDLED, names, **more).curves  # pyright: ignore[reportArgumentType]
        return [curve["method"] for curve in curves]

    assert methods("exact,shards", "aet") == ["exact", "SHARDS, rate 0.01", "AET"]
    assert methods("shards", samples=64) == ["SHARDS, 64 keys"]
    assert methods("shards", samples=64, rate=0.1) == ["SHARDS, rate 0.1", "SHARDS, 64 keys"]
    assert methods("exact", accuracy=True) == [
        "exact",
        "SHARDS, rate 0.01",
        "SHARDS, 8192 keys",
        "AET",
    ]


def test_a_sample_of_all_pages_is_exact() -> None:
    result = package.mrc(BUNDLED, "exact,shards", rate=1.0, samples=1_000_000)
    exact, *sampled = result.curves
    assert len(sampled) == 2
    for curve in sampled:
        assert curve["sizes"] == exact["sizes"]


def test_sampling_alone_gives_the_same_curve_as_with_other_methods() -> None:
    _, beside = package.mrc(BUNDLED, "exact,shards", rate=0.1, sizes="100p").curves
    result = package.mrc(BUNDLED, "shards", rate=0.1, sizes="100p")
    (alone,) = result.curves
    assert alone["points"] == beside["points"]
    assert alone["sizes"][0]["hits"] == beside["sizes"][0]["hits"]
    assert any("estimate" in note for note in result.summary["input"]["notes"])
    (other,) = package.mrc(BUNDLED, "shards", rate=0.1, sizes="100p", seed=2).curves
    assert other["points"] != beside["points"]


def test_the_memory_of_a_sample_is_reported(tmp_path: Path) -> None:
    """The trace has 2^21 pages, each requested once. A sample of 1/1024 has 2,048 pages within the
    sampling error (7 % is three standard deviations). A maximum sample size is never exceeded.
    Exact methods report no sample."""
    path = tmp_path / "distinct.csv"
    rows = [f"0,write,{one << 30},{1 << 30},0" for one in range(8)]
    path.write_text("\n".join(["time_ns,op,offset_bytes,size_bytes,volume", *rows, ""]))
    result = package.mrc(path, ["exact", "shards"], rate=1 / 1024, samples=2000)
    exact, by_rate, by_size = result.curves
    assert exact["sampled_pages"] is None
    assert exact["sample_bytes"] is None
    assert by_rate["sampled_pages"] == pytest.approx(2048, rel=0.07)
    assert by_size["sampled_pages"] == 2000
    for one in (by_rate, by_size):
        pages, taken = one["sampled_pages"], one["sample_bytes"]
        assert pages is not None
        assert taken is not None
        assert taken >= 12 * pages


def test_trims_are_left_out_with_a_note() -> None:
    (note,) = package.mrc(BUNDLED).summary["input"]["notes"]
    assert "TRIMs were ignored" in note


def test_results_match_their_types() -> None:
    summary = package.mrc(BUNDLED, accuracy=True).summary
    assert summary.keys() == get_type_hints(MrcSummary).keys()
    assert summary["curves"][0].keys() == get_type_hints(MrcCurve).keys()
    assert summary["curves"][0]["sizes"][0].keys() == get_type_hints(MrcSize).keys()
    assert summary["curves"][0]["points"][0].keys() == get_type_hints(MrcPoint).keys()
    assert summary["accuracy"][0].keys() == get_type_hints(MrcAccuracy).keys()


def test_curves_decrease_and_end_at_the_footprint() -> None:
    result = package.mrc(BUNDLED)
    points = result.table.polars()
    assert points["size_pages"].is_sorted()
    assert points["miss_ratio"].is_sorted(descending=True)
    cold = result.summary["input"]["distinct_pages"] / result.summary["input"]["page_requests"]
    assert points["miss_ratio"][-1] == pytest.approx(cold, abs=1e-12)
    assert points["size_pages"][-1] <= result.summary["input"]["distinct_pages"]


def test_the_command_prints_and_writes_results(wordline: Command, trace: str) -> None:
    output = done(wordline("mrc", trace, "--method", "exact,aet", "--accuracy", "--out", "here"))
    for word in ("disk.csv", "exact", "AET", "SHARDS, rate 0.01", "±", "95 % confidence"):
        assert word in output
    assert {path.name for path in Path("here").iterdir()} == {
        "summary.json",
        "curve.parquet",
        "checksums.json",
        "report.html",
    }
    told = json.loads(Path("here/summary.json").read_text())
    rows = sum(len(curve["points"]) for curve in told["curves"])
    assert pl.read_parquet("here/curve.parquet").height == rows
    before = Path("here/report.html").read_text()
    done(wordline("report", "here"))
    assert Path("here/report.html").read_text() == before


@pytest.mark.parametrize(
    ("args", "fault"),
    [
        (["--method", "shard"], "method: 'shard' is not one of exact, shards, aet"),
        (["--rate", "0.1"], "rate: applies only to the method `shards`"),
        (["--method", "shards", "--rate", "0"], "rate: 0.0 is not above 0"),
        (["--method", "shards", "--samples", "0"], "samples: 0 is not between 1 and"),
        (["--sizes", "7"], "size `7`: the unit is missing"),
    ],
)
def test_errors_are_one_line_with_a_remedy(
    wordline: Command, trace: str, args: list[str], fault: str
) -> None:
    answer = wordline("mrc", trace, *args)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.count("\n") == 1
    assert fault in answer.stderr


@needs_browser
def test_the_chart_is_drawn(trace: str, tmp_path: Path) -> None:
    page = package.mrc(trace, "exact,shards,aet", rate=0.5, accuracy=True).report("page.html")
    seen = opened(page, tmp_path / "profile")
    assert (seen.charts, seen.fault) == ("1/1", None)
