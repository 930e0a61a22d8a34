"""Jung 2013, chapter 4: FTL on the host, and firmware behind a bridge."""

from wordline_studies.figure import Numbers, Study
from wordline_studies.host_side import cliff, resources, stripe, workers

STUDY = Study(
    "host-side",
    "The host side of flash",
    "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State "
    "University, 2013, chapter 4",
    (
        workers.latency,
        workers.queues,
        cliff.cliff,
        resources.memory,
        resources.processors,
        stripe.stripe,
    ),
    published=Numbers("wordline_studies.host_side"),
)
