"""Status of a live device: `control("status")`, metrics for Prometheus, and the terminal page."""

import http.client
import io
import os
import pty
import random
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Command, environment
from nbd_client import READ, TRIM, WRITE, Client, connected
from rich.console import Console

import wordline
from wordline import serve
from wordline._api.exporter import exported
from wordline._render.prometheus import FAMILIES, exposition
from wordline._render.status import OPS, served, served_since
from wordline._render.terminal.live import page

parser = pytest.importorskip("prometheus_client.parser")

LIMIT_S = 30


def load(client: Client, requests: int, seed: int = 1) -> None:
    """Sends requests one by one."""
    draw = random.Random(seed)
    for _ in range(requests):
        offset = draw.randrange(1500) * 4096
        if draw.random() < 0.5:
            assert client.call(WRITE, offset, data=bytes(4096)) == 0
        else:
            client.read(offset, 4096)


def test_status_is_the_summary_so_far(tiny: str) -> None:
    with wordline.serve(tiny) as device, connected(device.socket) as client:
        assert device.control("status")["summary"]["input"]["requests"] == 0
        load(client, 300)
        assert client.call(TRIM, 0, 8192) == 0
        status = device.control("status")
    assert device.result
    summary, end = status["summary"], device.result.summary
    assert summary["input"] == end["input"]
    assert summary["latency"]["read"] == end["latency"]["read"]
    assert set(summary) == set(end)
    for op in OPS:
        buckets = status["histograms"][op]
        assert sum(count for _, count in buckets) == summary["latency"][op]["count"]
        assert buckets == sorted(buckets)
    live = status["live"]
    assert (live["connections"], live["in_flight"], live["scale"]) == (1, 0, None)
    assert live["simulated_s"] >= summary["time"]["last_completion_s"]


def test_status_requests_do_not_change_the_run(tiny: str) -> None:
    def digest(asks: bool) -> str:
        with wordline.serve(tiny) as device, connected(device.socket) as client:
            for part in range(20):
                load(client, 50, part)
                if asks:
                    device.control("status")
        assert device.result
        return device.result.summary["digest"]

    assert digest(asks=True) == digest(asks=False)


def test_real_clock_reports_late_replies(tiny: str) -> None:
    with wordline.serve(tiny, clock="real") as device, connected(device.socket) as client:
        load(client, 20)
        live = device.control("status")["live"]
        time.sleep(0.01)
        later = device.control("status")["live"]
    assert live["replies"] == 20
    assert live["late_replies"] <= 20
    assert later["simulated_s"] >= live["simulated_s"] + 0.01


def test_served_since_counts_the_requests_between_two_statuses(tiny: str) -> None:
    with wordline.serve(tiny) as device, connected(device.socket) as client:
        before = device.control("status")
        load(client, 200)
        first = device.control("status")
        for _ in range(100):
            client.read(0, 4096)
        second = device.control("status")
    reads = served_since(second, first, "read")
    assert reads.count == 100
    assert served_since(second, first, "write").count == 0
    total, whole = served(first, "write"), served_since(first, before, "write")
    assert (whole.count, whole.latency["mean_us"]) == (
        total.count,
        pytest.approx(total.latency["mean_us"]),
    )
    assert whole.latency["p99_us"] is not None
    assert total.latency["p99_us"] is not None
    assert 1 <= whole.latency["p99_us"] / total.latency["p99_us"] <= 17 / 16


def test_served_since_excludes_the_warm_up(tiny: str) -> None:
    overrides = {"observe.warm_up_requests": 100}
    with wordline.serve(tiny, overrides=overrides) as device, connected(device.socket) as client:
        load(client, 90)
        before = device.control("status")
        load(client, 30)
        status = device.control("status")
    assert sum(served_since(status, before, op).count for op in OPS) == 20


def scraped(where: str, path: str = "/metrics") -> tuple[int, str, str]:
    """Returns status, content type and text of a page."""
    if where.startswith("unix:"):
        connection = http.client.HTTPConnection("localhost", timeout=LIMIT_S)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(where.removeprefix("unix:"))
    else:
        host = where.removeprefix("http://").partition("/")[0]
        connection = http.client.HTTPConnection(host, timeout=LIMIT_S)
    connection.request("GET", path)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, response.headers["Content-Type"], text


def families(text: str) -> dict[str, Any]:
    return {one.name: one for one in parser.text_string_to_metric_families(text)}


def test_metrics_follow_the_format_of_prometheus(tiny: str) -> None:
    overrides = {"buffer.capacity_kib": 256}
    with (
        wordline.serve(tiny, clock="real", overrides=overrides, metrics=0) as device,
        connected(device.socket) as client,
    ):
        assert device.metrics is not None
        load(client, 200)
        code, kind, text = scraped(device.metrics)
        latency = device.control("status")["summary"]["latency"]["read"]
        assert scraped(device.metrics, "/other")[0] == 404
    assert (code, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
    found = families(text)
    for name, family in found.items():
        assert re.fullmatch("wordline_[a-z_]+", name)
        assert family.documentation.endswith((".", "buffer"))
        assert family.type != "unknown"
    absent = {name.removesuffix("_total") for name in FAMILIES} - set(found)
    assert all("cache" in name for name in absent)
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in found.values()
        for sample in family.samples
    }
    assert samples["wordline_requests_total", "read"] == latency["count"]
    assert samples["wordline_request_latency_seconds_count", "read"] == latency["count"]
    assert samples["wordline_request_latency_seconds_bucket", "read", "+Inf"] == latency["count"]
    mean = samples["wordline_request_latency_seconds_sum", "read"] / latency["count"]
    assert mean * 1e6 == pytest.approx(latency["mean_us"])
    quantile = samples["wordline_request_latency_quantile_seconds", "read", "0.5"]
    assert quantile * 1e6 == pytest.approx(latency["p50_us"])
    assert samples["wordline_replies_total",] == 200
    assert samples["wordline_connections",] == 1


def test_metrics_of_a_disk_omit_flash() -> None:
    with wordline.serve("atlas-10k") as device:
        text = exposition(device.control("status"))
    assert "wordline_requests_total" in text
    assert "wordline_flash" not in text


def test_metrics_are_exported_on_a_private_unix_socket(tiny: str) -> None:
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind("m.sock")
    with wordline.serve(tiny, metrics="unix:m.sock") as device:
        assert device.metrics is not None
        assert stat.S_IMODE(os.lstat("m.sock").st_mode) == 0o600
        assert "wordline_requests_total" in scraped(device.metrics)[2]
        with pytest.raises(wordline.WordlineError, match="in use; choose another path"):
            wordline.serve(tiny, metrics="unix:m.sock").__enter__()
        assert "wordline_requests_total" in scraped(device.metrics)[2]
    assert not Path("m.sock").exists()
    Path("file").write_text("kept")
    with pytest.raises(wordline.WordlineError, match="choose another path"):
        wordline.serve(tiny, metrics="unix:file").__enter__()
    assert Path("file").read_text() == "kept"
    with pytest.raises(wordline.WordlineError, match="neither a port"):
        wordline.serve(tiny, metrics=65_536)


def test_invalid_or_busy_port_is_rejected(wordline: Command, tiny: str) -> None:
    for wrong in ("http", "65536", "-1", "0.0.0.0:80"):
        done = wordline("serve", tiny, "--metrics", wrong)
        assert (done.returncode, "neither a port" in done.stderr) == (2, True), done.stderr
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = wordline("serve", tiny, "--metrics", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "in use; choose another port" in done.stderr


def test_metrics_are_unavailable_before_the_device_is_ready() -> None:
    def status() -> dict[str, Any]:
        return wordline.control("no.sock", "status")

    with exported(0, status) as where:
        assert scraped(where)[0] == 503


@pytest.mark.parametrize("width", [80, 140])
def test_status_page_fits_the_terminal(tiny: str, width: int) -> None:
    overrides = {"buffer.capacity_kib": 256}
    live = wordline.serve(tiny, clock="real", scale=2, overrides=overrides, power_cuts=True)
    with live as device:
        with connected(device.socket) as client:
            load(client, 100)
            before = device.control("status")
            load(client, 100)
            assert client.call(TRIM, 0, 8192) == 0
        device.control("power-cut")
        status = device.control("status")
    for latency in status["summary"]["latency"].values():
        latency["count"] *= 10**6
    shown = io.StringIO()
    Console(file=shown, width=width).print(page(status, before))
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < 24
    for word in ("real clock, 2 s per", "1 power cut", "last", "total", "trim", "DRAM buffer"):
        assert any(word in line for line in lines), word


def test_serve_command_shows_the_status_page(tiny: str) -> None:
    output = on_terminal("serve", tiny, "--no-report", "--metrics", "0")
    assert "metrics: http://127.0.0.1:" in output
    assert "simulated clock" in output
    assert "write amplification" in output
    assert "write amplification" not in on_terminal("serve", tiny, "--no-page", "--no-report")


def on_terminal(*args: str) -> str:
    """Runs a command on a terminal, sends it two requests and then SIGINT; returns its output."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "wordline", *args],
        stdin=slave,
        stdout=subprocess.DEVNULL,
        stderr=slave,
        env=environment() | {"TERM": "xterm", "COLUMNS": "80", "LINES": "24"},
    )
    os.close(slave)
    output, asked = b"", False
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit:
        if select.select([master], [], [], 0.1)[0]:
            try:
                output += os.read(master, 1 << 16)
            except OSError:  # The command has ended.
                break
        if b"is ready" in output and not asked:
            asked = True
            with connected("wordline.sock") as client:
                load(client, 2)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
    os.close(master)
    assert process.wait(LIMIT_S) == 0, output
    return output.decode()


def test_interrupt_before_the_device_is_ready_writes_nothing() -> None:
    args = ["d4", "--set", "precondition.overwrite_ratio=100", "--no-report"]
    process = subprocess.Popen(
        [sys.executable, "-m", "wordline", "serve", *args],
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    limit = time.monotonic() + LIMIT_S
    while not Path("wordline.sock").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, "nothing was written" in error) == (130, True), error


def test_control_prints_the_status(tiny: str, wordline: Command) -> None:
    with serve(tiny) as device:
        with connected(device.socket) as client:
            assert client.call(WRITE, 0, data=bytes(4096)) == 0
            assert client.call(READ, 0, 4096) == 0
        done = wordline("control", device.socket, "status")
        assert "Flash: write amplification" in done.stdout, done.stderr
