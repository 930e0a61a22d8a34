"""Compares the digest of reads of `d4` with that of a model of its buses and dies alone."""

import heapq
from collections import deque

import pytest

import wordline

COMMAND, ARRAY, DATA = 175_000, 50_000_000, 12_350_300
"""Picoseconds: seven cycles of 25 ns, the array, and a status read with 4,096 bytes at 333 MB/s."""
CHANNELS, WAYS, DEPTH = 8, 4, 32
PAGE_BYTES = 4096
WORD = 1 << 64


class Digest:
    """Digest of all events of a run."""

    def __init__(self) -> None:
        self.value = 0x243F_6A88_85A3_08D3

    def mix(self, *words: int) -> None:
        for word in words:
            rotated = (self.value << 5 | self.value >> 59) % WORD
            self.value = (rotated ^ word) * 0x517C_C1B7_2722_0A95 % WORD


class Reads:
    """A closed loop of page reads. A read takes its bus for the command, its die for the array
    operation and its bus for the data; dies and buses serve in the order of asking."""

    def __init__(self, offsets: list[int]) -> None:
        self.offsets = iter(offsets)
        self.digest = Digest()
        self.events: list[tuple[int, int, int]] = []
        """Time, number in the order of scheduling, and code: twice the channel whose bus is
        released, or one more than twice the die whose array operation ends."""
        self.scheduled = 0
        self.dies = [deque[int]() for _ in range(CHANNELS * WAYS)]
        """Arrival times of the reads of each die, the first of which is in progress."""
        self.lines = [deque[tuple[int, int]]() for _ in range(CHANNELS)]
        """Dies that use each bus or wait for it, with the duration of the transfer."""
        self.responses: list[int] = []

    def run(self) -> None:
        for _ in range(DEPTH):
            self.submit(0)
        while self.events:
            now, _, code = heapq.heappop(self.events)
            self.digest.mix(now, code)
            if code & 1:
                self.ask(now, code >> 1, DATA)
            else:
                self.released(now, code >> 1)

    def schedule(self, time: int, code: int) -> None:
        heapq.heappush(self.events, (time, self.scheduled, code))
        self.scheduled += 1

    def submit(self, now: int) -> None:
        offset = next(self.offsets, None)
        if offset is None:
            return
        self.digest.mix(now, offset, PAGE_BYTES, 0)
        channel, rest = offset // PAGE_BYTES % CHANNELS, offset // PAGE_BYTES // CHANNELS
        die = channel * WAYS + rest % WAYS
        self.dies[die].append(now)
        if len(self.dies[die]) == 1:
            self.ask(now, die, COMMAND)

    def ask(self, now: int, die: int, duration: int) -> None:
        line = self.lines[die // WAYS]
        line.append((die, duration))
        if len(line) == 1:
            self.schedule(now + duration, die // WAYS << 1)

    def released(self, now: int, channel: int) -> None:
        line = self.lines[channel]
        die, duration = line.popleft()
        if duration == COMMAND:
            self.schedule(now + ARRAY, die << 1 | 1)
        if line:
            self.schedule(now + line[0][1], channel << 1)
        if duration == COMMAND:
            return
        self.responses.append(now - self.dies[die].popleft())
        if self.dies[die]:
            self.ask(now, die, COMMAND)
        self.submit(now)


@pytest.mark.usefixtures("place")
def test_reads_of_d4_have_the_digest_of_a_model_of_buses_and_dies_alone() -> None:
    load = {
        "requests": 20_000,
        "read_ratio": 1.0,
        "request_bytes": PAGE_BYTES,
        "align_bytes": PAGE_BYTES,
        "arrival.closed-loop.queue_depth": DEPTH,
    }
    overrides = {f"workload.{key}": value for key, value in load.items()}
    result = wordline.run("d4", overrides=overrides, requests=True)
    rows = result.requests.polars().sort("number")
    reads = Reads(rows["offset"].to_list())
    reads.run()
    assert f"{reads.digest.value:016x}" == result.summary["digest"]
    assert sorted(reads.responses) == sorted(rows["latency_ps"].to_list())
