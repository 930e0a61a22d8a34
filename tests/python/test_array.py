"""Arrays of disks, from the command line."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Command

import wordline as package

BY_DISK = """
[array]
layout = "by-disk"

[[array.members]]
name = "pair"
disks = [0, 3]

[[array.members]]
name = "single"
ssd.channels = 4
disks = [1]
"""
STRIPED = """
[array]
stripe_bytes = 16_384
members = [{ name = "disk", count = 3 }]
"""


@pytest.fixture
def disks(place: Path) -> str:
    """Returns a trace of 4 KiB writes, one every 200 µs, to disks 0, 1, 3, 0, 1, 3 and so on."""
    lines = ["time_ns,op,offset_bytes,size_bytes,volume"]
    for index in range(300):
        disk = (0, 1, 3)[index % 3]
        lines.append(f"{200_000 * index},write,{4096 * (index // 3)},4096,{disk}")
    (place / "disks.csv").write_text("\n".join(lines) + "\n")
    return "disks.csv"


def device(place: Path, tiny: str, table: str) -> str:
    with (place / tiny).open("a") as file:
        file.write(table)
    return tiny


def summary(answer: Any) -> Any:
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_disks_of_a_trace_are_mapped_to_members(
    wordline: Command, place: Path, tiny: str, disks: str
) -> None:
    config = device(place, tiny, BY_DISK)
    told = summary(wordline("run", config, "--trace", disks, "--json", "--requests"))
    members = {member["name"]: member for member in told["members"]}
    assert {name: one["input"]["writes"] for name, one in members.items()} == {
        "pair": 200,
        "single": 100,
    }
    assert members["pair"]["disks"] == [0, 3]
    assert members["single"]["device"]["channels"] == 4
    folder = Path("out/tiny-disks")
    rows = pl.read_parquet(folder / "requests.parquet").sort("arrival_ps")
    assert rows["member"].to_list() == [0, 1, 0] * 100
    # Disk 3 begins in the middle of its member; disk 1 where that ends.
    half = members["pair"]["device"]["user_bytes"] // 2
    assert rows["offset"].head(3).to_list() == [0, 2 * half, half]
    series = pl.read_parquet(folder / "members.parquet")
    written = series.group_by("member").agg(pl.col("writes").sum()).sort("member")
    assert written["writes"].to_list() == [200, 100]
    assert "member" in pl.read_parquet(folder / "blocks.parquet").columns
    page = (folder / "report.html").read_text()
    assert '<h2 id="members">' in page
    assert "<td>0, 3</td>" in page


def test_the_terminal_lists_the_members(
    wordline: Command, place: Path, tiny: str, disks: str
) -> None:
    config = device(place, tiny, BY_DISK)
    told = wordline("run", config, "--trace", disks, "--no-report")
    line = next(line for line in told.stdout.splitlines() if "pair" in line)
    assert line.split()[:4] == ["pair", "0,", "3", "200"]


def test_a_disk_without_a_member_is_a_trace_error(
    wordline: Command, place: Path, tiny: str, disks: str
) -> None:
    config = device(place, tiny, BY_DISK.replace("[0, 3]", "[0]"))
    answer = wordline("run", config, "--trace", disks)
    assert answer.returncode == 2
    assert (
        "disks.csv:4: the request is for disk 3, which is not among the disks of the members: 0, 1"
        in answer.stderr
    )
    alone = summary(wordline("run", config, "--trace", disks, "--volumes", "1", "--json"))
    assert alone["input"]["requests"] == 100


def test_stripes_are_distributed_over_members(wordline: Command, place: Path, tiny: str) -> None:
    config = device(place, tiny, STRIPED + "[workload]\nrequests = 900\n")
    result = package.run(config, verify=True)
    members = result.summary["members"]
    assert [member["name"] for member in members] == ["disk0", "disk1", "disk2"]
    assert sum(member["input"]["requests"] for member in members) == 900
    assert sum(member["bytes_share"] or 0 for member in members) == pytest.approx(1)
    assert set(result.members.polars()["member"]) == {0, 1, 2}
    assert result.dies.polars()["member"].to_list() == [0, 0, 1, 1, 2, 2]
    answer = wordline("config", "show", config, "--set", "array.members.disk.count=2")
    assert "count = 2" in answer.stdout


def test_a_single_device_has_no_members(tiny: str) -> None:
    result = package.run(tiny, overrides={"workload.requests": 50})
    assert result.summary["members"] == []
    assert "member" not in result.requests.polars().columns
    with pytest.raises(package.WordlineError, match="no series of members"):
        _ = result.members
