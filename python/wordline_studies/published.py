"""Published numbers of a study, from `published.toml` in its package."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, TypeAlias, cast

from wordline._wordline import WordlineError

Range: TypeAlias = tuple[float, float]
REQUIRED = ("what", "value", "unit", "section")
REASONS = ("fitted", "not_assertable")
OPTIONAL = ("id", "comparison", *REASONS)


@dataclass(frozen=True)
class Published:
    """A published value or range, with its unit and its section in the document.

    `ids` are its entries in an index of the document's statements. `fitted` names the load or
    constant that was chosen by this number, `not_assertable` the reason why no simulation can
    confirm or refute it; both are empty if they do not apply. `comparison` marks a change, gain or
    ratio, whose sign is a statement; without it, the unit decides.
    """

    value: float | Range
    unit: str
    section: str
    ids: tuple[str, ...] = ()
    fitted: str = ""
    not_assertable: str = ""
    comparison: bool | None = None


class Numbers:
    """The published numbers of a study, from `published.toml` in its package.

        [["2.19"]]
        what = "writes"
        value = 541.1
        unit = "%"
        section = "2.8.5"
        id = "J2-104"
        comparison = true

    A value is a number, or a list with the two ends of a range. Optional keys: `id`, a string or a
    list of them, `comparison`, `fitted` and `not_assertable`, as in `Published`.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    @cached_property
    def _tables(self) -> dict[str, dict[str, Published]]:
        text = files(self._package).joinpath("published.toml").read_text(encoding="utf-8")
        return parse(text, f"published.toml of {self._package}")

    def __call__(self, figure: str, what: str) -> Published:
        """Returns a published number by its figure and name. Raises KeyError if there is none, and
        WordlineError if the file has an error."""
        return self._tables[figure][what]

    def __iter__(self) -> Iterator[Published]:
        """Returns all published numbers, in the order of the file."""
        return (one for table in self._tables.values() for one in table.values())


def parse(text: str, place: str) -> dict[str, dict[str, Published]]:
    """Returns the published numbers of a TOML text by figure and name.

    Raises WordlineError, which starts with `place`, if an entry lacks a key, has an unknown key or
    a value of the wrong type, or if a name or an id occurs twice.
    """
    tables = cast("dict[str, list[dict[str, Any]]]", tomllib.loads(text))
    found: dict[str, dict[str, Published]] = {}
    for figure, entries in tables.items():
        of = found.setdefault(figure, {})
        for entry in entries:
            what = entry.get("what", "")
            where = f"{place}: figure {figure}, '{what}'"
            if what in of:
                raise WordlineError(f"{where}: this name occurs twice; rename one of the entries")
            of[what] = _entry(entry, where)
    ids = [one for of in found.values() for number in of.values() for one in number.ids]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        raise WordlineError(f"{place}: ids occur twice: {', '.join(twice)}; keep one of each")
    return found


def _entry(entry: dict[str, Any], where: str) -> Published:
    if missing := [key for key in REQUIRED if key not in entry]:
        raise WordlineError(f"{where}: no {', '.join(missing)}; add it to the entry")
    if unknown := [key for key in entry if key not in (*REQUIRED, *OPTIONAL)]:
        allowed = ", ".join((*REQUIRED, *OPTIONAL))
        raise WordlineError(f"{where}: unknown {', '.join(unknown)}; the keys are {allowed}")
    reasons = {key: entry.get(key, "") for key in REASONS}
    for key, reason in reasons.items():
        if key in entry and not (isinstance(reason, str) and reason.strip()):
            raise WordlineError(f"{where}: {key} is not a text; state the reason")
    comparison = entry.get("comparison")
    if not isinstance(comparison, bool | None):
        raise WordlineError(f"{where}: comparison is not true or false")
    return Published(
        _value(entry["value"], where),
        entry["unit"],
        entry["section"],
        _ids(entry.get("id", []), where),
        comparison=comparison,
        **reasons,
    )


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
    raise WordlineError(f"{where}: value is neither a number nor a list of two, lower end first")


def _ids(ids: object, where: str) -> tuple[str, ...]:
    found = cast("list[object]", ids) if isinstance(ids, list) else [ids]
    texts = tuple(one for one in found if isinstance(one, str) and one)
    if len(texts) != len(found):
        raise WordlineError(f"{where}: id is neither a text nor a list of texts")
    return texts
