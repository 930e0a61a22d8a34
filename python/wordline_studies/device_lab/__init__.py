"""Jung 2013, chapter 5: reviews of six drives."""

from wordline_studies.device_lab import drives, idleness, reads, trims, wear, writes
from wordline_studies.figure import Numbers, Study

STUDY = Study(
    "device-lab",
    "Drive reviews",
    "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State "
    "University, 2013, chapter 5",
    (
        drives.figure,
        reads.worst_kind,
        reads.aged_reads,
        reads.layouts,
        wear.cycles,
        wear.managed_reads,
        writes.mixes,
        writes.cliffs,
        writes.buffers,
        trims.gains,
        trims.costs,
        idleness.pauses,
    ),
    published=Numbers("wordline_studies.device_lab"),
)
