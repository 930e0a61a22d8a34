"""What the terminal shows: the progress bar, the summary, listings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Table
from rich.text import Text

from wordline import parts as latency_parts
from wordline.provenance import formats
from wordline.replay import played
from wordline.units import (
    ABSENT,
    LATENCIES,
    bandwidth,
    duration,
    figures,
    many,
    number,
    share,
    size,
    whole,
)

if TYPE_CHECKING:
    from wordline.bench import Measure
    from wordline.cache import CacheInput, CacheProgress, CacheRun, CacheSummary
    from wordline.catalogue import Policy
    from wordline.mrc import MrcSummary
    from wordline.progress import Progress as State

MEGA = 1e6


LEAST_WIDTH = 72
"""Below so many columns lines are left to the terminal to break: tables cannot be read in less."""


NARROWED_WIDTH = 40
"""The same for tables that leave columns out where there is no room for them."""


def console(*, stderr: bool = False, least: int = LEAST_WIDTH) -> Console:
    """Standard output or standard error, not too narrow for tables."""
    there = Console(highlight=False, stderr=stderr)
    if there.width < least:
        wide = 80 if there.width == 0 else least
        return Console(highlight=False, stderr=stderr, width=wide)
    return there


class _Eta(ProgressColumn):
    """Time to go, from the share of the input consumed."""

    def render(self, task: Task) -> Text:
        if task.fields["fraction"] is None or task.time_remaining is None:
            return Text("ETA –", style="dim")
        return Text(f"ETA {_clock(task.time_remaining)}", style="dim")


class Bar:
    """A progress bar on standard error: phase, simulated time, requests a second, ETA."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[simulated]:>9} simulated"),
            TextColumn("{task.fields[rate]:>6} requests/s"),
            _Eta(),
            console=console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(
            "starting", total=None, simulated="0 s", rate="0", fraction=None
        )
        self._phase = ""
        self._before = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # the terminal may be gone; the run is not
            self._progress.stop()

    def show(self, state: "State") -> None:
        """Draws the state of a run."""
        if state["phase"] != self._phase:
            self._phase = state["phase"]
            self._before = state["requests"]
            self._progress.reset(self._task, total=None)
        elapsed = self._progress.tasks[self._task].elapsed or 0.0
        rate = (state["requests"] - self._before) / elapsed if elapsed > 0 else 0.0
        fraction = state["fraction"]
        self._progress.update(
            self._task,
            description=self._phase,
            total=None if fraction is None else 1.0,
            completed=fraction or 0.0,
            fraction=fraction,
            simulated=duration(state["simulated_s"] * MEGA),
            rate=_short(rate),
        )


class TraceBar:
    """A progress bar on standard error for work on a trace: what is done, and how far it is."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description:<24}"),
            BarColumn(bar_width=None),
            _Eta(),
            console=console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=None, fraction=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *fault: object) -> None:
        self._progress.stop()

    def show(self, state: "CacheProgress") -> None:
        """Draws the state of the work."""
        fraction = state["fraction"]
        self._progress.update(
            self._task,
            description=state["phase"],
            total=None if fraction is None else 1.0,
            completed=fraction or 0.0,
            fraction=fraction,
        )


def one_line(summary: Mapping[str, Any]) -> str:
    """A result in a line: device, requests, mean latencies, write amplification."""
    latency = summary["latency"]
    parts = [
        summary["device"]["name"],
        many(summary["input"]["requests"], "request"),
        f"read {duration(latency['read']['mean_us'])}",
        f"write {duration(latency['write']['mean_us'])}",
        f"write amplification {number(summary['flash']['write_amplification'])}",
    ]
    return ", ".join(parts + ["partial"] * summary["partial"])


def print_summary(summary: Mapping[str, Any], files: Sequence[Path]) -> None:
    """The summary of a run, and where its files are, on standard output."""
    shown = console()
    shown.print(Group(*_summary(summary)))
    _print_files(shown, files)


def print_rows(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A listing on standard output; only its last column may wrap."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=heading != headings[-1], overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def print_policies(policies: Sequence["Policy"]) -> None:
    """The policies on standard output, a table per family under the question it answers."""
    shown = console()
    for family in dict.fromkeys(policy["family"] for policy in policies):
        members = [policy for policy in policies if policy["family"] == family]
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for policy in members:
            table.add_row(Text(policy["name"]), Text(" ".join(policy["description"].split())))
            if policy["paper"]:
                table.add_row("", Text(policy["paper"], style="dim"))
        shown.print(Text(family, style="bold") + Text(f"  {members[0]['question']}"))
        shown.print(table)


def print_stat(stat: dict[str, Any]) -> None:
    """What is in a trace, on standard output, in groups."""
    shown = console()
    for line in formats(stat["files"]):
        shown.print(Text(f"Read: {line}"))
    for note in stat["notes"]:
        shown.print(Text(f"Note: {note}", style="dim"))
    told = {key: value for key, value in stat.items() if not isinstance(value, list)}
    single = {key: value for key, value in told.items() if not isinstance(value, dict)}
    groups = {key: value for key, value in told.items() if key not in single}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    table.add_column(min_width=34)
    table.add_column(justify="right", min_width=14)
    for name, group in {"requests": single, **groups}.items():
        table.add_section()
        table.add_row(Text(STAT_GROUPS.get(name, name.replace("_", " ")), style="bold"), "")
        for label, text in _stat_rows(cast("dict[str, Any]", group), ""):
            table.add_row(Text(f"  {label}"), text)
    shown.print(table)


STAT_GROUPS = {
    "footprint": "footprint, in pages of 4 KiB",
    "gaps": "gaps between arrivals",
    "idle": "idle periods, all volumes together",
    "reuse": "reuse distance",
    "trace": "what the reader did",
}
STAT_UNITS: dict[str, Callable[[float], str]] = {
    "bytes": size,
    "mib": lambda mib: size(mib * 2**20),
    "percent": lambda percent: share(percent / 100),
    "ms": lambda ms: duration(ms * 1e3),
    "s": lambda s: duration(s * MEGA),
    "us": duration,
}


def _stat_rows(group: dict[str, Any], prefix: str) -> Iterable[tuple[str, str]]:
    for key, value in group.items():
        if isinstance(value, dict):
            label = f"{prefix}{key.replace('_', ' ')}: "
            yield from _stat_rows(cast("dict[str, Any]", value), label)
        else:
            label, text = _measured(key, value)
            yield prefix + label, text


def _measured(key: str, value: float | str | None) -> tuple[str, str]:
    """A key without its unit, and the value with it."""
    words = key.split("_")
    unit = next((word for word in words if word in STAT_UNITS), None)
    if unit:
        words.remove(unit)
    label = " ".join(words) or "all"
    if unit == "percent" and "of" not in words:
        label += ", share"
    if value is None:
        return label, ABSENT
    if isinstance(value, bool):
        return label, "yes" if value else "no"
    if isinstance(value, str):
        return label, value
    if unit:
        return label, STAT_UNITS[unit](value)
    return label, whole(value) if isinstance(value, int) else figures(value)


def print_cache(summary: "CacheSummary", files: Sequence[Path]) -> None:
    """What policies made of a trace, on standard output: a section for each size."""
    shown = console()
    shown.print(*_trace(summary["input"]), sep="\n")
    told = summary["input"]
    runs = summary["runs"]
    if len({run["policy"] for run in runs}) == 1:
        headings = ["pages", "bytes", *_run_headings(told)]
        sizes = [[whole(run["size_pages"]), size(run["size_bytes"])] for run in runs]
        rows = [own + _run_cells(run, told) for own, run in zip(sizes, runs, strict=True)]
        title = runs[0]["policy"]
        shown.print(_run_table(title, headings, rows, _widths(headings, rows)))
    else:
        headings = ["policy", *_run_headings(told)]
        rows = [[run["policy"], *_run_cells(run, told)] for run in runs]
        widths = _widths(headings, rows)
        for pages in dict.fromkeys(run["size_pages"] for run in runs):
            own = [place for place, run in enumerate(runs) if run["size_pages"] == pages]
            title = _size(runs[own[0]])
            shown.print(_run_table(title, headings, [rows[place] for place in own], widths))
    _print_files(shown, files)


def _run_headings(told: "CacheInput") -> list[str]:
    """The headings of what is told of a run; what a terminal has room for."""
    if not told["page_writes"]:
        return ["hits", "miss ratio", "evictions"]
    if not told["page_reads"]:
        return ["hits", "miss ratio", "evictions", "written back"]
    return ["hits", "miss ratio", "of reads", "of writes", "written back"]


def _run_cells(run: "CacheRun", told: "CacheInput") -> list[str]:
    cells = {
        "hits": whole(run["hits"]),
        "miss ratio": _percent(run["miss_ratio"]),
        "of reads": _percent(run["read_miss_ratio"]),
        "of writes": _percent(run["write_miss_ratio"]),
        "evictions": whole(run["evictions"]),
        "written back": whole(run["write_backs"]),
    }
    return [cells[heading] for heading in _run_headings(told)]


def _widths(headings: list[str], rows: list[list[str]]) -> list[int]:
    """The widest cell of each column, or word of its heading: the least that it takes."""
    words = [max(heading.split(), key=len) for heading in headings]
    return [max(map(len, column)) for column in zip(words, *rows, strict=True)]


def _run_table(title: str, headings: list[str], rows: list[list[str]], widths: list[int]) -> Table:
    """Tables with the same widths line up. A narrow terminal breaks headings, no number."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, title=Text(title, style="bold"),
        title_justify="left",
    )  # fmt: skip
    least = min(widths[0], 24)
    wanted = least + sum(map(max, map(len, headings[1:]), widths[1:])) + 3 * len(headings)
    between = " " if wanted <= console().width else "\n"
    justify = "right" if headings[0] == "pages" else "left"
    table.add_column(headings[0], justify=justify, min_width=least, overflow="fold")
    for heading, width in zip(headings[1:], widths[1:], strict=True):
        broken = heading.replace(" ", between)
        table.add_column(broken, justify="right", no_wrap=True, min_width=width)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def print_mrc(summary: "MrcSummary", files: Sequence[Path]) -> None:
    """The miss-ratio curves of a trace at some sizes, on standard output."""
    shown = console()
    shown.print(*_trace(summary["input"]), sep="\n")
    curves = summary["curves"]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("pages", "bytes", "of distinct", *(curve["method"] for curve in curves)):
        table.add_column(heading, justify="right")
    for rows in zip(*(curve["sizes"] for curve in curves), strict=True):
        at = rows[0]
        table.add_row(
            whole(at["size_pages"]),
            size(at["size_bytes"]),
            share(at["footprint_ratio"]),
            *(_percent(row["miss_ratio"]) for row in rows),
        )
    table.caption_justify = "left"
    table.caption = Text("misses by requests of an LRU cache", style="dim")
    shown.print(table)
    if summary["accuracy"]:
        shown.print(_accuracy(summary))
    _print_files(shown, files)


def _accuracy(summary: "MrcSummary") -> Table:
    """The errors of estimates, in points of the miss ratio."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("error of", overflow="fold", min_width=12)
    for heading in ("mean absolute, points", "mean, points", "largest", "hashes"):
        table.add_column(heading, justify="right")
    for one in summary["accuracy"]:
        table.add_row(
            one["method"],
            f"{100 * one['error_mean']:.3f}{_half(one['error_half_width'])}",
            f"{100 * one['bias_mean']:+.3f}{_half(one['bias_half_width'])}",
            f"{100 * one['error_max']:.2f}",
            str(one["hashes"]),
        )
    table.caption_justify = "left"
    table.caption = Text("against the exact curve, all sizes alike; 95 % confidence", style="dim")
    return table


def _half(half_width: float | None) -> str:
    return "" if half_width is None else f" ± {100 * half_width:.3f}"


def _trace(told: "CacheInput") -> list[Text]:
    """What a trace consists of, in lines."""
    text = Text(", ".join(Path(file["path"]).name for file in told["files"]), style="bold")
    reads, writes = told["page_reads"], told["page_writes"]
    kinds = f"{whole(reads)} reads and {whole(writes)} writes of pages of"
    if not reads or not writes:
        kinds = f"{many(reads or writes, 'read' if reads else 'write')} of pages of"
    text.append(
        f": {many(told['requests'], 'request')}: {kinds} {size(told['page_bytes'])}; "
        f"{whole(told['distinct_pages'])} distinct pages ({size(told['footprint_bytes'])})",
        style="not bold",
    )
    lines = [text, *(Text(f"Read: {line}") for line in formats(told["files"]))]
    if told["trims"]:
        removed = f", which removed {many(told['pages_trimmed'], 'page')}"
        lines.append(Text(f"{many(told['trims'], 'trim')}{removed * bool(told['pages_trimmed'])}"))
    if told["flushes_ignored"]:
        lines.append(Text(f"{whole(told['flushes_ignored'])} flushes ignored"))
    lines += [Text(f"Note: {note}", style="dim") for note in told["notes"]]
    return lines


def _size(run: "CacheRun") -> str:
    part = share(run["footprint_ratio"])
    return f"{many(run['size_pages'], 'page')} ({size(run['size_bytes'])}, {part} of distinct)"


def _percent(ratio: float | None) -> str:
    """A ratio in per cent with two decimals, so that columns line up."""
    return ABSENT if ratio is None else f"{100 * ratio:.2f} %"


def _print_files(shown: Console, files: Sequence[Path]) -> None:
    """Where the files of a result are."""
    if not files:
        return
    report = next((path for path in files if path.name == "report.html"), None)
    others = ", ".join(path.name for path in files if path != report)
    shown.print(f"Files in {_near(files[0].parent)}: {others}", soft_wrap=True, markup=False)
    if report:
        shown.print(Text("Report: ", style="bold") + Text(str(_near(report))), soft_wrap=True)


def narrowed(
    columns: Sequence[str], spare: Sequence[str], make: Callable[[Sequence[str]], Table]
) -> Table:
    """The table that `make` makes of the columns; without as many of the spare ones, in turn, as a
    narrow terminal has no room for."""
    left = list(columns)
    for column in spare:
        if _least_width(make(left)) <= console(least=NARROWED_WIDTH).width:
            break
        left.remove(column)
    return make(left)


def _least_width(table: Table) -> int:
    """What a table needs if columns that fold are as narrow as they may be."""
    for column in table.columns:
        if column.overflow == "fold":
            column.max_width = column.min_width
    shown = console()
    return Measurement.get(shown, shown.options.update_width(1 << 16), table).maximum


def print_bench(measures: Sequence["Measure"]) -> None:
    """What a benchmark measured, on standard output: units per CPU second."""
    columns = ("ours", "limit", "previous", "model", "memory")
    table = narrowed(columns, ("memory", "model", "previous"), partial(_bench, measures))
    console(least=NARROWED_WIDTH).print(table)


def _bench(measures: Sequence["Measure"], columns: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("per CPU second", min_width=12, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for name, cells in _bench_rows(measures):
        table.add_row(Text(name), *(cells.get(column, "") for column in columns))
    return table


def _bench_rows(measures: Sequence["Measure"]) -> Iterable[tuple[str, dict[str, str]]]:
    from wordline.bench import PRECONDITION, titles

    for one, title in zip(measures, titles(measures), strict=True):
        for place, rate in enumerate(one["rates"]):
            own = rate["unit"] != PRECONDITION
            cells = {
                "ours": whole(rate["per_cpu_s"]),
                "limit": whole(rate["limit_per_cpu_s"]),
                "previous": whole(rate["previous_per_cpu_s"]),
            }
            if own:
                cells["model"] = whole(rate["model_per_cpu_s"])
            if place == 0:
                cells["memory"] = size(one["peak_memory_bytes"])
            yield f"{title}: {rate['unit']}" if own else "precondition", cells
    known = [one["previous_peak_memory_bytes"] for one in measures]
    previous = [memory for memory in known if memory is not None]
    yield (
        "peak memory",
        {
            "ours": size(max(one["peak_memory_bytes"] for one in measures)),
            "limit": ABSENT,
            "previous": size(max(previous) if len(previous) == len(known) else None),
        },
    )


def _summary(summary: Mapping[str, Any]) -> Iterable[RenderableType]:
    yield _heading(summary)
    for line in formats(summary["input"]["files"]):
        yield Text(f"Read: {line}")
    yield Text(f"Played: {played(summary)}")
    if summary["partial"]:
        reason = summary["error"] or "the run was interrupted"
        yield Text(f"Partial result: {reason}", style="bold yellow")
    yield _latencies(summary)
    if len(summary["streams"]) > 1:
        yield _streams(summary)
    if summary["members"]:
        yield _members(summary["members"])
    yield _key_figures(summary)
    for note in summary["notes"]:
        yield Text(f"Note: {note}", style="dim")


def _heading(summary: Mapping[str, Any]) -> Text:
    device, work = summary["device"], summary["input"]
    files = ", ".join(Path(file["path"]).name for file in work["files"])
    text = Text()
    text.append(device["name"], style="bold")
    text.append(f" ({size(device['user_bytes'])}) under ")
    several = len(work["files"]) > 1 or len(summary["streams"]) > 1
    if several and summary["streams"]:
        files = ", ".join(stream["name"] for stream in summary["streams"])
    text.append(files or "generated load", style="bold")
    text.append(f": {many(work['requests'], 'request')} in ")
    text.append(f"{duration(summary['time']['simulated_s'] * MEGA)} of simulated time, ")
    text.append(f"{duration(summary['speed']['wall_s'] * MEGA)} of yours")
    return text


def _latencies(summary: Mapping[str, Any]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Latency", style="bold")
    for op in _ops(summary):
        table.add_column(op, justify="right")
    table.add_row("requests", *(whole(summary["latency"][op]["count"]) for op in _ops(summary)))
    for name, key in LATENCIES:
        if name not in ("std", "min"):
            table.add_row(
                name,
                *(duration(summary["latency"][op][key]) for op in _ops(summary)),
                end_section=name == "max",
            )
    for part in latency_parts.shown(summary):
        table.add_row(
            Text(f"mean: {part['name']}", style="dim"),
            *(duration(summary["breakdown"][op][part["figure"]]) for op in _ops(summary)),
        )
    return table


def _streams(summary: Mapping[str, Any]) -> Table:
    streams, fairness = summary["streams"], summary["fairness"]
    compared = any(stream["slowdown"] for stream in streams)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Stream", style="bold", overflow="fold", min_width=9)
    for heading in ("requests", "mean", "p99", "bandwidth", "share"):
        table.add_column(heading, justify="right", no_wrap=True)
    if compared:
        table.add_column("alone", justify="right", no_wrap=True)
        table.add_column("slowdown", justify="right", no_wrap=True)
    for stream in streams:
        table.add_row(*_stream(stream, compared=compared))
    table.caption_justify = "left"
    table.caption = Text(_fairness(fairness), style="dim")
    return table


def _stream(stream: Mapping[str, Any], *, compared: bool) -> list[str]:
    latency, throughput = stream["latency"]["all"], stream["throughput"]
    urgency = "" if stream["class"] == "medium" else f" ({stream['class']})"
    cells = [
        stream["name"] + urgency,
        whole(latency["count"]),
        duration(latency["mean_us"]),
        duration(latency["p99_us"]),
        bandwidth(throughput["read_mb_per_s"] + throughput["write_mb_per_s"]),
        share(stream["contest_share"]),
    ]
    if compared:
        alone = stream["alone"] and stream["alone"]["all"]["mean_us"]
        slowdown = stream["slowdown"] and stream["slowdown"]["all"]
        cells += [duration(alone), number(slowdown)]
    return cells


def _members(members: Sequence[Mapping[str, Any]]) -> Table:
    """What went to each device of an array, and what it did of it."""
    by_disk = any(member["disks"] for member in members)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Member", style="bold", overflow="fold", min_width=9)
    if by_disk:
        table.add_column("disks")
    for heading in ("requests", "mean", "p99", "max", "bytes", "GC runs", "WA"):
        table.add_column(heading, justify="right", no_wrap=True)
    for member in members:
        table.add_row(member["name"], *_disks(member) * by_disk, *_member(member))
    table.caption_justify = "left"
    table.caption = Text("requests: the parts that went to a member", style="dim")
    return table


def _disks(member: Mapping[str, Any]) -> list[str]:
    return [", ".join(str(disk) for disk in member["disks"])]


def _member(member: Mapping[str, Any]) -> list[str]:
    latency, flash = member["latency"]["all"], member["flash"]
    return [
        whole(latency["count"]),
        duration(latency["mean_us"]),
        duration(latency["p99_us"]),
        duration(latency["max_us"]),
        share(member["bytes_share"]),
        whole(flash["gc_runs"]),
        number(flash["write_amplification"]),
    ]


def _fairness(fairness: Mapping[str, Any]) -> str:
    jain = number(fairness["jain_index"])
    parts = [f"share: of the bytes while all streams asked (Jain's index {jain})"]
    if fairness["slowdown_ratio"] is not None:
        parts.append(
            f"slowdowns: smallest / largest {number(fairness['slowdown_ratio'])}, "
            f"weighted speed-up {number(fairness['weighted_speedup'])}"
        )
    return "; ".join(parts)


def _buffer(buffer: Mapping[str, Any]) -> str:
    """The DRAM buffer: hits, who left, what was written, flushes."""
    pages = sum(buffer[f"{op}_{found}"] for op in ("read", "write") for found in ("hits", "misses"))
    parts = [
        f"{share(buffer['hit_ratio'])} of {many(pages, 'page')} hit",
        f"evicted {whole(buffer['clean_evictions'])} clean, "
        f"{whole(buffer['dirty_evictions'])} dirty",
        f"{whole(buffer['pages_destaged'])} destaged",
    ]
    if buffer["flushes"]:
        mean = duration(buffer["flush_mean_us"])
        parts.append(f"{many(buffer['flushes'], 'flush', 'flushes')} of {mean} on average")
    return ", ".join(parts)


def _ops(summary: Mapping[str, Any]) -> list[str]:
    seen = [op for op in ("read", "write") if summary["latency"][op]["count"]]
    return seen if len(seen) == 1 else [*seen, "all"]


def _key_figures(summary: Mapping[str, Any]) -> Table:
    throughput, flash, busy = summary["throughput"], summary["flash"], summary["utilisation"]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column()
    grid.add_row(
        "Throughput",
        f"{figures(throughput['iops'])} IOPS, "
        f"{bandwidth(throughput['read_mb_per_s'])} read, "
        f"{bandwidth(throughput['write_mb_per_s'])} written",
    )
    grid.add_row("Worst case", _slow(summary["worst_case"], summary["excess"]))
    grid.add_row(
        "Flash",
        f"write amplification {number(flash['write_amplification'])}, "
        f"{whole(flash['page_programs'])} pages programmed for "
        f"{whole(flash['host_page_writes'])} written, {whole(flash['erases'])} erases",
    )
    if cache := summary["map_cache"]:
        grid.add_row(
            "Map",
            f"{share(cache['hit_ratio'])} of {whole(cache['hits'] + cache['misses'])} look-ups in "
            f"memory, {whole(flash['own_page_reads'])} pages read, "
            f"{whole(flash['own_page_programs'])} programmed",
        )
    if buffer := summary["buffer"]:
        grid.add_row("Buffer", _buffer(buffer))
    grid.add_row("Collection", _collection(flash))
    grid.add_row(
        "Busy",
        f"channels {share(busy['channel_mean'])} (busiest {share(busy['channel_max'])}), "
        f"dies {share(busy['die_mean'])} (busiest {share(busy['die_max'])})",
    )
    done, dies = summary["commands"], summary["execution"]
    grid.add_row("Commands", _commands(done))
    grid.add_row(
        "Dies",
        f"bus {share(dies['bus_active'])}, waiting for it {share(dies['bus_contention'])}, "
        f"cells {share(dies['cell_active'])}, idle {share(dies['idle'])} of all dies' time",
    )
    energy = summary["energy"]
    grid.add_row(
        "Energy",
        f"{figures(energy['total_mj'])} mJ: programs {figures(energy['program_mj'])}, "
        f"reads {figures(energy['read_mj'])}, erases {figures(energy['erase_mj'])}, "
        f"bus {figures(energy['bus_mj'])}, standby {figures(energy['standby_mj'])}",
    )
    grid.add_row("Simulated at", _speed(summary["speed"]))
    if summary["verification"]:
        grid.add_row("Verified", _verified(summary["verification"]))
    grid.add_row("Seed, digest", f"{summary['seed']}, {summary['digest']}")
    grid.add_row()
    return grid


def _slow(worst: Mapping[str, Any], excess: Mapping[str, Any]) -> str:
    interval = duration(worst["interval_s"] * MEGA)
    marginal = duration(excess["marginal_response_us"])
    beyond = excess["all"]
    text = (
        f"{duration(worst['all']['max_us'])}, on average {duration(worst['all']['mean_us'])} "
        f"in intervals of {interval}; "
    )
    if not beyond["requests"]:
        return f"{text}no request beyond {marginal}"
    return (
        f"{text}{many(beyond['requests'], 'request')} ({share(beyond['share'])}) "
        f"beyond {marginal}, by {duration(beyond['mean_us'])} on average"
    )


def _commands(done: Mapping[str, Any]) -> str:
    kinds = {
        "planes_shared": "on several planes",
        "dies_interleaved": "beside another die of the package",
        "dies_interleaved_planes_shared": "both",
    }
    seen = [f"{whole(done[kind])} {words}" for kind, words in kinds.items() if done[kind]]
    if not seen:
        return f"{whole(done['total'])}, each on one plane while no other die of its package worked"
    pages = number(done["pages_per_command"])
    return f"{whole(done['total'])} of {pages} pages on average: {', '.join(seen)}"


def _collection(flash: Mapping[str, Any]) -> str:
    if not flash["gc_runs"]:
        return "none was needed"
    return (
        f"{whole(flash['gc_runs'])} runs moved {whole(flash['gc_pages_moved'])} pages "
        f"in {duration(flash['gc_time_s'] * MEGA)}, summed over planes"
    )


def _speed(speed: Mapping[str, Any]) -> str:
    memory = speed["resident_bytes_per_touched_page"]
    return (
        f"{whole(speed['requests_per_cpu_s'])} requests per CPU second, "
        f"{number(memory)} bytes of memory per page touched"
    )


def _verified(found: Mapping[str, Any]) -> str:
    return (
        f"{whole(found['reads_checked'])} pages read were the newest of "
        f"{whole(found['writes_followed'])} written"
    )


def _near(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) and path != here else path


def _short(rate: float) -> str:
    for limit, scale, unit in ((1e3, 1.0, ""), (1e6, 1e3, "k")):
        if rate < limit:
            return f"{figures(rate / scale)}{unit}"
    return f"{figures(rate / 1e6)}M"


def _clock(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
