"""Writes a plan as a plan file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from wordline._sweep.plan import Plan
from wordline.config import toml_value


def as_toml(plan: Plan) -> str:
    """Returns the text of an equivalent plan file. Keys that are not given are left out."""
    tables: list[str] = []
    plain: list[str] = []
    for one in fields(plan):
        value = getattr(plan, one.name)
        if value is None or value in ({}, []):
            continue
        if isinstance(value, Mapping):
            tables.append(f"\n[{one.name}]\n{_lines(cast('Mapping[str, Any]', value))}")
        elif one.name in ("zip", "points"):
            listed = cast("list[Mapping[str, Any]]", value)
            tables += [f"\n[[{one.name}]]\n{_lines(group)}" for group in listed]
        else:
            plain.append(f"{one.name} = {_value(value)}\n")
    return "".join(plain + tables)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_value(key)} = {_value(value)}\n" for key, value in table.items())


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in cast('list[object]', value))}]"
    return toml_value(value, "plan")
