"""Modules that a start of Wordline loads, and completeness of its lazy names."""

import inspect
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wordline
from wordline import _wordline, cli
from wordline._api import trace_input
from wordline.cli import analyses, app, argv, caches, run


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("output", ["--json", "--quiet"])
def test_a_run_without_a_table_imports_no_slow_modules(tiny: str, output: str) -> None:
    loaded = python(
        "import sys; before = set(sys.modules)\n"
        "from wordline.cli import main\n"
        f"main(['run', {tiny!r}, '--set', 'workload.requests=10', '--no-report', {output!r}])\n"
        "print(); print(*sorted(set(sys.modules) - before))"
    ).splitlines()[-1]
    assert "wordline._api.simulation" in loaded.split()
    assert not {"click", "json", "pathlib", "re", "typing", "polars"} & set(loaded.split())


@pytest.mark.usefixtures("place")
def test_a_command_imports_no_other_command() -> None:
    loaded = python(
        "import sys; before = set(sys.modules)\n"
        "from wordline.cli import main\n"
        "main(['mrc', 'postgresql-mixed.csv.gz', '--json', '--meth', 'exact'])\n"
        "print(); print(*sorted(set(sys.modules) - before))"
    ).splitlines()[-1]
    assert "wordline.cli.caches" in loaded.split()
    others = {"wordline.cli.sweeps", "wordline.cli.benchmarks", "wordline_studies.command"}
    assert not {"importlib.metadata", *others} & set(loaded.split())


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("command", [["mrc", "--seed", "2"], ["cache", "lru,arc", "1%"]])
def test_an_analysis_in_a_pipe_imports_no_slow_modules(command: list[str]) -> None:
    name, *rest = command
    loaded = python(
        "import sys; before = set(sys.modules)\n"
        "from wordline.cli import main\n"
        f"main([{name!r}, 'postgresql-mixed.csv.gz', *{rest!r}])\n"
        "print(); print(*sorted(set(sys.modules) - before))"
    ).splitlines()[-1]
    assert "wordline.cli.analyses" in loaded.split()
    assert not {"click", "rich", "tomllib", "inspect", "polars"} & set(loaded.split())


def test_the_version_is_that_of_the_installed_package() -> None:
    assert wordline.__version__ == version("wordline")


def test_pythons_garbage_collector_is_disabled_only_in_the_command_line_program(tiny: str) -> None:
    run = f"['run', {tiny!r}, '--set', 'workload.requests=10', '--no-report', '--json']"
    says = "print(); print(gc.isenabled(), gc.get_freeze_count() > 0)"
    called = python(f"import gc\nfrom wordline.cli import main\nmain({run})\n{says}")
    assert called.splitlines()[-1] == "True False"
    own = f"import gc, sys\nfrom wordline.cli import main\nsys.argv[1:] = {run}\nmain()\n{says}"
    assert python(own).splitlines()[-1] == "False True"


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("args", [["mrc", "postgresql-mixed.csv.gz"], ["devices"]])
def test_garbage_collector_skips_the_objects_of_a_command_at_exit(args: list[str]) -> None:
    own = f"import gc, sys\nfrom wordline.cli import main\nsys.argv[1:] = {args!r}\nmain()\n"
    says = "print(); print(gc.isenabled(), gc.get_freeze_count() > 0)"
    assert python(own + says).splitlines()[-1] == f"{args == ['devices']} True"


def test_ctrl_c_during_the_start_prints_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(argv, "run_arguments", interrupted)
    assert cli.main(["run", "d4"]) == 130
    assert capsys.readouterr().err == "error: interrupted; nothing was written\n"


def test_every_public_name_exists() -> None:
    names = python("import wordline\nfor name in wordline.__all__: print(getattr(wordline, name))")
    assert len(names.splitlines()) == len(wordline.__all__)
    assert set(wordline.__all__) <= set(dir(wordline))
    assert {name for name in dir(wordline) if not name.startswith("__")} == set(wordline.__all__)
    assert wordline.__version__
    with pytest.raises(AttributeError, match="module 'wordline' has no attribute 'nothing'"):
        _ = wordline.nothing  # pyright: ignore


@pytest.mark.parametrize(
    "name",
    [
        "cache",
        "metrics",
        "mrc",
        "package",
        "plan_cache",
        "policies",
        "presets",
        "run",
        "trace_convert",
        "trace_formats",
        "trace_stat",
        "config.check",
        "config.read",
        "config.settings",
        "config.show",
    ],
)
def test_annotations_can_be_resolved(name: str) -> None:
    hints = python(
        "import typing, wordline\n"
        f"hints = typing.get_type_hints(wordline.{name})\n"
        "assert all(not isinstance(hint, str) for hint in hints.values())\n"
        "print(*hints)"
    )
    assert "return" in hints.split()


@pytest.mark.parametrize("name", ["on_bad_line", "time_order", "align", "volumes", "fit"])
def test_choices_and_their_literal_types_agree(name: str) -> None:
    hint = get_type_hints(wordline.RunOptions)[name]
    words = get_args(hint)[0] if name == "volumes" else hint
    assert get_args(words) == trace_input.CHOICES[name]
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = trace_input.Nothing  # pyright: ignore


@pytest.mark.parametrize("name", ["cache", "calibrate", "mrc", "package", "plan_cache"])
def test_functions_have_the_names_of_their_modules(name: str) -> None:
    module = f"wordline.{wordline._MODULES[name]}"  # pyright: ignore[reportPrivateUsage]
    for start in (f"import {module}", f"from wordline import {name}", "import wordline"):
        said = python(f"{start}\nimport wordline\nprint(type(wordline.{name}).__name__)")
        assert said.strip() == "function"
    assert not isinstance(getattr(wordline, name), ModuleType)


def click_reads(args: list[str]) -> dict[str, Any] | None:
    run = app.cli.commands["run"]
    try:
        return run.make_context("run", args[1:]).params
    except click.ClickException:
        return None


def defaults() -> dict[str, Any]:
    run = app.cli.commands["run"]
    return run.make_context("run", ["d4"]).params


WORDS = st.sampled_from(
    [
        "d4",
        "mine.toml",
        "a=b",
        "-",
        "--",
        "",
        "7",
        " 7",
        "1_0",
        "x",
        "wrap",
        "error",
        "skip",
        "sort",
        "expand",
        "--set",
        "--trace",
        "--out",
        "--seed",
        "--max-requests",
        "--power-cut-every",
        "--fit",
        "--on-bad-line",
        "--time-order",
        "--align",
        "--json",
        "--no-report",
        "--progress",
        "--verify",
        "--no-progress",
        "--requests",
        "--slowdown",
        "--seed=3",
        "--set=a=b",
        "--set=a",
        "--out=x",
        "--trace=y",
        "--json=1",
        "--fit=scale",
        "--volumes",
        "--stream",
        "--help",
        "--jso",
        "-h",
    ]
)


@given(st.lists(WORDS, max_size=8))
def test_the_plain_parser_agrees_with_click(words: list[str]) -> None:
    args = ["run", "d4", *words] if "d4" not in words else ["run", *words]
    given = argv.run_arguments(args)
    if given is not None:
        read = click_reads(args)
        assert read is not None
        assert {key: _plain(value) for key, value in read.items()} == {
            key: _plain(value) for key, value in (defaults() | given).items()
        }


def _plain(value: object) -> object:
    """Returns a value in the same form for both parsers: lists for tuples, strings for paths."""
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value


@pytest.mark.parametrize(
    "args",
    [
        ["run", "d4", "--trace", "a", "b", "--fit", "wrap", "--time-order", "clamp", "--json"],
        [
            "run",
            "d4",
            "--set=a.b=1",
            "--set",
            "c=x=y",
            "--out",
            "there",
            "--no-report",
            "--seed",
            "2",
        ],
        ["run", "--no-progress", "mine.toml"],
    ],
)
def test_common_arguments_need_no_click(args: list[str]) -> None:
    assert argv.run_arguments(args) is not None


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--help"],
        ["devices"],
        ["run"],
        ["run", "--help"],
        ["run", "d4", "--seed", "x"],
        ["run", "d4", "--fit", "squeeze"],
        ["run", "d4", "--set", "a"],
        ["run", "d4", "--out"],
    ],
)
def test_other_arguments_are_left_to_click(args: list[str]) -> None:
    assert argv.run_arguments(args) is None


def test_defaults_of_both_parsers_agree() -> None:
    """The defaults of click equal those of the functions."""
    for name, value in defaults().items():
        given = {"device", "out", "trace", "streams", "overrides"}
        for_all = {"quiet"}
        """Options that every command obeys, before it is called."""
        assert name in given | for_all or value == default(name)


@pytest.mark.parametrize(
    "args",
    [
        ["cache", "a.csv"],
        ["cache", "a.csv", "lru,arc", "1%", "--page-bytes=512", "--json", "--quiet"],
        ["cache", "--no-progress", "a.csv", "fifo", "--out", "there", "--volumes", "3"],
        ["mrc", "a.csv", "--method", "shards", "--rate", "1e-3", "--seed", "7"],
        ["mrc", "a.csv", "--samples=9", "--accuracy", "--sizes", "1%,3p"],
    ],
)
def test_arguments_of_analyses_mean_the_same_without_click(
    args: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, object]] = []

    def noted(function: Any) -> Any:
        def note(*words: Any, **given: Any) -> None:
            bound = inspect.signature(function).bind(*words, **given)
            bound.apply_defaults()
            calls.append(bound.arguments | bound.arguments.pop("options"))

        return note

    functions = {"run_cache": analyses.run_cache, "run_mrc": analyses.run_mrc}
    for module in (analyses, caches):
        for name, function in functions.items():
            monkeypatch.setattr(module, name, noted(function))
    work = analyses.command(args)
    assert work is not None
    work()
    app.cli.main(args, standalone_mode=False)
    plain, clicked = calls
    for name, value in plain.items():
        assert _plain(value) == _plain(clicked[name])
    rest = {name: value for name, value in clicked.items() if name not in plain}
    parameters = inspect.signature(getattr(wordline, args[0])).parameters
    options = wordline.CacheOptions().__dict__ | {
        name: parameter.default for name, parameter in parameters.items()
    }
    for name, value in rest.items():
        assert name == "sizes" or value == {} or value == options[name]


@pytest.mark.parametrize(
    "args",
    [
        ["cache"],
        ["mrc", "a", "b"],
        ["cache", "a", "lru", "1%", "more"],
        ["mrc", "a", "--rate", "x"],
        ["mrc", "a", "--help"],
        ["cache", "a", "--flash", "d4"],
        ["cache", "a", "--jso"],
        ["mrc", "a", "--rate"],
    ],
)
def test_other_arguments_of_analyses_are_left_to_click(args: list[str]) -> None:
    assert analyses.command(args) is None


def default(name: str) -> object:
    for function in (run.simulate, wordline.run):
        parameter = inspect.signature(function).parameters.get(name)
        if parameter:
            return parameter.default
    raise AssertionError(name)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda some: st.lists(some) | st.dictionaries(st.text(), some),
)


@given(JSON)
def test_json_is_formatted_as_by_python(value: object) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    assert _wordline.python_json(text) == json.dumps(value, indent=2)


@pytest.mark.parametrize(
    ("other", "here"),
    [
        ("0.00001", "1e-05"),
        ("1e-5", "1e-05"),
        ("1e16", "1e+16"),
        ("1.5e300", "1.5e+300"),
        ("1e15", "1000000000000000.0"),
        ("-0.0", "-0.0"),
    ],
)
def test_floats_are_formatted_as_by_python(other: str, here: str) -> None:
    assert _wordline.python_json(f"[{other}]") == f"[{here}]" == json.dumps([float(other)])
