"""Messages about the detected format of a trace."""

import json
from array import array
from pathlib import Path

import pytest
from conftest import Command, msr

import wordline as package

FIVE = "".join(f"{place * 1_000_000} 0 {place * 8 % 4000} 8 1\n" for place in range(200))


@pytest.fixture
def five(place: Path) -> str:
    """Writes a trace of five integers per line: 1,000 requests per second if times are ns, one if
    they are us."""
    (place / "five.txt").write_text(FIVE)
    return "five.txt"


def commands(tiny: str, trace: str) -> list[list[str]]:
    return [
        ["run", tiny, "--trace", trace],
        ["trace", "stat", trace],
        ["cache", trace, "lru", "10p"],
        ["mrc", trace],
        ["trace", "convert", trace, "out.spc", "--to", "spc"],
    ]


def test_commands_name_format_unit_and_reason(wordline: Command, tiny: str, place: Path) -> None:
    (place / "disk.csv").write_text(msr(500))
    said = (
        "disk.csv: msr, times in 100 ns, "
        "recognised by its header, or the types of its seven columns"
    )
    for words in commands(tiny, "disk.csv"):
        answer = wordline(*words)
        assert answer.returncode == 0, answer.stderr
        assert said in " ".join(answer.stdout.split()), words
        assert "to select the right one" not in answer.stdout
    named = wordline("trace", "stat", "disk.csv", "--format", "msr")
    assert "disk.csv: msr, times in 100 ns, as named" in named.stdout


def test_an_ambiguous_time_unit_is_a_warning(wordline: Command, tiny: str, five: str) -> None:
    for words in commands(tiny, five):
        told = " ".join(wordline(*words).stdout.split())
        assert "the lines match mqsim, with times in ns (1005 requests per second)" in told, words
        assert "ssdsim-us (--format ssdsim-us: times in us, 1.01 requests per second)" in told, (
            words
        )
    for name, seconds in (("mqsim", 0.199), ("ssdsim-us", 199.0)):
        told = package.trace_stat(five, format=name)
        assert (told["duration_s"], told["notes"]) == (seconds, [])
    summary = package.run(tiny, five, fit="wrap").summary
    assert summary["input"]["files"] == [
        {
            "path": five,
            "format": "mqsim",
            "time_unit": "ns",
            "recognised_by": "five integers that imply at most 8 GB/s if times are ns",
        }
    ]
    assert any("to select the right one" in note for note in summary["notes"])


def test_an_ambiguous_size_unit_is_a_warning(wordline: Command, place: Path) -> None:
    lines = (f"{7 * n}.000000\t0\t{24 * n}\t3\t1\n" for n in range(200))
    (place / "five.txt").write_text("".join(lines))
    told = " ".join(wordline("trace", "stat", "five.txt").stdout.split())
    assert "the lines match hil, with sizes in pages of 4 KiB (12.0 KiB per request" in told
    assert "disksim (--format disksim: sizes in sectors of 512 B, 1.5 KiB per request" in told


def test_sixteen_bit_numbers_are_not_keys(wordline: Command, place: Path) -> None:
    numbers = array("H", (n * n % 3001 for n in range(5000)))
    (place / "keys.bin").write_bytes(numbers.tobytes())
    for words in (["trace", "stat", "keys.bin"], ["cache", "keys.bin", "lru", "10p"]):
        answer = wordline(*words)
        assert answer.returncode == 2
        told = "keys.bin: the format is not recognised; the file may contain 16-bit numbers: write"
        assert told in " ".join(answer.stderr.split())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_text_in_another_encoding_is_not_a_key_trace(
    wordline: Command, tiny: str, place: Path, encoding: str
) -> None:
    (place / "wide.csv").write_bytes(msr(500).encode(encoding))
    for words in commands(tiny, "wide.csv"):
        answer = wordline(*words)
        assert answer.returncode == 2, words
        assert answer.stderr.startswith("error: wide.csv: the file is text in UTF-"), answer.stderr
        assert "iconv -f UTF-" in answer.stderr
    assert not (place / "out.spc").exists()


def test_a_trace_with_names_in_latin_1_is_read_as_text(place: Path) -> None:
    (place / "latin.csv").write_bytes(msr(500).replace("host", "h\xf6st").encode("latin-1"))
    (told,) = package.trace_stat("latin.csv")["files"]
    assert told["format"] == "msr"


def test_json_output_names_the_time_unit(wordline: Command, five: str) -> None:
    told = json.loads(wordline("trace", "stat", "--json", five).stdout)
    assert told["files"][0]["time_unit"] == "ns"
