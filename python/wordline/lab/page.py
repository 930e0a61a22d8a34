"""The report of the laboratory: one file that needs nothing but a browser."""

from collections.abc import Mapping, Sequence

import wordline
from wordline import pages, units
from wordline.lab.bench import Bench
from wordline.lab.finding import Experiment, Finding


def render(
    bench: Bench,
    experiments: Sequence[Experiment],
    findings: Mapping[str, Finding],
    failed: Sequence[str],
) -> str:
    """The page as HTML; `failed` are the names of the experiments that could not be run."""
    drawn = {
        f"{name}-{place}": plot.figure
        for name, finding in findings.items()
        for place, plot in enumerate(finding.plots)
    }
    return pages.render(
        "wordline.lab",
        "lab.html.jinja",
        drawn,
        bench=bench,
        experiments=experiments,
        findings=findings,
        failed=failed,
        code=pages.code,
        size=units.size,
        version=wordline.__version__,
    )
