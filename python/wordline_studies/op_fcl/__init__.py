"""OP-FCL: a flash cache in front of a disk that reserves space for GC."""

from wordline_studies.figure import Numbers, Study
from wordline_studies.op_fcl import beyond, choices, figures, readings, reasons, sensitivity, steps

STUDY = Study(
    name="op-fcl",
    title="Caching less for better performance: reads, writes and over-provisioning",
    source="Y. Oh, J. Choi, D. Lee, S. H. Noh, Caching less for better performance: Balancing "
    "cache size and update cost of flash memory cache in hybrid storage systems, FAST 2012",
    figures=(
        figures.model_figures,
        choices.figure,
        figures.figures,
        steps.steps,
        sensitivity.sensitivity,
        reasons.reasons,
        readings.readings,
        readings.recordings,
        beyond.beyond,
    ),
    shortened=True,
    published=Numbers("wordline_studies.op_fcl"),
)
