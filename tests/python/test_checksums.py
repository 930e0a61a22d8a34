"""Every command that reads results rejects or reports changed results and results of other
versions."""

import json
import os
import shutil
import zlib
from pathlib import Path

import polars
import pytest
from conftest import TINY, Command, msr

import wordline as package
from wordline import WordlineError
from wordline._internal import checksums

READERS = {
    "report": ("report", "here"),
    "compare": ("compare", "here", "other"),
    "fio-logs": ("fio-logs", "here", "logs/here"),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes a run and a sweep. Tests damage copies of them."""
    folder = tmp_path_factory.mktemp("written")
    device, trace = folder / "tiny.toml", folder / "disk.csv"
    device.write_text(TINY)
    trace.write_text(msr(500))
    package.run(str(device), str(trace), out=folder / "here")
    package.run(str(device), str(trace), seed=2, out=folder / "other")
    package.sweep(str(device), str(trace), seeds=2, out=folder / "sweep")
    return folder


@pytest.fixture
def copies(written: Path, place: Path) -> Path:
    for name in ("here", "other", "sweep"):
        shutil.copytree(written / name, place / name)
    return place


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_checksums_are_crc_32_of_all_files_but_the_report(written: Path) -> None:
    stated = json.loads((written / "here/checksums.json").read_text())
    files = {path.name for path in (written / "here").iterdir()}
    assert set(stated["crc32"]) == files - {"checksums.json", "report.html"}
    for name, crc in stated["crc32"].items():
        assert int(crc, 16) == zlib.crc32((written / "here" / name).read_bytes())
    assert stated["schema"] == json.loads((written / "here/summary.json").read_text())["schema"]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "name", ["latency.parquet", "requests.parquet", "summary.json", "config.resolved.toml"]
)
def test_every_command_rejects_a_result_with_a_changed_bit(
    copies: Path, wordline: Command, reader: str, name: str
) -> None:
    (copies / "here/report.html").unlink()
    flip(copies / "here" / name)
    done = wordline(*READERS[reader])
    assert done.returncode == 2
    assert f"here/{name}: has changed since it was written" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (copies / "here/report.html").exists()


@pytest.mark.parametrize("name", ["points.parquet", "sweep.toml", "config.resolved.toml"])
def test_every_command_rejects_a_sweep_with_a_changed_bit(
    copies: Path, wordline: Command, name: str
) -> None:
    flip(copies / "sweep" / name)
    for command in (("sweep", "report", "sweep"), ("compare", "sweep", "here")):
        done = wordline(*command)
        assert done.returncode == 2
        assert f"sweep/{name}: has changed since it was written" in done.stderr
    with pytest.raises(WordlineError, match="has changed since it was written"):
        package.Sweep.of("sweep")


def restated(folder: Path, key: str, value: object) -> None:
    """Makes results claim another version or schema."""
    sums = folder / "checksums.json"
    stated = json.loads(sums.read_text())
    if key == "schema":
        stated[key] = value
    elif (folder / "summary.json").exists():
        summary = folder / "summary.json"
        summary.write_text(json.dumps(json.loads(summary.read_text()) | {key: value}))
    else:
        table = polars.read_parquet(folder / "points.parquet")
        table = table.with_columns(polars.lit(value).alias(key))
        table.write_parquet(folder / "points.parquet")
    stated["crc32"] = {
        name: f"{zlib.crc32((folder / name).read_bytes()):08x}" for name in stated["crc32"]
    }
    sums.write_text(json.dumps(stated))


@pytest.mark.parametrize("command", [*READERS.values(), ("sweep", "report", "sweep")])
@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("version", "99.1.0", "was written by Wordline 99.1.0, and this is"),
        ("schema", 7, "holds results of schema 7, and this is Wordline"),
        # The write amplification of this schema is a ratio of pages.
        ("schema", 1, "holds results of schema 1, and this is Wordline"),
    ],
)
def test_results_of_another_schema_or_a_newer_version_are_rejected(
    copies: Path, wordline: Command, command: tuple[str, ...], key: str, value: object, said: str
) -> None:
    restated(copies / "here", key, value)
    restated(copies / "sweep", key, value)
    done = wordline(*command)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["report", "compare"])
def test_results_without_checksums_are_read_with_a_note(
    copies: Path, wordline: Command, command: str
) -> None:
    (copies / "here/checksums.json").unlink()
    done = wordline(*READERS[command])
    assert done.returncode == 0, done.stderr
    assert done.stderr == ("note: here: holds no checksums.json; its files are read unchecked\n")
    summary = copies / "here/summary.json"
    stated = json.loads(summary.read_text())
    for key, value in (("schema", 1), ("version", "10.0.0")):
        summary.write_text(json.dumps(stated | {key: value}))
        done = wordline(*READERS[command])
        assert done.returncode == 2
        assert str(value) in done.stderr


@pytest.mark.parametrize(
    "content",
    [
        '{"schema": 1, "crc32": {"/dev/zero": "0"}}',
        '{"schema": 1, "crc32": {"../other/summary.json": "0"}}',
        '{"schema": 1, "crc32": {"a\\u0000b": "0"}}',
        '{"schema": 1, "crc32": {"a\\ud800b": "0"}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_of_checksums_is_rejected(
    copies: Path, wordline: Command, content: str
) -> None:
    (copies / "here/checksums.json").write_text(content)
    done = wordline("report", "here")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: here/checksums.json: cannot be read (")


@pytest.mark.parametrize("name", ["series.parquet", "checksums.json"])
def test_a_pipe_in_place_of_a_result_is_rejected_at_once(
    copies: Path, wordline: Command, name: str
) -> None:
    (copies / "here" / name).unlink()
    os.mkfifo(copies / "here" / name)
    done = wordline("report", "here")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"error: here/{name}: is ")


def test_versions_are_compared_by_number_not_as_text() -> None:
    checksums.require_version("here", package.__version__)
    checksums.require_version("here", "0.0.9")
    for version in ("0.10.0", "100.0", "1.2.3+local"):
        with pytest.raises(WordlineError, match="or repeat the run"):
            checksums.require_version("here", version)


@pytest.mark.usefixtures("copies")
def test_a_rebuilt_report_does_not_invalidate_the_checksums(wordline: Command) -> None:
    for _ in range(2):
        assert wordline("report", "here").stderr == ""
    assert wordline("sweep", "report", "sweep").returncode == 0
    assert wordline("compare", "here", "other", "--out", "c.html").stderr == ""


def test_a_changed_journal_of_trials_is_rejected(tiny: str, place: Path) -> None:
    pytest.importorskip("optuna")
    with (place / tiny).open("a") as file:
        file.write("\n[workload]\nrequests = 50\n")

    def search() -> package.Search:
        return package.search(
            tiny,
            vary={"host.queue_depth": [1, 2]},
            minimise="latency.all.mean_us",
            trials=2,
            sampler="grid",
            out="here",
        )

    before = search().table()
    assert search().table().equals(before)
    journal = place / "here/trials.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if b'"values":[' in line)
    lines[at] = lines[at].replace(b'"values":[', b'"values":[9')
    journal.write_bytes(b"".join(lines))
    with pytest.raises(WordlineError, match=rf"line {at + 1} has changed since it was written"):
        search()
