"""Measures a page in a headless browser."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--virtual-time-budget=20000",
]

needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="only a browser can check whether charts are drawn; install chromium"
)


def unfolded(page: Path, place: Path) -> Path:
    """Copies the page with every folded section open, so that all of its charts are drawn."""
    copy = place / f"unfolded-{page.name}"
    copy.write_text(page.read_text().replace("<details", "<details open"))
    return copy


def dumped(page: Path, profile: Path, *flags: str) -> str:
    """Returns the HTML of the page after its scripts have run."""
    assert BROWSER
    answer = subprocess.run(
        [
            BROWSER,
            *FLAGS,
            *flags,
            f"--user-data-dir={profile}",
            "--dump-dom",
            page.resolve().as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return answer.stdout


FRAME = """<!doctype html>
<meta name="color-scheme" content="light dark">
<iframe id="page" src="{page}" width="{width}" height="900"></iframe>
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
  const wide = [...inner.querySelectorAll(".scroll")].filter((one) =>
    one.scrollWidth > one.clientWidth + 1);
  const silent = wide.filter((one) => one.tabIndex !== 0
    || !inner.defaultView.getComputedStyle(one, "::before").content.includes("Scroll sideways"));
  const moved = [...inner.querySelectorAll(".scroll")].flatMap((scroll) => {{
    scroll.scrollLeft = 1e6;
    const place = box(scroll);
    return [...scroll.querySelectorAll("caption span")].filter((caption) =>
      box(caption).left < place.left - 1 || box(caption).right > place.right + 1);
  }});
  const style = (one) => inner.defaultView.getComputedStyle(one);
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const opaque = (colour) => channels(colour).length >= 3 && (channels(colour)[3] ?? 1) > 0.5;
  const luminance = (colour) => channels(colour).slice(0, 3).map((value) => value / 255)
    .map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (one) => !one ? style(inner.body).backgroundColor
    : opaque(style(one).backgroundColor) ? style(one).backgroundColor
    : behind(one.parentElement);
  const contrast = (colour, other) => {{
    const [low, high] = [luminance(colour), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }};
  const colour = (one) => one.matches("svg text") ? style(one).fill : style(one).color;
  const texts = [...inner.querySelectorAll("h1, h2, p, td, th, caption, svg text")];
  const faint = texts.filter((one) => shown(one) && one.textContent.trim()
    && opaque(colour(one)) && contrast(colour(one), behind(one)) < 3);
  const dark = inner.defaultView.matchMedia("(prefers-color-scheme: dark)").matches
    && luminance(behind(inner.body)) < 0.2;
  const contents = (ones) => ones.map((one) => one.textContent).join("; ");
  const lasts = [...inner.querySelectorAll("[data-chart]")].map((chart) =>
    [...chart.querySelectorAll(".xtick text")].filter(shown).at(-1)?.textContent ?? "");
  return {{ width: root.scrollWidth, fault: root.dataset.fault ?? "", cut: contents(cut),
           overlapping: contents(overlapping), moved: contents(moved), faint: contents(faint), dark,
           silent: contents(silent), lasts: lasts.join("; ") }};
}};
frame.onload = () => {{
  frame.contentDocument.querySelectorAll("details").forEach((one) => {{ one.open = true; }});
  setTimeout(measure, 8000);
}};
const measure = () => {{
  Object.assign(document.body.dataset, measured(frame.contentDocument));
}};
</script>"""


# Widths of phones and desktops in pixels, in light and in dark mode.
SCREENS = [(width, dark) for width in (420, 1400) for dark in (False, True)]


@dataclass(frozen=True)
class Screen:
    """Measurements of a page on a screen with all sections open, which are texts joined by
    semicolons unless stated otherwise: `width` of the page in pixels; `fault`, errors of its
    scripts; `cut`, texts of charts that are cut off at a side; `overlapping`, axis titles that
    overlap; `moved`, captions that move when their table is scrolled; `silent`, tables that scroll
    without a hint or without the keyboard; `faint`, texts with a contrast below 3, the minimum of
    WCAG 2.1; `dark`, whether the page is light on dark; `lasts`, the last tick label of each
    chart."""

    width: int
    fault: str
    cut: str
    overlapping: str
    moved: str
    silent: str
    faint: str
    dark: bool
    lasts: list[str]


def on_a_screen(page: Path, scratch: Path, width: int, *, dark: bool = False) -> Screen:
    """Measures a page. `scratch` is a folder for temporary files."""
    frame = scratch / "screen.html"
    frame.write_text(FRAME.format(page=page.resolve().as_uri(), width=width))
    flags = (
        "--allow-file-access-from-files",
        "--disable-web-security",
        f"--window-size={width + 100},1000",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
    )
    body = re.search(r"<body[^>]*>", dumped(frame, scratch / "profile", *flags))
    assert body
    said = dict(re.findall(r'data-(\w+)="([^"]*)"', body[0]))
    return Screen(
        int(said["width"]),
        said["fault"],
        said["cut"],
        said["overlapping"],
        said["moved"],
        said["silent"],
        said["faint"],
        said["dark"] == "true",
        said["lasts"].split("; "),
    )


def require_fits(page: Path, scratch: Path) -> Screen:
    """Fails if the page has more than 2 MB, or a fault on any screen. Returns the measurement on a
    phone."""
    assert page.stat().st_size < 2e6
    seen = [on_a_screen(page, scratch, width, dark=dark) for width, dark in SCREENS]
    for (width, dark), shown in zip(SCREENS, seen, strict=True):
        faults = (shown.fault, shown.cut, shown.overlapping, shown.moved, shown.silent, shown.faint)
        found = (shown.width <= width, shown.dark, *faults)
        assert found == (True, dark, "", "", "", "", "", ""), (page, width, dark, shown)
    return seen[0]
