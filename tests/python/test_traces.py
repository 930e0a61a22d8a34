"""The statistics of traces as Python sees them."""

from pathlib import Path
from typing import Any, get_args, get_type_hints, is_typeddict

import pytest

import wordline

BUNDLED = Path(__file__).parents[2] / "traces" / "postgresql-mixed.csv.gz"


def table_of(hint: Any) -> Any:
    """The TypedDict that a hint names, also beside None."""
    return next((kind for kind in (hint, *get_args(hint)) if is_typeddict(kind)), None)


def shape_of(kind: Any) -> Any:
    """A TypedDict as nested sets of keys."""
    tables = {name: table_of(hint) for name, hint in get_type_hints(kind).items()}
    return {name: shape_of(table) if table else None for name, table in tables.items()}


def keys_of(value: Any) -> Any:
    return {
        name: keys_of(inner) if isinstance(inner, dict) else None for name, inner in value.items()
    }


def test_statistics_have_the_shape_they_are_typed_with() -> None:
    stat = wordline.trace_stat(BUNDLED)
    assert keys_of(stat) == shape_of(wordline.TraceStat)


def test_a_slower_device_is_idle_for_less() -> None:
    fast = wordline.trace_stat(BUNDLED)["idle"]
    slow = wordline.trace_stat(BUNDLED, page_read_us=183.2, page_program_us=860.36)["idle"]
    assert fast is not None
    assert slow is not None
    assert slow["page_program_us"] == 860.36
    assert slow["intervals"] == fast["intervals"]
    assert slow["back_to_back"]["intervals"] > fast["back_to_back"]["intervals"]
    assert slow["longest_s"] < fast["longest_s"]


def test_wrong_numbers_name_the_parameter() -> None:
    with pytest.raises(TypeError, match="page_read_us must be a number, not 'x'"):
        wordline.trace_stat(BUNDLED, page_read_us="x")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="page_program_us must be a number, not True"):
        wordline.trace_stat(BUNDLED, page_program_us=True)
    with pytest.raises(wordline.WordlineError, match="idle_threshold_s: -1 is not between 0 and"):
        wordline.trace_stat(BUNDLED, idle_threshold_s=-1)
    with pytest.raises(wordline.WordlineError, match=r"idle_threshold_s: .* is too large"):
        wordline.trace_stat(BUNDLED, idle_threshold_s=10**400)
