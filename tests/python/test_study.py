"""Studies: exit code, self-contained page, reproducible numbers."""

import html
import json
import re
from dataclasses import replace
from math import inf, nan
from pathlib import Path

import pytest
from browser import needs_browser, require_fits
from conftest import Command

import wordline_studies as studies
from wordline import WordlineError, cli
from wordline._render.html import charts_of
from wordline._sweep.engine import State
from wordline_studies.cases import Case, run_all
from wordline_studies.figure import (
    PREVIEW,
    Claim,
    Figure,
    Published,
    Row,
    Setup,
    Study,
    largest_difference,
    unmeasured,
)
from wordline_studies.measures import or_nan
from wordline_studies.outcome import OUTCOME_LABELS
from wordline_studies.results import run
from wordline_studies.terminal import Progress

NAMES = {"index.html", "study.json"}


def figure(*claims: Claim) -> Figure:
    return Figure(
        id="1",
        title="Figure 1: a <figure>",
        section="1.1",
        measured="Nothing.",
        rows=[Row("ours", 3.0, "MB/s", Published(2.0, "MB/s", "1.1"))],
        claims=claims,
        explanation=["A & B, `nand.scheduler`."],
    )


def study(*claims: Claim) -> Study:
    return Study("test", "A test", "Nobody", (lambda _: figure(*claims),))


def of_figure(made: Figure) -> Study:
    return replace(study(), figures=(lambda _: made,))


def call(monkeypatch: pytest.MonkeyPatch, made: Study, *more: str) -> int:
    monkeypatch.setattr(studies, "load", lambda _: made)
    return cli.main(["study", "test", *more])


HOLDS = Claim("It holds", True, "1 of 1")
FAILS = Claim("It does not", False, "0 of 1")
DIFFERS = Claim("It differs", False, "0 of 1", because="the model says so")
TOLD = Claim("It is only reported", False, "0 of 1", report_only="too few requests")
UNEXPECTED = Claim("It holds after all", True, "1 of 1", because="the model says so")


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ((), 0),
        ((HOLDS, DIFFERS), 0),
        ((HOLDS, TOLD), 0),
        ((HOLDS, FAILS), 1),
        ((HOLDS, UNEXPECTED), 1),
    ],
)
def test_the_exit_code_depends_on_the_claims(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    claims: tuple[Claim, ...],
    code: int,
) -> None:
    assert call(monkeypatch, study(*claims)) == code
    folder = place / "out" / "study-test"
    assert {path.name for path in folder.iterdir()} == NAMES
    told = json.loads((folder / "study.json").read_text())
    assert told["claims_failed"] == code
    assert [claim["passed"] for claim in told["figures"][0]["claims"]] == [
        claim.passed for claim in claims
    ]
    failed = [claim.text for claim in claims if not claim.passed]
    errors = capsys.readouterr().err
    assert all(text in errors for text in failed)
    assert bool(errors) == bool(failed)


def test_an_untested_claim_is_not_counted(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, study(HOLDS, TOLD)) == 0
    said = capsys.readouterr().out
    assert "not tested  It is only reported: does not hold (0 of 1; too few requests)" in said
    assert (
        "Claims: 1 of 1 holds, 0 differ for documented reasons, none "
        "unexpectedly; 1 more is not tested."
    ) in said
    page = (place / "out" / "study-test" / "index.html").read_text()
    assert "It is only reported – does not hold, not tested" in page


ROWS = [
    Row("ours alone", 7.0, "MB/s"),
    Row("hit", 3.0, "MB/s", Published(3.0, "MB/s", "1.1", ids=("X-001",))),
    Row("gain", 7.3, "%", Published(39.2, "%", "1.1", comparison=True)),
    Row("loss", -7.3, "%", Published(20.0, "%", "1.1", comparison=True)),
    Row("chosen", 5.0, "ms", Published(5.0, "ms", "1.1", fitted="the load has this mean")),
    Row("real disk", 5.0, "ms", Published(9.0, "ms", "1.1", not_assertable="it is of hardware")),
    Row("unknown", None, "GB", Published(9.0, "GB", "1.1"), missing="the trace web_3"),
]
"""A row of each outcome, after a row without a published value."""
COUNTED = (
    "6 published numbers: 1 reproduced, 1 direction only, 1 contradicted, 1 fitted, "
    "1 not assertable, 1 not run. 1 further row has no published value."
)
NUMBERS = {
    "reproduced": 1,
    "direction": 1,
    "contradicted": 1,
    "fitted": 1,
    "not_assertable": 1,
    "not_run": 1,
}


def compared(*claims: Claim) -> Study:
    return Study("test", "A test", "Nobody", (lambda _: replace(figure(*claims), rows=ROWS),))


def text_of(page: str) -> str:
    """Returns the words of a page, without its tags."""
    body = page[page.index("<body>") :]
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", body)).split())


def test_the_page_shows_published_numbers_before_claims(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(monkeypatch, compared(HOLDS)) == 0
    page = (place / "out" / "study-test" / "index.html").read_text()
    text = text_of(page)
    assert "Published numbers 6 published numbers. 1 further row has no published value." in text
    for label in OUTCOME_LABELS.values():
        assert f"{label} 1 " in text
    assert text.index("Published numbers") < text.index("Claims")
    assert "hold 1 of 1 of the tested claims" in text


def test_tables_show_published_numbers_first_and_mark_their_outcomes(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert call(monkeypatch, compared()) == 0
    page = (place / "out" / "study-test" / "index.html").read_text()
    # On a phone, the column of the outcome is beyond the edge, and the first column has the marks.
    assert re.findall(r'\.figures \.(\w+) th::before { content: "(.) "', page) == [
        ("contradicted", "✗"),
        ("direction", "≈"),
    ]
    table = page[page.index("<tbody>") : page.index("</tbody>")]
    assert re.findall('<th scope="row">([^<]*)', table) == [row.what for row in ROWS[1:] + ROWS[:1]]
    assert re.findall('<tr(?: class="([^"]*)")?>', table) == [*NUMBERS, ""]
    said = capsys.readouterr().out
    for text in (text_of("<body>" + table), " ".join(said.split())):
        for marked in ("✗ contradicted", "≈ direction only", "✓ reproduced"):
            assert text.count(marked) == 1
        for reason in ("the load has this mean", "it is of hardware", "the trace web_3"):
            assert reason in text


@pytest.mark.usefixtures("place")
def test_long_values_leave_room_for_whole_words_in_a_narrow_window(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    what = "period with the shortest response time"
    row = Row(what, 4_096.0, "requests", Published((16_384, 65_536), "requests", "6.4"))
    call(monkeypatch, of_figure(replace(figure(), rows=[row])))
    said = capsys.readouterr().out
    assert set(what.split()) <= set(said.split())


@pytest.mark.usefixtures("place")
def test_the_last_lines_count_outcomes_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, compared(HOLDS)) == 0
    said = capsys.readouterr().out
    assert COUNTED in said
    assert said.index(COUNTED) < said.index("Claims: 1 of 1 holds")


def test_the_json_file_has_the_outcomes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(monkeypatch, compared()) == 0
    told = json.loads((place / "out" / "study-test" / "study.json").read_text())
    assert (told["numbers"], told["rows_without_published"]) == (NUMBERS, 1)
    rows = told["figures"][0]["rows"]
    assert [row["what"] for row in rows] == [row.what for row in ROWS]
    assert [row["outcome"] for row in rows] == [None, *NUMBERS]
    assert [row["outcome_reason"] for row in rows[4:]] == [
        "the load has this mean",
        "it is of hardware",
        "the trace web_3",
    ]
    assert rows[1]["ids"] == ["X-001"]
    assert [row["comparison"] for row in rows[:3]] == [None, False, True]
    assert rows[6]["ours"] is None


def test_a_figure_without_its_inputs_has_no_values(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = unmeasured(replace(figure(HOLDS, DIFFERS), data={"mean": nan}), "no recording")
    assert [row.ours for row in made.rows] == [None]
    assert [(one.holds, one.verdict, one.passed) for one in made.claims] == [
        (None, "told", True)
    ] * 2
    assert call(monkeypatch, of_figure(made)) == 0
    assert "  not tested  It holds (no recording)\n" in capsys.readouterr().out
    text = text_of((place / "out" / "study-test" / "index.html").read_text())
    assert "It holds – not tested Not tested: no recording" in text


def test_a_metric_without_observations_is_null(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [Row("ours", or_nan(None), "%", Published(5.0, "%", "1.1"))]
    made = replace(figure(), rows=rows, data={"mean": [nan, 1.0]})
    assert call(monkeypatch, of_figure(made)) == 0
    told = json.loads((place / "out" / "study-test" / "study.json").read_text())
    (found,) = told["figures"]
    assert (found["rows"][0]["ours"], found["rows"][0]["outcome"]) == (None, "not_run")
    assert found["data"] == {"mean": [None, 1.0]}
    assert or_nan(0.0) == 0


def test_a_missing_value_counts_as_an_infinite_difference() -> None:
    near = Row("", 101.0, "µs", Published(100.0, "µs", ""))
    assert largest_difference([near, replace(near, ours=98.0)]) == 2
    assert largest_difference([near, replace(near, ours=None)]) == inf


@pytest.mark.parametrize("made", [FAILS, UNEXPECTED, HOLDS, DIFFERS, TOLD])
def test_a_quick_study_does_not_test_claims_that_need_a_long_run(made: Claim) -> None:
    made = replace(made, quick=False)
    for setup in (Setup(), Setup(quick=True)):
        (found,) = run(study(HOLDS, made), setup).figures
        first, second = found.claims
        assert first == HOLDS
        assert second.verdict == ("told" if setup.quick else made.verdict)
        assert (second.holds, second.because) == (made.holds, made.because)
        assert second.report_only == (made.report_only or PREVIEW * setup.quick)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["device-lab", "gc", "host-side", "lcr", "palloc", "paq"])
def test_no_claim_of_a_whole_study_has_an_unexpected_outcome(name: str) -> None:
    """Includes the claims that the quick study, which always runs, does not test."""
    assert [claim.text for _, claim in run(studies.load(name), Setup()).failed] == []


def test_long_runs_log_their_progress(capsys: pytest.CaptureFixture[str]) -> None:
    now = iter([0.0, 29.0, 31.0, 31.0, 40.0])
    progress = Progress(lambda: next(now))
    for done in (1, 2, 3):
        progress.heard(State(done, 2, 0, 720, 150.0))
    assert capsys.readouterr().err == "2 of 720 runs, 2:30 left\n"


def test_the_page_escapes_text_and_formats_code(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(monkeypatch, study(HOLDS)) == 0
    page = (place / "out" / "study-test" / "index.html").read_text()
    assert "a &lt;figure&gt;" in page
    assert "A &amp; B, <code>nand.scheduler</code>." in page


@pytest.mark.parametrize("names", [(), ("web_3",), ("hm_0", "<tpcc>")])
def test_missing_traces_are_listed(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    names: tuple[str, ...],
) -> None:
    def made(setup: Setup) -> Figure:
        for name in names:
            setup.miss(name)
        return figure()

    assert call(monkeypatch, Study("test", "A test", "Nobody", (made,))) == 0
    page = html.unescape((place / "out" / "study-test" / "index.html").read_text())
    page = re.sub("</?code>", "`", page)
    for text in (page, capsys.readouterr().out):
        told = re.findall(r"recorded traces? (?:is|are) missing, .*: (.*)\. To use", text)
        assert told == ([", ".join(names)] if names else [])


def test_a_study_replaces_an_earlier_study_and_no_other_files(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "mine").mkdir()
    (place / "mine" / "letter.txt").write_text("dear")
    assert call(monkeypatch, study(), "--out", "mine") == 2
    assert "letter.txt" in capsys.readouterr().err
    assert [path.name for path in (place / "mine").iterdir()] == ["letter.txt"]
    for _ in range(2):
        assert call(monkeypatch, study(), "--out", "new") == 0
    assert {path.name for path in place.iterdir()} == {"mine", "new"}


def test_a_study_that_cannot_be_run_leaves_no_files(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Setup) -> Figure:
        raise WordlineError("no room")

    made = Study("test", "A test", "Nobody", (broken,))
    assert call(monkeypatch, made) == 2
    assert list(place.iterdir()) == []


def every(monkeypatch: pytest.MonkeyPatch, made: dict[str, Study], *more: str) -> int:
    monkeypatch.setattr(studies, "STUDIES", dict.fromkeys(made, ""))
    monkeypatch.setattr(studies, "load", made.__getitem__)
    return cli.main(["study", "all", *more])


def test_studies_of_chapters_belong_to_one_document(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {
        name: replace(study(HOLDS), name=name, source=f"A thesis, {chapter}")
        for name, chapter in (("one", "chapter 1"), ("two", "chapters 2 to 3"))
    }
    assert every(monkeypatch, made) == 0
    text = text_of((place / "out" / "studies" / "index.html").read_text())
    assert "2 studies of 1 document" in text
    assert "A thesis, chapter 1" in text


def test_all_studies_run_with_one_command(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = replace(study(HOLDS, DIFFERS, TOLD), name="one")
    two = replace(study(HOLDS, HOLDS), name="two", title="Two & more", source="Somebody")
    assert every(monkeypatch, {"one": one, "two": two}) == 0
    assert (
        "Claims: 3 of 4 hold, 1 differs for documented reasons, none "
        "unexpectedly; 1 more is not tested."
    ) in capsys.readouterr().out
    assert {path.name for path in (place / "out").iterdir()} == {
        "study-one",
        "study-two",
        "studies",
    }
    told = json.loads((place / "out" / "studies" / "studies.json").read_text())
    assert told["numbers"] == dict.fromkeys(NUMBERS, 0) | {"contradicted": 2}
    assert told["studies"][0]["numbers"] == dict.fromkeys(NUMBERS, 0) | {"contradicted": 1}
    assert told["studies"][0]["rows"] == [
        {
            "figure": "1",
            "what": "ours",
            "published": 2.0,
            "ours": 3.0,
            "unit": "MB/s",
            "outcome": "contradicted",
        }
    ]
    assert told["counts"] == {"holds": 3, "differs": 1, "failed": 0, "told": 1}
    assert [len(one["claims"]) for one in told["studies"]] == [3, 2]
    page = (place / "out" / "studies" / "index.html").read_text()
    links = re.findall('href="([^"#]+)', page)
    assert {(place / "out" / "studies" / link).resolve() for link in links} == {
        place.resolve() / "out" / f"study-{name}" / "index.html" for name in ("one", "two")
    }
    assert "Two &amp; more" in page
    text = text_of(page)
    assert "Published numbers 2 published numbers. 0 further rows have no published value." in text
    assert text.count("Figure 1: a <figure> : ours published 2 MB/s, simulated 3 MB/s") == 2
    assert text.index("Published numbers") < text.index("Claims")
    assert page.index("Nobody") < page.index("Somebody")
    assert "the model says so" in page
    assert "too few requests" in page


def test_the_other_studies_run_if_one_study_cannot(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: Setup) -> Figure:
        raise WordlineError("no room")

    made = {
        "one": Study("one", "One", "Nobody", (broken,)),
        "two": replace(study(FAILS), name="two"),
        "three": replace(study(HOLDS), name="three"),
    }
    assert every(monkeypatch, made, "--out", "there") == 1
    assert "one: no room" in capsys.readouterr().err
    assert not (place / "there" / "study-one").exists()
    told = json.loads((place / "there" / "studies" / "studies.json").read_text())
    assert told["faults"] == {"one": "no room"}
    assert told["counts"] == {"holds": 1, "differs": 0, "failed": 1, "told": 0}


def test_interrupted_studies_continue_with_the_same_command(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Covers points that two studies share, and all points after an interruption."""
    case = Case("d4", "d4", {"workload.requests": 100})
    ran: list[int] = []

    def counted(setup: Setup) -> Figure:
        before = len(setup.runs.known)
        run_all([case], setup.runs)
        ran.append(len(setup.runs.known) - before)
        return figure(HOLDS)

    def stopped(_: Setup) -> Figure:
        raise KeyboardInterrupt

    one = Study("one", "One", "Nobody", (counted,))
    for last in (stopped, counted):
        made = {"one": one, "two": Study("two", "Two", "Nobody", (counted, last))}
        every(monkeypatch, made, "--jobs", "1")
    assert ran == [1, 0, 0, 0, 0]
    assert (
        "studies keeps the results of 1 point; start the same command again to continue"
        in capsys.readouterr().err
    )
    assert {path.name for path in (place / "out" / "studies").iterdir()} == {
        "index.html",
        "studies.json",
    }


def test_an_unknown_study_is_rejected_with_a_suggestion(wordline: Command) -> None:
    done = wordline("study", "nan")
    assert done.returncode == 2
    assert "no study is called 'nan'; did you mean 'nand'?" in done.stderr
    done = wordline("study")
    assert done.returncode == 0
    assert "nand" in done.stdout


@pytest.mark.parametrize(
    ("row", "difference"),
    [
        (Row("", 3.0, "MB/s", Published(2.0, "MB/s", "")), 50),
        (Row("", 30.0, "%", Published(20.0, "%", "")), 10),
        (Row("", 30.0, "%", Published((20.0, 40.0), "%", "")), 0),
        (Row("", 50.0, "%", Published((20.0, 40.0), "%", "")), 10),
        (Row("", 10.0, "%", Published((20.0, 40.0), "%", "")), -10),
        (Row("", -1.0, "points", Published(-3.0, "points", "")), 2),
        (Row("", None, "%", Published(20.0, "%", "")), None),
        (Row("", 1.0, "%"), None),
        (Row("", 1.0, "", Published(0.0, "", "")), None),
    ],
)
def test_a_difference_is_relative_or_in_percentage_points(
    row: Row, difference: float | None
) -> None:
    assert row.difference == difference


@pytest.fixture(scope="module")
def nand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder with the results of the study `nand`."""
    place = tmp_path_factory.mktemp("study") / "nand"
    run(studies.load("nand"), Setup()).write(place)
    return place


def test_no_claim_of_nand_has_an_unexpected_outcome(nand: Path) -> None:
    results = json.loads((nand / "study.json").read_text())
    claims = [claim for figure in results["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []
    # All figures and tables of the chapter.
    ids = {figure["id"] for figure in results["figures"] + results["speed"]}
    numbers = {f"2.{number}" for number in range(11, 24)}
    assert ids == numbers | {"table-2.1", "doubling", "speed"}
    assert results["version"]
    assert len(results["configs"]) > 50
    # Every published number counts once, however many rows show it.
    published = studies.load("nand").published
    assert published is not None
    unshown = sum(one.is_number for one in published.statements)
    assert sum(results["numbers"].values()) == len(list(published)) + unshown


def test_the_page_of_nand_needs_no_network(nand: Path) -> None:
    page = (nand / "index.html").read_text()
    scripts = re.compile(r"<script>.*?</script>", re.DOTALL)
    rest = scripts.sub("", page)
    assert not re.search(r"(src|href)=.?(https?:)?//", rest)
    assert not re.search("https?:", rest)
    assert "default-src 'none'" in html.unescape(page)
    drawn = charts_of(page)
    assert set(drawn) == set(re.findall(r'data-chart="([^"]*)"', page))


@needs_browser
def test_the_page_of_nand_fits_on_a_phone(nand: Path, tmp_path: Path) -> None:
    require_fits(nand / "index.html", tmp_path)


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", [name for name in studies.STUDIES if name != "nand"])
def test_no_claim_of_a_quick_study_fails_and_its_page_fits_on_a_phone(
    name: str, tmp_path: Path
) -> None:
    results = run(studies.load(name), Setup(quick=True))
    assert [claim.text for _, claim in results.failed] == []
    results.write(tmp_path / name)
    require_fits(tmp_path / name / "index.html", tmp_path)


def test_nand_is_reproducible(nand: Path) -> None:
    made = studies.load("nand")
    untimed = replace(made, figures=made.figures[:-1])
    told = json.loads((nand / "study.json").read_text())
    again = run(untimed, Setup()).to_json()
    assert json.dumps(again["figures"]) == json.dumps(told["figures"])
    assert again["configs"].items() <= told["configs"].items()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--quick"], "--quick"),
        (["--out", "there"], "--out"),
        (["--out", "there", "--quick"], "--out and --quick"),
    ],
)
def test_options_without_a_name_are_rejected(
    place: Path, capsys: pytest.CaptureFixture[str], options: list[str], named: str
) -> None:
    assert cli.main(["study", *options]) == 2
    assert capsys.readouterr().err == (
        f"error: {named} without NAME; name a study, as in `wordline study nand`; "
        "see `wordline study --help`\n"
    )
    assert not (place / "there").exists()
