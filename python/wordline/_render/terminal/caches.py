"""Terminal output of cache simulations, miss-ratio curves and plans."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wordline._render.terminal import blocks
from wordline._render.terminal.block import Grid, Line
from wordline._render.trace_format_text import formats
from wordline._render.units import ABSENT, duration, lifetime, many, number, share, size, whole

if TYPE_CHECKING:
    from rich.table import Table

    from wordline._caching.cache import CacheInput, CacheRun, CacheSummary, OnFlashInput
    from wordline._caching.mrc import MrcSummary
    from wordline._caching.plan_cache import PlanAnswer, PlanSize, PlanSummary
    from wordline._caching.plan_check import PlanCheck


def print_cache(summary: "CacheSummary", files: Sequence[Path]) -> None:
    """Prints the results of policies, one section per size."""
    told = summary["input"]
    runs = summary["runs"]
    shown: list[Line | Grid] = [*_trace(told)]
    if len({run["policy"] for run in runs}) == 1:
        headings = ["pages", "bytes", *_run_headings(told)]
        sizes = [[whole(run["size_pages"]), size(run["size_bytes"])] for run in runs]
        rows = [own + _run_cells(run, told) for own, run in zip(sizes, runs, strict=True)]
        shown.append(_run_table(runs[0]["policy"], headings, rows, _widths(headings, rows)))
    else:
        headings = ["policy", *_run_headings(told)]
        rows = [[run["policy"], *_run_cells(run, told)] for run in runs]
        widths = _widths(headings, rows)
        for pages in dict.fromkeys(run["size_pages"] for run in runs):
            own = [place for place, run in enumerate(runs) if run["size_pages"] == pages]
            title = _size(runs[own[0]])
            shown.append(_run_table(title, headings, [rows[place] for place in own], widths))
    blocks.show(shown)
    on_flash = summary["on_flash"]
    if on_flash or files:
        _print_rest(summary, on_flash, files)


def _print_rest(
    summary: "CacheSummary", on_flash: "OnFlashInput | None", files: Sequence[Path]
) -> None:
    from rich.text import Text

    from wordline._render.terminal.console import console, print_files

    shown = console()
    if on_flash:
        if any("flash" in run for run in summary["runs"]):
            shown.print(_flash_table(summary, on_flash))
        for note in on_flash["notes"]:
            shown.print(Text(f"Note: {note}", style="dim"))
    print_files(shown, files)


def _flash_table(summary: "CacheSummary", on_flash: "OnFlashInput") -> "Table":
    """Returns the table of the results on flash, with one row per policy and size."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title_justify="left",
        title=Text(f"On {on_flash['flash']} in front of {on_flash['disk']}", style="bold"),
    )
    table.add_column("policy", overflow="fold", min_width=8)
    headings = ("pages", "read hits", "erases", "WA", "mean latency", "lifetime", "disk busy")
    for heading in headings:
        table.add_column(heading, justify="right")
    for run in summary["runs"]:
        if side := run.get("flash"):
            table.add_row(
                run["policy"],
                whole(side["capacity_pages"]),
                _percent(side["hit_ratio"]),
                whole(side["erases"]),
                number(side["write_amplification"]),
                duration(side["mean_us"]),
                lifetime(side["lifetime_years"]),
                share(side["disk_utilisation"]),
            )
    table.caption_justify = "left"
    table.caption = Text(
        "erases: all blocks; WA: bytes programmed per byte that the cache wrote to its flash; "
        "lifetime: of the flash, under this load",
        style="dim",
    )
    return table


def _run_headings(told: "CacheInput") -> list[str]:
    """Returns the column headings of a run, as many as fit on a terminal."""
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
    """Returns the minimum width of each column: that of the widest cell, or of the longest word in
    the heading."""
    words = [max(heading.split(), key=len) for heading in headings]
    return [max(map(len, column)) for column in zip(words, *rows, strict=True)]


def _run_table(title: str, headings: list[str], rows: list[list[str]], widths: list[int]) -> Grid:
    """Returns a table of runs. Tables of equal widths line up. On a narrow terminal headings wrap,
    but numbers do not."""
    least = min(widths[0], 24)
    wanted = least + sum(map(max, map(len, headings[1:]), widths[1:])) + 3 * len(headings)
    between = " " if wanted <= blocks.width() else "\n"
    return Grid(
        headings=[headings[0], *(heading.replace(" ", between) for heading in headings[1:])],
        rows=rows,
        title=title,
        left=headings[0] != "pages",
        least=[least, *widths[1:]],
    )


def print_mrc(summary: "MrcSummary", files: Sequence[Path]) -> None:
    """Prints the miss-ratio curves of a trace at the requested sizes."""
    curves = summary["curves"]
    rows: list[list[str]] = []
    for sizes in zip(*(curve["sizes"] for curve in curves), strict=True):
        at = sizes[0]
        own = [whole(at["size_pages"]), size(at["size_bytes"]), share(at["footprint_ratio"])]
        rows.append(own + [_percent(one["miss_ratio"]) for one in sizes])
    headings = ["pages", "bytes", "of distinct", *(curve["method"] for curve in curves)]
    table = Grid(headings=headings, rows=rows, caption="miss ratio of an LRU cache")
    blocks.show([*_trace(summary["input"]), table])
    if summary["accuracy"] or files:
        from wordline._render.terminal.console import console, print_files

        shown = console()
        if summary["accuracy"]:
            shown.print(_accuracy(summary))
        print_files(shown, files)


def print_plan(summary: "PlanSummary", files: Sequence[Path]) -> None:
    """Prints a plan, one section per flash size."""
    from rich.text import Text

    from wordline._render.terminal.console import console, print_files

    blocks.show(_trace(summary["input"]))
    shown = console()
    shown.print(Text(summary["advice"]["sentence"], style="bold"))
    shown.print(Text(summary["advice"]["reason"]))
    flash, disk = summary["flash"], summary["disk"]
    found = "" if disk["found_by"] == "keys" else " (mean of random accesses)"
    shown.print(
        Text(
            f"Flash {flash['name']}: read {duration(flash['read_us'])}, program "
            f"{duration(flash['program_us'])}, move {duration(flash['copy_us'])}, erase "
            f"{duration(flash['erase_us'])}"
        ),
        Text(
            f"Disk {disk['name']}, idle: page read {duration(disk['read_us'])}, written in "
            f"{duration(disk['write_us'])}{found}"
        ),
        Text(f"Without flash: {_alone(summary)}"),
        sep="\n",
    )
    for size_of in summary["sizes"]:
        shown.print(_plan_table(_plan_title(size_of), size_of["answers"], flash["page_bytes"]))
    check = summary["check"]
    if check and check["runs"]:
        shown.print(_check_table(check))
    if basis := summary["advice"]["basis"]:
        lasts = summary["advice"]["lifetime"]
        shown.print(Text(f"Lifetime of the recommended flash: {lasts}, from {basis}."))
    note = "latency: mean per request, from the models; hits: whole trace, with full caches"
    shown.print(Text(note, style="dim"))
    for note in summary["notes"]:
        shown.print(Text(f"Note: {note}"))
    print_files(shown, files)


def _alone(summary: "PlanSummary") -> str:
    alone = summary["disk_only"]
    kinds = [
        f"{duration(us)} per {kind}"
        for kind, us in (("read", alone["read_us"]), ("write", alone["write_us"]))
        if us is not None
    ]
    told = f" ({', '.join(kinds)})" if kinds else ""
    return f"{duration(alone['request_us'])} per request{told}"


def _plan_title(size_of: "PlanSize") -> str:
    return (
        f"{size(size_of['flash_bytes'])} of flash ({many(size_of['flash_pages'], 'page')}, "
        f"{share(size_of['footprint_ratio'])} of the distinct pages; requested: "
        f"{', '.join(size_of['asked'])})"
    )


def _check_table(check: "PlanCheck") -> "Table":
    """Returns a table of the simulated divisions, with their planned values."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title_justify="left",
        title=Text(f"Simulated: the first {many(check['requests'], 'request')}", style="bold"),
    )
    table.add_column("store", overflow="fold", min_width=8)
    for heading in ("flash pages", "planned", "simulated", "hits R"):
        table.add_column(heading, justify="right")
    table.add_column("")
    disk = check["disk_planned_us"], check["disk_us"]
    table.add_row("disk alone", ABSENT, *map(duration, disk), ABSENT, "")
    for run in check["runs"]:
        table.add_row(
            run["policy"],
            whole(run["flash_pages"]),
            duration(run["planned_us"]),
            duration(run["simulated_us"]),
            share(run["read_hit_ratio"]),
            "differs" if run["parts"] else "agrees",
        )
    table.caption_justify = "left"
    table.caption = Text(
        f"agrees: within {share(check['tolerance_ratio'])} of the simulated mean latency, or 50 µs",
        style="dim",
    )
    return table


def _plan_table(title: str, answers: Sequence["PlanAnswer"], page_bytes: int) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title_justify="left",
        title=Text(title, style="bold"),
    )
    table.add_column("policy", overflow="fold", min_width=8)
    for heading in ("reads", "writes", "spare", "latency", "hits R", "hits W", "lifetime"):
        table.add_column(heading, justify="right")
    for answer in answers:
        reads = answer["read_pages"]
        table.add_row(
            answer["policy"],
            "shared" if reads is None else size(reads * page_bytes),
            size(answer["write_pages"] * page_bytes),
            share(answer["over_provisioning_ratio"]),
            duration(answer["request_us"]),
            share(answer["read_hit_ratio"]),
            share(answer["write_hit_ratio"]),
            lifetime(answer["lifetime_years"]),
        )
    return table


def _accuracy(summary: "MrcSummary") -> "Table":
    """Returns a table of the errors of estimates, in percentage points of the miss ratio."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("method", overflow="fold", min_width=12)
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
    table.caption = Text(
        "error against the exact curve, averaged over all sizes; 95 % confidence", style="dim"
    )
    return table


def _half(half_width: float | None) -> str:
    return "" if half_width is None else f" ± {100 * half_width:.3f}"


def _trace(told: "CacheInput") -> list[Line]:
    """Describes a trace in lines."""
    names = ", ".join(Path(file["path"]).name for file in told["files"])
    reads, writes = told["page_reads"], told["page_writes"]
    kinds = f"{many(reads, 'read')} and {many(writes, 'write')} of pages of"
    if not reads or not writes:
        kinds = f"{many(reads or writes, 'read' if reads else 'write')} of pages of"
    counts = (
        f": {many(told['requests'], 'request')}: {kinds} {size(told['page_bytes'])}; "
        f"{many(told['distinct_pages'], 'distinct page')} ({size(told['footprint_bytes'])})"
    )
    lines = [Line(counts, bold=names), *(Line(f"Read: {line}") for line in formats(told["files"]))]
    if told["trims"]:
        removed = f", which removed {many(told['pages_trimmed'], 'page')}"
        lines.append(Line(f"{many(told['trims'], 'trim')}{removed * bool(told['pages_trimmed'])}"))
    if told["flushes_ignored"]:
        lines.append(Line(f"{many(told['flushes_ignored'], 'flush', 'flushes')} ignored"))
    lines += [Line(f"Note: {note}", dim=True) for note in told["notes"]]
    return lines


def _size(run: "CacheRun") -> str:
    part = share(run["footprint_ratio"])
    pages = many(run["size_pages"], "page")
    return f"{pages} ({size(run['size_bytes'])}, {part} of the distinct pages)"


def _percent(ratio: float | None) -> str:
    """Formats a ratio in per cent with two decimals, so that columns line up."""
    return ABSENT if ratio is None else f"{100 * ratio:.2f} %"
