"""Formats tables of a configuration as TOML."""

from typing import Any

from wordline.config import toml_value

Tables = dict[str, dict[str, Any]]


def toml(tables: Tables) -> str:
    """Returns the tables by name; keys without a table come first."""
    text = ""
    for name in sorted(tables):
        head = f"\n[{name}]\n" if name else ""
        text += head + lines(tables[name])
    return text


def lines(table: dict[str, Any]) -> str:
    """Formats one line per key."""
    return "".join(f"{key} = {toml_value(value, key)}\n" for key, value in table.items())
