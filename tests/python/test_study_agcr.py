"""Studies `agcr` and `ecc`: numbered pages, access kinds, passes, and reasons."""

import json
from collections.abc import Iterator
from itertools import pairwise
from math import isnan
from pathlib import Path

import pytest

import wordline
import wordline_studies as studies
from wordline_studies.agcr.runs import DEVICE, LI, RW, SCHEMES, TRADITIONAL
from wordline_studies.ecc import fitted
from wordline_studies.ecc.runs import DEVICE as OF_ECC
from wordline_studies.ecc.runs import DIFFERENTIATED
from wordline_studies.figure import Setup
from wordline_studies.outcome import outcomes
from wordline_studies.regulation.recordings import Request, folder, ranked, recordings
from wordline_studies.regulation.runs import change, mean_change, passes
from wordline_studies.results import run

SHARED = Path(__file__).parents[3] / "shared" / "traces"
TRACES = tuple(sorted(SHARED.iterdir())) if SHARED.is_dir() else ()


@pytest.mark.parametrize("name", ["agcr", "ecc"])
def test_no_claim_has_an_unexpected_outcome_without_recordings(name: str) -> None:
    assert run(studies.load(name), Setup(quick=True)).failed == []


@pytest.mark.parametrize(("name", "measured"), [("agcr", {"1"}), ("ecc", {"7", "fitted"})])
def test_figures_of_recordings_have_no_values_without_recordings(
    name: str, measured: set[str], tmp_path: Path
) -> None:
    """A mean of nothing was 0 %, 48 points from -48 %."""
    results = run(studies.load(name), Setup(quick=True))
    empty = [figure for figure in results.figures if figure.id not in measured]
    assert len(empty) == len(results.figures) - len(measured)
    for figure in empty:
        assert [row.ours for row in figure.rows] == [None] * len(figure.rows)
        assert {row.missing for row in figure.rows} <= {"no recording"}
        assert [claim.holds for claim in figure.claims] == [None] * len(figure.claims)
        assert {one for one in outcomes(figure.rows) if one} <= {"not_run"}
    results.write(tmp_path / name)
    text = (tmp_path / name / "study.json").read_text()
    told = json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} in JSON"))
    found = {one["id"]: one for one in told["figures"]}
    for figure in empty:
        assert [row["ours"] for row in found[figure.id]["rows"]] == [None] * len(figure.rows)
        assert {claim["holds"] for claim in found[figure.id]["claims"]} <= {None}


def test_a_mean_of_no_recordings_is_not_a_number() -> None:
    assert isnan(mean_change({}, [], RW, TRADITIONAL, 0, "read_us"))
    assert isnan(change(1.0, 0.0))
    assert change(3.0, 2.0) == 50


@pytest.mark.slow
@pytest.mark.skipif(not TRACES, reason="recorded traces are too large for the project")
@pytest.mark.parametrize("name", ["agcr", "ecc"])
def test_no_claim_has_an_unexpected_outcome(name: str) -> None:
    assert run(studies.load(name), Setup(traces=TRACES)).failed == []


def of(*told: tuple[str, int, int]) -> list[Request]:
    """Returns requests a millisecond apart, given as `r` or `w`, first page and size."""
    return [
        Request(number * 10**6, op == "w", first, pages)
        for number, (op, first, pages) in enumerate(told)
    ]


def test_pages_are_numbered_in_address_order() -> None:
    recording = ranked(of(("w", 900, 2), ("r", 100, 1), ("r", 901, 2)), 4096)
    assert recording.pages == 4
    assert [(one.first, one.pages) for one in recording.requests] == [(1, 2), (0, 1), (2, 2)]


def test_pages_are_classified_by_their_accesses() -> None:
    """Page 0 is read three times, page 1 written twice, page 2 both."""
    told = of(("r", 0, 1), ("w", 1, 2), ("r", 0, 1), ("w", 1, 1), ("r", 2, 1), ("r", 0, 1))
    recording = ranked(told, 4096)
    assert [recording.used(page) for page in range(3)] == ["read", "write", "both"]
    assert recording.both_percent == pytest.approx(100 / 3)
    assert recording.of_their_kind(writes=False) == pytest.approx(75)
    assert recording.of_their_kind(writes=True) == pytest.approx(100 * 2 / 3)
    # Of seven accesses, the kind is wrong at the two of page 2. With a window of two, it is right
    # at the last.
    assert recording.accuracy(1) == pytest.approx(100 * 5 / 7)
    assert recording.accuracy(2) == pytest.approx(100 * 6 / 7)


def test_writes_cost_less_in_the_second_pass_because_pages_have_a_history() -> None:
    """A write-only page has high-cost writes in the first pass and low-cost ones in the second. A
    read-only page takes 70 us in both, because it was written at high cost before the run."""
    told = [("w", 2 * page, 1) for page in range(50)] + [
        ("r", 2 * page + 1, 1) for page in range(50)
    ]
    found = {"both": ranked(of(*told), DEVICE.page)}
    with folder() as traces:
        schemes = {one: SCHEMES[one] for one in (TRADITIONAL, RW)}
        runs = passes(Setup(), DEVICE, traces, found, schemes)
    first, second = runs["both", RW]
    assert (first.writes, second.writes, second.reads) == (50, 50, 50)
    assert (first.write_us, second.write_us) == pytest.approx((800, 450))
    assert (first.read_us, second.read_us) == pytest.approx((70, 70))
    assert runs["both", TRADITIONAL][1].write_us == pytest.approx(600)
    assert second.wear == pytest.approx(50)


def test_high_cost_reads_take_the_same_time_in_both_modes() -> None:
    """Reason why reads of figure 5 are no faster than those of figure 3: both take 310 us, and the
    writes take longer."""
    modes = ("low", "reduced")
    asked = {
        "workload.requests": 4000,
        "workload.working_set_ratio": 0.02,
        "workload.arrival.poisson.iops": 2000,
        "precondition.fill_ratio": 0.03,
    }
    us = [
        wordline.run("agcr", overrides={**asked, "ftl.regulation.fixed.mode": mode}).summary[
            "latency"
        ]["read"]["mean_us"]
        for mode in modes
    ]
    assert us[1] > us[0] > 310


def trace_of(reads: int, path: Path) -> Path:
    """Writes a trace of two hundred pages and returns its path. Each page is written once and then
    read `reads` times, repeatedly."""

    def lines() -> Iterator[str]:
        at = 0
        for _ in range(12):
            for page in range(200):
                for number in range(1 + reads):
                    op = "read" if number else "write"
                    yield f"{at},{op},{page * OF_ECC.page},{OF_ECC.page},0\n"
                    at += 10_000_000

    path.write_text("time_ns,op,offset_bytes,size_bytes,volume\n" + "".join(lines()))
    return path


@pytest.mark.parametrize(("reads", "fast_pays"), [(2, True), (12, False)])
def test_a_fast_write_pays_off_up_to_six_reads(tmp_path: Path, reads: int, fast_pays: bool) -> None:
    """A fast write saves 650 us, and a read after it costs 100 us. Reason why the lowest m is best
    on loads with fewer reads per write."""
    trace = trace_of(reads, tmp_path / "trace.csv")
    means = [
        wordline.run(
            OF_ECC.name,
            trace,
            overrides={
                f"{DIFFERENTIATED}.m": m,
                f"{DIFFERENTIATED}.n": 5.0,
                "precondition.fill_ratio": 0.01,
            },
        ).summary["latency"]["all"]["mean_us"]
        for m in (-5.0, 4.0)
    ]
    assert (means[0] < means[1]) is fast_pays


@pytest.mark.parametrize("name", fitted.TABLE)
def test_fitted_loads_match_the_table(name: str) -> None:
    load, made = fitted.TABLE[name], fitted.load(name, fitted.REQUESTS)
    many = len(made.requests)
    share = load.read_percent / 100
    assert abs(made.read_percent / 100 - share) < 5 * (share * (1 - share) / many) ** 0.5 + 1e-3
    mean = sum(one.pages for one in made.requests) / many
    assert mean == pytest.approx(max(1.0, load.kib / 8), rel=0.02)
    assert all(later.at >= earlier.at for earlier, later in pairwise(made.requests))
    span = made.requests[-1].at / 1e9
    bursts = many / fitted.BURST
    gaps = bursts * (fitted.BURST - 1) * fitted.GAP_NS / 1e9 / 0.693
    between = bursts * fitted.BURST * load.duration_s / load.requests
    assert span == pytest.approx(gaps + between, rel=5 / bursts**0.5)
    both = sum(made.used(page) == "both" for page in range(made.pages)) / made.pages
    assert both <= load.overlap_percent / 100 + 0.02


def test_reads_gain_more_with_shorter_gaps_within_bursts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads gain more from faster writes with shorter gaps within bursts."""
    from wordline_studies.ecc.runs import NORMAL, OURS
    from wordline_studies.ecc.runs import SCHEMES as OF_CHAPTER

    gains = []
    for gap in (200_000, 2_000_000, 20_000_000):
        monkeypatch.setattr(fitted, "GAP_NS", gap)
        requests = list(fitted._requests(fitted.TABLE["web0"], 8000))
        with folder() as traces:
            found = {"web0": ranked(requests, OF_ECC.page)}
            schemes = {one: OF_CHAPTER[one] for one in (NORMAL, OURS)}
            runs = passes(Setup(), OF_ECC, traces, found, schemes)
        gains.append(1 - runs["web0", OURS][1].read_us / runs["web0", NORMAL][1].read_us)
    assert gains[0] > gains[1] > gains[2]
    assert gains[0] > 0.3
    assert gains[2] < 0.05


@pytest.mark.skipif(not TRACES, reason="recorded traces are too large for the project")
def test_recordings_match_the_table() -> None:
    """web_3 is the trace of table 8: 31,380 requests, 32.03 % reads."""
    found = recordings(Setup(traces=TRACES), 8192)
    assert len(found["web_3"].requests) == 31_380
    assert found["web_3"].read_percent == pytest.approx(32.03, abs=0.005)
    # More pages of 8 KiB are both read and written than the text gives, and fewer pages of 4 KiB.
    (small,) = recordings(Setup(traces=TRACES), 4096, ["web_3"]).values()
    assert found["web_3"].both_percent == pytest.approx(11.1, abs=0.05)
    assert small.both_percent == pytest.approx(9.1, abs=0.05)
    assert LI in SCHEMES
