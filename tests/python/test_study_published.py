"""Published numbers: the keys of published.toml, and what its errors say."""

from importlib.resources import files

import pytest

import wordline_studies as studies
from wordline import WordlineError
from wordline_studies.published import Numbers, Published, parse

ENTRY = '[["2.19"]]\nwhat = "writes"\nvalue = 541.1\nunit = "%"\nsection = "2.8.5"\n'
OTHER = ENTRY.replace("writes", "reads")


def test_an_entry_has_a_value_a_unit_and_a_section() -> None:
    assert parse(ENTRY, "here") == {"2.19": {"writes": Published(541.1, "%", "2.8.5")}}


def test_optional_keys_are_read() -> None:
    more = 'id = ["J2-1", "J2-2"]\nfitted = "the load"\ncomparison = true\n'
    assert parse(ENTRY + more, "here")["2.19"]["writes"] == Published(
        541.1, "%", "2.8.5", ("J2-1", "J2-2"), "the load", "", comparison=True
    )
    more = 'id = "J2-1"\nnot_assertable = "it depends on the host"\n'
    assert parse(ENTRY + more, "here")["2.19"]["writes"] == Published(
        541.1, "%", "2.8.5", ("J2-1",), "", "it depends on the host"
    )


def test_a_range_has_two_ends() -> None:
    assert parse(ENTRY.replace("541.1", "[1, 2.5]"), "here")["2.19"]["writes"].value == (1.0, 2.5)


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
        (ENTRY + 'fitted = ""\n', "fitted is not a text"),
        (ENTRY + "not_assertable = true\n", "not_assertable is not a text"),
        (ENTRY + 'comparison = "yes"\n', "comparison is not true or false"),
        (ENTRY + ENTRY, "occurs twice"),
        (ENTRY + 'id = "J2-1"\n' + OTHER + 'id = ["J2-1"]\n', "ids occur twice: J2-1"),
        (ENTRY + 'id = ["J2-1", "J2-1"]\n', "ids occur twice: J2-1"),
    ],
)
def test_a_faulty_entry_is_reported_with_its_place(text: str, message: str) -> None:
    with pytest.raises(WordlineError, match=r"^here: ") as raised:
        parse(text, "here")
    assert message in str(raised.value)


def of(study: str) -> list[Published]:
    package = f"wordline_studies.{study.replace('-', '_')}"
    return list(Numbers(package)) if files(package).joinpath("published.toml").is_file() else []


def test_an_id_occurs_once_in_all_studies() -> None:
    ids = [one for study in studies.STUDIES for number in of(study) for one in number.ids]
    assert sorted({one for one in ids if ids.count(one) > 1}) == []


def test_the_numbers_of_all_studies_are_read() -> None:
    assert all(of(study) for study in studies.STUDIES)
