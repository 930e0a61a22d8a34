"""Messages name options on the command line, and parameters in Python."""

from pathlib import Path

import pytest
from conftest import Command, msr

import wordline as package
from wordline._api import spelling


def python_says(*args: object, **given: object) -> str:
    with pytest.raises(package.WordlineError) as fault:
        package.run(*args, **given)  # pyright: ignore[reportArgumentType, reportCallIssue]
    return str(fault.value)


@pytest.fixture
def backwards(place: Path) -> str:
    """Writes a trace whose second time stamp precedes the first."""
    assert place
    lines = msr(2).splitlines()
    text = "\n".join([lines[1], lines[0]])
    Path("back.csv").write_text(text + "\n")
    return "back.csv"


@pytest.mark.parametrize(
    ("options", "parameters", "says"),
    [
        (["--seed", "-1"], {"seed": -1}, "{}: -1 is not between 0"),
        (["--max-requests", "0"], {"max_requests": 0}, "{}: 0 is not between 1"),
        (["--power-cut-every", "0"], {"power_cut_every": 0}, "{}: 0 is not between 1"),
        (["--volumes", "many"], {"volumes": "many"}, "{}: 'many' is not one"),
        (["--format", "xml"], {"format": "xml"}, "{}: 'xml' is not one of"),
    ],
)
@pytest.mark.parametrize("read_by", [[], ["--"]], ids=["argv", "click"])
def test_an_argument_error_names_the_argument_as_given(
    wordline: Command,
    tiny: str,
    trace: str,
    options: list[str],
    parameters: dict[str, object],
    says: str,
    read_by: list[str],
) -> None:
    said = wordline("run", tiny, "--trace", trace, *options, *read_by).stderr
    assert said.startswith(f"error: {says.format(options[0])}")
    (parameter,) = parameters
    assert python_says(tiny, trace, **parameters).startswith(says.format(parameter))


def test_a_remedy_names_the_option_of_the_caller(
    wordline: Command, tiny: str, backwards: str
) -> None:
    said = wordline("run", tiny, "--trace", backwards).stderr
    assert "pass --time-order sort or --time-order clamp" in said
    message = python_says(tiny, backwards)
    assert 'pass time_order="sort" or time_order="clamp"' in message
    assert "--" not in message


def test_the_error_of_a_partial_run_names_the_option_of_the_caller(tiny: str, place: Path) -> None:
    assert place
    Path("disk.csv").write_text(msr(70_000) + "rubbish\n" + msr(500))
    message = python_says(tiny, "disk.csv")
    assert 'pass on_bad_line="skip"' in message
    assert "--" not in message


def test_overrides_are_named_as_they_were_given(wordline: Command, tiny: str, trace: str) -> None:
    fault = "ssd.channels=0: ssd.channels = 0: too small"
    said = wordline("run", tiny, "--trace", trace, "--set", "ssd.channels=0").stderr
    assert said.startswith(f"error: --set {fault}")
    message = python_says(tiny, trace, overrides={"ssd.channels": 0})
    assert message.startswith(f"overrides: {fault}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "pass --fit wrap or --fit scale, or use a larger device",
            'pass fit="wrap" or fit="scale", or use a larger device',
        ),
        ("leave --format or --columns out", "leave format or columns out"),
        ("pass --time-gaps cut=1s", 'pass time_gaps="cut=1s"'),
        ("the number of one, such as --volumes 7", 'the number of one, such as volumes="7"'),
        ("leave out --slowdown or --power-cut-every", "leave out slowdown=True or power_cut_every"),
        (
            "name the format with --format, one of msr, spc",
            "name the format with format, one of msr, spc",
        ),
        ("run `wordline run d4 --set a=b`", "run `wordline run d4 --set a=b`"),
        ("a --word that is no option", "a --word that is no option"),
    ],
)
def test_options_in_a_message_become_parameters_in_python(text: str, expected: str) -> None:
    assert spelling.message(text) == expected
    with spelling.of_command({}):
        assert spelling.message(text) == text


def test_a_page_size_that_differs_from_the_flash_is_an_error(wordline: Command, trace: str) -> None:
    said = wordline("cache", trace, "lru", "1%", "--flash", "d4", "--page-bytes", "512").stderr
    assert said.startswith(
        "error: --page-bytes: 512 is not the page size of d4 (4096 bytes); leave --page-bytes out"
    )


def test_a_page_size_of_zero_is_an_error(wordline: Command, trace: str) -> None:
    answer = wordline("cache", trace, "lru", "1%", "--page-bytes", "0")
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: --page-bytes: 0 ")
    with pytest.raises(package.WordlineError, match=r"\Apage_bytes: 0 "):
        package.cache(trace, page_bytes=0)
