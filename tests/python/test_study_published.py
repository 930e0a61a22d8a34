"""Published numbers: the keys of published.toml, and what its errors say."""

import ast
import csv
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import wordline_studies as studies
from wordline import WordlineError
from wordline_studies.published import Numbers, Published, Statement, parse

ENTRY = '[["2.19"]]\nwhat = "writes"\nvalue = 541.1\nunit = "%"\nsection = "2.8.5"\n'
OTHER = ENTRY.replace("writes", "reads")
KEY = "2.19: writes"


def test_an_entry_has_a_value_a_unit_and_a_section() -> None:
    assert parse(ENTRY, "here") == (
        {"2.19": {"writes": Published(541.1, "%", "2.8.5", entry=KEY)}},
        (),
    )


def test_optional_keys_are_read() -> None:
    more = 'id = ["J2-1", "J2-2"]\nfitted = "the load"\ncomparison = true\n'
    assert parse(ENTRY + more, "here")[0]["2.19"]["writes"] == Published(
        541.1, "%", "2.8.5", ("J2-1", "J2-2"), "the load", "", comparison=True, entry=KEY
    )
    more = 'id = "J2-1"\nnot_assertable = "it depends on the host"\n'
    assert parse(ENTRY + more, "here")[0]["2.19"]["writes"] == Published(
        541.1, "%", "2.8.5", ("J2-1",), "", "it depends on the host", entry=KEY
    )


def test_a_range_has_two_ends() -> None:
    assert parse(ENTRY.replace("541.1", "[1, 2.5]"), "here")[0]["2.19"]["writes"].value == (
        1.0,
        2.5,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ENTRY.replace('unit = "%"\n', ""), "no unit"),
        (ENTRY + "fited = 1\n", "unknown fited"),
        (ENTRY.replace("541.1", '"541.1"'), "value is neither"),
        (ENTRY.replace("541.1", "true"), "value is neither"),
        (ENTRY.replace("541.1", "[2, 1]"), "value is neither"),
        (ENTRY.replace("541.1", "[1]"), "value is neither"),
        (ENTRY.replace("541.1", "[1, 2, 3]"), "value is neither"),
        (ENTRY + "id = 7\n", "id is neither"),
        (ENTRY + 'id = ["J2-1", 7]\n', "id is neither"),
        (ENTRY + 'id = ""\n', "id is neither"),
        (ENTRY + 'fitted = ""\n', "fitted is not a non-empty string"),
        (ENTRY + "not_assertable = true\n", "not_assertable is not a non-empty string"),
        (ENTRY + 'comparison = "yes"\n', "comparison is neither true nor false"),
        (ENTRY + ENTRY, "occurs twice"),
        (ENTRY + 'id = "J2-1"\n' + OTHER + 'id = ["J2-1"]\n', "ids occur twice: J2-1"),
        (ENTRY + 'id = ["J2-1", "J2-1"]\n', "ids occur twice: J2-1"),
    ],
)
def test_a_faulty_entry_is_reported_with_its_place(text: str, message: str) -> None:
    with pytest.raises(WordlineError, match=r"^here: ") as raised:
        parse(text, "here")
    assert message in str(raised.value)


STATEMENT = """
[[statements]]
id = "J2-1"
what = "reads are faster than writes"
section = "2.8"
"""


def test_a_statement_is_read() -> None:
    assert parse(ENTRY + STATEMENT, "here")[1] == (
        Statement(("J2-1",), "reads are faster than writes", "2.8"),
    )


def test_a_number_that_is_not_simulated_is_a_statement() -> None:
    more = 'value = 3\nunit = "GB"\nnot_run = "the trace is missing"\n'
    (found,) = parse(STATEMENT + more, "here")[1]
    assert (found.value, found.unit, found.not_run) == (3.0, "GB", "the trace is missing")
    assert found.is_number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STATEMENT.replace('id = "J2-1"', ""), "no id"),
        (STATEMENT.replace('"J2-1"', "[]"), "has no id"),
        (STATEMENT + "comparison = true\n", "unknown comparison"),
        (STATEMENT + "not_run = 3\n", "not_run is not a non-empty string"),
        (STATEMENT + "value = 3\n", "neither not_assertable nor not_run"),
        (STATEMENT + ENTRY + 'id = "J2-1"\n', "ids occur twice: J2-1"),
    ],
)
def test_a_faulty_statement_is_reported_with_its_place(text: str, message: str) -> None:
    with pytest.raises(WordlineError, match=r"^here: ") as raised:
        parse(text, "here")
    assert message in str(raised.value)


def of(study: str) -> list[Published]:
    package = f"wordline_studies.{study.replace('-', '_')}"
    return list(Numbers(package)) if files(package).joinpath("published.toml").is_file() else []


def stated(study: str) -> tuple[Statement, ...]:
    published = studies.load(study).published
    return published.statements if published else ()


def test_an_id_occurs_once_in_all_studies() -> None:
    ids = [one for study in studies.STUDIES for number in of(study) for one in number.ids]
    ids += [one for each in studies.STUDIES for statement in stated(each) for one in statement.ids]
    assert sorted({one for one in ids if ids.count(one) > 1}) == []


def look_ups() -> Iterator[tuple[str, str, str]]:
    """Returns the look-ups of published numbers whose figure and name are constants: the module,
    the figure and the name."""
    package = Path(str(files(studies)))
    for file in sorted(package.rglob("*.py")):
        module = ".".join([package.name, *file.relative_to(package).with_suffix("").parts])
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Call(
                    func=ast.Name("PUBLISHED"),
                    args=[ast.Constant(str(figure)), ast.Constant(str(what))],
                ):
                    yield module, figure, what
                case _:
                    pass


def test_every_number_that_a_study_looks_up_is_published() -> None:
    found = sorted(set(look_ups()))
    assert len(found) > 80
    for module, figure, what in found:
        numbers = import_module(module).PUBLISHED
        assert numbers(figure, what).entry, (module, figure, what)


def test_the_numbers_of_all_studies_are_read() -> None:
    assert all(of(study) for study in studies.STUDIES)


COUNTS = {
    "A": (15, 58),
    "J1": (2, 10),
    "J2": (33, 41),
    "J3": (16, 25),
    "J4": (22, 20),
    "J5": (42, 46),
    "J6": (27, 34),
    "J7": (20, 29),
    "L": (23, 47),
    "O": (28, 61),
    "X0": (0, 4),
    "X1": (1, 5),
    "X2": (19, 26),
    "X3": (15, 22),
    "X4": (13, 27),
    "X5": (27, 30),
}
"""Counts of the numbers, and of the orders and trends, that each document or chapter states. They
were made when the documents were read, without the inputs of the documents' experiments. J and X
are the theses of Jung and Xia by chapter (0 is the abstract); A, L and O are the papers on AGCR,
LCR and OP-FCL."""


def index() -> list[tuple[str, str, set[str]]]:
    """Returns the documents' statements: chapter, kind, and the ids of all places that make the
    same statement."""
    with (Path(__file__).parent / "statements.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        (row["id"].split("-")[0], row["kind"], {row["id"], *row["same"].split()}) for row in rows
    ]


def test_every_statement_of_each_chapter_has_an_entry() -> None:
    entries = {one for study in studies.STUDIES for number in of(study) for one in number.ids}
    entries |= {one for each in studies.STUDIES for stat in stated(each) for one in stat.ids}
    covered: Counter[tuple[str, str]] = Counter()
    known: set[str] = set()
    for chapter, kind, places in index():
        covered[chapter, kind] += bool(places & entries)
        known |= places
    found = {one: (covered[one, "number"], covered[one, "order"]) for one in COUNTS}
    assert found == COUNTS
    assert entries - known == set()
