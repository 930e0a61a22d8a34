"""Version of the installed Wordline."""

from __future__ import annotations

from functools import cache


@cache
def installed() -> str:
    """Returns the version number, such as 0.1.0."""
    from importlib.metadata import version

    return version("wordline")
