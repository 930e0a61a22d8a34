"""HTML report of the lab, one self-contained file."""

from collections.abc import Mapping, Sequence

from wordline._internal import own_version
from wordline._lab.finding import Experiment, Finding
from wordline._lab.test_device import TestDevice
from wordline._render import html, units


def render(
    bench: TestDevice,
    experiments: Sequence[Experiment],
    findings: Mapping[str, Finding],
    failed: Sequence[str],
) -> str:
    """Returns the page as HTML. `failed` lists the experiments that failed to run."""
    drawn = {
        f"{name}-{place}": plot.figure
        for name, finding in findings.items()
        for place, plot in enumerate(finding.plots)
    }
    return html.render(
        "wordline._lab",
        "lab.html.jinja",
        drawn,
        bench=bench,
        experiments=experiments,
        findings=findings,
        failed=failed,
        code=html.code,
        size=units.size,
        version=own_version.installed(),
    )
