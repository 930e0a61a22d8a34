"""The version of Wordline that is installed."""

from __future__ import annotations

from functools import cache


@cache
def installed() -> str:
    """Its number, such as 0.1.0."""
    from importlib.metadata import version

    return version("wordline")
