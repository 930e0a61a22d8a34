"""Figure 2.20: recorded traces, many dies against many planes."""

from pathlib import Path

from wordline.config import Value
from wordline_studies.cases import Case, by_load
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain, iops
from wordline_studies.nand.modes import MLC, PUBLISHED, lines
from wordline_studies.traces import recorded

COUNTS = (1, 2, 4, 8)
# Workloads of the document (table 2.2), and what files of them may be called.
KNOWN = {
    "msnfs": ("msnfs",),
    "fin": ("financial", "fin1", "fin2"),
    "web": ("websearch",),
    "usr": ("usr_", "-usr"),
    "prn": ("prn_", "-prn"),
}
# Of a trace; half of the device is spare, so that no collection is part of the figure.
REQUESTS = 10_000
BLOCKS = 8192
# Where a page that is written goes: `ftl.allocate`.
PLACES = {"by address": "static", "as they come": "dynamic"}
DEPTH = 32


def figure(setup: Setup) -> Figure:
    """Figure 2.20."""
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
    # By trace and placement: what 2, 4 and 8 dies have over as many planes.
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
        title="Figure 2.20: recorded traces, dies against planes",
        section="2.8.5",
        measured="IOPS of a whole SSD with one package of MLC1, of 1 to 8 dies of one plane "
        "(die-first) or one die of 1 to 8 planes (plane-first), all of one capacity, 32 requests "
        f"at a time from the first {REQUESTS:,} of each trace; written pages are placed by their "
        "address or, over planes in turn, as they come.",
        rows=_rows(gains),
        plots=[
            Plot(
                name,
                "Requests a second by dies or planes.",
                lines(COUNTS, one, "dies or planes", "IOPS", log=True),
            )
            for name, one in found.items()
        ],
        claims=_claims(found, gains) if found else [],
        explanation=[
            "Reads and writes of different planes go in one command only if their pages lie at "
            "the same place in their blocks. Placed by address, requests that do not fill all "
            "planes leave the write positions of the planes apart, and small random writes hardly "
            "ever meet again: that is what the document says of many planes. Placed as "
            "they come, positions stay together, and what remains is that planes wait for each "
            "other. Dies know no such rule. The mean depends on the traces: the more random "
            "writes, the larger.",
            *(
                [
                    f"Of the document's workloads, no trace was given for {absent}; `--traces "
                    "DIR` names a folder of traces, which are recognised by their names."
                ]
                if absent
                else []
            ),
            *([] if found else ["No trace was found at all, so that nothing was run."]),
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
            what = f"dies over planes, pages {places}, mean of all"
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
            "Many dies serve more requests than as many planes, with every trace",
            all(value > 0 for values in gains.values() for value in values),
            "; ".join(
                f"{name}, {places} {min(values):+.1f} to {max(values):+.0f} %"
                for (name, places), values in gains.items()
            ),
        ),
        Claim(
            "From four on, planes bring less than dies",
            all(planes < dies for planes, dies in last.values()),
            "; ".join(
                f"{name}, {places}: 4 to 8 planes {planes:+.0f} %, dies {dies:+.0f} %"
                for (name, places), (planes, dies) in last.items()
            ),
        ),
    ]
