"""Numbers quoted in the documentation match the documented commands."""

import gzip
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wordline
from wordline import cli
from wordline._render import units

DOCS = Path(__file__).parents[2] / "docs"
TRACE = "postgresql-mixed.csv.gz"


def text(page: str) -> str:
    return (DOCS / page).read_text()


def blocks(page: str, language: str) -> list[str]:
    """Returns the fenced blocks of a language, without their indentation."""
    fences = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", text(page), re.MULTILINE | re.DOTALL)
    return [
        re.sub(rf"^{indent}", "", block, flags=re.MULTILINE)
        for indent, of, block in fences
        if of == language
    ]


def rows(page: str, first: str) -> Iterator[list[str]]:
    """Yields the rows of the table whose heading starts with `first`, as lists of cells."""
    lines = iter(text(page).splitlines())
    for line in lines:
        if line.strip().startswith(f"| {first} |"):
            next(lines)
            break
    for line in lines:
        if not line.strip().startswith("|"):
            return
        yield [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]


def printed(page: str, heading: str) -> list[str]:
    """Returns the lines of the block with a terminal table, without rules."""
    (block,) = [one for one in blocks(page, "") if one.lstrip().startswith(heading)]
    return [line.strip() for line in block.splitlines() if not set(line) <= {" ", "─"}]


def shown(capsys: pytest.CaptureFixture[str], *args: str) -> list[str]:
    capsys.readouterr()
    assert cli.main(["run", *args, "--no-report", "--out", "out"]) == 0
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(autouse=True)
def wide(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets a terminal width that shows all columns."""
    assert place
    monkeypatch.setenv("COLUMNS", "160")


def test_array_page_shows_the_members_of_its_example(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "raid.toml").write_text(blocks("how-to/array.md", "toml")[0])
    out = shown(capsys, "raid.toml", "--trace", TRACE)
    assert set(printed("how-to/array.md", "Member")) <= set(out)


def test_array_page_quotes_the_slowdowns_of_two_disks(place: Path) -> None:
    (pair, streams) = blocks("how-to/array.md", "toml")[-2:]
    (place / "pair.toml").write_text(pair + streams)
    page = text("how-to/array.md")
    (times,) = re.findall(r"their mean response time is ([\d.]+) times that of a run", page)
    users = slowdowns("pair.toml", [])["users"]
    assert f"{users:.2f}" == times
    (command,) = re.findall(r"`wordline run pair.toml --slowdown (--set [^`]*)`", page)
    settings = [tuple(one.split("=", 1)) for one in shlex.split(command) if one != "--set"]
    assert [f"{one:.2f}" for one in slowdowns("pair.toml", settings).values()] == ["1.00", "1.00"]


def slowdowns(device: str, overrides: Any) -> dict[str, float]:
    result = wordline.run(device, overrides=overrides, slowdown=True, requests=False)
    return {stream["name"]: stream["slowdown"]["all"] for stream in result.summary["streams"]}


def test_streams_page_shows_the_slowdowns_of_its_example(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "hosts.toml").write_text(blocks("how-to/streams.md", "toml")[0])
    out = shown(capsys, "hosts.toml", "--slowdown")
    assert set(printed("how-to/streams.md", "Stream")) <= set(out)
    (said,) = re.findall(r"are close to one \(([\d.]+) and ([\d.]+)\)", text("how-to/streams.md"))
    urgent = slowdowns("hosts.toml", {"streams.db.class": "urgent"})
    assert tuple(f"{one:.2f}" for one in urgent.values()) == said


def test_gc_page_quotes_the_results_of_each_mapping_and_schedule(place: Path) -> None:
    (place / "bursts.toml").write_text(blocks("how-to/gc.md", "toml")[0])
    table = list(rows("how-to/gc.md", "mapping"))
    assert len(table) == 9
    for mapping, schedule, write, read, erases, amplification in table:
        overrides = {"ftl.mapping": mapping, "ftl.gc.schedule": schedule}
        summary = wordline.run("bursts.toml", overrides=overrides, requests=False).summary
        longest = [summary["latency"][op]["max_us"] / 1e3 for op in ("write", "read")]
        found = [f"{ms:.1f} ms" for ms in longest]
        found += [units.whole(summary["flash"]["erases"])]
        found += [f"{summary['flash']['write_amplification']:.2f}"]
        assert found == [write, read, erases, amplification], (mapping, schedule)


def test_buffer_page_quotes_the_results_of_each_replacement_policy(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "buffered.toml").write_text(blocks("how-to/buffer.md", "toml")[0])
    out = " ".join(shown(capsys, "buffered.toml", "--trace", TRACE))
    (line,) = blocks("how-to/buffer.md", "text")
    assert " ".join(line.split()) in re.sub(r"\s+", " ", out)
    table = list(rows("how-to/buffer.md", "policy"))
    assert len(table) == 7
    bundled = DOCS.parent / "traces" / TRACE
    with gzip.open(bundled, "rt") as lines:
        kept = [line for line in lines if line.split(",")[1] != "flush"]
    (place / "without.csv").write_text("".join(kept))
    for policy, hits, clean, read, write, without in table:
        key, value = ("capacity_kib", 0) if policy == "no buffer" else ("replacement", policy)
        summary, unflushed = (
            wordline.run(
                "buffered.toml", trace, overrides={f"buffer.{key}": value}, requests=False
            ).summary
            for trace in (TRACE, "without.csv")
        )
        buffer, latency = summary["buffer"], summary["latency"]
        found = [
            f"{100 * buffer[of]:.1f} %" if buffer else ""
            for of in ("hit_ratio", "clean_eviction_ratio")
        ]
        found += [f"{latency[op]['mean_us']:.0f} us" for op in ("read", "write")]
        found += [f"{unflushed['latency']['write']['mean_us']:.0f} us"]
        assert found == [hits, clean, read, write, without], policy


def test_store_tutorial_quotes_the_trace_and_the_disk_alone(place: Path) -> None:
    assert place
    page = text("tutorial-store.md")
    said = (
        r"([\d,]+) requests in (\d+) seconds, half of them reads, on (\d+) MiB of addresses, "
        r"of which (\d+) MiB are touched"
    )
    (quoted,) = re.findall(said, page)
    stat = wordline.trace_stat(TRACE)
    found = [units.whole(stat["requests"]), f"{stat['duration_s']:.0f}"]
    found += [f"{stat['highest_address_bytes'] / 2**20:.0f}", f"{stat['footprint']['mib']:.0f}"]
    assert found == list(quoted)
    assert stat["reads"] / stat["requests"] == pytest.approx(0.5, abs=0.02)
    said = r"takes (\d+) seconds on average, nearly all .*: the disk is busy (\d+) %"
    (quoted,) = re.findall(said, page)
    summary = wordline.run("nearline-7200", TRACE, requests=False).summary
    mean_us = summary["latency"]["all"]["mean_us"]
    assert mean_us is not None
    busy = summary["disks"][0]["utilisation"]
    assert [f"{mean_us / 1e6:.0f}", f"{100 * busy:.0f}"] == list(quoted)


def test_store_tutorial_agrees_with_the_models(place: Path) -> None:
    assert place
    page = text("tutorial-store.md")
    (sizes,) = re.findall(r"--sizes ([\w,]+)", page)
    (longest,) = re.findall(r"a request waits longest with (\d+) MiB", page)
    plan = wordline.plan_cache(
        TRACE,
        "demo-store",
        "nearline-7200",
        sizes=sizes.split(","),
        check=False,
        leading=10_000,
        steps=10,
    )
    worst = max(
        plan.sizes, key=lambda size: min(answer["request_us"] for answer in size["answers"])
    )
    assert worst["flash_bytes"] == int(longest) << 20


def test_search_page_quotes_the_best_trials(place: Path) -> None:
    assert place
    page = text("how-to/search.md")
    (found,) = re.findall(
        r"of ([\d.]+) with a `start_free_ratio` of ([\d.]+). Its p99 is ([\d.]+) ms", page
    )
    (less,) = re.findall(r"With ([\d.]+) the p99 is ([\d.]+) ms", page)
    cases = [found, (less[0], found[1], less[1])]
    front = [tuple(cells) for cells in rows("how-to/search.md", "over-provisioning")]
    assert len(front) == 4
    for ratio, threshold, p99 in [*cases, *front]:
        keys = {
            "ftl.over_provisioning_ratio": float(ratio),
            "ftl.gc.start_free_ratio": float(threshold),
        }
        summary = wordline.run("demo", TRACE, overrides=keys, requests=False).summary
        ms = summary["latency"]["write"]["p99_us"] / 1000
        assert f"{ms:.1f}" == p99.removesuffix(" ms"), ratio
    assert float(cases[0][2]) < 20 < float(cases[1][2])


def test_buffer_page_quotes_the_pages_lost_and_saved_in_power_cuts(place: Path) -> None:
    (place / "buffered.toml").write_text(blocks("how-to/buffer.md", "toml")[0])
    page = text("how-to/buffer.md")
    (said,) = re.findall(r"`power.pages_lost`; this run loses ([\d,]+) pages in (\d+) cuts", page)
    (saved,) = re.findall(r"are saved instead \(([\d,]+) pages\)", page)
    for capacitors in (False, True):
        power = wordline.run(
            "buffered.toml",
            TRACE,
            overrides={"buffer.capacitors": capacitors},
            power_cut_every=10_000,
            verify=True,
            requests=False,
        ).summary["power"]
        if capacitors:
            assert units.whole(power["pages_saved"]) == saved
        else:
            assert (units.whole(power["pages_lost"]), str(power["cuts"])) == said


def test_flash_cache_page_quotes_hits_and_erases_of_its_sweep(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = "how-to/flash-cache.md"
    (block,) = [one for one in blocks(page, "sh") if one.startswith("wordline sweep")]
    command = shlex.split(block.replace("\\\n", " "))[1:]
    assert cli.main([*command, "--out", "out"]) == 0
    assert "hit ratio" in capsys.readouterr().out, "the terminal shows it"
    keys = ("cache.replacement", "cache.suspected_queue", "ftl.gc.reclaim")
    table = pl.read_parquet("out/points.parquet")
    told = [
        [
            row[keys[0]],
            "yes" if row[keys[1]] else "no",
            row[keys[2]],
            units.share(row["cache.hit_ratio"]),
            units.whole(row["flash.erases"]),
        ]
        for row in table.sort("point").to_dicts()
    ]
    assert list(rows(page, "replacement")) == told
