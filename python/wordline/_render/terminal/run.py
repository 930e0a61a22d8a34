"""Terminal output of a run."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from wordline._render import parts as latency_parts
from wordline._render import programmed_text
from wordline._render.disk_load_text import disk_spared
from wordline._render.replay_text import load_without_trace, replayed
from wordline._render.terminal.console import console, print_files
from wordline._render.trace_format_text import formats
from wordline._render.units import (
    LATENCIES,
    US_PER_S,
    bandwidth,
    duration,
    figures,
    lifetime,
    many,
    number,
    share,
    size,
    whole,
)


def one_line(summary: Mapping[str, Any]) -> str:
    """Describes a result in a line: device, requests, mean latencies, write amplification."""
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
    """Prints the summary of a run and the paths of its files."""
    shown = console()
    shown.print(Group(*_summary(summary)))
    print_files(shown, files)


def _summary(summary: Mapping[str, Any]) -> Iterable[RenderableType]:
    yield _heading(summary)
    for line in formats(summary["input"]["files"]):
        yield Text(f"Read: {line}")
    yield Text(f"Replay: {replayed(summary)}")
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
    text.append(files or load_without_trace(summary), style="bold")
    trims = f" and {many(work['trims'], 'trim')}" if work["trims"] else ""
    text.append(f": {many(work['requests'], 'request')}{trims}, ")
    text.append(f"{duration(summary['time']['simulated_s'] * US_PER_S)} simulated in ")
    text.append(duration(summary["speed"]["wall_s"] * US_PER_S))
    return text


def _latencies(summary: Mapping[str, Any]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Latency", style="bold")
    ops = latency_parts.ops(summary)
    for op in ops:
        table.add_column(op, justify="right")
    table.add_row("requests", *(whole(summary["latency"][op]["count"]) for op in ops))
    for name, key in LATENCIES:
        if name not in ("std", "min"):
            table.add_row(
                name,
                *(duration(summary["latency"][op][key]) for op in ops),
                end_section=name == "max",
            )
    with_data = [op for op in ops if op in summary["breakdown"]]
    for part in latency_parts.shown(summary) if with_data else []:
        table.add_row(
            Text(f"mean: {part['name']}", style="dim"),
            *(duration(summary["breakdown"][op][part["figure"]]) for op in with_data),
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
    """Returns a table of the members of an array: requests, latency, bytes and flash."""
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
    caption = "requests: sent to the member, including parts of requests"
    if any(member["cache"] for member in members):
        caption += "; for a member with a cache, the requests of the cache"
    table.caption = Text(caption, style="dim")
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
    parts = [f"share: share of the bytes while all streams issued requests (Jain's index {jain})"]
    if fairness["slowdown_ratio"] is not None:
        parts.append(
            f"slowdowns: smallest / largest {number(fairness['slowdown_ratio'])}, "
            f"weighted speed-up {number(fairness['weighted_speedup'])}"
        )
    return "; ".join(parts)


def _buffer(buffer: Mapping[str, Any]) -> str:
    """Describes the DRAM buffer: hits, evictions, destaged pages."""
    pages = sum(buffer[f"{op}_{found}"] for op in ("read", "write") for found in ("hits", "misses"))
    parts = [
        f"{share(buffer['hit_ratio'])} of {many(pages, 'page')} hit",
        f"evicted {whole(buffer['clean_evictions'])} clean, "
        f"{whole(buffer['dirty_evictions'])} dirty",
        f"{whole(buffer['pages_destaged'])} destaged",
    ]
    return ", ".join(parts)


def _add_cache(grid: Table, cache: Mapping[str, Any]) -> None:
    """Adds the rows of a flash cache in front of a disk."""
    suspected = cache["suspected_hits"]
    revived = f", {whole(suspected)} of them on evicted pages" if suspected else ""
    hits = cache["pages_read"] - cache["misses"] - cache["bypassed"]
    grid.add_row(
        "Cache",
        f"{share(cache['hit_ratio'])} of {many(cache['pages_read'], 'page')} read hit "
        f"({whole(hits)}{revived}); {whole(cache['fills'])} inserted, "
        f"{whole(cache['evicted'])} evicted, {whole(cache['dropped'])} dropped by GC",
    )
    grid.add_row(
        "By tier",
        f"mean read {duration(cache['hit_mean_us'])} from flash alone, "
        f"{duration(cache['miss_mean_us'])} with the disk; "
        f"{number(cache['bytes_programmed_per_byte_hit'])} bytes programmed per byte hit"
        + (
            f"; flash lifetime at this load {lifetime(cache['lifetime_years'])}"
            if cache["lifetime_years"]
            else ""
        ),
    )
    _add_tiers(grid, cache)
    if saved := disk_spared(cache):
        grid.add_row("Disk busy", saved)
    if cache["lru_miss_ratio"] is not None:
        grid.add_row(
            "Curve",
            f"an LRU cache of {many(cache['capacity_pages'], 'page')} would hit "
            f"{share(1 - cache['lru_miss_ratio'])} of the pages read (from a sample)",
        )
    _add_written(grid, cache)
    if cache["divisions"]:
        grid.add_row(
            "Divided",
            f"{many(cache['divisions'], 'time')}; final division "
            f"{many(cache['read_size_pages'], 'page')} for reads, "
            f"{whole(cache['write_size_pages'])} for writes, "
            f"{whole(cache['over_provisioning_pages'])} for over-provisioning",
        )
    if cache["pages_checked"] is not None:
        grid.add_row(
            "Cache verified", f"{many(cache['pages_checked'], 'page')} read from flash or disk"
        )


def _add_tiers(grid: Table, cache: Mapping[str, Any]) -> None:
    """Adds the percentiles of reads and writes by tier."""
    for op in ("read", "write"):
        flash, disk = (cache["by_tier"][f"{op}_{tier}"] for tier in ("flash", "disk"))
        tiers = [
            f"{whole(one['count'])} {words}: p50 {duration(one['p50_us'])}, p99 "
            f"{duration(one['p99_us'])}"
            for one, words in ((flash, "from flash alone"), (disk, "with the disk"))
            if one["count"]
        ]
        if tiers:
            grid.add_row(f"{op.capitalize()}s", "; ".join(tiers))


def _add_written(grid: Table, cache: Mapping[str, Any]) -> None:
    """Adds the row of writes that the flash absorbed."""
    written = cache["write_hits"] + cache["write_misses"]
    if not written:
        return
    destaged = cache["destaged_on_demand"] + cache["destaged_to_clean"]
    grid.add_row(
        "Written back",
        f"{many(written, 'page')} written to flash "
        f"({share(cache['write_hit_ratio'])} overwrote cached pages: "
        f"{whole(cache['write_hits_in_write_list'])} in the write list, "
        f"{whole(cache['write_hits_in_read_list'])} in the read list), "
        f"{whole(cache['writes_bypassed'])} bypassed; "
        f"{whole(destaged + cache['destaged_to_resize'])} destaged, "
        f"{whole(cache['dirty_pages'])} dirty at the end",
    )


def _add_disk(grid: Table, disk: Mapping[str, Any]) -> None:
    """Adds the row of a hard disk."""
    volumes = f" (disks {', '.join(map(str, disk['disks']))})" if disk["disks"] else ""
    busy = "" if disk["utilisation"] is None else f", busy {share(disk['utilisation'])}"
    buffered = [
        f"{whole(disk[key])} {words}"
        for key, words in (
            ("reads_buffered", "reads served by its buffer"),
            ("writes_buffered", "writes completed in its buffer"),
        )
        if disk[key]
    ]
    phases = _times(
        disk,
        seek="seek_s",
        rotation="rotation_s",
        transfer="transfer_s",
        overhead="overhead_s",
    )
    grid.add_row(
        f"Disk {disk['name']}",
        f"{many(disk['reads'], 'read')}, {many(disk['writes'], 'write')}{volumes}{busy}"
        + "".join(f", {words}" for words in buffered)
        + f"; {phases or 'idle'}",
    )


def _times(figures: Mapping[str, Any], **keys: str) -> str:
    """Formats the seconds of each key as a duration under its name. Leaves out zeros."""
    return ", ".join(
        f"{name} {duration(figures[key] * US_PER_S)}" for name, key in keys.items() if figures[key]
    )


def _host_side(side: Mapping[str, Any]) -> str:
    """Describes the host time and memory of requests and flash software."""
    causes = _times(
        side,
        workers="cpu_worker_s",
        lookups="cpu_lookup_s",
        updates="cpu_update_s",
        GC="cpu_collection_s",
    )
    cores = many(side["cores"], "core")
    words = [f"{share(side['cpu_utilisation'])} of {cores} busy ({causes or '-'})"]
    if side["map_bytes"]:
        words.append(
            f"map {size(side['map_bytes'])} for {many(side['map_entries'], 'entry', 'entries')}"
        )
    if side["map_hit_ratio"] is not None:
        words.append(f"{share(side['map_hit_ratio'])} of lookups hit in memory")
    if side["bridge_utilisation"]:
        words.append(f"bridge busy {share(side['bridge_utilisation'])}")
    return ", ".join(words)


def _key_figures(summary: Mapping[str, Any]) -> Table:
    throughput = summary["throughput"]
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
    if summary["device"]["dies"]:
        _add_flash(grid, summary)
    if side := summary["host_side"]:
        grid.add_row("Host side", _host_side(side))
    for disk in summary["disks"]:
        _add_disk(grid, disk)
    grid.add_row("Simulated at", _speed(summary["speed"]))
    if summary["verification"]:
        grid.add_row("Verified", _verified(summary["verification"]))
    grid.add_row("Seed, digest", f"{summary['seed']}, {summary['digest']}")
    grid.add_row()
    return grid


def _add_flash(grid: Table, summary: Mapping[str, Any]) -> None:
    """Adds the rows of the flash and of the buffer, map and cache in front of it."""
    flash, busy = summary["flash"], summary["utilisation"]
    grid.add_row(
        "Flash",
        f"{programmed_text.sentence(flash)}, {many(flash['erases'], 'erase')}",
    )
    if cache := summary["map_cache"]:
        grid.add_row(
            "Map",
            f"{share(cache['hit_ratio'])} of {many(cache['hits'] + cache['misses'], 'lookup')} hit "
            f"in memory; {many(flash['own_page_reads'], 'map page')} read, "
            f"{whole(flash['own_page_programs'])} programmed",
        )
    if buffer := summary["buffer"]:
        grid.add_row("Buffer", _buffer(buffer))
    if in_front := summary["cache"]:
        _add_cache(grid, in_front)
    grid.add_row("GC", _collection(flash))
    if bad := summary["bad_blocks"]:
        grid.add_row("Health", _health(bad))
    if errors := summary["read_errors"]:
        grid.add_row("Reads delayed", _met(errors["reads_met"]))
    grid.add_row(
        "Busy",
        f"channels {share(busy['channel_mean'])} (busiest {share(busy['channel_max'])}), "
        f"dies {share(busy['die_mean'])} (busiest {share(busy['die_max'])})",
    )
    done, dies = summary["commands"], summary["execution"]
    grid.add_row("Commands", _commands(done))
    grid.add_row(
        "Dies",
        f"of die time: {share(dies['cell_active'])} array, {share(dies['bus_active'])} bus, "
        f"{share(dies['bus_contention'])} bus wait, {share(dies['idle'])} idle",
    )
    energy = summary["energy"]
    grid.add_row(
        "Energy",
        f"{figures(energy['total_mj'])} mJ: programs {figures(energy['program_mj'])}, "
        f"reads {figures(energy['read_mj'])}, erases {figures(energy['erase_mj'])}, "
        f"bus {figures(energy['bus_mj'])}, standby {figures(energy['standby_mj'])}",
    )


def _health(bad: Mapping[str, Any]) -> str:
    """Describes bad and spare blocks, and when the device became read-only."""
    end = bad["read_only_s"]
    return (
        f"{many(bad['factory'], 'factory bad block')}, {whole(bad['grown'])} grown, "
        f"{many(bad['spare'], 'spare block')} left"
    ) + (f"; read-only after {duration(end * US_PER_S)}" if end is not None else "")


def _met(reads: Mapping[str, Any]) -> str:
    """Describes reads by cause of delay, with mean latencies."""
    told = [
        f"{whole(reads[key]['count'])} by {name} (mean {duration(reads[key]['mean_us'])})"
        for key, name in (
            ("retry", "read retry"),
            ("reclaim", "read reclaim or refresh"),
            ("bad_block", "bad-block replacement"),
        )
        if reads[key]["count"]
    ]
    nothing = f"{whole(reads['nothing']['count'])} not delayed"
    if mean := reads["nothing"]["mean_us"]:
        nothing += f" (mean {duration(mean)})"
    return ", ".join([*told, nothing])


def _slow(worst: Mapping[str, Any], excess: Mapping[str, Any]) -> str:
    interval = duration(worst["interval_s"] * US_PER_S)
    marginal = duration(excess["marginal_response_us"])
    beyond = excess["all"]
    text = (
        f"maximum {duration(worst['all']['max_us'])}; mean of the maxima per {interval} "
        f"{duration(worst['all']['mean_us'])}; "
    )
    if not beyond["requests"]:
        return f"{text}none above {marginal}"
    return (
        f"{text}{many(beyond['requests'], 'request')} ({share(beyond['share'])}) "
        f"above {marginal}, by {duration(beyond['mean_us'])} on average"
    )


def _commands(done: Mapping[str, Any]) -> str:
    kinds = {
        "planes_shared": "multi-plane",
        "dies_interleaved": "overlapping another die of the package",
        "dies_interleaved_planes_shared": "both",
    }
    seen = [f"{whole(done[kind])} {words}" for kind, words in kinds.items() if done[kind]]
    if not seen:
        return (
            f"{whole(done['total'])}, all single-plane, none overlapping another die of the package"
        )
    pages = number(done["pages_per_command"])
    return f"{whole(done['total'])}, of {pages} pages each on average: {', '.join(seen)}"


def _collection(flash: Mapping[str, Any]) -> str:
    if not flash["gc_runs"]:
        return "no runs"
    return (
        f"{many(flash['gc_runs'], 'run')} moved {many(flash['gc_pages_moved'], 'page')} "
        f"({duration(flash['gc_time_s'] * US_PER_S)}, summed over planes)"
    )


def _speed(speed: Mapping[str, Any]) -> str:
    told = f"{many(speed['requests_per_cpu_s'], 'request')} per CPU second"
    if not speed["pages_touched"]:
        return told
    memory = speed["resident_bytes_per_touched_page"]
    return f"{told}, {number(memory)} bytes of memory per page touched"


def _verified(found: Mapping[str, Any]) -> str:
    return (
        f"{many(found['reads_checked'], 'page read')} checked against "
        f"{many(found['writes_followed'], 'page write')}; each returned the newest data"
    )
