"""Folders and files are written completely or not at all."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Command

from wordline import WordlineError
from wordline._internal import output_folder


def text(content: str) -> Callable[[str], object]:
    return lambda path: Path(path).write_text(content)


CONFIG = {"config.resolved.toml": text("")}


def test_missing_parents_of_a_folder_are_created(place: Path) -> None:
    files = output_folder.write("a/b/c", {"summary.json": text("{}")} | CONFIG, "run")
    written = ["summary.json", "config.resolved.toml", "checksums.json"]
    assert files == [f"{place}/a/b/c/{name}" for name in written]
    assert {path.name for path in place.rglob("*")} == {"a", "b", "c", *written}


def test_a_failing_writer_keeps_the_former_result(place: Path) -> None:
    output_folder.write("here", {"summary.json": text("old")} | CONFIG, "run")

    def fail(path: str) -> None:
        Path(path).write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(WordlineError, match=r"here/report\.html.*No space.*free some space"):
        output_folder.write(
            "here", {"summary.json": text("new"), "report.html": fail} | CONFIG, "run"
        )
    assert (place / "here/summary.json").read_text() == "old"
    assert [path.name for path in place.iterdir()] == ["here"]


def test_ctrl_c_while_writing_leaves_nothing(place: Path) -> None:
    def interrupted(path: str) -> None:
        Path(path).write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        output_folder.write("here", {"summary.json": interrupted} | CONFIG, "run")
    with pytest.raises(KeyboardInterrupt):
        output_folder.write_file("page.html", interrupted)
    assert not list(place.iterdir())


def test_writing_through_a_link_keeps_the_link(place: Path) -> None:
    (place / "real").mkdir()
    (place / "link").symlink_to("real")
    output_folder.write("link", {"summary.json": text("{}")} | CONFIG, "run")
    assert (place / "link").is_symlink()
    assert (place / "real/summary.json").exists()


def test_checking_a_folder_creates_nothing(place: Path) -> None:
    output_folder.check("a/b/c", "run")
    assert not list(place.iterdir())


def test_files_have_the_usual_permissions(place: Path) -> None:
    output_folder.write("here", {"summary.json": text("{}")} | CONFIG, "run")
    (place / "other").mkdir()
    (place / "other/file").touch()
    assert (place / "here").stat().st_mode == (place / "other").stat().st_mode
    assert (place / "here/summary.json").stat().st_mode == (place / "other/file").stat().st_mode


def test_the_first_unused_name_is_chosen(place: Path) -> None:
    assert output_folder.unused("run") == "run"
    (place / "run").mkdir()
    (place / "run-2").mkdir()
    assert output_folder.unused("run") == "run-3"


def test_a_folder_that_another_process_wrote_is_kept(place: Path) -> None:
    def late(path: str) -> None:
        output_folder.write("here", {"summary.json": text("other")} | CONFIG, "run", numbered=True)
        Path(path).write_text("mine")

    mine, *_ = output_folder.write("here", {"summary.json": late} | CONFIG, "run", numbered=True)
    assert mine == f"{place}/here-2/summary.json"
    assert (place / "here/summary.json").read_text() == "other"
    assert Path(mine).read_text() == "mine"


@pytest.mark.parametrize(
    ("names", "other"),
    [(["growth.json", "growth.csv", "mine.txt"], "mine.txt"), (["index.html"], "index.html")],
)
def test_an_error_names_a_foreign_file_in_the_folder(
    place: Path, names: list[str], other: str
) -> None:
    (place / "here").mkdir()
    for name in names:
        (place / "here" / name).touch()
    with pytest.raises(WordlineError, match=rf"such as {other}\)"):
        output_folder.check("here", "run")


def test_only_regular_files_are_replaced(place: Path) -> None:
    os.mkfifo("pipe")
    Path("link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(WordlineError, match=r"pipe: is not a regular file"):
            output_folder.check_file(name)
        with pytest.raises(WordlineError, match=r"pipe: is not a regular file"):
            output_folder.write_file(name, text("page"))
    assert sorted(path.name for path in place.iterdir()) == ["link", "pipe"]
    assert Path("pipe").is_fifo()


def test_no_command_replaces_special_files(wordline: Command, tiny: str, trace: str) -> None:
    os.mkfifo("pipe")
    for out in ("one", "other"):
        assert wordline("sweep", tiny, "--trace", trace, "--out", out).returncode == 0
    for args in (
        ("prepare", tiny, "--out", "pipe"),
        ("compare", "one", "other", "--out", "pipe"),
        ("sweep", "report", "one", "--out", "pipe"),
        ("run", tiny, "--trace", trace, "--out", "run", "--timeline", "pipe"),
        ("trace", "convert", trace, "pipe", "--to", "msr"),
        ("report", "run", "--out", "pipe"),
    ):
        if args[0] == "report":
            wordline("run", tiny, "--trace", trace, "--out", "run")
        done = wordline(*args)
        assert done.returncode == 2, args
        assert "regular file" in done.stderr, args
        assert Path("pipe").is_fifo(), args
