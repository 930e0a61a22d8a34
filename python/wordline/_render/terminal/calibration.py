"""Terminal output of a calibration."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from wordline._render.interval_text import interval_text
from wordline._render.terminal.console import console, print_files
from wordline._render.units import many

if TYPE_CHECKING:
    from wordline._calibration.calibrate import CalibrationSummary, ErrorSummary, LatencySummary


def print_calibration(summary: "CalibrationSummary", files: Sequence[str]) -> None:
    """Prints the fitted constants and times."""
    shown = console()
    if errors := summary["errors"]:
        shown.print(_constants(errors))
        largest = max(abs(one["residual"]) for one in errors["residuals"])
        shown.print(
            Text(
                f"Residuals of {many(errors['points'], 'point')} ({errors['residual_unit']}): "
                f"standard deviation {errors['scale']:.3g}, largest {largest:.3g}"
            )
        )
    if latency := summary["latency"]:
        shown.print(_levels(latency))
    for note in summary["notes"]:
        shown.print(Text(f"Note: {note}", style="dim"))
    print_files(shown, [Path(file) for file in files])


def _constants(errors: "ErrorSummary") -> Table:
    table = _table(f"RBER = e + a c^k + b c^m t^n + g c^p r^q, from {errors['data']}")
    for heading in ("constant", "value", "95 % interval"):
        table.add_column(heading, justify="left" if heading == "constant" else "right")
    for name, one in errors["constants"].items():
        table.add_row(name, f"{one['value']:.4g}", interval_text(one))
    return table


def _levels(latency: "LatencySummary") -> Table:
    table = _table(f"Times by page type, from {latency['data']}")
    table.add_column("operation")
    for heading in ("level", "samples", "median us", "95 % interval", "spread us"):
        table.add_column(heading, justify="right")
    for one in latency["levels"]:
        table.add_row(
            one["op"],
            str(one["level"]),
            f"{one['samples']:,}",
            f"{one['time_us']:,.3f}",
            f"{one['low_us']:,.3f} to {one['high_us']:,.3f}",
            f"{one['spread_us']:,.3f}",
        )
    return table


def _table(title: str) -> Table:
    return Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title_justify="left",
        title=Text(title, style="bold"),
    )
