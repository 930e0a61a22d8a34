"""Figure 2.20: recorded traces, many dies and many planes."""

from pathlib import Path

from wordline.config import Value
from wordline_studies.cases import Case, by_load
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain, iops
from wordline_studies.nand.modes import MLC, PUBLISHED, lines
from wordline_studies.traces import recorded

COUNTS = (1, 2, 4, 8)
# Workloads of the document (table 2.2), and words in the names of their recordings.
KNOWN = {
    "msnfs": ("msnfs",),
    "fin": ("financial", "fin1", "fin2"),
    "web": ("websearch",),
    "usr": ("usr_", "-usr"),
    "prn": ("prn_", "-prn"),
}
# Number of requests of a trace. Half of the device is spare, so that no GC runs.
REQUESTS = 10_000
BLOCKS = 8192
# Placement of written pages: `ftl.allocate`.
PLACES = {"by address": "static", "as they come": "dynamic"}
DEPTH = 32


def figure(setup: Setup) -> Figure:
    """Reproduces figure 2.20: recorded traces."""
    traces = recorded(setup, KNOWN)
    kinds = [(kind, places) for places in PLACES for kind in ("dies", "planes")]
    cases = {
        (name, _on(kind, places, count)): _case(setup, path, kind, places, count)
        for name, path in traces.items()
        for kind, places in kinds
        for count in COUNTS
    }
    runs, skipped = by_load(setup, cases, traces)
    found = {
        name: {
            f"{kind}, {places}": [iops(own[_on(kind, places, count)]) for count in COUNTS]
            for kind, places in kinds
        }
        for name, own in runs.items()
    }
    return _figure(found, skipped)


def _on(kind: str, places: str, count: int) -> str:
    return f"{count} {kind}, {places}"


def _case(setup: Setup, path: Path, kind: str, places: str, count: int) -> Case:
    many_dies = kind == "dies"
    overrides: dict[str, Value] = {
        "nand.geometry.dies_per_package": count if many_dies else 1,
        "nand.geometry.planes_per_die": 1 if many_dies else count,
        "nand.geometry.blocks_per_plane": BLOCKS // count,
        "ssd.composition": "off" if many_dies else "greedy",
        "ftl.allocate": PLACES[places],
        "ftl.over_provisioning_ratio": 0.5,
        "replay.mode.closed-loop.queue_depth": DEPTH,
    }
    label = f"{MLC} as an SSD, {_on(kind, places, count)}"
    return Case(MLC, label, overrides, path, setup.requests(REQUESTS))


def _figure(found: dict[str, dict[str, list[float]]], skipped: list[str]) -> Figure:
    # Gain of 2, 4 and 8 dies over as many planes, by trace and placement.
    gains = {
        (name, places): [
            gain(planes, dies)
            for dies, planes in zip(
                one[f"dies, {places}"][1:], one[f"planes, {places}"][1:], strict=True
            )
        ]
        for name, one in found.items()
        for places in PLACES
    }
    known = {kind for kind in KNOWN if any(name.startswith(kind) for name in found)}
    absent = ", ".join(sorted(set(KNOWN) - known))
    return Figure(
        id="2.20",
        title="Figure 2.20: recorded traces, dies and planes",
        section="2.8.5",
        measured=(
            "IOPS of a whole SSD with one package of MLC1, with 1 to 8 dies of one plane "
            "(die-first) or one die of 1 to 8 planes (plane-first), all of the same capacity, "
            f"at queue depth 32, for the first {REQUESTS:,} requests of each trace. Written "
            "pages are placed by address, or as they come, over planes in turn."
        ),
        rows=_rows(gains),
        plots=[
            Plot(
                name,
                "IOPS by dies or planes.",
                lines(COUNTS, one, "dies or planes", "IOPS", log=True),
            )
            for name, one in found.items()
        ],
        claims=_claims(found, gains) if found else [],
        explanation=[
            "Reads and writes of different planes form one command only if their pages have "
            "the same position in their blocks. With placement by address, requests that do "
            "not fill all planes move the write positions of the planes apart, and small "
            "random writes hardly ever align again; the document describes this for many "
            "planes. With placement as they come, positions stay aligned, and planes still "
            "wait for each other. Dies have no such rule. The mean depends on the traces: it "
            "is larger with more random writes.",
            *(
                [
                    f"No trace was given for these workloads of the document: {absent}. "
                    "`--traces DIR` names a folder of traces, which are recognised by their "
                    "names."
                ]
                if absent
                else []
            ),
            *([] if found else ["No trace was found, so nothing was simulated."]),
            *skipped,
        ],
        data={"counts": list(COUNTS), "iops": found},
    )


def _rows(gains: dict[tuple[str, str], list[float]]) -> list[Row]:
    rows: list[Row] = []
    published = PUBLISHED("2.20", "many dies over many planes")
    for places in PLACES:
        values = [one for (_, where), some in gains.items() if where == places for one in some]
        if values:
            what = f"dies over planes, pages {places}, mean of all traces"
            rows.append(Row(what, sum(values) / len(values), "%", published))
    rows += [
        Row(f"{name}, {places}: {count} dies over {count} planes", value, "%")
        for (name, places), values in gains.items()
        for count, value in zip(COUNTS[1:], values, strict=True)
    ]
    return rows


def _claims(
    found: dict[str, dict[str, list[float]]], gains: dict[tuple[str, str], list[float]]
) -> list[Claim]:
    last = {
        (name, places): tuple(gain(*one[f"{kind}, {places}"][2:]) for kind in ("planes", "dies"))
        for name, one in found.items()
        for places in PLACES
    }
    return [
        Claim(
            "Dies have higher IOPS than as many planes, with every trace",
            all(value > 0 for values in gains.values() for value in values),
            "; ".join(
                f"{name}, {places} {min(values):+.1f} to {max(values):+.0f} %"
                for (name, places), values in gains.items()
            ),
        ),
        Claim(
            "From four on, further planes gain less than further dies",
            all(planes < dies for planes, dies in last.values()),
            "; ".join(
                f"{name}, {places}: 4 to 8 planes {planes:+.0f} %, dies {dies:+.0f} %"
                for (name, places), (planes, dies) in last.items()
            ),
        ),
    ]
