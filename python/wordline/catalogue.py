"""What Wordline comes with: device presets, policies, metrics."""

import json
from typing import TypedDict, cast

from wordline import _wordline


class Preset(TypedDict):
    """A device that can be named instead of a file. `text` is its TOML."""

    name: str
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
    return cast("list[Preset]", json.loads(_wordline.presets()))


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
