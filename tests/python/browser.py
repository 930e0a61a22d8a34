"""A page as a browser shows it."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-extensions", "--virtual-time-budget=20000"]  # fmt: skip

needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="whether charts are drawn only a browser can tell; install chromium"
)


def dumped(page: Path, profile: Path, *flags: str) -> str:
    """The page after its scripts have run."""
    assert BROWSER
    answer = subprocess.run(
        [BROWSER, *FLAGS, *flags, f"--user-data-dir={profile}", "--dump-dom",
         page.resolve().as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return answer.stdout


PHONE = """<!doctype html>
<iframe id="page" src="{page}" width="420" height="900"></iframe>
<script>
const frame = document.getElementById("page");
const measured = (inner) => {{
  const root = inner.documentElement;
  const box = (one) => one.getBoundingClientRect();
  const shown = (one) => box(one).width > 0;
  const apart = (a, b) => a.right <= b.left || b.right <= a.left
    || a.bottom <= b.top || b.bottom <= a.top;
  const cut = [], overlapping = [];
  for (const chart of inner.querySelectorAll("[data-chart]")) {{
    const own = box(chart);
    const texts = [...chart.querySelectorAll("svg text")].filter(shown);
    cut.push(...texts.filter((text) =>
      box(text).left < own.left - 1 || box(text).right > own.right + 1));
    const titles = texts.filter((text) => text.matches("[class*=title] text, [class*=title]"));
    overlapping.push(...titles.filter((one) => titles.some((other) => one !== other
      && !apart(box(one), box(other)))));
  }}
  const moved = [...inner.querySelectorAll(".scroll")].flatMap((scroll) => {{
    scroll.scrollLeft = 1e6;
    const place = box(scroll);
    return [...scroll.querySelectorAll("caption span")].filter((caption) =>
      box(caption).left < place.left - 1 || box(caption).right > place.right + 1);
  }});
  const told = (ones) => ones.map((one) => one.textContent).join("; ");
  const lasts = [...inner.querySelectorAll("[data-chart]")].map((chart) =>
    [...chart.querySelectorAll(".xtick text")].filter(shown).at(-1)?.textContent ?? "");
  return {{ width: root.scrollWidth, fault: root.dataset.fault ?? "", cut: told(cut),
           overlapping: told(overlapping), moved: told(moved), lasts: lasts.join("; ") }};
}};
frame.onload = () => setTimeout(() => {{
  Object.assign(document.body.dataset, measured(frame.contentDocument));
}}, 8000);
</script>"""


@dataclass(frozen=True)
class Phone:
    """A page on a screen of 420 pixels: how wide it is, what its scripts complain of, the texts of
    charts that are cut off at a side, the titles of axes that lie on others, the captions that move
    with their table as it is scrolled, and the last label below each chart."""

    width: int
    fault: str
    cut: str
    overlapping: str
    moved: str
    lasts: list[str]


def on_a_phone(page: Path, scratch: Path) -> Phone:
    """Measures a page; `scratch` is a folder for what that takes."""
    frame = scratch / "phone.html"
    frame.write_text(PHONE.format(page=page.resolve().as_uri()))
    flags = ("--allow-file-access-from-files", "--disable-web-security")
    body = re.search(r"<body[^>]*>", dumped(frame, scratch / "profile", *flags))
    assert body
    said = dict(re.findall(r'data-(\w+)="([^"]*)"', body[0]))
    return Phone(
        int(said["width"]),
        said["fault"],
        said["cut"],
        said["overlapping"],
        said["moved"],
        said["lasts"].split("; "),
    )


def require_fits(page: Path, scratch: Path) -> Phone:
    """Fails for a page of more than 2 MB, and for one that a phone shows badly."""
    assert page.stat().st_size < 2e6
    seen = on_a_phone(page, scratch)
    faults = (seen.fault, seen.cut, seen.overlapping, seen.moved)
    assert (seen.width <= 420, *faults) == (True, "", "", "", ""), page
    return seen
