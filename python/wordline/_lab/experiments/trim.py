"""Effect of TRIM: writes to a used device after the whole device was trimmed."""

from collections.abc import Iterable, Mapping
from random import Random

from wordline._lab.finding import Experiment, Finding, Found, Table
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import ERASED, SETTLED, Phase, Trial, line
from wordline._render import units
from wordline._render.charts import Plot, bars

SIZES, QUICK_SIZES = (4096, 16384, 65536), (4096,)
KINDS = {
    "erased": "#12a07b",
    "ascending TRIM": "#7cc0ea",
    "random TRIM": "#d8731c",
    "no TRIM": "#c0392b",
}
TRIMMED = ("ascending TRIM", "random TRIM")
MOST_RANGES, QUICK_MOST_RANGES = 100_000, 30_000
TOLD = 4096


def range_bytes(bench: TestDevice) -> int:
    """Returns the size of a TRIM in bytes: a page, or more if the device has more pages than the
    maximum number of TRIMs."""
    most = MOST_RANGES if not bench.quick else QUICK_MOST_RANGES
    pages = -(-bench.user_bytes // bench.page_bytes)
    return bench.page_bytes * -(-pages // most)


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: TRIMs of the whole device, then random writes that end before GC starts
    again."""
    found: dict[str, Trial] = {}
    for kind in KINDS:
        for size in QUICK_SIZES if bench.quick else SIZES:
            pages = -(-size // bench.page_bytes)
            most = (bench.user_bytes // bench.page_bytes + bench.spare_pages // 2) // pages
            wanted = max(bench.count(16_000, 6_000), bench.count(2, 1) * bench.cycle)
            writes = max(200, min(wanted // pages, most))
            before = 0 if kind == "erased" else bench.slack
            if kind in TRIMMED:
                before += -(-bench.user_bytes // range_bytes(bench))
            found[f"{kind} {size}"] = Trial(
                ERASED if kind == "erased" else SETTLED,
                trace=lambda kind=kind, size=size, writes=writes: _requests(
                    bench, kind, size, writes
                ),
                phases=(Phase("writes", before, before + writes),),
            )
    return found


def _requests(bench: TestDevice, kind: str, size: int, writes: int) -> Iterable[str]:
    draw = Random(bench.seed)  # noqa: S311 - a load
    for _ in range(0 if kind == "erased" else bench.slack):
        yield line("write", draw.randrange(bench.user_bytes // 4096) * 4096, 4096)
    if kind in TRIMMED:
        piece = range_bytes(bench)
        places = list(range(0, bench.user_bytes, piece))
        if kind.startswith("random"):
            draw.shuffle(places)
        for place in places:
            yield line("trim", place, min(piece, bench.user_bytes - place))
    for _ in range(writes):
        yield line("write", draw.randrange(bench.user_bytes // size) * size, size)


def finding(bench: TestDevice, found: Found) -> Finding:
    """Compares the write rates by kind of TRIM."""
    sizes = QUICK_SIZES if bench.quick else SIZES
    rates = {
        kind: {size: found[f"{kind} {size}"].phases["writes"]["mb_per_s"] for size in sizes}
        for kind in KINDS
    }
    means = {
        kind: {size: found[f"{kind} {size}"].phases["writes"]["mean_us"] for size in sizes}
        for kind in KINDS
    }
    fresh, used = rates["erased"][TOLD], rates["no TRIM"][TOLD]
    told = [_told(kind, rates[kind][TOLD], fresh, used) for kind in TRIMMED]
    verdict = (
        f"At 4 KiB, the used device writes {units.bandwidth(used)}, the erased device "
        f"{units.bandwidth(fresh)}. {told[0]} {told[1]}"
    )
    drawn = {units.size(size): {kind: rates[kind][size] for kind in KINDS} for size in sizes}
    frees = bench.policy("ftl", "trim", "frees")
    notes = [
        f"Each TRIM covers {units.size(range_bytes(bench))}; together the TRIMs cover the device."
    ]
    if not frees:
        notes.append(
            "TRIM is ideal here: this version of Wordline models no other behaviour of firmware "
            "(it has no ftl.trim)."
        )
    return Finding(
        verdict,
        {"mb_per_s": rates, "mean_us": means, "range_bytes": range_bytes(bench)},
        Table(
            ("writes of", *KINDS),
            [
                (
                    units.size(size),
                    *(
                        f"{units.bandwidth(rates[kind][size])}, {units.duration(means[kind][size])}"
                        for kind in KINDS
                    ),
                )
                for size in sizes
            ],
        ),
        [Plot("Random writes", "By preceding TRIMs.", bars(drawn, KINDS, "MB/s"))],
        notes,
    )


def gained(rate: float, fresh: float, used: float) -> float | None:
    """Returns the fraction of the rate lost through use that `rate` has regained; None if the
    erased device is less than 10 % faster than the used one."""
    return None if fresh < 1.1 * used else (rate - used) / (fresh - used)


def _told(kind: str, rate: float, fresh: float, used: float) -> str:
    which = "TRIM in ascending order" if kind.startswith("ascending") else "TRIM in random order"
    share = gained(rate, fresh, used)
    if share is None:
        return f"After {which} the rate is {units.bandwidth(rate)}."
    if share < 0.05:
        return f"{which} regains nothing."
    return (
        f"{which} regains {units.share(min(share, 1.0))} of the difference from the erased device."
    )


EXPERIMENT = Experiment(
    "trim",
    "Effect of TRIM",
    "A used (steady-state) device is trimmed as a whole, in ascending or in random order, and "
    "written at random; for comparison, an erased device, and the used one without TRIM.",
    "No counterpart in PTS. Jung 2013, section 5.6.1, trims devices filled in the same order.",
    trials,
    finding,
)
