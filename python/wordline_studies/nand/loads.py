"""Loads of table 2.2, generated."""

from dataclasses import dataclass

from wordline.config import Value
from wordline_studies.palloc.loads import sizes

PAGE = 2048


@dataclass(frozen=True)
class Load:
    """A row of table 2.2: share of the data that is written, and mean sizes of writes and reads in
    KB; and the share of random requests in table 6.1, for the trace of the same name whose share of
    data written is nearest. Shares in per cent.

    Table 3.1 has the shares of fin and msnfs as shares of the data.
    """

    data_written_percent: float
    write_kb: float
    read_kb: float
    random_percent: float

    @property
    def write_ratio(self) -> float:
        """Share of writes among the requests."""
        writes = self.data_written_percent / self.write_kb
        return writes / (writes + (100 - self.data_written_percent) / self.read_kb)

    def workload(self, count: int, depth: int) -> dict[str, Value]:
        """Returns workload settings that give these means, in a closed loop. The size of a request
        is one of the two whole numbers of pages around the mean, but at least one page."""
        write, read = (max(1.0, 1000 * kb / PAGE) for kb in (self.write_kb, self.read_kb))
        return {
            "workload.requests": count,
            "workload.read_ratio": round(1 - self.write_ratio, 6),
            "workload.request_bytes": sizes(read),
            "workload.write_bytes": sizes(write),
            "workload.align_bytes": PAGE,
            "workload.pattern.mixed.random_ratio": self.random_percent / 100,
            "workload.arrival.closed-loop.queue_depth": depth,
        }


# Table 2.2 gives fin's reads 0.4 KB, less than a sector; its data over the requests of table 6.1
# are 2.25 KB.
TABLE = {
    "msnfs, table 2.2": Load(93.9, 20.7, 47.1, 87.6),
    "fin, table 2.2": Load(84.6, 3.7, 2.25, 97.7),
    "web, table 2.2": Load(0.01, 99.1, 15.1, 93.5),
    "usr, table 2.2": Load(2.6, 96.2, 52.6, 89.6),
    "prn, table 2.2": Load(14.5, 97.1, 15.1, 92.1),
}
FITTED = (
    "The loads of table 2.2 are generated. The share of writes refers to the data; the size of a "
    "request is one of the two whole numbers of pages around the mean; the share of random "
    "requests is that of table 6.1. Random requests start anywhere on the device, others at the "
    "end of the previous request."
)
