"""Jung 2013, chapter 3: page allocation strategies."""

from wordline_studies.figure import Numbers, Study
from wordline_studies.palloc import bounds, latency, queues, reading, sequential, throughput

STUDY = Study(
    name="palloc",
    title="Page allocation strategies",
    source="M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania "
    "State University, 2013, chapter 3",
    figures=(
        reading.figure,
        throughput.figures,
        latency.figures,
        sequential.figure,
        bounds.figures,
        queues.rules,
    ),
    shortened=True,
    published=Numbers("wordline_studies.palloc"),
)
