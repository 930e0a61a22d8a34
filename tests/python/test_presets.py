"""The descriptions of presets agree with their configurations."""

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import wordline
from wordline import config

PRESETS = {one["name"]: one for one in wordline.presets()}
WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "six": 6, "eight": 8}
UNITS = {"MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
NUMBER = r"(\d[\d,]*|one|two|three|four|six|eight)"


def number(word: str) -> int:
    return WORDS.get(word.lower()) or int(word.replace(",", ""))


def flash_bytes(device: Mapping[str, Any]) -> int:
    shape, ssd = device["nand"]["geometry"], device["ssd"]
    product = ssd["channels"] * ssd["ways"]
    for key in (
        "dies_per_package",
        "planes_per_die",
        "blocks_per_plane",
        "pages_per_block",
        "page_bytes",
    ):
        product *= shape[key]
    return product


def interface(device: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    ((name, words),) = device["host"]["interface"].items()
    return name, words


RULES: dict[str, Callable[[re.Match[str], Mapping[str, Any]], bool]] = {
    rf"\b{NUMBER} channels?\b": lambda said, of: number(said[1]) == of["ssd"]["channels"],
    rf"channels (?:x|of) {NUMBER} (?:\w+ \d )?(?:\S+ )?(?:packages|ways|chips)": lambda said, of: (
        number(said[1]) == of["ssd"]["ways"]
    ),
    rf"(?:chips|packages) of {NUMBER} planes": lambda said, of: (
        number(said[1]) == of["nand"]["geometry"]["planes_per_die"]
    ),
    rf"(?:packages of {NUMBER} dies|(dual)-die packages)": lambda said, of: (
        (2 if said[2] else number(said[1])) == of["nand"]["geometry"]["dies_per_package"]
    ),
    r"\b(\d+) KiB pages\b": lambda said, of: (
        int(said[1]) * 1024 == of["nand"]["geometry"]["page_bytes"]
    ),
    r"\b([\d,]+) MT/s": lambda said, of: number(said[1]) == of["nand"]["timing"]["bus_mt_per_s"],
    r"\bqueue of (\d+)": lambda said, of: int(said[1]) == of["host"]["queue_depth"],
    r"PCI Express (\d)\.0(?: x(\d))?": lambda said, of: (
        interface(of)[0] == "nvme"
        and interface(of)[1]["generation"] == int(said[1])
        and interface(of)[1]["lanes"] == int(said[2] or interface(of)[1]["lanes"])
    ),
    r"\bSATA\b": lambda _said, of: interface(of)[0] == "sata",
    r"\bno SLC cache\b": lambda _said, of: "off" in of["ftl"]["slc_cache"],
    r"(?<!no )\bSLC cache\b": lambda _said, of: "off" not in of["ftl"]["slc_cache"],
    r"\bDRAM buffer\b": lambda _said, of: of["buffer"]["capacity_kib"] > 0,
    r"\bwith capacitors\b": lambda _said, of: of["buffer"]["capacitors"],
    r"\b(\d+) (MiB|GiB|TiB)\b(?! blocks)": lambda said, of: (
        abs(flash_bytes(of) / (int(said[1]) * UNITS[said[2]]) - 1) < 0.02
    ),
    r"\bwrite cache off\b": lambda _said, of: not of["disk"]["buffer"]["write_cache"],
}
"""Patterns in descriptions, with a check of the configuration."""


@pytest.mark.parametrize("rule", RULES)
def test_descriptions_agree_with_configurations(rule: str) -> None:
    found = 0
    for name, preset in PRESETS.items():
        device = tomllib.loads(config.show(name))
        for said in re.finditer(rule, preset["description"], re.IGNORECASE):
            found += 1
            assert RULES[rule](said, device), f"{name}: {said[0]}"
    assert found, "no description matches the pattern"


@pytest.mark.parametrize("name", PRESETS)
def test_descriptions_do_not_mention_models_and_kinds_match_tables(name: str) -> None:
    assert "model" not in PRESETS[name]["description"]
    kind = PRESETS[name]["kind"]
    tables = tomllib.loads(PRESETS[name]["text"])
    assert (kind == "flash cache") == ("cache" in tables)
    assert (kind == "disk") == ("disk" in tables and "cache" not in tables)
    assert (kind == "array") == ("array" in tables and "cache" not in tables)
