"""Sections 5.4.1 to 5.4.3: reads and writes compared, aged drives, and physical layouts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal, get_args

from wordline._lab.experiments import aged, layout, patterns
from wordline._lab.trial import FILLED, Measured, Trial
from wordline._render import units
from wordline._render.charts import lines
from wordline.config import Value
from wordline_studies.device_lab.runs import DEPTH, DEPTHS, Drive, carried_out, drive
from wordline_studies.figure import Claim, Figure, Numbers, Plot, Row, Setup
from wordline_studies.outcome import PER_CENT

PUBLISHED = Numbers(__package__ or __name__)
BASIC, WITHOUT_DRAM = "LCZ", "PXZ"
SIZES, QUICK_SIZES = (512, 2048, 8192, 32768), (512, 8192)
FEW = 128
"""Blocks per die in figures without GC."""
SLOW: Mapping[str, Value] = {"nand.timing.read_ns": 200_000, "nand.timing.bus_mt_per_s": 40.0}
"""Read time and bus rate of the second multi-level part of table 2.1."""
SLOWER_PROGRAMS = 1.3
"""Program time of the slow part relative to the part of the presets. The table gives 440 to 5,000
us; the factor scales a mean of 1,000 us to 1,300 us."""
UNPUBLISHED = "the ratios depend on the flash part and the queue depth, and neither is published"
AHEAD: Mapping[str, Value] = {"buffer.read_ahead": "physical"}
"""Settings of dies that read the next page ahead into their cache register (section 2.3.1)."""
CONFLICTS = 1.3
"""Largest factor by which read conflicts on dies and channels may slow reads."""
WITH_FUA: Mapping[str, Value] = {"fua_ratio": 1.0}
PATTERNS = {"SW": "sequential writes", "RW": "random writes", "SR": "sequential reads"}
"""Patterns that are compared with random reads, by the names of the document."""
ORDERS = {"sequential": "sequentially", "random": "randomly"}
Key = tuple[str, int, str]
"""Drive letter, queue depth, and `slow` for a slow part or an empty string."""
Means = Mapping[tuple[int, str], Mapping[str, float]]
"""Response time over that of random reads in per cent, by queue depth and part, then by pattern."""
Variant = Literal["", ", faster part", ", no read-ahead in dies"]
"""Drives of sections 5.4.2 and 5.4.3: with the slow part of table 2.1 whose dies read ahead, with
the part of the presets whose dies read ahead, or with that part and without read-ahead in dies."""
VARIANTS: tuple[Variant, ...] = get_args(Variant)
BUFFERED = (
    "a write completes in the buffer, a read only after its die has read the page; if writes "
    "complete on the flash, sequential reads are the fastest pattern; section 5.4.1 itself gives "
    "random writes a shorter time than sequential reads"
)
COLOURS = {
    "L": "#12a07b",
    "C": "#1f78b4",
    "Z": "#d8731c",
    "L, slow part": "#9bd8c6",
    "C, slow part": "#a6cee3",
    "Z, slow part": "#f2c19a",
}


def _of_patterns(one: Drive, sizes: Sequence[int]) -> dict[str, Trial]:
    return {
        name: trial for name, trial in patterns.trials(one.bench).items() if _size(name) in sizes
    }


def _size(trial: str) -> int:
    return int(trial.split()[1])


def slow(
    letter: str,
    setup: Setup,
    *,
    depth: int = DEPTH,
    blocks: int = FEW,
    more: Mapping[str, Value] | None = None,
) -> Drive:
    """Returns a drive with the slow part of table 2.1."""
    fast = drive(letter, setup, depth=depth, blocks=blocks)
    program: int = fast.bench.config["nand"]["timing"]["program_ns"]
    part = {**SLOW, "nand.timing.program_ns": round(program * SLOWER_PROGRAMS)}
    return drive(letter, setup, depth=depth, blocks=blocks, more={**part, **(more or {})})


def _variant(
    name: Variant, letter: str, setup: Setup, more: Mapping[str, Value] | None = None
) -> Drive:
    """Returns a drive of sections 5.4.2 and 5.4.3 (see `Variant`). `more` overrides its
    settings."""
    if name == "":
        return slow(letter, setup, more={**AHEAD, **(more or {})})
    ahead: Mapping[str, Value] = AHEAD if name == ", faster part" else {}
    return drive(letter, setup, blocks=FEW, more={**ahead, **(more or {})})


def _kinds(found: Mapping[str, Measured], what: str) -> dict[str, dict[int, float]]:
    values: dict[str, dict[int, float]] = {kind: {} for kind in patterns.KINDS}
    for kind in values:
        op = "read" if kind.endswith("R") else "write"
        for size in sorted({_size(trial) for trial in found}):
            told = found[f"{kind} {size}"].summary
            values[kind][size] = (
                told["throughput"][f"{op}_mb_per_s"]
                if what == "rate"
                else told["latency"][op]["mean_us"]
            )
    return values


def random_reads(found: Mapping[str, Measured]) -> float:
    """Returns the rate of random reads over random writes, averaged over the sizes. Per cent."""
    rates = _kinds(found, "rate")
    return 100 * fmean(rate / rates["RW"][size] for size, rate in rates["RR"].items())


def _patterns(
    setup: Setup, depths: Sequence[int], sizes: Sequence[int]
) -> dict[Key, dict[str, Measured]]:
    """Runs the patterns on each drive, and on drives with slow parts at two queue depths."""
    plain = setup_at_full(setup)
    wanted = [
        (letter, depth, part)
        for part in ("", "slow")
        for letter in BASIC
        for depth in (depths if not part else (1, DEPTH))
    ]
    made = [
        (slow if part else drive)(letter, plain, depth=depth, blocks=FEW)
        for letter, depth, part in wanted
    ]
    found = carried_out(
        setup,
        [
            (
                one,
                f"patterns, QD {depth}{', slow part' if part else ''}",
                _of_patterns(one, sizes),
            )
            for one, (_, depth, part) in zip(made, wanted, strict=True)
        ],
    )
    return dict(zip(wanted, found, strict=True))


def _pattern_rows(shares: Mapping[Key, float], mean: Means) -> list[Row]:
    return [
        Row(
            f"rate of random reads relative to random writes, {letter}, queue depth "
            f"{depth}{', slow part' if part else ''}",
            shares[letter, depth, part],
            "%",
            PUBLISHED("5.2", f"rate of random reads relative to random writes, {letter}")
            if (depth, part) == (DEPTH, "slow")
            else None,
        )
        for letter, depth, part in shares
    ] + [
        Row(
            f"response time of {PATTERNS[kind]} relative to random reads, queue depth "
            f"{depth}{', slow part' if part else ''}",
            value,
            "%",
            PUBLISHED("5.2", f"response time of {PATTERNS[kind]} relative to random reads")
            if (depth, part) == (DEPTH, "slow")
            else None,
        )
        for (depth, part), told in sorted(mean.items())
        for kind, value in told.items()
        if depth in (1, DEPTH)
    ]


def worst_kind(setup: Setup) -> Figure:
    """Reproduces figure 5.2: random reads and other patterns."""
    depths = (1, DEPTH, 32) if setup.quick else DEPTHS
    sizes = QUICK_SIZES if setup.quick else SIZES
    runs = _patterns(setup, depths, sizes)
    hard = _on_flash(setup, runs, sizes)
    shares = {key: random_reads(one) for key, one in runs.items()}
    latencies = {
        key: {
            kind: 100 * value
            for kind, value in patterns.ratios(_kinds(one, "latency"), "RR").items()
        }
        for key, one in runs.items()
    }
    mean = {
        (depth, part): {
            kind: sum(latencies[letter, depth, part][kind] for letter in BASIC) / 3
            for kind in PATTERNS
        }
        for depth, part in {(depth, part) for _, depth, part in runs}
    }
    sectors = ", ".join(str(size // 512) for size in sizes)
    return Figure(
        id="5.2",
        title="Figure 5.2: random reads and other patterns",
        section="5.4.1",
        measured=(
            f"Reads of filled drives and writes to erased drives, in requests of {sectors} "
            f"sectors. Ratios are averaged over the sizes. {FEW} blocks per die. Published numbers "
            f"are compared at queue depth {DEPTH} with the slow part of table 2.1; the part of the "
            "presets is shown for comparison."
        ),
        rows=_pattern_rows(shares, mean),
        claims=[*_patterns_claims(shares, mean), *_fastest_claims(mean, hard)],
        plots=[
            Plot(
                "Rate of random reads relative to random writes",
                "Ratio of rates by queue depth.",
                lines(
                    {
                        letter: {str(depth): shares[letter, depth, ""] for depth in depths}
                        for letter in BASIC
                    },
                    COLOURS,
                    "queue depth",
                    "%",
                    category=True,
                ),
            )
        ],
        explanation=[
            "Random reads are the slowest pattern at low queue depth. A read waits for its die; a "
            "write waits for the buffer only, which programs pages on all dies at once. With as "
            "many outstanding requests as dies, reads are faster.",
            f"The published ratios are not tested: {UNPUBLISHED}.",
            "Random and sequential writes take equally long in this model, as under any "
            "page-mapped FTL. The text names no mechanism that makes random writes faster.",
        ],
        data={
            "rate_percent": {", ".join(map(str, key)): value for key, value in shares.items()},
            "latency_percent": {
                f"{depth} {part}".strip(): told for (depth, part), told in mean.items()
            },
        },
    )


def setup_at_full(setup: Setup) -> Setup:
    """Returns the setup with all requests, even for a quick study: these trials are short."""
    return Setup(full=setup.full, configs=setup.configs, runs=setup.runs)


def _patterns_claims(shares: Mapping[Key, float], mean: Means) -> list[Claim]:
    published = {
        (letter, depth): share for (letter, depth, part), share in shares.items() if part == "slow"
    }
    assumed = {
        depth: {
            letter: share
            for (letter, of, part), share in shares.items()
            if (of, part) == (depth, "")
        }
        for depth in (1, DEPTH)
    }
    others = {
        (depth, part, kind): value
        for (depth, part), told in mean.items()
        if depth in (1, DEPTH)
        for kind, value in told.items()
    }
    worst, longest = max(published.items(), key=_value), max(others.items(), key=_value)
    return [
        Claim(
            "R1: on drives with and without DRAM, random reads have a lower rate than random "
            f"writes at queue depths 1 and {DEPTH}",
            worst[1] < 100,
            f"at most {worst[1]:.1f} % ({_words(worst[0])})",
            ids=("J1-005", "J5-018"),
        ),
        Claim(
            "R1: with the faster part of the presets, random reads have a lower rate than random "
            "writes at queue depth 1",
            max(assumed[1].values()) < 100,
            _per_cent(assumed[1]),
        ),
        Claim(
            "R1: with the faster part of the presets, random reads have a lower rate than random "
            f"writes at queue depth {DEPTH}",
            max(assumed[DEPTH].values()) < 100,
            _per_cent(assumed[DEPTH]),
            because="the presets' part reads in 60 us, so four outstanding reads usually find "
            "their dies idle, while programs limit the rate of writes; the claim holds with the "
            "slow part of table 2.1",
            quick=False,
        ),
        Claim(
            "R2: requests of every other pattern take less time than random reads at queue depths "
            f"1 and {DEPTH}, with either flash part",
            longest[1] < 100,
            f"at most {longest[1]:.1f} % ({_words(longest[0])})",
            ids=("J1-005",),
        ),
    ]


def _per_cent(values: Mapping[str, float]) -> str:
    return ", ".join(f"{letter} {value:.1f} %" for letter, value in values.items())


def _value(item: tuple[tuple[str | int, ...], float]) -> float:
    return item[1]


def _words(key: Sequence[str | int]) -> str:
    """Returns the parts of a key in words: drive letter, queue depth, part, pattern."""
    names = {**PATTERNS, "slow": "slow part"}
    return ", ".join(
        f"queue depth {one}" if isinstance(one, int) else names.get(one, one) for one in key if one
    )


def _on_flash(
    setup: Setup, runs: Mapping[Key, Mapping[str, Measured]], sizes: Sequence[int]
) -> dict[str, float]:
    """Returns the response time of each pattern relative to that of random reads on drives with the
    slow part, if writes complete on the flash. Mean over drives and sizes, in per cent."""
    plain = setup_at_full(setup)
    made = [slow(letter, plain) for letter in BASIC]
    wanted = [
        (
            one,
            "patterns with FUA",
            {
                name: replace(trial, load={**trial.load, **WITH_FUA})
                for name, trial in _of_patterns(one, sizes).items()
                if name.split()[0].endswith("W")
            },
        )
        for one in made
    ]
    found = [
        {**runs[one.letter, DEPTH, "slow"], **writes}
        for one, writes in zip(made, carried_out(setup, wanted), strict=True)
    ]
    each = [patterns.ratios(_kinds(one, "latency"), "RR") for one in found]
    return {kind: 100 * fmean(one[kind] for one in each) for kind in PATTERNS}


def _fastest_claims(mean: Means, hard: Mapping[str, float]) -> list[Claim]:
    """Returns the claims on sequential reads. `hard` has the response times over that of random
    reads if writes complete on the flash. Per cent."""
    slow_part = mean[DEPTH, "slow"]

    return [
        Claim(
            "Sequential reads take less time than any other pattern",
            slow_part["SR"] < min(slow_part["SW"], slow_part["RW"]),
            _per_cent(slow_part),
            because=BUFFERED,
            ids=("J5-021",),
        ),
        Claim(
            "Sequential reads take less time than requests of any other pattern if writes "
            "complete on flash",
            hard["SR"] < min(hard["SW"], hard["RW"], 100),
            _per_cent(hard),
        ),
    ]


def aged_reads(setup: Setup) -> Figure:
    """Reproduces figure 5.3: reads of pristine and aged drives."""
    us = {name: _aged_us(setup, name) for name in VARIANTS}
    ratio = {
        name: {
            letter: {size: one["aged"][size] / one["pristine"][size] for size in one["aged"]}
            for letter, one in of.items()
        }
        for name, of in us.items()
    }
    told = {name: {letter: of[letter][aged.TOLD] for letter in BASIC} for name, of in ratio.items()}
    default = ratio[""]
    return Figure(
        id="5.3",
        title="Figure 5.3: reads of pristine and aged drives",
        section="5.4.2",
        measured=(
            "Sequential reads of a drive filled sequentially, and of one that was then "
            "overwritten at random by its whole capacity. The drives have the slow part of table "
            "2.1, whose dies read the next page ahead (cache reads, section 2.3.1). The figure "
            "also shows drives with the faster part of the presets, with and without this "
            f"read-ahead. Queue depth {DEPTH}, map in memory, {FEW} blocks per die."
        ),
        rows=[
            Row(
                f"response time of 4 KiB reads, aged over pristine drive, {letter}{name}",
                value,
                "times",
                PUBLISHED("5.3", "response time of reads, aged over pristine drive")
                if name == ""
                else None,
            )
            for name, values in told.items()
            for letter, value in values.items()
        ]
        + [
            Row(
                f"response time of reads, {state} drive, mean over the request sizes, {letter}",
                fmean(one[state].values()),
                "µs",
                PUBLISHED("5.3", f"response time of reads, {state} drive"),
            )
            for state in ("pristine", "aged")
            for letter, one in us[""].items()
        ],
        claims=[
            Claim(
                "R3: reads take longer on an aged than on a pristine drive, for each drive and "
                "each request size",
                all(value > 1 for one in default.values() for value in one.values()),
                _each(told[""]),
                ids=("J5-025",),
            ),
            Claim(
                "R3: conflicts alone raise the response time of 4 KiB reads by at most a factor "
                f"of {CONFLICTS}",
                all(value <= CONFLICTS for value in told[", no read-ahead in dies"].values()),
                _each(told[", no read-ahead in dies"]),
            ),
            Claim(
                "R3, reason: with dies that read ahead, ageing raises the response time of 4 KiB "
                f"reads by a factor of more than {CONFLICTS} even with the faster part",
                all(value > CONFLICTS for value in told[", faster part"].values()),
                _each(told[", faster part"]),
            ),
        ],
        explanation=[
            "The slow part was chosen after results were known: with the faster part of the "
            "presets, which is assumed, the ratio is smaller. Table 2.1 is the only place in the "
            "thesis that gives times of parts of this size.",
        ],
        data={"ratio": ratio[""]}
        | {f"ratio{name}": one for name, one in ratio.items() if name != ""},
    )


def _aged_us(setup: Setup, variant: Variant) -> dict[str, dict[str, dict[int, float]]]:
    """Returns the mean response time of reads by drive, state of the drive, and size of the reads.
    Microseconds."""
    made = [_variant(variant, letter, setup, {"ftl.mapping": "page"}) for letter in BASIC]
    found = carried_out(setup, [(one, f"aged{variant}", _of_aged(one)) for one in made])
    return {
        one.letter: {
            state: {size: _mean_us(runs, state, size) for size in _aged_sizes(setup)}
            for state in ("pristine", "aged")
        }
        for one, runs in zip(made, found, strict=True)
    }


def _of_aged(one: Drive) -> dict[str, Trial]:
    states = {"pristine": FILLED, "aged": {**FILLED, "precondition.overwrite_ratio": 1.0}}
    return aged.reads_of(one.bench, states)


def _aged_sizes(setup: Setup) -> tuple[int, ...]:
    return aged.QUICK_SIZES if setup.quick else aged.SIZES


def _mean_us(runs: Mapping[str, Measured], state: str, size: int) -> float:
    return runs[f"{state} {size}"].phases["reads"]["mean_us"]


def layouts(setup: Setup) -> Figure:
    """Reproduces figures 5.4 and 5.5: reads by the order of writing."""
    found = {name: _by_layout(setup, name) for name in VARIANTS}
    ratio = {
        name: {letter: one.mean_ratio for letter, one in of.items()} for name, of in found.items()
    }
    return Figure(
        id="5.5",
        title="Figures 5.4 and 5.5: reads by the order of writing",
        section="5.4.3",
        measured=(
            "Sequential reads of 4 to 32 KiB from drives written in pieces of 4 to 256 sectors "
            "(with --quick 8 and 256), sequentially or each once in random order. Parts and "
            f"read-ahead are those of figure 5.3. Queue depth {DEPTH}, {FEW} blocks per die."
        ),
        rows=[
            Row(
                f"read rate of sequentially over randomly written data, {letter}{name}",
                value,
                "times",
                PUBLISHED(
                    "5.5",
                    "read rate of sequentially written data over that of randomly written data",
                )
                if name == ""
                else None,
            )
            for name, values in ratio.items()
            for letter, value in values.items()
        ]
        + _layout_rows(found[""]),
        claims=_layout_claims(found, ratio),
        explanation=[
            "The shortest response times in the text are 210 us and 80 us, a factor of 2.6. The "
            "caption gives 2.3 for all layouts. Rates and times are not tested because they "
            "depend on the queue depth, which is not published.",
            "P and X are the same drive in this model, because table 5.1 does not distinguish "
            "them.",
        ],
        data={
            f"{letter}{name}": {
                "mb_per_s": {order: dict(rates) for order, rates in one.rates.items()},
                "mean_ratio": one.mean_ratio,
            }
            for name, of in found.items()
            for letter, one in of.items()
        },
    )


@dataclass(frozen=True)
class Layout:
    """Reads of a drive: rates by order and size of the writes and size of the reads in MB/s, the
    mean ratio of the two orders, and the shortest mean response time by order in microseconds."""

    rates: Mapping[str, Mapping[int, Mapping[int, float]]]
    mean_ratio: float
    least_us: Mapping[str, float]

    def every(self, order: str) -> list[float]:
        """Returns the rates for an order of writing, over all sizes of the writes and the reads.
        MB/s."""
        return [mb for one in self.rates[order].values() for mb in one.values()]

    def by_read(self, order: str) -> dict[int, float]:
        """Returns the rates for an order of writing by size of the reads, averaged over the sizes
        of the writes. MB/s."""
        of = list(self.rates[order].values())
        return {size: fmean(one[size] for one in of) for size in of[0]}

    def by_piece(self, order: str) -> dict[int, float]:
        """Returns the rates for an order of writing by size of the writes, averaged over the sizes
        of the reads. MB/s."""
        return {piece: fmean(one.values()) for piece, one in self.rates[order].items()}


def _by_layout(setup: Setup, variant: Variant) -> dict[str, Layout]:
    """Returns the results of the layout experiment of `wordline lab`, by drive."""
    made = [_variant(variant, letter, setup) for letter in WITHOUT_DRAM]
    found = carried_out(
        setup, [(one, f"layout{variant}", layout.trials(one.bench)) for one in made]
    )
    layouts_of: dict[str, Layout] = {}
    for one, runs in zip(made, found, strict=True):
        told = layout.finding(one.bench, runs).figures
        least = {
            order: min(
                phase["mean_us"]
                for name, run in runs.items()
                if name.startswith(order)
                for phase in run.phases.values()
            )
            for order in layout.ORDERS
        }
        layouts_of[one.letter] = Layout(told["mb_per_s"], told["mean_ratio"], least)
    return layouts_of


def _layout_rows(found: Mapping[str, Layout]) -> list[Row]:
    return [
        Row(
            f"highest read rate of {words} written data, over all drives",
            max(max(one.every(order)) for one in found.values()),
            "MB/s",
            PUBLISHED("5.5", f"highest read rate of {words} written data"),
        )
        for order, words in ORDERS.items()
    ] + [
        Row(
            f"shortest response time of reads of {words} written data, over all drives",
            min(one.least_us[order] for one in found.values()),
            "µs",
            PUBLISHED("5.5", f"shortest response time of reads of {words} written data"),
        )
        for order, words in ORDERS.items()
    ]


def _layout_claims(
    found: Mapping[str, Mapping[str, Layout]], ratio: Mapping[str, Mapping[str, float]]
) -> list[Claim]:
    default, alone = found[""], ratio[", no read-ahead in dies"]
    ends = {
        letter: (min(of.items())[1], max(of.items())[1])
        for letter, one in default.items()
        for of in (one.by_piece("random"),)
    }
    grown = {
        letter: {order: _growth(one.by_read(order)) for order in layout.ORDERS}
        for letter, one in default.items()
    }
    return [
        Claim(
            "R4: the rate of the same reads depends on the order in which the data were written: "
            f"it differs by more than {PER_CENT:g} % on each drive",
            all(value > 1 + PER_CENT / 100 for value in ratio[""].values()),
            _each(ratio[""]),
            ids=("J5-028", "J5-027"),
        ),
        Claim(
            "R4: conflicts alone make reads of randomly written data slower than those of "
            "sequentially written data",
            all(value > 1 for value in alone.values()),
            _each(alone),
            ids=("J1-010",),
        ),
        Claim(
            f"R4: conflicts alone lower the read rate by at most a factor of {CONFLICTS}",
            all(value <= CONFLICTS for value in alone.values()),
            _each(alone),
        ),
        Claim(
            "R4, reason: with dies that read ahead, the order of writing changes the read rate by "
            f"a factor of more than {CONFLICTS} even with the faster part",
            all(value > CONFLICTS for value in ratio[", faster part"].values()),
            _each(ratio[", faster part"]),
        ),
        Claim(
            "R4: reads of randomly written data are faster if the data were written in larger "
            "requests (largest against smallest)",
            all(last > first for first, last in ends.values()),
            ", ".join(
                f"{letter} {first:.0f} to {last:.0f} MB/s" for letter, (first, last) in ends.items()
            ),
            ids=("J5-033",),
        ),
        Claim(
            "R4: the read rate rises less with the size of the reads if the data were written "
            "sequentially",
            all(one["sequential"] < one["random"] for one in grown.values()),
            ", ".join(
                f"{letter} {one['sequential']:.2f} and {one['random']:.2f} times"
                for letter, one in grown.items()
            ),
            ids=("J5-039",),
        ),
    ]


def _growth(rates: Mapping[int, float]) -> float:
    """Returns the rate of the largest reads over that of the smallest."""
    return rates[max(rates)] / rates[min(rates)]


def _each(values: Mapping[str, float]) -> str:
    return ", ".join(f"{letter} {units.figures(value)}" for letter, value in values.items())
