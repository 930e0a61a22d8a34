"""Makes docs/images anew from the program, and keeps what they were made from: `make pictures`.

python docs/pictures.py FOLDER
"""

import io
import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from rich.console import Console

import wordline
from wordline import terminal

COMMAND = "wordline run demo --trace postgresql-mixed.csv.gz --out out/demo"
TRACE = "postgresql-mixed.csv.gz"


def told(summary: Any) -> Any:
    """What the pictures show of a summary and is the same on every machine."""
    return {key: value for key, value in summary.items() if key not in ("speed", "version")}


def shot(page: Path, picture: Path, width: int, height: int) -> None:
    """A page as a browser shows it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("error: chromium is not installed; install it (Debian: chromium)")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={profile}", f"--window-size={width},{height}",
                "--virtual-time-budget=20000", f"--screenshot={picture}", page.as_uri(),
            ],
            check=True, capture_output=True, timeout=180,
        )  # fmt: skip


def printed(summary: Any, files: list[Path], place: Path) -> Path:
    """A page with the summary as a terminal shows it, and its height in lines."""
    with redirect_stdout(io.StringIO()):
        console = Console(record=True, width=120, force_terminal=True, file=io.StringIO())
        plain, terminal.Console = terminal.Console, lambda **_: console  # type: ignore[assignment]
        try:
            console.print(f"$ {COMMAND}", highlight=False)
            terminal.print_summary(summary, files)
        finally:
            terminal.Console = plain  # type: ignore[misc]
    svg = console.export_svg(title="wordline")
    page = place / "terminal.html"
    page.write_text(f"<body style='margin:0'>{svg}</body>", encoding="utf-8")
    return page


def main(folder: Path) -> None:
    """Writes report.png, terminal.png and demo.json."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        result = wordline.run("demo", TRACE, requests=False)
        result.write(place / "out/demo")
        shot(place / "out/demo/report.html", folder / "report.png", 1280, 1480)
        files = [Path("out/demo") / name.name for name in sorted((place / "out/demo").iterdir())]
        shot(printed(result.summary, files, place), folder / "terminal.png", 1482, 1000)
        text = json.dumps(told(result.summary), indent=1)
        (folder / "demo.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
