"""A calibration recovers the constants and times from which its measurements were made."""

import csv
import json
import math
import random
import re
import tomllib
from pathlib import Path

import pytest
from conftest import Command

import wordline
from wordline import WordlineError, config
from wordline._calibration.error_fit import CONSTANTS, Point, cost, fit_errors, predicted

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

# Published fits of Kim, Choi, Min, FAST 2019: planar MLC of 2y nm and 72-layer TLC. The points
# below are computed from them with added noise; they are not measurements.
MLC = {
    "e": 8.34e-5,
    "a": 3.30e-11,
    "k": 1.71,
    "b": 5.56e-19,
    "m": 2.49,
    "n": 3.33,
    "g": 6.26e-13,
    "p": 1.76,
    "q": 0.47,
}
TLC = {
    "e": 1.48e-3,
    "a": 3.90e-10,
    "k": 2.05,
    "b": 6.28e-5,
    "m": 0.14,
    "n": 0.54,
    "g": 3.73e-9,
    "p": 0.33,
    "q": 1.71,
}
READS = {"mlc": (100, 1e4, 1e5), "tlc": (10, 100, 1000)}
TRUTH = {"mlc": MLC, "tlc": TLC}


def points(cells: str, seed: int, bits: float = 0) -> list[Point]:
    """Returns points with noise of 3 % of the rate, or with Poisson counts of errors in `bits`
    bits."""
    draw = np.random.default_rng(seed)
    made: list[Point] = []
    for cycles in (100, 500, 1500, 3000, 6000):
        conditions = [(days, 0) for days in (0, 10, 60, 180)]
        for days, reads in conditions + [(0, reads) for reads in READS[cells]]:
            rate = predicted(TRUTH[cells], cycles, days, reads)
            errors = float(draw.poisson(rate * bits)) if bits else 0.0
            noisy = errors / bits if bits else rate * math.exp(draw.normal(0, 0.03))
            made.append(Point(cycles, days, reads, noisy, errors, bits))
    return made


@pytest.mark.parametrize(("cells", "bits"), [("mlc", 0), ("tlc", 0), ("mlc", 1e7)])
def test_confidence_intervals_of_constants_have_their_nominal_coverage(
    cells: str, bits: float
) -> None:
    inside, intervals = 0, 0
    for seed in range(12):
        sample = points(cells, seed, bits)
        fit = fit_errors(sample)
        found = {name: one["value"] for name, one in fit.constants.items()}
        assert fit.cost <= cost(sample, TRUTH[cells]) * (1 + 1e-9), seed
        assert cost(sample, found) == pytest.approx(fit.cost, rel=1e-6)
        for name, one in fit.constants.items():
            if one["low"] is not None and one["high"] is not None:
                intervals += 1
                inside += one["low"] <= TRUTH[cells][name] <= one["high"]
    assert intervals >= 0.9 * 12 * len(CONSTANTS)
    # 95 % of 108 constants, with a margin of four standard deviations of independent constants,
    # because their errors are correlated.
    assert inside >= (0.95 - 4 * math.sqrt(0.95 * 0.05 / intervals)) * intervals


def test_a_fit_without_noise_is_exact() -> None:
    conditions = [(c, t) for c in (10, 100, 1000, 3000) for t in (0, 1, 30, 365)]
    exact = [Point(c, t, 0, predicted(TLC, c, t, 0)) for c, t in conditions]
    fit = fit_errors(exact)
    for name in ("e", "a", "k", "b", "m", "n"):
        assert fit.constants[name]["value"] == pytest.approx(TLC[name], rel=1e-3)
    assert fit.constants["g"] == {"name": "g", "value": 0, "low": None, "high": None, "held": True}


def test_noise_widens_the_intervals() -> None:
    draw = random.Random(4)
    noise = [draw.gauss(0, 1) for _ in range(12)]

    def width(sigma: float) -> float:
        rates = [1e-5 + 1e-9 * (1 + 300 * place) ** 1.5 for place in range(12)]
        sample = [
            Point(1 + 300 * place, 0, 0, rate * math.exp(sigma * noise[place]))
            for place, rate in enumerate(rates)
        ]
        one = fit_errors(sample).constants["k"]
        assert one["low"] is not None
        assert one["high"] is not None
        return one["high"] - one["low"]

    assert width(0.1) == pytest.approx(10 * width(0.01), rel=0.4)


def write_points(name: str, sample: list[Point]) -> None:
    rows = [f"{p.cycles},{p.days},{p.reads},{p.rate!r}\n" for p in sample]
    Path(name).write_text("cycles,retention_days,reads,rber\n" + "".join(rows))


def test_the_written_preset_reproduces_the_fit(wordline: Command, place: Path) -> None:
    write_points("rber.csv", points("tlc", 1))
    told = wordline("calibrate", "--data", "rber.csv", "--base", "onfi3-mlc", "--out", "mine")
    assert told.returncode == 0, told.stderr
    assert "95 % interval" in told.stdout
    assert wordline("config", "check", "mine/device.toml").returncode == 0
    summary = json.loads((place / "mine/summary.json").read_text())["errors"]
    shown = tomllib.loads(config.show(str(place / "mine/device.toml")))
    fitted = shown["nand"]["reliability"]["errors"]["fitted"]
    found = {name: one["value"] for name, one in summary["constants"].items()}
    assert {name: fitted[name] for name in CONSTANTS} == found
    assert fitted["reads"] == "block"
    rows = list(csv.DictReader((place / "mine/residuals.csv").read_text().splitlines()))
    assert len(rows) == 35
    assert fitted["limit"] == max(0.05, *(one["fitted"] for one in summary["residuals"]))
    for row in rows:
        expected = math.log(float(row["fitted"]) / float(row["rber"]))
        assert float(row["residual"]) == pytest.approx(expected, abs=1e-6)


PAGE = Path(__file__).parents[2] / "docs/how-to/calibrate.md"


def test_the_documented_examples_run_unchanged(wordline: Command, place: Path) -> None:
    write_points("rber.csv", points("tlc", 1))
    pages = [300_000, 900_000, 2_000_000]
    lines = [f"{index}, {pages[index % 3]}, 1, 16384, 0\n" for index in range(90)]
    (place / "d_lat.1.log").write_text("".join(lines))
    fences = re.findall(r"^ *```(sh|python)\n(.*?)^ *```$", PAGE.read_text(), re.M | re.S)
    calls = [line.split() for kind, block in fences if kind == "sh" for line in block.splitlines()]
    assert {call[1] for call in calls} == {"calibrate", "config"}
    for call in calls:
        told = wordline(*call[1:])
        assert told.returncode == 0, told.stderr
    (code,) = [block for kind, block in fences if kind == "python"]
    exec(code, {})
    assert (place / "out/mine/residuals.csv").exists()


HEAD = "cycles,rber\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no measurements"),
        ("rber\n1e-5\n", "no column cycles"),
        ("cycles\n1\n", "no column rber"),
        ("cycles,errors\n1,2\n", "errors and bits belong together"),
        ("cycles,rber,colour\n1,1e-5,red\n", "column 'colour' is unknown"),
        ("cycles,cycles\n1,1\n", "occurs twice"),
        (HEAD + "1,1e-5\n-2,1e-5\n", r"bad\.csv:3: column cycles: -2 is not between"),
        (HEAD + "1,nan\n", r"bad\.csv:2: column rber: nan is not between"),
        (HEAD + "1,inf\n", r"bad\.csv:2: column rber: inf is not between"),
        (HEAD + "1,many\n", r"bad\.csv:2: column rber: 'many' is not a number"),
        (HEAD + "1,\n", r"column rber: '' is not a number"),
        (HEAD + "1,0\n", "0 has no logarithm"),
        (HEAD + "1,0.7\n", "not between 0 and 0.5"),
        (HEAD + "# a comment\n1,1e-5,3\n", r"bad\.csv:3: 3 values for 2 columns"),
        (HEAD + '1,"1e-5\n', "is not CSV"),
        (HEAD + "1,1e-5\n", r"bad\.csv: too few points \(1\) to fit e; measure at least 2"),
        (HEAD + "1,1e-5\n2,1e-5\n3,2e-5\n", r"too few points \(3\) to fit e, a, k; measure"),
        ("cycles,errors,bits\n1,0,1e6\n2,0,1e6\n", "all counts are 0"),
        ("cycles,errors,bits\n1,5,0\n", "column bits"),
        ("cycles,errors,bits\n1,8,10\n", "give the number of all bits that were read"),
    ],
)
def test_invalid_points_are_rejected_in_a_sentence(place: Path, text: str, said: str) -> None:
    (place / "bad.csv").write_text(text)
    with pytest.raises(WordlineError, match=said):
        wordline.calibrate("bad.csv")


def test_the_command_fails_without_a_traceback(wordline: Command, place: Path) -> None:
    (place / "bad.csv").write_bytes(b"cycles,rber\n\xff\xfe,1\n")
    for words in (
        ["--data", "bad.csv"],
        ["--data", "none.csv"],
        ["--data", "."],
        [],
        ["--latency", "bad.csv"],
    ):
        told = wordline("calibrate", *words)
        assert told.returncode == 2
        assert told.stderr.startswith("error: ")
        assert told.stderr.count("\n") == 1


def test_constants_that_the_points_do_not_determine_are_held_fixed(place: Path) -> None:
    (place / "rber.csv").write_text(HEAD + "1000,1e-5\n1000,2e-5\n1000,4e-5\n")
    found = wordline.calibrate("rber.csv")
    assert found.constants["e"]["value"] == pytest.approx(2e-5, rel=1e-4)  # geometric mean
    assert found.constants["a"]["held"]
    assert any("one value of cycles" in note for note in found.summary["notes"])
    # Three logarithms about their mean: Student's t with two degrees of freedom is 4.3027.
    half = 4.3027 * math.log(2) / math.sqrt(3)
    assert found.constants["e"]["high"] == pytest.approx(2e-5 * math.exp(half), rel=1e-3)


def test_fresh_blocks_and_constant_rates_can_be_fitted(place: Path) -> None:
    rows = "".join(f"{cycles},1e-5\n" for cycles in (0, 0, 500, 1000, 2000))
    (place / "rber.csv").write_text(HEAD + rows)
    found = wordline.calibrate("rber.csv")
    values = {name: one["value"] for name, one in found.constants.items()}
    assert predicted(values, 700, 0, 0) == pytest.approx(1e-5, rel=1e-3)


DEVICE = """\
schema = 1
base = "onfi3-mlc"
name = "levels"
[nand.timing]
read_ns = [41_000, 83_000]
program_ns = [431_000, 1_737_000]
[precondition]
fill_ratio = 0.0
"""


def run_alone(device: str, op: str, overrides: dict[str, object]) -> list[float]:
    """Returns latencies in µs of single-page requests that never wait for each other."""
    found = wordline.run(device, trace=f"{op}.csv", overrides=overrides, requests=True)
    rows = found.requests.polars()
    return [row["latency_ps"] / 1e6 for row in rows.iter_rows(named=True) if row["op"] == op]


def test_calibration_recovers_the_page_times_of_a_run(place: Path) -> None:
    (place / "levels.toml").write_text(DEVICE)
    head = "time_ns,op,offset_bytes,size_bytes,volume\n"
    pages = 600
    writes = [f"{index * 20_000_000},write,{index * 16384},16384,0\n" for index in range(pages)]
    later = pages * 20_000_000
    reads = [
        f"{later + index * 20_000_000},read,{index * 16384},16384,0\n" for index in range(pages)
    ]
    (place / "write.csv").write_text(head + "".join(writes))
    (place / "read.csv").write_text(head + "".join(writes + reads))
    rows: list[str] = []
    overhead: dict[str, float] = {}
    for op, key in (("read", "read_ns"), ("write", "program_ns")):
        # Time other than array time, from a run of the device with another known array time.
        known = run_alone("levels.toml", op, {f"nand.timing.{key}": 100_000})
        overhead[op] = sorted(known)[len(known) // 2] - 100.0
        rows += [f"{op},{us:.3f}\n" for us in run_alone("levels.toml", op, {})]
    (place / "latency.csv").write_text("op,latency_us\n" + "".join(rows))
    found = wordline.calibrate(
        latency="latency.csv",
        base="onfi3-mlc",
        read_overhead_us=overhead["read"],
        write_overhead_us=overhead["write"],
        out="mine",
    )
    times = {(one["op"], one["level"]): one["time_us"] for one in found.levels}
    for key, us in {
        ("read", 0): 41,
        ("read", 1): 83,
        ("write", 0): 431,
        ("write", 1): 1737,
    }.items():
        assert times[key] == pytest.approx(us, abs=0.002)  # Samples have a resolution of 1 ns.
    timing = tomllib.loads(config.show("mine/device.toml"))["nand"]["timing"]
    assert timing["read_ns"] == pytest.approx([41_000, 83_000], abs=2)
    assert timing["program_ns"] == pytest.approx([431_000, 1_737_000], abs=2)


def test_a_fio_log_yields_medians_and_intervals(place: Path) -> None:
    draw = random.Random(1)
    truth = [300_000, 900_000, 2_000_000]
    lines: list[str] = []
    inside = 0
    for _ in range(20):
        lines = [
            f"{index}, {round(truth[index % 3] * math.exp(draw.gauss(0, 0.05)))}, 1, 16384, 0\n"
            for index in range(300)
        ]
        (place / "d_lat.1.log").write_text("".join(lines))
        found = wordline.calibrate(latency="d_lat.1.log", base="onfi4-tlc")
        assert [one["samples"] for one in found.levels] == [100] * 3
        inside += sum(
            one["low_us"] <= ns / 1000 <= one["high_us"]
            for one, ns in zip(found.levels, truth, strict=True)
        )
    # With a probability of 0.001, fewer of 60 intervals at 95 % contain the true value (binomial).
    assert inside >= 52


MEASURED = Path(__file__).parent / "measured" / "read_latency_su800.csv"


def test_page_types_of_a_measured_drive_are_separated(place: Path) -> None:
    """Each page type has a third of the pages of TLC, and therefore a third of uniform reads. The
    median of each group is at a peak of the published histogram."""
    rows = csv.DictReader(line for line in MEASURED.read_text().splitlines() if line[0] != "#")
    bins = [(int(row["from_us"]), float(row["percent"])) for row in rows]
    samples = [f"read,{us + 1}\n" * round(100 * percent) for us, percent in bins]
    (place / "su800.csv").write_text("op,latency_us\n" + "".join(samples))
    found = wordline.calibrate(latency="su800.csv", base="onfi4-tlc")
    total = sum(one["samples"] for one in found.levels)
    peaks = sorted(sorted(bins, key=lambda one: -one[1])[:9])
    assert len(found.levels) == 3
    for level in found.levels:
        assert level["samples"] / total == pytest.approx(1 / 3, abs=0.01)
        assert any(us <= level["time_us"] < us + 4 for us, _ in peaks), level
    # As the documentation page states.
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "calibrate.md").read_text()
    for level in found.levels:
        times = f"{level['time_us']:.0f} us | {level['spread_us']:.0f} us"
        assert f"| {level['level']} | {level['samples']:,} | {times} |" in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("op,latency_us\nread,5\n", r"1 sample, too few for 3 levels"),
        ("op\nread\n", "no column latency_us"),
        ("op,latency_us\nerase,5\n", r"bad\.csv:2: column op: 'erase'"),
        ("op,latency_us\nread,-5\n", r"bad\.csv:2: column latency_us: -5"),
        ("op,latency_us\nread,0\n", "is not above 0"),
        ("op,level,latency_us\n" + "read,1,5\n" * 9, "number the page types from 0"),
        ("op,level,latency_us\nread,0.5,5\n", "not a whole number"),
        ("1, 500, 7, 4096\n", r"bad\.csv:1: is not a line of a fio latency log"),
        ("1, 500, 0, 4096\n2, 600, 0, 8192\n", r"bad\.csv:2: column 4"),
        ("1, 500, 2, 4096\n", "neither reads nor writes"),
    ],
)
def test_invalid_samples_are_rejected_in_a_sentence(place: Path, text: str, said: str) -> None:
    (place / "bad.csv").write_text(text)
    with pytest.raises(WordlineError, match=said):
        wordline.calibrate(latency="bad.csv")


def test_calibration_without_measurements_is_rejected() -> None:
    with pytest.raises(WordlineError, match="no measurements are given"):
        wordline.calibrate()


@pytest.mark.parametrize("base", [preset["name"] for preset in wordline.presets()])
def test_every_preset_with_flash_can_be_the_base(place: Path, base: str) -> None:
    (place / "rber.csv").write_text(HEAD + "".join(f"{c},{1e-6 + c * 1e-9}\n" for c in range(9)))
    shown = tomllib.loads(config.show(base))
    if "nand" not in shown:
        with pytest.raises(WordlineError, match="has no flash"):
            wordline.calibrate("rber.csv", base=base)
        return
    wordline.calibrate("rber.csv", base=base, out="mine")
    there = tomllib.loads(config.show("mine/device.toml"))
    assert list(there["nand"]["reliability"]["errors"]) == ["fitted"]


def test_the_base_must_be_a_preset(tiny: str) -> None:
    Path("rber.csv").write_text(HEAD + "1,1e-6\n2,2e-6\n3,3e-6\n4,4e-6\n")
    with pytest.raises(WordlineError, match="name a preset"):
        wordline.calibrate("rber.csv", base=tiny)


def test_without_scipy_the_error_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(WordlineError, match=r"pip install 'wordline\[calibrate\]'"):
        wordline.calibrate("rber.csv")
