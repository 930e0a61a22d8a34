"""Plan of a sweep, from a TOML file or from arguments, and its points."""

from __future__ import annotations

import itertools
import math
import os
import tomllib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from wordline._internal import small_file
from wordline._sweep.condition import Condition
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline.config import Source, Value

Assignment: TypeAlias = "dict[str, Value]"
"""Values by key: key paths of the configuration, `device`, `trace`, `seed`, and options of a
run."""

OPTIONS = (
    "format",
    "columns",
    "on_bad_line",
    "time_order",
    "time_gaps",
    "align",
    "volumes",
    "fit",
    "max_requests",
    "power_cut_every",
    "verify",
    "slowdown",
)
"""Options of `wordline.run` that a point may have."""
OWN = ("device", "trace", "seed", *OPTIONS)
MOST_POINTS = 1_000_000


KEYS = {
    "device": "Device: a TOML file or the name of a preset; a list varies it. Required.",
    "trace": "Trace to replay; a list varies it. Without one, the load of the device's "
    "`[workload]`.",
    "seeds": "Seeds of every point: a list, or a number n for the seeds 1 to n. Several seeds give "
    "confidence intervals.",
    "set": "Values of configuration keys for all points.",
    "options": f"Options of all runs, as in `wordline run`: {', '.join(OPTIONS)}.",
    "vary": 'Keys and their values, in all combinations: a list, or a range `"LOW:HIGH:STEP"`, '
    "which includes HIGH if a step meets it. A key is `device`, `trace`, an option or the "
    "path of a configuration key.",
    "zip": "Keys that vary together: each table has lists of equal length, whose first "
    "values are combined, then the second ones, and so on.",
    "points": "Single points: each table has one value per key.",
    "when": "Conditions on the varied keys; points that do not meet all of them are left out.",
}
"""Keys of a plan file and their meaning."""


@dataclass(frozen=True)
class Plan:
    """Plan of a sweep, with a field for each of the `KEYS` of a plan file."""

    device: str | list[str]
    trace: str | list[str] | None = None
    seeds: int | list[int] = 1
    set: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    vary: dict[str, Any] = field(default_factory=dict[str, Any])
    zip: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    points: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    when: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Point:
    """A run of a sweep. `varied` has the values of the varied keys in the order of the plan."""

    index: int
    device: str | Source
    trace: tuple[str, ...]
    seed: int
    overrides: Assignment
    options: Assignment
    varied: Assignment

    def __str__(self) -> str:
        """Formats the point for messages."""
        values = ", ".join(f"{key}={value}" for key, value in self.varied.items())
        return f"point {self.index} ({values})" if values else f"point {self.index}"


def read(path: str | os.PathLike[str]) -> Plan:
    """Reads a plan from a file. A device or trace that exists in the folder of the file is taken
    from there. Raises WordlineError."""
    name = os.fspath(path)
    try:
        table = tomllib.loads(small_file.text(name))
    except OSError as fault:
        raise WordlineError(f"{name}: {fault.strerror or fault}; name a plan file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise WordlineError(f"{name}: {fault}; correct the TOML there") from None
    plan = of_table(table, f"{name}: ")
    return _from_folder(plan, os.path.dirname(name))  # noqa: PTH120


def of_table(table: Mapping[str, Any], where: str = "") -> Plan:
    """Returns the plan in a table with the keys of a plan file. Raises WordlineError with a message
    that starts with `where`."""
    for key in table:
        if key not in KEYS:
            raise WordlineError(
                f"{where}unknown key `{key}`; a plan has {', '.join(KEYS)}; keys of the "
                "configuration belong to [set] or [vary]"
            )
    if not table.get("device"):
        raise WordlineError(f"{where}`device` is missing; name a TOML file or a preset")
    shaped = dict(table)
    for key in ("set", "vary", "options"):
        shaped[key] = _flat(_table(shaped.get(key, {}), f"{where}{key}"))
    for key in ("zip", "points"):
        shaped[key] = [
            _flat(_table(one, f"{where}{key}")) for one in _list(shaped.get(key, []), where + key)
        ]
    when = shaped.get("when", [])
    shaped["when"] = [when] if isinstance(when, str) else _list(when, f"{where}when")
    plan = Plan(**shaped)
    try:
        most(plan)
        if plan.when:
            points(plan)
    except WordlineError as fault:
        raise WordlineError(f"{where}{fault}") from None
    return plan


def points(plan: Plan) -> list[Point]:
    """Returns all points of a plan in order: the seed varies fastest, then the last key. Raises
    WordlineError."""
    most(plan)
    axes = _axes(plan)
    keys = list(dict.fromkeys(key for axis in axes for one in axis for key in one))
    several = {key for axis in axes if len(axis) > 1 for one in axis for key in one}
    conditions = [Condition(text, keys) for text in plan.when]
    found: list[Point] = []
    for parts in itertools.product(*axes):
        varied: Assignment = {}
        for part in parts:
            varied |= part
        if all(condition.holds(varied) for condition in conditions):
            found.append(_point(plan, len(found), varied, several))
    if not found:
        raise WordlineError(
            "the plan has no points: no combination meets all conditions in `when`; "
            "remove or relax one"
        )
    return found


def most(plan: Plan) -> int:
    """Returns the number of points of a plan without its conditions. Raises WordlineError if there
    are too many."""
    count = math.prod(map(len, _axes(plan)))
    if count > MOST_POINTS:
        raise WordlineError(
            f"the plan has {count:,} combinations, and at most {MOST_POINTS:,} are supported; "
            "vary fewer keys, or give fewer values or seeds"
        )
    return count


def varying(plan: Plan) -> list[str]:
    """Returns the varied keys in the order of the plan."""
    return [key for axis in _axes(plan) if len(axis) > 1 for key in axis[0]]


def _axes(plan: Plan) -> list[list[Assignment]]:
    axes: list[list[Assignment]] = [
        [{"device": one} for one in _several(plan.device, "device")],
        [{"trace": one} for one in _several(plan.trace, "trace")],
    ]
    for key, values in plan.vary.items():
        axes.append([{key: value} for value in _values(f"vary.{key}", values)])
    for place, group in enumerate(plan.zip):
        axes.append(_zipped(f"zip[{place}]", group))
    if plan.points:
        axes.append(plan.points)
    axes.append([{"seed": seed} for seed in _seeds(plan.seeds)])
    _require_once(axes, plan)
    return [axis for axis in axes if axis]


def _point(plan: Plan, index: int, varied: Assignment, several: Set[str]) -> Point:
    """Returns the point with these values. `several` are the keys with more than one value."""
    every = {**plan.set, **plan.options, **varied}
    trace = every.get("trace")
    return Point(
        index=index,
        device=str(every["device"]),
        trace=() if trace is None else (str(trace),),
        seed=int(cast("int", every["seed"])),
        overrides={key: value for key, value in every.items() if key not in OWN},
        options={key: every[key] for key in OPTIONS if key in every},
        varied={key: value for key, value in varied.items() if key in several},
    )


def _require_once(axes: Sequence[Sequence[Assignment]], plan: Plan) -> None:
    seen: set[str] = set()
    for axis in axes:
        keys = {key for one in axis for key in one}
        for key in keys & (seen | set(plan.set) | set(plan.options)):
            raise WordlineError(f"{key} is given twice; leave one out")
        seen |= keys
    for key in plan.options:
        if key not in OPTIONS:
            raise WordlineError(
                f"options.{key}: is not an option of a run; the options are {', '.join(OPTIONS)}"
            )
    for one in plan.points:
        if set(one) != set(plan.points[0]):
            raise WordlineError(
                "points: the tables have different keys; give each table the same keys"
            )


def _several(value: object, key: str) -> list[str]:
    if value is None:
        return []
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    for one in listed:
        if not isinstance(one, str) or not one:
            raise WordlineError(f"{key}: {one!r} is not a name; give a string or a list of strings")
    return cast("list[str]", listed)


def _seeds(seeds: object) -> list[int]:
    if not isinstance(seeds, list):
        if not isinstance(seeds, int) or isinstance(seeds, bool) or not 1 <= seeds <= MOST_POINTS:
            raise WordlineError(
                f"seeds = {seeds!r}: not a number of seeds; give a number from 1 to "
                f"{MOST_POINTS:,}, or a list of seeds"
            )
        return list(range(1, seeds + 1))
    listed = cast("list[object]", seeds)
    for seed in listed:
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**64:
            raise WordlineError(
                f"seeds: {seed!r} is not a seed; give whole numbers from 0 to 2^64 - 1"
            )
    if not listed:
        raise WordlineError("seeds: the list is empty; give at least one seed")
    if len(set(listed)) < len(listed):
        raise WordlineError("seeds: the list names a seed twice; give each seed once")
    return cast("list[int]", listed)


def _values(key: str, values: object) -> list[Value]:
    if isinstance(values, str):
        return span(key, values)
    if not isinstance(values, list) or not values:
        raise WordlineError(
            f"{key} = {values!r}: neither a range nor a list with a value; give a list of values, "
            'or a range "LOW:HIGH:STEP"'
        )
    return cast("list[Value]", values)


def _zipped(where: str, group: Mapping[str, object]) -> list[Assignment]:
    lists = {key: _values(f"{where}.{key}", values) for key, values in group.items()}
    lengths = {key: len(values) for key, values in lists.items()}
    if len(set(lengths.values())) != 1:
        told = ", ".join(f"{key} {length}" for key, length in lengths.items())
        raise WordlineError(f"{where}: the lists must have equal lengths; they have {told}")
    rows = zip(*lists.values(), strict=True)
    return [dict(zip(lists, row, strict=True)) for row in rows]


def span(key: str, text: str) -> list[Value]:
    """Returns the numbers of a range "LOW:HIGH:STEP" in exact decimal arithmetic. HIGH is included
    if the step meets it. Raises WordlineError."""
    try:
        low, high, step = (Decimal(part) for part in text.split(":"))
    except (ValueError, InvalidOperation):
        raise WordlineError(
            f'{key} = {text!r}: not a range; give a list of values, or a range "LOW:HIGH:STEP"'
        ) from None
    if not (low.is_finite() and high.is_finite() and step.is_finite()):
        raise WordlineError(f"{key} = {text!r}: the ends and the step must be finite")
    if step <= 0 or high < low:
        raise WordlineError(f"{key} = {text!r}: give a HIGH of at least LOW and a STEP above 0")
    if (high - low) / step > MOST_POINTS:
        raise WordlineError(
            f"{key} = {text!r}: the range has more than {MOST_POINTS:,} values; increase STEP"
        )
    count = int((high - low) / step) + 1
    numbers = [low + place * step for place in range(count)]
    whole = all(number == number.to_integral_value() for number in numbers)
    return [int(number) if whole else float(number) for number in numbers]


def _flat(table: Mapping[str, object], prefix: str = "") -> dict[str, Any]:
    """Flattens nested tables to key paths."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            found |= _flat(cast("Mapping[str, object]", value), f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def _table(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise WordlineError(f"{where} must be a table")
    return cast("Mapping[str, object]", value)


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise WordlineError(f"{where} must be a list")
    return cast("list[Any]", value)


def _from_folder(plan: Plan, folder: str) -> Plan:
    """Resolves the files of a plan that exist relative to its own folder."""

    def found(name: object) -> object:
        if isinstance(name, list):
            return [found(one) for one in cast("list[object]", name)]
        beside = os.path.join(folder, str(name))  # noqa: PTH118
        return beside if isinstance(name, str) and os.path.exists(beside) else name  # noqa: PTH110

    from dataclasses import replace

    def moved(values: Mapping[str, Any]) -> dict[str, Any]:
        files = ("device", "trace")
        return {key: found(value) if key in files else value for key, value in values.items()}

    return replace(
        plan,
        device=cast("Any", found(plan.device)),
        trace=cast("Any", found(plan.trace)),
        vary=moved(plan.vary),
        zip=[moved(together) for together in plan.zip],
        points=[moved(point) for point in plan.points],
    )
