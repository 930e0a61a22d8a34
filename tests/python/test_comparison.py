"""Comparisons and sweep reports, checked against known data."""

import json
import random
import re
from datetime import date
from pathlib import Path
from typing import Any

import numpy
import polars
import pytest
from browser import dumped, needs_browser, require_fits, unfolded
from conftest import Command
from hypothesis import given
from hypothesis import strategies as st

import wordline
from wordline._internal import statistics
from wordline._render.comparison_page import MAIN, key_values, per_cent, verdict
from wordline._render.html import charts_of
from wordline._render.metric import metric
from wordline._render.terminal.comparison import print_comparison
from wordline._sweep.effects import Effects, pareto
from wordline._sweep.plan import Plan
from wordline._sweep.report import lines_of, render

LOAD = """
[workload]
requests = 2000
read_ratio = 0.5
pattern = "uniform"
arrival.poisson.iops = 2000
"""
AGED = {"precondition.fill_ratio": 1.0, "precondition.overwrite_ratio": 1.0}


@pytest.fixture
def device(tiny: str, place: Path) -> str:
    with (place / tiny).open("a") as file:
        file.write(LOAD)
    return tiny


def test_a_comparison_shows_only_differences(device: str, wordline: Command) -> None:
    wordline("run", device, "--out", "one")
    wordline("run", device, "--set", "nand.timing.read_ns=100000", "--out", "other")
    wordline("run", device, "--out", "again")
    done = wordline("compare", "one", "other", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["figure"]: row for row in json.loads(done.stdout)}
    for name in ("one", "other"):
        mean = json.loads(Path(name, "summary.json").read_text())["latency"]["read"]["mean_us"]
        assert rows["latency.read.mean_us"][name] == pytest.approx(mean)
    assert rows["latency.read.mean_us"]["other ratio"] > 1.1
    assert rows["latency.read.mean_us"]["other beyond noise"] is None
    shown = wordline("compare", "one", "other")
    assert "nand.timing.read_ns" in shown.stdout
    same = wordline("compare", "one", "again")
    assert "0 metrics changed" in same.stdout


def test_several_results_are_compared_with_the_first(
    device: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    reads = {"one": 40_000, "other": 50_000, "third": 90_000}
    for name, read_ns in reads.items():
        wordline.run(device, overrides={"nand.timing.read_ns": read_ns}, out=name)
    found = wordline.compare(*reads)
    print_comparison(found)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    line = next(line for line in found.lines if line.figure == "latency.read.mean_us")
    rows = [row.split() for row in shown.splitlines() if "read latency, mean" in row]
    assert len(rows) == 2
    for place, row in enumerate(rows, 1):
        # A metric name of three words, two values with units, a change and a verdict.
        assert " ".join(row[7:-1]) == per_cent(line, place)
        assert row[-1] == "worse", "slower cells"
    assert rows[0] != rows[1]


def test_a_change_is_judged_by_the_direction_of_its_metric(device: str) -> None:
    for name, read_ns in {"slow": 90_000, "fast": 40_000}.items():
        wordline.run(device, overrides={"nand.timing.read_ns": read_ns}, out=name)
    found = wordline.compare("slow", "fast")
    verdicts = {line.figure: verdict(line, 1) for line in found.lines if line.differs}
    assert verdicts["latency.read.mean_us"] == "better"
    assert verdicts["utilisation.die_mean"] == "", "busy dies are neither"
    back = wordline.compare("fast", "slow")
    assert {verdict(line, 1) for line in back.lines if line.figure == "latency.read.mean_us"} == {
        "worse"
    }


def test_traces_are_shown_by_name_if_the_names_differ() -> None:
    assert key_values("trace", ["/a/b/x.csv", "y.csv, /q/z.csv"]) == ["x.csv", "y.csv, z.csv"]
    assert key_values("trace", ["/a/x.csv", "/b/x.csv"]) == ["/a/x.csv", "/b/x.csv"]
    assert key_values("ftl.gc.victim", [None, "fifo"]) == ["–", "fifo"]


def test_a_difference_within_noise_is_not_called_better(device: str) -> None:
    one = wordline.sweep(device, seeds=6, overrides=AGED)
    others = wordline.sweep(device, seeds=[11, 12, 13, 14, 15, 16], overrides=AGED)
    found = one.compare(others)
    line = next(line for line in found.lines if line.figure == "latency.write.mean_us")
    assert line.exceeds_noise(1) is False
    assert line.difference(1) != 0
    assert verdict(line, 1) == ""


def test_the_page_shows_differences_and_folds_equal_metrics(device: str, tmp_path: Path) -> None:
    wordline.run(device, out="one")
    wordline.run(device, overrides={"nand.timing.read_ns": 90_000}, out="other")
    found = wordline.compare("one", "other")
    page = found.report(tmp_path / "page.html").read_text()
    open_part = re.sub(r"<details.*?</details>", "", page, flags=re.DOTALL)
    assert "nand.timing.read_ns" in open_part
    assert "nand.timing.program_ns" not in open_part
    assert "nand.timing.program_ns" in page
    shown = {path for path in MAIN if f"<code>{path}</code>" in open_part}
    assert shown == {line.figure for line in found.lines if line.differs} & set(MAIN)
    rows = dict(re.findall(r"<code>([^<]*)</code></span></th><td([^>]*)>", open_part))
    assert rows["latency.read.mean_us"] == ' class="worse"'
    assert re.search(r"latency.read.mean_us</code>.*?<td>[\d.]+ (µs|ms)</td>", open_part)
    equal = [line.figure for line in found.lines if not line.differs]
    assert all(f"<code>{path}</code>" in page for path in equal)
    assert not [path for path in equal if f"<code>{path}</code>" in open_part]


@needs_browser
def test_the_comparison_fits_on_a_phone(device: str, tmp_path: Path) -> None:
    for name, read_ns in {"one": 40_000, "other": 90_000, "a-third-of-them": 50_000}.items():
        wordline.run(device, overrides={"nand.timing.read_ns": read_ns}, out=name)
    for names in (("one", "other"), ("one", "other", "a-third-of-them")):
        page = wordline.compare(*names).report(tmp_path / "page.html")
        assert 'data-charts="1/1"' in dumped(page, tmp_path / "profile")
        require_fits(page, tmp_path)


def test_sweeps_over_seeds_measure_noise(device: str) -> None:
    sweep = wordline.sweep
    one = sweep(device, seeds=6, overrides=AGED)
    slower = sweep(device, seeds=6, overrides=AGED | {"nand.timing.program_ns": 900_000})
    others = sweep(device, seeds=[11, 12, 13, 14, 15, 16], overrides=AGED)
    rows = {row["figure"]: row for row in one.compare(slower, others).table().to_dicts()}
    line = rows["latency.write.mean_us"]
    assert line["sweep 2 beyond noise"] is True
    assert line["sweep 3 beyond noise"] is False
    expected = one.table()["latency.write.mean_us"].mean()
    assert line["sweep 1"] == pytest.approx(expected)
    assert line["sweep 2 difference"] == pytest.approx(line["sweep 2"] - line["sweep 1"])
    assert line["sweep 2 difference"] > line["sweep 2 ±"] > 0
    assert abs(line["sweep 3 difference"]) < line["sweep 3 ±"]
    assert one.compare(slower).configuration() == {"nand.timing.program_ns": [500_000, 900_000]}


def test_differences_between_keys_are_not_noise() -> None:
    # a differs by 10 with x, by 0.01 with the seed, and by 0.1 between sides.
    frame = points(4)
    shifted = frame.with_columns(polars.col("flash.a") + 0.1)
    one, other = wordline.Sweep(frame), wordline.Sweep(shifted)
    rows = {row["figure"]: row for row in one.compare(other).table().to_dicts()}
    assert rows["flash.a"]["sweep 2 difference"] == pytest.approx(0.1)
    assert rows["flash.a"]["sweep 2 beyond noise"] is True
    every = ([side["flash.a"].to_list()] for side in (frame, shifted))
    assert statistics.difference(*every).exceeds_noise is False
    single = wordline.Sweep(points(1)).compare(wordline.Sweep(points(1)))
    assert single.table()["sweep 2 beyond noise"].is_null().all()


def test_differing_keys_include_defaults_and_varied_values(device: str, wordline: Command) -> None:
    wordline("run", device, "--out", "greedy")
    wordline("run", device, "--set", "ftl.gc.victim=fifo", "--out", "fifo")
    wordline("run", device, "--set", "ftl.gc.victim.d-choices.d=3", "--out", "some")
    wordline(
        "sweep", device, "--vary", "ftl.gc.victim=fifo,random", "--seeds", "2", "--out", "both"
    )
    ties = {"ftl.gc.victim.greedy.ties": ["longest", None]}
    assert differing("greedy", "fifo") == {"ftl.gc.victim": [None, "fifo"], **ties}
    assert differing("greedy", "some") == {"ftl.gc.victim.d-choices.d": [None, 3], **ties}
    assert differing("fifo", "both") == {
        "ftl.gc.victim": ["fifo", ["fifo", "random"]],
        "seed": [1, [1, 2]],
    }


def differing(*folders: str) -> dict[str, list[object]]:
    return wordline.compare(*folders).configuration()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("absent", "absent2"), "absent: holds no results"),
        (("here",), "too few results to compare"),
        ((), "DIR DIR"),
    ],
)
def test_results_that_cannot_be_compared_are_rejected(
    wordline: Command, args: tuple[str, ...], said: str
) -> None:
    done = wordline("compare", *args)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["points.parquet", "summary.json"])
def test_damaged_results_are_reported(device: str, wordline: Command, name: str) -> None:
    wordline("run", device, "--out", "good")
    for content in ("", "{}", "x"):
        Path("bad").mkdir(exist_ok=True)
        Path("bad", name).write_text(content)
        Path("bad/config.resolved.toml").write_text("")
        done = wordline("compare", "good", "bad")
        assert done.returncode == 2
        assert "bad" in done.stderr
        assert "internal error of Wordline" not in done.stderr


def points(seeds: int) -> polars.DataFrame:
    """Returns points with known metrics: a = 10 x, b depends on word and x together, c is noise."""
    draw = random.Random(1)
    rows: list[dict[str, Any]] = []
    for x in (1, 2, 3):
        for word in ("p", "q"):
            for seed in range(seeds):
                sign = 1 if word == "p" else -1
                rows.append(
                    {
                        "point": len(rows),
                        "key": str(len(rows)),
                        "x": x,
                        "word": word,
                        "seed": seed,
                        "status": "done",
                        "error": None,
                        "flash.a": 10.0 * x + draw.gauss(0, 0.01),
                        "flash.b": sign * (x - 2) + draw.gauss(0, 0.01),
                        "flash.c": draw.gauss(5, 1),
                        "flash.same": 1.0,
                        "digest": "0",
                        "version": "0",
                    }
                )
    return polars.DataFrame(rows, infer_schema_length=None)


def with_metrics(frame: polars.DataFrame, **added: polars.Expr) -> polars.DataFrame:
    """Adds metrics to the table. Double underscores in their names stand for dots."""
    named = [one.alias(name.replace("__", ".")) for name, one in added.items()]
    wide = frame.with_columns(named)
    last = ["digest", "version"]
    return wide.select([name for name in wide.columns if name not in last] + last)


def chosen(chart: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns the figure with this name from a chart with several figures."""
    return next(one for one in chart["choices"] if one["name"] == name)


class TestEffects:
    def test_a_key_explains_the_variance_that_it_causes(self) -> None:
        found = Effects(points(5))
        assert found.keys == ["x", "word"]
        assert found.figures == ["flash.a", "flash.b", "flash.c"]
        of_a = found.effect("x", "flash.a")
        assert of_a.share == pytest.approx(1, abs=1e-4)
        assert of_a.exceeds_noise is True
        assert [level.mean for level in of_a.levels] == pytest.approx([10, 20, 30], abs=0.02)
        assert found.effect("word", "flash.a").exceeds_noise is False

    def test_interactions_are_not_attributed_to_a_key(self) -> None:
        found = Effects(points(5))
        shares = [found.effect(key, "flash.b").share or 0 for key in found.keys]
        noise = found.noise("flash.b")
        assert noise is not None
        assert sum(shares) + (noise.share or 0) < 0.01

    def test_keys_that_vary_together_have_one_effect(self) -> None:
        frame = points(3)
        twin = (10 - frame["x"]).alias("y")
        found = Effects(frame.insert_column(3, twin))
        assert found.keys == ["x", "word"]
        assert found.together == {"x": ["y"]}
        assert "they vary together" in render(found.frame)
        assert Effects(points(3)).together == {}

    def test_noise_is_not_an_effect(self) -> None:
        found = Effects(points(12))
        noise = found.noise("flash.c")
        assert noise is not None
        assert noise.variance == pytest.approx(1, rel=0.4)
        assert noise.freedom == 6 * 11
        assert not any(found.effect(key, "flash.c").exceeds_noise for key in found.keys)

    def test_intervals_of_levels_use_the_pooled_variance(self) -> None:
        frame = points(4)
        found = Effects(frame).effect("word", "flash.c")
        cells = frame.group_by("x", "word").agg(polars.col("flash.c").var(ddof=1))["flash.c"]
        pooled = float(numpy.mean(cells.to_numpy()))
        # Student's t with 18 degrees of freedom, from a published table; 12 points per level.
        expected = 2.10092 * (pooled / 12) ** 0.5
        assert [level.half_width for level in found.levels] == pytest.approx(
            [expected] * 2, rel=1e-4
        )

    def test_a_single_seed_gives_no_estimate_of_noise(self) -> None:
        found = Effects(points(1))
        assert found.noise("flash.a") is None
        assert found.effect("x", "flash.a").exceeds_noise is None

    @given(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30),
        st.booleans(),
        st.booleans(),
    )
    def test_no_point_dominates_the_pareto_front(
        self, values: list[tuple[int, int]], first: bool, second: bool
    ) -> None:
        pairs = [(float(x), float(y)) for x, y in values]

        def better(one: tuple[float, float], other: tuple[float, float]) -> bool:
            signs = (-1 if first else 1, -1 if second else 1)
            a = [s * v for s, v in zip(signs, one, strict=True)]
            b = [s * v for s, v in zip(signs, other, strict=True)]
            return a != b and a[0] <= b[0] and a[1] <= b[1]

        best = {one for one in pairs if not any(better(other, one) for other in pairs)}
        assert {pairs[place] for place in pareto(pairs, (first, second))} == best


class TestReports:
    def test_the_page_shows_the_values_of_the_table(self) -> None:
        page = render(points(3))
        charts = charts_of(page)
        assert set(charts) == {"lines", "shares", "heat-0"}
        heat = chosen(charts["heat-0"], "flash: b")["data"][0]
        assert heat["z"][1] == pytest.approx([1, 0, -1], abs=0.05)
        assert len(page) < 2_000_000

    def test_each_point_has_the_interval_over_its_seeds(self) -> None:
        # With word p, x = 1 hardly varies and x = 3 does; a pooled interval would be equal for
        # both.
        steady, varying = polars.col("flash.a"), polars.col("flash.c") * 3
        is_varying = (polars.col("word") == "p") & (polars.col("x") == 3)
        frame = with_metrics(
            points(4),
            latency__read__p99_us=polars.when(is_varying).then(varying).otherwise(steady),
        )
        drawn = charts_of(render(frame))["lines"]
        one = chosen(drawn, "read latency, p99")
        assert [line["name"] for line in one["data"]] == ["p", "q"]
        line = one["data"][0]
        assert line["x"] == [1, 2, 3]
        for at, mean, width in zip(line["x"], line["y"], line["error_y"]["array"], strict=True):
            own = frame.filter((polars.col("word") == "p") & (polars.col("x") == at))
            values = own["latency.read.p99_us"].to_numpy()
            assert mean == pytest.approx(values.mean(), rel=1e-5)
            # Student's t with 3 degrees of freedom, from a published table.
            expected = 3.18245 * values.std(ddof=1) / 2
            assert width == pytest.approx(expected, rel=1e-4)

    def test_the_page_names_device_trace_date_and_settings(self) -> None:
        plan = Plan("drives/mine.toml", "traces/monday.csv", seeds=2, set={"host.queue_depth": 7})
        page = render(points(2), plan, date(2026, 11, 7))
        assert "mine.toml <span>under</span> monday.csv" in page
        assert "7 November 2026" in page
        assert "host queue depth <small><code>host.queue_depth</code></small></dt><dd>7<" in page

    def test_every_combination_is_a_row_with_units(self) -> None:
        frame = with_metrics(
            points(2),
            latency__write__p99_us=polars.col("flash.a") * 1000,
            cache__hit_ratio=polars.col("flash.a") / 100,
        )
        table = render(frame).split("Every combination: means")[1].split("</table>")[0]
        rows = table.split("<tbody>")[1].split("</tr>")[:-1]
        assert len(rows) == 6
        assert "write latency, p99<code>latency.write.p99_us</code>" in table
        assert re.search(r"<td>(9.9|10.0)\d* ± 0\.\d+ ms</td>", rows[0])
        assert re.search(r"<td>(9.9|10.0)\d* ± 0\.\d+ %</td>", rows[0])

    def test_a_single_combination_has_an_interval_over_its_seeds(self) -> None:
        one = points(5).filter((polars.col("x") == 2) & (polars.col("word") == "p"))
        page = render(one.drop("x", "word"))
        mean, width = one["flash.c"].mean(), one["flash.c"].std()
        # Student's t with 4 degrees of freedom, from a published table.
        text = metric("flash.c").text(float(mean), 2.77645 * float(width) / 5**0.5)  # pyright: ignore
        assert f"<td>{text}</td>" in page

    def test_keys_with_too_many_values_are_averaged(self) -> None:
        rows = [
            {
                "point": 24 * x + 2 * y + z,
                "key": str(24 * x + 2 * y + z),
                "x": x,
                "y": y,
                "z": z,
                "w": f"w{z}",
                "status": "done",
                "error": None,
                "flash.a": x + 100.0 * z,
                "digest": "0",
                "version": "0",
            }
            for x in range(13)
            for y in range(12)
            for z in range(2)
        ]
        effects = Effects(polars.DataFrame(rows))
        assert lines_of(effects) == ("x", ["y"], ["z"]), "z and w vary together"
        page = render(effects.frame)
        assert "the mean of a combination, averaged over z;" in page
        drawn = chosen(charts_of(page)["lines"], "flash: a")["data"]
        assert len(drawn) == 12
        assert all(line["y"] == [x + 50 for x in range(13)] for line in drawn)

    def test_no_combination_dominates_the_pareto_front(self) -> None:
        frame = with_metrics(
            points(2),
            latency__read__p99_us=polars.col("flash.a"),
            throughput__iops=100 - polars.col("flash.a"),
        )
        drawn = chosen(charts_of(render(frame))["pareto"], "read latency, p99 and IOPS")
        assert "lower is better" in drawn["layout"]["xaxis"]["title"]["text"]
        assert "higher is better" in drawn["layout"]["yaxis"]["title"]["text"]
        front = drawn["data"][1]
        # The smallest latency has the highest IOPS, so it dominates all other points.
        assert front["x"] == [min(drawn["data"][0]["x"])]

    def test_values_of_keys_are_escaped(self) -> None:
        frame = points(2).with_columns(word=polars.col("word").replace("p", "<script>alert(1)"))
        assert "<script>alert" not in render(frame)

    def test_a_sweep_of_failed_points_has_a_page(self) -> None:
        frame = points(1).with_columns(
            status=polars.lit("failed"), error=polars.lit("a.csv:3: no number")
        )
        assert "a.csv:3: no number" in render(frame)

    @needs_browser
    def test_every_chart_is_drawn_and_fits_on_a_phone(self, tmp_path: Path) -> None:
        page = tmp_path / "sweep.html"
        page.write_text(render(points(3)))
        seen = dumped(page, tmp_path / "profile")
        assert 'data-charts="2/3"' in seen, "one is folded"
        # The list of metrics is a labelled element of the page that accepts keyboard input.
        (listed,) = re.findall(
            r'<label class="chosen">Metric: <select>(.*?)</select></label><div class="chart[^"]*" '
            'data-chart="lines"',
            seen,
        )
        assert re.findall(r">([^<]+)</option>", listed) == ["flash: a", "flash: b", "flash: c"]
        assert 'data-charts="3/3"' in dumped(unfolded(page, tmp_path), tmp_path / "profile")
        require_fits(page, tmp_path)

    def test_the_command_writes_the_page_next_to_the_table(
        self, device: str, wordline: Command
    ) -> None:
        wordline("sweep", device, "--vary", "host.queue_depth=1,8", "--out", "here")
        done = wordline("sweep", "report", "here")
        assert done.returncode == 0, done.stderr
        assert Path("here/report.html").is_file()
        # The folder still belongs to the sweep: its plan continues there, and so does a plan with
        # more points.
        for depths in ("1,8", "1,4,8"):
            again = wordline(
                "sweep", device, "--vary", f"host.queue_depth={depths}", "--out", "here"
            )
            assert again.returncode == 0, again.stderr
        refused = wordline("sweep", "report", "nowhere")
        assert refused.returncode == 2
        assert "holds no points.parquet" in refused.stderr
