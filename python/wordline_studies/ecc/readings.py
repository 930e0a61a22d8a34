"""Other readings: a device without GC, and other arrivals."""

from collections.abc import Mapping

from wordline_studies.ecc.runs import (
    AGCR,
    ALL,
    DEVICE,
    NORMAL,
    OURS,
    SCHEMES,
    Loads,
    Passes,
    changes,
    listed,
    means,
    sized,
    some_loads,
)
from wordline_studies.ecc.schemes import OF
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.outcome import is_reproduced
from wordline_studies.regulation import fitted
from wordline_studies.regulation.runs import passes

BY_SPACE, ROOMY = "device of the address space", "16 GiB"
READINGS: dict[str, tuple[fitted.Arrivals, bool]] = {
    f"bursts, {BY_SPACE}": ("bursts", True),
    f"bursts, {ROOMY}": ("bursts", False),
    f"mixed bursts, {ROOMY}": ("mixed", False),
    f"spaced, {BY_SPACE}": ("spaced", True),
    f"spaced, {ROOMY}": ("spaced", False),
}
"""Arrivals of the loads, and whether the device has the size of the load's address space (True) or
16 GiB (False), by reading."""
Results = Mapping[str, tuple[Loads, Passes]]


def figure(setup: Setup) -> Figure:
    """Returns the figure for some loads under each reading."""
    results: dict[str, tuple[Loads, Passes]] = {}
    for reading, (arrivals, by_space) in READINGS.items():
        found = some_loads(arrivals)
        own = sized(found) if by_space else {}
        results[reading] = (found, passes(setup, DEVICE, found, SCHEMES, sized=own))
    return Figure(
        id="readings",
        title="Other readings: a device without GC, and other arrivals",
        section="5.4",
        measured=(
            "Changes of the mean response times of six loads, half as long as those of the "
            "figures above, in the second pass. A device of 16 GiB holds only the accessed pages "
            "and has no GC. In mixed bursts, each request reads or writes independently. Spaced "
            f"loads have bursts of {fitted.SPACED} such requests with a median gap of "
            f"{fitted.SPACED_NS / 1e6:g} ms."
        ),
        rows=[
            *(
                Row(
                    f"change of the response time of {OF[of]}, {ours} against {base}, mean of the "
                    f"loads, {reading}",
                    value,
                    "%",
                )
                for ours, base in ((OURS, NORMAL), (OURS, AGCR))
                for reading, (found, runs) in results.items()
                for of, value in means(found, runs, ours, base).items()
            ),
            *(
                Row(
                    f"{name.split(',')[0]}: change of the response time of {OF[of]}, {scheme} "
                    f"against normal, {reading}",
                    value,
                    "%",
                )
                for reading, (found, runs) in results.items()
                for of in ("all", "read")
                for scheme in ALL[1:]
                for name, value in changes(found, runs, of, scheme).items()
            ),
        ],
        claims=_claims(results),
        explanation=[
            "On a device with the size of the address space, GC runs, and erases can be compared, "
            "as in the chapter. The other figures use this device, and arrivals as in recorded "
            "traces: in web_3, a trace of table 8, 99 % of the requests of a burst have the "
            "direction of the previous request.",
        ],
    )


def _claims(results: Results) -> list[Claim]:
    """Returns the claims that test why claims of other figures do not hold."""
    roomy = f"bursts, {ROOMY}"
    found, runs = results[roomy]
    agcr = changes(found, runs, "all", AGCR)
    mixed = {
        scheme: {
            name.split(",")[0]: value
            for name, value in changes(*results[f"mixed bursts, {ROOMY}"], "read", scheme).items()
        }
        for scheme in (OURS, AGCR)
    }
    against = means(*results[f"mixed bursts, {ROOMY}"], OURS, AGCR)["read"]
    named = {name: mixed[AGCR][name] for name in ("financial1", "hm0", "src0")}
    ours = {name: mixed[OURS][name] for name in ("financial1", "hm0")}
    return [
        Claim(
            "Without GC, requests of Financial1 are faster under both schemes than under the "
            "normal scheme, and under AGCR by the published 45 % (within the tolerance)",
            is_reproduced(agcr["financial1"], -45, "%")
            and changes(found, runs, "all", OURS)["financial1"] < 0,
            f"AGCR {agcr['financial1']:+.1f} %",
        ),
        Claim(
            "With mixed bursts and without GC, reads on src0 are faster under differentiated ECC "
            "than under the normal scheme",
            mixed[OURS]["src0"] < 0,
            f"{mixed[OURS]['src0']:+.1f} %",
        ),
        Claim(
            "With mixed bursts and without GC, reads on Financial1 and hm0 take more than 40 % "
            "less time under differentiated ECC than under the normal scheme, as published",
            max(ours.values()) < -40,
            listed(ours),
        ),
        Claim(
            "With mixed bursts and without GC, reads on Financial1, hm0 and src0 are faster under "
            "AGCR than under the normal scheme",
            max(named.values()) < 0,
            listed(named),
        ),
        Claim(
            "With mixed bursts and without GC, reads take less time under differentiated ECC than "
            "under AGCR by the published 11 %, mean of the loads (within the tolerance)",
            is_reproduced(against, -11, "%"),
            f"{against:+.1f} %",
        ),
    ]
