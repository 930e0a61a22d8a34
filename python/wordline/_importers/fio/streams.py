"""Converts a fio job to streams with a load."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Never

from wordline._importers.fio.job_file import Job
from wordline._render.units import many

SECTOR = 512
SYNCHRONOUS = frozenset(["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "sg"])
ASYNCHRONOUS = frozenset(
    [
        "libaio",
        "io_uring",
        "io_uring_cmd",
        "posixaio",
        "windowsaio",
        "solarisaio",
        "xnvme",
        "spdk",
        "null",
    ]
)
# Address pattern and read share; trims have none.
DIRECTIONS: dict[str, tuple[bool, float | None]] = {
    "read": (False, 1.0),
    "write": (False, 0.0),
    "trim": (False, None),
    "randread": (True, 1.0),
    "randwrite": (True, 0.0),
    "randtrim": (True, None),
    "rw": (False, 0.5),
    "readwrite": (False, 0.5),
    "randrw": (True, 0.5),
}
SLOWEST, FASTEST = Fraction(1, 1000), 10**9  # requests per second
DEEPEST = 65_536
MOST_REQUESTS = 10**15  # maximum number of requests of a job that ends after a time
MOST_SIZES = 256  # maximum number of sizes of a range
NAME = 64  # maximum length of a stream name


class Clones:
    """Converts one job to a stream per clone."""

    def __init__(self, job: Job, capacity: int, notes: list[str]) -> None:
        self.job = job
        self.capacity = capacity
        self.notes = notes
        base = job.text("kb_base", "1024")
        if base not in ("1000", "1024"):
            job.fault("kb_base", "the base is neither 1000 nor 1024", "give 1000 or 1024")
        self.binary = base == "1024"

    def streams(self) -> Iterator[dict[str, Any]]:
        """Yields a stream per clone."""
        clones = self.count("numjobs", 1)
        if clones > 256:
            self.job.fault(
                "numjobs", "at most 256 jobs are supported", "lower numjobs, and raise iodepth"
            )
        name = re.sub(r"[^A-Za-z0-9_-]", "_", self.job.name)[: NAME - 4]
        for clone in range(clones):
            yield {
                "name": name if clones == 1 else f"{name}-{clone + 1}",
                "workload": self.workload(clone),
            }

    def workload(self, clone: int) -> dict[str, Any]:
        """Returns the `workload` table of a stream."""
        random, read_ratio = self.direction()
        sizes = self.sizes()
        align = self.align(sizes)
        start, length = self.region(align, clone)
        if length < max(size for mix in sizes for size, _ in mix):
            self.job.fault(
                "size",
                f"a region of {many(length, 'byte')} cannot hold a request",
                "raise size, or lower bs",
            )
        load: dict[str, Any] = {}
        reads, writes, trims = map(_given, sizes)
        mean = _mean(sizes, read_ratio)
        load |= self.end(length, mean)
        if read_ratio is None:
            load["trim_ratio"] = 1.0
            reads = trims
        else:
            load["read_ratio"] = read_ratio
            if read_ratio == 0.0:
                reads = writes
            elif read_ratio < 1.0 and writes != reads:
                load["write_bytes"] = writes
        load["request_bytes"] = reads
        load["align_bytes"] = align
        load["pattern"] = self.pattern(random)
        if length < self.capacity:
            # Half a sector is added, so that rounding the share does not lose a sector.
            load["working_set_ratio"] = min(1.0, (length + SECTOR // 2) / self.capacity)
        if start:
            load["offset_bytes"] = start
        load["arrival"] = self.arrival(mean)
        if self.job.text("sync", "0") not in ("0", "none"):
            load["fua_ratio"] = 1.0
        self.flushes(load, read_ratio)
        return load

    def direction(self) -> tuple[bool, float | None]:
        """Returns whether addresses are random, and the share of reads, which is None for trims."""
        word = self.job.text("rw", "read")
        if word not in DIRECTIONS:
            known = ", ".join(DIRECTIONS)
            self.job.fault("rw", "this direction is not modelled", f"give one of {known}")
        random, share = DIRECTIONS[word]
        if share != 0.5:
            return random, share
        if "rwmixwrite" in self.job.options and "rwmixread" not in self.job.options:
            return random, 1 - self.percent("rwmixwrite", 50)
        return random, self.percent("rwmixread", 50)

    def sizes(self) -> list[list[tuple[int, Fraction]]]:
        """Returns the sizes of reads, writes and trims with their shares."""
        option = self.size_option()
        parts = self.job.text(option, "4k").split(",")
        if option == "bssplit":
            mixes = [self.split(part) for part in parts]
            if len(mixes) > 3 or not all(mixes):
                self.wrong("bssplit", "4k/60:64k/40")
        elif option == "bsrange":
            mixes = [self.between(part) for part in parts]
        else:
            mixes = [
                [(self.bytes("bs", part), Fraction(1))] if part else [(4096, Fraction(1))]
                for part in parts
            ]
        for mix in mixes:
            for size, _ in mix:
                if size == 0 or size % SECTOR:
                    self.job.fault(
                        option,
                        f"{size} is not a multiple of {SECTOR} bytes above 0",
                        f"give a multiple of {SECTOR}",
                    )
        # A missing size equals the one before it.
        return [mixes[min(place, len(mixes) - 1)] for place in range(3)]

    def size_option(self) -> str:
        """Returns the name of the option that gives the sizes: `bssplit`, or the later of `bs` and
        `bsrange`."""
        given = self.job.options
        if "bssplit" in given:
            return "bssplit"
        lines = {name: given[name].line for name in ("bs", "bsrange") if name in given}
        return max(lines, key=lambda name: lines[name], default="bs")

    def between(self, text: str) -> list[tuple[int, Fraction]]:
        """Returns the sizes and shares of `4k-16k` as fio draws them: uniformly from the smallest
        size, over a range as long as the largest, rounded down to multiples of the smallest, and
        limited to the largest."""
        ends = re.fullmatch(r"([^-:]+)[-:]([^-:]+)", text.strip())
        if not ends:
            self.wrong("bsrange", "4k-64k")
        low, high = (self.bytes("bsrange", end) for end in ends.groups())
        if not 0 < low <= high:
            self.job.fault(
                "bsrange",
                "the sizes are not an ascending range above 0",
                "give the smaller size first",
            )
        if high // low > MOST_SIZES:
            self.job.fault(
                "bsrange", f"the range has more than {MOST_SIZES} sizes", "raise the smaller size"
            )
        shares: dict[int, Fraction] = {}
        for start in range(low, low + high, low):
            drawn = min(low, low + high - start)
            size = min(start, high)
            shares[size] = shares.get(size, Fraction(0)) + Fraction(drawn, high)
        return list(shares.items())

    def split(self, text: str) -> list[tuple[int, Fraction]]:
        """Returns the sizes and shares of `4k/60:64k/`. Sizes without a share divide the rest
        equally."""
        parts = [part.partition("/") for part in text.split(":") if part]
        given = [
            (self.bytes("bssplit", size), self.whole("bssplit", share) if share else None)
            for size, _, share in parts
        ]
        left = 100 - sum(share for _, share in given if share is not None)
        blank = sum(share is None for _, share in given)
        if left < 0 or (left > 0 and blank == 0):
            self.job.fault("bssplit", "the shares do not add up to 100 %", "correct the shares")
        shares = [
            (size, Fraction(left, blank) if share is None else Fraction(share))
            for size, share in given
        ]
        return [(size, share / 100) for size, share in shares if share]

    def align(self, sizes: Sequence[Sequence[tuple[int, Fraction]]]) -> int:
        """Returns the alignment of the addresses in bytes."""
        if "blockalign" in self.job.options:
            parts = self.job.text("blockalign", "").split(",")
            given = {self.bytes("blockalign", part) for part in parts}
            (align, *more) = sorted(given)
            if more or align == 0 or align % SECTOR:
                self.job.fault(
                    "blockalign",
                    "the alignment is not a single multiple of 512 bytes",
                    "give one alignment for all directions",
                )
            return align
        return min(size for mix in sizes for size, _ in mix)

    def region(self, align: int, clone: int) -> tuple[int, int]:
        """Returns the start of the job's region on the device, and its length. Bytes."""
        start = self.part("offset", 0, align) + clone * self.part("offset_increment", 0, align)
        if start >= self.capacity:
            self.job.fault(
                "offset",
                f"byte {start} is beyond the device's {self.capacity} bytes",
                "lower offset or offset_increment",
            )
        # If filesize is given, it sets the region, and size is the default of io_size.
        name = "filesize" if "filesize" in self.job.options else "size"
        length = self.part(name, self.capacity - start, SECTOR)
        if start + length > self.capacity:
            reason = (
                f"{length} bytes from byte {start} end beyond the device's {self.capacity} bytes"
            )
            self.job.fault(
                name, reason, f"lower {name}, or give a share of the device, as in {name}=50%"
            )
        return start, length // SECTOR * SECTOR

    def end(self, length: int, mean: Fraction) -> dict[str, Any]:
        """Returns the `requests` and, if the job ends by time, the `duration_s` of the workload."""
        job = self.job
        timed = job.text("time_based", "0") not in ("0", "")
        duration = self.seconds("runtime") if "runtime" in job.options else 0.0
        if timed and not duration:
            job.fault("time_based", "without a runtime, the job has no end", "give runtime=SECONDS")
        amount = self.bytes("io_size", job.text("io_size", "0"))
        amount = amount or self.part("size", length, SECTOR) or length
        if job.text("io_size", "").endswith("%"):
            amount = self.part("io_size", length, SECTOR)
        requests = MOST_REQUESTS if timed else int(amount * self.count("loops", 1) / mean)
        if "number_ios" in job.options:
            requests = min(requests, self.count("number_ios", 1))
        end: dict[str, Any] = {"requests": max(1, requests)}
        return end | ({"duration_s": float(duration)} if duration else {})

    def rate(self, mean: Fraction) -> Fraction | None:
        """Returns the requests per second; None if the job has no rate."""
        for option in ("rate_iops", "rate"):
            if option not in self.job.options:
                continue
            texts = set(filter(None, self.job.text(option, "").split(",")))
            # A single rate applies to each direction, so a mix would not keep its shares.
            if len(texts) != 1 or self.direction()[1] not in (0.0, 1.0, None):
                self.job.fault(
                    option,
                    "the rate applies to reads and to writes separately, which is not modelled",
                    "split the job into one for reads and one for writes",
                )
            value = self.bytes(option, texts.pop())
            rate = Fraction(value) if option == "rate_iops" else value / mean
            if not SLOWEST <= rate <= FASTEST:
                reason = f"{float(rate):g} requests per second are not between 0.001 and 10^9"
                self.job.fault(option, reason, "give another rate, or remove the line")
            return rate
        return None

    def arrival(self, mean: Fraction) -> dict[str, Any]:
        """Returns the table `arrival` of the workload."""
        process = self.job.text("rate_process", "linear")
        if process not in ("linear", "poisson"):
            self.job.fault("rate_process", "this process is not modelled", "give linear or poisson")
        rate = self.rate(mean)
        depth = self.depth()
        if rate is None:
            return {"closed-loop": {"queue_depth": depth}}
        self.notes.append(
            f"[{self.job.name}]: requests arrive at the given rate, whether or not earlier ones "
            "are complete; iodepth does not limit them"
        )
        return {"constant" if process == "linear" else process: {"iops": float(rate)}}

    def depth(self) -> int:
        """Returns the number of requests that the job keeps outstanding."""
        engine = self.job.text("ioengine", "psync")
        depth = self.count("iodepth", 1)
        if engine in SYNCHRONOUS:
            if depth > 1:
                self.notes.append(
                    f"[{self.job.name}]: ioengine={engine} issues one request at a time; iodepth="
                    f"{depth} has an effect only with an asynchronous engine, such as libaio"
                )
            return 1
        if engine not in ASYNCHRONOUS:
            known = ", ".join(sorted(SYNCHRONOUS | ASYNCHRONOUS))
            self.job.fault("ioengine", "this engine is not modelled", f"give one of {known}")
        if depth > DEEPEST:
            self.job.fault("iodepth", f"the depth is above {DEEPEST}", "lower iodepth")
        return depth

    def pattern(self, random: bool) -> dict[str, Any]:
        """Returns the value of `pattern` of the workload."""
        if not random:
            return {"sequential": {}}
        share = self.percent("percentage_random", 100)
        kind, _, parameter = self.job.text("random_distribution", "random").partition(":")
        if kind == "zipf":
            if share < 1:
                self.job.fault(
                    "percentage_random",
                    "a zipf distribution is always random",
                    "remove percentage_random or random_distribution",
                )
            theta = _number(parameter or "1.1")
            if theta is None or not 0 <= theta <= 10:
                self.wrong("random_distribution", "zipf:1.2, up to zipf:10")
            return {"zipf": {"theta": theta}}
        if kind != "random":
            self.job.fault(
                "random_distribution",
                "this distribution is not modelled",
                "give random or zipf:THETA",
            )
        if self.job.text("norandommap", "0") == "0" and "blockalign" not in self.job.options:
            self.notes.append(
                f"[{self.job.name}]: addresses are drawn independently, as with norandommap; fio's "
                "map, which keeps blocks from repeating, is not modelled"
            )
        return {"uniform": {}} if share == 1 else {"mixed": {"random_ratio": share}}

    def flushes(self, load: dict[str, Any], read_ratio: float | None) -> None:
        """Adds the flushes of the options fsync and fdatasync to the workload."""
        for option in ("fsync", "fdatasync"):
            every = self.whole(option, self.job.text(option, "0"))
            if every == 0 or read_ratio in (1.0, None):
                continue
            if read_ratio != 0.0:
                self.job.fault(
                    option,
                    "the option counts writes, but the job also reads",
                    "split the job into one for reads and one for writes",
                )
            load["flush_every_requests"] = every + 1
            load["requests"] += load["requests"] // every

    def part(self, name: str, default: int, align: int) -> int:
        """Returns the value of an option in bytes. It is a size, or a share of the device, which is
        rounded down to `align`."""
        text = self.job.text(name, "")
        if not text:
            return default
        if not text.endswith("%"):
            return self.bytes(name, text)
        share = _number(text[:-1])
        if share is None or not 0 <= share <= 100:
            self.wrong(name, "50%")
        return int(self.capacity * Fraction(share) / 100) // align * align

    def bytes(self, name: str, text: str) -> int:
        """Parses a size with the suffixes of `kb_base`, and returns it in bytes; 0 for a
        percentage."""
        if text.endswith("%"):
            return 0
        found = re.fullmatch(r"(0x[0-9a-f]+|\d+)(?:([kmgtp])(i?))?b?", text.strip().lower())
        if not found:
            self.wrong(name, "4k, 64ki or 10g")
        number, suffix, other = found.groups()
        if suffix is None:
            return int(number, 0) if number.startswith("0x") else int(number)
        power = "kmgtp".index(suffix) + 1
        # With kb_base=1024, the default, k is 1024 and ki is 1000: see HOWTO, "int".
        return (
            int(number, 0 if number.startswith("0x") else 10)
            * (1024 if (other == "") == self.binary else 1000) ** power
        )

    def count(self, name: str, default: int) -> int:
        """Returns the value of an option as an integer above 0."""
        value = self.whole(name, self.job.text(name, str(default)))
        if value == 0:
            self.job.fault(name, "the number is not above 0", "give at least 1")
        return value

    def whole(self, name: str, text: str) -> int:
        """Parses an integer with suffixes."""
        return self.bytes(name, text.removesuffix("%"))

    def percent(self, name: str, default: int) -> float:
        """Returns the value of an option in per cent as a fraction."""
        texts = set(self.job.text(name, str(default)).split(","))
        value = self.whole(name, texts.pop())
        if texts or value > 100:
            self.wrong(name, "50, one number from 0 to 100")
        return value / 100

    def seconds(self, name: str) -> Fraction:
        """Returns the value of an option as a time in seconds."""
        units = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "ms": 0.001, "us": 1e-6}
        text = self.job.text(name, "0").lower().replace("sec", "s")
        found = re.fullmatch(r"(\d+)([a-z]*)", text)
        if not found or found[2] not in units:
            self.wrong(name, "60s or 5m")
        return int(found[1]) * Fraction(units[found[2]]).limit_denominator(10**6)

    def wrong(self, name: str, example: str) -> Never:
        """Raises WordlineError for text that cannot be parsed."""
        self.job.fault(name, "the value is not valid", f"write it as in {name}={example}")


def _given(mix: Sequence[tuple[int, Fraction]]) -> int | list[dict[str, Any]]:
    """Formats sizes as a value of `request_bytes`."""
    if len(mix) == 1:
        return mix[0][0]
    return [{"bytes": size, "weight": float(share)} for size, share in mix]


def _mean(sizes: Sequence[Sequence[tuple[int, Fraction]]], read_ratio: float | None) -> Fraction:
    """Returns the mean request size in bytes."""
    reads, writes, trims = (
        sum((size * share for size, share in mix), Fraction(0)) for mix in sizes
    )
    if read_ratio is None:
        return trims
    share = Fraction(read_ratio).limit_denominator(100)
    return reads * share + writes * (1 - share)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
