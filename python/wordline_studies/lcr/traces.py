"""Recorded traces under the policies."""

from collections.abc import Collection, Mapping

from wordline._render.charts import bars
from wordline.summary import Summary
from wordline_studies.cases import completed, left_out
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup, not_quick
from wordline_studies.lcr.policies import (
    ALL,
    CFLRU,
    COLOURS,
    GCAR,
    LCR,
    LRU,
    TITLES,
    Values,
    less,
    titled,
)
from wordline_studies.lcr.runs import MIB, case, clean_percent, deviation_us, hit_percent
from wordline_studies.measures import Measure, latency_us
from wordline_studies.outcome import IN_POINTS
from wordline_studies.traces import missing, recorded

REQUESTS = 20_000
# Smallest share of dirty pages among evicted pages that leaves the policy a choice, and largest
# share of writes that counts as few. Per cent.
DIRTY, FEW = 10.0, 20.0
# Tolerance of equal response times. Per cent.
EQUAL = 2.0
NONE_QUALIFIES = "no given trace qualifies"
# Names of traces.
KNOWN = {
    one: (one,)
    for one in (
        "web_3",
        "rsrch_1",
        "hm_0",
        "financial1",
        "websearch",
        "msnfs",
        "tpcc",
        "hplajw",
        "cloudphysics-io",
        "mayun2",
        "desktop-sys1",
        "hil-desktop",
        "postmark",
        "fillrandom",
        "telegram_exec",
        "installing",
        "systor17",
        "tencent",
    )
}


def figure(setup: Setup) -> Figure:
    """Returns the figure for the available recorded traces."""
    paths = recorded(setup, KNOWN)
    many = setup.requests(REQUESTS)
    runs, faults = completed(
        setup,
        {
            (name, policy): case(setup, name, path, policy, requests=many)
            for name, path in paths.items()
            for policy in ALL
        },
    )
    skipped = {name: fault for (name, _), fault in faults.items()}
    names = [name for name in paths if name not in skipped]

    def over(measure: Measure) -> dict[str, Values]:
        return {name: {policy: measure(runs[name, policy]) for policy in ALL} for name in names}

    means, deviations = over(latency_us), over(deviation_us)
    hits, clean = over(hit_percent), over(clean_percent)
    writes = {name: 100 - _reads(runs[name, LRU]) for name in names}
    return Figure(
        id="recorded",
        title="Recorded traces",
        section="IV-B",
        measured=(
            f"The first {many:,} requests of traces at their recorded times, on the device of "
            f"figure 5 with its buffer of {MIB} MiB, filled but not overwritten beforehand. "
            "Addresses beyond the end of the device are wrapped around."
        ),
        rows=[
            *(Row(f"{name}: share of writes", writes[name], "%") for name in names),
            *(
                Row(f"{name}, {TITLES[policy]}: mean response time", one[policy], "µs")
                for name, one in means.items()
                for policy in ALL
            ),
            *(
                Row(
                    f"{name}: mean response time, reduction by LCR relative to {TITLES[than]}",
                    less(one, LCR, than),
                    "%",
                )
                for name, one in means.items()
                for than in (LRU, GCAR)
            ),
            *(
                Row(
                    f"{name}: standard deviation, reduction by LCR relative to LRU",
                    less(one, LCR),
                    "%",
                )
                for name, one in deviations.items()
            ),
            *(
                Row(f"{name}, {TITLES[policy]}: hit ratio", hits[name][policy], "%")
                for name in names
                for policy in (LRU, LCR)
            ),
            *(
                Row(f"{name}, LCR: share of clean pages among evicted pages", clean[name][LCR], "%")
                for name in names
            ),
        ],
        plots=[
            Plot(
                "Mean response time",
                "Relative to LRU.",
                bars(_brief(means), COLOURS, "relative to LRU"),
            ),
        ]
        if names
        else [],
        claims=not_quick(
            [
                _claim("LCR responds no slower than LRU", means, means, LRU),
                _claim(
                    f"If at least {DIRTY:g} % of the replacements are dirty, LCR responds no "
                    "slower than GCaR-CFLRU",
                    means,
                    [name for name in names if clean[name][LCR] <= 100 - DIRTY],
                    GCAR,
                ),
                _claim(
                    f"If at most {FEW:g} % of the requests are writes, LCR responds no faster than "
                    "CFLRU",
                    means,
                    [name for name in names if writes[name] <= FEW],
                    CFLRU,
                    within=IN_POINTS,
                    turned=True,
                ),
            ]
        ),
        explanation=[
            "These are excerpts. None of them has the name of a trace of the document. Short "
            "excerpts hardly fill the buffer, so the policies hardly differ. CFLRU gains more in "
            "shorter excerpts because it postpones writes (see Reasons).",
            *left_out(skipped),
            *missing(KNOWN, paths),
        ],
        data={
            "mean_us": means,
            "hit_percent": hits,
            "writes_percent": writes,
            "clean_percent": clean,
            "deviation_us": deviations,
        },
    )


def _claim(
    text: str,
    means: Mapping[str, Values],
    names: Collection[str],
    than: str,
    *,
    within: float = EQUAL,
    turned: bool = False,
) -> Claim:
    """Returns the claim that LCR responds no slower than another policy on the traces `names`, or,
    if `turned`, no faster. `within` is the tolerance in per cent. The claim is not tested without
    traces."""
    gains = {name: less(means[name], LCR, than) for name in names}
    if not gains:
        return Claim(f"{text} (within {within:g} %)", None, "", report_only=NONE_QUALIFIES)
    holds = all(gain <= within if turned else gain >= -within for gain in gains.values())
    told = ", ".join(f"{name.split(' (')[0]} {gain:.1f}" for name, gain in gains.items())
    return Claim(f"{text} (within {within:g} %)", holds, f"{told} % below")


def _reads(summary: Summary) -> float:
    told = summary["input"]
    return 100 * told["reads"] / max(1, told["requests"])


def _brief(values: Mapping[str, Values]) -> dict[str, Values]:
    """Returns the values relative to LRU, by title and by the name of the workload alone, without
    that of the file."""
    return {
        name.split(" (")[0]: titled({policy: value / one[LRU] for policy, value in one.items()})
        for name, one in values.items()
    }
