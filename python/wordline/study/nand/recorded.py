"""Figure 2.20: recorded traces, many dies against many planes."""

from collections.abc import Iterator
from pathlib import Path

import wordline
from wordline import WordlineError
from wordline.config import Value
from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.nand.modes import MLC, PUBLISHED, gain, lines

COUNTS = (1, 2, 4, 8)
BUNDLED = Path(__file__).parents[4] / "traces" / "postgresql-mixed.csv.gz"
# Workloads of the document (table 2.2), and what files of them may be called.
KNOWN = {
    "msnfs": ("msnfs",),
    "fin": ("financial", "fin1", "fin2"),
    "web": ("websearch", "web_"),
    "usr": ("usr_", "-usr"),
    "prn": ("prn_", "-prn"),
}
# Of a trace; half of the device is spare, so that no collection is part of the figure.
REQUESTS = 10_000
BLOCKS = 8192
DEPTH = 32


def _traces(setup: Setup) -> Iterator[tuple[str, Path]]:
    if BUNDLED.exists():
        yield "postgresql (bundled)", BUNDLED
    for workload, words in KNOWN.items():
        for path in setup.traces:
            if any(word in path.name.lower() for word in words):
                yield f"{workload} ({path.name.split('.')[0]})", path


def figure(setup: Setup) -> Figure:
    """Figure 2.20."""
    found: dict[str, dict[str, list[float]]] = {}
    skipped: list[str] = []
    for name, path in _traces(setup):
        try:
            found[name] = {
                kind: [_iops(setup, path, kind, count) for count in COUNTS]
                for kind in ("dies", "planes")
            }
        except WordlineError as fault:
            skipped.append(f"{name} was left out: {fault}")
    return _figure(found, skipped)


def _iops(setup: Setup, path: Path, kind: str, count: int) -> float:
    many_dies = kind == "dies"
    overrides: dict[str, Value] = {
        "nand.geometry.dies_per_package": count if many_dies else 1,
        "nand.geometry.planes_per_die": 1 if many_dies else count,
        "nand.geometry.blocks_per_plane": BLOCKS // count,
        "nand.scheduler": "die-first" if many_dies else "plane-first",
        "ftl.over_provisioning_ratio": 0.5,
        "replay.mode.closed-loop.queue_depth": DEPTH,
    }
    result = wordline.run(
        MLC,
        path,
        overrides=overrides,
        requests=False,
        fit="wrap",
        align="expand",
        time_order="clamp",
        volumes="shared",
        on_bad_line="skip",
        max_requests=setup.requests(REQUESTS),
    )
    setup.note(f"{MLC} as an SSD, {count} {kind}", result.config)
    return float(result.summary["throughput"]["iops"])


def _figure(found: dict[str, dict[str, list[float]]], skipped: list[str]) -> Figure:
    gains = {
        name: [gain(p, d) for d, p in zip(one["dies"][1:], one["planes"][1:], strict=True)]
        for name, one in found.items()
    }
    everything = [value for values in gains.values() for value in values]
    rows: list[Row] = []
    claims: list[Claim] = []
    if everything:
        mean = sum(everything) / len(everything)
        published = PUBLISHED("2.20", "many dies over many planes")
        rows = [Row("IOPS, dies over planes, mean of all", mean, "%", published)]
        rows += [
            Row(f"{name}: {count} dies over {count} planes", value, "%")
            for name, values in gains.items()
            for count, value in zip(COUNTS[1:], values, strict=True)
        ]
        claims = _claims(found, gains, mean)
    known = {kind for kind in KNOWN if any(name.startswith(kind) for name in found)}
    absent = ", ".join(sorted(set(KNOWN) - known))
    return Figure(
        id="2.20",
        title="Figure 2.20: recorded traces, dies against planes",
        section="2.8.5",
        measured="IOPS of a whole SSD with one package of MLC1, of 1 to 8 dies of one plane "
        "(die-first) or one die of 1 to 8 planes (plane-first), all of one capacity, 32 requests "
        f"at a time from the first {REQUESTS:,} of each trace.",
        rows=rows,
        plots=[
            Plot(name, "Requests a second by dies or planes.",
                 lines(COUNTS, one, "dies or planes", "IOPS", log=True))
            for name, one in found.items()
        ],
        claims=claims,
        explanation=[
            "Reads and writes of different planes go in one command only if their pages lie at "
            "the same place in their blocks. Pages that are written together get neighbouring "
            "planes, but requests that do not fill all planes leave their write positions apart, "
            "and reads find their pages where they were once written. Dies know no such rule.",
            *([f"Of the document's workloads, no trace was given for {absent}; `--traces DIR` "
               "names a folder of traces, which are recognised by their names."] if absent else []),
            *([] if found else ["No trace was found at all, so that nothing was run."]),
            *skipped,
        ],
        data={"counts": list(COUNTS), "iops": found},
    )  # fmt: skip


def _claims(
    found: dict[str, dict[str, list[float]]], gains: dict[str, list[float]], mean: float
) -> list[Claim]:
    stalled = {
        name: (gain(one["planes"][2], one["planes"][3]), gain(one["dies"][2], one["dies"][3]))
        for name, one in found.items()
    }
    return [
        Claim(
            "Many dies serve more requests than as many planes, with every trace",
            all(value > 0 for values in gains.values() for value in values),
            f"mean {mean:+.1f} %; "
            + ", ".join(f"{name} {min(v):+.0f} to {max(v):+.0f} %" for name, v in gains.items()),
        ),
        Claim(
            "From four on, planes bring less than dies",
            all(planes < dies for planes, dies in stalled.values()),
            ", ".join(
                f"{name}: 4 to 8 planes {planes:+.0f} %, dies {dies:+.0f} %"
                for name, (planes, dies) in stalled.items()
            ),
        ),
    ]
