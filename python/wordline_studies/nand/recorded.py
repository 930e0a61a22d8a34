"""Figure 2.20: many dies and many planes under application loads."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from wordline.config import Value
from wordline_studies.cases import Case, by_load
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain, iops, or_nan
from wordline_studies.nand.loads import FITTED, TABLE
from wordline_studies.nand.modes import MLC, PUBLISHED, TWO, lines, part, stream
from wordline_studies.outcome import PER_CENT
from wordline_studies.traces import recorded

COUNTS = (1, 2, 4, 8)
Found = dict[str, dict[str, list[float]]]
"""IOPS by load or trace, by kind and placement, for each of `COUNTS`."""
Joined = dict[tuple[str, str], list[float]]
"""Pages per command of 1 to 8 planes, by load or trace and placement."""
# Workloads of the document (table 2.2), and words in the names of their traces.
KNOWN = {
    "msnfs": ("msnfs",),
    "fin": ("financial", "fin1", "fin2"),
    "web": ("websearch",),
    "usr": ("usr_", "-usr"),
    "prn": ("prn_", "-prn"),
}
# Number of requests of a trace and of a load. Half of the device is over-provisioned, so that no GC
# runs.
REQUESTS, OF_LOAD = 10_000, 4_000
BLOCKS = 8192
# Placement of written pages: `ftl.allocate`.
PLACES = {"by address": "static", "in order of arrival": "dynamic"}
DEPTH = 32


def figure(setup: Setup) -> Figure:
    """Reproduces figure 2.20: the loads of table 2.2, and recorded traces."""
    traces = recorded(setup, KNOWN)
    kinds = [(kind, places) for places in PLACES for kind in ("dies", "planes")]
    cases = {
        (name, _on(kind, places, count)): case(setup, name, path, kind, places, count)
        for name, path in {**dict.fromkeys(TABLE), **traces}.items()
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
    joined = {
        (name, places): [
            or_nan(own[_on("planes", places, count)]["commands"]["pages_per_command"])
            for count in COUNTS
        ]
        for name, own in runs.items()
        for places in PLACES
    }
    return _figure(setup, found, joined, skipped)


def is_known(name: str) -> bool:
    """Returns `True` if a trace was recorded from one of the document's workloads."""
    return any(name.startswith(f"{kind} (") for kind in KNOWN)


def _on(kind: str, places: str, count: int) -> str:
    return f"{count} {kind}, {places}"


def of_load(setup: Setup) -> int:
    """Returns the number of requests of a load. With `--quick`, half of the default."""
    return OF_LOAD // 2 if setup.quick else OF_LOAD


def case(
    setup: Setup,
    name: str,
    path: Path | None,
    kind: str,
    places: str,
    count: int,
    device: str = MLC,
) -> Case:
    """Returns the case of a load of table 2.2, which has no `path`, or of a trace on an SSD with
    `count` dies or planes."""
    many_dies = kind == "dies"
    overrides: dict[str, Value] = {
        "nand.geometry.dies_per_package": count if many_dies else 1,
        "nand.geometry.planes_per_die": 1 if many_dies else count,
        "nand.geometry.blocks_per_plane": BLOCKS // count,
        "ssd.composition": "off" if many_dies else "greedy",
        "ftl.allocate": PLACES[places],
        "ftl.over_provisioning_ratio": 0.5,
    }
    label = f"{device} as an SSD, {_on(kind, places, count)}"
    if path is None:
        made = TABLE[name].workload(of_load(setup), DEPTH)
        return Case(device, f"{name}, {label}", overrides | made)
    overrides["replay.mode.closed-loop.queue_depth"] = DEPTH
    return Case(device, label, overrides, path, setup.requests(REQUESTS))


def _figure(setup: Setup, found: Found, joined: Joined, skipped: list[str]) -> Figure:
    # Gain of 2, 4 and 8 dies over the same number of planes, by trace and placement.
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
    known = {kind for kind in KNOWN if any(name.startswith(f"{kind} (") for name in found)}
    absent = ", ".join(sorted(set(KNOWN) - known))
    return Figure(
        id="2.20",
        title="Figure 2.20: dies and planes under application loads",
        section="2.8.5",
        measured=(
            "IOPS of a whole SSD with one package of MLC1, with 1 to 8 dies of one plane "
            "(die-first) or one die of 1 to 8 planes (plane-first), all of the same capacity, "
            f"at queue depth {DEPTH}, for {of_load(setup):,} requests of each load of "
            f"table 2.2 and the first {setup.requests(REQUESTS):,} of each trace. Written pages "
            "are placed by address, or in order of arrival, over planes in turn."
        ),
        rows=_rows(gains),
        plots=[
            Plot(
                name,
                "IOPS by number of dies or planes.",
                lines(COUNTS, one, "dies or planes", "IOPS", log=True),
            )
            for name, one in found.items()
        ],
        claims=_claims(setup, found, gains, joined),
        explanation=[
            FITTED,
            "Under usr, the reads of 52.6 KB keep the bus busy with eight dies, so the step from "
            "four to eight dies gains less than the step from four to eight planes.",
            "Reads and writes of different planes form one command only if their pages have the "
            "same position in their blocks. With placement by address, requests that do not fill "
            "all planes move the write positions of the planes apart, and small random writes "
            "hardly ever align again; the document describes this for many planes. With placement "
            "in order of arrival, positions stay aligned, and planes still wait for each other. "
            "Dies have no such rule. The mean gain of dies over planes depends on the traces: it "
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
    published = PUBLISHED("2.20", "IOPS gain of many dies over as many planes")
    for which, other in (("the loads of table 2.2", False), ("all traces", True)):
        for places in PLACES:
            values = [
                one
                for (name, where), some in gains.items()
                if where == places and (name in TABLE) is not other
                for one in some
            ]
            if values:
                what = (
                    f"IOPS gain of dies over as many planes, pages placed {places}, mean of {which}"
                )
                mean = sum(values) / len(values)
                rows.append(Row(what, mean, "%", published, other_reading=other))
    rows += [
        Row(
            f"{name}, pages placed {places}: IOPS gain of {count} dies over {count} planes",
            value,
            "%",
        )
        for (name, places), values in gains.items()
        for count, value in zip(COUNTS[1:], values, strict=True)
    ]
    return rows


def _claims(
    setup: Setup, found: Found, gains: dict[tuple[str, str], list[float]], joined: Joined
) -> list[Claim]:
    none = "" if found else "no recorded trace was found"
    claims = [
        Claim(
            "IOPS are higher with dies than with as many planes, under every load and trace",
            all(value > 0 for values in gains.values() for value in values),
            "; ".join(
                f"{name}, {places} {min(values):+.1f} to {max(values):+.0f} %"
                for (name, places), values in gains.items()
            ),
        ),
        *_more(found),
        _pattern(setup, found),
        Claim(
            "The more planes a die has, the smaller the share of them that a command uses",
            all(
                later <= earlier
                for pages in joined.values()
                for earlier, later in pairwise(_used(pages))
            )
            and all(_used(pages)[-1] < 1 for pages in joined.values()),
            "; ".join(
                f"{name}, {places}: {' '.join(f'{one:.1%}' for one in _used(pages)[1:])}"
                for (name, places), pages in joined.items()
            ),
            ids=("J2-086",),
        ),
    ]
    if none:
        claims = [replace(one, holds=None, report_only=none) for one in claims]
    return [*claims, _limited(found)]


def _used(pages: list[float]) -> list[float]:
    """Returns the share of the planes that a command uses, by number of planes."""
    return [one / count for one, count in zip(pages, COUNTS, strict=True)]


def _more(found: Found) -> list[Claim]:
    steps = {
        (name, places): [
            (gain(*planes), gain(*dies))
            for planes, dies in zip(
                pairwise(one[f"planes, {places}"]), pairwise(one[f"dies, {places}"]), strict=True
            )
        ]
        for name, one in found.items()
        for places in PLACES
    }
    gained = all(dies > 0 for of in steps.values() for _, dies in of)
    whole = {
        (name, places): [
            (planes / one[f"planes, {places}"][0], dies / one[f"dies, {places}"][0])
            for planes, dies in zip(
                one[f"planes, {places}"][1:], one[f"dies, {places}"][1:], strict=True
            )
        ]
        for name, one in found.items()
        for places in PLACES
    }
    told = "; ".join(
        f"{name}, {places}: planes {' '.join(f'{planes:+.0f} %' for planes, _ in of)}, dies "
        + " ".join(f"{dies:+.0f} %" for _, dies in of)
        for (name, places), of in steps.items()
    )
    return [
        Claim(
            "Every doubling of the dies raises IOPS, and 2, 4 and 8 dies gain more over one die "
            "than as many planes over one plane, under every load and trace",
            gained and all(dies > planes for of in whole.values() for planes, dies in of),
            told,
            ids=("J2-093",),
        ),
        Claim(
            "Every doubling of the dies gains more than the same doubling of the planes, under "
            "every load and trace except usr",
            all(
                dies > planes
                for (name, _), of in steps.items()
                if not name.startswith("usr")
                for planes, dies in of
            ),
            told,
        ),
    ]


def _pattern(setup: Setup, found: Found) -> Claim:
    one, eight = (
        stream(setup, part(setup, planes=planes, mode=TWO), "program", TWO)["bandwidth_mb_per_s"]
        for planes in (1, 8)
    )
    ratios = {
        name: of["planes, by address"][-1] / of["planes, by address"][0]
        for name, of in found.items()
    }
    return Claim(
        "Eight planes gain less over one plane under every load and trace, with pages placed by "
        "address, than under sequential writes",
        all(ratio < eight / one for ratio in ratios.values()),
        f"sequential writes {eight / one:.2f} times, "
        + ", ".join(f"{name} {ratio:.2f} times" for name, ratio in ratios.items()),
        ids=("J2-022",),
    )


def _limited(found: Found) -> Claim:
    last = {
        name: gain(*of["planes, by address"][2:]) for name, of in found.items() if is_known(name)
    }
    return Claim(
        f"Traces of the document's workloads: eight planes gain at most {PER_CENT:g} % over four, "
        "with pages placed by address",
        all(one <= PER_CENT for one in last.values()) if last else None,
        ", ".join(f"{name} {one:+.0f} %" for name, one in last.items()),
        report_only="" if last else "the recorded traces of the document are missing",
        ids=("J2-085",),
    )
