"""Studies `agcr` and `ecc`: numbered pages, access kinds, passes, and reasons for differences."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import isnan
from pathlib import Path

import pytest

import wordline
import wordline_studies as studies
from wordline_studies.agcr.runs import DEVICE, LI, LOADS, RW, SCHEMES, TRADITIONAL
from wordline_studies.bursts import WRITES
from wordline_studies.ecc import runs as ecc_runs
from wordline_studies.ecc.runs import DEVICE as OF_ECC
from wordline_studies.ecc.runs import DIFFERENTIATED, NORMAL, OURS, changes, of_table
from wordline_studies.ecc.runs import SCHEMES as OF_CHAPTER
from wordline_studies.figure import Setup
from wordline_studies.outcome import IN_POINTS, outcomes
from wordline_studies.regulation import fitted
from wordline_studies.regulation.recordings import Recording, Request, ranked, recordings
from wordline_studies.regulation.runs import Told, change, mean_change, passes, together
from wordline_studies.results import run

SHARED = Path(__file__).parents[3] / "shared" / "traces"
TRACES = tuple(sorted(SHARED.iterdir())) if SHARED.is_dir() else ()


@pytest.mark.parametrize("name", ["agcr", "ecc"])
def test_every_statement_has_an_outcome_without_recordings(name: str) -> None:
    """Every number is simulated or has a reason, and every claim has the expected outcome."""
    results = run(studies.load(name), Setup(quick=True))
    assert results.failed == []
    for figure in results.figures:
        found = zip(figure.rows, outcomes(figure.rows), strict=True)
        assert [row.what for row, outcome in found if outcome == "not_run"] == []
        assert all(claim.holds is not None for claim in figure.claims)


def test_combined_passes_have_the_mean_of_all_requests() -> None:
    """One pass has one read of 10 µs, the other has three of 50 µs. Re-write ratios are weighted by
    requests."""
    counts = {"host_reads": {"low": 1}, "host_writes": {"low": 0}}
    one = Told(1, 0, 10.0, 0.0, 4.0, 1.0, 2.0, 5, counts)
    three = Told(3, 0, 50.0, 0.0, 8.0, 2.0, 0.0, 7, counts)
    both = together(one, three)
    assert (both.reads, both.writes, both.erases, both.wear) == (4, 0, 12, 3.0)
    assert (both.read_us, both.write_us, both.wait_us, both.rewrites) == (40, 0, 7, 0.5)
    assert both.share("host_reads", "low") == 100
    assert isnan(both.share("host_writes", "low"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agcr", "ecc"])
def test_no_claim_has_an_unexpected_outcome_at_the_default_size(name: str) -> None:
    assert run(studies.load(name), Setup()).failed == []


def test_a_mean_of_no_recordings_is_not_a_number() -> None:
    assert isnan(mean_change({}, [], RW, TRADITIONAL, 0, "read_us"))
    assert isnan(change(1.0, 0.0))
    assert change(3.0, 2.0) == 50


@pytest.mark.slow
@pytest.mark.skipif(not TRACES, reason="recorded traces are too large for the project")
@pytest.mark.parametrize("name", ["agcr", "ecc"])
def test_recordings_are_shown_without_published_values_or_claims(name: str) -> None:
    results = run(studies.load(name), Setup(traces=TRACES, quick=True))
    beside = [figure for figure in results.figures if figure.id.endswith("recordings")]
    assert beside
    assert all(row.published is None for figure in beside for row in figure.rows)
    assert [claim for figure in beside for claim in figure.claims] == []


def of(*told: tuple[str, int, int]) -> list[Request]:
    """Returns requests a millisecond apart, given as `r` or `w`, first page and size in pages."""
    return [
        Request(number * 10**6, op == "w", first, pages)
        for number, (op, first, pages) in enumerate(told)
    ]


def test_pages_are_numbered_in_address_order() -> None:
    recording = ranked(of(("w", 900, 2), ("r", 100, 1), ("r", 901, 2)), 4096)
    assert recording.pages == 4
    assert [(one.first, one.pages) for one in recording.requests] == [(1, 2), (0, 1), (2, 2)]


def test_pages_are_classified_by_their_accesses() -> None:
    """Page 0 is read three times, page 1 is written twice, page 2 is written and then read."""
    told = of(("r", 0, 1), ("w", 1, 2), ("r", 0, 1), ("w", 1, 1), ("r", 2, 1), ("r", 0, 1))
    recording = ranked(told, 4096)
    assert [recording.used(page) for page in range(3)] == ["read", "write", "both"]
    assert recording.both_percent == pytest.approx(100 / 3)
    assert recording.of_their_kind(writes=False) == pytest.approx(75)
    assert recording.of_their_kind(writes=True) == pytest.approx(100 * 2 / 3)
    # The kind is wrong at two of seven accesses, those of page 2. With a window of two accesses, it
    # is right at the last of them.
    assert recording.accuracy(1) == pytest.approx(100 * 5 / 7)
    assert recording.accuracy(2) == pytest.approx(100 * 6 / 7)


def test_writes_cost_less_in_the_second_pass_because_pages_have_a_history() -> None:
    """A write-only page has high-cost writes in the first pass and low-cost ones in the second. A
    read-only page takes 70 us in both, because it was written at high cost before the run."""
    told = [("w", 2 * page, 1) for page in range(50)] + [
        ("r", 2 * page + 1, 1) for page in range(50)
    ]
    found = {"both": ranked(of(*told), DEVICE.page)}
    schemes = {one: SCHEMES[one] for one in (TRADITIONAL, RW)}
    runs = passes(Setup(), DEVICE, found, schemes)
    first, second = runs["both", RW]
    assert (first.writes, second.writes, second.reads) == (50, 50, 50)
    assert (first.write_us, second.write_us) == pytest.approx((800, 450))
    assert (first.read_us, second.read_us) == pytest.approx((70, 70))
    assert runs["both", TRADITIONAL][1].write_us == pytest.approx(600)
    assert second.wear == pytest.approx(50)


def test_reads_wait_longer_for_reduced_wear_writes_than_for_low_cost_writes() -> None:
    """Reason why reads of figure 5 are no faster than those of figure 3. A read takes 310 us after
    either write, but waits longer for reduced-wear writes, which take longer."""
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
    """Writes a trace of 200 pages and returns its path. In each of 12 rounds, each page is written
    once and then read `reads` times."""

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
    """A fast write saves 650 us, and each read after it takes 100 us more. Reason why the lowest m
    is best on loads with fewer reads per write."""
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


@pytest.mark.parametrize("page_bytes", [4096, 8192])
@pytest.mark.parametrize("name", fitted.TABLE)
def test_fitted_loads_match_the_table(name: str, page_bytes: int) -> None:
    load, made = fitted.TABLE[name], fitted.load(name, 12_000, page_bytes)
    many = len(made.requests)
    share = load.read_percent / 100
    bursts = many / WRITES.mean
    deviation = (share * (1 - share) / bursts * WRITES.mean) ** 0.5
    assert made.read_percent / 100 == pytest.approx(share, abs=5 * deviation + 1e-3)
    mean = sum(one.pages for one in made.requests) / many
    assert mean == pytest.approx(max(1.0, load.kib * 1024 / page_bytes), rel=0.02)
    assert all(later.at >= earlier.at for earlier, later in pairwise(made.requests))
    span = made.requests[-1].at / 1e9
    assert span == pytest.approx(many * load.duration_s / load.requests, rel=6 / bursts**0.5)
    assert made.both_percent <= load.overlap_percent + 2


def test_requests_of_a_burst_have_one_direction() -> None:
    """Within a millisecond, 99 % of the requests of recordings have the direction of the previous
    one."""
    shares: list[float] = []
    for arrivals in ("bursts", "mixed"):
        requests = fitted.load("web0", 4000, 8192, arrivals).requests
        near = [(a, b) for a, b in pairwise(requests) if b.at - a.at < 1_000_000]
        shares.append(sum(a.writes == b.writes for a, b in near) / len(near))
    assert shares[0] > 0.98
    assert shares[1] < 0.7


def test_financial1_writes_the_volume_of_table_6() -> None:
    """The load has the mean size of table 6. Table 8 gives that of WebSearch1 instead."""
    load = fitted.TABLE["financial1"]
    written = 1 - load.read_percent / 100
    assert written * load.volume_bytes / 2**30 == pytest.approx(28.8, rel=0.05)
    assert written * load.requests * 15.15 * 1024 / 2**30 > 2 * 28.8 - 1


def test_financial1_writes_as_much_different_data_as_table_6_says() -> None:
    """3.6 of 28.8 GB. A write of 7.2 KB takes a page of 8 KiB."""
    made = fitted.load("financial1", 12_000, 8192)
    writes = [one for one in made.requests if one.writes]
    different = len({one.first for one in writes})
    assert different / len(writes) == pytest.approx(3.6 / 28.8 * 7.2 / 8, rel=0.05)


def test_device_has_the_address_space_of_its_load() -> None:
    """The 1.2 million requests of mds0, 9.2 KB each, transfer a third of the volume of its address
    space of 33.9 GB."""
    found = of_table(("mds0", "web3"), 15_000)
    pages = fitted.space_pages("mds0", found["mds0"])
    accesses = sum(one.pages for one in found["mds0"].requests)
    assert accesses / pages == pytest.approx(1_211_034 * 9.2 * 1024 / 33.92e9, rel=1e-3)
    blocks = {
        name: one["nand.geometry.blocks_per_plane"] for name, one in ecc_runs.sized(found).items()
    }
    assert blocks["mds0"] == pytest.approx(pages / 0.85 / 8 / 128, abs=1)
    assert blocks["web3"] == ecc_runs.MOST_BLOCKS


def reads_of(found: dict[str, Recording], scheme: str, **more: float) -> dict[str, float]:
    """Returns the change in the response time of reads under a scheme of the chapter, relative to
    the normal scheme, on a device without GC. Per cent, by load."""
    own = {f"{DIFFERENTIATED}.{key}": value for key, value in more.items()}
    schemes = {NORMAL: OF_CHAPTER[NORMAL], scheme: {**OF_CHAPTER[scheme], **own}}
    runs = passes(Setup(), OF_ECC, found, schemes)
    return changes(found, runs, "read", scheme)


def test_a_small_share_of_ldpc_reads_slows_reads_on_average() -> None:
    """Reason why reads are slower than normal on most loads: it is enough that 5 % of the reads
    access pages that are also written."""
    rows = {5.0: fitted.TABLE["mds0"]}
    rows[1.0] = replace(rows[5.0], overlap_percent=1.0)
    found = {
        share: reads_of({"mds0": fitted.made(row, 15_000, 8192)}, OURS)["mds0"]
        for share, row in rows.items()
    }
    assert found[5.0] > IN_POINTS
    assert 0 < found[1.0] <= IN_POINTS


@pytest.mark.parametrize("name", ["hm0", "hm1"])
def test_few_pages_are_read_twice_while_filters_remember_them(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reason why m has little effect on hm0, and, with the share of writes to pages that are also
    read, why most writes of hm1 are fast."""
    shares: list[list[float]] = []
    overall: list[float] = []
    for part in (1, 50):
        monkeypatch.setattr(fitted, "PAGES_PER_REQUEST", 2 / 3 / part)
        found = {name: fitted.made(fitted.TABLE[name], 15_000, 8192)}
        schemes = {
            f"m = {m}": {**OF_CHAPTER[OURS], f"{DIFFERENTIATED}.m": m} for m in (-4.0, -1.0, 4.0)
        }
        runs = passes(Setup(), OF_ECC, found, schemes)
        shares.append([runs[name, one][1].share("host_writes", "low") for one in schemes])
        first, _, last = (runs[name, one][1].all_us for one in schemes)
        overall.append(100 * (last / first - 1))
    if name == "hm1":
        assert shares[0][1] > 90
        # Pages that are both read and written have 28 % of the writes.
        assert 72 < shares[1][1] < 80
    else:
        assert overall[0] < 2 * IN_POINTS
        assert overall[1] > 2 * IN_POINTS


@pytest.mark.skipif(not TRACES, reason="recorded traces are too large for the project")
def test_the_recording_of_web_3_matches_the_table() -> None:
    """web_3 is the trace of table 8: 31,380 requests, 32.03 % reads."""
    found = recordings(Setup(traces=TRACES), 8192)
    assert len(found["web_3"].requests) == 31_380
    assert found["web_3"].read_percent == pytest.approx(32.03, abs=0.005)
    # More pages of 8 KiB are both read and written than the text gives, and fewer pages of 4 KiB.
    (small,) = recordings(Setup(traces=TRACES), 4096, ["web_3"]).values()
    assert found["web_3"].both_percent == pytest.approx(11.1, abs=0.05)
    assert small.both_percent == pytest.approx(9.1, abs=0.05)
    assert LI in SCHEMES


def test_ten_loads_of_msr_cambridge_are_used() -> None:
    """The document uses ten traces of this collection, and names rsrch_2."""
    assert len(LOADS) == 10
    assert "rsrch2" in LOADS
    assert "financial1" not in LOADS


def test_changes_of_the_detected_kind_are_counted() -> None:
    """Page 0 is only read. Page 1 is detected as written, interleaved, and written again."""
    told = of(("r", 0, 1), ("w", 1, 1), ("r", 0, 1), ("r", 1, 1), ("w", 1, 1), ("w", 1, 1))
    recording = ranked(told, 4096)
    assert recording.changes(2) == {"read": 0, "both": pytest.approx(200 / 3)}
    assert recording.interleaved_percent == pytest.approx(100 * 4 / 6)
    assert recording.expected_percent == 100
