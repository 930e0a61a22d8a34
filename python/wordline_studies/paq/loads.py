"""Loads of table 6.1, generated and written as traces, and the names of recorded ones."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import log
from pathlib import Path
from random import Random

from wordline_studies import generated
from wordline_studies.generated import Request

PAGE = 4096
# Table 3.1 counts in units of 2 KiB (`wordline_studies.palloc.loads`).
UNIT = 2048
# Start addresses of requests are within 2 GiB, which even the smallest device of the study
# provides.
PAGES = 2**19
# Mean interval between the requests of the written traces.
GAP_NS = 1000
# Words in the names of traces of the document's workloads.
KNOWN = {
    "fin": ("financial", "fin1", "fin2"),
    "web": ("websearch",),
    "usr": ("usr_", "-usr"),
    "prn": ("prn_", "-prn"),
    "sql": ("tpcc", "sql"),
    "msnfs": ("msnfs",),
    # web_3 has 21,330 writes and 10,050 reads, like sql4 of table 6.1. It is replayed in full.
    "sql4": ("web_3",),
}


@dataclass(frozen=True)
class Sizes:
    """Mean sizes of writes and reads. Pages, at least one."""

    write: float
    read: float
    source: str

    @classmethod
    def units(cls, write: float, read: float) -> "Sizes":
        """Returns the sizes of table 3.1, which counts in units of 2 KiB."""
        pages = [max(1, units * UNIT / PAGE) for units in (write, read)]
        return cls(pages[0], pages[1], "table 3.1")

    @classmethod
    def volumes(cls, written: int, read: int, writes: int, reads: int) -> "Sizes":
        """Returns sizes from volumes of table 7.1 in KiB and numbers of requests of table 6.1. A
        size without requests is one page."""
        pages = [
            max(1, round(1024 * kib / count / PAGE, 2)) if count else 1
            for kib, count in ((written, writes), (read, reads))
        ]
        return cls(pages[0], pages[1], "tables 7.1 and 6.1")


FIN1, FIN2 = Sizes.units(1.5, 1), Sizes.units(1, 1)
WEB = Sizes.units(4, 7.5)
USR = Sizes.units(5, 20)
SQL = (
    Sizes.units(4, 14.5),
    Sizes.units(4.5, 22.5),
    Sizes.units(10.5, 26.5),
    Sizes.units(10, 37),
)
# Table 2.2: reads of 52.6 KB, 2.6 % of the bytes written, over the requests of table 6.1.
READ_KB, WRITTEN = 52.6, 0.026
USR2 = Sizes(
    round(1000 * READ_KB * WRITTEN / (1 - WRITTEN) * 41_426_266 / 3_857_714 / PAGE, 2),
    round(1000 * READ_KB / PAGE, 2),
    "table 2.2",
)
# Disks 0 to 5 of table 7.1 have the requests of msnfs1 to msnfs6: KiB written and read. The printed
# write volume of disk 0 is a tenth of the volume that the sizes of msnfs in table 3.1 give. msnfs1
# has those sizes.
MSNFS1 = Sizes.units(10, 23.5)
MSNFS = (
    Sizes.volumes(17_722_159, 35_383_340 - 17_722_159, 2_100_032, 121_697),
    Sizes.volumes(1_958, 0, 500, 0),
    Sizes.volumes(2_387_767, 2_392_445 - 2_387_767, 4_014, 338),
    Sizes.volumes(24_835_283, 117_607_983 - 24_835_283, 3_003_205, 9_624_191),
    Sizes.volumes(31_777_436, 130_033_924 - 31_777_436, 3_040_098, 9_941_612),
)


@dataclass(frozen=True)
class Load:
    """A row of table 6.1, and the mean sizes of its writes and reads."""

    writes: int
    reads: int
    random_writes_percent: float
    random_reads_percent: float
    sizes: Sizes

    @property
    def read_percent(self) -> float:
        """Share of reads among the requests. Per cent."""
        return 100 * self.reads / (self.reads + self.writes)

    def count(self, most: int) -> int:
        """Returns the number of requests to simulate: `most`, or all of a load that has fewer."""
        return min(most, self.reads + self.writes)


TABLE = {
    "fin1": Load(4_099_354, 1_235_633, 97.86, 96.98, FIN1),
    "fin2": Load(653_082, 3_046_112, 99.2, 97.49, FIN2),
    "web1": Load(212, 1_055_236, 99.06, 93.53, WEB),
    "web2": Load(990, 4_578_819, 100, 93.33, WEB),
    "web3": Load(1_260, 4_260_449, 99.84, 91.25, WEB),
    "usr1": Load(1_333_406, 904_483, 94.23, 92.2, USR),
    "usr2": Load(3_857_714, 41_426_266, 96.24, 88.97, USR2),
    "usr3": Load(1_994_612, 8_575_434, 97.02, 82.77, USR),
    "prn1": Load(4_983_406, 602_480, 76.4, 88.6, USR),
    "prn2": Load(2_769_610, 8_463_801, 97.16, 90.5, USR),
    "sql1": Load(1_423_458, 606_487, 93.5, 89.91, SQL[0]),
    "sql2": Load(73_833, 87_058, 16.07, 73.66, SQL[1]),
    "sql3": Load(38_963, 5_136_405, 92.95, 71.96, SQL[2]),
    "sql4": Load(21_330, 10_050, 46.89, 86.95, SQL[3]),
    "msnfs1": Load(1_467_625, 41_772, 87.23, 99.79, MSNFS1),
    "msnfs2": Load(2_100_032, 121_697, 66.71, 88.8, MSNFS[0]),
    "msnfs3": Load(500, 0, 0, 99, MSNFS[1]),
    "msnfs4": Load(4_014, 338, 22.52, 64.79, MSNFS[2]),
    "msnfs5": Load(3_003_205, 9_624_191, 97.86, 96.98, MSNFS[3]),
    "msnfs6": Load(3_040_098, 9_941_612, 100, 97.51, MSNFS[4]),
}
WEBS = ("web1", "web2", "web3")
FITTED = (
    "The loads are generated and fitted to table 6.1. Shares of writes, of random writes and "
    "of random reads are the table's. All loads have the same number of requests, except "
    "msnfs3 and msnfs4, which have only 500 and 4,352. A random request starts at any page of "
    "2 GiB, any other at the end of the previous request of its kind. Sizes are whole pages of "
    "4 KiB with the means of tables 3.1, 2.2 and 7.1."
)


def requests(load: Load, count: int) -> Iterator[Request]:
    """Yields `count` requests of a load, all at the same time. Deterministic."""
    random = Random(1)  # noqa: S311
    ends = {True: 0, False: 0}
    for _ in range(count):
        writes = 100 * random.random() >= load.read_percent
        mean = load.sizes.write if writes else load.sizes.read
        pages = int(mean) + (random.random() < mean % 1)
        share = load.random_writes_percent if writes else load.random_reads_percent
        anywhere = 100 * random.random() < share or ends[writes] + pages > PAGES
        first = int(random.random() * (PAGES - pages)) if anywhere else ends[writes]
        ends[writes] = first + pages
        yield Request(0, writes, first, pages)


def written(loads: Sequence[str], count: int) -> AbstractContextManager[dict[str, Path]]:
    """Writes temporary traces of loads and yields their paths by load.

    Arrivals are independent of each other, on average one per microsecond.
    """
    return generated.written(
        {load: _arriving(TABLE[load], TABLE[load].count(count)) for load in loads}, PAGE
    )


def _arriving(load: Load, count: int) -> Iterator[Request]:
    random = Random(2)  # noqa: S311
    now = 0
    for one in requests(load, count):
        yield one._replace(at=now)
        now += round(-GAP_NS * log(1 - random.random()))
