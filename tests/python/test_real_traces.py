"""Simulates every trace of ../shared/traces with every read verified, which takes minutes. The
traces are not part of the project; without them the test is skipped."""

from pathlib import Path

import pytest

import wordline

FOLDER = Path(__file__).parents[3] / "shared" / "traces"
TRACES = sorted(path for path in FOLDER.glob("*") if path.is_file() and path.suffix != ".md")

# Records with a wrapped clock, as documented with the traces.
BROKEN = {"dbbench-fillrandom.blkparse.gz": 20}


@pytest.mark.slow
@pytest.mark.skipif(
    not TRACES,
    reason="recorded traces are too large for the project; put some in ../shared/traces",
)
@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name)
def test_every_read_returns_the_newest_write(trace: Path) -> None:
    broken = BROKEN.get(trace.name, 0)
    summary = wordline.run(
        "d4",
        trace,
        requests=False,
        verify=True,
        fit="wrap",
        volumes="stack",
        time_order="clamp",
        align="expand",
        on_bad_line="skip" if broken else "error",
    ).summary
    stat = wordline.trace_stat(
        trace, volumes="stack", on_bad_line="skip", time_order="clamp", align="expand"
    )
    assert summary["input"]["lines_skipped"] == broken
    assert summary["input"]["written_bytes"] == stat["written_bytes"]
    assert summary["input"]["read_bytes"] == stat["read_bytes"]
    # A request across the device's end is split in two.
    split = summary["latency"]["all"]["count"] - stat["requests"]
    assert 0 <= split <= 1e-4 * stat["requests"] + 1
    assert (summary["verification"]["reads_checked"] > 0) == (stat["reads"] > 0)
