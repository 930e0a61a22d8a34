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
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from rich.console import Console

from wordline import terminal

COMMAND = "wordline run demo --trace postgresql-mixed.csv.gz --out out/demo"
TRACE = "postgresql-mixed.csv.gz"


def told(summary: Any) -> Any:
    """What the pictures show of a summary and is the same on every machine."""
    kept = {key: value for key, value in summary.items() if key not in ("speed", "version")}
    files = [file | {"path": Path(file["path"]).name} for file in summary["input"]["files"]]
    return kept | {"input": summary["input"] | {"files": files}}


def digest(picture: Path) -> str:
    """Tells one picture from another."""
    return hashlib.sha256(picture.read_bytes()).hexdigest()


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


def printed(summary: Any, files: list[Path], place: Path) -> tuple[Path, int, int]:
    """A page with the summary as a terminal shows it, its width and height."""
    with redirect_stdout(io.StringIO()):
        console = Console(record=True, width=140, force_terminal=True, file=io.StringIO())
        plain, terminal.Console = terminal.Console, lambda **_: console  # type: ignore[assignment]
        try:
            console.print(f"$ {COMMAND}", highlight=False)
            terminal.print_summary(summary, files)
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
    """Writes report.png, terminal.png and demo.json."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        command = [sys.executable, "-m", *COMMAND.split(), "--json", "--no-progress"]
        ran = subprocess.run(command, cwd=place, check=True, capture_output=True, text=True)
        summary = json.loads(ran.stdout)
        shot(place / "out/demo/report.html", folder / "report.png", 1280, 1480)
        files = [Path("out/demo") / name.name for name in sorted((place / "out/demo").iterdir())]
        page, width, height = printed(summary, files, place)
        shot(page, folder / "terminal.png", width, height)
        pictures = {name: digest(folder / name) for name in ("report.png", "terminal.png")}
        text = json.dumps({"pictures": pictures, "summary": told(summary)}, indent=1)
        (folder / "demo.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
