"""Jung 2013, chapter 7: GC scheduling."""

from collections.abc import Iterator

from wordline_studies.figure import Figure, Numbers, Setup, Study
from wordline_studies.gc import idleness, responses, traces, views, wear, worst
from wordline_studies.gc.loads import SIX_SSDS, writes_of
from wordline_studies.gc.runs import members


def _generated(setup: Setup) -> Iterator[Figure]:
    """Yields the figures that share the loads of the disks, and the figure of write-intensive
    sections."""
    with members(SIX_SSDS, writes_of(setup)) as loads:
        found = responses.run(setup, loads)
        known = {
            (scheme, name): run.summary
            for name, runs in found.items()
            for scheme, run in runs.items()
        }
        yield idleness.loads(setup, loads)
        yield from views.figures(setup)
        yield from responses.figures(setup, loads, found)
        yield from worst.figures(setup, loads, known)
        yield from wear.figures(setup, loads, known)
    yield idleness.sections(setup)


STUDY = Study(
    name="gc",
    title="GC scheduling",
    source="M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania "
    "State University, 2013, chapter 7",
    figures=(_generated, traces.figure),
    published=Numbers("wordline_studies.gc"),
)
