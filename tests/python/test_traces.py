"""Trace statistics in Python."""

import json
from pathlib import Path
from typing import Any, get_args, get_type_hints, is_typeddict

import pytest
from conftest import Command

import wordline
from wordline.cli import main

BUNDLED = Path(__file__).parents[2] / "traces" / "postgresql-mixed.csv.gz"


def table_of(hint: Any) -> Any:
    """Returns the TypedDict that a hint names, also from a union with None."""
    return next((kind for kind in (hint, *get_args(hint)) if is_typeddict(kind)), None)


def shape_of(kind: Any) -> Any:
    """Returns a TypedDict as nested sets of keys."""
    tables = {name: table_of(hint) for name, hint in get_type_hints(kind).items()}
    return {name: shape_of(table) if table else None for name, table in tables.items()}


def keys_of(value: Any) -> Any:
    """Returns the names in a table, in its nested tables, and in the first table of a list."""
    if isinstance(value, list):
        value = value[0] if value else None
    return {name: keys_of(of) for name, of in value.items()} if isinstance(value, dict) else None


def test_statistics_match_their_type() -> None:
    stat = wordline.trace_stat(BUNDLED)
    assert keys_of(stat) == shape_of(wordline.TraceStat)


def test_a_slower_device_is_idle_for_less() -> None:
    fast = wordline.trace_stat(BUNDLED)["idle"]
    slow = wordline.trace_stat(BUNDLED, page_read_us=183.2, page_program_us=860.36)["idle"]
    assert fast is not None
    assert slow is not None
    assert slow["page_program_us"] == 860.36
    assert slow["intervals"] == fast["intervals"]
    assert slow["back_to_back"]["intervals"] > fast["back_to_back"]["intervals"]
    assert slow["longest_s"] < fast["longest_s"]


def test_an_error_names_the_parameter_of_an_invalid_number() -> None:
    with pytest.raises(TypeError, match="page_read_us must be a number, not 'x'"):
        wordline.trace_stat(BUNDLED, page_read_us="x")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="page_program_us must be a number, not True"):
        wordline.trace_stat(BUNDLED, page_program_us=True)
    with pytest.raises(wordline.WordlineError, match="idle_threshold_s: -1 is not between 0 and"):
        wordline.trace_stat(BUNDLED, idle_threshold_s=-1)
    with pytest.raises(wordline.WordlineError, match=r"idle_threshold_s: .* is too large"):
        wordline.trace_stat(BUNDLED, idle_threshold_s=10**400)


def test_functions_that_read_traces_accept_named_columns(tmp_path: Path) -> None:
    table = tmp_path / "mine.txt"
    lines = [f"{10 * at}\tdev\t{at % 2}\t{8 * (at % 50)}\t4096" for at in range(200)]
    table.write_text("\n".join(["t\tname\tread\tlba\tlen", *lines]) + "\n")
    columns = "time=t:us,offset=LBA:sectors,bytes=5,op=read:1=read"
    stat = wordline.trace_stat(table, columns=columns)
    assert (stat["reads"], stat["writes"]) == (100, 100)
    done = wordline.trace_convert(table, tmp_path / "x.csv", to="wordline", columns=columns)
    assert done["written"] == 200
    again = wordline.trace_stat(tmp_path / "x.csv")
    assert {**stat, "files": None} == {**again, "files": None}
    hits = wordline.cache(table, "lru", 50, columns=columns).summary["runs"][0]
    assert hits["misses"] == 50
    curve = wordline.mrc(table, sizes=["50p"], columns=columns)
    assert curve.summary["input"]["files"][0]["format"] == "columns"
    result = wordline.run("d4", table, columns=columns)
    assert result.summary["input"]["requests"] == 200


def test_a_missing_column_is_reported_with_the_existing_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("t,lba,len,rw\n1,2,3,R\n")
    command = ["trace", "stat", str(table), "--columns"]
    assert main([*command, "time=t:us,offset=sector,bytes=len,op=rw"]) == 2
    assert capsys.readouterr().err == (
        f"error: {table}:1: the first line has no column named `sector`; give one of "
        "`t`, `lba`, `len`, `rw`, or the column's number from 1\n"
    )
    assert main([*command, "time=t,offset=lba,bytes=len,op=rw"]) == 2
    assert "error: --columns: time: the unit is missing; give s, ms" in capsys.readouterr().err
    assert main([*command, "time=t:us,offset=lba,bytes=len,op=rw", "--align", "keep"]) == 0
    with pytest.raises(TypeError, match="columns must be a string such as"):
        wordline.trace_stat(table, columns=7)  # pyright: ignore


def test_conversions_and_statistics_report_changes_to_records(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"{time} 0 {8 * n} 8 1\n" for n, time in enumerate([5, 4, 6, 7])]
    (place / "t.txt").write_text("".join([*lines, "rubbish\n"]))
    reading = ["--format", "mqsim", "--on-bad-line", "skip"]
    for words in (["convert", "t.txt", "out.spc", "--to", "spc"], ["stat", "t.txt"]):
        assert main(["trace", *words, *reading]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "Note: 1 bad lines were skipped; the first of them: t.txt:5: column 1" in told
        assert "Note: 1 requests were out of order and were sorted by time." in told


def test_a_clock_change_can_be_cut_out(wordline: Command, place: Path) -> None:
    far = 1_700_000_000_000_000_000
    lines = [f"{time},read,0,4096,0" for time in (0, far, far + 9)]
    head = "time_ns,op,offset_bytes,size_bytes,volume"
    (place / "far.csv").write_text("\n".join([head, *lines, ""]))
    counted = json.loads(wordline("trace", "stat", "--json", "far.csv").stdout)
    assert (counted["requests"], counted["duration_s"]) == (3, None)
    assert "--time-gaps cut=1s" in counted["notes"][0]
    cut = wordline("trace", "stat", "--json", "--time-gaps", "cut=1s", "far.csv")
    assert json.loads(cut.stdout)["duration_s"] == pytest.approx(1 + 9e-9, rel=1e-12)
    refused = wordline("trace", "convert", "far.csv", "near.csv", "--to", "wordline")
    assert refused.returncode == 2
    assert "pass --time-gaps cut=1s" in refused.stderr
