"""The terminal prints "1 page", not "1 pages"."""

import re
from pathlib import Path

import pytest
from conftest import Command

HEADER = "time_ns,op,offset_bytes,size_bytes,volume\n"
PLURAL = re.compile(r"(?<![\d.,-])1 (?:other |more |distinct )?(?!is\b|was\b|has\b)[a-z-]+s\b")


@pytest.fixture
def one(place: Path) -> None:
    """Writes traces with one request of each kind, within the device and beyond its end."""
    (place / "one.csv").write_text(HEADER + "0,write,0,4096,0\n1000,read,0,4096,0\n")
    (place / "read.csv").write_text(HEADER + "0,read,0,4096,0\n")
    (place / "far.csv").write_text(HEADER + "0,write,1000000000000,4096,0\n")


@pytest.mark.usefixtures("tiny", "one")
@pytest.mark.parametrize(
    "command",
    [
        "run tiny.toml --trace one.csv --verify",
        "sweep tiny.toml --trace one.csv",
        "sweep tiny.toml --trace one.csv far.csv",
        "search tiny.toml --trace one.csv --vary ftl.gc.victim=greedy --trials 1 "
        "--minimise latency.write.mean_us",
        "search tiny.toml --trace one.csv --vary ftl.over_provisioning_ratio=0.3,7.5,8.5 "
        "--sampler grid --trials 3 --minimise latency.write.mean_us",
        "mrc one.csv",
        "cache one.csv lru 1p",
        "trace convert read.csv read.msr --to msr",
    ],
)
def test_a_count_of_one_has_a_singular_noun(wordline: Command, command: str) -> None:
    done = wordline(*command.split())
    said = done.stdout + done.stderr
    assert re.search(r"\b1 [a-z]", said), said
    assert not PLURAL.search(" ".join(said.split())), said
