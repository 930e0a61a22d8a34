"""Figures 23 to 26: the schemes."""

from collections.abc import Mapping
from math import nan
from statistics import fmean

from wordline._render import units
from wordline._render.charts import bars
from wordline_studies.ecc.runs import AGCR, ALL, COLOURS, DEVICE, NORMAL, OURS, PUBLISHED, SCHEMES
from wordline_studies.figure import Claim, Figure, Plot, Published, Row, Setup
from wordline_studies.regulation.recordings import (
    Recording,
    folder,
    measured,
    recordings,
    too_few,
)
from wordline_studies.regulation.runs import (
    Key,
    Told,
    change,
    mean_change,
    passes,
    reading,
    writing,
)

TURNS = ("first pass", "second pass")
Runs = Mapping[Key, list[Told]]
FITTED_ONLY = (
    "the published values are those of whole traces with an overlap of 41 and 42 %, and the "
    "excerpts have little overlap"
)


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures that share the runs of all schemes."""
    found = recordings(setup, DEVICE.page)
    with folder() as traces:
        runs = passes(setup, DEVICE, traces, found, SCHEMES)
    told = too_few(setup, found)
    small = recordings(setup, DEVICE.page // 2, ["web_3"])
    overlap = {
        one["web_3"].page_bytes: one["web_3"].both_percent
        for one in (found, small)
        if "web_3" in one
    }
    made = [_latencies(found, runs, overlap, told), _operations(found, runs, told)]
    return measured(found, made)


def _overlapped(overlap: Mapping[int, float], told: str) -> Claim:
    """Returns the claim on figure 17 for web_3, the only one of the figure's traces that is
    available in full."""
    listed = ", ".join(f"{value:.1f} % of {units.size(page)}" for page, value in overlap.items())
    whole, half = (overlap.get(page, nan) for page in (DEVICE.page, DEVICE.page // 2))
    return Claim(
        "X9: fewer than 10 % of the pages of web_3 are both read and written",
        whole < 10 if overlap else None,
        listed,
        because=""
        if told or not whole >= 10 > half
        else "it holds for pages of 4 KiB; figure 17 does not give the page size, and a larger "
        "page can combine data that are only read with data that are only written",
        report_only=told,
    )


def _latencies(
    found: Mapping[str, Recording], runs: Runs, overlap: Mapping[int, float], told: str
) -> Figure:
    names = {"read_us": reading(found), "write_us": writing(found), "all_us": list(found)}
    mean = {
        (of, scheme, base): [mean_change(runs, those, scheme, base, turn, of) for turn in (0, 1)]
        for of, those in names.items()
        for scheme, base in ((OURS, NORMAL), (AGCR, NORMAL), (OURS, AGCR))
    }
    by_load = {
        of: {
            name: {
                scheme: change(
                    getattr(runs[name, scheme][1], of), getattr(runs[name, NORMAL][1], of)
                )
                for scheme in ALL[1:]
            }
            for name in those
        }
        for of, those in names.items()
    }
    write = {name: one[OURS] for name, one in by_load["write_us"].items()}
    read = {name: one[OURS] for name, one in by_load["read_us"].items()}
    many = sum(value < -40 for value in write.values())
    still = sum(-25 <= value <= 5 for value in read.values())
    ours_writes, ours_reads = mean["write_us", OURS, NORMAL], mean["read_us", OURS, NORMAL]
    web_3 = found["web_3"].read_percent if "web_3" in found else None
    return Figure(
        id="23",
        title="Figures 23 and 24: response times",
        section="5.4.2.2",
        measured=(
            "Mean response times of recordings relative to normal writes and BCH. In the second "
            "pass, the filters and histories are those left by the first."
        ),
        rows=[
            Row("web_3: share of reads", web_3, "%", PUBLISHED("8", "web_3: requests that read")),
            *(
                Row(
                    f"web_3: pages of {units.size(page)} that are both read and written", value, "%"
                )
                for page, value in overlap.items()
            ),
            *(
                Row(
                    f"{of.split('_')[0]}, {scheme} relative to {base}, {turn}",
                    values[place],
                    "%",
                    _published(of, scheme, base),
                )
                for (of, scheme, base), values in mean.items()
                for place, turn in enumerate(TURNS)
            ),
            *(
                Row(
                    f"{name}, {scheme}: {of.split('_')[0]}",
                    value,
                    "%",
                    _of_load(name, scheme) if of == "all_us" else None,
                )
                for of, one in by_load.items()
                for name, own in one.items()
                for scheme, value in own.items()
            ),
        ],
        plots=[
            Plot(
                f"{of.split('_')[0].capitalize()}, second pass",
                "Relative to the normal scheme.",
                bars(one, {scheme: COLOURS[scheme] for scheme in ALL[1:]}, "%"),
            )
            for of, one in by_load.items()
            if one
        ],
        claims=[
            _overlapped(overlap, told),
            Claim(
                "X1: writes are 48 % faster (within 5 points, second pass)",
                abs(ours_writes[1] + 48) <= 5,
                f"{ours_writes[1]:+.1f} %",
                report_only=told,
            ),
            Claim(
                "X1: writes are more than 40 % faster on most loads",
                many > len(write) / 2,
                f"{many} of {len(write)} recordings",
                report_only=told,
            ),
            Claim(
                "X2: reads are 11 % faster on average (-25 to +5 %)",
                -25 <= ours_reads[1] <= 5,
                f"{ours_reads[1]:+.1f} %",
                report_only=told,
            ),
            Claim(
                "X2: reads are unchanged on most loads (-25 to +5 %)",
                still > len(read) / 2,
                f"{still} of {len(read)} recordings",
                report_only=told,
            ),
            Claim(
                "X3: over all requests of recordings, Financial1 is at -52 % (AGCR -45), hm_0 "
                "at -47 % (AGCR -30)",
                all(
                    abs(by_load["all_us"][name][OURS] - published) <= 6
                    for name, published in (("Financial1", -52), ("hm_0", -47))
                    if name in by_load["all_us"]
                )
                if {"Financial1", "hm_0"} <= by_load["all_us"].keys()
                else None,
                _listed({name: one[OURS] for name, one in by_load["all_us"].items()}),
                report_only=told or FITTED_ONLY,
            ),
        ],
        explanation=[
            "web_3 is the trace of table 8. Financial1 and hm_0 are excerpts, in which a few per "
            "cent of the pages overlap; in the whole traces 41 and 42 % do. The others are "
            "recordings of other systems.",
            "AGCR writes pages without history at 2.6 ms, so its writes are slower than normal "
            "ones in a first pass. The published numbers are reached only with a history.",
        ],
        data={"change_percent": by_load},
    )


def _published(of: str, scheme: str, base: str) -> Published | None:
    names = {
        ("write_us", OURS, NORMAL): "writes",
        ("read_us", OURS, NORMAL): "reads",
        ("write_us", OURS, AGCR): "writes against AGCR",
        ("read_us", OURS, AGCR): "reads against AGCR",
    }
    name = names.get((of, scheme, base))
    return PUBLISHED("24", name) if name else None


def _of_load(name: str, scheme: str) -> Published | None:
    if name not in ("Financial1", "hm_0"):
        return None
    return PUBLISHED("23", name if scheme == OURS else f"{name}, AGCR")


def _operations(found: Mapping[str, Recording], runs: Runs, told: str) -> Figure:
    fast = {name: _share(runs[name, OURS][1], "host_writes", "low") for name in writing(found)}
    bch = {name: _share(runs[name, OURS][1], "host_reads", "medium") for name in reading(found)}
    good = [*fast.values(), *bch.values()]
    most = sum(value > 80 for value in good)
    erases = {
        name: {scheme: runs[name, scheme][1].erases for scheme in ALL}
        for name in found
        if runs[name, NORMAL][1].erases
    }
    within = sum(one[OURS] <= 1.02 * one[NORMAL] for one in erases.values())
    fewer = sum(one[OURS] <= one[AGCR] for one in erases.values())
    still = told or ("" if erases else "there is no GC")
    return Figure(
        id="25",
        title="Figures 25 and 26: operations and erases",
        section="5.4.2.2",
        measured="Shares of fast writes and of reads with BCH, and erases, in the second pass.",
        rows=[
            *(Row(f"{name}: fast writes", value, "%") for name, value in fast.items()),
            *(Row(f"{name}: reads with BCH", value, "%") for name, value in bch.items()),
            *(
                Row(f"{name}, {scheme}: erases", float(value), "")
                for name, one in erases.items()
                for scheme, value in one.items()
            ),
            Row("fast writes, mean", fmean(fast.values()) if fast else None, "%"),
            Row("reads with BCH, mean", fmean(bch.values()) if bch else None, "%"),
        ],
        claims=[
            Claim(
                "X5: more than 80 % of writes are fast and more than 80 % of reads use BCH on "
                "most loads",
                most > len(good) / 2,
                f"{most} of {len(good)} recordings",
                report_only=told,
            ),
            Claim(
                "X6: erases are at most 2 % above those of normal writes (on most loads)",
                within > len(erases) / 2,
                f"{within} of {len(erases)} recordings",
                report_only=still,
            ),
            Claim(
                "X6: erases are fewer than under AGCR (on most loads)",
                fewer > len(erases) / 2,
                f"{fewer} of {len(erases)} recordings",
                report_only=still,
            ),
        ],
        data={"fast_writes": fast, "bch_reads": bch, "erases": erases},
    )


def _share(told: Told, op: str, mode: str) -> float:
    counts = told.by_mode[op]
    return 100 * counts[mode] / max(1, sum(counts.values()))


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:+.1f} %" for name, value in values.items())
