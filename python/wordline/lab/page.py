"""The report of the laboratory: one file that needs nothing but a browser."""

import wordline
from wordline import pages, units
from wordline.lab.results import Lab
from wordline.study.page import code


def render(lab: Lab) -> str:
    """The page as HTML."""
    drawn = {
        f"{name}-{place}": plot.figure
        for name, finding in lab.findings.items()
        for place, plot in enumerate(finding.plots)
    }
    return pages.render(
        "lab",
        "lab.html.jinja",
        drawn,
        lab=lab,
        bench=lab.bench,
        code=code,
        size=units.size,
        version=wordline.__version__,
    )
