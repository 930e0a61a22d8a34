"""What Wordline comes with: device presets, policies, metrics, formats of traces."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any, TypedDict, cast

from wordline import _wordline


class Preset(TypedDict):
    """A device that can be named instead of a file. `kind` is "SSD", "array", "package", "disk" or
    "flash cache"; `text` is its TOML."""

    name: str
    kind: str
    description: str
    source: str
    text: str


class Policy(TypedDict):
    """A member of a policy family; `question` is what the family decides."""

    family: str
    question: str
    name: str
    description: str
    paper: str | None


class Metric(TypedDict):
    """A number that results carry, with its unit."""

    name: str
    unit: str
    description: str


def presets() -> list[Preset]:
    """The devices that come with Wordline."""
    known = json.loads(_wordline.presets())
    return cast(
        "list[Preset]", [{**one, "kind": _kind(tomllib.loads(one["text"]))} for one in known]
    )


def _kind(device: Mapping[str, Any]) -> str:
    """What kind of store a whole device is."""
    for table, kind in {"cache": "flash cache", "array": "array", "disk": "disk"}.items():
        if table in device:
            return kind
    packages = device["ssd"]["channels"] * device["ssd"]["ways"]
    return "package" if packages == 1 else "SSD"


def policies(family: str | None = None) -> list[Policy]:
    """The policies of one family, or of all.

    Raises WordlineError if there is no such family.
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
    """Every metric that a summary or a table can carry."""
    return cast("list[Metric]", json.loads(_wordline.metrics()))


class TraceFormat(TypedDict):
    """A trace format that can be read; `extension` is the usual ending of its files' names."""

    name: str
    extension: str
    description: str


def trace_formats() -> list[TraceFormat]:
    """The formats that can be read. Each is recognised by content, plain or compressed
    (.gz, .bz2, .zst, .xz)."""
    return cast("list[TraceFormat]", json.loads(_wordline.formats()))
