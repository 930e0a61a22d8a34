"""Lists of everything that is bundled with Wordline: device presets, policies, metrics, trace
formats."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any, TypedDict, cast

from wordline import _wordline


class Preset(TypedDict):
    """A bundled device, which can be named instead of a file. `kind` is "SSD", "array", "package",
    "disk" or "flash cache"; `text` is its TOML."""

    name: str
    kind: str
    description: str
    source: str
    text: str


class Policy(TypedDict):
    """A member of a policy family. `question` states what the family decides."""

    family: str
    question: str
    name: str
    description: str
    paper: str | None


class Metric(TypedDict):
    """A number of the summary or of a table, with its unit."""

    name: str
    unit: str
    description: str


def presets() -> list[Preset]:
    """Returns the device presets."""
    known = json.loads(_wordline.presets())
    return cast(
        "list[Preset]", [{**one, "kind": _kind(tomllib.loads(one["text"]))} for one in known]
    )


def _kind(device: Mapping[str, Any]) -> str:
    """Returns the kind of a device, as in `Preset`, from its complete TOML."""
    for table, kind in {"cache": "flash cache", "array": "array", "disk": "disk"}.items():
        if table in device:
            return kind
    packages = device["ssd"]["channels"] * device["ssd"]["ways"]
    return "package" if packages == 1 else "SSD"


def policies(family: str | None = None) -> list[Policy]:
    """Returns the policies of one family, or of all families.

    Raises WordlineError if no family has that name.
    """
    known = cast("list[Policy]", json.loads(_wordline.policies()))
    if family is None:
        return known
    chosen = [policy for policy in known if policy["family"] == family]
    if not chosen:
        families = ", ".join(dict.fromkeys(policy["family"] for policy in known))
        raise _wordline.WordlineError(
            f"no policy family is called '{family}'; the families are {families}"
        )
    return chosen


def metrics() -> list[Metric]:
    """Returns every metric of the summary and of the tables."""
    return cast("list[Metric]", json.loads(_wordline.metrics()))


class TraceFormat(TypedDict):
    """A readable trace format. `extension` is the usual file name extension."""

    name: str
    extension: str
    description: str


def trace_formats() -> list[TraceFormat]:
    """Returns the readable trace formats. Each is detected from the content, plain or compressed
    (.gz, .bz2, .zst, .xz)."""
    return cast("list[TraceFormat]", json.loads(_wordline.formats()))
