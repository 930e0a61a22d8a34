"""Block status and structured replies of live devices, as clients of libnbd and QEMU use them."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import libnbd_checks
import pytest
from conftest import environment
from nbd_client import NO_HOLE, TRIM, WRITE, ZERO, connected
from serving import GIB, LIMIT, called, program, ram

import wordline

CAPACITY = 16 * GIB
ISLANDS = [(0, 4096), (5 * GIB, 1 << 20), (CAPACITY - 8192, 4096)]


@pytest.fixture(params=["memory", "file"])
def device(request: pytest.FixtureRequest, place: Path) -> Iterator[wordline.LiveDevice]:
    """Yields a device of 16 GiB with three written ranges."""
    data = place / "disk.img" if request.param == "file" else None
    with wordline.serve(ram(CAPACITY), data=data) as served:
        with connected(served.socket) as client:
            for offset, size in ISLANDS:
                assert client.call(WRITE, offset, data=b"i" * size) == 0
        yield served


def islands(device: wordline.LiveDevice) -> list[tuple[int, int]]:
    """Returns offset and length of each range that holds data, from libnbd."""
    found = json.loads(called(program("nbdinfo"), "--map", "--json", device.uri))
    assert sum(extent["length"] for extent in found) == CAPACITY
    assert {extent["type"] for extent in found} <= {0, 3}
    return [(extent["offset"], extent["length"]) for extent in found if extent["type"] == 0]


def test_map_has_the_written_ranges(device: wordline.LiveDevice) -> None:
    assert islands(device) == ISLANDS
    qemu = json.loads(
        called(program("qemu-img"), "map", "--output=json", "--image-opts", options(device))
    )
    data = [(part["start"], part["length"]) for part in qemu if part["data"]]
    assert data == ISLANDS
    assert all(part["zero"] for part in qemu if not part["data"])


def options(device: wordline.LiveDevice) -> str:
    return f"driver=nbd,server.type=unix,server.path={device.socket}"


def test_trimmed_ranges_become_holes(device: wordline.LiveDevice) -> None:
    with connected(device.socket) as client:
        assert client.call(TRIM, 5 * GIB, 65536) == 0
        assert client.call(ZERO, 0, 4096) == 0
        assert client.call(ZERO, CAPACITY - 8192, 512, flags=NO_HOLE) == 0
    assert islands(device) == [(5 * GIB + 65536, (1 << 20) - 65536), ISLANDS[2]]


def test_copies_omit_the_holes(device: wordline.LiveDevice) -> None:
    start = time.monotonic()
    called(program("qemu-img"), "convert", "-O", "raw", device.uri, "convert.img")
    called(program("nbdcopy"), device.uri, "copy.img")
    for image in ("convert.img", "copy.img"):
        with Path(image).open("rb") as file:
            for offset, size in ISLANDS:
                file.seek(offset)
                assert file.read(size) == b"i" * size
        assert Path(image).stat().st_size == CAPACITY
        assert Path(image).stat().st_blocks * 512 <= 4 << 20
    called(program("qemu-img"), "compare", "-f", "raw", "convert.img", device.uri)
    # Reading the whole device would take minutes.
    assert time.monotonic() - start < 20


@pytest.mark.usefixtures("place")
def test_block_status_takes_no_simulated_time() -> None:
    with wordline.serve(ram(CAPACITY)) as device:
        for _ in range(3):
            assert islands(device) == []
    assert device.result is None


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("check", libnbd_checks.CHECKS)
def test_libnbd_check_passes(check: str) -> None:
    """Runs a check with the Python bindings of libnbd, which belong to the Python of Debian."""

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        python = ["/usr/bin/python3", "-I", *args]
        return subprocess.run(
            python, capture_output=True, text=True, timeout=LIMIT, check=False, env=environment()
        )

    if not Path("/usr/bin/python3").exists() or run("-c", "import nbd").returncode:
        pytest.skip("python3-libnbd is not installed")
    with wordline.serve(ram(GIB)) as device:
        done = run(libnbd_checks.__file__, check, device.uri)
    assert done.returncode == 0, done.stderr
