"""The report in a browser: every chart is drawn, and nothing is fetched."""

import os
import pickle
import re
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from browser import dumped, needs_browser, require_fits, unfolded
from conftest import Command, environment, msr

import wordline
from wordline._render import units
from wordline._render.html import charts_of
from wordline._render.plotly import logarithmic
from wordline._render.report import from_folder

WRITTEN = {"erases", "wear", "views"}
ALL = {"distribution", "tail", "breakdown", "time", "channels", "dies"} | WRITTEN


@dataclass(frozen=True)
class Seen:
    """A page after its script has run, and the results that the script reported."""

    html: str
    charts: str
    fault: str | None


def opened(page: Path, profile: Path) -> Seen:
    html = dumped(unfolded(page, page.parent), profile)
    root = re.search(r"<html[^>]*>", html)
    assert root
    said = dict(re.findall(r'data-(\w+)="([^"]*)"', root[0]))
    return Seen(html, said.get("charts", "none"), said.get("fault"))


def simulated(device: str, lines: str, name: str = "disk.csv") -> Path:
    Path(name).write_text(lines)
    try:
        result = wordline.run(device, name)
    except wordline.RunError as early:
        result = early.result
    return result.report("report.html")


def charts(page: Path) -> set[str]:
    return set(re.findall(r'data-chart="(\w+)"', page.read_text()))


@needs_browser
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (lambda: msr(10_000, reads=0.3), ALL),
        # In sequence, all requests take equally long.
        (lambda: msr(2000, reads=1), ALL - WRITTEN - {"tail"}),
        (lambda: msr(1, reads=1), ALL - WRITTEN - {"tail"}),
        (lambda: msr(70_000) + "rubbish\n", ALL - WRITTEN),
    ],
    ids=["mixed, with GC", "reads only", "one request", "partial"],
)
def test_every_chart_is_drawn(
    tiny: str, tmp_path: Path, lines: Callable[[], str], expected: set[str]
) -> None:
    page = simulated(tiny, lines())
    assert charts(page) >= expected - WRITTEN
    seen = opened(page, tmp_path / "profile")
    assert seen.fault is None
    assert seen.charts == f"{len(charts(page))}/{len(charts(page))}"
    assert seen.html.count("js-plotly-plot") >= len(charts(page))


@needs_browser
def test_untrusted_text_is_escaped(tiny: str, tmp_path: Path) -> None:
    name = "<img src=x onerror=document.title='taken'>.csv"
    seen = opened(simulated(tiny, msr(50), name), tmp_path / "profile")
    assert seen.fault is None
    assert "<title>tiny under &lt;img src=x" in seen.html
    assert "<img src=x" not in seen.html


def zero_and_up(seen: dict[str, Any], axis: str) -> float:
    """Returns the position of 0 on a logarithmic axis, or a position below all values if it has
    none."""
    ticks = dict(zip(seen[axis]["ticktext"], seen[axis]["tickvals"], strict=True))
    return ticks.get("0", 0.0)


def later(lines: str) -> str:
    """Returns the same requests, 100 seconds later."""
    parts = (line.split(",", 1) for line in lines.splitlines())
    return "".join(f"{int(time) + 10**9},{rest}\n" for time, rest in parts)


@pytest.mark.parametrize(
    ("lines", "least_zeros"),
    [
        (lambda: msr(2000, reads=0.01, seed=5) + later(msr(1000, reads=1, seed=6)), 0.05),
        (lambda: msr(3000, reads=0.5), 0.1),
        (lambda: msr(60, reads=1), 1.0),
        (lambda: msr(20_000, reads=0.3), 0.0),
    ],
    ids=["few zeros", "many zeros", "only zeros", "with GC"],
)
def test_latency_curves_match_the_requests(
    tiny: str, lines: Callable[[], str], least_zeros: float
) -> None:
    Path("disk.csv").write_text(lines())
    empty = {"precondition.fill_ratio": 0.0}
    result = wordline.run(tiny, "disk.csv", overrides=empty, out="out")
    requests = pl.read_parquet("out/requests.parquet")
    shown = charts_of(Path("out/report.html").read_text())
    for op in requests["op"].unique():
        took = requests.filter(op=op)["latency_ps"].sort().to_numpy() / 1e6
        if op == "read":
            assert (took == 0).mean() >= least_zeros
        for chart in shown:
            if chart in ("distribution", "tail"):
                agree(shown[chart], op, took)
    assert len(requests) == result.summary["input"]["requests"]


def agree(chart: dict[str, Any], op: str, took: np.ndarray) -> None:
    """Compares a drawn curve with the response times."""
    layout = chart["layout"]
    drawn = next((one for one in chart["data"] if one["name"] == op), None)
    if drawn is None:
        assert len(np.unique(took)) <= 1, "only a curve without a slope is left out"
        return
    assert drawn["line"]["shape"] == "hv"
    zero = zero_and_up(layout, "xaxis")
    x, y = np.array(drawn["x"]), np.array(drawn["y"])
    assert (x > 0).all(), "a logarithmic axis shows only values above 0"
    low, high = (10**end for end in layout["xaxis"]["range"])
    assert ((low <= x) & (x <= high)).all()
    x = np.where(x == zero, 0.0, x)
    share = y / 100 if layout["yaxis"].get("type") != "log" else 1 - y

    def below(us: float) -> float:
        return float((took <= us * (1 + 1e-6)).mean())

    until = 2 * took.max() + 1
    if layout["yaxis"].get("type") == "log":  # A logarithmic axis cannot show the final 0.
        x, share, until = x[:-1], share[:-1], took.max() * 0.999
    assert (x[0], share[0]) == (pytest.approx(took.min(), rel=1e-6), pytest.approx(0, abs=1e-12))
    for us, seen in zip(x[1:], share[1:], strict=True):
        # Times are drawn with seven digits.
        assert below(us * (1 - 2e-6)) - 1e-8 <= seen <= below(us) + 1e-8
    # Between the points, the step agrees with the requests within one bucket.
    for us in np.geomspace(1e-3, until, 400):
        at = np.searchsorted(x, us, side="right") - 1
        seen = share[at] if at >= 0 else 0.0
        assert below(us / 1.07) - 1e-8 <= seen <= below(us) + 1e-8, us


class Outside(HTMLParser):
    """Collects the URLs that a page would fetch, and its security policy."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.policy = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.fetched += [
            f"{tag} {given[key]}"
            for key in ("src", "href", "data")
            if key in given and not (given[key] or "").startswith("#")
        ]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""


def test_the_report_is_self_contained(tiny: str) -> None:
    page = simulated(tiny, msr(2000))
    text = page.read_text()
    parser = Outside()
    parser.feed(text)
    assert parser.fetched == []
    assert "default-src 'none'" in parser.policy
    assert "connect-src" not in parser.policy, "the default forbids it"
    assert "@import" not in text.split("</style>")[0]
    assert text.count("plotly.js (cartesian - minified) v") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="reads the number of the user")
def test_a_report_needs_no_stored_template(wordline: Command, tmp_path: Path) -> None:
    """Compiled templates are stored in the folder for temporary files, if the user owns the place
    in it."""
    place, refused = tmp_path / "place", tmp_path / "refused"
    place.mkdir()
    refused.mkdir()
    (refused / f"_jinja2-cache-{os.getuid()}").touch()
    stored: list[list[int]] = []
    for temporary in (place, place, refused):
        done = wordline(
            *("run", "demo", "--set", "workload.requests=100", "--out", "drawn"),
            env=environment() | {"TMPDIR": str(temporary)},
        )
        assert done.returncode == 0, done.stderr
        assert "</html>" in Path("drawn/report.html").read_text()
        stored.append([file.stat().st_mtime_ns for file in temporary.glob("_jinja2-cache-*/*")])
    first, second, third = stored
    assert len(first) == 1
    assert second == first, "the second run reads what the first stored"
    assert third == []


def test_the_report_shows_the_metrics_of_the_summary(tiny: str) -> None:
    Path("disk.csv").write_text(msr(2000))
    result = wordline.run(tiny, "disk.csv", overrides={"ftl.gc.victim": "fifo"}, seed=77)
    text = result.report("report.html").read_text()
    summary = result.summary
    for expected in (
        units.duration(summary["latency"]["read"]["p99_9_us"]),
        units.number(summary["flash"]["write_amplification"]),
        units.size(summary["device"]["user_bytes"]),
        summary["digest"],
        "<code>77</code>",
        "fifo",
        *(reference["paper"] for reference in summary["references"] if reference["paper"]),
        *summary["notes"],
    ):
        assert expected in text.replace("&#39;", "'").replace("&amp;", "&"), expected


def without_folds(text: str) -> str:
    """Returns the part of a page that is visible before a section is opened."""
    parts = re.split(r"(<details[^>]*>|</details>)", text)
    depth, kept = 0, ""
    for part in parts:
        if part.startswith("<details"):
            depth += 1 if "open" not in part.split(">")[0] else 0
        elif part == "</details>":
            depth = max(0, depth - 1)
        elif not depth:
            kept += part
    return kept


def test_the_first_section_has_percentiles_and_set_keys(tiny: str) -> None:
    Path("disk.csv").write_text(msr(2000))
    keys = {"ftl.gc.victim": "fifo", "host.queue_depth": 7}
    result = wordline.run(tiny, "disk.csv", overrides=keys, out="out")
    drawn_again = from_folder(Path("out"))
    for page in (Path("out/report.html").read_text(), drawn_again):
        top = without_folds(page).split('<h2 id="latency">')[0]
        for op in ("read", "write"):
            for key in ("p50_us", "p99_us", "p99_99_us"):
                assert f"<td>{units.duration(result.summary['latency'][op][key])}</td>" in top
        assert "<small><code>ftl.gc.victim</code></small></dt><dd>fifo</dd>" in top
        assert "<small><code>host.queue_depth</code></small></dt><dd>7</dd>" in top
    assert tomllib.loads(Path("out/config.resolved.toml").read_text()) == tomllib.loads(
        result.config
    )
    plain = wordline.run(tiny, "disk.csv", out="plain")
    assert Path("plain/config.resolved.toml").read_text() == plain.config
    assert "Set for this run" not in Path("plain/report.html").read_text()


def test_long_values_of_set_keys_are_truncated_to_one_line(tiny: str) -> None:
    members = [{"name": f"member-{place}"} for place in range(40)]
    given = {"array.members": members, "workload.requests": 9}
    wordline.run(tiny, overrides=given, out="out")
    text = Path("out/config.resolved.toml").read_text()
    lines = [line for line in text.splitlines() if line.startswith("# --set ")]
    assert [line.split("=")[0] for line in lines] == [
        "# --set array.members",
        "# --set workload.requests",
    ]
    assert len(str(members)) > 900
    assert max(map(len, lines)) < 250
    again = wordline.run("out/config.resolved.toml", requests=False).summary
    assert len(again["members"]) == 40


def test_a_copied_result_keeps_its_set_keys(tiny: str) -> None:
    result = pickle.loads(pickle.dumps(wordline.run(tiny, overrides={"workload.requests": 99})))
    assert "<dd>99</dd>" in without_folds(result.report("report.html").read_text())


def test_folded_sections_show_their_headings(tiny: str) -> None:
    text = simulated(tiny, msr(10_000, reads=0.3)).read_text()
    shown = without_folds(text)
    for name in ("Load on the hardware", "Flash", "The run"):
        assert f">{name}</a>" in shown, "the contents name it"
        assert f">{name}</h2>" in text
    drawn = set(re.findall(r'data-chart="([^"]+)"', shown))
    assert drawn == {"distribution", "tail", "breakdown", "time"}


@needs_browser
def test_folded_charts_are_drawn_when_they_are_opened(tiny: str, tmp_path: Path) -> None:
    page = simulated(tiny, msr(10_000, reads=0.3))
    count = len(charts(page))
    assert f'data-charts="4/{count}"' in dumped(page, tmp_path / "profile")
    seen = opened(page, tmp_path / "profile")
    assert (seen.charts, seen.fault) == (f"{count}/{count}", None)


def test_logarithmic_axes_have_explicit_ticks_and_labels(tiny: str) -> None:
    """The library would show only the last digits, such as 8, 9, 10k, 2, 3."""
    Path("disk.csv").write_text(msr(20_000, reads=0.3))
    shown = charts_of(wordline.run(tiny, "disk.csv").report("report.html").read_text())
    axes = [
        axis
        for chart in shown.values()
        for axis in chart["layout"].values()
        if isinstance(axis, dict) and axis.get("type") == "log"
    ]
    assert axes
    assert all(axis["tickvals"] and axis["ticktext"] for axis in axes)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((8_000, 30_000), ["10,000", "20,000"]),
        ((1, 100), ["1", "2", "5", "10", "20", "50", "100"]),
        ((1, 1000), ["1", "10", "100", "1,000"]),
        ((1e-3, 1e6), ["0.01", "1", "100", "10,000", "1,000,000"]),
        ((3, 3), ["2", "5"]),
    ],
)
def test_a_logarithmic_axis_has_few_round_labels(
    values: tuple[float, float], labels: list[str]
) -> None:
    axis = logarithmic("size", values)
    low, high = axis["range"]
    within = [
        text
        for at, text in zip(axis["tickvals"], axis["ticktext"], strict=True)
        if low <= np.log10(at) <= high
    ]
    assert within == labels
    assert low <= np.log10(min(values))
    assert high >= np.log10(max(values))


def test_the_report_has_a_section_for_the_host_side(tiny: str) -> None:
    Path("disk.csv").write_text(msr(500))
    side = {"host_side.architecture.flash-software.mapping": "b-tree"}
    result = wordline.run(tiny, "disk.csv", overrides=side)
    text = result.report("report.html").read_text()
    found = result.summary["host_side"]
    assert found is not None
    assert "No request completed." not in text
    section = text.split('aria-labelledby="host-side"')[1].split("</section>")[0]
    for expected in (
        units.share(found["lock_utilisation"]),
        f"{units.whole(found['lookup_steps'])} steps",
        f"{units.size(found['map_bytes'])}, {units.size(found['map_most_bytes'])} at most",
        f"{units.whole(found['map_entries'])} for {units.whole(found['map_units'])} mapping units",
    ):
        assert expected in section, expected


def test_empty_charts_have_an_explanation(tiny: str) -> None:
    text = simulated(tiny, msr(500, reads=1)).read_text()
    assert "no writes in this run" in text
    assert "No block was erased" in text
    assert ">None<" not in text
    shown = re.sub(r"<[^>]*>", " ", text.split("</head>")[1].split("<noscript>")[0])
    assert not re.search(r"\b(nan|inf|undefined)\b", shown, re.IGNORECASE)


def paused() -> str:
    """Returns 500 requests in 0.1 s, a pause of ten minutes, and 500 more requests."""
    first = msr(500, reads=0.5)
    parts = (line.split(",", 1) for line in msr(500, reads=0.5, seed=2).splitlines())
    return first + "".join(f"{int(time) + 6 * 10**9},{rest}\n" for time, rest in parts)


def test_pauses_can_be_left_out(tiny: str) -> None:
    """Without pauses, each interval is as wide as its active time."""
    Path("disk.csv").write_text(paused())
    result = wordline.run(tiny, "disk.csv", out="out")
    (menu,) = charts_of(Path("out/report.html").read_text())["time"]["layout"]["updatemenus"]
    whole, active = (button["args"][0]["x"][0] for button in menu["buttons"])
    series = pl.read_parquet("out/series.parquet")
    busy_ms = series["busy_ms"].to_numpy()
    assert len(whole) == len(active) == len(busy_ms)
    assert [time is None for time in active] == [ms == 0 for ms in busy_ms]
    ends = busy_ms.cumsum()
    expected = [end - ms / 2 for end, ms in zip(ends, busy_ms, strict=True) if ms]
    scale = {"s": 1e-3, "ms": 1.0}[
        menu["buttons"][1]["args"][1]["xaxis.title.text"][-3:].strip("( )")
    ]
    assert [time for time in active if time is not None] == pytest.approx(
        [ms * scale for ms in expected], rel=1e-6
    )
    assert menu["buttons"][0]["args"][1]["shapes"] == []
    (cut,) = menu["buttons"][1]["args"][1]["shapes"]
    idle = series.filter(pl.col("busy_ms") == 0)
    seconds = (idle["end_s"] - idle["start_s"]).sum()
    assert cut["label"]["text"] == units.duration(seconds * 1e6)
    assert seconds == pytest.approx(600, rel=0.02)
    first = sum(ms for ms in busy_ms[: list(busy_ms == 0).index(True)])
    assert cut["x0"] == cut["x1"] == pytest.approx(first * scale, rel=1e-6)
    assert ends[-1] == pytest.approx(result.summary["time"]["busy_s"] * 1e3)
    busy = wordline.run(tiny, overrides={"workload.requests": 500}).report("busy.html")
    assert "updatemenus" not in charts_of(busy.read_text())["time"]["layout"]


def test_only_pauses_with_room_are_labelled(tiny: str) -> None:
    """The load has 30 pauses of equal length."""
    lines = msr(310, reads=0.5).splitlines()
    parts = [line.split(",", 1) for line in lines]
    Path("disk.csv").write_text(
        "".join(
            f"{int(time) + 10**9 * (index // 10)},{rest}\n"
            for index, (time, rest) in enumerate(parts)
        )
    )
    wordline.run(tiny, "disk.csv", out="out")
    (menu,) = charts_of(Path("out/report.html").read_text())["time"]["layout"]["updatemenus"]
    cuts = menu["buttons"][1]["args"][1]["shapes"]
    assert len(cuts) == 30
    assert sum(cut["label"]["text"] != "" for cut in cuts) <= 16


def test_each_stream_and_each_member_has_a_curve(tiny: str) -> None:
    Path("a.csv").write_text(msr(600))
    Path("b.csv").write_text(msr(300, reads=0.1, seed=2))
    members = [{"name": "left"}, {"name": "right"}]
    result = wordline.run(
        tiny, streams={"a": "a.csv", "b": "b.csv"}, overrides={"array.members": members}, out="out"
    )
    shown = charts_of(Path("out/report.html").read_text())
    rows = pl.DataFrame(result.requests)
    for place, (name, drawn) in enumerate(zip("ab", shown["streams"]["data"], strict=True)):
        took = rows.filter(stream=place)["latency_ps"].to_numpy() / 1e6
        assert drawn["name"] == name
        for us, percent in zip(drawn["x"][1:], drawn["y"][1:], strict=True):
            low, high = ((took <= us * (1 + by)).mean() * 100 for by in (-2e-6, 2e-6))
            assert low - 1e-6 <= percent <= high + 1e-6
    assert [drawn["name"] for drawn in shown["members"]["data"]] == ["left", "right"]
    axis = shown["channels"]["data"][0]["y"]
    assert axis == ["left channel 0", "left channel 1", "right channel 0", "right channel 1"]


def test_members_have_distinct_line_styles(tiny: str) -> None:
    Path("disk.csv").write_text(msr(1000))
    members = [{"name": "m", "count": 20}]
    wordline.run(tiny, "disk.csv", overrides={"array.members": members}, out="out")
    drawn = charts_of(Path("out/report.html").read_text())["members"]["data"]
    looks = {(one["line"]["color"], one["line"]["dash"]) for one in drawn}
    assert len(looks) == len(drawn) == 20


def test_times_summed_over_planes_have_an_explanation(tiny: str) -> None:
    text = simulated(tiny, msr(3000, reads=0.1)).read_text()
    assert re.search(r"time in GC, summed over planes<small>from the choice of a victim", text)


@needs_browser
def test_no_page_is_wider_than_a_phone(tiny: str, tmp_path: Path) -> None:
    Path("disk.csv").write_text(paused())
    streams = {"with-a-rather-long-name": "disk.csv", "b": "disk.csv"}
    members = [{"name": "member-with-a-long-name", "count": 4}]
    wordline.run(tiny, streams=streams, overrides={"array.members": members}, out="run")
    wordline.cache("disk.csv", "lru,arc", ["1%", "10%"], out="cache")
    wordline.mrc("disk.csv", "exact,aet", out="mrc")
    for place in ("run", "cache", "mrc"):
        require_fits(Path(place, "report.html"), tmp_path)
