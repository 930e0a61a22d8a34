"""Published numbers of a study, from `published.toml` in its package."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, TypeAlias, cast

from wordline._wordline import WordlineError

Range: TypeAlias = tuple[float, float]
REQUIRED = ("what", "value", "unit", "section")
REASONS = ("fitted", "not_assertable")
OPTIONAL = ("id", "comparison", *REASONS)
STATEMENTS = "statements"
"""Name of the tables of statements in `published.toml`. All others are named after figures."""
REQUIRED_OF_STATEMENT = ("id", "what", "section")
OPTIONAL_OF_STATEMENT = ("value", "unit", *REASONS, "not_run")


@dataclass(frozen=True)
class Published:
    """A published value or range, with its unit and its section in the document.

    `ids` are its entries in an index of the document's statements. `fitted` names the load or
    constant that was fitted to this number, `not_assertable` the reason why no simulation can
    confirm or refute it; both are empty if they do not apply. `comparison` marks a change, gain or
    ratio, whose sign is a statement; without it, the unit decides. `entry` is the figure and the
    name of the number in `published.toml`; rows with the same entry count as one number.
    """

    value: float | Range
    unit: str
    section: str
    ids: tuple[str, ...] = ()
    fitted: str = ""
    not_assertable: str = ""
    comparison: bool | None = None
    entry: str = ""


@dataclass(frozen=True)
class Statement:
    """A statement of the document that no row of a figure shows: an order or a trend, which claims
    of the study test by its `ids`, or a number that the study does not simulate, with its `value`
    and `unit`.

    `fitted` and `not_assertable` are as in `Published`; `not_run` names what is missing for a
    simulation. A number has at least one of the last two.
    """

    ids: tuple[str, ...]
    what: str
    section: str
    value: float | Range | None = None
    unit: str = ""
    fitted: str = ""
    not_assertable: str = ""
    not_run: str = ""

    @property
    def is_number(self) -> bool:
        """Whether the statement is a number, and not an order or a trend."""
        return self.value is not None


class Numbers:
    """The published numbers and statements of a study, from `published.toml` in its package.

        [["2.19"]]
        what = "writes"
        value = 541.1
        unit = "%"
        section = "2.8.5"
        id = "J2-104"
        comparison = true

    A value is a number, or a list with the two ends of a range. Optional keys: `id`, a string or a
    list of them, `comparison`, `fitted` and `not_assertable`, as in `Published`.

    Statements without a row in a figure are in tables `[[statements]]`, with the keys of
    `Statement`; `id` is required.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    @cached_property
    def _parsed(self) -> tuple[dict[str, dict[str, Published]], tuple[Statement, ...]]:
        text = files(self._package).joinpath("published.toml").read_text(encoding="utf-8")
        return parse(text, f"published.toml of {self._package}")

    @property
    def _tables(self) -> dict[str, dict[str, Published]]:
        return self._parsed[0]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements without a row in a figure, in the order of the file."""
        return self._parsed[1]

    def __call__(self, figure: str, what: str) -> Published:
        """Returns a published number by its figure and name. Raises KeyError if there is none, and
        WordlineError if the file has an error."""
        return self._tables[figure][what]

    def __iter__(self) -> Iterator[Published]:
        """Returns all published numbers, in the order of the file."""
        return (one for table in self._tables.values() for one in table.values())


def parse(text: str, place: str) -> tuple[dict[str, dict[str, Published]], tuple[Statement, ...]]:
    """Returns the published numbers of a TOML text by figure and name, and its statements.

    Raises WordlineError, which starts with `place`, for a missing or unknown key; an invalid value,
    id, reason or comparison; a name or an id that occurs twice; a statement without an id; and a
    number among the statements with neither `not_assertable` nor `not_run`. Raises TOMLDecodeError
    if the text is not TOML.
    """
    tables = cast("dict[str, list[dict[str, Any]]]", tomllib.loads(text))
    statements = tuple(
        _statement(entry, f"{place}: statement '{entry.get('what', '')}'")
        for entry in tables.pop(STATEMENTS, [])
    )
    found: dict[str, dict[str, Published]] = {}
    for figure, entries in tables.items():
        of = found.setdefault(figure, {})
        for entry in entries:
            what = entry.get("what", "")
            where = f"{place}: figure {figure}, '{what}'"
            if what in of:
                raise WordlineError(f"{where}: this name occurs twice; rename one of the entries")
            of[what] = _entry(entry, where, f"{figure}: {what}")
    ids = [one for of in found.values() for number in of.values() for one in number.ids]
    ids += [one for statement in statements for one in statement.ids]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        raise WordlineError(f"{place}: ids occur twice: {', '.join(twice)}; keep one of each")
    return found, statements


def _statement(entry: dict[str, Any], where: str) -> Statement:
    _require_keys(entry, REQUIRED_OF_STATEMENT, OPTIONAL_OF_STATEMENT, where)
    statement = Statement(
        _ids(entry["id"], where),
        entry["what"],
        entry["section"],
        _value(entry["value"], where) if "value" in entry else None,
        entry.get("unit", ""),
        **_reasons(entry, (*REASONS, "not_run"), where),
    )
    if not statement.ids:
        raise WordlineError(f"{where}: has no id; name the statement's entry in the index")
    if statement.is_number and not (statement.not_assertable or statement.not_run):
        raise WordlineError(
            f"{where}: has a value but neither not_assertable nor not_run; state the reason, or "
            "make it an entry of a figure"
        )
    return statement


def _entry(entry: dict[str, Any], where: str, key: str) -> Published:
    _require_keys(entry, REQUIRED, OPTIONAL, where)
    reasons = _reasons(entry, REASONS, where)
    comparison = entry.get("comparison")
    if not isinstance(comparison, bool | None):
        raise WordlineError(f"{where}: comparison is neither true nor false")
    return Published(
        _value(entry["value"], where),
        entry["unit"],
        entry["section"],
        _ids(entry.get("id", []), where),
        comparison=comparison,
        entry=key,
        **reasons,
    )


def _require_keys(
    entry: dict[str, Any], required: Sequence[str], optional: Sequence[str], where: str
) -> None:
    if missing := [key for key in required if key not in entry]:
        raise WordlineError(f"{where}: no {', '.join(missing)}; add it to the entry")
    if unknown := [key for key in entry if key not in (*required, *optional)]:
        allowed = ", ".join((*required, *optional))
        raise WordlineError(f"{where}: unknown {', '.join(unknown)}; the keys are {allowed}")


def _reasons(entry: dict[str, Any], keys: Sequence[str], where: str) -> dict[str, str]:
    reasons = {key: entry.get(key, "") for key in keys}
    for key, reason in reasons.items():
        if key in entry and not (isinstance(reason, str) and reason.strip()):
            raise WordlineError(f"{where}: {key} is not a non-empty string; state the reason")
    return reasons


def _value(value: object, where: str) -> float | Range:
    match value:
        case bool():
            pass
        case int() | float():
            return float(value)
        case [int() | float() as low, int() | float() as high] if low < high:
            return (float(low), float(high))
        case _:
            pass
    raise WordlineError(
        f"{where}: value is neither a number nor a list of two numbers, the lower one first"
    )


def _ids(ids: object, where: str) -> tuple[str, ...]:
    found = cast("list[object]", ids) if isinstance(ids, list) else [ids]
    texts = tuple(one for one in found if isinstance(one, str) and one)
    if len(texts) != len(found):
        raise WordlineError(f"{where}: id is neither a string nor a list of strings")
    return texts
